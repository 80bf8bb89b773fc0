// tenon/prune.hpp against torch.nn.utils.prune of PyTorch 2.15: the same masks.
#include <tenon/prune.hpp>
#include <tenon/tenon.hpp>

#include "compile_support.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
namespace prune = tn::nn::utils::prune;
using tn::Object;
using Mask = std::vector<float>;  // or the values of a weight

struct Prune : testing::Test {
  static void SetUpTestSuite() { tn::load_plugins(); }
};

Object layer(double factor = 1) {
  const Object linear = nn::Linear(4, 3);
  const tn::NoGrad guard;
  linear.tensor("weight").copy_(
      factor * tn::tensor({{.5, -1, 2, 1.5}, {.25, -.75, .1, -3}, {1.25, .6, -.2, .9}}));
  linear.tensor("bias").zero_();
  return linear;
}
Tensor mask_tensor(const Object& pruned) {
  return pruned.child("parametrizations").child("weight").child("0").tensor("mask");
}
Mask mask_of(const Object& pruned) { return mask_tensor(pruned).to_vector<float>(); }

TEST_F(Prune, TheLeastMagnitudesGo) {
  const Object pruned = layer();
  EXPECT_FALSE(prune::is_pruned(pruned));
  prune::l1_unstructured(pruned, "weight", 0.3);
  EXPECT_EQ(mask_of(pruned), (Mask{0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1}));
  prune::l1_unstructured(pruned, "weight", 2);  // of what is left
  EXPECT_EQ(mask_of(pruned), (Mask{0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1}));
  EXPECT_TRUE(prune::is_pruned(pruned));
  EXPECT_TRUE(prune::is_pruned(pruned, "weight"));
  EXPECT_FALSE(prune::is_pruned(pruned, "bias"));
  // A half is rounded to the even count.
  for (const auto& [amount, zeros] : {std::pair{0.125, 2}, {0.375, 4}, {0.0, 0}, {1.0, 12}}) {
    const Mask mask = mask_of(prune::l1_unstructured(layer(), "weight", amount));
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 0.f), zeros);
  }
  const Tensor scores = tn::arange(12).to(tn::float32).reshape({3, 4});
  EXPECT_EQ(mask_of(prune::l1_unstructured(layer(), "weight", 3, scores)),
            (Mask{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  // Their magnitudes count, also of whole numbers.
  const Tensor signed_scores = tn::arange(-6, 6).reshape({3, 4});
  EXPECT_EQ(mask_of(prune::l1_unstructured(layer(), "weight", 3, signed_scores)),
            (Mask{1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1}));
}

TEST_F(Prune, SlicesGo) {
  const Object pruned = prune::ln_structured(layer(), "weight", 1, 2, 0);
  EXPECT_EQ(mask_of(pruned), (Mask{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
  prune::ln_structured(pruned, "weight", 0.5, 1, 1);
  EXPECT_EQ(mask_of(pruned), (Mask{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(mask_of(prune::ln_structured(layer(), "weight", 2, 2, -1)),
            (Mask{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST_F(Prune, SeveralTensorsAreComparedTogether) {
  const Object a = layer(), b = layer(2);
  prune::global_unstructured({{a, "weight"}, {b, "weight"}}, 0.4);
  EXPECT_EQ(mask_of(a), (Mask{0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(mask_of(b), (Mask{1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1}));
}

TEST_F(Prune, WhatIsDrawnHasItsCount) {
  tn::manual_seed(3);
  std::set<Mask> seen;
  for (int i = 0; i < 8; ++i) {
    const Object pruned = prune::random_unstructured(layer(), "weight", 5);
    const Mask mask = mask_of(prune::random_unstructured(pruned, "weight", 2));
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 0.f), 7);
    seen.insert(mask);
    const Tensor rows = mask_tensor(prune::random_structured(layer(), "weight", 2, 0));
    EXPECT_EQ(rows.sum().item<float>(), 4);
    EXPECT_EQ(rows.amax({1}).sum().item<float>(), 1);
  }
  EXPECT_GT(seen.size(), 4u);
}

TEST_F(Prune, GradientsAndStepsLeaveTheZeros) {
  const Object pruned = prune::l1_unstructured(layer(), "weight", 0.3);
  const Tensor original = pruned.child("parametrizations").child("weight").tensor("original");
  const Tensor x = tn::tensor({{1.0, 2.0, 3.0, 4.0}});
  const Tensor y = pruned(x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{10, -13.5, 6.05f}));
  y.sum().backward();
  EXPECT_EQ(original.grad().to_vector<float>(), (Mask{0, 2, 3, 4, 0, 2, 0, 4, 1, 2, 0, 4}));
  auto optimizer = tn::optim::SGD(pruned.parameters(), {.lr = 0.1, .momentum = 0.9});
  const Mask before = mask_of(pruned);
  auto step = tn::compile([&](Tensor in) {
    const Tensor loss = pruned(in).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach() * 1;
  });
  for (int i = 0; i < 4; ++i) step(x);
  expect_described(step, "2 recordings, 2 replays");
  const std::vector<float> weight = pruned.tensor("weight").to_vector<float>();
  for (size_t i = 0; i < weight.size(); ++i) EXPECT_EQ(weight[i] == 0, before[i] == 0) << i;
}

TEST_F(Prune, MasksAreCopiedSavedAndRemoved) {
  const Object pruned = prune::l1_unstructured(layer(), "weight", 0.3);
  const Object copy = pruned.clone();
  prune::l1_unstructured(copy, "weight", 3);
  EXPECT_EQ(mask_of(pruned), (Mask{0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1}));
  EXPECT_EQ(tn::count_nonzero(mask_tensor(copy)).item<int64_t>(), 5);
  const Object other = prune::identity(layer(7), "weight");
  other.load_state_dict(pruned.state_dict());
  EXPECT_TRUE(other.tensor("weight").equal(pruned.tensor("weight")));
  const Tensor value = pruned.tensor("weight").detach().clone();
  prune::remove(pruned, "weight");
  EXPECT_FALSE(prune::is_pruned(pruned));
  EXPECT_TRUE(pruned.tensor("weight").equal(value));
  EXPECT_TRUE(pruned.tensor("weight").requires_grad());
  EXPECT_EQ(pruned.parameters().size(), 2u);
  const Object chosen =
      prune::custom_from_mask(layer(), "weight", tn::ne(tn::arange(12).reshape({3, 4}), 5));
  EXPECT_EQ(mask_of(chosen), (Mask{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1}));
}

TEST_F(Prune, SaysWhatIsWrong) {
  EXPECT_EQ(message_of([] { prune::l1_unstructured(layer(), "weight", 1.5); }),
            "l1_unstructured: the amount is 1.5, expected a fraction from 0 to 1, or a count of at "
            "most 12");
  EXPECT_EQ(message_of([] { prune::random_unstructured(layer(), "weight", 13); }),
            "random_unstructured: the amount is 13, expected a fraction from 0 to 1, or a count of "
            "at most 12");
  EXPECT_EQ(message_of([] { prune::ln_structured(layer(), "weight", -2, 2, 0); }),
            "ln_structured: the amount is -2, expected a fraction from 0 to 1, or a count of at "
            "most 3");
  EXPECT_EQ(message_of([] { prune::random_structured(layer(), "weight", 1, 2); }),
            "random_structured: dim is 2, expected -2 to 1");
  // Of a bias each element would be a slice, which PyTorch refuses, too.
  EXPECT_EQ(message_of([] { prune::ln_structured(layer(), "bias", 1, 2, 0); }),
            "ln_structured: 'bias' of Linear is [3], expected at least 2 dimensions; "
            "l1_unstructured and random_unstructured prune elements");
  EXPECT_NE(message_of([] { prune::random_structured(layer(), "bias", 1, 0); }), "no error");
  EXPECT_EQ(message_of([] { prune::l1_unstructured(layer(), "weight", 1, tn::ones({4})); }),
            "l1_unstructured: the importance_scores is [4], 'weight' of Linear is [3, 4]");
  EXPECT_EQ(message_of([] { prune::custom_from_mask(layer(), "weight", tn::ones({4})); }),
            "custom_from_mask: the mask is [4], 'weight' of Linear is [3, 4]");
  EXPECT_EQ(
      message_of([] { prune::l1_unstructured(nn::Linear(2, 2, {.bias = false}), "bias", 1); }),
      "l1_unstructured: 'bias' of Linear is None");
  EXPECT_EQ(message_of([] { prune::remove(layer(), "weight"); }),
            "remove: 'weight' of Linear is not pruned");
  EXPECT_EQ(message_of([] { prune::global_unstructured({}, 1); }),
            "global_unstructured: there are no tensors, expected at least one");
  EXPECT_NE(message_of([] { prune::l1_unstructured(layer(), "wieght", 1); }).find("wieght"),
            std::string::npos);
}

}  // namespace
