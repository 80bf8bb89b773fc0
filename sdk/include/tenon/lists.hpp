// Lists of numbers for arguments and sizes, and the reading of single elements of any dtype.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/dtype.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {
// May stand where a schema says int: a bool may not, nor a number that would be cut.
template <typename N>
concept WholeNumber = (std::is_integral_v<N> && !std::is_same_v<N, bool>) ||
                      (std::is_enum_v<N> && std::is_convertible_v<N, int64_t>);
template <typename N, typename T>
concept NumberFor = WholeNumber<N> ||(std::is_floating_point_v<N>&& std::is_floating_point_v<T>);

// May be given by its place for an option of type T, where the same function takes a struct of options
// by name: what stands in braces is the struct.
template <typename P, typename T>
concept Placed = std::is_convertible_v<const P&, T>;

// The first member of a struct of options: what follows is given by name, {.stride = 2}, and not by
// its place.
struct ByName {
  explicit constexpr ByName() = default;
};
}  // namespace detail

// An argument that a schema calls int or float. Any number that fits becomes one, and a bool does
// not; for one that the schema calls dynamic, a tensor may stand: see dynamic() in value.hpp.
class Int {
 public:
  template <detail::WholeNumber N>
  constexpr Int(N number) noexcept : number_(int64_t(number)) {}
  constexpr operator int64_t() const noexcept { return number_; }

 private:
  int64_t number_;
};
// What a schema calls bool. It takes no number and no text, which C++ would make a bool of where one stands
// a place too far.
class Bool {
 public:
  template <std::same_as<bool> B>
  constexpr Bool(B truth) noexcept : truth_(truth) {}
  constexpr operator bool() const noexcept { return truth_; }

 private:
  bool truth_;
};
class Float {
 public:
  template <detail::NumberFor<double> N>
  constexpr Float(N number) noexcept : number_(double(number)) {}
  explicit constexpr Float(tn_tensor* holder) noexcept : number_(NAN), holder_(holder) {}
  constexpr operator double() const noexcept { return number_; }
  // Borrowed; NULL: it is the number itself.
  constexpr tn_tensor* holder() const noexcept { return holder_; }

 private:
  double number_;
  tn_tensor* holder_ = nullptr;
};

// A list of T: `{2, 3}`, a temporary vector and one number are copied into it; a vector, array or
// span that has a name is borrowed, and must outlive it. Calls take it, and x.sizes() is one.
template <typename T>
class List {
 public:
  constexpr List() noexcept {}
  constexpr List(std::nullopt_t) noexcept {}  // None is an empty list
  // One number, or several in braces. They are no std::initializer_list, for which g++ 12 takes the
  // names of {.stride = 2} for nothing and the value for an element.
  template <typename... N>
  requires(sizeof...(N) > 0 && (detail::NumberFor<N, T> && ...)) constexpr List(N... numbers)
      : size_(uint32_t(sizeof...(N))) {
    if constexpr (sizeof...(N) <= kFew) {
      uint32_t i = 0;
      ((few_[i++] = T(numbers)), ...);
    } else {
      const T list[] = {T(numbers)...};
      keep(list, sizeof...(N));
    }
  }
  template <std::same_as<std::initializer_list<T>> L>
  List(L list) {
    keep(list.begin(), list.size());
  }
  List(const std::vector<T>& list) noexcept : List(list.data(), list.size()) {}
  List(std::vector<T>&& list) { keep(list.data(), list.size()); }
  template <size_t N>
  List(const std::array<T, N>& list) noexcept : List(list.data(), N) {}
  template <size_t N>
  List(std::array<T, N>&& list) {
    keep(list.data(), N);
  }
  constexpr List(std::span<const T> list) noexcept : List(list.data(), list.size()) {}
  // Of pointers alone: in {0, true} the 0 would be one.
  template <typename P>
  requires std::is_pointer_v<P>
  constexpr List(P data, size_t size) noexcept : list_(data), size_(uint32_t(size)) {}

