// What users of PyTorch and of libtorch write first: names, results and modules as they have them.
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <tenon/checkpoint_call.hpp>
#include <tenon/containers.hpp>
#include <tenon/data.hpp>
#include <tenon/dlpack.hpp>
#include <tenon/module_hooks.hpp>
#include <tenon/parametrize.hpp>

#include "message_of.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
namespace optim = tn::optim;
using tn::Object;

// A part of a network that has methods of its own and no forward, by the names of register_module.
struct Part : tn::Module {
  Object fc = register_module("fc", nn::Linear(3, 2));
  Tensor scale = register_parameter("scale", tn::ones({2}));
  Tensor mean = register_buffer("mean", tn::zeros({2}));
  Tensor scaled(Tensor x) { return (fc(x) - mean) * scale; }
};
struct Whole : tn::Module {
  tn::Made<Part> part = child("part", tn::make<Part>());
  Tensor forward(Tensor x) { return part->scaled(x); }
};

TEST(FirstGuess, APartNeedsNoForward) {
  load_all();
  const auto net = tn::make<Whole>();
  EXPECT_EQ(net.state_dict().keys(), (std::vector<std::string>{"part.scale", "part.mean",
                                                               "part.fc.weight", "part.fc.bias"}));
  const Tensor x = tn::randn({4, 3});
  EXPECT_TRUE(tn::equal(net.clone()(x), net(x)));
  EXPECT_TRUE(net->part->mean.is_same(net.child("part").tensor("mean")));
  EXPECT_EQ(net.parameters().size(), 3u);
  expect_error([&] { net.child("part")(x); }, "Part has no method 'forward'");
}

// The results of a call go to variables that are there.
struct Step : tn::Module {
  nn::LSTMCellLayer cell = child("cell", nn::LSTMCellLayer(nn::LSTMCell(3, 4)));
  auto forward(Tensor x) { return cell.call<2>(x); }
};
TEST(FirstGuess, ResultsAreTied) {
  load_all();
  const Object cell = nn::LSTMCell(3, 4);
  const Tensor x = tn::ones({1, 3});
  Tensor h, c;
  std::tie(h, c) = cell.call<2>(x);
  const auto [again, second] = cell.call<2>(x, h, c);
  std::tie(h, c) = cell.call<2>(x, h, c);
  EXPECT_TRUE(tn::equal(h, again) && tn::equal(c, second));
  std::tie(h, c) = tn::randn({6, 2}).unbind<2>(1);
  expect_sizes(h, {6});
  std::tie(h, c) = tn::randn({6, 2}).chunk<2>(0);
  expect_sizes(c, {3, 2});
  int n = 0;
  for (const Tensor& each : cell.call<2>(x)) n += int(each.numel());
  EXPECT_EQ(n, 8);
  expect_sizes(cell.call<2>(x)[1], {1, 4});
  std::tie(h, c) = tn::make<Step>()(x);
  expect_sizes(h, {1, 4});
}

// What forward gives.
struct Maybe : tn::Module {
  std::optional<double> forward(Tensor x) {
    if (x.numel() > 2) return {};
    return 2.5;
  }
};
struct Kept : tn::Module {
  Tensor scale = parameter("scale", tn::ones({2}));
  const Tensor& forward(Tensor) { return scale; }
};
struct Mixed : tn::Module {
  std::tuple<Tensor, std::optional<Tensor>, int64_t, bool> forward(Tensor x) {
    return {x, std::nullopt, 3, true};
  }
};
TEST(FirstGuess, ResultsMayBeNumbersNoneAndReferences) {
  load_all();
  EXPECT_EQ(tn::make<Maybe>()(tn::ones({2})), 2.5);
  EXPECT_EQ(tn::make<Maybe>()(tn::ones({3})), std::nullopt);
  const auto kept = tn::make<Kept>();
  EXPECT_TRUE(kept(tn::ones({1})).is_same(kept->scale));
  const auto [x, none, n, truth] = tn::make<Mixed>()(tn::ones({1}));
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(n, 3);
  EXPECT_TRUE(truth);
}

