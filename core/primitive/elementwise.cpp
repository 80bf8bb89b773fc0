// The general path of elementwise calls: promotion, broadcasting, devices, in-place rules, layouts.
#include "primitive/elementwise.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "registry/arguments.h"
#include "primitive/convert.h"
#include "primitive/elementwise_parts.h"
#include "launch/explain.h"
#include "registry/recording.h"

#include "primitive/primitives.h"
#include "memory/memory.h"
#include "tensor/layout.h"
#include "tensor/view.h"

namespace tenon {
namespace {

const char* operand_name(const Op& op, uint32_t k) {
  return op.schema.arguments[op.map.operand_args[k]].name.c_str();
}

// What a call found out about its operands.
struct Operands {
  const Tensor* tensors[kMaxExpressionOperands];  // NULL: a number, or read as one
  // operands, then scalars of type number
  OperandType types[kMaxExpressionOperands + kMaxExpressionScalars];
  tn_scalar values[kMaxExpressionOperands];  // of those that are params
  // While a function is recorded: the tensors on cpu that such numbers come from (bits of `held`).
  const Tensor* holders[kMaxExpressionOperands];
  uint64_t held = 0;
  tn_device device = kCpu;
  const Tensor* first = nullptr;  // the first tensor that lives on `device`
  // all tensors row-major, of one shape, on one device
  bool uniform = true;
};

bool is_scalar_tensor(const Tensor* t) { return t->ndim == 0 && t->device.type == TN_DEVICE_CPU; }

Status device_mismatch(const Op& op, const Operands& o, uint32_t k) {
  return invalid(
      "{}: {} is {}, but another argument is {}; expected all on one device (only a 0-dimensional "
      "cpu tensor "
      "may meet others)",
      name_of(op), operand_name(op, k), tensor_text(o.tensors[k]), tensor_text(o.first));
}

// Tensors of several devices: 0-dimensional cpu ones are read now and become parameters, all else
// is refused.
Status settle_devices(const Op& op, Operands* o) {
  const OperandMap& map = op.map;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const Tensor* t = o->tensors[k];
    if (t == nullptr || t->device == o->device) continue;
    const bool written = std::find(map.inplace_operand, map.inplace_operand + map.n_outputs,
                                   static_cast<int8_t>(k)) != map.inplace_operand + map.n_outputs;
    if (!is_scalar_tensor(t) || written) return device_mismatch(op, *o, k);
    if (o->device.type != TN_DEVICE_META) {
      if ((thread_state.modes & kModeRecord) != 0) {
        o->holders[k] = t;
        o->held |= uint64_t{1} << k;
      }
      const tn_value number = read_scalar(t);
      o->values[k] = number_scalar(number, number.kind == TN_KIND_FLOAT);
    }
    o->types[k].as_param = true;
    o->tensors[k] = nullptr;
  }
  return nullptr;
}

Status read_operands(const Op& op, const tn_value* args, Operands* o) {
  const OperandMap& map = op.map;
  bool one_device = true;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const tn_value& v = args[map.operand_args[k]];
    if (v.kind == TN_KIND_TENSOR) [[likely]] {
      const Tensor* t = as_tensor(v.as.tensor);
      o->tensors[k] = t;
      o->types[k] = {t->dtype, t->ndim > 0 ? Category::kTensor : Category::kZeroDim, false};
      if (o->first == nullptr) {
        o->first = t;
        o->device = t->device;
        o->uniform = t->is_contiguous();
      } else {
        if (!(t->device == o->device)) {
          one_device = false;
          if (is_scalar_tensor(o->first)) {
            o->first = t;
            o->device = t->device;
          }
        }
        o->uniform = o->uniform && t->is_contiguous() && same_sizes(t, o->first);
      }
    } else {
      o->tensors[k] = nullptr;
      o->types[k] = {number_dtype(v.kind), Category::kNumber, true};
      o->values[k] = number_scalar(v, v.kind == TN_KIND_FLOAT);
    }
  }
  if (!one_device) [[unlikely]] {
    o->uniform = false;
    TN_TRY(settle_devices(op, o));
  }
  return nullptr;
}

// Strides for a new output that keep the order of dimensions of the first full operand, so that
// channels-last propagates. False: row-major.
bool propagated_strides(const Operands& o, uint32_t n, std::span<const int64_t> sizes,
                        int64_t* strides) {
  const Tensor* full = nullptr;
  for (uint32_t k = 0; k < n && full == nullptr; ++k) {
    if (o.tensors[k] != nullptr && same_sizes(o.tensors[k], sizes)) full = o.tensors[k];
  }
  if (full == nullptr || full->is_contiguous() || full->ndim < 2) return false;
  int32_t order[TN_MAX_RANK];
  dimension_order(full, order);
  strides_in_order(sizes, order, strides);
  return true;
}

