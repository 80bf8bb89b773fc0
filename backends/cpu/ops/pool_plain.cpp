// Pools of three dimensions and adaptive maxima in float32, with their gradients, by plain loops: a plane,
// [depth, h, w], on one thread. The other pools of one and two dimensions are in pool.cpp.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "ops/pool.h"

namespace tenon::cpu_backend {
namespace {

constexpr Pool kMax3d = {PoolKind::max, 3}, kAverage3d = {PoolKind::average, 3},
               kAdaptiveAverage3d = {PoolKind::adaptive_average, 3},
               kAdaptiveMax[] = {{PoolKind::adaptive_max, 1},
                                 {PoolKind::adaptive_max, 2},
                                 {PoolKind::adaptive_max, 3}};

struct Volumes : PoolWindows {
  std::vector<PoolShare> shares[3];
  bool fits;

  Volumes(const Pool& pool, const tn_value* args, const int64_t* sizes, int32_t ndim)
      : fits(read(pool, args, sizes, ndim)) {
    if (!fits) {
      return;
    }
    const bool is_average = pool.kind == PoolKind::average;
    for (int d = 0; d < 3; ++d) {
      // Dimensions that are not there have a window of their one element.
      const Pool one = d < 3 - pool.n ? Pool{PoolKind::adaptive_max, 1} : pool;
      shares[d] = pool_shares(one, axes[d], is_average && args[5].as.i != 0);
      if (is_average && args[6].kind == TN_KIND_INT) {
        const float whole = 1 / static_cast<float>(args[6].as.i);
        for (PoolShare& s : shares[d]) {
          s.factor = d == 0 ? whole : 1;
        }
      }
    }
  }

  // body(window along each dimension, the flat index of the output) for the windows of a plane.
  template <typename Body>
  void each_window(const Body& body) const {
    int64_t at = 0;
    for (const PoolShare& depth : shares[0]) {
      for (const PoolShare& vertical : shares[1]) {
        for (const PoolShare& horizontal : shares[2]) {
          body(depth, vertical, horizontal, at++);
        }
      }
    }
  }
  // body(flat index of its first, horizontal window) for the rows of a window.
  template <typename Body>
  void each_row(const PoolShare& depth, const PoolShare& vertical, const Body& body) const {
    for (int64_t i = depth.begin; i < depth.end; i += depth.step) {
      for (int64_t j = vertical.begin; j < vertical.end; j += vertical.step) {
        body((i * axes[1].size + j) * axes[2].size);
      }
    }
  }
  template <typename Body>
  void each_plane(const tn_call* call, const Body& body) const {
    const int64_t work = std::max<int64_t>(x_plane() + y_plane(), 1);
    parallel_for(call->host, 0, planes, 1 + kPieceElements / work, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        body(i);
      }
    });
  }
};

// The largest of a window, the first of equal ones and the last NaN, and its place, or -1: nothing but
// -inf finds its first, which may be in the padding.
float largest(const Volumes& v, const float* x, const PoolShare& depth, const PoolShare& vertical,
              const PoolShare& horizontal, int32_t* place) {
  float best = -std::numeric_limits<float>::infinity();
  const bool is_padded =
      depth.is_padded_before || vertical.is_padded_before || horizontal.is_padded_before;
  int64_t at = is_padded ? -1
                         : (depth.begin * v.axes[1].size + vertical.begin) * v.axes[2].size +
                               horizontal.begin;
  v.each_row(depth, vertical, [&](int64_t row) {
    for (int64_t k = horizontal.begin; k < horizontal.end; k += horizontal.step) {
      const float value = x[row + k];
      if (value > best || value != value) {
        best = value;
        at = row + k;
      }
    }
  });
  *place = static_cast<int32_t>(at);
  return best;
}

void max_forward(const Pool& pool, const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const Volumes v(pool, call->args, x.sizes, x.ndim);
  const tn_tensor* const kept = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  float* const y = data(call->outputs[0]);
  auto* const places = kept ? static_cast<int32_t*>(kept->data) : nullptr;
  v.each_plane(call, [&](int64_t plane) {
    const int64_t first = plane * v.y_plane();
    v.each_window([&](const PoolShare& depth, const PoolShare& vertical,
                      const PoolShare& horizontal, int64_t at) {
      int32_t place;
      y[first + at] =
          largest(v, data(&x) + plane * v.x_plane(), depth, vertical, horizontal, &place);
      if (places) {
        places[first + at] = place;
      }
    });
  });
}

