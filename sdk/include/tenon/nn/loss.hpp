// The group 'loss' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

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
inline Object MSELoss(const char* reduction = "mean") { return Object::create("MSELoss", reduction); }
struct MSELossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
};
inline Object MSELoss(const MSELossOptions& options) { return Object::create("MSELoss", options.reduction); }
// loss(input, target): |input - target|. reduction: mean, sum or none.
inline Object L1Loss(const char* reduction = "mean") { return Object::create("L1Loss", reduction); }
using L1LossOptions = MSELossOptions;
inline Object L1Loss(const L1LossOptions& options) { return Object::create("L1Loss", options.reduction); }
// loss(input, target): d * d / (2 * beta) where d = |input - target| is below beta, else d - beta /
// 2. Girshick, arXiv:1504.08083.
struct SmoothL1LossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Float beta = 1.0;
};
inline Object SmoothL1Loss(const SmoothL1LossOptions& options = {}) { return Object::create("SmoothL1Loss", options.reduction, options.beta); }
// loss(input, target): d * d / 2 where d = |input - target| is below delta, else delta * (d - delta
// / 2). Huber, 1964.
struct HuberLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Float delta = 1.0;
};
inline Object HuberLoss(const HuberLossOptions& options = {}) { return Object::create("HuberLoss", options.reduction, options.delta); }
// loss(input, target): target * (log(target) - input) of log-probabilities input, and target too
// with log_target. reduction batchmean is the sum over the number of samples.
struct KLDivLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  bool log_target = false;
};
inline Object KLDivLoss(const KLDivLossOptions& options = {}) { return Object::create("KLDivLoss", options.reduction, options.log_target); }
// loss(input, target): -(target * log(input) + (1 - target) * log(1 - input)), times weight, a
// buffer.
struct BCELossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  std::string reduction = "mean";
};
inline Object BCELoss(const BCELossOptions& options = {}) { return Object::create("BCELoss", options.weight, options.reduction); }
// loss(input, target): BCELoss of sigmoid(input), computed in one step. The weights are buffers.
struct BCEWithLogitsLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  std::string reduction = "mean";
  Tensor pos_weight = {};
};
inline Object BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {}) { return Object::create("BCEWithLogitsLoss", options.weight, options.reduction, options.pos_weight); }
// loss(input, target): -input at the class, for input [n, classes, ..] of log-probabilities; weight
// [classes] is a buffer.
struct NLLLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Int ignore_index = -100;
  std::string reduction = "mean";
};
inline Object NLLLoss(const NLLLossOptions& options = {}) { return Object::create("NLLLoss", options.weight, options.ignore_index, options.reduction); }
// loss(input, target): NLLLoss of log_softmax(input); target is classes [n, ..], or probabilities
// of the sizes of input. weight [classes] is a buffer.
struct CrossEntropyLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Int ignore_index = -100;
  std::string reduction = "mean";
  Float label_smoothing = 0.0;
};
inline Object CrossEntropyLoss(const CrossEntropyLossOptions& options = {}) { return Object::create("CrossEntropyLoss", options.weight, options.ignore_index, options.reduction, options.label_smoothing); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
