// Modules one after the other: nn::Sequential, which is a layer, what it shares with nn::ModuleList
// (containers.hpp), which is a list alone, and what containers take as a module.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// A function as a layer: f(Tensor) gives a Tensor. It has no parameters that anyone else knows of.
template <typename F>
Object Lambda(F f, const char* name = "Lambda") {
  Object object = Object::empty(name);
  if constexpr (std::is_copy_constructible_v<F>) {
    // Of the function, too: what it holds by reference, or a layer that it holds, is shared.
    object.method("clone() -> object",
                  [f, name = std::string(name)] { return Lambda(f, name.c_str()); });
  }
  object.method("forward(Tensor x) -> Tensor",
                [f = std::move(f)](Tensor x) -> Tensor { return f(std::move(x)); });
  return object;
}

// What a container takes as a module: an object of any kind, or a function, which becomes a Lambda.
template <typename M>
Object as_module(M&& module) {
  if constexpr (std::is_base_of_v<Object, std::remove_cvref_t<M>>) {
    return std::forward<M>(module);
  } else {
    return Lambda(std::forward<M>(module));
  }
}

}  // namespace nn

namespace detail {

// Modules in order, children "0", "1", ..: what nn::Sequential and nn::ModuleList have in common. List is
// the class that derives from it; append and its kin give a handle of it, so that they may follow each
// other. A counted handle, as Object is.
template <typename List>
class ModulesInARow : public Object {
 public:
  const List* operator->() const { return &self(); }  // libtorch's containers are pointers
  // At the end: an object of any kind but an optimizer, or a function of a Tensor. An Error where a
  // child has a name of its own that is the number of the new one.
  template <typename M>
  List append(M&& module) const {
    const Object more = nn::as_module(std::forward<M>(module));
    const std::string name = std::to_string(size());
    refuse_optimizer(name, more);
    refuse_taken(name);
    child(name.c_str(), more);
    return self();
  }
  template <typename M>
  List push_back(M&& module) const {
    return append(std::forward<M>(module));
  }
  // All of them, or none where one is an optimizer.
  List extend(const std::vector<Object>& modules) const {
    for (size_t i = 0; i < modules.size(); ++i)
      refuse_optimizer(std::to_string(size() + i), modules[i]);
    for (const Object& module : modules) append(module);
    return self();
  }
  // Those of another container, which keeps them: model.extend(nn::Sequential(..)). A template, so that
  // braces are a list.
  template <typename Other>
  requires std::is_base_of_v<ModulesInARow<Other>, Other> List extend(const Other& modules)
  const { return extend(modules.children()); }
  // Before the one at `place`, or at the end where that is size(); a negative place counts from the
  // end. Those behind it are numbered anew. An Error where one of them has a name of its own.
  template <typename M>
  List insert(int64_t place, M&& module) const {
    const auto n = int64_t(size());
    if (place < -n || place > n) {
      fail(joined({type_name(), ": insert: place ", std::to_string(place), " is out of range for ",
                   std::to_string(n), n == 1 ? " module" : " modules"}));
    }
    const size_t first = size_t(place < 0 ? place + n : place), end = size_t(n);
    for (size_t i = first; i < end; ++i) refuse_named(i);
    refuse_taken(std::to_string(end));
    const Object more = nn::as_module(std::forward<M>(module));
    refuse_optimizer(std::to_string(first), more);
    // At the end first, where a name or a cycle is refused before anything has moved.
    child(std::to_string(end).c_str(), more);
    for (size_t i = end; i > first; --i)
      child(std::to_string(i).c_str(), child_at(uint32_t(i - 1)));
    child(std::to_string(first).c_str(), more);
    return self();
  }
  // Takes out the one at `place`, which counts from the end where it is negative, and gives it. Those behind
  // it are numbered anew. An Error where some of them have names of their own, and others have not.
  Object pop(int64_t place = -1) const {
    const auto n = int64_t(size());
    if (place < -n || place >= n) {
      fail(joined({type_name(), ": pop: place ", std::to_string(place), " is out of range for ",
                   std::to_string(n), n == 1 ? " module" : " modules"}));
    }
    const size_t first = size_t(place < 0 ? place + n : place), last = size_t(n) - 1;
    std::string name;
    const Object taken = child_at(uint32_t(first), &name);
    bool is_numbered = name == std::to_string(first), is_named = !is_numbered;
    for (size_t i = first; i <= last; ++i) {
      child_at(uint32_t(i), &name);
      (name == std::to_string(i) ? is_named : is_numbered) = false;
    }
    if (!is_numbered && !is_named) {
      fail(joined({type_name(), ": pop: of the modules from place ", std::to_string(first),
                   " some have names of their own, and only numbered ones can move"}));
    }
    for (size_t i = first; is_numbered && i < last; ++i)
      child(std::to_string(i).c_str(), child_at(uint32_t(i + 1)));
    child_at(uint32_t(is_numbered ? last : first), &name);
    unregister_module(name.c_str());
    return taken;
  }
  List erase(int64_t place) const {
    pop(place);
    return self();
  }
  List clear() const {
    while (!empty()) {
      std::string name;
      child_at(uint32_t(size() - 1), &name);
      unregister_module(name.c_str());
    }
    return self();
  }
  size_t size() const { return n_children(); }
  bool empty() const { return size() == 0; }
  bool is_empty() const { return empty(); }

