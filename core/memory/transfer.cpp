// Copies of bytes between any two places, on the stream of the device that takes part.
#include "memory/transfer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "memory/deferred.h"
#include "memory/memory.h"
#include "memory/pinned_pool.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

// Of which the caller said that nobody need wait. What is recorded is waited for.
bool may_go_on(const tn_storage* host, tn_device device) {
  return non_blocking_copies && host->pinned_for == device.type && allocation_listener == nullptr;
}

constexpr uint64_t kStaging = uint64_t{16} << 20;

bool is_host(const tn_storage* s) { return s->device.type == TN_DEVICE_CPU; }

Status check_range(const char* what, const tn_storage* s, uint64_t offset, uint64_t bytes) {
  if (s->device.type == TN_DEVICE_META) return invalid("{}: meta has no values", what);
  if (offset <= s->bytes && bytes <= s->bytes - offset) return nullptr;
  return invalid("{}: bytes {} to {} are outside of a storage of {} on {}", what, offset,
                 offset + bytes, s->bytes, device_text(s->device));
}

// Host memory and device memory, one way; has finished on return.
Status copy_and_wait(const char* what, tn_device device, tn_storage* used, bool writes, void* dst,
                     uint64_t dst_offset, const void* src, uint64_t src_offset, uint64_t bytes) {
  Stream* stream = nullptr;
  TN_TRY(current_stream(device, &stream));
  TN_TRY(use_storage(used, stream, writes));
  Status failed = slots::copy(stream, writes ? device : kCpu, dst, dst_offset,
                              writes ? kCpu : device, src, src_offset, bytes);
  // Waits in any case: the host memory may be gone when we have returned. (Not for a lost device,
  // whose work is done.)
  Status lost = failed != nullptr && is_lost(device) ? nullptr : synchronize_stream(stream);
  if (failed == nullptr) {
    failed = lost;
  } else {
    free_status(lost);
  }
  if (failed == nullptr) return nullptr;
  return wrap(failed, [&] {
    return fmt::format("{}: {} bytes {} {} failed", what, bytes, writes ? "to" : "from",
                       device_text(device));
  });
}

// Between pinned memory and a device, of which `there` is a storage; may be under way on return.
Status copy_and_go_on(tn_storage* there, bool writes, tn_storage* host, const void* src,
                      uint64_t src_offset, void* dst, uint64_t dst_offset, uint64_t bytes) {
  const tn_device device = there->device;
  Stream* stream = nullptr;
  TN_TRY(current_stream(device, &stream));
  TN_TRY(use_storage(there, stream, writes));
  Status failed = slots::copy(stream, writes ? device : kCpu, dst, dst_offset,
                              writes ? kCpu : device, src, src_offset, bytes);
  host->retain();
  Stream* const behind[] = {stream};
  deferred_queue(device).push_behind(
      behind, [](void* s) { static_cast<tn_storage*>(s)->release(); }, host);
  if (failed == nullptr) return nullptr;
  return wrap(failed, [&] {
    return fmt::format("copy_bytes: {} bytes {} {} failed", bytes, writes ? "to" : "from",
                       device_text(device));
  });
}

// From host memory, which may change or go as soon as this has returned. Small ones do not wait
// where there is pinned memory.
Status upload(const char* what, tn_storage* dst, uint64_t dst_offset, const void* memory,
              uint64_t bytes) {
  const tn_device device = dst->device;
  const DeviceType& type = *device_type(device.type);
  PinnedPool::Block block{};
  if (type.has_streams() && type.def.allocate_host != nullptr && bytes <= PinnedPool::kLargest) {
    TN_TRY(pinned_pool_of(device).take(bytes, &block));
  }
  if (block.memory == nullptr)
    return copy_and_wait(what, device, dst, true, dst->memory, dst_offset, memory, 0, bytes);
  std::memcpy(block.memory, memory, bytes);
  Stream* stream = nullptr;
  Status failed = guarded([&]() -> Status {
    TN_TRY(current_stream(device, &stream));
    TN_TRY(use_storage(dst, stream, true));
    return slots::copy(stream, device, dst->memory, dst_offset, kCpu, block.memory, 0, bytes);
  });
  if (stream != nullptr) {
    pinned_pool_of(device).give_back_behind(stream, block);
  } else {
    pinned_pool_of(device).give_back(block);
  }
  if (failed == nullptr) return nullptr;
  return wrap(failed, [&] {
    return fmt::format("{}: {} bytes to {} failed", what, bytes, device_text(device));
  });
}

