// What all distributions share: their shapes, draws and refusals. Users include distributions.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/compiling.hpp"
#include "tenon/ops/methods_by_hand.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

using tenon::detail::joined;
using tenon::detail::number_text;
using tenon::detail::sizes_text;
using Sizes = std::vector<int64_t>;

inline std::atomic<bool> validate_args{true};

// What a parameter or a value has to be, for numbers and for tensors.
struct Constraint {
  const char* expected;
  bool (*of_number)(double);
  Tensor (*of_tensor)(const Tensor&);
};
inline constexpr Constraint kReal{"a number", [](double x) { return !std::isnan(x); },
                                  [](const Tensor& x) { return x == x; }};
inline constexpr Constraint kPositive{"above 0", [](double x) { return x > 0; },
                                      [](const Tensor& x) { return x > 0; }};
inline constexpr Constraint kNonnegative{"at least 0", [](double x) { return x >= 0; },
                                         [](const Tensor& x) { return x >= 0; }};
inline constexpr Constraint kWhole{
    "a whole number from 0", [](double x) { return x >= 0 && x == std::floor(x); },
    [](const Tensor& x) { return logical_and(x >= 0, x == floor(x)); }};
inline constexpr Constraint kUnitInterval{
    "0 to 1", [](double x) { return x >= 0 && x <= 1; },
    [](const Tensor& x) { return logical_and(x >= 0, x <= 1); }};
inline constexpr Constraint kAboveZeroToOne{
    "above 0 and at most 1", [](double x) { return x > 0 && x <= 1; },
    [](const Tensor& x) { return logical_and(x > 0, x <= 1); }};
inline constexpr Constraint kFromZeroBelowOne{
    "at least 0 and below 1", [](double x) { return x >= 0 && x < 1; },
    [](const Tensor& x) { return logical_and(x >= 0, x < 1); }};
inline constexpr Constraint kBoolean{"0 or 1", [](double x) { return x == 0 || x == 1; },
                                     [](const Tensor& x) { return logical_or(x == 0, x == 1); }};

// "-1 at [0, 2]": the first of the elements that are not `ok`.
inline std::string first_wrong(const Tensor& x, const Tensor& ok) {
  const std::vector<bool> good = [&] {
    const std::vector<int64_t> list = ok.to(int64).to_vector<int64_t>();
    return std::vector<bool>(list.begin(), list.end());
  }();
  size_t at = 0;
  while (good[at]) ++at;
  const std::string value = number_text(x.detach().expand(ok.sizes()).to_vector<double>()[at]);
  if (ok.dim() == 0) return value;
  Sizes place(size_t(ok.dim()));
  auto rest = int64_t(at);
  for (int64_t d = ok.dim() - 1; d >= 0; --d) {
    place[size_t(d)] = rest % ok.size(d);
    rest /= ok.size(d);
  }
  return joined({value, " at ", sizes_text(place)});
}

// Whether tensors are looked at: that waits for their device, and no replay of a compiled function
// does so.
inline bool looks_at_tensors() { return validate_args && !compiler::is_compiling(); }
// Refuses x where an element of ok, which x broadcasts to, is false.
inline void expect_all(const char* owner, const char* name, const Tensor& x, const Tensor& ok,
                       const std::string& expected) {
  if (!looks_at_tensors()) return;
  const NoGrad guard;
  if (all(ok).item<bool>()) return;
  fail(joined({owner, ": ", name, " is ", first_wrong(x, ok), ", expected ", expected}));
}
inline void expect_all(const char* owner, const char* name, const Tensor& x,
                       const Constraint& constraint) {
  if (!looks_at_tensors()) return;
  const NoGrad guard;
  expect_all(owner, name, x, constraint.of_tensor(x), constraint.expected);
}

inline const Tensor& expect_floats(const char* owner, const char* name, const Tensor& x) {
  if (!x.defined()) fail(joined({owner, ": ", name, " is None, expected a tensor"}));
  if (!x.dtype().is_float()) {
    fail(joined({owner, ": ", name, " is ", x.dtype().name(), ", expected a dtype of floats"}));
  }
  return x;
}

