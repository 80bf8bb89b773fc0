// Makes plans: each live value of the program's graph gets a cell (an operand's memory, a scalar,
// or a tile that is used again after its last reader) and a step from the table for its types.
#include "programs/plan.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "programs/graph.h"
#include "programs/pairs.h"

namespace tenon::cpu_backend {

std::atomic<const Plan*> plan_buckets[kPlanBuckets];

namespace {

constexpr double kLongCost = 1;  // nanoseconds an element, as cost_of gives them
constexpr uint32_t kMemoryWanted = 48 * 1024;

double cost_of(uint16_t opcode) {
  if (opcode == TN_I_FLOORDIV || opcode == TN_I_REM || opcode == TN_I_FMOD) {
    return 3;  // by a quotient; ten times as much where that is large
  }
  const bool math =
      (opcode >= TN_I_EXP && opcode <= TN_I_ERFC) || opcode == TN_I_POW || opcode == TN_I_ATAN2;
  return math ? 1.5 : 0.15;
}

class Builder {
 public:
  Builder(const tn_host* host, const tn_program& program, Plan* plan)
      : host_(host), program_(program), plan_(*plan), table_(table()) {}

  void build() {
    read_graph(host_, program_, plan_, &graph_);
    places_.resize(graph_.values.size());
    if (plan_.mode != kInPlace) pairs_ = find_pairs(table_, &graph_);
    pairs_.resize(graph_.nodes.size());
    n_cells_ = plan_.n_operands;
    place_scalars();
    place_outputs();
    size_t next = 0;
    const int n_nodes = static_cast<int>(graph_.nodes.size());
    for (int n = 0; n <= n_nodes; ++n) {
      for (; next < graph_.stores.size() && graph_.stores[next].node == n; ++next) {
        emit_store(graph_.stores[next]);
      }
      if (n < n_nodes && graph_.nodes[n].live && !pairs_[n].is_first) {
        emit_node(graph_.nodes[n], n);
      }
    }
    return lay_out();
  }

 private:
  struct Place {
    int cell = kNone;
    int spread = kNone;      // the tile of a scalar that is spread
    bool temporary = false;  // the cell is a tile to be given back
  };
  struct Choice {
    StepFn fn;
    int a, b = 0, c = 0, e = 0;  // cells
  };

  int new_cell(CellInit init) {
    plan_.inits.push_back(init);
    return static_cast<int>(n_cells_++);
  }
  int stride_cell(int operand) {
    return new_cell({CellInit::kStride, kI64, static_cast<uint32_t>(operand), 0});
  }
  int new_tile() {
    tile_cells_.push_back(new_cell({CellInit::kMemory, kI64, 0, 0}));
    return tile_cells_.back();
  }
  int take_tile() {
    if (free_tiles_.empty()) {
      return new_tile();
    }
    const int cell = free_tiles_.back();
    free_tiles_.pop_back();
    return cell;
  }

  // Operands, parameters and constants.
  void place_scalars() {
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      const Value& value = graph_.values[v];
      const uint32_t index = static_cast<uint32_t>(value.index);
      if (value.last_use == kNone) {
        continue;
      }
      if (value.origin == Value::kOperand) {
        places_[v].cell = value.index;
      } else if (value.origin == Value::kParam) {
        places_[v].cell = new_cell({CellInit::kParam, value.type, index, 8 * n_scalars_++});
      } else if (value.origin == Value::kConstant) {
        tn_scalar constant = {};
        write_scalar(reinterpret_cast<char*>(&constant), value.type, program_.constants[index]);
        plan_.constants.push_back(constant);
        const uint32_t at = static_cast<uint32_t>(plan_.constants.size()) - 1;
        places_[v].cell = new_cell({CellInit::kConstant, value.type, at, 0});
      }
    }
  }

  // A computed value goes straight to its output's memory where that is dense and of its type. What
  // is only loaded does not when the plan works in place: inputs that are not read yet may lie
  // there.
  bool is_direct(const Store& store) const { return places_[store.value].cell == store.output; }
  void place_outputs() {
    if (plan_.mode == kResult) {
      return;
    }
    for (const Store& store : graph_.stores) {
      const Value& value = graph_.values[store.value];
      const uint8_t key = plan_.keys[store.output];
      const bool computed =
          value.origin == Value::kNode && !value.scalar &&
          !(plan_.mode == kInPlace && graph_.nodes[value.index].kind == Node::kLoad);
      if (computed && places_[store.value].cell == kNone && access_of(key) == kDense &&
          is_native(dtype_of(key), value.type)) {
        places_[store.value].cell = store.output;
      }
    }
  }

