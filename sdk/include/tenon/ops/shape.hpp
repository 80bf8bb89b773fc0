// The group 'shape' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// The elements of x in row-major order with other sizes, of which one may be -1. A view where it
// can be, else a copy.
inline Tensor reshape(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"reshape">, {x, sizes}); }
// A view of x with its dimensions in another order.
inline Tensor permute(const Tensor& x, Ints dims) { return detail::call<Tensor>(detail::op<"permute">, {x, dims}); }
// A view of the elements start, start + step, .. before end along dim. Bounds are as in Python.
inline Tensor slice(const Tensor& x, Int dim, Int start = 0, Int end = INT64_MAX, Int step = 1) { return detail::call<Tensor>(detail::op<"slice">, {x, dim, start, end, step}); }
struct SliceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int start = 0;
  Int end = INT64_MAX;
  Int step = 1;
};
template <std::same_as<SliceOptions> O = SliceOptions>
inline Tensor slice(const Tensor& x, Int dim, const O& options) { return detail::call<Tensor>(detail::op<"slice">, {x, dim, options.start, options.end, options.step}); }
// A view of x in which dimensions of size 1 are repeated, and new ones stand in front. A size of -1
// stays.
inline Tensor expand(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"expand">, {x, sizes}); }
// A view of the storage of x with these sizes and strides, from the element offset on.
inline Tensor as_strided(const Tensor& x, Ints sizes, Ints strides, Int offset = 0) { return detail::call<Tensor>(detail::op<"as_strided">, {x, sizes, strides, offset}); }
struct AsStridedOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int offset = 0;
};
template <std::same_as<AsStridedOptions> O = AsStridedOptions>
inline Tensor as_strided(const Tensor& x, Ints sizes, Ints strides, const O& options) { return detail::call<Tensor>(detail::op<"as_strided">, {x, sizes, strides, options.offset}); }
// reshape(x, sizes), but an error where it cannot be a view.
inline Tensor view(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"view">, {x, sizes}); }
// A view of x with two dimensions swapped.
inline Tensor transpose(const Tensor& x, Int dim0, Int dim1) { return detail::call<Tensor>(detail::op<"transpose">, {x, dim0, dim1}); }
// A view of a matrix with its dimensions swapped; of fewer dimensions x itself.
inline Tensor t(const Tensor& x) { return detail::call<Tensor>(detail::op<"t">, {x}); }
// A view of x at index along dim, which goes.
inline Tensor select(const Tensor& x, Int dim, Int index) { return detail::call<Tensor>(detail::op<"select">, {x, dim, index}); }
// A view of length elements from start on along dim.
inline Tensor narrow(const Tensor& x, Int dim, Int start, Int length) { return detail::call<Tensor>(detail::op<"narrow">, {x, dim, start, length}); }
// A view of x without those of dim, or of all dimensions, that have size 1.
inline Tensor squeeze(const Tensor& x, Ints dim = {}) { return detail::call<Tensor>(detail::op<"squeeze">, {x, dim}); }
struct SqueezeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dim = {};
};
template <std::same_as<SqueezeOptions> O = SqueezeOptions>
inline Tensor squeeze(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"squeeze">, {x, options.dim}); }
// A view of x with a new dimension of size 1 at dim.
inline Tensor unsqueeze(const Tensor& x, Int dim) { return detail::call<Tensor>(detail::op<"unsqueeze">, {x, dim}); }
// x with the dimensions from start_dim to end_dim as one. A view where it can be, else a copy.
inline Tensor flatten(const Tensor& x, Int start_dim = 0, Int end_dim = -1) { return detail::call<Tensor>(detail::op<"flatten">, {x, start_dim, end_dim}); }
struct FlattenOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int start_dim = 0;
  Int end_dim = -1;
};
template <std::same_as<FlattenOptions> O = FlattenOptions>
inline Tensor flatten(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"flatten">, {x, options.start_dim, options.end_dim}); }
// A view of x with the dimensions source at the places destination; the others stay in order.
inline Tensor movedim(const Tensor& x, Ints source, Ints destination) { return detail::call<Tensor>(detail::op<"movedim">, {x, source, destination}); }
// A view of x with dim as several dimensions, of which one size may be -1.
inline Tensor unflatten(const Tensor& x, Int dim, Ints sizes) { return detail::call<Tensor>(detail::op<"unflatten">, {x, dim, sizes}); }
// A view of windows of size elements along dim, step apart, in a new last dimension.
inline Tensor unfold(const Tensor& x, Int dim, Int size, Int step) { return detail::call<Tensor>(detail::op<"unfold">, {x, dim, size, step}); }
// A view of the diagonal of dim1 and dim2, which goes last; offset is above or, negative, below it.
inline Tensor diagonal(const Tensor& x, Int offset = 0, Int dim1 = 0, Int dim2 = 1) { return detail::call<Tensor>(detail::op<"diagonal">, {x, offset, dim1, dim2}); }
struct DiagonalOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int offset = 0;
  Int dim1 = 0;
  Int dim2 = 1;
};
template <std::same_as<DiagonalOptions> O = DiagonalOptions>
inline Tensor diagonal(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"diagonal">, {x, options.offset, options.dim1, options.dim2}); }
// A view of x repeated to these sizes, as expand.
inline Tensor broadcast_to(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"broadcast_to">, {x, sizes}); }
// x itself where it lies so already, else a copy. memory_format: "contiguous", or "channels_last",
// in which dimension 1 lies innermost.
inline Tensor contiguous(const Tensor& x, TextRef memory_format = "contiguous") { return detail::call<Tensor>(detail::op<"contiguous">, {x, memory_format}); }
struct ContiguousOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string memory_format = "contiguous";
};
template <std::same_as<ContiguousOptions> O = ContiguousOptions>
inline Tensor contiguous(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"contiguous">, {x, options.memory_format}); }
// Views side by side along dim, of length elements each; the last may be shorter.
inline std::vector<Tensor> split(const Tensor& x, Int length, Int dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"split">, {x, length, dim}); }
struct SplitOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = 0;
};
template <std::same_as<SplitOptions> O = SplitOptions>
inline std::vector<Tensor> split(const Tensor& x, Int length, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"split">, {x, length, options.dim}); }
// Views side by side along dim, of these lengths.
inline std::vector<Tensor> split_with_sizes(const Tensor& x, Ints lengths, Int dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"split_with_sizes">, {x, lengths, dim}); }
using SplitWithSizesOptions = SplitOptions;
template <std::same_as<SplitWithSizesOptions> O = SplitWithSizesOptions>
inline std::vector<Tensor> split_with_sizes(const Tensor& x, Ints lengths, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"split_with_sizes">, {x, lengths, options.dim}); }
// At most so many views side by side along dim, of even lengths; the last may be shorter.
inline std::vector<Tensor> chunk(const Tensor& x, Int chunks, Int dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"chunk">, {x, chunks, dim}); }
using ChunkOptions = SplitOptions;
template <std::same_as<ChunkOptions> O = ChunkOptions>
inline std::vector<Tensor> chunk(const Tensor& x, Int chunks, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"chunk">, {x, chunks, options.dim}); }
// Each x [n_i] spread over all sizes [n_0, n_1, ..]; indexing "xy" swaps the first two.
inline std::vector<Tensor> meshgrid(const Tensors& xs, TextRef indexing = "ij") { return detail::call<std::vector<Tensor>>(detail::op<"meshgrid">, {xs, indexing}); }
struct MeshgridOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string indexing = "ij";
};
template <std::same_as<MeshgridOptions> O = MeshgridOptions>
inline std::vector<Tensor> meshgrid(const Tensors& xs, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"meshgrid">, {xs, options.indexing}); }
// Tensors of one shape, side by side along a new dimension dim.
inline Tensor stack(const Tensors& xs, Int dim = 0) { return detail::call<Tensor>(detail::op<"stack">, {xs, dim}); }
using StackOptions = SplitOptions;
template <std::same_as<StackOptions> O = StackOptions>
inline Tensor stack(const Tensors& xs, const O& options) { return detail::call<Tensor>(detail::op<"stack">, {xs, options.dim}); }
// A copy of x in reverse order along dims.
inline Tensor flip(const Tensor& x, Ints dims) { return detail::call<Tensor>(detail::op<"flip">, {x, dims}); }
// A copy of x moved by shifts along dims, and in again at the other end; without dims as if it had
// one dimension.
inline Tensor roll(const Tensor& x, Ints shifts, Ints dims = {}) { return detail::call<Tensor>(detail::op<"roll">, {x, shifts, dims}); }
struct RollOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dims = {};
};
template <std::same_as<RollOptions> O = RollOptions>
inline Tensor roll(const Tensor& x, Ints shifts, const O& options) { return detail::call<Tensor>(detail::op<"roll">, {x, shifts, options.dims}); }
// A copy of x, side by side as many times as sizes say for each dimension.
inline Tensor repeat(const Tensor& x, Ints sizes) { return detail::call<Tensor>(detail::op<"repeat">, {x, sizes}); }
// x [.., rows, columns] with zeros below a diagonal.
inline Tensor triu(const Tensor& x, Int diagonal = 0) { return detail::call<Tensor>(detail::op<"triu">, {x, diagonal}); }
struct TriuOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int diagonal = 0;
};
template <std::same_as<TriuOptions> O = TriuOptions>
inline Tensor triu(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"triu">, {x, options.diagonal}); }
// x [.., rows, columns] with zeros above a diagonal.
inline Tensor tril(const Tensor& x, Int diagonal = 0) { return detail::call<Tensor>(detail::op<"tril">, {x, diagonal}); }
using TrilOptions = TriuOptions;
template <std::same_as<TrilOptions> O = TrilOptions>
inline Tensor tril(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"tril">, {x, options.diagonal}); }
// x with borders. pad: two numbers a dimension, before and behind, the last dimension first; mode:
// "constant" (value), "reflect", "replicate" or "circular".
inline Tensor pad(const Tensor& x, Ints pad, TextRef mode = "constant", Number value = 0) { return detail::call<Tensor>(detail::op<"pad">, {x, pad, mode, value}); }
struct PadOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string mode = "constant";
  Number value = 0;
};
template <std::same_as<PadOptions> O = PadOptions>
inline Tensor pad(const Tensor& x, Ints pad, const O& options) { return detail::call<Tensor>(detail::op<"pad">, {x, pad, options.mode, options.value}); }
// Tensors side by side along dim; other sizes are equal.
inline Tensor cat(const Tensors& xs, Int dim = 0) { return detail::call<Tensor>(detail::op<"cat">, {xs, dim}); }
using CatOptions = SplitOptions;
template <std::same_as<CatOptions> O = CatOptions>
inline Tensor cat(const Tensors& xs, const O& options) { return detail::call<Tensor>(detail::op<"cat">, {xs, options.dim}); }
// A new tensor with the values of x, whose dimensions lie in the same order.
inline Tensor clone(const Tensor& x) { return detail::call<Tensor>(detail::op<"clone">, {x}); }
// A view of x at each index along dim, which goes.
inline std::vector<Tensor> unbind(const Tensor& x, Int dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"unbind">, {x, dim}); }
using UnbindOptions = SplitOptions;
template <std::same_as<UnbindOptions> O = UnbindOptions>
inline std::vector<Tensor> unbind(const Tensor& x, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"unbind">, {x, options.dim}); }
// So many views side by side along dim; the first are one longer where the size is not divisible.
inline std::vector<Tensor> tensor_split(const Tensor& x, Int sections, Int dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"tensor_split">, {x, sections, dim}); }
using TensorSplitOptions = SplitOptions;
template <std::same_as<TensorSplitOptions> O = TensorSplitOptions>
inline std::vector<Tensor> tensor_split(const Tensor& x, Int sections, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"tensor_split">, {x, sections, options.dim}); }
// Views side by side along dim, which end at these indices and at the end of x.
inline std::vector<Tensor> tensor_split_at(const Tensor& x, Ints indices, Int dim = 0) { return detail::call<std::vector<Tensor>>(detail::op<"tensor_split_at">, {x, indices, dim}); }
using TensorSplitAtOptions = SplitOptions;
template <std::same_as<TensorSplitAtOptions> O = TensorSplitAtOptions>
inline std::vector<Tensor> tensor_split_at(const Tensor& x, Ints indices, const O& options) { return detail::call<std::vector<Tensor>>(detail::op<"tensor_split_at">, {x, indices, options.dim}); }
// So many equal views along dimension 1, or 0 where there is no other.
inline std::vector<Tensor> hsplit(const Tensor& x, Int sections) { return detail::call<std::vector<Tensor>>(detail::op<"hsplit">, {x, sections}); }
// So many equal views along dimension 0 of x, which has at least 2.
inline std::vector<Tensor> vsplit(const Tensor& x, Int sections) { return detail::call<std::vector<Tensor>>(detail::op<"vsplit">, {x, sections}); }
// So many equal views along dimension 2 of x, which has at least 3.
inline std::vector<Tensor> dsplit(const Tensor& x, Int sections) { return detail::call<std::vector<Tensor>>(detail::op<"dsplit">, {x, sections}); }
// Tensors side by side along dimension 1; those of fewer along dimension 0.
inline Tensor hstack(const Tensors& xs) { return detail::call<Tensor>(detail::op<"hstack">, {xs}); }
// Tensors along dimension 0; those of fewer than 2 dimensions as rows.
inline Tensor vstack(const Tensors& xs) { return detail::call<Tensor>(detail::op<"vstack">, {xs}); }
// Tensors along dimension 2, with the dimensions that they lack: [n] as [1, n, 1].
inline Tensor dstack(const Tensors& xs) { return detail::call<Tensor>(detail::op<"dstack">, {xs}); }
// Tensors along dimension 1; those of fewer than 2 dimensions as columns.
inline Tensor column_stack(const Tensors& xs) { return detail::call<Tensor>(detail::op<"column_stack">, {xs}); }
// A matrix with the matrices xs along its diagonal and zeros elsewhere.
inline Tensor block_diag(const Tensors& xs) { return detail::call<Tensor>(detail::op<"block_diag">, {xs}); }
// Each choice of an element of every x [n_i], as rows [n_0 * n_1 .., len(xs)].
inline Tensor cartesian_prod(const Tensors& xs) { return detail::call<Tensor>(detail::op<"cartesian_prod">, {xs}); }
// Each choice of r elements of x [n], in the order of x, as rows [count, r].
inline Tensor combinations(const Tensor& x, Int r = 2, Bool with_replacement = false) { return detail::call<Tensor>(detail::op<"combinations">, {x, r, with_replacement}); }
struct CombinationsOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int r = 2;
  bool with_replacement = false;
};
template <std::same_as<CombinationsOptions> O = CombinationsOptions>
inline Tensor combinations(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"combinations">, {x, options.r, options.with_replacement}); }
// A copy of x, turned k times by 90 degrees from the first of dims to the second.
inline Tensor rot90(const Tensor& x, Int k = 1, Ints dims = {0, 1}) { return detail::call<Tensor>(detail::op<"rot90">, {x, k, dims}); }
struct Rot90Options {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int k = 1;
  KeptInts dims = {0, 1};
};
template <std::same_as<Rot90Options> O = Rot90Options>
inline Tensor rot90(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"rot90">, {x, options.k, options.dims}); }
// x [n, groups * c, ..] with the channels of all groups taken in turn. Zhang et al.,
// arXiv:1707.01083.
inline Tensor channel_shuffle(const Tensor& x, Int groups) { return detail::call<Tensor>(detail::op<"channel_shuffle">, {x, groups}); }
// x, or as [1] where it has no dimensions.
inline Tensor atleast_1d(const Tensor& x) { return detail::call<Tensor>(detail::op<"atleast_1d">, {x}); }
// x, or as [1, n] where it has fewer than 2 dimensions.
inline Tensor atleast_2d(const Tensor& x) { return detail::call<Tensor>(detail::op<"atleast_2d">, {x}); }
// x, or as [1, n, 1] or [n, m, 1] where it has fewer than 3 dimensions.
inline Tensor atleast_3d(const Tensor& x) { return detail::call<Tensor>(detail::op<"atleast_3d">, {x}); }
// x.view of the sizes of other.
inline Tensor view_as(const Tensor& x, const Tensor& other) { return detail::call<Tensor>(detail::op<"view_as">, {x, other}); }
// x.reshape to the sizes of other.
inline Tensor reshape_as(const Tensor& x, const Tensor& other) { return detail::call<Tensor>(detail::op<"reshape_as">, {x, other}); }
// x.expand to the sizes of other.
inline Tensor expand_as(const Tensor& x, const Tensor& other) { return detail::call<Tensor>(detail::op<"expand_as">, {x, other}); }
// Views of all xs in the sizes to which they broadcast together.
inline std::vector<Tensor> broadcast_tensors(const Tensors& xs) { return detail::call<std::vector<Tensor>>(detail::op<"broadcast_tensors">, {xs}); }
// repeat(x, dims), where dims may be shorter than x has dimensions: those in front stay.
inline Tensor tile(const Tensor& x, Ints dims) { return detail::call<Tensor>(detail::op<"tile">, {x, dims}); }
// A copy of x [n, m, ..] with its columns in reverse order.
inline Tensor fliplr(const Tensor& x) { return detail::call<Tensor>(detail::op<"fliplr">, {x}); }
// A copy of x [n, ..] with its rows in reverse order.
inline Tensor flipud(const Tensor& x) { return detail::call<Tensor>(detail::op<"flipud">, {x}); }
// The places in each dimension of shape of elements that indices count in row-major order.
inline std::vector<Tensor> unravel_index(const Tensor& indices, Ints shape) { return detail::call<std::vector<Tensor>>(detail::op<"unravel_index">, {indices, shape}); }
// Of x [n] a matrix of zeros with x as its diagonal, which is `diagonal` above the main one; of a
// matrix a copy of that diagonal.
inline Tensor diag(const Tensor& x, Int diagonal = 0) { return detail::call<Tensor>(detail::op<"diag">, {x, diagonal}); }
using DiagOptions = TriuOptions;
template <std::same_as<DiagOptions> O = DiagOptions>
inline Tensor diag(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"diag">, {x, options.diagonal}); }
// Zeros with the last dimension of x as the diagonal of dim1 and dim2 that is offset above or,
// negative, below the main one.
inline Tensor diag_embed(const Tensor& x, Int offset = 0, Int dim1 = -2, Int dim2 = -1) { return detail::call<Tensor>(detail::op<"diag_embed">, {x, offset, dim1, dim2}); }
struct DiagEmbedOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int offset = 0;
  Int dim1 = -2;
  Int dim2 = -1;
};
template <std::same_as<DiagEmbedOptions> O = DiagEmbedOptions>
inline Tensor diag_embed(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"diag_embed">, {x, options.offset, options.dim1, options.dim2}); }
// A matrix of zeros with all elements of x as the diagonal that is offset above the main one.
inline Tensor diagflat(const Tensor& x, Int offset = 0) { return detail::call<Tensor>(detail::op<"diagflat">, {x, offset}); }
using DiagflatOptions = AsStridedOptions;
template <std::same_as<DiagflatOptions> O = DiagflatOptions>
inline Tensor diagflat(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"diagflat">, {x, options.offset}); }
// A copy of x in which src stands in the place of diagonal(x, offset, dim1, dim2).
inline Tensor diagonal_scatter(const Tensor& x, const Tensor& src, Int offset = 0, Int dim1 = 0, Int dim2 = 1) { return detail::call<Tensor>(detail::op<"diagonal_scatter">, {x, src, offset, dim1, dim2}); }
using DiagonalScatterOptions = DiagonalOptions;
template <std::same_as<DiagonalScatterOptions> O = DiagonalScatterOptions>
inline Tensor diagonal_scatter(const Tensor& x, const Tensor& src, const O& options) { return detail::call<Tensor>(detail::op<"diagonal_scatter">, {x, src, options.offset, options.dim1, options.dim2}); }
// A copy of x in which src stands in the place of select(x, dim, index).
inline Tensor select_scatter(const Tensor& x, const Tensor& src, Int dim, Int index) { return detail::call<Tensor>(detail::op<"select_scatter">, {x, src, dim, index}); }
// A copy of x in which src stands in the place of slice(x, dim, start, end, step).
inline Tensor slice_scatter(const Tensor& x, const Tensor& src, Int dim = 0, Int start = 0, Int end = INT64_MAX, Int step = 1) { return detail::call<Tensor>(detail::op<"slice_scatter">, {x, src, dim, start, end, step}); }
struct SliceScatterOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = 0;
  Int start = 0;
  Int end = INT64_MAX;
  Int step = 1;
};
template <std::same_as<SliceScatterOptions> O = SliceScatterOptions>
inline Tensor slice_scatter(const Tensor& x, const Tensor& src, const O& options) { return detail::call<Tensor>(detail::op<"slice_scatter">, {x, src, options.dim, options.start, options.end, options.step}); }
// A row-major copy of x in which src stands in the place of its as_strided(sizes, strides, offset).
inline Tensor as_strided_scatter(const Tensor& x, const Tensor& src, Ints sizes, Ints strides, Int offset = 0) { return detail::call<Tensor>(detail::op<"as_strided_scatter">, {x, src, sizes, strides, offset}); }
using AsStridedScatterOptions = AsStridedOptions;
template <std::same_as<AsStridedScatterOptions> O = AsStridedScatterOptions>
inline Tensor as_strided_scatter(const Tensor& x, const Tensor& src, Ints sizes, Ints strides, const O& options) { return detail::call<Tensor>(detail::op<"as_strided_scatter">, {x, src, sizes, strides, options.offset}); }

}  // namespace v0
}  // namespace tenon
