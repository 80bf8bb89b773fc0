// Files that a command writes, looked at before its work. Used by train, graph and bench.
#pragma once

#include <string>

#include "config.h"

namespace tenon::cli {

// What is written may not take the place of what is read. `option`: who writes the file.
void expect_other(const std::string& option, const std::string& file, const TrainingConfig& config);

// An Error where no file can be written there.
void expect_writable(const std::string& option, const std::string& file);

// Whether the file lies, or would lie, in this folder itself.
bool is_in(const std::string& file, const std::string& folder);

// A folder in which one process at a time trains. The end of the process gives it back, a kill too.
class FolderLock {
 public:
  FolderLock() = default;
  FolderLock(const FolderLock&) = delete;
  ~FolderLock();
  // Of a folder that is there. An Error that begins with `option` where another process has it.
  void take(const std::string& option, const std::string& folder);

 private:
  int descriptor_ = -1;  // the folder, open
};

}  // namespace tenon::cli
