// Pools of one to three dimensions: reductions over windows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pool.h"

namespace tenon::ops_pack {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// The lengths themselves, of integers' windows.
constinit ExpressionRef length{
    "_length(Tensor i, int stride, int start, int length, int low, int high) -> Tensor",
    "let at = i * stride + start\n"
    "min(at + length, high) - max(at, low)"};
constinit ExpressionRef times{"_times(Tensor x, Tensor y) -> Tensor", "x * y"};
constinit OpRef first_max{"ops._first_max"};
constinit ExpressionRef place_of_nan{"_place_of_nan(Tensor x, Tensor place) -> Tensor",
                                     "where(isnan(x), int(place), -1)"};
constinit ExpressionRef nan_or_first{"_nan_or_first(Tensor last, Tensor first) -> Tensor",
                                     "where(last >= 0, last, first)"};
// Where along one dimension the element k of window o lies. What was chosen before the first element
// is padding that is no less than all others: then it is the first element of the window.
constinit ExpressionRef place_in_window{
    "_place_in_window(Tensor at, Tensor o, int below, int kernel, int stride, int start, int "
    "dilation) -> Tensor",
    "let i = o * stride + start + at // below % kernel * dilation\n"
    "where(i < 0, i + (dilation - 1 - i) // dilation * dilation, i)"};
// 1 / the length of window i between two bounds.
constinit ExpressionRef share{
    "_share(Tensor i, float stride, float start, float length, float low, float high) -> Tensor",
    "let at = i * stride + start\n"
    "1 / (min(at + length, high) - max(at, low))"};
constinit ExpressionRef adaptive_share{
    "_adaptive_share(Tensor i, Tensor zero, int size, int n) -> Tensor",
    "zero + 1.0 / (((i + 1) * size + n - 1) // n - i * size // n)"};

// What is below all numbers of the dtype, or is the least.
double lowest(Dtype dtype) { return dtype.is_float() ? kLowest : dtype_table::least(dtype.value); }
void expect_number(const char* op, const Tensor& x) {
  if (x.dtype() == bool_) fail(std::string(op) + ": x is bool, expected a number");
}

}  // namespace

Tensor along(const Tensor& vector, int64_t d, int64_t n) {
  Sizes sizes(size_t(n), 1);
  sizes[size_t(d)] = vector.size(0);
  return prim::reshape(vector, sizes);
}

Windows pool_options(const char* op, int64_t n, Ints kernel, Ints stride, Ints padding,
                     Ints dilation) {
  Windows w;
  w.kernel = for_each_dim(op, "kernel_size", kernel, n, 1);
  w.stride = stride.empty() ? w.kernel : for_each_dim(op, "stride", stride, n, 1);
  w.padding = for_each_dim(op, "padding", padding, n, 0);
  w.dilation = for_each_dim(op, "dilation", dilation, n, 1);
  for (size_t d = 0; d < size_t(n); ++d) {
    // Then every window holds an element.
    if (w.padding[d] > w.kernel[d] / 2) {
      fail(std::string(op) + ": padding is " + sizes_text(w.padding) +
           ", expected at most half of kernel_size " + sizes_text(w.kernel));
    }
  }
  return w;
}

namespace {

// What a pool infers: an output for each window.
Meta pool_meta(const char* op, const Tensor& x, Windows w, bool ceil_mode) {
  const int64_t n = w.n();
  const Sizes sizes = batched_sizes(op, x, n);
  expect_elements(op, sizes, n);
  set_out(op, &w, std::span(sizes).last(size_t(n)), ceil_mode);
  return batched_meta(x, n, joined_sizes({{sizes[0], sizes[1]}, w.out}));
}

void expect_divisor(const char* op, optional<int64_t> divisor) {
  if (divisor && *divisor == 0) fail(std::string(op) + ": divisor_override is 0");
}

}  // namespace

void expect_elements(const char* op, std::span<const int64_t> sizes, int64_t n) {
  for (const int64_t size : sizes.last(size_t(n))) {
    if (size == 0)
      fail(std::string(op) + ": x is " + sizes_text(sizes) + ", which has nothing to pool");
  }
}

