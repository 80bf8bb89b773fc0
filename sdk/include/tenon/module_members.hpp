// Members of a class derived from Module, and the entries of its object that hold the same. An
// assignment to either is an assignment to both: `net->head = nn::Linear(8, 5)` and `mean = 0.9 *
// mean + x` change the entry, before it is read the next time; net.child("head", layer) changes the
// member, at once.
//
// C++ cannot list the members of a class. What child, parameter and buffer give is constructed where the
// constructor keeps it, or is assigned there at once (`w = parameter("w", t)`), which is noted; besides,
// a handle is a pointer, and the one word within the class that is the pointer of an entry is a member
// that holds it. Members elsewhere (in a std::vector, say) are not found, and are as they were assigned.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tenon/object.hpp"
#include "tenon/unregistered.hpp"

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

// Those of one module. The first read of entries behind an assignment to a member is itself a change of
// the object, and the caller's to order. (Every program compiles this, and a list of its own takes a
// compiler less time than vectors and algorithms.)
class ModuleMembers {
 public:
  ModuleMembers() = default;
  ModuleMembers(const ModuleMembers&) = delete;
  ~ModuleMembers() {
    stop();
    while (places_) delete std::exchange(places_, places_->next);
  }

  // `module`, of `bytes` bytes, was constructed and lives in `object`; `placed` is where what it
  // registered was put.
  void watch(tn_object* object, void* module, size_t bytes,
             const std::vector<MakingScope::Placed>& placed) {
    begin_ = static_cast<char*>(module);
    bytes_ = bytes;
    object_ = object;
    for (const MakingScope::Placed& one : placed) {
      const auto at = size_t(static_cast<const char*>(one.member) - begin_);
      if (one.owner != object || at >= bytes_ || place_of(one.name.c_str()) ||
          is_taken(begin_ + at))
        continue;
      const Place wanted{nullptr, one.name, nullptr, is_child(one.name.c_str()), true};
      const Entry entry = entry_of(wanted);
      const bool is_computed = entry.kind == TN_ENTRY_COMPUTED;  // by the constructor already
      if (!is_computed && word(at) != entry.handle) continue;
      add(one.name.c_str(), begin_ + at, wanted.is_child, true);
      places_->is_computed = is_computed;
      has_computed_ = has_computed_ || is_computed;
    }
    find_places();
    api.object->set_members(object, told, this);
    check(api.object->add_method(object, "member_state(str name) -> int", answer, this, nullptr));
  }
  // Before the module is destroyed.
  void stop() {
    if (object_) api.object->set_members(std::exchange(object_, nullptr), nullptr, nullptr);
  }
  // Entries hold what members do, and members whose tensors are computed what they are now.
  void before_forward() {
    entries_are_read();
    if (!has_computed_) [[likely]]
      return;
    const Busy busy(busy_);
    for (Place* place = places_; place; place = place->next) {
      if (!place->is_computed || !place->is_written()) continue;
      place->tensor() = Object::borrow(object_).tensor(place->name);
      place->last = place->held();
    }
  }
  // Those of another object of this class: what was registered behind its constructor has members here,
  // too.
  void adopt_places_of(ModuleMembers& other) {
    other.entries_are_read();
    for (const Place* place = other.places_; place; place = place->next) {
      if (!place->member || place_of(place->name.c_str())) continue;
      char* const member = begin_ + (place->member - other.begin_);
      if (!is_taken(member)) add(place->name.c_str(), member, place->is_child, place->is_exact);
    }
  }

 private:
  struct Place {
    Place* next;
    std::string name;
    char* member;  // NULL: nobody but the module holds it, and the class asks by the name
    bool is_child;
    bool is_exact;  // an Object or a Tensor was constructed there; else a word looks like it
    bool is_computed = false;
    const void* last = nullptr;  // what it held when it and the entry were last brought together
    Tensor refused = {};  // what `last` is where an entry could not be it: it keeps its address

