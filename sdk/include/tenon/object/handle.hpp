// The class Object: a counted handle to an object of the host, which is made, read and called by
// it. What the class only declares is defined by topic, beside this file (values, methods, hooks,
// tree, state), in clone.hpp and in module_hooks.hpp. Programs include object.hpp.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/function.hpp"
#include "tenon/object/call_depth.hpp"
#include "tenon/object/named_tensors.hpp"
#include "tenon/op.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

class Object;
using NamedObjects = std::vector<std::pair<std::string, Object>>;

namespace detail {
// The schema of a factory; "" where there is none of this name.
inline std::string factory_schema(std::string_view name) {
  struct Search {
    std::string_view name;
    const char* schema;  // lives as long as the factory
  } search{name, ""};
  const auto see = [](void* context, tn_object_kind, const char* known, const char* schema) {
    auto& s = *static_cast<Search*>(context);
    if (s.name == known) s.schema = schema;
  };
  check(api.object->factories(see, &search));
  return search.schema;
}
// The names of a schema's arguments.
inline std::vector<std::string> argument_names(const std::string& schema) {
  struct Reading {
    std::vector<std::string> names;
    tn_status* failed = nullptr;
  } reading;
  const auto read = [](void* context, const tn_schema* parsed) {
    auto& r = *static_cast<Reading*>(context);
    r.failed = to_status([&] {
      for (uint32_t i = 0; i < parsed->n_arguments; ++i)
        r.names.push_back(parsed->arguments[i].name);
    });
  };
  check(api.schema->read(schema.c_str(), read, &reading));
  check(reading.failed);
  return std::move(reading.names);
}

// Reports what a module under `root` made and never registered: set as soon as there is any
// (unregistered.hpp).
using ReportUnregistered = void (*)(const Object& root);
inline constinit ReportUnregistered report_unregistered = nullptr;
inline void note_made(tn_object* object) {
  if (making) [[unlikely]]
    making->made(making, object, nullptr);
}
}  // namespace detail

namespace detail {
// How many calls of functional_call this thread is in.
inline constinit thread_local int substitutions = 0;

// A class derived from Module, which says so by how it is copied (clone.hpp).
inline bool is_module(const tn_object* object) {
  const char* text = nullptr;
  ignore(api.object->method_schema(object, "clone", &text));
  return text && std::string_view(text).find("of_module") != std::string_view::npos;
}
[[gnu::cold]] inline void warn_of_members(const std::string& type, const std::string& name,
                                          bool is_child = true) {
  host()->log(2,
              joined({type, is_child ? ": child '" : ": tensor '", name,
                      "' is replaced, and a member of the class that holds the one before still "
                      "uses that; expected member = module.",
                      is_child ? "child(\"" : "tensor(\"", name, is_child ? "\", layer)" : "\")"})
                  .c_str());
}
}  // namespace detail

namespace detail {
// An option as a T; an Error names the option where it is none.
template <typename T>
T option_value(const std::string& owner, const char* name, const tn_value& value) {
  try {
    return Unpack<T>::borrow(value);
  } catch (const Error& e) {
    const std::string_view text = e.what();
    fail(joined({owner, ": option '", name, "': ", text.substr(0, text.find(kUnfit))}), e.code());
  }
}
}  // namespace detail

namespace detail {
// std::shared_ptr, without the header that has it.
template <typename P>
concept SharedPointer = requires(const P& pointer) {
  pointer.use_count();
  *pointer;
};
}  // namespace detail

class Child;
class ForwardHook;
class BackwardHook;

