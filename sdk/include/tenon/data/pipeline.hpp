// Batches made ahead by workers, and given in order. Used by loader.hpp; knows no data.
//
// Invariants
//  1. Batches are started in order, each by whichever worker is free, and given in order.
//  2. At most `capacity` batches are started and not given yet: this bounds the memory.
//  3. A failure is thrown in the batch's place, or before that when the caller would have to wait:
//     who waits for a slow batch hears of the failed one behind it at once. The pass has ended then,
//     but workers may be within a sample until `cancel` or the destructor has returned.
//  4. Nothing of a pass runs when `cancel` has returned, and no thread when the destructor has.
//  5. A child of fork has none of the threads: it cannot go on with a pass of its parent's, and a pass of its
//     own begins with threads of its own.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/data/threads.hpp"
#include "tenon/work_scope.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data::detail {

// For one caller. Batches are what `maker->make(number, cancelled)` gives, called by several workers
// at a time, or by the caller where there are none. It looks at the flag now and then and throws,
// whatever it likes, where that is set.
template <typename Maker>
class Pipeline {
 public:
  using Batch = typename Maker::Batch;

  // maker: outlives this. persistent: the workers stay from one pass to the next.
  Pipeline(const Maker* maker, int64_t n_workers, int64_t capacity, bool persistent)
      : maker_(maker), n_workers_(n_workers), persistent_(persistent), slots_(size_t(capacity)) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { end_threads(); }

  // In a child of fork lets go of what was the parent's, also of the maker; before that is made ready.
  void look_for_fork() {
    if (is_forked()) forget_parent();
  }
  // Begins a pass over the batches first to end - 1. None is under way.
  void start(int64_t first, int64_t end) {
    if (n_workers_ == 0) {
      next_ = first;
      return;
    }
    look_for_fork();
    process_ = ::getpid();
    {
      Lock lock(mutex_);
      started_ = next_ = first;
      end_ = end;
      records_ = grad_enabled();
      stop_ = false;
      work_.notify_all();
    }
    try {
      // Once it runs, a worker has its place: one without it would be waited for and never told.
      workers_.reserve(size_t(n_workers_));
      while (int64_t(workers_.size()) < n_workers_) {
        workers_.push_back(std::make_unique<Thread>(run_worker, this));
      }
    } catch (...) {
      end_threads();
      throw;
    }
  }

  // The next batch of the pass, which has one.
  Batch next() {
    if (n_workers_ == 0) return maker_->make(next_++, cancelled_);
    if (is_forked()) {
      fail(
          "DataLoader: this process was forked within a pass, whose workers are its parent's: "
          "begin "
          "a pass of its own",
          TN_FAILED_PRECONDITION);
    }
    std::optional<Batch> batch;
    std::exception_ptr error;
    {
      Lock lock(mutex_);
      Slot& slot = slot_of(next_);
      ready_.wait(mutex_, [&] { return slot.ready || failed_; });
      if (slot.ready && slot.batch) {
        batch = std::exchange(slot.batch, std::nullopt);
        slot.ready = false;
        ++next_;
        work_.notify_all();
      } else {
        error = slot.ready ? std::exchange(slot.error, nullptr) : std::exchange(failed_, nullptr);
        end_pass();
      }
    }
    if (error) std::rethrow_exception(std::move(error));
    return *std::move(batch);
  }

  // Ends the pass, wherever it is.
  void cancel() {
    if (is_forked()) return forget_parent();
    if (!persistent_) return end_threads();
    Lock lock(mutex_);
    end_pass();
    ready_.wait(mutex_, [&] { return busy_ == 0; });
    clear();
  }

 private:
  struct Slot {
    std::optional<Batch> batch;
    std::exception_ptr error;
    bool ready = false;
  };
  struct Left {
    std::vector<Slot> slots;
    std::exception_ptr failed;
  };
  Slot& slot_of(int64_t batch) { return slots_[size_t(batch) % slots_.size()]; }

  static void run_worker(void* self) noexcept { static_cast<Pipeline*>(self)->run(); }
  void run() {
    Lock lock(mutex_);
    while (true) {
      work_.wait(mutex_, [&] {
        return stop_ || (started_ < end_ && started_ < next_ + int64_t(slots_.size()));
      });
      if (stop_) return;
      const int64_t number = started_++;
      const bool records = records_;
      ++busy_;
      std::optional<Batch> batch;
      std::exception_ptr error;
      lock.without([&] {
        try {
          const tenon::detail::WorkScope scope("DataLoader batch");
          const SetGradEnabled mode(records);
          batch.emplace(maker_->make(number, cancelled_));
        } catch (...) {
          error = std::current_exception();
        }
      });
      --busy_;
      Slot& slot = slot_of(number);
      if (error && !failed_) failed_ = error;
      slot.batch = std::move(batch);
      slot.error = std::move(error);
      slot.ready = true;
      ready_.notify_all();
    }
  }

  // Both need the mutex.
  void end_pass() {
    cancelled_.set(true);
    started_ = end_ = 0;
  }
  void clear() {
    for (Slot& slot : slots_) slot = Slot();
    failed_ = nullptr;
    cancelled_.set(false);
  }

  bool is_forked() const { return process_ != 0 && process_ != ::getpid(); }
  // A worker may have held the mutex, and have been about to put a batch into its slot: what it has begun
  // to write is left where it is.
  void forget_parent() {
    auto left = std::make_unique<Left>(Left{std::vector<Slot>(slots_.size()), nullptr});
    for (const auto& worker : workers_) worker->forget();
    workers_.clear();
    mutex_.begin_anew();
    work_.begin_anew();
    ready_.begin_anew();
    std::swap(left->slots, slots_);
    std::swap(left->failed, failed_);
    static_cast<void>(left.release());
    started_ = next_ = end_ = busy_ = 0;
    stop_ = false;
    cancelled_.set(false);
    process_ = 0;
    if constexpr (requires { maker_->forget_parent(); }) maker_->forget_parent();
  }

  void end_threads() {
    if (is_forked()) return forget_parent();
    {
      Lock lock(mutex_);
      end_pass();
      stop_ = true;
      work_.notify_all();
    }
    workers_.clear();
    Lock lock(mutex_);
    clear();
  }

  const Maker* const maker_;
  const int64_t n_workers_;
  const bool persistent_;
  Flag cancelled_;

  Mutex mutex_;
  Condition work_, ready_;
  // All of these need the mutex where there are workers.
  std::vector<Slot> slots_;
  std::exception_ptr failed_;  // of the batch that failed first
  int64_t started_ = 0, next_ = 0, end_ = 0, busy_ = 0;
  bool stop_ = false;
  pid_t process_ = 0;    // in which the workers are, 0: there were none yet
  bool records_ = true;  // gradients, as the thread did that began the pass

  std::vector<std::unique_ptr<Thread>> workers_;  // the last: they end before all else goes
};

}  // namespace data::detail
}  // namespace v0
}  // namespace tenon
