// Declarations of the methods of Tensor that are ops of the plugin 'ops', written by `tenon
// header`: the text is with the op.
#pragma once

#include <concepts>
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
struct AddOptions;
struct AddcmulOptions;
struct AddmmOptions;
struct AmaxOptions;
struct AsStridedOptions;
struct BernoulliOptions;
struct BincountOptions;
struct CauchyOptions;
struct ClampOptions;
struct CountNonzeroOptions;
struct CovOptions;
struct CrossOptions;
struct CumsumOptions;
struct DiagEmbedOptions;
struct DiagonalOptions;
struct DiffOptions;
struct DivOptions;
struct ExponentialOptions;
struct FlattenOptions;
struct HistcOptions;
struct IndexAddOptions;
struct IndexPutOptions;
struct KthvalueOptions;
struct LogNormalOptions;
struct LogitOptions;
struct MaxOptions;
struct MedianOptions;
struct MultinomialOptions;
struct NanToNumOptions;
struct NonzeroStaticOptions;
struct NormOptions;
struct NormalOptions;
struct PdistOptions;
struct QuantileOptions;
struct RollOptions;
struct Rot90Options;
struct ScatterOptions;
struct ScatterReduceOptions;
struct SliceOptions;
struct SliceScatterOptions;
struct SoftmaxOptions;
struct SoftshrinkOptions;
struct SortOptions;
struct SplitOptions;
struct SqueezeOptions;
struct SumOptions;
struct TakeAlongDimOptions;
struct TopkOptions;
struct TriuOptions;
struct UniformInPlaceOptions;
struct UniqueOptions;
struct VarOptions;
namespace results {
struct MantissaExponent;
struct MinMax;
struct ValuesIndices;
struct ValuesInverseCounts;
}  // namespace results

