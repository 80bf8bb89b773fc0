// The group 'random' of the plugin 'ops', written by `tenon header`: changes belong into the
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

// Uniform in [0, 1). dtype None: float32; device None: the CPU. The same on every device for one
// seed.
inline Tensor rand(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"rand">, sizes, dtype, device); }
// rand of the sizes and device of x, and of its dtype unless said.
inline Tensor rand_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"rand_like">, x, dtype); }
// Normal with mean 0 and variance 1. dtype None: float32; device None: the CPU. The same on every
// device for one seed.
inline Tensor randn(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randn">, sizes, dtype, device); }
// randn of the sizes and device of x, and of its dtype unless said.
inline Tensor randn_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"randn_like">, x, dtype); }
// Whole numbers from low to high - 1. dtype None: int64; device None: the CPU.
inline Tensor randint(Int low, Int high, Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randint">, low, high, sizes, dtype, device); }
// randint of the sizes and device of x, and of its dtype unless said.
inline Tensor randint_like(const Tensor& x, Int low, Int high, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"randint_like">, x, low, high, dtype); }
// 0 to n - 1 in any order. dtype None: int64; device None: the CPU.
inline Tensor randperm(Int n, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randperm">, n, dtype, device); }
// Indices of x [n] or [rows, n], whose elements are weights: int64 [num_samples] or [rows,
// num_samples].
inline Tensor multinomial(const Tensor& x, Int num_samples, bool replacement = false) { return detail::call<Tensor>(detail::op<"multinomial">, x, num_samples, replacement); }
// Uniform in [low, high). dtype None: float32; device None: the CPU.
inline Tensor uniform(Ints sizes, Float low = 0.0, Float high = 1.0, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"uniform">, sizes, low, high, dtype, device); }
// Writes numbers that are uniform in [from, to) to x.
inline Tensor uniform_(const Tensor& x, Float from = 0.0, Float to = 1.0) { return detail::call<Tensor>(detail::op<"uniform_">, x, from, to); }
// Writes normal numbers of this mean and standard deviation to x.
inline Tensor normal_(const Tensor& x, Float mean = 0.0, Float std = 1.0) { return detail::call<Tensor>(detail::op<"normal_">, x, mean, std); }
// Writes 1 with probability p, else 0, to x.
inline Tensor bernoulli_(const Tensor& x, Float p = 0.5) { return detail::call<Tensor>(detail::op<"bernoulli_">, x, p); }
// 1 with the probability that p says element by element, else 0.
inline Tensor bernoulli(const Tensor& p) { return detail::call<Tensor>(detail::op<"bernoulli">, p); }
// Zero with probability p, the others times 1 / (1 - p); x itself when not training. Srivastava et
// al., 2014.
inline Tensor dropout(const Tensor& x, Float p = 0.5, bool training = true) { return detail::call<Tensor>(detail::op<"dropout">, x, p, training); }

}  // namespace v0
}  // namespace tenon
