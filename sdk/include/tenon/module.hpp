// Modules as C++ classes of an application or a plugin, which become objects like any other:
//
//   struct Net : tenon::Module {
//     tenon::Object hidden = child("hidden", tenon::Object::create("Linear", 64, 32));
//     tenon::Tensor forward(tenon::Tensor x) { return relu(hidden(x)); }
//   };
//   auto net = tenon::make<Net>();   // an Object: containers hold it, state_dict and training know
//   it
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/clone.hpp"
#include "tenon/module_forward.hpp"
#include "tenon/module_members.hpp"
#include "tenon/object.hpp"
#include "tenon/unregistered.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

template <typename T>
class Made;

namespace detail {

// The name of the class that make<T> is about to construct.
inline thread_local const char* module_name = nullptr;

inline Object new_module_object() {
  const char* name = std::exchange(module_name, nullptr);
  return Object::empty(name ? name : "Module that make<T>() did not make");
}

template <typename T>
struct IsMade : std::false_type {};
template <typename T>
struct IsMade<Made<T>> : std::true_type {};

// An argument of a constructor, kept for copies of the module: text is kept as text.
template <typename A>
using KeptArgument = std::conditional_t<std::is_same_v<std::decay_t<A>, const char*> ||
                                            std::is_same_v<std::decay_t<A>, char*> ||
                                            std::is_same_v<std::decay_t<A>, std::string_view>,
                                        std::string, std::decay_t<A>>;
// As the constructor of the copy gets it: a layer or tensor is copied with the module.
template <typename A>
auto argument_of_copy(const A& argument) {
  if constexpr (IsMade<A>::value) {
    return argument.clone();
  } else if constexpr (std::is_base_of_v<Object, A>) {
    A copy = argument;
    static_cast<Object&>(copy) = argument ? clone_object(argument).first : Object();
    return copy;
  } else if constexpr (std::is_same_v<A, std::vector<Object>>) {
    A copies;
    for (const Object& object : argument)
      copies.push_back(object ? clone_object(object).first : Object());
    return copies;
  } else if constexpr (std::is_same_v<A, Tensor>) {
    return argument.defined() ? argument.detach().clone() : Tensor();
  } else {
    return argument;
  }
}
// What T is constructed from, where that can be copied; else nothing, and a T has no copies.
template <typename T, typename... Args>
struct KeptArguments {
  static constexpr bool can_be = [] {
    if constexpr ((std::is_copy_constructible_v<KeptArgument<Args>> && ...)) {
      return std::is_constructible_v<T, KeptArgument<Args>...>;
    } else {
      return false;
    }
  }();
  using Tuple = std::conditional_t<can_be, std::tuple<KeptArgument<Args>...>, std::tuple<>>;
  static Tuple of(const Args&... args) {
    if constexpr (can_be) {
      return Tuple(args...);
    } else {
      return {};
    }
  }
};

// An argument of a module's call beside one that stands in braces, or in these itself: {} is None or
// an empty list, {a, b} a list. It loses against the argument as it is.
template <typename P>
struct InBraces {
  P value;
  InBraces() requires std::is_same_v<P, Tensor> || requires(P p) { p.has_value(); }
  = default;
  template <typename G>
  requires(std::is_convertible_v<const G&, P> &&
           !(std::is_integral_v<P> && std::is_floating_point_v<G>)) InBraces(const G& given)
      : value(given) {}
};
template <typename E>
struct InBraces<std::vector<E>> {
  std::vector<E> value;
  InBraces() = default;
  InBraces(std::vector<E> given) : value(std::move(given)) {}
  InBraces(std::initializer_list<E> given) : value(given) {}
};
template <size_t i, typename Parameters>
using Braced = const InBraces<std::tuple_element_t<i, Parameters>>&;

}  // namespace detail