// A counted handle. Null by default; copies share one object.
class Object {
 public:
  Object() noexcept = default;
  // By a factory's name, options in the order of its schema: Object::create("Linear", 64, 10). In
  // braces they take less of a compiler's time: Object::create("Linear", {64, 10}).
  static Object create(TextRef factory, std::initializer_list<detail::Argument> options) {
    tn_object* object = nullptr;
    check(detail::api.object->create(factory.c_str(), detail::values_of(options),
                                     uint32_t(options.size()), &object));
    Object made = take(object);
    detail::note_made(object);
    return made;
  }
  template <typename... Options>
  static Object create(TextRef factory, const Options&... options) {
    return create(factory, {detail::Argument(options)...});
  }
  // By option names, any order: Object::create_named("SGD", {"lr", "momentum"}, {0.1, 0.9}).
  static Object create_named(TextRef factory, const std::vector<const char*>& names,
                             const std::vector<tn_value>& values) {
    tn_object* object = nullptr;
    check(detail::api.object->create_named(factory.c_str(), names.data(), values.data(),
                                           uint32_t(names.size()), &object));
    return take(object);
  }
  // Without factory: the caller adds what it has.
  static Object empty(TextRef type_name, tn_object_kind kind = TN_OBJECT_LAYER) {
    tn_object* object = nullptr;
    check(detail::api.object->create_empty(type_name.c_str(), kind, &object));
    return take(object);
  }

  Object(const Object& other) noexcept : object_(other.object_) {
    if (object_) detail::api.object->retain(object_);
  }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  // To variables only: what a function gives is assigned to in vain, but for a Child.
  Object& operator=(Object other) & noexcept {
    if (detail::making) [[unlikely]]
      detail::making->moved(detail::making, &other, this);
    std::swap(object_, other.object_);
    return *this;
  }
  // As Tensor's.
  Object(detail::Registered as, Object&& object) : object_(std::exchange(object.object_, nullptr)) {
    if (detail::making) [[unlikely]]
      detail::making->placed(detail::making, as.owner, as.name, this);
  }
  // An optional member that was reset is None for who looks at its memory (module_members.hpp).
  ~Object() {
    if (object_) detail::api.object->release(object_);
    *const_cast<tn_object* volatile*>(&object_) = nullptr;
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
  std::string name() const { return type_name(); }
  tn_object_kind kind() const { return detail::api.object->kind(checked()); }

  // Building. A name has no '.'; a second entry of one name replaces the first. Returns what was
  // added, to go on with.
  Tensor parameter(TextRef name, Tensor tensor) const {  // asks for its gradient
    if (tensor.defined()) tensor.requires_grad_();
    return set(name, std::move(tensor), TN_ENTRY_PARAMETER);
  }
  // One that is not persistent is in no state_dict, and load_state_dict asks for none.
  Tensor buffer(TextRef name, Tensor tensor, bool persistent = true) const {
    return set(name, std::move(tensor), persistent ? TN_ENTRY_BUFFER : TN_ENTRY_UNSAVED);
  }
  Tensor set(TextRef name, Tensor tensor, tn_entry_kind kind = TN_ENTRY_PARAMETER) const {
    check(detail::api.object->set_tensor(checked(), name.c_str(), tensor.get(), kind));
    return {detail::Registered{object_, name.c_str()}, std::move(tensor)};
  }
  template <typename T>
  requires std::is_base_of_v<Object, T> T child(TextRef name, T child)
  const {
    check(detail::api.object->set_child(checked(), name.c_str(), child.get()));
    if constexpr (std::is_same_v<T, Object>) {
      return {detail::Registered{object_, name.c_str()}, std::move(child)};
    } else {
      return child;
    }
  }
  // By PyTorch's names. As there a buffer takes no parameter's place, nor a parameter a buffer's.
  Tensor register_parameter(TextRef name, Tensor tensor) const {
    refuse_entry_of(name, false, "register_parameter");
    return parameter(name, std::move(tensor));
  }
  Tensor register_buffer(TextRef name, Tensor tensor, bool persistent = true) const {
    refuse_entry_of(name, true, "register_buffer");
    return buffer(name, std::move(tensor), persistent);
  }
  template <typename T>
  requires std::is_base_of_v<Object, T> T register_module(TextRef name, T module)
  const { return child(name, std::move(module)); }
  template <typename T>
  requires std::is_base_of_v<Object, T> T add_module(TextRef name, T module)
  const { return child(name, std::move(module)); }
  // In the place of a child that there is, else an Error: head = replace_module("head", layer).
  template <typename T>
  requires std::is_base_of_v<Object, T> T replace_module(TextRef name, T module)
  const {
    expect_child(name);
    return Object::child(name, std::move(module));
  }
  template <detail::SharedPointer P>
  Object register_module(TextRef, const P&) const {
    static_assert(!sizeof(P),
                  "register_module takes a module and no std::shared_ptr, which Object is itself: "
                  "register_module(\"name\", tn::make<M>(arguments...))");
    return {};
  }
  template <detail::SharedPointer P>
  Object child(TextRef name, const P& pointer) const {
    return register_module(name, pointer);
  }
  // Takes out the child of this name, which a member of a class keeps; an Error where there is none.
  void unregister_module(TextRef name) const;
  // f(Object& self, arguments...), or f(arguments...) without the first; what it gives is by the
  // schema.
  template <typename F>
  const Object& method(const char* schema, F f) const;

  // Reading. Null where the entry is empty; an Error that lists the names when there is none of
  // this name.
  Tensor tensor(TextRef name) const {
    tn_tensor* t = nullptr;
    check(detail::api.object->tensor(checked(), name.c_str(), &t));
    return Tensor::take(t);
  }
  Child child(TextRef name) const;
  uint32_t n_children() const { return detail::api.object->n_children(checked()); }
  Object child_at(uint32_t i, std::string* name = nullptr) const {
    const char* text = nullptr;
    tn_object* o = nullptr;
    check(detail::api.object->child_at(checked(), i, &text, &o));
    Object child = take(o);
    if (name) *name = text;
    return child;
  }
  // Of a Sequential or another container the layer at this place; a negative one counts from the
  // end. An Error where there is none. model[-1] = nn::Linear(8, 3) puts another one there.
  template <typename I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) Child operator[](I place) const;
  std::vector<Object> children() const {
    std::vector<Object> list;
    for (uint32_t i = 0; i < n_children(); ++i) list.push_back(child_at(i));
    return list;
  }
  // An option by its name in the factory's schema; T as the parameter of a lambda (double, int64_t,
  // bool, std::string, ...).
  template <typename T>
  T option(TextRef name) const {
    tn_value value;
    check(detail::api.object->option(checked(), name.c_str(), &value));
    return detail::option_value<T>(type_name(), name.c_str(), value);
  }

