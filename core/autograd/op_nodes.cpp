// Nodes of ops that bring their own backward: a kernel pair, or a stated vjp.
#include <algorithm>

#include "autograd/engine.h"
#include "autograd/inplace.h"
#include "autograd/prim.h"
#include "autograd/record.h"
#include "autograd/saved_hooks.h"
#include "base/text.h"
#include "launch/explain.h"
#include "registry/host_table.h"
#include "launch/launch.h"
#include "call/widen.h"
#include "memory/memory.h"
#include "tensor/layout.h"
#include "tensor/view.h"

namespace tenon {
namespace {

// A Tensor? that is None: it keeps its place in the flat count, so that masks and results mean the
// same in every call.
bool is_absent_tensor(const Op* op, size_t argument, const tn_value& v) {
  const Argument& a = op->schema.arguments[argument];
  return v.kind == TN_KIND_NONE && a.type == Type::kTensor && !a.list;
}

// Does the call write memory of t?
bool overwrites(const Op* op, std::span<const tn_value> args, const Tensor* t) {
  TensorList written;
  for (size_t i = 0; i < args.size(); ++i) {
    if ((op->written >> i & 1) != 0) flat_tensors(args.subspan(i, 1), &written);
  }
  return std::any_of(written.begin(), written.end(), [&](const Tensor* w) {
    return w != nullptr && same_memory(w->storage, t->storage);
  });
}

// What a gradient is made from, when it is made for a kernel to write.
struct GradientInfo : TensorInfo {
  // where the tensor is dense in another order than row-major; else none
  SmallVector<int64_t, 6> strides;
  GradientInfo() = default;
  explicit GradientInfo(const tn_tensor* t) : TensorInfo(t) {
    if ((t->flags & TN_TENSOR_CONTIGUOUS) == 0 && is_dense(t))
      strides.assign(t->strides, t->strides + t->ndim);
  }
};

// A tensor whose values nobody reads: one element stands for all.
Status make_hollow(const TensorInfo& info, TensorRef* hollow) {
  Tensor* made;
  const int64_t one = 1;
  TN_TRY(empty_tensor({&one, 1}, info.dtype, info.device, &made));
  const TensorRef element(made);
  const SmallVector<int64_t, 6> strides(info.sizes.size(), 0);
  *hollow = TensorRef(make_view_unchecked(made, info.sizes, strides.data(), 0));
  return nullptr;
}

// The arguments of a call, kept for its backward: tensors saved with their versions, all else
// copied.
class SavedArguments {
 public:
  SavedArguments() = default;
  SavedArguments(const SavedArguments&) = delete;
  ~SavedArguments() { release(); }

  // Bit i of `reads`: the backward reads tensor i. Needed of those that the call overwrites, which
  // are copied then. `skips`: none is read, and none is kept.
  Status save(const Op* op, std::span<const tn_value> args, uint64_t reads, bool skips) {
    values.reserve(args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      const tn_value& v = args[i];
      tn_value kept{};
      if (is_absent_tensor(op, i, v)) {
        infos.emplace_back();
        tensors.emplace_back();
        kept.kind = TN_KIND_TENSOR;
        values.push_back(kept);
        continue;
      }
      if (v.kind == TN_KIND_TENSOR || v.kind == TN_KIND_TENSORS) {
        kept.kind = v.kind;
        kept.count = v.count;
        for (tn_tensor* given : tensors_of(v)) {
          Tensor* t = as_tensor(given);
          SavedTensor& s = tensors.emplace_back();
          if (t == nullptr) {
            infos.emplace_back();
            continue;
          }
          infos.emplace_back(t);
          if (skips) continue;
          if (op->written == 0 || !overwrites(op, args, t)) [[likely]] {
            s.save(t);
          } else if (const size_t flat = tensors.size() - 1;
                     flat >= 64 || (reads >> flat & 1) != 0) {
            TN_TRY(s.save_copy(op->schema.name, t));
          } else {
            s.save_overwritten(t);
          }
        }
      } else {
        throw_if(copy_value(v, &kept));
      }
      values.push_back(kept);  // there is room
    }
    return nullptr;
  }