// The base of such classes: the object that is being built, to which the constructor adds
// parameters and children. Lives in the object that make<T> gives, and ends with it.
class Module : public Object {
 public:
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Object's. Until the class is constructed each name is registered once: a second layer of a name
  // would leave the first one, which a member holds, out of all that is trained and saved.
  Child child(TextRef name) const { return Object::child(name); }
  template <typename T>
  requires std::is_base_of_v<Object, T> T child(TextRef name, T child)
  const {
    refuse_second(name);
    return Object::child(name, std::move(child));
  }
  template <detail::SharedPointer P>
  Object child(TextRef name, const P& pointer) const {
    return Object::register_module(name, pointer);
  }
  Tensor parameter(TextRef name, Tensor tensor) const {
    refuse_second(name);
    return Object::parameter(name, std::move(tensor));
  }
  Tensor buffer(TextRef name, Tensor tensor, bool persistent = true) const {
    refuse_second(name);
    return Object::buffer(name, std::move(tensor), persistent);
  }
  Tensor register_parameter(TextRef name, Tensor tensor) const {
    refuse_second(name);
    return Object::register_parameter(name, std::move(tensor));
  }
  Tensor register_buffer(TextRef name, Tensor tensor, bool persistent = true) const {
    refuse_second(name);
    return Object::register_buffer(name, std::move(tensor), persistent);
  }
  template <typename T>
  requires std::is_base_of_v<Object, T> T register_module(TextRef name, T module)
  const { return child(name, std::move(module)); }
  template <typename T>
  requires std::is_base_of_v<Object, T> T add_module(TextRef name, T module)
  const { return child(name, std::move(module)); }
  template <detail::SharedPointer P>
  Object register_module(TextRef name, const P& pointer) const {
    return Object::register_module(name, pointer);
  }
  // Of a class that has none, in whose place Object's would be taken for its own.
  template <std::same_as<detail::WhichForward> T>
  detail::NoForwardOfItsOwn forward(T) const {
    return {};
  }

 protected:
  Module() : Object(detail::new_module_object()) {}
  ~Module() {
    if (lives_in_object_) release();
  }

 private:
  template <typename T>
  friend class Made;
  // An entry that is None is there to be filled.
  void refuse_second(TextRef name) const {
    if (lives_in_object_) return;
    const std::string wanted = name.c_str();
    const char* what = nullptr;
    for (const auto& [entry, tensor, kind] : detail::own_entries(*this)) {
      if (entry != wanted || (!tensor.defined() && kind != TN_ENTRY_COMPUTED)) continue;
      const bool is_buffer = kind == TN_ENTRY_BUFFER || kind == TN_ENTRY_UNSAVED;
      what = is_buffer ? "buffer" : "parameter";
    }
    std::string known;
    for (uint32_t i = 0; i < n_children(); ++i)
      if (child_at(i, &known) && known == wanted) what = "child";
    if (!what) return;
    const bool is_child = std::string_view(what) == "child";
    fail(detail::joined(
        {type_name(), ": ", what, " '", wanted,
         "' is registered already, and a second one would take its place; expected another name",
         is_child ? ", or member = replace_module(name, layer)" : ""}));
  }
  bool lives_in_object_ = false;
  detail::ModuleMembers* members_ = nullptr;
};

