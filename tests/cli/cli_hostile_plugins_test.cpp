// The command among hostile plugins: those that are incomplete, that end the process, or that others
// may write.
#include <nlohmann/json.hpp>

#include "cli_hostile.h"
#include "plugin_folder.h"

namespace cli {
namespace {

class HostilePlugin : public Hostile {
 protected:
  Outcome on_path(const std::string& line) const {
    return shell("export TENON_PLUGIN_PATH='" + here_.path().string() + ":" + build() +
                 "/lib/tenon/plugins'; " + line);
  }
  Outcome plugins(const std::string& environment) const {
    return on_path(environment + " $tenon plugins");
  }
  tenon::testing::Folder here_;
};

// The small plugin's device has a kernel for COPY alone, which is one of those that may be missing.
TEST_F(HostilePlugin, ABackendWithoutTheKernelsThatItMustBringIsSaidToBeIncomplete) {
  here_.place("device_partial");
  const std::string line =
      "device partial has no kernel for elementwise, reduce, matmul, iota, gather, scatter, "
      "random_bits, nonzero: ops that need one "
      "fail there";
  const auto count = [&](const std::string& text) {
    size_t n = 0;
    for (size_t at = text.find("incomplete: "); at != text.npos;
         at = text.find("incomplete: ", at + 1))
      ++n;
    return n;
  };
  const Outcome plugins = on_path("TENON_LOG=off $tenon plugins");
  EXPECT_EQ(plugins.code, 0) << plugins.err;
  EXPECT_HAS(plugins.out, "incomplete: " + line + "\n");
  EXPECT_EQ(count(plugins.out), 1u) << plugins.out;
  const Outcome ops = on_path("TENON_LOG=off $tenon ops --device partial");
  EXPECT_EQ(ops.code, 0) << ops.err;
  EXPECT_EQ(last_line(ops.out), "incomplete: " + line);
  EXPECT_EQ(count(ops.out), 1u) << ops.out;
  EXPECT_EQ(count(on_path("$tenon ops --device ref").out), 0u);
  EXPECT_HAS(on_path("$tenon plugins").err,
             "device 'partial' of plugin 'device_partial' has no kernel for elementwise, reduce");
  const nlohmann::json json =
      nlohmann::json::parse(on_path("TENON_LOG=off $tenon plugins --json").out);
  ASSERT_EQ(json.at("incomplete").size(), 1u);
  EXPECT_EQ(json.at("incomplete")[0].at("device"), "partial");
}

TEST_F(HostilePlugin, OneThatEndsTheProcessIsNamedAndIsNoSuccess) {
  const std::string library = here_.place("ends").string();
  for (const std::string way : {"exit", "_exit", "_Exit", "quick_exit", "thread", "constructor"}) {
    const Outcome run = plugins("TENON_TEST_ENDS=" + way);
    const std::string how = way == "thread" || way == "constructor" ? "exit"
                            : way == "_Exit"                        ? "_exit"
                                                                    : way;
    EXPECT_EQ(run.code, 1) << way;
    EXPECT_HAS(run.err, "tenon: plugin 'ends' (" + library + ") ended the process by " + how +
                            ", while it was loaded");
  }
  const Outcome aborted = plugins("TENON_TEST_ENDS=abort");
  EXPECT_NE(aborted.code, 0);
  EXPECT_HAS(aborted.err, "tenon: the process was aborted while plugins were loaded");
  const Outcome named = plugins("TENON_LOG=debug TENON_TEST_ENDS=abort");
  EXPECT_HAS(named.err, "tenon debug: plugin 'ends': loading " + library);
  for (const std::string way : {"child", "not"}) {
    const Outcome run = plugins("TENON_TEST_ENDS=" + way);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
  }
}

TEST_F(HostilePlugin, AFolderOrLibraryThatOthersMayWriteIsWarnedOf) {
  const fs::path library = here_.place("pack1");
  EXPECT_EQ(plugins("").err, "");
  fs::permissions(library, fs::perms(0757));
  EXPECT_EQ(plugins("").err,
            "tenon warning: plugins: every user of this machine may write the file " +
                library.string() +
                " (chmod o-w it); what is loaded from there runs with your rights\n");
  fs::permissions(library, fs::perms(0755));
  for (const int mode : {0777, 01777}) {  // where only owners may rename, others may still add
    fs::permissions(here_.path(), fs::perms(mode));
    const Outcome run = plugins("");
    EXPECT_EQ(run.code, 0);
    EXPECT_HAS(run.err, "tenon warning: plugins: every user of this machine may write the folder " +
                            here_.path().string());
    EXPECT_EQ(plugins("TENON_LOG=error").err, "");
  }
}

}  // namespace
}  // namespace cli
