// Steps of optimizers whose size goes by norms of a whole parameter, or by its matrix: LAMB,
// Adafactor and Muon. `skip` is found_inf, or the number 0. Norms stay on the device.
#include "steps.h"

namespace tenon::ops_pack {
namespace {

using namespace steps;
using Two = std::tuple<Tensor, Tensor>;

// You et al., arXiv:1904.00962, algorithm 2. What is to be subtracted, before its rate: `rate` is 1 /
// (1 - beta1^step), `root` is sqrt(1 - beta2^step).
constinit ExpressionRef lamb_averages_{
    "_lamb_averages_(Tensor(a!) average, Tensor(b!) square_average, Tensor grad, Tensor skip, "
    "float "
    "sign, dynamic float beta1, dynamic float beta2) -> (Tensor(a!), Tensor(b!))",
    "let d = sign * grad\n"
    "where(skip != 0, average, beta1 * average + (1 - beta1) * d)\n"
    "where(skip != 0, square_average, beta2 * square_average + (1 - beta2) * d * d)"};
constinit ExpressionRef lamb_update{
    "_lamb_update(Tensor p, Tensor average, Tensor square_average, Tensor rate, Tensor root, "
    "dynamic "
    "float decay, float eps) -> Tensor",
    "average * rate / (sqrt(square_average) / root + eps) + decay * p"};
// From the sums of squares of p and of its update. Where one is 0 the update is taken as it is.
constinit ExpressionRef lamb_move_{
    "_lamb_move_(Tensor(a!) p, Tensor update, Tensor skip, Tensor of_p, Tensor of_update, dynamic "
    "float lr) -> Tensor(a!)",
    "let trust = where(of_p > 0 and of_update > 0, sqrt(of_p) / sqrt(of_update), 1)\n"
    "where(skip != 0, p, p - lr * trust * update)"};

// Shazeer and Stern, arXiv:1804.04235, as torch.optim.Adafactor: what is new in the averages, and
// the rate, from the sum of squares of the parameter.
constinit ExpressionRef adafactor_rates{
    "_adafactor_rates(Tensor step, Tensor squares, dynamic float lr, float beta2_decay, float "
    "least, "
    "float numel) -> (Tensor, Tensor)",
    "pow(step, beta2_decay)\n"
    "max(least, sqrt(squares / numel)) * min(lr, 1 / sqrt(step))"};
constinit ExpressionRef adafactor_average_{
    "_adafactor_average_(Tensor(a!) average, Tensor squares, Tensor skip, Tensor fresh, float "
    "count)"
    " -> Tensor(a!)",
    "where(skip != 0, average, average + fresh * (squares / count - average))"};
constinit ExpressionRef adafactor_variance_{
    "_adafactor_variance_(Tensor(a!) variance, Tensor grad, Tensor skip, Tensor fresh)"
    " -> Tensor(a!)",
    "where(skip != 0, variance, variance + fresh * (grad * grad - variance))"};
// rows [.., n, 1] and columns [.., 1, m] stand for the squares of a matrix.
constinit ExpressionRef adafactor_update{
    "_adafactor_update(Tensor grad, Tensor rows, Tensor columns, Tensor mean, float sign, float "
    "eps)"
    " -> Tensor",
    "sign * grad * rsqrt(max(rows * columns / max(mean, eps), eps * eps))"};
constinit ExpressionRef adafactor_plain{
    "_adafactor_plain(Tensor grad, Tensor variance, float sign, float eps) -> Tensor",
    "sign * grad * rsqrt(max(variance, eps * eps))"};
constinit ExpressionRef adafactor_move_{
    "_adafactor_move_(Tensor(a!) p, Tensor update, Tensor skip, Tensor rate, Tensor squares, "
    "dynamic "
    "float lr, dynamic float decay, float most) -> Tensor(a!)",
    "where(skip != 0, p, (1 - lr * decay) * p - rate / max(1.0, sqrt(squares) / most) * update)"};

// Keller Jordan's Muon, as torch.optim.Muon.
constinit ExpressionRef muon_average{
    "_muon_average(Tensor grad, Tensor buffer, dynamic float momentum) -> Tensor",
    "buffer + (1 - momentum) * (grad - buffer)"};
constinit ExpressionRef muon_unit{"_muon_unit(Tensor x, Tensor squares, float eps) -> Tensor",
                                  "x / max(sqrt(squares), eps)"};
constinit ExpressionRef muon_mix{"_muon_mix(Tensor x, Tensor y, float a, float b) -> Tensor",
                                 "a * x + b * y"};
constinit ExpressionRef muon_move_{
    "_muon_move_(Tensor(a!) p, Tensor update, Tensor skip, dynamic float lr, dynamic float decay, "
    "float ratio) -> Tensor(a!)",
    "where(skip != 0, p, (1 - lr * decay) * p - lr * ratio * update)"};
constinit ExpressionRef keep_{"_keep_(Tensor(a!) old, Tensor fresh, Tensor skip) -> Tensor(a!)",
                              "where(skip != 0, old, fresh)"};

void lamb_all(Tensors params, Tensors grads, Tensors averages, Tensors square_averages,
              Tensors counts, Operand lr, Operand beta1, Operand beta2, double eps, Operand decay,
              bool maximize, Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "lamb_step";
  expect_lists(op, params,
               {{"grad", grads}, {"exp_avg", averages}, {"exp_avg_sq", square_averages}},
               found_inf);
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  Corrections corrections(1.0, beta1, beta2);
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i], m = averages[i], v = square_averages[i];
    const Tensor count = count_up(op, counts[i], skip, p.dtype());
    const auto [rate, root] = corrections.of(count, p.dtype());
    prim::elementwise<Two>(lamb_averages_, m, v, grads[i], skip, maximize ? -1.0 : 1.0, beta1,
                           beta2);
    const Tensor update = prim::elementwise(lamb_update, p, m, v, rate, root, decay, eps);
    prim::elementwise(lamb_move_, p, update, skip, sum_of_squares(p), sum_of_squares(update), lr);
  });
}

