// The activations, a part of the family elementwise. The first lines of elementwise.cpp say what a
// formula may read. Where the two sides of an activation meet, the argument of the exponential is kept on its own
// side: a side that overflows and is not taken would give 0 * inf in the gradient.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

constexpr const char* kHardtanh =
    "clamp(x, min_val, max_val)\n"
    "dx = where(x <= min_val or x >= max_val, 0, g)";
constexpr const char* kThreshold = "where(x <= threshold, value, x)";
constinit ExpressionRef hardtanh_of{"hardtanh(Tensor x, number min_val, number max_val) -> Tensor",
                                    kHardtanh};
constinit ExpressionRef hardtanh_into{
    "hardtanh_(Tensor(a!) x, number min_val, number max_val) -> Tensor(a!)", kHardtanh};
constinit ExpressionRef threshold_of{
    "_threshold(Tensor x, number threshold, number value) -> Tensor", kThreshold};
constinit ExpressionRef threshold_into{
    "_threshold_(Tensor(a!) x, number threshold, number value) -> Tensor(a!)", kThreshold};

constexpr const char* kCelu =
    "where(x <= 0, alpha * expm1(where(x <= 0, x, 0) / alpha), x)\n"
    "dx = where(x <= 0, g * exp(where(x < 0, x, 0) / alpha), g)";
constinit ExpressionRef celu_of{"_celu(Tensor x, float alpha) -> Tensor", kCelu};
constinit ExpressionRef celu_into{"celu_(Tensor(a!) x, float alpha) -> Tensor(a!)", kCelu};

double as_double(const Operand& number) {
  const tn_value& v = number.value();
  return v.kind == TN_KIND_FLOAT ? v.as.f : double(v.as.i);
}
void expect_limits(const std::string& op, const Operand& min, const Operand& max) {
  if (!(as_double(min) > as_double(max))) return;
  fail(op + ": min_val is " + number_text(as_double(min)) + ", max_val is " +
       number_text(as_double(max)) + "; expected min_val to be at most max_val");
}

// An op of x and two numbers, which are taken as elements of x's dtype: x keeps it, as in PyTorch.
// Limits of integers may lie outside of their dtype, where they limit nothing; the call of the
// formula refuses those that leave nothing.
void by_numbers(const std::string& name, const char* schema, const char* doc, const char* first,
                const char* second, bool limits, const ExpressionRef& formula) {
  op((name + schema).c_str()).doc(doc).meaning([=, &formula](Tensor x, Operand a, Operand b) {
    const Dtype dtype = limits && !x.dtype().is_float() ? int64 : x.dtype();
    if (x.dtype() == bool_) fail(name + ": x is bool, expected integers or floats");
    const Number one = number_for(name.c_str(), first, a, dtype);
    const Number other = number_for(name.c_str(), second, b, dtype);
    if (limits) expect_limits(name, a, b);
    return prim::elementwise(formula, x, one, other);
  });
}

// The slope of each channel lies along dimension 1 of x.
Tensor prelu_of(Tensor x, Tensor weight) {
  Tensor w = weight;
  if (weight.numel() != 1 || weight.dim() > 1) {
    int64_t channels = x.dim() > 1 ? x.size(1) : 1;
    if (weight.dim() != 1 || weight.numel() != channels) {
      fail("prelu: weight is " + sizes_text(weight.sizes()) + ", x is " + sizes_text(x.sizes()) +
           "; expected weight to be [1] or [" + std::to_string(channels) + "]");
    }
    std::vector<int64_t> sizes(size_t(x.dim()), 1);
    sizes[1] = channels;
    w = prim::reshape(weight, sizes);
  } else if (x.dim() == 0) {
    w = prim::reshape(weight, {});
  }
  return call(detail::op<"_prelu">, x, w);
}

constinit ExpressionRef gated{"_gated(Tensor x, Tensor gate) -> Tensor", "x * sigmoid(gate)"};

constinit ExpressionRef gated_dx{
    "_gated_dx(Tensor grad, Tensor x, Tensor gate) -> (Tensor, Tensor)",
    "let s = sigmoid(gate)\ngrad * s\n grad * x * (s * (1 - s))"};

