// Layers that take the size of their input from the first one.
#include <string>
#include <vector>

#include <tenon/functional_call.hpp>

#include "layers_support.h"
#include "second_device.h"

using tn::Object, tn::Tensor;
using tn::nn::Linear, tn::nn::ReLU, tn::nn::Sequential;
namespace nn = tn::nn;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

Object lazy_net() {
  return Sequential(nn::LazyConv2d(4, 3, {.padding = 1}), nn::LazyBatchNorm2d(), ReLU(),
                    nn::Flatten(), nn::LazyLinear(5));
}

TEST_P(Layers, ALazyLayerBecomesTheLayerThatItStandsFor) {
  const Object net = lazy_net();
  EXPECT_NE(net.to_string().find("(4): LazyLinear(out_features=5, bias=True)"), std::string::npos)
      << net.to_string();
  const Tensor x = on(tn::randn({2, 3, 6, 6}));
  const Tensor y = net(x);
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(y.device(), device);
  const Object eager = Sequential(nn::Conv2d(3, 4, 3, {.padding = 1}), nn::BatchNorm2d(4), ReLU(),
                                  nn::Flatten(), Linear(144, 5));
  EXPECT_EQ(net.to_string(), eager.to_string());
  eager.to(device);
  eager.load_state_dict(net.state_dict());
  net.eval();
  eager.eval();
  EXPECT_TRUE(net(x).equal(eager(x)));
  EXPECT_EQ(net.child("4").type_name(), "Linear");
  EXPECT_EQ(net.child("4").option<int64_t>("in_features"), 144);
  EXPECT_EQ(net.clone().to_string(), eager.to_string());
  EXPECT_EQ(net.parameters().size(), 6u);
}

TEST_P(Layers, AllOfThemAsPyTorchHasThem) {
  struct Case {
    Object lazy;
    std::vector<int64_t> input;
    std::string becomes;
  };
  const Case cases[] = {
      {nn::LazyLinear(2), {7, 3}, "Linear(in_features=3, out_features=2, bias=True)"},
      {nn::LazyLinear(2, false), {3}, "Linear(in_features=3, out_features=2, bias=False)"},
      {nn::LazyConv1d(2, 3), {5, 4, 9}, "Conv1d(in_channels=4, out_channels=2, kernel_size=3"},
      {nn::LazyConv1d(2, 3), {4, 9}, "Conv1d(in_channels=4, out_channels=2, kernel_size=3"},
      {nn::LazyConv2d(2, 3, 1, 1), {1, 4, 9, 9}, "Conv2d(in_channels=4, out_channels=2"},
      {nn::LazyConv3d(2, 1), {1, 4, 2, 2, 2}, "Conv3d(in_channels=4, out_channels=2"},
      {nn::LazyConvTranspose1d(2, 3), {1, 4, 5}, "ConvTranspose1d(in_channels=4"},
      {nn::LazyConvTranspose2d(2, 3), {1, 4, 5, 5}, "ConvTranspose2d(in_channels=4"},
      {nn::LazyConvTranspose3d(2, 1), {1, 4, 2, 2, 2}, "ConvTranspose3d(in_channels=4"},
      {nn::LazyBatchNorm1d(), {5, 4}, "BatchNorm1d(num_features=4"},
      {nn::LazyBatchNorm1d({.affine = false}), {5, 4, 3}, "BatchNorm1d(num_features=4"},
      {nn::LazyBatchNorm2d(), {5, 4, 3, 3}, "BatchNorm2d(num_features=4"},
      {nn::LazyBatchNorm3d(), {5, 4, 3, 3, 3}, "BatchNorm3d(num_features=4"},
      {nn::LazyInstanceNorm1d(), {5, 4, 3}, "InstanceNorm1d(num_features=4"},
      {nn::LazyInstanceNorm2d({.affine = true}), {5, 4, 3, 3}, "InstanceNorm2d(num_features=4"},
      {nn::LazyInstanceNorm3d(), {4, 3, 3, 3}, "InstanceNorm3d(num_features=4"}};
  for (const Case& one : cases) {
    const Tensor x = on(tn::randn(one.input));
    EXPECT_EQ(one.lazy(x).device(), device);
    EXPECT_EQ(one.lazy.to_string().rfind(one.becomes, 0), 0u) << one.lazy.to_string();
    EXPECT_EQ(one.lazy(x).sizes(), one.lazy(x).sizes());
  }
  // The optional argument of a transposed convolution's forward goes on to it.
  const Object up = nn::LazyConvTranspose1d(2, 3, {.stride = 2});
  EXPECT_EQ(
      up.invoke<Tensor>("forward", on(tn::randn({1, 4, 5})), std::vector<int64_t>{12}).size(2), 12);
}

TEST_P(Layers, ALazyLayerHasTheDeviceDtypeAndModeThatItMeets) {
  const Object layer = nn::LazyLinear(2);
  layer.eval();
  layer.to(device, tn::float64);
  layer(on(tn::randn({1, 3}, tn::float64)));
  EXPECT_EQ(layer.tensor("weight").dtype(), tn::float64);
  EXPECT_EQ(layer.tensor("weight").device(), device);
  EXPECT_TRUE(layer.tensor("weight").requires_grad());
  EXPECT_FALSE(layer.training());
  tn::manual_seed(3);
  const Object other = nn::LazyLinear(4);
  const Tensor x = tn::ones({1, 3});
  tn::manual_seed(5);
  const Tensor y = other(x);
  tn::manual_seed(5);
  EXPECT_TRUE(y.equal(Linear(3, 4)(x))) << "the first values are drawn at the first forward";
}

