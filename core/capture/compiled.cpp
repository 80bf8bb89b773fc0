#include "capture/compiled.h"

#include <pthread.h>

#include <algorithm>
#include <new>
#include <unordered_set>

#include "base/text.h"
#include "memory/cache.h"
#include "memory/hazards.h"
#include "autograd/grad.h"
#include "autograd/record.h"
#include "capture/describe.h"
#include "capture/recorder.h"
#include "tensor/rows.h"
#include "tensor/view.h"

namespace tenon {
namespace {

constexpr size_t kMaxSignatures = 8;
constexpr int kMaxTries = 4;   // of one signature: an optimizer makes its state at its first step
constexpr int kMaxStale = 16;  // what it leans on changes again and again

// Under these the calls of the function are looked at one by one.
constexpr uint32_t kEagerModes =
    kModeProfile | kModeAutocast | kModeCapture | kModeExplain | kModesOfNodes | kModeRecord;

// Why calls with these arguments are not recorded; "": they are.
std::string unfit(std::span<tn_tensor* const> arguments) {
  const bool records = (thread_state.modes & (kModeNoGrad | kModeInference)) == 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* t = as_tensor(arguments[i]);
    if (t == nullptr) continue;
    if (is_rows(t)) return fmt::format("argument {} is row-sparse", i);
    if (t->requires_grad()) return fmt::format("argument {} asks for a gradient", i);
    // Of a view the flag is set when somebody asks; and writes to it are its base's.
    if (records && t->base != nullptr && t->base->requires_grad())
      return fmt::format("argument {} is a view of what asks for a gradient", i);
    if (t->meta != nullptr && grad_of(t)) return fmt::format("argument {} has a gradient", i);
    if (t->device.type == TN_DEVICE_META) return fmt::format("argument {} is on meta", i);
  }
  return "";
}

// What a recorded call made of the autograd of a tensor that stood for another: a history by a write
// in place, a leaf that asks for a gradient, a gradient, hooks. False: nothing.
Status carry_over(const Tensor* made, Tensor* given, bool* changed) {
  const TensorRef grad = grad_of(made);
  if (made->grad_fn == nullptr && !made->requires_grad() && !grad) return nullptr;
  *changed = true;
  // A view's own is made from its base's when it is asked for.
  if (made->grad_fn != nullptr && made->base == nullptr)
    set_history(given, grad_fn_of(made), made->output_number);
  if (given->meta == nullptr && made->meta != nullptr) {
    made->meta->retain();
    given->meta = made->meta;
  }
  if (made->grad_fn != nullptr) return nullptr;
  if (made->requires_grad() && made->is_leaf()) TN_TRY(set_requires_grad(given, true));
  return made->is_leaf() ? set_grad(given, grad.get()) : nullptr;
}

// The first argument that shows the same storage.
size_t first_of_storage(std::span<tn_tensor* const> arguments, size_t i) {
  for (size_t k = 0; k < i; ++k) {
    if (arguments[k] != nullptr && arguments[k]->storage == arguments[i]->storage) return k;
  }
  return i;
}

constexpr int kKeyHead = 8;  // what a key has of an argument, before its sizes and strides

std::vector<int64_t> key_of(std::span<tn_tensor* const> arguments) {
  std::vector<int64_t> key{thread_state.modes & (kModeNoGrad | kModeInference)};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const tn_tensor* t = arguments[i];
    if (t == nullptr) {
      key.push_back(-1);
      continue;
    }
    const size_t first = first_of_storage(arguments, i);
    const auto alignment = static_cast<int64_t>(alignment_of(t));
    for (const int64_t part :
         {int64_t{t->ndim}, int64_t{t->dtype}, int64_t{t->device.type}, int64_t{t->device.index},
          int64_t{t->flags & TN_TENSOR_INFERENCE}, alignment, static_cast<int64_t>(first),
          static_cast<int64_t>(t->byte_offset - arguments[first]->byte_offset)})
      key.push_back(part);
    key.insert(key.end(), t->sizes, t->sizes + t->ndim);
    key.insert(key.end(), t->strides, t->strides + t->ndim);
  }
  return key;
}

// "[8, 12] float32 on cpu; [8] int64 on cpu", of the key.
std::string arguments_text(const std::vector<int64_t>& key) {
  std::string text;
  for (const int64_t *at = key.data() + 1, *end = key.data() + key.size(); at != end;) {
    text += text.empty() ? "" : "; ";
    if (*at < 0) {
      text += "none";
      ++at;
      continue;
    }
    const auto ndim = static_cast<int32_t>(at[0]);
    const tn_device device{static_cast<decltype(tn_device::type)>(at[2]),
                           static_cast<decltype(tn_device::index)>(at[3])};
    text += fmt::format("{} {} on {}", shape_text(at + kKeyHead, ndim),
                        dtype_name(static_cast<tn_dtype>(at[1])), device_text(device));
    at += kKeyHead + 2 * ndim;
  }
  return text.empty() ? "none" : text;
}

