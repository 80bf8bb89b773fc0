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
    if (table_.empty()) return kNone;
    for (size_t at = item.hash() & mask();; at = (at + 1) & mask()) {
      if (table_[at] == kNone || items_[table_[at]] == item) return table_[at];
    }
  }

  // Adds it when it is new.
  uint32_t intern(const T& item) {
    if (const uint32_t found = find(item); found != kNone) return found;
    if (table_.size() < 2 * (items_.size() + 1)) grow();
    items_.push_back(item);
    const uint32_t number = static_cast<uint32_t>(items_.size() - 1);
    insert(number);
    return number;
  }

  const T& operator[](uint32_t number) const { return items_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(items_.size()); }

 private:
  size_t mask() const { return table_.size() - 1; }
  void insert(uint32_t number) {
    size_t at = items_[number].hash() & mask();
    while (table_[at] != kNone) at = (at + 1) & mask();
    table_[at] = number;
  }
  void grow() {
    table_.assign(table_.empty() ? 64 : 2 * table_.size(), kNone);
    for (uint32_t i = 0; i < items_.size(); ++i) insert(i);
  }

  std::vector<T> items_;
  std::vector<uint32_t> table_;  // open addressing; a power of two, at most half full
};

// Mixes a word into a hash.
inline size_t mix(size_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

}  // namespace tenon
