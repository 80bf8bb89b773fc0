// Ops by name, kernels by device, kernels that wait: what is committed, and how it is found.
#include "registry/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/not_loaded.h"
#include "base/text.h"
#include "registry/variants.h"
#include "registry/called_name.h"

namespace tenon {
namespace {

// Lists that readers may still hold; kept for good. Under the registry's lock.
std::vector<std::unique_ptr<const KernelList>>& old_lists() {
  static auto* lists = new std::vector<std::unique_ptr<const KernelList>>();
  return *lists;
}

// Takes the place of every function of an op after shutdown.
template <typename... Args>
Status op_after_shutdown(Args...) {
  return make_status(TN_FAILED_PRECONDITION, "plugins were shut down");
}

// The name that a kernel or vjp of `plugin` means: its own op before the standard pack's.
std::string resolve(const std::string& stated, const std::string& plugin, const StagedOps& staged) {
  const std::string name = stated.substr(0, stated.find('('));
  if (name.find('.') == std::string::npos) {
    std::string own = plugin + "." + name;
    if (staged.find(own) != nullptr) return own;
  }
  return Registry::full_name(name);
}

// Why the kernel cannot serve the op; "": it can.
std::string misfit(const Kernel& kernel, const Op& op) {
  if (op.kind == OpKind::kView) return fmt::format("op '{}' is a view, which needs none", op.name);
  if (op.kind == OpKind::kPrimitive && op.primitive == TN_PRIM_NONZERO) {
    return fmt::format(
        "op '{}' is the primitive 'nonzero', whose sizes depend on values: bring a kernel of the "
        "primitive",
        op.name);
  }
  if (kernel.is_pair && op.kind == OpKind::kExpression) {
    return fmt::format(
        "op '{}' is an expression, whose gradient is derived or stated: bring a kernel without "
        "backward",
        op.name);
  }
  if (kernel.schema == nullptr) return "";
  const auto& known = kernel.schema->arguments;
  const auto& actual = op.schema.arguments;
  const auto differ = [&] {
    return fmt::format("it states '{}', the op is '{}'", schema_text(*kernel.schema),
                       schema_text(op.schema));
  };
  if (known.size() > actual.size() || kernel.schema->returns.size() != op.schema.returns.size()) {
    return differ();
  }
  for (size_t i = 0; i < known.size(); ++i) {
    // A kernel may leave a default out, which callers never see through it. One that states another
    // believes something else of the op than the op does.
    const bool same_default = !known[i].has_default ||
                              (actual[i].has_default && default_text(known[i].default_value) ==
                                                            default_text(actual[i].default_value));
    Argument taken = actual[i];
    taken.or_text &= known[i].or_text;  // a kernel may take the list alone
    if (known[i].name != actual[i].name ||
        argument_type_text(known[i]) != argument_type_text(taken) || !same_default) {
      return differ();
    }
  }
  for (size_t i = known.size(); i < actual.size(); ++i) {
    if (!actual[i].has_default) return differ();
  }
  return "";
}

std::string kernel_text(const Kernel& kernel) {
  return kernel.op.empty() ? fmt::format("kernel for primitive '{}' on '{}'", kernel.primitive_name,
                                         kernel.device)
                           : fmt::format("kernel for '{}' on '{}'", kernel.op, kernel.device);
}

}  // namespace

void KernelTable::add(int32_t device_type, const Kernel* kernel) {
  std::atomic<const KernelList*>& list = lists_[device_type];
  const KernelList* before = list.load(std::memory_order_relaxed);
  auto after =
      before == nullptr ? std::make_unique<KernelList>() : std::make_unique<KernelList>(*before);
  const auto place = std::find_if(after->begin(), after->end(), [&](const Kernel* other) {
    return other->def.priority < kernel->def.priority;
  });
  after->insert(place, kernel);
  old_lists().reserve(old_lists().size() + 1);
  list.store(after.get(), std::memory_order_release);
  any_.store(true, std::memory_order_relaxed);
  old_lists().push_back(std::move(after));
}

void KernelTable::clear() {
  for (auto& list : lists_) list.store(nullptr, std::memory_order_release);
  any_.store(false, std::memory_order_relaxed);
}

struct Registry::State {
  std::shared_mutex mutex;
  std::map<std::string, std::unique_ptr<Op>, std::less<>> by_name;
  std::vector<Op*> ops;  // in order of commit
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::pair<Kernel*, std::string>> waiting;
  bool closed = false;
};

Registry::State& Registry::state() {
  static auto* state = new State();
  return *state;
}

Registry& registry() {
  static auto* registry = new Registry();
  return *registry;
}

std::string Registry::full_name(std::string_view name) {
  if (name.find('.') != std::string_view::npos) return std::string(name);
  return fmt::format("{}.{}", kStandardPack, name);
}

Op* Registry::lookup(std::string_view full_name) {
  const auto found = state().by_name.find(full_name);
  return found == state().by_name.end() ? nullptr : found->second.get();
}

Status Registry::check(const StagedOps& staged) {
  State& s = state();
  std::shared_lock lock(s.mutex);
  if (s.closed) return make_status(TN_FAILED_PRECONDITION, "plugins were shut down");
  const auto find_op = [&](const std::string& name) -> const Op* {
    const Op* op = staged.find(name);
    return op != nullptr ? op : lookup(name);
  };
  for (const auto& op : staged.ops) {
    if (const Op* there = lookup(op->name)) {
      return invalid("op '{}' is there already, from plugin '{}'", op->name, there->plugin);
    }
  }
  for (const auto& kernel : staged.kernels) {
    if (kernel->op.empty()) continue;
    const Op* op = find_op(resolve(kernel->op, kernel->plugin, staged));
    if (op == nullptr) continue;  // it will wait
    const std::string why = misfit(*kernel, *op);
    if (!why.empty()) return invalid("{}: {}", kernel_text(*kernel), why);
  }
  std::vector<const Op*> given;
  for (const StagedVjp& vjp : staged.vjps) {
    const Op* op = find_op(resolve(vjp.op, vjp.plugin, staged));
    if (op == nullptr) {
      const size_t point = vjp.op.find('.');
      return error(
          TN_NOT_FOUND,
          "vjp for '{}': there is no such op; load its pack first: a plugin says so by "
          "NEEDS {} of tenon_add_plugin, or by \"needs\" in its manifest file",
          vjp.op, point == vjp.op.npos ? kStandardPack : std::string_view(vjp.op).substr(0, point));
    }
    if ((op->flags & TN_OP_NO_GRADIENT) != 0) {
      return invalid("vjp for '{}': the op says that it has no gradient", op->name);
    }
    const bool is_derived = op->kind == OpKind::kExpression || op->kind == OpKind::kView ||
                            op->kind == OpKind::kPrimitive;
    if (is_derived && op->plugin != vjp.plugin) {
      return invalid(
          "vjp for '{}', of another plugin: its gradient follows from what it is, a formula, view "
          "or "
          "primitive",
          op->name);
    }
    if (op->vjp != nullptr) {
      return invalid("vjp for '{}': the op has one, from plugin '{}'", op->name, op->vjp_plugin);
    }
    if (std::find(given.begin(), given.end(), op) != given.end()) {
      return invalid("vjp for '{}' is registered twice", op->name);
    }
    given.push_back(op);
  }
  return nullptr;
}

// What it waits for; "": it is in.
std::string Registry::attach(Kernel* kernel) {
  const DeviceType* device = find_device_type(kernel->device);
  if (device == nullptr) return fmt::format("device '{}' is not there", kernel->device);
  kernel->device_type = device->type;
  if (kernel->op.empty()) {
    primitives_[kernel->def.primitive].add(device->type, kernel);
    return "";
  }
  Op* op = lookup(kernel->op_name);
  if (op == nullptr) return fmt::format("op '{}' is not there", kernel->op_name);
  const std::string why = misfit(*kernel, *op);
  if (why.empty()) each_formula(*op, [&](Op& f) { f.kernels.add(device->type, kernel); });
  return why;
}

// One by one: where memory is exhausted the rest goes on waiting.
void Registry::attach_waiting() {
  auto& waiting = state().waiting;
  for (auto it = waiting.begin(); it != waiting.end();) {
    std::string why = attach(it->first);
    if (why.empty()) {
      it = waiting.erase(it);
    } else {
      it->second = std::move(why);
      ++it;
    }
  }
}

void Registry::commit(StagedOps staged) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  for (auto& kernel : staged.kernels) {
    if (!kernel->op.empty()) kernel->op_name = resolve(kernel->op, kernel->plugin, staged);
  }
  for (StagedVjp& vjp : staged.vjps) vjp.op = resolve(vjp.op, vjp.plugin, staged);
  // What needs memory comes first: an exception leaves all as it was.
  s.ops.reserve(s.ops.size() + staged.ops.size());
  s.waiting.reserve(s.waiting.size() + staged.kernels.size());
  s.kernels.reserve(s.kernels.size() + staged.kernels.size());
  decltype(s.by_name) named;
  for (auto& op : staged.ops) named.emplace(op->name, nullptr);
  for (auto& op : staged.ops) {
    s.ops.push_back(op.get());
    named.find(op->name)->second = std::move(op);
  }
  s.by_name.merge(named);
  for (auto& kernel : staged.kernels) {
    s.waiting.emplace_back(kernel.get(), "");
    s.kernels.push_back(std::move(kernel));
  }
  for (StagedVjp& vjp : staged.vjps) {
    Op* op = lookup(vjp.op);
    op->vjp_plugin = std::move(vjp.plugin);
    each_formula(*op, [&](Op& f) {
      f.vjp_self = vjp.self;
      f.vjp.store(vjp.fn, std::memory_order_release);
    });
  }
  try {
    attach_waiting();
  } catch (const std::bad_alloc&) {
    for (auto& [kernel, reason] : s.waiting) {
      if (reason.empty()) reason = "no memory";  // until the next plugin is loaded
    }
  }
}

