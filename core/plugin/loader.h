// Loading of plugins, those of the program included: find, check, open, stage, commit; and their
// shutdown. host/ gives these functions to applications as plugin/1. Thread-safe, beside running calls.
//
// Invariants
//  1. One load runs at a time; what a plugin brings becomes visible only as a whole, or not at all.
//  2. No library is ever unloaded.
//  3. Every plugin that was met is in the records, with the reason where it is not loaded.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "plugin/library.h"
#include "plugin/manifest.h"
#include "plugin/search.h"
#include "plugin/staging.h"

namespace tenon {

// kLoading: its code runs for the first time, so a process that ends meanwhile can say whose it
// was.
enum class PluginState : uint8_t { kLoaded, kFailed, kShadowed, kLoading };

struct PluginRecord {
  std::filesystem::path file;      // as it was named, absolute
  std::filesystem::path identity;  // without links
  Manifest manifest;               // empty where it could not be read
  PluginState state = PluginState::kFailed;
  std::string reason;  // why it is not loaded
  Brings brings;
};

// One library, with its manifest beside it. A relative path is the working directory's. A library
// that is loaded already is a success; another one of the same id is not.
[[nodiscard]] Status load_plugin(const char* path);
// One that is part of the program: there is no manifest file.
[[nodiscard]] Status add_plugin(const Library& library);
// All of the search folders, those first that others need. Broken ones are recorded and stop no
// other.
[[nodiscard]] Status load_all_plugins();
// In reverse order of loading. Refused while tensors of a plugin's device live; a second call does
// nothing.
[[nodiscard]] Status shutdown_plugins();

// Copies, in order of meeting; for the listing.
std::vector<PluginRecord> plugin_records();
// The folders of the last load_all, or those that it would search.
std::vector<SearchFolder> searched_folders();

}  // namespace tenon
