// What programs of libtorch say, and what Python's dictionaries do: optimizers that are declared, indices
// and gradients by its names, states that are edited, modules that are compiled.
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tenon/averaged_model.hpp>
#include <tenon/distributions.hpp>
#include <tenon/special.hpp>

#include "message_of.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
namespace optim = tn::optim;
using tn::Object;

struct Trainer {
  Object model = nn::Linear(2, 2);
  optim::Adam late;  // None until it is assigned
  optim::SGD optimizer{model.parameters(), 0.1, 0.9};
};

TEST(LibtorchNames, OptimizersAreDeclared) {
  load_all();
  Trainer trainer;
  EXPECT_FALSE(trainer.late.defined());
  trainer.late = optim::Adam(trainer.model.parameters(), {.lr = 1e-3});
  EXPECT_EQ(trainer.late.lr(), 1e-3);
  EXPECT_EQ(trainer.optimizer.type_name(), "SGD");
  optim::AdamW adamw({{trainer.model.parameters(), {{"weight_decay", 0.5}}}}, {.lr = 0.2});
  optim::Optimizer any = adamw;
  any = trainer.optimizer;
  EXPECT_EQ(any.get(), trainer.optimizer.get());
  const auto schedule = optim::StepLR(adamw, 1);
  EXPECT_EQ(adamw.param_groups()[0].lr(), 0.2);
  auto averaging = optim::SWALR(trainer.late, 0.05, {.anneal_epochs = 1});
  trainer.model(tn::ones({1, 2})).sum().backward();
  trainer.late.step();
  averaging.step();
  EXPECT_EQ(trainer.late.lr(), 0.05);
}

TEST(LibtorchNames, OptionsOfGroupsAreNumbers) {
  load_all();
  const auto optimizer = optim::AdamW({tn::ones({1}, {.requires_grad = true})}, {.lr = 0.5});
  auto group = optimizer.param_groups()[0];
  std::ostringstream text;
  text << group["lr"] << " " << group["lr"] * 2 << " " << group["amsgrad"];
  EXPECT_EQ(text.str(), "0.5 1 0");
  const auto lr = group["lr"];
  group["lr"] = lr / 2;
  group["lr"] *= 0.5;
  const double now = group["lr"];
  const float narrow = group["lr"];
  const bool amsgrad = group["amsgrad"];
  const std::vector<double> betas = group["betas"];
  EXPECT_EQ(now, 0.125);
  EXPECT_EQ(narrow, 0.125f);
  EXPECT_FALSE(amsgrad);
  EXPECT_EQ(betas, (std::vector<double>{0.9, 0.999}));
}

TEST(LibtorchNames, StatesAreEdited) {
  load_all();
  const Object norm = nn::BatchNorm1d(2);
  auto state = norm.state_dict();
  // A mean over clients makes floats of counts, too.
  for (auto& [name, value] : state) value = value.to(tn::float32) * 0.5 + 3;
  norm.load_state_dict(state);
  EXPECT_EQ(norm.tensor("num_batches_tracked").dtype(), tn::int64);
  EXPECT_EQ(norm.tensor("num_batches_tracked").item<int64_t>(), 3);
  state.set("new", tn::ones({1}));
  state.set("bias", tn::full({2}, 7));
  EXPECT_EQ(state.erase("weight"), 1u);
  EXPECT_EQ(state.erase("weight"), 0u);
  EXPECT_EQ(state.pop("new").numel(), 1);
  EXPECT_EQ(state.keys(), (std::vector<std::string>{"bias", "running_mean", "running_var",
                                                    "num_batches_tracked"}));
  EXPECT_EQ(state.at("bias").numel() + state.at(std::string("bias")).numel(), 4);
  EXPECT_EQ(state.at(0).first, "bias");
  EXPECT_EQ(state.count("bias") * 10 + state.count("weight"), 10u);
  EXPECT_EQ(state.find("weight"), state.end());
  state.find("running_mean")->second = tn::full({2}, 8);
  EXPECT_EQ(std::as_const(state).find("running_mean")->second.sum().item(), 16);
  EXPECT_EQ(message_of([&] { state.at("baes"); }),
            "there is no tensor 'baes' among 4; did you mean 'bias'?");
  const auto [missing, unexpected] = norm.load_state_dict(state, false);
  EXPECT_EQ(missing, std::vector<std::string>{"weight"});
  expect_near(norm.tensor("bias"), {7, 7});
  EXPECT_EQ(message_of([&] { state.pop("new"); }), "there is no tensor 'new' among 4");
  EXPECT_EQ(message_of([&] { state["new"]; }),
            "there is no tensor 'new' among 4; set(name, tensor) adds one");
  EXPECT_EQ(message_of([&] { norm.state_dict()["new"]; }), "there is no tensor 'new' among 5");
  expect_near(state.insert("new", tn::ones(2)), {1, 1});
  EXPECT_EQ(state.keys().back(), "new");
  EXPECT_EQ(message_of([&] { state.insert("new", Tensor()); }),
            "insert: there is a tensor 'new'; set(name, tensor) replaces it");
}

