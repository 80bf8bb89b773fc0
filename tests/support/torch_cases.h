// Cases of tests/data/torch_values*.json, read: calls of ops by name, as a program in another
// language would make them. Used by torch_values_test.cpp, which compares with PyTorch, and
// op_sweep_test.cpp, which tries them in other dtypes and layouts.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include <nlohmann/json.hpp>

#include "fake_frames.h"
#include "ops_support.h"

namespace torch_cases {

using nlohmann::json;

inline double number_of(const json& v) {
  if (!v.is_string()) return v.get<double>();
  return v == "nan" ? std::nan("") : v == "inf" ? INFINITY : -INFINITY;
}

inline Tensor tensor_of(const json& v, tn::Device device) {
  std::vector<double> values;
  for (const json& e : v.at("v")) values.push_back(e.is_boolean() ? e.get<bool>() : number_of(e));
  const std::vector<int64_t> sizes = v.at("s");
  Tensor t = tn::empty(sizes, tn::float64);
  std::copy(values.begin(), values.end(), t.mutable_data<double>());
  tn::Dtype dtype = tn::float64;
  if (v.contains("d")) dtype = tn::Dtype::parse(v.at("d").get<std::string>());
  t = t.to(device, dtype);
  if (!v.contains("p")) return t;
  const std::vector<int64_t> order = v.at("p");
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[size_t(order[i])] = int64_t(i);
  return t.permute(order).contiguous().permute(back);
}

// One argument, and what it borrows from.
struct Argument {
  TensorList tensors;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::string text;
  bool constant = false;
  tn_value value{};

  // `as`: what each tensor is replaced by.
  Argument(const json& v, tn::Device device, const std::function<Tensor(const Tensor&)>& as) {
    if (v.is_object() && v.contains("l")) {
      for (const json& e : v.at("l"))
        tensors.push_back(e.is_null() ? Tensor() : as(tensor_of(e, device)));
      value = tn::detail::to_value(tensors);
    } else if (v.is_object() && v.contains("f")) {
      floats = v.at("f").get<std::vector<double>>();
      value = tn::detail::to_value(floats);
    } else if (v.is_object() && v.contains("dtype")) {
      value = tn::detail::to_value(tn::Dtype::parse(v.at("dtype").get<std::string>()));
    } else if (v.is_object()) {
      tensors.push_back(as(tensor_of(v, device)));
      constant = v.contains("c");
      value = tn::detail::to_value(tensors[0]);
    } else if (v.is_array()) {
      ints = v.get<std::vector<int64_t>>();
      value = tn::detail::to_value(tn::Ints(ints));
    } else if (v.is_boolean()) {
      value = tn::detail::to_value(v.get<bool>());
    } else if (v.is_number_integer()) {
      value = tn::detail::to_value(v.get<int64_t>());
    } else if (v.is_number()) {
      value = tn::detail::to_value(v.get<double>());
    } else if (v == "inf" || v == "-inf") {
      value = tn::detail::to_value(number_of(v));
    } else if (v.is_string()) {
      text = v.get<std::string>();
      value = tn::detail::to_value(text.c_str());
    } else {
      value = tn::detail::to_value(tn::none);
    }
  }
  Argument(const Argument&) = delete;
};

// A case's arguments, and the tensors among them that have a gradient.
struct Arguments {
  std::vector<std::unique_ptr<Argument>> list;
  std::vector<tn_value> values;
  TensorList leaves;

  Arguments(
      const json& c, tn::Device device,
      const std::function<Tensor(const Tensor&)>& as = [](const Tensor& t) { return t; }) {
    for (const json& a : c.at("args")) {
      list.push_back(std::make_unique<Argument>(a, device, as));
      values.push_back(list.back()->value);
      for (const Tensor& t : list.back()->tensors) {
        if (!t.defined() || !t.dtype().is_float() || list.back()->constant) continue;
        if (c.contains("grad")) t.requires_grad_();
        leaves.push_back(t);
      }
    }
  }
};

// Those of all files torch_values*.json, in the order of their names.
inline json all_cases() {
  std::set<std::filesystem::path> paths;
  const std::string folder = std::string(std::getenv("TENON_SOURCE_DIR")) + "/tests/data";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("torch_values") && name.ends_with(".json")) paths.insert(entry.path());
  }
  json all = json::array();
  for (const auto& path : paths) {
    std::ifstream file(path);
    json read = json::parse(file);
    for (json& c : read.at("cases")) all.push_back(std::move(c));
  }
  return all;
}

inline TensorList call_of(const std::string& name, const std::vector<tn_value>& values,
                          const json& expected) {
  const tn_op* op = nullptr;
  tn::check(tn::host()->find_op(name.c_str(), &op));
  std::vector<tn_value> results(expected.size());
  tn::check(tn::host()->call(op, values.data(), static_cast<uint32_t>(values.size()),
                             results.data(), static_cast<uint32_t>(results.size())));
  if (results[0].kind == TN_KIND_TENSORS) return tn::detail::Unpack<TensorList>::own(results[0]);
  TensorList outputs;
  for (const tn_value& v : results) outputs.push_back(Tensor::take(v.as.tensor));
  return outputs;
}

// What the op gives, an Error where it refuses.
inline TensorList called(const std::string& name, const std::vector<tn_value>& values,
                         const json& expected) {
  give_back_fake_frames();
  return call_of(name, values, expected);
}

inline Tensor weight_like(const Tensor& t) {
  std::vector<double> values;
  for (int64_t k = 0; k < t.numel(); ++k)
    values.push_back(static_cast<double>(k * 7 % 11) / 11 + 0.1);
  return Tensor::from(values, t.sizes()).to(t.device(), t.dtype());
}

// The number that gradients are of: sum(t * weight) of those that have one; null where none has.
inline Tensor weighed(const TensorList& tensors) {
  Tensor total;
  for (const Tensor& t : tensors) {
    if (!t.requires_grad()) continue;
    Tensor part = (t * weight_like(t)).sum();
    total = total.defined() ? total + part : part;
  }
  return total;
}

}  // namespace torch_cases