inline Sizes broadcast_sizes(const char* owner, const char* name, Ints a, const char* other,
                             Ints b) {
  const size_t n = std::max(a.size(), b.size());
  Sizes sizes(n);
  for (size_t i = 1; i <= n; ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      fail(joined({owner, ": ", name, " is ", sizes_text(a), " and ", other, " is ", sizes_text(b),
                   ", expected sizes that broadcast"}));
    }
    sizes[n - i] = x == 1 ? y : x;
  }
  return sizes;
}

inline Sizes concatenated(Ints a, Ints b, Ints c = {}) {
  Sizes sizes(a.begin(), a.end());
  sizes.insert(sizes.end(), b.begin(), b.end());
  sizes.insert(sizes.end(), c.begin(), c.end());
  return sizes;
}

// Refuses what sizes of a batch do not expand to.
inline void expect_expands(const char* owner, Ints from, Ints to) {
  bool fits = from.size() <= to.size();
  for (const int64_t size : to) fits = fits && size >= 0;
  for (size_t i = 1; fits && i <= from.size(); ++i) {
    const int64_t size = from[from.size() - i];
    fits = size == 1 || size == to[to.size() - i];
  }
  if (fits) return;
  fail(joined({owner, ": expand: batch_shape is ", sizes_text(to), ", expected sizes that ",
               sizes_text(from), " expands to"}));
}

// The sum over the last `count` dimensions; x itself for none.
inline Tensor sum_last(const Tensor& x, int64_t count) {
  Sizes dims;
  for (int64_t d = -count; d < 0; ++d) dims.push_back(d);
  return dims.empty() ? x : sum(x, dims);
}

// A parameter as it is given: a tensor of floats, or a number.
struct Parameter {
  const char* name;
  const Operand& value;
  const Constraint& constraint;
};

inline double number_of(const Operand& x) {
  return x.value().kind == TN_KIND_FLOAT ? x.value().as.f : double(x.value().as.i);
}

// Checks one parameter; a number costs no call of an op.
inline void check_parameter(const char* owner, const Parameter& parameter) {
  const auto& [name, value, constraint] = parameter;
  if (value.value().kind == TN_KIND_NONE || value.is_tensor()) {
    expect_all(owner, name, expect_floats(owner, name, value.tensor()), constraint);
  } else if (validate_args && !constraint.of_number(number_of(value))) {
    fail(joined({owner, ": ", name, " is ", number_text(number_of(value)), ", expected ",
                 constraint.expected}));
  }
}

// The parameters as tensors of one size, dtype and device. A number takes the dtype and the device
// of the tensors; without any it is float32 on cpu.
template <size_t N>
std::array<Tensor, N> broadcast_list(const char* owner, const Parameter (&parameters)[N]) {
  std::array<Tensor, N> made;
  const Parameter* like = nullptr;
  Dtype dtype = float32;
  Device device;
  for (size_t i = 0; i < N; ++i) {
    check_parameter(owner, parameters[i]);
    made[i] = parameters[i].value.tensor();
    if (!made[i].defined()) continue;
    if (like && made[i].device().name() != device.name()) {
      fail(joined({owner, ": ", like->name, " is on ", device.name(), " and ", parameters[i].name,
                   " on ", made[i].device().name(), ", expected one device"}));
    }
    dtype = like ? promote(dtype, made[i].dtype()) : made[i].dtype();
    if (!like) like = &parameters[i], device = made[i].device();
  }
  Sizes sizes;
  for (size_t i = 0; i < N; ++i) {
    Tensor& x = made[i];
    x = x.defined() ? x.to(dtype) : full({}, number_of(parameters[i].value), dtype, device);
    for (size_t j = 0; j < i; ++j) {
      broadcast_sizes(owner, parameters[j].name, made[j].sizes(), parameters[i].name, x.sizes());
    }
    sizes = broadcast_sizes(owner, "", sizes, "", x.sizes());
  }
  for (Tensor& x : made)
    if (!std::ranges::equal(x.sizes(), sizes)) x = x.expand(sizes);
  return made;
}
inline std::array<Tensor, 2> broadcast_all(const char* owner, const Parameter& first,
                                           const Parameter& second) {
  return broadcast_list(owner, {first, second});
}
inline std::array<Tensor, 3> broadcast_all(const char* owner, const Parameter& first,
                                           const Parameter& second, const Parameter& third) {
  return broadcast_list(owner, {first, second, third});
}
inline Tensor as_parameter(const char* owner, const Parameter& parameter) {
  check_parameter(owner, parameter);
  const Operand& value = parameter.value;
  return value.is_tensor() ? value.tensor() : full({}, number_of(value), float32);
}

