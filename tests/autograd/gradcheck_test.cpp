// gradcheck and gradgradcheck: they hold for what has right gradients, and name what is wrong.
#include <tenon/gradcheck.hpp>

#include "autograd_support.h"

namespace {

struct Gradcheck : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// x * x with the gradient of x * x * 1.5.
struct WrongSquare : tn::Function<WrongSquare> {
  static Tensor forward(Context& ctx, Tensor x) {
    ctx.save({x});
    return x * x;
  }
  static Tensor backward(Context& ctx, Tensor g) { return g * ctx.saved(0) * 3; }
};
// x * x with a right gradient, whose gradient is cut off.
struct CutSquare : tn::Function<CutSquare> {
  static Tensor forward(Context& ctx, Tensor x) {
    ctx.save({x});
    return x * x;
  }
  static Tensor backward(Context& ctx, Tensor g) { return g * ctx.saved(0).detach() * 2; }
};

TEST_F(Gradcheck, HoldsForFunctionsOfAnyShape) {
  const Tensor x = leaf({0.3, -1.2, 2.5, 0.7, 1.1, -0.4}, {2, 3}), y = leaf({0.5, 1.5, -2.5});
  EXPECT_TRUE(tn::gradcheck([](Tensor x) { return tn::tanh(x); }, {x}));
  EXPECT_TRUE(tn::gradcheck([](Tensor x, Tensor y) { return x * y + y; }, {x, y}));
  EXPECT_TRUE(tn::gradcheck(
      [](Tensor x, Tensor y) { return std::tuple(tn::softmax(x, -1), tn::exp(y), x > 0); },
      {x, y}));
  EXPECT_TRUE(tn::gradcheck(
      [](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[0].sum() * x[1]}; }, {x, y}));
  EXPECT_TRUE(tn::gradgradcheck([](Tensor x, Tensor y) { return tn::sin(x) * y; }, {x, y}));
  EXPECT_TRUE(tn::gradgradcheck([](Tensor x) { return x * 2; }, {x})) << "whose second one is 0";
  EXPECT_TRUE(tn::gradgradcheck([](Tensor x) { return std::pair(x * x, x.exp()); }, {x},
                                {tn::ones_like(x), tn::ones_like(x) * 0.5}));
}

TEST_F(Gradcheck, LeavesTheInputsAsTheyAre) {
  const Tensor x = leaf({0.3, -1.2});
  tn::gradcheck([](Tensor x) { return x * x; }, {x});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{0.3, -1.2}));
}

TEST_F(Gradcheck, InputsWithoutGradientAreNotMoved) {
  const Tensor x = leaf({0.3, -1.2}), index = tn::tensor({1, 0}).to(tn::int64);
  EXPECT_TRUE(
      tn::gradcheck([](Tensor x, Tensor i) { return tn::gather(x, 0, i) * x; }, {x, index}));
}

TEST_F(Gradcheck, NamesWhatIsWrong) {
  const Tensor x = leaf({2, 4});
  expect_error(
      [&] { tn::gradcheck([](Tensor x) { return WrongSquare::apply(x); }, {x}); },
      "gradcheck: of output 0, element 0, to input 0, element 0, the gradient is 6 and the "
      "difference 4");
  EXPECT_TRUE(tn::gradcheck([](Tensor x) { return CutSquare::apply(x); }, {x}));
  expect_error([&] { tn::gradgradcheck([](Tensor x) { return CutSquare::apply(x); }, {x}); },
               "to input 0, element 0, the gradient is 0 and the difference");
  EXPECT_FALSE(tn::gradcheck([](Tensor x) { return WrongSquare::apply(x); }, {x},
                             {.raise_exception = false}));
  // The detached path is no part of the gradient.
  EXPECT_FALSE(
      tn::gradcheck([](Tensor x) { return x.detach() * x; }, {x}, {.raise_exception = false}));
}

TEST_F(Gradcheck, RefusesWhatSaysNothing) {
  const auto f = [](Tensor x) { return x * x; };
  expect_error([&] { tn::gradcheck(f, {tn::ones({2}, tn::float64)}); },
               "gradcheck: none of the inputs requires a gradient");
  expect_error([&] { tn::gradcheck(f, {tn::ones({2}).requires_grad_()}); },
               "gradcheck: input 0 is float32, expected float64");
  expect_error(
      [&] {
        tn::gradcheck(f, {leaf({1}), leaf({2})});
      },
      "gradcheck: the function takes 1 tensors, and 2 inputs are given");
  expect_error([&] { tn::gradcheck([](Tensor x) { return x > 0; }, {leaf({1})}); },
               "gradcheck: no output is a float, so none has a gradient");
  expect_error([&] { tn::gradcheck(f, {leaf({1})}, {.eps = 0}); },
               "gradcheck: eps is 0, expected more than 0");
}

TEST_F(Gradcheck, WhatIndexingGivesIsATensor) {
  EXPECT_TRUE(tn::gradcheck([](Tensor x) { return x[0]; }, {leaf({1, 2})}));
  EXPECT_TRUE(tn::gradgradcheck([](Tensor x) { return x[0] * x[1]; }, {leaf({1, 2})}));
}

TEST_F(Gradcheck, TwoPassesThatDifferAreNamed) {
  struct Drifting : tn::Function<Drifting> {
    static Tensor forward(Context&, Tensor x) { return x * 1; }
    static Tensor backward(Context&, Tensor g) {
      static double drift = 0;
      return g + (drift += 1e-8);
    }
  };
  const auto f = [](Tensor x) { return Drifting::apply(x); };
  expect_error([&] { tn::gradcheck(f, {leaf({1})}); }, "nondet_tol is 0");
  EXPECT_TRUE(tn::gradcheck(f, {leaf({1})}, {.nondet_tol = 1e-6}));
}

}  // namespace
