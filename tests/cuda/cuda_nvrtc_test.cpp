// The real NVRTC compiles the kept texts: without warnings, without spills, and without memory of a
// thread's own but where a function of the toolkit needs it (the argument of sin, cos and tan, or of
// a double function, is reduced there). It needs no GPU. The default form compiles every 16th text
// for one of the three architectures, the long form all for each.
#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "long_form.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

fs::path source() { return ::getenv("TENON_SOURCE_DIR"); }

void* open_nvrtc() {
  for (const char* name : {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

class Compiler {
 public:
  explicit Compiler(void* library) : library_(library) {
    for (const auto& file : fs::directory_iterator(source() / "backends/cuda/kernels")) {
      names_.push_back(file.path().filename());
      texts_.push_back(read(file.path()));
    }
  }

  // The compiler's words; "failed" in front where it did.
  std::string compile(const std::string& text, const char* architecture) const {
    std::vector<const char*> names, texts;
    for (const std::string& name : names_) names.push_back(name.c_str());
    for (const std::string& header : texts_) texts.push_back(header.c_str());
    nvrtcProgram program = nullptr;
    get<decltype(&nvrtcCreateProgram)>("nvrtcCreateProgram")(&program, text.c_str(), "kernel.cu",
                                                             static_cast<int>(names.size()),
                                                             texts.data(), names.data());
    const std::string target = std::string("--gpu-architecture=") + architecture;
    const char* options[] = {target.c_str(), "--std=c++20", "--fmad=false", "--ptxas-options=-v"};
    const nvrtcResult result =
        get<decltype(&nvrtcCompileProgram)>("nvrtcCompileProgram")(program, 4, options);
    size_t bytes = 0;
    get<decltype(&nvrtcGetProgramLogSize)>("nvrtcGetProgramLogSize")(program, &bytes);
    std::string log(bytes, '\0');
    get<decltype(&nvrtcGetProgramLog)>("nvrtcGetProgramLog")(program, log.data());
    get<decltype(&nvrtcDestroyProgram)>("nvrtcDestroyProgram")(&program);
    return (result == NVRTC_SUCCESS ? "" : "failed\n") + log;
  }

 private:
  template <class Entry>
  Entry get(const char* name) const {
    return reinterpret_cast<Entry>(::dlsym(library_, name));
  }

  void* library_;
  std::vector<std::string> names_, texts_;
};

std::vector<std::string> kept_texts() {
  std::vector<std::string> texts(1);
  std::ifstream list(source() / "tests/cuda/kept_texts.txt");
  for (std::string line; std::getline(list, line);) {
    if (line == "////") {
      texts.emplace_back();
    } else {
      texts.back() += line + "\n";
    }
  }
  texts.pop_back();
  return texts;
}

bool may_have_stack(const std::string& text) {
  static const std::regex functions("i_(sin|cos|tan)\\(|double");
  return std::regex_search(text, functions);
}

TEST(CudaNvrtc, CompilesEveryKeptText) {
  void* library = open_nvrtc();
  if (!library) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  const Compiler compiler(library);
  static constexpr const char* kArchitectures[] = {"sm_80", "sm_90", "sm_100"};
  const std::vector<std::string> texts = kept_texts();
  EXPECT_GT(texts.size(), 500u);
  const std::regex spills("[1-9][0-9]* bytes spill"), stack("[1-9][0-9]* bytes stack frame");
  int with_stack = 0;
  for (size_t k = 0; k < texts.size(); ++k) {
    for (size_t a = 0; a < 3; ++a) {
      if (!long_form() && (k % 16 != 0 || k / 16 % 3 != a)) continue;
      const std::string log = compiler.compile(texts[k], kArchitectures[a]);
      const bool has_stack = std::regex_search(log, stack);
      with_stack += has_stack;
      EXPECT_NE(log.rfind("failed", 0), 0u) << log << texts[k];
      EXPECT_EQ(log.find("warning"), std::string::npos) << log << texts[k];
      EXPECT_FALSE(std::regex_search(log, spills)) << kArchitectures[a] << log << texts[k];
      EXPECT_TRUE(!has_stack || may_have_stack(texts[k])) << kArchitectures[a] << log << texts[k];
    }
  }
  RecordProperty("with_stack", with_stack);
}

}  // namespace
