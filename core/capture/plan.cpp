#include "capture/plan.h"

#include <algorithm>
#include <numeric>

#include "tensor/device.h"

namespace tenon {
namespace {

using Where = GraphStorage::Kind;

// Memory that one storage needs, or several whose results are written over another's.
struct Block {
  tn_device device;
  uint64_t bytes, offset;
  int64_t first, last;  // steps
  bool is_placed;

  bool meets(const Block& other) const {
    return device == other.device && first <= other.last && other.first <= last;
  }
};

class MemoryPlan {
 public:
  explicit MemoryPlan(LaunchGraph* graph) : graph_(*graph), block_of_(graph->storages.size()) {}

  Status run() {
    find_lifetimes();
    std::iota(block_of_.begin(), block_of_.end(), size_t{0});
    for (size_t i = 0; i < graph_.steps.size(); ++i) write_over_inputs(i);
    make_blocks();
    place_blocks();
    return take_arenas();
  }

 private:
  void find_lifetimes() {
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      for (const Use& use : graph_.steps[i].uses) {
        GraphStorage& s = graph_.storages[use.storage];
        if (s.first < 0) s.first = static_cast<int64_t>(i);
        s.last = static_cast<int64_t>(i);
        if (use.place.storage != nullptr) s.places.push_back(use.place);
      }
    }
  }

  bool is_inside(uint32_t id) const {
    return graph_.storages[id].kind == Where::kInside && graph_.storages[id].first >= 0;
  }

  // The result of a loop lies where an input of the same geometry lay, which no later step reads.
  void write_over_inputs(size_t at) {
    const Step& step = graph_.steps[at];
    if (step.kind != Step::Kind::kLaunch || step.call->n_args == 0 ||
        step.call->args[0].kind != TN_KIND_LOOP)
      return;
    const tn_loop& loop = *step.call->args[0].as.loop;
    const uint32_t n_outputs = loop.program->n_outputs;
    const auto now = static_cast<int64_t>(at);
    // The operands are noted first, in their order.
    for (uint32_t o = 0; o < n_outputs; ++o) {
      const uint32_t out = step.uses[o].storage;
      if (!is_inside(out) || graph_.storages[out].first != now || block_of_[out] != out) continue;
      for (uint32_t i = n_outputs; i < n_outputs + loop.program->n_inputs; ++i) {
        const uint32_t in = step.uses[i].storage;
        if (!is_inside(in) || graph_.storages[in].last != now || is_taken(in, now)) continue;
        if (!is_same_place(loop, step, o, i)) continue;
        if (std::ranges::count(step.uses, in, &Use::storage) != 1) continue;
        block_of_[out] = root_of(in);
        break;
      }
    }
  }

  // Was its memory given to another result of this step?
  bool is_taken(uint32_t in, int64_t now) const {
    for (const Use& use : graph_.steps[static_cast<size_t>(now)].uses) {
      if (use.storage != in && block_of_[use.storage] != use.storage &&
          root_of(use.storage) == root_of(in) && graph_.storages[use.storage].first == now)
        return true;
    }
    return false;
  }

  bool is_same_place(const tn_loop& loop, const Step& step, uint32_t a, uint32_t b) const {
    const tn_operand &x = loop.operands[a], &y = loop.operands[b];
    return x.dtype == y.dtype && step.uses[a].place.offset == step.uses[b].place.offset &&
           std::equal(x.strides, x.strides + loop.ndim, y.strides) &&
           graph_.storages[step.uses[a].storage].bytes ==
               graph_.storages[step.uses[b].storage].bytes;
  }

  size_t root_of(size_t id) const {
    while (block_of_[id] != id) id = block_of_[id];
    return id;
  }

  void make_blocks() {
    blocks_.resize(graph_.storages.size());
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      if (!is_inside(i)) continue;
      const GraphStorage& s = graph_.storages[i];
      graph_.inside_bytes += s.bytes;
      Block& block = blocks_[root_of(i)];
      if (block.bytes == 0) block = {s.device, s.bytes, 0, s.first, s.last, false};
      block.bytes = std::max(block.bytes, s.bytes);
      block.first = std::min(block.first, s.first);
      block.last = std::max(block.last, s.last);
    }
  }

  // The largest first, each at the lowest place that is free while it lives.
  void place_blocks() {
    std::vector<Block*> order;
    for (Block& block : blocks_) {
      if (block.bytes > 0) order.push_back(&block);
    }
    std::ranges::stable_sort(order, std::greater<>(), &Block::bytes);
    std::vector<const Block*> placed, near;
    for (Block* block : order) {
      near.clear();
      for (const Block* other : placed) {
        if (block->meets(*other)) near.push_back(other);
      }
      std::ranges::sort(near, std::less<>(), &Block::offset);
      for (const Block* other : near) {
        if (other->offset >= block->offset + block->bytes) break;
        block->offset = std::max(block->offset, aligned(*other, other->offset + other->bytes));
      }
      placed.push_back(block);
    }
  }

