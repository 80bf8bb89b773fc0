// Gradients compared with central differences, as torch.autograd.gradcheck and gradgradcheck do: for
// tests of ops, of functions with a gradient of one's own, and of models. tenon.hpp does not include
// it.
#pragma once

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/ops/methods_by_hand.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/methods.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct GradcheckOptions {
  double eps = 1e-6;  // how far an input is moved, to each side
  // An element of the gradient may be away from its difference by atol + rtol * |difference|.
  double atol = 1e-5, rtol = 1e-3;
  bool raise_exception = true;  // false: the answer is false where an Error would say why
  // Of two backward passes of equal values: by how much they may differ.
  double nondet_tol = 0.0;
};

namespace detail {

// A function of tensors as one of a list that gives a list.
template <typename F>
std::vector<Tensor> checked_outputs(F& f, const std::vector<Tensor>& x) {
  const auto called = [&] { return call_with_all("gradcheck", f, x); };
  using Result = std::decay_t<decltype(called())>;
  if constexpr (std::is_base_of_v<Tensor, Result>) {  // x[0] is one, too
    return {Tensor(called())};
  } else if constexpr (std::is_same_v<Result, std::vector<Tensor>>) {
    return called();
  } else {  // a tuple, a pair or an array
    return std::apply([](auto&&... y) { return std::vector<Tensor>{y...}; }, called());
  }
}

class Gradcheck {
 public:
  explicit Gradcheck(const GradcheckOptions& options) : options_(options) {
    if (!(options.eps > 0)) {
      fail(joined({"gradcheck: eps is ", number_text(options.eps), ", expected more than 0"}));
    }
  }

  template <typename F>
  void check_all(F& f, const std::vector<Tensor>& inputs) const {
    expect_inputs(inputs);
    const std::vector<Tensor> x = leaves(inputs), y = checked_outputs(f, x);
    bool any = false;
    for (size_t o = 0; o < y.size(); ++o) {
      if (!y[o].dtype().is_float()) continue;
      any = true;
      for (size_t i = 0; i < x.size(); ++i) {
        if (x[i].requires_grad()) check_pair(f, x, y, o, i);
      }
    }
    if (!any) fail("gradcheck: no output is a float, so none has a gradient");
  }

