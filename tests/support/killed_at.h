// A process that is killed at each border of a system call in turn: what is left must be whole.
#pragma once

#include <csignal>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs `body` in a child and kills it at its n-th stop at the border of a system call. -1: it ended
// before; -2: no process may be traced here.
template <typename Body>
int killed_at(int n, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(98);
    ::raise(SIGSTOP);
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) return -2;
  for (int stop = 0; stop < n; ++stop) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) return -1;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return 0;
}
