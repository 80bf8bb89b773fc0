// Factors l d l^T of symmetric matrices that need not be positive definite, and solutions by them.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

std::array<Meta, 3> ldl_metas(const Tensor& a, bool check) {
  expect_square("ldl_factor", "a", a);
  return {Meta(a), Meta(leading_sizes(a, 1), int32, a.device()), info_meta(a, check)};
}
std::array<Meta, 1> ldl_solve_metas(const Tensor& ld, const Tensor& pivots, const Tensor& b) {
  expect_equations("ldl_solve", ld, b, "ld");
  expect_pivots("ldl_solve", ld, pivots);
  return {Meta(b)};
}

// The factors in one matrix, pivots, and infos.
Triple host_ldl(const Tensor& a, bool check) { return detail::call<Triple>(ldl_op, a, check); }

// a is symmetric, so that b's gradient solves the same equation.
std::vector<Tensor> ldl_solve_gradient(const Vjp& g, const Tensor& ld, const Tensor& pivots,
                                       const Tensor&) {
  if (g.needs(0)) {
    fail("there is no gradient of ld, but of b alone; solve has the gradients of both",
         TN_UNSUPPORTED);
  }
  return {Tensor(), Tensor(), call(ldl_solve_op, ld, pivots, g.grad())};
}

Tensor ldl_solution(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool) {
  const char* name = "ldl_solve";
  expect_factored(name, "ld", ld, pivots, b, /*left=*/true);
  const auto [factors, right] = broadcast_batches(name, ld, b, {"ld", "b"});
  return call(ldl_solve_op, factors, prim::expand(pivots, leading_sizes(factors, 1)), right);
}

}  // namespace

void indefinite() {
  op("_ldl(Tensor a, bool check) -> (Tensor ld, Tensor pivots, Tensor info)")
      .infer([](Tensor a, bool check) { return ldl_metas(a, check); })
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor a, bool check) {
        return through_host<Triple>("ldl_factor", ldl_op, a, ldl_metas(a, check), a, check);
      });
  op("_ldl_solve(Tensor ld, Tensor pivots, Tensor b) -> Tensor")
      .infer([](Tensor ld, Tensor pivots, Tensor b) { return ldl_solve_metas(ld, pivots, b); })
      .keeps_halves()
      .meaning([](Tensor ld, Tensor pivots, Tensor b) {
        return through_host<Tensor>("ldl_solve", ldl_solve_op, ld, ldl_solve_metas(ld, pivots, b),
                                    ld, pivots, b);
      })
      .vjp(ldl_solve_gradient, Reads::args);
  op("ldl_factor(Tensor a, bool hermitian=False) -> (Tensor ld, Tensor pivots)")
      .doc(
          "l d l^T = a for symmetric matrices a [.., n, n], of which it reads the lower triangles: "
          "l, whose diagonal is 1, and the blocks of d, of one or two rows, in one matrix, and "
          "LAPACK's numbers of rows, negative for blocks of two: see sytrf. Refuses singular "
          "matrices. hermitian makes no difference to real numbers.")
      .no_gradient()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, bool) {
        expect_square("ldl_factor", "a", a);
        const auto [ld, pivots, info] = host_ldl(a, true);
        return Pair{ld, pivots};
      });
  op("ldl_factor_ex(Tensor a, bool hermitian=False, bool check_errors=False) -> "
     "(Tensor ld, Tensor pivots, Tensor info)")
      .doc(
          "ldl_factor(a), and info [..] int32: 0, or the number, from 1, of the first element of "
          "d's diagonal that is 0, where a matrix is singular. With check_errors it refuses such "
          "matrices.")
      .no_gradient()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, bool, bool check) {
        expect_square("ldl_factor_ex", "a", a);
        const auto [ld, pivots, info] = host_ldl(a, check);
        return Triple{ld, pivots, info_of(info, a)};
      });
  op("ldl_solve(Tensor ld, Tensor pivots, Tensor b, bool hermitian=False) -> Tensor")
      .doc(
          "x with a x = b [.., n, k] for the matrices of which ldl_factor gave ld and pivots. "
          "Leading dimensions broadcast. b alone has a gradient.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(ldl_solution);
}

}  // namespace tenon::linalg_pack
