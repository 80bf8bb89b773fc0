// Random ops: the Philox sequence, the same on every backend, and its distributions.
#include "ops_support.h"

namespace {

TEST(Random, OneSeedOneSequence) {
  load_all();
  tn::manual_seed(7);
  Tensor a = tn::rand({5}), b = tn::rand({5});
  tn::manual_seed(7);
  EXPECT_EQ(tn::rand({5}).to_vector<float>(), a.to_vector<float>());
  EXPECT_EQ(tn::rand({5}).to_vector<float>(), b.to_vector<float>());
  EXPECT_NE(a.to_vector<float>(), b.to_vector<float>());
  tn::RandomState state = tn::random_state();
  Tensor c = tn::randn({3});
  tn::set_random_state(state);
  EXPECT_EQ(tn::randn({3}).to_vector<float>(), c.to_vector<float>());
}

TEST(Random, BackendsAgree) {
  std::vector<std::vector<double>> drawn[2];
  size_t n = 0;
  for (tn::Device d : devices()) {
    tn::manual_seed(123);
    auto& list = drawn[n++];
    for (const Tensor& t :
         {tn::rand({1000}, {}, d), tn::rand({100}, tn::float64, d),
          tn::uniform({7, 3}, -2, 5, {}, d), tn::bernoulli(tn::full({500}, 0.3, {}, d)),
          tn::dropout(tn::ones({400}, {}, d), 0.25), tn::rand({50}, tn::float16, d),
          tn::rand_like(tn::zeros({9}, tn::bfloat16, d)), tn::randint(-5, 1000, {300}, {}, d),
          tn::randint_like(tn::zeros({40}, tn::float32, d), 3, 7), tn::randperm(500, {}, d),
          tn::multinomial(tn::rand({3, 200}, {}, d), 150),
          tn::multinomial(tn::rand({3, 200}, {}, d), 300, true),
          tn::uniform_(tn::zeros({33}, tn::float64, d), -1, 4),
          tn::bernoulli_(tn::zeros({99}, tn::int32, d), 0.3)}) {
      list.push_back(t.to_vector<double>());
    }
    Tensor normal = tn::randn({1000}, {}, d);
    list.push_back(normal.to_vector<double>());
  }
  if (n < 2) GTEST_SKIP() << "one device only";
  for (size_t i = 0; i + 1 < drawn[0].size(); ++i) EXPECT_EQ(drawn[0][i], drawn[1][i]) << i;
  for (size_t i = 0; i < 1000; ++i) {  // 4 units in the last place
    double x = drawn[0].back()[i];
    EXPECT_NEAR(x, drawn[1].back()[i], 4 * std::fabs(x) * 0x1p-23 + 1e-30);
  }
}

TEST(Random, Moments) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(1);
    const int64_t n = 20000;
    // 5 standard deviations of the mean.
    double slack = 5 / std::sqrt(double(n));
    EXPECT_NEAR(tn::rand({n}, {}, d).mean().item<double>(), 0.5, slack * 0.2887);
    Tensor normal = tn::randn({n}, {}, d);
    EXPECT_NEAR(normal.mean().item<double>(), 0, slack);
    EXPECT_NEAR(tn::square(normal).mean().item<double>(), 1, slack * 1.5);
    EXPECT_NEAR(tn::bernoulli(tn::full({n}, 0.3, {}, d)).mean().item<double>(), 0.3, slack);
    Tensor u = tn::uniform({n}, 2, 3, {}, d);
    EXPECT_GE((-tn::amax(-u)).item<double>(), 2);
    EXPECT_LT(u.amax().item<double>(), 3);
    Tensor fine = tn::rand({n}, tn::float64, d);
    EXPECT_NEAR(fine.mean().item<double>(), 0.5, slack * 0.2887);
    EXPECT_NEAR(tn::square(fine).mean().item<double>(), 1.0 / 3, slack * std::sqrt(4.0 / 45));
    EXPECT_LT(fine.amax().item<double>(), 1);
    Tensor scaled = tn::normal_(tn::zeros({n}, {}, d), 3, 0.5);
    EXPECT_NEAR(scaled.mean().item<double>(), 3, slack * 0.5);
    EXPECT_NEAR(scaled.std().item<double>(), 0.5, slack * 0.5 * std::sqrt(0.5));
    EXPECT_NEAR(tn::uniform_(tn::zeros({n}, {}, d), -1, 3).mean().item<double>(), 1, slack * 1.155);
    EXPECT_NEAR(tn::bernoulli_(tn::zeros({n}, {}, d), 0.9).mean().item<double>(), 0.9, slack * 0.3);
    for (tn::Dtype dtype : {tn::float16, tn::bfloat16}) {  // never 1, which more bits round up to
      EXPECT_LT(tn::rand({n}, dtype, d).amax().item<double>(), 1);
    }
    for (tn::Dtype dtype : {tn::float64, tn::float16}) {
      EXPECT_EQ(tn::randn({4}, dtype, d).dtype(), dtype);
      EXPECT_EQ(tn::rand({4}, dtype, d).dtype(), dtype);
    }
  }
}

