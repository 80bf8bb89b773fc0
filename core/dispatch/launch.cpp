#include "dispatch/launch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "dispatch/convert.h"
#include "dispatch/explain.h"
#include "dispatch/host_table.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "random/philox.h"

namespace tenon {

constinit thread_local ThreadState thread_state{};

namespace {

void note_dtype(const tn_tensor* t, uint32_t* bits) {
  if (t != nullptr) *bits |= TN_DTYPE_BIT(t->dtype);
}

void note_dtypes(const tn_operand* operands, uint32_t n, uint32_t* bits) {
  for (uint32_t i = 0; i < n; ++i) *bits |= TN_DTYPE_BIT(operands[i].dtype);
}

// The dtypes among the tensors of the arguments, and the operands of loops.
uint32_t dtype_bits(std::span<const tn_value> args) {
  uint32_t bits = 0;
  for (const tn_value& v : args) {
    if (v.kind == TN_TENSOR) note_dtype(v.as.tensor, &bits);
    if (v.kind == TN_TENSORS) {
      for (uint32_t i = 0; i < v.count; ++i) note_dtype(v.as.tensors[i], &bits);
    }
    if (v.kind == TN_LOOP) {
      const tn_program* p = v.as.loop->program;
      note_dtypes(v.as.loop->operands, p->n_outputs + p->n_inputs, &bits);
    }
    if (v.kind == TN_REDUCTION) {
      const tn_program* p = v.as.reduction->prologue;
      note_dtypes(v.as.reduction->operands, 1 + (p != nullptr ? p->n_inputs : 1), &bits);
    }
  }
  return bits;
}

// A kernel of an op gets memory of its own device alone; "": it does. (What primitives get, the host has checked.)
std::string foreign_device(const Kernel& kernel, std::span<const tn_value> args) {
  const tn_tensor* first = nullptr;
  std::string foreign;
  const auto look = [&](const tn_tensor* t) {
    if (t == nullptr || !foreign.empty()) return;
    if (first == nullptr) first = t;
    if (t->device.type != kernel.device_type || !(t->device == first->device)) {
      foreign = fmt::format("an argument is on {}", device_text(t->device));
    }
  };
  for (const tn_value& v : args) {
    if (v.kind == TN_TENSOR) look(v.as.tensor);
    for (uint32_t i = 0; v.kind == TN_TENSORS && i < v.count; ++i) look(v.as.tensors[i]);
  }
  return foreign;
}

bool same_value(const tn_value& a, const tn_value& b) {
  if (a.kind == TN_INT && b.kind == TN_FLOAT) return static_cast<double>(a.as.i) == b.as.f;
  // An empty list is the default of a list of any kind.
  if (a.count != b.count || (a.kind != b.kind && a.count > 0)) return false;
  switch (a.kind) {
    case TN_NONE: return b.kind == TN_NONE;
    case TN_STRING: return b.kind == TN_STRING && std::strcmp(a.as.string, b.as.string) == 0;
    case TN_INTS: return std::equal(a.as.ints, a.as.ints + a.count, b.as.ints);
    case TN_FLOATS: return std::equal(a.as.floats, a.as.floats + a.count, b.as.floats);
    case TN_STRINGS:
    case TN_TENSORS: return a.count == 0;
    case TN_FLOAT: return b.kind == TN_FLOAT && a.as.f == b.as.f;
    case TN_DTYPE: return b.kind == TN_DTYPE && a.as.dtype == b.as.dtype;
    case TN_INT:
    case TN_BOOL_VALUE: return a.kind == b.kind && a.as.i == b.as.i;
    default: return false;
  }
}

// A kernel that knows an older schema takes a call only when the younger arguments are at their defaults.
std::string younger_argument(const Kernel& kernel, const Op& op, std::span<const tn_value> args) {
  if (kernel.schema == nullptr) return "";
  const auto& known = kernel.schema->arguments;
  for (size_t i = known.size(); i < op.schema.arguments.size() && i < args.size(); ++i) {
    if (!same_value(args[i], op.defaults[i])) {
      return fmt::format("does not know argument '{}'", op.schema.arguments[i].name);
    }
  }
  return "";
}

std::string refuses(const Kernel& kernel, const Op* op, std::span<const tn_value> args,
                    const tn_program* program) {
  const tn_kernel_def& def = kernel.def;
  if (op != nullptr && def.primitive == TN_PRIM_NONE && primitives_only()) {
    return "TENON_KERNELS=primitives";
  }
  if (program != nullptr && program->instruction_set > def.instruction_set) {
    return fmt::format("knows instructions to version {}, the program needs {}", def.instruction_set,
                       program->instruction_set);
  }
  if (op != nullptr) {
    std::string foreign = foreign_device(kernel, args);
    if (!foreign.empty()) return foreign;
  }
  if (def.dtypes != 0) {
    const uint32_t foreign = dtype_bits(args) & ~def.dtypes;
    if (foreign != 0) {
      return fmt::format("dtype {} is not among its own", dtype_name(__builtin_ctz(foreign)));
    }
  }
  if (op != nullptr && kernel.schema != nullptr) {
    std::string younger = younger_argument(kernel, *op, args);
    if (!younger.empty()) return younger;
  }
  if (def.supports != nullptr) {
    char reason[256] = "";
    tn_call call{};
    call.size = sizeof(tn_call);
    call.args = args.data();
    call.n_args = static_cast<uint32_t>(args.size());
    call.host = &host_table();
    call.op = op;
    if (def.supports(def.self, &call, reason, sizeof(reason)) == 0) {
      return reason[0] != '\0' ? reason : "refused without a reason";
    }
  }
  return "";
}

bool layout_fits(const tn_tensor* t, uint32_t layout) {
  if (t == nullptr || layout == TN_LAYOUT_STRIDED || (t->flags & TN_TENSOR_CONTIGUOUS) != 0) return true;
  return layout == TN_LAYOUT_ROWS && (t->ndim == 0 || t->strides[t->ndim - 1] == 1);
}

// Row-major copies in place of tensors whose layout the kernel does not take. What it writes to a copy goes back to the tensor.
class LayoutCopies {
 public:
  // Replaces among args and outputs; `written` as Op's.
  Status make(const Kernel& kernel, uint64_t written, std::span<const tn_value>* args, std::span<Tensor*>* outputs) {
    kernel_ = &kernel;
    if (fit(*args, *outputs)) return nullptr;
    args_.assign(args->begin(), args->end());
    for (size_t i = 0; i < args_.size(); ++i) {
      tn_value& v = args_[i];
      const bool writes = (written >> i & 1) != 0;
      if (v.kind == TN_TENSOR) TN_TRY(replace(v.as.tensor, true, writes, &v.as.tensor));
      if (v.kind == TN_TENSORS) {
        auto& list = lists_.emplace_back(v.count);
        for (uint32_t k = 0; k < v.count; ++k) TN_TRY(replace(v.as.tensors[k], true, writes, &list[k]));
        v.as.tensors = list.data();
      }
    }
    outputs_.assign(outputs->begin(), outputs->end());
    for (Tensor*& t : outputs_) {
      tn_tensor* copy;
      TN_TRY(replace(t, false, true, &copy));
      t = as_tensor(copy);
    }
    *args = args_;
    // A dynamic op has no outputs yet: set_output writes to the caller's.
    if (!std::equal(outputs_.begin(), outputs_.end(), outputs->begin())) *outputs = outputs_;
    return nullptr;
  }

