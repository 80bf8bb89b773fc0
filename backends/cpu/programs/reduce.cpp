// REDUCE: blocks of outputs, each folded on one thread; few outputs of many values are cut along
// the reduced indices too, at places that depend on the shapes alone, so that results do not depend
// on the number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu.h"
#include "programs/fold.h"
#include "programs/frame.h"
#include "programs/plan.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kBlockElements = 16384;  // folded into a block of outputs, if it can be chosen
constexpr int64_t kNearElements = 4096;    // which the first level keeps
constexpr int64_t kPieceElements = 65536;
constexpr int64_t kMaxPieces = 64;
constexpr int64_t kFewBlocks = 8;
constexpr int64_t kNarrowWidth = 256;
constexpr int64_t kManyOutputs = 32;
constexpr int64_t kFewInDenseRow = 6;
constexpr int64_t kGroupWidth = 64;    // of rows of few columns that are folded together
constexpr int64_t kFewestColumns = 4;  // fewer are not worth a row of their own

RegisterType folded_type(tn_dtype accumulate) {
  return accumulate == TN_FLOAT32 ? kF32 : accumulate == TN_FLOAT64 ? kF64 : kI64;
}

// Rows of few columns that lie behind each other in all inputs are folded many at a time.
int64_t rows_in_group(const tn_reduction& r, uint32_t n_inputs, int64_t n_rows) {
  if (r.ndim != 2 || r.n_reduced != 1 || r.sizes[0] > kGroupWidth / 2) {
    return 1;
  }
  for (uint32_t k = 1; k <= n_inputs; ++k) {
    const int64_t* strides = r.operands[k].strides;
    if (!(strides[0] == 1 && strides[1] == r.sizes[0]) && !(strides[0] == 0 && strides[1] == 0)) {
      return 1;
    }
  }
  return std::clamp<int64_t>(n_rows / 4, 1, kGroupWidth / r.sizes[0]);
}

// Which way the tiles run. Few columns take the rows' way, unless whole rows are taken together. To begin
// a row costs more than to fold a few elements, so those of short rows are folded along the outputs; of
// rows that are dense only the shortest, since fold_short_rows has several of these at once. Otherwise
// along the dimension in which the inputs are dense, and where they are dense or repeated in both, along
// the longer one; the reduced one where that is equal.
bool runs_along_kept(const tn_reduction& r, uint32_t n_inputs, int32_t n_kept_dims) {
  if (r.kind >= TN_REDUCE_ARGMAX || n_kept_dims == 0) {
    return false;
  }
  const int64_t n_columns = r.sizes[n_kept_dims - 1];
  if (n_columns < kFewestColumns) {
    return n_columns > 1 && rows_in_group(r, n_inputs, r.sizes[r.ndim - 1]) > 1;
  }
  int32_t far_kept = 0;
  int32_t far_reduced = 0;
  for (uint32_t k = 1; k <= n_inputs; ++k) {
    const int64_t along_kept = r.operands[k].strides[n_kept_dims - 1];
    const int64_t along_reduced = r.operands[k].strides[r.ndim - 1];
    far_kept += along_kept != 0 && along_kept != 1;
    far_reduced += along_reduced != 0 && along_reduced != 1 && r.sizes[r.ndim - 1] > 1;
  }
  const int64_t few = far_reduced == 0 && r.n_reduced == 1 ? kFewInDenseRow : kRowsPerFlush;
  if (n_columns >= kManyOutputs && product(r.sizes + n_kept_dims, r.n_reduced) <= few) {
    return true;
  }
  if (far_kept == 0 && far_reduced == 0) return n_columns > r.sizes[r.ndim - 1];
  return far_kept < far_reduced;
}

// Blocks of a piece, so that one is worth a thread; `cost` is that of all, in nanoseconds.
int64_t grain_of(int64_t n_blocks, double cost) {
  if (cost < kSerialNs) return n_blocks;
  const double piece = kSerialNs / 2 * static_cast<double>(n_blocks) / cost;
  return std::max<int64_t>(1, static_cast<int64_t>(piece));
}

bool has_short_rows(const tn_reduction& r, int32_t n_kept_dims, int64_t n_fold) {
  return r.n_reduced == 1 && n_fold <= kTile / 2 && n_kept_dims > 0 && r.sizes[n_kept_dims - 1] > 1;
}
// The prologue over several rows of n_fold elements at once. False: it has so many values that its tiles
// are too small for that.
bool find_block_plan(const tn_host* host, const tn_program& prologue, int64_t n_fold,
                     RowBlocks* blocks, const Plan** plan) {
  blocks->first = blocks->ndim - 2;
  blocks->entry = n_fold;
  uint8_t keys[kMaxFoldOperands];
  if (!blocks->find_tiles(keys)) return false;
  find_plan(host, prologue, keys, blocks->n_operands, kResult, plan);
  return (*plan)->tile >= 2 * n_fold;
}

