#include "kernels.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace fake {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&find_kernel), &info);
  return fs::path(info.dli_fname).parent_path();
}

using Texts = std::map<uint64_t, std::vector<const Entry*>>;

void attach(const fs::path& library, Texts* texts) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    std::fprintf(stderr, "fake driver: %s\n", dlerror());
    return;
  }
  auto* entries = reinterpret_cast<Attach*>(dlsym(opened, kAttach));
  for (const Entry* e = entries(&the_machine()); e; e = e->next) (*texts)[e->text].push_back(e);
}

// Appends a text that was met to a file, of which the list is made anew.
void record(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0) return;
  flock(file, LOCK_EX);
  const std::string entry = text + "////\n";
  if (write(file, entry.data(), entry.size()) < 0) std::perror(path);
  close(file);
}

// Headers of kernels in the place of the plugin's: tests put mistakes into them. NULL: the plugin's.
const char* other_headers() {
  static const char* const other = std::getenv("TENON_FAKE_CUDA_HEADERS");
  return other;
}

// Changes with all that a text is compiled with.
uint64_t hash_of_headers() {
  std::vector<fs::path> files = {TENON_FAKE_RUNTIME};
  for (const char* place :
       {other_headers() ? other_headers() : TENON_FAKE_KERNELS, TENON_FAKE_SHIM})
    for (const auto& file : fs::directory_iterator(place)) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  uint64_t hash = hash_of(TENON_FAKE_FLAGS);
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << file.filename() << std::ifstream(file, std::ios::binary).rdbuf();
    hash = hash * 31 + hash_of(text.str());
  }
  return hash;
}

// Compiles a text that nobody kept. What comes out is kept beside the fake for later processes.
void compile(const std::string& text, uint64_t hash, Texts* texts) {
  static const uint64_t headers = hash_of_headers();
  const fs::path place = folder() / "missed";
  fs::create_directories(place);
  char name[40];
  std::snprintf(name, sizeof name, "%016lx", hash ^ headers);
  const fs::path library = place / (std::string(name) + ".so");
  if (!fs::exists(library)) {
    const std::string mine = (place / name).string() + "." + std::to_string(getpid());
    std::ofstream(mine + ".cpp") << "#include \"shim.h\"\n#define TENON_TEXT " << hash << "ull\n"
                                 << text;
    const std::string includes = other_headers() ? std::string(" -I") + other_headers() : "";
    const std::string command = TENON_FAKE_COMPILER + includes + " " TENON_FAKE_FLAGS " -c -o " +
                                mine + ".o " + mine +
                                ".cpp && " TENON_FAKE_COMPILER " -shared -o " + mine + ".so " +
                                mine + ".o " TENON_FAKE_RUNTIME;
    if (std::system(command.c_str()) != 0) {
      std::fprintf(stderr, "fake driver: failed: %s\n", command.c_str());
      return;
    }
    fs::remove(mine + ".o");
    fs::remove(mine + ".cpp");
    fs::rename(mine + ".so", library);
  }
  attach(library, texts);
}

// So many texts may be missing from the list before a process is told that the list is old.
int most_misses() {
  const char* number = std::getenv("TENON_FAKE_CUDA_MISSES");
  return number ? std::atoi(number) : 1 << 30;
}

}  // namespace

const Entry* find_kernel(const std::string& text, const std::string& kernel) {
  static std::mutex mutex;
  static auto& texts = *new Texts;
  static bool is_attached = false;
  static int misses = 0;
  const std::lock_guard lock(mutex);
  if (!std::exchange(is_attached, true)) {
    if (!other_headers() && fs::exists(folder() / "libtenon_fake_kept.so"))
      attach(folder() / "libtenon_fake_kept.so", &texts);
  }
  const uint64_t hash = hash_of(text);
  if (const char* path = std::getenv("TENON_FAKE_CUDA_RECORD")) {
    static std::set<uint64_t> recorded;
    // Of one that the list lacks nothing is computed, so that thousands of them take no time.
    static const Entry nothing = {0, "", 0, [](const void*) {}, false, nullptr};
    if (recorded.insert(hash).second) record(path, text);
    if (!texts.contains(hash)) return &nothing;
  }
  if (!texts.contains(hash)) {
    if (++misses > most_misses()) {
      std::fprintf(
          stderr,
          "fake driver: more than %d texts are not in tests/cuda/kept_texts.txt; docs/cuda.md "
          "says how the list is made anew. The last one is:\n%s",
          most_misses(), text.c_str());
      return nullptr;
    }
    compile(text, hash, &texts);
  }
  for (const Entry* entry : texts[hash]) {
    if (entry->kernel == kernel) return entry;
  }
  return nullptr;
}

}  // namespace fake
