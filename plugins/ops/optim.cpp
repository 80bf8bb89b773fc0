// Steps of optimizers on lists: for each parameter one program with several outputs, all in place.
// A backend that has a kernel for the op fuses it over all parameters. `skip` is found_inf, or the
// number 0.
#include "steps.h"

namespace tenon::ops_pack {
namespace {

using namespace steps;

// PyTorch's torch.optim.SGD: d = ±g + weight_decay p; buffer = d at first, else momentum buffer +
// (1 - dampening) d.
constinit ExpressionRef sgd_plain{
    "_sgd(Tensor(a!) p, Tensor grad, Tensor skip, dynamic float lr, float sign, dynamic float "
    "decay) "
    "-> Tensor(a!)",
    "where(skip != 0, p, p - lr * (sign * grad + decay * p))"};
constinit ExpressionRef sgd_momentum{
    "_sgd_momentum(Tensor(a!) p, Tensor grad, Tensor(b!) buffer, Tensor skip, dynamic float lr, "
    "float sign, dynamic float decay,"
    " dynamic float old, float fresh, dynamic float ahead, float own) -> (Tensor(a!), Tensor(b!))",
    "let d = sign * grad + decay * p\n"
    "let b = old * buffer + fresh * d\n"
    "where(skip != 0, p, p - lr * (own * d + ahead * b))\n"
    "where(skip != 0, buffer, b)"};
// Kingma & Ba, algorithm 1, in the order of PyTorch's torch.optim.Adam; `apart` is the decay of
// AdamW, which shrinks the parameter.
constinit ExpressionRef adam{
    "_adam(Tensor(a!) p, Tensor grad, Tensor(b!) average, Tensor(c!) square_average, Tensor skip, "
    "Tensor size, Tensor root, float sign, dynamic float decay, dynamic float apart, "
    "dynamic float lr, dynamic float beta1, dynamic float beta2, float eps)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign * grad + decay * p\n"
    "let m = beta1 * average + (1 - beta1) * d\n"
    "let v = beta2 * square_average + (1 - beta2) * d * d\n"
    "where(skip != 0, p, (1 - lr * apart) * p - size * m / (sqrt(v) / root + eps))\n"
    "where(skip != 0, average, m)\n"
    "where(skip != 0, square_average, v)"};
// Duchi et al., 2011, as PyTorch's torch.optim.Adagrad.
constinit ExpressionRef adagrad_rate{
    "_adagrad_rate(Tensor step, dynamic float lr, float lr_decay) -> Tensor",
    "lr / (1 + (step - 1) * lr_decay)"};
constinit ExpressionRef adagrad{
    "_adagrad(Tensor(a!) p, Tensor grad, Tensor(b!) total, Tensor skip, Tensor rate, float sign, "
    "dynamic float decay, float eps) -> (Tensor(a!), Tensor(b!))",
    "let d = sign * grad + decay * p\n"
    "let s = total + d * d\n"
    "where(skip != 0, p, p - rate * d / (sqrt(s) + eps))\n"
    "where(skip != 0, total, s)"};
// What is added to rows of the parameter and of its state, from these rows and those of the gradient.
constinit ExpressionRef adagrad_rows{
    "_adagrad_rows(Tensor grad, Tensor total, Tensor skip, Tensor rate, float sign, float eps)"
    " -> (Tensor, Tensor)",
    "let d = sign * grad\n"
    "where(skip != 0, 0, -rate * d / (sqrt(total + d * d) + eps))\n"
    "where(skip != 0, 0, d * d)"};
// PyTorch's torch.optim.SparseAdam; `size` is lr sqrt(1 - beta2^step) / (1 - beta1^step).
constinit ExpressionRef sparse_adam{
    "_sparse_adam(Tensor grad, Tensor average, Tensor square_average, Tensor skip, Tensor size, "
    "float sign, dynamic float beta1, dynamic float beta2, float eps) -> (Tensor, Tensor, Tensor)",
    "let d = sign * grad\n"
    "let m = (1 - beta1) * (d - average)\n"
    "let v = (1 - beta2) * (d * d - square_average)\n"
    "where(skip != 0, 0, -size * (average + m) / (sqrt(square_average + v) + eps))\n"
    "where(skip != 0, 0, m)\n"
    "where(skip != 0, 0, v)"};
// torch.amp.GradScaler: grows after `interval` steps without an inf.
constinit ExpressionRef may_grow{"_may_grow(Tensor good_steps, int interval) -> Tensor",
                                 "good_steps + 1 == interval"};
constinit ExpressionRef is_set{"_is_set(Tensor found) -> Tensor", "found != 0"};
constinit ExpressionRef next_scale_{
    "_next_scale_(Tensor(a!) scale, Tensor skips, Tensor grows, float growth, float backoff)"
    " -> Tensor(a!)",
    "let grown = scale * growth\n"
    "where(skips, scale * backoff, where(grows and isfinite(grown), grown, scale))"};
constinit ExpressionRef next_count_{
    "_next_count_(Tensor(a!) good_steps, Tensor skips, Tensor grows) -> Tensor(a!)",
    "where(skips or grows, 0, good_steps + 1)"};
constinit ExpressionRef scale_{"_scale_(Tensor(a!) x, Tensor factor) -> Tensor(a!)", "x * factor"};
constinit ExpressionRef not_finite{"_not_finite(Tensor x) -> Tensor",
                                   "where(isfinite(x), 0.0, 1.0)"};
// |x|^p of an element, and the root of what that adds up to.
constinit ExpressionRef size_of{"_size_of(Tensor x) -> Tensor", "abs(x)"};
constinit ExpressionRef power_of{"_power_of(Tensor x, float p) -> Tensor", "pow(abs(x), p)"};
constinit ExpressionRef sum_{"_sum_(Tensor(a!) total, Tensor x) -> Tensor(a!)", "total + x"};
constinit ExpressionRef root_of{"_root_of(Tensor x, float p) -> Tensor", "pow(x, 1 / p)"};
// torch.nn.utils.clip_grad_norm_, with its 1e-6.
constinit ExpressionRef clipping{"_clipping(Tensor norm, float most) -> Tensor",
                                 "min(most / (norm + 1e-6), 1.0)"};
constinit ExpressionRef note_{"_note_(Tensor(a!) found, Tensor x) -> Tensor(a!)", "max(found, x)"};

void expect_sgd_lists(Tensors params, Tensors grads, Tensors buffers, bool has_momentum) {
  expect_as_many("sgd_step", "grads", grads.size(), params.size());
  expect_floats("sgd_step", "param", params);
  if (!has_momentum) return;
  expect_as_many("sgd_step", "momentum_buffers", buffers.size(), params.size());
  expect_floats("sgd_step", "momentum buffer", buffers);
}

// Steps make no tensors. What they infer is whether their meaning would take the call: a kernel then
// need not ask it each time.
using Nothing = std::vector<Meta>;

Nothing infer_sgd(Tensors params, Tensors grads, Tensors buffers, double, double momentum, double,
                  double, bool, bool, bool, Tensor found_inf) {
  expect_sgd_lists(params, grads, buffers, momentum != 0);
  expect_one("sgd_step", "found_inf", found_inf);
  for (uint32_t i = 0; i < params.size(); ++i) {
    expect_alike("sgd_step", "grad", i, params[i], grads[i]);
    if (momentum != 0) expect_alike("sgd_step", "momentum buffer", i, params[i], buffers[i]);
  }
  return {};
}

void sgd(Tensors params, Tensors grads, Tensors buffers, Operand lr, Operand momentum,
         double dampening, Operand weight_decay, bool nesterov, bool maximize, bool first,
         Tensor found_inf) {
  NoGrad guard;
  const bool has_momentum = is_there(momentum);
  expect_sgd_lists(params, grads, buffers, has_momentum);
  const double sign = maximize ? -1 : 1;
  const Operand zero = 0.0, one = 1.0;
  found_inf = scalar("sgd_step", "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  step_each("sgd_step", params.size(), [&](uint32_t i) {
    Tensor p = params[i], grad = grads[i];
    expect_alike("sgd_step", "grad", i, p, grad);
    if (!has_momentum) {
      prim::elementwise(sgd_plain, p, grad, skip, lr, sign, weight_decay);
      return;
    }
    Tensor buffer = buffers[i];
    expect_alike("sgd_step", "momentum buffer", i, p, buffer);
    prim::elementwise<std::tuple<Tensor, Tensor>>(
        sgd_momentum, p, grad, buffer, skip, lr, sign, weight_decay, first ? zero : momentum,
        first ? 1.0 : 1 - dampening, nesterov ? momentum : one, nesterov ? 1.0 : 0.0);
  });
}

void expect_adam_lists(Tensors params, Tensors grads, Tensors averages, Tensors square_averages,
                       int64_t step, Tensors steps) {
  const char* const op = "adam_step";
  expect_as_many(op, "grads", grads.size(), params.size());
  expect_as_many(op, "exp_avgs", averages.size(), params.size());
  expect_as_many(op, "exp_avg_sqs", square_averages.size(), params.size());
  if (steps.size() > 0) expect_as_many(op, "steps", steps.size(), params.size());
  expect_floats(op, "param", params);
  expect_floats(op, "exp_avg", averages);
  expect_floats(op, "exp_avg_sq", square_averages);
  expect_floats(op, "step", steps);
  if (step < 1) fail("adam_step: step is " + std::to_string(step) + "; it counts from 1");
}

Nothing infer_adam(Tensors params, Tensors grads, Tensors averages, Tensors square_averages, double,
                   int64_t step, double, double, double, double, bool, bool, Tensor found_inf,
                   Tensors steps) {
  const char* const op = "adam_step";
  expect_adam_lists(params, grads, averages, square_averages, steps.size() > 0 ? 1 : step, steps);
  expect_one(op, "found_inf", found_inf);
  for (uint32_t i = 0; i < params.size(); ++i) {
    expect_alike(op, "grad", i, params[i], grads[i]);
    expect_alike(op, "exp_avg", i, params[i], averages[i]);
    expect_alike(op, "exp_avg_sq", i, params[i], square_averages[i]);
    if (steps.size() > 0) expect_one(op, "a count of steps", steps[i]);
  }
  return {};
}

void adam_all(Tensors params, Tensors grads, Tensors averages, Tensors square_averages, Operand lr,
              Operand step, Operand beta1, Operand beta2, double eps, Operand weight_decay,
              bool decoupled, bool maximize, Tensor found_inf, Tensors steps) {
  NoGrad guard;
  const char* const op = "adam_step";
  const bool counts = steps.size() > 0;
  const auto n_steps = counts ? 1 : int64_t(number_of(step));
  expect_adam_lists(params, grads, averages, square_averages, n_steps, steps);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  Corrections corrections(lr, beta1, beta2);
  step_each(op, params.size(), [&](uint32_t i) {
    Tensor p = params[i], grad = grads[i], m = averages[i], v = square_averages[i];
    expect_alike(op, "grad", i, p, grad);
    expect_alike(op, "exp_avg", i, p, m);
    expect_alike(op, "exp_avg_sq", i, p, v);
    const auto update = [&](const Operand& size, const Operand& root) {
      prim::elementwise<std::tuple<Tensor, Tensor, Tensor>>(
          adam, p, grad, m, v, skip, size, root, maximize ? -1.0 : 1.0,
          decoupled ? Operand(0.0) : weight_decay, decoupled ? weight_decay : Operand(0.0), lr,
          beta1, beta2, eps);
    };
    if (counts) {
      const Tensor count = scalar(op, "a count of steps", steps[i]);
      prim::elementwise(count_, count, skip);
      const auto [size, root] = corrections.of(count, p.dtype());
      update(size, root);
    } else {
      const auto [size, root] = corrections.of(n_steps);
      update(size, root);
    }
  });
}

void expect_adagrad_lists(Tensors params, Tensors grads, Tensors sums, Tensors steps) {
  const char* const op = "adagrad_step";
  expect_as_many(op, "grads", grads.size(), params.size());
  expect_as_many(op, "sums", sums.size(), params.size());
  expect_as_many(op, "steps", steps.size(), params.size());
  expect_floats(op, "param", params);
  expect_floats(op, "sum", sums);
}

Nothing infer_adagrad(Tensors params, Tensors grads, Tensors sums, Tensors steps, double, double,
                      double, double, bool, Tensor found_inf) {
  const char* const op = "adagrad_step";
  expect_adagrad_lists(params, grads, sums, steps);
  expect_one(op, "found_inf", found_inf);
  expect_floats(op, "step", steps);
  for (uint32_t i = 0; i < params.size(); ++i) {
    expect_alike(op, "grad", i, params[i], grads[i]);
    expect_alike(op, "sum", i, params[i], sums[i]);
    expect_one(op, "a count of steps", steps[i]);
  }
  return {};
}

void adagrad_all(Tensors params, Tensors grads, Tensors sums, Tensors steps, Operand lr,
                 double lr_decay, Operand weight_decay, double eps, bool maximize,
                 Tensor found_inf) {
  NoGrad guard;
  const char* const op = "adagrad_step";
  expect_adagrad_lists(params, grads, sums, steps);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  step_each(op, params.size(), [&](uint32_t i) {
    Tensor p = params[i], grad = grads[i], total = sums[i];
    expect_alike(op, "grad", i, p, grad);
    expect_alike(op, "sum", i, p, total);
    const Tensor count = count_up(op, steps[i], skip, p.dtype());
    prim::elementwise<std::tuple<Tensor, Tensor>>(
        adagrad, p, grad, total, skip, prim::elementwise(adagrad_rate, count, lr, lr_decay),
        maximize ? -1.0 : 1.0, weight_decay, eps);
  });
}

// The rows of a gradient, each index once; refuses what is no gradient of p.
std::tuple<Tensor, Tensor> rows_of(const char* op, const Tensor& p, const Tensor& indices,
                                   const Tensor& values) {
  expect_floats(op, "param", Tensors(&p, 1));
  Sizes sizes = sizes_of(p);
  if (!sizes.empty()) sizes[0] = indices.numel();
  if (p.dim() == 0 || sizes_of(values) != sizes) {
    fail(std::string(op) + ": values are " + sizes_text(values.sizes()) + " at indices " +
         sizes_text(indices.sizes()) + ", its param " + sizes_text(p.sizes()));
  }
  return coalesce_rows(indices, values);
}

// Adds to the rows of the state of a param, and at last to its own.
void add_to_rows(const char* op, const Tensor& at, Tensors all, Tensors changes) {
  step_each(
      op, all.size(), [&](uint32_t i) { add_rows_(all[i], at, changes[i]); }, "of state and param");
}

void adagrad_rows_of(Tensor p, Tensor total, Tensor step, Tensor indices, Tensor values, Operand lr,
                     double lr_decay, double eps, bool maximize, Tensor found_inf) {
  NoGrad guard;
  const char* const op = "adagrad_rows_step";
  expect_alike(op, "sum", 0, p, total);
  expect_floats(op, "sum", Tensors(&total, 1));
  const auto [at, grad] = rows_of(op, p, indices, values);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  const Tensor total_rows = index_select(total, 0, at);  // refuses a wrong index before the count
  const Tensor count = count_up(op, step, skip, p.dtype());
  const auto [change, squares] = prim::elementwise<std::tuple<Tensor, Tensor>>(
      adagrad_rows, grad, total_rows, skip, prim::elementwise(adagrad_rate, count, lr, lr_decay),
      maximize ? -1.0 : 1.0, eps);
  add_to_rows(op, at, {total, p}, {squares, change});
}

void sparse_adam_of(Tensor p, Tensor average, Tensor square_average, Tensor step, Tensor indices,
                    Tensor values, Operand lr, Operand beta1, Operand beta2, double eps,
                    bool maximize, Tensor found_inf) {
  NoGrad guard;
  const char* const op = "sparse_adam_step";
  expect_alike(op, "exp_avg", 0, p, average);
  expect_alike(op, "exp_avg_sq", 0, p, square_average);
  const auto [at, grad] = rows_of(op, p, indices, values);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  // These refuse a wrong index before the count.
  const Tensor average_rows = index_select(average, 0, at),
               square_rows = index_select(square_average, 0, at);
  const Tensor count = count_up(op, step, skip, p.dtype());
  const auto [rate, root] = Corrections(lr, beta1, beta2).of(count, p.dtype());
  const auto [change, m, v] = prim::elementwise<std::tuple<Tensor, Tensor, Tensor>>(
      sparse_adam, grad, average_rows, square_rows, skip, mul(rate, root), maximize ? -1.0 : 1.0,
      beta1, beta2, eps);
  add_to_rows(op, at, {average, square_average, p}, {m, v, change});
}

Nothing infer_update_scale(Tensor scale, Tensor good_steps, Tensor found_inf, double, double,
                           int64_t) {
  const char* const op = "update_scale_";
  expect_floats(op, "scale", Tensors(&scale, 1));
  if (good_steps.dtype() != int64)
    fail(std::string(op) + ": good_steps is " + good_steps.dtype().name() + ", expected int64");
  expect_one(op, "scale", scale);
  expect_one(op, "good_steps", good_steps);
  expect_one(op, "found_inf", found_inf);
  return {};
}

void update_scale(Tensor scale, Tensor good_steps, Tensor found_inf, double growth_factor,
                  double backoff_factor, int64_t growth_interval) {
  NoGrad guard;
  infer_update_scale(scale, good_steps, found_inf, growth_factor, backoff_factor, growth_interval);
  found_inf = scalar("update_scale_", "found_inf", found_inf);
  const Tensor grows = prim::elementwise(may_grow, good_steps, growth_interval);
  const Tensor skips = prim::elementwise(is_set, found_inf);
  prim::elementwise(next_scale_, scale, skips, grows, growth_factor, backoff_factor);
  prim::elementwise(next_count_, good_steps, skips, grows);
}

Nothing infer_unscale(Tensors grads, Tensor found_inf, Tensor inv_scale) {
  expect_one("unscale_", "inv_scale", inv_scale);
  expect_one("unscale_", "found_inf", found_inf);
  expect_floats("unscale_", "grad", grads);
  expect_floats("unscale_", "found_inf", Tensors(&found_inf, 1));
  return {};
}

void unscale(Tensors grads, Tensor found_inf, Tensor inv_scale) {
  NoGrad guard;
  infer_unscale(grads, found_inf, inv_scale);
  inv_scale = scalar("unscale_", "inv_scale", inv_scale);
  for (uint32_t i = 0; i < grads.size(); ++i) {
    Tensor grad = grads[i];
    if (grad.numel() == 0) continue;
    prim::elementwise(note_, found_inf,
                      prim::reduce(TN_REDUCE_MAX, Tensors(&grad, 1), {}, false, not_finite));
    prim::elementwise(scale_, grad, inv_scale);
  }
}

// In float32 at least, on the first gradient's device; all are there.
Meta norm_meta(Tensors grads) {
  Dtype dtype = float32;
  for (uint32_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined() && grads[i].dtype() == float64) dtype = float64;
  }
  return Meta(Sizes(), dtype, grads.size() == 0 ? Device() : grads[0].device());
}

