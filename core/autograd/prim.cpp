#include "autograd/prim.h"

#include "base/text.h"
#include "registry/expressions.h"
#include "primitive/convert.h"
#include "primitive/loop.h"
#include "primitive/primitives.h"
#include "tensor/rows.h"

namespace tenon::prim {
namespace {

TensorRef run(const Op* op, std::span<const tn_value> args) {
  tn_value result{};
  throw_if(call(op, args.data(), static_cast<uint32_t>(args.size()), &result, 1));
  return TensorRef(as_tensor(result.as.tensor));
}
TensorRef run(tn_primitive kind, std::initializer_list<tn_value> args) {
  return run(primitive_op(kind), {args.begin(), args.size()});
}

}  // namespace

TensorRef zeros(Sizes sizes, tn_dtype dtype, tn_device device) {
  return run(TN_PRIM_FILL,
             {ints_value(sizes), int_value(0), dtype_value(dtype), device_value(device)});
}

TensorRef spread_zero(Sizes sizes, tn_dtype dtype, tn_device device) {
  return expand(zeros({}, dtype, device).get(), sizes);
}

TensorRef elementwise(const char* schema, const char* text,
                      std::initializer_list<Tensor*> operands) {
  tn_value args[8];
  size_t n = 0;
  for (Tensor* t : operands) args[n++] = tensor_value(t);
  return run(&formula(schema, text), {args, n});
}

TensorRef reduce(tn_reduce_kind kind, Tensor* x, Sizes dims, bool keepdim) {
  tn_tensor* const xs[1] = {x};
  return run(TN_PRIM_REDUCE,
             {int_value(kind), tensors_value(xs), ints_value(dims), bool_value(keepdim)});
}

TensorRef scan(tn_reduce_kind kind, Tensor* x, int64_t dim, bool reverse) {
  return run(TN_PRIM_SCAN, {int_value(kind), tensor_value(x), int_value(dim), bool_value(reverse)});
}

TensorRef matmul(Tensor* a, Tensor* b) {
  return run(TN_PRIM_MATMUL, {tensor_value(a), tensor_value(b)});
}

TensorRef transpose_last(Tensor* x) {
  int64_t dims[TN_MAX_RANK];
  for (int32_t d = 0; d < x->ndim; ++d) dims[d] = d;
  std::swap(dims[x->ndim - 1], dims[x->ndim - 2]);
  return permute(x, {dims, static_cast<size_t>(x->ndim)});
}

TensorRef gather(Tensor* x, int64_t dim, Tensor* index) {
  return run(TN_PRIM_GATHER, {tensor_value(x), int_value(dim), tensor_value(index)});
}

TensorRef scatter(Tensor* x, int64_t dim, Tensor* index, Tensor* src, bool add) {
  return run(TN_PRIM_SCATTER, {tensor_value(x), int_value(dim), tensor_value(index),
                               tensor_value(src), bool_value(add)});
}

TensorRef iota(int64_t n, tn_device device) {
  return run(TN_PRIM_IOTA, {int_value(n), int_value(0), int_value(1), dtype_value(TN_INT64),
                            device_value(device)});
}

TensorRef reshape(Tensor* x, Sizes sizes) {
  return run(TN_PRIM_RESHAPE, {tensor_value(x), ints_value(sizes)});
}
TensorRef permute(Tensor* x, Sizes dims) {
  return run(TN_PRIM_PERMUTE, {tensor_value(x), ints_value(dims)});
}
TensorRef expand(Tensor* x, Sizes sizes) {
  return run(TN_PRIM_EXPAND, {tensor_value(x), ints_value(sizes)});
}

TensorRef slice(Tensor* x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  return run(TN_PRIM_SLICE,
             {tensor_value(x), int_value(dim), int_value(start), int_value(end), int_value(step)});
}

TensorRef as_strided(Tensor* x, Sizes sizes, Sizes strides, int64_t offset) {
  return run(TN_PRIM_AS_STRIDED,
             {tensor_value(x), ints_value(sizes), ints_value(strides), int_value(offset)});
}

TensorRef convert(Tensor* x, tn_device device, tn_dtype dtype) {
  if (x->dtype == dtype && x->device == device) return TensorRef::retaining(x);
  if (is_rows(x)) {
    Tensor* made;
    throw_if(copy_to(x, device, dtype, &made));
    return TensorRef(made);
  }
  return run(TN_PRIM_COPY, {tensor_value(x), dtype_value(dtype), device_value(device)});
}

TensorRef reduce_to(Tensor* grad, Sizes sizes, tn_dtype dtype, tn_device device) {
  TensorRef result = TensorRef::retaining(grad);
  if (!same_sizes(grad, sizes)) {
    const int32_t lead = grad->ndim - static_cast<int32_t>(sizes.size());
    int64_t dims[TN_MAX_RANK];
    size_t n = 0;
    for (int32_t d = 0; d < grad->ndim; ++d) {
      if (d < lead || (sizes[d - lead] == 1 && grad->sizes[d] != 1)) dims[n++] = d;
    }
    if (n > 0) result = reduce(TN_REDUCE_SUM, grad, {dims, n}, true);
    if (!same_sizes(result.get(), sizes)) result = reshape(result.get(), sizes);
  }
  return convert(result.get(), device, dtype);
}

Status conform(const Node& node, uint32_t i, const TensorInfo& info, Tensor** grad) {
  const Tensor* found = *grad;
  if (found == nullptr) return nullptr;
  if (is_rows(found) && !node.edge(i).node->is_leaf()) [[unlikely]] {
    return invalid(
        "{}: its gradient for input {} is row-sparse, which only leaves take; {} made the input",
        node.name(), i, node.edge(i).node->name());
  }
  const bool sizes = same_sizes(found, info.sizes), device = found->device == info.device;
  if (sizes && device && found->dtype == info.dtype) [[likely]]
    return nullptr;
  bool sums = static_cast<size_t>(found->ndim) >= info.sizes.size();
  for (size_t d = 0; sums && d < info.sizes.size(); ++d) {
    sums = info.sizes[d] == 1 ||
           info.sizes[d] == found->sizes[found->ndim - static_cast<int32_t>(info.sizes.size() - d)];
  }
  if (!device || !sums || !is_float(found->dtype)) {
    return invalid("{}: backward gave {} for input {}, expected {} {} on {}", node.name(),
                   tensor_text(found), i,
                   shape_text(info.sizes.data(), static_cast<int32_t>(info.sizes.size())),
                   dtype_name(info.dtype), device_text(info.device));
  }
  return guarded([&]() -> Status {
    TensorRef given(std::exchange(*grad, nullptr));
    *grad = reduce_to(given.get(), info).take();
    return nullptr;
  });
}

}  // namespace tenon::prim
