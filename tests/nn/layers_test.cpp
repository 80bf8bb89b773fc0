// The layer pack through the public face, on every backend of the build. Convolutions and norms are
// in conv_norm_layers_test.cpp, modules of an application in module_test.cpp.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "layers_support.h"
#include "second_device.h"
#include "layers_values.h"

using tn::nn::Dropout, tn::nn::Flatten, tn::nn::Linear, tn::nn::ReLU, tn::nn::Sequential;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Layers, LinearIsXTimesWeightTransposedPlusBias) {
  const tn::Object layer = Linear(2, 3).to(device);
  layer.tensor("weight").detach().copy_(tn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  layer.tensor("bias").detach().copy_(tn::tensor({0.5f, 0.f, -1.f}));
  const tn::Tensor y = layer(on(tn::tensor({{1.f, 0.f}, {1.f, -1.f}})));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1.5f, 3.f, 4.f, -0.5f, -1.f, -2.f}));
}

TEST_P(Layers, LinearStartsUniformWithinPyTorchsBound) {
  const tn::Object layer = Linear(100, 300);
  const tn::Tensor weight = layer.tensor("weight"), bias = layer.tensor("bias");
  EXPECT_EQ(weight.size(0), 300);
  EXPECT_EQ(weight.size(1), 100);
  EXPECT_EQ(bias.sizes().size(), 1u);
  EXPECT_TRUE(weight.requires_grad() && bias.requires_grad());
  const double bound = 0.1;  // 1 / sqrt(100)
  double sum = 0, squares = 0;
  for (const double w : weight.to_vector<double>()) {
    ASSERT_LE(std::abs(w), bound + 1e-7);
    sum += w;
    squares += w * w;
  }
  const double n = double(weight.numel());
  // Uniform: mean 0, variance bound² / 3; allowed are five standard errors of each.
  EXPECT_NEAR(sum / n, 0, 5 * bound / std::sqrt(3 * n));
  EXPECT_NEAR(squares / n, bound * bound / 3, 5 * bound * bound * std::sqrt(4 / (45 * n)));
  for (const double b : bias.to_vector<double>()) ASSERT_LE(std::abs(b), bound + 1e-7);
}

TEST_P(Layers, LinearWithoutBiasHasNone) {
  const tn::Object layer = Linear(2, 1, false).to(device);
  EXPECT_EQ(names_of(layer.state_dict()), (std::vector<std::string>{"weight"}));
  layer.tensor("weight").detach().copy_(tn::tensor({{2.f, 3.f}}));
  EXPECT_EQ(layer(on(tn::tensor({{1.f, 10.f}}))).item<float>(), 32.f);
  EXPECT_EQ(message_of([&] {
              layer.load_state_dict({{"weight", tn::zeros({1, 2})}, {"bias", tn::zeros({1})}});
            }),
            "load_state: 'bias' is in the state_dict and not in Linear");
}

TEST_P(Layers, DropoutActsInTrainingOnly) {
  const tn::Object layer = Dropout(0.25);
  const tn::Tensor x = tn::ones({10000}, {}, device);
  int64_t zeros = 0;
  for (const float v : layer(x).to_vector<float>()) {
    if (v == 0) {
      ++zeros;
    } else {
      ASSERT_FLOAT_EQ(v, 1 / 0.75f);
    }
  }
  EXPECT_NEAR(double(zeros), 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
  layer.eval();
  EXPECT_EQ(layer(x).to_vector<float>(), std::vector<float>(10000, 1.f));
}

TEST_P(Layers, SequentialPipesThroughItsChildren) {
  const tn::Object model = Sequential(
      Flatten(), [](tn::Tensor x) { return x - 3.f; },
      Sequential(ReLU(), [](tn::Tensor x) { return x * 2.f; }));
  const tn::Tensor y = model(on(tn::tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f})).reshape({1, 2, 3}));
  EXPECT_EQ(y.dim(), 2);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 0, 0, 2, 4, 6}));
  EXPECT_EQ(Sequential()(y).to_vector<float>(), y.to_vector<float>());
}

