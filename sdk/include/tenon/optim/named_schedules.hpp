// The names of the schedules: a Schedule where no optimizer comes first, a Scheduler of it where one does.
// They are classes, so that a program may declare one as it declares an optimizer.
//
//   auto scheduler = optim::StepLR(optimizer, 30, 0.1);
//   optim::StepLR same(optimizer, 30, 0.1);
//   optim::Schedule schedule = optim::StepLR(30, 0.1);
//
// What may be one of several, and a member of a class, is an optim::Scheduler or an optim::Schedule,
// which each of them becomes. An optim::Scheduler, and so an optim::StepLR<optim::Scheduler>, is None
// until it is assigned.
//
// Each has the arguments of the function of its name (schedule.hpp, cyclic_schedules.hpp, schedulers.hpp),
// which says what it computes.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/optim/cyclic_schedules.hpp"
#include "tenon/optim/schedule.hpp"
#include "tenon/optim/scheduler.hpp"
#include "tenon/optim/schedulers.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace optim {

// What a name is of: the arguments say which.
template <typename Kind>
concept IsSchedule = std::same_as<Kind, Schedule>;
template <typename Kind>
concept IsScheduler = std::same_as<Kind, Scheduler>;

template <typename Kind>
class LambdaLR : public Kind {
 public:
  LambdaLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  template <std::invocable<int64_t> F>
  explicit LambdaLR(F lr_lambda) requires IsSchedule<Kind>
      : Kind(schedules::LambdaLR(std::move(lr_lambda))) {}
  template <std::invocable<int64_t> F>
  explicit LambdaLR(const Optimizer& optimizer, F lr_lambda) requires IsScheduler<Kind>
      : Kind(schedules::LambdaLR(optimizer, std::move(lr_lambda))) {}
  explicit LambdaLR(const Optimizer& optimizer,
                    std::initializer_list<detail::LambdaOf> lr_lambdas) requires IsScheduler<Kind>
      : Kind(schedules::LambdaLR(optimizer, lr_lambdas)) {}
  template <std::invocable<int64_t> F>
  explicit LambdaLR(const Optimizer& optimizer,
                    const std::vector<F>& lr_lambdas) requires IsScheduler<Kind>
      : Kind(schedules::LambdaLR(optimizer, lr_lambdas)) {}
};
template <std::invocable<int64_t> F>
LambdaLR(F) -> LambdaLR<Schedule>;
template <std::invocable<int64_t> F>
LambdaLR(const Optimizer&, F) -> LambdaLR<Scheduler>;
LambdaLR(const Optimizer&, std::initializer_list<detail::LambdaOf>)->LambdaLR<Scheduler>;
template <std::invocable<int64_t> F>
LambdaLR(const Optimizer&, const std::vector<F>&) -> LambdaLR<Scheduler>;

template <typename Kind>
class MultiplicativeLR : public Kind {
 public:
  MultiplicativeLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  template <std::invocable<int64_t> F>
  explicit MultiplicativeLR(F lr_lambda) requires IsSchedule<Kind>
      : Kind(schedules::MultiplicativeLR(std::move(lr_lambda))) {}
  template <std::invocable<int64_t> F>
  explicit MultiplicativeLR(const Optimizer& optimizer, F lr_lambda) requires IsScheduler<Kind>
      : Kind(schedules::MultiplicativeLR(optimizer, std::move(lr_lambda))) {}
  explicit MultiplicativeLR(const Optimizer& optimizer,
                            std::initializer_list<detail::MultiplicativeOf> lr_lambdas) requires
      IsScheduler<Kind> : Kind(schedules::MultiplicativeLR(optimizer, lr_lambdas)) {}
  template <std::invocable<int64_t> F>
  explicit MultiplicativeLR(const Optimizer& optimizer,
                            const std::vector<F>& lr_lambdas) requires IsScheduler<Kind>
      : Kind(schedules::MultiplicativeLR(optimizer, lr_lambdas)) {}
};
template <std::invocable<int64_t> F>
MultiplicativeLR(F) -> MultiplicativeLR<Schedule>;
template <std::invocable<int64_t> F>
MultiplicativeLR(const Optimizer&, F) -> MultiplicativeLR<Scheduler>;
MultiplicativeLR(const Optimizer&, std::initializer_list<detail::MultiplicativeOf>)
    ->MultiplicativeLR<Scheduler>;
