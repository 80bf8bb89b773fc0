// The group 'loss' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/object.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// loss(input, target): (input - target)^2. reduction: mean, sum or none.
struct MSELossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
};
inline Object MSELoss(const MSELossOptions& options = {}) { return Object::create("MSELoss", {options.reduction}); }
template <detail::Placed<TextRef> P>
Object MSELoss(const P& reduction) { return Object::create("MSELoss", {TextRef(reduction)}); }
// loss(input, target): |input - target|. reduction: mean, sum or none.
using L1LossOptions = MSELossOptions;
inline Object L1Loss(const L1LossOptions& options = {}) { return Object::create("L1Loss", {options.reduction}); }
template <detail::Placed<TextRef> P>
Object L1Loss(const P& reduction) { return Object::create("L1Loss", {TextRef(reduction)}); }
// loss(input, target): d * d / (2 * beta) where d = |input - target| is below beta, else d - beta /
// 2. Girshick, arXiv:1504.08083.
struct SmoothL1LossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Float beta = 1.0;
};
inline Object SmoothL1Loss(const SmoothL1LossOptions& options = {}) { return Object::create("SmoothL1Loss", {options.reduction, options.beta}); }
template <detail::Placed<TextRef> P>
Object SmoothL1Loss(const P& reduction, Float beta = 1.0) { return Object::create("SmoothL1Loss", {TextRef(reduction), beta}); }
template <detail::Placed<std::string> P1, detail::PlacedOr<Float, SmoothL1LossOptions> P2 = SmoothL1LossOptions>
Object SmoothL1Loss(const P1& reduction, const P2& beta) { return SmoothL1Loss(detail::behind<SmoothL1LossOptions, 3, 1>("SmoothL1Loss", reduction, beta)); }
// loss(input, target): d * d / 2 where d = |input - target| is below delta, else delta * (d - delta
// / 2). Huber, 1964.
struct HuberLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Float delta = 1.0;
};
inline Object HuberLoss(const HuberLossOptions& options = {}) { return Object::create("HuberLoss", {options.reduction, options.delta}); }
template <detail::Placed<TextRef> P>
Object HuberLoss(const P& reduction, Float delta = 1.0) { return Object::create("HuberLoss", {TextRef(reduction), delta}); }
template <detail::Placed<std::string> P1, detail::PlacedOr<Float, HuberLossOptions> P2 = HuberLossOptions>
Object HuberLoss(const P1& reduction, const P2& delta) { return HuberLoss(detail::behind<HuberLossOptions, 3, 1>("HuberLoss", reduction, delta)); }
// loss(input, target): target * (log(target) - input) of log-probabilities input, and target too
// with log_target. reduction batchmean is the sum over the number of samples.
struct KLDivLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  bool log_target = false;
};
inline Object KLDivLoss(const KLDivLossOptions& options = {}) { return Object::create("KLDivLoss", {options.reduction, options.log_target}); }
template <detail::Placed<TextRef> P>
Object KLDivLoss(const P& reduction, Bool log_target = false) { return Object::create("KLDivLoss", {TextRef(reduction), log_target}); }
template <detail::Placed<std::string> P1, detail::PlacedOr<Bool, KLDivLossOptions> P2 = KLDivLossOptions>
Object KLDivLoss(const P1& reduction, const P2& log_target) { return KLDivLoss(detail::behind<KLDivLossOptions, 3, 1>("KLDivLoss", reduction, log_target)); }
// loss(input, target): -(target * log(input) + (1 - target) * log(1 - input)), times weight, a
// buffer.
struct BCELossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  std::string reduction = "mean";
};
inline Object BCELoss(const BCELossOptions& options = {}) { return Object::create("BCELoss", {options.weight, options.reduction}); }
template <detail::Placed<Tensor> P>
Object BCELoss(const P& weight, TextRef reduction = "mean") { return Object::create("BCELoss", {Tensor(weight), reduction}); }
template <detail::Placed<Tensor> P1, detail::PlacedOr<std::string, BCELossOptions> P2 = BCELossOptions>
Object BCELoss(const P1& weight, const P2& reduction) { return BCELoss(detail::behind<BCELossOptions, 3, 1>("BCELoss", weight, reduction)); }
// loss(input, target): BCELoss of sigmoid(input), computed in one step. The weights are buffers.
struct BCEWithLogitsLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  std::string reduction = "mean";
  Tensor pos_weight = {};
};
inline Object BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {}) { return Object::create("BCEWithLogitsLoss", {options.weight, options.reduction, options.pos_weight}); }
template <detail::Placed<Tensor> P>
Object BCEWithLogitsLoss(const P& weight, TextRef reduction = "mean", const Tensor& pos_weight = {}) { return Object::create("BCEWithLogitsLoss", {Tensor(weight), reduction, pos_weight}); }
template <detail::Placed<Tensor> P1, detail::PlacedOr<std::string, BCEWithLogitsLossOptions> P2 = BCEWithLogitsLossOptions, detail::PlacedOr<Tensor, BCEWithLogitsLossOptions> P3 = BCEWithLogitsLossOptions>
Object BCEWithLogitsLoss(const P1& weight, const P2& reduction, const P3& pos_weight = detail::unset<P3>()) { return BCEWithLogitsLoss(detail::behind<BCEWithLogitsLossOptions, 4, 1>("BCEWithLogitsLoss", weight, reduction, pos_weight)); }
// loss(input, target): -input at the class, for input [n, classes, ..] of log-probabilities; weight
// [classes] is a buffer.
struct NLLLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Int ignore_index = -100;
  std::string reduction = "mean";
};
inline Object NLLLoss(const NLLLossOptions& options = {}) { return Object::create("NLLLoss", {options.weight, options.ignore_index, options.reduction}); }
template <detail::Placed<Tensor> P>
Object NLLLoss(const P& weight, Int ignore_index = -100, TextRef reduction = "mean") { return Object::create("NLLLoss", {Tensor(weight), ignore_index, reduction}); }
template <detail::Placed<Tensor> P1, detail::PlacedOr<Int, NLLLossOptions> P2 = NLLLossOptions, detail::PlacedOr<std::string, NLLLossOptions> P3 = NLLLossOptions>
Object NLLLoss(const P1& weight, const P2& ignore_index, const P3& reduction = detail::unset<P3>()) { return NLLLoss(detail::behind<NLLLossOptions, 4, 1>("NLLLoss", weight, ignore_index, reduction)); }
// loss(input, target): NLLLoss of log_softmax(input); target is classes [n, ..], or probabilities
// of the sizes of input. weight [classes] is a buffer.
struct CrossEntropyLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Int ignore_index = -100;
  std::string reduction = "mean";
  Float label_smoothing = 0.0;
};
inline Object CrossEntropyLoss(const CrossEntropyLossOptions& options = {}) { return Object::create("CrossEntropyLoss", {options.weight, options.ignore_index, options.reduction, options.label_smoothing}); }
template <detail::Placed<Tensor> P>
Object CrossEntropyLoss(const P& weight, Int ignore_index = -100, TextRef reduction = "mean", Float label_smoothing = 0.0) { return Object::create("CrossEntropyLoss", {Tensor(weight), ignore_index, reduction, label_smoothing}); }
template <detail::Placed<Tensor> P1, detail::PlacedOr<Int, CrossEntropyLossOptions> P2 = CrossEntropyLossOptions, detail::PlacedOr<std::string, CrossEntropyLossOptions> P3 = CrossEntropyLossOptions, detail::PlacedOr<Float, CrossEntropyLossOptions> P4 = CrossEntropyLossOptions>
Object CrossEntropyLoss(const P1& weight, const P2& ignore_index, const P3& reduction = detail::unset<P3>(), const P4& label_smoothing = detail::unset<P4>()) { return CrossEntropyLoss(detail::behind<CrossEntropyLossOptions, 5, 1>("CrossEntropyLoss", weight, ignore_index, reduction, label_smoothing)); }
// layer(x1, x2): sum(x1 * x2) / (|x1| * |x2|) along dim, with norms of at least eps.
struct CosineSimilarityOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = 1;
  Float eps = 1e-08;
};
inline Object CosineSimilarity(const CosineSimilarityOptions& options = {}) { return Object::create("CosineSimilarity", {options.dim, options.eps}); }
template <detail::Placed<Int> P>
Object CosineSimilarity(const P& dim, Float eps = 1e-08) { return Object::create("CosineSimilarity", {Int(dim), eps}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Float, CosineSimilarityOptions> P2 = CosineSimilarityOptions>
Object CosineSimilarity(const P1& dim, const P2& eps) { return CosineSimilarity(detail::behind<CosineSimilarityOptions, 3, 1>("CosineSimilarity", dim, eps)); }
// layer(x1, x2): the p-norm of x1 - x2 + eps along the last dimension.
struct PairwiseDistanceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float p = 2.0;
  Float eps = 1e-06;
  bool keepdim = false;
};
inline Object PairwiseDistance(const PairwiseDistanceOptions& options = {}) { return Object::create("PairwiseDistance", {options.p, options.eps, options.keepdim}); }
template <detail::Placed<Float> P>
Object PairwiseDistance(const P& p, Float eps = 1e-06, Bool keepdim = false) { return Object::create("PairwiseDistance", {Float(p), eps, keepdim}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, PairwiseDistanceOptions> P2 = PairwiseDistanceOptions, detail::PlacedOr<Bool, PairwiseDistanceOptions> P3 = PairwiseDistanceOptions>
Object PairwiseDistance(const P1& p, const P2& eps, const P3& keepdim = detail::unset<P3>()) { return PairwiseDistance(detail::behind<PairwiseDistanceOptions, 4, 1>("PairwiseDistance", p, eps, keepdim)); }
// loss(anchor, positive, negative): max(|anchor - positive| - |anchor - negative| + margin, 0);
// swap: with |positive - negative| where that is less. Balntas et al., 2016.
struct TripletMarginLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float margin = 1.0;
  Float p = 2.0;
  Float eps = 1e-06;
  bool swap = false;
  std::string reduction = "mean";
};
inline Object TripletMarginLoss(const TripletMarginLossOptions& options = {}) { return Object::create("TripletMarginLoss", {options.margin, options.p, options.eps, options.swap, options.reduction}); }
template <detail::Placed<Float> P>
Object TripletMarginLoss(const P& margin, Float p = 2.0, Float eps = 1e-06, Bool swap = false, TextRef reduction = "mean") { return Object::create("TripletMarginLoss", {Float(margin), p, eps, swap, reduction}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, TripletMarginLossOptions> P2 = TripletMarginLossOptions, detail::PlacedOr<Float, TripletMarginLossOptions> P3 = TripletMarginLossOptions, detail::PlacedOr<Bool, TripletMarginLossOptions> P4 = TripletMarginLossOptions, detail::PlacedOr<std::string, TripletMarginLossOptions> P5 = TripletMarginLossOptions>
Object TripletMarginLoss(const P1& margin, const P2& p, const P3& eps = detail::unset<P3>(), const P4& swap = detail::unset<P4>(), const P5& reduction = detail::unset<P5>()) { return TripletMarginLoss(detail::behind<TripletMarginLossOptions, 6, 1>("TripletMarginLoss", margin, p, eps, swap, reduction)); }
// loss(input1, input2, target): max(-target * (input1 - input2) + margin, 0); target is 1 or -1.
struct MarginRankingLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float margin = 0.0;
  std::string reduction = "mean";
};
inline Object MarginRankingLoss(const MarginRankingLossOptions& options = {}) { return Object::create("MarginRankingLoss", {options.margin, options.reduction}); }
template <detail::Placed<Float> P>
Object MarginRankingLoss(const P& margin, TextRef reduction = "mean") { return Object::create("MarginRankingLoss", {Float(margin), reduction}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::string, MarginRankingLossOptions> P2 = MarginRankingLossOptions>
Object MarginRankingLoss(const P1& margin, const P2& reduction) { return MarginRankingLoss(detail::behind<MarginRankingLossOptions, 3, 1>("MarginRankingLoss", margin, reduction)); }
// loss(input, target): input where target is 1, and max(margin - input, 0) where it is -1.
struct HingeEmbeddingLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float margin = 1.0;
  std::string reduction = "mean";
};
inline Object HingeEmbeddingLoss(const HingeEmbeddingLossOptions& options = {}) { return Object::create("HingeEmbeddingLoss", {options.margin, options.reduction}); }
template <detail::Placed<Float> P>
Object HingeEmbeddingLoss(const P& margin, TextRef reduction = "mean") { return Object::create("HingeEmbeddingLoss", {Float(margin), reduction}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::string, HingeEmbeddingLossOptions> P2 = HingeEmbeddingLossOptions>
Object HingeEmbeddingLoss(const P1& margin, const P2& reduction) { return HingeEmbeddingLoss(detail::behind<HingeEmbeddingLossOptions, 3, 1>("HingeEmbeddingLoss", margin, reduction)); }
// loss(input1, input2, target): 1 - cos(input1, input2) where target is 1, and max(cos - margin, 0)
// where it is -1.
using CosineEmbeddingLossOptions = MarginRankingLossOptions;
inline Object CosineEmbeddingLoss(const CosineEmbeddingLossOptions& options = {}) { return Object::create("CosineEmbeddingLoss", {options.margin, options.reduction}); }
template <detail::Placed<Float> P>
Object CosineEmbeddingLoss(const P& margin, TextRef reduction = "mean") { return Object::create("CosineEmbeddingLoss", {Float(margin), reduction}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::string, CosineEmbeddingLossOptions> P2 = CosineEmbeddingLossOptions>
Object CosineEmbeddingLoss(const P1& margin, const P2& reduction) { return CosineEmbeddingLoss(detail::behind<CosineEmbeddingLossOptions, 3, 1>("CosineEmbeddingLoss", margin, reduction)); }
// loss(input, target): log(1 + exp(-target * input)); target is 1 or -1.
using SoftMarginLossOptions = MSELossOptions;
inline Object SoftMarginLoss(const SoftMarginLossOptions& options = {}) { return Object::create("SoftMarginLoss", {options.reduction}); }
template <detail::Placed<TextRef> P>
Object SoftMarginLoss(const P& reduction) { return Object::create("SoftMarginLoss", {TextRef(reduction)}); }
// loss(input, target): the mean over all classes i but the target of max(margin - input[target] +
// input[i], 0)^p, times weight[target], a buffer.
struct MultiMarginLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int p = 1;
  Float margin = 1.0;
  Tensor weight = {};
  std::string reduction = "mean";
};
inline Object MultiMarginLoss(const MultiMarginLossOptions& options = {}) { return Object::create("MultiMarginLoss", {options.p, options.margin, options.weight, options.reduction}); }
template <detail::Placed<Int> P>
Object MultiMarginLoss(const P& p, Float margin = 1.0, const Tensor& weight = {}, TextRef reduction = "mean") { return Object::create("MultiMarginLoss", {Int(p), margin, weight, reduction}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Float, MultiMarginLossOptions> P2 = MultiMarginLossOptions, detail::PlacedOr<Tensor, MultiMarginLossOptions> P3 = MultiMarginLossOptions, detail::PlacedOr<std::string, MultiMarginLossOptions> P4 = MultiMarginLossOptions>
Object MultiMarginLoss(const P1& p, const P2& margin, const P3& weight = detail::unset<P3>(), const P4& reduction = detail::unset<P4>()) { return MultiMarginLoss(detail::behind<MultiMarginLossOptions, 5, 1>("MultiMarginLoss", p, margin, weight, reduction)); }
// loss(input, target): the sum over the targets j and all other classes i of max(1 - input[j] +
// input[i], 0), over the number of classes; target [n, classes] ends with -1.
using MultiLabelMarginLossOptions = MSELossOptions;
inline Object MultiLabelMarginLoss(const MultiLabelMarginLossOptions& options = {}) { return Object::create("MultiLabelMarginLoss", {options.reduction}); }
template <detail::Placed<TextRef> P>
Object MultiLabelMarginLoss(const P& reduction) { return Object::create("MultiLabelMarginLoss", {TextRef(reduction)}); }
// loss(input, target): the mean over the classes of BCEWithLogitsLoss, times weight [classes], a
// buffer; target is 0 or 1.
using MultiLabelSoftMarginLossOptions = BCELossOptions;
inline Object MultiLabelSoftMarginLoss(const MultiLabelSoftMarginLossOptions& options = {}) { return Object::create("MultiLabelSoftMarginLoss", {options.weight, options.reduction}); }
template <detail::Placed<Tensor> P>
Object MultiLabelSoftMarginLoss(const P& weight, TextRef reduction = "mean") { return Object::create("MultiLabelSoftMarginLoss", {Tensor(weight), reduction}); }
template <detail::Placed<Tensor> P1, detail::PlacedOr<std::string, MultiLabelSoftMarginLossOptions> P2 = MultiLabelSoftMarginLossOptions>
Object MultiLabelSoftMarginLoss(const P1& weight, const P2& reduction) { return MultiLabelSoftMarginLoss(detail::behind<MultiLabelSoftMarginLossOptions, 3, 1>("MultiLabelSoftMarginLoss", weight, reduction)); }
// loss(input, target): exp(input) - target * input, or input - target * log(input + eps) without
// log_input; full: with Stirling's approximation of log(target!).
struct PoissonNLLLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool log_input = true;
  bool full = false;
  Float eps = 1e-08;
  std::string reduction = "mean";
};
inline Object PoissonNLLLoss(const PoissonNLLLossOptions& options = {}) { return Object::create("PoissonNLLLoss", {options.log_input, options.full, options.eps, options.reduction}); }
template <detail::Placed<Bool> P>
Object PoissonNLLLoss(const P& log_input, Bool full = false, Float eps = 1e-08, TextRef reduction = "mean") { return Object::create("PoissonNLLLoss", {Bool(log_input), full, eps, reduction}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Bool, PoissonNLLLossOptions> P2 = PoissonNLLLossOptions, detail::PlacedOr<Float, PoissonNLLLossOptions> P3 = PoissonNLLLossOptions, detail::PlacedOr<std::string, PoissonNLLLossOptions> P4 = PoissonNLLLossOptions>
Object PoissonNLLLoss(const P1& log_input, const P2& full, const P3& eps = detail::unset<P3>(), const P4& reduction = detail::unset<P4>()) { return PoissonNLLLoss(detail::behind<PoissonNLLLossOptions, 5, 1>("PoissonNLLLoss", log_input, full, eps, reduction)); }
// loss(input, target, var): (log(var) + (input - target)^2 / var) / 2, with var of at least eps;
// full: with log(2 * pi) / 2.
struct GaussianNLLLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool full = false;
  Float eps = 1e-06;
  std::string reduction = "mean";
};
inline Object GaussianNLLLoss(const GaussianNLLLossOptions& options = {}) { return Object::create("GaussianNLLLoss", {options.full, options.eps, options.reduction}); }
template <detail::Placed<Bool> P>
Object GaussianNLLLoss(const P& full, Float eps = 1e-06, TextRef reduction = "mean") { return Object::create("GaussianNLLLoss", {Bool(full), eps, reduction}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Float, GaussianNLLLossOptions> P2 = GaussianNLLLossOptions, detail::PlacedOr<std::string, GaussianNLLLossOptions> P3 = GaussianNLLLossOptions>
Object GaussianNLLLoss(const P1& full, const P2& eps, const P3& reduction = detail::unset<P3>()) { return GaussianNLLLoss(detail::behind<GaussianNLLLossOptions, 4, 1>("GaussianNLLLoss", full, eps, reduction)); }
// loss(log_probs, targets, input_lengths, target_lengths): -log of the probability of the labels
// targets [n, labels] given log_probs [t, n, classes]. Graves et al., 2006.
struct CTCLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int blank = 0;
  std::string reduction = "mean";
  bool zero_infinity = false;
};
inline Object CTCLoss(const CTCLossOptions& options = {}) { return Object::create("CTCLoss", {options.blank, options.reduction, options.zero_infinity}); }
template <detail::Placed<Int> P>
Object CTCLoss(const P& blank, TextRef reduction = "mean", Bool zero_infinity = false) { return Object::create("CTCLoss", {Int(blank), reduction, zero_infinity}); }
template <detail::Placed<Int> P1, detail::PlacedOr<std::string, CTCLossOptions> P2 = CTCLossOptions, detail::PlacedOr<Bool, CTCLossOptions> P3 = CTCLossOptions>
Object CTCLoss(const P1& blank, const P2& reduction, const P3& zero_infinity = detail::unset<P3>()) { return CTCLoss(detail::behind<CTCLossOptions, 4, 1>("CTCLoss", blank, reduction, zero_infinity)); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