// The sum of (seen - expected)^2 / expected has mean k and variance 2 k for k degrees of freedom;
// five standard deviations.
void expect_chi_square(const std::vector<double>& seen, const std::vector<double>& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  double sum = 0, k = double(seen.size()) - 1;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(seen[i], 0) << i;
      --k;
    } else {
      sum += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    }
  }
  EXPECT_LT(sum, k + 5 * std::sqrt(2 * k));
  EXPECT_GT(sum, 0);  // chance, not a pattern
}
std::vector<double> counted(const Tensor& x, int64_t from, size_t n) {
  std::vector<double> counts(n);
  for (int64_t v : x.to_vector<int64_t>()) {
    if (v < from || v >= from + int64_t(n)) {
      ADD_FAILURE() << v << " is out of range";
    } else {
      ++counts[size_t(v - from)];
    }
  }
  return counts;
}

TEST(Randint, AllNumbersAreAsLikely) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(5);
    expect_chi_square(counted(tn::randint(-3, 7, {10000}, {}, d), -3, 10),
                      std::vector<double>(10, 1000));
    EXPECT_EQ(tn::randint(4, {2, 3}, {}, d).dtype(), tn::int64);
    expect_sizes(tn::randint(4, {2, 3}, {}, d), {2, 3});
    expect_sizes(tn::randint(4, {0}, {}, d), {0});
    expect_near(tn::randint(9, 10, {2}, tn::uint8, d), {9, 9});
    EXPECT_EQ(tn::randint(0, 2, {2}, tn::bool_, d).dtype(), tn::bool_);
    EXPECT_EQ(tn::randint_like(tn::zeros({2}, {}, d), 0, 5).dtype(), tn::float32);
    // The longest range: halves of it as likely.
    Tensor wide = tn::randint(0, INT64_MAX, {4000}, {}, d);
    EXPECT_GE(wide.min().item<int64_t>(), 0);
    EXPECT_NEAR((wide >= (int64_t(1) << 62)).to(tn::float64).mean().item<double>(), 0.5,
                5 * 0.5 / std::sqrt(4000));
    wide = tn::randint(INT64_MIN, -2, {100}, {}, d);
    EXPECT_LT(wide.max().item<int64_t>(), -2);
  }
  expect_error([] { tn::randint(3, 3, {2}); }, "randint: low is 3, not below high, 3");
  expect_error([] { tn::randint(INT64_MIN, 0, {2}); }, "are more than 2^63 - 1 numbers");
  expect_error([] { tn::randint(0, 257, {2}, tn::uint8); },
               "randint: high - 1 is 256, which is no uint8; expected 0 to 255");
  expect_error([] { tn::randint(-1, 2, {2}, tn::bool_); }, "low is -1, which is no bool");
  expect_error([] { tn::randint(0, int64_t(1) << 32, {2}, tn::int32); },
               "high - 1 is 4294967295, which is no int32");
  expect_error([] { tn::randint_like(tn::zeros({2}, tn::float16), 0, 70000); },
               "randint_like: high - 1 is 69999, which is no float16");
}

TEST(Randperm, AllOrdersAreAsLikely) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(5);
    std::vector<double> orders(24);  // of 4: counted as a number in the factorial base
    const int n = 2400;
    for (int i = 0; i < n; ++i) {
      std::vector<int64_t> p = tn::randperm(4, {}, d).to_vector<int64_t>();
      size_t number = 0;
      for (size_t a = 0; a < 4; ++a) {
        size_t smaller = 0;
        for (size_t b = a + 1; b < 4; ++b) smaller += p[b] < p[a];
        number = number * (4 - a) + smaller;
      }
      ++orders[number];
    }
    expect_chi_square(orders, std::vector<double>(24, n / 24.0));
    std::vector<int64_t> p = tn::randperm(1000, {}, d).to_vector<int64_t>();
    EXPECT_FALSE(std::is_sorted(p.begin(), p.end()));
    std::sort(p.begin(), p.end());
    EXPECT_EQ(p, tn::arange(1000).to_vector<int64_t>());
    expect_sizes(tn::randperm(0, {}, d), {0});
    EXPECT_EQ(tn::randperm(3, tn::float32, d).dtype(), tn::float32);
  }
  expect_error([] { tn::randperm(-1); }, "randperm: n is -1, at least 0 is needed");
  expect_error([] { tn::randperm(300, tn::uint8); }, "randperm: n - 1 is 299, which is no uint8");
}

