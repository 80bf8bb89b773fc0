// Hooks of modules: before forward, behind it and in backward, of one tensor and of lists.
#include <string>
#include <utility>
#include <vector>

#include "layers_support.h"
#include "second_device.h"

using tn::Object, tn::Tensor;
using tn::nn::Linear, tn::nn::Sequential;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Layers, HooksBeforeForwardReplaceTheInput) {
  const Object layer = tn::nn::Identity();
  std::vector<int> order;
  float expected = 3;
  const uint64_t first = layer.register_forward_pre_hook([&](Object& self, Tensor x) {
    EXPECT_EQ(self.type_name(), "Identity");
    order.push_back(1);
    return x + 1;
  });
  layer.register_forward_pre_hook([&](Object&, Tensor x) {
    order.push_back(2);
    EXPECT_EQ(x.item<float>(), expected);
  });
  layer.register_forward_hook([&](Object&, Tensor x, Tensor) {
    order.push_back(3);
    EXPECT_EQ(x.item<float>(), expected) << "as forward got it";
  });
  const Tensor x = on(tn::tensor({2.0}));
  EXPECT_EQ(Sequential(layer)(x).item<float>(), 3.f);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  layer.remove_forward_hook(first);
  expected = 2;
  EXPECT_EQ(layer(x).item<float>(), 2.f);
  EXPECT_EQ(message_of([&] { layer.remove_forward_hook(first); }),
            "Identity has no forward hook 1");
  layer.register_forward_pre_hook([](Object&, Tensor) -> Tensor { tn::fail("no input today"); });
  EXPECT_NE(message_of([&] { layer(x); }).find("no input today"), std::string::npos);
}

TEST_P(Layers, AHookMayLetTheHandleGo) {
  Object layer = tn::nn::Identity();
  layer.register_forward_pre_hook([&](Object&, Tensor x) {
    layer = Object();
    return x + 1;
  });
  EXPECT_EQ(layer(tn::ones({}, {}, GetParam())).item<float>(), 2.f);
  EXPECT_FALSE(layer);
}

// y = 3x: grad_output is dL/dy, grad_input three times that.
TEST_P(Layers, HooksInBackwardSeeBothGradients) {
  const Object triple = tn::nn::Lambda([](Tensor x) { return x * 3; });
  double input = 0, output = 0;
  const tn::BackwardHook hook =
      triple.register_full_backward_hook([&](Object&, Tensor grad_input, Tensor grad_output) {
        input = grad_input.defined() ? grad_input.item<double>() : -1;
        output = grad_output.item<double>();
      });
  const Tensor x = on(tn::tensor({2.0})).requires_grad_();
  (Sequential(triple)(x) * 5 + x).sum().backward();
  EXPECT_EQ(output, 5);
  EXPECT_EQ(input, 15) << "what goes through the module, and not what goes by";
  EXPECT_EQ(x.grad().item<double>(), 16);
  triple.remove_full_backward_hook(hook);

  triple.register_full_backward_hook(
      [](Object&, Tensor grad_input, Tensor) { return grad_input * 2; });
  x.zero_grad();
  triple(x).sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 6);

  // An input that needs no gradient.
  const Object layer = Linear(1, 1).to(device);
  layer.register_full_backward_hook([&](Object& self, Tensor grad_input, Tensor grad_output) {
    EXPECT_EQ(self.type_name(), "Linear");
    EXPECT_FALSE(grad_input.defined());
    output = grad_output.item<double>();
  });
  layer(on(tn::tensor({{2.0}}))).sum().backward();
  EXPECT_EQ(output, 1);
}

struct Pair : tn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor x) { return {x + 1, x * 2}; }
};

using Tensors = std::vector<Tensor>;

TEST_P(Layers, HooksOfListsSeeAllInputsAndOutputs) {
  const Object pair = tn::make<Pair>();
  pair.register_forward_pre_hook(
      [](Object&, const Tensors& inputs) { return Tensors{inputs[0] + 10}; });
  const uint64_t id =
      pair.register_forward_hook([&](Object&, const Tensors& inputs, const Tensors& outputs) {
        EXPECT_EQ(inputs.at(0).item<double>(), 13);
        return Tensors{outputs[0], outputs.at(1) * 100};
      });
  const Tensor x = on(tn::tensor({3.0}));
  const auto [a, b] = pair.call<2>(x);
  EXPECT_EQ(a.item<double>(), 14);
  EXPECT_EQ(b.item<double>(), 2600);
  pair.remove_forward_hook(id);
  pair.register_forward_hook(
      [](Object&, const Tensors&, const Tensors& outputs) { return Tensors{outputs[0]}; });
  EXPECT_NE(
      message_of([&] { pair.call<2>(x); }).find("Pair: a hook gives 1 outputs, and forward has 2"),
      std::string::npos);
}

