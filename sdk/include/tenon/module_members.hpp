// Members of a class derived from Module, and the entries of its object that hold the same. An
// assignment to either is an assignment to both: `net->head = nn::Linear(8, 5)` and `mean = 0.9 *
// mean + x` change the entry, before it is read the next time; net.child("head", layer) changes the
// member, at once.
//
// C++ cannot list the members of a class. A handle is a pointer: a word within the class that is the
// pointer of an entry is a member that holds it. Members elsewhere (in a std::vector, say) are not
// found, and are as they were assigned.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// The last word of a Made<T>, whose first is the handle: a member of this class takes no other
// module, as its second is the T.
inline constexpr uint64_t kMadeMark = 0x4d6164654d6f6475;

// Not inline: a compiler that sees both takes what lies under a new object for no value, and leaves
// out the zeros, which padding and members without a value are to have when they are looked through.
[[gnu::noinline]] inline void* zeroed_memory(size_t bytes, size_t alignment) {
  void* const memory = ::operator new(bytes, std::align_val_t(alignment));
  std::memset(memory, 0, bytes);
  return memory;
}
template <typename T>
struct DestroyModule {
  void operator()(T* module) const {
    module->T::~T();
    ::operator delete(static_cast<void*>(module), std::align_val_t(alignof(T)));
  }
};
template <typename T, typename... Args>
std::unique_ptr<T, DestroyModule<T>> construct_module(Args&&... args) {
  struct Memory {
    void* begin = zeroed_memory(sizeof(T), alignof(T));
    ~Memory() {
      if (begin) ::operator delete(begin, std::align_val_t(alignof(T)));
    }
  } memory;
  T* const module = ::new (memory.begin) T(std::forward<Args>(args)...);
  memory.begin = nullptr;
  return std::unique_ptr<T, DestroyModule<T>>(module);
}

// Those of one module. Reading the entries of one module beside an assignment to its members is the
// caller's to order, as any change of an object. (Every program compiles this: loops over a list of
// its own take it less time than vectors and algorithms.)
class ModuleMembers {
 public:
  ModuleMembers() = default;
  ModuleMembers(const ModuleMembers&) = delete;
  ~ModuleMembers() {
    stop();
    while (places_) delete std::exchange(places_, places_->next);
  }

  // `module`, of `bytes` bytes, was constructed and lives in `object`.
  void watch(tn_object* object, void* module, size_t bytes) {
    begin_ = static_cast<char*>(module);
    bytes_ = bytes;
    object_ = object;
    find_places();
    api.object->set_members(object, told, this);
    check(
        api.object->add_method(object, "member_follows(str name) -> bool", answer, this, nullptr));
  }
  // Before the module is destroyed.
  void stop() {
    if (object_) api.object->set_members(std::exchange(object_, nullptr), nullptr, nullptr);
  }
  // Before `forward`: members whose tensors are computed from others hold what they are now.
  void compute() {
    if (!has_computed_) [[likely]]
      return;
    const Busy busy(busy_);
    for (Place* place = places_; place; place = place->next) {
      if (!place->is_computed) continue;
      place->tensor() = Object::borrow(object_).tensor(place->name);
      place->last = place->held();
    }
  }
  // Of another object of this class: what was registered behind its constructor has members here,
  // too.
  void expect_those_of(ModuleMembers& other) {
    other.entries_are_read();
    for (const Place* place = other.places_; place; place = place->next) {
      char* const member = begin_ + (place->member - other.begin_);
      if (place->member && !place_of(place->name.c_str()) && !is_taken(member))
        add(place->name.c_str(), member, place->is_child);
    }
  }

 private:
  struct Place {
    Place* next;
    std::string name;
    char*
        member;  // an Object or a Tensor; NULL: nobody has it but the module, which asks by its name
    bool is_child;
    bool is_computed = false;
    const void* last = nullptr;  // what it held when it and the entry were last brought together

    Object& child() const { return *reinterpret_cast<Object*>(member); }
    Tensor& tensor() const { return *reinterpret_cast<Tensor*>(member); }
    const void* held() const {
      if (!member) return last;
      return is_child ? static_cast<const void*>(child().get()) : tensor().get();
    }
  };
  // While it lives, what this changes itself is no news.
  struct Busy {
    bool& flag;
    explicit Busy(bool& f) : flag(f) { flag = true; }
    Busy(const Busy&) = delete;
    ~Busy() { flag = false; }
  };

  static void told(void* self, tn_object*, const char* name) {
    auto& members = *static_cast<ModuleMembers*>(self);
    if (members.busy_) return;
    tn_status* const failed =
        to_status([&] { name ? members.entry_was_set(name) : members.entries_are_read(); });
    if (failed) log_failure("members of a module", failed);
  }
  // member_follows: does a member hold what the entry of this name holds?
  static tn_status* answer(void* self, tn_object*, const tn_value* args, uint32_t,
                           tn_value* results, uint32_t) {
    auto& members = *static_cast<ModuleMembers*>(self);
    return to_status([&] {
      members.entries_are_read();
      const Place* const place = members.place_of(args[0].as.string);
      results[0] =
          to_value(place && (!place->member || members.entry_of(*place).handle == place->held()));
    });
  }