  static uint64_t aligned(const Block& block, uint64_t offset) {
    const auto step =
        static_cast<uint64_t>(std::max(64, device_type(block.device.type)->def.alignment));
    return (offset + step - 1) / step * step;
  }

  Status take_arenas() {
    struct Arena {
      tn_device device;
      uint64_t bytes;
      StorageRef storage;
    };
    std::vector<Arena> arenas;
    const auto arena_of = [&](tn_device device) -> Arena& {
      const auto it = std::ranges::find_if(arenas, [&](Arena& a) { return a.device == device; });
      return it != arenas.end() ? *it : arenas.emplace_back(Arena{device, 0, {}});
    };
    for (const Block& block : blocks_) {
      if (block.bytes == 0) continue;
      Arena& arena = arena_of(block.device);
      arena.bytes = std::max(arena.bytes, block.offset + block.bytes);
    }
    for (Arena& arena : arenas) {
      tn_storage* made;
      TN_TRY(allocate_storage(arena.device, nullptr, arena.bytes, &made));
      arena.storage = StorageRef(made);
      graph_.own_bytes += arena.bytes;
    }
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      if (!is_inside(i)) continue;
      GraphStorage& s = graph_.storages[i];
      if (s.bytes == 0) {
        tn_storage* made;
        TN_TRY(allocate_storage(s.device, nullptr, 0, &made));
        const StorageRef hold(made);
        s.put(made, 0);
      } else {
        s.put(arena_of(s.device).storage.get(), blocks_[root_of(i)].offset);
      }
    }
    return nullptr;
  }

  LaunchGraph& graph_;
  std::vector<size_t> block_of_;  // of each storage: itself, or the one that it is written over
  std::vector<Block> blocks_;     // of those that have their own
};

constexpr uint64_t kWorthRecomputing = 64 << 10;  // bytes

// Where each storage is used and written, by steps.
class Recomputing {
 public:
  explicit Recomputing(LaunchGraph* graph)
      : graph_(*graph),
        uses_(graph->storages.size()),
        writes_(graph->storages.size()),
        is_needed_(graph->storages.size()),
        is_split_(graph->storages.size()) {
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      for (const Use& use : graph_.steps[i].uses) {
        if (uses_[use.storage].empty() || uses_[use.storage].back() != i)
          uses_[use.storage].push_back(i);
      }
      for (const uint32_t id : graph_.steps[i].written) writes_[id].push_back(i);
    }
  }

  Status run() {
    const size_t peak = find_peak();
    std::vector<Again> all;
    for (uint32_t id = 0; id < uses_.size(); ++id) {
      Again again;
      if (is_candidate(id, peak, &again)) all.push_back(again);
    }
    std::ranges::stable_sort(all, std::less<>(), &Again::before);
    return insert(all);
  }

 private:
  struct Again {
    uint32_t storage;
    size_t step, before;  // the one that makes it, and the one that reads it again
  };

  // The step at which the most memory of the function's own lives.
  size_t find_peak() const {
    std::vector<int64_t> change(graph_.steps.size() + 1);
    for (uint32_t id = 0; id < uses_.size(); ++id) {
      if (graph_.storages[id].kind != Where::kInside || uses_[id].empty()) continue;
      change[uses_[id].front()] += static_cast<int64_t>(graph_.storages[id].bytes);
      change[uses_[id].back() + 1] -= static_cast<int64_t>(graph_.storages[id].bytes);
    }
    std::partial_sum(change.begin(), change.end(), change.begin());
    return static_cast<size_t>(std::ranges::max_element(change) - change.begin());
  }

  static bool is_cheap(const Step& step) {
    if (step.kind != Step::Kind::kLaunch || step.random >= 0 || !step.numbers.empty() ||
        step.own_kernel != nullptr || step.fn != step.kernel->def.launch)
      return false;
    const tn_primitive primitive = step.kernel->def.primitive;
    return (primitive == TN_PRIM_ELEMENTWISE || primitive == TN_PRIM_COPY) &&
           step.written.size() == 1;
  }

  bool is_candidate(uint32_t id, size_t peak, Again* again) {
    const GraphStorage& s = graph_.storages[id];
    if (s.kind != Where::kInside || s.bytes < kWorthRecomputing || is_needed_[id] ||
        writes_[id].size() != 1)
      return false;
    const auto next = std::ranges::upper_bound(uses_[id], peak);
    if (next == uses_[id].begin() || next == uses_[id].end() || *(next - 1) == peak) return false;
    *again = {id, writes_[id][0], *next};
    const Step& made_by = graph_.steps[again->step];
    if (!is_cheap(made_by) || again->step != uses_[id].front()) return false;
    for (const Use& use : made_by.uses) {
      if (use.storage != id && !is_there(use.storage, *again)) return false;
    }
    for (const Use& use : made_by.uses) is_needed_[use.storage] = true;
    is_split_[id] = true;
    return true;
  }

  // Does it hold then what it held, and lives until then without this?
  bool is_there(uint32_t id, const Again& again) const {
    const bool lives = graph_.storages[id].kind != Where::kInside ||
                       (!is_split_[id] && uses_[id].back() >= again.before);
    return lives && std::ranges::none_of(writes_[id], [&](size_t step) {
             return step >= again.step && step < again.before;
           });
  }

  Status insert(const std::vector<Again>& all) {
    std::vector<Step> steps;
    auto next = all.begin();
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      for (; next != all.end() && next->before == i; ++next) {
        Step step;
        TN_TRY(copy_of(graph_.steps[next->step], *next, &step));
        steps.push_back(std::move(step));
      }
      steps.push_back(Step());  // their copies are made of those that are still in the list
    }
    size_t at = 0;
    for (Step& step : graph_.steps) {
      while (steps[at].call != nullptr) ++at;
      steps[at++] = std::move(step);
    }
    graph_.steps = std::move(steps);
    graph_.n_recomputed = all.size();
    return nullptr;
  }

  // The same call, whose result lies elsewhere; it is read there from then on.
  Status copy_of(const Step& of, const Again& again, Step* copy) {
    const auto fresh = static_cast<uint32_t>(graph_.storages.size());
    GraphStorage& s = graph_.storages.emplace_back();
    s.device = graph_.storages[again.storage].device;
    s.bytes = graph_.storages[again.storage].bytes;
    copy->kernel = of.kernel;
    copy->fn = of.fn;
    copy->op = of.op;
    copy->call = std::make_unique<RepeatedCall>();
    TN_TRY(copy->call->make(*of.call));
    const std::vector<Place> places = places_of(*copy->call);
    for (size_t i = 0; i < places.size(); ++i)
      copy->uses.push_back({of.uses[i].storage, places[i]});
    copy->written = of.written;
    const auto rename = [&](uint32_t* id) {
      if (*id == again.storage) *id = fresh;
    };
    for (Use& use : copy->uses) rename(&use.storage);
    for (uint32_t& id : copy->written) rename(&id);
    for (size_t i = again.before; i < graph_.steps.size(); ++i) {
      Step& step = graph_.steps[i];
      for (Use& use : step.uses) rename(&use.storage);
      if (step.kind == Step::Kind::kCopy) rename(&step.from);
    }
    return nullptr;
  }

  LaunchGraph& graph_;
  std::vector<std::vector<size_t>> uses_, writes_;
  std::vector<bool> is_needed_;  // by what is recomputed
  std::vector<bool> is_split_;   // it is recomputed itself
};

}  // namespace

