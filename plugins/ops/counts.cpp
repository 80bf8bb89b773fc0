// Values counted and found: in bins, between boundaries, among equal ones. No op here has a
// gradient.
#include "pack.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef bin_of{
    "_bin_of(Tensor x, float low, float high, int bins) -> Tensor",
    "where(x >= low and x <= high, min(int((x - low) * bins / (high - low)), bins - 1), bins)"};
constinit ExpressionRef probe{"_probe(Tensor found, int step, int n) -> Tensor",
                              "min(found + step, n) - 1"};
// A NaN is behind all, as a value and as sort() leaves it among the boundaries.
constinit ExpressionRef step_left{
    "_step_left(Tensor found, Tensor boundary, Tensor x, int step, int n) -> Tensor",
    "int(where((boundary < x or x != x) and found + step <= n, found + step, found))"};
constinit ExpressionRef step_right{
    "_step_right(Tensor found, Tensor boundary, Tensor x, int step, int n) -> Tensor",
    "int(where((boundary <= x or x != x) and found + step <= n, found + step, found))"};
constinit ExpressionRef unequal{"_unequal(Tensor x, Tensor before) -> Tensor", "int(x != before)"};

void expect_whole(const char* op, const Tensor& x) {
  if (x.dtype().is_float() || x.dtype() == bool_)
    fail(std::string(op) + ": x is " + x.dtype().name() + ", expected integers");
}

Tensor bincount_of(const Tensor& given, const Tensor& weights, int64_t minlength) {
  expect_whole("bincount", given);
  if (given.dim() != 1)
    fail("bincount: x is " + sizes_text(given.sizes()) + ", expected 1 dimension");
  if (minlength < 0)
    fail("bincount: minlength is " + std::to_string(minlength) + ", expected 0 or more");
  if (weights.defined() && sizes_of(weights) != sizes_of(given)) {
    fail("bincount: weights are " + sizes_text(weights.sizes()) + ", expected " +
         sizes_text(given.sizes()) + " as x");
  }
  const Tensor x = as_dtype(given, int64);
  int64_t n = minlength;
  if (x.numel() > 0) {
    const int64_t least = prim::reduce(TN_REDUCE_MIN, x).item<int64_t>();
    if (least < 0)
      fail("bincount: an element of x is " + std::to_string(least) + ", expected 0 or more");
    n = std::max(n, checked_add("bincount", prim::reduce(TN_REDUCE_MAX, x).item<int64_t>(), 1));
  }
  const Dtype dtype = !weights.defined() ? int64 : weights.dtype() == float32 ? float32 : float64;
  expect_countable("bincount", std::vector<int64_t>{n}, dtype);
  const Tensor each =
      weights.defined() ? as_dtype(weights, dtype) : spread(x.sizes(), 1, int64, x.device());
  return prim::scatter(spread({n}, 0, dtype, x.device()), 0, x, each, true);
}

Tensor histogram_of(const Tensor& x, int64_t bins, double low, double high) {
  expect_float("histc", x);
  if (bins < 1) fail("histc: bins is " + std::to_string(bins) + ", expected 1 or more");
  if (low > high) {
    fail("histc: min is " + number_text(low) + ", above max, " + number_text(high));
  }
  Tensor flat = prim::reshape(as_dtype(x, float64), {x.numel()});
  if (low == high && x.numel() > 0) {
    low = prim::reduce(TN_REDUCE_MIN, flat).item<double>();
    high = prim::reduce(TN_REDUCE_MAX, flat).item<double>();
  }
  if (!std::isfinite(low) || !std::isfinite(high)) {
    fail("histc: the range is from " + number_text(low) + " to " + number_text(high) +
         ", expected finite numbers");
  }
  // One number everywhere is in the middle of 2, however large it is.
  if (low == high) {
    flat = sub(flat, low);
    low = -1;
    high = 1;
  }
  // The formula multiplies distances by bins: where that is too large for a number, all are scaled.
  if (!std::isfinite((high - low) * double(bins))) {
    constexpr double kScale = 0x1p-64;
    flat = prim::elementwise(scaled, flat, kScale);
    low *= kScale;
    high *= kScale;
  }
  const int64_t all = checked_add("histc", bins, 1);  // the last: what is outside
  expect_countable("histc", std::vector<int64_t>{all}, int64);
  const Tensor at = prim::elementwise(bin_of, flat, low, high, bins);
  const Tensor counts = prim::scatter(spread({all}, 0, int64, x.device()), 0, at,
                                      spread({x.numel()}, 1, int64, x.device()), true);
  return prim::copy(prim::slice(counts, 0, 0, bins), x.dtype());
}

