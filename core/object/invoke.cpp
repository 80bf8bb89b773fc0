#include "object/invoke.h"

#include <optional>

#include "base/hot_thread_local.h"
#include "base/log.h"
#include "profile/profile.h"

namespace tenon {
namespace {

// The error that left the last call on this thread that failed, and through which object: the
// caller one level up finds its child by it. Compared only, never followed.
struct LastFailure {
  const tn_status* status;
  const Object* object;
};
TN_HOT constinit thread_local LastFailure last_failure{};

std::string with_object(const Object* object, const Status status) {
  const std::string& message = status->message;
  const auto is_named = [&](const Object* o) {
    return status == last_failure.status && o == last_failure.object &&
           message.starts_with(o->type + ": ");
  };
  if (is_named(object)) return message;  // by the method that this one called
  for (const NamedChild& child : object->children) {
    if (!is_named(child.object.get())) continue;
    return fmt::format("{}: child '{}' ({}){}", object->type, child.name, child.object->type,
                       std::string_view(message).substr(child.object->type.size()));
  }
  return fmt::format("{}: {}", object->type, message);
}

// Puts the object in front of the message. The status stays the same one, with its causes and
// payload. Where memory for the text is lacking it stays as it is.
Status name_object(const Object* object, Status status) noexcept {
  try {
    if (set_message(status, with_object(object, status))) last_failure = {status, object};
  } catch (const std::bad_alloc&) {
  }
  return status;
}

Status check_results(const Object* object, const Method& method, const tn_value* results,
                     uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    const Argument& expected = method.schema.returns[i];
    StatusHolder misfit(
        check_value(method.schema, expected, results[i], /*numbers_as_tensors=*/false));
    if (misfit) {
      const bool is_none = results[i].kind == TN_KIND_NONE;
      return error(TN_INTERNAL, "{}.{} gave {} as result {}: {}{}", object->type,
                   method.schema.name, value_kind_name(results[i]), i, schema_text(method.schema),
                   is_none ? " (a result that may be None is a std::optional<Tensor>)" : "");
    }
  }
  return nullptr;
}

[[gnu::cold]] Status refuse_results(const Object* object, const Method& method, uint32_t n) {
  const size_t given = method.schema.returns.size();
  const bool is_call = n == 1 && given > 1 && method.schema.name == "forward";
  const std::string hint =
      is_call ? fmt::format(
                    "; expected call<{}>(..), which takes them all; a Sequential hands on one "
                    "tensor, so that a module of one's own calls such a layer",
                    given)
              : "";
  return invalid("{}.{}: {} results asked for, it gives {}: {}{}", object->type, method.schema.name,
                 n, given, schema_text(method.schema), hint);
}

// Whether the method is one that hooks are of: `forward` of a module, forward_with_weights of an
// attention too, and the step of an optimizer.
bool has_hooks(const Object* object, std::string_view method) {
  return object->hooks &&
         method.starts_with(object->kind == TN_OBJECT_OPTIMIZER ? "step" : "forward");
}

// One call of such a method of an object that has hooks.
struct HookedCall {
  Object* object;
  const Method& method;
  const std::shared_ptr<const HookList> hooks;
  tn_value* values;  // the arguments, as pre-hooks leave them
  tn_value* owned;   // those of them that hooks replaced
  tn_value* given;   // what one pre-hook gives
  uint32_t n;
  tn_value* results;
  uint32_t n_results;
  size_t n_done = 0;  // forward hooks that were called

  Status run() {
    for (const auto& hook : *hooks) {
      if (hook->kind != TN_HOOK_FORWARD_PRE) continue;
      TN_TRY(hook->fn(hook->self, object, values, n, given, n));
      for (uint32_t i = 0; i < n; ++i) {
        if (given[i].kind == TN_KIND_NONE) continue;
        TN_TRY(check_value(method.schema, method.schema.arguments[i], given[i],
                           /*numbers_as_tensors=*/false));
        release_value(&owned[i]);
        values[i] = owned[i] = std::exchange(given[i], {});
      }
    }
    std::shared_ptr<const Method> now;  // by a hook the object may have become another
    TN_TRY(find_method(object, method.schema.name, &now));
    if (Status status = now->fn(now->self, object, values, n, results, n_results))
      return name_object(object, status);
    TN_TRY(check_results(object, method, results, n_results));
    for (const auto& hook : *hooks) {
      ++n_done;
      if (hook->kind != TN_HOOK_FORWARD) continue;
      TN_TRY(hook->fn(hook->self, object, values, n, results, n_results));
      TN_TRY(check_results(object, method, results, n_results));
    }
    return nullptr;
  }

