// Tensors in the form that a caller needs: at least so many dimensions, the sizes of another
// tensor, repeated, turned around, and places in many dimensions from places in one. A part of the
// family shape.
#include "pack.h"

#include <algorithm>

namespace tenon::ops_pack {
namespace {

using OneList = std::tuple<std::vector<Tensor>>;  // one result, which is a list

constinit ExpressionRef place_along{"_place_along(Tensor i, int below, int size) -> Tensor",
                                    "i // below % size"};

// [] as [1], [1, 1] or [1, 1, 1]; [n] as [1, n] or [1, n, 1]; [n, m] as [n, m, 1].
Tensor of_rank(const Tensor& x, int64_t rank) {
  if (x.dim() >= rank) return prim::reshape(x, x.sizes());
  if (x.dim() == 0) return prim::reshape(x, Sizes(size_t(rank), 1));
  if (x.dim() == 1)
    return prim::reshape(x, rank == 2 ? Sizes{1, x.size(0)} : Sizes{1, x.size(0), 1});
  return prim::reshape(x, {x.size(0), x.size(1), 1});
}

OneList broadcast_of(Tensors xs) {
  if (xs.size() == 0) fail("broadcast_tensors: the list of tensors is empty");
  Sizes sizes;  // the last dimension first
  for (uint32_t i = 0; i < xs.size(); ++i) {
    const Tensor x = xs[i];
    for (int64_t d = 1; d <= x.dim(); ++d) {
      if (size_t(d) > sizes.size()) sizes.push_back(1);
      int64_t& size = sizes[size_t(d - 1)];
      if (size != 1 && x.size(-d) != 1 && x.size(-d) != size) {
        fail("broadcast_tensors: tensor " + std::to_string(i) + " is " + sizes_text(x.sizes()) +
             ", those before have " + std::to_string(size) + " along dimension " +
             std::to_string(-d) + "; expected one size, or 1");
      }
      if (size == 1) size = x.size(-d);
    }
  }
  std::reverse(sizes.begin(), sizes.end());
  std::vector<Tensor> list;
  for (uint32_t i = 0; i < xs.size(); ++i) list.push_back(prim::expand(xs[i], sizes));
  return {list};
}

OneList unraveled(const Tensor& indices, Ints shape) {
  if (indices.dtype() == bool_ || indices.dtype().is_float())
    fail(std::string("unravel_index: indices is ") + indices.dtype().name() +
         ", expected integers");
  const Tensor at = as_dtype(indices, int64);
  for (int64_t size : shape) {
    if (size > 0) continue;
    fail("unravel_index: shape is " + sizes_text({shape.data(), shape.size()}) +
         ", expected sizes of at least 1");
  }
  std::vector<Tensor> list(shape.size());
  int64_t below = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    list[d] = prim::elementwise(place_along, at, below, shape[d]);
    below = checked_mul("unravel_index", below, shape[d]);
  }
  return {list};
}

void ranks() {
  op("atleast_1d(Tensor(a) x) -> Tensor(a)")
      .doc("x, or as [1] where it has no dimensions.")
      .keeps_halves()
      .meaning([](Tensor x) { return of_rank(x, 1); });
  op("atleast_2d(Tensor(a) x) -> Tensor(a)")
      .doc("x, or as [1, n] where it has fewer than 2 dimensions.")
      .keeps_halves()
      .meaning([](Tensor x) { return of_rank(x, 2); });
  op("atleast_3d(Tensor(a) x) -> Tensor(a)")
      .doc("x, or as [1, n, 1] or [n, m, 1] where it has fewer than 3 dimensions.")
      .keeps_halves()
      .meaning([](Tensor x) { return of_rank(x, 3); });
}

void sizes_of_others() {
  op("view_as(Tensor(a) x, Tensor other) -> Tensor(a)")
      .doc("x.view of the sizes of other.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Tensor other) { return view(x, other.sizes()); });
  op("reshape_as(Tensor(a) x, Tensor other) -> Tensor(a)")
      .doc("x.reshape to the sizes of other.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Tensor other) { return prim::reshape(x, other.sizes()); });
  op("expand_as(Tensor(a) x, Tensor other) -> Tensor(a)")
      .doc("x.expand to the sizes of other.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Tensor other) { return prim::expand(x, other.sizes()); });
  op("broadcast_tensors(Tensor[] xs) -> Tensor[]")
      .doc("Views of all xs in the sizes to which they broadcast together.")
      .keeps_halves()
      .meaning(broadcast_of);
}

void repetitions_and_flips() {
  op("tile(Tensor x, int[] dims) -> Tensor")
      .doc("repeat(x, dims), where dims may be shorter than x has dimensions: those in front stay.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, Ints dims) {
        Sizes counts(dims.begin(), dims.end());
        while (int64_t(counts.size()) < x.dim()) counts.insert(counts.begin(), 1);
        return repeat(x, counts);
      });
  op("fliplr(Tensor x) -> Tensor")
      .doc("A copy of x [n, m, ..] with its columns in reverse order.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x) {
        if (x.dim() < 2)
          fail("fliplr: x is " + sizes_text(x.sizes()) + ", expected at least 2 dimensions");
        return flip(x, 1);
      });
  op("flipud(Tensor x) -> Tensor")
      .doc("A copy of x [n, ..] with its rows in reverse order.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x) {
        if (x.dim() < 1) fail("flipud: x is [], expected at least 1 dimension");
        return flip(x, 0);
      });
  op("unravel_index(Tensor indices, int[] shape) -> Tensor[]")
      .doc(
          "The places in each dimension of shape of elements that indices count in row-major "
          "order.")
      .no_gradient()
      .meaning(unraveled);
}

}  // namespace

void forms() {
  ranks();
  sizes_of_others();
  repetitions_and_flips();
}

}  // namespace tenon::ops_pack