struct Exponential : tn::Module {
  Tensor forward(Tensor x) { return tn::exp(x); }
  Tensor right_inverse(Tensor y) { return tn::log(y); }
};
TEST(FirstGuess, ARightInverseIsAMember) {
  load_all();
  const Object layer = nn::Linear(2, 2, false);
  layer.tensor("weight").detach().fill_(2.0);
  nn::utils::register_parametrization(layer, "weight", tn::make<Exponential>());
  expect_near(layer.tensor("weight").detach().to(tn::float64), {2, 2, 2, 2}, 1e-6);
  expect_near(layer.get_parameter("parametrizations.weight.original").detach().to(tn::float64),
              std::vector<double>(4, std::log(2.0)), 1e-6);
  // What is computed is not set: it would be a parameter that nothing reads.
  const std::string refusal =
      "Linear: 'weight' is computed from other tensors: set these, or remove what computes it "
      "(remove_parametrizations) first";
  EXPECT_EQ(message_of([&] { layer.parameter("weight", tn::ones({2, 2})); }), refusal);
  EXPECT_EQ(message_of([&] { layer.set("weight", tn::ones({2, 2})); }), refusal);
  nn::utils::remove_parametrizations(layer);
  layer.parameter("weight", tn::ones({2, 2}));
  expect_near(layer(tn::ones({1, 2})), {2, 2});
}

struct Pairs {
  Tensor x = tn::arange(0, 12).reshape({6, 2}), y = tn::arange(0, 6);
  size_t size() const { return 6; }
  auto get(int64_t i) const { return std::tuple(x[i], y[i]); }
};
struct Rows {
  Tensor x = tn::arange(0, 12).reshape({6, 2});
  size_t size() const { return 6; }
  auto get(int64_t i) const { return x[i]; }
};
TEST(FirstGuess, SamplesAreElementsOfTensors) {
  load_all();
  int n = 0;
  for (auto& [x, y] : tn::data::DataLoader(Pairs(), {.batch_size = 3})) {
    expect_sizes(x, {3, 2});
    expect_near(y, n == 0 ? std::vector<double>{0, 1, 2} : std::vector<double>{3, 4, 5});
    ++n;
  }
  for (const Tensor& x : tn::data::DataLoader(Rows(), {.batch_size = 2})) expect_sizes(x, {2, 2});
  EXPECT_EQ(n, 2);
}

// A struct is the result of a forward, by the names of its fields.
struct Output {
  Tensor y;
  std::optional<Tensor> loss;
  std::vector<Tensor> hidden;
  double scale;
  int64_t n = 3;
};
struct Structured : tn::Module {
  Object fc = child("fc", nn::Linear(2, 2));
  Output forward(Tensor x, std::optional<Tensor> target) {
    const Tensor y = fc(x);
    Output out{.y = y, .hidden = {x, y}, .scale = 0.5};
    if (target) out.loss = tn::mse_loss(y, *target);
    return out;
  }
};
struct Around : tn::Module {
  tn::Made<Structured> inner = child("inner", tn::make<Structured>());
  Tensor forward(Tensor x) { return inner(x).y; }
};

TEST(FirstGuess, AResultMayBeAStruct) {
  load_all();
  const auto net = tn::make<Structured>();
  const Tensor x = tn::randn({3, 2});
  const Output out = net(x);
  EXPECT_FALSE(out.loss.has_value());
  EXPECT_EQ(out.hidden.size(), 2u);
  EXPECT_TRUE(out.hidden[0].is_same(x));
  EXPECT_EQ(out.scale, 0.5);
  EXPECT_EQ(out.n, 3);
  const auto [y, loss, hidden, scale, n] = net(x, x);
  loss->backward();
  EXPECT_TRUE(net->fc.tensor("weight").grad().defined());
  EXPECT_EQ(net.method_schema("forward"),
            "forward(Tensor x0, Tensor? x1=None) -> (Tensor, Tensor?, Tensor[], float, int)");
  EXPECT_TRUE(tn::equal(net.clone()(x).y, y));
  const auto around = tn::make<Around>();
  EXPECT_TRUE(tn::equal(around(x), around->inner->fc(x)));
  size_t seen = 0;
  const auto hook =
      net.register_forward_hook([&](Object&, const std::vector<Tensor>&,
                                    const std::vector<Tensor>& outputs) { seen = outputs.size(); });
  net(x);
  EXPECT_EQ(seen, 4u);  // y, no loss, two of the list
  // Its tensors have the gradients that they have without.
  const Tensor leaf = x.clone().requires_grad_();
  const Output again = tn::checkpoint_call(net, leaf, x);
  (again.y.sum() + *again.loss).backward();
  const Tensor plain = x.clone().requires_grad_();
  const Output direct = net(plain, x);
  (direct.y.sum() + *direct.loss).backward();
  EXPECT_TRUE(tn::equal(leaf.grad(), plain.grad()));
}

