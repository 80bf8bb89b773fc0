// The laws of the house that a compiler cannot hold: what crosses the border, which folder may
// include which, and the layout of every struct of abi.h. A change of the layout is accepted with
// TENON_UPDATE_GOLDEN=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "abi_layout.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

fs::path folder(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr) throw std::runtime_error(std::string(variable) + ": run with ctest");
  return path;
}
fs::path sources() { return folder("TENON_SOURCE_DIR"); }
fs::path build() { return folder("TENON_BUILD_DIR"); }

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What a command prints, errors too, and its exit status.
std::string run(const std::string& command, int* status) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), n);
  }
  *status = ::pclose(pipe);
  return text;
}

struct Symbol {
  std::string type, name;
};

// The symbols of a library that nm gives.
std::vector<Symbol> symbols(const std::string& options, const fs::path& library) {
  int status = 0;
  std::istringstream lines(run("nm -D " + options + " '" + library.string() + "'", &status));
  EXPECT_EQ(status, 0) << library;
  std::vector<Symbol> all;
  for (std::string line; std::getline(lines, line);) {  // "000011f0 T name"
    Symbol symbol;
    const bool defined = line[0] != ' ';
    std::istringstream words(line);
    std::string address;
    if (defined) words >> address;
    words >> symbol.type >> symbol.name;
    all.push_back(symbol);
  }
  return all;
}

// The product's as they are built and as they are installed, hello_ops as a stranger builds it, and
// the small ones of the tests.
std::vector<fs::path> libraries() {
  std::vector<fs::path> found;
  for (const fs::path& folder : {build() / "lib", build() / "hello_ops" / "install" / "lib",
                                 build() / "hello_ops" / "build", build() / "tests" / "small"}) {
    const size_t before = found.size();
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".so") found.push_back(entry.path());
    }
    EXPECT_GT(found.size(), before) << folder;
  }
  return found;
}

// What a library may export.
std::set<std::string> entries_of(const fs::path& library) {
  if (library.filename() == "libtenon.so") return {"tenon_host"};
  if (library.filename() == "libtenon_cpu_dnnl.so") return {"tenon_cpu_dnnl_table"};
  return {"tenon_manifest", "tenon_plugin_init", "tenon_plugin_shutdown"};
}

TEST(Law, PluginsNeedNoSymbolOfTheHost) {
  size_t seen = 0;
  for (const fs::path& library : libraries()) {
    for (const Symbol& s : symbols("--undefined-only", library)) {
      ++seen;
      const bool of_host = s.name.starts_with("tn_") || s.name.find("tenon") != std::string::npos;
      EXPECT_FALSE(of_host) << library << " needs " << s.name;
    }
  }
  EXPECT_GT(seen, 0u);
}

TEST(Law, LibrariesShareNothingByAccident) {
  const std::string of_tests = (build() / "tests").string();  // those read variables of theirs
  const std::string late = (build() / "lib/late_load").string();
  for (const fs::path& library : libraries()) {
    const bool small = library.string().starts_with(of_tests) || library.string().starts_with(late);
    const std::set<std::string> entries = entries_of(library);
    for (const Symbol& s : symbols("--defined-only", library)) {
      EXPECT_NE(s.type, "u") << library << " has the unique symbol " << s.name;
      EXPECT_TRUE(small || entries.contains(s.name)) << library << " exports " << s.name;
    }
  }
}

TEST(Law, LibraryExportsItsOneEntry) {
  std::vector<std::string> names;
  for (const Symbol& s : symbols("--defined-only", build() / "lib" / "libtenon.so"))
    names.push_back(s.name);
  EXPECT_EQ(names, std::vector<std::string>{"tenon_host"});
}

TEST(Law, ContractCompilesAloneInBothLanguages) {
  const std::string header = (sources() / "sdk" / "include" / "tenon" / "abi.h").string();
  const std::string flags = " -Wall -Wextra -pedantic -Werror -fsyntax-only ";
  for (const char* compiler : {"gcc -std=c11 -x c", "clang -std=c11 -x c", "g++ -std=c++20 -x c++",
                               "clang++ -std=c++20 -x c++"}) {
    int status = 0;
    const std::string includes = " -include '" + header + "' /dev/null";
    const std::string text = run(compiler + flags + includes, &status);
    EXPECT_EQ(status, 0) << compiler << ": " << text;
  }
}

