#include "stream.h"

#include <chrono>
#include <cstdlib>

#include "state.h"

namespace fake {

Stream::Stream(int device) : device_(device) {
  if (const char* us = std::getenv("TENON_FAKE_CUDA_SLOW_US")) slow_us_ = std::atoi(us);
  thread_ = std::thread([this] { run(); });
}

Stream::~Stream() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  lock.unlock();
  thread_.join();
}

void Stream::enqueue(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  ++submitted_;
  changed_.notify_all();
}

uint64_t Stream::submitted() {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

bool Stream::reached(uint64_t position, bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [&] { return done_ >= position; });
  return done_ >= position;
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    if (slow_us_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(slow_us_));
    if (fault_of(device_) == CUDA_SUCCESS) task();
    task = nullptr;  // what it kept goes before it counts as done
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace fake