// args: g, then the forward's (x is not saved) and the output (not saved), the places.
void max_backward(const Pool& pool, const tn_call* call) {
  clear_outputs(call);
  const tn_tensor* const dx = call->outputs[0];
  if (!dx || call->args[0].kind != TN_KIND_TENSOR) {
    return;
  }
  const Volumes v(pool, call->args + 1, dx->sizes, dx->ndim);
  const float* const g = data(call->args[0]);
  const auto* const places =
      static_cast<const int32_t*>(call->args[call->n_args - 1].as.tensor->data);
  v.each_plane(call, [&](int64_t plane) {
    float* const to = data(dx) + plane * v.x_plane();
    for (int64_t i = plane * v.y_plane(); i < (plane + 1) * v.y_plane(); ++i) {
      if (places[i] >= 0) {
        to[places[i]] += g[i];
      }
    }
  });
}

void average_forward(const Pool& pool, const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const Volumes v(pool, call->args, x.sizes, x.ndim);
  float* const y = data(call->outputs[0]);
  v.each_plane(call, [&](int64_t plane) {
    const float* const from = data(&x) + plane * v.x_plane();
    v.each_window([&](const PoolShare& depth, const PoolShare& vertical,
                      const PoolShare& horizontal, int64_t at) {
      double sum = 0;
      v.each_row(depth, vertical, [&](int64_t row) {
        float part = 0;
        for (int64_t k = horizontal.begin; k < horizontal.end; ++k) {
          part += from[row + k];
        }
        sum += part;
      });
      y[plane * v.y_plane() + at] =
          static_cast<float>(sum * (depth.factor * vertical.factor * horizontal.factor));
    });
  });
}

// args: g, then the forward's; nothing is saved.
void average_backward(const Pool& pool, const tn_call* call) {
  clear_outputs(call);
  const tn_tensor* const dx = call->outputs[0];
  if (!dx || call->args[0].kind != TN_KIND_TENSOR) {
    return;
  }
  const Volumes v(pool, call->args + 1, dx->sizes, dx->ndim);
  const float* const g = data(call->args[0]);
  v.each_plane(call, [&](int64_t plane) {
    float* const to = data(dx) + plane * v.x_plane();
    v.each_window([&](const PoolShare& depth, const PoolShare& vertical,
                      const PoolShare& horizontal, int64_t at) {
      const float share =
          g[plane * v.y_plane() + at] * (depth.factor * vertical.factor * horizontal.factor);
      v.each_row(depth, vertical, [&](int64_t row) {
        for (int64_t k = horizontal.begin; k < horizontal.end; ++k) {
          to[row + k] += share;
        }
      });
    });
  });
}

bool supports(const Pool& pool, const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  PoolWindows windows;
  if (!windows.read(pool, call->args, x.sizes, x.ndim)) {
    return why("the arguments do not fit together");
  }
  return divides(pool, call, why);
}

void add_max(const char* op, const Pool& pool) {
  kernel(op, "cpu", rows_of_float32(kUsualPromises), fn<max_forward>, &pool)
      .supports(fn<supports>)
      .private_outputs(1, fn<pool_places>)
      .backward(fn<max_backward>, {.saves_args = 0});
}
void add_average(const char* op, const Pool& pool) {
  kernel(op, "cpu", rows_of_float32(kUsualPromises), fn<average_forward>, &pool)
      .supports(fn<supports>)
      .backward(fn<average_backward>, {.saves_args = 0});
}

}  // namespace

void add_pool_plain() {
  add_max("max_pool3d", kMax3d);
  add_max("adaptive_max_pool1d", kAdaptiveMax[0]);
  add_max("adaptive_max_pool2d", kAdaptiveMax[1]);
  add_max("adaptive_max_pool3d", kAdaptiveMax[2]);
  add_average("avg_pool3d", kAverage3d);
  add_average("adaptive_avg_pool3d", kAdaptiveAverage3d);
}

}  // namespace tenon::cpu_backend
