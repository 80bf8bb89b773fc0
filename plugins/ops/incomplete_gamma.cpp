// The regularized incomplete gamma functions. A part of the family elementwise. As in special.cpp,
// they compute in float64 and round once. Each is one formula, which holds four ways to compute:
//
//   a < 30       x < max(a + 1, 4): the power series of P, DLMF 8.11.4.
//                else: Legendre's continued fraction of Q, DLMF 8.9.2.
//   a < 100000   Gauss' quadrature of the integral from x to where nothing is left, of P or Q. The
//                integrand is divided by its greatest value by Stirling's series, DLMF 5.11.1.
//   else         Temme's uniform expansion, DLMF 8.12.3, 8.12.4 and 8.12.7.
//
// One of P and Q is computed so, which is exact in its tail, and the other is 1 less it.
#include "pack.h"

#include <cmath>
#include <numbers>

#include "gamma.h"

namespace tenon::ops_pack {
namespace {

// S of P = x^c e^-x / Γ(c + 1) S, 64 terms, named `series`.
std::string power_series() {
  constexpr int kTerms = 64, kAtOnce = 16;
  std::string lines, last = "1";
  for (int from = kTerms - kAtOnce; from >= 0; from -= kAtOnce) {
    std::string text = last;
    for (int k = from + kAtOnce; k > from; --k)
      text = "1 + x / (c + " + std::to_string(k) + ") * (" + text + ")";
    last = from == 0 ? "total" : "total" + std::to_string(from);
    lines += "let " + last + " = " + text + "\n";
  }
  return lines;
}

// F of Q = x^c e^-x / Γ(c) F, evaluated backward from its 40th level, named `fraction`. d is x - c.
std::string continued_fraction() {
  std::string lines, last = "0";
  for (int k = 40; k > 0; --k) {
    const std::string n = std::to_string(k);
    lines += "let f" + n + " = " + n + " * (" + n + " - c) / (d + " + std::to_string(2 * k + 1) +
             " - " + last + ")\n";
    last = "f" + n;
  }
  return lines + "let fraction = 1 / (d + 1 - " + last + ")\n";
}

// The integral of exp(b (log1p(t) - t)) over t from o to o + h, divided by h, named `mean`: by Gauss
// and Legendre with 32 points, the zeros of Legendre's polynomial, which Newton's steps find.
// DLMF 3.5.19 to 3.5.23.
std::string quadrature() {
  constexpr int kPoints = 32;
  std::string lines, sum;
  for (int i = 0; i < kPoints; ++i) {
    double y = std::cos(std::numbers::pi * (i + 0.75) / (kPoints + 0.5)), slope = 1;
    for (int step = 0; step < 10; ++step) {
      double before = 0, at = 1;
      for (int n = 0; n < kPoints; ++n) {
        const double next = ((2 * n + 1) * y * at - n * before) / (n + 1);
        before = at, at = next;
      }
      slope = kPoints * (y * at - before) / (y * y - 1);
      y -= at / slope;
    }
    const std::string t = "t" + std::to_string(i);
    lines += "let " + t + " = o + h * " + digits_of((1 + y) / 2) + "\n";
    sum += (i > 0 ? " + " : "") + digits_of(1 / ((1 - y * y) * slope * slope)) +
           " * exp(b * (log1p(" + t + ") - " + t + "))";
  }
  return lines + "let mean = " + sum + "\n";
}

// P, or Q where `upper`.
std::string incomplete_gamma(bool upper) {
  const std::string small =
      "let c = min(a, 30); let d = x - c; let z = c + 1\n" LOG_GAMMA(
          "l", "z") "let front = exp(c * log(x) - x - l); let is_series = x < max(c + 1, 4)\n" +
      power_series() + continued_fraction();
  // Where the integral ends, nothing is left of it: 12 deviations r behind the greatest value, which
  // is at b, and 8 behind x; or 9 and 7 before, and at 0.
  const std::string middle =
      "let b = max(a, 30) - 1; let r = sqrt(b); let gap = x - b; let o = gap / b\n"
      "let way = where(gap > 0, max(12 * r - gap, 8 * r), max(-x, min(-gap - 9 * r, -7 * r)))\n"
      "let h = way / b; let q = 1 / (b * b)\n" +
      quadrature() +
      "let most = exp(-(1 / 12 - q * (1 / 360 - q * (1 / 1260 - q / 1680))) / b) / sqrt(2 * pi * "
      "b)\n"
      "let area = mean * abs(way) * most\n";
  // The lower one is 1/2 erfc(-η sqrt(a / 2)) - R, where η² / 2 is s - log1p(s).
  const std::string large =
      "let e = clamp((x - a) / a, -0.5, 0.5); let u = e / (2 + e); let p = u * u\n"
      "let half = e * u - 2 * u * p * (1 / 3 + p * (1 / 5 + p * (1 / 7 + p * (1 / 9 + p / 11))))\n"
      "let n = sign(e) * sqrt(2 * half)\n"
      "let rest = exp(-a * half) / sqrt(2 * pi * a) * (-1 / 3 + n * (1 / 12 - n * (2 / 135 -"
      " n * (1 / 864 + n * (1 / 2835 - n * (139 / 777600 - n / 25515))))) -"
      " (1 / 540 + n * (1 / 288 - n * (25 / 12096))) / a)\n"
      "let far = n * sqrt(0.5 * a)\n";
  const std::string lower_far = "0.5 * erfc(-far) - rest", upper_far = "0.5 * erfc(far) + rest";
  const std::string chosen =
      "let is_lower = where(a < 30, is_series, gap <= 0)\n"
      "let part = min(where(a < 30, where(is_series, front * total, c * front * fraction), area), "
      "1)\n"
      "let y = where(a < 100000, where(is_lower, " +
      std::string(upper ? "1 - part, part" : "part, 1 - part") + "), " +
      (upper ? upper_far : lower_far) + ")\n";
  const std::string none = upper ? "1" : "0", all = upper ? "0" : "1";
  return small + middle + large + chosen +
         "where(isnan(a) or isnan(x) or a < 0 or x < 0, nan, where(a == 0, where(x > 0, " + all +
         ", nan), where(x == 0, " + none + ", where(isinf(a), where(isinf(x), nan, " + none +
         "), where(isinf(x), " + all + ", y)))))";
}

// ± x^(a - 1) e^-x / Γ(a), DLMF 8.8.13. In float64, since the exponent is a difference.
Tensor slope(const char* op, const Vjp& g, const Tensor& a, const Tensor& x, double sign) {
  if (g.needs(0)) fail(std::string(op) + ": has no gradient to a");
  const Tensor p = as_dtype(a, float64), at = as_dtype(x, float64);
  const Tensor density = exp(sub(sub(xlogy(sub(p, 1), at), at), lgamma(p)));
  return mul(as_dtype(g.grad(), float64), mul(density, sign));  // rounded by whom it goes to
}

template <detail::OpName name>
Tensor rounded(const char* op, const Tensor& a, const Tensor& x) {
  const Dtype dtype = promoted(a, x);
  if (!dtype.is_float()) {
    fail(std::string(op) + ": a is " + a.dtype().name() + " and x " + x.dtype().name() +
         ", expected a floating dtype of one of them");
  }
  return as_dtype(call(detail::op<name>, as_dtype(a, float64), as_dtype(x, float64)), dtype);
}

}  // namespace

void incomplete_gammas() {
  op("_igamma(Tensor a, Tensor x) -> Tensor", incomplete_gamma(false).c_str()).no_gradient();
  op("_igammac(Tensor a, Tensor x) -> Tensor", incomplete_gamma(true).c_str()).no_gradient();
  op("igamma(Tensor a, Tensor x) -> Tensor")
      .doc(
          "The regularized lower incomplete gamma function P(a, x): the integral of t^(a - 1) "
          "exp(-t) from 0 to x, divided by Γ(a). NaN where a or x is negative. There is no "
          "gradient to a. DLMF 8.2.4.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, Tensor x) { return rounded<"_igamma">("igamma", a, x); })
      .vjp(
          [](const Vjp& g, Tensor a, Tensor x) {
            return std::tuple{Tensor(), slope("igamma", g, a, x, 1)};
          },
          Reads::args);
  op("igammac(Tensor a, Tensor x) -> Tensor")
      .doc(
          "The regularized upper incomplete gamma function Q(a, x) = 1 - igamma(a, x), which is "
          "exact where it is small because x is large. There is no gradient to a. DLMF 8.2.4.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, Tensor x) { return rounded<"_igammac">("igammac", a, x); })
      .vjp(
          [](const Vjp& g, Tensor a, Tensor x) {
            return std::tuple{Tensor(), slope("igammac", g, a, x, -1)};
          },
          Reads::args);
}

}  // namespace tenon::ops_pack