TEST(LibtorchNames, ContainersAsPointers) {
  load_all();
  const nn::ModuleList list;
  list->push_back(nn::Linear(2, 2));
  list->push_back(nn::ReLU());
  EXPECT_EQ(list->size(), 2u);
  const nn::Sequential model;
  model->push_back(nn::ReLU());
  EXPECT_EQ(model->size(), 1u);
  const nn::ModuleDict modules;
  modules->insert("a", nn::ReLU());
  EXPECT_EQ(modules->named_children()[0].first, "a");
  const nn::ParameterList parameters;
  parameters->append(tn::ones(2));
  EXPECT_EQ(parameters->parameters().size(), 1u);
  const nn::ParameterDict named;
  named->insert("a", tn::ones(2));
  EXPECT_EQ(named->parameters().size(), 1u);
}

TEST(LibtorchNames, DeterminantsAndInverses) {
  load_all();
  const Tensor a = tn::tensor({{2.0, 0.0}, {1.0, 4.0}});
  EXPECT_NEAR(tn::det(a).item(), 8, 1e-6);
  EXPECT_NEAR(a.det().item(), 8, 1e-6);
  EXPECT_NEAR(tn::logdet(a).item(), std::log(8), 1e-6);
  EXPECT_NEAR(a.logdet().item(), std::log(8), 1e-6);
  expect_near(tn::inverse(a), {0.5, 0, -0.125, 0.25});
  expect_near(a.inverse(), {0.5, 0, -0.125, 0.25});
  expect_near(tn::tensor({1.0, 2.0}).ger(tn::tensor({3.0, 4.0})), {3, 4, 6, 8});
}

