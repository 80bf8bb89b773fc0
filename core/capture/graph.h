// What a recording leaves: the launches of one call of a function, in order, and what they work on.
// Replayed with other values in the same places. docs/architecture.md, "A compiled function".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/node.h"
#include "capture/extent.h"
#include "launch/launch.h"
#include "memory/memory.h"
#include "random/philox.h"

namespace tenon {

using StorageRef = Ref<tn_storage>;

// Where a storage stands in the calls of a graph.
struct Place {
  void** data;  // an address; NULL where the memory has none, or the tensor is empty
  tn_storage** storage;
  uint64_t* byte_offset;
  uint64_t offset;  // in bytes, as recorded

  template <typename Holder>  // tn_tensor, tn_operand
  static Place in(Holder& h) {
    return {h.data != nullptr ? &h.data : nullptr, &h.storage, &h.byte_offset, h.byte_offset};
  }
  // Shows this storage, in which what was recorded begins `shift` further behind.
  void show(tn_storage* s, uint64_t shift) const {
    *storage = s;
    *byte_offset = offset + shift;
    if (data != nullptr) *data = static_cast<char*>(s->memory) + *byte_offset;
  }
};

// Everything of a call that shows a storage: its tensors, and the operands of loops and reductions.
// The operands of a loop come first, in their order.
std::vector<Place> places_of(const tn_call& call);

// A storage that the calls of a graph work on.
struct GraphStorage {
  enum class Kind {
    kInside,    // memory of the graph, between two of its steps
    kLeft,      // as inside, and left behind: of a result or of a gradient. New at each replay
    kOutside,   // there before and afterwards: of a parameter, of an optimizer's state
    kArgument,  // of the arguments of the call
    kGradient,  // of the gradient that a leaf had before
  };
  Kind kind = Kind::kInside;
  tn_device device{};
  uint64_t bytes = 0;
  const void* memory = nullptr;   // of those that were there before, when it was recorded
  int64_t first = -1, last = -1;  // steps that use it, when the memory is planned
  uint32_t from = 0;              // kArgument: of which; kGradient: of which leaf
  uint64_t start = 0;             // kArgument, kGradient: where that began in it, in bytes
  uint64_t shift = 0;             // how much further behind it begins in `storage`
  std::vector<Place> places;
  uint64_t watched_then = 0;  // kOutside: its counter of changes, when it was recorded
  bool is_written = false;    // by a step
  bool is_gradient =
      false;           // kLeft: of a gradient that stays where it is while its leaf alone holds it
  StorageRef storage;  // what stands in the places now
  StorageRef given;    // a copy that is the caller's

  void put(tn_storage* in_places, uint64_t shift_there);
};

// A number of a launch that is read from memory of the host before each replay.
struct ReadNumber {
  void* data = nullptr;  // of its tensor: one element
  tn_storage* storage = nullptr;
  uint64_t byte_offset = 0;
  tn_dtype dtype = TN_DTYPE_NONE;
  tn_value* argument = nullptr;     // where it goes: an argument, of the kind that stands there,
  tn_scalar* parameter = nullptr;   // or a parameter of a loop
  bool as_float = false;            // of a parameter
  const tn_tensor* live = nullptr;  // of an argument: where it lies on the device, in its graph

  void read() const;
};

// That a step works on a storage. The place has no address where the step asks for the storage
// itself.
struct Use {
  uint32_t storage;
  Place place{};
};

// The kernel of a call that a compiler put in the place of others.
struct OwnKernel : Kernel {
  OwnKernel() { def = {}; }
  OwnKernel(const OwnKernel&) = delete;
  ~OwnKernel() {
    if (destroy != nullptr) destroy(def.self);
  }
  void (*destroy)(void*) = nullptr;
};

// Gives what a kernel prepared back to it.
struct Unprepare {
  const Kernel* kernel = nullptr;
  void operator()(void* prepared) const {
    if (kernel->def.destroy_prepared != nullptr)
      kernel->def.destroy_prepared(kernel->def.self, prepared);
  }
};

struct Step {
  enum class Kind { kLaunch, kCopy, kWrite };
  Kind kind = Kind::kLaunch;
  const Kernel* kernel = nullptr;
  tn_kernel_fn fn = nullptr;
  const Op* op = nullptr;
  std::unique_ptr<RepeatedCall> call;
  std::unique_ptr<OwnKernel> own_kernel;  // NULL: a plugin's
  int64_t random = -1;                    // which random launch of the graph it is; -1: none
  std::unique_ptr<void, Unprepare> prepared;
  std::vector<Use> uses;          // of a loop its operands first, in their order
  std::vector<uint32_t> written;  // storages whose values it changes
  std::vector<std::unique_ptr<ReadNumber>> numbers;
  // kCopy and kWrite
  uint32_t to = 0, from = 0;
  uint64_t to_offset = 0, from_offset = 0, bytes = 0;
  std::vector<char> values;
};

// Kernels look at how addresses are aligned, up to the width of a cache line.
inline uint64_t alignment_of(const tn_tensor* t) {
  return reinterpret_cast<uintptr_t>(t->data) % 64;
}

// A tensor that the graph makes anew at each replay.
struct LeftTensor {
  uint32_t storage = 0;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;  // in elements
  tn_dtype dtype = TN_DTYPE_NONE;
  tn_device device{};
  uint64_t alignment = 0;
  bool is_inference = false;

