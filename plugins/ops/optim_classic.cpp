// Steps of Rprop and ASGD, as PyTorch computes them. `skip` is found_inf, or the number 0.
#include "steps.h"

namespace tenon::ops_pack {
namespace {

using namespace steps;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

// torch.optim.Rprop: the signs of this gradient and the one before say whether the step grows. Where
// they differ, the element stays, and this gradient counts as 0 in the next step.
constinit ExpressionRef rprop{
    "_rprop(Tensor(a!) p, Tensor grad, Tensor(b!) before, Tensor(c!) size, Tensor skip, float "
    "sign_of, float less, float more, float least, float most)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    "let d = sign_of * grad\n"
    "let turn = sign(d * before)\n"
    "let s = min(max(size * where(turn > 0, more, where(turn < 0, less, 1)), least), most)\n"
    "let used = where(turn < 0, 0, d)\n"
    "where(skip != 0, p, p - sign(used) * s)\n"
    "where(skip != 0, before, used)\n"
    "where(skip != 0, size, s)"};
// torch.optim.ASGD: `ax` is the average of the parameter, `eta` the rate and `mu` the weight of this
// step.
constinit ExpressionRef asgd{
    "_asgd(Tensor(a!) p, Tensor grad, Tensor(b!) ax, Tensor skip, Tensor eta, Tensor mu, float "
    "sign, dynamic float decay, float lambd) -> (Tensor(a!), Tensor(b!))",
    "let d = sign * grad + decay * p\n"
    "let q = (1 - lambd * eta) * p - eta * d\n"
    "where(skip != 0, p, q)\n"
    "where(skip != 0, ax, where(mu == 1, q, ax + (q - ax) * mu))"};
constinit ExpressionRef asgd_next_{
    "_asgd_next_(Tensor(a!) eta, Tensor(b!) mu, Tensor step, Tensor skip, dynamic float lr, float "
    "lambd, float alpha, float t0) -> (Tensor(a!), Tensor(b!))",
    "where(skip != 0, eta, lr / pow(1 + lambd * lr * step, alpha))\n"
    "where(skip != 0, mu, 1 / max(1.0, step - t0))"};

void rprop_all(Tensors params, Tensors grads, Tensors before, Tensors sizes, Tensors counts,
               double less, double more, double least, double most, bool maximize,
               Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "rprop_step";
  expect_lists(op, params, {{"grad", grads}, {"prev", before}, {"step_size", sizes}}, found_inf);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  step_each(op, params.size(), [&](uint32_t i) {
    count_up(op, counts[i], skip, float32);
    prim::elementwise<Three>(rprop, params[i], grads[i], before[i], sizes[i], skip,
                             maximize ? -1.0 : 1.0, less, more, least, most);
  });
}

void asgd_all(Tensors params, Tensors grads, Tensors axs, Tensors etas, Tensors mus, Tensors counts,
              Operand lr, double lambd, double alpha, double t0, Operand decay, bool maximize,
              Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "asgd_step";
  expect_lists(op, params, {{"grad", grads}, {"ax", axs}}, found_inf);
  expect_ones(op, "eta", etas, params);
  expect_ones(op, "mu", mus, params);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i], eta = scalar(op, "eta", etas[i]), mu = scalar(op, "mu", mus[i]);
    // In the precision of the parameter, which operands of one element do not decide.
    const bool is_double = p.dtype() == float64;
    prim::elementwise<Two>(asgd, p, grads[i], axs[i], skip, is_double ? eta.to(float64) : eta,
                           is_double ? mu.to(float64) : mu, maximize ? -1.0 : 1.0, decay, lambd);
    // Computed in float64, as PyTorch does on the host.
    const Tensor count = count_up(op, counts[i], skip, float64);
    prim::elementwise<Two>(asgd_next_, eta, mu, count, skip, lr, lambd, alpha, t0);
  });
}

}  // namespace

void optim_classic() {
  op("_begin_at_(Tensor(a!) x, Tensor step, dynamic float lr) -> Tensor(a!)",
     "where(step == 0, lr, x)")
      .no_gradient();
  op("rprop_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] prevs, Tensor(c!)[] step_sizes, "
     "Tensor(d!)[] steps, float etaminus=0.5, float etaplus=1.2, float step_size_min=1e-6, float "
     "step_size_max=50, bool maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Rprop (Riedmiller & Braun, 1993, as PyTorch has it): step_sizes grow by "
          "etaplus where the gradient has the sign that it had before, prevs, and shrink by "
          "etaminus where it has another, between step_size_min and step_size_max; p -= sign(g) * "
          "step_size, but where the sign is another. steps, of one element each, go up by 1. "
          "Nothing changes where found_inf is not 0.")
      .no_gradient()
      .meaning(rprop_all);
  op("asgd_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] axs, Tensor(c!)[] etas, "
     "Tensor(d!)[] mus, Tensor(e!)[] steps, dynamic float lr, float lambd=1e-4, float alpha=0.75, "
     "float t0=1e6, dynamic float weight_decay=0, bool maximize=False, Tensor? found_inf=None) -> "
     "()")
      .doc(
          "A step of averaged SGD (Polyak & Juditsky, 1992, as PyTorch has it): p = p - eta * "
          "lambd * p - eta * (g + weight_decay * p); ax += mu * (p - ax). etas, mus and steps, of "
          "one element each, are then those of the next step: step + 1, lr / (1 + lambd * lr * "
          "step)^alpha, and 1 / max(1, step - t0). Nothing changes where found_inf is not 0.")
      .no_gradient()
      .meaning(asgd_all);
}

}  // namespace tenon::ops_pack
