// The reduce primitive: dimensions, dtypes, prologue and epilogue, empty reductions.
#include <algorithm>

#include "base/text.h"

#include "primitive/convert.h"
#include "primitive/elementwise.h"
#include "primitive/primitives.h"
#include "memory/memory.h"

namespace tenon {
namespace {

constexpr const char* kKindNames[] = {"sum", "prod", "max", "min", "argmax", "argmin"};

// A prologue or epilogue, compiled, with its parameters.
struct Stage {
  const CompiledProgram* compiled = nullptr;
  tn_scalar params[kMaxExpressionScalars];
};

Status prepare_stage(const char* which, const Op& op, std::span<const tn_dtype> operands,
                     std::span<const double> scalars, Stage* stage) {
  const Expression* e = op.expression.get();
  if (e == nullptr) return invalid("reduce: the {} ({}) is no expression", which, op.name);
  if (e->n_operands() != operands.size() || e->n_outputs() != 1 ||
      e->n_scalars() != scalars.size()) {
    return invalid(
        "reduce: the {} ({}) takes {} tensors and {} scalars and gives {} outputs; here are {} and "
        "{}, and 1 is needed",
        which, e->schema().name, e->n_operands(), e->n_scalars(), e->n_outputs(), operands.size(),
        scalars.size());
  }
  OperandType types[kMaxExpressionOperands];
  for (size_t i = 0; i < operands.size(); ++i) types[i] = {operands[i], Category::kTensor, false};
  TN_TRY(e->compile({types, operands.size()}, &stage->compiled));
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (stage->compiled->params_are_float[i] != 0) {
      stage->params[i].f = scalars[i];
    } else {
      stage->params[i].i = static_cast<int64_t>(scalars[i]);
    }
  }
  return nullptr;
}

tn_dtype accumulate_dtype(tn_dtype dtype) {
  if (dtype == TN_FLOAT64) return TN_FLOAT64;
  return is_float(dtype) ? TN_FLOAT32 : TN_INT64;
}

tn_dtype result_dtype(tn_reduce_kind kind, tn_dtype folded) {
  if (kind == TN_REDUCE_ARGMAX || kind == TN_REDUCE_ARGMIN) return TN_INT64;
  const bool adds = kind == TN_REDUCE_SUM || kind == TN_REDUCE_PROD;
  return adds && !is_float(folded) ? TN_INT64 : folded;  // PyTorch: integers and bool sum to int64
}

// A call of reduce, read: what its output is, and what folds to it.
struct Reduction {
  const char* what;  // "sum"
  tn_reduce_kind kind;
  uint32_t n_inputs;
  const Tensor* inputs[kMaxOperands];
  const Op *prologue, *epilogue;  // NULL: none
  Stage before, after;
  tn_dtype accumulate, dtype;
  Shape shape;       // of the inputs, broadcast
  uint32_t reduced;  // bit d: dimension d of shape is
  bool keepdim;
  Shape kept;                        // of the output
  int64_t n_folded = 1, n_kept = 1;  // elements for each of the output, elements of the output
};

Status read_inputs(Values args, Reduction* r, tn_dtype* dtypes) {
  const int64_t kind = int_at(args, 0);
  const auto inputs = tensors_at(args, 1);
  r->prologue = expression_at(args, 4);
  r->epilogue = expression_at(args, 6);
  if (kind < TN_REDUCE_SUM || kind > TN_REDUCE_ARGMIN)
    return invalid("reduce: kind {} is unknown", kind);
  r->kind = static_cast<tn_reduce_kind>(kind);
  r->what = kKindNames[kind];
  if (r->epilogue != nullptr && kind >= TN_REDUCE_ARGMAX) {
    return invalid("{}: it gives an index, which takes no epilogue", r->what);
  }
  if (inputs.empty() || inputs.size() + 1 > kMaxOperands ||
      (r->prologue == nullptr && inputs.size() != 1)) {
    return invalid("{}: {} tensors; one is reduced, several only by a prologue", r->what,
                   inputs.size());
  }
  r->n_inputs = static_cast<uint32_t>(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    r->inputs[i] = as_tensor(inputs[i]);
    dtypes[i] = inputs[i]->dtype;
    if (!(inputs[i]->device == inputs[0]->device)) {
      return invalid("{}: {} and {}; expected one device", r->what, tensor_text(inputs[0]),
                     tensor_text(inputs[i]));
    }
  }
  return nullptr;
}

// The dtypes on the way: after the prologue, of the accumulator, after the epilogue.
Status type_stages(Values args, const tn_dtype* dtypes, Reduction* r, tn_dtype* folded) {
  *folded = dtypes[0];
  if (r->prologue != nullptr) {
    TN_TRY(prepare_stage("prologue", *r->prologue, {dtypes, r->n_inputs}, floats_at(args, 5),
                         &r->before));
    *folded = r->before.compiled->output_dtypes[0];
    if (*folded == TN_BOOL)
      return invalid("{}: a prologue that gives bool is not folded; cast it with int()", r->what);
  }
  r->accumulate = accumulate_dtype(*folded);
  tn_dtype dtype = result_dtype(r->kind, *folded);
  if (r->epilogue != nullptr) {
    TN_TRY(prepare_stage("epilogue", *r->epilogue, {&r->accumulate, 1}, floats_at(args, 7),
                         &r->after));
    const tn_dtype out = r->after.compiled->output_dtypes[0];
    dtype = is_half(*folded) && out == TN_FLOAT32 ? *folded : out;
  }
  r->dtype = dtype_at(args, 8, dtype);
  return nullptr;
}

// What the call gives, or why it is refused.
Status infer_reduce(Values args, Reduction* r) {
  tn_dtype dtypes[kMaxOperands], folded;
  TN_TRY(read_inputs(args, r, dtypes));
  TN_TRY(type_stages(args, dtypes, r, &folded));
  TN_TRY(broadcast_shape(r->what, r->inputs, r->n_inputs, &r->shape));
  int64_t numel;  // several inputs may broadcast to more than 63 bits count
  TN_TRY(count_elements(r->what, r->shape.span(), folded, &numel));
  r->reduced = dims_mask(r->what, ints_at(args, 2), r->shape.ndim);
  r->keepdim = bool_at(args, 3);
  for (int32_t d = 0; d < r->shape.ndim; ++d) {
    if ((r->reduced >> d & 1) != 0) {
      r->n_folded *= r->shape.sizes[d];
      if (r->keepdim) r->kept.sizes[r->kept.ndim++] = 1;
    } else {
      r->n_kept *= r->shape.sizes[d];
      r->kept.sizes[r->kept.ndim++] = r->shape.sizes[d];
    }
  }
  if (r->n_folded == 0 && r->kind >= TN_REDUCE_MAX && r->n_kept > 0) {
    return invalid(
        "{}: {} has no elements along the reduced dimensions, and {} of nothing is undefined",
        r->what, shape_text(r->shape.sizes, r->shape.ndim), r->what);
  }
  return nullptr;
}

// Where there is nothing to fold: the identity, through the epilogue's formula where there is one.
Status fill_with_identity(const Reduction& r, std::span<const double> scalars, Tensor* made) {
  const bool is_product = r.kind == TN_REDUCE_PROD;
  if (r.epilogue == nullptr) return fill(made, int_value(is_product ? 1 : 0));
  tn_value values[1 + kMaxExpressionScalars] = {};
  values[0] = float_value(is_product ? 1 : 0);
  for (size_t i = 0; i < scalars.size(); ++i) values[i + 1] = float_value(scalars[i]);
  Tensor* one;
  TN_TRY(run_elementwise(*r.epilogue, values, &one));
  const TensorRef hold(one);
  return copy_into(made, one);
}

// The least version that knows the programs of a reduction and its operands.
uint32_t instruction_set_for(const Reduction& r, const tn_reduction& reduction) {
  uint32_t least = instruction_set_of(r.dtype);
  for (uint32_t i = 0; i < r.n_inputs; ++i)
    least = std::max(least, instruction_set_of(r.inputs[i]->dtype));
  for (const tn_program* program : {reduction.prologue, reduction.epilogue}) {
    if (program != nullptr) least = std::max(least, program->instruction_set);
  }
  return least;
}

Status launch_reduction(const Reduction& r, Tensor* made) {
  int64_t output_strides[TN_MAX_RANK];
  for (int32_t d = 0, k = 0; d < r.shape.ndim; ++d) {
    const bool folds = (r.reduced >> d & 1) != 0;
    output_strides[d] = folds ? 0 : made->strides[k];
    k += !folds || r.keepdim ? 1 : 0;
  }
  LoopBuffers buffers;
  // needs no sorting and merging
  const bool whole = r.n_kept == 1 && r.n_inputs == 1 && r.inputs[0]->is_contiguous();
  const bool ordered = r.kind == TN_REDUCE_ARGMAX || r.kind == TN_REDUCE_ARGMIN;
  const int32_t n_reduced = whole
                                ? whole_reduction_loop(r.n_folded, made, r.inputs[0], &buffers)
                                : reduction_loop(r.shape.span(), r.reduced, ordered, output_strides,
                                                 made, r.inputs, r.n_inputs, &buffers);
  const tn_reduction reduction{sizeof(tn_reduction),
                               r.kind,
                               r.accumulate,
                               buffers.ndim,
                               n_reduced,
                               0,
                               r.n_kept,
                               buffers.sizes,
                               buffers.operands,
                               r.prologue != nullptr ? &r.before.compiled->program : nullptr,
                               r.epilogue != nullptr ? &r.after.compiled->program : nullptr,
                               r.before.params,
                               r.after.params};
  tn_value arg{};
  arg.kind = TN_KIND_REDUCTION;
  arg.as.reduction = &reduction;
  const Kernel* kernel;
  const Op* op = primitive_op(TN_PRIM_REDUCE);
  TN_TRY(primitive_kernel(TN_PRIM_REDUCE, op, made->device, {&arg, 1},
                          instruction_set_for(r, reduction), &kernel));
  return launch(*kernel, op, made->device, {&arg, 1}, {&made, 1});
}

}  // namespace

Status run_reduce(Values args, Tensor** result) {
  Reduction r;
  TN_TRY(infer_reduce(args, &r));
  Tensor* made;
  TN_TRY(empty_tensor(r.kept.span(), r.dtype, r.inputs[0]->device, &made));
  TensorRef hold(made);
  if (r.n_kept > 0 && r.n_folded == 0) {
    TN_TRY(fill_with_identity(r, floats_at(args, 7), made));
  } else if (r.n_kept > 0) {
    TN_TRY(launch_reduction(r, made));
  }
  *result = hold.take();
  return nullptr;
}

}  // namespace tenon
