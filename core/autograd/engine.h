// The engine: runs recorded nodes backward, on the calling thread, latest first. May be re-entered
// from hooks and nodes.
#pragma once

#include <span>

#include "autograd/node.h"

namespace tenon {

// seeds: as many as tensors; NULL entries mean ones, for one-element tensors. Accumulates into
// leaves.
[[nodiscard]] Status backward(std::span<Tensor* const> tensors, std::span<Tensor* const> seeds,
                              uint32_t flags);
// Gradients of inputs (leaves or not), owned by the caller, NULL where unused under
// TN_BACKWARD_ALLOW_UNUSED; nothing accumulates.
[[nodiscard]] Status gradients(std::span<Tensor* const> outputs, std::span<Tensor* const> seeds,
                               std::span<Tensor* const> inputs, uint32_t flags,
                               std::span<Tensor*> results);

}  // namespace tenon
