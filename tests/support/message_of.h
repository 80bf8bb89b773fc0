// What a call says when it fails.
#pragma once

#include <string>

#include "tenon/base.hpp"

std::string message_of(auto&& f) {
  try {
    f();
  } catch (const tenon::Error& e) {
    return e.what();
  }
  return "no error";
}
