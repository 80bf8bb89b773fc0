/* GATHER, SCATTER and NONZERO. */
#include <string.h>

#include "acme.h"

/* The element of x that the index tensor names at `index`: where `dim` is replaced by what stands
 * there. */
static tn_status* pick(const char* what, const tn_tensor* x, int64_t dim,
                       const tn_tensor* index_tensor, const int64_t* index, char** at) {
  int64_t place[TN_MAX_RANK];
  int64_t size = x->ndim > 0 ? x->sizes[dim] : 1;
  memcpy(place, index, sizeof place);
  place[dim] = acme_get(acme_at(index_tensor, index), TN_INT64).i;
  if (place[dim] < 0 || place[dim] >= size)
    return acme_error(TN_INVALID_ARGUMENT,
                      "%s: index %lld is out of range for dimension %d of size %lld (acme:%d)",
                      what, (long long)place[dim], (int)dim, (long long)size, (int)x->device.index);
  *at = acme_at(x, place);
  return NULL;
}

tn_status* acme_gather(void* self, const tn_call* call) {
  const tn_tensor* x = call->args[0].as.tensor;
  const tn_tensor* index_tensor = call->args[2].as.tensor;
  const tn_tensor* y = call->outputs[0];
  int64_t index[TN_MAX_RANK] = {0};
  (void)self;
  do {
    char* from = NULL;
    tn_status* status = pick("gather", x, call->args[1].as.i, index_tensor, index, &from);
    if (status != NULL) return status;
    memcpy(acme_at(y, index), from, (size_t)acme_itemsize(x->dtype));
  } while (acme_next(index, y->sizes, 0, y->ndim));
  return NULL;
}

tn_status* acme_scatter(void* self, const tn_call* call) {
  const tn_tensor* index_tensor = call->args[0].as.tensor;
  const tn_tensor* x = call->args[2].as.tensor;
  const tn_tensor* y = call->outputs[0];
  const int32_t add = call->args[3].as.i != 0;
  int64_t index[TN_MAX_RANK] = {0};
  char* to = NULL;
  (void)self;
  /* y may be a tensor that the caller keeps: nothing is written before the last index was seen. */
  do {
    tn_status* status = pick("scatter", y, call->args[1].as.i, index_tensor, index, &to);
    if (status != NULL) return status;
  } while (acme_next(index, x->sizes, 0, x->ndim));
  do {
    acme_number value = acme_get(acme_at(x, index), x->dtype);
    (void)pick("scatter", y, call->args[1].as.i, index_tensor, index, &to);
    if (add) {
      const acme_number old = acme_get(to, y->dtype);
      value.f += old.f;
      value.i = (int64_t)((uint64_t)value.i + (uint64_t)old.i);
    }
    acme_put(to, y->dtype, value);
  } while (acme_next(index, x->sizes, 0, x->ndim));
  return NULL;
}

static int32_t is_nonzero(const tn_tensor* x, const int64_t* index) {
  const acme_number value = acme_get(acme_at(x, index), x->dtype);
  return value.is_float ? value.f != 0 : value.i != 0;
}

tn_status* acme_nonzero(void* self, const tn_call* call) {
  const tn_tensor* x = call->args[0].as.tensor;
  int64_t index[TN_MAX_RANK] = {0};
  int64_t sizes[2] = {0, x->ndim};
  int64_t* row;
  tn_status* status;
  (void)self;
  do {
    sizes[0] += is_nonzero(x, index);
  } while (acme_next(index, x->sizes, 0, x->ndim));
  if ((status = call->host->set_output(call, 0, 2, sizes)) != NULL) return status;
  row = (int64_t*)(void*)acme_real(call->outputs[0]->data);
  do {
    if (!is_nonzero(x, index)) continue;
    for (int32_t d = 0; d < x->ndim; ++d) *row++ = index[d];
  } while (acme_next(index, x->sizes, 0, x->ndim));
  return NULL;
}
