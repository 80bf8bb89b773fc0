// Intrusive reference counts. A Counted starts with one reference; the last release destroys it.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tenon {

class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    // A count of one is ours alone: no other thread can raise it, so the atomic decrement is saved.
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }
  bool retained_once() const { return refs_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~Counted() = default;
  virtual void destroy() { delete this; }

 private:
  std::atomic<uint32_t> refs_{1};
};

// Owns one reference of a T with retain() and release().
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* owned) : p_(owned) {}
  static Ref retaining(T* p) {
    if (p != nullptr) p->retain();
    return Ref(p);
  }
  Ref(const Ref& other) : p_(other.p_) {
    if (p_ != nullptr) p_->retain();
  }
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Ref() {
    if (p_ != nullptr) p_->release();
  }
  T* get() const { return p_; }
  T* take() { return std::exchange(p_, nullptr); }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

}  // namespace tenon
