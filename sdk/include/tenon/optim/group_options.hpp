// The options of an optimizer's parameter groups as named tensors, which its state dict has beside
// the state of each parameter, and back. For optim/optimizer.hpp; applications call state_dict.
//
//   param_groups.0.params   int64 [n]: the parameters of group 0, counted over all groups
//   param_groups.0.lr       a number is a tensor of one element (float64, int64 or bool), a list one
//                           of its length, a text its bytes (uint8); what is None is left out
//
// Of a training of PyTorch there are options that change no number here (kForeign): they are passed
// over.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/messages.hpp"
#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// What PyTorch's optimizers and its schedulers write into a group, and an optimizer here does not
// have. Some say how a step is computed, or what a scheduler began with, and change no number of a
// step. Others are what the optimizer does anyway where they have that value.
struct ForeignOption {
  std::string_view option, optimizer = "";  // "": any
  std::optional<bool> value = {};           // none: any
};
inline constexpr ForeignOption kForeign[] = {
    {"foreach"},
    {"fused"},
    {"capturable"},
    {"differentiable"},
    {"param_names"},
    {"initial_lr"},
    {"max_lr"},
    {"min_lr"},
    {"base_momentum"},
    {"max_momentum"},
    {"swa_lr"},
    {"maximize", "", false},
    {"decoupled_weight_decay", "Adam", false},
    {"decoupled_weight_decay", "AdamW", true},
};

class GroupOptions {
 public:
  explicit GroupOptions(const Object& optimizer) : optimizer_(optimizer) { find_options(); }

  static bool is_name(std::string_view name) { return name.starts_with(kPrefix); }

  // Those of all groups, as they are now.
  NamedTensors get() const {
    NamedTensors list;
    int64_t first = 0;  // over all groups
    for (uint32_t group = 0; group < n_groups(); ++group) {
      list.emplace_back(name_of(group, kParams), counted(first, n_parameters(group)));
      first += n_parameters(group);
      for (const Option& option : options_) {
        tn_value value;
        check(api.object->group_option(optimizer_.get(), group, option.name.c_str(), &value));
        if (Tensor held = tensor_of(value); held.defined())
          list.emplace_back(name_of(group, option.name), std::move(held));
      }
    }
    return list;
  }

  // An Error that lists what does not fit; nothing changes. strict: names must match one to one.
  void expect_fit(const NamedTensors& given, bool strict) const {
    std::vector<std::string> problems;
    expect_groups(given);
    for (const auto& [name, tensor] : given) {
      const auto [group, option] = parts_of(name);
      const Option* const known = find(option);
      if (group >= n_groups() || (!known && option != kParams)) {
        std::string wrong =
            group < n_groups() ? wrong_foreign(name, option, tensor) : in_file_only(name);
        if (strict && !wrong.empty()) problems.push_back(std::move(wrong));
      } else if (!known) {
        if (std::string wrong = wrong_parameters(name, group, tensor); !wrong.empty())
          problems.push_back(std::move(wrong));
      } else if (!fits(*known, tensor)) {
        problems.push_back(joined({"'", name, "' is ", text_of(tensor),
                                   " in the state_dict, expected ", expected(known->type)}));
      }
    }
    for (uint32_t group = 0; strict && group < n_groups(); ++group) {
      if (const std::string name = name_of(group, kParams); !in(given, name))
        problems.push_back(joined({"'", name, "' is missing in the state_dict"}));
      for (const Option& option : options_) {
        const std::string name = name_of(group, option.name);
        if (!option.may_be_none && !option.is_bool() && !in(given, name))
          problems.push_back(joined({"'", name, "' is missing in the state_dict"}));
      }
    }
    if (problems.empty()) return;
    std::string text = "load_state_dict: " + problems[0];
    for (size_t i = 1; i < problems.size() && i < 20; ++i) text += "\n  " + problems[i];
    fail(text);
  }

  // What fits. An option that may be None, and is not there, becomes None. A bool becomes False: files
  // that were written before an optimizer had a switch, as amsgrad, were written without it.
  void set(const NamedTensors& given, bool strict) const {
    for (uint32_t group = 0; group < n_groups(); ++group) {
      for (const Option& option : options_) {
        const Tensor* const tensor = in(given, name_of(group, option.name));
        if (tensor) {
          set(group, option, *tensor);
        } else if (strict && option.is_bool()) {
          set(group, option, false);
        } else if (strict) {
          set(group, option, none);
        }
      }
    }
  }

