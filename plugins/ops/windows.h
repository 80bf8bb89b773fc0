// Sliding windows over the last dimensions, which convolutions and pools are made of: two private
// ops, each the adjoint of the other, so that gradients of any order come from the pair. `_windows`
// shows [.., size..] as [.., out.., kernel..], padded with `fill` where windows reach beyond;
// `_overlap_add` sums [.., out.., kernel..] into [.., size..].
#pragma once

#include "pack.h"

namespace tenon::ops_pack {

struct Windows {
  Sizes out, kernel, stride, padding, dilation;
  int64_t n() const { return int64_t(kernel.size()); }
};

// What callers choose has no limits of its own: sums and products of it are taken in 128 bits, and
// no padded size is above kMostPadded.
using Wide = __int128;
inline constexpr int64_t kMostPadded = INT64_MAX / 4;

// The op's name, with which its schema begins.
inline std::string name_of(std::string_view schema) {
  return std::string(schema.substr(0, schema.find('(')));
}

// One number for each of n dimensions; a list of one stands for all.
Sizes for_each_dim(const char* op, const char* what, Ints list, int64_t n, int64_t at_least);
// The output_size of an adaptive pool: -1 is what x has there, which has these sizes, two before the n.
Sizes adaptive_sizes(const char* op, const Sizes& sizes, Ints output_size, int64_t n);
// Of a private op, which anybody may call: each list has a number for each of the last dimensions
// of x, and windows as they say fit into kMostPadded. An empty size is none.
void expect_windows(const char* op, int64_t rank, Ints out, Ints kernel, Ints stride, Ints dilation,
                    Ints padding, Ints size);
// Fills `out` for inputs whose last dimensions are `sizes`, by PyTorch's rule; refuses windows that
// do not fit. ceil_mode: the last window may reach beyond the padding, but not begin there.
void set_out(const char* op, Windows* w, std::span<const int64_t> sizes, bool ceil_mode = false);

Tensor windows(const Tensor& x, const Windows& w, double fill = 0);
Tensor overlap_add(const Tensor& windows, const Sizes& size, const Windows& w);

// The sizes of x with a batch dimension in front: PyTorch's layers take samples without one too.
inline Sizes batched_sizes(const char* op, const Tensor& x, int64_t n) {
  if (x.dim() == n + 2) return sizes_of(x);
  if (x.dim() == n + 1) return joined_sizes({{1}, sizes_of(x)});
  fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", expected " + std::to_string(n + 1) +
       " or " + std::to_string(n + 2) + " dimensions");
}
// What an op infers for x whose sizes in a batch are `sizes`.
inline Meta batched_meta(const Tensor& x, int64_t n, Sizes sizes) {
  if (x.dim() == n + 1) sizes.erase(sizes.begin());
  return Meta(sizes, x.dtype(), x.device());
}
// f on x with that dimension.
template <typename F>
Tensor batched(const char* op, const Tensor& x, int64_t n, F f) {
  const Sizes sizes = batched_sizes(op, x, n);
  if (x.dim() == n + 2) return f(x);
  Tensor y = f(prim::reshape(x, sizes));
  return prim::reshape(y, last_sizes(y, y.dim() - 1));
}

}  // namespace tenon::ops_pack
