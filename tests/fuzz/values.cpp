// Random values, by a type and against it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "fuzz.h"

namespace fuzz {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::string text_of(const Sizes& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}
std::string text_of(tn_device d) { return std::to_string(d.type) + ":" + std::to_string(d.index); }

// Near v; what is small is 0. `bits` are v's as a float32.
uint16_t half_of(double v, uint32_t bits) {
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (std::isnan(v)) return 0x7e00;
  if (std::fabs(v) < 1e-4) return sign;
  if (std::fabs(v) > 6e4) return sign | 0x7c00;
  return static_cast<uint16_t>(sign | (((bits >> 13 & 0x3ffff) - (112u << 10)) & 0x7fff));
}

std::vector<uint8_t> bytes_of(double v, tn_dtype dtype) {
  const auto as = [](auto value) {
    std::vector<uint8_t> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  const auto whole = [&](double low, double high) { return std::isnan(v) ? 0.0 : std::clamp(std::trunc(v), low, high); };
  const auto single = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  switch (dtype) {
    case TN_FLOAT32: return as(single);
    case TN_FLOAT64: return as(v);
    case TN_FLOAT16: return as(half_of(v, bits));
    case TN_BFLOAT16: return as(static_cast<uint16_t>(bits >> 16));
    case TN_INT64: return as(static_cast<int64_t>(whole(-9.2e18, 9.2e18)));
    case TN_INT32: return as(static_cast<int32_t>(whole(-2147483648.0, 2147483647.0)));
    case TN_UINT8: return as(static_cast<uint8_t>(std::abs(static_cast<int64_t>(whole(-9e18, 9e18))) % 256));
    default: return as(static_cast<uint8_t>(v != 0));
  }
}

}  // namespace

tn_value int_value(int64_t i) {
  tn_value v{TN_INT, 0, {}};
  v.as.i = i;
  return v;
}
tn_value float_value(double f) {
  tn_value v{TN_FLOAT, 0, {}};
  v.as.f = f;
  return v;
}
tn_value bool_value(int64_t i) {
  tn_value v{TN_BOOL_VALUE, 0, {}};
  v.as.i = i;
  return v;
}
tn_value ints_value(const int64_t* list, size_t n) {
  tn_value v{TN_INTS, static_cast<uint32_t>(n), {}};
  v.as.ints = list;
  return v;
}
tn_value tensor_value(tn_tensor* t) {
  tn_value v{TN_TENSOR, 0, {}};
  v.as.tensor = t;
  return v;
}

Arguments::Arguments(Random* random) : random_(*random) {
  const int64_t rank = random_.chance(90) ? random_.below(5) : random_.between(5, 16);
  for (int64_t d = 0; d < rank; ++d) {
    theme.sizes.push_back(rank > 5            ? random_.between(1, 2)
                          : random_.chance(8) ? 0
                                              : random_.between(1, random_.chance(5) ? 40 : 5));
  }
  theme.dtype = random_.chance(55) ? tn_dtype{TN_FLOAT32} : static_cast<tn_dtype>(random_.below(TN_N_DTYPES));
  const int64_t where = random_.below(100);
  theme.device = where < 60 ? tn_device{TN_DEVICE_CPU, 0} : where < 85 ? host.ref : tn_device{TN_DEVICE_META, 0};
}

Arguments::~Arguments() {
  for (tn_tensor* t : tensors_) host.table->tensor_release(t);
  for (tn_object* o : objects_) host.object->release(o);
  for (void* memory : memory_) std::free(memory);
}

// Of exactly this size, so that a sanitizer sees what is read behind it.
void* Arguments::bytes(size_t n) {
  memory_.push_back(std::malloc(n));
  return memory_.back();
}

const int64_t* Arguments::ints(const Sizes& entries) { return list(entries); }

const char* Arguments::string(const std::string& text) {
  auto* copy = static_cast<char*>(bytes(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int64_t Arguments::integer(const std::string& default_text) {
  const int64_t kind = random_.below(100);
  if (kind < 20 && !default_text.empty()) return std::atoll(default_text.c_str());
  if (kind < 75) return random_.between(-2, 5);
  if (kind < 85) return random_.between(-20, 70);
  return random_.of({kMin, kMax, kMin + 1, kMax - 1, int64_t{1} << 31, -(int64_t{1} << 31), (int64_t{1} << 31) - 1,
                     int64_t{1} << 32, int64_t{1} << 40, int64_t{1} << 62, -(int64_t{1} << 62), int64_t{1000000}});
}

double Arguments::real() {
  if (random_.chance(60)) return random_.of({0.0, 1.0, -1.0, 0.5, 0.1, 1e-5, 2.0, 0.9, 3.7});
  if (random_.chance(50)) return static_cast<double>(random_.below(2000) - 1000) / 100;
  return random_.of({kInf, -kInf, static_cast<double>(NAN), 1e300, -1e300, 1e30, 5e-324, -0.0, 0x1p63, -0x1p63, 0x1p31,
                     1.7976931348623157e308});
}

Sizes Arguments::int_list() {
  const auto rank = static_cast<int64_t>(theme.sizes.size());
  const int64_t kind = random_.below(100);
  if (kind < 12) return theme.sizes;
  Sizes list;
  if (kind < 22) {  // dims in some order
    for (int64_t d = 0; d < rank; ++d) list.push_back(d);
    for (int64_t d = rank; d-- > 1;) std::swap(list[static_cast<size_t>(d)], list[static_cast<size_t>(random_.below(d + 1))]);
    return list;
  }
  const int64_t how_many = random_.below(100);
  const int64_t n = how_many < 25   ? rank
                    : how_many < 85 ? random_.below(5)
                    : how_many < 97 ? random_.between(5, 20)
                                    : random_.between(20, 70);
  const bool small = random_.chance(75);
  for (int64_t i = 0; i < n; ++i) list.push_back(small ? random_.between(0, 4) : integer());
  return list;
}

// Related to the theme, most of the time.
Sizes Arguments::shape() {
  Sizes sizes = theme.sizes;
  const int64_t kind = random_.below(100);
  if (kind < 55) return sizes;
  if (kind < 70) {  // broadcasts to it
    for (int64_t& s : sizes) s = random_.chance(40) ? 1 : s;
    if (!sizes.empty() && random_.chance(40))
      sizes.erase(sizes.begin(), sizes.begin() + random_.below(static_cast<int64_t>(sizes.size()) + 1));
    return sizes;
  }
  if (kind < 80 && sizes.size() >= 2) {  // turned, as a product wants it
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return sizes;
  }
  if (kind < 88 && !sizes.empty()) return {random_.pick(sizes)};
  sizes.clear();
  const int64_t rank = random_.chance(95) ? random_.below(6) : random_.between(6, 16);
  for (int64_t d = 0; d < rank; ++d)
    sizes.push_back(rank > 5 ? random_.between(1, 2) : random_.between(random_.chance(10) ? 0 : 1, 5));
  return sizes;
}

tn_dtype Arguments::dtype() {
  if (random_.chance(88)) return static_cast<tn_dtype>(random_.below(TN_N_DTYPES));
  return random_.of<tn_dtype>(
      {8, 9, 10, 11, 12, -1, -2, 31, 32, 99, 1 << 30, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()});
}

tn_device Arguments::device() {
  if (random_.chance(80)) return theme.device;
  if (random_.chance(50)) return random_.of<tn_device>({{TN_DEVICE_CPU, 0}, host.ref, {TN_DEVICE_META, 0}});
  return random_.of<tn_device>({{0, 1},
                                {0, -1},
                                {1, 7},
                                {1, -1},
                                {host.ref.type, 9},
                                {host.ref.type, -1},
                                {99, 0},
                                {-1, 0},
                                {31, 0},
                                {32, 0},
                                {std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}});
}

std::string Arguments::word(const std::string& default_text) {
  if (default_text.size() >= 2 && random_.chance(45)) return default_text.substr(1, default_text.size() - 2);
  static const std::vector<std::string> words = {"none",
                                                 "mean",
                                                 "sum",
                                                 "tanh",
                                                 "ij",
                                                 "xy",
                                                 "contiguous",
                                                 "channels_last",
                                                 "constant",
                                                 "reflect",
                                                 "replicate",
                                                 "circular",
                                                 "nearest",
                                                 "nearest-exact",
                                                 "bilinear",
                                                 "linear",
                                                 "bicubic",
                                                 "area",
                                                 "trilinear",
                                                 "max",
                                                 "ij,jk->ik",
                                                 "ii->i",
                                                 "...ij->...ji",
                                                 "i,i->",
                                                 "ij->j",
                                                 "->",
                                                 "b...,...->b",
                                                 "ij,,->",
                                                 "A a",
                                                 "amax",
                                                 "amin",
                                                 "prod",
                                                 "batchmean",
                                                 "fan_in",
                                                 "relu",
                                                 "floor",
                                                 "trunc",
                                                 "",
                                                 " ",
                                                 "\n",
                                                 "\xff\xfe",
                                                 "%s%n",
                                                 "{}",
                                                 "x",
                                                 "right",
                                                 "left",
                                                 "zeros",
                                                 "border",
                                                 "reflection",
                                                 "inf",
                                                 "nuc",
                                                 "fro"};
  if (random_.chance(4)) return std::string(static_cast<size_t>(random_.below(100000)), 'i');
  return random_.pick(words);
}

const char* Arguments::name(const std::vector<std::string>& known) {
  if (random_.chance(8)) {
    note("NULL ");
    return nullptr;
  }
  const std::string name = !known.empty() && random_.chance(70) ? random_.pick(known) : random_.chance(50) ? word() : "a.b";
  note("'" + name.substr(0, 60) + "' ");
  return string(name);
}

// ---- Tensors

std::vector<uint8_t> Arguments::random_bytes(int64_t n, tn_dtype dtype, const std::vector<double>* values) {
  std::vector<uint8_t> all;
  const bool odd = random_.chance(15);
  for (int64_t i = 0; i < n; ++i) {
    double v = values != nullptr && !values->empty() ? (*values)[static_cast<size_t>(i) % values->size()]
                                                     : static_cast<double>(random_.below(64)) / 8 - (random_.chance(50) ? 3 : 0);
    if (odd && random_.chance(20)) v = random_.chance(50) ? real() : static_cast<double>(integer());
    const std::vector<uint8_t> bytes = bytes_of(v, dtype);
    all.insert(all.end(), bytes.begin(), bytes.begin() + host.tensor->itemsize(dtype));
  }
  return all;
}

tn_tensor* Arguments::contiguous(const Sizes& sizes, tn_dtype dtype, tn_device device, const std::vector<double>* values) {
  tn_tensor* t = nullptr;
  if (!checked(host.tensor->empty(static_cast<int32_t>(sizes.size()), sizes.data(), dtype, device, &t))) return nullptr;
  own(t);
  if (t->numel > 0 && device.type != TN_DEVICE_META) {
    const std::vector<uint8_t> data = random_bytes(t->numel, dtype, values);
    checked(host.tensor->write(t, data.data(), data.size()));
  }
  return t;
}

tn_tensor* Arguments::view(tn_primitive kind, tn_tensor* x, std::initializer_list<tn_value> rest) {
  if (x == nullptr) return nullptr;
  std::vector<tn_value> args{tensor_value(x)};
  args.insert(args.end(), rest);
  tn_value result{};
  if (!checked(host.table->primitive(kind, args.data(), static_cast<uint32_t>(args.size()), &result, 1))) return x;
  own(result.as.tensor);
  return result.as.tensor;
}

// Memory of the fuzzer's own, with strides that leave gaps or overlap.
tn_tensor* Arguments::of_host_memory(const Sizes& sizes, tn_dtype dtype) {
  Sizes strides(sizes.size());
  int64_t stride = random_.chance(20) ? 0 : 1, extent = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = random_.chance(15) ? stride
                                : std::min<int64_t>(stride * std::max<int64_t>(sizes[d], 1) + (random_.chance(30) ? 1 : 0), 200);
  }
  bool empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    empty = empty || sizes[d] == 0;
    extent += (sizes[d] - 1) * strides[d];
  }
  const std::vector<uint8_t> data = random_bytes(empty ? 0 : extent, dtype, nullptr);
  auto* memory = static_cast<uint8_t*>(std::malloc(data.size()));
  std::copy(data.begin(), data.end(), memory);
  tn_tensor* t = nullptr;
  const auto rank = static_cast<int32_t>(sizes.size());
  if (!checked(host.tensor->from_memory(memory, rank, sizes.data(), strides.data(), dtype, std::free, memory, &t)))
    std::free(memory);
  own(t);
  return t;
}

tn_tensor* Arguments::laid_out(const Sizes& sizes, tn_dtype dtype, tn_device device, const std::vector<double>* values) {
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t kind = random_.below(100);
  if (kind < 55 || rank == 0) return contiguous(sizes, dtype, device, values);
  if (kind < 68) {  // permuted
    Sizes order, inner(sizes.size()), back(sizes.size());
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    for (int64_t d = rank; d-- > 1;) std::swap(order[static_cast<size_t>(d)], order[static_cast<size_t>(random_.below(d + 1))]);
    for (size_t d = 0; d < sizes.size(); ++d) {
      inner[d] = sizes[static_cast<size_t>(order[d])];
      back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    }
    return view(TN_PERMUTE, contiguous(inner, dtype, device, values), {ints_value(back.data(), back.size())});
  }
  if (kind < 80) {  // steps, behind an offset
    const int64_t d = random_.below(rank), step = random_.between(1, 3), start = random_.below(3),
                  size = sizes[static_cast<size_t>(d)];
    Sizes larger = sizes;
    larger[static_cast<size_t>(d)] = start + std::max<int64_t>(size * step, 1);
    return view(TN_SLICE, contiguous(larger, dtype, device, values),
                {int_value(d), int_value(start), int_value(start + size * step), int_value(step)});
  }
  if (kind < 90) {  // expanded
    Sizes one = sizes;
    one[static_cast<size_t>(random_.below(rank))] = 1;
    return view(TN_EXPAND, contiguous(one, dtype, device, values), {ints_value(sizes.data(), sizes.size())});
  }
  if (device.type == TN_DEVICE_CPU && random_.chance(50)) return of_host_memory(sizes, dtype);
  Sizes strides(sizes.size());  // windows that overlap
  int64_t extent = 3;
  for (size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = random_.below(3);
    extent += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
  }
  return view(TN_AS_STRIDED, contiguous({extent}, dtype, device, values),
              {ints_value(sizes.data(), sizes.size()), ints_value(strides.data(), strides.size()), int_value(random_.below(3))});
}

tn_tensor* Arguments::tensor(const Sizes& sizes, tn_dtype dtype, tn_device device, const std::vector<double>* values) {
  tn_tensor* t = laid_out(sizes, dtype, device, values);
  if (t == nullptr) return nullptr;
  note("tensor" + text_of(sizes) + "/" + text_of(Sizes(t->strides, t->strides + t->ndim)) + " " + host.tensor->dtype_name(dtype) +
       " " + text_of(device));
  if (dtype <= TN_BFLOAT16 && random_.chance(25)) {
    if (checked(host.autograd->set_requires_grad(t, 1))) {
      leaves_.push_back(t);
      note(" grad");
    }
  }
  note(" ");
  seen_.push_back(t);
  return t;
}

tn_tensor* Arguments::tensor() {
  if (!seen_.empty() && random_.chance(15)) {  // the same again, or a part of it
    tn_tensor* t = random_.pick(seen_);
    note("again ");
    if (t->ndim == 0 || random_.chance(60)) return t;
    note("(a part) ");
    return view(TN_SLICE, t,
                {int_value(random_.below(t->ndim)), int_value(random_.below(2)), int_value(random_.between(1, 4)), int_value(1)});
  }
  const tn_dtype dtype = random_.chance(70)   ? theme.dtype
                         : random_.chance(30) ? tn_dtype{TN_INT64}
                                              : static_cast<tn_dtype>(random_.below(TN_N_DTYPES));
  const tn_device device =
      random_.chance(93) ? theme.device : random_.of<tn_device>({{TN_DEVICE_CPU, 0}, host.ref, {TN_DEVICE_META, 0}});
  return tensor(shape(), dtype, device);
}

// ---- Expressions and objects

const tn_expression* Arguments::expression(size_t* n_arguments, size_t* n_results) {
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
  const tn_expression* e = nullptr;
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
    checked(host.object->create_empty("mine", random_.of<tn_object_kind>({TN_LAYER, TN_OTHER_OBJECT}), &o));
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
      for (int64_t i = 0; i < n; ++i) list.push_back(random_.chance(p.optional_entries ? 30 : 3) ? nullptr : tensor());
      note("] ");
      v = {TN_TENSORS, static_cast<uint32_t>(list.size()), {}};
      v.as.tensors = is_null ? nullptr : this->list(list);
    } else if (p.type == "object") {
      std::vector<tn_object*> list;
      for (int64_t i = 0; i < n; ++i) list.push_back(object());
      v = {TN_OBJECTS, static_cast<uint32_t>(list.size()), {}};
      v.as.objects = is_null ? nullptr : this->list(list);
    } else if (p.type == "float") {
      std::vector<double> list;
      for (int64_t i = 0; i < n; ++i) list.push_back(real());
      v = {TN_FLOATS, static_cast<uint32_t>(list.size()), {}};
      v.as.floats = is_null ? nullptr : this->list(list);
      text(std::to_string(n) + " floats");
    } else if (p.type == "str") {
      std::vector<const char*> list;
      for (int64_t i = 0; i < n; ++i) list.push_back(random_.chance(4) ? nullptr : string(word()));
      v = {TN_STRINGS, static_cast<uint32_t>(list.size()), {}};
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
    text(v.kind == TN_INT ? std::to_string(v.as.i) : std::to_string(v.as.f));
  } else if (p.type == "number") {
    v = random_.chance(40) ? int_value(integer()) : random_.chance(80) ? float_value(real()) : bool_value(random_.below(2));
    text(v.kind == TN_FLOAT ? std::to_string(v.as.f) : std::to_string(v.as.i));
  } else if (p.type == "bool") {
    v = bool_value(random_.chance(97) ? random_.below(2) : random_.of<int64_t>({2, -1, 256, kMin}));
    text("bool " + std::to_string(v.as.i));
  } else if (p.type == "str") {
    const std::string s = word(p.default_text);
    const uint32_t lie = random_.chance(4) ? static_cast<uint32_t>(random_.of<int64_t>({1, 7, 100, -1})) : 0;
    v = {TN_STRING, static_cast<uint32_t>(s.size()) + lie, {}};
    v.as.string = random_.chance(2) ? nullptr : string(s);
    text(v.as.string == nullptr ? "NULL string" : "'" + s.substr(0, 60) + "' of " + std::to_string(v.count));
  } else if (p.type == "dtype") {
    v.kind = TN_DTYPE;
    v.as.dtype = dtype();
    text("dtype " + std::to_string(v.as.dtype));
  } else if (p.type == "device") {
    v.kind = TN_DEVICE;
    v.as.device = device();
    text("device " + text_of(v.as.device));
  } else if (p.type == "expression") {
    v.kind = TN_EXPRESSION;
    v.as.expression = expression(nullptr, nullptr);
  } else {
    v.kind = TN_OBJECT;
    v.as.object = object();
  }
  return v;
}

tn_value Arguments::of_any_kind() {
  static const std::vector<std::string> types = {"Tensor", "int",   "float",  "bool",   "number",
                                                 "str",    "dtype", "device", "object", "expression"};
  const int64_t kind = random_.below(20);
  if (kind == 0) {  // none of the contract's, or one that kernels alone get
    note("an odd kind ");
    return {random_.of<uint32_t>({TN_LOOP, TN_REDUCTION, 17, 31, 32, 33, 63, 64, 1000, 0xffffffff}), 0, {}};
  }
  if (kind == 1) {
    note("None ");
    return {};
  }
  Parameter p;
  p.type = random_.pick(types);
  p.list = random_.chance(35) && p.type != "expression" && p.type != "number" && p.type != "bool" && p.type != "dtype" &&
           p.type != "device";
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
    return e.is_boolean() ? e.get<bool>() : e.is_number() ? e.get<double>() : e == "nan" ? NAN : e == "-inf" ? -kInf : kInf;
  };
  const auto tensor_of = [&](const json& t) {
    std::vector<double> values;
    for (const json& e : t.at("v")) values.push_back(number(e));
    const bool is_float = !t.contains("d");
    tn_dtype dtype = is_float ? TN_FLOAT64 : host.tensor->dtype_from_name(t.at("d").get<std::string>().c_str());
    if (is_float)
      dtype = random_.chance(90) && theme.dtype <= TN_BFLOAT16 ? theme.dtype : random_.chance(80) ? TN_FLOAT32 : theme.dtype;
    return tensor(t.at("s"), dtype, theme.device, &values);
  };
  tn_value v{};
  if (j.is_object() && j.contains("l")) {
    std::vector<tn_tensor*> all;
    for (const json& e : j.at("l")) all.push_back(e.is_null() ? nullptr : tensor_of(e));
    v = {TN_TENSORS, static_cast<uint32_t>(all.size()), {}};
    v.as.tensors = list(all);
  } else if (j.is_object() && j.contains("f")) {
    const std::vector<double> all = j.at("f");
    v = {TN_FLOATS, static_cast<uint32_t>(all.size()), {}};
    v.as.floats = list(all);
  } else if (j.is_object() && j.contains("dtype")) {
    v.kind = TN_DTYPE;
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
    v = {TN_STRING, static_cast<uint32_t>(s.size()), {}};
    v.as.string = string(s);
  }
  if (!j.is_object()) note(j.dump() + " ");
  return v;
}

}  // namespace fuzz
