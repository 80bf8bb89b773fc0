// Reductions: the reduce primitive under names. dims empty: all.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef scaled{"_scaled(Tensor x, float factor) -> Tensor", "x * factor"};

Tensor mean_of(const Tensor& values, Ints dims, bool keepdim) {
  Tensor x = as_float(values);
  int64_t n = dims.empty() ? x.numel() : 1;
  if (x.dim() > 0) {
    for (int64_t d : dims) n *= x.sizes()[size_t(wrap_dim("mean", d, x.dim()))];
  }
  // In the epilogue: the sum of a long half-precision tensor does not fit its dtype, the mean does.
  return prim::reduce_then(TN_SUM, x, dims, keepdim, scaled, 1.0 / double(n));
}

}  // namespace

void reduce() {
  op("sum(Tensor x, int[] dims=[], bool keepdim=False) -> Tensor")
      .amp(Amp::float32)
      .meaning(
          [](Tensor x, Ints dims, bool keepdim) { return prim::reduce(TN_SUM, x, dims, keepdim); });
  op("mean(Tensor x, int[] dims=[], bool keepdim=False) -> Tensor")
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, bool keepdim) { return mean_of(x, dims, keepdim); });
  op("amax(Tensor x, int[] dims=[], bool keepdim=False) -> Tensor")
      .amp(Amp::widest)
      .meaning(
          [](Tensor x, Ints dims, bool keepdim) { return prim::reduce(TN_MAX, x, dims, keepdim); });
  op("argmax(Tensor x, int[] dims=[], bool keepdim=False) -> Tensor")
      .no_gradient()
      .amp(Amp::widest)
      .meaning([](Tensor x, Ints dims, bool keepdim) {
        return prim::reduce(TN_ARGMAX, x, dims, keepdim);
      });
}

}  // namespace tenon::ops_pack
