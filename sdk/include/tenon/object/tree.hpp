// The tree of objects that a model is: its children, all modules, and those of a path.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tenon/object/handle.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline NamedObjects Object::named_children() const {
  NamedObjects list;
  for (uint32_t i = 0; i < n_children(); ++i) {
    std::string name;
    if (Object child = child_at(i, &name)) list.emplace_back(std::move(name), std::move(child));
  }
  return list;
}
inline NamedObjects Object::named_modules(const std::string& prefix, bool include_self) const {
  checked();
  NamedObjects list{{prefix, *this}};
  const auto walk = [&](const auto& again, const Object& object,
                        const std::string& before) -> void {
    for (auto& [name, child] : object.named_children()) {
      const bool seen = std::any_of(list.begin(), list.end(), [&, &one = child](const auto& known) {
        return known.second == one;
      });
      if (seen) continue;
      list.emplace_back(before + name, child);
      again(again, child, before + name + ".");
    }
  };
  walk(walk, *this, prefix.empty() ? "" : prefix + ".");
  if (!include_self) list.erase(list.begin());
  return list;
}
inline std::vector<Object> Object::modules(bool include_self) const {
  std::vector<Object> list;
  for (auto& [name, object] : named_modules("", include_self)) list.push_back(std::move(object));
  return list;
}
template <typename F>
const Object& Object::apply(F f) const {
  for (const Object& child : children()) {
    if (child) child.apply(f);
  }
  Object self = *this;
  f(self);
  return *this;
}
inline Object Object::get_submodule(const std::string& path) const {
  Object object = *this;
  object.checked();
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    object = object.child(path.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
  return object;
}
inline void Object::set_submodule(const std::string& path, const Object& module) const {
  const size_t dot = path.rfind('.');
  const Object parent = dot == path.npos ? *this : get_submodule(path.substr(0, dot));
  parent.child(path.c_str() + (dot == path.npos ? 0 : dot + 1)) = module;
}

}  // namespace v0
}  // namespace tenon
