// kl_divergence(p, q) of two families, for the pairs that PyTorch has: -entropy(p) less the mean of
// log q(x). It is infinite where p gives what q never does.
#pragma once

#include <cmath>
#include <numbers>

#include "tenon/distributions/kl.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {
inline Tensor infinite(const Distribution& p, const Distribution& q, const Tensor& like) {
  const Sizes sizes =
      broadcast_sizes("kl_divergence", p.name(), p.batch_shape(), q.name(), q.batch_shape());
  return full(sizes, INFINITY, like.dtype(), like.device());
}
// Where the moment of this order is infinite, another distribution: the gradients of what is dropped
// there would be no numbers.
inline Pareto with_moment(const Pareto& p, int order) {
  return Pareto(p.scale(), where(p.alpha() <= order, order + 1, p.alpha()));
}
}  // namespace detail

inline Tensor kl_divergence(const Beta& p, const Exponential& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean());
}
inline Tensor kl_divergence(const Beta& p, const Gamma& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p));
}
inline Tensor kl_divergence(const Beta& p, const Normal& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Beta& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(logical_or(q.low() > 0, q.high() < 1),
                                log(q.high() - q.low()) - p.entropy());
}
inline Tensor kl_divergence(const Exponential& p, const Gamma& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p));
}
inline Tensor kl_divergence(const Exponential& p, const Normal& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Gamma& p, const Exponential& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean());
}
inline Tensor kl_divergence(const Gamma& p, const Normal& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Uniform& p, const Beta& q) {
  detail::expect_pair(p, q);
  const Tensor a = q.concentration1() - 1, b = q.concentration0() - 1;
  return detail::infinite_where(
      logical_or(p.high() > 1, p.low() < 0),
      q.log_factor() - p.entropy() - a * detail::mean_log(p) - b * detail::mean_log_rest(p));
}
inline Tensor kl_divergence(const Uniform& p, const Exponential& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(p.low() < 0, -p.entropy() - detail::mean_log_prob(q, p.mean()));
}
inline Tensor kl_divergence(const Uniform& p, const Gamma& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(
      p.low() < 0, -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p)));
}
inline Tensor kl_divergence(const Uniform& p, const Normal& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Gumbel& p, const Normal& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Laplace& p, const Normal& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
// The mean of |x - loc| is that of a normal number that is folded at loc: Leone, Nelson &
// Nottingham, "The Folded Normal Distribution", 1961.
inline Tensor kl_divergence(const Normal& p, const Laplace& q) {
  detail::expect_pair(p, q);
  const Tensor off = p.loc() - q.loc(), z = off / (std::numbers::sqrt2 * p.scale());
  const Tensor mean_distance =
      std::sqrt(2 / std::numbers::pi) * p.scale() * exp(-square(z)) + off * erf(z);
  return log(2 * q.scale()) + mean_distance / q.scale() - p.entropy();
}
inline Tensor kl_divergence(const Pareto& p, const Exponential& q) {
  detail::expect_pair(p, q);
  const Pareto x = detail::with_moment(p, 1);
  return detail::infinite_where(p.alpha() <= 1, -x.entropy() - detail::mean_log_prob(q, x.mean()));
}
inline Tensor kl_divergence(const Pareto& p, const Gamma& q) {
  detail::expect_pair(p, q);
  const Pareto x = detail::with_moment(p, 1);
  return detail::infinite_where(
      p.alpha() <= 1, -x.entropy() - detail::mean_log_prob(q, x.mean(), detail::mean_log(x)));
}
inline Tensor kl_divergence(const Pareto& p, const Normal& q) {
  detail::expect_pair(p, q);
  const Pareto x = detail::with_moment(p, 2);
  return detail::infinite_where(p.alpha() <= 2,
                                -x.entropy() - detail::mean_log_prob(q, x.mean(), x.variance()));
}
inline Tensor kl_divergence(const Uniform& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(p.low() < q.scale(),
                                -p.entropy() - detail::mean_log_prob(q, detail::mean_log(p)));
}
inline Tensor kl_divergence(const Exponential& p, const Gumbel& q) {
  detail::expect_pair(p, q);
  return detail::kl_to_gumbel(p, q);
}
inline Tensor kl_divergence(const Gamma& p, const Gumbel& q) {
  detail::expect_pair(p, q);
  return detail::kl_to_gumbel(p, q);
}
inline Tensor kl_divergence(const Normal& p, const Gumbel& q) {
  detail::expect_pair(p, q);
  return detail::kl_to_gumbel(p, q);
}
inline Tensor kl_divergence(const Uniform& p, const Gumbel& q) {
  detail::expect_pair(p, q);
  return detail::kl_to_gumbel(p, q);
}
inline Tensor kl_divergence(const Bernoulli& p, const Poisson& q) {
  detail::expect_pair(p, q);
  return q.rate() - xlogy(p.probs(), q.rate()) - p.entropy();
}
// The mean of log q(x) is linear in that of x. Where a support reaches over the other's the
// divergence is infinite; PyTorch says so also where they only meet at an end.
inline Tensor kl_divergence(const Beta& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean());
}
inline Tensor kl_divergence(const Uniform& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(logical_or(p.high() > 1, p.low() < 0),
                                -p.entropy() - detail::mean_log_prob(q, p.mean()));
}
inline Tensor kl_divergence(const ContinuousBernoulli& p, const Exponential& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean());
}
inline Tensor kl_divergence(const ContinuousBernoulli& p, const Normal& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const ContinuousBernoulli& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(logical_or(q.low() > 0, q.high() < 1),
                                log(q.high() - q.low()) - p.entropy());
}

// q is 0 where p is not.
inline Tensor kl_divergence(const Exponential& p, const Beta& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Exponential& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Gamma& p, const Beta& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Gamma& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Normal& p, const Beta& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Normal& p, const Exponential& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Normal& p, const Gamma& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Normal& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Beta& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.concentration1());
}
inline Tensor kl_divergence(const Exponential& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Gamma& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Normal& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Gumbel& p, const Beta& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Gumbel& p, const Exponential& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Gumbel& p, const Gamma& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Gumbel& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Gumbel& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Laplace& p, const Beta& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Laplace& p, const Exponential& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Laplace& p, const Gamma& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Laplace& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Laplace& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Pareto& p, const Beta& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.scale());
}
inline Tensor kl_divergence(const Pareto& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.scale());
}
inline Tensor kl_divergence(const Exponential& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Gamma& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Normal& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Gumbel& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Laplace& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Pareto& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.scale());
}
inline Tensor kl_divergence(const ContinuousBernoulli& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.probs());
}
inline Tensor kl_divergence(const Poisson& p, const Bernoulli& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Poisson& p, const Binomial& q) {
  detail::expect_pair(p, q);
  return detail::infinite(p, q, p.rate());
}

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
