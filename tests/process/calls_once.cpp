// A library as others bring them: it calls std::call_once, whose thread-local variables are
// libstdc++'s. In a process that does not link libstdc++ they then lie where thread-local variables
// of late libraries lie, and no library that comes still later can have them moved.
#include <mutex>

extern "C" __attribute__((visibility("default"))) int calls_once() {
  static std::once_flag flag;
  int n = 0;
  std::call_once(flag, [&] { n = 1; });
  return n;
}
