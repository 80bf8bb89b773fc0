#include "factory_call.h"

#include <deque>

#include <fmt/format.h>

#include "plugin_list.h"
#include "text.h"

namespace tenon::cli {
namespace {

// Values as the host takes them, and the lists they point into.
class OptionValues {
 public:
  OptionValues(const std::string& file, const FactoryCall& call, const std::string& schema)
      : file_(file), call_(call), schema_(schema) {}

  void add(const char* name, const tn_value& value) {
    names.push_back(name);
    values.push_back(value);
  }
  void add(const JsonMember& option) {
    const bool number =
        option.value.kind == Json::Kind::kInt || option.value.kind == Json::Kind::kFloat;
    if (number && has_type(option.name, "]")) {  // "kernel_size": 3, as PyTorch takes it
      Json list{.kind = Json::Kind::kArray, .line = option.line};
      list.items.push_back(option.value);
      add(option.name.c_str(), list_of(option, list));
    } else {
      add(option.name.c_str(), value_of(option, option.value));
    }
  }

  std::vector<const char*> names;
  std::vector<tn_value> values;

 private:
  // Does the option have a type that ends so, by the factory's schema: "Conv2d(int in_channels,
  // int[] kernel_size)"?
  bool has_type(const std::string& name, std::string_view type_end) const {
    for (const char end : {',', '=', ')'}) {
      const size_t at = schema_.find(" " + name + end);
      if (at != schema_.npos) return schema_.substr(0, at).ends_with(type_end);
    }
    return false;
  }

  tn_value value_of(const JsonMember& option, const Json& json) {
    switch (json.kind) {
      case Json::Kind::kNull:
        return detail::to_value(none);
      case Json::Kind::kBool:
        return detail::to_value(json.boolean);
      case Json::Kind::kInt:
        return detail::to_value(json.integer);
      case Json::Kind::kFloat:
        return detail::to_value(json.real);
      case Json::Kind::kString:
        return detail::to_value(json.text);
      case Json::Kind::kArray:
        return list_of(option, json);
      case Json::Kind::kObject:
        break;
    }
    fail_at(file_, option.line,
            fmt::format("{}: option '{}' is {}", printable(call_.name), printable(option.name),
                        json.kind_name()));
  }

  // Numbers: ints where all are, and no floats are wanted.
  tn_value list_of(const JsonMember& option, const Json& json) {
    bool ints = !has_type(option.name, "float[]");
    for (const Json& item : json.items) {
      if (item.kind != Json::Kind::kInt && item.kind != Json::Kind::kFloat) {
        fail_at(file_, item.line,
                fmt::format("{}: option '{}': a list of numbers is expected, this is {}",
                            printable(call_.name), printable(option.name), item.kind_name()));
      }
      ints = ints && item.kind == Json::Kind::kInt;
    }
    if (ints) {
      auto& list = int_lists_.emplace_back();
      for (const Json& item : json.items) list.push_back(item.integer);
      return detail::to_value(list);
    }
    auto& list = float_lists_.emplace_back();
    for (const Json& item : json.items) list.push_back(item.real);
    return detail::to_value(list);
  }

  const std::string& file_;
  const FactoryCall& call_;
  const std::string& schema_;
  std::deque<std::vector<int64_t>> int_lists_;
  std::deque<std::vector<double>> float_lists_;
};

// The schema of the factory of this kind and name. Empty where there is none of the kind: the host
// says more then.
std::string factory_schema(const std::string& file, const FactoryCall& call) {
  std::vector<std::string> names;
  static const PluginList plugins = list_plugins();  // those of a command are loaded once
  for (const FactoryRow& factory : plugins.factories) {
    if (factory.kind != call.kind || is_private(factory.name)) continue;
    if (factory.name == call.name) return factory.schema;
    names.push_back(factory.name);
  }
  if (names.empty()) return "";
  fail_at(file, call.line,
          fmt::format("{}: '{}' is no {}{} (known are {})", call.kind, printable(call.name),
                      call.kind, did_you_mean(call.name, names), joined(names)));
}

}  // namespace

Object create_object(const std::string& file, const FactoryCall& call,
                     const std::vector<AddedOption>& added) {
  const std::string schema = factory_schema(file, call);
  OptionValues options(file, call, schema);
  for (const AddedOption& option : added) options.add(option.name, option.value);
  for (const JsonMember& option : call.options) options.add(option);
  try {
    return Object::create_named(call.name.c_str(), options.names, options.values);
  } catch (const Error& error) {
    int line = call.line;
    const std::string_view message = error.what();
    for (const JsonMember& option : call.options) {
      if (message.find("'" + printable(option.name) + "'") != message.npos) line = option.line;
    }
    fail_at(file, line, error.what());
  }
}

}  // namespace tenon::cli
