// Layers, optimizers and policies of autocast from lambdas. Part of plugin.hpp.
#pragma once

#include "tenon/define_op.hpp"
#include "tenon/object.hpp"
#include "tenon/registrar.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

template <typename F>
tn_status* call_create(void* self, tn_object* object, const tn_value* args, uint32_t n_args) {
  return tenon::to_status([&] {
    Object handle = Object::borrow(object);
    call_values<typename Tail<ArgsOf<F>>::type>(Held<F>::get(self), args, n_args, nullptr, 0,
                                                handle);
  });
}

// Programs give an optimizer its parameters first.
inline void expect_parameters(const char* schema) {
  const std::string_view text = schema;
  const size_t open = text.find('(');
  const size_t first = open == text.npos ? open : text.find_first_not_of(' ', open + 1);
  if (first == text.npos || text.substr(first).starts_with("Tensor[] ")) return;
  fail(joined({"optimizer '", schema_name(schema), "': its options are '", text.substr(open),
               "', expected the list of its parameters first: ", schema_name(schema),
               "(Tensor[] params, ..)"}));
}

// A function of autocast with what errors call it.
template <typename F>
struct NamedPolicy {
  F f;
  std::string name;
};

template <typename F>
void define_factory(tn_object_kind kind, const char* schema, const char* doc, F f) {
  tn_registrar* r = registration.get();
  constexpr const char* kKinds[] = {"layer '", "optimizer '", "object '"};
  expect_signature<typename Tail<ArgsOf<F>>::type, ResultOf<F>>(
      joined({kKinds[kind], schema_name(schema), "'"}), schema, "factory");
  if (registration.error) return;
  tn_factory_def def{};
  def.size = sizeof(def);
  def.kind = kind;
  def.schema = schema;
  def.doc = doc;
  def.group = registration.group;
  def.create = call_create<F>;
  def.self = Held<F>::make(std::move(f));
  def.destroy = Held<F>::destroy;
  tn_status* status = r->factory(r, &def);
  if (status) def.destroy(def.self);
  registration.note(status);
}

}  // namespace detail

namespace plugin {

// A named constructor: f(Object& self, options...) adds parameters, children and methods. Options
// are by the schema, which gives nothing: "Gated(int dim, float p=0.1)". `doc` says in one line what
// it computes, the shapes and the source of the formula: for generated headers.
template <typename F>
void layer(const char* schema, const char* doc, F f) {
  detail::define_factory(TN_OBJECT_LAYER, schema, doc, std::move(f));
}
template <typename F>
void layer(const char* schema, F f) {
  layer(schema, nullptr, std::move(f));
}
template <typename F>
void optimizer(const char* schema, const char* doc, F f) {
  detail::registration.note(to_status([&] { detail::expect_parameters(schema); }));
  detail::define_factory(TN_OBJECT_OPTIMIZER, schema, doc, std::move(f));
}
template <typename F>
void optimizer(const char* schema, F f) {
  optimizer(schema, nullptr, std::move(f));
}
// As layer, of a kind that is neither: a data set, a format, a tokenizer. Object::create makes it.
template <typename F>
void object(const char* schema, F f) {
  detail::define_factory(TN_OBJECT_OTHER, schema, nullptr, std::move(f));
}

// A named policy of autocast: f(std::string_view op, Amp own, std::string_view device_type) gives
// the class of an op whose own is `own`, which it keeps where f throws: that is logged.
template <typename F>
void amp_policy(const char* name, F f) {
  tn_registrar* r = detail::registration.get();
  if (detail::registration.error) return;
  using Named = detail::Held<detail::NamedPolicy<F>>;
  tn_amp_policy_def def{};
  def.size = sizeof(def);
  def.name = name;
  def.classify = [](void* self, const char* op, tn_amp_class own,
                    const char* device_type) noexcept {
    auto& policy = Named::get(self);
    tn_amp_class found = own;
    tenon::detail::log_failure(policy.name.c_str(), to_status([&] {
                                 found = tn_amp_class(policy.f(std::string_view(op), Amp(own),
                                                               std::string_view(device_type)));
                               }));
    return found;
  };
  def.self = Named::make({std::move(f), detail::joined({"amp policy '", name, "' of plugin '",
                                                        detail::registration.plugin, "'"})});
  def.destroy = Named::destroy;
  tn_status* status = r->amp(r, &def);
  if (status) def.destroy(def.self);
  detail::registration.note(status);
}

}  // namespace plugin
}  // namespace v0
}  // namespace tenon
