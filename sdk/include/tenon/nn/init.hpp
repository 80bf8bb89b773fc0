// First values of parameters, by the names and bounds of torch.nn.init. Each writes the tensor in
// place, outside of any graph, and gives it back; random ones go by manual_seed.
//
//   nn::init::kaiming_normal_(layer.tensor("weight"), {.nonlinearity = "relu"});
//
// A weight is [outputs, inputs, kernel..]; its fan in is inputs times the kernel's size, its fan out
// outputs times that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/matmul.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

[[noreturn]] inline void refuse_init(const char* function, const Tensor& t, const char* expected) {
  fail(joined({function, ": the tensor is ", sizes_text(t.sizes()), ", expected ", expected}));
}
// {fan in, fan out}
inline std::pair<double, double> init_fans(const char* function, const Tensor& t) {
  if (t.dim() < 2) refuse_init(function, t, "at least 2 dimensions");
  double kernel = 1;
  for (int64_t d = 2; d < t.dim(); ++d) kernel *= double(t.size(d));
  return {double(t.size(1)) * kernel, double(t.size(0)) * kernel};
}

}  // namespace detail

namespace nn::init {

inline Tensor constant_(const Tensor& t, Float value) {
  const NoGrad guard;
  t.detach().fill_(double(value));
  return t;
}
inline Tensor zeros_(const Tensor& t) { return init::constant_(t, 0); }
inline Tensor ones_(const Tensor& t) { return init::constant_(t, 1); }

// Evenly from a to b.
inline Tensor uniform_(const Tensor& t, Float a = 0.0, Float b = 1.0) {
  if (!(a <= b)) {
    fail(detail::joined({"uniform_: a is ", detail::number_text(a), " and b is ",
                         detail::number_text(b), ", expected a of at most b"}));
  }
  const NoGrad guard;
  tenon::uniform_(t.detach(), a, b);
  return t;
}
struct UniformOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float a = 0.0;
  Float b = 1.0;
};
inline Tensor uniform_(const Tensor& t, const UniformOptions& options) {
  return init::uniform_(t, options.a, options.b);
}

inline Tensor normal_(const Tensor& t, Float mean = 0.0, Float std = 1.0) {
  if (!(std >= 0)) {
    fail(detail::joined({"normal_: std is ", detail::number_text(std), ", expected at least 0"}));
  }
  const NoGrad guard;
  tenon::normal_(t.detach(), mean, std);
  return t;
}
struct NormalOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float mean = 0.0;
  Float std = 1.0;
};
inline Tensor normal_(const Tensor& t, const NormalOptions& options) {
  return init::normal_(t, options.mean, options.std);
}

// Normal, where only what lies from a to b is taken. Waits for the device.
struct TruncNormalOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float mean = 0.0;
  Float std = 1.0;
  Float a = -2.0;
  Float b = 2.0;
};
inline Tensor trunc_normal_(const Tensor& t, const TruncNormalOptions& options = {}) {
  const double mean = options.mean, std = options.std, a = options.a, b = options.b;
  if (!(a < b) || !(std > 0)) {
    fail(detail::joined({"trunc_normal_: std is ", detail::number_text(std), ", a is ",
                         detail::number_text(a), " and b is ", detail::number_text(b),
                         ", expected a std above 0 and a below b"}));
  }
  const NoGrad guard;
  const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  // Where much of the bell lies between the bounds the rest is drawn anew; elsewhere even numbers are
  // taken with the probability that the bell has there, beside its greatest.
  const bool by_bell = below((b - mean) / std) - below((a - mean) / std) > 0.3;
  const double peak = (std::clamp(mean, a, b) - mean) / std;
  const auto draw = [&](Tensor* missing) {
    Tensor drawn = empty_like(t.detach());
    if (by_bell) {
      tenon::normal_(drawn, mean, std);
      *missing = logical_or(drawn<a, drawn> b);
    } else {
      tenon::uniform_(drawn, a, b);
      const Tensor at = (drawn - mean) / std, chance = empty_like(drawn);
      tenon::uniform_(chance);
      *missing = chance > exp((peak * peak - at * at) * 0.5);
    }
    return drawn;
  };
  Tensor missing, values = draw(&missing);
  while (any(missing).item<bool>()) {
    Tensor still;
    const Tensor more = draw(&still);
    values = where(missing, more, values);
    missing = logical_and(missing, still);
  }
  t.detach().copy_(values);
  return t;
}
template <detail::Placed<Float> P>
Tensor trunc_normal_(const Tensor& t, const P& mean, Float std = 1.0, Float a = -2.0,
                     Float b = 2.0) {
  return init::trunc_normal_(t, {.mean = mean, .std = std, .a = a, .b = b});
}

