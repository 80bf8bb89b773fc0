// Streams and events are the driver's own. A stream has a place where kernels report an index that is
// out of range, which is looked at when somebody waits for the stream; so has a graph that runs on
// it.
#include "stream.h"

#include <cstdlib>
#include <cstring>

#include "graph.h"

namespace cuda {
namespace {

CUevent event_of(void* event) { return static_cast<CUevent>(event); }

tn_status* create(int32_t index, void** stream) {
  struct Destroy {  // where no place can be made, or memory for it is not there
    int32_t index;
    void operator()(CUstream made) const {
      log_failure(status_of(driver.cuStreamDestroy(made), "cuStreamDestroy", index));
    }
  };
  auto made = std::make_unique<Stream>();
  made->index = index;
  const auto create = [&] { return driver.cuStreamCreate(&made->handle, CU_STREAM_NON_BLOCKING); };
  TN_CUDA_TRY(status_of(with_room(index, create), "cuStreamCreate", index));
  std::unique_ptr<CUstream_st, Destroy> handle(made->handle, Destroy{index});
  TN_CUDA_TRY(make_place(index, made->handle, &made->own));
  made->place = made->own.get();
  handle.release();
  *stream = made.release();
  return nullptr;
}

// The host has waited for its work.
tn_status* destroy(Stream* stream) {
  const std::unique_ptr<Stream> owned(stream);
  if (CUgraph recorded = nullptr; stream->recording) {  // the device was lost meanwhile
    driver.cuStreamEndCapture(stream->handle, &recorded);
    if (recorded) driver.cuGraphDestroy(recorded);
  }
  TN_CUDA_CALL(stream->index, cuStreamDestroy, stream->handle);
  return nullptr;
}

bool take(const PlacePtr& place, Fault* fault) {
  if (!place->fault->is_set) return false;
  *fault = std::exchange(*place->fault, Fault{});
  return true;
}

}  // namespace

Place::~Place() {
  if (fault) log_failure(status_of(driver.cuMemFreeHost(fault), "cuMemFreeHost", index));
}

tn_status* make_place(int32_t index, CUstream stream, PlacePtr* place) {
  auto made = std::make_shared<Place>(index);
  void* memory = nullptr;
  TN_CUDA_CALL(index, cuMemHostAlloc, &memory, sizeof(Fault),
               CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  made->fault = new (memory) Fault{};
  TN_CUDA_TRY(take_arrivals(index, stream, &made->arrivals));
  *place = std::move(made);
  return nullptr;
}

void hold(tn_stream* stream, std::shared_ptr<void> what) {
  Stream& own = *static_cast<Stream*>(stream->handle);
  const std::lock_guard lock(own.mutex);
  own.place->held.insert(std::move(what));
}

tn_status* synchronize(Stream& stream) {
  std::vector<PlacePtr> places;
  std::unordered_set<std::shared_ptr<void>> held;  // let go behind the wait
  {
    const std::lock_guard lock(stream.mutex);
    places.swap(stream.launched);
    held.swap(stream.own->held);
  }
  if (const CUresult result = driver.cuStreamSynchronize(stream.handle); result != CUDA_SUCCESS) {
    const std::lock_guard lock(stream.mutex);  // the graphs may still run
    stream.own->held.merge(held);
    if (stream.launched.empty()) {
      stream.launched.swap(places);
    } else {
      stream.launched.insert(stream.launched.end(), places.begin(), places.end());
    }
    return status_of(result, "cuStreamSynchronize", stream.index);
  }
  Fault fault = {};
  bool is_set = take(stream.own, &fault);
  for (const PlacePtr& place : places) is_set = take(place, &fault) || is_set;
  if (!is_set) return nullptr;
  static constexpr const char* kOps[] = {"gather", "scatter", "cross_entropy"};  // as FaultOp
  return error(host, TN_INVALID_ARGUMENT,
               "%s: index %ld is out of range for dimension %ld of size %ld (%s:%d)",
               kOps[fault.op], fault.index, fault.dim, fault.size, kDeviceName, stream.index);
}

bool is_synchronous() {
  static const bool synchronous = [] {
    const char* wish = std::getenv("TENON_CUDA_SYNC");
    return wish && std::strcmp(wish, "1") == 0;
  }();
  return synchronous;
}

tn_status* wait_by_host(tn_stream* stream) {
  static const auto* const devices =
      static_cast<const tn_device_api*>(host->get_interface("device/1"));
  return devices->stream_synchronize(stream);
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
