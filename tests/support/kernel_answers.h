// Whether a kernel took a call, and else why not, as explain tells it.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>

namespace kernel_answers {

using Json = nlohmann::json;

inline void look(const Json& calls, const std::string& op, std::string* found) {
  for (const Json& call : calls) {
    if (call["call"] == op) {
      *found = call.contains("kernels") ? "taken" : "decomposed";
      for (const Json& r : call.value("refusals", Json::array())) *found = r["reason"];
    }
    look(call.value("calls", Json::array()), op, found);
  }
}

}  // namespace kernel_answers

// Why the kernel of `op` refused its last call in f; "taken" where it did not.
inline std::string kernel_answer(const char* op, const std::function<void()>& f) {
  std::string found = "not called";
  kernel_answers::look(kernel_answers::Json::parse(tenon::explain(f))["calls"], op, &found);
  return found;
}
