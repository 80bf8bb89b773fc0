// Adaptive maxima with their places, and planes filled again from maxima and places.
#include <algorithm>
#include <limits>
#include <numeric>

#include "pool.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef adaptive_place{
    "_adaptive_place(Tensor at, Tensor i, int below, int kernel, int size, int n) -> Tensor",
    "i * size // n + at // below % kernel"};

// The longest window of n that cover `size` elements.
int64_t longest_of(int64_t size, int64_t n) {
  // In lowest terms size / n is p / q, and some window begins (q - 1) / q behind an element.
  const int64_t common = std::gcd(size, n), q = n / common;
  return int64_t((Wide(size / common) + 2 * Wide(q) - 2) / q);
}

// x [n, channels, ..] as [n, channels, out.., kernel..]; what is behind a window is -inf.
Tensor adaptive_windows(const Tensor& x, const Sizes& out, const Sizes& kernel) {
  const auto n = int64_t(out.size());
  Tensor y = x;
  Sizes split = first_sizes(x, 2), order{0, 1};
  for (int64_t d = 0; d < n; ++d) {
    const int64_t count = out[size_t(d)], most = kernel[size_t(d)];
    const Tensor i = prim::reshape(prim::iota(count, 0, 1, int64, x.device()), {count, 1});
    const Tensor k = prim::iota(most, 0, 1, int64, x.device());
    const Tensor index = prim::elementwise(adaptive_index, i, k, x.size(2 + d), count);
    y = index_select(y, 2 + d, prim::reshape(index, {-1}));
    split.insert(split.end(), {count, most});
    order.push_back(2 + 2 * d);
  }
  for (int64_t d = 0; d < n; ++d) order.push_back(3 + 2 * d);
  y = prim::permute(prim::reshape(y, split), order);
  for (int64_t d = 0; d < n; ++d) {
    const int64_t count = out[size_t(d)], most = kernel[size_t(d)];
    const Tensor i = prim::reshape(prim::iota(count, 0, 1, int64, x.device()), {count, 1});
    const Tensor k = prim::iota(most, 0, 1, int64, x.device());
    Sizes mask(size_t(2 * n), 1);
    mask[size_t(d)] = count;
    mask[size_t(n + d)] = most;
    const Tensor inside = prim::elementwise(adaptive_inside, i, k, x.size(2 + d), count);
    y = prim::elementwise(or_else, y, prim::reshape(inside, mask),
                          -std::numeric_limits<double>::infinity());
  }
  return y;
}

std::tuple<Tensor, Tensor> indexed_adaptive(const char* op, const Tensor& x, const Sizes& out) {
  const auto n = int64_t(out.size());
  expect_elements(op, x.sizes(), n);
  if (product(out) == 0) {
    const Tensor none = of_no_windows(x, out);
    return {none, spread(none.sizes(), 0, int64, x.device())};
  }
  Sizes kernel;
  bool even = true;
  for (int64_t d = 0; d < n; ++d) {
    even = even && x.size(2 + d) % out[size_t(d)] == 0;
    kernel.push_back(longest_of(x.size(2 + d), out[size_t(d)]));
  }
  if (even)
    return indexed_max_pool(op, x, pool_options(op, n, kernel, kernel, int64_t(0), 1), false);
  const Tensor at = place_of_max(adaptive_windows(x.detach(), out, kernel), counting(2 + n, n));
  Tensor index;
  int64_t below = product(kernel);
  for (int64_t d = 0; d < n; ++d) {
    below /= kernel[size_t(d)];
    const Tensor i = along(prim::iota(out[size_t(d)], 0, 1, int64, x.device()), d, n);
    const Tensor place = prim::elementwise(adaptive_place, at, i, below, kernel[size_t(d)],
                                           x.size(2 + d), out[size_t(d)]);
    index = d == 0 ? place : prim::elementwise(next_place, index, place, x.size(2 + d));
  }
  const Sizes front = first_sizes(x, 2);
  const Tensor flat = prim::reshape(x, joined_sizes({front, {product(last_sizes(x, n))}}));
  const Tensor values =
      prim::gather(flat, 2, prim::reshape(index, joined_sizes({front, {product(out)}})));
  return {prim::reshape(values, index.sizes()), index};
}

void define_adaptive(int64_t n, const char* schema) {
  const std::string op_name = name_of(schema);
  op(schema)
      .doc(
          "adaptive_max_pool of the same dimensions, and for each window the int64 index of its "
          "maximum in the plane of x, counted row by row: the first of equal ones.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([op_name, n](Tensor x, Ints output_size) {
        const char* name = op_name.c_str();
        expect_float(name, x);
        const Sizes sizes = batched_sizes(name, x, n);
        const Sizes out = adaptive_sizes(name, sizes, output_size, n);
        auto [values, indices] = indexed_adaptive(name, prim::reshape(x, sizes), out);
        if (x.dim() == n + 2) return std::tuple{values, indices};
        const Sizes own = last_sizes(values, n + 1);
        return std::tuple{prim::reshape(values, own), prim::reshape(indices, own)};
      });
}

