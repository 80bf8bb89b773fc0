// Answers to "why": what each call of this thread did, recorded while explain/1 is on, and counters
// of the process. The call path tells it things only when the mode bit is set.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "launch/launch.h"

namespace tenon {

enum class Counter { kFallbacks, kLayoutCopies, kDecompositions, kCount };
void count_event(Counter counter);
// What users are shown of an op's name: a private op that stands for a public one begins with its
// name, "_batch_norm" with "batch_norm".
std::string shown_name(const std::string& name);
uint64_t counter_value(
    std::string_view name);  // "fallbacks", "layout_copies", "decompositions"; 0 for others

// An entry opens with a call and closes when it returns; entries nest.
class ExplainScope {
 public:
  ExplainScope(std::string_view name, std::span<const tn_value> args);
  ~ExplainScope();
  ExplainScope(const ExplainScope&) = delete;

 private:
  Recorder* recorder_;
};

void explain_add_note(std::string note);
template <typename... Args>
void explain_note(fmt::format_string<Args...> format, Args&&... args) {
  if ((thread_state.modes & kModeExplain) != 0) [[unlikely]] {
    explain_add_note(fmt::format(format, std::forward<Args>(args)...));
  }
}
void explain_kernel(const Kernel& kernel);
void explain_decomposed();
void explain_refusals(const Refusals& refusals);

void explain_begin() noexcept;
// The JSON document of explain/1.
std::string explain_end();

}  // namespace tenon