TEST_P(Layers, NamesAndTextArePyTorchs) {
  const tn::Object model = Sequential(Linear(64, 128), ReLU(), Dropout(), Linear(128, 10, false));
  EXPECT_EQ(names_of(model.state_dict()),
            (std::vector<std::string>{"0.weight", "0.bias", "3.weight"}));
  EXPECT_EQ(model.to_string(),
            "Sequential(\n"
            "  (0): Linear(in_features=64, out_features=128, bias=True)\n"
            "  (1): ReLU()\n"
            "  (2): Dropout(p=0.5)\n"
            "  (3): Linear(in_features=128, out_features=10, bias=False)\n"
            ")");
}

TEST_P(Layers, OptionsThatDoNotFitAreRefused) {
  EXPECT_EQ(message_of([] { Linear(-1, 3); }),
            "Linear could not be made\n  because in_features is -1, expected 0 or more");
  EXPECT_EQ(message_of([] { Dropout(1.5); }),
            "Dropout could not be made\n  because p is 1.5, expected a probability, 0 to 1");
  EXPECT_EQ(message_of([] {
              tn::Object::create_named("Linear", {"in_feature"}, {tn::detail::to_value(3)});
            }),
            "Linear has no option 'in_feature'; did you mean 'in_features'? "
            "(its options: in_features, out_features, bias)");
  EXPECT_TRUE(message_of([] {
                tn::Object::create("Linaer", 1, 2);
              }).starts_with("no layer or optimizer is named 'Linaer'; did you mean 'Linear'?"));
}

TEST_P(Layers, SequentialRefusesWhatIsNoLayer) {
  const tn::Tensor parameter = tn::zeros({1}, {}, device).requires_grad_();
  EXPECT_EQ(
      message_of([&] { Sequential(ReLU(), tn::optim::SGD({parameter})); }),
      "Sequential could not be made\n  because module 1 is the optimizer SGD, expected a layer");
  EXPECT_EQ(message_of([&] {
              Sequential({{"act", ReLU()}, {"steps", tn::optim::SGD({parameter})}});
            }),
            "Sequential: 'steps' is the optimizer SGD, expected a layer");
}

TEST_P(Layers, AnErrorNamesTheLayersOnItsWay) {
  const tn::Object model = Sequential(ReLU(), Sequential(Linear(128, 3)));
  model.to(device);
  const std::string text = message_of([&] { model(tn::zeros({2, 100}, {}, device)); });
  EXPECT_TRUE(text.starts_with("Sequential: child '1' (Sequential): child '0' (Linear): linear: "))
      << text;
}

TEST_P(Layers, LoadStateSaysWhatDoesNotFit) {
  const tn::Object model = Sequential(Linear(64, 128), ReLU()).to(device);
  const auto before = model.state_dict()[0].second.to_vector<float>();
  EXPECT_EQ(
      message_of([&] {
        model.load_state_dict({{"0.weight", tn::zeros({64, 128})}, {"0.bias", tn::zeros({128})}});
      }),
      "load_state: '0.weight' is [128, 64] here and [64, 128] in the state_dict");
  EXPECT_EQ(model.state_dict()[0].second.to_vector<float>(), before);
  model.load_state_dict({{"0.weight", tn::ones({128, 64})}, {"0.bias", tn::zeros({128})}});
  EXPECT_EQ(model.state_dict()[0].second.to_vector<float>(), std::vector<float>(128 * 64, 1.f));
}

TEST_P(Layers, ToMovesAndCastsTheSameTensors) {
  const tn::Object model = Sequential(Linear(4, 3));
  const tn::Tensor weight = model.parameters()[0];
  const auto values = weight.to_vector<float>();
  model.to(device, tn::float64);
  EXPECT_TRUE(model.parameters()[0].is_same(weight));
  EXPECT_EQ(weight.device(), device);
  EXPECT_EQ(weight.dtype(), tn::float64);
  EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
  EXPECT_EQ(weight.to_vector<float>(), values);
  model(tn::ones({1, 4}, tn::float64, device)).sum().backward();
  EXPECT_EQ(weight.grad().to_vector<double>(), std::vector<double>(12, 1.0));
  model.to(tn::cpu, tn::float32);
  EXPECT_EQ(weight.to_vector<float>(), values);
  EXPECT_EQ(weight.grad().device(), tn::cpu);
}

