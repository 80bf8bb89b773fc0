// Members of a Module and the entries of its tree: to assign to either is to assign to both.
#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tenon/functional_call.hpp>
#include <tenon/parametrize.hpp>

#include "layers_support.h"
#include "second_device.h"

using tn::Object, tn::Tensor;
using tn::nn::Linear, tn::nn::ReLU, tn::nn::Sequential;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

struct Base : tn::Module {
  Object body = child("body", Linear(4, 3));
};
// Members of a base, in place, from the body of the constructor, and in an array.
struct Net : Base {
  char odd = 1;
  Object head;
  std::array<Object, 2> pair{child("left", Linear(3, 3)), child("right", Linear(3, 3))};
  Tensor mean = buffer("mean", tn::zeros({3}));
  Tensor scale;
  std::optional<Tensor> shift;
  Net() {
    head = child("head", Linear(3, 2));
    scale = parameter("scale", tn::ones({3}));
    shift = parameter("shift", tn::zeros({3}));
  }
  Tensor forward(Tensor x) {
    x = body(x) * scale + *shift;
    if (training()) mean = 0.9 * mean + 0.1 * x.mean(0).detach();
    return head(pair[0](x) + pair[1](x));
  }
};

TEST_P(Layers, AnAssignedLayerIsTheModules) {
  const auto net = tn::make<Net>();
  net.to(device);
  net.eval();
  const Tensor old = net.get_parameter("head.weight");
  for (Object* member : {&net->head, &net->body, &net->pair[1]}) *member = Linear(4, 5);
  net->body = Linear(4, 3);
  net->pair[1] = ReLU();
  net->head = Linear(3, 7);
  EXPECT_EQ(net.state_dict().size(), 9u);
  EXPECT_EQ(net.get_parameter("head.weight").sizes(), (std::vector<int64_t>{7, 3}));
  EXPECT_FALSE(net.get_parameter("head.weight").is_same(old));
  EXPECT_EQ(net.child("right").type_name(), "ReLU");
  EXPECT_NE(net.to_string().find("(head): Linear(in_features=3, out_features=7, bias=True)"),
            std::string::npos)
      << net.to_string();
  net->head = Linear(3, 8);  // each that reads the tree sees it first
  net.to(device);
  EXPECT_EQ(net->head.tensor("weight").device(), device);
  net->head = Linear(3, 8).to(device);
  net(on(tn::ones({2, 4}))).sum().backward();
  net.zero_grad();
  EXPECT_FALSE(net->head.tensor("weight").grad().defined());
  net->head = Linear(3, 8).to(device);
  net.train();
  net->head = Linear(3, 8).to(device);
  net.eval();
  EXPECT_FALSE(net->head.training());
  net->head = Linear(3, 9).to(device);
  EXPECT_EQ(net.named_modules().size(), 5u);
  EXPECT_EQ(net.children()[3], net->head);
  net->head = Object();
  EXPECT_FALSE(net.child("head"));
  EXPECT_EQ(net.parameters().size(), 6u);
}

TEST_P(Layers, AnAssignedBufferIsSavedMovedAndLoaded) {
  const auto net = tn::make<Net>();
  net.to(device);
  const Tensor x = on(tn::randn({5, 4}));
  for (int i = 0; i < 3; ++i) net(x);
  EXPECT_TRUE(net.state_dict()["mean"].equal(net->mean));
  EXPECT_GT(net->mean.abs().sum().item(), 0);
  const auto other = tn::make<Net>();
  other.to(device);
  other(x);
  other.load_state_dict(net.state_dict());
  EXPECT_TRUE(other->mean.equal(net->mean));
  other->mean = other->mean * 2;
  other.to(tn::float64);
  EXPECT_EQ(other->mean.dtype(), tn::float64);
  const auto copy = net.clone();
  EXPECT_TRUE(copy->mean.equal(net->mean));
  copy(x);
  EXPECT_FALSE(copy->mean.equal(net->mean));
  // A buffer with a history moves as well: the graph keeps the one before.
  other->mean = other->mean * other->scale;
  other.to(tn::float32);
  EXPECT_EQ(other->mean.dtype(), tn::float32);
  EXPECT_EQ(other.state_dict()["mean"].dtype(), tn::float32);
}

