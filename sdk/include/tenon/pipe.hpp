// Composition: pipe(x, f, g, h) is h(g(f(x))). f may be an op, an object, a lambda, or a Function's
// apply.
#pragma once

#include <utility>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

template <typename T>
T pipe(T x) {
  return x;
}
template <typename T, typename F, typename... Rest>
auto pipe(T x, F&& f, Rest&&... rest) {
  return pipe(std::forward<F>(f)(std::move(x)), std::forward<Rest>(rest)...);
}

}  // namespace v0
}  // namespace tenon
