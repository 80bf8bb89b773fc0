// Checkpoints of the command's training: where they go, when they are written, and from which one it
// goes on. Used by train.cpp.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tenon/checkpoint.hpp>

#include "command.h"
#include "outputs.h"

namespace tenon::cli {

class Checkpoints {
 public:
  // --checkpoint DIR, --every N and --resume DIR. Without --checkpoint they go to `usual`, unless it
  // is empty. Throws UsageError.
  Checkpoints(const Line& line, const std::string& usual);
  Checkpoints(const Checkpoints&) = delete;
  ~Checkpoints();
  static void add_options(boost::program_options::options_description& options);

  // Loads the newest checkpoint of --resume, and gives the steps that were made; 0: the training
  // begins. Says which options then mean nothing. An Error where there is none, unless it is the folder of --checkpoint; and where that
  // folder has checkpoints of a training with which this one does not go on.
  int64_t begin(const Checkpoint& checkpoint);
  // The file that --save names is none of these.
  void expect_other(const std::string& save) const;
  // From here on SIGINT, SIGTERM and SIGHUP are waited for, where --checkpoint says where to save.
  void catch_signals();
  // After each step of all `steps`: writes what is due. True: a signal came, and the training is to
  // end. `usual` is what stands for --every where it was not given.
  bool after_step(const Checkpoint& checkpoint, int64_t step, int64_t steps, int64_t usual);
  // The signal that ended the training; 0: none did.
  int signal() const;
  // "stopped by SIGTERM after step 40; it goes on with --resume runs/a"
  std::string stopped_line(int64_t step) const;

 private:
  int64_t resume(const Checkpoint& checkpoint) const;
  void lock();
  void expect_own_folder();

  std::string folder_name_, resumed_;
  bool is_runs_ = false;                     // the folder is in that of a run
  std::vector<std::string> of_a_beginning_;  // options that mean nothing to what goes on
  std::optional<CheckpointFolder> folder_;
  FolderLock lock_;
  int64_t every_ = 0;
  bool catches_ = false;
  struct sigaction before_[3] = {};  // of SIGINT, SIGTERM and SIGHUP
};

}  // namespace tenon::cli
