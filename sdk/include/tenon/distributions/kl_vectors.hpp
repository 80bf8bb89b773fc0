// kl_divergence(p, q) of normal vectors and of Wishart's matrices, for the pairs that PyTorch has.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/distributions/distribution.hpp"
#include "tenon/distributions/low_rank_multivariate_normal.hpp"
#include "tenon/distributions/matrices.hpp"
#include "tenon/distributions/multivariate_normal.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// Half the logarithm of the determinant of the covariance.
inline Tensor half_log_determinant(const MultivariateNormal& p) {
  return sum_log_diagonal(p.scale_tril());
}
inline Tensor half_log_determinant(const LowRankMultivariateNormal& p) {
  return p.half_log_determinant();
}
// Matrices whose products with their transposes add up to the covariance.
inline Tensor spread_of(const MultivariateNormal& p) { return p.scale_tril(); }
inline Tensor spread_of(const LowRankMultivariateNormal& p) {
  return cat({p.cov_factor(), diag_embed(sqrt(p.cov_diag()))}, -1);
}
// The trace of x^T Sigma^-1 x for matrices x [.., n, m] and the covariance Sigma of q.
inline Tensor distance_by(const MultivariateNormal& q, const Tensor& x) {
  return sum(square(solve_lower(q.scale_tril(), x)), {-2, -1});
}
inline Tensor distance_by(const LowRankMultivariateNormal& q, const Tensor& x) {
  const Tensor over_diag = x / q.cov_diag().unsqueeze(-1);
  return sum(x * over_diag, {-2, -1}) - sum(square(q.whitened(over_diag)), {-2, -1});
}
template <typename P, typename Q>
Tensor kl_of_normal_vectors(const P& p, const Q& q) {
  const int64_t n = p.loc().size(-1), other = q.loc().size(-1);
  if (n != other) {
    fail(joined({"kl_divergence: p has ", std::to_string(n), " dimensions and q ",
                 std::to_string(other), ", expected the same"}));
  }
  const Tensor spread = distance_by(q, spread_of(p));
  const Tensor distance = distance_by(q, (p.loc() - q.loc()).unsqueeze(-1));
  return half_log_determinant(q) - half_log_determinant(p) + 0.5 * (spread + distance - double(n));
}

}  // namespace detail

inline Tensor kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q) {
  return detail::kl_of_normal_vectors(p, q);
}
inline Tensor kl_divergence(const LowRankMultivariateNormal& p,
                            const LowRankMultivariateNormal& q) {
  return detail::kl_of_normal_vectors(p, q);
}
inline Tensor kl_divergence(const MultivariateNormal& p, const LowRankMultivariateNormal& q) {
  return detail::kl_of_normal_vectors(p, q);
}
inline Tensor kl_divergence(const LowRankMultivariateNormal& p, const MultivariateNormal& q) {
  return detail::kl_of_normal_vectors(p, q);
}
// -entropy(p) less the mean of log q(x), by the means of x and of log det x.
inline Tensor kl_divergence(const Wishart& p, const Wishart& q) {
  const int64_t n = p.scale_tril().size(-1), other = q.scale_tril().size(-1);
  if (n != other) {
    fail(detail::joined({"kl_divergence: p has ", std::to_string(n), " rows and q ",
                         std::to_string(other), ", expected the same"}));
  }
  const Tensor ratio = detail::solve_lower(q.scale_tril(), p.scale_tril());
  const Tensor mean_spread = p.df() * sum(square(ratio), {-2, -1});
  return q.log_factor() - p.entropy() + 0.5 * mean_spread -
         0.5 * (q.df() - double(n) - 1) * p.mean_log_determinant();
}

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
