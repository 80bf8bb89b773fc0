// What every entry of the fake libraries begins with: its name is noted, and it fails where the
// environment says so. Each library has these counts for itself.
// TENON_FAKE_CUDA_FAIL="cuMemAlloc:3:2" fails the third call of an entry with that result, once, and
// does nothing in its place; TENON_FAKE_CUDA_CALLS=file gets the name of each entry at its first call.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace fake {

struct Failure {
  std::string entry;
  int call = 0;
  int result = 0;
};

inline const Failure& wanted_failure() {
  static const Failure& wanted = *new Failure([] {
    Failure f;
    const char* text = std::getenv("TENON_FAKE_CUDA_FAIL");
    char name[100];
    int call = 0, result = 0;
    if (text && std::sscanf(text, "%99[^:]:%d:%d", name, &call, &result) == 3)
      f = {name, call, result};
    return f;
  }());
  return wanted;
}

inline void note_call(const char* entry) {
  static const char* const path = std::getenv("TENON_FAKE_CUDA_CALLS");
  if (!path) return;
  static std::mutex mutex;
  static auto& called = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!called.insert(entry).second) return;
  if (FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", entry);
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
  note_call(entry);
  static std::atomic<int> calls = 0;
  return wanted_failure().entry == entry && ++calls == wanted_failure().call
             ? wanted_failure().result
             : 0;
}

}  // namespace fake
