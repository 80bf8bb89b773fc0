// Orthogonal polynomials, by the names of torch.special, and the names there of ops that Tenon has by
// these or other names. tenon.hpp does not include it.
//
//   Tensor y = special::legendre_polynomial_p(x, 3);              // (5 x^3 - 3 x) / 2
//   Tensor p = special::chebyshev_polynomial_t(x, arange(0, 5));  // an order for each element
//
// A polynomial of order n is computed by its recurrence (DLMF 18.9), in n launches and with a gradient
// for x, of any order. For n below 0 it is 0. n may be a tensor of integers, which is broadcast with x,
// and whose greatest element is waited for. Of integers and bool the values are float32; halves are
// computed in float32. From n = 7 on PyTorch takes cosines for Chebyshev polynomials where |x| < 1,
// which differ by rounding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "tenon/ops/aliases.hpp"
#include "tenon/ops/norm.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/primitive.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace special {

namespace detail {

using tenon::detail::joined, tenon::detail::sizes_text;

// P(k) = ((a x + b) P(k - 1) - c P(k - 2)) / d with P(0) = 1. Where k is 1 c is 0.
struct Recurrence { double a, b, c, d; };
struct Polynomials {
  const char* name;
  Recurrence (*at)(double k);
  bool is_shifted = false;  // of 2 x - 1 for x
};

// The four kinds of Chebyshev differ in P(1) alone.
inline Recurrence chebyshev(double k, double a, double b) { return k == 1 ? Recurrence{a, b, 0, 1} : Recurrence{2, 0, 1, 1}; }
inline Recurrence chebyshev_t(double k) { return chebyshev(k, 1, 0); }
inline Recurrence chebyshev_u(double k) { return chebyshev(k, 2, 0); }
inline Recurrence chebyshev_v(double k) { return chebyshev(k, 2, -1); }
inline Recurrence chebyshev_w(double k) { return chebyshev(k, 2, 1); }
inline Recurrence hermite_h(double k) { return {2, 0, 2 * (k - 1), 1}; }
inline Recurrence hermite_he(double k) { return {1, 0, k - 1, 1}; }
inline Recurrence laguerre_l(double k) { return {-1, 2 * k - 1, k - 1, k}; }
inline Recurrence legendre_p(double k) { return {2 * k - 1, 0, k - 1, k}; }

inline constinit ExpressionRef polynomial_step{"_polynomial_step(Tensor x, Tensor q, Tensor p, float a, float b, float c, float d) -> Tensor",
                                               "((a * x + b) * q - c * p) / d"};
// Only where k is not beyond n: what was reached stays, so that it is neither lost nor infinite.
inline constinit ExpressionRef polynomial_step_to{"_polynomial_step_to(Tensor x, Tensor q, Tensor p, Tensor n, float k, float a, float b, float c, float d) -> Tensor",
                                                  "where(n >= k, ((a * x + b) * q - c * p) / d, q)"};

// What the recurrence is of.
inline Tensor polynomial_variable(const Polynomials& family, const Tensor& x) {
  const Tensor wide = x.dtype() == float64 ? x : x.to(float32);
  return family.is_shifted ? wide * 2 - 1 : wide;
}
inline Dtype polynomial_dtype(const Tensor& x) { return x.dtype().is_float() ? x.dtype() : float32; }

inline Tensor polynomial(const Polynomials& family, const Tensor& x, int64_t n) {
  const Tensor v = polynomial_variable(family, x);
  // 1 whatever x is, and 0; both with a history.
  Tensor p = pow(v, 0), q = n < 0 ? p - 1 : p;
  for (int64_t k = 1; k <= n; ++k) {
    const Recurrence r = family.at(double(k));
    Tensor next = prim::elementwise(polynomial_step, v, q, p, r.a, r.b, r.c, r.d);
    p = std::exchange(q, std::move(next));
  }
  return q.to(polynomial_dtype(x));
}
inline void expect_broadcast(const Polynomials& family, const Tensor& x, const Tensor& n) {
  for (int64_t d = 1; d <= std::min(x.dim(), n.dim()); ++d) {
    if (x.size(-d) == n.size(-d) || x.size(-d) == 1 || n.size(-d) == 1) continue;
    fail(joined({family.name, ": x is ", sizes_text(x.sizes()), " and n ", sizes_text(n.sizes()), ", expected sizes that broadcast"}));
  }
}
inline Tensor polynomial(const Polynomials& family, const Tensor& x, const Tensor& n) {
  expect_broadcast(family, x, n);
  const Tensor v = polynomial_variable(family, x), order = n.to(int64);
  const int64_t greatest = order.numel() == 0 ? 0 : amax(order).item<int64_t>();
  Tensor p = where(order >= 0, pow(v, 0), 0), q = p;
  for (int64_t k = 1; k <= greatest; ++k) {
    const Recurrence r = family.at(double(k));
    Tensor next = prim::elementwise(polynomial_step_to, v, q, p, order, double(k), r.a, r.b, r.c, r.d);
    p = std::exchange(q, std::move(next));
  }
  return q.to(polynomial_dtype(x));
}

}  // namespace detail

