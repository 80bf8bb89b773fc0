#include "object/api.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "base/text.h"
#include "object/describe.h"
#include "object/factory.h"
#include "object/groups.h"
#include "object/invoke.h"
#include "object/state.h"
#include "object/tree.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

// What every entry needs is there: the object, and what it is named by or given.
struct Given {
  const char* what;
  const void* pointer;
};
Status expect_given(std::initializer_list<Given> all) {
  for (const Given& one : all) {
    if (one.pointer == nullptr) [[unlikely]]
      return invalid("{} is NULL", one.what);
  }
  return nullptr;
}
Status expect_strided(const char* what, const tn_tensor* t) {
  return t != nullptr && is_rows(as_tensor(t)) ? refuse_rows(what, as_tensor(t)) : nullptr;
}
// A list may be NULL where it has no entries; names have each to be there.
const void* list_or_none(const void* list, uint32_t n) { return n == 0 ? "" : list; }
Status expect_names(const char* what, const char* const* names, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    if (names == nullptr || names[i] == nullptr)
      return invalid("{}: name {} of {} is NULL", what, i, n);
  }
  return nullptr;
}

// Not inline: what an exception becomes is here once, and not in each entry.
[[gnu::noinline]] tn_status* run(std::initializer_list<Given> all, Status (*call)(void*),
                                 void* body) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given(all));
    return call(body);
  });
}
template <typename Body>
tn_status* checked(std::initializer_list<Given> all, Body body) {
  return run(
      all, [](void* self) -> Status { return (*static_cast<Body*>(self))(); }, &body);
}

tn_status* api_create(const char* factory, const tn_value* args, uint32_t n, tn_object** object) {
  return checked({{"create: the factory's name", factory},
                  {"create: the list of options", list_or_none(args, n)},
                  {"create: the place for the result", object}},
                 [&] { return create_object(factory, args, n, object); });
}
tn_status* api_create_named(const char* factory, const char* const* names, const tn_value* args,
                            uint32_t n, tn_object** object) {
  return checked({{"create_named: the factory's name", factory},
                  {"create_named: the list of options", list_or_none(args, n)},
                  {"create_named: the place for the result", object}},
                 [&]() -> Status {
                   TN_TRY(expect_names("create_named", names, n));
                   return create_object_named(factory, names, args, n, object);
                 });
}
tn_status* api_create_empty(const char* type, tn_object_kind kind, tn_object** object) {
  return checked(
      {{"create_empty: the type's name", type}, {"create_empty: the place for the result", object}},
      [&] { return create_empty_object(type, kind, object); });
}
void api_retain(tn_object* object) {
  if (object != nullptr) object->retain();
}
void api_release(tn_object* object) {
  if (object != nullptr) object->release();
}
const char* api_type_name(const tn_object* object) {
  return object != nullptr ? object->type.c_str() : "";
}
tn_object_kind api_kind(const tn_object* object) {
  return object != nullptr ? object->kind : tn_object_kind{TN_OBJECT_OTHER};
}

tn_status* api_set_tensor(tn_object* object, const char* name, tn_tensor* tensor,
                          tn_entry_kind kind) {
  return checked({{"set_tensor: the object", object}, {"set_tensor: the name", name}},
                 [&]() -> Status {
                   TN_TRY(expect_strided("set_tensor: the tensor", tensor));
                   TN_TRY(set_tensor(object, name, as_tensor(tensor), kind));
                   object->tell_members(name);
                   return nullptr;
                 });
}
tn_status* api_set_child(tn_object* object, const char* name, tn_object* child) {
  return checked({{"set_child: the object", object}, {"set_child: the name", name}},
                 [&]() -> Status {
                   TN_TRY(set_child(object, name, child));
                   object->tell_members(name);
                   return nullptr;
                 });
}
tn_status* api_remove(tn_object* object, const char* name) {
  return checked({{"remove: the object", object}, {"remove: the name", name}}, [&]() -> Status {
    const std::string known = name;  // which may be the entry's own
    TN_TRY(remove_entry(object, known));
    object->tell_members(known.c_str());
    return nullptr;
  });
}
tn_status* api_add_method(tn_object* object, const char* schema, tn_method_fn fn, void* self,
                          void (*destroy)(void*)) {
  return checked({{"add_method: the object", object},
                  {"add_method: the schema", schema},
                  {"add_method: the function", reinterpret_cast<const void*>(fn)}},
                 [&] { return add_method(object, schema, fn, self, destroy); });
}