Tensor norm_of(const std::vector<Tensor>& grads, const Meta& meta, double p) {
  Tensor total = prim::fill({}, 0, Dtype{meta.dtype}, Device(meta.device));
  for (const Tensor& grad : grads) {
    if (grad.numel() == 0) continue;
    Tensor x = wide(grad);
    if (std::isinf(p)) {
      prim::elementwise(note_, total,
                        prim::reduce(TN_REDUCE_MAX, Tensors(&x, 1), {}, false, size_of));
    } else if (p == 2) {
      prim::elementwise(sum_, total,
                        prim::reduce(TN_REDUCE_SUM, Tensors(&x, 1), {}, false, square_of));
    } else {
      prim::elementwise(sum_, total,
                        prim::reduce(TN_REDUCE_SUM, Tensors(&x, 1), {}, false, power_of, p));
    }
  }
  return std::isinf(p) ? total : prim::elementwise(root_of, total, p);
}

Tensor clip_grad_norm(Tensors list, double max_norm, double norm_type) {
  NoGrad guard;
  const char* op = "clip_grad_norm_";
  if (!(max_norm >= 0))
    fail(std::string(op) + ": max_norm is " + number_text(max_norm) + ", expected 0 or more");
  if (!(norm_type > 0))
    fail(std::string(op) + ": norm_type is " + number_text(norm_type) + ", expected more than 0");
  expect_floats(op, "grad", list);
  std::vector<Tensor> grads = list.to_vector();
  Tensor norm = norm_of(grads, norm_meta(list), norm_type);
  Tensor factor = prim::elementwise(clipping, norm, max_norm);
  for (const Tensor& grad : grads) prim::elementwise(scale_, grad, factor);
  return norm;
}

