// Hooks of states: the functions of a program that see and change what state_dict gives and what
// load_state_dict is given. What they change goes through the host as plain values, so that a hook of
// one library is called by another. object/state.hpp calls them.
#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/object/hooks.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

inline void give_names(tn_value& v, const std::vector<std::string>& names) {
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  tn_value borrowed = make_value(TN_KIND_STRINGS, uint32_t(texts.size())), owned{};
  borrowed.as.strings = texts.data();
  check(host()->value_copy(&borrowed, &owned));
  host()->value_release(&v);
  v = owned;
}
inline std::vector<std::string> names_in(const tn_value& v) {
  if (v.kind == TN_KIND_NONE) return {};
  expect_kind(v, TN_KIND_STRINGS, "names");
  return {v.as.strings, v.as.strings + v.count};
}
inline void give_state(tn_value* values, const NamedTensors& state) {
  give_names(values[0], state.keys());
  host()->value_release(&values[1]);
  values[1] = {};
  give(values[1], state.values());
}
inline NamedTensors state_in(const tn_value* values) {
  std::vector<std::string> names = names_in(values[0]);
  std::vector<Tensor> tensors = Unpack<std::vector<Tensor>>::borrow(values[1]);
  if (names.size() != tensors.size()) {
    fail(joined({"a hook of states gives ", std::to_string(names.size()), " names and ",
                 std::to_string(tensors.size()), " tensors"}));
  }
  NamedTensors state;
  for (size_t i = 0; i < names.size(); ++i)
    state.emplace_back(std::move(names[i]), std::move(tensors[i]));
  return state;
}

// What hooks of a state are given and may replace.
template <size_t N>
struct HookResults : std::array<tn_value, N> {
  HookResults() : std::array<tn_value, N>{} {}
  HookResults(const HookResults&) = delete;
  ~HookResults() {
    for (tn_value& v : *this) host()->value_release(&v);
  }
};

inline bool has_hooks(const Object& object, tn_hook_kind kind) {
  return api.object->has_hooks(object.get(), kind) != 0;
}
// A load that hooks take part in: the state as they leave it, and what they say of it.
struct HookedLoad {
  NamedTensors state;
  bool strict;
  IncompatibleKeys keys;
  std::vector<std::string> errors;
};

inline void call_state_pre_hooks(const Object& object, const std::string& prefix) {
  if (!has_hooks(object, TN_HOOK_STATE_PRE)) return;
  const tn_value args[] = {to_value(prefix)};
  check(api.object->call_hooks(object.get(), TN_HOOK_STATE_PRE, args, 1, nullptr, 0));
}
inline void call_state_hooks(const Object& object, const std::string& prefix, NamedTensors& state) {
  if (!has_hooks(object, TN_HOOK_STATE)) return;
  const tn_value args[] = {to_value(prefix)};
  HookResults<2> results;
  give_state(results.data(), state);
  check(api.object->call_hooks(object.get(), TN_HOOK_STATE, args, 1, results.data(), 2));
  state = state_in(results.data());
}
// As in PyTorch the hooks of a child see the tensors whose names begin with its prefix, and change these
// alone.
inline void call_load_pre_hooks(const Object& object, const std::string& prefix, HookedLoad& load) {
  if (has_hooks(object, TN_HOOK_LOAD_PRE)) {
    const auto is_of_object = [&](const auto& entry) { return entry.first.starts_with(prefix); };
    NamedTensors before, own, behind;
    for (const auto& entry : load.state)
      (is_of_object(entry) ? own : own.empty() ? before : behind).push_back(entry);
    const tn_value args[] = {to_value(prefix), to_value(load.strict)};
    HookResults<5> results;
    give_state(results.data(), own);
    give_names(results[2], load.keys.missing_keys);
    give_names(results[3], load.keys.unexpected_keys);
    give_names(results[4], load.errors);
    check(api.object->call_hooks(object.get(), TN_HOOK_LOAD_PRE, args, 2, results.data(), 5));
    for (auto& entry : state_in(results.data()))
      if (is_of_object(entry)) before.push_back(std::move(entry));
    before.insert(before.end(), behind.begin(), behind.end());
    load.state = std::move(before);
    load.keys = {names_in(results[2]), names_in(results[3])};
    load.errors = names_in(results[4]);
  }
  for (const auto& [name, child] : object.named_children())
    if (child) call_load_pre_hooks(child, prefix + name + ".", load);
}
inline void call_load_hooks(const Object& object, const std::string& prefix,
                            IncompatibleKeys& keys) {
  for (const auto& [name, child] : object.named_children())
    if (child) call_load_hooks(child, prefix + name + ".", keys);
  if (!has_hooks(object, TN_HOOK_LOAD)) return;
  const tn_value args[] = {to_value(prefix)};
  HookResults<2> results;
  give_names(results[0], keys.missing_keys);
  give_names(results[1], keys.unexpected_keys);
  check(api.object->call_hooks(object.get(), TN_HOOK_LOAD, args, 1, results.data(), 2));
  keys = {names_in(results[0]), names_in(results[1])};
}

}  // namespace detail

