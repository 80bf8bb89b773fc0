// Definitions of the methods of Tensor that are ops of the plugin 'ops', written by `tenon header`:
// the text is with the op.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"
#include "tenon/ops/results.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

inline Tensor TensorMethods::add(Operand y) const { return detail::call<Tensor>(detail::op<"add">, {self(), y}); }
inline Tensor TensorMethods::add(Operand y, Number alpha) const { return detail::call<Tensor>(detail::op<"add">, {self(), y, alpha}); }
template <std::same_as<AddOptions> O>
inline Tensor TensorMethods::add(Operand y, const O& options) const { return detail::call<Tensor>(detail::op<"add">, {self(), y, options.alpha}); }
inline Tensor TensorMethods::add_(Operand y) const { return detail::call<Tensor>(detail::op<"add_">, {self(), y}); }
inline Tensor TensorMethods::add_(Operand y, Number alpha) const { return detail::call<Tensor>(detail::op<"add_">, {self(), y, alpha}); }
template <std::same_as<AddOptions> O>
inline Tensor TensorMethods::add_(Operand y, const O& options) const { return detail::call<Tensor>(detail::op<"add_">, {self(), y, options.alpha}); }
inline Tensor TensorMethods::sub(Operand y) const { return detail::call<Tensor>(detail::op<"sub">, {self(), y}); }
inline Tensor TensorMethods::sub(Operand y, Number alpha) const { return detail::call<Tensor>(detail::op<"sub">, {self(), y, alpha}); }
template <std::same_as<AddOptions> O>
inline Tensor TensorMethods::sub(Operand y, const O& options) const { return detail::call<Tensor>(detail::op<"sub">, {self(), y, options.alpha}); }
inline Tensor TensorMethods::sub_(Operand y) const { return detail::call<Tensor>(detail::op<"sub_">, {self(), y}); }
inline Tensor TensorMethods::sub_(Operand y, Number alpha) const { return detail::call<Tensor>(detail::op<"sub_">, {self(), y, alpha}); }
template <std::same_as<AddOptions> O>
inline Tensor TensorMethods::sub_(Operand y, const O& options) const { return detail::call<Tensor>(detail::op<"sub_">, {self(), y, options.alpha}); }
inline Tensor TensorMethods::mul(Operand y) const { return detail::call<Tensor>(detail::op<"mul">, {self(), y}); }
inline Tensor TensorMethods::mul_(Operand y) const { return detail::call<Tensor>(detail::op<"mul_">, {self(), y}); }
inline Tensor TensorMethods::div(Operand y) const { return detail::call<Tensor>(detail::op<"div">, {self(), y}); }
inline Tensor TensorMethods::div(Operand y, std::optional<std::string> rounding_mode) const { return detail::call<Tensor>(detail::op<"div">, {self(), y, rounding_mode}); }
template <std::same_as<DivOptions> O>
inline Tensor TensorMethods::div(Operand y, const O& options) const { return detail::call<Tensor>(detail::op<"div">, {self(), y, options.rounding_mode}); }
inline Tensor TensorMethods::div_(Operand y) const { return detail::call<Tensor>(detail::op<"div_">, {self(), y}); }
inline Tensor TensorMethods::div_(Operand y, std::optional<std::string> rounding_mode) const { return detail::call<Tensor>(detail::op<"div_">, {self(), y, rounding_mode}); }
template <std::same_as<DivOptions> O>
inline Tensor TensorMethods::div_(Operand y, const O& options) const { return detail::call<Tensor>(detail::op<"div_">, {self(), y, options.rounding_mode}); }
inline Tensor TensorMethods::floor_divide(Operand y) const { return detail::call<Tensor>(detail::op<"floor_divide">, {self(), y}); }
inline Tensor TensorMethods::floor_divide_(Operand y) const { return detail::call<Tensor>(detail::op<"floor_divide_">, {self(), y}); }
inline Tensor TensorMethods::pow(Operand y) const { return detail::call<Tensor>(detail::op<"pow">, {self(), y}); }
inline Tensor TensorMethods::pow_(Operand y) const { return detail::call<Tensor>(detail::op<"pow_">, {self(), y}); }
inline Tensor TensorMethods::remainder(Operand y) const { return detail::call<Tensor>(detail::op<"remainder">, {self(), y}); }
inline Tensor TensorMethods::remainder_(Operand y) const { return detail::call<Tensor>(detail::op<"remainder_">, {self(), y}); }
inline Tensor TensorMethods::fmod(Operand y) const { return detail::call<Tensor>(detail::op<"fmod">, {self(), y}); }
inline Tensor TensorMethods::fmod_(Operand y) const { return detail::call<Tensor>(detail::op<"fmod_">, {self(), y}); }
inline Tensor TensorMethods::maximum(Operand y) const { return detail::call<Tensor>(detail::op<"maximum">, {self(), y}); }
inline Tensor TensorMethods::maximum_(Operand y) const { return detail::call<Tensor>(detail::op<"maximum_">, {self(), y}); }
inline Tensor TensorMethods::minimum(Operand y) const { return detail::call<Tensor>(detail::op<"minimum">, {self(), y}); }
inline Tensor TensorMethods::minimum_(Operand y) const { return detail::call<Tensor>(detail::op<"minimum_">, {self(), y}); }
inline Tensor TensorMethods::atan2(Operand y) const { return detail::call<Tensor>(detail::op<"atan2">, {self(), y}); }
inline Tensor TensorMethods::atan2_(Operand y) const { return detail::call<Tensor>(detail::op<"atan2_">, {self(), y}); }
inline Tensor TensorMethods::hypot(Operand y) const { return detail::call<Tensor>(detail::op<"hypot">, {self(), y}); }
inline Tensor TensorMethods::hypot_(Operand y) const { return detail::call<Tensor>(detail::op<"hypot_">, {self(), y}); }
inline Tensor TensorMethods::logaddexp(Operand y) const { return detail::call<Tensor>(detail::op<"logaddexp">, {self(), y}); }
inline Tensor TensorMethods::lerp(Operand end, Operand weight) const { return detail::call<Tensor>(detail::op<"lerp">, {self(), end, weight}); }
inline Tensor TensorMethods::lerp_(Operand end, Operand weight) const { return detail::call<Tensor>(detail::op<"lerp_">, {self(), end, weight}); }
inline Tensor TensorMethods::addcmul(Operand tensor1, Operand tensor2) const { return detail::call<Tensor>(detail::op<"addcmul">, {self(), tensor1, tensor2}); }
inline Tensor TensorMethods::addcmul(Operand tensor1, Operand tensor2, Number value) const { return detail::call<Tensor>(detail::op<"addcmul">, {self(), tensor1, tensor2, value}); }
template <std::same_as<AddcmulOptions> O>
inline Tensor TensorMethods::addcmul(Operand tensor1, Operand tensor2, const O& options) const { return detail::call<Tensor>(detail::op<"addcmul">, {self(), tensor1, tensor2, options.value}); }
inline Tensor TensorMethods::addcmul_(Operand tensor1, Operand tensor2) const { return detail::call<Tensor>(detail::op<"addcmul_">, {self(), tensor1, tensor2}); }
inline Tensor TensorMethods::addcmul_(Operand tensor1, Operand tensor2, Number value) const { return detail::call<Tensor>(detail::op<"addcmul_">, {self(), tensor1, tensor2, value}); }
template <std::same_as<AddcmulOptions> O>
inline Tensor TensorMethods::addcmul_(Operand tensor1, Operand tensor2, const O& options) const { return detail::call<Tensor>(detail::op<"addcmul_">, {self(), tensor1, tensor2, options.value}); }
inline Tensor TensorMethods::addcdiv(Operand tensor1, Operand tensor2) const { return detail::call<Tensor>(detail::op<"addcdiv">, {self(), tensor1, tensor2}); }
inline Tensor TensorMethods::addcdiv(Operand tensor1, Operand tensor2, Number value) const { return detail::call<Tensor>(detail::op<"addcdiv">, {self(), tensor1, tensor2, value}); }
template <std::same_as<AddcmulOptions> O>
inline Tensor TensorMethods::addcdiv(Operand tensor1, Operand tensor2, const O& options) const { return detail::call<Tensor>(detail::op<"addcdiv">, {self(), tensor1, tensor2, options.value}); }
inline Tensor TensorMethods::addcdiv_(Operand tensor1, Operand tensor2) const { return detail::call<Tensor>(detail::op<"addcdiv_">, {self(), tensor1, tensor2}); }
inline Tensor TensorMethods::addcdiv_(Operand tensor1, Operand tensor2, Number value) const { return detail::call<Tensor>(detail::op<"addcdiv_">, {self(), tensor1, tensor2, value}); }
template <std::same_as<AddcmulOptions> O>
inline Tensor TensorMethods::addcdiv_(Operand tensor1, Operand tensor2, const O& options) const { return detail::call<Tensor>(detail::op<"addcdiv_">, {self(), tensor1, tensor2, options.value}); }
inline Tensor TensorMethods::neg() const { return detail::call<Tensor>(detail::op<"neg">, {self()}); }
inline Tensor TensorMethods::neg_() const { return detail::call<Tensor>(detail::op<"neg_">, {self()}); }
inline Tensor TensorMethods::abs() const { return detail::call<Tensor>(detail::op<"abs">, {self()}); }
inline Tensor TensorMethods::abs_() const { return detail::call<Tensor>(detail::op<"abs_">, {self()}); }
inline Tensor TensorMethods::sign() const { return detail::call<Tensor>(detail::op<"sign">, {self()}); }
inline Tensor TensorMethods::sign_() const { return detail::call<Tensor>(detail::op<"sign_">, {self()}); }
inline Tensor TensorMethods::ceil() const { return detail::call<Tensor>(detail::op<"ceil">, {self()}); }
inline Tensor TensorMethods::ceil_() const { return detail::call<Tensor>(detail::op<"ceil_">, {self()}); }
inline Tensor TensorMethods::floor() const { return detail::call<Tensor>(detail::op<"floor">, {self()}); }
inline Tensor TensorMethods::floor_() const { return detail::call<Tensor>(detail::op<"floor_">, {self()}); }
inline Tensor TensorMethods::round() const { return detail::call<Tensor>(detail::op<"round">, {self()}); }
inline Tensor TensorMethods::round_() const { return detail::call<Tensor>(detail::op<"round_">, {self()}); }
inline Tensor TensorMethods::trunc() const { return detail::call<Tensor>(detail::op<"trunc">, {self()}); }
inline Tensor TensorMethods::trunc_() const { return detail::call<Tensor>(detail::op<"trunc_">, {self()}); }
inline Tensor TensorMethods::frac() const { return detail::call<Tensor>(detail::op<"frac">, {self()}); }
inline Tensor TensorMethods::frac_() const { return detail::call<Tensor>(detail::op<"frac_">, {self()}); }
inline Tensor TensorMethods::square() const { return detail::call<Tensor>(detail::op<"square">, {self()}); }
inline Tensor TensorMethods::square_() const { return detail::call<Tensor>(detail::op<"square_">, {self()}); }
inline Tensor TensorMethods::sqrt() const { return detail::call<Tensor>(detail::op<"sqrt">, {self()}); }
inline Tensor TensorMethods::sqrt_() const { return detail::call<Tensor>(detail::op<"sqrt_">, {self()}); }
inline Tensor TensorMethods::rsqrt() const { return detail::call<Tensor>(detail::op<"rsqrt">, {self()}); }
inline Tensor TensorMethods::rsqrt_() const { return detail::call<Tensor>(detail::op<"rsqrt_">, {self()}); }
inline Tensor TensorMethods::reciprocal() const { return detail::call<Tensor>(detail::op<"reciprocal">, {self()}); }
inline Tensor TensorMethods::reciprocal_() const { return detail::call<Tensor>(detail::op<"reciprocal_">, {self()}); }
inline Tensor TensorMethods::exp() const { return detail::call<Tensor>(detail::op<"exp">, {self()}); }
inline Tensor TensorMethods::exp_() const { return detail::call<Tensor>(detail::op<"exp_">, {self()}); }
inline Tensor TensorMethods::exp2() const { return detail::call<Tensor>(detail::op<"exp2">, {self()}); }
inline Tensor TensorMethods::exp2_() const { return detail::call<Tensor>(detail::op<"exp2_">, {self()}); }
inline Tensor TensorMethods::expm1() const { return detail::call<Tensor>(detail::op<"expm1">, {self()}); }
inline Tensor TensorMethods::expm1_() const { return detail::call<Tensor>(detail::op<"expm1_">, {self()}); }
inline Tensor TensorMethods::log() const { return detail::call<Tensor>(detail::op<"log">, {self()}); }
inline Tensor TensorMethods::log_() const { return detail::call<Tensor>(detail::op<"log_">, {self()}); }
inline Tensor TensorMethods::log1p() const { return detail::call<Tensor>(detail::op<"log1p">, {self()}); }
inline Tensor TensorMethods::log1p_() const { return detail::call<Tensor>(detail::op<"log1p_">, {self()}); }
inline Tensor TensorMethods::log2() const { return detail::call<Tensor>(detail::op<"log2">, {self()}); }
inline Tensor TensorMethods::log2_() const { return detail::call<Tensor>(detail::op<"log2_">, {self()}); }
inline Tensor TensorMethods::log10() const { return detail::call<Tensor>(detail::op<"log10">, {self()}); }
inline Tensor TensorMethods::log10_() const { return detail::call<Tensor>(detail::op<"log10_">, {self()}); }
inline Tensor TensorMethods::sin() const { return detail::call<Tensor>(detail::op<"sin">, {self()}); }
inline Tensor TensorMethods::sin_() const { return detail::call<Tensor>(detail::op<"sin_">, {self()}); }
inline Tensor TensorMethods::cos() const { return detail::call<Tensor>(detail::op<"cos">, {self()}); }
inline Tensor TensorMethods::cos_() const { return detail::call<Tensor>(detail::op<"cos_">, {self()}); }
inline Tensor TensorMethods::tan() const { return detail::call<Tensor>(detail::op<"tan">, {self()}); }
inline Tensor TensorMethods::tan_() const { return detail::call<Tensor>(detail::op<"tan_">, {self()}); }
inline Tensor TensorMethods::asin() const { return detail::call<Tensor>(detail::op<"asin">, {self()}); }
inline Tensor TensorMethods::asin_() const { return detail::call<Tensor>(detail::op<"asin_">, {self()}); }
inline Tensor TensorMethods::acos() const { return detail::call<Tensor>(detail::op<"acos">, {self()}); }
inline Tensor TensorMethods::acos_() const { return detail::call<Tensor>(detail::op<"acos_">, {self()}); }
inline Tensor TensorMethods::atan() const { return detail::call<Tensor>(detail::op<"atan">, {self()}); }
inline Tensor TensorMethods::atan_() const { return detail::call<Tensor>(detail::op<"atan_">, {self()}); }
inline Tensor TensorMethods::sinh() const { return detail::call<Tensor>(detail::op<"sinh">, {self()}); }
inline Tensor TensorMethods::sinh_() const { return detail::call<Tensor>(detail::op<"sinh_">, {self()}); }
inline Tensor TensorMethods::cosh() const { return detail::call<Tensor>(detail::op<"cosh">, {self()}); }
inline Tensor TensorMethods::cosh_() const { return detail::call<Tensor>(detail::op<"cosh_">, {self()}); }
inline Tensor TensorMethods::tanh() const { return detail::call<Tensor>(detail::op<"tanh">, {self()}); }
inline Tensor TensorMethods::tanh_() const { return detail::call<Tensor>(detail::op<"tanh_">, {self()}); }
inline Tensor TensorMethods::asinh() const { return detail::call<Tensor>(detail::op<"asinh">, {self()}); }
inline Tensor TensorMethods::asinh_() const { return detail::call<Tensor>(detail::op<"asinh_">, {self()}); }
inline Tensor TensorMethods::acosh() const { return detail::call<Tensor>(detail::op<"acosh">, {self()}); }
inline Tensor TensorMethods::acosh_() const { return detail::call<Tensor>(detail::op<"acosh_">, {self()}); }
inline Tensor TensorMethods::atanh() const { return detail::call<Tensor>(detail::op<"atanh">, {self()}); }
inline Tensor TensorMethods::atanh_() const { return detail::call<Tensor>(detail::op<"atanh_">, {self()}); }
inline Tensor TensorMethods::erf() const { return detail::call<Tensor>(detail::op<"erf">, {self()}); }
inline Tensor TensorMethods::erf_() const { return detail::call<Tensor>(detail::op<"erf_">, {self()}); }
inline Tensor TensorMethods::erfc() const { return detail::call<Tensor>(detail::op<"erfc">, {self()}); }
inline Tensor TensorMethods::erfc_() const { return detail::call<Tensor>(detail::op<"erfc_">, {self()}); }
inline Tensor TensorMethods::lgamma() const { return detail::call<Tensor>(detail::op<"lgamma">, {self()}); }
inline Tensor TensorMethods::digamma() const { return detail::call<Tensor>(detail::op<"digamma">, {self()}); }
inline Tensor TensorMethods::erfinv() const { return detail::call<Tensor>(detail::op<"erfinv">, {self()}); }
inline Tensor TensorMethods::i0() const { return detail::call<Tensor>(detail::op<"i0">, {self()}); }
inline Tensor TensorMethods::xlogy(Operand y) const { return detail::call<Tensor>(detail::op<"xlogy">, {self(), y}); }
inline Tensor TensorMethods::xlogy_(Operand y) const { return detail::call<Tensor>(detail::op<"xlogy_">, {self(), y}); }
inline Tensor TensorMethods::sinc() const { return detail::call<Tensor>(detail::op<"sinc">, {self()}); }
inline Tensor TensorMethods::sinc_() const { return detail::call<Tensor>(detail::op<"sinc_">, {self()}); }
inline Tensor TensorMethods::logit() const { return detail::call<Tensor>(detail::op<"logit">, {self()}); }
inline Tensor TensorMethods::logit(std::optional<Float> eps) const { return detail::call<Tensor>(detail::op<"logit">, {self(), eps}); }
template <std::same_as<LogitOptions> O>
inline Tensor TensorMethods::logit(const O& options) const { return detail::call<Tensor>(detail::op<"logit">, {self(), options.eps}); }
inline Tensor TensorMethods::logit_() const { return detail::call<Tensor>(detail::op<"logit_">, {self()}); }
inline Tensor TensorMethods::logit_(std::optional<Float> eps) const { return detail::call<Tensor>(detail::op<"logit_">, {self(), eps}); }
template <std::same_as<LogitOptions> O>
inline Tensor TensorMethods::logit_(const O& options) const { return detail::call<Tensor>(detail::op<"logit_">, {self(), options.eps}); }
inline Tensor TensorMethods::heaviside(Operand values) const { return detail::call<Tensor>(detail::op<"heaviside">, {self(), values}); }
inline Tensor TensorMethods::heaviside_(Operand values) const { return detail::call<Tensor>(detail::op<"heaviside_">, {self(), values}); }
inline Tensor TensorMethods::copysign(Operand y) const { return detail::call<Tensor>(detail::op<"copysign">, {self(), y}); }
inline Tensor TensorMethods::copysign_(Operand y) const { return detail::call<Tensor>(detail::op<"copysign_">, {self(), y}); }
inline Tensor TensorMethods::nextafter(const Tensor& y) const { return detail::call<Tensor>(detail::op<"nextafter">, {self(), y}); }
inline Tensor TensorMethods::igamma(const Tensor& x) const { return detail::call<Tensor>(detail::op<"igamma">, {self(), x}); }
inline Tensor TensorMethods::igammac(const Tensor& x) const { return detail::call<Tensor>(detail::op<"igammac">, {self(), x}); }
inline Tensor TensorMethods::mvlgamma(Int p) const { return detail::call<Tensor>(detail::op<"mvlgamma">, {self(), p}); }
inline Tensor TensorMethods::fmax(Operand y) const { return detail::call<Tensor>(detail::op<"fmax">, {self(), y}); }
inline Tensor TensorMethods::fmin(Operand y) const { return detail::call<Tensor>(detail::op<"fmin">, {self(), y}); }
inline Tensor TensorMethods::deg2rad() const { return detail::call<Tensor>(detail::op<"deg2rad">, {self()}); }
inline Tensor TensorMethods::deg2rad_() const { return detail::call<Tensor>(detail::op<"deg2rad_">, {self()}); }
inline Tensor TensorMethods::rad2deg() const { return detail::call<Tensor>(detail::op<"rad2deg">, {self()}); }
inline Tensor TensorMethods::rad2deg_() const { return detail::call<Tensor>(detail::op<"rad2deg_">, {self()}); }
inline Tensor TensorMethods::signbit() const { return detail::call<Tensor>(detail::op<"signbit">, {self()}); }
inline Tensor TensorMethods::isposinf() const { return detail::call<Tensor>(detail::op<"isposinf">, {self()}); }
inline Tensor TensorMethods::isneginf() const { return detail::call<Tensor>(detail::op<"isneginf">, {self()}); }
inline Tensor TensorMethods::float_power(Operand y) const { return detail::call<Tensor>(detail::op<"float_power">, {self(), y}); }
inline Tensor TensorMethods::logaddexp2(Operand y) const { return detail::call<Tensor>(detail::op<"logaddexp2">, {self(), y}); }
inline results::MantissaExponent TensorMethods::frexp() const { return detail::call<results::MantissaExponent>(detail::op<"frexp">, {self()}); }
inline Tensor TensorMethods::ldexp(Operand other) const { return detail::call<Tensor>(detail::op<"ldexp">, {self(), other}); }
inline Tensor TensorMethods::ldexp_(Operand other) const { return detail::call<Tensor>(detail::op<"ldexp_">, {self(), other}); }
inline Tensor TensorMethods::gcd(const Tensor& y) const { return detail::call<Tensor>(detail::op<"gcd">, {self(), y}); }
inline Tensor TensorMethods::lcm(const Tensor& y) const { return detail::call<Tensor>(detail::op<"lcm">, {self(), y}); }
inline Tensor TensorMethods::sigmoid() const { return detail::call<Tensor>(detail::op<"sigmoid">, {self()}); }
inline Tensor TensorMethods::sigmoid_() const { return detail::call<Tensor>(detail::op<"sigmoid_">, {self()}); }
inline Tensor TensorMethods::relu() const { return detail::call<Tensor>(detail::op<"relu">, {self()}); }
inline Tensor TensorMethods::relu_() const { return detail::call<Tensor>(detail::op<"relu_">, {self()}); }
inline Tensor TensorMethods::prelu(const Tensor& weight) const { return detail::call<Tensor>(detail::op<"prelu">, {self(), weight}); }
inline Tensor TensorMethods::hardshrink(Float lambd) const { return detail::call<Tensor>(detail::op<"hardshrink">, {self(), lambd}); }
template <std::same_as<SoftshrinkOptions> O>
inline Tensor TensorMethods::hardshrink(const O& options) const { return detail::call<Tensor>(detail::op<"hardshrink">, {self(), options.lambd}); }
inline Tensor TensorMethods::clamp(Operand min) const { return detail::call<Tensor>(detail::op<"clamp">, {self(), min}); }
inline Tensor TensorMethods::clamp(Operand min, Operand max) const { return detail::call<Tensor>(detail::op<"clamp">, {self(), min, max}); }
template <std::same_as<ClampOptions> O>
inline Tensor TensorMethods::clamp(const O& options) const { return detail::call<Tensor>(detail::op<"clamp">, {self(), options.min, options.max}); }
inline Tensor TensorMethods::clamp_(Operand min) const { return detail::call<Tensor>(detail::op<"clamp_">, {self(), min}); }
inline Tensor TensorMethods::clamp_(Operand min, Operand max) const { return detail::call<Tensor>(detail::op<"clamp_">, {self(), min, max}); }
template <std::same_as<ClampOptions> O>
inline Tensor TensorMethods::clamp_(const O& options) const { return detail::call<Tensor>(detail::op<"clamp_">, {self(), options.min, options.max}); }
inline Tensor TensorMethods::clamp_min(Operand min) const { return detail::call<Tensor>(detail::op<"clamp_min">, {self(), min}); }
inline Tensor TensorMethods::clamp_min_(Operand min) const { return detail::call<Tensor>(detail::op<"clamp_min_">, {self(), min}); }
inline Tensor TensorMethods::clamp_max(Operand max) const { return detail::call<Tensor>(detail::op<"clamp_max">, {self(), max}); }
inline Tensor TensorMethods::clamp_max_(Operand max) const { return detail::call<Tensor>(detail::op<"clamp_max_">, {self(), max}); }
inline Tensor TensorMethods::eq(Operand y) const { return detail::call<Tensor>(detail::op<"eq">, {self(), y}); }
inline Tensor TensorMethods::eq_(Operand y) const { return detail::call<Tensor>(detail::op<"eq_">, {self(), y}); }
inline Tensor TensorMethods::ne(Operand y) const { return detail::call<Tensor>(detail::op<"ne">, {self(), y}); }
inline Tensor TensorMethods::ne_(Operand y) const { return detail::call<Tensor>(detail::op<"ne_">, {self(), y}); }
inline Tensor TensorMethods::lt(Operand y) const { return detail::call<Tensor>(detail::op<"lt">, {self(), y}); }
inline Tensor TensorMethods::lt_(Operand y) const { return detail::call<Tensor>(detail::op<"lt_">, {self(), y}); }
inline Tensor TensorMethods::le(Operand y) const { return detail::call<Tensor>(detail::op<"le">, {self(), y}); }
inline Tensor TensorMethods::le_(Operand y) const { return detail::call<Tensor>(detail::op<"le_">, {self(), y}); }
inline Tensor TensorMethods::gt(Operand y) const { return detail::call<Tensor>(detail::op<"gt">, {self(), y}); }
inline Tensor TensorMethods::gt_(Operand y) const { return detail::call<Tensor>(detail::op<"gt_">, {self(), y}); }
inline Tensor TensorMethods::ge(Operand y) const { return detail::call<Tensor>(detail::op<"ge">, {self(), y}); }
inline Tensor TensorMethods::ge_(Operand y) const { return detail::call<Tensor>(detail::op<"ge_">, {self(), y}); }
inline Tensor TensorMethods::isnan() const { return detail::call<Tensor>(detail::op<"isnan">, {self()}); }
inline Tensor TensorMethods::isinf() const { return detail::call<Tensor>(detail::op<"isinf">, {self()}); }
inline Tensor TensorMethods::isfinite() const { return detail::call<Tensor>(detail::op<"isfinite">, {self()}); }
inline Tensor TensorMethods::logical_and(Operand y) const { return detail::call<Tensor>(detail::op<"logical_and">, {self(), y}); }
inline Tensor TensorMethods::logical_and_(Operand y) const { return detail::call<Tensor>(detail::op<"logical_and_">, {self(), y}); }
inline Tensor TensorMethods::logical_or(Operand y) const { return detail::call<Tensor>(detail::op<"logical_or">, {self(), y}); }
inline Tensor TensorMethods::logical_or_(Operand y) const { return detail::call<Tensor>(detail::op<"logical_or_">, {self(), y}); }
inline Tensor TensorMethods::logical_xor(Operand y) const { return detail::call<Tensor>(detail::op<"logical_xor">, {self(), y}); }
inline Tensor TensorMethods::logical_xor_(Operand y) const { return detail::call<Tensor>(detail::op<"logical_xor_">, {self(), y}); }
inline Tensor TensorMethods::logical_not() const { return detail::call<Tensor>(detail::op<"logical_not">, {self()}); }
inline Tensor TensorMethods::logical_not_() const { return detail::call<Tensor>(detail::op<"logical_not_">, {self()}); }
inline Tensor TensorMethods::bitwise_and(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_and">, {self(), y}); }
inline Tensor TensorMethods::bitwise_and_(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_and_">, {self(), y}); }
inline Tensor TensorMethods::bitwise_or(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_or">, {self(), y}); }
inline Tensor TensorMethods::bitwise_or_(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_or_">, {self(), y}); }
inline Tensor TensorMethods::bitwise_xor(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_xor">, {self(), y}); }
inline Tensor TensorMethods::bitwise_xor_(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_xor_">, {self(), y}); }
inline Tensor TensorMethods::bitwise_not() const { return detail::call<Tensor>(detail::op<"bitwise_not">, {self()}); }
inline Tensor TensorMethods::bitwise_not_() const { return detail::call<Tensor>(detail::op<"bitwise_not_">, {self()}); }
inline Tensor TensorMethods::bitwise_left_shift(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_left_shift">, {self(), y}); }
inline Tensor TensorMethods::bitwise_left_shift_(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_left_shift_">, {self(), y}); }
inline Tensor TensorMethods::bitwise_right_shift(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_right_shift">, {self(), y}); }
inline Tensor TensorMethods::bitwise_right_shift_(Operand y) const { return detail::call<Tensor>(detail::op<"bitwise_right_shift_">, {self(), y}); }
inline Tensor TensorMethods::masked_fill(Operand mask, Operand value) const { return detail::call<Tensor>(detail::op<"masked_fill">, {self(), mask, value}); }
inline Tensor TensorMethods::masked_fill_(Operand mask, Operand value) const { return detail::call<Tensor>(detail::op<"masked_fill_">, {self(), mask, value}); }
inline Tensor TensorMethods::nan_to_num(std::optional<Float> nan, std::optional<Float> posinf, std::optional<Float> neginf) const { return detail::call<Tensor>(detail::op<"nan_to_num">, {self(), nan, posinf, neginf}); }
template <std::same_as<NanToNumOptions> O>
inline Tensor TensorMethods::nan_to_num(const O& options) const { return detail::call<Tensor>(detail::op<"nan_to_num">, {self(), options.nan, options.posinf, options.neginf}); }
inline Tensor TensorMethods::nan_to_num_(std::optional<Float> nan, std::optional<Float> posinf, std::optional<Float> neginf) const { return detail::call<Tensor>(detail::op<"nan_to_num_">, {self(), nan, posinf, neginf}); }
template <std::same_as<NanToNumOptions> O>
inline Tensor TensorMethods::nan_to_num_(const O& options) const { return detail::call<Tensor>(detail::op<"nan_to_num_">, {self(), options.nan, options.posinf, options.neginf}); }
inline Tensor TensorMethods::sum(Ints dim, Bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"sum">, {self(), dim, keepdim, dtype}); }
template <std::same_as<SumOptions> O>
inline Tensor TensorMethods::sum(const O& options) const { return detail::call<Tensor>(detail::op<"sum">, {self(), options.dim, options.keepdim, options.dtype}); }
inline Tensor TensorMethods::mean(Ints dim, Bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"mean">, {self(), dim, keepdim, dtype}); }
template <std::same_as<SumOptions> O>
inline Tensor TensorMethods::mean(const O& options) const { return detail::call<Tensor>(detail::op<"mean">, {self(), options.dim, options.keepdim, options.dtype}); }
inline Tensor TensorMethods::prod(Ints dim, Bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"prod">, {self(), dim, keepdim, dtype}); }
template <std::same_as<SumOptions> O>
inline Tensor TensorMethods::prod(const O& options) const { return detail::call<Tensor>(detail::op<"prod">, {self(), options.dim, options.keepdim, options.dtype}); }
inline Tensor TensorMethods::amax(Ints dim, Bool keepdim) const { return detail::call<Tensor>(detail::op<"amax">, {self(), dim, keepdim}); }
template <std::same_as<AmaxOptions> O>
inline Tensor TensorMethods::amax(const O& options) const { return detail::call<Tensor>(detail::op<"amax">, {self(), options.dim, options.keepdim}); }
inline Tensor TensorMethods::amin(Ints dim, Bool keepdim) const { return detail::call<Tensor>(detail::op<"amin">, {self(), dim, keepdim}); }
template <std::same_as<AmaxOptions> O>
inline Tensor TensorMethods::amin(const O& options) const { return detail::call<Tensor>(detail::op<"amin">, {self(), options.dim, options.keepdim}); }
inline results::ValuesIndices TensorMethods::max(Int dim, Bool keepdim) const { return detail::call<results::ValuesIndices>(detail::op<"max">, {self(), dim, keepdim}); }
template <std::same_as<MaxOptions> O>
inline results::ValuesIndices TensorMethods::max(Int dim, const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"max">, {self(), dim, options.keepdim}); }
inline results::ValuesIndices TensorMethods::min(Int dim, Bool keepdim) const { return detail::call<results::ValuesIndices>(detail::op<"min">, {self(), dim, keepdim}); }
template <std::same_as<MaxOptions> O>
inline results::ValuesIndices TensorMethods::min(Int dim, const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"min">, {self(), dim, options.keepdim}); }
inline Tensor TensorMethods::argmax(Ints dim, Bool keepdim) const { return detail::call<Tensor>(detail::op<"argmax">, {self(), dim, keepdim}); }
template <std::same_as<AmaxOptions> O>
inline Tensor TensorMethods::argmax(const O& options) const { return detail::call<Tensor>(detail::op<"argmax">, {self(), options.dim, options.keepdim}); }
inline Tensor TensorMethods::argmin(Ints dim, Bool keepdim) const { return detail::call<Tensor>(detail::op<"argmin">, {self(), dim, keepdim}); }
template <std::same_as<AmaxOptions> O>
inline Tensor TensorMethods::argmin(const O& options) const { return detail::call<Tensor>(detail::op<"argmin">, {self(), options.dim, options.keepdim}); }
inline Tensor TensorMethods::var(Ints dim, Float correction, Bool keepdim) const { return detail::call<Tensor>(detail::op<"var">, {self(), dim, correction, keepdim}); }
template <std::same_as<VarOptions> O>
inline Tensor TensorMethods::var(const O& options) const { return detail::call<Tensor>(detail::op<"var">, {self(), options.dim, options.correction, options.keepdim}); }
inline Tensor TensorMethods::std(Ints dim, Float correction, Bool keepdim) const { return detail::call<Tensor>(detail::op<"std">, {self(), dim, correction, keepdim}); }
template <std::same_as<VarOptions> O>
inline Tensor TensorMethods::std(const O& options) const { return detail::call<Tensor>(detail::op<"std">, {self(), options.dim, options.correction, options.keepdim}); }
inline Tensor TensorMethods::norm(Float p, Ints dim, Bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"norm">, {self(), p, dim, keepdim, dtype}); }
template <std::same_as<NormOptions> O>
inline Tensor TensorMethods::norm(const O& options) const { return detail::call<Tensor>(detail::op<"norm">, {self(), options.p, options.dim, options.keepdim, options.dtype}); }
inline Tensor TensorMethods::logsumexp(Ints dim, Bool keepdim) const { return detail::call<Tensor>(detail::op<"logsumexp">, {self(), dim, keepdim}); }
template <std::same_as<MaxOptions> O>
inline Tensor TensorMethods::logsumexp(Ints dim, const O& options) const { return detail::call<Tensor>(detail::op<"logsumexp">, {self(), dim, options.keepdim}); }
inline Tensor TensorMethods::all(Ints dim, Bool keepdim) const { return detail::call<Tensor>(detail::op<"all">, {self(), dim, keepdim}); }
template <std::same_as<AmaxOptions> O>
inline Tensor TensorMethods::all(const O& options) const { return detail::call<Tensor>(detail::op<"all">, {self(), options.dim, options.keepdim}); }
inline Tensor TensorMethods::any(Ints dim, Bool keepdim) const { return detail::call<Tensor>(detail::op<"any">, {self(), dim, keepdim}); }
template <std::same_as<AmaxOptions> O>
inline Tensor TensorMethods::any(const O& options) const { return detail::call<Tensor>(detail::op<"any">, {self(), options.dim, options.keepdim}); }
inline Tensor TensorMethods::count_nonzero(Ints dim) const { return detail::call<Tensor>(detail::op<"count_nonzero">, {self(), dim}); }
template <std::same_as<CountNonzeroOptions> O>
inline Tensor TensorMethods::count_nonzero(const O& options) const { return detail::call<Tensor>(detail::op<"count_nonzero">, {self(), options.dim}); }
inline Tensor TensorMethods::cumsum(Int dim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"cumsum">, {self(), dim, dtype}); }
template <std::same_as<CumsumOptions> O>
inline Tensor TensorMethods::cumsum(Int dim, const O& options) const { return detail::call<Tensor>(detail::op<"cumsum">, {self(), dim, options.dtype}); }
inline Tensor TensorMethods::cumprod(Int dim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"cumprod">, {self(), dim, dtype}); }
template <std::same_as<CumsumOptions> O>
inline Tensor TensorMethods::cumprod(Int dim, const O& options) const { return detail::call<Tensor>(detail::op<"cumprod">, {self(), dim, options.dtype}); }
inline results::ValuesIndices TensorMethods::sort(Int dim, Bool descending) const { return detail::call<results::ValuesIndices>(detail::op<"sort">, {self(), dim, descending}); }
template <std::same_as<SortOptions> O>
inline results::ValuesIndices TensorMethods::sort(const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"sort">, {self(), options.dim, options.descending}); }
inline Tensor TensorMethods::argsort(Int dim, Bool descending) const { return detail::call<Tensor>(detail::op<"argsort">, {self(), dim, descending}); }
template <std::same_as<SortOptions> O>
inline Tensor TensorMethods::argsort(const O& options) const { return detail::call<Tensor>(detail::op<"argsort">, {self(), options.dim, options.descending}); }
inline results::ValuesIndices TensorMethods::topk(Int k, Int dim, Bool largest, Bool sorted) const { return detail::call<results::ValuesIndices>(detail::op<"topk">, {self(), k, dim, largest, sorted}); }
template <std::same_as<TopkOptions> O>
inline results::ValuesIndices TensorMethods::topk(Int k, const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"topk">, {self(), k, options.dim, options.largest, options.sorted}); }
inline results::ValuesIndices TensorMethods::cummax(Int dim) const { return detail::call<results::ValuesIndices>(detail::op<"cummax">, {self(), dim}); }
inline results::ValuesIndices TensorMethods::cummin(Int dim) const { return detail::call<results::ValuesIndices>(detail::op<"cummin">, {self(), dim}); }
inline Tensor TensorMethods::logcumsumexp(Int dim) const { return detail::call<Tensor>(detail::op<"logcumsumexp">, {self(), dim}); }
inline Tensor TensorMethods::diff(Int n, Int dim) const { return detail::call<Tensor>(detail::op<"diff">, {self(), n, dim}); }
inline Tensor TensorMethods::diff(Int n, Int dim, const Tensor& prepend) const { return detail::call<Tensor>(detail::op<"diff">, {self(), n, dim, prepend}); }
inline Tensor TensorMethods::diff(Int n, Int dim, const Tensor& prepend, const Tensor& append) const { return detail::call<Tensor>(detail::op<"diff">, {self(), n, dim, prepend, append}); }
template <std::same_as<DiffOptions> O>
inline Tensor TensorMethods::diff(const O& options) const { return detail::call<Tensor>(detail::op<"diff">, {self(), options.n, options.dim, options.prepend, options.append}); }
inline Tensor TensorMethods::cov(Int correction) const { return detail::call<Tensor>(detail::op<"cov">, {self(), correction}); }
inline Tensor TensorMethods::cov(Int correction, const Tensor& fweights) const { return detail::call<Tensor>(detail::op<"cov">, {self(), correction, fweights}); }
inline Tensor TensorMethods::cov(Int correction, const Tensor& fweights, const Tensor& aweights) const { return detail::call<Tensor>(detail::op<"cov">, {self(), correction, fweights, aweights}); }
template <std::same_as<CovOptions> O>
inline Tensor TensorMethods::cov(const O& options) const { return detail::call<Tensor>(detail::op<"cov">, {self(), options.correction, options.fweights, options.aweights}); }
inline Tensor TensorMethods::corrcoef() const { return detail::call<Tensor>(detail::op<"corrcoef">, {self()}); }
inline results::ValuesIndices TensorMethods::median(std::optional<Int> dim, Bool keepdim) const { return detail::call<results::ValuesIndices>(detail::op<"median">, {self(), dim, keepdim}); }
template <std::same_as<MedianOptions> O>
inline results::ValuesIndices TensorMethods::median(const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"median">, {self(), options.dim, options.keepdim}); }
inline results::ValuesIndices TensorMethods::nanmedian(std::optional<Int> dim, Bool keepdim) const { return detail::call<results::ValuesIndices>(detail::op<"nanmedian">, {self(), dim, keepdim}); }
template <std::same_as<MedianOptions> O>
inline results::ValuesIndices TensorMethods::nanmedian(const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"nanmedian">, {self(), options.dim, options.keepdim}); }
inline results::ValuesIndices TensorMethods::kthvalue(Int k, Int dim, Bool keepdim) const { return detail::call<results::ValuesIndices>(detail::op<"kthvalue">, {self(), k, dim, keepdim}); }
template <std::same_as<KthvalueOptions> O>
inline results::ValuesIndices TensorMethods::kthvalue(Int k, const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"kthvalue">, {self(), k, options.dim, options.keepdim}); }
inline results::ValuesIndices TensorMethods::mode(Int dim, Bool keepdim) const { return detail::call<results::ValuesIndices>(detail::op<"mode">, {self(), dim, keepdim}); }
template <std::same_as<KthvalueOptions> O>
inline results::ValuesIndices TensorMethods::mode(const O& options) const { return detail::call<results::ValuesIndices>(detail::op<"mode">, {self(), options.dim, options.keepdim}); }
inline Tensor TensorMethods::quantile(Operand q, std::optional<Int> dim, Bool keepdim, TextRef interpolation) const { return detail::call<Tensor>(detail::op<"quantile">, {self(), q, dim, keepdim, interpolation}); }
template <std::same_as<QuantileOptions> O>
inline Tensor TensorMethods::quantile(Operand q, const O& options) const { return detail::call<Tensor>(detail::op<"quantile">, {self(), q, options.dim, options.keepdim, options.interpolation}); }
inline Tensor TensorMethods::nanquantile(Operand q, std::optional<Int> dim, Bool keepdim, TextRef interpolation) const { return detail::call<Tensor>(detail::op<"nanquantile">, {self(), q, dim, keepdim, interpolation}); }
template <std::same_as<QuantileOptions> O>
inline Tensor TensorMethods::nanquantile(Operand q, const O& options) const { return detail::call<Tensor>(detail::op<"nanquantile">, {self(), q, options.dim, options.keepdim, options.interpolation}); }
inline Tensor TensorMethods::nansum(Ints dim, Bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"nansum">, {self(), dim, keepdim, dtype}); }
template <std::same_as<SumOptions> O>
inline Tensor TensorMethods::nansum(const O& options) const { return detail::call<Tensor>(detail::op<"nansum">, {self(), options.dim, options.keepdim, options.dtype}); }
inline Tensor TensorMethods::nanmean(Ints dim, Bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"nanmean">, {self(), dim, keepdim, dtype}); }
template <std::same_as<SumOptions> O>
inline Tensor TensorMethods::nanmean(const O& options) const { return detail::call<Tensor>(detail::op<"nanmean">, {self(), options.dim, options.keepdim, options.dtype}); }
inline results::MinMax TensorMethods::aminmax(std::optional<Int> dim, Bool keepdim) const { return detail::call<results::MinMax>(detail::op<"aminmax">, {self(), dim, keepdim}); }
template <std::same_as<MedianOptions> O>
inline results::MinMax TensorMethods::aminmax(const O& options) const { return detail::call<results::MinMax>(detail::op<"aminmax">, {self(), options.dim, options.keepdim}); }
inline Tensor TensorMethods::renorm(Float p, Int dim, Float maxnorm) const { return detail::call<Tensor>(detail::op<"renorm">, {self(), p, dim, maxnorm}); }
inline Tensor TensorMethods::bincount() const { return detail::call<Tensor>(detail::op<"bincount">, {self()}); }
inline Tensor TensorMethods::bincount(const Tensor& weights, Int minlength) const { return detail::call<Tensor>(detail::op<"bincount">, {self(), weights, minlength}); }
template <std::same_as<BincountOptions> O>
inline Tensor TensorMethods::bincount(const O& options) const { return detail::call<Tensor>(detail::op<"bincount">, {self(), options.weights, options.minlength}); }
template <std::same_as<BincountOptions> O>
inline Tensor TensorMethods::bincount(const Tensor& weights, const O& options) const { return detail::call<Tensor>(detail::op<"bincount">, {self(), detail::one_of("bincount", "weights", weights, options.weights), options.minlength}); }
inline Tensor TensorMethods::histc(Int bins, Float min, Float max) const { return detail::call<Tensor>(detail::op<"histc">, {self(), bins, min, max}); }
template <std::same_as<HistcOptions> O>
inline Tensor TensorMethods::histc(const O& options) const { return detail::call<Tensor>(detail::op<"histc">, {self(), options.bins, options.min, options.max}); }
inline results::ValuesInverseCounts TensorMethods::unique(std::optional<Int> dim) const { return detail::call<results::ValuesInverseCounts>(detail::op<"unique">, {self(), dim}); }
template <std::same_as<UniqueOptions> O>
inline results::ValuesInverseCounts TensorMethods::unique(const O& options) const { return detail::call<results::ValuesInverseCounts>(detail::op<"unique">, {self(), options.dim}); }
inline results::ValuesInverseCounts TensorMethods::unique_consecutive(std::optional<Int> dim) const { return detail::call<results::ValuesInverseCounts>(detail::op<"unique_consecutive">, {self(), dim}); }
template <std::same_as<UniqueOptions> O>
inline results::ValuesInverseCounts TensorMethods::unique_consecutive(const O& options) const { return detail::call<results::ValuesInverseCounts>(detail::op<"unique_consecutive">, {self(), options.dim}); }
inline Tensor TensorMethods::matmul(const Tensor& b) const { return detail::call<Tensor>(detail::op<"matmul">, {self(), b}); }
inline Tensor TensorMethods::mm(const Tensor& b) const { return detail::call<Tensor>(detail::op<"mm">, {self(), b}); }
inline Tensor TensorMethods::bmm(const Tensor& b) const { return detail::call<Tensor>(detail::op<"bmm">, {self(), b}); }
inline Tensor TensorMethods::mv(const Tensor& b) const { return detail::call<Tensor>(detail::op<"mv">, {self(), b}); }
inline Tensor TensorMethods::dot(const Tensor& b) const { return detail::call<Tensor>(detail::op<"dot">, {self(), b}); }
inline Tensor TensorMethods::outer(const Tensor& b) const { return detail::call<Tensor>(detail::op<"outer">, {self(), b}); }
inline Tensor TensorMethods::addmm(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return detail::call<Tensor>(detail::op<"addmm">, {self(), a, b, beta, alpha}); }
template <std::same_as<AddmmOptions> O>
inline Tensor TensorMethods::addmm(const Tensor& a, const Tensor& b, const O& options) const { return detail::call<Tensor>(detail::op<"addmm">, {self(), a, b, options.beta, options.alpha}); }
inline Tensor TensorMethods::baddbmm(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return detail::call<Tensor>(detail::op<"baddbmm">, {self(), a, b, beta, alpha}); }
template <std::same_as<AddmmOptions> O>
inline Tensor TensorMethods::baddbmm(const Tensor& a, const Tensor& b, const O& options) const { return detail::call<Tensor>(detail::op<"baddbmm">, {self(), a, b, options.beta, options.alpha}); }
inline Tensor TensorMethods::addmv(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return detail::call<Tensor>(detail::op<"addmv">, {self(), a, b, beta, alpha}); }
template <std::same_as<AddmmOptions> O>
inline Tensor TensorMethods::addmv(const Tensor& a, const Tensor& b, const O& options) const { return detail::call<Tensor>(detail::op<"addmv">, {self(), a, b, options.beta, options.alpha}); }
inline Tensor TensorMethods::addr(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return detail::call<Tensor>(detail::op<"addr">, {self(), a, b, beta, alpha}); }
template <std::same_as<AddmmOptions> O>
inline Tensor TensorMethods::addr(const Tensor& a, const Tensor& b, const O& options) const { return detail::call<Tensor>(detail::op<"addr">, {self(), a, b, options.beta, options.alpha}); }
inline Tensor TensorMethods::addbmm(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return detail::call<Tensor>(detail::op<"addbmm">, {self(), a, b, beta, alpha}); }
template <std::same_as<AddmmOptions> O>
inline Tensor TensorMethods::addbmm(const Tensor& a, const Tensor& b, const O& options) const { return detail::call<Tensor>(detail::op<"addbmm">, {self(), a, b, options.beta, options.alpha}); }
inline Tensor TensorMethods::kron(const Tensor& b) const { return detail::call<Tensor>(detail::op<"kron">, {self(), b}); }
inline Tensor TensorMethods::cross(const Tensor& b, std::optional<Int> dim) const { return detail::call<Tensor>(detail::op<"cross">, {self(), b, dim}); }
template <std::same_as<CrossOptions> O>
inline Tensor TensorMethods::cross(const Tensor& b, const O& options) const { return detail::call<Tensor>(detail::op<"cross">, {self(), b, options.dim}); }
inline Tensor TensorMethods::inner(const Tensor& b) const { return detail::call<Tensor>(detail::op<"inner">, {self(), b}); }
inline Tensor TensorMethods::trace() const { return detail::call<Tensor>(detail::op<"trace">, {self()}); }
inline Tensor TensorMethods::matrix_power(Int n) const { return detail::call<Tensor>(detail::op<"matrix_power">, {self(), n}); }
inline Tensor TensorMethods::reshape(Ints sizes) const { return detail::call<Tensor>(detail::op<"reshape">, {self(), sizes}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::reshape(N... sizes) const { return reshape(Ints(sizes...)); }
inline Tensor TensorMethods::permute(Ints dims) const { return detail::call<Tensor>(detail::op<"permute">, {self(), dims}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::permute(N... dims) const { return permute(Ints(dims...)); }
inline Tensor TensorMethods::slice(Int dim, Int start, Int end, Int step) const { return detail::call<Tensor>(detail::op<"slice">, {self(), dim, start, end, step}); }
template <std::same_as<SliceOptions> O>
inline Tensor TensorMethods::slice(Int dim, const O& options) const { return detail::call<Tensor>(detail::op<"slice">, {self(), dim, options.start, options.end, options.step}); }
inline Tensor TensorMethods::expand(Ints sizes) const { return detail::call<Tensor>(detail::op<"expand">, {self(), sizes}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::expand(N... sizes) const { return expand(Ints(sizes...)); }
inline Tensor TensorMethods::as_strided(Ints sizes, Ints strides, Int offset) const { return detail::call<Tensor>(detail::op<"as_strided">, {self(), sizes, strides, offset}); }
template <std::same_as<AsStridedOptions> O>
inline Tensor TensorMethods::as_strided(Ints sizes, Ints strides, const O& options) const { return detail::call<Tensor>(detail::op<"as_strided">, {self(), sizes, strides, options.offset}); }
inline Tensor TensorMethods::view(Ints sizes) const { return detail::call<Tensor>(detail::op<"view">, {self(), sizes}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::view(N... sizes) const { return view(Ints(sizes...)); }
inline Tensor TensorMethods::transpose(Int dim0, Int dim1) const { return detail::call<Tensor>(detail::op<"transpose">, {self(), dim0, dim1}); }
inline Tensor TensorMethods::t() const { return detail::call<Tensor>(detail::op<"t">, {self()}); }
inline Tensor TensorMethods::select(Int dim, Int index) const { return detail::call<Tensor>(detail::op<"select">, {self(), dim, index}); }
inline Tensor TensorMethods::narrow(Int dim, Int start, Int length) const { return detail::call<Tensor>(detail::op<"narrow">, {self(), dim, start, length}); }
inline Tensor TensorMethods::squeeze(Ints dim) const { return detail::call<Tensor>(detail::op<"squeeze">, {self(), dim}); }
template <std::same_as<SqueezeOptions> O>
inline Tensor TensorMethods::squeeze(const O& options) const { return detail::call<Tensor>(detail::op<"squeeze">, {self(), options.dim}); }
inline Tensor TensorMethods::unsqueeze(Int dim) const { return detail::call<Tensor>(detail::op<"unsqueeze">, {self(), dim}); }
inline Tensor TensorMethods::flatten(Int start_dim, Int end_dim) const { return detail::call<Tensor>(detail::op<"flatten">, {self(), start_dim, end_dim}); }
template <std::same_as<FlattenOptions> O>
inline Tensor TensorMethods::flatten(const O& options) const { return detail::call<Tensor>(detail::op<"flatten">, {self(), options.start_dim, options.end_dim}); }
inline Tensor TensorMethods::movedim(Ints source, Ints destination) const { return detail::call<Tensor>(detail::op<"movedim">, {self(), source, destination}); }
inline Tensor TensorMethods::unflatten(Int dim, Ints sizes) const { return detail::call<Tensor>(detail::op<"unflatten">, {self(), dim, sizes}); }
inline Tensor TensorMethods::unfold(Int dim, Int size, Int step) const { return detail::call<Tensor>(detail::op<"unfold">, {self(), dim, size, step}); }
inline Tensor TensorMethods::diagonal(Int offset, Int dim1, Int dim2) const { return detail::call<Tensor>(detail::op<"diagonal">, {self(), offset, dim1, dim2}); }
template <std::same_as<DiagonalOptions> O>
inline Tensor TensorMethods::diagonal(const O& options) const { return detail::call<Tensor>(detail::op<"diagonal">, {self(), options.offset, options.dim1, options.dim2}); }
inline Tensor TensorMethods::broadcast_to(Ints sizes) const { return detail::call<Tensor>(detail::op<"broadcast_to">, {self(), sizes}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::broadcast_to(N... sizes) const { return broadcast_to(Ints(sizes...)); }
inline std::vector<Tensor> TensorMethods::split(Int length, Int dim) const { return detail::call<std::vector<Tensor>>(detail::op<"split">, {self(), length, dim}); }
template <std::same_as<SplitOptions> O>
inline std::vector<Tensor> TensorMethods::split(Int length, const O& options) const { return detail::call<std::vector<Tensor>>(detail::op<"split">, {self(), length, options.dim}); }
inline std::vector<Tensor> TensorMethods::split_with_sizes(Ints lengths, Int dim) const { return detail::call<std::vector<Tensor>>(detail::op<"split_with_sizes">, {self(), lengths, dim}); }
template <std::same_as<SplitOptions> O>
inline std::vector<Tensor> TensorMethods::split_with_sizes(Ints lengths, const O& options) const { return detail::call<std::vector<Tensor>>(detail::op<"split_with_sizes">, {self(), lengths, options.dim}); }
inline std::vector<Tensor> TensorMethods::chunk(Int chunks, Int dim) const { return detail::call<std::vector<Tensor>>(detail::op<"chunk">, {self(), chunks, dim}); }
template <std::same_as<SplitOptions> O>
inline std::vector<Tensor> TensorMethods::chunk(Int chunks, const O& options) const { return detail::call<std::vector<Tensor>>(detail::op<"chunk">, {self(), chunks, options.dim}); }
inline Tensor TensorMethods::flip(Ints dims) const { return detail::call<Tensor>(detail::op<"flip">, {self(), dims}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::flip(N... dims) const { return flip(Ints(dims...)); }
inline Tensor TensorMethods::roll(Ints shifts, Ints dims) const { return detail::call<Tensor>(detail::op<"roll">, {self(), shifts, dims}); }
template <std::same_as<RollOptions> O>
inline Tensor TensorMethods::roll(Ints shifts, const O& options) const { return detail::call<Tensor>(detail::op<"roll">, {self(), shifts, options.dims}); }
inline Tensor TensorMethods::repeat(Ints sizes) const { return detail::call<Tensor>(detail::op<"repeat">, {self(), sizes}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::repeat(N... sizes) const { return repeat(Ints(sizes...)); }
inline Tensor TensorMethods::triu(Int diagonal) const { return detail::call<Tensor>(detail::op<"triu">, {self(), diagonal}); }
template <std::same_as<TriuOptions> O>
inline Tensor TensorMethods::triu(const O& options) const { return detail::call<Tensor>(detail::op<"triu">, {self(), options.diagonal}); }
inline Tensor TensorMethods::tril(Int diagonal) const { return detail::call<Tensor>(detail::op<"tril">, {self(), diagonal}); }
template <std::same_as<TriuOptions> O>
inline Tensor TensorMethods::tril(const O& options) const { return detail::call<Tensor>(detail::op<"tril">, {self(), options.diagonal}); }
inline Tensor TensorMethods::clone() const { return detail::call<Tensor>(detail::op<"clone">, {self()}); }
inline std::vector<Tensor> TensorMethods::tensor_split(Int sections, Int dim) const { return detail::call<std::vector<Tensor>>(detail::op<"tensor_split">, {self(), sections, dim}); }
template <std::same_as<SplitOptions> O>
inline std::vector<Tensor> TensorMethods::tensor_split(Int sections, const O& options) const { return detail::call<std::vector<Tensor>>(detail::op<"tensor_split">, {self(), sections, options.dim}); }
inline std::vector<Tensor> TensorMethods::hsplit(Int sections) const { return detail::call<std::vector<Tensor>>(detail::op<"hsplit">, {self(), sections}); }
inline std::vector<Tensor> TensorMethods::vsplit(Int sections) const { return detail::call<std::vector<Tensor>>(detail::op<"vsplit">, {self(), sections}); }
inline std::vector<Tensor> TensorMethods::dsplit(Int sections) const { return detail::call<std::vector<Tensor>>(detail::op<"dsplit">, {self(), sections}); }
inline Tensor TensorMethods::rot90(Int k, Ints dims) const { return detail::call<Tensor>(detail::op<"rot90">, {self(), k, dims}); }
template <std::same_as<Rot90Options> O>
inline Tensor TensorMethods::rot90(const O& options) const { return detail::call<Tensor>(detail::op<"rot90">, {self(), options.k, options.dims}); }
inline Tensor TensorMethods::view_as(const Tensor& other) const { return detail::call<Tensor>(detail::op<"view_as">, {self(), other}); }
inline Tensor TensorMethods::reshape_as(const Tensor& other) const { return detail::call<Tensor>(detail::op<"reshape_as">, {self(), other}); }
inline Tensor TensorMethods::expand_as(const Tensor& other) const { return detail::call<Tensor>(detail::op<"expand_as">, {self(), other}); }
inline Tensor TensorMethods::tile(Ints dims) const { return detail::call<Tensor>(detail::op<"tile">, {self(), dims}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor TensorMethods::tile(N... dims) const { return tile(Ints(dims...)); }
inline Tensor TensorMethods::fliplr() const { return detail::call<Tensor>(detail::op<"fliplr">, {self()}); }
inline Tensor TensorMethods::flipud() const { return detail::call<Tensor>(detail::op<"flipud">, {self()}); }
inline Tensor TensorMethods::diag(Int diagonal) const { return detail::call<Tensor>(detail::op<"diag">, {self(), diagonal}); }
template <std::same_as<TriuOptions> O>
inline Tensor TensorMethods::diag(const O& options) const { return detail::call<Tensor>(detail::op<"diag">, {self(), options.diagonal}); }
inline Tensor TensorMethods::diag_embed(Int offset, Int dim1, Int dim2) const { return detail::call<Tensor>(detail::op<"diag_embed">, {self(), offset, dim1, dim2}); }
template <std::same_as<DiagEmbedOptions> O>
inline Tensor TensorMethods::diag_embed(const O& options) const { return detail::call<Tensor>(detail::op<"diag_embed">, {self(), options.offset, options.dim1, options.dim2}); }
inline Tensor TensorMethods::diagflat(Int offset) const { return detail::call<Tensor>(detail::op<"diagflat">, {self(), offset}); }
template <std::same_as<AsStridedOptions> O>
inline Tensor TensorMethods::diagflat(const O& options) const { return detail::call<Tensor>(detail::op<"diagflat">, {self(), options.offset}); }
inline Tensor TensorMethods::diagonal_scatter(const Tensor& src, Int offset, Int dim1, Int dim2) const { return detail::call<Tensor>(detail::op<"diagonal_scatter">, {self(), src, offset, dim1, dim2}); }
template <std::same_as<DiagonalOptions> O>
inline Tensor TensorMethods::diagonal_scatter(const Tensor& src, const O& options) const { return detail::call<Tensor>(detail::op<"diagonal_scatter">, {self(), src, options.offset, options.dim1, options.dim2}); }
inline Tensor TensorMethods::select_scatter(const Tensor& src, Int dim, Int index) const { return detail::call<Tensor>(detail::op<"select_scatter">, {self(), src, dim, index}); }
inline Tensor TensorMethods::slice_scatter(const Tensor& src, Int dim, Int start, Int end, Int step) const { return detail::call<Tensor>(detail::op<"slice_scatter">, {self(), src, dim, start, end, step}); }
template <std::same_as<SliceScatterOptions> O>
inline Tensor TensorMethods::slice_scatter(const Tensor& src, const O& options) const { return detail::call<Tensor>(detail::op<"slice_scatter">, {self(), src, options.dim, options.start, options.end, options.step}); }
inline Tensor TensorMethods::as_strided_scatter(const Tensor& src, Ints sizes, Ints strides, Int offset) const { return detail::call<Tensor>(detail::op<"as_strided_scatter">, {self(), src, sizes, strides, offset}); }
template <std::same_as<AsStridedOptions> O>
inline Tensor TensorMethods::as_strided_scatter(const Tensor& src, Ints sizes, Ints strides, const O& options) const { return detail::call<Tensor>(detail::op<"as_strided_scatter">, {self(), src, sizes, strides, options.offset}); }
inline Tensor TensorMethods::gather(Int dim, const Tensor& index) const { return detail::call<Tensor>(detail::op<"gather">, {self(), dim, index}); }
inline Tensor TensorMethods::scatter(Int dim, const Tensor& index, const Tensor& src, Bool add) const { return detail::call<Tensor>(detail::op<"scatter">, {self(), dim, index, src, add}); }
template <std::same_as<ScatterOptions> O>
inline Tensor TensorMethods::scatter(Int dim, const Tensor& index, const Tensor& src, const O& options) const { return detail::call<Tensor>(detail::op<"scatter">, {self(), dim, index, src, options.add}); }
inline Tensor TensorMethods::scatter_add(Int dim, const Tensor& index, const Tensor& src) const { return detail::call<Tensor>(detail::op<"scatter_add">, {self(), dim, index, src}); }
inline Tensor TensorMethods::scatter_(Int dim, const Tensor& index, const Tensor& src, Bool add) const { return detail::call<Tensor>(detail::op<"scatter_">, {self(), dim, index, src, add}); }
template <std::same_as<ScatterOptions> O>
inline Tensor TensorMethods::scatter_(Int dim, const Tensor& index, const Tensor& src, const O& options) const { return detail::call<Tensor>(detail::op<"scatter_">, {self(), dim, index, src, options.add}); }
inline Tensor TensorMethods::scatter_add_(Int dim, const Tensor& index, const Tensor& src) const { return detail::call<Tensor>(detail::op<"scatter_add_">, {self(), dim, index, src}); }
inline Tensor TensorMethods::index_select(Int dim, const Tensor& index) const { return detail::call<Tensor>(detail::op<"index_select">, {self(), dim, index}); }
inline Tensor TensorMethods::index(const Tensors& indices) const { return detail::call<Tensor>(detail::op<"index">, {self(), indices}); }
inline Tensor TensorMethods::index_put(const Tensors& indices, const Tensor& values, Bool accumulate) const { return detail::call<Tensor>(detail::op<"index_put">, {self(), indices, values, accumulate}); }
template <std::same_as<IndexPutOptions> O>
inline Tensor TensorMethods::index_put(const Tensors& indices, const Tensor& values, const O& options) const { return detail::call<Tensor>(detail::op<"index_put">, {self(), indices, values, options.accumulate}); }
inline Tensor TensorMethods::masked_select(const Tensor& mask) const { return detail::call<Tensor>(detail::op<"masked_select">, {self(), mask}); }
inline Tensor TensorMethods::nonzero() const { return detail::call<Tensor>(detail::op<"nonzero">, {self()}); }
inline Tensor TensorMethods::nonzero_static(Int size, Int fill_value) const { return detail::call<Tensor>(detail::op<"nonzero_static">, {self(), size, fill_value}); }
template <std::same_as<NonzeroStaticOptions> O>
inline Tensor TensorMethods::nonzero_static(Int size, const O& options) const { return detail::call<Tensor>(detail::op<"nonzero_static">, {self(), size, options.fill_value}); }
inline Tensor TensorMethods::index_add(Int dim, const Tensor& index, const Tensor& source) const { return detail::call<Tensor>(detail::op<"index_add">, {self(), dim, index, source}); }
inline Tensor TensorMethods::index_add(Int dim, const Tensor& index, const Tensor& source, Number alpha) const { return detail::call<Tensor>(detail::op<"index_add">, {self(), dim, index, source, alpha}); }
template <std::same_as<IndexAddOptions> O>
inline Tensor TensorMethods::index_add(Int dim, const Tensor& index, const Tensor& source, const O& options) const { return detail::call<Tensor>(detail::op<"index_add">, {self(), dim, index, source, options.alpha}); }
inline Tensor TensorMethods::index_add_(Int dim, const Tensor& index, const Tensor& source) const { return detail::call<Tensor>(detail::op<"index_add_">, {self(), dim, index, source}); }
inline Tensor TensorMethods::index_add_(Int dim, const Tensor& index, const Tensor& source, Number alpha) const { return detail::call<Tensor>(detail::op<"index_add_">, {self(), dim, index, source, alpha}); }
template <std::same_as<IndexAddOptions> O>
inline Tensor TensorMethods::index_add_(Int dim, const Tensor& index, const Tensor& source, const O& options) const { return detail::call<Tensor>(detail::op<"index_add_">, {self(), dim, index, source, options.alpha}); }
inline Tensor TensorMethods::take_along_dim(const Tensor& indices, std::optional<Int> dim) const { return detail::call<Tensor>(detail::op<"take_along_dim">, {self(), indices, dim}); }
template <std::same_as<TakeAlongDimOptions> O>
inline Tensor TensorMethods::take_along_dim(const Tensor& indices, const O& options) const { return detail::call<Tensor>(detail::op<"take_along_dim">, {self(), indices, options.dim}); }
inline Tensor TensorMethods::put(const Tensor& index, const Tensor& source, Bool accumulate) const { return detail::call<Tensor>(detail::op<"put">, {self(), index, source, accumulate}); }
template <std::same_as<IndexPutOptions> O>
inline Tensor TensorMethods::put(const Tensor& index, const Tensor& source, const O& options) const { return detail::call<Tensor>(detail::op<"put">, {self(), index, source, options.accumulate}); }
inline Tensor TensorMethods::put_(const Tensor& index, const Tensor& source, Bool accumulate) const { return detail::call<Tensor>(detail::op<"put_">, {self(), index, source, accumulate}); }
template <std::same_as<IndexPutOptions> O>
inline Tensor TensorMethods::put_(const Tensor& index, const Tensor& source, const O& options) const { return detail::call<Tensor>(detail::op<"put_">, {self(), index, source, options.accumulate}); }
inline Tensor TensorMethods::index_copy(Int dim, const Tensor& index, const Tensor& source) const { return detail::call<Tensor>(detail::op<"index_copy">, {self(), dim, index, source}); }
inline Tensor TensorMethods::index_copy_(Int dim, const Tensor& index, const Tensor& source) const { return detail::call<Tensor>(detail::op<"index_copy_">, {self(), dim, index, source}); }
inline Tensor TensorMethods::index_fill(Int dim, Operand index, Operand value) const { return detail::call<Tensor>(detail::op<"index_fill">, {self(), dim, index, value}); }
inline Tensor TensorMethods::index_fill_(Int dim, Operand index, Operand value) const { return detail::call<Tensor>(detail::op<"index_fill_">, {self(), dim, index, value}); }
inline Tensor TensorMethods::masked_scatter(const Tensor& mask, const Tensor& source) const { return detail::call<Tensor>(detail::op<"masked_scatter">, {self(), mask, source}); }
inline Tensor TensorMethods::masked_scatter_(const Tensor& mask, const Tensor& source) const { return detail::call<Tensor>(detail::op<"masked_scatter_">, {self(), mask, source}); }
inline Tensor TensorMethods::scatter_reduce(Int dim, const Tensor& index, const Tensor& src, TextRef reduce, Bool include_self) const { return detail::call<Tensor>(detail::op<"scatter_reduce">, {self(), dim, index, src, reduce, include_self}); }
template <std::same_as<ScatterReduceOptions> O>
inline Tensor TensorMethods::scatter_reduce(Int dim, const Tensor& index, const Tensor& src, TextRef reduce, const O& options) const { return detail::call<Tensor>(detail::op<"scatter_reduce">, {self(), dim, index, src, reduce, options.include_self}); }
inline Tensor TensorMethods::index_reduce(Int dim, const Tensor& index, const Tensor& source, TextRef reduce, Bool include_self) const { return detail::call<Tensor>(detail::op<"index_reduce">, {self(), dim, index, source, reduce, include_self}); }
template <std::same_as<ScatterReduceOptions> O>
inline Tensor TensorMethods::index_reduce(Int dim, const Tensor& index, const Tensor& source, TextRef reduce, const O& options) const { return detail::call<Tensor>(detail::op<"index_reduce">, {self(), dim, index, source, reduce, options.include_self}); }
inline Tensor TensorMethods::softmax(Int dim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"softmax">, {self(), dim, dtype}); }
template <std::same_as<SoftmaxOptions> O>
inline Tensor TensorMethods::softmax(const O& options) const { return detail::call<Tensor>(detail::op<"softmax">, {self(), options.dim, options.dtype}); }
inline Tensor TensorMethods::log_softmax(Int dim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"log_softmax">, {self(), dim, dtype}); }
template <std::same_as<SoftmaxOptions> O>
inline Tensor TensorMethods::log_softmax(const O& options) const { return detail::call<Tensor>(detail::op<"log_softmax">, {self(), options.dim, options.dtype}); }
inline Tensor TensorMethods::dist(const Tensor& y, Float p) const { return detail::call<Tensor>(detail::op<"dist">, {self(), y, p}); }
template <std::same_as<PdistOptions> O>
inline Tensor TensorMethods::dist(const Tensor& y, const O& options) const { return detail::call<Tensor>(detail::op<"dist">, {self(), y, options.p}); }
inline Tensor TensorMethods::multinomial(Int num_samples, Bool replacement) const { return detail::call<Tensor>(detail::op<"multinomial">, {self(), num_samples, replacement}); }
template <std::same_as<MultinomialOptions> O>
inline Tensor TensorMethods::multinomial(Int num_samples, const O& options) const { return detail::call<Tensor>(detail::op<"multinomial">, {self(), num_samples, options.replacement}); }
inline Tensor TensorMethods::uniform_(Float from, Float to) const { return detail::call<Tensor>(detail::op<"uniform_">, {self(), from, to}); }
template <std::same_as<UniformInPlaceOptions> O>
inline Tensor TensorMethods::uniform_(const O& options) const { return detail::call<Tensor>(detail::op<"uniform_">, {self(), options.from, options.to}); }
inline Tensor TensorMethods::normal_(Float mean, Float std) const { return detail::call<Tensor>(detail::op<"normal_">, {self(), mean, std}); }
template <std::same_as<NormalOptions> O>
inline Tensor TensorMethods::normal_(const O& options) const { return detail::call<Tensor>(detail::op<"normal_">, {self(), options.mean, options.std}); }
inline Tensor TensorMethods::bernoulli_(Float p) const { return detail::call<Tensor>(detail::op<"bernoulli_">, {self(), p}); }
template <std::same_as<BernoulliOptions> O>
inline Tensor TensorMethods::bernoulli_(const O& options) const { return detail::call<Tensor>(detail::op<"bernoulli_">, {self(), options.p}); }
inline Tensor TensorMethods::bernoulli() const { return detail::call<Tensor>(detail::op<"bernoulli">, {self()}); }
inline Tensor TensorMethods::exponential_(Float lambd) const { return detail::call<Tensor>(detail::op<"exponential_">, {self(), lambd}); }
template <std::same_as<ExponentialOptions> O>
inline Tensor TensorMethods::exponential_(const O& options) const { return detail::call<Tensor>(detail::op<"exponential_">, {self(), options.lambd}); }
inline Tensor TensorMethods::geometric_(Float p) const { return detail::call<Tensor>(detail::op<"geometric_">, {self(), p}); }
inline Tensor TensorMethods::cauchy_(Float median, Float sigma) const { return detail::call<Tensor>(detail::op<"cauchy_">, {self(), median, sigma}); }
template <std::same_as<CauchyOptions> O>
inline Tensor TensorMethods::cauchy_(const O& options) const { return detail::call<Tensor>(detail::op<"cauchy_">, {self(), options.median, options.sigma}); }
inline Tensor TensorMethods::log_normal_(Float mean, Float std) const { return detail::call<Tensor>(detail::op<"log_normal_">, {self(), mean, std}); }
template <std::same_as<LogNormalOptions> O>
inline Tensor TensorMethods::log_normal_(const O& options) const { return detail::call<Tensor>(detail::op<"log_normal_">, {self(), options.mean, options.std}); }

}  // namespace detail

}  // namespace v0
}  // namespace tenon
