// The tensors of a tree of objects: parameters and buffers by their paths, states in and out, and
// where all of them lie.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tenon/object/state_hooks.hpp"
#include "tenon/object/tree.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// The entries that `visit` of the interface shows, their tensors None among them.
struct OwnEntry {
  std::string name;
  Tensor tensor;
  tn_entry_kind kind;
};
inline std::vector<OwnEntry> seen_entries(const Object& object,
                                          tn_status* (*visit)(const tn_object*, tn_entry_fn,
                                                              void*)) {
  struct Seen {
    std::vector<OwnEntry> list;
    tn_status* failed = nullptr;
  } seen;
  const auto note = [](void* context, const char* name, tn_tensor* t, tn_entry_kind kind) {
    auto* s = static_cast<Seen*>(context);
    if (s->failed) return;
    s->failed = to_status([&] { s->list.push_back({name, Tensor::borrow(t), kind}); });
  };
  tn_status* status = visit(object.get(), note, &seen);
  if (status) ignore(std::exchange(seen.failed, nullptr));
  check(status);
  check(seen.failed);
  return std::move(seen.list);
}
// Those of the object itself: each name, also where a tensor has several.
inline std::vector<OwnEntry> own_entries(const Object& object) {
  return seen_entries(object, api.object->visit_own);
}

// Where an entry is of this kind its tensor is not there.
inline void expect_made(const Object& object, std::string_view path, tn_entry_kind kind) {
  if (kind != TN_ENTRY_LATER) [[likely]]
    return;
  fail(joined({object.type_name(), ": '", path,
               "' is made by the first forward, and there was none yet: call the module with an "
               "input first"}));
}

// The entries of the tree by each of their paths.
inline void every_entry(const Object& object, const std::string& prefix,
                        std::vector<OwnEntry>& list) {
  for (auto& entry : own_entries(object)) {
    entry.name = prefix + entry.name;
    list.push_back(std::move(entry));
  }
  for (const auto& [name, child] : object.named_children())
    if (child) every_entry(child, prefix + name + ".", list);
}
// Takes out names of tensors that the state has under another name.
inline void drop_given_otherwise(const Object& object, const NamedTensors& state,
                                 std::vector<std::string>& missing) {
  if (missing.empty()) return;
  std::vector<OwnEntry> entries;
  every_entry(object, "", entries);
  std::erase_if(missing, [&](const std::string& name) {
    const auto own = std::find_if(entries.begin(), entries.end(),
                                  [&](const OwnEntry& e) { return e.name == name; });
    return own != entries.end() && std::any_of(entries.begin(), entries.end(), [&](const auto& e) {
             return e.tensor.get() == own->tensor.get() && state.contains(e.name);
           });
  });
}
// The error of a load that hooks took part in, a problem to a line.
[[noreturn]] inline void refuse_load(const std::vector<std::string>& problems) {
  std::string text = "load_state_dict: ";
  for (size_t i = 0; i < problems.size(); ++i) text += (i ? "\n  " : "") + problems[i];
  fail(text);
}
inline void expect_no_keys(const Object& object, const IncompatibleKeys& keys, bool is_loaded) {
  std::vector<std::string> problems;
  const auto note = [&](const std::vector<std::string>& names, const std::string& what) {
    constexpr size_t kListed = 20;
    if (names.empty()) return;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kListed); ++i)
      text += (i ? ", '" : "'") + messages::printable(names[i]) + "'";
    if (names.size() > kListed) text += " and " + std::to_string(names.size() - kListed) + " more";
    problems.push_back(text + (names.size() == 1 ? " is " : " are ") + what);
  };
  note(keys.missing_keys, "missing in the state_dict");
  note(keys.unexpected_keys, "in the state_dict and not in " + object.type_name());
  if (problems.empty()) return;
  if (is_loaded)
    problems.push_back("the others are loaded, as hooks behind the load had to see them");
  refuse_load(problems);
}

}  // namespace detail

