// The scan primitive: cumulative sums and products. A device without a kernel adds shifted copies,
// log2(n) times.
#include "primitive/convert.h"
#include "primitive/elementwise.h"
#include "registry/expressions.h"
#include "primitive/primitives.h"
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

// y, which holds x, folded with itself shifted by 1, 2, 4, ... along dim.
Status fold_by_doubling(tn_reduce_kind kind, Tensor* y, int32_t dim, bool reverse) {
  const Op& fold = kind == TN_REDUCE_SUM
                       ? formula("scan_sum(Tensor(a!) y, Tensor x) -> Tensor(a!)", "y + x")
                       : formula("scan_prod(Tensor(a!) y, Tensor x) -> Tensor(a!)", "y * x");
  const int64_t n = y->sizes[dim];
  for (int64_t shift = 1; shift < n; shift *= 2) {
    Tensor* made;
    TN_TRY(copy_to(y, y->device, TN_DTYPE_NONE, &made));
    const TensorRef before(made);
    TensorRef to, from;
    TN_TRY(window(y, dim, reverse ? 0 : shift, reverse ? n - shift : n, &to));
    TN_TRY(window(before.get(), dim, reverse ? shift : 0, reverse ? n : n - shift, &from));
    const tn_value args[2] = {tensor_value(to.get()), tensor_value(from.get())};
    Tensor* same;
    TN_TRY(run_elementwise(fold, args, &same));
    same->release();
  }
  return nullptr;
}

}  // namespace

Status scan_without_kernel(Values args, std::span<Tensor* const> outputs) {
  Tensor *x = tensor_at(args, 1), *y = outputs[0];
  const auto kind = static_cast<tn_reduce_kind>(int_at(args, 0));
  const auto dim = static_cast<int32_t>(int_at(args, 2));
  TensorRef folded = TensorRef::retaining(y);
  if (is_half(y->dtype)) {  // halves are folded in float32
    Tensor* wide;
    TN_TRY(copy_to(x, x->device, TN_FLOAT32, &wide));
    folded = TensorRef(wide);
  } else {
    TN_TRY(copy_into(y, x));
  }
  TN_TRY(fold_by_doubling(kind, folded.get(), dim, bool_at(args, 3)));
  return folded.get() == y ? nullptr : copy_into(y, folded.get());
}

Status run_scan(Values args, Tensor** result) {
  const int64_t kind = int_at(args, 0);
  Tensor* given = tensor_at(args, 1);
  int32_t dim;
  TN_TRY(wrap_dim("scan", int_at(args, 2), given->ndim, &dim));
  if (kind != TN_REDUCE_SUM && kind != TN_REDUCE_PROD)
    return invalid("scan: kind {} is no sum and no product", kind);
  const tn_dtype dtype = is_float(given->dtype) ? given->dtype : tn_dtype{TN_INT64};
  TensorRef x = TensorRef::retaining(given);
  if (dtype != given->dtype) {
    Tensor* converted;
    TN_TRY(copy_to(given, given->device, dtype, &converted));
    x = TensorRef(converted);
  }
  if (x->ndim == 0 || x->numel == 0) return copy_to(x.get(), x->device, TN_DTYPE_NONE, result);
  Tensor* made;
  TN_TRY(empty_tensor(x->size_span(), dtype, x->device, &made));
  TensorRef hold(made);
  const tn_value call[4] = {args[0], tensor_value(x.get()), int_value(dim), args[3]};
  TN_TRY(launch_primitive(TN_PRIM_SCAN, x->device, call, {&made, 1}));
  *result = hold.take();
  return nullptr;
}

}  // namespace tenon
