// PyTorch's other names of ops: multiply for mul, moveaxis for movedim; and tensors one behind the
// other where PyTorch takes them without a list. Each is a call of the op that
// it is another name of, whose header says the rest, and whose name errors have. (rsub is sub with its
// operands in each other's place.)
#pragma once

#include "tenon/ops/by_hand.hpp"
#include "tenon/ops/loss.hpp"
#include "tenon/ops/norm.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor subtract(Operand x, Operand y, Number alpha = 1) { return sub(x, y, alpha); }
inline Tensor rsub(Operand x, Operand y, Number alpha = 1) { return sub(y, x, alpha); }
inline Tensor multiply(Operand x, Operand y) { return mul(x, y); }
inline Tensor divide(Operand x, Operand y, std::optional<std::string> rounding_mode = {}) { return div(x, y, std::move(rounding_mode)); }
template <std::same_as<DivOptions> O = DivOptions>
inline Tensor divide(Operand x, Operand y, const O& options) { return div(x, y, options); }
inline Tensor true_divide(Operand x, Operand y) { return div(x, y); }
inline Tensor negative(const Tensor& x) { return neg(x); }
inline Tensor absolute(const Tensor& x) { return abs(x); }
inline Tensor sgn(const Tensor& x) { return sign(x); }
inline Tensor fix(const Tensor& x) { return trunc(x); }
inline Tensor clip(const Tensor& x, Operand min, Operand max = none) { return clamp(x, min, max); }
template <std::same_as<ClampOptions> O = ClampOptions>
inline Tensor clip(const Tensor& x, const O& options) { return clamp(x, options); }

inline Tensor greater(Operand x, Operand y) { return gt(x, y); }
inline Tensor greater_equal(Operand x, Operand y) { return ge(x, y); }
inline Tensor less(Operand x, Operand y) { return lt(x, y); }
inline Tensor less_equal(Operand x, Operand y) { return le(x, y); }
inline Tensor not_equal(Operand x, Operand y) { return ne(x, y); }

inline Tensor arccos(const Tensor& x) { return acos(x); }
inline Tensor arccosh(const Tensor& x) { return acosh(x); }
inline Tensor arcsin(const Tensor& x) { return asin(x); }
inline Tensor arcsinh(const Tensor& x) { return asinh(x); }
inline Tensor arctan(const Tensor& x) { return atan(x); }
inline Tensor arctan2(Operand y, Operand x) { return atan2(y, x); }
inline Tensor arctanh(const Tensor& x) { return atanh(x); }

inline Tensor expit(const Tensor& x) { return sigmoid(x); }
inline Tensor logsigmoid(const Tensor& x) { return log_sigmoid(x); }
inline Tensor gammaln(const Tensor& x) { return lgamma(x); }
inline Tensor gammainc(const Tensor& a, const Tensor& x) { return igamma(a, x); }
inline Tensor gammaincc(const Tensor& a, const Tensor& x) { return igammac(a, x); }
inline Tensor multigammaln(const Tensor& x, Int p) { return mvlgamma(x, p); }
inline Tensor psi(const Tensor& x) { return digamma(x); }

inline Tensor moveaxis(const Tensor& x, Ints source, Ints destination) { return movedim(x, source, destination); }
inline Tensor swapaxes(const Tensor& x, Int axis0, Int axis1) { return transpose(x, axis0, axis1); }
inline Tensor swapdims(const Tensor& x, Int dim0, Int dim1) { return transpose(x, dim0, dim1); }
inline Tensor ravel(const Tensor& x) { return x.flatten(); }
inline Tensor trapz(const Tensor& y, const Tensor& x = {}, const TrapezoidOptions& options = {}) { return trapezoid(y, x, options); }
template <detail::Placed<Float> P>
Tensor trapz(const Tensor& y, const P& dx, Int dim = -1) { return trapezoid(y, dx, dim); }
inline Tensor constant_pad_nd(const Tensor& x, Ints pad, Number value = 0) { return tenon::pad(x, pad, "constant", value); }
inline Tensor argwhere(const Tensor& x) { return nonzero(x); }
inline Tensor msort(const Tensor& x) { return sort(x, 0).values(); }
inline Tensor concat(const Tensors& xs, Int dim = 0) { return cat(xs, dim); }
inline Tensor concatenate(const Tensors& xs, Int dim = 0) { return cat(xs, dim); }
inline Tensor row_stack(const Tensors& xs) { return vstack(xs); }

template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
Tensor softmax(const Tensor& x, Int dim, const O& options) { return x.softmax(dim, options); }
template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
Tensor log_softmax(const Tensor& x, Int dim, const O& options) { return x.log_softmax(dim, options); }

// Lengths as lists of numbers.
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, Ints input_lengths, Ints target_lengths, const CtcLossOptions& options = {}) {
  return ctc_loss(log_probs, targets, Tensor::from(input_lengths.vec()), Tensor::from(target_lengths.vec()), options);
}
template <detail::Placed<Int> P>
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, Ints input_lengths, Ints target_lengths, const P& blank, TextRef reduction = "mean", Bool zero_infinity = false) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, CtcLossOptions{.blank = blank, .reduction = reduction.c_str(), .zero_infinity = zero_infinity});
}

// The sum of products of two vectors.
inline Tensor vdot(const Tensor& x, const Tensor& y) { return dot(x, y); }
// Each element of one vector times each of another.
inline Tensor ger(const Tensor& a, const Tensor& b) { return outer(a, b); }
inline Tensor chain_matmul(const Tensors& xs) { return multi_dot(xs); }
// Of square matrices [.., n, n], by the plugin `linalg` (linalg.hpp): the determinant and its logarithm,
// and the inverse.
inline Tensor det(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.det">, {a}); }
inline Tensor logdet(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.logdet">, {a}); }
inline Tensor inverse(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.inv">, {a}); }

template <detail::TensorLike... T>
requires(sizeof...(T) > 0)
Tensor einsum(TextRef equation, const T&... xs) { return einsum(equation, Tensors{xs...}); }
template <detail::TensorLike... T>
requires(sizeof...(T) > 0)
Tensor block_diag(const T&... xs) { return block_diag(Tensors{xs...}); }
template <detail::TensorLike... T>
requires(sizeof...(T) > 0)
Tensor cartesian_prod(const T&... xs) { return cartesian_prod(Tensors{xs...}); }
// `auto [a, b] = broadcast_tensors(x, y);`
template <detail::TensorLike... T>
requires(sizeof...(T) > 0)
detail::TensorArray<sizeof...(T)> broadcast_tensors(const T&... xs) { return unpack<sizeof...(T)>(broadcast_tensors(Tensors{xs...}), "broadcast_tensors"); }

}  // namespace v0
}  // namespace tenon
// clang-format on
