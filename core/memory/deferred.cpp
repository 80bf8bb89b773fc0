// The queue of what waits for streams, polled wherever the device is at hand.
#include "memory/deferred.h"

#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "base/hot_thread_local.h"
#include "base/log.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

std::atomic<DeferredQueue*> g_queues[kMaxDeviceTypes][kMaxDevices];

// Actions may allocate and synchronize, and so come here again: they do not wait for themselves.
TN_HOT constinit thread_local int t_depth = 0;

bool has_passed(const std::vector<Event>& events) {
  for (const Event& event : events) {
    bool passed = false;
    log_failure(event.query(&passed));
    if (!passed) return false;
  }
  return true;
}

// What waiting says is of the work before the event: that has ended all the same.
bool wait_for(const std::vector<Event>& events) {
  for (const Event& event : events) {
    bool passed = false;
    log_failure(event.synchronize());
    log_failure(event.query(&passed));
    if (!passed) return false;
  }
  return true;
}

}  // namespace

void DeferredQueue::push_behind(std::span<Stream* const> streams, void (*action)(void*),
                                void* context) noexcept {
  try {
    if (note(streams, action, context)) return;
  } catch (const std::bad_alloc&) {
    for (Stream* stream : streams) {
      if (!log_failure(synchronize_stream(stream)) && !is_lost(stream->device)) return;
    }
  }
  action(context);
}

// False: there is nothing to wait for.
bool DeferredQueue::note(std::span<Stream* const> streams, void (*action)(void*), void* context) {
  Items item;
  std::vector<Event>& events = item.emplace_back(Item{{}, action, context}).events;
  events.reserve(streams.size());
  for (Stream* stream : streams) {
    Event event;
    if (!log_failure(event.record(stream)) && !log_failure(synchronize_stream(stream)) &&
        !is_lost(stream->device))
      return true;
    if (!event.is_empty()) events.push_back(std::move(event));
  }
  if (events.empty()) return false;
  const std::lock_guard lock(mutex_);
  items_.splice(items_.end(), item);
  n_waiting_.fetch_add(1, std::memory_order_release);
  return true;
}

void DeferredQueue::pass(bool (*is_over)(const std::vector<Event>&)) {
  ++t_depth;
  Items items = take_all(), waiting;
  while (!items.empty()) {
    const Item& item = items.front();
    if (is_over(item.events)) {
      item.action(item.context);
      items.pop_front();
      n_waiting_.fetch_sub(1, std::memory_order_release);
    } else {
      waiting.splice(waiting.end(), items, items.begin());
    }
  }
  put_back(&waiting);
  --t_depth;
}

void DeferredQueue::poll_waiting() { pass(has_passed); }

void DeferredQueue::drain() {
  // More than once, because another thread may hold items now and put them back. Lost ones stay.
  for (int i = 0; i < 4 && n_waiting_.load(std::memory_order_acquire) != 0; ++i) {
    pass(wait_for);
    while (t_depth == 0 && n_in_hand_.load(std::memory_order_acquire) != 0) {
      std::this_thread::yield();
    }
  }
}

DeferredQueue::Items DeferredQueue::take_all() {
  const std::lock_guard lock(mutex_);
  n_in_hand_.fetch_add(1, std::memory_order_relaxed);
  return std::exchange(items_, {});
}

void DeferredQueue::put_back(Items* items) {
  const std::lock_guard lock(mutex_);
  items_.splice(items_.begin(), *items);
  n_in_hand_.fetch_sub(1, std::memory_order_release);
}

DeferredQueue& deferred_queue(tn_device device) {
  std::atomic<DeferredQueue*>& place = g_queues[device.type][device.index];
  DeferredQueue* found = place.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<DeferredQueue>();
    if (place.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

}  // namespace tenon
