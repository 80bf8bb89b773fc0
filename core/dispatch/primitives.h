// The primitives: arguments checked, outputs inferred and made, kernels launched. Below autograd;
// primitive() in call.h is the recorded form. What each takes is in docs/abi.md.
#pragma once

#include <span>

#include "dispatch/loop.h"
#include "dispatch/registry.h"
#include "dispatch/thread_state.h"

namespace tenon {

// Results are owned by the caller.
[[nodiscard]] Status run_primitive(tn_primitive kind, std::span<const tn_value> args,
                                   std::span<tn_value> results);

// Refuses more arguments than the primitive takes, and another number of results than it gives. Of
// ELEMENTWISE the expression says both: check_elementwise. Arguments that are missing are refused
// where they are read.
[[nodiscard]] Status expect_counts(tn_primitive kind, size_t n_args, size_t n_results);
// The arguments of ELEMENTWISE against the schema of its expression, and the number of results.
[[nodiscard]] Status check_elementwise(std::span<const tn_value> args, size_t n_results);

// Arguments of primitives by position. Throws StatusException with the primitive's and the
// argument's name.
class PrimitiveArgs {
 public:
  PrimitiveArgs(tn_primitive kind, std::span<const tn_value> args) : kind_(kind), args_(args) {}
  size_t size() const { return args_.size(); }
  bool is_none(size_t i) const { return i >= args_.size() || args_[i].kind == TN_KIND_NONE; }
  Tensor* tensor(size_t i, const char* name) const;
  // one tensor is a list of one
  std::span<tn_tensor* const> tensors(size_t i, const char* name) const;
  int64_t integer(size_t i, const char* name) const;
  bool boolean(size_t i, const char* name, bool absent) const;
  std::span<const int64_t> ints(size_t i, const char* name) const;  // none: empty
  std::span<const double> floats(size_t i, const char* name) const;
  const tn_value& number(size_t i, const char* name) const;
  tn_dtype dtype(size_t i, const char* name, tn_dtype absent) const;
  tn_device device(size_t i, const char* name, tn_device absent) const;
  const Expression* expression(size_t i, const char* name) const;  // none: NULL
  const tn_value& at(size_t i) const { return args_[i]; }

 private:
  [[noreturn]] void refuse(size_t i, const char* name, const char* expected) const;
  tn_primitive kind_;
  std::span<const tn_value> args_;
};

// reduce, with everything it can do. Files: reduce.cpp, scan.cpp, sort.cpp, matmul.cpp, index.cpp.
[[nodiscard]] Status run_reduce(const PrimitiveArgs& args, Tensor** result);
[[nodiscard]] Status run_scan(const PrimitiveArgs& args, Tensor** result);
[[nodiscard]] Status run_sort(const PrimitiveArgs& args, Tensor** results);  // values, indices
[[nodiscard]] Status run_matmul(Tensor* a, Tensor* b, Tensor** result);
[[nodiscard]] Status run_gather(Tensor* x, int64_t dim, Tensor* index, Tensor** result);
[[nodiscard]] Status run_scatter(Tensor* x, int64_t dim, Tensor* index, Tensor* src, bool add,
                                 Tensor** result);
[[nodiscard]] Status run_random_bits(std::span<const int64_t> sizes, tn_device device,
                                     Tensor** result);
[[nodiscard]] Status run_nonzero(Tensor* x, Tensor** result);
[[nodiscard]] Status run_iota(int64_t n, const tn_value& start, const tn_value& step,
                              tn_dtype dtype, tn_device device, Tensor** result);
// Views of the core; reshape copies when no view is possible.
[[nodiscard]] Status run_view(tn_primitive kind, const PrimitiveArgs& args, Tensor** result);

// Notes on a new view that gradients are off.
inline void mark_view(Tensor* view) {
  if ((thread_state.modes & (kModeNoGrad | kModeInference)) != 0) view->view_flags |= kViewNoGrad;
}

// Bit d set: dimension d is among dims (empty: all). Throws for dimensions out of range or twice.
uint32_t dims_mask(const char* what, std::span<const int64_t> dims, int32_t ndim);

inline tn_value int_value(int64_t i) {
  tn_value v{};
  v.kind = TN_KIND_INT;
  v.as.i = i;
  return v;
}
inline tn_value bool_value(bool b) {
  tn_value v{};
  v.kind = TN_KIND_BOOL;
  v.as.i = b ? 1 : 0;
  return v;
}
inline tn_value tensor_value(tn_tensor* t) {
  tn_value v{};
  v.kind = TN_KIND_TENSOR;
  v.as.tensor = t;
  return v;
}

}  // namespace tenon
