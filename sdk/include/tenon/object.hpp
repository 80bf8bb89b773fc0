// Objects: layers, optimizers and modules, which the host owns. A handle to any of them, and their
// methods from C++ lambdas. Classes that become objects are in module.hpp. Objects are not locked:
// one thread at a time changes one.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/function.hpp"
#include "tenon/op.hpp"
#include "tenon/signature.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

class Object;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using NamedObjects = std::vector<std::pair<std::string, Object>>;

namespace detail {
// Reports what a module under `root` made and never registered: set as soon as there is any
// (unregistered.hpp).
using ReportUnregistered = void (*)(const Object& root);
inline constinit ReportUnregistered report_unregistered = nullptr;
inline void note_made(tn_object* object) {
  if (making) [[unlikely]]
    making->made(making, object, nullptr);
}
}  // namespace detail

// What register_full_backward_hook gives, to remove it by.
struct BackwardHook {
  uint64_t before, after;  // the forward hooks that it is made of
};

// A counted handle. Null by default; copies share one object.
class Object {
 public:
  Object() noexcept = default;
  // By a factory's name, options in the order of its schema: Object::create("Linear", 64, 10).
  template <typename... Options>
  static Object create(const char* factory, const Options&... options) {
    const tn_value values[sizeof...(Options) + 1] = {detail::to_value(options)...};
    tn_object* object = nullptr;
    check(detail::api.object->create(factory, values, sizeof...(Options), &object));
    Object made = take(object);
    detail::note_made(object);
    return made;
  }
  // By option names, any order: Object::create_named("SGD", {"lr", "momentum"}, {0.1, 0.9}).
  static Object create_named(const char* factory, const std::vector<const char*>& names,
                             const std::vector<tn_value>& values) {
    tn_object* object = nullptr;
    check(detail::api.object->create_named(factory, names.data(), values.data(),
                                           uint32_t(names.size()), &object));
    return take(object);
  }
  // Without factory: the caller adds what it has.
  static Object empty(const char* type_name, tn_object_kind kind = TN_OBJECT_LAYER) {
    tn_object* object = nullptr;
    check(detail::api.object->create_empty(type_name, kind, &object));
    return take(object);
  }

  Object(const Object& other) noexcept : object_(other.object_) {
    if (object_) detail::api.object->retain(object_);
  }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() {
    if (object_) detail::api.object->release(object_);
  }
  static Object take(tn_object* o) noexcept {
    Object object;
    object.object_ = o;
    return object;
  }
  static Object borrow(tn_object* o) noexcept {
    if (o) detail::api.object->retain(o);
    return take(o);
  }
  tn_object* get() const noexcept { return object_; }
  tn_object* release() noexcept { return std::exchange(object_, nullptr); }
  bool defined() const noexcept { return object_ != nullptr; }
  explicit operator bool() const noexcept { return defined(); }
  bool operator==(const Object& other) const noexcept { return object_ == other.object_; }

  std::string type_name() const { return detail::api.object->type_name(checked()); }
  tn_object_kind kind() const { return detail::api.object->kind(checked()); }

  // Building. A name has no '.'; a second entry of one name replaces the first. Returns what was
  // added, to go on with.
  Tensor parameter(const char* name, Tensor tensor) const {  // asks for its gradient
    if (tensor.defined()) tensor.requires_grad_();
    return set(name, std::move(tensor), TN_ENTRY_PARAMETER);
  }
  Tensor buffer(const char* name, Tensor tensor) const {
    return set(name, std::move(tensor), TN_ENTRY_BUFFER);
  }
  Tensor set(const char* name, Tensor tensor, tn_entry_kind kind = TN_ENTRY_PARAMETER) const {
    check(detail::api.object->set_tensor(checked(), name, tensor.get(), kind));
    return tensor;
  }
  template <typename T>
  requires std::is_base_of_v<Object, T> T child(const char* name, T child)
  const {
    check(detail::api.object->set_child(checked(), name, child.get()));
    return child;
  }
  // f(Object& self, arguments...), or f(arguments...) without the first; what it gives is by the
  // schema.
  template <typename F>
  const Object& method(const char* schema, F f) const;

