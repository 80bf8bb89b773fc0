// Indexing by tensors: gather, scatter and nonzero are primitives, the rest is made of them.
#include "pack.h"

#include <algorithm>
#include <cmath>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef but_padding{"_but_padding(Tensor row, Tensor i, int padding) -> Tensor",
                                    "row\n drow = where(i == padding, 0, g)"};

Tensor rows(const Tensor& weight, const Tensor& given, optional<int64_t> padding_idx) {
  const Tensor index = as_index("embedding", "index", given);
  if (weight.dim() != 2)
    fail("embedding: weight is " + sizes_text(weight.sizes()) + ", expected 2 dimensions");
  int64_t n = index.numel(), count = weight.size(0), d = weight.size(1);
  if (padding_idx && (*padding_idx < -count || *padding_idx >= count)) {
    fail("embedding: padding_idx is " + std::to_string(*padding_idx) + ", expected " +
         std::to_string(-count) + " to " + std::to_string(count - 1));
  }
  Tensor line = prim::reshape(index, {n, 1});
  Tensor flat = prim::gather(weight, 0, prim::expand(line, {n, d}));
  if (padding_idx)
    flat = prim::elementwise(but_padding, flat, line, (*padding_idx + count) % count);
  std::vector<int64_t> sizes(index.sizes().begin(), index.sizes().end());
  sizes.push_back(d);
  return prim::reshape(flat, sizes);
}

constinit ExpressionRef before_first{"_before_first(Tensor i) -> Tensor", "int(i < 0)"};

// One more than the largest class, which is read: its size is not known before.
int64_t count_classes(const Tensor& index) {
  if (index.numel() == 0)
    fail("one_hot: index is " + sizes_text(index.sizes()) +
         ", from which num_classes does not follow; name it");
  if (prim::reduce(TN_REDUCE_MAX, Tensors(&index, 1), {}, false, before_first).item<int64_t>() != 0)
    fail("one_hot: an index is negative, expected classes from 0 on");
  const int64_t largest = prim::reduce(TN_REDUCE_MAX, index).item<int64_t>();
  return checked_add("one_hot", largest, 1);
}

Tensor hot(const Tensor& given, int64_t num_classes) {
  const Tensor index = as_index("one_hot", "index", given);
  if (num_classes == -1) num_classes = count_classes(index);
  if (num_classes < 1) {
    fail("one_hot: num_classes is " + std::to_string(num_classes) +
         ", expected at least 1, or -1 for one more than the largest class");
  }
  expect_countable("one_hot", joined_sizes({sizes_of(index), {num_classes}}), int64);
  std::vector<int64_t> sizes(index.sizes().begin(), index.sizes().end());
  sizes.push_back(1);
  Tensor at = prim::reshape(index, sizes);
  Tensor one = prim::expand(prim::fill({}, 1, int64, index.device()), sizes);
  sizes.back() = num_classes;
  // By scatter, as PyTorch's: its kernel refuses a class that is out of range, without a read-back.
  return prim::scatter(prim::fill(sizes, 0, int64, index.device()), -1, at, one, false);
}

// A negative index counts from the end. One outside stays outside of [0, rows), so that the kernel
// that reads by it refuses it, without a read-back here.
constinit ExpressionRef first_index{"_first_index(Tensor i, int n, int rows) -> Tensor",
                                    "where(i < -n or i >= n, where(i < 0, i, max(i, rows)), "
                                    "where(i < 0, i + n, i))"};
constinit ExpressionRef next_index{
    "_next_index(Tensor flat, Tensor i, int n, int before, int rows) -> Tensor",
    "where(flat < 0 or flat >= before, where(flat < 0, flat, max(flat, rows)), "
    "where(i < -n or i >= n, where(i < 0, i, max(i, rows)), flat * n + where(i < 0, i + n, i)))"};
constinit ExpressionRef less_one{"_less_one(Tensor x) -> Tensor", "x - 1"};
constinit ExpressionRef bag_mean{"_bag_mean(Tensor total, Tensor n) -> Tensor",
                                 "total / max(n, 1)"};
constinit ExpressionRef unless_padding{
    "_unless_padding(Tensor row, Tensor i, int padding, float other) -> Tensor",
    "where(i == padding, other, row)"};
constinit ExpressionRef is_no_padding{"_is_no_padding(Tensor i, int padding) -> Tensor",
                                      "int(i != padding)"};