Status Registry::find(std::string_view name, const Op** op) {
  State& s = state();
  std::shared_lock lock(s.mutex);
  if (s.closed) {
    return error(TN_FAILED_PRECONDITION, "op '{}': plugins were shut down", printable(name));
  }
  *op = lookup(full_name(name));
  if (*op != nullptr) return nullptr;
  if (s.ops.empty()) {
    return error(TN_NOT_FOUND, "unknown op '{}': {}", printable(name), none_brings("ops"));
  }
  std::vector<std::string> names;
  const bool has_pack = name.find('.') != std::string_view::npos;
  for (const Op* candidate : s.ops) {
    const bool standard = candidate->plugin == kStandardPack;
    names.push_back(standard && !has_pack ? candidate->schema.name : candidate->name);
    if (!has_pack && candidate->schema.name == name) {  // of another pack: never guessed
      return error(TN_NOT_FOUND, "unknown op '{}'; did you mean '{}'?", name, candidate->name);
    }
  }
  return error(TN_NOT_FOUND, "unknown op '{}'{}", printable(name), suggestion(name, names));
}

std::vector<const Op*> Registry::all_ops() {
  std::shared_lock lock(state().mutex);
  return {state().ops.begin(), state().ops.end()};
}

std::vector<const Kernel*> Registry::all_kernels() {
  std::shared_lock lock(state().mutex);
  std::vector<const Kernel*> kernels;
  for (const auto& kernel : state().kernels) kernels.push_back(kernel.get());
  return kernels;
}

