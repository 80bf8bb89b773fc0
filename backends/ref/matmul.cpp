// a [b, m, k] times b [b, k, n], any strides: three plain loops that add in double.
#include "kernel.h"

namespace ref {

tn_status* matmul(const tn_call* call) {
  const tn_tensor& a = *call->args[0].as.tensor;
  const tn_tensor& b = *call->args[1].as.tensor;
  View y(call->outputs[0]);
  with_type(y.dtype, [&](auto element) {
    const auto* a_data = reinterpret_cast<decltype(element)*>(kernel_view(a.data));
    const auto* b_data = reinterpret_cast<decltype(element)*>(kernel_view(b.data));
    const auto at = [&](const Index& index) {
      const auto* row = a_data + index[0] * a.strides[0] + index[1] * a.strides[1];
      const auto* column = b_data + index[0] * b.strides[0] + index[2] * b.strides[2];
      double sum = 0;
      for (int64_t k = 0; k < a.sizes[2]; ++k)
        sum += static_cast<double>(row[k * a.strides[2]]) * column[k * b.strides[1]];
      y.store({.d = sum}, TN_FLOAT64);
    };
    for_each(call->outputs[0], at, y);
  });
  return nullptr;
}

}  // namespace ref
