// The parameters and results of C++ functions, compared with the schemas that they are registered
// under: what does not fit is refused when it is registered, and not at the first call. Part of
// object.hpp and of plugin.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tenon/device.hpp"
#include "tenon/function.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

constexpr uint32_t kind_bit(uint32_t kind) { return 1u << kind; }

// A C++ type of a parameter: the kind of value that it is for, what else its Unpack takes, and its
// name. A schema's type fits when values of that kind fit it, and no value fits it that Unpack
// would not take.
struct ParameterType {
  uint32_t own = 0, takes = 0;
  const char* name = "";
  bool optional = false;
};
template <typename T>
constexpr ParameterType parameter_type() {
  constexpr uint32_t none = kind_bit(TN_KIND_NONE), whole = kind_bit(TN_KIND_INT),
                     real = kind_bit(TN_KIND_FLOAT), truth = kind_bit(TN_KIND_BOOL),
                     tensor = kind_bit(TN_KIND_TENSOR), tensors = kind_bit(TN_KIND_TENSORS),
                     ints = kind_bit(TN_KIND_INTS), floats = kind_bit(TN_KIND_FLOATS),
                     string = kind_bit(TN_KIND_STRING), numbers = whole | real | truth;
  if constexpr (std::is_same_v<T, Tensor>) {
    return {tensor, tensor | none, "Tensor"};
  } else if constexpr (std::is_same_v<T, const tn_tensor*>) {
    return {tensor, tensor | none, "const tn_tensor*"};
  } else if constexpr (std::is_same_v<T, Operand>) {
    return {tensor | numbers, tensor | numbers | none, "Operand"};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {truth, truth | whole, "bool"};
  } else if constexpr (std::is_integral_v<T>) {
    return {whole, whole | truth, sizeof(T) == 8 ? "int64_t" : "int32_t"};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {real, numbers, sizeof(T) == 8 ? "double" : "float"};
  } else if constexpr (std::is_same_v<T, Ints>) {
    return {ints, ints | none, "Ints"};
  } else if constexpr (std::is_same_v<T, std::span<const int64_t>>) {
    return {ints, ints | none, "span<const int64_t>"};
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    return {ints, ints | none, "vector<int64_t>"};
  } else if constexpr (std::is_same_v<T, IntsOrText>) {
    return {ints | string, ints | string | none, "IntsOrText"};
  } else if constexpr (std::is_same_v<T, Floats>) {
    return {floats, floats | ints | none, "Floats"};
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return {floats, floats | ints | none, "vector<double>"};
  } else if constexpr (std::is_same_v<T, Tensors>) {
    return {tensors, tensors | none, "Tensors"};
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    return {tensors, tensors | none, "vector<Tensor>"};
  } else if constexpr (std::is_same_v<T, std::span<const Tensor>>) {
    return {tensors, tensors | none, "span<const Tensor>"};
  } else if constexpr (std::is_same_v<T, Dtype>) {
    return {kind_bit(TN_KIND_DTYPE), kind_bit(TN_KIND_DTYPE) | none, "Dtype"};
  } else if constexpr (std::is_same_v<T, Device>) {
    return {kind_bit(TN_KIND_DEVICE), kind_bit(TN_KIND_DEVICE) | none, "Device"};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {string, string, "string"};
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return {string, string, "string_view"};
  } else if constexpr (std::is_same_v<T, const char*>) {
    return {string, string, "const char*"};
  } else if constexpr (std::is_same_v<T, Object>) {
    return {kind_bit(TN_KIND_OBJECT), kind_bit(TN_KIND_OBJECT) | none, "Object"};
  } else if constexpr (std::is_same_v<T, std::vector<Object>>) {
    return {kind_bit(TN_KIND_OBJECTS), kind_bit(TN_KIND_OBJECTS) | none, "vector<Object>"};
  } else {
    return {~0u, ~0u, "tn_value"};  // of an Unpack that this table does not know
  }
}
template <typename T>
struct OfParameter {
  static constexpr ParameterType type = parameter_type<T>();
};
template <typename T>
struct OfParameter<std::optional<T>> {
  static constexpr ParameterType type = {OfParameter<T>::type.own,
                                         OfParameter<T>::type.takes | kind_bit(TN_KIND_NONE),
                                         OfParameter<T>::type.name, true};
};
template <typename Args>
inline constexpr std::array<ParameterType, 0> kParameterTypes{};
template <typename... Args>
inline constexpr std::array<ParameterType, sizeof...(Args)> kParameterTypes<std::tuple<Args...>> = {
    OfParameter<Args>::type...};

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

// The number of values that a function gives, where its type says it; else -1.
template <typename R>
constexpr int32_t result_count() {
  using T = std::decay_t<R>;
  if constexpr (std::is_void_v<R>) {
    return 0;
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return int32_t(std::tuple_size_v<T>);
  } else if constexpr (IsVector<T>::value) {
    return -1;
  } else {
    return 1;
  }
}

// A function gives a list of tensors whose length its type does not say.
template <typename R>
inline constexpr bool kGivesTensors = std::is_same_v<std::decay_t<R>, std::vector<Tensor>>;

