// Short rows, several at once. To begin a row costs as much as a hundred elements of it, so where rows
// are short the innermost dimensions are taken together, a block of rows at a time. What is not
// dense over them (a bias, a mean of each row, a slice, what was transposed) is copied to a tile
// before the steps run, and an output that is not is copied from one behind them.
#pragma once

#include <cstdint>

#include "programs/plan.h"

namespace tenon::cpu_backend {

// Elements of a block at most: so many rows that most cache lines of a transposed operand, which lies in
// columns, are read by one block.
constexpr int64_t kMaxBlock = 2048;

// An index space and who is read and written there; and how it is cut: dimension `first` into blocks of
// entries, each of which is `entry` elements, all of the dimensions behind it.
struct RowBlocks {
  static constexpr uint32_t kMaxTiles = 4;
  int32_t ndim;
  const int64_t* sizes;
  const tn_operand* operands;  // outputs, then inputs
  uint32_t n_operands, n_outputs;

  int32_t first = 0;
  int64_t entry = 1;
  uint32_t n_tiles = 0;
  uint32_t tile_operand[kMaxTiles] = {};  // those that want a tile, ascending

  // Takes as many of the innermost dimensions as make a row that is long enough.
  void choose_first();
  int64_t rows_of_block() const;
  // Once `first` and `entry` are there: finds the operands that want tiles, and the keys of all in a
  // block. False: more than there may be.
  bool find_tiles(uint8_t* keys);
};

// The tiles of one thread.
class RowTiles {
 public:
  explicit RowTiles(const RowBlocks& blocks) : b_(blocks) {}
  RowTiles(const RowTiles&) = delete;
  RowTiles& operator=(const RowTiles&) = delete;

  // Sets the operands' cells for `count` entries, of which each operand has the first at its place.
  void fill(char* const* places, int64_t count, Cell* cells);
  // Writes the tiles of outputs to their places, which fill got.
  void write_outputs(char* const* places, int64_t count) const;

 private:
  // What a tile holds already: an operand that does not move along dimension `first` is packed once.
  struct Packed {
    const char* from = nullptr;
    int64_t count = 0;
  };
  const RowBlocks& b_;
  Packed packed_[RowBlocks::kMaxTiles];
  // Of the widest elements, and what is written beyond them.
  alignas(64) char tiles_[RowBlocks::kMaxTiles][kMaxBlock * 8 + 64];
};

}  // namespace tenon::cpu_backend
