// The group 'dropout' of the plugin 'layers', written by `tenon header`: changes belong into the
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

// In training zero with probability p, the others times 1 / (1 - p); else the identity. Srivastava
// et al., 2014.
struct DropoutOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 0.5;
};
inline Object Dropout(const DropoutOptions& options = {}) { return Object::create("Dropout", {options.p}); }
template <detail::Placed<Float> P>
Object Dropout(const P& p) { return Object::create("Dropout", {Float(p)}); }
// In training zeroes whole channels of x with probability p; the others times 1 / (1 - p):
// dropout1d(x, p). Tompson et al., arXiv:1411.4280.
using Dropout1dOptions = DropoutOptions;
inline Object Dropout1d(const Dropout1dOptions& options = {}) { return Object::create("Dropout1d", {options.p}); }
template <detail::Placed<Float> P>
Object Dropout1d(const P& p) { return Object::create("Dropout1d", {Float(p)}); }
// In training zeroes whole channels of x with probability p; the others times 1 / (1 - p):
// dropout2d(x, p). Tompson et al., arXiv:1411.4280.
using Dropout2dOptions = DropoutOptions;
inline Object Dropout2d(const Dropout2dOptions& options = {}) { return Object::create("Dropout2d", {options.p}); }
template <detail::Placed<Float> P>
Object Dropout2d(const P& p) { return Object::create("Dropout2d", {Float(p)}); }
// In training zeroes whole channels of x with probability p; the others times 1 / (1 - p):
// dropout3d(x, p). Tompson et al., arXiv:1411.4280.
using Dropout3dOptions = DropoutOptions;
inline Object Dropout3d(const Dropout3dOptions& options = {}) { return Object::create("Dropout3d", {options.p}); }
template <detail::Placed<Float> P>
Object Dropout3d(const P& p) { return Object::create("Dropout3d", {Float(p)}); }
// In training selu's lower limit with probability p, and all scaled and shifted so that mean 0 and
// variance 1 stay; else the identity. Klambauer et al., arXiv:1706.02515.
using AlphaDropoutOptions = DropoutOptions;
inline Object AlphaDropout(const AlphaDropoutOptions& options = {}) { return Object::create("AlphaDropout", {options.p}); }
template <detail::Placed<Float> P>
Object AlphaDropout(const P& p) { return Object::create("AlphaDropout", {Float(p)}); }
// AlphaDropout of whole channels of x [n, channels, ..].
using FeatureAlphaDropoutOptions = DropoutOptions;
inline Object FeatureAlphaDropout(const FeatureAlphaDropoutOptions& options = {}) { return Object::create("FeatureAlphaDropout", {options.p}); }
template <detail::Placed<Float> P>
Object FeatureAlphaDropout(const P& p) { return Object::create("FeatureAlphaDropout", {Float(p)}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