  List(const List& other) : size_(other.size_) { take(other); }
  List& operator=(const List& other) {
    if (this == &other) return *this;
    drop();
    size_ = other.size_;
    take(other);
    return *this;
  }
  ~List() { drop(); }
  // A copy that borrows nothing.
  List kept() const {
    List list;
    list.keep(data(), size_);
    return list;
  }

  constexpr const T* data() const { return list_ ? list_ : few_; }
  constexpr uint32_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data(); }
  constexpr const T* end() const { return data() + size_; }
  // A negative index counts from the end. An Error where there is none.
  constexpr T operator[](size_t i) const {
    if (i >= size_) [[unlikely]]
      i = from_end(int64_t(i));
    return data()[i];
  }
  constexpr T front() const { return (*this)[0]; }
  constexpr T back() const { return (*this)[size_t(-1)]; }
  std::vector<T> vec() const { return {begin(), end()}; }
  operator std::vector<T>() const { return vec(); }

  // With another list, a vector, an array: x.sizes() == std::vector<int64_t>{2, 3}.
  friend bool operator==(const List& a, const List& b) {
    bool same = a.size_ == b.size_;
    for (uint32_t i = 0; same && i < a.size_; ++i) same = a[i] == b[i];
    return same;
  }
  // As PyTorch's IntArrayRef: [2, 3].
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                      const List& list) {
    for (uint32_t i = 0; i < list.size_; ++i) out << (i == 0 ? "[" : ", ") << list[i];
    return out << (list.empty() ? "[]" : "]");
  }

 private:
  static constexpr uint32_t kFew = 6;

  size_t from_end(int64_t i) const {
    if (i >= 0 || i < -int64_t(size_)) {
      fail(detail::joined(
          {"index ", std::to_string(i), " is out of range for a list of ", std::to_string(size_)}));
    }
    return size_t(i + size_);
  }
  void keep(const T* data, size_t size) {
    size_ = uint32_t(size);
    T* to = few_;
    if (size > kFew) [[unlikely]] {
      list_ = to = new T[size];
      on_heap_ = true;
    }
    for (size_t i = 0; i < size; ++i) to[i] = data[i];
  }
  void take(const List& other) {
    if (!other.list_ || other.on_heap_) {
      keep(other.data(), other.size_);
    } else {
      list_ = other.list_;
    }
  }
  void drop() {
    if (on_heap_) [[unlikely]]
      delete[] list_;
    list_ = nullptr;
    on_heap_ = false;
  }

  const T* list_ = nullptr;  // null: the elements are in few_
  uint32_t size_ = 0;
  bool on_heap_ = false;
  T few_[kFew];
};
using Ints = List<int64_t>;
using Floats = List<double>;

// A list that borrows nothing, as a member of options: it takes what List takes.
template <typename T>
class Kept : public List<T> {
 public:
  Kept() = default;
  template <typename... N>
  requires(sizeof...(N) > 0 && (detail::NumberFor<N, T> && ...)) Kept(N... numbers)
      : List<T>(numbers...) {}
  template <typename L>
  requires(std::is_convertible_v<L, List<T>> && !std::is_base_of_v<Kept, std::remove_cvref_t<L>> &&
           !std::is_arithmetic_v<std::remove_cvref_t<L>>) Kept(L&& list)
      : List<T>(List<T>(std::forward<L>(list)).kept()) {}
};
using KeptInts = Kept<int64_t>;
using KeptFloats = Kept<double>;

// A text for the length of a call: a literal, or a std::string, which it borrows.
class TextRef {
 public:
  TextRef(const char* text) noexcept
      : text_(text), size_(uint32_t(std::char_traits<char>::length(text))) {}
  TextRef(const std::string& text) noexcept : text_(text.c_str()), size_(uint32_t(text.size())) {}

  const char* c_str() const { return text_; }  // ends with a NUL
  uint32_t size() const { return size_; }