template <typename F>
ForwardHook Object::register_state_dict_pre_hook(F f) const {
  constexpr bool kTakesPrefix = std::is_invocable_r_v<void, F&, Object&, const std::string&>;
  static_assert(kTakesPrefix || std::is_invocable_r_v<void, F&, Object&>,
                "a hook before state_dict is f(Object& self, const std::string& prefix) or "
                "f(Object& self)");
  const auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t, tn_value*,
                       uint32_t) -> tn_status* {
    return to_status([&] {
      Object handle = Object::borrow(object);
      F& hook = detail::Held<F>::get(self);
      if constexpr (kTakesPrefix) {
        hook(handle, detail::Unpack<std::string>::borrow(args[0]));
      } else {
        hook(handle);
      }
    });
  };
  return detail::add_hook(checked(), TN_HOOK_STATE_PRE, call, std::move(f));
}

template <typename F>
ForwardHook Object::register_state_dict_post_hook(F f) const {
  constexpr bool kTakesPrefix =
      std::is_invocable_r_v<void, F&, Object&, NamedTensors&, const std::string&>;
  static_assert(kTakesPrefix || std::is_invocable_r_v<void, F&, Object&, NamedTensors&>,
                "a hook behind state_dict is f(Object& self, NamedTensors& state, const "
                "std::string& prefix) or f(Object& self, NamedTensors& state)");
  const auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t,
                       tn_value* results, uint32_t) -> tn_status* {
    return to_status([&] {
      Object handle = Object::borrow(object);
      F& hook = detail::Held<F>::get(self);
      NamedTensors state = detail::state_in(results);
      if constexpr (kTakesPrefix) {
        hook(handle, state, detail::Unpack<std::string>::borrow(args[0]));
      } else {
        hook(handle, state);
      }
      detail::give_state(results, state);
    });
  };
  return detail::add_hook(checked(), TN_HOOK_STATE, call, std::move(f));
}

template <typename F>
ForwardHook Object::register_load_state_dict_pre_hook(F f) const {
  using Names = std::vector<std::string>&;
  constexpr bool kTakesAll = std::is_invocable_r_v<void, F&, Object&, NamedTensors&,
                                                   const std::string&, bool, Names, Names, Names>;
  constexpr bool kTakesPrefix =
      std::is_invocable_r_v<void, F&, Object&, NamedTensors&, const std::string&>;
  static_assert(
      kTakesAll || kTakesPrefix || std::is_invocable_r_v<void, F&, Object&, NamedTensors&>,
      "a hook before load_state_dict is f(Object& self, NamedTensors& state), behind these "
      "const std::string& prefix, and behind that bool strict and three "
      "std::vector<std::string>&: missing_keys, unexpected_keys, error_messages");
  const auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t,
                       tn_value* results, uint32_t) -> tn_status* {
    return to_status([&] {
      Object handle = Object::borrow(object);
      F& hook = detail::Held<F>::get(self);
      NamedTensors state = detail::state_in(results);
      const auto prefix = detail::Unpack<std::string>::borrow(args[0]);
      if constexpr (kTakesAll) {
        std::vector<std::string> missing = detail::names_in(results[2]),
                                 unexpected = detail::names_in(results[3]),
                                 errors = detail::names_in(results[4]);
        hook(handle, state, prefix, args[1].as.i != 0, missing, unexpected, errors);
        detail::give_names(results[2], missing);
        detail::give_names(results[3], unexpected);
        detail::give_names(results[4], errors);
      } else if constexpr (kTakesPrefix) {
        hook(handle, state, prefix);
      } else {
        hook(handle, state);
      }
      detail::give_state(results, state);
    });
  };
  return detail::add_hook(checked(), TN_HOOK_LOAD_PRE, call, std::move(f));
}

template <typename F>
ForwardHook Object::register_load_state_dict_post_hook(F f) const {
  static_assert(std::is_invocable_r_v<void, F&, Object&, IncompatibleKeys&>,
                "a hook behind load_state_dict is f(Object& self, IncompatibleKeys& keys)");
  const auto call = [](void* self, tn_object* object, const tn_value*, uint32_t, tn_value* results,
                       uint32_t) -> tn_status* {
    return to_status([&] {
      Object handle = Object::borrow(object);
      IncompatibleKeys keys{detail::names_in(results[0]), detail::names_in(results[1])};
      detail::Held<F>::get(self)(handle, keys);
      detail::give_names(results[0], keys.missing_keys);
      detail::give_names(results[1], keys.unexpected_keys);
    });
  };
  return detail::add_hook(checked(), TN_HOOK_LOAD, call, std::move(f));
}

}  // namespace v0
}  // namespace tenon
