// Bessel functions of orders 0 and 1 of both kinds, modified ones of the second kind, and the
// spherical one of order 0. A part of the family elementwise. As in special.cpp, they compute in
// float64 and round once.
//
// The trapezoidal rule converges exponentially for integrals over a period, and for those whose
// integrand vanishes fast at both ends, so that a few points of it stand for a table of
// coefficients. The functions of the first kind are (DLMF 10.9.1)
//
//   J0(x) = 2 / pi * the integral of cos(x sin t) over t from 0 to pi / 2,    J1 = -J0'
//
// those of the second kind follow by Neumann's series, whose terms J2k are integrals over the same
// points (DLMF 10.8.3),
//
//   Y0(x) = 2 / pi (log(x / 2) + γ) J0(x) - 4 / pi * the sum of (-1)^k J2k(x) / k,    Y1 = -Y0'
//
// from 25 on both are asymptotic series (DLMF 10.17.3 and 10.17.4), and the modified ones are, from
// 2 on, the integral of exp(-x cosh t) cosh(n t) over t from 0 on (DLMF 10.32.9), and below their
// power series (DLMF 10.31.1 and 10.31.2).
#include "pack.h"

#include <cmath>
#include <numbers>

namespace tenon::ops_pack {
namespace {

constexpr double kPi = std::numbers::pi, kGamma = std::numbers::egamma;

std::string digits(double number) {
  return number < 0 ? "(" + digits_of(number) + ")" : digits_of(number);
}

// c[0] + u * (c[1] + u * (..))
std::string polynomial(const std::vector<double>& c, const std::string& u) {
  std::string text = digits(c.back());
  for (size_t k = c.size() - 1; k-- > 0;) text = digits(c[k]) + " + " + u + " * (" + text + ")";
  return "(" + text + ")";
}

// `p` and `q`, the series of DLMF 10.17.3 at a of 25 at least, and `cosine` and `sine` of its angle.
std::string asymptotic(int order) {
  std::vector<double> p, q;
  double a = 1;
  for (int k = 0; k < 24; ++k) {
    (k % 2 == 0 ? p : q).push_back(k % 4 < 2 ? a : -a);
    const int odd = 2 * k + 1;
    a *= double(4 * order * order - odd * odd) / (8 * (k + 1));
  }
  const std::string half = "0.7071067811865476 * ";
  return "let far = max(a, 25); let v = 1 / far; let u = v * v\n"
         "let p = " +
         polynomial(p, "u") + "; let q = v * " + polynomial(q, "u") +
         "\nlet x_sin = sin(far); let x_cos = cos(far); let root = sqrt(2 / pi * v)\n" +
         (order == 0
              ? "let cosine = " + half + "(x_cos + x_sin); let sine = " + half + "(x_sin - x_cos)\n"
              : "let cosine = " + half + "(x_sin - x_cos); let sine = -" + half +
                    "(x_sin + x_cos)\n");
}

// The middle of part k of n that pi / 2 is cut into.
double angle(int k, int n) { return (k + 0.5) * kPi / 2 / n; }

std::string first_kind(int order) {
  constexpr int kPoints = 16;
  std::string sum;
  for (int k = 0; k < kPoints; ++k) {
    const std::string at = digits(std::sin(angle(k, kPoints)));
    sum +=
        (k > 0 ? " + " : "") + (order == 0 ? "cos(m * " + at + ")" : at + " * sin(m * " + at + ")");
  }
  return "let a = abs(x); let m = min(a, 25)\nlet near = (" + sum + ") / " +
         std::to_string(kPoints) + "\n" + asymptotic(order) +
         "let y = where(a < 25, near, root * (cosine * p - sine * q))\n" +
         (order == 0 ? "y" : "where(a < 1e-30, 0.5 * x, where(x < 0, -y, y))");
}

std::string second_kind(int order) {
  constexpr int kPoints = 28;
  std::string terms, j0, j1, rest;
  for (int k = 0; k < kPoints; ++k) {
    const double t = angle(k, kPoints);
    double weight = 0;
    for (int n = 1; n <= kPoints; ++n) weight += (n % 2 == 0 ? 1 : -1) * std::cos(2 * n * t) / n;
    const std::string i = std::to_string(k), at = digits(std::sin(t)), plus = k > 0 ? " + " : "";
    terms += "let z" + i + " = m * " + at + "\n";
    j0 += plus + "cos(z" + i + ")";
    j1 += plus + at + " * sin(z" + i + ")";
    rest += plus + (order == 0 ? digits(weight) + " * cos(z" + i + ")"
                               : digits(weight * std::sin(t)) + " * sin(z" + i + ")");
  }
  const std::string n = std::to_string(kPoints);
  // Half of m may be too small for a number, and 1 / m too large, where Y1 is not.
  const std::string share = digits(2 / kPi / kPoints);
  return "let a = x; let m = min(x, 25)\n" + terms + "let l = log(m) + " +
         digits(kGamma - std::numbers::ln2) + "\nlet near = " +
         (order == 0 ? "2 / pi * (l * (" + j0 + ") - 2 * (" + rest + ")) / " + n
                     : share + " * (l * (" + j1 + ") - 2 * (" + rest + ")) - " + share + " * (" +
                           j0 + ") / m") +
         "\n" + asymptotic(order) +
         "where(x < 0, nan, where(x == 0, -inf, where(x < 25, near, root * (sine * p + cosine * "
         "q))))";
}

std::string modified(int order, bool scaled) {
  constexpr int kTerms = 14, kPoints = 16;
  // The coefficients of I and of what the logarithm does not multiply.
  std::vector<double> i, rest;
  double c = 1, harmonic = 0;
  for (int k = 0; k < kTerms; ++k) {
    i.push_back(c);
    rest.push_back(c * (order == 0 ? harmonic : 2 * (harmonic - kGamma) + 1.0 / (k + 1)));
    harmonic += 1.0 / (k + 1);
    c /= double(k + 1) * (k + 1 + order);
  }
  const std::string log = "(log(s) - " + digits(std::numbers::ln2) + ")";
  const std::string below = order == 0 ? polynomial(rest, "t") + " - (" + log + " + " +
                                             digits(kGamma) + ") * " + polynomial(i, "t")
                                       : "1 / s + 0.5 * s * (" + log + " * " + polynomial(i, "t") +
                                             " - 0.5 * " + polynomial(rest, "t") + ")";
  // cosh(t) - 1 is 2 sinh(t / 2)², and below exp(-38) nothing counts.
  std::string terms, sum = "0.5";
  for (int k = 1; k <= kPoints; ++k) {
    const std::string n = std::to_string(k);
    terms += "let q" + n + " = 2 * square(sinh(" + digits(0.5 * k) + " * h))\n";
    sum += " + exp(-m * q" + n + ")" + (order == 0 ? "" : " * (1 + q" + n + ")");
  }
  return "let s = min(x, 2); let t = 0.25 * s * s; let below = " + below +
         "\nlet m = max(x, 2); let h = " + digits(2.0 / kPoints) + " * asinh(sqrt(19 / m))\n" +
         terms + "let above = h * (" + sum + ")\n" +
         "where(x < 0, nan, where(x == 0, inf, where(x == inf, 0, where(x < 2, below" +
         (scaled ? " * exp(s), above" : ", above * exp(-m)") + "))))";
}

constinit ExpressionRef by_argument{"_bessel_by_argument(Tensor y0, Tensor y1, Tensor x) -> Tensor",
                                    "let few = abs(x) < 1e-30\n"
                                    "where(few, 0.5, y0 - y1 / where(few, 1, x))"};
// Of Y, which is -inf at 0.
constinit ExpressionRef second_by_argument{
    "_bessel_second_by_argument(Tensor y0, Tensor y1, Tensor x) -> Tensor",
    "where(x == 0, inf, y0 - y1 / where(x == 0, 1, x))"};
constinit ExpressionRef modified_by_argument{
    "_bessel_modified_by_argument(Tensor y0, Tensor y1, Tensor x) -> Tensor", "-y0 - y1 / x"};
constinit ExpressionRef spherical{
    "_spherical(Tensor x) -> Tensor",
    "where(isinf(x), 0, where(x == 0, 1, sin(x) / where(x == 0, 1, x)))"};
// Near 0 by its power series, where the difference of the others would lose digits.
constinit ExpressionRef spherical_slope{
    "_spherical_slope(Tensor x) -> Tensor",
    "let u = x * x; let t = where(x == 0, 1, x)\n"
    "where(abs(x) < 0.75, -x / 3 * (1 - u / 10 * (1 - u / 28 * (1 - u / 54 * (1 - u / 88 *"
    " (1 - u / 130 * (1 - u / 180)))))), where(isinf(x), 0, (cos(t) - sin(t) / t) / t))"};

template <detail::OpName name>
Tensor rounded(const Tensor& x) {
  const Dtype dtype = x.dtype().is_float() ? x.dtype() : float32;
  return as_dtype(call(detail::op<name>, as_dtype(x, float64)), dtype);
}

void oscillating() {
  op("_bessel_j0(Tensor x) -> Tensor", first_kind(0).c_str()).no_gradient();
  op("_bessel_j1(Tensor x) -> Tensor", first_kind(1).c_str()).no_gradient();
  op("_bessel_y0(Tensor x) -> Tensor", second_kind(0).c_str()).no_gradient();
  op("_bessel_y1(Tensor x) -> Tensor", second_kind(1).c_str()).no_gradient();
  op("bessel_j0(Tensor x) -> Tensor")
      .doc("The Bessel function of the first kind, of order 0. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_bessel_j0">(x); })
      .vjp([](const Vjp& g,
              Tensor x) { return mul(g.grad(), neg(call(detail::op<"bessel_j1">, x))); },
           Reads::args);
  op("bessel_j1(Tensor x) -> Tensor")
      .doc("The Bessel function of the first kind, of order 1. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_bessel_j1">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        return mul(g.grad(),
                   prim::elementwise(by_argument, call(detail::op<"bessel_j0">, x), g.output(), x));
      });
  op("bessel_y0(Tensor x) -> Tensor")
      .doc(
          "The Bessel function of the second kind, of order 0; NaN below 0. Integers become "
          "float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_bessel_y0">(x); })
      .vjp([](const Vjp& g,
              Tensor x) { return mul(g.grad(), neg(call(detail::op<"bessel_y1">, x))); },
           Reads::args);
  op("bessel_y1(Tensor x) -> Tensor")
      .doc(
          "The Bessel function of the second kind, of order 1; NaN below 0. Integers become "
          "float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_bessel_y1">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        return mul(g.grad(), prim::elementwise(second_by_argument, call(detail::op<"bessel_y0">, x),
                                               g.output(), x));
      });
  op("spherical_bessel_j0(Tensor x) -> Tensor")
      .doc("The spherical Bessel function of order 0, sin(x) / x. Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) {
        const Dtype dtype = x.dtype().is_float() ? x.dtype() : float32;
        return as_dtype(prim::elementwise(spherical, as_dtype(x, float64)), dtype);
      })
      .vjp([](const Vjp& g,
              Tensor x) { return mul(g.grad(), prim::elementwise(spherical_slope, x)); },
           Reads::args);
}

