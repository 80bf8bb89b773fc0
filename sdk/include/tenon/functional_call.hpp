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

#include <string>
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
  Substitution(const Object& model, const NamedTensors& tensors) {
    try {
      for (const auto& [path, tensor] : tensors) substitute(model, path, tensor);
    } catch (...) {
      restore();
      throw;
    }
  }
  Substitution(const Substitution&) = delete;
  Substitution& operator=(const Substitution&) = delete;
  ~Substitution() { restore(); }

 private:
  struct Replaced {
    Object owner;
    OwnEntry before;
  };

  void substitute(const Object& model, const std::string& path, const Tensor& tensor) {
    const size_t dot = path.rfind('.');
    const Object owner = dot == path.npos ? model : model.get_submodule(path.substr(0, dot));
    const std::string name = dot == path.npos ? path : path.substr(dot + 1);
    for (const OwnEntry& entry : own_entries(owner)) {
      if (entry.name != name) continue;
      expect_fit(model, path, owner, entry, tensor);
      if (entry.tensor.defined()) {
        for (const Object& object : model.modules()) replace_shared(object, entry.tensor, tensor);
      } else {
        replace(owner, entry, tensor);
      }
      return;
    }
    std::vector<std::string> known;
    for (const auto& [other, t] : model.named_parameters()) known.push_back(other);
    for (const auto& [other, t] : model.named_buffers()) known.push_back(other);
    refuse(model, path, joined({"is no parameter or buffer", messages::did_you_mean(path, known)}));
  }
  // A tensor of several names is another in all of them.
  void replace_shared(const Object& object, const Tensor& before, const Tensor& tensor) {
    for (const OwnEntry& entry : own_entries(object)) {
      if (entry.tensor.is_same(before)) replace(object, entry, tensor);
    }
  }
  void replace(const Object& object, const OwnEntry& entry, const Tensor& tensor) {
    replaced_.push_back({object, entry});
    // A parameter would have to be a leaf.
    object.set(entry.name.c_str(), tensor, TN_ENTRY_UNSAVED);
  }
  static void expect_fit(const Object& model, const std::string& path, const Object& owner,
                         const OwnEntry& entry, const Tensor& tensor) {
    if (!tensor.defined()) refuse(model, path, "comes without a tensor");
    if (entry.kind == TN_ENTRY_COMPUTED)
      refuse(model, path, "is computed from others, which may be given");
    // A class of C++ reads its members, and these hold what the constructor gave them.
    if (Cloner::is_module(owner)) {
      refuse(
          model, path,
          joined({"is held by a member of ", owner.type_name(),
                  ", which would not see another tensor; expected one of a layer of a plugin, of "
                  "an nn::ParameterList or of an nn::ParameterDict"}));
    }
  }
  [[noreturn]] static void refuse(const Object& model, const std::string& path,
                                  std::string_view why) {
    fail(joined(
        {"functional_call: '", messages::printable(path), "' of ", model.type_name(), " ", why}));
  }
  void restore() noexcept {
    for (auto it = replaced_.rbegin(); it != replaced_.rend(); ++it) {
      const OwnEntry& was = it->before;
      ignore(api.object->set_tensor(it->owner.get(), was.name.c_str(), was.tensor.get(), was.kind));
    }
    replaced_.clear();
  }

  std::vector<Replaced> replaced_;
};

}  // namespace detail

// model(args...) with `tensors` in the place of those of the same paths; the others stay. A tensor
// that the model has under several names is replaced under all of them. Afterwards, also where the
// call throws, the model is as before. Sizes and dtypes are what `forward` makes of them.
//
// Tensors that a class derived from Module registers for its own members cannot be replaced, which
// is an Error: those of the layers below it can, and those of nn::ParameterList and
// nn::ParameterDict. One thread at a time for one model.
template <typename M, typename... Args>
auto functional_call(const M& model, const NamedTensors& tensors, const Args&... args) {
  const detail::Substitution scope(model, tensors);
  return model(args...);
}

}  // namespace v0
}  // namespace tenon
