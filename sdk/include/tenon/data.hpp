// Data for training: tables read from CSV by the plugin `files`, and batches of them in a shuffled
// order. Tensors here are on the cpu; what goes to another device is up to the loop: `for (auto [x,
// y] : DataLoader(csv("digits.csv"), {.batch_size = 64}))`. Datasets of other fields and of one's
// own are in data/loader.hpp and data/datasets.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
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

// A column of a table: its number from 0, from the end where it is negative, or its name in the
// header.
class Column {
 public:
  template <std::integral I>
  Column(I number) : number_(int64_t(number)) {}
  Column(const char* name) : name_(name) {}
  Column(std::string name) : name_(std::move(name)) {}

  int64_t in(const Object& file) const {
    return name_ ? file.invoke<int64_t>("column", *name_) : number_;
  }

 private:
  int64_t number_ = 0;
  std::optional<std::string> name_;
};

struct CsvOptions {
  Column label = -1;                 // of y
  double scale = 1;                  // of the numbers of x
  bool header = false;               // the first line holds the names of the columns
  std::vector<Column> targets = {};  // numbers to learn, in the place of the label
  std::vector<Column> skip = {};     // not read
  std::vector<Column> one_hot = {};  // of texts: in x a column of 0 and 1 for each text, sorted
  // What stands for an empty field, NA, nan, null or ? among the numbers of x, before the scale.
  std::optional<double> missing = {};
  char separator = ',';
};

namespace detail {

inline std::vector<int64_t> columns_in(const Object& file, const std::vector<Column>& columns) {
  std::vector<int64_t> numbers;
  for (const Column& column : columns) numbers.push_back(column.in(file));
  return numbers;
}
inline Object csv_file(const std::string& path, const CsvOptions& options) {
  return Object::create("CsvFile", path, options.header, std::string(1, options.separator));
}

}  // namespace detail

// x: float32 [lines, the other columns], y: int64 [lines]; with targets y is float32 [lines,
// targets]. The labels are classes from 0, or texts, whose places among `csv_classes` y has. The
// file may be packed by gzip. Fields may have quotes (RFC 4180). Errors name file and line.
inline Dataset csv(const std::string& path, const CsvOptions& options = {}) {
  const Object file = detail::csv_file(path, options);
  std::vector<int64_t> skip = detail::columns_in(file, options.skip);
  const std::vector<int64_t> targets = detail::columns_in(file, options.targets);
  const int64_t label = targets.empty() ? options.label.in(file) : 0;
  if (targets.empty()) {
    skip.push_back(label);
  } else {
    skip.insert(skip.end(), targets.begin(), targets.end());
  }
  const std::vector<int64_t> one_hot = detail::columns_in(file, options.one_hot);
  Dataset read;
  read.x = file.invoke("inputs", skip, one_hot, options.scale, options.missing);
  read.y = targets.empty() ? file.invoke("labels", label) : file.invoke("targets", targets);
  return read;
}

// The names of the classes of a column of texts, sorted: that of `y[i]` is at its place. None where
// the column has the numbers of classes.
inline std::vector<std::string> csv_classes(const std::string& path,
                                            const CsvOptions& options = {}) {
  const Object file = detail::csv_file(path, options);
  tn_value given = file.invoke<tn_value>("classes", options.label.in(file));
  const tenon::detail::ValueReleaser releaser{given};
  return {given.as.strings, given.as.strings + given.count};
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

// A tensor of a dataset: row-major on the cpu, but one that requires a gradient as it is, so that
// gradients of its rows reach it.
inline Tensor kept(const Tensor& t) { return t.requires_grad() ? t : on_host(t); }

// Rows of a tensor that `kept` gave, on the cpu. Gradients flow back to it. `owner` begins an Error.
inline Tensor rows(const char* owner, const Tensor& given, const std::vector<int64_t>& indices) {
  for (const int64_t index : indices) expect_index(owner, index, given.size(0));
  if (has_history(given)) {
    const Tensor places = Tensor::from(indices, -1, given.device());
    return with_history_on_host(index_select(given, 0, places));
  }
  const Tensor t = on_host(given);
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
    if (row > 0) std::memcpy(to + i * row, from + indices[size_t(i)] * row, size_t(row));
  }
  return out;
}

inline Dataset checked(const Dataset& d) {
  if (!d.x.defined() || !d.y.defined() || d.x.dim() == 0 || d.y.dim() == 0 ||
      d.x.size(0) != d.y.size(0)) {
    fail("data: x and y need one item each along their first dimension");
  }
  return {kept(d.x), kept(d.y)};
}

}  // namespace detail

inline Dataset Dataset::at(const std::vector<int64_t>& indices) const {
  const Dataset host = detail::checked(*this);
  return {detail::rows("Dataset", host.x, indices), detail::rows("Dataset", host.y, indices)};
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
