// What the steps of optimizers share: checks of their lists, counts of steps, and what goes by these.
// A step changes everything in place, or nothing where found_inf is not 0.
#pragma once

#include <cmath>
#include <new>
#include <utility>

#include "pack.h"

namespace tenon::ops_pack::steps {

// What corrects the bias of the averages: lr / (1 - beta1^step) and sqrt(1 - beta2^step), from the
// logarithms of the betas, for 0.999 as a float32 has too few digits beside 1.
inline constinit ExpressionRef corrections{
    "_corrections(Tensor step, dynamic float lr, dynamic float log_beta1, dynamic float log_beta2)"
    " -> (Tensor, Tensor)",
    "lr / -expm1(step * log_beta1)\n"
    "sqrt(-expm1(step * log_beta2))"};
inline constinit ExpressionRef count_{"_count_(Tensor(a!) step, Tensor skip) -> Tensor(a!)",
                                      "where(skip != 0, step, step + 1)"};
inline constinit ExpressionRef log_of{"_log_of(Tensor x) -> Tensor", "log(x)"};
inline constinit ExpressionRef square_of{"_square_of(Tensor x) -> Tensor", "x * x"};

inline void expect_as_many(const char* op, const char* what, uint32_t n, uint32_t params) {
  if (n == params) return;
  fail(std::string(op) + ": " + std::to_string(n) + " " + what + " for " + std::to_string(params) +
       " params");
}
inline void expect_alike(const char* op, const char* what, uint32_t i, const Tensor& param,
                         const Tensor& t) {
  bool same = t.defined() && t.dim() == param.dim();
  for (int64_t d = 0; same && d < t.dim(); ++d) same = t.size(d) == param.size(d);
  if (same) return;
  fail(std::string(op) + ": " + what + " " + std::to_string(i) + " is " +
       (t.defined() ? sizes_text(t.sizes()) : "None") + ", its param " + sizes_text(param.sizes()));
}

// Whole numbers cannot take what a step or a factor makes of them.
inline void expect_floats(const char* op, const char* what, Tensors list) {
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (!list[i].defined() || list[i].dtype().is_float()) continue;
    fail(std::string(op) + ": " + what + " " + std::to_string(i) + " is " + list[i].dtype().name() +
         ", expected a floating dtype");
  }
}

inline void expect_one(const char* op, const char* what, const Tensor& t) {
  if (!t.defined() || t.numel() == 1) return;
  fail(std::string(op) + ": " + what + " has " + std::to_string(t.numel()) +
       " elements, expected 1");
}

// The lists of a step beside the params: grads and states of the same sizes.
struct Like {
  const char* what;  // "exp_avg": the list is called exp_avgs
  Tensors list;
};
inline void expect_lists(const char* op, Tensors params, std::initializer_list<Like> others,
                         const Tensor& found_inf) {
  expect_floats(op, "param", params);
  expect_one(op, "found_inf", found_inf);
  for (const Like& other : others) {
    expect_as_many(op, (std::string(other.what) + "s").c_str(), other.list.size(), params.size());
    expect_floats(op, other.what, other.list);
    for (uint32_t i = 0; i < params.size(); ++i)
      expect_alike(op, other.what, i, params[i], other.list[i]);
  }
}
// Lists of one element for each param, as counts of steps.
inline void expect_ones(const char* op, const char* what, Tensors list, Tensors params) {
  expect_as_many(op, (std::string(what) + "s").c_str(), list.size(), params.size());
  expect_floats(op, what, list);
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (!list[i].defined())
      fail(std::string(op) + ": " + what + " " + std::to_string(i) + " is None");
    expect_one(op, what, list[i]);
  }
}

// Runs `step(i)` for each of n params, or of what else. Where one fails, the error says how many are
// changed.
template <typename Step>
void step_each(const char* op, uint32_t n, const Step& step, const char* what = "params") {
  uint32_t i = 0;
  try {
    for (; i < n; ++i) step(i);
  } catch (const Error& e) {
    if (i == 0) throw;
    fail(std::string(op) + ": " + std::to_string(i) + " of " + std::to_string(n) + " " + what +
             " were updated before this failed: " + e.what(),
         e.code());
  } catch (const std::bad_alloc&) {
    if (i == 0) throw;
    fail(std::string(op) + ": " + std::to_string(i) + " of " + std::to_string(n) + " " + what +
             " were updated before host memory was exhausted",
         TN_OUT_OF_MEMORY);
  }
}

// A tensor of one element as one without dimensions, which broadcasts to all.
inline Tensor scalar(const char* op, const char* what, const Tensor& t) {
  expect_one(op, what, t);
  return t.defined() && t.dim() > 0 ? prim::reshape(t, {}) : t;
}

// Does not hold the tensor, as no operand does: its caller does.
inline Operand skip_of(const Tensor& found_inf) {
  return found_inf.defined() ? Operand(found_inf) : Operand(0.0);
}

inline double number_of(const Operand& x) { return detail::Unpack<double>::borrow(x.value()); }

// A momentum in a tensor is never 0: a recorded step would not notice.
inline bool is_there(const Operand& momentum) {
  return momentum.is_tensor() || number_of(momentum) != 0;
}

// The corrections of Adam's averages, from counts of steps.
class Corrections {
 public:
  // The betas may be tensors, whose logarithms a graph takes anew.
  Corrections(const Operand& lr, const Operand& beta1, const Operand& beta2)
      : lr_(lr), beta1_(beta1), beta2_(beta2) {}

  // Of a count on the device of a parameter, in its precision.
  std::tuple<Tensor, Tensor> of(const Tensor& step, Dtype param) {
    const Tensor count = param == float64 ? step.to(float64) : step;
    return prim::elementwise<std::tuple<Tensor, Tensor>>(corrections, count, lr_, log_beta1(),
                                                         log_beta2());
  }
  std::tuple<double, double> of(int64_t step) const {
    return {number_of(lr_) / (1 - std::pow(number_of(beta1_), double(step))),
            std::sqrt(1 - std::pow(number_of(beta2_), double(step)))};
  }
  // They hold no tensor: this object does.
  Operand log_beta1() { return log_of_beta(beta1_, &log1_); }
  Operand log_beta2() { return log_of_beta(beta2_, &log2_); }

 private:
  static Operand log_of_beta(const Operand& beta, Tensor* log) {
    if (!beta.is_tensor()) return std::log(number_of(beta));
    if (!log->defined()) *log = prim::elementwise(log_of, beta);
    return *log;
  }

  const Operand lr_, beta1_, beta2_;
  Tensor log1_, log2_;
};

// The count, which goes up by 1 unless the step is passed over, in the precision of the parameter.
inline Tensor count_up(const char* op, const Tensor& step, const Operand& skip, Dtype param) {
  expect_floats(op, "step", Tensors(&step, 1));
  const Tensor count = scalar(op, "a count of steps", step);
  prim::elementwise(count_, count, skip);
  return param == float64 ? count.to(float64) : count;
}

// The sum of the squares of all elements, in float32 at least.
inline Tensor sum_of_squares(const Tensor& x) {
  const Tensor all = wide(x);
  return prim::reduce(TN_REDUCE_SUM, Tensors(&all, 1), {}, false, square_of);
}

}  // namespace tenon::ops_pack::steps