// In how many places of each row [rows, n] the boundaries are before x [rows, m]: by halving steps.
Tensor found_in(const Tensor& boundaries, const Tensor& x, bool right) {
  const int64_t n = boundaries.size(1);
  Tensor found = prim::fill(x.sizes(), 0, int64, x.device());
  int64_t step = n == 0 ? 0 : 1;
  while (step > 0 && step <= n / 2) step *= 2;
  for (; step > 0; step /= 2) {
    const Tensor boundary = prim::gather(boundaries, 1, prim::elementwise(probe, found, step, n));
    found = prim::elementwise(right ? step_right : step_left, found, boundary, x, step, n);
  }
  return found;
}

Tensor searched(const char* op, const Tensor& boundaries, const Tensor& x, bool out_int32,
                bool right) {
  if (boundaries.device() != x.device()) {
    fail(std::string(op) + ": the boundaries are on " + boundaries.device().name() +
         ", the values on " + x.device().name() + "; expected one device");
  }
  const int64_t n = boundaries.dim() == 0 ? 1 : boundaries.size(-1);
  const bool shared = boundaries.dim() == 1;
  const bool fits = shared || (boundaries.dim() > 1 && boundaries.dim() == x.dim() &&
                               first_sizes(boundaries, x.dim() - 1) == first_sizes(x, x.dim() - 1));
  if (!fits) {
    fail(std::string(op) + ": the boundaries are " + sizes_text(boundaries.sizes()) +
         ", the values " + sizes_text(x.sizes()) +
         "; expected boundaries [n], or the sizes of the values but for the last");
  }
  const int64_t rows = shared ? 1 : product(first_sizes(x, x.dim() - 1));
  const int64_t m = shared ? x.numel() : x.size(-1);
  Tensor y = found_in(prim::reshape(boundaries, {rows, n}), prim::reshape(x, {rows, m}), right);
  y = prim::reshape(y, x.sizes());
  return out_int32 ? prim::copy(y, int32) : y;
}

constinit ExpressionRef bin_between{
    "_bin_between(Tensor x, Tensor found, Tensor low, Tensor high, int bins) -> Tensor",
    "int(where(x >= low and x <= high, min(found, bins) - 1, bins))"};

// By the edges themselves, which rounding may put beside the place that a division would find.
Tensor histogram_between(const Tensor& x, const Tensor& edges, const Tensor& weight, bool density) {
  const char* name = "histogram";
  expect_float(name, x);
  const int64_t bins = edges.dim() == 1 ? edges.numel() - 1 : 0;
  if (bins < 1 || edges.dtype() != x.dtype()) {
    fail("histogram: bins are " + sizes_text(edges.sizes()) + " " + edges.dtype().name() +
         ", expected two edges at least, in one dimension and as x of " + x.dtype().name());
  }
  if (weight.defined() && sizes_of(weight) != sizes_of(x)) {
    fail("histogram: weight is " + sizes_text(weight.sizes()) + ", expected " +
         sizes_text(x.sizes()) + " as x");
  }
  const Tensor flat = prim::reshape(wide(x), {x.numel()}), bounds = wide(edges);
  const Tensor at =
      prim::elementwise(bin_between, flat, searched(name, bounds, flat, false, true),
                        prim::slice(bounds, 0, 0, 1), prim::slice(bounds, 0, bins, bins + 1), bins);
  const Tensor each = weight.defined() ? as_dtype(prim::reshape(weight, {x.numel()}), float64)
                                       : spread({x.numel()}, 1, int64, x.device());
  // The last place is what is outside.
  const Tensor all =
      prim::scatter(spread({bins + 1}, 0, each.dtype(), x.device()), 0, at, each, true);
  const Tensor counts = prim::slice(all, 0, 0, bins);
  if (!density) return prim::copy(counts, x.dtype());
  const Tensor widths =
      as_dtype(sub(prim::slice(edges, 0, 1, bins + 1), prim::slice(edges, 0, 0, bins)), float64);
  return prim::copy(div(counts, mul(widths, sum(counts))), x.dtype());
}