struct Launch {
  const tn_call* call;
  const tn_reduction& r;
  int32_t n_kept_dims;
  int64_t n_fold;
  int64_t last_kept;  // size of the last kept dimension
  const Plan* epilogue;

  // `n` folded values, of the type that the epilogue reads, to outputs from `column` of the kept
  // row `row` on.
  void store(int64_t row, int64_t column, int64_t n, void* values) const;
  void finish(const Fold& fold, int64_t row, int64_t column, Partial* result) const {
    alignas(64) union {
      float f32[kWidth];
      double f64[kWidth];
      int64_t i64[kWidth];
    } values;
    const int64_t n = result->n;
    for (int64_t j = 0; j < n; ++j) {
      if (r.kind >= TN_REDUCE_ARGMAX) {
        values.i64[j] = result->index[j];
      } else if (fold.type == kI64) {
        values.i64[j] = result->whole[j];
      } else {
        double value = result->real[j];
        if (r.kind == TN_REDUCE_SUM) {  // of no error, too: a sum of -0 alone is +0
          value += std::isfinite(result->error[j]) ? result->error[j] : 0;
        }
        if (fold.type == kF32) {
          values.f32[j] = static_cast<float>(value);
        } else {
          values.f64[j] = value;
        }
      }
    }
    store(row, column, n, &values);
  }

  void run_one_tile(const Fold& fold) const;
  void run(const Fold& fold) const;
};

void Launch::store(int64_t row, int64_t column, int64_t n, void* values) const {
  const tn_operand& out = r.operands[0];
  int64_t offset = 0;
  for (int32_t d = n_kept_dims - 2; d >= 0; --d) {
    offset += row % r.sizes[d] * out.strides[d];
    row /= r.sizes[d];
  }
  const int64_t stride = n_kept_dims > 0 ? out.strides[n_kept_dims - 1] : 1;
  const int64_t one = 1;
  const tn_operand operands[] = {{nullptr, &stride}, {nullptr, &one}};
  Frame frame(*epilogue, r.epilogue ? r.epilogue_params : nullptr, operands, 0);
  frame.cells()[0].p =
      static_cast<char*>(out.data) + (offset + column * stride) * item_size(out.dtype);
  frame.cells()[1].p = static_cast<char*>(values);
  frame.run_row(n);
}

// All of a small tensor to one number: no walking, no partial results.
void Launch::run_one_tile(const Fold& fold) const {
  Frame frame(fold.plan, r.prologue ? r.prologue_params : nullptr, fold.inputs(), fold.inner());
  for (uint32_t k = 0; k < fold.plan.n_operands; ++k) {
    frame.cells()[k].p = static_cast<char*>(fold.inputs()[k].data);
  }
  frame.begin_row(n_fold);
  frame.run_tile(n_fold);
  union {
    float f32;
    double f64;
    int64_t i64;
  } value;
  switch (fold.type) {
    case kF32:
      value.f32 = static_cast<float>(
          table().folds_f32.fold[r.kind](reinterpret_cast<float*>(frame.result()), n_fold));
      break;
    case kF64:
      value.f64 = table().folds_f64.fold[r.kind](reinterpret_cast<double*>(frame.result()), n_fold);
      break;
    default:
      value.i64 =
          table().folds_i64.fold[r.kind](reinterpret_cast<int64_t*>(frame.result()), n_fold);
  }
  store(0, 0, 1, &value);
}