  // After the launch.
  Status write_back() {
    for (const Copy& c : copies_) {
      if (c.written) TN_TRY(copy_into(c.of, c.copy.get()));
    }
    return nullptr;
  }

 private:
  struct Copy {
    Tensor* of;
    TensorRef copy;
    bool written;
  };

  bool fit(std::span<const tn_value> args, std::span<Tensor* const> outputs) const {
    const uint32_t layout = kernel_->def.layout;
    bool fits = true;
    for (const tn_value& v : args) {
      if (v.kind == TN_TENSOR) fits = fits && layout_fits(v.as.tensor, layout);
      for (uint32_t i = 0; v.kind == TN_TENSORS && i < v.count; ++i) fits = fits && layout_fits(v.as.tensors[i], layout);
    }
    for (const Tensor* t : outputs) fits = fits && layout_fits(t, layout);
    return fits;
  }

  // `values`: it is read. A tensor that is met twice has one copy, as an argument that is written is its own output.
  Status replace(tn_tensor* t, bool values, bool written, tn_tensor** replaced) {
    *replaced = t;
    if (layout_fits(t, kernel_->def.layout)) return nullptr;
    for (Copy& c : copies_) {
      if (c.of != t) continue;
      c.written = c.written || written;
      *replaced = c.copy.get();
      return nullptr;
    }
    Tensor* copy;
    TN_TRY(values ? contiguous(as_tensor(t), &copy)
                  : empty_tensor(as_tensor(t)->size_span(), t->dtype, t->device, &copy));
    copies_.push_back({as_tensor(t), TensorRef(copy), written});
    count_event(Counter::kLayoutCopies);
    explain_note("layout copy of {}{} for {}", values ? "" : "output ", sizes_text(t), kernel_->plugin);
    *replaced = copy;
    return nullptr;
  }

