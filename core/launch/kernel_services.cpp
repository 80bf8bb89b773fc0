// What a kernel may ask the host for in its call: workspace, the sizes of dynamic outputs, and a
// clone that outlives the call (one block that holds everything it points to).
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "launch/launch.h"
#include "memory/memory.h"

namespace tenon {
namespace {

// Measures first, then fills: the same walk, with and without memory.
class Cloner {
 public:
  explicit Cloner(char* memory) : memory_(memory) {}
  size_t used() const { return used_; }

  template <typename T>
  T* copy(const T* from, size_t n) {
    used_ = (used_ + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
    T* to = memory_ != nullptr ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    if (to != nullptr && n > 0)
      std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), n * sizeof(T));
    used_ += n * sizeof(T);
    return to;
  }

  tn_tensor* tensor(const tn_tensor* from) {
    if (from == nullptr) return nullptr;
    tn_tensor* to = copy(from, 1);
    const int64_t* sizes = copy(from->sizes, from->ndim);
    const int64_t* strides = copy(from->strides, from->ndim);
    if (to != nullptr) {
      to->sizes = sizes;
      to->strides = strides;
      to->flags |= TN_TENSOR_BORROWED;
    }
    return to;
  }

  tn_tensor* const* tensors(tn_tensor* const* from, size_t n) {
    tn_tensor** to = copy(from, n);
    for (size_t i = 0; i < n; ++i) {
      tn_tensor* t = tensor(from[i]);
      if (to != nullptr) to[i] = t;
    }
    return to;
  }

  const tn_operand* operands(const tn_operand* from, size_t n, int32_t ndim) {
    tn_operand* to = copy(from, n);
    for (size_t i = 0; i < n; ++i) {
      const int64_t* strides = copy(from[i].strides, ndim);
      if (to != nullptr) to[i].strides = strides;
    }
    return to;
  }

  const tn_loop* loop(const tn_loop* from) {
    const tn_program* p = from->program;
    tn_loop* to = copy(from, 1);
    const int64_t* sizes = copy(from->sizes, from->ndim);
    const tn_operand* all = operands(from->operands, p->n_outputs + p->n_inputs, from->ndim);
    const tn_scalar* params = copy(from->params, p->n_params);
    const tn_tensor* live_params = tensor(from->live_params);
    if (to != nullptr) {
      to->sizes = sizes;
      to->operands = all;
      to->params = params;
      to->live_params = live_params;
    }
    return to;
  }

  const tn_reduction* reduction(const tn_reduction* from) {
    const tn_program* pro = from->prologue;
    const tn_program* epi = from->epilogue;
    tn_reduction* to = copy(from, 1);
    const int64_t* sizes = copy(from->sizes, from->ndim);
    const tn_operand* all =
        operands(from->operands, 1 + (pro != nullptr ? pro->n_inputs : 1), from->ndim);
    const tn_scalar* first = pro != nullptr ? copy(from->prologue_params, pro->n_params) : nullptr;
    const tn_scalar* second = epi != nullptr ? copy(from->epilogue_params, epi->n_params) : nullptr;
    if (to != nullptr) {
      to->sizes = sizes;
      to->operands = all;
      to->prologue_params = first;
      to->epilogue_params = second;
    }
    return to;
  }

  void value(const tn_value& from, tn_value* to) {
    const void* pointer = nullptr;
    switch (from.kind) {
      case TN_KIND_TENSOR:
        pointer = tensor(from.as.tensor);
        break;
      case TN_KIND_TENSORS:
        pointer = tensors(from.as.tensors, from.count);
        break;
      case TN_KIND_INTS:
        pointer = copy(from.as.ints, from.count);
        break;
      case TN_KIND_FLOATS:
        pointer = copy(from.as.floats, from.count);
        break;
      case TN_KIND_STRING:
        pointer = copy(from.as.string, from.count + 1);
        break;
      case TN_KIND_LOOP:
        pointer = loop(from.as.loop);
        break;
      case TN_KIND_REDUCTION:
        pointer = reduction(from.as.reduction);
        break;
      case TN_KIND_STRINGS: {
        const char** list = copy(const_cast<const char**>(from.as.strings), from.count);
        for (uint32_t i = 0; i < from.count; ++i) {
          const char* text = copy(from.as.strings[i], std::strlen(from.as.strings[i]) + 1);
          if (list != nullptr) list[i] = text;
        }
        pointer = list;
        break;
      }
      default:
        return;  // immediate values; objects and expressions do not reach kernels
    }
    if (to != nullptr) to->as.string = static_cast<const char*>(pointer);
  }

  tn_call* call(const tn_call* from) {
    tn_call* to = copy(from, 1);
    tn_value* args = copy(from->args, from->n_args);
    for (uint32_t i = 0; i < from->n_args; ++i)
      value(from->args[i], args != nullptr ? &args[i] : nullptr);
    tn_tensor* const* outputs = tensors(from->outputs, from->n_outputs);
    tn_random* random = from->random != nullptr ? copy(from->random, 1) : nullptr;
    const tn_tensor* state = from->random != nullptr ? tensor(from->random->state) : nullptr;
    if (random != nullptr) random->state = state;
    const tn_meta* metas = from->metas != nullptr ? copy(from->metas, from->n_outputs) : nullptr;
    if (to != nullptr) {
      to->args = args;
      to->outputs = outputs;
      to->random = random;
      to->metas = metas;
    }
    return to;
  }

