#include "base/text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace tenon {

std::string shape_text(const int64_t* sizes, int32_t ndim) {
  return fmt::format("[{}]", fmt::join(sizes, sizes + ndim, ", "));
}

}  // namespace tenon
