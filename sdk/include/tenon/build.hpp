// Layers and optimizers from descriptions: the name of a factory, and its options by theirs. For
// models that a file, a search or a user names; the command makes its models so.
//
//   Object model = build_layer({"Sequential", {}, {
//       {"Linear", {{"in_features", 64}, {"out_features", 10}}},
//       {"Dropout", {{"p", 0.2}}}}});
//
// It reads no file: who has one makes the descriptions, and says with `where` what errors begin
// with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/messages.hpp"
#include "tenon/optim/optimizer.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct Description {
  // What an option may be: none, a bool, a number, a text, or a list of numbers, {3, 3}. Where the
  // factory wants a list, a number stands for the list of it; where it wants a tensor (the weights of
  // classes), numbers stand for a float32 tensor of one dimension.
  struct Value {
    using Held = std::variant<NoneType, bool, int64_t, double, std::string, std::vector<int64_t>,
                              std::vector<double>>;
    Held held;

    Value(NoneType = none) {}
    Value(bool value) : held(value) {}
    template <detail::WholeNumber N>
    Value(N value) : held(int64_t(value)) {}
    Value(double value) : held(value) {}
    Value(const char* value) : held(std::string(value)) {}
    Value(std::string value) : held(std::move(value)) {}
    Value(std::vector<int64_t> value) : held(std::move(value)) {}
    Value(std::vector<double> value) : held(std::move(value)) {}
    template <typename... N>
    requires(sizeof...(N) > 1 && (detail::NumberFor<N, double> && ...)) Value(N... numbers)
        : held(std::vector<std::conditional_t<(detail::WholeNumber<N> && ...), int64_t, double>>{
              static_cast<std::conditional_t<(detail::WholeNumber<N> && ...), int64_t, double>>(
                  numbers)...}) {}
  };
  struct Option {
    std::string name;
    Value value;
    std::string where = {};
  };

  std::string name;                        // of the factory
  std::vector<Option> options = {};        // in any order; those that are not here have defaults
  std::vector<Description> children = {};  // of a container, as Sequential is one
  int64_t repeat = 1;                      // of a child: so many of it, each with its own weights
  // Where this was written ("model.json:12"): errors that are about it begin so. Without it they
  // begin with the place in the tree.
  std::string where = {};
  // Of a child: other children of the tree may be this layer again.
  std::string label = {};
  // Of a child: the label of one before it. It is that layer, with its weights; name, options and
  // children are empty.
  std::string shares = {};
};

// A factory that a plugin brought: what kind of object it makes (TN_OBJECT_...), and its options
// with their types and defaults.
struct Factory {
  tn_object_kind kind;
  std::string name;
  std::string schema;
};

namespace detail {

// Those of such a name ("_x", "pack._x") serve their plugin alone.
inline bool is_private_name(std::string_view name) {
  return name.substr(name.rfind('.') + 1).starts_with('_');
}

}  // namespace detail

// All of them, in the order in which they were loaded, without those that serve their plugin alone.
inline std::vector<Factory> factories() {
  struct Seen {
    std::vector<Factory> list;
    tn_status* failed;
  } seen{{}, nullptr};
  const auto see = [](void* context, tn_object_kind kind, const char* name, const char* schema) {
    auto& s = *static_cast<Seen*>(context);
    if (s.failed || detail::is_private_name(name)) return;
    s.failed = to_status([&] { s.list.push_back({kind, name, schema}); });
  };
  check(detail::api.object->factories(see, &seen));
  check(seen.failed);
  return std::move(seen.list);
}

namespace detail {

// One description on its way to an object.
class Builder {
 public:
  // `place`: what errors begin with where the description does not say it, "" or "...: ".
  Builder(const Description& description, tn_object_kind kind, std::string place)
      : description_(description), kind_(kind), place_(std::move(place)) {
    find_schema();
    if (description.repeat >= 1) return;
    refuse({}, joined({messages::printable(description.name), ": repeat is ",
                       std::to_string(description.repeat), ", expected at least 1"}));
  }

  // The parameters of an optimizer are its first argument.
  void add_parameters(const std::vector<Tensor>& parameters) {
    const std::string first = arguments_.empty() ? "params" : arguments_[0].name;
    for (const Description::Option& option : description_.options) {
      if (option.name != first) continue;
      refuse(option.where,
             joined({messages::printable(description_.name), ": '", messages::printable(first),
                     "' is not an option here: they are the model's"}));
    }
    add(first, to_value(parameters));
  }

  // An object, which is another one each time.
  Object create(const std::vector<Object>& children = {}) {
    const size_t given = names_.size();
    add_children(children);
    for (const Description::Option& option : description_.options) {
      refuse_nul(option);
      const auto found =
          std::find_if(arguments_.begin(), arguments_.end(),
                       [&](const Argument& argument) { return argument.name == option.name; });
      add(option.name, value_of(option.value, found == arguments_.end() ? Argument() : *found));
    }
    try {
      std::vector<const char*> names;
      for (const std::string& name : names_) names.push_back(name.c_str());
      Object made = Object::create_named(description_.name.c_str(), names, values_);
      names_.resize(given);
      values_.resize(given);
      return made;
    } catch (const Error& error) {
      refuse(option_in(error.what()), error.what(), error.code());
    }
  }

