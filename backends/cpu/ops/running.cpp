// The pairs of cummax and cummin: the extreme of the elements up to each one, and its place. Of equal ones
// the later counts, and a NaN is beyond every number.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "ops/norm.h"
#include "ops/rows.h"
#include "ops/walk.h"
#include "vector/convert.h"

namespace tenon::cpu_backend {
namespace {

// Rows whose elements are adjacent in memory are walked side by side, up to 128 of them, and 8 of those that
// lie otherwise, so that the comparisons of one row do not wait for each other. Of a row that is dense,
// kChunk elements are looked at together: mostly none of them is a new extreme.
constexpr int64_t kSideBySide = 128, kTogether = 8, kChunk = 16;

template <typename T>
struct Strided {
  T* p;
  int64_t along, apart;  // strides: along the row, and from one row to the next
};

template <tn_dtype D, bool largest>
struct Running {
  using Element = typename Format<D>::Element;
  using Wide = typename Format<D>::Wide;
  Strided<const Element> x;
  Strided<Element> y;
  Strided<int64_t> places;

  static bool takes(Wide value, Wide best) {
    return (largest ? value >= best : value <= best) | (value != value);
  }

  // A row that is dense in all three.
  void one(int64_t n) const {
    Element best = x.p[0];
    int64_t at = 0;
    const auto step = [&](int64_t i) {
      if (takes(Format<D>::widen(x.p[i]), Format<D>::widen(best))) best = x.p[i], at = i;
      y.p[i] = best;
      places.p[i] = at;
    };
    int64_t i = 0;
    for (; i + kChunk <= n; i += kChunk) {
      const Wide before = Format<D>::widen(best);
      int any = 0;
      for (int64_t k = 0; k < kChunk; ++k) any |= takes(Format<D>::widen(x.p[i + k]), before);
      if (any != 0) {
        for (int64_t k = 0; k < kChunk; ++k) step(i + k);
      } else {
        std::fill_n(y.p + i, kChunk, best);
        std::fill_n(places.p + i, kChunk, at);
      }
    }
    for (; i < n; ++i) step(i);
  }

  // Several rows; with constants the compiler unrolls or vectorizes the inner loop.
  void many(int64_t n, int64_t count) const {
    if (x.apart == 1 && y.apart == 1 && places.apart == 1) return steps(n, count, 1, 1, 1);
    if (count == kTogether) return steps(n, kTogether, x.apart, y.apart, places.apart);
    return steps(n, count, x.apart, y.apart, places.apart);
  }

