// The reduce primitive: dimensions, dtypes, prologue and epilogue, empty reductions.
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

tn_value identity_of(tn_reduce_kind kind) {
  tn_value v{};
  v.kind = TN_KIND_INT;
  v.as.i = kind == TN_REDUCE_PROD ? 1 : 0;
  return v;
}

}  // namespace

Status run_reduce(Values args, Tensor** result) {
  const int64_t kind = int_at(args, 0);
  const auto inputs = tensors_at(args, 1);
  const auto dims = ints_at(args, 2);
  const bool keepdim = bool_at(args, 3);
  const Op *prologue = expression_at(args, 4), *epilogue = expression_at(args, 6);
  if (kind < TN_REDUCE_SUM || kind > TN_REDUCE_ARGMIN)
    return invalid("reduce: kind {} is unknown", kind);
  const char* what = kKindNames[kind];
  if (epilogue != nullptr && kind >= TN_REDUCE_ARGMAX) {
    return invalid("{}: it gives an index, which takes no epilogue", what);
  }
  if (inputs.empty() || inputs.size() + 1 > kMaxOperands ||
      (prologue == nullptr && inputs.size() != 1)) {
    return invalid("{}: {} tensors; one is reduced, several only by a prologue", what,
                   inputs.size());
  }
  const Tensor* tensors[kMaxOperands];
  tn_dtype dtypes[kMaxOperands];
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors[i] = as_tensor(inputs[i]);
    dtypes[i] = inputs[i]->dtype;
    if (!(inputs[i]->device == inputs[0]->device)) {
      return invalid("{}: {} and {}; expected one device", what, tensor_text(inputs[0]),
                     tensor_text(inputs[i]));
    }
  }
  const auto n_inputs = static_cast<uint32_t>(inputs.size());
  Stage before, after;
  tn_dtype folded = dtypes[0];
  if (prologue != nullptr) {
    TN_TRY(prepare_stage("prologue", *prologue, {dtypes, n_inputs}, floats_at(args, 5), &before));
    folded = before.compiled->output_dtypes[0];
    if (folded == TN_BOOL)
      return invalid("{}: a prologue that gives bool is not folded; cast it with int()", what);
  }
  const tn_dtype accumulate = accumulate_dtype(folded);
  tn_dtype dtype = result_dtype(static_cast<tn_reduce_kind>(kind), folded);
  if (epilogue != nullptr) {
    TN_TRY(prepare_stage("epilogue", *epilogue, {&accumulate, 1}, floats_at(args, 7), &after));
    const tn_dtype out = after.compiled->output_dtypes[0];
    dtype = is_half(folded) && out == TN_FLOAT32 ? folded : out;
  }
  dtype = dtype_at(args, 8, dtype);

  Shape shape;
  TN_TRY(broadcast_shape(what, tensors, n_inputs, &shape));
  int64_t numel;  // several inputs may broadcast to more than 63 bits count
  TN_TRY(count_elements(what, shape.span(), folded, &numel));
  const uint32_t reduced = dims_mask(what, dims, shape.ndim);
  Shape kept;
  int64_t n_folded = 1, n_kept = 1;
  for (int32_t d = 0; d < shape.ndim; ++d) {
    if ((reduced >> d & 1) != 0) {
      n_folded *= shape.sizes[d];
      if (keepdim) kept.sizes[kept.ndim++] = 1;
    } else {
      n_kept *= shape.sizes[d];
      kept.sizes[kept.ndim++] = shape.sizes[d];
    }
  }
  if (n_folded == 0 && kind >= TN_REDUCE_MAX && n_kept > 0) {
    return invalid(
        "{}: {} has no elements along the reduced dimensions, and {} of nothing is undefined", what,
        shape_text(shape.sizes, shape.ndim), what);
  }
  Tensor* made;
  TN_TRY(empty_tensor(kept.span(), dtype, tensors[0]->device, &made));
  TensorRef hold(made);
  if (n_kept > 0 && n_folded == 0) {
    // Nothing to fold: the identity, through the epilogue's formula where there is one.
    if (epilogue == nullptr) {
      TN_TRY(fill(made, identity_of(static_cast<tn_reduce_kind>(kind))));
    } else {
      tn_value values[1 + kMaxExpressionScalars] = {};
      values[0].kind = TN_KIND_FLOAT;
      values[0].as.f = static_cast<double>(identity_of(static_cast<tn_reduce_kind>(kind)).as.i);
      const auto scalars = floats_at(args, 7);
      for (size_t i = 0; i < scalars.size(); ++i) {
        values[i + 1].kind = TN_KIND_FLOAT;
        values[i + 1].as.f = scalars[i];
      }
      Tensor* one;
      TN_TRY(run_elementwise(*epilogue, values, &one));
      TensorRef hold_one(one);
      TN_TRY(copy_into(made, one));
    }
  } else if (n_kept > 0) {
    int64_t output_strides[TN_MAX_RANK];
    for (int32_t d = 0, k = 0; d < shape.ndim; ++d) {
      const bool folds = (reduced >> d & 1) != 0;
      output_strides[d] = folds ? 0 : made->strides[k];
      k += !folds || keepdim ? 1 : 0;
    }
    LoopBuffers buffers;
    // needs no sorting and merging
    const bool whole = n_kept == 1 && n_inputs == 1 && tensors[0]->is_contiguous();
    const bool ordered = kind == TN_REDUCE_ARGMAX || kind == TN_REDUCE_ARGMIN;
    const int32_t n_reduced = whole ? whole_reduction_loop(n_folded, made, tensors[0], &buffers)
                                    : reduction_loop(shape.span(), reduced, ordered, output_strides,
                                                     made, tensors, n_inputs, &buffers);
    const tn_reduction reduction{sizeof(tn_reduction),
                                 static_cast<tn_reduce_kind>(kind),
                                 accumulate,
                                 buffers.ndim,
                                 n_reduced,
                                 0,
                                 n_kept,
                                 buffers.sizes,
                                 buffers.operands,
                                 prologue != nullptr ? &before.compiled->program : nullptr,
                                 epilogue != nullptr ? &after.compiled->program : nullptr,
                                 before.params,
                                 after.params};
    tn_value arg{};
    arg.kind = TN_KIND_REDUCTION;
    arg.as.reduction = &reduction;
    const tn_program* youngest = reduction.prologue;
    if (reduction.epilogue != nullptr &&
        (youngest == nullptr || youngest->instruction_set < reduction.epilogue->instruction_set)) {
      youngest = reduction.epilogue;
    }
    const Kernel* kernel;
    const Op* op = primitive_op(TN_PRIM_REDUCE);
    TN_TRY(primitive_kernel(TN_PRIM_REDUCE, op, made->device, {&arg, 1}, youngest, &kernel));
    TN_TRY(launch(*kernel, op, made->device, {&arg, 1}, {&made, 1}));
  }
  *result = hold.take();
  return nullptr;
}

}  // namespace tenon
