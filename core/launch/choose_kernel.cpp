// Which kernel takes a call, and why the others do not.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "launch/explain.h"
#include "registry/host_table.h"
#include "launch/launch.h"

namespace tenon {
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
    for (const tn_tensor* t : tensors_of(v)) note_dtype(t, &bits);
    if (v.kind == TN_KIND_LOOP) {
      const tn_program* p = v.as.loop->program;
      note_dtypes(v.as.loop->operands, p->n_outputs + p->n_inputs, &bits);
    }
    if (v.kind == TN_KIND_REDUCTION) {
      const tn_program* p = v.as.reduction->prologue;
      note_dtypes(v.as.reduction->operands, 1 + (p != nullptr ? p->n_inputs : 1), &bits);
    }
  }
  return bits;
}

// Why a kernel that knows instruction set `known` cannot run what needs `needed`: by a dtype where
// one of the operands is younger.
std::string what_needs_more(std::span<const tn_value> args, uint32_t known, uint32_t needed) {
  const uint32_t operands = dtype_bits(args);
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    if ((operands >> dtype & 1) != 0 && instruction_set_of(dtype) > known)
      return fmt::format("{} needs {}", dtype_name(dtype), instruction_set_of(dtype));
  }
  return fmt::format("the program needs {}", needed);
}

// A kernel of an op gets memory of its own device alone; "": it does. (What primitives get, the
// host has checked.)
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
    for (const tn_tensor* t : tensors_of(v)) look(t);
  }
  return foreign;
}

// A kernel that knows an older schema takes a call only when the younger arguments are at their
// defaults, and one that states `int[]` no word in the place of the list.
std::string younger_argument(const Kernel& kernel, const Op& op, std::span<const tn_value> args) {
  if (kernel.schema == nullptr) return "";
  const auto& known = kernel.schema->arguments;
  for (size_t i = 0; i < known.size() && i < args.size(); ++i) {
    const bool takes_text = known[i].or_text || known[i].type == Type::kString;
    if (args[i].kind == TN_KIND_STRING && !takes_text)
      return fmt::format("takes no str as '{}'", known[i].name);
  }
  for (size_t i = known.size(); i < op.schema.arguments.size() && i < args.size(); ++i) {
    if (!same_value(args[i], op.defaults[i])) {
      return fmt::format("does not know argument '{}'", op.schema.arguments[i].name);
    }
  }
  return "";
}

// `reason` stays empty where the kernel takes the call.
Status refuses(const Kernel& kernel, const KernelQuestion& q, std::string* reason) {
  const tn_kernel_def& def = kernel.def;
  const bool is_of_op = def.primitive == TN_PRIM_NONE;
  if (is_of_op && primitives_only()) {
    *reason = "TENON_KERNELS=primitives";
    return nullptr;
  }
  if (q.instruction_set > def.instruction_set) {
    *reason = fmt::format("knows instruction set {}, {}", def.instruction_set,
                          what_needs_more(q.args, def.instruction_set, q.instruction_set));
    return nullptr;
  }
  if (is_of_op) {
    *reason = foreign_device(kernel, q.args);
    if (!reason->empty()) return nullptr;
  }
  if (def.dtypes != 0) {
    const uint32_t foreign = dtype_bits(q.args) & ~def.dtypes;
    if (foreign != 0) {
      *reason = fmt::format("dtype {} is not among its own", dtype_name(__builtin_ctz(foreign)));
      return nullptr;
    }
  }
  if (kernel.schema != nullptr) {
    *reason = younger_argument(kernel, *q.op, q.args);
    if (!reason->empty()) return nullptr;
  }
  if (def.supports == nullptr) return nullptr;
  char text[256] = "";
  const tn_meta* metas = nullptr;
  if (q.outputs != nullptr) TN_TRY(q.outputs->find(&metas));
  const tn_call call = call_before_outputs(kernel, q.op, q.device, q.args, metas,
                                           metas != nullptr ? q.outputs->count() : 0);
  const int32_t takes = def.supports(def.self, &call, text, sizeof(text));
  text[sizeof(text) - 1] = '\0';  // it may have filled all of it
  // Another kernel would do, with other bits.
  if (takes < 0) return out_of_memory_status();
  if (takes == 0) *reason = text[0] != '\0' ? text : "refused without a reason";
  return nullptr;
}

Status choose(const KernelList* list, const KernelQuestion& q, Refusals* refusals,
              const Kernel** chosen) {
  *chosen = nullptr;
  if (list == nullptr) return nullptr;
  for (const Kernel* kernel : *list) {
    std::string reason;
    if (*chosen != nullptr) {
      if (refusals == nullptr) break;
      reason = "lower priority";
    } else {
      TN_TRY(refuses(*kernel, q, &reason));
    }
    if (reason.empty()) {
      *chosen = kernel;
    } else if (refusals != nullptr) {
      refusals->push_back({kernel, std::move(reason)});
    }
  }
  return nullptr;
}

}  // namespace

tn_call call_before_outputs(const Kernel& kernel, const Op* op, tn_device device,
                            std::span<const tn_value> args, const tn_meta* metas,
                            uint32_t n_outputs) {
  const std::span<const tn_value> known = kernel.known(args);
  tn_call call{};
  call.size = sizeof(tn_call);
  call.args = known.data();
  call.n_args = static_cast<uint32_t>(known.size());
  call.n_outputs = n_outputs;
  call.host = &host_table();
  call.op = op;
  call.device = device;
  call.metas = metas;
  return call;
}

bool primitives_only() {
  static const bool only = [] {
    const char* kernels = std::getenv("TENON_KERNELS");
    if (kernels == nullptr || *kernels == '\0') return false;
    if (std::strcmp(kernels, "primitives") == 0) return true;
    // Who misspells it would compare the kernels with themselves.
    log_line(2, fmt::format("TENON_KERNELS={} has no effect; the one known value is 'primitives'",
                            kernels)
                    .c_str());
    return false;
  }();
  return only;
}

Status choose_kernel(const KernelList* list, const KernelQuestion& question,
                     const Kernel** kernel) {
  if ((thread_state.modes & kModeExplain) == 0) [[likely]]
    return choose(list, question, nullptr, kernel);
  Refusals refusals;
  TN_TRY(choose(list, question, &refusals, kernel));
  explain_refusals(refusals);
  return nullptr;
}

Refusals refusals_of(const KernelList* list, const KernelQuestion& question) {
  Refusals refusals;
  const Kernel* none;
  StatusHolder told_already(choose(list, question, &refusals, &none));
  return refusals;
}

std::string refusals_text(const Refusals& refusals) {
  std::string text;
  for (const Refusal& r : refusals) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", r.kernel->plugin, r.reason);
  }
  return text;
}

}  // namespace tenon
