// tenon generate: text from a model that was trained on text, a character or a token at a time.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "amp_options.h"
#include "commands.h"
#include "process.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;

constexpr int64_t kMostCharacters = 1'000'000'000, kMostChoices = 1'000'000;

double temperature_of(const Line& line) {
  const std::string text = line.get("temperature");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) ||
      std::isinf(value)) {
    throw UsageError(
        fmt::format("--temperature is '{}', expected a number that is 0 or more", printable(text)));
  }
  return value;
}

struct Sampling {
  double temperature = 1;  // 0: the likeliest
  int64_t top_k = 0;       // of the likeliest; 0: of all
  uint64_t state = 0;      // of the random numbers
};

// One of the indices of `scores`, by exp(score / temperature).
int64_t sampled(const std::vector<float>& scores, Sampling& sampling) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](int64_t i) { return scores[static_cast<size_t>(i)]; });
  if (sampling.temperature == 0) return order[0];
  if (sampling.top_k > 0 && sampling.top_k < static_cast<int64_t>(order.size())) {
    order.resize(static_cast<size_t>(sampling.top_k));
  }
  const double top = scores[static_cast<size_t>(order[0])];
  std::vector<double> sums;
  double sum = 0;
  for (const int64_t i : order) {
    sum += std::exp((scores[static_cast<size_t>(i)] - top) / sampling.temperature);
    sums.push_back(sum);
  }
  const double uniform =
      static_cast<double>(data::detail::next_random(sampling.state) >> 11) * 0x1p-53;
  const auto found = std::ranges::upper_bound(sums, uniform * sum);
  return order[static_cast<size_t>(
      std::min<int64_t>(found - sums.begin(), static_cast<int64_t>(order.size()) - 1))];
}

std::vector<int64_t> indices_of(const std::string& prompt, const Vocabulary& vocabulary) {
  if (prompt.empty()) fail("--prompt: is empty, expected at least one character");
  std::vector<int64_t> indices;
  if (vocabulary.of_tokens()) {
    try {
      indices = vocabulary.encode(prompt);
    } catch (const Error& error) {
      fail(fmt::format("--prompt: {}", error.what()), error.code());
    }
    if (indices.empty())
      fail(fmt::format("--prompt: the tokenizer makes no token of '{}', expected one at least",
                       printable(prompt)));
    return indices;
  }
  for (const char c : prompt) {
    indices.push_back(vocabulary.index(c));
    if (indices.back() < 0) {
      fail(
          fmt::format("--prompt: {} is none of the {} characters that the model knows; expected "
                      "another --prompt",
                      quoted(c), vocabulary.size()));
    }
  }
  return indices;
}

// The scores of what follows the last indices of `text`, as many as the model was trained on. What no
// token stands for never follows.
std::vector<float> next_scores(const Training& training, const std::vector<int64_t>& text) {
  const Vocabulary& vocabulary = training.vocabulary;
  const auto n = std::min(static_cast<int64_t>(text.size()), training.config.data.context);
  const Tensor x = Tensor::from(std::vector<int64_t>(text.end() - n, text.end()), {1, n});
  const auto scope = training.scope();
  const Tensor output = training.model(x.to(training.device));
  const int64_t classes = vocabulary.size();
  if (output.dim() != 2 || output.size(0) != n || output.size(1) < classes ||
      (!vocabulary.of_tokens() && output.size(1) != classes)) {
    fail_at(training.config.file, training.config.model_line,
            fmt::format("model: gives a tensor of shape [{}] for {} {}, expected [{}, {}]",
                        fmt::join(output.sizes(), ", "), n, vocabulary.unit(), n, classes));
  }
  std::vector<float> scores = select(output, 0, n - 1).to(float32).to_vector<float>();
  if (!std::ranges::all_of(scores, [](float score) { return std::isfinite(score); })) {
    fail("the model gives scores that are not finite");
  }
  scores.resize(static_cast<size_t>(classes));
  for (int64_t i = 0; i < classes; ++i) {
    if (!vocabulary.has(i)) scores[static_cast<size_t>(i)] = std::numeric_limits<float>::lowest();
  }
  return scores;
}

// What each index adds to the text. Tokens are decoded with those before them, since blanks depend on
// these, and a character may be several tokens.
class Speech {
 public:
  Speech(const Vocabulary& vocabulary, std::vector<int64_t> prompt)
      : vocabulary_(vocabulary), ids_(std::move(prompt)) {
    constexpr size_t kBefore = 8;
    ids_.erase(ids_.begin(),
               ids_.end() - static_cast<std::ptrdiff_t>(std::min(ids_.size(), kBefore)));
    said_ = ids_.size();
  }
  std::string add(int64_t index) {
    if (!vocabulary_.of_tokens()) return {vocabulary_.characters()[static_cast<size_t>(index)]};
    ids_.push_back(index);
    constexpr size_t kMostWaiting = 16;
    return text(/*waits=*/ids_.size() - said_ < kMostWaiting);
  }
  // What waited for the rest of a character.
  std::string end() { return vocabulary_.of_tokens() ? text(/*waits=*/false) : ""; }

 private:
  // A part of a character is decoded as U+FFFD, and a token that is not shown as nothing.
  std::string text(bool waits) {
    const std::string before =
        vocabulary_.decode({ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(said_)});
    const std::string all = vocabulary_.decode(ids_);
    if (waits && (all.size() <= before.size() || all.ends_with("\xef\xbf\xbd"))) return "";
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(said_));
    said_ = ids_.size();
    return all.size() > before.size() ? all.substr(before.size()) : "";
  }

  const Vocabulary& vocabulary_;
  std::vector<int64_t> ids_;
  size_t said_ = 0;  // of these, whose text was given
};

