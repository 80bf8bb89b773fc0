// Matrix products. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// [m, k]·[k, n], batched over leading dimensions, which broadcast; vectors as numpy.matmul and PyTorch take them.
inline Tensor matmul(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"matmul">, a, b); }
// x [.., in]·weight [out, in] transposed, + bias [out].
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear">, x, weight, bias); }
// relu(linear(..)), one kernel where a device has it.
inline Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear_relu">, x, weight, bias); }

}  // namespace v0
}  // namespace tenon
