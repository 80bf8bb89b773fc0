// Declarations of the methods of Tensor that are ops of the plugin 'ops', written by `tenon
// header`: the text is with the op.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/lists.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

class Tensor;
class Operand;
class Number;

namespace detail {

class TensorMethods {
 public:
  Tensor pow(Operand y) const;
  Tensor pow_(Operand y) const;
  Tensor neg() const;
  Tensor neg_() const;
  Tensor abs() const;
  Tensor abs_() const;
  Tensor round() const;
  Tensor round_() const;
  Tensor square() const;
  Tensor square_() const;
  Tensor sqrt() const;
  Tensor sqrt_() const;
  Tensor exp() const;
  Tensor exp_() const;
  Tensor log() const;
  Tensor log_() const;
  Tensor sin() const;
  Tensor sin_() const;
  Tensor cos() const;
  Tensor cos_() const;
  Tensor tanh() const;
  Tensor tanh_() const;
  Tensor sigmoid() const;
  Tensor sigmoid_() const;
  Tensor relu() const;
  Tensor relu_() const;
  Tensor masked_fill(Operand mask, Operand value) const;
  Tensor nan_to_num(std::optional<Float> nan = {}, std::optional<Float> posinf = {}, std::optional<Float> neginf = {}) const;
  Tensor nan_to_num_(std::optional<Float> nan = {}, std::optional<Float> posinf = {}, std::optional<Float> neginf = {}) const;
  Tensor sum(Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor mean(Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor prod(Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor amax(Ints dims = {}, bool keepdim = false) const;
  Tensor amin(Ints dims = {}, bool keepdim = false) const;
  Tensor argmax(Ints dims = {}, bool keepdim = false) const;
  Tensor argmin(Ints dims = {}, bool keepdim = false) const;
  Tensor var(Ints dims = {}, Int correction = 1, bool keepdim = false) const;
  Tensor std(Ints dims = {}, Int correction = 1, bool keepdim = false) const;
  Tensor norm(Float p = 2.0, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor all(Ints dims = {}, bool keepdim = false) const;
  Tensor any(Ints dims = {}, bool keepdim = false) const;
  Tensor cumsum(Int dim, Dtype dtype = {}) const;
  std::tuple<Tensor, Tensor> sort(Int dim = -1, bool descending = false) const;
  Tensor argsort(Int dim = -1, bool descending = false) const;
  std::tuple<Tensor, Tensor> topk(Int k, Int dim = -1, bool largest = true, bool sorted = true) const;
  Tensor matmul(const Tensor& b) const;
  Tensor reshape(Ints sizes) const;
  Tensor permute(Ints dims) const;
  Tensor slice(Int dim, Int start = 0, Int end = INT64_MAX, Int step = 1) const;
  Tensor expand(Ints sizes) const;
  Tensor view(Ints sizes) const;
  Tensor transpose(Int dim0, Int dim1) const;
  Tensor t() const;
  Tensor select(Int dim, Int index) const;
  Tensor narrow(Int dim, Int start, Int length) const;
  Tensor squeeze(Ints dims = {}) const;
  Tensor unsqueeze(Int dim) const;
  Tensor flatten(Int start_dim = 0, Int end_dim = -1) const;
  Tensor diagonal(Int offset = 0, Int dim1 = 0, Int dim2 = 1) const;
  Tensor flip(Ints dims) const;
  Tensor repeat(Ints sizes) const;
  Tensor triu(Int diagonal = 0) const;
  Tensor tril(Int diagonal = 0) const;
  Tensor clone() const;
  Tensor gather(Int dim, const Tensor& index) const;
  Tensor index_select(Int dim, const Tensor& index) const;
  Tensor softmax(Int dim = -1, Dtype dtype = {}) const;
  Tensor log_softmax(Int dim = -1, Dtype dtype = {}) const;

 private:
  const Tensor& self() const;
};

}  // namespace detail

}  // namespace v0
}  // namespace tenon
