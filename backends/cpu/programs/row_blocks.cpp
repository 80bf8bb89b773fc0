#include "programs/row_blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kLongRow = 128;  // elements; such a row is worth its beginning
constexpr size_t kCopyBytes = 16;  // which every processor moves at once

// Whether the elements of one entry after the other, over dimensions from `first` on, follow each other.
bool is_dense(const RowBlocks& b, const tn_operand& o) {
  int64_t n = 1;
  for (int32_t d = b.ndim - 1; d >= b.first; --d) {
    if (o.strides[d] != n) return false;
    n *= b.sizes[d];
  }
  return true;
}
bool is_one_element(const RowBlocks& b, const tn_operand& o) {
  return std::all_of(o.strides + b.first, o.strides + b.ndim,
                     [](int64_t stride) { return stride == 0; });
}

// n bytes, few of them mostly, for which a call would take longer than to copy them.
inline void copy_short(char* to, const char* from, size_t n) {
  if (n >= kCopyBytes) {
    for (size_t at = 0; at + kCopyBytes <= n; at += kCopyBytes)
      std::memcpy(to + at, from + at, kCopyBytes);
    std::memcpy(to + n - kCopyBytes, from + n - kCopyBytes, kCopyBytes);
  } else if (n >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + n - 8, from + n - 8, 8);
  } else if (n >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + n - 4, from + n - 4, 4);
  } else {
    for (size_t at = 0; at < n; ++at) to[at] = from[at];
  }
}

// Elements of one size between an operand and a tile of it.
template <typename T>
struct Tiles {
  const RowBlocks& b;
  const tn_operand& operand;

  int32_t inner() const { return b.ndim - 1; }

  // `count` entries along dimension d from `from` on. Up to 63 bytes behind them are written, too.
  // Gives where they end.
  T* pack(T* to, const T* from, int32_t d, int64_t count) const {
    const int64_t stride = operand.strides[d];
    if (d == inner()) return pack_row(to, from, stride, count);
    if (stride == 0) return repeat(to, pack(to, from, d + 1, b.sizes[d + 1]), count);
    if (d + 1 == inner()) return pack_rows(to, from, stride, count);
    for (int64_t i = 0; i < count; ++i) {
      to = pack(to, from + i * stride, d + 1, b.sizes[d + 1]);
    }
    return to;
  }
  const T* unpack(const T* from, T* to, int32_t d, int64_t count) const {
    const int64_t stride = operand.strides[d];
    if (d == inner()) {
      for (int64_t i = 0; i < count; ++i) to[i * stride] = from[i];
      return from + count;
    }
    if (d + 1 == inner() && operand.strides[inner()] == 1) {
      const int64_t row = b.sizes[inner()];
      for (int64_t i = 0; i < count; ++i) {
        copy_short(bytes(to + i * stride), bytes(from + i * row), size_t(row) * sizeof(T));
      }
      return from + count * row;
    }
    for (int64_t i = 0; i < count; ++i) {
      from = unpack(from, to + i * stride, d + 1, b.sizes[d + 1]);
    }
    return from;
  }

 private:
  static char* bytes(T* p) { return reinterpret_cast<char*>(p); }
  static const char* bytes(const T* p) { return reinterpret_cast<const char*>(p); }

  static T* pack_row(T* to, const T* from, int64_t stride, int64_t n) {
    if (stride == 0) {
      table().spread_rows[std::countr_zero(sizeof(T))](to, from, 0, n, 1);
    } else if (stride == 1) {
      copy_short(bytes(to), bytes(from), size_t(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
    }
    return to + n;
  }
  T* pack_rows(T* to, const T* from, int64_t stride, int64_t rows) const {
    const int64_t n = b.sizes[inner()], step = operand.strides[inner()];
    if (step == 0) {
      table().spread_rows[std::countr_zero(sizeof(T))](to, from, stride, n, rows);
    } else if (step == 1) {
      for (int64_t i = 0; i < rows; ++i) {
        copy_short(bytes(to + i * n), bytes(from + i * stride), size_t(n) * sizeof(T));
      }
    } else {  // by columns, since what was transposed has theirs beside each other
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < rows; ++i) to[i * n + j] = from[i * stride + j * step];
      }
    }
    return to + rows * n;
  }
  // What lies from `to` to `end` once, `count` times, by copies that grow.
  static T* repeat(T* to, T* end, int64_t count) {
    const int64_t n = end - to;
    int64_t done = 1;
    while (done < count) {
      const int64_t more = std::min(done, count - done);
      std::memcpy(bytes(to + done * n), bytes(to), size_t(more * n) * sizeof(T));
      done += more;
    }
    return to + count * n;
  }
};

}  // namespace

void RowBlocks::choose_first() {
  first = ndim - 1;
  entry = 1;
  while (first > 0 && entry * sizes[first] < kLongRow) {
    entry *= sizes[first--];
  }
}

int64_t RowBlocks::rows_of_block() const {
  return std::min(sizes[first], kMaxBlock / entry) * entry / sizes[ndim - 1];
}

bool RowBlocks::find_tiles(uint8_t* keys) {
  n_tiles = 0;
  for (uint32_t k = 0; k < n_operands; ++k) {
    const tn_operand& o = operands[k];
    keys[k] = operand_key(o.dtype, kDense);
    if (is_dense(*this, o)) continue;
    if (k >= n_outputs && is_one_element(*this, o)) {
      keys[k] = operand_key(o.dtype, kBroadcast);
    } else if (n_tiles == kMaxTiles) {
      return false;
    } else {
      tile_operand[n_tiles++] = k;
    }
  }
  return true;
}

void RowTiles::fill(char* const* places, int64_t count, Cell* cells) {
  for (uint32_t k = 0; k < b_.n_operands; ++k) {
    cells[k].p = places[k];
  }
  for (uint32_t t = 0; t < b_.n_tiles; ++t) {
    const uint32_t k = b_.tile_operand[t];
    const tn_operand& o = b_.operands[k];
    cells[k].p = tiles_[t];
    // What was packed is what lies there still: an output has the memory of an input at the same
    // elements of both or not at all (abi.h), so not that of one that repeats itself.
    const bool is_there =
        o.strides[b_.first] == 0 && packed_[t].from == places[k] && packed_[t].count >= count;
    if (k < b_.n_outputs || is_there) continue;
    with_bits(o.dtype, [&]<typename T>(T) {
      Tiles<T>{b_, o}.pack(reinterpret_cast<T*>(tiles_[t]), reinterpret_cast<const T*>(places[k]),
                           b_.first, count);
    });
    packed_[t] = {places[k], count};
  }
}

void RowTiles::write_outputs(char* const* places, int64_t count) const {
  for (uint32_t t = 0; t < b_.n_tiles && b_.tile_operand[t] < b_.n_outputs; ++t) {
    const uint32_t k = b_.tile_operand[t];
    const tn_operand& o = b_.operands[k];
    with_bits(o.dtype, [&]<typename T>(T) {
      Tiles<T>{b_, o}.unpack(reinterpret_cast<const T*>(tiles_[t]), reinterpret_cast<T*>(places[k]),
                             b_.first, count);
    });
  }
}

}  // namespace tenon::cpu_backend
