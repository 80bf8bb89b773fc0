// tensor(...): tensors of the numbers that a program writes, with PyTorch's dtypes. What copies data
// of the program's and keeps its type is Tensor::from.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// What numbers without a dtype become, as in PyTorch: int64 and float32. int8_t, int16_t, uint8_t
// and bool are types that nobody writes by accident: they keep theirs.
template <typename T>
struct DefaultNumber {
  using type =
      std::conditional_t<std::is_floating_point_v<T>, float,
                         std::conditional_t<std::is_integral_v<T> && (sizeof(T) >= 4), int64_t, T>>;
};
// The numbers in the type in which they lie in a tensor.
template <typename T>
using StoredNumber = std::conditional_t<
    std::is_same_v<T, float>, float,
    std::conditional_t<std::is_floating_point_v<T>, double, typename DefaultNumber<T>::type>>;

// A number of uint64_t that int64 does not hold is refused, as by PyTorch.
template <typename T>
void expect_int64(T number) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
    if (number > uint64_t{INT64_MAX}) [[unlikely]]
      fail(joined({"tensor: ", std::to_string(number), " is more than int64 holds"}));
  }
}

// A number of any type: whole ones beyond 2^53 are rounded where it is taken as a fraction.
struct MixedNumber {
  template <typename N>
  requires std::is_arithmetic_v<N> MixedNumber(N number) : value(double(number)) {
    expect_int64(number);
    if constexpr (std::is_integral_v<N>) whole = int64_t(number);
  }
  double value = 0;
  int64_t whole = 0;
};
// What stands in braces where the numbers are not all of one type, or nest deeper than three times:
// a number, or such in braces.
class BracedNumber {
 public:
  template <typename N>
  requires std::is_arithmetic_v<N> BracedNumber(N number)
      : number_(number), dtype_(dtype_of<typename DefaultNumber<N>::type>()) {}
  BracedNumber(std::initializer_list<BracedNumber> list) : number_(0), list_(list) {}

  // Of a number its dtype; none: it is a list.
  Dtype dtype() const { return dtype_; }
  const std::vector<BracedNumber>& list() const { return list_; }
  const MixedNumber& number() const { return number_; }

 private:
  MixedNumber number_;
  Dtype dtype_;
  std::vector<BracedNumber> list_;
};

