// The one word that a call tests: the modes of this thread, and what they point to.
#pragma once

#include <cstdint>

namespace tenon {

enum Mode : uint32_t {
  kModeNoGrad = 1u << 0,
  kModeInference = 1u << 1,  // implies no grad
  kModeProfile = 1u << 2,
  kModeAutocast = 1u << 3,
  kModeCapture = 1u << 4,
  kModeExplain = 1u << 5,
  kModeAnomaly = 1u << 6,
};
inline constexpr uint32_t kModesWithHandlers =
    kModeProfile | kModeAutocast | kModeCapture | kModeExplain;

struct Recorder;       // dispatch/explain.h
struct AutocastScope;  // amp/autocast.h

struct ThreadState {
  uint32_t modes;
  Recorder* recorder;
  AutocastScope* autocast;
};
extern constinit thread_local ThreadState thread_state;

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
