// State of a thread that ends with it or that is rarely touched: made on the heap, and found by a
// call. What each call touches is in base/hot_thread_local.h.
#pragma once

#include <new>

#include <pthread.h>

namespace tenon {

// A T for each thread that asks. Lives as long as the process: give it static storage and never
// destroy it.
template <typename T>
class ThreadLocal {
 public:
  ThreadLocal() {
    if (pthread_key_create(&key_, [](void* t) { delete static_cast<T*>(t); }) != 0)
      throw std::bad_alloc();
  }
  ThreadLocal(const ThreadLocal&) = delete;

  // This thread's; NULL: it has none yet.
  T* find() const { return static_cast<T*>(pthread_getspecific(key_)); }

  // This thread's, made at the first call. It is deleted when the thread ends, behind the
  // destructors of `thread_local` variables; a call that comes still later makes another. Throws
  // std::bad_alloc.
  T& get() {
    if (T* there = find()) return *there;
    auto* made = new T();
    if (pthread_setspecific(key_, made) != 0) {
      delete made;
      throw std::bad_alloc();
    }
    return *made;
  }

 private:
  pthread_key_t key_;
};

}  // namespace tenon
