// Layers by PyTorch's names, and how they are composed. Each is a factory that a layer pack brings;
// an Error names the packs that are loaded when there is none of that name. Parameters are on the
// CPU in float32 until `.to` moves them.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// y = x Wᵀ + b: weight [out_features, in_features] and bias [out_features], both uniform in
// ±1/sqrt(in_features).
inline Object Linear(int64_t in_features, int64_t out_features, bool bias = true) {
  return Object::create("Linear", in_features, out_features, bias);
}

inline Object ReLU() { return Object::create("ReLU"); }

// In training: zero with probability p, the others times 1 / (1 - p). Else the identity.
inline Object Dropout(double p = 0.5) { return Object::create("Dropout", p); }

// All dimensions from start_dim to end_dim as one.
inline Object Flatten(int64_t start_dim = 1, int64_t end_dim = -1) {
  return Object::create("Flatten", start_dim, end_dim);
}

// A function as a layer: f(Tensor) gives a Tensor. It has no parameters that anyone else knows of.
template <typename F>
Object Lambda(F f, const char* name = "Lambda") {
  Object object = Object::empty(name);
  object.method("forward(Tensor x) -> Tensor",
                [f = std::move(f)](Tensor x) -> Tensor { return f(std::move(x)); });
  return object;
}

// What a container takes as a module: an object of any kind, or a function, which becomes a Lambda.
template <typename M>
Object as_module(M&& module) {
  if constexpr (std::is_base_of_v<Object, std::remove_cvref_t<M>>) {
    return std::forward<M>(module);
  } else {
    return Lambda(std::forward<M>(module));
  }
}

// Each module's output is the next one's input. Children "0", "1", ...
inline Object sequential_of(const std::vector<Object>& modules) {
  return Object::create("Sequential", detail::to_value(modules));
}
template <typename... Modules>
Object Sequential(Modules&&... modules) {
  return sequential_of({as_module(std::forward<Modules>(modules))...});
}

}  // namespace nn
}  // namespace v0
}  // namespace tenon