// The averages of the squares of a matrix: of its rows, whose sizes end with 1, or of its columns.
void expect_factors(const char* what, Tensors list, Tensors params, int64_t dim) {
  const std::string op = "adafactor_step";
  expect_as_many(op.c_str(), (std::string(what) + "s").c_str(), list.size(), params.size());
  expect_floats(op.c_str(), what, list);
  for (uint32_t i = 0; i < params.size(); ++i) {
    Sizes sizes = sizes_of(params[i]);
    if (sizes.size() < 2) {
      fail(op + ": param " + std::to_string(i) + " is " + sizes_text(sizes) +
           ", expected at least 2 dimensions where row_vars are given");
    }
    sizes[size_t(int64_t(sizes.size()) + dim)] = 1;
    if (list[i].defined() && sizes_of(list[i]) == sizes) continue;
    fail(op + ": " + what + " " + std::to_string(i) + " is " +
         (list[i].defined() ? sizes_text(list[i].sizes()) : "None") + ", expected " +
         sizes_text(sizes));
  }
}

// What torch.finfo calls eps.
double spacing_at_one(Dtype dtype) {
  if (dtype == float64) return 0x1p-52;
  return dtype == float16 ? 0x1p-10 : dtype == bfloat16 ? 0x1p-7 : 0x1p-23;
}

// The gradient over the root of what its squares were, for all but the empty.
Tensor adafactor_update_of(const Tensor& grad, const Tensor& row, const Tensor& column,
                           const Operand& skip, const Tensor& fresh, double sign, double eps) {
  const auto update = [&](const Tensor& average, int64_t dim) {
    const Tensor squares =
        prim::reduce(TN_REDUCE_SUM, Tensors(&grad, 1), {grad.dim() + dim}, true, square_of);
    prim::elementwise(adafactor_average_, average, squares, skip, fresh,
                      double(grad.size(grad.dim() + dim)));
  };
  update(row, -1);
  update(column, -2);
  return prim::elementwise(adafactor_update, grad, row, column, mean(row, {-2}, true), sign, eps);
}