// PyTorch 2: grads of the hook are those of nn.LSTM(2, 2)'s inputs and of its three results.
TEST_P(Layers, ABackwardHookOfListsSeesEachGradient) {
  const tn::nn::LSTMLayer lstm = tn::nn::LSTM(2, 2);
  lstm.to(device);
  const Tensor x = on(tn::ones({3, 1, 2})).requires_grad_();
  const Tensor h = on(tn::zeros({1, 1, 2})), c = on(tn::ones({1, 1, 2})).requires_grad_();
  auto loss = [&] {
    auto [y, h_n, c_n] = lstm.call<3>(x, h, c);
    return y.sum() * 2 + c_n.sum() * 3;
  };
  loss().backward();
  const Tensor of_x = x.grad(), of_c = c.grad();
  x.zero_grad();
  c.zero_grad();
  int calls = 0;
  const tn::BackwardHook hook = lstm.register_full_backward_hook(
      [&](Object& self, const Tensors& grad_inputs, const Tensors& grad_outputs) {
        ++calls;
        EXPECT_EQ(self.type_name(), "LSTM");
        ASSERT_EQ(grad_inputs.size(), 3u);
        ASSERT_EQ(grad_outputs.size(), 3u);
        EXPECT_TRUE(tn::allclose(grad_inputs[0], of_x));
        EXPECT_FALSE(grad_inputs[1].defined()) << "h_0 needs none";
        EXPECT_TRUE(tn::allclose(grad_inputs[2], of_c));
        EXPECT_EQ(grad_outputs[0].sum().item<double>(), 12);
        EXPECT_EQ(grad_outputs[1].sum().item<double>(), 0);
        EXPECT_EQ(grad_outputs[2].sum().item<double>(), 6);
      });
  loss().backward();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(tn::allclose(x.grad(), of_x));
  lstm.remove_full_backward_hook(hook);

  const tn::BackwardHook doubles =
      lstm.register_full_backward_hook([](Object&, const Tensors& grad_inputs, const Tensors&) {
        Tensors others = grad_inputs;
        others[0] = others[0] * 2;
        return others;
      });
  x.zero_grad();
  c.zero_grad();
  loss().backward();
  EXPECT_TRUE(tn::allclose(x.grad(), of_x * 2));
  EXPECT_TRUE(tn::allclose(c.grad(), of_c));
  lstm.remove_full_backward_hook(doubles);
  lstm.register_full_backward_hook(
      [](Object&, const Tensors&, const Tensors&) { return Tensors(1); });
  EXPECT_NE(message_of([&] { loss().backward(); })
                .find("LSTM: full backward hook 1 gives 1 gradients of inputs, expected 3, one for "
                      "each input of forward"),
            std::string::npos);
  EXPECT_EQ(message_of([&] {
              lstm.register_full_backward_hook([](Object&, Tensor, Tensor) {});
              lstm.call<3>(x);
            }),
            "LSTM: a backward hook of one tensor in each place is set, and forward has 3 tensors "
            "among its arguments and 3 among its results; expected a hook of std::vector<Tensor> "
            "gradients");
}

struct Weighted : tn::Module {
  Tensor forward(Tensor x, Tensor y) { return x * 2 + y * 3; }
};

// Each sees the gradients that the other does not change.
TEST_P(Layers, TwoBackwardHooksOfOneModuleAreEachCalledOnce) {
  const Object layer = Linear(2, 2).to(device);
  int calls = 0;
  for (int i = 0; i < 2; ++i) {
    layer.register_full_backward_hook([&](Object&, Tensor grad_input, Tensor grad_output) {
      ++calls;
      EXPECT_TRUE(grad_input.defined());
      EXPECT_TRUE(grad_output.defined());
    });
  }
  const Tensor x = on(tn::ones({1, 2})).requires_grad_();
  layer(x).sum().backward();
  EXPECT_EQ(calls, 2);
  EXPECT_ANY_THROW(layer(on(tn::ones({1, 3})).requires_grad_()));
  layer(x).sum().backward();
  EXPECT_EQ(calls, 4) << "a call that failed is forgotten";
}

