// Tensor's methods that mirror ops.
#pragma once

#include "tenon/indexing.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/matmul.hpp"
#include "tenon/ops/norm.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor Tensor::clone() const { return tenon::clone(*this); }
inline Tensor Tensor::contiguous() const { return is_contiguous() ? *this : tenon::contiguous(*this); }
inline Tensor Tensor::contiguous(const char* memory_format) const { return tenon::contiguous(*this, memory_format); }
inline Tensor Tensor::t() const { return tenon::t(*this); }
inline Tensor Tensor::view(Ints sizes) const { return tenon::view(*this, sizes); }
inline Tensor Tensor::reshape(Ints sizes) const { return tenon::reshape(*this, sizes); }
inline Tensor Tensor::permute(Ints dims) const { return tenon::permute(*this, dims); }
inline Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const { return tenon::transpose(*this, dim0, dim1); }
inline Tensor Tensor::expand(Ints sizes) const { return tenon::expand(*this, sizes); }
inline Tensor Tensor::squeeze(Ints dims) const { return tenon::squeeze(*this, dims); }
inline Tensor Tensor::unsqueeze(int64_t dim) const { return tenon::unsqueeze(*this, dim); }
inline Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const { return tenon::flatten(*this, start_dim, end_dim); }
inline Tensor Tensor::select(int64_t dim, int64_t index) const { return tenon::select(*this, dim, index); }
inline Tensor Tensor::slice(int64_t dim, int64_t start, int64_t end, int64_t step) const { return tenon::slice(*this, dim, start, end, step); }
inline Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const { return tenon::narrow(*this, dim, start, length); }
inline Tensor Tensor::sum(Ints dims, bool keepdim, Dtype dtype) const { return tenon::sum(*this, dims, keepdim, dtype); }
inline Tensor Tensor::mean(Ints dims, bool keepdim, Dtype dtype) const { return tenon::mean(*this, dims, keepdim, dtype); }
inline Tensor Tensor::amax(Ints dims, bool keepdim) const { return tenon::amax(*this, dims, keepdim); }
inline Tensor Tensor::argmax(Ints dims, bool keepdim) const { return tenon::argmax(*this, dims, keepdim); }
inline Tensor Tensor::prod(Ints dims, bool keepdim, Dtype dtype) const { return tenon::prod(*this, dims, keepdim, dtype); }
inline Tensor Tensor::max() const { return tenon::max(*this); }
inline Tensor Tensor::min() const { return tenon::min(*this); }
inline Tensor Tensor::var(Ints dims, int64_t correction, bool keepdim) const { return tenon::var(*this, dims, correction, keepdim); }
inline Tensor Tensor::std(Ints dims, int64_t correction, bool keepdim) const { return tenon::std(*this, dims, correction, keepdim); }
inline Tensor Tensor::norm(double p, Ints dims, bool keepdim) const { return tenon::norm(*this, p, dims, keepdim); }
inline Tensor Tensor::all(Ints dims, bool keepdim) const { return tenon::all(*this, dims, keepdim); }
inline Tensor Tensor::any(Ints dims, bool keepdim) const { return tenon::any(*this, dims, keepdim); }
inline Tensor Tensor::cumsum(int64_t dim) const { return tenon::cumsum(*this, dim); }
inline Tensor Tensor::matmul(const Tensor& b) const { return tenon::matmul(*this, b); }
inline Tensor Tensor::amin(Ints dims, bool keepdim) const { return tenon::amin(*this, dims, keepdim); }
inline Tensor Tensor::argmin(Ints dims, bool keepdim) const { return tenon::argmin(*this, dims, keepdim); }
inline Tensor Tensor::gather(int64_t dim, const Tensor& index) const { return tenon::gather(*this, dim, index); }
inline Tensor Tensor::index_select(int64_t dim, const Tensor& index) const { return tenon::index_select(*this, dim, index); }
inline Tensor Tensor::masked_fill(const Tensor& mask, Operand value) const { return tenon::masked_fill(*this, mask, value); }
inline Tensor Tensor::repeat(Ints sizes) const { return tenon::repeat(*this, sizes); }
inline Tensor Tensor::flip(Ints dims) const { return tenon::flip(*this, dims); }
inline Tensor Tensor::triu(int64_t diagonal) const { return tenon::triu(*this, diagonal); }
inline Tensor Tensor::tril(int64_t diagonal) const { return tenon::tril(*this, diagonal); }
inline Tensor Tensor::neg() const { return tenon::neg(*this); }
inline Tensor Tensor::sin() const { return tenon::sin(*this); }
inline Tensor Tensor::cos() const { return tenon::cos(*this); }
inline Tensor Tensor::round() const { return tenon::round(*this); }
inline Tensor Tensor::abs() const { return tenon::abs(*this); }
inline Tensor Tensor::exp() const { return tenon::exp(*this); }
inline Tensor Tensor::log() const { return tenon::log(*this); }
inline Tensor Tensor::sqrt() const { return tenon::sqrt(*this); }
inline Tensor Tensor::square() const { return tenon::square(*this); }
inline Tensor Tensor::pow(Operand exponent) const { return tenon::pow(*this, exponent); }
inline Tensor Tensor::relu() const { return tenon::relu(*this); }
inline Tensor Tensor::sigmoid() const { return tenon::sigmoid(*this); }
inline Tensor Tensor::tanh() const { return tenon::tanh(*this); }
inline Tensor Tensor::softmax(int64_t dim) const { return tenon::softmax(*this, dim); }
inline Tensor Tensor::log_softmax(int64_t dim) const { return tenon::log_softmax(*this, dim); }
inline const Tensor& Tensor::zero_() const { tenon::fill_(*this, 0); return *this; }
inline const Tensor& Tensor::fill_(Number value) const { tenon::fill_(*this, value); return *this; }
inline const Tensor& Tensor::operator+=(Operand y) const { add_(*this, y); return *this; }
inline const Tensor& Tensor::operator-=(Operand y) const { sub_(*this, y); return *this; }
inline const Tensor& Tensor::operator*=(Operand y) const { mul_(*this, y); return *this; }
inline const Tensor& Tensor::operator/=(Operand y) const { div_(*this, y); return *this; }
inline const Tensor& Tensor::operator%=(Operand y) const { remainder_(*this, y); return *this; }
inline const Tensor& Tensor::operator&=(Operand y) const { bitwise_and_(*this, y); return *this; }
inline const Tensor& Tensor::operator|=(Operand y) const { bitwise_or_(*this, y); return *this; }
inline const Tensor& Tensor::operator^=(Operand y) const { bitwise_xor_(*this, y); return *this; }

}  // namespace v0
}  // namespace tenon
