// Operators of tensors and numbers.
#pragma once

#include "tenon/ops/elementwise.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Operators. There is no !x: see Tensor::defined and logical_not.
inline Tensor operator+(Operand x, Operand y) { return add(x, y); }
inline Tensor operator-(Operand x, Operand y) { return sub(x, y); }
inline Tensor operator*(Operand x, Operand y) { return mul(x, y); }
inline Tensor operator/(Operand x, Operand y) { return div(x, y); }
inline Tensor operator%(Operand x, Operand y) { return remainder(x, y); }
inline Tensor operator&(Operand x, Operand y) { return bitwise_and(x, y); }
inline Tensor operator|(Operand x, Operand y) { return bitwise_or(x, y); }
inline Tensor operator^(Operand x, Operand y) { return bitwise_xor(x, y); }
inline Tensor operator<<(Operand x, Operand y) { return bitwise_left_shift(x, y); }
inline Tensor operator>>(Operand x, Operand y) { return bitwise_right_shift(x, y); }
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
