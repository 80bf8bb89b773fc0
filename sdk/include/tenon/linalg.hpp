// What the plugin 'linalg' brings, written by `tenon header`: changes belong into the plugin.
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
namespace linalg {

namespace results {
struct EigenvaluesEigenvectors : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor eigenvalues() const { return std::get<0>(*this); }
  Tensor eigenvectors() const { return std::get<1>(*this); }
};
struct InverseInfo : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor inverse() const { return std::get<0>(*this); }
  Tensor info() const { return std::get<1>(*this); }
};
struct LInfo : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor l() const { return std::get<0>(*this); }
  Tensor info() const { return std::get<1>(*this); }
};
struct LdPivots : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor ld() const { return std::get<0>(*this); }
  Tensor pivots() const { return std::get<1>(*this); }
};
struct LdPivotsInfo : detail::NamedResults<3> {
  using NamedResults::NamedResults;
  Tensor ld() const { return std::get<0>(*this); }
  Tensor pivots() const { return std::get<1>(*this); }
  Tensor info() const { return std::get<2>(*this); }
};
struct LuPivots : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor lu() const { return std::get<0>(*this); }
  Tensor pivots() const { return std::get<1>(*this); }
};
struct LuPivotsInfo : detail::NamedResults<3> {
  using NamedResults::NamedResults;
  Tensor lu() const { return std::get<0>(*this); }
  Tensor pivots() const { return std::get<1>(*this); }
  Tensor info() const { return std::get<2>(*this); }
};
struct PLU : detail::NamedResults<3> {
  using NamedResults::NamedResults;
  Tensor p() const { return std::get<0>(*this); }
  Tensor l() const { return std::get<1>(*this); }
  Tensor u() const { return std::get<2>(*this); }
};
struct QR : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor q() const { return std::get<0>(*this); }
  Tensor r() const { return std::get<1>(*this); }
};
struct ReflectionsTau : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor reflections() const { return std::get<0>(*this); }
  Tensor tau() const { return std::get<1>(*this); }
};
struct ResultInfo : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor result() const { return std::get<0>(*this); }
  Tensor info() const { return std::get<1>(*this); }
};
struct SignLogabsdet : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor sign() const { return std::get<0>(*this); }
  Tensor logabsdet() const { return std::get<1>(*this); }
};
struct SolutionResiduals : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor solution() const { return std::get<0>(*this); }
  Tensor residuals() const { return std::get<1>(*this); }
};
struct USV : detail::NamedResults<3> {
  using NamedResults::NamedResults;
  Tensor u() const { return std::get<0>(*this); }
  Tensor s() const { return std::get<1>(*this); }
  Tensor v() const { return std::get<2>(*this); }
};
struct USVh : detail::NamedResults<3> {
  using NamedResults::NamedResults;
  Tensor u() const { return std::get<0>(*this); }
  Tensor s() const { return std::get<1>(*this); }
  Tensor vh() const { return std::get<2>(*this); }
};
}  // namespace results