void adafactor_all(Tensors params, Tensors grads, Tensors rows, Tensors columns, Tensors variances,
                   Tensors counts, Operand lr, double beta2_decay, double eps1, double eps2,
                   double d, Operand decay, bool maximize, Tensor found_inf) {
  const NoGrad guard;
  const char* const op = "adafactor_step";
  expect_lists(op, params, {{"grad", grads}}, found_inf);
  const bool factored = rows.size() > 0;
  if (factored) {
    expect_factors("row_var", rows, params, -1);
    expect_factors("col_var", columns, params, -2);
  } else {
    expect_lists(op, params, {{"variance", variances}}, {});
  }
  expect_ones(op, "step", counts, params);
  found_inf = scalar(op, "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  const double sign = maximize ? -1 : 1;
  step_each(op, params.size(), [&](uint32_t i) {
    const Tensor p = params[i], grad = grads[i];
    const Tensor count = count_up(op, counts[i], skip, p.dtype());
    if (p.numel() == 0) return;
    const double eps = eps1 > 0 ? eps1 : spacing_at_one(p.dtype()), n = double(p.numel());
    const auto [fresh, rate] =
        prim::elementwise<Two>(adafactor_rates, count, sum_of_squares(p), lr, beta2_decay, eps2, n);
    Tensor update;
    if (factored) {
      update = adafactor_update_of(grad, rows[i], columns[i], skip, fresh, sign, eps);
    } else {
      prim::elementwise(adafactor_variance_, variances[i], grad, skip, fresh);
      update = prim::elementwise(adafactor_plain, grad, variances[i], sign, eps);
    }
    prim::elementwise(adafactor_move_, p, update, skip, rate, sum_of_squares(update), lr, decay,
                      d * std::sqrt(n));
  });
}

// The matrix with its singular values moved near 1, by iterations of a polynomial (Newton and
// Schulz): x = a x + (b A + c A A) x where A = x x^T.
Tensor orthogonal_of(const Tensor& matrix, Floats coefficients, double eps, int64_t steps) {
  const bool tall = matrix.size(0) > matrix.size(1);
  Tensor x = prim::elementwise(muon_unit, matrix, sum_of_squares(matrix), eps);
  if (tall) x = prim::permute(x, {1, 0});
  for (int64_t i = 0; i < steps; ++i) {
    const Tensor square = prim::matmul(x, prim::permute(x, {1, 0}));
    const Tensor factor = prim::elementwise(muon_mix, square, prim::matmul(square, square),
                                            coefficients[1], coefficients[2]);
    x = prim::elementwise(muon_mix, x, prim::matmul(factor, x), coefficients[0], 1.0);
  }
  return tall ? prim::permute(x, {1, 0}) : x;
}

// What PyTorch's adjust_lr_fn multiplies the rate with.
double muon_ratio(const std::string& how, const Tensor& p) {
  const auto rows = double(p.size(0)), columns = double(p.size(1));
  if (how == "original") return std::sqrt(std::max(1.0, rows / columns));
  if (how == "match_rms_adamw") return 0.2 * std::sqrt(std::max(rows, columns));
  if (how == "spectral_unclamped") return std::sqrt(rows / columns);
  fail("muon_step: adjust_lr_fn is '" + how +
       "', expected original, match_rms_adamw or spectral_unclamped");
}

void muon_all(Tensors params, Tensors grads, Tensors buffers, Operand lr, Operand decay,
              Operand momentum, bool nesterov, Floats coefficients, double eps, int64_t ns_steps,
              std::string adjust, Tensor found_inf) {
  const NoGrad guard;
  const std::string op = "muon_step";
  expect_lists(op.c_str(), params, {{"grad", grads}, {"momentum_buffer", buffers}}, found_inf);
  if (coefficients.size() != 3) {
    fail(op + ": ns_coefficients has " + std::to_string(coefficients.size()) +
         " numbers, expected 3");
  }
  if (ns_steps < 0 || ns_steps > 99)
    fail(op + ": ns_steps is " + std::to_string(ns_steps) + ", expected 0 to 99");
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (params[i].dim() == 2) continue;
    fail(op + ": param " + std::to_string(i) + " is " + sizes_text(params[i].sizes()) +
         ", expected a matrix");
  }
  found_inf = scalar(op.c_str(), "found_inf", found_inf);
  const Operand skip = skip_of(found_inf);
  step_each(op.c_str(), params.size(), [&](uint32_t i) {
    const Tensor p = params[i], grad = grads[i];
    if (p.numel() == 0) return;
    const Tensor average = prim::elementwise(muon_average, grad, buffers[i], momentum);
    const Tensor ahead =
        nesterov ? prim::elementwise(muon_average, grad, average, momentum) : average;
    const Tensor update = orthogonal_of(ahead, coefficients, eps, ns_steps);
    prim::elementwise(keep_, buffers[i], average, skip);
    prim::elementwise(muon_move_, p, update, skip, lr, decay, muon_ratio(adjust, p));
  });
}

}  // namespace