  // Calls a method; arguments by its schema, trailing ones default.
  template <typename R = Tensor, typename... Args>
  R invoke(TextRef method, const Args&... args) const {
    const detail::CallDepth depth(checked(), method.c_str());
    const tn_value values[sizeof...(Args) + 1] = {detail::to_value(args)...};
    tn_value results[detail::Results<R>::count + 1];
    check(detail::api.object->invoke(checked(), method.c_str(), values, sizeof...(Args), results,
                                     detail::Results<R>::count));
    return detail::Results<R>::take(results);
  }
  // Its `forward`, with hooks.
  template <typename... Args>
  Tensor operator()(const Args&... args) const {
    return invoke<Tensor>("forward", args...);
  }
  // With a list in braces at the end, which a template cannot take: the output size of layers such as
  // ConvTranspose2d and MaxUnpool2d.
  Tensor operator()(const Tensor& x, Ints list) const { return invoke<Tensor>("forward", x, list); }
  Tensor operator()(const Tensor& x, const Tensor& y, Ints list) const {
    return invoke<Tensor>("forward", x, y, list);
  }
  template <typename... Args>
  Tensor forward(const Args&... args) const {
    return (*this)(args...);
  }
  // The same where `forward` gives N tensors: auto [y, h] = layer.call<2>(x).
  template <size_t N, typename... Args>
  detail::TensorArray<N> call(const Args&... args) const {
    return invoke<detail::TensorArray<N>>("forward", args...);
  }
  // "" when there is no such method.
  std::string method_schema(TextRef method) const {
    const char* text = nullptr;
    check(detail::api.object->method_schema(checked(), method.c_str(), &text));
    return text ? text : "";
  }
  // f(Object& self, Tensor input, Tensor output): after each forward of one tensor to one; a Tensor
  // that it gives replaces the output. Or f(Object& self, const std::vector<Tensor>& inputs, const
  // std::vector<Tensor>& outputs), of any forward: all tensors among arguments and results, those of
  // lists too and null for None; as many outputs that it gives replace these. Taken away by remove()
  // of what this gives, or by its number. One with `prepend` runs before those that are there; one
  // with always_call where the call fails, too, with outputs that are None where there are none yet:
  // what it gives is passed over then, and an error of its own goes to the log.
  template <typename F>
  ForwardHook register_forward_hook(F f, bool prepend = false, bool always_call = false) const;
  void remove_forward_hook(uint64_t id) const {
    check(detail::api.object->remove_forward_hook(checked(), id));
  }
  // f(Object& self, Tensor input): before each forward; a Tensor that it gives replaces the first
  // argument. Or f(Object& self, const std::vector<Tensor>& inputs), as above. Removed as a forward
  // hook is.
  template <typename F>
  ForwardHook register_forward_pre_hook(F f, bool prepend = false) const;
  // f(Object& self, Tensor grad_input, Tensor grad_output): in backward, of a forward of one tensor
  // to one; a Tensor that it gives replaces grad_input, which is None where the input needs no
  // gradient. Or f(Object& self, const std::vector<Tensor>& grad_inputs, const std::vector<Tensor>&
  // grad_outputs), of any forward. Called where backward came through what forward gave, whose graph
  // holds the module until then. The hooks run in the order of their registration, one with
  // `prepend` before those that are there. They see the gradients at what forward got from the
  // pre-hooks, and at what the forward hooks made of its outputs. (module_hooks.hpp)
  template <typename F>
  BackwardHook register_full_backward_hook(F f, bool prepend = false) const;
  // f(Object& self, Tensor grad_output), or f(Object& self, const std::vector<Tensor>&
  // grad_outputs): in backward, before the gradients of the inputs are computed; what it gives
  // replaces grad_output there, and for the hooks above.
  template <typename F>
  BackwardHook register_full_backward_pre_hook(F f, bool prepend = false) const;
  // Of either of these two. An Error where it was removed before.
  void remove_full_backward_hook(const BackwardHook& hook) const;
  // Hooks of states, of a module and of each in its tree. `prefix` is the path of self in the state, with a
  // dot behind it ("0."), and empty for the module that was asked. Removed as forward hooks are.
  // (object/state_hooks.hpp)
  // f(Object& self, const std::string& prefix) or f(Object& self): before state_dict reads self.
  template <typename F>
  ForwardHook register_state_dict_pre_hook(F f) const;
  // f(Object& self, NamedTensors& state, const std::string& prefix), or without the prefix: behind
  // that and behind the children; may change the state, in which all is that was read until then.
  template <typename F>
  ForwardHook register_state_dict_post_hook(F f) const;
  // f(Object& self, NamedTensors& state, const std::string& prefix, bool strict,
  // std::vector<std::string>& missing_keys, std::vector<std::string>& unexpected_keys,
  // std::vector<std::string>& error_messages), or the first two or three of these: before
  // load_state_dict loads anything, parents first. May change the state, in which the tensors of
  // this prefix are, and add to the three lists; a message is an error that load_state_dict throws
  // before anything is loaded.
  template <typename F>
  ForwardHook register_load_state_dict_pre_hook(F f) const;
  // f(Object& self, IncompatibleKeys& keys): behind the load, children first. May change the keys,
  // those of the whole load: where strict, load_state_dict throws if any are left, and by then the
  // other tensors are loaded.
  template <typename F>
  ForwardHook register_load_state_dict_post_hook(F f) const;

