// Values of any float dtype, computed with in float or double: for kernels of losses, products and
// optimizers.
#pragma once

#include <cstdint>

#include "vector/table.h"

namespace tenon::cpu_backend {

// Elements between memory of a float dtype and T, one to n.
template <typename T>
constexpr RegisterType kRegister = sizeof(T) == 8 ? kF64 : kF32;
template <typename T>
void widen(T* to, const void* from, tn_dtype dtype, int64_t n) {
  const Cell cells[] = {{reinterpret_cast<char*>(to)},
                        {static_cast<char*>(const_cast<void*>(from))}};
  const Step step = {table().load[dtype][kRegister<T>], 0, 1, 0, 0};
  step.fn(cells, step, n);
}
template <typename T>
void narrow(void* to, const T* from, tn_dtype dtype, int64_t n) {
  const Cell cells[] = {{static_cast<char*>(to)}, {reinterpret_cast<char*>(const_cast<T*>(from))}};
  const Step step = {table().store[kRegister<T>][dtype], 0, 1, 0, 0};
  step.fn(cells, step, n);
}

}  // namespace tenon::cpu_backend
