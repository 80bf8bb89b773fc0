// ELEMENTWISE: a program over the index space of a loop, row by row or several short rows at once,
// tile by tile, on several threads when it is worth them.
#include <algorithm>
#include <cstdint>

#include "cpu.h"
#include "programs/loop.h"
#include "programs/frame.h"
#include "programs/plan.h"
#include "programs/row_blocks.h"

namespace tenon::cpu_backend {
namespace {

constexpr double kPieceNs = 8000;
constexpr int64_t kBlock = 1024;
constexpr uint32_t kMaxKeys = 64;  // operands
constexpr int64_t kFewRows = 6;    // of a block, which are not worth it

bool shares_memory(const tn_loop& loop) {
  const uint32_t n_outputs = loop.program->n_outputs;
  const uint32_t n_inputs = loop.program->n_inputs;
  const tn_operand* const inputs = loop.operands + n_outputs;
  bool shares = false;
  for (uint32_t o = 0; o < n_outputs; ++o) {
    const void* const data = loop.operands[o].data;
    for (uint32_t i = 0; i < n_inputs; ++i) {
      shares |= inputs[i].data == data;
    }
  }
  return shares;
}

// Elements [begin, end) of the loop in row-major order.
void run_range(const Plan& plan, const tn_loop& loop, int64_t begin, int64_t end) {
  const int32_t inner = loop.ndim - 1;
  const uint32_t n_operands = plan.n_operands;
  Frame frame(plan, loop.params, loop.operands, inner);
  const int64_t row_size = loop.sizes[inner];
  int64_t row = begin / row_size;
  int64_t column = begin % row_size;
  int64_t index[TN_MAX_RANK];
  for (int32_t d = inner - 1; d >= 0; --d) {
    index[d] = row % loop.sizes[d];
    row /= loop.sizes[d];
  }
  char* rows[kMaxKeys];  // where the operands' rows begin
  int64_t steps[kMaxKeys];
  const auto find_rows = [&] {
    for (uint32_t k = 0; k < n_operands; ++k) {
      const tn_operand& operand = loop.operands[k];
      int64_t offset = 0;
      for (int32_t d = 0; d < inner; ++d) {
        offset += index[d] * operand.strides[d];
      }
      rows[k] = static_cast<char*>(operand.data) + offset * item_size(operand.dtype);
      steps[k] = inner > 0 ? operand.strides[inner - 1] * item_size(operand.dtype) : 0;
    }
  };
  find_rows();
  while (begin < end) {
    for (uint32_t k = 0; k < n_operands; ++k) {
      frame.cells()[k].p = rows[k];
      rows[k] += steps[k];
    }
    if (column != 0) [[unlikely]] {
      frame.advance(column);
    }
    const int64_t n = std::min(row_size - column, end - begin);
    frame.run_row(n);
    begin += n;
    column = 0;
    if (inner > 0 && ++index[inner - 1] == loop.sizes[inner - 1] && begin < end) {
      for (int32_t d = inner - 1; d >= 0 && index[d] == loop.sizes[d]; --d) {
        index[d] = 0;
        if (d > 0) {
          ++index[d - 1];
        }
      }
      find_rows();
    }
  }
}

// Elements [begin, end) of the loop, several short rows at a time. Both are multiples of an entry.
void run_row_blocks(const Plan& plan, const tn_loop& loop, const RowBlocks& blocks, int64_t begin,
                    int64_t end) {
  begin /= blocks.entry;
  end /= blocks.entry;
  const int32_t first = blocks.first;
  const int64_t size = loop.sizes[first];
  const int64_t most = kMaxBlock / blocks.entry;
  Frame frame(plan, loop.params, loop.operands, loop.ndim - 1);
  RowTiles tiles(blocks);
  int64_t index[TN_MAX_RANK];
  int64_t at = begin % size;
  int64_t rest = begin / size;
  for (int32_t d = first - 1; d >= 0; --d) {
    index[d] = rest % loop.sizes[d];
    rest /= loop.sizes[d];
  }
  char* places[kMaxKeys];
  while (begin < end) {
    for (uint32_t k = 0; k < plan.n_operands; ++k) {
      const tn_operand& o = loop.operands[k];
      int64_t offset = at * o.strides[first];
      for (int32_t d = 0; d < first; ++d) offset += index[d] * o.strides[d];
      places[k] = static_cast<char*>(o.data) + offset * item_size(o.dtype);
    }
    for (const int64_t stop = begin + std::min(size - at, end - begin); begin < stop;) {
      const int64_t count = std::min(most, stop - begin);
      tiles.fill(places, count, frame.cells());
      frame.run_row(count * blocks.entry);
      tiles.write_outputs(places, count);
      for (uint32_t k = 0; k < plan.n_operands; ++k) {
        const tn_operand& o = loop.operands[k];
        places[k] += count * o.strides[first] * item_size(o.dtype);
      }
      begin += count;
    }
    at = 0;
    for (int32_t d = first - 1; d >= 0 && ++index[d] == loop.sizes[d] && d > 0; --d) index[d] = 0;
  }
}

// One row on this thread.
void run_small(const Plan& plan, const tn_loop& loop) {
  Frame frame(plan, loop.params, loop.operands, 0);
  Cell* const cells = frame.cells();
  for (uint32_t k = 0; k < plan.n_operands; ++k) {
    cells[k].p = static_cast<char*>(loop.operands[k].data);
  }
  frame.run_row(loop.numel);
}

// f(begin, end) for pieces of the elements that begin where a block does, and so where vectors do.
template <typename F>
void in_pieces(const tn_host* host, const Plan& plan, int64_t numel, int64_t block, const F& f) {
  const int64_t blocks = (numel + block - 1) / block;
  const int64_t grain =
      numel <= plan.serial ? blocks : 1 + static_cast<int64_t>(kPieceNs / plan.cost) / block;
  parallel_for(host, 0, blocks, grain,
               [&](int64_t begin, int64_t end) { f(begin * block, std::min(end * block, numel)); });
}

// Whether a row is not worth its beginning. What is dense along a row and has gaps behind it would be
// read as it is, row by row, and has to be copied for a block: the more operands are so, the shorter are
// the rows for which that pays. The lengths were measured (docs/benchmarks.md).
bool has_short_rows(const tn_loop& loop) {
  const int32_t inner = loop.ndim - 1;
  const uint32_t n_operands = loop.program->n_outputs + loop.program->n_inputs;
  const int64_t row = loop.sizes[inner];
  int n_with_gaps = 0;
  for (uint32_t k = 0; k < n_operands; ++k) {
    const int64_t* strides = loop.operands[k].strides;
    n_with_gaps += strides[inner] == 1 && strides[inner - 1] != row && strides[inner - 1] != 0;
  }
  const int64_t longest = n_with_gaps == 0 ? 127 : n_with_gaps == 1 ? 60 : 20;
  return row <= longest && loop.numel >= 4 * row;
}

void run_any(const tn_host* host, const tn_loop& loop) {
  const tn_program& program = *loop.program;
  const uint32_t n = program.n_outputs + program.n_inputs;
  const int32_t inner = loop.ndim - 1;
  uint8_t keys[kMaxKeys];
  if (n > kMaxKeys) {
    check(error(host, TN_UNSUPPORTED, "cpu: elementwise takes at most %u operands, not %u",
                kMaxKeys, n));
  }
  const PlanMode mode = program.n_outputs > 1 && shares_memory(loop) ? kInPlace : kStore;
  const Plan* plan;
  if (inner > 0 && has_short_rows(loop)) {
    RowBlocks rows = {loop.ndim, loop.sizes, loop.operands, n, program.n_outputs};
    rows.choose_first();
    if (rows.rows_of_block() >= std::min(kFewRows, loop.numel / loop.sizes[inner]) &&
        rows.find_tiles(keys)) {
      find_plan(host, program, keys, n, mode, &plan);
      const int64_t unit = kMaxBlock / rows.entry * rows.entry;
      return in_pieces(host, *plan, loop.numel, unit, [&](int64_t begin, int64_t end) {
        run_row_blocks(*plan, loop, rows, begin, end);
      });
    }
  }
  for (uint32_t k = 0; k < n; ++k) {
    keys[k] = operand_key(loop.operands[k], loop.sizes[inner], inner);
  }
  find_plan(host, program, keys, n, mode, &plan);
  if (loop.ndim == 1 && loop.numel <= plan->serial) {
    return run_small(*plan, loop);
  }
  in_pieces(host, *plan, loop.numel, kBlock,
            [&](int64_t begin, int64_t end) { run_range(*plan, loop, begin, end); });
}

void launch(const tn_call* call) { return run_loop(call->host, *call->args[0].as.loop); }

}  // namespace

// The common case first: few operands, one dimension, little work, and a plan that is there.
void run_loop(const tn_host* host, const tn_loop& loop) {
  const tn_program& program = *loop.program;
  const uint32_t n = program.n_outputs + program.n_inputs;
  if (n <= kExactOperands && loop.ndim == 1) [[likely]] {
    uint64_t word = program.n_outputs > 1 && shares_memory(loop) ? kInPlace : kStore;
    for (uint32_t k = 0; k < n; ++k) {
      word = word << 8 | operand_key(loop.operands[k], loop.numel, 0);
    }
    const Plan* plan = find_exact(program, word, n);
    if (plan && loop.numel <= plan->serial) {
      return run_small(*plan, loop);
    }
  }
  return run_any(host, loop);
}

void add_elementwise() {
  kernel(TN_PRIM_ELEMENTWISE, "cpu",
         {.traits = kUsualPromises, .instruction_set = TN_INSTRUCTION_SET}, fn<launch>);
}

}  // namespace tenon::cpu_backend
