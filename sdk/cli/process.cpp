#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include <tenon/messages.hpp>
#include <tenon/tenon.hpp>

#include "plugin_list.h"

namespace tenon::cli {
namespace {

std::atomic<pid_t> guarded{0};   // the process, from guard_end to done; a child is not meant
std::atomic<bool> asked{false};  // plugins were loaded, so there is a list of them

[[noreturn]] void leave(int code) {
  ::syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

void say_by_itself(const std::string& message) noexcept {
  const std::string line = "tenon: " + messages::cleaned(message) + "\n";
  // Without stdio: the thread that ends the process may be another than the one that prints.
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

bool ended_early() { return guarded == ::getpid(); }

// Ends the process with a failure that is said, where main has not come to its end.
[[noreturn]] void refuse_end(const char* how) noexcept {
  guarded = 0;
  try {
    std::string who = "something, most likely a plugin,";
    std::string when = "before the command was done";
    for (const PluginRow& plugin : asked ? list_plugins().rows : std::vector<PluginRow>()) {
      if (!plugin.loading) continue;
      who = fmt::format("plugin '{}' ({})", plugin.id, plugin.from);
      when = "while it was loaded";
    }
    say_by_itself(fmt::format("{} ended the process by {}, {}", who, how, when));
  } catch (...) {
    say_by_itself("a plugin ended the process before the command was done");
  }
  leave(EXIT_FAILURE);
}

void at_exit() {
  if (ended_early()) refuse_end("exit");
}
void at_quick_exit() {
  if (ended_early()) refuse_end("quick_exit");
}

// Says what is known without the heap, whose damage may be why.
void at_abort(int signal) {
  constexpr char kText[] =
      "tenon: the process was aborted while plugins were loaded; TENON_LOG=debug names each before "
      "it is loaded\n";
  if (ended_early()) {
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, kText, sizeof(kText) - 1);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void let_large_writes_fail() { ::signal(SIGXFSZ, SIG_IGN); }

void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free is this one. What nobody can read is no success: stdout is one
    // that cannot be written.
    const int flags = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", flags) != stream) leave(EXIT_FAILURE);
  }
}

void guard_end() {
  guarded = ::getpid();
  std::atexit(at_exit);
  std::at_quick_exit(at_quick_exit);
}

void done() { guarded = 0; }

void load_all_plugins() {
  using Handler = void (*)(int);
  const Handler before = ::signal(SIGABRT, at_abort);
  asked = true;
  try {
    load_plugins();
  } catch (...) {
    ::signal(SIGABRT, before);
    throw;
  }
  ::signal(SIGABRT, before);
}

void check_output() {
  errno = 0;
  const bool failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed) return;
  const int error = errno;
  fail(fmt::format("the output cannot be written{}{}", error == 0 ? "" : ": ",
                   error == 0 ? "" : std::strerror(error)));
}

}  // namespace tenon::cli

// The command's own, which the libraries that it loads find before the C library's.
extern "C" {
[[gnu::visibility("default"), gnu::used]] void _exit(int code) {
  if (tenon::cli::ended_early()) tenon::cli::refuse_end("_exit");
  tenon::cli::leave(code);
}
[[gnu::visibility("default"), gnu::used]] void _Exit(int code) { ::_exit(code); }
}
