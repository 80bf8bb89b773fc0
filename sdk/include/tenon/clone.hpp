// Copies of models: Object::clone, with tensors of its own. A layer of a pack is made anew by its
// factory with the same options; a Module is constructed anew with copies of the arguments of
// make<T>; any other object says how by a method "clone() -> object". Then values, devices, dtypes,
// which parameters need gradients and the training mode are those of the original. Hooks and
// gradients are not copied, as the factory and the constructor know nothing of them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// One copy under way: what is reached twice in the original is one thing in the copy, too.
class Cloner {
 public:
  // The copy that this thread is at, for the methods and constructors that it calls.
  static inline constinit thread_local Cloner* current = nullptr;

  Object clone(const Object& object) {
    if (!object) return {};
    if (const Object* known = find(objects_, object.get())) return *known;
    Object copy = made_anew(object);
    adopt(object, copy);
    return copy;
  }
  // The C++ object in the copy of a Module; NULL: it is none.
  void* module_of(const Object& copy) const {
    void* const* found = find(modules_, copy.get());
    return found ? *found : nullptr;
  }
  void note_module(const Object& copy, void* module) { modules_.emplace_back(copy.get(), module); }

  // The training mode is of each object, and to set it sets that of the children.
  void copy_modes(const Object& object) {
    if (const Object* copy = find(objects_, object.get()))
      api.object->set_training(copy->get(), object.training());
    for (const Object& child : object.children()) {
      if (child) copy_modes(child);
    }
  }

  // Of an object among the options of another, or in it: part of the copy that this thread is at.
  static Object of_part(const Object& object) { return current->clone(object); }
  // A new object of the same factory and options, with copies of the objects among these.
  static Object made_by_factory(const Object& object) {
    const std::string schema = factory_schema(object.type_name());
    if (schema.empty()) {
      fail(joined({"clone: ", object.type_name(),
                   " was made without a factory and has no method clone() -> object that copies "
                   "it"}));
    }
    return from_factory(object, schema);
  }
  static bool has_method(const Object& object, const char* name) {
    return !schema_of(object, name).empty();
  }
  // The method by which a Module says how it is copied, and that it is one: also to the copies of other
  // libraries, which do not know its class.
  static constexpr const char* kOfModules = "clone(bool of_module=True) -> object";

  // What belongs to an object that has it as a child, as its parametrizations do, says by this method
  // what that object needs to have besides.
  static constexpr const char* kCopiedInto = "copied_into(object parent) -> ()";

  // `copy` was made anew in the place of `object`: brings the values.
  void adopt(const Object& object, const Object& copy) {
    objects_.emplace_back(object.get(), copy);
    adopt_tensors(object, copy);
    adopt_children(object, copy);
    for (const Object& child : copy.children()) {
      if (child && has_method(child, "copied_into")) child.invoke<void>("copied_into", copy);
    }
  }

 private:
  static std::string schema_of(const Object& object, const char* method) {
    const char* text = nullptr;
    tn_status* status = api.object->method_schema(object.get(), method, &text);
    ignore(status);
    return text ? text : "";
  }
  // A Module of another library, which made its copy with members that this one cannot reach: what is
  // shared with parts outside of it stays its own.
  bool is_foreign(const Object& object, const Object& copy) const {
    return !module_of(copy) && is_module(object.get());
  }
  static Object made_anew(const Object& object) {
    return has_method(object, "clone") ? object.invoke<Object>("clone") : made_by_factory(object);
  }
  static Object from_factory(const Object& object, const std::string& schema) {
    const std::vector<std::string> names = argument_names(schema);
    std::vector<tn_value> options(names.size());
    std::vector<std::vector<Object>> lists(names.size());  // what the options borrow
    for (size_t i = 0; i < names.size(); ++i) {
      check(api.object->option(object.get(), names[i].c_str(), &options[i]));
      if (options[i].kind == TN_KIND_OBJECT) {
        lists[i] = {of_part(Object::borrow(options[i].as.object))};
        options[i] = to_value(lists[i][0]);
      } else if (options[i].kind == TN_KIND_OBJECTS) {
        for (uint32_t k = 0; k < options[i].count; ++k)
          lists[i].push_back(of_part(Object::borrow(options[i].as.objects[k])));
        options[i] = to_value(lists[i]);
      }
    }
    tn_object* made = nullptr;
    check(api.object->create(object.type_name().c_str(), options.data(), uint32_t(options.size()),
                             &made));
    return Object::take(made);
  }

