// tenon train: a network from a JSON file, an epoch or some steps a line.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checkpoints.h"
#include "commands.h"
#include "compiled_text.h"
#include "progress.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using nlohmann::ordered_json;

// "epoch  3/40"
std::string counted(const char* what, int64_t i, int64_t n) {
  return fmt::format("{} {:{}}/{}", what, i, fmt::formatted_size("{}", n), n);
}

// Where the training came to, as lines while it runs and as JSON at its end.
class Results {
 public:
  Results(const Training& training, int64_t steps, bool json)
      : scheduled_(training.config.schedule.changes_rates()), json_(json), bar_(steps) {}

  void step(const std::string& label) { bar_.step(label); }
  // `values` are those of the line, for the JSON.
  void add(const std::string& line, ordered_json values, double lr) {
    if (scheduled_) values["lr"] = lr;
    list_.push_back(std::move(values));
    bar_.clear();
    if (json_) return;
    fmt::print("{}{}\n", line, scheduled_ ? fmt::format("  lr {:.6f}", lr) : "");
    std::fflush(stdout);
  }
  const ordered_json& list() const { return list_; }

 private:
  const bool scheduled_, json_;
  Progress bar_;
  ordered_json list_ = ordered_json::array();
};

// What a training leaves for the end of the command.
struct Trained {
  ordered_json list;     // an entry for each line
  int64_t steps;         // that were made, here
  int64_t made;          // in all, before it was resumed too
  std::string compiled;  // Trainer::describe

  Trained(const Results& results, const Trainer& trainer, int64_t first)
      : list(results.list()),
        steps(trainer.steps() - first),
        made(trainer.steps()),
        compiled(trainer.describe()) {}
};

// What goes on while it trains, beside the steps.
struct Watch {
  const Training& training;
  Checkpoints& checkpoints;
  bool json;
};

// All that the next steps depend on.
template <typename Batches>
Checkpoint checkpoint_of(const Training& training, Batches& batches, Plateau& plateau) {
  Checkpoint checkpoint{
      .model = training.model, .optimizer = training.optimizer, .loader = batches};
  if (plateau.defined()) checkpoint.schedule = plateau;
  return checkpoint;
}

// A line for each epoch, with the accuracy on the batches as they were trained on, with dropout.
Trained train_table(const Watch& watch) {
  const Training& training = watch.training;
  const TrainingConfig& config = training.config;
  data::DataLoader loader(training.train, {.batch_size = config.batch_size, .shuffle = true});
  Trainer trainer = make_trainer(training, config.compile);
  Plateau plateau(config.schedule, training.optimizer);
  const int64_t steps = steps_of(training), every = loader.size();
  const Checkpoint checkpoint = checkpoint_of(training, loader, plateau);
  const int64_t first = watch.checkpoints.resume(checkpoint);
  trainer.go_to(first);
  Results results(training, steps - std::min(steps, first), watch.json);
  const auto label = [&](int64_t epoch) { return counted("epoch", epoch, config.epochs); };
  const auto save = [&] {
    if (watch.checkpoints.after_step(checkpoint, trainer.steps(), steps, every)) trainer.stop();
  };
  Tensor right;  // on the device
  int64_t items = 0;
  bool ends_line = false;  // what is saved then has what the line decides
  const auto on_step = [&](const Trainer::Step& step) {
    const NoGrad no_grad;
    const Tensor hits = sum(eq(argmax(step.output, 1), step.target));
    right = right.defined() ? add(right, hits) : hits;
    items += step.target.size(0);
    plateau.add(step.loss, step.target.size(0));
    results.step(label(step.epoch));
    ends_line = step.step == every;
    if (!ends_line) save();
  };
  const auto on_report = [&](const Trainer::Report& report) {
    const double part = static_cast<double>(std::exchange(right, {}).item<int64_t>()) /
                        static_cast<double>(std::exchange(items, 0));
    results.add(
        fmt::format("{}  loss {:.4f}  accuracy {:.3f}", label(report.epoch), report.loss, part),
        {{"loss", report.loss}, {"accuracy", part}}, report.lr);
    if (!ends_line) return;
    plateau.end_line();
    save();
  };
  watch.checkpoints.catch_signals();
  try {
    trainer.fit(loader, {.epochs = config.epochs,
                         .first_epoch = 1 + first / every,
                         .first_step = first % every,
                         .on_step = on_step,
                         .on_report = on_report});
  } catch (const Diverged& error) {
    fail(fmt::format("{}, step {}: {}", label(error.epoch), error.step, error.reason),
         error.code());
  }
  return Trained(results, trainer, first);
}

