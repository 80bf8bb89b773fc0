// What a recorder hears while the function runs.
#include "capture/recorder.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

using Where = GraphStorage::Kind;

// Storages that were made while a recorder listened, until it ends: how they are freed otherwise.
// They may be freed by any thread.
struct Followed {
  GraphRecorder* recorder;
  void (*destroy)(tn_storage*);
};
uint32_t n_open = 0, last_number = 0;
std::unordered_map<const tn_storage*, Followed>& followed() {
  static auto* map = new std::unordered_map<const tn_storage*, Followed>;
  return *map;
}

}  // namespace

std::mutex GraphRecorder::mutex;

void hold_recorders() { GraphRecorder::mutex.lock(); }
void let_recorders_go() { GraphRecorder::mutex.unlock(); }
void forget_other_recorders() {
  n_open = thread_state.recording != nullptr ? 1 : 0;
  open_recording.store(n_open > 0 ? last_number : 0, std::memory_order_relaxed);
}

GraphRecorder::GraphRecorder() : graph_(std::make_unique<LaunchGraph>()) {}

GraphRecorder::~GraphRecorder() {
  const std::scoped_lock lock(mutex);
  for (const auto& [storage, id] : alive_) {
    const auto it = followed().find(storage);
    const_cast<tn_storage*>(storage)->destroy = it->second.destroy;
    followed().erase(it);
  }
}

GraphRecorder::Listening::Listening(GraphRecorder* recorder) {
  const std::scoped_lock lock(mutex);
  ++n_open;
  recorder->number_ = ++last_number;
  recorder->first_node_ = next_node_sequence();
  recorder->graph_->watched_changes_then = watched_changes.load(std::memory_order_relaxed);
  recorder->graph_->object_changes_then = watched_object_changes.load(std::memory_order_relaxed);
  open_recording.store(last_number, std::memory_order_relaxed);
  thread_state.recording = recorder;
  allocation_listener = listen;
}

GraphRecorder::Listening::~Listening() {
  const std::scoped_lock lock(mutex);
  if (--n_open == 0) open_recording.store(0, std::memory_order_relaxed);
  thread_state.recording = nullptr;
  allocation_listener = nullptr;
}

void GraphRecorder::refuse(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
}

void GraphRecorder::expect_argument(const tn_storage* storage, uint32_t argument, uint64_t start) {
  ids_.emplace(storage, static_cast<uint32_t>(graph_->storages.size()));
  GraphStorage& s = graph_->storages.emplace_back();
  s.kind = Where::kArgument;
  s.device = storage->device;
  s.bytes = storage->bytes;
  s.memory = storage->memory;
  s.from = argument;
  s.start = start;
}

void GraphRecorder::listen(tn_storage* storage) {
  static_cast<GraphRecorder*>(thread_state.recording)->allocated(storage);
}

void GraphRecorder::allocated(tn_storage* storage) {
  note([&] {
    const std::scoped_lock lock(mutex);
    const auto id = static_cast<uint32_t>(graph_->storages.size());
    GraphStorage& s = graph_->storages.emplace_back();
    s.device = storage->device;
    s.bytes = storage->bytes;
    ids_[storage] = id;
    const auto [it, is_new] = alive_.emplace(storage, id);
    try {
      followed().emplace(storage, Followed{this, storage->destroy});
    } catch (...) {
      alive_.erase(it);
      throw;
    }
    storage->destroy = destroy_followed;
    live_bytes_ += storage->bytes;
    graph_->eager_bytes = std::max(graph_->eager_bytes, live_bytes_);
  });
}

void GraphRecorder::destroy_followed(tn_storage* storage) {
  Followed was;
  {
    const std::scoped_lock lock(mutex);
    const auto it = followed().find(storage);
    if (it == followed().end()) {  // the recording ended meanwhile, and gave `destroy` back
      was.destroy = storage->destroy;
    } else {
      was = it->second;
      followed().erase(it);
      was.recorder->freed(storage);
    }
  }
  was.destroy(storage);
}

void GraphRecorder::freed(const tn_storage* storage) {
  alive_.erase(storage);
  ids_.erase(storage);
  live_bytes_ -= storage->bytes;
}

// Of one that nobody told of: it was there before, and stays.
uint32_t GraphRecorder::id_of(tn_storage* storage) {
  const auto known = ids_.find(storage);
  if (known != ids_.end()) return known->second;
  if (storage->born_in >= number_)
    refuse("memory of its own was made on another thread, or by the host");
  const auto id = static_cast<uint32_t>(graph_->storages.size());
  GraphStorage& s = graph_->storages.emplace_back();
  s.kind = Where::kOutside;
  s.device = storage->device;
  s.bytes = storage->bytes;
  s.storage = StorageRef::retaining(storage);
  s.memory = storage->memory;
  ids_.emplace(storage, id);
  uint64_t unwatched = 0;
  storage->watched.compare_exchange_strong(unwatched, 1, std::memory_order_relaxed);
  s.watched_then = storage->watched.load(std::memory_order_relaxed);
  return id;
}

