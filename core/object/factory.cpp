#include "object/factory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

#include <fmt/ranges.h>

#include "base/not_loaded.h"
#include "base/text.h"

namespace tenon {
namespace {

struct Factories {
  std::mutex mutex;
  std::vector<std::unique_ptr<Factory>>
      list;  // found by a walk: creation is not hot, and there are tens of them
  bool closed = false;
};

Factories& factories() {
  static auto* instance = new Factories;  // outlives every object
  return *instance;
}

Factory* find_locked(const Factories& all, std::string_view name) {
  const auto it = std::find_if(all.list.begin(), all.list.end(),
                               [&](const auto& factory) { return factory->schema.name == name; });
  return it == all.list.end() ? nullptr : it->get();
}

Status find_factory(std::string_view name, const Factory** factory) {
  Factories& all = factories();
  const std::scoped_lock lock(all.mutex);
  if (all.closed)
    return error(TN_FAILED_PRECONDITION, "{}: the plugins were shut down", printable(name));
  *factory = find_locked(all, name);
  if (*factory != nullptr) return nullptr;
  if (all.list.empty()) {
    return error(TN_NOT_FOUND, "no layer or optimizer is named '{}': {}", printable(name),
                 none_brings("layers or optimizers"));
  }
  std::vector<std::string> names;
  std::set<std::string> plugins;
  for (const auto& known : all.list) {
    names.push_back(known->schema.name);
    plugins.insert(known->plugin);
  }
  return error(TN_NOT_FOUND, "no layer or optimizer is named '{}'{} (plugins that bring some: {})",
               printable(name), suggestion(name, names), fmt::join(plugins, ", "));
}

// A definition as this host knows it: fields beyond the author's size count as zero.
tn_factory_def known_part(const tn_factory_def& def) {
  tn_factory_def known{};
  std::memcpy(&known, &def, std::min<size_t>(def.size, sizeof(known)));
  return known;
}

// Does a message begin with the first option, a path? It says all there is to know, without the name of
// what reads the file, which the caller never wrote.
bool begins_with_text_of(std::string_view message, const std::vector<Option>& options) {
  if (options.empty()) return false;
  const tn_value& first = options[0].value.get();
  if (first.kind != TN_KIND_STRING || first.count == 0) return false;
  return message.starts_with(std::string_view(first.as.string, first.count));
}

Status create(const Factory* factory, const BoundArguments& arguments, Object** object) {
  ObjectRef made(new Object(factory->schema.name, factory->def.kind));
  made->factory = factory;
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    Option option{factory->schema.arguments[i].name, {}};
    TN_TRY(OwnedValue::copy(arguments.data()[i], &option.value));
    made->options.push_back(std::move(option));
  }
  if (Status status =
          factory->def.create(factory->def.self, made.get(), arguments.data(), arguments.size())) {
    if (made->kind == TN_OBJECT_OTHER && begins_with_text_of(status->message, made->options))
      return status;
    return wrap(status, [&] { return fmt::format("{} could not be made", made->type); });
  }
  *object = made.take();
  return nullptr;
}

}  // namespace

Status check_factory_name(const Factory& factory) {
  Factories& all = factories();
  const std::scoped_lock lock(all.mutex);
  const Factory* other = find_locked(all, factory.schema.name);
  if (other == nullptr) return nullptr;
  return invalid("factory {}: plugin '{}' brings one of this name already", factory.schema.name,
                 other->plugin);
}

Status make_factory(const tn_factory_def& original, std::string plugin,
                    std::unique_ptr<Factory>* made) {
  constexpr size_t kLeast = offsetof(tn_factory_def, create) + sizeof(original.create);
  if (original.size < kLeast) {
    return invalid("a factory's size is {}, expected at least {}", original.size, kLeast);
  }
  const tn_factory_def def = known_part(original);
  if (def.schema == nullptr) return invalid("a factory has no schema");
  Schema schema;
  if (Status status = parse_schema(def.schema, &schema)) {
    return make_status(status->code, "the schema of a factory is wrong", status);
  }
  if (def.kind < TN_OBJECT_LAYER || def.kind > TN_OBJECT_OTHER) {
    return invalid("factory {}: unknown kind {}", schema.name, def.kind);
  }
  if (schema.has_returns)
    return invalid("factory {}: its schema returns something: {}", schema.name,
                   schema_text(schema));
  if (def.create == nullptr) return invalid("factory {}: create is missing", schema.name);
  TN_TRY(check_doc(fmt::format("factory {}", schema.name), def.doc, def.group));
  auto factory = std::make_unique<Factory>();
  factory->def = def;
  factory->plugin = std::move(plugin);
  factory->schema = std::move(schema);
  factory->text = schema_text(factory->schema);
  factory->def.schema = factory->text.c_str();
  if (def.doc != nullptr) factory->doc = def.doc;
  if (def.group != nullptr) factory->group = def.group;
  TN_TRY(check_factory_name(*factory));
  *made = std::move(factory);
  return nullptr;
}

void commit_factory(std::unique_ptr<Factory> factory) {
  Factories& all = factories();
  const std::scoped_lock lock(all.mutex);
  all.list.push_back(std::move(factory));
}

std::vector<const Factory*> all_factories() {
  Factories& all = factories();
  const std::scoped_lock lock(all.mutex);
  std::vector<const Factory*> list;
  for (const auto& factory : all.list) list.push_back(factory.get());
  return list;
}

void close_factories() {
  Factories& all = factories();
  std::vector<Factory*> list;
  {
    const std::scoped_lock lock(all.mutex);
    if (all.closed) return;
    all.closed = true;
    for (const auto& factory : all.list) list.push_back(factory.get());
  }
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    if ((*it)->def.destroy != nullptr) (*it)->def.destroy((*it)->def.self);
  }
}

Status create_object(std::string_view name, const tn_value* args, uint32_t n_args,
                     Object** object) {
  const Factory* factory = nullptr;
  TN_TRY(find_factory(name, &factory));
  BoundArguments arguments;
  TN_TRY(arguments.bind(name, factory->schema, args, n_args));
  return create(factory, arguments, object);
}

Status create_object_named(std::string_view name, const char* const* names, const tn_value* args,
                           uint32_t n, Object** object) {
  const Factory* factory = nullptr;
  TN_TRY(find_factory(name, &factory));
  const Schema& schema = factory->schema;
  std::vector<tn_value> ordered;
  std::vector<bool> given(schema.arguments.size(), false);
  for (const Argument& argument : schema.arguments) ordered.push_back(argument.default_value);
  for (uint32_t i = 0; i < n; ++i) {
    const int index = schema.find(names[i]);
    if (index < 0) {
      std::vector<std::string> known;
      for (const Argument& argument : schema.arguments) known.push_back(argument.name);
      const std::string hint = did_you_mean(names[i], known);
      return invalid("{} has no option '{}'{} (its options: {})", name, printable(names[i]), hint,
                     known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    if (given[index]) return invalid("{}: option '{}' is given twice", name, names[i]);
    given[index] = true;
    ordered[index] = args[i];
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i] && !schema.arguments[i].has_default) {
      return invalid("{}: option '{}' is missing: {}", name, schema.arguments[i].name,
                     schema_text(schema));
    }
  }
  BoundArguments arguments;
  TN_TRY(arguments.bind(name, schema, ordered.data(), static_cast<uint32_t>(ordered.size())));
  return create(factory, arguments, object);
}

}  // namespace tenon