inline NamedTensors Object::entries(uint32_t kinds) const {
  checked();
  NamedTensors list;
  for (auto& [name, tensor, kind] : detail::seen_entries(*this, detail::api.object->visit)) {
    if (kinds == 1u << TN_ENTRY_PARAMETER) detail::expect_made(*this, name, kind);
    if (tensor.defined() && (kinds >> kind & 1)) list.emplace_back(name, tensor);
  }
  return list;
}
inline NamedTensors Object::named_parameters() const {
  if (detail::report_unregistered) [[unlikely]]
    detail::report_unregistered(*this);
  return entries(1u << TN_ENTRY_PARAMETER);
}
inline NamedTensors Object::named_buffers() const {
  return entries(1u << TN_ENTRY_BUFFER | 1u << TN_ENTRY_UNSAVED);
}
inline std::vector<Tensor> Object::parameters() const {
  std::vector<Tensor> list;
  for (auto& entry : named_parameters()) list.push_back(std::move(entry.second));
  return list;
}
inline std::vector<Tensor> Object::buffers() const {
  std::vector<Tensor> list;
  for (auto& entry : named_buffers()) list.push_back(std::move(entry.second));
  return list;
}

inline Tensor Object::tensor_of_kind(const std::string& path, bool is_parameter) const {
  const size_t dot = path.rfind('.');
  const Object owner = dot == path.npos ? *this : get_submodule(path.substr(0, dot));
  const std::string name = path.substr(dot == path.npos ? 0 : dot + 1);
  std::string known;
  const char* other = nullptr;
  for (const auto& [entry, tensor, kind] : detail::own_entries(owner)) {
    const bool is_buffer = kind == TN_ENTRY_BUFFER || kind == TN_ENTRY_UNSAVED;
    // What is computed, as by weight_norm, is read as the parameter that it was.
    if (is_buffer != is_parameter) {
      if (entry == name) return owner.tensor(name.c_str());
      known += (known.empty() ? "" : ", ") + entry;
    } else if (entry == name) {
      other = is_parameter ? "a buffer, which get_buffer gives"
                           : "a parameter, which get_parameter gives";
    }
  }
  const std::string what = is_parameter ? "parameter" : "buffer";
  const std::string listed = known.empty() ? "it has none" : "its " + what + "s: " + known;
  if (other) {
    fail(detail::joined({"get_", what, ": '", messages::printable(path), "' is ", other, " (",
                         owner.type_name(), "; ", listed, ")"}),
         TN_NOT_FOUND);
  }
  fail(detail::joined({"get_", what, ": '", messages::printable(path),
                       "' is not there: ", owner.type_name(), " has no ", what, " '",
                       messages::printable(name), "' (", listed, ")"}),
       TN_NOT_FOUND);
}
inline Tensor Object::get_parameter(const std::string& path) const {
  return tensor_of_kind(path, true);
}
inline Tensor Object::get_buffer(const std::string& path) const {
  return tensor_of_kind(path, false);
}
inline void Object::refuse_entry_of(TextRef name, bool is_parameter, const char* call) const {
  checked();
  const std::string wanted = name.c_str();
  for (const auto& [entry, tensor, kind] : detail::own_entries(*this)) {
    const bool is_buffer = kind == TN_ENTRY_BUFFER || kind == TN_ENTRY_UNSAVED;
    if (entry != wanted || is_buffer == is_parameter) continue;
    fail(detail::joined({type_name(), ": ", call, ": '", wanted, "' is a ",
                         is_parameter ? "parameter" : "buffer",
                         " already, expected a name that is none"}));
  }
}

