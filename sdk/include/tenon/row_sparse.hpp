// Row-sparse tensors: the gradient that embedding(.., {.sparse = true}) leaves at a table, as the
// rows that were read and their indices instead of a tensor of the table's size.
//
//   Tensor grad = table.grad();               // [1000000, 64]
//   if (grad.is_row_sparse()) {
//     grad.indices(), grad.values();          // int64 [n] and [n, 64]; an index may come twice
//     grad.coalesce();                        // each index once, sorted, with the sum of its rows
//     grad.to_dense();                        // all rows
//   }
//
// One never changes, and no op takes one: an op that gets one says so. SGD, Adagrad and SparseAdam
// do, GradScaler does, and `to` moves one.
#pragma once

#include "tenon/ops/create.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// [n_rows, ...] of rows `values` [n, ...] at `indices` int64 [n], all others zero; rows of one
// index add up. Keeps both, without a copy. An Error where these do not fit or need a gradient.
inline Tensor row_sparse(const Tensor& indices, const Tensor& values, int64_t n_rows) {
  tn_tensor* made = nullptr;
  check(detail::api.rows->make(indices.get(), values.get(), n_rows, &made));
  return Tensor::take(made);
}

inline Tensor Tensor::coalesce() const {
  const auto [indices, sums] = coalesce_rows(this->indices(), values());
  return row_sparse(indices, sums, size(0));
}

inline Tensor Tensor::to_dense() const {
  if (!is_row_sparse()) return *this;
  return tenon::index_add(zeros(sizes(), dtype(), device()), 0, indices(), values());
}

}  // namespace v0
}  // namespace tenon
