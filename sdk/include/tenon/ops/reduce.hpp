// The group 'reduce' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// The sum over dims, or over all where dims is empty. Integers and bool sum in int64; with a dtype:
// of x as that dtype.
inline Tensor sum(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"sum">, {x, dims, keepdim, dtype}); }
// The mean over dims, or over all where dims is empty. Of integers and bool it is float32; with a
// dtype: of x as that dtype.
inline Tensor mean(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"mean">, {x, dims, keepdim, dtype}); }
// The product over dims, or over all where dims is empty. Of integers and bool it is int64; with a
// dtype: of x as that dtype.
inline Tensor prod(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"prod">, {x, dims, keepdim, dtype}); }
// The largest value over dims, or over all where dims is empty. Equal ones share the gradient
// evenly.
inline Tensor amax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"amax">, {x, dims, keepdim}); }
// The smallest value over dims, or over all where dims is empty. Equal ones share the gradient
// evenly.
inline Tensor amin(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"amin">, {x, dims, keepdim}); }
// The largest values along dim and their indices (int64), the first among equals, which gets the
// gradient.
inline std::tuple<Tensor, Tensor> max(const Tensor& x, Int dim, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"max">, {x, dim, keepdim}); }
struct MaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool keepdim = false;
};
inline std::tuple<Tensor, Tensor> max(const Tensor& x, Int dim, const MaxOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"max">, {x, dim, options.keepdim}); }
// The smallest values along dim and their indices (int64), the first among equals, which gets the
// gradient.
inline std::tuple<Tensor, Tensor> min(const Tensor& x, Int dim, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"min">, {x, dim, keepdim}); }
using MinOptions = MaxOptions;
inline std::tuple<Tensor, Tensor> min(const Tensor& x, Int dim, const MinOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"min">, {x, dim, options.keepdim}); }
// The int64 index of the largest value, the first among equals, flat over dims, or over all where
// dims is empty.
inline Tensor argmax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmax">, {x, dims, keepdim}); }
// The int64 index of the smallest value, the first among equals, flat over dims, or over all where
// dims is empty.
inline Tensor argmin(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmin">, {x, dims, keepdim}); }
// The variance over dims, or over all where dims is empty: squared distances from the mean, summed
// and divided by n - correction.
inline Tensor var(const Tensor& x, Ints dims = {}, Int correction = 1, bool keepdim = false) { return detail::call<Tensor>(detail::op<"var">, {x, dims, correction, keepdim}); }
// The square root of var(x, dims, correction, keepdim).
inline Tensor std(const Tensor& x, Ints dims = {}, Int correction = 1, bool keepdim = false) { return detail::call<Tensor>(detail::op<"std">, {x, dims, correction, keepdim}); }
// var(x, dims, correction, keepdim) and the mean over the same dimensions.
struct VarMeanOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dims = {};
  Int correction = 1;
  bool keepdim = false;
};
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& x, const VarMeanOptions& options = {}) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"var_mean">, {x, options.dims, options.correction, options.keepdim}); }
// (sum |x|^p)^(1/p) over dims, or over all where dims is empty. Infinity: the largest |x|; 0: how
// many are not 0. With a dtype: of x as that dtype.
inline Tensor norm(const Tensor& x, Float p = 2.0, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"norm">, {x, p, dims, keepdim, dtype}); }
struct NormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 2.0;
  KeptInts dims = {};
  bool keepdim = false;
  Dtype dtype = {};
};
inline Tensor norm(const Tensor& x, const NormOptions& options) { return detail::call<Tensor>(detail::op<"norm">, {x, options.p, options.dims, options.keepdim, options.dtype}); }
// log(sum exp(x)) over dims, computed so that no exponential overflows.
inline Tensor logsumexp(const Tensor& x, Ints dims, bool keepdim = false) { return detail::call<Tensor>(detail::op<"logsumexp">, {x, dims, keepdim}); }
using LogsumexpOptions = MaxOptions;
inline Tensor logsumexp(const Tensor& x, Ints dims, const LogsumexpOptions& options) { return detail::call<Tensor>(detail::op<"logsumexp">, {x, dims, options.keepdim}); }
// Whether all elements over dims, or over all where dims is empty, are not 0. NaN is not 0.
inline Tensor all(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"all">, {x, dims, keepdim}); }
// Whether any element over dims, or over all where dims is empty, is not 0. NaN is not 0.
inline Tensor any(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"any">, {x, dims, keepdim}); }
// How many elements over dims, or over all where dims is empty, are not 0, as int64.
inline Tensor count_nonzero(const Tensor& x, Ints dims = {}) { return detail::call<Tensor>(detail::op<"count_nonzero">, {x, dims}); }
// The sums of the elements up to each one along dim, itself included. Of integers and bool they are
// int64; with a dtype: of x as that dtype.
inline Tensor cumsum(const Tensor& x, Int dim, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"cumsum">, {x, dim, dtype}); }
// The products of the elements up to each one along dim, itself included. Of integers and bool they
// are int64; with a dtype: of x as that dtype.
inline Tensor cumprod(const Tensor& x, Int dim, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"cumprod">, {x, dim, dtype}); }
// The values along dim in order, and their indices (int64). Equal ones stay as they came; NaN is
// the greatest.
inline std::tuple<Tensor, Tensor> sort(const Tensor& x, Int dim = -1, bool descending = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"sort">, {x, dim, descending}); }
struct SortOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  bool descending = false;
};
inline std::tuple<Tensor, Tensor> sort(const Tensor& x, const SortOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"sort">, {x, options.dim, options.descending}); }
// The indices of sort(x, dim, descending).
inline Tensor argsort(const Tensor& x, Int dim = -1, bool descending = false) { return detail::call<Tensor>(detail::op<"argsort">, {x, dim, descending}); }
using ArgsortOptions = SortOptions;
inline Tensor argsort(const Tensor& x, const ArgsortOptions& options) { return detail::call<Tensor>(detail::op<"argsort">, {x, options.dim, options.descending}); }
// The k largest or smallest values along dim, in order, and their indices (int64). They come sorted
// whatever `sorted` says.
inline std::tuple<Tensor, Tensor> topk(const Tensor& x, Int k, Int dim = -1, bool largest = true, bool sorted = true) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"topk">, {x, k, dim, largest, sorted}); }
struct TopkOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  bool largest = true;
  bool sorted = true;
};
inline std::tuple<Tensor, Tensor> topk(const Tensor& x, Int k, const TopkOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"topk">, {x, k, options.dim, options.largest, options.sorted}); }
// The largest of the elements up to each one along dim, itself included, and its index (int64), the
// last among equals, which gets the gradient.
inline std::tuple<Tensor, Tensor> cummax(const Tensor& x, Int dim) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"cummax">, {x, dim}); }
// The smallest of the elements up to each one along dim, itself included, and its index (int64),
// the last among equals, which gets the gradient.
inline std::tuple<Tensor, Tensor> cummin(const Tensor& x, Int dim) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"cummin">, {x, dim}); }
// log(cumsum(exp(x), dim)), computed so that no exponential overflows.
inline Tensor logcumsumexp(const Tensor& x, Int dim) { return detail::call<Tensor>(detail::op<"logcumsumexp">, {x, dim}); }
// Differences of neighbours along dim, taken n times; prepend and append are joined to x before. Of
// bool: whether they differ.
inline Tensor diff(const Tensor& x, Int n = 1, Int dim = -1, const Tensor& prepend = {}, const Tensor& append = {}) { return detail::call<Tensor>(detail::op<"diff">, {x, n, dim, prepend, append}); }
struct DiffOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int n = 1;
  Int dim = -1;
  Tensor prepend = {};
  Tensor append = {};
};
inline Tensor diff(const Tensor& x, const DiffOptions& options) { return detail::call<Tensor>(detail::op<"diff">, {x, options.n, options.dim, options.prepend, options.append}); }
// The integral of y along dim by the trapezoidal rule: at the places x, [n] or of the sizes of y,
// or dx apart.
struct TrapezoidOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float dx = 1.0;
  Int dim = -1;
};
inline Tensor trapezoid(const Tensor& y, const Tensor& x = {}, const TrapezoidOptions& options = {}) { return detail::call<Tensor>(detail::op<"trapezoid">, {y, x, options.dx, options.dim}); }
inline Tensor trapezoid(const Tensor& y, const TrapezoidOptions& options) { return detail::call<Tensor>(detail::op<"trapezoid">, {y, Tensor(), options.dx, options.dim}); }
// The integrals of trapezoid up to each place but the first.
using CumulativeTrapezoidOptions = TrapezoidOptions;
inline Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x = {}, const CumulativeTrapezoidOptions& options = {}) { return detail::call<Tensor>(detail::op<"cumulative_trapezoid">, {y, x, options.dx, options.dim}); }
inline Tensor cumulative_trapezoid(const Tensor& y, const CumulativeTrapezoidOptions& options) { return detail::call<Tensor>(detail::op<"cumulative_trapezoid">, {y, Tensor(), options.dx, options.dim}); }
// The derivative of x along each of dims, or along all: by central differences of second order, and
// at both ends by differences of edge_order, 1 or 2. Elements are spacing apart, one number, or one
// for each dimension; gradient_at takes their places.
struct GradientOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptFloats spacing = 1.0;
  KeptInts dims = {};
  Int edge_order = 1;
};
inline std::vector<Tensor> gradient(const Tensor& x, const GradientOptions& options = {}) { return detail::call<std::vector<Tensor>>(detail::op<"gradient">, {x, options.spacing, options.dims, options.edge_order}); }
// gradient(x) where the elements along each dimension lie at the places that one of coordinates
// has, [n].
inline std::vector<Tensor> gradient_at(const Tensor& x, const Tensors& coordinates, Ints dims = {}, Int edge_order = 1) { return detail::call<std::vector<Tensor>>(detail::op<"gradient_at">, {x, coordinates, dims, edge_order}); }
// The covariances [n, n] of the rows of x [n, observations], or [] of a single row or of x
// [observations]. fweights says how often each observation counts, aweights with what weight.
// Divided by the number of observations minus correction.
inline Tensor cov(const Tensor& x, Int correction = 1, const Tensor& fweights = {}, const Tensor& aweights = {}) { return detail::call<Tensor>(detail::op<"cov">, {x, correction, fweights, aweights}); }
struct CovOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int correction = 1;
  Tensor fweights = {};
  Tensor aweights = {};
};
inline Tensor cov(const Tensor& x, const CovOptions& options) { return detail::call<Tensor>(detail::op<"cov">, {x, options.correction, options.fweights, options.aweights}); }
// cov(x), divided by the standard deviations of both variables.
inline Tensor corrcoef(const Tensor& x) { return detail::call<Tensor>(detail::op<"corrcoef">, {x}); }
// The value in the middle along dim, of two the lower, and its index (int64); of all elements, with
// a flat index, where dim is None. NaN where there is one. The gradient goes to the element at the
// index.
inline std::tuple<Tensor, Tensor> median(const Tensor& x, std::optional<Int> dim = {}, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"median">, {x, dim, keepdim}); }
// median(x, dim, keepdim) of the elements that are not NaN.
inline std::tuple<Tensor, Tensor> nanmedian(const Tensor& x, std::optional<Int> dim = {}, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"nanmedian">, {x, dim, keepdim}); }
// The k-th smallest value along dim, from 1 on, and its index (int64). NaN is the greatest.
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor& x, Int k, Int dim = -1, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"kthvalue">, {x, k, dim, keepdim}); }
struct KthvalueOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  bool keepdim = false;
};
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor& x, Int k, const KthvalueOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"kthvalue">, {x, k, options.dim, options.keepdim}); }
// The most frequent value along dim, of several the least, and the index (int64) of its last
// occurrence, which gets the gradient.
inline std::tuple<Tensor, Tensor> mode(const Tensor& x, Int dim = -1, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"mode">, {x, dim, keepdim}); }
using ModeOptions = KthvalueOptions;
inline std::tuple<Tensor, Tensor> mode(const Tensor& x, const ModeOptions& options) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"mode">, {x, options.dim, options.keepdim}); }
// The value below which the part q of x along dim lies, or of all elements where dim is None. q is
// a number or a tensor of at most 1 dimension, which then comes first. Between two values
// interpolation chooses: linear, lower, higher, midpoint or nearest. NaN where there is one.
inline Tensor quantile(Operand x, Operand q, std::optional<Int> dim = {}, bool keepdim = false, TextRef interpolation = "linear") { return detail::call<Tensor>(detail::op<"quantile">, {x, q, dim, keepdim, interpolation}); }
struct QuantileOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
  bool keepdim = false;
  std::string interpolation = "linear";
};
inline Tensor quantile(Operand x, Operand q, const QuantileOptions& options) { return detail::call<Tensor>(detail::op<"quantile">, {x, q, options.dim, options.keepdim, options.interpolation}); }
// quantile(x, q, dim, keepdim, interpolation) of the elements that are not NaN.
inline Tensor nanquantile(Operand x, Operand q, std::optional<Int> dim = {}, bool keepdim = false, TextRef interpolation = "linear") { return detail::call<Tensor>(detail::op<"nanquantile">, {x, q, dim, keepdim, interpolation}); }
using NanquantileOptions = QuantileOptions;
inline Tensor nanquantile(Operand x, Operand q, const NanquantileOptions& options) { return detail::call<Tensor>(detail::op<"nanquantile">, {x, q, options.dim, options.keepdim, options.interpolation}); }
// sum(x, dims, keepdim, dtype) with 0 in the place of NaN.
inline Tensor nansum(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"nansum">, {x, dims, keepdim, dtype}); }
// The mean over dims of the elements that are not NaN; NaN where all are.
inline Tensor nanmean(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"nanmean">, {x, dims, keepdim, dtype}); }
// amin and amax along dim, or over all where dim is None.
inline std::tuple<Tensor, Tensor> aminmax(const Tensor& x, std::optional<Int> dim = {}, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"aminmax">, {x, dim, keepdim}); }
// std(x, dims, correction, keepdim) and the mean over the same dimensions.
using StdMeanOptions = VarMeanOptions;
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& x, const StdMeanOptions& options = {}) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"std_mean">, {x, options.dims, options.correction, options.keepdim}); }
// x, whose parts along dim are scaled down to a norm of order p of maxnorm where theirs is larger.
inline Tensor renorm(const Tensor& x, Float p, Int dim, Float maxnorm) { return detail::call<Tensor>(detail::op<"renorm">, {x, p, dim, maxnorm}); }
// How often each of 0, 1, .. is in x [n], or the sums of its weights [n]: as many as the largest
// element needs, and minlength at least. Waits for the device.
inline Tensor bincount(const Tensor& x, const Tensor& weights = {}, Int minlength = 0) { return detail::call<Tensor>(detail::op<"bincount">, {x, weights, minlength}); }
// How many elements of x lie in each of bins of one width from min to max, in x's dtype; where
// those are equal, from the least to the greatest element, for which the call waits for the device.
inline Tensor histc(const Tensor& x, Int bins = 100, Float min = 0.0, Float max = 0.0) { return detail::call<Tensor>(detail::op<"histc">, {x, bins, min, max}); }
struct HistcOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int bins = 100;
  Float min = 0.0;
  Float max = 0.0;
};
inline Tensor histc(const Tensor& x, const HistcOptions& options) { return detail::call<Tensor>(detail::op<"histc">, {x, options.bins, options.min, options.max}); }
// How many elements of x lie in each of bins of one width over range, or the sums of their weights,
// in x's dtype, and the edges of the bins [bins + 1]. The last bin has its upper edge. range empty:
// from the least to the greatest element, for which the call waits for the device. density: divided
// so that the area is 1.
struct HistogramOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int bins = 100;
  KeptFloats range = {};
  Tensor weight = {};
  bool density = false;
};
inline std::tuple<Tensor, Tensor> histogram(const Tensor& x, const HistogramOptions& options = {}) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"histogram">, {x, options.bins, options.range, options.weight, options.density}); }
// Where each of values belongs in sorted_sequence [n], or [.., n] for values [.., m], as int64 or
// int32: before those equal to it, or behind (right, or side 'right'). sorter: the order of a
// sorted_sequence that is not sorted.
struct SearchsortedOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool out_int32 = false;
  bool right = false;
  std::optional<std::string> side = {};
  Tensor sorter = {};
};
inline Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, const SearchsortedOptions& options = {}) { return detail::call<Tensor>(detail::op<"searchsorted">, {sorted_sequence, values, options.out_int32, options.right, options.side, options.sorter}); }
// Whether each of elements is among test_elements, as bool; or is not (invert). NaN is nowhere.
// assume_unique changes nothing.
inline Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false, bool invert = false) { return detail::call<Tensor>(detail::op<"isin">, {elements, test_elements, assume_unique, invert}); }
struct IsinOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool assume_unique = false;
  bool invert = false;
};
inline Tensor isin(const Tensor& elements, const Tensor& test_elements, const IsinOptions& options) { return detail::call<Tensor>(detail::op<"isin">, {elements, test_elements, options.assume_unique, options.invert}); }
// searchsorted(boundaries, x, out_int32, right) for boundaries [n].
inline Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool out_int32 = false, bool right = false) { return detail::call<Tensor>(detail::op<"bucketize">, {x, boundaries, out_int32, right}); }
struct BucketizeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool out_int32 = false;
  bool right = false;
};
inline Tensor bucketize(const Tensor& x, const Tensor& boundaries, const BucketizeOptions& options) { return detail::call<Tensor>(detail::op<"bucketize">, {x, boundaries, options.out_int32, options.right}); }
// Each value of x once, in ascending order; for each element of x the place of its value there; and
// how often each is in x. With dim of the parts of x along it. Each NaN counts for itself. Waits
// for the device.
inline std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& x, std::optional<Int> dim = {}) { return detail::call<std::tuple<Tensor, Tensor, Tensor>>(detail::op<"unique">, {x, dim}); }
// unique(x, dim), where only neighbours count as equal and none is moved. Waits for the device.
inline std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& x, std::optional<Int> dim = {}) { return detail::call<std::tuple<Tensor, Tensor, Tensor>>(detail::op<"unique_consecutive">, {x, dim}); }

}  // namespace v0
}  // namespace tenon