Tensor place_of_max(const Tensor& x, Ints dims) {
  const Tensor first = prim::reduce(TN_REDUCE_ARGMAX, x, dims);
  Sizes sizes(size_t(x.dim()), 1);
  for (int64_t d : dims) sizes[size_t(d)] = x.size(d);
  // Beside x places are floats, which count so far. More elements have one NaN of many.
  constexpr int64_t kMost = 1 << 24;
  if (!x.dtype().is_float() || product(sizes) > kMost) return first;
  const Tensor place = prim::reshape(prim::iota(product(sizes), 0, 1, int64, x.device()), sizes);
  const Tensor last = prim::reduce(TN_REDUCE_MAX, {x, place}, dims, false, place_of_nan);
  return prim::elementwise(nan_or_first, last, first);
}

namespace {

Tensor max_pool(const char* op, const Tensor& x, Windows w, bool ceil_mode) {
  expect_elements(op, x.sizes(), w.n());
  set_out(op, &w, last_sizes(x, w.n()), ceil_mode);
  return call(first_max, windows(x, w, lowest(x.dtype())), counting(2 + w.n(), w.n()));
}

}  // namespace

std::tuple<Tensor, Tensor> indexed_max_pool(const char* op, const Tensor& x, Windows w,
                                            bool ceil_mode) {
  const int64_t n = w.n();
  expect_elements(op, x.sizes(), n);
  set_out(op, &w, last_sizes(x, n), ceil_mode);
  const Tensor at = place_of_max(windows(x.detach(), w, lowest(x.dtype())), counting(2 + n, n));
  // With dilation a window may hold nothing but padding: its place is out of x, and its value what
  // padding has.
  const bool may_miss = std::ranges::any_of(w.dilation, [](int64_t d) { return d > 1; });
  Tensor index, within, is_within;
  int64_t below = product(w.kernel);
  for (int64_t i = 0; i < n; ++i) {
    const auto d = size_t(i);
    below /= w.kernel[d];
    const Tensor window = along(prim::iota(w.out[d], 0, 1, int64, x.device()), i, n);
    const Tensor place = prim::elementwise(place_in_window, at, window, below, w.kernel[d],
                                           w.stride[d], -w.padding[d], w.dilation[d]);
    const int64_t size = x.size(2 + i);
    index = i == 0 ? place : prim::elementwise(next_place, index, place, size);
    if (!may_miss) continue;
    const Tensor kept = clamp(place, 0, size - 1), fits = eq(kept, place);
    within = i == 0 ? kept : prim::elementwise(next_place, within, kept, size);
    is_within = i == 0 ? fits : logical_and(is_within, fits);
  }
  const Sizes front = first_sizes(x, 2);
  const Tensor found = prim::gather(
      prim::reshape(x, joined_sizes({front, {product(last_sizes(x, n))}})), 2,
      prim::reshape(may_miss ? within : index, joined_sizes({front, {product(w.out)}})));
  const Tensor values = prim::reshape(found, index.sizes());
  if (!may_miss) return {values, index};
  const Tensor nothing = prim::fill({}, lowest(x.dtype()), x.dtype(), x.device());
  return {where(is_within, values, nothing), index};
}

