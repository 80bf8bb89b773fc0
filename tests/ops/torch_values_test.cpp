// Calls of the standard ops with the results and gradients that PyTorch gave for them
// (tests/data/torch_values.py), in float64 on every device. The ops are called by name, as a
// program in another language would.
#include "torch_cases.h"

namespace {

using namespace torch_cases;

void expect_same(const Tensor& found, const json& expected, const std::string& what) {
  const std::vector<int64_t> sizes = expected.at("s");
  ASSERT_EQ(std::vector<int64_t>(found.sizes().begin(), found.sizes().end()), sizes) << what;
  const std::string dtype =
      expected.contains("d") ? expected.at("d").get<std::string>() : "float64";
  EXPECT_EQ(found.dtype().name(), dtype) << what;
  const std::vector<double> values = found.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    const json& e = expected.at("v")[i];
    const double want = e.is_boolean() ? e.get<bool>() : number_of(e);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(values[i]))
          << what << " at " << i << ": " << values[i] << ", PyTorch: nan";
    } else if (std::isinf(want)) {
      EXPECT_EQ(values[i], want) << what << " at " << i;
    } else {
      EXPECT_NEAR(values[i], want, 1e-12 * std::max(1.0, std::abs(want))) << what << " at " << i;
    }
  }
}

TensorList expect_gradients(const Tensor& of, const TensorList& leaves, const json& expected,
                            const std::string& what, bool create_graph) {
  TensorList gradients(leaves.size());
  if (of.defined())
    gradients = tn::grad({of}, leaves, {.create_graph = create_graph, .allow_unused = true});
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!gradients[i].defined())
      gradients[i] = tn::zeros(leaves[i].sizes(), tn::float64, leaves[i].device());
    expect_same(gradients[i], expected[i], what + " " + std::to_string(i));
  }
  return gradients;
}

void check_case(const json& c, tn::Device device) {
  const Arguments arguments(c, device);
  const TensorList& leaves = arguments.leaves;
  const json& given = c.at("out");
  const json& expected = given[0].contains("l") ? given[0].at("l") : given;
  TensorList outputs = called(c.at("op"), arguments.values, given);
  ASSERT_EQ(outputs.size(), expected.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    expect_same(outputs[i], expected[i], "output " + std::to_string(i));
  if (c.contains("after")) {
    for (const auto& after : c.at("after").items())
      expect_same(arguments.list[std::stoul(after.key())]->tensors[0], after.value(),
                  "after the call, argument " + after.key());
  }
  if (!c.contains("grad")) return;
  Tensor loss = weighed(outputs);
  ASSERT_TRUE(loss.defined()) << "no output has a gradient";
  const TensorList first =
      expect_gradients(loss, leaves, c.at("grad"), "gradient", c.contains("grad2"));
  if (c.contains("grad2"))
    expect_gradients(weighed(first), leaves, c.at("grad2"), "second gradient", false);
}

TEST(TorchValues, OfEveryCase) {
  const json all = all_cases();
  for (tn::Device device : devices()) {
    for (const json& c : all) {
      SCOPED_TRACE(device.name() + " " + c.at("op").get<std::string>() +
                   c.at("args").dump().substr(0, 200));
      try {
        check_case(c, device);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
}

}  // namespace
