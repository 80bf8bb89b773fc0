// functional.hpp: whole derivatives, against closed forms and PyTorch's shapes.
#include "ops_support.h"
#include "tenon/functional.hpp"

namespace {

namespace functional = tn::functional;

Tensor numbers(const std::vector<double>& values, std::vector<int64_t> sizes, tn::Device device) {
  return Tensor::from(values, sizes, device);
}
bool has_sizes(const Tensor& t, const std::vector<int64_t>& sizes) {
  return std::ranges::equal(t.sizes(), sizes);
}

class Functional : public ::testing::Test {
  void SetUp() override { load_all(); }
};

TEST_F(Functional, JacobianHasTheSizesOfBoth) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Tensor x = numbers({1, -2, 3}, {3}, device);
    const Tensor j = functional::jacobian([](Tensor t) { return t * t * t; }, x);
    EXPECT_TRUE(has_sizes(j, {3, 3}));
    expect_near(j, {3, 0, 0, 0, 12, 0, 0, 0, 27}, 1e-12);
    const Tensor a = numbers({1, 2, 3, 4, 5, 6}, {2, 3}, device);
    const Tensor of_product =
        functional::jacobian([&](Tensor t) { return tn::matmul(a, t); }, x.view({3, 1}));
    EXPECT_TRUE(has_sizes(of_product, {2, 1, 3, 1}));
    expect_near(of_product, {1, 2, 3, 4, 5, 6}, 1e-12);
    EXPECT_TRUE(has_sizes(functional::jacobian([](Tensor t) { return t.sum(); }, a), {2, 3}));
    // Of what does not depend on x, and of nothing.
    expect_near(functional::jacobian([&](Tensor) { return a; }, x), std::vector<double>(18));
    EXPECT_TRUE(
        has_sizes(functional::jacobian([](Tensor t) { return t.narrow(0, 0, 0); }, x), {0, 3}));
    EXPECT_FALSE(x.requires_grad());
  }
}

TEST_F(Functional, HessianOfAProduct) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Tensor x = numbers({1, 2, 3}, {3}, device);
    // f = x0 x1 x2 + x0^3
    const auto f = [](Tensor t) { return t.prod() + t.select(0, 0).pow(3); };
    expect_near(functional::hessian(f, x), {6, 3, 2, 3, 0, 1, 2, 1, 0}, 1e-12);
    const auto [y, hv] = functional::hvp(f, x, numbers({1, 1, 2}, {3}, device));
    expect_near(y, {7}, 1e-12);
    expect_near(hv, {13, 5, 3}, 1e-12);
    expect_near(functional::hessian([](Tensor t) { return t.sum(); }, x), std::vector<double>(9));
    EXPECT_TRUE(has_sizes(functional::hessian([](Tensor t) { return (t * t).sum(); },
                                              tn::ones({2, 2}, tn::float64, device)),
                          {2, 2, 2, 2}));
  }
}

TEST_F(Functional, ProductsWithVectors) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Tensor x = numbers({1, 2}, {2}, device);
    const auto f = [](Tensor t) {  // (x0 x1, x0 + x1, x1^2)
      const Tensor a = t.select(0, 0), b = t.select(0, 1);
      return tn::stack({a * b, a + b, b * b});
    };
    const auto [y, vj] = functional::vjp(f, x, numbers({1, 2, 3}, {3}, device));
    expect_near(y, {2, 3, 4}, 1e-12);
    expect_near(vj, {2 + 2, 1 + 2 + 12}, 1e-12);
    const auto [same, jv] = functional::jvp(f, x, numbers({1, -1}, {2}, device));
    expect_near(same, {2, 3, 4}, 1e-12);
    expect_near(jv, {1, 0, -4}, 1e-12);
    EXPECT_FALSE(y.requires_grad() || vj.requires_grad() || jv.requires_grad());
  }
}

TEST_F(Functional, ResultsMayHaveGradients) {
  Tensor x = numbers({2}, {1}, "cpu").requires_grad_();
  const auto cube = [](Tensor t) { return t * t * t; };
  functional::jacobian(cube, x, {.create_graph = true}).sum().backward();
  expect_near(x.grad(), {12}, 1e-12);  // (3 x^2)'
  x.zero_grad();
  functional::hessian([&](Tensor t) { return cube(t).sum(); }, x, {.create_graph = true})
      .sum()
      .backward();
  expect_near(x.grad(), {6}, 1e-12);
  x.zero_grad();
  functional::jvp(cube, x, tn::ones({1}, tn::float64), {.create_graph = true})
      .second.sum()
      .backward();
  expect_near(x.grad(), {12}, 1e-12);
  const tn::NoGrad off;  // as in PyTorch it counts for what is around alone
  expect_near(functional::jacobian(cube, x), {12}, 1e-12);
}

TEST_F(Functional, RefusesWhatHasNoDerivative) {
  const Tensor x = tn::ones({2});
  const auto same = [](Tensor t) { return t * 1.f; };
  expect_error([&] { functional::jacobian(same, tn::arange(3)); },
               "jacobian: x is int64, expected floats");
  expect_error([&] { functional::jacobian(same, Tensor()); }, "jacobian: x is None");
  expect_error([&] { functional::hessian(same, x); },
               "hessian: the function gives 2 elements, expected one");
  expect_error([&] { functional::vjp(same, x, tn::ones({3})); },
               "vjp: v is float32 [3], expected float32 [2]");
  expect_error([&] { functional::jvp(same, x, tn::ones({2}, tn::float64)); },
               "jvp: v is float64 [2], expected float32 [2]");
  expect_error([&] { functional::hvp(same, x, x); }, "hvp: the function gives 2 elements");
}

// PyTorch 2.15's values.
TEST_F(Functional, OfSeveralInputsAndOfVectorsTimesTheHessian) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const Tensor x = numbers({1, 2}, {2}, device), y = numbers({3, 4, 5}, {3}, device);
    const auto f = [](Tensor a, Tensor b) { return tn::outer(a * a, b).sum(1); };
    const std::vector<Tensor> list = functional::jacobian(f, {x, y});
    ASSERT_EQ(list.size(), 2u);
    EXPECT_TRUE(has_sizes(list[1], {2, 3}));
    expect_near(list[0], {24, 0, 0, 48}, 1e-12);
    expect_near(list[1], {1, 1, 1, 4, 4, 4}, 1e-12);
    const auto first = [](const std::vector<Tensor>& in) { return in[0] * 2.0; };
    expect_near(functional::jacobian(first, std::vector<Tensor>{x, y})[1], std::vector<double>(6));
    const auto [value, product] =
        functional::vhp([](Tensor t) { return t[0] * t[0] * t[1] + t[1] * t[1] * t[1]; }, x,
                        numbers({1, 10}, {2}, device));
    expect_near(value, {10}, 1e-12);
    expect_near(product, {24, 122}, 1e-12);
  }
  const auto sum = [](Tensor a, Tensor b) { return a + b; };
  const Tensor x = tn::ones({2});
  expect_error(
      [&] {
        functional::jacobian(sum, {x, x, x});
      },
      "jacobian: the function takes 2 tensors, and 3 inputs are given");
  expect_error([&] { functional::jacobian(sum, {x, Tensor()}); }, "jacobian: x is None");
  expect_error([&] { functional::vhp([](Tensor t) { return t * 1.f; }, x, x); },
               "vhp: the function gives 2 elements");
}

}  // namespace