// The memory of another storage, told apart from it: while a function is recorded, what it was
// given and what it holds itself must not be taken for one.
struct ShadowStorage final : tn_storage {
  // A shadow that another function kept stands for its original.
  explicit ShadowStorage(tn_storage* given) : of(given->original ? given->original : given) {
    of->retain();
    memory = of->memory;
    bytes = of->bytes;
    device = of->device;
    stream = of->stream;
    no_cache = of->no_cache;
    pinned_for = of->pinned_for;
    version_then = of->version.load(std::memory_order_relaxed);
    version.store(version_then, std::memory_order_relaxed);
    destroy = [](tn_storage* s) {
      auto* shadow = static_cast<ShadowStorage*>(s);
      drop_blobs(shadow);
      if (shadow->hazards.load(std::memory_order_acquire) != nullptr) end_hazards(shadow);
      shadow->of->release();
      delete shadow;
    };
  }
  tn_storage* const of;
  uint32_t version_then;
};

// The arguments over shadows of their storages.
class Shadows {
 public:
  Status make(std::span<tn_tensor* const> arguments, GraphRecorder* recorder) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      tn_tensor* t = arguments[i];
      tensors_.push_back(nullptr);
      shadows_.emplace_back();
      held_.emplace_back();
      if (t == nullptr) continue;
      const size_t first = first_of_storage(arguments, i);
      if (first != i) {
        shadows_[i] = shadows_[first];
      } else {
        TN_TRY(order(t->storage));
        shadows_[i] = StorageRef(new ShadowStorage(t->storage));
        recorder->expect_argument(shadows_[i].get(), static_cast<uint32_t>(i), t->byte_offset);
      }
      held_[i] = stand_in(as_tensor(t), shadows_[i].get());
      tensors_[i] = held_[i].get();
    }
    return nullptr;
  }

  std::span<tn_tensor* const> tensors() const { return tensors_; }

  // After the call, also where it failed: what was written was written to the arguments, what asks
  // for a gradient is an argument, and a result that shows one of them shows its storage. What
  // remains of a shadow the function has kept: then `held` is set.
  Status settle(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> results,
                GraphRecorder* recorder, bool* held, bool* changed) {
    StatusHolder failed;
    const auto keep_first = [&](Status status) {
      StatusHolder later(status);
      if (!failed) failed.set(later.take());
    };
    for (const StorageRef& s : shadows_) {
      if (!s) continue;
      auto* shadow = static_cast<ShadowStorage*>(s.get());
      const uint32_t now = shadow->version.load(std::memory_order_relaxed);
      shadow->of->version.fetch_add(now - shadow->version_then, std::memory_order_relaxed);
      shadow->version_then = now;
      keep_first(order(shadow->of));
    }
    for (const StandIn& root : roots_) keep_first(carry_over(root.made.get(), root.given, changed));
    for (size_t i = 0; i < held_.size(); ++i) {
      if (!held_[i] || held_[i]->base == nullptr) continue;
      keep_first(carry_over(held_[i].get(), as_tensor(arguments[i]), changed));
    }
    if (*changed) recorder->refuse("an argument gets a gradient or a history");
    for (tn_tensor*& result : results) {
      for (const StorageRef& s : shadows_) {
        if (result == nullptr || !s || result->storage != s.get()) continue;
        const TensorRef over_shadow(as_tensor(std::exchange(result, nullptr)));
        keep_first(show(over_shadow.get(), arguments, s.get(), &result));
      }
    }
    tensors_.clear();
    held_.clear();
    roots_.clear();
    for (const StorageRef& shadow : shadows_) {
      if (!shadow) continue;
      const auto own = static_cast<uint32_t>(std::ranges::count_if(
          shadows_, [&](const StorageRef& s) { return s.get() == shadow.get(); }));
      if (shadow->refs.load(std::memory_order_acquire) == own) continue;
      *held = true;
      // Whoever kept it sees by the version when the argument is written.
      auto* const kept = static_cast<ShadowStorage*>(shadow.get());
      kept->original = kept->of;
    }
    return failed.take();
  }

 private:
  // A tensor that is no view, and what stands for it.
  struct StandIn {
    Tensor* given;
    TensorRef made;
  };

  static TensorRef over(tn_storage* storage, const Tensor* t) {
    storage->retain();
    const auto offset = static_cast<int64_t>(t->byte_offset / kItemSize[t->dtype]);
    Tensor* made = make_tensor(storage, t->size_span(), t->strides, offset, t->dtype);
    made->flags |= t->flags & TN_TENSOR_INFERENCE;
    return TensorRef(made);
  }
  static TensorRef view_of(Tensor* root, const Tensor* t) {
    const auto offset = static_cast<int64_t>(t->byte_offset / kItemSize[t->dtype]);
    Tensor* view = make_view_unchecked(root, t->size_span(), t->strides, offset);
    view->flags |= t->flags & TN_TENSOR_INFERENCE;
    view->view_flags |= t->view_flags;
    return TensorRef(view);
  }
  // Views of one tensor are views of what stands for it, so that a write to one is seen by the others.
  TensorRef stand_in(Tensor* t, tn_storage* shadow) {
    const bool is_view = t->base != nullptr && t->base->dtype == t->dtype;
    Tensor* const root = is_view ? t->base : t;
    auto known = std::ranges::find(roots_, root, &StandIn::given);
    if (known == roots_.end()) {
      roots_.push_back({root, over(shadow, root)});
      known = roots_.end() - 1;
    }
    return is_view ? view_of(known->made.get(), t) : known->made;
  }

  // A result that shows a shadow, over the storage that it stands for: an argument, a view of one, or
  // another tensor that shares its memory.
  Status show(const Tensor* over_shadow, std::span<tn_tensor* const> arguments, tn_storage* shadow,
              tn_tensor** result) {
    for (size_t k = 0; k < held_.size(); ++k) {
      if (over_shadow != held_[k].get()) continue;
      *result = TensorRef::retaining(as_tensor(arguments[k])).take();
      return nullptr;
    }
    const auto root = std::ranges::find_if(
        roots_, [&](const StandIn& r) { return r.made.get() == over_shadow->base; });
    TensorRef shown = root != roots_.end()
                          ? view_of(root->given, over_shadow)
                          : over(static_cast<ShadowStorage*>(shadow)->of, over_shadow);
    bool changed = false;
    TN_TRY(carry_over(over_shadow, shown.get(), &changed));
    *result = shown.take();
    return nullptr;
  }
  // The stream's work before and behind it knows the original alone.
  static Status order(tn_storage* storage) {
    if (storage->device.type == TN_DEVICE_CPU) return nullptr;
    Stream* stream;
    TN_TRY(current_stream(storage->device, &stream));
    return use_storage(storage, stream, true);
  }
  std::vector<tn_tensor*> tensors_;
  std::vector<StorageRef> shadows_;
  std::vector<TensorRef> held_;
  std::vector<StandIn> roots_;
};

}  // namespace

