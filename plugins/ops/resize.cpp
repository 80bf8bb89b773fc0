// Other sizes of images: interpolation along each dimension in turn, and pixels from channels.
#include <algorithm>
#include <cmath>
#include <vector>

#include "resize.h"

namespace tenon::ops_pack {
namespace {

// In the float dtype of i, as PyTorch does: the places are those that its rounding gives.
constinit ExpressionRef nearest_index{
    "_nearest_index(Tensor i, float scale, float shift, int last) -> Tensor",
    "clamp(int(floor((i + shift) * scale)), 0, last)"};
constinit ExpressionRef source{"_source(Tensor i, float scale, float shift) -> Tensor",
                               "max(scale * (i + shift) - shift, 0)"};
constinit ExpressionRef index_below{"_index_below(Tensor at, int last) -> Tensor",
                                    "min(int(floor(at)), last)"};
constinit ExpressionRef index_above{"_index_above(Tensor at, int last) -> Tensor",
                                    "min(int(floor(at)) + 1, last)"};
constinit ExpressionRef part_above{"_part_above(Tensor at, Tensor below) -> Tensor",
                                   "clamp(at - below, 0, 1)"};
constinit ExpressionRef mixed{"_mixed(Tensor x, Tensor y, Tensor part) -> Tensor",
                              "x * (1 - part) + y * part"};

// Keys' polynomials at the distance near + slope * part: of at most 1, and of 1 to 2.
constinit ExpressionRef cubic_near{"_cubic_near(Tensor part, float near, float slope) -> Tensor",
                                   "let t = near + slope * part\n"
                                   "(1.25 * t - 2.25) * t * t + 1"};
constinit ExpressionRef cubic_far{"_cubic_far(Tensor part, float near, float slope) -> Tensor",
                                  "let t = near + slope * part\n"
                                  "((-0.75 * t + 3.75) * t - 6) * t + 3"};
constinit ExpressionRef sum_of_four{
    "_sum_of_four(Tensor a, Tensor b, Tensor c, Tensor d, Tensor p, Tensor q, Tensor r, Tensor s) "
    "-> Tensor",
    "a * p + b * q + c * r + d * s"};

// x at index [n] along d.
Tensor pick(const Tensor& x, int64_t d, const Tensor& index) {
  Sizes sizes(size_t(x.dim()), 1), full(x.sizes().begin(), x.sizes().end());
  sizes[size_t(d)] = full[size_t(d)] = index.size(0);
  return prim::gather(x, d, prim::expand(prim::reshape(index, sizes), full));
}

Tensor linear_along(const Tensor& x, int64_t d, int64_t out, double scale, bool align_corners) {
  int64_t last = x.size(d) - 1;
  Dtype dtype = x.dtype() == float64 ? float64 : float32;
  Tensor at = prim::elementwise(source, prim::iota(out, 0, 1, dtype, x.device()), scale,
                                align_corners ? 0.0 : 0.5);
  Tensor below = prim::elementwise(index_below, at, last);
  Sizes sizes(size_t(x.dim() - d), 1);
  sizes[0] = out;
  Tensor part = prim::reshape(prim::elementwise(part_above, at, below), sizes);
  Tensor y = prim::elementwise(mixed, pick(x, d, below),
                               pick(x, d, prim::elementwise(index_above, at, last)), part);
  return y.dtype() == x.dtype() ? y : prim::copy(y, x.dtype());
}

// Beyond the ends are the ends.
Tensor cubic_along(const Tensor& x, int64_t d, int64_t out, double scale, bool align_corners) {
  const int64_t last = x.size(d) - 1;
  const double shift = align_corners ? 0.0 : 0.5;
  const Dtype dtype = x.dtype() == float64 ? float64 : float32;
  const Tensor i = prim::iota(out, 0, 1, dtype, x.device());
  const Tensor at = sub(mul(add(i, shift), scale), shift), below = floor(at);
  Sizes sizes(size_t(x.dim() - d), 1);
  sizes[0] = out;
  const Tensor index = prim::copy(below, int64);
  const std::array<Tensor, 4> weights = cubic_weights(prim::reshape(sub(at, below), sizes));
  std::array<Tensor, 4> near;
  for (int k = 0; k < 4; ++k) near[size_t(k)] = pick(x, d, clamp(add(index, k - 1), 0, last));
  const Tensor y = prim::elementwise(sum_of_four, near[0], near[1], near[2], near[3], weights[0],
                                     weights[1], weights[2], weights[3]);
  return y.dtype() == x.dtype() ? y : prim::copy(y, x.dtype());
}

// With antialias an element is the mean of those below it, weighted by a filter at their distances,
// which is as wide as the step where that is more than an element: Pillow's resampling. `first` has the
// first element below each new one, `shares` [new ones, taps] the weights from there on, 0 behind the
// last. An element of weight 0 adds nothing, whatever it is.
struct Resampling {
  Tensor first, shares;
};
constinit ExpressionRef filter_at{
    "_filter_at(Tensor i, Tensor j, float scale, float width) -> Tensor",
    "(j + 0.5 - scale * (i + 0.5)) / width"};
constinit ExpressionRef is_below{
    "_is_below(Tensor i, Tensor j, float scale, float reach, int m, int n) -> Tensor",
    "let center = scale * (i + 0.5)\n"
    "i < m and j < n and j >= trunc(center - reach + 0.5) and j < trunc(center + reach + 0.5)"};
constinit ExpressionRef first_below{"_first_below(Tensor i, float scale, float reach) -> Tensor",
                                    "max(trunc(scale * (i + 0.5) - reach + 0.5), 0)"};
constinit ExpressionRef first_above{"_first_above(Tensor j, float scale, float reach) -> Tensor",
                                    "max(floor((j - 0.5 - reach) / scale - 0.5), 0)"};
constinit ExpressionRef triangle{"_triangle(Tensor at, Tensor below) -> Tensor",
                                 "where(below, max(1 - abs(at), 0), 0)"};
// Keys' polynomials with the slope -0.5, as Pillow has it.
constinit ExpressionRef cubic{"_cubic(Tensor at, Tensor below) -> Tensor",
                              "let t = abs(at)\n"
                              "where(below, where(t < 1, (1.5 * t - 2.5) * t * t + 1, where(t < 2, "
                              "((-0.5 * t + 2.5) * t - 4) * t + 2, 0)), 0)"};
constinit ExpressionRef share_of{"_share_of(Tensor weight, Tensor sum) -> Tensor", "weight / sum"};
constexpr int64_t kTaps = 4;  // that one pass takes
constinit ExpressionRef taps{
    "_taps(Tensor y, Tensor a, Tensor b, Tensor c, Tensor d, Tensor p, Tensor q, Tensor r, Tensor "
    "s) "
    "-> Tensor",
    "y + where(p == 0, 0, a * p) + where(q == 0, 0, b * q) + where(r == 0, 0, c * r) + where(s == "
    "0, "
    "0, d * s)"};

Tensor resampled(const Tensor& x, const Resampling& by, int64_t dim) {
  const int64_t d = wrap_dim("_resample", dim, x.dim());
  const bool fits = x.dim() > 0 && x.size(d) > 0 && by.first.dim() == 1 &&
                    by.first.dtype() == int64 && by.shares.dim() == 2 &&
                    by.shares.size(0) == by.first.size(0) && by.shares.size(1) % kTaps == 0 &&
                    by.shares.dtype() == x.dtype() && x.dtype().is_float();
  if (!fits) {
    fail("_resample: x is " + sizes_text(x.sizes()) + ", first " + sizes_text(by.first.sizes()) +
         " and shares " + sizes_text(by.shares.sizes()) +
         ", expected floats, int64 [m] and floats [m, 4 k] of x's dtype");
  }
  const int64_t last = x.size(d) - 1;
  Sizes line(size_t(x.dim() - d), 1);
  line[0] = by.first.size(0);
  const auto tap = [&](int64_t k) { return pick(x, d, clamp(add(by.first, k), 0, last)); };
  const auto share = [&](int64_t k) {
    return prim::reshape(prim::slice(by.shares, 1, k, k + 1), line);
  };
  Tensor y = prim::fill({}, 0, x.dtype(), x.device());
  for (int64_t k = 0; k < by.shares.size(1); k += kTaps) {
    y = prim::elementwise(taps, y, tap(k), tap(k + 1), tap(k + 2), tap(k + 3), share(k),
                          share(k + 1), share(k + 2), share(k + 3));
  }
  return y;
}
Tensor resample(const Tensor& x, const Resampling& by, const Resampling& back, int64_t d) {
  return call("ops._resample", x, by.first, by.shares, back.first, back.shares, d);
}

Tensor antialiased_along(const Tensor& given, int64_t d, int64_t m, double scale, bool is_cubic) {
  const double width = std::max(scale, 1.0), reach = (is_cubic ? 2 : 1) * width;
  const Dtype dtype = given.dtype() == float64 ? float64 : float32;
  const Tensor x = as_dtype(given, dtype);
  const int64_t n = x.size(d);
  const auto column = [&](int64_t count) {
    return prim::reshape(prim::iota(count, 0, 1, dtype, x.device()), {count, 1});
  };
  // A row of so many numbers beside each of `first`, in whole groups of taps.
  const auto onward = [&](const Tensor& first, double count) {
    const int64_t groups = int64_t(count) / kTaps + 1;
    return add(first, prim::iota(groups * kTaps, 0, 1, dtype, x.device()));
  };
  const auto weights = [&](const Tensor& i, const Tensor& j) {
    return prim::elementwise(is_cubic ? cubic : triangle,
                             prim::elementwise(filter_at, i, j, scale, width),
                             prim::elementwise(is_below, i, j, scale, reach, m, n));
  };
  const auto numbers = [](const Tensor& first) {
    return prim::copy(prim::reshape(first, {first.size(0)}), int64);
  };
  const Tensor i = column(m), below = prim::elementwise(first_below, i, scale, reach);
  const Tensor of_new = weights(i, onward(below, std::min(2 * reach + 1, double(n))));
  const Tensor sums = prim::reshape(prim::reduce(TN_REDUCE_SUM, of_new, 1), {m, 1});
  // The same weights as elements of x see them, for the gradient.
  const Tensor j = column(n), above = prim::elementwise(first_above, j, scale, reach);
  const Tensor next = onward(above, std::min(2 * (reach + 1) / scale + 2, double(m)));
  const Tensor theirs =
      prim::reshape(pick(prim::reshape(sums, {m}), 0,
                         clamp(prim::copy(prim::reshape(next, {next.numel()}), int64), 0, m - 1)),
                    next.sizes());
  const Resampling by = {numbers(below), prim::elementwise(share_of, of_new, sums)};
  const Resampling back = {numbers(above), prim::elementwise(share_of, weights(next, j), theirs)};
  return as_dtype(resample(x, by, back, d), given.dtype());
}

// The means of windows that cover x, as many as are wanted.
Tensor area_of(const Tensor& x, const Sizes& out) {
  const char* ops[] = {"ops.adaptive_avg_pool1d", "ops.adaptive_avg_pool2d",
                       "ops.adaptive_avg_pool3d"};
  return call(ops[out.size() - 1], x, Ints(out));
}

Tensor interpolated(const Tensor& x, Ints size, Floats scale_factor, const std::string& mode,
                    bool align_corners, bool recompute_scale_factor, bool antialias) {
  bool nearest = mode == "nearest" || mode == "nearest-exact";
  int64_t n = x.dim() - 2;
  const char* linear = n == 1 ? "linear" : n == 2 ? "bilinear" : "trilinear";
  const bool area = mode == "area", cubic = mode == "bicubic" && n == 2;
  if (n < 1 || n > 3 || (!nearest && !area && !cubic && mode != linear)) {
    fail(
        "interpolate: mode is '" + mode + "' and x " + sizes_text(x.sizes()) +
        "; expected nearest, nearest-exact or area, linear of 3 dimensions, bilinear or bicubic of "
        "4, trilinear of 5");
  }
  if (!x.dtype().is_float() && !nearest)
    fail("interpolate: x is " + std::string(x.dtype().name()) + ", expected a floating dtype");
  if ((nearest || area) && align_corners) {
    fail("interpolate: align_corners is for linear, bilinear, bicubic and trilinear; mode is '" +
         mode + "'");
  }
  if (antialias && mode != "bilinear" && !cubic)
    fail("interpolate: antialias is for bilinear and bicubic of 4 dimensions; mode is '" + mode +
         "'");
  if (size.empty() == scale_factor.empty())
    fail("interpolate: either size or scale_factor is needed, and not both");
  if (recompute_scale_factor && scale_factor.empty())
    fail("interpolate: recompute_scale_factor is for scale_factor, and size is given");
  Sizes out;
  if (!size.empty()) out = for_each_dim("interpolate", "size", size, n, 1);
  if (size.empty() && scale_factor.size() != 1 && int64_t(scale_factor.size()) != n) {
    fail("interpolate: " + std::to_string(scale_factor.size()) +
         " numbers in scale_factor, expected one or " + std::to_string(n));
  }
  Sizes areas;
  struct Step {
    int64_t d, in, to;
    double scale;
  };
  std::vector<Step> steps;
  for (int64_t d = 0; d < n; ++d) {
    int64_t in = x.size(2 + d), to;
    double scale;
    if (size.empty()) {
      double factor = scale_factor[scale_factor.size() == 1 ? 0 : size_t(d)];
      if (!(factor > 0 && factor < 1e9))
        fail("interpolate: scale_factor is " + number_text(factor) + ", expected more than 0");
      const double length = std::floor(double(in) * factor);
      if (!(length < 0x1p62))
        fail("interpolate: a dimension of " + std::to_string(in) + " times " + number_text(factor) +
             " is more than 62 bits hold");
      to = int64_t(length);
      scale = recompute_scale_factor && to > 0 ? double(in) / double(to) : 1 / factor;
    } else {
      to = out[size_t(d)];
      scale = double(in) / double(to);
    }
    if (in < 1 || to < 1) {
      fail("interpolate: dimension " + std::to_string(2 + d) + " would go from " +
           std::to_string(in) + " to " + std::to_string(to) + ", expected at least 1 each");
    }
    // PyTorch's rule for images: a size that stays, or doubles, takes each element as it is, or twice,
    // whatever the factor.
    if (mode == "nearest" && n == 2 && (to == in || to == 2 * in)) scale = double(in) / double(to);
    if (align_corners) scale = to > 1 ? double(in - 1) / double(to - 1) : 0;
    if (area) areas.push_back(to);
    steps.push_back({2 + d, in, to, scale});
  }
  if (area) return area_of(x, areas);
  // What makes x least comes first, since later steps then have less to do; of two that are equal
  // that along the last dimension, whose elements are picked one by one.
  std::ranges::reverse(steps);
  std::ranges::stable_sort(steps, {},
                           [](const Step& step) { return double(step.to) / double(step.in); });
  Tensor y = x;
  for (const auto& [d, in, to, scale] : steps) {
    // With linear weights, and with antialias, a size that stays is left as it is, whatever the factor.
    if (antialias) {
      if (in != to) y = antialiased_along(y, d, to, scale, cubic);
    } else if (cubic) {
      y = cubic_along(y, d, to, scale, align_corners);
    } else if (!nearest) {
      if (in != to) y = linear_along(y, d, to, scale, align_corners);
    } else {
      y = pick(y, d,
               prim::elementwise(nearest_index, prim::iota(to, 0, 1, float32, x.device()), scale,
                                 mode == "nearest" ? 0.0 : 0.5, in - 1));
    }
  }
  return y.is_same(x) ? prim::copy(x) : y;
}

// [.., channels r r, h, w] and [.., channels, h r, w r].
Tensor shuffled(const char* op, const Tensor& x, int64_t r, bool up) {
  if (r < 1) {
    fail(std::string(op) + ": " + (up ? "upscale_factor" : "downscale_factor") + " is " +
         std::to_string(r) + ", expected at least 1");
  }
  bool fits = x.dim() >= 3 && r <= INT32_MAX;  // so that its square has 64 bits
  if (fits && up) fits = x.size(-3) % (r * r) == 0;
  if (fits && !up) fits = x.size(-2) % r == 0 && x.size(-1) % r == 0;
  if (!fits) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + " and the factor " +
         std::to_string(r) + "; expected [.., channels, h, w] with " +
         (up ? "channels divisible by the factor's square" : "h and w divisible by the factor"));
  }
  int64_t lead = x.dim() - 3, c = x.size(-3), h = x.size(-2), w = x.size(-1);
  Sizes front = first_sizes(x, lead), order = counting(0, lead), split, swapped, joined;
  if (up) {
    split = {c / (r * r), r, r, h, w};
    swapped = {lead, lead + 3, lead + 1, lead + 4, lead + 2};
    joined = {c / (r * r), checked_mul(op, h, r), checked_mul(op, w, r)};
  } else {
    split = {c, h / r, r, w / r, r};
    swapped = {lead, lead + 2, lead + 4, lead + 1, lead + 3};
    joined = {checked_mul(op, c, r * r), h / r, w / r};
  }
  Tensor y = prim::reshape(x, joined_sizes({front, split}));
  y = prim::reshape(prim::permute(y, joined_sizes({order, swapped})),
                    joined_sizes({front, joined}));
  return y.same_storage(x) ? prim::copy(y) : y;  // a factor of 1 moves no element
}

}  // namespace

