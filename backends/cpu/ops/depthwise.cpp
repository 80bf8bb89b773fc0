// A plane is computed in tiles. The part of it that a tile reads is copied with its padding, so that each tap of
// the filter is one shift for all of the tile's outputs: rows of few elements are one long row, in which what
// lies between them is computed as well and left.
#include "ops/depthwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kTile = 6144;  // outputs, with what lies between their rows
constexpr int64_t kTileColumns = 2048;
constexpr int64_t kLongRow = 64;  // is computed by itself
constexpr int64_t kMostTaps = 1024, kMostSpan = 256;
constexpr double kPieceWork = 1 << 17;  // products
constexpr int64_t kMostLanes = 64;

// Of a plane of inputs and one of outputs.
struct Planes {
  int64_t in[2], out[2], span[2];
  int64_t lead[2];               // rows and columns of padding in front, or cut where negative
  std::vector<int64_t> shifts;   // of the taps, in a copied part
  int64_t rows, columns, pitch;  // of a tile

  // x to y, or with `of_x` from the gradient of y to that of x.
  Planes(const Depthwise& c, bool of_x) {
    for (int d = 0; d < 2; ++d) {
      in[d] = of_x ? c.out(d) : c.size[d];
      out[d] = of_x ? c.size[d] : c.out(d);
      span[d] = c.span(d);
      lead[d] = of_x ? c.span(d) - c.padding[d] : c.padding[d];
    }
    columns = std::min(out[1], kTileColumns);
    pitch = columns + span[1];
    rows = std::clamp(std::max(kTile / pitch, span[0]), int64_t{1}, out[0]);
    for (int64_t a = 0; a < c.kernel[0]; ++a) {
      for (int64_t b = 0; b < c.kernel[1]; ++b)
        shifts.push_back(a * c.dilation[0] * pitch + b * c.dilation[1]);
    }
  }
  int64_t n_taps() const { return static_cast<int64_t>(shifts.size()); }
  int64_t copied() const { return (rows + span[0]) * pitch; }  // elements, at most
  // Are rows computed by themselves, without what lies between them?
  bool by_rows(int64_t n_columns) const { return n_columns >= kLongRow || rows == 1; }

  struct Tile {
    int64_t row, column, rows, columns;  // of the outputs
    int64_t long_row(int64_t pitch) const { return (rows - 1) * pitch + columns; }
  };
  template <typename F>
  void each_tile(const F& f) const {
    for (int64_t i = 0; i < out[0]; i += rows) {
      for (int64_t j = 0; j < out[1]; j += columns)
        f(Tile{i, j, std::min(rows, out[0] - i), std::min(columns, out[1] - j)});
    }
  }
  // What a tile reads of a plane of inputs.
  void copy_in(const float* plane, const Tile& tile, float* to) const {
    const int64_t first = tile.column - lead[1], n = tile.columns + span[1];
    const int64_t begin = std::clamp<int64_t>(-first, 0, n);  // of what is there
    const int64_t end = std::clamp<int64_t>(in[1] - first, begin, n);
    for (int64_t r = 0; r < tile.rows + span[0]; ++r, to += pitch) {
      const int64_t row = tile.row - lead[0] + r;
      if (row < 0 || row >= in[0]) {
        std::fill_n(to, pitch, 0.f);
        continue;
      }
      std::fill_n(to, begin, 0.f);
      if (begin < end)
        std::memcpy(to + begin, plane + row * in[1] + first + begin,
                    static_cast<size_t>(end - begin) * sizeof(float));
      std::fill(to + end, to + pitch, 0.f);
    }
  }
};

// f(i, room) for i from 0 to n - 1, on several threads; room for so many floats.
template <typename F>
void each_with_room(const tn_call* call, int64_t n, double work, int64_t floats, const F& f) {
  const int64_t lanes = std::clamp(static_cast<int64_t>(static_cast<double>(n) * work / kPieceWork),
                                   int64_t{1}, std::min(n, kMostLanes));
  auto* const room = static_cast<float*>(
      Call(call).workspace(static_cast<uint64_t>(lanes * floats) * sizeof(float)));
  parallel_for(call->host, 0, lanes, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first * n / lanes; i < last * n / lanes; ++i) f(i, room + first * floats);
  });
}

