// The group 'resize' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/object.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// x [n, channels, ..] at another size, or scaled by scale_factor. mode: nearest, nearest-exact,
// linear, bilinear, bicubic, trilinear or area.
struct UpsampleOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts size = {};
  KeptFloats scale_factor = {};
  std::string mode = "nearest";
  bool align_corners = false;
  bool recompute_scale_factor = false;
};
inline Object Upsample(const UpsampleOptions& options = {}) { return Object::create("Upsample", {options.size, options.scale_factor, options.mode, options.align_corners, options.recompute_scale_factor}); }
template <detail::Placed<Ints> P>
Object Upsample(const P& size, Floats scale_factor = {}, TextRef mode = "nearest", Bool align_corners = false, Bool recompute_scale_factor = false) { return Object::create("Upsample", {Ints(size), scale_factor, mode, align_corners, recompute_scale_factor}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, UpsampleOptions> P2 = UpsampleOptions, detail::PlacedOr<std::string, UpsampleOptions> P3 = UpsampleOptions, detail::PlacedOr<Bool, UpsampleOptions> P4 = UpsampleOptions, detail::PlacedOr<Bool, UpsampleOptions> P5 = UpsampleOptions>
Object Upsample(const P1& size, const P2& scale_factor, const P3& mode = detail::unset<P3>(), const P4& align_corners = detail::unset<P4>(), const P5& recompute_scale_factor = detail::unset<P5>()) { return Upsample(detail::behind<UpsampleOptions, 6, 1>("Upsample", size, scale_factor, mode, align_corners, recompute_scale_factor)); }
// x [.., channels * r * r, h, w] to [.., channels, h * r, w * r]. Shi et al., arXiv:1609.05158.
inline Object PixelShuffle(Int upscale_factor) { return Object::create("PixelShuffle", {upscale_factor}); }
// x [.., channels, h * r, w * r] to [.., channels * r * r, h, w].
inline Object PixelUnshuffle(Int downscale_factor) { return Object::create("PixelUnshuffle", {downscale_factor}); }
// x [n, channels, h, w] to columns [n, channels * kernel, places].
struct UnfoldOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dilation = 1;
  KeptInts padding = 0;
  KeptInts stride = 1;
};
inline Object Unfold(Ints kernel_size, const UnfoldOptions& options = {}) { return Object::create("Unfold", {kernel_size, options.dilation, options.padding, options.stride}); }
template <detail::Placed<Ints> P>
Object Unfold(Ints kernel_size, const P& dilation, Ints padding = 0, Ints stride = 1) { return Object::create("Unfold", {kernel_size, Ints(dilation), padding, stride}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, UnfoldOptions> P2 = UnfoldOptions, detail::PlacedOr<KeptInts, UnfoldOptions> P3 = UnfoldOptions>
Object Unfold(Ints kernel_size, const P1& dilation, const P2& padding, const P3& stride = detail::unset<P3>()) { return Unfold(kernel_size, detail::behind<UnfoldOptions, 4, 1>("Unfold", dilation, padding, stride)); }
// Columns [n, channels * kernel, places] summed at their places: [n, channels, h, w].
using FoldOptions = UnfoldOptions;
inline Object Fold(Ints output_size, Ints kernel_size, const FoldOptions& options = {}) { return Object::create("Fold", {output_size, kernel_size, options.dilation, options.padding, options.stride}); }
template <detail::Placed<Ints> P>
Object Fold(Ints output_size, Ints kernel_size, const P& dilation, Ints padding = 0, Ints stride = 1) { return Object::create("Fold", {output_size, kernel_size, Ints(dilation), padding, stride}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, FoldOptions> P2 = FoldOptions, detail::PlacedOr<KeptInts, FoldOptions> P3 = FoldOptions>
Object Fold(Ints output_size, Ints kernel_size, const P1& dilation, const P2& padding, const P3& stride = detail::unset<P3>()) { return Fold(output_size, kernel_size, detail::behind<FoldOptions, 4, 1>("Fold", dilation, padding, stride)); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
