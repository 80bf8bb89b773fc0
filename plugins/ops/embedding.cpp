// Rows of a table by integers: embedding, sums of them in bags, and classes as rows of zeros and ones.
#include "pack.h"

#include <algorithm>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef but_padding{"_but_padding(Tensor row, Tensor i, int padding) -> Tensor",
                                    "row\n drow = where(i == padding, 0, g)"};

constinit ExpressionRef unless_padding{
    "_unless_padding(Tensor row, Tensor i, int padding, float other) -> Tensor",
    "where(i == padding, other, row)"};
constinit ExpressionRef share_of_row{"_share_of_row(Tensor row, Tensor times) -> Tensor",
                                     "row\n drow = g / times"};
constinit ExpressionRef is_other{"_is_other(Tensor x, Tensor y) -> Tensor", "int(x != y)"};
constinit ExpressionRef way_to_row{"_way_to_row(Tensor row, Tensor old, Tensor is_first) -> Tensor",
                                   "where(is_first != 0, row - old, 0)"};

void expect_table(const Tensor& weight) {
  if (weight.dim() != 2)
    fail("embedding: weight is " + sizes_text(weight.sizes()) + ", expected 2 dimensions");
}

Tensor rows(const Tensor& weight, const Tensor& given, optional<int64_t> padding_idx, bool sparse) {
  const Tensor index = as_index("embedding", "index", given);
  expect_table(weight);
  int64_t n = index.numel(), count = weight.size(0), d = weight.size(1);
  if (padding_idx && (*padding_idx < -count || *padding_idx >= count)) {
    fail("embedding: padding_idx is " + std::to_string(*padding_idx) + ", expected " +
         std::to_string(-count) + " to " + std::to_string(count - 1));
  }
  Tensor line = prim::reshape(index, {n, 1});
  Tensor flat = sparse ? call(detail::op<"_table_rows">, weight, prim::reshape(index, {n}))
                       : prim::gather(weight, 0, prim::expand(line, {n, d}));
  if (padding_idx)
    flat = prim::elementwise(but_padding, flat, line, (*padding_idx + count) % count);
  std::vector<int64_t> sizes(index.sizes().begin(), index.sizes().end());
  sizes.push_back(d);
  return prim::reshape(flat, sizes);
}

// The gradient of each row is divided by how often index has it, as if each were read once.
Tensor rows_by_frequency(const Tensor& weight, const Tensor& given, optional<int64_t> padding_idx) {
  const Tensor read = rows(weight, given, padding_idx, /*sparse=*/false);
  const int64_t n = given.numel(), d = weight.size(1);
  const Tensor index = prim::reshape(as_index("embedding", "index", given), {n});
  const Tensor zeros = spread({weight.size(0)}, 0, int64, weight.device()),
               ones = spread({n}, 1, int64, weight.device());
  const Tensor times = prim::gather(prim::scatter(zeros, 0, index, ones, true), 0, index);
  return prim::reshape(
      prim::elementwise(share_of_row, prim::reshape(read, {n, d}), prim::reshape(times, {n, 1})),
      read.sizes());
}

