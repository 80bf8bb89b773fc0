#include "capture/graph.h"

#include <algorithm>

#include "base/small_vector.h"
#include "base/text.h"
#include "capture/describe.h"
#include "capture/device_replay.h"
#include "memory/transfer.h"
#include "primitive/convert.h"
#include "primitive/elementwise.h"
#include "registry/recording.h"
#include "tensor/rows.h"

namespace tenon {

using Where = GraphStorage::Kind;

std::vector<Place> places_of(const tn_call& call) {
  std::vector<Place> places;
  const auto see_operands = [&](const tn_operand* operands, size_t n) {
    for (size_t i = 0; i < n; ++i)
      places.push_back(Place::in(const_cast<tn_operand&>(operands[i])));
  };
  for (uint32_t i = 0; i < call.n_args; ++i) {
    const tn_value& v = call.args[i];
    if (v.kind == TN_KIND_LOOP) {
      const tn_program* p = v.as.loop->program;
      see_operands(v.as.loop->operands, p->n_outputs + p->n_inputs);
    } else if (v.kind == TN_KIND_REDUCTION) {
      const tn_program* p = v.as.reduction->prologue;
      see_operands(v.as.reduction->operands, 1 + (p != nullptr ? p->n_inputs : 1));
    }
    for (tn_tensor* t : tensors_of(v)) {
      if (t != nullptr) places.push_back(Place::in(*t));
    }
  }
  for (uint32_t i = 0; i < call.n_outputs; ++i) {
    if (call.outputs[i] != nullptr) places.push_back(Place::in(*call.outputs[i]));
  }
  return places;
}

bool LeftTensor::is_like(const Tensor* t) const {
  return !is_rows(t) && t->dtype == dtype && t->device == device && alignment_of(t) == alignment &&
         std::ranges::equal(t->size_span(), sizes) && std::ranges::equal(t->stride_span(), strides);
}

// Do two of what a call brings and the function holds lie in one memory, which did not when it was
// recorded? What had to be copied first was found out then.
bool LaunchGraph::shares_memory(std::span<tn_tensor* const> arguments) const {
  SmallVector<Extent, 16> brought;
  const auto bring = [&](const tn_storage* s) {
    if (s->memory != nullptr && s->bytes > 0) brought.emplace_back(s->device, s->memory, s->bytes);
  };
  for (const uint32_t i : arguments_) bring(arguments[storages[i].from]->storage);
  for (const uint32_t i : gradients_) bring(leaves[storages[i].from].leaf->grad()->storage);
  for (const Extent& extent : brought) {
    if (extent.meets_one_of(outside_memory)) return true;
  }
  return any_meet(brought);
}

// Tensors are looked at when one of all that are watched has changed.
bool LaunchGraph::tensors_fit() const {
  const uint64_t changes = watched_changes.load(std::memory_order_relaxed);
  if (changes == watched_changes_seen_) return true;
  if ((changes & kNothingFits) != 0) return false;
  for (const GraphStorage& s : storages) {
    if (s.kind == Where::kOutside &&
        s.storage->watched.load(std::memory_order_relaxed) != s.watched_then)
      return false;
  }
  watched_changes_seen_ = changes;
  return true;
}

// Objects are looked at when one of all that are watched has changed.
bool LaunchGraph::objects_fit(bool* stale) const {
  for (size_t i = 0; refreshes_objects && i < objects.size(); ++i) {
    if (objects[i].refresh != nullptr) objects[i].refresh(objects[i].object.get());
  }
  const uint64_t changes = watched_object_changes.load(std::memory_order_relaxed);
  if (changes == object_changes_seen_) return true;
  bool same_mode = true;
  for (const WatchedObject& w : objects) {
    *stale = *stale || *w.changes != w.changes_then;
    same_mode = same_mode && *w.training == w.training_then;
  }
  if (*stale || !same_mode) return false;
  object_changes_seen_ = changes;
  return true;
}

bool LaunchGraph::fits(std::span<tn_tensor* const> arguments, bool* stale) const {
  *stale = !tensors_fit();
  if (*stale || !objects_fit(stale)) return false;
  for (const uint32_t i : checked_leaves_) {
    const LeafEffect& effect = leaves[i];
    const TensorRef grad = effect.leaf->grad();
    if (!grad) {
      if (effect.needs == LeafEffect::Needs::kSome) return false;
    } else if (effect.needs == LeafEffect::Needs::kNone || grad->grad_fn != nullptr ||
               !effect.before->is_like(grad.get())) {
      return false;
    }
  }
  return !shares_memory(arguments);
}

void GraphStorage::put(tn_storage* in_places, uint64_t shift_there) {
  if (storage.get() != in_places) storage = StorageRef::retaining(in_places);
  shift = shift_there;
  for (const Place& p : places) p.show(in_places, shift);
}

Tensor* LeftTensor::make(tn_storage* of) const {
  of->retain();
  Tensor* t = make_tensor(of, sizes, strides.data(), offset, dtype);
  if (is_inference) t->flags |= TN_TENSOR_INFERENCE;
  return t;
}

void LaunchGraph::place(std::span<tn_tensor* const> arguments) {
  for (const uint32_t i : arguments_) {
    GraphStorage& s = storages[i];
    const tn_tensor* t = arguments[s.from];
    s.put(t->storage, t->byte_offset - s.start);
  }
  place_gradients();
}

void LaunchGraph::place_gradients() {
  for (const uint32_t i : gradients_) {
    GraphStorage& s = storages[i];
    const TensorRef grad = leaves[s.from].leaf->grad();
    s.put(grad->storage, grad->byte_offset - s.start);
  }
}

// A gradient stays where it is while only its leaf holds it.
void LaunchGraph::let_go_of_gradients() {
  for (const LeafEffect& effect : leaves) {
    if (effect.then != LeafEffect::Then::kLeft) continue;
    GraphStorage& s = storages[effect.after->storage];
    if (!s.storage) continue;
    const TensorRef grad = effect.leaf->grad();
    const auto refs = s.storage->refs.load(std::memory_order_acquire);
    // The leaf and this function hold the tensor; the tensor and the graph hold the storage.
    const bool stays = grad && grad->storage == s.storage.get()
                           ? grad->refs.load(std::memory_order_acquire) == 2 && refs == 2
                           : refs == 1;
    if (!stays) s.storage = {};
  }
}

Status LaunchGraph::take_left_storages() {
  let_go_of_gradients();
  for (const uint32_t i : left_) {
    GraphStorage& s = storages[i];
    if (s.storage) continue;
    tn_storage* made;
    TN_TRY(allocate_storage(s.device, nullptr, s.bytes, &made));
    const StorageRef hold(made);
    s.put(made, 0);
  }
  return nullptr;
}

void ReadNumber::read() const {
  tn_tensor element{};
  element.data = data;
  element.dtype = dtype;
  tn_value number = read_scalar(&element);
  if (parameter != nullptr) {
    *parameter = number_scalar(number, as_float);
  } else if (argument->kind == TN_KIND_FLOAT && number.kind != TN_KIND_FLOAT) {
    argument->as.f = static_cast<double>(number.as.i);
  } else {
    *argument = number;
  }
}

Status LaunchGraph::run(Step& step, const RandomState& random) {
  come_to(&step);
  if (step.kind == Step::Kind::kLaunch) {
    for (const auto& number : step.numbers) number->read();
    if (step.random >= 0) {
      auto* own = const_cast<tn_random*>(step.call->random);
      own->seed = random.seed;
      own->offset = random.offset + static_cast<uint64_t>(step.random);
    }
    TN_TRY(relaunch(*step.kernel, step.fn, step.op, step.call.get()));
  } else {
    const GraphStorage& to = storages[step.to];
    const uint64_t to_offset = step.to_offset + to.shift;
    if (step.kind == Step::Kind::kCopy) {
      const GraphStorage& from = storages[step.from];
      TN_TRY(copy_bytes(to.storage.get(), to_offset, from.storage.get(),
                        step.from_offset + from.shift, step.bytes));
    } else {
      TN_TRY(write_bytes(to.storage.get(), to_offset, step.values.data(), step.bytes));
    }
  }
  count_writes(step);
  return nullptr;
}

void LaunchGraph::count_writes(const Step& step) {
  for (const uint32_t at : step.written) {
    auto& version = version_of(storages[at].storage.get());
    version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}

void LaunchGraph::leave_gradients() {
  for (LeafEffect& effect : leaves) {
    if (effect.then == LeafEffect::Then::kCleared) {
      effect.leaf->set_grad({});
    } else if (effect.then == LeafEffect::Then::kLeft) {
      tn_storage* storage = storages[effect.after->storage].storage.get();
      const TensorRef there = effect.leaf->grad();
      if (there && there->storage == storage && effect.after->is_like(there.get())) continue;
      effect.leaf->set_grad(TensorRef(effect.after->make(storage)));
    }
  }
}

// The graph lets go of them: they are the caller's alone.
void LaunchGraph::leave_results(std::span<tn_tensor*> given) {
  for (size_t i = 0; i < results.size(); ++i) {
    given[i] = results[i] != nullptr ? results[i]->make(storages[results[i]->storage].storage.get())
                                     : nullptr;
  }
  for (const auto& result : results) {
    if (result != nullptr) storages[result->storage].storage = {};
  }
}

Status LaunchGraph::replay_list(std::span<tn_tensor* const> arguments,
                                std::span<tn_tensor*> given) {
  place(arguments);
  TN_TRY(take_left_storages());
  const RandomState random =
      n_random > 0 ? next_random_state(static_cast<uint64_t>(n_random)) : RandomState{};
  for (Step& step : steps) TN_TRY(run(step, random));
  come_to(steps.data() + steps.size());
  leave_gradients();
  leave_results(given);
  return nullptr;
}

// What the caller must know: how far it came.
std::string LaunchGraph::failure_text() const {
  constexpr const char* kFailed = "a replay of the compiled function failed";
  if (running_ == nullptr)
    return fmt::format("{} before its first call: nothing was written", kFailed);
  std::string at = "behind its calls";
  if (running_ != steps.data() + steps.size()) {
    at = fmt::format("at call {} of {} ({})", running_ - steps.data() + 1, steps.size(),
                     step_name(*running_));
  } else if (device_ != nullptr) {
    at = "as one graph of " + device_text();
  }
  return fmt::format(
      "{} {}: gradients and tensors that it writes may be partly written, as where an eager call "
      "fails in the middle",
      kFailed, at);
}

Status LaunchGraph::replay(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> given) {
  come_to(nullptr);
  const Status status = guarded([&]() -> Status {
    if (device_ != nullptr) {
      bool captured = false;
      StatusHolder failed(device_->replay(*this, arguments, given, &captured));
      if (captured || !failed) return failed.take();
      device_.reset();  // it cannot be captured, and nothing has happened
    }
    return replay_list(arguments, given);
  });
  for (const uint32_t i : arguments_) storages[i].storage = {};  // what was brought is let go
  for (const uint32_t i : gradients_) storages[i].storage = {};
  return status == nullptr ? nullptr : wrap(status, [&] { return failure_text(); });
}

LaunchGraph::LaunchGraph() = default;
LaunchGraph::~LaunchGraph() = default;

void LaunchGraph::settle() {
  watched_changes_seen_ = watched_changes_then;
  object_changes_seen_ = object_changes_then;
  for (uint32_t i = 0; i < storages.size(); ++i) {
    if (storages[i].kind == Where::kArgument) arguments_.push_back(i);
    if (storages[i].kind == Where::kGradient) gradients_.push_back(i);
    if (storages[i].kind == Where::kLeft) left_.push_back(i);
  }
  for (uint32_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].needs != LeafEffect::Needs::kNothing) checked_leaves_.push_back(i);
  }
  for (const Step& step : steps) {
    for (const uint32_t id : step.written) storages[id].is_written = true;
  }
  for (const LeafEffect& effect : leaves) {
    if (effect.then == LeafEffect::Then::kLeft) storages[effect.after->storage].is_gradient = true;
  }
  device_ = DeviceReplay::of(*this);
}

std::string LaunchGraph::device_text() const {
  return device_ != nullptr ? tenon::device_text(device_->device()) : "";
}

}  // namespace tenon