static void release_results(std::span<tn_tensor*> results) {
  for (tn_tensor*& t : results) {
    if (t != nullptr) as_tensor(std::exchange(t, nullptr))->release();
  }
}

Status Compiled::run(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> results) const {
  std::ranges::fill(results, nullptr);
  const Status failed = fn_(self_, arguments.data(), static_cast<uint32_t>(arguments.size()),
                            results.data(), static_cast<uint32_t>(results.size()));
  if (failed == nullptr) return nullptr;
  release_results(results);
  return failed;
}

Compiled::Signature* Compiled::find(std::span<tn_tensor* const> arguments) {
  if (std::string reason = unfit(arguments); !reason.empty()) {
    last_unfit_ = std::move(reason);
    return nullptr;
  }
  return find(key_of(arguments), arguments);
}

Compiled::Signature* Compiled::find(const Key& key, std::span<tn_tensor* const> arguments) {
  Signature* unrecorded = nullptr;
  for (size_t i = 0; i < signatures_.size();) {
    Signature& s = *signatures_[i];
    if (s.key != key) {
      ++i;
      continue;
    }
    bool stale = false;
    if (s.graph == nullptr) {
      unrecorded = &s;
    } else if (s.graph->fits(arguments, &stale)) {
      return &s;
    }
    if (!stale) {
      ++i;
      continue;
    }
    const std::unique_ptr<Signature> gone = std::move(signatures_[i]);  // what it holds, last
    signatures_.erase(signatures_.begin() + static_cast<std::ptrdiff_t>(i));
    if (++n_stale_ == kMaxStale && stays_eager_.empty())
      stays_eager_ = fmt::format("what it leans on changed after {} recordings", kMaxStale);
  }
  if (unrecorded != nullptr) return unrecorded->is_final ? nullptr : unrecorded;
  if (!stays_eager_.empty()) return nullptr;
  if (signatures_.size() == kMaxSignatures) {
    stays_eager_ = fmt::format("it was called in more than {} ways", kMaxSignatures);
    return nullptr;
  }
  signatures_.push_back(std::make_unique<Signature>());
  signatures_.back()->key = key;
  return signatures_.back().get();
}

