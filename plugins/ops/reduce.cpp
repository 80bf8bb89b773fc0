// Reductions: the reduce, scan and sort primitives under names. dims empty: all.
#include "pack.h"

#include <algorithm>
#include <cmath>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef divided{"_divided(Tensor x, float n) -> Tensor", "x / n"};
constinit ExpressionRef zero_as_one{"_zero_as_one(Tensor x) -> Tensor", "int(x == 0)"};
constinit ExpressionRef other_as_one{"_other_as_one(Tensor x) -> Tensor", "int(x != 0)"};
constinit ExpressionRef is_zero{"_is_zero(Tensor n) -> Tensor", "n == 0"};
constinit ExpressionRef is_positive{"_is_positive(Tensor n) -> Tensor", "n > 0"};
constinit ExpressionRef squared_distance{"_squared_distance(Tensor x, Tensor y) -> Tensor",
                                         "square(x - y)"};
constinit ExpressionRef var_dx{
    "_var_dx(Tensor grad, Tensor x, Tensor mean, float factor) -> Tensor",
    "factor * grad * (x - mean)"};
// No slope where there is no spread, as PyTorch has it. What is not chosen is finite there, so that
// the slope's own slope is 0 too, and not 0 * inf: here, and in the powers below.
constinit ExpressionRef root{
    "_root(Tensor x) -> Tensor",
    "sqrt(x)\n dx = where(out == 0, 0, g / (2 * where(out == 0, 1, out)))"};
constinit ExpressionRef magnitude{"_magnitude(Tensor x) -> Tensor", "abs(x)"};
constinit ExpressionRef squared{"_squared(Tensor x) -> Tensor", "x * x"};
constinit ExpressionRef presence{"_presence(Tensor x) -> Tensor", "float(x != 0)\n dx = 0 * g"};
constinit ExpressionRef power{
    "_power(Tensor x, float p) -> Tensor",
    "let safe = where(x == 0, 1, x)\n"
    "abs(x) ** p\n dx = where(x == 0, 0, g * p * sign(x) * abs(safe) ** (p - 1))"};
constinit ExpressionRef power_root{
    "_power_root(Tensor x, float p) -> Tensor",
    "x ** (1 / p)\n dx = where(x == 0 or isinf(x), 0, g * out / (p * where(x == 0, 1, x)))"};
constinit ExpressionRef shift{"_shift(Tensor top) -> Tensor", "where(isfinite(top), top, 0)"};
constinit ExpressionRef exp_below{"_exp_shifted(Tensor x, Tensor top) -> Tensor", "exp(x - top)"};
constinit ExpressionRef log_above{"_log_above(Tensor total, Tensor top) -> Tensor",
                                  "log(total) + top"};
constinit ExpressionRef logsumexp_dx{"_logsumexp_dx(Tensor grad, Tensor x, Tensor y) -> Tensor",
                                     "grad * exp(x - y)"};

// What values between two passes are kept in.
Dtype wide(Dtype dtype) { return dtype.is_half() ? float32 : dtype; }
uint32_t reduced_dims(const char* op, const Tensor& x, Ints dims) {
  uint32_t mask = dims.empty() ? ~0u : 0;
  for (int64_t d : dims) mask |= 1u << wrap_dim(op, d, x.dim());
  return mask;
}
// How many elements go into one result.
int64_t folded_count(const char* op, const Tensor& x, Ints dims) {
  uint32_t reduced = reduced_dims(op, x, dims);
  int64_t n = 1;
  for (int64_t d = 0; d < x.dim(); ++d) n *= reduced >> d & 1 ? x.size(d) : 1;
  return n;
}
// A result of keepdim with or without its dimensions of size 1; the other way round for gradients.
Tensor reshaped(const char* op, const Tensor& result, const Tensor& x, Ints dims, bool keepdim) {
  uint32_t reduced = reduced_dims(op, x, dims);
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (!(reduced >> d & 1)) sizes.push_back(x.size(d));
    if (reduced >> d & 1 && keepdim) sizes.push_back(1);
  }
  return prim::reshape(result, sizes);
}
// epilogue(fold of prologue(xs)), in one pass.
Tensor fold(tn_reduce_kind kind, const Tensors& xs, Ints dims, bool keepdim,
            const ExpressionRef& prologue, Floats prologue_scalars, const ExpressionRef& epilogue,
            Floats epilogue_scalars, Dtype dtype = {}) {
  return detail::call_primitive<Tensor, TN_PRIM_REDUCE>(int64_t(kind), xs, dims, keepdim, prologue,
                                                        prologue_scalars, epilogue,
                                                        epilogue_scalars, dtype);
}