namespace {

// As PyTorch's means of three dimensions alone, whose windows fit without padding.
void expect_whole_windows(const char* op, const Tensor& x, const Windows& w) {
  const int64_t n = w.n();
  for (int64_t d = 0; n == 3 && d < n; ++d) {
    if (w.kernel[size_t(d)] <= x.size(d - n)) continue;
    fail(std::string(op) + ": kernel_size is " + sizes_text(w.kernel) +
         ", expected at most the sizes " + sizes_text(last_sizes(x, n)) + " of x, without padding");
  }
}

// Elements count that are within the tensor, or the padding too; what a window of ceil_mode has
// beyond it never does.
Tensor avg_pool(const char* op, const Tensor& x, Windows w, bool ceil_mode, bool count_include_pad,
                optional<int64_t> divisor) {
  int64_t n = w.n();
  expect_elements(op, x.sizes(), n);
  expect_divisor(op, divisor);
  set_out(op, &w, last_sizes(x, n), ceil_mode);
  expect_whole_windows(op, x, w);
  Sizes dims = counting(2 + n, n);
  bool whole = true;
  for (size_t d = 0; d < size_t(n); ++d) {
    int64_t pad = w.padding[d], size = x.size(2 + int64_t(d));
    bool beyond = (w.out[d] - 1) * w.stride[d] + w.kernel[d] > size + 2 * pad;
    whole = whole && !beyond && (pad == 0 || count_include_pad);
  }
  Tensor shown = windows(x, w);
  if (!x.dtype().is_float()) {
    Tensor count = prim::fill({}, divisor ? *divisor : product(w.kernel), int64, x.device());
    for (int64_t d = 0; d < n && !divisor && !whole; ++d) {
      int64_t pad = w.padding[size_t(d)], size = x.size(2 + d), edge = count_include_pad ? pad : 0;
      Tensor part =
          prim::elementwise(length, prim::iota(w.out[size_t(d)], 0, 1, int64, x.device()),
                            w.stride[size_t(d)], -pad, w.kernel[size_t(d)], -edge, size + edge);
      part = along(part, d, n);
      count = d == 0 ? part : prim::elementwise(times, count, part);
    }
    // Rounded toward zero, as PyTorch's.
    Tensor y = div(prim::reduce(TN_REDUCE_SUM, shown, dims), count, "trunc");
    return y.dtype() == x.dtype() ? y : prim::copy(y, x.dtype());
  }
  if (divisor || whole) {
    return prim::reduce_then(TN_REDUCE_SUM, shown, dims, false, scaled,
                             1.0 / double(divisor ? *divisor : product(w.kernel)));
  }
  Dtype dtype = x.dtype() == float64 ? float64 : float32;
  Tensor factor;
  for (int64_t d = 0; d < n; ++d) {
    double pad = double(w.padding[size_t(d)]), size = double(x.size(2 + d));
    Tensor part =
        prim::elementwise(share, prim::iota(w.out[size_t(d)], 0, 1, dtype, x.device()),
                          double(w.stride[size_t(d)]), -pad, double(w.kernel[size_t(d)]),
                          count_include_pad ? -pad : 0.0, count_include_pad ? size + pad : size);
    part = along(part, d, n);
    factor = factor.defined() ? prim::elementwise(times, factor, part) : part;
  }
  Tensor y = prim::elementwise(times, prim::reduce(TN_REDUCE_SUM, shown, dims), factor);
  return y.dtype() == x.dtype() ? y : prim::copy(y, x.dtype());
}

// Along dimension d: windows of different lengths are gathered at the length of the longest, and
// what is not theirs is put out.
Tensor adaptive_along(const Tensor& x, int64_t d, int64_t n, bool maximum) {
  // In lowest terms size / n is p / q, and some window begins (q - 1) / q behind an element.
  int64_t size = x.size(d), common = std::gcd(size, n), q = n / common;
  int64_t longest = int64_t((Wide(size / common) + 2 * Wide(q) - 2) / q);
  Sizes front = first_sizes(x, d), back = last_sizes(x, x.dim() - d - 1);
  int64_t before = product(front), after = product(back);
  Tensor i = prim::reshape(prim::iota(n, 0, 1, int64, x.device()), {n, 1});
  Tensor k = prim::iota(longest, 0, 1, int64, x.device());
  Tensor index = prim::reshape(prim::elementwise(adaptive_index, i, k, size, n), {n * longest, 1});
  Tensor inside = prim::reshape(prim::elementwise(adaptive_inside, i, k, size, n), {n, longest, 1});
  Tensor y = prim::gather(prim::reshape(x, {before, size, after}), 1,
                          prim::expand(index, {before, n * longest, after}));
  y = prim::elementwise(or_else, prim::reshape(y, {before, n, longest, after}), inside,
                        maximum ? kLowest : 0.0);
  if (maximum) {
    y = call(first_max, y, Ints(2));
  } else {
    Tensor zero = prim::fill({}, 0, x.dtype(), x.device());
    y = prim::elementwise(times, prim::reduce(TN_REDUCE_SUM, y, 2),
                          prim::elementwise(adaptive_share, i, zero, size, n));
  }
  return prim::reshape(y, joined_sizes({front, {n}, back}));
}

Tensor adaptive_pool(const char* op, const Tensor& x, const Sizes& output_size, bool maximum) {
  int64_t n = int64_t(output_size.size());
  expect_elements(op, x.sizes(), n);
  if (product(output_size) == 0) return of_no_windows(x, output_size);
  Windows w;
  bool even = true;
  for (int64_t d = 0; d < n; ++d) {
    int64_t size = x.size(2 + d), out = output_size[size_t(d)];
    even = even && size % out == 0;
    w.kernel.push_back(size / out);
  }
  if (even) {
    w.stride = w.kernel;
    w.padding = Sizes(size_t(n), 0);
    w.dilation = Sizes(size_t(n), 1);
    return maximum ? max_pool(op, x, w, false) : avg_pool(op, x, w, false, true, {});
  }
  Tensor y = x;
  // Last dimension first: of equal largest ones the first in row-major order is chosen.
  for (int64_t d = n; d-- > 0;) y = adaptive_along(y, 2 + d, output_size[size_t(d)], maximum);
  return y;
}

void define_max(int64_t n, const char* schema) {
  const std::string op_name = name_of(schema);
  op(schema)
      .doc(
          "The maximum of each window of x [n, channels, ..], or without n. stride empty: "
          "kernel_size. Of equal largest ones the first has the gradient.")
      .amp(Amp::widest)
      .infer([op_name, n](Tensor x, Ints kernel_size, Ints stride, Ints padding, Ints dilation,
                          bool ceil_mode) {
        const char* name = op_name.c_str();
        expect_number(name, x);
        return pool_meta(name, x, pool_options(name, n, kernel_size, stride, padding, dilation),
                         ceil_mode);
      })
      .meaning([op_name, n](Tensor x, Ints kernel_size, Ints stride, Ints padding, Ints dilation,
                            bool ceil_mode) {
        const char* name = op_name.c_str();
        expect_number(name, x);
        Windows w = pool_options(name, n, kernel_size, stride, padding, dilation);
        return batched(name, x, n,
                       [&](const Tensor& b) { return max_pool(name, b, w, ceil_mode); });
      });
}

void define_indexed_max(int64_t n, const char* schema) {
  const std::string op_name = name_of(schema);
  op(schema)
      .doc(
          "max_pool of the same dimensions, and for each window the int64 index of its maximum in "
          "the plane of x, counted row by row: the first of equal ones.")
      .amp(Amp::widest)
      .keeps_halves()
      .infer([op_name, n](Tensor x, Ints kernel_size, Ints stride, Ints padding, Ints dilation,
                          bool ceil_mode) {
        const char* name = op_name.c_str();
        expect_number(name, x);
        const Meta values = pool_meta(
            name, x, pool_options(name, n, kernel_size, stride, padding, dilation), ceil_mode);
        Meta indices = values;
        indices.dtype = TN_INT64;
        return std::tuple{values, indices};
      })
      .meaning([op_name, n](Tensor x, Ints kernel_size, Ints stride, Ints padding, Ints dilation,
                            bool ceil_mode) {
        const char* name = op_name.c_str();
        expect_number(name, x);
        Windows w = pool_options(name, n, kernel_size, stride, padding, dilation);
        const Sizes sizes = batched_sizes(name, x, n);
        auto [values, indices] = indexed_max_pool(name, prim::reshape(x, sizes), w, ceil_mode);
        if (x.dim() == n + 2) return std::tuple{values, indices};
        const Sizes own = last_sizes(values, n + 1);
        return std::tuple{prim::reshape(values, own), prim::reshape(indices, own)};
      });
}

void define_average(int64_t n, const char* schema) {
  const std::string op_name = name_of(schema);
  auto average = [op_name, n](const Tensor& x, Ints kernel_size, Ints stride, Ints padding,
                              bool ceil_mode, bool count_include_pad, optional<int64_t> divisor) {
    const char* name = op_name.c_str();
    expect_number(name, x);
    Windows w = pool_options(name, n, kernel_size, stride, padding, 1);
    return batched(name, x, n, [&](const Tensor& b) {
      return avg_pool(name, b, w, ceil_mode, count_include_pad, divisor);
    });
  };
  auto meta = [op_name, n](const Tensor& x, Ints kernel_size, Ints stride, Ints padding,
                           bool ceil_mode, bool, optional<int64_t> divisor) {
    const char* name = op_name.c_str();
    expect_number(name, x);
    expect_divisor(name, divisor);
    const Windows w = pool_options(name, n, kernel_size, stride, padding, 1);
    Meta result = pool_meta(name, x, w, ceil_mode);
    expect_whole_windows(name, x, w);
    return result;
  };
  if (n > 1) {
    op(schema)
        .doc(
            "The mean of each window of x [n, channels, ..], or without n. stride empty: "
            "kernel_size. count_include_pad: borders count as zeros; divisor_override divides the "
            "sum instead.")
        .amp(Amp::widest)
        .infer(meta)
        .meaning(average);
  } else {
    op(schema)
        .doc(
            "The mean of each window of x [n, channels, ..], or without n. stride empty: "
            "kernel_size. count_include_pad: borders count as zeros.")
        .amp(Amp::widest)
        .infer([meta](Tensor x, Ints kernel_size, Ints stride, Ints padding, bool ceil_mode,
                      bool count_include_pad) {
          return meta(x, kernel_size, stride, padding, ceil_mode, count_include_pad, {});
        })
        .meaning([average](Tensor x, Ints kernel_size, Ints stride, Ints padding, bool ceil_mode,
                           bool count_include_pad) {
          return average(x, kernel_size, stride, padding, ceil_mode, count_include_pad, {});
        });
  }
}

void define_adaptive(int64_t n, bool maximum, const char* schema) {
  const std::string op_name = name_of(schema);
  op(schema)
      .doc(maximum ? "The maxima of windows that together cover x [n, channels, ..], output_size "
                     "of them; -1: as many as x has there."
                   : "The means of windows that together cover x [n, channels, ..], output_size of "
                     "them; -1: as many as x has there.")
      .amp(Amp::widest)
      .infer([op_name, n](Tensor x, Ints output_size) {
        const char* name = op_name.c_str();
        expect_float(name, x);
        const Sizes sizes = batched_sizes(name, x, n);
        expect_elements(name, sizes, n);
        const Sizes size = adaptive_sizes(name, sizes, output_size, n);
        return batched_meta(x, n, joined_sizes({{sizes[0], sizes[1]}, size}));
      })
      .meaning([op_name, n, maximum](Tensor x, Ints output_size) {
        const char* name = op_name.c_str();
        expect_float(name, x);
        const Sizes size = adaptive_sizes(name, batched_sizes(name, x, n), output_size, n);
        // Where a size was left open a kernel may take the call now.
        const bool was_open = std::ranges::find(output_size, -1) != output_size.end();
        if (was_open) return call(("ops." + op_name).c_str(), x, Ints(size));
        return batched(name, x, n,
                       [&](const Tensor& b) { return adaptive_pool(name, b, size, maximum); });
      });
}

Tensor first_max_of(Tensor x, Ints dims) {
  int64_t first = dims.empty() ? -1 : dims[0], n = dims.size();
  bool neighbours = first >= 0 && n <= x.dim() && first <= x.dim() - n;
  for (int64_t i = 0; i < n; ++i) neighbours = neighbours && dims[size_t(i)] == first + i;
  if (!neighbours) {
    fail("_first_max: dims are " + sizes_text({dims.data(), dims.size()}) +
         ", expected neighbours within 0 to " + std::to_string(x.dim() - 1));
  }
  return prim::reduce(TN_REDUCE_MAX, x, dims);
}
Tensor first_max_gradient(const Vjp& g, Tensor x, Ints dims) {
  int64_t first = dims[0], n = dims.size();
  Sizes front = first_sizes(x, first), back = last_sizes(x, x.dim() - first - n);
  Sizes flat{product(front), 0, product(back)};
  flat[1] = product(Sizes(x.sizes().begin() + first, x.sizes().begin() + first + n));
  Sizes one{flat[0], 1, flat[2]};
  Tensor at = prim::reshape(place_of_max(x.detach(), dims), one);
  Tensor dx = prim::scatter(spread(flat, 0, x.dtype(), x.device()), 1, at,
                            prim::reshape(g.grad(), one), false);
  return prim::reshape(dx, x.sizes());
}

}  // namespace