TEST_P(Layers, AnAssignedParameterAsksForItsGradient) {
  const auto net = tn::make<Net>();
  net->scale = tn::full({3}, 2.0);
  net->shift = tn::full({3}, 1.0);
  EXPECT_TRUE(net.get_parameter("scale").is_same(net->scale));
  EXPECT_TRUE(net.get_parameter("shift").is_same(*net->shift));
  EXPECT_TRUE(net->scale.requires_grad());
  net(tn::ones({2, 4})).sum().backward();
  EXPECT_TRUE(net->scale.grad().defined());
  const Tensor before = net->scale;
  net->scale = net->scale * 2;
  EXPECT_EQ(log_of([&] { net.parameters(); }),
            "tenon warning: Net: a member was assigned what 'scale' of the module cannot be: Net: "
            "parameter 'scale' was made by a recorded call; detach it first; parameters() and "
            "state_dict() have the one before\n");
  EXPECT_EQ(log_of([&] { net.parameters(); }), "");
  EXPECT_TRUE(net.tensor("scale").is_same(before));
  net->scale = tn::tensor({1, 2, 3});
  EXPECT_NE(log_of([&] { net.state_dict(); }).find("cannot be: "), std::string::npos);
  net->scale = Tensor();
  EXPECT_EQ(log_of([&] { EXPECT_FALSE(net.tensor("scale").defined()); }), "");
}

TEST_P(Layers, WhatTakesAnEntrysPlaceIsInTheMember) {
  const auto net = tn::make<Net>();
  net.eval();
  net.child("head") = Linear(3, 7);
  EXPECT_EQ(net->head, net.child("head"));
  for (const auto& [path, module] : net.named_modules()) {
    if (path.empty() || module.type_name() != "Linear") continue;
    net.child(path.c_str()) = Sequential(module, ReLU());
  }
  EXPECT_EQ(net->body.type_name(), "Sequential");
  EXPECT_EQ(net->pair[1].type_name(), "Sequential");
  EXPECT_GE(net(tn::randn({5, 4})).min().item(), 0);
  net.buffer("mean", tn::ones({3}));
  EXPECT_TRUE(net->mean.equal(tn::ones({3})));
  net.child("head", Object());
  EXPECT_FALSE(net->head);
  net->head = Linear(3, 1);
  net.child("head", Linear(3, 2));  // the later of the two
  EXPECT_EQ(net.get_parameter("head.bias").sizes()[0], 2);
  EXPECT_EQ(net->head, net.child("head"));
}

struct Inner : tn::Module {
  Tensor w = parameter("w", tn::ones({2}));
  Tensor forward(Tensor x) { return x * w; }
};
struct Holder : tn::Module {
  tn::nn::ModuleList list = child("list", tn::nn::ModuleList(Linear(2, 2)));
  tn::Made<Inner> made = child("made", tn::make<Inner>());
  Object plain = child("plain", tn::make<Inner>());
  Tensor forward(Tensor x) { return plain(made(list[0](x))); }
};

TEST_P(Layers, AMemberOfAClassOfItsOwnTakesNoOther) {
  const auto holder = tn::make<Holder>();
  EXPECT_NE(log_of([&] { holder.child("list") = Linear(2, 2); }).find("'list' is replaced"),
            std::string::npos);
  EXPECT_EQ(holder->list.type_name(), "ModuleList");
  EXPECT_NE(log_of([&] { holder.child("made") = tn::make<Inner>(); }).find("'made' is replaced"),
            std::string::npos);
  const Object taken = holder.child("made");
  EXPECT_NE(holder->made, taken) << "its T would be another's";
  EXPECT_EQ(log_of([&] {
              holder.child("plain") = Linear(2, 2);
              holder.child("list") = tn::nn::ModuleList(ReLU());
            }),
            "");
  EXPECT_EQ(holder->plain.type_name(), "Linear");
  EXPECT_EQ(holder->list[0].type_name(), "ReLU");
  holder->made = tn::make<Inner>();
  EXPECT_EQ(holder.child("made"), holder->made);
  holder->made->w = tn::zeros({2});
  EXPECT_EQ(holder.get_parameter("made.w").sum().item(), 0);
}

