// Bytes between devices: ordered on both sides, host memory included. No dtypes, no strides.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "tensor/storage.h"

namespace tenon {

// While it is set, copies of this thread between pinned memory of the host (pinned_pool.h) and
// devices that can reach it are not waited for; who set it keeps the host from that memory until
// they are done. The copies keep the memory itself.
extern constinit thread_local bool non_blocking_copies;

// dst and src may be on any two devices (cpu included; not meta). Notes the use of both storages on
// the streams involved. What it reads from the cpu was read, and what it writes there was written,
// when it returns. Device types that cannot copy to each other go through host memory.
[[nodiscard]] Status copy_bytes(tn_storage* dst, uint64_t dst_offset, tn_storage* src,
                                uint64_t src_offset, uint64_t bytes);
// To and from plain host memory, which is the caller's again on return.
[[nodiscard]] Status read_bytes(void* memory, tn_storage* src, uint64_t src_offset, uint64_t bytes);
[[nodiscard]] Status write_bytes(tn_storage* dst, uint64_t dst_offset, const void* memory,
                                 uint64_t bytes);

}  // namespace tenon
