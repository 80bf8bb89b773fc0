// Products of two tensors that are more than matmul, and the trace. A part of the family matmul.
#include "pack.h"

#include <algorithm>

namespace tenon::ops_pack {
namespace {

// The dimensions of x that are not in dims.
Sizes others(const Tensor& x, const Sizes& dims) {
  Sizes list;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (std::ranges::find(dims, d) == dims.end()) list.push_back(d);
  return list;
}
Sizes sizes_at(const Tensor& x, const Sizes& dims) {
  Sizes sizes;
  for (int64_t d : dims) sizes.push_back(x.size(d));
  return sizes;
}

// x summed over those of its dims whose size is 1 in the other: there all its elements meet one.
Tensor met_by_ones(const Tensor& x, const Sizes& dims, const Tensor& other, const Sizes& its_dims) {
  Sizes summed;
  for (size_t i = 0; i < dims.size(); ++i)
    if (other.size(its_dims[i]) == 1 && x.size(dims[i]) != 1) summed.push_back(dims[i]);
  return summed.empty() ? x : sum(x, summed, true);
}

// `ones`: dimensions of size 1 meet those of any size.
Tensor contracted(const char* op, const Tensor& of_a, const Tensor& of_b, Ints dims_a, Ints dims_b,
                  bool ones) {
  const Sizes da = distinct_dims(op, dims_a, of_a.dim());
  const Sizes db = distinct_dims(op, dims_b, of_b.dim());
  bool fits = (of_a.dim() > 0 || da.empty()) && (of_b.dim() > 0 || db.empty());
  fits = fits && da.size() == db.size();
  for (size_t i = 0; fits && i < da.size(); ++i) {
    const int64_t m = of_a.size(da[i]), n = of_b.size(db[i]);
    fits = m == n || (ones && (m == 1 || n == 1));
  }
  if (!fits) {
    fail(std::string(op) + ": dimensions " + sizes_text(da) + " of a " + sizes_text(of_a.sizes()) +
         " and " + sizes_text(db) + " of b " + sizes_text(of_b.sizes()) + " differ, expected " +
         (ones ? "as many, of the same sizes or of size 1" : "the same sizes"));
  }
  // Whole numbers are summed in int64.
  const Tensor a = as_dtype(met_by_ones(of_a, da, of_b, db), of_a.dtype()),
               b = as_dtype(met_by_ones(of_b, db, of_a, da), of_b.dtype());
  if ((!a.is_same(of_a) || !b.is_same(of_b)) && of_a.dtype().is_half()) {  // rounded once
    const Tensor y = contracted(op, wide(of_a), wide(of_b), dims_a, dims_b, ones);
    return prim::copy(y, of_a.dtype());
  }
  const Sizes free_a = others(a, da), free_b = others(b, db);
  const Sizes rows = sizes_at(a, free_a), columns = sizes_at(b, free_b);
  const int64_t inner = product(sizes_at(a, da));
  const Tensor left =
      prim::reshape(prim::permute(a, joined_sizes({free_a, da})), {product(rows), inner});
  const Tensor right =
      prim::reshape(prim::permute(b, joined_sizes({db, free_b})), {inner, product(columns)});
  return prim::reshape(prim::matmul(left, right), joined_sizes({rows, columns}));
}

Tensor kronecker(const Tensor& a, const Tensor& b) {
  const int64_t rank = std::max(a.dim(), b.dim());
  if (2 * rank > TN_MAX_RANK) {
    fail("kron: a is " + sizes_text(a.sizes()) + " and b " + sizes_text(b.sizes()) +
         ", expected at most " + std::to_string(TN_MAX_RANK / 2) + " dimensions");
  }
  Sizes of_a, of_b, sizes;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t at_a = d - (rank - a.dim()), at_b = d - (rank - b.dim());
    const int64_t m = at_a < 0 ? 1 : a.size(at_a), n = at_b < 0 ? 1 : b.size(at_b);
    of_a.insert(of_a.end(), {m, 1});
    of_b.insert(of_b.end(), {1, n});
    sizes.push_back(checked_mul("kron", m, n));
  }
  const Tensor left = prim::reshape(a, of_a), right = prim::reshape(b, of_b);
  if (rank == 0) return mul(left, right);
  // Along the last dimension both are first laid out as the result has them, where that is little beside the
  // result: then its rows are as long as in the result, and dense.
  const int64_t m = of_a[size_t(2 * rank - 2)], n = of_b[size_t(2 * rank - 1)];
  constexpr int64_t kMuch = 4;
  if (a.numel() < kMuch * m || b.numel() < kMuch * n || m * n == 0)
    return prim::reshape(mul(left, right), sizes);
  const auto laid_out = [&](const Tensor& x, Sizes line) {
    line[size_t(2 * rank - 2)] = m;
    line[size_t(2 * rank - 1)] = n;
    const Tensor spread = prim::copy(prim::expand(x, line));
    line.pop_back();
    line.back() = m * n;
    return prim::reshape(spread, line);
  };
  return prim::reshape(mul(laid_out(left, of_a), laid_out(right, of_b)), sizes);
}

constinit ExpressionRef minor_of{"_minor(Tensor a, Tensor b, Tensor c, Tensor d) -> Tensor",
                                 "a * b - c * d"};

Tensor cross_of(const Tensor& a, const Tensor& b, optional<int64_t> given) {
  const auto refuse = [&] {
    fail("cross: a is " + sizes_text(a.sizes()) + " and b " + sizes_text(b.sizes()) +
         ", expected as many dimensions, and size 3 along " +
         (given ? "dimension " + std::to_string(*given) : std::string("one of them")));
  };
  if (a.dim() != b.dim() || a.dim() == 0) refuse();
  int64_t d = 0;
  if (given) {
    d = wrap_dim("cross", *given, a.dim());
  } else {
    while (d < a.dim() && (a.size(d) != 3 || b.size(d) != 3)) ++d;
  }
  if (d == a.dim() || a.size(d) != 3 || b.size(d) != 3) refuse();
  const auto part = [&](const Tensor& x, int64_t i) { return prim::slice(x, d, i % 3, i % 3 + 1); };
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < 3; ++i) {
    parts.push_back(prim::elementwise(minor_of, part(a, i + 1), part(b, i + 2), part(a, i + 2),
                                      part(b, i + 1)));
  }
  return cat(parts, d);
}

}  // namespace