 private:
  TENON_INLINE void steps(int64_t n, int64_t count, int64_t x_apart, int64_t y_apart,
                          int64_t places_apart) const {
    Element best[kSideBySide];
    int64_t at[kSideBySide];
    for (int64_t k = 0; k < count; ++k) best[k] = x.p[k * x_apart], at[k] = 0;
    const Element* from = x.p;
    Element* to = y.p;
    int64_t* where = places.p;
    for (int64_t i = 0; i < n; ++i, from += x.along, to += y.along, where += places.along) {
      TENON_INDEPENDENT
      for (int64_t k = 0; k < count; ++k) {
        const Element value = from[k * x_apart], old = best[k];
        const bool taken = takes(Format<D>::widen(value), Format<D>::widen(old));
        const Element next = taken ? value : old;
        const int64_t place = taken ? i : at[k];
        best[k] = next;
        at[k] = place;
        to[k * y_apart] = next;
        where[k * places_apart] = place;
      }
    }
  }
};

template <tn_dtype D, bool largest>
void run(const tn_call* call, const tn_tensor& x, const RowsAlong& rows) {
  using Element = typename Format<D>::Element;
  const tn_tensor &y = *call->outputs[0], &places = *call->outputs[1];
  const int64_t n = rows.length();
  const bool dense = rows.dim == x.ndim - 1 && n >= kChunk && rows.stride(x) == 1 &&
                     rows.stride(y) == 1 && rows.stride(places) == 1;
  const bool side_by_side = rows.apart(x) == 1 && rows.apart(y) == 1 && rows.apart(places) == 1;
  const int64_t most = side_by_side ? kSideBySide : kTogether;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / n);
  const auto* const from = static_cast<const Element*>(x.data);
  auto* const to = static_cast<Element*>(y.data);
  auto* const where = static_cast<int64_t*>(places.data);
  const auto running_at = [&](const std::array<int64_t, 3>& at) {
    return Running<D, largest>{{from + at[0], rows.stride(x), rows.apart(x)},
                               {to + at[1], rows.stride(y), rows.apart(y)},
                               {where + at[2], rows.stride(places), rows.apart(places)}};
  };
  parallel_for(call->host, 0, rows.count(), grain, [&](int64_t begin, int64_t end) {
    if (dense) {  // the last dimension is that of the rows
      return walk<3>(
          x.ndim - 1, x.sizes, {x.strides, y.strides, places.strides}, begin, end,
          [&](const std::array<int64_t, 3>& at, const int64_t*) { running_at(at).one(n); });
    }
    for (int64_t row = begin, count = 0; row < end; row += count) {
      count = rows.together(row, end, most);
      running_at({rows.offset(x, row), rows.offset(y, row), rows.offset(places, row)})
          .many(n, count);
    }
  });
}

template <bool largest>
void launch(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const RowsAlong rows = {x, call->args[1].as.i};
  dtype_table::visit(x.dtype, [&]<typename Tag>(Tag) { run<Tag::dtype, largest>(call, x, rows); });
}

// An extreme stands in all places up to the next one, so what belongs to it is a run, which begins at the
// element that is its own place. From the end on, sums of a run are kept until that is reached.
template <tn_dtype D>
void gradient(const tn_call* call, const tn_tensor& g, const tn_tensor& places,
              const tn_tensor& dx) {
  using Element = typename Format<D>::Element;
  const RowsAlong rows = {dx, call->args[3].as.i};
  const int64_t n = rows.length();
  const int64_t most = rows.apart(dx) == 1 ? kSideBySide : kTogether;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / n);
  parallel_for(call->host, 0, rows.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin, count = 0; row < end; row += count) {
      count = rows.together(row, end, most);
      const auto* const of_y = static_cast<const Element*>(g.data) + rows.offset(g, row);
      const auto* const where = static_cast<const int64_t*>(places.data) + rows.offset(places, row);
      auto* const to = static_cast<Element*>(dx.data) + rows.offset(dx, row);
      const int64_t g_apart = rows.apart(g), places_apart = rows.apart(places),
                    apart = rows.apart(dx);
      double sums[kSideBySide] = {};
      for (int64_t i = n - 1; i >= 0; --i) {
        const Element* const g_row = of_y + i * rows.stride(g);
        const int64_t* const places_row = where + i * rows.stride(places);
        Element* const row_to = to + i * rows.stride(dx);
        for (int64_t k = 0; k < count; ++k) {
          const double sum = sums[k] + static_cast<double>(Format<D>::widen(g_row[k * g_apart]));
          const bool ends = places_row[k * places_apart] == i;
          row_to[k * apart] =
              Format<D>::narrow(static_cast<typename Format<D>::Wide>(ends ? sum : 0));
          sums[k] = ends ? 0 : sum;
        }
      }
    }
  });
}

// args: g and what the places have, which is none; then the forward's arguments and its outputs.
void backward(const tn_call* call) {
  const tn_tensor* const dx = call->outputs[0];
  if (!dx) return;
  if (call->args[0].kind != TN_KIND_TENSOR) return clear_outputs(call);
  dtype_table::visit(dx->dtype, [&]<typename Tag>(Tag) {
    if constexpr (dtype_table::is_float(Tag::dtype))
      gradient<Tag::dtype>(call, *call->args[0].as.tensor, *call->args[5].as.tensor, *dx);
  });
}

bool supports(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  return (x.ndim > 0 && x.numel > 0) || why("takes rows with elements");
}

template <bool largest>
void add(const char* op) {
  kernel(op, "cpu", {.traits = kUsualPromises}, fn<launch<largest>>)
      .supports(fn<supports>)
      .backward(fn<backward>, {.saves_args = 0, .saves_outputs = 0b10});
}

}  // namespace

void add_running() {
  add<true>("cummax");
  add<false>("cummin");
}

}  // namespace tenon::cpu_backend
