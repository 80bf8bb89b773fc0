// nn::AdaptiveLogSoftmaxWithLoss beside PyTorch's values, and what it refuses.
#include <vector>

#include <tenon/adaptive_softmax.hpp>

#include "message_of.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;

Tensor waves(int64_t n) { return tn::arange(0, n, 1, tn::float64); }

// Weights that a formula gives, in Python and here.
auto known_softmax() {
  auto softmax = nn::AdaptiveLogSoftmaxWithLoss(
      8, 12, {3, 7}, {.div_value = 2, .head_bias = true, .dtype = tn::float64});
  const tn::NoGrad scope;
  for (const Tensor& p : softmax.parameters())
    p.copy_(tn::sin(waves(p.numel())).reshape(p.sizes()));
  return softmax;
}

TEST(AdaptiveSoftmax, IsPyTorchs) {
  load_all();
  const auto softmax = known_softmax();
  EXPECT_EQ(softmax.state_dict().keys(),
            (std::vector<std::string>{"head.weight", "head.bias", "tail.0.0.weight",
                                      "tail.0.1.weight", "tail.1.0.weight", "tail.1.1.weight"}));
  expect_sizes(softmax.get_parameter("tail.0.0.weight"), {4, 8});
  expect_sizes(softmax.get_parameter("tail.1.1.weight"), {5, 2});
  const Tensor x = tn::cos(waves(32)).reshape({4, 8}).requires_grad_();
  const Tensor target = tn::tensor({2, 11, 4, 7});
  const auto [output, loss] = softmax.call<2>(x, target);
  expect_near(output,
              {-5.9728828256392665, -15.985993079015863, -0.10170717149096983, -4.016802042924464},
              1e-12);
  EXPECT_NEAR(loss.item<double>(), 6.519346279767641, 1e-12);
  loss.backward();
  EXPECT_NEAR(x.grad().abs().sum().item<double>(), 8.635621226897612, 1e-11);
  EXPECT_NEAR(softmax.get_parameter("tail.1.0.weight").grad().abs().sum().item<double>(),
              3.8742556958881096, 1e-11);
  expect_near(softmax.get_parameter("head.bias").grad(),
              {0.11385204369086255, 0.28689092266755656, 0.011170496686274324,
               -0.018679949245552444, -0.39323351379914107},
              1e-12);
  EXPECT_EQ(softmax->predict(x).to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 4, 0}));
  expect_near(softmax->log_prob(x)[1],
              {-8.224585277843415, -4.305439966912224, -0.020232681087160833, -7.371817524386643,
               -8.494192115703076, -15.433964920631732, -5.239313880946517, -12.662483881642116,
               -15.56495006504324, -9.061160075417904, -11.571757151515891, -15.985993079015863},
              1e-12);
}

// Of one row, of copies, where a cluster has no target, and where there are no rows.
TEST(AdaptiveSoftmax, OtherInputs) {
  load_all();
  const auto softmax = known_softmax();
  const Tensor x = tn::cos(waves(16)).reshape({2, 8});
  const auto [outputs, loss] = softmax.call<2>(x, tn::tensor({0, 5}));
  const auto [output, alone] = softmax.clone().call<2>(x[1], tn::tensor(5));
  expect_sizes(output, {});
  EXPECT_EQ(output.item<double>(), outputs[1].item<double>());
  EXPECT_EQ(alone.item<double>(), -output.item<double>());
  EXPECT_NEAR(loss.item<double>(), -outputs.mean().item<double>(), 1e-15);
  const auto [none, nan] = softmax.call<2>(x.narrow(0, 0, 0), tn::zeros({0}, tn::int64));
  expect_sizes(none, {0});
  // One class in the head, and a cluster of one class.
  const auto small = nn::AdaptiveLogSoftmaxWithLoss(4, 3, {1, 2}, {.div_value = 2});
  const auto [of_small, its_loss] = small.call<2>(tn::ones({3, 4}), tn::tensor({0, 1, 2}));
  EXPECT_NEAR(of_small.exp().sum().item<double>(), 1, 1e-6);
  EXPECT_FALSE(small.state_dict().contains("head.bias"));
}

TEST(AdaptiveSoftmax, SaysWhatItTakes) {
  load_all();
  const auto made = [](std::vector<int64_t> cutoffs, double div_value = 4) {
    return message_of(
        [&] { nn::AdaptiveLogSoftmaxWithLoss(8, 12, cutoffs, {.div_value = div_value}); });
  };
  const std::string expected = ", expected rising numbers from 1 to n_classes - 1 = 11";
  const std::string cutoffs = "AdaptiveLogSoftmaxWithLoss: cutoffs are ";
  EXPECT_EQ(made({}), cutoffs + "[]" + expected);
  EXPECT_EQ(made({0, 3}), cutoffs + "[0, 3]" + expected);
  EXPECT_EQ(made({3, 3}), cutoffs + "[3, 3]" + expected);
  EXPECT_EQ(made({3, 12}), cutoffs + "[3, 12]" + expected);
  EXPECT_EQ(made({3}, 0), "AdaptiveLogSoftmaxWithLoss: div_value is 0, expected a number above 0");
  EXPECT_EQ(
      made({3, 6}),
      "AdaptiveLogSoftmaxWithLoss: cluster 1 has 8 / div_value^2 features within, expected at "
      "least 1");
  const auto softmax = known_softmax();
  const Tensor x = tn::ones({2, 8}, tn::float64);
  for (const int64_t target : {-1, 12}) {
    expect_error(
        [&] {
          softmax.call<2>(x, tn::tensor({0, target}));
        },
        "a target is no class from 0 to 11");
  }
  expect_error([&] { softmax.call<2>(x, tn::tensor({0})); },
               "input is [2, 8] and target [1], expected [n, in_features] and [n]");
}

}  // namespace