template <std::invocable<int64_t> F>
MultiplicativeLR(const Optimizer&, const std::vector<F>&) -> MultiplicativeLR<Scheduler>;

template <typename Kind>
class StepLR : public Kind {
 public:
  StepLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit StepLR(Int step_size, Float gamma = 0.1) requires IsSchedule<Kind>
      : Kind(schedules::StepLR(step_size, gamma)) {}
  explicit StepLR(Int step_size, const StepLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::StepLR(step_size, options)) {}
  explicit StepLR(const Optimizer& optimizer, Int step_size,
                  Float gamma = 0.1) requires IsScheduler<Kind>
      : Kind(schedules::StepLR(optimizer, step_size, gamma)) {}
  explicit StepLR(const Optimizer& optimizer, Int step_size,
                  const StepLROptions& options) requires IsScheduler<Kind>
      : Kind(schedules::StepLR(optimizer, step_size, options)) {}
};
StepLR(Int, Float = 0.1)->StepLR<Schedule>;
StepLR(Int, const StepLROptions&)->StepLR<Schedule>;
StepLR(const Optimizer&, Int, Float = 0.1)->StepLR<Scheduler>;
StepLR(const Optimizer&, Int, const StepLROptions&)->StepLR<Scheduler>;

template <typename Kind>
class MultiStepLR : public Kind {
 public:
  MultiStepLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit MultiStepLR(const Ints& milestones, Float gamma = 0.1) requires IsSchedule<Kind>
      : Kind(schedules::MultiStepLR(milestones, gamma)) {}
  // {30, 80} alone are two milestones, and no MultiStepLR of one with a gamma.
  template <std::same_as<std::initializer_list<Int>> L = std::initializer_list<Int>>
  explicit MultiStepLR(L milestones) requires IsSchedule<Kind>
      : Kind(schedules::MultiStepLR(std::vector<int64_t>(milestones.begin(), milestones.end()))) {}
  explicit MultiStepLR(const Ints& milestones,
                       const MultiStepLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::MultiStepLR(milestones, options)) {}
  explicit MultiStepLR(const Optimizer& optimizer, const Ints& milestones,
                       Float gamma = 0.1) requires IsScheduler<Kind>
      : Kind(schedules::MultiStepLR(optimizer, milestones, gamma)) {}
  explicit MultiStepLR(const Optimizer& optimizer, const Ints& milestones,
                       const MultiStepLROptions& options) requires IsScheduler<Kind>
      : Kind(schedules::MultiStepLR(optimizer, milestones, options)) {}
};
MultiStepLR(const Ints&, Float = 0.1)->MultiStepLR<Schedule>;
MultiStepLR(const Ints&, const MultiStepLROptions&)->MultiStepLR<Schedule>;
MultiStepLR(const Optimizer&, const Ints&, Float = 0.1)->MultiStepLR<Scheduler>;
MultiStepLR(const Optimizer&, const Ints&, const MultiStepLROptions&)->MultiStepLR<Scheduler>;

template <typename Kind>
class ExponentialLR : public Kind {
 public:
  ExponentialLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit ExponentialLR(Float gamma) requires IsSchedule<Kind>
      : Kind(schedules::ExponentialLR(gamma)) {}
  explicit ExponentialLR(const Optimizer& optimizer, Float gamma) requires IsScheduler<Kind>
      : Kind(schedules::ExponentialLR(optimizer, gamma)) {}
};
ExponentialLR(Float)->ExponentialLR<Schedule>;
ExponentialLR(const Optimizer&, Float)->ExponentialLR<Scheduler>;

