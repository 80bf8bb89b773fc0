// What SummaryWriter::add_histogram writes: how many values of a tensor lie in each bin. Used by
// tensorboard.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/lists.hpp"
#include "tenon/messages.hpp"
#include "tenon/tensor.hpp"
#include "tenon/tensorboard/event_file.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// The bins of a histogram: "tensorflow" (their edges are 0 and 1e-12 * 1.1^n up to 1e20, and the
// same below 0), a count of bins of one width from the least to the greatest value, or the edges
// themselves, in order. A value at an edge counts to the bin above, and at the last edge to the one
// below.
struct HistogramBins {
  std::variant<std::string, int64_t, std::vector<double>> held;

  HistogramBins(const char* name) : held(std::string(name)) {}
  HistogramBins(std::string name) : held(std::move(name)) {}
  template <detail::WholeNumber N>
  HistogramBins(N count) : held(int64_t(count)) {}
  HistogramBins(std::initializer_list<double> edges) : held(std::vector<double>(edges)) {}
  HistogramBins(std::vector<double> edges) : held(std::move(edges)) {}
};

namespace detail {

// torch.utils.tensorboard's default bins, by the same products, so that the edges are the same.
inline std::vector<double> tensorflow_edges() {
  std::vector<double> edges;
  for (double edge = 1e-12; edge < 1e20; edge *= 1.1) edges.push_back(-edge);
  std::ranges::reverse(edges);
  edges.push_back(0);
  for (size_t i = edges.size() - 1; i-- > 0;) edges.push_back(-edges[i]);
  return edges;
}

// For values from `min` to `max`, as numpy.histogram has them.
inline std::vector<double> histogram_edges(const HistogramBins& bins, double min, double max) {
  constexpr const char* kExpected =
      ", expected \"tensorflow\", a count of bins, or a list of edges";
  constexpr int64_t kMost = 1 << 20;
  if (const auto* name = std::get_if<std::string>(&bins.held)) {
    if (*name == "tensorflow") return tensorflow_edges();
    fail(joined({"add_histogram: bins is '", messages::printable(*name), "'", kExpected}));
  }
  std::vector<double> edges;
  if (const auto* count = std::get_if<int64_t>(&bins.held)) {
    if (*count < 1 || *count > kMost) {
      fail(joined({"add_histogram: bins is ", std::to_string(*count), ", expected from 1 to ",
                   std::to_string(kMost)}));
    }
    if (min == max) {
      min -= 0.5;
      max += 0.5;
    }
    const double width = (max - min) / double(*count);
    for (int64_t i = 0; i < *count; ++i) edges.push_back(double(i) * width + min);
    edges.push_back(max);
  } else {
    edges = std::get<std::vector<double>>(bins.held);
  }
  if (edges.size() < 2) {
    fail(joined(
        {"add_histogram: bins has ", std::to_string(edges.size()), " edges, expected at least 2"}));
  }
  for (size_t i = 1; i < edges.size(); ++i) {
    if (edges[i - 1] <= edges[i]) continue;
    fail(joined({"add_histogram: edge ", std::to_string(i), " of bins is ", number_text(edges[i]),
                 " behind ", number_text(edges[i - 1]), ", expected edges in order"}));
  }
  return edges;
}

// Of the bins those from the first to the last that has values, behind an empty one: a
// HistogramProto knows the upper edges alone, and so the lowest edge is there, too. PyTorch writes
// them so.
inline ProtoMessage histogram_summary(std::string_view tag, const Tensor& tensor,
                                      const HistogramBins& bins) {
  const auto refuse = [&](std::string_view why) {
    fail(joined(
        {"add_histogram: '", messages::printable(tag), "' is ", data::detail::shown(tensor), why}));
  };
  std::vector<double> values = tensor.to_vector<double>();
  if (values.empty()) refuse(" and has no values, expected at least one");
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) refuse(" and all its values are NaN or infinite, expected a finite one");

  const auto [min, max] = std::ranges::minmax(values);
  const std::vector<double> edges = histogram_edges(bins, min, max);
  std::vector<double> counts(edges.size() - 1);
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
    if (value < edges.front() || value > edges.back()) continue;
    const auto above = size_t(std::ranges::upper_bound(edges, value) - edges.begin());
    counts[std::min(above, counts.size()) - 1] += 1;
  }
  const auto is_filled = [](double count) { return count > 0; };
  const auto first = std::ranges::find_if(counts, is_filled);
  if (first == counts.end()) {
    refuse(joined({" with values from ", number_text(min), " to ", number_text(max),
                   ", none of which is in the bins from ", number_text(edges.front()), " to ",
                   number_text(edges.back())}));
  }
  const auto last = std::find_if(counts.rbegin(), counts.rend(), is_filled).base();

  ProtoMessage limits, filled;
  const auto add = [](ProtoMessage* list, double number) {
    list->fixed(std::bit_cast<uint64_t>(number), 8);
  };
  add(&filled, 0);
  for (auto count = first; count != last; ++count) add(&filled, *count);
  for (auto i = first - counts.begin(); i <= last - counts.begin(); ++i) {
    add(&limits, edges[size_t(i)]);
  }
  ProtoMessage histogram;
  histogram.number(1, min).number(2, max).number(3, double(values.size()));
  histogram.number(4, sum).number(5, squares).message(6, limits).message(7, filled);
  return ProtoMessage().message(5, histogram);
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
