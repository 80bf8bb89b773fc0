#include "compiled_text.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "text.h"

namespace tenon::cli {
namespace {

// What stands behind one of the beginnings by which a reason is known; "" where none does.
std::string_view reason_of(std::string_view line) {
  for (const std::string_view start :
       {"runs eagerly: ", "a call ran eagerly: ", "signature: runs eagerly: "}) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return "";
}

}  // namespace

CompiledText::CompiledText(const std::string& described) {
  std::istringstream lines(described);
  std::string line;
  while (std::getline(lines, line)) {
    std::sscanf(line.c_str(), "%" SCNd64 " recordings, %" SCNd64 " replays", &recorded, &replayed);
    const std::string reason(reason_of(line));
    if (!reason.empty() && std::ranges::find(reasons, reason) == reasons.end())
      reasons.push_back(reason);
  }
}

std::string CompiledText::line(int64_t steps) const {
  const std::string why = joined(reasons, "; ");
  if (replayed == 0 && !reasons.empty()) return fmt::format("compiled: stayed eager: {}", why);
  const int64_t eager = steps - recorded - replayed;
  return fmt::format("compiled: {} of {} steps were replayed, {} recorded{}", replayed, steps,
                     recorded, eager > 0 ? fmt::format(", {} ran eagerly: {}", eager, why) : "");
}

nlohmann::ordered_json CompiledText::json(int64_t steps) const {
  return {{"replayed", replayed},
          {"recorded", recorded},
          {"eager", steps - recorded - replayed},
          {"reasons", reasons}};
}

}  // namespace tenon::cli
