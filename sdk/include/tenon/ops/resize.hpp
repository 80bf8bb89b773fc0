// Images of other sizes. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// x [n, channels, ..]; size or scale_factor. mode: nearest, nearest-exact, linear, bilinear,
// trilinear.
inline Tensor interpolate(const Tensor& x, Ints size = {}, Floats scale_factor = {}, const char* mode = "nearest", bool align_corners = false) { return detail::call<Tensor>(detail::op<"interpolate">, x, size, scale_factor, mode, align_corners); }
// [.., channels * r², h, w] to [.., channels, h * r, w * r], and back.
inline Tensor pixel_shuffle(const Tensor& x, int64_t upscale_factor) { return detail::call<Tensor>(detail::op<"pixel_shuffle">, x, upscale_factor); }
inline Tensor pixel_unshuffle(const Tensor& x, int64_t downscale_factor) { return detail::call<Tensor>(detail::op<"pixel_unshuffle">, x, downscale_factor); }

}  // namespace v0
}  // namespace tenon