// n numbers as elements of the type To; sizes: as many elements as n.
template <typename To, typename T>
Tensor tensor_of(const T* numbers, size_t n, Ints sizes) {
  Tensor t = Tensor::empty(sizes, dtype_of<To>());
  // Written, and not filled where it lies: a compiled function that makes constants is recorded.
  const To* elements = nullptr;
  std::unique_ptr<To[]> converted;
  if constexpr (std::is_same_v<To, T>) {
    elements = numbers;
  } else {
    converted.reset(new To[n]);
    for (size_t i = 0; i < n; ++i) {
      expect_int64(numbers[i]);
      converted[i] = static_cast<To>(numbers[i]);
    }
    elements = converted.get();
  }
  check(api.tensor->write(t.get(), elements, n * sizeof(To)));
  return t;
}
// As PyTorch a literal is refused where a dtype of integers does not hold it, its fraction left
// aside.
[[noreturn, gnu::cold]] inline void refuse_number(const std::string& number, Dtype dtype) {
  const auto [low, high] = dtype_table::int_range(dtype.value);
  fail(joined({"tensor: ", number, " is no ", dtype.name(), ", expected ", std::to_string(low),
               " to ", std::to_string(high)}));
}
template <typename T>
void expect_all_held(const T* numbers, size_t n, Dtype dtype) {
  if (dtype.is_float() || dtype == bool_) return;
  const auto [low, high] = dtype_table::int_range(dtype.value);
  for (size_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      const double whole = std::trunc(double(numbers[i]));
      if (!(whole >= double(low) && whole < double(high) + 1)) [[unlikely]]
        refuse_number(number_text(double(numbers[i])), dtype);
    } else {
      expect_int64(numbers[i]);
      const auto whole = int64_t(numbers[i]);
      if (whole < low || whole > high) [[unlikely]]
        refuse_number(std::to_string(whole), dtype);
    }
  }
}
template <typename T>
Tensor tensor_of(const T* numbers, size_t n, Ints sizes, Dtype dtype, Device device) {
  if (!dtype) {
    Tensor t = tensor_of<typename DefaultNumber<T>::type>(numbers, n, sizes);
    return device.is_cpu() ? t : t.to(device);
  }
  expect_all_held(numbers, n, dtype);
  return tensor_of<StoredNumber<T>>(numbers, n, sizes).to(device, dtype);
}
// What joined_lists appends to. (A std::vector<bool> has no array of bools.)
template <typename T>
class NumberList {
 public:
  template <typename Numbers>
  void append(const Numbers& numbers) {
    std::unique_ptr<T[]> longer(new T[size_ + numbers.size()]);
    std::copy(values_.get(), values_.get() + size_, longer.get());
    std::copy(numbers.begin(), numbers.end(), longer.get() + size_);
    values_ = std::move(longer);
    size_ += numbers.size();
  }
  const T* data() const { return values_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<T[]> values_;
  size_t size_ = 0;
};
template <typename T>
class RowList : public std::vector<std::initializer_list<T>> {
 public:
  void append(std::initializer_list<std::initializer_list<T>> rows) {
    this->insert(this->end(), rows.begin(), rows.end());
  }
};
// The lists of a list, as one: `values` gets them, and what it gives is their common length.
template <typename Values, typename Lists>
size_t joined_lists(const Lists& lists, const char* what, Values* values) {
  const size_t length = lists.size() == 0 ? 0 : lists.begin()->size();
  for (const auto& list : lists) {
    if (list.size() != length) fail(joined({"tensor: ", what, " of different lengths"}));
    values->append(list);
  }
  return length;
}

// Opens the braces one after another: what is in the lists of one level, behind each other.
inline Tensor tensor_of_braces(std::initializer_list<BracedNumber> list, Dtype dtype,
                               Device device) {
  std::vector<BracedNumber> level(list);
  std::vector<int64_t> sizes{int64_t(level.size())};
  while (!level.empty() && !level[0].dtype()) {
    const size_t length = level[0].list().size();
    const bool are_rows = length == 0 || bool(level[0].list()[0].dtype());
    std::vector<BracedNumber> next;
    for (const BracedNumber& one : level) {
      if (one.dtype()) fail("tensor: a number stands beside numbers in braces");
      if (one.list().size() != length)
        fail(joined({"tensor: ", are_rows ? "rows" : "blocks", " of different lengths"}));
      next.insert(next.end(), one.list().begin(), one.list().end());
    }
    level = std::move(next);
    sizes.push_back(int64_t(length));
  }
  // Of one type they have its dtype, else they are fractions, or whole: as in PyTorch.
  Dtype found = level.empty() ? float32 : level[0].dtype();
  for (const BracedNumber& one : level) {
    if (!one.dtype()) fail("tensor: a number stands beside numbers in braces");
    if (one.dtype() != found) found = found.is_float() || one.dtype().is_float() ? float32 : int64;
  }
  // int64 and float32 are made without a conversion, which wants plugins.
  const Dtype given = dtype || found == int64 || found == float32 ? dtype : found;
  if (!found.is_float()) {
    std::vector<int64_t> values;
    for (const BracedNumber& one : level) values.push_back(one.number().whole);
    return tensor_of(values.data(), values.size(), sizes, given, device);
  }
  std::vector<double> values;
  for (const BracedNumber& one : level) values.push_back(one.number().value);
  return tensor_of(values.data(), values.size(), sizes, given, device);
}
template <typename T>
Tensor tensor_of_rows(std::initializer_list<std::initializer_list<T>> rows, Dtype dtype,
                      Device device) {
  NumberList<T> values;
  const size_t columns = joined_lists(rows, "rows", &values);
  const int64_t sizes[] = {int64_t(rows.size()), int64_t(columns)};
  return tensor_of(values.data(), values.size(), {sizes, 2}, dtype, device);
}
template <typename T>
Tensor tensor_of_blocks(
    std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks, Dtype dtype,
    Device device) {
  RowList<T> rows;
  NumberList<T> values;
  const size_t n = joined_lists(blocks, "blocks", &rows);
  const size_t columns = joined_lists(rows, "rows", &values);
  const int64_t sizes[] = {int64_t(blocks.size()), int64_t(n), int64_t(columns)};
  return tensor_of(values.data(), values.size(), {sizes, 3}, dtype, device);
}

}  // namespace detail

namespace detail {
// Numbers side by side, which are neither a vector nor a text.
template <typename L>
concept NumberArray = requires(const L& list) {
  { list.data() } -> std::convertible_to<const typename L::value_type*>;
  { list.size() } -> std::convertible_to<size_t>;
  requires std::is_arithmetic_v<typename L::value_type> &&
      !std::same_as<typename L::value_type, char>;
  requires !std::same_as<L, std::vector<typename L::value_type>>;
};
// What stands behind the numbers: options by name, a dtype or a device.
template <typename O>
concept TensorOption = std::same_as<O, TensorOptions> || std::is_convertible_v<const O&, Dtype> ||
    std::is_convertible_v<const O&, Device>;
template <typename O, typename Make>
Tensor tensor_with(const O& option, Make make) {
  if constexpr (std::same_as<O, TensorOptions>) {
    Tensor made = make(option.dtype, option.device);
    if (option.requires_grad) made.requires_grad_();
    return made;
  } else if constexpr (std::is_convertible_v<const O&, Dtype>) {
    return make(option, Device());
  } else {
    return make(Dtype(), option);
  }
}
}  // namespace detail

