// Distributions of matrices: of covariances and of correlations. Their factors are those of
// triangles.hpp, which suit some dozens of rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>

#include "tenon/distributions/gamma.hpp"
#include "tenon/distributions/triangles.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// Positive definite matrices [n, n]: the sum of x x^T of df vectors x of MultivariateNormal(0,
// Sigma), for any df above n - 1. Wishart(df, covariance_matrix), or Wishart(df, {.scale_tril =
// L}), with one of the matrices that MultivariateNormal takes, [.., n, n]. The density is of the
// elements on and below the diagonal. Draws are by Bartlett's decomposition: Anderson, "An
// Introduction to Multivariate Statistical Analysis", 2003, 7.2. Those of a df near n - 1 may be
// singular in float32.
class Wishart : public Distribution {
 public:
  Wishart(Operand df, const Tensor& covariance_matrix)
      : Wishart(df, MultivariateNormalOptions{.covariance_matrix = covariance_matrix}) {}
  Wishart(Operand df, const MultivariateNormalOptions& options) {
    const detail::GivenMatrix given("Wishart", options);
    const Tensor& matrix = given.matrix;
    if (matrix.dim() < 2 || matrix.size(-1) != matrix.size(-2) || matrix.size(-1) < 1) {
      fail(detail::joined({"Wishart: ", given.name, " is ", detail::sizes_text(matrix.sizes()),
                           ", expected [.., n, n]"}));
    }
    detail::check_parameter("Wishart", {"df", df, detail::kPositive});
    const int64_t n = matrix.size(-1);
    const Tensor of_df = df.tensor().defined()
                             ? df.tensor().to(matrix.dtype())
                             : full({}, detail::number_of(df), matrix.dtype(), matrix.device());
    detail::expect_all("Wishart", "df", of_df, of_df > double(n - 1),
                       "above " + std::to_string(n - 1) + ", the rows less 1");
    const Ints sizes = matrix.sizes();
    const detail::Sizes batch = detail::broadcast_sizes("Wishart", "df", of_df.sizes(),
                                                        ("the batch of " + given.name).c_str(),
                                                        {sizes.data(), sizes.size() - 2});
    set_shapes(batch, {n, n});
    df_ = of_df.expand(batch);
    scale_tril_ = given.factor().expand(detail::concatenated(batch, n, n));
  }
  const char* name() const override { return "Wishart"; }
  Wishart expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Wishart::df_, &Wishart::scale_tril_);
  }
  const Tensor& df() const { return df_; }
  const Tensor& scale_tril() const { return scale_tril_; }
  Tensor covariance_matrix() const { return matmul(scale_tril_, scale_tril_.mT()); }
  Tensor mean() const override { return of_matrix(df_) * covariance_matrix(); }
  // As in PyTorch NaN up to a df of n + 1.
  Tensor mode() const override {
    const Tensor factor = df_ - rows() - 1;
    return of_matrix(where(factor > 0, factor, NAN)) * covariance_matrix();
  }
  Tensor variance() const override {
    const Tensor sigma = covariance_matrix(), diagonal = sigma.diagonal(0, -2, -1);
    return of_matrix(df_) * (square(sigma) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2));
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    detail::expect_symmetric(owner().c_str(), "value", value);
    const Tensor factor = detail::cholesky(owner().c_str(), "value", value);
    const Tensor spread = sum(square(detail::solve_lower(scale_tril_, factor)), {-2, -1});
    return (df_ - rows() - 1) * detail::sum_log_diagonal(factor) - 0.5 * spread - log_factor();
  }
  Tensor entropy() const override {
    return log_factor() - 0.5 * (df_ - rows() - 1) * mean_log_determinant() + 0.5 * rows() * df_;
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const detail::Sizes sizes = extended(sample_shape);
    const Tensor order = arange(0, rows(), 1, df_.dtype(), df_.device());
    const Tensor squares = 2 * detail::draw_standard_gamma(0.5 * (df_.unsqueeze(-1) - order),
                                                           {sizes.data(), sizes.size() - 1});
    const Tensor below = randn(sizes, df_.dtype(), df_.device()).tril(-1);
    const Tensor factor = matmul(scale_tril_, below + diag_embed(sqrt(squares)));
    return matmul(factor, factor.mT());
  }
  // The mean of the logarithm of a draw's determinant.
  Tensor mean_log_determinant() const {
    const Tensor half = 0.5 * arange(0, rows(), 1, df_.dtype(), df_.device());
    return sum(digamma(0.5 * df_.unsqueeze(-1) - half), {-1}) + rows() * std::numbers::ln2 +
           2 * detail::sum_log_diagonal(scale_tril_);
  }
  // The logarithm of the integral of what the density is up to a factor.
  Tensor log_factor() const {
    return df_ * (0.5 * rows() * std::numbers::ln2 + detail::sum_log_diagonal(scale_tril_)) +
           mvlgamma(0.5 * df_, int64_t(rows()));
  }

 private:
  double rows() const { return double(scale_tril_.size(-1)); }
  static Tensor of_matrix(const Tensor& x) { return x.unsqueeze(-1).unsqueeze(-1); }
  Tensor df_, scale_tril_;
};

