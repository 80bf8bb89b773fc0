// Optimizers by PyTorch's names and formulas, and schedules of their learning rates
// (optim/schedule.hpp, optim/scheduler.hpp). Each optimizer is a factory that an optimizer pack brings.
//
//   auto optimizer = tenon::optim::Adam(model.parameters(), {.lr = 1e-3});
//   optimizer.zero_grad();  loss.backward();  optimizer.step();
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/literal.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/optim.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"
#include "tenon/optim/cyclic_schedules.hpp"
#include "tenon/optim/named_schedules.hpp"
#include "tenon/optim/optimizer.hpp"
#include "tenon/optim/optimizers.hpp"
#include "tenon/optim/plateau.hpp"
#include "tenon/optim/schedule.hpp"
#include "tenon/optim/scheduler.hpp"
#include "tenon/optim/schedulers.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

inline void expect_finite_norm(const char* function, const char* what, double norm) {
  if (std::isfinite(norm)) return;
  fail(joined({function, ": the norm of the ", what, " is ", std::isnan(norm) ? "nan" : "inf",
               ", which is not finite"}));
}

}  // namespace detail
namespace optim {

struct TotalNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float norm_type = 2.0;
  // An Error where the norm is infinite or NaN; the call waits for the device.
  bool error_if_nonfinite = false;
};
using ClipGradNormOptions = TotalNormOptions;

// torch.nn.utils.get_total_norm: the norm of all elements of tensors of one device, which is the norm
// of the norms of each.
inline Tensor get_total_norm(const std::vector<Tensor>& tensors,
                             const TotalNormOptions& options = {}) {
  std::vector<Tensor> norms;
  for (const Tensor& tensor : tensors) norms.push_back(norm(tensor, options.norm_type));
  if (norms.empty()) return tensor(0.f);
  const Tensor total = norm(stack(norms), options.norm_type);
  if (options.error_if_nonfinite)
    detail::expect_finite_norm("get_total_norm", "tensors", total.item<double>());
  return total;
}
inline Tensor get_total_norm(const std::vector<Tensor>& tensors, Float norm_type,
                             bool error_if_nonfinite = false) {
  return get_total_norm(tensors,
                        {.norm_type = norm_type, .error_if_nonfinite = error_if_nonfinite});
}

// torch.nn.utils.clip_grads_with_norm_: scales the gradients of the parameters that have one by
// max_norm / total_norm, where that is less than 1, with a norm that is known.
inline void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                  const Tensor& total_norm) {
  const NoGrad guard;
  const Tensor factor = clamp(max_norm / (total_norm + 1e-6), tenon::none, 1);
  for (const Tensor& parameter : parameters) {
    if (const Tensor gradient = parameter.grad(); gradient.defined()) mul_(gradient, factor);
  }
}

// torch.nn.utils.clip_grad_norm_: scales the gradients of the parameters that have one so that
// their norm together is at most max_norm. Gives the norm before, on their device, which must be
// one. Where error_if_nonfinite makes an Error of it, nothing is scaled.
inline Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                              const ClipGradNormOptions& options = {}) {
  const NoGrad guard;
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    if (Tensor gradient = parameter.grad(); gradient.defined())
      gradients.push_back(std::move(gradient));
  }
  if (options.error_if_nonfinite) {
    detail::expect_finite_norm("clip_grad_norm_", "gradients",
                               get_total_norm(gradients, options.norm_type).item<double>());
  }
  // The fused op has the types above 0.
  if (!(options.norm_type <= 0))
    return tenon::clip_grad_norm_(gradients, max_norm, options.norm_type);
  Tensor total = get_total_norm(gradients, options.norm_type);
  clip_grads_with_norm_(parameters, max_norm, total);
  return total;
}
inline Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                              Float norm_type, bool error_if_nonfinite = false) {
  return optim::clip_grad_norm_(
      parameters, max_norm,
      ClipGradNormOptions{.norm_type = norm_type, .error_if_nonfinite = error_if_nonfinite});
}

// torch.nn.utils.clip_grad_value_: each element of the gradients to at least -clip_value and at most
// clip_value.
inline void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  if (!(clip_value >= 0)) {
    fail(detail::joined({"clip_grad_value_: clip_value is ", detail::number_text(clip_value),
                         ", expected 0 or more"}));
  }
  const NoGrad guard;
  for (const Tensor& parameter : parameters) {
    if (const Tensor gradient = parameter.grad(); gradient.defined())
      tenon::clamp_(gradient, -clip_value, clip_value);
  }
}

// Of one tensor.
template <detail::TensorLike T>
Tensor get_total_norm(const T& tensor, const TotalNormOptions& options = {}) {
  return get_total_norm(std::vector<Tensor>{tensor}, options);
}
template <detail::TensorLike T>
Tensor get_total_norm(const T& tensor, Float norm_type, bool error_if_nonfinite = false) {
  return get_total_norm(std::vector<Tensor>{tensor}, norm_type, error_if_nonfinite);
}
template <detail::TensorLike T>
Tensor clip_grad_norm_(const T& parameter, double max_norm,
                       const ClipGradNormOptions& options = {}) {
  return optim::clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, options);
}
template <detail::TensorLike T>
Tensor clip_grad_norm_(const T& parameter, double max_norm, Float norm_type,
                       bool error_if_nonfinite = false) {
  return optim::clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type,
                                error_if_nonfinite);
}
template <detail::TensorLike T>
void clip_grads_with_norm_(const T& parameter, double max_norm, const Tensor& total_norm) {
  clip_grads_with_norm_(std::vector<Tensor>{parameter}, max_norm, total_norm);
}
template <detail::TensorLike T>
void clip_grad_value_(const T& parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{parameter}, clip_value);
}

}  // namespace optim

// Where PyTorch has them.
namespace nn::utils {
using optim::clip_grad_norm_;
using optim::clip_grad_value_;
using optim::clip_grads_with_norm_;
using optim::get_total_norm;

// The elements of all parameters in a row; and back into them, in place, outside of the graph.
inline Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  if (parameters.empty()) fail("parameters_to_vector: there are no parameters");
  std::vector<Tensor> rows;
  for (const Tensor& parameter : parameters) rows.push_back(reshape(parameter, {-1}));
  return cat(rows, 0);
}
inline void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters) {
  int64_t n = 0;
  for (const Tensor& parameter : parameters) n += parameter.numel();
  if (vector.dim() != 1 || vector.numel() != n) {
    fail(detail::joined({"vector_to_parameters: the vector has ", std::to_string(vector.dim()),
                         vector.dim() == 1 ? " dimension and " : " dimensions and ",
                         std::to_string(vector.numel()), " elements, expected one dimension of ",
                         std::to_string(n)}));
  }
  const NoGrad guard;
  n = 0;
  for (const Tensor& parameter : parameters) {
    parameter.copy_(reshape(narrow(vector, 0, n, parameter.numel()), parameter.sizes()));
    n += parameter.numel();
  }
}
}  // namespace nn::utils
}  // namespace v0
}  // namespace tenon
