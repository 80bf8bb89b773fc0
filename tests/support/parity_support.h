// For the parity tests: whole networks whose losses are PyTorch's (tests/data/torch_networks.py).
// Weights and data come from the formula that stands there, bit by bit, so that nothing but losses
// and checksums is stored.
#pragma once

#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include <tenon/nn.hpp>
#include <tenon/optim.hpp>

#include "ops_support.h"

namespace parity {

using nlohmann::json;

inline json network(const char* name) {
  std::ifstream file(std::string(std::getenv("TENON_SOURCE_DIR")) +
                     "/tests/data/torch_networks.json");
  return json::parse(file).at(name);
}

// lowbias32 (Wellons, 2018) of i + key * 0x9e3779b9.
inline uint32_t bits(uint32_t i, uint32_t key) {
  uint32_t x = i + key * 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// offset + scale * u with u in [-1, 1), float64.
inline Tensor uniform(tn::Ints sizes, uint32_t key, double scale = 1, double offset = 0) {
  Tensor t = tn::empty(sizes, tn::float64);
  double* values = t.mutable_data<double>();
  for (int64_t i = 0; i < t.numel(); ++i)
    values[i] = offset + scale * (bits(uint32_t(i), key) / 0x1p31 - 1);
  return t;
}
inline Tensor classes(tn::Ints sizes, uint32_t key, uint32_t n) {
  Tensor t = tn::empty(sizes, tn::int64);
  int64_t* values = t.mutable_data<int64_t>();
  for (int64_t i = 0; i < t.numel(); ++i) values[i] = bits(uint32_t(i), key) % n;
  return t;
}

// The parameters are those that PyTorch's network has, by name, size and order; then they get the
// formula's values.
inline void fill(const tn::Object& model, const json& expected) {
  const tn::NoGrad off;
  const auto parameters = model.named_parameters();
  ASSERT_EQ(parameters.size(), expected.at("parameters").size());
  uint32_t key = 0;
  for (const auto& [name, p] : parameters) {
    ASSERT_TRUE(expected.at("parameters").contains(name)) << name;
    expect_sizes(p, expected.at("parameters").at(name));
    const double fan_in = double(p.numel() / p.size(0));
    p.copy_(p.dim() > 1                ? uniform(p.sizes(), key, std::sqrt(6 / fan_in))
            : name.ends_with("weight") ? uniform(p.sizes(), key, 0.1, 1)
                                       : uniform(p.sizes(), key, 0.1));
    ++key;
  }
}

inline double squares(const tn::NamedTensors& tensors) {
  double total = 0;
  for (const auto& [name, t] : tensors) {
    if (t.dtype().is_float()) total += tn::square(t.detach().to(tn::float64)).sum().item<double>();
  }
  return total;
}

// One network: how it is made, and what the batch from a key is.
struct Network {
  json expected;
  std::function<tn::Object()> make;
  std::function<Tensor(uint32_t key)> inputs, targets;
  std::function<tn::optim::Optimizer(const TensorList&)> optimizer;
};

inline void expect_relative(double value, double expected, double relative,
                            const std::string& what) {
  EXPECT_NEAR(value, expected, relative * std::fabs(expected)) << what;
}

inline void check(const Network& network, tn::Device device, tn::Dtype dtype, int steps) {
  SCOPED_TRACE(device.name() + ", " + dtype.name());
  tn::Object model = network.make();
  model.to(device, dtype);
  fill(model, network.expected);
  if (testing::Test::HasFatalFailure()) return;
  const tn::optim::Optimizer optimizer = network.optimizer(model.parameters());
  const std::vector<double> losses = network.expected.at("losses");
  constexpr int kBatches = 4;
  for (int step = 0; step < steps; ++step) {
    const uint32_t key = 1000 + 2 * uint32_t(step % kBatches);
    Tensor x = network.inputs(key).to(device);
    if (x.dtype().is_float()) x = x.to(dtype);
    Tensor loss = tn::cross_entropy(model(x), network.targets(key + 1).to(device));
    if (dtype == tn::float32) {
      expect_relative(loss.item<double>(), network.expected.at("first_float32"), 1e-5,
                      "the first loss");
      return;
    }
    expect_relative(loss.item<double>(), losses[size_t(step)], 1e-6,
                    "the loss of step " + std::to_string(step));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  if (size_t(steps) < losses.size()) return;
  expect_relative(squares(model.named_parameters()), network.expected.at("squares"), 1e-6,
                  "all parameters");
  expect_relative(squares(model.named_buffers()), network.expected.at("buffers"), 1e-6,
                  "all buffers");
}

}  // namespace parity
