// What SummaryWriter::add_pr_curve writes: how many predictions are right and wrong at each of some
// thresholds. Used by tensorboard.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/lists.hpp"
#include "tenon/messages.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/tensor.hpp"
#include "tenon/tensorboard/event_file.hpp"
#include "tenon/tensorboard/histogram.hpp"
#include "tenon/tensorboard/hparams.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct PrCurveOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  int64_t num_thresholds = 127;  // at most 127, which TensorBoard shows
  Tensor weights = {};           // of the predictions; absent: each counts as one
};

namespace detail {

// The rows true positives, false positives, true negatives, false negatives, precision and recall, each
// of as many thresholds, as torch.utils.tensorboard's summary.compute_curve has them. `places`: the
// predictions times the last threshold.
inline std::vector<float> pr_curve(const std::vector<double>& labels,
                                   const std::vector<double>& places,
                                   const std::vector<double>& weights, int64_t thresholds) {
  const auto n = size_t(thresholds);
  std::vector<double> tp(n), fp(n);
  for (size_t i = 0; i < labels.size(); ++i) {
    const double place = std::floor(places[i]);
    if (!(place >= 0 && place < double(thresholds))) continue;
    const double weight = weights.empty() ? 1 : weights[i];
    tp[size_t(place)] += labels[i] * weight;
    fp[size_t(place)] += (1 - labels[i]) * weight;
  }
  for (size_t i = n; i-- > 1;) tp[i - 1] += tp[i], fp[i - 1] += fp[i];
  constexpr double kLeast = 1e-7;  // in the place of 0, which nothing is divided by
  std::vector<float> rows(6 * n);
  for (size_t i = 0; i < n; ++i) {
    const double tn = fp[0] - fp[i], fn = tp[0] - tp[i];
    const double row[] = {tp[i],
                          fp[i],
                          tn,
                          fn,
                          tp[i] / std::max(kLeast, tp[i] + fp[i]),
                          tp[i] / std::max(kLeast, tp[i] + fn)};
    for (size_t k = 0; k < 6; ++k) rows[k * n + i] = float(row[k]);
  }
  return rows;
}

inline ProtoMessage pr_curve_summary(std::string_view tag, const Tensor& labels,
                                     const Tensor& predictions, const PrCurveOptions& options) {
  const auto refuse = [&](const char* name, const std::string& is, const std::string& expected) {
    fail(joined({"add_pr_curve: '", messages::printable(tag), "': ", name, " is ", is,
                 ", expected ", expected}));
  };
  const auto shown = [](const Tensor& x) {
    return x.defined() ? data::detail::shown(x) : std::string("None");
  };
  if (options.num_thresholds < 1)
    refuse("num_thresholds", std::to_string(options.num_thresholds), "at least 1");
  if (!predictions.defined()) refuse("predictions", "None", "a tensor");
  if (!labels.defined() || labels.numel() != predictions.numel())
    refuse("labels", shown(labels), "one for each prediction of " + shown(predictions));
  if (options.weights.defined() && options.weights.numel() != predictions.numel())
    refuse("weights", shown(options.weights), "one for each prediction of " + shown(predictions));
  const int64_t thresholds = std::min<int64_t>(options.num_thresholds, 127);
  // In the dtype of the predictions: a float32 of 0.7 times 10 is 7.
  const Tensor places = mul(predictions.detach(), double(thresholds - 1));
  const std::vector<float> rows = pr_curve(
      labels.to_vector<double>(), places.to_vector<double>(),
      options.weights.defined() ? options.weights.to_vector<double>() : std::vector<double>(),
      thresholds);
  constexpr uint64_t kFloat = 1;  // DataType
  ProtoMessage shape, floats, tensor, value;
  shape.message(2, ProtoMessage().varint(1, 6))
      .message(2, ProtoMessage().varint(1, uint64_t(thresholds)));
  for (const float number : rows) floats.fixed(std::bit_cast<uint32_t>(number), 4);
  tensor.varint(1, kFloat).message(2, shape).message(5, floats);
  const ProtoMessage plugin = ProtoMessage().varint(2, uint64_t(thresholds));  // of version 0
  value.message(8, tensor).fields_of(plugin_summary("pr_curves", plugin));
  return value;
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
