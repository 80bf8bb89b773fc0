// What is written by hand beside the headers that are generated: overloads, and methods of Tensor
// that are more than a call of their op.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Overloads: an argument that most calls leave out chooses an op of its own, so that those stay as
// fast as they are.
// x + alpha * y, x - alpha * y
inline Tensor add(Operand x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_add_scaled">, x, y, alpha); }
inline Tensor sub(Operand x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_sub_scaled">, x, y, alpha); }
inline Tensor add_(const Tensor& x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_add_scaled_">, x, y, alpha); }
inline Tensor sub_(const Tensor& x, Operand y, Number alpha) { return detail::call<Tensor>(detail::op<"_sub_scaled_">, x, y, alpha); }
// Bounds that are tensors, or none.
inline Tensor clamp(const Tensor& x, const Tensor& min, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_to_tensors">, x, min, max); }
inline Tensor clamp_min(const Tensor& x, const Tensor& min) { return detail::call<Tensor>(detail::op<"_clamp_min_to_tensor">, x, min); }
inline Tensor clamp_max(const Tensor& x, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_max_to_tensor">, x, max); }
inline Tensor clamp(const Tensor& x, Number min, None = none) { return clamp_min(x, min); }
inline Tensor clamp(const Tensor& x, None, Number max) { return clamp_max(x, max); }
inline Tensor clamp(const Tensor& x, const Tensor& min, None = none) { return clamp_min(x, min); }
inline Tensor clamp(const Tensor& x, None, const Tensor& max) { return clamp_max(x, max); }
inline Tensor clamp_(const Tensor& x, const Tensor& min, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_to_tensors_">, x, min, max); }
inline Tensor clamp_min_(const Tensor& x, const Tensor& min) { return detail::call<Tensor>(detail::op<"_clamp_min_to_tensor_">, x, min); }
inline Tensor clamp_max_(const Tensor& x, const Tensor& max) { return detail::call<Tensor>(detail::op<"_clamp_max_to_tensor_">, x, max); }
inline Tensor clamp_(const Tensor& x, Number min, None = none) { return clamp_min_(x, min); }
inline Tensor clamp_(const Tensor& x, None, Number max) { return clamp_max_(x, max); }
inline Tensor clamp_(const Tensor& x, const Tensor& min, None = none) { return clamp_min_(x, min); }
inline Tensor clamp_(const Tensor& x, None, const Tensor& max) { return clamp_max_(x, max); }

namespace detail {
inline Tensor truncated_quotient(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_quotient">, x, y); }
inline Tensor truncated_int_quotient(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_int_quotient">, x, y); }
inline Tensor truncated_quotient_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_quotient_">, x, y); }
inline Tensor truncated_int_quotient_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"_truncated_int_quotient_">, x, y); }
inline bool is_float(const Operand& x) { return x.is_tensor() ? x.tensor().dtype().is_float() : x.value().kind == TN_KIND_FLOAT; }
[[noreturn, gnu::cold, gnu::noinline]] inline void wrong_rounding_mode(std::string_view mode) {
  fail(joined({"div: rounding_mode is '", mode, "'; expected 'trunc', 'floor' or none"}));
}
}  // namespace detail
// The quotient rounded: "trunc" towards zero, "floor" downwards. Integers stay integers.
inline Tensor div(Operand x, Operand y, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div(x, y);
  if (*rounding_mode == "floor") return floor_divide(x, y);
  if (*rounding_mode != "trunc") detail::wrong_rounding_mode(*rounding_mode);
  return detail::is_float(x) || detail::is_float(y) ? detail::truncated_quotient(x, y) : detail::truncated_int_quotient(x, y);
}
inline Tensor div_(const Tensor& x, Operand y, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div_(x, y);
  if (*rounding_mode == "floor") return floor_divide_(x, y);
  if (*rounding_mode != "trunc") detail::wrong_rounding_mode(*rounding_mode);
  return detail::is_float(x) || detail::is_float(y) ? detail::truncated_quotient_(x, y) : detail::truncated_int_quotient_(x, y);
}

// Not initialized; straight from the allocator, without a call of an op.
inline Tensor empty(Ints sizes, Dtype dtype = float32, Device device = {}) { return Tensor::empty(sizes, dtype, device); }
// 0, 1, .. end - 1.
inline Tensor arange(Number end) { return arange(0, end); }
// 0 to high - 1. (Of three arguments the last has the type Dtype: braces are the sizes of the other randint.)
inline Tensor randint(Int high, Ints sizes) { return randint(0, high, sizes); }
template <std::same_as<Dtype> D>
Tensor randint(Int high, Ints sizes, D dtype) { return randint(0, high, sizes, dtype); }
inline Tensor randint(Int high, Ints sizes, Dtype dtype, Device device) { return randint(0, high, sizes, dtype, device); }
// The largest and the smallest of all elements.
inline Tensor max(const Tensor& x) { return amax(x); }
inline Tensor min(const Tensor& x) { return amin(x); }

// N equal pieces: `auto [a, b] = chunk<2>(x, -1);`. An Error when `dim` cannot be split so.
template <size_t N>
std::array<Tensor, N> chunk(const Tensor& x, int64_t dim = 0) {
  int64_t size = x.size(dim);
  if (size % int64_t(N) != 0) {
    fail(detail::joined({"chunk: dimension ", std::to_string(dim), " of size ", std::to_string(size), " is not divisible by ", std::to_string(N)}));
  }
  std::array<Tensor, N> pieces;
  for (size_t i = 0; i < N; ++i) pieces[i] = narrow(x, dim, int64_t(i) * (size / int64_t(N)), size / int64_t(N));
  return pieces;
}

// Methods of Tensor that are more than a call of their op.
inline Tensor Tensor::contiguous() const { return is_contiguous() ? *this : tenon::contiguous(*this); }
inline Tensor Tensor::contiguous(const char* memory_format) const { return tenon::contiguous(*this, memory_format); }
inline Tensor Tensor::max() const { return tenon::max(*this); }
inline Tensor Tensor::min() const { return tenon::min(*this); }
inline const Tensor& Tensor::zero_() const { tenon::fill_(*this, 0); return *this; }
inline const Tensor& Tensor::fill_(Number value) const { tenon::fill_(*this, value); return *this; }
inline const Tensor& Tensor::operator+=(Operand y) const { add_(*this, y); return *this; }
inline const Tensor& Tensor::operator-=(Operand y) const { sub_(*this, y); return *this; }
inline const Tensor& Tensor::operator*=(Operand y) const { mul_(*this, y); return *this; }
inline const Tensor& Tensor::operator/=(Operand y) const { div_(*this, y); return *this; }
inline const Tensor& Tensor::operator%=(Operand y) const { remainder_(*this, y); return *this; }
inline const Tensor& Tensor::operator&=(Operand y) const { bitwise_and_(*this, y); return *this; }
inline const Tensor& Tensor::operator|=(Operand y) const { bitwise_or_(*this, y); return *this; }
inline const Tensor& Tensor::operator^=(Operand y) const { bitwise_xor_(*this, y); return *this; }

}  // namespace v0
}  // namespace tenon
