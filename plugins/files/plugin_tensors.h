// What the objects of this plugin have in common: lists of names, and the memory of a tensor that a
// reader fills. Used by files.cpp, arrays.cpp and
// texts.cpp.
#pragma once

#include <string>
#include <vector>

#include "tenon/plugin.hpp"

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

// Arrays, in arrays.cpp, and texts, in texts.cpp.
void add_arrays();
void add_texts();

}  // namespace tenon::files