// What the method of the entry's name gives; NULL where that is no tensor.
Status compute(const tn_object* object, const char* name, tn_tensor** tensor) {
  tn_value result;
  TN_TRY(invoke(const_cast<tn_object*>(object), name, nullptr, 0, &result, 1));
  const bool is_tensor = result.kind == TN_KIND_TENSOR;
  *tensor = is_tensor ? result.as.tensor : nullptr;
  if (!is_tensor) release_value(&result);
  return nullptr;
}
tn_status* api_tensor(const tn_object* object, const char* name, tn_tensor** tensor) {
  return checked({{"tensor: the object", object},
                  {"tensor: the name", name},
                  {"tensor: the place for the result", tensor}},
                 [&]() -> Status {
                   const NamedTensor* entry = nullptr;
                   TN_TRY(find_tensor(object, name, &entry));
                   if (entry->kind == TN_ENTRY_COMPUTED) return compute(object, name, tensor);
                   *tensor = TensorRef(entry->tensor).take();
                   return nullptr;
                 });
}
tn_status* api_child(const tn_object* object, const char* name, tn_object** child) {
  return checked({{"child: the object", object},
                  {"child: the name", name},
                  {"child: the place for the result", child}},
                 [&]() -> Status {
                   const NamedChild* entry = nullptr;
                   TN_TRY(find_child(object, name, &entry));
                   *child = ObjectRef(entry->object).take();
                   return nullptr;
                 });
}
uint32_t api_n_children(const tn_object* object) {
  if (object == nullptr) return 0;
  object->note_use();
  object->tell_members();
  return static_cast<uint32_t>(object->children.size());
}
tn_status* api_child_at(const tn_object* object, uint32_t i, const char** name, tn_object** child) {
  return checked({{"child_at: the object", object},
                  {"child_at: the place for the name", name},
                  {"child_at: the place for the result", child}},
                 [&]() -> Status {
                   object->note_use();
                   object->tell_members();
                   if (i >= object->children.size()) {
                     return error(TN_NOT_FOUND, "{} has {} children, none of index {}",
                                  object->type, object->children.size(), i);
                   }
                   *name = object->children[i].name.c_str();
                   *child = ObjectRef(object->children[i].object).take();
                   return nullptr;
                 });
}
tn_status* api_option(const tn_object* object, const char* name, tn_value* borrowed) {
  return checked({{"option: the object", object},
                  {"option: the name", name},
                  {"option: the place for the result", borrowed}},
                 [&] { return find_option(object, name, borrowed); });
}

tn_status* api_invoke(tn_object* object, const char* method, const tn_value* args, uint32_t n_args,
                      tn_value* results, uint32_t n_results) {
  return checked({{"invoke: the object", object},
                  {"invoke: the method's name", method},
                  {"invoke: the list of arguments", list_or_none(args, n_args)},
                  {"invoke: the list of results", list_or_none(results, n_results)}},
                 [&] { return invoke(object, method, args, n_args, results, n_results); });
}
tn_status* api_method_schema(const tn_object* object, const char* name, const char** schema) {
  return checked({{"method_schema: the object", object},
                  {"method_schema: the name", name},
                  {"method_schema: the place for the result", schema}},
                 [&]() -> Status {
                   std::shared_ptr<const Method> method;
                   TN_TRY(find_method(object, name, &method));
                   *schema = method->text.c_str();
                   return nullptr;
                 });
}
tn_status* api_add_forward_hook(tn_object* object, tn_forward_hook_fn fn, void* self,
                                void (*destroy)(void*), uint64_t* id) {
  return checked({{"add_forward_hook: the object", object},
                  {"add_forward_hook: the function", reinterpret_cast<const void*>(fn)}},
                 [&] { return add_hook(object, TN_HOOK_FORWARD, 0, fn, self, destroy, id); });
}
tn_status* api_add_forward_pre_hook(tn_object* object, tn_forward_hook_fn fn, void* self,
                                    void (*destroy)(void*), uint64_t* id) {
  return checked({{"add_forward_pre_hook: the object", object},
                  {"add_forward_pre_hook: the function", reinterpret_cast<const void*>(fn)}},
                 [&] { return add_hook(object, TN_HOOK_FORWARD_PRE, 0, fn, self, destroy, id); });
}
tn_status* api_remove_forward_hook(tn_object* object, uint64_t id) {
  return checked({{"remove_forward_hook: the object", object}},
                 [&] { return remove_hook(object, id); });
}
tn_status* api_add_hook(tn_object* object, tn_hook_kind kind, uint32_t flags, tn_forward_hook_fn fn,
                        void* self, void (*destroy)(void*), uint64_t* id) {
  return checked({{"add_hook: the object", object},
                  {"add_hook: the function", reinterpret_cast<const void*>(fn)},
                  {"add_hook: the place for the number", id}},
                 [&] { return add_hook(object, kind, flags, fn, self, destroy, id); });
}
int32_t api_has_hooks(const tn_object* object, tn_hook_kind kind) {
  if (object == nullptr) return 0;
  for (const auto* list : {object->hooks.get(), object->state_hooks.get()}) {
    if (list == nullptr) continue;
    for (const auto& hook : *list) {
      if (hook->kind == kind) return 1;
    }
  }
  return 0;
}
tn_status* api_call_hooks(tn_object* object, tn_hook_kind kind, const tn_value* args,
                          uint32_t n_args, tn_value* results, uint32_t n_results) {
  return checked({{"call_hooks: the object", object},
                  {"call_hooks: the list of arguments", list_or_none(args, n_args)},
                  {"call_hooks: the list of results", list_or_none(results, n_results)}},
                 [&] { return call_state_hooks(object, kind, args, n_args, results, n_results); });
}