void Launch::run(const Fold& fold) const {
  // Products of floats are made in double, however few.
  const bool few = fold.vertical && fold.group == 1 && n_fold <= kRowsPerFlush &&
                   !(r.kind == TN_REDUCE_PROD && fold.type == kF32);
  // Few blocks are narrow, so that there are enough for several threads. Of few values to an output
  // those of a block stay near: where they lie apart, each pass reads the cache lines of the one before.
  const int64_t wide_blocks = r.n_kept / last_kept * ((last_kept + kWidth - 1) / kWidth);
  const int64_t most = wide_blocks < kFewBlocks ? kNarrowWidth : kWidth;
  const int64_t wanted = few             ? kNearElements / n_fold
                         : fold.vertical ? kWidth
                                         : kBlockElements / n_fold;
  const int64_t width = std::min(last_kept, std::clamp<int64_t>(wanted, 1, most));
  const int64_t per_row = (last_kept + width - 1) / width;
  const int64_t n_blocks = r.n_kept / last_kept * per_row;
  const tn_scalar* params = r.prologue ? r.prologue_params : nullptr;
  const double cost = fold.plan.cost * static_cast<double>(n_fold) * static_cast<double>(r.n_kept);

  int64_t piece = n_fold;
  if (n_blocks < kFewBlocks && n_fold * width >= 2 * kPieceElements) {
    piece = std::max((kPieceElements + width - 1) / width, (n_fold + kMaxPieces - 1) / kMaxPieces);
    piece = (piece + fold.group - 1) / fold.group * fold.group;
  }
  const int64_t n_pieces = (n_fold + piece - 1) / piece;
  const auto column_of = [&](int64_t block) { return block % per_row * width; };
  if (few || fold.short_rows) {
    parallel_for(
        call->host, 0, n_blocks, grain_of(n_blocks, cost), [&](int64_t begin, int64_t end) {
          Frame frame(fold.plan, params, fold.inputs(), fold.inner());
          alignas(64) char values[kWidth * 8];
          for (int64_t block = begin; block < end; ++block) {
            const int64_t row = block / per_row, column = column_of(block);
            const int64_t n = std::min(width, last_kept - column);
            (few ? fold_few : fold_short_rows)(fold, frame, row, column, n, n_fold, values);
            store(row, column, n, values);
          }
        });
    return;
  }
  const auto fold_task = [&](Frame& frame, int64_t block, int64_t p, Partial* result) {
    const int64_t column = column_of(block);
    fold_block(fold, frame, block / per_row, column, std::min(width, last_kept - column), p * piece,
               std::min((p + 1) * piece, n_fold), result);
  };
  if (n_pieces == 1) {
    parallel_for(call->host, 0, n_blocks, grain_of(n_blocks, cost),
                 [&](int64_t begin, int64_t end) {
                   Frame frame(fold.plan, params, fold.inputs(), fold.inner());
                   Partial result;
                   for (int64_t block = begin; block < end; ++block) {
                     fold_task(frame, block, 0, &result);
                     finish(fold, block / per_row, column_of(block), &result);
                   }
                 });
    return;
  }
  void* const memory =
      Call(call).workspace(static_cast<uint64_t>(n_blocks * n_pieces) * sizeof(Partial));
  Partial* const partials = static_cast<Partial*>(memory);
  parallel_for(call->host, 0, n_blocks * n_pieces, 1, [&](int64_t begin, int64_t end) {
    Frame frame(fold.plan, params, fold.inputs(), fold.inner());
    for (int64_t task = begin; task < end; ++task) {
      fold_task(frame, task / n_pieces, task % n_pieces, &partials[task]);
    }
  });
  for (int64_t block = 0; block < n_blocks; ++block) {
    Partial* const first = &partials[block * n_pieces];
    for (int64_t p = 1; p < n_pieces; ++p) {
      combine(r.kind, fold.type, first, first[p]);
    }
    finish(fold, block / per_row, column_of(block), first);
  }
}

// Everything to one number, along one dimension.
bool is_whole(const tn_reduction& r) {
  return r.n_kept == 1 && r.n_reduced == 1 && r.kind <= TN_REDUCE_MIN;
}

// A small dense vector of float32 to one number, nothing before or after.
bool fold_simple(const tn_reduction& r) {
  constexpr int64_t kLength = 2048;
  if (!is_whole(r) || r.prologue || r.epilogue) {
    return false;
  }
  const int64_t n = r.sizes[r.ndim - 1];
  const tn_operand& out = r.operands[0];
  const tn_operand& x = r.operands[1];
  if (n > kLength || (x.strides[r.ndim - 1] != 1 && n != 1) || out.dtype != TN_FLOAT32 ||
      x.dtype != TN_FLOAT32) {
    return false;
  }
  const double value = table().folds_f32.fold[r.kind](static_cast<const float*>(x.data), n);
  *static_cast<float*>(out.data) = static_cast<float>(value);
  return true;
}