// The triangle l with l l^T = a for symmetric positive definite matrices a [.., n, n]; upper: u
// with u^T u = a. Reads that triangle of a alone.
inline Tensor cholesky(const Tensor& a, Bool upper = false) { return detail::call<Tensor>(detail::op<"linalg.cholesky">, {a, upper}); }
struct CholeskyOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool upper = false;
};
template <std::same_as<CholeskyOptions> O = CholeskyOptions>
inline Tensor cholesky(const Tensor& a, const O& options) { return detail::call<Tensor>(detail::op<"linalg.cholesky">, {a, options.upper}); }
// cholesky(a, upper), and info [..] int32: 0, or the order of the first leading minor of a matrix
// that is not positive, where l is not complete. With check_errors it refuses such matrices.
inline results::LInfo cholesky_ex(const Tensor& a, Bool upper = false, Bool check_errors = false) { return detail::call<results::LInfo>(detail::op<"linalg.cholesky_ex">, {a, upper, check_errors}); }
struct CholeskyExOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool upper = false;
  bool check_errors = false;
};
template <std::same_as<CholeskyExOptions> O = CholeskyExOptions>
inline results::LInfo cholesky_ex(const Tensor& a, const O& options) { return detail::call<results::LInfo>(detail::op<"linalg.cholesky_ex">, {a, options.upper, options.check_errors}); }
// q with orthonormal columns and the upper triangle r with q r = a [.., m, n]. mode: 'reduced' (q
// [.., m, k] with k the smaller of m and n), 'complete' (q [.., m, m]) or 'r' (q is empty).
inline results::QR qr(const Tensor& a, TextRef mode = "reduced") { return detail::call<results::QR>(detail::op<"linalg.qr">, {a, mode}); }
struct QrOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string mode = "reduced";
};
template <std::same_as<QrOptions> O = QrOptions>
inline results::QR qr(const Tensor& a, const O& options) { return detail::call<results::QR>(detail::op<"linalg.qr">, {a, options.mode}); }
// l (below the diagonal, which is 1) and u of p l u = a [.., m, n] in one matrix, and the rows,
// from 1, with which LAPACK exchanged each row. Refuses singular matrices.
inline results::LuPivots lu_factor(const Tensor& a) { return detail::call<results::LuPivots>(detail::op<"linalg.lu_factor">, {a}); }
// lu_factor(a), and info [..] int32: 0, or the number, from 1, of the first element of u's diagonal
// that is 0, where a matrix is singular. With check_errors it refuses such matrices.
inline results::LuPivotsInfo lu_factor_ex(const Tensor& a, Bool check_errors = false) { return detail::call<results::LuPivotsInfo>(detail::op<"linalg.lu_factor_ex">, {a, check_errors}); }
struct LuFactorExOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool check_errors = false;
};
template <std::same_as<LuFactorExOptions> O = LuFactorExOptions>
inline results::LuPivotsInfo lu_factor_ex(const Tensor& a, const O& options) { return detail::call<results::LuPivotsInfo>(detail::op<"linalg.lu_factor_ex">, {a, options.check_errors}); }
// A permutation p, a lower triangle l with a diagonal of 1 and an upper triangle u with p l u = a
// [.., m, n].
inline results::PLU lu(const Tensor& a) { return detail::call<results::PLU>(detail::op<"linalg.lu">, {a}); }
// The matrices p, l and u of lu(a), of what lu_factor(a) gives. Without unpack_data l and u are
// empty, without unpack_pivots p is.
inline results::PLU lu_unpack(const Tensor& lu, const Tensor& pivots, Bool unpack_data = true, Bool unpack_pivots = true) { return detail::call<results::PLU>(detail::op<"linalg.lu_unpack">, {lu, pivots, unpack_data, unpack_pivots}); }
struct LuUnpackOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool unpack_data = true;
  bool unpack_pivots = true;
};
template <std::same_as<LuUnpackOptions> O = LuUnpackOptions>
inline results::PLU lu_unpack(const Tensor& lu, const Tensor& pivots, const O& options) { return detail::call<results::PLU>(detail::op<"linalg.lu_unpack">, {lu, pivots, options.unpack_data, options.unpack_pivots}); }
// x with a x = b [.., n, k] for the matrices of which lu_factor gave lu and pivots; x a = b without
// left; of a^T with adjoint.
inline Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, Bool left = true, Bool adjoint = false) { return detail::call<Tensor>(detail::op<"linalg.lu_solve">, {lu, pivots, b, left, adjoint}); }
struct LuSolveOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
  bool adjoint = false;
};
template <std::same_as<LuSolveOptions> O = LuSolveOptions>
inline Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"linalg.lu_solve">, {lu, pivots, b, options.left, options.adjoint}); }
// The factors q r = a [.., m, n] as LAPACK leaves them: r on the diagonal and above it, below it
// the vectors of Householder's reflections, which are q, and their factors tau [.., k], k the
// smaller of m and n: for householder_product and ormqr.
inline results::ReflectionsTau geqrf(const Tensor& a) { return detail::call<results::ReflectionsTau>(detail::op<"linalg.geqrf">, {a}); }
// The first n columns of the product of Householder's reflections 1 - tau[i] v v^T, where v is
// column i of a [.., m, n] below the diagonal, 1 there and 0 above; tau [.., k].
inline Tensor householder_product(const Tensor& a, const Tensor& tau) { return detail::call<Tensor>(detail::op<"linalg.householder_product">, {a, tau}); }
// q other [.., m, n], or other q without left, or with q^T in place of q, where q is the square
// product of the reflections that householder_product(a, tau) has the first columns of. Leading
// dimensions broadcast.
inline Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, Bool left = true, Bool transpose = false) { return detail::call<Tensor>(detail::op<"linalg.ormqr">, {a, tau, other, left, transpose}); }
struct OrmqrOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
  bool transpose = false;
};
template <std::same_as<OrmqrOptions> O = OrmqrOptions>
inline Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, const O& options) { return detail::call<Tensor>(detail::op<"linalg.ormqr">, {a, tau, other, options.left, options.transpose}); }
// x with a x = b [.., n, k] for triangles a [.., n, n], upper or lower; x a = b without left.
// unitriangular: the diagonal of a is taken to be 1. A 0 on it gives infinities and NaN.
inline Tensor solve_triangular(const Tensor& a, const Tensor& b, Bool upper, Bool left = true, Bool unitriangular = false) { return detail::call<Tensor>(detail::op<"linalg.solve_triangular">, {a, b, upper, left, unitriangular}); }
struct SolveTriangularOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
  bool unitriangular = false;
};
template <std::same_as<SolveTriangularOptions> O = SolveTriangularOptions>
inline Tensor solve_triangular(const Tensor& a, const Tensor& b, Bool upper, const O& options) { return detail::call<Tensor>(detail::op<"linalg.solve_triangular">, {a, b, upper, options.left, options.unitriangular}); }
// x with a x = b [.., n, k], where l is the factor of Cholesky of a, or upper the upper one.
inline Tensor cholesky_solve(const Tensor& b, const Tensor& l, Bool upper = false) { return detail::call<Tensor>(detail::op<"linalg.cholesky_solve">, {b, l, upper}); }
using CholeskySolveOptions = CholeskyOptions;
template <std::same_as<CholeskySolveOptions> O = CholeskySolveOptions>
inline Tensor cholesky_solve(const Tensor& b, const Tensor& l, const O& options) { return detail::call<Tensor>(detail::op<"linalg.cholesky_solve">, {b, l, options.upper}); }
// The inverse of a, where l [.., n, n] is the factor of Cholesky of a, or the upper one.
inline Tensor cholesky_inverse(const Tensor& l, Bool upper = false) { return detail::call<Tensor>(detail::op<"linalg.cholesky_inverse">, {l, upper}); }
using CholeskyInverseOptions = CholeskyOptions;
template <std::same_as<CholeskyInverseOptions> O = CholeskyInverseOptions>
inline Tensor cholesky_inverse(const Tensor& l, const O& options) { return detail::call<Tensor>(detail::op<"linalg.cholesky_inverse">, {l, options.upper}); }
// The inverses of square matrices a [.., n, n]. Refuses singular ones.
inline Tensor inv(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.inv">, {a}); }
// inv(a), with infinities where there is none, and info [..] int32: 0, or which pivot, from 1, is
// the first that is 0. With check_errors it refuses singular matrices.
inline results::InverseInfo inv_ex(const Tensor& a, Bool check_errors = false) { return detail::call<results::InverseInfo>(detail::op<"linalg.inv_ex">, {a, check_errors}); }
using InvExOptions = LuFactorExOptions;
template <std::same_as<InvExOptions> O = InvExOptions>
inline results::InverseInfo inv_ex(const Tensor& a, const O& options) { return detail::call<results::InverseInfo>(detail::op<"linalg.inv_ex">, {a, options.check_errors}); }
// x with a x = b for square matrices a [.., n, n] and b [.., n, k] or [.., n]; x a = b without
// left. Leading dimensions broadcast. Refuses singular matrices.
inline Tensor solve(const Tensor& a, const Tensor& b, Bool left = true) { return detail::call<Tensor>(detail::op<"linalg.solve">, {a, b, left}); }
struct SolveOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
};
template <std::same_as<SolveOptions> O = SolveOptions>
inline Tensor solve(const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"linalg.solve">, {a, b, options.left}); }
// solve(a, b, left), with infinities or NaN where a matrix is singular, and info [..] int32 for
// each matrix a: 0, or which pivot, from 1, is the first that is 0. With check_errors it refuses
// singular matrices.
inline results::ResultInfo solve_ex(const Tensor& a, const Tensor& b, Bool left = true, Bool check_errors = false) { return detail::call<results::ResultInfo>(detail::op<"linalg.solve_ex">, {a, b, left, check_errors}); }
struct SolveExOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool left = true;
  bool check_errors = false;
};
template <std::same_as<SolveExOptions> O = SolveExOptions>
inline results::ResultInfo solve_ex(const Tensor& a, const Tensor& b, const O& options) { return detail::call<results::ResultInfo>(detail::op<"linalg.solve_ex">, {a, b, options.left, options.check_errors}); }
// x [.., n, k] for which the sum of squares of a x - b is least, for a [.., m, n] of full rank and
// b [.., m, k] or [.., m]; of several the shortest. residuals are those sums [.., k] where m > n,
// else empty. By QR factors; refuses matrices without full rank.
inline results::SolutionResiduals lstsq(const Tensor& a, const Tensor& b) { return detail::call<results::SolutionResiduals>(detail::op<"linalg.lstsq">, {a, b}); }
// l d l^T = a for symmetric matrices a [.., n, n], of which it reads the lower triangles: l, whose
// diagonal is 1, and the blocks of d, of one or two rows, in one matrix, and LAPACK's numbers of
// rows, negative for blocks of two: see sytrf. Refuses singular matrices. hermitian makes no
// difference to real numbers.
inline results::LdPivots ldl_factor(const Tensor& a, Bool hermitian = false) { return detail::call<results::LdPivots>(detail::op<"linalg.ldl_factor">, {a, hermitian}); }
struct LdlFactorOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool hermitian = false;
};
template <std::same_as<LdlFactorOptions> O = LdlFactorOptions>
inline results::LdPivots ldl_factor(const Tensor& a, const O& options) { return detail::call<results::LdPivots>(detail::op<"linalg.ldl_factor">, {a, options.hermitian}); }
// ldl_factor(a), and info [..] int32: 0, or the number, from 1, of the first element of d's
// diagonal that is 0, where a matrix is singular. With check_errors it refuses such matrices.
inline results::LdPivotsInfo ldl_factor_ex(const Tensor& a, Bool hermitian = false, Bool check_errors = false) { return detail::call<results::LdPivotsInfo>(detail::op<"linalg.ldl_factor_ex">, {a, hermitian, check_errors}); }
struct LdlFactorExOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool hermitian = false;
  bool check_errors = false;
};
template <std::same_as<LdlFactorExOptions> O = LdlFactorExOptions>
inline results::LdPivotsInfo ldl_factor_ex(const Tensor& a, const O& options) { return detail::call<results::LdPivotsInfo>(detail::op<"linalg.ldl_factor_ex">, {a, options.hermitian, options.check_errors}); }
// x with a x = b [.., n, k] for the matrices of which ldl_factor gave ld and pivots. Leading
// dimensions broadcast. b alone has a gradient.
inline Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, Bool hermitian = false) { return detail::call<Tensor>(detail::op<"linalg.ldl_solve">, {ld, pivots, b, hermitian}); }
using LdlSolveOptions = LdlFactorOptions;
template <std::same_as<LdlSolveOptions> O = LdlSolveOptions>
inline Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"linalg.ldl_solve">, {ld, pivots, b, options.hermitian}); }
// The determinants of square matrices a [.., n, n]. The gradient is there for singular ones too,
// the gradient of the gradient for others alone.
inline Tensor det(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.det">, {a}); }
// The signs of the determinants of a [.., n, n], and the logarithms of their absolute values: 0 and
// -inf for singular matrices, for which there is no gradient.
inline results::SignLogabsdet slogdet(const Tensor& a) { return detail::call<results::SignLogabsdet>(detail::op<"linalg.slogdet">, {a}); }
// The logarithms of the determinants of a [.., n, n]: -inf for 0, NaN for negative ones.
inline Tensor logdet(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.logdet">, {a}); }
// The eigenvalues of symmetric matrices a [.., n, n] in ascending order, and their vectors as
// columns. uplo: the triangle that is read, 'L' or 'U'. The gradient of vectors is infinite or NaN
// where eigenvalues are equal.
inline results::EigenvaluesEigenvectors eigh(const Tensor& a, TextRef uplo = "L") { return detail::call<results::EigenvaluesEigenvectors>(detail::op<"linalg.eigh">, {a, uplo}); }
struct EighOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string uplo = "L";
};
template <std::same_as<EighOptions> O = EighOptions>
inline results::EigenvaluesEigenvectors eigh(const Tensor& a, const O& options) { return detail::call<results::EigenvaluesEigenvectors>(detail::op<"linalg.eigh">, {a, options.uplo}); }
// The eigenvalues of symmetric matrices a [.., n, n] in ascending order.
inline Tensor eigvalsh(const Tensor& a, TextRef uplo = "L") { return detail::call<Tensor>(detail::op<"linalg.eigvalsh">, {a, uplo}); }
using EigvalshOptions = EighOptions;
template <std::same_as<EigvalshOptions> O = EigvalshOptions>
inline Tensor eigvalsh(const Tensor& a, const O& options) { return detail::call<Tensor>(detail::op<"linalg.eigvalsh">, {a, options.uplo}); }
// The symmetric positive definite x with x x = a for symmetric positive definite matrices a [.., n,
// n], of which the lower triangle is read. Negative eigenvalues count as 0.
inline Tensor matrix_sqrth(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.matrix_sqrth">, {a}); }
// u diag(s) vh = a [.., m, n] with orthonormal columns of u [.., m, m], orthonormal rows of vh [..,
// n, n] and s [.., k] in descending order, k the smaller of m and n; without full_matrices u [..,
// m, k] and vh [.., k, n]. The gradient of u and vh is infinite or NaN where singular values are
// equal.
inline results::USVh svd(const Tensor& a, Bool full_matrices = true) { return detail::call<results::USVh>(detail::op<"linalg.svd">, {a, full_matrices}); }
struct SvdOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool full_matrices = true;
};
template <std::same_as<SvdOptions> O = SvdOptions>
inline results::USVh svd(const Tensor& a, const O& options) { return detail::call<results::USVh>(detail::op<"linalg.svd">, {a, options.full_matrices}); }
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
template <detail::Placed<std::optional<Float>> P>
Tensor pinv(const Tensor& a, const P& atol, std::optional<Float> rtol = {}, Bool hermitian = false) { return detail::call<Tensor>(detail::op<"linalg.pinv">, {a, std::optional<Float>(atol), rtol, hermitian}); }
template <detail::Placed<std::optional<Float>> P1, detail::PlacedOr<std::optional<Float>, PinvOptions> P2 = PinvOptions, detail::PlacedOr<Bool, PinvOptions> P3 = PinvOptions>
Tensor pinv(const Tensor& a, const P1& atol, const P2& rtol, const P3& hermitian = detail::unset<P3>()) { return pinv(a, detail::behind<PinvOptions, 4, 1>("pinv", atol, rtol, hermitian)); }
// How many singular values of a [.., m, n] count as more than 0, by the tolerances of pinv.
using MatrixRankOptions = PinvOptions;
inline Tensor matrix_rank(const Tensor& a, const MatrixRankOptions& options = {}) { return detail::call<Tensor>(detail::op<"linalg.matrix_rank">, {a, options.atol, options.rtol, options.hermitian}); }
template <detail::Placed<std::optional<Float>> P>
Tensor matrix_rank(const Tensor& a, const P& atol, std::optional<Float> rtol = {}, Bool hermitian = false) { return detail::call<Tensor>(detail::op<"linalg.matrix_rank">, {a, std::optional<Float>(atol), rtol, hermitian}); }
template <detail::Placed<std::optional<Float>> P1, detail::PlacedOr<std::optional<Float>, MatrixRankOptions> P2 = MatrixRankOptions, detail::PlacedOr<Bool, MatrixRankOptions> P3 = MatrixRankOptions>
Tensor matrix_rank(const Tensor& a, const P1& atol, const P2& rtol, const P3& hermitian = detail::unset<P3>()) { return matrix_rank(a, detail::behind<MatrixRankOptions, 4, 1>("matrix_rank", atol, rtol, hermitian)); }
// The condition numbers of a [.., m, n]: for None and 2 the quotient of the greatest and the least
// singular value, its inverse for -2; for 1, -1, inf and -inf the norm of a times that of its
// inverse, inf where there is none.
inline Tensor cond(const Tensor& a, std::optional<Float> p = {}) { return detail::call<Tensor>(detail::op<"linalg.cond">, {a, p}); }
struct CondOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> p = {};
};
template <std::same_as<CondOptions> O = CondOptions>
inline Tensor cond(const Tensor& a, const O& options) { return detail::call<Tensor>(detail::op<"linalg.cond">, {a, options.p}); }
// Norms of the matrices of the two dimensions: the greatest singular value (2) or the least (-2),
// and for None, 1, -1, inf and -inf what the standard matrix_norm gives.
struct MatrixNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> ord = {};
  KeptInts dim = {-2, -1};
  bool keepdim = false;
};
inline Tensor matrix_norm(const Tensor& a, const MatrixNormOptions& options = {}) { return detail::call<Tensor>(detail::op<"linalg.matrix_norm">, {a, options.ord, options.dim, options.keepdim}); }
template <detail::Placed<std::optional<Float>> P>
Tensor matrix_norm(const Tensor& a, const P& ord, Ints dim = {-2, -1}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"linalg.matrix_norm">, {a, std::optional<Float>(ord), dim, keepdim}); }
template <detail::Placed<std::optional<Float>> P1, detail::PlacedOr<KeptInts, MatrixNormOptions> P2 = MatrixNormOptions, detail::PlacedOr<Bool, MatrixNormOptions> P3 = MatrixNormOptions>
Tensor matrix_norm(const Tensor& a, const P1& ord, const P2& dim, const P3& keepdim = detail::unset<P3>()) { return matrix_norm(a, detail::behind<MatrixNormOptions, 4, 1>("matrix_norm", ord, dim, keepdim)); }
// (sum |x|^ord)^(1/ord) over dim, or over all where dim is empty. inf: the largest |x|, -inf the
// least; 0: how many are not 0. With a dtype: of x as that dtype.
struct VectorNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float ord = 2.0;
  KeptInts dim = {};
  bool keepdim = false;
  Dtype dtype = {};
};
inline Tensor vector_norm(const Tensor& x, const VectorNormOptions& options = {}) { return detail::call<Tensor>(detail::op<"linalg.vector_norm">, {x, options.ord, options.dim, options.keepdim, options.dtype}); }
template <detail::Placed<Float> P>
Tensor vector_norm(const Tensor& x, const P& ord, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"linalg.vector_norm">, {x, Float(ord), dim, keepdim, dtype}); }
template <detail::Placed<Float> P1, detail::PlacedOr<KeptInts, VectorNormOptions> P2 = VectorNormOptions, detail::PlacedOr<Bool, VectorNormOptions> P3 = VectorNormOptions, detail::PlacedOr<Dtype, VectorNormOptions> P4 = VectorNormOptions>
Tensor vector_norm(const Tensor& x, const P1& ord, const P2& dim, const P3& keepdim = detail::unset<P3>(), const P4& dtype = detail::unset<P4>()) { return vector_norm(x, detail::behind<VectorNormOptions, 5, 1>("vector_norm", ord, dim, keepdim, dtype)); }
// vector_norm(a, ord) over one dimension dim, matrix_norm(a, ord) over two. Where dim is empty: of
// a of 1 or 2 dimensions. ord None: the root of the sum of squares, over all where dim is empty.
// With a dtype: of a as that dtype.
struct NormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> ord = {};
  KeptInts dim = {};
  bool keepdim = false;
  Dtype dtype = {};
};
inline Tensor norm(const Tensor& a, const NormOptions& options = {}) { return detail::call<Tensor>(detail::op<"linalg.norm">, {a, options.ord, options.dim, options.keepdim, options.dtype}); }
template <detail::Placed<std::optional<Float>> P>
Tensor norm(const Tensor& a, const P& ord, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"linalg.norm">, {a, std::optional<Float>(ord), dim, keepdim, dtype}); }
template <detail::Placed<std::optional<Float>> P1, detail::PlacedOr<KeptInts, NormOptions> P2 = NormOptions, detail::PlacedOr<Bool, NormOptions> P3 = NormOptions, detail::PlacedOr<Dtype, NormOptions> P4 = NormOptions>
Tensor norm(const Tensor& a, const P1& ord, const P2& dim, const P3& keepdim = detail::unset<P3>(), const P4& dtype = detail::unset<P4>()) { return norm(a, detail::behind<NormOptions, 5, 1>("norm", ord, dim, keepdim, dtype)); }
// The sum of the singular values of the matrices of the two dimensions.
inline Tensor nuclear_norm(const Tensor& a, Ints dim = {-2, -1}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"linalg.nuclear_norm">, {a, dim, keepdim}); }
struct NuclearNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {-2, -1};
  bool keepdim = false;
};
template <std::same_as<NuclearNormOptions> O = NuclearNormOptions>
inline Tensor nuclear_norm(const Tensor& a, const O& options) { return detail::call<Tensor>(detail::op<"linalg.nuclear_norm">, {a, options.dim, options.keepdim}); }
// The exponentials of square matrices a [.., n, n]: the sum of a^i / i!.
inline Tensor matrix_exp(const Tensor& a) { return detail::call<Tensor>(detail::op<"linalg.matrix_exp">, {a}); }
// The product of n times the square matrices a [.., m, m]; of their inverses below 0.
inline Tensor matrix_power(const Tensor& a, Int n) { return detail::call<Tensor>(detail::op<"linalg.matrix_power">, {a, n}); }
// Vandermonde's matrices [.., n, N] of x [.., n]: column j is x to the power j. N None: n. Integers
// and bool become int64.
inline Tensor vander(const Tensor& x, std::optional<Int> N = {}) { return detail::call<Tensor>(detail::op<"linalg.vander">, {x, N}); }
struct VanderOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> N = {};
};
template <std::same_as<VanderOptions> O = VanderOptions>
inline Tensor vander(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"linalg.vander">, {x, options.N}); }
// The inverse of a as a linear map: with the dimensions of a up to ind as rows and the others as
// columns, of as many elements, a's inverse as [columns.., rows..], so that tensordot(tensorinv(a),
// b, ind) solves a.
inline Tensor tensorinv(const Tensor& a, Int ind = 2) { return detail::call<Tensor>(detail::op<"linalg.tensorinv">, {a, ind}); }
struct TensorinvOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int ind = 2;
};
template <std::same_as<TensorinvOptions> O = TensorinvOptions>
inline Tensor tensorinv(const Tensor& a, const O& options) { return detail::call<Tensor>(detail::op<"linalg.tensorinv">, {a, options.ind}); }
// x with tensordot(a, x, x.dim()) = b: a is [b's sizes.., x's sizes..], both of as many elements,
// after its dimensions dims were moved behind the others.
inline Tensor tensorsolve(const Tensor& a, const Tensor& b, Ints dims = {}) { return detail::call<Tensor>(detail::op<"linalg.tensorsolve">, {a, b, dims}); }
struct TensorsolveOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dims = {};
};
template <std::same_as<TensorsolveOptions> O = TensorsolveOptions>
inline Tensor tensorsolve(const Tensor& a, const Tensor& b, const O& options) { return detail::call<Tensor>(detail::op<"linalg.tensorsolve">, {a, b, options.dims}); }
// About the greatest q singular values s [.., q] of a [.., m, n], or of a - M, in descending order,
// with u [.., m, q] and v [.., n, q] so that u diag(s) v^T is near a where its rank is q or less;
// as many as there are where q is more. niter: how often a is applied to the random vectors from
// which it begins. Halko et al., arXiv:0909.4061.
struct SvdLowrankOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int q = 6;
  Int niter = 2;
  Tensor M = {};
};
inline results::USV svd_lowrank(const Tensor& a, const SvdLowrankOptions& options = {}) { return detail::call<results::USV>(detail::op<"linalg.svd_lowrank">, {a, options.q, options.niter, options.M}); }
template <detail::Placed<Int> P>
results::USV svd_lowrank(const Tensor& a, const P& q, Int niter = 2, const Tensor& M = {}) { return detail::call<results::USV>(detail::op<"linalg.svd_lowrank">, {a, Int(q), niter, M}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Int, SvdLowrankOptions> P2 = SvdLowrankOptions, detail::PlacedOr<Tensor, SvdLowrankOptions> P3 = SvdLowrankOptions>
results::USV svd_lowrank(const Tensor& a, const P1& q, const P2& niter, const P3& M = detail::unset<P3>()) { return svd_lowrank(a, detail::behind<SvdLowrankOptions, 4, 1>("svd_lowrank", q, niter, M)); }
// svd_lowrank of a [.., m, n] without the means of its columns, or of a as it is without center:
// the columns of v are the principal directions of m samples. q None: 6, or the smaller of m and n.
struct PcaLowrankOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> q = {};
  bool center = true;
  Int niter = 2;
};
inline results::USV pca_lowrank(const Tensor& a, const PcaLowrankOptions& options = {}) { return detail::call<results::USV>(detail::op<"linalg.pca_lowrank">, {a, options.q, options.center, options.niter}); }
template <detail::Placed<std::optional<Int>> P>
results::USV pca_lowrank(const Tensor& a, const P& q, Bool center = true, Int niter = 2) { return detail::call<results::USV>(detail::op<"linalg.pca_lowrank">, {a, std::optional<Int>(q), center, niter}); }
template <detail::Placed<std::optional<Int>> P1, detail::PlacedOr<Bool, PcaLowrankOptions> P2 = PcaLowrankOptions, detail::PlacedOr<Int, PcaLowrankOptions> P3 = PcaLowrankOptions>
results::USV pca_lowrank(const Tensor& a, const P1& q, const P2& center, const P3& niter = detail::unset<P3>()) { return pca_lowrank(a, detail::behind<PcaLowrankOptions, 4, 1>("pca_lowrank", q, center, niter)); }

}  // namespace linalg
}  // namespace v0
}  // namespace tenon
