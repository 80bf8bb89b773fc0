// Transforms of vectors and matrices, those that are made of others, and `cdf` and `icdf`: slopes
// by determinants of Jacobians, inverses, sizes of TransformedDistribution, and what is refused.
// Their log_prob and divergences beside PyTorch's are in distribution_values_test.
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "distribution_support.h"
#include "message_of.h"
#include "tenon/distributions.hpp"
#include "tenon/functional.hpp"
#include "tenon/gradcheck.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using namespace tn::distributions;
using tn::Tensor;

namespace {

using Values = std::vector<double>;
using Sizes = std::vector<int64_t>;

class ComposedTransforms : public DistributionsOnADevice {
 protected:
  Tensor ones(tn::Ints sizes) const { return tn::ones(sizes, tn::float64, device); }
  // Of the elements of y that `kept` gives, as many as x [n] has: log |det dy / dx|.
  double slope_of(const auto& transform, const Values& x, auto kept) const {
    const auto n = x.size();
    std::vector<Values> a;
    for (size_t i = 0; i < n; ++i) {
      const Tensor leaf = at(x).requires_grad_();
      kept(transform(leaf)).select(0, int64_t(i)).backward();
      a.push_back(leaf.grad().template to_vector<double>());
    }
    double sum = 0;  // by Gauss's elimination
    for (size_t i = 0; i < n; ++i) {
      size_t pivot = i;
      for (size_t j = i; j < n; ++j)
        if (std::abs(a[j][i]) > std::abs(a[pivot][i])) pivot = j;
      std::swap(a[i], a[pivot]);
      sum += std::log(std::abs(a[i][i]));
      for (size_t j = i + 1; j < n; ++j)
        for (size_t k = n; k-- > i;) a[j][k] -= a[i][k] * a[j][i] / a[i][i];
    }
    return sum;
  }
  void expect_transform(const auto& transform, const Values& x, auto kept) const {
    const Tensor from = at(x), y = transform(from);
    expect_close(transform.inv(y), from);
    const Tensor slope = transform.log_abs_det_jacobian(from, y);
    EXPECT_NEAR(slope.sum().template item<double>(), slope_of(transform, x, kept), 1e-9);
    // A batch gives the same.
    const Tensor both = tn::stack({from, 0.5 * from}, 0), of_both = transform(both);
    expect_close(of_both.select(0, 0), y);
    expect_close(transform.log_abs_det_jacobian(both, of_both).select(0, 0), slope);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ComposedTransforms, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(ComposedTransforms, SlopesAreDeterminants) {
  const auto all = [](const Tensor& y) { return y.reshape({-1}); };
  expect_transform(SoftplusTransform(), {-3, 0.2, 4}, all);
  expect_transform(PowerTransform(-1.5), {0.3, 2}, all);
  expect_transform(PowerTransform(at({-2, 0.3, 1})), {0.3, 2, 4}, all);
  expect_transform(StickBreakingTransform(), {-0.7, 0.4, 2},
                   [](const Tensor& y) { return y.narrow(0, 0, 3); });
  expect_transform(CorrCholeskyTransform(), {-0.7, 0.4, 1.3, 0.2, -1, 0.6}, [](const Tensor& y) {
    return tn::cat({y.select(0, 1).narrow(0, 0, 1), y.select(0, 2).narrow(0, 0, 2),
                    y.select(0, 3).narrow(0, 0, 3)},
                   0);
  });
  expect_transform(CorrCholeskyTransform(), {-0.7},
                   [](const Tensor& y) { return y.select(0, 1).narrow(0, 0, 1); });
  const ComposeTransform composed{AffineTransform(0.5, -2.0), ExpTransform(),
                                  IndependentTransform(PowerTransform(0.7), 1)};
  expect_transform(composed, {-0.7, 0.4, 2}, all);
  expect_transform(InverseTransform(composed), {0.7, 0.4, 2}, all);
  expect_transform(ComposeTransform<>(), {-0.7, 0.4}, all);
  expect_transform(ReshapeTransform({4}, {2, 2}), {1, 2, 3, 4}, all);
  expect_transform(CatTransform(std::tuple{ExpTransform(), SoftplusTransform()}, -1, {1, 3}),
                   {-0.7, 0.4, 2, 1}, all);
  expect_transform(StackTransform(std::tuple{ExpTransform(), SoftplusTransform()}, -1), {-0.7, 0.4},
                   all);
  expect_transform(CumulativeDistributionTransform(Normal(at({0.5}), 2.0)), {-0.7, 0.4}, all);
}

TEST_P(ComposedTransforms, ValuesAreWhereTheyBelong) {
  const Tensor stick = StickBreakingTransform()(tn::zeros({3}, tn::float64, device));
  expect_close(stick, 0.25 * ones({4}));
  const Tensor far = StickBreakingTransform()(at({60, -60, 60}, tn::float32));
  EXPECT_NEAR(far.sum().item<double>(), 1, 1e-6);
  EXPECT_GT(far.min().item<double>(), 0);
  const Tensor l = CorrCholeskyTransform()(at({0.3, -2, 40}));
  expect_close(tn::matmul(l, l.mT()).diagonal(0, -2, -1), ones({3}));
  expect_close(l.tril(), l);
  const Tensor x = at({0.5, 2, -1, 0.25}).reshape({2, 2});
  const Tensor lower = LowerCholeskyTransform()(x);
  expect_close(lower.reshape({-1}), at({std::exp(0.5), 0, -1, std::exp(0.25)}));
  expect_close(LowerCholeskyTransform().inv(lower), x.tril());
  const Tensor definite = PositiveDefiniteTransform()(x);
  expect_close(definite, tn::matmul(lower, lower.mT()));
  expect_close(PositiveDefiniteTransform().inv(definite), x.tril());
  const Tensor soft = SoftmaxTransform()(at({0, std::log(3)}));
  expect_close(soft, at({0.25, 0.75}));
  expect_close(SoftmaxTransform()(SoftmaxTransform().inv(soft)), soft);
  expect_close(AbsTransform()(at({-2, 3})), at({2, 3}));
  expect_close(AbsTransform().inv(at({2, 3})), at({2, 3}));
  // softplus of a small number keeps its digits on the way back.
  expect_close(SoftplusTransform().inv(at({1e-12, 30})), at({std::log(1e-12), 30}));
}

TEST_P(ComposedTransforms, BatchesBecomeEvents) {
  const auto expect = [](const auto& d, const Sizes& batch, const Sizes& event) {
    EXPECT_EQ(Sizes(d.batch_shape()), batch);
    EXPECT_EQ(Sizes(d.event_shape()), event);
    const auto [y, log_prob] = d.rsample_with_log_prob({5});
    EXPECT_TRUE(tn::allclose(d.log_prob(y), log_prob, 1e-9, 1e-9));
    Sizes wanted = {5};
    wanted.insert(wanted.end(), batch.begin(), batch.end());
    EXPECT_EQ(Sizes(log_prob.sizes()), wanted);
    wanted.insert(wanted.end(), event.begin(), event.end());
    EXPECT_EQ(Sizes(y.sizes()), wanted);
    EXPECT_EQ(Sizes(d.sample({5}).sizes()), wanted);
  };
  const Normal normal(ones({4, 6}), 0.5);
  const Independent vectors(normal, 1);
  expect(TransformedDistribution(normal, StickBreakingTransform()), {4}, {7});
  expect(TransformedDistribution(vectors, StickBreakingTransform()), {4}, {7});
  expect(TransformedDistribution(Independent(normal, 2), StickBreakingTransform()), {}, {4, 7});
  expect(TransformedDistribution(normal, CorrCholeskyTransform()), {4}, {4, 4});
  expect(TransformedDistribution(normal, ExpTransform(), ReshapeTransform({6}, {2, 3}),
                                 AffineTransform(1.0, 2.0)),
         {4}, {2, 3});
  expect(TransformedDistribution(normal, ReshapeTransform({4, 6}, {24}), SoftplusTransform(),
                                 StickBreakingTransform()),
         {}, {25});
  expect(TransformedDistribution(normal, IndependentTransform(ExpTransform(), 1)), {4}, {6});
  expect(TransformedDistribution(normal, ComposeTransform{IndependentTransform(ExpTransform(), 2),
                                                          ReshapeTransform({6}, {3, 2})}),
         {}, {4, 3, 2});
  expect(TransformedDistribution(vectors), {4}, {6});
  const CatTransform cat(std::tuple{ExpTransform(), ComposeTransform<>()}, -1, {2, 4});
  expect(TransformedDistribution(normal, cat), {4, 6}, {});
}

// The sums over the dimensions that become one event are those of the divergence too.
TEST_P(ComposedTransforms, DivergenceIsThatOfTheBases) {
  const Normal p(at({0.5, 1}), 1.0), q(at({0, 2}), 2.0);
  const auto stick = [](const Normal& normal) {
    return TransformedDistribution(normal, StickBreakingTransform());
  };
  expect_close(kl_divergence(stick(p), stick(q)), kl_divergence(p, q).sum());
  expect_close(kl_divergence(LogisticNormal(p.loc(), 1.0), LogisticNormal(q.loc(), 2.0)),
               kl_divergence(p, q).sum());
  const auto powers = [](const Normal& normal, tn::Operand exponent) {
    return TransformedDistribution(normal, ExpTransform(), PowerTransform(exponent));
  };
  expect_close(kl_divergence(powers(p, at({2, 3})), powers(q, at({2, 3}))), kl_divergence(p, q));
  EXPECT_EQ(message_of([&] { kl_divergence(powers(p, 2.0), powers(q, 3.0)); }),
            "kl_divergence: the transforms of p and of q differ, expected the same");
  const CumulativeDistributionTransform one(Normal(0.0, 1.0)), other(Normal(0.0, 1.0));
  EXPECT_TRUE(one == CumulativeDistributionTransform(one));
  EXPECT_FALSE(one == other);
  EXPECT_TRUE(ReshapeTransform({4}, {2, 2}) == ReshapeTransform({4}, {2, 2}));
  EXPECT_FALSE(ReshapeTransform({4}, {2, 2}) == ReshapeTransform({4}, {4, 1}));
  EXPECT_FALSE(IndependentTransform(ExpTransform(), 1) == IndependentTransform(ExpTransform(), 2));
}

// icdf is the inverse of cdf, whose slope is the density.
TEST_P(ComposedTransforms, CumulativeDistributionsFit) {
  const auto expect = [&](const auto& d, const Values& values, const Values& wanted) {
    SCOPED_TRACE(d.name());
    const Tensor x = at(values).requires_grad_(), p = d.cdf(x);
    const Values found = p.template to_vector<double>();
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12);
    expect_close(d.icdf(p), x);
    p.sum().backward();
    expect_close(x.grad(), tn::exp(d.log_prob(at(values))));
    tn::gradcheck([&](Tensor u) { return d.icdf(u); }, {at({0.2, 0.7}).requires_grad_()});
  };
  expect(Normal(at({0.5}), 2.0), {0.5, 2.5}, {0.5, 0.841344746068543});
  expect(Uniform(at({-1}), 3.0), {0, 2}, {0.25, 0.75});
  expect(tn::distributions::Exponential(at({0.5})), {2, 4}, {1 - std::exp(-1), 1 - std::exp(-2)});
  expect(Laplace(at({0.5}), 2.0), {-1.5, 2.5}, {0.5 * std::exp(-1), 1 - 0.5 * std::exp(-1)});
  expect(Cauchy(at({0.5}), 2.0), {-1.5, 2.5}, {0.25, 0.75});
  expect(Gumbel(at({0.5}), 2.0), {0.5, 2.5}, {std::exp(-1), std::exp(-std::exp(-1))});
  expect_close(Uniform(at({-1}), 3.0).cdf(at({-5, 5})), at({0, 1}));
  expect_close(tn::distributions::Exponential(at({1})).cdf(at({-5})), at({0}));
}

TEST_P(ComposedTransforms, WhatIsWrongIsRefused) {
  const auto refused = [](const std::string& why, const std::function<void()>& f) {
    EXPECT_EQ(message_of(f), why);
  };
  const std::string many = ": has no log_abs_det_jacobian, since several x give the same y";
  const Normal normal(ones({3}), 1.0), pair(ones({2}), 1.0);
  refused("AbsTransform" + many,
          [&] { TransformedDistribution(normal, AbsTransform()).log_prob(ones({3})); });
  refused("SoftmaxTransform" + many,
          [&] { TransformedDistribution(normal, SoftmaxTransform()).log_prob(ones({3})); });
  const Normal square(ones({2, 2}), 1.0);
  refused("LowerCholeskyTransform" + many, [&] {
    TransformedDistribution(square, LowerCholeskyTransform()).log_prob(ones({2, 2}));
  });
  refused("PositiveDefiniteTransform" + many, [&] {
    PositiveDefiniteTransform().log_abs_det_jacobian(ones({2, 2}), ones({2, 2}));
  });
  refused(
      "PositiveDefiniteTransform: pivot 1 of value is -3, expected above 0, as of positive "
      "definite matrices",
      [&] {
        PositiveDefiniteTransform().inv(at({1, 2, 2, 1}).reshape({2, 2}));
      });
  refused("PowerTransform: exponent is 0, expected not 0", [&] { PowerTransform(0.0); });
  refused("PowerTransform: exponent is 0 at [1], expected not 0", [&] {
    PowerTransform(at({1, 0}));
  });
  refused(
      "PowerTransform: exponent is [2] and the value [], expected sizes that broadcast to "
      "those of the value",
      [&] {
        PowerTransform(at({1, 2}))(ones({}));
      });
  refused("TransformedDistribution: the base is [], expected at least 1 dimension",
          [&] { TransformedDistribution(Normal(0.0, 1.0), StickBreakingTransform()); });
  refused("TransformedDistribution: the base is [3], expected at least 2 dimensions",
          [&] { TransformedDistribution(normal, LowerCholeskyTransform()); });
  refused("StickBreakingTransform: the value is [], expected at least 1 dimension",
          [&] { StickBreakingTransform().forward_shape({}); });
  refused(
      "CorrCholeskyTransform: the value has 2 elements, expected n (n - 1) / 2 for n rows, as "
      "1, 3 or 6",
      [&] { TransformedDistribution(pair, CorrCholeskyTransform()); });
  refused("TransformedDistribution: log_prob: the sum of value is 3, expected 1", [&] {
    TransformedDistribution(pair, ComposeTransform{ExpTransform(), StickBreakingTransform()})
        .log_prob(ones({3}));
  });
  refused(
      "TransformedDistribution: log_prob: the sum of squares of a row of value is 2 at [1], "
      "expected 1",
      [&] {
        TransformedDistribution(Normal(ones({1}), 1.0), CorrCholeskyTransform())
            .log_prob(at({1, 0, 1, 1}).reshape({2, 2}));
      });
  refused("TransformedDistribution: log_prob: value is -1 at [0], expected above 0", [&] {
    TransformedDistribution(pair, IndependentTransform(ExpTransform(), 1)).log_prob(-ones({2}));
  });
  refused("IndependentTransform: reinterpreted_batch_ndims is -1, expected at least 0",
          [&] { IndependentTransform(ExpTransform(), -1); });
  refused("IndependentTransform: the value is [], expected at least 1 dimension",
          [&] { IndependentTransform(ExpTransform(), 1)(ones({})); });
  refused(
      "ReshapeTransform: in_shape is [4] and out_shape is [2, 3], expected equal numbers of "
      "elements",
      [&] {
        ReshapeTransform({4}, {2, 3});
      });
  refused("ReshapeTransform: the value is [3], expected its last sizes to be [4]", [&] {
    TransformedDistribution(normal, ReshapeTransform({4}, {2, 2}));
  });
  const auto parts = std::tuple{ExpTransform(), ComposeTransform<>()};
  refused(
      "CatTransform: dim is 0, expected one from the end, as -1, since draws have dimensions "
      "in front",
      [&] {
        CatTransform(parts, 0, {1, 1});
      });
  refused("StackTransform: expected transforms that go element by element",
          [&] { StackTransform(std::tuple{SoftmaxTransform()}, -1); });
  refused("CatTransform: lengths is [1], expected 2, one for each transform",
          [&] { CatTransform(parts, -1, {1}); });
  refused("CatTransform: the value is [3], expected 2 in dimension -1", [&] {
    CatTransform(parts, -1, {1, 1})(ones({3}));
  });
  refused("StackTransform: the value is [3], expected 2 in dimension -1",
          [&] { StackTransform(parts, -1).inv(ones({3})); });
}

}  // namespace