// Of x as `dtype`, where one is named. (Whole numbers are added up in int64, and end as it.)
Tensor sum_of(const Tensor& x, Ints dims, bool keepdim, Dtype dtype) {
  if (!dtype) return prim::reduce(TN_REDUCE_SUM, x, dims, keepdim);
  return as_dtype(prim::reduce(TN_REDUCE_SUM, as_dtype(x, dtype), dims, keepdim), dtype);
}

// Sums or products up to each element.
Tensor running(tn_reduce_kind kind, const Tensor& x, int64_t dim, Dtype dtype) {
  if (!dtype) return prim::scan(kind, x, dim);
  return as_dtype(prim::scan(kind, as_dtype(x, dtype), dim), dtype);
}

// In the epilogue: the sum of a long half-precision tensor does not fit its dtype, the mean does.
Tensor mean_of(const Tensor& values, Ints dims, bool keepdim, Dtype dtype = {}) {
  Tensor x = as_float(values);
  double n = double(folded_count("mean", x, dims));
  return prim::reduce_then(TN_REDUCE_SUM, x, dims, keepdim, divided, n, dtype);
}

double var_factor(const Tensor& x, Ints dims, double correction) {
  const double n = double(folded_count("var", x, dims));
  if (n == 0) return NAN;  // whatever the correction is
  return 1.0 / std::max(n - correction, 0.0);
}
Tensor var_of(const Tensor& x, Ints dims, double correction, bool keepdim) {
  Tensor center = mean_of(x, dims, true, wide(x.dtype()));
  return fold(TN_REDUCE_SUM, {x, center}, dims, keepdim, squared_distance, {}, scaled,
              var_factor(x, dims, correction), x.dtype());
}
// Through the mean there is no slope: what it would take from one element it gives to the others.
Tensor var_gradient(const Tensor& g, const Tensor& x, Ints dims, double correction) {
  Tensor center = mean_of(x, dims, true, wide(x.dtype()));
  Tensor dx = prim::elementwise(var_dx, reshaped("var", g, x, dims, true), x, center,
                                2 * var_factor(x, dims, correction));
  return as_dtype(dx, x.dtype());
}

Tensor norm_of(const Tensor& x, double p, Ints dims, bool keepdim) {
  expect_float("norm", x);
  if (p == INFINITY) return prim::reduce(TN_REDUCE_MAX, {x}, dims, keepdim, magnitude);
  if (p == -INFINITY) return prim::reduce(TN_REDUCE_MIN, {x}, dims, keepdim, magnitude);
  if (x.dim() == 0) distinct_dims("norm", dims, 0);  // a reduction has nothing to fold there
  if (p < 0 && folded_count("norm", x, dims) == 0) {
    fail("norm: x is " + sizes_text(x.sizes()) + " and p is " + number_text(p) +
         "; no elements have no norm of a negative order");
  }
  if (p == 0) return prim::reduce(TN_REDUCE_SUM, {x}, dims, keepdim, presence);
  if (p == 1) return prim::reduce(TN_REDUCE_SUM, {x}, dims, keepdim, magnitude);
  if (p == 2) return fold(TN_REDUCE_SUM, {x}, dims, keepdim, squared, {}, root, {});
  return fold(TN_REDUCE_SUM, {x}, dims, keepdim, power, p, power_root, p);
}

