// Keeps each distinct item once and numbers the items in the order they came: what makes common
// subexpressions free. T has `size_t hash() const` and ==. Used by the graph of a formula and by
// the values of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

template <typename T>
class Interner {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The number of an item that equals `item`, or kNone.
  uint32_t find(const T& item) const {
    if (slots_.empty()) return kNone;
    for (size_t slot = item.hash() & mask();; slot = (slot + 1) & mask()) {
      if (slots_[slot] == kNone || items_[slots_[slot]] == item) return slots_[slot];
    }
  }

  // Adds it when it is new.
  uint32_t intern(const T& item) {
    if (const uint32_t found = find(item); found != kNone) return found;
    if (slots_.size() < 2 * (items_.size() + 1)) grow();
    items_.push_back(item);
    const uint32_t number = static_cast<uint32_t>(items_.size() - 1);
    insert(number);
    return number;
  }

  const T& operator[](uint32_t number) const { return items_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(items_.size()); }

 private:
  size_t mask() const { return slots_.size() - 1; }
  void insert(uint32_t number) {
    size_t slot = items_[number].hash() & mask();
    while (slots_[slot] != kNone) slot = (slot + 1) & mask();
    slots_[slot] = number;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kNone);
    for (uint32_t i = 0; i < items_.size(); ++i) insert(i);
  }

  std::vector<T> items_;
  std::vector<uint32_t> slots_;  // open addressing; a power of two, at most half full
};

// Mixes a word into a hash.
inline size_t mix(size_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

}  // namespace tenon
