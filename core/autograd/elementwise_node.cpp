// The node of an elementwise call: its backward is one program with several outputs, then sums over
// what was broadcast.
#include "autograd/inplace.h"
#include "autograd/prim.h"
#include "autograd/saved_hooks.h"
#include "primitive/elementwise.h"
#include "launch/explain.h"
#include "registry/expressions.h"
#include "primitive/loop.h"

namespace tenon {
namespace {

// What a node keeps of one source of its gradient, or of one scalar: a tensor, or a number, or
// nothing (an empty tensor).
union Kept {
  SavedTensor tensor;
  tn_value number;
  Kept() : tensor() {}
  ~Kept() {}  // the node knows which it is
};

// One is made by each recorded call of the hot path, and a training step holds thousands: few cache
// lines, no heap beside them.
class ElementwiseNode final : public Node {
 public:
  static constexpr uint32_t kInlineKept = 4;

  explicit ElementwiseNode(const std::string& name) : name_(name) {}
  ~ElementwiseNode() override {
    if (!released) release_saved();
  }

  std::string name() const override { return shown_name(name_); }

  Status prepare(const Op& op, std::span<const tn_value> args, uint64_t wanted);
  // After the call ran, when outputs exist.
  void save_outputs(std::span<const tn_value> results);
  Status backward(Tensor* const* grads, Tensor** results) override;
  void release_saved() override;
  void let_go(const Tensor* root) override;
  void pack_saved(SavedPacker* packer) override;

  static void* operator new(size_t) { return Pool<kBytes, 64>::allocate(); }
  static void operator delete(void* p) { Pool<kBytes, 64>::free(p); }

 private:
  Status widen_sums(Tensor* const* grads, std::span<tn_value> args,
                    SmallVector<TensorRef, 4>* held);
  Status read_sources(Tensor* const* grads, tn_value* args, SmallVector<TensorRef, 4>* held);
  Status fit_results(const Tensor* full, Tensor** results);
  Status zero_gradients(Tensor* const* grads, Tensor** results);

  static constexpr size_t kBytes = 256;  // of a block; checked below

  Kept* kept() { return more_ ? more_.get() : kept_; }
  bool is_number(size_t i) const { return (numbers_ >> i & 1) != 0; }
  void keep_number(size_t i, const tn_value& number) {
    kept()[i].number = number;
    numbers_ |= uint32_t{1} << i;
  }

