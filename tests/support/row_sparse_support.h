// A table of embeddings with its row-sparse gradients, on the device of the test's parameter.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using tn::Tensor;

namespace {

using Values = std::vector<float>;

class RowSparse : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
  tn::Device device() const { return tn::Device(GetParam()); }
  Tensor on(const Tensor& t) const { return t.to(device()); }
  // [6, 2]: -0.4, -0.3 to 0.7
  Tensor table() const {
    Values values;
    for (int i = 0; i < 12; ++i) values.push_back(float(i / 10.0 - 0.4));
    return on(Tensor::from(values, {6, 2})).requires_grad_();
  }
  Tensor first() const { return on(tn::tensor({{1, 4, 1}, {0, 4, 5}})); }
  Tensor second() const { return on(tn::tensor({{4, 4, 2}, {2, 1, 0}})); }
  Tensor factors() const {
    Values values;
    for (int i = 1; i <= 12; ++i) values.push_back(float(i) / 8);
    return on(Tensor::from(values, {2, 3, 2}));
  }
};

inline void expect_near(const Tensor& found, const Values& expected, float tolerance = 1e-6f) {
  const Values values = found.to_vector<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

INSTANTIATE_TEST_SUITE_P(Devices, RowSparse, testing::Values("cpu", "ref"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
