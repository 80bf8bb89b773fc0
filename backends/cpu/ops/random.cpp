// RANDOM_BITS: Philox 4x32-10, element i from counter i / 4, so the values do not depend on threads
// or layout.
#include <cstdint>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceCounters = 4096;

void launch(const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  if (!call->random) {
    check(error(call->host, TN_INTERNAL, "random_bits: the call has no random state (cpu)"));
  }
  uint64_t seed = call->random->seed;
  uint64_t offset = call->random->offset;
  if (call->random->state) {
    const int64_t* state = static_cast<const int64_t*>(call->random->state->data);
    seed = static_cast<uint64_t>(state[0]);
    offset = static_cast<uint64_t>(state[1]);
  }
  uint32_t* const out = static_cast<uint32_t*>(y.data);
  const int64_t whole = y.numel / 4;
  parallel_for(call->host, 0, whole, kPieceCounters, [&](int64_t begin, int64_t end) {
    table().philox(out + 4 * begin, begin, end - begin, seed, offset);
  });
  if (whole * 4 < y.numel) {
    uint32_t lanes[4];
    table().philox(lanes, whole, 1, seed, offset);
    for (int64_t i = whole * 4; i < y.numel; ++i) {
      out[i] = lanes[i % 4];
    }
  }
}

}  // namespace

void add_random() {
  kernel(TN_PRIM_RANDOM_BITS, "cpu",
         {.dtypes = int32, .layout = Layout::contiguous, .traits = kUsualPromises}, fn<launch>);
}

}  // namespace tenon::cpu_backend
