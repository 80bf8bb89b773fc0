// Steps of optimizers that give each element a rate of its own, as PyTorch computes them, and of
// Lion. `skip` is found_inf, or the number 0.
#include "steps.h"

namespace tenon::ops_pack {
namespace {

using namespace steps;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// torch.optim.RMSprop: s is the average of the squares; centered: without the square of the average.
constinit ExpressionRef rmsprop{
    "_rmsprop(Tensor(a!) p, Tensor grad, Tensor(b!) square_average, Tensor skip, dynamic float lr, "
    "float sign, dynamic float decay, float alpha, float eps) -> (Tensor(a!), Tensor(b!))",
    "let d = sign * grad + decay * p\n"
    "let s = alpha * square_average + (1 - alpha) * d * d\n"
    "where(skip != 0, p, p - lr * d / (sqrt(s) + eps))\n"
    "where(skip != 0, square_average, s)"};
constinit ExpressionRef rmsprop_momentum{
    "_rmsprop_momentum(Tensor(a!) p, Tensor grad, Tensor(b!) square_average, Tensor(c!) buffer, "
    "Tensor skip, dynamic float lr, float sign, dynamic float decay, float alpha, float eps, "
    "dynamic float momentum) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign * grad + decay * p\n"
    "let s = alpha * square_average + (1 - alpha) * d * d\n"
    "let b = momentum * buffer + d / (sqrt(s) + eps)\n"
    "where(skip != 0, p, p - lr * b)\n"
    "where(skip != 0, square_average, s)\n"
    "where(skip != 0, buffer, b)"};
constinit ExpressionRef rmsprop_centered{
    "_rmsprop_centered(Tensor(a!) p, Tensor grad, Tensor(b!) square_average, Tensor(c!) average, "
    "Tensor skip, dynamic float lr, float sign, dynamic float decay, float alpha, float eps)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign * grad + decay * p\n"
    "let s = alpha * square_average + (1 - alpha) * d * d\n"
    "let a = average + (1 - alpha) * (d - average)\n"
    "where(skip != 0, p, p - lr * d / (sqrt(s - a * a) + eps))\n"
    "where(skip != 0, square_average, s)\n"
    "where(skip != 0, average, a)"};
constinit ExpressionRef rmsprop_centered_momentum{
    "_rmsprop_centered_momentum(Tensor(a!) p, Tensor grad, Tensor(b!) square_average, Tensor(c!) "
    "average, Tensor(d!) buffer, Tensor skip, dynamic float lr, float sign, dynamic float decay, "
    "float alpha, float eps, dynamic float momentum) -> (Tensor(a!), Tensor(b!), Tensor(c!), "
    "Tensor(d!))",
    "let d = sign * grad + decay * p\n"
    "let s = alpha * square_average + (1 - alpha) * d * d\n"
    "let a = average + (1 - alpha) * (d - average)\n"
    "let b = momentum * buffer + d / (sqrt(s - a * a) + eps)\n"
    "where(skip != 0, p, p - lr * b)\n"
    "where(skip != 0, square_average, s)\n"
    "where(skip != 0, average, a)\n"
    "where(skip != 0, buffer, b)"};
// torch.optim.Adadelta; u is the step of rate 1.
constinit ExpressionRef adadelta{
    "_adadelta(Tensor(a!) p, Tensor grad, Tensor(b!) square_average, Tensor(c!) delta, Tensor "
    "skip, "
    "dynamic float lr, float sign, dynamic float decay, float rho, float eps)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign * grad + decay * p\n"
    "let s = rho * square_average + (1 - rho) * d * d\n"
    "let u = sqrt(delta + eps) / sqrt(s + eps) * d\n"
    "where(skip != 0, p, p - lr * u)\n"
    "where(skip != 0, square_average, s)\n"
    "where(skip != 0, delta, rho * delta + (1 - rho) * u * u)"};
// torch.optim.Adamax; `size` is lr / (1 - beta1^step).
constinit ExpressionRef adamax{
    "_adamax(Tensor(a!) p, Tensor grad, Tensor(b!) average, Tensor(c!) norm, Tensor skip, Tensor "
    "size, float sign, dynamic float decay, dynamic float beta1, dynamic float beta2, float eps)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign * grad + decay * p\n"
    "let m = average + (1 - beta1) * (d - average)\n"
    "let n = max(beta2 * norm, abs(d) + eps)\n"
    "where(skip != 0, p, p - size * m / n)\n"
    "where(skip != 0, average, m)\n"
    "where(skip != 0, norm, n)"};
// torch.optim.NAdam: the product of all mu up to now, and what follows from it for the gradient
// (`now`) and for the average, which is looked at one step ahead.
constinit ExpressionRef nadam_product_{
    "_nadam_product_(Tensor(a!) product, Tensor step, Tensor skip, dynamic float beta1, float "
    "momentum_decay) -> Tensor(a!)",
    "where(skip != 0, product, product * beta1 * (1 - 0.5 * pow(0.96, step * momentum_decay)))"};
constinit ExpressionRef nadam_rates{
    "_nadam_rates(Tensor step, Tensor product, dynamic float lr, dynamic float beta1, dynamic "
    "float "
    "log_beta2, float momentum_decay) -> (Tensor, Tensor, Tensor)",
    "let mu = beta1 * (1 - 0.5 * pow(0.96, step * momentum_decay))\n"
    "let next = beta1 * (1 - 0.5 * pow(0.96, (step + 1) * momentum_decay))\n"
    "lr * (1 - mu) / (1 - product)\n"
    "lr * next / (1 - product * next)\n"
    "sqrt(-expm1(step * log_beta2))"};
constinit ExpressionRef nadam{
    "_nadam(Tensor(a!) p, Tensor grad, Tensor(b!) average, Tensor(c!) square_average, Tensor skip, "
    "Tensor now, Tensor ahead, Tensor root, float sign, dynamic float decay, dynamic float apart, "
    "dynamic float lr, dynamic float beta1, dynamic float beta2, float eps)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign * grad + decay * p\n"
    "let m = average + (1 - beta1) * (d - average)\n"
    "let v = beta2 * square_average + (1 - beta2) * d * d\n"
    "let s = sqrt(v) / root + eps\n"
    "where(skip != 0, p, (1 - lr * apart) * p - now * d / s - ahead * m / s)\n"
    "where(skip != 0, average, m)\n"
    "where(skip != 0, square_average, v)"};
// torch.optim.RAdam: `rect` rectifies the rate that the squares give, and is 0 in the first steps,
// which go by the average alone.
constinit ExpressionRef radam_rates{
    "_radam_rates(Tensor step, dynamic float lr, dynamic float log_beta1, dynamic float log_beta2)"
    " -> (Tensor, Tensor)",
    "let c = -expm1(step * log_beta2)\n"
    "let most = -2 / expm1(log_beta2) - 1\n"
    "let rho = most - 2 * step * (1 - c) / c\n"
    "lr / -expm1(step * log_beta1)\n"
    "where(rho > 5, sqrt(c * (rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)), 0)"};
constinit ExpressionRef radam{
    "_radam(Tensor(a!) p, Tensor grad, Tensor(b!) average, Tensor(c!) square_average, Tensor skip, "
    "Tensor size, Tensor rect, float sign, dynamic float decay, dynamic float apart, dynamic float "
    "lr, dynamic float beta1, dynamic float beta2, float eps)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign * grad + decay * p\n"
    "let m = average + (1 - beta1) * (d - average)\n"
    "let v = beta2 * square_average + (1 - beta2) * d * d\n"
    "let rate = size * where(rect > 0, rect / (sqrt(v) + eps), 1)\n"
    "where(skip != 0, p, (1 - lr * apart) * p - rate * m)\n"
    "where(skip != 0, average, m)\n"
    "where(skip != 0, square_average, v)"};
// Chen et al., arXiv:2302.06675, program 1.
constinit ExpressionRef lion{
    "_lion(Tensor(a!) p, Tensor grad, Tensor(b!) average, Tensor skip, dynamic float lr, float "
    "sign_of, dynamic float decay, dynamic float beta1, dynamic float beta2)"
    " -> (Tensor(a!), Tensor(b!))",
    "let d = sign_of * grad\n"
    "where(skip != 0, p, (1 - lr * decay) * p - lr * sign(beta1 * average + (1 - beta1) * d))\n"
    "where(skip != 0, average, beta2 * average + (1 - beta2) * d)"};

// torch.optim.Adam with amsgrad: the greatest of all averages of squares stands for the last.
constinit ExpressionRef amsgrad{
    "_amsgrad(Tensor(a!) p, Tensor grad, Tensor(b!) average, Tensor(c!) square_average, Tensor(d!) "
    "greatest, Tensor skip, Tensor size, Tensor root, float sign, dynamic float decay, dynamic "
    "float apart, dynamic float lr, dynamic float beta1, dynamic float beta2, float eps)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!), Tensor(d!))",
    "let d = sign * grad + decay * p\n"
    "let m = beta1 * average + (1 - beta1) * d\n"
    "let v = beta2 * square_average + (1 - beta2) * d * d\n"
    "let most = max(greatest, v)\n"
    "where(skip != 0, p, (1 - lr * apart) * p - size * m / (sqrt(most) / root + eps))\n"
    "where(skip != 0, average, m)\n"
    "where(skip != 0, square_average, v)\n"
    "where(skip != 0, greatest, most)"};

double sign_of(bool maximize) { return maximize ? -1 : 1; }

void rmsprop_all(Tensors params, Tensors grads, Tensors square_averages, Tensors averages,
                 Tensors buffers, Tensors counts, Operand lr, double alpha, double eps,
                 Operand decay, Operand momentum, bool centered, bool maximize, Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "rmsprop_step";
  expect_lists(op, params, {{"grad", grads}, {"square_avg", square_averages}}, found_inf);
  if (centered) expect_lists(op, params, {{"grad_avg", averages}}, {});
  const bool has_momentum = is_there(momentum);
  if (has_momentum) expect_lists(op, params, {{"momentum_buffer", buffers}}, {});
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  const double sign = sign_of(maximize);
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i], grad = grads[i], s = square_averages[i];
    count_up(op, counts[i], skip, float32);
    if (centered && has_momentum) {
      prim::elementwise<Four>(rmsprop_centered_momentum, p, grad, s, averages[i], buffers[i], skip,
                              lr, sign, decay, alpha, eps, momentum);
    } else if (centered) {
      prim::elementwise<Three>(rmsprop_centered, p, grad, s, averages[i], skip, lr, sign, decay,
                               alpha, eps);
    } else if (has_momentum) {
      prim::elementwise<Three>(rmsprop_momentum, p, grad, s, buffers[i], skip, lr, sign, decay,
                               alpha, eps, momentum);
    } else {
      prim::elementwise<Two>(rmsprop, p, grad, s, skip, lr, sign, decay, alpha, eps);
    }
  });
}

