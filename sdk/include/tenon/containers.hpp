// Containers without a `forward`: lists and dictionaries of modules and of parameters, which a module
// registers as one child. state_dict and what else walks the tree knows what is in them.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/clone.hpp"
#include "tenon/nn.hpp"
#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {
// What a container held when the loop over it began.
template <typename T>
class Snapshot {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = const T&;

  Snapshot() = default;
  explicit Snapshot(std::vector<T> items)
      : items_(std::make_shared<const std::vector<T>>(std::move(items))), left_(items_->size()) {}
  const T& operator*() const { return *(items_->end() - ptrdiff_t(left_)); }
  const T* operator->() const { return &**this; }
  Snapshot& operator++() {
    --left_;
    return *this;
  }
  Snapshot operator++(int) {
    const Snapshot before = *this;
    --left_;
    return before;
  }
  bool operator==(const Snapshot& other) const { return left_ == other.left_; }

 private:
  std::shared_ptr<const std::vector<T>> items_;
  size_t left_ = 0;
};
}  // namespace detail

namespace nn {

// Children "0", "1", ...: for (const Object& layer : layers) x = layer(x).
class ModuleList : public detail::ModulesInARow<ModuleList> {
 public:
  template <typename... Modules>
  requires(
      !(sizeof...(Modules) == 1 &&
        ((std::is_same_v<std::remove_cvref_t<Modules>, ModuleList> ||
          std::is_same_v<std::remove_cvref_t<Modules>,
                         std::vector<Object>>)&&...))) explicit ModuleList(Modules&&... modules)
      : ModulesInARow(made()) {
    (append(std::forward<Modules>(modules)), ...);
  }
  explicit ModuleList(const std::vector<Object>& modules) : ModulesInARow(made()) {
    extend(modules);
  }
  // A template, so that ModuleList{list} is a copy.
  template <std::same_as<std::initializer_list<Object>> L = std::initializer_list<Object>>
  explicit ModuleList(L modules) : ModuleList(std::vector<Object>(modules)) {}

  // A negative index counts from the end.
  Child operator[](int64_t i) const {
    const int64_t n = int64_t(size());
    if (i < -n || i >= n) {
      fail(detail::joined({"ModuleList: index ", std::to_string(i), " is out of range for ",
                           std::to_string(n), n == 1 ? " module" : " modules"}));
    }
    return Object::operator[](i);
  }

 private:
  static Object made() {
    const Object object = Object::empty("ModuleList");
    object.method("clone() -> object", [] { return made(); });
    return object;
  }
};

// Children by name, in the order in which they were put in: for (const auto& [name, module] : modules)
class ModuleDict : public Object {
 public:
  const ModuleDict* operator->() const { return this; }
  ModuleDict() : Object(made()) {}
  explicit ModuleDict(const NamedObjects& modules) : Object(made()) {
    for (const auto& [name, module] : modules) insert(name, module);
  }
  // One of the same name is replaced.
  template <typename M>
  const ModuleDict& insert(const std::string& name, M&& module) const {
    child(name.c_str(), as_module(std::forward<M>(module)));
    return *this;
  }
  // All of them; those of the same names are replaced.
  const ModuleDict& update(const NamedObjects& modules) const {
    for (const auto& [name, module] : modules) insert(name, module);
    return *this;
  }
  // Takes the module out, and gives it.
  Object pop(const std::string& name) const {
    Object module = child(name.c_str());
    unregister_module(name.c_str());
    return module;
  }
  void clear() const {
    for (const std::string& name : keys()) unregister_module(name.c_str());
  }
  size_t size() const { return items().size(); }
  bool empty() const { return size() == 0; }
  bool is_empty() const { return empty(); }
  bool contains(const std::string& name) const {
    for (const auto& [known, module] : items())
      if (known == name) return true;
    return false;
  }
  // An Error that names the nearest where there is none.
  Child operator[](const std::string& name) const { return child(name.c_str()); }
  using Object::get;
  Object get(const std::string& name) const { return child(name.c_str()); }
  NamedObjects items() const { return named_children(); }
  std::vector<Object> values() const {
    std::vector<Object> modules;
    for (auto& [name, module] : items()) modules.push_back(std::move(module));
    return modules;
  }
  using Iterator = detail::Snapshot<std::pair<std::string, Object>>;
  Iterator begin() const { return Iterator(items()); }
  Iterator end() const { return {}; }
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (auto& [name, module] : items()) names.push_back(std::move(name));
    return names;
  }
  ModuleDict clone() const {
    ModuleDict copy(*this);
    static_cast<Object&>(copy) = Object::clone();
    return copy;
  }