// The sizes of the plane: those that are asked for, or what a pool of these windows takes.
Sizes plane_of(const char* op, const Sizes& sizes, const Windows& w, Ints output_size) {
  const int64_t n = w.n();
  Sizes plane;
  const auto given = int64_t(output_size.size());
  if (given != 0 && given != n && given != int64_t(sizes.size()) && given != n + 1) {
    fail(std::string(op) + ": output_size is " +
         sizes_text({output_size.data(), output_size.size()}) + ", expected " + std::to_string(n) +
         " sizes, or none");
  }
  for (int64_t d = 0; d < n; ++d) {
    const auto i = size_t(d);
    const Wide usual =
        (Wide(sizes[size_t(2 + d)]) - 1) * w.stride[i] - 2 * Wide(w.padding[i]) + w.kernel[i];
    const Wide wanted = given == 0 ? usual : output_size[size_t(given - n + d)];
    const Wide apart = wanted > usual ? wanted - usual : usual - wanted;
    if (wanted < 1 || wanted > kMostPadded || (given != 0 && apart >= w.stride[i])) {
      fail(std::string(op) + ": dimension " + std::to_string(2 + d) + " of size " +
           std::to_string(sizes[size_t(2 + d)]) + " does not come from a plane of " +
           (wanted > kMostPadded ? std::string("more than any tensor has")
                                 : std::to_string(int64_t(std::max<Wide>(wanted, INT64_MIN)))) +
           " by windows of " + sizes_text(w.kernel) + " with stride " + sizes_text(w.stride) +
           " and padding " + sizes_text(w.padding));
    }
    plane.push_back(int64_t(wanted));
  }
  return plane;
}

void define_unpool(int64_t n, const char* schema) {
  const std::string op_name = name_of(schema);
  op(schema)
      .doc(
          "Planes with x [n, channels, ..] at the indices that max_pool with indices gave, and "
          "zeros elsewhere. stride empty: kernel_size; output_size empty: the smallest that the "
          "pool takes.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([op_name, n](Tensor x, Tensor indices, Ints kernel_size, Ints stride, Ints padding,
                            Ints output_size) {
        const char* name = op_name.c_str();
        if (sizes_of(x) != sizes_of(indices)) {
          fail(op_name + ": x is " + sizes_text(x.sizes()) + ", indices are " +
               sizes_text(indices.sizes()) + "; expected the same sizes");
        }
        const Tensor index = as_index(name, "indices", indices);
        const Sizes sizes = batched_sizes(name, x, n);
        const Windows w = pool_options(name, n, kernel_size, stride, padding, 1);
        const Sizes plane = plane_of(name, sizes, w, output_size);
        const Sizes front{sizes[0], sizes[1]}, all = joined_sizes({front, plane});
        expect_countable(name, all, x.dtype());
        const Sizes line = joined_sizes({front, {product(last_sizes(x, n))}});
        const Tensor none =
            spread(joined_sizes({front, {product(plane)}}), 0, x.dtype(), x.device());
        const Tensor y =
            prim::scatter(none, 2, prim::reshape(index, line), prim::reshape(x, line), false);
        return prim::reshape(y, x.dim() == n + 2 ? all : joined_sizes({{sizes[1]}, plane}));
      });
}

}  // namespace

void unpool() {
  define_adaptive(
      1,
      "adaptive_max_pool1d_with_indices(Tensor x, int[] output_size) -> (Tensor values, "
      "Tensor indices)");
  define_adaptive(
      2,
      "adaptive_max_pool2d_with_indices(Tensor x, int[] output_size) -> (Tensor values, "
      "Tensor indices)");
  define_adaptive(
      3,
      "adaptive_max_pool3d_with_indices(Tensor x, int[] output_size) -> (Tensor values, "
      "Tensor indices)");
  define_unpool(1,
                "max_unpool1d(Tensor x, Tensor indices, int[] kernel_size, int[] stride=[], int[] "
                "padding=[0], int[] output_size=[]) -> Tensor");
  define_unpool(2,
                "max_unpool2d(Tensor x, Tensor indices, int[] kernel_size, int[] stride=[], int[] "
                "padding=[0], int[] output_size=[]) -> Tensor");
  define_unpool(3,
                "max_unpool3d(Tensor x, Tensor indices, int[] kernel_size, int[] stride=[], int[] "
                "padding=[0], int[] output_size=[]) -> Tensor");
}

}  // namespace tenon::ops_pack
