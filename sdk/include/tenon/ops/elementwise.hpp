// The group 'elementwise' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
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

// x + alpha * y. Operands broadcast and promote as PyTorch's.
inline Tensor add(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"add">, {x, y}); }
inline Tensor add(Operand x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"add">, {x, y, alpha}); }
struct AddOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Number alpha = 1;
};
template <std::same_as<AddOptions> O = AddOptions>
inline Tensor add(Operand x, Operand y, const O& options) { return detail::call<Tensor>(detail::op<"add">, {x, y, options.alpha}); }
inline Tensor add_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"add_">, {x, y}); }
inline Tensor add_(const Tensor& x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"add_">, {x, y, alpha}); }
template <std::same_as<AddOptions> O = AddOptions>
inline Tensor add_(const Tensor& x, Operand y, const O& options) { return detail::call<Tensor>(detail::op<"add_">, {x, y, options.alpha}); }
// x - alpha * y. Operands broadcast and promote as PyTorch's.
inline Tensor sub(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"sub">, {x, y}); }
inline Tensor sub(Operand x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"sub">, {x, y, alpha}); }
using SubOptions = AddOptions;
template <std::same_as<SubOptions> O = SubOptions>
inline Tensor sub(Operand x, Operand y, const O& options) { return detail::call<Tensor>(detail::op<"sub">, {x, y, options.alpha}); }
inline Tensor sub_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"sub_">, {x, y}); }
inline Tensor sub_(const Tensor& x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"sub_">, {x, y, alpha}); }
using SubOptions = AddOptions;
template <std::same_as<SubOptions> O = SubOptions>
inline Tensor sub_(const Tensor& x, Operand y, const O& options) { return detail::call<Tensor>(detail::op<"sub_">, {x, y, options.alpha}); }
// x * y, element by element. Operands broadcast and promote as PyTorch's.
inline Tensor mul(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"mul">, {x, y}); }
inline Tensor mul_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"mul_">, {x, y}); }
// x / y. The quotient of integers is float32, but they stay integers where rounding_mode is
// "trunc", which rounds toward zero, or "floor", which is floor_divide; by 0 they give 0 then.
// Operands broadcast and promote as PyTorch's.
inline Tensor div(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"div">, {x, y}); }
inline Tensor div(Operand x, Operand y, std::optional<std::string> rounding_mode) { return detail::call<Tensor>(detail::op<"div">, {x, y, rounding_mode}); }
struct DivOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<std::string> rounding_mode = {};
};
template <std::same_as<DivOptions> O = DivOptions>
inline Tensor div(Operand x, Operand y, const O& options) { return detail::call<Tensor>(detail::op<"div">, {x, y, options.rounding_mode}); }
inline Tensor div_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"div_">, {x, y}); }
inline Tensor div_(const Tensor& x, Operand y, std::optional<std::string> rounding_mode) { return detail::call<Tensor>(detail::op<"div_">, {x, y, rounding_mode}); }
template <std::same_as<DivOptions> O = DivOptions>
inline Tensor div_(const Tensor& x, Operand y, const O& options) { return detail::call<Tensor>(detail::op<"div_">, {x, y, options.rounding_mode}); }
// The exact quotient x / y, rounded down. Integers stay integers; by 0 they give 0.
inline Tensor floor_divide(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"floor_divide">, {x, y}); }
inline Tensor floor_divide_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"floor_divide_">, {x, y}); }
// x to the power y. Of integers a negative exponent gives 0, except for bases 1 and -1.
inline Tensor pow(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"pow">, {x, y}); }
inline Tensor pow_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"pow_">, {x, y}); }
// x - y * floor_divide(x, y): the sign is that of y, as of % in Python.
inline Tensor remainder(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"remainder">, {x, y}); }
inline Tensor remainder_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"remainder_">, {x, y}); }
// The remainder of x / y truncated: the sign is that of x, as of fmod in C.
inline Tensor fmod(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"fmod">, {x, y}); }
inline Tensor fmod_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"fmod_">, {x, y}); }
// The greater of x and y; NaN where either is NaN. Equal ones share the gradient.
inline Tensor maximum(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"maximum">, {x, y}); }
inline Tensor maximum_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"maximum_">, {x, y}); }
// The smaller of x and y; NaN where either is NaN. Equal ones share the gradient.
inline Tensor minimum(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"minimum">, {x, y}); }
inline Tensor minimum_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"minimum_">, {x, y}); }
// The angle of the point (y, x), from -pi to pi, where x is the ordinate. The gradient at the
// origin is 0.
inline Tensor atan2(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"atan2">, {x, y}); }
inline Tensor atan2_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"atan2_">, {x, y}); }
// sqrt(x * x + y * y), computed so that no square overflows.
inline Tensor hypot(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"hypot">, {x, y}); }
inline Tensor hypot_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"hypot_">, {x, y}); }
// log(exp(x) + exp(y)), computed so that no exponential overflows.
inline Tensor logaddexp(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logaddexp">, {x, y}); }
// x + weight * (end - x). A weight of 1 gives end exactly.
inline Tensor lerp(Operand x, Operand end, Operand weight) { return detail::call<Tensor>(detail::op<"lerp">, {x, end, weight}); }
inline Tensor lerp_(const Tensor& x, Operand end, Operand weight) { return detail::call<Tensor>(detail::op<"lerp_">, {x, end, weight}); }
// x + value * tensor1 * tensor2.
inline Tensor addcmul(Operand x, Operand tensor1, Operand tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcmul">, {x, tensor1, tensor2, value}); }
struct AddcmulOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Number value = 1;
};
template <std::same_as<AddcmulOptions> O = AddcmulOptions>
inline Tensor addcmul(Operand x, Operand tensor1, Operand tensor2, const O& options) { return detail::call<Tensor>(detail::op<"addcmul">, {x, tensor1, tensor2, options.value}); }
inline Tensor addcmul_(const Tensor& x, Operand tensor1, Operand tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcmul_">, {x, tensor1, tensor2, value}); }
template <std::same_as<AddcmulOptions> O = AddcmulOptions>
inline Tensor addcmul_(const Tensor& x, Operand tensor1, Operand tensor2, const O& options) { return detail::call<Tensor>(detail::op<"addcmul_">, {x, tensor1, tensor2, options.value}); }
// x + value * tensor1 / tensor2.
inline Tensor addcdiv(Operand x, Operand tensor1, Operand tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcdiv">, {x, tensor1, tensor2, value}); }
using AddcdivOptions = AddcmulOptions;
template <std::same_as<AddcdivOptions> O = AddcdivOptions>
inline Tensor addcdiv(Operand x, Operand tensor1, Operand tensor2, const O& options) { return detail::call<Tensor>(detail::op<"addcdiv">, {x, tensor1, tensor2, options.value}); }
inline Tensor addcdiv_(const Tensor& x, Operand tensor1, Operand tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcdiv_">, {x, tensor1, tensor2, value}); }
using AddcdivOptions = AddcmulOptions;
template <std::same_as<AddcdivOptions> O = AddcdivOptions>
inline Tensor addcdiv_(const Tensor& x, Operand tensor1, Operand tensor2, const O& options) { return detail::call<Tensor>(detail::op<"addcdiv_">, {x, tensor1, tensor2, options.value}); }
// -x.
inline Tensor neg(const Tensor& x) { return detail::call<Tensor>(detail::op<"neg">, {x}); }
inline Tensor neg_(const Tensor& x) { return detail::call<Tensor>(detail::op<"neg_">, {x}); }
// The absolute value of x.
inline Tensor abs(const Tensor& x) { return detail::call<Tensor>(detail::op<"abs">, {x}); }
inline Tensor abs_(const Tensor& x) { return detail::call<Tensor>(detail::op<"abs_">, {x}); }
// -1, 0 or 1 by the sign of x; 0 for NaN.
inline Tensor sign(const Tensor& x) { return detail::call<Tensor>(detail::op<"sign">, {x}); }
inline Tensor sign_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sign_">, {x}); }
// The smallest whole number that is not below x.
inline Tensor ceil(const Tensor& x) { return detail::call<Tensor>(detail::op<"ceil">, {x}); }
inline Tensor ceil_(const Tensor& x) { return detail::call<Tensor>(detail::op<"ceil_">, {x}); }
// The greatest whole number that is not above x.
inline Tensor floor(const Tensor& x) { return detail::call<Tensor>(detail::op<"floor">, {x}); }
inline Tensor floor_(const Tensor& x) { return detail::call<Tensor>(detail::op<"floor_">, {x}); }
// The nearest whole number; halves go to the even one.
inline Tensor round(const Tensor& x) { return detail::call<Tensor>(detail::op<"round">, {x}); }
inline Tensor round_(const Tensor& x) { return detail::call<Tensor>(detail::op<"round_">, {x}); }
// x without its fraction.
inline Tensor trunc(const Tensor& x) { return detail::call<Tensor>(detail::op<"trunc">, {x}); }
inline Tensor trunc_(const Tensor& x) { return detail::call<Tensor>(detail::op<"trunc_">, {x}); }
// x - trunc(x): the fraction, with the sign of x.
inline Tensor frac(const Tensor& x) { return detail::call<Tensor>(detail::op<"frac">, {x}); }
inline Tensor frac_(const Tensor& x) { return detail::call<Tensor>(detail::op<"frac_">, {x}); }
// x * x.
inline Tensor square(const Tensor& x) { return detail::call<Tensor>(detail::op<"square">, {x}); }
inline Tensor square_(const Tensor& x) { return detail::call<Tensor>(detail::op<"square_">, {x}); }
// The square root of x; NaN below 0. Integers become float32.
inline Tensor sqrt(const Tensor& x) { return detail::call<Tensor>(detail::op<"sqrt">, {x}); }
inline Tensor sqrt_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sqrt_">, {x}); }
// 1 / sqrt(x). Integers become float32.
inline Tensor rsqrt(const Tensor& x) { return detail::call<Tensor>(detail::op<"rsqrt">, {x}); }
inline Tensor rsqrt_(const Tensor& x) { return detail::call<Tensor>(detail::op<"rsqrt_">, {x}); }
// 1 / x. Integers become float32.
inline Tensor reciprocal(const Tensor& x) { return detail::call<Tensor>(detail::op<"reciprocal">, {x}); }
inline Tensor reciprocal_(const Tensor& x) { return detail::call<Tensor>(detail::op<"reciprocal_">, {x}); }
// e to the power x. Integers become float32.
inline Tensor exp(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp">, {x}); }
inline Tensor exp_(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp_">, {x}); }
// 2 to the power x. Integers become float32.
inline Tensor exp2(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp2">, {x}); }
inline Tensor exp2_(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp2_">, {x}); }
// exp(x) - 1, exact near 0. Integers become float32.
inline Tensor expm1(const Tensor& x) { return detail::call<Tensor>(detail::op<"expm1">, {x}); }
inline Tensor expm1_(const Tensor& x) { return detail::call<Tensor>(detail::op<"expm1_">, {x}); }
// The natural logarithm of x. Integers become float32.
inline Tensor log(const Tensor& x) { return detail::call<Tensor>(detail::op<"log">, {x}); }
inline Tensor log_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log_">, {x}); }
// log(1 + x), exact near 0. Integers become float32.
inline Tensor log1p(const Tensor& x) { return detail::call<Tensor>(detail::op<"log1p">, {x}); }
inline Tensor log1p_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log1p_">, {x}); }
// The logarithm of x to base 2. Integers become float32.
inline Tensor log2(const Tensor& x) { return detail::call<Tensor>(detail::op<"log2">, {x}); }
inline Tensor log2_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log2_">, {x}); }
// The logarithm of x to base 10. Integers become float32.
inline Tensor log10(const Tensor& x) { return detail::call<Tensor>(detail::op<"log10">, {x}); }
inline Tensor log10_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log10_">, {x}); }
// The sine of x in radians.
inline Tensor sin(const Tensor& x) { return detail::call<Tensor>(detail::op<"sin">, {x}); }
inline Tensor sin_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sin_">, {x}); }
// The cosine of x in radians.
inline Tensor cos(const Tensor& x) { return detail::call<Tensor>(detail::op<"cos">, {x}); }
inline Tensor cos_(const Tensor& x) { return detail::call<Tensor>(detail::op<"cos_">, {x}); }
// The tangent of x in radians.
inline Tensor tan(const Tensor& x) { return detail::call<Tensor>(detail::op<"tan">, {x}); }
inline Tensor tan_(const Tensor& x) { return detail::call<Tensor>(detail::op<"tan_">, {x}); }
// The arc sine of x, from -pi/2 to pi/2.
inline Tensor asin(const Tensor& x) { return detail::call<Tensor>(detail::op<"asin">, {x}); }
inline Tensor asin_(const Tensor& x) { return detail::call<Tensor>(detail::op<"asin_">, {x}); }
// The arc cosine of x, from 0 to pi.
inline Tensor acos(const Tensor& x) { return detail::call<Tensor>(detail::op<"acos">, {x}); }
inline Tensor acos_(const Tensor& x) { return detail::call<Tensor>(detail::op<"acos_">, {x}); }
// The arc tangent of x, from -pi/2 to pi/2.
inline Tensor atan(const Tensor& x) { return detail::call<Tensor>(detail::op<"atan">, {x}); }
inline Tensor atan_(const Tensor& x) { return detail::call<Tensor>(detail::op<"atan_">, {x}); }
// The hyperbolic sine of x.
inline Tensor sinh(const Tensor& x) { return detail::call<Tensor>(detail::op<"sinh">, {x}); }
inline Tensor sinh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sinh_">, {x}); }
// The hyperbolic cosine of x.
inline Tensor cosh(const Tensor& x) { return detail::call<Tensor>(detail::op<"cosh">, {x}); }
inline Tensor cosh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"cosh_">, {x}); }
// The hyperbolic tangent of x.
inline Tensor tanh(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanh">, {x}); }
inline Tensor tanh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanh_">, {x}); }
// The inverse of sinh.
inline Tensor asinh(const Tensor& x) { return detail::call<Tensor>(detail::op<"asinh">, {x}); }
inline Tensor asinh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"asinh_">, {x}); }
// The inverse of cosh, from 0 on.
inline Tensor acosh(const Tensor& x) { return detail::call<Tensor>(detail::op<"acosh">, {x}); }
inline Tensor acosh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"acosh_">, {x}); }
// The inverse of tanh.
inline Tensor atanh(const Tensor& x) { return detail::call<Tensor>(detail::op<"atanh">, {x}); }
inline Tensor atanh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"atanh_">, {x}); }
// The error function 2 / sqrt(pi) * integral of exp(-t * t) from 0 to x.
inline Tensor erf(const Tensor& x) { return detail::call<Tensor>(detail::op<"erf">, {x}); }
inline Tensor erf_(const Tensor& x) { return detail::call<Tensor>(detail::op<"erf_">, {x}); }
// 1 - erf(x), exact for large x.
inline Tensor erfc(const Tensor& x) { return detail::call<Tensor>(detail::op<"erfc">, {x}); }
inline Tensor erfc_(const Tensor& x) { return detail::call<Tensor>(detail::op<"erfc_">, {x}); }
// log(|Γ(x)|); infinite at 0 and the negative integers. Integers become float32.
inline Tensor lgamma(const Tensor& x) { return detail::call<Tensor>(detail::op<"lgamma">, {x}); }
// The derivative of lgamma(x); NaN at the negative integers. Integers become float32.
inline Tensor digamma(const Tensor& x) { return detail::call<Tensor>(detail::op<"digamma">, {x}); }
// The derivative of order n, 0 to 150, of digamma(x). Integers become float32.
inline Tensor polygamma(Int n, const Tensor& x) { return detail::call<Tensor>(detail::op<"polygamma">, {n, x}); }
// What erf gives x of; NaN outside of -1 to 1. Integers become float32.
inline Tensor erfinv(const Tensor& x) { return detail::call<Tensor>(detail::op<"erfinv">, {x}); }
// The modified Bessel function of the first kind, of order 0. Integers become float32.
inline Tensor i0(const Tensor& x) { return detail::call<Tensor>(detail::op<"i0">, {x}); }
// The modified Bessel function of the first kind, of order 1. Integers become float32.
inline Tensor i1(const Tensor& x) { return detail::call<Tensor>(detail::op<"i1">, {x}); }
// x * log(y); 0 where x is 0, whatever y is but NaN.
inline Tensor xlogy(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"xlogy">, {x, y}); }
inline Tensor xlogy_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"xlogy_">, {x, y}); }
// sin(pi * x) / (pi * x); 1 at 0. Integers become float32.
inline Tensor sinc(const Tensor& x) { return detail::call<Tensor>(detail::op<"sinc">, {x}); }
inline Tensor sinc_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sinc_">, {x}); }
// log(x / (1 - x)), the inverse of sigmoid; with eps of x cut off to eps to 1 - eps.
inline Tensor logit(const Tensor& x) { return detail::call<Tensor>(detail::op<"logit">, {x}); }
inline Tensor logit(const Tensor& x, std::optional<Float> eps) { return detail::call<Tensor>(detail::op<"logit">, {x, eps}); }
struct LogitOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> eps = {};
};
template <std::same_as<LogitOptions> O = LogitOptions>
inline Tensor logit(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"logit">, {x, options.eps}); }
inline Tensor logit_(const Tensor& x) { return detail::call<Tensor>(detail::op<"logit_">, {x}); }
inline Tensor logit_(const Tensor& x, std::optional<Float> eps) { return detail::call<Tensor>(detail::op<"logit_">, {x, eps}); }
template <std::same_as<LogitOptions> O = LogitOptions>
inline Tensor logit_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"logit_">, {x, options.eps}); }
// 0 below 0, 1 above it, and values where x is 0.
inline Tensor heaviside(Operand x, Operand values) { return detail::call<Tensor>(detail::op<"heaviside">, {x, values}); }
inline Tensor heaviside_(const Tensor& x, Operand values) { return detail::call<Tensor>(detail::op<"heaviside_">, {x, values}); }
// |x| with the sign of y, that of -0 included, but not of NaN, which counts as positive. Integers
// become float32.
inline Tensor copysign(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"copysign">, {x, y}); }
inline Tensor copysign_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"copysign_">, {x, y}); }
// The next number of the dtype after x in the direction of y.
inline Tensor nextafter(const Tensor& x, const Tensor& y) { return detail::call<Tensor>(detail::op<"nextafter">, {x, y}); }
// exp(x * x) * erfc(x), which does not vanish for large x. Integers become float32.
inline Tensor erfcx(const Tensor& x) { return detail::call<Tensor>(detail::op<"erfcx">, {x}); }
// The share of the standard normal distribution below x: (1 + erf(x / sqrt(2))) / 2. Integers
// become float32.
inline Tensor ndtr(const Tensor& x) { return detail::call<Tensor>(detail::op<"ndtr">, {x}); }
// log(ndtr(x)), which is exact for very negative x too. Integers become float32.
inline Tensor log_ndtr(const Tensor& x) { return detail::call<Tensor>(detail::op<"log_ndtr">, {x}); }
// The inverse of ndtr; NaN outside of 0 to 1. Integers become float32.
inline Tensor ndtri(const Tensor& x) { return detail::call<Tensor>(detail::op<"ndtri">, {x}); }
// -x * log(x), what x adds to an entropy; 0 at 0, and -inf below.
inline Tensor entr(const Tensor& x) { return detail::call<Tensor>(detail::op<"entr">, {x}); }
// x * log1p(y); 0 where x is 0, whatever y is but NaN.
inline Tensor xlog1py(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"xlog1py">, {x, y}); }
// exp(-|x|) * i0(x). Integers become float32.
inline Tensor i0e(const Tensor& x) { return detail::call<Tensor>(detail::op<"i0e">, {x}); }
// exp(-|x|) * i1(x). Integers become float32.
inline Tensor i1e(const Tensor& x) { return detail::call<Tensor>(detail::op<"i1e">, {x}); }
// The regularized lower incomplete gamma function P(a, x): the integral of t^(a - 1) exp(-t) from 0
// to x, divided by Γ(a). NaN where a or x is negative. There is no gradient to a. DLMF 8.2.4.
inline Tensor igamma(const Tensor& a, const Tensor& x) { return detail::call<Tensor>(detail::op<"igamma">, {a, x}); }
// The regularized upper incomplete gamma function Q(a, x) = 1 - igamma(a, x), which is exact where
// it is small because x is large. There is no gradient to a. DLMF 8.2.4.
inline Tensor igammac(const Tensor& a, const Tensor& x) { return detail::call<Tensor>(detail::op<"igammac">, {a, x}); }
// Hurwitz' zeta function: the sum of (q + k)^-x over k from 0 on. Infinite where x is 1 or q is 0
// or a negative integer; NaN where x is below 1, or q negative and x not whole. Integers become
// float32. There is no gradient to x. DLMF 25.11.1.
inline Tensor zeta(Operand x, Operand q) { return detail::call<Tensor>(detail::op<"zeta">, {x, q}); }
// The logarithm of the multivariate gamma function of p dimensions: p (p - 1) / 4 log(pi) and the
// sum of lgamma(x - j / 2) over j from 0 to p - 1. Integers become float32. DLMF 35.3.4.
inline Tensor mvlgamma(const Tensor& x, Int p) { return detail::call<Tensor>(detail::op<"mvlgamma">, {x, p}); }
// The Bessel function of the first kind, of order 0. Integers become float32.
inline Tensor bessel_j0(const Tensor& x) { return detail::call<Tensor>(detail::op<"bessel_j0">, {x}); }
// The Bessel function of the first kind, of order 1. Integers become float32.
inline Tensor bessel_j1(const Tensor& x) { return detail::call<Tensor>(detail::op<"bessel_j1">, {x}); }
// The Bessel function of the second kind, of order 0; NaN below 0. Integers become float32.
inline Tensor bessel_y0(const Tensor& x) { return detail::call<Tensor>(detail::op<"bessel_y0">, {x}); }
// The Bessel function of the second kind, of order 1; NaN below 0. Integers become float32.
inline Tensor bessel_y1(const Tensor& x) { return detail::call<Tensor>(detail::op<"bessel_y1">, {x}); }
// The spherical Bessel function of order 0, sin(x) / x. Integers become float32.
inline Tensor spherical_bessel_j0(const Tensor& x) { return detail::call<Tensor>(detail::op<"spherical_bessel_j0">, {x}); }
// The modified Bessel function of the second kind, of order 0; NaN below 0. Integers become
// float32.
inline Tensor modified_bessel_k0(const Tensor& x) { return detail::call<Tensor>(detail::op<"modified_bessel_k0">, {x}); }
// The modified Bessel function of the second kind, of order 1; NaN below 0. Integers become
// float32.
inline Tensor modified_bessel_k1(const Tensor& x) { return detail::call<Tensor>(detail::op<"modified_bessel_k1">, {x}); }
// exp(x) * modified_bessel_k0(x). Integers become float32.
inline Tensor scaled_modified_bessel_k0(const Tensor& x) { return detail::call<Tensor>(detail::op<"scaled_modified_bessel_k0">, {x}); }
// exp(x) * modified_bessel_k1(x). Integers become float32.
inline Tensor scaled_modified_bessel_k1(const Tensor& x) { return detail::call<Tensor>(detail::op<"scaled_modified_bessel_k1">, {x}); }
// The greater of x and y; where one is NaN, the other. Equal ones share the gradient.
inline Tensor fmax(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"fmax">, {x, y}); }
// The smaller of x and y; where one is NaN, the other. Equal ones share the gradient.
inline Tensor fmin(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"fmin">, {x, y}); }
// x degrees in radians. Integers become float32.
inline Tensor deg2rad(const Tensor& x) { return detail::call<Tensor>(detail::op<"deg2rad">, {x}); }
inline Tensor deg2rad_(const Tensor& x) { return detail::call<Tensor>(detail::op<"deg2rad_">, {x}); }
// x radians in degrees. Integers become float32.
inline Tensor rad2deg(const Tensor& x) { return detail::call<Tensor>(detail::op<"rad2deg">, {x}); }
inline Tensor rad2deg_(const Tensor& x) { return detail::call<Tensor>(detail::op<"rad2deg_">, {x}); }
// Whether x is negative, as bool; of -0 too. Of NaN false, whatever its sign.
inline Tensor signbit(const Tensor& x) { return detail::call<Tensor>(detail::op<"signbit">, {x}); }
// Whether x is the positive infinity, as bool.
inline Tensor isposinf(const Tensor& x) { return detail::call<Tensor>(detail::op<"isposinf">, {x}); }
// Whether x is the negative infinity, as bool.
inline Tensor isneginf(const Tensor& x) { return detail::call<Tensor>(detail::op<"isneginf">, {x}); }
// x to the power y, in float64.
inline Tensor float_power(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"float_power">, {x, y}); }
// log2(2 ** x + 2 ** y), computed so that no power overflows.
inline Tensor logaddexp2(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logaddexp2">, {x, y}); }
// mantissa * 2 ** exponent is x, exactly: the mantissa has a magnitude of 1/2 at least and below 1,
// the exponent is int32. 0, infinities and NaN are their own mantissa, and their exponent is 0.
inline results::MantissaExponent frexp(const Tensor& x) { return detail::call<results::MantissaExponent>(detail::op<"frexp">, {x}); }
// x * 2 ** other. Integers become float32.
inline Tensor ldexp(Operand x, Operand other) { return detail::call<Tensor>(detail::op<"ldexp">, {x, other}); }
inline Tensor ldexp_(const Tensor& x, Operand other) { return detail::call<Tensor>(detail::op<"ldexp_">, {x, other}); }
// The greatest common divisor of integers; with 0 the other's absolute value.
inline Tensor gcd(const Tensor& x, const Tensor& y) { return detail::call<Tensor>(detail::op<"gcd">, {x, y}); }
// The least common multiple of integers, of at least 0; 0 where one is 0.
inline Tensor lcm(const Tensor& x, const Tensor& y) { return detail::call<Tensor>(detail::op<"lcm">, {x, y}); }
// 1 / (1 + exp(-x)).
inline Tensor sigmoid(const Tensor& x) { return detail::call<Tensor>(detail::op<"sigmoid">, {x}); }
inline Tensor sigmoid_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sigmoid_">, {x}); }
// log(sigmoid(x)), computed so that nothing overflows.
inline Tensor log_sigmoid(const Tensor& x) { return detail::call<Tensor>(detail::op<"log_sigmoid">, {x}); }
// The first half of x along dim times the sigmoid of the second. Dauphin et al., arXiv:1612.08083.
inline Tensor glu(const Tensor& x, Int dim = -1) { return detail::call<Tensor>(detail::op<"glu">, {x, dim}); }
struct GluOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
};
template <std::same_as<GluOptions> O = GluOptions>
inline Tensor glu(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"glu">, {x, options.dim}); }
// max(x, 0).
inline Tensor relu(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu">, {x}); }
inline Tensor relu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu_">, {x}); }
// min(max(x, 0), 6). Howard et al., arXiv:1704.04861.
inline Tensor relu6(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu6">, {x}); }
inline Tensor relu6_(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu6_">, {x}); }
// x, cut off below min_val and above max_val.
inline Tensor hardtanh(const Tensor& x, Number min_val = -1, Number max_val = 1) { return detail::call<Tensor>(detail::op<"hardtanh">, {x, min_val, max_val}); }
struct HardtanhOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Number min_val = -1;
  Number max_val = 1;
};
template <std::same_as<HardtanhOptions> O = HardtanhOptions>
inline Tensor hardtanh(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"hardtanh">, {x, options.min_val, options.max_val}); }
// x, cut off below min_val and above max_val, written to x.
inline Tensor hardtanh_(const Tensor& x, Number min_val = -1, Number max_val = 1) { return detail::call<Tensor>(detail::op<"hardtanh_">, {x, min_val, max_val}); }
template <std::same_as<HardtanhOptions> O = HardtanhOptions>
inline Tensor hardtanh_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"hardtanh_">, {x, options.min_val, options.max_val}); }
// x where it is above 0, else negative_slope * x. Maas, Hannun & Ng, 2013.
inline Tensor leaky_relu(const Tensor& x, Float negative_slope = 0.01) { return detail::call<Tensor>(detail::op<"leaky_relu">, {x, negative_slope}); }
struct LeakyReluOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float negative_slope = 0.01;
};
template <std::same_as<LeakyReluOptions> O = LeakyReluOptions>
inline Tensor leaky_relu(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"leaky_relu">, {x, options.negative_slope}); }
inline Tensor leaky_relu_(const Tensor& x, Float negative_slope = 0.01) { return detail::call<Tensor>(detail::op<"leaky_relu_">, {x, negative_slope}); }
template <std::same_as<LeakyReluOptions> O = LeakyReluOptions>
inline Tensor leaky_relu_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"leaky_relu_">, {x, options.negative_slope}); }
// x where it is above 0, else weight * x. weight has one element, or one for each channel of x [n,
// channels, ..]. He et al., arXiv:1502.01852.
inline Tensor prelu(const Tensor& x, const Tensor& weight) { return detail::call<Tensor>(detail::op<"prelu">, {x, weight}); }
// x where it is above 0, else alpha * (exp(x) - 1). Clevert et al., arXiv:1511.07289.
inline Tensor elu(const Tensor& x, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"elu">, {x, alpha}); }
struct EluOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float alpha = 1.0;
};
template <std::same_as<EluOptions> O = EluOptions>
inline Tensor elu(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"elu">, {x, options.alpha}); }
inline Tensor elu_(const Tensor& x, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"elu_">, {x, alpha}); }
template <std::same_as<EluOptions> O = EluOptions>
inline Tensor elu_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"elu_">, {x, options.alpha}); }
// max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)). Barron, arXiv:1704.07483.
inline Tensor celu(const Tensor& x, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"celu">, {x, alpha}); }
using CeluOptions = EluOptions;
template <std::same_as<CeluOptions> O = CeluOptions>
inline Tensor celu(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"celu">, {x, options.alpha}); }
inline Tensor celu_(const Tensor& x, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"celu_">, {x, alpha}); }
using CeluOptions = EluOptions;
template <std::same_as<CeluOptions> O = CeluOptions>
inline Tensor celu_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"celu_">, {x, options.alpha}); }
// scale * elu(x, alpha), whose constants keep mean 0 and variance 1. Klambauer et al.,
// arXiv:1706.02515.
inline Tensor selu(const Tensor& x) { return detail::call<Tensor>(detail::op<"selu">, {x}); }
inline Tensor selu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"selu_">, {x}); }
// x times the normal distribution function of x; approximate is "none" or "tanh". Hendrycks &
// Gimpel, arXiv:1606.08415.
inline Tensor gelu(const Tensor& x) { return detail::call<Tensor>(detail::op<"gelu">, {x}); }
inline Tensor gelu(const Tensor& x, TextRef approximate) { return detail::call<Tensor>(detail::op<"gelu">, {x, approximate}); }
struct GeluOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string approximate = "none";
};
template <std::same_as<GeluOptions> O = GeluOptions>
inline Tensor gelu(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"gelu">, {x, options.approximate}); }
inline Tensor gelu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"gelu_">, {x}); }
inline Tensor gelu_(const Tensor& x, TextRef approximate) { return detail::call<Tensor>(detail::op<"gelu_">, {x, approximate}); }
template <std::same_as<GeluOptions> O = GeluOptions>
inline Tensor gelu_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"gelu_">, {x, options.approximate}); }
// x * sigmoid(x). Elfwing et al., arXiv:1702.03118.
inline Tensor silu(const Tensor& x) { return detail::call<Tensor>(detail::op<"silu">, {x}); }
inline Tensor silu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"silu_">, {x}); }
// x * tanh(log(1 + exp(x))). Misra, arXiv:1908.08681.
inline Tensor mish(const Tensor& x) { return detail::call<Tensor>(detail::op<"mish">, {x}); }
inline Tensor mish_(const Tensor& x) { return detail::call<Tensor>(detail::op<"mish_">, {x}); }
// log(1 + exp(beta * x)) / beta; x itself where beta * x is above threshold.
inline Tensor softplus(const Tensor& x, Float beta = 1.0, Float threshold = 20.0) { return detail::call<Tensor>(detail::op<"softplus">, {x, beta, threshold}); }
struct SoftplusOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta = 1.0;
  Float threshold = 20.0;
};
template <std::same_as<SoftplusOptions> O = SoftplusOptions>
inline Tensor softplus(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"softplus">, {x, options.beta, options.threshold}); }
// x / (1 + abs(x)).
inline Tensor softsign(const Tensor& x) { return detail::call<Tensor>(detail::op<"softsign">, {x}); }
// min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.
inline Tensor hardsigmoid(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardsigmoid">, {x}); }
inline Tensor hardsigmoid_(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardsigmoid_">, {x}); }
// x * min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.
inline Tensor hardswish(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardswish">, {x}); }
inline Tensor hardswish_(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardswish_">, {x}); }
// x moved toward 0 by lambd, and 0 within it.
inline Tensor softshrink(const Tensor& x, Float lambd = 0.5) { return detail::call<Tensor>(detail::op<"softshrink">, {x, lambd}); }
struct SoftshrinkOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lambd = 0.5;
};
template <std::same_as<SoftshrinkOptions> O = SoftshrinkOptions>
inline Tensor softshrink(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"softshrink">, {x, options.lambd}); }
// x, and 0 where abs(x) is at most lambd.
inline Tensor hardshrink(const Tensor& x, Float lambd = 0.5) { return detail::call<Tensor>(detail::op<"hardshrink">, {x, lambd}); }
using HardshrinkOptions = SoftshrinkOptions;
template <std::same_as<HardshrinkOptions> O = HardshrinkOptions>
inline Tensor hardshrink(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"hardshrink">, {x, options.lambd}); }
// x - tanh(x).
inline Tensor tanhshrink(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanhshrink">, {x}); }
// x where it is above threshold, else value.
inline Tensor threshold(const Tensor& x, Number threshold, Number value) { return detail::call<Tensor>(detail::op<"threshold">, {x, threshold, value}); }
// threshold(x, threshold, value), written to x.
inline Tensor threshold_(const Tensor& x, Number threshold, Number value) { return detail::call<Tensor>(detail::op<"threshold_">, {x, threshold, value}); }
// x, cut off below min and above max, which are numbers or tensors that broadcast; one of them may
// be None. max where min is above max.
inline Tensor clamp(Operand x, Operand min = none, Operand max = none) { return detail::call<Tensor>(detail::op<"clamp">, {x, min, max}); }
struct ClampOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptOperand min = none;
  KeptOperand max = none;
};
template <std::same_as<ClampOptions> O = ClampOptions>
inline Tensor clamp(Operand x, const O& options) { return detail::call<Tensor>(detail::op<"clamp">, {x, options.min, options.max}); }
inline Tensor clamp_(const Tensor& x, Operand min = none, Operand max = none) { return detail::call<Tensor>(detail::op<"clamp_">, {x, min, max}); }
template <std::same_as<ClampOptions> O = ClampOptions>
inline Tensor clamp_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"clamp_">, {x, options.min, options.max}); }
// x, cut off below min, a number or a tensor that broadcasts.
inline Tensor clamp_min(Operand x, Operand min) { return detail::call<Tensor>(detail::op<"clamp_min">, {x, min}); }
inline Tensor clamp_min_(const Tensor& x, Operand min) { return detail::call<Tensor>(detail::op<"clamp_min_">, {x, min}); }
// x, cut off above max, a number or a tensor that broadcasts.
inline Tensor clamp_max(Operand x, Operand max) { return detail::call<Tensor>(detail::op<"clamp_max">, {x, max}); }
inline Tensor clamp_max_(const Tensor& x, Operand max) { return detail::call<Tensor>(detail::op<"clamp_max_">, {x, max}); }
// Whether x equals y, as bool. NaN equals nothing.
inline Tensor eq(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"eq">, {x, y}); }
inline Tensor eq_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"eq_">, {x, y}); }
// Whether x differs from y, as bool. NaN differs from everything.
inline Tensor ne(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"ne">, {x, y}); }
inline Tensor ne_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"ne_">, {x, y}); }
// Whether x is below y, as bool.
inline Tensor lt(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"lt">, {x, y}); }
inline Tensor lt_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"lt_">, {x, y}); }
// Whether x is at most y, as bool.
inline Tensor le(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"le">, {x, y}); }
inline Tensor le_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"le_">, {x, y}); }
// Whether x is above y, as bool.
inline Tensor gt(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"gt">, {x, y}); }
inline Tensor gt_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"gt_">, {x, y}); }
// Whether x is at least y, as bool.
inline Tensor ge(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"ge">, {x, y}); }
inline Tensor ge_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"ge_">, {x, y}); }
// Whether x is NaN, as bool.
inline Tensor isnan(const Tensor& x) { return detail::call<Tensor>(detail::op<"isnan">, {x}); }
// Whether x is an infinity, as bool.
inline Tensor isinf(const Tensor& x) { return detail::call<Tensor>(detail::op<"isinf">, {x}); }
// Whether x is neither an infinity nor NaN, as bool.
inline Tensor isfinite(const Tensor& x) { return detail::call<Tensor>(detail::op<"isfinite">, {x}); }
// Whether neither x nor y is 0, as bool.
inline Tensor logical_and(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_and">, {x, y}); }
inline Tensor logical_and_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"logical_and_">, {x, y}); }
// Whether x or y is not 0, as bool.
inline Tensor logical_or(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_or">, {x, y}); }
inline Tensor logical_or_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"logical_or_">, {x, y}); }
// Whether just one of x and y is 0, as bool.
inline Tensor logical_xor(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_xor">, {x, y}); }
inline Tensor logical_xor_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"logical_xor_">, {x, y}); }
// Whether x is 0, as bool.
inline Tensor logical_not(const Tensor& x) { return detail::call<Tensor>(detail::op<"logical_not">, {x}); }
inline Tensor logical_not_(const Tensor& x) { return detail::call<Tensor>(detail::op<"logical_not_">, {x}); }
// The bits that x and y have both. Integers and bool.
inline Tensor bitwise_and(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_and">, {x, y}); }
inline Tensor bitwise_and_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_and_">, {x, y}); }
// The bits that x or y has. Integers and bool.
inline Tensor bitwise_or(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_or">, {x, y}); }
inline Tensor bitwise_or_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_or_">, {x, y}); }
// The bits that just one of x and y has. Integers and bool.
inline Tensor bitwise_xor(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_xor">, {x, y}); }
inline Tensor bitwise_xor_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_xor_">, {x, y}); }
// The bits that x has not. Integers and bool.
inline Tensor bitwise_not(const Tensor& x) { return detail::call<Tensor>(detail::op<"bitwise_not">, {x}); }
inline Tensor bitwise_not_(const Tensor& x) { return detail::call<Tensor>(detail::op<"bitwise_not_">, {x}); }
// x with its bits moved up by y. Integers.
inline Tensor bitwise_left_shift(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_left_shift">, {x, y}); }
inline Tensor bitwise_left_shift_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_left_shift_">, {x, y}); }
// x with its bits moved down by y, the sign kept. Integers.
inline Tensor bitwise_right_shift(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_right_shift">, {x, y}); }
inline Tensor bitwise_right_shift_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_right_shift_">, {x, y}); }
// x where condition is not 0, else y. The three broadcast.
inline Tensor where(Operand condition, Operand x, Operand y) { return detail::call<Tensor>(detail::op<"where">, {condition, x, y}); }
// A copy of x with value, a number or a tensor without dimensions, where mask (bool, broadcast) is
// true.
inline Tensor masked_fill(Operand x, Operand mask, Operand value) { return detail::call<Tensor>(detail::op<"masked_fill">, {x, mask, value}); }
// masked_fill(x, mask, value), written to x.
inline Tensor masked_fill_(const Tensor& x, Operand mask, Operand value) { return detail::call<Tensor>(detail::op<"masked_fill_">, {x, mask, value}); }
// x with numbers in the place of NaN and infinities: 0 and the greatest and least of the dtype,
// unless given.
inline Tensor nan_to_num(const Tensor& x, std::optional<Float> nan = {}, std::optional<Float> posinf = {}, std::optional<Float> neginf = {}) { return detail::call<Tensor>(detail::op<"nan_to_num">, {x, nan, posinf, neginf}); }
struct NanToNumOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> nan = {};
  std::optional<Float> posinf = {};
  std::optional<Float> neginf = {};
};
template <std::same_as<NanToNumOptions> O = NanToNumOptions>
inline Tensor nan_to_num(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"nan_to_num">, {x, options.nan, options.posinf, options.neginf}); }
// nan_to_num(x, nan, posinf, neginf), written to x.
inline Tensor nan_to_num_(const Tensor& x, std::optional<Float> nan = {}, std::optional<Float> posinf = {}, std::optional<Float> neginf = {}) { return detail::call<Tensor>(detail::op<"nan_to_num_">, {x, nan, posinf, neginf}); }
template <std::same_as<NanToNumOptions> O = NanToNumOptions>
inline Tensor nan_to_num_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"nan_to_num_">, {x, options.nan, options.posinf, options.neginf}); }

}  // namespace v0
}  // namespace tenon
