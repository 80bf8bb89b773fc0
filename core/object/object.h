// Host-owned objects: layers, optimizers and the application's own modules. Options, named tensors,
// named children, methods, hooks, parameter groups. What is done to whole trees is in tree.h and
// state.h; calling methods in invoke.h.
//
// Objects are not locked: one thread at a time changes an object (object/1); calls of methods may
// run beside each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/counted.h"
#include "object/value.h"
#include "registry/recording.h"
#include "registry/thread_state.h"
#include "schema/schema.h"
#include "tensor/tensor.h"

namespace tenon {

using Object = ::tn_object;
using ObjectRef = Ref<Object>;
struct Factory;  // object/factory.h

struct NamedTensor {
  std::string name;
  TensorRef tensor;  // may be empty
  tn_entry_kind kind;
};

struct NamedChild {
  std::string name;
  ObjectRef object;      // may be empty
  uint64_t changes = 0;  // how often another one took its place
};

struct Method {
  Schema schema;
  std::string text;  // of the schema
  tn_method_fn fn = nullptr;
  void* self = nullptr;
  void (*destroy)(void*) = nullptr;

  Method() = default;
  Method(const Method&) = delete;
  ~Method() {
    if (destroy != nullptr) destroy(self);
  }
};

// Of a hook that was removed where there was no memory for a list without it: no call looks for it.
inline constexpr tn_hook_kind kRemovedHook = -1;

struct Hook {
  uint64_t id;
  tn_forward_hook_fn fn;
  void* self;
  void (*destroy)(void*);
  tn_hook_kind kind;
  bool always;  // where forward fails, too

  Hook(uint64_t i, tn_forward_hook_fn f, void* s, void (*d)(void*), tn_hook_kind k, bool a)
      : id(i), fn(f), self(s), destroy(d), kind(k), always(a) {}
  Hook(const Hook&) = delete;
  ~Hook() {
    if (destroy != nullptr) destroy(self);
  }
};
// A call holds the list that it began with, so a hook may remove itself.
using HookList = std::vector<std::shared_ptr<Hook>>;

// A dynamic option of a group: the tensor on cpu in which it lies.
struct GroupNumber {
  std::string name;
  TensorRef tensor;
  // A recording took it as a number, as which it is a constant.
  mutable bool is_constant = false;
};

struct ParameterGroup {
  std::vector<TensorRef> parameters;
  std::vector<tn_tensor*> borrowed;  // the same, as the C interface gives them
  std::vector<Option> options;       // those that differ from the object's
  std::vector<GroupNumber> numbers;  // all that are dynamic
};

}  // namespace tenon

struct tn_object final : tenon::Counted {
  tn_object(std::string type_name, tn_object_kind object_kind)
      : type(std::move(type_name)), kind(object_kind) {}

  std::string type;
  tn_object_kind kind;
  const tenon::Factory* factory = nullptr;  // NULL: made by create_empty
  bool training = true;
  std::vector<tenon::Option> options;       // in the schema's order
  std::vector<tenon::NamedTensor> tensors;  // in order of definition, as all of these
  std::vector<tenon::NamedChild> children;
  std::vector<std::shared_ptr<const tenon::Method>> methods;
  // Of forward and of states; NULL: none.
  std::shared_ptr<const tenon::HookList> hooks, state_hooks;
  uint64_t last_hook = 0;
  uint64_t removals = 0;  // of entries
  std::vector<tenon::ParameterGroup> groups;
  tn_members_fn members = nullptr;  // of a class that holds its entries in members, too
  void* members_self = nullptr;
  // How often anything of it was replaced: options, entries, methods, hooks, groups. Values of
  // tensors and the training mode do not count.
  uint64_t changes = 0;

  mutable std::atomic<bool> is_watched{false};  // by a compiled function

  // A compiled function that is being recorded leans on this object.
  void note_use() const {
    if ((tenon::thread_state.modes & tenon::kModeRecord) == 0) [[likely]]
      return;
    is_watched.store(true, std::memory_order_relaxed);
    tenon::thread_state.recording->see_object(const_cast<tn_object*>(this), &changes, &training,
                                              members != nullptr ? refresh : nullptr);
  }
  // To call before entries are read, and with the name of an entry behind its change.
  void tell_members(const char* set = nullptr) const;
  static void refresh(const tenon::Counted* object) {
    static_cast<const tn_object*>(object)->tell_members();
  }
  void note_change() {
    ++changes;
    tell_watchers();
  }
  void tell_watchers() const {
    if (is_watched.load(std::memory_order_relaxed))
      tenon::watched_object_changes.fetch_add(1, std::memory_order_relaxed);
  }
};

namespace tenon {

// An object of the application's own, without factory. Owned by the caller.
[[nodiscard]] Status create_empty_object(std::string_view type, tn_object_kind kind,
                                         Object** object);

// A second one of a name replaces the first. tensor and child may be NULL: the entry is there, and
// empty. A parameter is a leaf; whether it asks for a gradient is the caller's.
[[nodiscard]] Status set_tensor(Object* object, std::string_view name, Tensor* tensor,
                                tn_entry_kind kind);
// Refuses a child that contains `object`.
[[nodiscard]] Status set_child(Object* object, std::string_view name, Object* child);
// Takes out the tensor or child of this name.
[[nodiscard]] Status remove_entry(Object* object, std::string_view name);
// add_method and add_hook take self when they succeed.
[[nodiscard]] Status add_method(Object* object, std::string_view schema, tn_method_fn fn,
                                void* self, void (*destroy)(void*));
[[nodiscard]] Status add_hook(Object* object, tn_hook_kind kind, uint32_t flags,
                              tn_forward_hook_fn fn, void* self, void (*destroy)(void*),
                              uint64_t* id);
[[nodiscard]] Status remove_hook(Object* object, uint64_t id);

// Borrowed. Errors name the nearest.
[[nodiscard]] Status find_tensor(const Object* object, std::string_view name,
                                 const NamedTensor** entry);
[[nodiscard]] Status find_child(const Object* object, std::string_view name,
                                const NamedChild** child);
[[nodiscard]] Status find_option(const Object* object, std::string_view name, tn_value* borrowed);
[[nodiscard]] Status find_method(const Object* object, std::string_view name,
                                 std::shared_ptr<const Method>* method);
bool has_method(const Object* object, std::string_view name);

}  // namespace tenon
