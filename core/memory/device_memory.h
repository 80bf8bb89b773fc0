// The memory of one plugin's device: blocks cached per stream, cut out of segments taken from the
// backend.
//
// Invariants
//  1. A block belongs to one stream. It is given out again on that stream only, in its order; it
//     comes back at once when no other stream used it, else when those have passed (deferred.h).
//  2. The blocks of a segment cover it without gap, in order of their addresses; no two neighbours
//     are in the sets of one stream.
//  3. A segment goes back to the backend whole, behind the work of its block's stream. Whole ones of a
//     stream that died, whose work is done, are `idle`: any stream takes them before it asks for more.
//  4. taken_ + blobs never grow past the limit. While they are past it (the limit came later), a
//     request first gives back the segments that are free. What is left in others serves as long
//     as live storages and the request stay below the limit.
//  5. No function of the backend is called under the mutex.
//  6. A free that waits for nobody goes to a list of its size (`recent`), where the next request of
//     that size finds it. Before the backend is asked for more, these lists go to the sets, and
//     neighbours come together.
//  7. A free needs no memory: a block that is in no set has its place in one with it (`node`), and
//     the pool of its stream, and of the default stream, is there as long as it is.
//
// Where memory has no address, blocks are whole segments. Without caching a block is a segment of
// exactly the bytes asked for.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "memory/summary.h"
#include "tensor/storage.h"

namespace tenon {

class DeferredQueue;

class DeviceMemory {
 public:
  explicit DeviceMemory(tn_device device);
  [[nodiscard]] Status allocate(Stream* stream, uint64_t bytes, tn_storage** storage);
  void read_stats(tn_memory_stats* stats);
  void reset_peak();
  [[nodiscard]] Status set_limit(uint64_t bytes);
  [[nodiscard]] Status empty_cache();
  bool has_room(uint64_t bytes);  // beside what is taken, under the limit
  void stream_died(Stream* stream);

 private:
  struct Block;
  struct BySize {
    bool operator()(const Block* a, const Block* b) const;
  };
  using FreeBlocks = std::set<Block*, BySize>;
  struct Block {
    DeviceMemory* owner = nullptr;
    void* memory = nullptr;
    uint64_t bytes = 0;      // of the block
    uint64_t requested = 0;  // of its storage
    Stream* stream = nullptr;
    Block* before = nullptr;  // neighbours in the segment
    Block* after = nullptr;
    Block* next = nullptr;  // in a list of recent ones
    bool free = false;      // and in a set
    bool small = false;     // its segment is for small blocks
    FreeBlocks::node_type node;
    bool is_segment() const { return before == nullptr && after == nullptr; }
  };
  static constexpr uint64_t kSmallRequest = uint64_t{512} << 10;  // bytes
  static constexpr uint32_t kSmallLists = 1025;  // a multiple of the granularity each
  static constexpr uint32_t kLargeLists = 64;    // by a hash; a list holds one size
  struct StreamPool {
    FreeBlocks free[2];  // large, small
    Block* recent[kSmallLists + kLargeLists] = {};
    uint64_t n_recent = 0;
  };

  static void destroy_storage(tn_storage* storage);
  static void give_back(void* block);
  uint64_t rounded(uint64_t bytes) const;
  uint32_t list_of(uint64_t bytes) const;
  StreamPool& pool_of(Stream* stream);
  void keep_recent(StreamPool& pool, Block* block);
  void flush_list(StreamPool& pool, uint32_t list);
  bool flush_recent(StreamPool& pool);
  void count(Block* block, uint64_t bytes);
  Block* take(Stream* stream, uint64_t bytes);
  Block* take_idle(uint64_t bytes);
  Block* take_recent(StreamPool& pool, uint64_t bytes);
  enum class Waste { kLittle, kAny };
  Block* take_fitting(StreamPool& pool, uint64_t bytes, Waste waste);
  Block* take_left(Stream* stream, uint64_t bytes, Waste waste);
  static std::unique_ptr<Block> new_block();
  static void take_out(FreeBlocks* blocks, Block* block);
  Block* split(Block* block, uint64_t bytes, std::unique_ptr<Block> rest);
  Block* merge(Block* left, Block* right);
  uint64_t segment_for(uint64_t bytes);
  Block* begin_segment(Block* segment, Stream* stream, uint64_t requested,
                       std::unique_ptr<Block> rest);
  // *refusal: what the backend said where there is no memory.
  [[nodiscard]] Status grow(Stream* stream, uint64_t bytes, Block** block, StatusHolder* refusal);
  [[nodiscard]] Status take_segment(uint64_t bytes, void** memory, StatusHolder* refusal);
  void insert(Block* block);
  void join_pools();
  void release_segment(Block* block);
  [[nodiscard]] Status release_cached();
  bool over_limit(uint64_t more) const;
  bool may_serve(uint64_t bytes) const;
  MemorySummary summary(uint64_t wanted);

  const tn_device device_;
  const DeviceType& type_;
  const uint64_t granularity_;
  const bool may_split_;
  const bool keeps_recent_;
  DeferredQueue& deferred_;
  std::mutex mutex_;
  // All of these need the mutex.
  std::unordered_map<Stream*, StreamPool> pools_;
  FreeBlocks idle_;
  uint64_t limit_ = 0;
  uint64_t taken_ = 0;   // bytes of segments
  uint64_t in_use_ = 0;  // bytes of blocks that are not free
  uint64_t live_ = 0;    // bytes of live storages
  uint64_t peak_ = 0;
  uint64_t n_allocations_ = 0;
  uint64_t n_segments_ = 0;
};

// Of a plugin's device that exists; lives as long as the process.
DeviceMemory& device_memory(tn_device device);

}  // namespace tenon
