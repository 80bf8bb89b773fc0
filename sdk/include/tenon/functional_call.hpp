// A call of a model with other tensors in the place of its parameters and buffers:
// torch.func.functional_call. What is given may have a history, so that gradients go through it.
//
//   NamedTensors fast;  // the weights after a step that can be differentiated
//   for (const auto& [name, p] : model.named_parameters())
//     fast.emplace_back(name, p - 0.1 * grad(loss, p, {.create_graph = true}));
//   Tensor y = functional_call(model, fast, x);
//
// tenon.hpp does not include it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/clone.hpp"
#include "tenon/messages.hpp"
#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// For as long as it lives, entries of a tree of objects hold other tensors.
class Substitution {
 public:
  Substitution(const Object& model, const NamedTensors& tensors) : model_(model) {
    if (!model) fail("functional_call: the model is None");
    collect(model, "");
    // All is decided by what the entries hold before: what is given may be another entry's tensor.
    std::vector<const std::pair<std::string, Tensor>*> given(slots_.size(), nullptr);
    for (const auto& entry : tensors) note(entry, &given);
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (given[i]) expect_fit(slots_[i], *given[i]);
    }
    ++substitutions;
    try {
      for (size_t i = 0; i < slots_.size(); ++i) {
        if (given[i]) replace(slots_[i], given[i]->second);
      }
      for (size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].is_doubtful) expect_unread(i, given[i]->first);
      }
    } catch (...) {
      restore();
      throw;
    }
  }
  Substitution(const Substitution&) = delete;
  Substitution& operator=(const Substitution&) = delete;
  ~Substitution() { restore(); }

 private:
  struct Slot {
    std::string path;
    Object owner;
    OwnEntry before;
    bool is_replaced = false;
    bool is_doubtful = false;  // no member of its class is known to hold it
  };

  // Every entry under every path that it has.
  void collect(const Object& object, const std::string& prefix) {
    for (OwnEntry& entry : own_entries(object)) {
      std::string path = prefix + entry.name;
      slots_.push_back({std::move(path), object, std::move(entry)});
    }
    for (const auto& [name, child] : object.named_children()) collect(child, prefix + name + ".");
  }
  // A tensor of several names is another in all of them.
  void note(const std::pair<std::string, Tensor>& entry,
            std::vector<const std::pair<std::string, Tensor>*>* given) const {
    const Slot& named = slot_of(entry.first);
    if (!entry.second.defined()) refuse(entry.first, "comes without a tensor");
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      const bool is_same = named.before.tensor.defined()
                               ? slot.before.tensor.is_same(named.before.tensor)
                               : slot.path == named.path;
      if (!is_same) continue;
      const auto* const other = (*given)[i];
      if (other && !other->second.is_same(entry.second)) {
        refuse(entry.first, other->first == entry.first
                                ? "is given twice"
                                : joined({"and '", messages::printable(other->first),
                                          "' are one tensor, and two are given"}));
      }
      (*given)[i] = &entry;
    }
  }
  const Slot& slot_of(const std::string& path) const {
    std::vector<std::string> known;
    for (const Slot& slot : slots_) {
      if (slot.path == path) return slot;
      known.push_back(slot.path);
    }
    refuse(path, joined({"is no parameter or buffer", messages::did_you_mean(path, known)}));
  }
  void expect_fit(Slot& slot, const std::pair<std::string, Tensor>& given) const {
    expect_made(model_, given.first, slot.before.kind);
    if (slot.before.kind == TN_ENTRY_COMPUTED)
      refuse(given.first, "is computed from others, which may be given");
    // A class of C++ reads its members.
    if (!is_module(slot.owner.get())) return;
    const MemberState state = member_state(slot.owner, slot.before.name.c_str());
    slot.is_doubtful = state == kNoMember && !given.second.is_same(slot.before.tensor);
    if (state == kMemberDiffers) refuse_member(slot, given.first);
  }
  // Entries hold others by now. Who still holds the tensor may be a member of the class; where nobody
  // does, the class asks for it by its name.
  void expect_unread(size_t i, const std::string& name) {
    std::vector<Slot*> holders;
    const Tensor before = slots_[i].before.tensor;
    if (!before.defined()) return;
    for (Slot& slot : slots_) {
      if (!slot.before.tensor.is_same(before)) continue;
      slot.before.tensor = Tensor();
      holders.push_back(&slot);
    }
    const bool is_held = api.tensor->is_retained_once(before.get()) == 0;
    for (Slot* const slot : holders) slot->before.tensor = before;
    if (is_held) refuse_member(slots_[i], name);
  }
  [[noreturn]] void refuse_member(const Slot& slot, const std::string& name) const {
    const std::string also =
        slot.path == name
            ? ""
            : joined({"and '", messages::printable(slot.path), "' are one tensor, which "});
    refuse(name,
           joined({also, "is in no member of ", slot.owner.type_name(),
                   " that is known, so that forward may not see another tensor; expected one "
                   "member Tensor w = parameter(\"w\", ...) for it, in no container; of several "
                   "use an nn::ParameterList"}));
  }
  void replace(Slot& slot, const Tensor& tensor) {
    // A parameter has to be a leaf.
    const bool fits = tensor.is_leaf() || slot.before.kind != TN_ENTRY_PARAMETER;
    slot.owner.set(slot.before.name.c_str(), tensor, fits ? slot.before.kind : TN_ENTRY_BUFFER);
    slot.is_replaced = true;
  }
  [[noreturn]] void refuse(const std::string& path, std::string_view why) const {
    fail(joined(
        {"functional_call: '", messages::printable(path), "' of ", model_.type_name(), " ", why}));
  }
  void restore() noexcept {
    for (const Slot& slot : slots_) {
      if (!slot.is_replaced) continue;
      const OwnEntry& was = slot.before;
      ignore(
          api.object->set_tensor(slot.owner.get(), was.name.c_str(), was.tensor.get(), was.kind));
    }
    --substitutions;
  }

  Object model_;
  std::vector<Slot> slots_;
};

}  // namespace detail

// model(args...) with `tensors` in the place of those of the same paths; the others stay. A tensor
// that the model has under several names is replaced under all of them. Afterwards, also where the
// call throws, the model is as before. Sizes and dtypes are what `forward` makes of them.
//
// A class derived from Module has the other tensors in its members, whether they were initialized as
// `Tensor w = register_parameter("w", t);` or assigned so in the constructor, or asks for tensor("w").
// What it keeps elsewhere, in a std::vector for instance, cannot be replaced, which is an Error; so is a
// tensor that only tensor("w") reads while the program holds it, too. A copy that another member has
// (`b = a`) stays what it is. During the call what has a history
// is a buffer, so that `forward` does not find it among parameters(). A checkpoint_call within is
// refused: it would compute with the model's own tensors once more. One thread at a time for one model.
template <typename M, typename... Args>
auto functional_call(const M& model, const NamedTensors& tensors, const Args&... args) {
  const detail::Substitution scope(model, tensors);
  return model(args...);
}
// The same of a `forward` of N results, as model.call<N>(args...).
template <size_t N, typename... Args>
auto functional_call(const Object& model, const NamedTensors& tensors, const Args&... args) {
  const detail::Substitution scope(model, tensors);
  return model.template call<N>(args...);
}

}  // namespace v0
}  // namespace tenon