  // The tree. Names are paths ("0.weight"), in order of definition.
  NamedTensors named_parameters() const;
  NamedTensors named_buffers() const;
  std::vector<Tensor> buffers() const;
  NamedObjects named_children() const;
  // This object, whose name is the prefix, and all below it, each once; or without it.
  NamedObjects named_modules(const std::string& prefix = "", bool include_self = true) const;
  std::vector<Object> modules(bool include_self = true) const;
  // f(Object&) of each object of the tree: children before what holds them, this one last.
  template <typename F>
  const Object& apply(F f) const;
  // The object, parameter or buffer of this path ("encoder.0", "encoder.0.weight"); an Error that lists
  // what there is where it is another thing, or nothing.
  Object get_submodule(const std::string& path) const;
  Tensor get_parameter(const std::string& path) const;
  Tensor get_buffer(const std::string& path) const;
  // Puts another module in the place of the one of this path, whose parent there is.
  void set_submodule(const std::string& path, const Object& module) const;
  // A copy with tensors of its own. An Error where an object in the tree does not say how it is
  // copied. (clone.hpp)
  Object clone() const;
  // Detached; shares memory. As in PyTorch a tensor or layer that is in two places is listed under
  // both names, while parameters() has it once.
  NamedTensors state_dict() const;
  std::vector<Tensor> parameters() const;
  // Copies values in. strict: names must match one to one; the Error lists those that do not. Else
  // those are passed over, and given.
  IncompatibleKeys load_state_dict(const NamedTensors& state, bool strict = true) const;
  // Of all parameters.
  const Object& requires_grad_(bool on = true) const;
  // Moves parameters and buffers, in place; a dtype changes the floating ones.
  const Object& to(Device device, Dtype floats = {}) const {
    check(detail::api.object->to(checked(), device.value, floats.value));
    return *this;
  }
  // Where they are. An Error when they lie on several devices.
  const Object& to(Dtype floats) const;
  bool training() const { return detail::api.object->training(checked()) != 0; }
  bool is_training() const { return training(); }
  const Object& train(bool on = true) const {
    detail::api.object->set_training(checked(), on);
    return *this;
  }
  const Object& eval() const { return train(false); }
  void zero_grad() const { check(detail::api.object->zero_grad(checked())); }
  // The tree, a line for each layer, with its options by their names.
  std::string to_string() const {
    const char* text = nullptr;
    check(detail::api.object->describe(checked(), &text));
    return detail::take_text(text);
  }