  explicit LeftTensor(uint32_t at, const Tensor* t)
      : storage(at),
        sizes(t->sizes, t->sizes + t->ndim),
        strides(t->strides, t->strides + t->ndim),
        offset(static_cast<int64_t>(t->byte_offset / kItemSize[t->dtype])),
        dtype(t->dtype),
        device(t->device),
        alignment(alignment_of(t)),
        is_inference((t->flags & TN_TENSOR_INFERENCE) != 0) {}
  bool is_like(const Tensor* t) const;
  Tensor* make(tn_storage* of) const;
};

// What the function does to the gradient of a leaf.
struct LeafEffect {
  Ref<Leaf> leaf;
  // What the recording leant on: nothing, that there is no gradient, or one of this geometry.
  enum class Needs { kNothing, kNone, kSome };
  Needs needs = Needs::kNothing;
  std::unique_ptr<LeftTensor> before;
  enum class Then { kStays, kCleared, kLeft };
  Then then = Then::kStays;
  std::unique_ptr<LeftTensor> after;
};

struct WatchedObject {
  Ref<Counted> object;
  const uint64_t* changes;
  const bool* training;
  void (*refresh)(const Counted*);  // to call before `changes` is read; may be NULL
  uint64_t changes_then;
  bool training_then;
};

class DeviceReplay;

class LaunchGraph {
 public:
  LaunchGraph();
  [[gnu::cold]] ~LaunchGraph();
  // Does a call with these arguments find what the recording found? `stale`: none will again.
  bool fits(std::span<tn_tensor* const> arguments, bool* stale) const;
  // `arguments` as in the recording, with other values; results are the caller's.
  [[nodiscard]] Status replay(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> results);
  // When all is planned: what a call looks at, and whether it is launched as one graph of a device.
  [[gnu::cold]] void settle();
  // For readers: "ref:0", or nothing.
  std::string device_text() const;

  // The parts of a replay.
  Status run(Step& step, const RandomState& random);
  // What runs now, for errors; the end: all ran, or run as a graph of the device.
  void come_to(const Step* step) { running_ = step; }
  void count_writes(const Step& step);
  // Gradients that were there, into their places. Before the next: what stands there is held, so that
  // the gradient that is left does not lie over the one that is read.
  void place_gradients();
  // Of those that somebody else holds, or that are no longer its leaf's.
  void let_go_of_gradients();
  void leave_gradients();

  std::vector<GraphStorage> storages;
  std::vector<Step> steps;
  std::vector<std::unique_ptr<LeftTensor>> results;  // NULL: the function gives None
  std::vector<LeafEffect> leaves;
  std::vector<WatchedObject> objects;
  bool refreshes_objects = false;  // any of them
  uint64_t watched_changes_then = 0, object_changes_then = 0;
  std::vector<Extent> outside_memory;  // of all that is kOutside, sorted; none meet
  int64_t n_random = 0;
  size_t n_recomputed = 0;                   // steps that are there twice
  size_t n_dropped = 0;                      // steps whose results nobody reads
  uint64_t inside_bytes = 0, own_bytes = 0;  // asked for, and taken
  uint64_t eager_bytes = 0;                  // the most that lived at once while it was recorded

 private:
  bool shares_memory(std::span<tn_tensor* const> arguments) const;
  bool tensors_fit() const;
  bool objects_fit(bool* stale) const;
  void place(std::span<tn_tensor* const> arguments);
  Status take_left_storages();
  Status replay_list(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> given);
  void leave_results(std::span<tn_tensor*> given);
  [[gnu::cold]] std::string failure_text() const;

  // Of the many, those that a call looks at: storages of arguments, of gradients that were there, and
  // that are left; leaves whose gradient counts.
  std::vector<uint32_t> arguments_, gradients_, left_, checked_leaves_;
  mutable uint64_t watched_changes_seen_ = 0, object_changes_seen_ = 0;
  const Step* running_ = nullptr;  // of a replay: how far it came; NULL: nothing was written
  std::unique_ptr<DeviceReplay> device_;
};

}  // namespace tenon