  // Behind a failure, the hooks that are always called and were not. They see the results that are
  // there, of which nothing leaves the call.
  [[gnu::cold]] void run_always() {
    for (size_t i = n_done; i < hooks->size(); ++i) {
      const Hook& hook = *(*hooks)[i];
      if (!hook.always) continue;
      StatusHolder failed(hook.fn(hook.self, object, values, n, results, n_results));
      if (!failed) continue;
      const std::string text = fmt::format(
          "{}: a forward hook that is always called failed behind another error, which goes on: {}",
          object->type, status_text(failed.get()));
      log_line(2, text.c_str());
    }
  }
};

Status invoke_hooked(Object* object, const Method& method, const BoundArguments& arguments,
                     tn_value* results, uint32_t n_results) {
  const uint32_t n = arguments.size();
  std::vector<tn_value> all(size_t{n} * 3);
  tn_value *const values = all.data(), *const owned = values + n, *const given = owned + n;
  std::copy_n(arguments.data(), n, values);
  const ResultsScope scope({owned, 2 * size_t{n}});
  HookedCall call{object, method, object->hooks, values, owned, given, n, results, n_results};
  Status status = call.run();
  if (status != nullptr) call.run_always();
  return status;
}

}  // namespace

Status invoke(Object* object, std::string_view name, const tn_value* args, uint32_t n_args,
              tn_value* results, uint32_t n_results) {
  const Ref<Object> held = Ref<Object>::retaining(object);  // a hook may let the caller's go
  std::shared_ptr<const Method> method;
  TN_TRY(find_method(object, name, &method));
  BoundArguments arguments;
  TN_TRY(arguments.bind(object->type, method->schema, args, n_args));
  if (n_results != method->schema.returns.size()) {
    return refuse_results(object, *method, n_results);
  }
  object->note_use();
  const bool hooked = has_hooks(object, name);
  if (hooked && (thread_state.modes & kModeRecord) != 0)
    thread_state.recording->refuse(object->type + ": a hook runs code of the host");
  std::string shown;
  std::optional<ProfileScope> profile;
  if ((thread_state.modes & kModeProfile) != 0) [[unlikely]] {
    shown = fmt::format("{}.{}", object->type, name);
    profile.emplace(profile_event(TN_PROFILE_METHOD, shown.c_str(), {args, n_args}));
  }
  ResultsScope scope({results, n_results});
  if (hooked)
    return scope.keep_if_fine(invoke_hooked(object, *method, arguments, results, n_results));
  if (Status status = method->fn(method->self, object, arguments.data(), arguments.size(), results,
                                 n_results)) {
    return name_object(object, status);
  }
  return scope.keep_if_fine(check_results(object, *method, results, n_results));
}

Status call_state_hooks(Object* object, tn_hook_kind kind, const tn_value* args, uint32_t n_args,
                        tn_value* results, uint32_t n_results) {
  if (kind < TN_HOOK_STATE_PRE || kind > TN_HOOK_LOAD) {
    return invalid("call_hooks: {} has no hooks of states of the kind {}", object->type, kind);
  }
  const Ref<Object> held = Ref<Object>::retaining(object);  // a hook may let the caller's go
  const std::shared_ptr<const HookList> hooks = object->state_hooks;
  if (!hooks) return nullptr;
  for (const auto& hook : *hooks) {
    if (hook->kind == kind) TN_TRY(hook->fn(hook->self, object, args, n_args, results, n_results));
  }
  return nullptr;
}

}  // namespace tenon
