// The short path of elementwise calls.
#include "primitive/elementwise_parts.h"
#include "launch/explain.h"
#include "memory/memory.h"

namespace tenon {
namespace {

// Every element of t is one and the same: the gradient of a sum, say.
bool is_one_element(const Tensor* t) {
  for (int32_t d = 0; d < t->ndim; ++d) {
    if (t->strides[d] != 0) return false;
  }
  return true;
}

// The program of a call whose tensors are all of one dtype. Without numbers that take part in
// typing it is found at once.
Status uniform_program(const Op& op, const tn_value* args, tn_dtype dtype, bool has_numbers,
                       const CompiledProgram** compiled) {
  const OperandMap& map = op.map;
  const bool typed_by_dtype = !has_numbers && map.n_numbers == 0;
  if (typed_by_dtype) {
    *compiled = map.uniform[dtype].load(std::memory_order_acquire);
    if (*compiled != nullptr) [[likely]]
      return nullptr;
  }
  OperandType types[kMaxExpressionOperands + kMaxExpressionScalars];
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const uint32_t kind = args[map.operand_args[k]].kind;
    types[k] = kind == TN_KIND_TENSOR ? OperandType{dtype, Category::kTensor, false}
                                      : OperandType{number_dtype(kind), Category::kNumber, true};
  }
  for (uint32_t i = 0; i < map.n_numbers; ++i) {
    types[map.n_operands + i] = {number_dtype(args[map.number_args[i]].kind), Category::kNumber,
                                 true};
  }
  TN_TRY(compile_call(op, args, {types, size_t{map.n_operands} + map.n_numbers}, compiled));
  if (typed_by_dtype) map.uniform[dtype].store(*compiled, std::memory_order_release);
  return nullptr;
}

[[gnu::noinline]] Status launch_on_device(const Kernel& kernel, const Op& op, tn_device device,
                                          const tn_loop& loop, std::span<Tensor*> outputs) {
  tn_value arg{};
  arg.kind = TN_KIND_LOOP;
  arg.as.loop = &loop;
  return launch(kernel, &op, device, {&arg, 1}, outputs);
}

// Number operands in order, then the schema's scalars.
void fill_params(const OperandMap& map, const tn_value* args, const CompiledProgram& compiled,
                 tn_scalar* params) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const tn_value& v = args[map.operand_args[k]];
    if (v.kind != TN_KIND_TENSOR) params[n++] = number_scalar(v, v.kind == TN_KIND_FLOAT);
  }
  for (uint32_t s = 0; s < map.n_scalars; ++s, ++n) {
    params[n] = number_scalar(args[map.scalar_args[s]], compiled.params_are_float[n] != 0);
  }
}

// Strides of the operands: of a tensor, and of one element that is expanded.
constexpr int64_t kOne = 1, kZero = 0;

const Tensor* first_contiguous(const OperandMap& map, const tn_value* args) {
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const tn_value& v = args[map.operand_args[k]];
    if (v.kind == TN_KIND_TENSOR && as_tensor(v.as.tensor)->is_contiguous())
      return as_tensor(v.as.tensor);
  }
  return nullptr;
}

// Is an input the memory that is written, moved? Then the call is for run_general, as it is where a
// tensor that is written is not row-major.
bool reads_moved_memory(const OperandMap& map, const tn_value* args, const tn_operand* inputs,
                        uint32_t n_inputs) {
  for (uint32_t i = 0; i < map.n_outputs; ++i) {
    if (map.inplace_operand[i] < 0) continue;
    const tn_value& target = args[map.operand_args[map.inplace_operand[i]]];
    if (target.kind != TN_KIND_TENSOR || !as_tensor(target.as.tensor)->is_contiguous()) return true;
    const tn_tensor& written = *target.as.tensor;
    for (uint32_t k = 0; k < n_inputs; ++k) {
      const bool same = inputs[k].byte_offset == written.byte_offset && inputs[k].strides == &kOne;
      if (!same && same_memory(inputs[k].storage, written.storage)) return true;
    }
  }
  return false;
}