 protected:
  // What state_dict and load_state_dict read and write, without hooks.
  NamedTensors state_entries(bool with_hooks) const;
  void load_entries(const NamedTensors& state, bool strict) const;
  IncompatibleKeys incompatible_keys(const NamedTensors& state) const;
  // The handle of an object that is there.
  tn_object* checked() const {
    if (!object_) [[unlikely]]
      fail("the object is None: never assigned, or moved from");
    return object_;
  }

 private:
  bool may_lack(const std::string& path) const;
  Tensor tensor_of_kind(const std::string& path, bool is_parameter) const;
  void expect_child(TextRef name) const;
  // An Error where a parameter, or else a buffer, has this name already.
  void refuse_entry_of(TextRef name, bool is_parameter, const char* call) const;
  IncompatibleKeys load_hooked(const NamedTensors& state, bool strict) const;
  // Of these kinds (bits 1 << tn_entry_kind), of the whole tree, by their paths.
  NamedTensors entries(uint32_t kinds) const;

  tn_object* object_ = nullptr;
};

// What register_forward_hook, register_forward_pre_hook and those of states give: the hook's number,
// and what takes it away. It holds the object, so no object keeps one of its own hooks.
class ForwardHook {
 public:
  ForwardHook() = default;
  ForwardHook(Object object, uint64_t id) : object_(std::move(object)), id_(id) {}
  operator uint64_t() const { return id_; }
  // Without effect where it was removed before, or stands for none.
  void remove() const {
    if (object_) detail::check_removed(detail::api.object->remove_forward_hook(object_.get(), id_));
  }

