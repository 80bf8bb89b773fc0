// Tests that compare devices have `cpu` and a second one: `ref`, or the device that they are repeated
// with.
#pragma once

#include <cstdlib>

inline const char* second_device() {
  const char* type = std::getenv("TENON_TEST_DEVICE");
  return type ? type : "ref";
}
