// Rows of normalizations and softmax, forward and backward, in float32. Sums are kept in float64
// between blocks of kBlock elements; within one a vector's lanes times two add up.
#pragma once

#include "vector/fold.h"
#include "vector/math.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kBlock = 1024;

// f(i, n) for the vectors of a row: n lanes of it begin at i. All but the last are whole.
template <typename F>
TENON_INLINE void each_vector(int64_t begin, int64_t end, const F& f) {
  constexpr int64_t w = kLanes<float>;
  int64_t i = begin;
  for (; i + w <= end; i += w) {
    f(i, w);
  }
  if (i < end) {
    f(i, end - i);
  }
}

// A whole vector, or a part with zeros behind it.
TENON_INLINE Vec<float> load_n(const float* p, int64_t n) {
  return n == kLanes<float> ? load(p) : load_part(p, n, 0.f);
}
TENON_INLINE void store_n(float* p, int64_t n, Vec<float> v) {
  if (n == kLanes<float>) {
    store(p, v);
  } else {
    store_part(p, n, v);
  }
}
// The first n lanes of v, zeros behind them.
TENON_INLINE Vec<float> keep_n(int64_t n, Vec<float> v) {
  if (n == kLanes<float>) {
    return v;
  }
  float lanes[kLanes<float>] = {};
  store_part(lanes, n, v);
  return load(lanes);
}

// The sum over a row of f(i, n), a vector whose lanes behind n are 0.
template <typename F>
TENON_INLINE double sum_row(int64_t n, const F& f) {
  constexpr int64_t w = kLanes<float>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    Vec<float> a = {}, b = {};
    int64_t i = begin;
    for (; i + 2 * w <= end; i += 2 * w) {
      a += f(i, w);
      b += f(i + w, w);
    }
    each_vector(i, end, [&](int64_t at, int64_t lanes) { a += f(at, lanes); });
    total += fold_across<Add, float>(a + b);
  }
  return total;
}

double sum_f32(const float* x, int64_t n) {
  return sum_row(n, [=](int64_t i, int64_t lanes) { return load_n(x + i, lanes); });
}

double square_off_f32(const float* x, int64_t n, float mean) {
  const Vec<float> m = broadcast(mean);
  return sum_row(n, [=](int64_t i, int64_t lanes) {
    const Vec<float> d = keep_n(lanes, load_n(x + i, lanes) - m);
    return d * d;
  });
}

double dot_off_f32(const float* g, const float* weight, const float* x, int64_t n, float mean) {
  const Vec<float> m = broadcast(mean);
  return sum_row(n, [=](int64_t i, int64_t lanes) {
    Vec<float> v = load_n(g + i, lanes);
    if (weight) {
      v *= load_n(weight + i, lanes);
    }
    return keep_n(lanes, v * (load_n(x + i, lanes) - m));
  });
}

double dot_f32(const float* x, const float* y, int64_t n) {
  return sum_row(
      n, [=](int64_t i, int64_t lanes) { return load_n(x + i, lanes) * load_n(y + i, lanes); });
}

void normalize_f32(float* y, const float* x, int64_t n, float mean, float factor, float shift) {
  const Vec<float> m = broadcast(mean), f = broadcast(factor), s = broadcast(shift);
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    store_n(y + i, lanes, (load_n(x + i, lanes) - m) * f + s);
  });
}

void normalize_by_f32(float* y, const float* x, int64_t n, float mean, float factor,
                      const float* weight, const float* bias) {
  const Vec<float> m = broadcast(mean), f = broadcast(factor);
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    Vec<float> v = (load_n(x + i, lanes) - m) * f;
    if (weight) {
      v *= load_n(weight + i, lanes);
    }
    if (bias) {
      v += load_n(bias + i, lanes);
    }
    store_n(y + i, lanes, v);
  });
}

void normalize_dx_f32(float* dx, const float* g, const float* weight, const float* x, int64_t n,
                      float mean, float of_g, float of_x, float shift) {
  const Vec<float> m = broadcast(mean), a = broadcast(of_g), b = broadcast(of_x),
                   c = broadcast(shift);
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    Vec<float> v = load_n(g + i, lanes);
    if (weight) {
      v *= load_n(weight + i, lanes);
    }
    store_n(dx + i, lanes, a * v + b * (load_n(x + i, lanes) - m) + c);
  });
}

