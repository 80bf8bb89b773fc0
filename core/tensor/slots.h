// The slots of a plugin's device, as the core calls them: traced on request, refused once the
// device is lost, and with errors that name the device and the launch that they may come from.
//
// Invariants
//  1. No other file calls a slot of tn_device_def. (Kernels call the device behind the core's back,
//     and so see its errors first.)
//  2. An error that is no refusal (abi.h, tn_device_def) loses the device for good. From then on
//     only what gives back is called.
//  3. The work of a lost device counts as done: nothing new comes that could meet it.
#pragma once

#include "tensor/device.h"

namespace tenon {

bool is_lost(tn_device device);
// NULL while it is not.
[[nodiscard]] Status check_not_lost(tn_device device);
// Whether an error of this code means that the device can do no more.
bool is_fault(tn_code code);
// Makes the device lost by `failed`, which is taken; gives the error for the user. `what`: the slot
// or kernel that failed.
[[nodiscard]] Status lose_device(tn_device device, const std::string& what, Status failed);
// What a kernel said that failed at its launch: it may be wrong itself, or the device be lost,
// which the stream is asked for.
[[nodiscard]] Status judge_launch(Stream* stream, const char* name, Status failed);

// Notes the last launch of a stream, for messages. `name` lives as long as the process.
inline void note_launch(Stream* stream, const char* name) {
  stream->last_launch.store(name, std::memory_order_relaxed);
  stream->n_launched.store(stream->n_launched.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
}
std::string stream_text(const Stream* stream);  // "stream 3 of ref:0"

// The switches TENON_TRACE=launches and TENON_SYNC=1, read once.
bool is_tracing();
bool is_synchronous();
void trace_line(const std::string& line);

namespace slots {

[[nodiscard]] Status allocate(tn_device device, uint64_t bytes, void** memory);
void free(tn_device device, void* memory, uint64_t bytes);
[[nodiscard]] Status allocate_host(tn_device device, uint64_t bytes, void** memory);
void free_host(tn_device device, void* memory, uint64_t bytes);
[[nodiscard]] Status memory_info(tn_device device, uint64_t* free_bytes, uint64_t* total_bytes);

[[nodiscard]] Status copy(Stream* stream, tn_device dst_device, void* dst, uint64_t dst_offset,
                          tn_device src_device, const void* src, uint64_t src_offset,
                          uint64_t bytes);
[[nodiscard]] Status fill_bytes(Stream* stream, void* memory, uint64_t offset, uint8_t byte,
                                uint64_t bytes);

[[nodiscard]] Status stream_create(tn_device device, void** handle);
void stream_destroy(Stream* stream);
[[nodiscard]] Status stream_synchronize(Stream* stream);
[[nodiscard]] Status event_create(tn_device device, void** event);
void event_destroy(tn_device device, void* event);
[[nodiscard]] Status event_record(Stream* stream, void* event);
[[nodiscard]] Status stream_wait_event(Stream* stream, void* event);
// `stream`: where the event was recorded. Of a lost device they say that it has passed.
[[nodiscard]] Status event_query(Stream* stream, void* event, bool* done);
[[nodiscard]] Status event_synchronize(Stream* stream, void* event);

[[nodiscard]] Status capture_begin(Stream* stream);
[[nodiscard]] Status capture_end(Stream* stream, void** graph);
[[nodiscard]] Status graph_launch(void* graph, Stream* stream);
void graph_destroy(const DeviceType* type, void* graph);

}  // namespace slots
}  // namespace tenon