std::tuple<Tensor, Tensor> histogram_with_edges(const Tensor& x, int64_t bins, Floats range,
                                                const Tensor& weight, bool density) {
  expect_float("histogram", x);
  if (bins < 1) fail("histogram: bins is " + std::to_string(bins) + ", expected 1 or more");
  if (range.size() != 0 && range.size() != 2) {
    fail("histogram: range has " + std::to_string(range.size()) +
         " numbers, expected the least and the greatest");
  }
  double low = range.size() == 2 ? range[0] : 0, high = range.size() == 2 ? range[1] : 1;
  if (range.size() == 0 && x.numel() > 0) {
    low = as_dtype(prim::reduce(TN_REDUCE_MIN, x), float64).item<double>();
    high = as_dtype(prim::reduce(TN_REDUCE_MAX, x), float64).item<double>();
  }
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    fail("histogram: the range is from " + number_text(low) + " to " + number_text(high) +
         ", expected finite numbers, of which the second is not below the first");
  }
  if (!std::isfinite(high - low)) {
    fail("histogram: the range is from " + number_text(low) + " to " + number_text(high) +
         ", expected a finite difference");
  }
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  expect_countable("histogram", Sizes{checked_add("histogram", bins, 1)}, x.dtype());
  const Tensor values = wide(x), edges = linspace(low, high, bins + 1, values.dtype(), x.device());
  return {as_dtype(histogram_between(values, edges, weight, density), x.dtype()),
          as_dtype(edges, x.dtype())};
}

Tensor searched_sorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32,
                       bool right, optional<string_view> side, const Tensor& sorter) {
  if (side && *side != "left" && *side != "right")
    fail("searchsorted: side is '" + std::string(*side) + "', expected 'left' or 'right'");
  if (side && *side == "left" && right)
    fail("searchsorted: side is 'left' and right is True, expected them to agree");
  Tensor boundaries = sorted_sequence;
  if (sorter.defined()) {
    if (sorter.dtype() != int64 || sizes_of(sorter) != sizes_of(boundaries)) {
      fail("searchsorted: sorter is " + sizes_text(sorter.sizes()) + " " + sorter.dtype().name() +
           ", expected int64 " + sizes_text(boundaries.sizes()) + " as sorted_sequence");
    }
    boundaries = prim::gather(boundaries, -1, sorter);
  }
  return searched("searchsorted", boundaries, values, out_int32, right || side == "right");
}

// Runs of equal rows of x [n, m]: the first row of each, the number of the run of each row, and
// lengths.
struct Runs {
  Tensor first, number, lengths;
};
Runs runs_of(const Tensor& x) {
  const int64_t n = x.size(0);
  if (n == 0) {
    const Tensor none = prim::fill({0}, 0, int64, x.device());
    return {none, none, none};
  }
  Tensor begins = prim::fill({n}, 0, int64, x.device());
  if (n > 1 && x.size(1) > 0) {
    const Tensor after = prim::slice(x, 0, 1, n), before = prim::slice(x, 0, 0, n - 1);
    const Tensor differs =
        x.size(1) == 1 ? prim::reshape(prim::elementwise(unequal, after, before), {n - 1})
                       : prim::reduce(TN_REDUCE_MAX, {after, before}, Ints(1), false, unequal);
    begins = cat({prim::fill({1}, 0, int64, x.device()), differs});
  }
  const Tensor number = prim::scan(TN_REDUCE_SUM, begins, 0);
  const Tensor first_one =
      cat({prim::fill({1}, 1, int64, x.device()), prim::slice(begins, 0, 1, n)});
  const Tensor places = prim::nonzero(first_one);
  const int64_t count = places.size(0);
  const Tensor lengths = prim::scatter(spread({count}, 0, int64, x.device()), 0, number,
                                       spread({n}, 1, int64, x.device()), true);
  return {prim::reshape(places, {count}), number, lengths};
}

