// Pools of one and two dimensions in float32, with their gradients: plane by plane. A plane is [h,
// w], with h = 1 for one dimension.
#include <algorithm>
#include <cstdint>

#include "ops/pool.h"

namespace tenon::cpu_backend {
namespace {

constexpr Pool kMax1d = {PoolKind::max, 1}, kMax2d = {PoolKind::max, 2},
               kAverage1d = {PoolKind::average, 1}, kAverage2d = {PoolKind::average, 2},
               kAdaptive1d = {PoolKind::adaptive_average, 1},
               kAdaptive2d = {PoolKind::adaptive_average, 2};

// body(worker, plane) over all planes; there are `workers` at once.
template <typename Body>
void each_plane(const tn_call* call, const PoolWindows& p, int64_t workers, const Body& body) {
  parallel_for(call->host, 0, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      for (int64_t i = p.planes * worker / workers; i < p.planes * (worker + 1) / workers; ++i) {
        body(worker, i);
      }
    }
  });
}
int64_t workers_of(const PoolWindows& p) {
  const int64_t most = std::min<int64_t>(p.planes, thread_count());
  return std::clamp<int64_t>(p.planes * p.x_plane() / kPieceElements, 1,
                             std::max<int64_t>(most, 1));
}

// ---- Maximum. The private output is the place of each in its plane, or -1 ----

void max_forward(const Pool& pool, const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  if (x.numel == 0) {
    return;
  }
  PoolWindows p;
  p.read(pool, call->args, x.sizes, x.ndim);
  float* const y = data(call->outputs[0]);
  const bool last = pool.has_batch(x) && is_channels_last(x);
  const float* elements;
  as_image(call, x, last, &elements);
  const int64_t workers = workers_of(p);
  const tn_tensor* kept = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  void* memory = kept ? kept->data : nullptr;
  if (!kept) {
    const uint64_t places = static_cast<uint64_t>((last ? p.planes : workers) * p.y_plane());
    memory = Call(call).workspace(places * sizeof(int32_t));
  }
  if (last) {
    return max_forward_last(call, p, x.sizes[1], elements, y, static_cast<int32_t*>(memory));
  }
  each_plane(call, p, workers, [&](int64_t worker, int64_t i) {
    int32_t* const places = static_cast<int32_t*>(memory) + (kept ? i : worker) * p.y_plane();
    table().max_plane(p.axes[1], p.axes[2], elements + i * p.x_plane(), y + i * p.y_plane(),
                      places);
  });
}

// args: g, then the forward's (x is not saved) and the output (not saved), the places.
void max_backward(const Pool& pool, const tn_call* call) {
  const tn_tensor* dx = call->outputs[0];
  if (!dx || dx->numel == 0 || call->args[0].kind != TN_KIND_TENSOR) {
    clear_outputs(call);
    return;
  }
  PoolWindows p;
  p.read(pool, call->args + 1, dx->sizes, dx->ndim);
  const bool last = pool.has_batch(*dx) && is_channels_last(*dx);  // as x
  const float* g;
  as_image(call, *call->args[0].as.tensor, last, &g);
  const int32_t* const places =
      static_cast<const int32_t*>(call->args[call->n_args - 1].as.tensor->data);
  if (last) {
    return max_backward_last(call, p, dx->sizes[1], g, places, data(dx));
  }
  each_plane(call, p, workers_of(p), [&](int64_t, int64_t i) {
    float* const plane = data(dx) + i * p.x_plane();
    std::fill_n(plane, p.x_plane(), 0.f);
    for (int64_t j = i * p.y_plane(); j < (i + 1) * p.y_plane(); ++j) {
      if (places[j] >= 0) {
        plane[places[j]] += g[j];
      }
    }
  });
}

// ---- Averages ----

// What an average's forward and backward need of their call.
struct Average : PoolShares {
  PoolWindows p;
  Average(const Pool& pool, const tn_value* args, const int64_t* sizes, int32_t ndim) {
    p.read(pool, args, sizes, ndim);
    const bool counts_padding = pool.kind == PoolKind::average && args[5].as.i != 0;
    h = pool_shares(pool, p.axes[1], counts_padding);
    w = pool_shares(pool, p.axes[2], counts_padding);
    if (pool.kind == PoolKind::average && pool.n == 2 && args[6].kind == TN_KIND_INT) {
      for (PoolShare& s : h) {
        s.factor = 1 / static_cast<float>(args[6].as.i);
      }
      for (PoolShare& s : w) {
        s.factor = 1;
      }
    }
  }
};

// One window that is the whole plane: global pooling, what most networks end with.
bool is_global(const Average& a) {
  return a.h.size() == 1 && a.w.size() == 1 && a.h[0].begin == 0 && a.w[0].begin == 0 &&
         a.h[0].end == a.p.axes[1].size && a.w[0].end == a.p.axes[2].size;
}

void add_row(float* y, const float* x, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    y[j] += x[j];
  }
}

