// Learning rates that change from step to step, by the names and formulas of
// torch.optim.lr_scheduler. What sets them in an optimizer is in optim/scheduler.hpp.
//
//   const optim::Schedule schedule = optim::Warmup(100, optim::CosineAnnealingLR(1900));
//   double rate = schedule.at(50, 1e-3);
//
// Those that go up and down, with the momentum against them, are in optim/cyclic_schedules.hpp. Steps
// are counted from 0. What a user calls a step (a batch, an epoch) is up to the loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/lists.hpp"
#include "tenon/placed_options.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

inline int64_t schedule_at_least(const char* schedule, const char* argument, int64_t least,
                                 int64_t value) {
  if (value < least) {
    fail(joined({schedule, ": ", argument, " is ", std::to_string(value), ", expected at least ",
                 std::to_string(least)}));
  }
  return value;
}
// The numbers that a rate can be made with: finite ones from `least`, or above it, to `most`.
struct RateBounds {
  double least = 0, most = INFINITY;
  bool above_least = false;
};
inline double schedule_number(const char* schedule, const char* argument, double value,
                              RateBounds bounds = {}) {
  const bool fits = bounds.above_least ? value > bounds.least : value >= bounds.least;
  if (fits && value <= bounds.most && std::isfinite(value)) return value;
  const bool is_part = std::isfinite(bounds.most);
  fail(joined({schedule, ": ", argument, " is ", number_text(value), ", expected ",
               is_part              ? ""
               : bounds.above_least ? "a finite number "
                                    : "a finite number of ",
               bounds.above_least ? "above " : "at least ", number_text(bounds.least),
               is_part ? " and at most " + number_text(bounds.most) : ""}));
}
// From `start` at 0 to `end` at 1.
inline double annealed(bool by_cosine, double start, double end, double part) {
  if (!by_cosine) return start + (end - start) * part;
  return end + (start - end) * 0.5 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace detail

namespace optim {

// A rate for each step, from the rate that the optimizer was made with, and from some schedules a
// momentum. Copies share one function, which may be called by several threads where its author
// allows that.
class Schedule {
 public:
  // The optimizer's own rate in all steps.
  Schedule() = default;
  // A function of one's own: double(int64_t step, double lr). An object that has a method
  // std::optional<double> momentum(int64_t step) const, too, sets the momentum by it.
  template <typename F>
  requires std::is_invocable_r_v<double, const F&, int64_t, double> Schedule(F rate)
      : function_(new Of<F>(std::move(rate))) {}
  Schedule(const Schedule& other) noexcept
      : function_(other.function_), goes_on_until_(other.goes_on_until_) {
    if (function_) __atomic_fetch_add(&function_->refs, 1, __ATOMIC_RELAXED);
  }
  Schedule(Schedule&& other) noexcept
      : function_(std::exchange(other.function_, nullptr)), goes_on_until_(other.goes_on_until_) {}
  Schedule& operator=(Schedule other) noexcept {
    std::swap(function_, other.function_);
    std::swap(goes_on_until_, other.goes_on_until_);
    return *this;
  }
  ~Schedule() {
    if (function_ && __atomic_sub_fetch(&function_->refs, 1, __ATOMIC_ACQ_REL) == 0)
      delete function_;
  }

  bool defined() const noexcept { return function_ != nullptr; }
  // The rate of step number `step`, where the optimizer's own is `lr`.
  double at(int64_t step, double lr = 1) const {
    if (step < 0) {
      fail(
          detail::joined({"Schedule: the step is ", std::to_string(step), ", expected 0 or more"}));
    }
    return function_ ? function_->at(step, lr) : lr;
  }
  // The momentum of step number `step`, whatever the optimizer's own is; nothing where the schedule
  // leaves the optimizer's as it is.
  std::optional<double> momentum_at(int64_t step) const {
    return function_ ? function_->momentum(step) : std::nullopt;
  }

  // Of a schedule whose rates are linear in the optimizer's own: from the steps before `until` a
  // Scheduler goes on from the rate that it finds, which something else may have changed, as PyTorch's
  // schedulers of factors do. Others give each step the rate that it has, whatever was there.
  Schedule going_on(int64_t until = INT64_MAX) && {
    goes_on_until_ = until;
    return std::move(*this);
  }
  bool goes_on(int64_t step) const { return step < goes_on_until_; }

 private:
  struct Function {
    virtual ~Function() = default;
    virtual double at(int64_t step, double lr) const = 0;
    virtual std::optional<double> momentum(int64_t step) const = 0;
    long refs = 1;
  };
  template <typename F>
  struct Of : Function {
    explicit Of(F f) : rate(std::move(f)) {}
    double at(int64_t step, double lr) const override { return rate(step, lr); }
    std::optional<double> momentum([[maybe_unused]] int64_t step) const override {
      if constexpr (requires { rate.momentum(step); }) {
        return rate.momentum(step);
      } else {
        return {};
      }
    }
    const F rate;
  };

  // Counted by hand: a std::shared_ptr of each function below takes compilers a tenth of the time
  // of tenon.hpp.
  Function* function_ = nullptr;
  int64_t goes_on_until_ = 0;
};

// The schedules as functions; named_schedules.hpp has their names as classes, which programs use.
namespace schedules {

// lr * factor(step), for a function double(int64_t step).
template <typename F>
Schedule LambdaLR(F factor) {
  return [factor = std::move(factor)](int64_t step, double lr) { return lr * factor(step); };
}

// lr * factor(1) * .. * factor(step), for a function double(int64_t step) that gives the same number
// each time. The products are kept, so it is called once for each step. Copies share them: one thread at
// a time for all.
template <typename F>
Schedule MultiplicativeLR(F factor) {
  return Schedule([factor = std::move(factor), products = std::make_shared<std::vector<double>>(
                                                   1, 1.0)](int64_t step, double lr) {
           while (int64_t(products->size()) <= step)
             products->push_back(products->back() * factor(int64_t(products->size())));
           return lr * (*products)[size_t(step)];
         })
      .going_on();
}

// lr * gamma^floor(step / step_size).
inline Schedule StepLR(Int step_size, Float gamma = 0.1) {
  const int64_t size = detail::schedule_at_least("StepLR", "step_size", 1, step_size);
  return Schedule(
             [size, factor = detail::schedule_number("StepLR", "gamma", gamma)](
                 int64_t step, double lr) { return lr * std::pow(factor, double(step / size)); })
      .going_on();
}

struct StepLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float gamma = 0.1;
};
inline Schedule StepLR(Int step_size, const StepLROptions& options) {
  return StepLR(step_size, options.gamma);
}

// lr * gamma^k, where k milestones have been reached. They come in any order; one that is there
// twice counts twice.
inline Schedule MultiStepLR(const Ints& milestones, Float gamma = 0.1) {
  std::vector<int64_t> list = milestones.vec();
  for (int64_t at : list) detail::schedule_at_least("MultiStepLR", "a milestone", 0, at);
  return Schedule([list = std::move(list),
                   factor = detail::schedule_number("MultiStepLR", "gamma", gamma)](int64_t step,
                                                                                    double lr) {
           const auto reached =
               std::count_if(list.begin(), list.end(), [step](int64_t at) { return at <= step; });
           return lr * std::pow(factor, double(reached));
         })
      .going_on();
}

using MultiStepLROptions = StepLROptions;
inline Schedule MultiStepLR(const Ints& milestones, const MultiStepLROptions& options) {
  return MultiStepLR(milestones, options.gamma);
}

// lr * gamma^step.
inline Schedule ExponentialLR(Float gamma) {
  return Schedule([factor = detail::schedule_number("ExponentialLR", "gamma", gamma)](
                      int64_t step, double lr) { return lr * std::pow(factor, double(step)); })
      .going_on();
}

// lr * factor in the first total_iters steps, then lr. The factor is from 0 to 1.
struct ConstantLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float factor = 1.0 / 3;
  Int total_iters = 5;
};
inline Schedule ConstantLR(const ConstantLROptions& options = {}) {
  const int64_t total =
      detail::schedule_at_least("ConstantLR", "total_iters", 0, options.total_iters);
  const double factor =
      detail::schedule_number("ConstantLR", "factor", options.factor, {.most = 1});
  return Schedule(
             [factor, total](int64_t step, double lr) { return step < total ? lr * factor : lr; })
      .going_on();
}

inline Schedule ConstantLR(Float factor, Int total_iters = 5) {
  return ConstantLR({.factor = factor, .total_iters = total_iters});
}
inline Schedule ConstantLR(Float factor, ConstantLROptions options) {
  detail::put_option("ConstantLR", 1, ConstantLROptions().factor, factor, options.factor);
  return ConstantLR(options);
}

// lr * start_factor at step 0, in a straight line to lr * end_factor at step total_iters. The
// factors are from 0 to 1, and start_factor is not 0.
struct LinearLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float start_factor = 1.0 / 3;
  Float end_factor = 1.0;
  Int total_iters = 5;
};
inline Schedule LinearLR(const LinearLROptions& options = {}) {
  const int64_t total =
      detail::schedule_at_least("LinearLR", "total_iters", 1, options.total_iters);
  const double start = detail::schedule_number("LinearLR", "start_factor", options.start_factor,
                                               {.most = 1, .above_least = true});
  const double end =
      detail::schedule_number("LinearLR", "end_factor", options.end_factor, {.most = 1});
  return Schedule([start, end, total](int64_t step, double lr) {
           const double part = double(std::min(step, total)) / double(total);
           return lr * detail::annealed(false, start, end, part);
         })
      .going_on();
}

