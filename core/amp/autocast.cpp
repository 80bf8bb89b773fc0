#include "amp/autocast.h"

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "autograd/node.h"
#include "autograd/prim.h"
#include "base/text.h"
#include "launch/explain.h"

namespace tenon {

// Scopes of a thread, innermost first.
struct AutocastScope {
  struct Cast {
    TensorRef source;  // held, so that its address stays its own
    uint32_t version;
    TensorRef cast;
  };
  using Casts = std::unordered_map<const Tensor*, Cast>;

  tn_device device;
  tn_dtype lower;
  const tn_amp_policy_def* policy;
  AutocastScope* outer;
  // One for all scopes of the thread; of one that was entered in backward, where those outside of it
  // are off, its own: the graph that it casts for is another.
  std::shared_ptr<Casts> casts;
  bool was_on;
};

namespace {

struct Policies {
  std::mutex mutex;
  std::map<std::string, tn_amp_policy_def> by_name;
  bool closed = false;
};

Policies& policies() {
  static auto& all = *new Policies;
  return all;
}

tn_amp_class class_of(const Op* op, const AutocastScope& scope) {
  if (scope.policy == nullptr) return op->amp;
  return scope.policy->classify(scope.policy->self, op->name.c_str(), op->amp,
                                device_type(scope.device.type)->name.c_str());
}

// Casts one tensor, with its gradient; float64 stays what it is, as does everything that is not a
// float.
TensorRef cast_tensor(Tensor* t, tn_dtype dtype, AutocastScope& scope) {
  if (!is_float(t->dtype) || t->dtype == TN_FLOAT64 || t->dtype == dtype)
    return TensorRef::retaining(t);
  const auto convert = [&] {
    explain_note("cast {} {} to {}", dtype_name(t->dtype), sizes_text(t), dtype_name(dtype));
    return prim::convert(t, t->device, dtype);
  };
  const bool keep = t->is_leaf() && t->requires_grad() && dtype == scope.lower &&
                    t->dtype == TN_FLOAT32 &&
                    (thread_state.modes & (kModeNoGrad | kModeInference)) == 0;
  if (!keep) return convert();
  auto& kept = (*scope.casts)[t];
  if (!kept.cast || kept.version != t->version() || kept.cast->dtype != dtype) {
    kept = {TensorRef::retaining(t), t->version(), convert()};
    // Of all the calls of the scope, whose backwards may come one by one.
    if (kept.cast->grad_fn != nullptr) grad_fn_of(kept.cast.get())->is_shared = true;
  }
  return kept.cast;
}

// The widest float dtype among the tensors; NONE without floats.
tn_dtype widest(std::span<const tn_value> args) {
  tn_dtype dtype = TN_DTYPE_NONE;
  for (const tn_value& v : args) {
    for (const tn_tensor* t : tensors_of(v)) {
      if (t == nullptr || !is_float(t->dtype)) continue;
      dtype = dtype == TN_DTYPE_NONE ? t->dtype : dtype_table::promote(dtype, t->dtype);
    }
  }
  return dtype;
}

// The arguments cast to dtype; what the op writes stays.
struct CastArguments {
  MappedArguments mapped;
  std::vector<TensorRef> tensors;