namespace detail {

class TensorMethods {
 public:
  Tensor add(Operand y) const;
  Tensor add(Operand y, Number alpha) const;
  template <std::same_as<AddOptions> O = AddOptions>
  Tensor add(Operand y, const O& options) const;
  Tensor add_(Operand y) const;
  Tensor add_(Operand y, Number alpha) const;
  template <std::same_as<AddOptions> O = AddOptions>
  Tensor add_(Operand y, const O& options) const;
  Tensor sub(Operand y) const;
  Tensor sub(Operand y, Number alpha) const;
  template <std::same_as<AddOptions> O = AddOptions>
  Tensor sub(Operand y, const O& options) const;
  Tensor sub_(Operand y) const;
  Tensor sub_(Operand y, Number alpha) const;
  template <std::same_as<AddOptions> O = AddOptions>
  Tensor sub_(Operand y, const O& options) const;
  Tensor mul(Operand y) const;
  Tensor mul_(Operand y) const;
  Tensor div(Operand y) const;
  Tensor div(Operand y, std::optional<std::string> rounding_mode) const;
  template <std::same_as<DivOptions> O = DivOptions>
  Tensor div(Operand y, const O& options) const;
  Tensor div_(Operand y) const;
  Tensor div_(Operand y, std::optional<std::string> rounding_mode) const;
  template <std::same_as<DivOptions> O = DivOptions>
  Tensor div_(Operand y, const O& options) const;
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
  template <std::same_as<AddcmulOptions> O = AddcmulOptions>
  Tensor addcmul(Operand tensor1, Operand tensor2, const O& options) const;
  Tensor addcmul_(Operand tensor1, Operand tensor2) const;
  Tensor addcmul_(Operand tensor1, Operand tensor2, Number value) const;
  template <std::same_as<AddcmulOptions> O = AddcmulOptions>
  Tensor addcmul_(Operand tensor1, Operand tensor2, const O& options) const;
  Tensor addcdiv(Operand tensor1, Operand tensor2) const;
  Tensor addcdiv(Operand tensor1, Operand tensor2, Number value) const;
  template <std::same_as<AddcmulOptions> O = AddcmulOptions>
  Tensor addcdiv(Operand tensor1, Operand tensor2, const O& options) const;
  Tensor addcdiv_(Operand tensor1, Operand tensor2) const;
  Tensor addcdiv_(Operand tensor1, Operand tensor2, Number value) const;
  template <std::same_as<AddcmulOptions> O = AddcmulOptions>
  Tensor addcdiv_(Operand tensor1, Operand tensor2, const O& options) const;
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
  Tensor lgamma() const;
  Tensor digamma() const;
  Tensor erfinv() const;
  Tensor i0() const;
  Tensor xlogy(Operand y) const;
  Tensor xlogy_(Operand y) const;
  Tensor sinc() const;
  Tensor sinc_() const;
  Tensor logit() const;
  Tensor logit(std::optional<Float> eps) const;
  template <std::same_as<LogitOptions> O = LogitOptions>
  Tensor logit(const O& options) const;
  Tensor logit_() const;
  Tensor logit_(std::optional<Float> eps) const;
  template <std::same_as<LogitOptions> O = LogitOptions>
  Tensor logit_(const O& options) const;
  Tensor heaviside(Operand values) const;
  Tensor heaviside_(Operand values) const;
  Tensor copysign(Operand y) const;
  Tensor copysign_(Operand y) const;
  Tensor nextafter(const Tensor& y) const;
  Tensor igamma(const Tensor& x) const;
  Tensor igammac(const Tensor& x) const;
  Tensor mvlgamma(Int p) const;
  Tensor fmax(Operand y) const;
  Tensor fmin(Operand y) const;
  Tensor deg2rad() const;
  Tensor deg2rad_() const;
  Tensor rad2deg() const;
  Tensor rad2deg_() const;
  Tensor signbit() const;
  Tensor isposinf() const;
  Tensor isneginf() const;
  Tensor float_power(Operand y) const;
  Tensor logaddexp2(Operand y) const;
  results::MantissaExponent frexp() const;
  Tensor ldexp(Operand other) const;
  Tensor ldexp_(Operand other) const;
  Tensor gcd(const Tensor& y) const;
  Tensor lcm(const Tensor& y) const;
  Tensor sigmoid() const;
  Tensor sigmoid_() const;
  Tensor relu() const;
  Tensor relu_() const;
  Tensor prelu(const Tensor& weight) const;
  Tensor hardshrink(Float lambd = 0.5) const;
  template <std::same_as<SoftshrinkOptions> O = SoftshrinkOptions>
  Tensor hardshrink(const O& options) const;
  Tensor clamp(Operand min) const;
  Tensor clamp(Operand min, Operand max) const;
  template <std::same_as<ClampOptions> O = ClampOptions>
  Tensor clamp(const O& options) const;
  Tensor clamp_(Operand min) const;
  Tensor clamp_(Operand min, Operand max) const;
  template <std::same_as<ClampOptions> O = ClampOptions>
  Tensor clamp_(const O& options) const;
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
  template <std::same_as<NanToNumOptions> O = NanToNumOptions>
  Tensor nan_to_num(const O& options) const;
  Tensor nan_to_num_(std::optional<Float> nan = {}, std::optional<Float> posinf = {}, std::optional<Float> neginf = {}) const;
  template <std::same_as<NanToNumOptions> O = NanToNumOptions>
  Tensor nan_to_num_(const O& options) const;
  Tensor sum(Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) const;
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor sum(const O& options) const;
  Tensor mean(Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) const;
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor mean(const O& options) const;
  Tensor prod(Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) const;
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor prod(const O& options) const;
  Tensor amax(Ints dim = {}, Bool keepdim = false) const;
  template <std::same_as<AmaxOptions> O = AmaxOptions>
  Tensor amax(const O& options) const;
  Tensor amin(Ints dim = {}, Bool keepdim = false) const;
  template <std::same_as<AmaxOptions> O = AmaxOptions>
  Tensor amin(const O& options) const;
  results::ValuesIndices max(Int dim, Bool keepdim = false) const;
  template <std::same_as<MaxOptions> O = MaxOptions>
  results::ValuesIndices max(Int dim, const O& options) const;
  results::ValuesIndices min(Int dim, Bool keepdim = false) const;
  template <std::same_as<MaxOptions> O = MaxOptions>
  results::ValuesIndices min(Int dim, const O& options) const;
  Tensor argmax(Ints dim = {}, Bool keepdim = false) const;
  template <std::same_as<AmaxOptions> O = AmaxOptions>
  Tensor argmax(const O& options) const;
  Tensor argmin(Ints dim = {}, Bool keepdim = false) const;
  template <std::same_as<AmaxOptions> O = AmaxOptions>
  Tensor argmin(const O& options) const;
  Tensor var(Ints dim = {}, Float correction = 1.0, Bool keepdim = false) const;
  template <std::same_as<VarOptions> O = VarOptions>
  Tensor var(const O& options) const;
  Tensor std(Ints dim = {}, Float correction = 1.0, Bool keepdim = false) const;
  template <std::same_as<VarOptions> O = VarOptions>
  Tensor std(const O& options) const;
  Tensor norm(Float p = 2.0, Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) const;
  template <std::same_as<NormOptions> O = NormOptions>
  Tensor norm(const O& options) const;
  Tensor logsumexp(Ints dim, Bool keepdim = false) const;
  template <std::same_as<MaxOptions> O = MaxOptions>
  Tensor logsumexp(Ints dim, const O& options) const;
  Tensor all(Ints dim = {}, Bool keepdim = false) const;
  template <std::same_as<AmaxOptions> O = AmaxOptions>
  Tensor all(const O& options) const;
  Tensor any(Ints dim = {}, Bool keepdim = false) const;
  template <std::same_as<AmaxOptions> O = AmaxOptions>
  Tensor any(const O& options) const;
  Tensor count_nonzero(Ints dim = {}) const;
  template <std::same_as<CountNonzeroOptions> O = CountNonzeroOptions>
  Tensor count_nonzero(const O& options) const;
  Tensor cumsum(Int dim, Dtype dtype = {}) const;
  template <std::same_as<CumsumOptions> O = CumsumOptions>
  Tensor cumsum(Int dim, const O& options) const;
  Tensor cumprod(Int dim, Dtype dtype = {}) const;
  template <std::same_as<CumsumOptions> O = CumsumOptions>
  Tensor cumprod(Int dim, const O& options) const;
  results::ValuesIndices sort(Int dim = -1, Bool descending = false) const;
  template <std::same_as<SortOptions> O = SortOptions>
  results::ValuesIndices sort(const O& options) const;
  Tensor argsort(Int dim = -1, Bool descending = false) const;
  template <std::same_as<SortOptions> O = SortOptions>
  Tensor argsort(const O& options) const;
  results::ValuesIndices topk(Int k, Int dim = -1, Bool largest = true, Bool sorted = true) const;
  template <std::same_as<TopkOptions> O = TopkOptions>
  results::ValuesIndices topk(Int k, const O& options) const;
  results::ValuesIndices cummax(Int dim) const;
  results::ValuesIndices cummin(Int dim) const;
  Tensor logcumsumexp(Int dim) const;
  Tensor diff(Int n = 1, Int dim = -1) const;
  Tensor diff(Int n, Int dim, const Tensor& prepend) const;
  Tensor diff(Int n, Int dim, const Tensor& prepend, const Tensor& append) const;
  template <std::same_as<DiffOptions> O = DiffOptions>
  Tensor diff(const O& options) const;
  Tensor cov(Int correction = 1) const;
  Tensor cov(Int correction, const Tensor& fweights) const;
  Tensor cov(Int correction, const Tensor& fweights, const Tensor& aweights) const;
  template <std::same_as<CovOptions> O = CovOptions>
  Tensor cov(const O& options) const;
  Tensor corrcoef() const;
  results::ValuesIndices median(std::optional<Int> dim = {}, Bool keepdim = false) const;
  template <std::same_as<MedianOptions> O = MedianOptions>
  results::ValuesIndices median(const O& options) const;
  results::ValuesIndices nanmedian(std::optional<Int> dim = {}, Bool keepdim = false) const;
  template <std::same_as<MedianOptions> O = MedianOptions>
  results::ValuesIndices nanmedian(const O& options) const;
  results::ValuesIndices kthvalue(Int k, Int dim = -1, Bool keepdim = false) const;
  template <std::same_as<KthvalueOptions> O = KthvalueOptions>
  results::ValuesIndices kthvalue(Int k, const O& options) const;
  results::ValuesIndices mode(Int dim = -1, Bool keepdim = false) const;
  template <std::same_as<KthvalueOptions> O = KthvalueOptions>
  results::ValuesIndices mode(const O& options) const;
  Tensor quantile(Operand q, std::optional<Int> dim = {}, Bool keepdim = false, TextRef interpolation = "linear") const;
  template <std::same_as<QuantileOptions> O = QuantileOptions>
  Tensor quantile(Operand q, const O& options) const;
  Tensor nanquantile(Operand q, std::optional<Int> dim = {}, Bool keepdim = false, TextRef interpolation = "linear") const;
  template <std::same_as<QuantileOptions> O = QuantileOptions>
  Tensor nanquantile(Operand q, const O& options) const;
  Tensor nansum(Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) const;
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor nansum(const O& options) const;
  Tensor nanmean(Ints dim = {}, Bool keepdim = false, Dtype dtype = {}) const;
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor nanmean(const O& options) const;
  results::MinMax aminmax(std::optional<Int> dim = {}, Bool keepdim = false) const;
  template <std::same_as<MedianOptions> O = MedianOptions>
  results::MinMax aminmax(const O& options) const;
  Tensor renorm(Float p, Int dim, Float maxnorm) const;
  Tensor bincount() const;
  Tensor bincount(const Tensor& weights, Int minlength = 0) const;
  template <std::same_as<BincountOptions> O = BincountOptions>
  Tensor bincount(const O& options) const;
  template <std::same_as<BincountOptions> O = BincountOptions>
  Tensor bincount(const Tensor& weights, const O& options) const;
  Tensor histc(Int bins = 100, Float min = 0.0, Float max = 0.0) const;
  template <std::same_as<HistcOptions> O = HistcOptions>
  Tensor histc(const O& options) const;
  results::ValuesInverseCounts unique(std::optional<Int> dim = {}) const;
  template <std::same_as<UniqueOptions> O = UniqueOptions>
  results::ValuesInverseCounts unique(const O& options) const;
  results::ValuesInverseCounts unique_consecutive(std::optional<Int> dim = {}) const;
  template <std::same_as<UniqueOptions> O = UniqueOptions>
  results::ValuesInverseCounts unique_consecutive(const O& options) const;
  Tensor matmul(const Tensor& b) const;
  Tensor mm(const Tensor& b) const;
  Tensor bmm(const Tensor& b) const;
  Tensor mv(const Tensor& b) const;
  Tensor dot(const Tensor& b) const;
  Tensor outer(const Tensor& b) const;
  Tensor addmm(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  template <std::same_as<AddmmOptions> O = AddmmOptions>
  Tensor addmm(const Tensor& a, const Tensor& b, const O& options) const;
  Tensor baddbmm(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  template <std::same_as<AddmmOptions> O = AddmmOptions>
  Tensor baddbmm(const Tensor& a, const Tensor& b, const O& options) const;
  Tensor addmv(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  template <std::same_as<AddmmOptions> O = AddmmOptions>
  Tensor addmv(const Tensor& a, const Tensor& b, const O& options) const;
  Tensor addr(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  template <std::same_as<AddmmOptions> O = AddmmOptions>
  Tensor addr(const Tensor& a, const Tensor& b, const O& options) const;
  Tensor addbmm(const Tensor& a, const Tensor& b, Float beta = 1.0, Float alpha = 1.0) const;
  template <std::same_as<AddmmOptions> O = AddmmOptions>
  Tensor addbmm(const Tensor& a, const Tensor& b, const O& options) const;
  Tensor kron(const Tensor& b) const;
  Tensor cross(const Tensor& b, std::optional<Int> dim = {}) const;
  template <std::same_as<CrossOptions> O = CrossOptions>
  Tensor cross(const Tensor& b, const O& options) const;
  Tensor inner(const Tensor& b) const;
  Tensor trace() const;
  Tensor matrix_power(Int n) const;
  Tensor reshape(Ints sizes) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor reshape(N... sizes) const;
  Tensor permute(Ints dims) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor permute(N... dims) const;
  Tensor slice(Int dim, Int start = 0, Int end = INT64_MAX, Int step = 1) const;
  template <std::same_as<SliceOptions> O = SliceOptions>
  Tensor slice(Int dim, const O& options) const;
  Tensor expand(Ints sizes) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor expand(N... sizes) const;
  Tensor as_strided(Ints sizes, Ints strides, Int offset = 0) const;
  template <std::same_as<AsStridedOptions> O = AsStridedOptions>
  Tensor as_strided(Ints sizes, Ints strides, const O& options) const;
  Tensor view(Ints sizes) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor view(N... sizes) const;
  Tensor transpose(Int dim0, Int dim1) const;
  Tensor t() const;
  Tensor select(Int dim, Int index) const;
  Tensor narrow(Int dim, Int start, Int length) const;
  Tensor squeeze(Ints dim = {}) const;
  template <std::same_as<SqueezeOptions> O = SqueezeOptions>
  Tensor squeeze(const O& options) const;
  Tensor unsqueeze(Int dim) const;
  Tensor flatten(Int start_dim = 0, Int end_dim = -1) const;
  template <std::same_as<FlattenOptions> O = FlattenOptions>
  Tensor flatten(const O& options) const;
  Tensor movedim(Ints source, Ints destination) const;
  Tensor unflatten(Int dim, Ints sizes) const;
  Tensor unfold(Int dim, Int size, Int step) const;
  Tensor diagonal(Int offset = 0, Int dim1 = 0, Int dim2 = 1) const;
  template <std::same_as<DiagonalOptions> O = DiagonalOptions>
  Tensor diagonal(const O& options) const;
  Tensor broadcast_to(Ints sizes) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor broadcast_to(N... sizes) const;
  std::vector<Tensor> split(Int length, Int dim = 0) const;
  template <std::same_as<SplitOptions> O = SplitOptions>
  std::vector<Tensor> split(Int length, const O& options) const;
  std::vector<Tensor> split_with_sizes(Ints lengths, Int dim = 0) const;
  template <std::same_as<SplitOptions> O = SplitOptions>
  std::vector<Tensor> split_with_sizes(Ints lengths, const O& options) const;
  std::vector<Tensor> chunk(Int chunks, Int dim = 0) const;
  template <std::same_as<SplitOptions> O = SplitOptions>
  std::vector<Tensor> chunk(Int chunks, const O& options) const;
  Tensor flip(Ints dims) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor flip(N... dims) const;
  Tensor roll(Ints shifts, Ints dims = {}) const;
  template <std::same_as<RollOptions> O = RollOptions>
  Tensor roll(Ints shifts, const O& options) const;
  Tensor repeat(Ints sizes) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor repeat(N... sizes) const;
  Tensor triu(Int diagonal = 0) const;
  template <std::same_as<TriuOptions> O = TriuOptions>
  Tensor triu(const O& options) const;
  Tensor tril(Int diagonal = 0) const;
  template <std::same_as<TriuOptions> O = TriuOptions>
  Tensor tril(const O& options) const;
  Tensor clone() const;
  std::vector<Tensor> tensor_split(Int sections, Int dim = 0) const;
  template <std::same_as<SplitOptions> O = SplitOptions>
  std::vector<Tensor> tensor_split(Int sections, const O& options) const;
  std::vector<Tensor> hsplit(Int sections) const;
  std::vector<Tensor> vsplit(Int sections) const;
  std::vector<Tensor> dsplit(Int sections) const;
  Tensor rot90(Int k = 1, Ints dims = {0, 1}) const;
  template <std::same_as<Rot90Options> O = Rot90Options>
  Tensor rot90(const O& options) const;
  Tensor view_as(const Tensor& other) const;
  Tensor reshape_as(const Tensor& other) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor tile(Ints dims) const;
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor tile(N... dims) const;
  Tensor fliplr() const;
  Tensor flipud() const;
  Tensor diag(Int diagonal = 0) const;
  template <std::same_as<TriuOptions> O = TriuOptions>
  Tensor diag(const O& options) const;
  Tensor diag_embed(Int offset = 0, Int dim1 = -2, Int dim2 = -1) const;
  template <std::same_as<DiagEmbedOptions> O = DiagEmbedOptions>
  Tensor diag_embed(const O& options) const;
  Tensor diagflat(Int offset = 0) const;
  template <std::same_as<AsStridedOptions> O = AsStridedOptions>
  Tensor diagflat(const O& options) const;
  Tensor diagonal_scatter(const Tensor& src, Int offset = 0, Int dim1 = 0, Int dim2 = 1) const;
  template <std::same_as<DiagonalOptions> O = DiagonalOptions>
  Tensor diagonal_scatter(const Tensor& src, const O& options) const;
  Tensor select_scatter(const Tensor& src, Int dim, Int index) const;
  Tensor slice_scatter(const Tensor& src, Int dim = 0, Int start = 0, Int end = INT64_MAX, Int step = 1) const;
  template <std::same_as<SliceScatterOptions> O = SliceScatterOptions>
  Tensor slice_scatter(const Tensor& src, const O& options) const;
  Tensor as_strided_scatter(const Tensor& src, Ints sizes, Ints strides, Int offset = 0) const;
  template <std::same_as<AsStridedOptions> O = AsStridedOptions>
  Tensor as_strided_scatter(const Tensor& src, Ints sizes, Ints strides, const O& options) const;
  Tensor gather(Int dim, const Tensor& index) const;
  Tensor scatter(Int dim, const Tensor& index, const Tensor& src, Bool add = false) const;
  template <std::same_as<ScatterOptions> O = ScatterOptions>
  Tensor scatter(Int dim, const Tensor& index, const Tensor& src, const O& options) const;
  Tensor scatter_add(Int dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter_(Int dim, const Tensor& index, const Tensor& src, Bool add = false) const;
  template <std::same_as<ScatterOptions> O = ScatterOptions>
  Tensor scatter_(Int dim, const Tensor& index, const Tensor& src, const O& options) const;
  Tensor scatter_add_(Int dim, const Tensor& index, const Tensor& src) const;
  Tensor index_select(Int dim, const Tensor& index) const;
  Tensor index(const Tensors& indices) const;
  Tensor index_put(const Tensors& indices, const Tensor& values, Bool accumulate = false) const;
  template <std::same_as<IndexPutOptions> O = IndexPutOptions>
  Tensor index_put(const Tensors& indices, const Tensor& values, const O& options) const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor nonzero() const;
  Tensor nonzero_static(Int size, Int fill_value = -1) const;
  template <std::same_as<NonzeroStaticOptions> O = NonzeroStaticOptions>
  Tensor nonzero_static(Int size, const O& options) const;
  Tensor index_add(Int dim, const Tensor& index, const Tensor& source) const;
  Tensor index_add(Int dim, const Tensor& index, const Tensor& source, Number alpha) const;
  template <std::same_as<IndexAddOptions> O = IndexAddOptions>
  Tensor index_add(Int dim, const Tensor& index, const Tensor& source, const O& options) const;
  Tensor index_add_(Int dim, const Tensor& index, const Tensor& source) const;
  Tensor index_add_(Int dim, const Tensor& index, const Tensor& source, Number alpha) const;
  template <std::same_as<IndexAddOptions> O = IndexAddOptions>
  Tensor index_add_(Int dim, const Tensor& index, const Tensor& source, const O& options) const;
  Tensor take_along_dim(const Tensor& indices, std::optional<Int> dim = {}) const;
  template <std::same_as<TakeAlongDimOptions> O = TakeAlongDimOptions>
  Tensor take_along_dim(const Tensor& indices, const O& options) const;
  Tensor put(const Tensor& index, const Tensor& source, Bool accumulate = false) const;
  template <std::same_as<IndexPutOptions> O = IndexPutOptions>
  Tensor put(const Tensor& index, const Tensor& source, const O& options) const;
  Tensor put_(const Tensor& index, const Tensor& source, Bool accumulate = false) const;
  template <std::same_as<IndexPutOptions> O = IndexPutOptions>
  Tensor put_(const Tensor& index, const Tensor& source, const O& options) const;
  Tensor index_copy(Int dim, const Tensor& index, const Tensor& source) const;
  Tensor index_copy_(Int dim, const Tensor& index, const Tensor& source) const;
  Tensor index_fill(Int dim, Operand index, Operand value) const;
  Tensor index_fill_(Int dim, Operand index, Operand value) const;
  Tensor masked_scatter(const Tensor& mask, const Tensor& source) const;
  Tensor masked_scatter_(const Tensor& mask, const Tensor& source) const;
  Tensor scatter_reduce(Int dim, const Tensor& index, const Tensor& src, TextRef reduce, Bool include_self = true) const;
  template <std::same_as<ScatterReduceOptions> O = ScatterReduceOptions>
  Tensor scatter_reduce(Int dim, const Tensor& index, const Tensor& src, TextRef reduce, const O& options) const;
  Tensor index_reduce(Int dim, const Tensor& index, const Tensor& source, TextRef reduce, Bool include_self = true) const;
  template <std::same_as<ScatterReduceOptions> O = ScatterReduceOptions>
  Tensor index_reduce(Int dim, const Tensor& index, const Tensor& source, TextRef reduce, const O& options) const;
  Tensor softmax(Int dim = -1, Dtype dtype = {}) const;
  template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
  Tensor softmax(const O& options) const;
  Tensor log_softmax(Int dim = -1, Dtype dtype = {}) const;
  template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
  Tensor log_softmax(const O& options) const;
  Tensor dist(const Tensor& y, Float p = 2.0) const;
  template <std::same_as<PdistOptions> O = PdistOptions>
  Tensor dist(const Tensor& y, const O& options) const;
  Tensor multinomial(Int num_samples, Bool replacement = false) const;
  template <std::same_as<MultinomialOptions> O = MultinomialOptions>
  Tensor multinomial(Int num_samples, const O& options) const;
  Tensor uniform_(Float from = 0.0, Float to = 1.0) const;
  template <std::same_as<UniformInPlaceOptions> O = UniformInPlaceOptions>
  Tensor uniform_(const O& options) const;
  Tensor normal_(Float mean = 0.0, Float std = 1.0) const;
  template <std::same_as<NormalOptions> O = NormalOptions>
  Tensor normal_(const O& options) const;
  Tensor bernoulli_(Float p = 0.5) const;
  template <std::same_as<BernoulliOptions> O = BernoulliOptions>
  Tensor bernoulli_(const O& options) const;
  Tensor bernoulli() const;
  Tensor exponential_(Float lambd = 1.0) const;
  template <std::same_as<ExponentialOptions> O = ExponentialOptions>
  Tensor exponential_(const O& options) const;
  Tensor geometric_(Float p) const;
  Tensor cauchy_(Float median = 0.0, Float sigma = 1.0) const;
  template <std::same_as<CauchyOptions> O = CauchyOptions>
  Tensor cauchy_(const O& options) const;
  Tensor log_normal_(Float mean = 1.0, Float std = 2.0) const;
  template <std::same_as<LogNormalOptions> O = LogNormalOptions>
  Tensor log_normal_(const O& options) const;

 protected:
  const Tensor& self() const;
};

}  // namespace detail

}  // namespace v0
}  // namespace tenon
