// triplet_margin_loss by a distance of the caller's own, which is a function of C++ and so no
// argument of an op. tenon.hpp does not include it.
//
//   const auto distance = [](const Tensor& a, const Tensor& b) { return 1 - cosine_similarity(a, b); };
//   Tensor loss = triplet_margin_with_distance_loss(anchor, positive, negative, distance);
#pragma once

#include <functional>
#include <string>

#include "tenon/lists.hpp"
#include "tenon/object.hpp"
#include "tenon/ops.hpp"
#include "tenon/ops/methods.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Of two tensors of one shape their distances, smaller where they are nearer, and differentiable.
using DistanceFunction = std::function<Tensor(const Tensor&, const Tensor&)>;

struct TripletMarginWithDistanceLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  double margin = 1.0;
  bool swap = false;               // the distance of positive and negative, where that is less
  std::string reduction = "mean";  // or "sum", "none"
};

// max(d(anchor, positive) - d(anchor, negative) + margin, 0), where d is distance_function, or
// pairwise_distance where there is none. Balntas et al., 2016.
inline Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const DistanceFunction& distance_function = {},
    const TripletMarginWithDistanceLossOptions& options = {}) {
  const std::string name = "triplet_margin_with_distance_loss: ";
  const std::string& reduction = options.reduction;
  if (!(options.margin > 0))
    fail(name + "margin is " + detail::number_text(options.margin) + ", expected more than 0");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    fail(name + "reduction is '" + reduction + "', expected 'mean', 'sum' or 'none'");
  }
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return distance_function ? distance_function(a, b) : pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative));
  const Tensor loss = clamp_min(near - far + options.margin, 0.0);
  return reduction == "mean" ? mean(loss) : reduction == "sum" ? sum(loss) : loss;
}

namespace nn {

struct TripletMarginWithDistanceLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  DistanceFunction distance_function = {};
  double margin = 1.0;
  bool swap = false;
  std::string reduction = "mean";
};
// The same as a layer: loss(anchor, positive, negative). A copy has the same function.
inline Object TripletMarginWithDistanceLoss(
    const TripletMarginWithDistanceLossOptions& options = {}) {
  const Object object = Object::empty("TripletMarginWithDistanceLoss");
  object.method(
      "forward(Tensor anchor, Tensor positive, Tensor negative) -> Tensor",
      [options](const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
        return triplet_margin_with_distance_loss(
            anchor, positive, negative, options.distance_function,
            {.margin = options.margin, .swap = options.swap, .reduction = options.reduction});
      });
  object.method("clone() -> object", [options] { return TripletMarginWithDistanceLoss(options); });
  return object;
}

}  // namespace nn

}  // namespace v0
}  // namespace tenon
