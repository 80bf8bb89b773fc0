// What programs of libtorch do with modules: names that are registered once, forward as a call, lists and
// dictionaries that modules are taken out of, tensors by their paths, schedules that are declared.
#include <string>
#include <tuple>
#include <vector>

#include <tenon/averaged_model.hpp>
#include <tenon/triplet_loss.hpp>

#include "message_of.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
namespace optim = tn::optim;
namespace F = tn::nn::functional;
using tn::Object;

// ---- Names

struct Twice : tn::Module {
  Object fc1, fc2;
  Twice() : fc1(child("fc1", nn::Linear(2, 3))), fc2(child("fc1", nn::Linear(3, 4))) {}
};
struct TwiceRegistered : tn::Module {
  Object fc = register_module("fc", nn::Linear(2, 3)), other = add_module("fc", nn::ReLU());
};
struct ParameterThenBuffer : tn::Module {
  Tensor p = parameter("p", tn::ones({1})), b = buffer("p", tn::ones({1}));
};
struct BufferThenParameter : tn::Module {
  Tensor b = register_buffer("b", tn::ones({1})), p = register_parameter("b", tn::ones({1}));
};
struct Head : tn::Module {
  Object head = child("head", nn::Linear(2, 3));
  Tensor bias = register_parameter("bias", Tensor());
  void put(int64_t n) { head = child("head", nn::Linear(2, n)); }
};
struct OtherHead : Head {
  OtherHead() {
    head = replace_module("head", nn::Linear(2, 5));
    bias = register_parameter("bias", tn::ones({5}));
  }
};

std::string taken(const std::string& what) {
  return ": " + what +
         " is registered already, and a second one would take its place; expected another name" +
         (what.starts_with("child") ? ", or member = replace_module(name, layer)" : "");
}

TEST(LibtorchModules, ANameIsRegisteredOnceWhileItsModuleIsConstructed) {
  load_all();
  EXPECT_EQ(message_of([] { tn::make<Twice>(); }), "Twice" + taken("child 'fc1'"));
  EXPECT_EQ(message_of([] { tn::make<TwiceRegistered>(); }),
            "TwiceRegistered" + taken("child 'fc'"));
  EXPECT_EQ(message_of([] { tn::make<ParameterThenBuffer>(); }),
            "ParameterThenBuffer" + taken("parameter 'p'"));
  EXPECT_EQ(message_of([] { tn::make<BufferThenParameter>(); }),
            "BufferThenParameter" + taken("buffer 'b'"));
  EXPECT_NE(message_of([] { Twice plain; }).find(taken("child 'fc1'")), std::string::npos);
}

TEST(LibtorchModules, WhatIsThereIsReplacedOnPurpose) {
  load_all();
  const auto other = tn::make<OtherHead>();
  EXPECT_EQ(other->head.tensor("weight").size(0), 5);
  EXPECT_EQ(other.parameters().size(), 3u);
  const auto net = tn::make<Head>();
  net->put(7);
  EXPECT_EQ(net.child("head").tensor("weight").size(0), 7);
  net.child("head", nn::Linear(2, 8));
  EXPECT_EQ(net->head.tensor("weight").size(0), 8);
  net.set_submodule("head", nn::Linear(2, 9));
  EXPECT_EQ(net->head.tensor("weight").size(0), 9);
  EXPECT_EQ(message_of([&] { net.replace_module("tail", nn::ReLU()); }),
            "Head has no child 'tail' (its children: 'head')");
}

TEST(LibtorchModules, ABufferTakesNoParametersPlace) {
  load_all();
  const Object object = Object::empty("Part");
  object.register_parameter("p", tn::ones({1}));
  object.register_buffer("b", tn::ones({1}));
  object.register_parameter("p", tn::zeros({2}));
  object.register_buffer("b", tn::zeros({2}));
  EXPECT_EQ(message_of([&] { object.register_buffer("p", tn::ones({1})); }),
            "Part: register_buffer: 'p' is a parameter already, expected a name that is none");
  EXPECT_EQ(message_of([&] { object.register_parameter("b", tn::ones({1})); }),
            "Part: register_parameter: 'b' is a buffer already, expected a name that is none");
  EXPECT_EQ(object.parameters().size() + object.buffers().size(), 2u);
}

// ---- Calls and names of libtorch

struct Doubling : tn::Module {
  Tensor forward(Tensor x) { return F::relu(x) * 2; }
};
struct Part : tn::Module {
  Object fc = child("fc", nn::Linear(2, 2));
};

