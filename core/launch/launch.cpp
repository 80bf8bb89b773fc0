#include "launch/launch.h"

#include <optional>

#include "launch/explain.h"
#include "registry/handlers.h"
#include "registry/recording.h"
#include "registry/host_table.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "profile/profile.h"
#include "random/philox.h"
#include "tensor/layout.h"
#include "tensor/slots.h"

namespace tenon {

namespace {

bool layout_fits(const tn_tensor* t, uint32_t layout) {
  if (t == nullptr || layout == TN_LAYOUT_STRIDED || (t->flags & TN_TENSOR_CONTIGUOUS) != 0)
    return true;
  return layout == TN_LAYOUT_ROWS ? t->ndim == 0 || t->strides[t->ndim - 1] == 1
                                  : layout == TN_LAYOUT_DENSE && is_dense(t);
}

// Row-major copies in place of tensors whose layout the kernel does not take. What it writes to a
// copy goes back to the tensor.
class LayoutCopies {
 public:
  // Replaces among args and outputs; `written` as Op's.
  Status make(const Kernel& kernel, uint64_t written, std::span<const tn_value>* args,
              std::span<Tensor*>* outputs) {
    kernel_ = &kernel;
    if (fit(*args, *outputs)) return nullptr;
    TN_TRY(args_.make(*args, 0, [&](size_t i, tn_tensor* t, tn_tensor** copy) {
      return replace(t, true, (written >> i & 1) != 0, copy);
    }));
    outputs_.assign(outputs->begin(), outputs->end());
    for (Tensor*& t : outputs_) {
      tn_tensor* copy;
      TN_TRY(replace(t, false, true, &copy));
      t = as_tensor(copy);
    }
    *args = args_.args();
    // A dynamic op has no outputs yet: set_output writes to the caller's.
    if (!std::equal(outputs_.begin(), outputs_.end(), outputs->begin())) *outputs = outputs_;
    return nullptr;
  }

  // After the launch.
  Status write_back() {
    for (const Copy& c : copies_) {
      if (c.written) TN_TRY(handlers.copy_into(c.of, c.copy.get()));
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
      for (const tn_tensor* t : tensors_of(v)) fits = fits && layout_fits(t, layout);
    }
    for (const Tensor* t : outputs) fits = fits && layout_fits(t, layout);
    return fits;
  }

  // `values`: it is read. A tensor that is met twice has one copy, as an argument that is written
  // is its own output.
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
    TN_TRY(values ? handlers.contiguous(as_tensor(t), &copy)
                  : empty_tensor(as_tensor(t)->size_span(), t->dtype, t->device, &copy));
    copies_.push_back({as_tensor(t), TensorRef(copy), written});
    count_event(Counter::kLayoutCopies);
    explain_note("layout copy of {}{} for {}", values ? "" : "output ", sizes_text(t),
                 kernel_->plugin);
    *replaced = copy;
    return nullptr;
  }

