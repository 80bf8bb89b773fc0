#include "training_data.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "text.h"

namespace tenon::cli {
namespace {

std::string described(const Tensor& tensor) {
  return fmt::format("[{}] ({})", fmt::join(tensor.sizes(), ", "), tensor.dtype().name());
}

// What the CSV reader refuses with its line: a number that is none, or that float32 cannot hold.
void check_finite(const TrainingConfig& config, const Tensor& read, const Tensor& scaled,
                  const std::string& name, const std::string& in, double factor) {
  const std::vector<float> values = scaled.to_vector<float>();
  const auto wrong = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
  if (wrong == values.end()) return;
  const int64_t at = wrong - values.begin(), item = scaled.numel() / scaled.size(0);
  const auto value = select(reshape(read, {-1}), 0, at).to(float64).item<double>();
  const std::string scale =
      std::isfinite(value) && factor != 1 ? fmt::format(" times the scale {}", factor) : "";
  fail_at(config.file, config.data.line,
          fmt::format("data: {}: item {}, value {} of {}: {}{} is no number that float32 holds{}",
                      name, at / item, at % item, item, value, scale, in));
}

// Tensors as they were read: items, and the class of each or numbers.
data::Dataset as_dataset(const TrainingConfig& config, const Tensor& x, const std::string& x_name,
                         const Tensor& y, const std::string& y_name, const std::string& in = "") {
  const bool of_numbers = y.dtype().is_float();
  if (x.dim() < 2 || y.dim() < 1 || (!of_numbers && y.dim() != 1) || x.size(0) != y.size(0)) {
    fail_at(config.file, config.data.line,
            fmt::format("data: {} is {}, {} is {}; expected [n, ..] and [n] with the same n{}",
                        x_name, described(x), y_name, described(y), in));
  }
  if (x.size(0) == 0) {
    fail_at(config.file, config.data.line,
            fmt::format("data: {} is {}, {} is {}: there are no examples{}", x_name, described(x),
                        y_name, described(y), in));
  }
  if (y.dtype() == bool_) {
    fail_at(
        config.file, config.data.line,
        fmt::format("data: {} is {}, expected integers, the classes, or floats, numbers to learn{}",
                    y_name, described(y), in));
  }
  const data::Dataset all = {x.to(float32) * config.data.scale, y.to(of_numbers ? float32 : int64)};
  check_finite(config, x, all.x, x_name, in, config.data.scale);
  if (of_numbers) check_finite(config, y, all.y, y_name, in, 1);
  return all;
}

data::Dataset read_dataset(const TrainingConfig& config) {
  const DataConfig& data = config.data;
  switch (data.kind) {
    case DataConfig::Kind::kIdx: {
      const Tensor images = load_idx(data.paths[0]);
      return as_dataset(config, images, shown(data.paths[0]), load_idx(data.paths[1]),
                        shown(data.paths[1]));
    }
    case DataConfig::Kind::kSafetensors: {
      const std::string& path = data.paths[0];
      const Tensor input = load(path, data.input.c_str());
      const Tensor target = load(path, data.target.c_str());
      return as_dataset(config, input, printable(data.input), target, printable(data.target),
                        fmt::format(" ({})", shown(path)));
    }
    default:
      return data::csv(data.paths[0], {.label = data.label,
                                       .scale = data.scale,
                                       .header = data.header,
                                       .targets = data.targets});
  }
}

// Items in the shape that the file gives them.
data::Dataset shaped(const TrainingConfig& config, data::Dataset all) {
  const std::vector<int64_t>& shape = config.data.shape;
  if (shape.empty()) return all;
  std::vector<int64_t> sizes = {all.size()};
  int64_t elements = all.size();
  bool fits = true;
  for (const int64_t size : shape) {
    fits = fits && !__builtin_mul_overflow(elements, size, &elements);
    sizes.push_back(size);
  }
  if (!fits || elements != all.x.numel()) {
    fail_at(config.file, config.data.line,
            fmt::format("data: shape is [{}], but an item has {} values", fmt::join(shape, ", "),
                        all.x.numel() / std::max<int64_t>(all.size(), 1)));
  }
  return {reshape(all.x, sizes), all.y};
}

}  // namespace

data::Dataset read_table(Training& training) {
  const TrainingConfig& config = training.config;
  const data::Dataset all = shaped(config, read_dataset(config));
  std::tie(training.train, training.test) = all.hold_out(config.data.test_every);
  if (training.train.size() == 0) {
    fail_at(config.file, config.data.line,
            fmt::format("data: {} has one item, and test_every keeps it for the test",
                        shown(config.data.paths[0])));
  }
  return all;
}

void split_text(Training& training) {
  const TrainingConfig& config = training.config;
  const DataConfig& data = config.data;
  std::string text;
  try {
    text = read_first_text(data.paths);
  } catch (const Error& error) {
    fail_at(config.file, data.line, fmt::format("data: {}", error.what()));
  }
  const std::string_view all = text;
  const auto held = static_cast<size_t>(static_cast<double>(all.size()) * data.validation);
  const auto context = static_cast<size_t>(data.context);
  const size_t trained = all.size() - held;
  if (held <= context || trained <= context) {
    fail_at(config.file, data.line,
            fmt::format("data: the text has {} characters, {} of them for the training and {} for "
                        "the validation; expected more than the context, {}, in each",
                        all.size(), trained, held, context));
  }
  training.vocabulary = Vocabulary(all);
  training.text = TextData(all.substr(0, trained), training.vocabulary, data.context);
  training.validation = TextData(all.substr(trained), training.vocabulary, data.context);
}

}  // namespace tenon::cli
