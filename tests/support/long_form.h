// The default form of the tests fits in minutes. The long form (TENON_TEST_LONG=1 ./test) tries all
// that the default form tries, and more; the header of a test's file says what.
#pragma once

#include <cstdlib>
#include <string_view>

inline bool long_form() {
  const char* value = std::getenv("TENON_TEST_LONG");
  return value != nullptr && std::string_view(value) == "1";
}