void optim_norms() {
  op("lamb_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
     "exp_avg_sqs, Tensor(d!)[] steps, dynamic float lr, dynamic float beta1=0.9, dynamic float "
     "beta2=0.999, float eps=1e-6, dynamic float weight_decay=0, bool maximize=False, Tensor? "
     "found_inf=None) -> ()")
      .doc(
          "A step of LAMB (You et al., arXiv:1904.00962, algorithm 2): u = m / (sqrt(v) + eps) + "
          "weight_decay * p with Adam's corrected averages; p -= lr * |p| / |u| * u, with 1 for "
          "|p| / |u| where one of them is 0. steps, of one element each, go up by 1 first. Nothing "
          "changes where found_inf is not 0.")
      .no_gradient()
      .meaning(lamb_all);
  op("adafactor_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] row_vars, Tensor(c!)[] "
     "col_vars, Tensor(d!)[] variances, Tensor(e!)[] steps, dynamic float lr, float "
     "beta2_decay=-0.8, float eps1=0, float eps2=1e-3, float d=1, dynamic float weight_decay=0, "
     "bool maximize=False, Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Adafactor (Shazeer & Stern, arXiv:1804.04235, as PyTorch has it). Params of "
          "at least two dimensions have averages of the squares of their rows [.., n, 1] and "
          "columns [.., 1, m], others variances; a call is of one kind, and the other lists are "
          "empty. eps1 of 0 is the dtype's. steps, of one element each, go up by 1 first. Nothing "
          "changes where found_inf is not 0.")
      .no_gradient()
      .meaning(adafactor_all);
  op("muon_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] momentum_buffers, dynamic float "
     "lr, dynamic float weight_decay=0.1, dynamic float momentum=0.95, bool nesterov=True, float[] "
     "ns_coefficients=[3.4445, -4.775, 2.0315], float eps=1e-7, int ns_steps=5, str "
     "adjust_lr_fn='original', Tensor? found_inf=None) -> ()")
      .doc(
          "A step of Muon (Keller Jordan, 2024, as PyTorch has it, but in the params' own "
          "precision "
          "where that rounds to bfloat16): matrices move by their averaged gradient made nearly "
          "orthogonal, by ns_steps iterations of Newton and Schulz. Nothing changes where "
          "found_inf "
          "is not 0.")
      .no_gradient()
      .meaning(muon_all);
}

}  // namespace tenon::ops_pack
