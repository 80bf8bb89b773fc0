// Functions of one number that have an inverse, for TransformedDistribution. A transform is a type
// with three functions, which all go element by element:
//
//   Tensor operator()(const Tensor& x) const;
//   Tensor inv(const Tensor& y) const;
//   Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;  // log |dy / dx| at x
//
// and `==`, for divergences. One may have a `codomain`, which a value whose log_prob is asked for
// is checked by. Programs may bring their own.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>

#include "tenon/distributions/distribution.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {
inline constexpr Constraint kMinusOneToOne{
    "-1 to 1", [](double x) { return x >= -1 && x <= 1; },
    [](const Tensor& x) { return logical_and(x >= -1, x <= 1); }};
}  // namespace detail

// y = exp(x).
struct ExpTransform {
  static constexpr detail::Constraint codomain = detail::kPositive;
  Tensor operator()(const Tensor& x) const { return exp(x); }
  Tensor inv(const Tensor& y) const { return log(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const { return x; }
  bool operator==(const ExpTransform&) const { return true; }
};

// y = 1 / (1 + exp(-x)). As in PyTorch y is kept away from 0 and 1.
struct SigmoidTransform {
  static constexpr detail::Constraint codomain = detail::kUnitInterval;
  Tensor operator()(const Tensor& x) const { return inside(sigmoid(x)); }
  Tensor inv(const Tensor& y) const {
    const Tensor kept = inside(y);
    return log(kept) - log1p(-kept);
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
    return -softplus(-x) - softplus(x);
  }
  bool operator==(const SigmoidTransform&) const { return true; }

 private:
  static Tensor inside(const Tensor& y) {
    return clamp(y, detail::tiny(y.dtype()), 1 - detail::epsilon(y.dtype()));
  }
};

// y = tanh(x). The logarithm of 1 - y^2 comes from x, since y of a large x is 1. As in PyTorch the
// inverse is infinite there: TransformedDistribution::rsample_with_log_prob does without it.
struct TanhTransform {
  static constexpr detail::Constraint codomain = detail::kMinusOneToOne;
  Tensor operator()(const Tensor& x) const { return tanh(x); }
  Tensor inv(const Tensor& y) const { return atanh(y); }
  // 1 - tanh(x)^2 is 4 exp(-2 x) / (1 + exp(-2 x))^2.
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
    return 2 * (std::numbers::ln2 - x - softplus(-2 * x));
  }
  bool operator==(const TanhTransform&) const { return true; }
};

// y = loc + scale * x. Each is a tensor or a number, and broadcasts to the sizes of x.
class AffineTransform {
 public:
  AffineTransform(Operand loc, Operand scale) : loc_("loc", loc), scale_("scale", scale) {
    if (scale.is_tensor()) {
      detail::expect_all("AffineTransform", "scale", scale_.tensor, scale_.tensor != 0, "not 0");
    } else if (detail::validate_args && scale_.number == 0) {
      fail("AffineTransform: scale is 0, expected not 0");
    }
  }
  Tensor operator()(const Tensor& x) const {
    expect_fit(x);
    return loc_.operand() + scale_.operand() * x;
  }
  Tensor inv(const Tensor& y) const {
    expect_fit(y);
    return (y - loc_.operand()) / scale_.operand();
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
    if (!scale_.tensor.defined()) return full_like(x.detach(), std::log(std::abs(scale_.number)));
    return log(abs(scale_.tensor)).expand(x.sizes());
  }
  // Compares numbers; of tensors it waits for their device.
  bool operator==(const AffineTransform& other) const {
    return loc_ == other.loc_ && scale_ == other.scale_;
  }

 private:
  // A tensor, or a number where it is not defined.
  struct Coefficient {
    Coefficient(const char* name, const Operand& value) : tensor(value.tensor()) {
      detail::check_parameter("AffineTransform", {name, value, detail::kReal});
      if (!tensor.defined()) number = detail::number_of(value);
    }
    Operand operand() const { return tensor.defined() ? Operand(tensor) : Operand(number); }
    bool operator==(const Coefficient& other) const {
      if (tensor.defined() != other.tensor.defined()) return false;
      if (!tensor.defined()) return number == other.number;
      if (tensor.get() == other.tensor.get()) return true;
      const NoGrad guard;
      return tensor.sizes() == other.tensor.sizes() && all(tensor == other.tensor).item<bool>();
    }
    Tensor tensor;
    double number = 0;
  };
  void expect_fit(const Tensor& x) const {
    for (const auto& [name, part] : {std::pair("loc", &loc_), std::pair("scale", &scale_)}) {
      if (!part->tensor.defined()) continue;
      const Ints of_part = part->tensor.sizes();
      if (detail::broadcast_sizes("AffineTransform", name, of_part, "the value", x.sizes()) !=
          detail::Sizes(x.sizes())) {
        fail(detail::joined({"AffineTransform: ", name, " is ", detail::text_of(of_part),
                             " and the value ", detail::text_of(x.sizes()),
                             ", expected sizes that broadcast to those of the value"}));
      }
    }
  }
  Coefficient loc_, scale_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
