// Reads the arguments of a pool's call into axes and windows; for all files of pools.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/images.h"
#include "vector/table.h"

namespace tenon::cpu_backend {

enum class PoolKind { max, average, adaptive_max, adaptive_average };

struct Pool {
  PoolKind kind;
  int32_t n;  // dimensions of the windows

  bool is_adaptive() const {
    return kind == PoolKind::adaptive_max || kind == PoolKind::adaptive_average;
  }
  // Without one the channels are dimension 0.
  bool has_batch(const tn_tensor& x) const { return x.ndim == n + 2; }
};

// A call's planes, [depth, h, w], with sizes of 1 in front of fewer dimensions.
struct PoolPlanes {
  PoolAxis axes[3];
  int64_t planes = 0;  // samples times channels
  int64_t x_plane() const { return axes[0].size * axes[1].size * axes[2].size; }
  int64_t y_plane() const { return axes[0].out * axes[1].out * axes[2].out; }
};

// The planes of a call, once it has been read.
struct PoolWindows : PoolPlanes {
  // False where the arguments do not fit together, and then nothing here counts.
  bool read(const Pool& pool, const tn_value* args, const int64_t* sizes, int32_t ndim) {
    axes[0] = axes[1] = axes[2] = {1, 1, 1, 1, 0, 1};
    if (ndim != pool.n + 1 && ndim != pool.n + 2) {
      return false;
    }
    planes = product(sizes, ndim - pool.n);
    for (int32_t d = 0; d < pool.n; ++d) {
      PoolAxis& a = axes[3 - pool.n + d];
      a.size = sizes[ndim - pool.n + d];
      const bool fits = pool.is_adaptive() ? a.size > 0 && option(args[1], pool.n, d, 1, &a.out)
                                           : read_axis(pool, args, d, &a);
      if (!fits) {
        return false;
      }
    }
    return x_plane() <= INT32_MAX;
  }

 private:
  // What is given once or for each dimension.
  static bool option(const tn_value& v, int32_t n, int32_t d, int64_t least, int64_t* value) {
    if (v.kind != TN_KIND_INTS || (v.count != 1 && v.count != static_cast<uint32_t>(n))) {
      return false;
    }
    *value = v.as.ints[v.count == 1 ? 0 : d];
    return *value >= least && *value <= INT32_MAX;
  }
  static bool read_axis(const Pool& pool, const tn_value* args, int32_t d, PoolAxis* a) {
    const bool is_max = pool.kind == PoolKind::max;
    const tn_value& stride = args[2].count == 0 ? args[1] : args[2];
    bool fits = option(args[1], pool.n, d, 1, &a->kernel) &&
                option(stride, pool.n, d, 1, &a->stride) &&
                option(args[3], pool.n, d, 0, &a->padding) && 2 * a->padding <= a->kernel;
    if (is_max) {
      fits = fits && option(args[4], pool.n, d, 1, &a->dilation);
    }
    if (!fits) {
      return false;
    }
    const bool ceil = args[is_max ? 5 : 4].as.i != 0;
    const int64_t room = a->size + 2 * a->padding - (a->dilation * (a->kernel - 1) + 1);
    a->out = room < 0 ? 0 : (room + (ceil ? a->stride - 1 : 0)) / a->stride + 1;
    if (ceil && (a->out - 1) * a->stride >= a->size + a->padding) {
      --a->out;  // no window begins beyond the tensor
    }
    return a->out >= 1;
  }
};

// A window along one dimension: its elements are begin, begin + step .. below end, and in an average
// each counts `factor`.
struct PoolShare {
  int64_t begin, end, step;
  float factor;
  bool is_padded_before;  // its first is in the padding
};
inline std::vector<PoolShare> pool_shares(const Pool& pool, const PoolAxis& a,
                                          bool counts_padding) {
  std::vector<PoolShare> list;
  for (int64_t i = 0; i < a.out; ++i) {
    if (pool.is_adaptive()) {
      const int64_t begin = i * a.size / a.out, end = ((i + 1) * a.size + a.out - 1) / a.out;
      list.push_back({begin, end, 1, 1 / static_cast<float>(end - begin), false});
      continue;
    }
    const int64_t at = i * a.stride - a.padding,
                  before = at < 0 ? (a.dilation - 1 - at) / a.dilation : 0;
    const int64_t begin = at + before * a.dilation;
    const int64_t end = std::min(at + (a.kernel - 1) * a.dilation + 1, a.size);
    const int64_t count =
        counts_padding ? std::min(at + a.kernel, a.size + a.padding) - at : end - begin;
    list.push_back({begin, end, a.dilation, 1 / static_cast<float>(count), at < 0});
  }
  return list;
}
// The windows of an average of one or two dimensions.
struct PoolShares {
  std::vector<PoolShare> h, w;
};

// The private output of a maximum: where it is in its plane, for each, or -1.
inline void pool_places(const tn_call* call, std::span<tn_meta> metas) {
  metas[0] = call->metas[0];
  metas[0].dtype = TN_INT32;
}
// Averages of two and three dimensions have a divisor_override as their last argument.
inline bool divides(const Pool& pool, const tn_call* call, Refusal why) {
  const bool is_given =
      pool.kind == PoolKind::average && pool.n > 1 && call->args[6].kind == TN_KIND_INT;
  return !is_given || call->args[6].as.i != 0 || why("divisor_override is 0");
}

// Channels-last images (pool_last.cpp): x and dx are [n, h, w, channels], y, g and places
// [n, out.., channels]. places: of each maximum in its plane, or -1.
void max_forward_last(const tn_call* call, const PoolPlanes& p, int64_t channels, const float* x,
                      float* y, int32_t* places);
void max_backward_last(const tn_call* call, const PoolPlanes& p, int64_t channels, const float* g,
                       const int32_t* places, float* dx);
void average_forward_last(const tn_call* call, const PoolPlanes& p, const PoolShares& shares,
                          int64_t channels, const float* x, float* y);
void average_backward_last(const tn_call* call, const PoolPlanes& p, const PoolShares& shares,
                           int64_t channels, const float* g, float* dx);

}  // namespace tenon::cpu_backend
