// Streams and events are the driver's own. A stream has a place where kernels report an index that is
// out of range, which is looked at when somebody waits for the stream.
#include "stream.h"

#include <memory>

namespace cuda {
namespace {

CUevent event_of(void* event) { return static_cast<CUevent>(event); }

tn_status* create(int32_t index, void** stream) {
  auto made = std::make_unique<Stream>(Stream{index, nullptr, nullptr});
  void* fault = nullptr;
  TN_CUDA_CALL(index, cuMemHostAlloc, &fault, sizeof(Fault),
               CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  made->fault = new (fault) Fault{};
  const CUresult created = driver.cuStreamCreate(&made->handle, CU_STREAM_NON_BLOCKING);
  if (created != CUDA_SUCCESS) {
    driver.cuMemFreeHost(fault);
    return status_of(created, "cuStreamCreate", index);
  }
  *stream = made.release();
  return nullptr;
}

// The host has waited for its work.
tn_status* destroy(Stream* stream) {
  const std::unique_ptr<Stream> owned(stream);
  const CUresult destroyed = driver.cuStreamDestroy(stream->handle);
  const CUresult freed = driver.cuMemFreeHost(stream->fault);
  TN_CUDA_TRY(status_of(destroyed, "cuStreamDestroy", stream->index));
  return status_of(freed, "cuMemFreeHost", stream->index);
}

// What a slot without a status meets is logged.
void log_failure(tn_status* status) {
  if (!status) return;
  if (!is_fork()) host->log(2, host->status_message(status));
  host->status_free(status);
}

}  // namespace

tn_status* synchronize(const Stream& stream) {
  TN_CUDA_CALL(stream.index, cuStreamSynchronize, stream.handle);
  if (!stream.fault->is_set) return nullptr;
  const Fault fault = std::exchange(*stream.fault, Fault{});
  return error(host, TN_INVALID_ARGUMENT,
               "%s: index %ld is out of range for dimension %ld of size %ld (%s:%d)",
               fault.is_scatter ? "scatter" : "gather", fault.index, fault.dim, fault.size,
               kDeviceName, stream.index);
}

void add_stream_slots(tn_device_def* def) {
  def->stream_create = [](void*, int32_t index, void** stream) {
    return guarded("stream_create", index, [=] { return create(index, stream); });
  };
  def->stream_destroy = [](void*, int32_t index, void* stream) {
    log_failure(
        guarded("stream_destroy", index, [=] { return destroy(static_cast<Stream*>(stream)); }));
  };
  def->stream_synchronize = [](void*, int32_t index, void* stream) {
    return guarded("stream_synchronize", index,
                   [=] { return synchronize(*static_cast<Stream*>(stream)); });
  };
  def->event_create = [](void*, int32_t index, void** event) {
    return guarded("event_create", index, [=]() -> tn_status* {
      CUevent made = nullptr;
      TN_CUDA_CALL(index, cuEventCreate, &made, CU_EVENT_DISABLE_TIMING);
      *event = made;
      return nullptr;
    });
  };
  def->event_destroy = [](void*, int32_t index, void* event) {
    log_failure(guarded("event_destroy", index, [=]() -> tn_status* {
      TN_CUDA_CALL(index, cuEventDestroy, event_of(event));
      return nullptr;
    }));
  };
  def->event_record = [](void*, int32_t index, void* event, void* stream) {
    return guarded("event_record", index, [=]() -> tn_status* {
      TN_CUDA_CALL(index, cuEventRecord, event_of(event), static_cast<Stream*>(stream)->handle);
      return nullptr;
    });
  };
  def->stream_wait_event = [](void*, int32_t index, void* stream, void* event) {
    return guarded("stream_wait_event", index, [=]() -> tn_status* {
      TN_CUDA_CALL(index, cuStreamWaitEvent, static_cast<Stream*>(stream)->handle, event_of(event),
                   0);
      return nullptr;
    });
  };
  def->event_query = [](void*, int32_t index, void* event, int32_t* done) {
    return guarded("event_query", index, [=]() -> tn_status* {
      const CUresult result = driver.cuEventQuery(event_of(event));
      *done = result == CUDA_SUCCESS;
      return result == CUDA_ERROR_NOT_READY ? nullptr : status_of(result, "cuEventQuery", index);
    });
  };
  def->event_synchronize = [](void*, int32_t index, void* event) {
    return guarded("event_synchronize", index, [=]() -> tn_status* {
      TN_CUDA_CALL(index, cuEventSynchronize, event_of(event));
      return nullptr;
    });
  };
}

}  // namespace cuda
