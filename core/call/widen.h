// Decompositions of half tensors (float16, bfloat16): computed in float32, their results rounded
// once. Without it each value between two calls would be rounded to a half, and one that no half
// holds would be infinite.
#pragma once

#include <span>
#include <vector>

#include "registry/registry.h"
#include "registry/values.h"
#include "tensor/tensor.h"

namespace tenon {

// The arguments with halves cast to float32, recorded where gradients are. What the op writes
// stays, and a tensor that comes twice is cast once: so its gradients are added up before they are
// rounded.
class WideArguments {
 public:
  [[nodiscard]] Status make(const Op* op, std::span<const tn_value> given);
  std::span<const tn_value> args() const { return mapped_.args(); }
  // The cast of a half, or t itself; borrowed.
  [[nodiscard]] Status cast(tn_tensor* t, tn_tensor** wide);
  // The tensor that `wide` is the cast of; NULL: none.
  Tensor* source_of(const tn_tensor* wide) const;

 private:
  struct Cast {
    Tensor* source;
    TensorRef wide;
  };
  MappedArguments mapped_;
  std::vector<Cast> casts_;
};

// Is this a call of halves whose decomposition is computed in float32? On meta tensors nothing is
// computed.
bool has_halves_to_widen(const Op* op, std::span<const tn_value> args);
inline bool widens(const Op* op, std::span<const tn_value> args) {
  return op->widens && has_halves_to_widen(op, args);
}
// Such a call: casts, the same call of float32 (by a kernel, where there is one), and the results
// in the dtypes that the decomposition of the halves has. One that cannot be traced on meta tensors
// runs as it is, and its calls decide for themselves.
[[nodiscard]] Status run_widened(const Op* op, std::span<const tn_value> args,
                                 std::span<tn_value> results);

}  // namespace tenon