void products() {
  op("tensordot(Tensor a, Tensor b, int[] dims_a=[-2, -1], int[] dims_b=[0, 1]) -> Tensor")
      .doc(
          "Sums of products over dims_a of a with dims_b of b, which broadcast: [the other sizes "
          "of "
          "a.., of b..]. The default is PyTorch's dims=2.")
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b, Ints dims_a, Ints dims_b) {
        return contracted("tensordot", a, b, dims_a, dims_b, true);
      });
  op("kron(Tensor a, Tensor b) -> Tensor")
      .method()
      .doc("The Kronecker product: each element of a times b, [a.size(d) * b.size(d), ..].")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(kronecker);
  op("cross(Tensor a, Tensor b, int? dim=None) -> Tensor")
      .method()
      .doc(
          "The vector product along dim, whose size is 3; None: the first of size 3. The others "
          "broadcast.")
      .amp(Amp::widest)
      .meaning(cross_of);
  op("inner(Tensor a, Tensor b) -> Tensor")
      .doc(
          "Sums of products over the last dimensions of a [.., n] and b [.., n]: [the other sizes "
          "of "
          "a.., of b..]. a * b where one has no dimensions.")
      .method()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor a, Tensor b) {
        if (a.dim() == 0 || b.dim() == 0) return mul(a, b);
        return contracted("inner", a, b, int64_t(-1), int64_t(-1), false);
      });
  op("vecdot(Tensor x, Tensor y, int dim=-1) -> Tensor")
      .doc("The sum of x * y along dim. The two broadcast.")
      .amp(Amp::widest)
      .meaning([](Tensor x, Tensor y, int64_t dim) { return sum(mul(x, y), {dim}); });
  op("trace(Tensor x) -> Tensor")
      .method()
      .doc("The sum of the diagonal of x [n, m]; of integers and bool in int64.")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor x) {
        if (x.dim() != 2) fail("trace: x is " + sizes_text(x.sizes()) + ", expected 2 dimensions");
        return sum(diagonal(x));
      });
}

}  // namespace tenon::ops_pack
