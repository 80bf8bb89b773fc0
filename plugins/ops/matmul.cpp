// Matrix products, as decompositions over the matmul primitive, which takes at least two
// dimensions.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef plus{"_plus(Tensor x, Tensor y) -> Tensor", "x + y"};
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
    for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
    sizes.back() = b.size(1);
    return prim::reshape(prim::matmul(prim::reshape(a, {rows, k}), b), sizes);
  }
  return prim::matmul(a, b);
}

// x weight^T of the op `name`, whose arguments are checked.
Tensor linear_product(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  bool fits = x.dim() > 0 && weight.dim() == 2 && x.size(-1) == weight.size(1);
  fits = fits && (!bias || (bias.dim() == 1 && bias.size(0) == weight.size(0)));
  if (fits) return product(x, prim::permute(weight, {1, 0}));
  fail(std::string(name) + ": x is " + sizes_text(x.sizes()) + ", weight is " + sizes_text(weight.sizes()) +
       (bias ? ", bias is " + sizes_text(bias.sizes()) : "") + " (" + x.dtype().name() + ", " +
       x.device().name() + "); expected x [.., in], weight [out, in], bias [out]");
}

}  // namespace

void matmul() {
  op("matmul(Tensor a, Tensor b) -> Tensor").amp(Amp::lower).meaning([](Tensor a, Tensor b) {
    return product(a, b);
  });
  op("linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor")
      .amp(Amp::lower)
      .meaning([](Tensor x, Tensor weight, Tensor bias) {
        Tensor y = linear_product("linear", x, weight, bias);
        return bias ? prim::elementwise(plus, y, bias) : y;
      });
  fused("linear_relu(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor")
      .amp(Amp::lower)
      .meaning([](Tensor x, Tensor weight, Tensor bias) {
        Tensor y = linear_product("linear_relu", x, weight, bias);
        return bias ? prim::elementwise(plus_relu, y, bias) : prim::elementwise(positive, y);
      });
}

}  // namespace tenon::ops_pack
