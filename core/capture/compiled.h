// Functions of tensors that are recorded at one call and replayed at the next (tn::compile).
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "capture/graph.h"

namespace tenon {

// Thread-safe: one call at a time records or replays; eager ones run beside each other. A call that
// finds another thread replaying waits for it; one that finds a recording runs eagerly at once, for
// the function that is recorded may itself wait for the thread of that call.
class Compiled final : public Counted {
 public:
  Compiled(tn_function_fn fn, void* self, void (*destroy)(void*), bool is_exact);
  ~Compiled() override;

  // Results are the caller's.
  [[nodiscard]] Status call(std::span<tn_tensor* const> arguments, std::span<tn_tensor*> results);
  // For readers: of each signature what was recorded, or why it runs eagerly.
  std::string describe();

 private:
  // What the thread in `by_` does. Until all is idle again the signatures are its alone. kReplaying
  // is also that it looks for a signature.
  enum class State { kIdle, kRecording, kReplaying };
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
  Status replay(Signature* signature, std::span<tn_tensor* const> arguments,
                std::span<tn_tensor*> results);
  // The one to replay; or to record, without a graph; NULL: the call runs eagerly.
  Signature* find(std::span<tn_tensor* const> arguments);
  Signature* find(const Key& key, std::span<tn_tensor* const> arguments);
  // Until no other thread replays. Not for this thread itself: what a replay or a recording lets go
  // of may belong to somebody who calls the function.
  std::unique_lock<std::mutex> wait_for_replays();
  // False: the function is not idle, and the call runs eagerly.
  bool begin_turn();
  void set_state(State state);

  // The child of a fork has the thread that forked alone. What others replay or record at that moment is
  // not ended there: their functions are recorded anew.
  static void before_fork();
  static void behind_fork();
  static void in_child_of_fork();

  const tn_function_fn fn_;
  void* const self_;
  void (*const destroy_)(void*);
  const bool is_exact_;
  // Of all below. Nothing of others runs while it is held: whoever is not idle goes without it.
  std::mutex mutex_;
  std::condition_variable idle_;
  State state_ = State::kIdle;
  const void* by_ = nullptr;  // the thread: where its state lies
  std::vector<std::unique_ptr<Signature>> signatures_;
  int n_stale_ = 0;          // graphs that were thrown away
  std::string stays_eager_;  // why no call is recorded any more
  std::string last_unfit_;   // why a call with such arguments never is
  uint64_t n_replays_ = 0, n_recordings_ = 0;
};

}  // namespace tenon