// PyTorch 2.15 gives 20, and 11 with the second hook in front.
TEST_P(Layers, BackwardHooksRunInTheOrderOfRegistration) {
  for (const bool prepend : {false, true}) {
    const Object layer = tn::nn::Identity();
    layer.register_full_backward_hook([](Object&, Tensor g, Tensor) { return g + 1; });
    layer.register_full_backward_hook([](Object&, Tensor g, Tensor) { return g * 10; }, prepend);
    const Tensor x = on(tn::zeros({1})).requires_grad_();
    layer(x).sum().backward();
    EXPECT_EQ(x.grad().item<double>(), prepend ? 11 : 20);
  }
}

// PyTorch 2.15's numbers. Backward hooks lie behind all pre-hooks and in front of no forward hook,
// whichever was registered first and whatever was removed.
TEST_P(Layers, BackwardHooksSeeWhatForwardGetsAndWhatForwardHooksGive) {
  const Object layer = tn::nn::Sigmoid();
  std::vector<double> seen;
  const tn::BackwardHook hook =
      layer.register_full_backward_hook([&](Object&, Tensor grad_input, Tensor grad_output) {
        seen = {grad_input.item<double>(), grad_output.item<double>()};
      });
  const tn::ForwardHook removed =
      layer.register_forward_hook([](Object&, Tensor, Tensor y) { return y * 7; });
  layer.register_forward_hook([](Object&, Tensor, Tensor y) { return y * 2; });
  layer.register_forward_pre_hook([](Object&, Tensor x) { return x * 3; });
  removed.remove();
  const Tensor x = on(tn::zeros({1})).requires_grad_();
  layer(x).sum().backward();
  EXPECT_EQ(seen, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(x.grad().item<double>(), 1.5);
  hook.remove();
  seen.clear();
  layer(x).sum().backward();
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(x.grad().item<double>(), 3);
}

// As in PyTorch 2.15: backward calls the hooks that there were when forward was called.
TEST_P(Layers, BackwardHooksAreAddedAndRemovedWhileOthersRun) {
  const Object layer = tn::nn::Identity();
  std::string calls;
  const auto pass = [&] {
    calls.clear();
    layer(on(tn::zeros({1})).requires_grad_()).sum().backward();
    return calls;
  };
  tn::BackwardHook itself;
  itself = layer.register_full_backward_hook([&](Object&, Tensor, Tensor) {
    calls += 'a';
    itself.remove();
    itself = {};
  });
  const tn::BackwardHook b =
      layer.register_full_backward_hook([&](Object&, Tensor, Tensor) { calls += 'b'; });
  tn::ForwardHook adds;
  adds = layer.register_forward_pre_hook([&](Object& self, Tensor) {
    adds.remove();
    adds = {};
    self.register_full_backward_hook([&](Object&, Tensor, Tensor) { calls += 'c'; });
    self.register_forward_hook([](Object&, Tensor, Tensor) {});
  });
  EXPECT_EQ(pass(), "ab");
  EXPECT_EQ(pass(), "bc");
  const Tensor y = layer(on(tn::zeros({1})).requires_grad_());
  b.remove();
  b.remove();
  calls.clear();
  y.sum().backward();
  EXPECT_EQ(calls, "bc") << "forward was called with it";
  EXPECT_EQ(pass(), "c");
  EXPECT_ANY_THROW(layer.remove_full_backward_hook(b));
  EXPECT_EQ(message_of([&] { layer.remove_full_backward_hook({}); }),
            "Identity has no full backward hook 0");
}

// PyTorch 2.15's numbers.
TEST_P(Layers, BackwardPreHooksReplaceTheGradientOfTheOutput) {
  const Object layer = tn::nn::Sigmoid();
  std::vector<double> seen;
  layer.register_full_backward_hook([&](Object&, Tensor grad_input, Tensor grad_output) {
    seen.push_back(grad_input.item<double>());
    seen.push_back(grad_output.item<double>());
  });
  const tn::BackwardHook twice =
      layer.register_full_backward_pre_hook([](Object&, Tensor g) { return g * 2; });
  layer.register_full_backward_pre_hook(
      [&](Object&, const Tensors& g) { seen.push_back(g.at(0).item<double>()); });
  layer.register_full_backward_pre_hook(
      [&](Object&, Tensor g) { seen.push_back(g.item<double>()); }, /*prepend=*/true);
  const Tensor x = on(tn::zeros({1})).requires_grad_();
  layer(x).sum().backward();
  EXPECT_EQ(seen, (std::vector<double>{1, 2, 0.5, 2}));
  EXPECT_EQ(x.grad().item<double>(), 0.5);
  twice.remove();
  x.zero_grad();
  layer(x).sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 0.25);

  // An input that needs no gradient.
  const Object linear = Linear(1, 1).to(device);
  linear.register_full_backward_pre_hook([](Object&, Tensor g) { return g * 5; });
  linear(on(tn::ones({1, 1}))).sum().backward();
  EXPECT_EQ(linear.tensor("weight").grad().item<double>(), 5);
}