  // A tile with the value: its own, or a scalar's, spread over one that nothing else uses.
  int tile_of(int v) {
    Place& place = places_[v];
    if (!graph_.values[v].scalar) {
      return place.cell;
    }
    if (place.spread == kNone) {
      place.spread = new_tile();
      push(plan_.fills, place.spread, {table_.splat[graph_.values[v].type], place.cell});
    }
    return place.spread;
  }

  static void push(std::vector<Step>& steps, int d, const Choice& c) {
    steps.push_back({c.fn, static_cast<uint16_t>(d), static_cast<uint16_t>(c.a),
                     static_cast<uint16_t>(c.b), static_cast<uint16_t>(c.c),
                     static_cast<uint16_t>(c.e)});
  }

  void emit_node(const Node& node, int index) {
    const Pair& pair = pairs_[index];
    const std::array<int, 4> operands =
        pair.fn ? pair.operands : std::array{node.a, node.b, node.c, kNone};
    const Choice choice = pair.fn ? choose(pair) : choose(node);
    Place& place = places_[node.d];
    if (graph_.values[node.d].scalar) {
      place.cell = new_cell({CellInit::kMemory, kI64, 0, 8 * n_scalars_++});
      push(plan_.once, place.cell, choice);
      return;
    }
    if (place.cell == kNone) {
      place.cell = take_tile();
      place.temporary = true;
    }
    push(plan_.steps, place.cell, choice);
    plan_.cost += cost_of(node.opcode);
    for (const int operand : operands) {
      if (operand != kNone && places_[operand].temporary &&
          graph_.values[operand].last_use == index) {
        places_[operand].temporary = false;  // once, though it may be read twice here
        free_tiles_.push_back(places_[operand].cell);
      }
    }
  }

  Choice choose(const Pair& pair) const {
    const auto cell = [&](int i) {
      return pair.operands[i] == kNone ? 0 : places_[pair.operands[i]].cell;
    };
    return {pair.fn, cell(0), cell(1), cell(2), cell(3)};
  }
  Choice choose(const Node& node) {
    const bool scalar = graph_.values[node.d].scalar;
    const auto cell = [&](int v) { return places_[v].cell; };
    const auto type = [&](int v) { return graph_.values[v].type; };
    const auto is_scalar = [&](int v) { return graph_.values[v].scalar; };
    switch (node.kind) {
      case Node::kLoad:
        if (access_of(plan_.keys[node.operand]) == kStrided) {
          return {table_.load_strided[node.dtype][type(node.d)], node.operand,
                  stride_cell(node.operand)};
        }
        return {table_.load[node.dtype][type(node.d)], node.operand};
      case Node::kCast:
        return {table_.cast[type(node.a)][node.dtype], cell(node.a)};
      case Node::kUnary:
        return {table_.unary[node.opcode][type(node.a)], cell(node.a)};
      case Node::kBinary: {
        const StepFn* shapes = table_.binary[node.opcode][type(node.a)];
        const Shape shape = is_scalar(node.a) == is_scalar(node.b) ? kVV
                            : is_scalar(node.b)                    ? kVS
                                                                   : kSV;
        if (shapes[shape]) {
          return {shapes[shape], cell(node.a), cell(node.b)};
        }
        return {shapes[kVV], tile_of(node.a), tile_of(node.b)};
      }
      case Node::kWhere: {
        const int kind = scalar ? 0 : (is_scalar(node.b) ? 1 : 0) + (is_scalar(node.c) ? 2 : 0);
        return {table_.where[type(node.b)][kind], scalar ? cell(node.a) : tile_of(node.a),
                cell(node.b), cell(node.c)};
      }
    }
    return {};
  }

  void emit_store(const Store& store) {
    if (plan_.mode == kResult) {
      plan_.result_cell = static_cast<uint16_t>(tile_of(store.value));
      places_[store.value].temporary = false;
      return;
    }
    if (is_direct(store)) {
      return;
    }
    const Value& value = graph_.values[store.value];
    const tn_dtype dtype = dtype_of(plan_.keys[store.output]);
    if (access_of(plan_.keys[store.output]) != kDense) {
      const int tile = tile_of(store.value);
      push(plan_.steps, store.output,
           {table_.store_strided[value.type][dtype], tile, stride_cell(store.output)});
    } else if (value.scalar && is_native(dtype, value.type)) {
      push(plan_.steps, store.output, {table_.splat[value.type], places_[store.value].cell});
    } else {
      push(plan_.steps, store.output, {table_.store[value.type][dtype], tile_of(store.value)});
    }
    plan_.cost += 0.15;
  }

