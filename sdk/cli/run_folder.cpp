#include "run_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "run_report.h"
#include "text.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

constexpr const char *kConfig = "config.json", *kLog = "log.jsonl", *kReport = "report.html";
using nlohmann::ordered_json;

// Whether it is so deep as lines of a log are: deeper ones would take the stack of who reads them.
bool is_flat(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && in_string) {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '{' || c == '[') && ++depth > 2) {
      return false;
    } else if (!in_string && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return true;
}

// The lines of a log up to so many steps. What is none, as one that was cut off by a kill, is left out.
std::vector<ordered_json> lines_until(const std::string& path, int64_t steps) {
  std::vector<ordered_json> lines;
  if (std::error_code none; !fs::exists(path, none)) return lines;
  const std::string text = read_text(path, kMostWritten);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view row = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (!is_flat(row)) continue;
    ordered_json line = ordered_json::parse(row, nullptr, false);
    if (!line.is_object() || !line.contains("step") || line.contains("final")) continue;
    const ordered_json& step = line["step"];
    const bool fits =
        step.is_number_unsigned() && step.get<uint64_t>() <= static_cast<uint64_t>(steps);
    if (fits) lines.push_back(std::move(line));
  }
  return lines;
}

// Puts what the training was told beside its file in place of what the file says. True: something changed.
bool put_options(ordered_json* json, const TrainingConfig& config) {
  bool changed = false;
  const auto put = [&](const char* name, const ordered_json& value, const ordered_json& absent) {
    const auto found = json->find(name);
    if ((found != json->end() ? *found : absent) == value) return;
    (*json)[name] = value;
    changed = true;
  };
  put("epochs", config.epochs, 0);
  put("steps", config.steps, 0);
  put("seed", config.seed, 0);
  put("device", config.device, "");
  put("compile", config.compile, false);
  if (config.amp.policy.empty() || config.amp.line != 0) return changed;
  const ordered_json whole{{"policy", config.amp.policy}, {"dtype", config.amp.dtype}};
  put("amp", config.amp.dtype.empty() ? ordered_json(config.amp.policy) : whole, nullptr);
  return changed;
}

// The training's file as it is trained, whose data is found from any folder.
std::string config_from_anywhere(const TrainingConfig& config) {
  std::string text = read_text(config.file, kMostWritten);
  const fs::path folder = fs::absolute(config.file).parent_path();
  bool changed = false;
  const auto resolve = [&](ordered_json& value) {
    if (!value.is_string()) return;
    const fs::path path = value.get<std::string>();
    if (path.is_absolute()) return;
    value = (folder / path).lexically_normal().string();
    changed = true;
  };
  ordered_json json = ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) return text;
  const bool told = put_options(&json, config);
  std::string in_place = told ? json.dump(2) + "\n" : text;
  try {
    for (const std::string& name : config.data.path_fields) {
      ordered_json& paths = json.at("data").at(name);
      if (!paths.is_array()) resolve(paths);
      for (size_t i = 0; paths.is_array() && i < paths.size(); ++i) resolve(paths[i]);
    }
    return changed ? json.dump(2) + "\n" : in_place;
  } catch (const ordered_json::exception&) {  // a path that is no UTF-8 stays as it is
    return in_place;
  }
}

}  // namespace

RunFolder::RunFolder(const Line& line) {
  if (line.has("run")) folder_ = path_of(line, "--run");
  expect_room();
}

void RunFolder::add_options(po::options_description& options) {
  options.add_options()  //
      ("run", po::value<std::string>()->value_name("DIR"),
       "write config, log, checkpoints, TensorBoard's file and a report to this folder");
}

std::string RunFolder::checkpoints_in(const std::string& folder) {
  return (fs::path(folder) / "checkpoints").string();
}

std::string RunFolder::file(const char* name) const { return (fs::path(folder_) / name).string(); }

std::vector<std::string> RunFolder::files() const {
  if (!is_open()) return {};
  return {file(kConfig), file(kLog), file(kReport)};
}

void RunFolder::expect_other_data(const TrainingConfig& config) const {
  for (const std::string& own : files()) {
    std::error_code none;
    if (own == file(kConfig) && fs::equivalent(own, config.file, none)) continue;
    expect_other("--run", own, config);
  }
}

// What no folder or file can be made in the place of.
void RunFolder::expect_room() const {
  if (!is_open()) return;
  std::error_code failed;
  if (fs::is_symlink(fs::symlink_status(folder_, failed)) && !fs::exists(folder_, failed)) {
    fail(fmt::format("--run: {} is a link to {}, which is not there; expected a folder",
                     shown(folder_), shown(fs::read_symlink(folder_, failed).string())));
  }
  for (const std::string& own : files()) {
    if (fs::is_directory(own, failed)) {
      fail(fmt::format("--run: {} is a folder, where a run has a file; expected another folder",
                       shown(own)));
    }
  }
}

