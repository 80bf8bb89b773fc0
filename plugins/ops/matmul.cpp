// Matrix products, as decompositions over the matmul primitive, which takes at least two
// dimensions.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef plus_relu{
    "_plus_relu(Tensor x, Tensor y) -> Tensor",
    "max(x + y, 0)\n dx = where(out > 0, g, 0)\n dy = where(out > 0, g, 0)"};
constinit ExpressionRef positive{"_positive(Tensor x) -> Tensor",
                                 "max(x, 0)\n dx = where(out > 0, g, 0)"};

[[noreturn]] void refuse_inner(const Tensor& a, const Tensor& b, int64_t dim_of_b, int64_t wanted) {
  fail("matmul: inner dimensions differ: a is " + sizes_text(a.sizes()) + ", b is " +
       sizes_text(b.sizes()) + " (" + a.dtype().name() + ", " + a.device().name() +
       "); expected b's dimension " + std::to_string(dim_of_b) + " to be " +
       std::to_string(wanted));
}

// numpy's rules: a vector is a row on the left and a column on the right, and leaves no dimension
// behind.
Tensor product(const Tensor& a, const Tensor& b) {
  int64_t rank_a = a.dim(), rank_b = b.dim();
  if (rank_a == 0 || rank_b == 0) {
    fail("matmul: a is " + sizes_text(a.sizes()) + ", b is " + sizes_text(b.sizes()) +
         "; expected at least 1 dimension each");
  }
  int64_t k = a.size(-1);
  if (rank_a == 1 || rank_b == 1) {
    int64_t dim_of_b = rank_b == 1 ? 0 : rank_b - 2;
    if (b.size(dim_of_b) != k) refuse_inner(a, b, dim_of_b, k);
    Tensor rows = rank_a == 1 ? prim::reshape(a, {1, k}) : a;
    Tensor columns = rank_b == 1 ? prim::reshape(b, {k, 1}) : b;
    std::vector<int64_t> sizes;
    const Tensor& longer = rank_a > rank_b ? a : b;
    for (int64_t d = 0; d + 2 < longer.dim(); ++d) sizes.push_back(longer.size(d));
    if (rank_a > 1) sizes.push_back(a.size(-2));
    if (rank_b > 1) sizes.push_back(b.size(-1));
    return prim::reshape(product(rows, columns), sizes);
  }
  if (rank_a > 2 && rank_b == 2) {  // one large product instead of a batch of small ones
    if (b.size(0) != k) refuse_inner(a, b, 0, k);
    std::vector<int64_t> sizes(a.sizes().begin(), a.sizes().end());
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < sizes.size(); ++d) rows = checked_mul("matmul", rows, sizes[d]);
    sizes.back() = b.size(1);
    return prim::reshape(prim::matmul(prim::reshape(a, {rows, k}), b), sizes);
  }
  return prim::matmul(a, b);
}

// What does not fit in the inputs of a linear layer; "" where it is the bias.
std::string misfit_of_linear(const Tensor& x, const Tensor& weight) {
  if (weight.dim() != 1 && weight.dim() != 2)
    return ". Here weight has " + std::to_string(weight.dim()) + " dimensions";
  if (x.dim() == 0) return ". Here x has no dimensions";
  if (x.size(-1) == weight.size(-1)) return "";
  return ". Here the last dimension of x is " + std::to_string(x.size(-1)) + ", that of weight " +
         std::to_string(weight.size(-1));
}

void check_linear(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  int64_t rank = weight.dim();
  bool fits = x.dim() > 0 && (rank == 1 || rank == 2) && x.size(-1) == weight.size(-1);
  // The bias broadcasts to the product, as PyTorch's does.
  if (fits && bias.defined()) {
    Sizes sizes = first_sizes(x, x.dim() - 1);
    if (rank == 2) sizes.push_back(weight.size(0));
    fits = bias.dim() <= int64_t(sizes.size()) && (rank == 2 || bias.dim() == 0);
    for (int64_t d = 1; fits && d <= bias.dim(); ++d)
      fits = bias.size(-d) == 1 || bias.size(-d) == sizes[sizes.size() - size_t(d)];
  }
  if (fits) return;
  fail(std::string(name) + ": x is " + sizes_text(x.sizes()) + ", weight is " +
       sizes_text(weight.sizes()) +
       (bias.defined() ? ", bias is " + sizes_text(bias.sizes()) : "") + " (" + x.dtype().name() +
       ", " + x.device().name() +
       "); expected x [.., in], weight [out, in], bias [out] or of sizes that broadcast to [.., "
       "out]; or weight [in], bias []" +
       misfit_of_linear(x, weight));
}

