// The order of loading, and the reasons of those that are left.
#include "plugin/candidates.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace tenon {

void Candidates::add(Candidate candidate) {
  met_.insert(candidate.manifest.id);
  waiting_.push_back(std::make_unique<Candidate>(std::move(candidate)));
}

bool Candidates::contains(const std::filesystem::path& identity) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const auto& c) { return c->identity == identity; });
}

std::unique_ptr<Candidate> Candidates::next(const Loaded& loaded) {
  std::set<std::string> earlier;
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    const Manifest& manifest = (*at)->manifest;
    const bool ready =
        std::all_of(manifest.needs_plugins.begin(), manifest.needs_plugins.end(), loaded);
    if (ready && !earlier.contains(manifest.id)) {
      std::unique_ptr<Candidate> taken = std::move(*at);
      waiting_.erase(at);
      return taken;
    }
    earlier.insert(manifest.id);
  }
  return nullptr;
}

const Candidate* Candidates::find(const std::string& id) const {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const auto& c) { return c->manifest.id == id; });
  return found == waiting_.end() ? nullptr : found->get();
}

// "a -> b -> a" when following needs from `start` comes back to it; else "".
std::string Candidates::circle_from(const Candidate& start) const {
  std::vector<std::string> path;
  std::set<std::string> seen;
  const std::function<bool(const Candidate&)> walk = [&](const Candidate& at) {
    path.push_back(at.manifest.id);
    for (const std::string& need : at.manifest.needs_plugins) {
      if (need == start.manifest.id) return true;
      const Candidate* next = find(need);
      if (next != nullptr && seen.insert(need).second && walk(*next)) return true;
    }
    path.pop_back();
    return false;
  };
  if (!walk(start)) return "";
  return fmt::format("{} -> {}", fmt::join(path, " -> "), start.manifest.id);
}

std::vector<std::pair<Candidate, std::string>> Candidates::stuck(const Loaded& loaded) const {
  std::vector<std::pair<Candidate, std::string>> all;
  for (const auto& candidate : waiting_) {
    const std::string& id = candidate->manifest.id;
    if (const std::string circle = circle_from(*candidate); !circle.empty()) {
      all.emplace_back(*candidate, "needs go in a circle: " + circle);
      continue;
    }
    std::string reason = fmt::format("another library of the id '{}' comes first", id);
    for (const std::string& need : candidate->manifest.needs_plugins) {
      if (loaded(need)) continue;
      reason = fmt::format("needs plugin '{}', which {}", need,
                           met_.contains(need) ? "did not load" : "is not there");
      break;
    }
    all.emplace_back(*candidate, std::move(reason));
  }
  return all;
}

}  // namespace tenon
