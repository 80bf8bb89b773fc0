// The group 'matmul' of the plugin 'ops', written by `tenon header`: changes belong into the
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

// a [.., m, k] times b [.., k, n]; leading dimensions broadcast, and vectors are taken as
// numpy.matmul takes them.
inline Tensor matmul(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"matmul">, a, b); }
// a [m, k] times b [k, n].
inline Tensor mm(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"mm">, a, b); }
// a [batch, m, k] times b [batch, k, n].
inline Tensor bmm(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"bmm">, a, b); }
// a [m, k] times b [k].
inline Tensor mv(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"mv">, a, b); }
// The sum of a [n] * b [n].
inline Tensor dot(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"dot">, a, b); }
// All products of an element of a [m] with one of b [n]: [m, n].
inline Tensor outer(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"outer">, a, b); }
// beta * x + alpha * (a [m, k] times b [k, n]). x broadcasts, and is not read where beta is 0.
inline Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"addmm">, x, a, b, beta, alpha); }
// beta * x + alpha * (a [batch, m, k] times b [batch, k, n]). x broadcasts, and is not read where
// beta is 0.
inline Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"baddbmm">, x, a, b, beta, alpha); }
// Sums of products by an equation, as "bij,bjk->bik": over letters that the result has not, along
// diagonals of letters that an operand has twice. "..." broadcasts.
inline Tensor einsum(const char* equation, const Tensors& xs) { return detail::call<Tensor>(detail::op<"einsum">, equation, xs); }
// x [.., in] times weight [out, in] transposed, plus bias [out].
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear">, x, weight, bias); }
// relu(linear(x, weight, bias)), one kernel where a device has it.
inline Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear_relu">, x, weight, bias); }

}  // namespace v0
}  // namespace tenon
