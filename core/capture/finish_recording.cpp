// What a recorder makes of what it heard: whether it can be replayed, and the graph that is.
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "capture/compile_list.h"
#include "capture/plan.h"
#include "capture/recorder.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

using Where = GraphStorage::Kind;

}  // namespace

// A tensor that only we still hold, as w.detach() made by the function, ends with the call: its flag does
// not count.
void GraphRecorder::settle_flags() {
  for (const Flag& flag : flags_)
    flags_differ_ |= flag.turned_on != 0 && !flag.tensor->retained_once();
  flags_.clear();
}

// Whether what it holds is as it was when the call began. What was frozen only for a while is: the
// gradients that were not computed meanwhile are not in the graph.
bool GraphRecorder::are_tensors_as_before() {
  const uint64_t changes = watched_changes.load(std::memory_order_relaxed);
  if (changes - graph_->watched_changes_then != flag_changes_ || flags_differ_) return false;
  if (flag_changes_ == 0) return true;
  graph_->watched_changes_then = changes;
  for (GraphStorage& s : graph_->storages) {
    if (s.kind == Where::kOutside)
      s.watched_then = s.storage->watched.load(std::memory_order_relaxed);
  }
  return true;
}

int64_t GraphRecorder::leave(const Tensor* t) {
  const auto known = ids_.find(t->storage);
  if (known == ids_.end()) return -1;
  GraphStorage& s = graph_->storages[known->second];
  if (s.kind != Where::kInside && s.kind != Where::kLeft) return -1;
  s.kind = Where::kLeft;
  return known->second;
}

// Refuses where two storages of the function lie in one memory: its calls are looked at as if they
// did not.
void GraphRecorder::refuse_shared_memory(bool* again) {
  std::vector<Extent>& outside = graph_->outside_memory;
  std::vector<Extent> all;
  for (const GraphStorage& s : graph_->storages) {
    if (s.memory == nullptr || s.bytes == 0) continue;
    all.emplace_back(s.device, s.memory, s.bytes);
    if (s.kind == Where::kOutside) outside.push_back(all.back());
  }
  if (any_meet(outside)) {
    refuse("tensors that it holds share memory, and are no views of one another");
  } else if (any_meet(all)) {
    *again = true;
    refuse("an argument or a gradient shares memory with another tensor of the function");
  }
}

void GraphRecorder::finish_leaves() {
  for (LeafEffect& effect : graph_->leaves) {
    const TensorRef grad = effect.leaf->grad();
    if (!grad) {
      if (effect.needs != LeafEffect::Needs::kNone) effect.then = LeafEffect::Then::kCleared;
      continue;
    }
    const bool same = effect.before != nullptr &&
                      graph_->storages[effect.before->storage].storage.get() == grad->storage;
    if (same && effect.before->is_like(grad.get())) continue;
    if (is_rows(grad.get())) return refuse("a gradient that it leaves is row-sparse");
    const int64_t id = leave(grad.get());
    if (id < 0 || grad->grad_fn != nullptr)
      return refuse("a gradient that it leaves was not made by recorded calls alone");
    effect.then = LeafEffect::Then::kLeft;
    effect.after = std::make_unique<LeftTensor>(static_cast<uint32_t>(id), grad.get());
  }
}

void GraphRecorder::finish_results(std::span<tn_tensor* const> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    auto& left = graph_->results.emplace_back();
    if (results[i] == nullptr) continue;
    const Tensor* t = as_tensor(results[i]);
    if (t->grad_fn != nullptr && !grad_fn_of(t)->released) {
      return refuse(fmt::format(
          "result {} has a history, and its backward would run outside of the function: detach it",
          i));
    }
    if (t->grad_fn == nullptr && t->requires_grad())
      return refuse(fmt::format("result {} is a leaf that asks for a gradient", i));
    const int64_t id = leave(t);
    if (id < 0)
      return refuse(fmt::format("result {} shows memory that was there before the call", i));
    left = std::make_unique<LeftTensor>(static_cast<uint32_t>(id), t);
  }
}

Status GraphRecorder::plan(bool is_exact) {
  drop_dead_steps(graph_.get());
  TN_TRY(run_compilers(graph_.get(), is_exact));
  TN_TRY(recompute_cheap_values(graph_.get()));
  TN_TRY(plan_memory(graph_.get()));
  TN_TRY(prepare_calls(graph_.get()));
  graph_->settle();
  return nullptr;
}

Status GraphRecorder::finish(std::span<tn_tensor* const> results, bool holds_argument,
                             bool is_exact, std::unique_ptr<LaunchGraph>* graph,
                             std::string* reason, bool* again) {
  return guarded([&]() -> Status {
    *again = false;
    settle_flags();
    // Leaves that the function made for itself are gone when we let go of them.
    std::erase_if(graph_->leaves, [](LeafEffect& e) { return e.leaf->retained_once(); });
    for (uint32_t i = 0; i < graph_->leaves.size(); ++i) {
      const auto& before = graph_->leaves[i].before;
      if (before != nullptr) graph_->storages[before->storage].from = i;
    }
    std::unique_lock lock(mutex);
    note([&] {
      finish_leaves();
      if (reason_.empty()) finish_results(results);
    });
    if (next_random_ != graph_->n_random) refuse(kRandomIsSet);  // and not set back again
    if (holds_argument) refuse("an argument is held after the call");
    size_t held = 0;
    for (const auto& [storage, id] : alive_) {
      held += graph_->storages[id].kind == Where::kInside ? 1 : 0;
    }
    // A first call does more than later ones: whatever was refused, these may be fine.
    *again = held > 0 || reason_ == kNoMemory ||
             std::ranges::any_of(graph_->objects, [](const WatchedObject& w) {
               return *w.changes != w.changes_then;
             });
    if (reason_.empty() && !are_tensors_as_before()) {
      *again = true;
      refuse("requires_grad, the history, the device or a hook of a tensor was changed meanwhile");
    }
    if (reason_.empty()) refuse_shared_memory(again);
    for (const WatchedObject& w : graph_->objects) {
      if (reason_.empty() && *w.changes != w.changes_then) {
        *again = true;
        refuse("an object that it uses was changed by the call: state of an optimizer, an option");
      }
      if (*w.training != w.training_then) refuse("the training mode was changed by the call");
    }
    if (reason_.empty() && held > 0) {
      *again = true;
      refuse(fmt::format("{} tensors that it made are held after the call", held));
    }
    *reason = reason_;
    if (!reason_.empty()) return nullptr;
    // Compilers and kernels run now, which may call compiled functions of their own.
    lock.unlock();
    // The call itself went well: what fails now is a reason.
    if (const StatusHolder failed(guarded([&] { return plan(is_exact); })); failed) {
      *reason = status_text(failed.get());
      *again = failed.get()->code == TN_OUT_OF_MEMORY;
      return nullptr;
    }
    *graph = std::move(graph_);
    graph_ = std::make_unique<LaunchGraph>();
    return nullptr;
  });
}

}  // namespace tenon
