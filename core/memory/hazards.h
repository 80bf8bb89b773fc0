// Which streams use a storage: orders conflicting work on different streams, and tells a free what
// it must wait for.
//
// Invariants
//  1. No record (storage->hazards is NULL): all uses so far were on storage->stream.
//  2. `writer` is the stream of the last write; the first is storage->stream, for what it did
//     before the record was made.
//  3. `readers` are the other streams that read since, each put behind the writer when it came.
//  4. A write is put behind `writer`, also when its stream reads already (the writer's stream may
//     have read since), and behind every reader; then it is the writer, and there are no readers.
//     So whoever is behind `writer` and `readers` is behind every use there ever was.
//  5. `only` is the writer while there are no readers, else NULL. Its stream may read and write
//     without a lock: what would conflict is another thread's use at the same time, which no stream
//     order can mend.
//  6. `readers` has room for one more, which end_hazards puts there: a free needs no memory.
//  7. The mutex is held while streams are ordered, so that a second use on a stream does not
//     overtake the first one's wait. It is taken before the locks of streams and events, and
//     nothing else is locked under it.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "tensor/storage.h"

namespace tenon {

struct Hazards {
  explicit Hazards(Stream* first) : only(first), writer(first) { readers.reserve(3); }

  std::mutex mutex;
  std::atomic<Stream*> only;
  Stream* writer;                // needs the mutex
  std::vector<Stream*> readers;  // needs the mutex
};

// The streams other than storage->stream that a free must wait for. For storages without
// references; ends the record.
std::vector<Stream*> end_hazards(tn_storage* storage) noexcept;

}  // namespace tenon