TEST(Multinomial, DrawsInProportion) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(9);
    const std::vector<float> weights = {0, 2, 0, 5, 3, 0};  // not normalized
    Tensor w = Tensor::from(weights, {6}, d);
    Tensor with = tn::multinomial(w, 20000, true);
    EXPECT_EQ(with.dtype(), tn::int64);
    expect_sizes(with, {20000});
    expect_chi_square(counted(with, 0, 6), {0, 4000, 0, 10000, 6000, 0});
    // Rows by themselves, in halves too.
    Tensor rows =
        tn::multinomial(tn::tensor({{1.f, 0.f}, {1.f, 3.f}}, d).to(tn::float16), 4000, true);
    expect_sizes(rows, {2, 4000});
    expect_chi_square(counted(rows[1], 0, 2), {1000, 3000});
    EXPECT_EQ(rows[0].max().item<int64_t>(), 0);
    // Without: the first in proportion, the second in proportion to the rest.
    const int n = 20000;
    Tensor pairs = tn::multinomial(w.expand({n, 6}), 2);
    expect_sizes(pairs, {n, 2});
    std::vector<double> seen(36), expected(36);
    std::vector<int64_t> drawn = pairs.to_vector<int64_t>();
    for (size_t i = 0; i < size_t(n); ++i) ++seen[size_t(drawn[2 * i] * 6 + drawn[2 * i + 1])];
    for (size_t a = 0; a < 6; ++a) {
      for (size_t b = 0; b < 6; ++b) {
        if (a != b) expected[a * 6 + b] = n * weights[a] / 10 * weights[b] / (10 - weights[a]);
      }
    }
    expect_chi_square(seen, expected);
    std::vector<int64_t> all = tn::multinomial(w, 3).to_vector<int64_t>();
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<int64_t>{1, 3, 4}));
    expect_sizes(tn::multinomial(tn::zeros({0, 3}, {}, d), 2), {0, 2});
  }
  const Tensor w = tn::tensor({1.f, 0.f, 2.f});
  expect_error([&] { tn::multinomial(w, 0); }, "multinomial: num_samples is 0, at least 1");
  expect_error([&] { tn::multinomial(w, 4); },
               "multinomial: x is [3], expected at least 4 elements a row to draw 4 without "
               "replacement");
  expect_error([&] { tn::multinomial(w, 3); },
               "multinomial: 2 elements of a row are above 0, at least 3 are needed to draw so "
               "many without replacement");
  expect_error([&] { tn::multinomial(w * 0.f, 1, true); },
               "multinomial: 0 elements of a row are above 0, at least 1 are needed");
  expect_error([&] { tn::multinomial(tn::zeros({0}), 1, true); },
               "x is [0], expected at least 1 elements a row to draw 1");
  expect_error([&] { tn::multinomial(tn::zeros({1, 1, 1}), 1); }, "expected 1 or 2 dimensions");
  expect_error([&] { tn::multinomial(tn::zeros({3}, tn::int64), 1); },
               "multinomial: dtype is int64, expected a float one");
  for (float bad : {-1.f, INFINITY, NAN}) {
    expect_error(
        [bad] {
          tn::multinomial(tn::tensor({1.f, bad}), 1, true);
        },
        "multinomial: an element of x is negative, infinite or NaN");
  }
}

TEST(RandomInPlace, WritesAndCutsTheHistory) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
      Tensor x = tn::zeros({3, 40}, dtype, d), part = x.transpose(0, 1).slice(0, 0, 20);
      tn::uniform_(part, 1, 2);
      EXPECT_EQ(x.dtype(), dtype);
      std::vector<double> values = x.to_vector<double>();
      for (size_t i = 0; i < 120; ++i) {
        if (i % 40 < 20) {
          EXPECT_GE(values[i], 1);
          EXPECT_LE(values[i], 2);
        } else {
          EXPECT_EQ(values[i], 0);
        }
      }
      tn::normal_(part);
      EXPECT_LT(part.min().item<double>(), 0);
      EXPECT_EQ(x.dtype(), dtype);
    }
    // Element by element as the numbers that a new tensor gets, whatever the layout.
    Tensor t = tn::zeros({4, 3}, {}, d);
    tn::manual_seed(4);
    tn::uniform_(t.t());
    tn::manual_seed(4);
    EXPECT_EQ(t.t().to_vector<float>(), tn::rand({3, 4}, {}, d).to_vector<float>());
    for (auto f : {+[](const Tensor& x) { return tn::uniform_(x); },
                   +[](const Tensor& x) { return tn::normal_(x); },
                   +[](const Tensor& x) { return tn::bernoulli_(x); }}) {
      Tensor leaf = tn::ones({5}, {}, d).requires_grad_();
      Tensor y = leaf * 2.f;
      f(y);
      (y * y).sum().backward();
      expect_near(leaf.grad(), {0, 0, 0, 0, 0});
      expect_error([&] { f(leaf); }, "leaf");
    }
    for (tn::Dtype dtype : {tn::bool_, tn::uint8, tn::int64, tn::float16}) {
      EXPECT_EQ(tn::bernoulli_(tn::zeros({3}, dtype, d), 1).to_vector<double>(),
                (std::vector<double>{1, 1, 1}));
    }
  }
  const Tensor x = tn::zeros({2}), ints = tn::zeros({2}, tn::int64);
  expect_error([&] { tn::uniform_(x, 2, 1); }, "uniform_: from is 2, above to, 1");
  expect_error([&] { tn::uniform_(x, 0, 1e39); }, "uniform_: to is 1e+39, which is no float32");
  expect_error([&] { tn::uniform_(ints); }, "uniform_: dtype is int64, expected a float one");
  expect_error([&] { tn::normal_(x, 0, -1); }, "normal_: std is -1, at least 0 is needed");
  expect_error([&] { tn::normal_(x, INFINITY); }, "normal_: mean is inf, which is no float32");
  expect_error([&] { tn::normal_(ints); }, "normal_: dtype is int64, expected a float one");
  expect_error([&] { tn::bernoulli_(x, 1.5); }, "bernoulli_: p is 1.5, expected 0 to 1");
  expect_error([&] { tn::rand_like(ints); }, "rand_like: dtype is int64, expected a float one");
  EXPECT_EQ(tn::randn_like(ints, tn::float64).dtype(), tn::float64);
}

