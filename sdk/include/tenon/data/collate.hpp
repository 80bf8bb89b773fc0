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

#include "tenon/autograd.hpp"
#include "tenon/fields.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/shape.hpp"
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

// Whether what is made of `t` here has a gradient, so that ops have to make it.
inline bool has_history(const Tensor& t) { return t.requires_grad() && grad_enabled(); }

// `t`, or its copy on the cpu, through which gradients flow.
inline Tensor with_history_on_host(const Tensor& t) {
  return t.device().is_cpu() ? t : t.to(Device());
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

// Refuses a tensor that is not of the first one's size and dtype.
inline void expect_like_first(size_t i, const Tensor& given, const Tensor& first) {
  if (given.sizes() == first.sizes() && given.dtype() == first.dtype()) return;
  throw Misfit(i,
               tenon::detail::joined({"it is ", shown(given), ", the first of its batch is ",
                                      shown(first), "; give a collate function for such samples"}));
}

// [n, ...] of at(0) to at(n - 1), which are of one size and dtype. Gradients flow back to those that
// require them.
template <typename At>
Tensor stacked(size_t n, At at) {
  bool has_gradients = false;
  for (size_t i = 0; i < n; ++i) {
    const Tensor& given = at(i);
    if (!given.defined()) throw Misfit(i, "its tensor is None, expected a tensor");
    has_gradients |= has_history(given);
  }
  if (has_gradients) {
    std::vector<Tensor> list;
    for (size_t i = 0; i < n; ++i) {
      list.push_back(with_history_on_host(at(i)));
      expect_like_first(i, list[i], list[0]);
    }
    return stack(list, 0);
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
    expect_like_first(i, given, first);
    const Tensor item = on_host(given);
    if (bytes > 0) std::memcpy(static_cast<char*>(data) + i * bytes, item.get()->data, bytes);
  }
  return out;
}

template <typename T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

// A std::map or std::unordered_map of values V, and the same of others.
template <typename M>
struct MapOf {
  static constexpr bool kIs = false;
};
template <template <typename...> class M, typename K, typename V, typename... Rest>
requires std::is_same_v<typename M<K, V, Rest...>::mapped_type, V>
struct MapOf<M<K, V, Rest...>> {
  static constexpr bool kIs = std::is_same_v<M<K, V, Rest...>, M<K, V>>;
  template <typename Other>
  using With = M<K, Other>;
};

// A struct whose fields can be named; all other classes stay what they are.
template <typename Sample>
constexpr bool is_struct() {
  constexpr size_t count = tenon::detail::n_fields<Sample>();
  return !TupleLike<Sample> && count > 0 && count <= tenon::detail::kMostFields;
}

// Of a number: its own type where tensors have that and it is short, int64 for other integers.
template <typename T>
using ElementOf = std::conditional_t<std::is_same_v<T, bool> || std::is_same_v<T, int8_t> ||
                                         std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t> ||
                                         std::is_same_v<T, float>,
                                     T, std::conditional_t<std::is_integral_v<T>, int64_t, double>>;

template <typename Sample, typename At>
auto collated(size_t n, At at);

// `of(index)`: the batch of the field with this index. The types are named: deduced ones would take a
// batch that is a tuple itself for the whole.
template <typename Sample, typename Of, size_t... I>
auto collate_tuple(Of of, std::index_sequence<I...>) {
  if constexpr (requires { typename Sample::first_type; }) {
    return std::pair<decltype(of(std::integral_constant<size_t, I>()))...>{
        of(std::integral_constant<size_t, I>())...};
  } else if constexpr (requires { typename Sample::value_type; }) {  // an array
    using Batch = std::common_type_t<decltype(of(std::integral_constant<size_t, I>()))...>;
    return std::array<Batch, sizeof...(I)>{of(std::integral_constant<size_t, I>())...};
  } else {
    return std::tuple<decltype(of(std::integral_constant<size_t, I>()))...>{
        of(std::integral_constant<size_t, I>())...};
  }
}

// A struct of the same kind where the batch of each field has the field's type, as that of a tensor
// has; else a tuple: a batch of numbers is a tensor.
template <typename Sample, typename Fields, typename Of, size_t... I>
auto collate_struct(Of of, std::index_sequence<I...>) {
  using Batch = std::tuple<decltype(of(std::integral_constant<size_t, I>()))...>;
  Batch batch{of(std::integral_constant<size_t, I>())...};
  if constexpr ((std::is_same_v<std::remove_cvref_t<std::tuple_element_t<I, Fields>>,
                                std::tuple_element_t<I, Batch>> &&
                 ...)) {
    return Sample{std::get<I>(std::move(batch))...};
  } else {
    return batch;
  }
}

template <typename At>
std::vector<Tensor> collate_list(size_t n, At at) {
  const size_t fields = at(0).size();
  for (size_t i = 0; i < n; ++i) {
    if (at(i).size() == fields) continue;
    throw Misfit(
        i, tenon::detail::joined({"it has ", std::to_string(at(i).size()),
                                  " tensors, the first of its batch ", std::to_string(fields)}));
  }
  std::vector<Tensor> batch;
  for (size_t field = 0; field < fields; ++field)
    batch.push_back(stacked(n, [&](size_t i) -> const Tensor& { return at(i)[field]; }));
  return batch;
}

// "['a', 'b']"
template <typename Map>
std::string keys_text(const Map& map) {
  std::string text;
  for (const auto& [key, value] : map) {
    if (!text.empty()) text += ", ";
    if constexpr (std::is_convertible_v<decltype(key), std::string>) {
      text += tenon::detail::joined({"'", std::string(key), "'"});
    } else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(key)>>) {
      text += std::to_string(key);
    } else {
      text += "?";
    }
  }
  return tenon::detail::joined({"[", text, "]"});
}

