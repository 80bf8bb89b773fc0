// Distributions beside PyTorch's: the rows of tests/data/torch_distributions.json, and what is
// compared of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tenon/distributions.hpp"
#include "tenon/tenon.hpp"

using Values = std::vector<double>;
using Named = std::map<std::string, tenon::Tensor>;

inline const nlohmann::json& data() {
  static const auto all = nlohmann::json::parse(std::ifstream(
      std::string(std::getenv("TENON_SOURCE_DIR")) + "/tests/data/torch_distributions.json"));
  return all;
}

inline tenon::Tensor tensor_of(const nlohmann::json& kept, tenon::Dtype dtype,
                               tenon::Device device) {
  return tenon::Tensor::from(kept.at("values").get<Values>(),
                             kept.at("sizes").get<std::vector<int64_t>>())
      .to(device, dtype);
}

inline Named leaves_of(const nlohmann::json& kept, tenon::Dtype dtype, tenon::Device device) {
  Named leaves;
  for (const auto& [name, value] : kept.items())
    leaves[name] = tensor_of(value, dtype, device).requires_grad_();
  return leaves;
}

inline void expect_values(const char* what, const tenon::Tensor& found, const nlohmann::json& kept,
                          double near) {
  EXPECT_EQ(std::vector<int64_t>(found.sizes()), kept.at("sizes").get<std::vector<int64_t>>())
      << what;
  const Values values = found.to_vector<double>();
  const nlohmann::json& wanted = kept.at("values");
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (size_t i = 0; i < values.size(); ++i) {
    if (wanted[i].is_null()) {
      EXPECT_EQ(values[i], INFINITY) << what << ", element " << i;
    } else if (wanted[i].is_string()) {
      EXPECT_TRUE(std::isnan(values[i])) << what << ", element " << i;
    } else {
      const double value = wanted[i].get<double>();
      EXPECT_NEAR(values[i], value, near * std::max(1.0, std::abs(value)))
          << what << ", element " << i;
    }
  }
}

inline void expect_gradients(const Named& leaves, const nlohmann::json& kept, double near) {
  for (const auto& [name, leaf] : leaves) {
    const tenon::Tensor g = leaf.grad();
    expect_values(name.c_str(), g.defined() ? g : tenon::zeros_like(leaf.detach()), kept.at(name),
                  near);
  }
}

// What `made` makes of the kind and the parameters, at the value.
inline void expect_case(const nlohmann::json& c, auto made, tenon::Dtype dtype,
                        tenon::Device device, double near, double gradients_near) {
  SCOPED_TRACE(c.at("kind").get<std::string>() + c.at("parameters").dump());
  const Named leaves = leaves_of(c.at("parameters"), dtype, device);
  const auto any = made(c.at("kind").get<std::string>(), leaves);
  const tenon::distributions::Distribution& d = std::visit(
      [](const auto& it) -> const tenon::distributions::Distribution& { return it; }, any);
  tenon::Tensor value = tensor_of(c.at("value"), dtype, device);
  if (c.contains("gradient_of_value")) value.requires_grad_();
  const tenon::Tensor log_prob = d.log_prob(value);
  expect_values("log_prob", log_prob, c.at("log_prob"), near);
  tenon::Tensor loss = log_prob.sum();
  const auto part = [&](const char* what, double factor, auto f) {
    if (!c.contains(what)) return;
    const tenon::Tensor x = f();
    expect_values(what, x, c.at(what), near);
    if (tenon::isfinite(x).all().item<bool>()) loss = loss + factor * x.sum();
  };
  part("entropy", 0.5, [&] { return d.entropy(); });
  part("mean", 0.25, [&] { return d.mean(); });
  part("variance", 0.125, [&] { return d.variance(); });
  loss.backward();
  expect_gradients(leaves, c.at("gradients"), gradients_near);
  if (c.contains("gradient_of_value"))
    expect_values("value", value.grad(), c.at("gradient_of_value"), gradients_near);
}

// Whether kl_divergence takes the pair of variants; what it gives.
template <typename Any>
bool divergence_of(const Any& p, const Any& q, tenon::Tensor* result) {
  return std::visit(
      [&](const auto& a, const auto& b) {
        if constexpr (requires { kl_divergence(a, b); }) {
          *result = kl_divergence(a, b);
          return true;
        } else {
          return false;
        }
      },
      p, q);
}

inline void expect_divergence(const nlohmann::json& c, auto made, tenon::Device device,
                              double near = 1e-10, double gradients_near = 1e-9) {
  SCOPED_TRACE(c.dump());
  const Named of_p = leaves_of(c.at("of_p"), tenon::float64, device),
              of_q = leaves_of(c.at("of_q"), tenon::float64, device);
  tenon::Tensor result;
  ASSERT_TRUE(divergence_of(made(c.at("p").get<std::string>(), of_p),
                            made(c.at("q").get<std::string>(), of_q), &result));
  expect_values("kl", result, c, near);
  if (!c.contains("gradients_of_p")) return;
  result.sum().backward();
  expect_gradients(of_p, c.at("gradients_of_p"), gradients_near);
  expect_gradients(of_q, c.at("gradients_of_q"), gradients_near);
}
