// Transforms of vectors and matrices: onto probabilities that sum to 1, and onto triangles,
// positive definite matrices and factors of correlations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "tenon/distributions/transform_shapes.hpp"
#include "tenon/distributions/triangles.hpp"
#include "tenon/ops/norm.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// A matrix [.., n, n] whose elements below the diagonal are those of x [.., n (n - 1) / 2], row by
// row, and whose others are 0.
inline Tensor below_diagonal(const Tensor& x, int64_t n) {
  std::vector<Tensor> rows;
  for (int64_t i = 0, start = 0; i < n; start += i, ++i)
    rows.push_back(pad(x.narrow(-1, start, i), {0, n - i}));
  return stack(rows, -2);
}
// Of each row i of matrices x [.., n, n] the first i - less elements, in one row.
inline Tensor from_rows(const Tensor& x, int64_t less) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < x.size(-2); ++i)
    rows.push_back(x.select(-2, i).narrow(-1, 0, std::max<int64_t>(i - less, 0)));
  return cat(rows, -1);
}

struct OfMatrices {
  static constexpr int64_t domain_event_dim() { return 2; }
  static constexpr int64_t codomain_event_dim() { return 2; }
};

}  // namespace detail

// y = exp(x) over its sum, in the last dimension. `inv` is log(y), one of many x; as in PyTorch it
// has no log_abs_det_jacobian: StickBreakingTransform has one.
struct SoftmaxTransform {
  static constexpr int64_t domain_event_dim() { return 1; }
  static constexpr int64_t codomain_event_dim() { return 1; }
  Tensor operator()(const Tensor& x) const { return softmax(x, -1); }
  Tensor inv(const Tensor& y) const { return log(y); }
  Tensor log_abs_det_jacobian(const Tensor&, const Tensor&) const {
    detail::refuse_slope("SoftmaxTransform");
  }
  bool operator==(const SoftmaxTransform&) const { return true; }
};

// From x [.., n] to y [.., n + 1] above 0 whose sum is 1: y_i is the share
// z_i = sigmoid(x_i - log(n - i)) of what those before it have left, so that x = 0 gives equal y.
// The volume is that of the first n of y. Stan Reference Manual, "Unit simplex".
struct StickBreakingTransform {
  static constexpr detail::Constraint codomain = detail::kNonnegative;
  static constexpr int64_t domain_event_dim() { return 1; }
  static constexpr int64_t codomain_event_dim() { return 1; }
  static void expect_codomain(const char* owner, const Tensor& value) {
    detail::expect_sums_of_one(owner, value);
  }
  detail::Sizes forward_shape(Ints sizes) const { return changed(sizes, 1); }
  detail::Sizes inverse_shape(Ints sizes) const { return changed(sizes, -1); }
  Tensor operator()(const Tensor& x) const {
    const Tensor z = SigmoidTransform::inside(sigmoid(x - log_left(x)));
    return pad(z, {0, 1}, {.value = 1}) * pad(cumprod(1 - z, -1), {1, 0}, {.value = 1});
  }
  Tensor inv(const Tensor& y) const {
    const Tensor first = y.narrow(-1, 0, y.size(-1) - 1);
    const Tensor left = clamp_min(1 - cumsum(first, -1), detail::tiny(y.dtype()));
    return log(first) - log(left) + log_left(first);
  }
  // dy_i / dx_i is y_i (1 - z_i), and log(1 - z) = log(z) - t where z = sigmoid(t).
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
    const Tensor t = x - log_left(x);
    return sum(log_sigmoid(t) - t + log(y.narrow(-1, 0, x.size(-1))), {-1});
  }
  bool operator==(const StickBreakingTransform&) const { return true; }

 private:
  // log(n), .. log(1) for x [.., n].
  static Tensor log_left(const Tensor& x) {
    return log(arange(x.size(-1), 0, -1, x.dtype(), x.device()));
  }
  static detail::Sizes changed(Ints sizes, int64_t more) {
    detail::expect_dims("StickBreakingTransform", sizes, 1);
    detail::Sizes made(sizes);
    made.back() += more;
    return made;
  }
};

