// The group 'matmul' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
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
inline Tensor matmul(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"matmul">, {a, b}); }
// a [m, k] times b [k, n].
inline Tensor mm(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"mm">, {a, b}); }
// a [batch, m, k] times b [batch, k, n].
inline Tensor bmm(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"bmm">, {a, b}); }
// a [m, k] times b [k].
inline Tensor mv(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"mv">, {a, b}); }
// The sum of a [n] * b [n].
inline Tensor dot(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"dot">, {a, b}); }
// All products of an element of a [m] with one of b [n]: [m, n].
inline Tensor outer(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"outer">, {a, b}); }
// beta * x + alpha * (a [m, k] times b [k, n]). x broadcasts, and is not read where beta is 0.
inline Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"addmm">, {x, a, b, beta, alpha}); }
struct AddmmOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta = 1.0;
  Float alpha = 1.0;
};
template <std::same_as<AddmmOptions> O = AddmmOptions>
inline Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"addmm">, {x, a, b, options.beta, options.alpha}); }
// beta * x + alpha * (a [batch, m, k] times b [batch, k, n]). x broadcasts, and is not read where
// beta is 0.
inline Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"baddbmm">, {x, a, b, beta, alpha}); }
using BaddbmmOptions = AddmmOptions;
template <std::same_as<BaddbmmOptions> O = BaddbmmOptions>
inline Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"baddbmm">, {x, a, b, options.beta, options.alpha}); }
// beta * x + alpha * (a [m, k] times b [k]). x broadcasts, and is not read where beta is 0.
inline Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"addmv">, {x, a, b, beta, alpha}); }
using AddmvOptions = AddmmOptions;
template <std::same_as<AddmvOptions> O = AddmvOptions>
inline Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"addmv">, {x, a, b, options.beta, options.alpha}); }
// beta * x + alpha * outer(a [m], b [n]). x broadcasts, and is not read where beta is 0.
inline Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"addr">, {x, a, b, beta, alpha}); }
using AddrOptions = AddmmOptions;
template <std::same_as<AddrOptions> O = AddrOptions>
inline Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"addr">, {x, a, b, options.beta, options.alpha}); }
// beta * x + alpha * the sum over the batch of a [batch, m, k] times b [batch, k, n]. x broadcasts,
// and is not read where beta is 0.
inline Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) { return detail::call<Tensor>(detail::op<"addbmm">, {x, a, b, beta, alpha}); }
using AddbmmOptions = AddmmOptions;
template <std::same_as<AddbmmOptions> O = AddbmmOptions>
inline Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"addbmm">, {x, a, b, options.beta, options.alpha}); }
// Sums of products by an equation, as "bij,bjk->bik": over letters that the result has not, along
// diagonals of letters that an operand has twice. "..." broadcasts.
inline Tensor einsum(TextRef equation, const Tensors& xs) { return detail::call<Tensor>(detail::op<"einsum">, {equation, xs}); }
// sum(x1[i] * weight[:, i, j] * x2[j]) for weight [out, m, n], plus bias [out].
inline Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"bilinear">, {x1, x2, weight, bias}); }
struct BilinearOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor bias = {};
};
template <std::same_as<BilinearOptions> O = BilinearOptions>
inline Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"bilinear">, {x1, x2, weight, options.bias}); }
// x [.., in] times weight [out, in] transposed, plus bias [out].
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear">, {x, weight, bias}); }
using LinearOptions = BilinearOptions;
template <std::same_as<LinearOptions> O = LinearOptions>
inline Tensor linear(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"linear">, {x, weight, options.bias}); }
// relu(linear(x, weight, bias)), one kernel where a device has it.
inline Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) { return detail::call<Tensor>(detail::op<"linear_relu">, {x, weight, bias}); }
using LinearReluOptions = BilinearOptions;
template <std::same_as<LinearReluOptions> O = LinearReluOptions>
inline Tensor linear_relu(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"linear_relu">, {x, weight, options.bias}); }
// Sums of products over dims_a of a with dims_b of b, which broadcast: [the other sizes of a.., of
// b..]. The default is PyTorch's dims=2.
inline Tensor tensordot(const Tensor& a, const Tensor& b, Ints dims_a = {-2, -1}, Ints dims_b = {0, 1}) { return detail::call<Tensor>(detail::op<"tensordot">, {a, b, dims_a, dims_b}); }
struct TensordotOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dims_a = {-2, -1};
  KeptInts dims_b = {0, 1};
};
template <std::same_as<TensordotOptions> O = TensordotOptions>
inline Tensor tensordot(const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"tensordot">, {a, b, options.dims_a, options.dims_b}); }
// The Kronecker product: each element of a times b, [a.size(d) * b.size(d), ..].
inline Tensor kron(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"kron">, {a, b}); }
// The vector product along dim, whose size is 3; None: the first of size 3. The others broadcast.
inline Tensor cross(const Tensor& a, const Tensor& b, std::optional<Int> dim = {}) { return detail::call<Tensor>(detail::op<"cross">, {a, b, dim}); }
struct CrossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
};
template <std::same_as<CrossOptions> O = CrossOptions>
inline Tensor cross(const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"cross">, {a, b, options.dim}); }
// Sums of products over the last dimensions of a [.., n] and b [.., n]: [the other sizes of a.., of
// b..]. a * b where one has no dimensions.
inline Tensor inner(const Tensor& a, const Tensor& b) { return detail::call<Tensor>(detail::op<"inner">, {a, b}); }
// The sum of x * y along dim. The two broadcast.
inline Tensor vecdot(const Tensor& x, const Tensor& y, Int dim = -1) { return detail::call<Tensor>(detail::op<"vecdot">, {x, y, dim}); }
struct VecdotOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
};
template <std::same_as<VecdotOptions> O = VecdotOptions>
inline Tensor vecdot(const Tensor& x, const Tensor& y, const O& options) { return detail::call<Tensor>(detail::op<"vecdot">, {x, y, options.dim}); }
// The sum of the diagonal of x [n, m]; of integers and bool in int64.
inline Tensor trace(const Tensor& x) { return detail::call<Tensor>(detail::op<"trace">, {x}); }
// Norms of the matrices of the two dimensions: Frobenius' for None, the greatest sum of absolute
// values of a column (1) or a row (inf), or the least (-1, -inf).
struct MatrixNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> ord = {};
  KeptInts dim = {-2, -1};
  bool keepdim = false;
};
inline Tensor matrix_norm(const Tensor& x, const MatrixNormOptions& options = {}) { return detail::call<Tensor>(detail::op<"matrix_norm">, {x, options.ord, options.dim, options.keepdim}); }
template <detail::Placed<std::optional<Float>> P>
Tensor matrix_norm(const Tensor& x, const P& ord, Ints dim = {-2, -1}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"matrix_norm">, {x, std::optional<Float>(ord), dim, keepdim}); }
template <detail::Placed<std::optional<Float>> P1, detail::PlacedOr<KeptInts, MatrixNormOptions> P2 = MatrixNormOptions, detail::PlacedOr<Bool, MatrixNormOptions> P3 = MatrixNormOptions>
Tensor matrix_norm(const Tensor& x, const P1& ord, const P2& dim, const P3& keepdim = detail::unset<P3>()) { return matrix_norm(x, detail::behind<MatrixNormOptions, 4, 1>("matrix_norm", ord, dim, keepdim)); }
// The product of all matrices xs, in the order of the fewest multiplications. The first and the
// last may be vectors.
inline Tensor multi_dot(const Tensors& xs) { return detail::call<Tensor>(detail::op<"multi_dot">, {xs}); }
// The product of n times the square matrices x [.., m, m]; the identity for 0.
inline Tensor matrix_power(const Tensor& x, Int n) { return detail::call<Tensor>(detail::op<"matrix_power">, {x, n}); }
// Vandermonde's matrix [m, N] of x [m]: column k is x to the power N - 1 - k, or k where
// increasing. N None: m. Integers and bool become int64.
inline Tensor vander(const Tensor& x, std::optional<Int> N = {}, Bool increasing = false) { return detail::call<Tensor>(detail::op<"vander">, {x, N, increasing}); }
struct VanderOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> N = {};
  bool increasing = false;
};
template <std::same_as<VanderOptions> O = VanderOptions>
inline Tensor vander(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"vander">, {x, options.N, options.increasing}); }
// linear(activation(linear(x, weight1, bias1)), weight2, bias2) for x [.., in], weight1 [hidden,
// in] and weight2 [out, hidden], each product with what follows it in one kernel where a device has
// that. activation is "relu", "gelu" or "gelu_tanh", gelu's approximation. All have one dtype, in
// which the hidden values are rounded.
inline Tensor feed_forward(const Tensor& x, const Tensor& weight1, const Tensor& bias1, const Tensor& weight2, const Tensor& bias2, TextRef activation = "relu") { return detail::call<Tensor>(detail::op<"feed_forward">, {x, weight1, bias1, weight2, bias2, activation}); }
struct FeedForwardOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string activation = "relu";
};
template <std::same_as<FeedForwardOptions> O = FeedForwardOptions>
inline Tensor feed_forward(const Tensor& x, const Tensor& weight1, const Tensor& bias1, const Tensor& weight2, const Tensor& bias2, const O& options) { return detail::call<Tensor>(detail::op<"feed_forward">, {x, weight1, bias1, weight2, bias2, options.activation}); }

}  // namespace v0
}  // namespace tenon
