// What sets a schedule's learning rates in an optimizer.
//
//   optim::Scheduler scheduler(optimizer, optim::Warmup(100, optim::CosineAnnealingLR(1900)));
//   ... optimizer.step();  scheduler.step();
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/optim/optimizer.hpp"
#include "tenon/optim/schedule.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

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
// The rate of each group.
inline std::vector<double> rates_of(const optim::Optimizer& optimizer) {
  std::vector<double> rates;
  for (uint32_t i = 0; i < optimizer.n_groups(); ++i)
    rates.push_back(optimizer.group_option<double>(i, "lr"));
  return rates;
}

// Whether a parameter has a gradient.
inline bool have_gradients(const optim::Optimizer& optimizer) {
  for (uint32_t i = 0; i < optimizer.n_groups(); ++i)
    for (const Tensor& parameter : optimizer.group_parameters(i))
      if (parameter.grad().defined()) return true;
  return false;
}
// How often the parameters were written, all together.
inline uint64_t versions_of(const optim::Optimizer& optimizer) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < optimizer.n_groups(); ++i)
    for (const Tensor& parameter : optimizer.group_parameters(i)) sum += parameter.version();
  return sum;
}

}  // namespace detail

namespace optim {

// Sets the rates of an optimizer's groups, by one schedule of all or by one of each. A rate leads from
// the one that the group had when it was first seen, or goes on from what something else set since
// (Schedule::going_on). Where a schedule has a momentum, it is set, too: the first of the option betas,
// or the option momentum. Making one sets those of step 0. Changes an object, so one thread at a time.
class Scheduler {
 public:
  // None, to be assigned later, as a member of a class. It has step 0 and no schedules; to ask it
  // for more is an Error.
  Scheduler() = default;
  bool defined() const { return optimizer_.defined(); }
  explicit operator bool() const { return defined(); }
  // An Error where the schedule has a momentum and the optimizer neither that nor betas.
  static void expect_momentum(const Optimizer& optimizer, const Schedule& schedule) {
    if (!schedule.momentum_at(0) || has_option(optimizer, "betas") ||
        has_option(optimizer, "momentum"))
      return;
    fail(detail::joined({optimizer.type_name(),
                         " has neither momentum nor betas: the optimizer must support momentum or "
                         "beta1 where the schedule's cycle_momentum is set"}));
  }
  Scheduler(Optimizer optimizer, Schedule schedule)
      : Scheduler(std::move(optimizer), std::vector<Schedule>(1, std::move(schedule))) {}
  // One schedule for each group, or one for all. (A template, so that {} is a schedule.)
  template <std::same_as<Schedule> S>
  Scheduler(Optimizer optimizer, std::vector<S> schedules)
      : optimizer_(std::move(optimizer)),
        schedules_(std::move(schedules)),
        base_lrs_(detail::rates_of(optimizer_)) {
    for (const Schedule& schedule : schedules_) expect_momentum(optimizer_, schedule);
    has_betas_ = has_option(optimizer_, "betas");
    versions_ = detail::versions_of(optimizer_);
    go_to(0);
  }

