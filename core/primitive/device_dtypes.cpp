#include "primitive/device_dtypes.h"

#include <algorithm>
#include <atomic>

#include "launch/launch.h"
#include "primitive/primitives.h"
#include "registry/expressions.h"

namespace tenon {
namespace {

// What every backend must bring (docs/add_a_backend.md).
constexpr uint32_t kEverywhere = TN_DTYPE_BIT(TN_FLOAT32) | TN_DTYPE_BIT(TN_INT64) |
                                 TN_DTYPE_BIT(TN_INT32) | TN_DTYPE_BIT(TN_BOOL);

// Those that were found. What is not found is asked for anew, since kernels may come later.
std::atomic<uint32_t> g_found[kMaxDeviceTypes];

// Why no kernel of the list casts float32 to the dtype; "": one does.
Status why_no_cast(const KernelList& list, tn_device device, tn_dtype dtype, std::string* why) {
  const Op& identity = formula("copy(Tensor x) -> Tensor", "x");
  const OperandType type{TN_FLOAT32, Category::kTensor, false};
  const CompiledProgram* compiled;
  TN_TRY(identity.expression->compile({&type, 1}, &compiled));
  const int64_t one = 1;
  tn_operand operands[2] = {};
  for (tn_operand& operand : operands) operand.strides = &one;
  operands[0].dtype = dtype;
  operands[1].dtype = TN_FLOAT32;
  const tn_loop loop{sizeof(tn_loop), 1, 1, &one, &compiled->program, operands, nullptr};
  tn_value arg{};
  arg.kind = TN_KIND_LOOP;
  arg.as.loop = &loop;
  const uint32_t needed = std::max(compiled->program.instruction_set, instruction_set_of(dtype));
  const Refusals refusals = refusals_of(&list, {&identity, device, {&arg, 1}, needed});
  if (refusals.size() == list.size()) *why = refusals_text(refusals);
  return nullptr;
}

// Might the kernel take a tensor of the dtype? ELEMENTWISE is asked by why_no_cast; what has no
// tensor among its arguments says nothing of dtypes.
bool may_take(const Kernel& kernel, tn_dtype dtype) {
  const tn_kernel_def& def = kernel.def;
  switch (def.primitive) {
    case TN_PRIM_ELEMENTWISE:
    case TN_PRIM_IOTA:
    case TN_PRIM_FILL:
    case TN_PRIM_RANDOM_BITS:
      return false;
    default:
      break;
  }
  if (def.dtypes != 0) return (def.dtypes >> dtype & 1) != 0;
  return def.primitive == TN_PRIM_NONE || def.supports == nullptr;
}

}  // namespace

Status check_has_dtype(tn_device device, tn_dtype dtype) {
  if (device.type <= TN_DEVICE_META) [[likely]]
    return nullptr;
  std::atomic<uint32_t>& found = g_found[device.type];
  if (((kEverywhere | found.load(std::memory_order_relaxed)) >> dtype & 1) != 0) [[likely]]
    return nullptr;
  const KernelList* list = registry().primitive(TN_PRIM_ELEMENTWISE).find(device.type);
  if (list == nullptr) return nullptr;  // part of a backend: nobody can tell
  std::string why;
  TN_TRY(why_no_cast(*list, device, dtype, &why));
  const auto takes = [&](const Kernel* kernel) {
    return kernel->device_type == device.type && may_take(*kernel, dtype);
  };
  if (why.empty() || std::ranges::any_of(registry().all_kernels(), takes)) {
    found.fetch_or(TN_DTYPE_BIT(dtype), std::memory_order_relaxed);
    return nullptr;
  }
  return error(TN_UNSUPPORTED, "{} has no {}: no kernel there takes it ({})", device_text(device),
               dtype_name(dtype), why);
}

}  // namespace tenon
