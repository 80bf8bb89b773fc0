// Sizes as text, and the message of exhausted memory.
#include "memory/summary.h"

#include <fmt/format.h>

#include "tensor/slots.h"

namespace tenon {

std::string bytes_text(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double scaled = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; scaled >= 1024; ++unit) scaled /= 1024;
  return fmt::format("{:.1f} {}", scaled, kUnits[unit]);
}

Status out_of_memory(tn_device device, const MemorySummary& s, Status refusal) {
  StatusHolder hold(refusal);
  std::string message = fmt::format(
      "out of memory on {}: wanted {}; {}, in live tensors {}, in the cache {}, of caches of "
      "weights "
      "{}",
      device_text(device), bytes_text(s.wanted),
      s.limit == 0 ? "no limit of the cache"
      : s.limited  ? "limit " + bytes_text(s.limit)
                   : "the device has no more",
      bytes_text(s.live), bytes_text(s.cached), bytes_text(s.blobs));
  const tn_device_def& def = device_type(device.type)->def;
  uint64_t free = 0, total = 0;
  if ((s.limit == 0 || !s.limited) && def.memory_info != nullptr) {
    const StatusHolder unknown(slots::memory_info(device, &free, &total));
    if (!unknown) {
      message += fmt::format("; the device has {} free of {}", bytes_text(free), bytes_text(total));
    }
  }
  return make_status(TN_OUT_OF_MEMORY, message, hold.take());
}

}  // namespace tenon
