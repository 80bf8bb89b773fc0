// What sets a schedule's learning rates in an optimizer.
//
//   optim::Scheduler scheduler(optimizer, optim::Warmup(100, optim::CosineAnnealingLR(1900)));
//   ... optimizer.step();  scheduler.step();
#pragma once

#include <cmath>
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

// Sets the rates of an optimizer's groups, each by a rate of its own, which leads to the rate that
// the group had when it was first seen, or that something else set since (Schedule::going_on), and the
// momentum of all groups where the schedule has one: the first of the option betas, or the option
// momentum. Making one sets those of step 0. Changes an object, so one thread at a time.
class Scheduler {
 public:
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
      : optimizer_(std::move(optimizer)), schedule_(std::move(schedule)) {
    expect_momentum(optimizer_, schedule_);
    has_betas_ = has_option(optimizer_, "betas");
    versions_ = detail::versions_of(optimizer_);
    go_to(0);
  }

  // After the optimizer's step: the rates of the next one. Where the schedule goes on from what it
  // finds, a rate that was changed since the last step counts as the schedule's of that step. The
  // first call from step 0 says in the log where the optimizer has written none of its parameters.
  void step() {
    if (std::exchange(is_first_, false) && step_ == 0 &&
        versions_ == detail::versions_of(optimizer_) && detail::have_gradients(optimizer_)) {
      host()->log(2,
                  "Scheduler: step() before the optimizer's first step, so the first rate of the "
                  "schedule is passed over; expected optimizer.step(), then scheduler.step()");
    }
    if (schedule_.goes_on()) find_changed_rates();
    go_to(step_ + 1);
  }
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
    last_ = detail::rates_of(optimizer_);
    if (const std::optional<double> momentum = schedule_.momentum_at(step)) set_momentum(*momentum);
    step_ = step;
  }
  int64_t current() const { return step_; }
  const Optimizer& optimizer() const { return optimizer_; }
  const Schedule& schedule() const { return schedule_; }
  // The own rates of the groups, to which the schedule is applied.
  const std::vector<double>& base_lrs() const { return own_; }
  // Whether it set this rate, and the group had another one before.
  bool changed_to(size_t group, double rate) const {
    return group < last_.size() && last_[group] == rate && own_[group] != rate;
  }
  // The rate of each group as it is now.
  std::vector<double> get_last_lr() const { return detail::rates_of(optimizer_); }

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
  // The own rates that give, at this step, the rates that are there.
  void find_changed_rates() {
    const std::vector<double> now = detail::rates_of(optimizer_);
    for (size_t i = 0; i < now.size(); ++i) {
      const bool is_new = i >= own_.size();
      if (!is_new && now[i] == last_[i]) continue;
      const double least = schedule_.at(step_, 0), slope = schedule_.at(step_, 1) - least;
      const double own = slope != 0 ? (now[i] - least) / slope : is_new ? now[i] : own_[i];
      if (is_new) {
        own_.push_back(own);
      } else {
        own_[i] = own;
      }
    }
  }
  static bool has_option(const Optimizer& optimizer, const char* name) {
    tn_value value;
    tn_status* const absent = detail::api.object->group_option(optimizer.get(), 0, name, &value);
    ignore(absent);
    return !absent;
  }
  void set_momentum(double momentum) const {
    for (uint32_t i = 0; i < own_.size(); ++i) {
      if (has_betas_) {
        auto betas = optimizer_.group_option<std::vector<double>>(i, "betas");
        betas.at(0) = momentum;
        optimizer_.set_group_option(i, "betas", betas);
      } else {
        optimizer_.set_group_option(i, "momentum", momentum);
      }
    }
  }

  Optimizer optimizer_;
  Schedule schedule_;
  std::vector<double> own_;   // of the groups
  std::vector<double> last_;  // what they were given
  int64_t step_ = 0;
  bool has_betas_ = false;
  bool is_first_ = true;   // no call of step() yet
  uint64_t versions_ = 0;  // of the parameters, which a step of the optimizer changes
};

}  // namespace optim

namespace detail {

// One schedule of those that `joined` makes of the schedules of several schedulers, each of which set
// the rates of the same optimizer when it was made: from the rates that were there before the first.
template <typename Join>
optim::Scheduler joined_schedulers(const char* name, const optim::Optimizer& optimizer,
                                   const std::vector<optim::Scheduler>& schedulers, Join join) {
  std::vector<optim::Schedule> schedules;
  for (const optim::Scheduler& scheduler : schedulers) {
    if (scheduler.optimizer().get() != optimizer.get()) {
      fail(joined({name, ": schedulers[", std::to_string(schedules.size()),
                   "] is of another optimizer, expected all to be of one"}));
    }
    schedules.push_back(scheduler.schedule());
  }
  optim::Schedule schedule = join(std::move(schedules));
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
  return {optimizer, std::move(schedule)};
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
