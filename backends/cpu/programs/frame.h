// The working memory of one thread that runs a plan: cells, scalars and tiles. On the stack; only
// plans of unusual size use the heap. Where that is exhausted they take turns with the plan's spare
// one: a thread in the middle of a loop cannot fail.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "programs/plan.h"

namespace tenon::cpu_backend {

constexpr int64_t kBeyondCache = 1
                                 << 17;  // elements of a row, which the second level does not keep

class Frame {
 public:
  // `operands` in the plan's order, for their strides along `inner`.
  Frame(const Plan& plan, const tn_scalar* params, const tn_operand* operands, int32_t inner)
      : plan_(plan), operands_(operands), inner_(inner) {
    if (plan.spare) [[unlikely]] {
      heap_.reset(new (std::nothrow) char[plan.frame_bytes()]);
      if (!heap_) {
        spare_ = std::unique_lock(plan.spare->mutex);
      }
      cells_ = reinterpret_cast<Cell*>(heap_ ? heap_.get() : plan.spare->memory.get());
      const uintptr_t end = reinterpret_cast<uintptr_t>(cells_ + plan.n_cells);
      memory_ = reinterpret_cast<char*>((end + 63) / 64 * 64);
    }
    Cell* cell = cells_ + plan.n_operands;
    for (const CellInit& init : plan.inits) {
      switch (init.kind) {
        case CellInit::kConstant:
          cell->p = reinterpret_cast<char*>(const_cast<tn_scalar*>(&plan.constants[init.index]));
          break;
        case CellInit::kParam:
          cell->p = memory_ + init.offset;
          write_scalar(cell->p, init.type, params[init.index]);
          break;
        case CellInit::kMemory:
          cell->p = memory_ + init.offset;
          break;
        case CellInit::kStride:
          cell->i = operands[init.index].strides[inner];
          break;
      }
      ++cell;
    }
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  Cell* cells() { return cells_; }
  char* result() { return cells_[plan_.result_cell].p; }

  // Begins a row: the operands' cells are at its first element, and n of it follow.
  void begin_row(int64_t n) {
    for (const Step& step : plan_.once) {
      step.fn(cells_, step, 1);
    }
    for (const Step& step : plan_.fills) {
      step.fn(cells_, step, std::min<int64_t>(n, plan_.tile));
    }
  }
  // n <= tile elements from where the operands' cells are.
  void run_tile(int64_t n) {
    for (const Step& step : plan_.steps) {
      step.fn(cells_, step, n);
    }
  }
  // A whole tile of a long row. Functions such as erfc leave the memory idle while they compute, so
  // the next tile is asked for meanwhile, a share before each step.
  void run_tile_and_ask_ahead() {
    int64_t done = 0;  // shares
    for (const Step& step : plan_.steps) {
      for (const Plan::Ahead& ahead : plan_.ahead) {
        const char* const p = cells_[ahead.operand].p + ahead.tile + done * ahead.share;
        for (int64_t i = 0; i < ahead.share; i += 64) {
          __builtin_prefetch(p + i);
        }
      }
      ++done;
      step.fn(cells_, step, plan_.tile);
    }
  }
  // Moves the operands' cells by n elements along the row.
  void advance(int64_t n) {
    for (uint32_t k = 0; k < plan_.n_operands; ++k) {
      const Access access = access_of(plan_.keys[k]);
      const int64_t stride = access == kDense       ? 1
                             : access == kBroadcast ? 0
                                                    : operands_[k].strides[inner_];
      cells_[k].p += n * stride * item_size(dtype_of(plan_.keys[k]));
    }
  }
  // n elements from where the operands' cells are, which stay there. Gives where the results lie: in
  // `buffer`, of n elements of `size` bytes, where they are computed and more than a tile.
  char* run_tiles(int64_t n, char* buffer, int64_t size) {
    if (n <= plan_.tile) [[likely]] {
      run_tile(n);
      return result();
    }
    return run_many_tiles(n, buffer, size);
  }
  void run_row(int64_t n) {
    if (!plan_.once.empty() || !plan_.fills.empty()) {
      begin_row(n);
    }
    const bool asks_ahead = n >= kBeyondCache && !plan_.ahead.empty();
    for (; n > plan_.tile; n -= plan_.tile) {
      if (asks_ahead) {
        run_tile_and_ask_ahead();
      } else {
        run_tile(plan_.tile);
      }
      advance(plan_.tile);
    }
    run_tile(n);
  }

 private:
  [[gnu::noinline]] char* run_many_tiles(int64_t n, char* buffer, int64_t size) {
    if (plan_.steps.empty() && plan_.fills.empty()) {
      return result();  // an operand's own memory
    }
    Cell& cell = cells_[plan_.result_cell];
    char* const tile = cell.p;
    for (int64_t at = 0; at < n; at += plan_.tile) {
      const int64_t m = std::min<int64_t>(plan_.tile, n - at);
      if (plan_.steps.empty()) {  // one value, spread over the tile when the row began
        std::memcpy(buffer + at * size, tile, static_cast<size_t>(m * size));
        continue;
      }
      cell.p = buffer + at * size;
      run_tile(m);
      advance(m);
    }
    if (!plan_.steps.empty()) {
      advance(-n);
    }
    cell.p = tile;
    return buffer;
  }

  const Plan& plan_;
  const tn_operand* operands_;
  int32_t inner_;
  Cell* cells_ = inline_cells_;
  char* memory_ =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(inline_memory_) + 63) / 64 * 64);
  std::unique_ptr<char[]> heap_;
  std::unique_lock<std::mutex> spare_;
  Cell inline_cells_[kInlineCells];
  char inline_memory_[kInlineMemory + 64];  // alignas would make every frame of the stack realigned
};

}  // namespace tenon::cpu_backend
