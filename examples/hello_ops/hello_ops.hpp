// What the plugin 'hello_ops' brings, written by `tenon header`: changes belong into the plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace TENON_HIDDEN hello_ops {

// x / (k + |x|): between -1 and 1, and halfway where |x| is k.
inline tenon::Tensor squash(const tenon::Tensor& x, tenon::Float k = 1.0) { return tenon::detail::call<tenon::Tensor>(tenon::detail::op<"hello_ops.squash">, {x, k}); }
struct SquashOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  tenon::Float k = 1.0;
};
template <std::same_as<SquashOptions> O = SquashOptions>
inline tenon::Tensor squash(const tenon::Tensor& x, const O& options) { return tenon::detail::call<tenon::Tensor>(tenon::detail::op<"hello_ops.squash">, {x, options.k}); }

}  // namespace hello_ops