std::vector<WaitingKernel> Registry::waiting_kernels() {
  std::shared_lock lock(state().mutex);
  std::vector<WaitingKernel> waiting;
  for (const auto& [kernel, reason] : state().waiting) waiting.push_back({kernel, reason});
  return waiting;
}

bool Registry::closed() {
  std::shared_lock lock(state().mutex);
  return state().closed;
}

void Registry::close() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.closed = true;
  s.waiting.clear();
  for (KernelTable& table : primitives_) table.clear();
  for (Op* op : s.ops) {
    each_formula(*op, [](Op& f) {
      f.kernels.clear();
      if (f.vjp != nullptr) f.vjp = op_after_shutdown;
    });
    if (op->view != nullptr) op->view = op_after_shutdown;
    if (op->decompose != nullptr) op->decompose = op_after_shutdown;
    if (op->infer != nullptr) op->infer = op_after_shutdown;
  }
}

void Registry::release(std::string_view plugin) {
  struct Slot {
    void (*destroy)(void*);
    void* self;
  };
  std::vector<Slot> slots;
  {
    State& s = state();
    std::unique_lock lock(s.mutex);
    const auto take = [&](void (*&destroy)(void*), void* self) {
      if (destroy != nullptr) slots.push_back({std::exchange(destroy, nullptr), self});
    };
    for (auto kernel = s.kernels.rbegin(); kernel != s.kernels.rend(); ++kernel) {
      if ((*kernel)->plugin == plugin) take((*kernel)->def.destroy, (*kernel)->def.self);
    }
    for (auto op = s.ops.rbegin(); op != s.ops.rend(); ++op) {
      if ((*op)->plugin == plugin) take((*op)->destroy, (*op)->self);
    }
  }
  for (const Slot& slot : slots) slot.destroy(slot.self);
}

}  // namespace tenon
