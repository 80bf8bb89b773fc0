#include "block.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "shadow.h"

namespace fake {
namespace {

constexpr unsigned kWarp = 32;

Block* running = nullptr;  // for `body`

std::string text_of(Line line) { return std::string(line.file) + ":" + std::to_string(line.line); }

}  // namespace

void Block::run(const Entry& entry, const void* parameters, const std::vector<unsigned>& order) {
  n_ = static_cast<unsigned>(order.size());
  while (threads_.size() < n_) threads_.push_back(std::make_unique<Thread>());
  entry_ = &entry;
  parameters_ = parameters;
  running = this;
  runs_fibers_ = true;
  for (unsigned t = 0; t < n_; ++t) {
    threads_[t]->state = kReady;
    threads_[t]->fiber.start(body);
  }
  do {
    for (const unsigned t : order) {
      if (threads_[t]->state != kReady) continue;
      machine_.thread_index = {t, 0, 0};
      threads_[t]->fiber.resume();
    }
  } while (release_lanes() || release_all());
  runs_fibers_ = false;
}

void Block::body() {
  running->entry_->run(running->parameters_);
  running->wait(kDone);
}

void Block::wait(State state) {
  Thread& thread = *threads_[machine_.thread_index.x];
  thread.state = state;
  thread.fiber.leave();
}

void Block::fail(unsigned thread, const char* what) {
  machine_.thread_index = {thread, 0, 0};
  machine_.fail(what, nullptr);
  std::abort();
}

void Block::meet(Line line) {
  const unsigned thread = machine_.thread_index.x;
  if (!runs_fibers_) fail(thread, "a barrier, and is no BLOCK_KERNEL");
  threads_[thread]->line = line;
  wait(kAtBarrier);
}

bool Block::release_all() {
  unsigned n_done = 0, last = 0;
  for (unsigned t = 0; t < n_; ++t) n_done += threads_[t]->state == kDone;
  if (n_done == n_) return false;
  for (unsigned t = 0; t < n_; ++t) {
    const Thread& thread = *threads_[t];
    if (thread.state == kAmongLanes)
      fail(t, ("an exchange of lanes that its mask names, and of which some do not come, at " +
               text_of(thread.call->line))
                  .c_str());
    if (thread.state == kDone) continue;
    if (n_done > 0)
      fail(t, ("a barrier that not all threads reach, at " + text_of(thread.line)).c_str());
    if (t > 0 && thread.line != threads_[last]->line)
      fail(t, ("a barrier that others pass elsewhere: they are at " +
               text_of(threads_[last]->line) + ", it is at " + text_of(thread.line))
                  .c_str());
    last = t;
  }
  for (unsigned t = 0; t < n_; ++t) threads_[t]->state = kReady;
  begin_interval();
  return true;
}

// ---- Lanes

void Block::meet_lanes(const WarpCall& call) {
  const unsigned thread = machine_.thread_index.x, lane = thread % kWarp;
  if (!runs_fibers_) fail(thread, "an exchange of lanes, and is no BLOCK_KERNEL");
  if ((call.mask >> lane & 1) == 0)
    fail(thread, ("an exchange of lanes whose mask does not name its own, at " + text_of(call.line))
                     .c_str());
  threads_[thread]->call = &call;
  wait(kAmongLanes);
}

bool Block::release_lanes() {
  bool released = false;
  for (unsigned t = 0; t < n_; ++t) {
    if (threads_[t]->state == kAmongLanes) released |= release_lanes(t / kWarp * kWarp, t);
  }
  return released;
}

// Those whom the mask of one lane names, if all wait with the same one.
bool Block::release_lanes(unsigned first, unsigned thread) {
  const WarpCall& call = *threads_[thread]->call;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((call.mask >> lane & 1) == 0) continue;
    const unsigned other = first + lane;
    if (other >= n_ || threads_[other]->state != kAmongLanes) return false;
    const WarpCall& theirs = *threads_[other]->call;
    if (theirs.mask != call.mask || theirs.line != call.line || theirs.kind != call.kind)
      return false;
  }
  exchange(first, call);
  return true;
}

void Block::exchange(unsigned first, const WarpCall& call) {
  uint64_t brought[kWarp] = {};
  unsigned bits = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((call.mask >> lane & 1) == 0) continue;
    std::memcpy(&brought[lane], threads_[first + lane]->call->value, call.bytes);
    bits |= static_cast<unsigned>(brought[lane] & 1) << lane;
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((call.mask >> lane & 1) == 0) continue;
    Thread& thread = *threads_[first + lane];
    const int source = thread.call->source;
    if (call.kind == WarpCall::kBallot) {
      std::memcpy(thread.call->value, &bits, sizeof bits);
    } else if (source < 0 || (call.mask >> source & 1) == 0) {
      fail(first + lane, ("a value of lane " + std::to_string(source) +
                          ", which the mask does not name, at " + text_of(call.line))
                             .c_str());
    } else {
      std::memcpy(thread.call->value, &brought[source], call.bytes);
    }
    thread.state = kReady;
  }
}

}  // namespace fake
