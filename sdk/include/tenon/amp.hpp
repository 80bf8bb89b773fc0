// Mixed precision: autocast scopes and the scaling of gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tenon/literal.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/optim.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Ops of this thread on `device` run in the precision of their class until the end of the scope.
// lower: none takes the device's own; policy: a plugin's, by name. Scopes nest; casts of parameters
// are kept until the outermost ends, or are made anew after a write or a backward. enabled = false:
// nothing is cast on any device within it, as by NoAutocast, and the other arguments do not count.
class Autocast {
 public:
  [[nodiscard]] explicit Autocast(Device device, Dtype lower = {}, const char* policy = nullptr)
      : Autocast(device, lower, policy, true) {}
  [[nodiscard]] Autocast(Device device, Dtype lower, bool enabled)
      : Autocast(device, lower, nullptr, enabled) {}
  [[nodiscard]] Autocast(Device device, Dtype lower, const char* policy, bool enabled)
      : device_(device), lower_(lower), policy_(policy ? policy : ""), outer_(innermost_) {
    check(enabled ? detail::api.amp->enter(device.value, lower.value, policy)
                  : detail::api.amp->suspend());
    if (enabled) innermost_ = this;
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() {
    innermost_ = outer_;
    ignore(detail::api.amp->leave());
  }

  // What it was made with, and the scope of this thread that decides, as far as this library opened
  // it; NULL: it opened none. For those who open the same scope at another time
  // (checkpoint_call.hpp).
  Device device() const { return device_; }
  Dtype lower() const { return lower_; }
  const std::string& policy() const { return policy_; }
  static const Autocast* innermost() { return innermost_; }

 private:
  static inline constinit thread_local const Autocast* innermost_ = nullptr;
  Device device_;
  Dtype lower_;
  std::string policy_;  // empty: the ops' own classes
  const Autocast* outer_;
};
// Nothing is cast until the end of the scope, as by PyTorch's autocast with enabled=False: for a part
// of the model that wants its float32.
class NoAutocast {
 public:
  [[nodiscard]] NoAutocast() { check(detail::api.amp->suspend()); }
  NoAutocast(const NoAutocast&) = delete;
  NoAutocast& operator=(const NoAutocast&) = delete;
  ~NoAutocast() { ignore(detail::api.amp->leave()); }
};
inline bool autocast_enabled() { return detail::api.amp->enabled() != 0; }

// Scales the loss so that small gradients survive float16; skips the steps whose gradients are not
// finite, and finds the scale.
//   scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update();
// Several optimizers are unscaled and stepped each by itself, and one update ends the iteration.
// One thread at a time. The algorithm is PyTorch's GradScaler. The scale (float32) and the number
// of good steps since it changed are tensors on the device of the first loss or gradient: a whole
// iteration waits for nothing, and can be compiled.
class GradScaler {
 public:
  struct Options {
    double init_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    int64_t growth_interval = 2000;
    bool enabled = true;  // false: losses and gradients stay, and every step is made
  };
  struct State {
    double scale;
    int64_t good_steps;
    bool operator==(const State&) const = default;
  };
  GradScaler() : GradScaler(Options()) {}
  explicit GradScaler(Options options) : options_(options), first_{options.init_scale, 0} {
    expect("init_scale", options.init_scale, 0, "a finite number above 0", 0x1p128);
    set_growth_factor(options.growth_factor);
    set_backoff_factor(options.backoff_factor);
    set_growth_interval(options.growth_interval);
  }