void adadelta_all(Tensors params, Tensors grads, Tensors square_averages, Tensors deltas,
                  Tensors counts, Operand lr, double rho, double eps, Operand decay, bool maximize,
                  Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "adadelta_step";
  expect_lists(op, params,
               {{"grad", grads}, {"square_avg", square_averages}, {"acc_delta", deltas}},
               found_inf);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  step_each(op, params.size(), [&](uint32_t i) {
    count_up(op, counts[i], skip, float32);
    prim::elementwise<Three>(adadelta, params[i], grads[i], square_averages[i], deltas[i], skip, lr,
                             sign_of(maximize), decay, rho, eps);
  });
}

void adamax_all(Tensors params, Tensors grads, Tensors averages, Tensors norms, Tensors counts,
                Operand lr, Operand beta1, Operand beta2, double eps, Operand decay, bool maximize,
                Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "adamax_step";
  expect_lists(op, params, {{"grad", grads}, {"exp_avg", averages}, {"exp_inf", norms}}, found_inf);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  Corrections corrections(lr, beta1, beta2);
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i];
    const Tensor count = count_up(op, counts[i], skip, p.dtype());
    const Tensor size = std::get<0>(corrections.of(count, p.dtype()));
    prim::elementwise<Three>(adamax, p, grads[i], averages[i], norms[i], skip, size,
                             sign_of(maximize), decay, beta1, beta2, eps);
  });
}

