// The command `tenon`. Exit codes: 0, 1 for a failure, 2 for a line that cannot be parsed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>

#include "commands.h"
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
  const std::vector<Command> commands = {train_command(),   eval_command(), generate_command(),
                                         plugins_command(), ops_command(),  devices_command(),
                                         explain_command(), bench_command()};
  if (words.empty()) throw UsageError("a command is missing");
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    fmt::print("{}", help(commands));
    return 0;
  }
  if (words[0] == "--version") {
    fmt::print("tenon {}\n", TENON_VERSION);
    return 0;
  }
  const auto command = std::ranges::find(commands, words[0], &Command::name);
  if (command == commands.end()) {
    std::vector<std::string> names;
    for (const Command& known : commands) names.push_back(known.name);
    throw UsageError(fmt::format("no command '{}'{}", words[0], did_you_mean(words[0], names)));
  }
  return run_command(*command, {words.begin() + 1, words.end()});
}

}  // namespace
}  // namespace tenon::cli

int main(int argc, char** argv) {
  // Where plugins compute with OpenMP, its idle threads would spin for milliseconds after each
  // loop, and on a machine with other work the loops then wait for each other's time slices: 30
  // times slower was measured. Read when the library is loaded.
  ::setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
  const std::vector<std::string> words(argv + 1, argv + argc);
  int code = 1;
  try {
    code = tenon::cli::run(words);
    if (std::fflush(stdout) != 0) throw std::runtime_error("the output cannot be written");
  } catch (const tenon::cli::UsageError& error) {
    const bool known = !words.empty() && std::string(error.what()).starts_with(words[0] + ":");
    fmt::print(stderr, "tenon: {}\nTry `tenon {}--help`.\n", error.what(),
               known ? words[0] + " " : "");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenon: {}\n", error.what());
    return 1;
  }
  return code;
}
