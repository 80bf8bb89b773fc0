// What a Module's constructor makes and never registers: a layer that is only a member, a tensor
// that only asks for a gradient. The first parameters() of the module, or of what holds it, says so
// in the log. C++ cannot list the members of a class: what is looked at is what comes into being
// while make<T> constructs a T on this thread, and still lives when the constructor is done. A layer
// that is given to the constructor is not seen.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// For what is done with a few pointers. (The headers <mutex>, <map>, <set> and <functional> would
// make tenon.hpp a fifth longer for a compiler.)
class SpinLock {
 public:
  class Scope {
   public:
    explicit Scope(SpinLock& lock) : lock_(lock) {
      while (__atomic_test_and_set(&lock_.taken_, __ATOMIC_ACQUIRE)) {
      }
    }
    Scope(const Scope&) = delete;
    ~Scope() { __atomic_clear(&lock_.taken_, __ATOMIC_RELEASE); }

   private:
    SpinLock& lock_;
  };

 private:
  bool taken_ = false;
};

// The objects and tensors of a tree.
struct OwnedByTree {
  std::vector<tn_object*> objects;
  std::vector<tn_tensor*> tensors;

  bool has(tn_object* object) const {
    return std::find(objects.begin(), objects.end(), object) != objects.end();
  }
  bool has(tn_tensor* tensor) const {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  }
  void add(const Object& root) {
    if (has(root.get())) return;
    objects.push_back(root.get());
    const auto note = [](void* self, const char*, tn_tensor* tensor, tn_entry_kind) {
      auto& tree = *static_cast<OwnedByTree*>(self);
      if (tensor && !tree.has(tensor)) tree.tensors.push_back(tensor);
    };
    if (objects.size() == 1) check(api.object->visit(root.get(), note, this));  // of all below it
    for (const Object& child : root.children()) {
      if (child) add(child);
    }
  }
};

// What objects were made with: nn::TransformerEncoder keeps the layer that it copies as an option.
inline OwnedByTree options_of(const std::vector<tn_object*>& objects) {
  OwnedByTree held;
  for (tn_object* object : objects) {
    const std::string schema = factory_schema(api.object->type_name(object));
    if (schema.empty()) continue;
    for (const std::string& name : argument_names(schema)) {
      tn_value value;
      if (tn_status* const absent = api.object->option(object, name.c_str(), &value)) {
        ignore(absent);  // it is no object of the factory, but has its name
      } else if (value.kind == TN_KIND_OBJECT) {
        held.add(Object::borrow(value.as.object));
      } else if (value.kind == TN_KIND_OBJECTS) {
        for (uint32_t k = 0; k < value.count; ++k) held.add(Object::borrow(value.as.objects[k]));
      }
    }
  }
  return held;
}

// One thing that lives and was not registered when its module's constructor was done.
struct Unregistered {
  Object object;  // or, where it is None:
  Tensor tensor;
};

inline std::string text_of(const Unregistered& thing) {
  if (!thing.object)
    return joined({"a tensor ", sizes_text(thing.tensor.sizes()), " that needs a gradient"});
  OwnedByTree tree;
  tree.add(thing.object);
  return joined({"a ", thing.object.type_name(), " with ", std::to_string(tree.tensors.size()),
                 tree.tensors.size() == 1 ? " tensor" : " tensors"});
}

// The modules that have such things and were not asked for parameters yet. Thread-safe.
class UnregisteredThings {
 public:
  static UnregisteredThings& of_process() {
    static auto* instance = new UnregisteredThings;  // outlives every object
    return *instance;
  }
  void put(const Object& module, std::vector<Unregistered> things) {
    const SpinLock::Scope scope(lock_);
    things_.emplace_back(module.get(), std::move(things));
    set_report(report);
  }
  // What is known of a module, which is forgotten.
  std::vector<Unregistered> take(tn_object* module) {
    const SpinLock::Scope scope(lock_);
    const auto found = std::find_if(things_.begin(), things_.end(),
                                    [&](const auto& entry) { return entry.first == module; });
    if (found == things_.end()) return {};
    std::vector<Unregistered> things = std::move(found->second);
    things_.erase(found);
    if (things_.empty()) set_report(nullptr);  // parameters() of others costs nothing again
    return things;
  }

 private:
  static void set_report(ReportUnregistered function) {
    __atomic_store_n(&report_unregistered, function, __ATOMIC_RELEASE);
  }
  static void report(const Object& root) {
    OwnedByTree tree;
    tree.add(root);
    const OwnedByTree options = options_of(tree.objects);
    for (tn_object* object : tree.objects) {
      std::string list;
      for (const Unregistered& thing : of_process().take(object)) {
        // It may have been registered since.
        tn_object* const made = thing.object.get();
        const bool owned =
            made ? tree.has(made) || options.has(made) : tree.has(thing.tensor.get());
        if (!owned) list += (list.empty() ? "" : ", ") + text_of(thing);
      }
      if (list.empty()) continue;
      const std::string type = api.object->type_name(object);
      host()->log(2,
                  joined({type, ": its constructor makes ", list,
                          " and never registers it, so that parameters(), state_dict() and to() "
                          "leave it out; expected child(name, layer), parameter(name, tensor) or "
                          "buffer(name, tensor)"})
                      .c_str());
    }
  }

