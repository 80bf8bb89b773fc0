// Copies of rows of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenon::cpu_backend {

// n bytes to where no byte of `from` is. As memcpy, which the C library makes one instruction (rep movsb)
// of for a row of more than 2 KiB: on AMD's processors that takes ten times as long where `to` lies 1 to
// 63 bytes behind `from` within their pages (docs/benchmarks.md). Such a row is copied in pieces.
inline void copy_bytes(void* to, const void* from, size_t n) {
  if (n == 0) return;  // then either may be null
  constexpr size_t kPage = 4096, kPiece = 2048, kLine = 64;
  auto* y = static_cast<char*>(to);
  const auto* x = static_cast<const char*>(from);
  const size_t behind = (reinterpret_cast<uintptr_t>(y) - reinterpret_cast<uintptr_t>(x)) % kPage;
  if (n > kPiece && behind > 0 && behind < kLine) {
    for (; n > kPiece; n -= kPiece, y += kPiece, x += kPiece) std::memcpy(y, x, kPiece);
  }
  std::memcpy(y, x, n);
}

}  // namespace tenon::cpu_backend
