// Random values, by a type and against it, and values as the cases of PyTorch have them.
#include <cmath>
#include <limits>

#include "fuzz.h"

namespace fuzz {

const tn_op* Arguments::expression(size_t* n_arguments, size_t* n_results) {
  struct Row {
    const char *schema, *formula;
    size_t n_arguments, n_results;
  };
  static const std::vector<Row> rows = {
      {"_f(Tensor x) -> Tensor", "x * x + 1", 1, 1},
      {"_f(Tensor x, Tensor y) -> Tensor", "where(x > y, exp(x), y)", 2, 1},
      {"_f(Tensor x, float a) -> Tensor", "x * a", 2, 1},
      {"_f(Tensor x, Tensor y) -> (Tensor, Tensor)", "x + y\nx - y", 2, 2},
      {"_f(Tensor x, int a) -> Tensor", "x // a", 2, 1},
      {"_f(Tensor(a!) x, Tensor y) -> Tensor(a!)", "x + y", 2, 1},
      {"_f(Tensor x, number a, bool b) -> Tensor", "where(b, x, x ** a)", 3, 1},
  };
  if (random_.chance(5)) return nullptr;
  const Row& row = random_.pick(rows);
  const tn_op* e = nullptr;
  checked(host.table->expression(row.schema, row.formula, &e));
  if (n_arguments != nullptr) *n_arguments = row.n_arguments;
  if (n_results != nullptr) *n_results = row.n_results;
  note(std::string("formula '") + row.formula + "' ");
  return e;
}

tn_object* Arguments::object() {
  if (random_.chance(6)) {
    note("NULL object ");
    return nullptr;
  }
  tn_object* o = nullptr;
  const int64_t kind = random_.below(4);
  const tn_value sizes[] = {int_value(random_.between(1, 5)), int_value(random_.between(1, 5))};
  const char* type = kind == 0 ? "ReLU" : kind == 1 ? "Linear" : kind == 2 ? "Identity" : "SGD";
  if (kind == 3) {
    checked(host.object->create_empty(
        "mine", random_.of<tn_object_kind>({TN_OBJECT_LAYER, TN_OBJECT_OTHER}), &o));
  } else {
    tn_status* status = host.object->create(type, sizes, kind == 1 ? 2 : 0, &o);
    if (status != nullptr) host.table->status_free(status);
  }
  if (o != nullptr) objects_.push_back(o);
  note(std::string("object ") + type + " ");
  return o;
}

// ---- Values

tn_value Arguments::of_type(const Parameter& p) {
  tn_value v{};
  const auto text = [&](const std::string& t) { note(t + " "); };
  if (p.list) {
    const int64_t how_many = random_.below(100);
    const int64_t n = how_many < 8    ? 0
                      : how_many < 90 ? random_.between(1, 4)
                      : how_many < 97 ? random_.between(5, 20)
                                      : random_.between(33, 80);
    const bool is_null = random_.chance(2);
    if (p.type == "Tensor") {
      std::vector<tn_tensor*> list;
      note("[");
      for (int64_t i = 0; i < n; ++i)
        list.push_back(random_.chance(p.optional_entries ? 30 : 3) ? nullptr : tensor());
      note("] ");
      v = {TN_KIND_TENSORS, static_cast<uint32_t>(list.size()), {}};
      v.as.tensors = is_null ? nullptr : this->list(list);
    } else if (p.type == "object") {
      std::vector<tn_object*> list;
      for (int64_t i = 0; i < n; ++i) list.push_back(object());
      v = {TN_KIND_OBJECTS, static_cast<uint32_t>(list.size()), {}};
      v.as.objects = is_null ? nullptr : this->list(list);
    } else if (p.type == "float") {
      std::vector<double> list;
      for (int64_t i = 0; i < n; ++i) list.push_back(real());
      v = {TN_KIND_FLOATS, static_cast<uint32_t>(list.size()), {}};
      v.as.floats = is_null ? nullptr : this->list(list);
      text(std::to_string(n) + " floats");
    } else if (p.type == "str") {
      std::vector<const char*> list;
      for (int64_t i = 0; i < n; ++i) list.push_back(random_.chance(4) ? nullptr : string(word()));
      v = {TN_KIND_STRINGS, static_cast<uint32_t>(list.size()), {}};
      v.as.strings = is_null ? nullptr : this->list(list);
      text(std::to_string(n) + " strings");
    } else {
      const Sizes list = int_list();
      v = ints_value(is_null ? nullptr : ints(list), list.size());
      text(is_null ? "NULL ints" : text_of(list));
    }
  } else if (p.type == "Tensor") {
    v = tensor_value(random_.chance(2) ? nullptr : tensor());
  } else if (p.type == "int") {
    v = int_value(integer(p.default_text));
    text(std::to_string(v.as.i));
  } else if (p.type == "float") {
    v = random_.chance(10) ? int_value(integer()) : float_value(real());
    text(v.kind == TN_KIND_INT ? std::to_string(v.as.i) : std::to_string(v.as.f));
  } else if (p.type == "number") {
    v = random_.chance(40)   ? int_value(integer())
        : random_.chance(80) ? float_value(real())
                             : bool_value(random_.below(2));
    text(v.kind == TN_KIND_FLOAT ? std::to_string(v.as.f) : std::to_string(v.as.i));
  } else if (p.type == "bool") {
    v = bool_value(random_.chance(97) ? random_.below(2) : random_.of<int64_t>({2, -1, 256, kMin}));
    text("bool " + std::to_string(v.as.i));
  } else if (p.type == "str") {
    const std::string s = word(p.default_text);
    const uint32_t lie =
        random_.chance(4) ? static_cast<uint32_t>(random_.of<int64_t>({1, 7, 100, -1})) : 0;
    v = {TN_KIND_STRING, static_cast<uint32_t>(s.size()) + lie, {}};
    v.as.string = random_.chance(2) ? nullptr : string(s);
    text(v.as.string == nullptr ? "NULL string"
                                : "'" + s.substr(0, 60) + "' of " + std::to_string(v.count));
  } else if (p.type == "dtype") {
    v.kind = TN_KIND_DTYPE;
    v.as.dtype = dtype();
    text("dtype " + std::to_string(v.as.dtype));
  } else if (p.type == "device") {
    v.kind = TN_KIND_DEVICE;
    v.as.device = device();
    text("device " + text_of(v.as.device));
  } else if (p.type == "expression") {
    v.kind = TN_KIND_EXPRESSION;
    v.as.expression = expression(nullptr, nullptr);
  } else {
    v.kind = TN_KIND_OBJECT;
    v.as.object = object();
  }
  return v;
}

tn_value Arguments::of_any_kind() {
  static const std::vector<std::string> types = {
      "Tensor", "int", "float", "bool", "number", "str", "dtype", "device", "object", "expression"};
  const int64_t kind = random_.below(20);
  if (kind == 0) {  // none of the contract's, or one that kernels alone get
    note("an odd kind ");
    return {random_.of<uint32_t>(
                {TN_KIND_LOOP, TN_KIND_REDUCTION, 17, 31, 32, 33, 63, 64, 1000, 0xffffffff}),
            0,
            {}};
  }
  if (kind == 1) {
    note("None ");
    return {};
  }
  Parameter p;
  p.type = random_.pick(types);
  p.list = random_.chance(35) && p.type != "expression" && p.type != "number" && p.type != "bool" &&
           p.type != "dtype" && p.type != "device";
  note("instead: ");
  return of_type(p);
}

tn_value Arguments::value(const Parameter& p) {
  note(p.name + "=");
  if (random_.chance(4)) return of_any_kind();
  if (p.optional && random_.chance(35)) {
    note("None ");
    return {};
  }
  if (p.type == "Tensor" && !p.list && random_.chance(5)) {  // a number in place of a tensor
    Parameter number;
    number.type = "number";
    return of_type(number);
  }
  return of_type(p);
}

tn_value Arguments::of_case(const json& j) {
  const auto number = [](const json& e) {
    return e.is_boolean()  ? e.get<bool>()
           : e.is_number() ? e.get<double>()
           : e == "nan"    ? NAN
           : e == "-inf"   ? -kInf
                           : kInf;
  };
  const auto tensor_of = [&](const json& t) {
    std::vector<double> values;
    for (const json& e : t.at("v")) values.push_back(number(e));
    const bool is_float = !t.contains("d");
    tn_dtype dtype =
        is_float ? TN_FLOAT64 : host.tensor->dtype_from_name(t.at("d").get<std::string>().c_str());
    if (is_float)
      dtype = random_.chance(90) && theme.dtype <= TN_BFLOAT16 ? theme.dtype
              : random_.chance(80)                             ? TN_FLOAT32
                                                               : theme.dtype;
    return tensor(t.at("s"), dtype, theme.device, &values);
  };
  tn_value v{};
  if (j.is_object() && j.contains("l")) {
    std::vector<tn_tensor*> all;
    for (const json& e : j.at("l")) all.push_back(e.is_null() ? nullptr : tensor_of(e));
    v = {TN_KIND_TENSORS, static_cast<uint32_t>(all.size()), {}};
    v.as.tensors = list(all);
  } else if (j.is_object() && j.contains("f")) {
    const std::vector<double> all = j.at("f");
    v = {TN_KIND_FLOATS, static_cast<uint32_t>(all.size()), {}};
    v.as.floats = list(all);
  } else if (j.is_object() && j.contains("dtype")) {
    v.kind = TN_KIND_DTYPE;
    v.as.dtype = host.tensor->dtype_from_name(j.at("dtype").get<std::string>().c_str());
  } else if (j.is_object()) {
    v = tensor_value(tensor_of(j));
  } else if (j.is_array()) {
    const Sizes all = j;
    v = ints_value(ints(all), all.size());
  } else if (j.is_boolean()) {
    v = bool_value(j.get<bool>() ? 1 : 0);
  } else if (j.is_number_integer()) {
    v = int_value(j);
  } else if (j.is_number() || j == "inf" || j == "-inf") {
    v = float_value(number(j));
  } else if (j.is_string()) {
    const std::string s = j;
    v = {TN_KIND_STRING, static_cast<uint32_t>(s.size()), {}};
    v.as.string = string(s);
  }
  if (!j.is_object()) note(j.dump() + " ");
  return v;
}

}  // namespace fuzz