// x weight^T of the op `name`, whose arguments are checked. A weight without `out` leaves no
// dimension, as PyTorch's.
Tensor linear_product(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(name, x, weight, bias);
  return product(x, weight.dim() == 1 ? weight : prim::permute(weight, {1, 0}));
}

Meta linear_meta(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(name, x, weight, bias);
  Sizes sizes = first_sizes(x, x.dim() - 1);
  if (weight.dim() == 2) sizes.push_back(weight.size(0));
  Dtype dtype = x.dtype();
  if (bias.defined() && bias.dtype() != dtype) {
    // One without dimensions counts only where it is of a higher kind.
    const bool counts = bias.dim() > 0 || (bias.dtype().is_float() && !dtype.is_float());
    if (counts) dtype = promote(dtype, bias.dtype());
  }
  return Meta(sizes, dtype, x.device());
}

// A product of halves with a bias is rounded once, behind the sum; without one by itself.
Tensor linear_of(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!bias.defined()) return linear_product("linear", x, weight, bias);
  bool halves = x.dtype().is_half() && x.dtype() == weight.dtype() && x.dtype() == bias.dtype();
  if (!halves) return prim::elementwise(plus, linear_product("linear", x, weight, bias), bias);
  Tensor b = wide(bias);
  Tensor y = prim::elementwise(plus, linear_product("linear", wide(x), wide(weight), b), b);
  return prim::copy(y, x.dtype());
}

constinit ExpressionRef weighted_plus{
    "_weighted_plus(Tensor x, Tensor y, float beta, float alpha) -> Tensor",
    "beta * x + alpha * y"};
constinit ExpressionRef times{"_times(Tensor x, float alpha) -> Tensor", "alpha * x"};
constinit ExpressionRef whole_weighted_plus{
    "_whole_weighted_plus(Tensor x, Tensor y, int beta, int alpha) -> Tensor",
    "beta * x + alpha * y"};
constinit ExpressionRef whole_times{"_whole_times(Tensor x, int alpha) -> Tensor", "alpha * x"};

// For ops that take fewer shapes than matmul.
void expect_ranks(const char* op, const Tensor& a, int64_t rank_a, const Tensor& b,
                  int64_t rank_b) {
  if (a.dim() == rank_a && b.dim() == rank_b) return;
  fail(std::string(op) + ": a is " + sizes_text(a.sizes()) + ", b is " + sizes_text(b.sizes()) +
       "; expected " + std::to_string(rank_a) + " and " + std::to_string(rank_b) + " dimensions");
}
Tensor product_of_ranks(const char* op, const Tensor& a, int64_t rank_a, const Tensor& b,
                        int64_t rank_b) {
  expect_ranks(op, a, rank_a, b, rank_b);
  return product(a, b);
}
Tensor batched(const char* op, const Tensor& a, const Tensor& b) {
  expect_ranks(op, a, 3, b, 3);
  if (a.size(0) != b.size(0)) {
    fail(std::string(op) + ": a is " + sizes_text(a.sizes()) + ", b is " + sizes_text(b.sizes()) +
         "; expected one batch size");
  }
  return product(a, b);
}
// The sum over the batch is one product of matrices that lie side by side.
Tensor summed_batch(const Tensor& a, const Tensor& b) {
  expect_ranks("addbmm", a, 3, b, 3);
  if (a.size(0) != b.size(0) || a.size(2) != b.size(1)) {
    fail("addbmm: a is " + sizes_text(a.sizes()) + ", b is " + sizes_text(b.sizes()) +
         "; expected [batch, m, k] and [batch, k, n]");
  }
  const int64_t inner = checked_mul("addbmm", a.size(0), a.size(2));
  return prim::matmul(prim::reshape(prim::permute(a, {1, 0, 2}), {a.size(1), inner}),
                      prim::reshape(b, {inner, b.size(2)}));
}
// Integers stay integers, and their factors are taken as elements of their dtype, as in PyTorch.
Tensor weighted_ints(const char* op, const Tensor& x, const Tensor& y, double beta, double alpha) {
  const Dtype dtype = promote(x.dtype(), y.dtype());
  if (dtype == bool_) {  // a sum of bools is true where one of them is
    const Tensor product = alpha != 0 ? y : zeros_like(y);
    return beta != 0 ? logical_or(x, product) : product;
  }
  const Number of_x = number_for(op, "beta", beta, dtype.is_float() ? y.dtype() : dtype);
  const Number of_y = number_for(op, "alpha", alpha, dtype.is_float() ? y.dtype() : dtype);
  if (int64_t(beta) == 0) return prim::elementwise(whole_times, y, of_y);
  return prim::elementwise(whole_weighted_plus, x, y, of_x, of_y);
}
// beta x + alpha y; x is not read where beta is 0, whatever it holds.
Tensor weighted(const char* op, const Tensor& x, const Tensor& y, double beta, double alpha) {
  bool fits = x.dim() <= y.dim();
  for (int64_t d = 1; fits && d <= x.dim(); ++d) fits = x.size(-d) == 1 || x.size(-d) == y.size(-d);
  if (!fits) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", the product is " +
         sizes_text(y.sizes()) + "; expected sizes that broadcast to it");
  }
  if (!y.dtype().is_float()) return weighted_ints(op, x, y, beta, alpha);
  if (beta == 0) return alpha == 1 ? y : prim::elementwise(times, y, alpha);
  return beta == 1 && alpha == 1 ? prim::elementwise(plus, x, y)
                                 : prim::elementwise(weighted_plus, x, y, beta, alpha);
}