// What a function takes and gives: `what` is its part in the definition ("meaning").
struct Signature {
  const char* what;
  std::span<const ParameterType> parameters;
  int32_t n_results;
  bool gives_tensors, gives_tuple;
};
template <typename Args, typename R>
Signature signature(const char* what) {
  return {what, kParameterTypes<Args>, result_count<R>(), kGivesTensors<R>,
          IsTuple<std::decay_t<R>>::value};
}

// How many results of a schema are lists of tensors: "-> (Tensor[] a, Tensor)" has one.
inline uint32_t count_lists(std::string_view schema) {
  const size_t arrow = schema.rfind("->");
  if (arrow == schema.npos) return 0;
  uint32_t n = 0;
  for (size_t at = arrow; (at = schema.find("Tensor", at)) != schema.npos;) {
    const size_t end = std::min(schema.find(',', at), schema.size());
    n += schema.substr(at, end - at).find('[') != schema.npos;
    at = end;
  }
  return n;
}
// Does it give one result, which is a list of tensors? A function's vector<Tensor> then is that
// list, and not a result for each tensor.
inline bool gives_one_list(const char* schema) {
  const std::string_view text = schema;
  return count_lists(text) == 1 && text.find(',', text.rfind("->")) == text.npos;
}

inline bool fits(const ParameterType& type, const tn_schema_argument& argument) {
  return (argument.kinds & type.own) != 0 && (argument.kinds & ~type.takes) == 0;
}
inline std::string name_of(const ParameterType& type) {
  return type.optional ? joined({"optional<", type.name, ">"}) : type.name;
}

// What a function is compared with: "op 'acme.scale'" and its schema.
struct Definition {
  std::string name;
  const char* schema;
};

[[gnu::cold, gnu::noinline]] inline std::string mismatch(const Definition& definition,
                                                         const Signature& s,
                                                         const tn_schema& schema,
                                                         std::string_view detail) {
  std::string text = joined({definition.name, ": ", s.what, " takes ("});
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    text += joined({i ? ", " : "", name_of(s.parameters[i])});
  }
  text += "), the schema has (";
  for (uint32_t i = 0; i < schema.n_arguments; ++i) {
    text += joined({i ? ", " : "", schema.arguments[i].type, " ", schema.arguments[i].name});
  }
  return text + ")" + std::string(detail);
}

// The number of gradients that a vjp gives, or -1 where lists of tensors are among the arguments.
inline int32_t gradient_count(const tn_schema& schema) {
  int32_t count = 0;
  for (uint32_t i = 0; i < schema.n_arguments; ++i) {
    if (schema.arguments[i].kinds & kind_bit(TN_KIND_TENSORS)) return -1;
    count += (schema.arguments[i].kinds & kind_bit(TN_KIND_TENSOR)) != 0;
  }
  return count;
}

// Empty, or what does not fit.
inline std::string compare(const Definition& definition, const Signature& s,
                           const tn_schema& schema) {
  const std::string_view what = s.what;
  if (s.parameters.size() != schema.n_arguments) return mismatch(definition, s, schema, "");
  for (uint32_t i = 0; i < schema.n_arguments; ++i) {
    const tn_schema_argument& argument = schema.arguments[i];
    if (fits(s.parameters[i], argument)) continue;
    return mismatch(
        definition, s, schema,
        joined({": ", argument.type, " ", argument.name, " is no ", name_of(s.parameters[i])}));
  }
  const bool gives_results = what == "meaning" || what == "function";
  const uint32_t n_lists = gives_results ? count_lists(definition.schema) : 0;
  if (n_lists > 0 && !(s.gives_tuple || (s.gives_tensors && schema.n_results == 1))) {
    return joined({definition.name, ": ", s.what, " gives ",
                   s.gives_tensors ? "a vector<Tensor>" : "no list", ", the schema gives ",
                   schema.n_results == 1 ? "a list: give a vector<Tensor>"
                                         : "lists among its results: give a tuple, in which each "
                                           "list is a vector<Tensor>"});
  }
  const int32_t wanted = what == "vjp"       ? gradient_count(schema)
                         : what == "view"    ? 1
                         : what == "factory" ? 0
                                             : int32_t(schema.n_results);
  if (s.n_results < 0 || wanted < 0 || s.n_results == wanted) return "";
  return joined({definition.name, ": ", s.what, " gives ", std::to_string(s.n_results),
                 s.n_results == 1 ? " value" : " values", ", the schema has ",
                 std::to_string(wanted), what == "vjp" ? " tensors among its arguments" : ""});
}

// Throws where a function and its schema do not fit. What is no schema passes: whoever registers it
// hears that from the host.
[[gnu::cold, gnu::noinline]] inline void check_signature(const Definition& definition,
                                                         const Signature& s) {
  struct Comparison {
    const Definition& definition;
    const Signature& signature;
    std::string problem;
    tn_status* failed = nullptr;
  } comparison{definition, s, {}};
  const auto see = [](void* context, const tn_schema* schema) {
    auto& c = *static_cast<Comparison*>(context);
    c.failed = to_status([&] { c.problem = compare(c.definition, c.signature, *schema); });
  };
  ignore(api.schema->read(definition.schema, see, &comparison));
  check(comparison.failed);
  if (!comparison.problem.empty()) fail(std::move(comparison.problem));
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
