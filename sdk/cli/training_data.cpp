#include "training_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include <tenon/data/text.hpp>

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

// Texts as ids that no other text changes: a byte's is its value and 1; 0 fills up.
std::vector<std::vector<int64_t>> as_bytes(Training& training,
                                           const std::vector<std::string>& texts) {
  std::vector<std::vector<int64_t>> rows;
  for (const std::string& text : texts) {
    rows.emplace_back();
    const auto n = static_cast<size_t>(training.config.data.length);
    for (const char c : text.substr(0, n))
      rows.back().push_back(int64_t{static_cast<unsigned char>(c)} + 1);
  }
  training.ids = 257;
  training.padding = 0;
  return rows;
}

Tensor padded(const std::vector<std::vector<int64_t>>& rows, int64_t padding) {
  size_t longest = 1;
  for (const std::vector<int64_t>& row : rows) longest = std::max(longest, row.size());
  std::vector<int64_t> ids;
  for (const std::vector<int64_t>& row : rows) {
    ids.insert(ids.end(), row.begin(), row.end());
    ids.insert(ids.end(), longest - row.size(), padding);
  }
  return Tensor::from(ids, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)});
}

// Texts as ids [n, length of the longest], filled up at their ends.
data::Dataset read_texts(Training& training) {
  const DataConfig& data = training.config.data;
  const data::TextFolder folder(data.paths[0]);
  std::vector<std::string> texts;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < folder.size(); ++i) {
    auto [text, label] = folder.get(i);
    texts.push_back(std::move(text));
    labels.push_back(label);
  }
  if (data.tokenizer.empty()) return {padded(as_bytes(training, texts), 0), Tensor::from(labels)};
  const Tokenizer tokenizer(data.tokenizer);
  training.ids = Vocabulary::of_tokenizer(data.tokenizer).size();
  std::optional<int64_t> pad_id = tokenizer.pad_id();
  // A tokenizer without a token to fill up with gets one id more.
  if (!pad_id) training.padding = pad_id = training.ids++;
  const Tokenizer::Batch batch = tokenizer.encode_batch(
      texts, {.max_length = data.length, .pad_left = false, .pad_id = pad_id});
  const std::vector<int64_t> mask = batch.attention_mask.to_vector<int64_t>();
  const auto filled = std::ranges::find(mask, 0);
  if (filled != mask.end())
    training.padding = batch.input_ids.data<int64_t>()[filled - mask.begin()];
  return {batch.input_ids, Tensor::from(labels)};
}

// Pictures by their numbers; they are decoded when they are needed.
data::Dataset read_pictures(Training& training) {
  training.pictures = std::make_shared<const Pictures>(training.config.data);
  std::vector<int64_t> numbers(static_cast<size_t>(training.pictures->size()));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return {Tensor::from(numbers), Tensor::from(training.pictures->labels())};
}

data::Dataset read_dataset(Training& training) {
  const TrainingConfig& config = training.config;
  const DataConfig& data = config.data;
  switch (data.kind) {
    case DataConfig::Kind::kTextFolder:
    case DataConfig::Kind::kImageFolder:
      return data.kind == DataConfig::Kind::kTextFolder ? read_texts(training)
                                                        : read_pictures(training);
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
    default: {
      data::CsvOptions options = data.csv;
      options.scale = data.scale;
      return data::csv(data.paths[0], options);
    }
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

// How many of so many characters or tokens are trained on; the others, at the end, are held out.
size_t trained_of(const DataConfig& data, size_t all, const char* unit) {
  const auto held = static_cast<size_t>(static_cast<double>(all) * data.validation);
  const auto context = static_cast<size_t>(data.context);
  const size_t trained = all - held;
  if (held <= context || trained <= context) {
    fail(
        fmt::format("the text has {} {}, {} of them for the training and {} for the validation; "
                    "expected more than the context, {}, in each",
                    all, unit, trained, held, context));
  }
  return trained;
}

void split_characters(Training& training) {
  const DataConfig& data = training.config.data;
  std::string text;
  for (const std::string& file : first_text_files(data.paths)) text += read_text(file);
  const std::string_view all = text;
  const size_t trained = trained_of(data, all.size(), "characters");
  training.vocabulary = Vocabulary::of_characters(all);
  training.text = TextData(all.substr(0, trained), training.vocabulary, data.context);
  training.validation = TextData(all.substr(trained), training.vocabulary, data.context);
}

// Files become tokens one by one.
void split_tokens(Training& training) {
  const DataConfig& data = training.config.data;
  training.vocabulary = Vocabulary::of_tokenizer(data.tokenizer);
  std::vector<int32_t> ids;
  for (const std::string& file : first_text_files(data.paths)) {
    try {
      const std::vector<int64_t> own = training.vocabulary.encode(read_text(file));
      ids.insert(ids.end(), own.begin(), own.end());
    } catch (const Error& error) {
      fail(fmt::format("{}: {}", shown(file), error.what()), error.code());
    }
  }
  const auto middle =
      ids.begin() + static_cast<std::ptrdiff_t>(trained_of(data, ids.size(), "tokens"));
  training.text = TextData({ids.begin(), middle}, data.context);
  training.validation = TextData({middle, ids.end()}, data.context);
}

}  // namespace

data::Dataset read_table(Training& training) {
  const TrainingConfig& config = training.config;
  data::Dataset read;
  try {
    read = read_dataset(training);
  } catch (const Error& error) {
    // With the line that names the file, unless it is there.
    if (std::string_view(error.what()).starts_with(shown(config.file) + ":")) throw;
    fail_at(config.file, config.data.line, fmt::format("data: {}", error.what()));
  }
  const data::Dataset all = shaped(config, std::move(read));
  std::tie(training.train, training.test) = all.hold_out(config.data.test_every);
  if (training.train.size() == 0) {
    fail_at(config.file, config.data.line,
            fmt::format("data: {} has one item, and test_every keeps it for the test",
                        shown(config.data.paths[0])));
  }
  return all;
}

void split_text(Training& training) {
  const DataConfig& data = training.config.data;
  try {
    data.tokenizer.empty() ? split_characters(training) : split_tokens(training);
  } catch (const Error& error) {
    fail_at(training.config.file, data.line, fmt::format("data: {}", error.what()));
  }
}

}  // namespace tenon::cli
