#include "capture/device_replay.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "capture/capture.h"
#include "memory/hazards.h"
#include "memory/transfer.h"
#include "primitive/convert.h"
#include "registry/arguments.h"
#include "tensor/slots.h"
#include "tensor/view.h"

namespace tenon {
namespace {

using Where = GraphStorage::Kind;

bool has_graphs(tn_device device) {
  const tn_device_def& def = device_type(device.type)->def;
  return def.capture_begin != nullptr && def.capture_end != nullptr &&
         def.graph_launch != nullptr && def.graph_destroy != nullptr &&
         def.stream_create != nullptr;
}

bool is_cpu(tn_device device) { return device.type == TN_DEVICE_CPU; }

tn_device device_of(const LaunchGraph& graph, const Step& step) {
  return step.kind == Step::Kind::kLaunch ? step.call->device : graph.storages[step.to].device;
}

// Bytes of the cpu, which are there before the graph is launched.
bool is_upload(const LaunchGraph& graph, const Step& step) {
  return step.kind == Step::Kind::kCopy && is_cpu(graph.storages[step.from].device) &&
         !is_cpu(graph.storages[step.to].device);
}

// Does the step work on memory of this device alone, numbers apart that are read before?
bool stays_on(const LaunchGraph& graph, const Step& step, tn_device device) {
  if (is_upload(graph, step)) return true;
  return std::ranges::all_of(step.uses, [&](const Use& use) {
    const bool is_number = std::ranges::any_of(
        step.numbers, [&](const auto& number) { return &number->storage == use.place.storage; });
    return is_number || graph.storages[use.storage].device == device;
  });
}

}  // namespace

std::unique_ptr<DeviceReplay> DeviceReplay::of(const LaunchGraph& graph) {
  tn_device device = kCpu;
  for (const Step& step : graph.steps) {
    const tn_device here = device_of(graph, step);
    if (is_cpu(device)) device = here;
    if (!is_cpu(here) && !(here == device)) return nullptr;
    if (!stays_on(graph, step, here)) return nullptr;
    if (is_cpu(here) || step.kind != Step::Kind::kLaunch) continue;
    if ((step.kernel->def.traits & TN_KERNEL_CAPTURE_SAFE) == 0) return nullptr;
  }
  if (is_cpu(device) || !has_graphs(device)) return nullptr;
  return std::unique_ptr<DeviceReplay>(new DeviceReplay(device));
}

DeviceReplay::~DeviceReplay() { destroy(); }

void DeviceReplay::destroy() {
  if (handle_ != nullptr) destroy_graph(std::exchange(handle_, nullptr));
}

bool DeviceReplay::is_here(const Step& step) const {
  return step.kind == Step::Kind::kLaunch && step.call->device == device_;
}

DeviceReplay::Span DeviceReplay::span_of(const GraphStorage& s,
                                         std::span<tn_tensor* const> arguments) {
  const tn_tensor* first = arguments[s.from];
  Span span{first->byte_offset, first->byte_offset};
  for (const tn_tensor* t : arguments) {
    if (t == nullptr || t->storage != first->storage) continue;
    uint64_t last = t->byte_offset;
    for (int32_t d = 0; d < t->ndim; ++d)
      last += static_cast<uint64_t>((t->sizes[d] - 1) * t->strides[d]) * kItemSize[t->dtype];
    if (t->numel > 0) span.end = std::max(span.end, last + kItemSize[t->dtype]);
    span.begin = std::min(span.begin, t->byte_offset);
  }
  return span;
}

// All memory that the graph works on. Arguments of the device have a place of their own, which
// begins as far behind a cache line as they do.
Status DeviceReplay::take_memory(LaunchGraph& graph, std::span<tn_tensor* const> arguments) {
  inputs_.resize(graph.storages.size());
  for (size_t i = 0; i < graph.storages.size(); ++i) {
    GraphStorage& s = graph.storages[i];
    if (s.kind == Where::kArgument && is_cpu(s.device)) {
      const tn_tensor* t = arguments[s.from];
      s.put(t->storage, t->byte_offset - s.start);
    } else if (s.kind == Where::kArgument) {
      const Span span = span_of(s, arguments);
      const uint64_t before = arguments[s.from]->byte_offset - span.begin;  // its first argument
      const uint64_t begin = s.start - before, behind = begin % 64;
      if (!inputs_[i]) {
        tn_storage* made;
        TN_TRY(allocate_storage(s.device, nullptr, behind + span.end - span.begin, &made));
        inputs_[i] = StorageRef(made);
      }
      s.put(inputs_[i].get(), behind - begin);
    } else if (s.kind == Where::kLeft && !s.storage) {
      tn_storage* made;
      TN_TRY(allocate_storage(s.device, nullptr, s.bytes, &made));
      const StorageRef hold(made);
      s.put(made, 0);
    }
  }
  return nullptr;
}

// Values of the arguments to where the graph finds them, and what it wrote back.
Status DeviceReplay::copy_arguments(const LaunchGraph& graph, std::span<tn_tensor* const> arguments,
                                    bool back) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const GraphStorage& s = graph.storages[i];
    if (!inputs_[i] || (back && !s.is_written)) continue;
    const Span span = span_of(s, arguments);
    tn_storage* theirs = arguments[s.from]->storage;
    const uint64_t at = span.begin + s.shift + s.start - arguments[s.from]->byte_offset;
    if (!back) {
      TN_TRY(copy_bytes(inputs_[i].get(), at, theirs, span.begin, span.end - span.begin));
      continue;
    }
    const auto shows = [&](const tn_tensor* t) { return t != nullptr && t->storage == theirs; };
    if (std::ranges::any_of(
            arguments, [&](const tn_tensor* t) { return shows(t) && may_overlap(as_tensor(t)); })) {
      TN_TRY(copy_bytes(theirs, span.begin, inputs_[i].get(), at, span.end - span.begin));
      version_of(theirs).fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    // Element by element: what lies between them is others', who may be writing it.
    for (tn_tensor* t : arguments) {
      if (!shows(t)) continue;
      const uint64_t begin = at + (t->byte_offset - span.begin);
      inputs_[i]->retain();
      const TensorRef ours(make_tensor(inputs_[i].get(), as_tensor(t)->size_span(), t->strides,
                                       static_cast<int64_t>(begin / kItemSize[t->dtype]),
                                       t->dtype));
      TN_TRY(copy_into(as_tensor(t), ours.get()));
    }
  }
  return nullptr;
}

