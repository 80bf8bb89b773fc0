// A schedule whose rate is a formula of a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tenon::cli {

// The rate of a step by a formula in the language of ops' expressions (docs/expressions.md), in
// float64: `lr` is the rate that the schedule goes from, `step` counts from 0, `steps` is how many
// there are. Copies share the formula.
class FormulaSchedule {
 public:
  // Throws a tenon::Error where the formula is none.
  explicit FormulaSchedule(const std::string& formula);

  // The same formula for so many steps.
  FormulaSchedule of(int64_t steps) const;
  // The first call looks at all steps up to ten millions: throws a tenon::Error where the rate of one
  // is negative or not finite.
  double operator()(int64_t step, double lr) const;

 private:
  struct Formula;
  std::shared_ptr<const Formula> formula_;
  int64_t steps_ = 0;
  std::shared_ptr<bool> is_checked_;
};

}  // namespace tenon::cli
