// Rows of a large table: added to each other, and asked for before that.
#pragma once

#include <cstdint>

namespace tenon::cpu_backend {

// x += scale * row. Eight at a time, which compilers of all levels make vectors of.
template <typename T>
void add_row(T* __restrict x, const T* __restrict row, int64_t n, T scale) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int64_t k = i; k < i + 8; ++k) {
      x[k] += scale * row[k];
    }
  }
  for (; i < n; ++i) {
    x[i] += scale * row[i];
  }
}

template <bool kToWrite, typename T>
void ask_for_row(const T* row, int64_t n) {
  const char* const bytes = reinterpret_cast<const char*>(row);
  for (int64_t at = 0; at < n * static_cast<int64_t>(sizeof(T)); at += 64) {
    __builtin_prefetch(bytes + at, kToWrite);
  }
}

}  // namespace tenon::cpu_backend
