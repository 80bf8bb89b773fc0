// Names the case under way when it ends the process, or when it does not end.
#pragma once

#include <string>

namespace tenon::cli::conformance {

class Watch {
 public:
  explicit Watch(const std::string& name);
  Watch(const Watch&) = delete;
  ~Watch();
};

// From here to the end of the process; `seconds` is what a case may take.
void watch_cases(unsigned seconds);

}  // namespace tenon::cli::conformance