void pool() {
  // As amax, but the gradient goes to one element alone, that of place_of_max. dims are neighbours.
  op("_first_max(Tensor x, int[] dims) -> Tensor")
      .meaning(first_max_of)
      .vjp(first_max_gradient, Reads::args);
  define_max(1,
             "max_pool1d(Tensor x, int[] kernel_size, int[] stride=[], int[] padding=[0], int[] "
             "dilation=[1], bool ceil_mode=False) -> Tensor");
  define_indexed_max(1,
                     "max_pool1d_with_indices(Tensor x, int[] kernel_size, int[] stride=[], int[] "
                     "padding=[0], int[] dilation=[1], bool ceil_mode=False) -> (Tensor values, "
                     "Tensor indices)");
  define_average(1,
                 "avg_pool1d(Tensor x, int[] kernel_size, int[] stride=[], int[] padding=[0], "
                 "bool ceil_mode=False, bool count_include_pad=True) -> Tensor");
  define_adaptive(1, false, "adaptive_avg_pool1d(Tensor x, int[] output_size) -> Tensor");
  define_adaptive(1, true, "adaptive_max_pool1d(Tensor x, int[] output_size) -> Tensor");
  define_max(2,
             "max_pool2d(Tensor x, int[] kernel_size, int[] stride=[], int[] padding=[0], int[] "
             "dilation=[1], bool ceil_mode=False) -> Tensor");
  define_indexed_max(2,
                     "max_pool2d_with_indices(Tensor x, int[] kernel_size, int[] stride=[], int[] "
                     "padding=[0], int[] dilation=[1], bool ceil_mode=False) -> (Tensor values, "
                     "Tensor indices)");
  define_average(2,
                 "avg_pool2d(Tensor x, int[] kernel_size, int[] stride=[], int[] padding=[0], "
                 "bool ceil_mode=False, bool count_include_pad=True, int? "
                 "divisor_override=None) -> Tensor");
  define_adaptive(2, false, "adaptive_avg_pool2d(Tensor x, int[] output_size) -> Tensor");
  define_adaptive(2, true, "adaptive_max_pool2d(Tensor x, int[] output_size) -> Tensor");
  define_max(3,
             "max_pool3d(Tensor x, int[] kernel_size, int[] stride=[], int[] padding=[0], int[] "
             "dilation=[1], bool ceil_mode=False) -> Tensor");
  define_indexed_max(3,
                     "max_pool3d_with_indices(Tensor x, int[] kernel_size, int[] stride=[], int[] "
                     "padding=[0], int[] dilation=[1], bool ceil_mode=False) -> (Tensor values, "
                     "Tensor indices)");
  define_average(3,
                 "avg_pool3d(Tensor x, int[] kernel_size, int[] stride=[], int[] padding=[0], "
                 "bool ceil_mode=False, bool count_include_pad=True, int? "
                 "divisor_override=None) -> Tensor");
  define_adaptive(3, false, "adaptive_avg_pool3d(Tensor x, int[] output_size) -> Tensor");
  define_adaptive(3, true, "adaptive_max_pool3d(Tensor x, int[] output_size) -> Tensor");
}

}  // namespace tenon::ops_pack