  // The arguments again; those whose bit in `flat_mask` is not set come as NONE, or, all of them, as
  // tensors without values.
  Status unpack(Node* node, uint64_t flat_mask, bool hollow, std::vector<tn_value>* args) {
    held.clear();
    lists.clear();
    size_t flat = 0;
    const auto next = [&](tn_tensor** t) -> Status {
      *t = nullptr;
      const size_t i = flat++;
      if (hollow) {
        if (infos[i].dtype == TN_DTYPE_NONE) return nullptr;
        TN_TRY(make_hollow(infos[i], &held.emplace_back()));
        *t = held.back().get();
        return nullptr;
      }
      if (!tensors[i].is_there() || (i < 64 && (flat_mask >> i & 1) == 0)) return nullptr;
      TN_TRY(tensors[i].unpack(node, &held.emplace_back()));
      *t = held.back().get();
      return nullptr;
    };
    for (const tn_value& kept : values) {
      tn_value v = kept;
      if (kept.kind == TN_KIND_TENSOR) {
        TN_TRY(next(&v.as.tensor));
        if (v.as.tensor == nullptr) v = tn_value{};
      } else if (kept.kind == TN_KIND_TENSORS) {
        auto& list = lists.emplace_back(kept.count);
        for (uint32_t k = 0; k < kept.count; ++k) TN_TRY(next(&list[k]));
        v.as.tensors = list.data();
      }
      args->push_back(v);
    }
    return nullptr;
  }

  // The tensors among the first n arguments, None counted too.
  uint32_t flat_count(size_t n) const {
    uint32_t count = 0;
    for (size_t i = 0; i < n && i < values.size(); ++i) {
      count += static_cast<uint32_t>(tensors_of(values[i]).size());
    }
    return count;
  }

  void release() {
    for (tn_value& v : values) {
      if (v.kind != TN_KIND_TENSOR && v.kind != TN_KIND_TENSORS) release_value(&v);
    }
    values.clear();
    tensors.clear();
    held.clear();
  }

  std::vector<tn_value> values;      // tensors are in `tensors`
  std::vector<SavedTensor> tensors;  // flat
  std::vector<GradientInfo> infos;   // flat
  std::vector<TensorRef> held;
  std::vector<std::vector<tn_tensor*>> lists;
};

EdgeList edges_of(const Op* op, std::span<const tn_value> args) {
  EdgeList edges;
  const auto add = [&](tn_tensor* t) {
    edges.emplace_back();
    if (t != nullptr && needs_gradient(as_tensor(t))) edges.back() = gradient_edge(as_tensor(t));
  };
  for (size_t i = 0; i < args.size(); ++i) {
    if (is_absent_tensor(op, i, args[i])) add(nullptr);
    for (tn_tensor* t : tensors_of(args[i])) add(t);
  }
  return edges;
}

// What record_pair and record_vjp share: saved arguments and outputs, and the call's history.
class OpNode : public Node {
 public:
  explicit OpNode(const Op* op) : op_(op), name_(recorded_name(op->schema.name)) {}
  Status prepare(std::span<const tn_value> args, uint64_t reads, uint32_t skips) {
    EdgeList edges = edges_of(op_, args);
    take_edges(&edges);
    skips_ = skips;
    return saved_.save(op_, args, reads, (skips & TN_OP_VJP_SKIPS_ARGS) != 0);
  }
  std::string name() const override { return shown_name(name_); }
  void release_saved() override {
    saved_.release();
    outputs_.clear();
  }
  void let_go(const Tensor* root) override {
    for (SavedTensor& s : saved_.tensors) s.let_go(root);
  }
  void pack_saved(SavedPacker* packer) override {
    for (SavedTensor& s : saved_.tensors) packer->pack(&s);
    for (SavedTensor& s : outputs_) packer->pack(&s);
  }

  Status finish(std::span<const tn_value> args, std::span<const tn_value> results) {
    n_outputs = static_cast<uint32_t>(results.size());
    outputs_.resize(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].kind != TN_KIND_TENSOR) {
        return error(TN_UNSUPPORTED,
                     "{}: output {} is a list, which only a decomposition can record", name(), i);
      }
      Tensor* output = as_tensor(results[i].as.tensor);
      // By its schema it is none, so it shows what the op's code made.
      if (output->base != nullptr && op_->schema.returns[i].alias == 0) give_as_view(output);
      if ((skips_ & TN_OP_VJP_SKIPS_OUTPUTS) != 0) {
        output_infos_.emplace_back(output);
      } else {
        outputs_[i].save_output(output, static_cast<uint32_t>(i));
      }
    }
    note_place(this, args, call_device(args));
    for (size_t i = 0; i < results.size(); ++i) {
      Tensor* t = as_tensor(results[i].as.tensor);
      if (!is_float(t->dtype)) continue;
      const int64_t written = written_tensor(op_->schema.returns[i], args);
      if (written >= 0) {
        TN_TRY(rebase_history(t, this, static_cast<uint32_t>(i), static_cast<uint32_t>(written)));
      } else {
        set_history(t, this, static_cast<uint32_t>(i));
      }
    }
    note_saved(this);
    return nullptr;
  }

 protected:
  // The flat number of the argument that this output is, or -1.
  int64_t written_tensor(const Argument& output, std::span<const tn_value> args) const {
    if (output.alias == 0 || !output.written) return -1;
    int64_t flat = 0;
    for (size_t i = 0; i < args.size(); ++i) {
      if (op_->schema.arguments[i].alias == output.alias) return flat;
      flat += is_absent_tensor(op_, i, args[i]) ? 1 : tensors_of(args[i]).size();
    }
    return -1;
  }

