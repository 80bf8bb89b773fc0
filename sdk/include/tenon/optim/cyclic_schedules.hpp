// Schedules that go up and down, CyclicLR and OneCycleLR of torch.optim.lr_scheduler, with a momentum
// that goes the other way. The momentum is that of the option momentum, or of optimizers with betas
// the first of these.
//
//   optim::Scheduler scheduler(optimizer, optim::OneCycleLR(0.1, steps));
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/optim/schedule.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// From `most`, where the rate is low, to `base`, where it is high, if it is cycled at all.
struct MomentumRange {
  bool cycles;
  double base, most;
  MomentumRange(const char* schedule, bool is_cycled, const Floats& base_momentum,
                const Floats& max_momentum)
      : cycles(is_cycled),
        base(one_of(schedule, "base_momentum", base_momentum)),
        most(one_of(schedule, "max_momentum", max_momentum)) {}
  static double one_of(const char* schedule, const char* argument, const Floats& list) {
    if (list.size() == 1) return schedule_number(schedule, argument, list[0]);
    fail(joined({schedule, ": ", argument, " has ", std::to_string(list.size()),
                 " values, and one for each group wants the optimizer; expected one value, or ",
                 schedule, "(optimizer, ..)"}));
  }
};

}  // namespace detail

namespace optim {
namespace schedules {

// A momentum of all groups, or a list of one for each, where the optimizer is given.
struct Momentums : KeptFloats {
  using KeptFloats::KeptFloats;
  operator double() const { return (*this)[0]; }
};

// Up and down between base_lr and max_lr (Smith, arXiv:1506.01186), whatever the optimizer's rate is.
// mode: "triangular"; "triangular2", half as high each time; "exp_range", whose height shrinks by
// gamma each step. The momentum goes down from max_momentum by as much of the way to base_momentum.
struct CyclicLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int step_size_up = 2000;
  Int step_size_down = 0;  // 0: as many as up
  std::string mode = "triangular";
  Float gamma = 1.0;
  bool cycle_momentum = true;
  Momentums base_momentum = 0.8;
  Momentums max_momentum = 0.9;
};
inline Schedule CyclicLR(Float base_lr, Float max_lr, const CyclicLROptions& options = {}) {
  struct Rates {
    double low, high, gamma, total, part;
    bool halves, shrinks;
    detail::MomentumRange range;
    // The part of the way from one end to the other.
    double height(int64_t step) const {
      const double cycle = std::floor(1 + double(step) / total),
                   x = 1 + double(step) / total - cycle,
                   height = x <= part ? x / part : (x - 1) / (part - 1);
      if (halves) return height * std::exp2(1 - cycle);
      return height * (shrinks ? std::pow(gamma, double(step)) : 1);
    }
    double operator()(int64_t step, double) const { return low + (high - low) * height(step); }
    std::optional<double> momentum(int64_t step) const {
      if (!range.cycles) return {};
      return range.most - (range.most - range.base) * height(step);
    }
  };
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
  return Rates{
      low,     high,
      gamma,   total,
      part,    halves,
      shrinks, {name, options.cycle_momentum, options.base_momentum, options.max_momentum}};
}

// One cycle (Smith and Topin, arXiv:1708.07120), whatever the optimizer's rate is: from
// max_lr / div_factor up to max_lr in the first pct_start of the steps, and down to
// max_lr / div_factor / final_div_factor at the last. three_phase: down to max_lr / div_factor in
// as many steps as up, and from there to the end. The momentum goes from max_momentum down to
// base_momentum where the rate is max_lr, and up again. How long it is says total_steps, or epochs and
// steps_per_epoch.
struct OneCycleLROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> total_steps = {};
  std::optional<Int> epochs = {};
  std::optional<Int> steps_per_epoch = {};
  Float pct_start = 0.3;
  std::string anneal_strategy = "cos";  // or "linear"
  bool cycle_momentum = true;
  Momentums base_momentum = 0.85;
  Momentums max_momentum = 0.95;
  Float div_factor = 25.0;
  Float final_div_factor = 1e4;
  bool three_phase = false;
};
inline Schedule OneCycleLR(Float max_lr, Int total_steps, const OneCycleLROptions& options = {}) {
  struct Point {
    double step, lr, momentum;
  };
  struct Rates {
    std::vector<Point> points;
    bool by_cosine, cycles_momentum;
    double at(int64_t step, double Point::*value) const {
      for (size_t i = 1; i < points.size(); ++i) {
        const Point &from = points[i - 1], &to = points[i];
        if (double(step) > to.step || to.step <= from.step) continue;
        return detail::annealed(by_cosine, from.*value, to.*value,
                                (double(step) - from.step) / (to.step - from.step));
      }
      return points.back().*value;
    }
    double operator()(int64_t step, double) const { return at(step, &Point::lr); }
    std::optional<double> momentum(int64_t step) const {
      if (!cycles_momentum) return {};
      return at(step, &Point::momentum);
    }
  };
  const char* const name = "OneCycleLR";
  if (options.total_steps || options.epochs || options.steps_per_epoch)
    fail("OneCycleLR: total_steps are given by their place, expected no other number of steps");
  const auto total = double(detail::schedule_at_least(name, "total_steps", 1, total_steps));
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
  const detail::MomentumRange range(name, options.cycle_momentum, options.base_momentum,
                                    options.max_momentum);
  std::vector<Point> points = {{0, first, range.most}, {up * total - 1, top, range.base}};
  if (options.three_phase) points.push_back({2 * up * total - 2, first, range.most});
  points.push_back({total - 1, last, range.most});
  return Rates{points, by_cosine, range.cycles};
}
inline Schedule OneCycleLR(Float max_lr, OneCycleLROptions options) {
  const auto total_steps = std::exchange(options.total_steps, {});
  const auto epochs = std::exchange(options.epochs, {});
  const auto steps_per_epoch = std::exchange(options.steps_per_epoch, {});
  if (total_steps) return OneCycleLR(max_lr, *total_steps, options);
  if (!epochs || !steps_per_epoch)
    fail("OneCycleLR: expected total_steps, or epochs and steps_per_epoch");
  const int64_t n = detail::schedule_at_least("OneCycleLR", "epochs", 1, *epochs);
  const int64_t steps =
      detail::schedule_at_least("OneCycleLR", "steps_per_epoch", 1, *steps_per_epoch);
  int64_t total = 0;
  if (__builtin_mul_overflow(n, steps, &total))
    fail("OneCycleLR: epochs * steps_per_epoch is more than an int64 holds");
  return OneCycleLR(max_lr, total, options);
}

}  // namespace schedules

using schedules::CyclicLROptions;
using schedules::OneCycleLROptions;

}  // namespace optim
}  // namespace v0
}  // namespace tenon
