// What is written by hand beside the headers that are generated: overloads, and methods of Tensor
// that are more than a call of their op.
#pragma once

#include <array>
#include <concepts>
#include <string>

#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

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
