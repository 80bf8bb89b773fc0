// gather and scatter. Both walk over the index: there one side has an element, and the other
// (`indexed`) has one at the index along `dim`. scatter looks at all indices before it writes.
#include "kernel.h"

namespace ref {

// Calls fn for each element of `index`, with both sides moved to theirs. Stops where out of range.
template <class Fn>
static tn_status* walk(const char* name, const tn_call* call, const tn_tensor* index, View& side,
                       View& indexed, const int64_t* sizes, Fn&& fn) {
  const auto dim = static_cast<int32_t>(call->args[1].as.i);
  const int64_t size = indexed.ndim > 0 ? sizes[dim] : 1;
  tn_status* status = nullptr;
  View picks(index);
  const auto each = [&](Index at) {
    if (status) return;
    at[dim] = picks.load(TN_INT64).i;
    if (at[dim] >= 0 && at[dim] < size) {
      indexed.move(at);
      return fn();
    }
    status = error(host, TN_INVALID_ARGUMENT,
                   "%s: index %ld is out of range for dimension %d of size %ld (%s:%d)", name,
                   at[dim], dim, size, kDeviceName, call->stream->device.index);
  };
  for_each(index, each, picks, side);
  return status;
}

tn_status* gather(const tn_call* call) {
  const tn_tensor* x = call->args[0].as.tensor;
  const tn_dtype type = register_type(x->dtype);
  View from(x), to(call->outputs[0]);
  const auto read = [&] { to.store(from.load(type), type); };
  return walk("gather", call, call->args[2].as.tensor, to, from, x->sizes, read);
}

tn_status* scatter(const tn_call* call) {
  const tn_tensor *y = call->outputs[0], *index = call->args[0].as.tensor;
  View from(call->args[2].as.tensor), to(y);
  const tn_dtype type = register_type(y->dtype);
  const bool add = call->args[3].as.i != 0;
  const auto write = [&] {
    Register value = from.load(type), old = to.load(type);
    if (add && type == TN_FLOAT32) value.f += old.f;
    if (add && type == TN_FLOAT64) value.d += old.d;
    if (add && (type == TN_INT64 || type == TN_BOOL)) value.i += old.i;
    to.store(value, type);
  };
  tn_status* wrong = walk("scatter", call, index, from, to, y->sizes, [] {});
  return wrong ? wrong : walk("scatter", call, index, from, to, y->sizes, write);
}

}  // namespace ref
