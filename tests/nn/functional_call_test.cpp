// A call with other tensors in the place of a model's own.
#include "layers_support.h"

#include <tenon/checkpoint_call.hpp>
#include <tenon/functional_call.hpp>

#include <memory>

using tn::Object, tn::Tensor;
using tn::nn::Linear, tn::nn::Sequential;

namespace {

class FunctionalCall : public testing::Test {
 protected:
  void SetUp() override { tn::load_plugins(); }
};

// w of one number: a step of gradient descent on (w x - y)², and the loss behind it.
TEST_F(FunctionalCall, GradientsGoThroughAStep) {
  const Object model = Linear(1, 1, {.bias = false});
  const Tensor w = model.tensor("weight");
  {
    const tn::NoGrad scope;
    w.fill_(0.5);
  }
  const Tensor x = tn::full({1, 1}, 2.0), y = tn::full({1, 1}, 3.0);
  const Tensor loss = (model(x) - y).square().sum();
  const Tensor fast = w - 0.1 * tn::grad(loss, w, {.create_graph = true});
  (tn::functional_call(model, {{"weight", fast}}, x) - y).square().sum().backward();
  // w' = w - 0.2 x (w x - y) = 1.3, and d/dw (w' x - y)² = 2 x (w' x - y) (1 - 0.2 x²)
  EXPECT_NEAR(fast.item<double>(), 1.3, 1e-6);
  EXPECT_NEAR(w.grad().item<double>(), 2 * 2 * (1.3 * 2 - 3) * (1 - 0.2 * 4), 1e-6);
}

TEST_F(FunctionalCall, TheModelIsAsBefore) {
  const Object model = Sequential(Linear(2, 3), tn::nn::BatchNorm1d(3));
  const tn::NamedTensors before = model.named_parameters();
  const Tensor mean = tn::zeros({3});
  const Tensor y = tn::functional_call(
      model, {{"0.weight", tn::zeros({3, 2})}, {"1.running_mean", mean}}, tn::ones({4, 2}));
  EXPECT_TRUE(y.equal(tn::zeros({4, 3})));
  EXPECT_GT(mean.abs().sum().item<float>(), 0);  // what is given is what forward writes to
  EXPECT_EQ(model.get_buffer("1.running_mean").abs().sum().item<float>(), 0);
  EXPECT_ANY_THROW(tn::functional_call(model, {{"0.weight", tn::zeros({5, 5})}}, tn::ones({4, 2})));
  const tn::NamedTensors after = model.named_parameters();
  ASSERT_EQ(names_of(after), names_of(before));
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_TRUE(after[i].second.is_same(before[i].second)) << after[i].first;
    EXPECT_TRUE(after[i].second.requires_grad());
  }
}

TEST_F(FunctionalCall, WhatIsSharedIsAnotherUnderAllNames) {
  const Object shared = Linear(2, 2, {.bias = false}), other = Linear(2, 2, {.bias = false});
  other.parameter("weight", shared.tensor("weight"));
  const Object model = Sequential(shared, other, shared);
  const Tensor twice = 2 * tn::eye(2);
  EXPECT_TRUE(tn::functional_call(model, {{"1.weight", twice}}, tn::eye(2)).equal(8 * tn::eye(2)));
  EXPECT_TRUE(tn::functional_call(model, {{"2.weight", twice}}, tn::eye(2)).equal(8 * tn::eye(2)));
}

TEST_F(FunctionalCall, TensorsOfTheModelMayChangePlaces) {
  const Object a = Linear(2, 2, {.bias = false}), b = Linear(2, 2, {.bias = false});
  const Object model = Sequential(a, b);
  const Tensor w0 = a.tensor("weight"), w1 = b.tensor("weight"), x = tn::randn({3, 2});
  const Tensor y = tn::functional_call(model, {{"0.weight", w1}, {"1.weight", w0}}, x);
  EXPECT_TRUE(y.allclose(tn::matmul(tn::matmul(x, w1.t()), w0.t())));
  EXPECT_TRUE(tn::functional_call(model, {{"0.weight", w1}, {"1.weight", tn::eye(2)}}, x)
                  .allclose(tn::matmul(x, w1.t())));
  EXPECT_TRUE(a.tensor("weight").is_same(w0));
}

struct Sum : tn::Module {
  Object inner = child("inner", Linear(2, 2, {.bias = false}));
  Tensor forward(Tensor x) {
    Tensor all = inner(x).sum() * 0;
    for (const Tensor& p : inner.parameters()) all = all + p.sum();
    return all;
  }
};

