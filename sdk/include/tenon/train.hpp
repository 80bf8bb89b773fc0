// The loop of training: batches, a model, a loss and an optimizer, with a schedule, clipping, mixed
// precision and compiled steps where they are wanted. For applications; the command trains with it.
// It prints and saves nothing, which is up to its callbacks.
//
//   Trainer trainer(model, optimizer, nn::CrossEntropyLoss(), {.clip_grad_norm = 1.0});
//   trainer.fit(batches, {.epochs = 20, .on_report = [](const Trainer::Report& r) {
//     std::printf("epoch %d: loss %.4f\n", int(r.epoch), r.loss);
//   }});
//   double right = accuracy(model, test_batches);
//
// Batches are whatever a range-for gives as pairs of tensors [x, y], as a data::DataLoader does.
// Not thread-safe.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/amp.hpp"
#include "tenon/autograd.hpp"
#include "tenon/capture.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"
#include "tenon/optim.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// One number that is to become small, of the model's output and the target of a batch: a layer such
// as nn::CrossEntropyLoss() or a function.
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& target)>;

// What Trainer::fit throws where a loss is no finite number. The message says the step.
class Diverged : public Error {
 public:
  Diverged(const std::string& where, int64_t in_epoch, int64_t at_step, double found,
           std::string why)
      : Error(detail::joined({where, "step ", std::to_string(at_step), ": ", why}),
              TN_FAILED_PRECONDITION),
        epoch(in_epoch),
        step(at_step),
        loss(found),
        reason(std::move(why)) {}

  int64_t epoch, step;  // both from 1; the step within the epoch
  double loss;
  std::string reason;  // the message without the step
};

struct TrainerOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  optim::Schedule schedule = {};  // of all steps that the trainer makes, counted from 0
  Float clip_grad_norm = 0.0;     // the most that the norm of all gradients may be; 0: any
  Dtype autocast = {};            // the lower precision of forward and loss; none: without autocast
  std::string policy = {};  // of autocast, as "O2" (precision.hpp); empty: the ops' own classes,
                            // or without autocast where that has no dtype
  GradScaler* scaler = nullptr;  // for float16; borrowed, so that its state can be saved
  // Each batch goes through model and loss in so many parts, whose gradients are added before the one
  // update: the memory of a part, and the gradient of the whole where the loss is a mean over items.
  // Layers that look at the whole batch, as BatchNorm, see the parts.
  Int accumulate = 1;
  // Forward, loss, backward, clipping and update are recorded at one step and replayed at later
  // ones, with the same bits (docs/capture.md says what model and loss may do then). Row-sparse
  // gradients are gone after such a step.
  bool compile = false;
};

namespace detail {

inline void expect_at_least(const char* what, int64_t value, int64_t least) {
  if (value >= least) return;
  fail(joined({"Trainer: ", what, " is ", std::to_string(value), ", expected at least ",
               std::to_string(least)}));
}
// The mean over the items of all batches.
inline double mean_of_items(const char* function, double sum, int64_t items) {
  if (items == 0) fail(joined({function, ": there are no batches with items, expected one"}));
  return sum / double(items);
}

}  // namespace detail

class Trainer {
 public:
  // Of a batch: its target on the model's device, and what came out, detached.
  struct Step {
    int64_t epoch, step;  // both from 1; within the epoch in `fit`, in all from `step`
    Tensor target, output, loss;
  };
  // Of the steps since the report before, in the same epoch.
  struct Report {
    int64_t epoch, step;  // of the last one
    double loss;          // the mean over the items of the batches
    double lr;            // of the last step, in the first group; 0 where the optimizer has none
  };
  struct FitOptions {
    [[no_unique_address]] detail::ByName by_name = detail::ByName();
    Int epochs = 1;
    Int first_epoch = 1;   // the number of the first pass; fit goes on to that of `epochs`
    Int first_step = 0;    // how many steps of the first pass were made before
    Int report_every = 0;  // steps, beside the end of each epoch; 0: at the end alone
    std::function<void(const Step&)> on_step = {};
    std::function<void(const Report&)> on_report = {};
  };

  // The model is on its device already: batches are brought to that of its first parameter.
  Trainer(Object model, optim::Optimizer optimizer, LossFunction loss, TrainerOptions options = {});