TEST_P(Layers, GivePyTorchsNumbers) {
  size_t n = 0;
  for (const pytorch::LayerRow& row : pytorch::layers()) {
    const tn::Object layer = row.make().to(device, tn::float64);
    SCOPED_TRACE(std::to_string(n++) + ": " + layer.to_string());
    EXPECT_EQ(layer.type_name(), row.name);
    std::string state;
    for (const std::string& name : names_of(layer.state_dict()))
      state += (state.empty() ? "" : ",") + name;
    EXPECT_EQ(state, row.state);
    double shift = 1;
    for (const tn::Tensor& p : layer.parameters())
      p.detach().copy_(sample({p.sizes().begin(), p.sizes().end()}, device, shift++));
    TensorList x;
    for (const auto& sizes : row.inputs)
      x.push_back(sample(sizes, device, double(x.size())).requires_grad_());
    for (const bool training : {true, false}) {
      training ? layer.train() : layer.eval();
      const tn::Tensor y = x.size() == 2 ? layer(x[0], x[1]) : layer(x[0]);
      expect_sizes(y, row.sizes);
      const double expected = training ? row.training : row.evaluation;
      if (!std::isnan(expected)) expect_near(weigh(y), {expected}, 1e-11);
      y.sum().backward();
    }
    for (const tn::Tensor& p : layer.parameters()) EXPECT_TRUE(p.grad().defined());
    for (const tn::Tensor& input : x) EXPECT_TRUE(input.grad().defined());
  }
}

TEST_P(Layers, InitialValuesArePyTorchs) {
  using namespace tn::nn;
  // Uniform in ±bound: mean 0, variance bound² / 3; five standard errors of each.
  const auto uniform = [](const tn::Tensor& t, double bound) {
    const double n = double(t.numel());
    EXPECT_LE(t.abs().max().item<double>(), bound + 1e-7);
    EXPECT_NEAR(t.mean().item<double>(), 0, 5 * bound / std::sqrt(3 * n));
    EXPECT_NEAR(t.square().mean().item<double>(), bound * bound / 3,
                5 * bound * bound * std::sqrt(4 / (45 * n)));
  };
  const tn::Object bilinear = Bilinear(25, 8, 10);
  uniform(bilinear.tensor("weight"), 0.2);
  uniform(bilinear.tensor("bias"), 0.2);
  // Of the weight [in, out / groups, ..] PyTorch counts what one output of `in` has.
  const tn::Object up = ConvTranspose2d(20, 32, {4, 1}, {.groups = 2});
  expect_sizes(up.tensor("weight"), {20, 16, 4, 1});
  uniform(up.tensor("weight"), 0.125);
  uniform(up.tensor("bias"), 0.125);
  const tn::Tensor rows = EmbeddingBag(100, 50).tensor("weight");
  EXPECT_NEAR(rows.mean().item<double>(), 0, 5 / std::sqrt(5000));
  EXPECT_NEAR(rows.std().item<double>(), 1, 5 / std::sqrt(10000));
  EXPECT_EQ(PReLU({.num_parameters = 2}).tensor("weight").to_vector<float>(),
            (std::vector<float>{0.25f, 0.25f}));
  EXPECT_EQ(PReLU({.init = 0.5}).tensor("weight").to_vector<float>(), (std::vector<float>{0.5f}));
  EXPECT_EQ(RMSNorm({2, 1}).tensor("weight").to_vector<float>(), (std::vector<float>{1, 1}));
  const tn::Object norm = InstanceNorm1d(1, {.affine = true, .track_running_stats = true});
  for (const char* name : {"weight", "running_var"}) EXPECT_EQ(norm.tensor(name).item<float>(), 1);
  for (const char* name : {"bias", "running_mean"}) EXPECT_EQ(norm.tensor(name).item<float>(), 0);
  EXPECT_EQ(norm.tensor("num_batches_tracked").dtype(), tn::int64);
}

