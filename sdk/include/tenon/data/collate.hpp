// A batch of samples: each tensor of them stacked along a new dimension 0, as PyTorch's
// default_collate does it. Also what moves a batch to a device. Used by loader.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/fields.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {
namespace detail {

// `t` row-major on the cpu.
inline Tensor on_host(const Tensor& t) {
  if (t.device().is_cpu() && t.is_contiguous()) return t;
  Tensor copy = Tensor::empty(t.sizes(), t.dtype());
  void* to = nullptr;
  check(tenon::detail::api.tensor->mutable_data(copy.get(), &to));
  check(tenon::detail::api.tensor->read(t.get(), to, uint64_t(t.numel() * t.dtype().itemsize())));
  return copy;
}

inline std::string shown(const Tensor& t) {
  std::string text = t.dtype().name();
  text += " [";
  for (size_t i = 0; i < t.sizes().size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(t.sizes()[i]);
  }
  return text + "]";
}

// A sample that does not fit the first of its batch.
struct Misfit : Error {
  Misfit(size_t at, const std::string& what) : Error(what), place(at) {}
  size_t place;  // in the batch
};

// [n, ...] of at(0) to at(n - 1), which are of one size and dtype.
template <typename At>
Tensor stacked(size_t n, At at) {
  for (size_t i = 0; i < n; ++i) {
    if (!at(i).defined()) throw Misfit(i, "its tensor is None, expected a tensor");
  }
  const Tensor first = on_host(at(0));
  std::vector<int64_t> sizes(first.sizes().begin(), first.sizes().end());
  sizes.insert(sizes.begin(), int64_t(n));
  Tensor out = Tensor::empty(sizes, first.dtype());
  void* data = nullptr;
  check(tenon::detail::api.tensor->mutable_data(out.get(), &data));
  const auto bytes = size_t(first.numel() * first.dtype().itemsize());
  for (size_t i = 0; i < n; ++i) {
    const Tensor& given = at(i);
    if (given.sizes() != first.sizes() || given.dtype() != first.dtype()) {
      throw Misfit(
          i, tenon::detail::joined({"it is ", shown(given), ", the first of its batch is ",
                                    shown(first), "; give a collate function for such samples"}));
    }
    const Tensor item = on_host(given);
    if (bytes > 0) std::memcpy(static_cast<char*>(data) + i * bytes, item.get()->data, bytes);
  }
  return out;
}

// One field of all samples: tensors are stacked, numbers become a tensor [n] of their dtype, but an
// int one of int64, as labels are; all else a vector.
template <typename Field, typename At>
auto column(size_t n, At at) {
  if constexpr (std::is_base_of_v<Tensor, Field>) {  // x[0], too
    return stacked(n, at);
  } else if constexpr (std::is_arithmetic_v<Field>) {
    constexpr bool is_whole = std::is_integral_v<Field> && sizeof(Field) >= 4;
    using Element = std::conditional_t<is_whole, int64_t, Field>;
    Tensor out = Tensor::empty({int64_t(n)}, dtype_of<Element>());
    auto* to = out.mutable_data<Element>();
    for (size_t i = 0; i < n; ++i) to[i] = static_cast<Element>(at(i));
    return out;
  } else {
    std::vector<Field> list;
    for (size_t i = 0; i < n; ++i) list.push_back(at(i));
    return list;
  }
}

template <typename T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

template <typename Sample, size_t... I>
auto collate_tuple(const std::vector<Sample>& samples, std::index_sequence<I...>) {
  const auto of = [&](auto index) {
    using Field = std::tuple_element_t<decltype(index)::value, Sample>;
    return column<Field>(samples.size(), [&](size_t i) -> const Field& {
      return std::get<decltype(index)::value>(samples[i]);
    });
  };
  if constexpr (requires { typename Sample::first_type; }) {
    return std::pair{of(std::integral_constant<size_t, I>())...};
  } else if constexpr (requires { typename Sample::value_type; }) {  // an array
    return std::array{of(std::integral_constant<size_t, I>())...};
  } else {
    return std::tuple{of(std::integral_constant<size_t, I>())...};
  }
}

// Of tensors alone a struct of the same kind, else a tuple: a batch of numbers is a tensor.
template <typename Sample, size_t... I>
auto collate_struct(const std::vector<Sample>& samples, std::index_sequence<I...>) {
  using Fields = decltype(tenon::detail::fields_of(samples[0]));
  const auto of = [&](auto index) {
    using Field = std::remove_cvref_t<std::tuple_element_t<decltype(index)::value, Fields>>;
    return column<Field>(samples.size(), [&](size_t i) -> const Field& {
      return std::get<decltype(index)::value>(tenon::detail::fields_of(samples[i]));
    });
  };
  if constexpr ((std::is_same_v<std::tuple_element_t<I, Fields>, const Tensor&> && ...)) {
    return Sample{of(std::integral_constant<size_t, I>())...};
  } else {
    return std::tuple{of(std::integral_constant<size_t, I>())...};
  }
}

inline std::vector<Tensor> collate_list(const std::vector<std::vector<Tensor>>& samples) {
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].size() == samples[0].size()) continue;
    throw Misfit(i, tenon::detail::joined({"it has ", std::to_string(samples[i].size()),
                                           " tensors, the first of its batch ",
                                           std::to_string(samples[0].size())}));
  }
  std::vector<Tensor> batch;
  for (size_t field = 0; field < samples[0].size(); ++field)
    batch.push_back(
        stacked(samples.size(), [&](size_t i) -> const Tensor& { return samples[i][field]; }));
  return batch;
}

// f(Tensor&) of each tensor in a batch as default_collate makes it; of others none.
template <typename T, typename F>
void each_tensor(T& batch, F f) {
  if constexpr (std::is_same_v<T, Tensor>) {
    f(batch);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](auto&... field) { (each_tensor(field, f), ...); }, batch);
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    for (Tensor& t : batch) f(t);
  } else if constexpr (tenon::detail::n_fields<T>() > 0) {
    std::apply([&](auto&... field) { (each_tensor(field, f), ...); },
               tenon::detail::fields_of(batch));
  }
}

}  // namespace detail

// Of at least one sample. A sample is a Tensor, a tuple, pair or array, a vector of Tensors, or a
// struct of 1 to 16 fields, and the batch is of the same kind. Numbers become tensors [n] of
// their dtype, ints of int64, and what is none of all these (a string) a vector; so in tuples and structs, too. The
// batch of a struct that has such fields is a tuple.
template <typename Sample>
auto default_collate(const std::vector<Sample>& samples) {
  if constexpr (detail::TupleLike<Sample>) {
    return detail::collate_tuple(samples, std::make_index_sequence<std::tuple_size_v<Sample>>());
  } else if constexpr (std::is_base_of_v<Tensor, Sample> || std::is_arithmetic_v<Sample>) {
    // Of a vector<bool> an element is no reference.
    return detail::column<Sample>(
        samples.size(),
        [&](size_t i) -> typename std::vector<Sample>::const_reference { return samples[i]; });
  } else if constexpr (std::is_same_v<Sample, std::vector<Tensor>>) {
    return detail::collate_list(samples);
  } else if constexpr (tenon::detail::n_fields<Sample>() == 0) {
    return samples;
  } else {
    return detail::collate_struct(samples,
                                  std::make_index_sequence<tenon::detail::n_fields<Sample>()>());
  }
}

// What a loader collates with where nothing else is given.
struct DefaultCollate {
  template <typename Sample>
  auto operator()(const std::vector<Sample>& samples) const {
    return default_collate(samples);
  }
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
