// For tests that look at the tests' own driver from beside the plugin, or run something on it in a fork
// of the test's process, since a process opens a driver once.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "in_a_fork.h"
#include "ops_support.h"

namespace on_fake {

// An entry that NVIDIA's driver does not have.
template <class Entry>
Entry* entry(const char* name) {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Entry*>(::dlsym(library, name));
}

// What was made and not ended until now: "0 streams\n" and so on.
inline std::string living() { return entry<const char*()>("tenon_fake_living")(); }

// Opens the libraries, so that forks need not: no entry of them is called.
inline void preload() {
  for (const char* name : {"libcuda.so.1", "libnvrtc.so.13", "libcublasLt.so.13"}) {
    if (!::dlopen(name, RTLD_NOW)) ADD_FAILURE() << ::dlerror();
  }
  ::dlopen("libcudnn.so.9", RTLD_NOW);  // is not built where there is no header of cuDNN
  Dl_info info = {};
  ::dladdr(reinterpret_cast<void*>(entry<const char*()>("tenon_fake_living")), &info);
  const auto folder = std::filesystem::path(info.dli_fname).parent_path();
  if (!::dlopen((folder / "libtenon_fake_kept.so").c_str(), RTLD_NOW)) ADD_FAILURE() << ::dlerror();
}

// What a fork gives, and what it wrote to stderr. `environment`: "NAME=value" each.
struct Outcome {
  std::string given, logged;
};
template <class Body>
Outcome in_a_fork_with(const std::vector<std::string>& environment, const Body& body) {
  std::string log = (std::filesystem::temp_directory_path() / "tenon_fake_XXXXXX").string();
  const int file = ::mkstemp(log.data());
  Outcome outcome;
  outcome.given = in_a_fork([&]() -> std::string {
    ::dup2(file, 2);
    ::setenv("TENON_CUDA_CACHE", "0", 1);
    ::setenv("TENON_FAKE_CUDA_RACES", "0", 1);  // what is looked for here is no race
    for (const std::string& variable : environment) {
      const size_t at = variable.find('=');
      ::setenv(variable.substr(0, at).c_str(), variable.substr(at + 1).c_str(), 1);
    }
    return body();
  });
  ::close(file);
  std::ifstream text(log);
  outcome.logged.assign(std::istreambuf_iterator<char>(text), {});
  std::filesystem::remove(log);
  return outcome;
}

// The text of the error, or nothing.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace on_fake
