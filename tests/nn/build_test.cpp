// Layers and optimizers from descriptions: what they become, and what is said of those that fit no
// factory.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "tenon/build.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using tn::Description;

namespace {

class Build : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
};

std::string refused(const Description& layer) {
  return message_of([&] { tn::build_layer(layer); });
}

#define EXPECT_BEGINS(text, beginning) EXPECT_EQ((text).substr(0, (beginning).size()), beginning)

const Description kNetwork = {
    .name = "Sequential",
    .children = {
        {"Unflatten", {{"dim", 1}, {"unflattened_size", {1, 8, 8}}}},
        {"Conv2d", {{"in_channels", 1}, {"out_channels", 4}, {"kernel_size", 3}, {"bias", false}}},
        {"GELU", {{"approximate", "tanh"}}},
        {"Flatten"},
        {"Linear", {{"out_features", 10}, {"in_features", 144}}}}};

TEST_F(Build, APaddingIsANumberAListOrAWord) {
  const auto text = [](const Description::Value& padding) {
    const Description conv = {
        "Conv2d",
        {{"in_channels", 1}, {"out_channels", 2}, {"kernel_size", 3}, {"padding", padding}}};
    return tn::build_layer(conv).to_string();
  };
  EXPECT_EQ(text("same"), tn::nn::Conv2d(1, 2, 3, {.padding = "same"}).to_string());
  EXPECT_EQ(text(1), tn::nn::Conv2d(1, 2, 3, {.padding = 1}).to_string());
  EXPECT_EQ(text({1, 2}), tn::nn::Conv2d(1, 2, 3, {.padding = {1, 2}}).to_string());
}

// The host reads names as far as a NUL: what is behind it would be lost, also in the refusal.
TEST_F(Build, AnOptionWithANulIsNone) {
  using std::string_literals::operator""s;
  const Description layer = {"Linear",
                             {{"in_features", 1}, {"out_features", 2}, {"bias\0x"s, false}}};
  EXPECT_EQ(refused(layer),
            "Linear has no option 'bias\\x00x' (its options: in_features, out_features, bias)");
  EXPECT_EQ(message_of([] {
              tn::build_optimizer({"SGD", {{"lr\0"s, 0.5}}}, {tn::zeros({1}).requires_grad_()});
            }),
            "SGD has no option 'lr\\x00' (its options: params, lr, momentum, dampening, "
            "weight_decay, nesterov, maximize)");
}

TEST_F(Build, ATreeOfLayersIsWhatTheirFunctionsMake) {
  tn::manual_seed(3);
  const tn::Object built = tn::build_layer(kNetwork);
  tn::manual_seed(3);
  // Weights are drawn in the order of the layers.
  const tn::Object conv = tn::nn::Conv2d(1, 4, 3, {.bias = false}), last = tn::nn::Linear(144, 10);
  const tn::Object made = tn::nn::Sequential(tn::nn::Unflatten(1, {1, 8, 8}), conv,
                                             tn::nn::GELU("tanh"), tn::nn::Flatten(), last);
  EXPECT_EQ(built.to_string(), made.to_string());
  const tn::NamedTensors a = built.state_dict(), b = made.state_dict();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first, b[i].first);
    EXPECT_EQ(a[i].second.to_vector<float>(), b[i].second.to_vector<float>());
  }
}

TEST_F(Build, ARepeatedChildHasWeightsOfItsOwnEachTime) {
  const tn::Object built = tn::build_layer(
      {.name = "Sequential",
       .children = {{.name = "Linear",
                     .options = {{"in_features", 3}, {"out_features", 3}, {"bias", false}},
                     .repeat = 2},
                    {"ReLU"}}});
  const tn::NamedTensors state = built.state_dict();
  ASSERT_EQ(state.size(), 2u);
  EXPECT_EQ(state[0].first, "0.weight");
  EXPECT_EQ(state[1].first, "1.weight");
  EXPECT_NE(state[0].second.to_vector<float>(), state[1].second.to_vector<float>());
  EXPECT_EQ(built.n_children(), 3u);
}

