// A body run in a fork of the test's process, for what a process does only once or must not do to
// the tests after it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string>

// Gives the text that the body gave or threw, and with which status the fork ended where that is
// not 0. A fork that hangs is ended after minutes.
template <typename Body>
std::string in_a_fork(Body body) {
  int ends[2];
  if (::pipe(ends) != 0) return "pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(240);
    std::string text;
    try {
      text = body();
    } catch (const std::exception& e) {
      text = e.what();
    }
    if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(2);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    text += "; ended with " + std::to_string(status);
  return text;
}
