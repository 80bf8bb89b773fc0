// tn::summary: what it says of models whose numbers are known.
#include <sstream>

#include <tenon/summary.hpp>

#include "ops_support.h"

namespace {

namespace nn = tn::nn;

struct SummaryOf : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

TEST_F(SummaryOf, CountsParametersSizesAndOperations) {
  const auto model = nn::Sequential(nn::Conv2d(3, 8, 3, {.padding = 1}), nn::ReLU(),
                                    nn::Sequential(nn::Flatten(), nn::Linear(8 * 6 * 6, 10)));
  const tn::Summary s = tn::summary(model, tn::randn({2, 3, 6, 6}));
  ASSERT_EQ(s.layers.size(), 6u);
  EXPECT_EQ(s.layers[0].path, "");
  EXPECT_EQ(s.layers[0].type, "Sequential");
  EXPECT_EQ(s.layers[0].outputs, "[2, 10] float32");
  EXPECT_EQ(s.layers[0].parameters, 0) << "it has none of its own";
  EXPECT_EQ(s.layers[1].path, "0");
  EXPECT_EQ(s.layers[1].outputs, "[2, 8, 6, 6] float32");
  EXPECT_EQ(s.layers[1].parameters, 8 * 3 * 9 + 8);
  EXPECT_EQ(s.layers[1].flops, 2.0 * 2 * 8 * 6 * 6 * 3 * 9);
  EXPECT_EQ(s.layers[2].flops, 0);
  EXPECT_EQ(s.layers[5].path, "2.1");
  EXPECT_EQ(s.layers[5].depth, 2);
  EXPECT_EQ(s.layers[5].flops, 2.0 * 2 * 288 * 10);
  EXPECT_EQ(s.layers[3].flops, s.layers[5].flops) << "a container has what its children have";
  EXPECT_EQ(s.parameters, 224 + 2890);
  EXPECT_EQ(s.trainable, s.parameters);
  EXPECT_EQ(s.parameter_bytes, 4u * (224 + 2890));
  EXPECT_EQ(s.flops, s.layers[1].flops + s.layers[5].flops);
  EXPECT_EQ(s.output_bytes, 4u * (576 + 576 + 576 + 20));
}

TEST_F(SummaryOf, IsAText) {
  const auto model = nn::Sequential(nn::Linear(1000, 2000));
  std::ostringstream text;
  text << tn::summary(model, tn::randn({1, 1000}));
  EXPECT_EQ(text.str(),
            "layer                                output                         parameters   "
            "operations\n"
            "Sequential                           [1, 2000] float32                       -   "
            "4.00 MFLOP\n"
            "  0: Linear                          [1, 2000] float32               2,002,000   "
            "4.00 MFLOP\n"
            "parameters: 2,002,000, 2,002,000 of them trainable, 8.01 MB with buffers\n"
            "what layers give: 8.00 kB; operations: 4.00 MFLOP\n");
}

TEST_F(SummaryOf, LeavesTheModelAsItWas) {
  const auto model = nn::Sequential(nn::BatchNorm1d(4), nn::Dropout(0.5), nn::Linear(4, 2));
  model.child("1").eval();
  const auto before = model.state_dict();
  std::vector<std::vector<double>> values;
  for (const auto& [name, t] : before) values.push_back(t.to_vector<double>());
  int called = 0;
  model.register_forward_hook([&](tn::Object&, Tensor, Tensor) { ++called; });
  tn::summary(model, tn::randn({3, 4}));
  EXPECT_EQ(called, 1);
  size_t i = 0;
  for (const auto& [name, t] : model.state_dict()) EXPECT_EQ(t.to_vector<double>(), values[i++]);
  EXPECT_TRUE(model.training());
  EXPECT_TRUE(model.child("0").training());
  EXPECT_FALSE(model.child("1").training());
  EXPECT_FALSE(model.parameters()[0].grad().defined());
  model(tn::randn({3, 4}));
  EXPECT_EQ(called, 2) << "its own hooks are gone, and others are not";
}

TEST_F(SummaryOf, CountsSharedAndFrozenOnce) {
  struct Twice : tn::Module {
    tn::Object inner = child("inner", nn::Linear(3, 3));
    tn::Object same = child("same", inner), idle = child("idle", nn::Linear(3, 5));
    Tensor forward(Tensor x) { return inner(same(x)); }
  };
  auto model = tn::make<Twice>();
  model->idle.tensor("weight").requires_grad_(false);
  const tn::Summary s = tn::summary(model, tn::randn({2, 3}));
  EXPECT_EQ(s.parameters, 12 + 20);
  EXPECT_EQ(s.trainable, 12 + 5);
  EXPECT_EQ(s.layers[1].calls, 2);
  EXPECT_EQ(s.layers[1].flops, 2 * 2.0 * 2 * 3 * 3);
  EXPECT_EQ(s.layers[2].same_as, "inner");
  EXPECT_NE(s.text().find("  same: Linear                       the same as inner "),
            std::string::npos)
      << s.text();
  EXPECT_EQ(s.layers[3].calls, 0);
  EXPECT_NE(s.text().find("not called"), std::string::npos);
  EXPECT_NE(s.text().find(" x2"), std::string::npos);
}

// A layer that forward makes for itself has operations, which are the model's and no other layer's.
TEST_F(SummaryOf, WhatIsNoLayerOfTheModelIsNotTakenForOne) {
  struct Makes : tn::Module {
    tn::Object own = child(std::string(300, 'n').c_str(), nn::Linear(3, 3));
    Tensor forward(Tensor x) { return own(nn::Linear(5, 3)(x)); }
  };
  const tn::Summary s = tn::summary(tn::make<Makes>(), tn::randn({2, 5}));
  EXPECT_EQ(s.layers[1].flops, 2.0 * 2 * 3 * 3);
  EXPECT_EQ(s.flops, 2.0 * 2 * 3 * (3 + 5));
  const std::string text = s.text();
  EXPECT_NE(text.find("nnn: Linear [2, 3] float32                         12      36 FLOP\n"),
            std::string::npos)
      << text;
}

TEST_F(SummaryOf, LeavesOutWhatIsNone) {
  const tn::Object model = tn::nn::Sequential(tn::nn::Linear(2, 3));
  model.child("1", tn::Object());
  EXPECT_EQ(tn::summary(model, tn::ones({1, 2})).parameters, 9);
}

TEST_F(SummaryOf, ErrorsOfTheModelAreItsOwn) {
  const auto model = nn::Sequential(nn::Linear(3, 2));
  expect_error([&] { tn::summary(model, tn::randn({2, 4})); }, "Sequential: child '0' (Linear)");
  EXPECT_TRUE(model.training());
  tn::Profiler profiler;  // none is left on the thread
  profiler.start();
}

}  // namespace