Status copy_within(tn_storage* dst, uint64_t dst_offset, tn_storage* src, uint64_t src_offset,
                   uint64_t bytes) {
  if (dst == src && dst_offset < src_offset + bytes && src_offset < dst_offset + bytes) {
    return invalid("copy_bytes: {} bytes at {} and at {} of one storage overlap", bytes, src_offset,
                   dst_offset);
  }
  Stream* stream = nullptr;
  TN_TRY(current_stream(dst->device, &stream));
  if (dst != src) TN_TRY(use_storage(src, stream, false));
  TN_TRY(use_storage(dst, stream, true));
  return slots::copy(stream, dst->device, dst->memory, dst_offset, src->device, src->memory,
                     src_offset, bytes);
}

Status copy_through_host(tn_storage* dst, uint64_t dst_offset, tn_storage* src, uint64_t src_offset,
                         uint64_t bytes) {
  const uint64_t piece = std::min(bytes, kStaging);
  const std::unique_ptr<char[]> staging(new (std::nothrow) char[piece]);
  if (staging == nullptr) {
    return error(TN_OUT_OF_MEMORY, "copy_bytes: no host memory for {} bytes between {} and {}",
                 piece, device_text(src->device), device_text(dst->device));
  }
  for (uint64_t done = 0; done < bytes; done += piece) {
    const uint64_t now = std::min(piece, bytes - done);
    TN_TRY(read_bytes(staging.get(), src, src_offset + done, now));
    TN_TRY(write_bytes(dst, dst_offset + done, staging.get(), now));
  }
  return nullptr;
}

}  // namespace

constinit thread_local bool non_blocking_copies = false;

Status copy_bytes(tn_storage* dst, uint64_t dst_offset, tn_storage* src, uint64_t src_offset,
                  uint64_t bytes) {
  TN_TRY(check_range("copy_bytes: dst", dst, dst_offset, bytes));
  TN_TRY(check_range("copy_bytes: src", src, src_offset, bytes));
  if (bytes == 0) return nullptr;
  if (is_host(dst) && is_host(src)) {
    std::memmove(static_cast<char*>(dst->memory) + dst_offset,
                 static_cast<const char*>(src->memory) + src_offset, bytes);
    return nullptr;
  }
  if (is_host(src) && may_go_on(src, dst->device)) {
    return copy_and_go_on(dst, true, src, static_cast<const char*>(src->memory) + src_offset, 0,
                          dst->memory, dst_offset, bytes);
  }
  if (is_host(dst) && may_go_on(dst, src->device)) {
    return copy_and_go_on(src, false, dst, src->memory, src_offset, dst->memory, dst_offset, bytes);
  }
  if (is_host(src)) {
    return upload("copy_bytes", dst, dst_offset, static_cast<const char*>(src->memory) + src_offset,
                  bytes);
  }
  if (is_host(dst)) {
    return copy_and_wait("copy_bytes", src->device, src, false, dst->memory, dst_offset,
                         src->memory, src_offset, bytes);
  }
  if (dst->device.type == src->device.type) {
    return copy_within(dst, dst_offset, src, src_offset, bytes);
  }
  return copy_through_host(dst, dst_offset, src, src_offset, bytes);
}

Status read_bytes(void* memory, tn_storage* src, uint64_t src_offset, uint64_t bytes) {
  TN_TRY(check_range("read_bytes", src, src_offset, bytes));
  if (bytes == 0) return nullptr;
  if (is_host(src)) {
    std::memcpy(memory, static_cast<const char*>(src->memory) + src_offset, bytes);
    return nullptr;
  }
  return copy_and_wait("read_bytes", src->device, src, false, memory, 0, src->memory, src_offset,
                       bytes);
}

Status write_bytes(tn_storage* dst, uint64_t dst_offset, const void* memory, uint64_t bytes) {
  TN_TRY(check_range("write_bytes", dst, dst_offset, bytes));
  if (bytes == 0) return nullptr;
  if (is_host(dst)) {
    std::memcpy(static_cast<char*>(dst->memory) + dst_offset, memory, bytes);
    return nullptr;
  }
  return upload("write_bytes", dst, dst_offset, memory, bytes);
}

}  // namespace tenon
