// Tensors of layers that are computed from others at each forward: torch.nn.utils.parametrize.
// weight_norm and spectral_norm are in parametrizations.hpp; tenon.hpp includes neither.
//
//   struct Symmetric : Module { Tensor forward(Tensor x) { return x.triu() + x.triu(1).t(); } };
//   nn::utils::register_parametrization(layer, "weight", make<Symmetric>());
//
// The layer's parameter goes to "parametrizations.weight.original" (or original0, original1, ..), as
// PyTorch's state_dict has it, and what computes it is "parametrizations.weight.0". The tensor is
// computed whenever it is read by its name (`layer.tensor("weight")`), as layers of packs do in
// `forward`: it is an entry TN_ENTRY_COMPUTED, and the layer has a method "weight() -> Tensor". A
// compiled function records those calls as all others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/clone.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/methods.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// The child of this name; none where there is no such child.
inline Object child_or_none(const Object& object, const std::string& name) {
  for (auto& [known, child] : object.named_children()) {
    if (known == name) return child;
  }
  return {};
}
// "parametrizations.<name>" of a layer; none where that tensor is not parametrized.
inline Object parametrizations_of(const Object& layer, const std::string& name) {
  const Object all = child_or_none(layer, "parametrizations");
  return all ? child_or_none(all, name) : Object();
}
// What the parametrizations make of the originals.
inline Tensor parametrized_value(const Object& list) {
  std::vector<tn_value> args;
  const std::vector<OwnEntry> originals = own_entries(list);
  for (const OwnEntry& entry : originals) args.push_back(to_value(entry.tensor));
  Tensor value;
  for (const Object& each : list.children()) {
    tn_value result;
    check(
        api.object->invoke(each.get(), "forward", args.data(), uint32_t(args.size()), &result, 1));
    value = Unpack<Tensor>::own(result);
    args = {to_value(value)};
  }
  return value;
}
// The same without a gradient and as in evaluation, so that nothing changes by it.
inline Tensor value_in_eval(const Object& list) {
  struct Evaluation {
    Object object;
    bool was_training = object.training();
    ~Evaluation() { object.train(was_training); }
  } scope{list};
  list.eval();
  const NoGrad guard;
  return parametrized_value(list);
}
// What right_inverse gives for a value: the originals that it is computed from. Without that method
// the value itself.
inline std::vector<Tensor> originals_of(const Object& parametrization, const Tensor& value) {
  if (!Cloner::has_method(parametrization, "right_inverse")) return {value};
  uint32_t n = 0;
  const auto see = [](void* count, const tn_schema* read) {
    *static_cast<uint32_t*>(count) = read->n_results;
  };
  check(api.schema->read(parametrization.method_schema("right_inverse").c_str(), see, &n));
  std::vector<tn_value> results(n);
  const tn_value arg = to_value(value);
  const NoGrad guard;
  check(api.object->invoke(parametrization.get(), "right_inverse", &arg, 1, results.data(), n));
  std::vector<Tensor> originals;
  for (tn_value& result : results) {
    Tensor t = Unpack<Tensor>::own(result);
    if (!t.is_same(value)) {
      t = t.detach().clone();
      t.requires_grad_(value.requires_grad());
    }
    originals.push_back(std::move(t));
  }
  return originals;
}

// The tensor as it is now; where that is computed, without any change by it.
inline Tensor value_now(const Object& layer, const std::string& name) {
  const Object list = parametrizations_of(layer, name);
  return list ? value_in_eval(list) : layer.tensor(name.c_str());
}

// The layer's method by which the host computes the tensor. It stays where the parametrization is
// removed, and gives the tensor.
inline std::string schema_of_computed(const std::string& name) { return name + "() -> Tensor"; }
inline void expect_no_other_method(const Object& layer, const std::string& name) {
  if (!Cloner::has_method(layer, name.c_str())) return;
  const std::string schema = layer.method_schema(name.c_str());
  if (schema == schema_of_computed(name)) return;
  fail(joined({"register_parametrization: ", layer.type_name(), " has a method ", schema,
               ", and the tensor '", name, "' would need one of that name"}));
}
inline void compute_entry(const Object& layer, const std::string& name) {
  layer.method(schema_of_computed(name).c_str(), [name](Object& self) {
    const Object list = parametrizations_of(self, name);
    return list ? parametrized_value(list) : self.tensor(name.c_str());
  });
  layer.set(name.c_str(), {}, TN_ENTRY_COMPUTED);
}