// Whoever reads memory of the function's own that no step wrote would read something else later.
void GraphRecorder::use(Step* step, uint32_t id, bool written, const char* what, Place place) {
  const GraphStorage& s = graph_->storages[id];
  is_used_.resize(graph_->storages.size());
  if (!is_used_[id] && !written && s.kind == Where::kInside && s.bytes > 0)
    refuse(fmt::format("{}: reads values that no recorded call wrote", what));
  is_used_[id] = true;
  step->uses.push_back({id, place});
}

void GraphRecorder::number(const Op* op, uint32_t parameter, const tn_tensor* holder,
                           bool as_float) {
  note([&] {
    auto* tensor = static_cast<Tensor*>(const_cast<tn_tensor*>(holder));
    parameters_.push_back({op, parameter, TensorRef::retaining(tensor), as_float});
  });
}

void GraphRecorder::bind(Step* step, const tn_tensor* holder, tn_value* argument,
                         tn_scalar* parameter, bool as_float) {
  auto& number = step->numbers.emplace_back(std::make_unique<ReadNumber>());
  number->data = holder->data;
  number->storage = holder->storage;
  number->byte_offset = holder->byte_offset;
  number->dtype = holder->dtype;
  number->argument = argument;
  number->parameter = parameter;
  number->as_float = as_float;
  const uint32_t id = id_of(holder->storage);
  use(step, id, false, step->op->schema.name.c_str(), Place::in(*number));
}

void GraphRecorder::bind_numbers(Step* step, std::span<const Parameter> parameters) {
  auto* args = const_cast<tn_value*>(step->call->args);
  const bool is_loop = step->call->n_args > 0 && args[0].kind == TN_KIND_LOOP;
  for (const Parameter& p : parameters) {
    if (!is_loop || p.op != step->op) continue;  // of a loop that was not launched
    auto* params = const_cast<tn_scalar*>(args[0].as.loop->params);
    bind(step, p.holder.get(), nullptr, params + p.index, p.as_float);
  }
  DynamicNumbers* const numbers = thread_state.numbers;
  if (is_loop || numbers == nullptr || numbers->op != step->op) return;
  for (size_t i = 0; i < step->call->n_args; ++i) {
    if (numbers->came_as_tensor(i))
      bind(step, numbers->given[i].as.tensor, args + i, nullptr, false);
  }
  numbers->used = true;
}

void GraphRecorder::launch(const Kernel& kernel, tn_kernel_fn fn, const Op* op,
                           const tn_call& call) {
  note([&] {
    const char* name = op->schema.name.c_str();
    if ((op->flags & TN_OP_DYNAMIC) != 0)
      return refuse(fmt::format("{}: the sizes of its results depend on values", name));
    Step step;
    step.kernel = &kernel;
    step.fn = fn;
    step.op = op;
    step.call = std::make_unique<RepeatedCall>();
    throw_if(step.call->make(call));
    if (call.random != nullptr) {
      step.random = next_random_++;
      graph_->n_random = std::max(graph_->n_random, next_random_);
    }
    // Let go of behind the lock: the last owner of a tensor tells the recorder of its storage.
    std::vector<Parameter> parameters;
    const std::scoped_lock lock(mutex);
    const auto is_written = [&](uint32_t id) {
      return std::ranges::find(step.written, id) != step.written.end();
    };
    const auto write_to = [&](const tn_tensor* t) {
      if (t == nullptr) return;
      const uint32_t id = id_of(t->storage);
      if (!is_written(id)) step.written.push_back(id);
    };
    for (uint32_t i = 0; i < call.n_outputs; ++i) write_to(call.outputs[i]);
    for (uint32_t i = 0; fn == kernel.def.launch && i < call.n_args; ++i) {
      if ((op->written >> i & 1) == 0) continue;
      for (const tn_tensor* t : tensors_of(call.args[i])) write_to(t);
    }
    for (const Place& place : places_of(*step.call)) {
      const uint32_t id = id_of(*place.storage);
      use(&step, id, is_written(id), name, place);
    }
    if (fn == kernel.def.launch) {
      parameters = std::exchange(parameters_, {});
      bind_numbers(&step, parameters);
    }
    graph_->steps.push_back(std::move(step));
  });
}

void GraphRecorder::copy(tn_storage* to, uint64_t to_offset, tn_storage* from, uint64_t from_offset,
                         uint64_t bytes) {
  note([&] {
    const std::scoped_lock lock(mutex);
    Step step;
    step.kind = Step::Kind::kCopy;
    step.to = id_of(to);
    step.from = id_of(from);
    step.to_offset = to_offset;
    step.from_offset = from_offset;
    step.bytes = bytes;
    step.written = {step.to};
    use(&step, step.from, false, "copy");
    use(&step, step.to, true, "copy");
    graph_->steps.push_back(std::move(step));
  });
}

