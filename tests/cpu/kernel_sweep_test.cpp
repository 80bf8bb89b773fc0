// Every kernel of the device cpu, of ops and of primitives, against what it means on the reference
// device: on cpu in each dtype that it takes and in each layout, on `ref` with the same values in
// float64; integers, indices and bits exactly. A kernel without a sample fails the test.
#include <set>

#include <nlohmann/json.hpp>

#include "op_kernel_samples.h"
#include "primitive_kernel_samples.h"
#include "tensor_kernel_samples.h"

namespace {

using namespace kernel_samples;

Tensor converted(const Tensor& x, Dtype dtype) {
  if (!x.dtype().is_float()) return x;
  if (dtype.is_float()) return x.to(dtype);
  if (dtype == tn::bool_) return x > 0;
  return (dtype == tn::uint8 ? tn::abs(x) * 20 : x * 20).to(dtype);
}

Samples samples() {
  Samples list;
  elementwise(list);
  reduce(list);
  scan(list);
  sort(list);
  ranks_of_long_rows(list);
  flip(list);
  roll(list);
  join(list);
  matmul(list);
  make_and_move(list);
  index(list);
  loss(list);
  conv(list);
  border(list);
  cumprod(list);
  product_gradient(list);
  running_extremes(list);
  distance(list);
  grid_sample(list);
  norm(list);
  pool(list);
  pool_volumes(list);
  attention(list);
  recurrent(list);
  optim(list);
  return list;
}

void expect_within(const Tensor& actual, const Tensor& expected, const Error& error,
                   bool gradient) {
  expect_sizes(actual, {expected.sizes().begin(), expected.sizes().end()});
  const Dtype dtype = actual.dtype();
  if (!dtype.is_float()) {
    EXPECT_EQ(dtype, expected.dtype());
    EXPECT_EQ(actual.to_vector<int64_t>(), expected.to_vector<int64_t>());
    return;
  }
  std::vector<double> a = actual.to_vector<double>(), b = expected.to_vector<double>();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (gradient && !std::isfinite(b[i])) {  // what inf - inf is in it depends on the order
      ASSERT_FALSE(std::isfinite(a[i])) << "at " << i << ": " << a[i];
      continue;
    }
    if (std::isnan(b[i]) || std::isinf(b[i])) {
      ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << "at " << i << ": " << a[i];
      continue;
    }
    const double bound = tn::cli::conformance::bound(dtype, b[i], error);
    const double distance = std::fabs(a[i] - b[i]);
    ASSERT_LE(distance, bound) << "at " << i << ": " << a[i] << " for " << b[i];
  }
}

bool copies_to_float(const std::string& what) { return what.find("float") != std::string::npos; }

TEST(KernelSweep, EveryKernelHasASample) {
  load_all();
  std::set<std::string> kernels;
  for (const Sample& s : samples()) kernels.insert(s.kernel);
  for (const auto& op : nlohmann::json::parse(tn::ops_json())) {
    for (const auto& kernel : op["kernels"]) {
      if (kernel["plugin"] != "cpu") continue;
      const std::string name = op["name"];
      EXPECT_TRUE(kernels.count(name.substr(name.find('.') + 1))) << name << " has no sample";
    }
  }
  // With those of the primitives, which belong to no op.
  const auto list = nlohmann::json::parse(tn::plugins_json());
  for (const auto& plugin : list.at("plugins")) {
    if (plugin["id"] == "cpu") {
      EXPECT_EQ(plugin["brings"]["kernels"], kernels.size());
    }
  }
}

TEST(KernelSweep, AgreesWithTheReference) {
  if (devices().size() < 2) GTEST_SKIP() << "no device ref";
  const tn::Device ref = devices()[1];
  for (const Sample& s : samples()) {
    for (Dtype dtype : s.dtypes) {
      TensorList whole;
      for (const Tensor& t : s.inputs) whole.push_back(converted(t, dtype));
      const Dtype wide = dtype.is_float() ? tn::float64 : dtype;
      // What the kernel means for these values, in whichever layout: computed once.
      auto meaning = [&](const TensorList& inputs) {
        TensorList exact;
        for (const Tensor& t : inputs)
          exact.push_back(t.to(t.dtype().is_float() ? tn::float64 : t.dtype()).to(ref));
        return s.f(exact, wide, ref);
      };
      auto compare = [&](const std::string& what, const TensorList& inputs,
                         const Tensor& expected) {
        SCOPED_TRACE(s.kernel + ", " + s.what + ", " + dtype.name() + ", " + what);
        EXPECT_NO_THROW(expect_within(s.f(inputs, dtype, tn::cpu), expected, s.error,
                                      s.what.find("gradient") != std::string::npos));
      };
      auto check = [&](const std::string& what, const TensorList& inputs) {
        compare(what, inputs, meaning(inputs));
      };
      if (s.inputs.empty()) {
        check("", {});
        continue;
      }
      for (int64_t size : {int64_t(0), int64_t(1), INT64_MAX}) {
        const TensorList values = narrowed(whole, s.batch, size);
        Tensor expected;
        EXPECT_NO_THROW(expected = meaning(values)) << s.kernel << ", " << s.what;
        if (!expected.defined()) continue;
        for (const Layout& layout : layouts()) {
          TensorList inputs;
          for (const Tensor& t : values) inputs.push_back(layout.of(t));
          compare(std::string(layout.name) + (size > 1 ? "" : ", size " + std::to_string(size)),
                  inputs, expected);
        }
      }
      TensorList expanded = narrowed(whole, s.batch, 1);
      for (size_t i = 0; i < expanded.size(); ++i)
        expanded[i] = expanded[i].expand(whole[i].sizes());
      check("expanded", expanded);
      // What a NaN or an infinity is as an integer, no one says.
      if (!dtype.is_float() || (s.kernel == "copy" && !copies_to_float(s.what))) continue;
      for (const double special : {double(NAN), double(INFINITY), -double(INFINITY)}) {
        for (size_t i = 0; i < whole.size(); ++i) {
          if (!whole[i].dtype().is_float()) continue;
          // Padding, and what is masked, is passed over, where the meaning has 0 * inf.
          if ((s.kernel.starts_with("conv") && i > 0) || s.kernel == "_attention") continue;
          TensorList inputs = whole;
          inputs[i] = whole[i].clone();
          inputs[i].reshape({-1}).narrow(0, inputs[i].numel() / 2, 1).fill_(special);
          check("input " + std::to_string(i) + " with " + std::to_string(special), inputs);
        }
      }
    }
  }
}

}  // namespace