  const Kernel* kernel_ = nullptr;
  std::vector<Copy> copies_;
  MappedArguments args_;
  std::vector<Tensor*> outputs_;
};

Status use_inputs(const tn_operand* inputs, uint32_t n, Stream* stream) {
  for (uint32_t i = 0; i < n; ++i) TN_TRY(use_storage(inputs[i].storage, stream, false));
  return nullptr;
}

// Puts the launch behind the work that it conflicts with on other streams. The outputs of a loop or
// reduction are those of the call, and are noted there. Of the arguments that are written (`written`
// as Op's) a list is among no outputs.
Status order_uses(std::span<const tn_value> args, uint64_t written,
                  std::span<Tensor* const> outputs, Stream* stream) {
  for (size_t i = 0; i < args.size(); ++i) {
    const tn_value& v = args[i];
    const bool writes = i < 64 && (written >> i & 1) != 0;
    for (const tn_tensor* t : tensors_of(v)) {
      if (t != nullptr) TN_TRY(use_storage(t->storage, stream, writes));
    }
    if (v.kind == TN_KIND_LOOP) {
      const tn_program* p = v.as.loop->program;
      TN_TRY(use_inputs(v.as.loop->operands + p->n_outputs, p->n_inputs, stream));
    } else if (v.kind == TN_KIND_REDUCTION) {
      const tn_program* p = v.as.reduction->prologue;
      TN_TRY(use_inputs(v.as.reduction->operands + 1, p != nullptr ? p->n_inputs : 1, stream));
    }
  }
  for (Tensor* t : outputs) {
    if (t != nullptr) TN_TRY(use_storage(t->storage, stream, true));
  }
  return nullptr;
}

// Launches fn and gives back its workspaces: freed behind the stream's work, as every storage is.
[[gnu::always_inline]] inline Status run(tn_kernel_fn fn, void* self, HostCall* call) {
  CallBlobs blobs;
  const Status status = fn(self, call);
  for (tn_storage* workspace : call->workspaces) workspace->release();
  return status;
}

// On a device with a queue: behind the work that it conflicts with. Its name is kept for late
// errors, and these are waited for under TENON_SYNC=1. Apart, so that the cpu's path does not pay
// for it.
[[gnu::noinline]] Status run_on_stream(const Kernel& kernel, tn_kernel_fn fn, const Op* op,
                                       std::span<Tensor* const> outputs, HostCall* call) {
  Stream* stream;
  TN_TRY(current_stream(call->device, &stream));
  // A pair's backward has other arguments, and writes none.
  const uint64_t written = fn == kernel.def.launch ? op->written : 0;
  TN_TRY(order_uses({call->args, call->n_args}, written, outputs, stream));
  call->stream = stream;
  Status failed = run(fn, kernel.def.self, call);
  if (failed != nullptr) [[unlikely]] {
    return (thread_state.modes & kModeCapture) == 0
               ? judge_launch(stream, op->schema.name.c_str(), failed)
               : failed;
  }
  note_launch(stream, op->schema.name.c_str());
  if ((thread_state.modes & (kModeSync | kModeCapture)) == kModeSync) [[unlikely]]
    return synchronize_stream(stream);
  return nullptr;
}

inline Status run_anywhere(const Kernel& kernel, tn_kernel_fn fn, const Op* op,
                           std::span<Tensor* const> outputs, HostCall* call) {
  if (call->device.type != TN_DEVICE_CPU) [[unlikely]]
    return run_on_stream(kernel, fn, op, outputs, call);
  return run(fn, kernel.def.self, call);
}

// What the kernel itself calls or allocates is no part of the recording: it does so again when it
// is launched again.
[[gnu::noinline]] Status launch_recorded(const Kernel& kernel, tn_kernel_fn fn, const Op* op,
                                         std::span<Tensor* const> outputs, HostCall* call) {
  thread_state.recording->launch(kernel, fn, op, *call);
  const ModeScope unheard(0, kModeRecord);
  const AllocationListener listener = std::exchange(allocation_listener, nullptr);
  const Status status = guarded([&] { return run_anywhere(kernel, fn, op, outputs, call); });
  allocation_listener = listener;
  return status;
}

bool is_random(const Op* op) { return (op->flags & TN_OP_RANDOM) != 0; }

// Member by member: of a struct of this size that is assigned as a whole, GCC 12 first clears the
// memory with `rep stos`, which takes 8 ns to begin.
inline void fill_call(const Op* op, tn_device device, std::span<const tn_value> args,
                      std::span<Tensor*> outputs, const tn_meta* metas, HostCall* call) {
  call->size = sizeof(tn_call);
  call->n_args = static_cast<uint32_t>(args.size());
  call->args = args.data();
  call->outputs = reinterpret_cast<tn_tensor* const*>(outputs.data());
  call->n_outputs = static_cast<uint32_t>(outputs.size());
  call->reserved = 0;
  call->stream = nullptr;
  call->random = nullptr;
  call->host = &host_table();
  call->op = op;
  call->device = device;
  call->metas = metas;
  call->prepared = nullptr;
  call->epilogue = nullptr;
  call->host_outputs = outputs.data();
}

Status launch_plain(const Kernel& kernel, tn_kernel_fn fn, const Op* op, tn_device device,
                    std::span<const tn_value> args, std::span<Tensor*> outputs,
                    const tn_meta* metas) {
  HostCall call;
  fill_call(op, device, args, outputs, metas, &call);
  tn_random random;
  // A pair's backward draws nothing, so that the numbers which come next do not depend on kernels.
  if (is_random(op) && fn == kernel.def.launch) [[unlikely]] {
    const RandomState state = next_random_state();
    random = {state.seed, state.offset, nullptr};
    call.random = &random;
  }
  if ((thread_state.modes & kModeRecord) != 0) [[unlikely]]
    return launch_recorded(kernel, fn, op, outputs, &call);
  return run_anywhere(kernel, fn, op, outputs, &call);
}

tn_profile_event launch_event(const Kernel& kernel, tn_kernel_fn fn, const Op* op, tn_device device,
                              std::span<const tn_value> args, std::span<Tensor* const> outputs) {
  tn_profile_event event = profile_event(TN_PROFILE_LAUNCH, op->schema.name.c_str(), args);
  event.backward = fn != kernel.def.launch;
  event.plugin = kernel.plugin.c_str();
  event.outputs = reinterpret_cast<tn_tensor* const*>(outputs.data());
  event.n_outputs = static_cast<uint32_t>(outputs.size());
  event.device = device;
  return event;
}

// The rare cases, apart from the path that every call takes.
[[gnu::noinline]] Status launch_with_care(const Kernel& kernel, tn_kernel_fn fn, const Op* op,
                                          tn_device device, std::span<const tn_value> args,
                                          std::span<Tensor*> outputs, const tn_meta* metas) {
  if (device.type == TN_DEVICE_META) return nullptr;
  if ((thread_state.modes & kModeUnsettled) != 0) settle_modes();
  if ((thread_state.modes & kModeCapture) != 0 &&
      (kernel.def.traits & TN_KERNEL_CAPTURE_SAFE) == 0) {
    return error(TN_UNSUPPORTED, "capture: the kernel of {} for {} is not capture-safe",
                 kernel.plugin, op->schema.name);
  }
  if ((thread_state.modes & kModeCapture) != 0 && is_random(op)) {
    return error(TN_UNSUPPORTED,
                 "capture: {} is random, and each replay of the graph would repeat its numbers",
                 op->schema.name);
  }
  LayoutCopies copies;
  if (kernel.def.layout != TN_LAYOUT_STRIDED) {
    // A pair's backward has other arguments, and writes none.
    const uint64_t written = fn == kernel.def.launch ? op->written : 0;
    TN_TRY(copies.make(kernel, written, &args, &outputs));
  }
  if ((thread_state.modes & kModeExplain) != 0) explain_kernel(kernel);
  std::optional<ProfileScope> profile;
  if ((thread_state.modes & kModeProfile) != 0)
    profile.emplace(launch_event(kernel, fn, op, device, args, outputs));
  Status failed = launch_plain(kernel, fn, op, device, args, outputs, metas);
  profile.reset();
  if ((thread_state.modes & kModeTrace) != 0) {
    trace_launch(op->schema.name.c_str(), kernel, device, args, outputs, failed);
  }
  TN_TRY(failed);
  return copies.write_back();
}

inline Status launch_function(const Kernel& kernel, tn_kernel_fn fn, const Op* op, tn_device device,
                              std::span<const tn_value> args, std::span<Tensor*> outputs,
                              const tn_meta* metas) {
  const bool plain = device.type != TN_DEVICE_META && kernel.def.layout == TN_LAYOUT_STRIDED &&
                     (thread_state.modes & kModesOfLaunches) == 0;
  if (!plain) [[unlikely]]
    return launch_with_care(kernel, fn, op, device, args, outputs, metas);
  return launch_plain(kernel, fn, op, device, args, outputs, metas);
}

}  // namespace

