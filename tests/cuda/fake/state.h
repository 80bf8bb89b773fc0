// What the entries of the fake driver share: contexts, handles, and how work comes to a stream.
#pragma once

#include <cuda.h>

#include <mutex>
#include <string>

#include "calls.h"
#include "capture.h"
#include "memory.h"
#include "stream.h"

struct CUctx_st {
  int device;
};

namespace fake {

extern thread_local CUcontext current;

// What an entry begins with: the error that it gives at once, if there is one.
CUresult enter(const char* entry, bool needs_context);
void initialize();

// After some errors the context of a device refuses everything: the driver's documentation says so of
// each. 0: it works.
CUresult fault_of(int device);
void set_fault(int device, CUresult error);
bool is_sticky(CUresult error);
// Behind a failure that the environment asked for, streams do their work at once: the host takes the
// work of a device that is lost for done, as it is where a device really fails.
bool works_at_once();
void finish_streams();

// A stream of the current context; NULL: no such stream, or one that was destroyed.
CUresult stream_here(CUstream handle, std::shared_ptr<Stream>* stream);
std::shared_ptr<Stream> find_stream(CUstream handle);

inline const char* address(CUdeviceptr memory) { return reinterpret_cast<const char*>(memory); }

// How many handles there are now, for the report of what was left: "2 streams".
std::string living_streams();
std::string living_modules();
std::string living_graphs();

// A line for each launch, copy and wait goes to whoever listens (tenon_fake_listen).
void trace(const std::string& line);

}  // namespace fake

// The names are those of the header, whose macros make the exported ones of them.
#define ENTER(name) \
  if (const CUresult refused = ::fake::enter(#name, true)) return refused
#define ENTER_ANYWHERE(name) \
  if (const CUresult refused = ::fake::enter(#name, false)) return refused
// Of calls that the documentation calls unsafe while a stream captures, but in the mode `relaxed`.
#define ENTER_UNSAFE(name)                                                 \
  if (const CUresult refused = ::fake::enter(#name, true)) return refused; \
  if (const CUresult refused = ::fake::refuse_unsafe()) return refused