  // Through a vjp: the op's own, written in ops.
  Status run_vjp(Tensor* const* grads, Tensor** results) {
    std::vector<tn_value> args;
    TN_TRY(saved_.unpack(this, ~uint64_t{0}, (skips_ & TN_OP_VJP_SKIPS_ARGS) != 0, &args));
    std::vector<TensorRef> outputs(n_outputs);
    std::vector<tn_tensor*> raw(n_outputs);
    for (size_t i = 0; i < n_outputs; ++i) {
      TN_TRY(output_infos_.empty() ? outputs_[i].unpack(this, &outputs[i])
                                   : make_hollow(output_infos_[i], &outputs[i]));
      raw[i] = outputs[i].get();
    }
    std::vector<uint8_t> needs(n_edges());
    for (uint32_t i = 0; i < n_edges(); ++i) needs[i] = edge(i).node != nullptr ? 1 : 0;
    std::vector<tn_tensor*> given(grads, grads + n_outputs);
    WideArguments wide;
    const bool widens = (op_->flags & TN_OP_KEEPS_HALVES) == 0 && op_->kind != OpKind::kView;
    std::span<const tn_value> seen = args;
    if (widens) {  // as the decomposition of halves
      TN_TRY(wide.make(op_, args));
      seen = wide.args();
      for (auto* list : {&raw, &given}) {
        for (tn_tensor*& t : *list) TN_TRY(wide.cast(t, &t));
      }
    }
    std::vector<tn_tensor*> made(n_edges());
    const tn_vjp_call call{sizeof(tn_vjp_call), static_cast<uint32_t>(seen.size()),
                           seen.data(),         raw.data(),
                           given.data(),        n_outputs,
                           n_edges(),           needs.data(),
                           made.data(),         &host_table()};
    const Status status = op_->vjp.load()(op_->vjp_self, &call);
    for (uint32_t i = 0; i < n_edges(); ++i) results[i] = as_tensor(made[i]);
    TN_TRY(status);
    for (uint32_t i = 0; i < n_edges(); ++i) {
      if (edge(i).node != nullptr) TN_TRY(prim::conform(*this, i, saved_.infos[i], &results[i]));
    }
    return nullptr;
  }

  // Through the decomposition, recomputed from the saved inputs: differentiable in inputs and
  // gradients.
  Status differentiate_decomposition(Tensor* const* grads, Tensor** results) {
    std::vector<tn_value> args;
    TN_TRY(saved_.unpack(this, ~uint64_t{0}, false, &args));
    // Each input as a tensor of its own, with the input behind it.
    std::vector<TensorRef> apart;
    std::vector<Tensor*> inputs;
    std::vector<uint32_t> edges;
    uint32_t flat = 0;
    const auto split = [&](tn_tensor** t) {
      const uint32_t i = flat++;
      if (*t == nullptr || edge(i).node == nullptr) return;
      Tensor* x = as_tensor(*t);
      apart.push_back(prim::reshape(x, x->size_span()));
      inputs.push_back(apart.back().get());
      edges.push_back(i);
      *t = apart.back().get();
    };
    for (size_t i = 0; i < args.size(); ++i) {
      tn_value& v = args[i];
      if (is_absent_tensor(op_, i, v)) ++flat;
      for (tn_tensor* const& t : tensors_of(v)) split(const_cast<tn_tensor**>(&t));
    }
    OwnedValues<4> outputs;
    outputs.resize(n_outputs);
    TN_TRY(decompose(op_, args, outputs));
    std::vector<Tensor*> from, seeds;
    for (uint32_t i = 0; i < n_outputs; ++i) {
      if (grads[i] == nullptr) continue;
      from.push_back(as_tensor(outputs[i].as.tensor));
      seeds.push_back(grads[i]);
    }
    std::vector<Tensor*> made(inputs.size());
    TN_TRY(
        gradients(from, seeds, inputs, TN_BACKWARD_CREATE_GRAPH | TN_BACKWARD_ALLOW_UNUSED, made));
    for (size_t i = 0; i < made.size(); ++i) results[edges[i]] = made[i];
    return nullptr;
  }

  const Op* op_;
  const std::string& name_;
  SavedArguments saved_;
  std::vector<SavedTensor> outputs_;
  std::vector<TensorInfo> output_infos_;  // where they are not kept
  uint32_t skips_ = 0;                    // TN_OP_VJP_SKIPS_*
};

class VjpNode final : public OpNode {
 public:
  using OpNode::OpNode;
  Status backward(Tensor* const* grads, Tensor** results) override {
    return run_vjp(grads, results);
  }
};