  void entries_are_read() {
    if (is_new_) {
      const Busy busy(busy_);
      find_places();
      is_new_ = false;
    }
    for (Place* place = places_; place; place = place->next) {
      if (place->held() != place->last) [[unlikely]]
        bring_to_entry(*place);
    }
  }
  void bring_to_entry(Place& place) {
    const Busy busy(busy_);
    const void* const held = place.held();
    tn_status* const refusal = to_status([&] {
      if (place.is_child)
        return check(api.object->set_child(object_, place.name.c_str(), place.child().get()));
      const tn_entry_kind kind = entry_of(place).kind;
      if (kind == TN_ENTRY_COMPUTED) fail("it is computed from others");
      if (kind == TN_ENTRY_PARAMETER && place.tensor().defined()) place.tensor().requires_grad_();
      check(api.object->set_tensor(object_, place.name.c_str(), place.tensor().get(), kind));
    });
    if (refusal) {
      const std::string why = host()->status_message(refusal);
      ignore(refusal);
      host()->log(2, joined({api.object->type_name(object_), ": a member was assigned what '",
                             place.name, "' of the module cannot be: ", why,
                             "; parameters() and state_dict() have the one before"})
                         .c_str());
    }
    place.last = held;
  }

  void entry_was_set(const char* name) {
    Place* const place = place_of(name);
    if (!place) is_new_ = true;  // the program is about to assign it to a member
    if (!place || !place->member) return;
    const Busy busy(busy_);
    const Entry entry = entry_of(*place);
    place->is_computed = entry.kind == TN_ENTRY_COMPUTED;
    has_computed_ = has_computed_ || place->is_computed;
    if (!place->is_computed && entry.handle != place->held()) {
      if (!place->is_child) {
        place->tensor() = Object::borrow(object_).tensor(name);
      } else if (const Object child = Object::borrow(object_).child(name); takes(*place, child)) {
        place->child() = child;
      }
    }
    place->last = place->held();
  }
  // A member of the class nn::ModuleList holds no other layers, and one of the class Object may hold
  // a list: a list takes the place of a list.
  bool takes(const Place& place, const Object& other) const {
    if (word(place.member - begin_ + 2 * sizeof(void*)) == reinterpret_cast<const void*>(kMadeMark))
      return false;
    if (!place.child() || !other) return true;
    const std::string type = place.child().type_name();
    return type == other.type_name() ||
           (type != "Sequential" && type != "ModuleList" && type != "ModuleDict" &&
            type != "ParameterList" && type != "ParameterDict");
  }

  struct Entry {
    const char* name;
    const void* handle = nullptr;
    tn_entry_kind kind = TN_ENTRY_PARAMETER;
  };
  Entry entry_of(const Place& place) const {
    Entry entry{place.name.c_str()};
    if (place.is_child) {
      entry.handle = Object::borrow(object_).child(entry.name).get();
    } else {
      const auto see = [](void* context, const char* name, tn_tensor* tensor, tn_entry_kind kind) {
        auto& sought = *static_cast<Entry*>(context);
        if (std::strcmp(name, sought.name) == 0) sought = {sought.name, tensor, kind};
      };
      check(api.object->visit_own(object_, see, &entry));
    }
    return entry;
  }
  Place* place_of(const char* name) const {
    Place* place = places_;
    while (place && place->name != name) place = place->next;
    return place;
  }
  const void* word(size_t offset) const {
    const void* value = nullptr;
    if (offset + sizeof(value) <= bytes_) std::memcpy(&value, begin_ + offset, sizeof(value));
    return value;
  }
  bool is_taken(const char* member) const {
    const Place* place = places_;
    while (place && place->member != member) place = place->next;
    return place != nullptr;
  }
  void add(const char* name, char* member, bool is_child) {
    places_ = new Place{places_, name, member, is_child};
    places_->last = places_->held();
  }
  // Where two names have one tensor, the first of them has the first member. What nobody else holds
  // has none.
  void find_place(const char* name, const void* handle, bool is_child) {
    if (!handle || place_of(name)) return;
    for (size_t at = 0; at < bytes_; at += sizeof(void*)) {
      if (word(at) == handle && !is_taken(begin_ + at)) return add(name, begin_ + at, is_child);
    }
    if (!api.object->is_shared(object_, name)) add(name, nullptr, is_child);
  }
  void find_places() {
    struct Finding {
      ModuleMembers& members;
      tn_status* failed = nullptr;
    } finding{*this};
    const auto see = [](void* context, const char* name, tn_tensor* tensor, tn_entry_kind) {
      auto& f = *static_cast<Finding*>(context);
      if (!f.failed) f.failed = to_status([&] { f.members.find_place(name, tensor, false); });
    };
    check(api.object->visit_own(object_, see, &finding));
    check(finding.failed);
    std::string name;
    const Object object = Object::borrow(object_);
    for (uint32_t i = 0; i < object.n_children(); ++i) {
      const void* const child = object.child_at(i, &name).get();  // which this does not hold
      find_place(name.c_str(), child, true);
    }
  }

  tn_object* object_ = nullptr;
  char* begin_ = nullptr;
  size_t bytes_ = 0;
  Place* places_ = nullptr;
  bool is_new_ = false;  // there is an entry whose member was not looked for yet
  bool has_computed_ = false;
  bool busy_ = false;
};

static_assert(sizeof(Object) == sizeof(void*) && sizeof(Tensor) == sizeof(void*),
              "a handle is a pointer");

}  // namespace detail
}  // namespace v0
}  // namespace tenon
