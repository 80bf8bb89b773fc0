// Listens while a function runs, and makes a graph of what it heard.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/graph.h"
#include "registry/recording.h"

namespace tenon {

// What recorders of all threads share, held over a fork; its child has those of other threads no more.
void hold_recorders();
void let_recorders_go();
void forget_other_recorders();

class GraphRecorder final : public Recording {
 public:
  GraphRecorder();
  GraphRecorder(const GraphRecorder&) = delete;
  ~GraphRecorder();

  // Before listening: this storage is that of argument i, which begins at this byte of it.
  void expect_argument(const tn_storage* storage, uint32_t argument, uint64_t start);

  // Listens on this thread while it lives.
  class Listening {
   public:
    explicit Listening(GraphRecorder* recorder);
    Listening(const Listening&) = delete;
    ~Listening();

   private:
    ModeScope mode_{kModeRecord, 0};
  };

  // After listening. Takes no results, looks at them. NULL graph: `reason` says why there is none,
  // and `again` whether a later call may have one.
  [[nodiscard]] Status finish(std::span<tn_tensor* const> results, bool holds_argument,
                              bool is_exact, std::unique_ptr<LaunchGraph>* graph,
                              std::string* reason, bool* again);

  void launch(const Kernel& kernel, tn_kernel_fn fn, const Op* op, const tn_call& call) override;
  void number(const Op* op, uint32_t parameter, const tn_tensor* holder, bool as_float) override;
  void copy(tn_storage* to, uint64_t to_offset, tn_storage* from, uint64_t from_offset,
            uint64_t bytes) override;
  void write(tn_storage* to, uint64_t offset, const void* memory, uint64_t bytes) override;
  void see_gradient(Counted* leaf, const Tensor* grad, bool replaced) override;
  void see_object(Counted* object, const uint64_t* changes, const bool* training,
                  void (*refresh)(const Counted*)) override;
  void see_strided(const tn_storage* storage) override;
  void see_requires_grad(const Tensor* tensor, bool on) override;
  void see_node(uint64_t sequence) override;
  void see_random(uint64_t seed, uint64_t offset, bool is_set) noexcept override;
  void refuse(std::string reason) override;

  // Of the storages that all recorders follow, and of what each knows of storages.
  static std::mutex mutex;

 private:
  static constexpr const char* kNoMemory = "no memory";  // short enough to need none
  static constexpr const char* kRandomIsSet = "seed: the state of the random numbers is set";

  // Nothing that is heard fails the call that is heard.
  template <typename Body>
  void note(Body&& body) {
    if (!reason_.empty()) return;
    const StatusHolder failed(guarded([&]() -> Status {
      body();
      return nullptr;
    }));
    if (failed) reason_ = kNoMemory;
  }
  void allocated(tn_storage* storage);
  void freed(const tn_storage* storage);
  uint32_t id_of(tn_storage* storage);
  void use(Step* step, uint32_t id, bool written, const char* what, Place place = {});
  // Numbers of the launch that is noted, which came as tensors.
  struct Parameter;
  void bind_numbers(Step* step, std::span<const Parameter> parameters);
  void bind(Step* step, const tn_tensor* holder, tn_value* argument, tn_scalar* parameter,
            bool as_float);
  void refuse_shared_memory(bool* again);
  void settle_flags();
  bool are_tensors_as_before();
  Status plan(bool is_exact);
  void finish_leaves();
  void finish_results(std::span<tn_tensor* const> results);
  // The number of the storage, left behind from now on; -1: it is none of the function's own.
  int64_t leave(const Tensor* t);

  static void listen(tn_storage* storage);
  static void destroy_followed(tn_storage* storage);

  std::unique_ptr<LaunchGraph> graph_;
  std::unordered_map<const tn_storage*, uint32_t> ids_;
  std::unordered_map<const tn_storage*, uint32_t> alive_;  // made inside
  std::unordered_map<const Counted*, uint32_t> leaves_;
  std::unordered_map<const Counted*, uint32_t> objects_;
  struct Parameter {
    const Op* op;
    uint32_t index;
    TensorRef holder;
    bool as_float;
  };
  std::vector<Parameter> parameters_;  // of the next launch
  struct {
    uint64_t seed, begin;  // the state in which the function began, once it asked for one
    bool asked, mixed;     // mixed: another thread takes numbers, too
  } random_{};
  // Tensors whose requires_grad the function changed, how often it turned it on less how often off, and
  // the number of all changes. They live until the flags are settled.
  struct Flag {
    TensorRef tensor;
    int64_t turned_on;
  };
  std::vector<Flag> flags_;
  bool flags_differ_ = false;  // one that outlives the call ends with another requires_grad
  uint64_t flag_changes_ = 0;
  int64_t next_random_ = 0;    // the number of the next random launch
  std::vector<bool> is_used_;  // storages, by a step
  std::string reason_;
  uint64_t live_bytes_ = 0;  // of what was made inside
  uint32_t number_ = 0;      // of this recording in the process
  uint64_t first_node_ = 0;  // that is made while it listens
};

}  // namespace tenon
