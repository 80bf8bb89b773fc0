#include "schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon::cli {

double learning_rate(const ScheduleConfig& schedule, double base, int64_t step, int64_t steps) {
  const int64_t warm = schedule.warmup_steps;
  if (step < warm) return base * static_cast<double>(step + 1) / static_cast<double>(warm);
  switch (schedule.kind) {
    case ScheduleConfig::Kind::kConstant:
      return base;
    case ScheduleConfig::Kind::kStep:
      return base *
             std::pow(schedule.gamma, static_cast<double>((step - warm) / schedule.step_size));
    case ScheduleConfig::Kind::kCosine:
      break;
  }
  // Half a cosine (Loshchilov and Hutter, arXiv:1608.03983), without restarts.
  const double part =
      static_cast<double>(step - warm) / static_cast<double>(std::max<int64_t>(steps - warm, 1));
  return schedule.min_lr + (base - schedule.min_lr) * 0.5 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace tenon::cli