TEST(LibtorchModules, ForwardIsTheCall) {
  load_all();
  const Tensor x = tn::tensor({-1.0, 3.0});
  const auto net = tn::make<Doubling>();
  const Object object = net;
  int calls = 0;
  object.register_forward_hook([&](Object&, Tensor, Tensor) { ++calls; });
  expect_near(net.forward(x), {0, 6});
  expect_near(object.forward(x), {0, 6});
  EXPECT_EQ(calls, 2);
  expect_near(net->forward(x), {0, 6});  // the bare function
  EXPECT_EQ(calls, 2);
  expect_near(nn::ReLU().forward(x), {0, 3});
  nn::LSTMLayer lstm = nn::LSTM(2, 3);
  const auto [y, h, c] = lstm.forward(tn::ones({4, 2}));
  EXPECT_EQ(y.size(1), 3);
  const auto part = tn::make<Part>();
  EXPECT_EQ(message_of([&] { Object(part).forward(x); }), "Part has no method 'forward'");
}

TEST(LibtorchModules, OneTensorOfALayerOfSeveral) {
  load_all();
  const std::string hint =
      "; expected call<2>(..), which takes them all; a Sequential hands on one tensor, so that a "
      "module of one's own calls such a layer";
  const std::string message = message_of([] { nn::GRU(2, 3)(tn::ones({4, 2})); });
  EXPECT_EQ(message.find("GRU.forward: 1 results asked for, it gives 2: forward("), 0u);
  EXPECT_TRUE(message.ends_with(hint)) << message;
  const auto model = nn::Sequential(nn::LSTM(2, 3), nn::Linear(3, 1));
  const std::string within = message_of([&] { model(tn::ones({4, 2})); });
  EXPECT_NE(within.find("expected call<3>(..)"), std::string::npos) << within;
}

TEST(LibtorchModules, NamesThatAreTheSame) {
  load_all();
  nn::Sequential model;
  model.push_back(nn::Linear(2, 3)).push_back("act", nn::ReLU()).append("last", nn::Linear(3, 1));
  EXPECT_FALSE(model.is_empty());
  EXPECT_TRUE(nn::Sequential().is_empty());
  EXPECT_EQ(message_of([&] { model.push_back("act", nn::ReLU()); }),
            "Sequential: the name 'act' is there twice");
  EXPECT_EQ(model.name(), "Sequential");
  EXPECT_TRUE(model.is_training());
  EXPECT_EQ(model.begin()->name(), "Linear");
  const auto parameters = model.named_parameters();
  EXPECT_EQ(parameters.values().size(), 4u);
  EXPECT_FALSE(parameters.is_empty());
  EXPECT_EQ(parameters.begin()->first, "0.weight");
  EXPECT_EQ(model.modules().size(), 4u);
  EXPECT_EQ(model.modules(/*include_self=*/false).size(), 3u);
  const auto named = model.named_modules("net");
  EXPECT_EQ(named[0].first, "net");
  EXPECT_EQ(named[2].first, "net.act");
  EXPECT_EQ(model.named_modules("", false)[0].first, "0");
  expect_near(F::softmax(tn::zeros({2}), 0), {0.5, 0.5});
}

// ---- Taking out