  // Reading. Null where the entry is empty; an Error that lists the names when there is none of
  // this name.
  Tensor tensor(const char* name) const {
    tn_tensor* t = nullptr;
    check(detail::api.object->tensor(checked(), name, &t));
    return Tensor::take(t);
  }
  Object child(const char* name) const {
    tn_object* o = nullptr;
    check(detail::api.object->child(checked(), name, &o));
    return take(o);
  }
  uint32_t n_children() const { return detail::api.object->n_children(checked()); }
  Object child_at(uint32_t i, std::string* name = nullptr) const {
    const char* text = nullptr;
    tn_object* o = nullptr;
    check(detail::api.object->child_at(checked(), i, &text, &o));
    if (name) *name = text;
    return take(o);
  }
  // Of a Sequential or another container the layer at this place; a negative one counts from the
  // end. An Error where there is none.
  template <typename I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) Object operator[](I place) const {
    const auto n = int64_t(n_children()), i = int64_t(place);
    if (i < -n || i >= n) {
      fail(detail::joined({type_name(), ": index ", std::to_string(i), " is out of range for ",
                           std::to_string(n), n == 1 ? " child" : " children"}));
    }
    return child_at(uint32_t(i < 0 ? i + n : i));
  }
  std::vector<Object> children() const {
    std::vector<Object> list;
    for (uint32_t i = 0; i < n_children(); ++i) list.push_back(child_at(i));
    return list;
  }
  // An option by its name in the factory's schema; T as the parameter of a lambda (double, int64_t,
  // bool, std::string, ...).
  template <typename T>
  T option(const char* name) const {
    tn_value value;
    check(detail::api.object->option(checked(), name, &value));
    return detail::Unpack<T>::borrow(value);
  }

  // Calls a method; arguments by its schema, trailing ones default.
  template <typename R = Tensor, typename... Args>
  R invoke(const char* method, const Args&... args) const {
    const tn_value values[sizeof...(Args) + 1] = {detail::to_value(args)...};
    tn_value results[detail::Results<R>::count + 1];
    check(detail::api.object->invoke(checked(), method, values, sizeof...(Args), results,
                                     detail::Results<R>::count));
    return detail::Results<R>::take(results);
  }
  // Its `forward`, with hooks.
  template <typename... Args>
  Tensor operator()(const Args&... args) const {
    return invoke<Tensor>("forward", args...);
  }
  // The same where `forward` gives N tensors: auto [y, h] = layer.call<2>(x).
  template <size_t N, typename... Args>
  std::array<Tensor, N> call(const Args&... args) const {
    return invoke<std::array<Tensor, N>>("forward", args...);
  }
  // NULL text when there is no such method.
  std::string method_schema(const char* method) const {
    const char* text = nullptr;
    check(detail::api.object->method_schema(checked(), method, &text));
    return text ? text : "";
  }
  // f(Object& self, Tensor input, Tensor output): after each forward of one tensor to one; a Tensor
  // that it gives replaces the output.
  template <typename F>
  uint64_t register_forward_hook(F f) const;
  void remove_forward_hook(uint64_t id) const {
    check(detail::api.object->remove_forward_hook(checked(), id));
  }
  // f(Object& self, Tensor input): before each forward; a Tensor that it gives replaces the first
  // argument. Removed as a forward hook is.
  template <typename F>
  uint64_t register_forward_pre_hook(F f) const;
  // f(Object& self, Tensor grad_input, Tensor grad_output): in backward, of a forward of one tensor
  // to one; a Tensor that it gives replaces grad_input, which is None where the input needs no
  // gradient. (module_hooks.hpp)
  template <typename F>
  BackwardHook register_full_backward_hook(F f) const;
  void remove_full_backward_hook(BackwardHook hook) const {
    remove_forward_hook(hook.before);
    remove_forward_hook(hook.after);
  }

  // The tree. Names are paths ("0.weight"), in order of definition.
  NamedTensors named_parameters() const {
    if (detail::report_unregistered) [[unlikely]]
      detail::report_unregistered(*this);
    return entries(1u << TN_ENTRY_PARAMETER);
  }
  NamedTensors named_buffers() const { return entries(1u << TN_ENTRY_BUFFER); }
  std::vector<Tensor> buffers() const {
    std::vector<Tensor> list;
    for (auto& entry : named_buffers()) list.push_back(std::move(entry.second));
    return list;
  }
  NamedObjects named_children() const;
  // This object, whose name is "", and all below it, each once.
  NamedObjects named_modules() const;
  std::vector<Object> modules() const;
  // f(Object&) of each object of the tree: children before what holds them, this one last.
  template <typename F>
  const Object& apply(F f) const;
  // The object or parameter of this path ("encoder.0", "encoder.0.weight").
  Object get_submodule(const std::string& path) const;
  Tensor get_parameter(const std::string& path) const;
  // A copy with tensors of its own. An Error where an object in the tree does not say how it is
  // copied. (clone.hpp)
  Object clone() const;
  NamedTensors state_dict() const {  // detached; shares memory
    NamedTensors list = entries(~0u);
    for (auto& entry : list) entry.second = entry.second.detach();
    return list;
  }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> list;
    for (auto& entry : named_parameters()) list.push_back(std::move(entry.second));
    return list;
  }
  // Copies values in. strict: names must match one to one; the Error lists those that do not.
  void load_state_dict(const NamedTensors& state, bool strict = true) const {
    std::vector<const char*> names;
    std::vector<tn_tensor*> tensors;
    for (const auto& [name, tensor] : state) {
      names.push_back(name.c_str());
      tensors.push_back(tensor.get());
    }
    check(detail::api.object->load_state(checked(), names.data(), tensors.data(),
                                         uint32_t(names.size()), strict));
  }
  // Of all parameters.
  const Object& requires_grad_(bool on = true) const {
    for (const Tensor& parameter : parameters()) parameter.requires_grad_(on);
    return *this;
  }
  // Moves parameters and buffers, in place; a dtype changes the floating ones.
  const Object& to(Device device, Dtype floats = {}) const {
    check(detail::api.object->to(checked(), device.value, floats.value));
    return *this;
  }
  // Where they are. An Error when they lie on several devices.
  const Object& to(Dtype floats) const;
  bool training() const { return detail::api.object->training(checked()) != 0; }
  const Object& train(bool on = true) const {
    detail::api.object->set_training(checked(), on);
    return *this;
  }
  const Object& eval() const { return train(false); }
  void zero_grad() const { check(detail::api.object->zero_grad(checked())); }
  // As PyTorch prints modules.
  std::string to_string() const {
    const char* text = nullptr;
    check(detail::api.object->describe(checked(), &text));
    return detail::take_text(text);
  }

 private:
  NamedTensors entries(uint32_t kinds) const {
    struct Visit {
      NamedTensors list;
      uint32_t kinds;
      tn_status* failed;
    } visit{{}, kinds, nullptr};
    auto note = [](void* context, const char* name, tn_tensor* t, tn_entry_kind kind) {
      auto* v = static_cast<Visit*>(context);
      if (!t || !(v->kinds >> kind & 1) || v->failed) return;
      v->failed = to_status([&] { v->list.emplace_back(name, Tensor::borrow(t)); });
    };
    tn_status* status = detail::api.object->visit(checked(), note, &visit);
    if (status) ignore(std::exchange(visit.failed, nullptr));
    check(status);
    check(visit.failed);
    return std::move(visit.list);
  }

  // The handle of an object that is there.
  tn_object* checked() const {
    if (!object_) [[unlikely]]
      fail("the object is None: never assigned, or moved from");
    return object_;
  }
  tn_object* object_ = nullptr;
};

