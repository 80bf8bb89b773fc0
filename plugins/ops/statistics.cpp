// What stands where in the order of a dimension: medians, quantiles, modes, running extremes and
// sums. Places are found without a gradient and values read from there, so that a gradient goes to
// the element that was chosen.
#include "pack.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef nan_as_one{"_nan_as_one(Tensor x) -> Tensor", "int(isnan(x))"};
constinit ExpressionRef number_as_one{"_number_as_one(Tensor x) -> Tensor", "int(not isnan(x))"};
constinit ExpressionRef nan_as_zero{"_nan_as_zero(Tensor x) -> Tensor", "where(isnan(x), 0, x)"};
// The first NaN where there is one, else the lower of those in the middle.
constinit ExpressionRef middle{"_middle(Tensor nans, int n) -> Tensor",
                               "where(nans > 0, n - nans, trunc_div(n - 1, 2))"};
constinit ExpressionRef middle_of_numbers{"_middle_of_numbers(Tensor nans, int n) -> Tensor",
                                          "trunc_div(max(n - nans - 1, 0), 2)"};
constinit ExpressionRef changes{"_changes(Tensor x, Tensor before) -> Tensor", "int(x != before)"};
constinit ExpressionRef last_of_run{"_last_of_run(Tensor place, Tensor length) -> Tensor",
                                    "place + length - 1"};
constinit ExpressionRef less_one{"_number_of_run(Tensor x) -> Tensor", "x - 1"};

// A tensor along one dimension: all of it where none is named.
struct Line {
  Tensor x;
  int64_t dim, n;
};
Line line_of(const char* op, const Tensor& x, optional<int64_t> dim) {
  if (!dim) return {prim::reshape(x, {x.numel()}), 0, x.numel()};
  const int64_t d = wrap_dim(op, *dim, x.dim());
  if (x.dim() == 0) return {prim::reshape(x, {1}), 0, 1};
  return {x, d, x.size(d)};
}
void expect_elements(const char* op, const Tensor& x, const Line& line) {
  if (line.n > 0) return;
  const bool is_all = x.dim() != line.x.dim();  // as one dimension
  fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", which has " +
       (is_all ? "no elements" : "nothing along dimension " + std::to_string(line.dim)) +
       "; expected an element at least");
}

// The sizes of x reduced along the line.
Sizes folded_sizes(const Tensor& x, const Line& line, optional<int64_t> dim, bool keepdim) {
  Sizes sizes;
  for (int64_t d = 0; d < x.dim(); ++d) {
    const bool folded = !dim || d == line.dim;
    if (!folded) sizes.push_back(x.size(d));
    if (folded && keepdim) sizes.push_back(1);
  }
  return sizes;
}
// The values of x at places [.., 1, ..], and the places.
std::tuple<Tensor, Tensor> chosen_at(const Tensor& x, const Line& line, optional<int64_t> dim,
                                     const Tensor& at, bool keepdim) {
  const Sizes sizes = folded_sizes(x, line, dim, keepdim);
  return {prim::reshape(prim::gather(line.x, line.dim, at), sizes), prim::reshape(at, sizes)};
}

// Where in the line the elements are that would be at these ranks, from 0 on, were it sorted.
Tensor places_of(const Line& line, const Tensor& ranks) {
  return call(detail::op<"_ranked_places">, line.x.detach(), ranks, line.dim);
}

Tensor count_of_nan(const Line& line) {
  if (line.x.dtype().is_float())
    return prim::reduce(TN_REDUCE_SUM, {line.x}, line.dim, true, nan_as_one);
  Sizes sizes = sizes_of(line.x);
  sizes[size_t(line.dim)] = 1;
  return prim::fill(sizes, 0, int64, line.x.device());
}

std::tuple<Tensor, Tensor> median_of(const char* op, const Tensor& x, optional<int64_t> dim,
                                     bool keepdim, const ExpressionRef& place) {
  const Line line = line_of(op, x, dim);
  if (!dim && line.n == 0 && x.dtype().is_float()) {
    const Sizes sizes = folded_sizes(x, line, dim, keepdim);
    return {prim::fill(sizes, NAN, x.dtype(), x.device()), spread(sizes, 0, int64, x.device())};
  }
  expect_elements(op, x, line);
  const Tensor rank = prim::elementwise(place, count_of_nan(line), line.n);
  return chosen_at(x, line, dim, places_of(line, rank), keepdim);
}

