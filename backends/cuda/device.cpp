#include "device.h"

#include <mutex>
#include <set>
#include <utility>

#include "driver.h"
#include "graph.h"
#include "stream.h"

namespace cuda {
namespace {

CUdeviceptr address_of(const void* memory, uint64_t offset = 0) {
  return reinterpret_cast<CUdeviceptr>(memory) + offset;
}

bool is_cuda(tn_device device) { return device.type != TN_DEVICE_CPU; }

// Success without memory says that there is none left.
tn_status* allocate(int32_t index, uint64_t bytes, void** memory) {
  CUdeviceptr made = 0;
  const CUresult result = driver.cuMemAlloc(&made, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  TN_CUDA_TRY(status_of(result, "cuMemAlloc", index));
  *memory = reinterpret_cast<void*>(made);
  return nullptr;
}

tn_status* allocate_pinned(int32_t index, uint64_t bytes, void** memory) {
  const CUresult result = driver.cuMemHostAlloc(memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return *memory = nullptr, nullptr;
  return status_of(result, "cuMemHostAlloc", index);
}

struct Copy {
  tn_device dst_device;
  void* dst;
  uint64_t dst_offset;
  tn_device src_device;
  const void* src;
  uint64_t src_offset, bytes;
};

// Lets the device reach the memory of another, so that the driver need not take a copy between them
// through the host. The driver is asked once for each pair, and what it allows holds as long as the
// process. That it cannot is no error. The context of the device is current.
tn_status* reach(int32_t index, int32_t other) {
  static std::mutex mutex;
  static auto& asked = *new std::set<std::pair<int32_t, int32_t>>;
  if (other == index) return nullptr;
  const std::lock_guard lock(mutex);
  if (asked.contains({index, other})) return nullptr;
  const Gpu *own = nullptr, *peer = nullptr;
  TN_CUDA_TRY(find_gpu(index, &own));
  TN_CUDA_TRY(find_gpu(other, &peer));
  int can = 0;
  TN_CUDA_CALL(index, cuDeviceCanAccessPeer, &can, own->device, peer->device);
  if (can) {
    const CUresult result = driver.cuCtxEnablePeerAccess(peer->context, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;  // the next copy asks again
    if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED &&  // by another library of the process
        result != CUDA_ERROR_PEER_ACCESS_UNSUPPORTED && result != CUDA_ERROR_TOO_MANY_PEERS)
      TN_CUDA_TRY(status_of(result, "cuCtxEnablePeerAccess", index));
  }
  asked.insert({index, other});
  return nullptr;
}

tn_status* copy(const Stream& stream, const Copy& c) {
  const int32_t index = stream.index;
  char* const to = static_cast<char*>(c.dst) + c.dst_offset;
  const char* const from = static_cast<const char*>(c.src) + c.src_offset;
  if (!is_cuda(c.src_device)) {
    TN_CUDA_CALL(index, cuMemcpyHtoDAsync, address_of(to), from, c.bytes, stream.handle);
  } else if (!is_cuda(c.dst_device)) {
    TN_CUDA_CALL(index, cuMemcpyDtoHAsync, to, address_of(from), c.bytes, stream.handle);
  } else if (c.dst_device.index == c.src_device.index) {
    TN_CUDA_CALL(index, cuMemcpyDtoDAsync, address_of(to), address_of(from), c.bytes,
                 stream.handle);
  } else {
    if (!stream.recording) {  // the driver does not say that it may be done meanwhile
      TN_CUDA_TRY(reach(index, c.dst_device.index));
      TN_CUDA_TRY(reach(index, c.src_device.index));
    }
    const Gpu *dst = nullptr, *src = nullptr;
    TN_CUDA_TRY(find_gpu(c.dst_device.index, &dst));
    TN_CUDA_TRY(find_gpu(c.src_device.index, &src));
    TN_CUDA_CALL(index, cuMemcpyPeerAsync, address_of(to), dst->context, address_of(from),
                 src->context, c.bytes, stream.handle);
  }
  return nullptr;
}

void add_memory_slots(tn_device_def* def) {
  def->allocate = [](void*, int32_t index, uint64_t bytes, void** memory) {
    return guarded("allocate", index, [=] { return allocate(index, bytes, memory); });
  };
  def->free = [](void*, int32_t index, void* memory, uint64_t) {
    log_failure(guarded("free", index, [=]() -> tn_status* {
      TN_CUDA_CALL(index, cuMemFree, address_of(memory));
      return nullptr;
    }));
  };
  def->allocate_host = [](void*, int32_t index, uint64_t bytes, void** memory) {
    return guarded("allocate_host", index, [=] { return allocate_pinned(index, bytes, memory); });
  };
  def->free_host = [](void*, int32_t index, void* memory, uint64_t) {
    log_failure(guarded("free_host", index, [=]() -> tn_status* {
      TN_CUDA_CALL(index, cuMemFreeHost, memory);
      return nullptr;
    }));
  };
  def->memory_info = [](void*, int32_t index, uint64_t* free_bytes, uint64_t* total_bytes) {
    return guarded("memory_info", index, [=]() -> tn_status* {
      size_t unused = 0, total = 0;
      TN_CUDA_CALL(index, cuMemGetInfo, &unused, &total);
      *free_bytes = unused, *total_bytes = total;
      return nullptr;
    });
  };
}

}  // namespace

tn_status* register_device(tn_registrar* registrar) {
  tn_device_def def = {};
  def.size = sizeof(def);
  def.name = kDeviceName;
  def.description = "NVIDIA GPUs";
  def.lower_precision = TN_BFLOAT16;
  def.alignment = 256;  // as cuMemAlloc gives it
  def.open = [](void*) {
    return tenon::backend::guarded(host, kDeviceName, "open", [] { return open_driver(); });
  };
  def.count = [](void*) { return count_gpus(); };
  add_memory_slots(&def);
  def.copy = [](void*, tn_stream* stream, tn_device dst_device, void* dst, uint64_t dst_offset,
                tn_device src_device, const void* src, uint64_t src_offset, uint64_t bytes) {
    return guarded("copy", stream->device.index, [&] {
      return put(stream, [&] {
        return copy(*static_cast<Stream*>(stream->handle),
                    {dst_device, dst, dst_offset, src_device, src, src_offset, bytes});
      });
    });
  };
  def.fill_bytes = [](void*, tn_stream* stream, void* memory, uint64_t offset, uint8_t byte,
                      uint64_t bytes) {
    return guarded("fill_bytes", stream->device.index, [=]() -> tn_status* {
      const Stream& s = *static_cast<Stream*>(stream->handle);
      TN_CUDA_CALL(s.index, cuMemsetD8Async, address_of(memory, offset), byte, bytes, s.handle);
      return nullptr;
    });
  };
  add_stream_slots(&def);
  add_graph_slots(&def);
  return registrar->device(registrar, &def);
}

}  // namespace cuda
