// SCAN: cumulative sums and products, each row on one thread. Floats fold in float64. Also the pair of
// cumprod, and the gradient of a product over one dimension.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/norm.h"
#include "ops/rows.h"
#include "vector/convert.h"

namespace tenon::cpu_backend {
namespace {

// A thread scans several neighbouring rows at once: up to 64 whose elements are adjacent in memory, else
// 8, so that the additions of one row do not wait for each other.
constexpr int64_t kSideBySide = 64, kTogether = 8;

// So many rows, and how far apart they are in each tensor.
struct Group {
  int64_t count;
  int64_t steps[3];
};
template <typename... Tensors>
Group group_of(const RowsAlong& rows, int64_t row, int64_t end, const Tensors&... tensors) {
  const bool dense = ((rows.apart(tensors) == 1) && ...);
  return {rows.together(row, end, dense ? kSideBySide : kTogether), {rows.apart(tensors)...}};
}

// The element types and the order of a scan of `n` elements.
template <tn_dtype D>
struct Scan {
  using Element = typename Format<D>::Element;
  using Fold = std::conditional_t<std::is_same_v<Element, int64_t>, uint64_t, double>;
  int64_t n, x_step, y_step;
  bool product;

  static Fold widened(Element value) { return static_cast<Fold>(Format<D>::widen(value)); }
  static Element narrowed(Fold value) {
    return Format<D>::narrow(static_cast<typename Format<D>::Wide>(value));
  }
  Fold next(Fold folded, Element value) const {
    return product ? folded * widened(value) : folded + widened(value);
  }
  void run(const Element* from, Element* to, const Group& group) const {
    if (group.count == 1) return product ? one_row<true>(from, to) : one_row<false>(from, to);
    if (group.count == kTogether && x_step == y_step && (x_step == 1 || x_step == -1))
      return product ? by_pieces<true>(from, to, group) : by_pieces<false>(from, to, group);
    Fold folded[kSideBySide];
    std::fill_n(folded, group.count, product ? 1 : 0);
    const auto steps = [&](int64_t count, int64_t x_apart, int64_t y_apart) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < count; ++k) {
          folded[k] = next(folded[k], from[k * x_apart]);
          to[k * y_apart] = narrowed(folded[k]);
        }
        from += x_step;
        to += y_step;
      }
    };
    // With constants the compiler unrolls or vectorizes the loop.
    const int64_t x_apart = group.steps[0], y_apart = group.steps[1];
    if (x_apart == 1 && y_apart == 1) return steps(group.count, 1, 1);
    if (group.count == kTogether) return steps(kTogether, x_apart, y_apart);
    return steps(group.count, x_apart, y_apart);
  }
  // Rows of adjacent elements, by pieces that are copied next to each other and back: rows that are a power
  // of two apart share few places of the first cache, and loads of one wait for stores to another.
  template <bool kProduct>
  void by_pieces(const Element* from, Element* to, const Group& group) const {
    constexpr int64_t kPiece = 64, kRow = kPiece + 64 / static_cast<int64_t>(sizeof(Element));
    Element in[kTogether * kRow], out[kTogether * kRow];
    Fold folded[kTogether];
    std::fill_n(folded, kTogether, kProduct ? 1 : 0);
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      const int64_t size = std::min(kPiece, n - begin);
      // Where the piece begins in memory, and where its first element is there.
      const int64_t at = x_step > 0 ? begin : -(begin + size - 1),
                    first = x_step > 0 ? 0 : size - 1;
      for (int64_t k = 0; k < kTogether; ++k)
        std::copy_n(from + k * group.steps[0] + at, size, in + k * kRow);
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t k = 0; k < kTogether; ++k) {
          const int64_t place = k * kRow + first + i * x_step;
          const Fold value = widened(in[place]);
          folded[k] = kProduct ? folded[k] * value : folded[k] + value;
          out[place] = narrowed(folded[k]);
        }
      }
      for (int64_t k = 0; k < kTogether; ++k)
        std::copy_n(out + k * kRow, size, to + k * group.steps[1] + at);
    }
  }
  // What is folded stays in a register: from memory it comes back three times as late.
  template <bool kProduct>
  void one_row(const Element* from, Element* to) const {
    Fold folded = kProduct ? 1 : 0;
    for (int64_t i = 0; i < n; ++i) {
      const Fold value = widened(from[i * x_step]);
      folded = kProduct ? folded * value : folded + value;
      to[i * y_step] = narrowed(folded);
    }
  }
};

