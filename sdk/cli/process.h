// The command as a process: its three streams, and its end. Used by main.cpp and where plugins are
// loaded.
#pragma once

namespace tenon::cli {

// A file that grows beyond the limit of the process (ulimit -f) is an error of the write, which the
// command says, and no signal that ends it.
void let_large_writes_fail();

// Streams that whoever started the command closed: files that are opened would take their numbers.
// Reading gives the end, what goes to stderr is dropped, writing to stdout fails.
void open_closed_streams();

// From here to `done` nothing but main ends the command with success: a plugin that calls exit,
// quick_exit or _exit, in whatever thread and whenever, makes it code 1 and is named if it was
// being loaded. (A plugin that makes the system call itself is beyond this.)
void guard_end();
void done();

// Loads the plugins. One that calls abort is spoken of before the process dies of it.
void load_all_plugins();

// Everything that was printed has been written; an Error says why not.
void check_output();

}  // namespace tenon::cli