  // Scalars first, then the tiles. Processors compare the last 12 bits of the place of a load with those
  // of the stores before it, and wait where they agree: whole tiles are 2048 bytes apart there, or nothing,
  // so that where one tile is read and another written no load follows such a store closely.
  void lay_out() {
    if (n_cells_ > UINT16_MAX) {
      check(error(host_, TN_UNSUPPORTED, "cpu: the program needs %u cells, at most %d are possible",
                  n_cells_, UINT16_MAX));
    }
    const uint32_t scalars = (8 * n_scalars_ + 63) / 64 * 64;
    const uint32_t n_tiles = static_cast<uint32_t>(tile_cells_.size());
    const bool is_wide = std::ranges::any_of(graph_.values, [](const Value& v) {
      return v.last_use != kNone && (v.type == kF64 || v.type == kI64);
    });
    const auto bytes = [&] {
      return static_cast<uint32_t>(plan_.tile) * (is_wide ? 8 : 4) + (is_wide ? 2048 : 0);
    };
    plan_.tile = kTile;
    while (plan_.tile > 64 && scalars + n_tiles * bytes() > kMemoryWanted) {
      plan_.tile /= 2;
    }
    for (uint32_t i = 0; i < n_tiles; ++i) {
      plan_.inits[tile_cells_[i] - plan_.n_operands].offset = scalars + i * bytes();
    }
    plan_.memory = scalars + n_tiles * bytes();
    plan_.n_cells = n_cells_;
    look_ahead();
    plan_.cost += 0.1;
    plan_.serial = static_cast<int64_t>(kSerialNs / plan_.cost);
    return;
  }

  // A single step streams by itself; what computes little is never ahead of the memory.
  void look_ahead() {
    const auto n_steps = static_cast<int64_t>(plan_.steps.size());
    if (plan_.cost < kLongCost || n_steps < 2) {
      return;
    }
    for (uint32_t k = 0; k < plan_.n_operands; ++k) {
      if (access_of(plan_.keys[k]) == kDense) {
        const int64_t bytes = plan_.tile * item_size(dtype_of(plan_.keys[k]));
        plan_.ahead.push_back({k, bytes, (bytes / n_steps + 63) / 64 * 64});
      }
    }
  }

  const tn_host* host_;
  const tn_program& program_;
  Plan& plan_;
  const Table& table_;
  Graph graph_;
  std::vector<Place> places_;  // of the values
  std::vector<Pair> pairs_;    // of the nodes
  uint32_t n_cells_ = 0;
  uint32_t n_scalars_ = 0;
  std::vector<int> tile_cells_, free_tiles_;
};

}  // namespace

const tn_program& identity_program(RegisterType type) {
  static constexpr tn_instruction kInstructions[kRegisterTypes][2] = {
      {{TN_I_LOAD, TN_FLOAT32}, {TN_I_STORE, TN_FLOAT32}},
      {{TN_I_LOAD, TN_FLOAT64}, {TN_I_STORE, TN_FLOAT64}},
      {{TN_I_LOAD, TN_INT64}, {TN_I_STORE, TN_INT64}},
      {{TN_I_LOAD, TN_BOOL}, {TN_I_STORE, TN_BOOL}},
  };
  // The host counts ids up from the other end.
  static constexpr auto make = [](int t) {
    return tn_program{sizeof(tn_program),
                      TN_INSTRUCTION_SET,
                      UINT64_MAX - static_cast<uint64_t>(t),
                      kInstructions[t],
                      2,
                      1,
                      nullptr,
                      0,
                      1,
                      1,
                      0};
  };
  static constexpr tn_program kPrograms[kRegisterTypes] = {make(0), make(1), make(2), make(3)};
  return kPrograms[type];
}

void make_plan(const tn_host* host, const tn_program& program, const uint8_t* keys, uint32_t n,
               PlanMode mode, uint64_t word, const Plan** result) {
  auto plan = std::make_unique<Plan>();
  plan->program = program.id;
  plan->word = word;
  plan->mode = mode;
  plan->keys.assign(keys, keys + n);
  plan->n_operands = n;
  Builder(host, program, plan.get()).build();
  if (plan->n_cells > kInlineCells || plan->memory > kInlineMemory) {
    plan->spare = std::make_unique<SpareFrame>();
    plan->spare->memory = std::make_unique_for_overwrite<char[]>(plan->frame_bytes());
  }
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::atomic<const Plan*>& bucket = plan_buckets[plan_bucket(program.id, word)];
  plan->next = bucket.load(std::memory_order_relaxed);
  *result = plan.get();
  bucket.store(plan.release(), std::memory_order_release);
}

}  // namespace tenon::cpu_backend