// Ones on the diagonal of a matrix, zeros elsewhere.
inline Tensor eye_(const Tensor& t) {
  if (t.dim() != 2) detail::refuse_init("eye_", t, "2 dimensions");
  const NoGrad guard;
  t.detach().zero_();
  for (int64_t i = 0; i < std::min(t.size(0), t.size(1)); ++i)
    t.detach().select(0, i).select(0, i).fill_(1.0);
  return t;
}

// What keeps the size of activations behind this function: "linear", "conv1d" and their like,
// "sigmoid", "tanh", "relu", "leaky_relu" with the slope, "selu".
inline double calculate_gain(const std::string& nonlinearity, Float slope = 0.01) {
  if (nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity.starts_with("conv"))
    return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + slope * slope));
  if (nonlinearity == "selu") return 0.75;
  fail(detail::joined({"calculate_gain: the nonlinearity is '", nonlinearity,
                       "', expected linear, conv1d, conv2d, conv3d, sigmoid, tanh, relu, "
                       "leaky_relu or selu"}));
}

// Glorot and Bengio, 2010: of variance 2 gain^2 / (fan in + fan out).
inline Tensor xavier_uniform_(const Tensor& t, Float gain = 1.0) {
  const auto [in, out] = detail::init_fans("xavier_uniform_", t);
  const double bound = gain * std::sqrt(6 / (in + out));
  return init::uniform_(t, -bound, bound);
}
inline Tensor xavier_normal_(const Tensor& t, Float gain = 1.0) {
  const auto [in, out] = detail::init_fans("xavier_normal_", t);
  return init::normal_(t, 0.0, gain * std::sqrt(2 / (in + out)));
}

// He et al., 2015: of variance gain^2 / fan, the gain of the nonlinearity that comes behind.
struct KaimingOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float a = 0.0;                // the slope of leaky_relu
  std::string mode = "fan_in";  // or "fan_out"
  std::string nonlinearity = "leaky_relu";
};
}  // namespace nn::init

namespace detail {
inline double kaiming_std(const char* function, const Tensor& t,
                          const nn::init::KaimingOptions& options) {
  const auto [in, out] = init_fans(function, t);
  if (options.mode != "fan_in" && options.mode != "fan_out") {
    fail(joined({function, ": mode is '", options.mode, "', expected fan_in or fan_out"}));
  }
  const double fan = options.mode == "fan_in" ? in : out;
  const double gain = nn::init::calculate_gain(options.nonlinearity, options.a);
  return fan > 0 ? gain / std::sqrt(fan) : 0;
}
}  // namespace detail

