// Data for training: tables read from CSV by the plugin `files`, and batches of them in a shuffled
// order. Tensors here are on the cpu; what goes to another device is up to the loop: `for (auto [x,
// y] : DataLoader(csv("digits.csv"), {.batch_size = 64}))`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/object.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// Items by their index along dimension 0: x [n, ...] and y [n, ...].
struct Dataset {
  Tensor x, y;

  int64_t size() const { return x.size(0); }
  // The items at `indices`, copied.
  Dataset at(const std::vector<int64_t>& indices) const;
  // {the rest, the items 0, every, 2 * every, ...}: a training set and a test set.
  std::pair<Dataset, Dataset> hold_out(int64_t every) const;
};

struct CsvOptions {
  int64_t label = -1;   // the column of y; from the end where negative
  double scale = 1;     // of the other columns
  bool header = false;  // the first line holds names
};

// x: float32 [lines, columns - 1], y: int64 [lines]. Errors name file and line.
inline Dataset csv(const std::string& path, const CsvOptions& options = {}) {
  const Object file = Object::create("CsvFile", path, options.header);
  return {file.invoke("features", options.label, options.scale),
          file.invoke("labels", options.label)};
}

struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;             // leave out a last batch that is not full
  std::optional<uint64_t> seed = {};  // of the order; absent: the seed of tenon's random numbers
};

// Batches as pairs [x, y]. Each pass (range-for) is an epoch with an order of its own, which seed
// and number of the epoch decide. One pass at a time; not thread-safe.
class DataLoader {
 public:
  DataLoader(const Dataset& dataset, const LoaderOptions& options = {});

  int64_t size() const {  // batches in a pass
    const int64_t n = dataset_.size(), b = options_.batch_size;
    return options_.drop_last ? n / b : (n + b - 1) / b;
  }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::pair<Tensor, Tensor>;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = value_type;

    iterator() = default;
    iterator(const DataLoader* loader, int64_t batch) : loader_(loader), batch_(batch) {}
    value_type operator*() const { return loader_->batch(batch_); }
    iterator& operator++() {
      ++batch_;
      return *this;
    }
    iterator operator++(int) { return std::exchange(*this, iterator(loader_, batch_ + 1)); }
    bool operator==(const iterator& other) const { return batch_ == other.batch_; }

   private:
    const DataLoader* loader_ = nullptr;
    int64_t batch_ = 0;
  };
  iterator begin() {
    if (options_.shuffle) shuffle();
    return {this, 0};
  }
  iterator end() const { return {this, size()}; }

 private:
  std::pair<Tensor, Tensor> batch(int64_t i) const;
  void shuffle();

  Dataset dataset_;
  LoaderOptions options_;
  std::vector<int64_t> order_;
  uint64_t epoch_ = 0;
};

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

// Rows of a row-major cpu tensor.
inline Tensor rows(const Tensor& t, const int64_t* indices, int64_t n) {
  std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
  const int64_t total = sizes[0];
  const int64_t row = total == 0 ? 0 : t.numel() / total * t.dtype().itemsize();
  sizes[0] = n;
  Tensor out = Tensor::empty(sizes, t.dtype());
  void* data = nullptr;
  check(tenon::detail::api.tensor->mutable_data(out.get(), &data));
  auto* to = static_cast<char*>(data);
  const auto* from = static_cast<const char*>(t.get()->data);
  for (int64_t i = 0; i < n; ++i) {
    if (indices[i] < 0 || indices[i] >= total) {
      fail(tenon::detail::joined(
          {"data: item ", std::to_string(indices[i]), " of ", std::to_string(total)}));
    }
    if (row > 0) std::memcpy(to + i * row, from + indices[i] * row, size_t(row));
  }
  return out;
}

// SplitMix64 (Steele, Lea, Flood 2014): the same order on every machine and standard library.
inline uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

inline Dataset checked(const Dataset& d) {
  if (!d.x.defined() || !d.y.defined() || d.x.dim() == 0 || d.y.dim() == 0 ||
      d.x.size(0) != d.y.size(0)) {
    fail("data: x and y need one item each along their first dimension");
  }
  return {on_host(d.x), on_host(d.y)};
}

}  // namespace detail

inline Dataset Dataset::at(const std::vector<int64_t>& indices) const {
  const Dataset host = detail::checked(*this);
  const auto n = int64_t(indices.size());
  return {detail::rows(host.x, indices.data(), n), detail::rows(host.y, indices.data(), n)};
}

inline std::pair<Dataset, Dataset> Dataset::hold_out(int64_t every) const {
  if (every < 2) {
    fail(tenon::detail::joined(
        {"hold_out: every ", std::to_string(every), "th item, expected at least 2"}));
  }
  std::vector<int64_t> rest, held;
  for (int64_t i = 0; i < size(); ++i) (i % every == 0 ? held : rest).push_back(i);
  return {at(rest), at(held)};
}

inline DataLoader::DataLoader(const Dataset& dataset, const LoaderOptions& options)
    : dataset_(detail::checked(dataset)), options_(options), order_(size_t(dataset.size())) {
  if (options.batch_size < 1) {
    fail(tenon::detail::joined({"DataLoader: batch_size is ", std::to_string(options.batch_size),
                                ", expected at least 1"}));
  }
  std::iota(order_.begin(), order_.end(), int64_t{0});
}

inline std::pair<Tensor, Tensor> DataLoader::batch(int64_t i) const {
  const int64_t first = i * options_.batch_size;
  const int64_t n = std::min(options_.batch_size, dataset_.size() - first);
  const int64_t* indices = order_.data() + first;
  return {detail::rows(dataset_.x, indices, n), detail::rows(dataset_.y, indices, n)};
}

inline void DataLoader::shuffle() {
  uint64_t state = options_.seed.value_or(random_state().seed);
  state = detail::next_random(state) + epoch_++;
  std::iota(order_.begin(), order_.end(), int64_t{0});
  for (size_t i = order_.size(); i > 1; --i) {  // Fisher and Yates; the bias of % is below 2^-40
    std::swap(order_[i - 1], order_[detail::next_random(state) % i]);
  }
}

}  // namespace data
}  // namespace v0
}  // namespace tenon
