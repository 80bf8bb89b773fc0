// Functions that have an inverse, for TransformedDistribution. A transform is a type with three
// functions, which go element by element:
//
//   Tensor operator()(const Tensor& x) const;
//   Tensor inv(const Tensor& y) const;
//   Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;  // log |dy / dx| at x
//
// and `==`, for divergences; `double sign() const` or `Tensor sign() const` is 1 where it rises
// everywhere and -1 where it falls, for the cdf of what it makes. One may have a `codomain`, which a value whose log_prob is asked for
// is checked by. Those of vectors and matrices, which have a few functions more, are in
// vector_transforms.hpp, and those that are made of others in composed_transforms.hpp. Programs may
// bring their own.
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

// A parameter of a transform: a tensor, or a number where it is not defined.
struct Coefficient {
  Coefficient(const char* owner, const char* name, const Operand& value)
      : name(name), tensor(value.tensor()) {
    check_parameter(owner, {name, value, kReal});
    if (!tensor.defined()) number = number_of(value);
  }
  Operand operand() const { return tensor.defined() ? Operand(tensor) : Operand(number); }
  // Compares numbers; of tensors it waits for their device.
  bool operator==(const Coefficient& other) const {
    if (tensor.defined() != other.tensor.defined()) return false;
    if (!tensor.defined()) return number == other.number;
    if (tensor.get() == other.tensor.get()) return true;
    const NoGrad guard;
    return tensor.sizes() == other.tensor.sizes() && all(tensor == other.tensor).item<bool>();
  }
  void expect_not_zero(const char* owner) const {
    if (tensor.defined()) {
      expect_all(owner, name, tensor, tensor != 0, "not 0");
    } else if (validate_args && number == 0) {
      fail(joined({owner, ": ", name, " is 0, expected not 0"}));
    }
  }
  // Refuses an x that would grow.
  void expect_fit(const char* owner, const Tensor& x) const {
    if (!tensor.defined()) return;
    const Ints sizes = tensor.sizes();
    if (broadcast_sizes(owner, name, sizes, "the value", x.sizes()) == Sizes(x.sizes())) return;
    fail(joined({owner, ": ", name, " is ", sizes_text(sizes), " and the value ",
                 sizes_text(x.sizes()), ", expected sizes that broadcast to those of the value"}));
  }
  const char* name;
  Tensor tensor;
  double number = 0;
};

// 1 of a transform that rises everywhere, -1 of one that falls, as its `sign()` says: a number or a
// tensor.
template <typename T>
auto sign_of(const T& transform) {
  static_assert(
      requires { transform.sign(); },
      "a cdf through a transform wants its sign(): 1 where it rises everywhere, -1 where it "
      "falls");
  return transform.sign();
}
inline Tensor sign_of(const Coefficient& x) {
  return x.tensor.defined() ? sign(x.tensor.detach()) : full({}, x.number < 0 ? -1.0 : 1.0);
}

// Of a transform of which several x give one y.
[[noreturn]] inline void refuse_slope(const char* owner) {
  fail(joined({owner, ": has no log_abs_det_jacobian, since several x give the same y"}));
}

}  // namespace detail

// y = exp(x).
struct ExpTransform {
  static constexpr detail::Constraint codomain = detail::kPositive;
  Tensor operator()(const Tensor& x) const { return exp(x); }
  Tensor inv(const Tensor& y) const { return log(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const { return x; }
  double sign() const { return 1; }
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
  double sign() const { return 1; }
  bool operator==(const SigmoidTransform&) const { return true; }

 private:
  friend struct StickBreakingTransform;
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
  double sign() const { return 1; }
  bool operator==(const TanhTransform&) const { return true; }
};

// y = log(1 + exp(x)), which is x from 20 on.
struct SoftplusTransform {
  static constexpr detail::Constraint codomain = detail::kPositive;
  Tensor operator()(const Tensor& x) const { return softplus(x); }
  Tensor inv(const Tensor& y) const { return log(-expm1(-y)) + y; }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const { return -softplus(-x); }
  double sign() const { return 1; }
  bool operator==(const SoftplusTransform&) const { return true; }
};

// y = |x|, whose `inv` is y, one of the two x. As in PyTorch it has no log_abs_det_jacobian.
struct AbsTransform {
  static constexpr detail::Constraint codomain = detail::kNonnegative;
  Tensor operator()(const Tensor& x) const { return abs(x); }
  Tensor inv(const Tensor& y) const { return y; }
  Tensor log_abs_det_jacobian(const Tensor&, const Tensor&) const {
    detail::refuse_slope("AbsTransform");
  }
  bool operator==(const AbsTransform&) const { return true; }
};

// y = loc + scale * x. Each is a tensor or a number, and broadcasts to the sizes of x.
class AffineTransform {
 public:
  AffineTransform(Operand loc, Operand scale)
      : loc_("AffineTransform", "loc", loc), scale_("AffineTransform", "scale", scale) {
    scale_.expect_not_zero("AffineTransform");
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
  Tensor sign() const { return detail::sign_of(scale_); }
  bool operator==(const AffineTransform&) const = default;

 private:
  void expect_fit(const Tensor& x) const {
    loc_.expect_fit("AffineTransform", x);
    scale_.expect_fit("AffineTransform", x);
  }
  detail::Coefficient loc_, scale_;
};

// y = x^exponent of positive x. The exponent is a tensor or a number, and broadcasts to the sizes
// of x.
class PowerTransform {
 public:
  static constexpr detail::Constraint codomain = detail::kPositive;
  explicit PowerTransform(Operand exponent) : exponent_("PowerTransform", "exponent", exponent) {
    exponent_.expect_not_zero("PowerTransform");
  }
  Tensor operator()(const Tensor& x) const {
    exponent_.expect_fit("PowerTransform", x);
    return pow(x, exponent_.operand());
  }
  Tensor inv(const Tensor& y) const {
    exponent_.expect_fit("PowerTransform", y);
    if (!exponent_.tensor.defined()) return pow(y, 1 / exponent_.number);
    return pow(y, reciprocal(exponent_.tensor));
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
    return log(abs(exponent_.operand() * y / x));
  }
  Tensor sign() const { return detail::sign_of(exponent_); }
  bool operator==(const PowerTransform&) const = default;

 private:
  detail::Coefficient exponent_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