TEST_P(Layers, ThoseThatDraw) {
  using namespace tn::nn;
  const tn::Tensor x = tn::full({20, 50, 8}, -2.0, {}, device);
  const tn::Tensor slopes = RReLU({.lower = 0.1, .upper = 0.3})(x) / -2.0;  // uniform
  EXPECT_GE(slopes.min().item<double>(), 0.1 - 1e-6);
  EXPECT_LE(slopes.max().item<double>(), 0.3 + 1e-6);
  EXPECT_NEAR(slopes.mean().item<double>(), 0.2, 5 * 0.2 / std::sqrt(12 * 8000));
  EXPECT_EQ(RReLU()(-x).to_vector<float>(), std::vector<float>(8000, 2.f));
  const tn::Tensor y = Dropout1d(0.2)(x);  // a channel as a whole
  const std::vector<float> values = y.to_vector<float>();
  int64_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], values[i / 8 * 8]);
    if (i % 8 == 0 && values[i] != 0) {
      EXPECT_FLOAT_EQ(values[i], -2.5f);
      ++kept;
    }
  }
  EXPECT_NEAR(double(kept), 800, 5 * std::sqrt(1000 * 0.8 * 0.2));
  // Without samples: the first dimension are the channels. (Dropout2d takes 3 dimensions otherwise.)
  const tn::Tensor one = Dropout3d()(tn::ones({4, 3, 2, 2}, {}, device)).flatten(1);
  EXPECT_EQ(one.amax(1).to_vector<float>(), (-((-one).amax(1))).to_vector<float>());
  // Selu's lower limit, scaled and shifted so that numbers of mean 0 and variance 1 keep both.
  const tn::Tensor z = tn::randn({20, 50, 40}, {}, device);
  for (const tn::Object& alpha : {AlphaDropout(0.3), FeatureAlphaDropout(0.3)}) {
    const tn::Tensor kept = alpha(z);
    EXPECT_NEAR(kept.mean().item<double>(), 0, 0.15) << alpha.type_name();
    EXPECT_NEAR(tn::std(kept).item<double>(), 1, 0.15) << alpha.type_name();
    EXPECT_FALSE(tn::equal(kept, z)) << alpha.type_name();
    alpha.eval();
    EXPECT_TRUE(tn::equal(alpha(z), z)) << alpha.type_name();
  }
}

TEST_P(Layers, EmbeddingBagIsItsOp) {
  using namespace tn::nn;
  const tn::Tensor flat = on(tn::tensor({int64_t(1), int64_t(4), int64_t(2), int64_t(1)})),
                   offsets = on(tn::tensor({int64_t(0), int64_t(3)})),
                   factors = tn::rand({4}, {}, device);
  const tn::Object sum = EmbeddingBag(5, 3, {.mode = "sum"}).to(device),
                   mean = EmbeddingBag(5, 3).to(device);
  EXPECT_EQ(names_of(sum.state_dict()), (std::vector<std::string>{"weight"}));
  EXPECT_EQ(sum(flat, offsets, factors).to_vector<float>(),
            tn::embedding_bag(sum.tensor("weight"), flat, offsets,
                              {.mode = "sum", .per_sample_weights = factors})
                .to_vector<float>());
  EXPECT_EQ(mean(flat.reshape({2, 2})).to_vector<float>(),
            tn::embedding_bag(mean.tensor("weight"), flat.reshape({2, 2})).to_vector<float>());
}

// In halves by float32's difference from 1, as PyTorch 2.15.
TEST_P(Layers, RmsNormsEpsilonIsOfTheDtype) {
  const tn::Tensor x = on(tn::tensor({0.001f, 0.002f, -0.001f}));
  const auto first = [&](tn::Dtype dtype) {
    return tn::nn::RMSNorm(3).to(device, dtype)(x.to(dtype)).to_vector<double>()[0];
  };
  EXPECT_EQ(first(tn::float16), 0.68701171875);
  EXPECT_EQ(first(tn::bfloat16), 0.6875);
  EXPECT_NEAR(first(tn::float32), 0.6869308948516846, 1e-6);
  EXPECT_NEAR(first(tn::float64), 0.7071067811472952, 1e-7);  // x is float32's 0.001
}

