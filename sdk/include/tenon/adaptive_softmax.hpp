// nn::AdaptiveLogSoftmaxWithLoss: the softmax of very many classes, of which few are frequent (Grave et
// al., 2017, arXiv:1609.04309).
#pragma once

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/containers.hpp"
#include "tenon/module.hpp"
#include "tenon/nn.hpp"
#include "tenon/ops.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

struct AdaptiveLogSoftmaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  double div_value = 4;
  bool head_bias = false;
  Dtype dtype = float32;
  Device device = {};
};

// The module that AdaptiveLogSoftmaxWithLoss makes. The head scores the classes below cutoffs[0] and
// one cluster for each range of classes between two cutoffs; a cluster scores its own classes by two
// matrices, the inner width of which is in_features / div_value^(i + 1). Names of weights are PyTorch's.
class AdaptiveLogSoftmax : public Module {
 public:
  AdaptiveLogSoftmax(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs,
                     const AdaptiveLogSoftmaxOptions& options)
      : cutoffs_(std::move(cutoffs)), n_classes_(n_classes) {
    check_options(options.div_value);
    cutoffs_.push_back(n_classes);
    const int64_t clusters = int64_t(cutoffs_.size()) - 1;
    head_ = child("head", Linear(in_features, cutoffs_[0] + clusters, {.bias = options.head_bias}));
    const ModuleList tail;
    for (int64_t i = 0; i < clusters; ++i) {
      const auto width = int64_t(double(in_features) / std::pow(options.div_value, i + 1));
      const int64_t size = cutoffs_[size_t(i) + 1] - cutoffs_[size_t(i)];
      if (width < 1) {
        fail(detail::joined({"AdaptiveLogSoftmaxWithLoss: cluster ", std::to_string(i), " has ",
                             std::to_string(in_features), " / div_value^", std::to_string(i + 1),
                             " features within, expected at least 1"}));
      }
      tail.append(Sequential(Linear(in_features, width, {.bias = false}),
                             Linear(width, size, {.bias = false})));
    }
    child("tail", tail);
    to(options.device, options.dtype);
  }

  // input: [n, in_features] or [in_features], target: int64 of its classes. The log-probability of
  // each target, [n], and their negated mean. Clusters that no target is in are not computed.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& target) {
    if (input.dim() == 1 && target.dim() == 0) {
      auto [output, loss] = forward(input.unsqueeze(0), target.unsqueeze(0));
      return {output.squeeze(0), loss};
    }
    if (input.dim() != 2 || target.dim() != 1 || input.size(0) != target.size(0)) {
      fail(detail::joined({"input is ", detail::sizes_text(input.sizes()), " and target ",
                           detail::sizes_text(target.sizes()),
                           ", expected [n, in_features] and [n]"}));
    }
    Tensor column = target.clone();  // of the head: that of the class, or of its cluster
    Tensor output = zeros({input.size(0)}, input.dtype(), input.device());
    int64_t found = 0;
    for (size_t i = 0; i < cutoffs_.size(); ++i) {
      const int64_t low = i == 0 ? 0 : cutoffs_[i - 1];
      const Tensor rows = nonzero(logical_and(ge(target, low), lt(target, cutoffs_[i]))).squeeze(1);
      found += rows.numel();
      if (i == 0 || rows.numel() == 0) continue;
      const int64_t cluster = int64_t(i) - 1;
      column = index_fill(column, 0, rows, cutoffs_[0] + cluster);
      const Tensor within = (index_select(target, 0, rows) - low).unsqueeze(1);
      output = index_copy(output, 0, rows,
                          gather(cluster_log_prob(cluster, index_select(input, 0, rows)), 1, within)
                              .squeeze(1)
                              .to(output.dtype()));
    }
    if (found != target.numel()) {
      fail("a target is no class from 0 to " + std::to_string(n_classes_ - 1));
    }
    output = output + gather(log_softmax(head_(input), 1), 1, column.unsqueeze(1)).squeeze(1);
    return {output, -output.mean()};
  }
  // Of all classes: [n, n_classes] of [n, in_features].
  Tensor log_prob(const Tensor& input) const {
    const Tensor head = log_softmax(head_(input), 1);
    std::vector<Tensor> parts{head.narrow(1, 0, cutoffs_[0])};
    for (int64_t i = 0; i + 1 < int64_t(cutoffs_.size()); ++i)
      parts.push_back(cluster_log_prob(i, input) + head.narrow(1, cutoffs_[0] + i, 1));
    return cat(parts, 1);
  }
  // The most likely class of each row, [n].
  Tensor predict(const Tensor& input) const { return log_prob(input).argmax(1); }

 private:
  void check_options(double div_value) const {
    int64_t before = 0;
    bool rising = !cutoffs_.empty();
    for (const int64_t cutoff : cutoffs_) rising = rising && std::exchange(before, cutoff) < cutoff;
    if (!rising || before >= n_classes_) {
      fail(detail::joined({"AdaptiveLogSoftmaxWithLoss: cutoffs are ", detail::sizes_text(cutoffs_),
                           ", expected rising numbers from 1 to n_classes - 1 = ",
                           std::to_string(n_classes_ - 1)}));
    }
    if (!(div_value > 0)) {
      fail(detail::joined({"AdaptiveLogSoftmaxWithLoss: div_value is ",
                           detail::number_text(div_value), ", expected a number above 0"}));
    }
  }
  Tensor cluster_log_prob(int64_t i, const Tensor& input) const {
    return log_softmax(child("tail")[i](input), 1);
  }

  std::vector<int64_t> cutoffs_;  // the last one is n_classes
  int64_t n_classes_;
  Object head_;
};

// As PyTorch's: auto [log_probs, loss] = softmax.call<2>(x, target), and softmax->log_prob(x),
// softmax->predict(x). An Error where the cutoffs do not rise from 1 to n_classes - 1.
inline Made<AdaptiveLogSoftmax> AdaptiveLogSoftmaxWithLoss(
    int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs,
    const AdaptiveLogSoftmaxOptions& options = {}) {
  return make<AdaptiveLogSoftmax>(in_features, n_classes, std::move(cutoffs), options);
}

}  // namespace nn
}  // namespace v0
}  // namespace tenon