// The places of rows [n, m] in ascending order, by their columns from the last to the first.
Tensor order_of_rows(const Tensor& x) {
  Tensor order;
  for (int64_t column = x.size(1); column-- > 0;) {
    const Tensor keys = prim::reshape(prim::slice(x, 1, column, column + 1), {x.size(0)});
    const Tensor in_order = order.defined() ? prim::gather(keys, 0, order) : keys;
    const Tensor next = std::get<1>(prim::sort(in_order, 0));
    order = order.defined() ? prim::gather(order, 0, next) : next;
  }
  return order.defined() ? order : prim::iota(x.size(0), 0, 1, int64, x.device());
}

std::tuple<Tensor, Tensor, Tensor> distinct(const char* op, const Tensor& x, optional<int64_t> dim,
                                            bool sorts) {
  const int64_t d = dim ? wrap_dim(op, *dim, x.dim()) : 0;
  if (dim && x.dim() == 0) return distinct(op, prim::reshape(x, {1}), dim, sorts);
  const Tensor parts = dim ? movedim(x, d, 0) : prim::reshape(x, {x.numel()});
  const int64_t n = parts.size(0), width = product(last_sizes(parts, parts.dim() - 1));
  Tensor rows = prim::reshape(parts, {n, width}), order;
  if (sorts && width == 1) {
    std::tie(rows, order) = prim::sort(prim::reshape(rows, {n}), 0);
    rows = prim::reshape(rows, {n, 1});
  } else if (sorts) {
    order = order_of_rows(rows);
    rows = index_select(rows, 0, order);
  }
  const Runs runs = runs_of(rows);
  Sizes sizes = sizes_of(parts);
  sizes[0] = runs.first.numel();
  Tensor values = prim::reshape(index_select(rows, 0, runs.first), sizes);
  if (dim && d != 0) values = prim::copy(movedim(values, 0, d));
  const Tensor inverse =
      sorts ? prim::scatter(spread({n}, 0, int64, x.device()), 0, order, runs.number, false)
            : runs.number;
  return {values, dim ? inverse : prim::reshape(inverse, x.sizes()), runs.lengths};
}

// In sorted elements each value's place is found by halving steps; it is there where the element is
// equal.
Tensor is_in(const Tensor& given, const Tensor& among, bool invert) {
  if (given.device() != among.device()) {
    fail(std::string("isin: elements are on ") + given.device().name() + ", test_elements on " +
         among.device().name() + "; expected one device");
  }
  const Dtype dtype = promote(given.dtype(), among.dtype());
  const Tensor x = as_dtype(given, dtype);
  const int64_t n = among.numel();
  if (n == 0) return prim::fill(x.sizes(), invert, bool_, x.device());
  const Tensor list = std::get<0>(prim::sort(prim::reshape(as_dtype(among, dtype), {n}), 0));
  // NaN comes last, and no order is defined by it: it is searched as an infinity, and equals
  // nothing.
  const Tensor ordered = dtype.is_float()
                             ? call(detail::op<"_nan_to_num">, list, INFINITY, INFINITY, -INFINITY)
                             : list;
  const Tensor flat = prim::reshape(x, {x.numel()});
  const Tensor at = clamp_max(searched("isin", ordered, flat, false, false), n - 1);
  const Tensor found = prim::gather(list, 0, at);
  return prim::reshape(invert ? ne(flat, found) : eq(flat, found), x.sizes());
}

