// Modules as C++ classes of an application or a plugin, which become objects like any other:
//
//   struct Net : tenon::Module {
//     tenon::Object hidden = child("hidden", tenon::Object::create("Linear", 64, 32));
//     tenon::Tensor forward(tenon::Tensor x) { return relu(hidden(x)); }
//   };
//   auto net = tenon::make<Net>();   // an Object: containers hold it, state_dict and training know
//   it
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// The name of the class that make<T> is about to construct.
inline thread_local const char* module_name = nullptr;

inline Object new_module_object() {
  const char* name = std::exchange(module_name, nullptr);
  return Object::empty(name ? name : "Module");
}

template <typename T>
constexpr const char* schema_type() {
  using U = std::remove_cvref_t<T>;
  if constexpr (std::is_base_of_v<Tensor, U>) {
    return "Tensor";
  } else if constexpr (std::is_same_v<U, std::optional<Tensor>>) {
    return "Tensor?";
  } else if constexpr (std::is_same_v<U, std::vector<Tensor>>) {
    return "Tensor[]";
  } else if constexpr (std::is_same_v<U, std::optional<bool>>) {
    return "bool?";
  } else if constexpr (std::is_same_v<U, std::optional<int64_t>>) {
    return "int?";
  } else if constexpr (std::is_same_v<U, std::optional<double>>) {
    return "float?";
  } else if constexpr (std::is_same_v<U, bool>) {
    return "bool";
  } else if constexpr (std::is_integral_v<U>) {
    return "int";
  } else if constexpr (std::is_floating_point_v<U>) {
    return "float";
  } else if constexpr (std::is_same_v<U, std::vector<int64_t>>) {
    return "int[]";
  } else {
    static_assert(std::is_same_v<U, std::string>, "forward takes what a schema can say");
    return "str";
  }
}

// Whether m.forward(x...) can be called with the first arguments of its parameters' types alone.
template <typename T, typename ArgTuple, size_t... I>
constexpr bool forward_takes(std::index_sequence<I...>) {
  return requires(T & m, ArgTuple & args) { m.forward(std::get<I>(args)...); };
}
// How many arguments `forward` needs: those behind have defaults in C++.
template <typename T, typename ArgTuple>
constexpr size_t forward_needs() {
  size_t needed = std::tuple_size_v<ArgTuple>;
  [&]<size_t... I>(std::index_sequence<I...>) {
    const bool takes[] = {true, forward_takes<T, ArgTuple>(std::make_index_sequence<I>())...};
    while (needed > 0 && takes[needed]) --needed;
  }
  (std::make_index_sequence<std::tuple_size_v<ArgTuple>>());
  return needed;
}

// "forward(Tensor x0, int? x1=None) -> Tensor" of a member function, whose arguments from the
// `needed`th on may be left out, as may std::optional ones at its end.
template <typename ArgTuple, typename Result>
std::string method_schema(const char* name, size_t needed) {
  constexpr size_t kCount = std::tuple_size_v<ArgTuple>;
  std::vector<std::string> types = [&]<size_t... I>(std::index_sequence<I...>) {
    return std::vector<std::string>{schema_type<std::tuple_element_t<I, ArgTuple>>()...};
  }
  (std::make_index_sequence<kCount>());
  for (size_t i = needed; i < kCount; ++i) {
    if (!types[i].ends_with('?')) types[i] += '?';
  }
  while (needed > 0 && types[needed - 1].ends_with('?')) --needed;
  std::string text = name;
  for (size_t i = 0; i < kCount; ++i) {
    text += joined({i == 0 ? "(" : ", ", types[i], " x", std::to_string(i)});
    if (i >= needed) text += "=None";
  }
  if (kCount == 0) text += "(";
  text += ") -> ";
  if constexpr (IsTuple<Result>::value) {
    text += "(";
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((text += std::string(I ? ", " : "") + schema_type<std::tuple_element_t<I, Result>>()), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Result>>());
    text += ")";
  } else {
    text += schema_type<Result>();
  }
  return text;
}

