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
inline Tensor sum(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"sum">, x, dims, keepdim, dtype); }
// The mean over dims, or over all where dims is empty. Of integers and bool it is float32; with a
// dtype: of x as that dtype.
inline Tensor mean(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"mean">, x, dims, keepdim, dtype); }
// The product over dims, or over all where dims is empty. Of integers and bool it is int64; with a
// dtype: of x as that dtype.
inline Tensor prod(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"prod">, x, dims, keepdim, dtype); }
// The largest value over dims, or over all where dims is empty. Equal ones share the gradient
// evenly.
inline Tensor amax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"amax">, x, dims, keepdim); }
// The smallest value over dims, or over all where dims is empty. Equal ones share the gradient
// evenly.
inline Tensor amin(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"amin">, x, dims, keepdim); }
// The largest values along dim and their indices (int64), the first among equals, which gets the
// gradient.
inline std::tuple<Tensor, Tensor> max(const Tensor& x, Int dim, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"max">, x, dim, keepdim); }
// The smallest values along dim and their indices (int64), the first among equals, which gets the
// gradient.
inline std::tuple<Tensor, Tensor> min(const Tensor& x, Int dim, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"min">, x, dim, keepdim); }
// The int64 index of the largest value, the first among equals, flat over dims, or over all where
// dims is empty.
inline Tensor argmax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmax">, x, dims, keepdim); }
// The int64 index of the smallest value, the first among equals, flat over dims, or over all where
// dims is empty.
inline Tensor argmin(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmin">, x, dims, keepdim); }
// The variance over dims, or over all where dims is empty: squared distances from the mean, summed
// and divided by n - correction.
inline Tensor var(const Tensor& x, Ints dims = {}, Int correction = 1, bool keepdim = false) { return detail::call<Tensor>(detail::op<"var">, x, dims, correction, keepdim); }
// The square root of var(x, dims, correction, keepdim).
inline Tensor std(const Tensor& x, Ints dims = {}, Int correction = 1, bool keepdim = false) { return detail::call<Tensor>(detail::op<"std">, x, dims, correction, keepdim); }
// var(x, dims, correction, keepdim) and the mean over the same dimensions.
struct VarMeanOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dims = {};
  Int correction = 1;
  bool keepdim = false;
};
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& x, const VarMeanOptions& options = {}) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"var_mean">, x, options.dims, options.correction, options.keepdim); }
// (sum |x|^p)^(1/p) over dims, or over all where dims is empty. Infinity: the largest |x|; 0: how
// many are not 0. With a dtype: of x as that dtype.
inline Tensor norm(const Tensor& x, Float p = 2.0, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"norm">, x, p, dims, keepdim, dtype); }
// log(sum exp(x)) over dims, computed so that no exponential overflows.
inline Tensor logsumexp(const Tensor& x, Ints dims, bool keepdim = false) { return detail::call<Tensor>(detail::op<"logsumexp">, x, dims, keepdim); }
// Whether all elements over dims, or over all where dims is empty, are not 0. NaN is not 0.
inline Tensor all(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"all">, x, dims, keepdim); }
// Whether any element over dims, or over all where dims is empty, is not 0. NaN is not 0.
inline Tensor any(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"any">, x, dims, keepdim); }
// How many elements over dims, or over all where dims is empty, are not 0, as int64.
inline Tensor count_nonzero(const Tensor& x, Ints dims = {}) { return detail::call<Tensor>(detail::op<"count_nonzero">, x, dims); }
// The sums of the elements up to each one along dim, itself included. Of integers and bool they are
// int64; with a dtype: of x as that dtype.
inline Tensor cumsum(const Tensor& x, Int dim, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"cumsum">, x, dim, dtype); }
// The products of the elements up to each one along dim, itself included. Of integers and bool they
// are int64; with a dtype: of x as that dtype.
inline Tensor cumprod(const Tensor& x, Int dim, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"cumprod">, x, dim, dtype); }
// The values along dim in order, and their indices (int64). Equal ones stay as they came; NaN is
// the greatest.
inline std::tuple<Tensor, Tensor> sort(const Tensor& x, Int dim = -1, bool descending = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"sort">, x, dim, descending); }
// The indices of sort(x, dim, descending).
inline Tensor argsort(const Tensor& x, Int dim = -1, bool descending = false) { return detail::call<Tensor>(detail::op<"argsort">, x, dim, descending); }
// The k largest or smallest values along dim, in order, and their indices (int64). They come sorted
// whatever `sorted` says.
inline std::tuple<Tensor, Tensor> topk(const Tensor& x, Int k, Int dim = -1, bool largest = true, bool sorted = true) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"topk">, x, k, dim, largest, sorted); }

}  // namespace v0
}  // namespace tenon
