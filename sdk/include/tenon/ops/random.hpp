// The group 'random' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"
#include "tenon/ops/results.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Uniform in [0, 1). dtype None: float32; device None: the CPU. The same on every device for one
// seed.
inline Tensor rand(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"rand">, {sizes, dtype, device}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor rand(N... sizes) { return rand(Ints(sizes...)); }
using RandOptions = TensorOptions;
template <std::same_as<RandOptions> O = RandOptions>
inline Tensor rand(Ints sizes, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"rand">, {sizes, options.dtype, options.device}), options.requires_grad); }
// rand of the sizes and device of x, and of its dtype unless said.
inline Tensor rand_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"rand_like">, {x, dtype}); }
struct RandLikeOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Dtype dtype = {};
};
template <std::same_as<RandLikeOptions> O = RandLikeOptions>
inline Tensor rand_like(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"rand_like">, {x, options.dtype}); }
// Normal with mean 0 and variance 1. dtype None: float32; device None: the CPU. The same on every
// device for one seed.
inline Tensor randn(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randn">, {sizes, dtype, device}); }
template <detail::WholeNumber... N>
requires(sizeof...(N) > 1) Tensor randn(N... sizes) { return randn(Ints(sizes...)); }
using RandnOptions = TensorOptions;
template <std::same_as<RandnOptions> O = RandnOptions>
inline Tensor randn(Ints sizes, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"randn">, {sizes, options.dtype, options.device}), options.requires_grad); }
// randn of the sizes and device of x, and of its dtype unless said.
inline Tensor randn_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"randn_like">, {x, dtype}); }
using RandnLikeOptions = RandLikeOptions;
template <std::same_as<RandnLikeOptions> O = RandnLikeOptions>
inline Tensor randn_like(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"randn_like">, {x, options.dtype}); }
// Whole numbers from low to high - 1. dtype None: int64; device None: the CPU.
inline Tensor randint(Int low, Int high, Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randint">, {low, high, sizes, dtype, device}); }
using RandintOptions = TensorOptions;
template <std::same_as<RandintOptions> O = RandintOptions>
inline Tensor randint(Int low, Int high, Ints sizes, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"randint">, {low, high, sizes, options.dtype, options.device}), options.requires_grad); }
// randint of the sizes and device of x, and of its dtype unless said.
inline Tensor randint_like(const Tensor& x, Int low, Int high, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"randint_like">, {x, low, high, dtype}); }
using RandintLikeOptions = RandLikeOptions;
template <std::same_as<RandintLikeOptions> O = RandintLikeOptions>
inline Tensor randint_like(const Tensor& x, Int low, Int high, const O& options) { return detail::call<Tensor>(detail::op<"randint_like">, {x, low, high, options.dtype}); }
// 0 to n - 1 in any order. dtype None: int64; device None: the CPU.
inline Tensor randperm(Int n, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"randperm">, {n, dtype, device}); }
using RandpermOptions = TensorOptions;
template <std::same_as<RandpermOptions> O = RandpermOptions>
inline Tensor randperm(Int n, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"randperm">, {n, options.dtype, options.device}), options.requires_grad); }
// Indices of x [n] or [rows, n], whose elements are weights: int64 [num_samples] or [rows,
// num_samples].
inline Tensor multinomial(const Tensor& x, Int num_samples, Bool replacement = false) { return detail::call<Tensor>(detail::op<"multinomial">, {x, num_samples, replacement}); }
struct MultinomialOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool replacement = false;
};
template <std::same_as<MultinomialOptions> O = MultinomialOptions>
inline Tensor multinomial(const Tensor& x, Int num_samples, const O& options) { return detail::call<Tensor>(detail::op<"multinomial">, {x, num_samples, options.replacement}); }
// Uniform in [low, high). dtype None: float32; device None: the CPU.
inline Tensor uniform(Ints sizes, Float low = 0.0, Float high = 1.0, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"uniform">, {sizes, low, high, dtype, device}); }
struct UniformOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float low = 0.0;
  Float high = 1.0;
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};
template <std::same_as<UniformOptions> O = UniformOptions>
inline Tensor uniform(Ints sizes, const O& options) { return detail::with_requires_grad(detail::call<Tensor>(detail::op<"uniform">, {sizes, options.low, options.high, options.dtype, options.device}), options.requires_grad); }
// Writes numbers that are uniform in [from, to) to x.
inline Tensor uniform_(const Tensor& x, Float from = 0.0, Float to = 1.0) { return detail::call<Tensor>(detail::op<"uniform_">, {x, from, to}); }
struct UniformInPlaceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float from = 0.0;
  Float to = 1.0;
};
template <std::same_as<UniformInPlaceOptions> O = UniformInPlaceOptions>
inline Tensor uniform_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"uniform_">, {x, options.from, options.to}); }
// Writes normal numbers of this mean and standard deviation to x.
inline Tensor normal_(const Tensor& x, Float mean = 0.0, Float std = 1.0) { return detail::call<Tensor>(detail::op<"normal_">, {x, mean, std}); }
struct NormalOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float mean = 0.0;
  Float std = 1.0;
};
template <std::same_as<NormalOptions> O = NormalOptions>
inline Tensor normal_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"normal_">, {x, options.mean, options.std}); }
// Writes 1 with probability p, else 0, to x.
inline Tensor bernoulli_(const Tensor& x, Float p = 0.5) { return detail::call<Tensor>(detail::op<"bernoulli_">, {x, p}); }
struct BernoulliOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 0.5;
};
template <std::same_as<BernoulliOptions> O = BernoulliOptions>
inline Tensor bernoulli_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"bernoulli_">, {x, options.p}); }
// 1 with the probability that p says element by element, else 0.
inline Tensor bernoulli(const Tensor& p) { return detail::call<Tensor>(detail::op<"bernoulli">, {p}); }
// Writes exponentially distributed numbers of rate lambd, whose mean is 1 / lambd, to x.
inline Tensor exponential_(const Tensor& x, Float lambd = 1.0) { return detail::call<Tensor>(detail::op<"exponential_">, {x, lambd}); }
struct ExponentialOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lambd = 1.0;
};
template <std::same_as<ExponentialOptions> O = ExponentialOptions>
inline Tensor exponential_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"exponential_">, {x, options.lambd}); }
// Writes how many trials it takes, 1 at least, to succeed with probability p each, to x.
inline Tensor geometric_(const Tensor& x, Float p) { return detail::call<Tensor>(detail::op<"geometric_">, {x, p}); }
// Writes numbers of the Cauchy distribution with this median and half width to x.
inline Tensor cauchy_(const Tensor& x, Float median = 0.0, Float sigma = 1.0) { return detail::call<Tensor>(detail::op<"cauchy_">, {x, median, sigma}); }
struct CauchyOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float median = 0.0;
  Float sigma = 1.0;
};
template <std::same_as<CauchyOptions> O = CauchyOptions>
inline Tensor cauchy_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"cauchy_">, {x, options.median, options.sigma}); }
// Writes numbers to x whose logarithms are normal with this mean and standard deviation.
inline Tensor log_normal_(const Tensor& x, Float mean = 1.0, Float std = 2.0) { return detail::call<Tensor>(detail::op<"log_normal_">, {x, mean, std}); }
struct LogNormalOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float mean = 1.0;
  Float std = 2.0;
};
template <std::same_as<LogNormalOptions> O = LogNormalOptions>
inline Tensor log_normal_(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"log_normal_">, {x, options.mean, options.std}); }
// How many events come in a time in which there are so many on average, element by element: k with
// the probability rate^k exp(-rate) / k!.
inline Tensor poisson(const Tensor& rates) { return detail::call<Tensor>(detail::op<"poisson">, {rates}); }
// How many of count trials succeed, of which each does with the probability prob, element by
// element; the two have one dtype, of floats.
inline Tensor binomial(const Tensor& count, const Tensor& prob) { return detail::call<Tensor>(detail::op<"binomial">, {count, prob}); }
// Zero with probability p, the others times 1 / (1 - p); x itself when not training. Srivastava et
// al., 2014.
inline Tensor dropout(const Tensor& x, Float p = 0.5, Bool training = true) { return detail::call<Tensor>(detail::op<"dropout">, {x, p, training}); }
struct DropoutOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 0.5;
  bool training = true;
};
template <std::same_as<DropoutOptions> O = DropoutOptions>
inline Tensor dropout(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"dropout">, {x, options.p, options.training}); }
// dropout(x, p, train), a copy of x when not training, and whether each element was kept.
inline results::OutputMask native_dropout(const Tensor& x, Float p, std::optional<bool> train = true) { return detail::call<results::OutputMask>(detail::op<"native_dropout">, {x, p, train}); }
struct NativeDropoutOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<bool> train = true;
};
template <std::same_as<NativeDropoutOptions> O = NativeDropoutOptions>
inline results::OutputMask native_dropout(const Tensor& x, Float p, const O& options) { return detail::call<results::OutputMask>(detail::op<"native_dropout">, {x, p, options.train}); }
// dropout(x, p, training) of whole channels of x [n, channels, ..]. Tompson et al.,
// arXiv:1411.4280.
inline Tensor feature_dropout(const Tensor& x, Float p = 0.5, Bool training = true) { return detail::call<Tensor>(detail::op<"feature_dropout">, {x, p, training}); }
using FeatureDropoutOptions = DropoutOptions;
template <std::same_as<FeatureDropoutOptions> O = FeatureDropoutOptions>
inline Tensor feature_dropout(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"feature_dropout">, {x, options.p, options.training}); }
// dropout(x, p, training) of whole channels of x [n, channels, length] or [channels, length].
inline Tensor dropout1d(const Tensor& x, Float p = 0.5, Bool training = true) { return detail::call<Tensor>(detail::op<"dropout1d">, {x, p, training}); }
using Dropout1dOptions = DropoutOptions;
template <std::same_as<Dropout1dOptions> O = Dropout1dOptions>
inline Tensor dropout1d(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"dropout1d">, {x, options.p, options.training}); }
// dropout(x, p, training) of whole channels of x [n, channels, height, width]. Other sizes are
// warned of and taken as [n, channels, ..], 3 dimensions too, as in PyTorch.
inline Tensor dropout2d(const Tensor& x, Float p = 0.5, Bool training = true) { return detail::call<Tensor>(detail::op<"dropout2d">, {x, p, training}); }
using Dropout2dOptions = DropoutOptions;
template <std::same_as<Dropout2dOptions> O = Dropout2dOptions>
inline Tensor dropout2d(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"dropout2d">, {x, options.p, options.training}); }
// dropout(x, p, training) of whole channels of x [n, channels, depth, height, width] or [channels,
// depth, height, width]. Other sizes are warned of and taken as [channels, ..], as in PyTorch.
inline Tensor dropout3d(const Tensor& x, Float p = 0.5, Bool training = true) { return detail::call<Tensor>(detail::op<"dropout3d">, {x, p, training}); }
using Dropout3dOptions = DropoutOptions;
template <std::same_as<Dropout3dOptions> O = Dropout3dOptions>
inline Tensor dropout3d(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"dropout3d">, {x, options.p, options.training}); }
// selu's lower limit with probability p, and all scaled and shifted so that mean 0 and variance 1
// stay; x itself when not training. Klambauer et al., arXiv:1706.02515.
inline Tensor alpha_dropout(const Tensor& x, Float p = 0.5, Bool training = false) { return detail::call<Tensor>(detail::op<"alpha_dropout">, {x, p, training}); }
struct AlphaDropoutOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 0.5;
  bool training = false;
};
template <std::same_as<AlphaDropoutOptions> O = AlphaDropoutOptions>
inline Tensor alpha_dropout(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"alpha_dropout">, {x, options.p, options.training}); }
// alpha_dropout(x, p, training) of whole channels of x [n, channels, ..].
inline Tensor feature_alpha_dropout(const Tensor& x, Float p = 0.5, Bool training = false) { return detail::call<Tensor>(detail::op<"feature_alpha_dropout">, {x, p, training}); }
using FeatureAlphaDropoutOptions = AlphaDropoutOptions;
template <std::same_as<FeatureAlphaDropoutOptions> O = FeatureAlphaDropoutOptions>
inline Tensor feature_alpha_dropout(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"feature_alpha_dropout">, {x, options.p, options.training}); }
// x where it is above 0, else a slope times x: in training uniform in [lower, upper) for each
// element, else their mean. Xu et al., arXiv:1505.00853.
struct RreluOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lower = 0.125;
  Float upper = 0.3333333333333333;
  bool training = false;
};
inline Tensor rrelu(const Tensor& x, const RreluOptions& options = {}) { return detail::call<Tensor>(detail::op<"rrelu">, {x, options.lower, options.upper, options.training}); }
template <detail::Placed<Float> P>
Tensor rrelu(const Tensor& x, const P& lower, Float upper = 0.3333333333333333, Bool training = false) { return detail::call<Tensor>(detail::op<"rrelu">, {x, Float(lower), upper, training}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, RreluOptions> P2 = RreluOptions, detail::PlacedOr<Bool, RreluOptions> P3 = RreluOptions>
Tensor rrelu(const Tensor& x, const P1& lower, const P2& upper, const P3& training = detail::unset<P3>()) { return rrelu(x, detail::behind<RreluOptions, 4, 1>("rrelu", lower, upper, training)); }
// Draws from the categories along dim: softmax of (logits + Gumbel noise) / tau; hard: 1 at the
// largest and 0 elsewhere, with the gradient of the softmax. eps does nothing, as in PyTorch. Jang
// et al., arXiv:1611.01144.
struct GumbelSoftmaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float tau = 1.0;
  bool hard = false;
  Float eps = 1e-10;
  Int dim = -1;
};
inline Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxOptions& options = {}) { return detail::call<Tensor>(detail::op<"gumbel_softmax">, {logits, options.tau, options.hard, options.eps, options.dim}); }
template <detail::Placed<Float> P>
Tensor gumbel_softmax(const Tensor& logits, const P& tau, Bool hard = false, Float eps = 1e-10, Int dim = -1) { return detail::call<Tensor>(detail::op<"gumbel_softmax">, {logits, Float(tau), hard, eps, dim}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Bool, GumbelSoftmaxOptions> P2 = GumbelSoftmaxOptions, detail::PlacedOr<Float, GumbelSoftmaxOptions> P3 = GumbelSoftmaxOptions, detail::PlacedOr<Int, GumbelSoftmaxOptions> P4 = GumbelSoftmaxOptions>
Tensor gumbel_softmax(const Tensor& logits, const P1& tau, const P2& hard, const P3& eps = detail::unset<P3>(), const P4& dim = detail::unset<P4>()) { return gumbel_softmax(logits, detail::behind<GumbelSoftmaxOptions, 5, 1>("gumbel_softmax", tau, hard, eps, dim)); }

}  // namespace v0
}  // namespace tenon