struct Late : tn::Module {
  Object first, second;
  Tensor a = parameter("a", tn::ones({1})), b = parameter("b", a);
  Tensor forward(Tensor x) { return second(first(x)); }
};

TEST_P(Layers, WhatIsRegisteredLaterHasItsMember) {
  const auto late = tn::make<Late>();
  late->first = late.child("first", Linear(2, 3));
  late->second = late.child("second", Linear(3, 4));
  EXPECT_EQ(late.parameters().size(), 5u);
  late->first = Linear(2, 5);
  late->second = Linear(5, 1);
  EXPECT_EQ(late.get_parameter("first.weight").sizes()[0], 5);
  EXPECT_EQ(late.get_parameter("second.weight").sizes()[1], 5);
  EXPECT_EQ(late.clone().get_parameter("second.weight").sizes()[1], 5);
  late->b = tn::zeros({1});  // one tensor of two names, each with its member
  EXPECT_EQ(late.tensor("a").item(), 1);
  EXPECT_EQ(late.tensor("b").item(), 0);
  EXPECT_EQ(late.parameters().size(), 6u);
  late->first = Sequential(Linear(2, 2), late);  // a circle
  EXPECT_NE(log_of([&] { late.parameters(); }).find("a tree of objects has no cycles"),
            std::string::npos);
  late->first = Object();
}

// It has no members, and asks for what it registered by its names.
struct ByName : tn::Module {
  explicit ByName(int64_t width) {
    parameter("scale", tn::ones({width}));
    child("fc", Linear(width, width));
  }
  Tensor forward(Tensor x) { return child("fc")(x) * tensor("scale"); }
};

TEST_P(Layers, WhatIsAskedForByNameNeedsNoMember) {
  const auto model = tn::make<ByName>(3);
  model.to(device);
  const Tensor x = on(tn::ones({1, 3}));
  EXPECT_TRUE(
      tn::functional_call(model, {{"scale", on(tn::zeros({3}))}}, x).equal(on(tn::zeros({1, 3}))));
  EXPECT_EQ(log_of([&] { model.child("fc") = Linear(3, 1).to(device); }), "");
  EXPECT_EQ(model(x).sizes(), (std::vector<int64_t>{1, 3}));
  const auto copy = model.clone();
  EXPECT_TRUE(copy(x).equal(model(x)));
  EXPECT_FALSE(copy.tensor("scale").same_storage(model.tensor("scale")));
}

struct Absolute : tn::Module {
  Tensor forward(Tensor x) { return x.abs(); }
};

TEST_P(Layers, AComputedTensorIsInTheMemberAtEachForward) {
  const auto inner = tn::make<Inner>();
  inner->w = tn::tensor({-1.0, 2.0});
  tn::nn::utils::register_parametrization(inner, "w", tn::make<Absolute>());
  const Tensor original = inner.get_parameter("parametrizations.w.original");
  EXPECT_TRUE(inner(tn::ones({2})).equal(tn::tensor({1.0, 2.0})));
  inner(tn::ones({2})).sum().backward();
  EXPECT_TRUE(original.grad().equal(tn::tensor({-1.0, 1.0})));
  tn::optim::SGD(inner.parameters(), {.lr = 1.0}).step();
  EXPECT_TRUE(inner(tn::ones({2})).equal(tn::tensor({0.0, 1.0})));
  EXPECT_EQ(inner.parameters().size(), 1u);
  inner->w = tn::zeros({2});
  EXPECT_NE(log_of([&] { inner.parameters(); }).find("it is computed from others"),
            std::string::npos);
  tn::nn::utils::remove_parametrizations(inner, "w");
  EXPECT_TRUE(inner->w.equal(tn::tensor({0.0, 1.0})));
  EXPECT_TRUE(inner.get_parameter("w").is_same(inner->w));
}