Status Compiled::record(Signature* signature, std::span<tn_tensor* const> arguments,
                        std::span<tn_tensor*> results) {
  GraphRecorder recorder;
  Shadows shadows;
  TN_TRY(shadows.make(arguments, &recorder));
  Status failed;
  {
    const GraphRecorder::Listening listening(&recorder);
    failed = run(shadows.tensors(), results);
  }
  bool held = false, changed = false, again = false;
  StatusHolder lost(
      guarded([&] { return shadows.settle(arguments, results, &recorder, &held, &changed); }));
  if (failed == nullptr) failed = lost.take();
  if (failed == nullptr) {
    ++n_recordings_;
    failed =
        recorder.finish(results, held, is_exact_, &signature->graph, &signature->reason, &again);
  }
  if (failed != nullptr) {
    release_results(results);
    return failed;
  }
  // What it does to its arguments it will do again.
  signature->is_final = !again || changed || ++signature->tries == kMaxTries;
  return nullptr;
}

Status Compiled::replay(Signature* signature, std::span<tn_tensor* const> arguments,
                        std::span<tn_tensor*> results) {
  ++n_replays_;
  std::ranges::fill(results, nullptr);
  const Status failed = signature->graph->replay(arguments, results);
  if (failed != nullptr) release_results(results);
  return failed;
}

static std::mutex all_mutex;
static std::unordered_set<Compiled*>& all_functions() {
  static auto* set = new std::unordered_set<Compiled*>;
  return *set;
}

Compiled::Compiled(tn_function_fn fn, void* self, void (*destroy)(void*), bool is_exact)
    : fn_(fn), self_(self), destroy_(destroy), is_exact_(is_exact) {
  [[maybe_unused]] static const int asked =
      pthread_atfork(before_fork, behind_fork, in_child_of_fork);
  const std::scoped_lock lock(all_mutex);
  all_functions().insert(this);
}

Compiled::~Compiled() {
  {
    const std::scoped_lock lock(all_mutex);
    all_functions().erase(this);
  }
  if (destroy_ != nullptr) destroy_(self_);
}

void Compiled::before_fork() {
  all_mutex.lock();
  for (Compiled* function : all_functions()) function->mutex_.lock();
  hold_recorders();
}

void Compiled::behind_fork() {
  let_recorders_go();
  for (Compiled* function : all_functions()) function->mutex_.unlock();
  all_mutex.unlock();
}

void Compiled::in_child_of_fork() {
  for (Compiled* function : all_functions()) {
    new (&function->idle_) std::condition_variable;  // who waited is gone
    if (function->state_ == State::kIdle || function->by_ == &thread_state) continue;
    // In whatever state they were left, nobody looks at them again.
    new (&function->signatures_) decltype(function->signatures_);
    new (&function->stays_eager_) std::string;
    new (&function->last_unfit_) std::string;
    function->state_ = State::kIdle;
  }
  forget_other_recorders();
  behind_fork();
}

std::unique_lock<std::mutex> Compiled::wait_for_replays() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return state_ != State::kReplaying || by_ == &thread_state; });
  return lock;
}

bool Compiled::begin_turn() {
  const auto lock = wait_for_replays();
  if (state_ != State::kIdle) return false;
  state_ = State::kReplaying;
  by_ = &thread_state;
  return true;
}

void Compiled::set_state(State state) {
  {
    const std::scoped_lock lock(mutex_);
    state_ = state;
  }
  idle_.notify_all();
}

Status Compiled::call(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> results) {
  if ((thread_state.modes & kEagerModes) != 0 || !begin_turn()) return run(arguments, results);
  bool is_eager = false;
  const Status status = guarded([&]() -> Status {
    Signature* signature = find(arguments);
    is_eager = signature == nullptr;
    if (is_eager) return nullptr;
    if (signature->graph != nullptr) return replay(signature, arguments, results);
    set_state(State::kRecording);
    return record(signature, arguments, results);
  });
  set_state(State::kIdle);
  return is_eager ? run(arguments, results) : status;
}

std::string Compiled::describe() {
  const auto lock = wait_for_replays();
  if (state_ == State::kRecording) return "is being recorded\n";
  std::string text = fmt::format("{} recordings, {} replays\n", n_recordings_, n_replays_);
  if (!stays_eager_.empty()) text += fmt::format("runs eagerly: {}\n", stays_eager_);
  if (!last_unfit_.empty()) text += fmt::format("a call ran eagerly: {}\n", last_unfit_);
  for (const auto& s : signatures_) {
    if (s->graph == nullptr) {
      text += fmt::format("signature: runs eagerly: {}\n",
                          s->reason.empty() ? "not recorded yet" : s->reason);
      continue;
    }
    text += fmt::format("signature: {}", described(*s->graph, arguments_text(s->key)));
  }
  return text;
}

}  // namespace tenon
