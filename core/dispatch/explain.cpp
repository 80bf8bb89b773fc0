#include "dispatch/explain.h"

#include <nlohmann/json.hpp>

#include "dispatch/call.h"
#include "dispatch/registry.h"

namespace tenon {

using Json = nlohmann::ordered_json;

// Entries that are open, outermost first; the first is the document's root.
struct Recorder {
  std::vector<Json> open;
};

namespace {

std::atomic<uint64_t> counters[static_cast<size_t>(Counter::kCount)];
constexpr const char* kCounterNames[] = {"fallbacks", "layout_copies", "decompositions"};

Json describe(const tn_tensor* t) {
  if (t == nullptr) return nullptr;
  return {{"sizes", std::vector<int64_t>(t->sizes, t->sizes + t->ndim)},
          {"dtype", dtype_name(t->dtype)},
          {"device", device_text(t->device)}};
}

Json* innermost() {
  Recorder* recorder = thread_state.recorder;
  return recorder != nullptr && !recorder->open.empty() ? &recorder->open.back() : nullptr;
}

Json new_entry(std::string_view name) { return {{"call", name}, {"args", Json::array()}}; }

}  // namespace

std::string shown_name(const std::string& name) {
  if (name[0] != '_') return name;
  for (size_t end = name.size(); end > 1 && end != name.npos; end = name.rfind('_', end - 1)) {
    const std::string shown = name.substr(1, end - 1);
    const Op* op = nullptr;
    if (!StatusHolder(registry().find(shown, &op))) return shown;
  }
  return name.substr(1);
}

void count_event(Counter counter) {
  counters[static_cast<size_t>(counter)].fetch_add(1, std::memory_order_relaxed);
}

uint64_t counter_value(std::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
    if (name == kCounterNames[i]) return counters[i].load(std::memory_order_relaxed);
  }
  return 0;
}

ExplainScope::ExplainScope(std::string_view name, std::span<const tn_value> args) : recorder_(nullptr) {
  if ((thread_state.modes & kModeExplain) == 0) return;
  recorder_ = thread_state.recorder;
  Json entry = new_entry(shown_name(std::string(name)));
  for (const tn_value& v : args) {
    if (v.kind == TN_TENSOR) entry["args"].push_back(describe(v.as.tensor));
    for (uint32_t i = 0; v.kind == TN_TENSORS && i < v.count; ++i) {
      entry["args"].push_back(describe(v.as.tensors[i]));
    }
  }
  entry["device"] = device_text(call_device(args));
  recorder_->open.push_back(std::move(entry));
}

ExplainScope::~ExplainScope() {
  // The recording may have ended inside the call.
  if (recorder_ == nullptr || thread_state.recorder != recorder_ || recorder_->open.size() < 2) return;
  Json entry = std::move(recorder_->open.back());
  recorder_->open.pop_back();
  recorder_->open.back()["calls"].push_back(std::move(entry));
}

void explain_add_note(std::string note) {
  if (Json* entry = innermost()) (*entry)["notes"].push_back(std::move(note));
}

void explain_kernel(const Kernel& kernel) {
  Json* entry = innermost();
  if (entry == nullptr || thread_state.recorder->open.size() < 2) return;
  const bool primitive = kernel.def.primitive != TN_PRIM_NONE;
  (*entry)["kernels"].push_back(
      {{"plugin", kernel.plugin},
       {"kernel", primitive ? primitive_name(kernel.def.primitive) : kernel.op_name},
       {"pair", kernel.is_pair}});
}

void explain_decomposed() {
  Json* entry = innermost();
  if (entry != nullptr && (thread_state.modes & kModeExplain) != 0) (*entry)["decomposed"] = true;
}

void explain_refusals(const Refusals& refusals) {
  Json* entry = innermost();
  if (entry == nullptr) return;
  for (const Refusal& r : refusals) {
    (*entry)["refusals"].push_back(
        {{"plugin", r.kernel->plugin}, {"device", r.kernel->device}, {"reason", r.reason}});
  }
}

void explain_begin() {
  delete thread_state.recorder;
  thread_state.recorder = new Recorder;
  thread_state.recorder->open.push_back({{"calls", Json::array()}});
  thread_state.modes |= kModeExplain;
}

std::string explain_end() {
  thread_state.modes &= ~uint32_t{kModeExplain};
  Recorder* recorder = std::exchange(thread_state.recorder, nullptr);
  if (recorder == nullptr) return R"({"calls": []})";
  const Json root = std::move(recorder->open.front());
  delete recorder;
  return root.dump();
}

}  // namespace tenon