template <typename Kind>
class ConstantLR : public Kind {
 public:
  ConstantLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit ConstantLR(Float factor, Int total_iters = 5) requires IsSchedule<Kind>
      : Kind(schedules::ConstantLR(factor, total_iters)) {}
  explicit ConstantLR(const ConstantLROptions& options = {}) requires IsSchedule<Kind>
      : Kind(schedules::ConstantLR(options)) {}
  explicit ConstantLR(const Optimizer& optimizer, Float factor,
                      Int total_iters = 5) requires IsScheduler<Kind>
      : Kind(schedules::ConstantLR(optimizer, factor, total_iters)) {}
  template <std::derived_from<Optimizer> O>
  explicit ConstantLR(const O& optimizer,
                      const ConstantLROptions& options = {}) requires IsScheduler<Kind>
      : Kind(schedules::ConstantLR(optimizer, options)) {}
  explicit ConstantLR(Float factor, const ConstantLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::ConstantLR(factor, options)) {}
  explicit ConstantLR(const Optimizer& optimizer, Float factor,
                      const ConstantLROptions& options) requires IsScheduler<Kind>
      : Kind(optimizer, schedules::ConstantLR(factor, options)) {}
};
ConstantLR(Float, const ConstantLROptions&)->ConstantLR<Schedule>;
ConstantLR(const Optimizer&, Float, const ConstantLROptions&)->ConstantLR<Scheduler>;
ConstantLR(Float, Int = 5)->ConstantLR<Schedule>;
ConstantLR(const ConstantLROptions& = {})->ConstantLR<Schedule>;
ConstantLR(const Optimizer&, Float, Int = 5)->ConstantLR<Scheduler>;
template <std::derived_from<Optimizer> O>
ConstantLR(const O&, const ConstantLROptions& = {}) -> ConstantLR<Scheduler>;

template <typename Kind>
class LinearLR : public Kind {
 public:
  LinearLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit LinearLR(Float start_factor, Float end_factor = 1.0,
                    Int total_iters = 5) requires IsSchedule<Kind>
      : Kind(schedules::LinearLR(start_factor, end_factor, total_iters)) {}
  explicit LinearLR(const LinearLROptions& options = {}) requires IsSchedule<Kind>
      : Kind(schedules::LinearLR(options)) {}
  explicit LinearLR(const Optimizer& optimizer, Float start_factor, Float end_factor = 1.0,
                    Int total_iters = 5) requires IsScheduler<Kind>
      : Kind(schedules::LinearLR(optimizer, start_factor, end_factor, total_iters)) {}
  template <std::derived_from<Optimizer> O>
  explicit LinearLR(const O& optimizer,
                    const LinearLROptions& options = {}) requires IsScheduler<Kind>
      : Kind(schedules::LinearLR(optimizer, options)) {}
  explicit LinearLR(Float start_factor, Float end_factor,
                    const LinearLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::LinearLR(start_factor, end_factor, options)) {}
  explicit LinearLR(const Optimizer& optimizer, Float start_factor, Float end_factor,
                    const LinearLROptions& options) requires IsScheduler<Kind>
      : Kind(optimizer, schedules::LinearLR(start_factor, end_factor, options)) {}
  explicit LinearLR(Float start_factor, const LinearLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::LinearLR(start_factor, options)) {}
  explicit LinearLR(const Optimizer& optimizer, Float start_factor,
                    const LinearLROptions& options) requires IsScheduler<Kind>
      : Kind(optimizer, schedules::LinearLR(start_factor, options)) {}
};
LinearLR(Float, const LinearLROptions&)->LinearLR<Schedule>;
LinearLR(const Optimizer&, Float, const LinearLROptions&)->LinearLR<Scheduler>;
LinearLR(Float, Float, const LinearLROptions&)->LinearLR<Schedule>;
LinearLR(const Optimizer&, Float, Float, const LinearLROptions&)->LinearLR<Scheduler>;
LinearLR(Float, Float = 1.0, Int = 5)->LinearLR<Schedule>;
LinearLR(const LinearLROptions& = {})->LinearLR<Schedule>;
LinearLR(const Optimizer&, Float, Float = 1.0, Int = 5)->LinearLR<Scheduler>;
template <std::derived_from<Optimizer> O>
LinearLR(const O&, const LinearLROptions& = {}) -> LinearLR<Scheduler>;

