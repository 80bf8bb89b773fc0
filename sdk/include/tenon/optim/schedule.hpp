// Learning rates that change from step to step, by the names and formulas of
// torch.optim.lr_scheduler, and what sets them in an optimizer.
//
//   optim::Scheduler scheduler(optimizer, optim::Warmup(100, optim::CosineAnnealingLR(1900)));
//   ... optimizer.step();  scheduler.step();
//
// Steps are counted from 0. What a user calls a step (a batch, an epoch) is up to the loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "tenon/optim/optimizer.hpp"

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
// An entry of the state of a schedule.
inline Tensor schedule_entry(const char* schedule, const NamedTensors& state, const char* name,
                             int64_t elements) {
  for (const auto& [key, tensor] : state) {
    if (key != name) continue;
    if (tensor.numel() == elements) return tensor;
    fail(joined({schedule, ": '", name, "' has ", std::to_string(tensor.numel()),
                 " elements in the state, expected ", std::to_string(elements)}));
  }
  fail(joined({schedule, ": '", name, "' is missing in the state"}));
}
// From `start` at 0 to `end` at 1.
inline double annealed(bool by_cosine, double start, double end, double part) {
  if (!by_cosine) return start + (end - start) * part;
  return end + (start - end) * 0.5 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace detail

namespace optim {

// A rate for each step, from the rate that the optimizer was made with. Copies share one function,
// which may be called by several threads where its author allows that.
class Schedule {
 public:
  // The optimizer's own rate in all steps.
  Schedule() = default;
  // A function of one's own: double(int64_t step, double lr).
  template <typename F>
  requires std::is_invocable_r_v<double, const F&, int64_t, double> Schedule(F rate)
      : function_(new Of<F>(std::move(rate))) {}
  Schedule(const Schedule& other) noexcept : function_(other.function_) {
    if (function_) __atomic_fetch_add(&function_->refs, 1, __ATOMIC_RELAXED);
  }
  Schedule(Schedule&& other) noexcept : function_(std::exchange(other.function_, nullptr)) {}
  Schedule& operator=(Schedule other) noexcept {
    std::swap(function_, other.function_);
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

 private:
  struct Function {
    virtual ~Function() = default;
    virtual double at(int64_t step, double lr) const = 0;
    long refs = 1;
  };
  template <typename F>
  struct Of : Function {
    explicit Of(F f) : rate(std::move(f)) {}
    double at(int64_t step, double lr) const override { return rate(step, lr); }
    const F rate;
  };

  // Counted by hand: a std::shared_ptr of each function below takes compilers a tenth of the time
  // of tenon.hpp.
  Function* function_ = nullptr;
};

// lr * factor(step), for a function double(int64_t step).
template <typename F>
Schedule LambdaLR(F factor) {
  return [factor = std::move(factor)](int64_t step, double lr) { return lr * factor(step); };
}

// lr * gamma^floor(step / step_size).
inline Schedule StepLR(Int step_size, Float gamma = 0.1) {
  const int64_t size = detail::schedule_at_least("StepLR", "step_size", 1, step_size);
  return [size, factor = detail::schedule_number("StepLR", "gamma", gamma)](
             int64_t step, double lr) { return lr * std::pow(factor, double(step / size)); };
}

// lr * gamma^k, where k milestones have been reached. They come in any order; one that is there
// twice counts twice.
inline Schedule MultiStepLR(const Ints& milestones, Float gamma = 0.1) {
  std::vector<int64_t> list = milestones.vec();
  for (int64_t at : list) detail::schedule_at_least("MultiStepLR", "a milestone", 0, at);
  return [list = std::move(list), factor = detail::schedule_number("MultiStepLR", "gamma", gamma)](
             int64_t step, double lr) {
    const auto reached =
        std::count_if(list.begin(), list.end(), [step](int64_t at) { return at <= step; });
    return lr * std::pow(factor, double(reached));
  };
}

// lr * gamma^step.
inline Schedule ExponentialLR(Float gamma) {
  return [factor = detail::schedule_number("ExponentialLR", "gamma", gamma)](
             int64_t step, double lr) { return lr * std::pow(factor, double(step)); };
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
  return [factor, total](int64_t step, double lr) { return step < total ? lr * factor : lr; };
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
  return [start, end, total](int64_t step, double lr) {
    const double part = double(std::min(step, total)) / double(total);
    return lr * detail::annealed(false, start, end, part);
  };
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
  return [power, total](int64_t step, double lr) {
    return lr * std::pow(1 - double(std::min(step, total)) / double(total), power);
  };
}

// eta_min + (lr - eta_min) * (1 + cos(pi * step / t_max)) / 2: half a cosine (Loshchilov and
// Hutter, arXiv:1608.03983), which rises again behind t_max.
inline Schedule CosineAnnealingLR(Int t_max, Float eta_min = 0.0) {
  const int64_t steps = detail::schedule_at_least("CosineAnnealingLR", "t_max", 1, t_max);
  const double least = detail::schedule_number("CosineAnnealingLR", "eta_min", eta_min);
  return [steps, least](int64_t step, double lr) {
    return detail::annealed(true, lr, least, double(step) / double(steps));
  };
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

// Up and down between base_lr and max_lr (Smith, arXiv:1506.01186), whatever the optimizer's rate is.
// mode: "triangular"; "triangular2", half as high each time; "exp_range", whose height shrinks by
// gamma each step. The rate alone changes, not the momentum.
struct CyclicLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int step_size_up = 2000;
  Int step_size_down = 0;  // 0: as many as up
  std::string mode = "triangular";
  Float gamma = 1.0;
};
inline Schedule CyclicLR(Float base_lr, Float max_lr, const CyclicLROptions& options = {}) {
  const char* const name = "CyclicLR";
  const double low = detail::schedule_number(name, "base_lr", base_lr),
               high = detail::schedule_number(name, "max_lr", max_lr),
               gamma = detail::schedule_number(name, "gamma", options.gamma);
  const auto up = double(detail::schedule_at_least(name, "step_size_up", 1, options.step_size_up));
  const int64_t given =
      detail::schedule_at_least(name, "step_size_down", 0, options.step_size_down);
  const double total = up + (given > 0 ? double(given) : up), part = up / total;
  const bool halves = options.mode == "triangular2", shrinks = options.mode == "exp_range";
  if (!halves && !shrinks && options.mode != "triangular") {
    fail(detail::joined(
        {"CyclicLR: mode is '", options.mode, "', expected triangular, triangular2 or exp_range"}));
  }
  return [=](int64_t step, double) {
    const double cycle = std::floor(1 + double(step) / total), x = 1 + double(step) / total - cycle,
                 height = (high - low) * (x <= part ? x / part : (x - 1) / (part - 1));
    if (halves) return low + height * std::exp2(1 - cycle);
    return low + height * (shrinks ? std::pow(gamma, double(step)) : 1);
  };
}

// One cycle (Smith and Topin, arXiv:1708.07120), whatever the optimizer's rate is: from
// max_lr / div_factor up to max_lr in the first pct_start of the steps, and down to
// max_lr / div_factor / final_div_factor at the last. three_phase: down to max_lr / div_factor in
// as many steps as up, and from there to the end. The rate alone changes, not the momentum.
struct OneCycleLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float pct_start = 0.3;
  std::string anneal_strategy = "cos";  // or "linear"
  Float div_factor = 25.0;
  Float final_div_factor = 1e4;
  bool three_phase = false;
};
inline Schedule OneCycleLR(Float max_lr, Int total_steps, const OneCycleLROptions& options = {}) {
  struct Phase {
    double end_step, end_lr;
  };
  const auto total = double(detail::schedule_at_least("OneCycleLR", "total_steps", 1, total_steps));
  const char* const name = "OneCycleLR";
  constexpr detail::RateBounds kAboveZero = {.above_least = true};
  const double up = options.pct_start, top = detail::schedule_number(name, "max_lr", max_lr);
  const double first =
      top / detail::schedule_number(name, "div_factor", options.div_factor, kAboveZero);
  detail::schedule_number(name, "max_lr / div_factor", first);
  const double last = first / detail::schedule_number(name, "final_div_factor",
                                                      options.final_div_factor, kAboveZero);
  detail::schedule_number(name, "max_lr / div_factor / final_div_factor", last);
  if (!(up >= 0 && up <= 1)) {
    fail(detail::joined({"OneCycleLR: pct_start is ", detail::number_text(up),
                         ", expected a part of the steps from 0 to 1"}));
  }
  const bool by_cosine = options.anneal_strategy == "cos";
  if (!by_cosine && options.anneal_strategy != "linear") {
    fail(detail::joined({"OneCycleLR: anneal_strategy is '", options.anneal_strategy,
                         "', expected cos or linear"}));
  }
  std::vector<Phase> phases = {{up * total - 1, top}};
  if (options.three_phase) phases.push_back({2 * up * total - 2, first});
  phases.push_back({total - 1, last});
  return [phases, first, by_cosine](int64_t step, double) {
    Phase before = {0, first};
    for (const Phase& phase : phases) {
      if (double(step) <= phase.end_step && phase.end_step > before.end_step) {
        const double part = (double(step) - before.end_step) / (phase.end_step - before.end_step);
        return detail::annealed(by_cosine, before.end_lr, phase.end_lr, part);
      }
      before = phase;
    }
    return before.end_lr;
  };
}

// lr * (step + 1) / steps in the first `steps` steps, then `schedule` from its step 0 (as Goyal et
// al. begin, arXiv:1706.02677, section 2.2).
inline Schedule Warmup(Int steps, Schedule schedule = {}) {
  const int64_t n = detail::schedule_at_least("Warmup", "steps", 0, steps);
  return [n, schedule = std::move(schedule)](int64_t step, double lr) {
    if (step < n) return lr * double(step + 1) / double(n);
    return schedule.at(step - n, lr);
  };
}

// The first schedule up to the first milestone, then the next one from its step 0, and so on. There
// is one milestone less than there are schedules, and none is smaller than the one before it.
inline Schedule SequentialLR(std::vector<Schedule> schedules, const Ints& milestones) {
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
  return [schedules = std::move(schedules), list](int64_t step, double lr) {
    const auto i = size_t(std::upper_bound(list.begin(), list.end(), step) - list.begin());
    return schedules[i].at(i == 0 ? step : step - list[i - 1], lr);
  };
}

// Each schedule goes from the rate that the one before it gives for the same step. Of schedules that
// multiply the rate that is their product, which is what PyTorch's ChainedScheduler gives.
inline Schedule ChainedScheduler(std::vector<Schedule> schedules) {
  if (schedules.empty()) fail("ChainedScheduler: there are no schedules, expected at least one");
  return [schedules = std::move(schedules)](int64_t step, double lr) {
    for (const Schedule& schedule : schedules) lr = schedule.at(step, lr);
    return lr;
  };
}

// Sets the rates of an optimizer's groups, each by the rate that the group had when it was first
// seen. Making one sets those of step 0. Changes an object, so one thread at a time.
class Scheduler {
 public:
  Scheduler(Optimizer optimizer, Schedule schedule)
      : optimizer_(std::move(optimizer)), schedule_(std::move(schedule)) {
    go_to(0);
  }

  // After the optimizer's step: the rates of the next one.
  void step() { go_to(step_ + 1); }
  // The rates of this step: to go on where a saved training was. An Error where a rate, which a
  // function of one's own may give, is negative or not finite.
  void go_to(int64_t step) {
    for (uint32_t i = uint32_t(own_.size()); i < optimizer_.n_groups(); ++i) {
      own_.push_back(optimizer_.group_option<double>(i, "lr"));
    }
    for (uint32_t i = 0; i < own_.size(); ++i) {
      const double rate = schedule_.at(step, own_[i]);
      if (!(rate >= 0 && std::isfinite(rate))) {
        fail(detail::joined({"Scheduler: the rate of step ", std::to_string(step), " is ",
                             detail::number_text(rate),
                             ", expected a finite number of at least 0"}));
      }
      optimizer_.set_group_option(i, "lr", rate);
    }
    step_ = step;
  }
  int64_t current() const { return step_; }

  // The step, and the own rates of the groups: an optimizer whose state was loaded has the rates of
  // a later step, from which a new Scheduler would go.
  NamedTensors state_dict() const {
    return {{"last_epoch", Tensor::from<int64_t>({step_}, Ints())},
            {"base_lrs", Tensor::from(own_)}};
  }
  void load_state_dict(const NamedTensors& state) {
    const int64_t step =
        detail::schedule_entry("Scheduler", state, "last_epoch", 1).item<int64_t>();
    const Tensor rates =
        detail::schedule_entry("Scheduler", state, "base_lrs", int64_t(optimizer_.n_groups()));
    std::vector<double> own = rates.to_vector<double>();
    for (const double rate : own)
      detail::schedule_number("Scheduler: 'base_lrs' of the state", "a rate", rate);
    const std::vector<double> before = std::exchange(own_, std::move(own));
    try {
      go_to(step);
    } catch (...) {
      own_ = before;
      throw;
    }
  }

 private:
  Optimizer optimizer_;
  Schedule schedule_;
  std::vector<double> own_;  // of the groups
  int64_t step_ = 0;
};

}  // namespace optim
}  // namespace v0
}  // namespace tenon
