// Losses.
#include "ops_support.h"

namespace {

TEST(CrossEntropy, IsTheMeanOfLogSoftmaxAtTheTarget) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 2.f, 3.f}, {0.f, 0.f, 0.f}}, d);
    Tensor target = tn::tensor({int64_t(0), int64_t(2)}, d);
    double z = std::exp(-2) + std::exp(-1) + 1;
    double loss = ((2 + std::log(z)) + std::log(3)) / 2;
    expect_near(tn::cross_entropy(x, target), {loss});
    expect_near(tn::nll_loss(tn::log_softmax(x), target), {loss});
    expect_sizes(tn::cross_entropy(x, target), {});
    // d/dx: (softmax - one_hot) / n
    Tensor leaf = x.clone().requires_grad_();
    tn::cross_entropy(leaf, target).backward();
    expect_near(leaf.grad(), {(std::exp(-2) / z - 1) / 2, std::exp(-1) / z / 2, 1 / z / 2, 1.0 / 6,
                              1.0 / 6, -1.0 / 3});
    // A loss that is 90 and more stays right.
    expect_near(tn::cross_entropy(tn::tensor({{100.f, 0.f}}, d), tn::tensor({int64_t(1)}, d)),
                {100});
  }
}

TEST(CrossEntropy, Errors) {
  Tensor x = tn::zeros({2, 3});
  expect_error([&] { tn::cross_entropy(x, tn::zeros({2})); }, "float32");
  expect_error([&] { tn::cross_entropy(x, tn::zeros({3}, tn::int64)); }, "target is [3]");
  expect_error([&] { tn::cross_entropy(x, tn::tensor({int64_t(0), int64_t(3)})); }, "3");
}

}  // namespace