// A line for each twentieth of the steps: the mean loss of these.
Trained train_text(const Watch& watch) {
  const Training& training = watch.training;
  const int64_t steps = training.config.steps, every = std::max<int64_t>(steps / 20, 1);
  TextBatches batches(training);
  Trainer trainer = make_trainer(training, training.config.compile);
  Plateau plateau(training.config.schedule, training.optimizer);
  const Checkpoint checkpoint = checkpoint_of(training, batches, plateau);
  const int64_t first = watch.checkpoints.resume(checkpoint);
  trainer.go_to(first);
  Results results(training, steps - std::min(steps, first), watch.json);
  const auto label = [&](int64_t step) { return counted("step", step, steps); };
  const auto save = [&] {
    if (watch.checkpoints.after_step(checkpoint, trainer.steps(), steps, every)) trainer.stop();
  };
  if (first >= steps) return Trained(results, trainer, first);
  bool ends_line = false;
  watch.checkpoints.catch_signals();
  trainer.fit(std::views::iota(first, steps) |
                  std::views::transform([&](int64_t) { return batches.next(); }),
              {.first_step = first,
               .report_every = every,
               .on_step =
                   [&](const Trainer::Step& step) {
                     plateau.add(step.loss, step.target.size(0));
                     results.step(label(step.step));
                     ends_line = step.step % every == 0 || step.step == steps;
                     if (!ends_line) save();
                   },
               .on_report =
                   [&](const Trainer::Report& report) {
                     results.add(fmt::format("{}  loss {:.4f}", label(report.step), report.loss),
                                 {{"step", report.step}, {"loss", report.loss}}, report.lr);
                     if (!ends_line) return;
                     plateau.end_line();
                     save();
                   }});
  return Trained(results, trainer, first);
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

// Weights of a file that `--save` wrote, in the place of random ones.
void begin_with(const Training& training, const std::string& weights) {
  NamedTensors state = load(weights);
  if (training.of_text() &&
      take_vocabulary(state, weights).characters() != training.vocabulary.characters())
    fail(fmt::format("--init: {} is of a text with other characters", shown(weights)));
  load_weights(training, state, weights);
}

int run(const Line& line) {
  const bool json = line.flag("json");
  const std::string save = line.has("save") ? path_of(line, "--save") : "";
  const std::string init = line.has("init") ? path_of(line, "--init") : "";
  Checkpoints checkpoints(line);
  Training training;
  prepare(training, path_of(line, "FILE.json"),
          {.device = line.get_or<std::string>("device", ""),
           .seed = line.has("seed") ? integer_of(line, "seed", 0, INT64_MAX) : -1,
           .epochs = line.has("epochs") ? integer_of(line, "epochs", 1, kMostCounted) : -1,
           .steps = line.has("steps") ? integer_of(line, "steps", 1, kMostCounted) : -1,
           .compile = line.flag("compile")});
  if (!save.empty()) check_target(save, training.config);
  if (!init.empty()) begin_with(training, init);

  const auto start = std::chrono::steady_clock::now();
  const char* parts = training.of_text() ? "steps" : "epochs";
  const Watch watch{training, checkpoints, json};
  const Trained trained = training.of_text() ? train_text(watch) : train_table(watch);
  if (checkpoints.signal() != 0) {
    fmt::print(stderr, "{}\n", checkpoints.stopped_line(trained.made));
    return 128 + checkpoints.signal();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Score result = score(training);
  if (!save.empty()) tenon::save(saved_state(training), save);

  const CompiledText compiled(trained.compiled);
  if (json) {
    ordered_json document{{result.json_key(), result.value},
                          {"device", training.device.name()},
                          {"seed", training.config.seed},
                          {"seconds", seconds.count()}};
    if (training.config.compile) document["compiled"] = compiled.json(trained.steps);
    document[parts] = trained.list;
    fmt::print("{}\n", document.dump(2));
  } else {
    if (training.config.compile) fmt::print("{}\n", compiled.line(trained.steps));
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
      ("compile", po::bool_switch(),
       "record a step and replay it at later ones, with the same losses")  //
      ("init", po::value<std::string>()->value_name("FILE"),
       "begin with the weights of this safetensors file")  //
      ("save", po::value<std::string>()->value_name("FILE"),
       "write the trained weights to this safetensors file")        //
      ("json", po::bool_switch(), "the result as one JSON object")  //
      ("help,h", "this text");
  Checkpoints::add_options(command.options);
  command.run = run;
  return command;
}

}  // namespace tenon::cli
