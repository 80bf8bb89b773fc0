// Trees of modules: copies, containers without a forward, walks, and what a constructor made and never
// registered.
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

#include "layers_support.h"
#include "second_device.h"

using tn::Object, tn::Tensor;
using tn::nn::BatchNorm1d, tn::nn::Dropout, tn::nn::Linear, tn::nn::ReLU, tn::nn::Sequential;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

struct Block : tn::Module {
  Object norm = child("norm", BatchNorm1d(3));
  Object inner = child("inner", Linear(3, 3));
  Tensor scale = parameter("scale", tn::full({1}, 2.0));
  Tensor forward(Tensor x) { return norm(inner(x)) * scale; }
};
struct Net : tn::Module {
  tn::nn::ModuleList layers = child("layers", tn::nn::ModuleList());
  tn::nn::ModuleDict heads = child("heads", tn::nn::ModuleDict());
  tn::nn::ParameterList shifts = child("shifts", tn::nn::ParameterList());
  Net(int depth, Object head) {
    for (int i = 0; i < depth; ++i) layers.append(tn::make<Block>());
    heads.insert("main", head).insert("other", Linear(3, 2));
    for (int i = 0; i < depth; ++i) shifts.append(tn::zeros({3}));
  }
  Tensor forward(Tensor x) {
    for (size_t i = 0; i < layers.size(); ++i) x = layers[int64_t(i)](x) + shifts[int64_t(i)];
    return heads["main"](x);
  }
};

// Its layers are no members.
struct Holder : tn::Module {
  std::vector<Object> layers;
  Holder() { layers.push_back(child("inner", Linear(2, 2))); }
  Tensor forward(Tensor x) { return layers[0](x); }
};

TEST(ModuleTree, ALayerInAMembersPlaceIsSaid) {
  tn::load_plugins();
  const auto holder = tn::make<Holder>();
  const std::string said = log_of([&] { holder.child("inner") = tn::nn::ReLU(); });
  EXPECT_NE(said.find("Holder: child 'inner' is replaced, and a member of the class that holds the "
                      "one before still uses that; expected member = module.child(\"inner\", "
                      "layer)"),
            std::string::npos)
      << said;
  EXPECT_EQ(log_of([&] {
              holder->layers[0] = holder.child("inner", tn::nn::ReLU());
              Object model = tn::nn::Sequential(holder);
              model[0] = tn::nn::ReLU();
            }),
            "");
}

TEST_P(Layers, ACloneHasTheSameValuesAndNothingInCommon) {
  const auto net = tn::make<Net>(2, Linear(3, 1));
  net.to(device);
  const Tensor x = on(tn::randn({4, 3}));
  net(x);  // running statistics
  net->layers[0].get_parameter("inner.weight").requires_grad_(false);
  net->layers[1].eval();
  const tn::RandomState random = tn::random_state();
  const auto copy = net.clone();
  EXPECT_EQ(tn::random_state(), random) << "what constructors drew";
  EXPECT_EQ(copy.to_string(), net.to_string());
  EXPECT_NE(copy, net);
  const tn::NamedTensors of_net = net.state_dict(), of_copy = copy.state_dict();
  ASSERT_EQ(names_of(of_copy), names_of(of_net));
  for (size_t i = 0; i < of_net.size(); ++i) {
    EXPECT_TRUE(of_net[i].second.equal(of_copy[i].second)) << of_net[i].first;
    EXPECT_FALSE(of_net[i].second.same_storage(of_copy[i].second)) << of_net[i].first;
    EXPECT_EQ(of_copy[i].second.device(), device);
  }
  EXPECT_FALSE(copy.get_parameter("layers.0.inner.weight").requires_grad());
  EXPECT_TRUE(copy.get_parameter("layers.1.inner.weight").requires_grad());
  EXPECT_TRUE(copy->layers[0].training());
  EXPECT_FALSE(copy->layers[1].training());
  net.eval();
  copy.eval();
  const Tensor before = copy(x);
  EXPECT_TRUE(before.equal(net(x)));
  {
    const tn::NoGrad guard;
    for (const Tensor& p : net.parameters()) p.zero_();
  }
  EXPECT_TRUE(before.equal(copy(x))) << "members of the copy's modules are the copy's";
  copy(x).sum().backward();
  EXPECT_TRUE(copy.get_parameter("layers.1.scale").grad().defined());
  EXPECT_FALSE(net.get_parameter("layers.1.scale").grad().defined());
}