void nadam_all(Tensors params, Tensors grads, Tensors averages, Tensors square_averages,
               Tensors products, Tensors counts, Operand lr, Operand beta1, Operand beta2,
               double eps, Operand decay, double momentum_decay, bool decoupled, bool maximize,
               Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "nadam_step";
  expect_lists(op, params,
               {{"grad", grads}, {"exp_avg", averages}, {"exp_avg_sq", square_averages}},
               found_inf);
  expect_ones(op, "mu_product", products, params);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf), zero = 0.0;
  Corrections corrections(lr, beta1, beta2);
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i];
    const Tensor count = count_up(op, counts[i], skip, p.dtype());
    Tensor product = scalar(op, "mu_product", products[i]);
    prim::elementwise(nadam_product_, product, scalar(op, "step", counts[i]), skip, beta1,
                      momentum_decay);
    if (p.dtype() == float64) product = product.to(float64);
    const auto [now, ahead, root] = prim::elementwise<Three>(
        nadam_rates, count, product, lr, beta1, corrections.log_beta2(), momentum_decay);
    prim::elementwise<Three>(nadam, p, grads[i], averages[i], square_averages[i], skip, now, ahead,
                             root, sign_of(maximize), decoupled ? zero : decay,
                             decoupled ? decay : zero, lr, beta1, beta2, eps);
  });
}