std::pair<Tensor, Tensor> halves_of(const Tensor& x, int64_t d) {
  const int64_t n = x.size(d);
  return {prim::slice(x, d, 0, n / 2), prim::slice(x, d, n / 2, n)};
}
Tensor gated_halves(const Tensor& x, int64_t dim) {
  const int64_t d = wrap_dim("glu", dim, x.dim()), n = x.dim() == 0 ? 1 : x.size(d);
  if (n % 2 != 0) {
    fail("glu: x is " + sizes_text(x.sizes()) + ", expected an even size along dimension " +
         std::to_string(d));
  }
  const auto [value, gate] = halves_of(x, d);
  return prim::elementwise(gated, value, gate);
}
// The gradients of both halves, joined: those of slices would be padded and added.
Tensor gated_halves_dx(const Vjp& g, const Tensor& x, int64_t dim) {
  const int64_t d = wrap_dim("glu", dim, x.dim());
  const auto [value, gate] = halves_of(x, d);
  const auto [dvalue, dgate] =
      prim::elementwise<std::tuple<Tensor, Tensor>>(gated_dx, g.grad(), value, gate);
  return cat({dvalue, dgate}, d);
}

void sigmoids() {
  op("sigmoid(Tensor x) -> Tensor", "sigmoid(x)\n dx = g * out * (1 - out)")
      .doc("1 / (1 + exp(-x)).")
      .method()
      .inplace();
  op("log_sigmoid(Tensor x) -> Tensor",
     "let y = float(x)\nmin(y, 0) - log1p(exp(-abs(y)))\n dx = g * sigmoid(-x)")
      .doc("log(sigmoid(x)), computed so that nothing overflows.")
      .amp(Amp::widest);
  op("glu(Tensor x, int dim=-1) -> Tensor")
      .doc(
          "The first half of x along dim times the sigmoid of the second. Dauphin et al., "
          "arXiv:1612.08083.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(gated_halves)
      .vjp(gated_halves_dx, Reads::args);
}

void rectifiers() {
  op("relu(Tensor x) -> Tensor", "max(x, 0)\n dx = where(out <= 0, 0, g)")
      .doc("max(x, 0).")
      .method()
      .inplace();
  op("relu6(Tensor x) -> Tensor", "clamp(x, 0, 6)\n dx = where(x <= 0 or x >= 6, 0, g)")
      .doc("min(max(x, 0), 6). Howard et al., arXiv:1704.04861.")
      .inplace();
  by_numbers("hardtanh", "(Tensor x, number min_val=-1, number max_val=1) -> Tensor",
             "x, cut off below min_val and above max_val.", "min_val", "max_val", true,
             hardtanh_of);
  by_numbers("hardtanh_", "(Tensor(a!) x, number min_val=-1, number max_val=1) -> Tensor(a!)",
             "x, cut off below min_val and above max_val, written to x.", "min_val", "max_val",
             true, hardtanh_into);
  op("leaky_relu(Tensor x, float negative_slope=0.01) -> Tensor",
     "where(x > 0, x, negative_slope * x)\n dx = where(x > 0, g, negative_slope * g)")
      .doc("x where it is above 0, else negative_slope * x. Maas, Hannun & Ng, 2013.")
      .inplace();
  op("_prelu(Tensor x, Tensor weight) -> Tensor",
     "where(x > 0, x, weight * x)\n"
     "dx = where(x > 0, g, weight * g); dweight = where(x > 0, 0, g * x)");
  op("prelu(Tensor x, Tensor weight) -> Tensor")
      .doc(
          "x where it is above 0, else weight * x. weight has one element, or one for each channel "
          "of x [n, channels, ..]. He et al., arXiv:1502.01852.")
      .method()
      .keeps_halves()
      .meaning(prelu_of);
}

void exponential_units() {
  // Slopes at 0 are those of the left, and what these change by there is 0, as in PyTorch.
  op("elu(Tensor x, float alpha=1) -> Tensor",
     "where(x <= 0, alpha * expm1(where(x <= 0, x, 0)), x)\n"
     "dx = where(x <= 0, g * alpha * exp(where(x < 0, x, 0)), g)")
      .doc("x where it is above 0, else alpha * (exp(x) - 1). Clevert et al., arXiv:1511.07289.")
      .amp(Amp::widest)
      .inplace();
  for (const bool in_place : {false, true}) {
    op(in_place ? "celu_(Tensor(a!) x, float alpha=1) -> Tensor(a!)"
                : "celu(Tensor x, float alpha=1) -> Tensor")
        .doc("max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)). Barron, arXiv:1704.07483.")
        .amp(Amp::widest)
        .keeps_halves()
        .meaning([in_place](Tensor x, double alpha) {
          if (alpha == 0)
            fail(std::string(in_place ? "celu_" : "celu") +
                 ": alpha is 0, expected another number");
          return prim::elementwise(in_place ? celu_into : celu_of, x, alpha);
        });
  }
  // Klambauer et al., arXiv:1706.02515.
  op("selu(Tensor x) -> Tensor",
     "1.0507009873554805 * where(x <= 0, 1.6732632423543772 * expm1(where(x <= 0, x, 0)), x)\n"
     "dx = 1.0507009873554805 * where(x <= 0, g * 1.6732632423543772 * exp(where(x < 0, x, 0)), g)")
      .doc(
          "scale * elu(x, alpha), whose constants keep mean 0 and variance 1. Klambauer et al., "
          "arXiv:1706.02515.")
      .amp(Amp::widest)
      .inplace();
}

void smooth_gates() {
  // x Φ(x) by erfc, which keeps the digits that 1 + erf loses at negative x. The form by tanh is
  // sqrt(2 / pi) (x + 0.044715 x³) of Hendrycks & Gimpel.
  op("gelu(Tensor x, str approximate='none') -> Tensor",
     "0.5 * x * erfc(-0.7071067811865476 * x)\n"
     "dx = g * (0.5 * erfc(-0.7071067811865476 * x) + 0.3989422804014327 * x * exp(-0.5 * x * x))\n"
     "when approximate == 'tanh':\n"
     "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))")
      .doc(
          "x times the normal distribution function of x; approximate is \"none\" or \"tanh\". "
          "Hendrycks & Gimpel, arXiv:1606.08415.")
      .inplace();
  // One pass less than x times a sigmoid that is computed first.
  op("silu(Tensor x) -> Tensor",
     "let y = float(x); let s = sigmoid(x)\n y / (1 + exp(-y))\n dx = g * (s * (1 + x * (1 - s)))")
      .doc("x * sigmoid(x). Elfwing et al., arXiv:1702.03118.")
      .amp(Amp::widest)
      .inplace();
  // tanh(log(1 + e)) is n / (n + 2), n = e (e + 2), e = exp(x); beyond 20 it rounds to 1.
  op("mish(Tensor x) -> Tensor",
     "let e = exp(where(x > 20, 0, x)); let n = e * (e + 2)\n x * where(x > 20, 1, n / (n + 2))")
      .doc("x * tanh(log(1 + exp(x))). Misra, arXiv:1908.08681.")
      .amp(Amp::widest)
      .inplace();
}

void soft_and_hard_forms() {
  op("softplus(Tensor x, float beta=1, float threshold=20) -> Tensor",
     "let z = beta * x\n"
     "where(z > threshold, x, (log1p(exp(-abs(z))) + max(z, 0)) / beta)\n"
     "dx = where(z > threshold, g, g * sigmoid(z))")
      .doc("log(1 + exp(beta * x)) / beta; x itself where beta * x is above threshold.");
  op("softsign(Tensor x) -> Tensor",
     "let y = float(x)\ny / (1 + abs(y))\n dx = g / square(1 + abs(x))")
      .doc("x / (1 + abs(x)).");
  op("hardsigmoid(Tensor x) -> Tensor",
     "clamp(float(x) + 3, 0, 6) / 6\n dx = where(x > -3 and x < 3, g / 6, 0)")
      .doc("min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.")
      .inplace();
  op("hardswish(Tensor x) -> Tensor",
     "let y = float(x)\ny * clamp(y + 3, 0, 6) / 6\n dx = where(x <= -3, 0, where(x < 3, g * (x / "
     "3 + 0.5), g))")
      .doc("x * min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.")
      .inplace();
}

void shrinks_and_thresholds() {
  op("_softshrink(Tensor x, float lambd) -> Tensor",
     "x - clamp(x, -lambd, lambd)\n"
     "dx = where(x >= -lambd and x <= lambd, 0, g)");
  op("softshrink(Tensor x, float lambd=0.5) -> Tensor")
      .doc("x moved toward 0 by lambd, and 0 within it.")
      .keeps_halves()
      .meaning([](Tensor x, double lambd) {
        if (!(lambd >= 0))
          fail("softshrink: lambd is " + number_text(lambd) + "; expected at least 0");
        return call(detail::op<"_softshrink">, x, lambd);
      });
  op("hardshrink(Tensor x, float lambd=0.5) -> Tensor", "where(abs(x) <= lambd, 0, x)")
      .doc("x, and 0 where abs(x) is at most lambd.")
      .method();
  op("tanhshrink(Tensor x) -> Tensor", "x - tanh(x)\n dx = g * square(tanh(x))")
      .doc("x - tanh(x).");
  by_numbers("threshold", "(Tensor x, number threshold, number value) -> Tensor",
             "x where it is above threshold, else value.", "threshold", "value", false,
             threshold_of);
  by_numbers("threshold_", "(Tensor(a!) x, number threshold, number value) -> Tensor(a!)",
             "threshold(x, threshold, value), written to x.", "threshold", "value", false,
             threshold_into);
}

}  // namespace

void activations() {
  sigmoids();
  rectifiers();
  exponential_units();
  smooth_gates();
  soft_and_hard_forms();
  shrinks_and_thresholds();
}

}  // namespace tenon::ops_pack
