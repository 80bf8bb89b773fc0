// For tests of ops through the face: the devices to try, values that are near, and the one gradient
// check that every op's test uses. A row of a family's test is an op as a lambda and samples;
// gradcheck compares its gradient, and the gradient of that, with central differences in float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

#include "renamed_names.h"
#include "second_device.h"

namespace tn = tenon;
using tn::Tensor;

// The library of an op pack in which every op bears another name, or NULL: with it the same tests
// run a second time (tests/renamed).
inline const char* renamed_ops() { return std::getenv("TENON_RENAMED_OPS"); }

inline void load_renamed() {
  for (const char* variable : {"TENON_RENAMED_OPS", "TENON_CPU_LIBRARY", "TENON_REF_LIBRARY"}) {
    tn::check(tn::detail::api.plugin->load(std::getenv(variable)));
  }
  tn::detail::api.host.set(renamed::host_for(tn::host()));
}

// All tests see all plugins of the build, but for those with renamed ops.
inline void load_all() {
  static const bool loaded = (renamed_ops() ? load_renamed() : tn::load_plugins(), true);
  (void)loaded;
}

// What the registry calls an op of the face.
inline std::string op_name(const char* name) {
  return renamed_ops() ? std::string("q_") + name : name;
}

// `cpu`, and the second one where the build has it.
inline std::vector<tn::Device> devices() {
  load_all();
  std::vector<tn::Device> list{tn::cpu};
  for (tn::Device device : tn::Device::all()) {
    if (device.type() == std::string(second_device()) && device.index() == 0)
      list.push_back(device);
  }
  return list;
}

inline void expect_near(const Tensor& t, const std::vector<double>& expected,
                        double tolerance = 1e-6) {
  ASSERT_EQ(size_t(t.numel()), expected.size()) << t;
  std::vector<double> values = t.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "at " << i << ": " << values[i];
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(values[i], expected[i]) << "at " << i;
    } else {
      EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "at " << i;
    }
  }
}
inline void expect_sizes(const Tensor& t, std::vector<int64_t> sizes) {
  EXPECT_EQ(std::vector<int64_t>(t.sizes().begin(), t.sizes().end()), sizes);
}
template <typename F>
void expect_error(F&& f, const std::string& part) {
  try {
    f();
    FAIL() << "no error; expected one with '" << part << "'";
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

inline Tensor float64_tensor(const std::vector<double>& values, std::vector<int64_t> sizes,
                             tn::Device device = {}) {
  return Tensor::from(values, sizes, device);
}
// Values that are neither equal nor special, in (-1, 1).
inline Tensor sample(std::vector<int64_t> sizes, tn::Device device = {}, double shift = 0) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(std::sin(1.7 * double(i) + 0.6 + shift));
  return Tensor::from(values, sizes, device);
}

using TensorList = std::vector<Tensor>;
using OpUnderTest = std::function<Tensor(const TensorList&)>;

// A number made of all elements of t, each with a weight of its own.
inline Tensor weigh(const Tensor& t, double shift = 0.3) {
  return (t * sample({t.sizes().begin(), t.sizes().end()}, t.device(), shift)).sum();
}

// Those that have a gradient: indices and masks among the inputs have none.
inline TensorList floats_of(const TensorList& inputs) {
  TensorList list;
  for (const Tensor& t : inputs) {
    if (t.dtype().is_float()) list.push_back(t);
  }
  return list;
}
inline TensorList leaves(const TensorList& inputs) {
  TensorList list;
  for (const Tensor& t : inputs) {
    list.push_back(t.detach().clone());
    if (t.dtype().is_float()) list.back().requires_grad_();
  }
  return list;
}

// The same values in other places of memory. A tensor without dimensions has one layout.
struct Layout {
  const char* name;
  Tensor (*of)(const Tensor&);
};
inline Tensor transposed_layout(const Tensor& x) {
  return x.dim() < 2 ? x.clone() : x.transpose(0, -1).clone().transpose(0, -1);
}
inline Tensor stepped_layout(const Tensor& x) {  // every second element, from the second on
  if (x.dim() == 0) return x.clone();
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = 2 * sizes.back() + 1;
  Tensor view = tn::zeros(sizes, x.dtype(), x.device()).slice(-1, 1, sizes.back(), 2);
  view.copy_(x);
  return view;
}
inline std::vector<Layout> layouts() {
  return {{"contiguous", [](const Tensor& x) { return x.clone(); }},
          {"transposed", transposed_layout},
          {"stepped", stepped_layout},
          {"channels last", [](const Tensor& x) {
             return x.dim() < 3 ? x.clone() : x.contiguous("channels_last");
           }}};
}
// Of the inputs, the first `size` along each one's dimension of the batch (-1: it has none).
inline TensorList narrowed(const TensorList& inputs, const std::vector<int64_t>& batch,
                           int64_t size) {
  TensorList list;
  for (size_t i = 0; i < inputs.size(); ++i) {
    int64_t d = i < batch.size() ? batch[i] : -1;
    bool has = d >= 0 && inputs[i].dim() > 0;
    list.push_back(has ? inputs[i].narrow(d, 0, std::min(size, inputs[i].size(d))) : inputs[i]);
  }
  return list;
}

// The gradient of the number f(inputs) against central differences.
inline void check_first(const OpUnderTest& f, const TensorList& inputs, double tolerance) {
  TensorList x = leaves(inputs);
  TensorList gradients = tn::grad({f(x)}, floats_of(x), {.allow_unused = true});
  const double h = 1e-6;
  size_t n = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].dtype().is_float()) continue;
    const Tensor gradient = gradients[n++];
    std::vector<double> values = inputs[i].to_vector<double>();
    std::vector<double> analytic(values.size());
    if (gradient.defined()) analytic = gradient.to_vector<double>();
    for (size_t k = 0; k < values.size(); ++k) {
      double sides[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<double> moved = values;
        moved[k] += side == 0 ? h : -h;
        TensorList at = leaves(inputs);
        at[i] = Tensor::from(moved, inputs[i].sizes(), inputs[i].device()).requires_grad_();
        sides[side] = f(at).item<double>();
      }
      double numeric = (sides[0] - sides[1]) / (2 * h);
      EXPECT_NEAR(analytic[k], numeric, tolerance * (1 + std::fabs(numeric)))
          << "input " << i << ", element " << k;
    }
  }
}

inline void gradcheck(const OpUnderTest& f, const TensorList& inputs) {
  {
    SCOPED_TRACE("first order");
    check_first([&](const TensorList& x) { return weigh(f(x)); }, inputs, 1e-6);
  }
  SCOPED_TRACE("second order");
  check_first(
      [&](const TensorList& x) {
        TensorList g =
            tn::grad({weigh(f(x))}, floats_of(x), {.create_graph = true, .allow_unused = true});
        Tensor total = tn::zeros({}, tn::float64, x[0].device());
        for (const Tensor& t : g) {
          if (t.defined()) total = total + weigh(t, 0.9);
        }
        // So that it depends on x where the first gradient does not.
        return total + x[0].sum() * 0.0;
      },
      inputs, 1e-5);
}