void add_steps() {
  op("sgd_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] momentum_buffers, dynamic float "
     "lr, dynamic float momentum=0, float dampening=0, dynamic float weight_decay=0, bool "
     "nesterov=False, "
     "bool maximize=False, bool first=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of SGD: g += weight_decay * p; buffer = momentum * buffer + (1 - dampening) * g, "
          "at first g itself; p -= lr * (buffer, or with nesterov g + momentum * buffer, or "
          "without momentum g). A momentum in a tensor is not 0 there. Nothing changes where "
          "found_inf is not 0.")
      .no_gradient()
      .infer(infer_sgd)
      .meaning(sgd);
  op("adam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
     "exp_avg_sqs, dynamic float lr, dynamic int step, dynamic float beta1=0.9, dynamic float "
     "beta2=0.999, float eps=1e-8, dynamic float weight_decay=0, bool decoupled=False, bool "
     "maximize=False, Tensor? found_inf=None, Tensor(d!)[] steps=[]) -> ()")
      .doc(
          "A step of Adam (Kingma & Ba, arXiv:1412.6980); decoupled: of AdamW (arXiv:1711.05101). "
          "step counts from 1. steps: instead of it a count for each param, of one element, float, "
          "on its device, which goes up by 1 first. Nothing changes where found_inf is not 0.")
      .no_gradient()
      .infer(infer_adam)
      .meaning(adam_all);
  op("adagrad_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] sums, Tensor(c!)[] steps, "
     "dynamic float lr, float lr_decay=0, dynamic float weight_decay=0, float eps=1e-10, bool "
     "maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Adagrad (Duchi et al., JMLR 12, 2011): g += weight_decay * p; sum += g * g; p "
          "-= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum) + eps). steps: of each param, of "
          "one element, float; they go up by 1 first. Nothing changes where found_inf is not 0.")
      .no_gradient()
      .infer(infer_adagrad)
      .meaning(adagrad_all);
  op("adagrad_rows_step(Tensor(a!) param, Tensor(b!) sum, Tensor(c!) step, Tensor indices, Tensor "
     "values, dynamic float lr, float lr_decay=0, float eps=1e-10, bool maximize=False, Tensor? "
     "found_inf=None) -> ()")
      .doc(
          "adagrad_step with a row-sparse gradient, of rows values at indices: changes these rows "
          "alone. Waits for the device.")
      .no_gradient()
      .meaning(adagrad_rows_of);
  op("sparse_adam_step(Tensor(a!) param, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, Tensor(d!) "
     "step, Tensor indices, Tensor values, dynamic float lr, dynamic float beta1=0.9, dynamic "
     "float beta2=0.999, float eps=1e-8, bool maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Adam (Kingma & Ba, arXiv:1412.6980) for the rows of a row-sparse gradient, "
          "values at indices: other rows of the parameter and of its averages stay (PyTorch's "
          "SparseAdam). step, of one element, float, goes up by 1 first. Nothing changes where "
          "found_inf is not 0. Waits for the device.")
      .no_gradient()
      .meaning(sparse_adam_of);
}

