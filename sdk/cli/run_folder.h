// The folder of a run, `tenon train --run DIR`: what was trained, a log, TensorBoard's file, the
// checkpoints, and a page with the curves. Used by train.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tenon/tensorboard.hpp>

#include "command.h"
#include "outputs.h"
#include "scores.h"

namespace tenon::cli {

class RunFolder {
 public:
  // --run DIR. Without it nothing below does anything. Throws UsageError.
  explicit RunFolder(const Line& line);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  static void add_options(boost::program_options::options_description& options);
  // Where a run of this folder has its checkpoints.
  static std::string checkpoints_in(const std::string& folder);

  bool is_open() const { return !folder_.empty(); }
  // "" where there is no --run.
  std::string checkpoints() const { return is_open() ? checkpoints_in(folder_) : ""; }

  // Refuses a training that reads one of the folder's own files, but for its config.json.
  void expect_other_data(const TrainingConfig& config) const;
  // The file that --save names is none of the folder's own; it may lie in the folder, which is made then.
  void make_room_for(const std::string& save) const;

  // Makes the folder, takes it for this process, and writes config.json, the training's file with the
  // whole paths of its data and with what the command's line says instead of it. The training goes on behind so many steps: what the log has of later ones is
  // dropped.
  void begin(const Training& training, int64_t steps);
  // A line of the result: the items since the one before, and its values.
  void add(int64_t step, int64_t items, nlohmann::ordered_json values, double lr);
  void end(const std::vector<Score>& scores);
  // A signal ended it.
  void stop();

 private:
  void expect_room() const;
  std::string file(const char* name) const;
  // What it writes there itself.
  std::vector<std::string> files() const;
  bool is_run() const;
  void append(nlohmann::ordered_json line);
  void write_report();

  std::string folder_;
  FolderLock lock_;
  const Training* training_ = nullptr;
  std::vector<nlohmann::ordered_json> log_;  // the lines of log.jsonl
  std::optional<SummaryWriter> writer_;
  std::chrono::steady_clock::time_point last_line_, last_report_{};
};

}  // namespace tenon::cli
