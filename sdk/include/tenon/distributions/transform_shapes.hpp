// What transforms do to sizes, for TransformedDistribution and transforms that are made of others.
// A transform of vectors or matrices, or one that changes sizes, has beside the functions that
// transforms.hpp says
//
//   int64_t domain_event_dim() const;    // how many of the last dimensions of x it takes together
//   int64_t codomain_event_dim() const;  // how many of y are one value then
//   std::vector<int64_t> forward_shape(Ints sizes) const;  // the sizes of y by those of x
//   std::vector<int64_t> inverse_shape(Ints sizes) const;  // the sizes of x by those of y
//
// and may have `expect_codomain`, which refuses what no elementwise `codomain` can. Without them
// it goes element by element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "tenon/distributions/transforms.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

struct EventDims {
  int64_t domain = 0, codomain = 0;
};

template <typename T>
EventDims event_dims_of(const T& transform) {
  if constexpr (requires { transform.domain_event_dim(); }) {
    return {transform.domain_event_dim(), transform.codomain_event_dim()};
  } else {
    return {};
  }
}
// Of several, one after the other: as many as the greediest of them needs.
template <typename... Ts>
EventDims event_dims_of(const std::tuple<Ts...>& transforms) {
  int64_t domain = 0, change = 0;
  const auto step = [&](const EventDims& each) {
    domain = std::max(domain, each.domain - change);
    change += each.codomain - each.domain;
  };
  std::apply([&](const auto&... each) { (step(event_dims_of(each)), ...); }, transforms);
  return {domain, domain + change};
}

template <typename T>
Sizes forward_shape_of(const T& transform, Ints sizes) {
  if constexpr (requires { transform.forward_shape(sizes); }) {
    return transform.forward_shape(sizes);
  } else {
    return Sizes(sizes);
  }
}
template <typename... Ts>
Sizes forward_shape_of(const std::tuple<Ts...>& transforms, Ints sizes) {
  Sizes now(sizes);
  std::apply([&](const auto&... each) { ((now = forward_shape_of(each, now)), ...); }, transforms);
  return now;
}
template <typename T>
Sizes inverse_shape_of(const T& transform, Ints sizes) {
  if constexpr (requires { transform.inverse_shape(sizes); }) {
    return transform.inverse_shape(sizes);
  } else {
    return Sizes(sizes);
  }
}

template <typename T>
constexpr Constraint codomain_of() {
  if constexpr (requires { T::codomain; }) {
    return T::codomain;
  } else {
    return kReal;
  }
}
template <typename T>
void expect_codomain_of(const T& transform, const char* owner, const Tensor& value) {
  if constexpr (requires { transform.expect_codomain(owner, value); }) {
    transform.expect_codomain(owner, value);
  }
}

// The last `ending.size()` of the sizes have to be `ending`; the others.
inline Sizes sizes_before(const char* owner, Ints sizes, const Sizes& ending) {
  if (sizes.size() >= ending.size() &&
      std::equal(ending.begin(), ending.end(), sizes.end() - ending.size())) {
    return Sizes(sizes.begin(), sizes.end() - ending.size());
  }
  fail(joined({owner, ": the value is ", sizes_text(sizes), ", expected its last sizes to be ",
               sizes_text(ending)}));
}
inline void expect_dims(const char* owner, Ints sizes, size_t dims,
                        const char* what = "the value") {
  if (sizes.size() >= dims) return;
  fail(joined({owner, ": ", what, " is ", sizes_text(sizes), ", expected at least ",
               std::to_string(dims), dims == 1 ? " dimension" : " dimensions"}));
}

}  // namespace detail

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
