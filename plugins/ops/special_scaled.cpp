// Special functions of the normal distribution, of entropies, and those that are scaled so that
// they neither overflow nor vanish. A part of the family elementwise; as in special.cpp, what is a
// series computes in float64 and rounds once.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

// exp(z²) erfc(z) as `name`: below 10 the product, whose exponent is taken in two parts, since z²
// rounded would lose digits; above by the asymptotic series. DLMF 7.12.1.
#define ERFCX(name, z)                                                                          \
  "let k = round(" z " * 16) / 16; let s = 0.5 / (" z " * " z                                   \
  ")\n"                                                                                         \
  "let series = 1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s * (1 - 9 * s * (1 - 11 * s * (1 -" \
  " 13 * s * (1 - 15 * s * (1 - 17 * s * (1 - 19 * s * (1 - 21 * s * (1 - 23 * s)))))))))))\n"  \
  "let " name " = where(" z " < 10, exp(k * k) * (exp((" z " - k) * (" z " + k)) * erfc(" z     \
  ")), 0.5641895835477563 / " z " * series)\n"

constinit ExpressionRef scaled_erfc{"_scaled_erfc(Tensor x) -> Tensor",
                                    ERFCX("y", "x") "where(x < -27, inf, where(x == inf, 0, y))"};
constinit ExpressionRef scaled_erfc_dx{"_scaled_erfc_dx(Tensor grad, Tensor x, Tensor y) -> Tensor",
                                       "grad * (2 * x * y - 1.1283791670955126)"};
constinit ExpressionRef log_normal_below{
    "_log_normal_below(Tensor x) -> Tensor",
    "let z = max(-0.7071067811865476 * x, 0.5)\n" ERFCX("y", "z")
    "where(x < -1, log(0.5 * y) - 0.5 * x * x, log1p(-0.5 * erfc(0.7071067811865476 * x)))"};
constinit ExpressionRef log_normal_below_dx{"_log_normal_below_dx(Tensor grad, Tensor y) -> Tensor",
                                            "grad * 0.7978845608028654 / y"};
constinit ExpressionRef turned{"_turned(Tensor x) -> Tensor", "-0.7071067811865476 * x"};

// The x below which the share p of a normal distribution lies, from the nearer end q. As the
// inverse of erf in special.cpp; the exponential is taken in two halves, so that the least numbers
// are reached.
constinit ExpressionRef normal_quantile{
    "_normal_quantile(Tensor p) -> Tensor",
    "let q = min(p, 1 - p); let a = 1 - 2 * q; let l = log(4 * q * (1 - q))\n"
    "let b = 4.330746750799873 + 0.5 * l; let c = -6.802721088435375 * l\n"
    "let y0 = sqrt(c / (sqrt(b * b + c) + b)); let h0 = exp(0.5 * y0 * y0)\n"
    "let e0 = where(a < 0.5, erf(y0) - a, 2 * q - erfc(y0)) * h0 * h0 * 0.886226925452758\n"
    "let y1 = y0 - e0 / (1 + y0 * e0); let h1 = exp(0.5 * y1 * y1)\n"
    "let e1 = where(a < 0.5, erf(y1) - a, 2 * q - erfc(y1)) * h1 * h1 * 0.886226925452758\n"
    "let y2 = y1 - e1 / (1 + y1 * e1); let h2 = exp(0.5 * y2 * y2)\n"
    "let e2 = where(a < 0.5, erf(y2) - a, 2 * q - erfc(y2)) * h2 * h2 * 0.886226925452758\n"
    "let y3 = 1.4142135623730951 * (y2 - e2 / (1 + y2 * e2))\n"
    "where(p == 0, -inf, where(p == 1, inf, where(p < 0.5, -y3, y3)))"};
constinit ExpressionRef normal_quantile_dx{"_normal_quantile_dx(Tensor grad, Tensor y) -> Tensor",
                                           "grad * 2.5066282746310002 * exp(0.5 * y * y)"};
constinit ExpressionRef scaled_i0_dx{
    "_scaled_i0_dx(Tensor grad, Tensor x, Tensor y0, Tensor y1) -> Tensor",
    "grad * (y1 - sign(x) * y0)"};