void bins() {
  op("bincount(Tensor x, Tensor? weights=None, int minlength=0) -> Tensor")
      .method()
      .doc(
          "How often each of 0, 1, .. is in x [n], or the sums of its weights [n]: as many as the "
          "largest element needs, and minlength at least. Waits for the device.")
      .dynamic()
      .no_gradient()
      .meaning(bincount_of);
  op("histc(Tensor x, int bins=100, float min=0, float max=0) -> Tensor")
      .method()
      .doc(
          "How many elements of x lie in each of bins of one width from min to max, in x's dtype; "
          "where those are equal, from the least to the greatest element, for which the call waits "
          "for the device.")
      .dynamic()
      .no_gradient()
      .keeps_halves()
      .meaning(histogram_of);
  op("histogram(Tensor x, int bins=100, float[] range=[], Tensor? weight=None, bool density=False) "
     "-> (Tensor hist, Tensor bin_edges)")
      .doc(
          "How many elements of x lie in each of bins of one width over range, or the sums of "
          "their "
          "weights, in x's dtype, and the edges of the bins [bins + 1]. The last bin has its upper "
          "edge. range empty: from the least to the greatest element, for which the call waits for "
          "the device. density: divided so that the area is 1.")
      .dynamic()
      .no_gradient()
      .keeps_halves()
      .meaning(histogram_with_edges);
  op("_histogram(Tensor x, Tensor bins, Tensor? weight=None, bool density=False) -> Tensor")
      .no_gradient()
      .keeps_halves()
      .meaning(histogram_between);
  op("searchsorted(Tensor sorted_sequence, Tensor values, bool out_int32=False, bool right=False, "
     "str? side=None, Tensor? sorter=None) -> Tensor")
      .doc(
          "Where each of values belongs in sorted_sequence [n], or [.., n] for values [.., m], as "
          "int64 or int32: before those equal to it, or behind (right, or side 'right'). sorter: "
          "the order of a sorted_sequence that is not sorted.")
      .no_gradient()
      .keeps_halves()
      .meaning(searched_sorted);
  op("isin(Tensor elements, Tensor test_elements, bool assume_unique=False, bool invert=False) -> "
     "Tensor")
      .doc(
          "Whether each of elements is among test_elements, as bool; or is not (invert). NaN is "
          "nowhere. assume_unique changes nothing.")
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor elements, Tensor test_elements, bool, bool invert) {
        return is_in(elements, test_elements, invert);
      });
  op("bucketize(Tensor x, Tensor boundaries, bool out_int32=False, bool right=False) -> Tensor")
      .doc("searchsorted(boundaries, x, out_int32, right) for boundaries [n].")
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Tensor boundaries, bool out_int32, bool right) {
        if (boundaries.dim() != 1) {
          fail("bucketize: boundaries are " + sizes_text(boundaries.sizes()) +
               ", expected 1 dimension");
        }
        return searched("bucketize", boundaries, x, out_int32, right);
      });
}

void runs() {
  op("unique(Tensor x, int? dim=None) -> (Tensor values, Tensor inverse, Tensor counts)")
      .method()
      .doc(
          "Each value of x once, in ascending order; for each element of x the place of its value "
          "there; and how often each is in x. With dim of the parts of x along it. Each NaN counts "
          "for itself. Waits for the device.")
      .dynamic()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, optional<int64_t> dim) { return distinct("unique", x, dim, true); });
  op("unique_consecutive(Tensor x, int? dim=None) -> "
     "(Tensor values, Tensor inverse, Tensor counts)")
      .method()
      .doc(
          "unique(x, dim), where only neighbours count as equal and none is moved. Waits for the "
          "device.")
      .dynamic()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, optional<int64_t> dim) {
        return distinct("unique_consecutive", x, dim, false);
      });
}

}  // namespace

void counts() {
  bins();
  runs();
}

}  // namespace tenon::ops_pack
