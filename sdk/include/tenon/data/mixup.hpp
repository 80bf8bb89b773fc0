// Mixed images and labels. Used between the loader and the model, since it is about whole batches.
//
//   data::MixUp mix(0.2, 10);
//   for (auto [x, y] : batches) {
//     std::tie(x, y) = mix(x, y);
//     loss = cross_entropy(model(x), y);
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/data/random.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/shape.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// l * x + (1 - l) * (x in another order), where l of each batch is drawn from Beta(alpha, alpha), and
// the same of the classes as probabilities. Zhang et al., arXiv:1710.09412. What is drawn follows from
// the seed; with its state a MixUp is a part of a Checkpoint. One thread at a time.
class MixUp {
 public:
  MixUp(double alpha, int64_t classes, uint64_t seed = 0)
      : alpha_(alpha), classes_(classes), state_(seed) {
    using tenon::detail::joined;
    if (!(alpha > 0 && std::isfinite(alpha)))
      fail(joined(
          {"MixUp: alpha is ", tenon::detail::number_text(alpha), ", expected more than 0"}));
    if (classes < 1)
      fail(joined({"MixUp: classes is ", std::to_string(classes), ", expected at least 1"}));
  }

  // x [n, ..] of floats and classes y [n] give [n, ..] and float32 [n, classes].
  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Tensor& y) {
    if (x.dim() < 1 || y.dim() != 1 || x.size(0) != y.size(0) || !x.dtype().is_float()) {
      fail(tenon::detail::joined({"MixUp: it is for floats [n, ..] and classes [n], got ",
                                  detail::shown(x), " and ", detail::shown(y)}));
    }
    Random random(detail::next_random(state_));
    std::vector<int64_t> order(static_cast<size_t>(x.size(0)));
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(order);
    const double a = gamma(random), b = gamma(random), part = a + b > 0 ? a / (a + b) : 1;
    const Tensor others = Tensor::from(order).to(x.device());
    const Tensor known = one_hot(y.to(int64), classes_).to(float32);
    const auto mixed = [&](const Tensor& t, const Tensor& places) {
      return add(mul(t, part), mul(index_select(t, 0, places), 1 - part));
    };
    return {mixed(x, others), mixed(known, others.to(y.device()))};
  }

  NamedTensors state_dict() const {
    return {{"random", Tensor::from<int64_t>({std::bit_cast<int64_t>(state_)}, Ints())}};
  }
  void load_state_dict(const NamedTensors& state) {
    if (state.size() != 1 || state[0].first != "random")
      fail("MixUp: the state has to be 'random', an int64");
    state_ = std::bit_cast<uint64_t>(state[0].second.item<int64_t>());
  }

 private:
  // Of shape alpha: Marsaglia & Tsang, ACM TOMS 26 (2000).
  double gamma(Random& random) const {
    const double shape = alpha_ < 1 ? alpha_ + 1 : alpha_, d = shape - 1.0 / 3,
                 c = 1 / std::sqrt(9 * d);
    const double boost = alpha_ < 1 ? std::pow(1 - random.uniform(), 1 / alpha_) : 1;
    while (true) {
      // Box & Muller, 1958.
      const double x = std::sqrt(-2 * std::log(1 - random.uniform())) *
                       std::cos(2 * std::numbers::pi * random.uniform());
      const double v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(1 - random.uniform()) < x * x / 2 + d - d * v + d * std::log(v))
        return d * v * boost;
    }
  }

  double alpha_;
  int64_t classes_;
  uint64_t state_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
