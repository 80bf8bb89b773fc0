// Indexing by tensors: gather, scatter and nonzero are primitives, the rest is made of them.
#include "pack.h"

#include <algorithm>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef next_index{
    "_next_index(Tensor flat, Tensor i, int n, int before, int rows) -> Tensor",
    "where(flat < 0 or flat >= before, where(flat < 0, flat, max(flat, rows)), "
    "where(i < -n or i >= n, where(i < 0, i, max(i, rows)), flat * n + where(i < 0, i + n, i)))"};
std::vector<int64_t> broadcast(const char* op, std::span<const int64_t> a,
                               std::span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<int64_t> sizes(a.begin(), a.end());
  for (size_t k = 0; k < b.size(); ++k) {
    int64_t &size = sizes[a.size() - b.size() + k], other = b[k];
    if (size != other && size != 1 && other != 1) {
      fail(std::string(op) + ": " + sizes_text(a) + " and " + sizes_text(b) + " do not broadcast");
    }
    if (size == 1) size = other;
  }
  return sizes;
}

// x[i, :, mask] in PyTorch's words: x as rows, one for each place of the indexed dimensions, and
// which rows the indices pick.
struct Picked {
  Tensor x;                        // with the dimensions that masks without any have added
  std::vector<Tensor> list;        // the index of each dimension, null where all of it is taken
  std::vector<int64_t> order;      // x's dimensions: the indexed ones, then the others
  std::vector<int64_t> sizes;      // of x in that order
  std::vector<int64_t> broadcast;  // sizes of the indices
  std::vector<int64_t> chosen;     // sizes of what is picked: broadcast, then the others
  std::vector<int64_t> result;     // its dimensions in the order of the result
  int64_t rows = 1, row = 1;       // how many, and elements of one
  int64_t along = -1;  // the dimension of the index, if there is one of one dimension; else -1
  Tensor places;       // int64 [n], within rows
  Tensor flat;         // the same for each element of a row, [n, row]

  // The places along their dimension, to be expanded over the others.
  Tensor line() const {
    Sizes sizes(size_t(x.dim()), 1);
    sizes[size_t(along)] = places.size(0);
    return prim::reshape(places, sizes);
  }
};

// A mask is an index along each of its dimensions. One without any is an index along a new
// dimension of x, as in PyTorch: of its only place, or of none.
void append_mask(std::vector<Tensor>& list, const char* op, const Tensor& mask, Tensor& x) {
  int64_t at = int64_t(list.size());
  if (mask.dim() == 0 && at <= x.dim()) {
    std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
    sizes.insert(sizes.begin() + at, 1);
    x = prim::reshape(x, sizes);
    return append_mask(list, op, prim::reshape(mask, {1}), x);
  }
  bool fits = at + mask.dim() <= x.dim();
  for (int64_t d = 0; fits && d < mask.dim(); ++d) fits = mask.size(d) == x.size(at + d);
  if (!fits) {
    fail(std::string(op) + ": the mask is " + sizes_text(mask.sizes()) + ", x is " +
         sizes_text(x.sizes()) + "; expected its sizes from dimension " + std::to_string(at));
  }
  Tensor places = prim::nonzero(mask);
  for (int64_t d = 0; d < mask.dim(); ++d) {
    list.push_back(prim::reshape(prim::slice(places, 1, d, d + 1), {places.size(0)}));
  }
}
// An index for each dimension of x, null where all of it is taken. x gets the dimensions that masks
// without any add.
std::vector<Tensor> index_list(const char* op, Tensor& x, Tensors indices) {
  std::vector<Tensor> list;
  for (uint32_t i = 0; i < indices.size(); ++i) {
    Tensor index = indices[i];
    const bool is_mask = index.defined() && (index.dtype() == bool_ || index.dtype() == uint8);
    if (is_mask) {
      append_mask(list, op, index, x);
    } else if (!index.defined() || index.dtype() == int64) {
      list.push_back(index);
    } else if (index.dtype() == int32) {
      list.push_back(prim::copy(index, int64));
    } else {
      fail(std::string(op) + ": index " + std::to_string(i) + " is " + index.dtype().name() +
           ", expected int64 or int32, or a mask of bool or uint8");
    }
  }
  if (int64_t(list.size()) > x.dim()) {
    fail(std::string(op) + ": " + std::to_string(list.size()) + " indices for x of " +
         std::to_string(x.dim()) + " dimensions");
  }
  list.resize(size_t(x.dim()));
  return list;
}