  // `where`: of the option that it is about, where that is known.
  [[noreturn]] void refuse(const std::string& where, std::string_view what,
                           tn_code code = TN_INVALID_ARGUMENT) const {
    const std::string& nearest = where.empty() ? description_.where : where;
    if (nearest.empty()) fail(joined({place_, what}), code);
    fail(joined({nearest, ": ", what}), code);
  }

 private:
  struct Argument {
    std::string name, type;
    uint32_t kinds = 0;  // bit k: a value of kind k fits
  };

  void add(std::string name, tn_value value) {
    names_.push_back(std::move(name));
    values_.push_back(value);
  }

  // The host would read the name as far as its first NUL, and might know that.
  void refuse_nul(const Description::Option& option) const {
    if (option.name.find('\0') == option.name.npos) return;
    std::string known;
    for (const Argument& argument : arguments_)
      known += (known.empty() ? "" : ", ") + argument.name;
    refuse(option.where,
           joined({messages::printable(description_.name), " has no option '",
                   messages::printable(option.name), "' (its options: ", known, ")"}));
  }

  void add_children(const std::vector<Object>& children) {
    if (children.empty()) return;
    const auto list = std::find_if(arguments_.begin(), arguments_.end(), [](const Argument& a) {
      return (a.kinds >> TN_KIND_OBJECTS & 1) != 0;
    });
    if (list == arguments_.end()) {
      refuse({}, joined({messages::printable(description_.name), " takes no children: ", schema_}));
    }
    add(list->name, to_value(children));
  }

  void find_schema() {
    std::vector<std::string> names;
    for (const Factory& factory : factories()) {
      if (factory.kind != kind_) continue;
      if (factory.name == description_.name) return read(factory.schema);
      names.push_back(factory.name);
    }
    if (names.empty()) return;  // the host says that no plugin brings any
    const std::string kind = kind_ == TN_OBJECT_OPTIMIZER ? "optimizer" : "layer";
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    refuse({},
           joined({kind, ": '", messages::printable(description_.name), "' is no ", kind,
                   messages::did_you_mean(description_.name, names), " (known are ", known, ")"}));
  }

  void read(const std::string& schema) {
    schema_ = schema;
    struct Reading {
      std::vector<Argument>& arguments;
      tn_status* failed;
    } reading{arguments_, nullptr};
    const auto see = [](void* context, const tn_schema* seen) {
      auto& r = *static_cast<Reading*>(context);
      r.failed = to_status([&] {
        for (uint32_t i = 0; i < seen->n_arguments; ++i) {
          const tn_schema_argument& a = seen->arguments[i];
          r.arguments.push_back({a.name, a.type, a.kinds});
        }
      });
    };
    check(api.schema->read(schema.c_str(), see, &reading));
    check(reading.failed);
  }

  tn_value value_of(const Description::Value& value, const Argument& argument) {
    constexpr uint32_t kOne = 1u << TN_KIND_INT | 1u << TN_KIND_FLOAT;
    constexpr uint32_t kList = 1u << TN_KIND_INTS | 1u << TN_KIND_FLOATS;
    const bool listed = (argument.kinds & kList) != 0 && (argument.kinds & kOne) == 0;
    const bool floats = argument.type.starts_with("float");
    if ((argument.kinds >> TN_KIND_TENSOR & 1) != 0 && (argument.kinds & (kOne | kList)) == 0) {
      if (std::optional<Tensor> tensor = tensor_of(value, argument.name)) {
        return to_value(tensors_.emplace_back(std::move(*tensor)));
      }
    }
    if (const auto* one = std::get_if<int64_t>(&value.held); one && listed) {
      return list_of(std::vector<int64_t>{*one}, floats);
    }
    if (const auto* one = std::get_if<double>(&value.held); one && listed) {
      return to_value(float_lists_.emplace_back(1, *one));
    }
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&value.held)) {
      return list_of(*ints, floats);
    }
    return std::visit([](const auto& held) { return to_value(held); }, value.held);
  }
  // float32 of numbers; nothing of what is none.
  std::optional<Tensor> tensor_of(const Description::Value& value, const std::string& name) {
    std::vector<double> numbers;
    if (const auto* whole = std::get_if<int64_t>(&value.held)) {
      numbers = {double(*whole)};
    } else if (const auto* one = std::get_if<double>(&value.held)) {
      numbers = {*one};
    } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value.held)) {
      numbers.assign(ints->begin(), ints->end());
    } else if (const auto* floats = std::get_if<std::vector<double>>(&value.held)) {
      numbers = *floats;
    } else {
      return {};
    }
    const std::vector<float> held(numbers.begin(), numbers.end());
    for (size_t i = 0; i < held.size(); ++i) {
      if (!std::isinf(held[i]) || std::isinf(numbers[i])) continue;
      const std::string what =
          joined({messages::printable(description_.name), ": '", messages::printable(name),
                  "' has ", number_text(numbers[i]), ", which is more than float32 holds"});
      refuse(option_in(what), what);
    }
    return Tensor::from(held);
  }
  tn_value list_of(const std::vector<int64_t>& ints, bool floats) {
    if (floats) return to_value(float_lists_.emplace_back(ints.begin(), ints.end()));
    return to_value(int_lists_.emplace_back(ints));
  }

  // Where the option was written that the host's message names.
  std::string option_in(std::string_view message) const {
    std::string where;
    for (const Description::Option& option : description_.options) {
      const std::string quoted = joined({"'", messages::printable(option.name), "'"});
      if (message.find(quoted) != message.npos) where = option.where;
    }
    return where;
  }

  const Description& description_;
  const tn_object_kind kind_;
  const std::string place_;
  std::string schema_;
  std::vector<Argument> arguments_;
  std::vector<std::string> names_;
  std::vector<tn_value> values_;  // into the description, and into the lists below
  std::deque<std::vector<int64_t>> int_lists_;
  std::deque<std::vector<double>> float_lists_;
  std::deque<Tensor> tensors_;
};

