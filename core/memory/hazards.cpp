// Orders the streams that use a storage, before each use.
#include "memory/hazards.h"

#include <algorithm>
#include <memory>

#include "memory/memory.h"

namespace tenon {
namespace {

Hazards* hazards_of(tn_storage* storage) {
  Hazards* found = storage->hazards.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<Hazards>(storage->stream);
    if (storage->hazards.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
      found = fresh.release();
    }
  }
  return found;
}

bool contains(const std::vector<Stream*>& streams, const Stream* stream) {
  return std::find(streams.begin(), streams.end(), stream) != streams.end();
}

}  // namespace

Status use_storage(tn_storage* storage, Stream* stream, bool write) {
  Hazards* hazards = storage->hazards.load(std::memory_order_acquire);
  if (hazards == nullptr) {
    // Storages of no stream are host memory; without stream slots all work is done already.
    if (stream == storage->stream || storage->stream == nullptr || stream == nullptr ||
        !storage->stream->device_type->has_streams()) [[likely]] {
      return nullptr;
    }
  }
  if (stream != nullptr && stream->stands_for != nullptr) [[unlikely]]
    return use_storage(storage, stream->stands_for, write);
  if (hazards == nullptr) hazards = hazards_of(storage);
  if (hazards->only.load(std::memory_order_acquire) == stream) return nullptr;

  const std::lock_guard lock(hazards->mutex);
  if (!write) {
    if (stream == hazards->writer || contains(hazards->readers, stream)) return nullptr;
    TN_TRY(order_streams(hazards->writer, stream));
    if (hazards->readers.capacity() < hazards->readers.size() + 2)
      hazards->readers.reserve(2 * hazards->readers.size() + 2);
    hazards->readers.push_back(stream);
    hazards->only.store(nullptr, std::memory_order_release);
    return nullptr;
  }
  TN_TRY(order_streams(hazards->writer, stream));
  for (Stream* reader : hazards->readers) TN_TRY(order_streams(reader, stream));
  hazards->writer = stream;
  hazards->readers.clear();
  hazards->only.store(stream, std::memory_order_release);
  return nullptr;
}

std::vector<Stream*> end_hazards(tn_storage* storage) noexcept {
  const std::unique_ptr<Hazards> hazards(
      storage->hazards.exchange(nullptr, std::memory_order_acq_rel));
  if (hazards == nullptr) return {};
  std::vector<Stream*> streams = std::move(hazards->readers);
  streams.push_back(hazards->writer);
  std::erase(streams, storage->stream);
  return streams;
}

}  // namespace tenon
