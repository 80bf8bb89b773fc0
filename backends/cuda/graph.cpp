// Graphs are the driver's own: what is put on a stream while it captures. The mode is `relaxed`, in
// which no thread is refused anything but to wait for the stream: meanwhile the host asks for
// workspace, looks at events and frees memory, other threads work on streams of their own, and a
// text that is first met here (one that reads its numbers from memory) is loaded. None of that
// touches what the stream records.
#include "graph.h"

#include <algorithm>

#ifdef TENON_CUDA_CUDNN
#include "cudnn_plans.h"
#endif

namespace cuda {
namespace {

Stream& stream_of(tn_stream* stream) { return *static_cast<Stream*>(stream->handle); }

tn_status* begin(Stream& stream) {
  auto graph = std::make_unique<Graph>(stream.index);
  TN_CUDA_TRY(make_place(stream.index, stream.handle, &graph->place));
#ifdef TENON_CUDA_CUDNN
  prepare_cudnn(stream.index);
#endif
  TN_CUDA_CALL(stream.index, cuStreamBeginCapture, stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  stream.recording = std::move(graph);
  stream.place = stream.recording->place.get();
  return nullptr;
}

// Also behind an error: the stream works on as before.
tn_status* end(Stream& stream, void** made) {
  std::unique_ptr<Graph> graph = std::move(stream.recording);
  stream.place = stream.own.get();
  CUgraph recorded = nullptr;
  TN_CUDA_CALL(stream.index, cuStreamEndCapture, stream.handle, &recorded);
  const auto instantiate = [&] { return driver.cuGraphInstantiate(&graph->handle, recorded, 0); };
  tn_status* failed =
      status_of(with_room(stream.index, instantiate), "cuGraphInstantiate", stream.index);
  log_failure(status_of(driver.cuGraphDestroy(recorded), "cuGraphDestroy", stream.index));
  if (!failed) *made = graph.release();
  return failed;
}

tn_status* launch(Graph& graph, Stream& stream) {
  // Who waits for the stream on another thread takes the place out behind the launch, not before it.
  const std::lock_guard lock(stream.mutex);
  std::vector<PlacePtr>& places = stream.launched;
  if (std::find(places.begin(), places.end(), graph.place) == places.end())
    places.push_back(graph.place);
  const std::lock_guard alone(graph.launching);
  TN_CUDA_CALL(stream.index, cuGraphLaunch, graph.handle, stream.handle);
  return nullptr;
}

// The driver keeps what still runs.
tn_status* destroy(Graph* graph) {
  const std::unique_ptr<Graph> owned(graph);
  TN_CUDA_CALL(graph->index, cuGraphExecDestroy, graph->handle);
  return nullptr;
}

}  // namespace

void add_graph_slots(tn_device_def* def) {
  def->capture_begin = [](void*, tn_stream* stream) {
    return guarded("capture_begin", stream->device.index, [=] { return begin(stream_of(stream)); });
  };
  def->capture_end = [](void*, tn_stream* stream, void** graph) {
    return guarded("capture_end", stream->device.index,
                   [=] { return end(stream_of(stream), graph); });
  };
  def->graph_launch = [](void*, void* graph, tn_stream* stream) {
    return guarded("graph_launch", stream->device.index, [=] {
      return put(stream, [=] { return launch(*static_cast<Graph*>(graph), stream_of(stream)); });
    });
  };
  def->graph_destroy = [](void*, void* graph) {
    auto* mine = static_cast<Graph*>(graph);
    log_failure(guarded("graph_destroy", mine->index, [=] { return destroy(mine); }));
  };
}

}  // namespace cuda