  SpinLock lock_;
  std::vector<std::pair<tn_object*, std::vector<Unregistered>>> things_;
};

// The construction of a module: notes what is made on this thread until `finish`, or until it is
// given up. One within another is told to the outer one as one object.
class MakingScope : public Making {
 public:
  MakingScope() : Making{note, place, move}, outer_(std::exchange(making, this)) {}
  MakingScope(const MakingScope&) = delete;
  ~MakingScope() {
    making = outer_;
    for (const std::unique_ptr<Note>& note : notes_) stop_watching(*note);
  }

  // Where what was registered was put.
  struct Placed {
    tn_object* owner;
    std::string name;
    const void* member;
  };
  const std::vector<Placed>& placed_members() const { return placed_; }

  // `module` was constructed.
  void finish(const Object& module) {
    making = outer_;
    OwnedByTree tree;
    tree.add(module);
    std::vector<Unregistered> left;
    for (const std::unique_ptr<Note>& note : notes_) {
      if (!note->lives) continue;
      Unregistered thing{Object::borrow(note->object), Tensor::borrow(note->tensor)};
      stop_watching(*note);
      if (is_missing(thing, tree)) left.push_back(std::move(thing));
    }
    keep_outermost(&left);
    if (!left.empty()) UnregisteredThings::of_process().put(module, std::move(left));
    note_made(module.get());
  }

 private:
  // Whether a thing lives is known from a hook on it: the hook ends with the thing.
  struct Note {
    tn_object* object;
    tn_tensor* tensor;
    uint64_t hook = 0;
    bool lives = true;
  };

  static void place(Making* self, tn_object* owner, const char* name, const void* member) {
    static_cast<MakingScope*>(self)->placed_.push_back({owner, name, member});
  }
  static void move(Making* self, const void* from, const void* to) {
    for (Placed& one : static_cast<MakingScope*>(self)->placed_)
      if (one.member == from) one.member = to;
  }
  static void note(Making* self, tn_object* object, tn_tensor* tensor) {
    auto& scope = *static_cast<MakingScope*>(self);
    if (object && api.object->kind(object) != TN_OBJECT_LAYER) return;
    for (const std::unique_ptr<Note>& known : scope.notes_) {
      if (known->lives && known->object == object && known->tensor == tensor) return;
    }
    scope.notes_.push_back(std::make_unique<Note>(Note{object, tensor}));
    Note* note = scope.notes_.back().get();
    const auto ended = [](void* gone) { static_cast<Note*>(gone)->lives = false; };
    tn_status* status =
        object ? api.object->add_forward_pre_hook(
                     object,
                     [](void*, tn_object*, const tn_value*, uint32_t, tn_value*,
                        uint32_t) -> tn_status* { return nullptr; },
                     note, ended, &note->hook)
               : api.autograd->add_hook(
                     tensor, [](void*, tn_tensor*, tn_tensor**) -> tn_status* { return nullptr; },
                     note, ended, &note->hook);
    if (status) scope.notes_.pop_back();
    ignore(status);
  }
  static void stop_watching(const Note& note) {
    if (!note.lives) return;
    ignore(note.object ? api.object->remove_forward_hook(note.object, note.hook)
                       : api.autograd->remove_hook(note.tensor, note.hook));
  }
  // A layer without parameters is none that would be missed.
  static bool is_missing(const Unregistered& thing, const OwnedByTree& tree) {
    if (!thing.object) return !tree.has(thing.tensor.get());
    if (tree.has(thing.object.get())) return false;
    OwnedByTree own;
    own.add(thing.object);
    return std::any_of(own.tensors.begin(), own.tensors.end(), [&](tn_tensor* tensor) {
      return !tree.has(tensor) && Tensor::borrow(tensor).requires_grad();
    });
  }
  // Of a layer and the layers and tensors in it, the layer.
  static void keep_outermost(std::vector<Unregistered>* things) {
    std::vector<OwnedByTree> trees;
    for (const Unregistered& thing : *things) {
      if (thing.object) trees.emplace_back().add(thing.object);
    }
    std::erase_if(*things, [&](const Unregistered& thing) {
      return std::any_of(trees.begin(), trees.end(), [&](const OwnedByTree& tree) {
        if (!thing.object) return tree.has(thing.tensor.get());
        return tree.objects[0] != thing.object.get() && tree.has(thing.object.get());
      });
    });
  }

  Making* outer_;
  std::vector<std::unique_ptr<Note>> notes_;
  std::vector<Placed> placed_;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
