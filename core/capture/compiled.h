// Functions of tensors that are recorded at one call and replayed at the next (tn::compile).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "capture/graph.h"

namespace tenon {

// Thread-safe: one call at a time records or replays; eager ones run beside each other.
class Compiled final : public Counted {
 public:
  Compiled(tn_function_fn fn, void* self, void (*destroy)(void*), bool is_exact)
      : fn_(fn), self_(self), destroy_(destroy), is_exact_(is_exact) {}
  ~Compiled() override {
    if (destroy_ != nullptr) destroy_(self_);
  }

  // Results are the caller's.
  [[nodiscard]] Status call(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> results);
  // For readers: of each signature what was recorded, or why it runs eagerly.
  std::string describe();

 private:
  using Key = std::vector<int64_t>;
  struct Signature {
    Key key;
    std::unique_ptr<LaunchGraph> graph;  // NULL: not recorded (yet)
    std::string reason;                  // why not
    bool is_final = false;               // it will not be tried again
    int tries = 0;
  };

  Status run(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> results) const;
  Status record(Signature* signature, std::span<tn_tensor* const> arguments,
                std::span<tn_tensor*> results);
  // The one to replay; or to record, without a graph; NULL: the call runs eagerly.
  Signature* find(const Key& key, std::span<tn_tensor* const> arguments);

  const tn_function_fn fn_;
  void* const self_;
  void (*const destroy_)(void*);
  const bool is_exact_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Signature>> signatures_;
  int n_stale_ = 0;          // graphs that were thrown away
  std::string stays_eager_;  // why no call is recorded any more
  std::string last_unfit_;   // why a call with such arguments never is
  std::atomic<bool> is_recording_{false};
  uint64_t n_replays_ = 0, n_recordings_ = 0;
};

}  // namespace tenon
