// Definitions of the methods of Tensor that are ops of the plugin 'ops', written by `tenon header`:
// the text is with the op.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

inline Tensor TensorMethods::pow(Operand y) const { return detail::call<Tensor>(detail::op<"pow">, self(), y); }
inline Tensor TensorMethods::pow_(Operand y) const { return detail::call<Tensor>(detail::op<"pow_">, self(), y); }
inline Tensor TensorMethods::neg() const { return detail::call<Tensor>(detail::op<"neg">, self()); }
inline Tensor TensorMethods::neg_() const { return detail::call<Tensor>(detail::op<"neg_">, self()); }
inline Tensor TensorMethods::abs() const { return detail::call<Tensor>(detail::op<"abs">, self()); }
inline Tensor TensorMethods::abs_() const { return detail::call<Tensor>(detail::op<"abs_">, self()); }
inline Tensor TensorMethods::round() const { return detail::call<Tensor>(detail::op<"round">, self()); }
inline Tensor TensorMethods::round_() const { return detail::call<Tensor>(detail::op<"round_">, self()); }
inline Tensor TensorMethods::square() const { return detail::call<Tensor>(detail::op<"square">, self()); }
inline Tensor TensorMethods::square_() const { return detail::call<Tensor>(detail::op<"square_">, self()); }
inline Tensor TensorMethods::sqrt() const { return detail::call<Tensor>(detail::op<"sqrt">, self()); }
inline Tensor TensorMethods::sqrt_() const { return detail::call<Tensor>(detail::op<"sqrt_">, self()); }
inline Tensor TensorMethods::exp() const { return detail::call<Tensor>(detail::op<"exp">, self()); }
inline Tensor TensorMethods::exp_() const { return detail::call<Tensor>(detail::op<"exp_">, self()); }
inline Tensor TensorMethods::log() const { return detail::call<Tensor>(detail::op<"log">, self()); }
inline Tensor TensorMethods::log_() const { return detail::call<Tensor>(detail::op<"log_">, self()); }
inline Tensor TensorMethods::sin() const { return detail::call<Tensor>(detail::op<"sin">, self()); }
inline Tensor TensorMethods::sin_() const { return detail::call<Tensor>(detail::op<"sin_">, self()); }
inline Tensor TensorMethods::cos() const { return detail::call<Tensor>(detail::op<"cos">, self()); }
inline Tensor TensorMethods::cos_() const { return detail::call<Tensor>(detail::op<"cos_">, self()); }
inline Tensor TensorMethods::tanh() const { return detail::call<Tensor>(detail::op<"tanh">, self()); }
inline Tensor TensorMethods::tanh_() const { return detail::call<Tensor>(detail::op<"tanh_">, self()); }
inline Tensor TensorMethods::sigmoid() const { return detail::call<Tensor>(detail::op<"sigmoid">, self()); }
inline Tensor TensorMethods::sigmoid_() const { return detail::call<Tensor>(detail::op<"sigmoid_">, self()); }
inline Tensor TensorMethods::relu() const { return detail::call<Tensor>(detail::op<"relu">, self()); }
inline Tensor TensorMethods::relu_() const { return detail::call<Tensor>(detail::op<"relu_">, self()); }
inline Tensor TensorMethods::masked_fill(Operand mask, Operand value) const { return detail::call<Tensor>(detail::op<"masked_fill">, self(), mask, value); }
inline Tensor TensorMethods::nan_to_num(std::optional<Float> nan, std::optional<Float> posinf, std::optional<Float> neginf) const { return detail::call<Tensor>(detail::op<"nan_to_num">, self(), nan, posinf, neginf); }
inline Tensor TensorMethods::nan_to_num_(std::optional<Float> nan, std::optional<Float> posinf, std::optional<Float> neginf) const { return detail::call<Tensor>(detail::op<"nan_to_num_">, self(), nan, posinf, neginf); }
inline Tensor TensorMethods::sum(Ints dims, bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"sum">, self(), dims, keepdim, dtype); }
inline Tensor TensorMethods::mean(Ints dims, bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"mean">, self(), dims, keepdim, dtype); }
inline Tensor TensorMethods::prod(Ints dims, bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"prod">, self(), dims, keepdim, dtype); }
inline Tensor TensorMethods::amax(Ints dims, bool keepdim) const { return detail::call<Tensor>(detail::op<"amax">, self(), dims, keepdim); }
inline Tensor TensorMethods::amin(Ints dims, bool keepdim) const { return detail::call<Tensor>(detail::op<"amin">, self(), dims, keepdim); }
inline Tensor TensorMethods::argmax(Ints dims, bool keepdim) const { return detail::call<Tensor>(detail::op<"argmax">, self(), dims, keepdim); }
inline Tensor TensorMethods::argmin(Ints dims, bool keepdim) const { return detail::call<Tensor>(detail::op<"argmin">, self(), dims, keepdim); }
inline Tensor TensorMethods::var(Ints dims, Int correction, bool keepdim) const { return detail::call<Tensor>(detail::op<"var">, self(), dims, correction, keepdim); }
inline Tensor TensorMethods::std(Ints dims, Int correction, bool keepdim) const { return detail::call<Tensor>(detail::op<"std">, self(), dims, correction, keepdim); }
inline Tensor TensorMethods::norm(Float p, Ints dims, bool keepdim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"norm">, self(), p, dims, keepdim, dtype); }
inline Tensor TensorMethods::all(Ints dims, bool keepdim) const { return detail::call<Tensor>(detail::op<"all">, self(), dims, keepdim); }
inline Tensor TensorMethods::any(Ints dims, bool keepdim) const { return detail::call<Tensor>(detail::op<"any">, self(), dims, keepdim); }
inline Tensor TensorMethods::cumsum(Int dim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"cumsum">, self(), dim, dtype); }
inline std::tuple<Tensor, Tensor> TensorMethods::sort(Int dim, bool descending) const { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"sort">, self(), dim, descending); }
inline Tensor TensorMethods::argsort(Int dim, bool descending) const { return detail::call<Tensor>(detail::op<"argsort">, self(), dim, descending); }
inline std::tuple<Tensor, Tensor> TensorMethods::topk(Int k, Int dim, bool largest, bool sorted) const { return detail::call<std::tuple<Tensor, Tensor>>(detail::op<"topk">, self(), k, dim, largest, sorted); }
inline Tensor TensorMethods::matmul(const Tensor& b) const { return detail::call<Tensor>(detail::op<"matmul">, self(), b); }
inline Tensor TensorMethods::reshape(Ints sizes) const { return detail::call<Tensor>(detail::op<"reshape">, self(), sizes); }
inline Tensor TensorMethods::permute(Ints dims) const { return detail::call<Tensor>(detail::op<"permute">, self(), dims); }
inline Tensor TensorMethods::slice(Int dim, Int start, Int end, Int step) const { return detail::call<Tensor>(detail::op<"slice">, self(), dim, start, end, step); }
inline Tensor TensorMethods::expand(Ints sizes) const { return detail::call<Tensor>(detail::op<"expand">, self(), sizes); }
inline Tensor TensorMethods::view(Ints sizes) const { return detail::call<Tensor>(detail::op<"view">, self(), sizes); }
inline Tensor TensorMethods::transpose(Int dim0, Int dim1) const { return detail::call<Tensor>(detail::op<"transpose">, self(), dim0, dim1); }
inline Tensor TensorMethods::t() const { return detail::call<Tensor>(detail::op<"t">, self()); }
inline Tensor TensorMethods::select(Int dim, Int index) const { return detail::call<Tensor>(detail::op<"select">, self(), dim, index); }
inline Tensor TensorMethods::narrow(Int dim, Int start, Int length) const { return detail::call<Tensor>(detail::op<"narrow">, self(), dim, start, length); }
inline Tensor TensorMethods::squeeze(Ints dims) const { return detail::call<Tensor>(detail::op<"squeeze">, self(), dims); }
inline Tensor TensorMethods::unsqueeze(Int dim) const { return detail::call<Tensor>(detail::op<"unsqueeze">, self(), dim); }
inline Tensor TensorMethods::flatten(Int start_dim, Int end_dim) const { return detail::call<Tensor>(detail::op<"flatten">, self(), start_dim, end_dim); }
inline Tensor TensorMethods::diagonal(Int offset, Int dim1, Int dim2) const { return detail::call<Tensor>(detail::op<"diagonal">, self(), offset, dim1, dim2); }
inline Tensor TensorMethods::flip(Ints dims) const { return detail::call<Tensor>(detail::op<"flip">, self(), dims); }
inline Tensor TensorMethods::repeat(Ints sizes) const { return detail::call<Tensor>(detail::op<"repeat">, self(), sizes); }
inline Tensor TensorMethods::triu(Int diagonal) const { return detail::call<Tensor>(detail::op<"triu">, self(), diagonal); }
inline Tensor TensorMethods::tril(Int diagonal) const { return detail::call<Tensor>(detail::op<"tril">, self(), diagonal); }
inline Tensor TensorMethods::clone() const { return detail::call<Tensor>(detail::op<"clone">, self()); }
inline Tensor TensorMethods::gather(Int dim, const Tensor& index) const { return detail::call<Tensor>(detail::op<"gather">, self(), dim, index); }
inline Tensor TensorMethods::index_select(Int dim, const Tensor& index) const { return detail::call<Tensor>(detail::op<"index_select">, self(), dim, index); }
inline Tensor TensorMethods::softmax(Int dim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"softmax">, self(), dim, dtype); }
inline Tensor TensorMethods::log_softmax(Int dim, Dtype dtype) const { return detail::call<Tensor>(detail::op<"log_softmax">, self(), dim, dtype); }

}  // namespace detail

}  // namespace v0
}  // namespace tenon
