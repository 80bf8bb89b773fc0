#include "lent.h"

#include <algorithm>

#include "launch.h"

namespace cuda {
namespace {

tn_status* copy_to(const tn_call* call, const Stream& stream, tn_tensor& to,
                   const tn_tensor& from) {
  tn_value value = {TN_KIND_TENSOR};
  value.as.tensor = const_cast<tn_tensor*>(&from);
  tn_tensor* output = &to;
  tn_call copying = *call;
  copying.args = &value;
  copying.n_args = 1;
  copying.outputs = &output;
  return copy(&copying, stream);
}

}  // namespace

tn_status* Lent::find(const tn_call* call, const tn_tensor& t, const int64_t* strides,
                      uint64_t alignment) {
  std::copy_n(strides, t.ndim, strides_);
  bool fits = reinterpret_cast<uint64_t>(t.data) % alignment == 0;
  for (int32_t d = 0; d < t.ndim; ++d)
    fits = fits && (t.sizes[d] == 1 || t.strides[d] == strides[d]);
  data_ = t.data;
  is_copy_ = !fits;
  if (fits) return nullptr;
  return host->workspace(call, static_cast<uint64_t>(t.numel) * item_size(t.dtype), &data_);
}

tn_status* Lent::read(const tn_call* call, const Stream& stream, const tn_tensor& t,
                      const int64_t* strides, uint64_t alignment) {
  TN_CUDA_TRY(find(call, t, strides, alignment));
  if (!is_copy_) return nullptr;
  tn_tensor lent = like(t);
  return copy_to(call, stream, lent, t);
}

tn_status* Lent::give_back(const tn_call* call, const Stream& stream, tn_tensor& t) const {
  return is_copy_ ? copy_to(call, stream, t, like(t)) : nullptr;
}

tn_tensor Lent::like(const tn_tensor& t) const {
  tn_tensor lent = t;
  lent.data = data_;
  lent.strides = strides_;
  return lent;
}

tn_status* clear_outputs(const tn_call* call, const Stream& stream) {
  tn_value zero = {TN_KIND_FLOAT};
  for (uint32_t k = 0; k < call->n_outputs; ++k) {
    if (!call->outputs[k] || call->outputs[k]->numel == 0) continue;
    tn_call filling = *call;
    filling.args = &zero;
    filling.n_args = 1;
    filling.outputs = call->outputs + k;
    TN_CUDA_TRY(fill(&filling, stream));
  }
  return nullptr;
}

}  // namespace cuda
