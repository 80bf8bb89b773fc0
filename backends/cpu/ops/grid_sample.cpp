// Images sampled at the places of a grid, and the gradients to both: two dimensions, bilinear or
// nearest, in float32. What a place takes is found once for all channels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ops/norm.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kBlock = 256;  // of places
constexpr int64_t kMostRows =
    (1 << 22) - 1;  // up to here a float holds each place and the half behind it

enum class Border { zeros, border, reflection };

// The same numbers as those of the op's meaning (plugins/ops/grid_sample.cpp), so that a place on the
// border between two elements is on the same side.
struct Axis {
  int64_t size;
  float scale, shift, low, span, last;
  Border border;
  Axis(int64_t n, Border b, bool corners)
      : size(n),
        scale(static_cast<float>((corners ? static_cast<double>(n) - 1 : static_cast<double>(n)) /
                                 2)),
        shift(corners ? 0.f : 0.5f),
        low(corners ? 0.f : -0.5f),
        span(static_cast<float>(corners ? n - 1 : n)),
        last(static_cast<float>(n - 1)),
        border(b) {}

  // The element, as a fraction of their distance, and by how much it moves with x.
  float place(float x, float* slope) const {
    const float raw = (x + 1) * scale - shift;
    *slope = scale;
    if (border == Border::zeros) {
      return raw;
    }
    if (border == Border::border) {
      return bounded(raw, slope);
    }
    if (span == 0) {
      *slope = 0;
      return 0;
    }
    const float from_low = raw - low, distance = std::fabs(from_low);
    float rest = distance;
    bool turns = false;
    if (distance >= span && distance < 2 * span) {
      rest = distance - span;
      turns = true;
    } else if (!(distance < span)) {
      rest = std::fmod(distance, span);
      turns = std::fmod(std::floor(distance / span), 2.f) != 0;
    }
    if (turns != (from_low < 0)) {
      *slope = -*slope;
    }
    return bounded(turns ? span - rest + low : rest + low, slope);
  }

 private:
  float bounded(float x, float* slope) const {
    if (x > 0 && x < last) {
      return x;
    }
    *slope = 0;
    return x > 0 ? last : 0;  // what is no number goes to the first
  }
};

struct Sampling {
  const tn_tensor& x;
  const tn_tensor& grid;
  bool nearest;
  int64_t n, channels, height, width, places;
  Axis vertical, horizontal;

  // Of the forward's arguments.
  explicit Sampling(const tn_value* args)
      : x(*args[0].as.tensor),
        grid(*args[1].as.tensor),
        nearest(text(args[2]) == "nearest"),
        n(x.sizes[0]),
        channels(x.sizes[1]),
        height(x.sizes[2]),
        width(x.sizes[3]),
        places(grid.sizes[1] * grid.sizes[2]),
        vertical(height, border_of(args[3]), args[4].as.i != 0),
        horizontal(width, border_of(args[3]), args[4].as.i != 0) {}
  static std::string_view text(const tn_value& v) { return v.as.string; }
  static Border border_of(const tn_value& v) {
    return text(v) == "border"       ? Border::border
           : text(v) == "reflection" ? Border::reflection
                                     : Border::zeros;
  }
  int64_t blocks() const { return (places + kBlock - 1) / kBlock; }
  int64_t plane() const { return height * width; }
  // -1: outside.
  int32_t flat(int32_t row, int32_t column) const {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? row * static_cast<int32_t>(width) + column : -1;
  }
};

// What the places of a block take.
struct Block {
  int64_t begin, n;
  SampleTaps taps{};
  int32_t at[4][kBlock];
  float right[kBlock], below[kBlock];
  float slope_x[kBlock], slope_y[kBlock];  // of the place in elements by the grid's numbers

  Block(const Sampling& s, int64_t image, int64_t block)
      : begin(block * kBlock), n(std::min(kBlock, s.places - begin)) {
    const float* const grid = data(&s.grid) + (image * s.places + begin) * 2;
    taps.n = s.nearest ? 1 : 4;
    taps.right = right;
    taps.below = below;
    for (int k = 0; k < 4; ++k) {
      taps.at[k] = at[k];
    }
    for (int64_t i = 0; i < n; ++i) {
      const float x = s.horizontal.place(grid[2 * i], &slope_x[i]);
      const float y = s.vertical.place(grid[2 * i + 1], &slope_y[i]);
      // Elsewhere, or NaN, nothing is taken, and the weights do not count.
      const bool near = x > -2 && x < static_cast<float>(s.width + 1) && y > -2 &&
                        y < static_cast<float>(s.height + 1);
      if (s.nearest) {
        at[0][i] = near ? s.flat(whole_nearest(y), whole_nearest(x)) : -1;
        continue;
      }
      const int32_t left = near ? whole_below(x) : 0, above = near ? whole_below(y) : 0;
      right[i] = x - static_cast<float>(left);
      below[i] = y - static_cast<float>(above);
      at[0][i] = near ? s.flat(above, left) : -1;
      at[1][i] = near ? s.flat(above, left + 1) : -1;
      at[2][i] = near ? s.flat(above + 1, left) : -1;
      at[3][i] = near ? s.flat(above + 1, left + 1) : -1;
    }
  }