void radam_all(Tensors params, Tensors grads, Tensors averages, Tensors square_averages,
               Tensors counts, Operand lr, Operand beta1, Operand beta2, double eps, Operand decay,
               bool decoupled, bool maximize, Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "radam_step";
  expect_lists(op, params,
               {{"grad", grads}, {"exp_avg", averages}, {"exp_avg_sq", square_averages}},
               found_inf);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf), zero = 0.0;
  Corrections corrections(lr, beta1, beta2);
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i];
    // In float64: the first steps are the difference of numbers near 2000.
    const Tensor count = count_up(op, counts[i], skip, float64);
    auto [size, rect] = prim::elementwise<Two>(radam_rates, count, lr, corrections.log_beta1(),
                                               corrections.log_beta2());
    if (p.dtype() != float64) size = size.to(float32), rect = rect.to(float32);
    prim::elementwise<Three>(radam, p, grads[i], averages[i], square_averages[i], skip, size, rect,
                             sign_of(maximize), decoupled ? zero : decay, decoupled ? decay : zero,
                             lr, beta1, beta2, eps);
  });
}

void amsgrad_all(Tensors params, Tensors grads, Tensors averages, Tensors square_averages,
                 Tensors greatest, Tensors counts, Operand lr, Operand beta1, Operand beta2,
                 double eps, Operand decay, bool decoupled, bool maximize, Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "amsgrad_step";
  expect_lists(op, params,
               {{"grad", grads},
                {"exp_avg", averages},
                {"exp_avg_sq", square_averages},
                {"max_exp_avg_sq", greatest}},
               found_inf);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf), zero = 0.0;
  Corrections corrections(lr, beta1, beta2);
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i];
    const auto [size, root] = corrections.of(count_up(op, counts[i], skip, p.dtype()), p.dtype());
    prim::elementwise<Four>(amsgrad, p, grads[i], averages[i], square_averages[i], greatest[i],
                            skip, size, root, sign_of(maximize), decoupled ? zero : decay,
                            decoupled ? decay : zero, lr, beta1, beta2, eps);
  });
}

void lion_all(Tensors params, Tensors grads, Tensors averages, Operand lr, Operand beta1,
              Operand beta2, Operand decay, bool maximize, Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "lion_step";
  expect_lists(op, params, {{"grad", grads}, {"exp_avg", averages}}, found_inf);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  step_each(op, params.size(), [&](uint32_t i) {
    prim::elementwise<Two>(lion, params[i], grads[i], averages[i], skip, lr, sign_of(maximize),
                           decay, beta1, beta2);
  });
}

}  // namespace