// What comes between backward and a step.
void add_scaling() {
  op("update_scale_(Tensor(a!) scale, Tensor(b!) good_steps, Tensor found_inf, float "
     "growth_factor=2, float backoff_factor=0.5, int growth_interval=2000) -> ()")
      .doc(
          "The scale of losses (PyTorch's GradScaler): shrinks by backoff_factor where found_inf "
          "is not 0, grows by growth_factor after growth_interval good steps, if it stays finite. "
          "All of one element; good_steps is int64.")
      .no_gradient()
      .infer(infer_update_scale)
      .meaning(update_scale);
  op("unscale_(Tensor(a!)[] grads, Tensor(b!) found_inf, Tensor inv_scale) -> ()")
      .doc(
          "Multiplies grads by inv_scale; found_inf (float32, one element) becomes 1 where any of "
          "them holds an inf or NaN.")
      .no_gradient()
      .infer(infer_unscale)
      .meaning(unscale);
  op("clip_grad_norm_(Tensor(a!)[] grads, float max_norm, float norm_type=2) -> Tensor")
      .doc(
          "Multiplies grads by min(1, max_norm / norm), where norm, the result, is that of all "
          "their elements as one vector: the norm_type-th root, or the greatest for infinity.")
      .no_gradient()
      .infer([](Tensors grads, double, double) { return norm_meta(grads); })
      .meaning(clip_grad_norm);
}

}  // namespace

void optim() {
  add_steps();
  optim_adaptive();
  optim_norms();
  optim_classic();
  add_scaling();
}

}  // namespace tenon::ops_pack
