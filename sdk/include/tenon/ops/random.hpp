// Random tensors, the same on every backend for one seed (random.hpp). dtype none: float32. Each
// line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// [0, 1)
inline Tensor rand(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"rand">, sizes, dtype, device); }
inline Tensor randn(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randn">, sizes, dtype, device); }
// [low, high)
inline Tensor uniform(Ints sizes, double low = 0, double high = 1, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"uniform">, sizes, low, high, dtype, device); }
// Of x's sizes and device, and dtype unless said.
inline Tensor rand_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"rand_like">, x, dtype); }
inline Tensor randn_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"randn_like">, x, dtype); }
// Whole numbers from low to high - 1; dtype none: int64.
inline Tensor randint(int64_t low, int64_t high, Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randint">, low, high, sizes, dtype, device); }
inline Tensor randint_like(const Tensor& x, int64_t low, int64_t high, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"randint_like">, x, low, high, dtype); }
// 0 to n - 1 in any order; dtype none: int64.
inline Tensor randperm(int64_t n, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randperm">, n, dtype, device); }
// Indices of x [n] or [rows, n], whose elements are weights: int64 [num_samples] or [rows,
// num_samples].
inline Tensor multinomial(const Tensor& x, int64_t num_samples, bool replacement = false) { return detail::call<Tensor>(detail::op<"multinomial">, x, num_samples, replacement); }
// In place, in [from, to); normal; 1 with probability p, else 0.
inline Tensor uniform_(const Tensor& x, double from = 0, double to = 1) { return detail::call<Tensor>(detail::op<"uniform_">, x, from, to); }
inline Tensor normal_(const Tensor& x, double mean = 0, double std = 1) { return detail::call<Tensor>(detail::op<"normal_">, x, mean, std); }
inline Tensor bernoulli_(const Tensor& x, double p = 0.5) { return detail::call<Tensor>(detail::op<"bernoulli_">, x, p); }
// 1 with probability p, else 0
inline Tensor bernoulli(const Tensor& p) { return detail::call<Tensor>(detail::op<"bernoulli">, p); }
// Zeroes elements with probability p and scales the others by 1 / (1 - p); x itself when not
// training.
inline Tensor dropout(const Tensor& x, double p = 0.5, bool training = true) { return detail::call<Tensor>(detail::op<"dropout">, x, p, training); }

// 0 to high - 1.
inline Tensor randint(int64_t high, Ints sizes, Dtype dtype = {}, Device device = {}) { return randint(0, high, sizes, dtype, device); }

}  // namespace v0
}  // namespace tenon