TEST(LibtorchNames, IndicesAndGradients) {
  load_all();
  const Tensor x = tn::arange(6.0).reshape({2, 3}).requires_grad_();
  expect_near(x.index({0, tn::slice(1, tn::none)}), {1, 2});
  expect_near(x.index({x > 3}), {4, 5});
  expect_near(x.index({tn::tensor({1})}), {3, 4, 5});
  expect_near(x.index({Tensor(), tn::tensor({1})}), {1, 4});
  expect_near(x.index(std::vector<Tensor>{Tensor(), tn::tensor({1})}), {1, 4});
  Tensor z = tn::zeros({2, 3});
  z.index_put_({0, tn::slice(1, 3)}, 5.0);
  z.index_put_({1, 1}, 3, true);
  z.index_put_({1, 1}, 3, true);
  expect_near(z, {0, 5, 5, 0, 6, 0});
  z.data_ptr<float>()[0] = 9;
  EXPECT_EQ(z.index({0, 0}).item<float>(), 9);
  z.index({0}) = tn::ones(3);
  z.index({1, tn::Slice(1)}) = 7;
  z.index({z > 6}) -= 2;
  expect_near(z, {1, 1, 1, 0, 5, 5});
  auto row = z.index({0});  // a variable is another tensor's from here on
  row = tn::zeros(3);
  Tensor copy = z.index({1});
  copy = row;
  expect_near(z, {1, 1, 1, 0, 5, 5});
  {
    const tn::AutoGradMode scope(false);
    EXPECT_FALSE(tn::grad_enabled());
  }
  const Tensor y = x * x * x;
  const Tensor first = tn::grad(y, x, tn::ones_like(y), {.create_graph = true});
  const auto second = tn::autograd::grad({first}, {x}, {tn::ones_like(y)}, true, false);
  expect_near(first, {0, 3, 12, 27, 48, 75});
  expect_near(second[0], {0, 6, 12, 18, 24, 30});
  EXPECT_FALSE(
      tn::autograd::grad({y.sum()}, {z.requires_grad_()}, {}, true, false, true)[0].defined());
  const tn::Device ref("ref");
  expect_near(x.detach().to(ref)[std::vector<int>{1}], {3, 4, 5});
  Tensor there = tn::zeros({2, 2}, ref);
  there[{tn::slice(), std::vector<int64_t>{1}}] = 4;
  expect_near(there, {0, 4, 0, 4});
  const auto gradient = tn::grad(y, x, tn::ones_like(y), {.retain_graph = true});
  expect_near(tn::grad(y, x, gradient, {.retain_graph = true}), {0, 9, 144, 729, 2304, 5625});
  EXPECT_EQ(tn::kLong, tn::int64);
  EXPECT_EQ(tn::zeros({1}, tn::kFloat64).dtype(), tn::float64);
}

struct Two : tn::Module {
  Object fc = child("fc", nn::Linear(3, 2));
  std::tuple<Tensor, Tensor> forward(Tensor x, Tensor y) { return {fc(x), x + y}; }
};

TEST(LibtorchNames, ModulesAreCompiled) {
  load_all();
  const tn::NoGrad no_grad;
  const Tensor x = tn::randn({4, 3});
  const auto model = nn::Sequential(nn::Linear(3, 2), nn::ReLU());
  const auto compiled = tn::compile(model);
  const auto two = tn::make<Two>();
  const auto of_two = tn::compile(two, {.exact = false});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(tn::equal(compiled(x), model(x)));
    const auto [a, b] = of_two(x, x);
    EXPECT_TRUE(tn::allclose(a, two->fc(x)));
    EXPECT_TRUE(tn::equal(b, x + x));
  }
  EXPECT_NE(compiled.describe().find("2 replays"), std::string::npos) << compiled.describe();
}

TEST(LibtorchNames, NewTensorsOnADevice) {
  load_all();
  const tn::Device ref("ref");
  EXPECT_EQ(tn::zeros({2}, ref).device(), ref);
  EXPECT_EQ(tn::ones({2}, ref).device(), ref);
  EXPECT_EQ(tn::rand({2}, ref).device(), ref);
  EXPECT_EQ(tn::randn({2}, ref).device(), ref);
  EXPECT_EQ(tn::empty({2}, ref).device(), ref);
  const Tensor e = tn::empty({2, 3}, {.dtype = tn::float64, .device = ref, .requires_grad = true});
  expect_sizes(e, {2, 3});
  EXPECT_EQ(e.dtype(), tn::float64);
  EXPECT_EQ(e.device(), ref);
  EXPECT_TRUE(e.requires_grad());
}

