// Distributions of angles.
#pragma once

#include <cmath>
#include <numbers>

#include "tenon/distributions/distribution.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// Angles in radians around loc: the density exp(concentration * cos(x - loc)) over 2 pi
// i0(concentration). loc and values may be any numbers; draws are from -pi to pi. As in PyTorch
// mean is loc, variance the circular one, 1 less the mean of cos(x - loc), and draws have no
// gradient.
class VonMises : public Distribution {
 public:
  VonMises(Operand loc, Operand concentration) {
    auto [a, b] = detail::broadcast_all("VonMises", {"loc", loc, detail::kReal},
                                        {"concentration", concentration, detail::kPositive});
    loc_ = a, concentration_ = b;
    set_shapes(loc_.sizes());
  }
  const char* name() const override { return "VonMises"; }
  VonMises expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &VonMises::loc_, &VonMises::concentration_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& concentration() const { return concentration_; }
  Tensor mean() const override { return loc_; }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override { return 1 - i1e(concentration_) / i0e(concentration_); }
  // PyTorch's i0 is a polynomial of A&S 9.8.1 and 9.8.2: its log_prob is up to 5e-7 away.
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const Tensor half = sin(0.5 * (value - loc_));
    return -2 * concentration_ * square(half) - log_factor();
  }
  // PyTorch has none.
  Tensor entropy() const override { return log_factor() + concentration_ * variance(); }
  // Best & Fisher, "Efficient Simulation of the von Mises Distribution" (Applied Statistics 28,
  // 1979). Each round takes at least 65.7% of the draws of a wrapped Cauchy distribution. There are
  // always 16, so that nothing waits for the device and a compiled function replays it; of 3e7 draws
  // about one is then still missing and is the last that was not taken.
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const detail::Sizes sizes = extended(sample_shape);
    const Tensor k = concentration_.to(float64);
    const auto draw = [&] { return rand(sizes, float64, loc_.device()); };
    const Tensor tau = 1 + sqrt(1 + 4 * square(k)), rho = 2 * k / (tau + sqrt(2 * tau));
    const Tensor over = square(1 - rho) / (2 * rho);  // r - 1 of their r
    Tensor taken, missing;
    for (int round = 0; round < 16; ++round) {
      const Tensor z = cos(std::numbers::pi * draw());
      // 1 - cos of the angle, which keeps the digits of small angles.
      const Tensor apart = over * (1 - z) / (1 + over + z);
      const Tensor c = k * (over + apart);
      const Tensor accepted = log(c) - log1p(-draw()) + 1 - c >= 0;
      taken = round == 0 ? apart : where(missing, apart, taken);
      missing = round == 0 ? logical_not(accepted) : logical_and(missing, logical_not(accepted));
    }
    const Tensor angle = 2 * asin(sqrt(clamp(0.5 * taken, 0, 1)));
    const Tensor turned = where(draw() < 0.5, -angle, angle) + loc_.to(float64);
    const double turn = 2 * std::numbers::pi;
    return (remainder(turned + std::numbers::pi, turn) - std::numbers::pi).to(loc_.dtype());
  }
  bool has_rsample() const override { return false; }

 private:
  // log(2 pi i0(concentration)) less the concentration.
  Tensor log_factor() const { return log(i0e(concentration_)) + std::log(2 * std::numbers::pi); }
  Tensor loc_, concentration_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