 private:
  static void expect_inputs(const std::vector<Tensor>& inputs) {
    bool any = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad()) continue;
      any = true;
      // Differences of float32 are mostly rounding.
      if (inputs[i].dtype() != float64) {
        fail(joined({"gradcheck: input ", std::to_string(i), " is ", inputs[i].dtype().name(),
                     ", expected float64"}));
      }
    }
    if (!any) fail("gradcheck: none of the inputs requires a gradient");
  }
  static std::vector<Tensor> leaves(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> x;
    for (const Tensor& input : inputs) {
      x.push_back(input.detach().clone());
      if (input.requires_grad()) x.back().requires_grad_();
    }
    return x;
  }

  // d output o / d input i: a row for each element of the output.
  std::vector<std::vector<double>> analytical(const std::vector<Tensor>& x,
                                              const std::vector<Tensor>& y, size_t o,
                                              size_t i) const {
    std::vector<std::vector<double>> rows;
    for (int64_t k = 0; k < y[o].numel(); ++k) {
      std::vector<double> row(static_cast<size_t>(x[i].numel()));
      if (y[o].requires_grad()) {
        std::vector<double> one(static_cast<size_t>(y[o].numel()));
        one[static_cast<size_t>(k)] = 1;
        const Tensor seed = Tensor::from(one, y[o].sizes(), y[o].device()).to(y[o].dtype());
        const GradOptions options{
            .grad_outputs = {seed}, .retain_graph = true, .allow_unused = true};
        const Tensor g = grad({y[o]}, {x[i]}, options)[0];
        if (g.defined()) row = g.to_vector<double>();
        const Tensor again = grad({y[o]}, {x[i]}, options)[0];
        if (again.defined()) expect_equal_passes(row, again.to_vector<double>(), o, i);
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }
  void expect_equal_passes(const std::vector<double>& a, const std::vector<double>& b, size_t o,
                           size_t i) const {
    for (size_t k = 0; k < a.size(); ++k) {
      if (std::abs(a[k] - b[k]) <= options_.nondet_tol || (std::isnan(a[k]) && std::isnan(b[k])))
        continue;
      fail(joined({"gradcheck: two backward passes of output ", std::to_string(o), " to input ",
                   std::to_string(i), " differ at element ", std::to_string(k), ": ",
                   number_text(a[k]), " and ", number_text(b[k]), "; nondet_tol is ",
                   number_text(options_.nondet_tol)}));
    }
  }

  template <typename F>
  std::vector<double> moved_output(F& f, const std::vector<Tensor>& x, size_t o, size_t i, size_t k,
                                   double by) const {
    std::vector<Tensor> at = leaves(x);
    std::vector<double> values = x[i].to_vector<double>();
    values[k] += by;
    at[i] = Tensor::from(values, x[i].sizes(), x[i].device()).requires_grad_();
    return checked_outputs(f, at)[o].template to_vector<double>();
  }

  template <typename F>
  void check_pair(F& f, const std::vector<Tensor>& x, const std::vector<Tensor>& y, size_t o,
                  size_t i) const {
    const auto rows = analytical(x, y, o, i);
    for (size_t k = 0; k < static_cast<size_t>(x[i].numel()); ++k) {
      const auto above = moved_output(f, x, o, i, k, options_.eps);
      const auto below = moved_output(f, x, o, i, k, -options_.eps);
      for (size_t j = 0; j < rows.size(); ++j) {
        const double numerical = (above[j] - below[j]) / (2 * options_.eps), found = rows[j][k];
        if (std::abs(found - numerical) <= options_.atol + options_.rtol * std::abs(numerical))
          continue;
        fail(joined({"gradcheck: of output ", std::to_string(o), ", element ", std::to_string(j),
                     ", to input ", std::to_string(i), ", element ", std::to_string(k),
                     ", the gradient is ", number_text(found), " and the difference ",
                     number_text(numerical)}));
      }
    }
  }

  GradcheckOptions options_;
};

template <typename Work>
bool holds(const GradcheckOptions& options, const Work& work) {
  if (options.raise_exception) return work(), true;
  try {
    work();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace detail

// Whether the gradients of `f` with respect to those inputs that require one, float64 all of them,
// are what central differences say: for each element of each float output. An Error names the first
// that is not. `f` takes the inputs as arguments, or as one std::vector<Tensor>, and gives a Tensor, a
// vector or a tuple of these; it is called twice for each element of the inputs, with new tensors.
template <typename F>
bool gradcheck(F f, const std::vector<Tensor>& inputs, const GradcheckOptions& options = {}) {
  return detail::holds(options, [&] { detail::Gradcheck(options).check_all(f, inputs); });
}

// The same of the gradients' gradients: gradcheck of the function that gives them. `grad_outputs`, one
// for each float output, are what the outputs are weighed with, and are inputs of it; none: numbers
// that are 1 on average, the same at each call.
template <typename F>
bool gradgradcheck(F f, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& grad_outputs = {},
                   const GradcheckOptions& options = {}) {
  return detail::holds(options, [&] {
    std::vector<Tensor> all = inputs, weights = grad_outputs;
    if (weights.empty()) {
      for (const Tensor& y : detail::checked_outputs(f, inputs)) {
        if (!y.dtype().is_float()) continue;
        std::vector<double> w;
        for (int64_t k = 0; k < y.numel(); ++k)
          w.push_back(1 + std::sin(static_cast<double>(3 * k + 1)) / 2);
        weights.push_back(Tensor::from(w, y.sizes(), y.device()).to(y.dtype()));
      }
    }
    for (const Tensor& w : weights) all.push_back(w.detach().clone().requires_grad_());
    const size_t n = inputs.size();
    const auto gradients = [&](const std::vector<Tensor>& x) {
      const std::vector<Tensor> of(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
      std::vector<Tensor> y, to;
      for (const Tensor& output : detail::checked_outputs(f, of)) {
        if (output.dtype().is_float()) y.push_back(output);
      }
      for (const Tensor& input : of) {
        if (input.requires_grad()) to.push_back(input);
      }
      const std::vector<Tensor> with(x.begin() + static_cast<std::ptrdiff_t>(n), x.end());
      std::vector<Tensor> g =
          grad(y, to, {.grad_outputs = with, .create_graph = true, .allow_unused = true});
      for (size_t i = 0; i < g.size(); ++i) {
        if (!g[i].defined()) g[i] = zeros_like(to[i]);
      }
      return g;
    };
    detail::Gradcheck(options).check_all(gradients, all);
  });
}

}  // namespace v0
}  // namespace tenon