// Where nothing but a tensor will do: a number as one without dimensions, whose sizes the check that follows
// refuses.
inline Tensor tensor_of(const Operand& value) {
  if (value.is_tensor() || value.value().kind == TN_KIND_NONE) return value.tensor();
  return full({}, number_of(value), float32);
}

// The number next above 0 that has all its digits, and the distance of 1 to the next one.
inline double tiny(Dtype dtype) {
  return dtype == float64 ? 0x1p-1022 : dtype == float16 ? 0x1p-14 : 0x1p-126;
}
inline double epsilon(Dtype dtype) {
  return dtype == float64    ? 0x1p-52
         : dtype == float16  ? 0x1p-10
         : dtype == bfloat16 ? 0x1p-7
                             : 0x1p-23;
}

// Refuses values whose last dimension does not sum to 1, up to 1e-6, or what a half dtype has.
inline void expect_sums_of_one(const char* owner, const Tensor& value) {
  const Tensor sums = sum(value.detach(), {-1});
  const double near = std::max(1e-6, 8 * epsilon(sums.dtype()));
  expect_all(owner, "the sum of value", sums, abs(sums - 1) < near, "1");
}

}  // namespace detail

// Whether distributions that are made, and values whose log_prob is asked for, are checked; true at
// first, for all threads. A check of a tensor waits for its device, and is left out where a compiled
// function is recorded. Numbers are checked for free.
inline void set_default_validate_args(bool on) { detail::validate_args = on; }

// A batch of distributions: a draw of sample_shape is [sample_shape.., batch_shape..,
// event_shape..], and log_prob and entropy give a number for each event. Objects hold tensors and
// may be copied. Each class has `expand(batch_shape)`, which gives the same distribution with a larger
// batch, to which its own broadcasts; parameters are views. Some have `cdf` and `icdf`.
class Distribution {
 public:
  virtual ~Distribution() = default;
  virtual const char* name() const = 0;
  // The logarithm of the density, or of the probability, at `value`, whose sizes broadcast with
  // batch_shape and event_shape.
  virtual Tensor log_prob(const Tensor& value) const = 0;
  virtual Tensor entropy() const = 0;
  virtual Tensor mean() const = 0;
  virtual Tensor variance() const = 0;
  virtual Tensor stddev() const { return sqrt(variance()); }
  // Where log_prob is greatest; as in PyTorch some families have none.
  virtual Tensor mode() const { fail(detail::joined({name(), ": has no mode, as in PyTorch"})); }
  // exp(entropy): how many equally likely values have the same entropy.
  Tensor perplexity() const { return exp(entropy()); }
  // All values of a family that has finitely many, along a new first dimension: [n, batch_shape..,
  // event_shape..], or [n, 1.., event_shape..] with a 1 for each dimension of the batch if not
  // `expand`. Bernoulli, Categorical, OneHotCategorical and Binomial have it.
  virtual Tensor enumerate_support(bool expand = true) const {
    (void)expand;
    fail(detail::joined({name(), ": has no enumerate_support, as in PyTorch"}));
  }
  // Draws without and with gradients for the parameters. Random numbers go by manual_seed.
  virtual Tensor sample(Ints sample_shape = {}) const {
    const NoGrad guard;
    return rsample(sample_shape);
  }
  virtual Tensor rsample(Ints sample_shape = {}) const {
    (void)sample_shape;
    fail(
        detail::joined({name(), ": has no rsample, since its draws have no gradient; use sample"}));
  }
  virtual bool has_rsample() const { return true; }
  // Of a distribution with a name they are borrowed from it, of a temporary they are a copy.
  Ints batch_shape() const& { return batch_shape_; }
  Ints batch_shape() const&& { return Ints(batch_shape_).kept(); }
  Ints event_shape() const& { return event_shape_; }
  Ints event_shape() const&& { return Ints(event_shape_).kept(); }