template <typename Kind>
class PolynomialLR : public Kind {
 public:
  PolynomialLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit PolynomialLR(Int total_iters, Float power = 1.0) requires IsSchedule<Kind>
      : Kind(schedules::PolynomialLR(total_iters, power)) {}
  explicit PolynomialLR(const PolynomialLROptions& options = {}) requires IsSchedule<Kind>
      : Kind(schedules::PolynomialLR(options)) {}
  explicit PolynomialLR(const Optimizer& optimizer, Int total_iters,
                        Float power = 1.0) requires IsScheduler<Kind>
      : Kind(schedules::PolynomialLR(optimizer, total_iters, power)) {}
  template <std::derived_from<Optimizer> O>
  explicit PolynomialLR(const O& optimizer,
                        const PolynomialLROptions& options = {}) requires IsScheduler<Kind>
      : Kind(schedules::PolynomialLR(optimizer, options)) {}
  explicit PolynomialLR(Int total_iters,
                        const PolynomialLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::PolynomialLR(total_iters, options)) {}
  explicit PolynomialLR(const Optimizer& optimizer, Int total_iters,
                        const PolynomialLROptions& options) requires IsScheduler<Kind>
      : Kind(optimizer, schedules::PolynomialLR(total_iters, options)) {}
};
PolynomialLR(Int, const PolynomialLROptions&)->PolynomialLR<Schedule>;
PolynomialLR(const Optimizer&, Int, const PolynomialLROptions&)->PolynomialLR<Scheduler>;
PolynomialLR(Int, Float = 1.0)->PolynomialLR<Schedule>;
PolynomialLR(const PolynomialLROptions& = {})->PolynomialLR<Schedule>;
PolynomialLR(const Optimizer&, Int, Float = 1.0)->PolynomialLR<Scheduler>;
template <std::derived_from<Optimizer> O>
PolynomialLR(const O&, const PolynomialLROptions& = {}) -> PolynomialLR<Scheduler>;

template <typename Kind>
class CosineAnnealingLR : public Kind {
 public:
  CosineAnnealingLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit CosineAnnealingLR(Int t_max, Float eta_min = 0.0) requires IsSchedule<Kind>
      : Kind(schedules::CosineAnnealingLR(t_max, eta_min)) {}
  explicit CosineAnnealingLR(Int t_max,
                             const CosineAnnealingLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::CosineAnnealingLR(t_max, options)) {}
  explicit CosineAnnealingLR(const Optimizer& optimizer, Int t_max,
                             Float eta_min = 0.0) requires IsScheduler<Kind>
      : Kind(schedules::CosineAnnealingLR(optimizer, t_max, eta_min)) {}
  explicit CosineAnnealingLR(const Optimizer& optimizer, Int t_max,
                             const CosineAnnealingLROptions& options) requires IsScheduler<Kind>
      : Kind(schedules::CosineAnnealingLR(optimizer, t_max, options)) {}
  explicit CosineAnnealingLR(const CosineAnnealingLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::CosineAnnealingLR(options)) {}
  explicit CosineAnnealingLR(const Optimizer& optimizer,
                             const CosineAnnealingLROptions& options) requires IsScheduler<Kind>
      : Kind(optimizer, schedules::CosineAnnealingLR(options)) {}
};
CosineAnnealingLR(const CosineAnnealingLROptions&)->CosineAnnealingLR<Schedule>;
CosineAnnealingLR(const Optimizer&, const CosineAnnealingLROptions&)->CosineAnnealingLR<Scheduler>;
CosineAnnealingLR(Int, Float = 0.0)->CosineAnnealingLR<Schedule>;
CosineAnnealingLR(Int, const CosineAnnealingLROptions&)->CosineAnnealingLR<Schedule>;
CosineAnnealingLR(const Optimizer&, Int, Float = 0.0)->CosineAnnealingLR<Scheduler>;
CosineAnnealingLR(const Optimizer&, Int, const CosineAnnealingLROptions&)
    ->CosineAnnealingLR<Scheduler>;