TEST(LibtorchModules, ModulesAreTakenOutOfLists) {
  load_all();
  nn::Sequential model(nn::Linear(2, 3), nn::ReLU(), nn::Linear(3, 4), nn::Linear(4, 1));
  EXPECT_EQ(model.pop(1).name(), "ReLU");
  EXPECT_EQ(model.size(), 3u);
  EXPECT_EQ(model.named_children()[1].first, "1");
  EXPECT_EQ(model[1].tensor("weight").size(0), 4);
  EXPECT_EQ(model.pop().tensor("weight").size(0), 1);
  EXPECT_EQ(model(tn::ones({1, 2})).size(1), 4);
  EXPECT_EQ(model.state_dict().keys(),
            (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias"}));
  const auto copy = model.clone();
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_TRUE(tn::equal(copy(tn::ones({1, 2})), model(tn::ones({1, 2}))));
  EXPECT_EQ(message_of([&] { model.pop(2); }),
            "Sequential: pop: place 2 is out of range for 2 modules");
  EXPECT_TRUE(model.erase(0).clear().is_empty());
  nn::Sequential named({{"a", nn::ReLU()}, {"b", nn::Tanh()}});
  named.append(nn::GELU());  // "2"
  EXPECT_EQ(message_of([&] { named.pop(0); }),
            "Sequential: pop: of the modules from place 0 some have names of their own, and only "
            "numbered ones can move");
  EXPECT_EQ(named.pop(2).name(), "GELU");
  EXPECT_EQ(named.pop(0).name(), "ReLU");
  EXPECT_EQ(named.named_children()[0].first, "b");
  // What moved is not what the layer was made with, in a copy either.
  nn::Sequential lambdas([](Tensor x) { return x + 1; }, [](Tensor x) { return x * 10; });
  lambdas.pop(0);
  expect_near(lambdas.clone()(tn::ones({1})), {10});
}

TEST(LibtorchModules, DictionariesAreEdited) {
  load_all();
  nn::ModuleDict heads({{"a", nn::Linear(2, 1)}, {"b", nn::ReLU()}});
  heads.update({{"b", nn::Tanh()}, {"c", nn::GELU()}});
  EXPECT_EQ(heads.values()[1].name(), "Tanh");
  EXPECT_EQ(heads.pop("a").name(), "Linear");
  EXPECT_EQ(heads.keys(), (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(heads.contains("a"));
  EXPECT_EQ(heads.get("c").name(), "GELU");
  EXPECT_EQ(message_of([&] { heads.pop("a"); }),
            "ModuleDict has no child 'a' (its children: 'b', 'c')");
  heads.child("d", Object());
  EXPECT_EQ(heads.size(), 2u);
  heads.clear();
  EXPECT_TRUE(heads.is_empty());
  nn::ParameterDict scales({{"left", tn::ones({2})}, {"right", tn::ones({3})}});
  scales.update({{"right", tn::zeros({4})}});
  EXPECT_EQ(scales.get("right").numel(), 4);
  EXPECT_EQ(scales.values().size(), 2u);
  EXPECT_EQ(scales.pop("left").numel(), 2);
  EXPECT_EQ(scales.parameters().size(), 1u);
  EXPECT_EQ(message_of([&] { scales.pop("left"); }),
            "ParameterDict has no tensor 'left' (its tensors: 'right')");
  scales.clear();
  EXPECT_TRUE(scales.is_empty());
}

TEST(LibtorchModules, AModuleIsUnregistered) {
  load_all();
  const auto net = tn::make<Part>();
  net.unregister_module("fc");
  EXPECT_TRUE(net.parameters().empty());
  EXPECT_TRUE(net->fc.defined());  // a member as any other
  EXPECT_TRUE(net.clone().parameters().empty());
  EXPECT_EQ(message_of([&] { net.unregister_module("fc"); }),
            "Part has no child 'fc' (its children: none)");
  net->fc = nn::ReLU();
  EXPECT_EQ(net.n_children(), 0u);
  net.child("fc", nn::Linear(3, 3));
  EXPECT_EQ(net.parameters().size(), 2u);
}

// ---- By paths

TEST(LibtorchModules, TensorsOfPaths) {
  load_all();
  const auto model = nn::Sequential(nn::BatchNorm1d(2), nn::Linear(2, 1, {.bias = false}));
  EXPECT_EQ(model.get_parameter("0.weight").numel(), 2);
  EXPECT_EQ(model.get_buffer("0.running_mean").numel(), 2);
  EXPECT_EQ(message_of([&] { model.get_parameter("0.running_mean"); }),
            "get_parameter: '0.running_mean' is a buffer, which get_buffer gives (BatchNorm1d; its "
            "parameters: weight, bias)");
  EXPECT_EQ(message_of([&] { model.get_buffer("0.weight"); }),
            "get_buffer: '0.weight' is a parameter, which get_parameter gives (BatchNorm1d; its "
            "buffers: running_mean, running_var, num_batches_tracked)");
  EXPECT_EQ(message_of([&] { model.get_parameter("1.w"); }),
            "get_parameter: '1.w' is not there: Linear has no parameter 'w' (its parameters: "
            "weight, bias)");
  EXPECT_EQ(message_of([&] { model.get_buffer("1.w"); }),
            "get_buffer: '1.w' is not there: Linear has no buffer 'w' (it has none)");
  EXPECT_EQ(message_of([&] { model[1].tensor("w"); }),
            "Linear has no tensor 'w' (its tensors: 'weight', 'bias')");
  model.set_submodule("1", nn::Linear(2, 7));
  EXPECT_EQ(model[1].tensor("weight").size(0), 7);
  EXPECT_EQ(message_of([&] { model.set_submodule("1.fc", nn::ReLU()); }),
            "Linear has no child 'fc' (its children: none)");
}

// ---- Layers and schedules

TEST(LibtorchModules, ASequentialWithinASequential) {
  load_all();
  const nn::Sequential inner(nn::ReLU());
  EXPECT_EQ(nn::Sequential({inner})[0].name(), "Sequential");
  EXPECT_EQ(nn::Sequential(inner)[0].name(), "ReLU");  // C++: a copy of the handle
  EXPECT_EQ(nn::Sequential{inner}.size(), 1u);
  EXPECT_EQ(nn::Sequential({inner, nn::Tanh()}).size(), 2u);
  EXPECT_EQ(nn::ModuleList({nn::ModuleList(nn::ReLU())})[0].name(), "ModuleList");
}

TEST(LibtorchModules, UpsamplingAndLossesAsLayers) {
  load_all();
  const Tensor x = tn::arange(4.0).reshape({1, 1, 2, 2});
  expect_near(nn::UpsamplingNearest2d({.scale_factor = 2.0})(x)[{0, 0, 0}], {0, 0, 1, 1});
  // torch.nn.UpsamplingBilinear2d(size=3) of PyTorch 2.15.
  expect_near(nn::UpsamplingBilinear2d(3)(x), {0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3});
  const auto distance = [](const Tensor& a, const Tensor& b) { return (a - b).abs().sum(1); };
  const Object loss =
      nn::TripletMarginWithDistanceLoss({.distance_function = distance, .margin = 2.0});
  const Tensor a = tn::tensor({{0.0, 0.0}}), p = tn::tensor({{1.0, 0.0}}),
               n = tn::tensor({{1.0, 1.0}});
  EXPECT_EQ(loss(a, p, n).item(), 1);
  EXPECT_EQ(loss.clone()(a, p, n).item(), 1);
}

TEST(LibtorchModules, SchedulesAreDeclared) {
  load_all();
  const auto sgd = [] { return optim::SGD({tn::ones({1}, {.requires_grad = true})}, 1.0); };
  const auto rate_of = [](optim::Scheduler& scheduler, int steps) {
    for (int i = 0; i < steps; ++i) scheduler.step();
    return scheduler.get_last_lr().at(0);
  };
  optim::StepLR step(sgd(), 2, 0.5);
  EXPECT_EQ(rate_of(step, 2), 0.5);
  auto same = optim::StepLR(sgd(), 2, {.gamma = 0.25});
  EXPECT_EQ(rate_of(same, 2), 0.25);
  optim::MultiStepLR milestones(sgd(), {1, 2});
  EXPECT_NEAR(rate_of(milestones, 2), 0.01, 1e-12);
  optim::ExponentialLR exponential(sgd(), 0.5);
  EXPECT_EQ(rate_of(exponential, 2), 0.25);
  optim::LambdaLR lambda(sgd(), [](int64_t i) { return 1.0 / double(i + 1); });
  EXPECT_EQ(rate_of(lambda, 3), 0.25);
  optim::LinearLR linear(sgd(), 0.5, 1.0, 2);
  EXPECT_EQ(rate_of(linear, 1), 0.75);
  optim::CosineAnnealingLR cosine(sgd(), 2);
  EXPECT_NEAR(rate_of(cosine, 1), 0.5, 1e-12);
  optim::SequentialLR sequence(sgd(), {optim::StepLR(1, 0.5), optim::StepLR(9)}, {2});
  EXPECT_EQ(rate_of(sequence, 1), 0.5);
  optim::SGD shared = sgd();
  optim::StepLR first(shared, 1, 0.5);
  optim::ChainedScheduler chained({first, optim::StepLR(shared, 1, 0.25)});
  EXPECT_EQ(rate_of(chained, 1), 0.125);
  optim::SWALR averaging(sgd(), 0.05, {.anneal_epochs = 1});
  EXPECT_EQ(rate_of(averaging, 1), 0.05);
  // Without an optimizer each is a Schedule, whatever its name: they stand for each other.
  optim::Schedule schedule = optim::MultiStepLR({1, 3});
  EXPECT_NEAR(schedule.at(3, 1), 0.01, 1e-12);
  schedule = optim::MultiStepLR({1});
  EXPECT_EQ(schedule.at(5, 1), 0.1);
  schedule = optim::MultiStepLR(1, 0.5);
  EXPECT_EQ(schedule.at(5, 1), 0.5);
  schedule = optim::StepLR(2, 0.5);
  EXPECT_EQ(schedule.at(2, 1), 0.5);
}

}  // namespace