TEST_P(Layers, HooksOfALazyLayerStay) {
  const Object layer = nn::LazyLinear(2);
  int before = 0, behind = 0;
  layer.register_forward_pre_hook([&](Object&, Tensor) { ++before; });
  layer.register_forward_hook([&](Object& self, Tensor, Tensor) {
    ++behind;
    EXPECT_EQ(self.type_name(), "Linear");
  });
  layer(tn::ones({1, 3}));
  layer(tn::ones({1, 3}));
  EXPECT_EQ(before, 2);
  EXPECT_EQ(behind, 2);
}

TEST_P(Layers, BeforeTheFirstForwardThereAreNoParameters) {
  const Object net = lazy_net();
  const std::string why =
      " is made by the first forward, and there was none yet: call the module with an input first";
  EXPECT_EQ(message_of([&] { net.parameters(); }), "Sequential: '0.weight'" + why);
  EXPECT_EQ(message_of([&] { net.state_dict(); }), "Sequential: '0.weight'" + why);
  EXPECT_EQ(message_of([&] { nn::LazyLinear(2).named_parameters(); }),
            "LazyLinear: 'weight'" + why);
  for (const bool strict : {false, true}) {
    EXPECT_EQ(
        message_of([&] {
          net.load_state_dict({{"0.weight", tn::ones({4, 3, 3, 3})}, {"0.bias", tn::ones(4)}},
                              strict);
        }),
        "load_state: '0.weight' is made by the first forward: call the module with an input "
        "first\n  '1.weight' is made by the first forward: call the module with an input "
        "first\n  '4.weight' is made by the first forward: call the module with an input first");
  }
  EXPECT_EQ(message_of([&] {
              tn::functional_call(net, {{"4.weight", tn::ones({5, 4})}}, tn::ones({1, 1, 4, 4}));
            }),
            "Sequential: '4.weight'" + why);
  EXPECT_EQ(nn::LazyBatchNorm1d({.affine = false}).parameters().size(), 0u);
  EXPECT_EQ(nn::LazyInstanceNorm2d().parameters().size(), 0u);
  EXPECT_EQ(net.named_modules().size(), 6u);
  EXPECT_EQ(net.clone().to_string(), net.to_string());
  net.train();
  net.zero_grad();
  EXPECT_NE(message_of([&] {
              nn::LazyConv2d(4, 3)(tn::ones({5, 5}));
            }).find("LazyConv2d: x is [5, 5], which has no dimension that is in_channels"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              nn::LazyLinear(-1)(tn::ones({5, 5}));
            }).find("out_features"),
            std::string::npos);
  const Object lazy = nn::LazyLinear(2);  // a refused input leaves it lazy
  EXPECT_ANY_THROW(lazy(tn::ones({})));
  EXPECT_NE(message_of([&] {
              lazy(tn::tensor({1, 2}));
            }).find("LazyLinear: x is int64, expected a floating dtype"),
            std::string::npos);
  EXPECT_EQ(lazy(tn::ones({3})).sizes(), (std::vector<int64_t>{2}));
  const Object bare = nn::LazyLinear(2);
  bare.remove_forward_hook(1);
  EXPECT_NE(message_of([&] {
              bare(tn::ones({3}));
            }).find("LazyLinear: the hook that makes the layer was removed"),
            std::string::npos);
}

TEST_P(Layers, AFirstForwardInInferenceModeMakesParametersThatTrain) {
  const Object layer = nn::LazyLinear(2);
  {
    const tn::InferenceMode mode;
    layer(on(tn::ones({1, 3})));
  }
  layer(on(tn::ones({1, 3}))).sum().backward();
  EXPECT_TRUE(layer.tensor("weight").grad().defined());
}

struct Net : tn::Module {
  Object fc = child("fc", nn::LazyLinear(4)), head = child("head", nn::LazyLinear(1));
  Tensor forward(Tensor x) { return head(fc(x).relu()); }
};

TEST_P(Layers, AClassOfLazyLayersTrains) {
  const auto net = tn::make<Net>();
  net(on(tn::randn({1, 3})));
  auto optimizer = tn::optim::SGD(net.parameters(), {.lr = 0.1});
  const Tensor before = net->fc.tensor("weight").detach().clone();
  net(on(tn::randn({8, 3}))).square().mean().backward();
  optimizer.step();
  EXPECT_FALSE(before.equal(net.get_parameter("fc.weight")));
  auto compiled = tn::compile([&](Tensor x) { return net(x); });
  const Tensor x = on(tn::randn({2, 3}));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(compiled(x).allclose(net(x)));
  // Compiled from the first call on, too.
  const auto other = tn::make<Net>();
  auto first = tn::compile([&](Tensor y) { return other(y); });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(first(x).allclose(other(x)));
}

TEST_P(Layers, AnObjectBecomesAnother) {
  const Object object = nn::LazyLinear(2), made = Sequential(Linear(2, 2));
  const auto become = [](const Object& a, const Object& b) {
    tn::check(tn::detail::api.object->become(a.get(), b.get()));
  };
  const std::string itself = message_of([&] { become(made, made); });
  EXPECT_EQ(itself, "Sequential: become: it cannot be a Sequential");
  EXPECT_EQ(message_of([&] { become(made.child("0"), made); }),
            "Linear: become: it cannot be a Sequential");
  EXPECT_EQ(message_of([&] { become(object, tn::make<Net>()); }),
            "LazyLinear: become: it cannot be a Net");
  become(object, made);
  EXPECT_EQ(object.type_name(), "Sequential");
  EXPECT_EQ(object.n_children(), 1u);
  EXPECT_EQ(made.n_children(), 0u);
}

}  // namespace
