// What is written by hand beside the functions that are generated: overloads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/compiling.hpp"
#include "tenon/ops/conv.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/loss.hpp"
#include "tenon/ops/matmul.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Not initialized; straight from the allocator, without a call of an op.
inline Tensor empty(Ints sizes, Dtype dtype = float32, Device device = {}) { return Tensor::empty(sizes, dtype, device); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor empty(N... sizes) { return empty(Ints(sizes...)); }
// 0, 1, .. end - 1.
inline Tensor arange(Number end) { return arange(0, end); }
template <std::same_as<Dtype> D>
Tensor arange(Number end, D dtype, Device device = {}) { return arange(0, end, 1, dtype, device); }
template <std::same_as<ArangeOptions> O = ArangeOptions>
Tensor arange(Number end, const O& options) { return arange(0, end, options); }
template <std::same_as<Dtype> D>
Tensor arange(Number start, Number end, D dtype, Device device = {}) { return arange(start, end, 1, dtype, device); }
// With the options of another tensor: arange(10, x.options()), eye(3, x.options()).
template <std::same_as<TensorOptions> O>
Tensor arange(Number start, Number end, Number step, const O& options) { return arange(start, end, ArangeOptions{.step = step, .dtype = options.dtype, .device = options.device, .requires_grad = options.requires_grad}); }
template <std::same_as<TensorOptions> O>
Tensor arange(Number start, Number end, const O& options) { return arange(start, end, 1, options); }
template <std::same_as<TensorOptions> O>
Tensor arange(Number end, const O& options) { return arange(0, end, 1, options); }
template <std::same_as<TensorOptions> O>
Tensor eye(Int n, std::optional<Int> m, const O& options) { return eye(n, EyeOptions{.m = m, .dtype = options.dtype, .device = options.device, .requires_grad = options.requires_grad}); }
template <std::same_as<TensorOptions> O>
Tensor eye(Int n, const O& options) { return eye(n, std::nullopt, options); }
// The identity [n, n].
template <std::same_as<Dtype> D>
Tensor eye(Int n, D dtype, Device device = {}) { return eye(n, n, dtype, device); }
// Ends that are tensors without dimensions, which are read.
namespace detail {
inline Number end_of(const char* op, const Tensor& x) {
  if (x.dim() != 0) fail(joined({op, ": an end is ", sizes_text(x.sizes()), ", expected a number, or a tensor without dimensions"}));
  return x.dtype().is_float() ? Number(x.item<double>()) : Number(x.item<int64_t>());
}
inline Number end_of(const char*, Number x) { return x; }
template <typename S, typename E>
concept AnyTensor = std::same_as<S, Tensor> || std::same_as<E, Tensor>;
}  // namespace detail
inline Tensor arange(const Tensor& end, const ArangeOptions& options = {}) { return arange(0, detail::end_of("arange", end), options); }
template <typename S, typename E>
requires detail::AnyTensor<S, E> Tensor arange(const S& start, const E& end, const ArangeOptions& options = {}) { return arange(detail::end_of("arange", start), detail::end_of("arange", end), options); }
template <typename S, typename E>
requires detail::AnyTensor<S, E> Tensor linspace(const S& start, const E& end, Int steps, const LinspaceOptions& options = {}) { return linspace(detail::end_of("linspace", start), detail::end_of("linspace", end), steps, options); }
template <typename S, typename E, std::same_as<Dtype> D>
requires detail::AnyTensor<S, E> Tensor linspace(const S& start, const E& end, Int steps, D dtype, Device device = {}) { return linspace(detail::end_of("linspace", start), detail::end_of("linspace", end), steps, dtype, device); }
template <typename S, typename E>
requires detail::AnyTensor<S, E> Tensor logspace(const S& start, const E& end, Int steps, const LogspaceOptions& options = {}) { return logspace(detail::end_of("logspace", start), detail::end_of("logspace", end), steps, options); }
template <typename S, typename E, detail::Placed<Float> P>
requires detail::AnyTensor<S, E> Tensor logspace(const S& start, const E& end, Int steps, const P& base, Dtype dtype = {}, Device device = {}) { return logspace(detail::end_of("logspace", start), detail::end_of("logspace", end), steps, Float(base), dtype, device); }
// Normal numbers of this mean and standard deviation; where these are tensors, one for each of their elements.
inline Tensor normal(double mean, double deviation, Ints sizes, Dtype dtype = {}, Device device = {}) {
  if (!(deviation >= 0)) fail(detail::joined({"normal: std is ", detail::number_text(deviation), ", expected at least 0"}));
  return add(mul(randn(sizes, dtype, device), deviation), mean);
}
inline Tensor normal(const Tensor& mean, const Tensor& std) {
  if (std.device().is_cpu() && !compiler::is_compiling() && !all(ge(std, 0)).item<bool>()) fail("normal: an element of std is not at least 0");
  const Tensor sum = add(mean, std);
  return add(mul(randn(sum.sizes(), sum.dtype(), sum.device()), std), mean);
}
// F.unfold of PyTorch, the windows of an image as columns: im2col. (With three numbers it is the
// method of tensors, of one dimension.)
inline Tensor unfold(const Tensor& x, Ints kernel_size, const Im2colOptions& options = {}) { return im2col(x, kernel_size, options); }
// A number among sorted ones, and between boundaries: a tensor without dimensions. As in PyTorch a float takes the dtype of boundaries of floats, infinite where that
// ends, and is float32 beside integers.
namespace detail {
inline Tensor number_tensor(Number value, const Tensor& beside) {
  if (value.value().kind != TN_KIND_FLOAT) return full({}, value, int64, beside.device());
  if (beside.dtype() == float64) return full({}, value, float64, beside.device());
  const Tensor number = full({}, double(float(value.value().as.f)), float32, beside.device());
  return beside.dtype().is_float() ? number.to(beside.dtype()) : number;
}
}  // namespace detail
inline Tensor searchsorted(const Tensor& sorted_sequence, Number value, const SearchsortedOptions& options = {}) { return searchsorted(sorted_sequence, detail::number_tensor(value, sorted_sequence), options); }
inline Tensor bucketize(Number value, const Tensor& boundaries, bool out_int32 = false, bool right = false) { return bucketize(detail::number_tensor(value, boundaries), boundaries, out_int32, right); }
template <std::same_as<BucketizeOptions> O = BucketizeOptions>
Tensor bucketize(Number value, const Tensor& boundaries, const O& options) { return bucketize(value, boundaries, options.out_int32, options.right); }
inline Tensor normal(const Tensor& mean, double std) { return normal(mean, full({}, std, mean.dtype(), mean.device())); }
inline Tensor normal(double mean, const Tensor& std) { return normal(full({}, mean, std.dtype(), std.device()), std); }
// At these indices: pieces along the columns (of one dimension along that), the rows, the third dimension.
template <std::same_as<std::initializer_list<int64_t>> L = std::initializer_list<int64_t>>
std::vector<Tensor> hsplit(const Tensor& x, L indices) { return tensor_split_at(x, indices, x.dim() == 1 ? 0 : 1); }
inline std::vector<Tensor> hsplit(const Tensor& x, const std::vector<int64_t>& indices) { return tensor_split_at(x, indices, x.dim() == 1 ? 0 : 1); }
template <std::same_as<std::initializer_list<int64_t>> L = std::initializer_list<int64_t>>
std::vector<Tensor> vsplit(const Tensor& x, L indices) { return tensor_split_at(x, indices, 0); }
inline std::vector<Tensor> vsplit(const Tensor& x, const std::vector<int64_t>& indices) { return tensor_split_at(x, indices, 0); }
template <std::same_as<std::initializer_list<int64_t>> L = std::initializer_list<int64_t>>
std::vector<Tensor> dsplit(const Tensor& x, L indices) { return tensor_split_at(x, indices, 2); }
inline std::vector<Tensor> dsplit(const Tensor& x, const std::vector<int64_t>& indices) { return tensor_split_at(x, indices, 2); }
template <std::same_as<std::initializer_list<int64_t>> L = std::initializer_list<int64_t>>
std::vector<Tensor> tensor_split(const Tensor& x, L indices, Int dim = 0) { return tensor_split_at(x, indices, dim); }
inline std::vector<Tensor> tensor_split(const Tensor& x, const std::vector<int64_t>& indices, Int dim = 0) { return tensor_split_at(x, indices, dim); }
// x summed up to these sizes, from which it was broadcast.
inline Tensor sum_to_size(const Tensor& x, Ints sizes) {
  std::vector<int64_t> dims;
  const int64_t more = x.dim() - int64_t(sizes.size());
  bool fits = more >= 0;
  for (int64_t d = 0; d < x.dim() && fits; ++d) {
    if (d < more) {
      dims.push_back(d);
    } else if (sizes[size_t(d - more)] != x.size(d)) {
      fits = sizes[size_t(d - more)] == 1;
      dims.push_back(d);
    }
  }
  if (!fits) fail(detail::joined({"sum_to_size: x is ", detail::sizes_text(x.sizes()), ", which ", detail::sizes_text(sizes), " does not broadcast to"}));
  return dims.empty() ? x : sum(x, dims, true).reshape(sizes);
}
// On a device, without a dtype between: zeros({2, 3}, device). empty takes options by name, too.
template <std::same_as<Device> D>
Tensor empty(Ints sizes, D device) { return empty(sizes, float32, device); }
template <std::same_as<ZerosOptions> O = ZerosOptions>
Tensor empty(Ints sizes, const O& options) { return detail::with_requires_grad(empty(sizes, options.dtype ? options.dtype : float32, options.device), options.requires_grad); }
template <std::same_as<Device> D>
Tensor zeros(Ints sizes, D device) { return zeros(sizes, Dtype(), device); }
template <std::same_as<Device> D>
Tensor ones(Ints sizes, D device) { return ones(sizes, Dtype(), device); }
template <std::same_as<Device> D>
Tensor rand(Ints sizes, D device) { return rand(sizes, Dtype(), device); }
template <std::same_as<Device> D>
Tensor randn(Ints sizes, D device) { return randn(sizes, Dtype(), device); }
// 0 to high - 1. (Of three arguments the last has the type Dtype: braces are the sizes of the other randint.)
inline Tensor randint(Int high, Ints sizes) { return randint(0, high, sizes); }
template <std::same_as<Dtype> D>
Tensor randint(Int high, Ints sizes, D dtype) { return randint(0, high, sizes, dtype); }
inline Tensor randint(Int high, Ints sizes, Dtype dtype, Device device) { return randint(0, high, sizes, dtype, device); }
template <std::same_as<RandintOptions> O = RandintOptions>
Tensor randint(Int high, Ints sizes, const O& options) { return randint(0, high, sizes, options); }
inline Tensor randint_like(const Tensor& x, Int high) { return randint_like(x, 0, high); }
template <std::same_as<RandintLikeOptions> O = RandintLikeOptions>
Tensor randint_like(const Tensor& x, Int high, const O& options) { return randint_like(x, 0, high, options); }
// A tensor without dimensions, of float32 where no dtype is given.
inline Tensor scalar_tensor(Number value, Dtype dtype = float32, Device device = {}) { return full({}, value, dtype, device); }
template <std::same_as<FullOptions> O = FullOptions>
Tensor scalar_tensor(Number value, O options) {
  if (!options.dtype) options.dtype = float32;
  return full({}, value, options);
}
// Not initialized, of as many elements as these strides reach.
inline Tensor empty_strided(Ints sizes, Ints strides, Dtype dtype = float32, Device device = {}) {
  int64_t n = 1;
  for (size_t i = 0; i < sizes.size() && i < strides.size(); ++i) n = sizes[i] == 0 || n == 0 ? 0 : n + (sizes[i] - 1) * strides[i];
  return as_strided(empty(std::max<int64_t>(n, 0), dtype, device), sizes, strides);
}
// Not initialized. physical_layout names the dimensions as they lie in memory, the outermost first.
inline Tensor empty_permuted(Ints sizes, Ints physical_layout, Dtype dtype = float32, Device device = {}) {
  const std::vector<int64_t> layout = physical_layout.vec();
  std::vector<int64_t> lying, back(layout.size(), -1);
  bool fits = layout.size() == sizes.size();
  for (size_t i = 0; i < layout.size() && fits; ++i) {
    const int64_t d = layout[i];
    fits = d >= 0 && d < int64_t(layout.size()) && back[size_t(d)] < 0;
    if (!fits) break;
    back[size_t(d)] = int64_t(i);
    lying.push_back(sizes[size_t(d)]);
  }
  if (!fits) fail(detail::joined({"empty_permuted: physical_layout is ", detail::sizes_text(layout), ", expected each dimension of ", detail::sizes_text(sizes), " once"}));
  return empty(lying, dtype, device).permute(back);
}
// The dtype of what an op makes of the two.
inline Dtype result_type(Operand x, Operand y) {
  const auto stand_in = [](const Operand& o) { return o.is_tensor() ? empty(o.tensor().dim() == 0 ? Ints() : Ints(0), o.tensor().dtype(), meta) : full({}, Number(o), Dtype(), meta); };
  const Tensor a = stand_in(x), b = stand_in(y);
  return where(full({}, true, bool_, meta), x.is_tensor() ? Operand(a) : x, y.is_tensor() || !x.is_tensor() ? Operand(b) : y).dtype();
}
inline int64_t numel(const Tensor& x) { return x.numel(); }
inline bool is_floating_point(const Tensor& x) { return x.is_floating_point(); }
// A bool in the place of the correction is PyTorch's `unbiased`: true is 1, false is 0.
template <std::same_as<bool> B>
Tensor var(const Tensor& x, B unbiased) { return x.var(unbiased); }
template <std::same_as<bool> B>
Tensor var(const Tensor& x, Ints dim, B unbiased, Bool keepdim = false) { return x.var(dim, unbiased, keepdim); }
template <std::same_as<bool> B>
Tensor std(const Tensor& x, B unbiased) { return x.std(unbiased); }
template <std::same_as<bool> B>
Tensor std(const Tensor& x, Ints dim, B unbiased, Bool keepdim = false) { return x.std(dim, unbiased, keepdim); }
template <std::same_as<bool> B>
results::VarMean var_mean(const Tensor& x, B unbiased) { return var_mean(x, {.correction = double(unbiased)}); }
template <detail::Placed<Ints> P, std::same_as<bool> B>
results::VarMean var_mean(const Tensor& x, const P& dim, B unbiased, Bool keepdim = false) { return var_mean(x, {.dim = Ints(dim), .correction = double(unbiased), .keepdim = keepdim}); }
template <std::same_as<bool> B>
results::StdMean std_mean(const Tensor& x, B unbiased) { return std_mean(x, {.correction = double(unbiased)}); }
template <detail::Placed<Ints> P, std::same_as<bool> B>
results::StdMean std_mean(const Tensor& x, const P& dim, B unbiased, Bool keepdim = false) { return std_mean(x, {.dim = Ints(dim), .correction = double(unbiased), .keepdim = keepdim}); }
template <std::same_as<Dtype> D>
Tensor prod(const Tensor& x, D dtype) { return x.prod(dtype); }
template <std::same_as<std::initializer_list<double>> L = std::initializer_list<double>>
Tensor quantile(const Tensor& x, L q, std::optional<Int> dim = {}, Bool keepdim = false, TextRef interpolation = "linear") { return x.quantile(q, dim, keepdim, interpolation); }
template <std::same_as<std::initializer_list<double>> L = std::initializer_list<double>>
Tensor nanquantile(const Tensor& x, L q, std::optional<Int> dim = {}, Bool keepdim = false, TextRef interpolation = "linear") { return x.nanquantile(q, dim, keepdim, interpolation); }
// Elements dx apart.
template <detail::Placed<Float> P>
Tensor trapezoid(const Tensor& y, const P& dx, Int dim = -1) { return trapezoid(y, Tensor(), Float(dx), dim); }
template <detail::Placed<Float> P>
Tensor cumulative_trapezoid(const Tensor& y, const P& dx, Int dim = -1) { return cumulative_trapezoid(y, Tensor(), Float(dx), dim); }
inline std::vector<Tensor> atleast_1d(std::vector<Tensor> xs) {
  for (Tensor& x : xs) x = atleast_1d(x);
  return xs;
}
inline std::vector<Tensor> atleast_2d(std::vector<Tensor> xs) {
  for (Tensor& x : xs) x = atleast_2d(x);
  return xs;
}
inline std::vector<Tensor> atleast_3d(std::vector<Tensor> xs) {
  for (Tensor& x : xs) x = atleast_3d(x);
  return xs;
}
// The sums of products over the last `dims` dimensions of a with the first ones of b.
template <std::integral I>
Tensor tensordot(const Tensor& a, const Tensor& b, I dims) {
  if (dims < 0 || int64_t(dims) > std::min(a.dim(), b.dim())) {
    fail(detail::joined({"tensordot: dims is ", std::to_string(dims), ", expected 0 to ", std::to_string(std::min(a.dim(), b.dim()))}));
  }
  std::vector<int64_t> of_a, of_b;
  for (int64_t d = 0; d < int64_t(dims); ++d) {
    of_a.push_back(a.dim() - int64_t(dims) + d);
    of_b.push_back(d);
  }
  return tensordot(a, b, of_a, of_b);
}
// To so many decimals behind the point, or zeros in front of it where that is negative; halves go to the even one. As PyTorch's it multiplies
// by a power of ten and divides again.
inline Tensor round(const Tensor& x, Int decimals) {
  if (decimals == 0) return round(x);
  if (!x.dtype().is_float()) fail(detail::joined({"round: x is ", x.dtype().name(), ", expected a floating dtype for decimals of ", std::to_string(decimals)}));
  if (decimals > 308 || decimals < -308) fail(detail::joined({"round: decimals is ", std::to_string(decimals), ", expected -308 to 308"}));
  const double factor = std::pow(10.0, double(decimals < 0 ? -decimals : +decimals));
  return decimals > 0 ? detail::call<Tensor>(detail::op<"_round_times">, {x, factor}) : detail::call<Tensor>(detail::op<"_round_by">, {x, factor});
}
// The largest and the smallest of all elements.
inline Tensor max(const Tensor& x) { return amax(x); }
inline Tensor min(const Tensor& x) { return amin(x); }

// A list of N tensors by N names: `auto [a, b, c] = unpack<3>(x.split(4));`. An Error where there are more or fewer. `what` is
// whose list it is, for that.
template <size_t N>
detail::TensorArray<N> unpack(std::vector<Tensor> list, const char* what = "unpack") {
  if (list.size() != N) fail(detail::joined({what, ": there are ", std::to_string(list.size()), " tensors, expected ", std::to_string(N)}));
  detail::TensorArray<N> tensors;
  for (size_t i = 0; i < N; ++i) tensors[i] = std::move(list[i]);
  return tensors;
}
// `auto [a, b] = chunk<2>(x, -1);`: the pieces of chunk(x, N, dim), where the last may be shorter. An Error where there are fewer than N.
template <size_t N>
detail::TensorArray<N> chunk(const Tensor& x, int64_t dim = 0) {
  std::vector<Tensor> pieces = chunk(x, int64_t(N), dim);
  if (pieces.size() != N) {
    fail(detail::joined({"chunk: dimension ", std::to_string(dim), " of size ", std::to_string(x.size(dim)), " gives ", std::to_string(pieces.size()), " chunks, expected ", std::to_string(N)}));
  }
  return unpack<N>(std::move(pieces), "chunk");
}
// Pieces of these lengths: split_with_sizes.
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<int64_t> lengths, int64_t dim = 0) { return split_with_sizes(x, lengths, dim); }
inline std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& lengths, int64_t dim = 0) { return split_with_sizes(x, lengths, dim); }
// `auto [head, tail] = split<2>(x, {1, 7}, -1);`: pieces of these lengths; of one length, the last may be shorter.
template <size_t N>
detail::TensorArray<N> split(const Tensor& x, std::initializer_list<int64_t> lengths, int64_t dim = 0) {
  return unpack<N>(split_with_sizes(x, lengths, dim), "split");
}
template <size_t N>
detail::TensorArray<N> split(const Tensor& x, Int length, int64_t dim = 0) {
  return unpack<N>(split(x, length, dim), "split");
}
// The N slices along `dim`: `auto [x, y, z] = unbind<3>(points, -1);`. An Error where there are more or fewer.
template <size_t N>
detail::TensorArray<N> unbind(const Tensor& x, int64_t dim = 0) {
  if (x.size(dim) != int64_t(N)) {
    fail(detail::joined({"unbind: dimension ", std::to_string(dim), " has ", std::to_string(x.size(dim)), " slices, expected ", std::to_string(N)}));
  }
  return unpack<N>(unbind(x, dim), "unbind");
}
// `auto [y, x] = meshgrid(rows, columns);`
inline detail::TensorArray<2> meshgrid(const Tensor& a, const Tensor& b, TextRef indexing = "ij") { return unpack<2>(meshgrid({a, b}, indexing), "meshgrid"); }
template <std::same_as<MeshgridOptions> O = MeshgridOptions>
detail::TensorArray<2> meshgrid(const Tensor& a, const Tensor& b, const O& options) { return meshgrid(a, b, options.indexing); }
inline detail::TensorArray<3> meshgrid(const Tensor& a, const Tensor& b, const Tensor& c, TextRef indexing = "ij") { return unpack<3>(meshgrid({a, b, c}, indexing), "meshgrid"); }
template <std::same_as<MeshgridOptions> O = MeshgridOptions>
detail::TensorArray<3> meshgrid(const Tensor& a, const Tensor& b, const Tensor& c, const O& options) { return meshgrid(a, b, c, options.indexing); }
// The indices of what is not 0, a tensor for each dimension. Waits for the device.
inline std::vector<Tensor> where(const Tensor& condition) { return unbind(nonzero(condition.dim() == 0 ? condition.reshape({1}) : condition), 1); }

