// The methods of Tensor that are ops and more than a call of their op, as
// tensor_methods_by_hand.hpp declares them.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tenon/ops/by_hand.hpp"
#include "tenon/ops/methods.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

inline const Tensor& TensorMethodsByHand::written(const char* op, const Tensor& result) const {
  const Dtype held = self().dtype();
  if (result.dtype().is_float() && !held.is_float()) {
    fail(joined({op, ": x is ", held.name(), ", which cannot hold the result, ", result.dtype().name()}));
  }
  return self().copy_(result);
}
inline std::vector<Tensor> TensorMethodsByHand::hsplit(std::initializer_list<int64_t> indices) const { return tenon::hsplit(self(), indices); }
inline std::vector<Tensor> TensorMethodsByHand::hsplit(const std::vector<int64_t>& indices) const { return tenon::hsplit(self(), indices); }
inline std::vector<Tensor> TensorMethodsByHand::vsplit(std::initializer_list<int64_t> indices) const { return tenon::vsplit(self(), indices); }
inline std::vector<Tensor> TensorMethodsByHand::vsplit(const std::vector<int64_t>& indices) const { return tenon::vsplit(self(), indices); }
inline std::vector<Tensor> TensorMethodsByHand::dsplit(std::initializer_list<int64_t> indices) const { return tenon::dsplit(self(), indices); }
inline std::vector<Tensor> TensorMethodsByHand::dsplit(const std::vector<int64_t>& indices) const { return tenon::dsplit(self(), indices); }
inline std::vector<Tensor> TensorMethodsByHand::tensor_split(std::initializer_list<int64_t> indices, Int dim) const { return tensor_split_at(self(), indices, dim); }
inline std::vector<Tensor> TensorMethodsByHand::tensor_split(const std::vector<int64_t>& indices, Int dim) const { return tensor_split_at(self(), indices, dim); }
template <typename I>
Tensor TensorMethodsByHand::slice(Int dim, std::optional<std::type_identity_t<I>> start, std::optional<std::type_identity_t<I>> end, Int step) const {
  return TensorMethods::slice(dim, start ? *start : Int(0), end ? *end : Int(INT64_MAX), step);
}
inline std::vector<Tensor> TensorMethodsByHand::split(std::initializer_list<int64_t> lengths, Int dim) const { return split_with_sizes(lengths, dim); }
inline std::vector<Tensor> TensorMethodsByHand::split(const std::vector<int64_t>& lengths, Int dim) const { return split_with_sizes(lengths, dim); }
template <size_t N>
TensorArray<N> TensorMethodsByHand::chunk(Int dim) const { return tenon::chunk<N>(self(), dim); }
template <size_t N>
TensorArray<N> TensorMethodsByHand::split(std::initializer_list<int64_t> lengths, Int dim) const { return tenon::split<N>(self(), lengths, dim); }
template <size_t N>
TensorArray<N> TensorMethodsByHand::split(Int length, Int dim) const { return tenon::split<N>(self(), length, dim); }
template <size_t N>
TensorArray<N> TensorMethodsByHand::unbind(Int dim) const { return tenon::unbind<N>(self(), dim); }
inline Tensor TensorMethodsByHand::clip(Operand min) const { return clamp(min); }
inline Tensor TensorMethodsByHand::clip(Operand min, Operand max) const { return clamp(min, max); }
inline const Tensor& TensorMethodsByHand::clip_(Operand min) const { return clamp_(min), self(); }
inline const Tensor& TensorMethodsByHand::clip_(Operand min, Operand max) const { return clamp_(min, max), self(); }
inline Tensor TensorMethodsByHand::argwhere() const { return nonzero(); }
inline bool TensorMethodsByHand::is_nonzero() const {
  if (self().numel() != 1) fail(joined({"is_nonzero: a tensor of one element is needed, this has ", std::to_string(self().numel())}));
  return ne(0).item<bool>();
}
inline std::vector<Tensor> TensorMethodsByHand::unbind(Int dim) const { return tenon::unbind(self(), dim); }
inline Tensor TensorMethodsByHand::contiguous() const { return self().is_contiguous() ? self() : tenon::contiguous(self()); }
inline Tensor TensorMethodsByHand::contiguous(TextRef memory_format) const { return tenon::contiguous(self(), memory_format); }
inline Tensor TensorMethodsByHand::round(Int decimals) const { return tenon::round(self(), decimals); }
inline Tensor TensorMethodsByHand::max() const { return tenon::max(self()); }
inline Tensor TensorMethodsByHand::min() const { return tenon::min(self()); }
inline Tensor TensorMethodsByHand::where(Operand condition, Operand other) const { return tenon::where(condition, self(), other); }
inline Tensor TensorMethodsByHand::scatter(Int dim, const Tensor& index, Number value) const { return scatter(dim, index, full(index.sizes(), value, self().dtype(), self().device())); }
inline const Tensor& TensorMethodsByHand::scatter_(Int dim, const Tensor& index, Number value) const {
  scatter_(dim, index, full({}, value, self().dtype(), self().device()).expand(index.sizes()));
  return self();
}
inline Tensor TensorMethodsByHand::scatter(Int dim, const Tensor& index, Operand src, TextRef reduce) const {
  const std::string_view name = reduce.c_str();
  if (name != "add" && name != "multiply") fail(joined({"scatter: reduce is '", name, "', expected 'add' or 'multiply'"}));
  const Tensor from = src.is_tensor() ? src.tensor() : full({}, Number(src), self().dtype(), self().device()).expand(index.sizes());
  return name == "add" ? scatter(dim, index, from, true) : scatter_reduce(dim, index, from, "prod");
}
inline const Tensor& TensorMethodsByHand::scatter_(Int dim, const Tensor& index, Operand src, TextRef reduce) const { return self().copy_(scatter(dim, index, src, reduce)); }
inline const Tensor& TensorMethodsByHand::scatter_reduce_(Int dim, const Tensor& index, const Tensor& src, TextRef reduce, bool include_self) const { return self().copy_(scatter_reduce(dim, index, src, reduce, include_self)); }
inline const Tensor& TensorMethodsByHand::index_reduce_(Int dim, const Tensor& index, const Tensor& source, TextRef reduce, bool include_self) const { return self().copy_(index_reduce(dim, index, source, reduce, include_self)); }
inline const Tensor& TensorMethodsByHand::cumsum_(Int dim) const { return self().copy_(cumsum(dim)); }
inline const Tensor& TensorMethodsByHand::cumprod_(Int dim) const { return self().copy_(cumprod(dim)); }
inline const Tensor& TensorMethodsByHand::tril_(Int diagonal) const { return self().copy_(tril(diagonal)); }
inline const Tensor& TensorMethodsByHand::triu_(Int diagonal) const { return self().copy_(triu(diagonal)); }
inline const Tensor& TensorMethodsByHand::addmm_(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return self().copy_(addmm(a, b, beta, alpha)); }
inline const Tensor& TensorMethodsByHand::baddbmm_(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return self().copy_(baddbmm(a, b, beta, alpha)); }
inline const Tensor& TensorMethodsByHand::float_power_(Operand y) const {
  if (self().dtype() != float64) fail(joined({"float_power_: x is ", self().dtype().name(), ", expected float64, in which powers are computed"}));
  return self().copy_(float_power(y));
}
inline const Tensor& TensorMethodsByHand::fill_diagonal_(Number value, Bool wrap) const {
  if (self().dim() < 2) fail(joined({"fill_diagonal_: x has ", std::to_string(self().dim()), " dimensions, expected 2 or more"}));
  for (int64_t d = 0; self().dim() > 2 && d < self().dim(); ++d) {
    if (self().size(d) != self().size(0)) fail(joined({"fill_diagonal_: x is ", sizes_text(self().sizes()), ", expected dimensions of one size"}));
  }
  Tensor part = diagonal(0, 0, -1);
  while (part.dim() > 1) part = part.diagonal(0, 0, -1);
  tenon::fill_(part, value);
  // Again in the rows below each square of one row more than there are columns.
  const int64_t apart = self().size(1) + 1;
  for (int64_t row = apart; wrap && self().dim() == 2 && row < self().size(0); row += apart) tenon::fill_(slice(0, Int(row), Int(self().size(0))).diagonal(), value);
  return self();
}
inline const Tensor& TensorMethodsByHand::random_(Int low, Int high) const { return self().copy_(randint(low, high, self().sizes(), self().dtype(), self().device())); }
inline const Tensor& TensorMethodsByHand::random_(Int high) const { return random_(0, high); }
inline const Tensor& TensorMethodsByHand::random_() const {
  const Dtype d = self().dtype();
  if (d == bool_) return random_(0, 2);
  const int64_t greatest = d == float64 ? int64_t{1} << 53 : d == float32 ? 1 << 24 : d == float16 ? 1 << 11 : d == bfloat16 ? 1 << 8 : dtype_table::int_range(d.value).greatest;
  return random_(0, greatest == INT64_MAX ? greatest : greatest + 1);
}
template <std::same_as<Dtype> D>
Tensor TensorMethodsByHand::view(D dtype) const {
  tn_tensor* viewed = nullptr;
  check(api.tensor->view_dtype(self().get(), dtype.value, &viewed));
  return Tensor::take(viewed);
}
inline Tensor TensorMethodsByHand::clone() const {
  if (!self().is_row_sparse()) [[likely]]
    return TensorMethods::clone();
  tn_tensor* copy = nullptr;
  check(api.rows->make(self().indices().TensorMethods::clone().get(),
                       self().values().TensorMethods::clone().get(), self().sizes()[0], &copy));
  return Tensor::take(copy);
}
inline Tensor TensorMethodsByHand::clone(TextRef memory_format) const {
  if (std::string_view(memory_format.c_str()) == "preserve_format") return clone();
  Tensor laid = contiguous(memory_format);
  return laid.is_same(self()) ? clone() : laid;
}
inline Tensor TensorMethodsByHand::narrow(Int dim, const Tensor& start, Int length) const { return tenon::narrow(self(), dim, start, length); }
inline Tensor TensorMethodsByHand::bernoulli(Float p) const { return tenon::bernoulli(self(), p); }
inline const Tensor& TensorMethodsByHand::bernoulli_(const Tensor& p) const { return self().copy_(tenon::bernoulli(p.expand(self().sizes()))); }
inline Tensor TensorMethodsByHand::multiply(Operand y) const { return mul(y); }
inline Tensor TensorMethodsByHand::divide(Operand y) const { return div(y); }
inline Tensor TensorMethodsByHand::true_divide(Operand y) const { return div(y); }
inline Tensor TensorMethodsByHand::ger(const Tensor& other) const { return outer(other); }
inline Tensor TensorMethodsByHand::det() const { return detail::call<Tensor>(detail::op<"linalg.det">, {self()}); }
inline Tensor TensorMethodsByHand::logdet() const { return detail::call<Tensor>(detail::op<"linalg.logdet">, {self()}); }
inline Tensor TensorMethodsByHand::inverse() const { return detail::call<Tensor>(detail::op<"linalg.inv">, {self()}); }
inline Tensor TensorMethodsByHand::msort() const { return sort(0).values(); }
inline results::HistBinEdges TensorMethodsByHand::histogram(Int bins, Floats range) const { return tenon::histogram(self(), bins, range); }
inline results::HistBinEdges TensorMethodsByHand::histogram(Int bins, Floats range, const Tensor& weight, bool density) const { return tenon::histogram(self(), bins, range, weight, Bool(density)); }
template <std::same_as<HistogramOptions> O>
results::HistBinEdges TensorMethodsByHand::histogram(const O& options) const { return tenon::histogram(self(), options); }
inline std::tuple<Tensor, Tensor> TensorMethodsByHand::histogram(const Tensor& bins) const { return tenon::histogram(self(), bins); }
inline std::tuple<Tensor, Tensor> TensorMethodsByHand::histogram(const Tensor& bins, const Tensor& weight, bool density) const { return tenon::histogram(self(), bins, weight, density); }
inline Tensor TensorMethodsByHand::T() const { return t(); }
inline Tensor TensorMethodsByHand::mT() const { return transpose(-2, -1); }
inline Tensor TensorMethodsByHand::new_empty(Ints sizes, Dtype dtype) const { return empty(sizes, dtype ? dtype : self().dtype(), self().device()); }
inline Tensor TensorMethodsByHand::new_zeros(Ints sizes, Dtype dtype) const { return zeros(sizes, dtype ? dtype : self().dtype(), self().device()); }
inline Tensor TensorMethodsByHand::new_ones(Ints sizes, Dtype dtype) const { return ones(sizes, dtype ? dtype : self().dtype(), self().device()); }
inline Tensor TensorMethodsByHand::new_full(Ints sizes, Number value, Dtype dtype) const { return full(sizes, value, dtype ? dtype : self().dtype(), self().device()); }
inline bool TensorMethodsByHand::equal(const Tensor& other) const { return tenon::equal(self(), other); }
inline bool TensorMethodsByHand::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return tenon::allclose(self(), other, rtol, atol, equal_nan); }
inline const Tensor& TensorMethodsByHand::zero_() const { tenon::fill_(self(), 0); return self(); }
inline const Tensor& TensorMethodsByHand::fill_(Number value) const { tenon::fill_(self(), value); return self(); }
inline const Tensor& TensorMethodsByHand::fill_(const Tensor& value) const {
  if (value.dim() != 0) fail(joined({"fill_: value has ", std::to_string(value.dim()), " dimensions, expected none"}));
  return self().copy_(value);
}
inline Tensor TensorMethodsByHand::positive() const { return tenon::positive(self()); }
inline Tensor TensorMethodsByHand::isreal() const { return tenon::isreal(self()); }
inline Tensor TensorMethodsByHand::angle() const { return tenon::angle(self()); }
inline Tensor TensorMethodsByHand::narrow_copy(Int dim, Int start, Int length) const { return tenon::narrow_copy(self(), dim, start, length); }
inline Tensor TensorMethodsByHand::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return tenon::isclose(self(), other, rtol, atol, equal_nan); }
inline Tensor TensorMethodsByHand::repeat_interleave(Int repeats, std::optional<Int> dim) const { return tenon::repeat_interleave(self(), repeats, dim); }
inline Tensor TensorMethodsByHand::repeat_interleave(const Tensor& repeats, std::optional<Int> dim) const { return tenon::repeat_interleave(self(), repeats, dim); }
inline const Tensor& TensorMethodsByHand::operator+=(Operand y) const { tenon::add_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator-=(Operand y) const { tenon::sub_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator*=(Operand y) const { tenon::mul_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator/=(Operand y) const { tenon::div_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator%=(Operand y) const { tenon::remainder_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator&=(Operand y) const { tenon::bitwise_and_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator|=(Operand y) const { tenon::bitwise_or_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator^=(Operand y) const { tenon::bitwise_xor_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator<<=(Operand y) const { tenon::bitwise_left_shift_(self(), y); return self(); }
inline const Tensor& TensorMethodsByHand::operator>>=(Operand y) const { tenon::bitwise_right_shift_(self(), y); return self(); }
inline Tensor TensorMethodsByHand::moveaxis(Ints source, Ints destination) const { return movedim(source, destination); }
inline Tensor TensorMethodsByHand::swapaxes(Int axis0, Int axis1) const { return transpose(axis0, axis1); }
inline Tensor TensorMethodsByHand::swapdims(Int dim0, Int dim1) const { return transpose(dim0, dim1); }
inline Tensor TensorMethodsByHand::ravel() const { return flatten(); }
template <std::same_as<std::initializer_list<double>> L>
Tensor TensorMethodsByHand::quantile(L q, std::optional<Int> dim, Bool keepdim, TextRef interpolation) const { return quantile(Tensor::from(q).to(self().device(), self().dtype()), dim, keepdim, interpolation); }
template <std::same_as<std::initializer_list<double>> L>
Tensor TensorMethodsByHand::nanquantile(L q, std::optional<Int> dim, Bool keepdim, TextRef interpolation) const { return nanquantile(Tensor::from(q).to(self().device(), self().dtype()), dim, keepdim, interpolation); }
template <std::same_as<SoftmaxOptions> O>
Tensor TensorMethodsByHand::softmax(Int dim, O options) const { return options.dim = dim, softmax(options); }
template <std::same_as<SoftmaxOptions> O>
Tensor TensorMethodsByHand::log_softmax(Int dim, O options) const { return options.dim = dim, log_softmax(options); }
template <std::same_as<ScatterReduceOptions> O>
const Tensor& TensorMethodsByHand::scatter_reduce_(Int dim, const Tensor& index, const Tensor& src, TextRef reduce, const O& options) const { return scatter_reduce_(dim, index, src, reduce, options.include_self); }
template <std::same_as<ScatterReduceOptions> O>
const Tensor& TensorMethodsByHand::index_reduce_(Int dim, const Tensor& index, const Tensor& source, TextRef reduce, const O& options) const { return index_reduce_(dim, index, source, reduce, options.include_self); }
inline const Tensor& TensorMethodsByHand::addmv_(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return written("addmv_", addmv(a, b, beta, alpha)); }
inline const Tensor& TensorMethodsByHand::addbmm_(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return written("addbmm_", addbmm(a, b, beta, alpha)); }
inline const Tensor& TensorMethodsByHand::addr_(const Tensor& a, const Tensor& b, Float beta, Float alpha) const { return written("addr_", addr(a, b, beta, alpha)); }
inline const Tensor& TensorMethodsByHand::renorm_(Float p, Int dim, Float maxnorm) const { return written("renorm_", renorm(p, dim, maxnorm)); }
inline const Tensor& TensorMethodsByHand::gcd_(const Tensor& y) const { return written("gcd_", gcd(y)); }
inline const Tensor& TensorMethodsByHand::lcm_(const Tensor& y) const { return written("lcm_", lcm(y)); }
inline const Tensor& TensorMethodsByHand::nextafter_(const Tensor& y) const { return written("nextafter_", nextafter(y)); }
inline const Tensor& TensorMethodsByHand::lgamma_() const { return written("lgamma_", lgamma()); }
inline const Tensor& TensorMethodsByHand::digamma_() const { return written("digamma_", digamma()); }
inline const Tensor& TensorMethodsByHand::erfinv_() const { return written("erfinv_", erfinv()); }
inline const Tensor& TensorMethodsByHand::i0_() const { return written("i0_", i0()); }
inline Tensor TensorMethodsByHand::adjoint() const { return mT(); }
template <std::same_as<ClampOptions> O>
Tensor TensorMethodsByHand::clip(const O& options) const { return clamp(options); }
template <std::same_as<ClampOptions> O>
const Tensor& TensorMethodsByHand::clip_(const O& options) const { return clamp_(options), self(); }
template <std::same_as<Dtype> D>
Tensor TensorMethodsByHand::sum(D dtype) const { return sum(Ints(), false, dtype); }
template <std::same_as<Dtype> D>
Tensor TensorMethodsByHand::mean(D dtype) const { return mean(Ints(), false, dtype); }
template <std::same_as<Dtype> D>
Tensor TensorMethodsByHand::prod(D dtype) const { return prod(Ints(), false, dtype); }
template <std::same_as<bool> B>
Tensor TensorMethodsByHand::var(B unbiased) const { return var(Ints(), double(unbiased)); }
template <std::same_as<bool> B>
Tensor TensorMethodsByHand::var(Ints dim, B unbiased, Bool keepdim) const { return var(dim, double(unbiased), keepdim); }
template <std::same_as<bool> B>
Tensor TensorMethodsByHand::std(B unbiased) const { return std(Ints(), double(unbiased)); }
template <std::same_as<bool> B>
Tensor TensorMethodsByHand::std(Ints dim, B unbiased, Bool keepdim) const { return std(dim, double(unbiased), keepdim); }
inline Tensor TensorMethodsByHand::negative() const { return neg(); }
inline Tensor TensorMethodsByHand::sgn() const { return sign(); }
inline Tensor TensorMethodsByHand::vdot(const Tensor& other) const { return dot(other); }
template <std::same_as<RepeatInterleaveOptions> O>
Tensor TensorMethodsByHand::repeat_interleave(Int repeats, const O& options) const { return repeat_interleave(repeats, options.dim); }
template <std::same_as<RepeatInterleaveOptions> O>
Tensor TensorMethodsByHand::repeat_interleave(const Tensor& repeats, const O& options) const { return repeat_interleave(repeats, options.dim); }
inline Tensor TensorMethodsByHand::view_as(const Tensor& other) const { return view(other.sizes()); }
inline Tensor TensorMethodsByHand::reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
inline Tensor TensorMethodsByHand::expand_as(const Tensor& other) const { return expand(other.sizes()); }
template <std::same_as<IscloseOptions> O>
Tensor TensorMethodsByHand::isclose(const Tensor& other, const O& options) const { return isclose(other, options.rtol, options.atol, options.equal_nan); }
template <std::same_as<IscloseOptions> O>
bool TensorMethodsByHand::allclose(const Tensor& other, const O& options) const { return allclose(other, options.rtol, options.atol, options.equal_nan); }

}  // namespace detail
}  // namespace v0
}  // namespace tenon
// clang-format on
