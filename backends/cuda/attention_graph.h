// Attention as cuDNN sees it, and its plans: softmax(query key^T scale) value and its gradients, as
// graphs of products, sums and elementwise operations that cuDNN compiles to one kernel or a few.
// Needs the table of cudnn.h and no device.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "operation_graph.h"
#include "tenon/abi.h"

namespace cuda {

struct Attention {
  // The tensors' numbers in the graphs. Stats: the log-sum-exp of each query, float32. Scale, one and
  // never are numbers of the host; never is what a weight that may not be looked at gets.
  enum Id : int64_t {
    kQuery = 1,
    kKey,
    kValue,
    kY,
    kStats,
    kScale,
    kNever,
    kOne,
    kGradient,
    kQueryGradient,
    kKeyGradient,
    kValueGradient,
    kBetween = 100  // and those behind it: in no memory
  };
  static constexpr int64_t kDims = 4;  // batch, heads, queries or keys, elements

  int64_t dtype;  // TN_FLOAT16 or TN_BFLOAT16
  int64_t is_causal, is_backward;
  int64_t batch, heads, key_heads, n, m, e, v;
  // Strides in elements. The gradient of y lies as y.
  int64_t query[kDims], key[kDims], value[kDims], y[kDims];
  int64_t query_gradient[kDims], key_gradient[kDims], value_gradient[kDims];

  // The bytes of the struct: what decides the plan.
  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};
static_assert(sizeof(Attention) == 38 * sizeof(int64_t));  // no gaps, which a key may not have

// NULL: there is none, as `search` says.
std::unique_ptr<Plan> plan_attention(const Attention& attention, const Target& target,
                                     Search* search);

}  // namespace cuda
