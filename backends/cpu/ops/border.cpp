// _border: a tensor with borders of what is in it, by reflection, replication or in circles. Each element of
// the result is one of x, whose place is found for each dimension alone, so rows are copied in one pass.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "copy_bytes.h"
#include "ops/norm.h"
#include "ops/walk.h"

namespace tenon::cpu_backend {
namespace {

enum class Mode { reflect, replicate, circular };
Mode mode_of(const tn_value& v) {
  const std::string_view mode = v.as.string;
  return mode == "reflect" ? Mode::reflect : mode == "circular" ? Mode::circular : Mode::replicate;
}

// Which of n elements is i places from the first. Borders are no longer than the mode allows.
int64_t place_of(int64_t i, int64_t n, Mode mode) {
  if (mode == Mode::replicate) return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == Mode::circular) return i < 0 ? i + n : i >= n ? i - n : i;
  return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

// Of a dimension of the result: where each index lies in x, in elements. `before` are of the border.
struct Line {
  int64_t before = 0, own = 1;
  std::vector<int64_t> offsets;

  Line() : offsets(1) {}
  Line(const tn_call* call, int32_t d) {
    const tn_tensor &x = *call->args[0].as.tensor, &y = *call->outputs[0];
    const tn_value& pad = call->args[1];
    const auto at = static_cast<uint32_t>(x.ndim - 1 - d) * 2;
    before = at < pad.count ? pad.as.ints[at] : 0;
    own = x.sizes[d];
    const Mode mode = mode_of(call->args[2]);
    for (int64_t i = 0; i < y.sizes[d]; ++i) {
      offsets.push_back(place_of(i - before, own, mode) * x.strides[d]);
    }
  }
  int64_t size() const { return static_cast<int64_t>(offsets.size()); }
};

template <typename T>
void copy_row(T* to, const T* from, const Line& line, int64_t step) {
  const int64_t *const at = line.offsets.data(), behind = line.before + line.own;
  for (int64_t i = 0; i < line.before; ++i) to[i] = from[at[i]];
  if (step == 1) {
    copy_bytes(to + line.before, from, static_cast<size_t>(line.own) * sizeof(T));
  } else {
    for (int64_t i = 0; i < line.own; ++i) to[line.before + i] = from[i * step];
  }
  for (int64_t i = behind, n = line.size(); i < n; ++i) to[i] = from[at[i]];
}

void launch(const tn_call* call) {
  const tn_tensor &x = *call->args[0].as.tensor, &y = *call->outputs[0];
  const int32_t n_outer = std::max(x.ndim - 2, 0);
  std::vector<Line> outer;
  for (int32_t d = 0; d < n_outer; ++d) outer.emplace_back(call, d);
  const Line rows = x.ndim > 1 ? Line(call, x.ndim - 2) : Line(), columns(call, x.ndim - 1);
  const int64_t plane = rows.size() * columns.size(), step = x.strides[x.ndim - 1];
  with_bits(x.dtype, [&]<typename T>(T) {
    parallel_for(
        call->host, 0, y.numel / plane, 1 + kPieceElements / plane,
        [&](int64_t begin, int64_t end) {
          walk<1>(n_outer, y.sizes, {y.strides}, begin, end,
                  [&](const std::array<int64_t, 1>& at, const int64_t* index) {
                    const T* from = static_cast<const T*>(x.data);
                    for (int32_t d = 0; d < n_outer; ++d) {
                      from += outer[static_cast<size_t>(d)].offsets[static_cast<size_t>(index[d])];
                    }
                    T* to = static_cast<T*>(y.data) + at[0];
                    for (const int64_t row : rows.offsets) {
                      copy_row(to, from + row, columns, step);
                      to += columns.size();
                    }
                  });
        });
  });
}

bool supports(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_value& pad = call->args[1];
  const std::string_view mode = call->args[2].as.string;
  bool fits = x.ndim > 0 && x.numel > 0 && pad.count % 2 == 0 &&
              pad.count / 2 <= static_cast<uint32_t>(x.ndim) &&
              (mode == "reflect" || mode == "replicate" || mode == "circular");
  for (uint32_t i = 0; fits && i < pad.count; ++i) {
    const int64_t n = x.sizes[x.ndim - 1 - static_cast<int32_t>(i / 2)], p = pad.as.ints[i];
    fits = p >= 0 && (mode == "replicate" || p <= (mode == "reflect" ? n - 1 : n));
  }
  return fits || why("takes borders of what is there");
}

}  // namespace

void add_border() {
  kernel("_border", "cpu", {.traits = kUsualPromises}, fn<launch>).supports(fn<supports>);
}

}  // namespace tenon::cpu_backend