void drop_dead_steps(LaunchGraph* graph) {
  std::vector<bool> is_read(graph->storages.size());  // by a later step, or by the caller
  for (size_t i = 0; i < is_read.size(); ++i)
    is_read[i] = graph->storages[i].kind != Where::kInside;
  std::vector<Step> kept;
  for (auto step = graph->steps.rbegin(); step != graph->steps.rend(); ++step) {
    // Who writes nothing does something else.
    const bool counts =
        step->written.empty() ||
        std::ranges::any_of(step->written, [&](uint32_t id) { return is_read[id]; });
    if (!counts) continue;
    for (const Use& use : step->uses) is_read[use.storage] = true;
    kept.push_back(std::move(*step));
  }
  graph->n_dropped = graph->steps.size() - kept.size();
  std::ranges::reverse(kept);
  graph->steps = std::move(kept);
}

Status recompute_cheap_values(LaunchGraph* graph) { return Recomputing(graph).run(); }

Status plan_memory(LaunchGraph* graph) { return MemoryPlan(graph).run(); }

Status prepare_calls(LaunchGraph* graph) {
  for (Step& step : graph->steps) {
    // What it has prepared may depend on numbers.
    if (step.kind != Step::Kind::kLaunch || step.fn != step.kernel->def.launch ||
        step.kernel->def.prepare == nullptr || !step.numbers.empty())
      continue;
    std::vector<tn_meta> metas(step.call->n_outputs);
    for (uint32_t i = 0; i < step.call->n_outputs; ++i) {
      const tn_tensor* t = step.call->outputs[i];
      if (t == nullptr) continue;
      metas[i].ndim = t->ndim;
      metas[i].dtype = t->dtype;
      metas[i].device = t->device;
      std::copy_n(t->sizes, t->ndim, metas[i].sizes);
    }
    const tn_call call = call_before_outputs(*step.kernel, step.op, step.call->device,
                                             {step.call->args, step.call->n_args}, metas.data(),
                                             step.call->n_outputs - step.kernel->n_private);
    void* prepared = nullptr;
    TN_TRY(step.kernel->def.prepare(step.kernel->def.self, &call, &prepared));
    step.call->prepared = prepared;
    step.prepared = {prepared, Unprepare{step.kernel}};
  }
  return nullptr;
}

}  // namespace tenon
