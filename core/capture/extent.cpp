#include "capture/extent.h"

#include <algorithm>

namespace tenon {

Extent::Extent(tn_device where, const void* memory, uint64_t bytes)
    : device(uint64_t{static_cast<uint32_t>(where.type)} << 32 |
             static_cast<uint32_t>(where.index)),
      begin(reinterpret_cast<uintptr_t>(memory)),
      end(begin + bytes) {
  if ((device_type(where.type)->def.flags & TN_DEVICE_NO_ADDRESS) != 0) end = begin + 1;
}

bool Extent::meets_one_of(std::span<const Extent> sorted) const {
  const Extent* first = sorted.data();
  const Extent* last = first + sorted.size();
  const Extent* behind = std::upper_bound(first, last, *this);
  return (behind != last && behind->meets(*this)) ||
         (behind != first && (behind - 1)->meets(*this));
}

// Where two of them meet, so do two that stand beside each other.
bool any_meet(std::span<Extent> extents) {
  Extent* first = extents.data();
  Extent* last = first + extents.size();
  std::sort(first, last);
  return std::adjacent_find(first, last,
                            [](const Extent& a, const Extent& b) { return a.meets(b); }) != last;
}

}  // namespace tenon