template <size_t N>
detail::TensorArray<N> where(const Tensor& condition) { return unpack<N>(where(condition), "where"); }

// Each slice along `dim`, or each element in a row, as often as `repeats` says: for all of them, or int64 [n]. A list is waited for.
inline Tensor repeat_interleave(const Tensor& x, Int repeats, std::optional<Int> dim = {}) {
  if (!dim) return repeat_interleave(x.flatten(), repeats, 0);
  if (repeats < 0) fail(detail::joined({"repeat_interleave: repeats is ", std::to_string(repeats), ", expected 0 or more"}));
  const Tensor places = arange(0, x.size(*dim), 1, int64, x.device()).unsqueeze(1).expand({x.size(*dim), int64_t(repeats)}).flatten();
  return index_select(x, *dim, places);
}
inline Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<Int> dim = {}) {
  if (!dim) return repeat_interleave(x.flatten(), repeats, 0);
  if (repeats.dtype() != int64 && repeats.dtype() != int32) fail(detail::joined({"repeat_interleave: repeats is ", repeats.dtype().name(), ", expected int64 or int32"}));
  const std::vector<int64_t> counts = repeats.to_vector<int64_t>();
  if (repeats.dim() <= 1 && counts.size() == 1) return repeat_interleave(x, counts[0], dim);  // for all
  if (repeats.dim() != 1 || int64_t(counts.size()) != x.size(*dim)) {
    fail(detail::joined({"repeat_interleave: repeats has ", std::to_string(counts.size()), " elements, expected one dimension of ", std::to_string(x.size(*dim))}));
  }
  std::vector<int64_t> places;
  constexpr int64_t kMost = INT64_MAX / 16;
  int64_t left = kMost;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > left) fail(detail::joined({"repeat_interleave: repeats add up to more than ", std::to_string(kMost), ", which no memory holds"}));
    left -= counts[i];
    if (counts[i] < 0) fail(detail::joined({"repeat_interleave: repeats[", std::to_string(i), "] is ", std::to_string(counts[i]), ", expected 0 or more"}));
    places.insert(places.end(), size_t(counts[i]), int64_t(i));
  }
  return index_select(x, *dim, Tensor::from(places, -1, x.device()));
}

