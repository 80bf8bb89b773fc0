// Elements as numbers in whose order they are, beside their places: what sorts and selects compare
// without looking elsewhere.
#pragma once

#include <bit>
#include <cstdint>

#include "vector/convert.h"

namespace tenon::cpu_backend {

// A number without sign in whose order the elements are. Both zeros are one, and NaN is the greatest. Without
// a branch: signs are as often this as that.
template <typename Float, typename Bits>
TENON_INLINE Bits rank_of_float(Float x) {
  constexpr int kSign = 8 * sizeof(Bits) - 1;
  const auto bits = std::bit_cast<Bits>(x + Float{0});  // -0 becomes 0
  const Bits rank = bits ^ ((Bits{0} - (bits >> kSign)) | Bits{1} << kSign);
  return rank | (Bits{0} - static_cast<Bits>(x != x));
}
template <tn_dtype D>
TENON_INLINE auto rank_of(typename Format<D>::Element x) {
  const auto wide = Format<D>::widen(x);
  if constexpr (D == TN_FLOAT64) {
    return rank_of_float<double, uint64_t>(wide);
  } else if constexpr (dtype_table::is_float(D)) {
    return rank_of_float<float, uint32_t>(wide);
  } else if constexpr (D == TN_INT64) {
    return static_cast<uint64_t>(wide) ^ (uint64_t{1} << 63);
  } else {
    return static_cast<uint32_t>(wide) ^ (uint32_t{1} << 31);
  }
}

// The whole number that has this rank.
template <tn_dtype D>
TENON_INLINE auto of_rank(uint64_t rank) {
  if constexpr (D == TN_INT64) {
    return static_cast<int64_t>(rank ^ (uint64_t{1} << 63));
  } else {
    return static_cast<int32_t>(static_cast<uint32_t>(rank) ^ (uint32_t{1} << 31));
  }
}

// A rank and a place, in one number where both are short. No two of a row are equal, so equal elements
// stay in order.
struct ShortEntry {
  uint64_t both;
  ShortEntry() = default;
  ShortEntry(uint32_t rank, int64_t at) : both(uint64_t{rank} << 32 | static_cast<uint32_t>(at)) {}
  int64_t at() const { return static_cast<int64_t>(both & 0xFFFF'FFFF); }
  uint64_t key() const { return both >> 32; }  // the rank
  bool operator<(const ShortEntry& other) const { return both < other.both; }
};
struct LongEntry {
  uint64_t rank;
  int64_t place;
  LongEntry() = default;
  LongEntry(uint64_t r, int64_t at) : rank(r), place(at) {}
  int64_t at() const { return place; }
  uint64_t key() const { return rank; }
  bool operator<(const LongEntry& other) const {
    return rank != other.rank ? rank < other.rank : place < other.place;
  }
};

}  // namespace tenon::cpu_backend
