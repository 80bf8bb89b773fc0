// Blobs of backends: found by key and view, dropped with their storage, its version, or for want of
// memory.
#include "memory/cache.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hot_thread_local.h"
#include "base/log.h"
#include "base/thread_local.h"
#include "memory/cpu_memory.h"
#include "memory/deferred.h"
#include "memory/device_memory.h"
#include "tensor/stream.h"

namespace tenon {

TN_HOT constinit thread_local HeldBlobs held_blobs{0, 0};

namespace {

struct DeviceBlobs;

// Counted by the list it is in and the calls that hold it.
struct Blob {
  void* blob;
  uint64_t bytes;
  void (*destroy)(void*);
  DeviceBlobs* device;
  Stream* maker;  // whose work makes it
  // These need the device's mutex, or the last reference.
  std::vector<Stream*> streams{};  // whose work may use it
  bool is_made = false;            // the call that makes it has returned
  Event made{};                    // and this is behind its work
  std::atomic<uint32_t> refs{1};
};

struct Entry {
  uint64_t key;
  uint64_t byte_offset;
  tn_dtype dtype;
  uint32_t version;  // of the storage when it was attached
  std::vector<int64_t> sizes, strides;
  Blob* blob;
};

}  // namespace

struct BlobList {
  tn_storage* storage;
  std::vector<Entry> entries;
};

namespace {

struct DeviceBlobs {
  tn_device device;
  std::atomic<uint64_t> bytes{0};
  std::mutex mutex;
  std::unordered_set<BlobList*> lists;  // needs the mutex, as their entries do
};

std::atomic<DeviceBlobs*> g_devices[kMaxDeviceTypes][kMaxDevices];

struct Held {
  Blob* blob;
  bool made_here;
};

std::vector<Held>& held_here() {
  static auto& held = *new ThreadLocal<std::vector<Held>>;
  return held.get();
}

DeviceBlobs& blobs_of(tn_device device) {
  std::atomic<DeviceBlobs*>& place = g_devices[device.type][device.index];
  DeviceBlobs* found = place.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<DeviceBlobs>();
    fresh->device = device;
    if (place.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

void destroy_blob(void* context) {
  auto* blob = static_cast<Blob*>(context);
  blob->destroy(blob->blob);
  blob->device->bytes.fetch_sub(blob->bytes, std::memory_order_relaxed);
  delete blob;
}

void release(Blob* blob) {
  if (blob->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (blob->streams.empty()) return destroy_blob(blob);
  deferred_queue(blob->device->device).push_behind(blob->streams, destroy_blob, blob);
}

// Needs the device's mutex. Changes nothing where memory is exhausted.
void note_use(Blob* blob, Stream* stream, bool makes) {
  if (held_blobs.depth != 0) {
    std::vector<Held>& held = held_here();
    if (held.size() == held.capacity()) held.reserve(2 * held.size() + 4);
  }
  if (stream != nullptr &&
      std::find(blob->streams.begin(), blob->streams.end(), stream) == blob->streams.end()) {
    blob->streams.push_back(stream);
  }
  if (held_blobs.depth != 0) {
    blob->refs.fetch_add(1, std::memory_order_relaxed);
    held_here().push_back({blob, makes});
    ++held_blobs.count;
  }
}

// Undoes note_use of a blob that nobody else knows.
void forget_use(Blob* blob) {
  if (held_blobs.depth == 0) return;
  held_here().pop_back();
  --held_blobs.count;
  blob->refs.fetch_sub(1, std::memory_order_relaxed);
}

// The end of the call that makes it.
void finish_making(Blob* blob) {
  Event made;
  const bool known = blob->maker == nullptr || log_failure(made.record(blob->maker)) ||
                     log_failure(synchronize_stream(blob->maker));
  const std::lock_guard lock(blob->device->mutex);
  blob->made = std::move(made);
  blob->is_made = known;  // else no other stream may ever find it
}

// Needs the device's mutex, so that a second find on the stream does not overtake the first one's
// wait.
bool is_ready(const Blob* blob, Stream* stream) {
  if (std::find(blob->streams.begin(), blob->streams.end(), stream) != blob->streams.end())
    return true;
  if (blob->maker == nullptr || stream == nullptr) return true;
  return blob->is_made && log_failure(blob->made.make_wait(stream));
}

bool is_of(const Entry& entry, const Tensor* t, uint64_t key) {
  return entry.key == key && entry.byte_offset == t->byte_offset && entry.dtype == t->dtype &&
         std::ranges::equal(entry.sizes, t->size_span()) &&
         std::ranges::equal(entry.strides, t->stride_span());
}

// Needs the mutex. Takes the list from the storage, whose last touch this is: it may be freed at
// once. Needs no memory, because frees come here.
std::vector<Entry> take_list(DeviceBlobs& here, BlobList* list) {
  std::vector<Entry> entries = std::move(list->entries);
  here.lists.erase(list);
  list->storage->blobs.store(nullptr, std::memory_order_release);
  delete list;
  return entries;
}

void release_all(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) release(entry.blob);
}

bool has_room(tn_device device, uint64_t bytes) {
  return device.type == TN_DEVICE_CPU ? cpu_has_room(bytes) : device_memory(device).has_room(bytes);
}

}  // namespace

void* find_blob(const Tensor* tensor, Stream* stream, uint64_t key) {
  tn_storage* storage = tensor->storage;
  if (storage->blobs.load(std::memory_order_acquire) == nullptr) return nullptr;
  DeviceBlobs& here = blobs_of(storage->device);
  std::vector<Entry> stale;
  void* found = nullptr;
  {
    const std::lock_guard lock(here.mutex);
    BlobList* list = storage->blobs.load(std::memory_order_relaxed);
    if (list == nullptr) return nullptr;
    const uint32_t version = version_of(storage).load(std::memory_order_relaxed);
    const auto is_current = [&](const Entry& entry) {
      return entry.version == version && !storage->no_cache;
    };
    for (const Entry& entry : list->entries) {
      if (!is_current(entry) || !is_of(entry, tensor, key)) continue;
      if (!is_ready(entry.blob, stream)) break;
      note_use(entry.blob, stream, false);
      found = entry.blob->blob;
      break;
    }
    const auto first = std::partition(list->entries.begin(), list->entries.end(), is_current);
    if (first == list->entries.begin()) {
      stale = take_list(here, list);
    } else if (first != list->entries.end()) {
      stale.assign(std::make_move_iterator(first), std::make_move_iterator(list->entries.end()));
      list->entries.erase(first, list->entries.end());
    }
  }
  release_all(stale);
  return found;
}

Status attach_blob(const Tensor* tensor, Stream* stream, uint64_t key, void* memory, uint64_t bytes,
                   void (*destroy)(void*)) {
  tn_storage* storage = tensor->storage;
  DeviceBlobs& here = blobs_of(storage->device);
  const bool may_keep = !storage->no_cache && storage->device.type != TN_DEVICE_META &&
                        has_room(storage->device, bytes);
  std::unique_ptr<Blob> made(new Blob{memory, bytes, destroy, &here, stream});
  Blob* blob = made.get();
  Entry entry{key,
              tensor->byte_offset,
              tensor->dtype,
              0,
              {tensor->sizes, tensor->sizes + tensor->ndim},
              {tensor->strides, tensor->strides + tensor->ndim},
              blob};
  const bool in_call = held_blobs.depth != 0;
  if (!in_call) finish_making(blob);
  {
    const std::lock_guard lock(here.mutex);
    BlobList* list = storage->blobs.load(std::memory_order_relaxed);
    const uint32_t version = version_of(storage).load(std::memory_order_relaxed);
    // Where two threads packed the same, the first one's stays.
    const bool is_there =
        list != nullptr && std::ranges::any_of(list->entries, [&](const Entry& entry) {
          return entry.version == version && is_of(entry, tensor, key);
        });
    // All that may throw comes before what is changed.
    entry.version = version;
    std::unique_ptr<BlobList> fresh;
    if (may_keep && !is_there) {
      if (list == nullptr) fresh = std::make_unique<BlobList>(BlobList{storage, {}});
      std::vector<Entry>& entries = (list != nullptr ? list : fresh.get())->entries;
      if (entries.size() == entries.capacity()) entries.reserve(2 * entries.size() + 1);
    }
    note_use(blob, stream, in_call);
    if (fresh) {
      try {
        here.lists.insert(fresh.get());
      } catch (...) {
        forget_use(blob);
        throw;
      }
    }
    made.release();
    here.bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (may_keep && !is_there) {
      if (fresh) {
        list = fresh.release();
        storage->blobs.store(list, std::memory_order_release);
      }
      list->entries.push_back(std::move(entry));
      return nullptr;
    }
  }
  release(blob);
  return nullptr;
}

void drop_blobs(tn_storage* storage) {
  if (storage->blobs.load(std::memory_order_acquire) == nullptr) return;
  DeviceBlobs& here = blobs_of(storage->device);
  std::vector<Entry> dropped;
  {
    const std::lock_guard lock(here.mutex);
    BlobList* list = storage->blobs.load(std::memory_order_relaxed);
    if (list != nullptr) dropped = take_list(here, list);
  }
  release_all(dropped);
}

uint64_t drop_all_blobs(tn_device device) {
  DeviceBlobs& here = blobs_of(device);
  uint64_t bytes = 0;
  for (;;) {
    std::vector<Entry> dropped;
    {
      const std::lock_guard lock(here.mutex);
      if (here.lists.empty()) return bytes;
      dropped = take_list(here, *here.lists.begin());
      for (const Entry& entry : dropped) bytes += entry.blob->bytes;
    }
    release_all(dropped);
  }
}

uint64_t cached_blob_bytes(tn_device device) {
  const DeviceBlobs* here = g_devices[device.type][device.index].load(std::memory_order_acquire);
  return here == nullptr ? 0 : here->bytes.load(std::memory_order_relaxed);
}

void CallBlobs::release() {
  std::vector<Held>& held = held_here();
  while (held_blobs.count != mark_) {
    const Held last = held.back();
    held.pop_back();
    --held_blobs.count;
    if (last.made_here) finish_making(last.blob);
    tenon::release(last.blob);
  }
}

}  // namespace tenon