std::vector<const void*> DeviceReplay::addresses(const LaunchGraph& graph) const {
  std::vector<const void*> all;
  for (const GraphStorage& s : graph.storages) {
    const void* begin = s.storage && !is_cpu(s.device) ? s.storage->memory : nullptr;
    all.push_back(begin);
    all.push_back(reinterpret_cast<const void*>(begin != nullptr ? s.shift : 0));
  }
  return all;
}

DeviceReplay::Live& DeviceReplay::live(uint64_t count, tn_dtype dtype) {
  Live& made = live_.emplace_back();
  made.size = static_cast<int64_t>(count);
  made.stride = 1;
  tn_tensor& t = made.tensor;
  t.sizes = &made.size;
  t.strides = &made.stride;
  t.numel = made.size;
  t.ndim = 1;
  t.dtype = dtype;
  t.device = device_;
  t.flags = TN_TENSOR_CONTIGUOUS | TN_TENSOR_BORROWED;
  t.byte_offset = block_.size() * sizeof(uint64_t);
  block_.resize(block_.size() + count);
  return made;
}

// Each call finds its part of the block, in the order of `upload`.
void DeviceReplay::attach_live(LaunchGraph& graph) {
  live_.clear();
  block_.clear();
  for (Step& step : graph.steps) {
    if (!is_here(step)) continue;
    if (step.random >= 0)
      const_cast<tn_random*>(step.call->random)->state = &live(2, TN_INT64).tensor;
    const bool is_loop = step.call->n_args > 0 && step.call->args[0].kind == TN_KIND_LOOP;
    if (is_loop && !step.numbers.empty()) {
      auto* loop = const_cast<tn_loop*>(step.call->args[0].as.loop);
      loop->live_params = &live(loop->program->n_params, TN_INT64).tensor;
    }
    for (const auto& number : step.numbers) {
      if (number->argument == nullptr) continue;
      const bool is_float = number->argument->kind == TN_KIND_FLOAT;
      number->live = &live(1, is_float ? TN_FLOAT64 : TN_INT64).tensor;
    }
  }
}

