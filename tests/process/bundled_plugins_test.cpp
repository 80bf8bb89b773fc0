// Plugins of the install that another one keeps out, since it came first and brings one of their
// names: what is missing is told when they are loaded.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <tenon/plugin.hpp>
#include <tenon/tenon.hpp>

#include "in_a_fork.h"
#include "message_of.h"
#include "plugin_folder.h"

namespace tenon {
namespace {

// load_plugins with one folder more, and what is logged meanwhile.
std::string load_with(const testing::fs::path& folder) {
  const char* before = std::getenv("TENON_PLUGIN_PATH");
  const std::string path = folder.string() + (before ? ":" + std::string(before) : "");
  ::setenv("TENON_PLUGIN_PATH", path.c_str(), 1);
  ::testing::internal::CaptureStderr();
  load_plugins();
  return ::testing::internal::GetCapturedStderr();
}

std::string linear() {
  return message_of([] { nn::Linear(2, 3)(ones({1, 2})); });
}

TEST(BundledPlugins, AreMissedWhereAnotherTakesAName) {
  const testing::Folder folder;
  folder.place("claims_linear");
  const std::string found = in_a_fork([&] { return load_with(folder.path()); });
  EXPECT_NE(found.find("plugin 'layers', which comes with Tenon, was not loaded, and nothing of it "
                       "is there (PyTorch's layers): "),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("factory Linear: plugin 'claims_linear' brings one of this name already"),
            std::string::npos)
      << found;
}

TEST(BundledPlugins, AreMissedWhereOneWasAddedBefore) {
  const std::string found = in_a_fork([] {
    add_plugin("early", [] { plugin::layer("Linear(int n)", [](Object&, int64_t) {}); });
    ::testing::internal::CaptureStderr();
    load_plugins();
    return ::testing::internal::GetCapturedStderr() + linear();
  });
  EXPECT_NE(found.find("plugin 'layers', which comes with Tenon, was not loaded, and nothing of it "
                       "is there (PyTorch's layers): "),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("factory Linear: plugin 'early' brings one of this name already"),
            std::string::npos)
      << found;
}

TEST(BundledPlugins, AreReplacedByAnOwnBuildWithoutAWord) {
  const testing::Folder folder;
  folder.place("layers");
  EXPECT_EQ(in_a_fork([&] { return load_with(folder.path()); }), "");
}

TEST(BundledPlugins, AloneAreLoadedWithoutAWord) {
  EXPECT_EQ(in_a_fork([] {
              ::testing::internal::CaptureStderr();
              load_plugins();
              return ::testing::internal::GetCapturedStderr() + linear();
            }),
            "no error");
}

}  // namespace
}  // namespace tenon
