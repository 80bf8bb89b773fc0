// The steps of a load, and the records of what was met.
#include "plugin/loader.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include <dlfcn.h>

#include "base/hot_thread_local.h"
#include "base/log.h"
#include "base/not_loaded.h"
#include "registry/host_table.h"
#include "tenon/messages.hpp"
#include "plugin/candidates.h"
#include "plugin/elf.h"
#include "plugin/listing.h"
#include "plugin/needs.h"
#include "plugin/shutdown.h"
#include "plugin/trust.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

struct Loader {
  std::mutex load_mutex;  // held while a plugin is loaded; its init runs under it
  std::mutex mutex;       // of the records
  std::vector<std::unique_ptr<PluginRecord>> records;
  std::vector<SearchFolder> searched;
  // Under load_mutex:
  std::vector<std::unique_ptr<Staging>> stagings;
  std::vector<LoadedPlugin> loaded;  // in order of loading
  // device types below were looked at by report_incomplete_devices
  int32_t looked_at = TN_FIRST_PLUGIN_DEVICE;
  std::set<std::string> told;  // by report_waiting_kernels
  bool closed = false;
};

Loader& loader() {
  static auto* instance = new Loader();
  return *instance;
}

TN_HOT thread_local bool in_load = false;

// One load at a time. An init that loads plugins itself would wait for itself: refused.
template <typename Body>
Status exclusively(const char* what, Body&& body) {
  if (in_load) {
    return error(TN_FAILED_PRECONDITION, "{}: called inside tenon_plugin_init", what);
  }
  Loader& l = loader();
  std::lock_guard lock(l.load_mutex);
  in_load = true;
  Status status = guarded(body);
  in_load = false;
  return status;
}

// A device without a kernel that every backend must bring works in part, and a call would fail
// late: its author should know when the backend loads. Call it when all has been loaded that was
// asked for, since kernels may come from another plugin.
void report_incomplete_devices() {
  for (int32_t& type = loader().looked_at; type < device_type_count(); ++type) {
    const std::string missing = missing_primitives_text(type);
    if (missing.empty()) continue;
    const DeviceType* device = device_type(type);
    log_line(2, fmt::format(
                    "device '{}' of plugin '{}' has no kernel for {}: ops that need one fail there",
                    device->name, device->plugin, missing)
                    .c_str());
  }
}

// A plugin of the install that another one keeps out takes ops, layers or devices with it that
// everybody counts on, so this is told at once, and not at the first call that misses one.
void warn_of_bundled(const Candidate& candidate, const std::string& reason) {
  if (!candidate.is_bundled) return;
  log_line(2,
           fmt::format("plugin '{}', which comes with Tenon, was not loaded, and nothing of it is "
                       "there ({}): {}",
                       candidate.manifest.id, candidate.manifest.description, reason)
               .c_str());
}

// Whoever names a folder expects its plugins; the program would else go on without them, in
// silence.
void warn_of_ignored(const SearchFolder& folder) {
  const std::string text =
      fmt::format("TENON_PLUGIN_PATH: '{}' is {}", folder.folder.string(), folder.ignored);
  if (loader().told.insert(text).second) log_line(2, text.c_str());
}

fs::path identity_of(const fs::path& file) {
  std::error_code ec;
  fs::path identity = fs::canonical(file, ec);
  return ec ? file : identity;
}

// "a: b: c", on one line.
std::string reason_text(const tn_status* status) {
  std::string text;
  for (const tn_status* s = status; s != nullptr; s = s->cause) {
    text += (text.empty() ? "" : ": ") + s->message;
  }
  return text;
}

void record(PluginRecord record) {
  Loader& l = loader();
  std::lock_guard lock(l.mutex);
  std::erase_if(l.records, [&](const auto& other) {  // an earlier try
    return other->identity == record.identity && other->state != PluginState::kLoaded;
  });
  l.records.push_back(std::make_unique<PluginRecord>(std::move(record)));
  std::vector<std::string> not_loaded;
  for (const auto& r : l.records) {
    if (r->state != PluginState::kFailed) continue;
    const std::string& id = r->manifest.id;
    not_loaded.push_back(fmt::format("plugin '{}' was not loaded: {}",
                                     id.empty() ? r->file.string() : id, r->reason));
  }
  set_not_loaded(std::move(not_loaded));
}

