// Pruning, by the names of torch.nn.utils.prune: some elements of a layer's tensors are zero and stay
// zero while it trains. tenon.hpp does not include it.
//
//   namespace prune = nn::utils::prune;
//   prune::l1_unstructured(layer, "weight", 0.3);     // the 30 % that are nearest to zero
//   prune::ln_structured(conv, "weight", 4, 2, 0);    // four channels
//   ... train ...
//   prune::remove(layer, "weight");                   // zeros as any other values from now on
//
// It is a parametrization (parametrize.hpp): the layer's parameter itself becomes
// "parametrizations.weight.original", so an optimizer that was made before goes on, and a mask of ones
// and zeros, of its sizes and dtype, is the buffer "parametrizations.weight.0.mask". To prune a tensor
// again takes from what is left. Only `remove` makes a new tensor: make the optimizer again behind it.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/ops/methods_by_hand.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/parametrize.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {
namespace utils {
namespace prune {

// How much goes of what is there: a fraction from 0 to 1, which is rounded to a count (a half to the
// even one), or a count. So 1 is one element, and 1.0 all of them.
struct Amount {
  double fraction = -1;
  int64_t count = -1;
  Amount(std::floating_point auto f) : fraction(double(f)) {}
  Amount(std::integral auto n) : count(int64_t(n)) {}
};

}  // namespace prune
}  // namespace utils
}  // namespace nn

namespace detail {

inline Object make_pruning(const Tensor& mask) {
  const Object object = Object::empty("_Pruning", TN_OBJECT_OTHER);
  object.buffer("mask", mask);
  object.method("forward(Tensor weight) -> Tensor",
                [](Object& self, Tensor weight) { return mul(weight, self.tensor("mask")); });
  object.method("clone() -> object",
                [](Object& self) { return make_pruning(self.tensor("mask").clone()); });
  return object;
}
// The pruning of a tensor; none where it is not pruned.
inline Object pruning_of(const Object& layer, const std::string& name) {
  const Object list = parametrizations_of(layer, name);
  if (!list) return {};
  for (const Object& each : list.children()) {
    if (each.type_name() == "_Pruning") return each;
  }
  return {};
}

// A tensor to prune: its elements as they are now, and what is left of it.
class PruneTarget {
 public:
  PruneTarget(const char* function, Object layer, std::string name)
      : function_(function), layer_(std::move(layer)), name_(std::move(name)) {
    value_ = value_now(layer_, name_);
    if (!value_.defined())
      fail(joined({function_, ": '", name_, "' of ", layer_.type_name(), " is None"}));
    value_ = value_.detach();
    const Object pruning = pruning_of(layer_, name_);
    left_ = pruning ? pruning.tensor("mask").clone() : ones_like(value_);
  }
  const Tensor& value() const { return value_; }
  const Tensor& left() const { return left_; }

  // What is given for each element, or else the usual.
  Tensor or_usual(const char* what, const Tensor& given, Tensor usual) const {
    if (!given.defined()) return usual;
    if (given.sizes() == value_.sizes())
      return given.dtype().is_float() ? given.detach() : given.to(float32);
    fail(joined({function_, ": the ", what, " is ", sizes_text(given.sizes()), ", '", name_,
                 "' of ", layer_.type_name(), " is ", sizes_text(value_.sizes())}));
  }
  // Of a tensor whose whole indices go, as PyTorch has it: with one dimension they are its elements.
  int64_t dim_of(int64_t dim) const {
    const int64_t n = value_.dim();
    if (n < 2) {
      fail(joined(
          {function_, ": '", name_, "' of ", layer_.type_name(), " is ", sizes_text(value_.sizes()),
           ", expected at least 2 dimensions; l1_unstructured and random_unstructured prune "
           "elements"}));
    }
    if (dim >= -n && dim < n) return dim < 0 ? dim + n : dim;
    fail(joined({function_, ": dim is ", std::to_string(dim), ", expected ", std::to_string(-n),
                 " to ", std::to_string(n - 1)}));
  }
  void set(const Tensor& mask) const {
    const NoGrad guard;
    const Object pruning = pruning_of(layer_, name_);
    if (pruning) {
      pruning.tensor("mask").copy_(mask);
    } else {
      nn::utils::register_parametrization(layer_, name_, make_pruning(mask));
    }
  }

 private:
  const char* function_;
  Object layer_;
  std::string name_;
  Tensor value_, left_;
};

inline int64_t prune_count(const char* function, nn::utils::prune::Amount amount, int64_t there) {
  if (amount.count >= 0 && amount.count <= there) return amount.count;
  if (amount.fraction >= 0 && amount.fraction <= 1)
    return int64_t(std::nearbyint(amount.fraction * double(there)));
  fail(
      joined({function, ": the amount is ",
              amount.fraction == -1 ? std::to_string(amount.count) : number_text(amount.fraction),
              ", expected a fraction from 0 to 1, or a count of at most ", std::to_string(there)}));
}
// 1 where an entry of `left`, of one dimension, stays: without the `amount` of those that are not 0
// whose scores are the least.
inline Tensor kept_of(const char* function, const Tensor& left, const Tensor& scores,
                      nn::utils::prune::Amount amount) {
  const NoGrad guard;
  const auto there = count_nonzero(left).item<int64_t>();
  const int64_t n = prune_count(function, amount, there);
  if (n == 0) return left;
  const Tensor last = full({}, INFINITY, scores.dtype(), scores.device());
  const Tensor order = argsort(where(eq(left, 0), last, scores));
  Tensor kept = left.clone();
  kept.index_fill_(0, order.narrow(0, 0, n), 0);
  return kept;
}
inline void prune_elements(const PruneTarget& target, const char* function, const Tensor& scores,
                           nn::utils::prune::Amount amount) {
  const Tensor kept = kept_of(function, target.left().flatten(), scores.flatten(), amount);
  target.set(kept.reshape(target.left().sizes()));
}
// Whole indices of a dimension; scores [n].
inline void prune_slices(const PruneTarget& target, const char* function, int64_t dim,
                         const Tensor& scores, nn::utils::prune::Amount amount) {
  std::vector<int64_t> others, line(size_t(target.value().dim()), 1);
  for (int64_t d = 0; d < target.value().dim(); ++d) {
    if (d != dim) others.push_back(d);
  }
  line[size_t(dim)] = -1;
  const Tensor left = target.left().amax(others);
  const Tensor kept = kept_of(function, left, scores, amount);
  target.set(target.left() * kept.reshape(line));
}

}  // namespace detail

