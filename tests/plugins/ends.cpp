// Ends the process when it is loaded, in the way that TENON_TEST_ENDS names.
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "small.h"

namespace {

std::string_view way() {
  const char* text = std::getenv("TENON_TEST_ENDS");
  return text == nullptr ? "" : text;
}

void* end_in_thread(void*) { std::exit(0); }

struct AtLoad {
  AtLoad() {
    if (way() == "constructor") std::exit(0);
  }
} at_load;

}  // namespace

extern "C" {

SMALL_MANIFEST(TN_ABI_VERSION);

TN_EXPORT tn_status* tenon_plugin_init(const tn_host*, tn_registrar*, void**) {
  if (way() == "exit") std::exit(0);
  if (way() == "_exit") ::_exit(0);
  if (way() == "_Exit") std::_Exit(0);
  if (way() == "quick_exit") std::quick_exit(0);
  if (way() == "abort") std::abort();
  if (way() == "thread") {
    pthread_t thread;
    pthread_create(&thread, nullptr, end_in_thread, nullptr);
    pthread_join(thread, nullptr);
  }
  if (way() == "child") {  // which is another process, and may end as it likes
    if (const pid_t child = ::fork(); child == 0) std::exit(0);
  }
  return nullptr;
}
}
