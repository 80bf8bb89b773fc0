// Modules whose classes live in another library of the program, which has a face of its own.
#include "ops_support.h"

tenon::Object make_net();  // of other_library.cpp
tenon::Object make_around(const tenon::Object& held);
tenon::Object make_normed();

namespace {

namespace nn = tn::nn;

struct OtherLibrary : testing::Test {
  static void SetUpTestSuite() { load_all(); }
  // The same values, of tensors of its own.
  static void expect_copied(const tn::Object& module) {
    const Tensor x = tn::randn({2, 3});
    const tn::Object copy = module.clone();
    const std::vector<float> expected = module(x).to_vector<float>();
    EXPECT_EQ(copy(x).to_vector<float>(), expected);
    EXPECT_EQ(copy.parameters().size(), module.parameters().size());
    const tn::NoGrad guard;
    for (Tensor parameter : copy.parameters()) parameter.zero_();
    EXPECT_EQ(module(x).to_vector<float>(), expected);
    EXPECT_NE(copy(x).to_vector<float>(), expected);
  }
};

TEST_F(OtherLibrary, ItsModulesAreCopied) {
  expect_copied(make_net());
  expect_copied(make_normed());
}

TEST_F(OtherLibrary, ItsModulesAreCopiedWithinOthers) {
  expect_copied(nn::Sequential(make_net(), nn::ReLU(), make_normed()));
  expect_copied(make_around(nn::Linear(3, 3)));
  expect_copied(make_around(make_net()));
  expect_copied(nn::Sequential(make_around(nn::Sequential(make_net()))));
}

TEST_F(OtherLibrary, ACopyDrawsNoNumbers) {
  tn::manual_seed(3);
  const std::vector<float> expected = tn::randn({4}).to_vector<float>();
  const tn::Object module = nn::Sequential(make_net(), make_normed());
  tn::manual_seed(3);
  module.clone();
  EXPECT_EQ(tn::randn({4}).to_vector<float>(), expected);
}

}  // namespace
