// kl_divergence(p, q), the mean of log p(x) - log q(x) over draws of p, for the pairs that PyTorch
// has of one family; kl_pairs.hpp has those of two, and kl_vectors.hpp those of vectors and
// matrices. It is often -entropy(p) less the mean of log q(x), which takes a few moments of p.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/continuous_bernoulli.hpp"
#include "tenon/distributions/counts.hpp"
#include "tenon/distributions/discrete.hpp"
#include "tenon/distributions/gamma.hpp"
#include "tenon/distributions/gamma_quotients.hpp"
#include "tenon/distributions/location_scale.hpp"
#include "tenon/distributions/mixture.hpp"
#include "tenon/distributions/powers.hpp"
#include "tenon/distributions/transformed.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// Refuses distributions whose batches do not broadcast, or whose events differ.
inline void expect_pair(const Distribution& p, const Distribution& q) {
  const std::string of_p = joined({"the batch of p, a ", p.name(), ","}),
                    of_q = joined({"that of q, a ", q.name(), ","});
  broadcast_sizes("kl_divergence", of_p.c_str(), p.batch_shape(), of_q.c_str(), q.batch_shape());
  if (p.event_shape() == q.event_shape()) return;
  fail(joined({"kl_divergence: the event of p, a ", p.name(), ", is ", sizes_text(p.event_shape()),
               " and that of q, a ", q.name(), ", is ", sizes_text(q.event_shape()),
               ", expected the same"}));
}

// Means of x, log(x) and log(1 - x).
inline Tensor mean_log(const Gamma& p) { return digamma(p.concentration()) - log(p.rate()); }
inline Tensor mean_log(const Exponential& p) { return -std::numbers::egamma - log(p.rate()); }
inline Tensor mean_log(const Beta& p) {
  return digamma(p.concentration1()) - digamma(p.concentration1() + p.concentration0());
}
inline Tensor mean_log(const Uniform& p) {
  return (xlogy(p.high(), p.high()) - xlogy(p.low(), p.low())) / (p.high() - p.low()) - 1;
}
inline Tensor mean_log(const Pareto& p) { return log(p.scale()) + reciprocal(p.alpha()); }
inline Tensor mean_log_rest(const Uniform& p) {
  const Tensor low = xlog1py(1 - p.low(), -p.low()), high = xlog1py(1 - p.high(), -p.high());
  return (low - high) / (p.high() - p.low()) - 1;
}
// The logarithm of the mean of exp(-x / s).
inline Tensor log_mean_exp(const Normal& p, const Tensor& s) {
  return -p.loc() / s + 0.5 * square(p.scale() / s);
}
inline Tensor log_mean_exp(const Exponential& p, const Tensor& s) {
  return -log1p(reciprocal(p.rate() * s));
}
inline Tensor log_mean_exp(const Gamma& p, const Tensor& s) {
  return -p.concentration() * log1p(reciprocal(p.rate() * s));
}
inline Tensor log_mean_exp(const Uniform& p, const Tensor& s) {
  const Tensor width = (p.high() - p.low()) / s;
  return log(-expm1(-width) / width) - p.low() / s;
}
inline Tensor log_mean_exp(const Gumbel& p, const Tensor& s) {
  return -p.loc() / s + lgamma(1 + p.scale() / s);
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
inline Tensor mean_log_prob(const Gumbel& q, const Tensor& mean, const Tensor& log_mean_exp) {
  const Tensor at = q.loc() / q.scale();
  return at - mean / q.scale() - exp(at + log_mean_exp) - log(q.scale());
}
inline Tensor mean_log_prob(const ContinuousBernoulli& q, const Tensor& mean) {
  return mean * q.logits() + log_sigmoid(-q.logits()) + q.log_factor();
}
inline Tensor mean_log_prob(const Pareto& q, const Tensor& mean_log) {
  return log(q.alpha()) + q.alpha() * log(q.scale()) - (q.alpha() + 1) * mean_log;
}

// Infinite wherever `outside`.
inline Tensor infinite_where(const Tensor& outside, const Tensor& x) {
  return where(outside, INFINITY, x);
}
// By the mean and log_mean_exp of P.
template <typename P>
Tensor kl_to_gumbel(const P& p, const Gumbel& q) {
  return -p.entropy() - mean_log_prob(q, p.mean(), log_mean_exp(p, q.scale()));
}
// Of one trial. P and Q have the probability of an event and its logits.
template <typename P, typename Q>
Tensor kl_of_events(const P& p, const Q& q) {
  // p (log p - log q) + (1 - p) (log(1 - p) - log(1 - q)), each logarithm by the logits.
  const Tensor of_one = log_sigmoid(p.logits()) - log_sigmoid(q.logits());
  const Tensor of_zero = log_sigmoid(-p.logits()) - log_sigmoid(-q.logits());
  const Tensor one = where(p.probs() == 0, 0, p.probs() * of_one);
  const Tensor zero = where(p.probs() == 1, 0, (1 - p.probs()) * of_zero);
  const Tensor never = logical_or(logical_and(q.probs() == 0, p.probs() > 0),
                                  logical_and(q.probs() == 1, p.probs() < 1));
  return infinite_where(never, one + zero);
}

}  // namespace detail

