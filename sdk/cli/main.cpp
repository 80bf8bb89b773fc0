// The command `tenon`. Exit codes: 0, 1 for a failure, 2 for a line that cannot be parsed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <tenon/messages.hpp>
#include <tenon/tenon.hpp>

#include "commands.h"
#include "plugin_list.h"
#include "process.h"
#include "text.h"

namespace tenon::cli {
namespace {

std::string help(const std::vector<Command>& commands) {
  Table table({});
  for (const Command& command : commands) table.add({"  " + command.name, command.summary});
  return fmt::format(
      "usage: tenon COMMAND [arguments]\n\n{}\n"
      "`tenon COMMAND --help` tells more. Plugins come from TENON_PLUGIN_PATH and the "
      "install's folder.\n",
      table.text());
}

int run(const std::vector<std::string>& words) {
  const std::vector<Command> commands = {train_command(),   eval_command(),    generate_command(),
                                         plugins_command(), ops_command(),     header_command(),
                                         devices_command(), explain_command(), summary_command(),
                                         graph_command(),   bench_command(),   check_command()};
  if (words.empty()) throw UsageError("a command is missing");
  const auto command = [&](const std::string& name) -> const Command& {
    const auto found = std::ranges::find(commands, name, &Command::name);
    if (found != commands.end()) return *found;
    std::vector<std::string> names;
    for (const Command& known : commands) names.push_back(known.name);
    throw UsageError(fmt::format("no command '{}'{}", printable(name), did_you_mean(name, names)));
  };
  const bool helps = words[0] == "--help" || words[0] == "-h" || words[0] == "help";
  if (words.size() > (helps ? 2 : 1) && (helps || words[0] == "--version"))
    throw UsageError(fmt::format("more arguments than {} takes", words[0]));
  if (helps && words.size() == 2) return run_command(command(words[1]), {"--help"});
  if (helps) {
    fmt::print("{}", help(commands));
    return 0;
  }
  if (words[0] == "--version") {
    fmt::print("tenon {}\n", TENON_VERSION);
    return 0;
  }
  return run_command(command(words[0]), {words.begin() + 1, words.end()});
}

// What cannot be said on stderr is not said: the code tells that something failed.
void say(const std::string& message) {
  const std::string text = messages::cleaned(message);
  std::fprintf(stderr, "tenon: %s\n", text.c_str());
}

std::string failed_plugins() {
  try {
    return not_loaded(list_plugins());
  } catch (const std::exception&) {  // the error itself is to be said
    return "";
  }
}

int run_and_say(const std::vector<std::string>& words) {
  try {
    const int code = run(words);
    check_output();
    return code;
  } catch (const UsageError& error) {
    const bool known = !words.empty() && std::string(error.what()).starts_with(words[0] + ":");
    say(fmt::format("{}\nTry `tenon {}--help`.", error.what(), known ? words[0] + " " : ""));
    return 2;
  } catch (const std::bad_alloc&) {
    say("host memory is exhausted");
  } catch (const std::system_error& error) {  // what fmt::print throws, too
    say(std::ferror(stdout) == 0 ? error.what()
                                 : "the output cannot be written: " + error.code().message());
  } catch (const Error& error) {  // what is not there may be a plugin's that did not load
    say(error.what() + failed_plugins());
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {
    say("an exception that is no std::exception");
  }
  return 1;
}

}  // namespace
}  // namespace tenon::cli

int main(int argc, char** argv) {
  // Where plugins compute with OpenMP, its idle threads would spin for milliseconds after each
  // loop, and on a machine with other work the loops then wait for each other's time slices: 30
  // times slower was measured. Read when the library is loaded.
  ::setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
  tenon::cli::let_large_writes_fail();
  tenon::cli::open_closed_streams();
  tenon::cli::guard_end();
  const int code = tenon::cli::run_and_say({argv + std::min(argc, 1), argv + argc});
  tenon::cli::done();
  return code;
}
