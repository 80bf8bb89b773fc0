// Running extremes and logarithms of sums, by steps of 1, 2, 4, .. places: after the step of n each
// element has what the 2 n up to it make. And differences of neighbours. A part of the family reduce.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

// Of equal ones the later counts, and a NaN is beyond every number.
constinit ExpressionRef stays_greatest{"_stays_greatest(Tensor x, Tensor before) -> Tensor",
                                       "x >= before or isnan(x)"};
constinit ExpressionRef stays_least{"_stays_least(Tensor x, Tensor before) -> Tensor",
                                    "x <= before or isnan(x)"};
// Of two equal infinities the difference is no number.
constinit ExpressionRef log_of_sum{
    "_log_of_sum(Tensor x, Tensor before) -> Tensor",
    "where(x == before, x + 0.6931471805599453,"
    " max(x, before) + log1p(exp(-abs(x - before))))\n"
    "dx = where(isinf(x) and x == before, 0.5 * g, g * exp(x - out))\n"
    "dbefore = where(isinf(x) and x == before, 0.5 * g, g * exp(before - out))"};

// Calls step(later, earlier) for parts that lie `by` apart, and gives what is before with what
// comes of it.
template <typename Step>
Tensor stepped(const Tensor& x, int64_t d, int64_t by, const Step& step) {
  const int64_t n = x.size(d);
  return cat(
      {prim::slice(x, d, 0, by), step(prim::slice(x, d, by, n), prim::slice(x, d, 0, n - by))}, d);
}

// For each element, which one up to it along d is the extreme.
Tensor places_of_extremes(const Tensor& x, int64_t d, bool largest) {
  const ExpressionRef& stays = largest ? stays_greatest : stays_least;
  const int64_t n = x.size(d);
  Sizes line(size_t(x.dim()), 1);
  line[size_t(d)] = n;
  Tensor at = prim::copy(
      prim::expand(prim::reshape(prim::iota(n, 0, 1, int64, x.device()), line), x.sizes()));
  Tensor best = x;
  for (int64_t by = 1; by < n; by *= 2) {
    const Tensor kept =
        prim::elementwise(stays, prim::slice(best, d, by, n), prim::slice(best, d, 0, n - by));
    at = stepped(at, d, by,
                 [&](const Tensor& own, const Tensor& before) { return where(kept, own, before); });
    best = prim::gather(x, d, at);
  }
  return at;
}

std::tuple<Tensor, Tensor> running_extreme(const char* op, const Tensor& x, int64_t dim,
                                           bool largest) {
  const int64_t d = wrap_dim(op, dim, x.dim());
  if (x.dim() == 0) return {prim::copy(x), prim::fill({}, 0, int64, x.device())};
  const Tensor at = places_of_extremes(x.detach(), d, largest);
  return {prim::gather(x, d, at), at};
}

std::tuple<Meta, Meta> extreme_metas(const char* op, const Tensor& x, int64_t dim) {
  wrap_dim(op, dim, x.dim());
  return {Meta(x), Meta(x.sizes(), int64, x.device())};
}

Tensor running_log_of_sum(const Tensor& given, int64_t dim) {
  const Tensor x = as_float(given);
  const int64_t d = wrap_dim("logcumsumexp", dim, x.dim());
  if (x.dim() == 0) return prim::copy(x);
  Tensor y = x;
  for (int64_t by = 1; by < x.size(d); by *= 2) {
    y = stepped(y, d, by, [](const Tensor& own, const Tensor& before) {
      return prim::elementwise(log_of_sum, own, before);
    });
  }
  return y.is_same(given) ? prim::copy(y) : y;
}

Tensor differences(const Tensor& given, int64_t n, int64_t dim, const Tensor& prepend,
                   const Tensor& append) {
  if (given.dim() == 0) fail("diff: x is [], expected 1 dimension at least");
  if (n < 0) fail("diff: n is " + std::to_string(n) + ", expected 0 or more");
  const int64_t d = wrap_dim("diff", dim, given.dim());
  for (const auto& [what, more] : {std::pair{"prepend", prepend}, {"append", append}}) {
    bool fits = !more.defined() || more.dim() == given.dim();
    for (int64_t k = 0; fits && more.defined() && k < given.dim(); ++k)
      fits = k == d || more.size(k) == given.size(k);
    if (!fits) {
      fail("diff: x is " + sizes_text(given.sizes()) + ", " + what + " is " +
           sizes_text(more.sizes()) + "; expected its sizes but along dimension " +
           std::to_string(d));
    }
  }
  if (n == 0) return prim::copy(given);  // without what would stand before and behind it
  std::vector<Tensor> parts;
  if (prepend.defined()) parts.push_back(prepend);
  parts.push_back(given);
  if (append.defined()) parts.push_back(append);
  Tensor y = parts.size() == 1 ? given : cat(parts, d);
  for (int64_t order = 0; order < n && y.size(d) > 0; ++order) {
    const int64_t size = y.size(d);
    const Tensor later = prim::slice(y, d, 1, size), before = prim::slice(y, d, 0, size - 1);
    y = y.dtype() == bool_ ? ne(later, before) : sub(later, before);
  }
  return y.is_same(given) ? prim::copy(y) : y;  // it has no neighbours
}

