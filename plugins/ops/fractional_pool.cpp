// Maxima of windows whose places are drawn: Graham, arXiv:1412.6071.
#include <cmath>

#include "pool.h"

namespace tenon::ops_pack {
namespace {

// Where window i of n begins: the sample moves all but the last, which ends with the plane.
constinit ExpressionRef interval{
    "_interval(Tensor i, Tensor sample, float step, int last, int room) -> Tensor",
    "where(i == last, room, int((i + sample) * step) - int(sample * step))"};

Sizes plane_for(const char* op, const Sizes& sizes, int64_t n, const Sizes& kernel,
                Ints output_size, Floats output_ratio) {
  if (output_size.empty() == output_ratio.empty())
    fail(std::string(op) + ": either output_size or output_ratio is needed, and not both");
  if (!output_ratio.empty() && output_ratio.size() != 1 && int64_t(output_ratio.size()) != n) {
    fail(std::string(op) + ": " + std::to_string(output_ratio.size()) +
         " numbers in output_ratio, expected one or " + std::to_string(n));
  }
  Sizes out;
  if (!output_size.empty()) out = for_each_dim(op, "output_size", output_size, n, 1);
  for (int64_t d = 0; d < n; ++d) {
    const int64_t size = sizes[size_t(2 + d)];
    if (output_size.empty()) {
      const double ratio = output_ratio[output_ratio.size() == 1 ? 0 : size_t(d)];
      if (!(ratio > 0 && ratio < 1)) {
        fail(std::string(op) + ": output_ratio is " + number_text(ratio) +
             ", expected more than 0 and less than 1");
      }
      out.push_back(int64_t(double(size) * ratio));
    }
    if (out[size_t(d)] < 1 || Wide(out[size_t(d)]) + kernel[size_t(d)] - 1 > size) {
      fail(std::string(op) + ": " + std::to_string(out[size_t(d)]) + " windows of " +
           std::to_string(kernel[size_t(d)]) + " do not fit into dimension " +
           std::to_string(2 + d) + " of size " + std::to_string(size));
    }
  }
  return out;
}

// PyTorch's order: of a volume depth, height, width; of an image width, height.
Tensor sample_along(const Tensor& samples, int64_t d, int64_t n) {
  return select(samples, 2, n == 2 ? 1 - d : d);
}

// Indices in a plane of the elements of each window, [n, channels, out.., kernel..].
Tensor window_places(const Tensor& x, const Tensor& samples, const Sizes& out,
                     const Sizes& kernel) {
  const auto n = int64_t(out.size());
  Tensor index;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t count = out[size_t(d)], length = kernel[size_t(d)];
    const int64_t room = x.size(2 + d) - length;
    const double step = count > 1 ? double(room) / double(count - 1) : 0;
    const Tensor i = prim::iota(count, 0, 1, int64, x.device());
    const Tensor start = prim::elementwise(interval, i, unsqueeze(sample_along(samples, d, n), 2),
                                           step, count - 1, room);
    Sizes windows(size_t(2 * n), 1), within(size_t(2 * n), 1);
    windows[size_t(d)] = count;
    within[size_t(n + d)] = length;
    const Tensor k = prim::reshape(prim::iota(length, 0, 1, int64, x.device()), within);
    const Tensor at = add(prim::reshape(start, joined_sizes({{x.size(0), x.size(1)}, windows})), k);
    index = d == 0 ? at : prim::elementwise(next_place, index, at, x.size(2 + d));
  }
  return index;
}

std::tuple<Tensor, Tensor> pooled(const char* op, const Tensor& given, int64_t n, Ints kernel_size,
                                  Ints output_size, Floats output_ratio, Tensor samples) {
  expect_float(op, given);
  const Sizes kernel = for_each_dim(op, "kernel_size", kernel_size, n, 1);
  const Sizes sizes = batched_sizes(op, given, n);
  const Sizes out = plane_for(op, sizes, n, kernel, output_size, output_ratio);
  const Tensor x = prim::reshape(given, sizes);
  const Sizes front{sizes[0], sizes[1]}, drawn{sizes[0], sizes[1], n};
  if (!samples.defined())
    samples = rand(drawn, x.dtype() == float64 ? float64 : float32, x.device());
  if (sizes_of(samples) != drawn || !samples.dtype().is_float()) {
    fail(std::string(op) + ": random_samples is " + sizes_text(samples.sizes()) + " (" +
         samples.dtype().name() + "), expected floats " + sizes_text(drawn));
  }
  const int64_t places = product(out), each = product(kernel);
  const Tensor index = prim::reshape(window_places(x, samples.detach(), out, kernel),
                                     joined_sizes({front, {places * each}}));
  const Tensor flat = prim::reshape(x, joined_sizes({front, {product(last_sizes(x, n))}}));
  const Sizes windows = joined_sizes({front, {places, each}});
  const Tensor shown = prim::reshape(prim::gather(flat.detach(), 2, index), windows);
  const Tensor at = prim::reshape(place_of_max(shown, {3}), joined_sizes({front, {places, 1}}));
  const Tensor indices = prim::reshape(prim::gather(prim::reshape(index, windows), 3, at),
                                       joined_sizes({front, {places}}));
  Sizes result = joined_sizes({front, out});
  if (given.dim() == n + 1) result.erase(result.begin());
  return {prim::reshape(prim::gather(flat, 2, indices), result), prim::reshape(indices, result)};
}

void define(int64_t n, const char* schema, const char* with_indices) {
  const std::string op_name = name_of(schema);
  op(schema)
      .doc(
          "The maxima of overlapping windows of x [n, channels, ..], output_size of them or "
          "output_ratio of the size, at drawn places; random_samples [n, channels, dimensions] of "
          "0 "
          "to 1 fix these. Graham, arXiv:1412.6071.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([op_name, n](Tensor x, Ints kernel_size, Ints output_size, Floats output_ratio,
                            Tensor random_samples) {
        return std::get<0>(
            pooled(op_name.c_str(), x, n, kernel_size, output_size, output_ratio, random_samples));
      });
  const std::string indexed_name = name_of(with_indices);
  op(with_indices)
      .doc(
          "fractional_max_pool of the same dimensions, and for each window the int64 index of its "
          "maximum in the plane of x, counted row by row.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([indexed_name, n](Tensor x, Ints kernel_size, Ints output_size, Floats output_ratio,
                                 Tensor random_samples) {
        return pooled(indexed_name.c_str(), x, n, kernel_size, output_size, output_ratio,
                      random_samples);
      });
}

}  // namespace

void fractional_pool() {
  define(
      2,
      "fractional_max_pool2d(Tensor x, int[] kernel_size, int[] output_size=[], float[] "
      "output_ratio=[], Tensor? random_samples=None) -> Tensor",
      "fractional_max_pool2d_with_indices(Tensor x, int[] kernel_size, int[] output_size=[], "
      "float[] output_ratio=[], Tensor? random_samples=None) -> (Tensor values, Tensor indices)");
  define(
      3,
      "fractional_max_pool3d(Tensor x, int[] kernel_size, int[] output_size=[], float[] "
      "output_ratio=[], Tensor? random_samples=None) -> Tensor",
      "fractional_max_pool3d_with_indices(Tensor x, int[] kernel_size, int[] output_size=[], "
      "float[] output_ratio=[], Tensor? random_samples=None) -> (Tensor values, Tensor indices)");
}

}  // namespace tenon::ops_pack
