#include "base/log.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "tenon/messages.hpp"

#include "base/status.h"

namespace tenon {
namespace {

constexpr const char* kLevels[] = {"debug", "info", "warning", "error", "off"};

int32_t threshold() {
  const char* wanted = std::getenv("TENON_LOG");
  for (int32_t level = 0; wanted != nullptr && level < 5; ++level) {
    if (std::strcmp(wanted, kLevels[level]) == 0) return level;
  }
  return 2;
}

}  // namespace

void log_line(int32_t level, const char* message) {
  static const int32_t least = threshold();
  if (level < least || level < 0 || level > 3) return;
  try {
    const std::string text = messages::cleaned(message == nullptr ? "" : message);
    // one call: stdio locks the stream
    std::fprintf(stderr, "tenon %s: %s\n", kLevels[level], text.c_str());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "tenon %s: no memory for a message\n", kLevels[level]);
  }
}

bool log_failure(tn_status* failed) {
  const StatusHolder holder(failed);
  if (failed != nullptr) log_line(3, status_text(failed));
  return failed == nullptr;
}

}  // namespace tenon