TEST(LibtorchNames, ProbabilitiesHaveAName) {
  load_all();
  namespace d = tn::distributions;
  const Tensor p = tn::tensor({0.25, 0.75});
  expect_near(d::Categorical({.probs = p}).probs(), {0.25, 0.75});
  expect_near(d::Bernoulli({.probs = p}).mean(), {0.25, 0.75});
  expect_near(d::OneHotCategorical({.probs = p}).mean(), {0.25, 0.75});
  expect_near(d::Binomial(4, {.probs = p}).mean(), {1, 3});
  expect_near(d::Geometric({.probs = p}).probs(), {0.25, 0.75});
  expect_near(d::Bernoulli({.probs = 0.25}).mean(), {0.25});
  expect_near(d::Bernoulli({.logits = 0}).mean(), {0.5});
  expect_near(d::Binomial(tn::tensor({4.0}, tn::float64), {.probs = 0.3}).mean(), {1.2}, 1e-15);
  expect_near(d::RelaxedBernoulli(0.5, {.probs = p}).probs(), {0.25, 0.75});
  expect_near(d::RelaxedOneHotCategorical(0.5, {.probs = p}).probs(), {0.25, 0.75});
  EXPECT_EQ(message_of([] { d::Categorical({.probs = 0.3}); }),
            "Categorical: probs is [], expected at least one class in its last dimension");
  EXPECT_EQ(message_of([] { d::Bernoulli({.probs = 1.5}); }),
            "Bernoulli: probs is 1.5, expected 0 to 1");
  expect_near(d::NegativeBinomial(3, {.probs = p}).mean(), {1, 9});
  expect_near(d::Multinomial(4, {.probs = p}).mean(), {1, 3});
  expect_near(d::ContinuousBernoulli({.probs = p}).probs(), {0.25, 0.75});
}

// Forms that PyTorch's functions have beside others.
TEST(LibtorchNames, OtherFormsOfOps) {
  load_all();
  const Tensor sorted = tn::tensor({1.0, 2.0, 3.0});
  EXPECT_EQ(tn::searchsorted(sorted, 2.5).item<int64_t>(), 2);
  EXPECT_EQ(tn::searchsorted(sorted, 2, {.right = true}).item<int64_t>(), 2);
  EXPECT_EQ(tn::bucketize(2.5, sorted).item<int64_t>(), 2);
  expect_sizes(tn::normal(tn::zeros({3}), 1.0), {3});
  expect_sizes(tn::normal(0.0, tn::ones({2})), {2});
  const Tensor x = tn::arange(8.0).reshape({2, 4});
  const auto pieces = tn::hsplit(x, {1, 3});
  ASSERT_EQ(pieces.size(), 3u);
  expect_near(pieces[1], {1, 2, 5, 6});
  EXPECT_EQ(tn::hsplit(x, 2).size(), 2u);
  expect_sizes(tn::vsplit(x, {1})[1], {1, 4});
  expect_sizes(tn::dsplit(x.unsqueeze(0), {3})[1], {1, 2, 1});
  expect_near(tn::hsplit(sorted, {1})[1], {2, 3});
  expect_near(tn::repeat_interleave(tn::tensor({0, 2, 1})), {1, 1, 2});
  expect_near(tn::sum_to_size(tn::ones({3, 2, 4}), {2, 1}), {12, 12});
  EXPECT_TRUE(tn::sum_to_size(x, {2, 4}).is_same(x));
  EXPECT_EQ(message_of([&] { tn::sum_to_size(x, {3}); }),
            "sum_to_size: x is [2, 4], which [3] does not broadcast to");
  // Beside integers the number keeps its fraction; beside floats it has their dtype, as in PyTorch.
  EXPECT_EQ(tn::searchsorted(tn::tensor({1, 2, 3}), 2.5).item<int64_t>(), 2);
  EXPECT_EQ(tn::bucketize(2.5, tn::tensor({1, 2, 3}), {.right = true}).item<int64_t>(), 2);
  EXPECT_EQ(
      tn::searchsorted(tn::tensor({1.0, 2048.0, 4096.0}, tn::float16), 2048.5).item<int64_t>(), 1);
  EXPECT_EQ(tn::searchsorted(tn::tensor({1, 2}, tn::uint8), 300).item<int64_t>(), 2);
  expect_sizes(tn::hsplit(x, std::vector<int64_t>{1})[1], {2, 3});
  expect_near(tn::special::chebyshev_polynomial_t(tn::tensor({0.5}), tn::tensor({2.0})), {-0.5});
}