Picked picked(const char* op, const Tensor& given, Tensors indices) {
  Picked p;
  p.x = given;
  p.list = index_list(op, p.x, indices);
  const std::vector<Tensor>& list = p.list;
  const Tensor& x = p.x;
  bool adjacent = true;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (!list[size_t(d)].defined()) continue;
    adjacent = adjacent && (p.order.empty() || p.order.back() == d - 1);
    p.order.push_back(d);
    p.rows = checked_mul(op, p.rows, x.size(d));
    p.broadcast = broadcast(op, p.broadcast, list[size_t(d)].sizes());
  }
  if (p.order.empty()) fail(std::string(op) + ": no index is given");
  if (p.order.size() == 1 && p.broadcast.size() == 1) p.along = p.order[0];
  int64_t before = 1;
  for (int64_t d : p.order) {
    Tensor i = prim::expand(list[size_t(d)], p.broadcast);
    int64_t n = x.size(d);
    p.flat = p.flat.defined() ? prim::elementwise(next_index, p.flat, i, n, before, p.rows)
                              : prim::elementwise(first_index, i, n, p.rows);
    before *= n;
  }
  // The picked dimensions come where the indexed ones were, or first where those were apart.
  int64_t lead = int64_t(p.broadcast.size()), at = adjacent ? p.order[0] : 0;
  p.chosen = p.broadcast;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (list[size_t(d)].defined()) continue;
    p.order.push_back(d);
    p.row = checked_mul(op, p.row, x.size(d));
    p.chosen.push_back(x.size(d));
  }
  for (int64_t d : p.order) p.sizes.push_back(x.size(d));
  int64_t rank = int64_t(p.chosen.size());
  for (int64_t d = lead; d < lead + at; ++d) p.result.push_back(d);
  for (int64_t d = 0; d < lead; ++d) p.result.push_back(d);
  for (int64_t d = lead + at; d < rank; ++d) p.result.push_back(d);
  const int64_t n = p.flat.numel();
  p.places = prim::reshape(p.flat, {n});
  p.flat = prim::expand(prim::reshape(p.flat, {n, 1}), {n, p.row});
  return p;
}
// f(), whose kernels refuse places of rows: what is said is the index that was given.
template <typename F>
Tensor with_indices_named(const char* op, const Picked& p, F f) {
  try {
    return f();
  } catch (const Error&) {
    for (size_t d = 0; d < p.list.size(); ++d) {
      const Tensor& index = p.list[d];
      if (!index.defined() || !index.device().is_cpu()) continue;
      const int64_t size = p.x.size(int64_t(d));
      const std::vector<int64_t> values = index.to_vector<int64_t>();
      const auto wrong =
          std::ranges::find_if(values, [=](int64_t i) { return i < -size || i >= size; });
      if (wrong == values.end()) continue;
      fail(std::string(op) + ": index " + std::to_string(*wrong) + " (element " +
           std::to_string(wrong - values.begin()) + " of the index of dimension " +
           std::to_string(d) + ") is out of range for dimension " + std::to_string(d) +
           " of size " + std::to_string(size));
    }
    throw;
  }
}
Tensor as_rows(const Picked& p) {
  return prim::reshape(prim::permute(p.x, p.order), {p.rows, p.row});
}
std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[size_t(order[i])] = int64_t(i);
  return back;
}
Tensor row_major(const Tensor& x) { return x.is_contiguous() ? x : prim::copy(x); }

Tensor indexed(const Tensor& x, Tensors indices) {
  Picked p = picked("index", x, indices);
  if (p.along >= 0 && p.x.dim() == x.dim()) {
    Sizes sizes = sizes_of(x);
    sizes[size_t(p.along)] = p.places.size(0);
    return prim::gather(x, p.along, prim::expand(p.line(), sizes));
  }
  const Tensor chosen =
      with_indices_named("index", p, [&] { return prim::gather(as_rows(p), 0, p.flat); });
  return row_major(prim::permute(prim::reshape(chosen, p.chosen), p.result));
}

