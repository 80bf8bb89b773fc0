// A libcuda.so.1 of the tests' own: the entries that the plugin uses, on two GPUs that are threads
// and memory of this process. It does what the driver's documentation says, and refuses what that
// refuses: a call without a current context, memory that is no live block, handles that were
// destroyed, launches that do not fit. TENON_FAKE_CUDA_FAIL="cuMemAlloc:3:2" fails the third call of
// an entry with that CUresult; TENON_FAKE_CUDA_CALLS=file gets the names of what was called.
#include <cuda.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "kernels.h"
#include "memory.h"
#include "stream.h"

struct CUctx_st {
  int device;
};
struct CUevent_st {
  fake::Place place;
};
struct CUmod_st {
  int device;
  std::string text;
};
struct CUfunc_st {
  int device;
  const fake::Entry* entry;
};

namespace fake {
namespace {

std::mutex mutex;  // of all that follows
bool initialized = false;
CUctx_st contexts[kDevices] = {{0}, {1}};
bool retained[kDevices] = {};
auto& streams = *new std::map<CUstream, std::shared_ptr<Stream>>;
auto& events = *new std::set<CUevent>;
auto& modules = *new std::set<CUmodule>;
auto& functions = *new std::map<std::pair<CUmodule, std::string>, CUfunction>;

thread_local CUcontext current = nullptr;

// The n-th call of an entry that is to fail, as the environment says.
struct Failure {
  std::string entry;
  int call = 0;
  CUresult result = CUDA_SUCCESS;
};
const Failure& failure() {
  static const Failure& wanted = *new Failure([] {
    Failure f;
    const char* text = std::getenv("TENON_FAKE_CUDA_FAIL");
    char name[100];
    int call = 0, result = 0;
    if (text && std::sscanf(text, "%99[^:]:%d:%d", name, &call, &result) == 3)
      f = {name, call, static_cast<CUresult>(result)};
    return f;
  }());
  return wanted;
}

void note_call(const char* entry) {
  static const char* const path = std::getenv("TENON_FAKE_CUDA_CALLS");
  if (!path) return;
  static std::mutex writing;
  static auto& called = *new std::set<std::string>;
  const std::lock_guard lock(writing);
  if (!called.insert(entry).second) return;
  if (FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", entry);
    std::fclose(file);
  }
}

// What an entry begins with.
CUresult enter(const char* entry, bool needs_context) {
  note_call(entry);
  static std::atomic<int> calls = 0;
  if (failure().entry == entry && ++calls == failure().call) return failure().result;
  const std::lock_guard lock(mutex);
  if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
  return needs_context && !current ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

const char* address(CUdeviceptr memory) { return reinterpret_cast<const char*>(memory); }

// A stream of the current context.
CUresult stream_here(CUstream handle, std::shared_ptr<Stream>* stream) {
  const std::lock_guard lock(mutex);
  const auto found = streams.find(handle);
  if (found == streams.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (found->second->device() != current->device) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = found->second;
  return CUDA_SUCCESS;
}

bool is_event(CUevent event) {
  const std::lock_guard lock(mutex);
  return events.contains(event);
}

Place place_of(CUevent event) {
  const std::lock_guard lock(mutex);
  return event->place;
}

// A touch of host memory before a copy was done shows in the sum of its bytes.
size_t sum_of(const void* memory, size_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char*>(memory), bytes});
}

}  // namespace

std::shared_ptr<Stream> find_stream(CUstream handle) {
  const std::lock_guard lock(mutex);
  const auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

}  // namespace fake

using namespace fake;  // NOLINT

// The names are those of the header, whose macros make the exported ones of them.
#define ENTER(name) \
  if (const CUresult refused = enter(#name, true)) return refused
#define ENTER_ANYWHERE(name) \
  if (const CUresult refused = enter(#name, false)) return refused

#pragma GCC visibility push(default)
extern "C" {

CUresult cuInit(unsigned flags) {
  {
    const std::lock_guard lock(mutex);
    initialized = true;
  }
  ENTER_ANYWHERE(cuInit);
  if (const char* none = std::getenv("TENON_FAKE_CUDA_GPUS"); none && std::string_view(none) == "0")
    return CUDA_ERROR_NO_DEVICE;
  return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDriverGetVersion(int* version) {
  ENTER_ANYWHERE(cuDriverGetVersion);
  const char* other = std::getenv("TENON_FAKE_CUDA_VERSION");
  *version = other ? std::atoi(other) : CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  static constexpr std::pair<CUresult, const char*> kNames[] = {
      {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
      {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
      {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
      {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
      {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
      {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"}};
  for (const auto& [code, name] : kNames) {
    if (code == error) return *text = name, CUDA_SUCCESS;
  }
  return *text = nullptr, CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                              : "as the fake was told";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  ENTER_ANYWHERE(cuDeviceGetCount);
  return *count = kDevices, CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER_ANYWHERE(cuDeviceGet);
  if (ordinal < 0 || ordinal >= kDevices) return CUDA_ERROR_INVALID_DEVICE;
  return *device = ordinal, CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  ENTER_ANYWHERE(cuDeviceGetName);
  std::snprintf(name, static_cast<size_t>(bytes), "fake GPU");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  ENTER_ANYWHERE(cuDeviceGetAttribute);
  const char* capability = std::getenv("TENON_FAKE_CUDA_CAPABILITY");  // "75"
  const int number = capability ? std::atoi(capability) : 90;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    return *value = number / 10, CUDA_SUCCESS;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    return *value = number % 10, CUDA_SUCCESS;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER_ANYWHERE(cuDevicePrimaryCtxRetain);
  if (device < 0 || device >= kDevices) return CUDA_ERROR_INVALID_DEVICE;
  retained[device] = true;
  return *context = &contexts[device], CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  ENTER_ANYWHERE(cuCtxGetCurrent);
  return *context = current, CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER_ANYWHERE(cuCtxSetCurrent);
  if (context && !retained[context->device]) return CUDA_ERROR_INVALID_CONTEXT;
  return current = context, CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* memory, size_t bytes) {
  ENTER(cuMemAlloc);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *memory = reinterpret_cast<CUdeviceptr>(allocate(current->device, bytes));
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr memory) {
  ENTER(cuMemFree);
  const int arena = arena_of(address(memory));
  if (arena < 0 || arena == kPinned) return CUDA_ERROR_INVALID_VALUE;
  return release(arena, address(memory)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetInfo(size_t* unused, size_t* total) {
  ENTER(cuMemGetInfo);
  *total = capacity(), *unused = capacity() - used(current->device);
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  ENTER(cuMemHostAlloc);
  if (bytes == 0 || (flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *memory = allocate(kPinned, bytes);
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void* memory) {
  ENTER(cuMemFreeHost);
  return release(kPinned, static_cast<char*>(memory)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream handle) {
  ENTER(cuMemcpyHtoDAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(to), bytes)) return CUDA_ERROR_INVALID_VALUE;
  const size_t before = sum_of(from, bytes);
  stream->enqueue([=] {
    if (sum_of(from, bytes) != before) {
      std::fprintf(stderr, "fake driver: host memory changed or freed before its copy at %p\n",
                   from);
      std::abort();
    }
    std::memcpy(view(address(to)), from, bytes);
  });
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream handle) {
  ENTER(cuMemcpyDtoHAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(from), bytes)) return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue([=] { std::memcpy(to, view(address(from)), bytes); });
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle) {
  ENTER(cuMemcpyDtoDAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(to), bytes) ||
      !is_live(current->device, address(from), bytes))
    return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue([=] { std::memmove(view(address(to)), view(address(from)), bytes); });
  return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream handle) {
  ENTER(cuMemcpyPeerAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(to_context->device, address(to), bytes) ||
      !is_live(from_context->device, address(from), bytes))
    return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue([=] { std::memmove(view(address(to)), view(address(from)), bytes); });
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream handle) {
  ENTER(cuMemsetD8Async);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(to), bytes)) return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue([=] { std::memset(view(address(to)), byte, bytes); });
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  ENTER(cuStreamCreate);
  if (flags != CU_STREAM_DEFAULT && flags != CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  const auto made = std::make_shared<Stream>(current->device);
  const std::lock_guard lock(mutex);
  *stream = reinterpret_cast<CUstream>(made.get());
  streams[*stream] = made;
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle) {
  ENTER(cuStreamDestroy);
  std::shared_ptr<Stream> stream;  // dies behind the lock, when no event has it
  const std::lock_guard lock(mutex);
  const auto found = streams.find(handle);
  if (found == streams.end()) return CUDA_ERROR_INVALID_HANDLE;
  stream = found->second;
  streams.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  ENTER(cuStreamSynchronize);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  stream->reached(stream->submitted(), true);
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  ENTER(cuStreamWaitEvent);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue([place = place_of(event)] { place.reached(true); });
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  ENTER(cuEventCreate);
  const std::lock_guard lock(mutex);
  events.insert(*event = new CUevent_st);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  ENTER(cuEventDestroy);
  const std::lock_guard lock(mutex);
  if (events.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  ENTER(cuEventRecord);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t position = stream->submitted();
  const std::lock_guard lock(mutex);
  event->place = {stream, position};
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  ENTER(cuEventQuery);
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  return place_of(event).reached(false) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER(cuEventSynchronize);
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  place_of(event).reached(true);
  return CUDA_SUCCESS;
}

// The image is what the fake NVRTC gives: a line, and the text.
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  ENTER(cuModuleLoadData);
  static constexpr std::string_view kLine = "fake image\n";
  const std::string_view all = static_cast<const char*>(image);
  if (!all.starts_with(kLine)) return CUDA_ERROR_INVALID_IMAGE;
  const std::lock_guard lock(mutex);
  modules.insert(*module = new CUmod_st{current->device, std::string(all.substr(kLine.size()))});
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER(cuModuleGetFunction);
  {
    const std::lock_guard lock(mutex);
    if (!modules.contains(module)) return CUDA_ERROR_INVALID_HANDLE;
    if (module->device != current->device) return CUDA_ERROR_INVALID_CONTEXT;
  }
  const Entry* entry = find_kernel(module->text, name);
  if (!entry) return CUDA_ERROR_NOT_FOUND;
  const std::lock_guard lock(mutex);
  CUfunction& found = functions[{module, name}];
  if (!found) found = new CUfunc_st{current->device, entry};
  return *function = found, CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream handle, void** parameters, void** extra) {
  static const bool idle = std::getenv("TENON_FAKE_CUDA_IDLE") != nullptr;
  if (idle) return CUDA_SUCCESS;  // before all checks: what is measured is not the fake
  ENTER(cuLaunchKernel);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (function->device != current->device) return CUDA_ERROR_INVALID_CONTEXT;
  if (!parameters || !parameters[0] || extra || shared != 0) return CUDA_ERROR_INVALID_VALUE;
  // The fake counts in x and y alone; a block has what __launch_bounds__ allows.
  if (grid_x == 0 || grid_x > 0x7FFFFFFF || grid_y == 0 || grid_y > 65535 || grid_z != 1 ||
      block_x == 0 || block_x > 256 || block_y != 1 || block_z != 1)
    return CUDA_ERROR_INVALID_VALUE;
  const Entry* entry = function->entry;
  std::string bytes(static_cast<const char*>(parameters[0]), entry->bytes);
  stream->enqueue([=, device = current->device, bytes = std::move(bytes)] {
    run_kernel(*entry, bytes.data(), {grid_x, grid_y, 1}, {block_x, 1, 1}, device);
  });
  return CUDA_SUCCESS;
}

// For the fake libraries beside this one: work on a stream, and memory where it can be touched.
bool tenon_fake_enqueue(CUstream handle, void (*work)(void*), void* context) {
  const std::shared_ptr<Stream> stream = find_stream(handle);
  if (stream) stream->enqueue([=] { work(context); });
  return stream != nullptr;
}
char* tenon_fake_view(const void* memory, size_t bytes) {
  const int arena = arena_of(memory);
  return arena >= 0 && is_live(arena, memory, bytes) ? view(memory) : nullptr;
}

}  // extern "C"
#pragma GCC visibility pop