void record_failure(const Candidate& candidate, const tn_status* status) {
  record({candidate.file,
          candidate.identity,
          candidate.manifest,
          PluginState::kFailed,
          reason_text(status),
          {}});
}

const LoadedPlugin* find_loaded(const std::string& id) {
  const auto& all = loader().loaded;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const LoadedPlugin& p) { return p.id == id; });
  return found == all.end() ? nullptr : &*found;
}

bool is_loaded(const fs::path& identity) {
  const auto& all = loader().loaded;
  return std::any_of(all.begin(), all.end(),
                     [&](const LoadedPlugin& p) { return p.identity == identity; });
}

// A kernel for an op that its pack does not have, or whose schema is another, is never asked. One
// for a pack that is not there may be meant for whoever has it, unless its name is close to one that
// is there. The bundled plugins have kernels for packs that an install may lack.
void report_waiting_kernels() {
  for (const auto& [kernel, reason] : registry().waiting_kernels()) {
    if (kernel->op.empty() || find_device_type(kernel->device) == nullptr) continue;
    const LoadedPlugin* from = find_loaded(kernel->plugin);
    if (from == nullptr || from->is_bundled) continue;
    const std::string& name = kernel->op_name;
    const Op* op = nullptr;
    const StatusHolder unknown(registry().find(name, &op));
    const std::string& why = unknown ? unknown.get()->message : reason;
    const bool is_near = why.find("did you mean") != std::string::npos;
    if (unknown && !is_near && find_loaded(name.substr(0, name.find('.'))) == nullptr) continue;
    const std::string text = fmt::format("plugin '{}' has a kernel on '{}' that is not used: {}",
                                         kernel->plugin, kernel->device, why);
    if (loader().told.insert(text).second) log_line(2, text.c_str());
  }
}

// What a plugin's author should know at the load; all has been loaded that was asked for.
void report_what_lacks() {
  report_incomplete_devices();
  report_waiting_kernels();
}

// The manifest and what it says; nothing of the library is read.
Status look_at(Candidate* candidate) {
  TN_TRY(read_manifest(candidate->file, &candidate->manifest));
  return check_abi(candidate->manifest.abi_min, candidate->manifest.abi_max);
}

Status check_symbols(const Library& library, const std::string& id) {
  const tn_manifest& manifest = *library.manifest;
  if (manifest.size < sizeof(tn_manifest)) {
    return invalid("tenon_manifest.size is {}, expected {}", manifest.size, sizeof(tn_manifest));
  }
  if (manifest.id == nullptr || id != manifest.id) {
    return invalid("the manifest file says id '{}', the library '{}'", id,
                   manifest.id == nullptr ? "" : manifest.id);
  }
  return check_abi(manifest.abi_min, manifest.abi_max);
}

// What its init registers.
Status stage_and_commit(const Candidate& candidate, const Library& library) {
  const Manifest& manifest = candidate.manifest;
  // Never freed: see its class.
  Staging* staging = loader().stagings.emplace_back(std::make_unique<Staging>(manifest.id)).get();
  void* self = nullptr;
  Status status = staging->run(library.init, &host_table(), &self);
  const bool began = status == nullptr;
  if (began) status = guarded([&] { return staging->commit(); });
  if (status != nullptr) {
    staging->drop();
    // Its init succeeded, so it may hold things of its own.
    if (began && library.shutdown != nullptr) free_status(call_shutdown(library.shutdown, self));
    return status;
  }
  Loader& l = loader();
  l.loaded.push_back({manifest.id, candidate.file, candidate.identity, candidate.is_bundled,
                      staging, library.shutdown, self});
  record(
      {candidate.file, candidate.identity, manifest, PluginState::kLoaded, "", staging->brings()});
  return nullptr;
}