// Lower triangular factors L [dim, dim] of matrices of correlations L L^T, whose density is
// proportional to det(L L^T)^(concentration - 1): for 1 all are alike, above it those near the
// identity come more often. As in PyTorch it has no moments and no entropy, and draws have no
// gradient. They are by the onion method of Lewandowski, Kurowicka & Joe, "Generating random
// correlation matrices based on vines and extended onion method" (J. Multivariate Analysis 100,
// 2009), which also has the factor of the density.
class LKJCholesky : public Distribution {
 public:
  explicit LKJCholesky(Int dim, Operand concentration = 1.0)
      : dim_(dim),
        concentration_(detail::as_parameter("LKJCholesky",
                                            {"concentration", concentration, detail::kPositive})) {
    if (dim_ < 2)
      fail(detail::joined({"LKJCholesky: dim is ", std::to_string(dim_), ", expected at least 2"}));
    set_shapes(concentration_.sizes(), {dim_, dim_});
  }
  const char* name() const override { return "LKJCholesky"; }
  LKJCholesky expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &LKJCholesky::concentration_);
  }
  int64_t dim() const { return dim_; }
  const Tensor& concentration() const { return concentration_; }
  Tensor mean() const override {
    fail("LKJCholesky: mean is not there, as in PyTorch; average samples");
  }
  Tensor variance() const override {
    fail("LKJCholesky: variance is not there, as in PyTorch; that of samples comes near");
  }
  Tensor entropy() const override {
    fail("LKJCholesky: entropy is not there, as in PyTorch; average -log_prob of samples");
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    detail::expect_factor_of_correlations(owner().c_str(), value);
    // Element i of the diagonal, from 0, to the power 2 (concentration - 1) + dim - 1 - i.
    const Tensor diagonal = value.diagonal(0, -2, -1).narrow(-1, 1, dim_ - 1);
    const Tensor power = 2 * (concentration_.unsqueeze(-1) - 1) + order(dim_ - 2, 0);
    const double n = double(dim_ - 1);
    const Tensor alpha = concentration_ + 0.5 * n;
    return sum(power * log(diagonal), {-1}) + n * lgamma(alpha) - mvlgamma(alpha - 0.5, dim_ - 1) -
           0.5 * n * std::log(std::numbers::pi);
  }
  // Row i below the diagonal has a uniform direction, and its square length is of
  // Beta(i / 2, concentration + (dim - 1 - i) / 2).
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const Tensor index = order(1, dim_ - 1);
    const Tensor rest = concentration_.unsqueeze(-1) + 0.5 * (double(dim_ - 1) - index);
    const Tensor squares = Beta(0.5 * index, rest).sample(sample_shape).unsqueeze(-1);
    const Tensor noise =
        randn(extended(sample_shape), concentration_.dtype(), concentration_.device());
    const Tensor below = noise.tril(-1).narrow(-2, 1, dim_ - 1);
    const Tensor length = sqrt(sum(square(below), {-1}, /*keepdim=*/true));
    const Tensor rows = below / length * sqrt(squares);
    const Tensor diagonal = pad(sqrt(1 - squares.squeeze({-1})), {1, 0}, {.value = 1});
    return pad(rows, {0, 0, 1, 0}) + diag_embed(diagonal);
  }
  bool has_rsample() const override { return false; }

 private:
  // first, .. last, one by one up or down.
  Tensor order(int64_t first, int64_t last) const {
    const int64_t step = first < last ? 1 : -1;
    return arange(first, last + step, step, concentration_.dtype(), concentration_.device());
  }
  int64_t dim_;
  Tensor concentration_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