inline Schedule LinearLR(Float start_factor, Float end_factor = 1.0, Int total_iters = 5) {
  return LinearLR(
      {.start_factor = start_factor, .end_factor = end_factor, .total_iters = total_iters});
}
inline Schedule LinearLR(Float start_factor, LinearLROptions options) {
  const Float fallback = LinearLROptions().start_factor;
  detail::put_option("LinearLR", 1, fallback, start_factor, options.start_factor);
  return LinearLR(options);
}
inline Schedule LinearLR(Float start_factor, Float end_factor, LinearLROptions options) {
  const Float fallback = LinearLROptions().end_factor;
  detail::put_option("LinearLR", 2, fallback, end_factor, options.end_factor);
  return LinearLR(start_factor, options);
}

// lr * (1 - step / total_iters)^power, and 0 from total_iters on.
struct PolynomialLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int total_iters = 5;
  Float power = 1.0;
};
inline Schedule PolynomialLR(const PolynomialLROptions& options = {}) {
  const int64_t total =
      detail::schedule_at_least("PolynomialLR", "total_iters", 1, options.total_iters);
  const double power = detail::schedule_number("PolynomialLR", "power", options.power);
  return Schedule([power, total](int64_t step, double lr) {
           return lr * std::pow(1 - double(std::min(step, total)) / double(total), power);
         })
      .going_on();
}