// From matrices x [.., n, n] to lower triangles with a positive diagonal: exp on the diagonal, 0
// above it. As in PyTorch it has no log_abs_det_jacobian.
struct LowerCholeskyTransform : detail::OfMatrices {
  Tensor operator()(const Tensor& x) const {
    return x.tril(-1) + diag_embed(exp(x.diagonal(0, -2, -1)));
  }
  Tensor inv(const Tensor& y) const { return y.tril(-1) + diag_embed(log(y.diagonal(0, -2, -1))); }
  Tensor log_abs_det_jacobian(const Tensor&, const Tensor&) const {
    detail::refuse_slope("LowerCholeskyTransform");
  }
  bool operator==(const LowerCholeskyTransform&) const { return true; }
};

// From matrices x [.., n, n] to the positive definite y = l l^T, where LowerCholeskyTransform gives
// l. As in PyTorch it has no log_abs_det_jacobian.
struct PositiveDefiniteTransform : detail::OfMatrices {
  Tensor operator()(const Tensor& x) const {
    const Tensor l = LowerCholeskyTransform()(x);
    return matmul(l, l.mT());
  }
  Tensor inv(const Tensor& y) const {
    return LowerCholeskyTransform().inv(detail::cholesky("PositiveDefiniteTransform", "value", y));
  }
  Tensor log_abs_det_jacobian(const Tensor&, const Tensor&) const {
    detail::refuse_slope("PositiveDefiniteTransform");
  }
  bool operator==(const PositiveDefiniteTransform&) const { return true; }
};

// From x [.., n (n - 1) / 2] to lower triangles y [.., n, n] whose rows have the length 1 and whose
// diagonal is positive, so that y y^T is a matrix of correlations: tanh(x), row by row, is the
// share of the length that the elements before it in the row have left. The volume is that of the
// elements below the diagonal. Stan Reference Manual, "Cholesky factors of correlation matrices".
struct CorrCholeskyTransform {
  static constexpr int64_t domain_event_dim() { return 1; }
  static constexpr int64_t codomain_event_dim() { return 2; }
  static void expect_codomain(const char* owner, const Tensor& value) {
    detail::expect_factor_of_correlations(owner, value);
  }
  detail::Sizes forward_shape(Ints sizes) const {
    detail::expect_dims("CorrCholeskyTransform", sizes, 1);
    const int64_t n = rows_of(sizes[sizes.size() - 1]);
    detail::Sizes made(sizes);
    made.back() = n;
    made.push_back(n);
    return made;
  }
  detail::Sizes inverse_shape(Ints sizes) const {
    detail::expect_dims("CorrCholeskyTransform", sizes, 2);
    detail::Sizes made(sizes.begin(), sizes.end() - 1);
    made.back() = made.back() * (made.back() - 1) / 2;
    return made;
  }
  Tensor operator()(const Tensor& x) const {
    const int64_t n = rows_of(x.size(-1));
    const double most = 1 - detail::epsilon(x.dtype());
    const Tensor r = detail::below_diagonal(clamp(tanh(x), -most, most), n);
    const Tensor left = cumprod(sqrt(1 - square(r)), -1).narrow(-1, 0, n - 1);
    return (r + eye(n, n, x.dtype(), x.device())) * pad(left, {1, 0}, {.value = 1});
  }
  Tensor inv(const Tensor& y) const {
    const Tensor left = 1 - cumsum(square(y), -1);
    const Tensor before = pad(left.narrow(-1, 0, y.size(-1) - 1), {1, 0}, {.value = 1});
    return atanh(detail::from_rows(y, 0) * rsqrt(detail::from_rows(before, 0)));
  }
  // Of tanh as in TanhTransform, and of each element the length that is left before it.
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
    const Tensor left = detail::from_rows(1 - cumsum(square(y), -1), 1);
    return 0.5 * sum(log(left), {-1}) + 2 * sum(std::numbers::ln2 - x - softplus(-2 * x), {-1});
  }
  bool operator==(const CorrCholeskyTransform&) const { return true; }

 private:
  static int64_t rows_of(int64_t elements) {
    const int64_t n = std::llround(std::sqrt(0.25 + 2 * double(elements)) + 0.5);
    if (elements > 0 && n * (n - 1) / 2 == elements) return n;
    fail(detail::joined({"CorrCholeskyTransform: the value has ", std::to_string(elements),
                         " elements, expected n (n - 1) / 2 for n rows, as 1, 3 or 6"}));
  }
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
