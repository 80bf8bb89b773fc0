// Schedules with the optimizer first, as PyTorch has them: each is the Scheduler of the optimizer and
// the schedule of the same name (schedule.hpp, cyclic_schedules.hpp), whose arguments follow.
//
//   auto scheduler = optim::StepLR(optimizer, 30, {.gamma = 0.1});
//   ... optimizer.step();  scheduler.step();
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/optim/cyclic_schedules.hpp"
#include "tenon/optim/schedule.hpp"
#include "tenon/optim/scheduler.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// The number of a group, of a list that has one for all groups or one for each.
inline double of_group(const Floats& list, uint32_t group) {
  return list[list.size() == 1 ? 0 : group];
}
inline void expect_of_groups(const char* schedule, const char* argument, size_t n,
                             const optim::Optimizer& optimizer) {
  if (n == optimizer.n_groups()) return;
  fail(joined({schedule, ": ", argument, " has ", std::to_string(n), n == 1 ? " value" : " values",
               " and the optimizer ", std::to_string(optimizer.n_groups()),
               " parameter groups, expected one value for each"}));
}
inline void expect_of_groups(const char* schedule, const char* argument, const Floats& list,
                             const optim::Optimizer& optimizer) {
  if (list.size() != 1) expect_of_groups(schedule, argument, list.size(), optimizer);
}
// The options of a cyclic schedule with the momentums of each group.
template <typename Options>
struct GroupMomentums {
  const Options& options;
  GroupMomentums(const char* schedule, const Options& given, const optim::Optimizer& optimizer)
      : options(given) {
    expect_of_groups(schedule, "base_momentum", options.base_momentum, optimizer);
    expect_of_groups(schedule, "max_momentum", options.max_momentum, optimizer);
  }
  bool are_one() const {
    return options.base_momentum.size() == 1 && options.max_momentum.size() == 1;
  }
  Options of(uint32_t group) const {
    Options own = options;
    own.base_momentum = of_group(options.base_momentum, group);
    own.max_momentum = of_group(options.max_momentum, group);
    return own;
  }
};
// The scheduler of the schedules that make(group) gives.
template <typename Make>
optim::Scheduler scheduler_of_groups(const optim::Optimizer& optimizer, bool same, Make make) {
  std::vector<optim::Schedule> schedules;
  const uint32_t n = same ? 1 : optimizer.n_groups();
  for (uint32_t group = 0; group < n; ++group) schedules.push_back(make(group));
  return {optimizer, std::move(schedules)};
}

// In braces, a function of each group: the schedule that is made of it.
struct LambdaOf {
  optim::Schedule schedule;
  template <std::invocable<int64_t> F>
  LambdaOf(F f) : schedule(optim::schedules::LambdaLR(std::move(f))) {}
};
struct MultiplicativeOf {
  optim::Schedule schedule;
  template <std::invocable<int64_t> F>
  MultiplicativeOf(F f) : schedule(optim::schedules::MultiplicativeLR(std::move(f))) {}
};
template <typename Of>
optim::Scheduler scheduler_of_functions(const char* name, const optim::Optimizer& optimizer,
                                        const std::vector<Of>& list) {
  expect_of_groups(name, "lr_lambda", list.size(), optimizer);
  return scheduler_of_groups(optimizer, false,
                             [&](uint32_t group) { return list[group].schedule; });
}

}  // namespace detail

