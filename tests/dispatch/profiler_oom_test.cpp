// tn::Profiler where memory is exhausted: whatever allocation fails, what it sees goes on or is an Error
// of its own, events are nested as they were, nothing leaks, and the next run is whole.
#include <thread>

#include <tenon/profiler.hpp>

#include "oom_support.h"

namespace {

using Kind = tn::Profiler::Kind;

// What two runs have in common, but for times: an event in a line, by threads.
struct Seen {
  std::vector<std::string> events;  // "kind name"
  std::vector<int64_t> parents;
};
std::vector<Seen> seen_by(const tn::Profiler& profiler) {
  std::vector<Seen> threads(2);
  int64_t first[2] = {-1, -1};
  for (size_t i = 0; i < profiler.events().size(); ++i) {
    const auto& e = profiler.events()[i];
    Seen& seen = threads.at(size_t(e.thread));
    int64_t& begin = first[e.thread];
    if (begin < 0) begin = int64_t(i);
    seen.events.push_back(std::to_string(int(e.kind)) + " " + e.name);
    seen.parents.push_back(e.parent < 0 ? -1 : e.parent - begin);
  }
  return threads;
}
// "", or what is not as in `whole`, of which one event may be missing.
std::string difference(const Seen& whole, const Seen& part) {
  const size_t n = whole.events.size();
  if (part.events.size() + 1 < n || part.events.size() > n) {
    return std::to_string(part.events.size()) + " events instead of " + std::to_string(n);
  }
  size_t missing = 0;
  while (missing < part.events.size() && part.events[missing] == whole.events[missing]) ++missing;
  if (part.events.size() == n) missing = n;
  const auto number = [&](int64_t at) { return at > int64_t(missing) ? at - 1 : at; };
  for (size_t i = 0; i < part.events.size(); ++i) {
    const size_t of_whole = i < missing ? i : i + 1;
    int64_t parent = whole.parents[of_whole];
    if (parent == int64_t(missing)) parent = whole.parents[missing];
    if (part.events[i] != whole.events[of_whole] || part.parents[i] != number(parent))
      return "event " + std::to_string(i) + ", '" + part.events[i] + "', is in " +
             std::to_string(part.parents[i]) + "; as a whole: '" + whole.events[of_whole] +
             "' in " + std::to_string(number(parent));
  }
  return "";
}
std::string not_nested(const tn::Profiler& profiler) {
  for (const auto& event : profiler.events()) {
    if (event.parent < 0) continue;
    const auto& parent = profiler.events()[size_t(event.parent)];
    if (parent.thread != event.thread || parent.begin_ns > event.begin_ns ||
        parent.end_ns < event.end_ns)
      return event.name + " is not within " + parent.name;
  }
  return "";
}
std::string memory_of(const tn::Profiler& profiler) {
  std::string text;
  for (const auto& row : profiler.alive_at_end())
    text += row.op + " | " + row.layer + " | " + row.tensor + " | " + std::to_string(row.count);
  for (const auto& layer : profiler.layers()) {
    text += "\n" + layer.layer + " " + std::to_string(layer.peak_bytes) + " " +
            std::to_string(layer.at_end_bytes);
  }
  return text;
}

// A step on this thread, and one in a Range of another.
struct Profiled {
  Object model = tn::nn::Sequential(tn::nn::Linear(3, 2), tn::nn::ReLU());
  Tensor x = noise({2, 3}, 1);
  bool other;
  std::vector<Seen> whole, now;
  std::string whole_memory, memory, wrong;
  uint64_t missed = 0;

  explicit Profiled(bool with_other) : other(with_other) {}

  void on_another_thread() {
    std::exception_ptr failure;
    std::thread([&] {
      try {
        const tn::Profiler::Range range("other");
        tn::ones({2}).requires_grad_().square().sum().backward();
      } catch (...) {
        failure = std::current_exception();
      }
    }).join();
    if (failure) std::rethrow_exception(failure);
  }
  void forget() {
    model.zero_grad();
    wrong = memory = std::string();
    now = {};
  }
  void step() {
    const tn::Profiler::Range range("step");
    model.invoke<Tensor>("forward", x).sum().backward();
    if (other) on_another_thread();
  }
  void work() {
    forget();
    tn::Profiler profiler({.memory = true}, model);
    profiler.start();
    std::exception_ptr failure;
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
    profiler.stop();
    wrong = not_nested(profiler), missed = 0;
    if (failure) std::rethrow_exception(failure);
    missed = profiler.missed();
    now = seen_by(profiler);
    memory = memory_of(profiler);
  }
  std::string result() {
    if (!wrong.empty()) return wrong;
    if (whole.empty()) whole = now, whole_memory = memory;
    if (missed > 1) return "more was missed than what failed";
    if (missed == 0 && memory != whole_memory) return "other memory: " + memory + whole_memory;
    for (size_t thread = 0; thread < 2; ++thread) {
      if (missed > 0 && thread == 1 && now[1].events.empty()) continue;
      if (missed == 0 && now[thread].events.size() != whole[thread].events.size())
        return "an event is missing, and nobody says so";
      const std::string found = difference(whole[thread], now[thread]);
      if (!found.empty()) return "thread " + std::to_string(thread) + ": " + found;
    }
    return "";
  }
  Tried tried() {
    return {[this] { forget(); }, [this] { work(); }, [this](const Outcome&) { return wrong; },
            [this] { return result(); }};
  }
};

TEST_F(OutOfMemory, OfAProfiledStepMissesAtMostAnEvent) {
  Profiled here(false);
  try_all("a profiled step", here.tried(), 1);
  Profiled both(true);
  try_all("a profiled step beside a thread", both.tried(), 3);
}

// From one allocation on none succeeds, to the end of the run.
TEST_F(OutOfMemory, FromAnyAllocationOnOfAProfiledStepEndsItPlainly) {
  Profiled both(true);
  Tried tried = both.tried();
  tried.after_success = [&] { return both.wrong; };
  try_all("an exhausted profiled step", tried, 7, failing_memory::kNever);
}

}  // namespace
