// A function on a stack of its own, which gives up the processor where it likes and goes on there
// when it is resumed. swapcontext asks the kernel twice for each of that, which took most of the time
// of a reduction; so x86-64 has a switch of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#if defined(__x86_64__)
// Keeps the registers that a call must keep on this stack, whose end goes to *from, and goes on where
// the stack `to` was left.
extern "C" void tenon_fake_switch(void** from, void* to);
#else
#include <ucontext.h>
#endif

namespace fake {

class Fiber {
 public:
  // From the beginning. `body` must not return before `leave` was called for good.
  void start(void (*body)());
  void resume();  // until it leaves
  void leave();   // from within

 private:
  static constexpr size_t kStack = 64 << 10;
  std::unique_ptr<char[]> stack_ = std::make_unique<char[]>(kStack);
#if defined(__x86_64__)
  void *mine_ = nullptr, *caller_ = nullptr;
#else
  ucontext_t mine_, caller_;
#endif
};

}  // namespace fake
