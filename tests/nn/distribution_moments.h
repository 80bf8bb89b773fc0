// Whether draws have the moments of their distribution, and those of whole numbers its
// probabilities, by the bounds of draws.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "draws.h"
#include "tenon/distributions.hpp"

// Of whole numbers, by the logarithm of the probability of each.
inline void expect_counts(Values draws, const std::function<double(double)>& log_mass) {
  std::sort(draws.begin(), draws.end());
  EXPECT_GE(draws.front(), 0);
  double k = 0, sum = 0, most = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    EXPECT_EQ(draws[i], std::floor(draws[i]));
    if (i + 1 < draws.size() && draws[i + 1] == draws[i]) continue;
    for (; k <= draws[i]; ++k) sum += std::exp(log_mass(k));
    most = std::max(most, std::abs(sum - double(i + 1) / double(draws.size())));
  }
  EXPECT_LT(most, far_of(double(draws.size())));
}

// Seven standard errors, which the draws give themselves.
inline void expect_mean(const Values& values, double wanted) {
  const double n = double(values.size());
  double mean = 0, square = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) square += (v - mean) * (v - mean) / (n - 1);
  EXPECT_NEAR(mean, wanted, 7 * std::sqrt(square / n));
}
inline void expect_moments(const tenon::distributions::Distribution& d, int64_t n) {
  SCOPED_TRACE(d.name());
  Values draws = d.sample({n}).to_vector<double>();
  const double mean = d.mean().item<double>();
  expect_mean(draws, mean);
  for (double& v : draws) v = (v - mean) * (v - mean);
  expect_mean(draws, d.variance().item<double>());
  EXPECT_NEAR(d.stddev().item<double>(), std::sqrt(d.variance().item<double>()), 1e-5);
}