TEST_P(Layers, ACloneOfPlainLayersKeepsOptionsAndDtype) {
  const Object model = Sequential(
      Linear(3, 4, {.bias = false}), Dropout(0.25), ReLU(), [](Tensor x) { return x * 3; },
      Linear(4, 2));
  model.to(device, tn::float64);
  model.child("2", tn::nn::Tanh());  // instead of what the container was made with
  const Object copy = model.clone();
  EXPECT_EQ(copy.to_string(), model.to_string());
  const Tensor x = on(tn::randn({2, 3}, tn::float64));
  model.eval();
  copy.eval();
  EXPECT_EQ(copy(x).dtype(), tn::float64);
  EXPECT_TRUE(copy(x).equal(model(x)));
}

TEST_P(Layers, WhatIsSharedInAModelIsSharedInItsClone) {
  const Object shared = Linear(3, 3);
  const Object model = Sequential(shared, ReLU(), shared, Linear(3, 3));
  model.child("3").set("weight", shared.tensor("weight"));
  const Object copy = model.to(device).clone();
  EXPECT_EQ(copy.child("0"), copy.child("2"));
  EXPECT_TRUE(copy.child("0").tensor("weight").is_same(copy.child("3").tensor("weight")));
  EXPECT_FALSE(copy.child("0").tensor("weight").is_same(shared.tensor("weight")));
  EXPECT_EQ(copy.parameters().size(), model.parameters().size());
}

TEST_P(Layers, ACloneIsRefusedWhereNobodySaysHow) {
  const Object own = Object::empty("Own");
  EXPECT_EQ(message_of([&] { Sequential(own).clone(); }),
            "clone: Own was made without a factory and has no method clone() -> object that copies "
            "it");
  own.method("clone() -> object", [] { return Object::empty("Own"); });
  EXPECT_EQ(Sequential(own).clone().child("0").type_name(), "Own");
}

TEST_P(Layers, ListsAndDictionariesOfModules) {
  const tn::nn::ModuleList list(Linear(2, 3), ReLU());
  list.append([](Tensor x) { return x + 1; }).extend({Linear(3, 1)});
  EXPECT_EQ(list.size(), 4u);
  EXPECT_EQ(list[-1].tensor("weight").sizes(), (std::vector<int64_t>{1, 3}));
  std::string types;
  for (const Object& layer : list) types += layer.type_name() + " ";
  EXPECT_EQ(types, "Linear ReLU Lambda Linear ");
  EXPECT_EQ(names_of(list.state_dict()),
            (std::vector<std::string>{"0.weight", "0.bias", "3.weight", "3.bias"}));
  EXPECT_EQ(message_of([&] { list[4]; }), "ModuleList: index 4 is out of range for 4 modules");
  EXPECT_EQ(message_of([&] { list(tn::zeros({2})); }).substr(0, 34),
            "ModuleList has no method 'forward'");

  const tn::nn::ModuleDict dict({{"conv", Linear(2, 2)}, {"act", ReLU()}});
  dict.insert("act", tn::nn::Tanh());
  EXPECT_EQ(dict.keys(), (std::vector<std::string>{"conv", "act"}));
  EXPECT_EQ(dict["act"].type_name(), "Tanh");
  EXPECT_TRUE(dict.contains("conv"));
  EXPECT_FALSE(dict.contains("pool"));
  EXPECT_EQ(message_of([&] { dict["cov"]; }),
            "ModuleDict has no child 'cov'; did you mean 'conv'? (its children: 'conv', 'act')");
  EXPECT_EQ(dict.clone().keys(), dict.keys());

  const tn::nn::ParameterList parameters({tn::zeros({2}), tn::ones({3})});
  EXPECT_EQ(parameters.size(), 2u);
  EXPECT_TRUE(parameters[1].requires_grad());
  EXPECT_EQ(parameters[-1].sizes(), (std::vector<int64_t>{3}));
  EXPECT_EQ(message_of([&] { parameters[2]; }),
            "ParameterList: index 2 is out of range for 2 parameters");
  EXPECT_EQ(parameters.clone().to_vector().size(), 2u);

  const tn::nn::ParameterDict scales({{"left", tn::zeros({2})}, {"right", tn::ones({3})}});
  scales.insert("left", tn::full({4}, 2.0));
  EXPECT_EQ(scales.keys(), (std::vector<std::string>{"left", "right"}));
  EXPECT_TRUE(scales["left"].requires_grad());
  EXPECT_EQ(scales["left"].sizes(), (std::vector<int64_t>{4}));
  EXPECT_TRUE(scales.contains("right"));
  EXPECT_FALSE(scales.contains("top"));
  EXPECT_EQ(message_of([&] { scales["rihgt"]; }),
            "ParameterDict has no tensor 'rihgt'; did you mean 'right'?");
  const tn::nn::ParameterDict copy = scales.clone();
  EXPECT_FALSE(copy["left"].is_same(scales["left"]));
  EXPECT_EQ(copy.items()[0].first, "left");
  EXPECT_EQ(copy.state_dict()["right"].sizes(), (std::vector<int64_t>{3}));
  EXPECT_TRUE(tn::nn::ParameterDict().empty());
}

