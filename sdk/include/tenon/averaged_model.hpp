// Weights on average, as in torch.optim.swa_utils: a copy of a model whose weights are the mean
// (SWA), or the exponential moving average (EMA), of those that the model had. tenon.hpp does not
// include it.
//
//   optim::AveragedModel ema(model, {.avg_fn = optim::get_ema_avg_fn(0.999)});
//   ... optimizer.step();  ema.update_parameters(model);
//   Tensor y = ema(x);
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/clone.hpp"
#include "tenon/literal.hpp"
#include "tenon/messages.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/optim/named_schedules.hpp"
#include "tenon/optim/schedule.hpp"
#include "tenon/optim/scheduler.hpp"
#include "tenon/optim/schedulers.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// The input of a batch: the batch itself, or its first field.
template <typename Batch>
Tensor input_of(const Batch& batch) {
  if constexpr (TensorLike<Batch>) {
    return batch;
  } else if constexpr (requires { std::get<0>(batch); }) {
    return std::get<0>(batch);
  } else {
    const auto& [x, y] = batch;
    return x;
  }
}

// While it lives, the BatchNorm layers of a model have as running values the means over all batches
// that they saw, and the model is in training mode; then the modes are as they were.
class BatchNormPass {
 public:
  explicit BatchNormPass(const Object& model) : model_(model) {
    for (const Object& layer : model.modules()) {
      modes_.emplace_back(layer, layer.training());
      if (!layer.type_name().starts_with("BatchNorm") || !has_running_values(layer)) continue;
      layer.tensor("running_mean").zero_();
      layer.tensor("running_var").fill_(1);
      layer.tensor("num_batches_tracked").zero_();
      hooks_.emplace_back(layer, layer.register_forward_hook(MeanOfBatches()));
    }
    model.train();
  }
  BatchNormPass(const BatchNormPass&) = delete;
  ~BatchNormPass() {
    for (const auto& [layer, hook] : hooks_) layer.remove_forward_hook(hook);
    for (const auto& [layer, training] : modes_) layer.train(training);  // parents come first
  }
  bool empty() const { return hooks_.empty(); }

 private:
  static bool has_running_values(const Object& layer) {
    int n = 0;
    for (const OwnEntry& entry : own_entries(layer)) {
      n += entry.tensor.defined() && (entry.name == "running_mean" || entry.name == "running_var" ||
                                      entry.name == "num_batches_tracked");
    }
    return n == 3;
  }
  // The layer follows the batches by its momentum; this puts the means into the place.
  struct MeanOfBatches {
    Tensor mean, var;
    int64_t n = 0;
    void operator()(Object& layer, Tensor x, Tensor) {
      std::vector<int64_t> dims = {0};
      for (int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
      const Tensor wide = x.to(layer.tensor("running_mean").dtype());
      if (n++ == 0) {
        mean = zeros_like(layer.tensor("running_mean"));
        var = zeros_like(mean);
      }
      lerp_(mean, tenon::mean(wide, dims), 1.0 / double(n));
      lerp_(var, tenon::var(wide, dims), 1.0 / double(n));
      layer.tensor("running_mean").copy_(mean);
      layer.tensor("running_var").copy_(var);
    }
  };
  Object model_;
  std::vector<std::pair<Object, bool>> modes_;
  std::vector<std::pair<Object, uint64_t>> hooks_;
};
}  // namespace detail

namespace optim {

// How an average takes the next value in: the mean of all, an exponential average, or a function of
// one's own: Tensor(Tensor averaged, Tensor current, Tensor n_averaged), which gives the new average
// of one tensor. n_averaged, int64 of one element, counts the values before. Or one of many at once,
// those of a device and a dtype, which changes the averages in their places:
// void(std::vector<Tensor> averaged, std::vector<Tensor> current, Tensor n_averaged).
class AverageFn {
 public:
  AverageFn() = default;  // the mean
  template <typename F>
  requires std::is_invocable_r_v<Tensor, const F&, Tensor, Tensor, Tensor> AverageFn(F function)
      : function_(std::move(function)) {}
  template <typename F>
  requires(!std::is_invocable_r_v<Tensor, const F&, Tensor, Tensor, Tensor>) &&
      std::is_invocable_v<const F&, std::vector<Tensor>, std::vector<Tensor>, Tensor> AverageFn(
          F function)
      : multi_(std::move(function)) {}