// PyTorch fills under one mask of bool or uint8, whatever the rank of its one value.
bool fills(Tensors indices, const Tensor& values, bool accumulate) {
  if (accumulate || values.numel() != 1) return false;
  int masks = 0;
  for (uint32_t i = 0; i < indices.size(); ++i) {
    const Tensor index = indices[i];
    if (!index.defined()) continue;
    if (index.dtype() != bool_ && index.dtype() != uint8) return false;
    ++masks;
  }
  return masks == 1;
}

// The mask of such a fill, as bool and so that it broadcasts over x. Null: there is none that fits,
// or it has no dimensions.
Tensor filling_mask(const Tensor& x, Tensors indices, const Tensor& values, bool accumulate) {
  if (!fills(indices, values, accumulate) || values.dtype() != x.dtype()) return {};
  int64_t d = 0;
  while (!indices[uint32_t(d)].defined()) ++d;
  const Tensor mask = indices[uint32_t(d)];
  if (mask.dim() == 0 || mask.device() != x.device() || int64_t(indices.size()) > x.dim() ||
      d + mask.dim() > x.dim())
    return {};
  const Sizes covered = sizes_of(mask), all = sizes_of(x);
  if (!std::equal(covered.begin(), covered.end(), all.begin() + d)) return {};
  const Sizes ones(size_t(x.dim() - d - mask.dim()), 1);
  const Tensor over = prim::reshape(mask, joined_sizes({covered, ones}));
  return mask.dtype() == bool_ ? over : ne(over, 0);
}

// Written to x, where the places are rows of x, or along a dimension. `src` in the sizes of what is
// picked.
bool put_into(const Picked& p, const Tensor& x, const Tensor& src, bool accumulate) {
  if (p.x.dim() != x.dim()) return false;
  if (p.along >= 0) {
    prim::scatter_(x, p.along, prim::expand(p.line(), src.sizes()), src, accumulate);
    return true;
  }
  const Tensor rows = as_rows(p);
  if (!rows.same_storage(x)) return false;
  const Tensor of_rows = prim::reshape(prim::permute(src, inverse(p.result)), p.flat.sizes());
  prim::scatter_(rows, 0, p.flat, of_rows, accumulate);
  return true;
}

Tensor put(const char* op, const Tensor& x, Tensors indices, Tensor values, bool accumulate,
           bool in_place = false) {
  if (const Tensor mask = filling_mask(x, indices, values, accumulate); mask.defined()) {
    const Tensor value = prim::reshape(values, {});
    return in_place ? masked_fill_(x, mask, value) : where(mask, value, x);
  }
  Picked p = picked(op, x, indices);
  if (values.dtype() != x.dtype()) {
    fail(std::string(op) + ": values are " + values.dtype().name() + ", x is " + x.dtype().name() +
         "; expected one dtype");
  }
  if (fills(indices, values, accumulate)) values = prim::reshape(values, {});
  std::vector<int64_t> sizes;
  for (int64_t d : p.result) sizes.push_back(p.chosen[size_t(d)]);
  if (broadcast(op, sizes, values.sizes()) != sizes) {
    fail(std::string(op) + ": values are " + sizes_text(values.sizes()) + ", the indices pick " +
         sizes_text(sizes));
  }
  values = prim::expand(values, sizes);
  return with_indices_named(op, p, [&] {
    if (in_place && put_into(p, x, values, accumulate)) return x;
    Tensor src = prim::permute(values, inverse(p.result));
    src = prim::reshape(src, {p.flat.size(0), p.row});
    Tensor y = prim::scatter(as_rows(p), 0, p.flat, src, accumulate);
    y = row_major(prim::permute(prim::reshape(y, p.sizes), inverse(p.order)));
    if (p.x.dim() != x.dim()) y = prim::reshape(y, x.sizes());
    return in_place ? x.copy_(y) : y;
  });
}

