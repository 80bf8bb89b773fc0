// The registry of ops and their kernels. The loader makes Op and Kernel records of what plugins
// define (plugin/stage_ops.h) and commits them as one change. Reading is lock-free on the call path:
// records are never freed, lists of kernels are swapped.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "registry/operand_map.h"
#include "expr/expression.h"
#include "schema/schema.h"
#include "tensor/device.h"

namespace tenon {

struct Op;

// A kernel, or the forward of a pair.
struct Kernel {
  tn_kernel_def def;                // strings point into the ones below
  std::string op;                   // as stated: a name, or the schema that the kernel knows
  std::string op_name;              // resolved: "ops.linear"; empty for a primitive's
  const char* primitive_name = "";  // "reduce"; empty for an op's
  std::string device;
  std::string plugin;
  std::unique_ptr<Schema> schema;  // NULL when only a name was stated
  bool is_pair = false;
  uint32_t n_private = 0;
  decltype(tn_kernel_pair_def::infer_private) infer_private = nullptr;
  tn_kernel_fn backward = nullptr;
  uint64_t saves_args = 0, saves_outputs = 0;
  int32_t device_type = -1;  // -1 while its device is not there

  // The arguments of a call that the schema it states has; the younger ones, at their defaults, it
  // never sees.
  std::span<const tn_value> known(std::span<const tn_value> args) const {
    return schema == nullptr ? args : args.first(std::min(args.size(), schema->arguments.size()));
  }
};

// Best first.
using KernelList = std::vector<const Kernel*>;

// The kernels of an op or primitive by device type.
class KernelTable {
 public:
  // NULL: none.
  const KernelList* find(int32_t device_type) const {
    return lists_[device_type].load(std::memory_order_acquire);
  }
  // Is there a kernel for any device?
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void add(int32_t device_type, const Kernel* kernel);  // under the registry's lock
  void clear();                                         // likewise; at shutdown

 private:
  std::atomic<const KernelList*> lists_[kMaxDeviceTypes]{};
  std::atomic<bool> any_{false};
};

enum class OpKind : uint8_t { kExpression, kPrimitive, kView, kDecomposition, kKernels };

}  // namespace tenon

struct tn_op {};

namespace tenon {

struct PrimitiveRow;  // primitive/primitives.h
struct GradientOp;    // registry/expressions.h
struct Variants;      // registry/variants.h

// Op::n_direct of an op that asks conditions at every call.
inline constexpr uint64_t kNoDirectCall = UINT64_MAX;

// Everything that is called is one: ops of plugins, primitives, and formulas that have no name in
// the registry (host->expression, gradients).
struct Op : tn_op {
  std::string name;    // "ops.add"; of primitives and formulas "reduce", "product"
  std::string plugin;  // its pack; "": none
  std::string doc;     // a line for readers, or empty
  std::string group;   // of a generated header, or empty
  Schema schema;
  OpKind kind;
  uint32_t flags = 0;
  tn_primitive primitive = TN_PRIM_NONE;
  tn_amp_class amp = TN_AMP_NONE;     // AUTO is resolved
  const PrimitiveRow* row = nullptr;  // of kind kPrimitive
  // Of kind kExpression. Held by the op, or by that whose gradient it is.
  std::shared_ptr<const Expression> expression;
  OperandMap map;  // of `expression`
  // Of an expression with several formulas; the op itself is the plain one. NULL: it has one.
  std::shared_ptr<const Variants> variants;
  // Of an expression: the ops of its gradients that were asked for until now.
  mutable std::atomic<const GradientOp*> gradients{nullptr};
  bool passes_autocast = false;  // primitives and formulas: the op that they are a part of decides
  uint64_t written = 0;          // bit i: argument i is Tensor(a!)
  bool inplace = false;          // an output is an argument
  bool widens = false;           // its decomposition computes halves in float32
  tn_view_fn view = nullptr;
  tn_decompose_fn decompose = nullptr;
  tn_infer_fn infer = nullptr;
  std::atomic<tn_vjp_fn> vjp{nullptr};  // may come later, from another plugin
  void* self = nullptr;
  void* vjp_self = nullptr;  // of vjp; valid once vjp was seen
  std::string vjp_plugin;    // which brought vjp; valid once vjp was seen
  void (*destroy)(void*) = nullptr;
  std::vector<tn_value> defaults;  // per argument; kind TN_KIND_NONE where there is none
  uint32_t n_required = 0;         // the arguments up to the last without a default
  // A call with just so many arguments goes on with them. Nearly always all of them; the plain
  // formula of an op with variants does not read those that follow.
  uint64_t n_direct = 0;
  KernelTable kernels;
};

// A part of other ops, whose name no user knows: "_batch_norm".
inline bool is_private(const Op* op) { return op->schema.name[0] == '_'; }

inline const Op* as_op(const tn_op* op) { return static_cast<const Op*>(op); }

// The schema, and what follows from it.
void set_schema(Op* op, Schema schema);
// The formula of an op that has its schema; refuses what OperandMap cannot hold. The formula may know less
// arguments than the op has.
[[nodiscard]] Status set_expression(Op* op, std::shared_ptr<const Expression> expression);

struct StagedVjp {
  std::string op;  // as stated
  std::string plugin;
  tn_vjp_fn fn;
  void* self;
};

// A kernel that is not used, and what it waits for: "op 'ops.linear' is not there".
struct WaitingKernel {
  const Kernel* kernel;
  std::string reason;
};

// What one plugin brings in the way of ops; commit takes all of it or nothing.
struct StagedOps {
  std::vector<std::unique_ptr<Op>> ops;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<StagedVjp> vjps;
  std::unordered_map<std::string_view, const Op*> by_name;  // the ops, by their full names

  void add(std::unique_ptr<Op> op) {
    by_name.emplace(op->name, op.get());
    ops.push_back(std::move(op));
  }
  // NULL: there is none.
  const Op* find(std::string_view full_name) const {
    const auto found = by_name.find(full_name);
    return found == by_name.end() ? nullptr : found->second;
  }
};

class Registry {
 public:
  // Conflicts with what is there or within `staged`: one name twice, a kernel whose schema does not
  // fit its op, a vjp for an op that has one.
  [[nodiscard]] Status check(const StagedOps& staged);
  // Call after a successful check, under the loader's lock. Kernels whose op or device is not there
  // wait; those that waited for what is there now are let in.
  void commit(StagedOps staged);

  // By full name, or without the prefix of the standard pack "ops". Errors name the nearest.
  [[nodiscard]] Status find(std::string_view name, const Op** op);
  // "linear" -> "ops.linear"; names with a pack stay.
  static std::string full_name(std::string_view name);

  std::vector<const Op*> all_ops();
  std::vector<const Kernel*> all_kernels();
  std::vector<WaitingKernel> waiting_kernels();
  // The kernels of a primitive.
  const KernelTable& primitive(tn_primitive kind) const { return primitives_[kind]; }
  // Shutdown: find fails with a message from now on, kernels are gone, functions of ops fail with a
  // message.
  void close();
  bool closed();
  // After close: calls the destroy slots of the plugin's ops and kernels, the last first.
  void release(std::string_view plugin);

 private:
  struct State;
  State& state();
  Op* lookup(std::string_view full_name);
  std::string attach(Kernel* kernel);
  void attach_waiting();
  KernelTable primitives_[TN_N_PRIM_KERNELS];
};

Registry& registry();

}  // namespace tenon