class PairNode final : public OpNode {
 public:
  PairNode(const Op* op, const Kernel& kernel) : OpNode(op), kernel_(kernel) {}

  // Room for what keep_privates then takes.
  void expect_privates() { privates_.reserve(kernel_.n_private); }
  void keep_privates(Tensor* const* privates) {
    for (uint32_t i = 0; i < kernel_.n_private; ++i) privates_.emplace_back(privates[i]);
  }
  void release_saved() override {
    OpNode::release_saved();
    privates_.clear();
  }

  Status backward(Tensor* const* grads, Tensor** results) override {
    if ((thread_state.modes & kModeNoGrad) == 0) {
      // A gradient of this gradient is wanted, which a kernel cannot give.
      if (op_->vjp != nullptr) return run_vjp(grads, results);
      if (op_->decompose != nullptr) return differentiate_decomposition(grads, results);
      return error(TN_UNSUPPORTED,
                   "{}: the kernel pair of {} has no second gradient, and the op has no vjp or "
                   "decomposition",
                   name(), kernel_.plugin);
    }
    std::vector<tn_value> args;
    for (uint32_t i = 0; i < n_outputs; ++i) {
      args.push_back(grads[i] != nullptr ? tn_value{TN_KIND_TENSOR, 0, {grads[i]}} : tn_value{});
    }
    TN_TRY(saved_.unpack(this, kernel_.saves_args, false, &args));
    const size_t known = kernel_.known(saved_.values).size();
    args.resize(n_outputs + known);
    const uint32_t n_gradients = saved_.flat_count(known);
    std::vector<TensorRef> outputs(n_outputs);
    for (uint32_t i = 0; i < n_outputs; ++i) {
      if ((kernel_.saves_outputs >> i & 1) != 0) TN_TRY(outputs_[i].unpack(this, &outputs[i]));
      args.push_back(outputs[i] ? tn_value{TN_KIND_TENSOR, 0, {outputs[i].get()}} : tn_value{});
    }
    for (const TensorRef& t : privates_) args.push_back({TN_KIND_TENSOR, 0, {t.get()}});
    std::vector<TensorRef> made(n_gradients);
    std::vector<Tensor*> raw(n_gradients);
    for (uint32_t i = 0; i < n_gradients; ++i) {
      if (edge(i).node == nullptr) continue;
      const GradientInfo& info = saved_.infos[i];
      TN_TRY(info.strides.empty() ? empty_tensor(info.sizes, info.dtype, info.device, &raw[i])
                                  : empty_strided(info.sizes, info.strides.data(), info.dtype,
                                                  info.device, &raw[i]));
      made[i] = TensorRef(raw[i]);
    }
    TN_TRY(launch_backward(kernel_, op_, call_device(args), args, raw));
    for (uint32_t i = 0; i < n_gradients; ++i) results[i] = made[i].take();
    return nullptr;
  }

 private:
  const Kernel& kernel_;
  std::vector<TensorRef> privates_;
};

Status record_with(Ref<OpNode> node, std::span<const tn_value> args, std::span<tn_value> results) {
  return node->finish(args, results);
}

}  // namespace

Status record_pair(const Op* op, const Kernel& kernel, std::span<const tn_value> args,
                   OutputMetas* metas, std::span<tn_value> results) {
  TN_TRY(refuse_inference(op->schema.name.c_str(), args));
  auto* node = new PairNode(op, kernel);
  Ref<OpNode> hold(node);
  // A vjp is for the second gradient: what neither it nor the kernel reads is not kept.
  const uint32_t skips = (kernel.saves_args == 0 ? op->flags & TN_OP_VJP_SKIPS_ARGS : 0) |
                         (kernel.saves_outputs == 0 ? op->flags & TN_OP_VJP_SKIPS_OUTPUTS : 0);
  TN_TRY(node->prepare(args, kernel.saves_args, skips));
  std::vector<Tensor*> privates(kernel.n_private);
  node->expect_privates();
  {
    NoGradScope no_grad;
    TN_TRY(run_kernel(op, kernel, args, metas, results, privates.data()));
  }
  node->keep_privates(privates.data());
  return record_with(std::move(hold), args, results);
}

Status record_vjp(const Op* op, std::span<const tn_value> args, const Kernel* kernel,
                  OutputMetas* metas, std::span<tn_value> results) {
  TN_TRY(refuse_inference(op->schema.name.c_str(), args));
  Ref<OpNode> node(new VjpNode(op));
  TN_TRY(node->prepare(args, ~uint64_t{0}, op->flags));
  {
    NoGradScope no_grad;
    TN_TRY(metas != nullptr ? run_chosen(op, kernel, args, metas, results)
                            : run_op(op, args, results));
  }
  return record_with(std::move(node), args, results);
}

}  // namespace tenon
