// nonzero, the dynamic op: how many rows it gives depends on values, and the host allocates them
// before the launch returns. So the launch waits for its stream and counts; writing the rows is
// then work on the stream as ever.
#include "kernel.h"

namespace ref {

// Calls fn(index) for every element that is not 0, in row-major order.
template <class Fn>
static void each_nonzero(const tn_tensor* x, Fn&& fn) {
  View view(x);
  const auto each = [&](const Index& index) {
    if (view.load(TN_BOOL).i) fn(index);
  };
  for_each(x, each, view);
}

tn_status* nonzero(const tn_call* call) {
  const tn_tensor* x = call->args[0].as.tensor;
  View row(call->outputs[0]);
  each_nonzero(x, [&](const Index& index) {
    for (int32_t dim = 0; dim < x->ndim; ++dim, row.at += 8) row.store({.i = index[dim]}, TN_INT64);
  });
  return nullptr;
}

tn_status* launch_nonzero(void* self, const tn_call* call) {
  return guarded("nonzero", [&]() -> tn_status* {
    if (tn_status* status = synchronize(call->stream->handle)) return status;
    const tn_tensor* x = call->args[0].as.tensor;
    int64_t sizes[] = {0, x->ndim};
    each_nonzero(x, [&](const Index&) { ++sizes[0]; });
    if (tn_status* status = call->host->set_output(call, 0, 2, sizes)) return status;
    return launch(self, call);
  });
}

}  // namespace ref
