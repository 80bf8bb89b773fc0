// A locale whose decimal point is a comma, in force before Tenon is loaded.
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <tenon/print.hpp>
#include <tenon/summary.hpp>
#include <tenon/tenon.hpp>

#include "in_a_fork.h"

namespace tn = tenon;

namespace {

namespace fs = std::filesystem;

// One that is installed, or one that localedef makes of its sources.
bool use_comma(const std::string& folder) {
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"})
    if (std::setlocale(LC_ALL, name)) return true;
  const std::string made = folder + "/de_DE.UTF-8";
  if (std::system(("localedef -i de_DE -f UTF-8 '" + made + "' >/dev/null 2>&1").c_str()) > 256 ||
      !fs::exists(made))
    return false;
  ::setenv("LOCPATH", folder.c_str(), 1);
  return std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
}

TEST(Locale, WithACommaChangesNothing) {
  std::string folder = (fs::temp_directory_path() / "tenon_locale_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string found = in_a_fork([&]() -> std::string {
    if (!use_comma(folder)) return "none";
    if (std::to_string(1.5) != "1,500000") return "no comma";
    tn::load_plugins();
    std::ostringstream text;
    text << tn::tensor({1.5, 0.25}) << std::get<0>(tn::frexp(tn::tensor({8.0})))
         << tn::i1(tn::ones({1})) << tn::igamma(tn::ones({1}), tn::ones({1}))
         << tn::nn::Dropout(0.25);
    std::ostringstream sizes;
    sizes << tn::summary(tn::nn::Linear(30, 50), tn::ones({1, 30}));
    if (sizes.str().find("6.20 kB") == std::string::npos) text << sizes.str();
    return text.str();
  });
  fs::remove_all(folder);
  if (found == "none") GTEST_SKIP() << "there is no locale with a comma, and none can be made";
  EXPECT_EQ(
      found,
      "tensor([1.5000, 0.2500])tensor([0.5000])tensor([0.5652])tensor([0.6321])Dropout(p=0.25)");
}

}  // namespace
