// Rows of a table by their indices, added: what gradients of embeddings are made of.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef differs{"_differs(Tensor x, Tensor y) -> Tensor", "int(x != y)"};
constinit ExpressionRef place_of{"_place_of(Tensor count) -> Tensor", "count - 1"};

}  // namespace

Tensor index_along(const char* op, const Tensor& x, int64_t dim, const Tensor& given,
                   const Tensor& source) {
  Tensor index = as_index(op, "index", given);
  if (index.dim() == 0) index = prim::reshape(index, {1});
  Sizes line(size_t(x.dim()), 1), sizes = sizes_of(x);
  if (index.dim() != 1 || x.dim() == 0) {
    fail(std::string(op) + ": index is " + sizes_text(index.sizes()) + " for x of " +
         sizes_text(x.sizes()) + ", expected 1 dimension, and of x at least 1");
  }
  line[size_t(dim)] = sizes[size_t(dim)] = index.numel();
  if (sizes_of(source) != sizes) {
    fail(std::string(op) + ": source is " + sizes_text(source.sizes()) + ", expected " +
         sizes_text(sizes) + ", a part for each index");
  }
  return prim::expand(prim::reshape(index, line), sizes);
}

namespace {

Tensor added(const char* op, const Tensor& x, int64_t given_dim, const Tensor& index,
             const Tensor& source, const Operand& alpha = 1, bool in_place = false) {
  const int64_t dim = wrap_dim(op, given_dim, x.dim());
  if (x.dim() == 0) {  // a line of one element
    const Tensor line = added(op, prim::reshape(x, {1}), 0, prim::reshape(index, {-1}),
                              prim::reshape(source, {-1}), alpha);
    return in_place ? x.copy_(prim::reshape(line, {})) : prim::reshape(line, {});
  }
  const Tensor at = index_along(op, x, dim, index, source);
  const bool is_one = alpha.value().kind == TN_KIND_INT && alpha.value().as.i == 1;
  const Tensor src = as_dtype(is_one ? source : mul(source, alpha), x.dtype());
  return scatter_by(in_place, x, dim, at, src, true);
}

void add_rows(Tensor x, Tensor index, Tensor rows, Operand scale) {
  NoGrad guard;
  const Tensor at = index_along("add_rows_", x, 0, index, rows);
  const Tensor change = mul(wide(rows), scale);
  if (!x.dtype().is_half()) {
    prim::scatter_(x, 0, at, as_dtype(change, x.dtype()), true);
  } else {  // rounded once
    x.copy_(prim::scatter(wide(x), 0, at, as_dtype(change, float32), true));
  }
}

// Sorts the indices and numbers them by the places where they change; then the rows of each index
// are added in the order in which they came.
std::tuple<Tensor, Tensor> coalesced(const Tensor& given, const Tensor& values) {
  const Tensor indices = as_index("coalesce_rows", "indices", given);
  const int64_t n = indices.numel();
  if (indices.dim() != 1 || values.dim() == 0 || values.size(0) != n) {
    fail("coalesce_rows: indices are " + sizes_text(indices.sizes()) + ", values " +
         sizes_text(values.sizes()) + "; expected [n] and [n, ..]");
  }
  if (n == 0) return {clone(indices), clone(values)};
  const auto [sorted, order] = prim::sort(indices, 0);
  const Tensor one = prim::fill({1}, 1, int64, indices.device());
  const Tensor begins = cat({one, prim::elementwise(differs, prim::slice(sorted, 0, 1, n),
                                                    prim::slice(sorted, 0, 0, n - 1))});
  const Tensor places = prim::nonzero(begins);
  const int64_t count = places.size(0);
  const Tensor numbers = prim::elementwise(place_of, prim::scan(TN_REDUCE_SUM, begins, 0));
  const Tensor number_of_row = prim::scatter(order, 0, order, numbers, false);
  Sizes sizes = sizes_of(values);
  sizes[0] = count;
  const Tensor none = prim::fill(sizes, 0, values.dtype(), values.device());
  return {prim::gather(sorted, 0, prim::reshape(places, {count})),
          added("coalesce_rows", none, 0, number_of_row, values)};
}

}  // namespace

void table_rows() {
  op("index_add(Tensor x, int dim, Tensor index, Tensor source, number alpha=1) -> Tensor")
      .doc(
          "A copy of x to which alpha times the parts of source along dim are added at index [n]; "
          "source has the sizes of x, and n along dim.")
      .method()
      .amp(Amp::widest)
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor source, Operand alpha) {
        return added("index_add", x, dim, index, source, alpha);
      });
  op("index_add_(Tensor(a!) x, int dim, Tensor index, Tensor source, number alpha=1) -> "
     "Tensor(a!)")
      .doc("index_add(x, dim, index, source, alpha), written to x.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor source, Operand alpha) {
        return added("index_add_", x, dim, index, source, alpha, /*in_place=*/true);
      });
  op("add_rows_(Tensor(a!) x, Tensor index, Tensor rows, dynamic float scale=1) -> ()")
      .doc(
          "Adds scale times rows [n, ..] to the rows of x at index [n], in their order, without a "
          "gradient.")
      .no_gradient()
      .keeps_halves()
      .infer([](Tensor x, Tensor index, Tensor rows, double) {
        index_along("add_rows_", x, 0, index, rows);
        return std::vector<Meta>();
      })
      .meaning(add_rows);
  op("coalesce_rows(Tensor indices, Tensor values) -> (Tensor indices, Tensor values)")
      .doc(
          "Each of indices [n] once, in ascending order, and the sums of its rows of values "
          "[n, ..]. Waits for the device.")
      .dynamic()
      .no_gradient()
      .meaning(coalesced);
}

}  // namespace tenon::ops_pack
