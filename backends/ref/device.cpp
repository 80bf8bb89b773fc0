// Memory: an arena per device, and one of the host's memory that streams read by themselves
// (pinned). Whatever lies outside of live blocks, and a block when it is given out, holds a poison
// that is a NaN in every float dtype, and is looked at when a block is freed or given out: an
// overrun, a write after free and a use of uninitialized memory show. The host caches above this,
// so plainness is worth more than speed.
#include "device.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace ref {
namespace {

constexpr int32_t kDevices = 2;
constexpr int32_t kPinned = kDevices;  // the number of the host's arena
constexpr uint64_t kPoison = 0xFFFB'FFFB'FFFB'FFFB;
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kGuard = 256;  // bytes of poison behind each block, besides what rounding leaves
constexpr uint64_t kMaxCapacity = uint64_t{64} << 30;

char* public_base = nullptr;        // without access: the addresses that the host knows
char* kernel_base = nullptr;        // the same memory, read-write
uint64_t capacity = 0;              // bytes of an arena
std::atomic<bool> mapped = false;   // the three above are there
std::atomic<uint64_t> damaged = 0;  // writes outside of live blocks that were found
std::atomic<uint64_t> early = 0;    // touches of host memory that a copy still needed

void report(std::atomic<uint64_t>& counter, const char* what, const void* at) {
  ++counter;
  char message[100];
  std::snprintf(message, sizeof(message), "ref: %s at %p", what, at);
  host->log(3, message);
}

class Arena {
 public:
  // First fit. NULL: there is no room.
  char* allocate(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > capacity - kAlignment - kGuard) return nullptr;
    uint64_t offset = 0;
    for (const auto& [begin, length] : blocks_) {
      if (begin - offset >= padded(bytes)) break;
      offset = begin + padded(length);
    }
    const uint64_t end = offset + padded(bytes);
    if (end > capacity) return nullptr;
    check(offset, end);
    poison(offset, end);
    touched_ = std::max(touched_, end);
    blocks_[offset] = bytes;
    return address() + offset;
  }

  void free(void* memory, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto offset = static_cast<uint64_t>(static_cast<char*>(memory) - address());
    const auto block = blocks_.find(offset);
    if (block == blocks_.end() || block->second != bytes)
      return report(damaged, "free of no block", memory);
    check(offset + bytes, offset + padded(bytes));
    poison(offset, offset + padded(bytes));
    blocks_.erase(block);
  }

  void check_all() {
    const std::lock_guard lock(mutex_);
    uint64_t end = 0;
    for (const auto& [begin, bytes] : blocks_) {
      check(end, begin);
      end = begin + bytes;
    }
    check(end, touched_);
  }

 private:
  char* address() const;  // the host's, of offset 0
  char* view() const;     // the kernels'
  static uint64_t padded(uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment + kGuard;
  }

  void poison(uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; at += 8) std::memcpy(view() + at, &kPoison, 8);
  }

  void check(uint64_t begin, uint64_t end) {
    const auto* poison = reinterpret_cast<const char*>(&kPoison);
    end = std::min(end, touched_);
    for (uint64_t at = begin; at < end; ++at) {
      while (at % 8 == 0 && at + 8 <= end && std::memcmp(view() + at, poison, 8) == 0) at += 8;
      if (at < end && view()[at] != poison[at % 8])
        return report(damaged, "overrun or write after free", address() + at);
    }
  }

  std::mutex mutex_;
  std::map<uint64_t, uint64_t> blocks_;  // live ones: offset to the bytes that were asked for
  uint64_t touched_ = 0;                 // from here on, memory was never given out
};

Arena* const arenas = new Arena[kPinned + 1];  // never destroyed: the host may free behind exit

char* Arena::view() const { return kernel_base + (this - arenas) * capacity; }
char* Arena::address() const {
  return this == &arenas[kPinned] ? view() : public_base + (this - arenas) * capacity;
}

// Each arena has a quarter of the machine's memory, so that filling all does not end the process.
// It is mapped at the first allocation, so that a process that does not use the device pays nothing
// and meets no limit. Remapping 0 bytes of shared memory maps it a second time (mremap(2)); a file
// for that would fall under the limit on the size of files.
tn_status* map_memory() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (mapped) return nullptr;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  capacity = std::min(static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) / 4 * page, kMaxCapacity);
  const uint64_t bytes = (kPinned + 1) * capacity;
  void* view = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* without_access = view == MAP_FAILED ? MAP_FAILED : mremap(view, 0, bytes, MREMAP_MAYMOVE);
  if (without_access == MAP_FAILED || mprotect(without_access, bytes, PROT_NONE) != 0) {
    const int reason = errno;
    if (without_access != MAP_FAILED) munmap(without_access, bytes);
    if (view != MAP_FAILED) munmap(view, bytes);
    return error(host, TN_OUT_OF_MEMORY, "ref: cannot map %lu bytes twice: %s", bytes,
                 std::strerror(reason));
  }
  public_base = static_cast<char*>(without_access);
  kernel_base = static_cast<char*>(view);
  mapped = true;
  return nullptr;
}

