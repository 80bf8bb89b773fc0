// The normal distribution of vectors whose covariance is a low rank and a diagonal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/triangles.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// Vectors [n] around loc [.., n] of the covariance W W^T + D, with the factor W = cov_factor
// [.., n, rank] and the diagonal D of cov_diag [.., n], which is positive. A factor of rank
// dimensions takes the place of one of n, by Woodbury's identity and the lemma of the determinant:
// Petersen & Pedersen, "The Matrix Cookbook", 3.2.2 and 1.2.
class LowRankMultivariateNormal : public Distribution {
 public:
  LowRankMultivariateNormal(const Tensor& loc, const Tensor& cov_factor, const Tensor& cov_diag) {
    const char* owner = "LowRankMultivariateNormal";
    detail::expect_floats(owner, "loc", loc);
    detail::expect_floats(owner, "cov_factor", cov_factor);
    detail::expect_floats(owner, "cov_diag", cov_diag);
    if (loc.dim() < 1 || cov_diag.dim() < 1 || cov_factor.dim() < 2 || loc.size(-1) < 1 ||
        cov_factor.size(-1) < 1 || cov_factor.size(-2) != loc.size(-1) ||
        cov_diag.size(-1) != loc.size(-1)) {
      fail(detail::joined({owner, ": loc is ", detail::sizes_text(loc.sizes()), ", cov_factor ",
                           detail::sizes_text(cov_factor.sizes()), " and cov_diag ",
                           detail::sizes_text(cov_diag.sizes()),
                           ", expected [.., n], [.., n, rank] and [.., n]"}));
    }
    detail::expect_all(owner, "loc", loc, detail::kReal);
    detail::expect_all(owner, "cov_factor", cov_factor, detail::kReal);
    detail::expect_all(owner, "cov_diag", cov_diag, detail::kPositive);
    const int64_t n = loc.size(-1), rank = cov_factor.size(-1);
    detail::Sizes batch = detail::broadcast_sizes(owner, "the batch of loc", leading(loc, 1),
                                                  "that of cov_factor", leading(cov_factor, 2));
    batch = detail::broadcast_sizes(owner, "the batch of loc and cov_factor", batch,
                                    "that of cov_diag", leading(cov_diag, 1));
    set_shapes(batch, n);
    loc_ = loc.expand(detail::concatenated(batch, n));
    cov_factor_ = cov_factor.expand(detail::concatenated(batch, n, rank));
    cov_diag_ = cov_diag.expand(detail::concatenated(batch, n));
    const Tensor over_diag = cov_factor / cov_diag.unsqueeze(-1);
    const Tensor one = eye(rank, rank, over_diag.dtype(), loc.device());
    capacitance_tril_ =
        detail::cholesky(owner, "the capacitance", one + matmul(over_diag.mT(), cov_factor));
  }
  const char* name() const override { return "LowRankMultivariateNormal"; }
  LowRankMultivariateNormal expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &LowRankMultivariateNormal::loc_,
                    &LowRankMultivariateNormal::cov_factor_, &LowRankMultivariateNormal::cov_diag_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& cov_factor() const { return cov_factor_; }
  const Tensor& cov_diag() const { return cov_diag_; }
  Tensor covariance_matrix() const {
    return matmul(cov_factor_, cov_factor_.mT()) + diag_embed(cov_diag_);
  }
  Tensor precision_matrix() const {
    const Tensor over_diag = diag_embed(reciprocal(cov_diag_)), off = whitened(over_diag);
    return over_diag - matmul(off.mT(), off);
  }
  // L, lower triangular, of L L^T = W W^T + D, by a factor of n dimensions.
  Tensor scale_tril() const {
    const Tensor root = sqrt(cov_diag_).unsqueeze(-1), w = cov_factor_ / root;
    const int64_t n = loc_.size(-1);
    const Tensor one = eye(n, n, w.dtype(), w.device());
    return root * detail::cholesky(name(), "the covariance", one + matmul(w, w.mT()));
  }
  Tensor mean() const override { return loc_; }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override { return sum(square(cov_factor_), {-1}) + cov_diag_; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    return -0.5 * distance(value - loc_) - half_log_determinant() -
           detail::kLogSqrtTwoPi * dimensions();
  }
  Tensor entropy() const override {
    return half_log_determinant() + (0.5 + detail::kLogSqrtTwoPi) * dimensions();
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Ints batch = batch_shape();
    const detail::Sizes of_rank = detail::concatenated(sample_shape, batch, cov_factor_.size(-1));
    const Tensor common = randn(of_rank, loc_.dtype(), loc_.device()).unsqueeze(-1);
    const Tensor own = randn(extended(sample_shape), loc_.dtype(), loc_.device());
    return loc_ + matmul(cov_factor_, common).squeeze({-1}) + sqrt(cov_diag_) * own;
  }
  // Of the determinant of the covariance.
  Tensor half_log_determinant() const {
    return detail::sum_log_diagonal(capacitance_tril_) + 0.5 * sum(log(cov_diag_), {-1});
  }
  // off^T (W W^T + D)^-1 off of vectors [.., n].
  Tensor distance(const Tensor& off) const {
    const Tensor over_diag = off / cov_diag_;
    return sum(off * over_diag, {-1}) - sum(square(whitened(over_diag.unsqueeze(-1))), {-2, -1});
  }
  // C^-1/2 W^T x of matrices x [.., n, m], with the capacitance C.
  Tensor whitened(const Tensor& x) const {
    return detail::solve_lower(capacitance_tril_, matmul(cov_factor_.mT(), x));
  }

 private:
  double dimensions() const { return double(loc_.size(-1)); }
  static Ints leading(const Tensor& x, size_t less) {
    const Ints sizes = x.sizes();
    return {sizes.data(), sizes.size() - less};
  }
  Tensor loc_, cov_factor_, cov_diag_, capacitance_tril_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
