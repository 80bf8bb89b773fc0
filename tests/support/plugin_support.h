// What the tests of the loader say in one word; their folders are in plugin_folder.h.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/status.h"
#include "plugin/loader.h"
#include "plugin_folder.h"

namespace tenon::testing {

// The text of a status with its causes; frees it. "": success.
inline std::string text_of(Status status) {
  std::string text = status_text(status);
  free_status(status);
  return text;
}

inline std::string load(const fs::path& library) { return text_of(load_plugin(library.c_str())); }

// load_all over these folders alone.
inline std::string load_folders(const std::string& path) {
  ::setenv("TENON_PLUGIN_PATH", path.c_str(), 1);
  std::string text = text_of(load_all_plugins());
  ::unsetenv("TENON_PLUGIN_PATH");
  return text;
}

// The record of a library; a failed expectation where there is none.
inline PluginRecord record_of(const fs::path& library) {
  for (const PluginRecord& r : plugin_records()) {
    if (r.file == library) return r;
  }
  ADD_FAILURE() << library << " has no record";
  return {};
}

// A variable that a loaded library exports.
template <typename T>
T& exported(const fs::path& library, const char* name) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(handle, nullptr) << library << " is not loaded";
  return *static_cast<T*>(::dlsym(handle, name));
}

}  // namespace tenon::testing
