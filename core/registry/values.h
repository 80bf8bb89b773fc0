// Values of calls: who owns them, and the tensors among them.
#pragma once

#include <span>
#include <vector>

#include "base/small_vector.h"
#include "base/status.h"
#include "tensor/tensor.h"
#include "tenon/abi.h"

namespace tenon {

// The tensors of a value, in order; a hole is NULL. Empty where it is neither a tensor nor a list
// of tensors.
inline std::span<tn_tensor* const> tensors_of(const tn_value& v) {
  if (v.kind == TN_KIND_TENSOR) return {&v.as.tensor, 1};
  if (v.kind == TN_KIND_TENSORS) return {v.as.tensors, v.count};
  return {};
}

// Arguments in which other tensors stand for some of the given ones. Borrows all of them.
class MappedArguments {
 public:
  // map(i, tensor, &other) is called for each tensor of argument i that is there; bit i of `kept`:
  // the argument stays as it is.
  template <typename F>
  [[nodiscard]] Status make(std::span<const tn_value> given, uint64_t kept, F map) {
    args_.assign(given.begin(), given.end());
    for (size_t i = 0; i < args_.size(); ++i) {
      tn_value& v = args_[i];
      const std::span<tn_tensor* const> tensors = tensors_of(v);
      if (tensors.empty() || (kept >> i & 1) != 0) continue;
      std::vector<tn_tensor*>& others = tensors_.emplace_back(tensors.begin(), tensors.end());
      for (tn_tensor*& t : others) {
        if (t != nullptr) TN_TRY(map(i, t, &t));
      }
      if (v.kind == TN_KIND_TENSOR) {
        v.as.tensor = others[0];
      } else {
        v.as.tensors = others.data();
      }
    }
    return nullptr;
  }
  std::span<const tn_value> args() const { return args_; }
  // For values that are no tensors.
  std::span<tn_value> values() { return args_; }

 private:
  std::vector<tn_value> args_;
  std::vector<std::vector<tn_tensor*>> tensors_;
};

// Of the first tensor, else the first device among the values, else cpu.
tn_device call_device(std::span<const tn_value> args);
// The tensor's flags, TN_TENSOR_REQUIRES_GRAD where it needs a gradient.
inline uint32_t flags_of(const Tensor* t) {
  // A view made before its base was written under gradient: the base knows.
  const bool by_base =
      t->base != nullptr && t->base->requires_grad() && (t->view_flags & kViewNoGrad) == 0;
  return by_base ? t->flags | TN_TENSOR_REQUIRES_GRAD : t->flags;
}
inline bool needs_gradient(const Tensor* t) { return (flags_of(t) & TN_TENSOR_REQUIRES_GRAD) != 0; }
bool any_needs_gradient(std::span<const tn_value> args);

[[nodiscard]] Status copy_value(const tn_value& borrowed, tn_value* owned);
void release_value(tn_value* value);
void release_values(std::span<tn_value> values);

// Objects in values: counted by object/, which is above; host/ wires it.
struct ObjectReferences {
  void (*retain)(tn_object*);
  void (*release)(tn_object*);
};
extern ObjectReferences object_references;

// Values that are given up unless they are kept: results of a call on their way. They are NONE from
// the start, so that whoever fails below, by a status or an exception, may leave them as they are.
class ResultsScope {
 public:
  explicit ResultsScope(std::span<tn_value> results) : results_(results) {
    for (tn_value& v : results_) v.kind = TN_KIND_NONE;
  }
  ResultsScope(const ResultsScope&) = delete;
  ~ResultsScope() {
    if (!kept_) [[unlikely]]
      release_values(results_);
  }
  // Keeps them where there was no error. Gives the status.
  Status keep_if_fine(Status status) {
    kept_ = status == nullptr;
    return status;
  }

 private:
  std::span<tn_value> results_;
  bool kept_ = false;
};

// A list of values that are released with it.
template <size_t kInline>
struct OwnedValues : SmallVector<tn_value, kInline> {
  OwnedValues() = default;
  OwnedValues(const OwnedValues&) = delete;
  ~OwnedValues() { release_values(*this); }
};

}  // namespace tenon