// A new tensor of numbers: tensor(3) has no dimensions, tensor({1, 2}) one, tensor({{1, 2}, {3,
// 4}}) two, and so on, and tensor({}) has no elements. As in PyTorch whole numbers are int64,
// fractions float32 and truths bool, whether the program says 1.0 or 1.f, unless a dtype is given:
// tensor({1, 2}, float64), which is an Error where one of integers does not hold a number. What
// keeps the type of its elements is a copy of a vector or array of the program's: tensor(vector),
// Tensor::from. Behind the numbers come a dtype, a device, both, or options by name.
template <typename T>
requires std::is_arithmetic_v<T> Tensor tensor(T number, Dtype dtype, Device device) {
  return detail::tensor_of(&number, 1, {}, dtype, device);
}
template <typename T, detail::TensorOption O = TensorOptions>
requires std::is_arithmetic_v<T> Tensor tensor(T number, const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(number, dtype, device); });
}
template <typename T>
requires std::is_arithmetic_v<T> Tensor tensor(std::initializer_list<T> numbers, Dtype dtype,
                                               Device device) {
  return detail::tensor_of(numbers.begin(), numbers.size(), int64_t(numbers.size()), dtype, device);
}
template <typename T, detail::TensorOption O = TensorOptions>
requires std::is_arithmetic_v<T> Tensor tensor(std::initializer_list<T> numbers,
                                               const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(numbers, dtype, device); });
}
template <typename T>
requires std::is_arithmetic_v<T> Tensor tensor(std::initializer_list<std::initializer_list<T>> rows,
                                               Dtype dtype, Device device) {
  return detail::tensor_of_rows(rows, dtype, device);
}
template <typename T, detail::TensorOption O = TensorOptions>
requires std::is_arithmetic_v<T> Tensor tensor(std::initializer_list<std::initializer_list<T>> rows,
                                               const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(rows, dtype, device); });
}
template <typename T>
requires std::is_arithmetic_v<T> Tensor
tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks, Dtype dtype,
       Device device) {
  return detail::tensor_of_blocks(blocks, dtype, device);
}
template <typename T, detail::TensorOption O = TensorOptions>
requires std::is_arithmetic_v<T> Tensor
tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks,
       const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(blocks, dtype, device); });
}
// Of several types (int64 where all are whole), or of more dimensions: any number of braces, and
// none in them, of which the tensor is float32.
inline Tensor tensor(std::initializer_list<detail::BracedNumber> list, Dtype dtype, Device device) {
  return detail::tensor_of_braces(list, dtype, device);
}
template <detail::TensorOption O = TensorOptions>
Tensor tensor(std::initializer_list<detail::BracedNumber> list, const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(list, dtype, device); });
}
// Of a vector, and of vectors of one length: two dimensions. They keep the type of their elements
// where there is no dtype.
template <typename T>
Tensor tensor(const std::vector<T>& values, Dtype dtype, Device device) {
  return dtype ? Tensor::from(values).to(device, dtype) : Tensor::from(values, -1, device);
}
template <typename T, detail::TensorOption O = TensorOptions>
Tensor tensor(const std::vector<T>& values, const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(values, dtype, device); });
}
// Likewise of a std::array or a std::span of numbers.
template <detail::NumberArray L>
Tensor tensor(const L& values, Dtype dtype, Device device) {
  const std::span<const typename L::value_type> list(values.data(), values.size());
  return dtype ? Tensor::from(list).to(device, dtype) : Tensor::from(list, -1, device);
}
template <detail::NumberArray L, detail::TensorOption O = TensorOptions>
Tensor tensor(const L& values, const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(values, dtype, device); });
}
template <typename T>
Tensor tensor(const std::vector<std::vector<T>>& rows, Dtype dtype, Device device) {
  std::vector<T> values;
  const size_t columns = rows.empty() ? 0 : rows[0].size();
  for (const std::vector<T>& row : rows) {
    if (row.size() != columns) fail("tensor: rows of different lengths");
    values.insert(values.end(), row.begin(), row.end());
  }
  const int64_t sizes[] = {int64_t(rows.size()), int64_t(columns)};
  const Tensor t = Tensor::from(values, {sizes, 2}, dtype ? Device() : device);
  return dtype ? t.to(device, dtype) : t;
}
template <typename T, detail::TensorOption O = TensorOptions>
Tensor tensor(const std::vector<std::vector<T>>& rows, const O& options = {}) {
  return detail::tensor_with(
      options, [&](Dtype dtype, Device device) { return tensor(rows, dtype, device); });
}

}  // namespace v0
}  // namespace tenon