struct RepeatInterleaveOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
};
// Each place as often as repeats has it: 0 of [0, 2, 1] none, then 1, 1, 2.
inline Tensor repeat_interleave(const Tensor& repeats) { return repeat_interleave(arange(0, repeats.numel(), 1, int64, repeats.device()), repeats, 0); }
template <std::same_as<RepeatInterleaveOptions> O = RepeatInterleaveOptions>
Tensor repeat_interleave(const Tensor& x, Int repeats, const O& options) { return repeat_interleave(x, repeats, options.dim); }
template <std::same_as<RepeatInterleaveOptions> O = RepeatInterleaveOptions>
Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, const O& options) { return repeat_interleave(x, repeats, options.dim); }

// The distance of integers or bools as float64, which int64 does not hold where they are far apart: there it is too small by 2^64.
namespace detail {
inline Tensor distance_of_integers(const Tensor& x, const Tensor& y) {
  const Tensor distance = sub(maximum(x, y), minimum(x, y));
  return add(distance.to(float64), where(lt(distance, 0), 0x1p64, 0.0));
}
}  // namespace detail
// Whether x and y are within atol + rtol * |y| of each other, element by element, as bool; infinities are where they are equal. Distances
// of integers and bools are exact up to 2^53, and rounded beyond that.
inline Tensor isclose(const Tensor& x, const Tensor& y, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
  for (const auto& [name, value] : {std::pair{"rtol", rtol}, {"atol", atol}}) {
    if (!(value >= 0)) fail(detail::joined({"isclose: ", name, " is ", detail::number_text(value), ", expected a number of at least 0"}));
  }
  const auto wide = [](const Tensor& t) { return t.dtype().is_float() ? t : t.to(int64); };
  const Tensor of_x = wide(x), of_y = wide(y);
  const bool whole = of_x.dtype() == int64 && of_y.dtype() == int64;
  const Tensor apart = whole ? detail::distance_of_integers(of_x, of_y) : abs(sub(of_x, of_y)), same = eq(of_x, of_y);
  const Tensor size = abs(whole ? of_y.to(float64) : of_y);
  const Tensor close = logical_or(same, logical_and(isfinite(apart), le(apart, add(mul(size, rtol), atol))));
  return equal_nan ? logical_or(close, logical_and(isnan(x), isnan(y))) : close;
}
struct IscloseOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
template <std::same_as<IscloseOptions> O = IscloseOptions>
Tensor isclose(const Tensor& x, const Tensor& y, const O& options) { return isclose(x, y, options.rtol, options.atol, options.equal_nan); }
// Whether all are. Waits for the device.
inline bool allclose(const Tensor& x, const Tensor& y, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) { return all(isclose(x, y, rtol, atol, equal_nan)).item<bool>(); }
template <std::same_as<IscloseOptions> O = IscloseOptions>
bool allclose(const Tensor& x, const Tensor& y, const O& options) { return allclose(x, y, options.rtol, options.atol, options.equal_nan); }
// Whether the sizes are the same, and all elements. Waits for the device.
inline bool equal(const Tensor& x, const Tensor& y) { return x.sizes() == y.sizes() && all(eq(x, y)).item<bool>(); }
// src a number, in every place; reduce: "add" or "multiply".
inline Tensor scatter(const Tensor& x, Int dim, const Tensor& index, Number value) { return x.scatter(dim, index, value); }
inline Tensor scatter(const Tensor& x, Int dim, const Tensor& index, Operand src, TextRef reduce) { return x.scatter(dim, index, src, reduce); }

