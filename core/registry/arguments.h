// The arguments of a call whose op has a schema, by position: checked against it and complete, so
// the kind of each is known, and an optional one may be None.
#pragma once

#include <algorithm>
#include <span>

#include "registry/registry.h"
#include "tensor/tensor.h"

namespace tenon {

using Values = std::span<const tn_value>;

// All arguments of a call whose last ones may have been left out (Op::n_direct).
inline Values with_defaults(const Op& op, Values args, tn_value (&complete)[kMaxArguments]) {
  if (args.size() == op.defaults.size()) return args;
  std::copy(args.begin(), args.end(), complete);
  std::copy(op.defaults.begin() + static_cast<ptrdiff_t>(args.size()), op.defaults.end(),
            complete + args.size());
  return {complete, op.defaults.size()};
}

inline bool is_none(Values args, size_t i) { return args[i].kind == TN_KIND_NONE; }
inline Tensor* tensor_at(Values args, size_t i) { return as_tensor(args[i].as.tensor); }
inline std::span<tn_tensor* const> tensors_at(Values args, size_t i) {
  return {args[i].as.tensors, args[i].count};
}
inline int64_t int_at(Values args, size_t i) { return args[i].as.i; }
inline bool bool_at(Values args, size_t i) { return args[i].as.i != 0; }
inline std::span<const int64_t> ints_at(Values args, size_t i) {
  return {args[i].as.ints, args[i].count};
}
inline std::span<const double> floats_at(Values args, size_t i) {
  return {args[i].as.floats, args[i].count};
}
inline tn_dtype dtype_at(Values args, size_t i, tn_dtype absent) {
  return is_none(args, i) ? absent : args[i].as.dtype;
}
inline tn_device device_at(Values args, size_t i, tn_device absent) {
  return is_none(args, i) ? absent : args[i].as.device;
}
// The op of a formula; NULL for None.
inline const Op* expression_at(Values args, size_t i) {
  return is_none(args, i) ? nullptr : as_op(args[i].as.expression);
}

inline tn_value int_value(int64_t i) {
  tn_value v{};
  v.kind = TN_KIND_INT;
  v.as.i = i;
  return v;
}
inline tn_value float_value(double f) {
  tn_value v{};
  v.kind = TN_KIND_FLOAT;
  v.as.f = f;
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
inline tn_value tensors_value(std::span<tn_tensor* const> list) {
  tn_value v{};
  v.kind = TN_KIND_TENSORS;
  v.count = static_cast<uint32_t>(list.size());
  v.as.tensors = list.data();
  return v;
}
inline tn_value ints_value(std::span<const int64_t> list) {
  static constexpr int64_t kNone = 0;
  tn_value v{};
  v.kind = TN_KIND_INTS;
  v.count = static_cast<uint32_t>(list.size());
  v.as.ints = list.empty() ? &kNone : list.data();
  return v;
}
inline tn_value dtype_value(tn_dtype dtype) {
  tn_value v{};
  v.kind = TN_KIND_DTYPE;
  v.as.dtype = dtype;
  return v;
}
inline tn_value device_value(tn_device device) {
  tn_value v{};
  v.kind = TN_KIND_DEVICE;
  v.as.device = device;
  return v;
}
inline tn_value expression_value(const Op& formula) {
  tn_value v{};
  v.kind = TN_KIND_EXPRESSION;
  v.as.expression = &formula;
  return v;
}

}  // namespace tenon