  // Children that the factory or the constructor made again get the values; those that the program
  // added later, or put in the place of others, are copied and put in; into a Module where its
  // member follows, which else would still be what the constructor made.
  void adopt_children(const Object& object, const Object& copy) {
    const std::vector<Slot> made = slots_of(copy);
    const bool foreign = is_foreign(object, copy);
    for (const Slot& slot : slots_of(object)) {
      const auto found = std::find_if(made.begin(), made.end(),
                                      [&](const Slot& one) { return one.name == slot.name; });
      const Object own = found != made.end() ? found->child : Object();  // may be None
      const Object& child = slot.child;
      const Object* const known = find(objects_, child.get());
      const bool is_there = found != made.end();
      if (known ? own == *known : is_there && !own && !child) continue;
      if (foreign && known && own && fit(own, child)) {
        Cloner apart;
        apart.adopt(child, own);
        apart.copy_modes(child);
        continue;
      }
      const bool replaced = is_there && found->changes != slot.changes;
      if (!known && own && child && own != child &&
          (replaced ? same(own, child) : fit(own, child))) {
        adopt(child, own);
        continue;
      }
      copy.child(slot.name.c_str(), known ? Object(*known) : clone(child));
      if ((module_of(copy) || foreign) && (child || own) &&
          !(child && has_method(child, "copied_into")) &&
          member_state(copy, slot.name.c_str()) != kMemberFollows)
        refuse(object, slot.name, is_there);
    }
    const std::vector<Slot> slots = slots_of(object);
    for (const Slot& one : made) {  // that the program took out of the original
      const bool is_there = std::any_of(slots.begin(), slots.end(),
                                        [&](const Slot& slot) { return slot.name == one.name; });
      if (!is_there) check(api.object->remove(copy.get(), one.name.c_str()));
    }
  }
  struct Slot {
    std::string name;
    Object child;      // may be None
    uint64_t changes;  // how often another child took the place
  };
  static std::vector<Slot> slots_of(const Object& object) {
    std::vector<Slot> list;
    for (uint32_t i = 0; i < object.n_children(); ++i) {
      std::string name;
      Object child = object.child_at(i, &name);
      list.push_back(
          {std::move(name), std::move(child), api.object->child_changes(object.get(), i)});
    }
    return list;
  }
  [[noreturn]] static void refuse(const Object& object, const std::string& name, bool is_other) {
    fail(joined(
             {"clone: ", object.type_name(), ": child '", name, "' ",
              is_other ? "is not as the constructor makes it"
                       : "was added after the constructor, which makes none",
              ", and the members of a copy are what the constructor makes: make it there, or give "
              "the class a method clone() -> object"}),
         TN_FAILED_PRECONDITION);
  }
  // Two that the same constructor made.
  static bool fit(const Object& made, const Object& object) {
    return alike(made, object) || is_longer(made, object);
  }
  static bool alike(const Object& a, const Object& b) {
    if (a.type_name() != b.type_name() || a.n_children() != b.n_children()) return false;
    return a.n_children() > 0 || a.to_string() == b.to_string();
  }
  // Two that whoever made them are the same for the values of their tensors: what has a factory is
  // as its options, which its text has. What a class or a lambda computes nobody knows.
  static bool same(const Object& a, const Object& b) {
    return alike(a, b) && a.to_string() == b.to_string() && options_say_all(b);
  }
  static bool options_say_all(const Object& object) {
    if (factory_schema(object.type_name()).empty() || has_method(object, "clone")) return false;
    const std::vector<Object> children = object.children();
    return std::all_of(children.begin(), children.end(),
                       [](const Object& child) { return !child || options_say_all(child); });
  }
  // Is it a container that got more modules than the constructor gave it?
  static bool is_longer(const Object& made, const Object& object) {
    const std::string type = object.type_name();
    if (type != made.type_name() ||
        (type != "Sequential" && type != "ModuleList" && type != "ModuleDict"))
      return false;
    return made.n_children() < object.n_children();
  }
  void adopt_tensors(const Object& object, const Object& copy) {
    const std::vector<OwnEntry> made = own_entries(copy);
    const bool foreign = is_foreign(object, copy);
    const NoGrad guard;
    for (const auto& [name, tensor, kind] : own_entries(object)) {
      if (kind == TN_ENTRY_COMPUTED) continue;
      const auto there =
          std::find_if(made.begin(), made.end(),
                       [&, &n = name](const OwnEntry& entry) { return entry.name == n; });
      Tensor own = there != made.end() ? there->tensor : Tensor();
      const bool of_kind = there != made.end() && there->kind == kind;
      if (const Tensor* known = foreign ? nullptr : find(tensors_, tensor.get())) {
        if (!own.is_same(*known) || !of_kind) copy.set(name.c_str(), *known, kind);
        continue;
      }
      if (!tensor.defined()) continue;
      const bool taken = own.defined() && !own.same_storage(tensor) && take_values(own, tensor);
      if (!taken) own = tensor.detach().clone();
      if (!taken || !of_kind) copy.set(name.c_str(), own, kind);
      if (own.requires_grad() != tensor.requires_grad()) own.requires_grad_(tensor.requires_grad());
      tensors_.emplace_back(tensor.get(), own);
    }
    const std::vector<OwnEntry> entries = own_entries(object);
    for (const OwnEntry& one : made) {
      const bool is_there = std::any_of(entries.begin(), entries.end(), [&](const OwnEntry& entry) {
        return entry.name == one.name;
      });
      if (!is_there && one.kind != TN_ENTRY_COMPUTED)
        check(api.object->remove(copy.get(), one.name.c_str()));
    }
  }
  // In place, so that members of a Module that hold the tensor see them; where it has to lie
  // elsewhere it moves as an object's tensors do.
  static bool take_values(const Tensor& own, const Tensor& tensor) {
    if (own.sizes() != tensor.sizes()) return false;
    const bool is_float = tensor.dtype().is_float() && own.dtype().is_float();
    if (own.dtype() != tensor.dtype() && !is_float) return false;
    if (own.dtype() != tensor.dtype() || own.device() != tensor.device()) {
      const Object mover = Object::empty("Mover");
      mover.buffer("tensor", own);
      mover.to(tensor.device(), is_float ? tensor.dtype() : Dtype());
    }
    own.copy_(tensor.detach());
    return true;
  }