// How many elements of x lie between neighbouring ones of bins, which ascend, and bins itself. The last bin has its upper edge.
inline std::tuple<Tensor, Tensor> histogram(const Tensor& x, const Tensor& bins, const Tensor& weight = {}, bool density = false) {
  return {detail::call<Tensor>(detail::op<"_histogram">, {x, bins, weight, density}), bins};
}

// The sizes to which tensors of these sizes broadcast.
inline std::vector<int64_t> broadcast_shapes(std::initializer_list<Ints> shapes) {
  std::vector<int64_t> sizes;  // the last dimension first
  for (const Ints& shape : shapes) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t n = shape[shape.size() - 1 - i];
      if (n < 0) fail(detail::joined({"broadcast_shapes: a size is ", std::to_string(n), ", expected 0 or more"}));
      if (i == sizes.size()) sizes.push_back(1);
      if (sizes[i] == 1) sizes[i] = n;
      if (n == 1 || n == sizes[i]) continue;
      fail(detail::joined({"broadcast_shapes: ", std::to_string(n), " and ", std::to_string(sizes[i]), " meet in dimension -", std::to_string(i + 1), ", expected the same or 1"}));
    }
  }
  return {sizes.rbegin(), sizes.rend()};
}

inline bool Tensor::is_contiguous(TextRef memory_format) const {
  const std::string_view name = memory_format.c_str();
  if (name == "contiguous" || name == "preserve_format") return is_contiguous();
  if (name != "channels_last") fail(detail::joined({"is_contiguous: memory_format is '", name, "', expected 'contiguous' or 'channels_last'"}));
  if (dim() != 4 && dim() != 5) return false;
  return movedim(1, -1).is_contiguous();
}
inline Tensor narrow(const Tensor& x, Int dim, const Tensor& start, Int length) {
  if (start.dim() != 0 || start.dtype().is_float() || start.dtype() == bool_) fail(detail::joined({"narrow: start is ", detail::sizes_text(start.sizes()), " ", start.dtype().name(), ", expected an integer without dimensions"}));
  return narrow(x, dim, start.item<int64_t>(), length);
}
inline Tensor bernoulli(const Tensor& x, Float p) { return bernoulli_(empty_like(x), p); }
// With one number as the variance of all.
template <detail::NumberFor<double> N>
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, N var, const GaussianNllLossOptions& options = {}) { return gaussian_nll_loss(input, target, full_like(input, var), options); }
template <detail::NumberFor<double> N, typename... More>
requires(sizeof...(More) > 0) Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, N var, const More&... more) { return gaussian_nll_loss(input, target, full_like(input, var), more...); }
// x itself. Of bools PyTorch has none either.
inline Tensor positive(const Tensor& x) {
  if (x.dtype() == bool_) fail("positive: x is bool, expected numbers");
  return x;
}
// What complex numbers would have more of: all numbers here are real, and x is its own real part.
inline Tensor real(const Tensor& x) { return x; }
inline Tensor isreal(const Tensor& x) { return ones_like(x, bool_); }
// pi below 0, else 0, and NaN of NaN, without a slope. Integers become float32.
inline Tensor angle(const Tensor& x) {
  const Tensor of = x.dtype().is_float() ? x : x.to(float32);
  const Tensor half_turn = full({}, 3.141592653589793, of.dtype(), of.device());
  return where(isnan(of), mul(of, 0), where(lt(of, 0), half_turn, 0.0));
}
// The part of x that narrow() shows, in memory of its own.
inline Tensor narrow_copy(const Tensor& x, Int dim, Int start, Int length) { return narrow(x, dim, start, length).clone("contiguous"); }
// PyTorch's chunk and split whose pieces autograd takes for tensors of their own. Here all pieces may be changed in place.
inline std::vector<Tensor> unsafe_chunk(const Tensor& x, Int chunks, Int dim = 0) { return chunk(x, chunks, dim); }
inline std::vector<Tensor> unsafe_split(const Tensor& x, Int length, Int dim = 0) { return split(x, length, dim); }
inline std::vector<Tensor> unsafe_split_with_sizes(const Tensor& x, Ints lengths, Int dim = 0) { return split_with_sizes(x, lengths, dim); }
// Elementwise, as PyTorch's max and min of two tensors.
inline Tensor max(const Tensor& x, const Tensor& y) { return maximum(x, y); }
inline Tensor min(const Tensor& x, const Tensor& y) { return minimum(x, y); }

}  // namespace v0
}  // namespace tenon
