// Tensors as a library wants them to lie: where they are, or as a copy in the workspace of the call.
#pragma once

#include "kernel.h"

namespace cuda {

class Lent {
 public:
  // Memory for t with these strides, at an address that is a multiple of `alignment`: its own where it
  // lies so. To be written, and then given back.
  tn_status* find(const tn_call* call, const tn_tensor& t, const int64_t* strides,
                  uint64_t alignment);
  // Likewise, and filled with t.
  tn_status* read(const tn_call* call, const Stream& stream, const tn_tensor& t,
                  const int64_t* strides, uint64_t alignment);
  tn_status* give_back(const tn_call* call, const Stream& stream, tn_tensor& t) const;

  void* data() const { return data_; }

 private:
  tn_tensor like(const tn_tensor& t) const;

  void* data_ = nullptr;
  bool is_copy_ = false;
  int64_t strides_[TN_MAX_RANK];
};

// All outputs of the call that are wanted become 0.
tn_status* clear_outputs(const tn_call* call, const Stream& stream);

}  // namespace cuda