constinit ExpressionRef larger_of_bag{
    "_larger_of_bag(Tensor y, Tensor below, Tensor bag, Tensor bag_below) -> Tensor",
    "where(bag == bag_below, max(y, below), y)"};

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
  std::vector<int64_t> order;      // x's dimensions: the indexed ones, then the others
  std::vector<int64_t> sizes;      // of x in that order
  std::vector<int64_t> broadcast;  // sizes of the indices
  std::vector<int64_t> chosen;     // sizes of what is picked: broadcast, then the others
  std::vector<int64_t> result;     // its dimensions in the order of the result
  int64_t rows = 1, row = 1;       // how many, and elements of one
  Tensor flat;                     // int64 [n, row], within rows
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
  std::vector<Tensor> list = index_list(op, p.x, indices);
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
  int64_t n = p.flat.numel();
  p.flat = prim::expand(prim::reshape(p.flat, {n, 1}), {n, p.row});
  return p;
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
  Tensor chosen = prim::gather(as_rows(p), 0, p.flat);
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

Tensor put(const char* op, const Tensor& x, Tensors indices, Tensor values, bool accumulate) {
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
  Tensor src = prim::permute(prim::expand(values, sizes), inverse(p.result));
  src = prim::reshape(src, {p.flat.size(0), p.row});
  Tensor y = prim::scatter(as_rows(p), 0, p.flat, src, accumulate);
  y = row_major(prim::permute(prim::reshape(y, p.sizes), inverse(p.order)));
  return p.x.dim() == x.dim() ? y : prim::reshape(y, x.sizes());
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

// The largest of each bag of rows [n, d]: log2(n) comparisons with rows 1, 2, 4, .. before in the
// same bag; then the last row of a bag has it. A bag without rows gives anything.
Tensor bag_max(const Tensor& values, const Tensor& bag, const Tensor& counts) {
  Tensor y = values, own = prim::reshape(bag, {bag.numel(), 1});
  int64_t n = values.size(0), d = values.size(1), bags = counts.numel();
  if (n == 0) return prim::fill({bags, d}, 0, values.dtype(), values.device());
  for (int64_t shift = 1; shift < n; shift *= 2) {
    Tensor low = prim::slice(y, 0, 0, n - shift), high = prim::slice(y, 0, shift, n);
    Tensor joined = prim::elementwise(larger_of_bag, high, low, prim::slice(own, 0, shift, n),
                                      prim::slice(own, 0, 0, n - shift));
    y = cat({prim::slice(y, 0, 0, shift), joined});
  }
  Tensor last = prim::elementwise(less_one, prim::scan(TN_REDUCE_SUM, counts, 0));
  last = prim::expand(prim::reshape(clamp(last, 0, n - 1), {bags, 1}), {bags, d});
  return prim::gather(y, 0, last);
}

struct BagOptions {
  Tensor offsets;
  string_view mode;
  Tensor per_sample_weights;
  bool include_last_offset;
  optional<int64_t> padding_idx;
};

void check_bags(const Tensor& weight, const Tensor& index, BagOptions* o) {
  const std::pair<const char*, const Tensor&> others[] = {
      {"index", index}, {"offsets", o->offsets}, {"per_sample_weights", o->per_sample_weights}};
  for (const auto& [name, t] : others) {
    if (!t.defined() || t.device() == weight.device()) continue;
    fail("embedding_bag: weight is on " + weight.device().name() + ", " + name + " on " +
         t.device().name() + "; expected all on one device");
  }
  if (o->mode != "sum" && o->mode != "mean" && o->mode != "max") {
    fail("embedding_bag: mode is '" + std::string(o->mode) + "', expected 'sum', 'mean' or 'max'");
  }
  if (index.dim() != (o->offsets.defined() ? 1 : 2)) {
    fail("embedding_bag: index is " + sizes_text(index.sizes()) +
         ", expected 2 dimensions, or 1 with offsets");
  }
  if (o->include_last_offset && (!o->offsets.defined() || o->offsets.numel() == 0))
    fail("embedding_bag: include_last_offset is set, expected offsets with the last one");
  if (!o->padding_idx || weight.dim() != 2) return;
  const int64_t count = weight.size(0);
  if (*o->padding_idx < -count || *o->padding_idx >= count) {
    fail("embedding_bag: padding_idx is " + std::to_string(*o->padding_idx) + ", expected " +
         std::to_string(-count) + " to " + std::to_string(count - 1));
  }
  o->padding_idx = (*o->padding_idx + count) % count;
}

// Of offsets whose values are at hand; elsewhere the device tells of them late.
void check_offsets(const Tensor& offsets, int64_t n) {
  if (!offsets.device().is_cpu()) return;
  if (offsets.numel() == 0 && n > 0)
    fail("embedding_bag: offsets is empty, expected a bag for the " + std::to_string(n) +
         " of index");
  int64_t least = 0, most = 0, place = 0;  // the first is 0
  for (const int64_t offset : offsets.to_vector<int64_t>()) {
    if (offset < least || offset > most) {
      fail("embedding_bag: offsets[" + std::to_string(place) + "] is " + std::to_string(offset) +
           ", expected " + std::to_string(least) + (least == most ? "" : " to ") +
           (least == most ? "" : std::to_string(most)) +
           ": offsets begin with 0, do not fall, and index has " + std::to_string(n));
    }
    least = offset;
    most = n;
    ++place;
  }
}

// [bags, d]: of no rows at all 0, in every mode, as PyTorch's.
Tensor of_bags(string_view mode, const Tensor& total, const Tensor& counts) {
  const Tensor column = prim::reshape(counts, {counts.numel(), 1});
  if (mode == "mean") return prim::elementwise(bag_mean, total, column);
  return mode == "max" ? where(column > 0, total, 0) : total;
}

Tensor bags(const Tensor& weight, const Tensor& index, BagOptions o) {
  check_bags(weight, index, &o);
  const bool largest = o.mode == "max";
  Tensor picked = embedding(weight, index);
  if (o.per_sample_weights.defined()) {
    bool fits = std::ranges::equal(o.per_sample_weights.sizes(), index.sizes());
    if (o.mode != "sum" || !fits) {
      fail("embedding_bag: per_sample_weights " + sizes_text(o.per_sample_weights.sizes()) +
           " for index " + sizes_text(index.sizes()) + " with mode '" + std::string(o.mode) +
           "', expected index's sizes and mode 'sum'");
    }
    picked = mul(picked, unsqueeze(o.per_sample_weights, -1));
  }
  Tensor counted;  // per index: 1 where it counts; null: each does
  if (o.padding_idx) {
    const Tensor whole = as_index("embedding_bag", "index", index);
    picked = prim::elementwise(unless_padding, picked, unsqueeze(whole, -1), *o.padding_idx,
                               largest ? -INFINITY : 0.0);
    counted = prim::elementwise(is_no_padding, whole, *o.padding_idx);
  }
  if (!o.offsets.defined()) {
    if (counted.defined())
      return of_bags(o.mode, largest ? amax(picked, 1) : sum(picked, 1), sum(counted, 1));
    if (largest) return amax(picked, 1);
    return o.mode == "sum" ? sum(picked, 1) : mean(picked, 1);
  }
  const Tensor first = as_index("embedding_bag", "offsets", o.offsets);
  int64_t n = index.numel(), count = first.numel(), d = weight.size(1);
  check_offsets(first, n);
  // With the last offset there is one bag more, of what lies behind it, which nobody gets.
  const auto wanted = [&](const Tensor& all_bags) {
    return o.include_last_offset ? prim::slice(all_bags, 0, 0, count - 1) : all_bags;
  };
  auto filled = [&](Ints sizes, int value, Dtype dtype) {
    return prim::fill(sizes, value, dtype, weight.device());
  };
  // Each bag begins at its offset; what is before the first is in bag -1, which scatter refuses.
  Tensor begins =
      prim::scatter(filled({n + 1}, 0, int64), 0, first, filled({count}, 1, int64), true);
  Tensor bag =
      prim::elementwise(less_one, prim::scan(TN_REDUCE_SUM, prim::slice(begins, 0, 0, n), 0));
  const auto count_of = [&](const Tensor& each) {
    return prim::scatter(filled({count}, 0, int64), 0, bag, each, true);
  };
  const Tensor all = count_of(filled({n}, 1, int64));
  const Tensor counts = counted.defined() ? count_of(counted) : all;
  if (largest) return wanted(of_bags(o.mode, bag_max(picked, bag, all), counts));
  Tensor to = prim::expand(prim::reshape(bag, {n, 1}), {n, d});
  Tensor total = prim::scatter(filled({count, d}, 0, picked.dtype()), 0, to, picked, true);
  return wanted(of_bags(o.mode, total, counts));
}

// A tensor without dimensions counts as one of size 1, as in PyTorch.
Tensor as_line(const Tensor& x) { return x.dim() == 0 ? prim::reshape(x, {1}) : x; }

Tensor gathered(const Tensor& x, int64_t dim, const Tensor& index) {
  if (x.dim() == index.dim() || x.dim() + index.dim() != 1) return prim::gather(x, dim, index);
  return prim::reshape(prim::gather(as_line(x), dim, as_line(index)), index.sizes());
}

// Of a larger src the part that index covers is written.
Tensor scattered(const char* op, const Tensor& x, int64_t dim, const Tensor& index, Tensor src,
                 bool add) {
  const bool lines = x.dim() <= 1 && index.dim() <= 1 && src.dim() <= 1;
  if (lines && (x.dim() != index.dim() || index.dim() != src.dim())) {
    return prim::reshape(scattered(op, as_line(x), dim, as_line(index), as_line(src), add),
                         x.sizes());
  }
  bool fits = src.dim() == index.dim();
  for (int64_t d = 0; fits && d < index.dim(); ++d) fits = index.size(d) <= src.size(d);
  if (!fits && index.numel() > 0) {
    fail(std::string(op) + ": src is " + sizes_text(src.sizes()) + ", index is " +
         sizes_text(index.sizes()) + "; expected src to be as large along each dimension");
  }
  for (int64_t d = 0; fits && d < index.dim(); ++d) {
    if (src.size(d) != index.size(d)) src = prim::slice(src, d, 0, index.size(d));
  }
  return prim::scatter(x, dim, index, src, add);
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
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src, bool add) {
        return scattered("scatter", x, dim, index, src, add);
      });
  op("scatter_add(Tensor x, int dim, Tensor index, Tensor src) -> Tensor")
      .doc("A copy of x with src added at the places that gather reads.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src) {
        return scattered("scatter_add", x, dim, index, src, true);
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
      .dynamic()
      .keeps_halves()
      .meaning(indexed);
  op("index_put(Tensor x, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor")
      .doc(
          "A copy of x with values, which broadcast, written, or added (accumulate), at what index "
          "picks.")
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
        return x.copy_(put("index_put_", x, indices, values, accumulate));
      });
  op("masked_select(Tensor x, Tensor mask) -> Tensor")
      .doc("The elements of x where mask holds, [count]; the two broadcast. Waits for the device.")
      .dynamic()
      .keeps_halves()
      .meaning(chosen_by);
  op("nonzero(Tensor x) -> Tensor")
      .doc(
          "Indices of the elements that are not zero, int64 [count, x.dim()], in row-major order. "
          "Waits for the device.")
      .primitive(TN_PRIM_NONZERO)
      .dynamic()
      .no_gradient();
}

