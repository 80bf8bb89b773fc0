// Factories: the named constructors of objects that plugins bring. The loader checks and commits
// them; object/1 creates through them. Thread-safe. A factory lives as long as the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "object/object.h"

namespace tenon {

struct Factory {
  tn_factory_def def;  // its strings are not kept: use the ones below
  Schema schema;
  std::string text;  // of the schema
  std::string plugin;
  std::string doc, group;  // for readers and generated headers; may be empty
};

// From a definition, of which nothing is read afterwards but its functions. Refused where it is
// incomplete, its schema wrong or its name taken. Factories of one plugin that is being staged are
// not there yet: the caller compares their names.
[[nodiscard]] Status make_factory(const tn_factory_def& def, std::string plugin,
                                  std::unique_ptr<Factory>* factory);
// Is its name still free?
[[nodiscard]] Status check_factory_name(const Factory& factory);
// After a successful check, under the loader's lock.
void commit_factory(std::unique_ptr<Factory> factory);
// In order of registration: for `tenon plugins`.
std::vector<const Factory*> all_factories();
// After shutdown: creation fails, and the factories' destroy slots have been called, youngest
// first.
void close_factories();

// Creates by a factory's name. Options by schema, trailing ones default. The object is the
// caller's.
[[nodiscard]] Status create_object(std::string_view factory, const tn_value* args, uint32_t n_args,
                                   Object** object);
// By option names, any order: names[i] belongs to args[i].
[[nodiscard]] Status create_object_named(std::string_view factory, const char* const* names,
                                         const tn_value* args, uint32_t n, Object** object);

}  // namespace tenon
