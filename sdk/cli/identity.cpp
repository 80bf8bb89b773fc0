#include "identity.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "text.h"

namespace tenon::cli {
namespace {

std::string text_of(const std::optional<Precision>& precision) {
  if (!precision) return "none";
  const Dtype lower = precision->lower();
  return precision->policy() + (lower ? std::string(" ") + lower.name() : "");
}

template <typename T>
std::string text_of_value(const T& held) {
  if constexpr (std::is_same_v<T, NoneType>) {
    return "none";
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                       std::is_same_v<T, std::vector<double>>) {
    return fmt::format("[{}]", fmt::join(held, ", "));
  } else {
    return fmt::format("{}", held);
  }
}

std::string text_of(const Description& made) {
  std::vector<std::string> options;
  for (const Description::Option& option : made.options) {
    options.push_back(
        option.name + "=" +
        std::visit([](const auto& held) { return text_of_value(held); }, option.value.held));
  }
  std::ranges::sort(options);
  return fmt::format("{}({})", made.name, joined(options));
}

std::string shape_of(const Tensor& items) {
  return fmt::format("[{}]", fmt::join(items.sizes().begin() + 1, items.sizes().end(), ", "));
}

// The first lines that differ, without what they begin with.
std::pair<std::string, std::string> first_difference(std::string_view a, std::string_view b) {
  const auto take_line = [](std::string_view* text) {
    std::string_view line = text->substr(0, text->find('\n'));
    text->remove_prefix(std::min(text->size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    return line;
  };
  std::string_view line_of_a, line_of_b;
  do {
    line_of_a = take_line(&a);
    line_of_b = take_line(&b);
  } while (line_of_a == line_of_b && !(a.empty() && b.empty()));
  const auto shown = [](std::string_view line) {
    return line.empty() || line == ")" ? std::string("nothing more") : std::string(line);
  };
  return {shown(line_of_a), shown(line_of_b)};
}

// What the pictures become before the model sees them.
std::string text_of_pictures(const DataConfig& data) {
  const std::vector<int64_t>& seen = data.crop.empty() ? data.resize : data.crop;
  return fmt::format("{} [{}] of [{}], scale {:.6g}, mean [{}], std [{}]",
                     data.is_gray ? "L" : "RGB", fmt::join(seen, ", "),
                     fmt::join(data.resize, ", "), data.scale, fmt::join(data.mean, ", "),
                     fmt::join(data.std, ", "));
}

std::string text_of_targets(const Training& training) {
  if (training.of_numbers()) return fmt::format("numbers of {}", shape_of(training.train.y));
  std::set<int64_t> classes;
  for (const data::Dataset* part : {&training.train, &training.test})
    classes.merge([part] {
      const std::vector<int64_t> labels = part->y.to_vector<int64_t>();
      return std::set<int64_t>(labels.begin(), labels.end());
    }());
  return fmt::format("{} classes", classes.size());
}

// Of pictures these are their numbers and classes alone.
uint64_t checksum_of(const Training& training) {
  uint64_t sum = training.text.checksum() ^ training.validation.checksum();
  for (const data::Dataset* part : {&training.train, &training.test}) {
    for (const Tensor& tensor : {part->x, part->y}) {
      if (!tensor.defined()) continue;
      const Tensor rows = tensor.contiguous();
      const void* data = rows.dtype().is_float() ? static_cast<const void*>(rows.data<float>())
                                                 : rows.data<int64_t>();
      const auto bytes = static_cast<size_t>(rows.numel() * rows.dtype().itemsize());
      sum = cli::checksum_of(data, bytes, sum);
    }
  }
  return sum;
}

}  // namespace

Identity::Identity(const Training& training)
    : parts_{{"model", training.model.to_string()},
             {"optimizer", text_of(training.config.optimizer)},
             {"loss", training.config.loss_layer ? text_of(*training.config.loss_layer)
                                                 : training.config.loss},
             {"schedule", training.config.schedule.text},
             {"amp", text_of(training.precision)},
             {"accumulate", fmt::format("{}", training.config.accumulate)},
             {"clip_grad_norm", fmt::format("{}", training.config.clip_grad_norm)},
             {"drop_last", training.config.drop_last ? "true" : "false"}} {
  const auto add = [this](const char* name, std::string text) {
    parts_.push_back({name, std::move(text), true});
  };
  if (!training.of_text()) {
    const DataConfig& data = training.config.data;
    add("items to train on", fmt::format("{}", training.train.size()));
    add("items held out", fmt::format("{}", training.test.size()));
    add("an item", training.pictures
                       ? text_of_pictures(data)
                       : fmt::format("{}, scale {:.6g}", shape_of(training.train.x), data.scale));
    add("targets", text_of_targets(training));
  }
  add("the sum over all values", fmt::format("{:016x}", checksum_of(training)));
}

NamedTensors Identity::state_dict() const {
  NamedTensors state;
  for (const Part& part : parts_)
    state.emplace_back(part.name,
                       Tensor::from(std::vector<uint8_t>(part.text.begin(), part.text.end())));
  return state;
}

void Identity::load_state_dict(const NamedTensors& state) const {
  for (const Part& part : parts_) {
    const auto found = std::ranges::find(state, part.name, &NamedTensors::value_type::first);
    if (found == state.end()) fail(fmt::format("the checkpoint has no '{}'", part.name));
    const std::vector<uint8_t> bytes = found->second.to_vector<uint8_t>();
    const std::string there(bytes.begin(), bytes.end());
    if (there == part.text) continue;
    const std::string what =
        part.of_data ? "other data: " + part.name + ":" : "another " + part.name + ":";
    const auto [that, own] = first_difference(there, part.text);
    fail(fmt::format("it is of {} {} there, {} here", what, printable(that, 200),
                     printable(own, 200)));
  }
}

}  // namespace tenon::cli
