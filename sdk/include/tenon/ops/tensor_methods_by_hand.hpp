// Declarations of the methods of Tensor that are ops and more than a call of their op: written by
// hand, beside those that are generated (tensor_methods.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tenon/dtype.hpp"
#include "tenon/lists.hpp"
#include "tenon/ops/tensor_methods.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct HistogramOptions;
struct IscloseOptions;
struct RepeatInterleaveOptions;
namespace results {
struct HistBinEdges;
}

namespace detail {
template <size_t N>
struct TensorArray;  // named_results.hpp

class TensorMethodsByHand : public TensorMethods {
 public:
  Tensor contiguous() const;  // itself where it is row-major
  Tensor contiguous(TextRef memory_format) const;
  using TensorMethods::max, TensorMethods::min, TensorMethods::scatter, TensorMethods::scatter_,
      TensorMethods::slice, TensorMethods::hsplit, TensorMethods::vsplit, TensorMethods::dsplit,
      TensorMethods::tensor_split, TensorMethods::sum, TensorMethods::mean, TensorMethods::var,
      TensorMethods::std, TensorMethods::prod, TensorMethods::clone, TensorMethods::narrow,
      TensorMethods::bernoulli, TensorMethods::bernoulli_, TensorMethods::quantile,
      TensorMethods::nanquantile, TensorMethods::softmax, TensorMethods::log_softmax,
      TensorMethods::round, TensorMethods::chunk, TensorMethods::split, TensorMethods::view;
  // The same bytes as another dtype: shares memory, and has no gradient. Where its elements are of
  // another size the last dimension, whose elements lie side by side, has as many more or fewer. (A
  // template, so that what stands in braces are sizes.)
  template <std::same_as<Dtype> D>
  Tensor view(D dtype) const;
  Tensor clone() const;                       // of a row-sparse tensor its rows and indices
  Tensor clone(TextRef memory_format) const;  // "preserve_format", or one of contiguous()
  Tensor narrow(Int dim, const Tensor& start,
                Int length) const;                  // reads start, which is waited for
  Tensor bernoulli(Float p) const;                  // of x's sizes, dtype and device
  const Tensor& bernoulli_(const Tensor& p) const;  // a probability for each element, broadcast
  // Of several shares, along the first dimension of the result.
  template <std::same_as<std::initializer_list<double>> L = std::initializer_list<double>>
  Tensor quantile(L q, std::optional<Int> dim = {}, Bool keepdim = false,
                  TextRef interpolation = "linear") const;
  template <std::same_as<std::initializer_list<double>> L = std::initializer_list<double>>
  Tensor nanquantile(L q, std::optional<Int> dim = {}, Bool keepdim = false,
                     TextRef interpolation = "linear") const;
  template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
  Tensor softmax(Int dim, O options) const;
  template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
  Tensor log_softmax(Int dim, O options) const;
  Tensor max() const;  // of all elements
  Tensor min() const;
  Tensor where(Operand condition, Operand other) const;  // itself where the condition is not 0
  Tensor scatter(Int dim, const Tensor& index, Number value) const;
  const Tensor& scatter_(Int dim, const Tensor& index, Number value) const;
  // reduce: "add" or "multiply".
  Tensor scatter(Int dim, const Tensor& index, Operand src, TextRef reduce) const;
  const Tensor& scatter_(Int dim, const Tensor& index, Operand src, TextRef reduce) const;
  const Tensor& scatter_reduce_(Int dim, const Tensor& index, const Tensor& src, TextRef reduce,
                                bool include_self = true) const;
  const Tensor& index_reduce_(Int dim, const Tensor& index, const Tensor& source, TextRef reduce,
                              bool include_self = true) const;
  template <std::same_as<ScatterReduceOptions> O = ScatterReduceOptions>
  const Tensor& scatter_reduce_(Int dim, const Tensor& index, const Tensor& src, TextRef reduce,
                                const O& options) const;
  template <std::same_as<ScatterReduceOptions> O = ScatterReduceOptions>
  const Tensor& index_reduce_(Int dim, const Tensor& index, const Tensor& source, TextRef reduce,
                              const O& options) const;
  const Tensor& cumsum_(Int dim) const;
  const Tensor& cumprod_(Int dim) const;
  const Tensor& tril_(Int diagonal = 0) const;
  const Tensor& triu_(Int diagonal = 0) const;
  const Tensor& addmm_(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  const Tensor& baddbmm_(const Tensor& a, const Tensor& b, Float beta = 1.0,
                         Float alpha = 1.0) const;
  const Tensor& float_power_(Operand y) const;  // of float64
  const Tensor& addmv_(const Tensor& a, const Tensor& b, Float beta = 1, Float alpha = 1) const;
  const Tensor& addbmm_(const Tensor& a, const Tensor& b, Float beta = 1, Float alpha = 1) const;
  const Tensor& addr_(const Tensor& a, const Tensor& b, Float beta = 1, Float alpha = 1) const;
  const Tensor& renorm_(Float p, Int dim, Float maxnorm) const;
  const Tensor& gcd_(const Tensor& y) const;
  const Tensor& lcm_(const Tensor& y) const;
  const Tensor& nextafter_(const Tensor& y) const;
  const Tensor& lgamma_() const;
  const Tensor& digamma_() const;
  const Tensor& erfinv_() const;
  const Tensor& i0_() const;
  // Of a matrix, or of several dimensions of one size. wrap: a matrix of more rows than columns has
  // its diagonal again below each, a row apart.
  const Tensor& fill_diagonal_(Number value, Bool wrap = false) const;
  // Whole numbers from `low` to `high` - 1, each as likely as the others, as randint draws them,
  // whose name errors have.
  const Tensor& random_(Int low, Int high) const;
  const Tensor& random_(Int high) const;
  // From 0 to the greatest number of its integers, or, of floats, to the last one up to which they hold
  // all.
  const Tensor& random_() const;
  Tensor T() const;   // t(), of a matrix
  Tensor mT() const;  // the last two dimensions swapped
  Tensor adjoint() const;
  Tensor clip(Operand min) const;  // clamp
  Tensor clip(Operand min, Operand max) const;
  template <std::same_as<ClampOptions> O = ClampOptions>
  Tensor clip(const O& options) const;
  const Tensor& clip_(Operand min) const;
  const Tensor& clip_(Operand min, Operand max) const;
  template <std::same_as<ClampOptions> O = ClampOptions>
  const Tensor& clip_(const O& options) const;
  // In this dtype, of all elements.
  template <std::same_as<Dtype> D>
  Tensor sum(D dtype) const;
  template <std::same_as<Dtype> D>
  Tensor mean(D dtype) const;
  template <std::same_as<Dtype> D>
  Tensor prod(D dtype) const;
  // A bool in the place of the correction is PyTorch's `unbiased`: true is 1, false is 0.
  template <std::same_as<bool> B>
  Tensor var(B unbiased) const;
  template <std::same_as<bool> B>
  Tensor var(Ints dim, B unbiased, Bool keepdim = false) const;
  template <std::same_as<bool> B>
  Tensor std(B unbiased) const;
  template <std::same_as<bool> B>
  Tensor std(Ints dim, B unbiased, Bool keepdim = false) const;
  Tensor positive() const;  // itself
  Tensor isreal() const;
  Tensor angle() const;
  Tensor narrow_copy(Int dim, Int start, Int length) const;
  Tensor argwhere() const;                               // nonzero
  bool is_nonzero() const;                               // of its one element; waits for the device
  Tensor moveaxis(Ints source, Ints destination) const;  // movedim
  Tensor swapaxes(Int axis0, Int axis1) const;
  Tensor swapdims(Int dim0, Int dim1) const;
  Tensor ravel() const;
  Tensor multiply(
      Operand y) const;  // mul, div, neg, sign, dot, and so on, by PyTorch's other names
  Tensor divide(Operand y) const;
  Tensor true_divide(Operand y) const;
  Tensor negative() const;
  Tensor sgn() const;
  Tensor vdot(const Tensor& other) const;
  Tensor ger(const Tensor& other) const;  // outer
  Tensor det() const;                     // of the plugin `linalg`, as logdet and inverse
  Tensor logdet() const;
  Tensor inverse() const;
  Tensor msort() const;
  std::tuple<Tensor, Tensor> histogram(const Tensor& bins) const;
  std::tuple<Tensor, Tensor> histogram(const Tensor& bins, const Tensor& weight,
                                       bool density = false) const;
  results::HistBinEdges histogram(Int bins = 100, Floats range = {}) const;
  results::HistBinEdges histogram(Int bins, Floats range, const Tensor& weight,
                                  bool density = false) const;
  template <std::same_as<HistogramOptions> O = HistogramOptions>
  results::HistBinEdges histogram(const O& options) const;
  Tensor round(Int decimals) const;
  std::vector<Tensor> unbind(Int dim = 0) const;
  std::vector<Tensor> split(std::initializer_list<int64_t> lengths, Int dim = 0) const;
  std::vector<Tensor> split(const std::vector<int64_t>& lengths, Int dim = 0) const;
  // At these indices, of which each is the begin of a piece.
  std::vector<Tensor> hsplit(std::initializer_list<int64_t> indices) const;
  std::vector<Tensor> hsplit(const std::vector<int64_t>& indices) const;
  std::vector<Tensor> vsplit(std::initializer_list<int64_t> indices) const;
  std::vector<Tensor> vsplit(const std::vector<int64_t>& indices) const;
  std::vector<Tensor> dsplit(std::initializer_list<int64_t> indices) const;
  std::vector<Tensor> dsplit(const std::vector<int64_t>& indices) const;
  std::vector<Tensor> tensor_split(std::initializer_list<int64_t> indices, Int dim = 0) const;
  std::vector<Tensor> tensor_split(const std::vector<int64_t>& indices, Int dim = 0) const;
  // With bounds that may be none. (A template, so that numbers are the method's above.)
  template <typename I = Int>
  Tensor slice(Int dim, std::optional<std::type_identity_t<I>> start,
               std::optional<std::type_identity_t<I>> end = {}, Int step = 1) const;
  // By N names, auto [q, k, v] = x.chunk<3>(-1): N equal pieces, pieces of these lengths, slices. An
  // Error where there are more or fewer.
  template <size_t N>
  detail::TensorArray<N> chunk(Int dim = 0) const;
  template <size_t N>
  detail::TensorArray<N> split(std::initializer_list<int64_t> lengths, Int dim = 0) const;
  template <size_t N>
  detail::TensorArray<N> split(Int length, Int dim = 0) const;
  template <size_t N>
  detail::TensorArray<N> unbind(Int dim = 0) const;
  Tensor repeat_interleave(Int repeats, std::optional<Int> dim = {}) const;
  Tensor repeat_interleave(const Tensor& repeats, std::optional<Int> dim = {}) const;
  template <std::same_as<RepeatInterleaveOptions> O = RepeatInterleaveOptions>
  Tensor repeat_interleave(Int repeats, const O& options) const;
  template <std::same_as<RepeatInterleaveOptions> O = RepeatInterleaveOptions>
  Tensor repeat_interleave(const Tensor& repeats, const O& options) const;
  Tensor view_as(const Tensor& other) const;
  Tensor reshape_as(const Tensor& other) const;
  Tensor expand_as(const Tensor& other) const;
  // New ones on this device, of this dtype where none is given.
  Tensor new_empty(Ints sizes, Dtype dtype = {}) const;
  Tensor new_zeros(Ints sizes, Dtype dtype = {}) const;
  Tensor new_ones(Ints sizes, Dtype dtype = {}) const;
  Tensor new_full(Ints sizes, Number value, Dtype dtype = {}) const;
  // Same sizes and same values; all within atol + rtol * |other|.
  bool equal(const Tensor& other) const;
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                 bool equal_nan = false) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false) const;
  template <std::same_as<IscloseOptions> O = IscloseOptions>
  Tensor isclose(const Tensor& other, const O& options) const;
  template <std::same_as<IscloseOptions> O = IscloseOptions>
  bool allclose(const Tensor& other, const O& options) const;
  const Tensor& zero_() const;
  const Tensor& fill_(Number value) const;         // floats are truncated for integers
  const Tensor& fill_(const Tensor& value) const;  // of one without dimensions; differentiable
  const Tensor& operator+=(Operand y) const;
  const Tensor& operator-=(Operand y) const;
  const Tensor& operator*=(Operand y) const;
  const Tensor& operator/=(Operand y) const;
  const Tensor& operator%=(Operand y) const;
  const Tensor& operator&=(Operand y) const;
  const Tensor& operator|=(Operand y) const;
  const Tensor& operator^=(Operand y) const;
  const Tensor& operator<<=(Operand y) const;
  const Tensor& operator>>=(Operand y) const;

 private:
  // What an op without an in-place form made of this, where this can hold it.
  const Tensor& written(const char* op, const Tensor& result) const;
};

}  // namespace detail

}  // namespace v0
}  // namespace tenon
