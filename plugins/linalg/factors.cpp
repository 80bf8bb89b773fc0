// Factors of matrices: of Cholesky, LU and QR, with their gradients.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

// What the kernels may lean on is refused here: an op is asked for its outputs before its kernel runs.
std::array<Meta, 2> cholesky_metas(const Tensor& a, bool check) {
  expect_square("cholesky", "a", a);
  return {Meta(a), info_meta(a, check)};
}
std::array<Meta, 3> lu_metas(const Tensor& a, bool check) {
  expect_matrices("lu", "a", a);
  return {Meta(a), Meta(with_sizes(leading_sizes(a), {smaller_size(a)}), int32, a.device()),
          info_meta(a, check)};
}
std::array<Meta, 1> permutation_metas(const Tensor& pivots, int64_t n) {
  if (pivots.dtype() != int32 || pivots.dim() < 1 || pivots.size(-1) > n) {
    fail("pivots is " + sizes_text(pivots.sizes()) + " " + pivots.dtype().name() +
         ", expected int32 and at most " + std::to_string(n) + " in the last dimension");
  }
  return {Meta(with_sizes(leading_sizes(pivots, 1), {n}), int64, pivots.device())};
}
std::array<Meta, 2> qr_metas(const Tensor& a, bool complete) {
  expect_matrices("qr", "a", a);
  const int64_t kept = complete ? a.size(-2) : smaller_size(a);
  return {Meta(with_sizes(leading_sizes(a), {a.size(-2), kept}), a.dtype(), a.device()),
          Meta(with_sizes(leading_sizes(a), {kept, a.size(-1)}), a.dtype(), a.device())};
}

// The lower triangle, mirrored.
Tensor mirrored_lower(const Tensor& x) { return tril(x) + tril(x, -1).mT(); }
// x inv(r)^T for an upper triangle r.
Tensor behind_inverse(const Tensor& x, const Tensor& r) {
  return host_solve_triangular(r, x.mT(), true).mT();
}

// Murray, arXiv:1602.07527, 2.3: inv(l)^T phi(l^T g) inv(l), made symmetric.
Tensor cholesky_gradient(const Vjp& g, const Tensor&, bool) {
  const Tensor upper = g.output().mT();
  const Tensor inner = mirrored_lower(matmul(upper, g.grad()));
  const Tensor left = host_solve_triangular(upper, inner, true);
  return host_solve_triangular(upper, left.mT(), true) * 0.5;
}

// p of a = p l u, of the dtype of `like`: column i has its 1 where row i of l u came from.
Tensor row_exchange(const Tensor& pivots, int64_t n, const Tensor& like) {
  const Tensor rows = call(permutation_op, pivots, n);
  if (n == 0)
    return zeros(with_sizes(leading_sizes(pivots, 1), {0, 0}), like.dtype(), like.device());
  return one_hot(rows, n).to(like.dtype()).mT();
}

// For a = p l u, of square matrices: p inv(l)^T (tril(l^T gl, -1) + triu(gu u^T)) inv(u)^T. What stands
// right of a wide matrix's square, with the gradient g2, is l u2, and what stands below a tall one's is
// l2 u; so the triangles get what is less through these: tril(g2 u2^T, -1) and triu(l2^T g2).
Tensor lu_gradient(const Vjp& g, const Tensor& a, bool) {
  if (!g.grad().defined()) return {};
  const Tensor lu = g.output(0), pivots = g.output(1);
  const int64_t m = a.size(-2), n = a.size(-1), k = smaller_size(a);
  const auto square = [&](const Tensor& x) { return narrow(narrow(x, -2, 0, k), -1, 0, k); };
  const Tensor l = tril(square(lu), -1) + identity(k, a), u = triu(square(lu)),
               given = square(g.grad());
  const auto by_l = [&](const Tensor& x) { return host_solve_triangular(l.mT(), x, true, true); };
  Tensor of_l = matmul(l.mT(), tril(given, -1)), of_u = matmul(triu(given), u.mT()), others;
  if (m < n) {
    const Tensor g2 = narrow(g.grad(), -1, k, n - k);
    of_l = of_l - matmul(g2, narrow(lu, -1, k, n - k).mT());
    others = by_l(g2);
  } else if (m > n) {
    const Tensor g2 = narrow(g.grad(), -2, k, m - k);
    of_u = of_u - matmul(narrow(lu, -2, k, m - k).mT(), g2);
    others = behind_inverse(g2, u);
  }
  Tensor all = by_l(behind_inverse(tril(of_l, -1) + triu(of_u), u));
  if (m != n) all = cat({all, others}, m < n ? -1 : -2);
  return matmul(row_exchange(pivots, m, lu), all);
}

