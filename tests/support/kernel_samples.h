// Samples of kernels: a call with its inputs, the dtypes in which a kernel takes it, and how far from
// the reference its result may be. For tests/cpu/kernel_sweep_test.cpp.
#pragma once

#include <array>
#include <memory>

#include "check_tolerance.h"
#include "ops_support.h"

namespace kernel_samples {

using tn::Dtype;

inline const std::vector<Dtype> kFloats = {tn::float32, tn::float64, tn::float16, tn::bfloat16};
inline const std::vector<Dtype> kInts = {tn::int64, tn::int32, tn::int16, tn::int8, tn::uint8};
inline const std::vector<Dtype> kNumbers = {tn::float32,  tn::float64, tn::float16,
                                            tn::bfloat16, tn::int64,   tn::int32,
                                            tn::int16,    tn::int8,    tn::uint8};
inline const std::vector<Dtype> kAll = {tn::float32, tn::float64, tn::float16, tn::bfloat16,
                                        tn::int64,   tn::int32,   tn::int16,   tn::int8,
                                        tn::uint8,   tn::bool_};

// The rule of sdk/cli/check_tolerance.h.
using Error = tn::cli::conformance::Tolerance;
using tn::cli::conformance::products;
using tn::cli::conformance::sum_of;

struct Sample {
  std::string kernel;
  std::string what;
  std::vector<Dtype> dtypes;
  TensorList inputs;           // float64, converted to the dtype; int64 ones are indices and stay
  std::vector<int64_t> batch;  // per input the dimension that may have any size, or -1
  Error error;
  std::function<Tensor(const TensorList&, Dtype, tn::Device)> f;
};

using Samples = std::vector<Sample>;

// The gradient of f, each element of whose result has a weight of its own, by input `which`.
inline std::function<Tensor(const TensorList&, Dtype, tn::Device)> gradient_of(
    std::function<Tensor(const TensorList&)> f, size_t which) {
  return [f, which](const TensorList& in, Dtype, tn::Device) {
    TensorList x = in;
    x[which] = in[which].detach().requires_grad_();
    return tn::grad(weigh(f(x)), x[which]);
  };
}

inline const std::vector<Dtype> kFloat32 = {tn::float32};

// f and its gradients by the first `n_gradients` inputs. `error` of the result; each gradient is a
// sum of as many products at most as `length` says.
inline void with_gradients(Samples& list, const char* kernel, const std::string& what,
                           const TensorList& inputs, const std::vector<int64_t>& batch,
                           const Error& error, double length, size_t n_gradients,
                           const std::function<Tensor(const TensorList&)>& f) {
  list.push_back({kernel, what, kFloat32, inputs, batch, error,
                  [f](const TensorList& in, Dtype, tn::Device) { return f(in); }});
  for (size_t i = 0; i < n_gradients; ++i) {
    list.push_back({kernel, what + ", gradient " + std::to_string(i), kFloat32, inputs, batch,
                    products(length), gradient_of(f, i)});
  }
}

}  // namespace kernel_samples