  const Kernel* kernel_ = nullptr;
  std::vector<Copy> copies_;
  std::vector<tn_value> args_;
  std::vector<Tensor*> outputs_;
  std::vector<std::vector<tn_tensor*>> lists_;
};

Status use_operands(const tn_operand* operands, uint32_t n, uint32_t n_outputs, Stream* stream) {
  for (uint32_t i = 0; i < n; ++i) TN_TRY(use_storage(operands[i].storage, stream, i < n_outputs));
  return nullptr;
}

// Puts the launch behind the work that it conflicts with on other streams.
Status order_uses(std::span<const tn_value> args, std::span<Tensor* const> outputs, Stream* stream) {
  for (const tn_value& v : args) {
    if (v.kind == TN_TENSOR) {
      TN_TRY(use_storage(v.as.tensor->storage, stream, false));
    } else if (v.kind == TN_TENSORS) {
      for (uint32_t i = 0; i < v.count; ++i) {
        if (v.as.tensors[i] != nullptr) TN_TRY(use_storage(v.as.tensors[i]->storage, stream, false));
      }
    } else if (v.kind == TN_LOOP) {
      const tn_program* p = v.as.loop->program;
      TN_TRY(use_operands(v.as.loop->operands, p->n_outputs + p->n_inputs, p->n_outputs, stream));
    } else if (v.kind == TN_REDUCTION) {
      const tn_program* p = v.as.reduction->prologue;
      TN_TRY(use_operands(v.as.reduction->operands, 1 + (p != nullptr ? p->n_inputs : 1), 1, stream));
    }
  }
  for (Tensor* t : outputs) {
    if (t != nullptr) TN_TRY(use_storage(t->storage, stream, true));
  }
  return nullptr;
}

// Launches fn and gives back its workspaces: freed behind the stream's work, as every storage is.
Status run(tn_kernel_fn fn, void* self, HostCall* call) {
  CallBlobs blobs;
  const Status status = fn(self, call);
  for (tn_storage* workspace : call->workspaces) workspace->release();
  return status;
}

Status launch_plain(const Kernel& kernel, tn_kernel_fn fn, const Op* op, tn_device device,
                    std::span<const tn_value> args, std::span<Tensor*> outputs, const tn_meta* dynamic) {
  HostCall call;
  static_cast<tn_call&>(call) = {sizeof(tn_call),
                                 static_cast<uint32_t>(args.size()),
                                 args.data(),
                                 reinterpret_cast<tn_tensor* const*>(outputs.data()),
                                 static_cast<uint32_t>(outputs.size()),
                                 0,
                                 nullptr,
                                 nullptr,
                                 &host_table(),
                                 op};
  call.device = device;
  call.host_outputs = outputs.data();
  call.dynamic = dynamic;
  tn_random random;
  if (op != nullptr ? (op->flags & TN_OP_RANDOM) != 0 : kernel.def.primitive == TN_RANDOM_BITS) [[unlikely]] {
    const RandomState state = next_random_state();
    random = {state.seed, state.offset, nullptr};
    call.random = &random;
  }
  if (device.type != TN_DEVICE_CPU) [[unlikely]] {
    Stream* stream;
    TN_TRY(current_stream(device, &stream));
    TN_TRY(order_uses(args, outputs, stream));
    call.stream = stream;
  }
  return run(fn, kernel.def.self, &call);
}

// The rare cases, apart from the path that every call takes.
[[gnu::noinline]] Status launch_with_care(const Kernel& kernel, tn_kernel_fn fn, const Op* op, tn_device device,
                                          std::span<const tn_value> args, std::span<Tensor*> outputs,
                                          const tn_meta* dynamic) {
  if (device.type == TN_DEVICE_META) return nullptr;
  if ((thread_state.modes & kModeCapture) != 0 && (kernel.def.traits & TN_KERNEL_CAPTURE_SAFE) == 0) {
    return error(TN_UNSUPPORTED, "capture: the kernel of {} for {} is not capture-safe", kernel.plugin,
                 op != nullptr ? op->schema.name.c_str() : primitive_name(kernel.def.primitive));
  }
  LayoutCopies copies;
  if (kernel.def.layout != TN_LAYOUT_STRIDED) {
    // A pair's backward has other arguments, and writes none.
    const uint64_t written = op != nullptr && fn == kernel.def.launch ? op->written : 0;
    TN_TRY(copies.make(kernel, written, &args, &outputs));
  }
  if ((thread_state.modes & kModeExplain) != 0) explain_kernel(kernel);
  TN_TRY(launch_plain(kernel, fn, op, device, args, outputs, dynamic));
  return copies.write_back();
}

inline Status launch_function(const Kernel& kernel, tn_kernel_fn fn, const Op* op, tn_device device,
                              std::span<const tn_value> args, std::span<Tensor*> outputs, const tn_meta* dynamic) {
  const bool plain = device.type != TN_DEVICE_META && kernel.def.layout == TN_LAYOUT_STRIDED &&
                     (thread_state.modes & (kModeCapture | kModeExplain)) == 0;
  if (!plain) [[unlikely]] return launch_with_care(kernel, fn, op, device, args, outputs, dynamic);
  return launch_plain(kernel, fn, op, device, args, outputs, dynamic);
}

// ---- keep: one block that holds everything the clone points to -------------------------------------------------------------

// Measures first, then fills: the same walk, with and without memory.
class Cloner {
 public:
  explicit Cloner(char* memory) : memory_(memory) {}
  size_t used() const { return used_; }

