// tenon graph: what backward walks in a training step, as Graphviz draws it.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include <tenon/graph.hpp>

#include "commands.h"
#include "outputs.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;

// `dot -Tsvg` of Graphviz, found by PATH.
void draw(const std::string& dot_file, const std::string& svg_file) {
  std::string words[] = {"dot", "-Tsvg", "-o", svg_file, dot_file};
  char* argv[6] = {};
  for (size_t i = 0; i < std::size(words); ++i) argv[i] = words[i].data();
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "dot", nullptr, nullptr, argv, environ);
  int status = 0;
  if (failed == 0) {
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (failed != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
    fail(fmt::format("--svg: Graphviz's program `dot` cannot be run: {} (Debian's "
                     "package graphviz has it); --dot writes what it draws",
                     std::strerror(failed != 0 ? failed : ENOENT)),
         TN_NOT_FOUND);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail(fmt::format("--svg: `dot` failed; {} was not written", shown(svg_file)));
}

// Beside the picture until it is drawn.
class PartFile {
 public:
  explicit PartFile(std::string path) : path_(std::move(path)) {}
  PartFile(const PartFile&) = delete;
  ~PartFile() {
    std::error_code none;
    std::filesystem::remove(path_, none);
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

int run_graph(const Line& line) {
  const std::string svg = line.has("svg") ? path_of(line, "--svg") : "";
  const std::string dot = line.has("dot") ? path_of(line, "--dot") : "";
  if (!dot.empty() && dot == svg)
    throw UsageError(fmt::format("--dot and --svg are both {}, expected two files", shown(dot)));
  Training training;
  prepare(training, path_of(line, "FILE.json"), {.device = name_of(line, "device")});
  if (!dot.empty()) expect_other("--dot", dot, training.config);
  if (!svg.empty()) expect_other("--svg", svg, training.config);
  const auto [x, y] = first_batch(training);
  auto scope = training.scope();
  const Tensor loss = training.loss(training.model(x.to(training.device)), y.to(training.device));
  scope.reset();
  const std::string text = graph_dot(loss, training.model.named_parameters());
  if (!dot.empty()) write_text(dot, text);
  if (!svg.empty()) {
    const PartFile part(svg + ".dot-part");
    write_text(part.path(), text);
    draw(part.path(), svg);
  }
  if (dot.empty() && svg.empty()) fmt::print("{}", text);
  return 0;
}

}  // namespace

Command graph_command() {
  Command command{"graph", "Draws what backward walks in a training step.", "FILE.json",
                  "a training"};
  command.options.add_options()  //
      ("dot", po::value<std::string>()->value_name("FILE"),
       "write it as text for Graphviz here; without --dot and --svg it is printed")  //
      ("svg", po::value<std::string>()->value_name("FILE"),
       "write it as a picture here, by Graphviz's `dot`")  //
      ("device", po::value<std::string>()->value_name("NAME"),
       "where to compute (tenon devices), instead of the file's, or the cpu")  //
      ("help,h", "this text");
  command.run = run_graph;
  return command;
}

}  // namespace tenon::cli