namespace nn {
namespace utils {
namespace prune {

inline bool is_pruned(const Object& layer, const std::string& name) {
  return tenon::detail::pruning_of(layer, name).defined();
}
// Whether any tensor of the module, or of a part of it, is pruned.
inline bool is_pruned(const Object& module) {
  for (const Object& part : module.modules()) {
    if (part.type_name() == "_Pruning") return true;
  }
  return false;
}

// Elements stay where `mask`, of the tensor's sizes, is not 0. Gives the layer, as all functions here do
// that take one.
inline Object custom_from_mask(const Object& layer, const std::string& name, const Tensor& mask) {
  const tenon::detail::PruneTarget target("custom_from_mask", layer, name);
  const Tensor given = target.or_usual("mask", mask, target.left());
  target.set(target.left() * ne(given, 0).to(target.left().dtype()));
  return layer;
}
// Nothing goes: the tensor has a mask of ones.
inline Object identity(const Object& layer, const std::string& name) {
  return custom_from_mask(layer, name, {});
}
// Elements that are drawn from all that are left.
inline Object random_unstructured(const Object& layer, const std::string& name, Amount amount) {
  const tenon::detail::PruneTarget target("random_unstructured", layer, name);
  tenon::detail::prune_elements(target, "random_unstructured",
                                rand_like(target.value().to(float32)), amount);
  return layer;
}
// The elements of the least magnitudes, or those whose importance_scores, of the tensor's sizes, have the
// least.
inline Object l1_unstructured(const Object& layer, const std::string& name, Amount amount,
                              const Tensor& importance_scores = {}) {
  const tenon::detail::PruneTarget target("l1_unstructured", layer, name);
  tenon::detail::prune_elements(
      target, "l1_unstructured",
      abs(target.or_usual("importance_scores", importance_scores, target.value())), amount);
  return layer;
}
// Whole indices of dimension dim (as the outputs of a Linear, 0), which are drawn.
inline Object random_structured(const Object& layer, const std::string& name, Amount amount,
                                int64_t dim) {
  const tenon::detail::PruneTarget target("random_structured", layer, name);
  const int64_t d = target.dim_of(dim);
  tenon::detail::prune_slices(target, "random_structured", d,
                              rand({target.value().size(d)}, float32, target.value().device()),
                              amount);
  return layer;
}
// Whole indices of dimension dim, those of the least n-norm of their elements, or of their
// importance_scores.
inline Object ln_structured(const Object& layer, const std::string& name, Amount amount, double n,
                            int64_t dim, const Tensor& importance_scores = {}) {
  const tenon::detail::PruneTarget target("ln_structured", layer, name);
  const int64_t d = target.dim_of(dim);
  const Tensor scores = target.or_usual("importance_scores", importance_scores, target.value());
  std::vector<int64_t> others;
  for (int64_t i = 0; i < scores.dim(); ++i) {
    if (i != d) others.push_back(i);
  }
  tenon::detail::prune_slices(target, "ln_structured", d, norm(scores, n, others), amount);
  return layer;
}
// The elements of the least magnitudes of several tensors together, given as layers and names. Always by
// magnitude.
inline void global_unstructured(const std::vector<std::pair<Object, std::string>>& tensors,
                                Amount amount) {
  std::vector<tenon::detail::PruneTarget> targets;
  std::vector<Tensor> left, scores;
  for (const auto& [layer, name] : tensors) {
    const auto& target = targets.emplace_back("global_unstructured", layer, name);
    left.push_back(target.left().flatten());
    scores.push_back(abs(target.value()).flatten());
  }
  if (targets.empty()) fail("global_unstructured: there are no tensors, expected at least one");
  const Tensor kept = tenon::detail::kept_of("global_unstructured", cat(left), cat(scores), amount);
  int64_t at = 0;
  for (const auto& target : targets) {
    const int64_t n = target.left().numel();
    target.set(kept.narrow(0, at, n).reshape(target.left().sizes()).clone());
    at += n;
  }
}

// The tensor is a parameter again, with the zeros that it has now as any other values.
inline Object remove(const Object& layer, const std::string& name) {
  if (!is_pruned(layer, name)) {
    fail(tenon::detail::joined({"remove: '", name, "' of ", layer.type_name(), " is not pruned"}));
  }
  return remove_parametrizations(layer, name);
}

}  // namespace prune
}  // namespace utils
}  // namespace nn
}  // namespace v0
}  // namespace tenon
