// What singular values and eigenvalues tell: pseudo-inverses, ranks, condition numbers and norms.
#include "pack.h"

#include <cmath>

namespace tenon::linalg_pack {
namespace {

// Values up to which a singular value counts as 0: the greater of atol and rtol times the greatest
// of `values` [.., k] along the last dimension. Both are PyTorch's where they are not given.
Tensor least_value(const Tensor& a, const Tensor& values, optional<double> atol,
                   optional<double> rtol) {
  const double absolute = atol.value_or(0);
  const double standard =
      absolute > 0 ? 0 : epsilon_of(a) * double(std::max(a.size(-2), a.size(-1)));
  const Tensor greatest = amax(values, {-1}, /*keepdim=*/true);
  return maximum(greatest * rtol.value_or(standard), absolute);
}

void expect_tolerance(const char* op, const char* what, optional<double> value) {
  if (!value || *value >= 0) return;
  fail(detail::joined(
      {op, ": ", what, " is ", detail::number_text(*value), ", expected 0 or more"}));
}
void expect_tolerances(const char* op, const Tensor& a, optional<double> atol,
                       optional<double> rtol, bool hermitian) {
  hermitian ? expect_square(op, "a", a) : expect_matrices(op, "a", a);
  expect_tolerance(op, "atol", atol);
  expect_tolerance(op, "rtol", rtol);
}

Tensor pseudo_inverse(const Tensor& a, optional<double> atol, optional<double> rtol,
                      bool hermitian) {
  if (a.numel() == 0) return zeros(a.mT().sizes(), a.dtype(), a.device());
  if (hermitian) {
    const auto [l, v] = host_eigh(a, false);
    const Tensor size = abs(l);
    const Tensor inverse = where(size > least_value(a, size, atol, rtol), reciprocal(l), 0);
    return matmul(v * unsqueeze(inverse, -2), v.mT());
  }
  const auto [u, s, vh] = host_svd(a, false);
  const Tensor inverse = where(s > least_value(a, s, atol, rtol), reciprocal(s), 0);
  return matmul(vh.mT(), unsqueeze(inverse, -1) * u.mT());
}

// Golub and Pereyra, The differentiation of pseudo-inverses, SIAM J. Numer. Anal. 10 (1973), for a
// rank that does not change.
Tensor pseudo_inverse_gradient(const Vjp& given, const Tensor& a, optional<double>,
                               optional<double>, bool) {
  const Tensor p = given.output(), t = p.mT(), g = given.grad();
  const Tensor gt = g.mT();
  const Tensor rows = matmul(gt, matmul(p, t)), columns = matmul(matmul(t, p), gt);
  return rows - matmul(a, matmul(p, rows)) + columns - matmul(matmul(columns, p), a) -
         matmul(t, matmul(g, t));
}

Tensor rank_of(const Tensor& a, optional<double> atol, optional<double> rtol, bool hermitian) {
  expect_tolerances("matrix_rank", a, atol, rtol, hermitian);
  if (a.numel() == 0) return zeros(leading_sizes(a), int64, a.device());
  const Tensor values = hermitian ? abs(host_eigvalsh(a, false)) : host_svdvals(a);
  return sum((values > least_value(a, values, atol, rtol)).to(int64), {-1});
}

// The two dims, as the last ones.
Tensor dims_last(const char* op, const Tensor& a, Ints dims) {
  if (a.dtype() != float32 && a.dtype() != float64) expect_matrices(op, "a", a);
  const auto outside = [&](int64_t d) { return d < -a.dim() || d >= a.dim(); };
  if (dims.size() != 2 || outside(dims[0]) || outside(dims[1]) ||
      (dims[0] - dims[1]) % a.dim() == 0) {
    fail(detail::joined({op, ": dim is ", sizes_text(dims), " for a of ", sizes_text(a.sizes()),
                         ", expected two different dimensions"}));
  }
  return movedim(a, dims, {-2, -1});
}
Tensor with_dims(const Tensor& y, Ints dims, bool keepdim) {
  if (!keepdim) return y;
  return movedim(unsqueeze(unsqueeze(y, -1), -1), {-2, -1}, dims);
}

// The greatest or least of values [.., k]; of none the greatest is 0, and amin refuses the least.
Tensor extreme(const Tensor& values, bool greatest) {
  if (greatest && values.size(-1) == 0) return sum(values, {-1});
  return greatest ? amax(values, {-1}) : amin(values, {-1});
}

bool of_singular_values(double p) { return p == 2 || p == -2; }

// `what`: the name of p.
Tensor matrix_norm_of(const char* op, const char* what, const Tensor& a, optional<double> p,
                      Ints dims, bool keepdim) {
  if (!p || !of_singular_values(*p)) {
    if (!a.dtype().is_float()) expect_matrices(op, "a", a);  // LAPACK alone takes no halves
    if (p && std::abs(*p) != 1 && !std::isinf(*p)) {
      fail(detail::joined({op, ": ", what, " is ", detail::number_text(*p),
                           ", expected None (Frobenius), 1, -1, 2, -2, inf or -inf"}));
    }
    return call("matrix_norm", a, p, dims, keepdim);
  }
  const Tensor values = host_svdvals(dims_last(op, a, dims));
  return with_dims(extreme(values, *p > 0), dims, keepdim);
}

// `given`, of a floating dtype, or as `dtype`, which has to hold all its numbers.
Tensor widened(const char* op, const char* what, const Tensor& given, Dtype dtype) {
  const Dtype own = given.dtype();
  if (dtype && (!dtype.is_float() || promote(own, dtype) != dtype)) {
    fail(detail::joined({op, ": dtype is ", dtype.name(),
                         ", expected a floating one that holds all numbers of ", what, ", ",
                         own.name()}));
  }
  if (!dtype && !own.is_float())
    fail(detail::joined({op, ": ", what, " is ", own.name(), ", expected a floating dtype"}));
  return dtype && dtype != own ? given.to(dtype) : given;
}

Tensor vector_norm_of(const Tensor& x, double ord, Ints dim, bool keepdim, Dtype dtype) {
  return norm(widened("vector_norm", "x", x, dtype), ord, dim, keepdim);
}

// Of vectors or of matrices, by how many dimensions are given, or there are where none is given.
Tensor norm_of(const Tensor& given, optional<double> ord, Ints dim, bool keepdim, Dtype dtype) {
  const char* op = "norm";
  const Tensor a = widened(op, "a", given, dtype);
  if (dim.size() > 2) {
    fail(detail::joined({op, ": dim is ", sizes_text(dim),
                         ", expected one dimension of vectors or two of matrices; vector_norm "
                         "takes more"}));
  }
  if (ord && dim.empty() && a.dim() != 1 && a.dim() != 2) {
    fail(detail::joined({op, ": a is ", sizes_text(a.sizes()),
                         ", expected 1 or 2 dimensions where ord is given and dim is not"}));
  }
  if (!ord || dim.size() == 1 || (dim.empty() && a.dim() == 1))
    return norm(a, ord.value_or(2), dim, keepdim);
  const Sizes last = {-2, -1};
  return matrix_norm_of(op, "ord", a, ord, dim.empty() ? Ints(last) : dim, keepdim);
}

Tensor condition(const Tensor& a, optional<double> p) {
  const char* op = "cond";
  expect_matrices(op, "a", a);
  if (!p || of_singular_values(*p)) {
    const Tensor s = host_svdvals(a);
    if (s.size(-1) == 0) return zeros(leading_sizes(a), a.dtype(), a.device());
    const Tensor ratio = select(s, -1, 0) / select(s, -1, s.size(-1) - 1);
    return p && *p < 0 ? reciprocal(ratio) : ratio;
  }
  if (std::abs(*p) != 1 && !std::isinf(*p)) {
    fail(detail::joined({op, ": p is ", detail::number_text(*p),
                         ", expected None (as 2), 1, -1, 2, -2, inf or -inf"}));
  }
  expect_square(op, "a", a);
  if (a.size(-1) == 0) return zeros(leading_sizes(a), a.dtype(), a.device());
  const Sizes last = {-2, -1};
  const auto norm_of_each = [&](const Tensor& x) {
    return matrix_norm_of(op, "p", x, p, last, false);
  };
  const Tensor of_inverse = norm_of_each(std::get<0>(host_inv(a, /*check=*/false)));
  return where(isinf(of_inverse), of_inverse, norm_of_each(a) * of_inverse);
}

}  // namespace

void measures() {
  op("_pinv(Tensor a, float? atol, float? rtol, bool hermitian) -> Tensor")
      .keeps_halves()
      .meaning(pseudo_inverse)
      .vjp(pseudo_inverse_gradient);
  op("pinv(Tensor a, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor")
      .doc(
          "The pseudo-inverses [.., n, m] of a [.., m, n]. Singular values up to atol or rtol "
          "times "
          "the greatest count as 0; rtol is the greater of m and n times the dtype's epsilon where "
          "neither is given. hermitian: a is symmetric.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, optional<double> atol, optional<double> rtol, bool hermitian) {
        expect_tolerances("pinv", a, atol, rtol, hermitian);
        return call("linalg._pinv", a, atol, rtol, hermitian);
      });
  op("matrix_rank(Tensor a, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor")
      .doc(
          "How many singular values of a [.., m, n] count as more than 0, by the tolerances of "
          "pinv.")
      .no_gradient()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(rank_of);
  op("cond(Tensor a, float? p=None) -> Tensor")
      .doc(
          "The condition numbers of a [.., m, n]: for None and 2 the quotient of the greatest and "
          "the least singular value, its inverse for -2; for 1, -1, inf and -inf the norm of a "
          "times that of its inverse, inf where there is none.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(condition);
  op("matrix_norm(Tensor a, float? ord=None, int[] dim=[-2, -1], bool keepdim=False) -> Tensor")
      .doc(
          "Norms of the matrices of the two dimensions: the greatest singular value (2) or the "
          "least "
          "(-2), and for None, 1, -1, inf and -inf what the standard matrix_norm gives.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, optional<double> ord, Ints dims, bool keepdim) {
        return matrix_norm_of("matrix_norm", "ord", a, ord, dims, keepdim);
      });
  op("vector_norm(Tensor x, float ord=2, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> "
     "Tensor")
      .doc(
          "(sum |x|^ord)^(1/ord) over dim, or over all where dim is empty. inf: the largest |x|, "
          "-inf the least; 0: how many are not 0. With a dtype: of x as that dtype.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(vector_norm_of);
  op("norm(Tensor a, float? ord=None, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> "
     "Tensor")
      .doc(
          "vector_norm(a, ord) over one dimension dim, matrix_norm(a, ord) over two. Where dim is "
          "empty: of a of 1 or 2 dimensions. ord None: the root of the sum of squares, over all "
          "where dim is empty. With a dtype: of a as that dtype.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(norm_of);
  op("nuclear_norm(Tensor a, int[] dim=[-2, -1], bool keepdim=False) -> Tensor")
      .doc("The sum of the singular values of the matrices of the two dimensions.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor a, Ints dims, bool keepdim) {
        const Tensor values = host_svdvals(dims_last("nuclear_norm", a, dims));
        return with_dims(sum(values, {-1}), dims, keepdim);
      });
}

}  // namespace tenon::linalg_pack
