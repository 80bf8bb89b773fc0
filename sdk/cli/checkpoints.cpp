#include "checkpoints.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "config.h"
#include "run_folder.h"
#include "text.h"

namespace tenon::cli {
namespace {

namespace po = boost::program_options;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t caught = 0;

const char* name_of(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || std::filesystem::equivalent(a, b, none);
}

bool is_folder(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none);
}

}  // namespace

Checkpoints::Checkpoints(const Line& line, const std::string& usual) {
  if (line.has("checkpoint") && !usual.empty())
    throw UsageError("--run DIR has its checkpoints there; expected it or --checkpoint");
  folder_name_ = line.has("checkpoint") ? path_of(line, "--checkpoint") : usual;
  is_runs_ = !usual.empty();
  if (!folder_name_.empty()) folder_.emplace(folder_name_);
  if (line.has("every")) {
    if (!folder_)
      throw UsageError("--every is of --checkpoint DIR or --run DIR, which are missing");
    every_ = integer_of(line, "every", 1, kMostCounted);
  }
  if (!line.has("resume")) return;
  resumed_ = path_of(line, "--resume");
  for (const char* option : {"seed", "init"})
    if (line.has(option)) of_a_beginning_.push_back(option);
  // A run has its checkpoints in a folder of their own, also before there are any.
  const std::string inner = RunFolder::checkpoints_in(resumed_);
  if (inner == folder_name_ || is_folder(inner)) resumed_ = inner;
}

Checkpoints::~Checkpoints() {
  if (!catches_) return;
  for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

void Checkpoints::add_options(po::options_description& options) {
  options.add_options()  //
      ("checkpoint", po::value<std::string>()->value_name("DIR"),
       "write checkpoints to this folder, and when SIGINT, SIGTERM or SIGHUP comes")  //
      ("every", po::value<std::string>()->value_name("N"),
       "steps between checkpoints; default: one for each line of the result")  //
      ("resume", po::value<std::string>()->value_name("DIR"),
       "go on from the newest checkpoint of this folder");
}

int64_t Checkpoints::begin(const Checkpoint& checkpoint) {
  lock();  // before what another process writes there is read
  const int64_t steps = resume(checkpoint);
  for (const std::string& option : of_a_beginning_) {
    if (steps == 0) break;
    fmt::print(
        stderr,
        "--{} is passed over: the training goes on with the {} of its checkpoint of step {}\n",
        option, option == "seed" ? "random numbers" : "weights", steps);
  }
  if (folder_) expect_own_folder();
  return steps;
}

int64_t Checkpoints::resume(const Checkpoint& checkpoint) const {
  if (resumed_.empty()) return 0;
  if (std::error_code none; std::filesystem::is_regular_file(resumed_, none)) {
    fail(fmt::format(
        "--resume: {} is a file; expected the folder of a run or of checkpoints, or --init "
        "of the file, which begins with its weights alone",
        shown(resumed_)));
  }
  const CheckpointFolder from(resumed_);
  const std::vector<int64_t> all = from.steps();
  if (all.empty()) {
    if (is_same_folder(resumed_, folder_name_)) return 0;
    fail(fmt::format("--resume: there is no checkpoint in {}", shown(resumed_)), TN_NOT_FOUND);
  }
  try {
    return from.resume(checkpoint);
  } catch (const Error& error) {
    fail(fmt::format("--resume: {}", error.what()), error.code());
  }
}

// Before the work, not after it. Of two trainings the newest checkpoint would be that of either.
void Checkpoints::expect_own_folder() {
  const std::vector<int64_t> there = folder_->steps();
  if (!there.empty() && (resumed_.empty() || !is_same_folder(resumed_, folder_name_))) {
    fail(fmt::format(
        "{} has a checkpoint of step {} of another training; expected --resume of it, or "
        "another folder",
        shown(folder_name_), there.back()));
  }
  std::error_code failed;
  std::filesystem::create_directories(folder_name_, failed);
  if (!failed && ::access(folder_name_.c_str(), W_OK | X_OK) != 0)
    failed = std::error_code(errno, std::generic_category());
  if (failed) {
    fail(fmt::format("{}: no checkpoints can be written there: {}", shown(folder_name_),
                     failed.message()));
  }
  lock();
}

// The folder of a run has its checkpoints in one of its own, which may be named by another process.
void Checkpoints::lock() {
  if (is_folder(folder_name_)) lock_.take(is_runs_ ? "--run" : "--checkpoint", folder_name_);
}

void Checkpoints::expect_other(const std::string& save) const {
  const std::string name = std::filesystem::path(save).filename().string();
  for (const std::string& folder : {folder_name_, resumed_}) {
    if (folder.empty() || !name.starts_with("checkpoint-") || !is_in(save, folder)) continue;
    fail(fmt::format("--save: {} is named as a checkpoint of this training; expected another name",
                     shown(save)));
  }
}

void Checkpoints::catch_signals() {
  if (!folder_) return;
  caught = 0;
  catches_ = true;
  struct sigaction action {};
  action.sa_handler = [](int signal) { caught = signal; };
  // The first one lets the step end and saves; a second one of its kind ends the process as ever.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    // Who started this wants it to go on: a shell's background job.
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

bool Checkpoints::after_step(const Checkpoint& checkpoint, int64_t step, int64_t steps,
                             int64_t usual) {
  if (!folder_) return false;
  const bool stops = caught != 0;
  const int64_t every = every_ > 0 ? every_ : usual;
  if (stops || step % every == 0 || step == steps) folder_->save(checkpoint, step);
  return stops;
}

int Checkpoints::signal() const { return catches_ ? caught : 0; }

std::string Checkpoints::stopped_line(int64_t step) const {
  return fmt::format("stopped by {} after step {}; it goes on with --resume {}", name_of(signal()),
                     step, shown(folder_name_));
}

}  // namespace tenon::cli
