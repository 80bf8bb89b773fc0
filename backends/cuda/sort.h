// Sorted rows, for kernels that need them.
#pragma once

#include "launch.h"

namespace cuda {

// Values and the indices that they had, in memory of the workspace.
struct Sorted {
  tn_tensor values, indices;
  int64_t strides[TN_MAX_RANK];  // of both
};

// Makes room for the rows of x along `dim`, which lie behind each other. It points to itself.
tn_status* make_sorted(const tn_call* call, const tn_tensor* x, int64_t dim, Sorted* sorted);

// Sorts the rows of x along `dim`, stably; indices are int64.
tn_status* sort_rows(const tn_call* call, const Stream& stream, const tn_tensor* x, int64_t dim,
                     bool descending, const tn_tensor* values, const tn_tensor* indices);

}  // namespace cuda
