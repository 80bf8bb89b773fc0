// The group 'resize' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// x [n, channels, ..] at another size, or scaled by scale_factor. mode: nearest, nearest-exact,
// linear, bilinear, bicubic, trilinear, or area, the means of adaptive_avg_pool. antialias:
// bilinear and bicubic take all elements below a new one, as Pillow does. recompute_scale_factor:
// places are those of the size that scale_factor gives, which is a whole number.
struct InterpolateOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts size = {};
  KeptFloats scale_factor = {};
  std::string mode = "nearest";
  bool align_corners = false;
  bool recompute_scale_factor = false;
  bool antialias = false;
};
inline Tensor interpolate(const Tensor& x, const InterpolateOptions& options = {}) { return detail::call<Tensor>(detail::op<"interpolate">, {x, options.size, options.scale_factor, options.mode, options.align_corners, options.recompute_scale_factor, options.antialias}); }
template <detail::Placed<Ints> P>
Tensor interpolate(const Tensor& x, const P& size, Floats scale_factor = {}, TextRef mode = "nearest", Bool align_corners = false, Bool recompute_scale_factor = false, Bool antialias = false) { return detail::call<Tensor>(detail::op<"interpolate">, {x, Ints(size), scale_factor, mode, align_corners, recompute_scale_factor, antialias}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, InterpolateOptions> P2 = InterpolateOptions, detail::PlacedOr<std::string, InterpolateOptions> P3 = InterpolateOptions, detail::PlacedOr<Bool, InterpolateOptions> P4 = InterpolateOptions, detail::PlacedOr<Bool, InterpolateOptions> P5 = InterpolateOptions, detail::PlacedOr<Bool, InterpolateOptions> P6 = InterpolateOptions>
Tensor interpolate(const Tensor& x, const P1& size, const P2& scale_factor, const P3& mode = detail::unset<P3>(), const P4& align_corners = detail::unset<P4>(), const P5& recompute_scale_factor = detail::unset<P5>(), const P6& antialias = detail::unset<P6>()) { return interpolate(x, detail::behind<InterpolateOptions, 7, 1>("interpolate", size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)); }
// x [.., channels * r * r, h, w] to [.., channels, h * r, w * r]. Shi et al., arXiv:1609.05158.
inline Tensor pixel_shuffle(const Tensor& x, Int upscale_factor) { return detail::call<Tensor>(detail::op<"pixel_shuffle">, {x, upscale_factor}); }
// x [.., channels, h * r, w * r] to [.., channels * r * r, h, w].
inline Tensor pixel_unshuffle(const Tensor& x, Int downscale_factor) { return detail::call<Tensor>(detail::op<"pixel_unshuffle">, {x, downscale_factor}); }
// x [n, channels, h, w] at the places grid [n, h_out, w_out, 2], which are (x, y) from -1 to 1, or
// with a depth and 3. mode: bilinear, nearest or bicubic; padding_mode: zeros, border or
// reflection. Jaderberg et al., arXiv:1506.02025.
struct GridSampleOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string mode = "bilinear";
  std::string padding_mode = "zeros";
  bool align_corners = false;
};
inline Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {}) { return detail::call<Tensor>(detail::op<"grid_sample">, {x, grid, options.mode, options.padding_mode, options.align_corners}); }
template <detail::Placed<TextRef> P>
Tensor grid_sample(const Tensor& x, const Tensor& grid, const P& mode, TextRef padding_mode = "zeros", Bool align_corners = false) { return detail::call<Tensor>(detail::op<"grid_sample">, {x, grid, TextRef(mode), padding_mode, align_corners}); }
template <detail::Placed<std::string> P1, detail::PlacedOr<std::string, GridSampleOptions> P2 = GridSampleOptions, detail::PlacedOr<Bool, GridSampleOptions> P3 = GridSampleOptions>
Tensor grid_sample(const Tensor& x, const Tensor& grid, const P1& mode, const P2& padding_mode, const P3& align_corners = detail::unset<P3>()) { return grid_sample(x, grid, detail::behind<GridSampleOptions, 4, 1>("grid_sample", mode, padding_mode, align_corners)); }
// The places that grid_sample takes for an image of size [n, channels, h, w] under the affine maps
// theta [n, 2, 3]; with a depth [n, 3, 4].
inline Tensor affine_grid(const Tensor& theta, Ints size, Bool align_corners = false) { return detail::call<Tensor>(detail::op<"affine_grid">, {theta, size, align_corners}); }
struct AffineGridOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool align_corners = false;
};
template <std::same_as<AffineGridOptions> O = AffineGridOptions>
inline Tensor affine_grid(const Tensor& theta, Ints size, const O& options) { return detail::call<Tensor>(detail::op<"affine_grid">, {theta, size, options.align_corners}); }

}  // namespace v0
}  // namespace tenon
