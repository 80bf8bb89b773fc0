// Determinants, their signs and logarithms, by LU factors.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

std::array<Meta, 1> adjugate_metas(const Tensor& a) {
  expect_square("det", "a", a);
  return {Meta(a)};
}

constinit ExpressionRef parity{"_parity(Tensor exchanges) -> Tensor", "1 - 2 * (exchanges % 2)"};

// 1 or -1: LAPACK exchanged a row where its pivot is not its own number.
Tensor permutation_sign(const Tensor& pivots, Dtype dtype) {
  const Tensor own = arange(1, pivots.size(-1) + 1, 1, int32, pivots.device());
  const Tensor exchanges = sum(ne(pivots, own).to(int64), {-1});
  return prim::elementwise(parity, exchanges).to(dtype);
}

Tensor det_of(const Tensor& a) {
  const auto [lu, pivots, info] = host_lu(a, false);
  return prod(diagonal(lu, 0, -2, -1), -1) * permutation_sign(pivots, a.dtype());
}

Pair slogdet_of(const Tensor& a) {
  const auto [lu, pivots, info] = host_lu(a, false);
  const Tensor u = diagonal(lu, 0, -2, -1);
  return {prod(sign(u), -1) * permutation_sign(pivots, a.dtype()), sum(log(abs(u)), {-1})};
}

Tensor as_matrix(const Tensor& x) { return unsqueeze(unsqueeze(x, -1), -1); }

// The adjugate y is det(a) inv(a), so that dy = tr(inv(a) da) y - inv(a) da y.
Tensor adjugate_gradient(const Vjp& g, const Tensor& a) {
  const Tensor y = g.output();
  const Tensor trace = as_matrix(sum(g.grad() * y, {-2, -1})) * identity(a.size(-1), a);
  return host_solve(a.mT(), trace - matmul(g.grad(), y.mT()));
}

}  // namespace

void determinants() {
  op("_adjugate(Tensor a) -> Tensor")
      .infer([](Tensor a) { return adjugate_metas(a); })
      .keeps_halves()
      .meaning([](Tensor a) {
        return through_host<Tensor>("det", adjugate_op, a, adjugate_metas(a), a);
      })
      .vjp(adjugate_gradient);
  op("_slogdet(Tensor a) -> (Tensor sign, Tensor logabsdet)")
      .keeps_halves()
      .meaning(slogdet_of)
      .vjp(
          [](const Vjp& g, const Tensor& a) {
            if (!g.grad(1).defined()) return Tensor();
            return as_matrix(g.grad(1)) * host_inv(a).mT();
          },
          Reads::args);
  op("det(Tensor a) -> Tensor")
      .doc(
          "The determinants of square matrices a [.., n, n]. The gradient is there for singular "
          "ones too, the gradient of the gradient for others alone.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_square("det", "a", a);
        return det_of(a);
      })
      .vjp([](const Vjp& g,
              const Tensor& a) { return as_matrix(g.grad()) * call(adjugate_op, a).mT(); },
           Reads::args);
  op("slogdet(Tensor a) -> (Tensor sign, Tensor logabsdet)")
      .doc(
          "The signs of the determinants of a [.., n, n], and the logarithms of their absolute "
          "values: 0 and -inf for singular matrices, for which there is no gradient.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_square("slogdet", "a", a);
        return detail::call<Pair>(slogdet_op, a);
      });
  op("logdet(Tensor a) -> Tensor")
      .doc("The logarithms of the determinants of a [.., n, n]: -inf for 0, NaN for negative ones.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_square("logdet", "a", a);
        const auto [sign, logarithm] = detail::call<Pair>(slogdet_op, a);
        return where(sign < 0, NAN, logarithm);
      });
}

}  // namespace tenon::linalg_pack
