#include "base/text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace tenon {

std::string shape_text(const int64_t* sizes, int32_t ndim) {
  return fmt::format("[{}]", fmt::join(sizes, sizes + ndim, ", "));
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 20;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i]));
  }
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

Status give_text(const std::string& text, const char** result) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return out_of_memory_status();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *result = copy;
  return nullptr;
}

}  // namespace tenon