template <typename Kind>
class CosineAnnealingWarmRestarts : public Kind {
 public:
  CosineAnnealingWarmRestarts() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit CosineAnnealingWarmRestarts(Int t_0, Int t_mult = 1,
                                       Float eta_min = 0.0) requires IsSchedule<Kind>
      : Kind(schedules::CosineAnnealingWarmRestarts(t_0, t_mult, eta_min)) {}
  explicit CosineAnnealingWarmRestarts(Int t_0,
                                       const WarmRestartsOptions& options) requires IsSchedule<Kind>
      : Kind(schedules::CosineAnnealingWarmRestarts(t_0, options)) {}
  explicit CosineAnnealingWarmRestarts(const Optimizer& optimizer, Int t_0, Int t_mult = 1,
                                       Float eta_min = 0.0) requires IsScheduler<Kind>
      : Kind(schedules::CosineAnnealingWarmRestarts(optimizer, t_0, t_mult, eta_min)) {}
  explicit CosineAnnealingWarmRestarts(const Optimizer& optimizer, Int t_0,
                                       const WarmRestartsOptions& options) requires
      IsScheduler<Kind> : Kind(schedules::CosineAnnealingWarmRestarts(optimizer, t_0, options)) {}
  explicit CosineAnnealingWarmRestarts(Int t_0, Int t_mult,
                                       const WarmRestartsOptions& options) requires IsSchedule<Kind>
      : Kind(schedules::CosineAnnealingWarmRestarts(t_0, t_mult, options)) {}
  explicit CosineAnnealingWarmRestarts(const Optimizer& optimizer, Int t_0, Int t_mult,
                                       const WarmRestartsOptions& options) requires
      IsScheduler<Kind>
      : Kind(optimizer, schedules::CosineAnnealingWarmRestarts(t_0, t_mult, options)) {}
};
CosineAnnealingWarmRestarts(Int, Int, const WarmRestartsOptions&)
    ->CosineAnnealingWarmRestarts<Schedule>;
CosineAnnealingWarmRestarts(const Optimizer&, Int, Int, const WarmRestartsOptions&)
    ->CosineAnnealingWarmRestarts<Scheduler>;
CosineAnnealingWarmRestarts(Int, Int = 1, Float = 0.0)->CosineAnnealingWarmRestarts<Schedule>;
CosineAnnealingWarmRestarts(Int, const WarmRestartsOptions&)->CosineAnnealingWarmRestarts<Schedule>;
CosineAnnealingWarmRestarts(const Optimizer&, Int, Int = 1, Float = 0.0)
    ->CosineAnnealingWarmRestarts<Scheduler>;
CosineAnnealingWarmRestarts(const Optimizer&, Int, const WarmRestartsOptions&)
    ->CosineAnnealingWarmRestarts<Scheduler>;

template <typename Kind>
class CyclicLR : public Kind {
 public:
  CyclicLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit CyclicLR(Float base_lr, Float max_lr,
                    const CyclicLROptions& options = {}) requires IsSchedule<Kind>
      : Kind(schedules::CyclicLR(base_lr, max_lr, options)) {}
  explicit CyclicLR(const Optimizer& optimizer, const Floats& base_lr, const Floats& max_lr,
                    const CyclicLROptions& options = {}) requires IsScheduler<Kind>
      : Kind(schedules::CyclicLR(optimizer, base_lr, max_lr, options)) {}
};
CyclicLR(Float, Float, const CyclicLROptions& = {})->CyclicLR<Schedule>;
CyclicLR(const Optimizer&, const Floats&, const Floats&, const CyclicLROptions& = {})
    ->CyclicLR<Scheduler>;