 protected:
  Distribution() = default;
  Distribution(const Distribution&) = default;
  Distribution& operator=(const Distribution&) = default;
  void set_shapes(Ints batch_shape, Ints event_shape = {}) {
    batch_shape_.assign(batch_shape.begin(), batch_shape.end());
    event_shape_.assign(event_shape.begin(), event_shape.end());
  }
  // The distribution with these members, tensors whose first dimensions are the batch or that broadcast
  // to it, and distributions of it, made larger. What each has beside the batch stays.
  template <typename D, typename... Members>
  static D expanded(D d, Ints batch_shape, Members... members) {
    const detail::Sizes before(d.batch_shape_);
    detail::expect_expands(d.name(), before, batch_shape);
    const auto expand = [&](auto& member) {
      if constexpr (!std::is_same_v<std::remove_reference_t<decltype(member)>, Tensor>) {
        member = member.expand(batch_shape);
      } else if (member.sizes().size() >= before.size()) {
        const Ints sizes = member.sizes();
        member = member.expand(detail::concatenated(
            batch_shape, {sizes.data() + before.size(), sizes.size() - before.size()}));
      }
    };
    (expand(d.*members), ...);
    d.batch_shape_.assign(batch_shape.begin(), batch_shape.end());
    return d;
  }
  // Of a draw.
  detail::Sizes extended(Ints sample_shape) const {
    for (const int64_t size : sample_shape) {
      if (size >= 0) continue;
      fail(detail::joined({name(), ": sample: sample_shape is ", detail::sizes_text(sample_shape),
                           ", expected sizes of at least 0"}));
    }
    return detail::concatenated(sample_shape, batch_shape_, event_shape_);
  }
  // The result of enumerate_support for the values [n, event_shape..].
  Tensor beside_batch(const Tensor& values, bool expand) const {
    const int64_t n = values.size(0);
    const detail::Sizes ones(batch_shape_.size(), 1);
    const Tensor made = values.reshape(detail::concatenated(n, ones, event_shape_));
    return expand ? made.expand(detail::concatenated(n, batch_shape_, event_shape_)) : made;
  }
  // Refuses values whose sizes do not fit, or that the distribution never gives.
  void expect_value(const Tensor& value, const detail::Constraint& support) const {
    if (!value.defined())
      fail(detail::joined({name(), ": log_prob: value is None, expected a tensor"}));
    const detail::Sizes whole = extended({});
    const Ints sizes = value.sizes();
    const size_t event = event_shape_.size();
    if (sizes.size() < event ||
        !std::equal(event_shape_.begin(), event_shape_.end(), sizes.end() - event)) {
      fail(detail::joined({name(), ": log_prob: value is ", detail::sizes_text(sizes),
                           ", expected its last sizes to be ", detail::sizes_text(event_shape_)}));
    }
    detail::broadcast_sizes(owner().c_str(), "value", sizes, "the distribution", whole);
    detail::expect_all(owner().c_str(), "value", value, support);
  }
  std::string owner() const { return detail::joined({name(), ": log_prob"}); }

 private:
  detail::Sizes batch_shape_, event_shape_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