// Writes characters as they come. On a terminal what cannot be seen is escaped: a model says what
// it has read, and that may be anything.
class Writer {
 public:
  void write(std::string_view characters) {
    pending_ += characters;
    const std::string text = terminal_ ? visible() : std::exchange(pending_, "");
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    check_output();
  }

 private:
  // The bytes of one character of UTF-8 come one by one: the first of them wait for the last.
  bool is_incomplete() const {
    const std::string_view rest = std::string_view(pending_).substr(1);
    return static_cast<uint8_t>(pending_[0]) >= 0xc2 && rest.size() < 3 &&
           std::ranges::all_of(rest, [](char c) { return (c & 0xc0) == 0x80; });
  }
  std::string visible() {
    std::string text;
    while (!pending_.empty()) {
      uint32_t code = 0;
      const size_t bytes = messages::first_character(pending_, &code);
      if (bytes == 0 && is_incomplete()) break;
      const size_t n = std::max<size_t>(bytes, 1);
      text += messages::escaped(std::string_view(pending_).substr(0, n), "\n\t");
      pending_.erase(0, n);
    }
    return text;
  }

  const bool terminal_ = ::isatty(STDOUT_FILENO) == 1;
  std::string pending_;
};

// Characters are those of the weights. A tokenizer is a file, and the weights tell whether it is theirs.
void find_vocabulary(Training& training, NamedTensors& state, const std::string& weights) {
  const TrainingConfig& config = training.config;
  const DataConfig& data = config.data;
  const Vocabulary there = take_vocabulary(state, weights);
  if (data.tokenizer.empty() && !there.of_tokens()) {
    training.vocabulary = there;
    return;
  }
  if (data.tokenizer.empty()) {
    fail_at(config.file, data.line,
            fmt::format("data: {} is of a text of tokens; expected the field 'tokenizer' with the "
                        "file that made them",
                        shown(weights)));
  }
  try {
    training.vocabulary = Vocabulary::of_tokenizer(data.tokenizer);
  } catch (const Error& error) {
    fail_at(config.file, data.line, fmt::format("data: {}", error.what()));
  }
  const std::string other = Vocabulary::difference(there, training.vocabulary);
  if (!other.empty()) {
    fail_at(config.file, data.line,
            fmt::format("data: {} is of a text with {}", shown(weights), other));
  }
}

int run_generate(const Line& line) {
  if (!line.has("weights")) throw UsageError("generate: --weights FILE is missing");
  const std::string weights = path_of(line, "--weights");
  const std::string prompt = line.get("prompt");
  const int64_t length = integer_of(line, "length", 1, kMostCharacters);
  Sampling sampling;
  sampling.temperature = temperature_of(line);
  if (line.has("top-k")) sampling.top_k = integer_of(line, "top-k", 1, kMostChoices);
  sampling.state = static_cast<uint64_t>(integer_of(line, "seed", 0, INT64_MAX));

  Overrides overrides{.device = name_of(line, "device")};
  read_amp(line, "generate", &overrides);
  Training training;
  open(training, path_of(line, "FILE.json"), overrides);
  if (!training.of_text()) {
    fail_at(training.config.file, training.config.data.line,
            "data: only a model of text generates; this one is of a table");
  }
  NamedTensors state = read_weights(weights);
  find_vocabulary(training, state, weights);
  std::vector<int64_t> text = indices_of(prompt, training.vocabulary);
  make_model(training);
  load_weights(training, state, weights);
  training.model.eval();
  const NoGrad no_grad;
  std::vector<float> scores = next_scores(training, text);  // refused before anything is written
  Writer writer;
  writer.write(prompt);
  Speech speech(training.vocabulary, text);
  for (int64_t i = 0; i < length; ++i) {
    if (i > 0) scores = next_scores(training, text);
    text.push_back(sampled(scores, sampling));
    writer.write(speech.add(text.back()));
  }
  writer.write(speech.end() + "\n");
  return 0;
}

}  // namespace

Command generate_command() {
  Command command{"generate", "Writes text with a model that was trained on text.", "FILE.json",
                  "the training that made the weights"};
  command.options.add_options()  //
      ("weights", po::value<std::string>()->value_name("FILE"),
       "the safetensors file (tenon train --save)")  //
      ("prompt", po::value<std::string>()->value_name("TEXT")->default_value("\n", "a new line"),
       "how the text begins")  //
      ("length", po::value<std::string>()->value_name("N")->default_value("500"),
       "characters after the prompt, or tokens where the training has a tokenizer")  //
      ("temperature", po::value<std::string>()->value_name("T")->default_value("1"),
       "below 1 likelier ones, above 1 less likely ones; 0: always the likeliest")  //
      ("top-k", po::value<std::string>()->value_name("K"),
       "choose among the K likeliest")  //
      ("seed", po::value<std::string>()->value_name("S")->default_value("0"),
       "the same seed gives the same text")  //
      ("device", po::value<std::string>()->value_name("NAME"),
       "where to compute (tenon devices), instead of the file's, or the cpu")  //
      ("help,h", "this text");
  add_amp_options(command.options, "compute");
  command.run = run_generate;
  return command;
}

}  // namespace tenon::cli
