#include "base/not_loaded.h"

#include <mutex>

#include "base/text.h"

namespace tenon {
namespace {

struct All {
  std::mutex mutex;
  std::vector<std::string> lines, searched;
};
All& all() {
  static auto* instance = new All();
  return *instance;
}

}  // namespace

void set_not_loaded(std::vector<std::string> lines) {
  const std::scoped_lock lock(all().mutex);
  all().lines.swap(lines);
}

std::string not_loaded_text(std::string_view name) {
  constexpr size_t kShown = 2, kMostOfLine = 500;
  const std::scoped_lock lock(all().mutex);
  size_t shown = 0;
  std::string text;
  for (const bool alike : {true, false}) {
    for (const std::string& line : all().lines) {
      if ((line.find(name) != std::string::npos) != alike || shown == kShown) continue;
      ++shown;
      text += "; " + printable(line, kMostOfLine);
    }
  }
  if (const size_t more = all().lines.size() - shown)
    text += fmt::format("; {} more not loaded", more);
  return text;
}

void set_searched(std::vector<std::string> folders) {
  const std::scoped_lock lock(all().mutex);
  all().searched.swap(folders);
}

std::string none_brings(std::string_view what) {
  std::string folders;
  {
    const std::scoped_lock lock(all().mutex);
    for (const std::string& folder : all().searched)
      folders += (folders.empty() ? "" : ", ") + printable(folder, 500);
  }
  if (folders.empty())
    return fmt::format("no plugin with {} is loaded; call load_plugins() first", what);
  return fmt::format("load_plugins() found no plugin with {} in {}{}", what, folders,
                     not_loaded_text(""));
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  std::string text = did_you_mean(name, candidates);
  return text.empty() ? not_loaded_text(name) : text;
}

}  // namespace tenon
