// What a piece of work launches on the device `cuda`, where that is on the driver of the tests.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fake_launches_detail {

inline std::mutex mutex;
inline std::vector<std::string> lines;

inline void note(const char* line) {
  const std::lock_guard lock(mutex);
  lines.push_back(line);
}

}  // namespace fake_launches_detail

// A line for each launch, copy and wait; none: the driver is NVIDIA's own.
inline std::optional<std::vector<std::string>> fake_trace(const std::function<void()>& work) {
  namespace detail = fake_launches_detail;
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  using Listen = void (*)(void (*)(const char*));
  auto* listen = driver ? reinterpret_cast<Listen>(::dlsym(driver, "tenon_fake_listen")) : nullptr;
  if (!listen) return work(), std::nullopt;
  detail::lines.clear();
  listen(detail::note);
  work();
  listen(nullptr);
  return detail::lines;
}

// The names of the kernels, in their order.
inline std::optional<std::vector<std::string>> fake_launches(const std::function<void()>& work) {
  const auto lines = fake_trace(work);
  if (!lines) return std::nullopt;
  std::vector<std::string> kernels;
  for (const std::string& line : *lines) {
    constexpr std::string_view kLaunch = "launch ";
    if (line.starts_with(kLaunch)) kernels.push_back(line.substr(kLaunch.size()));
  }
  return kernels;
}
