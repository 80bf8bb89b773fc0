// Folding. Sums of floats are exact enough by construction: at most 2048 elements or 16 rows are
// added in the type itself, their sums in float64 (float32) or with the rounding errors kept
// (float64).
#include "programs/fold.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace tenon::cpu_backend {
namespace {

// What is added in the type itself, whatever computes it: the bits of a sum are the same whether a
// program is in front of it or its results come from memory.
constexpr int64_t kLength = 2048;

void add_exactly(double* sum, double* error, double x) {
  const double t = *sum + x;
  *error += std::fabs(*sum) >= std::fabs(x) ? (*sum - t) + x : (x - t) + *sum;
  *sum = t;
}

template <typename T>
bool is_nan(T x) {
  return x != x;
}

// b is to replace a.
template <typename A>
bool wins(tn_reduce_kind kind, A b, A a) {
  const bool better = kind == TN_REDUCE_MAX || kind == TN_REDUCE_ARGMAX ? b > a : b < a;
  return better || (is_nan(b) && !is_nan(a));
}

tn_reduce_kind order_of(tn_reduce_kind kind) {
  return kind == TN_REDUCE_ARGMAX ? TN_REDUCE_MAX : kind == TN_REDUCE_ARGMIN ? TN_REDUCE_MIN : kind;
}

const FoldFunctions<float, double>& folds(float) { return table().folds_f32; }
const FoldFunctions<double, double>& folds(double) { return table().folds_f64; }
const FoldFunctions<int64_t, int64_t>& folds(int64_t) { return table().folds_i64; }

// Where the first of n elements is that is `v`, which one of them is.
template <typename T>
int64_t find_in(const T* x, int64_t n, T v) {
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] == v || (is_nan(v) && is_nan(x[i]))) return i;
  }
  return 0;
}

// The accumulator of one output.
template <typename T>
struct Accumulator {
  using A = std::conditional_t<std::is_same_v<T, int64_t>, int64_t, double>;
  A value = 0;
  double error = 0;
  int64_t index = 0;
  bool empty = true;

  void add(tn_reduce_kind kind, const T* x, int64_t n, int64_t at, A (*fold)(const T*, int64_t)) {
    const A v = fold(x, n);
    if (empty) {
      empty = false;
      value = v;
      index = at + (kind >= TN_REDUCE_ARGMAX ? find_in(x, n, static_cast<T>(v)) : 0);
    } else if (kind == TN_REDUCE_SUM) {
      if constexpr (std::is_same_v<T, int64_t>) {
        value = static_cast<int64_t>(static_cast<uint64_t>(value) + static_cast<uint64_t>(v));
      } else {
        add_exactly(&value, &error, v);
      }
    } else if (kind == TN_REDUCE_PROD) {
      if constexpr (std::is_same_v<T, int64_t>) {
        value = static_cast<int64_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(v));
      } else {
        value *= v;
      }
    } else if (wins(kind, v, value)) {
      value = v;
      index = at + (kind >= TN_REDUCE_ARGMAX ? find_in(x, n, static_cast<T>(v)) : 0);
    }
  }

  // As that of output j.
  void put(Partial* result, int64_t j) const {
    if constexpr (std::is_same_v<T, int64_t>) {
      result->whole[j] = value;
    } else {
      result->real[j] = value;
    }
    result->error[j] = error;
    result->index[j] = index;
  }
};

// Walks the reduced dimensions but the innermost, or all of them.
struct Walker {
  const Fold& fold;
  int32_t first, last;  // dimensions
  int64_t index[TN_MAX_RANK];

