// A libcuda.so.1 of the tests' own: the entries that the plugin uses, on two GPUs that are threads
// and memory of this process. It does what the driver's documentation says, and refuses what that
// refuses: a call without a current context, memory that is no live block, handles that were
// destroyed, launches that do not fit. Here are devices, contexts, memory and copies; order.cpp has
// streams and events, capture.cpp graphs, modules.cpp kernels.
#include <atomic>
#include <cstring>
#include <map>
#include <string_view>

#include "state.h"

namespace fake {

thread_local CUcontext current = nullptr;

namespace {

std::mutex mutex;  // of what follows
bool initialized = false;
CUctx_st contexts[kDevices] = {{0}, {1}};
bool retained[kDevices] = {};
CUresult faults[kDevices] = {};
bool reaches[kDevices][kDevices] = {};  // the memory of whom

std::atomic<bool> at_once = false;

void (*listener)(const char*) = nullptr;

// A touch of host memory before a copy was done shows in the sum of its bytes.
size_t sum_of(const void* memory, size_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char*>(memory), bytes});
}

// In a graph the memory may change from launch to launch.
Work copy_from_host(const char* to, const void* from, size_t bytes, bool in_graph) {
  const size_t before = in_graph ? 0 : sum_of(from, bytes);
  const auto run = [=] {
    if (!in_graph && sum_of(from, bytes) != before) {
      std::fprintf(stderr, "fake driver: host memory changed or freed before its copy at %p\n",
                   from);
      std::abort();
    }
    std::memcpy(view(to), from, bytes);
  };
  Work work = {"copy host to device", run, {to}};
  if (arena_of(from) == kPinned) work.memory.push_back(static_cast<const char*>(from));
  return work;
}

// Does the current context reach the memory of a device without the host?
bool is_reached(int device) {
  const std::lock_guard lock(mutex);
  return device == current->device || reaches[current->device][device];
}

bool can_reach(int device, int other) {
  const char* peers = std::getenv("TENON_FAKE_CUDA_PEERS");
  return device != other && !(peers && std::string_view(peers) == "0");
}

Work copy_on_devices(const char* name, const char* to, const char* from, size_t bytes) {
  return {name, [=] { std::memmove(view(to), view(from), bytes); }, {to, from}};
}

}  // namespace

void initialize() {
  const std::lock_guard lock(mutex);
  initialized = true;
}

CUresult fault_of(int device) {
  const std::lock_guard lock(mutex);
  return faults[device];
}

void set_fault(int device, CUresult error) {
  const std::lock_guard lock(mutex);
  if (faults[device] == CUDA_SUCCESS) faults[device] = error;
}

// Those of which cuda.h says that the process must be ended to use the device further.
bool is_sticky(CUresult error) {
  switch (error) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

bool works_at_once() { return at_once; }

CUresult enter(const char* entry, bool needs_context) {
  if (const auto failure = static_cast<CUresult>(begin_call(entry))) {
    if (current && is_sticky(failure)) set_fault(current->device, failure);
    at_once = true;
    finish_streams();
    return failure;
  }
  const std::lock_guard lock(mutex);
  if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!needs_context) return CUDA_SUCCESS;
  return current ? faults[current->device] : CUDA_ERROR_INVALID_CONTEXT;
}

void trace(const std::string& line) {
  static std::mutex writing;
  const std::lock_guard lock(writing);
  if (listener) listener(line.c_str());
}

}  // namespace fake

using namespace fake;  // NOLINT

