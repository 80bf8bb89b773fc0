// The steps of linear algebra that distributions of vectors and matrices need, made of elementwise
// ops: they work on every device and have gradients, and take a few calls for each of the n
// dimensions, which suits some dozens of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/distributions/distribution.hpp"
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

inline void expect_symmetric(const char* owner, const char* name, const Tensor& a) {
  const Tensor x = a.detach();
  expect_all(owner, name, x, isclose(x, x.mT(), 1e-5, 1e-6), "symmetric");
}
// Lower triangular, with a positive diagonal.
inline void expect_factor(const char* owner, const char* name, const Tensor& l) {
  expect_all(owner, name, l, l.tril() == l, "0 above the diagonal");
  expect_all(owner, joined({"the diagonal of ", name}).c_str(), l.diagonal(0, -2, -1), kPositive);
}
// A factor of a matrix of correlations, whose diagonal is 1.
inline void expect_factor_of_correlations(const char* owner, const Tensor& value) {
  expect_factor(owner, "value", value);
  const Tensor squares = sum(square(value.detach()), {-1});
  const double near = 20 * epsilon(value.dtype()) * double(value.size(-1));
  expect_all(owner, "the sum of squares of a row of value", squares, abs(squares - 1) <= near, "1");
}

}  // namespace detail

// One of the three: Sigma; its inverse; or L, lower triangular with a positive diagonal, of
// Sigma = L L^T, which is what the others are brought to.
struct MultivariateNormalOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  Tensor covariance_matrix = {};
  Tensor precision_matrix = {};
  Tensor scale_tril = {};
};

namespace detail {

// The one of the three that is given, by its name.
struct GivenMatrix {
  GivenMatrix(const char* owner, const MultivariateNormalOptions& options) : owner(owner) {
    const auto& [by_name, covariance, precision, lower] = options;
    if (covariance.defined() + precision.defined() + lower.defined() != 1) {
      fail(joined({owner, ": expected one of covariance_matrix, precision_matrix and scale_tril"}));
    }
    const bool is_covariance = covariance.defined(), is_precision = precision.defined();
    name = is_covariance ? "covariance_matrix" : is_precision ? "precision_matrix" : "scale_tril";
    matrix = is_covariance ? covariance : is_precision ? precision : lower;
    expect_floats(owner, name.c_str(), matrix);
  }
  // L, after the check of the matrix [.., n, n].
  Tensor factor() const {
    if (name == "scale_tril") {
      expect_factor(owner, name.c_str(), matrix);
      return matrix;
    }
    expect_symmetric(owner, name.c_str(), matrix);
    if (name == "covariance_matrix") return cholesky(owner, name.c_str(), matrix);
    // The inverse of P = U U^T, with U upper triangular, is L L^T with L = U^-T: U is the factor of
    // P with rows and columns in reverse, reversed.
    const Tensor reversed = cholesky(owner, name.c_str(), matrix.flip({-2, -1}));
    const int64_t n = matrix.size(-1);
    return solve_lower(reversed.flip({-2, -1}).mT(), eye(n, n, matrix.dtype(), matrix.device()));
  }
  const char* owner;
  std::string name;
  Tensor matrix;
};

}  // namespace detail

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