inline Schedule PolynomialLR(Int total_iters, Float power = 1.0) {
  return PolynomialLR({.total_iters = total_iters, .power = power});
}
inline Schedule PolynomialLR(Int total_iters, PolynomialLROptions options) {
  const Int fallback = PolynomialLROptions().total_iters;
  detail::put_option("PolynomialLR", 1, fallback, total_iters, options.total_iters);
  return PolynomialLR(options);
}

// eta_min + (lr - eta_min) * (1 + cos(pi * step / t_max)) / 2: half a cosine (Loshchilov and
// Hutter, arXiv:1608.03983), which rises again behind t_max.
inline Schedule CosineAnnealingLR(Int t_max, Float eta_min = 0.0) {
  const int64_t steps = detail::schedule_at_least("CosineAnnealingLR", "t_max", 1, t_max);
  const double least = detail::schedule_number("CosineAnnealingLR", "eta_min", eta_min);
  return Schedule([steps, least](int64_t step, double lr) {
           return detail::annealed(true, lr, least, double(step) / double(steps));
         })
      .going_on();
}

struct CosineAnnealingLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> t_max = {};  // PyTorch's T_max; given by its place or here
  Float eta_min = 0.0;
};
inline Schedule CosineAnnealingLR(const CosineAnnealingLROptions& options) {
  if (!options.t_max) fail("CosineAnnealingLR: expected t_max, the number of steps");
  return CosineAnnealingLR(*options.t_max, options.eta_min);
}
inline Schedule CosineAnnealingLR(Int t_max, CosineAnnealingLROptions options) {
  detail::put_option("CosineAnnealingLR", 1, {}, t_max, options.t_max);
  return CosineAnnealingLR(options);
}

// Half a cosine from lr to eta_min in t_0 steps, then from lr again in t_mult times as many, and so on
// (Loshchilov and Hutter, arXiv:1608.03983).
inline Schedule CosineAnnealingWarmRestarts(Int t_0, Int t_mult = 1, Float eta_min = 0.0) {
  const char* const name = "CosineAnnealingWarmRestarts";
  const int64_t first = detail::schedule_at_least(name, "t_0", 1, t_0);
  const int64_t factor = detail::schedule_at_least(name, "t_mult", 1, t_mult);
  const double least = detail::schedule_number(name, "eta_min", eta_min);
  return [first, factor, least](int64_t step, double lr) {
    int64_t length = first;
    if (factor == 1) {
      step %= length;
    } else {
      // A period that no int64 counts is longer than what is left.
      while (step >= length) {
        step -= length;
        if (__builtin_mul_overflow(length, factor, &length)) length = INT64_MAX;
      }
    }
    return detail::annealed(true, lr, least, double(step) / double(length));
  };
}