  template <typename T>
  T* copy(const T* from, size_t n) {
    used_ = (used_ + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
    T* to = memory_ != nullptr ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    if (to != nullptr && n > 0) std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), n * sizeof(T));
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
    if (to != nullptr) {
      to->sizes = sizes;
      to->operands = all;
      to->params = params;
    }
    return to;
  }

  const tn_reduction* reduction(const tn_reduction* from) {
    const tn_program* pro = from->prologue;
    const tn_program* epi = from->epilogue;
    tn_reduction* to = copy(from, 1);
    const int64_t* sizes = copy(from->sizes, from->ndim);
    const tn_operand* all = operands(from->operands, 1 + (pro != nullptr ? pro->n_inputs : 1), from->ndim);
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
      case TN_TENSOR: pointer = tensor(from.as.tensor); break;
      case TN_TENSORS: pointer = tensors(from.as.tensors, from.count); break;
      case TN_INTS: pointer = copy(from.as.ints, from.count); break;
      case TN_FLOATS: pointer = copy(from.as.floats, from.count); break;
      case TN_STRING: pointer = copy(from.as.string, from.count + 1); break;
      case TN_LOOP: pointer = loop(from.as.loop); break;
      case TN_REDUCTION: pointer = reduction(from.as.reduction); break;
      case TN_STRINGS: {
        const char** list = copy(const_cast<const char**>(from.as.strings), from.count);
        for (uint32_t i = 0; i < from.count; ++i) {
          const char* text = copy(from.as.strings[i], std::strlen(from.as.strings[i]) + 1);
          if (list != nullptr) list[i] = text;
        }
        pointer = list;
        break;
      }
      default: return;  // immediate values; objects and expressions do not reach kernels
    }
    if (to != nullptr) to->as.string = static_cast<const char*>(pointer);
  }

