// The tensors of a tree of objects: parameters and buffers by their paths, states in and out, and
// where all of them lie.
#pragma once

#include <string>
#include <utility>
#include <vector>

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

inline NamedTensors Object::state_dict() const {
  checked();
  NamedTensors list;
  const auto walk = [&](const auto& again, const Object& object,
                        const std::string& prefix) -> void {
    for (const auto& [name, tensor, kind] : detail::own_entries(object)) {
      detail::expect_made(*this, prefix + name, kind);
      if (tensor.defined() && kind != TN_ENTRY_UNSAVED)
        list.emplace_back(prefix + name, tensor.detach());
    }
    for (const auto& [name, child] : object.named_children())
      again(again, child, prefix + name + ".");
  };
  walk(walk, *this, "");
  return list;
}
inline IncompatibleKeys Object::incompatible_keys(const NamedTensors& state) const {
  IncompatibleKeys keys;
  const NamedTensors own = state_dict();
  for (const auto& [name, tensor] : own)
    if (!state.contains(name)) keys.missing_keys.push_back(name);
  for (const auto& [name, tensor] : state)
    if (!own.contains(name)) keys.unexpected_keys.push_back(name);
  return keys;
}
inline IncompatibleKeys Object::load_state_dict(const NamedTensors& state, bool strict) const {
  std::vector<const char*> names;
  std::vector<tn_tensor*> tensors;
  for (const auto& [name, tensor] : state) {
    names.push_back(name.c_str());
    tensors.push_back(tensor.get());
  }
  check(detail::api.object->load_state(checked(), names.data(), tensors.data(),
                                       uint32_t(names.size()), strict));
  return strict ? IncompatibleKeys() : incompatible_keys(state);
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