inline Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q) {
  detail::expect_pair(p, q);
  return detail::kl_of_events(p, q);
}
// Infinite where q has fewer trials than p. Where it has more there is no closed form, and it is
// refused if arguments are validated, else NaN.
inline Tensor kl_divergence(const Binomial& p, const Binomial& q) {
  detail::expect_pair(p, q);
  const Tensor &n = p.total_count(), &m = q.total_count();
  detail::expect_all("kl_divergence", "total_count of p", n, n >= m, "at least that of q");
  const Tensor equal = where(n == 0, 0, n * detail::kl_of_events(p, q));
  return detail::infinite_where(n > m, where(n == m, equal, NAN));
}
inline Tensor kl_divergence(const Geometric& p, const Geometric& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::failures_log_prob(p.mean(), q.probs()) - log(q.probs());
}
inline Tensor kl_divergence(const Poisson& p, const Poisson& q) {
  detail::expect_pair(p, q);
  return xlogy(p.rate(), p.rate()) - xlogy(p.rate(), q.rate()) - (p.rate() - q.rate());
}
inline Tensor kl_divergence(const Categorical& p, const Categorical& q) {
  detail::expect_pair(p, q);
  Tensor each = p.probs() * (p.logits() - q.logits());
  each = detail::infinite_where(logical_and(q.probs() == 0, p.probs() > 0), each);
  return sum(where(p.probs() == 0, 0, each), {-1});
}
inline Tensor kl_divergence(const OneHotCategorical& p, const OneHotCategorical& q) {
  detail::expect_pair(p, q);
  return kl_divergence(p.categorical(), q.categorical());
}
inline Tensor kl_divergence(const Normal& p, const Normal& q) {
  detail::expect_pair(p, q);
  const Tensor ratio = square(p.scale() / q.scale());
  return 0.5 * (ratio + square((p.loc() - q.loc()) / q.scale()) - 1 - log(ratio));
}
// Gil, Alajaji & Linder, "Rényi divergence measures for commonly used univariate continuous
// distributions", 2013.
inline Tensor kl_divergence(const Laplace& p, const Laplace& q) {
  detail::expect_pair(p, q);
  const Tensor ratio = p.scale() / q.scale(), off = abs(p.loc() - q.loc());
  return off / q.scale() + ratio * exp(-off / p.scale()) - log(ratio) - 1;
}
// Chyzak & Nielsen, arXiv:1905.10965.
inline Tensor kl_divergence(const Cauchy& p, const Cauchy& q) {
  detail::expect_pair(p, q);
  return log(square(p.scale() + q.scale()) + square(p.loc() - q.loc())) -
         log(4 * p.scale() * q.scale());
}
inline Tensor kl_divergence(const Gumbel& p, const Gumbel& q) {
  detail::expect_pair(p, q);
  return detail::kl_to_gumbel(p, q);
}
// The halves of what is the same on both sides of 0.
inline Tensor kl_divergence(const HalfNormal& p, const HalfNormal& q) {
  detail::expect_pair(p, q);
  const Tensor ratio = square(p.scale() / q.scale());
  return 0.5 * (ratio - 1 - log(ratio));
}
inline Tensor kl_divergence(const HalfCauchy& p, const HalfCauchy& q) {
  detail::expect_pair(p, q);
  return log(square(p.scale() + q.scale())) - log(4 * p.scale() * q.scale());
}
inline Tensor kl_divergence(const Uniform& p, const Uniform& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(logical_or(q.low() > p.low(), q.high() < p.high()),
                                log((q.high() - q.low()) / (p.high() - p.low())));
}
inline Tensor kl_divergence(const Exponential& p, const Exponential& q) {
  detail::expect_pair(p, q);
  const Tensor ratio = q.rate() / p.rate();
  return ratio - log(ratio) - 1;
}
inline Tensor kl_divergence(const Gamma& p, const Gamma& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean(), detail::mean_log(p));
}
inline Tensor kl_divergence(const InverseGamma& p, const InverseGamma& q) {
  detail::expect_pair(p, q);
  const Gamma of_p(p.concentration(), p.rate()), of_q(q.concentration(), q.rate());
  return kl_divergence(of_p, of_q);
}
inline Tensor kl_divergence(const ContinuousBernoulli& p, const ContinuousBernoulli& q) {
  detail::expect_pair(p, q);
  return -p.entropy() - detail::mean_log_prob(q, p.mean());
}
inline Tensor kl_divergence(const Beta& p, const Beta& q) {
  detail::expect_pair(p, q);
  const Tensor a = p.concentration1(), b = p.concentration0();
  const Tensor da = a - q.concentration1(), db = b - q.concentration0();
  return q.log_factor() - p.log_factor() + da * digamma(a) + db * digamma(b) -
         (da + db) * digamma(a + b);
}
inline Tensor kl_divergence(const Pareto& p, const Pareto& q) {
  detail::expect_pair(p, q);
  return detail::infinite_where(p.scale() < q.scale(),
                                -p.entropy() - detail::mean_log_prob(q, detail::mean_log(p)));
}
inline Tensor kl_divergence(const Dirichlet& p, const Dirichlet& q) {
  detail::expect_pair(p, q);
  const Tensor a = p.concentration();
  const Tensor mean_log = digamma(a) - digamma(sum(a, {-1}, /*keepdim=*/true));
  return q.log_factor() - p.log_factor() + sum((a - q.concentration()) * mean_log, {-1});
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
// That of the bases, where both go through the same transforms.
template <typename P, typename Q, typename... Transforms>
requires requires(const P& p, const Q& q) { kl_divergence(p, q); }
Tensor kl_divergence(const TransformedDistribution<P, Transforms...>& p,
                     const TransformedDistribution<Q, Transforms...>& q) {
  if (detail::looks_at_tensors() && !(p.transforms() == q.transforms())) {
    fail("kl_divergence: the transforms of p and of q differ, expected the same");
  }
  return p.summed(kl_divergence(p.base(), q.base()));
}

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
