// What a command of `tenon` is, and how its line is parsed (Boost.Program_options). Each command is
// a file with one function that gives its Command; main.cpp lists them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

namespace tenon::cli {

// The line cannot be parsed, or names what is not there to be named: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What was said on the line.
class Line {
 public:
  explicit Line(boost::program_options::variables_map values) : values_(std::move(values)) {}

  bool has(const std::string& name) const { return values_.count(name) != 0; }
  // A switch, or false.
  bool flag(const std::string& name) const { return has(name) && values_[name].as<bool>(); }
  template <typename T = std::string>
  T get(const std::string& name) const {
    return values_[name].as<T>();
  }
  template <typename T>
  T get_or(const std::string& name, T absent) const {
    return has(name) ? values_[name].as<T>() : absent;
  }

 private:
  boost::program_options::variables_map values_;
};

struct Command {
  std::string name;
  std::string summary;     // one line, for tenon --help
  std::string positional;  // name of the one positional argument, "" for none; "[NAME]": optional
  std::string positional_help;
  boost::program_options::options_description options;
  int (*run)(const Line& line) = nullptr;  // gives the exit code; throws on failure
};

// Parses and runs; answers --help. Throws UsageError.
int run_command(const Command& command, const std::vector<std::string>& words);

// The integer of an option, which must be in the range. (The parser takes it as a string: its own
// messages know no range.)
int64_t integer_of(const Line& line, const std::string& name, int64_t low, int64_t high);

// The path that was given as `name` ("--save", "FILE.json"), which must not be empty.
std::string path_of(const Line& line, const std::string& name);

// The name that was given as option, which must not be empty; "" where there is none.
std::string name_of(const Line& line, const std::string& option);

}  // namespace tenon::cli
