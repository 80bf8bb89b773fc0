// Matrices made of diagonals, and copies of a tensor in which a part is another's: a diagonal, one
// index or a slice. A part of the family shape.
#include <algorithm>

#include "pack.h"

namespace tenon::ops_pack {
namespace {

Tensor embedded(const char* op, const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t rank = x.dim() + 1;
  if (x.dim() == 0 || rank > TN_MAX_RANK) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", expected 1 to " +
         std::to_string(TN_MAX_RANK - 1) + " dimensions");
  }
  const int64_t a = wrap_dim(op, dim1, rank), b = wrap_dim(op, dim2, rank);
  if (a == b) {
    fail(std::string(op) + ": dim1 and dim2 are both " + std::to_string(a) +
         "; expected two dimensions");
  }
  const int64_t n = offset < 0 ? checked_add(op, x.size(-1), -std::max(offset, -INT64_MAX))
                               : checked_add(op, x.size(-1), offset);
  Sizes sizes = first_sizes(x, x.dim() - 1);
  sizes.insert(sizes.begin() + std::min(a, b), n);
  sizes.insert(sizes.begin() + std::max(a, b), n);
  expect_countable(op, sizes, x.dtype());
  const Tensor y = prim::fill(sizes, 0, x.dtype(), x.device());
  diagonal(y, offset, a, b).copy_(x);
  return y;
}

// A vector's matrix, or a matrix' diagonal.
Tensor diagonal_or_matrix(const Tensor& x, int64_t offset) {
  if (x.dim() != 1 && x.dim() != 2)
    fail("diag: x is " + sizes_text(x.sizes()) + ", expected 1 or 2 dimensions");
  return x.dim() == 1 ? embedded("diag", x, offset, -2, -1) : prim::copy(diagonal(x, offset));
}

// A copy of x with src in the place of a part of it, which is a view of the copy.
template <typename View>
Tensor with_part(const char* op, const Tensor& x, const Tensor& src, const View& part_of) {
  const Tensor y = prim::copy(x), part = part_of(y);
  if (sizes_of(part) != sizes_of(src)) {
    fail(std::string(op) + ": src is " + sizes_text(src.sizes()) + ", expected " +
         sizes_text(part.sizes()) + ", the sizes of what it replaces");
  }
  part.copy_(src);
  return y;
}

void made_of_diagonals() {
  op("diag(Tensor x, int diagonal=0) -> Tensor")
      .doc(
          "Of x [n] a matrix of zeros with x as its diagonal, which is `diagonal` above the main "
          "one; of a matrix a copy of that diagonal.")
      .method()
      .keeps_halves()
      .meaning(diagonal_or_matrix);
  op("diag_embed(Tensor x, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
      .doc(
          "Zeros with the last dimension of x as the diagonal of dim1 and dim2 that is offset "
          "above or, negative, below the main one.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t offset, int64_t dim1, int64_t dim2) {
        return embedded("diag_embed", x, offset, dim1, dim2);
      })
      .vjp([](const Vjp& g, Tensor, int64_t offset, int64_t dim1,
              int64_t dim2) { return prim::copy(diagonal(g, offset, dim1, dim2)); },
           Reads::sizes);
  op("diagflat(Tensor x, int offset=0) -> Tensor")
      .doc(
          "A matrix of zeros with all elements of x as the diagonal that is offset above the main "
          "one.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t offset) {
        return embedded("diagflat", prim::reshape(x, {x.numel()}), offset, -2, -1);
      });
}

void copies_with_parts() {
  op("diagonal_scatter(Tensor x, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
      .doc("A copy of x in which src stands in the place of diagonal(x, offset, dim1, dim2).")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Tensor src, int64_t offset, int64_t dim1, int64_t dim2) {
        return with_part("diagonal_scatter", x, src,
                         [&](const Tensor& y) { return diagonal(y, offset, dim1, dim2); });
      });
  op("select_scatter(Tensor x, Tensor src, int dim, int index) -> Tensor")
      .doc("A copy of x in which src stands in the place of select(x, dim, index).")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Tensor src, int64_t dim, int64_t index) {
        return with_part("select_scatter", x, src,
                         [&](const Tensor& y) { return select(y, dim, index); });
      });
  op("slice_scatter(Tensor x, Tensor src, int dim=0, int start=0, int end=9223372036854775807, "
     "int step=1) -> Tensor")
      .doc("A copy of x in which src stands in the place of slice(x, dim, start, end, step).")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Tensor src, int64_t dim, int64_t start, int64_t end, int64_t step) {
        return with_part("slice_scatter", x, src,
                         [&](const Tensor& y) { return prim::slice(y, dim, start, end, step); });
      });
  op("as_strided_scatter(Tensor x, Tensor src, int[] sizes, int[] strides, int offset=0) -> Tensor")
      .doc(
          "A row-major copy of x in which src stands in the place of its as_strided(sizes, "
          "strides, "
          "offset).")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Tensor src, Ints sizes, Ints strides, int64_t offset) {
        return with_part("as_strided_scatter", x, src, [&](const Tensor& y) {
          return prim::as_strided(y, sizes, strides, offset);
        });
      });
}

}  // namespace

void diagonals() {
  made_of_diagonals();
  copies_with_parts();
}

}  // namespace tenon::ops_pack
