#include "kernels.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fiber.h"
#include "memory.h"

namespace fake {
namespace {

namespace fs = std::filesystem;

auto& machine = *new Machine{};
std::mutex running;

[[noreturn]] void fail(const char* what, const void* address) {
  std::fprintf(stderr, "fake driver: a kernel meets %s: %p (block %u %u, thread %u)\n", what,
               address, machine.block_index.x, machine.block_index.y, machine.thread_index.x);
  std::abort();
}

// ---- Threads that meet

// Each thread of a block is a fiber, and they run in turn from one meeting to the next. All must
// come to the same number of meetings.
class Block {
 public:
  void run(const Entry& entry, const void* parameters, unsigned threads) {
    while (fibers_.size() < threads) fibers_.push_back(std::make_unique<Fiber>());
    entry_ = &entry;
    parameters_ = parameters;
    for (unsigned t = 0; t < threads; ++t) fibers_[t]->start(body);
    n_done_ = 0;
    while (n_done_ < threads) {
      n_done_ = 0;
      for (unsigned t = 0; t < threads; ++t) {
        current_ = fibers_[t].get();
        machine.thread_index = {t, 0, 0};
        current_->resume();
      }
      if (n_done_ != 0 && n_done_ != threads) fail("a barrier that not all threads reach", nullptr);
    }
    current_ = nullptr;
  }

  // The only thread of a block has nobody to wait for.
  void meet() {
    if (current_) current_->leave();
  }

 private:
  static void body();

  const Entry* entry_ = nullptr;
  const void* parameters_ = nullptr;
  Fiber* current_ = nullptr;
  unsigned n_done_ = 0;  // threads that came to their end in this turn
  std::vector<std::unique_ptr<Fiber>> fibers_;
};
auto& block = *new Block;

void Block::body() {
  block.entry_->run(block.parameters_);
  ++block.n_done_;
  block.current_->leave();
}

// ---- Texts

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
  for (const Entry* e = entries(&machine); e; e = e->next) (*texts)[e->text].push_back(e);
}

// Appends a text that is not in the list to a file, of which the list is made anew. What stands for it
// computes nothing, so that thousands of them take no time.
const Entry* record(const char* path, const std::string& text) {
  static const Entry nothing = {0, "", 0, [](const void*) {}, false, nullptr};
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0) return nullptr;
  flock(file, LOCK_EX);
  const std::string entry = text + "////\n";
  if (write(file, entry.data(), entry.size()) < 0) std::perror(path);
  close(file);
  return &nothing;
}

// Compiles a text that nobody kept. What comes out is kept beside the fake for later processes.
void compile(const std::string& text, uint64_t hash, Texts* texts) {
  const fs::path place = folder() / "missed";
  fs::create_directories(place);
  char name[40];
  std::snprintf(name, sizeof name, "%016lx", hash);
  const fs::path library = place / (std::string(name) + ".so");
  if (!fs::exists(library)) {
    const std::string mine = (place / name).string() + "." + std::to_string(getpid());
    std::ofstream(mine + ".cpp") << "#include \"shim.h\"\n#define TENON_TEXT 0x" << name << "ull\n"
                                 << text;
    const std::string command =
        std::string(TENON_FAKE_COMPILER) + " -shared -o " + mine + ".so " + mine + ".cpp";
    if (std::system(command.c_str()) != 0) {
      std::fprintf(stderr, "fake driver: failed: %s\n", command.c_str());
      return;
    }
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
    machine.meet = [] { block.meet(); };
    machine.fail = fail;
    if (fs::exists(folder() / "libtenon_fake_kept.so"))
      attach(folder() / "libtenon_fake_kept.so", &texts);
  }
  const uint64_t hash = hash_of(text);
  if (const char* path = std::getenv("TENON_FAKE_CUDA_RECORD"); path && !texts.contains(hash))
    return record(path, text);
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

void run_kernel(const Entry& entry, const void* parameters, Triple grid, Triple threads,
                int device) {
  const std::lock_guard lock(running);
  machine.grid = grid;
  machine.block = threads;
  machine.begin = begin_of(device), machine.end = machine.begin + capacity();
  machine.distance = distance();
  machine.pinned_begin = begin_of(kPinned), machine.pinned_end = machine.pinned_begin + capacity();
  for (unsigned y = 0; y < grid.y; ++y) {
    for (unsigned x = 0; x < grid.x; ++x) {
      machine.block_index = {x, y, 0};
      if (entry.meets && threads.x > 1) {
        block.run(entry, parameters, threads.x);
        continue;
      }
      for (unsigned t = 0; t < threads.x; ++t) {
        machine.thread_index = {t, 0, 0};
        entry.run(parameters);
      }
    }
  }
}

}  // namespace fake