  // NULL: there is none of this key.
  template <typename K, typename V>
  static const V* find(const std::vector<std::pair<K, V>>& list,
                       const std::type_identity_t<K>& key) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    return found == list.end() ? nullptr : &found->second;
  }

  std::vector<std::pair<tn_object*, Object>> objects_;  // of the original, and their copies
  std::vector<std::pair<tn_tensor*, Tensor>> tensors_;
  std::vector<std::pair<tn_object*, void*>> modules_;  // of the copy
};

// A copy that begins.
struct NewCopy {
  Cloner cloner;
  RandomState random = random_state();  // what factories and constructors draw, nobody drew
  Making* outer = std::exchange(making, nullptr);

  NewCopy() { Cloner::current = &cloner; }
  NewCopy(const NewCopy&) = delete;
  ~NewCopy() {
    Cloner::current = nullptr;
    making = outer;
    set_random_state(random);
  }
};

// Within it there is a current copy: the one that is under way, or one that begins. Another library of
// the program has none of its own yet where its class is part of a copy that began here: what is shared
// with parts outside of it is then copied by itself.
class CloneScope {
 public:
  CloneScope() {
    if (!Cloner::current) own_.emplace();
  }
  bool begins() const { return own_.has_value(); }

 private:
  std::optional<NewCopy> own_;
};

// The copy of an object and, where it is a Module, the C++ object in it.
inline std::pair<Object, void*> clone_object(const Object& object) {
  const CloneScope scope;
  Cloner& cloner = *Cloner::current;
  Object copy = cloner.clone(object);
  if (scope.begins()) cloner.copy_modes(object);
  void* module = cloner.module_of(copy);
  return {std::move(copy), module};
}

}  // namespace detail

inline Object Object::clone() const {
  checked();
  return detail::clone_object(*this).first;
}

}  // namespace v0
}  // namespace tenon
