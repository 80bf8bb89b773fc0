#include "formula_schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tenon/tenon.hpp>

#include "text.h"

namespace tenon::cli {

struct FormulaSchedule::Formula {
  explicit Formula(std::string formula) : text(std::move(formula)) {}
  Formula(const Formula&) = delete;  // the expression points to the text

  std::string text;
  ExpressionRef expression{"rate(Tensor lr, Tensor step, Tensor steps) -> Tensor", text.c_str()};

  // The rates of these steps.
  std::vector<double> at(const Tensor& step, double lr, int64_t steps) const {
    const NoGrad no_grad;
    return prim::elementwise(expression, full({}, lr, float64), step.to(float64),
                             full({}, double(steps), float64))
        .expand(step.sizes())
        .to_vector<double>();
  }
};

FormulaSchedule::FormulaSchedule(const std::string& formula)
    : formula_(std::make_shared<const Formula>(formula)) {
  formula_->expression.get();
}

FormulaSchedule FormulaSchedule::of(int64_t steps) const {
  FormulaSchedule schedule = *this;
  schedule.steps_ = steps;
  schedule.is_checked_ = std::make_shared<bool>(false);
  return schedule;
}

double FormulaSchedule::operator()(int64_t step, double lr) const {
  constexpr int64_t kMost = 10'000'000, kAtOnce = 1 << 16;
  for (int64_t i = 0, n = std::min(steps_, kMost); !*is_checked_ && i < n; i += kAtOnce) {
    const std::vector<double> rates = formula_->at(arange(i, std::min(i + kAtOnce, n)), lr, steps_);
    const auto wrong = std::ranges::find_if(
        rates, [](double rate) { return !(rate >= 0 && std::isfinite(rate)); });
    if (wrong != rates.end()) {
      fail(fmt::format("the rate of step {} is {}, expected a finite number of at least 0",
                       i + (wrong - rates.begin()), *wrong));
    }
  }
  *is_checked_ = true;
  return formula_->at(full({1}, double(step), float64), lr, steps_)[0];
}

}  // namespace tenon::cli