inline tn_entry_kind kind_of(const Object& layer, const std::string& name) {
  for (const OwnEntry& entry : own_entries(layer)) {
    if (entry.name == name) return entry.kind;
  }
  return TN_ENTRY_BUFFER;
}
inline void expect_fit(const Object& layer, const std::string& name, const Tensor& value,
                       const Object& list) {
  const Tensor made = value_in_eval(list);
  if (made.sizes() == value.sizes() && made.dtype() == value.dtype()) return;
  fail(joined({"register_parametrization: ", list.child("0").type_name(), " makes ",
               sizes_text(made.sizes()), " ", made.dtype().name(), " of '", name, "' of ",
               layer.type_name(), ", which is ", sizes_text(value.sizes()), " ",
               value.dtype().name(), "; expected the same"}));
}
// What a copy of a layer gets by `clone`: an object of this type without anything in it.
inline Object empty_list() {
  Object list = Object::empty("ParametrizationList", TN_OBJECT_OTHER);
  list.method("clone() -> object", [](Object&) { return empty_list(); });
  return list;
}
// All those of a layer, by the names of its tensors. Those of a copy compute tensors of the copy.
inline Object empty_parametrizations() {
  Object all = Object::empty("ModuleDict");
  all.method("clone() -> object", [](Object&) { return empty_parametrizations(); });
  all.method(Cloner::kCopiedInto, [](Object& self, const Object& layer) {
    for (const auto& [name, list] : self.named_children()) {
      if (list && kind_of(layer, name) != TN_ENTRY_COMPUTED) compute_entry(layer, name);
    }
  });
  return all;
}
// In the place of the tensor.
inline void put_parametrizations(const Object& layer, const std::string& name, const Object& list) {
  Object all = child_or_none(layer, "parametrizations");
  if (!all) all = layer.child("parametrizations", empty_parametrizations());
  all.train(layer.training());
  list.train(layer.training());
  all.child(name.c_str(), list);
  compute_entry(layer, name);
}

}  // namespace detail

namespace nn {
namespace utils {

inline bool is_parametrized(const Object& layer, const std::string& name = "weight") {
  return detail::parametrizations_of(layer, name).defined();
}
// The tensor, computed as a forward does; of a spectral_norm in training mode this is a step of its
// iteration.
inline Tensor parametrized(const Object& layer, const std::string& name = "weight") {
  const Object list = detail::parametrizations_of(layer, name);
  if (!list) {
    fail(detail::joined(
        {"parametrized: '", name, "' of ", layer.type_name(), " has no parametrization"}));
  }
  return detail::parametrized_value(list);
}

// From now on the tensor is what `parametrization` computes: an object with `forward(Tensor) ->
// Tensor`, and where its first values are not the tensor itself `right_inverse(Tensor) -> Tensor`; with
// several results `forward` takes as many. A second one takes what the first gives. Gives the layer.
// What an optimizer made before holds are the layer's old tensors: make it behind this.
// unsafe: whether it fits is not tried.
inline Object register_parametrization(const Object& layer, const std::string& name,
                                       const Object& parametrization, bool unsafe = false) {
  const Object known = detail::parametrizations_of(layer, name);
  if (known && unsafe) {
    known.child(std::to_string(known.n_children()).c_str(), parametrization);
    return layer;
  }
  if (!known) detail::expect_no_other_method(layer, name);
  const Tensor value = detail::value_now(layer, name);
  if (!value.defined()) {
    fail(detail::joined(
        {"register_parametrization: '", name, "' of ", layer.type_name(), " is None"}));
  }
  const Object list = detail::empty_list();
  const tn_entry_kind kind = known ? TN_ENTRY_BUFFER : detail::kind_of(layer, name);
  const std::vector<Tensor> originals =
      known ? std::vector<Tensor>{value} : detail::originals_of(parametrization, value);
  for (size_t i = 0; i < originals.size(); ++i) {
    const std::string number = originals.size() > 1 ? std::to_string(i) : "";
    list.set(("original" + number).c_str(), originals[i], kind);
  }
  list.child("0", parametrization);
  if (!unsafe) detail::expect_fit(layer, name, value, list);
  if (known) {
    known.child(std::to_string(known.n_children()).c_str(), parametrization);
  } else {
    detail::put_parametrizations(layer, name, list);
  }
  parametrization.train(layer.training());
  return layer;
}

// Makes the tensor a parameter of the layer again: with the value that it has now, or, where
// `leave_parametrized` is false, the original, of which there must be one.
inline Object remove_parametrizations(const Object& layer, const std::string& name = "weight",
                                      bool leave_parametrized = true) {
  const Object list = detail::parametrizations_of(layer, name);
  if (!list) {
    fail(detail::joined({"remove_parametrizations: '", name, "' of ", layer.type_name(),
                         " has no parametrization"}));
  }
  const std::vector<detail::OwnEntry> originals = detail::own_entries(list);
  const detail::OwnEntry& first = originals[0];
  if (!leave_parametrized && originals.size() > 1) {
    fail(detail::joined({"remove_parametrizations: '", name, "' of ", layer.type_name(), " has ",
                         std::to_string(originals.size()),
                         " originals, and none of them is the tensor; leave it parametrized"}));
  }
  Tensor value = first.tensor;
  if (leave_parametrized) {
    value = detail::value_in_eval(list).detach().clone();
    if (first.tensor.requires_grad()) value.requires_grad_();
  }
  layer.child("parametrizations").child(name.c_str(), Object());
  layer.set(name.c_str(), Tensor(), first.kind);  // it is computed no more
  layer.set(name.c_str(), value, first.kind);
  return layer;
}

// Where PyTorch has them.
namespace parametrize {
using utils::is_parametrized;
using utils::register_parametrization;
using utils::remove_parametrizations;
}  // namespace parametrize

}  // namespace utils
}  // namespace nn
}  // namespace v0
}  // namespace tenon
