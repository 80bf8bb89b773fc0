// The group 'activation' of the plugin 'layers', written by `tenon header`: changes belong into the
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

// x itself.
inline Object Identity() { return Object::create("Identity", {}); }
// max(x, 0).
inline Object ReLU() { return Object::create("ReLU", {}); }
// min(max(x, 0), 6). Howard et al., arXiv:1704.04861.
inline Object ReLU6() { return Object::create("ReLU6", {}); }
// scale * elu(x, alpha), whose constants keep mean 0 and variance 1. Klambauer et al.,
// arXiv:1706.02515.
inline Object SELU() { return Object::create("SELU", {}); }
// x * sigmoid(x). Elfwing et al., arXiv:1702.03118.
inline Object SiLU() { return Object::create("SiLU", {}); }
// x * tanh(log(1 + exp(x))). Misra, arXiv:1908.08681.
inline Object Mish() { return Object::create("Mish", {}); }
// 1 / (1 + exp(-x)).
inline Object Sigmoid() { return Object::create("Sigmoid", {}); }
// log(sigmoid(x)).
inline Object LogSigmoid() { return Object::create("LogSigmoid", {}); }
// The hyperbolic tangent of x.
inline Object Tanh() { return Object::create("Tanh", {}); }
// x - tanh(x).
inline Object Tanhshrink() { return Object::create("Tanhshrink", {}); }
// x / (1 + abs(x)).
inline Object Softsign() { return Object::create("Softsign", {}); }
// min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.
inline Object Hardsigmoid() { return Object::create("Hardsigmoid", {}); }
// x * min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.
inline Object Hardswish() { return Object::create("Hardswish", {}); }
// x where it is above 0, else negative_slope * x. Maas, Hannun & Ng, 2013.
struct LeakyReLUOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float negative_slope = 0.01;
};
inline Object LeakyReLU(const LeakyReLUOptions& options = {}) { return Object::create("LeakyReLU", {options.negative_slope}); }
template <detail::Placed<Float> P>
Object LeakyReLU(const P& negative_slope) { return Object::create("LeakyReLU", {Float(negative_slope)}); }
// x where it is above 0, else alpha * (exp(x) - 1). Clevert et al., arXiv:1511.07289.
struct ELUOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float alpha = 1.0;
};
inline Object ELU(const ELUOptions& options = {}) { return Object::create("ELU", {options.alpha}); }
template <detail::Placed<Float> P>
Object ELU(const P& alpha) { return Object::create("ELU", {Float(alpha)}); }
// max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)). Barron, arXiv:1704.07483.
using CELUOptions = ELUOptions;
inline Object CELU(const CELUOptions& options = {}) { return Object::create("CELU", {options.alpha}); }
template <detail::Placed<Float> P>
Object CELU(const P& alpha) { return Object::create("CELU", {Float(alpha)}); }
// x moved toward 0 by lambd, and 0 within it.
struct SoftshrinkOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lambd = 0.5;
};
inline Object Softshrink(const SoftshrinkOptions& options = {}) { return Object::create("Softshrink", {options.lambd}); }
template <detail::Placed<Float> P>
Object Softshrink(const P& lambd) { return Object::create("Softshrink", {Float(lambd)}); }
// x, and 0 where abs(x) is at most lambd.
using HardshrinkOptions = SoftshrinkOptions;
inline Object Hardshrink(const HardshrinkOptions& options = {}) { return Object::create("Hardshrink", {options.lambd}); }
template <detail::Placed<Float> P>
Object Hardshrink(const P& lambd) { return Object::create("Hardshrink", {Float(lambd)}); }
// log(1 + exp(beta * x)) / beta; x itself where beta * x is above threshold.
struct SoftplusOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta = 1.0;
  Float threshold = 20.0;
};
inline Object Softplus(const SoftplusOptions& options = {}) { return Object::create("Softplus", {options.beta, options.threshold}); }
template <detail::Placed<Float> P>
Object Softplus(const P& beta, Float threshold = 20.0) { return Object::create("Softplus", {Float(beta), threshold}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, SoftplusOptions> P2 = SoftplusOptions>
Object Softplus(const P1& beta, const P2& threshold) { return Softplus(detail::behind<SoftplusOptions, 3, 1>("Softplus", beta, threshold)); }
// x where it is above threshold, else value.
inline Object Threshold(Float threshold, Float value) { return Object::create("Threshold", {threshold, value}); }
// x, cut off below min_val and above max_val.
struct HardtanhOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float min_val = -1.0;
  Float max_val = 1.0;
};
inline Object Hardtanh(const HardtanhOptions& options = {}) { return Object::create("Hardtanh", {options.min_val, options.max_val}); }
template <detail::Placed<Float> P>
Object Hardtanh(const P& min_val, Float max_val = 1.0) { return Object::create("Hardtanh", {Float(min_val), max_val}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, HardtanhOptions> P2 = HardtanhOptions>
Object Hardtanh(const P1& min_val, const P2& max_val) { return Hardtanh(detail::behind<HardtanhOptions, 3, 1>("Hardtanh", min_val, max_val)); }
// x times the normal distribution function of x; approximate is "none" or "tanh". Hendrycks &
// Gimpel, arXiv:1606.08415.
struct GELUOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string approximate = "none";
};
inline Object GELU(const GELUOptions& options = {}) { return Object::create("GELU", {options.approximate}); }
template <detail::Placed<TextRef> P>
Object GELU(const P& approximate) { return Object::create("GELU", {TextRef(approximate)}); }
// x where it is above 0, else weight * x: weight [num_parameters], one slope or one for each
// channel, init at first. He et al., arXiv:1502.01852.
struct PReLUOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int num_parameters = 1;
  Float init = 0.25;
};
inline Object PReLU(const PReLUOptions& options = {}) { return Object::create("PReLU", {options.num_parameters, options.init}); }
template <detail::Placed<Int> P>
Object PReLU(const P& num_parameters, Float init = 0.25) { return Object::create("PReLU", {Int(num_parameters), init}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Float, PReLUOptions> P2 = PReLUOptions>
Object PReLU(const P1& num_parameters, const P2& init) { return PReLU(detail::behind<PReLUOptions, 3, 1>("PReLU", num_parameters, init)); }
// x where it is above 0, else a slope times x: in training uniform in [lower, upper) for each
// element, else their mean. Xu et al., arXiv:1505.00853.
struct RReLUOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lower = 0.125;
  Float upper = 0.3333333333333333;
};
inline Object RReLU(const RReLUOptions& options = {}) { return Object::create("RReLU", {options.lower, options.upper}); }
template <detail::Placed<Float> P>
Object RReLU(const P& lower, Float upper = 0.3333333333333333) { return Object::create("RReLU", {Float(lower), upper}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, RReLUOptions> P2 = RReLUOptions>
Object RReLU(const P1& lower, const P2& upper) { return RReLU(detail::behind<RReLUOptions, 3, 1>("RReLU", lower, upper)); }
// The first half of x along dim times the sigmoid of the second. Dauphin et al., arXiv:1612.08083.
struct GLUOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
};
inline Object GLU(const GLUOptions& options = {}) { return Object::create("GLU", {options.dim}); }
template <detail::Placed<Int> P>
Object GLU(const P& dim) { return Object::create("GLU", {Int(dim)}); }
// exp(x) / sum(exp(x)) along dim. dim None: 0 where x has 0, 1 or 3 dimensions, else 1.
struct SoftmaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
};
inline Object Softmax(const SoftmaxOptions& options = {}) { return Object::create("Softmax", {options.dim}); }
template <detail::Placed<std::optional<Int>> P>
Object Softmax(const P& dim) { return Object::create("Softmax", {std::optional<Int>(dim)}); }
// log(softmax(x)) along dim. dim None: 0 where x has 0, 1 or 3 dimensions, else 1.
using LogSoftmaxOptions = SoftmaxOptions;
inline Object LogSoftmax(const LogSoftmaxOptions& options = {}) { return Object::create("LogSoftmax", {options.dim}); }
template <detail::Placed<std::optional<Int>> P>
Object LogSoftmax(const P& dim) { return Object::create("LogSoftmax", {std::optional<Int>(dim)}); }
// softmax(-x) along dim. dim None: 0 where x has 0, 1 or 3 dimensions, else 1.
using SoftminOptions = SoftmaxOptions;
inline Object Softmin(const SoftminOptions& options = {}) { return Object::create("Softmin", {options.dim}); }
template <detail::Placed<std::optional<Int>> P>
Object Softmin(const P& dim) { return Object::create("Softmin", {std::optional<Int>(dim)}); }
// Softmax over the channels of x [n, channels, h, w], or without n.
inline Object Softmax2d() { return Object::create("Softmax2d", {}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
