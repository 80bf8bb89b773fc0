// What tests of gradients share.
#pragma once

#include "ops_support.h"

// A float64 leaf that asks for gradients; without sizes it has one dimension.
inline Tensor leaf(const std::vector<double>& values, std::vector<int64_t> sizes = {}) {
  if (sizes.empty()) sizes = {int64_t(values.size())};
  return Tensor::from(values, sizes).requires_grad_();
}
