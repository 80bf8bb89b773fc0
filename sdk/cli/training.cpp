// See training.h.
#include "training.h"

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
  if (training.optimizer.kind() != TN_OPTIMIZER) {
    fail_at(config.file, config.optimizer.line,
            fmt::format("optimizer: '{}' is none", config.optimizer.name));
  }
}

void find_loss(Training& training) {
  training.loss = OpRef(training.config.loss.c_str());
  try {
    training.loss.get();
  } catch (const Error& error) {
    fail_at(training.config.file, training.config.loss_line, fmt::format("loss: {}", error.what()));
  }
}

}  // namespace

Device find_device(const std::string& name) {
  try {
    return Device(name);
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
  std::tie(training.train, training.test) =
      data::csv(data.csv, {.label = data.label, .scale = data.scale, .header = data.header})
          .hold_out(data.test_every);
  if (training.train.size() == 0) {
    fail_at(config.file, data.line,
            fmt::format("data: {} has one line, and test_every keeps it for the test", data.csv));
  }
  manual_seed(config.seed);
  make_model(training);
  make_optimizer(training);
  find_loss(training);
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
