// Elementwise ops: each is one formula in plugins/ops/elementwise.cpp. A line here agrees with the
// op's schema in names, order and defaults; a test compares them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Arithmetic. Operands broadcast and promote as PyTorch's; a number may stand for a tensor.
inline Tensor add(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"add">, x, y); }
inline Tensor sub(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"sub">, x, y); }
inline Tensor mul(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"mul">, x, y); }
inline Tensor div(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"div">, x, y); }
inline Tensor floor_divide(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"floor_divide">, x, y); }
inline Tensor pow(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"pow">, x, y); }
inline Tensor remainder(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"remainder">, x, y); }
inline Tensor fmod(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"fmod">, x, y); }
inline Tensor maximum(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"maximum">, x, y); }
inline Tensor minimum(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"minimum">, x, y); }
inline Tensor atan2(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"atan2">, x, y); }
inline Tensor hypot(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"hypot">, x, y); }
inline Tensor logaddexp(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logaddexp">, x, y); }
inline Tensor lerp(const Tensor& x, const Tensor& end, Operand weight) { return detail::call<Tensor>(detail::op<"lerp">, x, end, weight); }
inline Tensor addcmul(const Tensor& x, const Tensor& tensor1, const Tensor& tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcmul">, x, tensor1, tensor2, value); }
inline Tensor addcdiv(const Tensor& x, const Tensor& tensor1, const Tensor& tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcdiv">, x, tensor1, tensor2, value); }

// Functions of one tensor. Integers become float32 where the result is not an integer.
inline Tensor neg(const Tensor& x) { return detail::call<Tensor>(detail::op<"neg">, x); }
inline Tensor abs(const Tensor& x) { return detail::call<Tensor>(detail::op<"abs">, x); }
inline Tensor sign(const Tensor& x) { return detail::call<Tensor>(detail::op<"sign">, x); }
inline Tensor ceil(const Tensor& x) { return detail::call<Tensor>(detail::op<"ceil">, x); }
inline Tensor floor(const Tensor& x) { return detail::call<Tensor>(detail::op<"floor">, x); }
inline Tensor round(const Tensor& x) { return detail::call<Tensor>(detail::op<"round">, x); }
inline Tensor trunc(const Tensor& x) { return detail::call<Tensor>(detail::op<"trunc">, x); }
inline Tensor frac(const Tensor& x) { return detail::call<Tensor>(detail::op<"frac">, x); }
inline Tensor square(const Tensor& x) { return detail::call<Tensor>(detail::op<"square">, x); }
inline Tensor sqrt(const Tensor& x) { return detail::call<Tensor>(detail::op<"sqrt">, x); }
inline Tensor rsqrt(const Tensor& x) { return detail::call<Tensor>(detail::op<"rsqrt">, x); }
inline Tensor reciprocal(const Tensor& x) { return detail::call<Tensor>(detail::op<"reciprocal">, x); }
inline Tensor exp(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp">, x); }
inline Tensor exp2(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp2">, x); }
inline Tensor expm1(const Tensor& x) { return detail::call<Tensor>(detail::op<"expm1">, x); }
inline Tensor log(const Tensor& x) { return detail::call<Tensor>(detail::op<"log">, x); }
inline Tensor log1p(const Tensor& x) { return detail::call<Tensor>(detail::op<"log1p">, x); }
inline Tensor log2(const Tensor& x) { return detail::call<Tensor>(detail::op<"log2">, x); }
inline Tensor log10(const Tensor& x) { return detail::call<Tensor>(detail::op<"log10">, x); }
inline Tensor sin(const Tensor& x) { return detail::call<Tensor>(detail::op<"sin">, x); }
inline Tensor cos(const Tensor& x) { return detail::call<Tensor>(detail::op<"cos">, x); }
inline Tensor tan(const Tensor& x) { return detail::call<Tensor>(detail::op<"tan">, x); }
inline Tensor asin(const Tensor& x) { return detail::call<Tensor>(detail::op<"asin">, x); }
inline Tensor acos(const Tensor& x) { return detail::call<Tensor>(detail::op<"acos">, x); }
inline Tensor atan(const Tensor& x) { return detail::call<Tensor>(detail::op<"atan">, x); }
inline Tensor sinh(const Tensor& x) { return detail::call<Tensor>(detail::op<"sinh">, x); }
inline Tensor cosh(const Tensor& x) { return detail::call<Tensor>(detail::op<"cosh">, x); }
inline Tensor tanh(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanh">, x); }
inline Tensor asinh(const Tensor& x) { return detail::call<Tensor>(detail::op<"asinh">, x); }
inline Tensor acosh(const Tensor& x) { return detail::call<Tensor>(detail::op<"acosh">, x); }
inline Tensor atanh(const Tensor& x) { return detail::call<Tensor>(detail::op<"atanh">, x); }
inline Tensor erf(const Tensor& x) { return detail::call<Tensor>(detail::op<"erf">, x); }
inline Tensor erfc(const Tensor& x) { return detail::call<Tensor>(detail::op<"erfc">, x); }

// Activations.
inline Tensor sigmoid(const Tensor& x) { return detail::call<Tensor>(detail::op<"sigmoid">, x); }
inline Tensor log_sigmoid(const Tensor& x) { return detail::call<Tensor>(detail::op<"log_sigmoid">, x); }
inline Tensor relu(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu">, x); }
inline Tensor relu6(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu6">, x); }
inline Tensor hardtanh(const Tensor& x, Number min_val = -1, Number max_val = 1) { return detail::call<Tensor>(detail::op<"hardtanh">, x, min_val, max_val); }
inline Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01) { return detail::call<Tensor>(detail::op<"leaky_relu">, x, negative_slope); }
inline Tensor prelu(const Tensor& x, const Tensor& weight) { return detail::call<Tensor>(detail::op<"prelu">, x, weight); }
inline Tensor elu(const Tensor& x, double alpha = 1) { return detail::call<Tensor>(detail::op<"elu">, x, alpha); }
inline Tensor celu(const Tensor& x, double alpha = 1) { return detail::call<Tensor>(detail::op<"celu">, x, alpha); }
inline Tensor selu(const Tensor& x) { return detail::call<Tensor>(detail::op<"selu">, x); }
inline Tensor gelu(const Tensor& x, const char* approximate = "none") { return detail::call<Tensor>(detail::op<"gelu">, x, approximate); }
inline Tensor silu(const Tensor& x) { return detail::call<Tensor>(detail::op<"silu">, x); }
inline Tensor mish(const Tensor& x) { return detail::call<Tensor>(detail::op<"mish">, x); }
inline Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20) { return detail::call<Tensor>(detail::op<"softplus">, x, beta, threshold); }
inline Tensor softsign(const Tensor& x) { return detail::call<Tensor>(detail::op<"softsign">, x); }
inline Tensor hardsigmoid(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardsigmoid">, x); }
inline Tensor hardswish(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardswish">, x); }
inline Tensor softshrink(const Tensor& x, double lambd = 0.5) { return detail::call<Tensor>(detail::op<"softshrink">, x, lambd); }
inline Tensor hardshrink(const Tensor& x, double lambd = 0.5) { return detail::call<Tensor>(detail::op<"hardshrink">, x, lambd); }
inline Tensor tanhshrink(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanhshrink">, x); }
inline Tensor threshold(const Tensor& x, Number threshold, Number value) { return detail::call<Tensor>(detail::op<"threshold">, x, threshold, value); }

// Bounds; min beats x, max beats both.
inline Tensor clamp(const Tensor& x, Number min, Number max) { return detail::call<Tensor>(detail::op<"clamp">, x, min, max); }
inline Tensor clamp_min(const Tensor& x, Number min) { return detail::call<Tensor>(detail::op<"clamp_min">, x, min); }
inline Tensor clamp_max(const Tensor& x, Number max) { return detail::call<Tensor>(detail::op<"clamp_max">, x, max); }

// Comparisons, logic and bits. The first two give bool tensors.
inline Tensor eq(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"eq">, x, y); }
inline Tensor ne(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"ne">, x, y); }
inline Tensor lt(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"lt">, x, y); }
inline Tensor le(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"le">, x, y); }
inline Tensor gt(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"gt">, x, y); }
inline Tensor ge(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"ge">, x, y); }
inline Tensor isnan(const Tensor& x) { return detail::call<Tensor>(detail::op<"isnan">, x); }
inline Tensor isinf(const Tensor& x) { return detail::call<Tensor>(detail::op<"isinf">, x); }
inline Tensor isfinite(const Tensor& x) { return detail::call<Tensor>(detail::op<"isfinite">, x); }
inline Tensor logical_and(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_and">, x, y); }
inline Tensor logical_or(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_or">, x, y); }
inline Tensor logical_xor(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_xor">, x, y); }
inline Tensor logical_not(const Tensor& x) { return detail::call<Tensor>(detail::op<"logical_not">, x); }
inline Tensor bitwise_and(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_and">, x, y); }
inline Tensor bitwise_or(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_or">, x, y); }
inline Tensor bitwise_xor(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_xor">, x, y); }
inline Tensor bitwise_not(const Tensor& x) { return detail::call<Tensor>(detail::op<"bitwise_not">, x); }
inline Tensor bitwise_left_shift(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_left_shift">, x, y); }
inline Tensor bitwise_right_shift(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_right_shift">, x, y); }

// Choices. `where` takes x where the condition holds, else y.
inline Tensor where(Operand condition, Operand x, Operand y) { return detail::call<Tensor>(detail::op<"where">, condition, x, y); }
inline Tensor masked_fill(const Tensor& x, const Tensor& mask, Operand value) { return detail::call<Tensor>(detail::op<"masked_fill">, x, mask, value); }
inline Tensor nan_to_num(const Tensor& x, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) { return detail::call<Tensor>(detail::op<"nan_to_num">, x, nan, posinf, neginf); }

// In place: the result is written to x, which keeps its dtype, and returned.
inline Tensor add_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"add_">, x, y); }
inline Tensor sub_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"sub_">, x, y); }
inline Tensor mul_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"mul_">, x, y); }
inline Tensor div_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"div_">, x, y); }
inline Tensor floor_divide_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"floor_divide_">, x, y); }
inline Tensor pow_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"pow_">, x, y); }
inline Tensor remainder_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"remainder_">, x, y); }
inline Tensor fmod_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"fmod_">, x, y); }
inline Tensor maximum_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"maximum_">, x, y); }
inline Tensor minimum_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"minimum_">, x, y); }
inline Tensor atan2_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"atan2_">, x, y); }
inline Tensor hypot_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"hypot_">, x, y); }
inline Tensor lerp_(const Tensor& x, const Tensor& end, Operand weight) { return detail::call<Tensor>(detail::op<"lerp_">, x, end, weight); }
inline Tensor addcmul_(const Tensor& x, const Tensor& tensor1, const Tensor& tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcmul_">, x, tensor1, tensor2, value); }
inline Tensor addcdiv_(const Tensor& x, const Tensor& tensor1, const Tensor& tensor2, Number value = 1) { return detail::call<Tensor>(detail::op<"addcdiv_">, x, tensor1, tensor2, value); }
inline Tensor neg_(const Tensor& x) { return detail::call<Tensor>(detail::op<"neg_">, x); }
inline Tensor abs_(const Tensor& x) { return detail::call<Tensor>(detail::op<"abs_">, x); }
inline Tensor sign_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sign_">, x); }
inline Tensor ceil_(const Tensor& x) { return detail::call<Tensor>(detail::op<"ceil_">, x); }
inline Tensor floor_(const Tensor& x) { return detail::call<Tensor>(detail::op<"floor_">, x); }
inline Tensor round_(const Tensor& x) { return detail::call<Tensor>(detail::op<"round_">, x); }
inline Tensor trunc_(const Tensor& x) { return detail::call<Tensor>(detail::op<"trunc_">, x); }
inline Tensor frac_(const Tensor& x) { return detail::call<Tensor>(detail::op<"frac_">, x); }
inline Tensor square_(const Tensor& x) { return detail::call<Tensor>(detail::op<"square_">, x); }
inline Tensor sqrt_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sqrt_">, x); }
inline Tensor rsqrt_(const Tensor& x) { return detail::call<Tensor>(detail::op<"rsqrt_">, x); }
inline Tensor reciprocal_(const Tensor& x) { return detail::call<Tensor>(detail::op<"reciprocal_">, x); }
inline Tensor exp_(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp_">, x); }
inline Tensor exp2_(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp2_">, x); }
inline Tensor expm1_(const Tensor& x) { return detail::call<Tensor>(detail::op<"expm1_">, x); }
inline Tensor log_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log_">, x); }
inline Tensor log1p_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log1p_">, x); }
inline Tensor log2_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log2_">, x); }
inline Tensor log10_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log10_">, x); }
inline Tensor sin_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sin_">, x); }
inline Tensor cos_(const Tensor& x) { return detail::call<Tensor>(detail::op<"cos_">, x); }
inline Tensor tan_(const Tensor& x) { return detail::call<Tensor>(detail::op<"tan_">, x); }
inline Tensor asin_(const Tensor& x) { return detail::call<Tensor>(detail::op<"asin_">, x); }
inline Tensor acos_(const Tensor& x) { return detail::call<Tensor>(detail::op<"acos_">, x); }
inline Tensor atan_(const Tensor& x) { return detail::call<Tensor>(detail::op<"atan_">, x); }
inline Tensor sinh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sinh_">, x); }
inline Tensor cosh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"cosh_">, x); }
inline Tensor tanh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanh_">, x); }
inline Tensor asinh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"asinh_">, x); }
inline Tensor acosh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"acosh_">, x); }
inline Tensor atanh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"atanh_">, x); }
inline Tensor erf_(const Tensor& x) { return detail::call<Tensor>(detail::op<"erf_">, x); }
inline Tensor erfc_(const Tensor& x) { return detail::call<Tensor>(detail::op<"erfc_">, x); }
inline Tensor sigmoid_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sigmoid_">, x); }
inline Tensor relu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu_">, x); }
inline Tensor relu6_(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu6_">, x); }
inline Tensor hardtanh_(const Tensor& x, Number min_val = -1, Number max_val = 1) { return detail::call<Tensor>(detail::op<"hardtanh_">, x, min_val, max_val); }
inline Tensor leaky_relu_(const Tensor& x, double negative_slope = 0.01) { return detail::call<Tensor>(detail::op<"leaky_relu_">, x, negative_slope); }
inline Tensor elu_(const Tensor& x, double alpha = 1) { return detail::call<Tensor>(detail::op<"elu_">, x, alpha); }
inline Tensor celu_(const Tensor& x, double alpha = 1) { return detail::call<Tensor>(detail::op<"celu_">, x, alpha); }
inline Tensor selu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"selu_">, x); }
inline Tensor gelu_(const Tensor& x, const char* approximate = "none") { return detail::call<Tensor>(detail::op<"gelu_">, x, approximate); }
inline Tensor silu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"silu_">, x); }
inline Tensor mish_(const Tensor& x) { return detail::call<Tensor>(detail::op<"mish_">, x); }
inline Tensor hardsigmoid_(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardsigmoid_">, x); }
inline Tensor hardswish_(const Tensor& x) { return detail::call<Tensor>(detail::op<"hardswish_">, x); }
inline Tensor threshold_(const Tensor& x, Number threshold, Number value) { return detail::call<Tensor>(detail::op<"threshold_">, x, threshold, value); }
inline Tensor clamp_(const Tensor& x, Number min, Number max) { return detail::call<Tensor>(detail::op<"clamp_">, x, min, max); }
inline Tensor clamp_min_(const Tensor& x, Number min) { return detail::call<Tensor>(detail::op<"clamp_min_">, x, min); }
inline Tensor clamp_max_(const Tensor& x, Number max) { return detail::call<Tensor>(detail::op<"clamp_max_">, x, max); }
inline Tensor eq_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"eq_">, x, y); }
inline Tensor ne_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"ne_">, x, y); }
inline Tensor lt_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"lt_">, x, y); }
inline Tensor le_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"le_">, x, y); }
inline Tensor gt_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"gt_">, x, y); }
inline Tensor ge_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"ge_">, x, y); }
inline Tensor logical_and_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"logical_and_">, x, y); }
inline Tensor logical_or_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"logical_or_">, x, y); }
inline Tensor logical_xor_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"logical_xor_">, x, y); }
inline Tensor logical_not_(const Tensor& x) { return detail::call<Tensor>(detail::op<"logical_not_">, x); }
inline Tensor bitwise_and_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_and_">, x, y); }
inline Tensor bitwise_or_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_or_">, x, y); }
inline Tensor bitwise_xor_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_xor_">, x, y); }
inline Tensor bitwise_not_(const Tensor& x) { return detail::call<Tensor>(detail::op<"bitwise_not_">, x); }
inline Tensor bitwise_left_shift_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_left_shift_">, x, y); }
inline Tensor bitwise_right_shift_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_right_shift_">, x, y); }
inline Tensor masked_fill_(const Tensor& x, const Tensor& mask, Operand value) { return detail::call<Tensor>(detail::op<"masked_fill_">, x, mask, value); }
inline Tensor nan_to_num_(const Tensor& x, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) { return detail::call<Tensor>(detail::op<"nan_to_num_">, x, nan, posinf, neginf); }

