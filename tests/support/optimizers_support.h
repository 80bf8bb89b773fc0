// Parameters on the device of the test's parameter, and a gradient to try optimizers with.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "second_device.h"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using tn::optim::Adam, tn::optim::AdamW, tn::optim::Optimizer, tn::optim::SGD;

namespace {

using Values = std::vector<double>;

// The gradient that all formulas are tried with: that of sum(1.5 p² - p).
inline double gradient_at(double p) { return 3 * p - 1; }
inline void set_gradient(const tn::Tensor& p) {
  Values g = p.to_vector<double>();
  for (double& v : g) v = gradient_at(v);
  p.set_grad(tn::Tensor::from(g, p.sizes()).to(p.device(), p.dtype()));
}

inline void expect_near(const tn::Tensor& p, const Values& expected, double tolerance) {
  const Values found = p.to_vector<double>();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance) << "element " << i;
}

// Without those of the groups' options.
inline std::vector<std::string> names_of(const tn::NamedTensors& list) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : list) {
    if (!name.starts_with("param_groups.")) names.push_back(name);
  }
  return names;
}

class Optimizers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    device = tn::Device(GetParam());
  }
  tn::Tensor parameter(const Values& values, tn::Dtype dtype = tn::float64) const {
    return tn::Tensor::from(values).to(device, dtype).requires_grad_();
  }
  static void run(const Optimizer& optimizer, const std::vector<tn::Tensor>& parameters,
                  int steps) {
    for (int t = 0; t < steps; ++t) {
      for (const tn::Tensor& p : parameters) set_gradient(p);
      optimizer.step();
    }
  }
  const Values start = {0.7, -2, 0, 5};
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, Optimizers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
