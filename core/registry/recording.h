// What a recording of tn::compile is told by the parts of the core in which things happen. The one
// that listens is in capture/recorder.h, which these parts may not include. It is told only while
// thread_state.recording is not NULL, which kModeRecord says. None of it fails: what cannot be
// noted makes the function one that is not replayed.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "registry/registry.h"
#include "registry/thread_state.h"
#include "tensor/tensor.h"

namespace tenon {

// How often objects on which compiled functions lean changed, or their training mode.
inline std::atomic<uint64_t> watched_object_changes{0};

// A call in which tensors stand for numbers (dynamic arguments).
struct DynamicNumbers {
  const Op* op;
  std::span<const tn_value> given;  // as the caller gave them
  std::span<const tn_value> read;   // with the numbers in their places
  // A recording knows where they went, or the decomposition got them. Else the op read the numbers
  // by itself, and a replay would repeat them.
  bool used;

  bool came_as_tensor(size_t i) const {
    return given[i].kind == TN_KIND_TENSOR && read[i].kind != TN_KIND_TENSOR;
  }
};

// The call that thread_state.numbers says, for a scope; whatever leaves it, an exception too.
class NumbersScope {
 public:
  explicit NumbersScope(DynamicNumbers* numbers)
      : before_(std::exchange(thread_state.numbers, numbers)) {}
  NumbersScope(const NumbersScope&) = delete;
  ~NumbersScope() { thread_state.numbers = before_; }

 private:
  DynamicNumbers* before_;
};

class Recording {
 public:
  // A launch that is about to run. `call` as the kernel gets it.
  virtual void launch(const Kernel& kernel, tn_kernel_fn fn, const Op* op, const tn_call& call) = 0;
  // The next launch, of this op, is a loop in which that parameter is what the tensor, of one
  // element on cpu, holds.
  virtual void number(const Op* op, uint32_t parameter, const tn_tensor* holder, bool as_float) = 0;
  // Bytes that are copied between storages, or come from the host.
  virtual void copy(tn_storage* to, uint64_t to_offset, tn_storage* from, uint64_t from_offset,
                    uint64_t bytes) = 0;
  virtual void write(tn_storage* to, uint64_t offset, const void* memory, uint64_t bytes) = 0;
  // The gradient of a leaf is looked at, or replaced. `leaf` is autograd's Leaf; `grad` what it
  // holds at this moment, which may be NULL.
  virtual void see_gradient(Counted* leaf, const Tensor* grad, bool replaced) = 0;
  // An object whose entries the function depends on: `changes` counts their changes. `refresh`, which
  // may be NULL, is called before that is read.
  virtual void see_object(Counted* object, const uint64_t* changes, const bool* training,
                          void (*refresh)(const Counted*)) = 0;
  // A view that counts from the beginning of this memory.
  virtual void see_strided(const tn_storage* storage) = 0;
  // requires_grad of a tensor is about to be set, perhaps to what it is.
  virtual void see_requires_grad(const Tensor* tensor, bool on) = 0;
  // Backward goes through a node, by its number.
  virtual void see_node(uint64_t sequence) = 0;
  // The state of the random numbers is asked for, or set to one.
  virtual void see_random(uint64_t seed, uint64_t offset, bool is_set) noexcept = 0;
  // The function cannot be replayed, and why: "read: a value is read back". It goes on eagerly.
  virtual void refuse(std::string reason) = 0;

 protected:
  ~Recording() = default;
};

}  // namespace tenon