 private:
  struct Option {
    std::string name, type;  // "float", "int[]"
    bool may_be_none;
    bool is_bool() const { return type == "bool" && !may_be_none; }
  };
  static constexpr std::string_view kPrefix = "param_groups.", kParams = "params";

  uint32_t n_groups() const { return api.object->n_groups(optimizer_.get()); }
  int64_t n_parameters(uint32_t group) const {
    tn_tensor* const* tensors = nullptr;
    uint32_t n = 0;
    check(api.object->group(optimizer_.get(), group, &tensors, &n));
    return n;
  }

  // Those of the factory's schema that are neither tensors nor objects. An optimizer without a
  // factory has none.
  void find_options() {
    const std::string schema = factory_schema(optimizer_.type_name());
    if (schema.empty()) return;
    struct Reading {
      std::vector<Option>& options;
      tn_status* failed = nullptr;
    } reading{options_};
    const auto read = [](void* context, const tn_schema* seen) {
      auto& r = *static_cast<Reading*>(context);
      r.failed = to_status([&] {
        for (uint32_t i = 0; i < seen->n_arguments; ++i) {
          const tn_schema_argument& a = seen->arguments[i];
          constexpr uint32_t kNumbers = 1u << TN_KIND_BOOL | 1u << TN_KIND_INT |
                                        1u << TN_KIND_FLOAT | 1u << TN_KIND_INTS |
                                        1u << TN_KIND_FLOATS | 1u << TN_KIND_STRING;
          constexpr uint32_t kOthers =
              1u << TN_KIND_TENSORS | 1u << TN_KIND_OBJECT | 1u << TN_KIND_OBJECTS;
          if ((a.kinds & kNumbers) == 0 || (a.kinds & kOthers) != 0) continue;
          std::string type = a.type;
          if (type.starts_with("dynamic ")) type.erase(0, 8);
          const bool optional = type.ends_with('?');
          if (optional) type.pop_back();
          r.options.push_back({a.name, type, optional});
        }
      });
    };
    check(api.schema->read(schema.c_str(), read, &reading));
    check(reading.failed);
  }
  const Option* find(std::string_view name) const {
    for (const Option& option : options_) {
      if (option.name == name) return &option;
    }
    return nullptr;
  }