// Scales the rows of weight [n, d] at index down to max_norm. Others are not touched: what is added is
// the way to the new row, once for each, and nothing where index has it again.
void limit_rows(const Tensor& weight, const Tensor& given, double max_norm, double norm_type) {
  expect_table(weight);
  const int64_t n = given.numel(), d = weight.size(1);
  const Tensor index = prim::reshape(as_index("embedding_renorm_", "index", given), {n});
  if (n == 0) return;
  const auto [sorted, order] = prim::sort(index, 0);
  const Tensor is_first = cat({spread({1}, 1, int64, weight.device()),
                               prim::elementwise(is_other, prim::slice(sorted, 0, 1, n),
                                                 prim::slice(sorted, 0, 0, n - 1))});
  const Tensor old = prim::gather(weight, 0, prim::expand(prim::reshape(sorted, {n, 1}), {n, d}));
  const Tensor way = prim::elementwise(way_to_row, renorm(old, norm_type, 0, max_norm), old,
                                       prim::reshape(is_first, {n, 1}));
  add_rows_(weight, sorted, way);
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

// Of classes that may be looked at; elsewhere the device tells of them late.
void check_classes(const Tensor& index, int64_t num_classes) {
  if (!may_look_at(index) || index.numel() == 0) return;
  const int64_t least = prim::reduce(TN_REDUCE_MIN, index).item<int64_t>();
  const int64_t most = prim::reduce(TN_REDUCE_MAX, index).item<int64_t>();
  if (least >= 0 && most < num_classes) return;
  fail("one_hot: index " + std::to_string(least < 0 ? least : most) +
       " is out of range for num_classes " + std::to_string(num_classes) + ", expected 0 to " +
       std::to_string(num_classes - 1));
}

Tensor hot(const Tensor& given, int64_t num_classes) {
  const Tensor index = as_index("one_hot", "index", given);
  const bool is_given = num_classes != -1;
  if (!is_given) num_classes = count_classes(index);
  if (num_classes < 1) {
    fail("one_hot: num_classes is " + std::to_string(num_classes) +
         ", expected at least 1, or -1 for one more than the largest class");
  }
  if (is_given) check_classes(index, num_classes);
  expect_countable("one_hot", joined_sizes({sizes_of(index), {num_classes}}), int64);
  std::vector<int64_t> sizes(index.sizes().begin(), index.sizes().end());
  sizes.push_back(1);
  Tensor at = prim::reshape(index, sizes);
  Tensor one = spread(sizes, 1, int64, index.device());
  sizes.back() = num_classes;
  // By scatter, as PyTorch's: its kernel refuses a class that is out of range, without a read-back.
  return prim::scatter(spread(sizes, 0, int64, index.device()), -1, at, one, false);
}

constinit ExpressionRef less_one{"_less_one(Tensor x) -> Tensor", "x - 1"};
constinit ExpressionRef bag_mean{"_bag_mean(Tensor total, Tensor n) -> Tensor",
                                 "total / max(n, 1)"};
constinit ExpressionRef is_no_padding{"_is_no_padding(Tensor i, int padding) -> Tensor",
                                      "int(i != padding)"};
// Of equal ones the first, which alone gets the gradient, as PyTorch's. NaN wins.
constinit ExpressionRef larger_of_bag{
    "_larger_of_bag(Tensor y, Tensor below, Tensor bag, Tensor bag_below) -> Tensor",
    "where(bag == bag_below and not y > below and y == y, below, y)"};

// numbers [n] as rows of the width of the table.
Tensor as_rows(const Tensor& numbers, int64_t width) {
  return prim::expand(prim::reshape(numbers, {numbers.numel(), 1}), {numbers.numel(), width});
}

// The largest of each bag of rows [n, d]: log2(n) comparisons with rows 1, 2, 4, .. before in the
// same bag; then the last row of a bag has it. A bag without rows gives anything.
Tensor bag_max(const Tensor& values, const Tensor& bag, const Tensor& counts) {
  Tensor y = values, own = prim::reshape(bag, {bag.numel(), 1});
  int64_t n = values.size(0), d = values.size(1), bags = counts.numel();
  if (n == 0)
    return prim::scatter(spread({bags, d}, 0, values.dtype(), values.device()), 0, as_rows(bag, d),
                         values, true);
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

// The largest of each of x [bags, n, d] along n. As in bag_max, of equal ones the first gets the gradient.
Tensor first_largest(const Tensor& x) {
  if (x.size(1) == 0) return spread({x.size(0), x.size(2)}, 0, x.dtype(), x.device());
  return std::get<0>(max(x, 1));
}

struct BagOptions {
  Tensor offsets;
  string_view mode;
  Tensor per_sample_weights;
  bool include_last_offset;
  optional<int64_t> padding_idx;
  bool sparse;
  bool scale_grad_by_freq;
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
  if (o->sparse && o->mode == "max") {
    fail(
        "embedding_bag: sparse is set and mode is 'max', expected 'sum' or 'mean' with gradients "
        "that are sparse");
  }
  if (o->scale_grad_by_freq && (o->sparse || o->mode == "max")) {
    fail(std::string("embedding_bag: scale_grad_by_freq is of sums and means whose gradients are "
                     "not sparse, and ") +
         (o->sparse ? "sparse is set" : "mode is 'max'"));
  }
  if (index.dim() != (o->offsets.defined() ? 1 : 2)) {
    fail("embedding_bag: index is " + sizes_text(index.sizes()) +
         ", expected 2 dimensions, or 1 with offsets");
  }
  // Rows of two dimensions end where they end: there the last offset says nothing.
  if (!o->offsets.defined()) o->include_last_offset = false;
  if (o->include_last_offset && o->offsets.numel() == 0)
    fail("embedding_bag: include_last_offset is set, expected offsets with the last one");
  if (!o->padding_idx || weight.dim() != 2) return;
  const int64_t count = weight.size(0);
  if (*o->padding_idx < -count || *o->padding_idx >= count) {
    fail("embedding_bag: padding_idx is " + std::to_string(*o->padding_idx) + ", expected " +
         std::to_string(-count) + " to " + std::to_string(count - 1));
  }
  o->padding_idx = (*o->padding_idx + count) % count;
}

// Of offsets that may be looked at; elsewhere the device tells of them late.
void check_offsets(const Tensor& offsets, int64_t n) {
  if (!may_look_at(offsets)) return;
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

// The number of the bag of each of n indices: a bag begins at its offset, and what is before the
// first is in bag -1, which scatter refuses.
Tensor numbers_of_bags(const Tensor& offsets, int64_t n) {
  const auto filled = [&](int64_t length, int value) {
    return spread({length}, value, int64, offsets.device());
  };
  const Tensor begins =
      prim::scatter(filled(n + 1, 0), 0, offsets, filled(offsets.numel(), 1), true);
  return prim::elementwise(less_one, prim::scan(TN_REDUCE_SUM, prim::slice(begins, 0, 0, n), 0));
}

// The sums of the rows of weight [.., d] at index [n], a bag from each of the offsets on.
Tensor sums_of_bags(const Tensor& weight, const Tensor& index, const Tensor& offsets) {
  const int64_t d = weight.size(1);
  const Tensor zeros = spread({offsets.numel(), d}, 0, weight.dtype(), weight.device());
  return prim::scatter(zeros, 0, as_rows(numbers_of_bags(offsets, index.numel()), d),
                       prim::gather(weight, 0, as_rows(index, d)), true);
}
std::vector<Tensor> gradient_of_sums(const Vjp& g, const Tensor& weight, const Tensor& index,
                                     const Tensor& offsets) {
  const int64_t d = weight.size(1);
  const Tensor of_each =
      prim::gather(g.grad(), 0, as_rows(numbers_of_bags(offsets, index.numel()), d));
  const Tensor zeros = spread(weight.sizes(), 0, weight.dtype(), weight.device());
  return {prim::scatter(zeros, 0, as_rows(index, d), of_each, true), Tensor(), Tensor()};
}

// Where every row counts alike: without the rows in between.
Tensor plain_bags(const Tensor& weight, const Tensor& given, const BagOptions& o) {
  expect_table(weight);
  const Tensor index = as_index("embedding_bag", "index", given);
  const int64_t n = index.numel();
  const Tensor first = as_index("embedding_bag", "offsets", o.offsets);
  const int64_t count = first.numel();
  check_offsets(first, n);
  Tensor total = call(detail::op<"_bag_sums">, weight, index, first);
  Tensor ends = prim::fill({1}, n, int64, weight.device());
  if (count > 1) ends = cat({prim::slice(first, 0, 1, count), ends}, 0);
  Tensor counts = sub(ends, first);
  if (o.include_last_offset) {  // what lies behind it is nobody's
    total = prim::slice(total, 0, 0, count - 1);
    counts = prim::slice(counts, 0, 0, count - 1);
  }
  return of_bags(o.mode, total, counts);
}

Tensor bags_of_wide(const Tensor& weight, const Tensor& index, const BagOptions& o) {
  const bool largest = o.mode == "max";
  if (o.offsets.defined() && o.offsets.numel() > 0 && !largest && !o.sparse && !o.padding_idx &&
      !o.per_sample_weights.defined() && !o.scale_grad_by_freq) {
    return plain_bags(weight, index, o);
  }
  Tensor picked = o.scale_grad_by_freq
                      ? call(detail::op<"_embedding_by_frequency">, weight, index, none)
                      : wide(embedding(weight, index, {}, o.sparse));
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
      return of_bags(o.mode, largest ? first_largest(picked) : sum(picked, 1), sum(counted, 1));
    if (largest) return first_largest(picked);
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
    return spread(sizes, value, dtype, weight.device());
  };
  const Tensor bag = numbers_of_bags(first, n);
  const auto count_of = [&](const Tensor& each) {
    return prim::scatter(filled({count}, 0, int64), 0, bag, each, true);
  };
  const Tensor all = count_of(filled({n}, 1, int64));
  const Tensor counts = counted.defined() ? count_of(counted) : all;
  if (largest) return wanted(of_bags(o.mode, bag_max(picked, bag, all), counts));
  Tensor total =
      prim::scatter(filled({count, d}, 0, picked.dtype()), 0, as_rows(bag, d), picked, true);
  return wanted(of_bags(o.mode, total, counts));
}

// Halves are added up as float32. A gradient that is row-sparse has to get to the table as it is: there
// the rows are widened that were read, elsewhere the table.
Tensor bags(const Tensor& weight, const Tensor& index, BagOptions o) {
  check_bags(weight, index, &o);
  const Tensor& factors = o.per_sample_weights;
  const Dtype dtype = factors.defined() ? promoted(weight, factors) : weight.dtype();
  if (factors.defined()) o.per_sample_weights = wide(factors);
  return as_dtype(bags_of_wide(o.sparse ? weight : wide(weight), index, o), dtype);
}

}  // namespace

void embedding() {
  // Rows at index [n], with a row-sparse gradient. The index is copied: its owner may change it
  // while the gradient is there.
  op("_table_rows(Tensor weight, Tensor index) -> Tensor")
      .amp(Amp::widest)  // a class, without which autocast would take its meaning's gradient
      .keeps_halves()
      .meaning([](Tensor weight, Tensor index) { return index_select(weight, 0, index); })
      .vjp(
          [](const Vjp& call, Tensor weight, Tensor index) -> std::vector<Tensor> {
            return {row_sparse(clone(index), call.grad(0).contiguous(), weight.size(0)), Tensor()};
          },
          Reads::args);
  op("embedding(Tensor weight, Tensor index, int? padding_idx=None, bool sparse=False) -> Tensor")
      .doc(
          "Rows of weight [n, d] at index [..]: [.., d]. The row padding_idx, from the end where "
          "negative, gets no gradient. sparse: the gradient of weight, a leaf, is row-sparse: the "
          "rows that were read, and their indices.")
      .keeps_halves()
      .meaning(rows);
  op("_embedding_by_frequency(Tensor weight, Tensor index, int? padding_idx=None) -> Tensor")
      .keeps_halves()
      .meaning(rows_by_frequency);
  op("embedding_renorm_(Tensor(a!) weight, Tensor index, float max_norm, float norm_type=2.0) -> "
     "Tensor(a!)")
      .doc(
          "Scales the rows of weight [n, d] that index has down to a norm of order norm_type of "
          "max_norm where theirs is larger.")
      .amp(Amp::widest)
      .keeps_halves()
      .no_gradient()
      .meaning([](Tensor weight, Tensor index, double max_norm, double norm_type) {
        limit_rows(weight, index, max_norm, norm_type);
        return weight;
      });
  op("_bag_sums(Tensor weight, Tensor index, Tensor offsets) -> Tensor")
      .amp(Amp::widest)
      .keeps_halves()
      .infer([](Tensor weight, Tensor index, Tensor offsets) {
        expect_table(weight);
        if (index.dim() != 1 || offsets.dim() != 1 || index.dtype() != int64 ||
            offsets.dtype() != int64) {
          fail("_bag_sums: index is " + sizes_text(index.sizes()) + ", offsets is " +
               sizes_text(offsets.sizes()) + ", expected 1 dimension of int64 each");
        }
        return Meta(Sizes{offsets.numel(), weight.size(1)}, weight.dtype(), weight.device());
      })
      .meaning(sums_of_bags)
      .vjp(gradient_of_sums);
  op("embedding_bag(Tensor weight, Tensor index, Tensor? offsets=None, str mode=\"mean\", "
     "Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None, "
     "bool sparse=False, bool scale_grad_by_freq=False) -> Tensor")
      .doc(
          "Sums, means or maxima (mode) of rows of weight: a bag for each row of index [bags, n], "
          "or beginning at each of offsets [bags] in index [n]; with include_last_offset the last "
          "of offsets is where the last bag ends. The row padding_idx, from the end where "
          "negative, belongs to no bag and gets no gradient. sparse: as "
          "embedding's. scale_grad_by_freq: the gradient of a row is divided by how often index "
          "has it.")
      .keeps_halves()
      .meaning([](Tensor weight, Tensor index, Tensor offsets, string_view mode,
                  Tensor per_sample_weights, bool include_last_offset,
                  optional<int64_t> padding_idx, bool sparse, bool scale_grad_by_freq) {
        return bags(weight, index,
                    {offsets, mode, per_sample_weights, include_last_offset, padding_idx, sparse,
                     scale_grad_by_freq});
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

}  // namespace tenon::ops_pack
