// Histograms of points: torch.histogramdd, made of ops. Programs include it; tenon::histogram is of
// numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/lists.hpp"
#include "tenon/ops.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct HistogramDD {
  Tensor hist;                    // [bins_0, .., bins_(D - 1)], of x's dtype
  std::vector<Tensor> bin_edges;  // [bins_d + 1] each
};
struct HistogramddOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptFloats range = {};  // least and greatest of each dimension in a row; none: those of x
  Tensor weight = {};     // of each point
  bool density = false;   // divided so that the volume is 1
};

namespace detail {

inline Tensor checked_points(const Tensor& x, const Tensor& weight, size_t n_bins) {
  if (!x.dtype().is_float() || x.dim() < 2) {
    fail(joined({"histogramdd: x is ", sizes_text(x.sizes()), " ", x.dtype().name(),
                 ", expected points of floats [.., D]"}));
  }
  if (int64_t(n_bins) != x.size(-1)) {
    fail(joined({"histogramdd: bins are given for ", std::to_string(n_bins),
                 " dimensions, and the points of x ", sizes_text(x.sizes()), " have ",
                 std::to_string(x.size(-1))}));
  }
  const std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end() - 1);
  if (weight.defined() && weight.sizes() != sizes) {
    fail(joined({"histogramdd: weight is ", sizes_text(weight.sizes()), ", expected ",
                 sizes_text(sizes), ", a number for each point of x"}));
  }
  return x.detach().reshape({-1, x.size(-1)});
}

// By edges, which lie in x's dtype or in a wider one.
inline Tensor count_points(const Tensor& points, const std::vector<Tensor>& edges,
                           const HistogramddOptions& options) {
  const int64_t n = points.size(0);
  std::vector<int64_t> sizes;
  int64_t total = 1;
  Tensor place, inside;
  for (size_t d = 0; d < edges.size(); ++d) {
    const int64_t bins = edges[d].numel() - 1;
    if (__builtin_mul_overflow(total, bins, &total))
      fail("histogramdd: there are more bins than an int64 counts");
    sizes.push_back(bins);
    const Tensor x = points.select(1, int64_t(d)).to(edges[d].dtype()).contiguous();
    // The last bin has its upper edge.
    const Tensor own = searchsorted(edges[d], x, {.right = true}).clamp(1, bins) - 1;
    const Tensor fits = (x >= edges[d][0]).logical_and(x <= edges[d][-1]);
    place = d == 0 ? own : place * bins + own;
    inside = d == 0 ? fits : inside.logical_and(fits);
  }
  const Tensor each = (options.weight.defined() ? options.weight.detach().reshape({n}).to(float64)
                                                : ones({n}, float64, points.device())) *
                      1.0;
  const Tensor counts = zeros({total}, float64, points.device())
                            .index_add(0, where(inside, place, zeros_like(place)),
                                       where(inside, each, zeros_like(each)))
                            .reshape(sizes);
  if (!options.density) return counts.to(points.dtype());
  Tensor volumes = counts.sum();
  for (size_t d = 0; d < edges.size(); ++d) {
    std::vector<int64_t> line(edges.size(), 1);
    line[d] = sizes[d];
    volumes = volumes * edges[d].to(float64).diff().reshape(line);
  }
  return (counts / volumes).to(points.dtype());
}

}  // namespace detail

// Of points x [.., D] over a grid of bins[d] bins of one width in dimension d: how many lie in each, or
// the sums of their weights. A bin has its lower edge, the last its upper edge, too; what lies outside of
// range is not counted. Without a range the call waits for the device. Without gradient.
inline HistogramDD histogramdd(const Tensor& x, const Ints& bins,
                               const HistogramddOptions& options = {}) {
  const NoGrad scope;
  std::vector<int64_t> each = bins.vec();
  if (each.size() == 1 && x.dim() > 0) each.assign(size_t(x.size(-1)), each[0]);
  const Tensor points = detail::checked_points(x, options.weight, each.size());
  const Floats& range = options.range;
  if (!range.empty() && range.size() != 2 * each.size()) {
    fail(detail::joined({"histogramdd: range has ", std::to_string(range.size()),
                         " numbers, expected ", std::to_string(2 * each.size()),
                         ", the least and the greatest of each dimension"}));
  }
  const Dtype wide = x.dtype().value == TN_FLOAT64 ? float64 : float32;
  std::vector<Tensor> edges;
  for (size_t d = 0; d < each.size(); ++d) {
    if (each[d] < 1) {
      fail(detail::joined({"histogramdd: bins[", std::to_string(d), "] is ",
                           std::to_string(each[d]), ", expected 1 or more"}));
    }
    double low = 0, high = 1;
    if (!range.empty()) {
      low = range[2 * d];
      high = range[2 * d + 1];
    } else if (points.size(0) > 0) {
      const Tensor column = points.select(1, int64_t(d));
      low = column.min().item<double>();
      high = column.max().item<double>();
    }
    if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
      fail(detail::joined({"histogramdd: the range of dimension ", std::to_string(d), " is from ",
                           detail::number_text(low), " to ", detail::number_text(high),
                           ", expected finite numbers, of which the second is not below the "
                           "first"}));
    }
    if (low == high) {
      low -= 0.5;
      high += 0.5;
    }
    edges.push_back(linspace(low, high, each[d] + 1, {.dtype = wide, .device = x.device()}));
  }
  HistogramDD result{detail::count_points(points, edges, options), {}};
  for (const Tensor& edge : edges) result.bin_edges.push_back(edge.to(x.dtype()));
  return result;
}

inline HistogramDD histogramdd(const Tensor& x, std::initializer_list<int64_t> bins,
                               const HistogramddOptions& options = {}) {
  return histogramdd(x, Ints(bins), options);
}

// The same between edges [bins_d + 1] of each dimension, which rise and are of x's dtype.
inline HistogramDD histogramdd(const Tensor& x, const std::vector<Tensor>& bins,
                               const HistogramddOptions& options = {}) {
  const NoGrad scope;
  const Tensor points = detail::checked_points(x, options.weight, bins.size());
  if (!options.range.empty())
    fail("histogramdd: range is given beside the edges of the bins, expected one of them");
  for (size_t d = 0; d < bins.size(); ++d) {
    const Tensor& edges = bins[d];
    if (edges.dim() == 1 && edges.numel() >= 2 && edges.dtype() == x.dtype()) continue;
    fail(detail::joined({"histogramdd: bins[", std::to_string(d), "] are ",
                         detail::sizes_text(edges.sizes()), " ", edges.dtype().name(),
                         ", expected two edges at least, in one dimension and as x of ",
                         x.dtype().name()}));
  }
  return {detail::count_points(points, bins, options), bins};
}

}  // namespace v0
}  // namespace tenon
