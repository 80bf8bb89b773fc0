// kl_divergence(p, q), the mean of log p(x) - log q(x) over draws of p, for the pairs that PyTorch
// has among the distributions here. Of two families it is -entropy(p) less the mean of log q(x),
// which takes a few moments of p; it is infinite where p gives what q never does.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/gamma.hpp"
#include "tenon/distributions/mixture.hpp"
#include "tenon/distributions/multivariate_normal.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// Means of x, log(x) and log(1 - x).
inline Tensor mean_log(const Gamma& p) { return digamma(p.concentration()) - log(p.rate()); }
inline Tensor mean_log(const Exponential& p) { return -std::numbers::egamma - log(p.rate()); }
inline Tensor mean_log(const Beta& p) {
  return digamma(p.concentration1()) - digamma(p.concentration1() + p.concentration0());
}
inline Tensor mean_log(const Uniform& p) {
  return (xlogy(p.high(), p.high()) - xlogy(p.low(), p.low())) / (p.high() - p.low()) - 1;
}
inline Tensor mean_log_rest(const Uniform& p) {
  return mean_log(Uniform(1 - p.high(), 1 - p.low()));
}

// The mean of log q(x) by the moments of x.
inline Tensor mean_log_prob(const Normal& q, const Tensor& mean, const Tensor& variance) {
  return -0.5 * (variance + square(mean - q.loc())) / square(q.scale()) - log(q.scale()) -
         kLogSqrtTwoPi;
}
inline Tensor mean_log_prob(const Exponential& q, const Tensor& mean) {
  return log(q.rate()) - q.rate() * mean;
}
inline Tensor mean_log_prob(const Gamma& q, const Tensor& mean, const Tensor& mean_log) {
  return q.concentration() * log(q.rate()) - lgamma(q.concentration()) +
         (q.concentration() - 1) * mean_log - q.rate() * mean;
}

// Infinite wherever `outside`.
inline Tensor infinite_where(const Tensor& outside, const Tensor& x) {
  return where(outside, INFINITY, x);
}
inline Tensor infinite(const Distribution& p, const Distribution& q, const Tensor& like) {
  const Sizes sizes =
      broadcast_sizes("kl_divergence", p.name(), p.batch_shape(), q.name(), q.batch_shape());
  return full(sizes, INFINITY, like.dtype(), like.device());
}

}  // namespace detail

