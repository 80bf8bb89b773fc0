// Random tensors, the same on every backend for one seed (random.hpp). dtype none: float32. Each
// line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor rand(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"rand">, sizes, dtype, device); }  // [0, 1)
inline Tensor randn(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randn">, sizes, dtype, device); }
inline Tensor uniform(Ints sizes, double low = 0, double high = 1, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"uniform">, sizes, low, high, dtype, device); }  // [low, high)
inline Tensor bernoulli(const Tensor& p) { return detail::call<Tensor>(detail::op<"bernoulli">, p); }  // 1 with probability p, else 0
// Zeroes elements with probability p and scales the others by 1 / (1 - p); x itself when not training.
inline Tensor dropout(const Tensor& x, double p = 0.5, bool training = true) { return detail::call<Tensor>(detail::op<"dropout">, x, p, training); }

}  // namespace v0
}  // namespace tenon
