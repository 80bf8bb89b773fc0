// tenon train: a network from a JSON file, an epoch or some steps a line.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "progress.h"
#include "schedule.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using nlohmann::ordered_json;

// The losses of some steps. Reading one back waits for the device, so they are read some at a
// time; a training that diverged stops there.
class Losses {
 public:
  // `where` is said before the step's number where the training diverged.
  explicit Losses(const TrainingConfig& config, std::string where = "")
      : config_(config), where_(std::move(where)) {}

  void add(const Tensor& loss, int64_t rows) {
    constexpr size_t kAtOnce = 64;
    unread_.emplace_back(loss, rows);
    if (unread_.size() == kAtOnce) read();
  }
  // The mean by rows of what was added since the last mean.
  double mean() {
    read();
    return std::exchange(sum_, 0) / static_cast<double>(std::exchange(rows_, 0));
  }

 private:
  void read() {
    for (const auto& [loss, rows] : unread_) {
      const auto value = loss.item<double>();
      ++step_;
      if (!std::isfinite(value)) diverged(value);
      sum_ += value * static_cast<double>(rows);
      rows_ += rows;
    }
    unread_.clear();
  }
  [[noreturn]] void diverged(double loss) const {
    std::string lr;
    for (const JsonMember& option : config_.optimizer.options) {
      if (option.name == "lr") lr = fmt::format(" than {}", option.value.real);
    }
    fail(fmt::format("{}step {}: the loss is {}: the training diverged; try a smaller lr{}", where_,
                     step_, std::isnan(loss) ? "nan" : "infinite", lr),
         TN_FAILED_PRECONDITION);
  }

  const TrainingConfig& config_;
  const std::string where_;
  std::vector<std::pair<Tensor, int64_t>> unread_;
  int64_t step_ = 0;
  double sum_ = 0;
  int64_t rows_ = 0;
};

// Steps with the learning rates of the schedule.
class Stepper {
 public:
  Stepper(const Training& training, int64_t steps) : training_(training), steps_(steps) {
    const ScheduleConfig& schedule = training.config.schedule;
    if (schedule.line == 0) return;
    try {
      base_ = training.optimizer.lr();
    } catch (const Error& error) {
      fail_at(training.config.file, schedule.line, fmt::format("schedule: {}", error.what()));
    }
  }

  Step step(const Tensor& x, const Tensor& y) {
    const ScheduleConfig& schedule = training_.config.schedule;
    if (schedule.line != 0) {
      rate_ = learning_rate(schedule, base_, done_, steps_);
      training_.optimizer.set_lr(rate_);
    }
    ++done_;
    return train_step(training_, x, y);
  }
  // Of the last step, where there is a schedule: as the end of a line, and into a result.
  std::string rate_text() const {
    return training_.config.schedule.line == 0 ? "" : fmt::format("  lr {:.6f}", rate_);
  }
  void add_rate(ordered_json& result) const {
    if (training_.config.schedule.line != 0) result["lr"] = rate_;
  }

 private:
  const Training& training_;
  const int64_t steps_;
  int64_t done_ = 0;
  double base_ = 0, rate_ = 0;
};

struct Epoch {
  double loss = 0;
  double accuracy = 0;  // on the batches as they were trained on, with dropout
};

Epoch train_epoch(const Training& training, data::DataLoader& loader, Stepper& stepper,
                  Progress& progress, const std::string& label) {
  Losses losses(training.config, label + ", ");
  Tensor right;  // on the device
  for (auto [x, y] : loader) {
    const Tensor target = y.to(training.device);
    const Step step = stepper.step(x.to(training.device), target);
    const NoGrad no_grad;
    losses.add(step.loss, x.size(0));
    const Tensor hits = sum(eq(argmax(step.output, 1), target));
    right = right.defined() ? add(right, hits) : hits;
    progress.step(label);
  }
  const auto n = static_cast<double>(training.train.size());
  return {losses.mean(), static_cast<double>(right.item<int64_t>()) / n};
}

// "epoch  3/40"
std::string counted(const char* what, int64_t i, int64_t n) {
  return fmt::format("{} {:{}}/{}", what, i, fmt::formatted_size("{}", n), n);
}