Tensor logsumexp_of(const Tensor& values, Ints dims, bool keepdim) {
  Tensor x = as_float(values);
  if (folded_count("logsumexp", x, dims) == 0) return log(sum(x, dims, keepdim));
  Tensor top = prim::elementwise(shift, prim::reduce(TN_REDUCE_MAX, x, dims, true));
  top = as_dtype(top, wide(x.dtype()));
  Tensor total = prim::reduce(TN_REDUCE_SUM, {x, top}, dims, true, exp_below);
  Tensor y = as_dtype(prim::elementwise(log_above, total, top), x.dtype());
  return keepdim ? y : reshaped("logsumexp", y, x, dims, false);
}

// The places come from the fold, and the values from there: a gradient goes to that one element.
std::tuple<Tensor, Tensor> extreme(const char* op, tn_reduce_kind kind, const Tensor& x,
                                   int64_t dim, bool keepdim) {
  int64_t d = wrap_dim(op, dim, x.dim());
  if (x.dim() == 0) return {prim::copy(x), prim::fill({}, 0, int64, x.device())};
  Tensor at = prim::reduce(kind, x, d, true), values = prim::gather(x, d, at);
  if (keepdim) return {values, at};
  return {reshaped(op, values, x, d, false), reshaped(op, at, x, d, false)};
}

// uint8 answers in uint8, as PyTorch's.
Tensor answer(const Tensor& x, Ints dims, bool keepdim, const ExpressionRef& counted,
              const ExpressionRef& question) {
  Tensor y = fold(TN_REDUCE_SUM, {x}, dims, keepdim, counted, {}, question, {});
  return x.dtype() == uint8 ? prim::copy(y, uint8) : y;
}

int64_t expect_top(const Tensor& x, int64_t k, int64_t dim) {
  const int64_t d = wrap_dim("topk", dim, x.dim()), n = x.dim() == 0 ? 1 : x.size(d);
  if (k >= 0 && k <= n) return d;
  fail("topk: k is " + std::to_string(k) + ", expected 0 to " + std::to_string(n) +
       ", the size of dimension " + std::to_string(d));
}

std::tuple<Tensor, Tensor> top_of(const Tensor& x, int64_t k, int64_t dim, bool largest) {
  const int64_t d = expect_top(x, k, dim);
  const Tensor row = x.dim() == 0 ? prim::reshape(x, {1}) : x;
  const Tensor at = call(detail::op<"_top_places">, row.detach(), k, d, largest);
  const Tensor values = prim::gather(row, d, at);
  if (x.dim() > 0 || k == 0) return {values, at};
  return {prim::reshape(values, {}), prim::reshape(at, {})};
}

void sums() {
  op("sum(Tensor x, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> Tensor")
      .doc(
          "The sum over dim, or over all where dim is empty. Integers and bool sum in int64; "
          "with a dtype: of x as that dtype.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim, Dtype dtype) {
        return sum_of(x, dims, keepdim, dtype);
      });
  op("mean(Tensor x, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> Tensor")
      .doc(
          "The mean over dim, or over all where dim is empty. Of integers and bool it is "
          "float32; with a dtype: of x as that dtype.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim, Dtype dtype) {
        expect_floating("mean", dtype);
        return mean_of(dtype ? as_dtype(x, dtype) : x, dims, keepdim);
      });
  prods();
}

void extremes() {
  op("amax(Tensor x, int[] dim=[], bool keepdim=False) -> Tensor")
      .doc(
          "The largest value over dim, or over all where dim is empty. Equal ones share the "
          "gradient evenly.")
      .method()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim) {
        return prim::reduce(TN_REDUCE_MAX, x, dims, keepdim);
      });
  op("amin(Tensor x, int[] dim=[], bool keepdim=False) -> Tensor")
      .doc(
          "The smallest value over dim, or over all where dim is empty. Equal ones share the "
          "gradient evenly.")
      .method()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim) {
        return prim::reduce(TN_REDUCE_MIN, x, dims, keepdim);
      });
  op("max(Tensor x, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .doc(
          "The largest values along dim and their indices (int64), the first among equals, which "
          "gets the gradient.")
      .method()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, bool keepdim) {
        return extreme("max", TN_REDUCE_ARGMAX, x, dim, keepdim);
      });
  op("min(Tensor x, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .doc(
          "The smallest values along dim and their indices (int64), the first among equals, which "
          "gets the gradient.")
      .method()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, bool keepdim) {
        return extreme("min", TN_REDUCE_ARGMIN, x, dim, keepdim);
      });
}

