// Special functions, a part of the family elementwise. Those that are series compute in float64,
// whatever x is, and round once: each is then one formula, whose constants need no second set, and
// float32 is as exact as it can be. What is said of a formula's scope is in elementwise.cpp.
#include "pack.h"

#include <cmath>

#include "gamma.h"

namespace tenon::ops_pack {
namespace {

// Up to 7/2 by the series of log Γ about 2, DLMF 5.7.3, whose z is the distance to the next whole
// number, and by Γ(x + 1) = x Γ(x): so all digits are there near the roots 1 and 2. From 7/2 on by
// Stirling's. Below -1/2 by Γ(x) Γ(1 - x) = pi / sin(pi x), DLMF 5.5.3.
constinit ExpressionRef log_gamma{
    "_log_gamma(Tensor x) -> Tensor",
    "let u = where(x <= -0.5, 1 - x, x)\n"
    "let t = where(u < 0.5, u, where(u < 1.5, u - 1, where(u < 2.5, u - 2, u - 3)))\n"
    "let p = t * ("
    "0.42278433509846713 + t * (0.3224670334241132 + t * (-0.0673523010531981 + t * ("
    "0.020580808427784546 + t * (-0.007385551028673986 + t * ("
    "0.0028905103307415234 + t * (-0.001192753911703261 + t * ("
    "0.0005096695247430425 + t * (-0.00022315475845357939 + t * ("
    "9.945751278180853e-05 + t * (-4.492623673813314e-05 + t * ("
    "2.050721277567069e-05 + t * (-9.439488275268397e-06 + t * ("
    "4.374866789907488e-06 + t * (-2.039215753801366e-06 + t * ("
    "9.55141213040742e-07 + t * (-4.492469198764566e-07 + t * ("
    "2.1207184805554665e-07 + t * (-1.0043224823968099e-07 + t * ("
    "4.7698101693639804e-08 + t * (-2.2711094608943164e-08 + t * ("
    "1.0838659214896955e-08 + t * (-5.183475041970047e-09 + t * ("
    "2.4836745438024785e-09 + t * (-1.1921401405860912e-09 + t * ("
    "5.731367241678862e-10 + t * (-2.7595228851242334e-10))))))))))))))))))))))))))"
    ")\n" LOG_GAMMA("large", "u")
    "let factor = log1p(where(u < 1.5, t, t + 1))\n"
    "let y = where(u < 1.5, p - factor, where(u < 2.5, p, where(u < 3.5, p + factor, large)))\n"
    "let l = log(where(x <= -0.5, abs(sin(pi * (x - round(x)))), abs(x)))\n"
    "where(isinf(x) or x <= 0 and x == round(x), inf,"
    " where(x <= -0.5, 1.1447298858494002 - l - y, where(x < 0.5, y - l, y)))"};

// The derivative of the same, from 10 on. DLMF 5.11.2, 5.5.2 and 5.5.4.
constinit ExpressionRef digamma_of{
    "_digamma(Tensor x) -> Tensor",
    "let z = where(x < 0, 1 - x, x)\n"
    "let w = where(z < 10, z + 10, z); let s = 1 / (w * w)\n"
    "let series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 -"
    " s * (691 / 32760 - s * (1 / 12 - s * (3617 / 8160))))))))\n"
    "let moved = where(z < 10, 1 / z + 1 / (z + 1) + 1 / (z + 2) + 1 / (z + 3) + 1 / (z + 4) +"
    " 1 / (z + 5) + 1 / (z + 6) + 1 / (z + 7) + 1 / (z + 8) + 1 / (z + 9), 0)\n"
    "let y = log(w) - 0.5 / w - series - moved\n"
    "where(x < 0, where(x == round(x), nan, y - pi / tan(pi * (x - round(x)))), y)"};

// The derivatives of digamma: factor * the sum of (q + k)^-s over k from 0 on, where q is x, or
// 1 - x where x is negative.
constinit ExpressionRef hurwitz_zeta{
    "_hurwitz_zeta(Tensor x, float s, float factor) -> Tensor",
    "let q = where(x < 0, 1 - x, x)\n" HURWITZ_ZETA("y", "q", "s", "s") "factor * y"};
constinit ExpressionRef cotangent{"_cotangent(Tensor x) -> Tensor", "1 / tan(pi * (x - round(x)))"};
constinit ExpressionRef horner{"_horner(Tensor y, Tensor x, float c) -> Tensor", "y * x + c"};
constinit ExpressionRef reflected{
    "_reflected(Tensor x, Tensor y, Tensor slope, float sign) -> Tensor",
    "where(x < 0, where(x == round(x), -sign * inf, slope + sign * y), y)"};

// Halley's steps from Winitzki's approximation, whose error is below 0.002. What is left to 1 is
// exact, so that no digit is lost near 1.
constinit ExpressionRef inverse_erf{
    "_inverse_erf(Tensor x) -> Tensor",
    "let a = abs(x); let l = log((1 - a) * (1 + a)); let b = 4.330746750799873 + 0.5 * l\n"
    "let c = -6.802721088435375 * l\n"
    "let y0 = sqrt(c / (sqrt(b * b + c) + b))\n"
    "let e0 = where(a < 0.5, erf(y0) - a, 1 - a - erfc(y0))\n"
    "let u0 = e0 * 0.886226925452758 * exp(y0 * y0); let y1 = y0 - u0 / (1 + y0 * u0)\n"
    "let e1 = where(a < 0.5, erf(y1) - a, 1 - a - erfc(y1))\n"
    "let u1 = e1 * 0.886226925452758 * exp(y1 * y1); let y2 = y1 - u1 / (1 + y1 * u1)\n"
    "where(a == 1, x * inf, where(x < 0, -y2, where(x == 0, x, y2)))"};
// For float32 and halves, in float32: x times a polynomial of w = -log(1 - x²), or of its root from 5
// on (Giles, Approximating the erfinv function, 2011); fitted anew, since products and sums are
// rounded apart here. At most 3 units in the last place.
constinit ExpressionRef near_inverse_erf{
    "_near_inverse_erf(Tensor x) -> Tensor",
    "let a = abs(x); let w = -log((1 - a) * (1 + a)); let s = sqrt(w) - 3\n"
    "let low = ((((((((-8.7910159e-09 * w + 2.2103048e-07) * w - 1.9764609e-06) * w + "
    "3.9832357e-06) * w + 4.4565222e-05) * w - 0.00012748166) * w - 0.0023342963) * w + "
    "0.011548654) * w + 0.23201382) * w + 0.8862269\n"
    "let high = ((((((((0.0001289642 * s - 0.00031872349) * s - 7.661953e-05) * s + 0.001495857) * "
    "s - 0.0035869875) * s + 0.005683172) * s - 0.00763941) * s + 0.009445684) * s + 1.0016751) * "
    "s + 2.8329768\n"
    "where(a == 1, x * inf, x * where(w < 5, low, high))"};
constinit ExpressionRef inverse_erf_dx{"_inverse_erf_dx(Tensor grad, Tensor y) -> Tensor",
                                       "grad * 0.886226925452758 * exp(y * y)"};
// Near 0, where a quotient of numbers without all digits tells nothing, the slope is 1/2; so in the
// other functions of order 1.
constinit ExpressionRef bessel_i1_dx{
    "_bessel_i1_dx(Tensor grad, Tensor x, Tensor y0, Tensor y1) -> Tensor",
    "let few = abs(x) < 1e-30\n"
    "grad * where(few, 0.5, y0 - y1 / where(few, 1, x))"};

// formula(x, ..), computed in float64 and rounded to x's dtype.
template <typename... Args>
Tensor exactly(const ExpressionRef& formula, const Tensor& x, Args... args) {
  const Dtype dtype = x.dtype().is_float() ? x.dtype() : float32;
  return as_dtype(prim::elementwise(formula, as_dtype(x, float64), args...), dtype);
}
template <detail::OpName name>
Tensor bessel(const Tensor& x) {
  const Dtype dtype = x.dtype().is_float() ? x.dtype() : float32;
  return as_dtype(call(detail::op<name>, as_dtype(x, float64)), dtype);
}

// The derivative of order n of -pi cot(pi x), which is a polynomial of the cotangent: from
// cot' = -(1 + cot²). For negative x, where it is what polygamma(n, 1 - x) lacks.
Tensor cotangent_slope(int64_t n, const Tensor& x) {
  std::vector<double> p = {0, -M_PI};
  for (int64_t order = 0; order < n; ++order) {
    std::vector<double> next(p.size() + 1);
    for (size_t k = 1; k < p.size(); ++k) {
      next[k - 1] -= M_PI * double(k) * p[k];
      next[k + 1] -= M_PI * double(k) * p[k];
    }
    p = next;
  }
  const Tensor c = prim::elementwise(cotangent, x);
  Tensor y = prim::fill({}, p.back(), float64, x.device());
  for (size_t k = p.size() - 1; k-- > 0;) y = prim::elementwise(horner, y, c, p[k]);
  return y;
}

Tensor polygamma_of(int64_t n, const Tensor& given) {
  constexpr int64_t kMost = 150;  // its factorial is a float64
  if (n < 0 || n > kMost)
    fail("polygamma: n is " + std::to_string(n) + ", expected 0 to " + std::to_string(kMost));
  if (n == 0) return exactly(digamma_of, given);
  const Tensor x = as_dtype(given, float64);
  const double sign = n % 2 == 0 ? 1 : -1;
  const Tensor y =
      prim::elementwise(hurwitz_zeta, x, double(n + 1), -sign * std::tgamma(double(n + 1)));
  return as_dtype(prim::elementwise(reflected, x, y, cotangent_slope(n, x), sign),
                  given.dtype().is_float() ? given.dtype() : float32);
}

void gammas() {
  op("lgamma(Tensor x) -> Tensor")
      .method()
      .doc("log(|Γ(x)|); infinite at 0 and the negative integers. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return exactly(log_gamma, x); })
      .vjp([](const Vjp& g, Tensor x) { return g.grad() * call(detail::op<"digamma">, x); },
           Reads::args);
  op("digamma(Tensor x) -> Tensor")
      .method()
      .doc("The derivative of lgamma(x); NaN at the negative integers. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return exactly(digamma_of, x); })
      .vjp([](const Vjp& g, Tensor x) { return g.grad() * call(detail::op<"polygamma">, 1, x); },
           Reads::args);
  op("polygamma(int n, Tensor x) -> Tensor")
      .doc("The derivative of order n, 0 to 150, of digamma(x). Integers become float32.")
      .amp(Amp::float32)
      .meaning(polygamma_of)
      .vjp([](const Vjp& g, int64_t n,
              Tensor x) { return g.grad() * call(detail::op<"polygamma">, n + 1, x); },
           Reads::args);
}

void errors_and_bessels() {
  op("erfinv(Tensor x) -> Tensor")
      .method()
      .doc("What erf gives x of; NaN outside of -1 to 1. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) {
        if (x.dtype() == float64) return prim::elementwise(inverse_erf, x);
        return as_dtype(prim::elementwise(near_inverse_erf, as_dtype(x, float32)),
                        x.dtype().is_float() ? x.dtype() : float32);
      })
      .vjp([](const Vjp& g,
              Tensor) { return prim::elementwise(inverse_erf_dx, g.grad(), g.output()); },
           Reads::outputs);
  op("_bessel_i0(Tensor x) -> Tensor", bessel_formula(0, false).c_str()).no_gradient();
  op("_bessel_i1(Tensor x) -> Tensor", bessel_formula(1, false).c_str()).no_gradient();
  op("i0(Tensor x) -> Tensor")
      .method()
      .doc("The modified Bessel function of the first kind, of order 0. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return bessel<"_bessel_i0">(x); })
      .vjp([](const Vjp& g, Tensor x) { return g.grad() * call(detail::op<"i1">, x); },
           Reads::args);
  op("i1(Tensor x) -> Tensor")
      .doc("The modified Bessel function of the first kind, of order 1. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return bessel<"_bessel_i1">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        return prim::elementwise(bessel_i1_dx, g.grad(), x, call(detail::op<"i0">, x), g.output());
      });
}

void products_and_quotients() {
  op("xlogy(Tensor x, Tensor y) -> Tensor",
     "let a = float(x)\n"
     "where(isnan(y), nan, where(a == 0, 0, a * log(y)))\n"
     "dx = g * log(where((x == 0 or g == 0) and y <= 0, 1, y)); dy = g * (x / y)")
      .method()
      .doc("x * log(y); 0 where x is 0, whatever y is but NaN.")
      .inplace();
  op("sinc(Tensor x) -> Tensor",
     "let t = pi * float(x); let u = t * t; let d = where(x == 0, 1, t)\n"
     "where(x == 0, 1, sin(d) / d)\n"
     "dx = g * (pi * where(abs(t) < 0.75, -t / 3 * (1 - u / 10 * (1 - u / 28 * (1 - u / 54 *"
     " (1 - u / 88 * (1 - u / 130 * (1 - u / 180)))))), (cos(d) - sin(d) / d) / d))")
      .method()
      .doc("sin(pi * x) / (pi * x); 1 at 0. Integers become float32.")
      .inplace();
  op("logit(Tensor x, float? eps=None) -> Tensor",
     "let y = float(x)\nlog(y / (1 - y))\n dx = where(x < 0 or x > 1, nan, g / (x * (1 - x)))\n"
     "when eps is not None:\n"
     "let z = where(float(x) < eps, eps, where(float(x) > 1 - eps, 1 - eps, float(x)))\n"
     "log(z / (1 - z))\n dx = where(x < eps or x > 1 - eps, 0, g / (x * (1 - x)))")
      .method()
      .doc("log(x / (1 - x)), the inverse of sigmoid; with eps of x cut off to eps to 1 - eps.")
      .inplace();
}

// The next number toward y: Rump et al., Computing predecessor and successor in rounding to
// nearest, 2009. phi is just above half the distance of 1 to the next number, least the least
// number. Numbers that float64 itself holds without all digits are scaled for it.
constinit ExpressionRef next_after{
    "_next_after(Tensor x, Tensor y, float phi, float least, float greatest) -> Tensor",
    "let a = abs(x); let up = where(y > x, 1, -1); let by = max(phi * a, least)\n"
    "let big = 1.2676506002282294e30; let c = x * big\n"
    "let near = where(a <= 2.2250738585072014e-308 or a > 1e-280, x + up * by,"
    " (c + up * (phi * abs(c))) / big)\n"
    "where(isnan(x) or isnan(y), nan, where(x == y, y, where(isinf(x), sign(x) * greatest, "
    "near)))"};

Tensor next_of(const Tensor& x, const Tensor& y) {
  const Dtype dtype = promoted(x, y);
  if (!dtype.is_float())
    fail("nextafter: x is " + std::string(x.dtype().name()) + " and y " + y.dtype().name() +
         ", expected a floating dtype");
  const double unit = dtype == float64   ? 0x1p-53
                      : dtype == float32 ? 0x1p-24
                      : dtype == float16 ? 0x1p-11
                                         : 0x1p-8;
  const double least = dtype == float64   ? 0x1p-1074
                       : dtype == float16 ? 0x1p-24
                       : dtype == float32 ? 0x1p-149
                                          : 0x1p-133;
  return as_dtype(prim::elementwise(next_after, as_dtype(as_dtype(x, dtype), float64),
                                    as_dtype(as_dtype(y, dtype), float64), unit * (1 + 2 * unit),
                                    least, dtype_table::greatest(dtype.value)),
                  dtype);
}

void signs_and_steps() {
  op("heaviside(Tensor x, Tensor values) -> Tensor",
     "where(x == 0, values, where(x > 0, element(1), element(0)))")
      .method()
      .doc("0 below 0, 1 above it, and values where x is 0.")
      .inplace();
  op("copysign(Tensor x, Tensor y) -> Tensor",
     "let t = float(y); let a = abs(float(x))\n"
     "where(t < 0 or t == 0 and 1 / t < 0, -a, a)\n"
     "dx = where(x == 0, 0, where(out == x, g, -g)); dy = 0 * g")
      .method()
      .doc(
          "|x| with the sign of y, that of -0 included, but not of NaN, which counts as positive. "
          "Integers become float32.")
      .inplace();
  op("nextafter(Tensor x, Tensor y) -> Tensor")
      .method()
      .doc("The next number of the dtype after x in the direction of y.")
      .no_gradient()
      .keeps_halves()
      .meaning(next_of);
}

}  // namespace

std::string bessel_formula(int order, bool scaled) {
  std::string series = "1", asymptotic = "1";
  for (int k = 36; k > 0; --k)
    series = "1 + t / " + std::to_string(k * (k + order)) + " * (" + series + ")";
  for (int k = 32; k > 0; --k) {
    const int odd = 2 * k - 1;
    asymptotic = "1 + v * " + std::to_string(odd * odd - 4 * order * order) + " / " +
                 std::to_string(8 * k) + " * (" + asymptotic + ")";
  }
  const std::string below = std::string(order == 1 ? "0.5 * a * " : "") + "(" + series + ")";
  const std::string above = "(" + asymptotic + ")";
  const std::string parts =
      scaled ? "let below = exp(-a) * (" + below + ")\nlet above = " + above +
                   " / (sqrt(2 * pi) * sqrt(a))\nlet y = where(a < 20, below, where(isinf(a), 0, "
                   "above))\n"
             : "let e = exp(0.5 * a)\nlet below = " + below +
                   "\nlet above = e * (e / sqrt(2 * pi * a)) * " + above +
                   "\nlet y = where(a < 20, below, where(a > 1e4, inf, above))\n";
  return "let a = abs(x); let t = 0.25 * a * a; let v = 1 / a\n" + parts +
         (order == 1 ? "where(x < 0, -y, y)" : "y");
}

void special() {
  gammas();
  errors_and_bessels();
  products_and_quotients();
  signs_and_steps();
}

}  // namespace tenon::ops_pack
