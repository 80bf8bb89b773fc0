// Images sampled at the places of a grid, and the gradients to both: two dimensions, in float32. What a
// place takes is found once for all channels.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "ops/norm.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kMostRows =
    (1 << 22) - 1;  // up to here a float holds each place and the half behind it

// The same numbers as those of the op's meaning (plugins/ops/grid_sample.cpp), so that a place on the
// border between two elements is on the same side.
SampleAxis axis_of(int64_t n, int64_t step, int taps, SampleBorder border, bool corners) {
  const double half = (corners ? static_cast<double>(n) - 1 : static_cast<double>(n)) / 2;
  return {.size = static_cast<int32_t>(n),
          .step = static_cast<int32_t>(step),
          .taps = taps,
          .border = border,
          .scale = static_cast<float>(half),
          .shift = corners ? 0.f : 0.5f,
          .low = corners ? 0.f : -0.5f,
          .span = static_cast<float>(corners ? n - 1 : n)};
}

struct Sampling {
  const tn_tensor& x;
  const tn_tensor& grid;
  int taps;  // along each dimension
  int64_t n, channels, height, width, places;
  SampleAxis down, across;

  // Of the forward's arguments.
  explicit Sampling(const tn_value* args)
      : x(*args[0].as.tensor),
        grid(*args[1].as.tensor),
        taps(taps_of(text(args[2]))),
        n(x.sizes[0]),
        channels(x.sizes[1]),
        height(x.sizes[2]),
        width(x.sizes[3]),
        places(grid.sizes[1] * grid.sizes[2]),
        down(axis_of(height, width, taps, border_of(text(args[3])), args[4].as.i != 0)),
        across(axis_of(width, 1, taps, border_of(text(args[3])), args[4].as.i != 0)) {}
  static std::string_view text(const tn_value& v) { return v.as.string; }
  static int taps_of(std::string_view mode) {
    return mode == "nearest" ? 1 : mode == "bicubic" ? 4 : 2;
  }
  static SampleBorder border_of(std::string_view padding_mode) {
    return padding_mode == "border"       ? SampleBorder::border
           : padding_mode == "reflection" ? SampleBorder::reflection
                                          : SampleBorder::zeros;
  }
  int64_t blocks() const { return (places + kSamplePlaces - 1) / kSamplePlaces; }
  int64_t plane() const { return height * width; }
};

// What the places of a block take.
struct Block {
  int64_t begin, n;
  SampleTaps taps;

  Block(const Sampling& s, int64_t image, int64_t block)
      : begin(block * kSamplePlaces), n(std::min(kSamplePlaces, s.places - begin)) {
    const float* const grid = data(&s.grid) + (image * s.places + begin) * 2;
    table().sample_taps(&taps, s.down, s.across, grid, n);
  }
};

void forward(const tn_call* call) {
  const Sampling s(call->args);
  float* const y = data(call->outputs[0]);
  if (call->outputs[0]->numel == 0) {
    return;
  }
  const int64_t blocks = s.blocks(), work = s.channels * std::min(kSamplePlaces, s.places);
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

// 0 where the border holds a place, also if d is no number.
float moved(float d, float slope, float scale) { return slope == 0 ? 0 : d * slope * scale; }

// args: g, then the forward's. An image on one thread: its places meet in its elements.
void backward(const tn_call* call) {
  clear_outputs(call);
  if (call->args[0].kind != TN_KIND_TENSOR) {
    return;
  }
  const Sampling s(call->args + 1);
  const float* const g = data(call->args[0]);
  float* const dx = data(call->outputs[0]);
  float* const dgrid = s.taps == 1 ? nullptr : data(call->outputs[1]);
  parallel_for(call->host, 0, s.n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * s.blocks(); i < end * s.blocks(); ++i) {
      const int64_t image = i / s.blocks();
      const Block block(s, image, i % s.blocks());
      float dacross[kSamplePlaces] = {}, ddown[kSamplePlaces] = {};
      for (int64_t c = image * s.channels; c < (image + 1) * s.channels; ++c) {
        const float* const of_y = g + c * s.places + block.begin;
        if (dx) {
          table().sample_dx(dx + c * s.plane(), of_y, block.n, block.taps);
        }
        if (dgrid) {
          table().sample_slopes(dacross, ddown, of_y, data(&s.x) + c * s.plane(), block.n,
                                block.taps);
        }
      }
      if (dgrid) {
        float* const to = dgrid + (image * s.places + block.begin) * 2;
        for (int64_t k = 0; k < block.n; ++k) {
          to[2 * k] = moved(dacross[k], block.taps.across.slope[k], s.across.scale);
          to[2 * k + 1] = moved(ddown[k], block.taps.down.slope[k], s.down.scale);
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
                    x.sizes[2] <= -kNoElement / x.sizes[3];
  if (!fits) {
    return why(
        "takes x [n, channels, h, w] of h and w below 2^22, with at most 2^30 places, and "
        "grid [n, h_out, w_out, 2]");
  }
  if (mode != "bilinear" && mode != "nearest" && mode != "bicubic") {
    return why("takes bilinear, nearest and bicubic, not another mode");
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
