// Captures of streams, and graphs. A capture is a list of work, in the order in which it came, that
// its streams put there; a stream that waits for a captured event joins. What of the list a stream
// knows to be before it is a count for each stream.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stream.h"

namespace fake {

// Something to do on a stream, and addresses that it works on: at each run they must be live.
struct Work {
  std::string name;  // "launch add", "copy host to device"
  Task run;
  std::vector<const char*> memory;
};

struct Capture {
  CUstreamCaptureMode mode;
  std::thread::id thread;
  CUstream origin;
  bool is_invalid = false, has_ended = false;
  std::vector<Work> work;
  std::set<std::shared_ptr<Stream>> streams;
};

// Puts work on a stream, or records it where the stream captures.
CUresult put(const std::shared_ptr<Stream>& stream, Work work);

bool is_capturing(const Stream& stream);
// The error of a call that is not allowed on a stream that captures, whose capture is invalid from
// then on. 0: the stream does not capture.
CUresult refuse_capturing(const Stream& stream);
// Likewise of a call that is unsafe beside a capture.
CUresult refuse_unsafe();

// An event's place, and its capture.
struct Recorded {
  Place place;
  std::shared_ptr<Capture> capture;  // NULL: it was recorded on a stream that ran
  Clock clock;
};
Recorded record_on(const std::shared_ptr<Stream>& stream);
CUresult wait_for(const std::shared_ptr<Stream>& stream, const Recorded& recorded);
// Of a query, or of a wait of the host, where the event was captured.
CUresult refuse_captured(const Recorded& recorded);

}  // namespace fake