// Each column with statistics of its own: rows of channels-last images.
void columns_sum_f32(float* sums, const float* x, int64_t n, const float* mean) {
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    Vec<float> v = load_n(x + i, lanes);
    if (mean) {
      v -= load_n(mean + i, lanes);
      v *= v;
    }
    store_n(sums + i, lanes, load_n(sums + i, lanes) + v);
  });
}
void columns_dot_f32(float* sums, float* dots, const float* g, const float* x, int64_t n,
                     const float* mean) {
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    const Vec<float> v = load_n(g + i, lanes);
    store_n(sums + i, lanes, load_n(sums + i, lanes) + v);
    store_n(dots + i, lanes,
            load_n(dots + i, lanes) + v * (load_n(x + i, lanes) - load_n(mean + i, lanes)));
  });
}
void columns_normalize_f32(float* y, const float* x, int64_t n, const float* mean,
                           const float* factor, const float* shift) {
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    Vec<float> v = (load_n(x + i, lanes) - load_n(mean + i, lanes)) * load_n(factor + i, lanes);
    if (shift) {
      v += load_n(shift + i, lanes);
    }
    store_n(y + i, lanes, v);
  });
}
void columns_dx_f32(float* dx, const float* g, const float* x, int64_t n, const float* mean,
                    const float* of_g, const float* of_x, const float* shift) {
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    const Vec<float> off = load_n(x + i, lanes) - load_n(mean + i, lanes);
    store_n(dx + i, lanes,
            load_n(g + i, lanes) * load_n(of_g + i, lanes) + off * load_n(of_x + i, lanes) +
                load_n(shift + i, lanes));
  });
}
void columns_add_f32(float* y, const float* x, int64_t n, float factor) {
  const Vec<float> f = broadcast(factor);
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    store_n(y + i, lanes, load_n(y + i, lanes) + load_n(x + i, lanes) * f);
  });
}

void normalize_dw_f32(float* dw, float* db, const float* g, const float* x, int64_t n, float mean,
                      float factor) {
  const Vec<float> m = broadcast(mean), f = broadcast(factor);
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    const Vec<float> v = load_n(g + i, lanes);
    store_n(dw + i, lanes, load_n(dw + i, lanes) + v * ((load_n(x + i, lanes) - m) * f));
    store_n(db + i, lanes, load_n(db + i, lanes) + v);
  });
}

// exp(scale * x - top) to y, and its sum.
double exp_off_f32(float* y, const float* x, int64_t n, float scale, float top) {
  const Vec<float> s = broadcast(scale), t = broadcast(top);
  return sum_row(n, [=](int64_t i, int64_t lanes) {
    const Vec<float> e = keep_n(lanes, Exp::of(load_n(x + i, lanes) * s - t));
    if (y) {
      store_n(y + i, lanes, e);
    }
    return e;
  });
}

// y = x * factor - shift
void scale_f32(float* y, const float* x, int64_t n, float factor, float shift) {
  const Vec<float> f = broadcast(factor), s = broadcast(shift);
  each_vector(
      0, n, [=](int64_t i, int64_t lanes) { store_n(y + i, lanes, load_n(x + i, lanes) * f - s); });
}

// The gradient of a softmax y: (g - dot) y.
void softmax_dx_f32(float* dx, const float* g, const float* y, int64_t n, float dot, float scale) {
  const Vec<float> d = broadcast(dot), s = broadcast(scale);
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    store_n(dx + i, lanes, (load_n(g + i, lanes) - d) * load_n(y + i, lanes) * s);
  });
}

// The gradient of a log_softmax y: g - exp(y) sum.
void log_softmax_dx_f32(float* dx, const float* g, const float* y, int64_t n, float sum) {
  const Vec<float> s = broadcast(sum);
  each_vector(0, n, [=](int64_t i, int64_t lanes) {
    store_n(dx + i, lanes, load_n(g + i, lanes) - Exp::of(load_n(y + i, lanes)) * s);
  });
}

constexpr RowFunctions kRowFunctions = {
    sum_f32,          square_off_f32,        dot_off_f32,
    dot_f32,          normalize_f32,         normalize_by_f32,
    normalize_dx_f32, normalize_dw_f32,      columns_sum_f32,
    columns_dot_f32,  columns_normalize_f32, columns_dx_f32,
    columns_add_f32,  exp_off_f32,           scale_f32,
    softmax_dx_f32,   log_softmax_dx_f32,
};

}  // namespace
}  // namespace tenon::cpu_backend