  Walker(const Fold& f, int32_t first_dim, int32_t last_dim, int64_t flat)
      : fold(f), first(first_dim), last(last_dim) {
    move_to(flat);
  }
  void move_to(int64_t flat) {
    for (int32_t d = last - 1; d >= first; --d) {
      index[d] = flat % fold.r.sizes[d];
      flat /= fold.r.sizes[d];
    }
  }
  int64_t offset(const tn_operand& operand) const {
    int64_t result = 0;
    for (int32_t d = first; d < last; ++d) {
      result += index[d] * operand.strides[d];
    }
    return result;
  }
  void next() {
    for (int32_t d = last - 1; d >= first && ++index[d] == fold.r.sizes[d]; --d) {
      index[d] = 0;
    }
  }
};

void set_cells(const Fold& fold, Frame& frame, const Walker& kept, const Walker& reduced,
               int32_t inner_kept, int64_t column, int32_t inner_reduced, int64_t at) {
  for (uint32_t k = 0; k < fold.plan.n_operands; ++k) {
    const tn_operand& operand = fold.inputs()[k];
    int64_t offset = kept.offset(operand) + reduced.offset(operand);
    if (inner_kept >= 0) {
      offset += column * operand.strides[inner_kept];
    }
    if (inner_reduced >= 0) {
      offset += at * operand.strides[inner_reduced];
    }
    frame.cells()[k].p = static_cast<char*>(operand.data) + offset * item_size(operand.dtype);
  }
}

// An input as it is, dense along the one dimension that is reduced: rows where they lie.
template <typename T>
void fold_plain_rows(const Fold& fold, int64_t row, int64_t column, int64_t n, int64_t begin,
                     int64_t end, Partial* result) {
  const tn_reduce_kind kind = fold.r.kind;
  const auto function = folds(T{}).fold[order_of(kind)];
  const tn_operand& input = fold.inputs()[fold.plan.result_cell];
  const int32_t last_kept = fold.n_kept_dims - 1;
  const int64_t stride = last_kept < 0 ? 0 : input.strides[last_kept];
  const Walker kept(fold, 0, std::max(last_kept, 0), row);
  const T* x = static_cast<const T*>(input.data) + kept.offset(input) + column * stride;
  for (int64_t j = 0; j < n; ++j, x += stride) {
    Accumulator<T> sum;
    for (int64_t i = begin; i < end; i += kLength)
      sum.add(kind, x + i, std::min(end - i, kLength), i, function);
    sum.put(result, j);
  }
}
// The plan reads no tile: what it gives is a dense operand.
bool is_plain(const Fold& fold) {
  const Plan& plan = fold.plan;
  return plan.steps.empty() && plan.fills.empty() && plan.once.empty() && fold.r.n_reduced == 1 &&
         plan.result_cell < plan.n_operands && access_of(plan.keys[plan.result_cell]) == kDense;
}

template <typename T>
void fold_horizontal(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
                     int64_t begin, int64_t end, Partial* result) {
  if (is_plain(fold)) return fold_plain_rows<T>(fold, row, column, n, begin, end, result);
  const tn_reduce_kind kind = fold.r.kind;
  const int32_t last = fold.r.ndim - 1;
  const int64_t row_size = fold.r.sizes[last];
  alignas(64) T buffer[kLength];
  const auto function = folds(T{}).fold[order_of(kind)];
  const Walker kept(fold, 0, std::max(fold.n_kept_dims - 1, 0), row);
  for (int64_t j = 0; j < n; ++j) {
    Accumulator<T> sum;
    Walker reduced(fold, fold.n_kept_dims, last, begin / row_size);
    int64_t at = begin % row_size;
    for (int64_t i = begin; i < end; at = 0, reduced.next()) {
      int64_t left = std::min(row_size - at, end - i);
      set_cells(fold, frame, kept, reduced, fold.n_kept_dims - 1, column + j, last, at);
      frame.begin_row(left);
      while (true) {
        const int64_t m = std::min(left, kLength);
        const char* const x = frame.run_tiles(m, reinterpret_cast<char*>(buffer), sizeof(T));
        sum.add(kind, reinterpret_cast<const T*>(x), m, i, function);
        i += m;
        left -= m;
        if (left == 0) {
          break;
        }
        frame.advance(m);
      }
    }
    sum.put(result, j);
  }
}