  const std::string& name_;
  const GradientOp* gradient_ = nullptr;
  uint16_t wanted_ = 0;  // bit k: operand k wants a gradient
  // every wanted operand has the outputs' shape, and they share dtype and device: no sums, no casts
  bool same_ = true;
  uint32_t numbers_ = 0;  // bit i: kept()[i] is a number
  // per source inputs, outputs and numbers, nothing for gradients; then the schema's scalars
  Kept kept_[kInlineKept];
  std::unique_ptr<Kept[]> more_;
  std::unique_ptr<TensorInfo[]> infos_;  // of the wanted operands, unless same_
};

// A tensor of a call that writes in place: a copy of it where its memory is written.
[[gnu::noinline]] Status save_beside_writes(const OperandMap& map, std::span<const tn_value> args,
                                            Tensor* t, const std::string& call,
                                            SavedTensor* saved) {
  for (uint32_t r = 0; r < map.n_outputs; ++r) {
    const int k = map.inplace_operand[r];
    if (k >= 0 && same_memory(args[map.operand_args[k]].as.tensor->storage, t->storage))
      return saved->save_copy(shown_name(call), t);
  }
  saved->save(t);
  return nullptr;
}

static_assert(sizeof(ElementwiseNode) <= 256);
// the masks
static_assert(kMaxExpressionOperands <= 16 && kMaxExpressionOperands + kMaxExpressionScalars <= 32);

Status ElementwiseNode::prepare(const Op& op, std::span<const tn_value> args, uint64_t wanted) {
  const OperandMap& map = op.map;
  wanted_ = static_cast<uint16_t>(wanted);
  n_outputs = map.n_outputs;
  const GradientOp* gradient;
  TN_TRY(gradient_of(op, wanted, &gradient));
  const auto sources = gradient->sources;
  const size_t n_sources = sources.size();
  if (n_sources > kMaxExpressionOperands) {
    return error(TN_UNSUPPORTED, "{}: its gradient has {} operands, more than {}", name(),
                 n_sources, kMaxExpressionOperands);
  }
  if (n_sources + map.n_scalars > kInlineKept)
    more_ = std::make_unique<Kept[]>(n_sources + map.n_scalars);
  gradient_ = gradient;
  for (size_t s = 0; s < n_sources; ++s) {
    const GradientSource& source = sources[s];
    if (source.kind != GradientSource::kInput) continue;
    const tn_value& v = args[map.operand_args[source.index]];
    if (v.kind != TN_KIND_TENSOR) {
      keep_number(s, v);
      continue;
    }
    Tensor* read = as_tensor(v.as.tensor);
    if (map.any_inplace) [[unlikely]] {
      TN_TRY(save_beside_writes(map, args, read, name_, &kept()[s].tensor));
    } else {
      kept()[s].tensor.save(read);
    }
  }
  for (uint32_t i = 0; i < map.n_scalars; ++i) keep_number(n_sources + i, args[map.scalar_args[i]]);

  const Tensor* first = nullptr;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const tn_value& v = args[map.operand_args[k]];
    if (v.kind != TN_KIND_TENSOR) continue;
    const Tensor* t = as_tensor(v.as.tensor);
    if (first == nullptr) {
      first = t;
    } else {
      same_ =
          same_ && t->dtype == first->dtype && t->device == first->device && same_sizes(t, first);
    }
  }
  if (!same_) {
    infos_ = std::make_unique<TensorInfo[]>(map.n_operands);
    for (uint32_t k = 0; k < map.n_operands; ++k) {
      if ((wanted >> k & 1) != 0) infos_[k] = TensorInfo(args[map.operand_args[k]].as.tensor);
    }
  }
  return nullptr;
}

void ElementwiseNode::save_outputs(std::span<const tn_value> results) {
  for (size_t s = 0; s < gradient_->sources.size(); ++s) {
    const GradientSource& source = gradient_->sources[s];
    if (source.kind != GradientSource::kOutput) continue;
    kept()[s].tensor.save_output(as_tensor(results[source.index].as.tensor), source.index);
  }
}

void ElementwiseNode::release_saved() {
  if (gradient_ == nullptr) return;
  for (size_t s = 0; s < gradient_->sources.size(); ++s) {
    if (!is_number(s)) kept()[s].tensor.reset();
  }
}

void ElementwiseNode::let_go(const Tensor* root) {
  for (size_t s = 0; s < gradient_->sources.size(); ++s) {
    if (!is_number(s)) kept()[s].tensor.let_go(root);
  }
}

void ElementwiseNode::pack_saved(SavedPacker* packer) {
  for (size_t s = 0; s < gradient_->sources.size(); ++s) {
    if (!is_number(s)) packer->pack(&kept()[s].tensor);
  }
}

// Of formulas that are constant in every wanted operand (floor, sign).
Status ElementwiseNode::zero_gradients(Tensor* const* grads, Tensor** results) {
  return guarded([&]() -> Status {
    const Tensor* full = grads[0];
    for (uint32_t r = 1; full == nullptr && r < n_outputs; ++r) full = grads[r];
    for (uint32_t k = 0; k < n_edges(); ++k) {
      if ((wanted_ >> k & 1) == 0) continue;
      const TensorInfo info = infos_ != nullptr ? infos_[k] : TensorInfo(full);
      results[k] = prim::zeros(info.sizes, info.dtype, info.device).take();
    }
    return nullptr;
  });
}

// What is summed over a broadcast operand is rounded to a half behind the sum, not before it.
Status ElementwiseNode::widen_sums(Tensor* const* grads, std::span<tn_value> args,
                                   SmallVector<TensorRef, 4>* held) {
  const Tensor* full = grads[0];
  for (uint32_t r = 1; full == nullptr && r < n_outputs; ++r) full = grads[r];
  bool sums = false;
  for (uint32_t k = 0; infos_ != nullptr && k < n_edges(); ++k) {
    sums |=
        (wanted_ >> k & 1) != 0 && is_half(infos_[k].dtype) && !same_sizes(full, infos_[k].sizes);
  }
  if (!sums) return nullptr;
  return guarded([&]() -> Status {
    for (tn_value& v : args) {
      if (v.kind != TN_KIND_TENSOR || !is_half(v.as.tensor->dtype)) continue;
      held->push_back(prim::convert(as_tensor(v.as.tensor), v.as.tensor->device, TN_FLOAT32));
      v.as.tensor = held->back().get();
    }
    return nullptr;
  });
}

// The arguments of the gradient's formula: gradients of outputs, what was saved, and numbers. `held`
// keeps what is unpacked.
Status ElementwiseNode::read_sources(Tensor* const* grads, tn_value* args,
                                     SmallVector<TensorRef, 4>* held) {
  const OperandMap& map = gradient_->op.map;
  const size_t n_sources = gradient_->sources.size();
  for (size_t s = 0; s < n_sources; ++s) {
    const GradientSource& source = gradient_->sources[s];
    tn_value& v = args[map.operand_args[s]];
    v = tn_value{};
    if (source.kind == GradientSource::kOutputGradient) {
      if (grads[source.index] != nullptr) {
        v.kind = TN_KIND_TENSOR;
        v.as.tensor = grads[source.index];
      } else {
        v.kind = TN_KIND_INT;  // zero
      }
    } else if (is_number(s)) {
      v = kept()[s].number;
    } else {
      const SavedTensor& saved = kept()[s].tensor;
      v.kind = TN_KIND_TENSOR;
      if (saved && saved.is_current() &&
          (!saved.is_output() || (thread_state.modes & kModeNoGrad) != 0)) [[likely]] {
        v.as.tensor = saved.get();  // this node keeps it meanwhile
      } else {
        TensorRef unpacked;
        TN_TRY(saved.unpack(this, &unpacked));
        v.as.tensor = unpacked.get();
        held->push_back(std::move(unpacked));
      }
    }
  }
  for (uint32_t i = 0; i < map.n_scalars; ++i)
    args[map.scalar_args[i]] = kept()[n_sources + i].number;
  return nullptr;
}

// Gives each result the sizes, dtype and device of its operand.
Status ElementwiseNode::fit_results(const Tensor* full, Tensor** results) {
  return guarded([&]() -> Status {
    for (uint32_t k = 0; k < n_edges(); ++k) {
      if (results[k] == nullptr) continue;
      TensorRef result(std::exchange(results[k], nullptr));
      // A gradient that depends on no operand of full size (a constant) is that constant
      // everywhere.
      if (!same_sizes(result.get(), full)) result = prim::expand(result.get(), full->size_span());
      if (infos_ == nullptr) result = prim::convert(result.get(), full->device, full->dtype);
      results[k] = (infos_ != nullptr ? prim::reduce_to(result.get(), infos_[k]) : result).take();
    }
    return nullptr;
  });
}

Status ElementwiseNode::backward(Tensor* const* grads, Tensor** results) {
  const Op& formula = gradient_->op;
  const OperandMap& map = formula.map;
  const size_t n_sources = gradient_->sources.size();
  if (n_sources == 0) return zero_gradients(grads, results);
  tn_value args[kMaxExpressionOperands + kMaxExpressionScalars];
  SmallVector<TensorRef, 4> held;
  TN_TRY(read_sources(grads, args, &held));
  if (!same_ && (n_sources > 1 || map.n_scalars > 0))
    TN_TRY(widen_sums(grads, {args, map.n_args}, &held));

  Tensor* made[kMaxExpressionOutputs];
  const std::span<const tn_value> all(args, map.n_args);
  if ((thread_state.modes & kModeNoGrad) != 0 || !any_needs_gradient(all)) [[likely]] {
    TN_TRY(run_elementwise(formula, args, made));
  } else {
    tn_value recorded[kMaxExpressionOutputs] = {};
    ResultsScope scope({recorded, map.n_outputs});
    TN_TRY(scope.keep_if_fine(record_elementwise(formula, all, {recorded, map.n_outputs})));
    for (uint32_t i = 0; i < map.n_outputs; ++i) made[i] = as_tensor(recorded[i].as.tensor);
  }
  uint32_t next = 0;
  for (uint32_t k = 0; k < n_edges(); ++k) {
    if ((wanted_ >> k & 1) != 0) results[k] = made[next++];
  }
  const Tensor* full = grads[0];
  for (uint32_t r = 1; full == nullptr && r < n_outputs; ++r) full = grads[r];
  bool fits = same_;
  for (uint32_t k = 0; k < n_edges() && fits; ++k) {
    const Tensor* t = results[k];
    fits = t == nullptr ||
           (same_sizes(t, full) && t->dtype == full->dtype && t->device == full->device);
  }
  return fits ? nullptr : fit_results(full, results);
}

}  // namespace

