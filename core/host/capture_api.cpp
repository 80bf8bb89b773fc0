// capture/1.
#include "base/text.h"
#include "capture/capture.h"
#include "capture/compiled.h"
#include "host/tables.h"
#include "registry/thread_state.h"

namespace tenon {
namespace {

DeviceGraph* as_graph(tn_graph* graph) { return reinterpret_cast<DeviceGraph*>(graph); }

tn_status* capture_begin(tn_device device) {
  return guarded([&] { return begin_capture(device); });
}

tn_status* capture_end(tn_graph** graph) {
  return guarded([&]() -> Status {
    TN_TRY(expect_place("capture_end", graph));
    DeviceGraph* made;
    TN_TRY(end_capture(&made));
    *graph = reinterpret_cast<tn_graph*>(made);
    return nullptr;
  });
}

tn_status* capture_launch(tn_graph* graph, tn_device device) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("capture_launch: the graph", graph));
    return launch_graph(as_graph(graph), device);
  });
}

void capture_destroy(tn_graph* graph) {
  if (graph != nullptr) destroy_graph(as_graph(graph));
}

Compiled* as_compiled(tn_compiled* compiled) { return reinterpret_cast<Compiled*>(compiled); }

tn_status* compile_with(tn_function_fn fn, void* self, void (*destroy)(void*), uint32_t flags,
                        tn_compiled** compiled) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("compile: the function", reinterpret_cast<const void*>(fn)));
    TN_TRY(expect_place("compile", compiled));
    if ((flags & ~uint32_t{TN_COMPILE_INEXACT}) != 0)
      return invalid("compile: unknown flags {:#x}", flags & ~uint32_t{TN_COMPILE_INEXACT});
    *compiled = reinterpret_cast<tn_compiled*>(
        new Compiled(fn, self, destroy, (flags & TN_COMPILE_INEXACT) == 0));
    return nullptr;
  });
}

tn_status* compile(tn_function_fn fn, void* self, void (*destroy)(void*), tn_compiled** compiled) {
  return compile_with(fn, self, destroy, 0, compiled);
}

tn_status* call_compiled(tn_compiled* compiled, tn_tensor* const* args, uint32_t n_args,
                         tn_tensor** results, uint32_t n_results) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("call: the compiled function", compiled));
    TN_TRY(expect_list("call: the list of arguments", args, n_args));
    TN_TRY(expect_list("call: the list of results", results, n_results));
    return as_compiled(compiled)->call({args, n_args}, {results, n_results});
  });
}

tn_status* describe_compiled(tn_compiled* compiled, const char** text) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("describe: the compiled function", compiled));
    TN_TRY(expect_place("describe", text));
    return give_text(as_compiled(compiled)->describe(), text);
  });
}

void release_compiled(tn_compiled* compiled) {
  if (compiled != nullptr) as_compiled(compiled)->release();
}

int32_t is_recording() { return (thread_state.modes & kModeRecord) != 0 ? 1 : 0; }

}  // namespace

const tn_capture_api* capture_api() {
  static const tn_capture_api table = {sizeof(tn_capture_api), capture_begin,     capture_end,
                                       capture_launch,         capture_destroy,   compile,
                                       call_compiled,          describe_compiled, release_compiled,
                                       compile_with,           is_recording};
  return &table;
}

}  // namespace tenon
