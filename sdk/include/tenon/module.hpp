// Modules as C++ classes of an application or a plugin, which become objects like any other:
//
//   struct Net : tenon::Module {
//     tenon::Object hidden = child("hidden", tenon::Object::create("Linear", 64, 32));
//     tenon::Tensor forward(tenon::Tensor x) { return relu(hidden(x)); }
//   };
//   auto net = tenon::make<Net>();   // an Object: containers hold it, state_dict and training know
//   it
#pragma once

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
  if constexpr (std::is_same_v<U, Tensor>) {
    return "Tensor";
  } else if constexpr (std::is_same_v<U, std::optional<Tensor>>) {
    return "Tensor?";
  } else if constexpr (std::is_same_v<U, std::vector<Tensor>>) {
    return "Tensor[]";
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

// "forward(Tensor x0, int x1) -> Tensor" of a member function.
template <typename ArgTuple, typename Result>
std::string method_schema(const char* name) {
  std::string text = std::string(name) + "(";
  [&]<size_t... I>(std::index_sequence<I...>) {
    ((text += std::string(I ? ", " : "") + schema_type<std::tuple_element_t<I, ArgTuple>>() + " x" +
              std::to_string(I)),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<ArgTuple>>());
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
    detail::module_name = name.c_str();
    T* made = new T(std::forward<Args>(args)...);
    detail::module_name = nullptr;
    static_cast<Object&>(*this) = static_cast<const Object&>(*made);
    made_ = made;
    struct Forward {  // lives in the object, and the T with it
      T* module;
      Forward(T* m) : module(m) {}
      Forward(Forward&& other) : module(std::exchange(other.module, nullptr)) {}
      ~Forward() { delete module; }
      detail::ResultOf<decltype(&T::forward)> call(const tn_value* args, uint32_t n) {
        auto f = [this](auto&&... x) { return module->forward(std::forward<decltype(x)>(x)...); };
        return detail::apply_values<detail::ArgsOf<decltype(&T::forward)>>(f, args, n);
      }
      static tn_status* invoke(void* self, tn_object*, const tn_value* args, uint32_t n_args,
                               tn_value* results, uint32_t n_results) {
        return to_status([&] {
          detail::give_all(static_cast<Forward*>(self)->call(args, n_args), results, n_results);
        });
      }
    };
    using F = decltype(&T::forward);
    std::string schema = detail::method_schema<detail::ArgsOf<F>, detail::ResultOf<F>>("forward");
    Forward* forward = new Forward(made);
    if (tn_status* status = detail::api.object->add_method(
            get(), schema.c_str(), Forward::invoke, forward, detail::Held<Forward>::destroy)) {
      delete forward;
      detail::raise(status);
    }
    made->lives_in_object_ = true;
    detail::api.object->release(
        get());  // the T's own reference: it must not keep its own object alive
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