TEST_P(Layers, TheTreeIsWalkedAsPyTorchWalksIt) {
  const Object shared = ReLU();
  const Object model = Sequential(Linear(2, 2), Sequential(BatchNorm1d(2), shared), shared);
  std::string names;
  for (const auto& [name, module] : model.named_modules()) names += "'" + name + "' ";
  EXPECT_EQ(names, "'' '0' '1' '1.0' '1.1' ") << "each module once";
  EXPECT_EQ(model.modules().size(), 5u);
  std::string order;
  model.apply([&](Object& module) { order += module.type_name() + " "; });
  EXPECT_EQ(order, "Linear BatchNorm1d ReLU Sequential ReLU Sequential ");
  EXPECT_EQ(model.buffers().size(), 3u) << "running_mean, running_var, num_batches_tracked";
  EXPECT_EQ(model.get_submodule("1.0").type_name(), "BatchNorm1d");
  EXPECT_TRUE(
      model.get_parameter("1.0.weight").is_same(model.child("1").child("0").tensor("weight")));
  EXPECT_EQ(message_of([&] { model.get_submodule("1.2"); }).substr(0, 27),
            "Sequential has no child '2'");
  model.requires_grad_(false);
  for (const Tensor& p : model.parameters()) EXPECT_FALSE(p.requires_grad());
  model.to(tn::float64);
  EXPECT_EQ(model.get_parameter("0.weight").dtype(), tn::float64);
}

TEST_P(Layers, NamesMayBeStrings) {
  const Object model = Object::empty(std::string("Stack"));
  for (int i = 0; i < 2; ++i) {
    const std::string name = "layer" + std::to_string(i);
    model.child(name, Object::create(std::string("Linear"), 2, 2 + i));
    EXPECT_EQ(model.child(name).option<int64_t>(std::string("out_features")), 2 + i);
    model.parameter("scale" + std::to_string(i), tn::ones({i + 1}));
  }
  const std::string scale = "scale1";
  EXPECT_EQ(model.tensor(scale).numel(), 2);
  EXPECT_EQ(model.child("layer" + std::to_string(1))
                .invoke<Tensor>(std::string("forward"), tn::ones({1, 2}))
                .size(1),
            3);
}

struct Headed : tn::Module {
  Object head = child("head", Linear(2, 2));
  Object extra;
  tn::nn::ModuleList list;
  Headed() { child("list", list); }
  Tensor forward(Tensor x) {
    for (const Object& layer : list) x = layer(x);
    x = head(x);
    return extra ? extra(x) : x;
  }
};

// A copy's members are what the constructor makes, so that it would compute with other weights.
struct Scaled : tn::Module {
  double factor;
  explicit Scaled(double f) : factor(f) {}
  Tensor forward(Tensor x) { return x * factor; }
};

