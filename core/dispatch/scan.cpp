// The scan primitive: cumulative sums and products. A device without a kernel adds shifted copies,
// log2(n) times.
#include "dispatch/convert.h"
#include "dispatch/elementwise.h"
#include "dispatch/expressions.h"
#include "dispatch/primitives.h"
#include "memory/memory.h"
#include "tensor/view.h"

namespace tenon {
namespace {

Status window(Tensor* x, int32_t dim, int64_t start, int64_t end, TensorRef* view) {
  Geometry g;
  TN_TRY(slice_geometry(x, dim, start, end, 1, &g));
  *view = TensorRef(make_view_unchecked(x, g.size_span(), g.strides, g.offset));
  return nullptr;
}

// y = x folded with itself shifted by 1, 2, 4, ... along dim.
Status scan_by_doubling(tn_reduce_kind kind, Tensor* x, int32_t dim, bool reverse,
                        Tensor** result) {
  const Expression& fold =
      kind == TN_REDUCE_SUM ? formula("scan_sum(Tensor(a!) y, Tensor x) -> Tensor(a!)", "y + x")
                            : formula("scan_prod(Tensor(a!) y, Tensor x) -> Tensor(a!)", "y * x");
  TensorRef before;
  Tensor* made;
  TN_TRY(copy_to(x, x->device, TN_DTYPE_NONE, &made));
  TensorRef y(made);
  const int64_t n = x->sizes[dim];
  for (int64_t shift = 1; shift < n; shift *= 2) {
    TN_TRY(copy_to(y.get(), y->device, TN_DTYPE_NONE, &made));
    before = TensorRef(made);
    TensorRef to, from;
    TN_TRY(window(y.get(), dim, reverse ? 0 : shift, reverse ? n - shift : n, &to));
    TN_TRY(window(before.get(), dim, reverse ? shift : 0, reverse ? n : n - shift, &from));
    const tn_value args[2] = {tensor_value(to.get()), tensor_value(from.get())};
    Tensor* same;
    TN_TRY(run_elementwise(nullptr, fold, args, &same));
    same->release();
  }
  *result = y.take();
  return nullptr;
}

}  // namespace

Status run_scan(const PrimitiveArgs& args, Tensor** result) {
  const int64_t kind = args.integer(0, "kind");
  Tensor* given = args.tensor(1, "x");
  const bool reverse = args.boolean(3, "reverse", false);
  int32_t dim;
  TN_TRY(wrap_dim("scan", args.integer(2, "dim"), given->ndim, &dim));
  if (kind != TN_REDUCE_SUM && kind != TN_REDUCE_PROD)
    return invalid("scan: kind {} is no sum and no product", kind);
  const tn_dtype dtype = is_float(given->dtype) ? given->dtype : tn_dtype{TN_INT64};
  TensorRef x = TensorRef::retaining(given);
  if (dtype != given->dtype) {
    Tensor* converted;
    TN_TRY(copy_to(given, given->device, dtype, &converted));
    x = TensorRef(converted);
  }
  if (x->ndim == 0 || x->numel == 0 || x->device.type == TN_DEVICE_META) {
    return copy_to(x.get(), x->device, TN_DTYPE_NONE, result);
  }
  if (!has_primitive(TN_PRIM_SCAN, x->device)) {
    if (!is_half(dtype))
      return scan_by_doubling(static_cast<tn_reduce_kind>(kind), x.get(), dim, reverse, result);
    Tensor *wide, *scanned;  // halves are folded in float32
    TN_TRY(copy_to(x.get(), x->device, TN_FLOAT32, &wide));
    TensorRef hold(wide);
    TN_TRY(scan_by_doubling(static_cast<tn_reduce_kind>(kind), wide, dim, reverse, &scanned));
    TensorRef hold_scanned(scanned);
    return copy_to(scanned, x->device, dtype, result);
  }
  Tensor* made;
  TN_TRY(empty_tensor(x->size_span(), dtype, x->device, &made));
  TensorRef hold(made);
  const tn_value call[4] = {args.at(0), tensor_value(x.get()), int_value(dim), bool_value(reverse)};
  const Kernel* kernel;
  TN_TRY(primitive_kernel(TN_PRIM_SCAN, x->device, call, nullptr, &kernel));
  TN_TRY(launch(*kernel, nullptr, x->device, call, {&made, 1}));
  *result = hold.take();
  return nullptr;
}

}  // namespace tenon
