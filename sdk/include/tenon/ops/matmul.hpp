// Matrix products. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// [m, k]·[k, n], batched over leading dimensions, which broadcast; vectors as numpy.matmul and
// PyTorch take them.
inline Tensor matmul(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"matmul">, a, b); }
// Of two matrices, of two batches of matrices, of a matrix and a vector, of two vectors: with
// themselves, and with each other.
inline Tensor mm(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"mm">, a, b); }
inline Tensor bmm(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"bmm">, a, b); }
inline Tensor mv(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"mv">, a, b); }
inline Tensor dot(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"dot">, a, b); }
inline Tensor outer(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"outer">, a, b); }
// beta x + alpha a·b; x broadcasts, and is not read where beta is 0.
inline Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1) { return detail::call<Tensor>(detail::op<"addmm">, x, a, b, beta, alpha); }
inline Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1) { return detail::call<Tensor>(detail::op<"baddbmm">, x, a, b, beta, alpha); }
// "bij,bjk->bik": sums over what the result has not, diagonals of what an operand has twice; "..."
// broadcasts.
inline Tensor einsum(const char* equation, const Tensors& xs) { return detail::call<Tensor>(detail::op<"einsum">, equation, xs); }
// x [.., in]·weight [out, in] transposed, + bias [out].
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear">, x, weight, bias); }
// relu(linear(..)), one kernel where a device has it.
inline Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear_relu">, x, weight, bias); }

}  // namespace v0
}  // namespace tenon
