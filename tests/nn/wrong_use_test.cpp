// Modules, hooks and functions used wrongly: an Error that says what, and never a crash.
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "layers_support.h"

using tn::Object, tn::Tensor;
using tn::nn::Linear, tn::nn::Sequential;

namespace {

class WrongUse : public testing::Test {
 protected:
  void SetUp() override { tn::load_plugins(); }
};

struct Net : tn::Module {
  Object inner = child("inner", Linear(2, 2));
  Tensor forward(Tensor x) { return inner(x); }
};
struct CallsItself : tn::Module {
  const Object* other = nullptr;
  Tensor forward(Tensor x) { return other ? (*other)(x) : x; }
};
struct GivesNone : tn::Function<GivesNone> {
  static Tensor forward(Context&, Tensor) { return Tensor(); }
  static Tensor backward(Context&, Tensor g) { return g; }
};

TEST_F(WrongUse, AModuleThatIsNoneIsAnError) {
  const std::string message = "Net: the module is None: never assigned, or moved from";
  tn::Made<Net> none;
  EXPECT_EQ(message_of([&] { none->forward(tn::ones({1, 2})); }), message);
  EXPECT_EQ(message_of([&] { (*none).forward(tn::ones({1, 2})); }), message);
  EXPECT_EQ(message_of([&] { Object().get_submodule(""); }),
            "the object is None: never assigned, or moved from");
}

TEST_F(WrongUse, AModuleWithoutMakeSaysSo) {
  const Net net;
  EXPECT_EQ(message_of([&] {
              net(tn::ones({1, 2}));
            }),
            "Module that make<T>() did not make has no method 'forward'");
}

TEST_F(WrongUse, CallsWithoutAnEndEndWithAnError) {
  const auto module = tn::make<CallsItself>();
  const Object itself = module;
  module->other = &itself;
  const std::string message = message_of([&] { module(tn::ones({1})); });
  EXPECT_NE(message.find("CallsItself: forward: more than 1000 calls of modules are within each "
                         "other: a module, or a hook of it, calls itself without an end"),
            std::string::npos)
      << message.substr(0, 400);
  module->other = nullptr;

  const Object layer = Linear(2, 2);
  layer.register_forward_hook([](Object& self, Tensor input, Tensor) { self(input); });
  EXPECT_NE(message_of([&] {
              layer(tn::ones({1, 2}));
            }).find("calls itself without an end"),
            std::string::npos);
  EXPECT_NO_THROW(Linear(2, 2)(tn::ones({1, 2}))) << "the depth is back at 0";
}

TEST_F(WrongUse, AForwardHookOfALayerWithSeveralOutputsSaysWhatThereIs) {
  const tn::nn::LSTMLayer lstm = tn::nn::LSTM(2, 2);
  int seen = 0;
  lstm.register_forward_pre_hook([&](Object&, Tensor) { ++seen; });
  lstm(tn::ones({3, 1, 2}));
  EXPECT_EQ(seen, 1);
  lstm.register_forward_hook([](Object&, Tensor, Tensor) {});
  EXPECT_EQ(message_of([&] {
              lstm(tn::ones({3, 1, 2}));
            }),
            "LSTM: a forward hook is given one output, and forward gives 3: "
            "a hook of std::vector<Tensor> inputs and outputs is given all");
}

TEST_F(WrongUse, AFunctionThatGivesNoneIsNamed) {
  EXPECT_EQ(message_of([] { GivesNone::apply(tn::ones({2}).requires_grad_()); }),
            "GivesNone: forward gives None, expected a tensor");
}

// As PyTorch's warning: the first call alone, and only where there are gradients and no step of the optimizer.
TEST_F(WrongUse, AScheduleInFrontOfItsOptimizerSaysSo) {
  namespace optim = tn::optim;
  const Tensor p = tn::ones({2}, {.requires_grad = true});
  const auto optimizer = optim::SGD({p}, 0.1);
  auto silent = optim::StepLR(optimizer, 1);
  optimizer.step();  // which has no gradient, and writes nothing
  EXPECT_EQ(log_of([&] { silent.step(); }), "");
  auto early = optim::StepLR(optimizer, 1);
  p.sum().backward();
  EXPECT_EQ(log_of([&] { early.step(); }),
            "tenon warning: Scheduler: step() before the optimizer's first step, so the first rate "
            "of the schedule is passed over; expected optimizer.step(), then scheduler.step()\n");
  EXPECT_EQ(log_of([&] { early.step(); }), "");
  auto usual = optim::StepLR(optimizer, 1);
  p.sum().backward();
  optimizer.step();
  EXPECT_EQ(log_of([&] { usual.step(); }), "");
  auto compiled = optim::StepLR(optimizer, 1);
  auto step = tn::compile([&](Tensor x) {
    optimizer.zero_grad();
    Tensor loss = (p * x).sum();
    loss.backward();
    optimizer.step();
    return loss;
  });
  for (int i = 0; i < 3; ++i) step(tn::ones({2}));
  EXPECT_EQ(log_of([&] { compiled.step(); }), "");
  auto resumed = optim::StepLR(optimizer, 1);
  resumed.go_to(5);
  EXPECT_EQ(log_of([&] { resumed.step(); }), "");
}

// Numbers and lists are no tensors, whatever the caller takes them for; what came beside them is released.
struct GivesNumber : tn::Module {
  double forward(Tensor) { return 2.5; }
};
struct GivesList : tn::Module {
  std::vector<Tensor> forward(Tensor x) { return {x, x * 2}; }
};
struct Mixed {
  Tensor a;
  double b;
  Tensor c;
};
struct GivesMixed : tn::Module {
  Mixed forward(Tensor x) { return {x * 2, 2.5, x * 3}; }
};
struct GivesTensorAndList : tn::Module {
  std::tuple<Tensor, std::vector<Tensor>> forward(Tensor x) { return {x, {x, x}}; }
};

TEST_F(WrongUse, AResultThatIsNoTensorIsNotTakenForOne) {
  const Tensor x = tn::ones({1, 2});
  const std::string number = "a result is a float where C++ code takes a Tensor";
  const std::string list = "a result is Tensors where C++ code takes a Tensor";
  const Object numbers = tn::make<GivesNumber>(), lists = tn::make<GivesList>();
  const Object mixed = tn::make<GivesMixed>(), both = tn::make<GivesTensorAndList>();
  EXPECT_EQ(message_of([&] { numbers(x); }), number);
  EXPECT_EQ(message_of([&] { lists(x); }), list);
  EXPECT_EQ(message_of([&] { mixed.call<3>(x); }), number);
  EXPECT_EQ(message_of([&] { both.call<2>(x); }), list);
  EXPECT_EQ(
      message_of(
          [&] { mixed.invoke<std::tuple<Tensor, std::vector<Tensor>, Tensor>>("forward", x); }),
      "a value is a float where C++ code takes Tensors: its parameters do not fit the schema");
  for (const Object& layer : {numbers, lists})
    EXPECT_NE(message_of([&] { Sequential(layer, Linear(2, 2))(x); }), "no error");
  EXPECT_EQ(numbers.invoke<double>("forward", x), 2.5);
  EXPECT_EQ(lists.invoke<std::vector<Tensor>>("forward", x).size(), 2u);
}

}  // namespace
