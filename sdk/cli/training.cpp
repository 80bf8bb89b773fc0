#include "training.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "plugin_list.h"
#include "process.h"
#include "text.h"
#include "training_data.h"
#include "try_out.h"

namespace tenon::cli {
namespace {

// As options of a layer "vocab" stands for the size of the vocabulary, and "pad" for the id that fills
// texts up.
Description with_vocabulary(Description model, int64_t size, std::optional<int64_t> padding) {
  for (Description& layer : model.children) {
    for (Description::Option& option : layer.options) {
      const auto* text = std::get_if<std::string>(&option.value.held);
      if (text == nullptr) continue;
      if (*text == "vocab") {
        option.value = size;
      } else if (*text == "pad") {
        option.value = padding ? Description::Value(*padding) : Description::Value(none);
      }
    }
    layer = with_vocabulary(std::move(layer), size, padding);
  }
  return model;
}

void lower(Training& training) {
  const AmpConfig& amp = training.config.amp;
  try {
    if (!amp.dtype.empty() && amp.dtype != "float16" && amp.dtype != "bfloat16")
      fail(fmt::format("dtype is '{}', expected float16 or bfloat16", printable(amp.dtype)));
    const Dtype dtype = amp.dtype.empty() ? Dtype() : amp.dtype == "float16" ? float16 : bfloat16;
    training.precision.emplace(training.model, amp.policy, PrecisionOptions{.lower = dtype});
  } catch (const Error& error) {
    if (amp.line == 0) fail(fmt::format("--amp: {}", error.what()), error.code());
    fail_at(training.config.file, amp.line, fmt::format("amp: {}", error.what()));
  }
}

// Weights are float32: what it does not hold makes them infinite.
void check_floats(const Description& optimizer) {
  for (const Description::Option& option : optimizer.options) {
    std::vector<double> list;
    if (const auto* one = std::get_if<double>(&option.value.held)) list = {*one};
    if (const auto* many = std::get_if<std::vector<double>>(&option.value.held)) list = *many;
    for (const double value : list) {
      if (std::fabs(value) <= kMostFloat) continue;
      fail(fmt::format("{}: optimizer: {} is {}, expected a number from {} to {}", option.where,
                       printable(option.name), value, -kMostFloat, kMostFloat));
    }
  }
}

void make_optimizer(Training& training) {
  const TrainingConfig& config = training.config;
  check_floats(config.optimizer);
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

bool is_op(const std::string& name) {
  try {
    OpRef(name.c_str()).get();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// A layer that is called with output and target, on the model's device.
void make_loss_layer(Training& training, const Description& description) {
  const TrainingConfig& config = training.config;
  if (is_op(description.name)) {
    fail_at(config.file, config.loss_line,
            fmt::format("loss: '{}' is an op, whose options files do not say; expected a layer, as "
                        "\"CrossEntropyLoss\"",
                        printable(description.name)));
  }
  const Object layer = build_layer(description);
  layer.to(training.device);
  if (!layer.parameters().empty()) {
    fail_at(config.file, config.loss_line,
            fmt::format("loss: {} has parameters of its own, which nothing trains",
                        printable(description.name)));
  }
  training.loss = [layer](const Tensor& output, const Tensor& target) {
    return layer.invoke<Tensor>("forward", output, target);
  };
}

void find_loss(Training& training) {
  const TrainingConfig& config = training.config;
  if (config.loss_layer) {
    try {
      return make_loss_layer(training, *config.loss_layer);
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with(shown(config.file) + ":")) throw;
      fail_at(config.file, config.loss_line, fmt::format("loss: {}", error.what()));
    }
  }
  const std::string& name = config.loss;
  const OpRef op(name.c_str());
  if (detail::is_private_name(name)) {
    fail_at(config.file, config.loss_line, fmt::format("loss: unknown op '{}'", printable(name)));
  }
  try {
    op.get();
  } catch (const Error& error) {
    // Metrics have these short names.
    const std::string whole = name + "_loss";
    fail_at(config.file, config.loss_line,
            is_op(whole) ? fmt::format("loss: unknown op '{}'; did you mean '{}'?", name, whole)
                         : fmt::format("loss: {}", error.what()));
  }
  training.loss = [op](const Tensor& output, const Tensor& target) {
    return call(op, output, target);
  };
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
    fail(fmt::format("{}\n  plugins were looked for in: {}", error.what(),
                     messages::escaped(joined(list_plugins().folders))),
         error.code());
  }
}

void open(Training& training, const std::string& file, const Overrides& overrides) {
  training.config = read_config(file, overrides.forward_alone);
  TrainingConfig& config = training.config;
  if (overrides.seed >= 0) config.seed = static_cast<uint64_t>(overrides.seed);
  if (!overrides.device.empty()) config.device = overrides.device;
  config.compile = config.compile || overrides.compile;
  if (!overrides.amp.empty()) config.amp = {overrides.amp, overrides.amp_dtype, 0};
  const auto replace = [](int64_t& count, int64_t value, const char* name, const char* other) {
    if (value < 0) return;
    if (count == 0) fail(fmt::format("--{}: this training counts its {}", name, other));
    count = value;
  };
  replace(config.epochs, overrides.epochs, "epochs", "steps");
  replace(config.steps, overrides.steps, "steps", "epochs");
  load_all_plugins();
  try {
    training.device = find_device(config.device.empty() ? "cpu" : config.device);
  } catch (const Error& error) {
    if (config.device.empty() || !overrides.device.empty()) throw;
    fail_at(config.file, config.device_line, fmt::format("device: {}", error.what()));
  }
}

void make_model(Training& training) {
  const Description& model = training.config.model;
  if (training.of_text()) {
    training.model = build_layer(with_vocabulary(model, training.vocabulary.size(), {}));
  } else if (training.ids > 0) {
    training.model = build_layer(with_vocabulary(model, training.ids, training.padding));
  } else {
    training.model = build_layer(model);
  }
  training.model.to(training.device);
  if (!training.config.amp.policy.empty()) lower(training);
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
  if (training.config.loss_line != 0) find_loss(training);
  try_out(training, all);  // makes the parameters of lazy layers, too
  if (training.config.trains()) make_optimizer(training);
}

void load_weights(const Training& training, const NamedTensors& state, const std::string& weights) {
  try {
    training.model.load_state_dict(state);
  } catch (const Error& error) {
    fail(fmt::format("{}: does not fit the model of {}: {}", shown(weights),
                     shown(training.config.file), error.what()),
         error.code());
  }
  for (const auto& [name, tensor] : training.model.state_dict()) {
    if (!tensor.dtype().is_float() || !isnan(tensor).any().item<bool>()) continue;
    fail(fmt::format("{}: '{}' has values that are NaN", shown(weights), name),
         TN_INVALID_ARGUMENT);
  }
}

void check_batches(const Training& training) {
  const TrainingConfig& config = training.config;
  const int64_t items = training.train.size(), batch = std::min(items, config.batch_size);
  if (config.drop_last && items < config.batch_size) {
    fail_at(
        config.file, config.batch_line,
        fmt::format("batch_size: is {} and there are {} items to train on, and so with drop_last "
                    "no batch",
                    config.batch_size, items));
  }
  const int64_t last = config.drop_last ? 0 : items % batch;
  const auto has_single = [&](int64_t n) {  // as Trainer cuts a batch into parts
    if (n == 0) return false;
    const int64_t part = (n - 1) / config.accumulate + 1;
    return part == 1 || n % part == 1;
  };
  if (!has_single(batch) && !has_single(last)) return;
  const NoGrad no_grad;
  Generator random(random_state());  // what is drawn here, nobody drew
  const GeneratorGuard guard(random);
  NamedTensors state = training.model.state_dict();
  for (auto& [name, tensor] : state) tensor = tensor.clone();
  try {
    data::DataLoader items(items_of(training, true), {.batch_size = 1});
    const auto [x, y] = *items.begin();
    training.model.invoke<Tensor>("forward", x.to(training.device));
  } catch (const Error& error) {
    const bool parts = config.accumulate > 1;
    fail_at(
        config.file, config.batch_line,
        fmt::format("batch_size: {} items in batches of {}{} leave {} of a single item, on which "
                    "the model cannot be trained; expected another batch_size{}\n  {}",
                    items, config.batch_size,
                    parts ? fmt::format(" in {} parts", config.accumulate) : "",
                    parts ? "a part" : "a batch", last == 1 ? ", or \"drop_last\": true" : "",
                    error.what()));
  }
  training.model.load_state_dict(state);
}

int64_t steps_of(const Training& training) {
  const TrainingConfig& config = training.config;
  if (training.of_text()) return config.steps;
  int64_t steps = 0;
  const int64_t batches =
      data::DataLoader(training.train, loader_options(training, config.batch_size, true)).size();
  return __builtin_mul_overflow(config.epochs, batches, &steps) ? INT64_MAX : steps;
}

Trainer make_trainer(const Training& training, bool compile) {
  const TrainingConfig& config = training.config;
  TrainerOptions options{
      .clip_grad_norm = config.clip_grad_norm, .accumulate = config.accumulate, .compile = compile};
  if (training.precision) {
    options.autocast = training.precision->lower();
    options.policy = training.precision->policy();
    if (training.precision->scaler().is_enabled()) options.scaler = &training.precision->scaler();
  }
  try {
    if (config.schedule.make) {
      const int64_t steps = steps_of(training);
      options.schedule = config.schedule.make(steps);
      // A formula looks at all of its steps when it is first asked.
      options.schedule.at(std::max<int64_t>(steps, 1) - 1, training.optimizer.lr());
    }
    optim::Scheduler::expect_momentum(training.optimizer, options.schedule);
  } catch (const Error& error) {
    fail_at(config.file, config.schedule.line, fmt::format("schedule: {}", error.what()));
  }
  return Trainer(training.model, training.optimizer, training.loss, options);
}

Items items_of(const Training& training, bool is_trained) {
  Items items{is_trained ? training.train : training.test, training.pictures, {}, is_trained};
  if (is_trained) items.transforms = training.config.augment;
  return items;
}

data::LoaderOptions loader_options(const Training& training, int64_t batch_size, bool is_trained) {
  const int64_t workers = training.config.data.workers;
  int64_t used = 0;
  if (training.pictures != nullptr)
    used = workers >= 0 ? workers : std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  return {.batch_size = batch_size,
          .shuffle = is_trained,
          .num_workers = used,
          .drop_last = is_trained && training.config.drop_last};
}

std::pair<Tensor, Tensor> first_batch(const Training& training) {
  if (training.of_text()) return TextBatches(training).next();
  const int64_t batch = training.config.batch_size;
  if (training.pictures != nullptr) {
    data::DataLoader loader(items_of(training, true), loader_options(training, batch, true));
    return *loader.begin();
  }
  data::DataLoader loader(training.train, {.batch_size = batch, .shuffle = true});
  return *loader.begin();
}

}  // namespace tenon::cli
