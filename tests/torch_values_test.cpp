// Calls of the standard ops with the results and gradients that PyTorch gave for them (tests/data/torch_values.py), in float64 on every
// device. The ops are called by name, as a program in another language would.
#include <fstream>

#include <nlohmann/json.hpp>

#include "ops_support.h"

namespace {

using nlohmann::json;

double number_of(const json& v) {
  if (!v.is_string()) return v.get<double>();
  return v == "nan" ? std::nan("") : v == "inf" ? INFINITY : -INFINITY;
}

Tensor tensor_of(const json& v, tn::Device device) {
  std::vector<double> values;
  for (const json& e : v.at("v")) values.push_back(e.is_boolean() ? e.get<bool>() : number_of(e));
  const std::vector<int64_t> sizes = v.at("s");
  Tensor t = tn::empty(sizes, tn::float64);
  std::copy(values.begin(), values.end(), t.mutable_data<double>());
  tn::Dtype dtype = tn::float64;
  if (v.contains("d")) dtype = tn::Dtype::parse(v.at("d").get<std::string>());
  return t.to(device, dtype);
}

// One argument, and what it borrows from.
struct Argument {
  TensorList tensors;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::string text;
  bool constant = false;
  tn_value value{};

  Argument(const json& v, tn::Device device) {
    if (v.is_object() && v.contains("l")) {
      for (const json& e : v.at("l")) tensors.push_back(e.is_null() ? Tensor() : tensor_of(e, device));
      value = tn::detail::to_value(tensors);
    } else if (v.is_object() && v.contains("f")) {
      floats = v.at("f").get<std::vector<double>>();
      value = tn::detail::to_value(floats);
    } else if (v.is_object() && v.contains("dtype")) {
      value = tn::detail::to_value(tn::Dtype::parse(v.at("dtype").get<std::string>()));
    } else if (v.is_object()) {
      tensors.push_back(tensor_of(v, device));
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

Tensor weight_like(const Tensor& t) {
  std::vector<double> values;
  for (int64_t k = 0; k < t.numel(); ++k) values.push_back(static_cast<double>(k * 7 % 11) / 11 + 0.1);
  return tn::empty(t.sizes(), tn::float64).copy_(Tensor::from<double>(values).reshape(t.sizes())).to(t.device());
}

void expect_same(const Tensor& found, const json& expected, const std::string& what) {
  const std::vector<int64_t> sizes = expected.at("s");
  ASSERT_EQ(std::vector<int64_t>(found.sizes().begin(), found.sizes().end()), sizes) << what;
  const std::string dtype = expected.contains("d") ? expected.at("d").get<std::string>() : "float64";
  EXPECT_EQ(found.dtype().name(), dtype) << what;
  const std::vector<double> values = found.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    const json& e = expected.at("v")[i];
    const double want = e.is_boolean() ? e.get<bool>() : number_of(e);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(values[i])) << what << " at " << i << ": " << values[i] << ", PyTorch: nan";
    } else if (std::isinf(want)) {
      EXPECT_EQ(values[i], want) << what << " at " << i;
    } else {
      EXPECT_NEAR(values[i], want, 1e-12 * std::max(1.0, std::abs(want))) << what << " at " << i;
    }
  }
}

// The number that gradients are of: sum(t * weight) of those that have one; null where none has.
Tensor weighed(const TensorList& tensors) {
  Tensor total;
  for (const Tensor& t : tensors) {
    if (t.dtype() != tn::float64 || !t.requires_grad()) continue;
    Tensor part = (t * weight_like(t)).sum();
    total = total ? total + part : part;
  }
  return total;
}

TensorList expect_gradients(const Tensor& of, const TensorList& leaves, const json& expected, const std::string& what,
                            bool create_graph) {
  TensorList gradients(leaves.size());
  if (of) gradients = tn::grad({of}, leaves, {.create_graph = create_graph, .allow_unused = true});
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!gradients[i]) gradients[i] = tn::zeros(leaves[i].sizes(), tn::float64, leaves[i].device());
    expect_same(gradients[i], expected[i], what + " " + std::to_string(i));
  }
  return gradients;
}

TensorList called(const std::string& name, const std::vector<tn_value>& values, const json& expected) {
  const tn_op* op = nullptr;
  tn::check(tn::host()->find_op(name.c_str(), &op));
  std::vector<tn_value> results(expected.size());
  tn::check(tn::host()->call(op, values.data(), static_cast<uint32_t>(values.size()), results.data(),
                             static_cast<uint32_t>(results.size())));
  if (results[0].kind == TN_TENSORS) return tn::detail::Unpack<TensorList>::own(results[0]);
  TensorList outputs;
  for (const tn_value& v : results) outputs.push_back(Tensor::take(v.as.tensor));
  return outputs;
}

void check_case(const json& c, tn::Device device) {
  std::vector<std::unique_ptr<Argument>> arguments;
  std::vector<tn_value> values;
  TensorList leaves;
  for (const json& a : c.at("args")) {
    arguments.push_back(std::make_unique<Argument>(a, device));
    values.push_back(arguments.back()->value);
    for (const Tensor& t : arguments.back()->tensors) {
      if (!t || t.dtype() != tn::float64 || arguments.back()->constant) continue;
      if (c.contains("grad")) t.requires_grad_();
      leaves.push_back(t);
    }
  }
  const json& given = c.at("out");
  const json& expected = given[0].contains("l") ? given[0].at("l") : given;
  TensorList outputs = called(c.at("op"), values, given);
  ASSERT_EQ(outputs.size(), expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) expect_same(outputs[i], expected[i], "output " + std::to_string(i));
  if (c.contains("after")) {
    for (const auto& after : c.at("after").items())
      expect_same(arguments[std::stoul(after.key())]->tensors[0], after.value(), "after the call, argument " + after.key());
  }
  if (!c.contains("grad")) return;
  Tensor loss = weighed(outputs);
  ASSERT_TRUE(loss) << "no output has a gradient";
  const TensorList first = expect_gradients(loss, leaves, c.at("grad"), "gradient", c.contains("grad2"));
  if (c.contains("grad2")) expect_gradients(weighed(first), leaves, c.at("grad2"), "second gradient", false);
}

TEST(TorchValues, OfEveryCase) {
  std::ifstream file(std::string(std::getenv("TENON_SOURCE_DIR")) + "/tests/data/torch_values.json");
  const json all = json::parse(file);
  for (tn::Device device : devices()) {
    for (const json& c : all.at("cases")) {
      SCOPED_TRACE(device.name() + " " + c.at("op").get<std::string>() + c.at("args").dump().substr(0, 200));
      try {
        check_case(c, device);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
}

}  // namespace
