#include "run_folder.h"

#include <cmath>
#include <filesystem>
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
using nlohmann::ordered_json;

// The lines of a log up to so many steps. One that was cut off by a kill is left out.
std::vector<ordered_json> lines_until(const std::string& path, int64_t steps) {
  std::vector<ordered_json> lines;
  if (std::error_code none; !fs::exists(path, none)) return lines;
  const std::string text = read_text(path);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    ordered_json line = ordered_json::parse(text.substr(at, end - at), nullptr, false);
    at = end + 1;
    const bool is_line =
        line.is_object() && line.contains("step") && line["step"].is_number_integer();
    if (is_line && line["step"].get<int64_t>() <= steps && !line.contains("final"))
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

RunFolder::RunFolder(const Line& line) {
  if (line.has("run")) folder_ = path_of(line, "--run");
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

void RunFolder::open(const Training& training) {
  if (!is_open()) return;
  training_ = &training;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed)
    fail(fmt::format("--run: {}: the folder cannot be made: {}", shown(folder_), failed.message()));
  write_text(file("config.json"), read_text(training.config.file));
}

void RunFolder::begin(int64_t steps) {
  if (!is_open()) return;
  if (steps > 0) log_ = lines_until(file("log.jsonl"), steps);
  write_log();
  writer_.emplace(folder_, steps);
  last_ = std::chrono::steady_clock::now();
}

void RunFolder::add(int64_t step, int64_t items, ordered_json values, double lr) {
  if (!is_open()) return;
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(last_, now)).count();
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
  log_.push_back(std::move(line));
  write_log();
  write_report();
}

void RunFolder::end(const std::vector<Score>& scores) {
  if (!is_open()) return;
  ordered_json line{{"step", log_.empty() ? 0 : log_.back()["step"].get<int64_t>()}};
  for (const Score& s : scores) line["final"][s.json_key()] = s.value;
  log_.push_back(std::move(line));
  write_log();
  write_report();
}

// Whole each time: a log is short, and a kill leaves the old one or the new one.
void RunFolder::write_log() const {
  std::string text;
  for (const ordered_json& line : log_) text += line.dump() + "\n";
  write_text(file("log.jsonl"), text);
}

void RunFolder::write_report() const {
  write_text(file("report.html"),
             run_report(training_->config.file, training_->device.name(), log_));
}

}  // namespace tenon::cli