// Makes the outputs, which come first among the operands, and launches.
Status launch_uniform(const Op& op, const tn_value* args, const Kernel& kernel,
                      const CompiledProgram& compiled, const Tensor* first, bool has_numbers,
                      tn_operand* operands, Tensor** outputs) {
  const OperandMap& map = op.map;
  uint32_t made = 0;
  const Status status = guarded([&]() -> Status {
    for (; made < map.n_outputs; ++made) {
      const int target = map.inplace_operand[made];
      if (target >= 0) {
        outputs[made] = as_tensor(args[map.operand_args[target]].as.tensor);
        outputs[made]->retain();
      } else {
        TN_TRY(empty_like(first, compiled.output_dtypes[made], &outputs[made]));
      }
      set_operand(outputs[made], &kOne, &operands[made]);
    }
    tn_scalar params[kMaxExpressionOperands + kMaxExpressionScalars];
    if (has_numbers || map.n_scalars != 0) fill_params(map, args, compiled, params);
    const tn_loop loop{sizeof(tn_loop),   1,        first->numel, &first->numel,
                       &compiled.program, operands, params};
    if (compiled.checks.any != 0) [[unlikely]]
      TN_TRY(check_params(op, compiled, params));
    return first->device.type == TN_DEVICE_CPU
               ? launch_loop(kernel, &op, loop, {outputs, map.n_outputs})
               : launch_on_device(kernel, op, first->device, loop, {outputs, map.n_outputs});
  });
  return finish_outputs(map, made, outputs, status);
}

}  // namespace

// The path of most calls: every tensor is row-major, of one shape, dtype and device (or one
// element, expanded to that shape), the other operands are numbers, and no mode looks on. Says with
// *taken whether it was this call's path; nothing has happened otherwise.
Status run_uniform(const Op& op, const tn_value* args, Tensor** outputs, bool* taken) {
  const OperandMap& map = op.map;
  *taken = false;
  if ((thread_state.modes & kModesOfLaunches) != 0) [[unlikely]] {
    if ((thread_state.modes & kModeUnsettled) != 0) settle_modes();
    if ((thread_state.modes & kModesOfLaunches) != 0) return nullptr;
  }
  const Tensor* first = first_contiguous(map, args);
  if (first == nullptr || first->ndim == 0 || first->numel == 0 ||
      first->device.type == TN_DEVICE_META)
    return nullptr;
  tn_operand operands[kMaxOperands];
  tn_operand* inputs = operands + map.n_outputs;
  uint32_t n_inputs = 0;
  bool has_numbers = false;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const tn_value& v = args[map.operand_args[k]];
    if (v.kind != TN_KIND_TENSOR) {
      has_numbers = true;
      continue;
    }
    const Tensor* t = as_tensor(v.as.tensor);
    if (t != first &&
        !(t->dtype == first->dtype && t->device == first->device && same_sizes(t, first)))
      return nullptr;
    if (t->is_contiguous()) [[likely]] {
      set_operand(t, &kOne, &inputs[n_inputs++]);
    } else if (is_one_element(t)) {
      set_operand(t, &kZero, &inputs[n_inputs++]);
    } else {
      return nullptr;
    }
  }
  if (op.kernels.find(first->device.type) != nullptr) return nullptr;
  const KernelList* evaluators = registry().primitive(TN_PRIM_ELEMENTWISE).find(first->device.type);
  if (evaluators == nullptr) return nullptr;
  const CompiledProgram* compiled;
  TN_TRY(uniform_program(op, args, first->dtype, has_numbers, &compiled));
  const Kernel& kernel = *evaluators->front();
  if (kernel.def.supports != nullptr || kernel.def.dtypes != 0 ||
      compiled->program.instruction_set > kernel.def.instruction_set) [[unlikely]] {
    return nullptr;
  }
  if (map.any_inplace && reads_moved_memory(map, args, inputs, n_inputs)) return nullptr;
  *taken = true;
  return launch_uniform(op, args, kernel, *compiled, first, has_numbers, operands, outputs);
}

}  // namespace tenon
