// The real NVRTC, for tests that look at what it makes of kernel texts. It needs no GPU. The tests link
// nothing of it: where it is not installed they are skipped.
#pragma once

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

namespace nvrtc {

namespace fs = std::filesystem;

inline constexpr const char* kArchitectures[] = {"80", "90", "100"};

inline std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}
inline fs::path source() { return ::getenv("TENON_SOURCE_DIR"); }

// The texts of a list, each of which ends with a line "////".
inline std::vector<std::string> texts_of(const fs::path& file) {
  std::vector<std::string> texts(1);
  std::ifstream list(file);
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
inline std::vector<std::string> kept_texts() {
  return texts_of(source() / "tests/cuda/kept_texts.txt");
}

// What ptxas says of one kernel: 32-bit registers of a thread and bytes of a block's shared memory.
struct Kernel {
  std::string name;
  int registers = 0, shared = 0;
};

struct Outcome {
  bool is_compiled = false;
  std::string log, ptx;

  bool has(const char* pattern) const { return std::regex_search(log, std::regex(pattern)); }
  int spilled() const {  // bytes, of the kernel with the most
    static const std::regex stores("([0-9]+) bytes spill stores");
    int most = 0;
    for (std::sregex_iterator i(log.begin(), log.end(), stores), end; i != end; ++i)
      most = std::max(most, std::stoi((*i)[1]));
    return most;
  }
  bool has_stack() const { return has("[1-9][0-9]* bytes stack frame"); }
  bool warns() const { return log.find("warning") != std::string::npos; }

  std::vector<Kernel> kernels() const {
    static const std::regex entry("entry function '(\\w+)'"), used("Used ([0-9]+) registers"),
        shared("([0-9]+) bytes smem");
    std::vector<Kernel> found;
    std::istringstream lines(log);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_search(line, match, entry)) found.push_back({match[1]});
      if (found.empty() || !std::regex_search(line, match, used)) continue;
      found.back().registers = std::stoi(match[1]);
      if (std::regex_search(line, match, shared)) found.back().shared = std::stoi(match[1]);
    }
    return found;
  }
};

class Compiler {
 public:
  Compiler() {
    for (const char* name : {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"}) {
      if (!library_) library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    for (const auto& file : fs::directory_iterator(source() / "backends/cuda/kernels")) {
      names_.push_back(file.path().filename());
      texts_.push_back(read(file.path()));
    }
  }

  bool is_here() const { return library_ != nullptr; }
  std::string version() const {
    int major = 0, minor = 0;
    get<decltype(&nvrtcVersion)>("nvrtcVersion")(&major, &minor);
    return std::to_string(major) + "." + std::to_string(minor);
  }

  // To machine code ("90" is sm_90), with what ptxas says in the log; or only to PTX, which is faster.
  Outcome compile(const std::string& text, const std::string& architecture,
                  bool only_ptx = false) const {
    std::vector<const char*> names, texts;
    for (const std::string& name : names_) names.push_back(name.c_str());
    for (const std::string& header : texts_) texts.push_back(header.c_str());
    nvrtcProgram program = nullptr;
    get<decltype(&nvrtcCreateProgram)>("nvrtcCreateProgram")(&program, text.c_str(), "kernel.cu",
                                                             static_cast<int>(names.size()),
                                                             texts.data(), names.data());
    const std::string target =
        std::string("--gpu-architecture=") + (only_ptx ? "compute_" : "sm_") + architecture;
    const char* options[] = {target.c_str(), "--std=c++20", "--fmad=false", "--ptxas-options=-v"};
    Outcome outcome;
    outcome.is_compiled = get<decltype(&nvrtcCompileProgram)>("nvrtcCompileProgram")(
                              program, 4, options) == NVRTC_SUCCESS;
    outcome.log = text_of<decltype(&nvrtcGetProgramLogSize), decltype(&nvrtcGetProgramLog)>(
        program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
    if (only_ptx && outcome.is_compiled)
      outcome.ptx = text_of<decltype(&nvrtcGetPTXSize), decltype(&nvrtcGetPTX)>(
          program, "nvrtcGetPTXSize", "nvrtcGetPTX");
    get<decltype(&nvrtcDestroyProgram)>("nvrtcDestroyProgram")(&program);
    return outcome;
  }

 private:
  template <class Entry>
  Entry get(const char* name) const {
    return reinterpret_cast<Entry>(::dlsym(library_, name));
  }
  template <class Size, class Text>
  std::string text_of(nvrtcProgram program, const char* size, const char* text) const {
    size_t bytes = 0;
    get<Size>(size)(program, &bytes);
    std::string found(bytes, '\0');
    get<Text>(text)(program, found.data());
    return found;
  }

  void* library_ = nullptr;
  std::vector<std::string> names_, texts_;
};

}  // namespace nvrtc