// Of square or tall matrices. Walter and Lehmann, arXiv:1009.6112, 6.
Tensor tall_qr_gradient(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  Tensor middle;
  if (gr.defined()) middle = matmul(r, gr.mT());
  if (gq.defined()) {
    const Tensor part = matmul(gq.mT(), q);
    middle = middle.defined() ? middle - part : neg(part);
  }
  Tensor inner = matmul(q, mirrored_lower(middle));
  if (gq.defined()) inner = inner + gq;
  return behind_inverse(inner, r);
}

Tensor qr_gradient(const Vjp& g, const Tensor& a, bool complete, double) {
  const Tensor q = g.output(0), r = g.output(1), gq = g.grad(0), gr = g.grad(1);
  const int64_t m = a.size(-2), n = a.size(-1);
  if (!gq.defined() && !gr.defined()) return {};
  if (complete && m > n) {
    fail("a is " + sizes_text(a.sizes()) +
             ": with mode 'complete' there is no gradient for matrices of more rows than columns",
         TN_UNSUPPORTED);
  }
  if (m >= n) return tall_qr_gradient(q, r, gq, gr);
  // A wide matrix is [x, y] = q [u, v]: x has the factors q and u, and v is q^T y.
  const Tensor u = narrow(r, -1, 0, m), y = narrow(a, -1, m, n - m);
  if (!gr.defined()) {
    const Tensor gx = tall_qr_gradient(q, u, gq, {});
    return cat({gx, zeros_like(y)}, -1);
  }
  const Tensor gu = narrow(gr, -1, 0, m), gv = narrow(gr, -1, m, n - m);
  const Tensor of_v = matmul(y, gv.mT());
  const Tensor gx = tall_qr_gradient(q, u, gq.defined() ? gq + of_v : of_v, gu);
  return cat({gx, matmul(q, gv)}, -1);
}

void host_factors() {
  op("_cholesky(Tensor a, bool check) -> (Tensor l, Tensor info)")
      .infer([](Tensor a, bool check) { return cholesky_metas(a, check); })
      .keeps_halves()
      .meaning([](Tensor a, bool check) {
        return through_host<Pair>("cholesky", cholesky_op, a, cholesky_metas(a, check), a, check);
      })
      .vjp(cholesky_gradient, Reads::outputs);
  op("_lu(Tensor a, bool check) -> (Tensor lu, Tensor pivots, Tensor info)")
      .infer([](Tensor a, bool check) { return lu_metas(a, check); })
      .keeps_halves()
      .meaning([](Tensor a, bool check) {
        return through_host<Triple>("lu", lu_op, a, lu_metas(a, check), a, check);
      })
      .vjp(lu_gradient, Reads::outputs);
  op("_permutation(Tensor pivots, int n) -> Tensor")
      .infer([](Tensor pivots, int64_t n) { return permutation_metas(pivots, n); })
      .no_gradient()
      .meaning([](Tensor pivots, int64_t n) {
        return through_host<Tensor>("lu", permutation_op, pivots, permutation_metas(pivots, n),
                                    pivots, n);
      });
  op("_qr(Tensor a, bool complete, float least) -> (Tensor q, Tensor r)")
      .infer([](Tensor a, bool complete, double) { return qr_metas(a, complete); })
      .keeps_halves()
      .meaning([](Tensor a, bool complete, double least) {
        return through_host<Pair>("qr", qr_op, a, qr_metas(a, complete), a, complete, least);
      })
      .vjp(qr_gradient);
}

Pair cholesky_of(const char* name, const Tensor& a, bool upper, bool check) {
  expect_square(name, "a", a);
  const auto [l, info] = detail::call<Pair>(cholesky_op, upper ? a.mT() : a, check);
  return {upper ? l.mT() : l, info};
}

Pair qr_of(const Tensor& a, const std::string& mode) {
  expect_matrices("qr", "a", a);
  if (mode != "reduced" && mode != "complete" && mode != "r") {
    fail("qr: mode is '" + mode + "', expected 'reduced', 'complete' or 'r'");
  }
  const auto [q, r] = host_qr(a, mode == "complete");
  if (mode == "r") return {empty({0}, a.dtype(), a.device()), r};
  return {q, r};
}

// The matrices p, l [.., m, k] and u [.., k, n] of a [.., m, n] that has these factors.
Triple lu_parts(const Tensor& lu, const Tensor& pivots, bool data = true, bool exchange = true) {
  const int64_t m = lu.size(-2), k = smaller_size(lu);
  const Tensor none = empty({0}, lu.dtype(), lu.device());
  const Tensor p = exchange ? row_exchange(pivots, m, lu) : none;
  if (!data) return {p, none, none};
  const Tensor unit = eye(m, k, lu.dtype(), lu.device());
  return {p, tril(narrow(lu, -1, 0, k), -1) + unit, triu(narrow(lu, -2, 0, k))};
}