void embeddings() {
  op("embedding(Tensor weight, Tensor index, int? padding_idx=None) -> Tensor")
      .doc(
          "Rows of weight [n, d] at index [..]: [.., d]. The row padding_idx, from the end where "
          "negative, gets no gradient.")
      .keeps_halves()
      .meaning(rows);
  op("embedding_bag(Tensor weight, Tensor index, Tensor? offsets=None, str mode=\"mean\", "
     "Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> "
     "Tensor")
      .doc(
          "Sums, means or maxima (mode) of rows of weight: a bag for each row of index [bags, n], "
          "or beginning at each of offsets [bags] in index [n]; with include_last_offset the last "
          "of offsets is where the last bag ends. The row padding_idx, from the end where "
          "negative, belongs to no bag and gets no gradient.")
      .meaning([](Tensor weight, Tensor index, Tensor offsets, string_view mode,
                  Tensor per_sample_weights, bool include_last_offset,
                  optional<int64_t> padding_idx) {
        return bags(weight, index,
                    {offsets, mode, per_sample_weights, include_last_offset, padding_idx});
      });
  // num_classes -1: one more than the largest class.
  op("one_hot(Tensor index, int num_classes=-1) -> Tensor")
      .doc(
          "index [..] to int64 [.., num_classes], 1 at its class. num_classes -1: one more than "
          "the largest class, for which the call waits for the device.")
      .dynamic()
      .no_gradient()
      .meaning(hot);
}

}  // namespace

void index() {
  gathers_and_scatters();
  advanced_indexing();
  embeddings();
}

}  // namespace tenon::ops_pack
