// Views and joins. Views share memory with their tensor; a negative dimension counts from the end.
// Each line of an op agrees with its schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor reshape(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"reshape">, x, sizes); }  // copies when it must
inline Tensor view(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"view">, x, sizes); }  // an Error instead
inline Tensor permute(const Tensor& x, Ints dims) { return detail::call<Tensor>(detail::op<"permute">, x, dims); }
inline Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) { return detail::call<Tensor>(detail::op<"transpose">, x, dim0, dim1); }
inline Tensor t(const Tensor& x) { return detail::call<Tensor>(detail::op<"t">, x); }
inline Tensor slice(const Tensor& x, int64_t dim, int64_t start = 0, int64_t end = INT64_MAX, int64_t step = 1) { return detail::call<Tensor>(detail::op<"slice">, x, dim, start, end, step); }
inline Tensor select(const Tensor& x, int64_t dim, int64_t index) { return detail::call<Tensor>(detail::op<"select">, x, dim, index); }
inline Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) { return detail::call<Tensor>(detail::op<"narrow">, x, dim, start, length); }
inline Tensor expand(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"expand">, x, sizes); }
inline Tensor squeeze(const Tensor& x, Ints dims = {}) { return detail::call<Tensor>(detail::op<"squeeze">, x, dims); }  // empty: all of size 1
inline Tensor unsqueeze(const Tensor& x, int64_t dim) { return detail::call<Tensor>(detail::op<"unsqueeze">, x, dim); }
inline Tensor flatten(const Tensor& x, int64_t start_dim = 0, int64_t end_dim = -1) { return detail::call<Tensor>(detail::op<"flatten">, x, start_dim, end_dim); }
inline Tensor as_strided(const Tensor& x, Ints sizes, Ints strides, int64_t offset = 0) { return detail::call<Tensor>(detail::op<"as_strided">, x, sizes, strides, offset); }

// A new tensor.
inline Tensor cat(const Tensors& xs, int64_t dim = 0) { return detail::call<Tensor>(detail::op<"cat">, xs, dim); }
inline Tensor clone(const Tensor& x) { return detail::call<Tensor>(detail::op<"clone">, x); }

// Views side by side along `dim`: pieces of `length` (the last may be shorter), or at most `chunks` even ones.
inline std::vector<Tensor> split(const Tensor& x, int64_t length, int64_t dim = 0) {
  if (length <= 0) fail("split: length is " + std::to_string(length) + ", at least 1 is needed");
  std::vector<Tensor> pieces;
  int64_t size = x.size(dim);
  for (int64_t i = 0; i < size; i += length) {
    pieces.push_back(narrow(x, dim, i, i + length < size ? length : size - i));
  }
  return pieces;
}
inline std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim = 0) {
  if (chunks <= 0) fail("chunk: chunks is " + std::to_string(chunks) + ", at least 1 is needed");
  int64_t size = x.size(dim);
  return split(x, size <= chunks ? 1 : (size + chunks - 1) / chunks, dim);
}
// N equal pieces: `auto [a, b] = chunk<2>(x, -1);`. An Error when `dim` cannot be split so.
template <size_t N>
std::array<Tensor, N> chunk(const Tensor& x, int64_t dim = 0) {
  int64_t size = x.size(dim);
  if (size % int64_t(N) != 0) {
    fail("chunk: dimension " + std::to_string(dim) + " of size " + std::to_string(size) + " is not divisible by " + std::to_string(N));
  }
  std::array<Tensor, N> pieces;
  for (size_t i = 0; i < N; ++i) pieces[i] = narrow(x, dim, int64_t(i) * (size / int64_t(N)), size / int64_t(N));
  return pieces;
}

}  // namespace v0
}  // namespace tenon
