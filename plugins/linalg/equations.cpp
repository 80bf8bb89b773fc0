// Inverses and solutions of linear equations, by LU factors, by QR factors and by singular values.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

std::array<Meta, 2> inv_metas(const Tensor& a, bool check) {
  expect_square("inv", "a", a);
  return {Meta(a), info_meta(a, check)};
}
std::array<Meta, 1> solve_metas(const Tensor& a, const Tensor& b) {
  expect_equations("solve", a, b);
  return {Meta(b)};
}

Tensor inv_gradient(const Vjp& g, const Tensor&, bool) {
  const Tensor y = g.output().mT();
  return neg(matmul(y, matmul(g.grad(), y)));
}

std::vector<Tensor> solve_gradient(const Vjp& g, const Tensor& a, const Tensor&) {
  const Tensor gb = host_solve(a.mT(), g.grad());
  return {g.needs(0) ? neg(matmul(gb, g.output().mT())) : Tensor(), gb};
}

void host_equations() {
  op("_inv(Tensor a, bool check) -> (Tensor inverse, Tensor info)")
      .infer([](Tensor a, bool check) { return inv_metas(a, check); })
      .keeps_halves()
      .meaning([](Tensor a, bool check) {
        return through_host<Pair>("inv", inv_op, a, inv_metas(a, check), a, check);
      })
      .vjp(inv_gradient, Reads::outputs);
  op("_solve(Tensor a, Tensor b) -> Tensor")
      .infer([](Tensor a, Tensor b) { return solve_metas(a, b); })
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) {
        return through_host<Tensor>("solve", solve_op, a, solve_metas(a, b), a, b);
      })
      .vjp(solve_gradient);
}

// Is b one right side for each matrix, without a dimension for columns?
bool are_vectors(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (b.dim() == a.dim() - 1 && b.sizes() == Ints(leading_sizes(a, 1)));
}

void expect_right_side(const char* name, const Tensor& a, const Tensor& b) {
  if (b.dim() < 1) fail(detail::joined({name, ": b is [], expected at least 1 dimension"}));
  expect_same_dtype(name, "a", a, "b", b);
}

// What solve gets as b, as matrices of as many rows as a has: a vector is a column, and x a = b is
// a^T x^T = b^T.
struct RightSide {
  Tensor columns;
  bool vectors, left;
  // A solution, in the form of b.
  Tensor as_given(const Tensor& x) const { return vectors ? squeeze(x, -1) : left ? x : x.mT(); }
};

RightSide right_side(const char* name, const Tensor& a, const Tensor& b, bool left) {
  expect_square(name, "a", a);
  expect_right_side(name, a, b);
  const bool vectors = are_vectors(a, b);
  if (vectors && !left) {
    fail(detail::joined({name, ": b is ", sizes_text(b.sizes()), ", which are vectors for a of ",
                         sizes_text(a.sizes()), ", expected matrices where left is false"}));
  }
  Tensor right = vectors ? unsqueeze(b, -1) : b;
  if (!left) right = right.mT();
  if (right.size(-2) != a.size(-1)) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and b is ",
                         sizes_text(b.sizes()), ", expected ", std::to_string(a.size(-1)),
                         vectors ? " elements of b"
                         : left  ? " rows of b"
                                 : " columns of b"}));
  }
  return {right, vectors, left};
}

Tensor solution(const Tensor& a, const Tensor& b, bool left) {
  const RightSide side = right_side("solve", a, b, left);
  const auto [matrices, right] = broadcast_batches("solve", left ? a : a.mT(), side.columns);
  return side.as_given(host_solve(matrices, right));
}

// By the factors of a as it is given, so that there is an info for each matrix of a.
Pair solution_and_info(const Tensor& a, const Tensor& b, bool left, bool check) {
  const RightSide side = right_side("solve_ex", a, b, left);
  const auto [lu, pivots, info] = host_lu(left ? a : a.mT(), check);
  const Tensor x = solution_by_lu("solve_ex", lu, pivots, side.columns, /*adjoint=*/false);
  return {side.as_given(x), info_of(info, a)};
}

// For full rank: inv(r) q^T b of a tall matrix' factors; of a wide one the shortest of all
// solutions, q inv(r)^T b of its transpose's factors.
Pair least_squares(const Tensor& a, const Tensor& b) {
  const char* name = "lstsq";
  expect_matrices(name, "a", a);
  expect_right_side(name, a, b);
  const bool vectors = are_vectors(a, b);
  const Tensor given = vectors ? unsqueeze(b, -1) : b;
  const int64_t m = a.size(-2), n = a.size(-1);
  if (given.size(-2) != m) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and b is ",
                         sizes_text(b.sizes()), ", expected ", std::to_string(m),
                         vectors ? " elements of b" : " rows of b"}));
  }
  const auto [matrices, right] = broadcast_batches(name, a, given);
  const double least = epsilon_of(a) * double(std::max<int64_t>(std::max(m, n), 1));
  Tensor x;
  Tensor residuals = empty({0}, a.dtype(), a.device());
  if (m >= n) {
    const auto [q, r] = host_qr(matrices, false, least);
    x = host_solve_triangular(r, matmul(q.mT(), right), true);
    if (m > n) residuals = sum(square(matmul(matrices, x) - right), {-2});
  } else {
    const auto [q, r] = host_qr(matrices.mT(), false, least);
    x = matmul(q, host_solve_triangular(r.mT(), right, false));
  }
  return {vectors ? squeeze(x, -1) : x, residuals};
}

}  // namespace

void equations() {
  host_equations();
  op("inv(Tensor a) -> Tensor")
      .doc("The inverses of square matrices a [.., n, n]. Refuses singular ones.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_square("inv", "a", a);
        return host_inv(a);
      });
  op("inv_ex(Tensor a, bool check_errors=False) -> (Tensor inverse, Tensor info)")
      .doc(
          "inv(a), with infinities where there is none, and info [..] int32: 0, or which pivot, "
          "from 1, is the first that is 0. With check_errors it refuses singular matrices.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, bool check) {
        expect_square("inv_ex", "a", a);
        const auto [inverse, info] = host_inv(a, check);
        return Pair{inverse, info_of(info, a)};
      });
  op("solve(Tensor a, Tensor b, bool left=True) -> Tensor")
      .doc(
          "x with a x = b for square matrices a [.., n, n] and b [.., n, k] or [.., n]; x a = b "
          "without left. Leading dimensions broadcast. Refuses singular matrices.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(solution);
  op("solve_ex(Tensor a, Tensor b, bool left=True, bool check_errors=False) -> "
     "(Tensor result, Tensor info)")
      .doc(
          "solve(a, b, left), with infinities or NaN where a matrix is singular, and info [..] "
          "int32 for each matrix a: 0, or which pivot, from 1, is the first that is 0. With "
          "check_errors it refuses singular matrices.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(solution_and_info);
  op("lstsq(Tensor a, Tensor b) -> (Tensor solution, Tensor residuals)")
      .doc(
          "x [.., n, k] for which the sum of squares of a x - b is least, for a [.., m, n] of full "
          "rank and b [.., m, k] or [.., m]; of several the shortest. residuals are those sums "
          "[.., k] where m > n, else empty. By QR factors; refuses matrices without full rank.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(least_squares);
}

}  // namespace tenon::linalg_pack
