// Views and joins. Views share memory with their tensor; a negative dimension counts from the end.
// Each line of an op agrees with its schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// copies when it must
inline Tensor reshape(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"reshape">, x, sizes); }
// an Error instead
inline Tensor view(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"view">, x, sizes); }
inline Tensor permute(const Tensor& x, Ints dims) { return detail::call<Tensor>(detail::op<"permute">, x, dims); }
inline Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) { return detail::call<Tensor>(detail::op<"transpose">, x, dim0, dim1); }
inline Tensor t(const Tensor& x) { return detail::call<Tensor>(detail::op<"t">, x); }
inline Tensor slice(const Tensor& x, int64_t dim, int64_t start = 0, int64_t end = INT64_MAX, int64_t step = 1) { return detail::call<Tensor>(detail::op<"slice">, x, dim, start, end, step); }
inline Tensor select(const Tensor& x, int64_t dim, int64_t index) { return detail::call<Tensor>(detail::op<"select">, x, dim, index); }
inline Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) { return detail::call<Tensor>(detail::op<"narrow">, x, dim, start, length); }
inline Tensor expand(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"expand">, x, sizes); }
// empty: all of size 1
inline Tensor squeeze(const Tensor& x, Ints dims = {}) { return detail::call<Tensor>(detail::op<"squeeze">, x, dims); }
inline Tensor unsqueeze(const Tensor& x, int64_t dim) { return detail::call<Tensor>(detail::op<"unsqueeze">, x, dim); }
inline Tensor flatten(const Tensor& x, int64_t start_dim = 0, int64_t end_dim = -1) { return detail::call<Tensor>(detail::op<"flatten">, x, start_dim, end_dim); }
inline Tensor as_strided(const Tensor& x, Ints sizes, Ints strides, int64_t offset = 0) { return detail::call<Tensor>(detail::op<"as_strided">, x, sizes, strides, offset); }
inline Tensor movedim(const Tensor& x, Ints source, Ints destination) { return detail::call<Tensor>(detail::op<"movedim">, x, source, destination); }
inline Tensor unflatten(const Tensor& x, int64_t dim, Ints sizes) { return detail::call<Tensor>(detail::op<"unflatten">, x, dim, sizes); }
// Windows of `size` elements along dim, a `step` apart, in a new last dimension.
inline Tensor unfold(const Tensor& x, int64_t dim, int64_t size, int64_t step) { return detail::call<Tensor>(detail::op<"unfold">, x, dim, size, step); }
inline Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) { return detail::call<Tensor>(detail::op<"diagonal">, x, offset, dim1, dim2); }
inline Tensor broadcast_to(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"broadcast_to">, x, sizes); }
// x itself where it is so already. memory_format: "contiguous", or "channels_last", in which
// dimension 1 lies innermost.
inline Tensor contiguous(const Tensor& x, const char* memory_format = "contiguous") { return detail::call<Tensor>(detail::op<"contiguous">, x, memory_format); }
// Views side by side along `dim`: pieces of `length` (the last may be shorter), of each length, or
// at most `chunks` even ones.
inline std::vector<Tensor> split(const Tensor& x, int64_t length, int64_t dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"split">, x, length, dim); }
inline std::vector<Tensor> split_with_sizes(const Tensor& x, Ints lengths, int64_t dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"split_with_sizes">, x, lengths, dim); }
inline std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"chunk">, x, chunks, dim); }
// Each x [n_i] spread over all sizes [n_0, n_1, ..]; "xy": the first two swapped.
inline std::vector<Tensor> meshgrid(const Tensors& xs, const char* indexing = "ij") { return detail::call<std::vector<Tensor>>(detail::op<"meshgrid">, xs, indexing); }

// A new tensor.
inline Tensor cat(const Tensors& xs, int64_t dim = 0) { return detail::call<Tensor>(detail::op<"cat">, xs, dim); }
inline Tensor stack(const Tensors& xs, int64_t dim = 0) { return detail::call<Tensor>(detail::op<"stack">, xs, dim); }
inline Tensor clone(const Tensor& x) { return detail::call<Tensor>(detail::op<"clone">, x); }
inline Tensor flip(const Tensor& x, Ints dims) { return detail::call<Tensor>(detail::op<"flip">, x, dims); }
// Moved by `shifts` along dims, and in again at the other end; without dims: as if it had one.
inline Tensor roll(const Tensor& x, Ints shifts, Ints dims = {}) { return detail::call<Tensor>(detail::op<"roll">, x, shifts, dims); }
// side by side, sizes times
inline Tensor repeat(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"repeat">, x, sizes); }
// Zeros below (triu) or above (tril) a diagonal of [.., rows, columns].
inline Tensor triu(const Tensor& x, int64_t diagonal = 0) { return detail::call<Tensor>(detail::op<"triu">, x, diagonal); }
inline Tensor tril(const Tensor& x, int64_t diagonal = 0) { return detail::call<Tensor>(detail::op<"tril">, x, diagonal); }
// pad: two numbers a dimension, from the last on: before and behind. mode: "constant", "reflect",
// "replicate" or "circular".
inline Tensor pad(const Tensor& x, Ints pad, const char* mode = "constant", Number value = 0) { return detail::call<Tensor>(detail::op<"pad">, x, pad, mode, value); }

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

}  // namespace v0
}  // namespace tenon