  tn_call* call(const tn_call* from) {
    tn_call* to = copy(from, 1);
    tn_value* args = copy(from->args, from->n_args);
    for (uint32_t i = 0; i < from->n_args; ++i) value(from->args[i], args != nullptr ? &args[i] : nullptr);
    tn_tensor* const* outputs = tensors(from->outputs, from->n_outputs);
    tn_random* random = from->random != nullptr ? copy(from->random, 1) : nullptr;
    const tn_tensor* state = from->random != nullptr ? tensor(from->random->state) : nullptr;
    if (random != nullptr) random->state = state;
    if (to != nullptr) {
      to->args = args;
      to->outputs = outputs;
      to->random = random;
    }
    return to;
  }

 private:
  char* memory_;
  size_t used_ = 0;
};

}  // namespace

bool primitives_only() {
  static const bool only = [] {
    const char* kernels = std::getenv("TENON_KERNELS");
    return kernels != nullptr && std::strcmp(kernels, "primitives") == 0;
  }();
  return only;
}

const Kernel* choose_kernel(const KernelList* list, const Op* op, std::span<const tn_value> args,
                            const tn_program* program, Refusals* refusals) {
  if (list == nullptr) return nullptr;
  const Kernel* chosen = nullptr;
  for (const Kernel* kernel : *list) {
    if (chosen != nullptr) {
      if (refusals == nullptr) break;
      refusals->push_back({kernel, "lower priority"});
      continue;
    }
    std::string reason = refuses(*kernel, op, args, program);
    if (reason.empty()) {
      chosen = kernel;
    } else if (refusals != nullptr) {
      refusals->push_back({kernel, std::move(reason)});
    }
  }
  return chosen;
}

std::string refusals_text(const Refusals& refusals) {
  std::string text;
  for (const Refusal& r : refusals) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", r.kernel->plugin, r.reason);
  }
  return text;
}

Status launch(const Kernel& kernel, const Op* op, tn_device device, std::span<const tn_value> args,
              std::span<Tensor*> outputs, const tn_meta* dynamic) {
  return launch_function(kernel, kernel.def.launch, op, device, args, outputs, dynamic);
}

Status launch_loop(const Kernel& kernel, tn_device device, const tn_loop& loop, std::span<Tensor*> outputs) {
  tn_value arg;
  arg.kind = TN_LOOP;
  arg.count = 0;
  arg.as.loop = &loop;
  return launch_plain(kernel, kernel.def.launch, nullptr, device, {&arg, 1}, outputs, nullptr);
}

Status launch_backward(const Kernel& kernel, const Op* op, tn_device device,
                       std::span<const tn_value> args, std::span<Tensor*> outputs) {
  return launch_function(kernel, kernel.backward, op, device, args, outputs, nullptr);
}

const char* primitive_name(tn_primitive kind) {
  switch (kind) {
    case TN_ELEMENTWISE: return "elementwise";
    case TN_REDUCE: return "reduce";
    case TN_SCAN: return "scan";
    case TN_MATMUL: return "matmul";
    case TN_COPY: return "copy";
    case TN_FILL: return "fill";
    case TN_IOTA: return "iota";
    case TN_GATHER: return "gather";
    case TN_SCATTER: return "scatter";
    case TN_SORT: return "sort";
    case TN_RANDOM_BITS: return "random_bits";
    case TN_NONZERO: return "nonzero";
    case TN_RESHAPE: return "reshape";
    case TN_PERMUTE: return "permute";
    case TN_SLICE: return "slice";
    case TN_EXPAND: return "expand";
    case TN_AS_STRIDED: return "as_strided";
    default: return "unknown primitive";
  }
}

bool has_primitive(tn_primitive kind, tn_device device) {
  return device.type == TN_DEVICE_META || registry().primitive(kind).find(device.type) != nullptr;
}

