// Random counts: of events in a time, and of trials that succeed. By inversion where the mean is below
// 10, and else by Stadlober, "The ratio of uniforms approach for generating discrete random variates"
// (Journal of Computational and Applied Mathematics 31, 1990). They are computed in float64.
#include <cmath>
#include <numbers>

#include "random.h"

namespace tenon::ops_pack {
namespace {

constexpr double kSmallMean = 10;

// ---- By inversion

constexpr int kSumsOfOne = 8, kSums = 48;  // a mean below 10 has less than 1e-18 behind these

// The probability of k + 1 is that of k, `m`, times (c - k d) / (k + 1); `b` is that of k and less, and
// n counts how many of these a uniform number u reaches.
ExpressionRef& next_sums() {
  static const auto& text = *new std::string([] {
    std::string lines;
    for (int j = 0; j < kSumsOfOne; ++j) {
      const std::string a = std::to_string(j), b = std::to_string(j + 1);
      lines += "let m" + b + " = m" + a + " * (c - (k + " + a + ") * d) / (k + " + b + ")\n";
      lines += "let b" + b + " = b" + a + " + m" + b + "\n";
      lines += "let n" + b + " = where(u >= b" + a + ", n" + a + " + 1, n" + a + ")\n";
    }
    const std::string last = std::to_string(kSumsOfOne);
    return lines + "m" + last + "\n b" + last + "\n n" + last;
  }());
  static ExpressionRef expression{
      "_next_sums(Tensor u, Tensor c, Tensor d, Tensor m0, Tensor b0, Tensor n0, float k) -> "
      "(Tensor, Tensor, Tensor)",
      text.c_str()};
  return expression;
}

Tensor draw_few(const char* op, const Tensor& first, const Tensor& c, const Tensor& d) {
  const Tensor u = uniform_numbers(op, first.sizes(), first.device());
  Tensor mass = first, below = first, count = zeros_like(first);
  for (int k = 0; k < kSums; k += kSumsOfOne) {
    std::tie(mass, below, count) = prim::elementwise<std::tuple<Tensor, Tensor, Tensor>>(
        next_sums(), u, c, d, mass, below, count, double(k));
  }
  return count;
}

// ---- By a ratio of uniform numbers

// `name` is log(k!), k being 0 or more: Stirling's series from 8 on, to which smaller ones are moved.
// DLMF 5.11.1.
std::string log_factorial(const std::string& name, const std::string& k) {
  const std::string z = "z" + name, w = "w" + name, i = "i" + name, moved = "moved" + name;
  return "let " + z + " = " + k + " + 1\n" +                                               //
         "let " + w + " = where(" + z + " < 8, " + z + " + 7, " + z + ")\n" +              //
         "let " + moved + " = where(" + z + " < 8, " + z + " * (" + z + " + 1) * (" + z +  //
         " + 2) * (" + z + " + 3) * (" + z + " + 4) * (" + z + " + 5) * (" + z + " + 6), 1.0)\n" +
         "let " + i + " = 1 / (" + w + " * " + w + ")\n" +  //
         "let " + name + " = (" + w + " - 0.5) * log(" + w + ") - " + w +
         " + 0.91893853320467274 + (0.083333333333333333 + " + i + " * (-0.0027777777777777778 + " +
         i + " * (7.9365079365079365e-4 + " + i + " * (-5.9523809523809524e-4 + " + i +
         " * 8.4175084175084175e-4)))) / " + w + " - log(" + moved + ")\n";
}

// A count is floor(mean + 0.5 + h (u - 0.5) / v), which is taken if v^2 is below its probability over the
// largest one, whose logarithm is `ratio`. `missing` is 1 where nothing was taken yet.
std::string round_text(const std::string& ratio) {
  return "let k = floor(mean + 0.5 + h * (u - 0.5) / v)\n" + ratio +
         "let takes = missing > 0 and k >= 0 and 2 * log(v) < ratio\n"
         "where(takes, k, count)\n where(takes, 0.0, missing)";
}
#define ROUND(name, more)                                                                     \
  name "(Tensor u, Tensor v, Tensor mean, Tensor h, Tensor slope, Tensor top, Tensor count, " \
       "Tensor missing" more ") -> (Tensor, Tensor)"

ExpressionRef& poisson_round() {
  static const auto& text = *new std::string(
      round_text(log_factorial("of_k", "max(k, 0)") + "let ratio = k * slope - of_k - top\n"));
  static ExpressionRef expression{ROUND("_poisson_round", ""), text.c_str()};
  return expression;
}
ExpressionRef& binomial_round() {
  static const auto& text = *new std::string(
      round_text(log_factorial("of_k", "max(k, 0)") + log_factorial("of_rest", "max(n - k, 0)") +
                 "let ratio = where(k <= n, k * slope - of_k - of_rest - top, -inf)\n"));
  static ExpressionRef expression{ROUND("_binomial_round", ", Tensor n"), text.c_str()};
  return expression;
}
#undef ROUND

// Less than 43% of the draws are rejected where the mean is 10 or more. There are always 24 rounds, so that
// nothing waits for the device and a compiled function replays it; of 1e9 draws at most about one is then
// still missing and is the mode.
template <typename... More>
Tensor draw_many(const char* op, ExpressionRef& round, const Tensor& mean, const Tensor& variance,
                 const Tensor& mode, const Tensor& slope, const Tensor& top, const More&... more) {
  const Tensor h =
      sqrt(variance + 0.5) * std::sqrt(8 / std::numbers::e) + (3 - std::sqrt(12 / std::numbers::e));
  Tensor count = mode, missing = ones_like(mean);
  for (int k = 0; k < 24; ++k) {
    const Tensor u = uniform_numbers(op, mean.sizes(), mean.device());
    const Tensor v = uniform_numbers(op, mean.sizes(), mean.device());
    std::tie(count, missing) = prim::elementwise<std::tuple<Tensor, Tensor>>(
        round, u, v, mean, h, slope, top, count, missing, more...);
  }
  return count;
}

// ---- The two

constinit ExpressionRef no_rate{"_no_rate(Tensor rate) -> Tensor", "where(rate >= 0, 0.0, 1.0)"};

Tensor poisson_of(const Tensor& rates) {
  const Tensor rate = as_dtype(rates, float64);
  const Tensor few = draw_few("poisson", exp(-rate), rate, zeros_like(rate));
  const Tensor mode = floor(rate), slope = log(rate);
  const Tensor top = mode * slope - lgamma(mode + 1);
  const Tensor many = draw_many("poisson", poisson_round(), rate, rate, mode, slope, top);
  return as_dtype(where(rate < kSmallMean, few, many), rates.dtype());
}

// Where events are more probable than not, what has none is drawn.
Tensor binomial_of(const Tensor& count, const Tensor& prob) {
  const Tensor n = as_dtype(count, float64), given = as_dtype(prob, float64);
  const Tensor swapped = given > 0.5, p = where(swapped, 1 - given, given);
  const Tensor odds = p / (1 - p), mean = n * p;
  const Tensor few = draw_few("binomial", exp(n * log1p(-p)), n * odds, odds);
  const Tensor mode = floor((n + 1) * p), slope = log(odds);
  const Tensor top = mode * slope - lgamma(mode + 1) - lgamma(n - mode + 1);
  const Tensor many =
      draw_many("binomial", binomial_round(), mean, mean * (1 - p), mode, slope, top, n);
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