Status make_output(const Operands& o, uint32_t n, std::span<const int64_t> sizes, tn_dtype dtype,
                   Tensor** output) {
  int64_t strides[TN_MAX_RANK];
  if (o.uniform || !propagated_strides(o, n, sizes, strides)) {
    return empty_tensor(sizes, dtype, o.device, output);
  }
  return empty_strided(sizes, strides, dtype, o.device, output);
}

// Two tensors that share memory without being the same elements at the same indices.
bool partly_overlap(const Tensor* a, const Tensor* b) {
  if (!same_memory(a->storage, b->storage) || a->numel == 0 || b->numel == 0) return false;
  const auto extent = [](const Tensor* t, uint64_t* low, uint64_t* high) {
    int64_t reach = 0;
    for (int32_t d = 0; d < t->ndim; ++d) reach += (t->sizes[d] - 1) * t->strides[d];
    *low = t->byte_offset;
    *high = t->byte_offset + (reach + 1) * kItemSize[t->dtype];
  };
  uint64_t a_low, a_high, b_low, b_high;
  extent(a, &a_low, &a_high);
  extent(b, &b_low, &b_high);
  if (a_high <= b_low || b_high <= a_low) return false;
  return !(a->byte_offset == b->byte_offset && same_sizes(a, b) && a->dtype == b->dtype &&
           std::equal(a->strides, a->strides + a->ndim, b->strides));
}

// In-place outputs: the shape must be the result's, writes must not overlap, and inputs that share
// memory with the output at other indices are copied first.
Status prepare_inplace(const Op& op, std::span<const int64_t> sizes, Operands* o,
                       std::vector<TensorRef>* copies) {
  const OperandMap& map = op.map;
  for (uint32_t i = 0; i < map.n_outputs; ++i) {
    const int target = map.inplace_operand[i];
    if (target < 0) continue;
    const Tensor* t = o->tensors[target];
    if (t == nullptr) {
      return invalid("{}: {} is written and must be a tensor", name_of(op),
                     operand_name(op, target));
    }
    if (!same_sizes(t, sizes)) {
      return invalid("{}: {} is {} and cannot hold the result, which is {}", name_of(op),
                     operand_name(op, target), tensor_text(t),
                     fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", ")));
    }
    if (may_overlap(t)) {
      return invalid(
          "{}: {} ({}) has elements that share memory, and cannot be written; clone it first",
          name_of(op), operand_name(op, target), sizes_text(t));
    }
    for (uint32_t k = 0; k < map.n_operands; ++k) {
      if (o->tensors[k] == nullptr || static_cast<int>(k) == target ||
          !partly_overlap(t, o->tensors[k]))
        continue;
      Tensor* copy;
      TN_TRY(
          copy_to(const_cast<Tensor*>(o->tensors[k]), o->tensors[k]->device, TN_DTYPE_NONE, &copy));
      copies->push_back(TensorRef(copy));
      o->tensors[k] = copy;
    }
  }
  return nullptr;
}

// Which parameters of the next launch are numbers that tensors hold: operands that lie on another
// device, and dynamic scalars.
void tell_numbers(const Op& op, const CompiledProgram& compiled, const Operands& o) {
  Recording& recording = *thread_state.recording;
  const OperandMap& map = op.map;
  uint32_t parameter = 0;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    if (o.tensors[k] != nullptr) continue;
    if ((o.held >> k & 1) != 0)
      recording.number(&op, parameter, o.holders[k], is_float(o.holders[k]->dtype));
    ++parameter;
  }
  DynamicNumbers* const numbers = thread_state.numbers;
  if (numbers == nullptr || numbers->op != &op) return;
  for (uint32_t s = 0; s < map.n_scalars; ++s, ++parameter) {
    const uint32_t i = map.scalar_args[s];
    if (!numbers->came_as_tensor(i)) continue;
    recording.number(&op, parameter, numbers->given[i].as.tensor,
                     compiled.params_are_float[parameter] != 0);
  }
  numbers->used = true;
}