TEST_P(Layers, WhatTheOtherLayersRefuse) {
  using namespace tn::nn;
  const tn::Tensor x = tn::zeros({2, 3, 4}, {}, device);
  const auto made = [](auto&& f, const std::string& reason) {
    const std::string text = message_of(f);
    EXPECT_NE(text.find(" could not be made\n  because " + reason), std::string::npos) << text;
  };
  made([] { Bilinear(0, 1, 1); }, "in1_features is 0, expected at least 1");
  made([] { ConvTranspose1d(4, 3, 2, {.groups = 2}); },
       "in_channels is 4 and out_channels 3, expected both divisible by groups, 2");
  made([] { ConvTranspose1d(4, 3, 2, {.output_padding = -1}); },
       "output_padding is [-1], expected one number");
  made([] { Conv1d(1, 1, 1, {.padding_mode = "same"}); },
       "padding_mode is 'same', expected zeros, reflect, replicate or circular");
  made([] { Hardtanh({.min_val = 1}); }, "min_val is 1, expected it below max_val, 1");
  made([] { RReLU({.lower = 0.5, .upper = 0.1}); }, "lower is 0.5, expected it at most upper, 0.1");
  made([] { PReLU({.num_parameters = 0}); }, "num_parameters is 0, expected at least 1");
  made([] { Upsample(); }, "either size or scale_factor is needed, and not both");
  made([] { PixelShuffle(0); }, "upscale_factor is 0, expected at least 1");
  made([] { PixelUnshuffle(0); }, "downscale_factor is 0, expected at least 1");
  made([] { ZeroPad2d({1, 2, 3}); }, "padding has 3 numbers, expected one or 4");
  made([] { LPPool1d(0, 2); }, "norm_type is 0, expected another number");
  made([] { AvgPool2d(2, {.divisor_override = 0}); }, "divisor_override is 0, expected at least 1");
  made([] { EmbeddingBag(3, 2, {.mode = "prod"}); }, "mode is 'prod', expected sum, mean or max");
  made([] { RMSNorm({}); }, "normalized_shape is empty, expected at least one size");
  made([] { InstanceNorm1d(0); }, "num_features is 0, expected at least 1");
  made([] { Dropout2d(-0.5); }, "p is -0.5, expected a probability, 0 to 1");
  made([] { AlphaDropout(1.5); }, "p is 1.5, expected a probability, 0 to 1");
  const auto called = [&](const tn::Object& layer, const std::string& text) {
    layer.to(device);
    EXPECT_EQ(message_of([&] { layer(x); }), text);
  };
  called(GLU(1), "GLU: dimension 1 of x has size 3, expected an even one");
  called(ReplicationPad3d(1), "ReplicationPad3d: x has 3 dimensions, expected 4 or 5");
  EXPECT_NE(message_of([&] { Dropout1d()(x[0][0]); }).find("x has 1 dimensions, expected 2 or 3"),
            std::string::npos);
  called(InstanceNorm1d(4, {.affine = true}), "InstanceNorm1d: x has 3 channels, expected 4");
  called(InstanceNorm3d(4), "InstanceNorm3d: x has 3 dimensions, expected 4 or 5");
  called(RMSNorm({2, 4}), "RMSNorm: x does not end with the sizes of normalized_shape");
  EXPECT_EQ(message_of([&] { Softmax2d()(x[0]); }),
            "Softmax2d: x has 2 dimensions, expected 3 or 4");
  EXPECT_EQ(message_of([&] { Bilinear(4, 4, 1).to(device)(x, x[0]); }),
            "Bilinear: x1 is [2, 3, 4] and x2 [3, 4], expected [.., 4] and [.., 4], alike but for "
            "the last");
  EXPECT_NE(message_of([&] {
              GELU("sigmoid")
              (x);
            }).find("approximate is 'sigmoid'"),
            std::string::npos);
}

