// SORT: a row on one thread, its positions sorted by a copy of its values.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "cpu.h"
#include "ops/rows.h"
#include "vector/convert.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceElements = 4096;

template <tn_dtype D>
void sort(const tn_host* host, const tn_tensor& x, const tn_tensor& values,
          const tn_tensor& indices, const RowsAlong& rows, bool descending) {
  using Element = typename Format<D>::Element;
  using Key = typename Format<D>::Wide;
  const int64_t n = rows.length();
  const int64_t grain = std::max<int64_t>(1, kPieceElements / n);
  const int64_t n_rows = rows.count();
  // What may fail to be allocated is allocated before the threads begin.
  std::vector<Key> keys(static_cast<size_t>(n_rows * n));
  std::vector<int64_t> order(keys.size());
  parallel_for(host, 0, n_rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto* from = static_cast<const Element*>(x.data) + rows.offset(x, row);
      Key* const key = keys.data() + row * n;
      int64_t* const at = order.data() + row * n;
      for (int64_t i = 0; i < n; ++i) {
        key[i] = Format<D>::widen(from[i * rows.stride(x)]);
      }
      std::iota(at, at + n, int64_t{0});
      // NaN is the greatest.
      const auto less = [](Key a, Key b) { return a < b || (b != b && a == a); };
      if (descending) {
        std::stable_sort(at, at + n, [&](int64_t i, int64_t j) { return less(key[j], key[i]); });
      } else {
        std::stable_sort(at, at + n, [&](int64_t i, int64_t j) { return less(key[i], key[j]); });
      }
      auto* to = static_cast<Element*>(values.data) + rows.offset(values, row);
      auto* where = static_cast<int64_t*>(indices.data) + rows.offset(indices, row);
      for (int64_t i = 0; i < n; ++i) {
        to[i * rows.stride(values)] = from[at[i] * rows.stride(x)];
        where[i * rows.stride(indices)] = at[i];
      }
    }
  });
}

void launch(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_tensor& values = *call->outputs[0];
  const tn_tensor& indices = *call->outputs[1];
  const RowsAlong rows = {values, static_cast<int32_t>(call->args[1].as.i)};
  const bool descending = call->args[2].as.i != 0;
  dtype_table::visit(x.dtype, [&]<typename Tag>(Tag) {
    sort<Tag::dtype>(call->host, x, values, indices, rows, descending);
  });
}

}  // namespace

void add_sort() { kernel(TN_PRIM_SORT, "cpu", {.traits = kUsualPromises}, fn<launch>); }

}  // namespace tenon::cpu_backend
