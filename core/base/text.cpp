#include "base/text.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace tenon {
namespace {

// Levenshtein distance, two rows.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    current[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = previous[j] + (a[i] == b[j] ? 0 : 1);
      current[j + 1] = std::min({previous[j + 1] + 1, current[j] + 1, change});
    }
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string shape_text(const int64_t* sizes, int32_t ndim) {
  return fmt::format("[{}]", fmt::join(sizes, sizes + ndim, ", "));
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  size_t best = limit + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < std::max(name.size(), candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace tenon