  // for (const Object& layer : model)
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Object;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = const Object&;

    Iterator() = default;
    Iterator(Object list, uint32_t i) : list_(std::move(list)), i_(i) {}
    // Until the next one is asked for.
    const Object& operator*() const { return here_ = list_.child_at(i_); }
    const Object* operator->() const { return &**this; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++i_;
      return before;
    }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    Object list_;
    mutable Object here_;
    uint32_t i_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, n_children()}; }
  List clone() const {
    List copy(self());
    static_cast<Object&>(copy) = Object::clone();
    return copy;
  }

 protected:
  explicit ModulesInARow(Object object) : Object(std::move(object)) {}

  void refuse_optimizer(const std::string& name, const Object& module) const {
    if (module && module.kind() == TN_OBJECT_OPTIMIZER) {
      fail(joined({type_name(), ": '", name, "' is the optimizer ", module.type_name(),
                   ", expected a layer"}));
    }
  }

 private:
  const List& self() const { return static_cast<const List&>(*this); }
  // Is the number `next`, which one more module gets, the name of another, which it would replace?
  void refuse_taken(const std::string& next) const {
    for (size_t i = 0; i < size(); ++i) {
      std::string name;
      child_at(uint32_t(i), &name);
      if (name == next) {
        fail(joined({type_name(), ": the module at place ", std::to_string(i), " has the name '",
                     name, "', which one more would get"}));
      }
    }
  }
  void refuse_named(size_t i) const {
    std::string name;
    child_at(uint32_t(i), &name);
    if (name != std::to_string(i)) {
      fail(joined({type_name(), ": insert: the module at place ", std::to_string(i),
                   " has the name '", name, "', and only numbered ones can move"}));
    }
  }
};

}  // namespace detail

namespace nn {

// Each module's output is the next one's input. Children "0", "1", ... A layer of the pack that has
// the factory "Sequential"; copies of the handle share it.
class Sequential : public detail::ModulesInARow<Sequential> {
 public:
  // The handle of a Sequential that is there, as another object's child is; a constructor would put it
  // into a new one. An Error where it is none.
  static Sequential of(const Object& object) {
    if (object.type_name() != "Sequential")
      fail("Sequential::of: the object is a " + object.type_name() + ", expected a Sequential");
    return {std::in_place, object};
  }
  explicit Sequential(const std::vector<Object>& modules) : ModulesInARow(made(modules)) {}
  // With names of one's own: Sequential({{"hidden", nn::Linear(2, 8)}, {"act", nn::ReLU()}}).
  explicit Sequential(const NamedObjects& modules) : ModulesInARow(made({})) {
    for (size_t i = 0; i < modules.size(); ++i) {
      const auto& [name, module] = modules[i];
      refuse_optimizer(name, module);
      child(name.c_str(), module);
      if (size() == i) fail("Sequential: the name '" + name + "' is there twice");
    }
  }
  // Of a list in braces: Sequential({inner}) holds inner, of which Sequential(inner) is a copy of the
  // handle. A template, so that Sequential{inner} is one, too.
  template <std::same_as<std::initializer_list<Object>> L = std::initializer_list<Object>>
  explicit Sequential(L modules) : Sequential(std::vector<Object>(modules)) {}
  // Objects of any kind, and functions of a Tensor.
  template <typename... Modules>
  requires(!(std::is_same_v<std::remove_cvref_t<Modules>, std::vector<Object>> || ...) &&
           !(std::is_same_v<std::remove_cvref_t<Modules>, NamedObjects> || ...) &&
           !(sizeof...(Modules) == 1 &&
             (std::is_same_v<std::remove_cvref_t<Modules>, Sequential> && ...)))  //
      explicit Sequential(Modules&&... modules)
      : ModulesInARow(made({as_module(std::forward<Modules>(modules))...})) {}

  using ModulesInARow::append;
  using ModulesInARow::push_back;
  // With a name of its own, that no module has.
  template <typename M>
  Sequential append(const std::string& name, M&& module) const {
    const Object more = as_module(std::forward<M>(module));
    refuse_optimizer(name, more);
    for (const auto& [known, one] : named_children())
      if (known == name) fail("Sequential: the name '" + name + "' is there twice");
    child(name.c_str(), more);
    return *this;
  }
  template <typename M>
  Sequential push_back(const std::string& name, M&& module) const {
    return append(name, std::forward<M>(module));
  }

 private:
  Sequential(std::in_place_t, const Object& object) : ModulesInARow(object) {}
  static Object made(const std::vector<Object>& modules) {
    return Object::create("Sequential", detail::to_value(modules));
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace tenon
