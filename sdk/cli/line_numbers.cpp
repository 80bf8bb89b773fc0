#include "line_numbers.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace tenon::cli {
namespace {

constexpr size_t kAtOnce = 64;  // steps whose numbers wait to be read

Tensor one(int64_t value) { return Tensor::from<int64_t>({value}, Ints()); }

const Tensor& entry(const NamedTensors& state, std::string_view name) {
  for (const auto& [key, tensor] : state) {
    if (key == name) return tensor;
  }
  fail(fmt::format("the checkpoint has no '{}'", name));
}

}  // namespace

void LineNumbers::add(const Tensor& loss, int64_t items, const Tensor& right) {
  unread_.push_back({loss, right, items});
  counts_right_ = counts_right_ || right.defined();
  if (unread_.size() == kAtOnce) read();
}

void LineNumbers::read() {
  for (const Unread& step : unread_) {
    loss_ += step.loss.item<double>() * static_cast<double>(step.items);
    items_ += step.items;
    if (step.right.defined()) right_ += step.right.item<int64_t>();
  }
  unread_.clear();
}

LineNumbers::Numbers LineNumbers::end() {
  read();
  const auto items = static_cast<double>(items_);
  Numbers numbers{loss_ / items, std::nullopt, items_};
  if (counts_right_) numbers.accuracy = static_cast<double>(right_) / items;
  loss_ = 0;
  items_ = right_ = 0;
  return numbers;
}

NamedTensors LineNumbers::state_dict() {
  read();
  return {{"loss", Tensor::from<double>({loss_}, Ints())},
          {"items", one(items_)},
          {"right", one(right_)}};
}

void LineNumbers::load_state_dict(const NamedTensors& state) {
  const double loss = entry(state, "loss").item<double>();
  const auto items = entry(state, "items").item<int64_t>(),
             right = entry(state, "right").item<int64_t>();
  if (!std::isfinite(loss) || items < 0 || right < 0 || right > items) {
    fail(fmt::format("the checkpoint says {} of {} items right and a loss of {}, which cannot be",
                     right, items, loss));
  }
  unread_.clear();
  loss_ = loss, items_ = items, right_ = right;
}

}  // namespace tenon::cli
