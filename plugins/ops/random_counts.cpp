// Random counts: of events in a time, and of trials that succeed. By inversion where the mean is below
// 10, and else by Stadlober, "The ratio of uniforms approach for generating discrete random variates"
// (Journal of Computational and Applied Mathematics 31, 1990). They are computed in float64.
#include <cmath>
#include <numbers>

#include "random.h"

namespace tenon::ops_pack {
namespace {

constexpr double kSmallMean = 10;

// The probability of k + 1 is that of k, `mass`, times (c - k d) / (k + 1); `below` is that of k and less.
constinit ExpressionRef next_sum{
    "_next_sum(Tensor u, Tensor c, Tensor d, Tensor mass, Tensor below, Tensor count, float k) -> "
    "(Tensor, Tensor, Tensor)",
    "let next = mass * (c - k * d) / (k + 1)\n next\n below + next\n "
    "where(u >= below, count + 1, count)"};
constinit ExpressionRef proposal{"_proposal(Tensor u, Tensor v, Tensor mean, Tensor h) -> Tensor",
                                 "floor(mean + 0.5 + h * (u - 0.5) / v)"};
// `missing` is 1 where nothing was taken yet.
constinit ExpressionRef taken{
    "_taken(Tensor k, Tensor v, Tensor log_ratio, Tensor count, Tensor missing) -> "
    "(Tensor, Tensor)",
    "let takes = missing > 0 and k >= 0 and 2 * log(v) < log_ratio\n where(takes, k, count)\n "
    "where(takes, 0.0, missing)"};
constinit ExpressionRef no_rate{"_no_rate(Tensor rate) -> Tensor", "where(rate >= 0, 0.0, 1.0)"};

// Inversion: how many of the first 48 sums of probabilities a uniform number reaches. `first` is the
// probability of 0. Of a mean below 10 the 49th and later ones sum to less than 1e-18.
Tensor draw_few(const char* op, const Tensor& first, const Tensor& c, const Tensor& d) {
  const Tensor u = uniform_numbers(op, first.sizes(), first.device());
  Tensor mass = first, below = first, count = zeros_like(first);
  for (int k = 0; k < 48; ++k) {
    std::tie(mass, below, count) = prim::elementwise<std::tuple<Tensor, Tensor, Tensor>>(
        next_sum, u, c, d, mass, below, count, double(k));
  }
  return count;
}

// Stadlober's: floor(mean + 0.5 + h (u - 0.5) / v) is taken if v^2 is below its probability over
// the largest one, which `log_ratio` gives the logarithm of. Less than 43% of the draws are
// rejected where the mean is 10 or more. There are always 24 rounds, so that nothing waits for the
// device and a compiled function replays it; of 1e9 draws at most about one is then still missing
// and is the mode.
template <typename LogRatio>
Tensor draw_many(const char* op, const Tensor& mean, const Tensor& variance, const Tensor& mode,
                 const LogRatio& log_ratio) {
  const Tensor h =
      sqrt(variance + 0.5) * std::sqrt(8 / std::numbers::e) + (3 - std::sqrt(12 / std::numbers::e));
  Tensor count = mode, missing = ones_like(mean);
  for (int round = 0; round < 24; ++round) {
    const Tensor u = uniform_numbers(op, mean.sizes(), mean.device());
    const Tensor v = uniform_numbers(op, mean.sizes(), mean.device());
    const Tensor k = prim::elementwise(proposal, u, v, mean, h);
    std::tie(count, missing) =
        prim::elementwise<std::tuple<Tensor, Tensor>>(taken, k, v, log_ratio(k), count, missing);
  }
  return count;
}

Tensor poisson_of(const Tensor& rates) {
  const Tensor rate = as_dtype(rates, float64);
  const Tensor few = draw_few("poisson", exp(-rate), rate, zeros_like(rate));
  const Tensor mode = floor(rate), log_rate = log(rate);
  const Tensor most = mode * log_rate - lgamma(mode + 1);
  const Tensor many = draw_many("poisson", rate, rate, mode, [&](const Tensor& k) {
    return k * log_rate - lgamma(k + 1) - most;
  });
  return as_dtype(where(rate < kSmallMean, few, many), rates.dtype());
}

// Where events are more probable than not, what has none is drawn.
Tensor binomial_of(const Tensor& count, const Tensor& prob) {
  const Tensor n = as_dtype(count, float64), given = as_dtype(prob, float64);
  const Tensor swapped = given > 0.5, p = where(swapped, 1 - given, given);
  const Tensor odds = p / (1 - p), mean = n * p;
  const Tensor few = draw_few("binomial", exp(n * log1p(-p)), n * odds, odds);
  const Tensor mode = floor((n + 1) * p), log_odds = log(odds);
  const auto log_mass = [&](const Tensor& k) {
    return k * log_odds - lgamma(k + 1) - lgamma(n - k + 1);
  };
  const Tensor most = log_mass(mode);
  const Tensor many = draw_many("binomial", mean, mean * (1 - p), mode, [&](const Tensor& k) {
    return where(k <= n, log_mass(k) - most, -INFINITY);
  });
  const Tensor drawn = minimum(where(mean < kSmallMean, few, many), n);
  return as_dtype(where(swapped, n - drawn, drawn), prob.dtype());
}

}  // namespace

void random_counts() {
  op("poisson(Tensor rates) -> Tensor")
      .doc(
          "How many events come in a time in which there are so many on average, element by "
          "element: k with the probability rate^k exp(-rate) / k!.")
      .random()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor rates) {
        expect_floating("poisson", rates.dtype());
        expect_each("poisson", "rates", "0 or more", no_rate, rates);
        return poisson_of(rates);
      });
  op("binomial(Tensor count, Tensor prob) -> Tensor")
      .doc(
          "How many of count trials succeed, of which each does with the probability prob, element "
          "by element; the two have one dtype, of floats.")
      .random()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor count, Tensor prob) {
        expect_floating("binomial", prob.dtype());
        if (count.dtype() != prob.dtype())
          fail(std::string("binomial: count is ") + count.dtype().name() + " and prob " +
               prob.dtype().name() + ", expected one dtype");
        expect_each("binomial", "count", "0 or more", no_rate, count);
        expect_probabilities("binomial", "prob", prob);
        const Tensor both[] = {count, prob};
        const std::vector<Tensor> same = broadcast_tensors(Tensors(both, 2));
        return binomial_of(same[0], same[1]);
      });
}

}  // namespace tenon::ops_pack
