#include "command.h"

#include <charconv>
#include <cstdint>
#include <sstream>

#include <fmt/core.h>

#include <tenon/base.hpp>

#include "text.h"

namespace tenon::cli {
namespace po = boost::program_options;

namespace {

std::string usage(const Command& command) {
  std::ostringstream text;
  text << "usage: tenon " << command.name;
  if (!command.positional.empty()) text << " " << command.positional;
  if (!command.options.options().empty()) text << " [options]";
  text << "\n\n" << command.summary << "\n";
  if (!command.positional.empty()) {
    text << "\n  " << command.positional << ": " << command.positional_help << "\n";
  }
  text << "\n" << command.options;
  return text.str();
}

// May it be left out: "[NAME]"? And its name without the brackets.
bool is_optional(const Command& command) { return command.positional.starts_with('['); }
std::string positional_name(const Command& command) {
  const std::string& name = command.positional;
  return is_optional(command) ? name.substr(1, name.size() - 2) : name;
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options.options()) names.push_back("--" + option->long_name());
  return names;
}

}  // namespace

int run_command(const Command& command, const std::vector<std::string>& words) {
  po::options_description all;
  all.add(command.options);
  po::positional_options_description positional;
  const std::string name = positional_name(command);
  if (!name.empty()) {
    all.add_options()(name.c_str(), po::value<std::string>());
    positional.add(name.c_str(), 1);
  }
  po::variables_map values;
  try {
    // Guessing at abbreviations would make every new option break somebody's script.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(words).options(all).positional(positional).style(style).run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    throw UsageError(fmt::format("{}: unknown option '{}'{}", command.name,
                                 printable(error.get_option_name()),
                                 did_you_mean(error.get_option_name(), option_names(command))));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError(fmt::format("{}: more arguments than it takes ({})", command.name,
                                 command.positional.empty() ? "none" : command.positional));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}: {}", command.name, shown(error.what())));
  }
  if (values.count("help") != 0) {
    fmt::print("{}", usage(command));
    return 0;
  }
  if (!name.empty() && !is_optional(command) && values.count(name) == 0) {
    throw UsageError(fmt::format("{}: {} is missing", command.name, command.positional));
  }
  try {
    return command.run(Line(std::move(values)));
  } catch (const UsageError& error) {
    const std::string what = error.what(), begin = command.name + ": ";
    throw UsageError(what.starts_with(begin) ? what : begin + what);
  }
}

int64_t integer_of(const Line& line, const std::string& name, int64_t low, int64_t high) {
  const std::string text = line.get(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw UsageError(fmt::format("--{} is '{}', expected an integer from {} to {}", name,
                                 printable(text), low, high));
  }
  return value;
}

std::string path_of(const Line& line, const std::string& name) {
  std::string path = line.get(name.starts_with("--") ? name.substr(2) : name);
  if (path.empty()) fail(fmt::format("{}: the path is empty, expected a file's", name));
  return path;
}

std::string name_of(const Line& line, const std::string& option) {
  if (!line.has(option)) return "";
  const std::string name = line.get(option);
  if (name.empty()) throw UsageError(fmt::format("--{} is empty, expected a name", option));
  return name;
}

}  // namespace tenon::cli