// PyTorch 2.15 raises in each of these cases.
TEST_P(Layers, BackwardHooksThatGiveWhatDoesNotFitAreNamed) {
  const std::string of_one = "[1, 2] float32 on " + device.name();
  const auto expect = [&](const Tensors& gives, bool is_pre, bool needs, const std::string& text) {
    const Object linear = Linear(2, 2).to(device);
    linear.register_full_backward_hook([](Object&, Tensor, Tensor) {});
    linear.register_full_backward_pre_hook([](Object&, Tensor) {});
    linear.register_full_backward_hook(
        [&](Object&, const Tensors&, const Tensors&) { return is_pre ? Tensors() : gives; });
    linear.register_full_backward_pre_hook(
        [&](Object&, const Tensors&) { return is_pre ? gives : Tensors(); });
    const Tensor x = on(tn::zeros({1, 2})).requires_grad_(needs);
    EXPECT_EQ(
        message_of([&] { linear(x).sum().backward(); }),
        "backward of Linear (full backward hooks) failed\n  because Linear: full backward " + text);
  };
  const Tensor three = on(tn::ones({3})), one = on(tn::ones({1, 2}));
  const std::string gives = "hook 2 gives [3] float32 on " + device.name();
  expect({three}, false, true, gives + " for input 0, expected " + of_one);
  expect({three}, true, true, "pre-" + gives + " for output 0, expected " + of_one);
  expect({one}, false, false,
         "hook 2 gives a gradient for input 0, expected none, as no input needs a gradient");
  expect({one, one}, true, true,
         "pre-hook 2 gives 2 gradients of outputs, expected 1, one for each output of forward");
}

TEST_P(Layers, HooksOfAttentionAreCalledAlsoWhereItGivesWeights) {
  const tn::nn::MultiheadAttentionLayer attention = tn::nn::MultiheadAttention(4, 2);
  attention.to(device);
  const Tensor x = on(tn::ones({3, 1, 4})).requires_grad_();
  int before = 0, after = 0, backward = 0;
  attention.register_forward_pre_hook([&](Object&, const Tensors& inputs) {
    ++before;
    EXPECT_EQ(inputs.at(0).sizes(), (tn::Ints{3, 1, 4}));
  });
  attention.register_forward_hook([&](Object&, const Tensors&, const Tensors& outputs) {
    ++after;
    EXPECT_EQ(outputs.size(), 2u);
  });
  attention.register_full_backward_hook(
      [&](Object&, const Tensors& grads, const Tensors&) { backward += grads.at(0).defined(); });
  auto [y, weights] = attention(x, x, x);
  y.sum().backward();
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(backward, 1);
}

// An input that is given twice gets a gradient in each place, and their sum outside.
TEST_P(Layers, ABackwardHookSeesAnInputThatIsGivenTwice) {
  const Object twice = tn::make<Weighted>();
  double first = 0, second = 0;
  twice.register_full_backward_hook([&](Object&, const Tensors& grads, const Tensors&) {
    first = grads.at(0).item<double>();
    second = grads.at(1).item<double>();
  });
  const Tensor x = on(tn::tensor({1.0})).requires_grad_();
  twice(x, x).sum().backward();
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 3);
  EXPECT_EQ(x.grad().item<double>(), 5);
}

