// Mixed precision: autocast scopes and the scaling of gradients.
#pragma once

#include <vector>

#include "tenon/object.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/optim.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Ops of this thread on `device` run in the precision of their class until the end of the scope.
// lower: none takes the device's own; policy: a plugin's, by name. Scopes nest; casts of parameters
// are kept until the outermost ends, or are made anew after a write or a backward.
class Autocast {
 public:
  explicit Autocast(Device device, Dtype lower = {}, const char* policy = nullptr) {
    check(detail::api.amp->enter(device.value, lower.value, policy));
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() { ignore(detail::api.amp->leave()); }
};
inline bool autocast_enabled() { return detail::api.amp->enabled() != 0; }

// Scales the loss so that small gradients survive float16; skips the steps whose gradients are not
// finite, and finds the scale.
//   scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update();
// One thread at a time. The algorithm is PyTorch's GradScaler.
class GradScaler {
 public:
  struct Options {
    double init_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    int64_t growth_interval = 2000;
  };
  struct State {
    double scale;
    int64_t good_steps;
    bool operator==(const State&) const = default;
  };
  GradScaler() : GradScaler(Options()) {}
  explicit GradScaler(Options options) : options_(options), state_{options.init_scale, 0} {}

  Tensor scale(const Tensor& loss) const { return loss * state_.scale; }
  // Divides the gradients by the scale and notes whether all are finite. step does it when it was
  // not done (to clip, do it first).
  void unscale(const Object& optimizer) {
    if (unscaled_) return;
    std::vector<Tensor> grads = grads_of(optimizer);
    if (!grads.empty()) {
      Device device = grads[0].device();
      found_inf_ = zeros({1}, float32, device);
      unscale_(grads, found_inf_, full({1}, 1 / state_.scale, float32, device));
    }
    unscaled_ = true;
  }
  // The optimizer's step, unless a gradient is inf or NaN. An optimizer whose step takes found_inf
  // decides on its device.
  void step(const Object& optimizer) {
    unscale(optimizer);
    if (optimizer.method_schema("step").find("found_inf") != std::string::npos) {
      optimizer.invoke<void>("step", found_inf_);
    } else if (!skipped()) {
      optimizer.invoke<void>("step");
    }
  }
  // After step: shrinks the scale when the step was skipped, grows it after growth_interval good
  // ones.
  void update() {
    if (skipped()) {
      state_ = {state_.scale * options_.backoff_factor, 0};
    } else if (++state_.good_steps == options_.growth_interval) {
      state_ = {state_.scale * options_.growth_factor, 0};
    }
    unscaled_ = false;
    found_inf_ = {};
  }
  // Was a gradient not finite? Waits for the device.
  bool skipped() const { return found_inf_.defined() && found_inf_.item<float>() != 0; }
  State state() const { return state_; }
  void load_state(State state) { state_ = state; }

 private:
  static std::vector<Tensor> grads_of(const Object& optimizer) {
    std::vector<Tensor> grads;
    uint32_t n_groups = detail::api.object->n_groups(optimizer.get());
    for (uint32_t i = 0; i < n_groups; ++i) {
      tn_tensor* const* parameters = nullptr;
      uint32_t n = 0;
      check(detail::api.object->group(optimizer.get(), i, &parameters, &n));
      for (uint32_t k = 0; k < n; ++k) {
        if (Tensor grad = Tensor::take(detail::api.autograd->grad(parameters[k])); grad.defined()) {
          grads.push_back(std::move(grad));
        }
      }
    }
    return grads;
  }

  Options options_;
  State state_;
  Tensor found_inf_;
  bool unscaled_ = false;
};

}  // namespace v0
}  // namespace tenon
