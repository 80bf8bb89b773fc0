#include "capture/capture.h"

#include <utility>

#include "base/hot_thread_local.h"
#include "launch/launch.h"
#include "memory/memory.h"
#include "registry/thread_state.h"
#include "tensor/slots.h"
#include "tensor/stream.h"

namespace tenon {
namespace {

TN_HOT constinit thread_local Stream* capturing = nullptr;
thread_local std::vector<Ref<tn_storage>> workspaces;

// Back to the stream that was the current one of the thread. Needs no memory.
void stop_standing_for(Stream* recorder, bool is_good) {
  Stream* before = recorder->stands_for;
  if (before == nullptr) return;  // of a device without streams: the current one itself
  Stream* usual = nullptr;
  free_status(default_stream(recorder->device, &usual));
  free_status(set_current_stream(recorder->device, before == usual ? nullptr : before));
  give_back_recorder(recorder, is_good);
}

}  // namespace

Status begin_capture(tn_device device) {
  TN_TRY(check_device(device));
  if (capturing != nullptr)
    return error(TN_FAILED_PRECONDITION, "capture: one is open on this thread already");
  Stream* stream;
  TN_TRY(current_stream(device, &stream));
  const DeviceType& type = *device_type(device.type);
  const tn_device_def& def = type.def;
  if (stream == nullptr || def.capture_begin == nullptr || def.capture_end == nullptr ||
      def.graph_launch == nullptr || def.graph_destroy == nullptr) {
    return error(TN_UNSUPPORTED,
                 "capture: device {} records no graphs: its table lacks the graph slots",
                 type.name);
  }
  if (type.has_streams()) {
    TN_TRY(take_recorder(stream, &stream));
    Status failed = guarded([&] { return set_current_stream(device, stream); });
    if (failed == nullptr) failed = slots::capture_begin(stream);
    if (failed != nullptr) {
      stop_standing_for(stream, true);
      return failed;
    }
  } else {
    TN_TRY(slots::capture_begin(stream));
  }
  capturing = stream;
  captured_workspaces = &workspaces;
  thread_state.modes |= kModeCapture;
  return nullptr;
}

Status end_capture(DeviceGraph** graph) {
  if (capturing == nullptr)
    return error(TN_FAILED_PRECONDITION, "capture: none is open on this thread");
  Stream* stream = capturing;
  capturing = nullptr;
  captured_workspaces = nullptr;
  std::vector<Ref<tn_storage>> kept = std::exchange(workspaces, {});
  thread_state.modes &= ~uint32_t{kModeCapture};
  const DeviceType* type = device_type(stream->device.type);
  void* handle = nullptr;
  Status failed = slots::capture_end(stream, &handle);
  stop_standing_for(stream, failed == nullptr);
  TN_TRY(failed);
  *graph = new DeviceGraph{type, handle, std::move(kept)};
  return nullptr;
}

Status launch_graph(DeviceGraph* graph, tn_device device) {
  if (device.type != graph->type->type) {
    return invalid("capture: a graph of {} cannot run on {}", graph->type->name,
                   device_text(device));
  }
  Stream* stream;
  TN_TRY(current_stream(device, &stream));
  // Memory that no tensor has: a launch on another stream waits for who used it, and is waited for.
  for (const Ref<tn_storage>& workspace : graph->workspaces)
    TN_TRY(use_storage(workspace.get(), stream, true));
  return slots::graph_launch(graph->handle, stream);
}

void destroy_graph(DeviceGraph* graph) {
  slots::graph_destroy(graph->type, graph->handle);
  delete graph;
}

}  // namespace tenon
