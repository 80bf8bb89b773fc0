// Whole derivatives of functions of tensors: torch.autograd.functional.
//
//   Tensor j = functional::jacobian([](Tensor x) { return x.pow(2); }, x);  // [*y's sizes, *x's sizes]
//   Tensor h = functional::hessian([](Tensor x) { return x.pow(3).sum(); }, x);
//
// f takes a tensor, in jacobian also several, and gives one; it is called with a copy of x that
// asks for its gradient, so that x itself need not, and gets none. With create_graph the results
// have gradients with respect to x, where that asks for them. tenon.hpp does not include it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/shape.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace functional {

struct FunctionalOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool create_graph = false;
};

}  // namespace functional

namespace detail {

// What f gets for x.
inline Tensor entrance_of(const char* op, const Tensor& x, bool create_graph) {
  if (!x.defined() || !x.dtype().is_float()) {
    fail(joined({op, ": x is ", x.defined() ? x.dtype().name() : "None", ", expected floats"}));
  }
  if (create_graph && x.requires_grad()) return x.view(x.sizes());
  return x.detach().requires_grad_();
}
// "float32 [2, 3]"
inline std::string kind_of(const Tensor& t) {
  if (!t.defined()) return "None";
  return joined({t.dtype().name(), " ", sizes_text(t.sizes())});
}
inline void expect_like(const char* op, const char* name, const Tensor& v, const Tensor& of) {
  if (v.defined() && v.sizes() == of.sizes() && v.dtype() == of.dtype()) return;
  fail(joined({op, ": ", name, " is ", kind_of(v), ", expected ", kind_of(of)}));
}
// The gradient, or zeros where y does not depend on x.
inline Tensor gradient_or_zeros(const Tensor& y, const Tensor& x, const GradOptions& options) {
  if (!y.requires_grad()) return zeros_like(x);
  Tensor gradient = grad(y, x, options);
  return gradient.defined() ? gradient : zeros_like(x);
}

}  // namespace detail

namespace functional {

// d f(x) / d x: [*sizes of f(x), *sizes of x], a backward pass for each element of f(x).
template <typename F>
Tensor jacobian(F f, const Tensor& x, const FunctionalOptions& options = {}) {
  const InferenceMode recorded(false);
  const Tensor in = detail::entrance_of("jacobian", x, options.create_graph);
  const Tensor y = f(in);
  const Tensor line = y.reshape({-1});
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < line.numel(); ++i) {
    rows.push_back(detail::gradient_or_zeros(
        line.select(0, i), in,
        {.retain_graph = true, .create_graph = options.create_graph, .allow_unused = true}));
  }
  std::vector<int64_t> sizes(y.sizes().begin(), y.sizes().end());
  sizes.insert(sizes.end(), x.sizes().begin(), x.sizes().end());
  if (rows.empty()) return zeros(sizes, x.dtype(), x.device());
  return stack(rows).reshape(sizes);
}

// Of several inputs, jacobian(f, {x, y}) of f(x, y): a list of the derivatives by each of them.
template <typename F>
std::vector<Tensor> jacobian(F f, const std::vector<Tensor>& inputs,
                             const FunctionalOptions& options = {}) {
  const InferenceMode recorded(false);
  std::vector<Tensor> in;
  for (const Tensor& x : inputs)
    in.push_back(detail::entrance_of("jacobian", x, options.create_graph));
  const Tensor y = detail::call_with_all("jacobian", f, in);
  const Tensor line = y.reshape({-1});
  std::vector<std::vector<Tensor>> rows(in.size());
  for (int64_t i = 0; i < line.numel(); ++i) {
    const std::vector<Tensor> gradients = y.requires_grad()
                                              ? grad(line.select(0, i), in,
                                                     {.retain_graph = true,
                                                      .create_graph = options.create_graph,
                                                      .allow_unused = true})
                                              : std::vector<Tensor>(in.size());
    for (size_t k = 0; k < in.size(); ++k)
      rows[k].push_back(gradients[k].defined() ? gradients[k] : zeros_like(in[k]));
  }
  std::vector<Tensor> list;
  for (size_t k = 0; k < in.size(); ++k) {
    std::vector<int64_t> sizes(y.sizes().begin(), y.sizes().end());
    sizes.insert(sizes.end(), in[k].sizes().begin(), in[k].sizes().end());
    list.push_back(rows[k].empty() ? zeros(sizes, in[k].dtype(), in[k].device())
                                   : stack(rows[k]).reshape(sizes));
  }
  return list;
}

