#include "driver.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nvrtc.h"

namespace cuda {

Driver driver = {};

namespace {

std::atomic<bool> used = false;  // the driver was initialized here
// The driver said that it ends with the process: what static objects still give back then is nobody's loss.
std::atomic<bool> has_ended = false;
std::atomic<bool> forked = false;  // so it was in the process that this one is a fork of

// Written by open_driver alone, but for contexts. Never destroyed: the host may use it behind exit.
auto& gpus = *new std::vector<Gpu>;
std::mutex contexts_mutex;

tn_status* absent(const std::string& why) { return error(host, TN_NOT_FOUND, "%s", why.c_str()); }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string words(CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  return std::string(name ? name : "unknown error") + (text ? std::string(": ") + text : "");
}

tn_status* fill_table() {
  Library library("libcuda.so.1");
  if (!library.is_whole()) return absent("no NVIDIA driver (" + library.why() + ")");
  Driver table = {};
  TN_CUDA_DRIVER(TN_CUDA_FILL)
  if (!library.is_whole())
    return absent("the NVIDIA driver is too old: " + library.why() + ", and CUDA " +
                  version_text(CUDA_VERSION / 1000 * 1000) + " or newer is needed");
  driver = table;
  return nullptr;
}

// Those of compute capability 8.0 and newer. `older` names one that is not.
tn_status* list_gpus(std::string* older) {
  int n = 0;
  std::vector<Gpu> found;  // whole or not at all: who opens again lists them anew
  TN_CUDA_CALL(0, cuDeviceGetCount, &n);
  for (int ordinal = 0; ordinal < n; ++ordinal) {
    Gpu gpu;
    TN_CUDA_CALL(ordinal, cuDeviceGet, &gpu.device, ordinal);
    int major = 0, minor = 0;
    TN_CUDA_CALL(ordinal, cuDeviceGetAttribute, &major,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, gpu.device);
    TN_CUDA_CALL(ordinal, cuDeviceGetAttribute, &minor,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, gpu.device);
    TN_CUDA_CALL(ordinal, cuDeviceGetAttribute, &gpu.multiprocessors,
                 CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, gpu.device);
    gpu.architecture = architecture_for(major, minor);
    gpu.workspace = size_t{major >= 9 ? 32u : 4u} << 20;
    if (major >= 8) {
      found.push_back(gpu);
      continue;
    }
    char name[100] = "";
    const bool has_name = driver.cuDeviceGetName(name, sizeof name, gpu.device) == CUDA_SUCCESS;
    *older = std::string(has_name ? name : "a GPU") + " has compute capability " +
             std::to_string(major) + "." + std::to_string(minor) + ", and 8.0 or newer is needed";
  }
  gpus = std::move(found);
  return nullptr;
}

}  // namespace

tn_status* open_driver() {
  if (is_fork()) return refuse_fork();
  TN_CUDA_TRY(fill_table());
  if (const int failed = pthread_atfork(nullptr, nullptr, [] { forked = used.load(); }))
    return error(host, TN_INTERNAL, "cuda: pthread_atfork: %s", std::strerror(failed));
  used = true;
  const CUresult started = driver.cuInit(0);
  if (started == CUDA_ERROR_NO_DEVICE) return absent("no NVIDIA GPU (cuInit found none)");
  if (started != CUDA_SUCCESS) return absent("the NVIDIA driver failed: cuInit: " + words(started));
  int version = 0;
  TN_CUDA_CALL(0, cuDriverGetVersion, &version);
  if (version < CUDA_VERSION / 1000 * 1000)
    return absent("the NVIDIA driver is too old: it supports CUDA " + version_text(version) +
                  ", and " + version_text(CUDA_VERSION / 1000 * 1000) + " or newer is needed");
  TN_CUDA_TRY(open_nvrtc());
  std::string older;
  TN_CUDA_TRY(list_gpus(&older));
  if (gpus.empty())
    return absent(older.empty() ? "no NVIDIA GPU" : "no GPU that can be used: " + older);
  return nullptr;
}

bool empty_cache(int32_t index) {
  const auto* devices = static_cast<const tn_device_api*>(host->get_interface("device/1"));
  for (int32_t type = 0; const char* name = devices->type_name(type); ++type) {
    if (std::strcmp(name, kDeviceName) != 0) continue;
    tn_status* failed = devices->empty_cache({type, index});
    const bool emptied = failed == nullptr;
    log_failure(failed);
    return emptied;
  }
  return false;
}

int32_t count_gpus() { return static_cast<int32_t>(gpus.size()); }

tn_status* find_gpu(int32_t index, const Gpu** gpu) {
  Gpu& found = gpus[static_cast<size_t>(index)];
  *gpu = &found;
  const std::atomic_ref<CUcontext> context(found.context);
  if (context.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock(contexts_mutex);
  if (context.load(std::memory_order_relaxed)) return nullptr;
  CUcontext made = nullptr;
  TN_CUDA_CALL(index, cuDevicePrimaryCtxRetain, &made, found.device);
  context.store(made, std::memory_order_release);
  return nullptr;
}

tn_status* status_of(CUresult result, const char* entry, int32_t index) {
  if (result == CUDA_SUCCESS) return nullptr;
  tn_code code = TN_INTERNAL;
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      code = TN_OUT_OF_MEMORY;
      break;
    case CUDA_ERROR_INVALID_VALUE:
      code = TN_INVALID_ARGUMENT;
      break;
    case CUDA_ERROR_NOT_SUPPORTED:
      code = TN_UNSUPPORTED;
      break;
    case CUDA_ERROR_DEINITIALIZED:
      has_ended.store(true, std::memory_order_relaxed);
      code = TN_FAILED_PRECONDITION;
      break;
    case CUDA_ERROR_ILLEGAL_STATE:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:  // no graph comes of it, and that is all
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
    case CUDA_ERROR_CAPTURED_EVENT:
      code = TN_FAILED_PRECONDITION;
      break;
    case CUDA_ERROR_ILLEGAL_ADDRESS:  // those after which a context refuses everything
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
      code = TN_DEVICE_LOST;
      break;
    default:
      break;
  }
  return error(host, code, "%s: %s (%s:%d)", entry, words(result).c_str(), kDeviceName, index);
}

void log_failure(tn_status* status) {
  if (!status) return;
  if (!is_fork() && !has_ended) host->log(2, host->status_message(status));
  host->status_free(status);
}

std::string take_text(tn_status* status) {
  const auto free = [](tn_status* s) { host->status_free(s); };
  const std::unique_ptr<tn_status, decltype(free)> owned(status);
  return host->status_message(status);
}

std::string text_of(tn_status* status) {
  const bool is_exhausted = host->status_code(status) == TN_OUT_OF_MEMORY;
  std::string text = take_text(status);
  if (is_exhausted) throw std::bad_alloc();
  return text;
}

bool is_tf32_allowed() {
  static const bool allowed = [] {
    const char* wish = std::getenv("TENON_CUDA_TF32");
    return wish && std::strcmp(wish, "1") == 0;
  }();
  return allowed;
}

bool is_fork() { return forked.load(std::memory_order_relaxed); }

tn_status* refuse_fork() {
  return error(host, TN_FAILED_PRECONDITION,
               "cuda: this process is a fork of one that used the device, and the driver does not "
               "work in it; start the process by exec or posix_spawn, or fork before the device is "
               "first used");
}

Current::Current(int32_t index) : index_(index) {
  const Gpu* gpu = nullptr;
  if ((failure_ = find_gpu(index, &gpu))) return;
  ours_ = gpu->context;
  failure_ = status_of(driver.cuCtxGetCurrent(&before_), "cuCtxGetCurrent", index);
  if (failure_ || before_ == ours_) return;
  failure_ = status_of(driver.cuCtxSetCurrent(ours_), "cuCtxSetCurrent", index);
}

Current::~Current() {
  if (failure_) host->status_free(failure_);
  if (!before_ || before_ == ours_) return;
  log_failure(status_of(driver.cuCtxSetCurrent(before_), "cuCtxSetCurrent", index_));
}

}  // namespace cuda
