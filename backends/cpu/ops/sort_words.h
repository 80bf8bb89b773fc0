// Long rows in order: each element is one word, the first bits of its rank (ranked.h) above its
// place, and words are sorted digit by digit. Long ranges are split by their highest digit, until a
// part lies in the cache (Knuth, The Art of Computer Programming, volume 3, 5.2.5).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ops/ranked.h"

namespace tenon::cpu_backend {

constexpr int kDigitBits = 8, kDigitValues = 1 << kDigitBits;
// So many words lie in the cache of the second level, with room for as many.
constexpr int64_t kCachedWords = 1 << 15;
// Of so few insertion is faster than counting.
constexpr int64_t kFewWords = 24;

inline void insert_words(uint64_t* row, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const uint64_t word = row[i];
    int64_t at = i;
    for (; at > 0 && word < row[at - 1]; --at) row[at] = row[at - 1];
    row[at] = word;
  }
}
inline int width_of(uint64_t bits) { return static_cast<int>(std::bit_width(bits)); }
inline size_t digit_of(uint64_t word, int shift) { return word >> shift & (kDigitValues - 1); }

// Where each digit's words begin, of how many there are.
template <typename Count>
void make_begins(Count (&counts)[kDigitValues]) {
  Count sum = 0;
  for (Count& count : counts) count = std::exchange(sum, sum + count);
}
template <typename Count>
void move_words(const uint64_t* from, uint64_t* to, int64_t n, int shift,
                Count (&next)[kDigitValues]) {
  for (int64_t i = 0; i < n; ++i) to[next[digit_of(from[i], shift)]++] = from[i];
}

// Sorts n words by their bits from `low` on; those that are equal there come in their order, which is
// that of the bits below. `spare` has room for n.
inline void sort_words(uint64_t* row, uint64_t* spare, int64_t n, int low) {
  if (n <= kFewWords) return insert_words(row, n);
  uint64_t differing = 0;
  for (int64_t i = 0; i < n; ++i) differing |= row[i] ^ row[0];
  const int width = width_of(differing);
  if (width <= low) return;
  if (n > kCachedWords) {
    const int shift = std::max(low, width - kDigitBits);
    int64_t ends[kDigitValues] = {};
    for (int64_t i = 0; i < n; ++i) ++ends[digit_of(row[i], shift)];
    make_begins(ends);
    move_words(row, spare, n, shift, ends);
    std::memcpy(row, spare, static_cast<size_t>(n) * sizeof *row);
    int64_t begin = 0;
    for (const int64_t end : ends) {
      if (shift > low && end - begin > 1) sort_words(row + begin, spare, end - begin, low);
      begin = end;
    }
    return;
  }
  // The two highest digits, the lower one first.
  const int shift = std::max(low, width - 2 * kDigitBits);
  int32_t lower[kDigitValues] = {}, upper[kDigitValues] = {};
  for (int64_t i = 0; i < n; ++i) {
    ++lower[digit_of(row[i], shift)];
    ++upper[digit_of(row[i], shift + kDigitBits)];
  }
  make_begins(lower);
  move_words(row, spare, n, shift, lower);
  if (width - shift > kDigitBits) {
    make_begins(upper);
    move_words(spare, row, n, shift + kDigitBits, upper);
  } else {
    std::memcpy(row, spare, static_cast<size_t>(n) * sizeof *row);
  }
  for (int64_t i = 0, end; shift > low && i < n; i = end) {
    const uint64_t high = row[i] >> shift;
    for (end = i + 1; end < n && row[end] >> shift == high;) ++end;
    if (end - i > 1) sort_words(row + i, spare, end - i, low);
  }
}

// The elements of a row in order.
class OrderedWords {
 public:
  // n elements, at least two, `step` apart. flip: all bits of the ranks, or none. `words` has room
  // for 2 n, and is read as long as this is used.
  template <tn_dtype D, typename Element, typename Rank>
  static OrderedWords of(const Element* from, int64_t step, int64_t n, Rank flip, uint64_t* words) {
    uint64_t least = ~uint64_t{0}, greatest = 0;
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t rank = static_cast<Rank>(rank_of<D>(from[i * step]) ^ flip);
      words[i] = rank;
      least = std::min(least, rank);
      greatest = std::max(greatest, rank);
    }
    const int place_bits = width_of(static_cast<uint64_t>(n - 1));
    const int lost = std::max(0, width_of(greatest - least) + place_bits - 64);
    for (int64_t i = 0; i < n; ++i)
      words[i] = (words[i] - least) >> lost << place_bits | static_cast<uint64_t>(i);
    sort_words(words, words + n, n, place_bits);
    OrderedWords ordered = {words, place_bits, lost == 0, least, flip};
    if (lost > 0) {
      const auto rank_at = [&](uint64_t word) {
        return static_cast<Rank>(rank_of<D>(from[ordered.place(word) * step]) ^ flip);
      };
      ordered.order_equal(n, [&](uint64_t a, uint64_t b) {
        const Rank x = rank_at(a), y = rank_at(b);
        return x != y ? x < y : ordered.place(a) < ordered.place(b);
      });
    }
    return ordered;
  }
  int64_t at(int64_t i) const { return place(words_[i]); }
  // Words have all of the ranks.
  bool has_ranks() const { return has_ranks_; }
  uint64_t rank(int64_t i) const { return (least_ + (words_[i] >> place_bits_)) ^ flip_; }

 private:
  OrderedWords(uint64_t* words, int place_bits, bool has_ranks, uint64_t least, uint64_t flip)
      : words_(words), place_bits_(place_bits), has_ranks_(has_ranks), least_(least), flip_(flip) {}
  int64_t place(uint64_t word) const {
    return static_cast<int64_t>(word & ((uint64_t{1} << place_bits_) - 1));
  }
  // Those whose ranks are equal in the bits that words have.
  template <typename Less>
  void order_equal(int64_t n, const Less& less) {
    for (int64_t i = 0, end; i < n; i = end) {
      const uint64_t high = words_[i] >> place_bits_;
      for (end = i + 1; end < n && words_[end] >> place_bits_ == high;) ++end;
      if (end - i > 1) std::sort(words_ + i, words_ + end, less);
    }
  }

  uint64_t* words_;
  int place_bits_;
  bool has_ranks_;
  uint64_t least_, flip_;
};

}  // namespace tenon::cpu_backend