// The layers below one root, which is named `root`.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::string root) : root_(std::move(root)) {}

  // The children of the layer at `path` ("1.0", or "" for the root).
  std::vector<Object> children_of(const Description& parent, const std::string& path) {
    std::vector<Object> children;
    for (const Description& child : parent.children) {
      const std::string at =
          joined({path, path.empty() ? "" : ".", std::to_string(children.size())});
      if (!child.shares.empty()) {
        children.push_back(shared(child, at));
        continue;
      }
      Builder builder(child, TN_OBJECT_LAYER, place_of(at));
      for (int64_t i = 0; i < child.repeat; ++i)
        children.push_back(builder.create(children_of(child, at)));
      if (!child.label.empty()) add_label(child, at, children.back());
    }
    return children;
  }

 private:
  std::string place_of(const std::string& at) const {
    return joined({root_, ": child '", at, "': "});
  }
  [[noreturn]] void refuse(const Description& child, const std::string& at,
                           const std::string& what) const {
    fail((child.where.empty() ? place_of(at) : child.where + ": ") + what);
  }
  void add_label(const Description& child, const std::string& at, const Object& made) {
    const std::string quoted = joined({"'", messages::printable(child.label), "'"});
    if (child.repeat != 1) refuse(child, at, joined({quoted, " is the name of a repeated layer"}));
    for (const auto& [label, object] : labelled_) {
      if (label == child.label) refuse(child, at, joined({quoted, " is the name of two layers"}));
    }
    labelled_.emplace_back(child.label, made);
  }
  Object shared(const Description& child, const std::string& at) const {
    if (!child.name.empty() || !child.options.empty() || !child.children.empty() ||
        child.repeat != 1) {
      refuse(child, at, "a layer that is another one again has no options, children or repeat");
    }
    std::vector<std::string> known;
    for (const auto& [label, object] : labelled_) {
      if (label == child.shares) return object;
      known.push_back(label);
    }
    refuse(child, at,
           joined({"there is no layer named '", messages::printable(child.shares),
                   "' before this one", messages::did_you_mean(child.shares, known)}));
  }

  const std::string root_;
  std::vector<std::pair<std::string, Object>> labelled_;
};

}  // namespace detail

namespace detail {

// What belongs to the children of a container stands nowhere else.
inline void refuse_repeat(const Description& root) {
  if (root.repeat == 1) return;
  fail(joined({messages::printable(root.name), ": repeat is ", std::to_string(root.repeat),
               ", which is for children"}));
}

}  // namespace detail

// The layer, on the cpu, in float32 and in training. An Error says which layer and which option is
// wrong, and the nearest name that there is.
inline Object build_layer(const Description& description) {
  detail::Builder builder(description, TN_OBJECT_LAYER, "");
  detail::refuse_repeat(description);
  detail::TreeBuilder tree(messages::printable(description.name));
  return builder.create(tree.children_of(description, ""));
}

// The optimizer of these parameters.
inline optim::Optimizer build_optimizer(const Description& description,
                                        const std::vector<Tensor>& parameters) {
  detail::Builder builder(description, TN_OBJECT_OPTIMIZER, "");
  detail::refuse_repeat(description);
  if (!description.children.empty())
    fail(detail::joined({messages::printable(description.name), " takes no children"}));
  builder.add_parameters(parameters);
  return optim::Optimizer(builder.create()).expect_step();
}

}  // namespace v0
}  // namespace tenon