TEST(LibtorchNames, MessagesSayWhich) {
  load_all();
  EXPECT_EQ(message_of([] { nn::Conv2d(1, 1, 3).option<int64_t>("padding"); }),
            "Conv2d: option 'padding': a value is ints where C++ code takes an int");
  const auto optimizer = optim::LBFGS({tn::ones({1}, {.requires_grad = true})});
  const auto group = optimizer.param_groups()[0];
  EXPECT_EQ(message_of([&] {
              double n = group["max_eval"];
              (void)n;
            }),
            "LBFGS: option 'max_eval': a value is None where C++ code takes a float");
  EXPECT_FALSE(group.option<std::optional<int64_t>>("max_eval").has_value());
}

// Found with PyTorch's op database.
TEST(LibtorchNames, CornersOfOps) {
  for (tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const int64_t large = int64_t{1} << 40;
    const Tensor i = tn::tensor({1, 2, 3}).to(device, tn::int32);
    expect_near(tn::xlogy(large, i), {0, double(large) * std::log(2), double(large) * std::log(3)},
                1e6);
    expect_near(tn::xlog1py(large, i).narrow(0, 0, 1), {double(large) * std::log(2)}, 1e6);
    for (const int64_t correction : {-2, 0, 1}) {
      const Tensor none = tn::zeros({2, 0}, {.device = device});
      EXPECT_TRUE(
          tn::isnan(tn::var(none, {.dim = 1, .correction = correction})).all().item<bool>());
      EXPECT_TRUE(tn::isnan(tn::std(none, {.correction = correction})).item<bool>());
    }
    // A correction need not be whole: 2 / (3 - 1.5), and of two numbers 0.5 / 0.
    const Tensor three = tn::tensor({1.0, 2.0, 3.0}).to(device).requires_grad_();
    expect_near(three.var({.correction = 1.5}), {4.0 / 3});
    expect_near(tn::std(three, 0, 1.5), {std::sqrt(4.0 / 3)});
    expect_near(std::get<0>(tn::var_mean(three, {.correction = 1.5})), {4.0 / 3});
    expect_near(std::get<0>(tn::std_mean(three, {.correction = 1.5})), {std::sqrt(4.0 / 3)});
    three.var({.correction = 1.5}).backward();
    expect_near(three.grad(), {-4.0 / 3, 0, 4.0 / 3});
    EXPECT_EQ(three.narrow(0, 0, 2).var({.correction = 2.5}).item<double>(), INFINITY);
    const Tensor scores = tn::tensor({0.1, 0.2, 0.3}).to(device);
    const Tensor listed = tn::tensor({1}).to(device), plain = tn::tensor(1).to(device);
    expect_sizes(tn::multi_margin_loss(scores, listed, {.reduction = "none"}), {1});
    expect_sizes(tn::multi_margin_loss(scores, plain, {.reduction = "none"}), {});
    expect_sizes(tn::multi_margin_loss(scores, listed), {});
    const Tensor sign = tn::tensor({1.0, -1.0}).to(device).requires_grad_();
    tn::copysign(tn::tensor({3.0, 4.0}).to(device), sign).sum().backward();
    expect_near(sign.grad(), {0, 0});
  }
  // Products of many factors near 1, by rows, columns and as a whole.
  const Tensor x = tn::rand({20000, 2}) * 1e-4 + 1, exact = x.to(tn::float64);
  const auto off = [](const Tensor& got, const Tensor& want) {
    return (got.to(tn::float64) / want - 1).abs().max().item<double>();
  };
  for (const int64_t rows : {2, 8, 16, 17}) {
    const Tensor few = x.reshape({-1, 1000}).narrow(0, 0, rows);
    EXPECT_LT(off(tn::prod(few, 0), tn::prod(few.to(tn::float64), 0)), 6.1e-8) << rows;
  }
  EXPECT_LT(off(tn::prod(x), tn::prod(exact)), 1e-6);
  EXPECT_LT(off(tn::prod(x, 0), tn::prod(exact, 0)), 1e-6);
  EXPECT_LT(off(tn::prod(x.t(), 1), tn::prod(exact, 0)), 1e-6);
  EXPECT_LT(off(tn::prod(x.t().contiguous(), 1), tn::prod(exact, 0)), 1e-6);
  EXPECT_LT(off(tn::prod(x.reshape({400, 100}), 1), tn::prod(exact.reshape({400, 100}), 1)), 1e-6);
}