void indices_of_extremes() {
  op("argmax(Tensor x, int[] dim=[], bool keepdim=False) -> Tensor")
      .doc(
          "The int64 index of the largest value, the first among equals, flat over dim, or over "
          "all where dim is empty.")
      .method()
      .no_gradient()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim) {
        return prim::reduce(TN_REDUCE_ARGMAX, x, dims, keepdim);
      });
  op("argmin(Tensor x, int[] dim=[], bool keepdim=False) -> Tensor")
      .doc(
          "The int64 index of the smallest value, the first among equals, flat over dim, or over "
          "all where dim is empty.")
      .method()
      .no_gradient()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim) {
        return prim::reduce(TN_REDUCE_ARGMIN, x, dims, keepdim);
      });
}

void moments_and_norms() {
  op("var(Tensor x, int[] dim=[], float correction=1, bool keepdim=False) -> Tensor")
      .doc(
          "The variance over dim, or over all where dim is empty: squared distances from the "
          "mean, summed and divided by n - correction.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, double correction, bool keepdim) {
        expect_float("var", x);
        return var_of(x, dims, correction, keepdim);
      })
      .vjp([](const Vjp& call, Tensor x, Ints dims, double correction,
              bool) { return var_gradient(call, x, dims, correction); },
           Reads::args);
  op("std(Tensor x, int[] dim=[], float correction=1, bool keepdim=False) -> Tensor")
      .doc("The square root of var(x, dim, correction, keepdim).")
      .method()
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, double correction, bool keepdim) {
        expect_float("std", x);
        return prim::elementwise(root, var(x, dims, correction, keepdim));
      });
  op("var_mean(Tensor x, int[] dim=[], float correction=1, bool keepdim=False) -> "
     "(Tensor var, Tensor mean)")
      .doc("var(x, dim, correction, keepdim) and the mean over the same dimensions.")
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, double correction, bool keepdim) {
        expect_float("var_mean", x);
        return std::tuple{var(x, dims, correction, keepdim), mean_of(x, dims, keepdim)};
      });
  op("norm(Tensor x, float p=2, int[] dim=[], bool keepdim=False, dtype? dtype=None) -> Tensor")
      .doc(
          "(sum |x|^p)^(1/p) over dim, or over all where dim is empty. Infinity: the largest "
          "|x|; 0: how many are not 0. With a dtype: of x as that dtype.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor x, double p, Ints dims, bool keepdim, Dtype dtype) {
        expect_floating("norm", dtype);
        if (dtype && promote(x.dtype(), dtype) != dtype) {
          fail(std::string("norm: dtype is ") + dtype.name() +
               ", which does not hold all numbers of x, " + x.dtype().name());
        }
        const Dtype result = dtype ? dtype : x.dtype();
        return as_dtype(norm_of(as_dtype(x, wide(result)), p, dims, keepdim), result);
      });
  op("logsumexp(Tensor x, int[] dim, bool keepdim=False) -> Tensor")
      .doc("log(sum exp(x)) over dim, computed so that no exponential overflows.")
      .method()
      .amp(Amp::float32)
      .meaning([](Tensor x, Ints dims, bool keepdim) { return logsumexp_of(x, dims, keepdim); })
      .vjp([](const Vjp& call, Tensor x, Ints dims, bool) {
        auto kept = [&](const Tensor& t) { return reshaped("logsumexp", t, x, dims, true); };
        return prim::elementwise(logsumexp_dx, kept(call), x, kept(call.output()));
      });
}