template <tn_dtype D>
void scan(const tn_host* host, const tn_tensor& x, const tn_tensor& y, const RowsAlong& rows,
          bool product, bool reverse) {
  using Element = typename Format<D>::Element;
  const int64_t n = rows.length(), sign = reverse ? -1 : 1;
  const Scan<D> steps{n, sign * rows.stride(x), sign * rows.stride(y), product};
  const int64_t grain = std::max<int64_t>(1, kPieceElements / n);
  parallel_for(host, 0, rows.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end;) {
      const auto* from = static_cast<const Element*>(x.data) + rows.offset(x, row);
      auto* to = static_cast<Element*>(y.data) + rows.offset(y, row);
      if (reverse) {
        from -= (n - 1) * steps.x_step;
        to -= (n - 1) * steps.y_step;
      }
      const Group group = group_of(rows, row, end, x, y);
      steps.run(from, to, group);
      row += group.count;
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

// f(first row, group, room for an element of each of its rows at each of their places), for groups of
// neighbouring rows of the tensors.
template <typename F, typename... Tensors>
void each_group(const tn_call* call, const RowsAlong& rows, const F& f, const Tensors&... tensors) {
  constexpr int64_t kKept = 1 << 16;  // elements that a worker keeps, or a row
  const int64_t n = rows.length(), count = rows.count();
  const int64_t most = std::clamp<int64_t>(kKept / n, 1, kSideBySide);
  const int64_t workers = std::clamp<int64_t>(count * n / kPieceElements, 1, thread_count());
  auto* const kept = static_cast<double*>(
      Call(call).workspace(static_cast<uint64_t>(workers * most * n) * sizeof(double)));
  parallel_for(call->host, 0, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      const int64_t behind = count * (worker + 1) / workers;
      for (int64_t row = count * worker / workers; row < behind;) {
        Group group = group_of(rows, row, behind, tensors...);
        group.count = std::min(group.count, most);
        f(row, group, kept + worker * most * n);
        row += group.count;
      }
    }
  });
}

// gradient.run(of g, of x, of dx, room, group) for each group of rows.
template <typename T, typename Gradient>
void run_groups(const tn_call* call, const RowsAlong& rows, const Gradient& gradient,
                const tn_tensor& g, const tn_tensor& x, const tn_tensor& dx) {
  each_group(
      call, rows,
      [&](int64_t row, const Group& group, double* kept) {
        gradient.run(static_cast<const T*>(g.data) + rows.offset(g, row),
                     static_cast<const T*>(x.data) + rows.offset(x, row),
                     static_cast<T*>(dx.data) + rows.offset(dx, row), kept, group);
      },
      g, x, dx);
}

// steps(count, strides of three tensors between rows): with constants the compiler unrolls or vectorizes.
template <typename Steps>
void with_constants(const Group& group, const Steps& steps) {
  const auto [a, b, c] = group.steps;
  if (a == 1 && b == 1 && c == 1) return steps(group.count, 1, 1, 1);
  if (group.count == kTogether) return steps(kTogether, a, b, c);
  return steps(group.count, a, b, c);
}

// dx_i = prod(x_j, j < i) s_i of y_i = prod(x_j, j <= i), where s_i = g_i + x_{i+1} s_{i+1}: no
// division, so that it holds at zeros. Both factors are kept in float64, where one may be beyond T and
// the other 0.
template <typename T>
struct ProductGradient {
  int64_t n, g_step, x_step, step;

  // kept: n elements for each row of the group.
  void run(const T* g, const T* x, T* dx, double* kept, const Group& group) const {
    double folded[kSideBySide] = {};
    const auto steps = [&](int64_t count, int64_t g_apart, int64_t x_apart, int64_t apart) {
      for (int64_t i = n - 1; i >= 0; --i) {
        const T *const of_y = g + i * g_step, *const behind = x + (i + 1) * x_step;
        if (i + 1 < n) {
          for (int64_t k = 0; k < count; ++k) {
            folded[k] *= static_cast<double>(behind[k * x_apart]);
          }
        }
        for (int64_t k = 0; k < count; ++k) {
          folded[k] += static_cast<double>(of_y[k * g_apart]);
          kept[i * count + k] = folded[k];
        }
      }
      std::fill_n(folded, count, 1.0);
      for (int64_t i = 0; i < n; ++i) {
        const T* const from = x + i * x_step;
        T* const to = dx + i * step;
        for (int64_t k = 0; k < count; ++k) {
          to[k * apart] = static_cast<T>(kept[i * count + k] * folded[k]);
          folded[k] *= static_cast<double>(from[k * x_apart]);
        }
      }
    };
    with_constants(group, steps);
  }
};

template <typename T>
void product_backward(const tn_call* call, const tn_tensor& g, const tn_tensor& x,
                      const tn_tensor& dx, const RowsAlong& rows) {
  const ProductGradient<T> gradient{rows.length(), rows.stride(g), rows.stride(x), rows.stride(dx)};
  run_groups<T>(call, rows, gradient, g, x, dx);
}

void launch_product(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_tensor& y = *call->outputs[0];
  const RowsAlong rows = {y, call->args[1].as.i};
  x.dtype == TN_FLOAT64 ? scan<TN_FLOAT64>(call->host, x, y, rows, true, false)
                        : scan<TN_FLOAT32>(call->host, x, y, rows, true, false);
}

