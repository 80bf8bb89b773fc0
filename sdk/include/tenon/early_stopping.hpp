// When to end a training that no longer becomes better. tenon.hpp does not include it.
//
//   EarlyStopping stopping({.patience = 5});
//   ... if (stopping.step(validation_loss)) break;
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct EarlyStoppingOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int patience = 5;       // values in a row that may be no better than the best
  Float min_delta = 0.0;  // by how much a value has to be better
  bool maximize = false;  // greater is better, as of an accuracy
};

// Counts the values that were no better than the best one. NaN is no better than any. Has a state, so
// it can be a part of a Checkpoint. One thread at a time.
class EarlyStopping {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {}) : options_(options) {
    if (options.patience < 0) {
      fail(detail::joined({"EarlyStopping: patience is ", std::to_string(options.patience),
                           ", expected at least 0"}));
    }
    if (!(options.min_delta >= 0 && std::isfinite(double(options.min_delta)))) {
      fail(detail::joined({"EarlyStopping: min_delta is ", detail::number_text(options.min_delta),
                           ", expected 0 or more"}));
    }
  }

  // Tells it the next value. True: there were more than `patience` in a row that were no better.
  bool step(double value) {
    const double gain = options_.maximize ? value - best_ : best_ - value;
    if (std::isnan(best_) ? !std::isnan(value) : gain > options_.min_delta) {
      best_ = value;
      bad_ = 0;
    } else {
      ++bad_;
    }
    return stopped();
  }
  bool stopped() const { return bad_ > options_.patience; }
  double best() const { return best_; }  // NaN: there was none
  int64_t bad() const { return bad_; }   // values since the best

  NamedTensors state_dict() const {
    return {{"best", Tensor::from<double>({best_}, Ints())},
            {"bad", Tensor::from<int64_t>({bad_}, Ints())}};
  }
  void load_state_dict(const NamedTensors& state) {
    double best = NAN;
    int64_t bad = -1;
    for (const auto& [name, tensor] : state) {
      if (name == "best") best = tensor.item<double>();
      if (name == "bad") bad = tensor.item<int64_t>();
    }
    if (state.size() != 2 || bad < 0 || bad == INT64_MAX)
      fail("EarlyStopping: the state has to be 'best' and 'bad', a number from 0");
    best_ = best, bad_ = bad;
  }

 private:
  EarlyStoppingOptions options_;
  double best_ = NAN;
  int64_t bad_ = 0;
};

}  // namespace v0
}  // namespace tenon
