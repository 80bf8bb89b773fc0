#include "autograd/custom.h"

#include "base/hot_thread_local.h"
#include "autograd/inplace.h"
#include "autograd/prim.h"
#include "autograd/record.h"
#include "autograd/saved_hooks.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

class CustomNode final : public Node {
 public:
  CustomNode(const char* name, tn_backward_fn fn, void* self) : name_(name), fn_(fn), self_(self) {}
  // From now on self is destroyed with the node.
  void own_self(void (*destroy)(void*)) { destroy_ = destroy; }
  // Memory ended when some outputs had the node already: self stays the caller's, who destroys it.
  void abandon() { fn_ = nullptr; }
  ~CustomNode() override {
    if (destroy_ != nullptr) destroy_(self_);
  }
  std::string name() const override { return name_; }
  void release_saved() override { saved_.clear(); }
  void let_go(const Tensor* root) override {
    for (SavedTensor& s : saved_) s.let_go(root);
  }
  void pack_saved(SavedPacker* packer) override {
    for (SavedTensor& s : saved_) packer->pack(&s);
  }

  Status backward(Tensor* const* grads, Tensor** results) override {
    if (fn_ == nullptr)
      return error(TN_FAILED_PRECONDITION, "{}: it was not recorded whole: an error came", name_);
    std::vector<tn_tensor*> in(grads, grads + n_outputs), out(n_edges());
    CustomNode* outer = std::exchange(current, this);
    const Status status = fn_(self_, in.data(), n_outputs, out.data(), n_edges());
    current = outer;
    for (uint32_t i = 0; i < n_edges(); ++i) results[i] = as_tensor(out[i]);
    if (status != nullptr) return status;
    for (uint32_t i = 0; i < n_edges(); ++i) {
      if (edge(i).node != nullptr) TN_TRY(prim::conform(*this, i, inputs_[i], &results[i]));
    }
    return nullptr;
  }

  std::vector<SavedTensor> saved_;
  std::vector<TensorInfo> inputs_;
  TN_HOT static thread_local CustomNode* current;

 private:
  std::string name_;
  tn_backward_fn fn_;
  void* self_;
  void (*destroy_)(void*) = nullptr;
};

TN_HOT thread_local CustomNode* CustomNode::current = nullptr;

// Which input an output is, that forward wrote and gives back; none: kNotWritten.
constexpr size_t kNotWritten = SIZE_MAX;
size_t written_input(const tn_tensor* output, std::span<tn_tensor* const> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == output) return i;
  }
  return kNotWritten;
}

// Before any edge is made: that an input may be written as an op in place writes it.
Status check_written(const char* name, std::span<tn_tensor* const> inputs,
                     std::span<tn_tensor* const> outputs) {
  for (tn_tensor* t : outputs) {
    if (t == nullptr || written_input(t, inputs) == kNotWritten) continue;
    TN_TRY(check_writable(name, as_tensor(t)));
    if (as_tensor(t)->base == nullptr || outputs.size() == 1) continue;
    return invalid(
        "{}: forward writes an input that is a view ({}) and gives {} tensors, expected that one "
        "alone; let it write to a copy (clone)",
        name, tensor_text(t), outputs.size());
  }
  return nullptr;
}

Status give_histories(CustomNode* node, std::span<tn_tensor* const> inputs,
                      std::span<tn_tensor* const> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor* t = as_tensor(outputs[i]);
    if (!is_float(t->dtype)) continue;
    if (const size_t input = written_input(t, inputs); input != kNotWritten) {
      TN_TRY(rebase_history(t, node, static_cast<uint32_t>(i), static_cast<uint32_t>(input)));
      continue;
    }
    // A tensor that calls before may have saved: not a view that forward made just now, of which
    // they know nothing. What they saved of its base stays theirs.
    if (t->base == nullptr || !t->retained_once()) break_cycles(t, node);
    if (t->base != nullptr) give_as_view(t);
    set_history(t, node, static_cast<uint32_t>(i));
  }
  return nullptr;
}

}  // namespace

Status record_custom(const char* name, tn_backward_fn fn, void* self, void (*destroy)(void*),
                     std::span<tn_tensor* const> inputs, std::span<tn_tensor* const> outputs,
                     std::span<tn_tensor* const> saved) {
  for (const auto& [what, list] :
       {std::pair{"input", inputs}, {"output", outputs}, {"saved tensor", saved}}) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] != nullptr && is_rows(as_tensor(list[i])))
        return refuse_rows(fmt::format("{}: {} {}", name, what, i), as_tensor(list[i]));
    }
  }
  const bool records = (thread_state.modes & (kModeNoGrad | kModeInference)) == 0;
  if (records) TN_TRY(check_written(name, inputs, outputs));
  Ref<CustomNode> node(new CustomNode(name, fn, self));
  EdgeList edges(inputs.size());
  bool wanted = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) {
      node->inputs_.emplace_back();
      continue;
    }
    node->inputs_.emplace_back(inputs[i]);
    if (needs_gradient(as_tensor(inputs[i]))) edges[i] = gradient_edge(as_tensor(inputs[i]));
    wanted = wanted || edges[i].node != nullptr;
  }
  node->take_edges(&edges);
  node->n_outputs = static_cast<uint32_t>(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) return invalid("{}: output {} is NULL", name, i);
    if (as_tensor(outputs[i])->is_leaf() && outputs[i]->flags & TN_TENSOR_REQUIRES_GRAD) {
      return invalid("{}: output {} is a leaf that requires a gradient; return a new tensor", name,
                     i);
    }
  }
  if (!wanted || !records) {
    node->own_self(destroy);
    return nullptr;
  }
  for (tn_tensor* t : saved) {
    SavedTensor& s = node->saved_.emplace_back();
    if (t == nullptr) continue;
    uint32_t output = 0;
    while (output < outputs.size() && outputs[output] != t) ++output;
    if (output < outputs.size()) {
      s.save_output(as_tensor(t), output);
    } else {
      s.save(as_tensor(t));
    }
  }
  std::vector<tn_value> args(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) args[i] = {TN_KIND_TENSOR, 0, {inputs[i]}};
  }
  const Status status = guarded([&]() -> Status {
    note_place(node.get(), args, outputs.empty() ? call_device(args) : outputs[0]->device);
    TN_TRY(give_histories(node.get(), inputs, outputs));
    note_saved(node.get());
    return nullptr;
  });
  if (status != nullptr) {
    node->abandon();
  } else {
    node->own_self(destroy);
  }
  return status;
}

Status custom_saved(uint32_t index, Tensor** tensor) {
  CustomNode* node = CustomNode::current;
  if (node == nullptr)
    return error(TN_FAILED_PRECONDITION, "custom_saved: no custom backward runs on this thread");
  if (index >= node->saved_.size()) {
    return invalid("{}: saved tensor {} was asked for, {} were saved", node->name(), index,
                   node->saved_.size());
  }
  if (!node->saved_[index].is_there()) {
    *tensor = nullptr;
    return nullptr;
  }
  TensorRef t;
  TN_TRY(node->saved_[index].unpack(node, &t));
  *tensor = t.take();
  return nullptr;
}

}  // namespace tenon