  // ---- Names
  static std::string name_of(uint32_t group, std::string_view option) {
    return joined({kPrefix, std::to_string(group), ".", option});
  }
  // The group and the option of a name; a group that cannot be where it is none.
  static std::pair<uint32_t, std::string> parts_of(std::string_view name) {
    const std::string_view rest = name.substr(kPrefix.size());
    uint32_t group = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), group);
    const auto digits = size_t(read.ptr - rest.data());
    if (read.ec != std::errc() || digits == rest.size() || rest[digits] != '.')
      return {UINT32_MAX, ""};
    return {group, std::string(rest.substr(digits + 1))};
  }
  static const Tensor* in(const NamedTensors& given, std::string_view name) {
    for (const auto& entry : given) {
      if (entry.first == name) return &entry.second;
    }
    return nullptr;
  }
  // Why an option that this optimizer does not have is not to be passed over; empty: it may be.
  std::string wrong_foreign(const std::string& name, const std::string& option,
                            const Tensor& t) const {
    const std::string type = optimizer_.type_name();
    for (const ForeignOption& foreign : kForeign) {
      if (foreign.option != option) continue;
      if (!foreign.optimizer.empty() && foreign.optimizer != type) continue;
      if (!foreign.value) return "";
      if (t.numel() != 1) {
        return joined(
            {"'", name, "' is ", text_of(t), " in the state_dict, expected ", expected("bool")});
      }
      if ((t.item<double>() != 0) == *foreign.value) return "";
      return joined({"'", name, "' is ", *foreign.value ? "false" : "true",
                     " in the state_dict, and ", type, " has no such option: it computes as with ",
                     *foreign.value ? "true" : "false"});
    }
    return in_file_only(name);
  }
  std::string in_file_only(std::string_view name) const {
    return joined({"'", messages::printable(name), "' is in the state_dict and not in ",
                   optimizer_.type_name()});
  }

  // ---- Groups and their parameters
  void expect_groups(const NamedTensors& given) const {
    int64_t groups = 0;
    for (const auto& entry : given) {
      const uint32_t group = parts_of(entry.first).first;
      if (group != UINT32_MAX) groups = std::max(groups, int64_t(group) + 1);
    }
    if (groups == n_groups()) return;
    fail(joined({"load_state_dict: the state_dict has ", std::to_string(groups),
                 " parameter groups, ", optimizer_.type_name(), " has ",
                 std::to_string(n_groups())}));
  }
  static Tensor counted(int64_t first, int64_t n) {
    std::vector<int64_t> list;
    for (int64_t i = 0; i < n; ++i) list.push_back(first + i);
    return Tensor::from(list);
  }
  std::string wrong_parameters(const std::string& name, uint32_t group, const Tensor& t) const {
    int64_t first = 0;
    for (uint32_t before = 0; before < group; ++before) first += n_parameters(before);
    const int64_t n = n_parameters(group);
    if (t.dtype() != int64 || t.dim() != 1) {
      return joined(
          {"'", name, "' is ", text_of(t), " in the state_dict, expected a list of integers"});
    }
    if (t.numel() != n) {
      return joined({"group ", std::to_string(group), " has ", std::to_string(t.numel()),
                     " parameters in the state_dict and ", std::to_string(n), " in ",
                     optimizer_.type_name()});
    }
    const std::vector<int64_t> found = t.to_vector<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      if (found[size_t(i)] == first + i) continue;
      return joined({"'", name, "' has ", std::to_string(found[size_t(i)]), " at ",
                     std::to_string(i), ", expected ", std::to_string(first + i),
                     ": parameters are counted over all groups"});
    }
    return "";
  }

  // ---- Values
  static Tensor tensor_of(const tn_value& v) {
    switch (v.kind) {
      case TN_KIND_BOOL:
        return Tensor::from<bool>({v.as.i != 0}, Ints());
      case TN_KIND_INT:
        return Tensor::from<int64_t>({v.as.i}, Ints());
      case TN_KIND_FLOAT:
        return Tensor::from<double>({v.as.f}, Ints());
      case TN_KIND_INTS:
        return Tensor::from(Unpack<std::vector<int64_t>>::borrow(v));
      case TN_KIND_FLOATS:
        return Tensor::from(Unpack<std::vector<double>>::borrow(v));
      case TN_KIND_STRING:
        return Tensor::from(std::vector<uint8_t>(v.as.string, v.as.string + v.count));
      default:
        return {};
    }
  }
  static bool fits(const Option& option, const Tensor& t) {
    const bool is_list = option.type.ends_with("[]") || option.type == "str";
    if (is_list ? t.dim() != 1 : t.numel() != 1) return false;
    const Dtype dtype = t.dtype();
    if (option.type == "str") return dtype == uint8;
    if (option.type == "bool") return dtype == bool_;
    return dtype != bool_ && (option.type.starts_with("float") || !dtype.is_float());
  }
  static std::string expected(const std::string& type) {
    if (type == "str") return "the bytes of a text, uint8";
    if (type == "bool") return "one bool";
    const char* const what = type.starts_with("float") ? "number" : "integer";
    return type.ends_with("[]") ? joined({"a list of ", what, "s"}) : joined({"one ", what});
  }
  static std::string text_of(const Tensor& t) {
    return joined({t.dtype().name(), " ", sizes_text(t.sizes())});
  }
  void set(uint32_t group, const Option& option, const Tensor& t) const {
    if (option.type == "str") {
      const std::vector<uint8_t> bytes = t.to_vector<uint8_t>();
      set(group, option, std::string(bytes.begin(), bytes.end()));
    } else if (option.type == "bool") {
      set(group, option, t.item<bool>());
    } else if (option.type == "int") {
      set(group, option, t.item<int64_t>());
    } else if (option.type == "int[]") {
      set(group, option, t.to_vector<int64_t>());
    } else if (option.type == "float") {
      set(group, option, t.item<double>());
    } else {
      set(group, option, t.to_vector<double>());
    }
  }
  template <typename T>
  void set(uint32_t group, const Option& option, const T& value) const {
    if constexpr (std::is_same_v<T, NoneType>) {
      if (!option.may_be_none) return;
    }
    const tn_value v = to_value(value);
    check(api.object->set_group_option(optimizer_.get(), group, option.name.c_str(), &v));
  }

  const Object optimizer_;
  std::vector<Option> options_;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
