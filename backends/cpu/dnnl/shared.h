// What the files of the adapter share: the engine, pieces of problems on several threads, and
// computations that are made once for each problem. For the adapter's library alone.
#pragma once

#include <dnnl.hpp>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "dnnl/adapter.h"

namespace tenon::cpu_backend {

inline dnnl::engine& engine() {
  static dnnl::engine* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);  // outlives all threads
  return *e;
}

// What the exception being handled means. To be called in a catch block.
inline int32_t failure() {
  try {
    throw;
  } catch (const dnnl::error& e) {  // strides or sizes that it does not take
    return e.status == dnnl_out_of_memory ? TENON_CPU_DNNL_OUT_OF_MEMORY : TENON_CPU_DNNL_REFUSED;
  } catch (const std::bad_alloc&) {
    return TENON_CPU_DNNL_OUT_OF_MEMORY;
  } catch (...) {
    return TENON_CPU_DNNL_REFUSED;
  }
}

// One dimension of a problem in pieces of `size`, a multiple of `unit`; the last may be smaller.
struct Cut {
  int64_t total = 1, size = 1;

  Cut() = default;
  Cut(int64_t n, int64_t pieces, int64_t unit) : total(n) {
    const int64_t share = (n + pieces - 1) / pieces;
    size = std::min(n, (share + unit - 1) / unit * unit);
  }
  int64_t count() const { return (total + size - 1) / size; }
  int64_t begin(int64_t i) const { return i * size; }
  int64_t length(int64_t i) const { return std::min(size, total - begin(i)); }
  // Pieces of a length have a kernel in common: 0, or 1 for a last one that is smaller.
  int64_t variant(int64_t i) const { return length(i) == size ? 0 : 1; }
  int64_t variants() const { return total % size == 0 ? 1 : 2; }
  int64_t length_of(int64_t variant) const { return variant == 0 ? size : total % size; }
};

// While it lives, oneDNN makes and runs what this thread asks for on one thread: with several it
// cuts sums by their number.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

// body(thread, piece) for all pieces below n, a run of neighbours on each thread. Throws what
// oneDNN throws.
template <typename Body>
void each_piece(const tenon_cpu_dnnl_threads& threads, int64_t n, const Body& body) {
  struct Work {
    const Body& body;
    int64_t n, n_threads;
    std::atomic<int32_t> failed;
  } work = {body, n, std::min(threads.count, n), 0};
  const auto run = [](void* context, int64_t thread) {
    Work& w = *static_cast<Work*>(context);
    const OneThread one_thread;
    try {
      for (int64_t i = w.n * thread / w.n_threads; i < w.n * (thread + 1) / w.n_threads; ++i) {
        w.body(thread, i);
      }
    } catch (...) {
      w.failed = failure();
    }
  };
  if (work.n_threads == 1) {
    run(&work, 0);
  } else if (n > 0) {
    threads.run(threads.context, work.n_threads, run, &work);
  }
  if (work.failed == TENON_CPU_DNNL_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (work.failed != 0) {
    throw dnnl::error(dnnl_runtime_error, "a piece failed");
  }
}

// Kernels by problem; the one used longest ago goes when there are too many. Any thread.
template <typename Key, typename Kernel>
class KernelCache {
 public:
  explicit KernelCache(size_t most) : most_(most) {}

  template <typename Make>
  std::shared_ptr<const Kernel> find(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    ++now_;
    size_t oldest = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].key == key) {
        entries_[i].used = now_;
        return entries_[i].kernel;
      }
      oldest = entries_[i].used < entries_[oldest].used ? i : oldest;
    }
    Entry entry = {key, make(), now_};
    if (entries_.size() < most_) {
      entries_.push_back(entry);
    } else {
      entries_[oldest] = entry;
    }
    return entry.kernel;
  }

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const Kernel> kernel;
    uint64_t used;
  };
  const size_t most_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  uint64_t now_ = 0;
};

// See tenon_cpu_dnnl.
int64_t convolution_workspace(const tenon_cpu_dnnl_convolution*, int64_t threads);
int32_t convolution(const tenon_cpu_dnnl_convolution*, const tenon_cpu_dnnl_data*, void* scratch,
                    const tenon_cpu_dnnl_threads*);

}  // namespace tenon::cpu_backend