// Adds the rows gathered in `rows` to the result; the first time it becomes it.
template <typename T>
void flush(tn_reduce_kind kind, Partial* result, const T* rows, int64_t n, bool first) {
  for (int64_t j = 0; first && j < n; ++j) {
    result->error[j] = 0;
    if constexpr (std::is_same_v<T, int64_t>) {
      result->whole[j] = rows[j];
    } else {
      result->real[j] = rows[j];
    }
  }
  if (first || std::is_same_v<T, int64_t>) {
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (kind == TN_REDUCE_SUM) {
      table().flush_f32(result->real, rows, n);
      return;
    }
  } else if constexpr (std::is_same_v<T, double>) {
    if (kind == TN_REDUCE_SUM) {
      table().flush_f64(result->real, result->error, rows, n);
      return;
    }
  }
  for (int64_t j = 0; j < n; ++j) {
    result->real[j] *= rows[j];
  }
}

StepFn folding_step(const Fold& fold) {
  constexpr uint16_t kOpcodes[] = {TN_I_ADD, TN_I_MUL, TN_I_MAX, TN_I_MIN};
  return table().binary[kOpcodes[fold.r.kind]][fold.type][kVV];
}

// SUM, PROD, MAX and MIN of n columns at once.
template <typename T>
void fold_vertical(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
                   int64_t begin, int64_t end, Partial* result) {
  const tn_reduce_kind kind = fold.r.kind;
  const bool flushes = (kind == TN_REDUCE_SUM || kind == TN_REDUCE_PROD) && fold.type != kI64;
  // Products of few floats near 1 are all rounded to one side (vector/fold.h): they are made in double.
  const bool is_product = kind == TN_REDUCE_PROD && sizeof(T) == 4;
  const int64_t rows_per_flush = is_product ? 1 : kRowsPerFlush;
  const int32_t n_kept = fold.n_kept_dims;
  const Walker kept(fold, 0, n_kept - 1, row);
  alignas(64) T rows[kWidth], buffer[kWidth];
  const Step step = {folding_step(fold), 0, 0, 1, 0};
  bool first = true;
  int64_t taken = 0;  // rows in `rows`
  int64_t wide = 0;   // columns in `rows`
  Walker reduced(fold, n_kept, fold.r.ndim, begin);
  int64_t bytes_between_rows[kMaxFoldOperands];
  for (uint32_t k = 0; k < fold.plan.n_operands; ++k) {
    const tn_operand& operand = fold.inputs()[k];
    bytes_between_rows[k] = operand.strides[fold.r.ndim - 1] * item_size(operand.dtype);
  }
  // Of an input as it is, many rows at once.
  int64_t done = begin;
  if (fold.plan.steps.empty() && fold.plan.fills.empty() && fold.r.n_reduced == 1) {
    const int64_t m = n * fold.group;
    const int64_t bytes = fold.group * bytes_between_rows[fold.plan.result_cell];
    const int64_t stride = bytes / static_cast<int64_t>(sizeof(T));
    const auto function = folds(T{}).columns[kind];
    set_cells(fold, frame, kept, reduced, n_kept - 1, column, -1, 0);
    const T* x = reinterpret_cast<const T*>(frame.result());
    for (int64_t left = (end - begin) / fold.group; left > 0; left -= taken) {
      if (taken > 0) {
        flush(kind, result, rows, m, first);
        first = false;
      }
      taken = flushes ? std::min(left, rows_per_flush) : left;
      std::copy_n(x, m, rows);
      function(rows, x + stride, stride, taken - 1, m);
      x += taken * stride;
      done += taken * fold.group;
      wide = m;
    }
    reduced.move_to(done);
  }
  for (int64_t i = done; i < end;) {
    const int64_t t = std::min(fold.group, end - i);
    const int64_t m = n * t;
    if (i == done || fold.r.n_reduced > 1) {
      set_cells(fold, frame, kept, reduced, n_kept - 1, column, -1, 0);
    } else {
      for (uint32_t k = 0; k < fold.plan.n_operands; ++k) {
        frame.cells()[k].p += fold.group * bytes_between_rows[k];
      }
    }
    frame.begin_row(m);
    char* const x = frame.run_tiles(m, reinterpret_cast<char*>(buffer), sizeof(T));
    if (taken == 0) {
      std::copy_n(reinterpret_cast<const T*>(x), m, rows);
      wide = m;
    } else {
      const Cell cells[] = {{reinterpret_cast<char*>(rows)}, {x}};
      step.fn(cells, step, m);  // m <= wide: only the last rows are fewer
    }
    ++taken;
    i += t;
    if (fold.r.n_reduced > 1) {
      reduced.next();  // groups are there in one dimension only
    }
    if (flushes && taken == rows_per_flush) {
      flush(kind, result, rows, wide, first);
      first = false;
      taken = 0;
    }
  }
  if (taken > 0) {
    flush(kind, result, rows, wide, first);
  }
}