struct Copies : tn::Module {
  Tensor factor, w;  // the first of them is no entry
  Object b, a;       // one layer of two names, which the body of the constructor gives
  explicit Copies(Tensor f) : factor(f), w(parameter("w", f)) {
    a = child("a", Linear(2, 2));
    b = child("b", a);
  }
  Tensor forward(Tensor x) { return b(a(x)) * w; }
};

TEST_P(Layers, TheMemberIsTheOneThatWasGivenTheEntry) {
  const auto model = tn::make<Copies>(tn::ones({2}));
  model->w = tn::full({2}, 3.0);
  EXPECT_EQ(model.state_dict()["w"][0].item(), 3);
  model->factor = Tensor();
  EXPECT_EQ(model.parameters().size(), 3u);
  model->a = ReLU();
  EXPECT_EQ(model.child("a").type_name(), "ReLU");
  EXPECT_EQ(model.child("b").type_name(), "Linear");
}

struct Odd : tn::Module {
  std::optional<Tensor> shift = parameter("shift", tn::ones({2}));
  std::optional<Object> layer = child("layer", Linear(2, 2));
  std::variant<Object, double> either = child("either", Linear(2, 2));
  std::variant<Tensor, int64_t> number = buffer("number", tn::ones({1}));
  Tensor forward(Tensor x) { return x; }
};

TEST_P(Layers, WhatIsNoMemberOfItsOwnIsReadWithCare) {
  const auto odd = tn::make<Odd>();
  odd->either = 3.5;
  odd->number = int64_t{7};
  EXPECT_EQ(odd.parameters().size(), 5u);
  EXPECT_EQ(odd.tensor("number").item(), 1);
  odd->shift.reset();
  odd->layer.reset();
  EXPECT_EQ(odd.parameters().size(), 3u) << "a layer that is no more is None";
  odd.parameter("shift", tn::zeros({2}));
  EXPECT_EQ(odd.tensor("shift").sum().item(), 0);
  EXPECT_FALSE(odd->shift.has_value());
}

TEST_P(Layers, AForwardSeesWhatWasAssignedBefore) {
  const auto net = tn::make<Net>();
  net->scale = tn::full({3}, 2.0);
  net(tn::ones({2, 4})).sum().backward();
  EXPECT_TRUE(net->scale.grad().defined());
}

TEST_P(Layers, AnAssignmentBehindARefusedOneIsSeen) {
  const auto net = tn::make<Net>();
  for (int i = 0; i < 20; ++i) {
    net->scale = net->scale * 2;
    EXPECT_NE(log_of([&] { net.parameters(); }), "");
    net->scale = tn::full({3}, double(i));
    EXPECT_EQ(net.state_dict()["scale"][0].item(), i);
  }
}

TEST_P(Layers, AMemberThatDoesNotFollowIsSaid) {
  const auto holder = tn::make<Holder>();
  EXPECT_NE(log_of([&] { holder.child("list", Linear(2, 2)); }).find("child 'list' is replaced"),
            std::string::npos);
  const auto net = tn::make<Net>();
  EXPECT_NE(log_of([&] {
              net.parameter("shift", tn::zeros({3}));
            }).find("Net: tensor 'shift' is replaced, and a member"),
            std::string::npos);
}

