// What every entry of the fake libraries begins with: its name is noted, and it fails where the
// environment says so. Each library counts for itself.
// TENON_FAKE_CUDA_FAIL="cuMemAlloc:3:2,cuMemFree:1:999" fails the third call of one entry and the first
// of another with these results, and does nothing in their place; TENON_FAKE_CUDA_CALLS=file gets the
// name of each entry at its first call, TENON_FAKE_CUDA_EVERY_CALL=file at each, and
// TENON_FAKE_CUDA_FAILED=file when it failed as was asked.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fake {

struct Failure {
  std::string entry;
  int call = 0, result = 0, calls = 0;
};

inline std::vector<Failure> wanted_failures() {
  std::vector<Failure> wanted;
  const char* text = std::getenv("TENON_FAKE_CUDA_FAIL");
  char name[100];
  int call = 0, result = 0, length = 0;
  while (text && std::sscanf(text, "%99[^:]:%d:%d%n", name, &call, &result, &length) == 3) {
    wanted.push_back({name, call, result});
    text += length;
    text += *text == ',';
  }
  return wanted;
}

inline void append_line(const char* path, const char* line) {
  if (FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", line);
    std::fclose(file);
  }
}

// With TENON_FAKE_CUDA_IDLE=1 launches and copies within a device do nothing, before all checks: what
// is measured then is what the host does.
inline bool is_idle() {
  static const bool idle = std::getenv("TENON_FAKE_CUDA_IDLE") != nullptr;
  return idle;
}

// 0, or what the call gives in the place of what it does.
inline int begin_call(const char* entry) {
  static const char* const first_calls = std::getenv("TENON_FAKE_CUDA_CALLS");
  static const char* const every_call = std::getenv("TENON_FAKE_CUDA_EVERY_CALL");
  static const char* const failed = std::getenv("TENON_FAKE_CUDA_FAILED");
  static std::vector<Failure>& failures = *new std::vector<Failure>(wanted_failures());
  if (!first_calls && !every_call && failures.empty()) return 0;
  static std::mutex mutex;
  static auto& called = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (first_calls && called.insert(entry).second) append_line(first_calls, entry);
  if (every_call) append_line(every_call, entry);
  int result = 0;
  for (Failure& failure : failures) {
    if (failure.entry == entry && ++failure.calls == failure.call) {
      result = failure.result;
      if (failed) append_line(failed, entry);
    }
  }
  return result;
}

}  // namespace fake