TEST_F(Build, ALayerMayBeThereTwiceWithOneSetOfWeights) {
  const Description linear = {
      .name = "Linear", .options = {{"in_features", 3}, {"out_features", 3}}, .label = "mix"};
  const tn::Object built =
      tn::build_layer({.name = "Sequential",
                       .children = {linear,
                                    {"Tanh"},
                                    {.name = "Sequential", .children = {{.shares = "mix"}}},
                                    {.shares = "mix"}}});
  EXPECT_EQ(built.parameters().size(), 2u);
  EXPECT_EQ(built.n_children(), 4u);
  const tn::Object first = built.child("0");
  const tn::Tensor x = tn::ones({2, 3});
  EXPECT_EQ(built(x).to_vector<float>(), first(first(tn::tanh(first(x)))).to_vector<float>());

  const auto inside = [&](std::vector<Description> children) {
    return refused({.name = "Sequential", .children = std::move(children)});
  };
  EXPECT_EQ(inside({linear, {.shares = "mx"}}),
            "Sequential: child '1': there is no layer named 'mx' before this one; did you mean "
            "'mix'?");
  EXPECT_EQ(inside({linear, linear}), "Sequential: child '1': 'mix' is the name of two layers");
  Description repeated = linear;
  repeated.repeat = 2;
  EXPECT_EQ(inside({repeated}), "Sequential: child '0': 'mix' is the name of a repeated layer");
  EXPECT_EQ(inside({linear, {.name = "ReLU", .shares = "mix"}}),
            "Sequential: child '1': a layer that is another one again has no options, children or "
            "repeat");
}

TEST_F(Build, ResidualsAndBranchesHoldLayers) {
  tn::manual_seed(1);
  const tn::Tensor x = tn::randn({2, 4});
  const tn::Object linear = tn::nn::Linear(4, 4),
                   residual = tn::nn::Residual(linear, tn::nn::Tanh());
  EXPECT_EQ(residual(x).to_vector<float>(), (x + tn::tanh(linear(x))).to_vector<float>());
  EXPECT_EQ(message_of([&] { tn::nn::Residual(tn::nn::Linear(4, 3))(x); }),
            "Residual: the modules give [2, 3] for x of [2, 4], expected the same sizes");

  const tn::Object other = tn::nn::Linear(4, 4);
  const auto joined = [&](const char* how) {
    const tn::Object branches =
        tn::nn::Branches({{"left", linear}, {"right", other}}, {.join = how});
    EXPECT_EQ(branches.state_dict()[0].first, "left.weight");
    return branches(x).to_vector<float>();
  };
  EXPECT_EQ(joined("add"), (linear(x) + other(x)).to_vector<float>());
  EXPECT_EQ(joined("mul"), (linear(x) * other(x)).to_vector<float>());
  EXPECT_EQ(joined("concat"), tn::cat({linear(x), other(x)}, 1).to_vector<float>());
  EXPECT_EQ(
      message_of([&] { joined("sub"); }),
      "Branches could not be made\n  because join is 'sub', expected 'add', 'mul' or 'concat'");
  EXPECT_EQ(message_of([&] {
              tn::nn::Branches({{"a", linear}, {"b", tn::nn::Linear(4, 1)}})(x);
            }),
            "Branches: a branch gives [2, 1] and another one [2, 4], expected the same sizes");
  EXPECT_EQ(message_of([&] { tn::nn::Branches({}); }),
            "Branches could not be made\n  because modules is empty, expected one at least");
  EXPECT_EQ(message_of([&] {
              tn::nn::Branches({{"a", linear}, {"a", other}});
            }),
            "Branches could not be made\n  because names has a name twice");
}

// "scale_factor" is a list of floats, "normalized_shape" one of ints.
TEST_F(Build, NumbersBecomeWhatTheSchemaWants) {
  for (const Description::Value& factor : std::vector<Description::Value>{
           2, 2.0, std::vector<int64_t>{2}, std::vector<double>{2}, {2, 2}, {2, 2.0}}) {
    const tn::Object up = tn::build_layer({"Upsample", {{"scale_factor", factor}}});
    EXPECT_EQ(up(tn::zeros({1, 1, 3, 3})).sizes(), (std::vector<int64_t>{1, 1, 6, 6}));
  }
  EXPECT_EQ(tn::build_layer({"LayerNorm", {{"normalized_shape", 5}, {"eps", 1}}}).to_string(),
            tn::nn::LayerNorm(5, {.eps = 1.0}).to_string());
  EXPECT_EQ(
      tn::build_layer({"LeakyReLU", {{"negative_slope", 1}}}).option<double>("negative_slope"),
      1.0);
}