// Overloads: an argument that most calls leave out chooses an op of its own, so that those stay as
// fast as they are.
// x + alpha * y, x - alpha * y
inline Tensor add(Operand x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_add_scaled">, x, y, alpha); }
inline Tensor sub(Operand x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_sub_scaled">, x, y, alpha); }
inline Tensor add_(const Tensor& x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_add_scaled_">, x, y, alpha); }
inline Tensor sub_(const Tensor& x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_sub_scaled_">, x, y, alpha); }
// Bounds that are tensors, or none.
inline Tensor clamp(const Tensor& x, const Tensor& min, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_to_tensors">, x, min, max); }
inline Tensor clamp_min(const Tensor& x, const Tensor& min) { return detail::call<Tensor>(detail::op<"_clamp_min_to_tensor">, x, min); }
inline Tensor clamp_max(const Tensor& x, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_max_to_tensor">, x, max); }
inline Tensor clamp(const Tensor& x, Number min, None = none) { return clamp_min(x, min); }
inline Tensor clamp(const Tensor& x, None, Number max) { return clamp_max(x, max); }
inline Tensor clamp(const Tensor& x, const Tensor& min, None = none) { return clamp_min(x, min); }
inline Tensor clamp(const Tensor& x, None, const Tensor& max) { return clamp_max(x, max); }
inline Tensor clamp_(const Tensor& x, const Tensor& min, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_to_tensors_">, x, min, max); }
inline Tensor clamp_min_(const Tensor& x, const Tensor& min) { return detail::call<Tensor>(detail::op<"_clamp_min_to_tensor_">, x, min); }
inline Tensor clamp_max_(const Tensor& x, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_max_to_tensor_">, x, max); }
inline Tensor clamp_(const Tensor& x, Number min, None = none) { return clamp_min_(x, min); }
inline Tensor clamp_(const Tensor& x, None, Number max) { return clamp_max_(x, max); }
inline Tensor clamp_(const Tensor& x, const Tensor& min, None = none) { return clamp_min_(x, min); }
inline Tensor clamp_(const Tensor& x, None, const Tensor& max) { return clamp_max_(x, max); }

namespace detail {
inline Tensor truncated_quotient(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_quotient">, x, y); }
inline Tensor truncated_int_quotient(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_int_quotient">, x, y); }
inline Tensor truncated_quotient_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_quotient_">, x, y); }
inline Tensor truncated_int_quotient_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_int_quotient_">, x, y); }
inline bool is_float(const Operand& x) { return x.is_tensor() ? x.tensor().dtype().is_float() : x.value().kind == TN_KIND_FLOAT; }
[[noreturn, gnu::cold, gnu::noinline]] inline void wrong_rounding_mode(std::string_view mode) {
  fail(joined({"div: rounding_mode is '", mode, "'; expected 'trunc', 'floor' or none"}));
}
}  // namespace detail
// The quotient rounded: "trunc" towards zero, "floor" downwards. Integers stay integers.
inline Tensor div(Operand x, Operand y, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div(x, y);
  if (*rounding_mode == "floor") return floor_divide(x, y);
  if (*rounding_mode != "trunc") detail::wrong_rounding_mode(*rounding_mode);
  return detail::is_float(x) || detail::is_float(y) ? detail::truncated_quotient(x, y) : detail::truncated_int_quotient(x, y);
}
inline Tensor div_(const Tensor& x, Operand y, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div_(x, y);
  if (*rounding_mode == "floor") return floor_divide_(x, y);
  if (*rounding_mode != "trunc") detail::wrong_rounding_mode(*rounding_mode);
  return detail::is_float(x) || detail::is_float(y) ? detail::truncated_quotient_(x, y) : detail::truncated_int_quotient_(x, y);
}

// Operators. There is no !x: see Tensor::defined and logical_not.
inline Tensor operator+(Operand x, Operand y) { return add(x, y); }
inline Tensor operator-(Operand x, Operand y) { return sub(x, y); }
inline Tensor operator*(Operand x, Operand y) { return mul(x, y); }
inline Tensor operator/(Operand x, Operand y) { return div(x, y); }
inline Tensor operator%(Operand x, Operand y) { return remainder(x, y); }
inline Tensor operator&(Operand x, Operand y) { return bitwise_and(x, y); }
inline Tensor operator|(Operand x, Operand y) { return bitwise_or(x, y); }
inline Tensor operator^(Operand x, Operand y) { return bitwise_xor(x, y); }
inline Tensor operator==(Operand x, Operand y) { return eq(x, y); }
inline Tensor operator!=(Operand x, Operand y) { return ne(x, y); }
inline Tensor operator<(Operand x, Operand y) { return lt(x, y); }
inline Tensor operator<=(Operand x, Operand y) { return le(x, y); }
inline Tensor operator>(Operand x, Operand y) { return gt(x, y); }
inline Tensor operator>=(Operand x, Operand y) { return ge(x, y); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator~(const Tensor& x) { return bitwise_not(x); }

}  // namespace v0
}  // namespace tenon