template <typename Map, typename At>
auto collate_map(size_t n, At at) {
  using Value = typename Map::mapped_type;
  for (size_t i = 0; i < n; ++i) {
    const Map& sample = at(i);
    bool fits = sample.size() == at(0).size();
    for (const auto& [key, value] : at(0)) fits = fits && sample.count(key) != 0;
    if (fits) continue;
    throw Misfit(
        i, tenon::detail::joined({"its keys are ", keys_text(sample),
                                  ", those of the first of its batch are ", keys_text(at(0))}));
  }
  const auto of = [&](const auto& key) {
    return collated<Value>(n, [&](size_t i) -> const Value& { return at(i).find(key)->second; });
  };
  typename MapOf<Map>::template With<decltype(of(at(0).begin()->first))> batch;
  if (n == 0) return batch;
  for (const auto& [key, value] : at(0)) batch.emplace(key, of(key));
  return batch;
}

// The batch of at(0) to at(n - 1), as default_collate says.
template <typename Sample, typename At>
auto collated(size_t n, At at) {
  if constexpr (std::is_base_of_v<Tensor, Sample>) {  // x[0], too
    return stacked(n, at);
  } else if constexpr (std::is_arithmetic_v<Sample>) {
    using Element = ElementOf<Sample>;
    Tensor out = Tensor::empty({int64_t(n)}, dtype_of<Element>());
    auto* to = out.mutable_data<Element>();
    for (size_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<Element, int64_t>) {
        if (!std::in_range<int64_t>(+at(i)))
          throw Misfit(i, tenon::detail::joined({std::to_string(+at(i)), " is no int64"}));
      }
      to[i] = static_cast<Element>(at(i));
    }
    return out;
  } else if constexpr (TupleLike<Sample>) {
    const auto of = [&](auto index) {
      using Field = std::tuple_element_t<decltype(index)::value, Sample>;
      return collated<Field>(
          n, [&](size_t i) -> const Field& { return std::get<decltype(index)::value>(at(i)); });
    };
    return collate_tuple<Sample>(of, std::make_index_sequence<std::tuple_size_v<Sample>>());
  } else if constexpr (MapOf<Sample>::kIs) {
    return collate_map<Sample>(n, at);
  } else if constexpr (std::is_same_v<Sample, std::vector<Tensor>>) {
    return collate_list(n, at);
  } else if constexpr (is_struct<Sample>()) {
    using Fields = decltype(tenon::detail::fields_of(at(0)));
    const auto of = [&](auto index) {
      using Field = std::remove_cvref_t<std::tuple_element_t<decltype(index)::value, Fields>>;
      return collated<Field>(n, [&](size_t i) -> const Field& {
        return std::get<decltype(index)::value>(tenon::detail::fields_of(at(i)));
      });
    };
    return collate_struct<Sample, Fields>(
        of, std::make_index_sequence<tenon::detail::n_fields<Sample>()>());
  } else {
    std::vector<Sample> list;
    for (size_t i = 0; i < n; ++i) list.push_back(at(i));
    return list;
  }
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
  } else if constexpr (MapOf<T>::kIs) {
    for (auto& [key, value] : batch) each_tensor(value, f);
  } else if constexpr (tenon::detail::n_fields<T>() > 0) {
    std::apply([&](auto&... field) { (each_tensor(field, f), ...); },
               tenon::detail::fields_of(batch));
  }
}

// The batch of a loader whose workers are other threads: refuses a tensor whose history a worker has
// recorded, as PyTorch's workers do.
template <typename T>
void expect_leaves(T& batch, int64_t num_workers) {
  if (num_workers == 0) return;
  each_tensor(batch, [](Tensor& t) {
    if (!t.defined() || !t.requires_grad() || t.is_leaf()) return;
    fail(
        "a tensor of the batch requires a gradient, and workers give no history; detach() what the "
        "dataset has, or make the batches with num_workers = 0");
  });
}

}  // namespace detail

// Of at least one sample. The batch of tensors is one tensor, stacked along a new first dimension; of
// numbers a tensor [n] of their dtype, of ints one of int64. Of tuples, pairs, arrays, maps (std::map
// and std::unordered_map, all with the keys of the first), vectors of Tensors and structs of 1 to 16
// fields, without a base class and without arrays of C, it is of the same kind and has the batch of
// each field, however deep they are nested; but that of a struct with other fields than tensors is a
// tuple. Of what is none of these (a string) it is a vector. Gradients flow back to tensors that
// require them.
template <typename Sample>
auto default_collate(const std::vector<Sample>& samples) {
  if (samples.empty()) fail("default_collate: there are no samples, expected at least one");
  // Of a vector<bool> an element is no reference.
  return detail::collated<Sample>(
      samples.size(),
      [&](size_t i) -> typename std::vector<Sample>::const_reference { return samples[i]; });
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
