// Blocks of one size, kept per thread for reuse: tensors, storages and nodes come and go millions
// of times a second. A block may be freed on another thread than the one that took it. Under
// sanitizers the pool passes through to the allocator, so that nothing hides from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <pthread.h>

#include "base/hot_thread_local.h"

namespace tenon {

template <size_t kBytes, size_t kAlign = 16, size_t kKeep = 4096>
class Pool {
 public:
  static void* allocate() {
#ifndef TENON_SANITIZE
    List& list = list_;
    if (list.head != nullptr) [[likely]] {
      Free* block = list.head;
      list.head = block->next;
      --list.count;
      return block;
    }
#endif
    return ::operator new(kBytes, std::align_val_t(kAlign));
  }

  static void free(void* block) {
#ifndef TENON_SANITIZE
    List& list = list_;
    if (!list.closes) [[unlikely]]
      close_at_thread_exit();
    if (list.count < kKeep) [[likely]] {
      auto* head = static_cast<Free*>(block);
      head->next = list.head;
      list.head = head;
      ++list.count;
      return;
    }
#endif
    ::operator delete(block, std::align_val_t(kAlign));
  }

 private:
  struct Free {
    Free* next;
  };
  struct List {
    Free* head;
    uint32_t count;
    bool closes;  // empty() comes when the thread ends
  };
  static_assert(kBytes >= sizeof(Free));

#ifndef TENON_SANITIZE
  TN_HOT static constinit inline thread_local List list_{nullptr, 0, false};

  static void empty(void*) {
    while (list_.head != nullptr) {
      Free* next = list_.head->next;
      ::operator delete(list_.head, std::align_val_t(kAlign));
      list_.head = next;
    }
    list_.count = 0;
    list_.closes = false;  // what is freed still later makes it come again
  }

 public:
  // Makes the thread give back its list when it ends.
  static void close_at_thread_exit() {
    static const pthread_key_t key = [] {
      pthread_key_t made;
      return pthread_key_create(&made, empty) == 0 ? made : ~pthread_key_t{};
    }();
    pthread_setspecific(key, &list_);  // where it fails the list is lost with its thread
    list_.closes = true;
  }
#else
 public:
  static void close_at_thread_exit() {}
#endif
};

}  // namespace tenon
