// What errors call an op.
#pragma once

#include <string>
#include <string_view>

#include "registry/registry.h"

namespace tenon {

inline constexpr std::string_view kStandardPack = "ops";

// As programs call it, which leave the prefix of the standard pack out: "add", "acme.scale".
inline const std::string& called_name(const Op* op) {
  return op->plugin == kStandardPack ? op->schema.name : op->name;
}

}  // namespace tenon
