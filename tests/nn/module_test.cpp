// Modules of an application and layers of a plugin, each in the other's containers; their hooks and
// exceptions.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "layers_support.h"
#include "second_device.h"

using tn::nn::Flatten, tn::nn::Linear, tn::nn::ReLU, tn::nn::Sequential;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

// A module of the application: y = scale * hidden(x), with a buffer that counts the calls.
struct Scaled : tn::Module {
  tn::Object hidden = child("hidden", Linear(1, 1));
  tn::Tensor scale = parameter("scale", tn::ones({1}));
  tn::Tensor forward(tn::Tensor x) { return hidden(x) * tensor("scale"); }
};
struct Throwing : tn::Module {
  tn::Tensor forward(tn::Tensor) { throw std::out_of_range("thrown in forward"); }
};

TEST_P(Layers, AnApplicationsClassLivesInAPluginsContainer) {
  const auto scaled = tn::make<Scaled>();
  const tn::Object model = Sequential(Linear(1, 4), ReLU(), Linear(4, 1), scaled).to(device);
  EXPECT_EQ(names_of(model.state_dict()),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias", "3.scale",
                                      "3.hidden.weight", "3.hidden.bias"}));
  EXPECT_NE(model.to_string().find("  (3): Scaled(\n    (hidden): Linear("), std::string::npos)
      << model.to_string();
  model.eval();
  EXPECT_FALSE(scaled->training());
  model.train();

  // It is trained with the rest: y = 3x - 1.
  const tn::Tensor x = on(tn::tensor({{-1.f}, {0.f}, {1.f}, {2.f}}));
  const tn::Tensor y = on(tn::tensor({{-4.f}, {-1.f}, {2.f}, {5.f}}));
  const tn::Tensor scale = model.state_dict()[4].second;
  const tn::optim::Optimizer optimizer = tn::optim::Adam(model.parameters(), {.lr = 0.05});
  double first = 0, last = 0;
  for (int i = 0; i < 200; ++i) {
    const tn::Tensor loss = (model(x) - y).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    if (i == 0) first = last;
  }
  EXPECT_LT(last, first / 100);
  EXPECT_NE(scale.item<float>(), 1.f);
}

TEST_P(Layers, AnExceptionOfTheApplicationComesOutAsItself) {
  const tn::Object model = Sequential(Linear(2, 2), tn::make<Throwing>()).to(device);
  const tn::Tensor x = tn::zeros({1, 2}, {}, device);
  try {
    model(x);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::out_of_range& e) {
    EXPECT_STREQ(e.what(), "thrown in forward");
  }
}

TEST_P(Layers, HooksRunInOrderReplaceAndThrowAsThemselves) {
  const tn::Object relu = ReLU();
  const tn::Object model = Sequential(relu);
  const tn::Tensor x = on(tn::tensor({-1.f, 2.f}));
  std::vector<int> order;
  const uint64_t first =
      relu.register_forward_hook([&](tn::Object&, tn::Tensor input, tn::Tensor output) {
        order.push_back(1);
        EXPECT_TRUE(input.is_same(x));
        return output + 10.f;
      });
  relu.register_forward_hook([&](tn::Object& self, tn::Tensor, tn::Tensor output) {
    order.push_back(2);
    EXPECT_EQ(self.type_name(), "ReLU");
    EXPECT_EQ(output.to_vector<float>(), (std::vector<float>{10, 12}));
  });
  EXPECT_EQ(model(x).to_vector<float>(), (std::vector<float>{10, 12}));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  relu.remove_forward_hook(first);
  EXPECT_EQ(message_of([&] { relu.remove_forward_hook(first); }), "ReLU has no forward hook 1");

  struct Own : std::runtime_error {
    using std::runtime_error::runtime_error;
    int number = 42;
  };
  const tn::Object other = ReLU();
  other.register_forward_hook(
      [](tn::Object&, tn::Tensor, tn::Tensor) { throw Own("thrown in a hook"); });
  try {
    (void)Sequential(other)(x);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Own& e) {
    EXPECT_EQ(e.number, 42);
    EXPECT_STREQ(e.what(), "thrown in a hook");
  }
}

TEST_P(Layers, CyclesAreRefused) {
  const tn::Object inner = Sequential(ReLU());
  const tn::Object outer = Sequential(inner);
  EXPECT_EQ(message_of([&] { inner.child("1", outer); }),
            "Sequential: child '1' (Sequential) contains this Sequential: a tree of objects has no "
            "cycles");
}

TEST_P(Layers, AContainerUsesTheChildThatReplacedAnother) {
  const tn::Object model = Sequential(ReLU());
  model.child("0", tn::nn::Lambda([](tn::Tensor x) { return x * 5.f; }));
  EXPECT_EQ(model(on(tn::tensor({-1.f}))).item<float>(), -5.f);
}

}  // namespace
