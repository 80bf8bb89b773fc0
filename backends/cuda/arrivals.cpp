// Counters come from pages, which are cleared once: each launch leaves its counter at 0, so the next holder
// finds it so. A page goes with its last counter.
#include "arrivals.h"

#include <bit>
#include <map>
#include <mutex>

namespace cuda {
namespace {

constexpr int kCounters = 64;
constexpr uint64_t kApart = 128;  // bytes: streams that count at once share no line of a cache

std::mutex mutex;

struct Page {
  int32_t index;
  CUdeviceptr memory = 0;
  uint64_t unused = ~uint64_t{0};  // a bit for each counter; needs the mutex

  explicit Page(int32_t of) : index(of) {}
  Page(const Page&) = delete;
  ~Page() {
    if (memory != 0) log_failure(status_of(driver.cuMemFree(memory), "cuMemFree", index));
  }
};
auto& newest = *new std::map<int32_t, std::weak_ptr<Page>>;  // by device; needs the mutex

tn_status* make_page(int32_t index, CUstream stream, std::shared_ptr<Page>* page) {
  auto made = std::make_shared<Page>(index);
  // Not with_room: what ends with an emptied cache may give counters back, and they need the mutex
  // that is held here.
  TN_CUDA_CALL(index, cuMemAlloc, &made->memory, kCounters * kApart);
  TN_CUDA_CALL(index, cuMemsetD8Async, made->memory, 0, kCounters * kApart, stream);
  // A graph may count on another stream than the one that it is recorded on.
  TN_CUDA_CALL(index, cuStreamSynchronize, stream);
  *page = std::move(made);
  return nullptr;
}

}  // namespace

tn_status* take_arrivals(int32_t index, CUstream stream, Arrivals* arrivals) {
  std::shared_ptr<Page> page;  // goes behind the lock, since its end calls the driver
  int k = 0;
  {
    const std::lock_guard lock(mutex);
    page = newest[index].lock();
    if (!page || page->unused == 0) {
      TN_CUDA_TRY(make_page(index, stream, &page));
      newest[index] = page;
    }
    k = std::countr_zero(page->unused);
    page->unused &= ~(uint64_t{1} << k);
  }
  const auto give_back = [page, k](void*) {
    const std::lock_guard lock(mutex);
    page->unused |= uint64_t{1} << k;
  };
  arrivals->reset(reinterpret_cast<void*>(page->memory + static_cast<uint64_t>(k) * kApart),
                  give_back);
  return nullptr;
}

}  // namespace cuda