// weight: [channels, taps].
void convolve(const tn_call* call, const Depthwise& c, bool of_x, const float* from,
              const float* weight, const float* bias, float* to) {
  const Planes planes(c, of_x);
  const int64_t taps = planes.n_taps(), copied = planes.copied();
  const int64_t in = planes.in[0] * planes.in[1], out = planes.out[0] * planes.out[1];
  each_with_room(call, c.batch * c.channels, static_cast<double>(out * taps), 2 * copied,
                 [&](int64_t plane, float* part) {
                   const int64_t channel = plane % c.channels;
                   const float* const filter = weight + channel * taps;
                   const float shift = bias ? bias[channel] : 0;
                   planes.each_tile([&](const Planes::Tile& tile) {
                     planes.copy_in(from + plane * in, tile, part);
                     float* y = to + plane * out + tile.row * planes.out[1] + tile.column;
                     if (planes.by_rows(tile.columns)) {
                       for (int64_t r = 0; r < tile.rows; ++r, y += planes.out[1]) {
                         table().depthwise_taps(y, part + r * planes.pitch, tile.columns, filter,
                                                planes.shifts.data(), taps, shift);
                       }
                       return;
                     }
                     float* sums = part + copied;
                     table().depthwise_taps(sums, part, tile.long_row(planes.pitch), filter,
                                            planes.shifts.data(), taps, shift);
                     for (int64_t r = 0; r < tile.rows;
                          ++r, y += planes.out[1], sums += planes.pitch)
                       std::memcpy(y, sums, static_cast<size_t>(tile.columns) * sizeof(float));
                   });
                 });
}

}  // namespace

bool Depthwise::is_worth_it(bool backward) const {
  if (n_taps() > kMostTaps || span(0) > kMostSpan || span(1) > kMostSpan) return false;
  const bool is_row = size[0] == 1 && kernel[0] == 1;
  return is_row || (backward && (n_taps() > 9 || dilation[0] > 1 || dilation[1] > 1));
}

void depthwise_y(const tn_call* call, const Depthwise& c, const float* x, const float* weight,
                 const float* bias, float* y) {
  convolve(call, c, false, x, weight, bias, y);
}

// With each filter from its end to its begin.
void depthwise_dx(const tn_call* call, const Depthwise& c, const float* g, const float* weight,
                  float* dx) {
  const int64_t n = c.channels * c.n_taps();
  auto* const turned =
      static_cast<float*>(Call(call).workspace(static_cast<uint64_t>(n) * sizeof(float)));
  for (int64_t i = 0; i < n; i += c.n_taps())
    std::reverse_copy(weight + i, weight + i + c.n_taps(), turned + i);
  convolve(call, c, true, g, turned, nullptr, dx);
}

void depthwise_dw(const tn_call* call, const Depthwise& c, const float* g, const float* x,
                  float* dw) {
  const Planes planes(c, false);
  const int64_t taps = planes.n_taps(), copied = planes.copied();
  const int64_t in = planes.in[0] * planes.in[1], out = planes.out[0] * planes.out[1];
  const auto add = [&](double* sums, const float* of_g, const float* of_x, int64_t n) {
    table().depthwise_dots(sums, of_g, of_x, n, planes.shifts.data(), taps);
  };
  const auto sum = [&](double* sums, int64_t channel, float* part, bool each_row) {
    std::fill_n(sums, taps, 0.0);
    for (int64_t i = 0; i < c.batch; ++i) {
      const int64_t plane = i * c.channels + channel;
      planes.each_tile([&](const Planes::Tile& tile) {
        planes.copy_in(x + plane * in, tile, part);
        const float* of_g = g + plane * out + tile.row * planes.out[1] + tile.column;
        if (each_row || planes.by_rows(tile.columns)) {
          for (int64_t r = 0; r < tile.rows; ++r, of_g += planes.out[1])
            add(sums, of_g, part + r * planes.pitch, tile.columns);
          return;
        }
        float* const spaced = part + copied;  // with zeros between the rows
        for (int64_t r = 0; r < tile.rows; ++r, of_g += planes.out[1]) {
          float* const row = spaced + r * planes.pitch;
          std::memcpy(row, of_g, static_cast<size_t>(tile.columns) * sizeof(float));
          std::fill(row + tile.columns, row + planes.pitch, 0.f);
        }
        add(sums, spaced, part, tile.long_row(planes.pitch));
      });
    }
  };
  each_with_room(call, c.channels, static_cast<double>(c.batch * out * taps), 2 * copied,
                 [&](int64_t channel, float* part) {
                   double sums[kMostTaps];
                   sum(sums, channel, part, false);
                   // A zero between rows times an infinite element is NaN, where no window has both.
                   const bool are_finite =
                       std::all_of(sums, sums + taps, [](double s) { return std::isfinite(s); });
                   if (!are_finite) sum(sums, channel, part, true);
                   std::copy_n(sums, taps, dw + channel * taps);
                 });
}

}  // namespace tenon::cpu_backend
