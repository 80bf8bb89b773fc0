// Elementwise ops: each is one formula in plugins/ops/elementwise.cpp. A line here agrees with the
// op's schema in names, order and defaults; a test compares them.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Arithmetic. Operands broadcast and promote as PyTorch's; a number may stand for a tensor.
inline Tensor add(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"add">, x, y); }
inline Tensor sub(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"sub">, x, y); }
inline Tensor mul(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"mul">, x, y); }
inline Tensor div(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"div">, x, y); }
inline Tensor pow(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"pow">, x, y); }
inline Tensor maximum(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"maximum">, x, y); }
inline Tensor minimum(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"minimum">, x, y); }

// Functions of one tensor. Integers become float32 where the result is not an integer.
inline Tensor neg(const Tensor& x) { return detail::call<Tensor>(detail::op<"neg">, x); }
inline Tensor abs(const Tensor& x) { return detail::call<Tensor>(detail::op<"abs">, x); }
inline Tensor exp(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp">, x); }
inline Tensor log(const Tensor& x) { return detail::call<Tensor>(detail::op<"log">, x); }
inline Tensor sqrt(const Tensor& x) { return detail::call<Tensor>(detail::op<"sqrt">, x); }
inline Tensor rsqrt(const Tensor& x) { return detail::call<Tensor>(detail::op<"rsqrt">, x); }
inline Tensor square(const Tensor& x) { return detail::call<Tensor>(detail::op<"square">, x); }
inline Tensor tanh(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanh">, x); }
inline Tensor sigmoid(const Tensor& x) { return detail::call<Tensor>(detail::op<"sigmoid">, x); }
inline Tensor relu(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu">, x); }
inline Tensor gelu(const Tensor& x) { return detail::call<Tensor>(detail::op<"gelu">, x); }
inline Tensor leaky_relu(const Tensor& x, double slope = 0.01) { return detail::call<Tensor>(detail::op<"leaky_relu">, x, slope); }
inline Tensor softplus(const Tensor& x, double beta = 1) { return detail::call<Tensor>(detail::op<"softplus">, x, beta); }
inline Tensor clamp(const Tensor& x, Number low, Number high) { return detail::call<Tensor>(detail::op<"clamp">, x, low, high); }

// Comparisons and logic: bool tensors. `where` takes x where the condition holds, else y.
inline Tensor eq(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"eq">, x, y); }
inline Tensor ne(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"ne">, x, y); }
inline Tensor lt(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"lt">, x, y); }
inline Tensor le(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"le">, x, y); }
inline Tensor gt(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"gt">, x, y); }
inline Tensor ge(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"ge">, x, y); }
inline Tensor logical_and(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_and">, x, y); }
inline Tensor logical_or(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"logical_or">, x, y); }
inline Tensor logical_not(const Tensor& x) { return detail::call<Tensor>(detail::op<"logical_not">, x); }
inline Tensor isnan(const Tensor& x) { return detail::call<Tensor>(detail::op<"isnan">, x); }
inline Tensor bitwise_and(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"bitwise_and">, x, y); }
inline Tensor where(Operand condition, Operand x, Operand y) { return detail::call<Tensor>(detail::op<"where">, condition, x, y); }

// In place: the result is written to x, which keeps its dtype, and returned.
inline Tensor add_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"add_">, x, y); }
inline Tensor sub_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"sub_">, x, y); }
inline Tensor mul_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"mul_">, x, y); }
inline Tensor div_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"div_">, x, y); }
inline Tensor pow_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"pow_">, x, y); }
inline Tensor maximum_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"maximum_">, x, y); }
inline Tensor minimum_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"minimum_">, x, y); }
inline Tensor neg_(const Tensor& x) { return detail::call<Tensor>(detail::op<"neg_">, x); }
inline Tensor abs_(const Tensor& x) { return detail::call<Tensor>(detail::op<"abs_">, x); }
inline Tensor exp_(const Tensor& x) { return detail::call<Tensor>(detail::op<"exp_">, x); }
inline Tensor log_(const Tensor& x) { return detail::call<Tensor>(detail::op<"log_">, x); }
inline Tensor sqrt_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sqrt_">, x); }
inline Tensor rsqrt_(const Tensor& x) { return detail::call<Tensor>(detail::op<"rsqrt_">, x); }
inline Tensor square_(const Tensor& x) { return detail::call<Tensor>(detail::op<"square_">, x); }
inline Tensor tanh_(const Tensor& x) { return detail::call<Tensor>(detail::op<"tanh_">, x); }
inline Tensor sigmoid_(const Tensor& x) { return detail::call<Tensor>(detail::op<"sigmoid_">, x); }
inline Tensor relu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"relu_">, x); }
inline Tensor gelu_(const Tensor& x) { return detail::call<Tensor>(detail::op<"gelu_">, x); }
inline Tensor leaky_relu_(const Tensor& x, double slope = 0.01) { return detail::call<Tensor>(detail::op<"leaky_relu_">, x, slope); }
inline Tensor softplus_(const Tensor& x, double beta = 1) { return detail::call<Tensor>(detail::op<"softplus_">, x, beta); }
inline Tensor clamp_(const Tensor& x, Number low, Number high) { return detail::call<Tensor>(detail::op<"clamp_">, x, low, high); }

// Operators.
inline Tensor operator+(Operand x, Operand y) { return add(x, y); }
inline Tensor operator-(Operand x, Operand y) { return sub(x, y); }
inline Tensor operator*(Operand x, Operand y) { return mul(x, y); }
inline Tensor operator/(Operand x, Operand y) { return div(x, y); }
inline Tensor operator==(Operand x, Operand y) { return eq(x, y); }
inline Tensor operator!=(Operand x, Operand y) { return ne(x, y); }
inline Tensor operator<(Operand x, Operand y) { return lt(x, y); }
inline Tensor operator<=(Operand x, Operand y) { return le(x, y); }
inline Tensor operator>(Operand x, Operand y) { return gt(x, y); }
inline Tensor operator>=(Operand x, Operand y) { return ge(x, y); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace v0
}  // namespace tenon