std::tuple<Tensor, Tensor> kth_of(const Tensor& x, int64_t k, int64_t dim, bool keepdim) {
  const Line line = line_of("kthvalue", x, dim);
  if (k < 1 || k > line.n) {
    fail("kthvalue: k is " + std::to_string(k) + ", expected 1 to " + std::to_string(line.n) +
         ", the size of dimension " + std::to_string(line.dim));
  }
  Sizes sizes = sizes_of(line.x);
  sizes[size_t(line.dim)] = 1;
  const Tensor rank = prim::fill(sizes, k - 1, int64, x.device());
  return chosen_at(x, line, dim, places_of(line, rank), keepdim);
}

// In order, equal ones are runs. They are numbered and counted, and the first of the longest is the
// least of the most frequent values; of its places the last is given, as in PyTorch.
std::tuple<Tensor, Tensor> mode_of(const Tensor& x, int64_t dim, bool keepdim) {
  const Line line = line_of("mode", x, dim);
  expect_elements("mode", x, line);
  const auto [sorted, order] = prim::sort(line.x.detach(), line.dim);
  const int64_t d = line.dim, n = line.n;
  Sizes first = sizes_of(line.x);
  first[size_t(d)] = 1;
  const Tensor begins = cat(
      {prim::fill(first, 1, int64, x.device()),
       prim::elementwise(changes, prim::slice(sorted, d, 1, n), prim::slice(sorted, d, 0, n - 1))},
      d);
  const Tensor run = prim::elementwise(less_one, prim::scan(TN_REDUCE_SUM, begins, d));
  const Sizes sizes = sizes_of(line.x);
  const Tensor lengths = prim::scatter(spread(sizes, 0, int64, x.device()), d, run,
                                       spread(sizes, 1, int64, x.device()), true);
  const Tensor length = prim::gather(lengths, d, run);
  const Tensor place = prim::reduce(TN_REDUCE_ARGMAX, length, d, true);
  const Tensor last = prim::elementwise(last_of_run, place, prim::gather(length, d, place));
  return chosen_at(x, line, dim, prim::gather(order, d, last), keepdim);
}

// ranks [.., m, ..] beside x [.., n, ..]; gives which dimension that is.
int64_t expect_ranks(const Tensor& x, const Tensor& ranks, int64_t dim) {
  bool fits = x.dim() > 0 && ranks.dim() == x.dim() && ranks.dtype() == int64;
  const int64_t along = x.dim() > 0 ? wrap_dim("_ranked_places", dim, x.dim()) : 0;
  for (int64_t d = 0; fits && d < x.dim(); ++d) fits = d == along || ranks.size(d) == x.size(d);
  if (fits) return along;
  fail("_ranked_places: ranks is " + sizes_text(ranks.sizes()) + " " + ranks.dtype().name() +
       ", expected int64 with the sizes of x, " + sizes_text(x.sizes()) +
       ", in all dimensions but dim");
}