// As weights of classes are tensors.
TEST_F(Build, NumbersBecomeTensors) {
  const auto weight = [](const Description::Value& value) {
    return tn::build_layer({"CrossEntropyLoss", {{"weight", value}}}).tensor("weight");
  };
  EXPECT_EQ(weight({1, 4}).dtype(), tn::float32);
  EXPECT_EQ(weight({1, 4}).to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(weight({0.5, 4.0, 1.0}).to_vector<float>(), (std::vector<float>{0.5, 4, 1}));
  EXPECT_EQ(weight(2).sizes(), (tn::Ints{1}));
  EXPECT_EQ(weight(2.5).to_vector<float>(), (std::vector<float>{2.5}));
  EXPECT_NE(refused({"CrossEntropyLoss", {{"weight", "2"}}}).find("'weight'"), std::string::npos);
}

TEST_F(Build, NoneIsAnOption) {
  EXPECT_EQ(tn::build_layer({"RMSNorm", {{"normalized_shape", 3}, {"eps", tn::none}}}).to_string(),
            tn::build_layer({"RMSNorm", {{"normalized_shape", 3}}}).to_string());
}

TEST_F(Build, AnOptimizerGetsTheParameters) {
  const tn::Object layer = tn::nn::Linear(3, 2);
  const tn::optim::Optimizer optimizer =
      tn::build_optimizer({"Adam", {{"lr", 1}, {"betas", {0.5, 0.75}}}}, layer.parameters());
  EXPECT_EQ(optimizer.lr(), 1.0);
  EXPECT_EQ(optimizer.group_option<std::vector<double>>(0, "betas"),
            (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(optimizer.group_parameters(0).size(), 2u);
}

TEST_F(Build, AnUnknownFactoryGetsTheNearestOfItsKind) {
  EXPECT_BEGINS(refused({"Linaer"}), std::string("layer: 'Linaer' is no layer; did you mean "
                                                 "'Linear'? (known are Linear, "));
  EXPECT_BEGINS(refused({"SGD"}), std::string("layer: 'SGD' is no layer"));
  EXPECT_BEGINS(refused({"CsvFile"}), std::string("layer: 'CsvFile' is no layer"));
  EXPECT_EQ(message_of([] { tn::build_optimizer({"Linear"}, tn::nn::Linear(1, 1).parameters()); }),
            "optimizer: 'Linear' is no optimizer (known are SGD, Adam, AdamW, Adagrad, SparseAdam, "
            "RMSprop, Adadelta, Adamax, NAdam, RAdam, LAMB, Lion, Adafactor, LBFGS, Muon, Rprop, "
            "ASGD)");
}

TEST_F(Build, ErrorsSayWhichLayerOfTheTree) {
  const auto inside = [](Description layer) {
    return refused(
        {.name = "Sequential",
         .children = {{"ReLU"}, {.name = "Sequential", .children = {std::move(layer)}}}});
  };
  EXPECT_EQ(inside({"Linear", {{"in_feature", 1}}}),
            "Sequential: child '1.0': Linear has no option 'in_feature'; did you mean "
            "'in_features'? (its options: in_features, out_features, bias)");
  EXPECT_BEGINS(inside({"Rleu"}),
                std::string("Sequential: child '1.0': layer: 'Rleu' is no layer; did you mean "
                            "'ReLU'?"));
  EXPECT_EQ(inside({"Linear", {{"in_features", "many"}, {"out_features", 1}}}),
            "Sequential: child '1.0': Linear: argument 'in_features' must be int, got str "
            "\"many\"");
  EXPECT_EQ(inside({.name = "ReLU", .children = {{"ReLU"}}}),
            "Sequential: child '1.0': ReLU takes no children: ReLU()");
  EXPECT_EQ(inside({.name = "ReLU", .repeat = 0}),
            "Sequential: child '1.0': ReLU: repeat is 0, expected at least 1");
}

TEST_F(Build, ErrorsBeginWhereTheDescriptionWasWritten) {
  const Description layer = {.name = "Linear",
                             .options = {{"in_features", 3, "net.txt:2"}, {"bais", 1, "net.txt:3"}},
                             .where = "net.txt:1"};
  EXPECT_BEGINS(refused(layer), std::string("net.txt:3: Linear has no option 'bais'; did you mean "
                                            "'bias'?"));
  EXPECT_EQ(refused({.name = "Linear", .where = "net.txt:1"}),
            "net.txt:1: Linear: option 'in_features' is missing: Linear(int in_features, int "
            "out_features, bool bias=True)");
  EXPECT_EQ(refused({.name = "ReLU", .repeat = 3}), "ReLU: repeat is 3, which is for children");
  const auto parameters = tn::nn::Linear(1, 1).parameters();
  EXPECT_EQ(message_of([&] {
              tn::build_optimizer({.name = "SGD", .children = {{.name = "ReLU"}}}, parameters);
            }),
            "SGD takes no children");
  EXPECT_EQ(
      message_of([&] {
        tn::build_optimizer({.name = "SGD", .options = {{"params", 1, "net.txt:9"}}}, parameters);
      }),
      "net.txt:9: SGD: 'params' is not an option here: they are the model's");
}

TEST_F(Build, FactoriesAreThoseThatPluginsBrought) {
  bool found = false;
  for (const tn::Factory& factory : tn::factories()) {
    EXPECT_FALSE(factory.name.starts_with('_')) << factory.name;
    if (factory.name != "Linear") continue;
    found = true;
    EXPECT_EQ(factory.kind, TN_OBJECT_LAYER);
    EXPECT_EQ(factory.schema, "Linear(int in_features, int out_features, bool bias=True)");
  }
  EXPECT_TRUE(found);
}

}  // namespace
