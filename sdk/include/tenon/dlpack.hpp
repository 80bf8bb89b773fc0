// DLPack 1.x, the exchange of tensors between frameworks in one process: host memory, without a
// copy. The pointers are DLManagedTensorVersioned* of its header dlpack.h, which is not needed
// here.
#pragma once

#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// A view of t for others, who call its deleter when they are done; t's memory lives so long. Of a
// cpu tensor that requires no gradient, else an Error. Not writable: marked READ_ONLY.
inline void* to_dlpack(const Tensor& t, bool writable = true) {
  void* managed = nullptr;
  check(detail::api.tensor->to_dlpack(t.get(), writable, &managed));
  return managed;
}
// Takes another's tensor and calls its deleter when its memory is needed no more; on an Error it
// stays the caller's. What is marked READ_ONLY is copied, since tensors can be written.
inline Tensor from_dlpack(void* managed) {
  tn_tensor* t = nullptr;
  check(detail::api.tensor->from_dlpack(managed, &t));
  return Tensor::take(t);
}

}  // namespace v0
}  // namespace tenon
