// Reductions. dims empty: all; negative ones count from the end; keepdim leaves reduced dimensions
// with size 1. Each line agrees with its op's schema.
#pragma once

#include <tuple>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Integers and bool sum in int64; `mean` of them is float32. With a dtype: of x as that dtype.
inline Tensor sum(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"sum">, x, dims, keepdim, dtype); }
inline Tensor mean(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"mean">, x, dims, keepdim, dtype); }
inline Tensor prod(const Tensor& x, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"prod">, x, dims, keepdim, dtype); }
// The largest and smallest value; their gradient is shared evenly by equal ones.
inline Tensor amax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"amax">, x, dims, keepdim); }
inline Tensor amin(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"amin">, x, dims, keepdim); }
// The int64 index of the largest or smallest value, the first among equals, flat over `dims`.
inline Tensor argmax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmax">, x, dims, keepdim); }
inline Tensor argmin(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmin">, x, dims, keepdim); }
// Values and their indices along a dimension: `auto [values, indices] = max(x, 1);`. The gradient
// goes to that element.
inline std::tuple<Tensor, Tensor> max(const Tensor& x, int64_t dim, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"max">, x, dim, keepdim); }
inline std::tuple<Tensor, Tensor> min(const Tensor& x, int64_t dim, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"min">, x, dim, keepdim); }
// Over all elements.
inline Tensor max(const Tensor& x) { return amax(x); }
inline Tensor min(const Tensor& x) { return amin(x); }
// Divided by n - correction.
inline Tensor var(const Tensor& x, Ints dims = {}, int64_t correction = 1, bool keepdim = false) { return detail::call<Tensor>(detail::op<"var">, x, dims, correction, keepdim); }
inline Tensor std(const Tensor& x, Ints dims = {}, int64_t correction = 1, bool keepdim = false) { return detail::call<Tensor>(detail::op<"std">, x, dims, correction, keepdim); }
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& x, Ints dims = {}, int64_t correction = 1, bool keepdim = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"var_mean">, x, dims, correction, keepdim); }
// (sum |x|^p)^(1/p); infinity: the largest |x|; 0: how many are not 0.
inline Tensor norm(const Tensor& x, double p = 2, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"norm">, x, p, dims, keepdim); }
inline Tensor logsumexp(const Tensor& x, Ints dims, bool keepdim = false) { return detail::call<Tensor>(detail::op<"logsumexp">, x, dims, keepdim); }
// Are all, or is any, of the elements not 0? NaN is not 0.
inline Tensor all(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"all">, x, dims, keepdim); }
inline Tensor any(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"any">, x, dims, keepdim); }
inline Tensor count_nonzero(const Tensor& x, Ints dims = {}) { return detail::call<Tensor>(detail::op<"count_nonzero">, x, dims); }

// Along a dimension: sums and products up to each element; values in order, equal ones as they
// came, NaN the greatest.
inline Tensor cumsum(const Tensor& x, int64_t dim) { return detail::call<Tensor>(detail::op<"cumsum">, x, dim); }
inline Tensor cumprod(const Tensor& x, int64_t dim) { return detail::call<Tensor>(detail::op<"cumprod">, x, dim); }
inline std::tuple<Tensor, Tensor> sort(const Tensor& x, int64_t dim = -1, bool descending = false) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"sort">, x, dim, descending); }
inline Tensor argsort(const Tensor& x, int64_t dim = -1, bool descending = false) { return detail::call<Tensor>(detail::op<"argsort">, x, dim, descending); }
// The k largest or smallest. They always come sorted.
inline std::tuple<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"topk">, x, k, dim, largest, sorted); }

}  // namespace v0
}  // namespace tenon
