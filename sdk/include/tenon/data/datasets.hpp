// Datasets to make others of: tensors side by side, parts, joins, functions over samples. For
// applications; sample.hpp says what a dataset is.
//
//   data::TensorDataset all(images, depths, weights);
//   auto [train, test] = data::random_split(all, {0.9, 0.1}, /*seed=*/0);
//   auto noisy = data::map(train, [](auto sample, data::Random& random) { ...; return sample; });
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/data.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// N tensors of any device and layout, with as many items each along dimension 0. Batches are on the
// cpu; gradients flow back from them to tensors that require them, but not from those of workers, which
// are refused.
// for (auto [a, b, c] : DataLoader(TensorDataset(a, b, c), ...)).
template <size_t N>
class TensorDataset {
 public:
  template <typename... T>
  explicit TensorDataset(const T&... tensors) : tensors_{tensors...} {
    static_assert(sizeof...(T) == N && N > 0 && (std::is_same_v<T, Tensor> && ...));
    for (size_t i = 0; i < N; ++i) {
      if (!tensors_[i].defined() || tensors_[i].dim() == 0) {
        fail(tenon::detail::joined(
            {"TensorDataset: tensor ", std::to_string(i), " has no dimension of items"}));
      }
      if (tensors_[i].size(0) != tensors_[0].size(0)) {
        fail(tenon::detail::joined({"TensorDataset: tensor ", std::to_string(i), " has ",
                                    std::to_string(tensors_[i].size(0)), " items, the first has ",
                                    std::to_string(tensors_[0].size(0))}));
      }
      tensors_[i] = detail::kept(tensors_[i]);
    }
  }

  int64_t size() const { return tensors_[0].size(0); }
  // One item, without the dimension of items.
  std::array<Tensor, N> get(int64_t index) const {
    std::array<Tensor, N> item;
    for (size_t i = 0; i < N; ++i)
      item[i] = detail::single_of(detail::rows("TensorDataset", tensors_[i], {index}));
    return item;
  }
  std::array<Tensor, N> operator[](int64_t index) const { return get(index); }
  std::array<Tensor, N> get_batch(const std::vector<int64_t>& indices) const {
    std::array<Tensor, N> batch;
    for (size_t i = 0; i < N; ++i) batch[i] = detail::rows("TensorDataset", tensors_[i], indices);
    return batch;
  }

 private:
  std::array<Tensor, N> tensors_;
};
template <typename... T>
TensorDataset(const T&...) -> TensorDataset<sizeof...(T)>;

namespace detail {

// What datasets that are made of another one have of it.
template <typename D>
class Wrapper {
 public:
  explicit Wrapper(std::shared_ptr<const D> dataset) : base_(std::move(dataset)) {}
  explicit Wrapper(D dataset) : base_(std::make_shared<const D>(std::move(dataset))) {}
  const D& base() const { return *base_; }

 protected:
  std::shared_ptr<const D> base_;
};

}  // namespace detail

// The items at `indices` of another dataset, which several parts share.
template <typename D>
class Subset : public detail::Wrapper<D> {
 public:
  Subset(D dataset, std::vector<int64_t> indices)
      : Subset(std::make_shared<const D>(std::move(dataset)), std::move(indices)) {}
  Subset(std::shared_ptr<const D> dataset, std::vector<int64_t> indices)
      : detail::Wrapper<D>(std::move(dataset)), indices_(std::move(indices)) {
    for (int64_t index : indices_) detail::expect_index("Subset", index, this->base().size());
  }

  int64_t size() const { return int64_t(indices_.size()); }
  const std::vector<int64_t>& indices() const { return indices_; }
  auto operator[](int64_t index) const { return detail::item_of(*this, index); }
  auto get(int64_t index, Random& random) const requires(!detail::kGetsBatches<D>) {
    detail::expect_index("Subset", index, size());
    return detail::sample_of(this->base(), indices_[size_t(index)], random);
  }
  auto get_batch(const std::vector<int64_t>& places) const requires(detail::kGetsBatches<D>) {
    std::vector<int64_t> indices;
    for (int64_t place : places) {
      detail::expect_index("Subset", place, size());
      indices.push_back(indices_[size_t(place)]);
    }
    return this->base().get_batch(indices);
  }

