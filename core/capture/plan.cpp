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
