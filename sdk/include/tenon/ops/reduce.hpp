// The group 'reduce' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"
#include "tenon/ops/results.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// The sum over dim, or over all where dim is empty. Integers and bool sum in int64; with a dtype:
// of x as that dtype.
inline Tensor sum(const Tensor& x, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"sum">, {x, dim, keepdim, dtype}); }
struct SumOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
  bool keepdim = false;
  Dtype dtype = {};
};
template <std::same_as<SumOptions> O = SumOptions>
inline Tensor sum(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"sum">, {x, options.dim, options.keepdim, options.dtype}); }
// The mean over dim, or over all where dim is empty. Of integers and bool it is float32; with a
// dtype: of x as that dtype.
inline Tensor mean(const Tensor& x, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"mean">, {x, dim, keepdim, dtype}); }
using MeanOptions = SumOptions;
template <std::same_as<MeanOptions> O = MeanOptions>
inline Tensor mean(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"mean">, {x, options.dim, options.keepdim, options.dtype}); }
// The product over dim, or over all where dim is empty. Of integers and bool it is int64; with a
// dtype: of x as that dtype.
inline Tensor prod(const Tensor& x, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"prod">, {x, dim, keepdim, dtype}); }
using ProdOptions = SumOptions;
template <std::same_as<ProdOptions> O = ProdOptions>
inline Tensor prod(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"prod">, {x, options.dim, options.keepdim, options.dtype}); }
// The largest value over dim, or over all where dim is empty. Equal ones share the gradient evenly.
inline Tensor amax(const Tensor& x, Ints dim = {}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"amax">, {x, dim, keepdim}); }
struct AmaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
  bool keepdim = false;
};
template <std::same_as<AmaxOptions> O = AmaxOptions>
inline Tensor amax(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"amax">, {x, options.dim, options.keepdim}); }
// The smallest value over dim, or over all where dim is empty. Equal ones share the gradient
// evenly.
inline Tensor amin(const Tensor& x, Ints dim = {}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"amin">, {x, dim, keepdim}); }
using AminOptions = AmaxOptions;
template <std::same_as<AminOptions> O = AminOptions>
inline Tensor amin(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"amin">, {x, options.dim, options.keepdim}); }
// The largest values along dim and their indices (int64), the first among equals, which gets the
// gradient.
inline results::ValuesIndices max(const Tensor& x, Int dim, Bool keepdim = false) { return detail::call<results::ValuesIndices>(detail::op<"max">, {x, dim, keepdim}); }
struct MaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool keepdim = false;
};
template <std::same_as<MaxOptions> O = MaxOptions>
inline results::ValuesIndices max(const Tensor& x, Int dim, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"max">, {x, dim, options.keepdim}); }
// The smallest values along dim and their indices (int64), the first among equals, which gets the
// gradient.
inline results::ValuesIndices min(const Tensor& x, Int dim, Bool keepdim = false) { return detail::call<results::ValuesIndices>(detail::op<"min">, {x, dim, keepdim}); }
using MinOptions = MaxOptions;
template <std::same_as<MinOptions> O = MinOptions>
inline results::ValuesIndices min(const Tensor& x, Int dim, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"min">, {x, dim, options.keepdim}); }
// The int64 index of the largest value, the first among equals, flat over dim, or over all where
// dim is empty.
inline Tensor argmax(const Tensor& x, Ints dim = {}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmax">, {x, dim, keepdim}); }
using ArgmaxOptions = AmaxOptions;
template <std::same_as<ArgmaxOptions> O = ArgmaxOptions>
inline Tensor argmax(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"argmax">, {x, options.dim, options.keepdim}); }
// The int64 index of the smallest value, the first among equals, flat over dim, or over all where
// dim is empty.
inline Tensor argmin(const Tensor& x, Ints dim = {}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmin">, {x, dim, keepdim}); }
using ArgminOptions = AmaxOptions;
template <std::same_as<ArgminOptions> O = ArgminOptions>
inline Tensor argmin(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"argmin">, {x, options.dim, options.keepdim}); }
// The variance over dim, or over all where dim is empty: squared distances from the mean, summed
// and divided by n - correction.
inline Tensor var(const Tensor& x, Ints dim = {}, Float correction = 1.0, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"var">, {x, dim, correction, keepdim}); }
struct VarOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
  Float correction = 1.0;
  bool keepdim = false;
};
template <std::same_as<VarOptions> O = VarOptions>
inline Tensor var(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"var">, {x, options.dim, options.correction, options.keepdim}); }
// The square root of var(x, dim, correction, keepdim).
inline Tensor std(const Tensor& x, Ints dim = {}, Float correction = 1.0, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"std">, {x, dim, correction, keepdim}); }
using StdOptions = VarOptions;
template <std::same_as<StdOptions> O = StdOptions>
inline Tensor std(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"std">, {x, options.dim, options.correction, options.keepdim}); }
// var(x, dim, correction, keepdim) and the mean over the same dimensions.
using VarMeanOptions = VarOptions;
inline results::VarMean var_mean(const Tensor& x, const VarMeanOptions& options = {}) { return detail::call<results::VarMean>(detail::op<"var_mean">, {x, options.dim, options.correction, options.keepdim}); }
template <detail::Placed<Ints> P>
results::VarMean var_mean(const Tensor& x, const P& dim, Float correction = 1.0, Bool keepdim = false) { return detail::call<results::VarMean>(detail::op<"var_mean">, {x, Ints(dim), correction, keepdim}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<Float, VarMeanOptions> P2 = VarMeanOptions, detail::PlacedOr<Bool, VarMeanOptions> P3 = VarMeanOptions>
results::VarMean var_mean(const Tensor& x, const P1& dim, const P2& correction, const P3& keepdim = detail::unset<P3>()) { return var_mean(x, detail::behind<VarMeanOptions, 4, 1>("var_mean", dim, correction, keepdim)); }
// (sum |x|^p)^(1/p) over dim, or over all where dim is empty. Infinity: the largest |x|; 0: how
// many are not 0. With a dtype: of x as that dtype.
inline Tensor norm(const Tensor& x, Float p = 2.0, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"norm">, {x, p, dim, keepdim, dtype}); }
struct NormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 2.0;
  KeptInts dim = {};
  bool keepdim = false;
  Dtype dtype = {};
};
template <std::same_as<NormOptions> O = NormOptions>
inline Tensor norm(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"norm">, {x, options.p, options.dim, options.keepdim, options.dtype}); }
// log(sum exp(x)) over dim, computed so that no exponential overflows.
inline Tensor logsumexp(const Tensor& x, Ints dim, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"logsumexp">, {x, dim, keepdim}); }
using LogsumexpOptions = MaxOptions;
template <std::same_as<LogsumexpOptions> O = LogsumexpOptions>
inline Tensor logsumexp(const Tensor& x, Ints dim, const O& options) { return detail::call<Tensor>(detail::op<"logsumexp">, {x, dim, options.keepdim}); }
// Whether all elements over dim, or over all where dim is empty, are not 0. NaN is not 0.
inline Tensor all(const Tensor& x, Ints dim = {}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"all">, {x, dim, keepdim}); }
using AllOptions = AmaxOptions;
template <std::same_as<AllOptions> O = AllOptions>
inline Tensor all(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"all">, {x, options.dim, options.keepdim}); }
// Whether any element over dim, or over all where dim is empty, is not 0. NaN is not 0.
inline Tensor any(const Tensor& x, Ints dim = {}, Bool keepdim = false) { return detail::call<Tensor>(detail::op<"any">, {x, dim, keepdim}); }
using AnyOptions = AmaxOptions;
template <std::same_as<AnyOptions> O = AnyOptions>
inline Tensor any(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"any">, {x, options.dim, options.keepdim}); }
// How many elements over dim, or over all where dim is empty, are not 0, as int64.
inline Tensor count_nonzero(const Tensor& x, Ints dim = {}) { return detail::call<Tensor>(detail::op<"count_nonzero">, {x, dim}); }
struct CountNonzeroOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
};
template <std::same_as<CountNonzeroOptions> O = CountNonzeroOptions>
inline Tensor count_nonzero(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"count_nonzero">, {x, options.dim}); }
// The sums of the elements up to each one along dim, itself included. Of integers and bool they are
// int64; with a dtype: of x as that dtype.
inline Tensor cumsum(const Tensor& x, Int dim, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"cumsum">, {x, dim, dtype}); }
struct CumsumOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Dtype dtype = {};
};
template <std::same_as<CumsumOptions> O = CumsumOptions>
inline Tensor cumsum(const Tensor& x, Int dim, const O& options) { return detail::call<Tensor>(detail::op<"cumsum">, {x, dim, options.dtype}); }
// The products of the elements up to each one along dim, itself included. Of integers and bool they
// are int64; with a dtype: of x as that dtype.
inline Tensor cumprod(const Tensor& x, Int dim, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"cumprod">, {x, dim, dtype}); }
using CumprodOptions = CumsumOptions;
template <std::same_as<CumprodOptions> O = CumprodOptions>
inline Tensor cumprod(const Tensor& x, Int dim, const O& options) { return detail::call<Tensor>(detail::op<"cumprod">, {x, dim, options.dtype}); }
// The values along dim in order, and their indices (int64). Equal ones stay as they came; NaN is
// the greatest.
inline results::ValuesIndices sort(const Tensor& x, Int dim = -1, Bool descending = false) { return detail::call<results::ValuesIndices>(detail::op<"sort">, {x, dim, descending}); }
struct SortOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  bool descending = false;
};
template <std::same_as<SortOptions> O = SortOptions>
inline results::ValuesIndices sort(const Tensor& x, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"sort">, {x, options.dim, options.descending}); }
// The indices of sort(x, dim, descending).
inline Tensor argsort(const Tensor& x, Int dim = -1, Bool descending = false) { return detail::call<Tensor>(detail::op<"argsort">, {x, dim, descending}); }
using ArgsortOptions = SortOptions;
template <std::same_as<ArgsortOptions> O = ArgsortOptions>
inline Tensor argsort(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"argsort">, {x, options.dim, options.descending}); }
// The k largest or smallest values along dim, in order, and their indices (int64). They come sorted
// whatever `sorted` says.
inline results::ValuesIndices topk(const Tensor& x, Int k, Int dim = -1, Bool largest = true, Bool sorted = true) { return detail::call<results::ValuesIndices>(detail::op<"topk">, {x, k, dim, largest, sorted}); }
struct TopkOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  bool largest = true;
  bool sorted = true;
};
template <std::same_as<TopkOptions> O = TopkOptions>
inline results::ValuesIndices topk(const Tensor& x, Int k, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"topk">, {x, k, options.dim, options.largest, options.sorted}); }
// The largest of the elements up to each one along dim, itself included, and its index (int64), the
// last among equals, which gets the gradient.
inline results::ValuesIndices cummax(const Tensor& x, Int dim) { return detail::call<results::ValuesIndices>(detail::op<"cummax">, {x, dim}); }
// The smallest of the elements up to each one along dim, itself included, and its index (int64),
// the last among equals, which gets the gradient.
inline results::ValuesIndices cummin(const Tensor& x, Int dim) { return detail::call<results::ValuesIndices>(detail::op<"cummin">, {x, dim}); }
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
template <std::same_as<DiffOptions> O = DiffOptions>
inline Tensor diff(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"diff">, {x, options.n, options.dim, options.prepend, options.append}); }
// The integral of y along dim by the trapezoidal rule: at the places x, [n] or of the sizes of y,
// or dx apart.
struct TrapezoidOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor x = {};
  Float dx = 1.0;
  Int dim = -1;
};
inline Tensor trapezoid(const Tensor& y, const Tensor& x = {}, const TrapezoidOptions& options = {}) { return detail::call<Tensor>(detail::op<"trapezoid">, {y, detail::one_of("trapezoid", "x", x, options.x), options.dx, options.dim}); }
template <detail::Placed<Float> P>
Tensor trapezoid(const Tensor& y, const Tensor& x, const P& dx, Int dim = -1) { return detail::call<Tensor>(detail::op<"trapezoid">, {y, x, Float(dx), dim}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Int, TrapezoidOptions> P2 = TrapezoidOptions>
Tensor trapezoid(const Tensor& y, const Tensor& x, const P1& dx, const P2& dim) { return trapezoid(y, x, detail::behind<TrapezoidOptions, 4, 2>("trapezoid", dx, dim)); }
template <std::same_as<TrapezoidOptions> O = TrapezoidOptions>
inline Tensor trapezoid(const Tensor& y, const O& options) { return detail::call<Tensor>(detail::op<"trapezoid">, {y, options.x, options.dx, options.dim}); }
// The integrals of trapezoid up to each place but the first.
using CumulativeTrapezoidOptions = TrapezoidOptions;
inline Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x = {}, const CumulativeTrapezoidOptions& options = {}) { return detail::call<Tensor>(detail::op<"cumulative_trapezoid">, {y, detail::one_of("cumulative_trapezoid", "x", x, options.x), options.dx, options.dim}); }
template <detail::Placed<Float> P>
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, const P& dx, Int dim = -1) { return detail::call<Tensor>(detail::op<"cumulative_trapezoid">, {y, x, Float(dx), dim}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Int, CumulativeTrapezoidOptions> P2 = CumulativeTrapezoidOptions>
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, const P1& dx, const P2& dim) { return cumulative_trapezoid(y, x, detail::behind<CumulativeTrapezoidOptions, 4, 2>("cumulative_trapezoid", dx, dim)); }
template <std::same_as<CumulativeTrapezoidOptions> O = CumulativeTrapezoidOptions>
inline Tensor cumulative_trapezoid(const Tensor& y, const O& options) { return detail::call<Tensor>(detail::op<"cumulative_trapezoid">, {y, options.x, options.dx, options.dim}); }
// The derivative of x along each of dim, or along all: by central differences of second order, and
// at both ends by differences of edge_order, 1 or 2. Elements are spacing apart, one number, or one
// for each dimension; gradient_at takes their places.
struct GradientOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptFloats spacing = 1.0;
  KeptInts dim = {};
  Int edge_order = 1;
};
inline std::vector<Tensor> gradient(const Tensor& x, const GradientOptions& options = {}) { return detail::call<std::vector<Tensor>>(detail::op<"gradient">, {x, options.spacing, options.dim, options.edge_order}); }
template <detail::Placed<Floats> P>
std::vector<Tensor> gradient(const Tensor& x, const P& spacing, Ints dim = {}, Int edge_order = 1) { return detail::call<std::vector<Tensor>>(detail::op<"gradient">, {x, Floats(spacing), dim, edge_order}); }
template <detail::Placed<KeptFloats> P1, detail::PlacedOr<KeptInts, GradientOptions> P2 = GradientOptions, detail::PlacedOr<Int, GradientOptions> P3 = GradientOptions>
std::vector<Tensor> gradient(const Tensor& x, const P1& spacing, const P2& dim, const P3& edge_order = detail::unset<P3>()) { return gradient(x, detail::behind<GradientOptions, 4, 1>("gradient", spacing, dim, edge_order)); }
// gradient(x) where the elements along each dimension lie at the places that one of coordinates
// has, [n].
inline std::vector<Tensor> gradient_at(const Tensor& x, const Tensors& coordinates, Ints dim = {}, Int edge_order = 1) { return detail::call<std::vector<Tensor>>(detail::op<"gradient_at">, {x, coordinates, dim, edge_order}); }
struct GradientAtOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
  Int edge_order = 1;
};
template <std::same_as<GradientAtOptions> O = GradientAtOptions>
inline std::vector<Tensor> gradient_at(const Tensor& x, const Tensors& coordinates, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"gradient_at">, {x, coordinates, options.dim, options.edge_order}); }
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
template <std::same_as<CovOptions> O = CovOptions>
inline Tensor cov(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"cov">, {x, options.correction, options.fweights, options.aweights}); }
// cov(x), divided by the standard deviations of both variables.
inline Tensor corrcoef(const Tensor& x) { return detail::call<Tensor>(detail::op<"corrcoef">, {x}); }
// The value in the middle along dim, of two the lower, and its index (int64); of all elements, with
// a flat index, where dim is None. NaN where there is one, or nothing. The gradient goes to the
// element at the index.
inline results::ValuesIndices median(const Tensor& x, std::optional<Int> dim = {}, Bool keepdim = false) { return detail::call<results::ValuesIndices>(detail::op<"median">, {x, dim, keepdim}); }
struct MedianOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
  bool keepdim = false;
};
template <std::same_as<MedianOptions> O = MedianOptions>
inline results::ValuesIndices median(const Tensor& x, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"median">, {x, options.dim, options.keepdim}); }
// median(x, dim, keepdim) of the elements that are not NaN.
inline results::ValuesIndices nanmedian(const Tensor& x, std::optional<Int> dim = {}, Bool keepdim = false) { return detail::call<results::ValuesIndices>(detail::op<"nanmedian">, {x, dim, keepdim}); }
using NanmedianOptions = MedianOptions;
template <std::same_as<NanmedianOptions> O = NanmedianOptions>
inline results::ValuesIndices nanmedian(const Tensor& x, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"nanmedian">, {x, options.dim, options.keepdim}); }
// The k-th smallest value along dim, from 1 on, and its index (int64). NaN is the greatest.
inline results::ValuesIndices kthvalue(const Tensor& x, Int k, Int dim = -1, Bool keepdim = false) { return detail::call<results::ValuesIndices>(detail::op<"kthvalue">, {x, k, dim, keepdim}); }
struct KthvalueOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  bool keepdim = false;
};
template <std::same_as<KthvalueOptions> O = KthvalueOptions>
inline results::ValuesIndices kthvalue(const Tensor& x, Int k, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"kthvalue">, {x, k, options.dim, options.keepdim}); }
// The most frequent value along dim, of several the least, and the index (int64) of its last
// occurrence, which gets the gradient.
inline results::ValuesIndices mode(const Tensor& x, Int dim = -1, Bool keepdim = false) { return detail::call<results::ValuesIndices>(detail::op<"mode">, {x, dim, keepdim}); }
using ModeOptions = KthvalueOptions;
template <std::same_as<ModeOptions> O = ModeOptions>
inline results::ValuesIndices mode(const Tensor& x, const O& options) { return detail::call<results::ValuesIndices>(detail::op<"mode">, {x, options.dim, options.keepdim}); }
// The value below which the part q of x along dim lies, or of all elements where dim is None. q is
// a number or a tensor of at most 1 dimension, which then comes first. Between two values
// interpolation chooses: linear, lower, higher, midpoint or nearest. NaN where there is one.
inline Tensor quantile(Operand x, Operand q, std::optional<Int> dim = {}, Bool keepdim = false, TextRef interpolation = "linear") { return detail::call<Tensor>(detail::op<"quantile">, {x, q, dim, keepdim, interpolation}); }
struct QuantileOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
  bool keepdim = false;
  std::string interpolation = "linear";
};
template <std::same_as<QuantileOptions> O = QuantileOptions>
inline Tensor quantile(Operand x, Operand q, const O& options) { return detail::call<Tensor>(detail::op<"quantile">, {x, q, options.dim, options.keepdim, options.interpolation}); }
// quantile(x, q, dim, keepdim, interpolation) of the elements that are not NaN.
inline Tensor nanquantile(Operand x, Operand q, std::optional<Int> dim = {}, Bool keepdim = false, TextRef interpolation = "linear") { return detail::call<Tensor>(detail::op<"nanquantile">, {x, q, dim, keepdim, interpolation}); }
using NanquantileOptions = QuantileOptions;
template <std::same_as<NanquantileOptions> O = NanquantileOptions>
inline Tensor nanquantile(Operand x, Operand q, const O& options) { return detail::call<Tensor>(detail::op<"nanquantile">, {x, q, options.dim, options.keepdim, options.interpolation}); }
// sum(x, dim, keepdim, dtype) with 0 in the place of NaN.
inline Tensor nansum(const Tensor& x, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"nansum">, {x, dim, keepdim, dtype}); }
using NansumOptions = SumOptions;
template <std::same_as<NansumOptions> O = NansumOptions>
inline Tensor nansum(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"nansum">, {x, options.dim, options.keepdim, options.dtype}); }
// The mean over dim of the elements that are not NaN; NaN where all are.
inline Tensor nanmean(const Tensor& x, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"nanmean">, {x, dim, keepdim, dtype}); }
using NanmeanOptions = SumOptions;
template <std::same_as<NanmeanOptions> O = NanmeanOptions>
inline Tensor nanmean(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"nanmean">, {x, options.dim, options.keepdim, options.dtype}); }
// amin and amax along dim, or over all where dim is None.
inline results::MinMax aminmax(const Tensor& x, std::optional<Int> dim = {}, Bool keepdim = false) { return detail::call<results::MinMax>(detail::op<"aminmax">, {x, dim, keepdim}); }
using AminmaxOptions = MedianOptions;
template <std::same_as<AminmaxOptions> O = AminmaxOptions>
inline results::MinMax aminmax(const Tensor& x, const O& options) { return detail::call<results::MinMax>(detail::op<"aminmax">, {x, options.dim, options.keepdim}); }
// std(x, dim, correction, keepdim) and the mean over the same dimensions.
using StdMeanOptions = VarOptions;
inline results::StdMean std_mean(const Tensor& x, const StdMeanOptions& options = {}) { return detail::call<results::StdMean>(detail::op<"std_mean">, {x, options.dim, options.correction, options.keepdim}); }
template <detail::Placed<Ints> P>
results::StdMean std_mean(const Tensor& x, const P& dim, Float correction = 1.0, Bool keepdim = false) { return detail::call<results::StdMean>(detail::op<"std_mean">, {x, Ints(dim), correction, keepdim}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<Float, StdMeanOptions> P2 = StdMeanOptions, detail::PlacedOr<Bool, StdMeanOptions> P3 = StdMeanOptions>
results::StdMean std_mean(const Tensor& x, const P1& dim, const P2& correction, const P3& keepdim = detail::unset<P3>()) { return std_mean(x, detail::behind<StdMeanOptions, 4, 1>("std_mean", dim, correction, keepdim)); }
// x, whose parts along dim are scaled down to a norm of order p of maxnorm where theirs is larger.
inline Tensor renorm(const Tensor& x, Float p, Int dim, Float maxnorm) { return detail::call<Tensor>(detail::op<"renorm">, {x, p, dim, maxnorm}); }
// How often each of 0, 1, .. is in x [n], or the sums of its weights [n]: as many as the largest
// element needs, and minlength at least. Waits for the device.
inline Tensor bincount(const Tensor& x, const Tensor& weights = {}, Int minlength = 0) { return detail::call<Tensor>(detail::op<"bincount">, {x, weights, minlength}); }
struct BincountOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weights = {};
  Int minlength = 0;
};
template <std::same_as<BincountOptions> O = BincountOptions>
inline Tensor bincount(const Tensor& x, const Tensor& weights, const O& options) { return detail::call<Tensor>(detail::op<"bincount">, {x, detail::one_of("bincount", "weights", weights, options.weights), options.minlength}); }
template <std::same_as<BincountOptions> O = BincountOptions>
inline Tensor bincount(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"bincount">, {x, options.weights, options.minlength}); }
// How many elements of x lie in each of bins of one width from min to max, in x's dtype; where
// those are equal, from the least to the greatest element, for which the call waits for the device.
inline Tensor histc(const Tensor& x, Int bins = 100, Float min = 0.0, Float max = 0.0) { return detail::call<Tensor>(detail::op<"histc">, {x, bins, min, max}); }
struct HistcOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int bins = 100;
  Float min = 0.0;
  Float max = 0.0;
};
template <std::same_as<HistcOptions> O = HistcOptions>
inline Tensor histc(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"histc">, {x, options.bins, options.min, options.max}); }
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
inline results::HistBinEdges histogram(const Tensor& x, const HistogramOptions& options = {}) { return detail::call<results::HistBinEdges>(detail::op<"histogram">, {x, options.bins, options.range, options.weight, options.density}); }
template <detail::Placed<Int> P>
results::HistBinEdges histogram(const Tensor& x, const P& bins, Floats range = {}, const Tensor& weight = {}, Bool density = false) { return detail::call<results::HistBinEdges>(detail::op<"histogram">, {x, Int(bins), range, weight, density}); }
template <detail::Placed<Int> P1, detail::PlacedOr<KeptFloats, HistogramOptions> P2 = HistogramOptions, detail::PlacedOr<Tensor, HistogramOptions> P3 = HistogramOptions, detail::PlacedOr<Bool, HistogramOptions> P4 = HistogramOptions>
results::HistBinEdges histogram(const Tensor& x, const P1& bins, const P2& range, const P3& weight = detail::unset<P3>(), const P4& density = detail::unset<P4>()) { return histogram(x, detail::behind<HistogramOptions, 5, 1>("histogram", bins, range, weight, density)); }
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
template <detail::Placed<Bool> P>
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, const P& out_int32, Bool right = false, std::optional<std::string> side = {}, const Tensor& sorter = {}) { return detail::call<Tensor>(detail::op<"searchsorted">, {sorted_sequence, values, Bool(out_int32), right, side, sorter}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Bool, SearchsortedOptions> P2 = SearchsortedOptions, detail::PlacedOr<std::optional<std::string>, SearchsortedOptions> P3 = SearchsortedOptions, detail::PlacedOr<Tensor, SearchsortedOptions> P4 = SearchsortedOptions>
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, const P1& out_int32, const P2& right, const P3& side = detail::unset<P3>(), const P4& sorter = detail::unset<P4>()) { return searchsorted(sorted_sequence, values, detail::behind<SearchsortedOptions, 5, 1>("searchsorted", out_int32, right, side, sorter)); }
// Whether each of elements is among test_elements, as bool; or is not (invert). NaN is nowhere.
// assume_unique changes nothing.
inline Tensor isin(const Tensor& elements, const Tensor& test_elements, Bool assume_unique = false, Bool invert = false) { return detail::call<Tensor>(detail::op<"isin">, {elements, test_elements, assume_unique, invert}); }
struct IsinOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool assume_unique = false;
  bool invert = false;
};
template <std::same_as<IsinOptions> O = IsinOptions>
inline Tensor isin(const Tensor& elements, const Tensor& test_elements, const O& options) { return detail::call<Tensor>(detail::op<"isin">, {elements, test_elements, options.assume_unique, options.invert}); }
// searchsorted(boundaries, x, out_int32, right) for boundaries [n].
inline Tensor bucketize(const Tensor& x, const Tensor& boundaries, Bool out_int32 = false, Bool right = false) { return detail::call<Tensor>(detail::op<"bucketize">, {x, boundaries, out_int32, right}); }
struct BucketizeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool out_int32 = false;
  bool right = false;
};
template <std::same_as<BucketizeOptions> O = BucketizeOptions>
inline Tensor bucketize(const Tensor& x, const Tensor& boundaries, const O& options) { return detail::call<Tensor>(detail::op<"bucketize">, {x, boundaries, options.out_int32, options.right}); }
// Each value of x once, in ascending order; for each element of x the place of its value there; and
// how often each is in x. With dim of the parts of x along it. Each NaN counts for itself. Waits
// for the device.
inline results::ValuesInverseCounts unique(const Tensor& x, std::optional<Int> dim = {}) { return detail::call<results::ValuesInverseCounts>(detail::op<"unique">, {x, dim}); }
struct UniqueOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
};
template <std::same_as<UniqueOptions> O = UniqueOptions>
inline results::ValuesInverseCounts unique(const Tensor& x, const O& options) { return detail::call<results::ValuesInverseCounts>(detail::op<"unique">, {x, options.dim}); }
// unique(x, dim), where only neighbours count as equal and none is moved. Waits for the device.
inline results::ValuesInverseCounts unique_consecutive(const Tensor& x, std::optional<Int> dim = {}) { return detail::call<results::ValuesInverseCounts>(detail::op<"unique_consecutive">, {x, dim}); }
using UniqueConsecutiveOptions = UniqueOptions;
template <std::same_as<UniqueConsecutiveOptions> O = UniqueConsecutiveOptions>
inline results::ValuesInverseCounts unique_consecutive(const Tensor& x, const O& options) { return detail::call<results::ValuesInverseCounts>(detail::op<"unique_consecutive">, {x, options.dim}); }

}  // namespace v0
}  // namespace tenon
