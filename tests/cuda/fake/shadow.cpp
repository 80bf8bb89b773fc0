#include "shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "memory.h"

namespace fake {

// Of one byte; of an aligned word that is not split the first cell is that of all its bytes, which were
// touched alike, as those of a number mostly are.
struct Cell {
  uint32_t written, read;                      // when
  uint16_t writer : 15, is_split : 1, reader;  // threads of a block
};
constexpr size_t kWord = 4;

struct Shadow {
  uintptr_t begin;
  size_t bytes;
  Cell* cells;  // of each byte; zero: never touched
};

namespace {

// In the place of a thread; and a bit of one that came to the count of blocks in this interval.
constexpr uint16_t kSeveral = 0x7FFF, kAtomically = 0x7FFE, kCame = 0x4000;

// A block of the launch: when it began; when it came to be counted, by which thread. 0: it did not.
struct Begun {
  uint32_t begin;
  Triple index;
  uint32_t came = 0;
  uint16_t thread = 0;
};

uint32_t now = 0, launch_begin = 0, block_begin = 0;
bool is_last = false;                    // the current block is the last that came
auto& blocks = *new std::vector<Begun>;  // of the launch
auto& shadows = *new std::vector<Shadow*>;

void* map(size_t bytes) {
  void* zeros = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) {
    std::fprintf(stderr, "fake driver: cannot map the shadow of %zu bytes\n", bytes);
    std::abort();
  }
  return zeros;
}

void tick() {
  if (++now < 0xFFFF'FFF0) return;
  for (Shadow* shadow : shadows)
    madvise(shadow->cells, shadow->bytes * sizeof(Cell), MADV_DONTNEED);
  now = launch_begin = block_begin = 1;  // what was before is forgotten
}

Shadow* shadow_of_device() {
  static Shadow* const shadow = make_shadow(view_of_all(), bytes_of_all());
  return shadow;
}

// NULL: the launch had none yet.
const Begun* block_at(uint32_t when) {
  const auto behind =
      std::upper_bound(blocks.begin(), blocks.end(), when,
                       [](uint32_t stamp, const Begun& block) { return stamp < block.begin; });
  return behind == blocks.begin() ? nullptr : &*std::prev(behind);
}

bool is_one_thread(uint16_t a, uint16_t b) { return (a | kCame) == (b | kCame); }

std::string thread_text(uint32_t when, uint16_t thread) {
  const Begun* begun = block_at(when);
  const Triple block = begun ? begun->index : Triple{};
  const std::string in = " of block " + std::to_string(block.x) + " " + std::to_string(block.y);
  if (thread == kSeveral) return "several threads" + in;
  if (thread == kAtomically) return "an atomic operation" + in;
  return "thread " + std::to_string(thread & ~kCame) + in;
}

// Was that touch, of another block, before the block came to be counted, and is this one behind the
// coming of the last block?
bool is_seen(uint32_t when, uint16_t who, uint16_t me) {
  if (!is_last) return false;
  const Begun& mine = blocks.back();
  if (now == mine.came && !is_one_thread(me, mine.thread)) return false;
  const Begun* other = block_at(when);
  return other && (when < other->came || (when == other->came && who == other->thread));
}

// Were that touch and this one by two threads that did not wait for each other? `begin`: of the
// launch, or of the block where other blocks do not see the memory.
bool races(uint32_t when, uint16_t who, uint32_t begin, uint16_t me) {
  if (when < begin) return false;
  if (when < block_begin)
    return (who != kAtomically || me != kAtomically) && !is_seen(when, who, me);
  return when == now && !is_one_thread(who, me);
}

[[noreturn]] void report(Machine& machine, bool is_shared, const char* address,
                         const std::string& what) {
  const bool is_seen = is_shared || arena_of(address) == kPinned;
  machine.fail(what.c_str(), is_seen ? address : address - distance());
  std::abort();
}

void report_race(Machine& machine, bool is_shared, const char* address, Touch how, uint32_t when,
                 uint16_t who, const char* did) {
  const char* mine = how == kRead ? "reads" : how == kWrite ? "writes" : "changes atomically";
  report(machine, is_shared, address,
         std::string("a race in ") + (is_shared ? "shared memory" : "memory of the device") +
             ": it " + mine + " what " + thread_text(when, who) + " " + did);
}

void split(Cell* word) {
  word->is_split = 1;
  std::fill(word + 1, word + kWord, *word);
}

// Are its bytes alike now?
void join(Cell* word) {
  const auto differs = [&](const Cell& cell) {
    return cell.written != word->written || cell.read != word->read ||
           cell.writer != word->writer || cell.reader != word->reader;
  };
  if (std::none_of(word + 1, word + kWord, differs)) word->is_split = 0;
}

// A value may have gaps that nobody writes, as between the members of a struct: of a large one each
// aligned word must have a written byte, of eight bytes each half.
void expect_written(Machine& machine, const Shadow& shadow, size_t first, size_t bytes) {
  const size_t part = bytes > 8 ? 8 : bytes == 8 ? 4 : 1;
  const auto was_written = [](const Cell& cell) { return cell.written >= block_begin; };
  for (size_t at = first, end; at < first + bytes; at = end) {
    const Cell& word = shadow.cells[at - at % kWord];
    if (!word.is_split && was_written(word)) {
      end = at + std::max(part, kWord - at % kWord);
      continue;
    }
    end = std::min(at + part, first + bytes);
    bool is_written = false;
    for (size_t k = at; k < end && !is_written; ++k) {
      const Cell& near = shadow.cells[k - k % kWord];
      is_written = was_written(near.is_split ? shadow.cells[k] : near);
    }
    if (!is_written)
      report(machine, true, reinterpret_cast<const char*>(shadow.begin + at),
             "shared memory that was not written");
  }
}

}  // namespace

Shadow* make_shadow(const void* begin, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const size_t before = at % kWord;  // words are those of the addresses
  const size_t whole = (before + bytes + kWord - 1) / kWord * kWord;
  auto* shadow = new Shadow{at - before, whole, nullptr};
  shadow->cells = static_cast<Cell*>(map(std::max<size_t>(whole, 1) * sizeof(Cell)));
  shadows.push_back(shadow);
  return shadow;
}

bool watches_device() {
  static const bool watches = [] {
    const char* races = std::getenv("TENON_FAKE_CUDA_RACES");
    return !races || std::string_view(races) != "0";
  }();
  return watches;
}

void begin_launch() {
  tick();
  launch_begin = now;
  blocks.clear();
}

void begin_block(Triple block_index) {
  tick();
  block_begin = now;
  blocks.push_back({now, block_index});
  is_last = false;
}

void begin_interval() { tick(); }

void come(Machine& machine, bool is_last_one) {
  if (blocks.back().came != 0) {
    machine.fail("the count of blocks a second time", nullptr);
    std::abort();
  }
  blocks.back().came = now;
  blocks.back().thread = static_cast<uint16_t>(machine.thread_index.x);
  is_last = is_last_one;
}

void touch(Machine& machine, Shadow* shared, const void* address, size_t bytes, Touch how) {
  if (bytes == 0) return;
  const bool is_shared = shared != nullptr;
  const Shadow& shadow = is_shared ? *shared : *shadow_of_device();
  const size_t first = reinterpret_cast<uintptr_t>(address) - shadow.begin;
  const uint32_t begin = is_shared ? block_begin : launch_begin;
  auto me = static_cast<uint16_t>(how == kAtomic ? kAtomically : machine.thread_index.x);
  if (how != kAtomic && blocks.back().came == now && blocks.back().thread == me) me |= kCame;
  if (is_shared && how != kWrite) expect_written(machine, shadow, first, bytes);
  for (size_t k = first, end = first + bytes; k < end;) {
    Cell* const word = shadow.cells + (k - k % kWord);
    const bool is_whole = k % kWord == 0 && end - k >= kWord;
    if (!is_whole && !word->is_split) split(word);
    Cell& cell = shadow.cells[k];
    const char* at = reinterpret_cast<const char*>(shadow.begin + k);
    k += word->is_split ? 1 : kWord;
    if (races(cell.written, cell.writer, begin, me))
      report_race(machine, is_shared, at, how, cell.written, cell.writer, "wrote");
    if (how == kRead) {
      // A reader of another block stays: whoever writes from now on races with it.
      if (cell.read < begin || cell.read >= block_begin) {
        const bool is_other = cell.read == now && !is_one_thread(cell.reader, me);
        cell.reader = is_other ? kSeveral : me;
        cell.read = now;
      }
    } else {
      if (races(cell.read, cell.reader, begin, me))
        report_race(machine, is_shared, at, how, cell.read, cell.reader, "read");
      cell.written = now, cell.writer = me;
    }
    if (word->is_split && k % kWord == 0) join(word);
  }
}

}  // namespace fake
