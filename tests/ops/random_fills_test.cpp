// Distributions that are written to a tensor: their functions at several places, what lies outside
// of them, and what they refuse.
#include <cmath>

#include "refusals.h"

namespace {

constexpr int64_t kDraws = 20000;

// The share of `draws` up to x is that of the distribution, but for 5 standard deviations.
void expect_share(const Tensor& draws, double x, double share) {
  const double n = double(draws.numel());
  const double found = (draws <= x).to(tn::float64).mean().item<double>();
  EXPECT_NEAR(found, share, 5 * std::sqrt(share * (1 - share) / n)) << "up to " << x;
}

Tensor blank(tn::Device d, tn::Dtype dtype = tn::float32) { return tn::empty({kDraws}, dtype, d); }

TEST(RandomFills, HaveTheirDistributions) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(5);
    for (const tn::Dtype dtype : {tn::float32, tn::float64}) {
      const Tensor waits = blank(d, dtype).exponential_(0.5);
      const Tensor wide = blank(d, dtype).cauchy_(3, 2);
      const Tensor grown = blank(d, dtype).log_normal_(0.5, 1.5);
      for (const double x : {0.1, 1.0, 3.0, 8.0}) {
        expect_share(waits, x, 1 - std::exp(-0.5 * x));
        expect_share(wide, x, 0.5 + std::atan((x - 3) / 2) / M_PI);
        expect_share(grown, x, 0.5 * std::erfc(-(std::log(x) - 0.5) / 1.5 / std::sqrt(2.0)));
      }
      EXPECT_GT(waits.amin().item<double>(), 0);
    }
    for (const tn::Dtype dtype : {tn::int64, tn::float32, tn::float16}) {
      const Tensor tries = blank(d, dtype).geometric_(0.3);
      for (const int k : {1, 2, 5}) expect_share(tries, k, 1 - std::pow(0.7, k));
      EXPECT_EQ(tries.to(tn::float64).amin().item<double>(), 1);
    }
  }
}

TEST(RandomFills, AreTheSameOnEveryDevice) {
  std::vector<std::vector<double>> drawn;
  for (tn::Device d : devices()) {
    tn::manual_seed(9);
    const Tensor all = tn::cat({tn::zeros({40}, tn::float64, d).exponential_(),
                                tn::zeros({40}, tn::float64, d).geometric_(0.2),
                                tn::zeros({40}, tn::float64, d).log_normal_(0, 1)});
    drawn.push_back(all.to_vector<double>());
  }
  for (const auto& other : drawn) {
    for (size_t i = 0; i < other.size(); ++i)
      EXPECT_NEAR(other[i], drawn[0][i], 1e-6 * std::abs(drawn[0][i]));
  }
}

// What was there has no part in what is written.
TEST(RandomFills, EndTheGradientOfWhatTheyOverwrite) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::ones({3}, {}, d).requires_grad_();
    for (const int which : {0, 1, 2, 3}) {
      Tensor y = x * 2;
      if (which == 0) y.exponential_();
      if (which == 1) y.geometric_(0.5);
      if (which == 2) y.cauchy_();
      if (which == 3) y.log_normal_();
      const Tensor g = tn::grad({(y + x).sum()}, {x})[0];
      expect_near(g, {1, 1, 1}, 0);
    }
  }
}

TEST(RandomFills, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) { zeros_on(d, {2}).exponential_(0); },
       "exponential_: lambd is 0, expected more than 0"},
      {[](tn::Device d) { places_on(d, {2}).exponential_(); },
       "exponential_: x is int64, expected a floating dtype"},
      {[](tn::Device d) { zeros_on(d, {2}).geometric_(1); },
       "geometric_: p is 1, expected more than 0 and less than 1"},
      {[](tn::Device d) { tn::zeros({2}, tn::bool_, d).geometric_(0.5); },
       "geometric_: x is bool, expected a number"},
      {[](tn::Device d) { zeros_on(d, {2}).cauchy_(0, -1); },
       "cauchy_: sigma is -1, expected more than 0"},
      {[](tn::Device d) { zeros_on(d, {2}).cauchy_(NAN); },
       "cauchy_: median is nan, expected a finite number"},
      {[](tn::Device d) { zeros_on(d, {2}).log_normal_(0, 0); },
       "log_normal_: std is 0, expected more than 0"},
      {[](tn::Device d) { zeros_on(d, {2}).log_normal_(INFINITY); },
       "log_normal_: mean is inf, expected a finite number"},
  });
}

// Whether counts have their distributions is tested with those of tn::distributions.
TEST(RandomCounts, EndsBroadcastingAndRefusals) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor none = tn::poisson(tn::tensor<float>({0, 0, 0}, d));
    expect_near(none, {0, 0, 0}, 0);
    EXPECT_EQ(tn::poisson(tn::full({2}, 4.0, tn::float16, d)).dtype(), tn::float16);
    EXPECT_EQ(tn::poisson(tn::empty({0, 2}, tn::float32, d)).numel(), 0);
    const Tensor counts = tn::tensor<double>({{7}, {300}}, d);
    const Tensor drawn = tn::binomial(counts, tn::tensor<double>({0, 1}, d));
    expect_near(drawn, {0, 7, 0, 300}, 0);
    const Tensor half = tn::binomial(tn::full({1000}, 20.0, {}, d), tn::full({1000}, 0.5, {}, d));
    EXPECT_GE(tn::amin(half).item<float>(), 0);
    EXPECT_LE(tn::amax(half).item<float>(), 20);
    EXPECT_NEAR(half.mean().item<float>(), 10, 0.5);  // seven standard errors
    expect_error([&] { tn::poisson(tn::ones({2}, tn::int64, d)); },
                 "poisson: dtype is int64, expected a floating dtype");
    expect_error([&] { tn::binomial(tn::ones({2}, tn::float64, d), tn::ones({2}, {}, d)); },
                 "binomial: count is float64 and prob float32, expected one dtype");
    expect_error([&] { tn::binomial(tn::ones({2}, {}, d), tn::ones({3}, {}, d)); }, "[3]");
  }
  // Where it may be looked at.
  expect_error(
      [] {
        tn::poisson(tn::tensor({1.f, -1.f}));
      },
      "poisson: an element of rates is not 0 or more");
  expect_error([] { tn::binomial(tn::tensor({NAN}), tn::tensor({0.5f})); },
               "binomial: an element of count is not 0 or more");
  expect_error([] { tn::binomial(tn::tensor({3.f}), tn::tensor({1.5f})); },
               "binomial: an element of prob is not within 0 to 1");
}

}  // namespace