 private:
  char* memory_;
  size_t used_ = 0;
};

}  // namespace

// A clone of keep has no host behind it any more: it is told by this mark.
static constexpr uint32_t kKept = 1;

constinit thread_local std::vector<Ref<tn_storage>>* captured_workspaces = nullptr;

// What a graph's kernels work in lives as long as the graph. They run one after the other, so a call
// gets the smallest that is large enough and belongs to calls that are over: the graph alone retains it.
static Status captured_workspace(tn_device device, Stream* stream, uint64_t bytes,
                                 tn_storage** workspace) {
  auto& captured = *captured_workspaces;
  tn_storage* best = nullptr;
  for (const Ref<tn_storage>& each : captured) {
    if (each->refs.load(std::memory_order_acquire) == 1 && each->device == device &&
        each->bytes >= bytes && (best == nullptr || each->bytes < best->bytes))
      best = each.get();
  }
  if (best == nullptr) {
    captured.reserve(captured.size() + 1);
    TN_TRY(allocate_storage(device, stream, bytes, &best));
    captured.push_back(Ref<tn_storage>(best));
  }
  best->retain();
  *workspace = best;
  return nullptr;
}

Status call_workspace(const tn_call* call, uint64_t bytes, void** data) {
  if (call == nullptr || data == nullptr) [[unlikely]]
    return invalid("workspace: the call or the place for the result is NULL");
  if (call->reserved == kKept)
    return error(TN_FAILED_PRECONDITION, "workspace: the call is over; ask before it returns");
  auto* host_call = const_cast<HostCall*>(static_cast<const HostCall*>(call));
  return guarded([&]() -> Status {
    auto& workspaces = host_call->workspaces;
    workspaces.reserve(workspaces.size() + 1);
    tn_storage* workspace;
    if (captured_workspaces != nullptr) [[unlikely]] {
      TN_TRY(captured_workspace(host_call->device, static_cast<Stream*>(call->stream), bytes,
                                &workspace));
    } else {
      TN_TRY(allocate_storage(host_call->device, static_cast<Stream*>(call->stream), bytes,
                              &workspace));
    }
    workspaces.push_back(workspace);
    *data = workspace->memory;
    return nullptr;
  });
}

Status call_set_output(const tn_call* call, uint32_t output, int32_t ndim, const int64_t* sizes) {
  if (call == nullptr) return invalid("set_output: the call is NULL");
  if (ndim < 0) return invalid("set_output: {} dimensions", ndim);
  if (sizes == nullptr && ndim > 0)
    return invalid("set_output: sizes is NULL, with {} dimensions", ndim);
  if (call->reserved == kKept) return error(TN_FAILED_PRECONDITION, "set_output: the call is over");
  const auto* host_call = static_cast<const HostCall*>(call);
  const bool is_dynamic = (as_op(call->op)->flags & TN_OP_DYNAMIC) != 0 && call->metas != nullptr;
  if (!is_dynamic || output >= call->n_outputs) {
    return error(TN_FAILED_PRECONDITION, "set_output: output {} is not an output of a dynamic op",
                 output);
  }
  if (host_call->host_outputs[output] != nullptr) {
    return error(TN_FAILED_PRECONDITION, "set_output: output {} was set before", output);
  }
  const tn_meta& meta = call->metas[output];
  const std::span<const int64_t> shape(sizes, ndim);
  int64_t numel;
  TN_TRY(count_elements("set_output", shape, meta.dtype, &numel));
  // On the call's own stream, which is the current one: a first use there needs no order.
  return guarded([&] {
    return empty_tensor(shape, meta.dtype, meta.device, &host_call->host_outputs[output]);
  });
}

static tn_call* clone_call(const tn_call* call) {
  Cloner measure(nullptr);
  measure.call(call);
  char* memory = static_cast<char*>(std::malloc(measure.used()));
  return memory != nullptr ? Cloner(memory).call(call) : nullptr;
}

Status keep_call(const tn_call* call, const tn_call** kept) {
  if (call == nullptr || kept == nullptr) [[unlikely]]
    return invalid("keep: the call or the place for the result is NULL");
  tn_call* clone = clone_call(call);
  if (clone == nullptr) return out_of_memory_status();
  clone->reserved = kKept;
  clone->metas = nullptr;  // the outputs themselves are there
  *kept = clone;
  return nullptr;
}

Status RepeatedCall::make(const tn_call& of) {
  tn_call* clone = clone_call(&of);
  if (clone == nullptr) return out_of_memory_status();
  block_.reset(clone);
  static_cast<tn_call&>(*this) = *clone;
  reserved = 0;
  host_outputs = reinterpret_cast<Tensor**>(const_cast<tn_tensor**>(clone->outputs));
  return nullptr;
}

void release_kept_call(const tn_call* kept) { std::free(const_cast<tn_call*>(kept)); }

}  // namespace tenon
