// tn_value and C++: Operand, lists of tensors, the packing of arguments and the unpacking of
// results and of what lambdas get.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

class ExpressionRef;
class Object;

// None, where a schema takes it: no tensor, no number. Its value is `none`, or `None`, as libtorch has it.
struct NoneType {
  operator Tensor() const noexcept { return {}; }
  template <typename T>
  operator std::optional<T>() const noexcept {
    return std::nullopt;
  }
  template <typename T>
  operator List<T>() const noexcept {
    return {};
  }
};
inline constexpr NoneType none{}, None{};

// A tensor or a number in a Tensor's place, for the length of a call; borrows the tensor. A null
// tensor is None.
class Operand {
 public:
  Operand(const Tensor& t) noexcept {
    value_.kind = t.defined() ? TN_KIND_TENSOR : TN_KIND_NONE;
    value_.count = 0;
    value_.as.tensor = t.get();
  }
  template <typename T>
  requires std::is_arithmetic_v<T>
  constexpr Operand(T number) noexcept {
    value_.count = 0;
    if constexpr (std::is_same_v<T, bool>) {
      value_.kind = TN_KIND_BOOL;
      value_.as.i = number;
    } else if constexpr (std::is_integral_v<T>) {
      value_.kind = TN_KIND_INT;
      value_.as.i = int64_t(number);
    } else {
      value_.kind = TN_KIND_FLOAT;
      value_.as.f = double(number);
    }
  }
  constexpr Operand(NoneType) noexcept {
    value_.kind = TN_KIND_NONE;
    value_.count = 0;
    value_.as.i = 0;
  }
  explicit Operand(const tn_value& value) noexcept : value_(value) {}

  const tn_value& value() const noexcept { return value_; }
  bool is_tensor() const noexcept { return value_.kind == TN_KIND_TENSOR; }
  // The tensor, retained; null for numbers.
  Tensor tensor() const noexcept {
    return is_tensor() ? Tensor::borrow(value_.as.tensor) : Tensor();
  }

 private:
  tn_value value_;
};

// The same as a member of options: it holds its tensor.
class KeptOperand : public Operand {
 public:
  template <typename T>
  requires(std::is_convertible_v<T, Operand> &&
           !std::is_base_of_v<KeptOperand, std::remove_cvref_t<T>>) KeptOperand(T&& value)
      : Operand(std::forward<T>(value)), tensor_(tensor()) {}

 private:
  Tensor tensor_;
};

// A number where a schema says `number`: int, float or bool as it comes.
class Number {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T>
  constexpr Number(T number) noexcept : operand_(number) {}
  explicit Number(const Operand& number) noexcept : operand_(number) {}
  const tn_value& value() const noexcept { return operand_.value(); }

 private:
  Operand operand_;
};

// A list of tensors: what is in braces and temporary vectors it holds itself, a vector, array or
// span that has a name it borrows. Calls take it.
class Tensors {
 public:
  // An element in braces: a tensor, or what becomes one. It is moved from there to the list.
  class Item {
   public:
    Item() = default;
    template <typename T>
    requires std::is_convertible_v<T, Tensor> Item(T&& tensor) : tensor_(std::forward<T>(tensor)) {}

   private:
    friend class Tensors;
    mutable Tensor tensor_;
  };

  Tensors() = default;
  Tensors(const std::vector<Tensor>& list) noexcept : Tensors(list.data(), list.size()) {}
  Tensors(std::vector<Tensor>&& list) noexcept
      : size_(uint32_t(list.size())), many_(std::move(list)) {}
  Tensors(std::span<const Tensor> list) noexcept : Tensors(list.data(), list.size()) {}
  Tensors(std::initializer_list<Item> list) : size_(uint32_t(list.size())) {
    if (size_ > kFew) many_.resize(size_);
    Tensor* const to = many_.empty() ? few_ : many_.data();
    for (uint32_t i = 0; i < size_; ++i) to[i] = std::move(list.begin()[i].tensor_);
  }
  template <size_t N>
  Tensors(const std::array<Tensor, N>& list) noexcept : Tensors(list.data(), N) {}
  template <size_t N>
  Tensors(std::array<Tensor, N>&& list) : Tensors(Tensors(list.data(), N).to_vector()) {}
  // Of tensors that one class or another derives: the results of x[0], x[1].
  template <typename T>
  requires(std::is_base_of_v<Tensor, T> && !std::is_same_v<Tensor, T>)
      Tensors(const std::vector<T>& list)
      : Tensors(std::vector<Tensor>(list.begin(), list.end())) {}
  Tensors(const Tensor* data, size_t size) noexcept
      : data_(reinterpret_cast<tn_tensor* const*>(data)), size_(uint32_t(size)) {}
  Tensors(tn_tensor* const* data, size_t size) noexcept : data_(data), size_(uint32_t(size)) {}