void medians() {
  op("_ranked_places(Tensor x, Tensor ranks, int dim) -> Tensor")
      .infer([](Tensor x, Tensor ranks, int64_t dim) {
        const int64_t d = expect_ranks(x, ranks, dim);
        Sizes sizes = sizes_of(x);
        sizes[size_t(d)] = ranks.size(d);
        return Meta(sizes, int64, x.device());
      })
      .meaning([](Tensor x, Tensor ranks, int64_t dim) {
        const int64_t d = expect_ranks(x, ranks, dim);
        return prim::gather(std::get<1>(prim::sort(x.detach(), d)), d, ranks);
      });
  op("median(Tensor x, int? dim=None, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .method()
      .doc(
          "The value in the middle along dim, of two the lower, and its index (int64); of all "
          "elements, with a flat index, where dim is None. NaN where there is one, or nothing. The "
          "gradient "
          "goes to the element at the index.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, optional<int64_t> dim, bool keepdim) {
        return median_of("median", x, dim, keepdim, middle);
      });
  op("nanmedian(Tensor x, int? dim=None, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .method()
      .doc("median(x, dim, keepdim) of the elements that are not NaN.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, optional<int64_t> dim, bool keepdim) {
        return median_of("nanmedian", x, dim, keepdim, middle_of_numbers);
      });
  op("kthvalue(Tensor x, int k, int dim=-1, bool keepdim=False) -> "
     "(Tensor values, Tensor indices)")
      .method()
      .doc(
          "The k-th smallest value along dim, from 1 on, and its index (int64). NaN is the "
          "greatest.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(kth_of);
  op("mode(Tensor x, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .method()
      .doc(
          "The most frequent value along dim, of several the least, and the index (int64) of its "
          "last occurrence, which gets the gradient.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(mode_of);
}

constinit ExpressionRef rank_or_last{"_rank_or_last(Tensor q, Tensor nans, int n) -> Tensor",
                                     "where(nans > 0, n - 1, q * (n - 1))"};
constinit ExpressionRef rank_of_numbers{"_rank_of_numbers(Tensor q, Tensor nans, int n) -> Tensor",
                                        "q * max(n - nans - 1, 0)"};
constinit ExpressionRef below_rank{"_below_rank(Tensor rank) -> Tensor", "int(floor(rank))"};
constinit ExpressionRef above_rank{"_above_rank(Tensor rank) -> Tensor", "int(ceil(rank))"};
constinit ExpressionRef nearest_rank{"_nearest_rank(Tensor rank) -> Tensor", "int(round(rank))"};
constinit ExpressionRef part_above{"_part_above(Tensor rank) -> Tensor", "rank - floor(rank)"};

Tensor read_at(const Line& line, const Tensor& ranks) {
  return prim::gather(line.x, line.dim, places_of(line, ranks));
}

// What would be at ranks [.., m] of the line [.., n], its last dimension, were it sorted.
Tensor between(const Line& line, const Tensor& ranks, string_view interpolation) {
  const Tensor low = prim::elementwise(below_rank, ranks);
  if (interpolation == "lower") return read_at(line, low);
  if (interpolation == "nearest") return read_at(line, prim::elementwise(nearest_rank, ranks));
  const Tensor high = prim::elementwise(above_rank, ranks);
  if (interpolation == "higher") return read_at(line, high);
  const Tensor both = read_at(line, cat({low, high}, line.dim));
  const int64_t m = ranks.size(line.dim);
  const Tensor from = prim::slice(both, line.dim, 0, m), to = prim::slice(both, line.dim, m, 2 * m);
  if (interpolation == "midpoint") return lerp(from, to, 0.5);
  const Tensor part = prim::elementwise(part_above, ranks);
  return lerp(from, to, part.dtype() == from.dtype() ? part : prim::copy(part, from.dtype()));
}

void check_quantile(const char* op, const Tensor& x, const Operand& q, string_view interpolation) {
  expect_float(op, x);
  constexpr string_view kKnown[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  if (std::ranges::find(kKnown, interpolation) == std::end(kKnown)) {
    fail(std::string(op) + ": interpolation is '" + std::string(interpolation) +
         "', expected 'linear', 'lower', 'higher', 'midpoint' or 'nearest'");
  }
  if (!q.is_tensor()) {
    const double value = q.value().kind == TN_KIND_FLOAT ? q.value().as.f : double(q.value().as.i);
    if (!(value >= 0 && value <= 1))
      fail(std::string(op) + ": q is " + number_text(value) + ", expected 0 to 1");
    return;
  }
  if (q.tensor().dtype() != x.dtype() || q.tensor().dim() > 1) {
    fail(std::string(op) + ": q is " + sizes_text(q.tensor().sizes()) + " " +
         q.tensor().dtype().name() + ", expected at most 1 dimension, and " + x.dtype().name() +
         " as x");
  }
  expect_probabilities(op, "q", q.tensor());
}

Tensor quantile_of(const char* op, const Operand& x_given, const Operand& q, optional<int64_t> dim,
                   bool keepdim, string_view interpolation, const ExpressionRef& rank_in) {
  if (!x_given.is_tensor()) fail(std::string(op) + ": x is a number, expected a tensor");
  const Tensor x = x_given.tensor();
  check_quantile(op, x, q, interpolation);
  const Line line = line_of(op, x, dim);
  expect_elements(op, x, line);
  // The dimension comes last, and q along it.
  const Line last = {movedim(line.x, line.dim, -1), line.x.dim() - 1, line.n};
  const Tensor nans = count_of_nan({last.x.detach(), last.dim, last.n});
  // Ranks are those of q as x's dtype has it, in float64: 0.2f of 6 elements lies above the second.
  Tensor wanted = q.is_tensor() ? prim::reshape(q.tensor(), {q.tensor().numel()})
                                : prim::fill({1}, Number(q), x.dtype(), x.device());
  if (wanted.dtype() != float64) wanted = prim::copy(wanted, float64);
  const Tensor y = between(last, prim::elementwise(rank_in, wanted, nans, line.n), interpolation);
  Sizes sizes = folded_sizes(x, line, dim, keepdim);
  if (!q.is_tensor() || q.tensor().dim() == 0) return prim::reshape(y, sizes);
  sizes.insert(sizes.begin(), q.tensor().numel());
  return prim::reshape(prim::copy(movedim(y, -1, 0)), sizes);
}

void quantiles() {
  op("quantile(Tensor x, Tensor q, int? dim=None, bool keepdim=False, "
     "str interpolation='linear') -> Tensor")
      .method()
      .doc(
          "The value below which the part q of x along dim lies, or of all elements where dim is "
          "None. q is a number or a tensor of at most 1 dimension, which then comes first. Between "
          "two values interpolation chooses: linear, lower, higher, midpoint or nearest. NaN where "
          "there is one.")
      .numbers()
      .amp(Amp::float32)
      .meaning(
          [](Operand x, Operand q, optional<int64_t> dim, bool keepdim, string_view interpolation) {
            return quantile_of("quantile", x, q, dim, keepdim, interpolation, rank_or_last);
          });
  op("nanquantile(Tensor x, Tensor q, int? dim=None, bool keepdim=False, "
     "str interpolation='linear') -> Tensor")
      .method()
      .doc("quantile(x, q, dim, keepdim, interpolation) of the elements that are not NaN.")
      .numbers()
      .amp(Amp::float32)
      .meaning(
          [](Operand x, Operand q, optional<int64_t> dim, bool keepdim, string_view interpolation) {
            return quantile_of("nanquantile", x, q, dim, keepdim, interpolation, rank_of_numbers);
          });
}

constinit ExpressionRef rescaled{"_rescaled(Tensor x, Tensor norm, float maxnorm) -> Tensor",
                                 "x * where(norm > maxnorm, maxnorm / (norm + 1e-7), 1)"};

Tensor renorm_of(const Tensor& x, double p, int64_t dim, double maxnorm) {
  if (x.dim() < 2)
    fail("renorm: x is " + sizes_text(x.sizes()) + ", expected 2 dimensions at least");
  if (!(p > 0)) fail("renorm: p is " + number_text(p) + ", expected a number above 0");
  if (!(maxnorm >= 0)) fail("renorm: maxnorm is " + number_text(maxnorm) + ", expected 0 or more");
  const int64_t d = wrap_dim("renorm", dim, x.dim());
  Sizes others;
  for (int64_t k = 0; k < x.dim(); ++k)
    if (k != d) others.push_back(k);
  return prim::elementwise(rescaled, x, norm(x, p, others, true), maxnorm);
}

void sums_of_numbers() {
  op("nansum(Tensor x, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> Tensor")
      .method()
      .doc("sum(x, dim, keepdim, dtype) with 0 in the place of NaN.")
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, bool keepdim, Dtype dtype) {
        return sum(x.dtype().is_float() ? prim::elementwise(nan_as_zero, x) : x, dims, keepdim,
                   dtype);
      });
  op("nanmean(Tensor x, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> Tensor")
      .method()
      .doc("The mean over dim of the elements that are not NaN; NaN where all are.")
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, bool keepdim, Dtype dtype) {
        expect_float("nanmean", x);
        const Tensor numbers = prim::reduce(TN_REDUCE_SUM, {x}, dims, keepdim, number_as_one);
        const Tensor total = sum(prim::elementwise(nan_as_zero, x), dims, keepdim, dtype);
        return prim::elementwise(quotient, total, numbers);
      });
  op("aminmax(Tensor x, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)")
      .method()
      .doc("amin and amax along dim, or over all where dim is None.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, optional<int64_t> dim, bool keepdim) {
        const Sizes dims = dim ? Sizes{*dim} : Sizes{};
        return std::tuple{amin(x, dims, keepdim), amax(x, dims, keepdim)};
      });
  op("std_mean(Tensor x, int[] dim=[], float correction=1, bool keepdim=False) -> "
     "(Tensor std, Tensor mean)")
      .doc("std(x, dim, correction, keepdim) and the mean over the same dimensions.")
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, double correction, bool keepdim) {
        expect_float("std_mean", x);
        return std::tuple{tenon::std(x, dims, correction, keepdim), mean(x, dims, keepdim)};
      });
  op("renorm(Tensor x, float p, int dim, float maxnorm) -> Tensor")
      .method()
      .doc(
          "x, whose parts along dim are scaled down to a norm of order p of maxnorm where theirs "
          "is larger.")
      .amp(Amp::float32)
      .meaning(renorm_of);
}

}  // namespace

void statistics() {
  medians();
  quantiles();
  sums_of_numbers();
}

}  // namespace tenon::ops_pack
