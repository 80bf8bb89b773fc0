// Products of Householder's reflections, and the factors of a matrix as such products.
#include <algorithm>

#include "pack.h"

namespace tenon::linalg_pack {
namespace {

// tau [.., k] beside a [.., m, n]: k reflections of m elements, of which a has the vectors.
bool are_reflections(const Tensor& a, const Tensor& tau) {
  return tau.dim() == a.dim() - 1 &&
         std::equal(tau.sizes().begin(), tau.sizes().end() - 1, a.sizes().begin()) &&
         tau.size(-1) <= smaller_size(a);
}

// The vectors v as columns: those of a below the diagonal, which counts as 1.
Tensor reflection_vectors(const Tensor& a, const Tensor& tau) {
  const int64_t k = tau.size(-1);
  return tril(narrow(a, -1, 0, k), -1) + eye(a.size(-2), k, a.dtype(), a.device());
}

// The product q of the reflections 1 - tau[i] v[i] v[i]^T times y, or q^T times y. With d = diag(tau)
// and s = triu(v^T v, 1) it is q = 1 - v inv(1 + d s) d v^T. Puglisi, Modification of the Householder
// method based on the compact WY representation, SIAM J. Sci. Stat. Comput. 13 (1992).
Tensor reflected(const Tensor& v, const Tensor& tau, const Tensor& y, bool transpose) {
  const Tensor d = unsqueeze(tau, -1), ds = d * triu(matmul(v.mT(), v), 1);
  const Tensor along = matmul(v.mT(), y);
  const Tensor parts = transpose ? d * host_solve_triangular(ds.mT(), along, false, true)
                                 : host_solve_triangular(ds, d * along, true, true);
  return y - matmul(v, parts);
}

Tensor product_of_reflections(const Tensor& a, const Tensor& tau) {
  const char* name = "householder_product";
  expect_matrices(name, "a", a);
  expect_same_dtype(name, "a", a, "tau", tau);
  const int64_t m = a.size(-2), n = a.size(-1);
  if (!are_reflections(a, tau) || m < n) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and tau ",
                         sizes_text(tau.sizes()),
                         ", expected a [.., m, n] with at most m columns "
                         "and tau [.., k] with at most n elements"}));
  }
  return reflected(reflection_vectors(a, tau), tau, eye(m, n, a.dtype(), a.device()), false);
}

Tensor times_reflections(const Tensor& a, const Tensor& tau, const Tensor& other, bool left,
                         bool transpose) {
  const char* name = "ormqr";
  expect_matrices(name, "a", a);
  expect_matrices(name, "other", other);
  expect_same_dtype(name, "a", a, "tau", tau);
  expect_same_dtype(name, "a", a, "other", other);
  if (!are_reflections(a, tau)) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and tau ",
                         sizes_text(tau.sizes()),
                         ", expected tau [.., k] with at most as many elements as a [.., m, n] has "
                         "rows, and columns"}));
  }
  if (other.size(left ? -2 : -1) != a.size(-2)) {
    fail(detail::joined({name, ": a is ", sizes_text(a.sizes()), " and other ",
                         sizes_text(other.sizes()), ", expected ", std::to_string(a.size(-2)),
                         left ? " rows of other" : " columns of other"}));
  }
  // y q is (q^T y^T)^T.
  if (!left) return times_reflections(a, tau, other.mT(), true, !transpose).mT();
  const auto [v, y] = broadcast_batches(name, reflection_vectors(a, tau), other, {"a", "other"});
  const Sizes batch = leading_sizes(v);
  return reflected(v, prim::expand(tau, with_sizes(batch, {tau.size(-1)})), y, transpose);
}

std::array<Meta, 2> geqrf_metas(const Tensor& a) {
  expect_matrices("geqrf", "a", a);
  return {Meta(a), Meta(with_sizes(leading_sizes(a), {smaller_size(a)}), a.dtype(), a.device())};
}

}  // namespace

void reflections() {
  op("_geqrf(Tensor a) -> (Tensor reflections, Tensor tau)")
      .infer([](Tensor a) { return geqrf_metas(a); })
      .no_gradient()
      .keeps_halves()
      .meaning(
          [](Tensor a) { return through_host<Pair>("geqrf", geqrf_op, a, geqrf_metas(a), a); });
  op("geqrf(Tensor a) -> (Tensor reflections, Tensor tau)")
      .doc(
          "The factors q r = a [.., m, n] as LAPACK leaves them: r on the diagonal and above it, "
          "below it the vectors of Householder's reflections, which are q, and their factors tau "
          "[.., k], k the smaller of m and n: for householder_product and ormqr.")
      .no_gradient()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a) {
        expect_matrices("geqrf", "a", a);
        return detail::call<Pair>(geqrf_op, a);
      });
  op("householder_product(Tensor a, Tensor tau) -> Tensor")
      .doc(
          "The first n columns of the product of Householder's reflections 1 - tau[i] v v^T, where "
          "v is column i of a [.., m, n] below the diagonal, 1 there and 0 above; tau [.., k].")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(product_of_reflections);
  op("ormqr(Tensor a, Tensor tau, Tensor other, bool left=True, bool transpose=False) -> Tensor")
      .doc(
          "q other [.., m, n], or other q without left, or with q^T in place of q, where q is the "
          "square product of the reflections that householder_product(a, tau) has the first "
          "columns of. Leading dimensions broadcast.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(times_reflections);
}

}  // namespace tenon::linalg_pack