  // Passes over the batches with the model in training mode. A loss that is not finite ends it with
  // a Diverged, at most 64 steps later, since reading each loss at once would wait for the device.
  template <typename Batches>
  std::vector<Report> fit(Batches&& batches, const FitOptions& options);
  template <typename Batches>
  std::vector<Report> fit(Batches&& batches) {
    return fit(std::forward<Batches>(batches), FitOptions());
  }
  // From a callback: fit ends after this step, with its report.
  void stop() { stopped_ = true; }

  // One step, for loops of one's own: the rate of the schedule, forward, backward, clipping and
  // update. The model's mode is the caller's.
  Step step(const Tensor& x, const Tensor& y);

  // The steps that were made, by which the schedule goes; to go on where a saved training was.
  int64_t steps() const { return steps_; }
  void go_to(int64_t steps) {
    detail::expect_at_least("steps", steps, 0);
    steps_ = steps;
  }

  // For readers: how many steps were recorded and replayed, what they launch, and why steps ran
  // eagerly (CompiledFunction::describe). Empty without the option `compile`.
  std::string describe() const { return compiled_ ? compiled_->describe() : ""; }

 private:
  class Losses;

  // What a step does with a batch on the device: it gives output and loss, detached.
  struct Pass {
    Object model;
    optim::Optimizer optimizer;
    LossFunction loss;
    TrainerOptions options;
    std::vector<Tensor> parameters;
    Device device;

    std::array<Tensor, 2> operator()(const Tensor& input, const Tensor& target) const;
    std::unique_ptr<Autocast> open_scope() const;
    std::array<Tensor, 2> forward(const Tensor& input, const Tensor& target) const;
    std::array<Tensor, 2> in_parts(const Tensor& input, const Tensor& target) const;
    void backward(const Tensor& found) const;
    void update() const;
    void clear_row_sparse() const;
  };

  static std::optional<double> lr_of(const optim::Optimizer& optimizer);

  Pass pass_;
  std::optional<CompiledFunction<Pass>> compiled_;  // pass_, with the option `compile`
  std::optional<double> own_lr_;                    // before any schedule
  std::optional<optim::Scheduler> scheduler_;
  int64_t steps_ = 0;
  bool stopped_ = false;
};

namespace detail {

inline Device device_of(const Object& model) {
  const std::vector<Tensor> parameters = model.parameters();
  return parameters.empty() ? Device() : parameters[0].device();
}

// Without gradients and in evaluation, until the end of the scope.
class Evaluation {
 public:
  explicit Evaluation(const Object& model) : model_(model), was_training_(model.training()) {
    model_.eval();
  }
  Evaluation(const Evaluation&) = delete;
  ~Evaluation() { model_.train(was_training_); }

 private:
  const NoGrad no_grad_;
  const Object model_;
  const bool was_training_;
};

}  // namespace detail

// The part of the items that the model puts into the right class: its output is [n, classes], the
// targets are classes [n]. The model is in evaluation meanwhile. An Error where there are no items.
template <typename Batches>
double accuracy(const Object& model, Batches&& batches) {
  const detail::Evaluation scope(model);
  const Device device = detail::device_of(model);
  int64_t right = 0, all = 0;
  for (auto&& [x, y] : batches) {
    const Tensor classes = argmax(model(x.to(device)), 1);
    // Others might broadcast, and each item would be compared with all.
    if (classes.dim() != 1 || y.dim() != 1) {
      fail(detail::joined({"accuracy: the output has ", std::to_string(classes.dim() + 1),
                           " dimensions and the targets ", std::to_string(y.dim()),
                           ", expected [n, classes] and classes [n]"}));
    }
    right += sum(eq(classes, y.to(device))).template item<int64_t>();
    all += x.size(0);
  }
  return detail::mean_of_items("accuracy", double(right), all);
}

