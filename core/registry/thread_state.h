// The one word that a call tests: the modes of this thread, and what they point to.
#pragma once

#include <cstdint>

#include "base/hot_thread_local.h"

namespace tenon {

enum Mode : uint32_t {
  kModeNoGrad = 1u << 0,
  kModeInference = 1u << 1,  // implies no grad
  kModeProfile = 1u << 2,
  kModeAutocast = 1u << 3,
  kModeCapture = 1u << 4,
  kModeExplain = 1u << 5,
  kModeAnomaly = 1u << 6,
  // The switches of the process, which a thread reads at its first launch.
  kModeTrace = 1u << 7,        // TENON_TRACE=launches
  kModeSync = 1u << 8,         // TENON_SYNC=1
  kModeUnsettled = 1u << 9,    // it did not read them yet
  kModeRecord = 1u << 10,      // thread_state.recording listens
  kModeSavedHooks = 1u << 11,  // what nodes save is packed (autograd/saved_hooks.h)
};
inline constexpr uint32_t kModesOfCalls =
    kModeProfile | kModeAutocast | kModeCapture | kModeExplain;
inline constexpr uint32_t kModesOfNodes = kModeAnomaly | kModeSavedHooks;
inline constexpr uint32_t kModesOfLaunches =
    kModeProfile | kModeCapture | kModeExplain | kModeTrace | kModeUnsettled | kModeRecord;

struct Op;              // registry/registry.h
struct Recorder;        // launch/explain.h
struct AutocastScope;   // amp/autocast.h
class Recording;        // registry/recording.h
struct DynamicNumbers;  // registry/recording.h

struct ThreadState {
  uint32_t modes;
  Recorder* recorder;
  AutocastScope* autocast;
  // the op that the user called, while its decomposition runs; null: none does
  const Op* decomposed;
  uint32_t decompositions_deep;  // how many of them run in each other
  Recording* recording;          // of tn::compile; NULL: none
  DynamicNumbers* numbers;       // of the call in which it runs; NULL: none came as tensors
};
TN_HOT extern constinit thread_local ThreadState thread_state;

void settle_modes();  // reads the switches

// Changes mode bits for a scope.
class ModeScope {
 public:
  ModeScope(uint32_t set, uint32_t clear) : before_(thread_state.modes) {
    thread_state.modes = (before_ & ~clear) | set;
  }
  ModeScope(const ModeScope&) = delete;
  ~ModeScope() { thread_state.modes = before_; }

 private:
  uint32_t before_;
};

}  // namespace tenon
