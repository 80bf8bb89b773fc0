/* Elements of six dtypes, one at a time and by tiles. */
#include <string.h>

#include "acme.h"

int64_t acme_itemsize(tn_dtype dtype) {
  switch (dtype) {
    case TN_FLOAT64:
    case TN_INT64:
      return 8;
    case TN_FLOAT32:
    case TN_INT32:
      return 4;
    case TN_UINT8:
    case TN_BOOL:
      return 1;
    default:
      return 0;
  }
}

int64_t acme_truncate(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

/* A tile of one dtype between memory and a register's member. */
#define READ(T, MEMBER, EXPR)                        \
  for (int64_t j = 0; j < n; ++j) {                  \
    T v;                                             \
    memcpy(&v, from.at + j * from.stride, sizeof v); \
    to->MEMBER[j] = (EXPR);                          \
  }                                                  \
  break
#define READ_ALL(MEMBER, OF_FLOAT, OF_INT) \
  switch (from.dtype) {                    \
    case TN_FLOAT32:                       \
      READ(float, MEMBER, OF_FLOAT);       \
    case TN_FLOAT64:                       \
      READ(double, MEMBER, OF_FLOAT);      \
    case TN_INT64:                         \
      READ(int64_t, MEMBER, OF_INT);       \
    case TN_INT32:                         \
      READ(int32_t, MEMBER, OF_INT);       \
    case TN_BOOL:                          \
      READ(uint8_t, MEMBER, v != 0);       \
    default:                               \
      READ(uint8_t, MEMBER, OF_INT);       \
  }                                        \
  break

void acme_load(acme_register* to, tn_dtype type, acme_lane from, int64_t n) {
  switch (type) {
    case TN_FLOAT32:
      READ_ALL(f, (float)v, (float)v);
    case TN_FLOAT64:
      READ_ALL(d, (double)v, (double)v);
    case TN_BOOL:
      READ_ALL(i, v != 0, v != 0);
    default:
      READ_ALL(i, acme_truncate((double)v), (int64_t)v);
  }
}

#define WRITE(T, EXPR)                           \
  for (int64_t j = 0; j < n; ++j) {              \
    const T v = (T)(EXPR);                       \
    memcpy(to.at + j * to.stride, &v, sizeof v); \
  }                                              \
  break
#define WRITE_ALL(VALUE, AS_INT)    \
  switch (to.dtype) {               \
    case TN_FLOAT32:                \
      WRITE(float, VALUE);          \
    case TN_FLOAT64:                \
      WRITE(double, VALUE);         \
    case TN_INT64:                  \
      WRITE(int64_t, AS_INT);       \
    case TN_INT32:                  \
      WRITE(int32_t, AS_INT);       \
    case TN_BOOL:                   \
      WRITE(uint8_t, (VALUE) != 0); \
    default:                        \
      WRITE(uint8_t, AS_INT);       \
  }                                 \
  break

void acme_store(acme_lane to, const acme_register* from, tn_dtype type, int64_t n) {
  switch (type) {
    case TN_FLOAT32:
      WRITE_ALL(from->f[j], acme_truncate(from->f[j]));
    case TN_FLOAT64:
      WRITE_ALL(from->d[j], acme_truncate(from->d[j]));
    default:
      WRITE_ALL(from->i[j], from->i[j]);
  }
}

/* Through memory of the dtype that is asked for: what narrows it there is what the instruction asks
 * for. */
tn_status* acme_cast(acme_register* to, tn_dtype type, const acme_register* from,
                     tn_dtype from_type, int64_t n) {
  char narrow[8 * ACME_TILE];
  const int64_t bytes = acme_itemsize(type);
  const acme_lane lane = {narrow, bytes, type};
  const tn_dtype wide = type == TN_INT32 || type == TN_UINT8 ? TN_INT64 : type;
  if (bytes == 0) {
    const tn_tensor_api* tensors = acme_host->get_interface("tensor/1");
    return acme_error(TN_UNSUPPORTED, "acme does not compute in %s", tensors->dtype_name(type));
  }
  acme_store(lane, from, from_type, n);
  acme_load(to, wide, lane, n);
  return NULL;
}

acme_number acme_get(const char* at, tn_dtype dtype) {
  const acme_lane lane = {(char*)at, 0, dtype};
  acme_register one;
  acme_number value = {dtype == TN_FLOAT32 || dtype == TN_FLOAT64, 0, 0};
  acme_load(&one, value.is_float ? TN_FLOAT64 : TN_INT64, lane, 1);
  if (value.is_float) value.f = one.d[0];
  if (!value.is_float) value.i = one.i[0];
  return value;
}

void acme_put(char* at, tn_dtype dtype, acme_number value) {
  const acme_lane lane = {at, 0, dtype};
  acme_register one;
  if (value.is_float) one.d[0] = value.f;
  if (!value.is_float) one.i[0] = value.i;
  acme_store(lane, &one, value.is_float ? TN_FLOAT64 : TN_INT64, 1);
}

int32_t acme_next(int64_t* index, const int64_t* sizes, int32_t first, int32_t last) {
  for (int32_t d = last - 1; d >= first; --d) {
    if (++index[d] < sizes[d]) return 1;
    index[d] = 0;
  }
  return 0;
}

char* acme_at(const tn_tensor* x, const int64_t* index) {
  int64_t offset = 0;
  for (int32_t d = 0; d < x->ndim; ++d) offset += index[d] * x->strides[d];
  return acme_real(x->data) + offset * acme_itemsize(x->dtype);
}