// The mean of the loss over the items of the batches. The model is in evaluation meanwhile. An Error
// where there are no items.
template <typename Batches>
double mean_loss(const Object& model, const LossFunction& loss, Batches&& batches) {
  const detail::Evaluation scope(model);
  const Device device = detail::device_of(model);
  double sum = 0;
  int64_t all = 0;
  for (auto&& [x, y] : batches) {
    const int64_t n = x.size(0);
    if (n == 0) continue;  // the mean over nothing is NaN
    const Tensor output = model(x.to(device));
    sum += loss(output, y.to(device)).template item<double>() * double(n);
    all += n;
  }
  return detail::mean_of_items("mean_loss", sum, all);
}

// ---- The rest is how it is done.

// The losses of an epoch.
class Trainer::Losses {
 public:
  Losses(const Trainer& trainer, std::string where, int64_t epoch, int64_t step)
      : trainer_(trainer), where_(std::move(where)), epoch_(epoch), step_(step) {}

  void add(const Tensor& loss, int64_t items) {
    constexpr size_t kAtOnce = 64;
    unread_.emplace_back(loss, items);
    if (unread_.size() == kAtOnce) read();
  }
  // By items, of what was added since the last mean.
  double mean() {
    read();
    return std::exchange(sum_, 0) / double(std::exchange(items_, 0));
  }

 private:
  void read() {
    for (const auto& [loss, items] : unread_) {
      const auto value = loss.item<double>();
      ++step_;
      if (!std::isfinite(value)) diverged(value);
      sum_ += value * double(items);
      items_ += items;
    }
    unread_.clear();
  }
  [[noreturn]] void diverged(double loss) const {
    std::string reason = detail::joined({"the loss is ", std::isnan(loss) ? "nan" : "infinite",
                                         ": the training diverged; try a smaller lr"});
    if (trainer_.own_lr_) reason += " than " + detail::number_text(*trainer_.own_lr_);
    throw Diverged(where_, epoch_, step_, loss, std::move(reason));
  }

  const Trainer& trainer_;
  const std::string where_;
  const int64_t epoch_;
  std::vector<std::pair<Tensor, int64_t>> unread_;
  int64_t step_;
  double sum_ = 0;
  int64_t items_ = 0;
};

inline Trainer::Trainer(Object model, optim::Optimizer optimizer, LossFunction loss,
                        TrainerOptions options)
    : pass_{std::move(model), std::move(optimizer), std::move(loss), std::move(options), {}, {}},
      own_lr_(lr_of(pass_.optimizer)) {
  pass_.device = detail::device_of(pass_.model);
  if (!pass_.loss) fail("Trainer: the loss is empty, expected a function of output and target");
  const TrainerOptions& given = pass_.options;
  if (!(given.clip_grad_norm >= 0)) {
    fail(detail::joined({"Trainer: clip_grad_norm is ", detail::number_text(given.clip_grad_norm),
                         ", expected at least 0, where 0 is any"}));
  }
  detail::expect_at_least("accumulate", given.accumulate, 1);
  // Refuses a dtype that is no lower precision, or a policy that nobody brings, before the first step.
  pass_.open_scope();
  for (uint32_t i = 0; i < pass_.optimizer.n_groups(); ++i) {
    for (Tensor& parameter : pass_.optimizer.group_parameters(i)) {
      pass_.parameters.push_back(std::move(parameter));
    }
  }
  if (given.schedule.defined()) scheduler_.emplace(pass_.optimizer, given.schedule);
  if (given.compile) compiled_.emplace(pass_);
}

inline std::optional<double> Trainer::lr_of(const optim::Optimizer& optimizer) {
  try {
    return optimizer.lr();
  } catch (const Error&) {
    return std::nullopt;  // not every optimizer has one
  }
}

inline Trainer::Step Trainer::step(const Tensor& x, const Tensor& y) {
  if (scheduler_) scheduler_->go_to(steps_);
  const Tensor input = x.to(pass_.device), target = y.to(pass_.device);
  const auto [output, loss] = compiled_ ? (*compiled_)(input, target) : pass_(input, target);
  ++steps_;
  return {1, steps_, target, output, loss};
}

inline std::array<Tensor, 2> Trainer::Pass::operator()(const Tensor& input,
                                                       const Tensor& target) const {
  if (options.accumulate > 1) return in_parts(input, target);
  const auto [output, found] = forward(input, target);
  optimizer.zero_grad();
  backward(found);
  update();
  if (options.compile) clear_row_sparse();
  return {output.detach(), found.detach()};
}

