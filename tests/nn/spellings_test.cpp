// What a program that comes from PyTorch writes: names, overloads and shortcuts beside the plain
// calls.
#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

#include "layers_support.h"

using tn::Object, tn::Tensor;
using tn::nn::Linear, tn::nn::ReLU, tn::nn::Sequential;
using Names = std::vector<std::string>;

namespace {

class Spellings : public testing::Test {
 protected:
  void SetUp() override { tn::load_plugins(); }
};

struct Tied : tn::Module {
  Object table = child("table", tn::nn::Embedding(5, 3));
  Object head = child("head", Linear(3, 5, {.bias = false}));
  Tied() { head.parameter("weight", table.tensor("weight")); }
  Tensor forward(Tensor ids) { return head(table(ids)); }
};

TEST_F(Spellings, AStateHasWhatIsSharedUnderBothNames) {
  const Object shared = Linear(2, 2);
  const Object model = Sequential(shared, ReLU(), shared);
  EXPECT_EQ(names_of(model.state_dict()), (Names{"0.weight", "0.bias", "2.weight", "2.bias"}));
  EXPECT_EQ(names_of(model.named_parameters()), (Names{"0.weight", "0.bias"}));

  const auto tied = tn::make<Tied>();
  const tn::NamedTensors state = tied.state_dict();
  EXPECT_EQ(names_of(state), (Names{"table.weight", "head.weight"}));
  EXPECT_TRUE(state[0].second.same_storage(state[1].second));
  EXPECT_EQ(tied.parameters().size(), 1u);
  const auto other = tn::make<Tied>();
  for (const tn::NamedTensors& part : {state, {state[0]}, {state[1]}}) {
    other->table.tensor("weight").detach().zero_();
    other.load_state_dict(part);  // both names, or either
    EXPECT_TRUE(other->head.tensor("weight").equal(state[0].second));
  }
}

TEST_F(Spellings, AStateFindsItsNames) {
  const Object model = Linear(2, 3);
  const tn::NamedTensors state = model.state_dict();
  EXPECT_TRUE(state["bias"].same_storage(model.tensor("bias")));
  EXPECT_EQ(state[0].first, "weight");
  EXPECT_TRUE(state.contains("weight"));
  EXPECT_FALSE(state.contains("gain"));
  EXPECT_EQ(message_of([&] { state["weigth"]; }),
            "there is no tensor 'weigth' among 2; did you mean 'weight'?");
  const std::vector<std::pair<std::string, Tensor>> plain = state;
  model.load_state_dict(plain);
}

TEST_F(Spellings, WhatALoadPassedOverIsGiven) {
  const Object model = Sequential(Linear(2, 3), tn::nn::BatchNorm1d(3));
  tn::NamedTensors state = model.state_dict();
  state.erase(state.begin());
  state.emplace_back("head.weight", tn::ones({1}));
  const auto [missing, unexpected] = model.load_state_dict(state, /*strict=*/false);
  EXPECT_EQ(missing, (Names{"0.weight"}));
  EXPECT_EQ(unexpected, (Names{"head.weight"}));
  EXPECT_TRUE(model.load_state_dict(model.state_dict()).missing_keys.empty());

  const auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1});
  state = optimizer.state_dict();
  state.emplace_back("more", tn::ones({1}));
  EXPECT_EQ(optimizer.load_state_dict(state, false).unexpected_keys, (Names{"more"}));
}

TEST_F(Spellings, ParametersAreAVectorAndBack) {
  const Object a = Linear(2, 3), b = Linear(2, 3);
  const Tensor row = tn::nn::utils::parameters_to_vector(a.parameters());
  EXPECT_EQ(row.sizes(), (std::vector<int64_t>{9}));
  tn::nn::utils::vector_to_parameters(row, b.parameters());
  EXPECT_TRUE(b.tensor("weight").equal(a.tensor("weight")));
  EXPECT_TRUE(b.tensor("bias").equal(a.tensor("bias")));
  EXPECT_TRUE(b.tensor("bias").is_leaf());
  EXPECT_EQ(message_of([&] { tn::nn::utils::vector_to_parameters(tn::ones({8}), a.parameters()); }),
            "vector_to_parameters: the vector has 1 dimension and 8 elements, expected one "
            "dimension of 9");
  EXPECT_EQ(message_of([] { tn::nn::utils::parameters_to_vector({}); }),
            "parameters_to_vector: there are no parameters");
}