// A std::map of tensors is saved, and loaded into a module.
TEST(LibtorchNames, MapsAreStates) {
  load_all();
  const std::map<std::string, Tensor> map = {{"weight", tn::ones({1, 2})},
                                             {"bias", tn::zeros({1})}};
  const Object linear = nn::Linear(2, 1);
  linear.load_state_dict(map);
  EXPECT_EQ(linear(tn::ones({1, 2})).item(), 2);
  std::stringstream stream;
  tn::save(map, stream);
  EXPECT_EQ(tn::load(stream).keys(), (std::vector<std::string>{"bias", "weight"}));
  const std::unordered_map<std::string, Tensor> other(map.begin(), map.end());
  EXPECT_EQ(tn::NamedTensors(other)["weight"].numel(), 2);
}

struct Product : tn::Function<Product> {
  static Tensor forward(tn::Context& context, Tensor a, Tensor b) {
    context.save_for_backward({a, b});
    return a * b;
  }
  static std::array<Tensor, 2> backward(tn::Context& context, Tensor g) {
    const auto saved = context.get_saved_variables();
    return {g * saved[1], g * saved[0]};
  }
};
struct Cube : tn::Function<Cube> {
  static Tensor forward(tn::Context& context, Tensor x) {
    context.save_for_backward(x, x * x);
    return x * x * x;
  }
  static Tensor backward(tn::Context& context, Tensor g) {
    const auto [x, square] = tn::unpack<2>(context.saved_tensors());
    return g * (square + 2 * x * x);
  }
};
struct Square : tn::Function<Square> {
  static Tensor forward(tn::Context& context, Tensor x) {
    context.save_for_backward(x);
    return x * x;
  }
  static Tensor backward(tn::Context& context, Tensor g) {
    return 2 * g * context.get_saved_variables().at(0);
  }
};

TEST(LibtorchNames, FunctionsSaveForBackward) {
  load_all();
  const Tensor x = tn::tensor({2.0, 3.0}).requires_grad_();
  expect_near(tn::grad(Product::apply(x, x.detach()).sum(), x), {2, 3});
  expect_near(tn::grad(Cube::apply(x).sum(), x), {12, 27});
  expect_near(tn::grad(Square::apply(x).sum(), x), {4, 6});
}

// Where PyTorch takes tensors without a list.
TEST(LibtorchNames, TensorsStandOneBehindTheOther) {
  load_all();
  const Tensor a = tn::arange(6.0).reshape({2, 3}), b = tn::ones({3, 2});
  expect_near(tn::einsum("ij,jk->ik", a, b), {3, 3, 12, 12});
  expect_near(tn::einsum(std::string("j,jk->k"), a[1], b), {12, 12});
  expect_near(tn::einsum("ij->i", a), {3, 12});
  EXPECT_EQ(tn::block_diag(a, b, a[0]).sizes(), (std::vector<int64_t>{6, 8}));
  EXPECT_EQ(tn::cartesian_prod(a[0], b[0]).sizes(), (std::vector<int64_t>{6, 2}));
  const auto [row, column] = tn::broadcast_tensors(tn::ones({3}), tn::ones({2, 1}));
  EXPECT_EQ(row.sizes(), column.sizes());
  EXPECT_EQ(nn::utils::rnn::pad_sequence({a[0], a[1][{tn::slice(0, 2)}]}, true).sizes(), a.sizes());
  const nn::utils::rnn::PackedSequence packed = nn::utils::rnn::pack_sequence({b, b});
  EXPECT_EQ(std::get<1>(nn::utils::rnn::pad_packed_sequence(packed)).sum().item(), 6);
}

}  // namespace
