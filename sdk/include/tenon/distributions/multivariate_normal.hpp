// The normal distribution of vectors, and the two steps of linear algebra that it needs, made of
// elementwise ops: they work on every device and have gradients, and take a few calls for each of
// the n dimensions, which suits some dozens of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/distributions/continuous.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/matmul.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// Of the rows and columns of x from `row` and `column` on, `rows` and `columns` of them.
inline Tensor block(const Tensor& x, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  return x.narrow(-2, row, rows).narrow(-1, column, columns);
}

inline constexpr Constraint kDefinite{"above 0, as of positive definite matrices",
                                      kPositive.of_number, kPositive.of_tensor};

// L of a = L L^T, lower triangular, of symmetric a [.., n, n], by columns. What is not positive
// definite is refused if arguments are validated, else NaN.
inline Tensor cholesky(const char* owner, const char* name, const Tensor& a) {
  const int64_t n = a.size(-1);
  std::vector<Tensor> columns;
  Tensor rest = 0.5 * (a + a.mT());  // its gradient is symmetric, as PyTorch's
  for (int64_t j = 0; j < n; ++j) {
    const int64_t left = n - j;
    const Tensor pivot = block(rest, 0, 1, 0, 1);
    expect_all(owner, joined({"pivot ", std::to_string(j), " of ", name}).c_str(),
               pivot.squeeze({-2, -1}), kDefinite);
    const Tensor column = block(rest, 0, left, 0, 1) / sqrt(pivot);
    columns.push_back(pad(column.squeeze({-1}), {j, 0}));
    if (left == 1) break;
    const Tensor below = column.narrow(-2, 1, left - 1);
    rest = block(rest, 1, left - 1, 1, left - 1) - below * below.mT();
  }
  return stack(columns, -1);
}

// X of l X = b for lower triangular l [.., n, n] and b [.., n, m], whose batches broadcast, row by
// row.
inline Tensor solve_lower(const Tensor& l, const Tensor& b) {
  const int64_t n = l.size(-1);
  std::vector<Tensor> rows;
  Tensor rest = b;
  for (int64_t j = 0; j < n; ++j) {
    const Tensor row = rest.narrow(-2, 0, 1) / block(l, j, 1, j, 1);
    rows.push_back(row);
    if (j + 1 == n) break;
    rest = rest.narrow(-2, 1, n - j - 1) - block(l, j + 1, n - j - 1, j, 1) * row;
  }
  return cat(rows, -2);
}

inline Tensor sum_log_diagonal(const Tensor& l) { return sum(log(l.diagonal(0, -2, -1)), {-1}); }

}  // namespace detail

// One of the three: Sigma; its inverse; or L, lower triangular with a positive diagonal, of
// Sigma = L L^T, which is what the others are brought to.
struct MultivariateNormalOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  Tensor covariance_matrix = {};
  Tensor precision_matrix = {};
  Tensor scale_tril = {};
};

// Vectors [n] around loc [.., n] of the covariance Sigma [.., n, n].
class MultivariateNormal : public Distribution {
 public:
  MultivariateNormal(const Tensor& loc, const Tensor& covariance_matrix)
      : MultivariateNormal(loc, {.covariance_matrix = covariance_matrix}) {}
  MultivariateNormal(const Tensor& loc, const MultivariateNormalOptions& options) {
    const auto& [by_name, covariance, precision, lower] = options;
    if (covariance.defined() + precision.defined() + lower.defined() != 1) {
      fail(
          "MultivariateNormal: expected one of covariance_matrix, precision_matrix and scale_tril");
    }
    const char* name = covariance.defined()  ? "covariance_matrix"
                       : precision.defined() ? "precision_matrix"
                                             : "scale_tril";
    const Tensor& given = covariance.defined()  ? covariance
                          : precision.defined() ? precision
                                                : lower;
    expect_shapes(loc, name, given);
    const int64_t n = loc.size(-1);
    const Ints of_loc = loc.sizes(), of_matrix = given.sizes();
    const detail::Sizes batch = detail::broadcast_sizes(
        "MultivariateNormal", "the batch of loc", {of_loc.data(), of_loc.size() - 1},
        (std::string("that of ") + name).c_str(), {of_matrix.data(), of_matrix.size() - 2});
    set_shapes(batch, n);
    loc_ = loc.expand(detail::concatenated(batch, n));
    scale_tril_ = factor(name, given).expand(detail::concatenated(batch, n, n));
  }
  const char* name() const override { return "MultivariateNormal"; }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale_tril() const { return scale_tril_; }
  Tensor covariance_matrix() const { return matmul(scale_tril_, scale_tril_.mT()); }
  Tensor mean() const override { return loc_; }
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
  void expect_shapes(const Tensor& loc, const char* name, const Tensor& matrix) const {
    detail::expect_floats("MultivariateNormal", "loc", loc);
    detail::expect_floats("MultivariateNormal", name, matrix);
    if (loc.dim() < 1) fail("MultivariateNormal: loc has no dimensions, expected at least 1");
    const int64_t n = loc.size(-1);
    if (n < 1 || matrix.dim() < 2 || matrix.size(-1) != n || matrix.size(-2) != n) {
      fail(detail::joined({"MultivariateNormal: ", name, " is ", detail::text_of(matrix.sizes()),
                           " and loc ", detail::text_of(loc.sizes()),
                           ", expected [.., n, n] and [.., n]"}));
    }
    detail::expect_all("MultivariateNormal", "loc", loc, detail::kReal);
  }
  static Tensor factor(const std::string& name, const Tensor& given) {
    const char* owner = "MultivariateNormal";
    if (name == "scale_tril") {
      detail::expect_all(owner, "scale_tril", given, given.tril() == given, "0 above the diagonal");
      detail::expect_all(owner, "the diagonal of scale_tril", given.diagonal(0, -2, -1),
                         detail::kPositive);
      return given;
    }
    detail::expect_all(owner, name.c_str(), given,
                       isclose(given.detach(), given.detach().mT(), 1e-5, 1e-6), "symmetric");
    if (name == "covariance_matrix") return detail::cholesky(owner, name.c_str(), given);
    // The inverse of P = U U^T, with U upper triangular, is L L^T with L = U^-T: U is the factor of
    // P with rows and columns in reverse, reversed.
    const Tensor reversed = detail::cholesky(owner, name.c_str(), given.flip({-2, -1}));
    const int64_t n = given.size(-1);
    return detail::solve_lower(reversed.flip({-2, -1}).mT(),
                               eye(n, n, given.dtype(), given.device()));
  }
  Tensor loc_, scale_tril_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