inline Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q) {
  // p (log p - log q) + (1 - p) (log(1 - p) - log(1 - q)), each logarithm by the logits.
  const Tensor of_one = log_sigmoid(p.logits()) - log_sigmoid(q.logits());
  const Tensor of_zero = log_sigmoid(-p.logits()) - log_sigmoid(-q.logits());
  const Tensor one = where(p.probs() == 0, 0, p.probs() * of_one);
  const Tensor zero = where(p.probs() == 1, 0, (1 - p.probs()) * of_zero);
  const Tensor never = logical_or(logical_and(q.probs() == 0, p.probs() > 0),
                                  logical_and(q.probs() == 1, p.probs() < 1));
  return detail::infinite_where(never, one + zero);
}
inline Tensor kl_divergence(const Categorical& p, const Categorical& q) {
  Tensor each = p.probs() * (p.logits() - q.logits());
  each = detail::infinite_where(logical_and(q.probs() == 0, p.probs() > 0), each);
  return sum(where(p.probs() == 0, 0, each), {-1});
}
inline Tensor kl_divergence(const Normal& p, const Normal& q) {
  const Tensor ratio = square(p.scale() / q.scale());
  return 0.5 * (ratio + square((p.loc() - q.loc()) / q.scale()) - 1 - log(ratio));
}
inline Tensor kl_divergence(const Uniform& p, const Uniform& q) {
  return detail::infinite_where(logical_or(q.low() > p.low(), q.high() < p.high()),
                                log((q.high() - q.low()) / (p.high() - p.low())));
}
inline Tensor kl_divergence(const Exponential& p, const Exponential& q) {
  const Tensor ratio = q.rate() / p.rate();
  return ratio - log(ratio) - 1;
}
inline Tensor kl_divergence(const Gamma& p, const Gamma& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p));
}
inline Tensor kl_divergence(const Beta& p, const Beta& q) {
  const Tensor a = p.concentration1(), b = p.concentration0();
  const Tensor da = a - q.concentration1(), db = b - q.concentration0();
  return q.log_factor() - p.log_factor() + da * digamma(a) + db * digamma(b) -
         (da + db) * digamma(a + b);
}
inline Tensor kl_divergence(const Dirichlet& p, const Dirichlet& q) {
  const Tensor a = p.concentration();
  const Tensor mean_log = digamma(a) - digamma(sum(a, {-1}, /*keepdim=*/true));
  return q.log_factor() - p.log_factor() + sum((a - q.concentration()) * mean_log, {-1});
}
inline Tensor kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q) {
  const Tensor &of_p = p.scale_tril(), &of_q = q.scale_tril();
  const Tensor off = (p.loc() - q.loc()).unsqueeze(-1);
  const Tensor spread = sum(square(detail::solve_lower(of_q, of_p)), {-2, -1});
  const Tensor distance = sum(square(detail::solve_lower(of_q, off)), {-2, -1});
  return detail::sum_log_diagonal(of_q) - detail::sum_log_diagonal(of_p) +
         0.5 * (spread + distance - double(of_p.size(-1)));
}
template <typename P, typename Q>
requires requires(const P& p, const Q& q) { kl_divergence(p, q); }
Tensor kl_divergence(const Independent<P>& p, const Independent<Q>& q) {
  if (p.reinterpreted_batch_ndims() != q.reinterpreted_batch_ndims()) {
    fail(detail::joined({"kl_divergence: reinterpreted_batch_ndims of p is ",
                         std::to_string(p.reinterpreted_batch_ndims()), " and of q ",
                         std::to_string(q.reinterpreted_batch_ndims()), ", expected the same"}));
  }
  return p.summed(kl_divergence(p.base(), q.base()));
}

inline Tensor kl_divergence(const Beta& p, const Exponential& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean());
}
inline Tensor kl_divergence(const Beta& p, const Gamma& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p));
}
inline Tensor kl_divergence(const Beta& p, const Normal& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Beta& p, const Uniform& q) {
  return detail::infinite_where(logical_or(q.low() > 0, q.high() < 1),
                                log(q.high() - q.low()) - p.entropy());
}
inline Tensor kl_divergence(const Exponential& p, const Gamma& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p));
}
inline Tensor kl_divergence(const Exponential& p, const Normal& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Gamma& p, const Exponential& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean());
}
inline Tensor kl_divergence(const Gamma& p, const Normal& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}
inline Tensor kl_divergence(const Uniform& p, const Beta& q) {
  const Tensor a = q.concentration1() - 1, b = q.concentration0() - 1;
  return detail::infinite_where(
      logical_or(p.high() > 1, p.low() < 0),
      q.log_factor() - p.entropy() - a * detail::mean_log(p) - b * detail::mean_log_rest(p));
}
inline Tensor kl_divergence(const Uniform& p, const Exponential& q) {
  return detail::infinite_where(p.low() < 0, -p.entropy() - detail::mean_log_prob(q, p.mean()));
}
inline Tensor kl_divergence(const Uniform& p, const Gamma& q) {
  return detail::infinite_where(
      p.low() < 0, -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p)));
}
inline Tensor kl_divergence(const Uniform& p, const Normal& q) {
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), p.variance());
}

// q is 0 where p is not.
inline Tensor kl_divergence(const Exponential& p, const Beta& q) {
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Exponential& p, const Uniform& q) {
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Gamma& p, const Beta& q) {
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Gamma& p, const Uniform& q) {
  return detail::infinite(p, q, p.rate());
}
inline Tensor kl_divergence(const Normal& p, const Beta& q) {
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Normal& p, const Exponential& q) {
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Normal& p, const Gamma& q) {
  return detail::infinite(p, q, p.loc());
}
inline Tensor kl_divergence(const Normal& p, const Uniform& q) {
  return detail::infinite(p, q, p.loc());
}

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