namespace detail {

inline tn_value to_value(const Object& x) noexcept {
  tn_value v = make_value(x ? TN_KIND_OBJECT : TN_KIND_NONE);
  v.as.object = x.get();
  return v;
}
inline tn_value to_value(const std::vector<Object>& x) noexcept {
  static_assert(sizeof(Object) == sizeof(tn_object*));
  tn_value v = make_value(TN_KIND_OBJECTS, uint32_t(x.size()));
  v.as.objects = reinterpret_cast<tn_object* const*>(x.data());
  return v;
}
inline void give(tn_value& v, Object x) {
  v = to_value(x);
  x.release();
}
template <>
struct Unpack<Object> {
  static Object borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    expect_kind(v, TN_KIND_OBJECT, "an object");
    return Object::borrow(v.as.object);
  }
  static Object own(tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    return Object::take(v.as.object);
  }
};
template <>
struct Unpack<std::vector<Object>> {
  static std::vector<Object> borrow(const tn_value& v) {
    std::vector<Object> list;
    if (v.kind == TN_KIND_NONE) return list;
    expect_kind(v, TN_KIND_OBJECTS, "objects");
    for (uint32_t i = 0; i < v.count; ++i) list.push_back(Object::borrow(v.as.objects[i]));
    return list;
  }
};

template <typename ArgTuple>
struct Whole {
  using type = ArgTuple;
};
template <typename ArgTuple>
inline constexpr bool kTakesSelf = false;
template <typename... Rest>
inline constexpr bool kTakesSelf<std::tuple<Object, Rest...>> = true;

// A method's C function over f(Object& self, ...) or f(...).
template <typename F>
tn_status* call_method(void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                       tn_value* results, uint32_t n_results) {
  return to_status([&] {
    using Args = ArgsOf<F>;
    if constexpr (kTakesSelf<Args>) {
      Object handle = Object::borrow(object);
      call_values<typename Tail<Args>::type>(Held<F>::get(self), args, n_args, results, n_results,
                                             handle);
    } else {
      call_values<Args>(Held<F>::get(self), args, n_args, results, n_results);
    }
  });
}