constinit ExpressionRef scaled_i1_dx{
    "_scaled_i1_dx(Tensor grad, Tensor x, Tensor y0, Tensor y1) -> Tensor",
    "let few = abs(x) < 1e-30\n"
    "grad * where(few, 0.5, y0 - y1 * (sign(x) + 1 / where(few, 1, x)))"};

// formula(x), computed in float64 and rounded to x's dtype.
Tensor exactly(const ExpressionRef& formula, const Tensor& x) {
  const Dtype dtype = x.dtype().is_float() ? x.dtype() : float32;
  return as_dtype(prim::elementwise(formula, as_dtype(x, float64)), dtype);
}
template <detail::OpName name>
Tensor exactly(const Tensor& x) {
  const Dtype dtype = x.dtype().is_float() ? x.dtype() : float32;
  return as_dtype(call(detail::op<name>, as_dtype(x, float64)), dtype);
}

void normal_distribution() {
  op("erfcx(Tensor x) -> Tensor")
      .doc("exp(x * x) * erfc(x), which does not vanish for large x. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return exactly(scaled_erfc, x); })
      .vjp([](const Vjp& g, Tensor x) {
        return prim::elementwise(scaled_erfc_dx, g.grad(), x, g.output());
      });
  op("ndtr(Tensor x) -> Tensor", "0.5 * erfc(-0.7071067811865476 * x)")
      .doc(
          "The share of the standard normal distribution below x: (1 + erf(x / sqrt(2))) / 2. "
          "Integers become float32.");
  op("log_ndtr(Tensor x) -> Tensor")
      .doc("log(ndtr(x)), which is exact for very negative x too. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return exactly(log_normal_below, x); })
      .vjp(
          [](const Vjp& g, Tensor x) {
            const Tensor y = call(detail::op<"erfcx">, prim::elementwise(turned, x));
            return prim::elementwise(log_normal_below_dx, g.grad(), y);
          },
          Reads::args);
  op("ndtri(Tensor x) -> Tensor")
      .doc("The inverse of ndtr; NaN outside of 0 to 1. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return exactly(normal_quantile, x); })
      .vjp([](const Vjp& g,
              Tensor) { return prim::elementwise(normal_quantile_dx, g.grad(), g.output()); },
           Reads::outputs);
}

void entropies() {
  op("entr(Tensor x) -> Tensor",
     "where(isnan(x), x, where(x > 0, x * -log(x), where(x == 0, 0, -inf)))\n"
     "dx = g * (-1 - log(x))")
      .doc("-x * log(x), what x adds to an entropy; 0 at 0, and -inf below.");
  op("xlog1py(Tensor x, Tensor y) -> Tensor",
     "let a = float(x)\n"
     "where(isnan(y), nan, where(a == 0, 0, a * log1p(y)))\n"
     "dx = g * log1p(where((x == 0 or g == 0) and y <= -1, 0, y)); dy = g * (x / (y + 1))")
      .doc("x * log1p(y); 0 where x is 0, whatever y is but NaN.");
}

void scaled_bessels() {
  op("_scaled_i0(Tensor x) -> Tensor", bessel_formula(0, true).c_str()).no_gradient();
  op("_scaled_i1(Tensor x) -> Tensor", bessel_formula(1, true).c_str()).no_gradient();
  op("i0e(Tensor x) -> Tensor")
      .doc("exp(-|x|) * i0(x). Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return exactly<"_scaled_i0">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        return prim::elementwise(scaled_i0_dx, g.grad(), x, g.output(), call(detail::op<"i1e">, x));
      });
  op("i1e(Tensor x) -> Tensor")
      .doc("exp(-|x|) * i1(x). Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return exactly<"_scaled_i1">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        return prim::elementwise(scaled_i1_dx, g.grad(), x, call(detail::op<"i0e">, x), g.output());
      });
}

}  // namespace

void special_scaled() {
  normal_distribution();
  entropies();
  scaled_bessels();
}

}  // namespace tenon::ops_pack