  // After the optimizer's step: the rates of the next one. Where the schedule goes on from what it
  // finds, a rate that was changed since the last step counts as the schedule's of that step. The
  // first call from step 0 says in the log where the optimizer has written none of its parameters.
  void step() {
    expect_made();
    if (std::exchange(is_first_, false) && step_ == 0 &&
        versions_ == detail::versions_of(optimizer_) && detail::have_gradients(optimizer_)) {
      host()->log(2,
                  "Scheduler: step() before the optimizer's first step, so the first rate of the "
                  "schedule is passed over; expected optimizer.step(), then scheduler.step()");
    }
    const std::vector<double> now = detail::rates_of(optimizer_);
    expect_schedules();
    std::vector<double> rates;
    for (size_t i = 0; i < now.size(); ++i) {
      if (i == base_lrs_.size()) base_lrs_.push_back(base_of(i, now[i]));
      rates.push_back(rate_after(i, now[i]));
    }
    set(step_ + 1, rates);
  }
  // The rates of this step, from the first ones: to go on where a saved training was. An Error where a
  // rate, which a function of one's own may give, is negative or not finite.
  void go_to(int64_t step) {
    expect_made();
    const std::vector<double> now = detail::rates_of(optimizer_);
    expect_schedules();
    for (size_t i = base_lrs_.size(); i < now.size(); ++i) base_lrs_.push_back(now[i]);
    std::vector<double> rates;
    for (size_t i = 0; i < now.size(); ++i) rates.push_back(schedule(i).at(step, base_lrs_[i]));
    set(step, rates);
  }
  // The number of the step, under both names.
  int64_t current() const { return step_; }
  int64_t last_epoch() const { return step_; }
  const Optimizer& optimizer() const { return optimizer_; }
  // One for all groups, or one for each; and that of a group.
  const std::vector<Schedule>& schedules() const { return schedules_; }
  const Schedule& schedule(size_t group = 0) const {
    expect_made();
    return schedules_.size() == 1 ? schedules_[0] : schedules_.at(group);
  }
  // The rates that the groups had when they were first seen, from which the schedule leads.
  const std::vector<double>& base_lrs() const { return base_lrs_; }
  // Whether it set this rate, and the group had another one before.
  bool changed_to(size_t group, double rate) const {
    return group < base_lrs_.size() && base_lrs_[group] != rate &&
           schedule(group).at(step_, base_lrs_[group]) == rate;
  }
  // The rate of each group as it is now.
  std::vector<double> get_last_lr() const {
    expect_made();
    return detail::rates_of(optimizer_);
  }

  // The step, the first rates of the groups and those that they have: an optimizer whose state was
  // loaded has the rates of a later step, from which a new Scheduler would go.
  NamedTensors state_dict() const {
    return {{"last_epoch", Tensor::from<int64_t>({step_}, Ints())},
            {"base_lrs", Tensor::from(base_lrs_)},
            {"last_lr", Tensor::from(get_last_lr())}};
  }
  // Without last_lr the rates are those that the schedule has at the step.
  void load_state_dict(const NamedTensors& state) {
    expect_made();
    const int64_t step =
        detail::schedule_entry("Scheduler", state, "last_epoch", 1).item<int64_t>();
    const std::vector<double> before = std::exchange(base_lrs_, rates_in(state, "base_lrs"));
    try {
      const std::vector<double> last =
          state.contains("last_lr") ? rates_in(state, "last_lr") : std::vector<double>();
      go_to(step);
      if (!last.empty()) set(step, last);
    } catch (...) {
      base_lrs_ = before;
      throw;
    }
  }

 private:
  // ---- Of group i, whose rate is `now`
  // What leads to that rate, where the schedule goes on; else the rate itself.
  double base_of(size_t i, double now) const {
    const auto [least, slope] = line_at(i, step_);
    return schedule(i).goes_on(step_) && slope != 0 ? (now - least) / slope : now;
  }
  // The rate of the next step. Behind a step that has the same rate whatever the first one was, the
  // schedule goes from the first one again.
  double rate_after(size_t i, double now) const {
    const double base = base_lrs_[i], next = schedule(i).at(step_ + 1, base);
    if (!schedule(i).goes_on(step_)) return next;
    const double planned = schedule(i).at(step_, base);
    if (now == planned) return next;
    const auto [least, slope] = line_at(i, step_);
    if (slope == 0) return next + (now - planned);
    const auto [next_least, next_slope] = line_at(i, step_ + 1);
    return next_least + next_slope * ((now - least) / slope);
  }
  // The rate from 0, and how much higher it is for each 1 of the first rate.
  std::pair<double, double> line_at(size_t i, int64_t step) const {
    const double least = schedule(i).at(step, 0);
    return {least, schedule(i).at(step, 1) - least};
  }

