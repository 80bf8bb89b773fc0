// A libcudnn of the tests' own: the entries that the plugin uses. Descriptors are checked against the
// documentation's rules (cudnn_descriptor.cpp), and plans run as plain loops on the stream
// (cudnn_run.cpp); those of recurrent layers are in cudnn_rnn.cpp. Heuristics propose an engine that is not deterministic first, then one that rounds
// float32 and wants no workspace, then one that wants some; the fallback proposes one more. A plan of
// the first one ends the process. TENON_FAKE_CUDNN_VERSION=8902 is another version;
// TENON_FAKE_CUDNN_PLANNED=file gets a line for each plan that is made of a configuration, and not of
// its text.
#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>

#include "calls.h"
#include "cudnn_descriptor.h"
#include "cudnn_handle.h"

namespace {

using fake::Child;
using fake::Descriptor;
using fake::die;
using fake::is_handle;
using fake::refuse;

enum Engine { kAnyOrder, kRounding, kExact, kFallback, kEngines };

struct Made : Descriptor {
  Child self;  // as others hold it, once it is final
  // Of a plan: what it executes.
  Child graph;
  std::atomic<bool> is_running = false;
  std::shared_ptr<const int> code =
      std::make_shared<const int>(0);  // the kernels, which go with it
};

std::mutex mutex;
auto& live = *new std::set<const void*>;
auto& contexts = *new std::set<cudnnHandle_t>;
thread_local std::string last_error;

Made* find(cudnnBackendDescriptor_t descriptor) {
  const std::lock_guard lock(mutex);
  if (!live.contains(descriptor)) die("a descriptor that was destroyed, or never made");
  return static_cast<Made*>(descriptor);
}

int64_t workspace_of(int engine) { return engine == kExact ? 4099 : engine == kAnyOrder ? 1 : 0; }

// What the heuristics of a mode propose, best first.
std::vector<int> proposals(const Descriptor& heuristics) {
  const auto mode = heuristics.number<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  if (mode == CUDNN_HEUR_MODE_A) return {kAnyOrder, kRounding, kExact};
  return {kFallback};
}

template <class Note>
cudnnStatus_t give_notes(std::vector<Note> notes, int64_t wanted, int64_t* n, void* values) {
  *n = std::min<int64_t>(wanted, static_cast<int64_t>(notes.size()));
  if (values) std::copy_n(notes.begin(), *n, static_cast<Note*>(values));
  return CUDNN_STATUS_SUCCESS;
}

std::vector<cudnnBackendNumericalNote_t> numerical_notes(int engine) {
  if (engine == kAnyOrder) return {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
  if (engine == kRounding) return {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  return {};
}

cudnnStatus_t give_text(const std::string& text, int64_t wanted, int64_t* n, char* values) {
  *n = static_cast<int64_t>(text.size()) + 1;
  if (values) std::copy_n(text.c_str(), std::min(wanted, *n), values);
  return CUDNN_STATUS_SUCCESS;
}

// Fills configurations, which were made for it.
cudnnStatus_t give_results(const Made& heuristics, int64_t wanted, int64_t* n,
                           cudnnBackendDescriptor_t* values) {
  const std::vector<int> engines = proposals(heuristics);
  *n = static_cast<int64_t>(engines.size());
  if (!values) return CUDNN_STATUS_SUCCESS;
  *n = std::min(*n, wanted);
  for (int64_t k = 0; k < *n; ++k) {
    Made& config = *find(values[k]);
    if (config.type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) die("results are configurations");
    config.engine = engines[static_cast<size_t>(k)];
    config.values[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] =
        heuristics.values.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    config.is_final = true;
    config.self = std::make_shared<Descriptor>(config);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t give_engine(const Made& config, int64_t* n, cudnnBackendDescriptor_t* values) {
  Made& engine = *find(*values);
  if (engine.type != CUDNN_BACKEND_ENGINE_DESCRIPTOR) die("an engine is asked for");
  engine.engine = config.engine;
  engine.is_final = true;
  return *n = 1, CUDNN_STATUS_SUCCESS;
}

// A plan from its configuration or its text.
cudnnStatus_t finish_plan(Made& plan) {
  constexpr auto kConfig = CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG;
  constexpr auto kText = CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
  if (!is_handle(plan.number<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)))
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
  if (plan.has(kConfig) == plan.has(kText))
    return refuse(CUDNN_STATUS_BAD_PARAM, "a plan is of a configuration, or of a text");
  if (plan.has(kConfig)) {
    const Descriptor& config = plan.child(kConfig);
    plan.engine = config.engine;
    plan.graph = config.values.at(CUDNN_ATTR_ENGINE_OPERATION_GRAPH).children[0];
    if (const char* path = std::getenv("TENON_FAKE_CUDNN_PLANNED")) fake::append_line(path, "plan");
    return CUDNN_STATUS_SUCCESS;
  }
  const std::string& text = plan.values.at(kText).bytes;
  int engine = -1, used = 0;
  if (std::sscanf(text.c_str(), "{\"engine\":%d,\"graph\":\"%n", &engine, &used) != 1 ||
      used == 0 || engine < 0 || engine >= kEngines || text.find("\"}") == std::string::npos)
    return refuse(CUDNN_STATUS_BAD_PARAM, "the text is no plan");
  const char* at = text.c_str() + used;
  plan.graph = fake::read(&at, text.c_str() + text.size());
  plan.engine = engine;
  return plan.graph ? CUDNN_STATUS_SUCCESS
                    : refuse(CUDNN_STATUS_BAD_PARAM, "the text of the plan is damaged");
}

std::string plan_text(const Made& plan) {
  std::string graph;
  Descriptor without_handle = *plan.graph;
  without_handle.values.erase(CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  fake::write(without_handle, &graph);
  return "{\"engine\":" + std::to_string(plan.engine) + ",\"graph\":\"" + graph + "\"}";
}

// ---- Execution

struct Work {
  Child graph;
  int engine;
  std::map<int64_t, const void*> data;
  void* workspace;
  std::map<int64_t, double> numbers;  // of the host, read when the plan is executed
  std::weak_ptr<const int> code;
};

void collect_tensors(const Descriptor& of, std::vector<const Descriptor*>* tensors) {
  if (of.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) tensors->push_back(&of);
  for (const auto& [name, value] : of.values) {
    for (const Child& child : value.children) collect_tensors(*child, tensors);
  }
}

// Where the tensors of the graph can be touched; all of each must be live memory of a device.
cudnnStatus_t find_memory(const Work& work, fake::Memory* memory) {
  std::vector<const Descriptor*> tensors;
  collect_tensors(*work.graph, &tensors);
  for (const Descriptor* descriptor : tensors) {
    if (descriptor->is_virtual() || descriptor->is_number()) continue;
    const fake::Tensor t(*descriptor);
    const auto found = work.data.find(t.id);
    if (found == work.data.end()) return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor without memory");
    const auto alignment = descriptor->number<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    if (reinterpret_cast<uintptr_t>(found->second) % static_cast<uintptr_t>(alignment) != 0)
      return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "a tensor is not aligned");
    char* view = tenon_fake_view(found->second, t.reach());
    if (!view) die("a tensor is not live memory of a device");
    (*memory)[t.id] = view;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t read_numbers(Work* work) {
  std::vector<const Descriptor*> tensors;
  collect_tensors(*work->graph, &tensors);
  for (const Descriptor* descriptor : tensors) {
    if (!descriptor->is_number()) continue;
    const int64_t id = fake::Tensor(*descriptor).id;
    const auto found = work->data.find(id);
    if (found == work->data.end()) return refuse(CUDNN_STATUS_BAD_PARAM, "a number is missing");
    work->numbers[id] = *static_cast<const float*>(found->second);
  }
  return CUDNN_STATUS_SUCCESS;
}

void run(const Work& work) {
  fake::Memory memory;
  if (work.code.expired()) die("a plan that went before its work");
  if (find_memory(work, &memory) != CUDNN_STATUS_SUCCESS) die("memory that went before its work");
  if (const int64_t bytes = workspace_of(work.engine); bytes > 0) {
    char* workspace = tenon_fake_view(work.workspace, static_cast<size_t>(bytes));
    if (!workspace) die("the workspace is not live memory of a device");
    std::fill_n(workspace, bytes, '\x5a');
  }
  fake::run_graph(*work.graph, memory, work.numbers, work.engine == kRounding);
}

}  // namespace

namespace fake {

cudnnStatus_t refuse(cudnnStatus_t status, const std::string& why) {
  last_error = why;
  return status;
}

cudnnStatus_t wanted_failure(const char* entry) {
  const int failed = begin_call(entry);
  if (failed == 0) return CUDNN_STATUS_SUCCESS;
  return refuse(static_cast<cudnnStatus_t>(failed), "as the fake was told");
}

bool is_handle(cudnnHandle_t handle) {
  const std::lock_guard lock(mutex);
  return contexts.contains(handle);
}

}  // namespace fake

#pragma GCC visibility push(default)
extern "C" {

size_t cudnnGetVersion() {
  fake::begin_call("cudnnGetVersion");
  const char* other = std::getenv("TENON_FAKE_CUDNN_VERSION");
  return other ? static_cast<size_t>(std::atoi(other)) : CUDNN_VERSION;
}

size_t cudnnGetCudartVersion() {
  fake::begin_call("cudnnGetCudartVersion");
  const char* other = std::getenv("TENON_FAKE_CUDNN_CUDART");
  return other ? static_cast<size_t>(std::atoi(other)) : CUDA_VERSION;
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  fake::begin_call("cudnnGetErrorString");
  return status == CUDNN_STATUS_NOT_INITIALIZED ? "CUDNN_STATUS_NOT_INITIALIZED"
         : status == CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH
             ? "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"
         : status == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                                   : "CUDNN_STATUS";
}

void cudnnGetLastErrorString(char* message, size_t bytes) {
  fake::begin_call("cudnnGetLastErrorString");
  std::snprintf(message, bytes, "%s", last_error.c_str());
}

cudnnStatus_t cudnnGraphVersionCheck() {
  ENTER(cudnnGraphVersionCheck);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  ENTER(cudnnCreate);
  auto made = std::make_unique<cudnnContext>();
  if (cuCtxGetCurrent(&made->context) != CUDA_SUCCESS || !made->context)
    return refuse(CUDNN_STATUS_NOT_INITIALIZED, "no current context");
  const std::lock_guard lock(mutex);
  contexts.insert(*handle = made.release());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  ENTER(cudnnSetStream);
  if (!is_handle(handle)) return refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
  handle->stream = reinterpret_cast<CUstream>(stream);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  ENTER(cudnnBackendCreateDescriptor);
  auto made = std::make_unique<Made>();
  made->type = type;
  const std::lock_guard lock(mutex);
  live.insert(*descriptor = made.release());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  ENTER(cudnnBackendDestroyDescriptor);
  Made* made = find(descriptor);
  if (made->is_running) die("a plan is destroyed while it is executed");
  {
    const std::lock_guard lock(mutex);
    live.erase(descriptor);
  }
  delete made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  ENTER(cudnnBackendSetAttribute);
  ENTER(cudnnBackendSetAttribute);
  Made& made = *find(descriptor);
  if (made.is_final) return refuse(CUDNN_STATUS_BAD_PARAM, "it is finalized already");
  if (!values) return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no values");
  if (const cudnnStatus_t status = fake::check_attribute(made, name, type, count))
    return refuse(status, "attribute " + std::to_string(name) + " is none of its own");
  fake::Value value = {type, count, "", {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (int64_t k = 0; k < count; ++k) {
      const Made& child = *find(static_cast<const cudnnBackendDescriptor_t*>(values)[k]);
      if (!child.is_final)
        return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a child is not finalized");
      value.children.push_back(child.self);
    }
  } else {
    value.bytes.assign(static_cast<const char*>(values),
                       fake::bytes_of(type) * static_cast<size_t>(count));
  }
  made.values[name] = std::move(value);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  ENTER(cudnnBackendFinalize);
  Made& made = *find(descriptor);
  if (made.is_final) return refuse(CUDNN_STATUS_BAD_PARAM, "it is finalized already");
  std::string why;
  if (const cudnnStatus_t status = fake::check_whole(made, &why)) return refuse(status, why);
  if (made.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR &&
      !is_handle(made.number<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE)))
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
  if (made.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    if (const cudnnStatus_t status = finish_plan(made)) return status;
  }
  made.is_final = true;
  made.self = std::make_shared<Descriptor>(made);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted, int64_t* n,
                                       void* values) {
  ENTER(cudnnBackendGetAttribute);
  ENTER(cudnnBackendGetAttribute);
  const Made& made = *find(descriptor);
  if (!made.is_final) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "it is not finalized");
  switch (made.type) {
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS || type != CUDNN_TYPE_BACKEND_DESCRIPTOR) break;
      return give_results(made, wanted, n, static_cast<cudnnBackendDescriptor_t*>(values));
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
      if (name != CUDNN_ATTR_ENGINECFG_ENGINE || type != CUDNN_TYPE_BACKEND_DESCRIPTOR) break;
      return give_engine(made, n, static_cast<cudnnBackendDescriptor_t*>(values));
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE && type == CUDNN_TYPE_NUMERICAL_NOTE)
        return give_notes(numerical_notes(made.engine), wanted, n, values);
      if (name == CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE && type == CUDNN_TYPE_BEHAVIOR_NOTE)
        return give_notes<cudnnBackendBehaviorNote_t>(
            {CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API}, wanted, n, values);
      break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && type == CUDNN_TYPE_INT64) {
        *static_cast<int64_t*>(values) = workspace_of(made.engine);
        return *n = 1, CUDNN_STATUS_SUCCESS;
      }
      if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION && type == CUDNN_TYPE_CHAR)
        return give_text(plan_text(made), wanted, n, static_cast<char*>(values));
      break;
    default:
      break;
  }
  return refuse(CUDNN_STATUS_NOT_SUPPORTED, "no such attribute to ask for");
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  ENTER(cudnnBackendExecute);
  Made &executed = *find(plan), &of_call = *find(pack);
  if (!is_handle(handle)) return refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
  if (executed.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      of_call.type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR || !executed.is_final ||
      !of_call.is_final)
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a plan and a variant pack are executed");
  CUcontext current = nullptr;
  if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != handle->context)
    return refuse(CUDNN_STATUS_BAD_PARAM, "the handle's context is not current");
  if (executed.engine == kAnyOrder) die("an engine that is not deterministic is executed");
  if (executed.is_running.exchange(true)) die("two threads execute one plan");
  auto work =
      std::make_unique<Work>(Work{executed.graph, executed.engine, {}, nullptr, {}, executed.code});
  const auto ids = of_call.list(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = of_call.list(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (size_t k = 0; k < ids.size(); ++k)
    work->data[ids[k]] = reinterpret_cast<const void*>(pointers[k]);
  if (of_call.has(CUDNN_ATTR_VARIANT_PACK_WORKSPACE))
    work->workspace = of_call.number<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  fake::Memory memory;
  cudnnStatus_t status = find_memory(*work, &memory);
  if (!status) status = read_numbers(work.get());
  const auto bytes = static_cast<size_t>(workspace_of(executed.engine));
  if (!status && bytes > 0 && !tenon_fake_view(work->workspace, bytes))
    status = refuse(CUDNN_STATUS_BAD_PARAM, "no workspace of the size that the plan wants");
  const auto on_stream = [](void* context) { run(*static_cast<Work*>(context)); };
  const auto release_work = [](void* context) { delete static_cast<Work*>(context); };
  if (!status && !tenon_fake_put(handle->stream, "cudnnBackendExecute", on_stream, work.release(),
                                 release_work))
    status = refuse(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH, "no such stream");
  executed.is_running = false;
  return status;
}

}  // extern "C"
#pragma GCC visibility pop
