// Images sampled at places that a grid names: Jaderberg et al., arXiv:1506.02025. Places are -1 to
// 1 from one end of a dimension to the other. The gradient to the grid comes from the weights.
#include <algorithm>

#include "resize.h"

namespace tenon::ops_pack {
namespace {

// From -1 to 1 to places of elements: between the centers of the first and the last (corners), or
// between their outer edges.
constinit ExpressionRef place_in{"_place_in(Tensor x, float scale, float shift) -> Tensor",
                                 "(x + 1) * scale - shift"};
// What is no number goes to the first, as in PyTorch.
constinit ExpressionRef into_border{"_into_border(Tensor x, float last) -> Tensor",
                                    "where(x > 0, min(x, last), 0)"};
constinit ExpressionRef mirrored{
    "_mirrored(Tensor x, float low, float span, float last) -> Tensor",
    "let d = abs(x - low)\n"
    "let e = fmod(d, span)\n"
    "let y = where(floor(d / span) % 2 == 0, e + low, span - e + low)\n"
    "where(y > 0, min(y, last), 0)"};
// As int64, or -1 where it is outside.
constinit ExpressionRef inside{"_inside(Tensor x, int size) -> Tensor",
                               "where(x >= 0 and x < size, int(x), -1)"};
constinit ExpressionRef both{"_both(Tensor flat, Tensor i, int size) -> Tensor",
                             "where(flat >= 0 and i >= 0, flat * size + i, -1)"};
// Selects before it multiplies: a NaN that is not taken must not reach the gradient of the other factor.
// Where PyTorch multiplies what is outside, too: a place that is no number gives NaN.
constinit ExpressionRef weighted_all{"_weighted_all(Tensor x, Tensor weight, Tensor at) -> Tensor",
                                     "where(at < 0, 0, x) * weight"};
constinit ExpressionRef weighted{"_weighted(Tensor x, Tensor weight, Tensor at) -> Tensor",
                                 "where(at < 0, 0, x) * where(at < 0, 0, weight)"};
// y, which gives x a gradient of zero, as PyTorch does where the nearest element is taken.
constinit ExpressionRef unmoved{"_unmoved(Tensor y, Tensor x) -> Tensor", "y\ndx = 0 * g"};
constinit ExpressionRef shown{"_shown(Tensor x, Tensor at) -> Tensor", "where(at < 0, 0, x)"};

enum class Mode { bilinear, nearest, bicubic };
enum class Border { zeros, border, reflection };

struct Sampler {
  Mode mode;
  Border border;
  bool corners;

