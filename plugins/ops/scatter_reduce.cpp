// Elements that meet at a place, reduced: sums, products, means and extremes. Sorted by their
// places, those of one place are neighbours, and log2(n) steps fold each such run: no atomic is
// needed, and the result does not depend on the order of threads.
#include "pack.h"

#include <algorithm>
#include <cmath>

namespace tenon::ops_pack {
namespace {

enum class Fold { sum, prod, mean, amax, amin };

Fold fold_of(const char* op, const std::string& name, bool has_sum) {
  if (name == "sum" && has_sum) return Fold::sum;
  if (name == "prod") return Fold::prod;
  if (name == "mean") return Fold::mean;
  if (name == "amax") return Fold::amax;
  if (name == "amin") return Fold::amin;
  fail(std::string(op) + ": reduce is '" + name + "', expected " + (has_sum ? "sum, " : "") +
       "prod, mean, amax or amin");
}

Tensor two_folded(Fold fold, const Tensor& a, const Tensor& b) {
  return fold == Fold::prod ? mul(a, b) : fold == Fold::amax ? maximum(a, b) : minimum(a, b);
}

Tensor zeros_as(const Tensor& x) { return prim::fill(x.sizes(), 0, x.dtype(), x.device()); }

// What src [.., n, ..] makes at each place of x where there is any of it; elsewhere 0.
Tensor folded_runs(Fold fold, const Tensor& x, int64_t d, const Tensor& index, const Tensor& src) {
  const int64_t n = index.size(d);
  if (index.numel() == 0) return zeros_as(x);
  const auto [places, order] = prim::sort(index, d);
  Tensor y = prim::gather(src, d, order);
  for (int64_t step = 1; step < n; step *= 2) {
    const Tensor same = eq(prim::slice(places, d, step, n), prim::slice(places, d, 0, n - step));
    const Tensor here = prim::slice(y, d, step, n), before = prim::slice(y, d, 0, n - step);
    y = cat({prim::slice(y, d, 0, step), where(same, two_folded(fold, here, before), here)}, d);
  }
  // The last of a run holds all of it, and each place has one such; the others add nothing.
  const Tensor inner = eq(prim::slice(places, d, 0, n - 1), prim::slice(places, d, 1, n));
  Sizes edge = sizes_of(index);
  edge[size_t(d)] = 1;
  const Tensor not_last = cat({inner, prim::fill(edge, 0, bool_, x.device())}, d);
  return prim::scatter(zeros_as(x), d, places, where(not_last, zeros_as(y), y), true);
}

struct Scatter {
  const char* op;
  Fold fold;
  int64_t dim;
  bool include_self;
};

Tensor reduced_at(const Scatter& s, const Tensor& x, const Tensor& index, const Tensor& src) {
  const int64_t d = s.dim;
  // How many meet, int64, from `first` on; to broadcast over x: what an expanded index repeats is
  // counted once.
  const auto counted_from = [&](int first) {
    Tensor once = index;
    Sizes sizes = sizes_of(x);
    for (int64_t k = 0; k < x.dim(); ++k) {
      if (k == d || index.strides()[size_t(k)] != 0 || index.size(k) != x.size(k)) continue;
      once = prim::slice(once, k, 0, 1);
      sizes[size_t(k)] = std::min<int64_t>(sizes[size_t(k)], 1);
    }
    const Tensor to = spread(sizes, first, int64, x.device());
    return prim::scatter(to, d, once, spread(once.sizes(), 1, int64, x.device()), true);
  };
  const auto at_places = [&] { return gt(counted_from(0), 0); };
  if (s.fold == Fold::sum || s.fold == Fold::mean) {
    const Tensor from = s.include_self ? x : where(at_places(), zeros_as(x), x);
    const Tensor total = prim::scatter(from, d, index, src, true);
    if (s.fold == Fold::sum) return total;
    const Tensor count = clamp_min(counted_from(s.include_self ? 1 : 0), 1);
    return x.dtype().is_float() ? as_dtype(div(total, as_dtype(count, x.dtype())), x.dtype())
                                : as_dtype(div(total, count, "floor"), x.dtype());
  }
  const Tensor folded = folded_runs(s.fold, x, d, index, src);
  const Tensor there = s.include_self ? two_folded(s.fold, x, folded) : folded;
  return as_dtype(where(at_places(), there, x), x.dtype());
}

// index and src as the primitive takes them: of a larger src the part that index covers.
std::tuple<Tensor, Tensor> covered(const char* op, const Tensor& x, int64_t d, const Tensor& given,
                                   Tensor src) {
  const Tensor index = as_index(op, "index", given);
  bool fits = src.dim() == x.dim() && index.dim() == x.dim();
  for (int64_t k = 0; fits && k < x.dim(); ++k)
    fits = index.size(k) <= src.size(k) && (k == d || index.size(k) <= x.size(k));
  if (!fits) {
    fail(std::string(op) + ": index is " + sizes_text(index.sizes()) + ", src is " +
         sizes_text(src.sizes()) + ", x is " + sizes_text(x.sizes()) +
         "; expected index to be no larger than src, nor than x except along dim");
  }
  if (src.dtype() != x.dtype()) {
    fail(std::string(op) + ": src is " + src.dtype().name() + ", x is " + x.dtype().name() +
         "; expected one dtype");
  }
  for (int64_t k = 0; k < x.dim(); ++k) {
    if (src.size(k) != index.size(k)) src = prim::slice(src, k, 0, index.size(k));
  }
  return {index, src};
}

// To all that are as large as the result in equal parts. index and src are of one size.
std::tuple<Tensor, Tensor, Tensor> extreme_gradient(const Vjp& g, const Tensor& x, int64_t d,
                                                    const Tensor& index, const Tensor& src,
                                                    bool include_self) {
  const Tensor y = g.output();
  Tensor own = as_dtype(eq(x, y), x.dtype());
  const Tensor theirs = as_dtype(eq(src, prim::gather(y, d, index)), x.dtype());
  if (!include_self) own = prim::scatter(own, d, index, zeros_as(theirs), false);
  const Tensor count = clamp_min(prim::scatter(own, d, index, theirs, true), 1);
  const Tensor part = div(g.grad(), count);
  return {mul(own, part), Tensor(), mul(theirs, prim::gather(part, d, index))};
}

Tensor scattered(const char* op, Fold fold, const Tensor& x, int64_t dim, const Tensor& index,
                 const Tensor& src, bool include_self) {
  const int64_t d = wrap_dim(op, dim, x.dim());
  if (index.numel() == 0 && (index.dim() != x.dim() || src.dim() != x.dim())) return prim::copy(x);
  // Of bools a sum is whether one is true, a product whether all are.
  if (x.dtype() == bool_ && src.dtype() == bool_ && fold != Fold::mean) {
    return ne(
        scattered(op, fold, as_dtype(x, int64), dim, index, as_dtype(src, int64), include_self), 0);
  }
  if (x.dtype() == bool_) fail(std::string(op) + ": x is bool, expected a number");
  if (x.dim() == 0) {
    const Tensor one = scattered(op, fold, prim::reshape(x, {1}), 0, prim::reshape(index, {-1}),
                                 prim::reshape(src, {-1}), include_self);
    return prim::reshape(one, {});
  }
  const auto [at, from] = covered(op, x, d, index, src);
  if (fold == Fold::amax || fold == Fold::amin) {
    static constinit OpRef extreme{"ops._scatter_extreme"};
    return call(extreme, x, d, at, from, fold == Fold::amax, include_self);
  }
  return reduced_at({op, fold, d, include_self}, x, at, from);
}

// Where each row of x goes, [n]: the number of its segment, or that of segments where it is in none.
Tensor segment_of(const Tensor& x, const Tensor& lengths, const Tensor& offsets, bool unsafe) {
  const char* name = "segment_reduce";
  if (lengths.defined() == offsets.defined()) {
    fail(std::string(name) + ": there are " + (lengths.defined() ? "" : "neither ") + "lengths " +
         (lengths.defined() ? "and" : "nor") + " offsets, expected one of them");
  }
  const bool by_length = lengths.defined();
  const char* what = by_length ? "lengths" : "offsets";
  const Tensor given = as_index(name, what, by_length ? lengths : offsets);
  if (given.dim() != 1 || (!by_length && given.size(0) == 0)) {
    fail(std::string(name) + ": " + what + " is " + sizes_text(given.sizes()) +
         ", expected 1 dimension" + (by_length ? "" : " of one element at least"));
  }
  const int64_t n = x.size(0), m = given.size(0);
  const Tensor each =
      by_length ? given : sub(prim::slice(given, 0, 1, m), prim::slice(given, 0, 0, m - 1));
  const Tensor ends = by_length ? prim::scan(TN_REDUCE_SUM, given, 0) : prim::slice(given, 0, 1, m);
  if (!unsafe && x.device().value.type != TN_DEVICE_META) {
    const int64_t least = each.numel() == 0 ? 0 : prim::reduce(TN_REDUCE_MIN, each).item<int64_t>();
    if (least < 0) {
      fail(std::string(name) + ": " + what +
           (by_length ? " has " + std::to_string(least) + ", expected 0 or more"
                      : " goes back by " + std::to_string(-least) + ", expected to ascend"));
    }
    const int64_t most = each.numel() == 0 ? 0 : prim::reduce(TN_REDUCE_MAX, each).item<int64_t>();
    if (most > n) {  // sums of such numbers might wrap
      fail(std::string(name) + ": " + what + (by_length ? " has " : " goes on by ") +
           std::to_string(most) + ", expected at most " + std::to_string(n) +
           ", the size of dimension 0 of x");
    }
    const int64_t first = by_length ? 0 : prim::slice(given, 0, 0, 1).item<int64_t>();
    const int64_t last =
        each.numel() == 0 ? first : first + prim::reduce(TN_REDUCE_SUM, each).item<int64_t>();
    if (first != 0 || last != n) {
      fail(std::string(name) + ": " + what + (by_length ? " add up to " : " go from ") +
           (by_length ? "" : std::to_string(first) + " to ") + std::to_string(last) +
           ", expected " + (by_length ? "" : "0 to ") + std::to_string(n) +
           ", the size of dimension 0 of x");
    }
  }
  const Tensor rows = prim::iota(n, 0, 1, int64, x.device());
  const Tensor place = searchsorted(ends, rows, {.right = true});
  return by_length ? place : where(lt(rows, prim::slice(given, 0, 0, 1)), ends.size(0), place);
}

Tensor segments_reduced(const Tensor& x, const std::string& reduce, const Tensor& lengths,
                        const Tensor& offsets, int64_t axis, bool unsafe,
                        optional<double> initial) {
  const char* name = "segment_reduce";
  expect_float(name, x);
  if (x.dim() == 0) fail("segment_reduce: x is [], expected 1 dimension at least");
  if (wrap_dim(name, axis, x.dim()) != 0) {
    fail("segment_reduce: axis is " + std::to_string(axis) + ", expected 0");
  }
  const std::string kind = reduce == "max" ? "amax" : reduce == "min" ? "amin" : reduce;
  const Fold fold = fold_of(name, kind, true);
  const Tensor place = segment_of(x, lengths, offsets, unsafe);
  const int64_t n = lengths.defined() ? lengths.size(0) : offsets.size(0) - 1;
  const double neutral = fold == Fold::prod   ? 1
                         : fold == Fold::amax ? -INFINITY
                         : fold == Fold::amin ? INFINITY
                                              : 0;
  // One more segment for what is in none.
  Sizes sizes = sizes_of(x);
  sizes[0] = n + 1;
  const Number start = number_for(name, "initial", initial.value_or(neutral), x.dtype());
  const Tensor from = prim::fill(sizes, start, x.dtype(), x.device());
  const Tensor at = index_along(name, x, 0, place, x);
  const Tensor all =
      scattered(name, fold == Fold::mean ? Fold::sum : fold, from, 0, at, x, /*include_self=*/true);
  const Tensor result = prim::slice(all, 0, 0, n);
  if (fold != Fold::mean) return prim::copy(result);
  const Tensor counts = prim::scatter(spread({n + 1}, 0, int64, x.device()), 0, place,
                                      spread(place.sizes(), 1, int64, x.device()), true);
  Sizes beside(size_t(x.dim()), 1);
  beside[0] = n;
  const Tensor count = as_dtype(prim::reshape(prim::slice(counts, 0, 0, n), beside), x.dtype());
  // Of an empty segment what it began with, or 0 / 0.
  return div(result, initial ? clamp_min(count, 1) : count);
}

}  // namespace

void scatter_reductions() {
  op("segment_reduce(Tensor x, str reduce, Tensor? lengths=None, Tensor? offsets=None, int axis=0, "
     "bool unsafe=False, float? initial=None) -> Tensor")
      .doc(
          "The rows of x [n, ..] reduced by neighbours, [segments, ..]: as many a segment as "
          "lengths "
          "[segments] has, or those from offsets[i] to offsets[i + 1] [segments + 1]. reduce: sum, "
          "prod, mean, max or min. initial: what a segment begins with, and what an empty one "
          "is; None: 0, 1, NaN, -inf or inf. unsafe: lengths are not looked at, for which the call "
          "waits for the device, and rows outside of all segments are left out.")
      .dynamic()
      .keeps_halves()
      .meaning(segments_reduced);
  // A part of scatter_reduce with a gradient of its own: maximum would halve it from tie to tie.
  op("_scatter_extreme(Tensor x, int dim, Tensor index, Tensor src, bool largest, bool "
     "include_self) -> Tensor")
      .keeps_halves()
      .infer([](Tensor x, int64_t dim, Tensor index, Tensor src, bool, bool) {
        covered("scatter_reduce", x, wrap_dim("scatter_reduce", dim, x.dim()), index, src);
        return Meta(x.sizes(), x.dtype(), x.device());
      })
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src, bool largest,
                  bool include_self) {
        const char* op = "scatter_reduce";
        const int64_t d = wrap_dim(op, dim, x.dim());
        const auto [at, from] = covered(op, x, d, index, src);
        return reduced_at({op, largest ? Fold::amax : Fold::amin, d, include_self}, x, at, from);
      })
      .vjp([](const Vjp& g, Tensor x, int64_t dim, Tensor index, Tensor src, bool,
              bool include_self) {
        const int64_t d = wrap_dim("scatter_reduce", dim, x.dim());
        const auto [at, from] = covered("scatter_reduce", x, d, index, src);
        return extreme_gradient(g, x, d, at, from, include_self);
      });
  op("scatter_reduce(Tensor x, int dim, Tensor index, Tensor src, str reduce, bool "
     "include_self=True) -> Tensor")
      .method()
      .doc(
          "A copy of x in which the elements of src that index sends to a place along dim are "
          "reduced there, with that of x if include_self. reduce: sum, prod, mean, amax or amin.")
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor src, std::string reduce,
                  bool include_self) {
        const char* op = "scatter_reduce";
        return scattered(op, fold_of(op, reduce, true), x, dim, index, src, include_self);
      });
  op("index_reduce(Tensor x, int dim, Tensor index, Tensor source, str reduce, bool "
     "include_self=True) -> Tensor")
      .method()
      .doc(
          "A copy of x in which the parts of source along dim that index [n] sends to one place "
          "are "
          "reduced there, with that of x if include_self. reduce: prod, mean, amax or amin.")
      .meaning([](Tensor x, int64_t dim, Tensor index, Tensor source, std::string reduce,
                  bool include_self) {
        const char* op = "index_reduce";
        const Fold fold = fold_of(op, reduce, false);
        const int64_t d = wrap_dim(op, dim, x.dim());
        // Without dimensions: a line of one element.
        const bool line = x.dim() == 0;
        const Tensor to = line ? prim::reshape(x, {1}) : x,
                     places = line ? prim::reshape(index, {-1}) : index,
                     from = line ? prim::reshape(source, {-1}) : source;
        const Tensor at = index_along(op, to, d, places, from);
        const Tensor y = scattered(op, fold, to, d, at, from, include_self);
        return line ? prim::reshape(y, {}) : y;
      });
}

}  // namespace tenon::ops_pack