void truths_and_counts() {
  op("all(Tensor x, int[] dim=[], bool keepdim=False) -> Tensor")
      .doc(
          "Whether all elements over dim, or over all where dim is empty, are not 0. NaN is not "
          "0.")
      .method()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim) {
        return answer(x, dims, keepdim, zero_as_one, is_zero);
      });
  op("any(Tensor x, int[] dim=[], bool keepdim=False) -> Tensor")
      .doc("Whether any element over dim, or over all where dim is empty, is not 0. NaN is not 0.")
      .method()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Ints dims, bool keepdim) {
        return answer(x, dims, keepdim, other_as_one, is_positive);
      });
  op("count_nonzero(Tensor x, int[] dim=[]) -> Tensor")
      .doc("How many elements over dim, or over all where dim is empty, are not 0, as int64.")
      .method()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Ints dims) {
        return prim::reduce(TN_REDUCE_SUM, {x}, dims, false, other_as_one);
      });
}

void scans_and_sorts() {
  op("cumsum(Tensor x, int dim, dtype? dtype=None) -> Tensor")
      .doc(
          "The sums of the elements up to each one along dim, itself included. Of integers and "
          "bool they are int64; with a dtype: of x as that dtype.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning(
          [](Tensor x, int64_t dim, Dtype dtype) { return running(TN_REDUCE_SUM, x, dim, dtype); });
  op("cumprod(Tensor x, int dim, dtype? dtype=None) -> Tensor")
      .doc(
          "The products of the elements up to each one along dim, itself included. Of integers and "
          "bool they are int64; with a dtype: of x as that dtype.")
      .method()
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Dtype dtype) {
        return running(TN_REDUCE_PROD, x, dim, dtype);
      });
  op("sort(Tensor x, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)")
      .doc(
          "The values along dim in order, and their indices (int64). Equal ones stay as they came; "
          "NaN is the greatest.")
      .method()
      .primitive(TN_PRIM_SORT);
  op("argsort(Tensor x, int dim=-1, bool descending=False) -> Tensor")
      .doc("The indices of sort(x, dim, descending).")
      .method()
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, bool descending) {
        const int64_t d = wrap_dim("argsort", dim, x.dim());
        if (x.dim() == 0) return std::get<1>(prim::sort(x, dim, descending));
        return call(detail::op<"_top_places">, x.detach(), x.size(d), d, descending);
      });
  op("_top_places(Tensor x, int k, int dim, bool largest) -> Tensor")
      .infer([](Tensor x, int64_t k, int64_t dim, bool) {
        if (x.dim() == 0) fail("_top_places: x is [], expected 1 dimension at least");
        Sizes sizes = sizes_of(x);
        sizes[size_t(expect_top(x, k, dim))] = k;
        return Meta(sizes, int64, x.device());
      })
      .meaning([](Tensor x, int64_t k, int64_t dim, bool largest) {
        const int64_t d = expect_top(x, k, dim);
        const Tensor places = std::get<1>(prim::sort(x.detach(), d, largest));
        // A copy: a view would keep all that was sorted.
        return k == x.size(d) ? places : prim::copy(prim::slice(places, d, 0, k));
      });
  op("topk(Tensor x, int k, int dim=-1, bool largest=True, bool sorted=True) -> "
     "(Tensor values, Tensor indices)")
      .doc(
          "The k largest or smallest values along dim, in order, and their indices (int64). They "
          "come sorted whatever `sorted` says.")
      .method()
      .keeps_halves()
      .meaning([](Tensor x, int64_t k, int64_t dim, bool largest, bool) {
        return top_of(x, k, dim, largest);
      });
}

}  // namespace

void reduce() {
  sums();
  extremes();
  indices_of_extremes();
  moments_and_norms();
  truths_and_counts();
  scans_and_sorts();
  running();
  gradients();
  covariances();
  statistics();
  counts();
}

}  // namespace tenon::ops_pack