// What such a module gives is a tensor of its own where there are hooks.
TEST_P(Layers, ABackwardHookOfWhatGivesItsInputLetsBothBeWritten) {
  for (const char* name : {"Identity", "Flatten"}) {
    const Object layer = Object::create(name, {});
    int calls = 0;
    layer.register_full_backward_hook([&](Object&, Tensor, Tensor) { ++calls; });
    const Tensor x = on(tn::ones({1, 2})).requires_grad_();
    Tensor h = x * 6.0, y = layer(h);
    h.mul_(5.0);
    y.mul_(2.0);
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{12, 12}));
    EXPECT_EQ(tn::grad((y + h).sum(), x).to_vector<float>(), (std::vector<float>{42, 42}));
    EXPECT_EQ(calls, 1);
  }
}

struct Sum : tn::Module {
  Tensor forward(Tensor a, Tensor b) { return a + b; }
};
// What calls before saved of the inputs stays theirs, for gradients of gradients.
TEST_P(Layers, ABackwardHookLeavesSecondDerivatives) {
  const auto sum = tn::make<Sum>();
  sum.register_full_backward_hook(
      [](Object&, const std::vector<Tensor>&, const std::vector<Tensor>&) {});
  const Tensor x = on(tn::tensor({1.0, 2.0})).requires_grad_();
  const Tensor cube = x * x * x, y = sum(x, cube);
  const Tensor first = tn::grad(cube.sum(), x, {.create_graph = true});
  EXPECT_EQ(tn::grad(first.sum(), x).to_vector<float>(), (std::vector<float>{6, 12}));
}

struct Shows : tn::Module {
  Tensor weight = parameter("weight", tn::ones({2}));
  Tensor kept;
  std::string what;
  explicit Shows(std::string w) : what(std::move(w)) {}
  std::vector<Tensor> forward(Tensor x) {
    const Tensor y = x * 2;
    if (what == "a parameter") return {weight.view({2})};
    if (what == "kept") kept = y;
    if (what == "a part") return {y, y[0]};
    return {y};
  }
};
TEST_P(Layers, WhatAHookedModuleGivesIsNotWrittenWhileOthersHoldIt) {
  for (const std::string what : {"a parameter", "kept", "a part", "nothing"}) {
    SCOPED_TRACE(what);
    const auto shows = tn::make<Shows>(what);
    shows.to(tn::Device(GetParam()));
    shows.register_full_backward_hook(
        [](Object&, const std::vector<Tensor>&, const std::vector<Tensor>&) {});
    const Tensor x = on(tn::tensor({1.0, 2.0})).requires_grad_();
    const std::vector<Tensor> y = shows(x);
    if (what == "nothing") {
      y[0].mul_(3.0);
      EXPECT_EQ(tn::grad(y[0].sum(), x).to_vector<float>(), (std::vector<float>{6, 6}));
    } else {
      EXPECT_NE(message_of([&] { y[0].mul_(3.0); }).find("memory that others hold"),
                std::string::npos);
    }
  }
}

struct Keeps : tn::Module {
  int& alive;
  Tensor kept;
  explicit Keeps(std::reference_wrapper<int> a) : alive(a) { ++alive; }
  ~Keeps() { --alive; }
  Tensor forward(Tensor x) { return kept = x * 2; }
};
TEST_P(Layers, AHookedModuleThatKeepsItsOutputIsNotHeldByIt) {
  int alive = 0, called = 0;
  const Tensor x = on(tn::tensor({1.0, 2.0})).requires_grad_();
  Tensor kept, y;
  {
    const auto keeps = tn::make<Keeps>(std::ref(alive));
    keeps.register_full_backward_hook(
        [&](Object& self, const Tensor&, const Tensor&) { called += self.type_name() == "Keeps"; });
    keeps(x);
    y = keeps(x);
    kept = keeps->kept;
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 1);  // what it gave holds it
  EXPECT_EQ(tn::grad(y.sum(), x, {.retain_graph = true}).to_vector<float>(),
            (std::vector<float>{2, 2}));
  EXPECT_EQ(called, 1);
  y = {};
  EXPECT_EQ(alive, 0);
  // As in PyTorch: this did not come through what the module gave.
  EXPECT_EQ(tn::grad(kept.sum(), x).to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(called, 1);
}

}  // namespace