// Edges that are written before they are read. The first n are owned, until the node takes them.
struct EdgeBuffer {
  EdgeBuffer() {}
  ~EdgeBuffer() {
    for (uint32_t i = 0; i < n; ++i) {
      if (edges[i].node != nullptr) edges[i].node->release();
    }
  }
  uint32_t n = 0;
  union {
    Edge edges[kMaxExpressionOperands];
  };
};

// The edges of the operands that need gradients; bit k of the result: operand k has one. `written`: of
// the operands that are written in place.
static uint64_t find_edges(const Op& op, std::span<const tn_value> args, uint64_t written,
                           EdgeBuffer* buffer) {
  const OperandMap& map = op.map;
  uint64_t wanted = 0;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    buffer->edges[k] = {};
    buffer->n = k + 1;
    const tn_value& v = args[map.operand_args[k]];
    if (v.kind != TN_KIND_TENSOR) continue;
    Tensor* t = as_tensor(v.as.tensor);
    // One that is written over has the gradient zero where the formula does not read it: its
    // history ends here.
    if (!needs_gradient(t) || !(op.expression->differentiable(k) || (written >> k & 1) != 0))
      continue;
    buffer->edges[k] = gradient_edge(t);
    if (buffer->edges[k].node != nullptr) wanted |= uint64_t{1} << k;
  }
  return wanted;
}