TEST_F(FunctionalCall, ALeafIsAParameterOfTheCall) {
  const auto model = tn::make<Sum>();
  const Tensor w = tn::ones({2, 2}).requires_grad_();
  EXPECT_EQ(tn::functional_call(model, {{"inner.weight", w}}, tn::ones({1, 2})).item<float>(), 4);
}

TEST_F(FunctionalCall, SeveralResults) {
  const Object lstm = tn::nn::LSTM(2, 3);
  const Tensor x = tn::randn({4, 1, 2});
  const auto [y, h, c] = tn::functional_call<3>(lstm, {{"weight_ih_l0", tn::zeros({12, 2})}}, x);
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{4, 1, 3}));
  const tn::nn::LSTMLayer layer = lstm;
  const auto [z, h1, c1] = tn::functional_call(layer, {{"weight_ih_l0", tn::zeros({12, 2})}}, x);
  EXPECT_TRUE(z.equal(y));
}

struct Scaled : tn::Module {
  Object inner = child("inner", Linear(2, 2));
  Object scales = child("scales", tn::nn::ParameterDict({{"out", tn::ones({2})}}));
  Tensor shift = parameter("shift", tn::zeros({2}));
  std::tuple<Tensor, Tensor> forward(Tensor x, int64_t times = 1) {
    return {inner(x) * scales.tensor("out") * times + shift, x};
  }
};

TEST_F(FunctionalCall, ModulesGiveWhatTheyGive) {
  const auto model = tn::make<Scaled>();
  const auto [y, x] = tn::functional_call(
      model, {{"inner.bias", tn::ones({2})}, {"scales.out", tn::full({2}, 2.0)}}, tn::zeros({1, 2}),
      3);
  EXPECT_TRUE(y.equal(tn::full({1, 2}, 6.0)));
  EXPECT_EQ(x.sizes(), y.sizes());
}

TEST_F(FunctionalCall, AModulesOwnTensors) {
  const auto model = tn::make<Scaled>();
  const Tensor before = model->shift, x = tn::zeros({1, 2}), w = tn::tensor({1.0, 2.0});
  w.requires_grad_();
  const auto [y, same] = tn::functional_call(model, {{"shift", w * 3}, {"inner.bias", w}}, x);
  EXPECT_TRUE(y.equal(tn::tensor({{4.0, 8.0}})));
  EXPECT_TRUE(model->shift.is_same(before));
  EXPECT_TRUE(model.tensor("shift").is_same(before));
  y.sum().backward();
  EXPECT_TRUE(w.grad().equal(tn::full({2}, 4.0)));
  EXPECT_FALSE(before.grad().defined());
  EXPECT_ANY_THROW(tn::functional_call(model, {{"shift", tn::zeros({7})}}, x));
  EXPECT_TRUE(model->shift.is_same(before)) << "after a forward that throws";
}

// As a class of libtorch is written.
struct Assigned : tn::Module {
  Tensor w, mean;
  Assigned() {
    w = register_parameter("w", tn::ones({1}));
    mean = register_buffer("mean", tn::zeros({1}));
  }
  Tensor forward(Tensor x) {
    mean = mean + 1;
    return x * w + mean;
  }
};

TEST_F(FunctionalCall, MembersThatTheConstructorAssigned) {
  const auto model = tn::make<Assigned>();
  const Tensor before = model->w, x = tn::ones({1}), w = tn::full({1}, 5.0).requires_grad_();
  const Tensor y = tn::functional_call(model, {{"w", w * 2}, {"mean", tn::full({1}, 3.0)}}, x);
  EXPECT_EQ(y.item(), 10 + 4);
  y.backward();
  EXPECT_EQ(w.grad().item(), 2);
  EXPECT_TRUE(model->w.is_same(before));
  EXPECT_EQ(model->mean.item(), 0);
  EXPECT_EQ(model.state_dict()["mean"].item(), 0);
  EXPECT_EQ(model(x).item(), 1 + 1);
}

// It asks for a tensor that its layer has, too.
struct Named : tn::Module {
  Object inner = child("inner", Linear(1, 1));
  Named() { parameter("w", inner.tensor("bias")); }
  Tensor forward(Tensor x) { return inner(x) + tensor("w"); }
};