 private:
  static Object made() {
    const Object object = Object::empty("ModuleDict");
    object.method("clone() -> object", [] { return made(); });
    return object;
  }
};

// Parameters "0", "1", ..., which ask for their gradients.
class ParameterList : public Object {
 public:
  const ParameterList* operator->() const { return this; }
  ParameterList() : Object(made()) {}
  explicit ParameterList(const std::vector<Tensor>& parameters) : Object(made()) {
    extend(parameters);
  }
  const ParameterList& append(const Tensor& tensor) const {
    parameter(std::to_string(size()).c_str(), tensor);
    return *this;
  }
  const ParameterList& extend(const std::vector<Tensor>& tensors) const {
    for (const Tensor& tensor : tensors) append(tensor);
    return *this;
  }
  const ParameterList& push_back(const Tensor& tensor) const { return append(tensor); }
  size_t size() const { return detail::own_entries(*this).size(); }
  bool empty() const { return size() == 0; }
  bool is_empty() const { return empty(); }
  // A negative index counts from the end.
  Tensor operator[](int64_t i) const {
    const int64_t n = int64_t(size());
    if (i < -n || i >= n) {
      fail(detail::joined({"ParameterList: index ", std::to_string(i), " is out of range for ",
                           std::to_string(n), n == 1 ? " parameter" : " parameters"}));
    }
    return tensor(std::to_string(i < 0 ? i + n : i).c_str());
  }
  std::vector<Tensor> to_vector() const {
    std::vector<Tensor> list;
    for (auto& entry : detail::own_entries(*this)) list.push_back(std::move(entry.tensor));
    return list;
  }
  using Iterator = detail::Snapshot<Tensor>;
  Iterator begin() const { return Iterator(to_vector()); }
  Iterator end() const { return {}; }
  ParameterList clone() const {
    ParameterList copy(*this);
    static_cast<Object&>(copy) = Object::clone();
    return copy;
  }

 private:
  static Object made() {
    const Object object = Object::empty("ParameterList");
    object.method("clone() -> object", [] { return made(); });
    return object;
  }
};

// Parameters by name, which ask for their gradients, in the order in which they were put in.
class ParameterDict : public Object {
 public:
  const ParameterDict* operator->() const { return this; }
  ParameterDict() : Object(made()) {}
  explicit ParameterDict(const NamedTensors& parameters) : Object(made()) {
    for (const auto& [name, tensor] : parameters) insert(name, tensor);
  }
  // One of the same name is replaced.
  const ParameterDict& insert(const std::string& name, const Tensor& tensor) const {
    parameter(name.c_str(), tensor);
    return *this;
  }
  // All of them; those of the same names are replaced.
  const ParameterDict& update(const NamedTensors& parameters) const {
    for (const auto& [name, tensor] : parameters) insert(name, tensor);
    return *this;
  }
  // Takes the parameter out, and gives it.
  Tensor pop(const std::string& name) const {
    Tensor parameter = tensor(name.c_str());
    check(detail::api.object->remove(checked(), name.c_str()));
    return parameter;
  }
  void clear() const {
    for (const std::string& name : keys())
      check(detail::api.object->remove(checked(), name.c_str()));
  }
  size_t size() const { return detail::own_entries(*this).size(); }
  bool empty() const { return size() == 0; }
  bool is_empty() const { return empty(); }
  bool contains(const std::string& name) const {
    for (const auto& entry : detail::own_entries(*this))
      if (entry.name == name) return true;
    return false;
  }
  // An Error that names the nearest where there is none.
  Tensor operator[](const std::string& name) const { return tensor(name.c_str()); }
  using Object::get;
  Tensor get(const std::string& name) const { return tensor(name.c_str()); }
  std::vector<Tensor> values() const { return items().values(); }
  NamedTensors items() const {
    NamedTensors list;
    for (auto& entry : detail::own_entries(*this))
      list.emplace_back(std::move(entry.name), std::move(entry.tensor));
    return list;
  }
  using Iterator = detail::Snapshot<std::pair<std::string, Tensor>>;
  Iterator begin() const { return Iterator(items()); }
  Iterator end() const { return {}; }
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (auto& entry : detail::own_entries(*this)) names.push_back(std::move(entry.name));
    return names;
  }
  ParameterDict clone() const {
    ParameterDict copy(*this);
    static_cast<Object&>(copy) = Object::clone();
    return copy;
  }

 private:
  static Object made() {
    const Object object = Object::empty("ParameterDict");
    object.method("clone() -> object", [] { return made(); });
    return object;
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace tenon
