#include "capture/compile_list.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "registry/compilers.h"
#include "schema/schema.h"

namespace tenon {
namespace {

using Ids = std::vector<uint32_t>;

bool meet(const Ids& a, const Ids& b) {
  return std::ranges::any_of(a, [&](uint32_t id) { return std::ranges::count(b, id) != 0; });
}

Ids used_by(const Step& step) {
  Ids ids;
  for (const Use& use : step.uses) ids.push_back(use.storage);
  return ids;
}

// What a compiler gets, and the replacing.
class CallList {
 public:
  CallList(LaunchGraph* graph, bool is_exact)
      : graph_(*graph), storages_(graph->storages.data()), is_gone_(graph->steps.size()) {
    for (Step& step : graph_.steps) {
      for (const Use& use : step.uses) {
        if (use.place.storage == nullptr) continue;
        *use.place.storage = name_of(use.storage);
        if (use.place.data != nullptr) *use.place.data = nullptr;
      }
      calls_.push_back(show(step));
    }
    list_ = {sizeof(tn_recorded_list),
             static_cast<uint32_t>(calls_.size()),
             calls_.data(),
             is_exact ? 1 : 0,
             0,
             this,
             replace_calls};
  }
  ~CallList() {
    // What the others show is put there when they have memory.
    for (GraphStorage& s : graph_.storages) {
      if (s.kind != GraphStorage::Kind::kOutside) continue;
      const auto id = static_cast<uint32_t>(&s - storages_);
      for (const Step& step : graph_.steps) {
        for (const Use& use : step.uses) {
          if (use.storage == id && use.place.storage != nullptr) use.place.show(s.storage.get(), 0);
        }
      }
    }
  }
  CallList(const CallList&) = delete;

  Status run(const Compiler& compiler) {
    compiler_ = &compiler;
    const bool concerns =
        std::ranges::any_of(graph_.steps, [&](const Step& step) { return is_own(step); });
    return concerns ? compiler.def.compile(compiler.def.self, &list_) : nullptr;
  }
  void remove_gone() {
    size_t i = 0;
    std::erase_if(graph_.steps, [&](const Step&) { return is_gone_[i++]; });
  }

 private:
  // Storages that are gone may share an address with others: their numbers are their names.
  tn_storage* name_of(uint32_t id) { return reinterpret_cast<tn_storage*>(storages_ + id); }

  static tn_recorded_call show(const Step& step) {
    tn_recorded_call call = {sizeof(tn_recorded_call), 0, "copy", nullptr};
    if (step.kind == Step::Kind::kWrite) call.name = "write";
    if (step.kind != Step::Kind::kLaunch) return call;
    call.name = step.op->schema.name.c_str();
    call.call = step.call.get();
    if (!step.numbers.empty()) call.flags |= TN_RECORDED_CHANGES;
    if (step.random >= 0) call.flags |= TN_RECORDED_RANDOM;
    if (step.fn != step.kernel->def.launch) call.flags |= TN_RECORDED_BACKWARD;
    return call;
  }

  bool is_own(const Step& step) const {
    return step.kind == Step::Kind::kLaunch && step.kernel->device == compiler_->device;
  }

  static tn_status* replace_calls(const tn_recorded_list* list, const tn_replacement* given) {
    return guarded([&]() -> Status {
      if (list == nullptr || given == nullptr) return invalid("replace: an argument is NULL");
      return static_cast<CallList*>(list->host)->replace(*given);
    });
  }

  template <typename... Args>
  Status refuse(const tn_replacement& r, fmt::format_string<Args...> text, Args&&... args) const {
    return invalid("replace: '{}' of {}: {}", r.name != nullptr ? printable(r.name) : "",
                   compiler_->name, fmt::format(text, std::forward<Args>(args)...));
  }

