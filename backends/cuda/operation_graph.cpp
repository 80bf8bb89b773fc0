#include "operation_graph.h"

#include <algorithm>
#include <utility>

namespace cuda {
namespace {

// A failure is noted in `parts`.
int64_t get(Descriptors& parts, cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
            cudnnBackendAttributeType_t type, int64_t wanted, void* values) {
  int64_t n = 0;
  const cudnnStatus_t result = cudnn.cudnnBackendGetAttribute(from, name, type, wanted, &n, values);
  parts.note(result);
  return result == CUDNN_STATUS_SUCCESS ? n : -1;
}

// What is known of an engine before it becomes a plan.
struct Notes {
  uint64_t numbers = 0, behaviour = 0;  // bits

  bool has(cudnnBackendNumericalNote_t note) const { return (numbers >> note & 1) != 0; }
  bool has(cudnnBackendBehaviorNote_t note) const { return (behaviour >> note & 1) != 0; }

  std::string text() const {
    static constexpr std::pair<cudnnBackendNumericalNote_t, const char*> kNumbers[] = {
        {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, "TENSOR_CORE"},
        {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, "DOWN_CONVERT_INPUTS"},
        {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, "REDUCED_PRECISION_REDUCTION"},
        {CUDNN_NUMERICAL_NOTE_FFT, "FFT"},
        {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, "NONDETERMINISTIC"},
        {CUDNN_NUMERICAL_NOTE_WINOGRAD, "WINOGRAD"}};
    static constexpr std::pair<cudnnBackendBehaviorNote_t, const char*> kBehaviour[] = {
        {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION, "RUNTIME_COMPILATION"},
        {CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API, "CUDA_GRAPH"},
        {CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY, "CUBLASLT"}};
    std::string text;
    const auto add = [&](const auto& named) {
      for (const auto& [note, name] : named) {
        if (has(note)) text += (text.empty() ? "" : " ") + std::string(name);
      }
    };
    add(kNumbers);
    add(kBehaviour);
    return text;
  }
};

// The notes come as lists of numbers.
template <class Note>
uint64_t note_bits(Descriptors& parts, cudnnBackendDescriptor_t engine,
                   cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) {
  Note notes[64];
  const int64_t n = std::min<int64_t>(get(parts, engine, name, type, 64, notes), 64);
  uint64_t bits = 0;
  for (int64_t k = 0; k < n; ++k) bits |= uint64_t{1} << (static_cast<unsigned>(notes[k]) & 63);
  return bits;
}

bool read_notes(Descriptors& parts, cudnnBackendDescriptor_t config, Notes* notes) {
  cudnnBackendDescriptor_t engine = parts.make_empty(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  const bool has = engine && get(parts, config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine) == 1;
  if (has) {
    notes->numbers = note_bits<cudnnBackendNumericalNote_t>(
        parts, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
    notes->behaviour = note_bits<cudnnBackendBehaviorNote_t>(
        parts, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
  }
  if (engine) parts.destroy(engine);
  return has;
}

// Does the engine keep what Tenon promises?
bool is_allowed(const Notes& notes, bool exact) {
  if (notes.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) ||
      notes.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
    return false;
  return !exact || !(notes.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
                     notes.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
}

// What one mode of the heuristics proposes, best first.
std::vector<cudnnBackendDescriptor_t> propose(Descriptors& parts, cudnnBackendDescriptor_t graph,
                                              const Target& target, cudnnBackendHeurMode_t mode) {
  const Attribute of_graph = {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                              1, &graph};
  const Attribute of_mode = {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode};
  const Attribute of_device = {CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                               &target.device};
  constexpr cudnnBackendDescriptorType_t kType = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
  const cudnnBackendDescriptor_t heuristics =
      target.handle ? parts.make(kType, {of_graph, of_mode})
                    : parts.make(kType, {of_graph, of_mode, of_device});
  const int64_t n = heuristics ? get(parts, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr)
                               : 0;
  std::vector<cudnnBackendDescriptor_t> configs;
  for (int64_t k = 0; k < n; ++k) {
    configs.push_back(parts.make_empty(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    if (!configs.back()) return {};
  }
  if (configs.empty()) return configs;
  const int64_t found = get(parts, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, n, configs.data());
  parts.destroy(heuristics);
  while (static_cast<int64_t>(configs.size()) > std::max<int64_t>(found, 0)) {
    parts.destroy(configs.back());
    configs.pop_back();
  }
  return configs;
}

}  // namespace

Descriptors::~Descriptors() {
  for (const cudnnBackendDescriptor_t descriptor : made_)
    cudnn.cudnnBackendDestroyDescriptor(descriptor);
}

bool Descriptors::check(const char* entry, cudnnStatus_t result) {
  note(result);
  if (result != CUDNN_STATUS_SUCCESS && is_whole()) why_ = cudnn_words(entry, result);
  return is_whole();
}

void Descriptors::note(cudnnStatus_t result) {
  lacks_memory_ = lacks_memory_ || lacks_memory(result);
  const auto category = CUDNN_STATUS_CATEGORY(static_cast<int>(result));
  may_pass_ = may_pass_ || !(result == CUDNN_STATUS_SUCCESS || category == CUDNN_STATUS_BAD_PARAM ||
                             category == CUDNN_STATUS_NOT_SUPPORTED);
}

cudnnBackendDescriptor_t Descriptors::make_empty(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t descriptor = nullptr;
  made_.reserve(made_.size() + 1);
  if (!is_whole() ||
      !check("cudnnBackendCreateDescriptor", cudnn.cudnnBackendCreateDescriptor(type, &descriptor)))
    return nullptr;
  made_.push_back(descriptor);
  return descriptor;
}

cudnnBackendDescriptor_t Descriptors::make(cudnnBackendDescriptorType_t type,
                                           std::initializer_list<Attribute> attributes) {
  const cudnnBackendDescriptor_t descriptor = make_empty(type);
  if (!descriptor) return nullptr;
  bool fits = true;
  for (const Attribute& a : attributes) {
    fits = fits &&
           check("cudnnBackendSetAttribute",
                 cudnn.cudnnBackendSetAttribute(descriptor, a.name, a.type, a.count, a.values));
  }
  fits = fits && check("cudnnBackendFinalize", cudnn.cudnnBackendFinalize(descriptor));
  if (!fits) destroy(descriptor);
  return fits ? descriptor : nullptr;
}

void Descriptors::destroy(cudnnBackendDescriptor_t descriptor) {
  if (std::erase(made_, descriptor) > 0) cudnn.cudnnBackendDestroyDescriptor(descriptor);
}

cudnnBackendDescriptor_t make_tensor(Descriptors& descriptors, const GraphTensor& t) {
  return descriptors.make(
      CUDNN_BACKEND_TENSOR_DESCRIPTOR,
      {{CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &t.id},
       {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t.type},
       {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, t.ndim, t.sizes},
       {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, t.ndim, t.strides},
       {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &kGraphAlignment},
       {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &t.is_virtual},
       {CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &t.is_by_value}});
}

cudnnBackendDescriptor_t make_graph(Descriptors& descriptors, const Target& target,
                                    const std::vector<cudnnBackendDescriptor_t>& operations) {
  const Attribute of_operations = {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                   static_cast<int64_t>(operations.size()), operations.data()};
  const Attribute of_handle = {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
                               &target.handle};
  constexpr cudnnBackendDescriptorType_t kType = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
  return target.handle ? descriptors.make(kType, {of_operations, of_handle})
                       : descriptors.make(kType, {of_operations});
}

bool Plan::finish(std::initializer_list<Attribute> attributes, const Target& target) {
  const Attribute of_target =
      target.handle
          ? Attribute{CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &target.handle}
          : Attribute{CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                      &target.device};
  descriptor_ =
      parts_->make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, {of_target, *attributes.begin()});
  return descriptor_ && get(*parts_, descriptor_, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                            CUDNN_TYPE_INT64, 1, &workspace) == 1;
}

std::unique_ptr<Plan> Plan::choose(std::unique_ptr<Descriptors> parts,
                                   cudnnBackendDescriptor_t graph, const Target& target, bool exact,
                                   int64_t most_workspace, Search* search) {
  *search = parts->search();
  if (!graph) return nullptr;
  auto plan = std::make_unique<Plan>();
  plan->parts_ = std::move(parts);
  int proposed = 0;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    const std::vector<cudnnBackendDescriptor_t> configs =
        propose(*plan->parts_, graph, target, mode);
    for (const cudnnBackendDescriptor_t& config : configs) {
      Notes notes;
      ++proposed;
      const bool fits = read_notes(*plan->parts_, config, &notes) && is_allowed(notes, exact) &&
                        plan->finish({{CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config}},
                                     target) &&
                        plan->workspace <= most_workspace;
      *search = plan->parts_->search();
      if (!fits) {
        plan->parts_->forgive();
        continue;
      }
      plan->notes = notes.text();
      for (const cudnnBackendDescriptor_t other : configs) {
        if (other != config) plan->parts_->destroy(other);
      }
      return plan;
    }
    for (const cudnnBackendDescriptor_t other : configs) plan->parts_->destroy(other);
    plan->parts_->forgive();
    *search = plan->parts_->search();
  }
  search->why = proposed == 0
                    ? "cuDNN has no engine for it"
                    : "none of cuDNN's " + std::to_string(proposed) +
                          " engines for it is exact and deterministic, and needs no more memory";
  return nullptr;
}

std::unique_ptr<Plan> Plan::read(const std::string& json, const Target& target, Search* search) {
  auto plan = std::make_unique<Plan>();
  plan->parts_ = std::make_unique<Descriptors>();
  if (plan->finish({{CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                     static_cast<int64_t>(json.size()), json.data()}},
                   target))
    return plan;
  *search = plan->parts_->search();
  return nullptr;
}

std::string Plan::json() const {
  constexpr cudnnBackendAttributeName_t kName = CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
  const int64_t bytes = get(*parts_, descriptor_, kName, CUDNN_TYPE_CHAR, 0, nullptr);
  if (bytes <= 0) return "";
  std::string text(static_cast<size_t>(bytes), '\0');
  if (get(*parts_, descriptor_, kName, CUDNN_TYPE_CHAR, bytes, text.data()) <= 0) return "";
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string Plan::execute(cudnnHandle_t handle, const GraphData& data, void* workspace_data,
                          bool* lacks_memory) {
  const std::lock_guard lock(mutex);
  Descriptors own;
  const cudnnBackendDescriptor_t pack =
      own.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
               {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, data.n, data.ids},
                {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data.n, data.data},
                {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace_data}});
  *lacks_memory = own.search().lacks_memory;
  if (!pack) return own.why();
  const cudnnStatus_t result = cudnn.cudnnBackendExecute(handle, descriptor_, pack);
  *lacks_memory = cuda::lacks_memory(result);
  return result == CUDNN_STATUS_SUCCESS ? "" : cudnn_words("cudnnBackendExecute", result);
}

}  // namespace cuda