Status record_elementwise(const Op& op, std::span<const tn_value> args,
                          std::span<tn_value> results) {
  const OperandMap& map = op.map;
  const char* what = op.schema.name.c_str();
  Tensor* outputs[kMaxExpressionOutputs];
  uint64_t written = 0;
  for (uint32_t r = 0; map.any_inplace && r < map.n_outputs; ++r) {
    if (map.inplace_operand[r] >= 0) {
      written |= uint64_t{1} << map.inplace_operand[r];
      const tn_value& target = args[map.operand_args[map.inplace_operand[r]]];
      // its refusal
      if (target.kind != TN_KIND_TENSOR) [[unlikely]]
        return run_elementwise(op, args.data(), outputs);
      TN_TRY(check_writable(what, as_tensor(target.as.tensor)));
    }
  }
  uint32_t flags = 0;
  for (uint32_t k = 0; k < map.n_operands; ++k) {
    const tn_value& v = args[map.operand_args[k]];
    if (v.kind == TN_KIND_TENSOR) flags |= v.as.tensor->flags;
  }
  if ((flags & TN_TENSOR_INFERENCE) != 0) [[unlikely]]
    return refuse_inference(what, args);
  EdgeBuffer buffer;
  const uint64_t wanted = find_edges(op, args, written, &buffer);
  if (wanted == 0) {
    TN_TRY(run_elementwise(op, args.data(), outputs));
    for (uint32_t r = 0; r < map.n_outputs; ++r) results[r] = {TN_KIND_TENSOR, 0, {outputs[r]}};
    return nullptr;
  }
  Ref<ElementwiseNode> node(new ElementwiseNode(recorded_name(op.schema.name)));
  node->set_edges(buffer.edges, map.n_operands);
  buffer.n = 0;
  TN_TRY(node->prepare(op, args, wanted));
  TN_TRY(run_elementwise(op, args.data(), outputs));
  for (uint32_t r = 0; r < map.n_outputs; ++r) results[r] = {TN_KIND_TENSOR, 0, {outputs[r]}};
  node->save_outputs(results);
  const tn_device device = outputs[0]->device;
  const bool is_noted = device.type != TN_DEVICE_CPU || (thread_state.modes & kModesOfNodes) != 0;
  if (is_noted) [[unlikely]]
    note_place(node.get(), args, device);
  if (map.n_outputs == 1 && !map.any_inplace && is_float(outputs[0]->dtype)) [[likely]] {
    if (is_noted) [[unlikely]]
      note_saved(node.get());
    give_history(outputs[0], node.take());
    return nullptr;
  }
  for (uint32_t r = 0; r < map.n_outputs; ++r) {
    if (!is_float(outputs[r]->dtype)) continue;
    if (map.inplace_operand[r] >= 0) {
      TN_TRY(rebase_history(outputs[r], node.get(), r, map.inplace_operand[r]));
    } else {
      set_history(outputs[r], node.get(), r);
    }
  }
  if (is_noted) note_saved(node.get());
  return nullptr;
}

}  // namespace tenon