void DeviceReplay::detach_live(LaunchGraph& graph) {
  for (Step& step : graph.steps) {
    if (!is_here(step)) continue;
    if (step.random >= 0) const_cast<tn_random*>(step.call->random)->state = nullptr;
    if (step.call->n_args > 0 && step.call->args[0].kind == TN_KIND_LOOP)
      const_cast<tn_loop*>(step.call->args[0].as.loop)->live_params = nullptr;
  }
}

// What the function does on the cpu, and what its calls on the device take from there: in their
// order, for the memory of the cpu is used again.
Status DeviceReplay::run_on_host(LaunchGraph& graph, const RandomState& random) {
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    Step& step = graph.steps[i];
    if (is_cpu(device_of(graph, step))) {
      TN_TRY(graph.run(step, random));
    } else if (is_upload(graph, step)) {
      graph.come_to(&step);
      const GraphStorage& from = graph.storages[step.from];
      TN_TRY(copy_bytes(constants_[i].get(), 0, from.storage.get(), step.from_offset + from.shift,
                        step.bytes));
    } else {
      for (const auto& number : step.numbers) number->read();
    }
  }
  return nullptr;
}

Status DeviceReplay::upload(LaunchGraph& graph, const RandomState& random) {
  if (block_.empty()) return nullptr;
  auto at = block_.begin();
  for (const Step& step : graph.steps) {
    if (!is_here(step)) continue;
    if (step.random >= 0) {
      *at++ = random.seed;
      *at++ = random.offset + static_cast<uint64_t>(step.random);
    }
    const tn_value* args = step.call->args;
    if (step.call->n_args > 0 && args[0].kind == TN_KIND_LOOP && !step.numbers.empty()) {
      const tn_loop& loop = *args[0].as.loop;
      for (uint32_t i = 0; i < loop.program->n_params; ++i)
        *at++ = static_cast<uint64_t>(loop.params[i].i);
    }
    for (const auto& number : step.numbers) {
      if (number->argument != nullptr) *at++ = static_cast<uint64_t>(number->argument->as.i);
    }
  }
  return write_bytes(device_block_.get(), 0, block_.data(), block_.size() * sizeof(uint64_t));
}

// Behind whatever other streams do with this memory.
Status DeviceReplay::order(const LaunchGraph& graph, Stream* stream) const {
  for (const GraphStorage& s : graph.storages) {
    if (!s.storage || is_cpu(s.device)) continue;
    TN_TRY(use_storage(s.storage.get(), stream, s.kind != Where::kOutside || s.is_written));
  }
  for (const StorageRef& constant : constants_) {
    if (constant) TN_TRY(use_storage(constant.get(), stream, true));
  }
  for (size_t i = 0; handle_ != nullptr && i < handle_->workspaces.size(); ++i)
    TN_TRY(use_storage(handle_->workspaces[i].get(), stream, true));
  return device_block_ ? use_storage(device_block_.get(), stream, false) : nullptr;
}

Status DeviceReplay::record_steps(LaunchGraph& graph) {
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    Step& step = graph.steps[i];
    if (is_cpu(device_of(graph, step))) continue;
    if (step.kind == Step::Kind::kLaunch) {
      std::vector<tn_value> numbers;
      for (const auto& number : step.numbers) {
        if (number->argument == nullptr) continue;
        numbers.push_back(*number->argument);
        *number->argument = tensor_value(const_cast<tn_tensor*>(number->live));
      }
      const Status failed = relaunch(*step.kernel, step.fn, step.op, step.call.get());
      size_t n = 0;
      for (const auto& number : step.numbers) {
        if (number->argument != nullptr) *number->argument = numbers[n++];
      }
      TN_TRY(failed);
      continue;
    }
    const GraphStorage& to = graph.storages[step.to];
    const bool is_constant = step.kind == Step::Kind::kWrite || is_upload(graph, step);
    const GraphStorage* from = is_constant ? nullptr : &graph.storages[step.from];
    TN_TRY(copy_bytes(to.storage.get(), step.to_offset + to.shift,
                      is_constant ? constants_[i].get() : from->storage.get(),
                      is_constant ? 0 : step.from_offset + from->shift, step.bytes));
  }
  return nullptr;
}

