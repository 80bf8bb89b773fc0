// Matrices for the tests of the plugin linalg, and how far two are apart.
#pragma once

#include "ops_support.h"

namespace {

inline Tensor identity(int64_t n, tn::Device device) { return tn::eye(n, {}, tn::float64, device); }
// Regular, and far from symmetric.
inline Tensor regular(std::vector<int64_t> sizes, tn::Device device = {}) {
  return sample(sizes, device) + 2 * identity(sizes.back(), device);
}
inline Tensor positive_definite(const Tensor& a) {
  return tn::matmul(a, a.mT()) + identity(a.size(-1), a.device());
}

// The greatest absolute value of a difference, as a number.
inline double distance(const Tensor& a, const Tensor& b) {
  return a.numel() == 0 ? 0 : tn::amax(tn::abs(a - b)).item<double>();
}

}  // namespace
