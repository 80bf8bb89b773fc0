// The group 'index' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"
#include "tenon/ops/results.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// y[.., i, ..] = x[.., index[.., i, ..], ..] along dim. The sizes of index are at most those of x
// elsewhere.
inline Tensor gather(const Tensor& x, Int dim, const Tensor& index) { return detail::call<Tensor>(detail::op<"gather">, {x, dim, index}); }
// A copy of x with src written, or added, at the places that gather reads; of a larger src the part
// that index covers.
inline Tensor scatter(const Tensor& x, Int dim, const Tensor& index, const Tensor& src, Bool add = false) { return detail::call<Tensor>(detail::op<"scatter">, {x, dim, index, src, add}); }
struct ScatterOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool add = false;
};
template <std::same_as<ScatterOptions> O = ScatterOptions>
inline Tensor scatter(const Tensor& x, Int dim, const Tensor& index, const Tensor& src, const O& options) { return detail::call<Tensor>(detail::op<"scatter">, {x, dim, index, src, options.add}); }
// A copy of x with src added at the places that gather reads.
inline Tensor scatter_add(const Tensor& x, Int dim, const Tensor& index, const Tensor& src) { return detail::call<Tensor>(detail::op<"scatter_add">, {x, dim, index, src}); }
// scatter(x, dim, index, src, add), written to x.
inline Tensor scatter_(const Tensor& x, Int dim, const Tensor& index, const Tensor& src, Bool add = false) { return detail::call<Tensor>(detail::op<"scatter_">, {x, dim, index, src, add}); }
template <std::same_as<ScatterOptions> O = ScatterOptions>
inline Tensor scatter_(const Tensor& x, Int dim, const Tensor& index, const Tensor& src, const O& options) { return detail::call<Tensor>(detail::op<"scatter_">, {x, dim, index, src, options.add}); }
// scatter_add(x, dim, index, src), written to x.
inline Tensor scatter_add_(const Tensor& x, Int dim, const Tensor& index, const Tensor& src) { return detail::call<Tensor>(detail::op<"scatter_add_">, {x, dim, index, src}); }
// x at the indices index [n] along dim.
inline Tensor index_select(const Tensor& x, Int dim, const Tensor& index) { return detail::call<Tensor>(detail::op<"index_select">, {x, dim, index}); }
// PyTorch's x[i, :, mask] is index(x, {i, {}, mask}): indices, which broadcast and may be negative,
// masks of bool or uint8, and {} for all of a dimension. With a mask the call waits for the device.
inline Tensor index(const Tensor& x, const Tensors& indices) { return detail::call<Tensor>(detail::op<"index">, {x, indices}); }
// A copy of x with values, which broadcast, written, or added (accumulate), at what index picks.
inline Tensor index_put(const Tensor& x, const Tensors& indices, const Tensor& values, Bool accumulate = false) { return detail::call<Tensor>(detail::op<"index_put">, {x, indices, values, accumulate}); }
struct IndexPutOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool accumulate = false;
};
template <std::same_as<IndexPutOptions> O = IndexPutOptions>
inline Tensor index_put(const Tensor& x, const Tensors& indices, const Tensor& values, const O& options) { return detail::call<Tensor>(detail::op<"index_put">, {x, indices, values, options.accumulate}); }
// index_put(x, indices, values, accumulate), written to x.
inline Tensor index_put_(const Tensor& x, const Tensors& indices, const Tensor& values, Bool accumulate = false) { return detail::call<Tensor>(detail::op<"index_put_">, {x, indices, values, accumulate}); }
template <std::same_as<IndexPutOptions> O = IndexPutOptions>
inline Tensor index_put_(const Tensor& x, const Tensors& indices, const Tensor& values, const O& options) { return detail::call<Tensor>(detail::op<"index_put_">, {x, indices, values, options.accumulate}); }
// The elements of x where mask holds, [count]; the two broadcast. Waits for the device.
inline Tensor masked_select(const Tensor& x, const Tensor& mask) { return detail::call<Tensor>(detail::op<"masked_select">, {x, mask}); }
// Indices of the elements that are not zero, int64 [count, x.dim()], in row-major order. Waits for
// the device.
inline Tensor nonzero(const Tensor& x) { return detail::call<Tensor>(detail::op<"nonzero">, {x}); }
// The first size rows of nonzero(x), and rows of fill_value where it has fewer. Waits for nothing.
inline Tensor nonzero_static(const Tensor& x, Int size, Int fill_value = -1) { return detail::call<Tensor>(detail::op<"nonzero_static">, {x, size, fill_value}); }
struct NonzeroStaticOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int fill_value = -1;
};
template <std::same_as<NonzeroStaticOptions> O = NonzeroStaticOptions>
inline Tensor nonzero_static(const Tensor& x, Int size, const O& options) { return detail::call<Tensor>(detail::op<"nonzero_static">, {x, size, options.fill_value}); }
// Rows of weight [n, d] at index [..]: [.., d]. The row padding_idx, from the end where negative,
// gets no gradient. sparse: the gradient of weight, a leaf, is row-sparse: the rows that were read,
// and their indices.
inline Tensor embedding(const Tensor& weight, const Tensor& index, std::optional<Int> padding_idx = {}, Bool sparse = false) { return detail::call<Tensor>(detail::op<"embedding">, {weight, index, padding_idx, sparse}); }
struct EmbeddingOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> padding_idx = {};
  bool sparse = false;
};
template <std::same_as<EmbeddingOptions> O = EmbeddingOptions>
inline Tensor embedding(const Tensor& weight, const Tensor& index, const O& options) { return detail::call<Tensor>(detail::op<"embedding">, {weight, index, options.padding_idx, options.sparse}); }
// Scales the rows of weight [n, d] that index has down to a norm of order norm_type of max_norm
// where theirs is larger.
inline Tensor embedding_renorm_(const Tensor& weight, const Tensor& index, Float max_norm, Float norm_type = 2.0) { return detail::call<Tensor>(detail::op<"embedding_renorm_">, {weight, index, max_norm, norm_type}); }
struct EmbeddingRenormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float norm_type = 2.0;
};
template <std::same_as<EmbeddingRenormOptions> O = EmbeddingRenormOptions>
inline Tensor embedding_renorm_(const Tensor& weight, const Tensor& index, Float max_norm, const O& options) { return detail::call<Tensor>(detail::op<"embedding_renorm_">, {weight, index, max_norm, options.norm_type}); }
// Sums, means or maxima (mode) of rows of weight: a bag for each row of index [bags, n], or
// beginning at each of offsets [bags] in index [n]; with include_last_offset the last of offsets is
// where the last bag ends. The row padding_idx, from the end where negative, belongs to no bag and
// gets no gradient. sparse: as embedding's. scale_grad_by_freq: the gradient of a row is divided by
// how often index has it.
struct EmbeddingBagOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor offsets = {};
  std::string mode = "mean";
  Tensor per_sample_weights = {};
  bool include_last_offset = false;
  std::optional<Int> padding_idx = {};
  bool sparse = false;
  bool scale_grad_by_freq = false;
};
inline Tensor embedding_bag(const Tensor& weight, const Tensor& index, const Tensor& offsets = {}, const EmbeddingBagOptions& options = {}) { return detail::call<Tensor>(detail::op<"embedding_bag">, {weight, index, detail::one_of("embedding_bag", "offsets", offsets, options.offsets), options.mode, options.per_sample_weights, options.include_last_offset, options.padding_idx, options.sparse, options.scale_grad_by_freq}); }
template <detail::Placed<TextRef> P>
Tensor embedding_bag(const Tensor& weight, const Tensor& index, const Tensor& offsets, const P& mode, const Tensor& per_sample_weights = {}, Bool include_last_offset = false, std::optional<Int> padding_idx = {}, Bool sparse = false, Bool scale_grad_by_freq = false) { return detail::call<Tensor>(detail::op<"embedding_bag">, {weight, index, offsets, TextRef(mode), per_sample_weights, include_last_offset, padding_idx, sparse, scale_grad_by_freq}); }
template <detail::Placed<std::string> P1, detail::PlacedOr<Tensor, EmbeddingBagOptions> P2 = EmbeddingBagOptions, detail::PlacedOr<Bool, EmbeddingBagOptions> P3 = EmbeddingBagOptions, detail::PlacedOr<std::optional<Int>, EmbeddingBagOptions> P4 = EmbeddingBagOptions, detail::PlacedOr<Bool, EmbeddingBagOptions> P5 = EmbeddingBagOptions, detail::PlacedOr<Bool, EmbeddingBagOptions> P6 = EmbeddingBagOptions>
Tensor embedding_bag(const Tensor& weight, const Tensor& index, const Tensor& offsets, const P1& mode, const P2& per_sample_weights, const P3& include_last_offset = detail::unset<P3>(), const P4& padding_idx = detail::unset<P4>(), const P5& sparse = detail::unset<P5>(), const P6& scale_grad_by_freq = detail::unset<P6>()) { return embedding_bag(weight, index, offsets, detail::behind<EmbeddingBagOptions, 8, 2>("embedding_bag", mode, per_sample_weights, include_last_offset, padding_idx, sparse, scale_grad_by_freq)); }
template <std::same_as<EmbeddingBagOptions> O = EmbeddingBagOptions>
inline Tensor embedding_bag(const Tensor& weight, const Tensor& index, const O& options) { return detail::call<Tensor>(detail::op<"embedding_bag">, {weight, index, options.offsets, options.mode, options.per_sample_weights, options.include_last_offset, options.padding_idx, options.sparse, options.scale_grad_by_freq}); }
// index [..] to int64 [.., num_classes], 1 at its class. num_classes -1: one more than the largest
// class, for which the call waits for the device.
inline Tensor one_hot(const Tensor& index, Int num_classes = -1) { return detail::call<Tensor>(detail::op<"one_hot">, {index, num_classes}); }
struct OneHotOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int num_classes = -1;
};
template <std::same_as<OneHotOptions> O = OneHotOptions>
inline Tensor one_hot(const Tensor& index, const O& options) { return detail::call<Tensor>(detail::op<"one_hot">, {index, options.num_classes}); }
// A copy of x to which alpha times the parts of source along dim are added at index [n]; source has
// the sizes of x, and n along dim.
inline Tensor index_add(const Tensor& x, Int dim, const Tensor& index, const Tensor& source, Number alpha = 1) { return detail::call<Tensor>(detail::op<"index_add">, {x, dim, index, source, alpha}); }
struct IndexAddOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Number alpha = 1;
};
template <std::same_as<IndexAddOptions> O = IndexAddOptions>
inline Tensor index_add(const Tensor& x, Int dim, const Tensor& index, const Tensor& source, const O& options) { return detail::call<Tensor>(detail::op<"index_add">, {x, dim, index, source, options.alpha}); }
// index_add(x, dim, index, source, alpha), written to x.
inline Tensor index_add_(const Tensor& x, Int dim, const Tensor& index, const Tensor& source, Number alpha = 1) { return detail::call<Tensor>(detail::op<"index_add_">, {x, dim, index, source, alpha}); }
template <std::same_as<IndexAddOptions> O = IndexAddOptions>
inline Tensor index_add_(const Tensor& x, Int dim, const Tensor& index, const Tensor& source, const O& options) { return detail::call<Tensor>(detail::op<"index_add_">, {x, dim, index, source, options.alpha}); }
// Adds scale times rows [n, ..] to the rows of x at index [n], in their order, without a gradient.
inline void add_rows_(const Tensor& x, const Tensor& index, const Tensor& rows, Float scale = 1.0) { return detail::call<void>(detail::op<"add_rows_">, {x, index, rows, scale}); }
struct AddRowsOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float scale = 1.0;
};
template <std::same_as<AddRowsOptions> O = AddRowsOptions>
inline void add_rows_(const Tensor& x, const Tensor& index, const Tensor& rows, const O& options) { return detail::call<void>(detail::op<"add_rows_">, {x, index, rows, options.scale}); }
// Each of indices [n] once, in ascending order, and the sums of its rows of values [n, ..]. Waits
// for the device.
inline results::IndicesValues coalesce_rows(const Tensor& indices, const Tensor& values) { return detail::call<results::IndicesValues>(detail::op<"coalesce_rows">, {indices, values}); }
// gather of x and indices, broadcast to each other except along dim; without dim of both as one
// dimension.
inline Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<Int> dim = {}) { return detail::call<Tensor>(detail::op<"take_along_dim">, {x, indices, dim}); }
struct TakeAlongDimOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> dim = {};
};
template <std::same_as<TakeAlongDimOptions> O = TakeAlongDimOptions>
inline Tensor take_along_dim(const Tensor& x, const Tensor& indices, const O& options) { return detail::call<Tensor>(detail::op<"take_along_dim">, {x, indices, options.dim}); }
// x, as if it had one dimension, at index, in the sizes of index.
inline Tensor take(const Tensor& x, const Tensor& index) { return detail::call<Tensor>(detail::op<"take">, {x, index}); }
// A copy of x, in which source is written, or added (accumulate), at index, which counts as if x
// had one dimension.
inline Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, Bool accumulate = false) { return detail::call<Tensor>(detail::op<"put">, {x, index, source, accumulate}); }
using PutOptions = IndexPutOptions;
template <std::same_as<PutOptions> O = PutOptions>
inline Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, const O& options) { return detail::call<Tensor>(detail::op<"put">, {x, index, source, options.accumulate}); }
// put(x, index, source, accumulate), written to x.
inline Tensor put_(const Tensor& x, const Tensor& index, const Tensor& source, Bool accumulate = false) { return detail::call<Tensor>(detail::op<"put_">, {x, index, source, accumulate}); }
using PutOptions = IndexPutOptions;
template <std::same_as<PutOptions> O = PutOptions>
inline Tensor put_(const Tensor& x, const Tensor& index, const Tensor& source, const O& options) { return detail::call<Tensor>(detail::op<"put_">, {x, index, source, options.accumulate}); }
// A copy of x in which the parts of source along dim are written at index [n]; source has the sizes
// of x, and n along dim.
inline Tensor index_copy(const Tensor& x, Int dim, const Tensor& index, const Tensor& source) { return detail::call<Tensor>(detail::op<"index_copy">, {x, dim, index, source}); }
// index_copy(x, dim, index, source), written to x.
inline Tensor index_copy_(const Tensor& x, Int dim, const Tensor& index, const Tensor& source) { return detail::call<Tensor>(detail::op<"index_copy_">, {x, dim, index, source}); }
// A copy of x with value, a number or a tensor without dimensions, at index [n] along dim.
inline Tensor index_fill(Operand x, Int dim, Operand index, Operand value) { return detail::call<Tensor>(detail::op<"index_fill">, {x, dim, index, value}); }
// index_fill(x, dim, index, value), written to x.
inline Tensor index_fill_(const Tensor& x, Int dim, Operand index, Operand value) { return detail::call<Tensor>(detail::op<"index_fill_">, {x, dim, index, value}); }
// A copy of x with the elements of source, in order, where mask (bool) is true; x and mask
// broadcast. source has at least as many.
inline Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source) { return detail::call<Tensor>(detail::op<"masked_scatter">, {x, mask, source}); }
// masked_scatter(x, mask, source), written to x.
inline Tensor masked_scatter_(const Tensor& x, const Tensor& mask, const Tensor& source) { return detail::call<Tensor>(detail::op<"masked_scatter_">, {x, mask, source}); }
// The rows of x [n, ..] reduced by neighbours, [segments, ..]: as many a segment as lengths
// [segments] has, or those from offsets[i] to offsets[i + 1] [segments + 1]. reduce: sum, prod,
// mean, max or min. initial: what a segment begins with, and what an empty one is; None: 0, 1, NaN,
// -inf or inf. unsafe: lengths are not looked at, for which the call waits for the device, and rows
// outside of all segments are left out.
struct SegmentReduceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor lengths = {};
  Tensor offsets = {};
  Int axis = 0;
  bool unsafe = false;
  std::optional<Float> initial = {};
};
inline Tensor segment_reduce(const Tensor& x, TextRef reduce, const Tensor& lengths = {}, const Tensor& offsets = {}, const SegmentReduceOptions& options = {}) { return detail::call<Tensor>(detail::op<"segment_reduce">, {x, reduce, detail::one_of("segment_reduce", "lengths", lengths, options.lengths), detail::one_of("segment_reduce", "offsets", offsets, options.offsets), options.axis, options.unsafe, options.initial}); }
template <detail::Placed<Int> P>
Tensor segment_reduce(const Tensor& x, TextRef reduce, const Tensor& lengths, const Tensor& offsets, const P& axis, Bool unsafe = false, std::optional<Float> initial = {}) { return detail::call<Tensor>(detail::op<"segment_reduce">, {x, reduce, lengths, offsets, Int(axis), unsafe, initial}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Bool, SegmentReduceOptions> P2 = SegmentReduceOptions, detail::PlacedOr<std::optional<Float>, SegmentReduceOptions> P3 = SegmentReduceOptions>
Tensor segment_reduce(const Tensor& x, TextRef reduce, const Tensor& lengths, const Tensor& offsets, const P1& axis, const P2& unsafe, const P3& initial = detail::unset<P3>()) { return segment_reduce(x, reduce, lengths, offsets, detail::behind<SegmentReduceOptions, 6, 3>("segment_reduce", axis, unsafe, initial)); }
template <std::same_as<SegmentReduceOptions> O = SegmentReduceOptions>
inline Tensor segment_reduce(const Tensor& x, TextRef reduce, const Tensor& lengths, const O& options) { return detail::call<Tensor>(detail::op<"segment_reduce">, {x, reduce, detail::one_of("segment_reduce", "lengths", lengths, options.lengths), options.offsets, options.axis, options.unsafe, options.initial}); }
template <std::same_as<SegmentReduceOptions> O = SegmentReduceOptions>
inline Tensor segment_reduce(const Tensor& x, TextRef reduce, const O& options) { return detail::call<Tensor>(detail::op<"segment_reduce">, {x, reduce, options.lengths, options.offsets, options.axis, options.unsafe, options.initial}); }
// A copy of x in which the elements of src that index sends to a place along dim are reduced there,
// with that of x if include_self. reduce: sum, prod, mean, amax or amin.
inline Tensor scatter_reduce(const Tensor& x, Int dim, const Tensor& index, const Tensor& src, TextRef reduce, Bool include_self = true) { return detail::call<Tensor>(detail::op<"scatter_reduce">, {x, dim, index, src, reduce, include_self}); }
struct ScatterReduceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool include_self = true;
};
template <std::same_as<ScatterReduceOptions> O = ScatterReduceOptions>
inline Tensor scatter_reduce(const Tensor& x, Int dim, const Tensor& index, const Tensor& src, TextRef reduce, const O& options) { return detail::call<Tensor>(detail::op<"scatter_reduce">, {x, dim, index, src, reduce, options.include_self}); }
// A copy of x in which the parts of source along dim that index [n] sends to one place are reduced
// there, with that of x if include_self. reduce: prod, mean, amax or amin.
inline Tensor index_reduce(const Tensor& x, Int dim, const Tensor& index, const Tensor& source, TextRef reduce, Bool include_self = true) { return detail::call<Tensor>(detail::op<"index_reduce">, {x, dim, index, source, reduce, include_self}); }
using IndexReduceOptions = ScatterReduceOptions;
template <std::same_as<IndexReduceOptions> O = IndexReduceOptions>
inline Tensor index_reduce(const Tensor& x, Int dim, const Tensor& index, const Tensor& source, TextRef reduce, const O& options) { return detail::call<Tensor>(detail::op<"index_reduce">, {x, dim, index, source, reduce, options.include_self}); }

}  // namespace v0
}  // namespace tenon
