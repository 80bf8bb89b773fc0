#include "try_out.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include <tenon/metrics.hpp>

#include "text.h"

namespace tenon::cli {
namespace {

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
    const Object file = data::detail::csv_file(data.paths[0], data.csv);
    fail_at(data.paths[0], static_cast<int>(file.invoke<int64_t>("line", item)), message);
  }
  fail(fmt::format("{}: item {}: {}", shown(data.paths.back()), item, message));
}

void try_loss(const Training& training, const Tensor& output, const Tensor& target) {
  const TrainingConfig& config = training.config;
  if (!training.loss) return;
  const auto wrong = [&](const std::string& what) {
    fail_at(config.file, config.loss_line, "loss: " + what);
  };
  Tensor loss;
  try {
    loss = training.loss(output, target);
  } catch (const Error& error) {
    wrong(error.what());
  }
  if (loss.numel() != 1) {
    wrong(fmt::format("{} gives a tensor of shape [{}], expected one number",
                      config.loss_layer ? config.loss_layer->name : config.loss,
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

// Items of the training, without what is drawn for them, or with it.
std::pair<Tensor, Tensor> first_items(const Training& training, bool is_trained, int64_t n) {
  Items items = items_of(training, true);
  items.is_trained = is_trained;
  if (!is_trained) items.transforms.clear();
  data::DataLoader loader(std::move(items), {.batch_size = n, .seed = 0});
  return *loader.begin();
}

// Whether the transforms take the first image.
void try_augment(const Training& training) {
  const TrainingConfig& config = training.config;
  if (config.augment.empty()) return;
  try {
    first_items(training, true, 1);
  } catch (const data::SampleError& error) {
    fail_at(config.file, config.augment_line,
            fmt::format("augment: {}", data::detail::words_of(error.cause).first));
  }
}

void try_rows(const Training& training, const data::Dataset& all) {
  try_augment(training);
  data::Dataset rows;
  std::tie(rows.x, rows.y) = first_items(training, false, 2);
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

// Indices as windows go through model and loss. `classes`: the columns that are expected.
void try_windows(const Training& training, const std::vector<int64_t>& indices) {
  const Vocabulary& vocabulary = training.vocabulary;
  const int64_t context = training.config.data.context, classes = vocabulary.size();
  const auto n = static_cast<int64_t>(indices.size()), windows = n / context;
  const Tensor target = Tensor::from(indices).to(training.device);
  const Tensor output = try_model(training, reshape(target, {windows, context}));
  // A model may have columns for more tokens than there are, as those of a multiple of 64 have.
  const bool fits =
      output.dim() == 2 && output.size(0) == n &&
      (output.size(1) == classes || (vocabulary.of_tokens() && output.size(1) > classes));
  if (!fits) {
    fail_at(
        training.config.file, training.config.model_line,
        fmt::format("model: gives a tensor of shape [{}] for {} windows of {} {}, expected "
                    "[{}, {}]: a row for each, a column for each of the {} {} of the vocabulary",
                    fmt::join(output.sizes(), ", "), windows, context, vocabulary.unit(), n,
                    classes, classes, vocabulary.unit()));
  }
  try_loss(training, output, target);
}

// Windows in which each character of the vocabulary is.
void try_characters(const Training& training) {
  const int64_t context = training.config.data.context, classes = training.vocabulary.size();
  std::vector<int64_t> indices(static_cast<size_t>((classes + context - 1) / context * context));
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i) % classes;
  try_windows(training, indices);
}

// A window with the last of the tokens, which may be many.
void try_tokens(const Training& training) {
  const int64_t classes = training.vocabulary.size();
  std::vector<int64_t> indices(static_cast<size_t>(training.config.data.context));
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = classes - 1 - static_cast<int64_t>(i) % classes;
  try {
    try_windows(training, indices);
  } catch (const Error& error) {
    fail(
        fmt::format("{}\n  the tokenizer {} has tokens of ids 0 to {}; \"vocab\" as an option of a "
                    "layer stands for {}",
                    error.what(), shown(training.config.data.tokenizer), classes - 1, classes),
        error.code());
  }
}

}  // namespace

void try_out(const Training& training, const data::Dataset& all) {
  const NoGrad no_grad;
  Generator random(random_state());  // what is drawn here, nobody drew
  const GeneratorGuard guard(random);
  training.model.eval();
  {
    const auto scope = training.scope();
    if (!training.of_text()) {
      try_rows(training, all);
    } else if (training.vocabulary.of_tokens()) {
      try_tokens(training);
    } else {
      try_characters(training);
    }
  }
  training.model.train();
}

}  // namespace tenon::cli