// Everything after the manifest. Its needs of other plugins are met.
Status open_and_commit(const Candidate& candidate) {
  const Manifest& manifest = candidate.manifest;
  TN_TRY(check_cpu_features(manifest.needs_cpu));
  TN_TRY(check_elf(candidate.file));
  TN_TRY(check_libraries(manifest.needs_libraries));
  TN_TRY(check_trust(candidate.file.parent_path()));
  TN_TRY(check_trust(candidate.file));
  record({candidate.file, candidate.identity, manifest, PluginState::kLoading, "", {}});
  log_line(0, fmt::format("plugin '{}': loading {}", manifest.id, candidate.file.string()).c_str());
  Library library;
  TN_TRY(open_library(candidate.file, &library));
  TN_TRY(check_symbols(library, manifest.id));
  return stage_and_commit(candidate, library);
}

Status missing_file(const fs::path& file) {
  std::error_code ec;
  if (fs::is_directory(file, ec)) {
    return error(TN_NOT_FOUND, "plugin {}: this is a folder; name the library in it",
                 file.string());
  }
  if (!fs::exists(file, ec)) {
    return error(TN_NOT_FOUND, "plugin {}: there is no such file", file.string());
  }
  return nullptr;
}

Status load_one(Candidate* candidate) {
  TN_TRY(look_at(candidate));
  const Manifest& manifest = candidate->manifest;
  if (const LoadedPlugin* other = find_loaded(manifest.id)) {
    return invalid("plugin '{}' is loaded already, from {}", manifest.id, other->file.string());
  }
  for (const std::string& need : manifest.needs_plugins) {
    if (find_loaded(need) == nullptr) {
      return error(TN_FAILED_PRECONDITION,
                   "needs plugin '{}', which is not loaded: load it first, or load all", need);
    }
  }
  return open_and_commit(*candidate);
}

// The file that has this code: the program, or one of its libraries, which stays from now on.
fs::path file_with(tn_plugin_init_fn code) {
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<const void*>(code), &info) != 0;
  if (found) ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  std::error_code ec;
  fs::path file =
      found && info.dli_fname != nullptr ? fs::absolute(info.dli_fname, ec) : fs::path();
  // A program is named as it was called, which may be by PATH.
  if (file.empty() || !fs::exists(file, ec)) file = fs::read_symlink("/proc/self/exe", ec);
  return file.lexically_normal();
}

Status add_one(const Library& library, Candidate* candidate) {
  const tn_manifest& manifest = *library.manifest;
  if (manifest.size < sizeof(tn_manifest)) {
    return invalid("add: tenon_manifest.size is {}, expected {}", manifest.size,
                   sizeof(tn_manifest));
  }
  const std::string id = manifest.id == nullptr ? "" : manifest.id;
  if (!is_plugin_id(id)) {
    return invalid("add: the id is '{}', expected lower case letters, digits and '_'",
                   messages::printable(id));
  }
  TN_TRY(check_abi(manifest.abi_min, manifest.abi_max));
  candidate->manifest = {.id = id, .abi_min = manifest.abi_min, .abi_max = manifest.abi_max};
  candidate->file = file_with(library.init);
  candidate->identity = candidate->file.string() + ":" + id;  // of several in one file
  if (const LoadedPlugin* other = find_loaded(id))
    return invalid("plugin '{}' is there already, from {}", id, other->file.string());
  Status status = stage_and_commit(*candidate, library);
  if (status == nullptr) {
    report_what_lacks();
    return nullptr;
  }
  record_failure(*candidate, status);
  return wrap(status, [&] { return fmt::format("plugin '{}' was not added", id); });
}

Status closed_error() { return make_status(TN_FAILED_PRECONDITION, "plugins were shut down"); }

}  // namespace

