// A training in mixed precision by the name of a policy: what its ops compute in, which dtype the
// weights have, and whether the loss is scaled. For applications; the plugin `amp` brings the
// policies O0 to O3, and the op that tells the dtype of weights; any plugin may bring other policies.
//
//   tn::Precision precision(model, "O2", {.lower = tn::float16});
//   auto optimizer = tn::optim::AdamW(model.parameters(), {.lr = 1e-3});
//   for (auto [x, y] : batches) {
//     optimizer.zero_grad();
//     tn::Tensor loss;
//     {
//       auto scope = precision.autocast();
//       loss = tn::cross_entropy(model(x), y);
//     }
//     precision.scaler().scale(loss).backward();
//     precision.scaler().step(optimizer);
//     precision.scaler().update();
//   }
//
// The loop is the same for all policies: a scaler that is not needed does nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/amp.hpp"
#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/op.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/matmul.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct PrecisionOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Dtype lower = {};  // float16 or bfloat16; none: the device's own
  GradScaler::Options scaler = {};
  // Whether the loss is scaled; none: where products are computed in float16 and weights, which the
  // gradients change, are float32.
  std::optional<bool> scales = {};
};

// One thread at a time.
class Precision {
 public:
  // Makes the model's weights and buffers lower where the policy wants it (O3), so the optimizer is
  // made after this, and the model is on its device already. Elsewhere they stay float32: they are the master weights, of which ops get
  // lower copies, and they are what a state_dict has. An Error where there is no such policy.
  Precision(const Object& model, std::string policy, PrecisionOptions options = {})
      : policy_(std::move(policy)), lower_(options.lower) {
    const std::vector<Tensor> parameters = model.parameters();
    if (!parameters.empty()) device_ = parameters[0].device();
    const auto [weights, products] = asked();
    if (products != float32) lower_ = products;
    if (weights != float32) model.to(weights);
    weights_ = weights;
    options.scaler.enabled = options.scales.value_or(products == float16 && weights == float32) &&
                             options.scaler.enabled;
    scaler_ = std::make_unique<GradScaler>(options.scaler);
  }

  // The scope of forward and loss; of evaluation, too.
  Autocast autocast() const { return Autocast(device_, lower_, policy_.c_str()); }
  // On the heap, for a scope that begins and ends elsewhere.
  std::unique_ptr<Autocast> open() const {
    return std::make_unique<Autocast>(device_, lower_, policy_.c_str());
  }
  GradScaler& scaler() const { return *scaler_; }

  const std::string& policy() const { return policy_; }
  // None under O0, where nothing else was said.
  Dtype lower() const { return lower_; }
  // Of the model: float32, or the lower one.
  Dtype weights() const { return weights_; }

 private:
  // What the policy makes of weights and of a product, both float32.
  std::pair<Dtype, Dtype> asked() const {
    const NoGrad no_grad;
    const Autocast scope = autocast();
    const Tensor one = full({1, 1}, 1.0, float32, device_);
    return {call(OpRef("amp.weights"), one).dtype(), matmul(one, one).dtype()};
  }

  std::string policy_;
  Device device_;
  Dtype lower_, weights_;
  std::unique_ptr<GradScaler> scaler_;  // of one address: a Checkpoint refers to it
};

}  // namespace v0
}  // namespace tenon