Tensor selected(const Tensor& x, int64_t dim, const Tensor& given) {
  const Tensor index = as_index("index_select", "index", given);
  if (index.dim() > 1) {
    fail("index_select: index is " + sizes_text(index.sizes()) + ", expected at most 1 dimension");
  }
  int64_t d = wrap_dim("index_select", dim, x.dim());
  if (x.dim() == 0) return prim::reshape(selected(prim::reshape(x, {1}), 0, index), {});
  std::vector<int64_t> line(size_t(x.dim()), 1), sizes(x.sizes().begin(), x.sizes().end());
  line[size_t(d)] = sizes[size_t(d)] = index.numel();
  return prim::gather(x, d, prim::expand(prim::reshape(index, line), sizes));
}

Tensor chosen_by(const Tensor& x, const Tensor& mask) {
  if (mask.dtype() != bool_)
    fail(std::string("masked_select: mask is ") + mask.dtype().name() + ", expected bool");
  std::vector<int64_t> sizes = broadcast("masked_select", x.sizes(), mask.sizes());
  Tensor flat = prim::reshape(prim::expand(mask, sizes), {-1});
  Tensor places = prim::nonzero(flat);
  return prim::gather(prim::reshape(prim::expand(x, sizes), {flat.numel()}), 0,
                      prim::reshape(places, {places.size(0)}));
}

// A tensor without dimensions counts as one of size 1, as in PyTorch.
Tensor as_line(const Tensor& x) { return x.dim() == 0 ? prim::reshape(x, {1}) : x; }

Tensor gathered(const Tensor& x, int64_t dim, const Tensor& index) {
  if (x.dim() == index.dim() || x.dim() + index.dim() != 1) return prim::gather(x, dim, index);
  return prim::reshape(prim::gather(as_line(x), dim, as_line(index)), index.sizes());
}

// Of a larger src the part that index covers is written.
Tensor scattered(const char* op, const Tensor& x, int64_t dim, const Tensor& index, Tensor src,
                 bool add, bool in_place = false) {
  const bool lines = x.dim() <= 1 && index.dim() <= 1 && src.dim() <= 1;
  if (lines && (x.dim() != index.dim() || index.dim() != src.dim())) {
    const Tensor y =
        prim::reshape(scattered(op, as_line(x), dim, as_line(index), as_line(src), add), x.sizes());
    return in_place ? x.copy_(y) : y;
  }
  // Nothing is written where there is no index, whatever the sizes are.
  if (index.numel() == 0 && (index.dim() != x.dim() || src.dim() != x.dim()))
    return in_place ? x : prim::copy(x);
  bool fits = src.dim() == index.dim();
  for (int64_t d = 0; fits && d < index.dim(); ++d) fits = index.size(d) <= src.size(d);
  if (!fits && index.numel() > 0) {
    fail(std::string(op) + ": src is " + sizes_text(src.sizes()) + ", index is " +
         sizes_text(index.sizes()) + "; expected src to be as large along each dimension");
  }
  for (int64_t d = 0; fits && d < index.dim(); ++d) {
    if (src.size(d) != index.size(d)) src = prim::slice(src, d, 0, index.size(d));
  }
  return scatter_by(in_place, x, dim, index, src, add);
}

constinit ExpressionRef static_place{"_static_place(Tensor found, Tensor at, int size) -> Tensor",
                                     "where(found != 0 and at < size, at, size)"};
constinit ExpressionRef coordinate{"_coordinate(Tensor i, int step, int n) -> Tensor",
                                   "i // step % n"};

Tensor first_nonzero(const Tensor& x, int64_t size, int64_t fill_value) {
  if (size < 0) fail("nonzero_static: size is " + std::to_string(size) + ", expected 0 or more");
  const int64_t n = x.numel(), all = checked_add("nonzero_static", size, 1);
  if (x.dim() == 0) return Tensor::empty({size, 0}, int64, x.device());
  const Sizes table{size, x.dim()};
  expect_countable("nonzero_static", table, int64);
  if (n == 0) return prim::fill(table, fill_value, int64, x.device());
  const Tensor found = as_dtype(prim::reshape(ne(x, 0), {n}), int64);
  // The row of each element; what is not among the first shares one behind them.
  const Tensor row =
      prim::elementwise(static_place, found, sub(prim::scan(TN_REDUCE_SUM, found, 0), 1), size);
  const Tensor i = prim::iota(n, 0, 1, int64, x.device());
  std::vector<Tensor> columns;
  int64_t step = n;
  for (int64_t d = 0; d < x.dim(); ++d) {
    step /= x.size(d);
    const Tensor from = prim::elementwise(coordinate, i, step, x.size(d));
    const Tensor rows = prim::fill({all}, fill_value, int64, x.device());
    columns.push_back(prim::slice(prim::scatter(rows, 0, row, from, false), 0, 0, size));
  }
  return stack(columns, 1);
}

