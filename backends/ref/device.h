// The machine below the kernels: the host's table; memory of the devices ref:0 and ref:1; streams.
// The memory of both is mapped twice: the host gets addresses of a mapping without access, so that
// its every touch ends the process there and then, also while kernels run; kernels work through a
// second mapping, at a constant distance.
#pragma once

#include <functional>

#include "tenon/backend.hpp"

namespace ref {

using tenon::backend::error;

inline constexpr char kDeviceName[] = "ref";
inline const tn_host* host = nullptr;  // set by tenon_plugin_init, before anything else runs

// Is this process a fork of one that used the device? It shares the memory and has none of the
// threads that work on it, so slots refuse, and take no lock that such a thread may have held.
bool is_fork();
tn_status* refuse_fork();
void note_use();

// No exception crosses the border: what the body throws becomes a status. `where` names the slot.
template <class Body>
tn_status* guarded(const char* where, const Body& body) noexcept {
  return is_fork() ? refuse_fork() : tenon::backend::guarded(host, kDeviceName, where, body);
}

// Registers the device; its memory is mapped when some is first allocated.
tn_status* register_device(tn_registrar* registrar);

// The kernels' address of what the host knows as `address`, or NULL. Throws for foreign memory.
char* kernel_view(const void* address);

// Looks at all memory outside of live blocks. An error counts what was ever found there, and copies
// whose host memory the host touched too early.
tn_status* check_memory();

// Appends work to the stream (its handle). What it returns, the next synchronize gives, once; until
// then work that comes behind it is passed over, since what it would read may not be there.
using Task = std::function<tn_status*()>;
tn_status* enqueue(void* stream, Task task, bool always = false);
// Waits for all work so far.
tn_status* synchronize(void* stream);

void add_stream_slots(tn_device_def* def);

// At shutdown: does the work there is, and ends the threads of all streams.
void stop_all_streams();

}  // namespace ref