void optim_adaptive() {
  op("rmsprop_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] square_avgs, Tensor(c!)[] "
     "grad_avgs, Tensor(d!)[] momentum_buffers, Tensor(e!)[] steps, dynamic float lr, float "
     "alpha=0.99, float eps=1e-8, dynamic float weight_decay=0, dynamic float momentum=0, bool "
     "centered=False, bool maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of RMSprop (PyTorch's): s = alpha * s + (1 - alpha) * g * g; p -= lr * g / "
          "(sqrt(s) + eps). centered: s without the square of the average of g, which grad_avgs "
          "hold. momentum: by buffer = momentum * buffer + g / (sqrt(s) + eps). steps, of one "
          "element each, go up by 1. Nothing changes where found_inf is not 0.")
      .no_gradient()
      .meaning(rmsprop_all);
  op("adadelta_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] square_avgs, Tensor(c!)[] "
     "acc_deltas, Tensor(d!)[] steps, dynamic float lr, float rho=0.9, float eps=1e-6, dynamic "
     "float weight_decay=0, bool maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Adadelta (Zeiler, arXiv:1212.5701): s = rho * s + (1 - rho) * g * g; u = "
          "sqrt(acc + eps) / sqrt(s + eps) * g; acc = rho * acc + (1 - rho) * u * u; p -= lr * u. "
          "steps, of one element each, go up by 1. Nothing changes where found_inf is not 0.")
      .no_gradient()
      .meaning(adadelta_all);
  op("adamax_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
     "exp_infs, Tensor(d!)[] steps, dynamic float lr, dynamic float beta1=0.9, dynamic float "
     "beta2=0.999, float eps=1e-8, dynamic float weight_decay=0, bool maximize=False, Tensor? "
     "found_inf=None) -> ()")
      .doc(
          "A step of Adamax (Kingma & Ba, arXiv:1412.6980, algorithm 2), with eps added to |g|. "
          "steps, of one element each, go up by 1 first. Nothing changes where found_inf is not 0.")
      .no_gradient()
      .meaning(adamax_all);
  op("nadam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
     "exp_avg_sqs, Tensor(d!)[] mu_products, Tensor(e!)[] steps, dynamic float lr, dynamic float "
     "beta1=0.9, dynamic float beta2=0.999, float eps=1e-8, dynamic float weight_decay=0, float "
     "momentum_decay=4e-3, bool decoupled=False, bool maximize=False, Tensor? found_inf=None) -> "
     "()")
      .doc(
          "A step of NAdam (Dozat, 2016, as PyTorch has it): Adam with Nesterov's momentum mu = "
          "beta1 * (1 - 0.96^(step * momentum_decay) / 2), whose product mu_products keep, from 1. "
          "decoupled: the decay shrinks p. steps, of one element each, go up by 1 first. Nothing "
          "changes where found_inf is not 0.")
      .no_gradient()
      .meaning(nadam_all);
  op("radam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
     "exp_avg_sqs, Tensor(d!)[] steps, dynamic float lr, dynamic float beta1=0.9, dynamic float "
     "beta2=0.999, float eps=1e-8, dynamic float weight_decay=0, bool decoupled=False, bool "
     "maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of RAdam (Liu et al., arXiv:1908.03265): Adam whose rate is rectified, and which "
          "goes by the average alone in its first steps. decoupled: the decay shrinks p. steps, of "
          "one element each, go up by 1 first. Nothing changes where found_inf is not 0.")
      .no_gradient()
      .meaning(radam_all);
  op("amsgrad_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
     "exp_avg_sqs, Tensor(d!)[] max_exp_avg_sqs, Tensor(e!)[] steps, dynamic float lr, dynamic "
     "float beta1=0.9, dynamic float beta2=0.999, float eps=1e-8, dynamic float weight_decay=0, "
     "bool decoupled=False, bool maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Adam with amsgrad (Reddi et al., arXiv:1904.09237, as PyTorch has it): the "
          "greatest of the averages of squares until now, max_exp_avg_sqs, stands for the last "
          "one. decoupled: of AdamW. steps, of one element each, go up by 1 first. Nothing changes "
          "where found_inf is not 0.")
      .no_gradient()
      .meaning(amsgrad_all);
  op("lion_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, dynamic float lr, "
     "dynamic float beta1=0.9, dynamic float beta2=0.99, dynamic float weight_decay=0, bool "
     "maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Lion (Chen et al., arXiv:2302.06675): p -= lr * (sign(beta1 * m + (1 - beta1) "
          "* g) + weight_decay * p); m = beta2 * m + (1 - beta2) * g. Nothing changes where "
          "found_inf is not 0.")
      .no_gradient()
      .meaning(lion_all);
}

}  // namespace tenon::ops_pack