// Sums over rows of few columns that lie behind each other, a block of rows for each place of another
// dimension, as of [n, rows, 2] along the second. The type itself holds the sums, as those of short rows.
template <typename T>
bool sum_blocks(const tn_call* call, const tn_reduction& r, SumBlocks<T> sum) {
  constexpr tn_dtype kDtype = sizeof(T) == 8 ? TN_FLOAT64 : TN_FLOAT32;
  const tn_operand &out = r.operands[0], &x = r.operands[1];
  const int64_t count = r.sizes[0], columns = r.sizes[1], n = r.sizes[2];
  if (out.dtype != kDtype || x.dtype != kDtype || out.strides[1] != 1 || x.strides[1] != 1 ||
      x.strides[2] != columns) {
    return false;
  }
  const double cost = static_cast<double>(count) * static_cast<double>(n * columns) / 4;
  parallel_for(call->host, 0, count, grain_of(count, cost), [&](int64_t begin, int64_t end) {
    sum(static_cast<T*>(out.data) + begin * out.strides[0], out.strides[0],
        static_cast<const T*>(x.data) + begin * x.strides[0], x.strides[0], n, columns,
        end - begin);
  });
  return true;
}
bool sum_blocks(const tn_call* call, const tn_reduction& r) {
  if (r.kind != TN_REDUCE_SUM || r.prologue || r.epilogue || r.ndim != 3 || r.n_reduced != 1 ||
      r.sizes[1] < 2 || r.sizes[1] > kFewColumns || r.sizes[2] * r.sizes[1] > kBlockSums) {
    return false;
  }
  return sum_blocks<float>(call, r, table().sum_blocks_f32) ||
         sum_blocks<double>(call, r, table().sum_blocks_f64);
}

void launch(const tn_call* call) {
  const tn_reduction& r = *call->args[0].as.reduction;
  if (fold_simple(r) || sum_blocks(call, r)) {
    return;
  }
  const tn_host* host = call->host;
  const RegisterType type = folded_type(r.accumulate);
  const tn_program& prologue = r.prologue ? *r.prologue : identity_program(type);
  const int32_t n_kept_dims = r.ndim - r.n_reduced;
  const int64_t n_fold = product(r.sizes + n_kept_dims, r.n_reduced);
  const uint32_t n_inputs = prologue.n_inputs;
  if (n_inputs > kMaxFoldOperands) {
    check(error(host, TN_UNSUPPORTED, "cpu: reduce takes at most %u inputs, not %u",
                kMaxFoldOperands, n_inputs));
  }
  if (r.n_kept == 0) {
    return;
  }
  const bool vertical = runs_along_kept(r, n_inputs, n_kept_dims);
  const int64_t group = vertical ? rows_in_group(r, n_inputs, n_fold) : 1;
  const int32_t inner = vertical ? n_kept_dims - 1 : r.ndim - 1;
  uint8_t keys[kMaxFoldOperands];
  for (uint32_t k = 0; k < n_inputs; ++k) {
    // Rows taken at once have a stride of one within, and several elements even where each has one.
    keys[k] = operand_key(r.operands[k + 1], group > 1 ? kWidth : r.sizes[inner], inner);
  }
  const Plan* plan;
  RowBlocks blocks = {r.ndim, r.sizes, r.operands + 1, n_inputs, 0};
  const bool by_blocks = !vertical && has_short_rows(r, n_kept_dims, n_fold) &&
                         find_block_plan(host, prologue, n_fold, &blocks, &plan);
  if (!by_blocks) find_plan(host, prologue, keys, n_inputs, kResult, &plan);

  const RegisterType result_type = r.kind >= TN_REDUCE_ARGMAX ? kI64 : type;
  constexpr tn_dtype kDtypes[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64};
  const int64_t last_kept = n_kept_dims > 0 ? r.sizes[n_kept_dims - 1] : 1;
  const bool dense = last_kept == 1 || r.operands[0].strides[n_kept_dims - 1] == 1;
  const uint8_t epilogue_keys[] = {operand_key(r.operands[0].dtype, dense ? kDense : kStrided),
                                   operand_key(kDtypes[result_type], kDense)};
  const Plan* epilogue;
  find_plan(host, r.epilogue ? *r.epilogue : identity_program(result_type), epilogue_keys, 2,
            kStore, &epilogue);

  const Fold fold = {r, *plan, type, n_kept_dims, vertical, group, by_blocks ? &blocks : nullptr};
  const Launch launch = {call, r, n_kept_dims, n_fold, last_kept, epilogue};
  if (is_whole(r) && !vertical && n_fold <= plan->tile) {
    launch.run_one_tile(fold);
    return;
  }
  return launch.run(fold);
}

}  // namespace

void add_reduce() {
  kernel(TN_PRIM_REDUCE, "cpu", {.traits = kUsualPromises, .instruction_set = TN_INSTRUCTION_SET},
         fn<launch>);
}

}  // namespace tenon::cpu_backend
