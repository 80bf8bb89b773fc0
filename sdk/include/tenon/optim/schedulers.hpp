// Schedules with the optimizer first, as PyTorch has them: each is the Scheduler of the optimizer and
// the schedule of the same name (schedule.hpp, cyclic_schedules.hpp), whose arguments follow.
//
//   auto scheduler = optim::StepLR(optimizer, 30, {.gamma = 0.1});
//   ... optimizer.step();  scheduler.step();
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/optim/cyclic_schedules.hpp"
#include "tenon/optim/schedule.hpp"
#include "tenon/optim/scheduler.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace optim {

// Where all that follows the optimizer may be missing its type is deduced, so that {} are options.

// f(step), a number, times the first rate; and times the rate of the step before.
template <typename F>
Scheduler LambdaLR(const Optimizer& optimizer, F lr_lambda) {
  return {optimizer, LambdaLR(std::move(lr_lambda))};
}
template <typename F>
Scheduler MultiplicativeLR(const Optimizer& optimizer, F lr_lambda) {
  return {optimizer, MultiplicativeLR(std::move(lr_lambda))};
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
inline Scheduler CyclicLR(const Optimizer& optimizer, Float base_lr, Float max_lr,
                          const CyclicLROptions& options = {}) {
  return {optimizer, CyclicLR(base_lr, max_lr, options)};
}
inline Scheduler OneCycleLR(const Optimizer& optimizer, Float max_lr, Int total_steps,
                            const OneCycleLROptions& options = {}) {
  return {optimizer, OneCycleLR(max_lr, total_steps, options)};
}
inline Scheduler OneCycleLR(const Optimizer& optimizer, Float max_lr,
                            const OneCycleLROptions& options) {
  return {optimizer, OneCycleLR(max_lr, options)};
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
Scheduler ChainedScheduler(const std::vector<std::type_identity_t<S>>& schedulers) {
  if (schedulers.empty()) fail("ChainedScheduler: there are no schedulers, expected at least one");
  return detail::joined_schedulers(
      "ChainedScheduler", schedulers[0].optimizer(), schedulers,
      [](std::vector<Schedule> schedules) { return ChainedScheduler(std::move(schedules)); });
}

// Where PyTorch has them.
namespace lr_scheduler {
using optim::ChainedScheduler;
using optim::ConstantLR;
using optim::CosineAnnealingLR;
using optim::CosineAnnealingWarmRestarts;
using optim::CyclicLR;
using optim::ExponentialLR;
using optim::LambdaLR;
using optim::LinearLR;
using optim::MultiplicativeLR;
using optim::MultiStepLR;
using optim::OneCycleLR;
using optim::PolynomialLR;
using optim::SequentialLR;
using optim::StepLR;
}  // namespace lr_scheduler

}  // namespace optim
}  // namespace v0
}  // namespace tenon