// The method `forward` of a T; lives in the object, and the T with it.
template <typename T>
struct ForwardOf {
  using Parameters = ArgsOf<decltype(&T::forward)>;
  using Result = ResultOf<decltype(&T::forward)>;
  static constexpr size_t kNeeded = forward_needs<T, Parameters>();
  T* module;
  explicit ForwardOf(T* m) : module(m) {}
  ForwardOf(ForwardOf&& other) : module(std::exchange(other.module, nullptr)) {}
  ~ForwardOf() { delete module; }
  // With the first N of the arguments, less those at the end that are None and have a default.
  template <size_t N>
  Result call(const tn_value* args) {
    if constexpr (N > kNeeded) {
      if (args[N - 1].kind == TN_KIND_NONE) return call<N - 1>(args);
    }
    return [&]<size_t... I>(std::index_sequence<I...>)->Result {
      return module->forward(Unpack<std::tuple_element_t<I, Parameters>>::borrow(args[I])...);
    }
    (std::make_index_sequence<N>());
  }
  static tn_status* invoke(void* self, tn_object*, const tn_value* args, uint32_t n_args,
                           tn_value* results, uint32_t n_results) {
    return to_status([&] {
      constexpr size_t kCount = std::tuple_size_v<Parameters>;
      if (n_args != kCount) wrong_count("takes", kCount, n_args);
      auto result = static_cast<ForwardOf*>(self)->template call<kCount>(args);
      if constexpr (std::is_same_v<Result, std::vector<Tensor>>) {
        give(results[0], std::move(result));  // one result that is a list
      } else {
        give_all(std::move(result), results, n_results);
      }
    });
  }
};

}  // namespace detail

// The base of such classes: the object that is being built, to which the constructor adds
// parameters and children. Lives in the object that make<T> gives, and ends with it.
class Module : public Object {
 public:
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 protected:
  Module() : Object(detail::new_module_object()) {}
  ~Module() {
    if (lives_in_object_) release();
  }

 private:
  template <typename T>
  friend class Made;
  bool lives_in_object_ = false;
};

// An Object that holds a T; `->` reaches it.
template <typename T>
class Made : public Object {
 public:
  template <typename... Args>
  explicit Made(std::in_place_t, Args&&... args) {
    std::string name = detail::class_name<T>();
    struct Named {
      explicit Named(const char* class_name) { detail::module_name = class_name; }
      ~Named() { detail::module_name = nullptr; }
    };
    std::unique_ptr<T> made;
    {
      const Named named(name.c_str());
      made.reset(new T(std::forward<Args>(args)...));
    }
    static_cast<Object&>(*this) = static_cast<const Object&>(*made);
    made_ = made.get();
    using Forward = detail::ForwardOf<T>;
    std::string schema =
        detail::method_schema<typename Forward::Parameters, typename Forward::Result>(
            "forward", Forward::kNeeded);
    std::unique_ptr<Forward> forward(new Forward(nullptr));
    check(detail::api.object->add_method(get(), schema.c_str(), Forward::invoke, forward.get(),
                                         detail::Held<Forward>::destroy));
    made->lives_in_object_ = true;
    forward.release()->module = made.release();
    detail::api.object->release(
        get());  // the T's own reference: it must not keep its own object alive
  }
  // Its `forward`, with hooks, and what that gives: a Tensor, several in a tuple, or a list.
  template <typename... Args>
  auto operator()(const Args&... args) const {
    using Given = detail::ResultOf<decltype(&T::forward)>;
    using R = std::conditional_t<std::is_base_of_v<Tensor, Given>, Tensor, Given>;
    return this->template invoke<R>("forward", args...);
  }
  T* operator->() const { return made_; }
  T& operator*() const { return *made_; }

 private:
  T* made_ = nullptr;
};

// Constructs a T as an object.
template <typename T, typename... Args>
Made<T> make(Args&&... args) {
  return Made<T>(std::in_place, std::forward<Args>(args)...);
}

}  // namespace v0
}  // namespace tenon