 private:
  friend class AveragedModel;
  friend AverageFn get_ema_avg_fn(double decay);
  double decay_ = -1;  // of the exponential average
  std::function<Tensor(Tensor, Tensor, Tensor)> function_;
  std::function<void(std::vector<Tensor>, std::vector<Tensor>, Tensor)> multi_;
};
// averaged + (current - averaged) / (n_averaged + 1), the mean of all.
inline AverageFn get_swa_avg_fn() { return {}; }
// decay * averaged + (1 - decay) * current. decay: from 0 to 1.
inline AverageFn get_ema_avg_fn(double decay = 0.999) {
  if (!(decay >= 0 && decay <= 1)) {
    fail(detail::joined({"get_ema_avg_fn: decay is ", detail::number_text(decay),
                         ", expected a number from 0 to 1"}));
  }
  AverageFn fn;
  fn.decay_ = decay;
  return fn;
}

// The same averages by the names that PyTorch has for those of many tensors at once.
inline AverageFn get_swa_multi_avg_fn() { return {}; }
inline AverageFn get_ema_multi_avg_fn(double decay = 0.999) { return get_ema_avg_fn(decay); }

struct AveragedModelOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Device> device = {};     // where the average lies; absent: where the model does
  std::optional<AverageFn> avg_fn = {};  // absent: the mean of all, as for SWA
  std::optional<AverageFn> multi_avg_fn = {};  // the same under another name: one of them is given
  bool use_buffers = false;  // buffers are averaged too; else they are those of the model
};

// A copy of a model (Object::clone), as child "module", and the buffer "n_averaged": its state_dict
// has PyTorch's names, and it can be a part of a Checkpoint (`.more`). What the function is, is not in
// the state. Changes an object, so one thread at a time.
class AveragedModel : public Object {
 public:
  AveragedModel() = default;  // None
  explicit AveragedModel(const Object& model, AveragedModelOptions options = {})
      : Object(Object::empty("AveragedModel")), use_buffers_(options.use_buffers) {
    if (options.avg_fn && options.multi_avg_fn)
      fail("AveragedModel: avg_fn and multi_avg_fn are both given, expected one of them");
    if (options.avg_fn) average_ = std::move(*options.avg_fn);
    if (options.multi_avg_fn) average_ = std::move(*options.multi_avg_fn);
    Object copy = model.clone();
    if (options.device) copy.to(*options.device);
    child("module", copy);
    buffer("n_averaged", Tensor::from<int64_t>({0}, Ints(), device_of(copy)));
    add_forward(copy);
  }

  Object module() const { return child("module"); }
  // Waits for the device.
  int64_t n_averaged() const { return tensor("n_averaged").item<int64_t>(); }

  // Takes the model's weights into the average; at the first time it becomes their copy. Nothing is
  // read back, so it may be part of a compiled step. An Error where the model is another.
  void update_parameters(const Object& model) const {
    const NoGrad guard;
    const Object copy = module();
    const Tensor n = tensor("n_averaged");
    std::map<std::string, Tensor> weights;  // of each device
    std::map<std::string, Many> many;       // of each device and dtype
    const auto average = [&](const Tensor& to, const Tensor& from) {
      const Tensor current = from.detach().to(to.device());
      const Tensor count = n.to(to.device());
      if (average_.multi_) {
        Many& those = many[to.device().name() + " " + to.dtype().name()];
        those.averaged.push_back(to);
        those.current.push_back(current);
        those.count = count;
        return;
      }
      Tensor& weight = weights[to.device().name()];
      if (!weight.defined()) weight = weight_of(count);
      take(to, current, count, weight);
    };
    each_pair("parameter", copy.named_parameters(), model.named_parameters(), average);
    each_pair("buffer", copy.named_buffers(), model.named_buffers(),
              [&](const Tensor& to, const Tensor& from) {
                if (use_buffers_) return average(to, from);
                to.copy_(from.detach());
              });
    for (const auto& entry : many) take(entry.second);
    n += 1;
  }

 private:
  static Device device_of(const Object& model) {
    for (const Tensor& parameter : model.parameters()) return parameter.device();
    return {};
  }
  // `forward` as the model has it.
  void add_forward(const Object& copy) {
    const auto call = [](void*, tn_object* self, const tn_value* args, uint32_t n_args,
                         tn_value* results, uint32_t n_results) -> tn_status* {
      return to_status([&] {
        const Object module = Object::borrow(self).child("module");
        check(
            detail::api.object->invoke(module.get(), "forward", args, n_args, results, n_results));
      });
    };
    check(detail::api.object->add_method(get(), copy.method_schema("forward").c_str(), call,
                                         nullptr, nullptr));
  }
  template <typename F>
  static void each_pair(const char* what, const NamedTensors& own, const NamedTensors& others,
                        F f) {
    for (size_t i = 0; i < own.size() || i < others.size(); ++i) {
      if (i < own.size() && i < others.size() && own[i].first == others[i].first &&
          own[i].second.sizes() == others[i].second.sizes())
        continue;
      const auto text = [&](const NamedTensors& list) {
        if (i >= list.size()) return std::string("no more");
        return detail::joined({"'", messages::printable(list[i].first), "' of ",
                               detail::sizes_text(list[i].second.sizes())});
      };
      fail(detail::joined({"AveragedModel: ", what, " ", std::to_string(i), " of the model is ",
                           text(others), ", and of the average ", text(own),
                           "; expected the model that it was made of"}));
    }
    for (size_t i = 0; i < own.size(); ++i) f(own[i].second, others[i].second);
  }
  // How much of the average the current value becomes: 1 at the first time.
  Tensor weight_of(const Tensor& count) const {
    if (average_.decay_ < 0) return reciprocal((count + 1).to(float64));
    const Tensor one = full({}, 1, float64, count.device());
    return where(count == 0, one, one * (1 - average_.decay_));
  }
  void take(const Tensor& to, const Tensor& current, const Tensor& count,
            const Tensor& weight) const {
    if (average_.function_) {
      const Tensor made = average_.function_(to.detach(), current, count);
      to.copy_(where(count == 0, current, made));
    } else if (to.dtype().is_float()) {
      lerp_(to, current, weight.to(to.dtype() == float64 ? float64 : float32));
    } else {
      to.copy_(lerp(to.to(float64), current.to(float64), weight));
    }
  }
  struct Many {
    std::vector<Tensor> averaged, current;
    Tensor count;
  };
  void take(const Many& many) const {
    std::vector<Tensor> made;
    for (const Tensor& to : many.averaged) made.push_back(to.detach().clone());
    average_.multi_(made, many.current, many.count);
    for (size_t i = 0; i < made.size(); ++i)
      many.averaged[i].copy_(where(many.count == 0, many.current[i], made[i]));
  }

