// batch_norm by statistics that are given, as in a network that is served, in float32: one pass over
// the planes of images, or over rows of channels.
#include <cstdint>

#include "ops/images.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// _batch_norm_given(x, mean, var, weight, bias, eps)
void launch(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t n = x.sizes[1], places = product(x.sizes + 2, x.ndim - 2);
  const float* const mean = data(call->args[1]);
  const float* const var = data(call->args[2]);
  const float* const weight = data(call->args[3]);
  const float* const bias = data(call->args[4]);
  float* const y = data(call->outputs[0]);
  const bool last = is_channels_last(x);
  const float* elements;
  as_image(call, x, last, &elements);
  const uint64_t bytes = static_cast<uint64_t>(n) * sizeof(float);
  float* const factor = static_cast<float*>(Call(call).workspace(bytes));
  for (int64_t c = 0; c < n; ++c) {
    factor[c] = rstd_of(var[c], call->args[5].as.f) * (weight ? weight[c] : 1);
  }
  const RowFunctions& rows = table().rows;
  if (last || places == 1) {
    return parallel_for(
        call->host, 0, x.numel / n, 1 + kPieceElements / n, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            rows.columns_normalize(y + i * n, elements + i * n, n, mean, factor, bias);
          }
        });
  }
  return parallel_for(call->host, 0, x.numel / places, 1 + kPieceElements / places,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin, c = begin % n; i < end; ++i) {
                          rows.normalize(y + i * places, elements + i * places, places, mean[c],
                                         factor[c], bias ? bias[c] : 0);
                          c = c + 1 == n ? 0 : c + 1;
                        }
                      });
}

bool supports(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  bool fits = x.ndim >= 2 && call->args[5].as.f >= 0;
  for (int i = 1; i < 5; ++i) {
    const tn_tensor* const t = tensor_of(call->args[i]);
    fits = fits && (t ? t->ndim == 1 && t->sizes[0] == x.sizes[1] : i > 2);
  }
  if (!fits) {
    return why("the arguments do not fit together");
  }
  if (lies_otherwise(x)) {
    return why("%s", kOtherOrder);
  }
  return x.numel > 0 || why("takes no empty tensors");
}

}  // namespace

void add_norm_given() {
  kernel("_batch_norm_given", "cpu", images_of_float32(kUsualPromises), fn<launch>)
      .supports(fn<supports>)
      .order(image_order);
}

}  // namespace tenon::cpu_backend
