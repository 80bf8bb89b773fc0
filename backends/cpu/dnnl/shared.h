// What the files of the adapter share: the engine, and computations that are made once for
// each problem. For the adapter's library alone.
#pragma once

#include <dnnl.hpp>

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
int64_t convolution_workspace(const tenon_cpu_dnnl_convolution*);
int32_t convolution(const tenon_cpu_dnnl_convolution*, const tenon_cpu_dnnl_data*, void* scratch);

}  // namespace tenon::cpu_backend