TEST_P(Layers, LossesAreTheirOps) {
  using namespace tn::nn;
  const tn::Tensor x = tn::randn({3, 4}, {}, device), y = tn::rand({3, 4}, {}, device),
                   weight = tn::rand({4}), w = weight.to(device),
                   classes = on(tn::tensor({int64_t(1), int64_t(3), int64_t(0)}));
  const auto same = [&](const tn::Object& layer, const tn::Tensor& loss, const tn::Tensor& input,
                        const tn::Tensor& target) {
    layer.to(device);
    EXPECT_EQ(layer(input, target).to_vector<float>(), loss.to_vector<float>())
        << layer.to_string();
  };
  same(MSELoss("sum"), tn::mse_loss(x, y, "sum"), x, y);
  same(L1Loss(), tn::l1_loss(x, y), x, y);
  same(SmoothL1Loss({.reduction = "none", .beta = 0.5}), tn::smooth_l1_loss(x, y, "none", 0.5), x,
       y);
  same(HuberLoss({.delta = 0.5}), tn::huber_loss(x, y, "mean", 0.5), x, y);
  same(KLDivLoss({.reduction = "batchmean", .log_target = true}),
       tn::kl_div(x, y, "batchmean", true), x, y);
  const tn::Tensor p = x.sigmoid();
  same(BCELoss({.weight = weight, .reduction = "sum"}), tn::binary_cross_entropy(p, y, w, "sum"), p,
       y);
  same(BCEWithLogitsLoss({.pos_weight = weight}),
       tn::binary_cross_entropy_with_logits(x, y, {.pos_weight = w}), x, y);
  same(NLLLoss({.weight = weight, .ignore_index = 3, .reduction = "sum"}),
       tn::nll_loss(x, classes, w, {.ignore_index = 3, .reduction = "sum"}), x, classes);
  same(CrossEntropyLoss(
           {.weight = weight, .ignore_index = 1, .reduction = "none", .label_smoothing = 0.1}),
       tn::cross_entropy(x, classes, w,
                         {.ignore_index = 1, .reduction = "none", .label_smoothing = 0.1}),
       x, classes);
  same(CrossEntropyLoss(), tn::cross_entropy(x, classes), x, classes);
  EXPECT_EQ(names_of(CrossEntropyLoss({.weight = weight}).named_buffers()),
            (std::vector<std::string>{"weight"}));
  EXPECT_EQ(message_of([] { MSELoss("average"); }),
            "MSELoss could not be made\n  because reduction is 'average', expected mean, sum or "
            "none");
  EXPECT_EQ(message_of([] { KLDivLoss({.reduction = "average"}); }),
            "KLDivLoss could not be made\n  because reduction is 'average', expected mean, sum or "
            "none, or batchmean");
}

