// A stream of the device, what kernels report on it, and where they count their blocks.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "arrivals.h"
#include "driver.h"

namespace cuda {

// As kernels/fault.cuh has it: the first index out of range, in memory of the host that kernels
// write.
struct Fault {
  int32_t is_set, op;
  int64_t index, dim, size;
};
// What the kernels of a stream or of a graph share. The memory is let go with the last holder, who has the
// context of the device.
struct Place {
  int32_t index;
  Fault* fault = nullptr;
  Arrivals arrivals;
  // Of a stream what its work since it was waited for runs by, and of a graph what its own does: plans of
  // cuDNN, with which their kernels go. Needs the mutex of the stream, or of the one that records.
  std::unordered_set<std::shared_ptr<void>> held;

  explicit Place(int32_t of) : index(of) {}
  Place(const Place&) = delete;
  ~Place();
};
using PlacePtr = std::shared_ptr<Place>;
// `stream` captures nothing, and may be waited for.
tn_status* make_place(int32_t index, CUstream stream, PlacePtr* place);

struct Graph;

// What stream_create gives.
struct Stream {
  int32_t index;
  CUstream handle;
  Place* place;  // of kernels that are launched now: on this stream, or in its recording
  PlacePtr own;
  std::unique_ptr<Graph> recording;  // between capture_begin and capture_end
  std::mutex mutex;
  std::vector<PlacePtr> launched;  // of graphs, since the stream was waited for; needs the mutex
};

inline const Stream& stream_of(const tn_call* call) {
  return *static_cast<const Stream*>(call->stream->handle);
}

// What was put on the stream runs by this, which is to live until that is done.
void hold(tn_stream* stream, std::shared_ptr<void> what);

// Waits for all work so far, and gives a fault that was reported, once.
tn_status* synchronize(Stream& stream);

// TENON_CUDA_SYNC=1: each kernel, copy and graph is waited for, so that its error is that of its call.
bool is_synchronous();

// Lets the host wait for what is on the stream. It counts the launches since it did so last, any of which
// may be the one that an error is about.
tn_status* wait_by_host(tn_stream* stream);

// What puts the work of a call on its stream, and waits for it where that is asked and nothing records.
template <class Body>
tn_status* put(tn_stream* stream, const Body& body) {
  Stream& own = *static_cast<Stream*>(stream->handle);
  if (!is_synchronous() || own.recording) return body();
  TN_CUDA_TRY(wait_by_host(stream));
  TN_CUDA_TRY(body());
  return synchronize(own);
}

void add_stream_slots(tn_device_def* def);

}  // namespace cuda
