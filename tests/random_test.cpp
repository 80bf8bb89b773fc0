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
          tn::dropout(tn::ones({400}, {}, d), 0.25)}) {
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
    for (tn::Dtype dtype : {tn::float64, tn::float16}) {
      EXPECT_EQ(tn::randn({4}, dtype, d).dtype(), dtype);
      EXPECT_EQ(tn::rand({4}, dtype, d).dtype(), dtype);
    }
  }
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

}  // namespace