void vanishing() {
  op("_bessel_k0(Tensor x) -> Tensor", modified(0, false).c_str()).no_gradient();
  op("_bessel_k1(Tensor x) -> Tensor", modified(1, false).c_str()).no_gradient();
  op("_scaled_k0(Tensor x) -> Tensor", modified(0, true).c_str()).no_gradient();
  op("_scaled_k1(Tensor x) -> Tensor", modified(1, true).c_str()).no_gradient();
  op("modified_bessel_k0(Tensor x) -> Tensor")
      .doc(
          "The modified Bessel function of the second kind, of order 0; NaN below 0. Integers "
          "become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_bessel_k0">(x); })
      .vjp([](const Vjp& g,
              Tensor x) { return mul(g.grad(), neg(call(detail::op<"modified_bessel_k1">, x))); },
           Reads::args);
  op("modified_bessel_k1(Tensor x) -> Tensor")
      .doc(
          "The modified Bessel function of the second kind, of order 1; NaN below 0. Integers "
          "become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_bessel_k1">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        return mul(g.grad(),
                   prim::elementwise(modified_by_argument,
                                     call(detail::op<"modified_bessel_k0">, x), g.output(), x));
      });
  op("scaled_modified_bessel_k0(Tensor x) -> Tensor")
      .doc("exp(x) * modified_bessel_k0(x). Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_scaled_k0">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        return mul(g.grad(), sub(g.output(), call(detail::op<"scaled_modified_bessel_k1">, x)));
      });
  op("scaled_modified_bessel_k1(Tensor x) -> Tensor")
      .doc("exp(x) * modified_bessel_k1(x). Integers become float32.")
      .amp(Amp::float32)
      .meaning([](Tensor x) { return rounded<"_scaled_k1">(x); })
      .vjp([](const Vjp& g, Tensor x) {
        const Tensor slope = prim::elementwise(
            modified_by_argument, call(detail::op<"scaled_modified_bessel_k0">, x), g.output(), x);
        return mul(g.grad(), add(g.output(), slope));
      });
}

}  // namespace

void bessels() {
  oscillating();
  vanishing();
}

}  // namespace tenon::ops_pack
