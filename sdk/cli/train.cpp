// tenon train: a network from a JSON file, an epoch a line.
#include <chrono>
#include <filesystem>

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

Epoch train_epoch(const Training& training, data::DataLoader& loader, Progress& progress,
                  const std::string& label) {
  Tensor loss_sum, right;  // on the device: reading them back at each step would wait for it
  for (auto [x, y] : loader) {
    const Tensor target = y.to(training.device);
    const Step step = train_step(training, x.to(training.device), target);
    const NoGrad no_grad;
    const Tensor loss = mul(step.loss, static_cast<double>(x.size(0)));
    const Tensor hits = sum(eq(argmax(step.output, 1), target));
    loss_sum = loss_sum ? add(loss_sum, loss) : loss;
    right = right ? add(right, hits) : hits;
    progress.step(label);
  }
  const auto n = static_cast<double>(training.train.size());
  return {loss_sum.item<double>() / n, static_cast<double>(right.item<int64_t>()) / n};
}

// Before the work, not after it.
void check_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    fail(fmt::format("--save {}: there is no folder {}", file, folder.string()), TN_NOT_FOUND);
  }
}

int run(const Line& line) {
  const bool json = line.flag("json");
  const bool save = line.has("save");
  if (save) check_folder(line.get("save"));
  Training training;
  prepare(training, line.get("FILE.json"), line.get("device"),
          line.has("seed") ? at_least(line, "seed", 0) : -1,
          line.has("epochs") ? at_least(line, "epochs", 1) : -1);
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
  if (save) tenon::save(training.model.state_dict(), line.get("save"));

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
       "where to compute (tenon devices)")                                        //
      ("seed", po::value<int64_t>()->value_name("N"), "instead of the file's")    //
      ("epochs", po::value<int64_t>()->value_name("N"), "instead of the file's")  //
      ("save", po::value<std::string>()->value_name("FILE"),
       "write the trained weights to this safetensors file")        //
      ("json", po::bool_switch(), "the result as one JSON object")  //
      ("help,h", "this text");
  command.run = run;
  return command;
}

}  // namespace tenon::cli