void print_line(Progress& progress, bool json, const std::string& line) {
  progress.clear();
  if (json) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

ordered_json train_table(const Training& training, bool json) {
  const TrainingConfig& config = training.config;
  data::DataLoader loader(training.train, {.batch_size = config.batch_size, .shuffle = true});
  int64_t steps = 0;
  if (__builtin_mul_overflow(config.epochs, loader.size(), &steps)) steps = INT64_MAX;
  Stepper stepper(training, steps);
  Progress progress(steps);
  ordered_json epochs = ordered_json::array();
  for (int64_t i = 1; i <= config.epochs; ++i) {
    const std::string label = counted("epoch", i, config.epochs);
    const Epoch epoch = train_epoch(training, loader, stepper, progress, label);
    epochs.push_back({{"loss", epoch.loss}, {"accuracy", epoch.accuracy}});
    stepper.add_rate(epochs.back());
    print_line(progress, json,
               fmt::format("{}  loss {:.4f}  accuracy {:.3f}{}", label, epoch.loss, epoch.accuracy,
                           stepper.rate_text()));
  }
  return epochs;
}

// A line for each twentieth of the steps: the mean loss of these.
ordered_json train_text(const Training& training, bool json) {
  const TrainingConfig& config = training.config;
  const int64_t steps = config.steps, part = std::max<int64_t>(steps / 20, 1);
  TextBatches batches(training);
  Stepper stepper(training, steps);
  Progress progress(steps);
  Losses losses(config);
  ordered_json list = ordered_json::array();
  for (int64_t i = 1; i <= steps; ++i) {
    const auto [x, y] = batches.next();
    const Step step = stepper.step(x.to(training.device), y.to(training.device));
    losses.add(step.loss, x.size(0));
    const std::string label = counted("step", i, steps);
    progress.step(label);
    if (i % part != 0 && i != steps) continue;
    const double loss = losses.mean();
    list.push_back({{"step", i}, {"loss", loss}});
    stepper.add_rate(list.back());
    print_line(progress, json, fmt::format("{}  loss {:.4f}{}", label, loss, stepper.rate_text()));
  }
  return list;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;  // one that cannot be looked at is no other
  return std::filesystem::equivalent(a, b, none);
}

// Before the work, not after it. Weights would take the place of what they come from.
void check_target(const std::string& file, const TrainingConfig& config) {
  const auto refuse = [&](const char* what) {
    fail(fmt::format("--save: {} {}; expected another file", shown(file), what));
  };
  if (is_same_file(file, config.file)) refuse("is the training file");
  const DataConfig& data = config.data;
  const bool of_text = data.kind == DataConfig::Kind::kText;
  for (const std::string& read : of_text ? first_text_files(data.paths) : data.paths) {
    if (is_same_file(file, read)) refuse("is read by this training");
  }
  try {
    Object::create("SafetensorsWriter", file).invoke<void>("check");
  } catch (const Error& error) {
    fail(fmt::format("--save: {}", error.what()), error.code());
  }
}

int run(const Line& line) {
  const bool json = line.flag("json");
  const std::string save = line.has("save") ? path_of(line, "--save") : "";
  Training training;
  prepare(training, path_of(line, "FILE.json"),
          {.device = line.get_or<std::string>("device", ""),
           .seed = line.has("seed") ? integer_of(line, "seed", 0, INT64_MAX) : -1,
           .epochs = line.has("epochs") ? integer_of(line, "epochs", 1, kMostCounted) : -1,
           .steps = line.has("steps") ? integer_of(line, "steps", 1, kMostCounted) : -1});
  if (!save.empty()) check_target(save, training.config);

  const auto start = std::chrono::steady_clock::now();
  const char* parts = training.of_text() ? "steps" : "epochs";
  const ordered_json list =
      training.of_text() ? train_text(training, json) : train_table(training, json);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Score result = score(training);
  if (!save.empty()) tenon::save(saved_state(training), save);

  if (json) {
    fmt::print("{}\n", ordered_json{{result.json_key(), result.value},
                                    {"device", training.device.name()},
                                    {"seed", training.config.seed},
                                    {"seconds", seconds.count()},
                                    {parts, list}}
                           .dump(2));
  } else {
    fmt::print("trained in {:.1f} s on {}\n{}\n", seconds.count(), training.device.name(),
               result.line());
  }
  return 0;
}

}  // namespace

Command train_command() {
  Command command{"train", "Trains a network that a JSON file describes, and tests it.",
                  "FILE.json", "model, data, loss and optimizer (docs/training.md)"};
  command.options.add_options()  //
      ("device", po::value<std::string>()->value_name("NAME"),
       "where to compute (tenon devices), instead of the file's, or the cpu")         //
      ("seed", po::value<std::string>()->value_name("N"), "instead of the file's")    //
      ("epochs", po::value<std::string>()->value_name("N"), "instead of the file's")  //
      ("steps", po::value<std::string>()->value_name("N"), "instead of the file's")   //
      ("save", po::value<std::string>()->value_name("FILE"),
       "write the trained weights to this safetensors file")        //
      ("json", po::bool_switch(), "the result as one JSON object")  //
      ("help,h", "this text");
  command.run = run;
  return command;
}

}  // namespace tenon::cli