  void expect_made() const {
    if (!defined()) fail("Scheduler: the scheduler is None: never assigned, or moved from");
  }
  void expect_schedules() const {
    const size_t n = schedules_.size(), groups = optimizer_.n_groups();
    if (n == 1 || n == groups) return;
    fail(detail::joined({"Scheduler: there are ", std::to_string(n), " schedules for ",
                         std::to_string(groups),
                         " parameter groups, expected one for each group or one for all"}));
  }
  void set(int64_t step, const std::vector<double>& rates) {
    for (const double rate : rates) {
      if (rate >= 0 && std::isfinite(rate)) continue;
      fail(detail::joined({"Scheduler: the rate of step ", std::to_string(step), " is ",
                           detail::number_text(rate), ", expected a finite number of at least 0"}));
    }
    for (uint32_t i = 0; i < rates.size(); ++i) {
      optimizer_.set_group_option(i, "lr", rates[i]);
      if (const auto momentum = schedule(i).momentum_at(step)) set_momentum(i, *momentum);
    }
    step_ = step;
  }
  std::vector<double> rates_in(const NamedTensors& state, const char* name) const {
    std::vector<double> rates =
        detail::schedule_entry("Scheduler", state, name, int64_t(optimizer_.n_groups()))
            .to_vector<double>();
    const std::string where = detail::joined({"Scheduler: '", name, "' of the state"});
    for (const double rate : rates) detail::schedule_number(where.c_str(), "a rate", rate);
    return rates;
  }
  static bool has_option(const Optimizer& optimizer, const char* name) {
    tn_value value;
    tn_status* const absent = detail::api.object->group_option(optimizer.get(), 0, name, &value);
    ignore(absent);
    return !absent;
  }
  void set_momentum(uint32_t group, double momentum) const {
    if (!has_betas_) return optimizer_.set_group_option(group, "momentum", momentum);
    auto betas = optimizer_.group_option<std::vector<double>>(group, "betas");
    betas.at(0) = momentum;
    optimizer_.set_group_option(group, "betas", betas);
  }

  Optimizer optimizer_;
  std::vector<Schedule> schedules_;  // one of all groups, or of each
  std::vector<double> base_lrs_;     // of the groups
  int64_t step_ = 0;
  bool has_betas_ = false;
  bool is_first_ = true;   // no call of step() yet
  uint64_t versions_ = 0;  // of the parameters, which a step of the optimizer changes
};

}  // namespace optim

namespace detail {

// The schedules that `joined` makes of those of several schedulers, each of which set the rates of the
// same optimizer when it was made: from the rates that were there before the first.
template <typename Join>
optim::Scheduler joined_schedulers(const char* name, const optim::Optimizer& optimizer,
                                   const std::vector<optim::Scheduler>& schedulers, Join join) {
  for (size_t i = 0; i < schedulers.size(); ++i) {
    if (schedulers[i].optimizer().get() == optimizer.get()) continue;
    fail(joined({name, ": schedulers[", std::to_string(i),
                 "] is of another optimizer, expected all to be of one"}));
  }
  size_t n = 1;  // schedules: one for all groups, where that is so of all schedulers
  for (const optim::Scheduler& scheduler : schedulers)
    n = std::max(n, scheduler.schedules().size());
  std::vector<optim::Schedule> of_groups;
  for (size_t group = 0; group < n; ++group) {
    std::vector<optim::Schedule> schedules;
    for (const optim::Scheduler& scheduler : schedulers)
      schedules.push_back(scheduler.schedule(group));
    of_groups.push_back(join(std::move(schedules)));
  }
  for (uint32_t group = 0; group < optimizer.n_groups(); ++group) {
    // The one that was made first began with a rate that no other one set.
    for (const optim::Scheduler& first : schedulers) {
      if (group >= first.base_lrs().size()) continue;
      const double rate = first.base_lrs()[group];
      bool is_set = false;
      for (const optim::Scheduler& other : schedulers)
        is_set = is_set || other.changed_to(group, rate);
      if (is_set) continue;
      optimizer.set_group_option(group, "lr", rate);
      break;
    }
  }
  return {optimizer, std::move(of_groups)};
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