 private:
  // Of numbers that an image may have, which are below 2^22: floor, and the even one of two that are as
  // near.
  static int32_t whole_below(float x) {
    const auto whole = static_cast<int32_t>(x);
    return whole - (static_cast<float>(whole) > x ? 1 : 0);
  }
  static int32_t whole_nearest(float x) {
    constexpr float kWhole = 0x1.8p23f;  // whose neighbours are 1 apart
    return static_cast<int32_t>((x + kWhole) - kWhole);
  }
};

void forward(const tn_call* call) {
  const Sampling s(call->args);
  float* const y = data(call->outputs[0]);
  if (call->outputs[0]->numel == 0) {
    return;
  }
  const int64_t blocks = s.blocks(), work = s.channels * std::min(kBlock, s.places);
  parallel_for(call->host, 0, s.n * blocks, 1 + kPieceElements / work,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t image = i / blocks;
                   const Block block(s, image, i % blocks);
                   for (int64_t c = image * s.channels; c < (image + 1) * s.channels; ++c) {
                     table().sample(y + c * s.places + block.begin, data(&s.x) + c * s.plane(),
                                    block.n, block.taps);
                   }
                 }
               });
}

void add_at_taps(float* plane, const float* g, const Block& block) {
  for (int64_t i = 0; i < block.n; ++i) {
    const auto add = [&](int k, float value) {
      const int32_t at = block.at[k][i];
      if (at >= 0) {
        plane[at] += value;
      }
    };
    if (block.taps.n == 1) {
      add(0, g[i]);
      continue;
    }
    const float right = block.right[i], below = block.below[i], left = 1 - right, above = 1 - below;
    add(0, g[i] * (left * above));
    add(1, g[i] * (right * above));
    add(2, g[i] * (left * below));
    add(3, g[i] * (right * below));
  }
}

// 0 where the place does not move, also if d is no number.
float moved(float d, float slope) { return slope == 0 ? 0 : d * slope; }

// args: g, then the forward's. An image on one thread: its places meet in its elements.
void backward(const tn_call* call) {
  clear_outputs(call);
  if (call->args[0].kind != TN_KIND_TENSOR) {
    return;
  }
  const Sampling s(call->args + 1);
  const float* const g = data(call->args[0]);
  float *const dx = data(call->outputs[0]), *const dgrid = data(call->outputs[1]);
  parallel_for(call->host, 0, s.n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * s.blocks(); i < end * s.blocks(); ++i) {
      const int64_t image = i / s.blocks();
      const Block block(s, image, i % s.blocks());
      float dright[kBlock] = {}, dbelow[kBlock] = {};
      for (int64_t c = image * s.channels; c < (image + 1) * s.channels; ++c) {
        const float* const of_y = g + c * s.places + block.begin;
        if (dx) {
          add_at_taps(dx + c * s.plane(), of_y, block);
        }
        if (dgrid && !s.nearest) {
          table().sample_slopes(dright, dbelow, of_y, data(&s.x) + c * s.plane(), block.n,
                                block.taps);
        }
      }
      if (dgrid && !s.nearest) {
        float* const to = dgrid + (image * s.places + block.begin) * 2;
        for (int64_t k = 0; k < block.n; ++k) {
          to[2 * k] = moved(dright[k], block.slope_x[k]);
          to[2 * k + 1] = moved(dbelow[k], block.slope_y[k]);
        }
      }
    }
  });
}

bool supports(const tn_call* call, Refusal why) {
  const tn_tensor &x = *call->args[0].as.tensor, &grid = *call->args[1].as.tensor;
  const std::string_view mode = Sampling::text(call->args[2]),
                         border = Sampling::text(call->args[3]);
  const bool fits = x.ndim == 4 && grid.ndim == 4 && grid.sizes[0] == x.sizes[0] &&
                    grid.sizes[3] == 2 && x.sizes[2] > 0 && x.sizes[3] > 0 &&
                    x.sizes[2] < kMostRows && x.sizes[3] < kMostRows &&
                    x.sizes[2] <= std::numeric_limits<int32_t>::max() / x.sizes[3];
  if (!fits) {
    return why(
        "takes x [n, channels, h, w] of h and w below 2^22, with less than 2^31 places, and "
        "grid [n, h_out, w_out, 2]");
  }
  if (mode != "bilinear" && mode != "nearest") {
    return why("takes bilinear and nearest, not another mode");
  }
  return border == "zeros" || border == "border" || border == "reflection" ||
         why("takes zeros, border and reflection, not another padding_mode");
}

}  // namespace

void add_grid_sample() {
  kernel("grid_sample", "cpu", rows_of_float32(kUsualPromises), fn<forward>)
      .supports(fn<supports>)
      .backward(fn<backward>, {.saves_args = 0b11});
}

}  // namespace tenon::cpu_backend