// Areas under y along a dimension, between neighbours: by the widths x, or all of width dx.
Tensor areas(const char* op, const Tensor& given, const Tensor& x, double dx, int64_t dim) {
  if (given.dim() == 0) fail(std::string(op) + ": y is [], expected 1 dimension at least");
  // Integers take the dtype of the floats that they meet.
  const auto met = [](const Tensor& t, const Tensor& other) {
    const bool is_float = other.defined() && other.dtype().is_float();
    return t.dtype().is_float() || !is_float ? as_float(t) : as_dtype(t, other.dtype());
  };
  const Tensor y = met(given, x);
  const int64_t d = wrap_dim(op, dim, y.dim()), n = y.size(d), pairs = std::max<int64_t>(n - 1, 0);
  const Tensor heights = add(prim::slice(y, d, n - pairs, n), prim::slice(y, d, 0, pairs));
  if (!x.defined()) return mul(heights, 0.5 * dx);
  const bool line = x.dim() == 1;
  if ((!line && x.dim() != y.dim()) || x.size(line ? 0 : d) != n) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + " for y of " +
         sizes_text(y.sizes()) + ", expected [" + std::to_string(n) + "] or the sizes of y");
  }
  Tensor places = met(x, given);
  if (line) {
    Sizes sizes(size_t(y.dim()), 1);
    sizes[size_t(d)] = n;
    places = prim::reshape(places, sizes);
  }
  const Tensor widths = sub(prim::slice(places, d, n - pairs, n), prim::slice(places, d, 0, pairs));
  return mul(mul(heights, widths), 0.5);
}

}  // namespace

void running() {
  op("cummax(Tensor x, int dim) -> (Tensor values, Tensor indices)")
      .method()
      .doc(
          "The largest of the elements up to each one along dim, itself included, and its index "
          "(int64), the last among equals, which gets the gradient.")
      .amp(Amp::widest)
      .keeps_halves()
      .infer([](Tensor x, int64_t dim) { return extreme_metas("cummax", x, dim); })
      .meaning([](Tensor x, int64_t dim) { return running_extreme("cummax", x, dim, true); });
  op("cummin(Tensor x, int dim) -> (Tensor values, Tensor indices)")
      .method()
      .doc(
          "The smallest of the elements up to each one along dim, itself included, and its index "
          "(int64), the last among equals, which gets the gradient.")
      .amp(Amp::widest)
      .keeps_halves()
      .infer([](Tensor x, int64_t dim) { return extreme_metas("cummin", x, dim); })
      .meaning([](Tensor x, int64_t dim) { return running_extreme("cummin", x, dim, false); });
  op("logcumsumexp(Tensor x, int dim) -> Tensor")
      .method()
      .doc("log(cumsum(exp(x), dim)), computed so that no exponential overflows.")
      .amp(Amp::float32)
      .meaning(running_log_of_sum);
  op("diff(Tensor x, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
      .method()
      .doc(
          "Differences of neighbours along dim, taken n times; prepend and append are joined to x "
          "before. Of bool: whether they differ.")
      .meaning(differences);
  op("trapezoid(Tensor y, Tensor? x=None, float dx=1, int dim=-1) -> Tensor")
      .doc(
          "The integral of y along dim by the trapezoidal rule: at the places x, [n] or of the "
          "sizes "
          "of y, or dx apart.")
      .amp(Amp::float32)
      .meaning([](Tensor y, Tensor x, double dx, int64_t dim) {
        return sum(areas("trapezoid", y, x, dx, dim), {dim});
      });
  op("cumulative_trapezoid(Tensor y, Tensor? x=None, float dx=1, int dim=-1) -> Tensor")
      .doc("The integrals of trapezoid up to each place but the first.")
      .amp(Amp::float32)
      .meaning([](Tensor y, Tensor x, double dx, int64_t dim) {
        return cumsum(areas("cumulative_trapezoid", y, x, dx, dim), dim);
      });
}

}  // namespace tenon::ops_pack