void GraphRecorder::write(tn_storage* to, uint64_t offset, const void* memory, uint64_t bytes) {
  note([&] {
    const std::scoped_lock lock(mutex);
    Step step;
    step.kind = Step::Kind::kWrite;
    step.to = id_of(to);
    step.to_offset = offset;
    step.bytes = bytes;
    step.values.assign(static_cast<const char*>(memory), static_cast<const char*>(memory) + bytes);
    step.written = {step.to};
    use(&step, step.to, true, "write");
    graph_->steps.push_back(std::move(step));
  });
}

void GraphRecorder::see_gradient(Counted* leaf, const Tensor* grad, bool replaced) {
  note([&] {
    const auto index = static_cast<uint32_t>(graph_->leaves.size());
    if (!leaves_.emplace(leaf, index).second) return;  // the first look alone leans on what was
    LeafEffect& effect = graph_->leaves.emplace_back();
    effect.leaf = Ref<Leaf>::retaining(static_cast<Leaf*>(leaf));
    if (replaced) return;
    effect.needs = grad != nullptr ? LeafEffect::Needs::kSome : LeafEffect::Needs::kNone;
    if (grad == nullptr) return;
    if (is_rows(grad)) return refuse("a gradient that was there is row-sparse");
    const std::scoped_lock lock(mutex);
    if (ids_.count(grad->storage) != 0)
      return refuse("a gradient that was there shares memory with another tensor of the function");
    const auto id = static_cast<uint32_t>(graph_->storages.size());
    GraphStorage& s = graph_->storages.emplace_back();
    s.kind = Where::kGradient;
    s.device = grad->device;
    s.bytes = grad->storage->bytes;
    s.from = index;
    s.start = grad->byte_offset;
    s.memory = grad->storage->memory;
    s.storage = StorageRef::retaining(grad->storage);  // no other gets its address
    ids_.emplace(grad->storage, id);
    effect.before = std::make_unique<LeftTensor>(id, grad);
  });
}

void GraphRecorder::see_strided(const tn_storage* storage) {
  note([&] {
    const std::scoped_lock lock(mutex);
    const auto known = ids_.find(storage);
    if (known != ids_.end() && graph_->storages[known->second].kind == Where::kArgument)
      refuse("as_strided: counts from the beginning of the memory that an argument lies in");
  });
}

// Also where it changes nothing: a replay does not set it again, so it has to be as it is now. What the
// function made is its own, and what an argument shows is looked at elsewhere.
void GraphRecorder::see_requires_grad(const Tensor* tensor, bool on) {
  note([&] {
    {
      const std::scoped_lock lock(mutex);
      const auto known = ids_.find(tensor->storage);
      const bool is_own = known != ids_.end()
                              ? graph_->storages[known->second].kind != Where::kOutside
                              : tensor->storage->born_in >= number_;
      if (is_own) return;
      id_of(tensor->storage);
    }
    if (tensor->requires_grad() == on) return;
    ++flag_changes_;
    const auto is_of_tensor = [&](const Flag& f) { return f.tensor.get() == tensor; };
    auto flag = std::ranges::find_if(flags_, is_of_tensor);
    if (flag == flags_.end()) {
      flags_.push_back({TensorRef::retaining(const_cast<Tensor*>(tensor)), 0});
      flag = flags_.end() - 1;
    }
    flag->turned_on += on ? 1 : -1;
  });
}

void GraphRecorder::see_node(uint64_t sequence) {
  if (sequence < first_node_) refuse("backward: goes through calls from before the function");
}

// A function may go back to a state that it asked for, as a checkpointed call does: a replay's launches
// then take the numbers of those that were there. States count from where the function began, which is
// known by the states that it asks for, as long as no other thread takes numbers in between.
void GraphRecorder::see_random(uint64_t seed, uint64_t offset, bool is_set) noexcept {
  const auto next = static_cast<uint64_t>(next_random_);
  if (!is_set) {
    if (!random_.asked) random_ = {seed, offset - next, true, false};
    random_.mixed |= random_.seed != seed || random_.begin != offset - next;
    return;
  }
  const uint64_t wanted = offset - random_.begin;
  if (!random_.asked || random_.mixed || random_.seed != seed ||
      wanted > static_cast<uint64_t>(graph_->n_random))
    return note([&] { refuse(kRandomIsSet); });
  next_random_ = static_cast<int64_t>(wanted);
}

void GraphRecorder::see_object(Counted* object, const uint64_t* changes, const bool* training,
                               void (*refresh)(const Counted*)) {
  note([&] {
    const auto index = static_cast<uint32_t>(graph_->objects.size());
    if (!objects_.emplace(object, index).second) return;
    graph_->objects.push_back(
        {Ref<Counted>::retaining(object), changes, training, refresh, *changes, *training});
    graph_->refreshes_objects = graph_->refreshes_objects || refresh != nullptr;
  });
}

}  // namespace tenon
