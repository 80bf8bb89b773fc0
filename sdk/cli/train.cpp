// tenon train: a network from a JSON file, an epoch a line.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "progress.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using nlohmann::ordered_json;

struct Epoch {
  double loss = 0;
  double accuracy = 0;  // on the batches as they were trained on, with dropout
};

// The losses of an epoch's steps. Reading one back waits for the device, so they are read some at a
// time; a training that diverged stops there.
class Losses {
 public:
  Losses(const TrainingConfig& config, const std::string& epoch) : config_(config), epoch_(epoch) {}

  void add(const Tensor& loss, int64_t rows) {
    constexpr size_t kAtOnce = 64;
    unread_.emplace_back(loss, rows);
    if (unread_.size() == kAtOnce) read();
  }
  double sum() {
    read();
    return sum_;
  }

 private:
  void read() {
    for (const auto& [loss, rows] : unread_) {
      const auto value = loss.item<double>();
      ++step_;
      if (!std::isfinite(value)) diverged(value);
      sum_ += value * static_cast<double>(rows);
    }
    unread_.clear();
  }
  [[noreturn]] void diverged(double loss) const {
    std::string lr;
    for (const JsonMember& option : config_.optimizer.options) {
      if (option.name == "lr") lr = fmt::format(" than {}", option.value.real);
    }
    fail(fmt::format("{}, step {}: the loss is {}: the training diverged; try a smaller lr{}",
                     epoch_, step_, std::isnan(loss) ? "nan" : "infinite", lr),
         TN_FAILED_PRECONDITION);
  }

  const TrainingConfig& config_;
  const std::string& epoch_;
  std::vector<std::pair<Tensor, int64_t>> unread_;
  int64_t step_ = 0;
  double sum_ = 0;
};

Epoch train_epoch(const Training& training, data::DataLoader& loader, Progress& progress,
                  const std::string& label) {
  Losses losses(training.config, label);
  Tensor right;  // on the device
  for (auto [x, y] : loader) {
    const Tensor target = y.to(training.device);
    const Step step = train_step(training, x.to(training.device), target);
    const NoGrad no_grad;
    losses.add(step.loss, x.size(0));
    const Tensor hits = sum(eq(argmax(step.output, 1), target));
    right = right ? add(right, hits) : hits;
    progress.step(label);
  }
  const auto n = static_cast<double>(training.train.size());
  return {losses.sum() / n, static_cast<double>(right.item<int64_t>()) / n};
}

// Before the work, not after it.
void check_target(const std::string& file) {
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
  prepare(training, path_of(line, "FILE.json"), line.get("device"),
          line.has("seed") ? integer_of(line, "seed", 0, INT64_MAX) : -1,
          line.has("epochs") ? integer_of(line, "epochs", 1, kMostCounted) : -1);
  if (!save.empty()) check_target(save);
  const TrainingConfig& config = training.config;

  const auto start = std::chrono::steady_clock::now();
  data::DataLoader loader(training.train, {.batch_size = config.batch_size, .shuffle = true});
  Progress progress(config.epochs * loader.size());
  ordered_json epochs = ordered_json::array();
  for (int64_t i = 1; i <= config.epochs; ++i) {
    const std::string label =
        fmt::format("epoch {:{}}/{}", i, fmt::formatted_size("{}", config.epochs), config.epochs);
    const Epoch epoch = train_epoch(training, loader, progress, label);
    epochs.push_back({{"loss", epoch.loss}, {"accuracy", epoch.accuracy}});
    progress.clear();
    if (!json) {
      fmt::print("{}  loss {:.4f}  accuracy {:.3f}\n", label, epoch.loss, epoch.accuracy);
      std::fflush(stdout);
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double accuracy = test_accuracy(training);
  if (!save.empty()) tenon::save(training.model.state_dict(), save);

  if (json) {
    fmt::print("{}\n", ordered_json{{"test_accuracy", accuracy},
                                    {"device", training.device.name()},
                                    {"seed", config.seed},
                                    {"seconds", seconds.count()},
                                    {"epochs", epochs}}
                           .dump(2));
  } else {
    fmt::print("trained in {:.1f} s on {}\n{}\n", seconds.count(), training.device.name(),
               accuracy_line(accuracy));
  }
  return 0;
}

}  // namespace

Command train_command() {
  Command command{"train", "Trains a network that a JSON file describes, and tests it.",
                  "FILE.json", "model, data, loss and optimizer (see examples/digits)"};
  command.options.add_options()  //
      ("device", po::value<std::string>()->value_name("NAME")->default_value("cpu"),
       "where to compute (tenon devices)")                                            //
      ("seed", po::value<std::string>()->value_name("N"), "instead of the file's")    //
      ("epochs", po::value<std::string>()->value_name("N"), "instead of the file's")  //
      ("save", po::value<std::string>()->value_name("FILE"),
       "write the trained weights to this safetensors file")        //
      ("json", po::bool_switch(), "the result as one JSON object")  //
      ("help,h", "this text");
  command.run = run;
  return command;
}

}  // namespace tenon::cli
