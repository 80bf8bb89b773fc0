// Text for messages: lists of numbers as people write shapes; names of others and the nearest known
// one, which tenon/messages.hpp has for all of Tenon.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "tenon/messages.hpp"

namespace tenon {

std::string shape_text(const int64_t* sizes, int32_t ndim);  // "[64, 100]"

// "'a', 'b'"; of long lists the first 20, and how many more there are.
[[gnu::cold]] std::string listed(const std::vector<std::string>& names);

// A copy that its receiver owns, and frees with host->text_free.
[[nodiscard]] Status give_text(const std::string& text, const char** result);

using messages::did_you_mean;
using messages::printable;  // for names and values that a message quotes

}  // namespace tenon