// What the program put in the place of another is copied as it is, not as the constructor made it.
TEST_P(Layers, ACopyHasWhatReplacedALayer) {
  const Tensor x = tn::ones({1, 2}).to(tn::Device(GetParam()));
  auto scaled = Sequential(tn::nn::Identity(), tn::make<Scaled>(2.0));
  scaled[1] = tn::make<Scaled>(3.0);
  EXPECT_EQ(scaled.clone()(x).sum().item<float>(), 6);
  EXPECT_EQ(scaled.clone().clone()(x).sum().item<float>(), 6);

  struct Outer : tn::Module {
    Object inner = child("inner", Sequential(tn::make<Scaled>(2.0)));
    Tensor forward(Tensor t) { return inner(t); }
  };
  auto outer = tn::make<Outer>();
  outer->inner.child("0", tn::make<Scaled>(5.0));
  EXPECT_EQ(outer.clone()(x).sum().item<float>(), 10);

  auto doubled = Sequential([](Tensor t) { return t * 2; });
  doubled[0] = Sequential([](Tensor t) { return t * 7; });
  EXPECT_EQ(doubled.clone()(x).sum().item<float>(), 14);

  auto encoder = tn::nn::TransformerEncoder(
      tn::nn::TransformerEncoderLayer(4, 2, {.dim_feedforward = 8, .dropout = 0.0}), 2);
  encoder.child("layers").child(
      "0", tn::nn::TransformerEncoderLayer(
               4, 2, {.dim_feedforward = 8, .dropout = 0.0, .norm_first = true}));
  encoder.to(tn::Device(GetParam()));
  const Tensor y = tn::rand({1, 3, 4}).to(tn::Device(GetParam()));
  EXPECT_TRUE(encoder.clone()(y).equal(encoder(y)));
}

TEST_P(Layers, ACopyHasNoLayerWhereThereIsNone) {
  auto model = Sequential(Linear(2, 2), Linear(2, 2));
  model[0] = Object();
  EXPECT_EQ(model.clone().parameters().size(), 2u);
  auto list = tn::nn::ModuleList();
  list.append(ReLU());
  list.append(ReLU());
  list[0] = Object();
  EXPECT_EQ(list.clone().to_string(), list.to_string());
}

TEST_P(Layers, ATensorOfTwoNamesIsInTheStateUnderBoth) {
  Object object = Object::empty("Tied");
  const Tensor t = tn::ones({2});
  object.parameter("a", t);
  object.parameter("b", t);
  object.buffer("c", t, false);
  EXPECT_EQ(object.parameters().size(), 1u);
  EXPECT_EQ(object.state_dict().size(), 2u);
  object.load_state_dict(object.state_dict());
}

TEST_P(Layers, ACopyKnowsWhichBuffersAreNotSaved) {
  auto norm = BatchNorm1d(2);
  norm.buffer("running_mean", norm.tensor("running_mean"), false);
  EXPECT_EQ(norm.clone().state_dict().size(), norm.state_dict().size());
  norm.clone().load_state_dict(norm.state_dict());
}

TEST_P(Layers, AModuleThatChangedAfterItsConstructorIsNotCopiedInSilence) {
  auto net = tn::make<Headed>();
  net.to(device);
  net->list.append(Linear(2, 2).to(device));
  const Tensor x = on(tn::ones({1, 2}));
  EXPECT_TRUE(tn::equal(net.clone()(x), net(x))) << "a list that got more";
  net->head = Linear(2, 3).to(device);
  net->extra = net.child("extra", Linear(3, 3).to(device));
  EXPECT_TRUE(tn::equal(net.clone()(x), net(x))) << "members that are others now";
  const auto holder = tn::make<Holder>();
  holder->layers[0] = holder.child("inner", Linear(2, 3));
  EXPECT_EQ(
      message_of([&] { holder.clone(); }),
      "clone: Holder: child 'inner' is not as the constructor makes it, and the members of a copy "
      "are what the constructor makes: make it there, or give the class a method clone() -> "
      "object");
  const auto other = tn::make<Holder>();
  other->layers.push_back(other.child("extra", Linear(2, 2)));
  EXPECT_NE(message_of([&] {
              other.clone();
            }).find("Holder: child 'extra' was added after the constructor, which makes none"),
            std::string::npos);
}