  bool is_enabled() const { return options_.enabled; }
  Tensor scale(const Tensor& loss) const {
    if (!options_.enabled) return loss;
    make_tensors(loss.device());
    return loss * scale_.to(loss.device());
  }
  std::vector<Tensor> scale(const std::vector<Tensor>& losses) const {
    std::vector<Tensor> scaled;
    for (const Tensor& loss : losses) scaled.push_back(scale(loss));
    return scaled;
  }
  // Divides the optimizer's gradients by the scale and notes whether all are finite. step does it
  // when it was not done (to clip, do it first). Once for each update.
  void unscale_(const Object& optimizer) {
    if (!options_.enabled) return;
    Progress& progress = progress_of(optimizer);
    if (progress.stepped) fail("GradScaler: unscale_ comes after step; expected it before");
    if (progress.unscaled) {
      fail("GradScaler: unscale_ was called for this optimizer already since the last update");
    }
    std::vector<Tensor> grads = grads_of(optimizer);
    while (!grads.empty()) {  // the gradients of one device at a time
      Device device = grads[0].device();
      std::vector<Tensor> here, others;
      for (Tensor& t : grads) (t.device() == device ? here : others).push_back(std::move(t));
      grads = std::move(others);
      make_tensors(device);
      progress.found_inf.push_back(zeros({1}, float32, device));
      tenon::unscale_(here, progress.found_inf.back(), reciprocal(scale_.to(device)));
    }
    progress.unscaled = true;
  }
  // The optimizer's step, unless one of its own gradients is inf or NaN. An optimizer whose step
  // takes found_inf decides on its device.
  void step(const Object& optimizer) {
    if (!options_.enabled) return optimizer.invoke<void>("step");
    Progress& progress = progress_of(optimizer);
    if (progress.stepped) {
      fail("GradScaler: step was called for this optimizer already since the last update");
    }
    if (!progress.unscaled) unscale_(optimizer);
    if (optimizer.method_schema("step").find("found_inf") != std::string::npos) {
      optimizer.invoke<void>("step", found_inf_of(progress));
    } else if (!skips(progress)) {
      optimizer.invoke<void>("step");
    }
    progress.stepped = true;
  }
  // After all steps: shrinks the scale when a gradient of any optimizer was not finite, grows it
  // after growth_interval good iterations.
  void update() {
    if (!options_.enabled) return;
    if (iteration_.empty()) {
      fail("GradScaler: update needs a step or unscale_ of an optimizer since the last one");
    }
    make_tensors({});
    Tensor found = zeros({}, float32, scale_.device());
    for (const Progress& p : iteration_) {
      for (const Tensor& t : p.found_inf) found = maximum(found, t.to(found.device()).reshape({}));
    }
    update_scale_(scale_, good_steps_, found,
                  {.growth_factor = options_.growth_factor,
                   .backoff_factor = options_.backoff_factor,
                   .growth_interval = options_.growth_interval});
    iteration_.clear();
  }
  // After all steps, instead of update(): the scale becomes this one, whatever the gradients were. A
  // tensor has one element; nothing waits for it where it lies on the scale's device.
  void update(double new_scale) {
    if (!options_.enabled) return;
    expect("new_scale", new_scale, 0, "a finite number above 0", 0x1p128);
    update(tensor(float(new_scale)));
  }
  void update(const Tensor& new_scale) {
    if (!options_.enabled) return;
    if (new_scale.numel() != 1) {
      fail(detail::joined({"GradScaler: new_scale has ", std::to_string(new_scale.numel()),
                           " elements, expected one"}));
    }
    make_tensors(new_scale.device());
    scale_.copy_(new_scale.detach().reshape({}));
    iteration_.clear();
  }
  // What the scale is multiplied with, and after how many good iterations it grows. From the next
  // update on; of a compiled one those of its recording.
  double get_growth_factor() const { return options_.growth_factor; }
  double get_backoff_factor() const { return options_.backoff_factor; }
  int64_t get_growth_interval() const { return options_.growth_interval; }
  void set_growth_factor(double factor) {
    expect("growth_factor", factor, 1, "a finite number above 1");
    options_.growth_factor = factor;
  }
  void set_backoff_factor(double factor) {
    expect("backoff_factor", factor, 0, "a number above 0 and below 1", 1);
    options_.backoff_factor = factor;
  }
  void set_growth_interval(int64_t interval) {
    if (interval < 1) {
      fail(detail::joined(
          {"GradScaler: growth_interval is ", std::to_string(interval), ", expected at least 1"}));
    }
    options_.growth_interval = interval;
  }
  // Since the last update: was a gradient of any optimizer, or of this one, not finite? Waits for
  // the device.
  bool skipped() const { return std::any_of(iteration_.begin(), iteration_.end(), skips); }
  bool skipped(const Object& optimizer) const {
    return std::any_of(iteration_.begin(), iteration_.end(), [&](const Progress& p) {
      return p.optimizer.get() == optimizer.get() && skips(p);
    });
  }
  // The scale of the next loss; 1 where it is not enabled. Waits for the device.
  double get_scale() const { return options_.enabled ? state().scale : 1; }
  // Waits for the device.
  State state() const {
    if (!scale_.defined()) return first_;
    return {scale_.item<double>(), good_steps_.item<int64_t>()};
  }
  // By PyTorch's names.
  State state_dict() const { return state(); }
  void load_state_dict(State state) { load_state(state); }
  // An Error where it is the state of no scaler.
  void load_state(State state) {
    if (!(state.scale > 0 && state.scale <= 3.402823466e38)) {
      fail(detail::joined({"GradScaler: scale is ", detail::number_text(state.scale),
                           " in the state, expected a finite number above 0"}));
    }
    if (state.good_steps < 0) {
      fail(detail::joined({"GradScaler: good_steps is ", std::to_string(state.good_steps),
                           " in the state, expected 0 or more"}));
    }
    first_ = state;
    if (!scale_.defined()) return;
    scale_.copy_(tensor(float(state.scale)));
    good_steps_.copy_(tensor(state.good_steps));
  }