TEST_P(Layers, WhatTheConstructorAssignedFollows) {
  const auto net = tn::make<Net>();
  EXPECT_EQ(log_of([&] {
              net.parameter("scale", tn::full({3}, 2.0));
              net.parameters();
            }),
            "");
  EXPECT_EQ(net->scale[0].item(), 2);
  net->scale = tn::full({3}, 3.0);
  net.parameter("scale", tn::full({3}, 5.0));
  EXPECT_EQ(net->scale[0].item(), 5);
}

// A word that has the address of an entry's tensor may be no handle: nothing is written there.
struct WithAnAddress : tn::Module {
  std::vector<Tensor> held;
  const void* address = nullptr;
  WithAnAddress() {
    held.push_back(parameter("w", tn::ones({3})));
    address = held[0].get();
  }
  Tensor forward(const Tensor& x) { return x * held[0]; }
};

TEST_P(Layers, AnAddressIsNoMember) {
  const auto net = tn::make<WithAnAddress>();
  const void* const before = net->address;
  EXPECT_ANY_THROW(tn::functional_call(net, {{"w", tn::full({3}, 5.0)}}, tn::ones({3})));
  EXPECT_NE(log_of([&] { net.parameter("w", tn::zeros({3})); }).find("tensor 'w' is replaced"),
            std::string::npos);
  EXPECT_EQ(net->address, before);
  EXPECT_EQ(net->held[0].get(), before);
  EXPECT_EQ(net.forward(tn::ones({3})).sum().item(), 3);
}

struct Normed : tn::Module {
  Tensor w = parameter("w", tn::ones({2}));
  Tensor bias = parameter("bias", Tensor());
  Object shortcut = child("shortcut", Object());
  Normed() { tn::nn::utils::register_parametrization(*this, "w", tn::make<Absolute>()); }
  Tensor forward(Tensor x) {
    x = x * w;
    if (bias.defined()) x = x + bias;
    return shortcut ? shortcut(x) : x;
  }
};

TEST_P(Layers, WhatTheConstructorComputesIsInTheMember) {
  const auto model = tn::make<Normed>();
  {
    const tn::NoGrad guard;
    model.get_parameter("parametrizations.w.original").fill_(-3.0);
  }
  const Tensor y = model(tn::ones({2}));
  EXPECT_TRUE(y.equal(tn::full({2}, 3.0)));
  y.sum().backward();
  EXPECT_TRUE(model.get_parameter("parametrizations.w.original").grad().defined());
  EXPECT_TRUE(model.clone()(tn::ones({2})).equal(tn::full({2}, 3.0)));
}

TEST_P(Layers, WhatIsNoneAtFirstHasItsMember) {
  const auto model = tn::make<Normed>();
  model->bias = tn::ones({2});
  EXPECT_EQ(model.parameters().size(), 2u);
  model.parameter("bias", tn::full({2}, 5.0));
  EXPECT_TRUE(model(tn::ones({2})).equal(tn::full({2}, 6.0)));
  model->shortcut = Linear(2, 1);
  EXPECT_EQ(model.parameters().size(), 4u);
  model.child("shortcut", ReLU());
  EXPECT_EQ(model->shortcut.type_name(), "ReLU");
}

TEST_P(Layers, ACompiledFunctionSeesThatAMemberWasAssigned) {
  const auto net = tn::make<Net>();
  net.to(device);
  net.eval();
  const Tensor x = on(tn::randn({2, 4}));
  auto compiled = tn::compile([net](Tensor y) { return net(y); });
  const tn::NoGrad guard;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(compiled(x).allclose(net(x)));
  net->scale = on(tn::full({3}, 3.0));
  EXPECT_TRUE(compiled(x).allclose(net(x)));
  net->head = Linear(3, 5).to(device);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(compiled(x).allclose(net(x)));
}

TEST_P(Layers, AModuleThatIsGoneIsNotLookedAt) {
  Object kept;
  {
    const auto net = tn::make<Net>();
    kept = net->head;
    net->head = Linear(3, 1);
  }
  EXPECT_EQ(kept.tensor("weight").sizes()[0], 2);
}

}  // namespace
