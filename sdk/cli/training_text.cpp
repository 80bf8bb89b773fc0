// Of trainings on text: what is saved beside the weights, and batches of windows.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {

// Of no layer: their names begin with a number.
bool is_vocabulary(const NamedTensors::value_type& entry) {
  return entry.first == Vocabulary::kCharacters || entry.first == Vocabulary::kTokens;
}

}  // namespace

NamedTensors saved_state(const Training& training) {
  NamedTensors state = training.model.state_dict();
  const Vocabulary& vocabulary = training.vocabulary;
  if (training.of_text()) state.emplace_back(vocabulary.name(), vocabulary.to_tensor());
  return state;
}

static NamedTensors load_weights_of(const std::string& file) {
  try {
    return load(file);
  } catch (const Error& error) {
    if (error.code() != TN_DATA_LOSS) throw;
    fail(fmt::format("{} has no whole weights, as `tenon train` writes them with --save and "
                     "--checkpoint: {}",
                     shown(file), error.what()),
         error.code());
  }
}

NamedTensors read_weights(const std::string& file) {
  NamedTensors all = load_weights_of(file), weights;
  if (std::ranges::find(all, "step", &NamedTensors::value_type::first) == all.end()) return all;
  // Of a checkpoint (checkpoint.hpp): the model's part, and the loader's of the text.
  for (const auto& [name, tensor] : all) {
    if (name.starts_with("model.")) weights.emplace_back(name.substr(6), tensor);
    if (!name.starts_with("loader.")) continue;
    std::pair<std::string, Tensor> own(name.substr(7), tensor);
    if (is_vocabulary(own)) weights.push_back(std::move(own));
  }
  return weights.empty() ? all : weights;
}

Vocabulary take_vocabulary(NamedTensors& state, const std::string& weights) {
  const auto found = std::ranges::find_if(state, is_vocabulary);
  if (found == state.end()) {
    fail(fmt::format("{}: has no tensor 'vocabulary', which `tenon train --save` writes for a text",
                     shown(weights)));
  }
  try {
    Vocabulary vocabulary = Vocabulary::from_tensor(found->first, found->second);
    state.erase(found);
    return vocabulary;
  } catch (const Error& error) {
    fail(fmt::format("{}: {}", shown(weights), error.what()), TN_DATA_LOSS);
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
  const Vocabulary& vocabulary = training_.vocabulary;
  return {{"random", counted(std::bit_cast<int64_t>(state_))},
          {"places", counted(training_.text.places())},
          {"batch_size", counted(training_.config.batch_size)},
          {vocabulary.name(), vocabulary.to_tensor()}};
}

void TextBatches::load_state_dict(const NamedTensors& state) {
  NamedTensors rest = state;
  const Vocabulary there = take_vocabulary(rest, "the checkpoint");
  if (const std::string other = Vocabulary::difference(there, training_.vocabulary);
      !other.empty()) {
    fail(there.of_tokens() || training_.vocabulary.of_tokens()
             ? fmt::format("the checkpoint is of a text with {}", other)
             : "the text has other characters than that of the checkpoint");
  }
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

}  // namespace tenon::cli
