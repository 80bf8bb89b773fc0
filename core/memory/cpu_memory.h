// Host memory. A storage and its bytes are one block (128 bytes, then the data, 64-byte aligned),
// so that making and freeing a tensor's memory is one push and one pop on a list.
//
// Invariants
//  1. Data of up to 1 MiB comes in size classes. A thread keeps free blocks per class in lists of
//     its own, and exchanges them in batches with shared lists, under a mutex. Larger blocks are
//     kept in one best-fit set, under the same mutex.
//  2. Lists and counters of a thread are written by that thread only. What others may read are
//     atomics.
//  3. Counts are exact as soon as no thread allocates or frees; a thread's own are added in when
//     they are read. The peak may miss 256 KiB for each thread.
//  4. While there is a limit, or the cache was emptied since a thread looked, a free goes to the
//     shared lists, where the next one to empty the cache finds it. The lists of a thread that does
//     nothing are out of reach until it does something.
//  5. Large blocks are kept while what is taken stays within 5/4 of the most that was ever live,
//     and 64 MiB.
#pragma once

#include <cstdint>

#include "memory/summary.h"
#include "tensor/storage.h"

namespace tenon {

[[nodiscard]] Status allocate_cpu(uint64_t bytes, tn_storage** storage);
void read_cpu_stats(tn_memory_stats* stats);
void reset_cpu_peak();
void set_cpu_limit(uint64_t bytes);
void empty_cpu_cache();
bool cpu_has_room(uint64_t bytes);

}  // namespace tenon
