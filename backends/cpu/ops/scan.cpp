// SCAN: cumulative sums and products, a row on one thread. Floats fold in float64. And the pair of
// _running_places: where the running extremes are.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cpu.h"
#include "ops/rows.h"
#include "vector/convert.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceElements = 16384;

template <tn_dtype D>
void scan(const tn_host* host, const tn_tensor& x, const tn_tensor& y, const RowsAlong& rows,
          bool product, bool reverse) {
  using Element = typename Format<D>::Element;
  using Fold = std::conditional_t<std::is_same_v<Element, int64_t>, uint64_t, double>;
  const int64_t n = rows.length();
  const int64_t x_step = reverse ? -rows.stride(x) : rows.stride(x);
  const int64_t y_step = reverse ? -rows.stride(y) : rows.stride(y);
  const int64_t grain = std::max<int64_t>(1, kPieceElements / n);
  parallel_for(host, 0, rows.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto* from = static_cast<const Element*>(x.data) + rows.offset(x, row);
      auto* to = static_cast<Element*>(y.data) + rows.offset(y, row);
      if (reverse) {
        from -= (n - 1) * x_step;
        to -= (n - 1) * y_step;
      }
      Fold folded = product ? 1 : 0;
      for (int64_t i = 0; i < n; ++i) {
        const auto value = static_cast<Fold>(Format<D>::widen(*from));
        folded = product ? folded * value : folded + value;
        *to = Format<D>::narrow(static_cast<typename Format<D>::Wide>(folded));
        from += x_step;
        to += y_step;
      }
    }
  });
}

void launch(const tn_call* call) {
  const bool product = call->args[0].as.i == TN_REDUCE_PROD;
  const tn_tensor& x = *call->args[1].as.tensor;
  const tn_tensor& y = *call->outputs[0];
  const RowsAlong rows = {y, call->args[2].as.i};
  const bool reverse = call->args[3].as.i != 0;
  dtype_table::visit(x.dtype, [&]<typename Tag>(Tag) {
    if constexpr (dtype_table::is_float(Tag::dtype) || Tag::dtype == TN_INT64)
      scan<Tag::dtype>(call->host, x, y, rows, product, reverse);
  });
}

// Of equal ones the later counts, and a NaN is beyond every number.
template <tn_dtype D>
void running_places(const tn_host* host, const tn_tensor& x, const tn_tensor& places,
                    const RowsAlong& rows, bool largest) {
  using Element = typename Format<D>::Element;
  const int64_t n = rows.length(), x_step = rows.stride(x), step = rows.stride(places);
  const int64_t grain = std::max<int64_t>(1, kPieceElements / n);
  parallel_for(host, 0, rows.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto* from = static_cast<const Element*>(x.data) + rows.offset(x, row);
      auto* to = static_cast<int64_t*>(places.data) + rows.offset(places, row);
      auto best = Format<D>::widen(*from);
      int64_t at = 0;
      for (int64_t i = 0; i < n; ++i) {
        const auto value = Format<D>::widen(from[i * x_step]);
        if (value != value || (largest ? value >= best : value <= best)) best = value, at = i;
        to[i * step] = at;
      }
    }
  });
}

void launch_running(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t dim = call->args[1].as.i;
  const RowsAlong rows = {x, dim};
  dtype_table::visit(x.dtype, [&]<typename Tag>(Tag) {
    running_places<Tag::dtype>(call->host, x, *call->outputs[0], rows, call->args[2].as.i != 0);
  });
}

bool supports_running(const tn_call* call, Refusal why) {
  return call->args[0].as.tensor->numel > 0 || why("takes no empty tensors");
}

}  // namespace

void add_scan() {
  kernel(TN_PRIM_SCAN, "cpu", {.dtypes = all_floats | int64, .traits = kUsualPromises}, fn<launch>);
  kernel("_running_places", "cpu", {.traits = kUsualPromises}, fn<launch_running>)
      .supports(fn<supports_running>);
}

}  // namespace tenon::cpu_backend
