// The device `tape`, as CUDA is: streams that run when somebody waits, and graphs. Between
// capture_begin and capture_end what is put on the stream is recorded instead, and to wait for it
// is an error.
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "fakes.h"

namespace fakes {
namespace {

using Task = std::function<void()>;
struct Stream {
  std::deque<Task> tasks;
  uint64_t submitted = 0, done = 0;
  std::vector<Task>* recording = nullptr;  // of a graph that is being captured
};
struct Event {
  Stream* stream = nullptr;
  uint64_t position = 0;
};
using Graph = std::vector<Task>;

std::recursive_mutex mutex;
using Lock = std::lock_guard<std::recursive_mutex>;
Stream* stream_of(void* handle) { return static_cast<Stream*>(handle); }

void submit(void* handle, Task task) {
  const Lock lock(mutex);
  Stream* stream = stream_of(handle);
  if (stream->recording) {
    ++fakes_recorded;
    stream->recording->push_back(std::move(task));
    return;
  }
  stream->tasks.push_back(std::move(task));
  ++stream->submitted;
}

void run(Stream* stream, uint64_t position) {
  while (stream->done < position) {
    const Task task = std::move(stream->tasks.front());
    stream->tasks.pop_front();
    task();
    ++stream->done;
  }
}

tn_status* synchronize(void*, int32_t, void* handle) {
  const Lock lock(mutex);
  Stream* stream = stream_of(handle);
  if (stream->recording)
    return host()->status(TN_FAILED_PRECONDITION, "tape: a stream that records is waited for",
                          nullptr);
  run(stream, stream->submitted);
  return nullptr;
}

void add_events(tn_device_def* def) {
  def->event_create = [](void*, int32_t, void** event) -> tn_status* {
    return *event = new Event, nullptr;
  };
  def->event_destroy = [](void*, int32_t, void* event) { delete static_cast<Event*>(event); };
  def->event_record = [](void*, int32_t, void* event, void* stream) -> tn_status* {
    const Lock lock(mutex);
    *static_cast<Event*>(event) = {stream_of(stream), stream_of(stream)->submitted};
    return nullptr;
  };
  def->stream_wait_event = [](void*, int32_t, void* stream, void* event) -> tn_status* {
    submit(stream, [at = *static_cast<Event*>(event)] { run(at.stream, at.position); });
    return nullptr;
  };
  def->event_query = [](void*, int32_t, void* event, int32_t* done) -> tn_status* {
    const Lock lock(mutex);
    const auto* at = static_cast<Event*>(event);
    *done = at->stream->done >= at->position;
    return nullptr;
  };
  def->event_synchronize = [](void*, int32_t, void* event) -> tn_status* {
    const Lock lock(mutex);
    run(static_cast<Event*>(event)->stream, static_cast<Event*>(event)->position);
    return nullptr;
  };
}

void add_graphs(tn_device_def* def) {
  def->capture_begin = [](void*, tn_stream* stream) -> tn_status* {
    const Lock lock(mutex);
    stream_of(stream->handle)->recording = new Graph;
    return nullptr;
  };
  def->capture_end = [](void*, tn_stream* stream, void** graph) -> tn_status* {
    const Lock lock(mutex);
    *graph = std::exchange(stream_of(stream->handle)->recording, nullptr);
    return nullptr;
  };
  def->graph_launch = [](void*, void* graph, tn_stream* stream) -> tn_status* {
    for (const Task& task : *static_cast<Graph*>(graph)) submit(stream->handle, task);
    return nullptr;
  };
  def->graph_destroy = [](void*, void* graph) { delete static_cast<Graph*>(graph); };
}

uint32_t low(uint64_t value) { return uint32_t(value); }
uint32_t high(uint64_t value) { return uint32_t(value >> 32); }

// Philox 4x32-10, whose seed and offset are read when the work runs: from the device, where there
// is a state.
void random_bits(const tn_call& call) {
  const tn_tensor* y = call.outputs[0];
  uint64_t seed = call.random->seed, offset = call.random->offset;
  if (const tn_tensor* state = call.random->state) {
    seed = uint64_t(static_cast<const int64_t*>(state->data)[0]);
    offset = uint64_t(static_cast<const int64_t*>(state->data)[1]);
  }
  for (int64_t i = 0; i < y->numel; ++i) {
    const auto block = uint64_t(i / 4);
    uint32_t c[] = {low(block), high(block), low(offset), high(offset)};
    uint32_t key[] = {low(seed), high(seed)};
    for (int round = 0; round < 10; ++round, key[0] += 0x9E3779B9, key[1] += 0xBB67AE85) {
      const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
      const uint32_t next[] = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
      std::memcpy(c, next, sizeof(c));
    }
    std::memcpy(static_cast<char*>(y->data) + 4 * i, &c[i % 4], 4);
  }
}

// A number, or in a graph one element on the device, read when the work runs.
double number(const tn_value& v) {
  if (v.kind == TN_KIND_FLOAT) return v.as.f;
  if (v.kind == TN_KIND_INT) return double(v.as.i);
  return v.as.tensor->dtype == TN_INT64 ? double(*static_cast<int64_t*>(v.as.tensor->data))
                                        : *doubles(v.as.tensor);
}

// p -= lr / step * grad.
void decay_step(const tn_call& call) {
  const tn_value &params = call.args[0], &grads = call.args[1];
  const double rate = number(call.args[2]) / number(call.args[3]);
  for (uint32_t k = 0; k < params.count; ++k) {
    double* p = doubles(params.as.tensors[k]);
    for (int64_t i = 0; i < params.as.tensors[k]->numel; ++i)
      p[i] -= rate * doubles(grads.as.tensors[k])[i];
  }
}

}  // namespace

void enqueue(const tn_call* call, Work work) {
  if (!call->stream) return work(*call);
  const tn_call* clone = nullptr;
  check(call->host->keep(call, &clone));
  const std::shared_ptr<const tn_call> kept(clone, call->host->release_kept);
  submit(call->stream->handle, [kept, work = std::move(work)] { work(*kept); });
}

void add_tape() {
  tn_device_def def{};
  def.size = sizeof(def);
  def.name = "tape";
  def.description = "records what is put on it";
  def.lower_precision = TN_DTYPE_NONE;
  def.count = [](void*) { return 1; };
  def.allocate = [](void*, int32_t, uint64_t bytes, void** memory) -> tn_status* {
    return *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64), nullptr;
  };
  def.free = [](void*, int32_t, void* memory, uint64_t) { std::free(memory); };
  def.copy = [](void*, tn_stream* stream, tn_device, void* dst, uint64_t dst_offset, tn_device,
                const void* src, uint64_t src_offset, uint64_t bytes) -> tn_status* {
    submit(stream->handle, [=] {
      std::memmove(static_cast<char*>(dst) + dst_offset, static_cast<const char*>(src) + src_offset,
                   bytes);
    });
    return nullptr;
  };
  def.stream_create = [](void*, int32_t, void** stream) -> tn_status* {
    return *stream = new Stream, nullptr;
  };
  def.stream_destroy = [](void*, int32_t, void*) {
  };  // events may look at it as long as the process
  def.stream_synchronize = synchronize;
  add_events(&def);
  add_graphs(&def);
  device(def);

  kernel(TN_PRIM_RANDOM_BITS, "tape", {.traits = TN_KERNEL_CAPTURE_SAFE}, fakes_random_bits);
  // Kernels alone, and no outputs: infer has nothing to say, and must be there.
  auto nothing = [](Tensors, Tensors, double, int64_t) { return vector<Meta>(); };
  op("decay_step(Tensor(a!)[] params, Tensor[] grads, dynamic float lr, dynamic int step) -> ()")
      .no_gradient()
      .infer(nothing);
  kernel("fakes.decay_step", "tape", {.traits = TN_KERNEL_CAPTURE_SAFE}, fakes_decay_step);
  op("unsafe_step(Tensor(a!)[] params, Tensor[] grads, dynamic float lr, dynamic int step) -> ()")
      .no_gradient()
      .infer(nothing);
  kernel("fakes.unsafe_step", "tape", {}, fakes_decay_step);
}

}  // namespace fakes

tn_status* fakes_random_bits(void*, const tn_call* call) {
  return tenon::to_status([&] { fakes::enqueue(call, fakes::random_bits); });
}
tn_status* fakes_decay_step(void*, const tn_call* call) {
  return tenon::to_status([&] { fakes::enqueue(call, fakes::decay_step); });
}
