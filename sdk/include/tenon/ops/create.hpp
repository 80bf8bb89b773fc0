// The group 'create' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
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

// A tensor of one value. dtype None: as the value; device None: the CPU.
inline Tensor full(Ints sizes, Number value, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"full">, {sizes, value, dtype, device}); }
using FullOptions = TensorOptions;
template <std::same_as<FullOptions> O = FullOptions>
inline Tensor full(Ints sizes, Number value, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"full">, {sizes, value, options.dtype, options.device}), options.requires_grad); }
// A tensor of zeros. dtype None: float32; device None: the CPU.
inline Tensor zeros(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"zeros">, {sizes, dtype, device}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor zeros(N... sizes) { return zeros(Ints(sizes...)); }
using ZerosOptions = TensorOptions;
template <std::same_as<ZerosOptions> O = ZerosOptions>
inline Tensor zeros(Ints sizes, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"zeros">, {sizes, options.dtype, options.device}), options.requires_grad); }
// A tensor of ones. dtype None: float32; device None: the CPU.
inline Tensor ones(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"ones">, {sizes, dtype, device}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor ones(N... sizes) { return ones(Ints(sizes...)); }
using OnesOptions = TensorOptions;
template <std::same_as<OnesOptions> O = OnesOptions>
inline Tensor ones(Ints sizes, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"ones">, {sizes, options.dtype, options.device}), options.requires_grad); }
// start, start + step, .. before end. dtype None: int64 where all are ints, else float32; device
// None: the CPU.
inline Tensor arange(Number start, Number end, Number step = 1, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"arange">, {start, end, step, dtype, device}); }
struct ArangeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Number step = 1;
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};
template <std::same_as<ArangeOptions> O = ArangeOptions>
inline Tensor arange(Number start, Number end, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"arange">, {start, end, options.step, options.dtype, options.device}), options.requires_grad); }
// steps values from start to end, both included. dtype None: float32; device None: the CPU.
inline Tensor linspace(Number start, Number end, Int steps, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"linspace">, {start, end, steps, dtype, device}); }
using LinspaceOptions = TensorOptions;
template <std::same_as<LinspaceOptions> O = LinspaceOptions>
inline Tensor linspace(Number start, Number end, Int steps, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"linspace">, {start, end, steps, options.dtype, options.device}), options.requires_grad); }
// base to the powers linspace(start, end, steps), computed in float64. dtype None: float32; device
// None: the CPU.
inline Tensor logspace(Number start, Number end, Int steps, Float base = 10.0, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"logspace">, {start, end, steps, base, dtype, device}); }
struct LogspaceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float base = 10.0;
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};
template <std::same_as<LogspaceOptions> O = LogspaceOptions>
inline Tensor logspace(Number start, Number end, Int steps, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"logspace">, {start, end, steps, options.base, options.dtype, options.device}), options.requires_grad); }
// n rows and m (None: n) columns with ones on the diagonal. dtype None: float32; device None: the
// CPU.
inline Tensor eye(Int n, std::optional<Int> m = {}, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"eye">, {n, m, dtype, device}); }
struct EyeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> m = {};
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};
template <std::same_as<EyeOptions> O = EyeOptions>
inline Tensor eye(Int n, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"eye">, {n, options.m, options.dtype, options.device}), options.requires_grad); }
// int64 [2, count]: rows and columns of the elements of a row by col matrix that tril leaves.
inline Tensor tril_indices(Int row, Int col, Int offset = 0, Device device = {}) { return detail::call<Tensor>(detail::op<"tril_indices">, {row, col, offset, device}); }
struct TrilIndicesOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int offset = 0;
  Device device = {};
};
template <std::same_as<TrilIndicesOptions> O = TrilIndicesOptions>
inline Tensor tril_indices(Int row, Int col, const O& options) { return detail::call<Tensor>(detail::op<"tril_indices">, {row, col, options.offset, options.device}); }
// int64 [2, count]: rows and columns of the elements of a row by col matrix that triu leaves.
inline Tensor triu_indices(Int row, Int col, Int offset = 0, Device device = {}) { return detail::call<Tensor>(detail::op<"triu_indices">, {row, col, offset, device}); }
using TriuIndicesOptions = TrilIndicesOptions;
template <std::same_as<TriuIndicesOptions> O = TriuIndicesOptions>
inline Tensor triu_indices(Int row, Int col, const O& options) { return detail::call<Tensor>(detail::op<"triu_indices">, {row, col, options.offset, options.device}); }
// A tensor that is not initialized, of the sizes and device of x, and of its dtype unless said. Its
// dimensions lie in the order of x's; so do those of the other ops whose names end in _like.
inline Tensor empty_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"empty_like">, {x, dtype}); }
struct EmptyLikeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Dtype dtype = {};
};
template <std::same_as<EmptyLikeOptions> O = EmptyLikeOptions>
inline Tensor empty_like(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"empty_like">, {x, options.dtype}); }
// Zeros of the sizes and device of x, and of its dtype unless said.
inline Tensor zeros_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"zeros_like">, {x, dtype}); }
using ZerosLikeOptions = EmptyLikeOptions;
template <std::same_as<ZerosLikeOptions> O = ZerosLikeOptions>
inline Tensor zeros_like(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"zeros_like">, {x, options.dtype}); }
// Ones of the sizes and device of x, and of its dtype unless said.
inline Tensor ones_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"ones_like">, {x, dtype}); }
using OnesLikeOptions = EmptyLikeOptions;
template <std::same_as<OnesLikeOptions> O = OnesLikeOptions>
inline Tensor ones_like(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"ones_like">, {x, options.dtype}); }
// One value in the sizes and on the device of x, and of its dtype unless said.
inline Tensor full_like(const Tensor& x, Number value, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"full_like">, {x, value, dtype}); }
using FullLikeOptions = EmptyLikeOptions;
template <std::same_as<FullLikeOptions> O = FullLikeOptions>
inline Tensor full_like(const Tensor& x, Number value, const O& options) { return detail::call<Tensor>(detail::op<"full_like">, {x, value, options.dtype}); }
// Writes value to all elements of x. Of floats integers take the whole part.
inline Tensor fill_(const Tensor& x, Number value) { return detail::call<Tensor>(detail::op<"fill_">, {x, value}); }
// (1 - cos(2 pi i / n)) / 2, where n is window_length, or one less where it is not periodic. dtype
// None: float32; device None: the CPU.
inline Tensor hann_window(Int window_length, Bool periodic = true, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"hann_window">, {window_length, periodic, dtype, device}); }
struct HannWindowOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool periodic = true;
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};
template <std::same_as<HannWindowOptions> O = HannWindowOptions>
inline Tensor hann_window(Int window_length, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"hann_window">, {window_length, options.periodic, options.dtype, options.device}), options.requires_grad); }
// alpha - beta * cos(2 pi i / n); n, dtype and device as those of hann_window.
struct HammingWindowOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool periodic = true;
  Float alpha = 0.54;
  Float beta = 0.46;
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};
inline Tensor hamming_window(Int window_length, const HammingWindowOptions& options = {}) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"hamming_window">, {window_length, options.periodic, options.alpha, options.beta, options.dtype, options.device}), options.requires_grad); }
template <detail::Placed<Bool> P>
Tensor hamming_window(Int window_length, const P& periodic, Float alpha = 0.54, Float beta = 0.46, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"hamming_window">, {window_length, Bool(periodic), alpha, beta, dtype, device}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Float, HammingWindowOptions> P2 = HammingWindowOptions, detail::PlacedOr<Float, HammingWindowOptions> P3 = HammingWindowOptions, detail::PlacedOr<Dtype, HammingWindowOptions> P4 = HammingWindowOptions, detail::PlacedOr<Device, HammingWindowOptions> P5 = HammingWindowOptions>
Tensor hamming_window(Int window_length, const P1& periodic, const P2& alpha, const P3& beta = detail::unset<P3>(), const P4& dtype = detail::unset<P4>(), const P5& device = detail::unset<P5>()) { return hamming_window(window_length, detail::behind<HammingWindowOptions, 7, 1>("hamming_window", periodic, alpha, beta, dtype, device)); }
// 0.42 - 0.5 * cos(2 pi i / n) + 0.08 * cos(4 pi i / n); n, dtype and device as those of
// hann_window.
inline Tensor blackman_window(Int window_length, Bool periodic = true, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"blackman_window">, {window_length, periodic, dtype, device}); }
using BlackmanWindowOptions = HannWindowOptions;
template <std::same_as<BlackmanWindowOptions> O = BlackmanWindowOptions>
inline Tensor blackman_window(Int window_length, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"blackman_window">, {window_length, options.periodic, options.dtype, options.device}), options.requires_grad); }
// 1 - |2 i / n - 1|, a triangle; n, dtype and device as those of hann_window.
inline Tensor bartlett_window(Int window_length, Bool periodic = true, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"bartlett_window">, {window_length, periodic, dtype, device}); }
using BartlettWindowOptions = HannWindowOptions;
template <std::same_as<BartlettWindowOptions> O = BartlettWindowOptions>
inline Tensor bartlett_window(Int window_length, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"bartlett_window">, {window_length, options.periodic, options.dtype, options.device}), options.requires_grad); }
// i0(beta * sqrt(1 - (2 i / n - 1)^2)) / i0(beta); n, dtype and device as those of hann_window.
inline Tensor kaiser_window(Int window_length, Bool periodic = true, Float beta = 12.0, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"kaiser_window">, {window_length, periodic, beta, dtype, device}); }
struct KaiserWindowOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool periodic = true;
  Float beta = 12.0;
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};
template <std::same_as<KaiserWindowOptions> O = KaiserWindowOptions>
inline Tensor kaiser_window(Int window_length, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"kaiser_window">, {window_length, options.periodic, options.beta, options.dtype, options.device}), options.requires_grad); }

}  // namespace v0
}  // namespace tenon
