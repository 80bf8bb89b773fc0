// The schedule that goes by how well the training does: torch.optim.lr_scheduler.ReduceLROnPlateau.
//
//   optim::ReduceLROnPlateau scheduler(optimizer, {.patience = 3});
//   ... scheduler.step(validation_loss);  // once an epoch
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "tenon/optim/schedule.hpp"
#include "tenon/optim/scheduler.hpp"
#include "tenon/optim/schedulers.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace optim {

struct ReduceLROnPlateauOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string mode = "min";            // or "max": whether smaller or greater is better
  Float factor = 0.1;                  // what the rates are multiplied with
  Int patience = 10;                   // calls without a better value that are let pass
  Float threshold = 1e-4;              // how much better counts
  std::string threshold_mode = "rel";  // a part of the best value, or "abs": of its own
  Int cooldown = 0;                    // calls after a smaller rate in which nothing is counted
  KeptFloats min_lr = 0.0;             // of all groups, or of each
  Float eps = 1e-8;                    // rates that would change by no more stay
};

// Makes the rates of all groups smaller when a number has not become better for a while. Changes an
// object, so one thread at a time.
class ReduceLROnPlateau {
 public:
  ReduceLROnPlateau() = default;  // None, to be assigned later
  bool defined() const { return optimizer_.defined(); }
  explicit operator bool() const { return defined(); }
  explicit ReduceLROnPlateau(Optimizer optimizer, ReduceLROnPlateauOptions options = {})
      : optimizer_(std::move(optimizer)), options_(std::move(options)) {
    const char* const name = "ReduceLROnPlateau";
    optimizer_.n_groups();  // an Error where it is None
    if (const double factor = options_.factor; !(factor >= 0 && factor < 1)) {
      fail(detail::joined({name, ": factor is ", detail::number_text(factor),
                           ", expected at least 0 and below 1"}));
    }
    expect_one_of("mode", options_.mode, "min", "max");
    expect_one_of("threshold_mode", options_.threshold_mode, "rel", "abs");
    detail::schedule_at_least(name, "patience", 0, options_.patience);
    detail::schedule_at_least(name, "cooldown", 0, options_.cooldown);
    detail::schedule_number(name, "threshold", options_.threshold);
    detail::expect_of_groups(name, "min_lr", options_.min_lr, optimizer_);
    for (const double rate : options_.min_lr) detail::schedule_number(name, "min_lr", rate);
    detail::schedule_number(name, "eps", options_.eps);
    best_ = options_.mode == "min" ? INFINITY : -INFINITY;
  }

  // The options by their places, in PyTorch's order.
  template <std::convertible_to<std::string> Mode>
  ReduceLROnPlateau(Optimizer optimizer, const Mode& mode, Float factor = 0.1, Int patience = 10,
                    Float threshold = 1e-4, std::string threshold_mode = "rel", Int cooldown = 0,
                    const Floats& min_lr = 0.0, Float eps = 1e-8)
      : ReduceLROnPlateau(std::move(optimizer), {.mode = mode,
                                                 .factor = factor,
                                                 .patience = patience,
                                                 .threshold = threshold,
                                                 .threshold_mode = std::move(threshold_mode),
                                                 .cooldown = cooldown,
                                                 .min_lr = min_lr,
                                                 .eps = eps}) {}

  // Tells it the number, which decides the rates of what follows. NaN is no better than any.
  void step(double metric) {
    expect_made();
    ++step_;
    if (is_better(metric)) {
      best_ = metric;
      bad_ = 0;
    } else {
      ++bad_;
    }
    if (cooldown_ > 0) {
      --cooldown_;
      bad_ = 0;
    }
    if (bad_ <= options_.patience) return;
    reduce();
    cooldown_ = options_.cooldown;
    bad_ = 0;
  }

  // Of one element.
  void step(const Tensor& metric) { step(metric.item<double>()); }

  double best() const { return best_; }
  int64_t current() const { return step_; }  // how often it was told
  int64_t last_epoch() const { return step_; }
  // The rate of each group as it is now.
  std::vector<double> get_last_lr() const {
    expect_made();
    return detail::rates_of(optimizer_);
  }

  // To go on where a saved training was; the rates are in the optimizer's own state.
  NamedTensors state_dict() const {
    expect_made();
    return {{"last_epoch", Tensor::from<int64_t>({step_}, Ints())},
            {"best", Tensor::from<double>({best_}, Ints())},
            {"num_bad_epochs", Tensor::from<int64_t>({bad_}, Ints())},
            {"cooldown_counter", Tensor::from<int64_t>({cooldown_}, Ints())}};
  }
  void load_state_dict(const NamedTensors& state) {
    expect_made();
    const auto entry = [&](const char* name) {
      return detail::schedule_entry("ReduceLROnPlateau", state, name, 1);
    };
    const auto step = entry("last_epoch").item<int64_t>(),
               bad = entry("num_bad_epochs").item<int64_t>(),
               cooldown = entry("cooldown_counter").item<int64_t>();
    if (step < 0 || bad < 0 || cooldown < 0 || step == INT64_MAX || bad == INT64_MAX) {
      fail(detail::joined({"ReduceLROnPlateau: the state has last_epoch ", std::to_string(step),
                           ", num_bad_epochs ", std::to_string(bad), " and cooldown_counter ",
                           std::to_string(cooldown), ", expected numbers from 0"}));
    }
    const auto best = entry("best").item<double>();
    if (std::isnan(best))
      fail("ReduceLROnPlateau: the state has best nan, expected the least or greatest so far");
    best_ = best;
    step_ = step, bad_ = bad, cooldown_ = cooldown;
  }

 private:
  void expect_made() const {
    if (!defined()) fail("ReduceLROnPlateau: the scheduler is None: never assigned, or moved from");
  }
  static void expect_one_of(const char* option, const std::string& value, const char* one,
                            const char* other) {
    if (value == one || value == other) return;
    fail(detail::joined(
        {"ReduceLROnPlateau: ", option, " is '", value, "', expected ", one, " or ", other}));
  }
  bool is_better(double metric) const {
    const double sign = options_.mode == "min" ? -1 : 1, threshold = options_.threshold;
    // The first value is better than none, whose infinity a part of it would leave.
    if (std::isinf(best_)) return sign * metric > sign * best_;
    const double least = options_.threshold_mode == "rel" ? best_ * (1 + sign * threshold)
                                                          : best_ + sign * threshold;
    return sign * metric > sign * least;
  }
  void reduce() {
    for (uint32_t i = 0; i < optimizer_.n_groups(); ++i) {
      const auto old = optimizer_.group_option<double>(i, "lr");
      const double rate = std::max(old * options_.factor, detail::of_group(options_.min_lr, i));
      if (old - rate > options_.eps) optimizer_.set_group_option(i, "lr", rate);
    }
  }

  Optimizer optimizer_;
  ReduceLROnPlateauOptions options_;
  double best_ = INFINITY;
  int64_t bad_ = 0, cooldown_ = 0, step_ = 0;
};

namespace lr_scheduler {
using optim::ReduceLROnPlateau;
}  // namespace lr_scheduler

}  // namespace optim
}  // namespace v0
}  // namespace tenon