Status load_plugin(const char* path) {
  return exclusively("load", [&]() -> Status {
    if (loader().closed) return closed_error();
    if (path == nullptr || *path == '\0') return invalid("load: the path is empty");
    Candidate candidate;
    candidate.file = fs::absolute(path).lexically_normal();
    TN_TRY(missing_file(candidate.file));
    candidate.identity = identity_of(candidate.file);
    if (is_loaded(candidate.identity)) return nullptr;
    Status status = load_one(&candidate);
    if (status == nullptr) {
      report_what_lacks();
      return nullptr;
    }
    record_failure(candidate, status);
    return wrap(status,
                [&] { return fmt::format("plugin {} was not loaded", candidate.file.string()); });
  });
}

Status add_plugin(const Library& library) {
  return exclusively("add", [&]() -> Status {
    if (loader().closed) return closed_error();
    Candidate candidate;
    return add_one(library, &candidate);
  });
}

Status load_all_plugins() {
  return exclusively("load_all", []() -> Status {
    Loader& l = loader();
    if (l.closed) return closed_error();
    std::vector<SearchFolder> folders = search_folders();
    std::vector<std::string> searched;
    Candidates candidates;
    for (SearchFolder& folder : folders) {
      if (!folder.ignored.empty()) {
        warn_of_ignored(folder);
        continue;
      }
      std::error_code failed;
      const std::vector<fs::path> files = libraries_in(folder.folder, &failed);
      searched.push_back(folder.folder.string());
      if (failed) searched.back() += fmt::format(" ({})", failed.message());
      const bool is_absent = failed == std::errc::no_such_file_or_directory;
      if (failed) {
        folder.ignored = is_absent ? "there is no such folder"
                                   : fmt::format("cannot be read: {}", failed.message());
      }
      for (const fs::path& file : files) {
        Candidate candidate{file, identity_of(file), {}, folder.is_installs};
        if (is_loaded(candidate.identity) || candidates.contains(candidate.identity)) continue;
        StatusHolder status(look_at(&candidate));
        if (status) {
          record_failure(candidate, status.get());
        } else {
          candidates.add(std::move(candidate));
        }
      }
    }
    {
      std::lock_guard lock(l.mutex);
      l.searched = std::move(folders);
    }
    set_searched(std::move(searched));
    const auto there = [](const std::string& id) { return find_loaded(id) != nullptr; };
    while (std::unique_ptr<Candidate> next = candidates.next(there)) {
      if (const LoadedPlugin* other = find_loaded(next->manifest.id)) {
        record({next->file,
                next->identity,
                next->manifest,
                PluginState::kShadowed,
                "shadowed by " + other->file.string(),
                {}});
        continue;
      }
      const size_t n_stagings = l.stagings.size();
      StatusHolder status(guarded([&] { return open_and_commit(*next); }));
      if (!status) continue;
      record_failure(*next, status.get());
      // What a machine lacks is no news: its plugins are made to do without.
      const bool was_begun = l.stagings.size() > n_stagings;
      if (was_begun) warn_of_bundled(*next, reason_text(status.get()));
    }
    for (const auto& [candidate, reason] : candidates.stuck(there)) {
      StatusHolder status(make_status(TN_FAILED_PRECONDITION, reason));
      record_failure(candidate, status.get());
    }
    report_what_lacks();
    return nullptr;
  });
}

Status shutdown_plugins() {
  return exclusively("shutdown", []() -> Status {
    Loader& l = loader();
    if (l.closed) return nullptr;
    TN_TRY(check_nothing_lives(l.loaded));
    l.closed = true;
    return shut_down(l.loaded);
  });
}

std::vector<PluginRecord> plugin_records() {
  Loader& l = loader();
  std::lock_guard lock(l.mutex);
  std::vector<PluginRecord> records;
  for (const auto& r : l.records) records.push_back(*r);
  return records;
}

std::vector<SearchFolder> searched_folders() {
  Loader& l = loader();
  std::lock_guard lock(l.mutex);
  return l.searched.empty() ? search_folders() : l.searched;
}

}  // namespace tenon
