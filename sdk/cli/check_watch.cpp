#include "check_watch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace tenon::cli::conformance {
namespace {

// Text that a handler of signals can write: what is known without the heap, whose damage may be
// why.
char case_under_way[256];
unsigned case_seconds = 0;

void say_the_case(const char* begin, const char* end) {
  const auto write_text = [](const char* text) {
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text));
  };
  write_text("tenon: ");
  write_text(begin);
  write_text(case_under_way[0] == '\0' ? "a case that has no name yet" : case_under_way);
  write_text(end);
}

void at_fault(int signal) {
  say_the_case("the process was ended in the case '", "'; --only repeats it alone\n");
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void at_alarm(int) {
  say_the_case("the case '",
               "' does not end: work that is never done, or an event that is never reached\n");
  ::syscall(SYS_exit_group, 1);
}

}  // namespace

Watch::Watch(const std::string& name) {
  std::strncpy(case_under_way, name.c_str(), sizeof(case_under_way) - 1);
  ::alarm(case_seconds);
}
Watch::~Watch() { ::alarm(0); }

void watch_cases(unsigned seconds) {
  case_seconds = seconds;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, at_fault);
  ::signal(SIGALRM, at_alarm);
}

}  // namespace tenon::cli::conformance
