#include "lengths.h"

#include <algorithm>
#include <utility>

namespace tenon::tokenizers {
namespace {

using files::printable;
using files::raise;

constexpr int64_t kMostLength = int64_t{1} << 24;

void keep(Ids* ids, int64_t n, bool left) {
  const auto size = static_cast<int64_t>(ids->size());
  if (n >= size) return;
  if (left) {
    ids->erase(ids->begin(), ids->end() - n);
  } else {
    ids->resize(static_cast<size_t>(n));
  }
}

bool read_direction(Fields* fields) {
  const std::string name = fields->text("direction", "Right");
  if (name == "Left") return true;
  if (name != "Right") {
    fields->refuse("the direction '{}' is not supported; there are Left, Right", printable(name));
  }
  return false;
}

// The longer one is cut first, down to the length of the shorter; then both.
void cut_longest(Ids* first, Ids* second, int64_t most, bool left) {
  auto shorter = static_cast<int64_t>(first->size()), longer = static_cast<int64_t>(second->size());
  const bool swapped = shorter > longer;
  if (swapped) std::swap(shorter, longer);
  longer = shorter > most ? shorter : std::max(shorter, most - shorter);
  if (shorter + longer > most) {
    shorter = most / 2;
    longer = shorter + most % 2;
  }
  keep(first, swapped ? longer : shorter, left);
  keep(second, swapped ? shorter : longer, left);
}

}  // namespace

void Truncation::cut(Ids* first, Ids* second, size_t added) const {
  const int64_t most = max_length - static_cast<int64_t>(added);
  if (most < 0) {
    raise(TN_INVALID_ARGUMENT, "max_length is {}, less than the {} tokens that are added",
          max_length, added);
  }
  const auto total = static_cast<int64_t>(first->size() + (second ? second->size() : 0));
  if (total <= most) return;
  if (strategy == CutStrategy::kLongestFirst) {
    if (second) return cut_longest(first, second, most, left);
    return keep(first, most, left);
  }
  Ids* target = strategy == CutStrategy::kOnlyFirst ? first : second;
  if (target == nullptr) {
    raise(TN_INVALID_ARGUMENT, "the second text is to be cut to max_length {}, and there is none",
          max_length);
  }
  const int64_t left_over = static_cast<int64_t>(target->size()) - (total - most);
  if (left_over <= 0) {
    raise(TN_INVALID_ARGUMENT,
          "a text of {} tokens cannot be cut by {}, which max_length {} asks for", target->size(),
          total - most, max_length);
  }
  keep(target, left_over, left);
}

Truncation read_truncation(Fields fields) {
  Truncation truncation;
  truncation.max_length = fields.number("max_length", 0, kMostLength);
  truncation.left = read_direction(&fields);
  const std::string strategy = fields.text("strategy", "LongestFirst");
  if (strategy == "OnlyFirst") {
    truncation.strategy = CutStrategy::kOnlyFirst;
  } else if (strategy == "OnlySecond") {
    truncation.strategy = CutStrategy::kOnlySecond;
  } else if (strategy != "LongestFirst") {
    fields.refuse(
        "the strategy '{}' is not supported; there are LongestFirst, OnlyFirst, OnlySecond",
        printable(strategy));
  }
  fields.skip("stride");  // of the parts that are cut off, which are not given here
  fields.finish();
  return truncation;
}

int64_t Padding::length(int64_t longest) const {
  const int64_t length = fixed >= 0 ? fixed : longest;
  return multiple > 0 && length % multiple > 0 ? length + multiple - length % multiple : length;
}

void Padding::fill(Encoding* encoding, int64_t length) const {
  const auto size = static_cast<int64_t>(encoding->ids.size());
  if (size >= length) return;
  const auto n = static_cast<size_t>(length - size);
  for (auto [list, value] : {std::pair(&encoding->ids, id), std::pair(&encoding->types, type)}) {
    list->insert(left ? list->begin() : list->end(), n, value);
  }
}

Padding read_padding(Fields fields) {
  Padding padding;
  const nlohmann::json& strategy = fields.value("strategy");
  if (strategy.is_object()) {
    Fields fixed = fields.object("strategy");
    padding.fixed = fixed.number("Fixed", 0, kMostLength);
    fixed.finish();
  } else if (fields.text("strategy") != "BatchLongest") {
    fields.refuse("the strategy '{}' is not supported; there are BatchLongest and {{\"Fixed\": n}}",
                  printable(fields.text("strategy")));
  }
  padding.left = read_direction(&fields);
  if (fields.has("pad_to_multiple_of")) {
    padding.multiple = fields.number("pad_to_multiple_of", 0, kMostLength);
  }
  padding.id = fields.number("pad_id", 0, INT32_MAX);
  padding.type = fields.number("pad_type_id", 0, INT32_MAX);
  fields.skip("pad_token");
  fields.finish();
  return padding;
}

}  // namespace tenon::tokenizers
