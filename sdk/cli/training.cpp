// See training.h.
#include "training.h"

#include <algorithm>

#include <fmt/format.h>

#include "factory_call.h"
#include "plugin_list.h"
#include "text.h"

namespace tenon::cli {
namespace {

void make_model(Training& training) {
  const TrainingConfig& config = training.config;
  std::vector<Object> layers;
  for (const FactoryCall& call : config.model) layers.push_back(create_object(config.file, call));
  training.model = nn::sequential_of(layers);
  training.model.to(training.device);
}

void make_optimizer(Training& training) {
  const TrainingConfig& config = training.config;
  const std::vector<Tensor> parameters = training.model.parameters();
  if (parameters.empty()) {
    fail_at(config.file, config.model_line, "model: no layer has parameters to train");
  }
  training.optimizer = optim::Optimizer(
      create_object(config.file, config.optimizer, {{"params", detail::to_value(parameters)}}));
}

void find_loss(Training& training) {
  training.loss = OpRef(training.config.loss.c_str());
  try {
    training.loss.get();
  } catch (const Error& error) {
    fail_at(training.config.file, training.config.loss_line, fmt::format("loss: {}", error.what()));
  }
}

// The model's output for a few rows, layer by layer, so that what does not fit is said with its
// line.
Tensor try_model(const Training& training, Tensor x) {
  const TrainingConfig& config = training.config;
  for (size_t i = 0; i < config.model.size(); ++i) {
    try {
      x = training.model.child(std::to_string(i).c_str())(x);
    } catch (const Error& error) {
      fail_at(config.file, config.model[i].line,
              fmt::format("model: layer {}: {}", i, error.what()));
    }
  }
  return x;
}

// Labels are indices of the model's outputs, in the lines for the test too.
void check_labels(const Training& training, const data::Dataset& all, int64_t classes) {
  const DataConfig& data = training.config.data;
  const std::vector<int64_t> labels = all.y.to_vector<int64_t>();
  const auto wrong = std::ranges::find_if(labels, [&](int64_t label) { return label >= classes; });
  if (wrong == labels.end()) return;
  const int64_t line = wrong - labels.begin() + (data.header ? 2 : 1);
  fail_at(data.csv, static_cast<int>(line),
          fmt::format("the label is {}, but the model of {} has {} outputs; expected 0 to {}",
                      *wrong, training.config.file, classes, classes - 1));
}

void try_loss(const Training& training, const Tensor& output, const Tensor& target) {
  const TrainingConfig& config = training.config;
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

// Model, labels and loss on a few rows, without a trace: the seed decides the training alone.
void try_out(const Training& training, const data::Dataset& all) {
  const NoGrad no_grad;
  const RandomState random = random_state();
  training.model.eval();
  const data::Dataset rows =
      training.train.size() > 1 ? training.train.at({0, 1}) : training.train.at({0});
  const Tensor output = try_model(training, rows.x.to(training.device));
  if (output.dim() != 2 || output.size(0) != rows.size()) {
    fail_at(training.config.file, training.config.model_line,
            fmt::format("model: gives a tensor of shape [{}] for {} rows, expected [{}, classes]",
                        fmt::join(output.sizes(), ", "), rows.size(), rows.size()));
  }
  check_labels(training, all, output.size(1));
  try_loss(training, output, rows.y.to(training.device));
  training.model.train();
  set_random_state(random);
}

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
    std::string message =
        fmt::format("{}\n  plugins were looked for in: {}", error.what(), joined(plugins.folders));
    for (const PluginRow& plugin : plugins.rows) {
      if (!plugin.loaded)
        message += fmt::format("\n  not loaded: {}: {}", plugin.id, plugin.reason);
    }
    fail(message, error.code());
  }
}

void prepare(Training& training, const std::string& file, const std::string& device, int64_t seed,
             int64_t epochs) {
  training.config = read_config(file);
  TrainingConfig& config = training.config;
  if (seed >= 0) config.seed = static_cast<uint64_t>(seed);
  if (epochs >= 0) config.epochs = epochs;

  load_plugins();
  training.device = find_device(device);
  const DataConfig& data = config.data;
  const data::Dataset all =
      data::csv(data.csv, {.label = data.label, .scale = data.scale, .header = data.header});
  std::tie(training.train, training.test) = all.hold_out(data.test_every);
  if (training.train.size() == 0) {
    fail_at(config.file, data.line,
            fmt::format("data: {} has one line, and test_every keeps it for the test", data.csv));
  }
  manual_seed(config.seed);
  make_model(training);
  make_optimizer(training);
  find_loss(training);
  try_out(training, all);
}

Step train_step(const Training& training, const Tensor& x, const Tensor& y) {
  const Tensor output = training.model(x);
  const Tensor loss = call(training.loss, output, y);
  training.optimizer.zero_grad();
  loss.backward();
  training.optimizer.step();
  return {output.detach(), loss.detach()};
}

double test_accuracy(const Training& training) {
  const NoGrad no_grad;
  const bool was_training = training.model.training();
  training.model.eval();
  int64_t right = 0;
  for (auto [x, y] : data::DataLoader(training.test, {.batch_size = 1024})) {
    const Tensor classes = argmax(training.model(x.to(training.device)), 1);
    right += sum(eq(classes, y.to(training.device))).item<int64_t>();
  }
  training.model.train(was_training);
  return static_cast<double>(right) / static_cast<double>(training.test.size());
}

std::string accuracy_line(double accuracy) {
  return fmt::format("test accuracy: {:.3f}", accuracy);
}

}  // namespace tenon::cli
