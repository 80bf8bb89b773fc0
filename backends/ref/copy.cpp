// Copies that cast and reorder, and what fills memory with numbers.
#include "kernel.h"

namespace ref {

// start + i * step for the i-th element of y.
static tn_status* write_numbers(const tn_tensor* y, const tn_value& start, const tn_value& step) {
  const bool floats = start.kind == TN_KIND_FLOAT || step.kind == TN_KIND_FLOAT;
  const double f = start.kind == TN_KIND_FLOAT ? start.as.f : static_cast<double>(start.as.i);
  const double df = step.kind == TN_KIND_FLOAT ? step.as.f : static_cast<double>(step.as.i);
  int64_t i = 0;
  View to(y);
  const auto write = [&](const Index&) {
    if (floats) {
      to.store({.d = f + static_cast<double>(i) * df}, TN_FLOAT64);
    } else {
      const auto way = static_cast<uint64_t>(i) * static_cast<uint64_t>(step.as.i);  // wraps
      to.store({.i = static_cast<int64_t>(static_cast<uint64_t>(start.as.i) + way)}, TN_INT64);
    }
    ++i;
  };
  for_each(y, write, to);
  return nullptr;
}

tn_status* copy(const tn_call* call) {
  View from(call->args[0].as.tensor), to(call->outputs[0]);
  const tn_dtype type = register_type(from.dtype);
  const auto write = [&](const Index&) { to.store(from.load(type), type); };
  for_each(call->outputs[0], write, from, to);
  return nullptr;
}

tn_status* fill(const tn_call* call) {
  return write_numbers(call->outputs[0], call->args[0], {TN_KIND_INT});  // a step of 0
}

tn_status* iota(const tn_call* call) {
  return write_numbers(call->outputs[0], call->args[0], call->args[1]);
}

}  // namespace ref
