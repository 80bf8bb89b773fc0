// What the tests of layers share: the device that each is tried on, and names.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "tenon/tenon.hpp"

namespace tn = tenon;

inline std::vector<std::string> names_of(const tn::NamedTensors& list) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : list) names.push_back(name);
  return names;
}

// What f writes to the log, which goes to stderr.
template <typename F>
std::string log_of(F f) {
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

class Layers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    tn::manual_seed(7);
    device = tn::Device(GetParam());
  }
  tn::Tensor on(const tn::Tensor& t) const { return t.to(device); }
  tn::Device device;
};
