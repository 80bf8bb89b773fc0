// Calls of ops that are refused, with a part of the message, tried on every device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

struct Refusal {
  std::function<void(tn::Device)> call;
  std::string text;
};

inline void expect_refusals(const std::vector<Refusal>& list) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const Refusal& r : list) {
      const std::string found = message_of([&] { r.call(d); });
      EXPECT_NE(found.find(r.text), std::string::npos) << found << "\nexpected: " << r.text;
    }
  }
}

inline Tensor zeros_on(tn::Device d, std::vector<int64_t> sizes) { return tn::zeros(sizes, {}, d); }
inline Tensor places_on(tn::Device d, std::vector<int64_t> sizes) {
  return tn::zeros(sizes, tn::int64, d);
}

}  // namespace