struct WarmRestartsOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int t_mult = 1;
  Float eta_min = 0.0;
};
inline Schedule CosineAnnealingWarmRestarts(Int t_0, const WarmRestartsOptions& options) {
  return CosineAnnealingWarmRestarts(t_0, options.t_mult, options.eta_min);
}
inline Schedule CosineAnnealingWarmRestarts(Int t_0, Int t_mult, WarmRestartsOptions options) {
  const Int fallback = WarmRestartsOptions().t_mult;
  detail::put_option("CosineAnnealingWarmRestarts", 2, fallback, t_mult, options.t_mult);
  return CosineAnnealingWarmRestarts(t_0, options);
}

// lr * (step + 1) / steps in the first `steps` steps, then `schedule` from its step 0 (as Goyal et
// al. begin, arXiv:1706.02677, section 2.2).
inline Schedule Warmup(Int steps, Schedule schedule = {}) {
  struct Rates {
    int64_t n;
    Schedule schedule;
    double operator()(int64_t step, double lr) const {
      if (step < n) return lr * double(step + 1) / double(n);
      return schedule.at(step - n, lr);
    }
    // Its first one until it begins.
    std::optional<double> momentum(int64_t step) const {
      return schedule.momentum_at(std::max<int64_t>(step - n, 0));
    }
  };
  const int64_t n = detail::schedule_at_least("Warmup", "steps", 0, steps);
  return Rates{n, std::move(schedule)};
}

// The first schedule up to the first milestone, then the next one from its step 0, and so on. There
// is one milestone less than there are schedules, and none is smaller than the one before it.
inline Schedule SequentialLR(std::vector<Schedule> schedules, const Ints& milestones) {
  struct Rates {
    std::vector<Schedule> schedules;
    std::vector<int64_t> list;
    int64_t begin(size_t i) const { return i == 0 ? 0 : list[i - 1]; }
    size_t index_at(int64_t step) const {
      return size_t(std::upper_bound(list.begin(), list.end(), step) - list.begin());
    }
    double operator()(int64_t step, double lr) const {
      const size_t i = index_at(step);
      return schedules[i].at(step - begin(i), lr);
    }
    // What a schedule leaves is there until the next one that sets a momentum. Before the first of
    // them there is what PyTorch's schedulers set when they are made: the last has the last word.
    std::optional<double> momentum(int64_t step) const {
      const size_t current = index_at(step);
      for (size_t i = current + 1; i-- > 0;) {
        const int64_t last = i < current ? begin(i + 1) - 1 : step;
        if (last < begin(i)) continue;  // it has no steps
        if (const auto found = schedules[i].momentum_at(last - begin(i))) return found;
      }
      for (size_t i = schedules.size(); i-- > 0;)
        if (const auto found = schedules[i].momentum_at(0)) return found;
      return {};
    }
  };
  const std::vector<int64_t> list = milestones.vec();
  if (schedules.size() != list.size() + 1) {
    fail(detail::joined({"SequentialLR: ", std::to_string(schedules.size()), " schedules and ",
                         std::to_string(list.size()),
                         " milestones, expected one milestone less than schedules"}));
  }
  int64_t before = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = "milestones[" + std::to_string(i) + "]";
    before = detail::schedule_at_least("SequentialLR", name.c_str(), before, list[i]);
  }
  return Rates{std::move(schedules), list};
}

// Each schedule goes from the rate that the one before it gives for the same step. Of schedules that
// multiply the rate that is their product, which is what PyTorch's ChainedScheduler gives. The
// momentum is that of the last one that sets it.
inline Schedule ChainedScheduler(std::vector<Schedule> schedules) {
  struct Rates {
    std::vector<Schedule> schedules;
    double operator()(int64_t step, double lr) const {
      for (const Schedule& schedule : schedules) lr = schedule.at(step, lr);
      return lr;
    }
    std::optional<double> momentum(int64_t step) const {
      for (size_t i = schedules.size(); i-- > 0;)
        if (const auto found = schedules[i].momentum_at(step)) return found;
      return {};
    }
  };
  if (schedules.empty()) fail("ChainedScheduler: there are no schedules, expected at least one");
  return Rates{std::move(schedules)};
}

}  // namespace schedules

using schedules::ConstantLROptions;
using schedules::CosineAnnealingLROptions;
using schedules::LinearLROptions;
using schedules::MultiStepLROptions;
using schedules::PolynomialLROptions;
using schedules::StepLROptions;
using schedules::WarmRestartsOptions;
using schedules::Warmup;

}  // namespace optim
}  // namespace v0
}  // namespace tenon
