#include "object/api.h"

#include <algorithm>
#include <cstring>

#include "object/describe.h"
#include "object/factory.h"
#include "object/groups.h"
#include "object/invoke.h"
#include "object/state.h"
#include "object/tree.h"

namespace tenon {
namespace {

tn_status* api_create(const char* factory, const tn_value* args, uint32_t n, tn_object** object) {
  return guarded([&] { return create_object(factory, args, n, object); });
}
tn_status* api_create_named(const char* factory, const char* const* names, const tn_value* args,
                            uint32_t n, tn_object** object) {
  return guarded([&] { return create_object_named(factory, names, args, n, object); });
}
tn_status* api_create_empty(const char* type, tn_object_kind kind, tn_object** object) {
  return guarded([&] { return create_empty_object(type, kind, object); });
}
void api_retain(tn_object* object) {
  if (object != nullptr) object->retain();
}
void api_release(tn_object* object) {
  if (object != nullptr) object->release();
}
const char* api_type_name(const tn_object* object) { return object->type.c_str(); }
tn_object_kind api_kind(const tn_object* object) { return object->kind; }

tn_status* api_set_tensor(tn_object* object, const char* name, tn_tensor* tensor,
                          tn_entry_kind kind) {
  return guarded([&] { return set_tensor(object, name, as_tensor(tensor), kind); });
}
tn_status* api_set_child(tn_object* object, const char* name, tn_object* child) {
  return guarded([&] { return set_child(object, name, child); });
}
tn_status* api_add_method(tn_object* object, const char* schema, tn_method_fn fn, void* self,
                          void (*destroy)(void*)) {
  return guarded([&] { return add_method(object, schema, fn, self, destroy); });
}

tn_status* api_tensor(const tn_object* object, const char* name, tn_tensor** tensor) {
  return guarded([&]() -> Status {
    const NamedTensor* entry = nullptr;
    TN_TRY(find_tensor(object, name, &entry));
    *tensor = TensorRef(entry->tensor).take();
    return nullptr;
  });
}
tn_status* api_child(const tn_object* object, const char* name, tn_object** child) {
  return guarded([&]() -> Status {
    const NamedChild* entry = nullptr;
    TN_TRY(find_child(object, name, &entry));
    *child = ObjectRef(entry->object).take();
    return nullptr;
  });
}
uint32_t api_n_children(const tn_object* object) {
  return static_cast<uint32_t>(object->children.size());
}
tn_status* api_child_at(const tn_object* object, uint32_t i, const char** name, tn_object** child) {
  return guarded([&]() -> Status {
    if (i >= object->children.size()) {
      return error(TN_NOT_FOUND, "{} has {} children, none of index {}", object->type,
                   object->children.size(), i);
    }
    *name = object->children[i].name.c_str();
    *child = ObjectRef(object->children[i].object).take();
    return nullptr;
  });
}
tn_status* api_option(const tn_object* object, const char* name, tn_value* borrowed) {
  return guarded([&] { return find_option(object, name, borrowed); });
}

tn_status* api_invoke(tn_object* object, const char* method, const tn_value* args, uint32_t n_args,
                      tn_value* results, uint32_t n_results) {
  return guarded([&] { return invoke(object, method, args, n_args, results, n_results); });
}
tn_status* api_method_schema(const tn_object* object, const char* name, const char** schema) {
  return guarded([&]() -> Status {
    std::shared_ptr<const Method> method;
    TN_TRY(find_method(object, name, &method));
    *schema = method->schema.text.c_str();
    return nullptr;
  });
}
tn_status* api_add_forward_hook(tn_object* object, tn_forward_hook_fn fn, void* self,
                                void (*destroy)(void*), uint64_t* id) {
  return guarded([&] { return add_forward_hook(object, fn, self, destroy, id); });
}
tn_status* api_remove_forward_hook(tn_object* object, uint64_t id) {
  return guarded([&] { return remove_forward_hook(object, id); });
}

tn_status* api_visit(const tn_object* object, tn_entry_fn see, void* context) {
  return guarded([&]() -> Status {
    visit_tensors(object, [&](const std::string& path, const NamedTensor& entry) {
      see(context, path.c_str(), entry.tensor.get(), entry.kind);
    });
    return nullptr;
  });
}
tn_status* api_load_state(tn_object* object, const char* const* names, tn_tensor* const* tensors,
                          uint32_t n, int32_t strict) {
  return guarded([&] { return load_state(object, names, tensors, n, strict != 0); });
}
tn_status* api_to(tn_object* object, tn_device device, tn_dtype floats) {
  return guarded([&] { return move_object(object, device, floats); });
}
int32_t api_training(const tn_object* object) { return object->training ? 1 : 0; }
void api_set_training(tn_object* object, int32_t on) { set_training(object, on != 0); }
tn_status* api_describe(const tn_object* object, char* text, size_t bytes, size_t* needed) {
  return guarded([&]() -> Status {
    const std::string full = describe(object);
    *needed = full.size() + 1;
    if (text == nullptr || bytes == 0) return nullptr;
    const size_t n = std::min(bytes - 1, full.size());
    std::memcpy(text, full.data(), n);
    text[n] = '\0';
    return nullptr;
  });
}

tn_status* api_add_group(tn_object* object, tn_tensor* const* parameters, uint32_t n,
                         const char* const* names, const tn_value* values, uint32_t n_options) {
  return guarded([&] { return add_group(object, {parameters, n}, names, values, n_options); });
}
uint32_t api_n_groups(const tn_object* object) {
  return static_cast<uint32_t>(object->groups.size());
}
tn_status* api_group(const tn_object* object, uint32_t i, tn_tensor* const** borrowed,
                     uint32_t* n) {
  return guarded([&]() -> Status {
    const ParameterGroup* group = nullptr;
    TN_TRY(find_group(object, i, &group));
    *borrowed = group->borrowed.data();
    *n = static_cast<uint32_t>(group->borrowed.size());
    return nullptr;
  });
}
tn_status* api_group_option(const tn_object* object, uint32_t i, const char* name,
                            tn_value* borrowed) {
  return guarded([&] { return group_option(object, i, name, borrowed); });
}
tn_status* api_set_group_option(tn_object* object, uint32_t i, const char* name,
                                const tn_value* value) {
  return guarded([&] { return set_group_option(object, i, name, *value); });
}
tn_status* api_zero_grad(tn_object* object) {
  return guarded([&] { return zero_grad(object); });
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
};

}  // namespace

const tn_object_api* object_api() {
  // Values hold objects, and dispatch/ is below: it counts them through these. Before the first
  // object there is this call.
  [[maybe_unused]] static const bool wired = [] {
    object_references = {api_retain, api_release};
    return true;
  }();
  return &kTable;
}

}  // namespace tenon