// The block, and constants with their values.
Status DeviceReplay::take_own_memory(const LaunchGraph& graph) {
  const auto allocate = [&](uint64_t bytes, StorageRef* storage) -> Status {
    tn_storage* made;
    TN_TRY(allocate_storage(device_, nullptr, bytes, &made));
    *storage = StorageRef(made);
    return nullptr;
  };
  if (!block_.empty()) {
    TN_TRY(allocate(block_.size() * sizeof(uint64_t), &device_block_));
    for (Live& l : live_) {
      l.tensor.storage = device_block_.get();
      if (device_block_->memory != nullptr &&
          (device_type(device_.type)->def.flags & TN_DEVICE_NO_ADDRESS) == 0)
        l.tensor.data = static_cast<char*>(device_block_->memory) + l.tensor.byte_offset;
    }
  }
  constants_.resize(graph.steps.size());
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    const Step& step = graph.steps[i];
    const bool is_write = step.kind == Step::Kind::kWrite && !is_cpu(device_of(graph, step));
    if (constants_[i] || !(is_write || is_upload(graph, step))) continue;
    TN_TRY(allocate(step.bytes, &constants_[i]));
    if (is_write) TN_TRY(write_bytes(constants_[i].get(), 0, step.values.data(), step.bytes));
  }
  return nullptr;
}

// Nothing is allocated, and nothing is waited for, between the beginning and the end.
Status DeviceReplay::capture(LaunchGraph& graph) {
  destroy();
  attach_live(graph);
  Status failed = guarded([&]() -> Status {
    TN_TRY(take_own_memory(graph));
    Stream* stream;
    TN_TRY(current_stream(device_, &stream));
    TN_TRY(order(graph, stream));
    TN_TRY(begin_capture(device_));
    StatusHolder recorded(guarded([&] { return record_steps(graph); }));
    StatusHolder ended(end_capture(&handle_));
    return recorded ? recorded.take() : ended.take();
  });
  detach_live(graph);  // the calls may be launched one by one now
  if (failed != nullptr) {
    destroy();
    return failed;
  }
  captured_at_ = addresses(graph);
  return nullptr;
}

// Results are the caller's alone, and the graph's memory is written again: they are copied.
Status DeviceReplay::leave(LaunchGraph& graph, std::span<tn_tensor*> given) {
  graph.leave_gradients();
  for (size_t i = 0; i < graph.results.size(); ++i) {
    given[i] = nullptr;
    const LeftTensor* result = graph.results[i].get();
    if (result == nullptr) continue;
    GraphStorage& s = graph.storages[result->storage];
    const bool is_first = std::ranges::none_of(
        std::span(graph.results).first(i),
        [&](const auto& r) { return r != nullptr && r->storage == result->storage; });
    if (!s.is_gradient && is_first) {
      tn_storage* made;
      TN_TRY(allocate_storage(s.device, nullptr, s.bytes, &made));
      s.given = StorageRef(made);
      TN_TRY(copy_bytes(made, 0, s.storage.get(), 0, s.bytes));
    }
    given[i] = result->make(s.is_gradient ? s.storage.get() : s.given.get());
  }
  for (GraphStorage& s : graph.storages) s.given = {};
  return nullptr;
}

Status DeviceReplay::replay(LaunchGraph& graph, std::span<tn_tensor* const> arguments,
                            std::span<tn_tensor*> given, bool* captured) {
  *captured = true;
  graph.place_gradients();
  graph.let_go_of_gradients();
  TN_TRY(take_memory(graph, arguments));
  if (handle_ == nullptr || addresses(graph) != captured_at_) {
    *captured = false;
    TN_TRY(capture(graph));
    *captured = true;
  }
  // The process's numbers move on, whether or not somebody reads these.
  const RandomState random =
      graph.n_random > 0 ? next_random_state(static_cast<uint64_t>(graph.n_random)) : RandomState{};
  TN_TRY(run_on_host(graph, random));
  graph.come_to(graph.steps.data() + graph.steps.size());
  TN_TRY(copy_arguments(graph, arguments, false));
  TN_TRY(upload(graph, random));
  Stream* stream;
  TN_TRY(current_stream(device_, &stream));
  TN_TRY(order(graph, stream));
  TN_TRY(launch_graph(handle_, device_));
  note_launch(stream, "compiled function");
  for (const Step& step : graph.steps) {
    if (!is_cpu(device_of(graph, step))) graph.count_writes(step);
  }
  TN_TRY(copy_arguments(graph, arguments, true));
  return leave(graph, given);
}

}  // namespace tenon