TEST_F(Spellings, AScalerThatIsNotEnabledDoesNothing) {
  const Object model = Linear(2, 1);
  const auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.5});
  tn::GradScaler scaler({.enabled = false});
  const Tensor before = model.tensor("bias").detach().clone();
  const Tensor loss = model(tn::ones({1, 2})).sum();
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  scaler.scale(loss).backward();
  scaler.unscale_(optimizer);
  scaler.step(optimizer);
  scaler.update();
  EXPECT_TRUE(model.tensor("bias").equal(before - 0.5));
  EXPECT_FALSE(scaler.is_enabled());
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_EQ(tn::GradScaler().get_scale(), 65536);
}

TEST_F(Spellings, ASequentialTakesNamesAndLists) {
  const Object model =
      Sequential({{"hidden", Linear(2, 3)}, {"act", ReLU()}, {"out", Linear(3, 1)}});
  EXPECT_EQ(names_of(model.state_dict()),
            (Names{"hidden.weight", "hidden.bias", "out.weight", "out.bias"}));
  const Tensor x = tn::ones({1, 2});
  EXPECT_TRUE(model.clone()(x).equal(model(x)));
  EXPECT_EQ(Sequential({Linear(2, 3), ReLU()}).n_children(), 2u);
  const std::vector<Object> list = {Linear(2, 3), ReLU(), ReLU()};
  EXPECT_EQ(Sequential(list).n_children(), 3u);
  EXPECT_EQ(message_of([] {
              Sequential({{"a", ReLU()}, {"a", ReLU()}});
            }),
            "Sequential: the name 'a' is there twice");
}

TEST_F(Spellings, GroupsOfOptimizersAreReadAndSet) {
  const Object body = Linear(2, 2), head = Linear(2, 1);
  auto optimizer = tn::optim::SGD(body.parameters(), {.lr = 0.1});
  optimizer.add_group(head.parameters(), {{"lr", 0.5}, {"weight_decay", 0.25}});
  for (const auto& group : optimizer.param_groups()) group.set_lr(group.lr() / 2);
  const auto groups = optimizer.param_groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].lr(), 0.05);
  EXPECT_EQ(groups[1].lr(), 0.25);
  EXPECT_EQ(groups[1].option<double>("weight_decay"), 0.25);
  EXPECT_TRUE(groups[1].parameters()[0].is_same(head.tensor("weight")));
  EXPECT_EQ(message_of([&] { optimizer.set_lr(-1); }), "SGD: lr is -1, expected at least 0");
  EXPECT_EQ(message_of([&] { groups[0].set_lr(std::nan("")); }),
            "SGD: lr is nan, expected at least 0");
  EXPECT_EQ(message_of([&] { tn::optim::Optimizer().set_lr(1); }),
            "the object is None: never assigned, or moved from");
  EXPECT_EQ(message_of([&] { tn::optim::Optimizer optimizer(body); }),
            "Linear is a layer, expected an optimizer");
}

TEST_F(Spellings, ModelsAreSavedAndLoadedByTheirPaths) {
  const std::string path =
      testing::TempDir() + "spellings." + std::to_string(getpid()) + ".safetensors";
  const Object a = Linear(2, 3), b = Linear(2, 3);
  tn::save(a, path);
  tn::load(b, path);
  EXPECT_TRUE(b.tensor("weight").equal(a.tensor("weight")));
  EXPECT_EQ(message_of([&] { tn::load(Linear(2, 4), path); }),
            "load_state: 'weight' is [4, 2] here and [3, 2] in the state_dict\n"
            "  'bias' is [4] here and [3] in the state_dict");
  std::remove(path.c_str());
}

