// Streams and events of the fake driver.
#include "state.h"

struct CUevent_st {
  fake::Recorded recorded;
};

namespace fake {
namespace {

std::mutex mutex;  // of what follows
auto& streams = *new std::map<CUstream, std::shared_ptr<Stream>>;
auto& events = *new std::set<CUevent>;

bool is_event(CUevent event) {
  const std::lock_guard lock(mutex);
  return events.contains(event);
}

Recorded recorded_in(CUevent event) {
  const std::lock_guard lock(mutex);
  return event->recorded;
}

}  // namespace

CUresult stream_here(CUstream handle, std::shared_ptr<Stream>* stream) {
  *stream = find_stream(handle);
  if (!*stream) return CUDA_ERROR_INVALID_HANDLE;
  return (*stream)->device() == current->device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

std::shared_ptr<Stream> find_stream(CUstream handle) {
  const std::lock_guard lock(mutex);
  const auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

void finish_streams() {
  std::map<CUstream, std::shared_ptr<Stream>> all;
  {
    const std::lock_guard lock(mutex);
    all = streams;
  }
  for (const auto& [handle, stream] : all) stream->reached(stream->submitted(), true);
}

std::string living_streams() {
  const std::lock_guard lock(mutex);
  return std::to_string(streams.size()) + " streams\n" + std::to_string(events.size()) +
         " events\n";
}

}  // namespace fake

using namespace fake;  // NOLINT

// TENON_FAKE_CUDA_LEAVE_OUT=entry: its calls wait for nothing and order nothing.
static bool leaves_out(std::string_view entry) {
  static const char* const left_out = std::getenv("TENON_FAKE_CUDA_LEAVE_OUT");
  return left_out && left_out == entry;
}

#pragma GCC visibility push(default)
extern "C" {

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
  if (const CUresult refused = refuse_capturing(*stream)) return refused;
  trace("wait for a stream");
  if (leaves_out("cuStreamSynchronize")) return CUDA_SUCCESS;
  stream->reached(stream->submitted(), true);
  return fault_of(stream->device());
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  ENTER(cuStreamWaitEvent);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (leaves_out("cuStreamWaitEvent")) return CUDA_SUCCESS;
  return wait_for(stream, recorded_in(event));
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
  if (leaves_out("cuEventRecord")) return CUDA_SUCCESS;
  const Recorded recorded = record_on(stream);
  const std::lock_guard lock(mutex);
  event->recorded = recorded;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  ENTER_UNSAFE(cuEventQuery);
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  const Recorded recorded = recorded_in(event);
  if (const CUresult refused = refuse_captured(recorded)) return refused;
  if (!leaves_out("cuEventQuery") && !recorded.place.reached(false)) return CUDA_ERROR_NOT_READY;
  return fault_of(current->device);
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER_UNSAFE(cuEventSynchronize);
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  const Recorded recorded = recorded_in(event);
  if (const CUresult refused = refuse_captured(recorded)) return refused;
  trace("wait for an event");
  recorded.place.reached(true);
  return fault_of(current->device);
}

}  // extern "C"
#pragma GCC visibility pop
