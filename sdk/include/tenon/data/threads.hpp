// A thread, a mutex, a condition and a flag, over POSIX threads: data.hpp is part of tenon.hpp, and
// <thread> with <condition_variable> would make each program that includes it compile a tenth
// longer. Used by pipeline.hpp alone.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <string>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data::detail {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() { ::pthread_mutex_destroy(&mutex_); }

  // In a child of fork, where who held it is not there.
  void begin_anew() { mutex_ = PTHREAD_MUTEX_INITIALIZER; }

 private:
  friend class Lock;
  friend class Condition;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// Holds the mutex while it lives, but for `without`.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { ::pthread_mutex_lock(&mutex_.mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { ::pthread_mutex_unlock(&mutex_.mutex_); }

  // Runs f, which must not throw, while the mutex is free.
  template <typename F>
  void without(F f) noexcept {
    ::pthread_mutex_unlock(&mutex_.mutex_);
    f();
    ::pthread_mutex_lock(&mutex_.mutex_);
  }

 private:
  Mutex& mutex_;
};

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition() { ::pthread_cond_destroy(&condition_); }

  // Until `holds()`; `mutex` is locked, and is free while this waits.
  template <typename Holds>
  void wait(Mutex& mutex, Holds holds) {
    while (!holds()) ::pthread_cond_wait(&condition_, &mutex.mutex_);
  }
  void notify_all() { ::pthread_cond_broadcast(&condition_); }
  // As the mutex's.
  void begin_anew() { condition_ = PTHREAD_COND_INITIALIZER; }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

// Runs body(context), which must not throw; waits for its end when it goes. It takes no signals:
// these are for the program's own threads.
class Thread {
 public:
  using Body = void (*)(void* context) noexcept;

  Thread(Body body, void* context) : body_(body), context_(context) {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = ::pthread_create(&thread_, nullptr, run, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0) {
      fail(
          tenon::detail::joined({"DataLoader: a worker cannot be started: ", std::strerror(error)}),
          TN_OUT_OF_MEMORY);
    }
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() {
    if (!is_elsewhere_) ::pthread_join(thread_, nullptr);
  }
  // In a child of fork, which has no such thread.
  void forget() { is_elsewhere_ = true; }

 private:
  static void* run(void* self) noexcept {
    auto* thread = static_cast<Thread*>(self);
    thread->body_(thread->context_);
    return nullptr;
  }

  const Body body_;
  void* const context_;
  pthread_t thread_{};
  bool is_elsewhere_ = false;
};

// Set by one thread and read by others, without order.
class Flag {
 public:
  void set(bool on) { __atomic_store_n(&on_, on, __ATOMIC_RELAXED); }
  bool is_set() const { return __atomic_load_n(&on_, __ATOMIC_RELAXED); }

 private:
  bool on_ = false;
};

}  // namespace data::detail
}  // namespace v0
}  // namespace tenon