TEST(Law, ContractIncludesTwoHeadersOfTheLanguage) {
  std::istringstream lines(read_file(sources() / "sdk" / "include" / "tenon" / "abi.h"));
  std::vector<std::string> includes;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#include")) includes.push_back(line);
  }
  EXPECT_EQ(includes, (std::vector<std::string>{"#include <stddef.h>", "#include <stdint.h>"}));
}

// The folders of `root` include from their own and from those before them in the order. Files that
// lie in no folder belong to all.
void expect_downward(const fs::path& root, const std::vector<std::string>& order) {
  const auto rank = [&](const std::string& name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  static const std::regex include(R"re(^\s*#include "(\w+)/[\w./]+")re");
  size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".h" && file.extension() != ".cpp") continue;
    if (file.parent_path() == root) continue;
    const std::string own = fs::relative(file, root).begin()->string();
    ASSERT_LT(rank(own), static_cast<std::ptrdiff_t>(order.size()))
        << root / own << " has no place in the order of the folders";
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (line.find("#include") == line.npos) continue;
      if (!std::regex_search(line, match, include) || match[1] == "tenon") continue;
      EXPECT_LE(rank(match[1]), rank(own)) << file << ": " << line;
      ++seen;
    }
  }
  EXPECT_GT(seen, 0u) << root;
}

TEST(Law, FoldersOfTheCoreIncludeDownwardOnly) {
  expect_downward(sources() / "core", {"base", "tensor", "memory", "profile", "random", "schema",
                                       "expr", "registry", "launch", "primitive", "call",
                                       "autograd", "amp", "capture", "object", "plugin", "host"});
}

TEST(Law, RoomsOfTheCpuBackendIncludeDownwardOnly) {
  expect_downward(sources() / "backends" / "cpu", {"dnnl", "vector", "programs", "ops"});
}

TEST(Law, OnlyTheLoaderUsesBoostDll) {
  for (const auto& entry : fs::recursive_directory_iterator(sources() / "core")) {
    if (!entry.is_regular_file()) continue;
    if (entry.path().filename() == "library.cpp") continue;
    EXPECT_EQ(read_file(entry.path()).find("boost/dll"), std::string::npos) << entry.path();
  }
}

class Layout : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path include = sources() / "sdk" / "include";
    structs_ = testing::abi_structs(read_file(include / "tenon" / "abi.h"));
    const fs::path program = build() / "tests" / "abi_layout.c";
    std::ofstream(program) << testing::layout_program(structs_);
    int status = 0;
    const std::string errors = run("gcc -std=c11 -Werror -I'" + include.string() + "' '" +
                                       program.string() + "' -o '" + program.string() + ".out'",
                                   &status);
    ASSERT_EQ(status, 0) << errors;
    layout_ = run("'" + program.string() + ".out'", &status);
    ASSERT_EQ(status, 0);
  }

  bool has(const std::string& line) const {
    return ("\n" + layout_).find("\n" + line + "\n") != std::string::npos;
  }

  std::vector<testing::AbiStruct> structs_;
  std::string layout_;
};

TEST_F(Layout, IsTheGoldenOne) {
  const fs::path golden = sources() / "tests" / "golden" / "abi_layout.txt";
  if (std::getenv("TENON_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << layout_;
  EXPECT_EQ(read_file(golden), layout_)
      << "abi.h has another layout; if that is meant, run this test with TENON_UPDATE_GOLDEN=1";
}

// By hand, so that the reader of the header is itself checked.
TEST_F(Layout, HoldsEveryStruct) {
  const std::string header =
      testing::without_comments(read_file(sources() / "sdk" / "include" / "tenon" / "abi.h"));
  std::set<std::string> names;
  for (const auto& s : structs_) {
    names.insert(s.name);
    EXPECT_FALSE(s.fields.empty()) << s.name;
  }
  static const std::regex closing(R"(\}\s*(tn_\w+)\s*;)");
  for (std::sregex_iterator at(header.begin(), header.end(), closing), end; at != end; ++at) {
    EXPECT_TRUE(names.contains((*at)[1])) << (*at)[1];
  }
  EXPECT_TRUE(names.contains("tn_host"));
  EXPECT_TRUE(names.contains("tn_registrar"));
  EXPECT_TRUE(has("tn_value 16"));
  EXPECT_TRUE(has("tn_instruction 16"));
  EXPECT_TRUE(has("  as 8 8"));
  EXPECT_TRUE(has("  c 10 2")) << "one declaration may declare several fields";
  EXPECT_TRUE(has("  sizes 16 128")) << "arrays, of tn_meta";
}

}  // namespace
}  // namespace tenon