// Chebyshev polynomials of the first to the fourth kind: cos(n t), sin((n + 1) t) / sin(t), cos((n + 1/2) t) / cos(t / 2) and
// sin((n + 1/2) t) / sin(t / 2), where x = cos(t).
inline Tensor chebyshev_polynomial_t(const Tensor& x, Int n) { return detail::polynomial({"chebyshev_polynomial_t", detail::chebyshev_t}, x, n); }
inline Tensor chebyshev_polynomial_t(const Tensor& x, const Tensor& n) { return detail::polynomial({"chebyshev_polynomial_t", detail::chebyshev_t}, x, n); }
inline Tensor chebyshev_polynomial_u(const Tensor& x, Int n) { return detail::polynomial({"chebyshev_polynomial_u", detail::chebyshev_u}, x, n); }
inline Tensor chebyshev_polynomial_u(const Tensor& x, const Tensor& n) { return detail::polynomial({"chebyshev_polynomial_u", detail::chebyshev_u}, x, n); }
inline Tensor chebyshev_polynomial_v(const Tensor& x, Int n) { return detail::polynomial({"chebyshev_polynomial_v", detail::chebyshev_v}, x, n); }
inline Tensor chebyshev_polynomial_v(const Tensor& x, const Tensor& n) { return detail::polynomial({"chebyshev_polynomial_v", detail::chebyshev_v}, x, n); }
inline Tensor chebyshev_polynomial_w(const Tensor& x, Int n) { return detail::polynomial({"chebyshev_polynomial_w", detail::chebyshev_w}, x, n); }
inline Tensor chebyshev_polynomial_w(const Tensor& x, const Tensor& n) { return detail::polynomial({"chebyshev_polynomial_w", detail::chebyshev_w}, x, n); }
// The same of 2 x - 1, for x from 0 to 1.
inline Tensor shifted_chebyshev_polynomial_t(const Tensor& x, Int n) { return detail::polynomial({"shifted_chebyshev_polynomial_t", detail::chebyshev_t, true}, x, n); }
inline Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Tensor& n) { return detail::polynomial({"shifted_chebyshev_polynomial_t", detail::chebyshev_t, true}, x, n); }
inline Tensor shifted_chebyshev_polynomial_u(const Tensor& x, Int n) { return detail::polynomial({"shifted_chebyshev_polynomial_u", detail::chebyshev_u, true}, x, n); }
inline Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Tensor& n) { return detail::polynomial({"shifted_chebyshev_polynomial_u", detail::chebyshev_u, true}, x, n); }
inline Tensor shifted_chebyshev_polynomial_v(const Tensor& x, Int n) { return detail::polynomial({"shifted_chebyshev_polynomial_v", detail::chebyshev_v, true}, x, n); }
inline Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Tensor& n) { return detail::polynomial({"shifted_chebyshev_polynomial_v", detail::chebyshev_v, true}, x, n); }
inline Tensor shifted_chebyshev_polynomial_w(const Tensor& x, Int n) { return detail::polynomial({"shifted_chebyshev_polynomial_w", detail::chebyshev_w, true}, x, n); }
inline Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Tensor& n) { return detail::polynomial({"shifted_chebyshev_polynomial_w", detail::chebyshev_w, true}, x, n); }
// Hermite polynomials, with the weights exp(-x^2) (physicists') and exp(-x^2 / 2) (of probability).
inline Tensor hermite_polynomial_h(const Tensor& x, Int n) { return detail::polynomial({"hermite_polynomial_h", detail::hermite_h}, x, n); }
inline Tensor hermite_polynomial_h(const Tensor& x, const Tensor& n) { return detail::polynomial({"hermite_polynomial_h", detail::hermite_h}, x, n); }
inline Tensor hermite_polynomial_he(const Tensor& x, Int n) { return detail::polynomial({"hermite_polynomial_he", detail::hermite_he}, x, n); }
inline Tensor hermite_polynomial_he(const Tensor& x, const Tensor& n) { return detail::polynomial({"hermite_polynomial_he", detail::hermite_he}, x, n); }
// Laguerre polynomials, with the weight exp(-x) from 0 on.
inline Tensor laguerre_polynomial_l(const Tensor& x, Int n) { return detail::polynomial({"laguerre_polynomial_l", detail::laguerre_l}, x, n); }
inline Tensor laguerre_polynomial_l(const Tensor& x, const Tensor& n) { return detail::polynomial({"laguerre_polynomial_l", detail::laguerre_l}, x, n); }
// Legendre polynomials, with the weight 1 from -1 to 1.
inline Tensor legendre_polynomial_p(const Tensor& x, Int n) { return detail::polynomial({"legendre_polynomial_p", detail::legendre_p}, x, n); }
inline Tensor legendre_polynomial_p(const Tensor& x, const Tensor& n) { return detail::polynomial({"legendre_polynomial_p", detail::legendre_p}, x, n); }

// The modified Bessel functions of the first kind, whose shorter names PyTorch has, too.
inline Tensor modified_bessel_i0(const Tensor& x) { return tenon::i0(x); }
inline Tensor modified_bessel_i1(const Tensor& x) { return tenon::i1(x); }

// What tenon has by the same name.
using tenon::bessel_j0, tenon::bessel_j1, tenon::bessel_y0, tenon::bessel_y1;
using tenon::digamma, tenon::gammainc, tenon::gammaincc, tenon::gammaln, tenon::multigammaln, tenon::polygamma, tenon::psi, tenon::zeta;
using tenon::entr, tenon::erf, tenon::erfc, tenon::erfcx, tenon::erfinv, tenon::log_ndtr, tenon::ndtr, tenon::ndtri;
using tenon::exp2, tenon::expit, tenon::expm1, tenon::log1p, tenon::logit, tenon::round, tenon::sinc, tenon::xlog1py, tenon::xlogy;
using tenon::i0, tenon::i0e, tenon::i1, tenon::i1e;
using tenon::log_softmax, tenon::logsumexp, tenon::softmax;
using tenon::modified_bessel_k0, tenon::modified_bessel_k1, tenon::scaled_modified_bessel_k0, tenon::scaled_modified_bessel_k1;
using tenon::spherical_bessel_j0;

}  // namespace special
}  // namespace v0
}  // namespace tenon
