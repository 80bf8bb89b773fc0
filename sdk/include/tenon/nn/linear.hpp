// The group 'linear' of the plugin 'layers', written by `tenon header`: changes belong into the
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

// y = x W^T + b on x [.., in_features]: weight [out_features, in_features] and bias [out_features],
// both uniform in ±1/sqrt(in_features).
struct LinearOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool bias = true;
};
inline Object Linear(Int in_features, Int out_features, const LinearOptions& options = {}) { return Object::create("Linear", {in_features, out_features, options.bias}); }
template <detail::Placed<Bool> P>
Object Linear(Int in_features, Int out_features, const P& bias) { return Object::create("Linear", {in_features, out_features, Bool(bias)}); }
// Linear that takes in_features from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyLinearOptions = LinearOptions;
inline Object LazyLinear(Int out_features, const LazyLinearOptions& options = {}) { return Object::create("LazyLinear", {out_features, options.bias}); }
template <detail::Placed<Bool> P>
Object LazyLinear(Int out_features, const P& bias) { return Object::create("LazyLinear", {out_features, Bool(bias)}); }
// layer(x1, x2) = x1^T W x2 + b: weight [out_features, in1_features, in2_features], uniform in
// ±1/sqrt(in1_features), as the bias.
using BilinearOptions = LinearOptions;
inline Object Bilinear(Int in1_features, Int in2_features, Int out_features, const BilinearOptions& options = {}) { return Object::create("Bilinear", {in1_features, in2_features, out_features, options.bias}); }
template <detail::Placed<Bool> P>
Object Bilinear(Int in1_features, Int in2_features, Int out_features, const P& bias) { return Object::create("Bilinear", {in1_features, in2_features, out_features, Bool(bias)}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
