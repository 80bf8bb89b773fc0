// What the objects of this plugin have in common: lists of names, the memory of a tensor that a reader
// fills, and the tensors that a file gets. Used by files.cpp, arrays.cpp, tables.cpp and texts.cpp.
#pragma once

#include <string>
#include <vector>

#include "file.h"
#include "tenon/plugin.hpp"
#include "tensor_source.h"

namespace tenon::files {

// What a method gives for "str[]".
struct StringList {
  std::vector<std::string> strings;
};

inline void give(tn_value& value, const StringList& list) {
  std::vector<const char*> pointers;
  for (const std::string& text : list.strings) pointers.push_back(text.c_str());
  tn_value borrowed =
      tenon::detail::make_value(TN_KIND_STRINGS, static_cast<uint32_t>(pointers.size()));
  borrowed.as.strings = pointers.data();
  check(host()->value_copy(&borrowed, &value));
}

// What a method gives for "str", without zero bytes.
struct Text {
  std::string text;
};

inline void give(tn_value& value, const Text& text) {
  const tn_value borrowed = tenon::detail::to_value(text.text);
  check(host()->value_copy(&borrowed, &value));
}

inline void* data_of(const Tensor& tensor) {
  void* data = nullptr;
  check(tenon::detail::api.tensor->mutable_data(tensor.get(), &data));
  return data;
}

// The values of each tensor in turn, in row-major order on the host.
class Values : public TensorSource {
 public:
  explicit Values(const Tensors& tensors) : tensors_(tensors) {}

  const void* bytes_of(size_t i) override {
    const Tensor tensor = tensors_[i];
    buffer_.resize(static_cast<size_t>(tensor.numel() * tensor.dtype().itemsize()));
    check(tenon::detail::api.tensor->read(tensor.get(), buffer_.data(), buffer_.size()));
    return buffer_.data();
  }

 private:
  const Tensors& tensors_;
  std::vector<char> buffer_;
};

// Name, dtype and shape of each of the tensors that a file gets.
template <typename Entry>
std::vector<Entry> named_entries(const std::string& path, const tn_value& names,
                                 const Tensors& tensors) {
  if (names.count != tensors.size()) {
    raise(TN_INVALID_ARGUMENT, "{}: {} names for {} tensors", path, names.count, tensors.size());
  }
  std::vector<Entry> entries(names.count);
  for (uint32_t i = 0; i < names.count; ++i) {
    const Tensor tensor = tensors[i];
    entries[i].name = names.as.strings[i];
    entries[i].dtype = tensor.dtype().value;
    entries[i].shape.assign(tensor.sizes().begin(), tensor.sizes().end());
  }
  return entries;
}

// Arrays, in arrays.cpp, tables, in tables.cpp, and texts, in texts.cpp.
void add_arrays();
void add_tables();
void add_texts();

}  // namespace tenon::files
