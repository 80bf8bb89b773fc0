// Weights of a norm of their own, as by torch.nn.utils.parametrizations: weight_norm and spectral_norm.
// How a layer has them is parametrize.hpp's; tenon.hpp includes neither.
//
//   auto layer = nn::utils::spectral_norm(nn::Linear(20, 40));
//   auto conv = nn::utils::weight_norm(nn::Conv2d(3, 8, 3));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/distance.hpp"
#include "tenon/ops/matmul.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"
#include "tenon/parametrize.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// v * (g / ||v||), with the norm over all dimensions but `dim`, or over all.
inline Object make_weight_norm(std::optional<int64_t> dim) {
  const Object object = Object::empty("_WeightNorm", TN_OBJECT_OTHER);
  const auto norm_of = [dim](const Tensor& v) {
    if (!dim) return norm(v);
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < v.dim(); ++d) {
      if (d != *dim) dims.push_back(d);
    }
    return dims.empty() ? v.abs() : norm(v, 2.0, dims, /*keepdim=*/true);
  };
  object.method("forward(Tensor weight_g, Tensor weight_v) -> Tensor",
                [=](Tensor g, Tensor v) { return v * (g / norm_of(v)); });
  object.method("right_inverse(Tensor weight) -> (Tensor, Tensor)",
                [=](Tensor weight) { return std::tuple(norm_of(weight), weight); });
  object.method("clone() -> object", [dim] { return make_weight_norm(dim); });
  return object;
}

// weight / sigma, where sigma is about its largest singular value, from vectors u and v that come
// nearer to the singular ones at each forward in training mode.
struct SpectralNorm {
  int64_t n_power_iterations;
  double eps;
  int64_t dim;  // of the weight: that of the outputs

  Tensor matrix(const Tensor& weight) const {
    std::vector<int64_t> order = {dim};
    for (int64_t d = 0; d < weight.dim(); ++d) {
      if (d != dim) order.push_back(d);
    }
    return (dim == 0 ? weight : permute(weight, order)).flatten(1);
  }
  Tensor unit(const Tensor& x) const { return normalize(x, {.dim = 0, .eps = eps}); }
  void iterate(const Object& self, const Tensor& weight, int64_t times) const {
    const NoGrad guard;
    const Tensor u = self.tensor("_u"), v = self.tensor("_v");
    for (int64_t i = 0; i < times; ++i) {
      u.copy_(unit(mv(weight, v)));
      v.copy_(unit(mv(weight.t(), u)));
    }
  }
  Tensor forward(const Object& self, const Tensor& weight) const {
    if (weight.dim() == 1) return unit(weight);
    const Tensor rows = matrix(weight);
    if (self.training()) iterate(self, rows, n_power_iterations);
    // Copies: another forward before backward changes the vectors.
    const Tensor u = self.tensor("_u").clone(), v = self.tensor("_v").clone();
    return weight / dot(u, mv(rows, v));
  }
  // For weights like this one.
  Object make(const Tensor& weight) const {
    const Object object = Object::empty("_SpectralNorm", TN_OBJECT_OTHER);
    if (weight.dim() > 1) {
      const NoGrad guard;
      const Tensor rows = matrix(weight.detach());
      for (const char* name : {"_u", "_v"}) {
        const int64_t n = rows.size(name[1] == 'u' ? 0 : 1);
        object.buffer(name, unit(randn({n}, rows.dtype(), rows.device())));
      }
      iterate(object, rows, 15);
    }
    return with_methods(object);
  }

 private:
  Object with_methods(const Object& object) const {
    object.method("forward(Tensor weight) -> Tensor",
                  [norm = *this](Object& self, Tensor w) { return norm.forward(self, w); });
    object.method("clone() -> object", [norm = *this](Object& self) {
      const Object copy = Object::empty("_SpectralNorm", TN_OBJECT_OTHER);
      for (const auto& [name, tensor] : self.named_buffers())
        copy.buffer(name.c_str(), tensor.detach().clone());
      return norm.with_methods(copy);
    });
    return object;
  }
};

}  // namespace detail

namespace nn {
namespace utils {

struct WeightNormOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  std::string name = "weight";
  // For each index of which there is a norm of its own; nullopt or, as in PyTorch, -1: one norm of all.
  std::optional<int64_t> dim = 0;
};
// torch.nn.utils.parametrizations.weight_norm: the tensor is g * v / ||v||, with g as original0 and v
// as original1. Salimans & Kingma, arXiv:1602.07868.
inline Object weight_norm(const Object& layer, const WeightNormOptions& options = {}) {
  if (is_parametrized(layer, options.name)) {
    fail(tenon::detail::joined({"weight_norm: '", options.name, "' of ", layer.type_name(),
                                " has a parametrization already, and weight_norm has to be the "
                                "first"}));
  }
  const Tensor weight = layer.tensor(options.name.c_str());
  std::optional<int64_t> dim = options.dim;
  if (dim == -1) dim = {};
  const int64_t n = weight.defined() ? weight.dim() : 0;
  if (weight.defined() && dim && (*dim < -n || *dim >= n)) {
    fail(tenon::detail::joined({"weight_norm: dim is ", std::to_string(*dim), ", expected ",
                                std::to_string(-n), " to ", std::to_string(n - 1),
                                ", or none or -1 for one norm of all"}));
  }
  if (dim && *dim < 0) dim = *dim + n;
  return register_parametrization(layer, options.name, tenon::detail::make_weight_norm(dim));
}

template <tenon::detail::Placed<std::string> N>
Object weight_norm(const Object& layer, const N& name, std::optional<int64_t> dim = 0) {
  return weight_norm(layer, {.name = name, .dim = dim});
}

struct SpectralNormOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  std::string name = "weight";
  Int n_power_iterations = 1;
  Float eps = 1e-12;
  // The dimension of the outputs; absent: 1 of a ConvTranspose, else 0.
  std::optional<int64_t> dim = {};
};
// torch.nn.utils.parametrizations.spectral_norm: the tensor is divided by its largest singular value,
// which n_power_iterations steps of the power method at each forward in training mode follow.
// Miyato et al., arXiv:1802.05957.
inline Object spectral_norm(const Object& layer, const SpectralNormOptions& options = {}) {
  const Tensor weight = tenon::detail::value_now(layer, options.name);
  if (!weight.defined()) {
    fail(tenon::detail::joined(
        {"spectral_norm: '", options.name, "' of ", layer.type_name(), " is None"}));
  }
  const int64_t usual = layer.type_name().starts_with("ConvTranspose") ? 1 : 0;
  const int64_t given = options.dim.value_or(usual), n = weight.dim();
  if (given < -n || given >= n) {
    fail(tenon::detail::joined({"spectral_norm: dim is ", std::to_string(given), ", expected ",
                                std::to_string(-n), " to ", std::to_string(n - 1)}));
  }
  const int64_t times = options.n_power_iterations;
  if (times < 1) {
    fail(tenon::detail::joined(
        {"spectral_norm: n_power_iterations is ", std::to_string(times), ", expected at least 1"}));
  }
  const tenon::detail::SpectralNorm norm{times, options.eps, given < 0 ? given + n : given};
  return register_parametrization(layer, options.name, norm.make(weight));
}
template <tenon::detail::Placed<std::string> N>
Object spectral_norm(const Object& layer, const N& name, Int n_power_iterations = 1,
                     Float eps = 1e-12, std::optional<int64_t> dim = {}) {
  return spectral_norm(
      layer, {.name = name, .n_power_iterations = n_power_iterations, .eps = eps, .dim = dim});
}

}  // namespace utils
}  // namespace nn
}  // namespace v0
}  // namespace tenon