 private:
  // Of one optimizer, since the last update.
  struct Progress {
    Object optimizer;
    std::vector<Tensor> found_inf;  // of each device with gradients
    bool unscaled = false, stepped = false;
  };

  void make_tensors(Device device) const {
    if (scale_.defined()) return;
    scale_ = full({}, first_.scale, float32, device);
    good_steps_ = full({}, first_.good_steps, int64, device);
  }
  static void expect(const char* option, double value, double above, const char* expected,
                     double below = INFINITY) {
    if (value > above && value < below) return;
    fail(detail::joined(
        {"GradScaler: ", option, " is ", detail::number_text(value), ", expected ", expected}));
  }
  Progress& progress_of(const Object& optimizer) {
    for (Progress& p : iteration_) {
      if (p.optimizer.get() == optimizer.get()) return p;
    }
    return iteration_.emplace_back(Progress{optimizer, {}});
  }
  static bool skips(const Progress& progress) {
    return std::any_of(progress.found_inf.begin(), progress.found_inf.end(),
                       [](const Tensor& found) { return found.item<float>() != 0; });
  }
  // On the device of the first gradient; null without gradients.
  static Tensor found_inf_of(const Progress& progress) {
    if (progress.found_inf.empty()) return {};
    Tensor found = progress.found_inf[0];
    for (size_t i = 1; i < progress.found_inf.size(); ++i) {
      found = maximum(found, progress.found_inf[i].to(found.device()));
    }
    return found;
  }

  static std::vector<Tensor> grads_of(const Object& optimizer) {
    std::vector<Tensor> grads;
    uint32_t n_groups = detail::api.object->n_groups(optimizer.get());
    for (uint32_t i = 0; i < n_groups; ++i) {
      tn_tensor* const* parameters = nullptr;
      uint32_t n = 0;
      check(detail::api.object->group(optimizer.get(), i, &parameters, &n));
      for (uint32_t k = 0; k < n; ++k) {
        Tensor grad = Tensor::take(detail::api.autograd->grad(parameters[k]));
        if (!grad.defined()) continue;
        grads.push_back(grad.is_row_sparse() ? grad.values() : std::move(grad));
      }
    }
    return grads;
  }

  Options options_;
  State first_;  // until there are tensors
  mutable Tensor scale_, good_steps_;
  std::vector<Progress> iteration_;
};

}  // namespace v0
}  // namespace tenon
