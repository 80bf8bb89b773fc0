// Pools of channels-last images: the channels of a place are a row.
#include <algorithm>
#include <limits>

#include "ops/pool.h"

namespace tenon::cpu_backend {
namespace {

// body(image, row) over all rows of outputs.
template <typename Body>
void each_output_row(const tn_call* call, const PoolPlanes& p, int64_t channels, const Body& body) {
  const int64_t rows = p.planes / channels * p.axes[1].out;
  const int64_t work = p.axes[1].kernel * p.axes[2].size * channels;
  parallel_for(call->host, 0, rows, 1 + kPieceElements / std::max<int64_t>(work, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   body(i / p.axes[1].out, i % p.axes[1].out);
                 }
               });
}
// body(image) over all images: their windows overlap.
template <typename Body>
void each_image(const tn_call* call, const PoolPlanes& p, int64_t channels, const Body& body) {
  parallel_for(call->host, 0, p.planes / channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      body(i);
    }
  });
}

}  // namespace

void max_forward_last(const tn_call* call, const PoolPlanes& p, int64_t channels, const float* x,
                      float* y, int32_t* places) {
  const PoolAxis &h = p.axes[1], &w = p.axes[2];
  each_output_row(call, p, channels, [&](int64_t image, int64_t i) {
    const float* const plane = x + image * p.x_plane() * channels;
    const int64_t top = i * h.stride - h.padding;
    for (int64_t j = 0; j < w.out; ++j) {
      const int64_t at = (image * p.y_plane() + i * w.out + j) * channels;
      const int64_t left = j * w.stride - w.padding;
      std::fill_n(y + at, channels, -std::numeric_limits<float>::infinity());
      // Of nothing but -inf the first, which may be in the padding.
      std::fill_n(places + at, channels,
                  top < 0 || left < 0 ? -1 : static_cast<int32_t>(top * w.size + left));
      for (int64_t a = 0; a < h.kernel; ++a) {
        for (int64_t b = 0; b < w.kernel; ++b) {
          const int64_t row = top + a * h.dilation, column = left + b * w.dilation;
          if (row < 0 || row >= h.size || column < 0 || column >= w.size) {
            continue;
          }
          const int64_t place = row * w.size + column;
          table().max_columns(y + at, places + at, plane + place * channels, channels,
                              static_cast<int32_t>(place));
        }
      }
    }
  });
}

void max_backward_last(const tn_call* call, const PoolPlanes& p, int64_t channels, const float* g,
                       const int32_t* places, float* dx) {
  each_image(call, p, channels, [&](int64_t image) {
    float* const plane = dx + image * p.x_plane() * channels;
    std::fill_n(plane, p.x_plane() * channels, 0.f);
    for (int64_t i = image * p.y_plane(); i < (image + 1) * p.y_plane(); ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        const int32_t place = places[i * channels + c];
        if (place >= 0) {
          plane[place * channels + c] += g[i * channels + c];
        }
      }
    }
  });
}

void average_forward_last(const tn_call* call, const PoolPlanes& p, const PoolShares& shares,
                          int64_t channels, const float* x, float* y) {
  const int64_t width = p.axes[2].size;
  each_output_row(call, p, channels, [&](int64_t image, int64_t i) {
    const PoolShare& vertical = shares.h[static_cast<size_t>(i)];
    for (size_t j = 0; j < shares.w.size(); ++j) {
      const PoolShare& horizontal = shares.w[j];
      float* const to =
          y + (image * p.y_plane() + i * p.axes[2].out + static_cast<int64_t>(j)) * channels;
      std::fill_n(to, channels, 0.f);
      for (int64_t row = vertical.begin; row < vertical.end; ++row) {
        for (int64_t column = horizontal.begin; column < horizontal.end; ++column) {
          table().rows.columns_add(to, x + (image * p.x_plane() + row * width + column) * channels,
                                   channels, vertical.factor * horizontal.factor);
        }
      }
    }
  });
}

void average_backward_last(const tn_call* call, const PoolPlanes& p, const PoolShares& shares,
                           int64_t channels, const float* g, float* dx) {
  const int64_t width = p.axes[2].size;
  each_image(call, p, channels, [&](int64_t image) {
    float* const plane = dx + image * p.x_plane() * channels;
    std::fill_n(plane, p.x_plane() * channels, 0.f);
    const float* from = g + image * p.y_plane() * channels;
    for (const PoolShare& vertical : shares.h) {
      for (const PoolShare& horizontal : shares.w) {
        for (int64_t row = vertical.begin; row < vertical.end; ++row) {
          for (int64_t column = horizontal.begin; column < horizontal.end; ++column) {
            table().rows.columns_add(plane + (row * width + column) * channels, from, channels,
                                     vertical.factor * horizontal.factor);
          }
        }
        from += channels;
      }
    }
  });
}

}  // namespace tenon::cpu_backend