struct Pair : tn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor x) { return {x + 1, x * 2}; }
};

TEST_P(Layers, AModuleWithSeveralResultsGivesThem) {
  const auto pair = tn::make<Pair>();
  const auto [a, b] = pair(on(tn::tensor({3.0})));
  EXPECT_EQ(a.item<float>(), 4.f);
  EXPECT_EQ(b.item<float>(), 6.f);
  const Object object = pair;
  const auto [c, d] = object.call<2>(on(tn::tensor({3.0})));
  EXPECT_EQ(c.item<float>() + d.item<float>(), 10.f);
  EXPECT_NE(
      message_of([&] { object(on(tn::tensor({3.0}))); }).find("1 results asked for, it gives 2"),
      std::string::npos);
}

struct SumAndProduct : tn::Module {
  std::pair<Tensor, Tensor> forward(Tensor x) { return {x.sum(), x.prod()}; }
};
struct Powers : tn::Module {
  std::array<Tensor, 3> forward(Tensor x) { return {x, x * x, x * x * x}; }
};

TEST_P(Layers, ResultsMayBeAPairOrAnArray) {
  const Tensor x = on(tn::tensor({2.0, 5.0}));
  const auto [sum, product] = tn::make<SumAndProduct>()(x);
  EXPECT_EQ(sum.item<float>(), 7.f);
  EXPECT_EQ(product.item<float>(), 10.f);
  const auto powers = tn::make<Powers>();
  const auto [first, second, third] = powers(x);
  EXPECT_EQ(third.to_vector<float>(), (std::vector<float>{8, 125}));
  EXPECT_EQ(powers.method_schema("forward"), "forward(Tensor x0) -> (Tensor, Tensor, Tensor)");
}

TEST_P(Layers, LayersOfAContainerAreReachedByTheirPlace) {
  const Object model = Sequential(Linear(2, 3), ReLU());
  EXPECT_EQ(model[0].tensor("weight").size(0), 3);
  EXPECT_EQ(model[-1].type_name(), "ReLU");
  EXPECT_EQ(message_of([&] { model[2]; }), "Sequential: index 2 is out of range for 2 children");
  EXPECT_EQ(message_of([&] { model[-3]; }), "Sequential: index -3 is out of range for 2 children");
  EXPECT_EQ(message_of([&] { model[SIZE_MAX]; }),
            "Sequential: index 18446744073709551615 is out of range for 2 children");
}

TEST_P(Layers, ChildrenAreReplacedByAssignment) {
  const Object model = Sequential(Linear(4, 8), ReLU(), Linear(8, 1000));
  model[-1] = Linear(8, 3);
  model.child("1") = tn::nn::Tanh();
  EXPECT_EQ(model(tn::ones({1, 4})).sizes(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(model[1].type_name(), "Tanh");
  EXPECT_EQ(model.parameters()[2].size(0), 3);
  model[0] = model[0];
  EXPECT_EQ(model.n_children(), 3u);
  tn::nn::ModuleList list(Linear(2, 8));
  list[0] = Linear(2, 3);
  EXPECT_EQ(list[0](tn::ones({1, 2})).size(1), 3);
  tn::nn::ModuleDict named;
  named.insert("a", Linear(2, 8));
  named["a"] = Linear(2, 5);
  EXPECT_EQ(named["a"](tn::ones({1, 2})).size(1), 5);
  // A variable is one's own.
  auto variable = model[0];
  variable = ReLU();
  EXPECT_EQ(variable.type_name(), "ReLU");
  EXPECT_EQ(model[0].type_name(), "Linear");
  static_assert(!std::is_assignable_v<Object, Object>, "what a function gives is no variable");
  EXPECT_EQ(message_of([&] { model[0] = model; }), "Sequential: child '0' is the object itself");
}

TEST_P(Layers, BuffersThatAreNotPersistentAreInNoState) {
  const Object block = Object::empty("Block"), outer = Sequential(Linear(2, 2));
  block.parameter("scale", tn::ones({2}));
  block.buffer("mask", tn::ones({2, 2}), false);
  block.buffer("count", tn::zeros({1}));
  outer.child("1", block);
  const auto state = outer.state_dict();
  EXPECT_FALSE(state.contains("1.mask"));
  EXPECT_TRUE(state.contains("1.count"));
  EXPECT_EQ(outer.named_buffers().size(), 2u);
  outer.load_state_dict(state);
  tn::NamedTensors more = state;
  more.emplace_back("1.mask", tn::zeros({2, 2}));
  EXPECT_EQ(message_of([&] { outer.load_state_dict(more); }),
            "load_state: '1.mask' is in the state_dict and not in Sequential");
  EXPECT_EQ(outer.load_state_dict(more, false).unexpected_keys, std::vector<std::string>{"1.mask"});
  EXPECT_EQ(block.tensor("mask").sum().item<float>(), 4);
  block.to(tn::float64);
  EXPECT_EQ(block.tensor("mask").dtype(), tn::float64);
}

struct Maybe : tn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor x) { return {x, Tensor()}; }
};
struct Optional : tn::Module {
  std::tuple<Tensor, std::optional<Tensor>> forward(Tensor x) { return {x, std::nullopt}; }
};
TEST_P(Layers, AResultThatMayBeNoneIsOptional) {
  const auto maybe = tn::make<Maybe>();
  EXPECT_EQ(message_of([&] { maybe(tn::ones({1})); }),
            "Maybe.forward gave None as result 1: forward(Tensor x0) -> (Tensor, Tensor) (a result "
            "that may be None is a std::optional<Tensor>)");
  EXPECT_FALSE(std::get<1>(tn::make<Optional>()(tn::ones({1}))).has_value());
}

