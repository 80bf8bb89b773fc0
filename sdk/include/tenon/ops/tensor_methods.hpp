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
class Tensors;

namespace detail {

class TensorMethods {
 public:
  Tensor add(Operand y) const;
  Tensor add(Operand y, Number alpha) const;
  Tensor add_(Operand y) const;
  Tensor add_(Operand y, Number alpha) const;
  Tensor sub(Operand y) const;
  Tensor sub(Operand y, Number alpha) const;
  Tensor sub_(Operand y) const;
  Tensor sub_(Operand y, Number alpha) const;
  Tensor mul(Operand y) const;
  Tensor mul_(Operand y) const;
  Tensor div(Operand y) const;
  Tensor div(Operand y, std::optional<std::string> rounding_mode) const;
  Tensor div_(Operand y) const;
  Tensor div_(Operand y, std::optional<std::string> rounding_mode) const;
  Tensor floor_divide(Operand y) const;
  Tensor floor_divide_(Operand y) const;
  Tensor pow(Operand y) const;
  Tensor pow_(Operand y) const;
  Tensor remainder(Operand y) const;
  Tensor remainder_(Operand y) const;
  Tensor fmod(Operand y) const;
  Tensor fmod_(Operand y) const;
  Tensor maximum(Operand y) const;
  Tensor maximum_(Operand y) const;
  Tensor minimum(Operand y) const;
  Tensor minimum_(Operand y) const;
  Tensor atan2(Operand y) const;
  Tensor atan2_(Operand y) const;
  Tensor hypot(Operand y) const;
  Tensor hypot_(Operand y) const;
  Tensor logaddexp(Operand y) const;
  Tensor lerp(Operand end, Operand weight) const;
  Tensor lerp_(Operand end, Operand weight) const;
  Tensor addcmul(Operand tensor1, Operand tensor2) const;
  Tensor addcmul(Operand tensor1, Operand tensor2, Number value) const;
  Tensor addcmul_(Operand tensor1, Operand tensor2) const;
  Tensor addcmul_(Operand tensor1, Operand tensor2, Number value) const;
  Tensor addcdiv(Operand tensor1, Operand tensor2) const;
  Tensor addcdiv(Operand tensor1, Operand tensor2, Number value) const;
  Tensor addcdiv_(Operand tensor1, Operand tensor2) const;
  Tensor addcdiv_(Operand tensor1, Operand tensor2, Number value) const;
  Tensor neg() const;
  Tensor neg_() const;
  Tensor abs() const;
  Tensor abs_() const;
  Tensor sign() const;
  Tensor sign_() const;
  Tensor ceil() const;
  Tensor ceil_() const;
  Tensor floor() const;
  Tensor floor_() const;
  Tensor round() const;
  Tensor round_() const;
  Tensor trunc() const;
  Tensor trunc_() const;
  Tensor frac() const;
  Tensor frac_() const;
  Tensor square() const;
  Tensor square_() const;
  Tensor sqrt() const;
  Tensor sqrt_() const;
  Tensor rsqrt() const;
  Tensor rsqrt_() const;
  Tensor reciprocal() const;
  Tensor reciprocal_() const;
  Tensor exp() const;
  Tensor exp_() const;
  Tensor exp2() const;
  Tensor exp2_() const;
  Tensor expm1() const;
  Tensor expm1_() const;
  Tensor log() const;
  Tensor log_() const;
  Tensor log1p() const;
  Tensor log1p_() const;
  Tensor log2() const;
  Tensor log2_() const;
  Tensor log10() const;
  Tensor log10_() const;
  Tensor sin() const;
  Tensor sin_() const;
  Tensor cos() const;
  Tensor cos_() const;
  Tensor tan() const;
  Tensor tan_() const;
  Tensor asin() const;
  Tensor asin_() const;
  Tensor acos() const;
  Tensor acos_() const;
  Tensor atan() const;
  Tensor atan_() const;
  Tensor sinh() const;
  Tensor sinh_() const;
  Tensor cosh() const;
  Tensor cosh_() const;
  Tensor tanh() const;
  Tensor tanh_() const;
  Tensor asinh() const;
  Tensor asinh_() const;
  Tensor acosh() const;
  Tensor acosh_() const;
  Tensor atanh() const;
  Tensor atanh_() const;
  Tensor erf() const;
  Tensor erf_() const;
  Tensor erfc() const;
  Tensor erfc_() const;
  Tensor sigmoid() const;
  Tensor sigmoid_() const;
  Tensor relu() const;
  Tensor relu_() const;
  Tensor prelu(const Tensor& weight) const;
  Tensor hardshrink(Float lambd = 0.5) const;
  Tensor clamp(Operand min) const;
  Tensor clamp(Operand min, Operand max) const;
  Tensor clamp_(Operand min) const;
  Tensor clamp_(Operand min, Operand max) const;
  Tensor clamp_min(Operand min) const;
  Tensor clamp_min_(Operand min) const;
  Tensor clamp_max(Operand max) const;
  Tensor clamp_max_(Operand max) const;
  Tensor eq(Operand y) const;
  Tensor eq_(Operand y) const;
  Tensor ne(Operand y) const;
  Tensor ne_(Operand y) const;
  Tensor lt(Operand y) const;
  Tensor lt_(Operand y) const;
  Tensor le(Operand y) const;
  Tensor le_(Operand y) const;
  Tensor gt(Operand y) const;
  Tensor gt_(Operand y) const;
  Tensor ge(Operand y) const;
  Tensor ge_(Operand y) const;
  Tensor isnan() const;
  Tensor isinf() const;
  Tensor isfinite() const;
  Tensor logical_and(Operand y) const;
  Tensor logical_and_(Operand y) const;
  Tensor logical_or(Operand y) const;
  Tensor logical_or_(Operand y) const;
  Tensor logical_xor(Operand y) const;
  Tensor logical_xor_(Operand y) const;
  Tensor logical_not() const;
  Tensor logical_not_() const;
  Tensor bitwise_and(Operand y) const;
  Tensor bitwise_and_(Operand y) const;
  Tensor bitwise_or(Operand y) const;
  Tensor bitwise_or_(Operand y) const;
  Tensor bitwise_xor(Operand y) const;
  Tensor bitwise_xor_(Operand y) const;
  Tensor bitwise_not() const;
  Tensor bitwise_not_() const;
  Tensor bitwise_left_shift(Operand y) const;
  Tensor bitwise_left_shift_(Operand y) const;
  Tensor bitwise_right_shift(Operand y) const;
  Tensor bitwise_right_shift_(Operand y) const;
  Tensor masked_fill(Operand mask, Operand value) const;
  Tensor masked_fill_(Operand mask, Operand value) const;
  Tensor nan_to_num(std::optional<Float> nan = {}, std::optional<Float> posinf = {}, std::optional<Float> neginf = {}) const;
  Tensor nan_to_num_(std::optional<Float> nan = {}, std::optional<Float> posinf = {}, std::optional<Float> neginf = {}) const;
  Tensor sum(Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor mean(Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor prod(Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor amax(Ints dims = {}, bool keepdim = false) const;
  Tensor amin(Ints dims = {}, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> max(Int dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> min(Int dim, bool keepdim = false) const;
  Tensor argmax(Ints dims = {}, bool keepdim = false) const;
  Tensor argmin(Ints dims = {}, bool keepdim = false) const;
  Tensor var(Ints dims = {}, Int correction = 1, bool keepdim = false) const;
  Tensor std(Ints dims = {}, Int correction = 1, bool keepdim = false) const;
  Tensor norm(Float p = 2.0, Ints dims = {}, bool keepdim = false, Dtype dtype = {}) const;
  Tensor logsumexp(Ints dims, bool keepdim = false) const;
  Tensor all(Ints dims = {}, bool keepdim = false) const;
  Tensor any(Ints dims = {}, bool keepdim = false) const;
  Tensor count_nonzero(Ints dims = {}) const;
  Tensor cumsum(Int dim, Dtype dtype = {}) const;
  Tensor cumprod(Int dim, Dtype dtype = {}) const;
  std::tuple<Tensor, Tensor> sort(Int dim = -1, bool descending = false) const;
  Tensor argsort(Int dim = -1, bool descending = false) const;
  std::tuple<Tensor, Tensor> topk(Int k, Int dim = -1, bool largest = true, bool sorted = true) const;
  Tensor matmul(const Tensor& b) const;
  Tensor mm(const Tensor& b) const;
  Tensor bmm(const Tensor& b) const;
  Tensor mv(const Tensor& b) const;
  Tensor dot(const Tensor& b) const;
  Tensor outer(const Tensor& b) const;
  Tensor addmm(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  Tensor baddbmm(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  Tensor reshape(Ints sizes) const;
  Tensor permute(Ints dims) const;
  Tensor slice(Int dim, Int start = 0, Int end = INT64_MAX, Int step = 1) const;
  Tensor expand(Ints sizes) const;
  Tensor as_strided(Ints sizes, Ints strides, Int offset = 0) const;
  Tensor view(Ints sizes) const;
  Tensor transpose(Int dim0, Int dim1) const;
  Tensor t() const;
  Tensor select(Int dim, Int index) const;
  Tensor narrow(Int dim, Int start, Int length) const;
  Tensor squeeze(Ints dims = {}) const;
  Tensor unsqueeze(Int dim) const;
  Tensor flatten(Int start_dim = 0, Int end_dim = -1) const;
  Tensor movedim(Ints source, Ints destination) const;
  Tensor unflatten(Int dim, Ints sizes) const;
  Tensor unfold(Int dim, Int size, Int step) const;
  Tensor diagonal(Int offset = 0, Int dim1 = 0, Int dim2 = 1) const;
  Tensor broadcast_to(Ints sizes) const;
  std::vector<Tensor> split(Int length, Int dim = 0) const;
  std::vector<Tensor> split_with_sizes(Ints lengths, Int dim = 0) const;
  std::vector<Tensor> chunk(Int chunks, Int dim = 0) const;
  Tensor flip(Ints dims) const;
  Tensor roll(Ints shifts, Ints dims = {}) const;
  Tensor repeat(Ints sizes) const;
  Tensor triu(Int diagonal = 0) const;
  Tensor tril(Int diagonal = 0) const;
  Tensor clone() const;
  Tensor gather(Int dim, const Tensor& index) const;
  Tensor scatter(Int dim, const Tensor& index, const Tensor& src, bool add = false) const;
  Tensor scatter_add(Int dim, const Tensor& index, const Tensor& src) const;
  Tensor index_select(Int dim, const Tensor& index) const;
  Tensor index(const Tensors& indices) const;
  Tensor index_put(const Tensors& indices, const Tensor& values, bool accumulate = false) const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor nonzero() const;
  Tensor index_add(Int dim, const Tensor& index, const Tensor& source) const;
  Tensor index_add(Int dim, const Tensor& index, const Tensor& source, Number alpha) const;
  Tensor softmax(Int dim = -1, Dtype dtype = {}) const;
  Tensor log_softmax(Int dim = -1, Dtype dtype = {}) const;
  Tensor multinomial(Int num_samples, bool replacement = false) const;
  Tensor uniform_(Float from = 0.0, Float to = 1.0) const;
  Tensor normal_(Float mean = 0.0, Float std = 1.0) const;
  Tensor bernoulli_(Float p = 0.5) const;
  Tensor bernoulli() const;

 private:
  const Tensor& self() const;
};

}  // namespace detail

}  // namespace v0
}  // namespace tenon