  // Where x lies among n elements, before the border is looked at.
  Tensor place(const Tensor& x, int64_t n) const {
    const double scale = (corners ? double(n) - 1 : double(n)) / 2;
    return prim::elementwise(place_in, x, scale, corners ? 0.0 : 0.5);
  }
  // The same within the border, unless what is outside is zero.
  Tensor bounded(const Tensor& x, int64_t n) const {
    const double last = double(n - 1);
    if (border == Border::zeros) return x;
    if (border == Border::border) return prim::elementwise(into_border, x, last);
    const double low = corners ? 0 : -0.5, span = corners ? last : double(n);
    if (span == 0) return prim::elementwise(into_border, x, 0.0);  // all go to the only one
    return prim::elementwise(mirrored, x, low, span, last);
  }
};

// One of the neighbours that a place takes along a dimension: its index, -1 where there is none,
// and its weight.
struct Tap {
  Tensor at, weight;
};

std::vector<Tap> taps_of(const Sampler& s, const Tensor& coordinate, int64_t n) {
  const Tensor raw = s.place(coordinate, n);
  std::vector<Tap> taps;
  if (s.mode == Mode::nearest) {
    taps.push_back({prim::elementwise(inside, round(s.bounded(raw, n)), n), Tensor()});
  } else if (s.mode == Mode::bilinear) {
    const Tensor x = s.bounded(raw, n), below = floor(x.detach()), part = sub(x, below);
    taps.push_back({prim::elementwise(inside, below, n), sub(1, part)});
    taps.push_back({prim::elementwise(inside, add(below, 1), n), part});
  } else {
    const Tensor below = floor(raw.detach());
    const std::array<Tensor, 4> weights = cubic_weights(sub(raw, below));
    for (int k = 0; k < 4; ++k) {
      const Tensor x = s.bounded(add(below, k - 1), n);
      taps.push_back({prim::elementwise(inside, x, n), weights[size_t(k)]});
    }
  }
  return taps;
}

// What x [n, channels, elements] has at the chosen taps of all dimensions, [n, channels, places].
Tensor at_taps(const Tensor& x, const std::vector<Tap>& taps, const Sizes& sizes, bool all) {
  Tensor at, weight;
  for (size_t d = 0; d < taps.size(); ++d) {
    at = d == 0 ? taps[d].at : prim::elementwise(both, at, taps[d].at, sizes[d]);
    if (!taps[d].weight.defined()) continue;
    weight = weight.defined() ? mul(weight, taps[d].weight) : taps[d].weight;
  }
  const int64_t n = x.size(0), places = at.numel() / std::max<int64_t>(n, 1);
  const Sizes line{n, 1, places};
  const Tensor index = prim::expand(prim::reshape(clamp_min(at, 0), line), {n, x.size(1), places});
  const Tensor chosen = prim::gather(x, 2, index), mask = prim::reshape(at, line);
  if (!weight.defined()) return prim::elementwise(shown, chosen, mask);
  return prim::elementwise(all ? weighted_all : weighted, chosen, prim::reshape(weight, line),
                           mask);
}

Sampler sampler_of(const std::string& mode, const std::string& padding_mode, bool align_corners) {
  Sampler s{Mode::bilinear, Border::zeros, align_corners};
  if (mode == "nearest") {
    s.mode = Mode::nearest;
  } else if (mode == "bicubic") {
    s.mode = Mode::bicubic;
  } else if (mode != "bilinear") {
    fail("grid_sample: mode is '" + mode + "', expected bilinear, nearest or bicubic");
  }
  if (padding_mode == "border") {
    s.border = Border::border;
  } else if (padding_mode == "reflection") {
    s.border = Border::reflection;
  } else if (padding_mode != "zeros") {
    fail("grid_sample: padding_mode is '" + padding_mode +
         "', expected zeros, border or reflection");
  }
  return s;
}

Tensor sampled(const Tensor& x, const Tensor& grid, const std::string& mode,
               const std::string& padding_mode, bool align_corners) {
  const int64_t n = x.dim() - 2;
  const bool fits = (n == 2 || n == 3) && grid.dim() == x.dim() && grid.size(0) == x.size(0) &&
                    grid.size(-1) == n && x.dtype().is_float() && x.dtype() == grid.dtype();
  if (!fits) {
    fail("grid_sample: x is " + sizes_text(x.sizes()) + " (" + x.dtype().name() + "), grid is " +
         sizes_text(grid.sizes()) + " (" + grid.dtype().name() +
         "); expected floats [n, channels, h, w] and [n, h_out, w_out, 2], or with a depth and 3");
  }
  const Sampler s = sampler_of(mode, padding_mode, align_corners);
  const Sizes sizes = last_sizes(x, n);
  if (product(sizes) == 0)
    fail("grid_sample: x is " + sizes_text(x.sizes()) + ", which has nothing to sample");
  const Sizes out(grid.sizes().begin() + 1, grid.sizes().end() - 1);
  std::vector<std::vector<Tap>> taps;
  for (int64_t d = 0; d < n; ++d)  // the grid names the last dimension first
    taps.push_back(taps_of(s, select(grid, -1, n - 1 - d), sizes[size_t(d)]));
  const Tensor flat = prim::reshape(x, {x.size(0), x.size(1), product(sizes)});
  const auto each = int64_t(taps[0].size());
  const int64_t count = n == 2 ? each * each : each * each * each;
  Tensor y;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Tap> chosen;
    int64_t rest = i;
    for (const std::vector<Tap>& along : taps) {
      chosen.push_back(along[size_t(rest % each)]);
      rest /= each;
    }
    const Tensor part = at_taps(flat, chosen, sizes, n == 2 || s.mode == Mode::bicubic);
    y = y.defined() ? add(y, part) : part;
  }
  y = prim::reshape(y, joined_sizes({{x.size(0), x.size(1)}, out}));
  if (s.mode != Mode::nearest || !grid.requires_grad()) return y;
  return prim::elementwise(unmoved, y, unsqueeze(select(grid, -1, 0), 1));
}

// -1 to 1 in n places: the ends themselves (corners), or the centers of n equal parts.
Tensor places_of(int64_t n, bool corners, Dtype dtype, Device device) {
  if (corners && n == 1) return prim::fill({1}, 0, dtype, device);
  const double step = 2.0 / double(corners ? n - 1 : n);
  return prim::iota(n, corners ? -1.0 : step / 2 - 1, step, dtype, device);
}

Tensor affine(const Tensor& theta, Ints size, bool align_corners) {
  const auto n = int64_t(size.size()) - 2;
  const bool fits = (n == 2 || n == 3) && theta.dim() == 3 && theta.size(0) == size[0] &&
                    theta.size(1) == n && theta.size(2) == n + 1 && theta.dtype().is_float();
  bool positive = true;
  for (const int64_t s : size) positive = positive && s > 0;
  if (!fits || !positive) {
    fail("affine_grid: theta is " + sizes_text(theta.sizes()) + " (" + theta.dtype().name() +
         "), size is " + sizes_text({size.data(), size.size()}) +
         "; expected floats [n, 2, 3] and [n, channels, h, w], or [n, 3, 4] and with a depth");
  }
  const Sizes out(size.begin() + 2, size.end());
  expect_countable("affine_grid", joined_sizes({{size[0]}, out, {n + 1}}), theta.dtype());
  std::vector<Tensor> columns;
  for (int64_t d = n; d-- > 0;) {
    const int64_t length = out[size_t(d)];
    Sizes line(size_t(n), 1);
    line[size_t(d)] = length;
    const Tensor along = places_of(length, align_corners, theta.dtype(), theta.device());
    columns.push_back(prim::expand(prim::reshape(along, line), out));
  }
  columns.push_back(prim::fill(out, 1, theta.dtype(), theta.device()));
  const Tensor base = prim::reshape(stack(columns, -1), {1, product(out), n + 1});
  const Tensor grid = matmul(base, transpose(theta, 1, 2));
  return prim::reshape(grid, joined_sizes({{size[0]}, out, {n}}));
}

}  // namespace

void grid_sample() {
  op("grid_sample(Tensor x, Tensor grid, str mode=\"bilinear\", str padding_mode=\"zeros\", bool "
     "align_corners=False) -> Tensor")
      .doc(
          "x [n, channels, h, w] at the places grid [n, h_out, w_out, 2], which are (x, y) from -1 "
          "to 1, or with a depth and 3. mode: bilinear, nearest or bicubic; padding_mode: zeros, "
          "border or reflection. Jaderberg et al., arXiv:1506.02025.")
      .amp(Amp::float32)
      .meaning(
          [](Tensor x, Tensor grid, std::string mode, std::string padding_mode,
             bool align_corners) { return sampled(x, grid, mode, padding_mode, align_corners); });
  op("affine_grid(Tensor theta, int[] size, bool align_corners=False) -> Tensor")
      .doc(
          "The places that grid_sample takes for an image of size [n, channels, h, w] under the "
          "affine maps theta [n, 2, 3]; with a depth [n, 3, 4].")
      .amp(Amp::float32)
      .meaning([](Tensor theta, Ints size, bool align_corners) {
        return affine(theta, size, align_corners);
      });
}

}  // namespace tenon::ops_pack
