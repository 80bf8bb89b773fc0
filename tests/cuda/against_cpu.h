// Shared by the tests of kernels of whole ops on the device `cuda`: an op and its gradients there, against
// `cpu` in float64.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fake_launches.h"
#include "kernel_answers.h"
#include "ops_support.h"

inline const char* const kCuda = "cuda:0";

struct Case {
  tn::Dtype dtype;
  double tolerance;
};
inline const Case kFloat = {tn::float32, 2e-6};
inline const std::vector<Case> kCases = {
    kFloat, {tn::float64, 1e-12}, {tn::float16, 2e-3}, {tn::bfloat16, 1.6e-2}};

using Op = std::function<Tensor(const TensorList&)>;
struct Named {
  const char* name;
  Op run;
};

inline std::vector<double> doubles(const Tensor& t) {
  return t.to(tn::cpu).to(tn::float64).contiguous().to_vector<double>();
}

// The op's value and the gradients of all its inputs that are floats, in their order. `place` puts an
// input on a device; the gradient of the value is rounded to `dtype`.
inline TensorList values_and_gradients(const Op& op, const TensorList& inputs, tn::Dtype dtype,
                                       const std::function<Tensor(const Tensor&)>& place) {
  TensorList placed, wanted;
  for (const Tensor& t : inputs) {
    placed.push_back(place(t.detach()));
    if (!t.dtype().is_float()) continue;
    placed.back().requires_grad_();
    wanted.push_back(placed.back());
  }
  const Tensor y = op(placed);
  const Tensor weights =
      sample({y.sizes().begin(), y.sizes().end()}).to(dtype).to(y.dtype()).to(y.device());
  TensorList results = {y.detach()};
  for (const Tensor& g : tn::grad(TensorList{y}, wanted, {.grad_outputs = TensorList{weights}}))
    results.push_back(g);
  return results;
}

// Relative to the largest of what is compared, or to `least`, how large its terms are.
inline void expect_near_largest(const Tensor& found, const Tensor& expected, double tolerance,
                                double least = 0) {
  const std::vector<double> a = doubles(found), b = doubles(expected);
  ASSERT_EQ(a.size(), b.size());
  double largest = least;
  for (const double value : b)
    largest = std::max(largest, std::isfinite(value) ? std::fabs(value) : 0);
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(b[i])) {
      ASSERT_NEAR(a[i], b[i], tolerance * largest) << "at " << i << " of " << a.size();
    } else {
      ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << "at " << i;
    }
  }
}

inline void check(const Named& op, const TensorList& inputs, const Case& c,
                  const std::function<Tensor(const Tensor&)>& place, double least = 1) {
  TensorList rounded, exact;
  for (const Tensor& t : inputs) {
    rounded.push_back(t.dtype().is_float() ? t.to(c.dtype) : t);
    exact.push_back(t.dtype().is_float() ? rounded.back().to(tn::float64) : t);
  }
  const TensorList found = values_and_gradients(op.run, rounded, c.dtype, place);
  const TensorList expected =
      values_and_gradients(op.run, exact, c.dtype, [](const Tensor& t) { return t.contiguous(); });
  ASSERT_EQ(found.size(), expected.size());
  for (size_t k = 0; k < found.size(); ++k) {
    SCOPED_TRACE(k == 0 ? "value" : "gradient " + std::to_string(k - 1));
    EXPECT_EQ(found[k].dtype(), c.dtype);
    expect_near_largest(found[k], expected[k], (k == 0 ? 1 : 3) * c.tolerance, least);
  }
}

// Is it the one kernel that the work launches, apart from copies and fills?
inline void expect_launch(const char* kernel, const std::function<void()>& work) {
  auto found = fake_launches(work);
  if (!found) return;  // NVIDIA's own driver
  std::erase_if(*found, [](const std::string& name) {
    return name.starts_with("copy") || name.starts_with("fill");
  });
  EXPECT_EQ(*found, std::vector<std::string>{kernel});
}

inline Tensor on_cuda(const Tensor& t) { return t.to(tn::Device(kCuda)); }
// One element behind an address that a pack may have.
inline Tensor unaligned(const Tensor& t) {
  Tensor memory = Tensor::empty({t.numel() + 1}, t.dtype(), kCuda);
  Tensor there = memory.narrow(0, 1, t.numel()).reshape(t.sizes());
  there.copy_(t);
  return there;
}
