#include "autograd/nesting.h"

#include <pthread.h>

#include "base/hot_thread_local.h"

namespace tenon {
namespace {

TN_HOT constinit thread_local uint32_t depth = 0;

// Few programs nest deeper, and these levels fit on any stack: nobody looks for its end.
constexpr uint32_t kUnasked = 16;
// What a level is given: the frames of the engine, of the program's functions and of kernels below.
constexpr uintptr_t kRoom = 256 * 1024;

// Where this thread's stack ends, toward which it grows, and begins; 0 and 0: not known.
struct Stack {
  uintptr_t end = 0, begin = 0;
};
Stack stack_of_thread() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* lowest = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    stack.end = reinterpret_cast<uintptr_t>(lowest);
    stack.begin = stack.end + size;
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

}  // namespace

NestedBackward::NestedBackward() { ++depth; }
NestedBackward::~NestedBackward() { --depth; }

bool NestedBackward::is_deep() { return depth > kUnasked; }

Status NestedBackward::enter() const {
  if (!is_deep()) [[likely]]
    return nullptr;
  static thread_local const Stack stack = stack_of_thread();  // the question reads a file
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  // A program may have put this call on a stack of its own, whose end nobody knows.
  if (here < stack.end || here >= stack.begin || here - stack.end > kRoom) return nullptr;
  return error(TN_FAILED_PRECONDITION,
               "backward: {} backwards run inside each other, and this thread's stack has room for "
               "no more; let fewer run inside each other, or run this in a thread with a larger "
               "stack",
               depth - 1);
}

}  // namespace tenon
