// The plugins that were met and could not be loaded, for errors about a name that none has: one of
// these may be the one that would have brought it. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// A line for each: "plugin 'acme' was not loaded: needs plugin 'x', which is not there".
void set_not_loaded(std::vector<std::string> lines);

// Where all plugins were looked for, each folder with what was wrong with it.
void set_searched(std::vector<std::string> folders);
// Why no plugin is there that brings "ops": none was looked for, or where that was, and what was not
// loaded.
[[gnu::cold]] std::string none_brings(std::string_view what);

// "; plugin 'acme' was not loaded: ..."; of several two and how many more, those first that have
// `name` in their line. "": all were.
[[gnu::cold]] std::string not_loaded_text(std::string_view name);
// What is like `name` among the candidates; where nothing is, not_loaded_text.
[[gnu::cold]] std::string suggestion(std::string_view name,
                                     const std::vector<std::string>& candidates);

}  // namespace tenon
