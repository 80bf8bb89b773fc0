// Work that waits until streams have passed: frees of memory that other streams still use, ends of
// blobs.
//
// Invariants
//  1. An action runs once, after all its events have passed, and outside of all locks of the core.
//  2. Where an event can neither be recorded nor waited for, the action never runs: what it would
//     free leaks, which is better than giving away memory in use. On a lost device (tensor/slots.h)
//     all work counts as done.
//  3. poll() never waits for a device. drain() waits for all that was deferred before it.
//  4. A free needs no memory: where there is none to note an action with, push_behind waits for the
//     streams instead. What was noted is moved from list to list.
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "tensor/stream.h"

namespace tenon {

class DeferredQueue {
 public:
  // Runs action(context) behind all work that is now on the streams; at once when there is none.
  void push_behind(std::span<Stream* const> streams, void (*action)(void*), void* context) noexcept;
  void poll() {
    if (n_waiting_.load(std::memory_order_acquire) != 0) [[unlikely]] {
      poll_waiting();
    }
  }
  void drain();

 private:
  struct Item {
    std::vector<Event> events;
    void (*action)(void*);
    void* context;
  };
  using Items = std::list<Item>;

  bool note(std::span<Stream* const> streams, void (*action)(void*), void* context);
  void poll_waiting();
  void pass(bool (*is_over)(const std::vector<Event>&));
  Items take_all();
  void put_back(Items* items);

  std::mutex mutex_;
  Items items_;  // needs the mutex
  std::atomic<size_t> n_waiting_{
      0};  // items that did not run yet, in the queue or in a thread's hands
  std::atomic<size_t> n_in_hand_{0};  // threads that look through items
};

// Of a plugin's device that exists; lives as long as the process.
DeferredQueue& deferred_queue(tn_device device);

}  // namespace tenon
