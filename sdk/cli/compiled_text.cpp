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

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

// "  op | kernel | operands -> results | notes"
CompiledStep step_of(std::string_view line) {
  std::vector<std::string> cells = split(line.substr(2), " |");
  cells.resize(4);
  for (std::string& cell : cells) cell.erase(0, cell.find_first_not_of(' '));
  CompiledStep step{.op = cells[0], .kernel = cells[1], .notes = cells[3]};
  const size_t arrow = cells[2].find("-> ");
  step.operands = split(std::string_view(cells[2]).substr(0, arrow), "; ");
  if (arrow != std::string::npos) step.results = split(cells[2].substr(arrow + 3), "; ");
  for (std::string& operand : step.operands) operand.erase(operand.find_last_not_of(' ') + 1);
  std::erase(step.operands, "");
  return step;
}

// A line of a recording, behind that of its counts.
void read_detail(const std::string& line, CompiledGraph* graph) {
  const char* text = line.c_str();
  CompiledGraph& g = *graph;
  constexpr std::string_view kArguments = "  arguments: ", kBits = "  bits: ",
                             kGraph = "  as one graph of ";
  if (line.find(" | ") != std::string::npos) {
    g.steps.push_back(step_of(line));
  } else if (line.starts_with(kArguments)) {
    g.arguments = split(line.substr(kArguments.size()), "; ");
  } else if (line.starts_with(kBits)) {
    g.bits = line.substr(kBits.size());
  } else if (line.starts_with(kGraph)) {
    g.device_graph = line.substr(kGraph.size());
  } else {
    std::sscanf(text,
                "  launches: %" SCNd64 "; copies: %" SCNd64 "; constants: %" SCNd64
                "; random: %" SCNd64,
                &g.launches, &g.copies, &g.constants, &g.random);
    std::sscanf(text, "  memory that was there before: %" SCNd64 " tensors, %" SCNd64 " bytes",
                &g.outside, &g.outside_bytes);
    std::sscanf(text,
                "  results and gradients: %" SCNd64 " tensors, %" SCNd64
                " bytes; an eager call holds %" SCNd64 " bytes at most",
                &g.left, &g.left_bytes, &g.eager_bytes);
  }
}

}  // namespace

CompiledText::CompiledText(const std::string& described) {
  std::istringstream lines(described);
  std::string line;
  while (std::getline(lines, line)) {
    std::sscanf(line.c_str(), "%" SCNd64 " recordings, %" SCNd64 " replays", &recorded, &replayed);
    int64_t steps = 0;
    CompiledGraph g;
    if (std::sscanf(line.c_str(),
                    "signature: %" SCNd64 " steps (%" SCNd64 " dropped), %" SCNd64
                    " results, %" SCNd64 " leaves, %" SCNd64 " objects; its own memory: %" SCNd64
                    " bytes in the place of %" SCNd64,
                    &steps, &g.dropped, &g.results, &g.leaves, &g.objects, &g.own_bytes,
                    &g.asked_bytes) == 7) {
      graphs.push_back(std::move(g));
    } else if (line.starts_with("  ") && !graphs.empty()) {
      read_detail(line, &graphs.back());
    }
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
