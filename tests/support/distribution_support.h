// Tests of distributions that run once a device.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "second_device.h"
#include "tenon/tenon.hpp"

class DistributionsOnADevice : public testing::TestWithParam<const char*> {
 protected:
  using Values = std::vector<double>;
  using Sizes = std::vector<int64_t>;

  void SetUp() override {
    tenon::load_plugins();
    tenon::manual_seed(0);
    device = tenon::Device(GetParam());
  }
  tenon::Tensor at(const Values& values, tenon::Dtype dtype = tenon::float64) const {
    return tenon::Tensor::from(values).to(device, dtype);
  }
  void expect_close(const tenon::Tensor& found, const tenon::Tensor& wanted) const {
    EXPECT_EQ(Sizes(found.sizes()), Sizes(wanted.sizes()));
    EXPECT_TRUE(tenon::allclose(found, wanted, 1e-9, 1e-9));
  }
  tenon::Device device;
};
