// Data for training: tables read from CSV by the plugin `files`, and batches of them in a shuffled
// order. Tensors here are on the cpu; what goes to another device is up to the loop: `for (auto [x,
// y] : DataLoader(csv("digits.csv"), {.batch_size = 64}))`. Datasets of other fields and of one's
// own are in data/loader.hpp and data/datasets.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tenon/data/loader.hpp"
#include "tenon/object.hpp"

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
  // The same as a pair [x, y], as a DataLoader gives batches.
  std::pair<Tensor, Tensor> get_batch(const std::vector<int64_t>& indices) const;
};

struct CsvOptions {
  int64_t label = -1;                 // the column of y; from the end where negative
  double scale = 1;                   // of the other columns
  bool header = false;                // the first line holds names
  std::vector<int64_t> targets = {};  // columns of numbers to learn, in the place of the label
};

// x: float32 [lines, columns - 1], y: int64 [lines]; with targets float32 [lines, the others] and
// [lines, targets]. The file may be packed by gzip. Errors name file and line.
inline Dataset csv(const std::string& path, const CsvOptions& options = {}) {
  const Object file = Object::create("CsvFile", path, options.header);
  if (!options.targets.empty()) {
    return {file.invoke("inputs", options.targets, options.scale),
            file.invoke("targets", options.targets)};
  }
  return {file.invoke("features", options.label, options.scale),
          file.invoke("labels", options.label)};
}

struct CifarOptions {
  int64_t classes = 10;  // or 100
  bool coarse = false;   // of CIFAR-100 the 20 coarse classes
};

// The images of a binary file of CIFAR, packed by gzip or not: x uint8 [n, 3, 32, 32], y int64 [n].
inline Dataset cifar(const std::string& path, const CifarOptions& options = {}) {
  const Object file = Object::create("CifarFile", path, options.classes);
  return {file.invoke("images"), file.invoke("labels", options.coarse)};
}

namespace detail {

// Rows of a row-major cpu tensor.
inline Tensor rows(const Tensor& t, const std::vector<int64_t>& indices) {
  const auto n = int64_t(indices.size());
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
    if (indices[size_t(i)] < 0 || indices[size_t(i)] >= total) {
      fail(tenon::detail::joined(
          {"data: item ", std::to_string(indices[size_t(i)]), " of ", std::to_string(total)}));
    }
    if (row > 0) std::memcpy(to + i * row, from + indices[size_t(i)] * row, size_t(row));
  }
  return out;
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
  return {detail::rows(host.x, indices), detail::rows(host.y, indices)};
}

inline std::pair<Tensor, Tensor> Dataset::get_batch(const std::vector<int64_t>& indices) const {
  const Dataset items = at(indices);
  return {items.x, items.y};
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

// DataLoader({x, y}) and DataLoader(csv(file)): pairs [x, y], of tensors of any device and layout.
template <>
inline DataLoader<Dataset>::DataLoader(Dataset dataset, const LoaderOptions& options,
                                       DefaultCollate collate)
    : DataLoader(options, detail::checked(dataset), std::move(collate)) {}
DataLoader(Dataset)->DataLoader<Dataset>;
DataLoader(Dataset, LoaderOptions)->DataLoader<Dataset>;

}  // namespace data
}  // namespace v0
}  // namespace tenon