// One row for each worker.
void row_buffers(const tn_call* call, const PoolWindows& p, float** rows) {
  const uint64_t elements = static_cast<uint64_t>(workers_of(p) * p.axes[2].size);
  void* const memory = Call(call).workspace(elements * sizeof(float));
  *rows = static_cast<float*>(memory);
}

// The rows of a window are added up first, then its columns.
void average_forward(const Pool& pool, const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  if (x.numel == 0) {
    return;
  }
  const Average a(pool, call->args, x.sizes, x.ndim);
  const bool last = pool.has_batch(x) && is_channels_last(x);
  const float* elements;
  as_image(call, x, last, &elements);
  if (last) {
    return average_forward_last(call, a.p, a, x.sizes[1], elements, data(call->outputs[0]));
  }
  float* rows;
  row_buffers(call, a.p, &rows);
  const int64_t width = a.p.axes[2].size;
  float* const results = data(call->outputs[0]);
  each_plane(call, a.p, workers_of(a.p), [&](int64_t worker, int64_t i) {
    const float* const plane = elements + i * a.p.x_plane();
    float* y = results + i * a.p.y_plane();
    if (is_global(a)) {
      const double sum = table().rows.sum(plane, a.p.x_plane());
      *y = static_cast<float>(sum * (a.h[0].factor * a.w[0].factor));
      return;
    }
    float* const row = rows + worker * width;
    for (const PoolShare& vertical : a.h) {
      std::fill_n(row, width, 0.f);
      for (int64_t r = vertical.begin; r < vertical.end; ++r) {
        add_row(row, plane + r * width, width);
      }
      for (const PoolShare& horizontal : a.w) {
        float sum = 0;
        for (int64_t j = horizontal.begin; j < horizontal.end; ++j) {
          sum += row[j];
        }
        *y++ = sum * (vertical.factor * horizontal.factor);
      }
    }
  });
}

// args: g, then the forward's; nothing is saved.
void average_backward(const Pool& pool, const tn_call* call) {
  const tn_tensor* dx = call->outputs[0];
  if (!dx || dx->numel == 0 || call->args[0].kind != TN_KIND_TENSOR) {
    clear_outputs(call);
    return;
  }
  const Average a(pool, call->args + 1, dx->sizes, dx->ndim);
  const bool last = pool.has_batch(*dx) && is_channels_last(*dx);  // as x
  const float* gradients;
  as_image(call, *call->args[0].as.tensor, last, &gradients);
  if (last) {
    return average_backward_last(call, a.p, a, dx->sizes[1], gradients, data(dx));
  }
  float* rows;
  row_buffers(call, a.p, &rows);
  const int64_t width = a.p.axes[2].size;
  each_plane(call, a.p, workers_of(a.p), [&](int64_t worker, int64_t i) {
    float* const plane = data(dx) + i * a.p.x_plane();
    const float* g = gradients + i * a.p.y_plane();
    if (is_global(a)) {
      std::fill_n(plane, a.p.x_plane(), *g * (a.h[0].factor * a.w[0].factor));
      return;
    }
    std::fill_n(plane, a.p.x_plane(), 0.f);
    float* const row = rows + worker * width;
    for (const PoolShare& vertical : a.h) {
      std::fill_n(row, width, 0.f);
      for (const PoolShare& horizontal : a.w) {
        const float share = *g++ * (vertical.factor * horizontal.factor);
        for (int64_t j = horizontal.begin; j < horizontal.end; ++j) {
          row[j] += share;
        }
      }
      for (int64_t r = vertical.begin; r < vertical.end; ++r) {
        add_row(plane + r * width, row, width);
      }
    }
  });
}

bool supports(const Pool& pool, const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  PoolWindows p;
  if (lies_otherwise(x) || (!pool.has_batch(x) && is_channels_last(x))) {
    return why("%s", kOtherOrder);
  }
  if (!p.read(pool, call->args, x.sizes, x.ndim)) {
    return why("the arguments do not fit together");
  }
  return divides(pool, call, why);
}

void add_max(const char* op, const Pool& pool) {
  kernel(op, "cpu", images_of_float32(kUsualPromises), fn<max_forward>, &pool)
      .supports(fn<supports>)
      .order(image_order)
      .private_outputs(1, fn<pool_places>)
      .backward(fn<max_backward>, {.saves_args = 0});
}
void add_average(const char* op, const Pool& pool) {
  kernel(op, "cpu", images_of_float32(kUsualPromises), fn<average_forward>, &pool)
      .supports(fn<supports>)
      .order(image_order)
      .backward(fn<average_backward>, {.saves_args = 0});
}

}  // namespace

void add_pool() {
  add_max("max_pool1d", kMax1d);
  add_max("max_pool2d", kMax2d);
  add_average("avg_pool1d", kAverage1d);
  add_average("avg_pool2d", kAverage2d);
  add_average("adaptive_avg_pool1d", kAdaptive1d);
  add_average("adaptive_avg_pool2d", kAdaptive2d);
}

}  // namespace tenon::cpu_backend
