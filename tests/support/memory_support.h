// What the inner tests of memory and streams share: statuses as text, storages, and what a device
// has given out.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "memory/memory.h"

namespace tenon {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;

// Takes the status; "" for success.
inline std::string message(Status status) {
  const StatusHolder holder(status);
  return status_text(status);
}
#define EXPECT_OK(expression) EXPECT_EQ(message(expression), "")
#define ASSERT_OK(expression) ASSERT_EQ(message(expression), "")

inline tn_storage* make(tn_device device, uint64_t bytes) {
  tn_storage* storage = nullptr;
  EXPECT_OK(allocate_storage(device, nullptr, bytes, &storage));
  return storage;
}

inline tn_memory_stats stats_of(tn_device device) {
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  EXPECT_OK(memory_stats(device, &stats));
  return stats;
}

}  // namespace tenon