inline std::unique_ptr<Autocast> Trainer::Pass::open_scope() const {
  if (!options.autocast && options.policy.empty()) return nullptr;
  return std::make_unique<Autocast>(device, options.autocast,
                                    options.policy.empty() ? nullptr : options.policy.c_str());
}

inline std::array<Tensor, 2> Trainer::Pass::forward(const Tensor& input,
                                                    const Tensor& target) const {
  const std::unique_ptr<Autocast> scope = open_scope();
  const Tensor output = model(input);
  return {output, loss(output, target)};
}

inline std::array<Tensor, 2> Trainer::Pass::in_parts(const Tensor& input,
                                                     const Tensor& target) const {
  const int64_t items = input.size(0);
  const int64_t each = target.dim() == 0 || items == 0 ? 0 : target.size(0) / items;
  if (each == 0 || target.size(0) != each * items) {
    fail(
        "Trainer: accumulate needs as many targets of each item of a batch, expected [n, ..] and "
        "[n * k, ..]");
  }
  const std::vector<Tensor> inputs = chunk(input, options.accumulate);
  std::vector<Tensor> outputs;
  Tensor all;
  optimizer.zero_grad();
  int64_t begin = 0;
  for (const Tensor& some : inputs) {
    const int64_t end = begin + some.size(0) * each;
    const auto [output, found] = forward(some, target.slice(0, begin, end));
    begin = end;
    const Tensor part = mul(found, double(some.size(0)) / double(items));
    backward(part);
    outputs.push_back(output.detach());
    all = all.defined() ? add(all, part.detach()) : part.detach();
  }
  update();
  if (options.compile) clear_row_sparse();
  return {cat(outputs), all};
}

inline void Trainer::Pass::backward(const Tensor& found) const {
  (options.scaler ? options.scaler->scale(found) : found).backward();
}

// No replay can leave a row-sparse gradient.
inline void Trainer::Pass::clear_row_sparse() const {
  for (const Tensor& parameter : parameters) {
    if (const Tensor g = parameter.grad(); g.defined() && g.is_row_sparse()) parameter.zero_grad();
  }
}

inline void Trainer::Pass::update() const {
  GradScaler* const scaler = options.scaler;
  if (options.clip_grad_norm > 0) {
    if (scaler) scaler->unscale_(optimizer);
    optim::clip_grad_norm_(parameters, options.clip_grad_norm);
  }
  if (!scaler) return optimizer.step();
  scaler->step(optimizer);
  scaler->update();
}

template <typename Batches>
std::vector<Trainer::Report> Trainer::fit(Batches&& batches, const FitOptions& options) {
  const int64_t epochs = options.epochs, every = options.report_every;
  detail::expect_at_least("epochs", epochs, 1);
  detail::expect_at_least("first_epoch", options.first_epoch, 1);
  detail::expect_at_least("first_step", options.first_step, 0);
  detail::expect_at_least("report_every", every, 0);
  std::vector<Report> reports;
  stopped_ = false;
  for (int64_t epoch = options.first_epoch; epoch <= epochs && !stopped_; ++epoch) {
    const int64_t before = epoch == options.first_epoch ? int64_t(options.first_step) : 0;
    Losses losses(*this, epochs > 1 ? detail::joined({"epoch ", std::to_string(epoch), ", "}) : "",
                  epoch, before);
    int64_t n = before;
    const auto report = [&] {
      const double loss = losses.mean();
      reports.push_back({epoch, n, loss, lr_of(pass_.optimizer).value_or(0)});
      if (options.on_report) options.on_report(reports.back());
    };
    pass_.model.train();
    for (auto&& [x, y] : batches) {
      if (x.size(0) == 0) {
        fail(detail::joined({"Trainer: batch ", std::to_string(n + 1), " has no items"}));
      }
      Step made = step(x, y);
      losses.add(made.loss, x.size(0));
      made.epoch = epoch;
      made.step = ++n;
      if (options.on_step) options.on_step(made);
      if (every != 0 && n % every == 0) report();
      if (stopped_) break;
    }
    if (n == before) fail("Trainer: there are no batches");
    if (every == 0 || n % every != 0) report();
  }
  return reports;
}

}  // namespace v0
}  // namespace tenon
