// Runs the built command as a user does, for cli_test and cli_train_test.
#pragma once

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cli {

namespace fs = std::filesystem;

struct Outcome {
  int code;
  std::string out, err;
};

inline std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tenon_cli_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // `line` is the shell's: quote what needs it.
  Outcome tenon(const std::string& line) const {
    const fs::path out = folder_ / ".out", err = folder_ / ".err";
    const std::string command = "'" + build() + "/bin/tenon' " + line + " >'" + out.string() +
                                "' 2>'" + err.string() + "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }

  static std::string build() { return ::getenv("TENON_BUILD_DIR"); }
  static std::string digits() {
    return std::string(::getenv("TENON_SOURCE_DIR")) + "/examples/digits";
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::remove(path(name));
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  // The digits' training with replacements of its text; its data stays where it is.
  std::string training(const std::vector<std::pair<std::string, std::string>>& replacements) const {
    std::string text = read(digits() + "/mlp.json");
    const auto replace = [&text](const std::string& from, const std::string& to) {
      const size_t at = text.find(from);
      ASSERT_NE(at, text.npos) << from;
      text.replace(at, from.size(), to);
    };
    for (const auto& [from, to] : replacements) replace(from, to);
    const size_t at = text.find("\"digits.csv\"");
    if (at != text.npos) text.replace(at, 12, "\"" + digits() + "/digits.csv\"");
    return write("t.json", text);
  }

  fs::path folder_;
};

inline std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == text.npos) return "";
  const size_t start = text.rfind('\n', end);
  return text.substr(start == text.npos ? 0 : start + 1, end - (start == text.npos ? -1 : start));
}

// X of "test accuracy: X", which must be the last line; -1 otherwise.
inline double accuracy(const Outcome& run) {
  double value = -1;
  const std::string line = last_line(run.out);
  char rest = 0;
  return std::sscanf(line.c_str(), "test accuracy: %lf%c", &value, &rest) == 1 ? value : -1;
}

#define EXPECT_HAS(text, part) EXPECT_PRED_FORMAT2(testing::IsSubstring, part, text)

}  // namespace cli
