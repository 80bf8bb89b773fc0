// Captures as the documentation of cuStreamBeginCapture, cuThreadExchangeStreamCaptureMode and of the
// errors 900 to 908 has them.
#include "capture.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "state.h"

struct CUgraph_st {
  std::shared_ptr<const std::vector<fake::Work>> work;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<fake::Work>> work;
  fake::Place last;           // its launch before
  bool is_launching = false;  // by a thread
};

namespace fake {
namespace {

std::mutex mutex;  // of all captures and graphs, and of what streams and events know of captures
auto& captures = *new std::set<std::shared_ptr<Capture>>;
auto& graphs = *new std::set<CUgraph>;
auto& execs = *new std::set<CUgraphExec>;

CUresult invalidate(Capture* capture, CUresult error) { return capture->is_invalid = true, error; }

void run_graph(const std::vector<Work>& all) {
  for (const Work& work : all) {
    for (const char* at : work.memory) {
      if (is_live(arena_of(at), at, 1)) continue;
      std::fprintf(stderr, "fake driver: a graph works on memory that was freed: %s at %p\n",
                   work.name.c_str(), at);
      std::abort();
    }
    work.run();
  }
}

// What some stream recorded and the stream that ends the capture does not know to be before it.
bool has_unjoined(const Capture& capture, const Stream& origin) {
  return std::any_of(capture.streams.begin(), capture.streams.end(), [&](const auto& s) {
    const auto known = origin.clock.find(s.get());
    const auto all = s->clock.find(s.get());
    if (all == s->clock.end()) return false;
    return known == origin.clock.end() || known->second < all->second;
  });
}

}  // namespace

CUresult put(const std::shared_ptr<Stream>& stream, Work work) {
  {
    const std::lock_guard lock(mutex);
    if (Capture* capture = stream->capture.get()) {
      if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      trace("record " + work.name);
      capture->work.push_back(std::move(work));
      ++stream->clock[stream.get()];
      return CUDA_SUCCESS;
    }
  }
  trace(work.name);
  stream->enqueue(std::move(work.run));
  if (works_at_once()) stream->reached(stream->submitted(), true);
  return CUDA_SUCCESS;
}

bool is_capturing(const Stream& stream) {
  const std::lock_guard lock(mutex);
  return stream.capture != nullptr;
}

CUresult refuse_capturing(const Stream& stream) {
  const std::lock_guard lock(mutex);
  if (!stream.capture) return CUDA_SUCCESS;
  return invalidate(stream.capture.get(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult refuse_unsafe() {
  const std::lock_guard lock(mutex);
  CUresult refused = CUDA_SUCCESS;
  for (const auto& capture : captures) {
    const bool is_mine = capture->thread == std::this_thread::get_id();
    if (capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
        (is_mine && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED))
      refused = invalidate(capture.get(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return refused;
}

Recorded record_on(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex);
  if (stream->capture) return {{}, stream->capture, stream->clock};
  return {{stream, stream->submitted()}, nullptr, {}};
}

CUresult wait_for(const std::shared_ptr<Stream>& stream, const Recorded& recorded) {
  const std::lock_guard lock(mutex);
  Capture* const theirs = recorded.capture.get();
  Capture* const ours = stream->capture.get();
  if (!theirs && ours) return invalidate(ours, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  if (!theirs) {
    if (recorded.place.stream != stream)
      stream->enqueue([place = recorded.place] { place.reached(true); });
    return CUDA_SUCCESS;
  }
  if (theirs->has_ended) return CUDA_ERROR_CAPTURED_EVENT;
  if (theirs->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (ours && ours != theirs) {
    invalidate(ours, CUDA_SUCCESS);
    return invalidate(theirs, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  stream->capture = recorded.capture;
  theirs->streams.insert(stream);
  for (const auto& [of, count] : recorded.clock)
    stream->clock[of] = std::max(stream->clock[of], count);
  return CUDA_SUCCESS;
}

CUresult refuse_captured(const Recorded& recorded) {
  const std::lock_guard lock(mutex);
  if (!recorded.capture) return CUDA_SUCCESS;
  return invalidate(recorded.capture.get(), CUDA_ERROR_CAPTURED_EVENT);
}

std::string living_graphs() {
  const std::lock_guard lock(mutex);
  return std::to_string(captures.size()) + " captures\n" + std::to_string(graphs.size()) +
         " graphs\n" + std::to_string(execs.size()) + " executable graphs\n";
}

}  // namespace fake

using namespace fake;  // NOLINT

#pragma GCC visibility push(default)
extern "C" {

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  ENTER(cuStreamBeginCapture);
  std::shared_ptr<Stream> stream;
  if (!handle) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // the legacy stream
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  const std::lock_guard lock(mutex);
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  auto made = std::make_shared<Capture>();
  made->mode = mode;
  made->thread = std::this_thread::get_id();
  made->origin = handle;
  made->streams.insert(stream);
  stream->capture = made;
  captures.insert(made);
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  ENTER(cuStreamEndCapture);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Capture> capture = stream->capture;
  *graph = nullptr;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != handle)
    return invalidate(capture.get(), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread != std::this_thread::get_id())
    return invalidate(capture.get(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  const bool unjoined = has_unjoined(*capture, *stream);
  for (const auto& joined : capture->streams) joined->capture = nullptr, joined->clock.clear();
  capture->streams.clear();
  capture->has_ended = true;
  captures.erase(capture);
  if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (unjoined) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  auto work = std::make_shared<std::vector<Work>>(std::move(capture->work));
  graphs.insert(*graph = new CUgraph_st{std::move(work)});
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  ENTER(cuGraphInstantiate);
  const std::lock_guard lock(mutex);
  if (!graphs.contains(graph)) return CUDA_ERROR_INVALID_HANDLE;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  execs.insert(*exec = new CUgraphExec_st{graph->work, {}});
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  ENTER(cuGraphDestroy);
  const std::lock_guard lock(mutex);
  if (graphs.erase(graph) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete graph;
  return CUDA_SUCCESS;
}

// Behind its launch before, on whatever stream that was. An instance is not synchronized within: a second
// thread that launches it meanwhile is refused, which the driver itself does not promise.
CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  if (is_idle()) return CUDA_SUCCESS;
  ENTER(cuGraphLaunch);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  std::unique_lock lock(mutex);
  if (!execs.contains(exec)) return CUDA_ERROR_INVALID_HANDLE;
  if (exec->is_launching) return CUDA_ERROR_ILLEGAL_STATE;
  exec->is_launching = true;
  lock.unlock();
  std::this_thread::yield();
  lock.lock();
  exec->is_launching = false;
  if (stream->capture)  // a graph in a graph, which nobody needs here
    return invalidate(stream->capture.get(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  trace("launch a graph");
  const Place before = exec->last.stream == stream ? Place{} : exec->last;
  stream->enqueue([before, work = exec->work] {
    before.reached(true);
    run_graph(*work);
  });
  exec->last = {stream, stream->submitted()};
  if (works_at_once()) stream->reached(stream->submitted(), true);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ENTER(cuGraphExecDestroy);
  Place last;  // its stream may end with it, behind the lock
  const std::lock_guard lock(mutex);
  if (execs.erase(exec) == 0) return CUDA_ERROR_INVALID_HANDLE;
  last = exec->last;
  delete exec;
  return CUDA_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
