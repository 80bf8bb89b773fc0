// What the pools share: their options, and where the maximum of a window is. Used by the files of
// pools.
#pragma once

#include "windows.h"

namespace tenon::ops_pack {

inline constinit ExpressionRef next_place{"_next_place(Tensor flat, Tensor i, int size) -> Tensor",
                                          "flat * size + i"};
// Adaptive windows begin at floor(i size / n) and end before ceil((i + 1) size / n).
inline constinit ExpressionRef adaptive_index{
    "_adaptive_index(Tensor i, Tensor k, int size, int n) -> Tensor",
    "min(i * size // n + k, size - 1)"};
inline constinit ExpressionRef adaptive_inside{
    "_adaptive_inside(Tensor i, Tensor k, int size, int n) -> Tensor",
    "i * size // n + k < ((i + 1) * size + n - 1) // n"};
inline constinit ExpressionRef or_else{"_or_else(Tensor x, Tensor inside, float other) -> Tensor",
                                       "where(inside, x, other)"};

// A vector along dimension d of n, to broadcast.
Tensor along(const Tensor& vector, int64_t d, int64_t n);
Windows pool_options(const char* op, int64_t n, Ints kernel, Ints stride, Ints padding,
                     Ints dilation);
// Refuses images without elements.
void expect_elements(const char* op, std::span<const int64_t> sizes, int64_t n);
// What adaptive pools give where a size of the output is 0: no elements, and still with a history.
inline Tensor of_no_windows(const Tensor& x, const Sizes& output_size) {
  return prim::reshape(prim::slice(x, x.dim() - 1, 0, 0),
                       joined_sizes({first_sizes(x, 2), output_size}));
}
// The flat place of the maximum over dims, which are neighbours: of equal ones the first, but of
// NaNs the last, as in PyTorch's pools.
Tensor place_of_max(const Tensor& x, Ints dims);
// The maxima of x [n, channels, ..] and where in a plane, row by row, the first of each window is.
std::tuple<Tensor, Tensor> indexed_max_pool(const char* op, const Tensor& x, Windows w,
                                            bool ceil_mode);

}  // namespace tenon::ops_pack
