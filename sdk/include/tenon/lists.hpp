// Borrowed lists of numbers for arguments (`{2, 3}`, a vector, one number), and the reading of
// single elements of any dtype.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/dtype.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// A list of T for the length of a call. It borrows what it was made from: never keep one. 16 bytes,
// so that it goes in registers.
template <typename T>
class List {
 public:
  constexpr List() : list_(nullptr) {}
  constexpr List(T one) : one_(one), size_(1), is_one_(true) {}
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // a List ends before what it borrows
#endif
  constexpr List(std::initializer_list<T> list)
      : list_(list.begin()), size_(uint32_t(list.size())) {}
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  List(const std::vector<T>& list) : list_(list.data()), size_(uint32_t(list.size())) {}
  constexpr List(std::span<const T> list) : list_(list.data()), size_(uint32_t(list.size())) {}
  constexpr List(const T* data, size_t size) : list_(data), size_(uint32_t(size)) {}

  constexpr const T* data() const { return is_one_ ? &one_ : list_; }
  constexpr uint32_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data(); }
  constexpr const T* end() const { return data() + size_; }
  constexpr T operator[](size_t i) const { return data()[i]; }

 private:
  union {
    const T* list_;
    T one_;
  };
  uint32_t size_ = 0;
  bool is_one_ = false;
};
using Ints = List<int64_t>;
using Floats = List<double>;

namespace detail {

inline float half_to_float(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16;
  uint32_t exponent = h >> 10 & 31, mantissa = h & 1023;
  float value;
  if (exponent == 0) {
    value = float(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  uint32_t bits = sign | mantissa << 13 | (exponent == 31 ? 255u << 23 : (exponent + 112) << 23);
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float bfloat_to_float(uint16_t h) {
  uint32_t bits = uint32_t(h) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Element i of packed elements of `dtype`.
template <typename T>
T element(const void* elements, int64_t i, Dtype dtype) {
  auto load = [&](auto value) {
    std::memcpy(&value, static_cast<const char*>(elements) + i * int64_t(sizeof(value)),
                sizeof(value));
    return value;
  };
  switch (dtype.value) {
    case TN_FLOAT32:
      return T(load(float()));
    case TN_FLOAT64:
      return T(load(double()));
    case TN_FLOAT16:
      return T(half_to_float(load(uint16_t())));
    case TN_BFLOAT16:
      return T(bfloat_to_float(load(uint16_t())));
    case TN_INT64:
      return T(load(int64_t()));
    case TN_INT32:
      return T(load(int32_t()));
    case TN_UINT8:
    case TN_BOOL:
      return T(load(uint8_t()));
    default:
      fail("elements of this dtype cannot be read", TN_UNSUPPORTED);
  }
}

}  // namespace detail

}  // namespace v0
}  // namespace tenon
