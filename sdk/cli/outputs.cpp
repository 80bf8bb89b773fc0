#include "outputs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <tenon/disk.hpp>
#include <tenon/messages.hpp>

#include "text.h"
#include "text_data.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;  // one that cannot be looked at is no other
  return fs::equivalent(a, b, none);
}

// Whether a file that is there lies in a folder, or in one of its own.
bool is_below(const std::string& file, const std::string& folder) {
  std::error_code failed;
  fs::path path = fs::canonical(file, failed);
  while (!failed && path.has_relative_path()) {
    path = path.parent_path();
    if (is_same_file(path.string(), folder)) return true;
  }
  return false;
}

}  // namespace

void expect_other(const std::string& option, const std::string& file,
                  const TrainingConfig& config) {
  const auto refuse = [&](const char* what) {
    fail(fmt::format("{}: {} {}; expected another {}", option, shown(file), what,
                     option == "--run" ? "folder" : "file"));
  };
  if (is_same_file(file, config.file)) refuse("is the training file");
  const DataConfig& data = config.data;
  const bool of_text = data.kind == DataConfig::Kind::kText;
  std::vector<std::string> read = of_text ? first_text_files(data.paths) : data.paths;
  if (!data.tokenizer.empty()) read.push_back(data.tokenizer);
  for (const std::string& path : read) {
    if (is_same_file(file, path)) refuse("is read by this training");
  }
  const bool of_folder =
      data.kind == DataConfig::Kind::kTextFolder || data.kind == DataConfig::Kind::kImageFolder;
  if (of_folder && is_below(file, data.paths[0]))
    refuse("is in the folder of this training's data");
}

void expect_writable(const std::string& option, const std::string& file) {
  disk::Output opened;  // which leaves nothing behind
  if (const disk::Problem problem = opened.open(file))
    fail(fmt::format("{}: {}", option, messages::escaped(problem.text)), problem.code);
}

bool is_in(const std::string& file, const std::string& folder) {
  // Neither need be there.
  const auto resolved = [](const fs::path& path) {
    std::error_code failed;
    const fs::path whole = fs::weakly_canonical(fs::absolute(path, failed), failed);
    return failed ? path.lexically_normal() : whole;
  };
  const fs::path parent = resolved(fs::path(file)).parent_path();
  const fs::path own = resolved(fs::path(folder) / "x").parent_path();
  return parent == own || is_same_file(parent.string(), own.string());
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderLock::take(const std::string& option, const std::string& folder) {
  if (descriptor_ >= 0) return;  // it has it
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Some file systems have no locks: there nobody is kept out.
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail(fmt::format("{}: {}: another process trains there; expected its end, or another folder",
                     option, shown(folder)),
         TN_FAILED_PRECONDITION);
  }
}

}  // namespace tenon::cli
