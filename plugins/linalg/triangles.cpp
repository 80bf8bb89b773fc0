// Equations with triangular matrices, and what Cholesky's factor solves.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

std::array<Meta, 1> triangular_metas(const Tensor& a, const Tensor& b) {
  expect_equations("solve_triangular", a, b);
  return {Meta(b)};
}

std::vector<Tensor> triangular_gradient(const Vjp& g, const Tensor& a, const Tensor&, bool upper,
                                        bool unitriangular) {
  const Tensor gb = host_solve_triangular(a.mT(), g.grad(), !upper, unitriangular);
  if (!g.needs(0)) return {Tensor(), gb};
  const Tensor ga = neg(matmul(gb, g.output().mT()));
  const int64_t beside = unitriangular ? 1 : 0;
  return {upper ? triu(ga, beside) : tril(ga, -beside), gb};
}

Tensor triangular_solution(const Tensor& a, const Tensor& b, bool upper, bool left,
                           bool unitriangular) {
  const char* name = "solve_triangular";
  expect_square(name, "a", a);
  expect_matrices(name, "b", b);
  expect_same_dtype(name, "a", a, "b", b);
  if (b.size(left ? -2 : -1) != a.size(-1)) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and b is ",
                         sizes_text(b.sizes()), ", expected ", std::to_string(a.size(-1)),
                         left ? " rows of b" : " columns of b"}));
  }
  const auto [triangle, right] = broadcast_batches(name, a, b);
  if (left) return host_solve_triangular(triangle, right, upper, unitriangular);
  return host_solve_triangular(triangle.mT(), right.mT(), !upper, unitriangular).mT();
}

// a x = b for a = l l^T, or u^T u.
Tensor cholesky_solution(const char* name, const Tensor& b, const Tensor& l, bool upper) {
  expect_matrices(name, "b", b);
  expect_square(name, "l", l);
  expect_same_dtype(name, "l", l, "b", b);
  if (b.size(-2) != l.size(-1)) {
    fail(
        detail::joined({name, ": l is ", sizes_text(l.sizes()), " and b is ", sizes_text(b.sizes()),
                        ", expected ", std::to_string(l.size(-1)), " rows of b"}));
  }
  const auto [factor, right] = broadcast_batches(name, l, b);
  const Tensor lower = upper ? factor.mT() : factor;
  return host_solve_triangular(lower.mT(), host_solve_triangular(lower, right, false), true);
}

}  // namespace

void triangles() {
  op("_solve_triangular(Tensor a, Tensor b, bool upper, bool unitriangular) -> Tensor")
      .infer([](Tensor a, Tensor b, bool, bool) { return triangular_metas(a, b); })
      .keeps_halves()
      .meaning([](Tensor a, Tensor b, bool upper, bool unitriangular) {
        return through_host<Tensor>("solve_triangular", solve_triangular_op, a,
                                    triangular_metas(a, b), a, b, upper, unitriangular);
      })
      .vjp(triangular_gradient);
  op("solve_triangular(Tensor a, Tensor b, bool upper, bool left=True, bool unitriangular=False) "
     "-> Tensor")
      .doc(
          "x with a x = b [.., n, k] for triangles a [.., n, n], upper or lower; x a = b without "
          "left. unitriangular: the diagonal of a is taken to be 1. A 0 on it gives infinities and "
          "NaN.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(triangular_solution);
  op("cholesky_solve(Tensor b, Tensor l, bool upper=False) -> Tensor")
      .doc(
          "x with a x = b [.., n, k], where l is the factor of Cholesky of a, or upper the upper "
          "one.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor b, Tensor l, bool upper) {
        return cholesky_solution("cholesky_solve", b, l, upper);
      });
  op("cholesky_inverse(Tensor l, bool upper=False) -> Tensor")
      .doc("The inverse of a, where l [.., n, n] is the factor of Cholesky of a, or the upper one.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor l, bool upper) {
        expect_square("cholesky_inverse", "l", l);
        return cholesky_solution("cholesky_inverse", identity(l.size(-1), l), l, upper);
      });
}

}  // namespace tenon::linalg_pack