#pragma GCC visibility push(default)
extern "C" {

CUresult cuInit(unsigned flags) {
  initialize();
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
  if (const int failed = begin_call("cuGetErrorName")) return static_cast<CUresult>(failed);
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
      {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
      {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"}};
  for (const auto& [code, name] : kNames) {
    if (code == error) return *text = name, CUDA_SUCCESS;
  }
  return *text = nullptr, CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (const int failed = begin_call("cuGetErrorString")) return static_cast<CUresult>(failed);
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                              : "as the fake was told";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  ENTER_ANYWHERE(cuDeviceGetCount);
  const char* fewer = std::getenv("TENON_FAKE_CUDA_GPUS");
  return *count = fewer ? std::min(std::atoi(fewer), kDevices) : kDevices, CUDA_SUCCESS;
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
  if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
    const char* other = std::getenv("TENON_FAKE_CUDA_MULTIPROCESSORS");
    return *value = other ? std::atoi(other) : 132, CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice other) {
  ENTER_ANYWHERE(cuDeviceCanAccessPeer);
  for (const CUdevice d : {device, other}) {
    if (d < 0 || d >= kDevices) return CUDA_ERROR_INVALID_DEVICE;
  }
  return *can = can_reach(device, other), CUDA_SUCCESS;
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

// One way: the other context needs a call of its own.
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  ENTER_UNSAFE(cuCtxEnablePeerAccess);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(mutex);
  if (!peer || peer == current || !retained[peer->device]) return CUDA_ERROR_INVALID_CONTEXT;
  if (!can_reach(current->device, peer->device)) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  bool& is_enabled = reaches[current->device][peer->device];
  if (is_enabled) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  is_enabled = true;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* memory, size_t bytes) {
  ENTER_UNSAFE(cuMemAlloc);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *memory = reinterpret_cast<CUdeviceptr>(allocate(current->device, bytes));
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr memory) {
  ENTER_UNSAFE(cuMemFree);
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
  ENTER_UNSAFE(cuMemHostAlloc);
  if (bytes == 0 || (flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *memory = allocate(kPinned, bytes);
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void* memory) {
  ENTER_UNSAFE(cuMemFreeHost);
  return release(kPinned, static_cast<char*>(memory)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream handle) {
  ENTER(cuMemcpyHtoDAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(to), bytes)) return CUDA_ERROR_INVALID_VALUE;
  return put(stream, copy_from_host(address(to), from, bytes, is_capturing(*stream)));
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream handle) {
  ENTER(cuMemcpyDtoHAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(from), bytes)) return CUDA_ERROR_INVALID_VALUE;
  return put(stream, {"copy device to host",
                      [=] { std::memcpy(to, view(address(from)), bytes); },
                      {address(from)}});
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle) {
  if (is_idle()) return CUDA_SUCCESS;
  ENTER(cuMemcpyDtoDAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(to), bytes) ||
      !is_live(current->device, address(from), bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return put(stream, copy_on_devices("copy on a device", address(to), address(from), bytes));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream handle) {
  ENTER(cuMemcpyPeerAsync);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(to_context->device, address(to), bytes) ||
      !is_live(from_context->device, address(from), bytes))
    return CUDA_ERROR_INVALID_VALUE;
  const bool is_direct = is_reached(to_context->device) && is_reached(from_context->device);
  const char* name = is_direct ? "copy between devices" : "copy between devices through the host";
  return put(stream, copy_on_devices(name, address(to), address(from), bytes));
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream handle) {
  ENTER(cuMemsetD8Async);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_live(current->device, address(to), bytes)) return CUDA_ERROR_INVALID_VALUE;
  return put(stream,
             {"fill bytes", [=] { std::memset(view(address(to)), byte, bytes); }, {address(to)}});
}

// For tests: what is launched, copied and waited for from now on. NULL: nobody listens.
void tenon_fake_listen(void (*line)(const char*)) { listener = line; }

// What was made and not ended until now, a line a kind.
const char* tenon_fake_living() {
  static std::string& text = *new std::string;
  text = living_memory() + living_streams() + living_modules() + living_graphs();
  return text.c_str();
}

// For the fake libraries beside this one: work on a stream, which `release` ends when it will not be
// run again, and memory where it can be touched.
bool tenon_fake_put(CUstream handle, const char* name, void (*work)(void*), void* context,
                    void (*release)(void*)) {
  const std::shared_ptr<void> owned(context, release);
  const std::shared_ptr<Stream> stream = find_stream(handle);
  if (!stream) return false;
  return put(stream, {std::string("launch ") + name, [=] { work(owned.get()); }, {}}) ==
         CUDA_SUCCESS;
}
char* tenon_fake_view(const void* memory, size_t bytes) {
  const int arena = arena_of(memory);
  return arena >= 0 && is_live(arena, memory, bytes) ? view(memory) : nullptr;
}

}  // extern "C"
#pragma GCC visibility pop