 private:
  const char* text_;
  uint32_t size_;
};

// A list of ints, or a word that stands for one: .padding = {1, 2}, .padding = "same". Borrows
// nothing.
class IntsOrText {
 public:
  IntsOrText() = default;
  template <typename... N>
  requires(sizeof...(N) > 0 && (detail::WholeNumber<N> && ...)) IntsOrText(N... numbers)
      : ints_(numbers...) {}
  template <typename L>
  requires(std::is_convertible_v<L, KeptInts> &&
           !std::is_base_of_v<IntsOrText, std::remove_cvref_t<L>> &&
           !std::is_arithmetic_v<std::remove_cvref_t<L>>) IntsOrText(L&& list)
      : ints_(std::forward<L>(list)) {}
  IntsOrText(const char* text) : text_(text), is_text_(true) {}
  IntsOrText(std::string text) : text_(std::move(text)), is_text_(true) {}

  bool is_text() const { return is_text_; }
  const std::string& text() const { return text_; }
  const Ints& ints() const { return ints_; }

 private:
  KeptInts ints_;
  std::string text_;
  bool is_text_ = false;
};

namespace detail {

// As TN_I_CAST converts (abi.h), where C++ leaves it open what an integer gets.
template <typename T>
T from_float(double value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (std::is_same_v<T, uint64_t> && value >= 0x1p63 && value < 0x1p64) return T(value);
    return T(value >= -0x1p63 && value < 0x1p63 ? int64_t(value) : INT64_MIN);
  } else {
    return T(value);
  }
}

// Element i of packed elements of `dtype`.
template <typename T>
T element(const void* elements, int64_t i, Dtype dtype) {
  if (!dtype_table::is_known(dtype.value))
    fail("elements of this dtype cannot be read", TN_UNSUPPORTED);
  return dtype_table::visit(dtype.value, [&]<typename Tag>(Tag) {
    // Any byte but 0 is true, which no bool of C++ may hold.
    using Stored = std::conditional_t<Tag::dtype == TN_BOOL, uint8_t, typename Tag::Element>;
    Stored value;
    std::memcpy(&value, static_cast<const char*>(elements) + i * int64_t(sizeof(value)),
                sizeof(value));
    if constexpr (std::is_integral_v<Stored>) {
      return T(value);
    } else {
      return from_float<T>(value);
    }
  });
}

// The shortest text that says the number.
inline std::string number_text(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

// "[2, 3]"
inline std::string sizes_text(const Ints& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return joined({"[", text, "]"});
}

// Refuses a finite element whose nearest float is infinite.
inline void expect_float_holds(const void* element_at, Dtype dtype) {
  const auto value = element<double>(element_at, 0, dtype);
  if (!std::isfinite(value) || std::isfinite(float(value))) return;
  fail(joined({"item: the element is ", number_text(value), " (", dtype.name(),
               "), which is beyond float"}));
}

// Refuses an element that the whole numbers of so many bits do not hold, its fraction left aside.
inline void expect_holds(const void* element_at, Dtype dtype, int bits, bool is_signed) {
  const int digits = is_signed ? bits - 1 : bits;
  const double end = std::ldexp(1.0, digits), least = is_signed ? -end : 0.0;
  std::string found;
  if (dtype.is_float()) {
    const auto value = element<double>(element_at, 0, dtype);
    if (std::trunc(value) >= least && value < end) return;
    found = number_text(value);
  } else {
    const auto value = element<int64_t>(element_at, 0, dtype);
    const int64_t above = digits < 63 ? value >> digits : 0;  // 0, or of a negative number -1
    if (above == 0 && (is_signed || value >= 0)) return;
    if (above == -1 && is_signed) return;
    found = std::to_string(value);
  }
  fail(joined({"item: the element is ", found, " (", dtype.name(), "), which is no ",
               is_signed ? "int" : "uint", std::to_string(bits)}));
}

}  // namespace detail

}  // namespace v0
}  // namespace tenon