inline NamedTensors Object::state_entries(bool with_hooks) const {
  checked();
  NamedTensors list;
  const auto walk = [&](const auto& again, const Object& object,
                        const std::string& prefix) -> void {
    if (with_hooks) detail::call_state_pre_hooks(object, prefix);
    for (const auto& [name, tensor, kind] : detail::own_entries(object)) {
      detail::expect_made(*this, prefix + name, kind);
      if (tensor.defined() && kind != TN_ENTRY_UNSAVED)
        list.emplace_back(prefix + name, tensor.detach());
    }
    for (const auto& [name, child] : object.named_children())
      again(again, child, prefix + name + ".");
    if (with_hooks) detail::call_state_hooks(object, prefix, list);
  };
  walk(walk, *this, "");
  return list;
}
inline NamedTensors Object::state_dict() const { return state_entries(true); }
// Whether the object of this entry says that states may be without it (core/object/state.h).
inline bool Object::may_lack(const std::string& path) const {
  const size_t dot = path.rfind('.');
  const Object owner = dot == path.npos ? *this : get_submodule(path.substr(0, dot));
  const char* schema = nullptr;
  ignore(detail::api.object->method_schema(owner.get(), "may_lack", &schema));
  return schema && owner.invoke<bool>("may_lack", path.substr(dot == path.npos ? 0 : dot + 1));
}
inline IncompatibleKeys Object::incompatible_keys(const NamedTensors& state) const {
  IncompatibleKeys keys;
  const NamedTensors own = state_entries(false);
  for (const auto& [name, tensor] : own)
    if (!state.contains(name) && !may_lack(name)) keys.missing_keys.push_back(name);
  for (const auto& [name, tensor] : state)
    if (!own.contains(name)) keys.unexpected_keys.push_back(name);
  return keys;
}
inline void Object::load_entries(const NamedTensors& state, bool strict) const {
  std::vector<const char*> names;
  std::vector<tn_tensor*> tensors;
  for (const auto& [name, tensor] : state) {
    names.push_back(name.c_str());
    tensors.push_back(tensor.get());
  }
  check(detail::api.object->load_state(checked(), names.data(), tensors.data(),
                                       uint32_t(names.size()), strict));
}
inline IncompatibleKeys Object::load_state_dict(const NamedTensors& state, bool strict) const {
  checked();
  const std::vector<Object> tree = modules();
  const auto any_has = [&](tn_hook_kind kind) {
    return std::any_of(tree.begin(), tree.end(),
                       [&](const Object& o) { return detail::has_hooks(o, kind); });
  };
  if (any_has(TN_HOOK_LOAD_PRE) || any_has(TN_HOOK_LOAD)) [[unlikely]]
    return load_hooked(state, strict);
  load_entries(state, strict);
  return strict ? IncompatibleKeys() : incompatible_keys(state);
}
inline IncompatibleKeys Object::load_hooked(const NamedTensors& state, bool strict) const {
  detail::HookedLoad load{state, strict, {}, {}};
  detail::call_load_pre_hooks(*this, "", load);
  if (!load.errors.empty()) detail::refuse_load(load.errors);
  const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    for (const std::string& name : from)
      if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
  };
  IncompatibleKeys& keys = load.keys;
  IncompatibleKeys found = incompatible_keys(load.state);
  // Where it is strict a tensor of several names is there under one of them.
  if (strict) detail::drop_given_otherwise(*this, load.state, found.missing_keys);
  add(keys.missing_keys, found.missing_keys);
  add(keys.unexpected_keys, found.unexpected_keys);
  const std::vector<Object> tree = modules();
  const bool any_behind = std::any_of(
      tree.begin(), tree.end(), [](const Object& o) { return detail::has_hooks(o, TN_HOOK_LOAD); });
  // Hooks behind a load see what it loaded, and their word on the names comes before the error.
  if (any_behind) {
    load_entries(load.state, false);
    detail::call_load_hooks(*this, "", keys);
  }
  if (strict) detail::expect_no_keys(*this, keys, any_behind);
  if (!any_behind) load_entries(load.state, strict);
  return keys;
}

inline const Object& Object::requires_grad_(bool on) const {
  for (const Tensor& parameter : parameters()) parameter.requires_grad_(on);
  return *this;
}
inline const Object& Object::to(Dtype floats) const {
  const NamedTensors all = entries(~0u);
  for (const auto& [name, tensor] : all) {
    if (tensor.device() == all[0].second.device()) continue;
    fail(detail::joined({"to: '", all[0].first, "' is on ", all[0].second.device().name(), " and '",
                         name, "' on ", tensor.device().name(), ": name the device, too"}));
  }
  return all.empty() ? *this : to(all[0].second.device(), floats);
}

}  // namespace v0
}  // namespace tenon