// An Object that holds a T; `->` reaches it.
template <typename T>
class Made : public Object {
 public:
  Made() = default;  // None
  template <typename... Args>
  explicit Made(std::in_place_t, Args&&... args) {
    static_assert(detail::forward_is_clear<T>(),
                  "`forward` of a module is public, no template and not overloaded");
    std::string name = detail::class_name<T>();
    struct Named {
      explicit Named(const char* class_name) { detail::module_name = class_name; }
      ~Named() { detail::module_name = nullptr; }
    };
    using Kept = detail::KeptArguments<T, std::remove_cvref_t<Args>...>;
    [[maybe_unused]] typename Kept::Tuple kept = Kept::of(args...);
    std::unique_ptr<T, detail::DestroyModule<T>> made;
    detail::MakingScope making;
    {
      const Named named(name.c_str());
      made = detail::construct_module<T>(std::forward<Args>(args)...);
    }
    making.finish(*made);
    // Where what follows fails, what is noted of this module must not be that of the next one there.
    struct Forget {
      tn_object* module;
      ~Forget() {
        if (module) detail::UnregisteredThings::of_process().take(module);
      }
    } forget{made->get()};
    static_cast<Object&>(*this) = static_cast<const Object&>(*made);
    made_ = made.get();
    using Forward = typename detail::ForwardKind<T>::type;
    auto forward = std::make_unique<Forward>();
    check(detail::api.object->add_method(get(), Forward::schema().c_str(), Forward::invoke,
                                         forward.get(), detail::Held<Forward>::destroy));
    made->lives_in_object_ = true;
    Forward& living = *forward.release();
    living.module = std::move(made);
    forget.module = nullptr;
    detail::api.object->release(
        get());  // the T's own reference: it must not keep its own object alive
    living.members.watch(get(), made_, sizeof(T), making.placed_members());
    made_->members_ = &living.members;
    if constexpr (detail::HasRightInverse<T>) detail::add_right_inverse(*this, *made_);
    if constexpr (Kept::can_be) {
      this->method(detail::Cloner::kOfModules,
                   [kept = std::move(kept), module = made_](Object& self, bool) -> Object {
                     const detail::CloneScope scope;
                     detail::Cloner& cloner = *detail::Cloner::current;
                     const Object copy = std::apply(
                         [&](const auto&... argument) {
                           Made<T> made(std::in_place, detail::argument_of_copy(argument)...);
                           made.made_->members_->adopt_places_of(*module->members_);
                           cloner.note_module(made, made.made_);
                           return static_cast<const Object&>(made);
                         },
                         kept);
                     if (scope.begins()) {  // called by itself, or by a copy of another library
                       cloner.adopt(self, copy);
                       cloner.copy_modes(self);
                     }
                     return copy;
                   });
    } else if (!detail::Cloner::has_method(*this, "clone")) {
      this->method(detail::Cloner::kOfModules, [](Object& self, bool) -> Object {
        return detail::Cloner::made_by_factory(self);  // refused: it has none
      });
    }
  }
  // A copy with tensors of its own: constructed anew with copies of the arguments of make<T>, with
  // the values of this one. (clone.hpp)
  Made clone() const {
    auto [object, module] = detail::clone_object(*this);
    Made copy;
    static_cast<Object&>(copy) = std::move(object);
    copy.made_ = static_cast<T*>(module);
    return copy;
  }
  // Its `forward`, with hooks, and what that gives: a Tensor, several in a tuple, pair, array or
  // struct, or a list.
  template <typename... Args>
  auto operator()(const Args&... args) const {
    using Given = std::remove_cvref_t<detail::ResultOf<decltype(&T::forward)>>;
    if constexpr (detail::IsStructOfValues<Given>) {
      return std::apply(
          [](auto&&... field) { return Given{std::move(field)...}; },
          this->template invoke<typename detail::FieldsOf<Given>::type>("forward", args...));
    } else {
      using R = std::conditional_t<std::is_base_of_v<Tensor, Given>, Tensor, Given>;
      return this->template invoke<R>("forward", args...);
    }
  }
  template <typename... Args>
  auto forward(const Args&... args) const {
    return (*this)(args...);
  }
  // The same where an argument stands in braces, whose type nothing else says: net(x, {}, {h, c}).
  template <typename U = T, typename A = detail::ArgsOf<decltype(&U::forward)>>
  auto operator()(detail::Braced<0, A> a) const {
    return (*this)(a.value);
  }
  template <typename U = T, typename A = detail::ArgsOf<decltype(&U::forward)>>
  auto operator()(detail::Braced<0, A> a, detail::Braced<1, A> b) const {
    return (*this)(a.value, b.value);
  }
  template <typename U = T, typename A = detail::ArgsOf<decltype(&U::forward)>>
  auto operator()(detail::Braced<0, A> a, detail::Braced<1, A> b, detail::Braced<2, A> c) const {
    return (*this)(a.value, b.value, c.value);
  }
  template <typename U = T, typename A = detail::ArgsOf<decltype(&U::forward)>>
  auto operator()(detail::Braced<0, A> a, detail::Braced<1, A> b, detail::Braced<2, A> c,
                  detail::Braced<3, A> d) const {
    return (*this)(a.value, b.value, c.value, d.value);
  }
  T* operator->() const { return &**this; }
  T& operator*() const {
    if (!made_) [[unlikely]]
      fail(detail::class_name<T>() + ": the module is None: never assigned, or moved from");
    return *made_;
  }

 private:
  T* made_ = nullptr;
  uint64_t mark_ = detail::kMadeMark;
};

// Constructs a T as an object.
template <typename T, typename... Args>
Made<T> make(Args&&... args) {
  return Made<T>(std::in_place, std::forward<Args>(args)...);
}

}  // namespace v0
}  // namespace tenon
