// Negative log-likelihoods of distributions that a network gives the parameters of. reduction is
// mean, sum or none, as PyTorch's.
#include <cmath>

#include "distance.h"
#include "loss.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef poisson_of_log{"_poisson_of_log(Tensor input, Tensor target) -> Tensor",
                                       "exp(input) - target * input"};
constinit ExpressionRef poisson{"_poisson(Tensor input, Tensor target, float eps) -> Tensor",
                                "input - target * log(input + eps)"};
// Stirling's approximation of log(target!).
constinit ExpressionRef stirling{"_stirling(Tensor target) -> Tensor",
                                 "where(target <= 1, 0, target * log(target) - target + "
                                 "0.5 * log(2 * pi * target))"};
constinit ExpressionRef gaussian{"_gaussian(Tensor input, Tensor target, Tensor var) -> Tensor",
                                 "let d = input - target\n"
                                 "0.5 * (log(var) + d * d / var)"};

void expect_no_negative(const char* op, const Tensor& var) {
  if (!may_look_at(var) || var.numel() == 0) return;
  NoGrad guard;
  if (any(lt(var, 0)).item<bool>())
    fail(std::string(op) + ": an element of var is negative, expected 0 or more");
}

// A variance for each element, for each row of the last dimension, or for all along one dimension.
Tensor variance_for(const char* op, const Tensor& input, const Tensor& var) {
  if (sizes_of(var) == sizes_of(input) || var.dim() == 0) return var;
  const Sizes rows = input.dim() > 0 ? first_sizes(input, input.dim() - 1) : Sizes();
  if (sizes_of(var) == rows) return unsqueeze(var, -1);
  int apart = 0;
  bool fits = var.dim() == input.dim();
  for (int64_t d = 0; fits && d < var.dim(); ++d) {
    if (var.size(d) == input.size(d)) continue;
    fits = var.size(d) == 1 && ++apart == 1;
  }
  if (fits) return var;
  fail(std::string(op) + ": var is " + sizes_text(var.sizes()) + ", input is " +
       sizes_text(input.sizes()) +
       "; expected the same sizes, or without the last one, or with 1 for one of them");
}

}  // namespace

void likelihood_losses() {
  op("poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, float "
     "eps=1e-8, str reduction=\"mean\") -> Tensor")
      .doc(
          "exp(input) - target * input, or input - target * log(input + eps) without log_input; "
          "full: with Stirling's approximation of log(target!).")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, bool log_input, bool full, double eps,
                  std::string reduction) {
        const char* op = "poisson_nll_loss";
        const Reduction kind = reduction_of(op, reduction);
        expect_broadcast(op, input, target);
        expect_numbers(op, input, target);
        Tensor loss = log_input ? prim::elementwise(poisson_of_log, input, target)
                                : prim::elementwise(poisson, input, target, eps);
        if (full) loss = add(loss, prim::elementwise(stirling, target));
        return reduced(loss, kind);
      });
  op("gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-6, "
     "str reduction=\"mean\") -> Tensor")
      .doc(
          "(log(var) + (input - target)^2 / var) / 2, with var of at least eps; full: with log(2 * "
          "pi) / 2. Nix & Weigend, 1994.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, Tensor var, bool full, double eps,
                  std::string reduction) {
        const char* op = "gaussian_nll_loss";
        const Reduction kind = reduction_of(op, reduction);
        expect_broadcast(op, input, target);
        expect_fractions(op, input, target);
        expect_positive(op, "eps", eps, false);
        expect_no_negative(op, var);
        const Tensor spread = raised(as_float(variance_for(op, input, var)), eps);
        Tensor loss = prim::elementwise(gaussian, input, target, spread);
        if (full) loss = add(loss, 0.5 * std::log(2 * M_PI));
        return reduced(loss, kind);
      });
}

}  // namespace tenon::ops_pack
