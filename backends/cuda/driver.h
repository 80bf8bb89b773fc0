// The driver: its entries in one table, which is filled when somebody first asks for the device, the
// GPUs that it knows, and statuses of its errors. Nothing calls the driver before `open_driver` was
// called, in a static destructor, or in a fork of a process that used it.
#pragma once

#include <cuda.h>

#include <string>
#include <utility>

#include "library.h"
#include "tenon/backend.hpp"

namespace cuda {

using tenon::backend::error;
using tenon::backend::item_size;

inline constexpr char kDeviceName[] = "cuda";
inline const tn_host* host = nullptr;  // set by tenon_plugin_init, before anything else runs

#define TN_CUDA_DRIVER(ROW)     \
  ROW(cuInit)                   \
  ROW(cuDriverGetVersion)       \
  ROW(cuGetErrorName)           \
  ROW(cuGetErrorString)         \
  ROW(cuDeviceGetCount)         \
  ROW(cuDeviceGet)              \
  ROW(cuDeviceGetName)          \
  ROW(cuDeviceGetAttribute)     \
  ROW(cuDeviceCanAccessPeer)    \
  ROW(cuDevicePrimaryCtxRetain) \
  ROW(cuCtxGetCurrent)          \
  ROW(cuCtxSetCurrent)          \
  ROW(cuCtxEnablePeerAccess)    \
  ROW(cuMemAlloc)               \
  ROW(cuMemFree)                \
  ROW(cuMemGetInfo)             \
  ROW(cuMemHostAlloc)           \
  ROW(cuMemFreeHost)            \
  ROW(cuMemcpyHtoDAsync)        \
  ROW(cuMemcpyDtoHAsync)        \
  ROW(cuMemcpyDtoDAsync)        \
  ROW(cuMemcpyPeerAsync)        \
  ROW(cuMemsetD8Async)          \
  ROW(cuStreamCreate)           \
  ROW(cuStreamDestroy)          \
  ROW(cuStreamSynchronize)      \
  ROW(cuStreamWaitEvent)        \
  ROW(cuEventCreate)            \
  ROW(cuEventDestroy)           \
  ROW(cuEventRecord)            \
  ROW(cuEventQuery)             \
  ROW(cuEventSynchronize)       \
  ROW(cuModuleLoadData)         \
  ROW(cuModuleGetFunction)      \
  ROW(cuLaunchKernel)           \
  ROW(cuStreamBeginCapture)     \
  ROW(cuStreamEndCapture)       \
  ROW(cuGraphInstantiate)       \
  ROW(cuGraphDestroy)           \
  ROW(cuGraphLaunch)            \
  ROW(cuGraphExecDestroy)

struct Driver {
  TN_CUDA_DRIVER(TN_CUDA_MEMBER)
};
extern Driver driver;

// One GPU that can be used; its index in the list is that of the device.
struct Gpu {
  CUdevice device = 0;
  CUcontext context = nullptr;  // the primary one, which other libraries of the process share
  std::string architecture;     // "sm_90"
  int multiprocessors = 0;
  size_t workspace = 0;  // bytes that cuBLASLt is lent
};

// What the slot `open` does. The error says why there is no device.
tn_status* open_driver();
int32_t count_gpus();
// Its context is made at the first call. NULL with a status: it could not be.
tn_status* find_gpu(int32_t index, const Gpu** gpu);

// NULL for CUDA_SUCCESS; else the entry, the driver's words and the device, and the code that says
// whether the device can go on.
tn_status* status_of(CUresult result, const char* entry, int32_t index);

// What a slot that gives no status meets is logged. Takes the status.
void log_failure(tn_status* status);

// What a status says, which is freed.
std::string take_text(tn_status* status);
// The same of a status that may say that memory is exhausted: then it throws std::bad_alloc.
std::string text_of(tn_status* status);

// TENON_CUDA_TF32=1: products and convolutions of float32 may round their factors to TF32.
bool is_tf32_allowed();

// Is this process a fork of one that used the driver? Nothing of it works then.
bool is_fork();
tn_status* refuse_fork();

// Makes the context of a device the current one of this thread, and puts back what was there.
class Current {
 public:
  explicit Current(int32_t index);
  Current(const Current&) = delete;
  ~Current();

  tn_status* take_failure() { return std::exchange(failure_, nullptr); }

 private:
  tn_status* failure_ = nullptr;
  const int32_t index_;
  CUcontext before_ = nullptr, ours_ = nullptr;
};

// No exception crosses the border: what the body throws becomes a status. `where` names the slot or
// the kernel. The body runs with the context of the device.
template <class Body>
tn_status* guarded(const char* where, int32_t index, const Body& body) noexcept {
  if (is_fork()) return refuse_fork();
  return tenon::backend::guarded(host, kDeviceName, where, [&]() -> tn_status* {
    Current current(index);
    if (tn_status* failure = current.take_failure()) return failure;
    return body();
  });
}

// Gives back what the host keeps of the device's memory; false where that failed.
bool empty_cache(int32_t index);
// Says a result of a library that memory is exhausted? The header of each library answers for its own.
template <class Result>
bool lacks_memory(Result result);
template <>
inline bool lacks_memory(CUresult result) {
  return result == CUDA_ERROR_OUT_OF_MEMORY;
}
// The driver and the libraries take memory for more than what is allocated (modules, streams, graphs,
// handles, plans), and the host's cache may hold all of it. The result of `call`, which is called once
// more where it lacked memory.
template <class Call>
auto with_room(int32_t index, const Call& call) {
  const auto result = call();
  return lacks_memory(result) && empty_cache(index) ? call() : result;
}

// Returns from the calling function where a status is an error.
#define TN_CUDA_TRY(expression)                                          \
  do {                                                                   \
    if (tn_status* tn_cuda_status = (expression)) return tn_cuda_status; \
  } while (0)
// Calls an entry of the driver: TN_CUDA_CALL(index, cuMemFree, memory).
#define TN_CUDA_CALL(index, entry, ...) \
  TN_CUDA_TRY(::cuda::status_of(::cuda::driver.entry(__VA_ARGS__), #entry, index))

}  // namespace cuda