 private:
  Object object_;
  uint64_t id_ = 0;
};

// What register_full_backward_hook and register_full_backward_pre_hook give. It holds the object.
class BackwardHook {
 public:
  // Whether the object had a hook of this number. (The function of the library that knows the hook.)
  using Remove = bool (*)(const Object& object, uint64_t id);

  BackwardHook() = default;
  BackwardHook(Object object, uint64_t id, Remove remove)
      : object_(std::move(object)), id_(id), remove_(remove) {}
  // Without effect where it was removed before, or stands for none.
  void remove() const {
    if (object_) remove_(object_, id_);
  }

 private:
  friend class Object;
  Object object_;
  uint64_t id_ = 0;
  Remove remove_ = nullptr;
};

inline void Object::remove_full_backward_hook(const BackwardHook& hook) const {
  if (!hook.object_ || !hook.remove_(*this, hook.id_)) {
    fail(detail::joined({type_name(), " has no full backward hook ", std::to_string(hook.id_)}),
         TN_NOT_FOUND);
  }
}

namespace detail {
// What the class derived from Module has in its members of the entry of this name
// (module_members.hpp).
enum MemberState { kNoMember, kMemberDiffers, kMemberFollows };
inline MemberState member_state(const Object& module, TextRef name) {
  const char* schema = nullptr;
  ignore(api.object->method_schema(module.get(), "member_state", &schema));
  if (!schema) return kNoMember;
  const tn_value argument = to_value(name.c_str());
  tn_value result;
  check(api.object->invoke(module.get(), "member_state", &argument, 1, &result, 1));
  return MemberState(result.as.i);
}
}  // namespace detail

// A child as its parent gives it. Where the parent's is assigned to, and not a variable, another
// object takes the child's place in the parent: model[-1] = nn::Linear(8, 3).
class Child : public Object {
 public:
  Child(Object child, Object parent, std::string name)
      : Object(std::move(child)), parent_(std::move(parent)), name_(std::move(name)) {}
  Child(const Child&) = default;
  Child(Child&&) = default;
  using Object::operator=;
  Child& operator=(const Child&) & = default;
  Child& operator=(Child&&) & = default;
  void operator=(const Object& other) && {
    parent_.child(name_.c_str(), other);
    if (detail::is_module(parent_.get()) &&
        detail::member_state(parent_, name_.c_str()) == detail::kNoMember) [[unlikely]]
      detail::warn_of_members(parent_.type_name(), name_);
  }

 private:
  Object parent_;
  std::string name_;
};

inline void Object::expect_child(TextRef name) const { (void)child(name); }
inline void Object::unregister_module(TextRef name) const {
  expect_child(name);
  check(detail::api.object->remove(checked(), name.c_str()));
}
inline Child Object::child(TextRef name) const {
  tn_object* o = nullptr;
  check(detail::api.object->child(checked(), name.c_str(), &o));
  return {take(o), *this, name.c_str()};
}
template <typename I>
requires(std::is_integral_v<I> &&
         !std::is_same_v<I, bool>) Child Object::operator[](I place) const {
  const auto n = int64_t(n_children()), i = int64_t(place);
  if ((place > 0 && i < 0) || i < -n || i >= n) {  // the first: more than 63 bits
    fail(detail::joined({type_name(), ": index ", std::to_string(place), " is out of range for ",
                         std::to_string(n), n == 1 ? " child" : " children"}));
  }
  std::string name;
  Object child = child_at(uint32_t(i < 0 ? i + n : i), &name);
  return {std::move(child), *this, std::move(name)};
}

}  // namespace v0
}  // namespace tenon
