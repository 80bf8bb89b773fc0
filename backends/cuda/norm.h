// What the kernels of normalizations share, on the host's side.
#pragma once

#include "lent.h"
#include "rows.h"

namespace cuda {

inline int64_t product(const int64_t* sizes, int32_t n) {
  int64_t result = 1;
  for (int32_t d = 0; d < n; ++d) result *= sizes[d];
  return result;
}
// The dtype of what is computed: float32 of halves.
inline tn_dtype wide(tn_dtype dtype) { return dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32; }

// The dtype that weight and bias have, or `other` where there are none. NONE: two dtypes.
tn_dtype weight_dtype(const tn_tensor* weight, const tn_tensor* bias, tn_dtype other);

// One row for a private output: n numbers, as wide as what is computed.
void describe_numbers(const tn_tensor& x, int64_t n, tn_meta* meta);

// What the launch of norm_sums.cuh that adds up needs beside the sums, [pieces, channels].
struct Combine {
  const tn_tensor* dweight;
  const tn_tensor* dbias;
  tn_dtype dtype;         // of what is computed
  tn_dtype weight_dtype;  // of what is written
  // Of batch_norm, else NULL: as in norm_sums.cuh.
  const void* vars = nullptr;
  const void* weight = nullptr;
  void* slopes = nullptr;
  double eps = 0, count = 1;
};
tn_status* combine_sums(const Stream& stream, const void* sums, int64_t pieces, int64_t channels,
                        const Combine& combine);

// Sums of g and of g (x - mean) rstd: of each row of [rows, n] (row r has the moments
// r / divisor % modulus), or of pieces of the columns of [n_rows, n_columns].
struct SumsOf {
  const tn_tensor* g;
  const tn_tensor* x;
  const void* means;
  const void* rstds;
};
tn_status* plane_sums(const Stream& stream, const SumsOf& of, int64_t n, int64_t divisor,
                      int64_t modulus, void* sums);
tn_status* column_sums(const Stream& stream, const SumsOf& of, const ColumnShape& shape,
                       bool moments_of_rows, void* sums);

}  // namespace cuda
