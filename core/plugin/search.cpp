// The search folders, from the environment and from where libtenon.so lies.
#include "plugin/search.h"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/disk.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

void add(const fs::path& folder, std::vector<SearchFolder>* folders) {
  const auto same = [&](const SearchFolder& other) { return other.folder == folder; };
  if (std::none_of(folders->begin(), folders->end(), same)) folders->push_back({folder, ""});
}

// The file that the kernel has mapped at an address; empty where there is none.
fs::path mapped_file(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    if (wanted < begin || wanted >= end) continue;
    const size_t path = line.find('/');
    return path == line.npos ? fs::path() : fs::path(line.substr(path));
  }
  return {};
}

// "<libdir>/tenon/plugins" beside libtenon.so; empty where that cannot be told.
fs::path install_folder() {
  Dl_info info;
  const auto* const here = reinterpret_cast<const void*>(&search_folders);
  if (::dladdr(here, &info) == 0 || info.dli_fname == nullptr) return {};
  fs::path file = info.dli_fname;
  // A relative path, as of a relative LD_LIBRARY_PATH, is from the directory that was the working one
  // when the library was loaded.
  if (!file.is_absolute()) file = mapped_file(here);
  std::error_code ec;
  const fs::path library = fs::canonical(file, ec);
  return ec ? fs::path() : library.parent_path() / "tenon" / "plugins";
}

}  // namespace

std::vector<SearchFolder> search_folders() {
  std::vector<SearchFolder> folders;
  // secure_getenv gives nothing in a process that has more rights than its user.
  if (const char* path = ::secure_getenv("TENON_PLUGIN_PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const size_t colon = rest.find(':');
      const fs::path entry = rest.substr(0, colon);
      rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
      if (entry.empty()) continue;
      if (entry.is_absolute()) {
        fs::path normal = entry.lexically_normal();
        if (!normal.has_filename()) normal = normal.parent_path();
        add(normal, &folders);
      } else {
        folders.push_back({entry, "not an absolute path: the working directory is not searched"});
      }
    }
  }
  if (const fs::path folder = install_folder(); !folder.empty()) {
    add(folder, &folders);
    for (SearchFolder& searched : folders) searched.is_installs = searched.folder == folder;
  }
  return folders;
}

std::vector<fs::path> libraries_in(const fs::path& folder, std::error_code* failed) {
  std::vector<std::string> names;
  const int error = disk::names_in(folder.string(), names);
  if (error == ENOMEM) throw std::bad_alloc();
  failed->assign(error, std::generic_category());
  std::vector<fs::path> libraries;
  for (const std::string& name : names) {
    if (name.starts_with("lib") && fs::path(name).extension() == ".so") {
      libraries.push_back(folder / name);
    }
  }
  return libraries;
}

}  // namespace tenon
