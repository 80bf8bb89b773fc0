// oneDNN's computation of one piece of a convolution: made for its sizes, with the layouts that
// oneDNN chooses and the reorders to and from them. convolution.cpp cuts problems into pieces.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dnnl/shared.h"

namespace tenon::cpu_backend {

inline constexpr int kY = TENON_CPU_CONV_Y, kX = TENON_CPU_CONV_X, kWeight = TENON_CPU_CONV_WEIGHT;

using ConvArguments = std::unordered_map<int, dnnl::memory>;

// A tensor as the caller has it and as oneDNN wants it.
struct ConvPart {
  dnnl::memory::desc given, wanted;
  dnnl::reorder reorder;
  bool reorders = false;
};

// What a kernel is run with: oneDNN's objects for memory, whose addresses are set for each piece.
// Making them took half of the time of the smallest convolutions. Used by one thread at a time.
struct ConvBound {
  dnnl::stream stream{engine()};
  dnnl::memory given[3], wanted[3], bias, scratchpad;
  ConvArguments arguments, reorders[3];
};

struct ConvKernel {
  ConvPart parts[3];  // y, x, weight
  dnnl::memory::desc bias, scratchpad;
  dnnl::primitive convolution;
  int result = 0;
  bool has_bias = false;

  // A ConvBound that nobody else uses now; it goes back when the thread is done with it.
  std::unique_ptr<ConvBound> borrow() const;
  void give_back(std::unique_ptr<ConvBound> bound) const;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<ConvBound>> idle_;
};

// `p` has the piece's sizes. copies: the result is reordered even where its layout is the given
// one. weight: the layout that another kernel chose for the weight, or NULL. Throws what oneDNN
// throws.
void make_kernel(const tenon_cpu_dnnl_convolution& p, bool copies, const dnnl::memory::desc* weight,
                 ConvKernel* kernel);

}  // namespace tenon::cpu_backend
