#include "plugin/trust.h"

#include <sys/auxv.h>
#include <sys/stat.h>

#include <mutex>
#include <set>

#include "base/log.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

// May every user write the file, or add and replace files in the folder?
bool all_may_write(const fs::path& path, bool sticky_protects) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & S_IWOTH) == 0) return false;
  return !(sticky_protects && (info.st_mode & S_ISVTX) != 0);
}

bool said_before(const std::string& what) {
  static auto* mutex = new std::mutex();
  static auto* said = new std::set<std::string>();
  const std::lock_guard lock(*mutex);
  return !said->insert(what).second;
}

}  // namespace

std::string open_to_others(const fs::path& path) {
  std::error_code ec;
  const fs::path real = fs::canonical(path, ec);
  if (ec) return "";
  // In a folder with plugins a new file is one more plugin, whoever may rename the others.
  fs::path open;
  if (all_may_write(real, /*sticky_protects=*/false)) open = real;
  for (fs::path above = real; open.empty() && above.has_relative_path();) {
    above = above.parent_path();
    if (all_may_write(above, /*sticky_protects=*/true)) open = above;
  }
  if (open.empty()) return "";
  const bool folder = fs::is_directory(open, ec);
  return fmt::format("every user of this machine may write the {} {} (chmod o-w it)",
                     folder ? "folder" : "file", open.string());
}

Status check_trust(const fs::path& path) {
  const std::string reason = open_to_others(path);
  if (reason.empty()) return nullptr;
  if (::getauxval(AT_SECURE) != 0) {
    return error(TN_FAILED_PRECONDITION,
                 "{}; a process with more rights than its user loads nothing from there", reason);
  }
  if (!said_before(reason)) {
    log_line(2, fmt::format("plugins: {}; what is loaded from there runs with your rights", reason)
                    .c_str());
  }
  return nullptr;
}

}  // namespace tenon
