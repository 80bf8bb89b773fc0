// Primitives that index or make: gather, scatter, nonzero, iota, random_bits.
#include <algorithm>

#include "base/text.h"
#include "primitive/convert.h"
#include "primitive/device_dtypes.h"
#include "primitive/loop.h"
#include "primitive/primitives.h"
#include "memory/memory.h"
#include "registry/registry.h"
#include "tensor/view.h"

namespace tenon {
namespace {

// Kernels see int64 alone: int32 is converted, and an index without elements is as good as one of
// int64.
Status whole_index(const char* what, Tensor* index, TensorRef* whole) {
  if (index->dtype == TN_INT64) {
    *whole = TensorRef::retaining(index);
    return nullptr;
  }
  if (index->dtype != TN_INT32 && (index->numel > 0 || is_float(index->dtype))) {
    return invalid("{}: index is {}, expected int64 or int32", what, dtype_name(index->dtype));
  }
  Tensor* made;
  TN_TRY(copy_to(index, index->device, TN_INT64, &made));
  *whole = TensorRef(made);
  return nullptr;
}

Status check_index(const char* what, const Tensor* x, int32_t dim, const Tensor* index) {
  if (!(index->device == x->device)) {
    return invalid("{}: x is {}, index is {}; expected one device", what, tensor_text(x),
                   tensor_text(index));
  }
  if (index->numel == 0) return nullptr;  // names no element, whatever its shape is
  bool fits = index->ndim == x->ndim;
  for (int32_t d = 0; fits && d < x->ndim; ++d) fits = d == dim || index->sizes[d] <= x->sizes[d];
  if (!fits) {
    return invalid(
        "{}: index is {} for x of {}; expected as many dimensions, and sizes at most x's except "
        "along {}",
        what, sizes_text(index), sizes_text(x), dim);
  }
  return nullptr;
}

Status make_and_launch(tn_primitive kind, std::span<const tn_value> args,
                       std::span<const int64_t> sizes, tn_dtype dtype, tn_device device,
                       Tensor** result) {
  int64_t numel;
  TN_TRY(count_elements(primitive_name(kind), sizes, dtype, &numel));
  Tensor* made;
  TN_TRY(empty_tensor(sizes, dtype, device, &made));
  TensorRef hold(made);
  if (numel > 0) TN_TRY(launch_primitive(kind, device, args, {&made, 1}));
  *result = hold.take();
  return nullptr;
}

// The arguments of a scatter that were looked at: dim from 0, and the index as int64.
struct Scattering {
  int32_t dim;
  TensorRef index;
};

Status check_scatter(const char* what, Values args, Scattering* s) {
  Tensor *x = tensor_at(args, 0), *index = tensor_at(args, 2), *src = tensor_at(args, 3);
  TN_TRY(wrap_dim(what, int_at(args, 1), x->ndim, &s->dim));
  TN_TRY(check_index(what, x, s->dim, index));
  TN_TRY(whole_index(what, index, &s->index));
  if (src->dtype == x->dtype && src->device == x->device && same_sizes(src, index)) return nullptr;
  return invalid("{}: src is {}, expected {} {} on {}", what, tensor_text(src), sizes_text(index),
                 dtype_name(x->dtype), device_text(x->device));
}

// Whether kernels of the device write to a part of a tensor as it lies.
bool writes_strided(tn_device device) {
  const KernelList* list = registry().primitive(TN_PRIM_SCATTER).find(device.type);
  return list != nullptr && std::ranges::all_of(*list, [](const auto& kernel) {
           return (kernel->def.traits & TN_KERNEL_STRIDED_OUTPUT) != 0;
         });
}

// y has the values of x already.
Status scatter_to(Tensor* y, const Scattering& s, Values args) {
  if (s.index->numel == 0) return nullptr;
  const tn_value call[4] = {tensor_value(s.index.get()), int_value(s.dim), args[3], args[4]};
  return launch_primitive(TN_PRIM_SCATTER, y->device, call, {&y, 1});
}

// Sums of halves are rounded once, as those of the other primitives, however many elements one
// index has.
Status add_in_float32(Tensor* x, int32_t dim, Tensor* index, Tensor* src, Tensor** result) {
  Tensor* made;
  TN_TRY(copy_to(x, x->device, TN_FLOAT32, &made));
  const TensorRef wide_x(made);
  TN_TRY(copy_to(src, src->device, TN_FLOAT32, &made));
  const TensorRef wide_src(made);
  const tn_value args[5] = {tensor_value(wide_x.get()), int_value(dim), tensor_value(index),
                            tensor_value(wide_src.get()), bool_value(true)};
  TN_TRY(run_scatter(args, &made));
  const TensorRef sum(made);
  return copy_to(sum.get(), x->device, x->dtype, result);
}

}  // namespace

Status run_gather(Values args, Tensor** result) {
  Tensor *x = tensor_at(args, 0), *index = tensor_at(args, 2);
  int32_t d;
  TN_TRY(wrap_dim("gather", int_at(args, 1), x->ndim, &d));
  TN_TRY(check_index("gather", x, d, index));
  TensorRef whole;
  TN_TRY(whole_index("gather", index, &whole));
  const tn_value call[3] = {args[0], int_value(d), tensor_value(whole.get())};
  return make_and_launch(TN_PRIM_GATHER, call, index->size_span(), x->dtype, x->device, result);
}

Status run_scatter(Values args, Tensor** result) {
  Tensor* x = tensor_at(args, 0);
  Scattering s;
  TN_TRY(check_scatter("scatter", args, &s));
  if (bool_at(args, 4) && is_half(x->dtype) && x->device.type != TN_DEVICE_META)
    return add_in_float32(x, s.dim, tensor_at(args, 2), tensor_at(args, 3), result);
  Tensor* made;
  TN_TRY(copy_to(x, x->device, TN_DTYPE_NONE, &made));
  TensorRef hold(made);
  TN_TRY(scatter_to(made, s, args));
  *result = hold.take();
  return nullptr;
}

Status run_scatter_into(Values args, Tensor** result) {
  Tensor *x = tensor_at(args, 0), *src = tensor_at(args, 3);
  Scattering s;
  TN_TRY(check_scatter("scatter_", args, &s));
  if (may_overlap(x))
    return invalid("scatter_: x ({}) has elements that share memory", sizes_text(x));
  // A kernel reads no memory that it writes.
  const bool is_direct = ((x->flags & TN_TENSOR_CONTIGUOUS) != 0 || writes_strided(x->device)) &&
                         !same_memory(x->storage, src->storage) &&
                         !same_memory(x->storage, s.index->storage) &&
                         !(bool_at(args, 4) && is_half(x->dtype));
  if (is_direct || x->device.type == TN_DEVICE_META) {
    TN_TRY(scatter_to(x, s, args));  // SCATTER looks at all indices before it writes (abi.h)
    x->bump_version();
  } else {
    Tensor* made;
    TN_TRY(run_scatter(args, &made));
    const TensorRef hold(made);
    TN_TRY(copy_into(x, made));
  }
  x->retain();
  *result = x;
  return nullptr;
}

Status run_random_bits(Values args, Tensor** result) {
  return make_and_launch(TN_PRIM_RANDOM_BITS, {}, ints_at(args, 0), TN_INT32,
                         device_at(args, 1, kCpu), result);
}

Status run_iota(Values args, Tensor** result) {
  const int64_t n = int_at(args, 0);
  const tn_dtype dtype = dtype_at(args, 3, TN_INT64);
  const tn_device device = device_at(args, 4, kCpu);
  TN_TRY(check_has_dtype(device, dtype));
  return make_and_launch(TN_PRIM_IOTA, args.subspan(1, 2), {&n, 1}, dtype, device, result);
}

Status run_nonzero(Values args, Tensor** result) {
  Tensor* x = tensor_at(args, 0);
  if (x->device.type == TN_DEVICE_META) {
    return invalid("nonzero: the size of the result depends on values, and a meta tensor has none");
  }
  tn_meta meta{};
  meta.ndim = 2;
  meta.dtype = TN_INT64;
  meta.device = x->device;
  if (x->numel == 0) {
    const int64_t sizes[2] = {0, x->ndim};
    return empty_tensor(sizes, TN_INT64, x->device, result);
  }
  Tensor* made = nullptr;
  const Status status = launch_primitive(TN_PRIM_NONZERO, x->device, args, {&made, 1}, &meta);
  if (status != nullptr || made == nullptr) {
    if (made != nullptr) made->release();
    return status != nullptr ? status
                             : error(TN_INTERNAL, "nonzero: the kernel of {} set no output",
                                     device_text(x->device));
  }
  *result = made;
  return nullptr;
}

}  // namespace tenon