  AverageFn average_;
  bool use_buffers_ = false;
};

// From the rate that a group has to swa_lr in anneal_epochs steps, where it stays: "cos" by half a
// cosine, or "linear". With a Scheduler that is made when the averaging begins.
namespace schedules {
struct SWALROptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int anneal_epochs = 10;
  std::string anneal_strategy = "cos";
};
inline Schedule SWALR(double swa_lr, const SWALROptions& options = {}) {
  detail::schedule_number("SWALR", "swa_lr", swa_lr);
  const int64_t epochs =
      detail::schedule_at_least("SWALR", "anneal_epochs", 0, options.anneal_epochs);
  const bool by_cosine = options.anneal_strategy == "cos";
  if (!by_cosine && options.anneal_strategy != "linear") {
    fail(
        detail::joined({"SWALR: anneal_strategy is '", messages::printable(options.anneal_strategy),
                        "', expected 'cos' or 'linear'"}));
  }
  return Schedule([=](int64_t step, double lr) {
           const double part = epochs == 0 ? 1 : std::min(1.0, double(step) / double(epochs));
           return detail::annealed(by_cosine, lr, swa_lr, part);
         })
      .going_on(epochs);
}

// With an optimizer it is a Scheduler at once, as the other schedules are: of one rate for all groups,
// or one for each.
inline Scheduler SWALR(const Optimizer& optimizer, const Floats& swa_lr,
                       const SWALROptions& options = {}) {
  detail::expect_of_groups("SWALR", "swa_lr", swa_lr, optimizer);
  return detail::scheduler_of_groups(optimizer, swa_lr.size() == 1, [&](uint32_t group) {
    return SWALR(detail::of_group(swa_lr, group), options);
  });
}
}  // namespace schedules

using schedules::SWALROptions;
template <typename Kind>
class SWALR : public Kind {
 public:
  SWALR() requires IsScheduler<Kind>
  = default;
  explicit SWALR(double swa_lr, const SWALROptions& options = {}) requires IsSchedule<Kind>
      : Kind(schedules::SWALR(swa_lr, options)) {}
  explicit SWALR(const Optimizer& optimizer, const Floats& swa_lr,
                 const SWALROptions& options = {}) requires IsScheduler<Kind>
      : Kind(schedules::SWALR(optimizer, swa_lr, options)) {}
};
SWALR(double, const SWALROptions& = {})->SWALR<Schedule>;
SWALR(const Optimizer&, const Floats&, const SWALROptions& = {})->SWALR<Scheduler>;

// Sets the running values of the model's BatchNorm layers to the means over the batches, which are
// tensors, or pairs and tuples whose first is the input. Goes over them once, without gradients, and
// not at all where no layer has such values.
template <typename Batches>
void update_bn(Batches&& batches, const Object& model, std::optional<Device> device = {}) {
  const NoGrad guard;
  const detail::BatchNormPass pass(model);
  if (pass.empty()) return;
  for (auto&& batch : batches) {
    const Tensor input = detail::input_of(batch);
    model(device ? input.to(*device) : input);
  }
}

// Where PyTorch has them.
namespace swa_utils {
using optim::AveragedModel;
using optim::get_ema_avg_fn;
using optim::get_ema_multi_avg_fn;
using optim::get_swa_avg_fn;
using optim::get_swa_multi_avg_fn;
using optim::SWALR;
using optim::update_bn;
}  // namespace swa_utils

}  // namespace optim
}  // namespace v0
}  // namespace tenon