tn_status* api_visit(const tn_object* object, tn_entry_fn see, void* context) {
  return checked(
      {{"visit: the object", object}, {"visit: the function", reinterpret_cast<const void*>(see)}},
      [&]() -> Status {
        visit_tensors(object, [&](const std::string& path, const NamedTensor& entry) {
          see(context, path.c_str(), entry.tensor.get(), entry.kind);
        });
        return nullptr;
      });
}
tn_status* api_visit_own(const tn_object* object, tn_entry_fn see, void* context) {
  return checked({{"visit_own: the object", object},
                  {"visit_own: the function", reinterpret_cast<const void*>(see)}},
                 [&]() -> Status {
                   object->note_use();
                   object->tell_members();
                   for (const NamedTensor& entry : object->tensors)
                     see(context, entry.name.c_str(), entry.tensor.get(), entry.kind);
                   return nullptr;
                 });
}
uint64_t api_child_changes(const tn_object* object, uint32_t i) {
  return i >= api_n_children(object) ? 0 : object->children[i].changes;
}
void api_set_members(tn_object* object, tn_members_fn members, void* self) {
  if (object == nullptr) return;
  object->members = members;
  object->members_self = self;
}
int32_t api_is_shared(const tn_object* object, const char* name) {
  if (object == nullptr || name == nullptr) return 0;
  for (const NamedTensor& entry : object->tensors) {
    if (entry.name == name) return entry.tensor && !entry.tensor->retained_once() ? 1 : 0;
  }
  for (const NamedChild& child : object->children) {
    if (child.name == name) return child.object && !child.object->retained_once() ? 1 : 0;
  }
  return 0;
}
tn_status* api_become(tn_object* object, tn_object* made) {
  return checked({{"become: the object", object}, {"become: what it becomes", made}},
                 [&] { return become(object, made); });
}
tn_status* api_load_state(tn_object* object, const char* const* names, tn_tensor* const* tensors,
                          uint32_t n, int32_t strict) {
  return checked({{"load_state: the object", object},
                  {"load_state: the list of tensors", list_or_none(tensors, n)}},
                 [&]() -> Status {
                   TN_TRY(expect_names("load_state", names, n));
                   for (uint32_t i = 0; i < n; ++i)
                     TN_TRY(expect_strided("load_state: a tensor", tensors[i]));
                   return load_state(object, names, tensors, n, strict != 0);
                 });
}
tn_status* api_to(tn_object* object, tn_device device, tn_dtype floats) {
  return checked({{"to: the object", object}}, [&] { return move_object(object, device, floats); });
}
int32_t api_training(const tn_object* object) {
  if (object == nullptr) return 0;
  object->note_use();
  return object->training ? 1 : 0;
}
void api_set_training(tn_object* object, int32_t on) {
  if (object != nullptr) set_training(object, on != 0);
}
tn_status* api_describe(const tn_object* object, const char** text) {
  return checked({{"describe: the object", object}, {"describe: the place for the text", text}},
                 [&] { return give_text(describe(object), text); });
}

