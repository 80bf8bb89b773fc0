// What users of PyTorch and of libtorch write first: names, results and modules as they have them.
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <tenon/data.hpp>
#include <tenon/dlpack.hpp>
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
  expect_error([&] { layer(tn::ones({4})); }, "x has 1 dimensions, expected 3 or 4");
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
