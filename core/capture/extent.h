// Where the memory of a storage lies, for compiled functions: two storages may lie in one memory, of
// two tensors over memory that is not the host's (from_memory, DLPack), or of one over the other's.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/device.h"

namespace tenon {

struct Extent {
  uint64_t device, begin, end;  // of a device whose memory has no addresses: its handle

  Extent(tn_device where, const void* memory, uint64_t bytes);
  bool operator<(const Extent& other) const {
    return device != other.device ? device < other.device : begin < other.begin;
  }
  bool meets(const Extent& other) const {
    return device == other.device && begin < other.end && other.begin < end;
  }
  // Of those of a list that was sorted, and of which none meet.
  bool meets_one_of(std::span<const Extent> sorted) const;
};

// Sorts them. None is empty.
bool any_meet(std::span<Extent> extents);

}  // namespace tenon
