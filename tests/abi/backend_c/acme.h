/* What the files of the backend share: the host, addresses, elements, the evaluator of programs,
 * the kernels. */
#ifndef ACME_H_
#define ACME_H_

#include <tenon/abi.h>

extern const tn_host* acme_host;

/* A status with a message as printf makes it. */
tn_status* acme_error(tn_code code, const char* format, ...);

/* The device's memory has addresses of its own, which no processor can reach: a host that touched
 * one would end here and now. Kernels see it through this. */
char* acme_real(const void* address);

/* ---- Elements ---- */

/* 0: a dtype that this device does not have. */
int64_t acme_itemsize(tn_dtype dtype);

/* A number on its way to an element: floats in f, all else in i. */
typedef struct acme_number {
  int32_t is_float;
  double f;
  int64_t i;
} acme_number;
acme_number acme_get(const char* at, tn_dtype dtype);
void acme_put(char* at, tn_dtype dtype, acme_number value);
int64_t acme_truncate(double value); /* toward zero; what does not fit is INT64_MIN */

/* Moves an index on in dimensions [first, last), the last fastest. 0 at the end, where they are 0
 * again. */
int32_t acme_next(int64_t* index, const int64_t* sizes, int32_t first, int32_t last);
/* Of the element at an index; the address in this process. */
char* acme_at(const tn_tensor* x, const int64_t* index);

/* ---- Programs: run for ACME_TILE elements at a time ---- */

enum { ACME_TILE = 256 };

/* A register of a tile, by its type: TN_FLOAT32, TN_FLOAT64, and TN_INT64 and TN_BOOL in i. */
typedef union acme_register {
  float f[ACME_TILE];
  double d[ACME_TILE];
  int64_t i[ACME_TILE];
} acme_register;

/* A row of elements of an operand; the stride is in bytes. */
typedef struct acme_lane {
  char* at;
  int64_t stride;
  tn_dtype dtype;
} acme_lane;

void acme_load(acme_register* to, tn_dtype type, acme_lane from, int64_t n);
void acme_store(acme_lane to, const acme_register* from, tn_dtype type, int64_t n);
tn_status* acme_cast(acme_register* to, tn_dtype type, const acme_register* from,
                     tn_dtype from_type, int64_t n);

/* Evaluates n <= ACME_TILE elements of the lanes. `registers` has program->n_registers of them. */
tn_status* acme_evaluate(const tn_program* program, const tn_scalar* params,
                         acme_register* registers, const acme_lane* inputs,
                         const acme_lane* outputs, int64_t n);

/* The lane of an operand at an index, along the last dimension. Fails for a dtype that this device
 * does not have. */
tn_status* acme_lane_at(const tn_operand* operand, int32_t ndim, const int64_t* index,
                        acme_lane* lane);

/* ---- Kernels: a primitive each ---- */

tn_status* acme_elementwise(void* self, const tn_call* call);
tn_status* acme_reduce(void* self, const tn_call* call);
tn_status* acme_matmul(void* self, const tn_call* call);
tn_status* acme_gather(void* self, const tn_call* call);
tn_status* acme_scatter(void* self, const tn_call* call);
tn_status* acme_nonzero(void* self, const tn_call* call);
tn_status* acme_iota(void* self, const tn_call* call);
tn_status* acme_random_bits(void* self, const tn_call* call);

#endif