std::array<Tensor, 4> cubic_weights(const Tensor& part) {
  return {prim::elementwise(cubic_far, part, 1.0, 1.0),
          prim::elementwise(cubic_near, part, 0.0, 1.0),
          prim::elementwise(cubic_near, part, 1.0, -1.0),
          prim::elementwise(cubic_far, part, 2.0, -1.0)};
}

void resize() {
  op("_resample(Tensor x, Tensor first, Tensor shares, Tensor back_first, Tensor back_shares, int "
     "dim) -> Tensor")
      .meaning([](Tensor x, Tensor first, Tensor shares, Tensor, Tensor, int64_t dim) {
        return resampled(x, {first, shares}, dim);
      })
      .vjp(
          [](const Vjp& g, Tensor, Tensor first, Tensor shares, Tensor back_first,
             Tensor back_shares, int64_t dim) -> std::vector<Tensor> {
            return {resample(g.grad(), {back_first, back_shares}, {first, shares}, dim), Tensor(),
                    Tensor(), Tensor(), Tensor()};
          },
          Reads::args);
  op("interpolate(Tensor x, int[] size=[], float[] scale_factor=[], str mode=\"nearest\", bool "
     "align_corners=False, bool recompute_scale_factor=False, bool antialias=False) -> Tensor")
      .doc(
          "x [n, channels, ..] at another size, or scaled by scale_factor. mode: nearest, "
          "nearest-exact, linear, bilinear, bicubic, trilinear, or area, the means of "
          "adaptive_avg_pool. antialias: bilinear and bicubic take all elements below a new one, "
          "as Pillow does. recompute_scale_factor: places are those of the size that scale_factor "
          "gives, which is a whole number.")
      .amp(Amp::widest)
      .meaning([](Tensor x, Ints size, Floats scale_factor, std::string mode, bool align_corners,
                  bool recompute_scale_factor, bool antialias) {
        return interpolated(x, size, scale_factor, mode, align_corners, recompute_scale_factor,
                            antialias);
      });
  op("pixel_shuffle(Tensor x, int upscale_factor) -> Tensor")
      .doc(
          "x [.., channels * r * r, h, w] to [.., channels, h * r, w * r]. Shi et al., "
          "arXiv:1609.05158.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, int64_t upscale_factor) {
        return shuffled("pixel_shuffle", x, upscale_factor, true);
      });
  op("pixel_unshuffle(Tensor x, int downscale_factor) -> Tensor")
      .doc("x [.., channels, h * r, w * r] to [.., channels * r * r, h, w].")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, int64_t downscale_factor) {
        return shuffled("pixel_unshuffle", x, downscale_factor, false);
      });
}

}  // namespace tenon::ops_pack
