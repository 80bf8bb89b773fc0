// What tests of the command among hostile files and plugins share: the command in a shell, and what
// every text that it prints must be.
#pragma once

#include "cli_support.h"

namespace cli {

// Nothing that a terminal would obey, and no more than a screen or two.
inline testing::AssertionResult is_plain(const std::string& text) {
  if (text.size() > 10'000)
    return testing::AssertionFailure() << text.size() << " bytes: " << text.substr(0, 200);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    const bool c1 =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (control || c1 || text.compare(i, 3, "\xe2\x80\xae") == 0) {
      return testing::AssertionFailure() << "byte " << int(c) << " at " << i << " of " << text;
    }
  }
  return testing::AssertionSuccess();
}

class Hostile : public CliTest {
 protected:
  // A line of the shell, in which $tenon is the command. What would never end is killed.
  Outcome shell(const std::string& line) const {
    const fs::path out = folder_ / ".out", err = folder_ / ".err";
    const std::string command = "ulimit -t 200; tenon='" + build() + "/bin/tenon'; { " + line +
                                "\n} >'" + out.string() + "' 2>'" + err.string() + "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }
  // The error of a training, which must be one that is said.
  std::string refused(const std::string& file) const {
    const Outcome run = shell("$tenon train '" + file + "' --epochs 1");
    EXPECT_EQ(run.code, 1) << run.out << run.err.substr(0, 1000);
    EXPECT_TRUE(is_plain(run.err));
    EXPECT_EQ(run.out, "");
    return run.err;
  }
  std::string with(const std::string& from, const std::string& to) const {
    return training({{from, to}});
  }
};

}  // namespace cli