  CastArguments(const Op* op, std::span<const tn_value> given, tn_dtype dtype,
                AutocastScope& scope) {
    throw_if(mapped.make(given, op->written, [&](size_t, tn_tensor* t, tn_tensor** cast) -> Status {
      tensors.push_back(cast_tensor(as_tensor(t), dtype, scope));
      *cast = tensors.back().get();
      return nullptr;
    }));
  }
};

void open_scope(tn_device device, tn_dtype lower, const tn_amp_policy_def* policy) {
  AutocastScope* outer = thread_state.autocast;
  const bool was_on = autocast_enabled();
  auto casts = was_on ? outer->casts : std::make_shared<AutocastScope::Casts>();
  thread_state.autocast = new AutocastScope{device, lower, policy, outer, std::move(casts), was_on};
}

}  // namespace

Status autocast_call(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  AutocastScope& scope = *thread_state.autocast;
  if (call_device(args).type != scope.device.type) return call_below_autocast(op, args, results);
  const tn_amp_class amp_class = class_of(op, scope);
  if (amp_class == TN_AMP_NONE) {
    // Below, each op of the decomposition decides for itself.
    return op->decompose != nullptr ? decompose_as_is(op, args, results)
                                    : call_below_autocast(op, args, results);
  }
  const tn_dtype dtype = amp_class == TN_AMP_LOWER     ? scope.lower
                         : amp_class == TN_AMP_FLOAT32 ? tn_dtype{TN_FLOAT32}
                                                       : widest(args);
  return guarded([&]() -> Status {
    ModeScope off(0, kModeAutocast);
    // Programs promote their operands themselves.
    if (dtype == TN_DTYPE_NONE || (amp_class == TN_AMP_WIDEST && op->kind == OpKind::kExpression)) {
      return call_below_autocast(op, args, results);
    }
    const CastArguments cast(op, args, dtype, scope);
    return call_below_autocast(op, cast.mapped.args(), results);
  });
}

Status enter_autocast(tn_device device, tn_dtype lower, const char* policy) {
  TN_TRY(check_device(device));
  const DeviceType& type = *device_type(device.type);
  if (lower == TN_DTYPE_NONE)
    lower = device.type <= TN_DEVICE_META ? tn_dtype{TN_BFLOAT16} : type.def.lower_precision;
  if (lower == TN_DTYPE_NONE) {
    return error(TN_UNSUPPORTED, "autocast: {} states no lower precision; give float16 or bfloat16",
                 type.name);
  }
  if (lower != TN_FLOAT16 && lower != TN_BFLOAT16) {
    return invalid("autocast: {} is no lower precision; expected float16 or bfloat16",
                   dtype_name(lower));
  }
  const tn_amp_policy_def* found = nullptr;
  if (policy != nullptr) {
    std::lock_guard lock(policies().mutex);
    const auto it = policies().by_name.find(policy);
    if (it == policies().by_name.end() || policies().closed) {
      std::vector<std::string> names;
      for (const auto& [name, def] : policies().by_name) names.push_back(name);
      return error(TN_NOT_FOUND, "autocast: unknown policy '{}'{}", printable(policy),
                   did_you_mean(policy, names));
    }
    found = &it->second;
  }
  open_scope(device, lower, found);
  thread_state.modes |= kModeAutocast;
  return nullptr;
}

Status suspend_autocast() {
  open_scope(kCpu, TN_DTYPE_NONE, nullptr);
  thread_state.modes &= ~uint32_t{kModeAutocast};
  return nullptr;
}

Status leave_autocast() {
  AutocastScope* scope = thread_state.autocast;
  if (scope == nullptr) return error(TN_FAILED_PRECONDITION, "autocast: leave without enter");
  thread_state.autocast = scope->outer;
  thread_state.modes &= ~uint32_t{kModeAutocast};
  if (scope->was_on) thread_state.modes |= kModeAutocast;
  delete scope;
  return nullptr;
}

bool autocast_enabled() { return (thread_state.modes & kModeAutocast) != 0; }

Status check_policy(const tn_amp_policy_def& def) {
  if (def.name == nullptr || def.name[0] == '\0') return invalid("amp policy: it has no name");
  if (def.classify == nullptr) return invalid("amp policy '{}': slot classify is empty", def.name);
  std::lock_guard lock(policies().mutex);
  if (policies().by_name.count(def.name) != 0)
    return invalid("amp policy '{}' is there already", def.name);
  return nullptr;
}

void commit_policy(const tn_amp_policy_def& def, const std::string&) {
  std::lock_guard lock(policies().mutex);
  policies().by_name.emplace(def.name, def);
}

void close_policies() {
  std::lock_guard lock(policies().mutex);
  policies().closed = true;
}

}  // namespace tenon
