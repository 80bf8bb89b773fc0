// What begins a backward: its seeds, the inputs that are asked for, and which of its results are
// missing. engine.cpp goes through the graph.
#include "autograd/engine.h"

#include <algorithm>
#include <utility>

#include "autograd/backward_run.h"
#include "autograd/grad.h"
#include "autograd/nesting.h"
#include "autograd/prim.h"
#include "autograd/record.h"
#include "memory/memory.h"
#include "primitive/convert.h"
#include "primitive/loop.h"
#include "primitive/primitives.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

Status make_seed(Tensor* tensor, Tensor* given, TensorRef* seed) {
  if (given != nullptr) {
    if (is_rows(given)) return refuse_rows("backward: the gradient", given);
    if (!same_sizes(given, tensor)) {
      return invalid("backward: the gradient is {} for a tensor of {}; expected one shape",
                     sizes_text(given), sizes_text(tensor));
    }
    if (!(given->device == tensor->device)) {
      return invalid("backward: the gradient is {} for a tensor of {}; expected one device",
                     tensor_text(given), tensor_text(tensor));
    }
    *seed = prim::convert(given, tensor->device, tensor->dtype);
    return nullptr;
  }
  if (tensor->numel != 1) {
    return invalid(
        "backward: a gradient is needed for a tensor of {}: only one-element tensors start from 1 "
        "by themselves",
        sizes_text(tensor));
  }
  Tensor* ones;
  TN_TRY(empty_tensor(tensor->size_span(), tensor->dtype, tensor->device, &ones));
  *seed = TensorRef(ones);
  // spares the common case a launch
  if (tensor->device.type == TN_DEVICE_CPU && tensor->dtype == TN_FLOAT32 &&
      (thread_state.modes & kModeRecord) == 0) {
    *static_cast<float*>(ones->data) = 1;
    return nullptr;
  }
  tn_value one{};
  one.kind = TN_KIND_FLOAT;
  one.as.f = 1;
  return fill(ones, one);
}

Status run_backward(std::span<Tensor* const> tensors, std::span<Tensor* const> seeds,
                    std::span<Tensor* const> inputs, uint32_t flags, std::span<Tensor*> results) {
  NestedBackward nested;
  TN_TRY(nested.enter());
  BackwardRun run;
  run.create_graph = (flags & TN_BACKWARD_CREATE_GRAPH) != 0;
  run.retain_graph = run.create_graph || (flags & TN_BACKWARD_RETAIN_GRAPH) != 0;
  run.accumulates = (flags & TN_BACKWARD_ACCUMULATE) != 0;
  run.captured = results;
  const uint32_t off = run.create_graph ? uint32_t{kModeNoGrad} : 0u;
  ModeScope modes(run.create_graph ? 0u : uint32_t{kModeNoGrad},
                  kModeAutocast | kModeInference | off);
  SmallVector<Ref<Node>, 4> hold;
  SmallVector<BackwardRun::Visit*, 4> roots;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Edge edge = tensors[i] != nullptr ? gradient_edge(tensors[i]) : Edge{};
    if (edge.node == nullptr) {
      const bool is_inference =
          tensors[i] != nullptr && (tensors[i]->flags & TN_TENSOR_INFERENCE) != 0;
      return error(TN_FAILED_PRECONDITION, "backward: tensor {} ({}) needs no gradient: {}", i,
                   tensors[i] != nullptr ? tensor_text(tensors[i]) : "none",
                   is_inference ? "it was made in inference mode, which records nothing"
                                : "no call that made it was recorded, and it is no leaf that asks "
                                  "for one");
    }
    hold.push_back(Ref<Node>(edge.node));
    TensorRef seed;
    TN_TRY(make_seed(tensors[i], i < seeds.size() ? seeds[i] : nullptr, &seed));
    BackwardRun::Visit* visit = run.find(edge.node);
    if (visit == nullptr) {
      visit = run.add(edge.node);
      run.discover(visit);
    }
    roots.push_back(visit);
    TN_TRY(run.deliver(*visit, edge.output, std::move(seed)));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge edge = inputs[i] != nullptr ? gradient_edge(inputs[i]) : Edge{};
    if (edge.node == nullptr) {
      return error(TN_FAILED_PRECONDITION, "{}: input {} ({}) needs no gradient",
                   run.accumulates ? "backward" : "gradients", i,
                   inputs[i] != nullptr ? tensor_text(inputs[i]) : "None");
    }
    hold.push_back(Ref<Node>(edge.node));
    BackwardRun::Visit* visit = run.find(edge.node);
    if (visit != nullptr) run.targets.push_back({visit, edge.output, i});
  }
  if (!inputs.empty()) run.mark_needed();
  if (roots.size() > 1) {
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  }
  for (BackwardRun::Visit* root : roots) {
    if (root->waits == 0) run.push(root);
  }
  return inputs.empty() || !run.targets.empty() ? run.run_all() : nullptr;
}

// As PyTorch's: a chosen input that is no leaf keeps its gradient from now on.
Status retain_chosen(std::span<Tensor* const> inputs) {
  for (Tensor* t : inputs) {
    // What needs no gradient is refused below, with its number.
    if (t != nullptr && !t->is_leaf()) TN_TRY(retain_grad(t));
  }
  return nullptr;
}

}  // namespace

Status backward(std::span<Tensor* const> tensors, std::span<Tensor* const> seeds, uint32_t flags) {
  return guarded([&] { return run_backward(tensors, seeds, {}, flags, {}); });
}

Status gradients(std::span<Tensor* const> outputs, std::span<Tensor* const> seeds,
                 std::span<Tensor* const> inputs, uint32_t flags, std::span<Tensor*> results) {
  std::fill(results.begin(), results.end(), nullptr);
  const bool accumulates = (flags & TN_BACKWARD_ACCUMULATE) != 0;
  if (inputs.empty())
    return invalid("{}: no inputs were given", accumulates ? "backward" : "gradients");
  Status status = guarded([&]() -> Status {
    if (accumulates) TN_TRY(retain_chosen(inputs));
    TN_TRY(run_backward(outputs, seeds, inputs, flags, results));
    if (accumulates) return nullptr;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] != nullptr || (flags & TN_BACKWARD_ALLOW_UNUSED) != 0) continue;
      return error(
          TN_FAILED_PRECONDITION,
          "gradients: input {} ({}) was not used for the outputs; allow_unused gives none for it",
          i, tensor_text(inputs[i]));
    }
    return nullptr;
  });
  if (status != nullptr) {
    for (Tensor*& t : results) {
      if (t != nullptr) std::exchange(t, nullptr)->release();
    }
  }
  return status;
}

}  // namespace tenon