 private:
  std::vector<int64_t> indices_;
};

namespace detail {
template <typename D, size_t N>
std::array<Subset<D>, N> split_of(const std::shared_ptr<const D>& shared,
                                  const std::array<int64_t, N>& sizes, uint64_t seed) {
  std::vector<int64_t> order = detail::first_integers(shared->size());
  Random::of_pass(seed, 0).shuffle(order);
  auto next = order.begin();
  const auto part = [&](size_t i) {
    std::vector<int64_t> own(next, next + sizes[i]);
    next += sizes[i];
    return Subset<D>(shared, std::move(own));
  };
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::array<Subset<D>, N>{part(I)...};
  }
  (std::make_index_sequence<N>());
}
}  // namespace detail

// Parts of these fractions, which together are at most 1, of the items in random order. Of the
// sizes floor(n * fraction) what is left goes to the first parts, where the sum is 1. Without a seed
// that of tenon's random numbers counts.
template <typename D, size_t N>
std::array<Subset<D>, N> random_split(D dataset, const double (&fractions)[N],
                                      std::optional<uint64_t> seed = {}) {
  const auto shared = std::make_shared<const D>(std::move(dataset));
  const int64_t n = shared->size();
  double sum = 0;
  int64_t left = n;
  std::array<int64_t, N> sizes;
  for (size_t i = 0; i < N; ++i) {
    if (!(fractions[i] >= 0)) {
      fail(tenon::detail::joined({"random_split: fraction ", std::to_string(i), " is ",
                                  tenon::detail::number_text(fractions[i]),
                                  ", expected at least 0"}));
    }
    sum += fractions[i];
    sizes[i] = int64_t(std::floor(double(n) * fractions[i]));
    left -= sizes[i];
  }
  if (sum > 1 + 1e-9) {
    fail(tenon::detail::joined({"random_split: the fractions together are ",
                                tenon::detail::number_text(sum), ", expected at most 1"}));
  }
  if (sum >= 1 - 1e-9) {
    for (size_t i = 0; left > 0; i = (i + 1) % N, --left) ++sizes[i];
  }
  return detail::split_of(shared, sizes, seed.value_or(random_state().seed));
}

// Parts of these sizes, which together are all items, in random order.
template <typename D, size_t N, std::integral I>
std::array<Subset<D>, N> random_split(D dataset, const I (&lengths)[N],
                                      std::optional<uint64_t> seed = {}) {
  const int64_t n = dataset.size();
  std::array<int64_t, N> sizes;
  int64_t sum = 0;
  for (size_t i = 0; i < N; ++i) {
    sizes[i] = int64_t(lengths[i]);
    if (sizes[i] < 0 || sizes[i] > n) {
      fail(
          tenon::detail::joined({"random_split: length ", std::to_string(i), " is ",
                                 std::to_string(sizes[i]), ", expected 0 to ", std::to_string(n)}));
    }
    sum += sizes[i];
  }
  if (sum != n) {
    fail(tenon::detail::joined({"random_split: the lengths together are ", std::to_string(sum),
                                ", the dataset has ", std::to_string(n), " items"}));
  }
  return detail::split_of(std::make_shared<const D>(std::move(dataset)), sizes,
                          seed.value_or(random_state().seed));
}

// The items of the first dataset, then those of the next, and so on. Samples are of one type.
template <typename... D>
class Concat {
 public:
  explicit Concat(D... datasets) : datasets_(std::move(datasets)...) {}
  int64_t size() const {
    return std::apply([](const auto&... d) { return (int64_t(0) + ... + d.size()); }, datasets_);
  }
  auto operator[](int64_t index) const { return detail::item_of(*this, index); }
  auto get(int64_t index, Random& random) const {
    detail::expect_index("Concat", index, size());
    return of_part<0>(index, random);
  }