tn_status* allocate(int32_t arena, uint64_t bytes, void** memory) {
  note_use();
  if (tn_status* status = map_memory()) return status;
  *memory = arenas[arena].allocate(bytes);
  return nullptr;
}

void free(int32_t arena, void* memory, uint64_t bytes) {
  if (!is_fork()) arenas[arena].free(memory, bytes);
}

// One side of a copy as the stream reaches it; host memory is what it is.
char* side(tn_device device, const void* memory, uint64_t offset) {
  const char* address = static_cast<const char*>(memory) + offset;
  return device.type == TN_DEVICE_CPU ? const_cast<char*>(address) : kernel_view(address);
}

std::atomic<bool> used = false;    // it has memory or a stream
std::atomic<bool> forked = false;  // so had the process that this one is a fork of

}  // namespace

void note_use() { used = true; }
bool is_fork() { return forked.load(std::memory_order_relaxed); }

tn_status* refuse_fork() {
  return error(host, TN_FAILED_PRECONDITION,
               "ref: this process is a fork of one that used the device, and its threads stayed "
               "there; use the device in the parent alone, or for the first time in the child");
}

tn_status* register_device(tn_registrar* registrar) {
  tn_device_def def = {};
  def.size = sizeof(def);
  def.name = kDeviceName, def.flags = TN_DEVICE_SIMULATED;
  def.description = "simulated accelerator";
  def.lower_precision = TN_BFLOAT16;
  def.alignment = kAlignment;
  def.count = [](void*) { return kDevices; };
  def.allocate = [](void*, int32_t index, uint64_t bytes, void** memory) {
    return guarded("allocate", [=] { return allocate(index, bytes, memory); });
  };
  def.free = [](void*, int32_t index, void* memory, uint64_t bytes) { free(index, memory, bytes); };
  def.allocate_host = [](void*, int32_t, uint64_t bytes, void** memory) {
    return guarded("allocate_host", [=] { return allocate(kPinned, bytes, memory); });
  };
  def.free_host = [](void*, int32_t, void* memory, uint64_t bytes) {
    free(kPinned, memory, bytes);
  };
  def.copy = [](void*, tn_stream* stream, tn_device dst_device, void* dst, uint64_t dst_offset,
                tn_device src_device, const void* src, uint64_t src_offset, uint64_t bytes) {
    return guarded("copy", [&] {
      char* to = side(dst_device, dst, dst_offset);
      const char* from = side(src_device, src, src_offset);
      const bool watched = src_device.type == TN_DEVICE_CPU;
      const auto sum = [=] { return std::hash<std::string_view>()({from, bytes}); };
      const uint64_t before = watched ? sum() : 0;
      return enqueue(stream->handle, [=] {
        if (watched && sum() != before)  // the host touched it too early
          report(early, "host memory changed or freed before its copy", from);
        return std::memmove(to, from, bytes), nullptr;
      });
    });
  };
  def.fill_bytes = [](void*, tn_stream* stream, void* memory, uint64_t offset, uint8_t byte,
                      uint64_t bytes) {
    return guarded("fill_bytes", [&] {
      char* to = side(stream->device, memory, offset);
      return enqueue(stream->handle, [=] { return std::memset(to, byte, bytes), nullptr; });
    });
  };
  add_stream_slots(&def);
  if (const int failed = pthread_atfork(nullptr, nullptr, [] { forked = used.load(); }))
    return error(host, TN_INTERNAL, "ref: pthread_atfork: %s", std::strerror(failed));
  return registrar->device(registrar, &def);
}

char* kernel_view(const void* address) {
  if (!address) return nullptr;
  const char* known = static_cast<const char*>(address);
  if (!mapped || known < public_base || known >= public_base + kDevices * capacity)
    throw std::out_of_range("an operand is not memory of this backend");
  return kernel_base + (known - public_base);
}

tn_status* check_memory() {
  if (!mapped || is_fork()) return nullptr;
  for (int32_t arena = 0; arena <= kPinned; ++arena) arenas[arena].check_all();
  if (damaged != 0)
    return error(host, TN_INTERNAL, "ref: %lu writes outside of live blocks; the log has each",
                 damaged.load());
  if (early == 0) return nullptr;
  return error(host, TN_INTERNAL,
               "ref: %lu touches of host memory before a copy was done; the log has each",
               early.load());
}

}  // namespace ref