template <typename Kind>
class OneCycleLR : public Kind {
 public:
  OneCycleLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit OneCycleLR(Float max_lr, Int total_steps,
                      const OneCycleLROptions& options = {}) requires IsSchedule<Kind>
      : Kind(schedules::OneCycleLR(max_lr, total_steps, options)) {}
  explicit OneCycleLR(Float max_lr, const OneCycleLROptions& options) requires IsSchedule<Kind>
      : Kind(schedules::OneCycleLR(max_lr, options)) {}
  explicit OneCycleLR(const Optimizer& optimizer, const Floats& max_lr, Int total_steps,
                      const OneCycleLROptions& options = {}) requires IsScheduler<Kind>
      : Kind(schedules::OneCycleLR(optimizer, max_lr, total_steps, options)) {}
  explicit OneCycleLR(const Optimizer& optimizer, const Floats& max_lr,
                      const OneCycleLROptions& options) requires IsScheduler<Kind>
      : Kind(schedules::OneCycleLR(optimizer, max_lr, options)) {}
};
OneCycleLR(Float, Int, const OneCycleLROptions& = {})->OneCycleLR<Schedule>;
OneCycleLR(Float, const OneCycleLROptions&)->OneCycleLR<Schedule>;
OneCycleLR(const Optimizer&, const Floats&, Int, const OneCycleLROptions& = {})
    ->OneCycleLR<Scheduler>;
OneCycleLR(const Optimizer&, const Floats&, const OneCycleLROptions&)->OneCycleLR<Scheduler>;

template <typename Kind>
class SequentialLR : public Kind {
 public:
  SequentialLR() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit SequentialLR(std::vector<Schedule> schedules,
                        const Ints& milestones) requires IsSchedule<Kind>
      : Kind(tenon::optim::schedules::SequentialLR(std::move(schedules), milestones)) {}
  explicit SequentialLR(const Optimizer& optimizer, std::vector<Schedule> schedules,
                        const Ints& milestones) requires IsScheduler<Kind>
      : Kind(schedules::SequentialLR(optimizer, std::move(schedules), milestones)) {}
  template <typename S = Scheduler>
  explicit SequentialLR(const Optimizer& optimizer,
                        const std::vector<std::type_identity_t<S>>& schedulers,
                        const Ints& milestones) requires IsScheduler<Kind>
      : Kind(schedules::SequentialLR(optimizer, schedulers, milestones)) {}
};
SequentialLR(std::vector<Schedule>, const Ints&)->SequentialLR<Schedule>;
SequentialLR(const Optimizer&, std::vector<Schedule>, const Ints&)->SequentialLR<Scheduler>;
template <typename S = Scheduler>
SequentialLR(const Optimizer&, const std::vector<std::type_identity_t<S>>&, const Ints&)
    -> SequentialLR<Scheduler>;

template <typename Kind>
class ChainedScheduler : public Kind {
 public:
  ChainedScheduler() requires IsScheduler<Kind>
  = default;
  using Kind::operator=;
  explicit ChainedScheduler(std::vector<Schedule> schedules) requires IsSchedule<Kind>
      : Kind(tenon::optim::schedules::ChainedScheduler(std::move(schedules))) {}
  template <typename S = Scheduler>
  explicit ChainedScheduler(const Optimizer& optimizer,
                            const std::vector<std::type_identity_t<S>>& schedulers) requires
      IsScheduler<Kind> : Kind(schedules::ChainedScheduler(optimizer, schedulers)) {}
  template <typename S = Scheduler>
  explicit ChainedScheduler(const std::vector<std::type_identity_t<S>>& schedulers) requires
      IsScheduler<Kind> : Kind(schedules::ChainedScheduler(schedulers)) {}
  explicit ChainedScheduler(const Optimizer& optimizer,
                            std::vector<Schedule> schedules) requires IsScheduler<Kind>
      : Kind(schedules::ChainedScheduler(optimizer, std::move(schedules))) {}
};
ChainedScheduler(std::vector<Schedule>)->ChainedScheduler<Schedule>;
template <typename S = Scheduler>
ChainedScheduler(const Optimizer&, const std::vector<std::type_identity_t<S>>&)
    -> ChainedScheduler<Scheduler>;
template <typename S = Scheduler>
ChainedScheduler(const std::vector<std::type_identity_t<S>>&) -> ChainedScheduler<Scheduler>;
ChainedScheduler(const Optimizer&, std::vector<Schedule>)->ChainedScheduler<Scheduler>;

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
