// Conversions between dtypes.
#include <cstring>
#include <type_traits>

#include "kernel.h"

namespace ref {

// Toward zero. What does not fit (NaN too) is undefined in C++; here it is what x86 gives.
static int64_t truncate(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MIN;
}

template <class T>
static T narrow(Register value, tn_dtype from) {
  if (from == TN_INT64 || from == TN_BOOL) return static_cast<T>(value.i);
  const double wide = from == TN_FLOAT32 ? value.f : value.d;
  const bool whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  return whole ? static_cast<T>(truncate(wide)) : static_cast<T>(wide);
}

template <class T>
static Register widen(T value) {
  if constexpr (std::is_same_v<T, double>) return {.d = value};
  if constexpr (std::is_integral_v<T>) return {.i = value};
  return {.f = static_cast<float>(value)};
}

Register cast(Register value, tn_dtype from, tn_dtype to) {
  return with_type(to, [&](auto t) { return widen(narrow<decltype(t)>(value, from)); });
}

Register View::load(tn_dtype type) const {
  const Register value = with_type(dtype, [&](auto x) {
    // A bool that is neither 0 nor 1 (poison) is no bool to C++.
    if constexpr (std::is_same_v<decltype(x), bool>) return widen(*at != 0);
    std::memcpy(&x, at, sizeof(x));
    return widen(x);
  });
  return cast(value, register_type(dtype), type);
}

void View::store(Register value, tn_dtype type) const {
  with_type(dtype, [&](auto t) {
    t = narrow<decltype(t)>(value, type);
    std::memcpy(at, &t, sizeof(t));
  });
}

}  // namespace ref
