// The group 'loss' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
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

// (input - target)^2, times weight of the sizes of input. reduction: "mean", which is over the
// weights, "sum" or "none".
inline Tensor mse_loss(const Tensor& input, const Tensor& target, TextRef reduction = "mean", const Tensor& weight = {}) { return detail::call<Tensor>(detail::op<"mse_loss">, {input, target, reduction, weight}); }
struct MseLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Tensor weight = {};
};
template <std::same_as<MseLossOptions> O = MseLossOptions>
inline Tensor mse_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"mse_loss">, {input, target, options.reduction, options.weight}); }
// |input - target|, times weight of the sizes of input. reduction: "mean", which is over the
// weights, "sum" or "none".
inline Tensor l1_loss(const Tensor& input, const Tensor& target, TextRef reduction = "mean", const Tensor& weight = {}) { return detail::call<Tensor>(detail::op<"l1_loss">, {input, target, reduction, weight}); }
using L1LossOptions = MseLossOptions;
template <std::same_as<L1LossOptions> O = L1LossOptions>
inline Tensor l1_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"l1_loss">, {input, target, options.reduction, options.weight}); }
// d * d / (2 * beta) where d = |input - target| is below beta, else d - beta / 2. Girshick,
// arXiv:1504.08083.
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, TextRef reduction = "mean", Float beta = 1.0) { return detail::call<Tensor>(detail::op<"smooth_l1_loss">, {input, target, reduction, beta}); }
struct SmoothL1LossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Float beta = 1.0;
};
template <std::same_as<SmoothL1LossOptions> O = SmoothL1LossOptions>
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"smooth_l1_loss">, {input, target, options.reduction, options.beta}); }
// d * d / 2 where d = |input - target| is below delta, else delta * (d - delta / 2), times weight
// of the sizes of input. Huber, 1964.
struct HuberLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Float delta = 1.0;
  Tensor weight = {};
};
inline Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"huber_loss">, {input, target, options.reduction, options.delta, options.weight}); }
template <detail::Placed<TextRef> P>
Tensor huber_loss(const Tensor& input, const Tensor& target, const P& reduction, Float delta = 1.0, const Tensor& weight = {}) { return detail::call<Tensor>(detail::op<"huber_loss">, {input, target, TextRef(reduction), delta, weight}); }
template <detail::Placed<std::string> P1, detail::PlacedOr<Float, HuberLossOptions> P2 = HuberLossOptions, detail::PlacedOr<Tensor, HuberLossOptions> P3 = HuberLossOptions>
Tensor huber_loss(const Tensor& input, const Tensor& target, const P1& reduction, const P2& delta, const P3& weight = detail::unset<P3>()) { return huber_loss(input, target, detail::behind<HuberLossOptions, 4, 1>("huber_loss", reduction, delta, weight)); }
// log(1 + exp(-target * input)); target is 1 or -1.
inline Tensor soft_margin_loss(const Tensor& input, const Tensor& target, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"soft_margin_loss">, {input, target, reduction}); }
struct SoftMarginLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
};
template <std::same_as<SoftMarginLossOptions> O = SoftMarginLossOptions>
inline Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"soft_margin_loss">, {input, target, options.reduction}); }
// -(target * log(input) + (1 - target) * log(1 - input)), times weight; input: probabilities,
// target: 0 to 1.
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {}, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"binary_cross_entropy">, {input, target, weight, reduction}); }
struct BinaryCrossEntropyOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  std::string reduction = "mean";
};
template <std::same_as<BinaryCrossEntropyOptions> O = BinaryCrossEntropyOptions>
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"binary_cross_entropy">, {input, target, detail::one_of("binary_cross_entropy", "weight", weight, options.weight), options.reduction}); }
template <std::same_as<BinaryCrossEntropyOptions> O = BinaryCrossEntropyOptions>
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"binary_cross_entropy">, {input, target, options.weight, options.reduction}); }
// binary_cross_entropy of sigmoid(input), computed in one step; pos_weight scales the part of
// target.
struct BinaryCrossEntropyWithLogitsOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  std::string reduction = "mean";
  Tensor pos_weight = {};
};
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const BinaryCrossEntropyWithLogitsOptions& options = {}) { return detail::call<Tensor>(detail::op<"binary_cross_entropy_with_logits">, {input, target, detail::one_of("binary_cross_entropy_with_logits", "weight", weight, options.weight), options.reduction, options.pos_weight}); }
template <detail::Placed<TextRef> P>
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight, const P& reduction, const Tensor& pos_weight = {}) { return detail::call<Tensor>(detail::op<"binary_cross_entropy_with_logits">, {input, target, weight, TextRef(reduction), pos_weight}); }
template <detail::Placed<std::string> P1, detail::PlacedOr<Tensor, BinaryCrossEntropyWithLogitsOptions> P2 = BinaryCrossEntropyWithLogitsOptions>
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight, const P1& reduction, const P2& pos_weight) { return binary_cross_entropy_with_logits(input, target, weight, detail::behind<BinaryCrossEntropyWithLogitsOptions, 4, 2>("binary_cross_entropy_with_logits", reduction, pos_weight)); }
template <std::same_as<BinaryCrossEntropyWithLogitsOptions> O = BinaryCrossEntropyWithLogitsOptions>
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"binary_cross_entropy_with_logits">, {input, target, options.weight, options.reduction, options.pos_weight}); }
// target * (log(target) - input), where input is log-probabilities, and target too with log_target.
// reduction "batchmean" is the sum over the number of samples.
inline Tensor kl_div(const Tensor& input, const Tensor& target, TextRef reduction = "mean", Bool log_target = false) { return detail::call<Tensor>(detail::op<"kl_div">, {input, target, reduction, log_target}); }
struct KlDivOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  bool log_target = false;
};
template <std::same_as<KlDivOptions> O = KlDivOptions>
inline Tensor kl_div(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"kl_div">, {input, target, options.reduction, options.log_target}); }
// -input at the class: input [n, classes, ..] is log-probabilities, target [n, ..] int64 classes,
// weight [classes]. The mean is over the weights.
struct NllLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Int ignore_index = -100;
  std::string reduction = "mean";
};
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const NllLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"nll_loss">, {input, target, detail::one_of("nll_loss", "weight", weight, options.weight), options.ignore_index, options.reduction}); }
template <detail::Placed<Int> P>
Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight, const P& ignore_index, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"nll_loss">, {input, target, weight, Int(ignore_index), reduction}); }
template <detail::Placed<Int> P1, detail::PlacedOr<std::string, NllLossOptions> P2 = NllLossOptions>
Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight, const P1& ignore_index, const P2& reduction) { return nll_loss(input, target, weight, detail::behind<NllLossOptions, 4, 2>("nll_loss", ignore_index, reduction)); }
template <std::same_as<NllLossOptions> O = NllLossOptions>
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"nll_loss">, {input, target, options.weight, options.ignore_index, options.reduction}); }
// nll_loss of log_softmax(input): input [n, classes, ..] is logits, target classes [n, ..], or
// probabilities of the sizes of input. label_smoothing: Szegedy et al., arXiv:1512.00567.
struct CrossEntropyOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Int ignore_index = -100;
  std::string reduction = "mean";
  Float label_smoothing = 0.0;
};
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const CrossEntropyOptions& options = {}) { return detail::call<Tensor>(detail::op<"cross_entropy">, {input, target, detail::one_of("cross_entropy", "weight", weight, options.weight), options.ignore_index, options.reduction, options.label_smoothing}); }
template <detail::Placed<Int> P>
Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight, const P& ignore_index, TextRef reduction = "mean", Float label_smoothing = 0.0) { return detail::call<Tensor>(detail::op<"cross_entropy">, {input, target, weight, Int(ignore_index), reduction, label_smoothing}); }
template <detail::Placed<Int> P1, detail::PlacedOr<std::string, CrossEntropyOptions> P2 = CrossEntropyOptions, detail::PlacedOr<Float, CrossEntropyOptions> P3 = CrossEntropyOptions>
Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight, const P1& ignore_index, const P2& reduction, const P3& label_smoothing = detail::unset<P3>()) { return cross_entropy(input, target, weight, detail::behind<CrossEntropyOptions, 5, 2>("cross_entropy", ignore_index, reduction, label_smoothing)); }
template <std::same_as<CrossEntropyOptions> O = CrossEntropyOptions>
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"cross_entropy">, {input, target, options.weight, options.ignore_index, options.reduction, options.label_smoothing}); }
// cross_entropy of linear(input, linear_weight, linear_bias) for input [.., in] and target [..],
// chunk_size rows at a time (0: an eighth of them, or 2^24 logits where that is more), forward and
// backward: there are never more logits than that at once, which backward computes again. Targets
// that are probabilities, and class weights, take all at once; so do linear_weight [classes, ..,
// in] and target [n, ..] of input [n, in]. The loss of halves is float32.
struct LinearCrossEntropyOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor linear_bias = {};
  Tensor weight = {};
  Int ignore_index = -100;
  std::string reduction = "mean";
  Float label_smoothing = 0.0;
  Int chunk_size = 0;
};
inline Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const Tensor& linear_bias = {}, const Tensor& weight = {}, const LinearCrossEntropyOptions& options = {}) { return detail::call<Tensor>(detail::op<"linear_cross_entropy">, {input, linear_weight, target, detail::one_of("linear_cross_entropy", "linear_bias", linear_bias, options.linear_bias), detail::one_of("linear_cross_entropy", "weight", weight, options.weight), options.ignore_index, options.reduction, options.label_smoothing, options.chunk_size}); }
template <detail::Placed<Int> P>
Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const Tensor& linear_bias, const Tensor& weight, const P& ignore_index, TextRef reduction = "mean", Float label_smoothing = 0.0, Int chunk_size = 0) { return detail::call<Tensor>(detail::op<"linear_cross_entropy">, {input, linear_weight, target, linear_bias, weight, Int(ignore_index), reduction, label_smoothing, chunk_size}); }
template <detail::Placed<Int> P1, detail::PlacedOr<std::string, LinearCrossEntropyOptions> P2 = LinearCrossEntropyOptions, detail::PlacedOr<Float, LinearCrossEntropyOptions> P3 = LinearCrossEntropyOptions, detail::PlacedOr<Int, LinearCrossEntropyOptions> P4 = LinearCrossEntropyOptions>
Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const Tensor& linear_bias, const Tensor& weight, const P1& ignore_index, const P2& reduction, const P3& label_smoothing = detail::unset<P3>(), const P4& chunk_size = detail::unset<P4>()) { return linear_cross_entropy(input, linear_weight, target, linear_bias, weight, detail::behind<LinearCrossEntropyOptions, 7, 3>("linear_cross_entropy", ignore_index, reduction, label_smoothing, chunk_size)); }
template <std::same_as<LinearCrossEntropyOptions> O = LinearCrossEntropyOptions>
inline Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const Tensor& linear_bias, const O& options) { return detail::call<Tensor>(detail::op<"linear_cross_entropy">, {input, linear_weight, target, detail::one_of("linear_cross_entropy", "linear_bias", linear_bias, options.linear_bias), options.weight, options.ignore_index, options.reduction, options.label_smoothing, options.chunk_size}); }
template <std::same_as<LinearCrossEntropyOptions> O = LinearCrossEntropyOptions>
inline Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"linear_cross_entropy">, {input, linear_weight, target, options.linear_bias, options.weight, options.ignore_index, options.reduction, options.label_smoothing, options.chunk_size}); }
// max(|anchor - positive| - |anchor - negative| + margin, 0), of pairwise_distance; swap: with
// |positive - negative| where that is less. Balntas et al., 2016.
struct TripletMarginLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float margin = 1.0;
  Float p = 2.0;
  Float eps = 1e-06;
  bool swap = false;
  std::string reduction = "mean";
};
inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const TripletMarginLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"triplet_margin_loss">, {anchor, positive, negative, options.margin, options.p, options.eps, options.swap, options.reduction}); }
template <detail::Placed<Float> P>
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const P& margin, Float p = 2.0, Float eps = 1e-06, Bool swap = false, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"triplet_margin_loss">, {anchor, positive, negative, Float(margin), p, eps, swap, reduction}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, TripletMarginLossOptions> P2 = TripletMarginLossOptions, detail::PlacedOr<Float, TripletMarginLossOptions> P3 = TripletMarginLossOptions, detail::PlacedOr<Bool, TripletMarginLossOptions> P4 = TripletMarginLossOptions, detail::PlacedOr<std::string, TripletMarginLossOptions> P5 = TripletMarginLossOptions>
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const P1& margin, const P2& p, const P3& eps = detail::unset<P3>(), const P4& swap = detail::unset<P4>(), const P5& reduction = detail::unset<P5>()) { return triplet_margin_loss(anchor, positive, negative, detail::behind<TripletMarginLossOptions, 6, 1>("triplet_margin_loss", margin, p, eps, swap, reduction)); }
// max(-target * (input1 - input2) + margin, 0); target is 1 or -1.
inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, Float margin = 0.0, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"margin_ranking_loss">, {input1, input2, target, margin, reduction}); }
struct MarginRankingLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float margin = 0.0;
  std::string reduction = "mean";
};
template <std::same_as<MarginRankingLossOptions> O = MarginRankingLossOptions>
inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"margin_ranking_loss">, {input1, input2, target, options.margin, options.reduction}); }
// input where target is 1, and max(margin - input, 0) where it is -1.
inline Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, Float margin = 1.0, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"hinge_embedding_loss">, {input, target, margin, reduction}); }
struct HingeEmbeddingLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float margin = 1.0;
  std::string reduction = "mean";
};
template <std::same_as<HingeEmbeddingLossOptions> O = HingeEmbeddingLossOptions>
inline Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"hinge_embedding_loss">, {input, target, options.margin, options.reduction}); }
// 1 - cos(input1, input2) where target is 1, and max(cos - margin, 0) where it is -1; inputs [n,
// size] and target [n], or [size] and a number.
inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, Float margin = 0.0, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"cosine_embedding_loss">, {input1, input2, target, margin, reduction}); }
using CosineEmbeddingLossOptions = MarginRankingLossOptions;
template <std::same_as<CosineEmbeddingLossOptions> O = CosineEmbeddingLossOptions>
inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"cosine_embedding_loss">, {input1, input2, target, options.margin, options.reduction}); }
// The mean over all classes i but the target of max(margin - input[target] + input[i], 0)^p, times
// weight[target]; input [n, classes], target [n] int64.
struct MultiMarginLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int p = 1;
  Float margin = 1.0;
  Tensor weight = {};
  std::string reduction = "mean";
};
inline Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"multi_margin_loss">, {input, target, options.p, options.margin, options.weight, options.reduction}); }
template <detail::Placed<Int> P>
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const P& p, Float margin = 1.0, const Tensor& weight = {}, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"multi_margin_loss">, {input, target, Int(p), margin, weight, reduction}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Float, MultiMarginLossOptions> P2 = MultiMarginLossOptions, detail::PlacedOr<Tensor, MultiMarginLossOptions> P3 = MultiMarginLossOptions, detail::PlacedOr<std::string, MultiMarginLossOptions> P4 = MultiMarginLossOptions>
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const P1& p, const P2& margin, const P3& weight = detail::unset<P3>(), const P4& reduction = detail::unset<P4>()) { return multi_margin_loss(input, target, detail::behind<MultiMarginLossOptions, 5, 1>("multi_margin_loss", p, margin, weight, reduction)); }
// The sum over the targets j and all other classes i of max(1 - input[j] + input[i], 0), over the
// number of classes; target [n, classes] lists classes and ends with -1.
inline Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"multilabel_margin_loss">, {input, target, reduction}); }
using MultilabelMarginLossOptions = SoftMarginLossOptions;
template <std::same_as<MultilabelMarginLossOptions> O = MultilabelMarginLossOptions>
inline Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"multilabel_margin_loss">, {input, target, options.reduction}); }
// The mean over the last dimension of binary_cross_entropy_with_logits, times weight [classes];
// target is 0 or 1.
inline Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {}, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"multilabel_soft_margin_loss">, {input, target, weight, reduction}); }
using MultilabelSoftMarginLossOptions = BinaryCrossEntropyOptions;
template <std::same_as<MultilabelSoftMarginLossOptions> O = MultilabelSoftMarginLossOptions>
inline Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"multilabel_soft_margin_loss">, {input, target, detail::one_of("multilabel_soft_margin_loss", "weight", weight, options.weight), options.reduction}); }
template <std::same_as<MultilabelSoftMarginLossOptions> O = MultilabelSoftMarginLossOptions>
inline Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const O& options) { return detail::call<Tensor>(detail::op<"multilabel_soft_margin_loss">, {input, target, options.weight, options.reduction}); }
// exp(input) - target * input, or input - target * log(input + eps) without log_input; full: with
// Stirling's approximation of log(target!).
struct PoissonNllLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool log_input = true;
  bool full = false;
  Float eps = 1e-08;
  std::string reduction = "mean";
};
inline Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNllLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"poisson_nll_loss">, {input, target, options.log_input, options.full, options.eps, options.reduction}); }
template <detail::Placed<Bool> P>
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const P& log_input, Bool full = false, Float eps = 1e-08, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"poisson_nll_loss">, {input, target, Bool(log_input), full, eps, reduction}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Bool, PoissonNllLossOptions> P2 = PoissonNllLossOptions, detail::PlacedOr<Float, PoissonNllLossOptions> P3 = PoissonNllLossOptions, detail::PlacedOr<std::string, PoissonNllLossOptions> P4 = PoissonNllLossOptions>
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const P1& log_input, const P2& full, const P3& eps = detail::unset<P3>(), const P4& reduction = detail::unset<P4>()) { return poisson_nll_loss(input, target, detail::behind<PoissonNllLossOptions, 5, 1>("poisson_nll_loss", log_input, full, eps, reduction)); }
// (log(var) + (input - target)^2 / var) / 2, with var of at least eps; full: with log(2 * pi) / 2.
// Nix & Weigend, 1994.
struct GaussianNllLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool full = false;
  Float eps = 1e-06;
  std::string reduction = "mean";
};
inline Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, const GaussianNllLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"gaussian_nll_loss">, {input, target, var, options.full, options.eps, options.reduction}); }
template <detail::Placed<Bool> P>
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, const P& full, Float eps = 1e-06, TextRef reduction = "mean") { return detail::call<Tensor>(detail::op<"gaussian_nll_loss">, {input, target, var, Bool(full), eps, reduction}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Float, GaussianNllLossOptions> P2 = GaussianNllLossOptions, detail::PlacedOr<std::string, GaussianNllLossOptions> P3 = GaussianNllLossOptions>
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, const P1& full, const P2& eps, const P3& reduction = detail::unset<P3>()) { return gaussian_nll_loss(input, target, var, detail::behind<GaussianNllLossOptions, 4, 1>("gaussian_nll_loss", full, eps, reduction)); }
// -log of the probability of the labels targets [n, labels], or all in one line, given log_probs
// [t, n, classes]; int64 lengths [n]. mean: over n of each loss over its number of labels;
// zero_infinity: 0 where there is no path. Graves et al., 2006.
struct CtcLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int blank = 0;
  std::string reduction = "mean";
  bool zero_infinity = false;
};
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, const CtcLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"ctc_loss">, {log_probs, targets, input_lengths, target_lengths, options.blank, options.reduction, options.zero_infinity}); }
template <detail::Placed<Int> P>
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, const P& blank, TextRef reduction = "mean", Bool zero_infinity = false) { return detail::call<Tensor>(detail::op<"ctc_loss">, {log_probs, targets, input_lengths, target_lengths, Int(blank), reduction, zero_infinity}); }
template <detail::Placed<Int> P1, detail::PlacedOr<std::string, CtcLossOptions> P2 = CtcLossOptions, detail::PlacedOr<Bool, CtcLossOptions> P3 = CtcLossOptions>
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, const P1& blank, const P2& reduction, const P3& zero_infinity = detail::unset<P3>()) { return ctc_loss(log_probs, targets, input_lengths, target_lengths, detail::behind<CtcLossOptions, 4, 1>("ctc_loss", blank, reduction, zero_infinity)); }

}  // namespace v0
}  // namespace tenon