static Status search_primitive_kernel(tn_primitive kind, tn_device device, const KernelList* list,
                                      std::span<const tn_value> args, const tn_program* program,
                                      const Kernel** kernel) {
  const bool explain = (thread_state.modes & kModeExplain) != 0;
  Refusals refusals;
  *kernel = choose_kernel(list, nullptr, args, program, explain ? &refusals : nullptr);
  if (explain) explain_refusals(refusals);
  if (*kernel != nullptr) [[likely]] return nullptr;
  choose_kernel(list, nullptr, args, program, &refusals);
  const std::string why = refusals.empty() ? "no plugin brought one: is the backend loaded?" : refusals_text(refusals);
  return error(TN_UNSUPPORTED, "{}: device {} has no kernel for this call ({})", primitive_name(kind),
               device_text(device), why);
}

Status primitive_kernel(tn_primitive kind, tn_device device, std::span<const tn_value> args,
                        const tn_program* program, const Kernel** kernel) {
  static const Kernel none{};  // meta: launches of it do nothing
  if (device.type == TN_DEVICE_META) {
    *kernel = &none;
    return nullptr;
  }
  const KernelList* list = registry().primitive(kind).find(device.type);
  const bool explain = (thread_state.modes & kModeExplain) != 0;
  if (list != nullptr && !explain) [[likely]] {
    // The usual backend brings one evaluator without conditions.
    const tn_kernel_def& first = list->front()->def;
    if (first.dtypes == 0 && first.supports == nullptr &&
        (program == nullptr || program->instruction_set <= first.instruction_set)) [[likely]] {
      *kernel = list->front();
      return nullptr;
    }
  }
  return search_primitive_kernel(kind, device, list, args, program, kernel);
}

// A clone of keep has no host behind it any more: it is told by this mark.
static constexpr uint32_t kKept = 1;

Status call_workspace(const tn_call* call, uint64_t bytes, void** data) {
  if (call->reserved == kKept) return error(TN_FAILED_PRECONDITION, "workspace: the call is over; ask before it returns");
  auto* host_call = const_cast<HostCall*>(static_cast<const HostCall*>(call));
  tn_storage* workspace;
  TN_TRY(allocate_storage(host_call->device, static_cast<Stream*>(call->stream), bytes, &workspace));
  host_call->workspaces.push_back(workspace);
  *data = workspace->memory;
  return nullptr;
}

Status call_set_output(const tn_call* call, uint32_t output, int32_t ndim, const int64_t* sizes) {
  if (call->reserved == kKept) return error(TN_FAILED_PRECONDITION, "set_output: the call is over");
  const auto* host_call = static_cast<const HostCall*>(call);
  if (host_call->dynamic == nullptr || output >= call->n_outputs) {
    return error(TN_FAILED_PRECONDITION, "set_output: output {} is not an output of a dynamic op", output);
  }
  if (host_call->host_outputs[output] != nullptr) {
    return error(TN_FAILED_PRECONDITION, "set_output: output {} was set before", output);
  }
  const tn_meta& meta = host_call->dynamic[output];
  const std::span<const int64_t> shape(sizes, ndim);
  int64_t numel;
  TN_TRY(count_elements("set_output", shape, meta.dtype, &numel));
  TN_TRY(empty_tensor(shape, meta.dtype, meta.device, &host_call->host_outputs[output]));
  Tensor* made = host_call->host_outputs[output];
  if (call->stream != nullptr) TN_TRY(use_storage(made->storage, static_cast<Stream*>(call->stream), true));
  return nullptr;
}

Status keep_call(const tn_call* call, const tn_call** kept) {
  Cloner measure(nullptr);
  measure.call(call);
  char* memory = static_cast<char*>(std::malloc(measure.used()));
  if (memory == nullptr) return error(TN_OUT_OF_MEMORY, "keep: host memory is exhausted");
  Cloner fill(memory);
  tn_call* clone = fill.call(call);
  clone->reserved = kKept;
  *kept = clone;
  return nullptr;
}

void release_kept_call(const tn_call* kept) { std::free(const_cast<tn_call*>(kept)); }

}  // namespace tenon
