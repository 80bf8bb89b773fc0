// The normal distribution of vectors. Its factors and solutions are those of triangles.hpp, which
// suit some dozens of dimensions.
#pragma once

#include <cstdint>

#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/triangles.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// Vectors [n] around loc [.., n] of the covariance Sigma [.., n, n].
class MultivariateNormal : public Distribution {
 public:
  MultivariateNormal(const Tensor& loc, const Tensor& covariance_matrix)
      : MultivariateNormal(loc, MultivariateNormalOptions{.covariance_matrix = covariance_matrix}) {
  }
  MultivariateNormal(const Tensor& loc, const MultivariateNormalOptions& options) {
    const detail::GivenMatrix given("MultivariateNormal", options);
    expect_shapes(loc, given);
    const int64_t n = loc.size(-1);
    const Ints of_loc = loc.sizes(), of_matrix = given.matrix.sizes();
    const detail::Sizes batch = detail::broadcast_sizes(
        "MultivariateNormal", "the batch of loc", {of_loc.data(), of_loc.size() - 1},
        ("that of " + given.name).c_str(), {of_matrix.data(), of_matrix.size() - 2});
    set_shapes(batch, n);
    loc_ = loc.expand(detail::concatenated(batch, n));
    scale_tril_ = given.factor().expand(detail::concatenated(batch, n, n));
  }
  const char* name() const override { return "MultivariateNormal"; }
  MultivariateNormal expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &MultivariateNormal::loc_,
                    &MultivariateNormal::scale_tril_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale_tril() const { return scale_tril_; }
  Tensor covariance_matrix() const { return matmul(scale_tril_, scale_tril_.mT()); }
  Tensor mean() const override { return loc_; }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override { return sum(square(scale_tril_), {-1}); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const Tensor off = detail::solve_lower(scale_tril_, (value - loc_).unsqueeze(-1));
    return -0.5 * sum(square(off), {-2, -1}) - detail::sum_log_diagonal(scale_tril_) -
           detail::kLogSqrtTwoPi * dimensions();
  }
  Tensor entropy() const override {
    return detail::sum_log_diagonal(scale_tril_) + (0.5 + detail::kLogSqrtTwoPi) * dimensions();
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor noise = randn(extended(sample_shape), loc_.dtype(), loc_.device());
    return loc_ + matmul(scale_tril_, noise.unsqueeze(-1)).squeeze({-1});
  }

 private:
  double dimensions() const { return double(loc_.size(-1)); }
  static void expect_shapes(const Tensor& loc, const detail::GivenMatrix& given) {
    const Tensor& matrix = given.matrix;
    detail::expect_floats("MultivariateNormal", "loc", loc);
    if (loc.dim() < 1) fail("MultivariateNormal: loc has no dimensions, expected at least 1");
    const int64_t n = loc.size(-1);
    if (n < 1 || matrix.dim() < 2 || matrix.size(-1) != n || matrix.size(-2) != n) {
      fail(detail::joined({"MultivariateNormal: ", given.name, " is ",
                           detail::sizes_text(matrix.sizes()), " and loc ",
                           detail::sizes_text(loc.sizes()), ", expected [.., n, n] and [.., n]"}));
    }
    detail::expect_all("MultivariateNormal", "loc", loc, detail::kReal);
  }
  Tensor loc_, scale_tril_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