void gathers_and_scatters() {
  op("gather(Tensor x, int dim, Tensor index) -> Tensor")
      .doc(
          "y[.., i, ..] = x[.., index[.., i, ..], ..] along dim. The sizes of index are at most "
          "those of x elsewhere.")
      .method()
      .keeps_halves()
      .meaning(gathered);
  op("scatter(Tensor x, int dim, Tensor index, Tensor src, bool add=False) -> Tensor")
      .doc(
          "A copy of x with src written, or added, at the places that gather reads; of a larger "
          "src the part that index covers.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src, bool add) {
        return scattered("scatter", x, dim, index, src, add);
      });
  op("scatter_add(Tensor x, int dim, Tensor index, Tensor src) -> Tensor")
      .doc("A copy of x with src added at the places that gather reads.")
      .method()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src) {
        return scattered("scatter_add", x, dim, index, src, true);
      });
  op("scatter_(Tensor(a!) x, int dim, Tensor index, Tensor src, bool add=False) -> Tensor(a!)")
      .doc("scatter(x, dim, index, src, add), written to x.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src, bool add) {
        return scattered("scatter_", x, dim, index, src, add, /*in_place=*/true);
      });
  op("scatter_add_(Tensor(a!) x, int dim, Tensor index, Tensor src) -> Tensor(a!)")
      .doc("scatter_add(x, dim, index, src), written to x.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src) {
        return scattered("scatter_add_", x, dim, index, src, true, /*in_place=*/true);
      });
  op("index_select(Tensor x, int dim, Tensor index) -> Tensor")
      .doc("x at the indices index [n] along dim.")
      .method()
      .keeps_halves()
      .meaning(selected);
}

void advanced_indexing() {
  op("index(Tensor x, Tensor?[] indices) -> Tensor")
      .doc(
          "PyTorch's x[i, :, mask] is index(x, {i, {}, mask}): indices, which broadcast and may be "
          "negative, masks of bool or uint8, and {} for all of a dimension. With a mask the call "
          "waits for the device.")
      .method()
      .dynamic()
      .keeps_halves()
      .meaning(indexed);
  op("index_put(Tensor x, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor")
      .doc(
          "A copy of x with values, which broadcast, written, or added (accumulate), at what index "
          "picks.")
      .method()
      .dynamic()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, Tensors indices, Tensor values, bool accumulate) {
        return put("index_put", x, indices, values, accumulate);
      });
  op("index_put_(Tensor(a!) x, Tensor?[] indices, Tensor values, bool accumulate=False) -> "
     "Tensor(a!)")
      .doc("index_put(x, indices, values, accumulate), written to x.")
      .dynamic()
      .keeps_halves()
      .meaning([](Tensor x, Tensors indices, Tensor values, bool accumulate) {
        return put("index_put_", x, indices, values, accumulate, /*in_place=*/true);
      });
  op("masked_select(Tensor x, Tensor mask) -> Tensor")
      .doc("The elements of x where mask holds, [count]; the two broadcast. Waits for the device.")
      .method()
      .dynamic()
      .keeps_halves()
      .meaning(chosen_by);
  op("nonzero(Tensor x) -> Tensor")
      .doc(
          "Indices of the elements that are not zero, int64 [count, x.dim()], in row-major order. "
          "Waits for the device.")
      .method()
      .primitive(TN_PRIM_NONZERO)
      .dynamic()
      .no_gradient();
  op("nonzero_static(Tensor x, int size, int fill_value=-1) -> Tensor")
      .doc(
          "The first size rows of nonzero(x), and rows of fill_value where it has fewer. Waits for "
          "nothing.")
      .method()
      .no_gradient()
      .keeps_halves()
      .meaning(first_nonzero);
}

}  // namespace

void index() {
  gathers_and_scatters();
  advanced_indexing();
}

}  // namespace tenon::ops_pack
