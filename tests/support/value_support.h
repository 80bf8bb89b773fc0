// Values for tests of the core; those that the core makes too are in registry/arguments.h.
#pragma once

#include <string>

#include "registry/arguments.h"

// Borrows the text.
inline tn_value string_value(const char* text) {
  tn_value v{};
  v.kind = TN_KIND_STRING;
  v.count = static_cast<uint32_t>(std::char_traits<char>::length(text));
  v.as.string = text;
  return v;
}