// args: g, then the forward's.
void launch_product_backward(const tn_call* call) {
  const tn_tensor* const dx = call->outputs[0];
  if (!dx) return;
  if (call->args[0].kind != TN_KIND_TENSOR) return clear_outputs(call);
  const tn_tensor &g = *call->args[0].as.tensor, &x = *call->args[1].as.tensor;
  const RowsAlong rows = {*dx, call->args[2].as.i};
  dx->dtype == TN_FLOAT64 ? product_backward<double>(call, g, x, *dx, rows)
                          : product_backward<float>(call, g, x, *dx, rows);
}

// dx_i = g prod(x_j, j != i), by what is before and what is behind: no division, so that it holds at zeros.
// Both are kept in float64.
template <typename T>
struct WholeProductGradient {
  int64_t n, x_step, step;

  // kept: n elements for each row of the group.
  void run(const T* g, const T* x, T* dx, double* kept, const Group& group) const {
    if (x_step == 1 && step == 1 && group.count == kTogether && n >= kStrip)
      return strips(g, x, dx, kept, group);
    with_constants(group, [&](int64_t count, int64_t g_apart, int64_t x_apart, int64_t apart) {
      double folded[kSideBySide];
      std::fill_n(folded, count, 1.0);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < count; ++k) {
          kept[i * count + k] = folded[k];
          folded[k] *= static_cast<double>(x[i * x_step + k * x_apart]);
        }
      }
      for (int64_t k = 0; k < count; ++k) folded[k] = static_cast<double>(g[k * g_apart]);
      for (int64_t i = n - 1; i >= 0; --i) {
        for (int64_t k = 0; k < count; ++k) {
          dx[i * step + k * apart] = static_cast<T>(kept[i * count + k] * folded[k]);
          folded[k] *= static_cast<double>(x[i * x_step + k * x_apart]);
        }
      }
    });
  }

 private:
  static constexpr int64_t kStrip = 64;

  // Of kTogether rows that are dense: the results of a strip are turned where nothing else is, and then written
  // row by row. Rows of a power of two have their elements, and their results', in the same lines of the cache.
  void strips(const T* g, const T* x, T* dx, double* kept, const Group& group) const {
    const auto [g_apart, x_apart, apart] = group.steps;
    double folded[kTogether];
    std::fill_n(folded, kTogether, 1.0);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < kTogether; ++k) {
        kept[i * kTogether + k] = folded[k];
        folded[k] *= static_cast<double>(x[k * x_apart + i]);
      }
    }
    for (int64_t k = 0; k < kTogether; ++k) folded[k] = static_cast<double>(g[k * g_apart]);
    for (int64_t end = n; end > 0;) {
      const int64_t from = (end - 1) / kStrip * kStrip;
      T strip[kTogether][kStrip];
      for (int64_t i = end - 1; i >= from; --i) {
        for (int64_t k = 0; k < kTogether; ++k) {
          strip[k][i - from] = static_cast<T>(kept[i * kTogether + k] * folded[k]);
          folded[k] *= static_cast<double>(x[k * x_apart + i]);
        }
      }
      for (int64_t k = 0; k < kTogether; ++k)
        std::copy_n(strip[k], end - from, dx + k * apart + from);
      end = from;
    }
  }
};

template <typename T>
void whole_product_backward(const tn_call* call, const tn_tensor& g, const tn_tensor& x,
                            const tn_tensor& dx, const RowsAlong& rows) {
  const WholeProductGradient<T> gradient{rows.length(), rows.stride(x), rows.stride(dx)};
  run_groups<T>(call, rows, gradient, g, x, dx);
}

// args: g, which has one element along the dimension, x and the dimension.
void launch_whole_product_backward(const tn_call* call) {
  const tn_tensor &g = *call->args[0].as.tensor, &x = *call->args[1].as.tensor;
  const tn_tensor& dx = *call->outputs[0];
  const RowsAlong rows = {x, call->args[2].as.i};
  x.dtype == TN_FLOAT64 ? whole_product_backward<double>(call, g, x, dx, rows)
                        : whole_product_backward<float>(call, g, x, dx, rows);
}

bool supports_product(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  return (x.ndim > 0 && x.numel > 0) || why("takes rows with elements");
}

bool supports_whole_product(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[1].as.tensor;
  return (x.ndim > 0 && x.numel > 0) || why("takes rows with elements");
}

}  // namespace

void add_scan() {
  kernel(TN_PRIM_SCAN, "cpu", {.dtypes = all_floats | int64, .traits = kUsualPromises}, fn<launch>);
  // The op has a dtype that this kernel does not know.
  kernel("cumprod(Tensor x, int dim) -> Tensor", "cpu",
         {.dtypes = floats, .traits = kUsualPromises}, fn<launch_product>)
      .supports(fn<supports_product>)
      .backward(fn<launch_product_backward>, {.saves_args = 0b1});
  kernel("_product_gradient", "cpu", {.dtypes = floats, .traits = kUsualPromises},
         fn<launch_whole_product_backward>)
      .supports(fn<supports_whole_product>);
}

}  // namespace tenon::cpu_backend
