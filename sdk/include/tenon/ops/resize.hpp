// The group 'resize' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

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
// linear, bilinear or trilinear.
struct InterpolateOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts size = {};
  KeptFloats scale_factor = {};
  std::string mode = "nearest";
  bool align_corners = false;
};
inline Tensor interpolate(const Tensor& x, const InterpolateOptions& options = {}) { return detail::call<Tensor>(detail::op<"interpolate">, x, options.size, options.scale_factor, options.mode, options.align_corners); }
// x [.., channels * r * r, h, w] to [.., channels, h * r, w * r]. Shi et al., arXiv:1609.05158.
inline Tensor pixel_shuffle(const Tensor& x, Int upscale_factor) { return detail::call<Tensor>(detail::op<"pixel_shuffle">, x, upscale_factor); }
// x [.., channels, h * r, w * r] to [.., channels * r * r, h, w].
inline Tensor pixel_unshuffle(const Tensor& x, Int downscale_factor) { return detail::call<Tensor>(detail::op<"pixel_unshuffle">, x, downscale_factor); }

}  // namespace v0
}  // namespace tenon
