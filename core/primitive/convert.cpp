#include "primitive/convert.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "primitive/device_dtypes.h"
#include "primitive/elementwise.h"
#include "registry/expressions.h"
#include "registry/recording.h"
#include "primitive/primitives.h"
#include "memory/memory.h"
#include "memory/pinned_pool.h"
#include "memory/transfer.h"
#include "tensor/layout.h"
#include "tensor/rows.h"
#include "tensor/view.h"

namespace tenon {
namespace {

template <typename T>
T load(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

// Host memory that a graph would read again is not what it was, and a graph has no place to keep
// it.
Status check_upload(const char* what, tn_device to, tn_device from) {
  if ((thread_state.modes & kModeCapture) == 0 || to == from || from.type != TN_DEVICE_CPU)
    return nullptr;
  return error(
      TN_FAILED_PRECONDITION,
      "{}: values go from the cpu to {} inside a captured function; bring them there before it",
      what, device_text(to));
}

// Are the elements of the two behind each other, without gaps, in one order?
bool lie_alike(const Tensor* a, const Tensor* b) {
  if (a->is_contiguous() && b->is_contiguous()) return true;
  if (!is_dense(a)) return false;
  for (int32_t d = 0; d < a->ndim; ++d)
    if (a->sizes[d] > 1 && a->strides[d] != b->strides[d]) return false;
  return true;
}

// Of one dtype and size, lying alike, on any two devices.
Status copy_dense(Tensor* dst, Tensor* src) {
  const uint64_t bytes = static_cast<uint64_t>(dst->numel) * kItemSize[dst->dtype];
  if ((thread_state.modes & kModeRecord) != 0) [[unlikely]] {
    thread_state.recording->copy(dst->storage, dst->byte_offset, src->storage, src->byte_offset,
                                 bytes);
  }
  return copy_bytes(dst->storage, dst->byte_offset, src->storage, src->byte_offset, bytes);
}

Status write_dense(Tensor* x, const void* memory, uint64_t bytes) {
  if ((thread_state.modes & kModeRecord) != 0) [[unlikely]]
    thread_state.recording->write(x->storage, x->byte_offset, memory, bytes);
  return write_bytes(x->storage, x->byte_offset, memory, bytes);
}

// dst = src elementwise, one device, any dtypes.
Status copy_on_device(Tensor* dst, Tensor* src) {
  if (dst->numel == 0) return nullptr;
  if (dst->dtype == src->dtype && lie_alike(dst, src)) return copy_dense(dst, src);
  const tn_value arg = tensor_value(src);
  return launch_primitive(TN_PRIM_COPY, dst->device, {&arg, 1}, {&dst, 1});
}

}  // namespace

// The program is launched as it is: promotion would refuse casts in place (float to int), which are
// what a copy is for.
Status copy_without_kernel(Values args, std::span<Tensor* const> outputs) {
  const Tensor *src = tensor_at(args, 0), *dst = outputs[0];
  const Op& identity = formula("copy(Tensor x) -> Tensor", "x");
  const OperandType type{src->dtype, Category::kTensor, false};
  const CompiledProgram* compiled;
  TN_TRY(identity.expression->compile({&type, 1}, &compiled));
  LoopBuffers buffers;
  const Tensor* operands[2] = {dst, src};
  strided_loop(dst->size_span(), operands, 2, &buffers);
  const tn_loop loop{sizeof(tn_loop),    buffers.ndim,     dst->numel, buffers.sizes,
                     &compiled->program, buffers.operands, nullptr};
  tn_value arg{};
  arg.kind = TN_KIND_LOOP;
  arg.as.loop = &loop;
  const Kernel* kernel;
  // The program stores a dtype of its own; here it is stored as another.
  const uint32_t instruction_set =
      std::max(compiled->program.instruction_set, instruction_set_of(dst->dtype));
  TN_TRY(primitive_kernel(TN_PRIM_ELEMENTWISE, &identity, dst->device, {&arg, 1}, instruction_set,
                          &kernel));
  Tensor* written = outputs[0];
  return launch(*kernel, &identity, dst->device, {&arg, 1}, {&written, 1});
}

tn_value read_scalar(const tn_tensor* t) {
  tn_value v{};
  v.kind = is_float(t->dtype) ? TN_KIND_FLOAT : t->dtype == TN_BOOL ? TN_KIND_BOOL : TN_KIND_INT;
  dtype_table::visit(t->dtype, [&]<typename Tag>(Tag) {
    if constexpr (Tag::dtype == TN_BOOL) {
      v.as.i = load<uint8_t>(t->data);  // which may hold what no bool of C++ does
    } else if constexpr (std::is_integral_v<typename Tag::Element>) {
      v.as.i = load<typename Tag::Element>(t->data);
    } else {
      v.as.f = load<typename Tag::Element>(t->data);
    }
  });
  return v;
}

Status contiguous(Tensor* x, Tensor** result) {
  if (x->is_contiguous()) {
    x->retain();
    *result = x;
    return nullptr;
  }
  return copy_to(x, x->device, TN_DTYPE_NONE, result);
}

static Status copy_rows_to(Tensor* x, tn_device device, tn_dtype dtype, Tensor** result) {
  Tensor* made;
  TN_TRY(copy_to(rows_of(x)->indices.get(), device, TN_DTYPE_NONE, &made));
  const TensorRef indices(made);
  TN_TRY(copy_to(rows_of(x)->values.get(), device, dtype, &made));
  const TensorRef values(made);
  return make_rows(indices.get(), values.get(), x->sizes[0], result);
}

static Status copy_as(Tensor* x, tn_device device, tn_dtype dtype, bool in_order, Tensor** result) {
  TN_TRY(check_device(device));
  if (dtype == TN_DTYPE_NONE) dtype = x->dtype;
  if (is_rows(x)) [[unlikely]]
    return copy_rows_to(x, device, dtype, result);
  int64_t numel;
  TN_TRY(count_elements("copy", x->size_span(), dtype, &numel));
  if (!(device == x->device)) TN_TRY(check_has_dtype(device, dtype));
  const bool goes_on = non_blocking_copies && device == kCpu && allocation_listener == nullptr &&
                       has_pinned_memory(x->device);
  Tensor* made;
  TN_TRY(goes_on ? empty_pinned(x->size_span(), dtype, x->device, &made)
                 : empty_tensor(x->size_span(), dtype, device, &made));
  if (in_order && !x->is_contiguous() && is_dense(x)) {
    const TensorRef rows(made);
    int32_t order[TN_MAX_RANK];
    int64_t strides[TN_MAX_RANK];
    dimension_order(x, order);
    strides_in_order(x->size_span(), order, strides);
    rows->storage->retain();
    made = make_tensor(rows->storage, x->size_span(), strides, 0, dtype);
  }
  TensorRef hold(made);
  if (device.type != TN_DEVICE_META) TN_TRY(copy_into(made, x));
  *result = hold.take();
  return nullptr;
}

Status copy_to(Tensor* x, tn_device device, tn_dtype dtype, Tensor** result) {
  return copy_as(x, device, dtype, false, result);
}

Status copy_in_order(Tensor* x, tn_device device, tn_dtype dtype, Tensor** result) {
  return copy_as(x, device, dtype, true, result);
}

// The three that follow: dst = src elementwise, of one size, on two devices.

// Casts and densifies where the source is, moves the bytes, spreads where the destination is.
static Status cast_and_move(Tensor* dst, Tensor* src) {
  Tensor* dense;
  if (lie_alike(dst, src)) {
    if (src->dtype == dst->dtype) src->retain();
    dense = src;
    if (src->dtype != dst->dtype) TN_TRY(copy_in_order(src, src->device, dst->dtype, &dense));
  } else {
    TN_TRY(src->dtype == dst->dtype ? contiguous(src, &dense)
                                    : copy_to(src, src->device, dst->dtype, &dense));
  }
  const TensorRef dense_source(dense);  // held until the transfer has noted its use
  if (lie_alike(dst, dense)) return copy_dense(dst, dense);
  Tensor* landed;
  TN_TRY(empty_tensor(dst->size_span(), dst->dtype, dst->device, &landed));
  const TensorRef staged(landed);
  TN_TRY(copy_dense(landed, dense));
  return copy_on_device(dst, landed);
}

// Moves the bytes to the cpu as they are, and casts there.
static Status move_and_cast(Tensor* dst, Tensor* src) {
  Tensor* made;
  {
    // The cpu reads what arrives at once, so nothing may be under way.
    const bool before = std::exchange(non_blocking_copies, false);
    Status failed = copy_in_order(src, kCpu, TN_DTYPE_NONE, &made);
    non_blocking_copies = before;
    TN_TRY(failed);
  }
  const TensorRef landed(made);
  if (dst->device == kCpu) return copy_on_device(dst, landed.get());
  TN_TRY(copy_in_order(landed.get(), kCpu, dst->dtype, &made));
  const TensorRef cast(made);
  return copy_into(dst, cast.get());
}

// A cast is done where fewer bytes move for it, and on the other side where no kernel takes it
// there: a device may lack dtypes that the cpu has.
static Status copy_across(Tensor* dst, Tensor* src) {
  TN_TRY(check_upload("copy_", dst->device, src->device));
  if (src->dtype == dst->dtype || src->device == kCpu) return cast_and_move(dst, src);
  const bool goes_on = non_blocking_copies && dst->storage->pinned_for == src->device.type;
  const bool moves_first =
      dst->device == kCpu && kItemSize[dst->dtype] >= kItemSize[src->dtype] && !goes_on;
  StatusHolder failed(moves_first ? move_and_cast(dst, src) : cast_and_move(dst, src));
  if (!failed || failed.get()->code != TN_UNSUPPORTED) return failed.take();
  const StatusHolder other(moves_first ? cast_and_move(dst, src) : move_and_cast(dst, src));
  return other ? failed.take() : nullptr;
}

Status copy_into(Tensor* dst, Tensor* src) {
  if (may_overlap(dst)) {
    return invalid("copy_: the destination ({}) has elements that share memory", sizes_text(dst));
  }
  if (dst->device.type == TN_DEVICE_META) return nullptr;
  if (src->device.type == TN_DEVICE_META)
    return invalid("copy_: a meta tensor has no values to copy");
  TensorRef expanded;
  if (!same_sizes(src, dst)) {
    Geometry g;
    if (Status status = expand_geometry(src, dst->size_span(), &g)) {
      return wrap(status, [] { return "copy_: the source does not broadcast to the destination"; });
    }
    expanded = TensorRef(make_view_unchecked(src, g.size_span(), g.strides, g.offset));
    src = expanded.get();
  }
  // an empty view may begin behind the end of its storage, where no byte can be asked for
  if (dst->numel == 0) {
    dst->bump_version();
    return nullptr;
  }
  TensorRef staged;
  if (!(dst->device == src->device)) {
    TN_TRY(copy_across(dst, src));
    dst->bump_version();
    return nullptr;
  }
  if (same_memory(dst->storage, src->storage)) {
    Tensor* apart;  // the same memory at other indices: read all of it before writing any
    TN_TRY(empty_tensor(src->size_span(), src->dtype, src->device, &apart));
    staged = TensorRef(apart);
    TN_TRY(copy_on_device(apart, src));
    src = apart;
  }
  TN_TRY(copy_on_device(dst, src));
  dst->bump_version();
  return nullptr;
}

Status run_copy(Values args, Tensor** result) {
  Tensor* x = tensor_at(args, 0);
  const tn_device device = device_at(args, 2, x->device);
  const tn_dtype dtype = dtype_at(args, 1, x->dtype);
  // One that converts nothing is there for the layout.
  const bool converts = device != x->device || dtype != x->dtype;
  return copy_as(x, device, dtype, converts, result);
}

Status run_fill(Values args, Tensor** result) {
  const auto sizes = ints_at(args, 0);
  const tn_dtype dtype = dtype_at(args, 2, TN_FLOAT32);
  int64_t numel;
  TN_TRY(count_elements("fill", sizes, dtype, &numel));
  const tn_device device = device_at(args, 3, kCpu);
  TN_TRY(check_has_dtype(device, dtype));
  Tensor* made;
  TN_TRY(empty_tensor(sizes, dtype, device, &made));
  TensorRef hold(made);
  TN_TRY(fill(made, args[1]));
  *result = hold.take();
  return nullptr;
}

Status fill_without_kernel(Values args, std::span<Tensor* const> outputs) {
  Tensor* x = outputs[0];
  const bool real = is_float(x->dtype);
  const Op& set = real ? formula("fill(Tensor(a!) x, float v) -> Tensor(a!)", "v")
                  : x->dtype == TN_BOOL
                      ? formula("fill(Tensor(a!) x, int v) -> Tensor(a!)", "v != 0")
                      : formula("fill(Tensor(a!) x, int v) -> Tensor(a!)", "v");
  tn_value values[2] = {tensor_value(x), {}};
  values[1].kind = real ? TN_KIND_FLOAT : TN_KIND_INT;
  const tn_scalar value = number_scalar(args[0], real);
  if (real)
    values[1].as.f = value.f;
  else
    values[1].as.i = value.i;
  Tensor* same;
  TN_TRY(run_elementwise(set, values, &same));
  same->release();
  return nullptr;
}

Status fill(Tensor* x, const tn_value& number) {
  if (may_overlap(x)) return invalid("fill: {} has elements that share memory", sizes_text(x));
  if (x->numel > 0) TN_TRY(launch_primitive(TN_PRIM_FILL, x->device, {&number, 1}, {&x, 1}));
  x->bump_version();
  return nullptr;
}

Status read_values(Tensor* x, void* memory, uint64_t bytes) {
  const uint64_t expected = static_cast<uint64_t>(x->numel) * kItemSize[x->dtype];
  if (bytes != expected) {
    return invalid("read: {} holds {} bytes, the buffer {}", tensor_text(x), expected, bytes);
  }
  if (x->device.type == TN_DEVICE_META) return invalid("read: a meta tensor has no values");
  if ((thread_state.modes & kModeCapture) != 0) {
    return error(TN_FAILED_PRECONDITION,
                 "read: a value is read back inside a captured function; return the tensor and "
                 "read it outside");
  }
  if ((thread_state.modes & kModeRecord) != 0)
    thread_state.recording->refuse("read: a value is read back, of " + tensor_text(x));
  Tensor* dense;
  TN_TRY(contiguous(x, &dense));
  TensorRef hold(dense);
  return bytes == 0 ? nullptr : read_bytes(memory, dense->storage, dense->byte_offset, bytes);
}

Status write_values(Tensor* x, const void* memory, uint64_t bytes) {
  const uint64_t expected = static_cast<uint64_t>(x->numel) * kItemSize[x->dtype];
  if (bytes != expected) {
    return invalid("write: {} holds {} bytes, the buffer {}", tensor_text(x), expected, bytes);
  }
  if (x->device.type == TN_DEVICE_META) return invalid("write: a meta tensor has no values");
  if (bytes == 0) return nullptr;
  TN_TRY(check_upload("write", x->device, kCpu));
  if (x->is_contiguous()) {
    x->bump_version();
    return write_dense(x, memory, bytes);
  }
  Tensor* dense;
  TN_TRY(empty_tensor(x->size_span(), x->dtype, x->device, &dense));
  TensorRef hold(dense);
  TN_TRY(write_dense(dense, memory, bytes));
  return copy_into(x, dense);
}

}  // namespace tenon