namespace nn::init {
inline Tensor kaiming_uniform_(const Tensor& t, const KaimingOptions& options = {}) {
  const double bound = std::sqrt(3.0) * detail::kaiming_std("kaiming_uniform_", t, options);
  return init::uniform_(t, -bound, bound);
}
inline Tensor kaiming_normal_(const Tensor& t, const KaimingOptions& options = {}) {
  return init::normal_(t, 0.0, detail::kaiming_std("kaiming_normal_", t, options));
}
template <detail::Placed<Float> P>
Tensor kaiming_uniform_(const Tensor& t, const P& a, TextRef mode = "fan_in",
                        TextRef nonlinearity = "leaky_relu") {
  return init::kaiming_uniform_(
      t, {.a = a, .mode = mode.c_str(), .nonlinearity = nonlinearity.c_str()});
}
template <detail::Placed<Float> P>
Tensor kaiming_normal_(const Tensor& t, const P& a, TextRef mode = "fan_in",
                       TextRef nonlinearity = "leaky_relu") {
  return init::kaiming_normal_(
      t, {.a = a, .mode = mode.c_str(), .nonlinearity = nonlinearity.c_str()});
}

// Saxe et al., 2014: rows, or where these are more the columns, that are orthogonal and of length
// gain. All dimensions but the first are one.
inline Tensor orthogonal_(const Tensor& t, Float gain = 1.0) {
  if (t.dim() < 2) detail::refuse_init("orthogonal_", t, "at least 2 dimensions");
  const NoGrad guard;
  const int64_t rows = t.size(0), columns = rows == 0 ? 0 : t.numel() / rows;
  const int64_t n = std::min(rows, columns), length = std::max(rows, columns);
  Tensor basis = zeros({n, length}, float64);
  tenon::normal_(basis);
  // By Gram and Schmidt, twice, which leaves them orthogonal to rounding.
  for (int64_t i = 0; i < n; ++i) {
    Tensor vector = basis.select(0, i);
    const Tensor before = basis.slice(0, 0, i);
    for (int pass = 0; pass < 2 && i > 0; ++pass)
      vector -= matmul(before.t(), matmul(before, vector));
    vector /= sqrt(sum(vector * vector));
  }
  const Tensor matrix = (rows <= columns ? basis : basis.t()) * double(gain);
  t.detach().copy_(matrix.reshape(t.sizes()));
  return t;
}

// Martens, 2010: normal, and zeros in so large a part of each column, at random places.
inline Tensor sparse_(const Tensor& t, Float sparsity, Float std = 0.01) {
  if (t.dim() != 2) detail::refuse_init("sparse_", t, "2 dimensions");
  if (!(sparsity >= 0 && sparsity <= 1)) {
    fail(detail::joined(
        {"sparse_: sparsity is ", detail::number_text(sparsity), ", expected 0 to 1"}));
  }
  const NoGrad guard;
  const auto none = int64_t(std::ceil(sparsity * double(t.size(0))));
  Tensor values = zeros(t.sizes(), float64);
  tenon::normal_(values, 0.0, std);
  if (t.numel() > 0) {
    Tensor order = zeros(t.sizes(), float64);
    tenon::uniform_(order);
    const Tensor place = argsort(argsort(order, 0), 0);
    values = where(place < none, 0.0, values);
  }
  t.detach().copy_(values);
  return t;
}

// Weights [outputs, inputs, kernel..] of a convolution that gives its inputs on, in each of so many
// groups.
inline Tensor dirac_(const Tensor& t, Int groups = 1) {
  if (t.dim() < 3 || t.dim() > 5) detail::refuse_init("dirac_", t, "3 to 5 dimensions");
  const int64_t n = groups;
  if (n < 1 || t.size(0) % n != 0) {
    fail(detail::joined({"dirac_: groups is ", std::to_string(n), ", expected a divisor of ",
                         std::to_string(t.size(0)), ", the first size"}));
  }
  const NoGrad guard;
  t.detach().zero_();
  const int64_t outputs = t.size(0) / n;
  for (int64_t group = 0; group < n; ++group) {
    for (int64_t d = 0; d < std::min(outputs, t.size(1)); ++d) {
      Tensor kernel = t.detach().select(0, group * outputs + d).select(0, d);
      while (kernel.dim() > 0) kernel = kernel.select(0, kernel.size(0) / 2);
      kernel.fill_(1.0);
    }
  }
  return t;
}

}  // namespace nn::init
}  // namespace v0
}  // namespace tenon
