// Options of layers, optimizers, schedules and loaders by their places, in PyTorch's order, beside those
// by name.
#include "layers_support.h"

#include <cmath>

#include <tenon/data/datasets.hpp>
#include <tenon/data/loader.hpp>

using tn::Object, tn::Tensor;
namespace nn = tn::nn;
namespace optim = tn::optim;

namespace {

class ByPlace : public testing::Test {
 protected:
  void SetUp() override { tn::load_plugins(); }

  // The same layer, as it describes itself with all its options.
  static void expect_same(const Object& by_place, const Object& by_name) {
    EXPECT_EQ(by_place.to_string(), by_name.to_string());
  }
};

TEST_F(ByPlace, OptionsOfLayers) {
  expect_same(nn::MaxPool2d(3, 2), nn::MaxPool2d(3, {.stride = 2}));
  expect_same(nn::MaxPool2d({3, 2}, 2, 1, 1, true),
              nn::MaxPool2d({3, 2}, {.stride = 2, .padding = 1, .return_indices = true}));
  expect_same(nn::AvgPool2d(2, std::vector<int64_t>{2, 1}), nn::AvgPool2d(2, {.stride = {2, 1}}));
  expect_same(nn::Conv2d(3, 4, 3, 1, 1), nn::Conv2d(3, 4, 3, {.stride = 1, .padding = 1}));
  expect_same(nn::Conv2d(4, 4, 3, 1, "same", 2, 2, false, "reflect"),
              nn::Conv2d(4, 4, 3,
                         {.stride = 1,
                          .padding = "same",
                          .dilation = 2,
                          .groups = 2,
                          .bias = false,
                          .padding_mode = "reflect"}));
  expect_same(nn::ConvTranspose2d(3, 4, 4, 2, 1),
              nn::ConvTranspose2d(3, 4, 4, {.stride = 2, .padding = 1}));
  expect_same(nn::BatchNorm2d(3, 1e-3, 0.2), nn::BatchNorm2d(3, {.eps = 1e-3, .momentum = 0.2}));
  expect_same(nn::LSTM(3, 4, 2), nn::LSTM(3, 4, {.num_layers = 2}));
  expect_same(nn::Flatten(2), nn::Flatten({.start_dim = 2}));
  expect_same(nn::MultiheadAttention(8, 2, 0.1, false, true),
              nn::MultiheadAttention(8, 2, {.dropout = 0.1, .bias = false, .add_bias_kv = true}));
  expect_same(nn::TransformerEncoderLayer(8, 2, 16, 0.0, "gelu"),
              nn::TransformerEncoderLayer(
                  8, 2, {.dim_feedforward = 16, .dropout = 0.0, .activation = "gelu"}));
  expect_same(nn::Embedding(5, 3, 1, 2.0),
              nn::Embedding(5, 3, {.padding_idx = 1, .max_norm = 2.0}));
  const Tensor weight = tn::tensor({1.f, 2.f});
  EXPECT_TRUE(tn::equal(nn::CrossEntropyLoss(weight).tensor("weight"), weight));
}

TEST_F(ByPlace, NoneIsAListOfNothing) {
  expect_same(nn::Upsample(tn::none, 2.0, "bilinear"),
              nn::Upsample({.scale_factor = 2.0, .mode = "bilinear"}));
  expect_same(nn::Upsample(std::nullopt, 2.0), nn::Upsample({.scale_factor = 2.0}));
  expect_same(nn::UpsamplingNearest2d(tn::none, 2), nn::UpsamplingNearest2d({.scale_factor = 2.0}));
  expect_same(nn::UpsamplingBilinear2d(tn::none, 2),
              nn::UpsamplingBilinear2d({.scale_factor = 2.0}));
  expect_same(nn::MaxPool2d(2, tn::none), nn::MaxPool2d(2));
}

TEST_F(ByPlace, AnOutputSizeStandsInBraces) {
  const Tensor x = tn::arange(16.0).reshape({1, 1, 4, 4});
  EXPECT_EQ(nn::ConvTranspose2d(1, 1, 3, 2)(x, {10, 9}).sizes(),
            (std::vector<int64_t>{1, 1, 10, 9}));
  const auto [values, indices] = tn::max_pool2d_with_indices(x, 2);
  EXPECT_EQ(nn::MaxUnpool2d(2)(values, indices, {5, 5}).sizes(),
            (std::vector<int64_t>{1, 1, 5, 5}));
}

TEST_F(ByPlace, BracesAreOptionsByName) {
  expect_same(nn::Linear(3, 4, {}), nn::Linear(3, 4));
  expect_same(nn::Linear(3, 4, false), nn::Linear(3, 4, {.bias = false}));
  expect_same(nn::MaxPool2d(3, {}), nn::MaxPool2d(3));
  expect_same(nn::Conv2d(3, 4, 3, {}), nn::Conv2d(3, 4, 3));
  expect_same(nn::BatchNorm2d(3, {}), nn::BatchNorm2d(3));
  expect_same(nn::CrossEntropyLoss({}), nn::CrossEntropyLoss());
}

TEST_F(ByPlace, OptionsOfOptimizers) {
  const Tensor p = tn::ones(2, 3).requires_grad_();
  const auto adam = optim::Adam({p}, 0.1);
  EXPECT_EQ(adam.lr(), 0.1);
  const auto more = optim::Adam({p}, 1e-2, {0.5, 0.9}, 1e-6, 0.25, true);
  EXPECT_EQ(more.param_groups()[0].option<std::vector<double>>("betas"),
            (std::vector<double>{0.5, 0.9}));
  EXPECT_EQ(more.option<bool>("amsgrad"), true);
  const auto sgd = optim::SGD({p}, 1, 0.9);  // a whole number is a rate, too
  EXPECT_EQ(sgd.lr(), 1.0);
  EXPECT_EQ(sgd.param_groups()[0].option<double>("momentum"), 0.9);
}

TEST_F(ByPlace, OptionsOfGroupsAreReadAndSet) {
  const Tensor p = tn::ones(3).requires_grad_();
  const auto optimizer = optim::SGD({p}, 0.1, 0.9);
  for (auto& group : optimizer.param_groups()) {
    const double lr = group["lr"];
    EXPECT_EQ(lr, 0.1);
    group["lr"] = lr / 2;
    group["momentum"] = 0.5;
    group["lr"] *= 2;
    EXPECT_EQ(group.lr(), 0.1);
    group["lr"] /= 4;
    group["lr"] += 0.0625;
    group["lr"] -= 0.0375;
    EXPECT_EQ(message_of([&] { group["lr"] = -1.0; }), "SGD: lr is -1, expected at least 0");
    EXPECT_EQ(message_of([&] { group["lr"] -= 1; }), "SGD: lr is -0.95, expected at least 0");
  }
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.05);
  const auto adam = optim::Adam({p}, 0.1);
  const auto betas = adam.param_groups()[0]["betas"];  // outlives the group's handle
  adam.param_groups()[0]["betas"] = {0.5, 0.75};
  EXPECT_EQ(std::vector<double>(betas), (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(optimizer.param_groups()[0].option<double>("momentum"), 0.5);
}

TEST_F(ByPlace, AnOptionOfAGroupIsNoTensor) {
  const auto optimizer = optim::SGD({tn::ones(3).requires_grad_()}, 0.1);
  const std::string refused =
      "the option 'lr' of a parameter group is given as a tensor, expected a number, a list or a "
      "text: of one element tensor.item<double>()";
  EXPECT_EQ(message_of([&] { optimizer.param_groups()[0]["lr"] = tn::tensor(0.2); }), refused);
  EXPECT_EQ(message_of([&] {
              optimizer.add_param_group({tn::ones(2)}, {{"lr", tn::tensor(0.2)}});
            }),
            refused);
  EXPECT_EQ(optimizer.lr(), 0.1);
}

// The values are PyTorch 2.15's.
TEST_F(ByPlace, ClippingTakesOneTensorAndOptionsByName) {
  const auto parameters = [] {
    const Tensor p = tn::ones(2).requires_grad_(), q = tn::ones(3).requires_grad_();
    p.set_grad(tn::tensor({3.f, -4.f}));
    q.set_grad(tn::tensor({0.f, 2.f, 0.5f}));
    return std::vector<Tensor>{p, q};
  };
  namespace utils = nn::utils;
  std::vector<Tensor> v = parameters();
  EXPECT_EQ(utils::clip_grad_norm_(v[0], 1.0).item(), 5);
  EXPECT_NEAR(utils::get_total_norm(v[0].grad()).item(), 1, 1e-6);
  EXPECT_EQ(v[1].grad()[1].item(), 2);
  v = parameters();
  EXPECT_EQ(utils::clip_grad_norm_(v[0], 1.0, 1).item(), 7);
  EXPECT_EQ(utils::clip_grad_norm_(v, 100.0, {.norm_type = INFINITY}).item(), 2);
  utils::clip_grad_value_(v[1], 0.75);
  EXPECT_EQ(v[1].grad().to_vector<float>(), (std::vector<float>{0, 0.75, 0.5}));
  utils::clip_grads_with_norm_(v[1], 0.5, tn::tensor(1.0));
  EXPECT_NEAR(v[1].grad()[1].item(), 0.375, 1e-6);

  // The norm of type 0 counts the tensors that have one, and those below 0 are 0 beside an element of 0.
  for (const double type : {0.0, -1.0, -2.0, double(-INFINITY)}) {
    v = parameters();
    const double norm = type == 0 ? 2 : 0;
    EXPECT_EQ(utils::get_total_norm({v[0].grad(), v[1].grad()}, type).item(), norm) << type;
    EXPECT_EQ(utils::clip_grad_norm_(v, 1.0, type).item(), norm) << type;
    EXPECT_NEAR(v[0].grad()[0].item(), type == 0 ? 1.5 : 3, 1e-6) << type;
  }
  EXPECT_NEAR(utils::get_total_norm(v[0].grad(), -1).item(), 12.0 / 7, 1e-6);

  for (const double bad : {-std::nan(""), std::nan("")}) {
    v[0].set_grad(tn::tensor({float(bad), 1.f}));
    EXPECT_EQ(message_of([&] {
                utils::clip_grad_norm_(v, 1.0, {.norm_type = 1., .error_if_nonfinite = true});
              }),
              "clip_grad_norm_: the norm of the gradients is nan, which is not finite");
    EXPECT_EQ(message_of([&] { utils::get_total_norm(v[0].grad(), 2.0, true); }),
              "get_total_norm: the norm of the tensors is nan, which is not finite");
  }
  EXPECT_EQ(v[0].grad()[1].item(), 1);
  EXPECT_TRUE(std::isnan(utils::get_total_norm(v[0].grad()).item()));
}

TEST_F(ByPlace, GradientsBecomeZerosWhereTheyAreToStay) {
  const Tensor p = tn::ones(3).requires_grad_(), q = tn::ones(3).requires_grad_();
  const auto optimizer = optim::SGD({p, q}, 0.1);
  p.sum().backward();
  const Tensor gradient = p.grad();
  optimizer.zero_grad(false);
  EXPECT_TRUE(p.grad().is_same(gradient));
  EXPECT_TRUE(tn::equal(p.grad(), tn::zeros(3)));
  EXPECT_FALSE(q.grad().defined());
  optimizer.zero_grad(true);
  EXPECT_FALSE(p.grad().defined());

  const Object table = nn::Embedding(4, 2, {.sparse = true});
  const auto rows = optim::SGD(table.parameters(), 0.1);
  table(tn::tensor({1, 2})).sum().backward();
  rows.zero_grad(false);
  EXPECT_FALSE(table.tensor("weight").grad().defined());
}

// Rates of five steps.
std::vector<double> rates(optim::Scheduler scheduler) {
  std::vector<double> list;
  for (int i = 0; i < 5; ++i) {
    list.push_back(scheduler.get_last_lr()[0]);
    scheduler.step();
  }
  return list;
}

TEST_F(ByPlace, SchedulesTakeTheOptimizerFirst) {
  const Tensor p = tn::ones(3).requires_grad_();
  const auto optimizer = [&] { return optim::SGD({p}, 0.1, 0.9); };
  const auto expect = [&](optim::Scheduler scheduler, optim::Schedule schedule) {
    EXPECT_EQ(rates(std::move(scheduler)),
              rates(optim::Scheduler(optimizer(), std::move(schedule))));
  };
  expect(optim::StepLR(optimizer(), 2, 0.8), optim::StepLR(2, 0.8));
  expect(optim::StepLR(optimizer(), 2, {.gamma = 0.8}), optim::StepLR(2, 0.8));
  expect(optim::MultiStepLR(optimizer(), {1, 3}), optim::MultiStepLR({1, 3}));
  expect(optim::MultiStepLR(optimizer(), {1, 3}, {.gamma = 0.5}), optim::MultiStepLR({1, 3}, 0.5));
  expect(optim::ExponentialLR(optimizer(), 0.9), optim::ExponentialLR(0.9));
  expect(optim::ConstantLR(optimizer(), 0.5, 2), optim::ConstantLR(0.5, 2));
  expect(optim::ConstantLR(optimizer()), optim::ConstantLR());
  expect(optim::LinearLR(optimizer(), 0.5, 1.0, 3), optim::LinearLR(0.5, 1.0, 3));
  expect(optim::LinearLR(optimizer(), {.total_iters = 4}), optim::LinearLR({.total_iters = 4}));
  expect(optim::PolynomialLR(optimizer(), 4, 2.0), optim::PolynomialLR(4, 2.0));
  expect(optim::PolynomialLR(optimizer()), optim::PolynomialLR());
  expect(optim::CosineAnnealingLR(optimizer(), 4, 0.01), optim::CosineAnnealingLR(4, 0.01));
  expect(optim::CosineAnnealingLR(optimizer(), 4, {.eta_min = 0.01}),
         optim::CosineAnnealingLR(4, 0.01));
  expect(optim::CosineAnnealingWarmRestarts(optimizer(), 2, 2),
         optim::CosineAnnealingWarmRestarts(2, 2));
  expect(optim::CosineAnnealingWarmRestarts(optimizer(), 2, {.t_mult = 2}),
         optim::CosineAnnealingWarmRestarts(2, 2));
  expect(optim::CyclicLR(optimizer(), 0.01, 0.1), optim::CyclicLR(0.01, 0.1));
  expect(optim::OneCycleLR(optimizer(), 0.1, 10), optim::OneCycleLR(0.1, 10));
  expect(optim::CyclicLR(optimizer(), 0.01, 0.1, {.step_size_up = 2}),
         optim::CyclicLR(0.01, 0.1, {.step_size_up = 2}));
  expect(optim::OneCycleLR(optimizer(), 0.1, 10, {.pct_start = 0.5}),
         optim::OneCycleLR(0.1, 10, {.pct_start = 0.5}));
  expect(optim::ConstantLR(optimizer(), {.factor = 0.25}), optim::ConstantLR({.factor = 0.25}));
  expect(optim::PolynomialLR(optimizer(), {.power = 2.0}), optim::PolynomialLR({.power = 2.0}));
  EXPECT_EQ(rates({optimizer(), optim::ConstantLR({})}), rates(optim::ConstantLR(optimizer(), {})));
  const auto half = [](int64_t step) { return step == 0 ? 1.0 : 0.5; };
  expect(optim::LambdaLR(optimizer(), half), optim::LambdaLR(half));
  expect(optim::MultiplicativeLR(optimizer(), half), optim::MultiplicativeLR(half));
  expect(optim::SequentialLR(optimizer(), {optim::ConstantLR(), optim::ExponentialLR(0.9)}, {2}),
         optim::SequentialLR({optim::ConstantLR(), optim::ExponentialLR(0.9)}, {2}));
}

TEST_F(ByPlace, OptionsByNameStandBehindThoseByPlace) {
  expect_same(nn::Transformer(16, 4, 1, 1, 32, 0.0, {.batch_first = true}),
              nn::Transformer({.d_model = 16,
                               .nhead = 4,
                               .num_encoder_layers = 1,
                               .num_decoder_layers = 1,
                               .dim_feedforward = 32,
                               .dropout = 0.0,
                               .batch_first = true}));
  expect_same(nn::LSTM(6, 5, 2, {.batch_first = true, .bidirectional = true}),
              nn::LSTM(6, 5, {.num_layers = 2, .batch_first = true, .bidirectional = true}));
  expect_same(nn::LSTM(6, 5, 2, false, {.dropout = 0.5}),
              nn::LSTM(6, 5, {.num_layers = 2, .bias = false, .dropout = 0.5}));
  expect_same(nn::Conv2d(3, 4, 3, 2, {.padding = 1}),
              nn::Conv2d(3, 4, 3, {.stride = 2, .padding = 1}));
  expect_same(nn::Conv2d(4, 4, 3, 1, "same", 2, {.bias = false}),
              nn::Conv2d(4, 4, 3, {.padding = "same", .dilation = 2, .bias = false}));
  expect_same(nn::MaxPool2d(3, std::vector<int64_t>{2, 1}, {.padding = 1}),
              nn::MaxPool2d(3, {.stride = {2, 1}, .padding = 1}));
  expect_same(nn::Embedding(5, 3, 1, {.max_norm = 2.0}),
              nn::Embedding(5, 3, {.padding_idx = 1, .max_norm = 2.0}));
  expect_same(nn::Upsample(tn::none, 2.0, {.mode = "bilinear"}),
              nn::Upsample({.scale_factor = 2.0, .mode = "bilinear"}));
  expect_same(nn::BatchNorm2d(3, 1e-3, {.affine = false}),
              nn::BatchNorm2d(3, {.eps = 1e-3, .affine = false}));
  // Where braces are a list, they are the option of their place as before.
  expect_same(nn::Conv2d(4, 4, 3, 1, {1, 2}), nn::Conv2d(4, 4, 3, {.padding = {1, 2}}));
  const Tensor p = tn::ones(2, 3).requires_grad_();
  const optim::SGD sgd({p}, 0.1, {.momentum = 0.9});
  EXPECT_EQ(sgd.lr(), 0.1);
  EXPECT_EQ(sgd.option<double>("momentum"), 0.9);
  const optim::AdamW adam({p}, 0.1, std::vector<double>{0.5, 0.75}, {.weight_decay = 0.5});
  EXPECT_EQ(adam.option<std::vector<double>>("betas"), (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(adam.option<double>("weight_decay"), 0.5);
  const Tensor x = tn::ones({1, 3, 8, 8}), w = tn::ones({4, 3, 3, 3}), logits = tn::eye(3),
               classes = tn::arange(3);
  EXPECT_TRUE(tn::equal(tn::conv2d(x, w, {}, 2, {.padding = 1}),
                        tn::conv2d(x, w, {.stride = 2, .padding = 1})));
  EXPECT_TRUE(tn::equal(tn::max_pool2d(x, 3, 2, {.padding = 1}), tn::max_pool2d(x, 3, 2, 1)));
  EXPECT_TRUE(tn::equal(
      tn::cross_entropy(logits, classes, tn::ones(3), 1, {.label_smoothing = 0.5}),
      tn::cross_entropy(logits, classes,
                        {.weight = tn::ones(3), .ignore_index = 1, .label_smoothing = 0.5})));
  EXPECT_EQ(message_of([] { nn::LSTM(6, 5, 2, {.num_layers = 3}); }),
            "LSTM: option 1 is given by its place and by its name, expected one of the two");
  EXPECT_EQ(message_of([] { nn::Conv2d(4, 4, 3, 1, "same", {.padding = 2}); }),
            "Conv2d: option 2 is given by its place and by its name, expected one of the two");
  EXPECT_EQ(message_of([] { nn::Conv2d(4, 4, 3, 1, 1, {.padding = "same"}); }),
            "Conv2d: option 2 is given by its place and by its name, expected one of the two");
  EXPECT_EQ(message_of([&] {
              optim::Adam({p}, 0.1, std::vector{0.5, 0.5}, {.betas = {0.1, 0.2}});
            }),
            "Adam: option 2 is given by its place and by its name, expected one of the two");
  EXPECT_EQ(message_of([] { nn::LSTM(6, 5, 2, {.bias = false}, {.batch_first = true}); }),
            "LSTM: options by name stand in two braces, expected one");
  EXPECT_EQ(message_of([&] {
              tn::cross_entropy(logits, classes, tn::ones(3), 1, {.weight = tn::ones(3)});
            }),
            "cross_entropy: weight is given by its place and by its name");
}

TEST_F(ByPlace, OptionsOfSchedulesByNameBehindThoseByPlace) {
  const optim::SGD sgd({tn::ones(1).requires_grad_()}, 0.5);
  const auto expect = [](const optim::Schedule& a, const optim::Schedule& b) {
    for (int64_t step = 0; step < 9; ++step) EXPECT_EQ(a.at(step, 0.5), b.at(step, 0.5)) << step;
  };
  expect(optim::LinearLR(0.25, {.total_iters = 3}), optim::LinearLR(0.25, 1.0, 3));
  expect(optim::LinearLR(0.25, 0.75, {.total_iters = 3}), optim::LinearLR(0.25, 0.75, 3));
  expect(optim::ConstantLR(0.25, {.total_iters = 3}), optim::ConstantLR(0.25, 3));
  expect(optim::PolynomialLR(7, {.power = 2}), optim::PolynomialLR(7, 2));
  expect(optim::CosineAnnealingWarmRestarts(2, 2, {.eta_min = 0.125}),
         optim::CosineAnnealingWarmRestarts(2, 2, 0.125));
  expect(optim::CosineAnnealingLR({.t_max = 5, .eta_min = 0.125}),
         optim::CosineAnnealingLR(5, 0.125));
  optim::LinearLR linear(sgd, 0.25, {.total_iters = 3});
  EXPECT_EQ(sgd.lr(), 0.125);
  optim::CosineAnnealingLR cosine(sgd, {.t_max = 5});
  optim::ConstantLR constant(sgd, 0.25, {.total_iters = 3});
  optim::PolynomialLR polynomial(sgd, 7, {.power = 2});
  optim::CosineAnnealingWarmRestarts restarts(sgd, 2, 2, {.eta_min = 0.125});
  EXPECT_EQ(message_of([] { optim::CosineAnnealingLR schedule({.eta_min = 0.1}); }),
            "CosineAnnealingLR: expected t_max, the number of steps");
  EXPECT_EQ(
      message_of([] { optim::CosineAnnealingLR schedule(4, {.t_max = 5}); }),
      "CosineAnnealingLR: option 1 is given by its place and by its name, expected one of the "
      "two");
}

TEST_F(ByPlace, OptionsOfALoader) {
  const tn::data::TensorDataset set(tn::arange(10), tn::arange(10));
  tn::data::DataLoader batches(set, 4);
  EXPECT_EQ(batches.size(), 3);
  EXPECT_TRUE(tn::equal(std::get<0>(*batches.begin()), tn::arange(4)));
  tn::manual_seed(1);
  tn::data::DataLoader shuffled(set, 10, true);
  EXPECT_FALSE(tn::equal(std::get<0>(*shuffled.begin()), tn::arange(10)));
  tn::data::DataLoader plain(set, {});
  EXPECT_EQ(plain.size(), 10);
  EXPECT_EQ(message_of([&] { tn::data::DataLoader(set, 0); }),
            "DataLoader: batch_size is 0, expected at least 1");
}

TEST_F(ByPlace, FirstValuesByName) {
  const Tensor w = tn::zeros(2000);
  nn::init::normal_(w, {.mean = 5, .std = 0.01});
  EXPECT_NEAR(w.mean().item(), 5.0, 0.01);
  nn::init::uniform_(w, {.a = 2, .b = 3});
  EXPECT_GE(w.min().item(), 2.0);
  EXPECT_LE(w.max().item(), 3.0);
}

}  // namespace
