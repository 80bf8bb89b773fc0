// One convolution as cuDNN sees it, and its plan. Needs the table of cudnn.h and no device.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "operation_graph.h"
#include "tenon/abi.h"

namespace cuda {

// y = convolution of x with weight, plus bias. A plan computes one of the first three from the others:
// y, or what is the gradient of x, or of weight, where y holds its own. A transposed convolution is the
// gradient of x. A convolution of one dimension is one of two, the first of which is 1.
struct Convolution {
  enum Part : int64_t { kX = 1, kWeight, kY, kBias };  // also the tensors' numbers in the graph
  static constexpr int32_t kMostDims = 5;

  int64_t result;         // a Part
  int64_t has_bias;       // where the result is y: rounded once, behind the addition
  int64_t dtype;          // tn_dtype of all three
  int64_t is_exact;       // float32 is not rounded before products
  int64_t channels_last;  // all three lie so, else row-major
  int64_t n;              // dimensions of a window: 2 or 3
  int64_t x[kMostDims], weight[kMostDims], y[kMostDims];  // sizes
  int64_t stride[3], padding[3], dilation[3];

  const int64_t* sizes(Part part) const { return part == kX ? x : part == kY ? y : weight; }
  void strides(Part part, int64_t* strides) const;
  // The bytes of the struct: what decides the plan.
  std::string_view key() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};
static_assert(sizeof(Convolution) == 30 * sizeof(int64_t));  // no gaps, which a key may not have

// NULL: there is none, as `search` says.
std::unique_ptr<Plan> plan_convolution(const Convolution& convolution, const Target& target,
                                       Search* search);

}  // namespace cuda