// Kernels that third parties brought for this very op get its arguments, before broadcasting; the
// evaluator gets a loop.
Status launch_elementwise(const Op& op, const tn_value* args, const CompiledProgram& compiled,
                          const Operands& o, std::span<const int64_t> sizes, int64_t numel,
                          const tn_scalar* params, Tensor** outputs) {
  const OperandMap& map = op.map;
  const std::span<Tensor*> output_span(outputs, map.n_outputs);
  if (const KernelList* own = op.kernels.find(o.device.type)) [[unlikely]] {
    tn_value complete[kMaxArguments];
    const Values all = with_defaults(op, {args, map.n_args}, complete);
    const Kernel* kernel;
    TN_TRY(choose_kernel(own, {&op, o.device, all}, &kernel));
    if (kernel != nullptr) return launch(*kernel, &op, o.device, all, output_span);
  }
  LoopBuffers buffers;
  const Tensor* operands[kMaxOperands];
  uint32_t n = 0;
  for (uint32_t i = 0; i < map.n_outputs; ++i) operands[n++] = outputs[i];
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    if (o.tensors[k] != nullptr) operands[n++] = o.tensors[k];
  }
  if (o.uniform) [[likely]] {
    flat_loop(numel, operands, n, &buffers);
  } else {
    strided_loop(sizes, operands, n, &buffers);
  }
  const tn_loop loop{sizeof(tn_loop),   buffers.ndim,     numel, buffers.sizes,
                     &compiled.program, buffers.operands, params};
  tn_value arg{};
  arg.kind = TN_KIND_LOOP;
  arg.as.loop = &loop;
  const Kernel* kernel;
  TN_TRY(primitive_kernel(TN_PRIM_ELEMENTWISE, &op, o.device, {&arg, 1},
                          compiled.program.instruction_set, &kernel));
  if ((thread_state.modes & kModeRecord) != 0) [[unlikely]]
    tell_numbers(op, compiled, o);
  return launch(*kernel, &op, o.device, {&arg, 1}, output_span);
}

}  // namespace

// The parameters in the program's order: number operands, then the schema's scalars.
static void read_params(const OperandMap& map, const tn_value* args, const Operands& o,
                        const CompiledProgram& compiled, tn_scalar* params) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    if (o.tensors[k] == nullptr) params[n++] = o.values[k];
  }
  for (uint32_t s = 0; s < map.n_scalars; ++s, ++n) {
    params[n] = number_scalar(args[map.scalar_args[s]], compiled.params_are_float[n] != 0);
  }
}

static Status run_general(const Op& op, const tn_value* args, Tensor** outputs) {
  const OperandMap& map = op.map;
  Operands o;
  TN_TRY(read_operands(op, args, &o));
  const CompiledProgram* compiled;
  for (uint32_t i = 0; i < map.n_numbers; ++i) {
    o.types[map.n_operands + i] = {number_dtype(args[map.number_args[i]].kind), Category::kNumber,
                                   true};
  }
  TN_TRY(compile_call(op, args, {o.types, size_t{map.n_operands} + map.n_numbers}, &compiled));

  tn_scalar params[kMaxExpressionOperands + kMaxExpressionScalars];
  read_params(map, args, o, *compiled, params);
  if (compiled->checks.any != 0) [[unlikely]]
    TN_TRY(check_params(op, *compiled, params));

  Shape broadcast;
  std::span<const int64_t> sizes;
  int64_t numel = 1;
  if (o.uniform && o.first != nullptr) [[likely]] {
    sizes = o.first->size_span();
    numel = o.first->numel;
  } else {
    o.uniform = false;
    TN_TRY(broadcast_shape(name_of(op), o.tensors, map.n_operands, &broadcast));
    sizes = broadcast.span();
    TN_TRY(count_elements(name_of(op), sizes, compiled->output_dtypes[0], &numel));
  }
  std::vector<TensorRef> copies;
  tn_value patched[kMaxExpressionOperands + kMaxExpressionScalars];
  if (map.any_inplace) {
    TN_TRY(prepare_inplace(op, sizes, &o, &copies));
    if (!copies.empty()) {
      std::copy_n(args, map.n_args, patched);
      for (uint32_t k = 0; k < map.n_operands; ++k) {
        if (o.tensors[k] != nullptr)
          patched[map.operand_args[k]].as.tensor = const_cast<Tensor*>(o.tensors[k]);
      }
      args = patched;
    }
  }

  uint32_t made = 0;
  const Status status = guarded([&]() -> Status {
    for (; made < map.n_outputs; ++made) {
      const int target = map.inplace_operand[made];
      if (target >= 0) {
        outputs[made] = const_cast<Tensor*>(o.tensors[target]);
        outputs[made]->retain();
      } else {
        TN_TRY(
            make_output(o, map.n_operands, sizes, compiled->output_dtypes[made], &outputs[made]));
      }
    }
    if (numel == 0) return nullptr;
    return launch_elementwise(op, args, *compiled, o, sizes, numel, params, outputs);
  });
  return finish_outputs(map, made, outputs, status);
}

Status run_elementwise(const Op& op, const tn_value* args, Tensor** outputs) {
  bool taken;
  TN_TRY(run_uniform(op, args, outputs, &taken));
  if (taken) return nullptr;
  return run_general(op, args, outputs);
}

}  // namespace tenon