// Hooks are removed by what registering them gave, which is their number, too.
TEST(FirstGuess, HooksHaveHandles) {
  load_all();
  const Tensor x = tn::ones({2}, {.requires_grad = true});
  int calls = 0;
  const auto of_tensor = x.register_hook([&](Tensor g) {
    ++calls;
    return g * 2;
  });
  x.sum().backward();
  of_tensor.remove();
  of_tensor.remove();  // without effect
  x.sum().backward();
  EXPECT_EQ(calls, 1);
  expect_near(x.grad(), {3, 3});

  const Object fc = nn::Linear(2, 2);
  const tn::ForwardHook behind =
      fc.register_forward_hook([&](Object&, Tensor, Tensor) { ++calls; });
  const auto before = fc.register_forward_pre_hook([&](Object&, Tensor) { ++calls; });
  const auto gradients = fc.register_full_backward_hook([&](Object&, Tensor, Tensor) { ++calls; });
  fc(x.unsqueeze(0)).sum().backward();
  EXPECT_EQ(calls, 4);
  behind.remove();
  fc.remove_forward_hook(before);
  before.remove();
  gradients.remove();
  gradients.remove();
  fc(x.unsqueeze(0)).sum().backward();
  EXPECT_EQ(calls, 4);
  expect_error([&] { fc.remove_forward_hook(behind); }, "Linear has no forward hook");
  tn::ForwardHook().remove();
  tn::TensorHook().remove();
}

TEST(FirstGuess, ListsOfTheProgramAreIndicesAndTensors) {
  load_all();
  const Tensor x = tn::arange(6.0).reshape({2, 3});
  const std::vector<int64_t> rows = {1, 0, 1};
  expect_near(x[rows], {3, 4, 5, 0, 1, 2, 3, 4, 5});
  expect_near(x[{tn::slice(), std::vector<int>{2, -1, 0}}], {2, 2, 0, 5, 5, 3});
  x[std::vector<int>{0}] = 7;
  expect_near(x, {7, 7, 7, 3, 4, 5});
  expect_error([&] { x[std::vector<int>{2}]; }, "index");
  const std::array<double, 3> doubles = {1, 2, 3};
  EXPECT_EQ(tn::tensor(doubles).dtype(), tn::float64);
  EXPECT_EQ(tn::tensor(std::array<bool, 2>{true, false}).dtype(), tn::bool_);
  const Tensor t =
      tn::tensor(std::span<const double>(doubles), {.dtype = tn::float32, .requires_grad = true});
  EXPECT_EQ(t.dtype(), tn::float32);
  EXPECT_TRUE(t.requires_grad());
  expect_near(tn::tensor(doubles, tn::float16), {1, 2, 3});
  EXPECT_EQ(tn::tensor(std::array<int, 0>{}).numel(), 0);
}

