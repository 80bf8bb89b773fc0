// The page of a run: one file of HTML with the curves as SVG, which needs no network and no scripts.
// Used by run_folder.cpp.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tenon::cli {

// `log`: the lines of log.jsonl.
std::string run_report(const std::string& title, const std::string& device,
                       const std::vector<nlohmann::ordered_json>& log);

}  // namespace tenon::cli
