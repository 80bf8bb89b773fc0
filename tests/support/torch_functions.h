// Functions of C++ that are no ops, compared with PyTorch: cases of a file of tests/data, each of which
// names a function that the test calls with the case's arguments. What a case is stands in
// tests/data/torch_cases.py.
#pragma once

#include <map>

#include "torch_cases.h"

namespace torch_functions {

using torch_cases::json;
using torch_cases::number_of;

// A case's arguments by their places.
class Given {
 public:
  explicit Given(const torch_cases::Arguments& arguments) : arguments_(arguments) {}
  template <typename T>
  T as(size_t i) const {
    return tn::detail::Unpack<T>::borrow(arguments_.values.at(i));
  }
  // None: null.
  Tensor tensor(size_t i) const { return as<Tensor>(i); }
  tn::KeptInts ints(size_t i) const { return as<tn::Ints>(i); }

 private:
  const torch_cases::Arguments& arguments_;
};

using Functions = std::map<std::string, std::function<Tensor(const Given&)>>;

// Up to rounding, of float32 where the dtype is that.
inline void expect_same(const Tensor& found, const json& expected, const std::string& what) {
  const std::vector<int64_t> sizes = expected.at("s");
  ASSERT_EQ(std::vector<int64_t>(found.sizes().begin(), found.sizes().end()), sizes) << what;
  EXPECT_EQ(found.dtype().name(), expected.value("d", "float64")) << what;
  const double near = found.dtype() == tn::float64 ? 1e-12 : 1e-6;
  const std::vector<double> values = found.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double want = number_of(expected.at("v")[i]);
    if (std::isfinite(want)) {
      EXPECT_NEAR(values[i], want, near * std::max(1.0, std::abs(want))) << what << " at " << i;
    } else {
      EXPECT_EQ(std::isnan(values[i]), std::isnan(want)) << what << " at " << i;
      EXPECT_TRUE(std::isnan(want) || values[i] == want) << what << " at " << i;
    }
  }
}

// The gradients of what the case's are of; zeros where a tensor has none.
inline TensorList expect_gradients(const Tensor& of, const TensorList& leaves, const json& expected,
                                   const std::string& what, bool create_graph) {
  TensorList gradients(leaves.size());
  if (of.defined())
    gradients = tn::grad({of}, leaves, {.create_graph = create_graph, .allow_unused = true});
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = tn::zeros_like(leaves[i]);
    expect_same(gradients[i], expected[i], what + " " + std::to_string(i));
  }
  return gradients;
}

inline void expect_case(const json& c, const Functions& functions, tn::Device device) {
  const torch_cases::Arguments arguments(c, device);
  const Tensor found = functions.at(c.at("op"))(Given(arguments));
  EXPECT_EQ(found.device(), device);
  expect_same(found, c.at("out")[0], "result");
  if (!c.contains("grad")) return;
  const bool second = c.contains("grad2");
  const TensorList first = expect_gradients(torch_cases::weighed({found}), arguments.leaves,
                                            c.at("grad"), "gradient", second);
  if (second) {
    expect_gradients(torch_cases::weighed(first), arguments.leaves, c.at("grad2"),
                     "second gradient", false);
  }
}

// On these devices. Each function has a case, and each case a function.
inline void expect_cases(const std::string& name, const Functions& functions,
                         const std::vector<tn::Device>& on = devices()) {
  std::ifstream file(std::string(std::getenv("TENON_SOURCE_DIR")) + "/tests/data/" + name);
  const json read = json::parse(file);
  for (tn::Device device : on) {
    std::set<std::string> without_cases;
    for (const auto& [function, call] : functions) without_cases.insert(function);
    for (const json& c : read.at("cases")) {
      without_cases.erase(c.at("op"));
      SCOPED_TRACE(device.name() + " " + c.at("op").get<std::string>() + c.at("args").dump());
      try {
        expect_case(c, functions, device);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
    EXPECT_TRUE(without_cases.empty()) << *without_cases.begin() << " has no case in " << name;
  }
}

}  // namespace torch_functions
