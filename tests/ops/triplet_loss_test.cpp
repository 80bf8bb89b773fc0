// triplet_margin_loss by a distance of the caller's own: PyTorch's values and gradients, and what
// is refused.
#include <tenon/triplet_loss.hpp>

#include "refusals.h"

namespace {

// 1 minus the cosine of the angle between rows.
Tensor by_angle(const Tensor& a, const Tensor& b) { return 1 - tn::cosine_similarity(a, b); }

struct Triplet {
  explicit Triplet(tn::Device d)
      : anchor(float64_tensor({0.5, -1, 2, 1.5, 0.25, -0.5}, {2, 3}, d).requires_grad_()),
        positive(float64_tensor({1, -0.5, 1.5, -1, 0.75, 0.5}, {2, 3}, d)),
        negative(float64_tensor({-0.5, 1, 1, 1, 0.5, -1.5}, {2, 3}, d)) {}
  Tensor anchor, positive, negative;

  void expect(const Tensor& loss, const std::vector<double>& values,
              const std::vector<double>& gradient) const {
    expect_near(loss, values, 1e-12);
    expect_near(tn::grad({loss.sum()}, {anchor})[0], gradient, 1e-12);
  }
};

TEST(TripletLoss, IsPyTorchsByAnyDistance) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Triplet t(d);
    t.expect(tn::triplet_margin_with_distance_loss(t.anchor, t.positive, t.negative),
             {1.2964840689227624},
             {0, 0, 0, 0.2382174674588163, 0.017821506597636066, -0.6190097801719576});
    t.expect(tn::triplet_margin_with_distance_loss(t.anchor, t.positive, t.negative, by_angle),
             {1.40157105319234},
             {-0.1553378054780681, 0.13571205790019492, 0.1066904803196145, -0.0453484800200718,
              -0.1645779118021384, -0.21833439596128473});
    t.expect(
        tn::triplet_margin_with_distance_loss(t.anchor, t.positive, t.negative, by_angle,
                                              {.margin = 0.5, .swap = true, .reduction = "none"}),
        {0, 2.018063165780375},
        {0, 0, 0, -0.0906969600401436, -0.3291558236042768, -0.43666879192256947});
    t.expect(tn::triplet_margin_with_distance_loss(t.anchor, t.positive, t.negative, {},
                                                   {.margin = 2, .swap = true, .reduction = "sum"}),
             {4.279543263094487},
             {-0.5773494993877273, -0.5773494993877273, 0.5773518087903436, 0.4764349349176326,
              0.03564301319527213, -1.2380195603439152});
  }
}

TEST(TripletLoss, SaysWhatItRefuses) {
  const auto with = [](const tn::TripletMarginWithDistanceLossOptions& options) {
    return [options](tn::Device d) {
      const Tensor x = zeros_on(d, {2, 3});
      tn::triplet_margin_with_distance_loss(x, x, x, {}, options);
    };
  };
  expect_refusals({
      {with({.margin = 0}), "triplet_margin_with_distance_loss: margin is 0, expected more than 0"},
      {with({.reduction = "max"}),
       "triplet_margin_with_distance_loss: reduction is 'max', expected 'mean', 'sum' or 'none'"},
  });
}

}  // namespace
