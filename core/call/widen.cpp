#include "call/widen.h"

#include <algorithm>

#include "call/call.h"
#include "launch/explain.h"
#include "primitive/primitives.h"
#include "call/decompose.h"
#include "call/tracing.h"

namespace tenon {
namespace {

// A copy in another dtype, recorded and explained as every other call.
Status convert(tn_tensor* t, tn_dtype dtype, tn_tensor** result) {
  const tn_value args[2] = {tensor_value(t), dtype_value(dtype)};
  tn_value made{};
  TN_TRY(call(primitive_op(TN_PRIM_COPY), args, 2, &made, 1));
  *result = made.as.tensor;
  return nullptr;
}

bool has_half(const tn_value& v) {
  return std::ranges::any_of(tensors_of(v),
                             [](const tn_tensor* t) { return t != nullptr && is_half(t->dtype); });
}

// A result as the decomposition of the halves would have given it: an argument that it gives back
// is that argument.
Status narrow(const WideArguments& wide, tn_dtype dtype, tn_tensor** result) {
  tn_tensor* found = *result;
  if (found == nullptr || found->dtype == dtype || dtype == TN_DTYPE_NONE) return nullptr;
  if (Tensor* source = wide.source_of(found)) {
    source->retain();
    *result = source;
  } else {
    TN_TRY(convert(found, dtype, result));
  }
  as_tensor(found)->release();
  return nullptr;
}

Status narrow_all(const WideArguments& wide, const std::vector<tn_dtype>& dtypes,
                  std::span<tn_value> results) {
  size_t at = 0;
  const auto next = [&](tn_tensor** t) -> Status {
    return at < dtypes.size() ? narrow(wide, dtypes[at++], t) : nullptr;
  };
  for (tn_value& v : results) {
    for (tn_tensor* const& t : tensors_of(v)) TN_TRY(next(const_cast<tn_tensor**>(&t)));
  }
  return nullptr;
}

}  // namespace

Status WideArguments::cast(tn_tensor* t, tn_tensor** wide) {
  *wide = t;
  if (t == nullptr || !is_half(t->dtype)) return nullptr;
  for (const Cast& c : casts_) {
    if (c.source != t) continue;
    *wide = c.wide.get();
    return nullptr;
  }
  TN_TRY(convert(t, TN_FLOAT32, wide));
  casts_.push_back({as_tensor(t), TensorRef(as_tensor(*wide))});
  return nullptr;
}

Tensor* WideArguments::source_of(const tn_tensor* wide) const {
  for (const Cast& c : casts_) {
    if (c.wide.get() == wide) return c.source;
  }
  return nullptr;
}

Status WideArguments::make(const Op* op, std::span<const tn_value> given) {
  return mapped_.make(given, op->written,
                      [&](size_t, tn_tensor* t, tn_tensor** wide) { return cast(t, wide); });
}

bool has_halves_to_widen(const Op* op, std::span<const tn_value> args) {
  bool halves = false;
  for (size_t i = 0; i < args.size(); ++i)
    halves |= (op->written >> i & 1) == 0 && has_half(args[i]);
  return halves && call_device(args).type != TN_DEVICE_META;
}

Status run_widened(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  return guarded([&]() -> Status {
    std::vector<tn_dtype> dtypes;
    if (!traced_dtypes(op, args, &dtypes)) return decompose_as_is(op, args, results);
    explain_note("computed in float32, the results rounded once");
    const DecompositionScope scope(op);
    WideArguments wide;
    TN_TRY(wide.make(op, args));
    TN_TRY(call_below_autocast(op, wide.args(), results));
    if (Status status = narrow_all(wide, dtypes, results)) {
      release_values(results);
      return status;
    }
    return nullptr;
  });
}

}  // namespace tenon