// The wide row's groups, one to the next.
void fold_groups(tn_reduce_kind kind, RegisterType type, int64_t n, int64_t wide, Partial* result) {
  for (int64_t at = n; at < wide; at += n) {
    for (int64_t j = 0; j < n; ++j) {
      if (type == kI64) {
        const uint64_t a = static_cast<uint64_t>(result->whole[j]);
        const uint64_t b = static_cast<uint64_t>(result->whole[at + j]);
        if (kind == TN_REDUCE_SUM || kind == TN_REDUCE_PROD) {
          result->whole[j] = static_cast<int64_t>(kind == TN_REDUCE_SUM ? a + b : a * b);
        } else if (wins(kind, result->whole[at + j], result->whole[j])) {
          result->whole[j] = result->whole[at + j];
        }
      } else if (kind == TN_REDUCE_SUM) {
        add_exactly(&result->real[j], &result->error[j], result->real[at + j]);
        result->error[j] += result->error[at + j];
      } else if (kind == TN_REDUCE_PROD) {
        result->real[j] *= result->real[at + j];
      } else if (wins(kind, result->real[at + j], result->real[j])) {
        result->real[j] = result->real[at + j];
      }
    }
  }
}

template <typename T>
void fold_typed(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
                int64_t begin, int64_t end, Partial* result) {
  result->n = n;
  if (!fold.vertical) {
    fold_horizontal<T>(fold, frame, row, column, n, begin, end, result);
    return;
  }
  fold_vertical<T>(fold, frame, row, column, n, begin, end, result);
  fold_groups(fold.r.kind, fold.type, n, n * std::min(fold.group, end - begin), result);
}

}  // namespace

void fold_block(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
                int64_t begin, int64_t end, Partial* result) {
  switch (fold.type) {
    case kF32:
      fold_typed<float>(fold, frame, row, column, n, begin, end, result);
      break;
    case kF64:
      fold_typed<double>(fold, frame, row, column, n, begin, end, result);
      break;
    default:
      fold_typed<int64_t>(fold, frame, row, column, n, begin, end, result);
  }
}

void fold_few(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
              int64_t n_fold, void* results) {
  const int64_t size = fold.type == kF32 ? 4 : 8;
  alignas(64) char buffer[kWidth * 8];
  const Step step = {folding_step(fold), 0, 0, 1, 0};
  const bool is_float_sum = fold.r.kind == TN_REDUCE_SUM && fold.type != kI64;
  alignas(8) char zero[8] = {};
  const Walker kept(fold, 0, fold.n_kept_dims - 1, row);
  Walker reduced(fold, fold.n_kept_dims, fold.r.ndim, 0);
  for (int64_t i = 0; i < n_fold; ++i, reduced.next()) {
    set_cells(fold, frame, kept, reduced, fold.n_kept_dims - 1, column, -1, 0);
    frame.begin_row(n);
    char* const x = frame.run_tiles(n, buffer, size);
    if (i > 0) {
      const Cell cells[] = {{static_cast<char*>(results)}, {x}};
      step.fn(cells, step, n);
    } else if (is_float_sum) {  // one of -0 alone is +0
      const Step plus = {table().binary[TN_I_ADD][fold.type][kVS], 0, 1, 2, 0};
      const Cell cells[] = {{static_cast<char*>(results)}, {x}, {zero}};
      plus.fn(cells, plus, n);
    } else {
      std::memcpy(results, x, static_cast<size_t>(n * size));
    }
  }
}