tn_status* api_add_group(tn_object* object, tn_tensor* const* parameters, uint32_t n,
                         const char* const* names, const tn_value* values, uint32_t n_options) {
  return checked({{"add_group: the object", object},
                  {"add_group: the list of parameters", list_or_none(parameters, n)},
                  {"add_group: the list of options", list_or_none(values, n_options)}},
                 [&]() -> Status {
                   TN_TRY(expect_names("add_group", names, n_options));
                   return add_group(object, {parameters, n}, names, values, n_options);
                 });
}
uint32_t api_n_groups(const tn_object* object) {
  if (object == nullptr) return 0;
  object->note_use();
  return static_cast<uint32_t>(object->groups.size());
}
tn_status* api_group(const tn_object* object, uint32_t i, tn_tensor* const** borrowed,
                     uint32_t* n) {
  return checked({{"group: the object", object},
                  {"group: the place for the tensors", borrowed},
                  {"group: the place for their number", n}},
                 [&]() -> Status {
                   const ParameterGroup* group = nullptr;
                   TN_TRY(find_group(object, i, &group));
                   *borrowed = group->borrowed.data();
                   *n = static_cast<uint32_t>(group->borrowed.size());
                   return nullptr;
                 });
}
tn_status* api_group_option(const tn_object* object, uint32_t i, const char* name,
                            tn_value* borrowed) {
  return checked({{"group_option: the object", object},
                  {"group_option: the name", name},
                  {"group_option: the place for the result", borrowed}},
                 [&] { return group_option(object, i, name, borrowed); });
}
tn_status* api_group_number(const tn_object* object, uint32_t i, const char* name,
                            tn_tensor** borrowed) {
  return checked({{"group_number: the object", object},
                  {"group_number: the name", name},
                  {"group_number: the place for the result", borrowed}},
                 [&] { return group_number(object, i, name, borrowed); });
}
tn_status* api_set_group_option(tn_object* object, uint32_t i, const char* name,
                                const tn_value* value) {
  return checked({{"set_group_option: the object", object},
                  {"set_group_option: the name", name},
                  {"set_group_option: the value", value}},
                 [&] { return set_group_option(object, i, name, *value); });
}
tn_status* api_zero_grad(tn_object* object) {
  return checked({{"zero_grad: the object", object}}, [&] { return zero_grad(object); });
}
tn_status* api_factories(tn_factory_fn see, void* context) {
  return checked(
      {{"factories: the function", reinterpret_cast<const void*>(see)}}, [&]() -> Status {
        for (const Factory* factory : all_factories()) {
          see(context, factory->def.kind, factory->schema.name.c_str(), factory->text.c_str());
        }
        return nullptr;
      });
}

constexpr tn_object_api kTable{
    .size = sizeof(tn_object_api),
    .create = api_create,
    .create_named = api_create_named,
    .create_empty = api_create_empty,
    .retain = api_retain,
    .release = api_release,
    .type_name = api_type_name,
    .kind = api_kind,
    .set_tensor = api_set_tensor,
    .set_child = api_set_child,
    .add_method = api_add_method,
    .tensor = api_tensor,
    .child = api_child,
    .n_children = api_n_children,
    .child_at = api_child_at,
    .option = api_option,
    .invoke = api_invoke,
    .method_schema = api_method_schema,
    .add_forward_hook = api_add_forward_hook,
    .remove_forward_hook = api_remove_forward_hook,
    .visit = api_visit,
    .load_state = api_load_state,
    .to = api_to,
    .training = api_training,
    .set_training = api_set_training,
    .describe = api_describe,
    .add_group = api_add_group,
    .n_groups = api_n_groups,
    .group = api_group,
    .group_option = api_group_option,
    .set_group_option = api_set_group_option,
    .zero_grad = api_zero_grad,
    .factories = api_factories,
    .group_number = api_group_number,
    .add_forward_pre_hook = api_add_forward_pre_hook,
    .visit_own = api_visit_own,
    .child_changes = api_child_changes,
    .set_members = api_set_members,
    .is_shared = api_is_shared,
    .become = api_become,
    .remove = api_remove,
    .add_hook = api_add_hook,
    .has_hooks = api_has_hooks,
    .call_hooks = api_call_hooks,
};

}  // namespace

const tn_object_api* object_api() {
  // Values hold objects, and the call path is below: it counts them through these. Before the first
  // object there is this call.
  [[maybe_unused]] static const bool wired = [] {
    object_references = {api_retain, api_release};
    return true;
  }();
  return &kTable;
}

}  // namespace tenon
