// ELEMENTWISE: a program over the index space of a loop, row by row, tile by tile, on several
// threads when it is worth them.
#include <algorithm>
#include <cstdint>

#include "cpu.h"
#include "programs/loop.h"
#include "programs/frame.h"
#include "programs/plan.h"

namespace tenon::cpu_backend {
namespace {

constexpr uint32_t kMaxKeys = 64;
constexpr double kPieceNs = 8000;
constexpr int64_t kBlock = 1024;

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

// One row on this thread.
void run_small(const Plan& plan, const tn_loop& loop) {
  Frame frame(plan, loop.params, loop.operands, 0);
  Cell* const cells = frame.cells();
  for (uint32_t k = 0; k < plan.n_operands; ++k) {
    cells[k].p = static_cast<char*>(loop.operands[k].data);
  }
  frame.run_row(loop.numel);
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
  for (uint32_t k = 0; k < n; ++k) {
    keys[k] = operand_key(loop.operands[k], loop.sizes[inner], inner);
  }
  const PlanMode mode = program.n_outputs > 1 && shares_memory(loop) ? kInPlace : kStore;
  const Plan* plan;
  find_plan(host, program, keys, n, mode, &plan);
  if (loop.ndim == 1 && loop.numel <= plan->serial) {
    return run_small(*plan, loop);
  }
  // In blocks, so that pieces begin where vectors do.
  const int64_t blocks = (loop.numel + kBlock - 1) / kBlock;
  const int64_t grain = loop.numel <= plan->serial
                            ? blocks
                            : 1 + static_cast<int64_t>(kPieceNs / plan->cost) / kBlock;
  parallel_for(host, 0, blocks, grain, [&](int64_t begin, int64_t end) {
    run_range(*plan, loop, begin * kBlock, std::min(end * kBlock, loop.numel));
  });
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
