// Text for messages: lists of numbers as people write shapes, and the nearest known name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

std::string shape_text(const int64_t* sizes, int32_t ndim);  // "[64, 100]"

// The candidate with the smallest edit distance to `name`, if that is at most a third of its length (at least 2); else "".
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// "; did you mean 'linear'?" or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace tenon
