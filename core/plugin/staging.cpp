// The entries of the registrar, and the commit of what they took.
#include "plugin/staging.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "amp/autocast.h"
#include "base/threads.h"
#include "plugin/stage_ops.h"

namespace tenon {
namespace {

// Names that one plugin only may bring, and who did. Under the loader's lock.
std::map<std::string, std::string>& policy_owners() {
  static auto* owners = new std::map<std::string, std::string>();
  return *owners;
}
std::string& threads_owner() {
  static auto* owner = new std::string();
  return *owner;
}

// A definition as this host knows it: fields beyond the author's size are zero, younger ones are
// left out. It must reach to its last mandatory field.
template <typename Def>
Status read_def(const Def* given, size_t least, const char* what, Def* def) {
  if (given == nullptr) return invalid("{}: the definition is NULL", what);
  if (given->size < least) {
    return invalid("{}: the definition's size is {}, expected {} (is `size` set to its sizeof?)",
                   what, given->size, sizeof(Def));
  }
  std::memset(static_cast<void*>(def), 0, sizeof(Def));
  std::memcpy(static_cast<void*>(def), given, std::min<size_t>(given->size, sizeof(Def)));
  def->size = sizeof(Def);
  return nullptr;
}

#define TN_UP_TO(type, field) (offsetof(type, field) + sizeof(type::field))

template <typename Def>
DestroySlot destroy_slot(const Def& def) {
  return {def.destroy, def.self};
}
DestroySlot destroy_slot(const tn_kernel_pair_def& def) { return destroy_slot(*def.forward); }

Status copy_status(const tn_status* status) {
  return make_status(status->code, status_text(status));
}

}  // namespace

// Every entry of the registrar: one at a time, nothing thrown, refusals remembered.
template <typename Body>
Status Staging::take(Body&& body) {
  std::lock_guard lock(mutex_);
  if (!open_) {
    return error(TN_FAILED_PRECONDITION,
                 "plugin '{}': the registrar is valid during tenon_plugin_init only", plugin_);
  }
  Status status = guarded(body);
  if (status != nullptr && first_refusal_ == nullptr) first_refusal_ = copy_status(status);
  return status;
}

template <typename Def, typename Body>
Status Staging::take_def(const Def* given, size_t least, const char* what, Body&& body) {
  return take([&]() -> Status {
    Def def;
    TN_TRY(read_def(given, least, what, &def));
    TN_TRY(body(def));
    if (const DestroySlot slot = destroy_slot(def); slot.destroy != nullptr) all_.push_back(slot);
    return nullptr;
  });
}

struct Staging::Entries {
  static Staging& of(tn_registrar* registrar) { return *static_cast<Staging*>(registrar); }