Tensor lu_solution(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left,
                   bool adjoint) {
  const char* name = "lu_solve";
  expect_factored(name, "lu", lu, pivots, b, left);
  // x a = b is a^T x^T = b^T.
  return left ? solution_by_lu(name, lu, pivots, b, adjoint)
              : solution_by_lu(name, lu, pivots, b.mT(), !adjoint).mT();
}

}  // namespace

Tensor solution_by_lu(const char* name, const Tensor& lu, const Tensor& pivots, const Tensor& b,
                      bool adjoint) {
  const auto [factors, right] = broadcast_batches(name, lu, b);
  const Tensor p = row_exchange(pivots, lu.size(-1), lu);
  if (!adjoint) {
    const Tensor y = host_solve_triangular(factors, matmul(p.mT(), right), false, true);
    return host_solve_triangular(factors, y, true);
  }
  const Tensor y = host_solve_triangular(factors.mT(), right, false);
  return matmul(p, host_solve_triangular(factors.mT(), y, true, true));
}

void factors() {
  host_factors();
  op("cholesky(Tensor a, bool upper=False) -> Tensor")
      .doc(
          "The triangle l with l l^T = a for symmetric positive definite matrices a [.., n, n]; "
          "upper: u with u^T u = a. Reads that triangle of a alone.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, bool upper) {
        return std::get<0>(cholesky_of("cholesky", a, upper, /*check=*/true));
      });
  op("cholesky_ex(Tensor a, bool upper=False, bool check_errors=False) -> (Tensor l, Tensor info)")
      .doc(
          "cholesky(a, upper), and info [..] int32: 0, or the order of the first leading minor of "
          "a matrix that is not positive, where l is not complete. With check_errors it refuses "
          "such matrices.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, bool upper, bool check) {
        const auto [l, info] = cholesky_of("cholesky_ex", a, upper, check);
        return Pair{l, info_of(info, a)};
      });
  op("qr(Tensor a, str mode=\"reduced\") -> (Tensor q, Tensor r)")
      .doc(
          "q with orthonormal columns and the upper triangle r with q r = a [.., m, n]. mode: "
          "'reduced' (q [.., m, k] with k the smaller of m and n), 'complete' (q [.., m, m]) or "
          "'r' "
          "(q is empty).")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, std::string mode) { return qr_of(a, mode); });
  op("lu_factor(Tensor a) -> (Tensor lu, Tensor pivots)")
      .doc(
          "l (below the diagonal, which is 1) and u of p l u = a [.., m, n] in one matrix, and the "
          "rows, from 1, with which LAPACK exchanged each row. Refuses singular matrices.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_matrices("lu_factor", "a", a);
        const auto [lu, pivots, info] = host_lu(a, true);
        return Pair{lu, pivots};
      });
  op("lu_factor_ex(Tensor a, bool check_errors=False) -> (Tensor lu, Tensor pivots, Tensor info)")
      .doc(
          "lu_factor(a), and info [..] int32: 0, or the number, from 1, of the first element of "
          "u's diagonal that is 0, where a matrix is singular. With check_errors it refuses such "
          "matrices.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, bool check) {
        expect_matrices("lu_factor_ex", "a", a);
        const auto [lu, pivots, info] = host_lu(a, check);
        return Triple{lu, pivots, info_of(info, a)};
      });
  op("lu(Tensor a) -> (Tensor p, Tensor l, Tensor u)")
      .doc(
          "A permutation p, a lower triangle l with a diagonal of 1 and an upper triangle u with p "
          "l u = a [.., m, n].")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_matrices("lu", "a", a);
        const auto [lu, pivots, info] = host_lu(a, false);
        return lu_parts(lu, pivots);
      });
  op("lu_unpack(Tensor lu, Tensor pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
     "(Tensor p, Tensor l, Tensor u)")
      .doc(
          "The matrices p, l and u of lu(a), of what lu_factor(a) gives. Without unpack_data l and "
          "u are empty, without unpack_pivots p is.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor lu, Tensor pivots, bool unpack_data, bool unpack_pivots) {
        expect_matrices("lu_unpack", "lu", lu);
        expect_pivots("lu_unpack", lu, pivots);
        return lu_parts(lu, pivots, unpack_data, unpack_pivots);
      });
  op("lu_solve(Tensor lu, Tensor pivots, Tensor b, bool left=True, bool adjoint=False) -> Tensor")
      .doc(
          "x with a x = b [.., n, k] for the matrices of which lu_factor gave lu and pivots; x a = "
          "b "
          "without left; of a^T with adjoint.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(lu_solution);
}

}  // namespace tenon::linalg_pack
