// The folding half of REDUCE: partial results of up to kWidth outputs over a part of the reduced
// indices, computed along the inner reduced dimension or along the kept one, and their combination.
// reduce.cpp divides the work and finishes results.
#pragma once

#include <cstdint>

#include "programs/frame.h"
#include "programs/row_blocks.h"

namespace tenon::cpu_backend {

constexpr int32_t kWidth = 1024;
// So many rows are added in the type itself, their sums in a wider one.
constexpr int64_t kRowsPerFlush = 16;
constexpr uint32_t kMaxFoldOperands = 64;

struct Partial {
  int64_t n;
  union {
    double real[kWidth];  // of float32 and float64
    int64_t whole[kWidth];
  };
  double error[kWidth];   // sums: to be added to real
  int64_t index[kWidth];  // ARGMAX, ARGMIN
};

// One reduction and the way it is walked.
struct Fold {
  const tn_reduction& r;
  const Plan& plan;   // of the prologue, in mode kResult
  RegisterType type;  // of what is folded: kF32, kF64 or kI64
  int32_t n_kept_dims;
  bool vertical;  // tiles run along the last kept dimension, else along the last reduced one
  int64_t group;  // vertical: rows that lie behind each other and are taken as one wide row
  const RowBlocks* short_rows;  // not vertical: how several are folded at once; or NULL
  const tn_operand* inputs() const { return r.operands + 1; }
  int32_t inner() const { return vertical ? n_kept_dims - 1 : r.ndim - 1; }
};

// Outputs [column, column + n) of the kept row `row` (all kept dimensions but the last, flat) over
// the reduced indices [begin, end).
void fold_block(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
                int64_t begin, int64_t end, Partial* result);
// The same of a vertical fold whose reduced indices, n_fold of them, are at most kRowsPerFlush: the
// results themselves, n of the fold's type.
void fold_few(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
              int64_t n_fold, void* results);
// The same of a fold with `short_rows`.
void fold_short_rows(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
                     int64_t n_fold, void* results);
// a = a and then b.
void combine(tn_reduce_kind kind, RegisterType type, Partial* a, const Partial& b);

}  // namespace tenon::cpu_backend
