// Eigenvalues and eigenvectors of symmetric matrices, singular values and vectors, and their
// gradients.
#include "pack.h"

namespace tenon::linalg_pack {
namespace {

Meta meta_of(const Tensor& like, Sizes sizes) { return Meta(sizes, like.dtype(), like.device()); }
std::array<Meta, 2> eigh_metas(const Tensor& a) {
  expect_square("eigh", "a", a);
  return {meta_of(a, leading_sizes(a, 1)), Meta(a)};
}
std::array<Meta, 1> eigvalsh_metas(const Tensor& a) {
  expect_square("eigvalsh", "a", a);
  return {meta_of(a, leading_sizes(a, 1))};
}
std::array<Meta, 3> svd_metas(const Tensor& a, bool full) {
  expect_matrices("svd", "a", a);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Sizes batch = leading_sizes(a);
  return {meta_of(a, with_sizes(batch, {m, full ? m : k})), meta_of(a, with_sizes(batch, {k})),
          meta_of(a, with_sizes(batch, {full ? n : k, n}))};
}
std::array<Meta, 1> svdvals_metas(const Tensor& a) {
  expect_matrices("svdvals", "a", a);
  return {meta_of(a, with_sizes(leading_sizes(a), {smaller_size(a)}))};
}

Tensor as_row(const Tensor& x) { return unsqueeze(x, -2); }
Tensor as_column(const Tensor& x) { return unsqueeze(x, -1); }
Tensor skew(const Tensor& x) { return x - x.mT(); }

// v (diag(gl) + skew(v^T gv) / 2 e) v^T, where e is l[j] - l[i]: symmetric, as a is. Giles, Collected
// matrix derivative results for forward and reverse mode AD, 3.1 (2008).
Tensor eigh_gradient(const Vjp& g, const Tensor& a, bool) {
  const Tensor l = g.output(0), v = g.output(1), gl = g.grad(0), gv = g.grad(1);
  if (!gl.defined() && !gv.defined()) return {};
  if (!gv.defined()) return matmul(v * as_row(gl), v.mT());
  const Tensor one = identity(a.size(-1), a);
  Tensor middle = skew(matmul(v.mT(), gv)) * 0.5 / (as_row(l) - as_column(l) + one);
  if (gl.defined()) middle = middle + diag_embed(gl);
  return matmul(matmul(v, middle), v.mT());
}

// The root x of a = v diag(l) v^T, whose eigenvalues are the roots of l, and 0 where rounding leaves
// l below 0.
Tensor root_of(const Tensor& a) {
  const auto [l, v] = host_eigh(a, false);
  return matmul(v * as_row(sqrt(clamp_min(l, 0))), v.mT());
}
// x dx + dx x = da: with eigenvectors both sides are diagonal, so that equal eigenvalues are no
// trouble, as they are for the gradient of the vectors alone.
Tensor root_gradient(const Vjp& g, const Tensor& a) {
  const auto [l, v] = host_eigh(a, false);
  const Tensor roots = sqrt(clamp_min(l, 0)), even = (g.grad() + g.grad().mT()) * 0.5;
  const Tensor middle = matmul(matmul(v.mT(), even), v) / (as_row(roots) + as_column(roots));
  return matmul(matmul(v, middle), v.mT());
}

// u ((skew(u^T gu) / e) s + s (skew(v^T gv) / e) + diag(gs)) vh with e = s[j]^2 - s[i]^2, and what of
// gu and gv stands at right angles to u and v. Townsend, Differentiating the singular value
// decomposition (2016).
Tensor svd_gradient(const Vjp& g, const Tensor& a, bool full) {
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  Tensor u = g.output(0), vh = g.output(2), gu = g.grad(0), gvh = g.grad(2);
  const Tensor s = g.output(1), gs = g.grad(1);
  if (full) {
    u = narrow(u, -1, 0, k), vh = narrow(vh, -2, 0, k);
    if (gu.defined()) gu = narrow(gu, -1, 0, k);
    if (gvh.defined()) gvh = narrow(gvh, -2, 0, k);
  }
  if (!gu.defined() && !gvh.defined()) {
    return gs.defined() ? matmul(u * as_row(gs), vh) : Tensor();
  }
  const Tensor e = (as_row(s) - as_column(s)) * (as_row(s) + as_column(s)) + identity(k, a);
  Tensor middle;
  const auto add = [&](const Tensor& part) { middle = middle.defined() ? middle + part : part; };
  if (gu.defined()) add(skew(matmul(u.mT(), gu)) / e * as_row(s));
  if (gvh.defined()) add(as_column(s) * (skew(matmul(vh, gvh.mT())) / e));
  if (gs.defined()) add(diag_embed(gs));
  if (m > k && gu.defined()) {
    const Tensor scaled = gu / as_row(s);
    return matmul(matmul(u, middle - matmul(u.mT(), scaled)) + scaled, vh);
  }
  if (n > k && gvh.defined()) {
    const Tensor scaled = gvh / as_column(s);
    return matmul(u, matmul(middle - matmul(scaled, vh.mT()), vh) + scaled);
  }
  return matmul(matmul(u, middle), vh);
}

void host_spectra() {
  op("_eigh(Tensor a, bool upper) -> (Tensor eigenvalues, Tensor eigenvectors)")
      .infer([](Tensor a, bool) { return eigh_metas(a); })
      .keeps_halves()
      .meaning([](Tensor a, bool upper) {
        return through_host<Pair>("eigh", eigh_op, a, eigh_metas(a), a, upper);
      })
      .vjp(eigh_gradient, Reads::outputs);
  op("_eigvalsh(Tensor a, bool upper) -> Tensor")
      .infer([](Tensor a, bool) { return eigvalsh_metas(a); })
      .keeps_halves()
      .meaning([](Tensor a, bool upper) {
        return through_host<Tensor>("eigvalsh", eigvalsh_op, a, eigvalsh_metas(a), a, upper);
      })
      .vjp(
          [](const Vjp& g, const Tensor& a, bool upper) {
            const Tensor v = std::get<1>(host_eigh(a, upper));
            return matmul(v * as_row(g.grad()), v.mT());
          },
          Reads::args);
  op("_svd(Tensor a, bool full_matrices) -> (Tensor u, Tensor s, Tensor vh)")
      .infer([](Tensor a, bool full) { return svd_metas(a, full); })
      .keeps_halves()
      .meaning([](Tensor a, bool full) {
        return through_host<Triple>("svd", svd_op, a, svd_metas(a, full), a, full);
      })
      .vjp(svd_gradient, Reads::outputs);
  op("_svdvals(Tensor a) -> Tensor")
      .infer([](Tensor a) { return svdvals_metas(a); })
      .keeps_halves()
      .meaning([](Tensor a) {
        return through_host<Tensor>("svdvals", svdvals_op, a, svdvals_metas(a), a);
      })
      .vjp(
          [](const Vjp& g, const Tensor& a) {
            const auto [u, s, vh] = host_svd(a, false);
            return matmul(u * as_row(g.grad()), vh);
          },
          Reads::args);
}

bool is_upper(const char* op, const std::string& uplo) {
  if (uplo != "L" && uplo != "U") {
    fail(detail::joined({op, ": uplo is '", uplo, "', expected 'L' or 'U'"}));
  }
  return uplo == "U";
}

}  // namespace

void spectra() {
  host_spectra();
  op("eigh(Tensor a, str uplo=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)")
      .doc(
          "The eigenvalues of symmetric matrices a [.., n, n] in ascending order, and their "
          "vectors "
          "as columns. uplo: the triangle that is read, 'L' or 'U'. The gradient of vectors is "
          "infinite or NaN where eigenvalues are equal.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, std::string uplo) {
        expect_square("eigh", "a", a);
        return host_eigh(a, is_upper("eigh", uplo));
      });
  op("eigvalsh(Tensor a, str uplo=\"L\") -> Tensor")
      .doc("The eigenvalues of symmetric matrices a [.., n, n] in ascending order.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, std::string uplo) {
        expect_square("eigvalsh", "a", a);
        return host_eigvalsh(a, is_upper("eigvalsh", uplo));
      });
  op("_matrix_sqrth(Tensor a) -> Tensor")
      .infer([](Tensor a) { return Meta(a); })
      .keeps_halves()
      .meaning(root_of)
      .vjp(root_gradient, Reads::args);
  op("matrix_sqrth(Tensor a) -> Tensor")
      .doc(
          "The symmetric positive definite x with x x = a for symmetric positive definite matrices "
          "a [.., n, n], of which the lower triangle is read. Negative eigenvalues count as 0.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_square("matrix_sqrth", "a", a);
        return call(matrix_sqrth_op, a);
      });
  op("svd(Tensor a, bool full_matrices=True) -> (Tensor u, Tensor s, Tensor vh)")
      .doc(
          "u diag(s) vh = a [.., m, n] with orthonormal columns of u [.., m, m], orthonormal rows "
          "of vh [.., n, n] and s [.., k] in descending order, k the smaller of m and n; without "
          "full_matrices u [.., m, k] and vh [.., k, n]. The gradient of u and vh is infinite or "
          "NaN where singular values are equal.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, bool full) {
        expect_matrices("svd", "a", a);
        return host_svd(a, full);
      });
  op("svdvals(Tensor a) -> Tensor")
      .doc("The singular values of a [.., m, n] in descending order.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_matrices("svdvals", "a", a);
        return host_svdvals(a);
      });
}

}  // namespace tenon::linalg_pack