  tn_tensor* const* data() const {
    if (data_) return data_;
    return reinterpret_cast<tn_tensor* const*>(many_.empty() ? few_ : many_.data());
  }
  uint32_t size() const { return size_; }
  Tensor operator[](size_t i) const { return Tensor::borrow(data()[i]); }
  std::vector<Tensor> to_vector() const {
    std::vector<Tensor> list(size_);
    for (uint32_t i = 0; i < size_; ++i) list[i] = (*this)[i];
    return list;
  }

 private:
  static constexpr uint32_t kFew = 4;

  tn_tensor* const* data_ = nullptr;  // null: the list's own
  uint32_t size_ = 0;
  Tensor few_[kFew];
  std::vector<Tensor> many_;
};

// The number that a tensor of one element (float64 or int64, on cpu) holds, for an argument that a
// schema calls dynamic (`dynamic float lr`): it is read at each call, and a compiled function reads
// it anew at each replay. Borrows the tensor: pass it on, and keep it no longer than the tensor.
inline Float dynamic(const Tensor& holder) noexcept { return Float(holder.get()); }

namespace detail {

// A Tensor, x[0], and what else becomes a Tensor by itself.
template <typename T>
concept TensorLike = std::is_convertible_v<T, Tensor> &&
    !std::is_same_v<std::remove_cvref_t<T>, std::optional<Tensor>>;
// What is one already, or has nothing to do with tensors, stays as it is; std::vector{x[0], x[1]}
// becomes a vector of tensors.
template <typename T>
decltype(auto) as_tensor(const T& x) {
  if constexpr (TensorLike<T> && !std::is_base_of_v<Tensor, T>) {
    return Tensor(x);
  } else if constexpr (requires { requires TensorLike<decltype(*x.begin())>; } &&
                       std::is_convertible_v<T, Tensors> &&
                       !std::is_convertible_v<T, std::span<const Tensor>>) {
    return std::vector<Tensor>(x.begin(), x.end());
  } else {
    return (x);
  }
}

inline tn_value make_value(uint32_t kind, uint32_t count = 0) noexcept {
  tn_value v;
  v.kind = kind;
  v.count = count;
  v.as.i = 0;
  return v;
}

// Borrowed values of arguments.
inline tn_value to_value(const Operand& x) noexcept { return x.value(); }
inline tn_value to_value(const Tensor& x) noexcept {
  tn_value v;
  v.kind = x.defined() ? TN_KIND_TENSOR : TN_KIND_NONE;
  v.count = 0;
  v.as.tensor = x.get();
  return v;
}
inline tn_value to_value(const Number& x) noexcept { return x.value(); }
inline tn_value to_value(const tn_value& x) noexcept { return x; }
inline tn_value to_value(NoneType) noexcept { return make_value(TN_KIND_NONE); }
inline tn_value to_value(std::nullopt_t) noexcept { return make_value(TN_KIND_NONE); }
template <typename T>
requires std::is_arithmetic_v<T> tn_value to_value(T x)
noexcept { return Operand(x).value(); }
inline tn_value to_value(Bool x) noexcept { return to_value(bool(x)); }
inline tn_value to_value(Int x) noexcept {
  tn_value v = make_value(TN_KIND_INT);
  v.as.i = x;
  return v;
}
inline tn_value to_value(Float x) noexcept {
  tn_value v = make_value(x.holder() ? TN_KIND_TENSOR : TN_KIND_FLOAT);
  if (x.holder()) {
    v.as.tensor = x.holder();
  } else {
    v.as.f = x;
  }
  return v;
}
inline tn_value to_value(const Ints& x) noexcept {
  tn_value v = make_value(TN_KIND_INTS, x.size());
  v.as.ints = x.data();
  return v;
}
inline tn_value to_value(const Floats& x) noexcept {
  tn_value v = make_value(TN_KIND_FLOATS, x.size());
  v.as.floats = x.data();
  return v;
}
inline tn_value to_value(const std::vector<int64_t>& x) noexcept { return to_value(Ints(x)); }
inline tn_value to_value(std::span<const int64_t> x) noexcept { return to_value(Ints(x)); }
inline tn_value to_value(const std::vector<double>& x) noexcept { return to_value(Floats(x)); }
inline tn_value to_value(const Tensors& x) noexcept {
  tn_value v = make_value(TN_KIND_TENSORS, x.size());
  v.as.tensors = x.data();
  return v;
}
inline tn_value to_value(const std::vector<Tensor>& x) noexcept { return to_value(Tensors(x)); }
inline tn_value to_value(Dtype x) noexcept {
  tn_value v = make_value(x ? TN_KIND_DTYPE : TN_KIND_NONE);
  if (x) v.as.dtype = x.value;
  return v;
}
inline tn_value to_value(Device x) noexcept {
  tn_value v = make_value(TN_KIND_DEVICE);
  v.as.device = x.value;
  return v;
}
inline tn_value to_value(const char* x) noexcept {
  tn_value v = make_value(TN_KIND_STRING, uint32_t(std::char_traits<char>::length(x)));
  v.as.string = x;
  return v;
}
inline tn_value to_value(const std::string& x) noexcept {
  tn_value v = make_value(TN_KIND_STRING, uint32_t(x.size()));
  v.as.string = x.c_str();
  return v;
}
inline tn_value to_value(TextRef x) noexcept {
  tn_value v = make_value(TN_KIND_STRING, x.size());
  v.as.string = x.c_str();
  return v;
}
inline tn_value to_value(const IntsOrText& x) noexcept {
  return x.is_text() ? to_value(x.text()) : to_value(x.ints());
}
inline tn_value to_value(const Object& x) noexcept;               // object/values.hpp
inline tn_value to_value(const std::vector<Object>& x) noexcept;  // object/values.hpp
inline tn_value to_value(const ExpressionRef& x);                 // ops/primitive.hpp
template <typename T>
tn_value to_value(const std::optional<T>& x) noexcept {
  return x ? to_value(*x) : make_value(TN_KIND_NONE);
}

inline constexpr const char* kUnfit = ": its parameters do not fit the schema";
[[noreturn, gnu::cold, gnu::noinline]] inline void wrong_kind(const tn_value& v, const char* wanted,
                                                              const char* what = "a value",
                                                              const char* end = kUnfit) {
  static constexpr const char* kKinds[] = {
      "None",  "a Tensor", "Tensors",  "an int",  "ints",       "a float",   "floats", "a bool",
      "dtype", "device",   "a string", "strings", "expression", "an object", "objects"};
  fail(joined({what, " is ", v.kind < 15 ? kKinds[v.kind] : "of another kind",
               " where C++ code takes ", wanted, end}));
}
inline void expect_kind(const tn_value& v, uint32_t kind, const char* wanted) {
  if (v.kind != kind) [[unlikely]]
    wrong_kind(v, wanted);
}

// Gives up an owned value when what it says was copied, or could not be.
struct ValueReleaser {
  tn_value& value;
  ~ValueReleaser() { detail::known_host()->value_release(&value); }
};

// Unpack<T>: a value as the parameter T of a lambda (borrowed; Tensor retains), or as the result T
// of a call (`own`: takes it).
template <typename T>
struct Unpack;
template <>
struct Unpack<Tensor> {
  static Tensor borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    expect_kind(v, TN_KIND_TENSOR, "a Tensor");
    return Tensor::borrow(v.as.tensor);
  }
  static Tensor own(tn_value& v) {
    if (v.kind == TN_KIND_TENSOR) [[likely]]
      return Tensor::take(v.as.tensor);
    if (v.kind == TN_KIND_NONE) return {};
    const ValueReleaser releaser{v};
    wrong_kind(v, "a Tensor", "a result", "");
  }
};
// Without a count, for kernels and views; NULL for None.
template <>
struct Unpack<const tn_tensor*> {
  static const tn_tensor* borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return nullptr;
    expect_kind(v, TN_KIND_TENSOR, "a Tensor");
    return v.as.tensor;
  }
};
template <>
struct Unpack<Operand> {
  static Operand borrow(const tn_value& v) { return Operand(v); }
};
template <>
struct Unpack<tn_value> {
  static tn_value borrow(const tn_value& v) { return v; }
  static tn_value own(tn_value& v) { return v; }
};
template <>
struct Unpack<bool> {
  static bool borrow(const tn_value& v) {
    if (v.kind == TN_KIND_INT) return v.as.i != 0;
    expect_kind(v, TN_KIND_BOOL, "a bool");
    return v.as.i != 0;
  }
  static bool own(tn_value& v) { return borrow(v); }
};
template <typename T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct Unpack<T> {
  static T borrow(const tn_value& v) {
    if (v.kind == TN_KIND_TENSOR) [[unlikely]]
      return Tensor::borrow(v.as.tensor).item<T>();
    if (v.kind != TN_KIND_BOOL) expect_kind(v, TN_KIND_INT, "an int");
    return T(v.as.i);
  }
  static T own(tn_value& v) { return borrow(v); }
};
template <typename T>
requires std::is_floating_point_v<T>
struct Unpack<T> {
  static T borrow(const tn_value& v) {
    if (v.kind == TN_KIND_INT || v.kind == TN_KIND_BOOL) return T(v.as.i);
    // A dynamic number, of a decomposition that does not take it as an Operand.
    if (v.kind == TN_KIND_TENSOR) [[unlikely]]
      return Tensor::borrow(v.as.tensor).item<T>();
    expect_kind(v, TN_KIND_FLOAT, "a float");
    return T(v.as.f);
  }
  static T own(tn_value& v) { return borrow(v); }
};
template <>
struct Unpack<Ints> {
  static Ints borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    expect_kind(v, TN_KIND_INTS, "ints");
    return {v.as.ints, v.count};
  }
};
template <>
struct Unpack<IntsOrText> {
  static IntsOrText borrow(const tn_value& v) {
    if (v.kind == TN_KIND_STRING) return std::string(v.as.string, v.count);
    return Unpack<Ints>::borrow(v);
  }
};
template <>
struct Unpack<std::span<const int64_t>> {
  static std::span<const int64_t> borrow(const tn_value& v) {
    Ints list = Unpack<Ints>::borrow(v);
    return {v.kind == TN_KIND_NONE ? nullptr : v.as.ints, list.size()};
  }
};
template <>
struct Unpack<std::vector<int64_t>> {
  static std::vector<int64_t> borrow(const tn_value& v) {
    Ints list = Unpack<Ints>::borrow(v);
    return {list.begin(), list.end()};
  }
};
template <>
struct Unpack<Floats> {
  static Floats borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE || (v.kind == TN_KIND_INTS && v.count == 0))
      return {};  // [] fits both
    expect_kind(v, TN_KIND_FLOATS, "floats");
    return {v.as.floats, v.count};
  }
};
template <>
struct Unpack<std::vector<double>> {
  static std::vector<double> borrow(const tn_value& v) {
    Floats list = Unpack<Floats>::borrow(v);
    return {list.begin(), list.end()};
  }
};
template <>
struct Unpack<Tensors> {
  static Tensors borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    expect_kind(v, TN_KIND_TENSORS, "Tensors");
    return {v.as.tensors, v.count};
  }
};
template <>
struct Unpack<std::vector<Tensor>> {
  static std::vector<Tensor> borrow(const tn_value& v) {
    return Unpack<Tensors>::borrow(v).to_vector();
  }
  static std::vector<Tensor> own(tn_value& v) {
    const ValueReleaser releaser{v};
    return borrow(v);
  }
};
// Lists of tensors without a copy: a Tensor is one pointer, and the handles stay the caller's.
template <>
struct Unpack<std::span<const Tensor>> {
  static std::span<const Tensor> borrow(const tn_value& v) {
    Tensors list = Unpack<Tensors>::borrow(v);
    return {reinterpret_cast<const Tensor*>(list.data()), list.size()};
  }
};
template <>
struct Unpack<Dtype> {
  static Dtype borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    expect_kind(v, TN_KIND_DTYPE, "a dtype");
    return {v.as.dtype};
  }
  static Dtype own(tn_value& v) { return borrow(v); }
};
template <>
struct Unpack<Device> {
  static Device borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    expect_kind(v, TN_KIND_DEVICE, "a device");
    return v.as.device;
  }
  static Device own(tn_value& v) { return borrow(v); }
};
template <>
struct Unpack<const char*> {
  static const char* borrow(const tn_value& v) {
    expect_kind(v, TN_KIND_STRING, "a string");
    return v.as.string;
  }
};
template <>
struct Unpack<std::string_view> {
  static std::string_view borrow(const tn_value& v) {
    expect_kind(v, TN_KIND_STRING, "a string");
    return {v.as.string, v.count};
  }
};
template <>
struct Unpack<std::string> {
  static std::string borrow(const tn_value& v) {
    return std::string(Unpack<std::string_view>::borrow(v));
  }
  static std::string own(tn_value& v) {
    const ValueReleaser releaser{v};
    return borrow(v);
  }
};
template <typename T>
struct Unpack<std::optional<T>> {
  static std::optional<T> borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return std::nullopt;
    return Unpack<T>::borrow(v);
  }
  static std::optional<T> own(tn_value& v) {
    if (v.kind == TN_KIND_NONE) return std::nullopt;
    return Unpack<T>::own(v);
  }
};

}  // namespace detail

}  // namespace v0
}  // namespace tenon