void RunFolder::make_room_for(const std::string& save) const {
  if (!is_open()) return;
  const std::string name = fs::path(save).filename().string();
  const bool is_own =
      name == kConfig || name == kLog || name == kReport || name.starts_with("events.out.tfevents");
  if (!is_in(save, folder_)) return;
  if (is_own)
    fail(fmt::format("--save: {} is a file of the run itself; expected another name", shown(save)));
  std::error_code failed;  // who writes the file says it
  fs::create_directories(folder_, failed);
}

// One that was killed before its first line has an empty log.
bool RunFolder::is_run() const {
  std::error_code failed;
  if (!fs::is_regular_file(file(kLog), failed)) return false;
  std::ifstream log(file(kLog), std::ios::binary);
  std::string line(1 << 16, '\0');
  log.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(log.gcount()));
  const size_t end = line.find('\n');
  if (end == line.npos) {  // cut off by a kill
    constexpr std::string_view kBegin = "{\"step\":";
    const size_t n = std::min(line.size(), kBegin.size());
    return std::string_view(line).substr(0, n) == kBegin.substr(0, n);
  }
  line.resize(end);
  if (!is_flat(line)) return false;
  const ordered_json first = ordered_json::parse(line, nullptr, false);
  return first.is_object() && first.contains("step");
}

void RunFolder::begin(const Training& training, int64_t steps) {
  if (!is_open()) return;
  training_ = &training;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed)
    fail(fmt::format("--run: {}: the folder cannot be made: {}", shown(folder_), failed.message()));
  lock_.take("--run", folder_);
  const bool is_runs = is_run();
  for (const std::string& own : files()) {
    if (is_runs || !fs::exists(own, failed)) continue;
    fail(fmt::format(
        "--run: {} is there, in a folder that is of no run, which would have a {} of its "
        "steps; expected another folder",
        shown(own), kLog));
  }
  if (steps > 0) log_ = lines_until(file(kLog), steps);
  std::string text;
  for (const ordered_json& line : log_) text += line.dump() + "\n";
  write_text(file(kLog), text);
  write_text(file(kConfig), config_from_anywhere(training.config));
  // Readers drop what is at this step and behind it, and the point of the checkpoint itself is right.
  writer_.emplace(folder_, steps > 0 ? steps + 1 : 0);
  last_line_ = std::chrono::steady_clock::now();
}

void RunFolder::add(int64_t step, int64_t items, ordered_json values, double lr) {
  if (!is_open()) return;
  const auto now = std::chrono::steady_clock::now();
  const double seconds =
      std::chrono::duration<double>(now - std::exchange(last_line_, now)).count();
  ordered_json line{{"step", step}};
  values.erase("step");
  line.update(values);
  line["lr"] = lr;
  line["seconds"] = seconds;
  line["items_per_second"] = static_cast<double>(items) / std::max(seconds, 1e-9);
  line["peak_memory"] = training_->device.memory_stats().peak_allocated;
  for (const auto& [name, value] : line.items()) {
    if (name != "step" && value.is_number()) writer_->add_scalar(name, value.get<double>(), step);
  }
  writer_->flush();
  append(std::move(line));
  // It has the whole log, so it is not written for each line of a fast training.
  if (now - last_report_ < std::chrono::seconds(1)) return;
  write_report();
  last_report_ = now;
}

void RunFolder::end(const std::vector<Score>& scores) {
  if (!is_open()) return;
  ordered_json line{{"step", log_.empty() ? 0 : log_.back()["step"].get<int64_t>()}};
  for (const Score& s : scores) line["final"][s.json_key()] = s.value;
  append(std::move(line));
  write_report();
}

void RunFolder::stop() {
  if (is_open()) write_report();
}

void RunFolder::append(ordered_json line) {
  std::ofstream log(file(kLog), std::ios::app | std::ios::binary);
  errno = 0;
  log << line.dump() << "\n" << std::flush;
  if (!log) {
    fail(fmt::format("--run: {}: a line cannot be written: {}", shown(file(kLog)),
                     std::strerror(errno != 0 ? errno : EIO)));
  }
  log_.push_back(std::move(line));
}

void RunFolder::write_report() {
  write_text(file(kReport), run_report(training_->config.file, training_->device.name(), log_));
}

}  // namespace tenon::cli
