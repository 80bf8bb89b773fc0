// Distributions that are written to a tensor, as PyTorch's methods do: each is one formula of
// uniform or normal numbers. The uniform ones are float64 throughout, so that none becomes 0 or 1
// by rounding.
#include "random.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

// By the inverse of each distribution's function; u is kept above 0, where the inverse has no
// value.
constinit ExpressionRef waiting_time{"_waiting_time(Tensor u, float rate) -> Tensor",
                                     "-log1p(-max(u, 5.551115123125783e-17)) / rate"};
constinit ExpressionRef trials{"_trials(Tensor u, float rate) -> Tensor",
                               "ceil(-log1p(-max(u, 5.551115123125783e-17)) / rate)"};
constinit ExpressionRef cauchy_of{"_cauchy_of(Tensor u, float median, float sigma) -> Tensor",
                                  "median + sigma * tan(pi * (u - 0.5))"};
constinit ExpressionRef log_normal_of{"_log_normal_of(Tensor z, float mean, float std) -> Tensor",
                                      "exp(mean + std * z)"};

void expect_above_zero(const char* op, const char* what, double number) {
  if (number > 0 && number < INFINITY) return;
  fail(std::string(op) + ": " + what + " is " + number_text(number) + ", expected more than 0");
}
void expect_finite(const char* op, const char* what, double number) {
  if (std::isfinite(number)) return;
  fail(std::string(op) + ": " + what + " is " + number_text(number) + ", expected a finite number");
}

Tensor exponential_into(const Tensor& x, double lambd) {
  expect_float("exponential_", x);
  expect_above_zero("exponential_", "lambd", lambd);
  const Tensor u = uniform_numbers("exponential_", x.sizes(), x.device());
  return x.copy_(prim::elementwise(waiting_time, u, lambd));
}

// The rate of -log(1 - u), whose whole steps are the trials.
Tensor geometric_into(const Tensor& x, double p) {
  if (x.dtype() == bool_) fail("geometric_: x is bool, expected a number");
  if (!(p > 0 && p < 1))
    fail("geometric_: p is " + number_text(p) + ", expected more than 0 and less than 1");
  const Tensor u = uniform_numbers("geometric_", x.sizes(), x.device());
  return x.copy_(prim::elementwise(trials, u, -std::log1p(-p)));
}

Tensor cauchy_into(const Tensor& x, double median, double sigma) {
  expect_float("cauchy_", x);
  expect_finite("cauchy_", "median", median);
  expect_above_zero("cauchy_", "sigma", sigma);
  const Tensor u = uniform_numbers("cauchy_", x.sizes(), x.device());
  return x.copy_(prim::elementwise(cauchy_of, u, median, sigma));
}

Tensor log_normal_into(const Tensor& x, double mean, double std) {
  expect_float("log_normal_", x);
  expect_finite("log_normal_", "mean", mean);
  expect_above_zero("log_normal_", "std", std);
  const Tensor z = normal_numbers("log_normal_", x.sizes(), x.device());
  return x.copy_(prim::elementwise(log_normal_of, as_dtype(z, float64), mean, std));
}

}  // namespace

void random_fills() {
  op("exponential_(Tensor(a!) x, float lambd=1) -> Tensor(a!)")
      .doc("Writes exponentially distributed numbers of rate lambd, whose mean is 1 / lambd, to x.")
      .method()
      .random()
      .keeps_halves()
      .meaning(exponential_into);
  op("geometric_(Tensor(a!) x, float p) -> Tensor(a!)")
      .doc("Writes how many trials it takes, 1 at least, to succeed with probability p each, to x.")
      .method()
      .random()
      .keeps_halves()
      .meaning(geometric_into);
  op("cauchy_(Tensor(a!) x, float median=0, float sigma=1) -> Tensor(a!)")
      .doc("Writes numbers of the Cauchy distribution with this median and half width to x.")
      .method()
      .random()
      .keeps_halves()
      .meaning(cauchy_into);
  op("log_normal_(Tensor(a!) x, float mean=1, float std=2) -> Tensor(a!)")
      .doc("Writes numbers to x whose logarithms are normal with this mean and standard deviation.")
      .method()
      .random()
      .keeps_halves()
      .meaning(log_normal_into);
}

}  // namespace tenon::ops_pack