Status launch(const Kernel& kernel, const Op* op, tn_device device, std::span<const tn_value> args,
              std::span<Tensor*> outputs, const tn_meta* metas) {
  return launch_function(kernel, kernel.def.launch, op, device, kernel.known(args), outputs, metas);
}

Status relaunch(const Kernel& kernel, tn_kernel_fn fn, const Op* op, RepeatedCall* call) {
  const std::span<Tensor* const> outputs(call->host_outputs, call->n_outputs);
  const Status status = run_anywhere(kernel, fn, op, outputs, call);
  call->workspaces.clear();
  return status;
}

Status launch_loop(const Kernel& kernel, const Op* op, const tn_loop& loop,
                   std::span<Tensor*> outputs) {
  tn_value arg;
  arg.kind = TN_KIND_LOOP;
  arg.count = 0;
  arg.as.loop = &loop;
  HostCall call;
  fill_call(op, kCpu, {&arg, 1}, outputs, nullptr, &call);
  return run(kernel.def.launch, kernel.def.self, &call);
}

Status launch_backward(const Kernel& kernel, const Op* op, tn_device device,
                       std::span<const tn_value> args, std::span<Tensor*> outputs) {
  return launch_function(kernel, kernel.backward, op, device, args, outputs, nullptr);
}

}  // namespace tenon
