// Reductions: for each kept index, fold prologue(inputs) over the reduced indices, then store
// epilogue(result). Floats fold in long double, which keeps more digits of long sums than pairwise
// adding in float32 does, and need not be fast here.
#include "kernel.h"

namespace ref {
namespace {

// What is folded: d counts for float types, i (which wraps) for TN_INT64.
struct Folded {
  long double d = 0;
  uint64_t i = 0;
  int64_t position = 0;  // the flat index over the reduced dimensions, for the ARGs
};

// Is b better than a, which comes first? A NaN beats all numbers.
template <class T>
bool beats(T b, T a, bool max) {
  return a == a && (b != b || (max ? b > a : b < a));
}

void fold(tn_reduce_kind kind, bool ints, Folded& total, const Folded& next) {
  if (next.position == 0) {
    total = next;
  } else if (kind == TN_REDUCE_SUM) {
    total.d += next.d;
    total.i += next.i;
  } else if (kind == TN_REDUCE_PROD) {
    total.d *= next.d;
    total.i *= next.i;
  } else {
    const bool max = kind == TN_REDUCE_MAX || kind == TN_REDUCE_ARGMAX;
    const bool better = ints ? beats<int64_t>(next.i, total.i, max) : beats(next.d, total.d, max);
    if (better) total = next;
  }
}

}  // namespace

tn_status* reduce(const tn_call* call) {
  const tn_reduction& reduction = *call->args[0].as.reduction;
  const tn_program* prologue = reduction.prologue;
  const tn_program* epilogue = reduction.epilogue;
  const tn_dtype type = reduction.accumulate;
  const int32_t n_kept = reduction.ndim - reduction.n_reduced;
  View views[TN_MAX_OPERANDS];  // of the output, then of the inputs
  const uint32_t n = 1 + (prologue ? prologue->n_inputs : 1);
  for (uint32_t k = 0; k < n; ++k) views[k] = View(reduction.operands[k], reduction.ndim);
  Register value;  // what a prologue gives, and what an epilogue gets
  const View scratch(&value, type);
  Registers registers;
  tn_status* status = nullptr;

  Index index(reduction.ndim, reduction.sizes);
  do {
    Folded total, next;
    do {
      for (uint32_t k = 0; k < n; ++k) views[k].move(index);
      if (prologue) {
        status = run_program(*prologue, reduction.prologue_params, registers, &views[1], &scratch);
      } else {
        value = views[1].load(type);
      }
      if (status) return status;
      next.i = cast(value, type, TN_INT64).i;
      next.d = cast(value, type, TN_FLOAT64).d;
      fold(reduction.kind, type == TN_INT64, total, next);
      ++next.position;
    } while (index.next(n_kept, reduction.ndim));

    value = cast({.d = static_cast<double>(total.d)}, TN_FLOAT64, type);
    if (type == TN_INT64) value.i = total.i;
    if (reduction.kind == TN_REDUCE_ARGMAX || reduction.kind == TN_REDUCE_ARGMIN) {
      views[0].store({.i = total.position}, TN_INT64);
    } else if (epilogue) {
      status = run_program(*epilogue, reduction.epilogue_params, registers, &scratch, &views[0]);
    } else {
      views[0].store(value, type);
    }
    if (status) return status;
  } while (index.next(0, n_kept));
  return nullptr;
}

}  // namespace ref
