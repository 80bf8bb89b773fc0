// Building and reading one object.
#include "object/object.h"

#include <algorithm>
#include <new>
#include <unordered_set>

#include "base/text.h"

// Not inline: a dozen readers call it, and few objects have such a function.
[[gnu::noinline]] void tn_object::tell_members(const char* set) const {
  if (members != nullptr) members(members_self, const_cast<tn_object*>(this), set);
}

namespace tenon {
namespace {

template <typename Entry>
Entry* find_named(std::vector<Entry>& entries, std::string_view name) {
  const auto it = std::find_if(entries.begin(), entries.end(),
                               [&](const Entry& entry) { return entry.name == name; });
  return it == entries.end() ? nullptr : &*it;
}
template <typename Entry>
const Entry* find_named(const std::vector<Entry>& entries, std::string_view name) {
  return find_named(const_cast<std::vector<Entry>&>(entries), name);
}

template <typename Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

[[gnu::cold]] Status no_such(const Object* object, const char* what, std::string_view name,
                             const std::vector<std::string>& names, std::string_view hint = "") {
  return error(TN_NOT_FOUND, "{} has no {} '{}'{}{}", object->type, what, printable(name),
               did_you_mean(name, names), hint);
}

Status check_name(const Object* object, const char* what, std::string_view name) {
  if (name.empty()) return invalid("{}: the name of a {} is empty", object->type, what);
  if (name.find('.') != std::string_view::npos) {
    return invalid("{}: '{}' cannot name a {}: dots separate the parts of a path", object->type,
                   printable(name), what);
  }
  return nullptr;
}

// Is `wanted` in the tree under `root`, or `root` itself? Objects among the options count: they are
// held too.
bool contains(const Object* root, const Object* wanted, std::unordered_set<const Object*>* seen) {
  if (root == nullptr || !seen->insert(root).second) return false;
  if (root == wanted) return true;
  for (const NamedChild& child : root->children) {
    if (contains(child.object.get(), wanted, seen)) return true;
  }
  for (const Option& option : root->options) {
    const tn_value& value = option.value.get();
    if (value.kind == TN_KIND_OBJECT && contains(value.as.object, wanted, seen)) return true;
    for (uint32_t i = 0; value.kind == TN_KIND_OBJECTS && i < value.count; ++i) {
      if (contains(value.as.objects[i], wanted, seen)) return true;
    }
  }
  return false;
}

}  // namespace

Status create_empty_object(std::string_view type, tn_object_kind kind, Object** object) {
  if (type.empty()) return invalid("an object needs the name of its type");
  if (kind < TN_OBJECT_LAYER || kind > TN_OBJECT_OTHER)
    return invalid("{}: unknown kind {}", type, kind);
  *object = new Object(std::string(type), kind);
  return nullptr;
}

Status set_tensor(Object* object, std::string_view name, Tensor* tensor, tn_entry_kind kind) {
  TN_TRY(check_name(object, "tensor", name));
  if (kind < TN_ENTRY_PARAMETER || kind > TN_ENTRY_LATER)
    return invalid("{}: unknown entry kind {}", object->type, kind);
  if (kind == TN_ENTRY_LATER && tensor != nullptr)
    return invalid("{}: '{}' is made later, and comes with a tensor", object->type, name);
  if (find_named(object->children, name) != nullptr) {
    return invalid("{}: '{}' is a child already", object->type, printable(name));
  }
  if (tensor != nullptr && kind == TN_ENTRY_PARAMETER && !tensor->is_leaf()) {
    return invalid("{}: parameter '{}' was made by a recorded call; detach it first", object->type,
                   name);
  }
  NamedTensor* const entry = find_named(object->tensors, name);
  if (entry != nullptr && entry->kind == TN_ENTRY_COMPUTED && tensor != nullptr) {
    return error(TN_FAILED_PRECONDITION,
                 "{}: '{}' is computed from other tensors: set these, or remove what computes it "
                 "(remove_parametrizations) first",
                 object->type, name);
  }
  TensorRef held = TensorRef::retaining(tensor);
  object->note_change();
  if (entry != nullptr) {
    entry->tensor = std::move(held);
    entry->kind = kind;
  } else {
    object->tensors.push_back({std::string(name), std::move(held), kind});
  }
  return nullptr;
}

Status set_child(Object* object, std::string_view name, Object* child) {
  TN_TRY(check_name(object, "child", name));
  if (find_named(object->tensors, name) != nullptr) {
    return invalid("{}: '{}' is a tensor already", object->type, printable(name));
  }
  if (child == object) return invalid("{}: child '{}' is the object itself", object->type, name);
  if (std::unordered_set<const Object*> seen; contains(child, object, &seen)) {
    return invalid("{}: child '{}' ({}) contains this {}: a tree of objects has no cycles",
                   object->type, name, child->type, object->type);
  }
  ObjectRef held = ObjectRef::retaining(child);
  object->note_change();
  if (NamedChild* entry = find_named(object->children, name)) {
    entry->object = std::move(held);
    ++entry->changes;
  } else {
    // One that takes a removed child's place is none that a constructor or factory made.
    object->children.push_back({std::string(name), std::move(held), object->removals});
  }
  return nullptr;
}

Status remove_entry(Object* object, std::string_view name) {
  object->tell_members();
  const auto has_name = [&](const auto& entry) { return entry.name == name; };
  const NamedTensor* const tensor = find_named(object->tensors, name);
  if (tensor == nullptr && find_named(object->children, name) == nullptr) {
    std::vector<std::string> names = names_of(object->tensors);
    for (const NamedChild& child : object->children) names.push_back(child.name);
    return no_such(object, "tensor or child", name, names);
  }
  if (tensor != nullptr && tensor->kind == TN_ENTRY_COMPUTED) {
    return error(TN_FAILED_PRECONDITION,
                 "{}: '{}' is computed from other tensors: remove what computes it "
                 "(remove_parametrizations) first",
                 object->type, name);
  }
  object->note_change();
  ++object->removals;
  std::erase_if(object->tensors, has_name);
  std::erase_if(object->children, has_name);
  return nullptr;
}

Status add_method(Object* object, std::string_view schema, tn_method_fn fn, void* self,
                  void (*destroy)(void*)) {
  if (fn == nullptr) return invalid("{}: method '{}' has no function", object->type, schema);
  auto method = std::make_shared<Method>();
  if (Status status = parse_schema(schema, &method->schema)) {
    return wrap(status,
                [&] { return fmt::format("{}: the schema of a method is wrong", object->type); });
  }
  // Where memory is exhausted, self stays the caller's.
  object->methods.reserve(object->methods.size() + 1);
  method->text = schema_text(method->schema);
  method->fn = fn;
  method->self = self;
  method->destroy = destroy;
  object->note_change();
  for (std::shared_ptr<const Method>& other : object->methods) {
    if (other->schema.name == method->schema.name) {
      other = std::move(method);
      return nullptr;
    }
  }
  object->methods.push_back(std::move(method));
  return nullptr;
}

// A new list, with room for one more.
static std::shared_ptr<HookList> hooks_without(const std::shared_ptr<const HookList>& of,
                                               uint64_t id) {
  auto hooks = std::make_shared<HookList>();
  if (!of) return hooks;
  hooks->reserve(of->size() + 1);
  for (const auto& hook : *of) {
    if (hook->id != id && hook->kind != kRemovedHook) hooks->push_back(hook);
  }
  return hooks;
}

Status add_hook(Object* object, tn_hook_kind kind, uint32_t flags, tn_forward_hook_fn fn,
                void* self, void (*destroy)(void*), uint64_t* id) {
  const bool is_forward = kind == TN_HOOK_FORWARD || kind == TN_HOOK_FORWARD_PRE;
  if (fn == nullptr)
    return invalid("{}: a {} hook has no function", object->type, is_forward ? "forward" : "state");
  if (kind < TN_HOOK_FORWARD || kind > TN_HOOK_LOAD)
    return invalid("{}: unknown kind {} of a hook", object->type, kind);
  const bool always = (flags & TN_HOOK_ALWAYS) != 0;
  if ((flags & ~uint32_t{TN_HOOK_PREPEND | TN_HOOK_ALWAYS}) != 0 ||
      (always && kind != TN_HOOK_FORWARD)) {
    return invalid("{}: unknown flags {} of a hook of kind {}", object->type, flags, kind);
  }
  std::shared_ptr<const HookList>& list = is_forward ? object->hooks : object->state_hooks;
  auto hooks = hooks_without(list, 0);
  // The place comes before the hook, which owns `self` from then on.
  const auto place = hooks->emplace((flags & TN_HOOK_PREPEND) != 0 ? hooks->begin() : hooks->end());
  *place = std::make_shared<Hook>(object->last_hook + 1, fn, self, destroy, kind, always);
  list = std::move(hooks);
  object->note_change();
  *id = ++object->last_hook;
  return nullptr;
}

Status remove_hook(Object* object, uint64_t id) {
  for (std::shared_ptr<const HookList>* list : {&object->hooks, &object->state_hooks}) {
    if (!*list) continue;
    const auto found = std::find_if((*list)->begin(), (*list)->end(), [&](const auto& hook) {
      return hook->id == id && hook->kind != kRemovedHook;
    });
    if (found == (*list)->end()) continue;
    object->note_change();
    // What removes a hook is often a destructor, and so it always succeeds.
    try {
      auto hooks = hooks_without(*list, id);
      *list = hooks->empty() ? nullptr : std::move(hooks);
    } catch (const std::bad_alloc&) {
      (*found)->kind = kRemovedHook;
      (*found)->always = false;
    }
    return nullptr;
  }
  return error(TN_NOT_FOUND, "{} has no forward hook {}", object->type, id);
}

Status find_tensor(const Object* object, std::string_view name, const NamedTensor** entry) {
  object->note_use();
  object->tell_members();
  *entry = find_named(object->tensors, name);
  if (*entry != nullptr) return nullptr;
  const std::vector<std::string> names = names_of(object->tensors);
  const bool is_near = !did_you_mean(name, names).empty();
  return no_such(
      object, "tensor", name, names,
      is_near ? "" : fmt::format(" (its tensors: {})", names.empty() ? "none" : listed(names)));
}

Status find_child(const Object* object, std::string_view name, const NamedChild** child) {
  object->note_use();
  object->tell_members();
  *child = find_named(object->children, name);
  if (*child != nullptr) return nullptr;
  const std::vector<std::string> names = names_of(object->children);
  const std::string list = names.empty() ? "none" : listed(names);
  return no_such(object, "child", name, names, fmt::format(" (its children: {})", list));
}

Status find_option(const Object* object, std::string_view name, tn_value* borrowed) {
  object->note_use();
  const Option* option = find_named(object->options, name);
  if (option == nullptr) return no_such(object, "option", name, names_of(object->options));
  *borrowed = option->value.get();
  return nullptr;
}

Status find_method(const Object* object, std::string_view name,
                   std::shared_ptr<const Method>* method) {
  std::vector<std::string> names;
  for (const auto& candidate : object->methods) {
    if (candidate->schema.name == name) {
      *method = candidate;
      return nullptr;
    }
  }
  for (const auto& candidate : object->methods) names.push_back(candidate->schema.name);
  return no_such(object, "method", name, names);
}

bool has_method(const Object* object, std::string_view name) {
  return std::ranges::any_of(object->methods,
                             [&](const auto& method) { return method->schema.name == name; });
}

}  // namespace tenon