struct Forgetful : tn::Module {
  Object hidden = Linear(2, 3);                                // never registered
  std::vector<Object> more{Sequential(Linear(3, 3), ReLU())};  // nor this
  Tensor shift = tn::zeros({3, 1}).requires_grad_();           // nor this
  Tensor constant = tn::ones({3});                             // needs no gradient
  Object activation = ReLU();                                  // has no parameters
  Object output = child("output", Linear(3, 1));
  Forgetful() { const Object dropped = Linear(9, 9); }
  Tensor forward(Tensor x) { return output(hidden(x)); }
};
struct Careful : tn::Module {
  Object inner;
  Tensor late = tn::zeros({2}).requires_grad_();
  Careful() : inner(Linear(2, 2)) { child("inner", inner), parameter("late", late); }
  Tensor forward(Tensor x) { return inner(x); }
};

// The layer that it copies is an option of an encoder.
struct Encoding : tn::Module {
  Object encoder = child(
      "encoder",
      tn::nn::TransformerEncoder(tn::nn::TransformerEncoderLayer(4, 2, {.dim_feedforward = 4}), 1));
  Tensor forward(Tensor x) { return encoder(x); }
};

TEST_P(Layers, WhatAnotherLayerWasMadeWithIsNotMissed) {
  const auto model = tn::make<Encoding>();
  EXPECT_EQ(log_of([&] { model.parameters(); }), "");
}

TEST_P(Layers, WhatWasNeverRegisteredIsReportedOnce) {
  const auto forgetful = tn::make<Forgetful>();
  const Object model = Sequential(forgetful);
  const std::string log = log_of([&] { model.parameters(); });
  EXPECT_NE(
      log.find("Forgetful: its constructor makes a Linear with 2 tensors, a Sequential with 2 "
               "tensors, a tensor [3, 1] that needs a gradient and never registers it, so "
               "that parameters(), state_dict() and to() leave it out; expected child(name, "
               "layer), parameter(name, tensor) or buffer(name, tensor)"),
      std::string::npos)
      << log;
  EXPECT_EQ(log_of([&] { model.parameters(); }), "") << "once";
  EXPECT_EQ(log_of([&] { tn::make<Careful>().parameters(); }), "");
  EXPECT_EQ(log_of([&] { tn::make<Net>(2, Linear(3, 1)).parameters(); }), "");
  const auto late = tn::make<Forgetful>();
  late.child("hidden", late->hidden);
  late.child("more", late->more[0]);
  late.parameter("shift", late->shift);
  EXPECT_EQ(log_of([&] { late.parameters(); }), "") << "registered after the constructor";
}

}  // namespace
