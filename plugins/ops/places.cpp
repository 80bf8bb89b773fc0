// Elements taken and written at places that tensors of indices or a mask name. What adds up, or
// takes the largest, where several elements meet is in scatter_reduce.cpp.
#include <algorithm>

#include "pack.h"

namespace tenon::ops_pack {
namespace {

// An element of source for each place of the mask, in order; where there is none an index that the
// kernel refuses.
constinit ExpressionRef source_place{
    "_source_place(Tensor mask, Tensor count, int n) -> Tensor",
    "where(mask, where(count > n, n + 1, count - 1), where(n == 0, n, 0))"};

std::vector<int64_t> broadcast(const char* op, std::span<const int64_t> a,
                               std::span<const int64_t> b, int64_t but = -1) {
  Sizes sizes(a.begin(), a.end());
  bool fits = a.size() == b.size();
  for (size_t d = 0; fits && d < a.size(); ++d) {
    fits = int64_t(d) == but || a[d] == b[d] || a[d] == 1 || b[d] == 1;
    if (sizes[d] == 1 && int64_t(d) != but) sizes[d] = b[d];
  }
  if (!fits) {
    fail(std::string(op) + ": x is " + sizes_text(a) + ", indices are " + sizes_text(b) +
         "; expected as many dimensions, and sizes that broadcast except along dim");
  }
  return sizes;
}

// Places in x as one dimension; a negative one counts from the end.
Tensor flat_places(const char* op, const Tensor& x, const Tensor& index) {
  return prim::reshape(
      prim::elementwise(first_index, as_index(op, "index", index), x.numel(), x.numel()), {-1});
}

Tensor taken_along(const Tensor& x, const Tensor& given, optional<int64_t> dim) {
  Tensor indices = as_index("take_along_dim", "indices", given);
  if (!dim)
    return prim::gather(prim::reshape(x, {-1}), 0, flat_places("take_along_dim", x, indices));
  const int64_t d = wrap_dim("take_along_dim", *dim, x.dim());
  Sizes from = broadcast("take_along_dim", x.sizes(), indices.sizes(), d), at = from;
  const int64_t n = x.dim() == 0 ? 1 : x.size(d);
  indices = prim::elementwise(first_index, indices, n, n);
  if (x.dim() == 0) return gather(x, 0, indices);
  at[size_t(d)] = indices.size(d);
  return prim::gather(prim::expand(x, from), d, prim::expand(indices, at));
}

void expect_one_dtype(const char* op, const Tensor& x, const Tensor& source) {
  if (x.dtype() == source.dtype()) return;
  fail(std::string(op) + ": source is " + source.dtype().name() + ", x is " + x.dtype().name() +
       "; expected one dtype");
}

Tensor put_at(const char* op, const Tensor& x, const Tensor& index, const Tensor& source,
              bool accumulate, bool in_place = false) {
  expect_one_dtype(op, x, source);
  if (index.numel() != source.numel()) {
    fail(std::string(op) + ": index is " + sizes_text(index.sizes()) + ", source is " +
         sizes_text(source.sizes()) + "; expected as many elements");
  }
  const Tensor at = flat_places(op, x, index), line = prim::reshape(x, {-1}),
               src = prim::reshape(source, {-1});
  if (in_place && line.same_storage(x)) {
    prim::scatter_(line, 0, at, src, accumulate);
    return x;
  }
  const Tensor y = prim::reshape(prim::scatter(line, 0, at, src, accumulate), x.sizes());
  return in_place ? x.copy_(y) : y;
}

Tensor copied_to(const char* op, const Tensor& x, int64_t dim, const Tensor& index,
                 const Tensor& source, bool in_place = false) {
  expect_one_dtype(op, x, source);
  const int64_t d = wrap_dim(op, dim, x.dim());
  if (x.dim() == 0) {
    if (index.dim() > 1 || source.dim() > 1) {
      fail(std::string(op) + ": x is [], index is " + sizes_text(index.sizes()) + ", source is " +
           sizes_text(source.sizes()) + "; expected at most 1 dimension of these");
    }
    const Tensor one = copied_to(op, prim::reshape(x, {1}), 0, index, prim::reshape(source, {-1}));
    return in_place ? x.copy_(prim::reshape(one, {})) : prim::reshape(one, {});
  }
  // One number is written to one place of a line.
  const Tensor parts = source.dim() == 0 && x.dim() == 1 ? prim::reshape(source, {1}) : source;
  const Tensor at = index_along(op, x, d, index, parts);
  return scatter_by(in_place, x, d, at, parts, false);
}

Tensor filled_at(const char* op, const Operand& x_or_number, int64_t dim, const Operand& index_of,
                 const Operand& value, bool in_place = false) {
  const Tensor x = x_or_number.tensor(), index = index_of.tensor();
  if (!x.defined() || !index.defined())
    fail(std::string(op) + ": x and index are tensors, a number stands for value alone");
  if (value.is_tensor() && value.tensor().dim() != 0) {
    fail(std::string(op) + ": value is " + sizes_text(value.tensor().sizes()) +
         ", expected a number or a tensor without dimensions");
  }
  const int64_t d = wrap_dim(op, dim, x.dim());
  if (index.dim() > 1)
    fail(std::string(op) + ": index is " + sizes_text(index.sizes()) +
         ", expected at most 1 dimension");
  if (x.dim() == 0) {
    const Tensor y = prim::reshape(filled_at(op, prim::reshape(x, {1}), 0, index_of, value), {});
    return in_place ? x.copy_(y) : y;
  }
  // A negative one counts from the end.
  const Tensor line = prim::elementwise(
      first_index, prim::reshape(as_index(op, "index", index), {-1}), x.size(d), x.size(d));
  Sizes sizes = sizes_of(x);
  sizes[size_t(d)] = line.size(0);
  // Where an index is there twice, a value with a gradient counts once.
  if (in_place && !(value.is_tensor() && value.tensor().requires_grad())) {
    const Tensor one = value.is_tensor() ? value.tensor().to(x.device(), x.dtype())
                                         : prim::fill({}, number_for(op, "value", value, x.dtype()),
                                                      x.dtype(), x.device());
    const Tensor src = prim::expand(one, sizes);
    return prim::scatter_(x, d, index_along(op, x, d, line, src), src, false);
  }
  const Tensor marks = spread(sizes, 1, bool_, x.device());
  const Tensor none = spread(x.sizes(), 0, bool_, x.device());
  const Tensor chosen = prim::scatter(none, d, index_along(op, x, d, line, marks), marks, false);
  const Tensor y = value.is_tensor() ? where(chosen, as_dtype(value.tensor(), x.dtype()), x)
                                     : masked_fill(x, chosen, value);
  return in_place ? x.copy_(y) : y;
}

Tensor scattered_by(const char* op, const Tensor& x, const Tensor& mask, const Tensor& source,
                    bool in_place) {
  expect_one_dtype(op, x, source);
  if (mask.dtype() != bool_)
    fail(std::string(op) + ": mask is " + mask.dtype().name() + ", expected bool");
  Sizes sizes = sizes_of(x);
  for (int64_t d = 1; d <= std::max(x.dim(), mask.dim()); ++d) {
    const int64_t a = d <= x.dim() ? x.size(-d) : 1, b = d <= mask.dim() ? mask.size(-d) : 1;
    if ((a != b && a != 1 && b != 1) || (in_place && d > x.dim()) || (in_place && a == 1 && b > 1))
      fail(std::string(op) + ": the mask is " + sizes_text(mask.sizes()) + ", x is " +
           sizes_text(x.sizes()) + "; expected sizes that broadcast" + (in_place ? " to x" : ""));
    if (d > x.dim()) sizes.insert(sizes.begin(), b);
    if (a == 1) sizes[sizes.size() - size_t(d)] = b;
  }
  const Tensor all = prim::expand(mask, sizes), flat = prim::reshape(all, {-1});
  if (may_look_at(mask)) {
    const NoGrad guard;
    const auto wanted = count_nonzero(all).item<int64_t>();
    if (wanted > source.numel()) {
      fail(std::string(op) + ": the mask has " + std::to_string(wanted) + " places, source " +
           std::to_string(source.numel()) + " elements; expected as many at least");
    }
  }
  Tensor from = prim::reshape(source, {-1});
  if (from.numel() == 0) from = prim::fill({1}, 0, x.dtype(), x.device());
  const Tensor at =
      prim::elementwise(source_place, flat, prim::scan(TN_REDUCE_SUM, flat, 0), source.numel());
  return where(all, prim::reshape(prim::gather(from, 0, at), sizes), prim::expand(x, sizes));
}

void at_indices() {
  op("take_along_dim(Tensor x, Tensor indices, int? dim=None) -> Tensor")
      .method()
      .doc(
          "gather of x and indices, broadcast to each other except along dim; without dim of both "
          "as one dimension.")
      .keeps_halves()
      .meaning([](Tensor x, Tensor indices, optional<int64_t> dim) {
        return taken_along(x, indices, dim);
      });
  op("take(Tensor x, Tensor index) -> Tensor")
      .doc("x, as if it had one dimension, at index, in the sizes of index.")
      .keeps_halves()
      .meaning([](Tensor x, Tensor index) {
        return prim::reshape(prim::gather(prim::reshape(x, {-1}), 0, flat_places("take", x, index)),
                             index.sizes());
      });
  op("put(Tensor x, Tensor index, Tensor source, bool accumulate=False) -> Tensor")
      .method()
      .doc(
          "A copy of x, in which source is written, or added (accumulate), at index, which counts "
          "as if x had one dimension.")
      .keeps_halves()
      .meaning([](Tensor x, Tensor index, Tensor source, bool accumulate) {
        return put_at("put", x, index, source, accumulate);
      });
  op("put_(Tensor(a!) x, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)")
      .method()
      .doc("put(x, index, source, accumulate), written to x.")
      .keeps_halves()
      .meaning([](Tensor x, Tensor index, Tensor source, bool accumulate) {
        return put_at("put_", x, index, source, accumulate, /*in_place=*/true);
      });
}

void along_dimensions() {
  op("index_copy(Tensor x, int dim, Tensor index, Tensor source) -> Tensor")
      .method()
      .doc(
          "A copy of x in which the parts of source along dim are written at index [n]; source has "
          "the sizes of x, and n along dim.")
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor source) {
        return copied_to("index_copy", x, dim, index, source);
      });
  op("index_copy_(Tensor(a!) x, int dim, Tensor index, Tensor source) -> Tensor(a!)")
      .method()
      .doc("index_copy(x, dim, index, source), written to x.")
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor source) {
        return copied_to("index_copy_", x, dim, index, source, /*in_place=*/true);
      });
  op("index_fill(Tensor x, int dim, Tensor index, Tensor value) -> Tensor")
      .method()
      .doc(
          "A copy of x with value, a number or a tensor without dimensions, at index [n] along "
          "dim.")
      .numbers()
      .keeps_halves()
      .meaning([](Operand x, int64_t dim, Operand index, Operand value) {
        return filled_at("index_fill", x, dim, index, value);
      });
  op("index_fill_(Tensor(a!) x, int dim, Tensor index, Tensor value) -> Tensor(a!)")
      .method()
      .doc("index_fill(x, dim, index, value), written to x.")
      .numbers()
      .keeps_halves()
      .meaning([](Operand x, int64_t dim, Operand index, Operand value) {
        return filled_at("index_fill_", x, dim, index, value, /*in_place=*/true);
      });
  op("masked_scatter(Tensor x, Tensor mask, Tensor source) -> Tensor")
      .method()
      .doc(
          "A copy of x with the elements of source, in order, where mask (bool) is true; x and "
          "mask "
          "broadcast. source has at least as many.")
      .keeps_halves()
      .meaning([](Tensor x, Tensor mask, Tensor source) {
        return scattered_by("masked_scatter", x, mask, source, false);
      });
  op("masked_scatter_(Tensor(a!) x, Tensor mask, Tensor source) -> Tensor(a!)")
      .method()
      .doc("masked_scatter(x, mask, source), written to x.")
      .keeps_halves()
      .meaning([](Tensor x, Tensor mask, Tensor source) {
        return x.copy_(scattered_by("masked_scatter_", x, mask, source, true));
      });
}

}  // namespace

void places() {
  at_indices();
  along_dimensions();
}

}  // namespace tenon::ops_pack