void products_of_two() {
  op("matmul(Tensor a, Tensor b) -> Tensor")
      .doc(
          "a [.., m, k] times b [.., k, n]; leading dimensions broadcast, and vectors are taken as "
          "numpy.matmul takes them.")
      .method()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) { return product(a, b); });
  op("mm(Tensor a, Tensor b) -> Tensor")
      .doc("a [m, k] times b [k, n].")
      .method()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) { return product_of_ranks("mm", a, 2, b, 2); });
  op("bmm(Tensor a, Tensor b) -> Tensor")
      .doc("a [batch, m, k] times b [batch, k, n].")
      .method()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) { return batched("bmm", a, b); });
  op("mv(Tensor a, Tensor b) -> Tensor")
      .doc("a [m, k] times b [k].")
      .method()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) { return product_of_ranks("mv", a, 2, b, 1); });
  op("dot(Tensor a, Tensor b) -> Tensor")
      .doc("The sum of a [n] * b [n].")
      .method()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) { return product_of_ranks("dot", a, 1, b, 1); });
  op("outer(Tensor a, Tensor b) -> Tensor")
      .doc("All products of an element of a [m] with one of b [n]: [m, n].")
      .method()
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) {
        expect_ranks("outer", a, 1, b, 1);
        return mul(unsqueeze(a, 1), b);
      });
}

void sums_of_products() {
  op("addmm(Tensor x, Tensor a, Tensor b, float beta=1, float alpha=1) -> Tensor")
      .doc(
          "beta * x + alpha * (a [m, k] times b [k, n]). x broadcasts, and is not read where beta "
          "is 0.")
      .method()
      .amp(Amp::lower)
      .meaning([](Tensor x, Tensor a, Tensor b, double beta, double alpha) {
        return weighted("addmm", x, product_of_ranks("addmm", a, 2, b, 2), beta, alpha);
      });
  op("baddbmm(Tensor x, Tensor a, Tensor b, float beta=1, float alpha=1) -> Tensor")
      .doc(
          "beta * x + alpha * (a [batch, m, k] times b [batch, k, n]). x broadcasts, and is not "
          "read where beta is 0.")
      .method()
      .amp(Amp::lower)
      .meaning([](Tensor x, Tensor a, Tensor b, double beta, double alpha) {
        return weighted("baddbmm", x, batched("baddbmm", a, b), beta, alpha);
      });
  op("addmv(Tensor x, Tensor a, Tensor b, float beta=1, float alpha=1) -> Tensor")
      .doc(
          "beta * x + alpha * (a [m, k] times b [k]). x broadcasts, and is not read where beta is "
          "0.")
      .method()
      .amp(Amp::lower)
      .meaning([](Tensor x, Tensor a, Tensor b, double beta, double alpha) {
        return weighted("addmv", x, product_of_ranks("addmv", a, 2, b, 1), beta, alpha);
      });
  op("addr(Tensor x, Tensor a, Tensor b, float beta=1, float alpha=1) -> Tensor")
      .doc("beta * x + alpha * outer(a [m], b [n]). x broadcasts, and is not read where beta is 0.")
      .method()
      .meaning([](Tensor x, Tensor a, Tensor b, double beta, double alpha) {
        expect_ranks("addr", a, 1, b, 1);
        // Multiplied in the dtype of the result: in their own, small integers would wrap.
        const Dtype dtype = promote(promote(a.dtype(), b.dtype()), x.dtype());
        return weighted("addr", x, outer(as_dtype(a, dtype), as_dtype(b, dtype)), beta, alpha);
      });
  op("addbmm(Tensor x, Tensor a, Tensor b, float beta=1, float alpha=1) -> Tensor")
      .doc(
          "beta * x + alpha * the sum over the batch of a [batch, m, k] times b [batch, k, n]. x "
          "broadcasts, and is not read where beta is 0.")
      .method()
      .amp(Amp::lower)
      .meaning([](Tensor x, Tensor a, Tensor b, double beta, double alpha) {
        return weighted("addbmm", x, summed_batch(a, b), beta, alpha);
      });
  op("einsum(str equation, Tensor[] xs) -> Tensor")
      .doc(
          "Sums of products by an equation, as \"bij,bjk->bik\": over letters that the result has "
          "not, along diagonals of letters that an operand has twice. \"...\" broadcasts.")
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](string_view equation, Tensors xs) { return einsum_of(equation, xs); });
}