TEST_F(FunctionalCall, WhatOnlyItsNameReads) {
  const auto model = tn::make<Named>();
  const tn::NamedTensors given = {{"w", tn::full({1}, 5.0)}, {"inner.weight", tn::ones({1, 1})}};
  EXPECT_EQ(tn::functional_call(model, given, tn::ones({1, 1})).item(), 1 + 5 + 5);
  const Tensor held = model.tensor("w");  // as a member of the class may
  EXPECT_NE(message_of([&] {
              tn::functional_call(model, given, tn::ones({1, 1}));
            }).find("functional_call: 'w' of Named is in no member of Named that is known"),
            std::string::npos);
  EXPECT_TRUE(model.tensor("w").is_same(held));
  EXPECT_TRUE(model->inner.tensor("bias").is_same(held));
}

// Its arguments cannot be copied.
struct Lonely : tn::Module {
  Tensor shift = parameter("shift", tn::zeros({2}));
  explicit Lonely(std::unique_ptr<int>) {}
  Tensor forward(Tensor x) { return x + shift; }
};

// What it registers is in no member.
struct Listed : tn::Module {
  std::vector<Tensor> shifts;
  Object inner = child("inner", Linear(2, 2));
  Listed() { shifts.push_back(parameter("shift", tn::zeros({2}))); }
  Tensor forward(Tensor x) { return inner(x) + shifts[0]; }
};

struct Recomputed : tn::Module {
  Object inner = child("inner", Linear(2, 2));
  Tensor forward(Tensor x) { return tn::checkpoint_call(inner, x); }
};

TEST_F(FunctionalCall, Refuses) {
  const auto model = tn::make<Scaled>();
  const Tensor x = tn::zeros({1, 2});
  const auto refused = [&](const char* name, const Tensor& tensor) {
    return message_of([&] { tn::functional_call(model, {{name, tensor}}, x); });
  };
  EXPECT_EQ(refused("inner.wieght", x),
            "functional_call: 'inner.wieght' of Scaled is no parameter or buffer; did you mean "
            "'inner.weight'?");
  EXPECT_EQ(refused("inner.bias", {}),
            "functional_call: 'inner.bias' of Scaled comes without a tensor");
  const std::string members =
      "is in no member of Listed that is known, so that forward may not see another tensor; "
      "expected one member Tensor w = parameter(\"w\", ...) for it, in no container; of several "
      "use "
      "an nn::ParameterList";
  const auto listed = tn::make<Listed>();
  EXPECT_EQ(message_of([&] {
              tn::functional_call(listed, {{"shift", x}}, x);
            }),
            "functional_call: 'shift' of Listed " + members);
  const Tensor w = model->inner.tensor("weight");
  listed->inner.parameter("weight", w);
  listed.parameter("shift", w);  // of the layer, too
  EXPECT_EQ(
      message_of([&] {
        tn::functional_call(listed, {{"inner.weight", x}}, x);
      }),
      "functional_call: 'inner.weight' of Listed and 'shift' are one tensor, which " + members);
  const Object tied = Sequential(model->inner, model->inner);
  EXPECT_EQ(message_of([&] {
              tn::functional_call(tied, {{"0.weight", w}, {"1.weight", x}}, x);
            }),
            "functional_call: '1.weight' of Sequential and '0.weight' are one tensor, and two are "
            "given");
  EXPECT_EQ(message_of([&] {
              tn::functional_call(tied, {{"0.bias", w}, {"0.bias", x}}, x);
            }),
            "functional_call: '0.bias' of Sequential is given twice");
  EXPECT_EQ(message_of([&] {
              tn::functional_call(tied, {{"0..bias", x}}, x);
            }),
            "functional_call: '0..bias' of Sequential is no parameter or buffer; did you mean "
            "'0.bias'?");
  EXPECT_EQ(message_of([&] { tn::functional_call(Object(), {}, x); }),
            "functional_call: the model is None");
  const auto recomputed = tn::make<Recomputed>();
  EXPECT_EQ(message_of([&] {
              tn::functional_call(recomputed, {{"inner.bias", tn::zeros({2})}}, x);
            }),
            "Recomputed: checkpoint_call: it is called within functional_call, whose tensors "
            "backward would no longer find");
  const auto lonely = tn::make<Lonely>(std::make_unique<int>(1));
  EXPECT_EQ(message_of([&] { lonely.clone(); }),
            "Lonely: clone: Lonely was made without a factory and has no method clone() -> object "
            "that copies it");
}

}  // namespace