// The second derivatives of f, which gives one element: [*sizes of x, *sizes of x].
template <typename F>
Tensor hessian(F f, const Tensor& x, const FunctionalOptions& options = {}) {
  const auto slope = [&f](const Tensor& in) {
    const Tensor y = f(in);
    if (y.numel() != 1) {
      fail(detail::joined(
          {"hessian: the function gives ", std::to_string(y.numel()), " elements, expected one"}));
    }
    return detail::gradient_or_zeros(y, in, {.create_graph = true, .allow_unused = true});
  };
  return jacobian(slope, x, options);
}

// f(x), and v J: of each element of x the sum over f(x) of v times the derivative; v as f(x).
template <typename F>
std::pair<Tensor, Tensor> vjp(F f, const Tensor& x, const Tensor& v,
                              const FunctionalOptions& options = {}) {
  const InferenceMode recorded(false);
  const Tensor in = detail::entrance_of("vjp", x, options.create_graph);
  const Tensor y = f(in);
  detail::expect_like("vjp", "v", v, y);
  Tensor product = detail::gradient_or_zeros(
      y, in, {.grad_outputs = v, .create_graph = options.create_graph, .allow_unused = true});
  return {options.create_graph ? y : y.detach(), std::move(product)};
}

// f(x), and J v: of each element of f(x) the sum over x of the derivative times v; v as x. By two
// backward passes, as PyTorch's.
template <typename F>
std::pair<Tensor, Tensor> jvp(F f, const Tensor& x, const Tensor& v,
                              const FunctionalOptions& options = {}) {
  const InferenceMode recorded(false);
  const Tensor in = detail::entrance_of("jvp", x, options.create_graph);
  detail::expect_like("jvp", "v", v, x);
  const Tensor y = f(in);
  const Tensor weights = zeros_like(y).requires_grad_();
  const Tensor back = detail::gradient_or_zeros(
      y, in, {.grad_outputs = weights, .create_graph = true, .allow_unused = true});
  Tensor product = detail::gradient_or_zeros(
      back, weights,
      {.grad_outputs = v, .create_graph = options.create_graph, .allow_unused = true});
  return {options.create_graph ? y : y.detach(), std::move(product)};
}

}  // namespace functional

namespace detail {

// f(x) of one element, and its second derivatives, a matrix that equals its transpose, times v.
template <typename F>
std::pair<Tensor, Tensor> hessian_product(const char* op, F& f, const Tensor& x, const Tensor& v,
                                          const functional::FunctionalOptions& options) {
  const InferenceMode recorded(false);
  const Tensor in = entrance_of(op, x, options.create_graph);
  expect_like(op, "v", v, x);
  const Tensor y = f(in);
  if (y.numel() != 1) {
    fail(joined(
        {op, ": the function gives ", std::to_string(y.numel()), " elements, expected one"}));
  }
  const Tensor slope = gradient_or_zeros(y, in, {.create_graph = true, .allow_unused = true});
  Tensor product = gradient_or_zeros(
      slope, in, {.grad_outputs = v, .create_graph = options.create_graph, .allow_unused = true});
  return {options.create_graph ? y : y.detach(), std::move(product)};
}

}  // namespace detail

namespace functional {

// f(x) of one element, and its second derivatives times v, or v times them; v as x. The two are
// equal.
template <typename F>
std::pair<Tensor, Tensor> hvp(F f, const Tensor& x, const Tensor& v,
                              const FunctionalOptions& options = {}) {
  return detail::hessian_product("hvp", f, x, v, options);
}
template <typename F>
std::pair<Tensor, Tensor> vhp(F f, const Tensor& x, const Tensor& v,
                              const FunctionalOptions& options = {}) {
  return detail::hessian_product("vhp", f, x, v, options);
}

}  // namespace functional
}  // namespace v0
}  // namespace tenon