// x1 [.., m], x2 [.., n], weight [out, m, n]: the middle product is x1 times weight as [m, out * n].
Tensor bilinear_of(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  bool fits = weight.dim() == 3 && x1.dim() >= 1 && x1.dim() == x2.dim();
  fits = fits && x1.size(-1) == weight.size(1) && x2.size(-1) == weight.size(2);
  for (int64_t d = 0; fits && d + 1 < x1.dim(); ++d) fits = x1.size(d) == x2.size(d);
  fits = fits && (!bias.defined() || sizes_of(bias) == Sizes{weight.size(0)});
  if (!fits) {
    fail("bilinear: x1 is " + sizes_text(x1.sizes()) + ", x2 is " + sizes_text(x2.sizes()) +
         ", weight is " + sizes_text(weight.sizes()) +
         (bias.defined() ? ", bias is " + sizes_text(bias.sizes()) : std::string()) +
         "; expected [.., m], [.., n], [out, m, n] and [out]");
  }
  const int64_t out = weight.size(0), m = weight.size(1), n = weight.size(2);
  const Sizes front = first_sizes(x1, x1.dim() - 1);
  const int64_t rows = ops_pack::product(front);
  const Tensor maps = prim::reshape(prim::permute(weight, {1, 0, 2}), {m, out * n});
  const Tensor half = prim::reshape(matmul(prim::reshape(x1, {rows, m}), maps), {rows, out, n});
  const Tensor y = matmul(half, prim::reshape(x2, {rows, n, 1}));
  const Tensor result = prim::reshape(y, joined_sizes({front, {out}}));
  return bias.defined() ? add(result, bias) : result;
}

void linear_maps() {
  op("bilinear(Tensor x1, Tensor x2, Tensor weight, Tensor? bias=None) -> Tensor")
      .doc("sum(x1[i] * weight[:, i, j] * x2[j]) for weight [out, m, n], plus bias [out].")
      .amp(Amp::lower)
      .meaning(bilinear_of);
  op("linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor")
      .doc("x [.., in] times weight [out, in] transposed, plus bias [out].")
      .amp(Amp::lower)
      .keeps_halves()
      .infer([](Tensor x, Tensor weight, Tensor bias) {
        return linear_meta("linear", x, weight, bias);
      })
      .meaning(linear_of);
  op("linear_relu(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor")
      .fused()
      .doc("relu(linear(x, weight, bias)), one kernel where a device has it.")
      .amp(Amp::lower)
      .infer([](Tensor x, Tensor weight, Tensor bias) {
        return linear_meta("linear_relu", x, weight, bias);
      })
      .meaning([](Tensor x, Tensor weight, Tensor bias) {
        Tensor y = linear_product("linear_relu", x, weight, bias);
        return bias.defined() ? prim::elementwise(plus_relu, y, bias)
                              : prim::elementwise(positive, y);
      });
}

}  // namespace

void matmul() {
  products_of_two();
  sums_of_products();
  linear_maps();
  products();
  matrices();
  feed_forward();
}

}  // namespace tenon::ops_pack