  Status check(const tn_replacement& r) const {
    if (r.size < sizeof(tn_replacement)) return refuse(r, "its size is {}", r.size);
    if (r.launch == nullptr) return refuse(r, "launch is missing");
    if (r.n_calls == 0 || r.calls == nullptr) return refuse(r, "it stands for no call");
    if ((r.n_args > 0 && r.args == nullptr) || (r.n_outputs > 0 && r.outputs == nullptr))
      return refuse(r, "a list is NULL");
    if (list_.is_exact != 0 && (r.traits & TN_KERNEL_SAME_BITS) == 0)
      return refuse(r, "the function is exact, and it does not promise TN_KERNEL_SAME_BITS");
    for (uint32_t i = 0; i < r.n_calls; ++i) {
      const uint32_t at = r.calls[i];
      if (at >= calls_.size()) return refuse(r, "there are {} calls, none {}", calls_.size(), at);
      if (i > 0 && at <= r.calls[i - 1]) return refuse(r, "its calls are not in ascending order");
      if (is_gone_[at]) return refuse(r, "call {} is gone already", at);
      if (!is_own(graph_.steps[at]))
        return refuse(r, "call {} ({}) is none of {}", at, calls_[at].name, compiler_->device);
      if ((calls_[at].flags & (TN_RECORDED_CHANGES | TN_RECORDED_RANDOM)) != 0)
        return refuse(r, "call {} ({}) changes from replay to replay", at, calls_[at].name);
    }
    return nullptr;
  }

  bool are_deterministic(const tn_replacement& r) const {
    return std::all_of(r.calls, r.calls + r.n_calls, [&](uint32_t at) {
      return (graph_.steps[at].kernel->def.traits & TN_KERNEL_DETERMINISTIC) != 0;
    });
  }

  // Nothing between the calls works on what they write, or writes what they work on, so that all of
  // them may come at the place of the last.
  Status check_between(const tn_replacement& r) const {
    for (uint32_t i = 0; i + 1 < r.n_calls; ++i) {
      const Step& moved = graph_.steps[r.calls[i]];
      for (uint32_t k = r.calls[i] + 1; k < r.calls[r.n_calls - 1]; ++k) {
        if (is_gone_[k] || std::count(r.calls, r.calls + r.n_calls, k) != 0) continue;
        const Step& between = graph_.steps[k];
        if (meet(between.written, used_by(moved)) || meet(used_by(between), moved.written))
          return refuse(r, "call {} ({}) works on memory of call {} ({}) before it", k,
                        calls_[k].name, r.calls[i], calls_[r.calls[i]].name);
      }
    }
    return nullptr;
  }

  // What the calls wrote and somebody reads later is written by it, and nothing else.
  Status check_written(const tn_replacement& r, const Ids& written) const {
    Ids before;
    for (uint32_t i = 0; i < r.n_calls; ++i) {
      const Ids& ids = graph_.steps[r.calls[i]].written;
      before.insert(before.end(), ids.begin(), ids.end());
    }
    for (const uint32_t id : written) {
      if (std::ranges::count(before, id) == 0)
        return refuse(r, "it writes memory that its calls do not write");
    }
    for (const uint32_t id : before) {
      if (std::ranges::count(written, id) != 0) continue;
      bool is_read = graph_.storages[id].kind != GraphStorage::Kind::kInside;
      for (size_t k = r.calls[r.n_calls - 1] + 1; k < calls_.size(); ++k)
        is_read =
            is_read || (!is_gone_[k] && std::ranges::count(used_by(graph_.steps[k]), id) != 0);
      if (is_read) return refuse(r, "it does not write what its calls write and others read");
    }
    return nullptr;
  }