TEST(FirstGuess, ContainersAreWalked) {
  load_all();
  const nn::ModuleDict modules({{"fc", nn::Linear(2, 2)}, {"act", nn::ReLU()}});
  std::string names;
  for (const auto& [name, module] : modules) names += name + " " + module.type_name() + " ";
  for (auto [name, module] : modules) names += name + " ";
  EXPECT_EQ(names, "fc Linear act ReLU fc act ");
  const nn::ParameterList list({tn::ones({2}), tn::ones({3})});
  int64_t n = 0;
  for (const Tensor& p : list) n += p.numel();
  for (Tensor p : list) list.append(p);  // of what was there when the loop began
  EXPECT_EQ(n, 5);
  EXPECT_EQ(list.size(), 4u);
  const nn::ParameterDict named({{"u", tn::ones({2})}});
  for (auto& [name, tensor] : named) EXPECT_TRUE(name == "u" && tensor.is_same(named["u"]));
  for (const auto& entry : nn::ModuleDict()) FAIL() << entry.first;
}

TEST(FirstGuess, NulloptIsNone) {
  load_all();
  const Tensor x = tn::randn({1, 2, 5, 5}), w = tn::randn({4, 2, 3, 3});
  EXPECT_TRUE(tn::equal(tn::conv2d(x, w, std::nullopt, 1, 1), tn::conv2d(x, w, tn::none, 1, 1)));
  Tensor t = std::nullopt;
  EXPECT_FALSE(t.defined());
  t = x;
  t = std::nullopt;
  EXPECT_FALSE(t.defined());
  const std::optional<Tensor> empty = std::nullopt;
  EXPECT_FALSE(empty.has_value());
  // F.unfold.
  EXPECT_TRUE(tn::equal(tn::unfold(x, 3, {.padding = 1}), tn::im2col(x, 3, {.padding = 1})));
  EXPECT_TRUE(tn::equal(tn::unfold(x, {2, 3}), tn::im2col(x, {2, 3})));
  expect_sizes(tn::unfold(x, 2, 3, 1), {1, 2, 3, 5, 3});
}

TEST(FirstGuess, ATableThatIsThereIsAnEmbedding) {
  load_all();
  tn::manual_seed(0);
  const Tensor drawn = tn::rand({1});
  tn::manual_seed(0);
  const Tensor table = tn::arange(12.0).reshape({4, 3}), index = tn::tensor({{3, 1}});
  const Object fixed = nn::embedding_from_pretrained(table);
  EXPECT_TRUE(tn::equal(tn::rand({1}), drawn));
  EXPECT_FALSE(fixed.tensor("weight").requires_grad());
  EXPECT_TRUE(fixed.tensor("weight").same_storage(table));
  EXPECT_TRUE(tn::equal(fixed(index), table[index]));
  const Object trained = nn::embedding_from_pretrained(table, false, {.padding_idx = 1});
  trained(index).sum().backward();
  expect_near(trained.tensor("weight").grad(), {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1});
  EXPECT_FALSE(table.requires_grad());
  const Object bag = nn::embedding_bag_from_pretrained(table, true, {.mode = "sum"});
  expect_near(bag(index), {12, 14, 16});
  EXPECT_EQ(message_of([] { nn::embedding_from_pretrained(tn::ones({3})); }),
            "from_pretrained: the table is float32 [3], expected [num_embeddings, embedding_dim]");
  EXPECT_EQ(message_of([] { nn::embedding_bag_from_pretrained({}); }),
            "from_pretrained: the table is None, expected floats [num_embeddings, embedding_dim]");
}

TEST(FirstGuess, ATableOfWholeNumbersGivesItsRows) {
  load_all();
  const Tensor table = tn::tensor({{1, 2}, {3, 4}}), index = tn::tensor({1, 0});
  const Object layer = nn::embedding_from_pretrained(table);
  EXPECT_TRUE(layer(index).equal(tn::tensor({{3, 4}, {1, 2}})));
  EXPECT_TRUE(layer.tensor("weight").same_storage(table));
  EXPECT_EQ(layer.parameters().size(), 1u);
  EXPECT_TRUE(layer.clone()(index).equal(layer(index)));
  const Object flags = nn::embedding_from_pretrained(tn::tensor({{true}, {false}}));
  EXPECT_EQ(flags(index).dtype(), tn::bool_);
  EXPECT_EQ(message_of([&] { nn::embedding_from_pretrained(table, false); }),
            "from_pretrained: the table is int64 and freeze false, expected floats where the table "
            "is trained");
  EXPECT_EQ(message_of([&] { nn::embedding_bag_from_pretrained(table); }),
            "from_pretrained: the table is int64 [2, 2], expected floats [num_embeddings, "
            "embedding_dim]");
}