  static tn_status* device(tn_registrar* r, const tn_device_def* def) {
    return of(r).take_def(def, TN_UP_TO(tn_device_def, copy), "device",
                          [&](const auto& d) { return of(r).add_device(d); });
  }
  static tn_status* op(tn_registrar* r, const tn_op_def* def) {
    return of(r).take_def(def, TN_UP_TO(tn_op_def, schema), "op",
                          [&](const auto& d) { return stage_op(d, of(r).plugin_, &of(r).ops_); });
  }
  static tn_status* kernel(tn_registrar* r, const tn_kernel_def* def) {
    return of(r).take_def(def, TN_UP_TO(tn_kernel_def, launch), "kernel", [&](const auto& d) {
      return stage_kernel(d, of(r).plugin_, &of(r).ops_);
    });
  }
  static tn_status* kernel_pair(tn_registrar* r, const tn_kernel_pair_def* def) {
    tn_kernel_def forward;
    return of(r).take_def(def, TN_UP_TO(tn_kernel_pair_def, backward), "kernel pair",
                          [&](tn_kernel_pair_def& d) -> Status {
                            TN_TRY(read_def(d.forward, TN_UP_TO(tn_kernel_def, launch),
                                            "kernel pair: forward", &forward));
                            d.forward = &forward;
                            return stage_pair(d, of(r).plugin_, &of(r).ops_);
                          });
  }
  static tn_status* vjp(tn_registrar* r, const char* op, tn_vjp_fn fn, void* self,
                        void (*destroy)(void*)) {
    return of(r).take([&]() -> Status {
      TN_TRY(stage_vjp(op, fn, self, of(r).plugin_, &of(r).ops_));
      if (destroy != nullptr) {
        of(r).all_.push_back({destroy, self});
        of(r).slots_.push_back({destroy, self});
      }
      return nullptr;
    });
  }
  static tn_status* amp(tn_registrar* r, const tn_amp_policy_def* def) {
    return of(r).take_def(def, TN_UP_TO(tn_amp_policy_def, classify), "amp policy",
                          [&](const auto& d) { return of(r).add_policy(d); });
  }
  static tn_status* factory(tn_registrar* r, const tn_factory_def* def) {
    return of(r).take_def(def, TN_UP_TO(tn_factory_def, create), "factory",
                          [&](const auto& d) { return of(r).add_factory(d); });
  }
  static tn_status* threads(tn_registrar* r, const tn_threads_def* def) {
    return of(r).take_def(def, TN_UP_TO(tn_threads_def, parallel_for), "threads",
                          [&](const auto& d) { return of(r).add_threads(d); });
  }
  static tn_status* compiler(tn_registrar* r, const tn_compiler_def* def) {
    return of(r).take_def(def, TN_UP_TO(tn_compiler_def, compile), "compiler",
                          [&](const auto& d) { return of(r).add_compiler(d); });
  }
};

Staging::Staging(std::string plugin)
    : tn_registrar{sizeof(tn_registrar), TN_ABI_VERSION,       Entries::device,  Entries::op,
                   Entries::kernel,      Entries::kernel_pair, Entries::vjp,     Entries::amp,
                   Entries::factory,     Entries::threads,     Entries::compiler},
      plugin_(std::move(plugin)) {}

const char* Staging::keep(const char* text) {
  return text == nullptr ? nullptr : texts_.emplace_back(text).c_str();
}

Status Staging::add_device(const tn_device_def& def) {
  TN_TRY(check_device_def(def));
  for (const std::string& name : brings_.devices) {
    if (name == def.name) return invalid("device '{}' is registered twice", name);
  }
  tn_device_def& kept = devices_.emplace_back(def);
  kept.name = keep(def.name);
  kept.description = keep(def.description);
  brings_.devices.emplace_back(def.name);
  if (def.destroy != nullptr) slots_.push_back(destroy_slot(def));
  return nullptr;
}

Status Staging::add_factory(const tn_factory_def& def) {
  std::unique_ptr<Factory> factory;
  TN_TRY(make_factory(def, plugin_, &factory));
  const std::string& name = factory->schema.name;
  for (const std::string& other : brings_.factories) {
    if (name == other) return invalid("factory {} is registered twice", name);
  }
  brings_.factories.push_back(name);
  factories_.push_back(std::move(factory));
  return nullptr;
}

Status Staging::add_policy(const tn_amp_policy_def& def) {
  if (def.name == nullptr || *def.name == '\0') return invalid("amp policy has no name");
  if (def.classify == nullptr) return invalid("amp policy '{}': classify is missing", def.name);
  const auto owner = policy_owners().find(def.name);
  if (owner != policy_owners().end()) {
    return invalid("amp policy '{}' is there already, from plugin '{}'", def.name, owner->second);
  }
  for (const std::string& name : brings_.policies) {
    if (name == def.name) return invalid("amp policy '{}' is registered twice", name);
  }
  TN_TRY(check_policy(def));
  policies_.emplace_back(def).name = keep(def.name);
  brings_.policies.emplace_back(def.name);
  if (def.destroy != nullptr) slots_.push_back(destroy_slot(def));
  return nullptr;
}

Status Staging::add_threads(const tn_threads_def& def) {
  TN_TRY(check_threads(def));
  if (threads_) return invalid("threads are registered twice");
  threads_ = def;
  if (def.destroy != nullptr) slots_.push_back(destroy_slot(def));
  return nullptr;
}

Status Staging::add_compiler(const tn_compiler_def& def) {
  if (def.name == nullptr || *def.name == '\0') return invalid("compiler has no name");
  if (def.compile == nullptr) return invalid("compiler '{}': compile is missing", def.name);
  if (def.device == nullptr || *def.device == '\0')
    return invalid("compiler '{}': its device is missing", def.name);
  const auto is_taken = [&](const std::string& name) { return name == def.name; };
  const std::vector<Compiler> others = all_compilers();
  const auto other = std::ranges::find_if(others, is_taken, &Compiler::name);
  if (other != others.end()) {
    return invalid("compiler '{}' is there already, from plugin '{}'", def.name, other->plugin);
  }
  if (std::ranges::any_of(brings_.compilers, is_taken))
    return invalid("compiler '{}' is registered twice", def.name);
  Compiler& kept = compilers_.emplace_back(Compiler{def, def.name, def.device, plugin_});
  kept.def.name = keep(def.name);
  kept.def.device = keep(def.device);
  brings_.compilers.emplace_back(def.name);
  if (def.destroy != nullptr) slots_.push_back(destroy_slot(def));
  return nullptr;
}

Status Staging::run(tn_plugin_init_fn init, const tn_host* host, void** self) {
  Status status = nullptr;
  try {
    status = init(host, this, self);
  } catch (const std::exception& e) {
    status = error(TN_EXCEPTION, "tenon_plugin_init threw: {}", e.what());
  } catch (...) {
    status = make_status(TN_EXCEPTION, "tenon_plugin_init threw what is no std::exception");
  }
  std::lock_guard lock(mutex_);
  open_ = false;
  StatusHolder refusal(std::exchange(first_refusal_, nullptr));
  if (status != nullptr && status->code == TN_EXCEPTION) return status;
  if (status != nullptr) {
    const tn_code code = status->code;
    return make_status(code, "tenon_plugin_init failed", status);
  }
  if (!refusal) return nullptr;
  const tn_code code = refusal.get()->code;
  return make_status(code, "tenon_plugin_init went on after a refusal", refusal.take());
}

Status Staging::check() const {
  TN_TRY(registry().check(ops_));
  for (const tn_device_def& def : devices_) TN_TRY(check_device_def(def));
  if (device_type_count() + devices_.size() > kMaxDeviceTypes) {
    return error(TN_UNSUPPORTED, "there is room for {} kinds of devices only", kMaxDeviceTypes);
  }
  for (const auto& factory : factories_) TN_TRY(check_factory_name(*factory));
  if (threads_ && !threads_owner().empty()) {
    return invalid("threads are there already, from plugin '{}'", threads_owner());
  }
  return nullptr;
}

Status Staging::commit() {
  TN_TRY(check());
  brings_.ops = ops_.ops.size();
  brings_.kernels = ops_.kernels.size();
  brings_.vjps = ops_.vjps.size();
  brings_.threads = threads_.has_value();
  // Devices first: they alone can still fail, and kernels are entered by their types.
  for (const tn_device_def& def : devices_) {
    int32_t type = -1;
    TN_TRY(register_device(def, plugin_, &type));
    device_types_.push_back(type);
  }
  if (threads_) {
    set_threads(*threads_);
    threads_owner() = plugin_;
  }
  for (size_t i = 0; i < policies_.size(); ++i) {
    commit_policy(policies_[i], plugin_);
    policy_owners()[brings_.policies[i]] = plugin_;
  }
  registry().commit(std::move(ops_));
  for (const Compiler& compiler : compilers_) tenon::add_compiler(compiler);
  for (auto& factory : factories_) commit_factory(std::move(factory));
  factories_.clear();
  all_.clear();
  return nullptr;
}

void Staging::drop() {
  ops_ = StagedOps();
  for (auto slot = all_.rbegin(); slot != all_.rend(); ++slot) slot->destroy(slot->self);
  all_.clear();
  slots_.clear();
}

}  // namespace tenon
