// tenon train: a network from a JSON file, an epoch or some steps a line.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "amp_options.h"
#include "checkpoints.h"
#include "commands.h"
#include "compiled_text.h"
#include "identity.h"
#include "line_numbers.h"
#include "made.h"
#include "outputs.h"
#include "progress.h"
#include "run_folder.h"
#include "scores.h"
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
  std::string stopped;   // why it ended before its last step; "": it did not

  Trained(const Results& results, const Trainer& trainer, int64_t first)
      : list(results.list()),
        steps(trainer.steps() - first),
        made(trainer.steps()),
        compiled(trainer.describe()) {}
};

// What the command's line says of a training, beside its file.
struct Watch {
  const Training& training;
  Checkpoints& checkpoints;
  RunFolder& run;
  bool json;

  // NULL: losses are not scaled.
  GradScaler* scaler() const {
    if (!training.precision || !training.precision->scaler().is_enabled()) return nullptr;
    return &training.precision->scaler();
  }
};

// What both kinds of training do beside the steps: schedules that go by the loss, early stopping,
// checkpoints, lines of the result.
class Loop {
 public:
  // `every`: the steps of a line.
  Loop(const Watch& watch, int64_t steps, int64_t every)
      : watch_(watch),
        config_(watch.training.config),
        trainer_(make_trainer(watch.training, config_.compile)),
        identity_(watch.training),
        steps_(steps),
        every_(every) {
    if (config_.schedule.plateau)
      plateau_.emplace(watch.training.optimizer, *config_.schedule.plateau);
    if (config_.early_stopping) stopping_.emplace(*config_.early_stopping);
  }

  // Goes on where a checkpoint was, and gives its steps; all that the next steps depend on is in it.
  template <typename Batches>
  int64_t begin(Batches& batches) {
    checkpoint_.model = watch_.training.model;
    checkpoint_.optimizer = watch_.training.optimizer;
    checkpoint_.loader = batches;
    if (plateau_) checkpoint_.schedule = *plateau_;
    if (watch_.scaler() != nullptr) checkpoint_.scaler = *watch_.scaler();
    checkpoint_.more = {{"line", numbers_}, {"training", identity_}};
    if (stopping_) checkpoint_.more.emplace_back("early_stopping", *stopping_);
    first_ = watch_.checkpoints.begin(checkpoint_);
    trainer_.go_to(first_);
    watch_.run.begin(watch_.training, first_);
    results_.emplace(watch_.training, steps_ - std::min(steps_, first_), watch_.json);
    if (first_ >= steps_) {
      fmt::print(stderr, "nothing is left to train: the checkpoint is of step {} of {}\n", first_,
                 steps_);
    }
    watch_.checkpoints.catch_signals();
    return first_;
  }
  // There is nothing left to do.
  bool is_done() const { return first_ >= steps_ || (stopping_ && stopping_->stopped()); }

  // `right`: of classes, how many items were put into the right one.
  void on_step(const Trainer::Step& step, const std::string& label, const Tensor& right = {}) {
    numbers_.add(step.loss, step.target.size(0), right);
    results_->step(label);
    ends_line_ = trainer_.steps() % every_ == 0 || trainer_.steps() == steps_;
    if (!ends_line_) save();
  }
  // A training that a signal stops within a line has none for it. What is saved has what the line
  // decides.
  void on_report(const std::string& label, double lr) {
    if (!ends_line_) return;
    const LineNumbers::Numbers numbers = numbers_.end();
    std::string line = fmt::format("{}  loss {:.4f}", label, numbers.loss);
    ordered_json values;
    if (watch_.training.of_text()) values["step"] = trainer_.steps();
    values["loss"] = numbers.loss;
    if (numbers.accuracy) {
      line += fmt::format("  accuracy {:.3f}", *numbers.accuracy);
      values["accuracy"] = *numbers.accuracy;
    }
    const double held_out = add_scores(&line, &values);
    results_->add(line, values, lr);
    watch_.run.add(trainer_.steps(), numbers.items, std::move(values), lr);
    if (plateau_) plateau_->step(numbers.loss);
    const bool stops = stopping_ && stopping_->step(held_out);
    save();
    if (stops) trainer_.stop();
  }

