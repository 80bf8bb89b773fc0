/* MATMUL: a [b, m, k] times b [b, k, n], any strides. Sums in double, a row of the result at a
 * time. */
#include <string.h>

#include "acme.h"

#define ROWS(T)                                                                                  \
  do {                                                                                           \
    const T* a =                                                                                 \
        (const T*)(const void*)acme_real(x->data) + batch * x->strides[0] + row * x->strides[1]; \
    const T* b = (const T*)(const void*)acme_real(w->data) + batch * w->strides[0];              \
    T* out = (T*)(void*)acme_real(y->data) + batch * y->strides[0] + row * y->strides[1];        \
    for (int64_t k = 0; k < depth; ++k) {                                                        \
      const double factor = a[k * x->strides[2]];                                                \
      const T* from = b + k * w->strides[1];                                                     \
      for (int64_t j = 0; j < columns; ++j) sums[j] += factor * (double)from[j * w->strides[2]]; \
    }                                                                                            \
    for (int64_t j = 0; j < columns; ++j) out[j * y->strides[2]] = (T)sums[j];                   \
  } while (0)

tn_status* acme_matmul(void* self, const tn_call* call) {
  const tn_tensor* x = call->args[0].as.tensor;
  const tn_tensor* w = call->args[1].as.tensor;
  const tn_tensor* y = call->outputs[0];
  const int64_t depth = x->sizes[2], columns = y->sizes[2];
  double* sums;
  void* memory;
  tn_status* status;
  (void)self;
  if ((status = call->host->workspace(call, (uint64_t)columns * sizeof(double), &memory)) != NULL)
    return status;
  sums = (double*)(void*)acme_real(memory);
  for (int64_t batch = 0; batch < y->sizes[0]; ++batch) {
    for (int64_t row = 0; row < y->sizes[1]; ++row) {
      memset(sums, 0, (size_t)columns * sizeof(double));
      if (y->dtype == TN_FLOAT32) {
        ROWS(float);
      } else {
        ROWS(double);
      }
    }
  }
  return NULL;
}