TEST(FirstGuess, NamesOfStates) {
  load_all();
  const auto optimizer = optim::SGD({tn::ones({1}, {.requires_grad = true})}, 0.1);
  optimizer.add_param_group({tn::ones({1}, {.requires_grad = true})}, {{"lr", 0.5}});
  EXPECT_EQ(optimizer.param_groups()[1].lr(), 0.5);
  tn::GradScaler scaler({.init_scale = 8});
  auto state = scaler.state_dict();
  state.scale = 4;
  scaler.load_state_dict(state);
  EXPECT_EQ(scaler.get_scale(), 4);
}

TEST(FirstGuess, SchedulesHaveANamespace) {
  load_all();
  const auto optimizer = optim::SGD({tn::ones({1}, {.requires_grad = true})}, 0.1);
  auto steps = optim::lr_scheduler::StepLR(optimizer, 1, {.gamma = 0.5});
  steps.step();
  EXPECT_EQ(optimizer.lr(), 0.05);
  optim::lr_scheduler::ReduceLROnPlateau plateau(optimizer, {.factor = 0.5, .patience = 0});
  plateau.step(tn::tensor(1.0));
  plateau.step(tn::tensor(2.0));
  EXPECT_EQ(optimizer.lr(), 0.025);
  EXPECT_TRUE(tn::ones({1}).is_floating_point());
  EXPECT_FALSE(tn::tensor(1).is_floating_point());
}

TEST(FirstGuess, ChannelsOfOneElementAreDropped) {
  load_all();
  tn::manual_seed(0);
  const Object layer = nn::Dropout2d(0.5);
  const Tensor y = layer(tn::ones({100, 8}));
  expect_sizes(y, {100, 8});
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.2);
  EXPECT_TRUE(((y == 0.0) | (y == 2.0)).all().item<bool>());
  layer.eval();
  expect_near(layer(tn::ones({1, 2})), {1, 1});
  layer.train();
  expect_error([&] { layer(tn::ones({4})); }, "x is [4], expected [n, channels, ..]");
}

TEST(FirstGuess, MemoryOfTheProgramIsATensor) {
  load_all();
  std::vector<float> frame = {1, 2, 3, 4, 5, 6};
  int released = 0;
  {
    Tensor t = tn::from_blob(frame.data(), {2, 3}, tn::float32, [&](void* data) {
      EXPECT_EQ(data, frame.data());
      ++released;
    });
    t.mul_(2.0);
    EXPECT_EQ(frame[5], 12);
    const Tensor row = t[1];
    t = Tensor();
    EXPECT_EQ(released, 0);
    frame[3] = 7;
    expect_near(row, {7, 10, 12});
  }
  EXPECT_EQ(released, 1);
  for (const tn::Dtype dtype : {tn::float64, tn::int64, tn::int32, tn::int16, tn::int8, tn::uint8,
                                tn::bool_, tn::float16, tn::bfloat16}) {
    std::vector<int64_t> memory(4);
    EXPECT_EQ(tn::from_blob(memory.data(), {4}, dtype).dtype(), dtype);
  }
  EXPECT_EQ(tn::from_blob(nullptr, {0, 3}).numel(), 0);
  EXPECT_EQ(tn::from_blob(frame.data(), {}).dim(), 0);
  expect_error([] { tn::from_blob(nullptr, {2}); }, "data is NULL for 2 elements");
  expect_error([&] { tn::from_blob(frame.data(), {-2}); }, "negative size in [-2]");
  EXPECT_EQ(message_of([&] { tn::from_blob(reinterpret_cast<char*>(frame.data()) + 1, {2}); }),
            "from_blob: data is not aligned to elements of float32");
  EXPECT_EQ(released, 1);
}

}  // namespace