    Object& child() const { return *reinterpret_cast<Object*>(member); }
    Tensor& tensor() const { return *reinterpret_cast<Tensor*>(member); }
    // What is no pointer is there where a std::variant holds something else by now.
    const void* held() const {
      if (!member) return last;
      const void* const word = is_child ? static_cast<const void*>(child().get()) : tensor().get();
      const auto address = reinterpret_cast<uintptr_t>(word);
      const bool is_pointer = address % alignof(void*) == 0 && address >> 47 == 0 &&
                              (address == 0 || address >> 16 != 0);
      return is_exact || is_pointer ? word : last;
    }
    // An Object that is none any more is null; of a Tensor, as in a std::optional that was reset,
    // nobody can tell.
    bool is_written() const { return member && (is_child || is_exact); }
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
  // member_state
  static tn_status* answer(void* self, tn_object*, const tn_value* args, uint32_t,
                           tn_value* results, uint32_t) {
    auto& members = *static_cast<ModuleMembers*>(self);
    return to_status([&] {
      members.entries_are_read();
      const Place* const place = members.place_of(args[0].as.string);
      MemberState state = kNoMember;
      if (place) {
        const bool follows = !place->member || (place->is_written() &&
                                                members.entry_of(*place).handle == place->held());
        state = follows ? kMemberFollows : kMemberDiffers;
      }
      results[0] = to_value(int64_t(state));
    });
  }

  void entries_are_read() {
    if (has_unplaced_) [[unlikely]] {
      const Busy busy(busy_);
      find_places();
      has_unplaced_ = false;
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
    place.refused = refusal && !place.is_child ? place.tensor() : Tensor();
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
    if (!has_entry(name)) return forget(name);  // reads nothing else, whose members may be later
    Place* const place = place_of(name);
    if (!place) has_unplaced_ = true;  // the program is about to assign it to a member
    if (!place || !place->member) return;
    const Busy busy(busy_);
    const Entry entry = entry_of(*place);
    place->is_computed = entry.kind == TN_ENTRY_COMPUTED;
    has_computed_ = has_computed_ || place->is_computed;
    const bool differs = entry.handle != place->held();
    const Object child = place->is_child ? Object::borrow(object_).child(name) : Object();
    if (!differs || (place->is_computed && place->is_written())) {
    } else if (place->is_child ? !takes(*place, child) : !place->is_exact) {
      warn_of_members(api.object->type_name(object_), name, place->is_child);
    } else if (place->is_child) {
      place->child() = child;
    } else {
      place->tensor() = Object::borrow(object_).tensor(name);
    }
    place->last = place->held();
  }
  // A member of the class nn::ModuleList holds no other layers, and one of the class Object may hold
  // a list: where that is not known a list takes the place of a list.
  bool takes(const Place& place, const Object& other) const {
    if (place.is_exact) return true;
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
  bool has_entry(const char* name) {
    const Busy busy(busy_);
    struct Search {
      const char* name;
      bool found = false;
    } search{name};
    const auto see = [](void* context, const char* known, tn_tensor*, tn_entry_kind) {
      auto& s = *static_cast<Search*>(context);
      s.found = s.found || std::strcmp(known, s.name) == 0;
    };
    check(api.object->visit_own(object_, see, &search));
    return search.found || is_child(name);
  }
  // It was removed: its member is like any other of the class.
  void forget(const char* name) {
    Place** link = &places_;
    while (*link && (*link)->name != name) link = &(*link)->next;
    if (!*link) return;
    Place* const place = *link;
    *link = place->next;
    delete place;
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
  void add(const char* name, char* member, bool is_child, bool is_exact) {
    places_ = new Place{places_, name, member, is_child, is_exact};
    places_->last = places_->held();
  }
  bool is_child(const char* name) const {
    std::string known;
    const Object object = Object::borrow(object_);
    for (uint32_t i = 0; i < object.n_children(); ++i) {
      (void)object.child_at(i, &known);
      if (known == name) return true;
    }
    return false;
  }
  // Where several words are the handle nobody knows which of them is the member. What nobody else
  // holds has none.
  void find_place(const char* name, const void* handle, bool is_child) {
    if (!handle || place_of(name)) return;
    char* member = nullptr;
    int n = 0;
    for (size_t at = 0; at < bytes_; at += sizeof(void*)) {
      if (word(at) != handle || is_taken(begin_ + at)) continue;
      member = begin_ + at;
      ++n;
    }
    const bool is_shared = api.object->is_shared(object_, name) != 0;
    if (n == 1 && !is_child && !is_shared) return;  // a pointer that holds nothing
    if (n == 1 || (n == 0 && !is_shared)) add(name, member, is_child, false);
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
  bool has_unplaced_ = false;  // there is an entry whose member was not looked for yet
  bool has_computed_ = false;
  bool busy_ = false;
};

static_assert(sizeof(Object) == sizeof(void*) && sizeof(Tensor) == sizeof(void*),
              "a handle is a pointer");

}  // namespace detail
}  // namespace v0
}  // namespace tenon