  Trainer& trainer() { return trainer_; }
  Trained trained() const {
    Trained result(*results_, trainer_, first_);
    if (!stopping_ || !stopping_->stopped()) return result;
    const double delta = config_.early_stopping->min_delta;
    result.stopped = fmt::format(
        "stopped early: the loss on what is held out was no better than {:.4f}{} in {} lines",
        stopping_->best(), delta > 0 ? fmt::format(" by {}", delta) : "", stopping_->bad());
    return result;
  }

 private:
  // Where somebody wants them. Gives the loss on what is held out.
  double add_scores(std::string* line, ordered_json* values) const {
    if (config_.metrics.empty() && !stopping_ && !watch_.run.is_open()) return 0;
    const std::vector<Score> all = all_scores(watch_.training);
    for (const Score& s : all) {
      *line += fmt::format("  {} {:.4f}", s.name, s.value);
      (*values)[s.json_key()] = s.value;
    }
    return all[0].value;
  }
  void save() {
    if (watch_.checkpoints.after_step(checkpoint_, trainer_.steps(), steps_, every_))
      trainer_.stop();
  }

  const Watch& watch_;
  const TrainingConfig& config_;
  Trainer trainer_;
  Identity identity_;
  std::optional<optim::ReduceLROnPlateau> plateau_;
  std::optional<EarlyStopping> stopping_;
  LineNumbers numbers_;
  Checkpoint checkpoint_;
  std::optional<Results> results_;
  const int64_t steps_, every_;
  int64_t first_ = 0;
  bool ends_line_ = false;
};

// A line for each epoch; of classes with the accuracy on the batches as they were trained on, with
// dropout.
template <typename Loader>
Trained train_batches(const Watch& watch, Loader& loader) {
  const Training& training = watch.training;
  const TrainingConfig& config = training.config;
  const int64_t every = loader.size();
  Loop loop(watch, steps_of(training), every);
  const int64_t first = loop.begin(loader);
  if (loader.epoch() * every + loader.batch() != first) {
    fail(
        fmt::format("--resume: the checkpoint is of step {}, and its data at batch {} of epoch {}, "
                    "which begins with step {}",
                    first, loader.batch(), loader.epoch() + 1, loader.epoch() * every));
  }
  if (loop.is_done()) return loop.trained();
  const auto label = [&](int64_t epoch) { return counted("epoch", epoch, config.epochs); };
  const auto on_step = [&](const Trainer::Step& step) {
    Tensor right;
    if (!training.of_numbers()) {
      const NoGrad no_grad;
      right = sum(eq(argmax(step.output, 1), step.target));
    }
    loop.on_step(step, label(step.epoch), right);
  };
  const auto on_report = [&](const Trainer::Report& report) {
    loop.on_report(label(report.epoch), report.lr);
  };
  try {
    loop.trainer().fit(loader, {.epochs = config.epochs,
                                .first_epoch = 1 + first / every,
                                .first_step = first % every,
                                .on_step = on_step,
                                .on_report = on_report});
  } catch (const Diverged& error) {
    fail(fmt::format("{}, step {}: {}", label(error.epoch), error.step, error.reason),
         error.code());
  }
  return loop.trained();
}

Trained train_table(const Watch& watch) {
  const Training& training = watch.training;
  const TrainingConfig& config = training.config;
  const data::LoaderOptions options = loader_options(training, config.batch_size, true);
  if (config.augment.empty() && training.pictures == nullptr) {
    data::DataLoader loader(training.train, options);
    return train_batches(watch, loader);
  }
  data::DataLoader loader(items_of(training, true), options);
  return train_batches(watch, loader);
}

// A line for each twentieth of the steps: the mean loss of these.
Trained train_text(const Watch& watch) {
  const int64_t steps = watch.training.config.steps, every = std::max<int64_t>(steps / 20, 1);
  TextBatches batches(watch.training);
  Loop loop(watch, steps, every);
  const int64_t first = loop.begin(batches);
  if (loop.is_done()) return loop.trained();
  const auto label = [&](int64_t step) { return counted("step", step, steps); };
  loop.trainer().fit(
      Made(first, steps, [&](int64_t) { return batches.next(); }),
      {.first_step = first,
       .report_every = every,
       .on_step = [&](const Trainer::Step& step) { loop.on_step(step, label(step.step)); },
       .on_report =
           [&](const Trainer::Report& report) { loop.on_report(label(report.step), report.lr); }});
  return loop.trained();
}

