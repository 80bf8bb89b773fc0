#include "launch/explain.h"

#include <list>
#include <memory>
#include <new>
#include <vector>

#include "base/json_writer.h"
#include "registry/registry.h"

namespace tenon {

// The calls that are open, outermost first, the first is the document's root.
struct Recorder {
  // A call in the recording. Plain members, so that giving up a recording needs no memory: a tree of
  // a JSON library may.
  struct Entry {
    std::string name, device;
    std::vector<std::string> args;               // as JSON
    std::vector<std::string> refusals, kernels;  // as JSON
    std::vector<std::string> notes;
    bool decomposed = false;
    std::list<Entry> calls;
  };

  std::list<Entry> open;
};

namespace {

using Entry = Recorder::Entry;

std::atomic<uint64_t> counters[static_cast<size_t>(Counter::kCount)];
constexpr const char* kCounterNames[] = {"fallbacks", "layout_copies", "decompositions"};

std::string describe(const tn_tensor* t) {
  if (t == nullptr) return "null";
  return fmt::format(R"({{"sizes":{},"dtype":"{}","device":{}}})", sizes_text(t),
                     dtype_name(t->dtype), json_text(device_text(t->device)));
}

Entry* innermost() {
  Recorder* recorder = thread_state.recorder;
  return recorder != nullptr && !recorder->open.empty() ? &recorder->open.back() : nullptr;
}

void write_list(const char* name, const std::vector<std::string>& list, std::string* json) {
  if (list.empty()) return;
  *json += fmt::format(",\"{}\":[", name);
  for (size_t i = 0; i < list.size(); ++i) *json += (i > 0 ? "," : "") + list[i];
  *json += ']';
}

void write_calls(const Entry& entry, std::string* json);

void write_entry(const Entry& entry, std::string* json) {
  *json += fmt::format("{{\"call\":{},\"args\":[", json_text(entry.name));
  for (size_t i = 0; i < entry.args.size(); ++i) *json += (i > 0 ? "," : "") + entry.args[i];
  *json += fmt::format("],\"device\":{}", json_text(entry.device));
  write_list("refusals", entry.refusals, json);
  write_list("kernels", entry.kernels, json);
  if (entry.decomposed) *json += ",\"decomposed\":true";
  write_list("notes", entry.notes, json);
  if (!entry.calls.empty()) {
    *json += ',';
    write_calls(entry, json);
  }
  *json += '}';
}

void write_calls(const Entry& entry, std::string* json) {
  *json += "\"calls\":[";
  for (const Entry& call : entry.calls) {
    if (&call != &entry.calls.front()) *json += ',';
    write_entry(call, json);
  }
  *json += ']';
}

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

ExplainScope::ExplainScope(std::string_view name, std::span<const tn_value> args)
    : recorder_(nullptr) {
  if ((thread_state.modes & kModeExplain) == 0 || thread_state.recorder == nullptr) return;
  std::list<Entry> made(1);
  Entry& entry = made.front();
  entry.name = shown_name(std::string(name));
  for (const tn_value& v : args) {
    for (const tn_tensor* t : tensors_of(v)) entry.args.push_back(describe(t));
  }
  entry.device = device_text(call_device(args));
  recorder_ = thread_state.recorder;
  recorder_->open.splice(recorder_->open.end(), made);
}

ExplainScope::~ExplainScope() {
  // The recording may have ended inside the call.
  if (recorder_ == nullptr || thread_state.recorder != recorder_ || recorder_->open.size() < 2)
    return;
  std::list<Entry>& open = recorder_->open;
  const auto entry = std::prev(open.end());
  std::list<Entry>& calls = std::prev(entry)->calls;
  calls.splice(calls.end(), open, entry);
}

void explain_add_note(std::string note) {
  if (Entry* entry = innermost()) entry->notes.push_back(json_text(note));
}

void explain_kernel(const Kernel& kernel) {
  Entry* entry = innermost();
  if (entry == nullptr || thread_state.recorder->open.size() < 2) return;
  const bool primitive = kernel.def.primitive != TN_PRIM_NONE;
  entry->kernels.push_back(fmt::format(R"({{"plugin":{},"kernel":{},"pair":{}}})",
                                       json_text(kernel.plugin),
                                       json_text(primitive ? std::string_view(kernel.primitive_name)
                                                           : std::string_view(kernel.op_name)),
                                       kernel.is_pair));
}

void explain_decomposed() {
  Entry* entry = innermost();
  if (entry != nullptr && (thread_state.modes & kModeExplain) != 0) entry->decomposed = true;
}

void explain_refusals(const Refusals& refusals) {
  Entry* entry = innermost();
  if (entry == nullptr) return;
  for (const Refusal& r : refusals) {
    entry->refusals.push_back(fmt::format(R"({{"plugin":{},"device":{},"reason":{}}})",
                                          json_text(r.kernel->plugin), json_text(r.kernel->device),
                                          json_text(r.reason)));
  }
}

// Where memory is exhausted there is a mode without a recorder: explain_end says it.
void explain_begin() noexcept {
  delete std::exchange(thread_state.recorder, nullptr);
  thread_state.modes |= kModeExplain;
  try {
    auto recorder = std::make_unique<Recorder>();
    recorder->open.emplace_back();
    thread_state.recorder = recorder.release();
  } catch (const std::bad_alloc&) {
  }
}

std::string explain_end() {
  const bool began = (thread_state.modes & kModeExplain) != 0;
  thread_state.modes &= ~uint32_t{kModeExplain};
  const std::unique_ptr<Recorder> recorder(std::exchange(thread_state.recorder, nullptr));
  if (recorder == nullptr && began) throw std::bad_alloc();
  if (recorder == nullptr) return R"({"calls": []})";
  std::string json = "{";
  write_calls(recorder->open.front(), &json);
  return json += '}';
}

}  // namespace tenon
