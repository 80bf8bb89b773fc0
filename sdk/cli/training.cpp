#include "training.h"

#include <algorithm>
#include <bit>
#include <ranges>

#include <fmt/format.h>

#include <tenon/metrics.hpp>

#include "plugin_list.h"
#include "process.h"
#include "text.h"
#include "training_data.h"

namespace tenon::cli {
namespace {

// "vocab" as an option of a layer stands for the size of the vocabulary.
Description with_vocabulary(Description model, int64_t size) {
  for (Description& layer : model.children) {
    for (Description::Option& option : layer.options) {
      const auto* text = std::get_if<std::string>(&option.value.held);
      if (text != nullptr && *text == "vocab") option.value = size;
    }
    layer = with_vocabulary(std::move(layer), size);
  }
  return model;
}

void make_optimizer(Training& training) {
  const TrainingConfig& config = training.config;
  const std::vector<Tensor> parameters = training.model.parameters();
  if (parameters.empty()) {
    fail_at(config.file, config.model_line, "model: no layer has parameters to train");
  }
  training.optimizer = build_optimizer(config.optimizer, parameters);
  if (training.optimizer.takes_closure()) {
    fail(
        fmt::format("{}: optimizer: {} evaluates the loss several times in a step, which programs "
                    "can do and files cannot",
                    config.optimizer.where, printable(config.optimizer.name)));
  }
}

void find_loss(Training& training) {
  const std::string& name = training.config.loss;
  training.loss = OpRef(name.c_str());
  if (detail::is_private_name(name)) {
    fail_at(training.config.file, training.config.loss_line,
            fmt::format("loss: unknown op '{}'", printable(name)));
  }
  try {
    training.loss.get();
  } catch (const Error& error) {
    fail_at(training.config.file, training.config.loss_line, fmt::format("loss: {}", error.what()));
  }
}

// The model's output for a few rows, layer by layer, so that what does not fit is said with its
// line.
Tensor try_model(const Training& training, Tensor x) {
  uint32_t child = 0;
  for (const Description& layer : training.config.model.children) {
    for (int64_t i = 0; i < layer.repeat; ++i, ++child) {
      try {
        x = training.model.child_at(child)(x);
      } catch (const Error& error) {
        fail(fmt::format("{}: model: layer {}: {}", layer.where, child, error.what()));
      }
    }
  }
  return x;
}

// Labels are indices of the model's outputs, in the lines for the test too.
void check_labels(const Training& training, const data::Dataset& all, int64_t classes) {
  const DataConfig& data = training.config.data;
  const std::vector<int64_t> labels = all.y.to_vector<int64_t>();
  const auto wrong =
      std::ranges::find_if(labels, [&](int64_t label) { return label < 0 || label >= classes; });
  if (wrong == labels.end()) return;
  const int64_t item = wrong - labels.begin();
  const std::string message =
      fmt::format("the label is {}, but the model of {} has {} outputs; expected 0 to {}", *wrong,
                  shown(training.config.file), classes, classes - 1);
  if (data.kind == DataConfig::Kind::kCsv) {
    fail_at(data.paths[0], static_cast<int>(item + (data.header ? 2 : 1)), message);
  }
  fail(fmt::format("{}: item {}: {}", shown(data.paths.back()), item, message));
}

void try_loss(const Training& training, const Tensor& output, const Tensor& target) {
  const TrainingConfig& config = training.config;
  if (config.loss.empty()) return;
  const auto wrong = [&](const std::string& what) {
    fail_at(config.file, config.loss_line, "loss: " + what);
  };
  Tensor loss;
  try {
    loss = call(training.loss, output, target);
  } catch (const Error& error) {
    wrong(error.what());
  }
  if (loss.numel() != 1) {
    wrong(fmt::format("{} gives a tensor of shape [{}], expected one number", config.loss,
                      fmt::join(loss.sizes(), ", ")));
  }
}

void try_metrics(const Training& training, const Tensor& output, const Tensor& target) {
  for (const std::string& name : training.config.metrics) {
    try {
      metrics::make_metric(name)->update(output, target);
    } catch (const Error& error) {
      fail_at(training.config.file, training.config.metrics_line,
              fmt::format("metrics: {}", error.what()));
    }
  }
}

// What is drawn for the first image: whether the transforms take it.
void try_augment(const Training& training) {
  const TrainingConfig& config = training.config;
  if (config.augment.empty()) return;
  data::Random random(config.seed);
  Tensor image;
  try {
    image = AugmentedTable{training.train, config.augment}.get(0, random).first;
  } catch (const Error& error) {
    fail_at(config.file, config.augment_line, fmt::format("augment: {}", error.what()));
  }
}

void try_rows(const Training& training, const data::Dataset& all) {
  try_augment(training);
  const data::Dataset rows =
      training.train.size() > 1 ? training.train.at({0, 1}) : training.train.at({0});
  const Tensor output = try_model(training, rows.x.to(training.device));
  const Tensor target = rows.y.to(training.device);
  if (training.of_numbers()) {
    if (output.sizes() != target.sizes()) {
      fail_at(
          training.config.file, training.config.model_line,
          fmt::format("model: gives a tensor of shape [{}] for targets of [{}], expected the same",
                      fmt::join(output.sizes(), ", "), fmt::join(target.sizes(), ", ")));
    }
    try_loss(training, output, target);
    return try_metrics(training, output, target);
  }
  if (output.dim() != 2 || output.size(0) != rows.size()) {
    fail_at(training.config.file, training.config.model_line,
            fmt::format("model: gives a tensor of shape [{}] for {} rows, expected [{}, classes]",
                        fmt::join(output.sizes(), ", "), rows.size(), rows.size()));
  }
  check_labels(training, all, output.size(1));
  try_loss(training, output, target);
  try_metrics(training, output, target);
}

// Windows in which each character of the vocabulary is.
void try_characters(const Training& training) {
  const int64_t context = training.config.data.context, classes = training.vocabulary.size();
  const int64_t windows = (classes + context - 1) / context, n = windows * context;
  std::vector<int64_t> indices(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) indices[static_cast<size_t>(i)] = i % classes;
  const Tensor target = Tensor::from(indices).to(training.device);
  const Tensor output = try_model(training, reshape(target, {windows, context}));
  if (output.dim() != 2 || output.size(0) != n || output.size(1) != classes) {
    fail_at(training.config.file, training.config.model_line,
            fmt::format("model: gives a tensor of shape [{}] for {} windows of {} characters, "
                        "expected [{}, {}]: a row for each, a column for each of the {} characters "
                        "of the vocabulary",
                        fmt::join(output.sizes(), ", "), windows, context, n, classes, classes));
  }
  try_loss(training, output, target);
}

// f tries model and loss, without a trace: the seed decides the training alone.
template <typename F>
void try_out(const Training& training, F f) {
  const NoGrad no_grad;
  const RandomState random = random_state();
  training.model.eval();
  f();
  training.model.train();
  set_random_state(random);
}

constexpr const char* kVocabulary = "vocabulary";  // no layer: those begin with a number

}  // namespace

Device find_device(const std::string& name) {
  try {
    const Device device(name);
    std::vector<std::string> names;
    for (const Device& known : Device::all()) {
      if (known == device) return device;
      names.push_back(known.name());
    }
    fail(fmt::format("device {} computes nothing; devices that do: {}", device.name(),
                     joined(names)));
  } catch (const Error& error) {
    const PluginList plugins = list_plugins();
    std::string message = fmt::format("{}\n  plugins were looked for in: {}", error.what(),
                                      messages::escaped(joined(plugins.folders)));
    for (const PluginRow& plugin : plugins.rows) {
      if (!plugin.loaded)
        message +=
            fmt::format("\n  not loaded: {}: {}", plugin.id, messages::escaped(plugin.reason));
    }
    fail(message, error.code());
  }
}

void open(Training& training, const std::string& file, const Overrides& overrides) {
  training.config = read_config(file, overrides.forward_alone);
  TrainingConfig& config = training.config;
  if (overrides.seed >= 0) config.seed = static_cast<uint64_t>(overrides.seed);
  if (!overrides.device.empty()) config.device = overrides.device;
  config.compile = config.compile || overrides.compile;
  const auto replace = [](int64_t& count, int64_t value, const char* name, const char* other) {
    if (value < 0) return;
    if (count == 0) fail(fmt::format("--{}: this training counts its {}", name, other));
    count = value;
  };
  replace(config.epochs, overrides.epochs, "epochs", "steps");
  replace(config.steps, overrides.steps, "steps", "epochs");
  load_all_plugins();
  training.device = find_device(config.device.empty() ? "cpu" : config.device);
}

void make_model(Training& training) {
  const Description& model = training.config.model;
  training.model =
      build_layer(training.of_text() ? with_vocabulary(model, training.vocabulary.size()) : model);
  training.model.to(training.device);
}

void prepare(Training& training, const std::string& file, const Overrides& overrides) {
  open(training, file, overrides);
  data::Dataset all;
  if (training.of_text()) {
    split_text(training);
  } else {
    all = read_table(training);
  }
  manual_seed(training.config.seed);
  make_model(training);
  if (training.config.trains()) make_optimizer(training);
  if (!training.config.loss.empty()) find_loss(training);
  try_out(training, [&] {
    if (training.of_text()) {
      try_characters(training);
    } else {
      try_rows(training, all);
    }
  });
}

NamedTensors saved_state(const Training& training) {
  NamedTensors state = training.model.state_dict();
  if (training.of_text()) state.emplace_back(kVocabulary, training.vocabulary.to_tensor());
  return state;
}

Vocabulary take_vocabulary(NamedTensors& state, const std::string& weights) {
  const auto found = std::ranges::find(state, kVocabulary, &NamedTensors::value_type::first);
  if (found == state.end()) {
    fail(fmt::format("{}: has no tensor 'vocabulary', which `tenon train --save` writes for a text",
                     shown(weights)));
  }
  try {
    Vocabulary vocabulary = Vocabulary::from_tensor(found->second);
    state.erase(found);
    return vocabulary;
  } catch (const Error& error) {
    fail(fmt::format("{}: {}", shown(weights), error.what()), TN_DATA_LOSS);
  }
}

void load_weights(const Training& training, const NamedTensors& state, const std::string& weights) {
  try {
    training.model.load_state_dict(state);
  } catch (const Error& error) {
    fail(fmt::format("{}: does not fit the model of {}: {}", shown(weights),
                     shown(training.config.file), error.what()),
         error.code());
  }
}

TextBatches::TextBatches(const Training& training)
    : training_(training), state_(training.config.seed) {}

std::pair<Tensor, Tensor> TextBatches::next() {
  const auto n = static_cast<uint64_t>(training_.text.places());
  std::vector<int64_t> places(static_cast<size_t>(training_.config.batch_size));
  for (int64_t& place : places) {  // the bias of % is below 2^-23 for any text in memory
    place = static_cast<int64_t>(data::detail::next_random(state_) % n);
  }
  return training_.text.at(places);
}

NamedTensors TextBatches::state_dict() const {
  const auto counted = [](int64_t n) { return Tensor::from<int64_t>({n}); };
  return {{"random", counted(std::bit_cast<int64_t>(state_))},
          {"places", counted(training_.text.places())},
          {"batch_size", counted(training_.config.batch_size)},
          {kVocabulary, training_.vocabulary.to_tensor()}};
}

void TextBatches::load_state_dict(const NamedTensors& state) {
  NamedTensors rest = state;
  const Vocabulary vocabulary = take_vocabulary(rest, "the checkpoint");
  if (vocabulary.characters() != training_.vocabulary.characters())
    fail("the text has other characters than that of the checkpoint");
  const auto value = [&](const char* name) {
    const auto found = std::ranges::find(rest, name, &NamedTensors::value_type::first);
    if (found == rest.end()) fail(fmt::format("the checkpoint has no '{}' of the text", name));
    return found->second.item<int64_t>();
  };
  const auto expect_same = [](const char* what, int64_t there, int64_t here) {
    if (there == here) return;
    fail(fmt::format("the checkpoint is of {} {}, this training has {}", there, what, here));
  };
  expect_same("windows of text", value("places"), training_.text.places());
  expect_same("windows in a batch", value("batch_size"), training_.config.batch_size);
  state_ = std::bit_cast<uint64_t>(value("random"));
}

LossFunction loss_function(const Training& training) {
  return [&loss = training.loss](const Tensor& output, const Tensor& target) {
    return call(loss, output, target);
  };
}

int64_t steps_of(const Training& training) {
  const TrainingConfig& config = training.config;
  if (training.of_text()) return config.steps;
  int64_t steps = 0;
  const int64_t batches =
      data::DataLoader(training.train, {.batch_size = config.batch_size}).size();
  return __builtin_mul_overflow(config.epochs, batches, &steps) ? INT64_MAX : steps;
}

Trainer make_trainer(const Training& training, bool compile) {
  const TrainingConfig& config = training.config;
  TrainerOptions options{
      .clip_grad_norm = config.clip_grad_norm, .accumulate = config.accumulate, .compile = compile};
  if (config.schedule.make) options.schedule = config.schedule.make(steps_of(training));
  try {
    return Trainer(training.model, training.optimizer, loss_function(training), options);
  } catch (const Error& error) {
    fail_at(config.file, config.schedule.line, fmt::format("schedule: {}", error.what()));
  }
}

std::pair<Tensor, Tensor> first_batch(const Training& training) {
  if (training.of_text()) return TextBatches(training).next();
  data::DataLoader loader(training.train,
                          {.batch_size = training.config.batch_size, .shuffle = true});
  return *loader.begin();
}

}  // namespace tenon::cli