// Weights of a file that `--save` wrote, in the place of random ones.
void begin_with(const Training& training, const std::string& weights) {
  NamedTensors state = read_weights(weights);
  if (training.of_text()) {
    const Vocabulary there = take_vocabulary(state, weights);
    const std::string other = Vocabulary::difference(there, training.vocabulary);
    if (!other.empty()) fail(fmt::format("--init: {} is of a text with {}", shown(weights), other));
  }
  load_weights(training, state, weights);
}

// The loss of a step is of the weights before it. What the last step made nobody has looked at.
void expect_finite(const Training& training) {
  for (const auto& [name, tensor] : training.model.named_parameters()) {
    if (isfinite(tensor.detach()).all().item<bool>()) continue;
    fail(
        fmt::format(
            "the last step made {} infinite or NaN: the training diverged; try a smaller lr", name),
        TN_FAILED_PRECONDITION);
  }
}

int run_train(const Line& line) {
  const bool json = line.flag("json");
  const std::string save = line.has("save") ? path_of(line, "--save") : "";
  const std::string init = line.has("init") ? path_of(line, "--init") : "";
  RunFolder folder(line);
  Checkpoints checkpoints(line, folder.checkpoints());
  Overrides overrides{
      .device = name_of(line, "device"),
      .seed = line.has("seed") ? integer_of(line, "seed", 0, INT64_MAX) : -1,
      .epochs = line.has("epochs") ? integer_of(line, "epochs", 1, kMostCounted) : -1,
      .steps = line.has("steps") ? integer_of(line, "steps", 1, kMostCounted) : -1,
      .compile = line.flag("compile")};
  read_amp(line, "train", &overrides);
  Training training;
  prepare(training, path_of(line, "FILE.json"), overrides);
  if (!save.empty()) {  // before the work, not after it
    folder.make_room_for(save);
    checkpoints.expect_other(save);
    expect_other("--save", save, training.config);
    expect_writable("--save", save);
  }
  if (!init.empty()) begin_with(training, init);
  if (!training.of_text()) check_batches(training);

  const auto start = std::chrono::steady_clock::now();
  const char* parts = training.of_text() ? "steps" : "epochs";
  folder.expect_other_data(training.config);
  const Watch watch{training, checkpoints, folder, json};
  const Trained trained = training.of_text() ? train_text(watch) : train_table(watch);
  if (checkpoints.signal() != 0) {
    folder.stop();
    fmt::print(stderr, "{}\n", checkpoints.stopped_line(trained.made));
    return 128 + checkpoints.signal();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  expect_finite(training);
  std::vector<Score> results;
  std::exception_ptr failed;
  try {
    results = scores_of_trained(training);
  } catch (const data::SampleError&) {  // what cannot be tested is trained all the same
    failed = std::current_exception();
  }
  if (!save.empty()) tenon::save(saved_state(training), save);
  if (failed) std::rethrow_exception(failed);
  folder.end(results);

  const CompiledText compiled(trained.compiled);
  if (json) {
    ordered_json document;
    for (const Score& s : results) document[s.json_key()] = s.value;
    document["device"] = training.device.name();
    document["seed"] = training.config.seed;
    document["seconds"] = seconds.count();
    if (!trained.stopped.empty()) document["stopped"] = trained.stopped;
    if (training.config.compile) document["compiled"] = compiled.json(trained.steps);
    document[parts] = trained.list;
    fmt::print("{}\n", document.dump(2));
  } else {
    if (training.config.compile) fmt::print("{}\n", compiled.line(trained.steps));
    if (!trained.stopped.empty()) fmt::print("{}\n", trained.stopped);
    fmt::print("trained in {:.1f} s on {}\n", seconds.count(), training.device.name());
    for (const Score& s : results) fmt::print("{}\n", s.line());
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
  add_amp_options(command.options, "train");
  RunFolder::add_options(command.options);
  Checkpoints::add_options(command.options);
  command.run = run_train;
  return command;
}

}  // namespace tenon::cli
