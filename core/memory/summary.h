// What the parts of memory/ share: whether they cache at all, sizes as people write them, and the
// error of exhausted memory.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tensor/device.h"

namespace tenon {

// Under sanitizers every storage is an allocation of its own, of exact size, so that nothing hides
// from them.
#ifdef TENON_SANITIZE
inline constexpr bool kCaching = false;
#else
inline constexpr bool kCaching = true;
#endif

// Requests beyond this are refused before any rounding, which therefore cannot overflow.
inline constexpr uint64_t kMaxRequest = uint64_t{1} << 62;

struct MemorySummary {
  uint64_t wanted = 0;
  bool limited = false;  // what was in the way is the limit, where there is one
  uint64_t limit = 0;    // 0: none
  uint64_t live = 0;     // bytes of live storages
  uint64_t cached = 0;   // bytes taken from the device that no storage has
  uint64_t blobs = 0;    // bytes of cache/1
};

std::string bytes_text(uint64_t bytes);  // "512 B", "4.0 MiB"

// Takes over the refusal, what the backend said.
[[nodiscard]] Status out_of_memory(tn_device device, const MemorySummary& summary,
                                   Status refusal = nullptr);

}  // namespace tenon
