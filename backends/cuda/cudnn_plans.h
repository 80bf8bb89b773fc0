// The handles of cuDNN and its plans, of the devices that are here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "operation_graph.h"
#include "stream.h"

namespace cuda {

// This thread's handle of a device, whose context is current.
tn_status* find_cudnn(int32_t index, cudnnHandle_t* handle);

// Makes it where cuDNN is in use: that may allocate and wait, which does not suit a thread whose stream
// records. A failure is that of the call that wants the handle.
void prepare_cudnn(int32_t index);

// The plan of a problem on a device, whose context is current; made when it is first asked for. Those that
// were used last are kept, and one that is not any more lives as long as its holders. `key`: the bytes
// of all that decides it, which have one length for each kind of problem. NULL with `why`: cuDNN is not
// there, or does not take the problem, both also from then on; or the search failed in a way that may
// pass, and the next call searches again, some times. From any thread.
using MakePlan = std::function<std::unique_ptr<Plan>(const Target& target, Search* search)>;
std::shared_ptr<Plan> find_plan(int32_t index, std::string_view key, const MakePlan& make,
                                std::string* why);

// A refusal of a kernel, which is asked without the context of the device. `body` is a std::string().
template <class Body>
std::string with_context(const char* op, int32_t index, const Body& body) {
  std::string why;
  tn_status* failure = guarded(op, index, [&]() -> tn_status* {
    why = body();
    return nullptr;
  });
  return failure ? text_of(failure) : why;
}

// Executes it on the stream, with workspace of the call; the plan lives until that is done. `op` is named
// where it fails.
tn_status* execute(const tn_call* call, const Stream& stream, const char* op,
                   const std::shared_ptr<Plan>& plan, const GraphData& data);

}  // namespace cuda