  // The storages of the call's tensors, which are those of the calls that go.
  Status note_uses(const tn_replacement& r, Step* step) const {
    Ids known;
    for (uint32_t i = 0; i < r.n_calls; ++i) {
      for (const uint32_t id : used_by(graph_.steps[r.calls[i]])) known.push_back(id);
    }
    const auto note = [&](const tn_tensor* t, bool is_written) -> Status {
      if (t == nullptr) return nullptr;
      const auto* named = reinterpret_cast<const GraphStorage*>(t->storage);
      const auto it =
          std::ranges::find_if(known, [&](uint32_t id) { return storages_ + id == named; });
      if (it == known.end()) return refuse(r, "a tensor is none of its calls'");
      if (is_written) step->written.push_back(*it);
      auto& tensor = *const_cast<tn_tensor*>(t);
      Place place = Place::in(tensor);
      const tn_device device = storages_[*it].device;
      const bool has_address = (device_type(device.type)->def.flags & TN_DEVICE_NO_ADDRESS) == 0;
      if (has_address && tensor.numel > 0) place.data = &tensor.data;  // there was none to show
      tensor.data = nullptr;
      step->uses.push_back({*it, place});
      return nullptr;
    };
    for (uint32_t i = 0; i < step->call->n_outputs; ++i) TN_TRY(note(step->call->outputs[i], true));
    for (uint32_t i = 0; i < step->call->n_args; ++i) {
      for (const tn_tensor* t : tensors_of(step->call->args[i])) TN_TRY(note(t, false));
    }
    return nullptr;
  }

  Status replace(const tn_replacement& r) {
    TN_TRY(check(r));
    TN_TRY(check_between(r));
    for (uint32_t i = 0; i < r.n_args; ++i) {
      const bool of_kernels = r.args[i].kind == TN_KIND_LOOP || r.args[i].kind == TN_KIND_REDUCTION;
      if (of_kernels || !is_sound(r.args[i]))
        return refuse(r, "argument {} is {}", i, value_kind_name(r.args[i]));
    }
    const uint32_t last = r.calls[r.n_calls - 1];
    Step made;
    made.kind = Step::Kind::kLaunch;
    made.op = graph_.steps[last].op;
    tn_call call = *graph_.steps[last].call;
    call.args = r.args;
    call.n_args = r.n_args;
    call.outputs = r.outputs;
    call.n_outputs = r.n_outputs;
    call.random = nullptr;
    made.call = std::make_unique<RepeatedCall>();
    TN_TRY(made.call->make(call));
    TN_TRY(note_uses(r, &made));
    TN_TRY(check_written(r, made.written));
    auto kernel = std::make_unique<OwnKernel>();
    kernel->def.traits = r.traits;
    if ((r.traits & TN_KERNEL_SAME_BITS) != 0 && are_deterministic(r))
      kernel->def.traits |= TN_KERNEL_DETERMINISTIC;  // its bits are theirs
    kernel->def.launch = r.launch;
    kernel->def.self = r.self;
    kernel->op_name = r.name != nullptr ? r.name : compiler_->name;
    kernel->device = compiler_->device;
    kernel->plugin = compiler_->plugin;
    made.kernel = kernel.get();
    made.fn = r.launch;
    made.own_kernel = std::move(kernel);
    for (uint32_t i = 0; i < r.n_calls; ++i) is_gone_[r.calls[i]] = r.calls[i] != last;
    calls_[last].name = made.own_kernel->op_name.c_str();
    made.own_kernel->destroy = r.destroy;  // taken
    // The compiler may hold pointers into the calls that go.
    std::swap(graph_.steps[last], made);
    gone_.push_back(std::move(made));
    return nullptr;
  }

  LaunchGraph& graph_;
  GraphStorage* const storages_;
  const Compiler* compiler_ = nullptr;
  std::vector<tn_recorded_call> calls_;
  std::vector<bool> is_gone_;
  std::vector<Step> gone_;  // that were replaced
  tn_recorded_list list_;
};

}  // namespace

Status run_compilers(LaunchGraph* graph, bool is_exact) {
  const std::vector<Compiler> compilers = all_compilers();
  if (compilers.empty()) return nullptr;
  CallList list(graph, is_exact);
  for (const Compiler& compiler : compilers) {
    if (const Status failed = list.run(compiler)) {
      const tn_code code = failed->code;
      return make_status(code, "the compiler " + compiler.name + " failed", failed);
    }
  }
  list.remove_gone();
  return nullptr;
}

}  // namespace tenon
