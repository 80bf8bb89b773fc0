// The group 'shape' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/object.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// All dimensions from start_dim to end_dim as one.
struct FlattenOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int start_dim = 1;
  Int end_dim = -1;
};
inline Object Flatten(const FlattenOptions& options = {}) { return Object::create("Flatten", {options.start_dim, options.end_dim}); }
template <detail::Placed<Int> P>
Object Flatten(const P& start_dim, Int end_dim = -1) { return Object::create("Flatten", {Int(start_dim), end_dim}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Int, FlattenOptions> P2 = FlattenOptions>
Object Flatten(const P1& start_dim, const P2& end_dim) { return Flatten(detail::behind<FlattenOptions, 3, 1>("Flatten", start_dim, end_dim)); }
// The dimension dim as several; a size of -1 is found.
inline Object Unflatten(Int dim, Ints unflattened_size) { return Object::create("Unflatten", {dim, unflattened_size}); }
// x [n, groups * c, ..] with the channels of all groups taken in turn. Zhang et al.,
// arXiv:1707.01083.
inline Object ChannelShuffle(Int groups) { return Object::create("ChannelShuffle", {groups}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
