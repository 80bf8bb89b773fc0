// Normalizations. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor softmax(const Tensor& x, int64_t dim = -1) { return detail::call<Tensor>(detail::op<"softmax">, x, dim); }
inline Tensor log_softmax(const Tensor& x, int64_t dim = -1) { return detail::call<Tensor>(detail::op<"log_softmax">, x, dim); }
// x / sqrt(mean(x²) + eps) over the last dimension, times weight. Zhang & Sennrich, arXiv:1910.07467.
inline Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-6) { return detail::call<Tensor>(detail::op<"rms_norm">, x, weight, eps); }

}  // namespace v0
}  // namespace tenon