TEST(Dropout, ZeroesAndScales) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(3);
    Tensor x = tn::ones({10000}, {}, d).requires_grad_();
    Tensor y = tn::dropout(x, 0.2);
    int64_t kept = tn::nonzero(y).size(0);
    EXPECT_NEAR(double(kept), 8000, 5 * 40);
    EXPECT_NEAR(y.sum().item<double>(), double(kept) * 1.25, 0.1);
    y.sum().backward();
    EXPECT_EQ(x.grad().to_vector<float>(), y.to_vector<float>());
    EXPECT_EQ(tn::dropout(x, 0.2, false).to_vector<float>(), x.to_vector<float>());
    expect_near(tn::dropout(tn::ones({2}, {}, d), 1), {0, 0});
  }
  expect_error([] { tn::dropout(tn::ones({2}), 1.5); }, "expected 0 to 1");
  expect_error([] { tn::rand({2}, tn::int64); }, "int64");
  expect_error([] { tn::uniform({2}, 3, 1); }, "above high");
  expect_error([] { tn::uniform({2}, 0, NAN); }, "above high, nan");
  expect_error([] { tn::uniform({2}, 0, INFINITY); },
               "uniform: high is inf, which is no float32; expected -3.40282e+38 to 3.40282e+38");
  expect_error([] { tn::uniform({2}, -INFINITY, 0, tn::float64); },
               "low is -inf, which is no float64");
  expect_error([] { tn::uniform({2}, -1.5e308, 1.5e308, tn::float64); }, "high - low is inf");
  expect_error([] { tn::uniform({2}, 0, 1e5, tn::float16); },
               "high is 100000, which is no float16");
  for (float p : {-0.1f, 1.1f, NAN}) {
    expect_error(
        [p] {
          tn::bernoulli(tn::tensor({0.5f, p}));
        },
        "bernoulli: an element of p is not within 0 to 1");
  }
  expect_near(tn::bernoulli(tn::tensor({0.f, 1.f})), {0, 1});
  for (tn::Device d : devices()) {  // not looked at there, as PyTorch leaves it on devices
    if (!d.is_cpu()) expect_near(tn::bernoulli(tn::tensor({-1.f, 2.f, NAN}, d)), {0, 1, 0});
  }
}

// Those that draw two numbers an element have them in a dimension in front.
TEST(Random, OfAsManyDimensionsAsThereAre) {
  std::vector<int64_t> sizes(16, 1);
  sizes[14] = 2, sizes[15] = 3;
  const std::vector<int64_t> flat{6};
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    auto same = [&](auto f) {
      tn::manual_seed(1);
      Tensor y = f(sizes);
      expect_sizes(y, sizes);
      tn::manual_seed(1);
      expect_near(y, f(flat).template to_vector<double>(), 0);
    };
    same([&](tn::Ints s) { return tn::rand(s, tn::float64, d); });
    same([&](tn::Ints s) { return tn::randn(s, {}, d); });
    same([&](tn::Ints s) { return tn::randint(0, 1000, s, {}, d); });
  }
  expect_error([] { tn::randn(std::vector<int64_t>(17, 1)); },
               "18 dimensions, expected at most 16");
  sizes[14] = sizes[15] = -1;  // whose product is 1
  expect_error([&] { tn::randn(sizes); }, "-1");
}

}  // namespace
