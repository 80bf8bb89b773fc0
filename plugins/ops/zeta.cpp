// Hurwitz' zeta function, and the multivariate logarithm of the gamma function. A part of the family
// elementwise. As in special.cpp, the series computes in float64 and rounds once.
#include "pack.h"

#include <cmath>

#include "gamma.h"

namespace tenon::ops_pack {
namespace {

// Where q is negative, the terms of negative q + k are those of a function of positive ones: with
// f = q - floor(q) the sum is ζ(x, f) ± (ζ(x, 1 - f) - ζ(x, 1 - q)), whose sign is that of (-1)^x.
// They have a value for whole x alone. Terms behind the twelfth vanish beside the first long before
// x is 10000. At the edges as PyTorch and Cephes, but that an infinite x or q gives the limit.
constinit ExpressionRef hurwitz_sum{
    "_hurwitz_sum(Tensor x, Tensor q) -> Tensor",
    "let s = min(x, 10000); let f = q - floor(q); let is_negative = q <= 0\n"
    "let p = where(is_negative, f, q); let above = where(is_negative, 1 - f, 1)\n"
    "let below = where(is_negative, 1 - q, 1)\n" HURWITZ_ZETA("y", "p", "x", "s")
        HURWITZ_ZETA("a", "above", "x", "s") HURWITZ_ZETA("b", "below", "x", "s")
    "let turned = where(fmod(x, 2) == 0, y + (a - b), y - (a - b))\n"
    "where(x == 1, inf, where(x < 1, nan, where(q == -inf or is_negative and f == 0, inf,"
    " where(is_negative, where(x == floor(x), turned, nan), y))))"};

// In float64; of a number a tensor without dimensions, beside `other`.
Tensor in_float64(const Operand& x, const Operand& other) {
  if (x.is_tensor()) return as_dtype(x.tensor(), float64);
  return prim::fill({}, Number(x), float64, other.tensor().device());
}

Tensor zeta_of(const Operand& x, const Operand& q) {
  if (!x.is_tensor() && !q.is_tensor())
    fail("zeta: x and q are numbers, expected one tensor at least");
  const Dtype dtype = promoted(x, q);
  return as_dtype(call(detail::op<"_zeta">, in_float64(x, q), in_float64(q, x)),
                  dtype.is_float() ? dtype : float32);
}

Tensor multivariate_log_gamma(const Tensor& x, int64_t p) {
  if (x.dtype() == bool_) fail("mvlgamma: x is bool, expected numbers");
  if (p < 1) fail("mvlgamma: p is " + std::to_string(p) + ", expected 1 or more");
  const Tensor halves = prim::iota(p, 0, -0.5, float64, x.device());
  const Tensor terms = lgamma(add(unsqueeze(as_dtype(x, float64), -1), halves));
  const double constant = 0.25 * double(p) * double(p - 1) * std::log(M_PI);
  return as_dtype(add(sum(terms, {-1}), constant), x.dtype().is_float() ? x.dtype() : float32);
}

}  // namespace

void zetas() {
  // Of tensors of float64.
  op("_zeta(Tensor x, Tensor q) -> Tensor")
      .meaning([](Tensor x, Tensor q) { return prim::elementwise(hurwitz_sum, x, q); })
      .vjp([](const Vjp& g, Tensor x, Tensor q) {
        if (g.needs(0)) fail("zeta: has no gradient to x");
        return std::tuple{Tensor(),
                          mul(g.grad(), mul(neg(x), call(detail::op<"_zeta">, add(x, 1), q)))};
      });
  op("zeta(Tensor x, Tensor q) -> Tensor")
      .doc(
          "Hurwitz' zeta function: the sum of (q + k)^-x over k from 0 on. Infinite where x is 1 "
          "or "
          "q is 0 or a negative integer; NaN where x is below 1, or q negative and x not whole. "
          "Integers become float32. There is no gradient to x. DLMF 25.11.1.")
      .amp(Amp::float32)
      .numbers()
      .keeps_halves()
      .meaning([](Operand x, Operand q) { return zeta_of(x, q); });
  op("mvlgamma(Tensor x, int p) -> Tensor")
      .doc(
          "The logarithm of the multivariate gamma function of p dimensions: p (p - 1) / 4 log(pi) "
          "and the sum of lgamma(x - j / 2) over j from 0 to p - 1. Integers become float32. DLMF "
          "35.3.4.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(multivariate_log_gamma);
}

}  // namespace tenon::ops_pack