TEST_F(Spellings, OpsHavePyTorchsOtherNames) {
  const Tensor x = tn::tensor({-1.0, 0.5, 2.0});
  EXPECT_TRUE(x.clip(0, 1).equal(x.clamp(0, 1)));
  EXPECT_TRUE(tn::clip(x, 0).equal(x.clamp(0, tn::none)));
  EXPECT_TRUE(tn::concat({x, x}).equal(tn::cat({x, x}, 0)));
  EXPECT_TRUE(tn::logsigmoid(x).equal(tn::log_sigmoid(x)));
  EXPECT_TRUE(tn::softmin(x, 0).equal((-x).softmax(0)));
  EXPECT_EQ(tn::ones({2, 3}).unbind(1).size(), 3u);
  EXPECT_EQ(tn::arange(3, tn::float32).dtype(), tn::float32);
  EXPECT_EQ(tn::arange(1, 3, tn::float64).to_vector<double>(), (std::vector<double>{1, 2}));
  const Tensor masks = tn::tensor({{true, false}, {false, true}});
  EXPECT_EQ(masks.dtype(), tn::bool_);
  EXPECT_EQ(masks.to_vector<bool>(), (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(tn::tensor({{{true}, {false}}}).sizes(), (std::vector<int64_t>{1, 2, 1}));
  EXPECT_EQ(message_of([] {
              tn::tensor({{true, false}, {true}});
            }),
            "tensor: rows of different lengths");
}

// Each with its op: the same numbers, for arguments of which no two give one result.
TEST_F(Spellings, OtherNamesAreCallsOfTheirOps) {
  const Tensor x = tn::tensor({{0.25, 0.5}, {0.75, -0.125}}),
               y = tn::tensor({{0.5, 0.25}, {2.0, -3.0}}), up = x + 2, v = x.flatten();
  const std::vector<std::pair<Tensor, Tensor>> pairs = {
      {tn::subtract(x, y), x - y},
      {tn::subtract(x, y, 3), tn::sub(x, y, 3)},
      {tn::rsub(x, y), y - x},
      {tn::rsub(x, 1, 2), tn::sub(1, x, 2)},
      {tn::multiply(2, x), x * 2},
      {tn::divide(x, y), x / y},
      {tn::divide(x, y, "floor"), tn::div(x, y, "floor")},
      {tn::true_divide(x, y), x / y},
      {tn::negative(x), -x},
      {tn::absolute(x), tn::abs(x)},
      {tn::sgn(x), tn::sign(x)},
      {tn::fix(y), tn::trunc(y)},
      {tn::greater(x, y), x > y},
      {tn::greater_equal(x, y), x >= y},
      {tn::less(x, y), x < y},
      {tn::less_equal(x, y), x <= y},
      {tn::not_equal(x, 0.5), x != 0.5},
      {tn::arccos(x), tn::acos(x)},
      {tn::arccosh(up), tn::acosh(up)},
      {tn::arcsin(x), tn::asin(x)},
      {tn::arcsinh(x), tn::asinh(x)},
      {tn::arctan(x), tn::atan(x)},
      {tn::arctan2(x, y), tn::atan2(x, y)},
      {tn::arctanh(x), tn::atanh(x)},
      {tn::expit(x), tn::sigmoid(x)},
      {tn::gammaln(up), tn::lgamma(up)},
      {tn::gammainc(up, 3 * up), tn::igamma(up, 3 * up)},
      {tn::gammaincc(up, 3 * up), tn::igammac(up, 3 * up)},
      {tn::multigammaln(up, 2), tn::mvlgamma(up, 2)},
      {tn::psi(up), tn::digamma(up)},
      {tn::moveaxis(tn::ones({1, 2, 3}), 0, 2), tn::ones({2, 3, 1})},
      {tn::swapaxes(tn::ones({1, 2, 3}), 0, 2), tn::ones({3, 2, 1})},
      {tn::swapdims(x, 0, 1), x.t()},
      {tn::ravel(x), v},
      {tn::argwhere(x > 0), tn::nonzero(x > 0)},
      {tn::msort(y), std::get<0>(tn::sort(y, 0))},
      {tn::concatenate({x, y}, 1), tn::cat({x, y}, 1)},
      {tn::row_stack({x, y}), tn::vstack({x, y})},
      {tn::vdot(v, v), tn::dot(v, v)},
      {tn::ger(v, v), tn::outer(v, v)},
      {tn::chain_matmul({x, y, x}), tn::matmul(tn::matmul(x, y), x)},
  };
  for (size_t i = 0; i < pairs.size(); ++i)
    EXPECT_TRUE(pairs[i].first.equal(pairs[i].second)) << "number " << i;
}

TEST_F(Spellings, ClampIsClip) {
  const Tensor x = tn::tensor({-2.0, 0.5, 3.0});
  EXPECT_TRUE(tn::clip(x, {.max = 1}).equal(tn::clamp(x, tn::none, 1)));
  x.clip_(-1, 1);
  EXPECT_TRUE(x.equal(tn::tensor({-1.0, 0.5, 1.0})));
}

TEST_F(Spellings, AxesChangePlacesByMethods) {
  const Tensor x = tn::ones({2, 3, 4});
  EXPECT_EQ(x.swapaxes(0, 2).sizes(), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(x.swapdims(0, 1).sizes(), (std::vector<int64_t>{3, 2, 4}));
  EXPECT_EQ(x.ravel().sizes(), (std::vector<int64_t>{24}));
}

TEST_F(Spellings, AModuleListTakesLayersInBraces) {
  const std::vector<Object> layers = {Linear(2, 2), ReLU()};
  EXPECT_EQ(tn::nn::ModuleList({Linear(2, 2), ReLU()}).size(), 2u);
  EXPECT_EQ(tn::nn::ModuleList(layers).size(), 2u);
  EXPECT_EQ(tn::nn::ModuleList(std::vector<Object>(layers)).size(), 2u);
  const tn::nn::ModuleList list(layers), copy{list};
  EXPECT_EQ(copy.size(), 2u);
}

TEST_F(Spellings, BytesAndPromotion) {
  const Tensor x = tn::zeros({2, 3}, tn::float64);
  EXPECT_EQ(x.element_size(), 8);
  EXPECT_EQ(x.nbytes(), 48);
  EXPECT_EQ(tn::promote_types(tn::float16, tn::bfloat16), tn::float32);
}

TEST_F(Spellings, ShapesBroadcast) {
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(tn::broadcast_shapes({{2, 1}, {3}, {1, 1, 1}}), (Sizes{1, 2, 3}));
  EXPECT_EQ(tn::broadcast_shapes({{0}, {1}}), (Sizes{0}));
  EXPECT_EQ(tn::broadcast_shapes({{}, {}}), Sizes{});
  EXPECT_EQ(tn::broadcast_shapes({tn::ones({4, 1}).sizes(), Sizes{1, 5}}), (Sizes{4, 5}));
  EXPECT_EQ(message_of([] {
              tn::broadcast_shapes({{2, 3}, {4, 3}});
            }),
            "broadcast_shapes: 4 and 2 meet in dimension -2, expected the same or 1");
  EXPECT_EQ(message_of([] {
              tn::broadcast_shapes({{2, 0}, {3}});
            }),
            "broadcast_shapes: 3 and 0 meet in dimension -1, expected the same or 1");
  EXPECT_EQ(message_of([] { tn::broadcast_shapes({{-1}}); }),
            "broadcast_shapes: a size is -1, expected 0 or more");
}

TEST_F(Spellings, DtypesSayWhatTheyHold) {
  struct Floats {
    tn::Dtype dtype;
    int bits;
    double eps, max, smallest_normal, resolution;
  };
  // PyTorch's numbers.
  for (const Floats& f :
       {Floats{tn::float16, 16, 0.0009765625, 65504, 6.103515625e-05, 1e-3},
        {tn::bfloat16, 16, 0.0078125, 3.3895313892515355e+38, 1.1754943508222875e-38, 1e-2},
        {tn::float32, 32, 1.1920928955078125e-07, 3.4028234663852886e+38, 1.1754943508222875e-38,
         1e-6},
        {tn::float64, 64, 2.220446049250313e-16, 1.7976931348623157e+308, 2.2250738585072014e-308,
         1e-15}}) {
    const tn::finfo found(f.dtype);
    EXPECT_EQ(found.bits, f.bits);
    EXPECT_EQ(found.eps, f.eps);
    EXPECT_EQ(found.max, f.max);
    EXPECT_EQ(found.min, -f.max);
    EXPECT_EQ(found.smallest_normal, f.smallest_normal);
    EXPECT_EQ(found.tiny, f.smallest_normal);
    EXPECT_DOUBLE_EQ(found.resolution, f.resolution);
  }
  EXPECT_EQ(tn::iinfo(tn::uint8).max, 255);
  EXPECT_EQ(tn::iinfo(tn::uint8).min, 0);
  EXPECT_EQ(tn::iinfo(tn::int8).min, -128);
  EXPECT_EQ(tn::iinfo(tn::int16).bits, 16);
  EXPECT_EQ(tn::iinfo(tn::int32).max, 2147483647);
  EXPECT_EQ(tn::iinfo(tn::int64).max, INT64_MAX);
  EXPECT_EQ(tn::iinfo(tn::int64).min, INT64_MIN);
  EXPECT_EQ(message_of([] { tn::finfo{tn::int32}; }),
            "finfo: the dtype is int32, expected one of floats");
  EXPECT_EQ(message_of([] { tn::iinfo{tn::bool_}; }),
            "iinfo: the dtype is bool, expected one of integers");
}

TEST_F(Spellings, ScopesAreOnOrOff) {
  const Tensor w = tn::ones({2}).requires_grad_();
  for (const bool outer : {true, false}) {
    for (const bool inner : {true, false}) {
      const tn::SetGradEnabled a(outer);
      {
        const tn::SetGradEnabled b(inner);
        EXPECT_EQ((w * 2).requires_grad(), inner);
      }
      EXPECT_EQ(tn::grad_enabled(), outer);
    }
  }
  const Tensor x = tn::ones({2, 2});
  for (const bool on : {true, false}) {
    const tn::Autocast scope(tn::cpu, tn::bfloat16, on);
    EXPECT_EQ(tn::autocast_enabled(), on);
    EXPECT_EQ(tn::matmul(x, x).dtype(), on ? tn::bfloat16 : tn::float32);
    {
      const tn::Autocast within(tn::cpu, tn::bfloat16, !on);
      EXPECT_EQ(tn::matmul(x, x).dtype(), on ? tn::float32 : tn::bfloat16);
    }
    EXPECT_EQ(tn::matmul(x, x).dtype(), on ? tn::bfloat16 : tn::float32);
  }
  EXPECT_FALSE(tn::autocast_enabled());
}

TEST_F(Spellings, NormalNumbersHaveTheirMeanAndDeviation) {
  tn::manual_seed(5);
  const Tensor draws = tn::normal(3, 0.5, {40000}, tn::float64);
  // Five standard errors: 0.5 / 200 of the mean, 0.5 / sqrt(2 * 40000) of the deviation.
  EXPECT_NEAR(draws.mean().item<double>(), 3, 5 * 0.0025);
  EXPECT_NEAR(draws.std().item<double>(), 0.5, 5 * 0.0018);
  const Tensor exact = tn::normal(tn::tensor({1.0, 2.0}), tn::zeros({2}));
  EXPECT_EQ(exact.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(message_of([] { tn::normal(0, -1, {2}); }), "normal: std is -1, expected at least 0");
}

}  // namespace
