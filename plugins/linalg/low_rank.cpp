// Singular values and principal components of matrices of low rank, by products with random vectors: Halko,
// Martinsson and Tropp, arXiv:0909.4061.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

void expect_at_least_0(const char* name, const char* what, int64_t n) {
  if (n < 0)
    fail(detail::joined({name, ": ", what, " is ", std::to_string(n), ", expected 0 or more"}));
}

// q orthonormal columns that nearly span those of a: algorithm 4.4.
Tensor approximate_range(const Tensor& a, int64_t q, int64_t niter) {
  const auto orthonormal = [](const Tensor& x) { return std::get<0>(host_qr(x, false)); };
  Tensor basis = orthonormal(matmul(a, randn({a.size(-1), q}, a.dtype(), a.device())));
  for (int64_t i = 0; i < niter; ++i) {
    basis = orthonormal(matmul(a.mT(), basis));
    basis = orthonormal(matmul(a, basis));
  }
  return basis;
}

// Algorithm 5.1, on the side of a that has fewer columns.
Triple svd_of_low_rank(const Tensor& a, int64_t q, int64_t niter) {
  if (a.size(-2) < a.size(-1)) {
    const auto [u, s, v] = svd_of_low_rank(a.mT(), q, niter);
    return {v, s, u};
  }
  // More vectors than columns would depend on each other, and QR has no gradient of such.
  const Tensor basis = approximate_range(a, std::min(q, a.size(-1)), niter);
  const auto [u, s, vh] = host_svd(matmul(basis.mT(), a), false);
  return {matmul(basis, u), s, vh.mT()};
}

Triple svd_lowrank(const Tensor& a, int64_t q, int64_t niter, const Tensor& m) {
  const char* name = "svd_lowrank";
  expect_matrices(name, "a", a);
  expect_at_least_0(name, "q", q);
  expect_at_least_0(name, "niter", niter);
  if (!m.defined()) return svd_of_low_rank(a, q, niter);
  expect_same_dtype(name, "a", a, "M", m);
  bool fits = m.dim() <= a.dim();
  for (int64_t d = 1; fits && d <= m.dim(); ++d) fits = m.size(-d) == a.size(-d) || m.size(-d) == 1;
  if (!fits) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and M is ",
                         sizes_text(m.sizes()), ", expected sizes that broadcast to those of a"}));
  }
  return svd_of_low_rank(a - m, q, niter);
}

Triple pca_lowrank(const Tensor& a, optional<int64_t> given, bool center, int64_t niter) {
  const char* name = "pca_lowrank";
  expect_matrices(name, "a", a);
  const int64_t most = smaller_size(a), q = given.value_or(std::min<int64_t>(6, most));
  if (q < 0 || q > most) {
    fail(detail::joined({name, ": q is ", std::to_string(q), " for a of ", sizes_text(a.sizes()),
                         ", expected 0 to ", std::to_string(most)}));
  }
  expect_at_least_0(name, "niter", niter);
  return svd_of_low_rank(center ? a - mean(a, {-2}, true) : a, q, niter);
}

}  // namespace

void low_rank() {
  op("svd_lowrank(Tensor a, int q=6, int niter=2, Tensor? M=None) -> (Tensor u, Tensor s, Tensor "
     "v)")
      .doc(
          "About the greatest q singular values s [.., q] of a [.., m, n], or of a - M, in "
          "descending order, with u [.., m, q] and v [.., n, q] so that u diag(s) v^T is near a "
          "where its rank is q or less; as many as there are where q is more. niter: how often a "
          "is applied to the random vectors from which it begins. Halko et al., arXiv:0909.4061.")
      .random()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(svd_lowrank);
  op("pca_lowrank(Tensor a, int? q=None, bool center=True, int niter=2) -> "
     "(Tensor u, Tensor s, Tensor v)")
      .doc(
          "svd_lowrank of a [.., m, n] without the means of its columns, or of a as it is without "
          "center: the columns of v are the principal directions of m samples. q None: 6, or the "
          "smaller of m and n.")
      .random()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(pca_lowrank);
}

}  // namespace tenon::linalg_pack
