// How far draws may be from the distribution that they are of, for tests that never fail by chance.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "second_device.h"
#include "tenon/tenon.hpp"

using Values = std::vector<double>;

// Fewer on the driver of the tests, which computes each kernel thread by thread.
inline const int64_t kDraws = second_device() == std::string("cuda") ? 10000 : 20000;
// Dvoretzky, Kiefer, Wolfowitz and Massart: an empirical distribution of n draws is further than d
// from its own with a probability of at most 2 exp(-2 n d^2). Hoeffding: so is the mean of n
// numbers in [0, 1].
inline double far_of(double n) { return std::sqrt(std::log(2e11) / (2 * n)); }

// Column i of draws [n, columns].
inline Values column(const tenon::Tensor& draws, int64_t i) {
  return draws.select(1, i).to_vector<double>();
}

inline void expect_distribution(Values draws, const std::function<double(double)>& below) {
  std::sort(draws.begin(), draws.end());
  const double n = double(draws.size());
  double most = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    const double f = below(draws[i]);
    most = std::max({most, std::abs(f - double(i) / n), std::abs(f - double(i + 1) / n)});
  }
  EXPECT_LT(most, far_of(n));
}