namespace optim {
namespace schedules {

// Where all that follows the optimizer may be missing its type is deduced, so that {} are options.

// f(step), a number, times the first rate; and times the rate of the step before. A list has a function
// for each group.
template <std::invocable<int64_t> F>
Scheduler LambdaLR(const Optimizer& optimizer, F lr_lambda) {
  return {optimizer, LambdaLR(std::move(lr_lambda))};
}
template <std::invocable<int64_t> F>
Scheduler MultiplicativeLR(const Optimizer& optimizer, F lr_lambda) {
  return {optimizer, MultiplicativeLR(std::move(lr_lambda))};
}
inline Scheduler LambdaLR(const Optimizer& optimizer,
                          std::initializer_list<detail::LambdaOf> lr_lambdas) {
  return detail::scheduler_of_functions<detail::LambdaOf>("LambdaLR", optimizer, lr_lambdas);
}
inline Scheduler MultiplicativeLR(const Optimizer& optimizer,
                                  std::initializer_list<detail::MultiplicativeOf> lr_lambdas) {
  return detail::scheduler_of_functions<detail::MultiplicativeOf>("MultiplicativeLR", optimizer,
                                                                  lr_lambdas);
}
template <std::invocable<int64_t> F>
Scheduler LambdaLR(const Optimizer& optimizer, const std::vector<F>& lr_lambdas) {
  return detail::scheduler_of_functions<detail::LambdaOf>("LambdaLR", optimizer,
                                                          {lr_lambdas.begin(), lr_lambdas.end()});
}
template <std::invocable<int64_t> F>
Scheduler MultiplicativeLR(const Optimizer& optimizer, const std::vector<F>& lr_lambdas) {
  return detail::scheduler_of_functions<detail::MultiplicativeOf>(
      "MultiplicativeLR", optimizer, {lr_lambdas.begin(), lr_lambdas.end()});
}
inline Scheduler StepLR(const Optimizer& optimizer, Int step_size, Float gamma = 0.1) {
  return {optimizer, StepLR(step_size, gamma)};
}
inline Scheduler StepLR(const Optimizer& optimizer, Int step_size, const StepLROptions& options) {
  return {optimizer, StepLR(step_size, options)};
}
inline Scheduler MultiStepLR(const Optimizer& optimizer, const Ints& milestones,
                             Float gamma = 0.1) {
  return {optimizer, MultiStepLR(milestones, gamma)};
}
inline Scheduler MultiStepLR(const Optimizer& optimizer, const Ints& milestones,
                             const MultiStepLROptions& options) {
  return {optimizer, MultiStepLR(milestones, options)};
}
inline Scheduler ExponentialLR(const Optimizer& optimizer, Float gamma) {
  return {optimizer, ExponentialLR(gamma)};
}
template <std::derived_from<Optimizer> O>
Scheduler ConstantLR(const O& optimizer, const ConstantLROptions& options = {}) {
  return {optimizer, ConstantLR(options)};
}
inline Scheduler ConstantLR(const Optimizer& optimizer, Float factor, Int total_iters = 5) {
  return {optimizer, ConstantLR(factor, total_iters)};
}
template <std::derived_from<Optimizer> O>
Scheduler LinearLR(const O& optimizer, const LinearLROptions& options = {}) {
  return {optimizer, LinearLR(options)};
}
inline Scheduler LinearLR(const Optimizer& optimizer, Float start_factor, Float end_factor = 1.0,
                          Int total_iters = 5) {
  return {optimizer, LinearLR(start_factor, end_factor, total_iters)};
}
template <std::derived_from<Optimizer> O>
Scheduler PolynomialLR(const O& optimizer, const PolynomialLROptions& options = {}) {
  return {optimizer, PolynomialLR(options)};
}
inline Scheduler PolynomialLR(const Optimizer& optimizer, Int total_iters, Float power = 1.0) {
  return {optimizer, PolynomialLR(total_iters, power)};
}
inline Scheduler CosineAnnealingLR(const Optimizer& optimizer, Int t_max, Float eta_min = 0.0) {
  return {optimizer, CosineAnnealingLR(t_max, eta_min)};
}
inline Scheduler CosineAnnealingLR(const Optimizer& optimizer, Int t_max,
                                   const CosineAnnealingLROptions& options) {
  return {optimizer, CosineAnnealingLR(t_max, options)};
}
inline Scheduler CosineAnnealingWarmRestarts(const Optimizer& optimizer, Int t_0, Int t_mult = 1,
                                             Float eta_min = 0.0) {
  return {optimizer, CosineAnnealingWarmRestarts(t_0, t_mult, eta_min)};
}
inline Scheduler CosineAnnealingWarmRestarts(const Optimizer& optimizer, Int t_0,
                                             const WarmRestartsOptions& options) {
  return {optimizer, CosineAnnealingWarmRestarts(t_0, options)};
}
// Of rates and momentums for each group, or one for all.
inline Scheduler CyclicLR(const Optimizer& optimizer, const Floats& base_lr, const Floats& max_lr,
                          const CyclicLROptions& options = {}) {
  detail::expect_of_groups("CyclicLR", "base_lr", base_lr, optimizer);
  detail::expect_of_groups("CyclicLR", "max_lr", max_lr, optimizer);
  const detail::GroupMomentums momentums("CyclicLR", options, optimizer);
  return detail::scheduler_of_groups(
      optimizer, base_lr.size() == 1 && max_lr.size() == 1 && momentums.are_one(),
      [&](uint32_t group) {
        return CyclicLR(detail::of_group(base_lr, group), detail::of_group(max_lr, group),
                        momentums.of(group));
      });
}
inline Scheduler OneCycleLR(const Optimizer& optimizer, const Floats& max_lr, Int total_steps,
                            const OneCycleLROptions& options = {}) {
  detail::expect_of_groups("OneCycleLR", "max_lr", max_lr, optimizer);
  const detail::GroupMomentums momentums("OneCycleLR", options, optimizer);
  const bool same = max_lr.size() == 1 && momentums.are_one();
  return detail::scheduler_of_groups(optimizer, same, [&](uint32_t group) {
    return OneCycleLR(detail::of_group(max_lr, group), total_steps, momentums.of(group));
  });
}
inline Scheduler OneCycleLR(const Optimizer& optimizer, const Floats& max_lr,
                            const OneCycleLROptions& options) {
  detail::expect_of_groups("OneCycleLR", "max_lr", max_lr, optimizer);
  const detail::GroupMomentums momentums("OneCycleLR", options, optimizer);
  const bool same = max_lr.size() == 1 && momentums.are_one();
  return detail::scheduler_of_groups(optimizer, same, [&](uint32_t group) {
    return OneCycleLR(detail::of_group(max_lr, group), momentums.of(group));
  });
}
// Of schedules without an optimizer.
inline Scheduler SequentialLR(const Optimizer& optimizer, std::vector<Schedule> schedules,
                              const Ints& milestones) {
  return {optimizer, SequentialLR(std::move(schedules), milestones)};
}
// Of the schedulers of this optimizer, from the rates that it had before the first of them was made.
// They are read once: it is the new one whose step() is called. (Templates, so that {} are schedules.)
template <typename S = Scheduler>
Scheduler SequentialLR(const Optimizer& optimizer,
                       const std::vector<std::type_identity_t<S>>& schedulers,
                       const Ints& milestones) {
  return detail::joined_schedulers("SequentialLR", optimizer, schedulers,
                                   [&](std::vector<Schedule> schedules) {
                                     return SequentialLR(std::move(schedules), milestones);
                                   });
}
template <typename S = Scheduler>
Scheduler ChainedScheduler(const Optimizer& optimizer,
                           const std::vector<std::type_identity_t<S>>& schedulers) {
  return detail::joined_schedulers(
      "ChainedScheduler", optimizer, schedulers,
      [](std::vector<Schedule> schedules) { return ChainedScheduler(std::move(schedules)); });
}
// As PyTorch has it: the optimizer is that of the schedulers.
template <typename S = Scheduler>
Scheduler ChainedScheduler(const std::vector<std::type_identity_t<S>>& schedulers) {
  if (schedulers.empty()) fail("ChainedScheduler: there are no schedulers, expected at least one");
  return ChainedScheduler(schedulers[0].optimizer(), schedulers);
}
inline Scheduler ChainedScheduler(const Optimizer& optimizer, std::vector<Schedule> schedules) {
  return {optimizer, ChainedScheduler(std::move(schedules))};
}

}  // namespace schedules

}  // namespace optim
}  // namespace v0
}  // namespace tenon
