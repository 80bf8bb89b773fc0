#include "fiber.h"

#if defined(__x86_64__)
asm(R"(
.text
.globl tenon_fake_switch
.hidden tenon_fake_switch
.type tenon_fake_switch, @function
tenon_fake_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tenon_fake_switch, . - tenon_fake_switch
)");
#endif

namespace fake {

#if defined(__x86_64__)

// As if `body` had been called from nowhere: its address is where the first switch returns to, below
// the place of a return address of its own.
void Fiber::start(void (*body)()) {
  auto* top =
      reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(stack_.get() + kStack) / 16 * 16);
  *--top = 0;
  *--top = reinterpret_cast<uintptr_t>(body);
  for (int k = 0; k < 6; ++k) *--top = 0;
  mine_ = top;
}
void Fiber::resume() { tenon_fake_switch(&caller_, mine_); }
void Fiber::leave() { tenon_fake_switch(&mine_, caller_); }

#else

void Fiber::start(void (*body)()) {
  getcontext(&mine_);
  mine_.uc_stack.ss_sp = stack_.get();
  mine_.uc_stack.ss_size = kStack;
  mine_.uc_link = nullptr;
  makecontext(&mine_, body, 0);
}
void Fiber::resume() { swapcontext(&caller_, &mine_); }
void Fiber::leave() { swapcontext(&mine_, &caller_); }

#endif

}  // namespace fake
