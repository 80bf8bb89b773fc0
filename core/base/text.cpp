#include "base/text.h"

#include <cstdlib>
#include <cstring>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace tenon {

std::string shape_text(const int64_t* sizes, int32_t ndim) {
  return fmt::format("[{}]", fmt::join(sizes, sizes + ndim, ", "));
}

Status give_text(const std::string& text, const char** result) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return out_of_memory_status();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *result = copy;
  return nullptr;
}

}  // namespace tenon