 private:
  template <size_t I>
  auto of_part(int64_t index, Random& random) const {
    const auto& dataset = std::get<I>(datasets_);
    if constexpr (I + 1 < sizeof...(D)) {
      const int64_t n = dataset.size();
      if (index >= n) return of_part<I + 1>(index - n, random);
    }
    return detail::sample_of(dataset, index, random);
  }
  std::tuple<D...> datasets_;
};
// Its name in PyTorch.
template <typename... D>
class ConcatDataset : public Concat<D...> {
 public:
  using Concat<D...>::Concat;
};
template <typename... D>
ConcatDataset(D...) -> ConcatDataset<D...>;

namespace detail {
// A tuple, pair or array as it is; all else as a tuple of one.
template <typename Sample>
auto fields_of(Sample sample) {
  if constexpr (requires { std::tuple_size<Sample>::value; }) {
    return sample;
  } else {
    return std::tuple<Sample>(std::move(sample));
  }
}
}  // namespace detail

// The samples of several datasets side by side: one tuple with the fields of all, in order. Fields of
// tuples, pairs and arrays are not nested, as they are in PyTorch; a struct is one field. An Error where
// the datasets have different numbers of items.
// for (auto [image, label, text] : DataLoader(StackDataset(images, texts), ...)).
template <typename... D>
class StackDataset {
 public:
  explicit StackDataset(D... datasets) : datasets_(std::move(datasets)...) {
    size_t i = 0;
    std::apply([&](const auto&... d) { (expect_size(i++, d.size(), size()), ...); }, datasets_);
  }
  int64_t size() const { return std::get<0>(datasets_).size(); }
  auto operator[](int64_t index) const { return detail::item_of(*this, index); }
  auto get(int64_t index, Random& random) const {
    detail::expect_index("StackDataset", index, size());
    return std::apply(
        [&](const auto&... d) {
          // Braces: each draws in its turn.
          std::tuple<decltype(detail::sample_of(d, index, random))...> samples{
              detail::sample_of(d, index, random)...};
          return std::apply(
              [](auto&... s) { return std::tuple_cat(detail::fields_of(std::move(s))...); },
              samples);
        },
        datasets_);
  }

 private:
  static void expect_size(size_t i, int64_t size, int64_t first) {
    if (size == first) return;
    fail(tenon::detail::joined({"StackDataset: dataset ", std::to_string(i), " has ",
                                std::to_string(size), " items, the first has ",
                                std::to_string(first)}));
  }
  std::tuple<D...> datasets_;
};

// f(sample, Random&) or f(sample) of each sample; f(batch) where the dataset gives whole batches and f
// draws nothing. Workers call it at the same time.
template <typename D, typename F>
class Mapped : public detail::Wrapper<D> {
  static constexpr bool kDraws = requires(const F& f, const D& dataset, Random& random) {
    f(detail::sample_of(dataset, 0, random), random);
  };
  static constexpr bool kOfBatches = detail::kGetsBatches<D> && !kDraws;

 public:
  Mapped(D dataset, F f) : detail::Wrapper<D>(std::move(dataset)), f_(std::move(f)) {}
  int64_t size() const { return this->base().size(); }
  auto operator[](int64_t index) const { return detail::item_of(*this, index); }
  auto get(int64_t index, Random& random) const requires(!kOfBatches) {
    auto sample = detail::sample_of(this->base(), index, random);
    if constexpr (std::is_invocable_v<const F&, decltype(std::move(sample)), Random&>) {
      return f_(std::move(sample), random);
    } else {
      return f_(std::move(sample));
    }
  }
  auto get_batch(const std::vector<int64_t>& indices) const requires(kOfBatches) {
    return f_(this->base().get_batch(indices));
  }

 private:
  F f_;
};
template <typename D, typename F>
Mapped<D, F> map(D dataset, F f) {
  return {std::move(dataset), std::move(f)};
}

// A function's call for each index from 0 to size - 1: a dataset in one line.
template <typename F>
class Generated {
 public:
  Generated(int64_t size, F f) : size_(size), f_(std::move(f)) {}
  int64_t size() const { return size_; }
  auto operator[](int64_t index) const { return detail::item_of(*this, index); }
  auto get(int64_t index, Random& random) const {
    if constexpr (std::is_invocable_v<const F&, int64_t, Random&>) {
      return f_(index, random);
    } else {
      return f_(index);
    }
  }

 private:
  int64_t size_;
  F f_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
