// Modules whose classes live in another library of the program, which has a face of its own.
#include "ops_support.h"

tenon::Object make_net();  // of other_library.cpp
tenon::Object make_around(const tenon::Object& held);
tenon::Object make_normed();
tenon::Object make_two(const tenon::Object& a, const tenon::Object& b);

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
    const tn::NoGrad guard;
    for (Tensor parameter : copy.parameters()) parameter.zero_();
    // What it lists is all that it computes with. (A norm of zeros is NaN.)
    const auto values = [&](const Tensor& of) {
      return tn::nan_to_num(copy(of)).to_vector<float>();
    };
    EXPECT_EQ(values(x), values(x * 2));
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

// What is shared with parts outside of the library's class is in the copy its own.
TEST_F(OtherLibrary, ItsModulesShareWithOthers) {
  const tn::Object shared = nn::Linear(3, 3);
  expect_copied(nn::Sequential(shared, make_two(shared, nn::Linear(3, 3))));
  expect_copied(nn::Sequential(make_two(shared, nn::Linear(3, 3)), shared));
  expect_copied(nn::Sequential(make_two(shared, shared), make_two(shared, nn::Linear(3, 3))));
  expect_copied(make_two(make_net(), nn::Sequential(shared, shared)));
}

TEST_F(OtherLibrary, TheMethodItselfCopies) {
  const tn::Object module = make_net();
  const Tensor x = tn::randn({2, 3});
  EXPECT_EQ(module.invoke<tn::Object>("clone")(x).to_vector<float>(), module(x).to_vector<float>());
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