TEST_P(Layers, LossesOfMarginsAreTheirOps) {
  using namespace tn::nn;
  const tn::Tensor x = tn::randn({3, 4}, {}, device), y = tn::rand({3, 4}, {}, device),
                   z = tn::randn({3, 4}, {}, device), weight = tn::rand({4}), w = weight.to(device),
                   one = tn::ones({3}, {}, device),
                   classes = on(tn::tensor({int64_t(1), int64_t(3), int64_t(0)}));
  const auto same = [&](const tn::Tensor& found, const tn::Tensor& expected) {
    EXPECT_EQ(found.to_vector<float>(), expected.to_vector<float>());
  };
  same(CosineSimilarity({.dim = 0})(x, y), tn::cosine_similarity(x, y, 0));
  same(PairwiseDistance({.p = 1.0, .keepdim = true})(x, y),
       tn::pairwise_distance(x, y, {.p = 1.0, .keepdim = true}));
  same(TripletMarginLoss({.margin = 2.0, .swap = true})(x, y, z),
       tn::triplet_margin_loss(x, y, z, {.margin = 2.0, .swap = true}));
  same(MarginRankingLoss({.margin = 0.5})(x, y, tn::sign(z)),
       tn::margin_ranking_loss(x, y, tn::sign(z), 0.5));
  same(HingeEmbeddingLoss({.reduction = "sum"})(x, tn::sign(z)),
       tn::hinge_embedding_loss(x, tn::sign(z), 1.0, "sum"));
  same(CosineEmbeddingLoss({.margin = 0.2})(x, y, one), tn::cosine_embedding_loss(x, y, one, 0.2));
  same(SoftMarginLoss()(x, tn::sign(z)), tn::soft_margin_loss(x, tn::sign(z)));
  same(MultiMarginLoss({.p = 2, .weight = weight}).to(device)(x, classes),
       tn::multi_margin_loss(x, classes, {.p = 2, .weight = w}));
  const tn::Tensor rows = on(tn::tensor({int64_t(1), int64_t(-1), int64_t(0), int64_t(0)}));
  same(MultiLabelMarginLoss()(x[0], rows), tn::multilabel_margin_loss(x[0], rows));
  same(MultiLabelSoftMarginLoss({.weight = weight}).to(device)(x, y),
       tn::multilabel_soft_margin_loss(x, y, w));
  same(PoissonNLLLoss({.log_input = false, .full = true})(y, y),
       tn::poisson_nll_loss(y, y, {.log_input = false, .full = true}));
  same(GaussianNLLLoss({.full = true})(x, z, y), tn::gaussian_nll_loss(x, z, y, {.full = true}));
  const tn::Tensor paths = tn::log_softmax(tn::randn({4, 1, 3}, {}, device), 2),
                   labels = on(tn::tensor({int64_t(1), int64_t(2)})).reshape({1, 2}),
                   long_enough = on(tn::tensor({int64_t(4)})), two = on(tn::tensor({int64_t(2)}));
  same(CTCLoss({.reduction = "sum"})(paths, labels, long_enough, two),
       tn::ctc_loss(paths, labels, long_enough, two, {.reduction = "sum"}));
  EXPECT_EQ(message_of([] { CTCLoss({.blank = -1}); }),
            "CTCLoss could not be made\n  because blank is -1, expected 0 or more");
  EXPECT_EQ(message_of([] { MultiMarginLoss({.p = 3}); }),
            "MultiMarginLoss could not be made\n  because p is 3, expected 1 or 2");
  EXPECT_EQ(message_of([] { GaussianNLLLoss({.eps = 0.0}); }),
            "GaussianNLLLoss could not be made\n  because eps is 0, expected more than 0");
  EXPECT_EQ(
      message_of([] { TripletMarginLoss({.reduction = "most"}); }),
      "TripletMarginLoss could not be made\n  because reduction is 'most', expected mean, sum "
      "or none");
}

TEST_P(Layers, ImagesGoThroughTheirOps) {
  using namespace tn::nn;
  const tn::Tensor x = tn::randn({2, 4, 6, 6}, {}, device);
  const auto same = [&](const tn::Tensor& found, const tn::Tensor& expected) {
    EXPECT_EQ(found.to_vector<float>(), expected.to_vector<float>());
  };
  using Pair = std::tuple<tn::Tensor, tn::Tensor>;
  const auto [values, at] = MaxPool2d(2, {.return_indices = true}).invoke<Pair>("forward", x);
  same(MaxUnpool2d(2)(values, at), tn::max_unpool2d(values, at, 2));
  const auto [most, places] = AdaptiveMaxPool2d(4, true).invoke<Pair>("forward", x);
  same(most, AdaptiveMaxPool2d(4)(x));
  same(tn::gather(x.flatten(2), 2, places.flatten(2)), most.flatten(2));
  same(ChannelShuffle(2)(x), tn::channel_shuffle(x, 2));
  same(LocalResponseNorm(3)(x), tn::local_response_norm(x, 3));
  EXPECT_EQ(FractionalMaxPool2d(2, {.output_ratio = {0.5}})(x).sizes(),
            (std::vector<int64_t>{2, 4, 3, 3}));
  EXPECT_EQ(
      message_of([] { FractionalMaxPool2d(2); }),
      "FractionalMaxPool2d could not be made\n  because either output_size or output_ratio is "
      "needed, and not both");
  same(Upsample({.size = {3, 9}, .mode = "bicubic"})(x),
       tn::interpolate(x, {.size = {3, 9}, .mode = "bicubic"}));
}

}  // namespace
