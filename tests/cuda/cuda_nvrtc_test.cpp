// The real NVRTC compiles the kept texts and those of random programs: without warnings, and without
// spills and memory of a thread's own but where a function of the toolkit needs them: the argument of
// sin, cos and tan, or of a double function, is reduced there, and a few registers may be spilled
// around it. It needs no GPU. The default form compiles every 32nd text for one of the three
// architectures, the long form all for each; of random programs there are 30 and 1,000.
#include <stdlib.h>

#include <gtest/gtest.h>

#include "long_form.h"
#include "nvrtc_support.h"

namespace {

using nvrtc::Compiler;
using nvrtc::fs::path;

bool may_have_stack(const std::string& text) {
  static const std::regex functions("i_(sin|cos|tan)\\(|double");
  return std::regex_search(text, functions);
}
constexpr int kFewBytes = 32;  // of spills, where there may be any

// How many texts have memory of a thread's own.
int compile_all(const Compiler& compiler, const std::vector<std::string>& texts, size_t step) {
  int with_stack = 0;
  for (size_t k = 0; k < texts.size(); ++k) {
    for (size_t a = 0; a < 3; ++a) {
      if (step > 1 && (k % step != 0 || k / step % 3 != a)) continue;
      SCOPED_TRACE(std::string("sm_") + nvrtc::kArchitectures[a] + "\n" + texts[k]);
      const nvrtc::Outcome outcome = compiler.compile(texts[k], nvrtc::kArchitectures[a]);
      with_stack += outcome.has_stack();
      EXPECT_TRUE(outcome.is_compiled) << outcome.log;
      EXPECT_FALSE(outcome.warns()) << outcome.log;
      EXPECT_LE(outcome.spilled(), may_have_stack(texts[k]) ? kFewBytes : 0) << outcome.log;
      EXPECT_TRUE(!outcome.has_stack() || may_have_stack(texts[k])) << outcome.log;
    }
  }
  return with_stack;
}

TEST(CudaNvrtc, CompilesEveryKeptText) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  const std::vector<std::string> texts = nvrtc::kept_texts();
  EXPECT_GT(texts.size(), 500u);
  RecordProperty("with_stack", compile_all(compiler, texts, long_form() ? 1 : 32));
}

// Another process makes the texts, on the driver of the tests' own.
TEST(CudaNvrtc, CompilesRandomPrograms) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  const path build = ::getenv("TENON_BUILD_DIR");
  std::string folder = (nvrtc::fs::temp_directory_path() / "tenon_nvrtc_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const path texts = path(folder) / "texts";
  const std::string command = "TENON_FAKE_CUDA_RECORD='" + texts.string() + "' LD_LIBRARY_PATH='" +
                              (build / "tests/cuda/fake").string() + "' '" +
                              (build / "bin/random_programs").string() + "' " +
                              (long_form() ? "1200" : "60");  // some are in the kept list
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::vector<std::string> made = nvrtc::texts_of(texts);
  nvrtc::fs::remove_all(folder);
  EXPECT_GE(made.size(), long_form() ? 1000u : 50u);
  RecordProperty("with_stack", compile_all(compiler, made, long_form() ? 1 : 2));
}

}  // namespace