// Objects of one factory have the same methods: a function and a schema are compared once.
template <typename F>
void check_method(tn_object* object, const char* schema) {
  static const char* seen = nullptr;
  if (!schema || __atomic_load_n(&seen, __ATOMIC_RELAXED) == schema) return;
  using Args = ArgsOf<F>;
  using Values = typename std::conditional_t<kTakesSelf<Args>, Tail<Args>, Whole<Args>>::type;
  const std::string_view text = schema;
  check_signature(
      {joined({api.object->type_name(object), ": method '", text.substr(0, text.find('(')), "'"}),
       schema},
      signature<Values, ResultOf<F>>("function"));
  __atomic_store_n(&seen, schema, __ATOMIC_RELAXED);
}

}  // namespace detail

template <typename F>
const Object& Object::method(const char* schema, F f) const {
  tn_object* const object = checked();
  detail::check_method<F>(object, schema);
  void* self = detail::Held<F>::make(std::move(f));
  if (tn_status* status = detail::api.object->add_method(object, schema, detail::call_method<F>,
                                                         self, detail::Held<F>::destroy)) {
    detail::Held<F>::destroy(self);
    detail::raise(status);
  }
  return *this;
}

inline NamedObjects Object::named_children() const {
  NamedObjects list;
  for (uint32_t i = 0; i < n_children(); ++i) {
    std::string name;
    if (Object child = child_at(i, &name)) list.emplace_back(std::move(name), std::move(child));
  }
  return list;
}
inline NamedObjects Object::named_modules() const {
  NamedObjects list{{"", *this}};
  const auto walk = [&](const auto& again, const Object& object,
                        const std::string& prefix) -> void {
    for (auto& [name, child] : object.named_children()) {
      const bool seen = std::any_of(list.begin(), list.end(), [&, &one = child](const auto& known) {
        return known.second == one;
      });
      if (seen) continue;
      list.emplace_back(prefix + name, child);
      again(again, child, prefix + name + ".");
    }
  };
  walk(walk, *this, "");
  return list;
}
inline std::vector<Object> Object::modules() const {
  std::vector<Object> list;
  for (auto& [name, object] : named_modules()) list.push_back(std::move(object));
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
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    object = object.child(path.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
  return object;
}
inline Tensor Object::get_parameter(const std::string& path) const {
  const size_t dot = path.rfind('.');
  if (dot == path.npos) return tensor(path.c_str());
  return get_submodule(path.substr(0, dot)).tensor(path.c_str() + dot + 1);
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

template <typename F>
uint64_t Object::register_forward_pre_hook(F f) const {
  auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                 tn_value* replaced, uint32_t) -> tn_status* {
    return to_status([&] {
      if (n_args < 1) detail::wrong_count("takes", 1, n_args);
      Object handle = Object::borrow(object);
      const Tensor input = detail::Unpack<Tensor>::borrow(args[0]);
      F& hook = detail::Held<F>::get(self);
      if constexpr (std::is_void_v<decltype(hook(handle, input))>) {
        hook(handle, input);
      } else if (Tensor other = hook(handle, input); other.defined()) {
        detail::give(replaced[0], std::move(other));
      }
    });
  };
  tn_object* const object = checked();
  void* self = detail::Held<F>::make(std::move(f));
  uint64_t id = 0;
  if (tn_status* status = detail::api.object->add_forward_pre_hook(object, call, self,
                                                                   detail::Held<F>::destroy, &id)) {
    detail::Held<F>::destroy(self);
    detail::raise(status);
  }
  return id;
}

template <typename F>
uint64_t Object::register_forward_hook(F f) const {
  auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                 tn_value* results, uint32_t n_results) -> tn_status* {
    return to_status([&] {
      if (n_args < 1 || n_results != 1) detail::wrong_count("takes", 2, n_args + n_results);
      Object handle = Object::borrow(object);
      Tensor input = detail::Unpack<Tensor>::borrow(args[0]);
      Tensor output = detail::Unpack<Tensor>::borrow(results[0]);
      F& hook = detail::Held<F>::get(self);
      if constexpr (std::is_void_v<decltype(hook(handle, input, output))>) {
        hook(handle, input, output);
      } else if (Tensor replaced = hook(handle, input, output); replaced.defined()) {
        host()->value_release(&results[0]);
        detail::give(results[0], std::move(replaced));
      }
    });
  };
  tn_object* const object = checked();
  void* self = detail::Held<F>::make(std::move(f));
  uint64_t id = 0;
  if (tn_status* status =
          detail::api.object->add_forward_hook(object, call, self, detail::Held<F>::destroy, &id)) {
    detail::Held<F>::destroy(self);
    detail::raise(status);
  }
  return id;
}

}  // namespace v0
}  // namespace tenon
