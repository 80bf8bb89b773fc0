// Row-sparse tensors (rows/1): the gradient of a table of which few rows were read, as those rows
// and their indices. Only gradients on their way to a leaf are such; whatever computes refuses them.
#pragma once

#include "tensor/tensor.h"

namespace tenon {

// What stands in the place of memory. Neither part changes.
struct RowParts : tn_storage {
  TensorRef indices;  // int64 [n]; rows of one index add up
  TensorRef values;   // [n, ...]
};

inline bool is_rows(const Tensor* t) { return (t->flags & TN_TENSOR_ROWS) != 0; }
inline const RowParts* rows_of(const Tensor* t) { return static_cast<const RowParts*>(t->storage); }

// [n_rows, ...] of these parts, which are kept.
[[nodiscard]] Status make_rows(Tensor* indices, Tensor* values, int64_t n_rows, Tensor** result);

// The error of whatever takes no row-sparse tensor: `what` names it and its argument.
[[nodiscard]] Status refuse_rows(const std::string& what, const Tensor* t);

}  // namespace tenon
