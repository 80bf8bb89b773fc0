// What the plugin 'linalg' brings, written by `tenon header`: changes belong into the plugin.
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
namespace linalg {

// The triangle l with l l^T = a for symmetric positive definite matrices a [.., n, n]; upper: u
// with u^T u = a. Reads that triangle of a alone.
inline Tensor cholesky(const Tensor& a, bool upper = false) { return detail::call<Tensor>(detail::op<"linalg.cholesky">, {a, upper}); }
struct CholeskyOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool upper = false;
};
inline Tensor cholesky(const Tensor& a, const CholeskyOptions& options) { return detail::call<Tensor>(detail::op<"linalg.cholesky">, {a, options.upper}); }
// q with orthonormal columns and the upper triangle r with q r = a [.., m, n]. mode: 'reduced' (q
// [.., m, k] with k the smaller of m and n), 'complete' (q [.., m, m]) or 'r' (q is empty).
inline std::tuple<Tensor, Tensor> qr(const Tensor& a, TextRef mode = "reduced") { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"linalg.qr">, {a, mode}); }
struct QrOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string mode = "reduced";
};
inline std::tuple<Tensor, Tensor> qr(const Tensor& a, const QrOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"linalg.qr">, {a, options.mode}); }
// l (below the diagonal, which is 1) and u of p l u = a [.., m, n] in one matrix, and the rows,
// from 1, with which LAPACK exchanged each row. Refuses singular matrices.
inline std::tuple<Tensor, Tensor> lu_factor(const Tensor& a) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"linalg.lu_factor">, {a}); }
// A permutation p, a lower triangle l with a diagonal of 1 and an upper triangle u with p l u = a
// [.., m, n].
inline std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& a) { return detail::call<std::tuple<Tensor, Tensor, Tensor>>(detail::op<"linalg.lu">, {a}); }
// x with a x = b [.., n, k] for the matrices of which lu_factor gave lu and pivots; x a = b without
// left; of a^T with adjoint.
inline Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left = true, bool adjoint = false) { return detail::call<Tensor>(detail::op<"linalg.lu_solve">, {lu, pivots, b, left, adjoint}); }
struct LuSolveOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
  bool adjoint = false;
};
inline Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, const LuSolveOptions& options) { return detail::call<Tensor>(detail::op<"linalg.lu_solve">, {lu, pivots, b, options.left, options.adjoint}); }
// x with a x = b [.., n, k] for triangles a [.., n, n], upper or lower; x a = b without left.
// unitriangular: the diagonal of a is taken to be 1. A 0 on it gives infinities and NaN.
inline Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true, bool unitriangular = false) { return detail::call<Tensor>(detail::op<"linalg.solve_triangular">, {a, b, upper, left, unitriangular}); }
struct SolveTriangularOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
  bool unitriangular = false;
};
inline Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, const SolveTriangularOptions& options) { return detail::call<Tensor>(detail::op<"linalg.solve_triangular">, {a, b, upper, options.left, options.unitriangular}); }
// x with a x = b [.., n, k], where l is the factor of Cholesky of a, or upper the upper one.
inline Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper = false) { return detail::call<Tensor>(detail::op<"linalg.cholesky_solve">, {b, l, upper}); }
using CholeskySolveOptions = CholeskyOptions;
inline Tensor cholesky_solve(const Tensor& b, const Tensor& l, const CholeskySolveOptions& options) { return detail::call<Tensor>(detail::op<"linalg.cholesky_solve">, {b, l, options.upper}); }
// The inverse of a, where l [.., n, n] is the factor of Cholesky of a, or the upper one.
inline Tensor cholesky_inverse(const Tensor& l, bool upper = false) { return detail::call<Tensor>(detail::op<"linalg.cholesky_inverse">, {l, upper}); }
using CholeskyInverseOptions = CholeskyOptions;
inline Tensor cholesky_inverse(const Tensor& l, const CholeskyInverseOptions& options) { return detail::call<Tensor>(detail::op<"linalg.cholesky_inverse">, {l, options.upper}); }
// The inverses of square matrices a [.., n, n]. Refuses singular ones.
inline Tensor inv(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.inv">, {a}); }
// x with a x = b for square matrices a [.., n, n] and b [.., n, k] or [.., n]; x a = b without
// left. Leading dimensions broadcast. Refuses singular matrices.
inline Tensor solve(const Tensor& a, const Tensor& b, bool left = true) { return detail::call<Tensor>(detail::op<"linalg.solve">, {a, b, left}); }
struct SolveOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
};
inline Tensor solve(const Tensor& a, const Tensor& b, const SolveOptions& options) { return detail::call<Tensor>(detail::op<"linalg.solve">, {a, b, options.left}); }
// x [.., n, k] for which the sum of squares of a x - b is least, for a [.., m, n] of full rank and
// b [.., m, k] or [.., m]; of several the shortest. residuals are those sums [.., k] where m > n,
// else empty. By QR factors; refuses matrices without full rank.
inline std::tuple<Tensor, Tensor> lstsq(const Tensor& a, const Tensor& b) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"linalg.lstsq">, {a, b}); }
// The determinants of square matrices a [.., n, n]. The gradient is there for singular ones too,
// the gradient of the gradient for others alone.
inline Tensor det(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.det">, {a}); }
// The signs of the determinants of a [.., n, n], and the logarithms of their absolute values: 0 and
// -inf for singular matrices, for which there is no gradient.
inline std::tuple<Tensor, Tensor> slogdet(const Tensor& a) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"linalg.slogdet">, {a}); }
// The logarithms of the determinants of a [.., n, n]: -inf for 0, NaN for negative ones.
inline Tensor logdet(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.logdet">, {a}); }
// The eigenvalues of symmetric matrices a [.., n, n] in ascending order, and their vectors as
// columns. uplo: the triangle that is read, 'L' or 'U'. The gradient of vectors is infinite or NaN
// where eigenvalues are equal.
inline std::tuple<Tensor, Tensor> eigh(const Tensor& a, TextRef uplo = "L") { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"linalg.eigh">, {a, uplo}); }
struct EighOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string uplo = "L";
};
inline std::tuple<Tensor, Tensor> eigh(const Tensor& a, const EighOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"linalg.eigh">, {a, options.uplo}); }
// The eigenvalues of symmetric matrices a [.., n, n] in ascending order.
inline Tensor eigvalsh(const Tensor& a, TextRef uplo = "L") { return detail::call<Tensor>(detail::op<"linalg.eigvalsh">, {a, uplo}); }
using EigvalshOptions = EighOptions;
inline Tensor eigvalsh(const Tensor& a, const EigvalshOptions& options) { return detail::call<Tensor>(detail::op<"linalg.eigvalsh">, {a, options.uplo}); }
// u diag(s) vh = a [.., m, n] with orthonormal columns of u [.., m, m], orthonormal rows of vh [..,
// n, n] and s [.., k] in descending order, k the smaller of m and n; without full_matrices u [..,
// m, k] and vh [.., k, n]. The gradient of u and vh is infinite or NaN where singular values are
// equal.
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a, bool full_matrices = true) { return detail::call<std::tuple<Tensor, Tensor, Tensor>>(detail::op<"linalg.svd">, {a, full_matrices}); }
struct SvdOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool full_matrices = true;
};
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a, const SvdOptions& options) { return detail::call<std::tuple<Tensor, Tensor, Tensor>>(detail::op<"linalg.svd">, {a, options.full_matrices}); }
// The singular values of a [.., m, n] in descending order.
inline Tensor svdvals(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.svdvals">, {a}); }
// The pseudo-inverses [.., n, m] of a [.., m, n]. Singular values up to atol or rtol times the
// greatest count as 0; rtol is the greater of m and n times the dtype's epsilon where neither is
// given. hermitian: a is symmetric.
struct PinvOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> atol = {};
  std::optional<Float> rtol = {};
  bool hermitian = false;
};
inline Tensor pinv(const Tensor& a, const PinvOptions& options = {}) { return detail::call<Tensor>(detail::op<"linalg.pinv">, {a, options.atol, options.rtol, options.hermitian}); }
// How many singular values of a [.., m, n] count as more than 0, by the tolerances of pinv.
using MatrixRankOptions = PinvOptions;
inline Tensor matrix_rank(const Tensor& a, const MatrixRankOptions& options = {}) { return detail::call<Tensor>(detail::op<"linalg.matrix_rank">, {a, options.atol, options.rtol, options.hermitian}); }
// The condition numbers of a [.., m, n]: for None and 2 the quotient of the greatest and the least
// singular value, its inverse for -2; for 1, -1, inf and -inf the norm of a times that of its
// inverse, inf where there is none.
inline Tensor cond(const Tensor& a, std::optional<Float> p = {}) { return detail::call<Tensor>(detail::op<"linalg.cond">, {a, p}); }
// Norms of the matrices of the two dims: the greatest singular value (2) or the least (-2), and for
// None, 1, -1, inf and -inf what the standard matrix_norm gives.
struct MatrixNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> p = {};
  KeptInts dims = {-2, -1};
  bool keepdim = false;
};
inline Tensor matrix_norm(const Tensor& a, const MatrixNormOptions& options = {}) { return detail::call<Tensor>(detail::op<"linalg.matrix_norm">, {a, options.p, options.dims, options.keepdim}); }
// The sum of the singular values of the matrices of the two dims.
inline Tensor nuclear_norm(const Tensor& a, Ints dims = {-2, -1}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"linalg.nuclear_norm">, {a, dims, keepdim}); }
// The exponentials of square matrices a [.., n, n]: the sum of a^i / i!.
inline Tensor matrix_exp(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.matrix_exp">, {a}); }
// The product of n times the square matrices a [.., m, m]; of their inverses below 0.
inline Tensor matrix_power(const Tensor& a, Int n) { return detail::call<Tensor>(detail::op<"linalg.matrix_power">, {a, n}); }
// Vandermonde's matrices [.., n, N] of x [.., n]: column j is x to the power j. N None: n. Integers
// and bool become int64.
inline Tensor vander(const Tensor& x, std::optional<Int> N = {}) { return detail::call<Tensor>(detail::op<"linalg.vander">, {x, N}); }
// The inverse of a as a linear map: with the dimensions of a up to ind as rows and the others as
// columns, of as many elements, a's inverse as [columns.., rows..], so that tensordot(tensorinv(a),
// b, ind) solves a.
inline Tensor tensorinv(const Tensor& a, Int ind = 2) { return detail::call<Tensor>(detail::op<"linalg.tensorinv">, {a, ind}); }
struct TensorinvOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int ind = 2;
};
inline Tensor tensorinv(const Tensor& a, const TensorinvOptions& options) { return detail::call<Tensor>(detail::op<"linalg.tensorinv">, {a, options.ind}); }
// x with tensordot(a, x, x.dim()) = b: a is [b's sizes.., x's sizes..], both of as many elements,
// after its dimensions dims were moved behind the others.
inline Tensor tensorsolve(const Tensor& a, const Tensor& b, Ints dims = {}) { return detail::call<Tensor>(detail::op<"linalg.tensorsolve">, {a, b, dims}); }
// The first n columns of the product of Householder's reflections 1 - tau[i] v v^T, where v is
// column i of a [.., m, n] below the diagonal, 1 there and 0 above; tau [.., k].
inline Tensor householder_product(const Tensor& a, const Tensor& tau) { return detail::call<Tensor>(detail::op<"linalg.householder_product">, {a, tau}); }

}  // namespace linalg
}  // namespace v0
}  // namespace tenon