void fold_short_rows(const Fold& fold, Frame& frame, int64_t row, int64_t column, int64_t n,
                     int64_t n_fold, void* results) {
  const int32_t last = fold.n_kept_dims - 1;
  const Walker kept(fold, 0, last, row);
  char* places[kMaxFoldOperands];
  const auto move = [&](uint32_t k, int64_t by) {
    const tn_operand& o = fold.inputs()[k];
    places[k] += by * o.strides[last] * item_size(o.dtype);
  };
  for (uint32_t k = 0; k < fold.plan.n_operands; ++k) {
    const tn_operand& o = fold.inputs()[k];
    places[k] = static_cast<char*>(o.data) + kept.offset(o) * item_size(o.dtype);
    move(k, column);
  }
  RowTiles tiles(*fold.short_rows);
  const int64_t most = fold.plan.tile / n_fold;
  const auto fold_tiles = [&]<typename T, typename To>(T, To* to, const auto& function) {
    for (int64_t done = 0; done < n; done += most) {
      const int64_t count = std::min(most, n - done);
      tiles.fill(places, count, frame.cells());
      frame.begin_row(count * n_fold);
      frame.run_tile(count * n_fold);
      function(reinterpret_cast<const T*>(frame.result()), n_fold, count, to + done);
      for (uint32_t k = 0; k < fold.plan.n_operands; ++k) move(k, count);
    }
  };
  const auto fold_as = [&]<typename T>(T) {
    const tn_reduce_kind kind = fold.r.kind;
    const auto function = folds(T{}).rows[order_of(kind)];
    if (kind < TN_REDUCE_ARGMAX) return fold_tiles(T{}, static_cast<T*>(results), function);
    fold_tiles(T{}, static_cast<int64_t*>(results),
               [&](const T* x, int64_t width, int64_t count, int64_t* to) {
                 T best[kTile];
                 function(x, width, count, best);
                 for (int64_t i = 0; i < count; ++i) {
                   to[i] = find_in(x + i * width, width, best[i]);
                 }
               });
  };
  switch (fold.type) {
    case kF32:
      return fold_as(float{});
    case kF64:
      return fold_as(double{});
    default:
      return fold_as(int64_t{});
  }
}

void combine(tn_reduce_kind kind, RegisterType type, Partial* a, const Partial& b) {
  for (int64_t j = 0; j < a->n; ++j) {
    if (kind == TN_REDUCE_SUM && type != kI64) {
      add_exactly(&a->real[j], &a->error[j], b.real[j]);
      a->error[j] += b.error[j];
    } else if (kind == TN_REDUCE_PROD && type != kI64) {
      a->real[j] *= b.real[j];
    } else if (kind == TN_REDUCE_SUM || kind == TN_REDUCE_PROD) {
      const uint64_t x = static_cast<uint64_t>(a->whole[j]);
      const uint64_t y = static_cast<uint64_t>(b.whole[j]);
      a->whole[j] = static_cast<int64_t>(kind == TN_REDUCE_SUM ? x + y : x * y);
    } else if (type == kI64 ? wins(kind, b.whole[j], a->whole[j])
                            : wins(kind, b.real[j], a->real[j])) {
      a->whole[j] = b.whole[j];  // of either type
      a->index[j] = b.index[j];
    }
  }
}

}  // namespace tenon::cpu_backend
