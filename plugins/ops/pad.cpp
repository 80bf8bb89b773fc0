// Padding: with a constant, by reflection, by replication and in circles.
#include "pack.h"

#include <algorithm>
#include <array>

namespace tenon::ops_pack {
namespace {

// PyTorch's list: from the last dimension on, what is added before and behind; negative: cut off.
struct Padding {
  int64_t dim, before, behind;
};
std::vector<Padding> paddings(const Tensor& x, Ints pad) {
  if (pad.size() % 2 != 0 || int64_t(pad.size() / 2) > x.dim()) {
    fail("pad: " + std::to_string(pad.size()) + " numbers for " + sizes_text(x.sizes()) +
         ", expected two for each padded dimension, the last first");
  }
  for (int64_t p : pad) {
    if (p == INT64_MIN) fail("pad: " + std::to_string(p) + " is below what any dimension has");
  }
  std::vector<Padding> list;
  for (size_t i = 0; i < pad.size(); i += 2) {
    list.push_back({x.dim() - 1 - int64_t(i / 2), pad[i], pad[i + 1]});
  }
  return list;
}

// What is left of n elements where an end is cut off. Bounds of a slice may lie beyond them.
struct Kept {
  int64_t start, end;
};
Kept kept_of(const Padding& p, int64_t n) {
  return {p.before < 0 ? -std::max(p.before, -INT64_MAX) : 0,
          p.behind < 0 ? std::max<int64_t>(n + p.behind, 0) : n};
}

Tensor constant_pad(const Tensor& x, Ints pad, const Operand& value) {
  return detail::call<Tensor>(detail::op<"_constant_pad">, x, pad, value);
}
Tensor constant_padded(const Tensor& x, Ints pad, Operand value) {
  const Number number = number_for("pad", "value", value, x.dtype());
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  Tensor inner = x;
  std::vector<Padding> list = paddings(x, pad);
  for (const Padding& p : list) {
    int64_t& size = sizes[size_t(p.dim)];
    if (__builtin_add_overflow(size, p.before, &size) ||
        __builtin_add_overflow(size, p.behind, &size) || size < 0) {
      fail("pad: dimension " + std::to_string(p.dim) + " of size " + std::to_string(x.size(p.dim)) +
           " with " + std::to_string(p.before) + " and " + std::to_string(p.behind) +
           " has no size");
    }
    const Kept kept = kept_of(p, x.size(p.dim));
    inner = prim::slice(inner, p.dim, kept.start, std::max(kept.start, kept.end));
  }
  expect_countable("pad", sizes, x.dtype());
  Tensor y = prim::fill(sizes, number, x.dtype(), x.device());
  Tensor window = y;
  for (const Padding& p : list) {
    int64_t start = p.before > 0 ? p.before : 0;
    window = prim::slice(window, p.dim, start, start + inner.size(p.dim));
  }
  window.copy_(inner);
  return y;
}

[[noreturn]] void refuse_padding(const Padding& p, string_view mode, int64_t n,
                                 const std::string& why) {
  fail("pad: " + std::string(mode) + " by " + std::to_string(p.before) + " and " +
       std::to_string(p.behind) + " of dimension " + std::to_string(p.dim) + " of size " +
       std::to_string(n) + "; " + why);
}

// A dimension of `length` elements is continued by `longest`, of which `most` are there.
void expect_most(const Padding& p, string_view mode, int64_t n, int64_t longest, int64_t length,
                 int64_t most) {
  if (longest > 0 && length == 0) refuse_padding(p, mode, n, "there is nothing to repeat");
  if (longest > 0 && longest > most)
    refuse_padding(p, mode, n, "at most " + std::to_string(most) + " fit");
}

// How a dimension of n elements with such a padding is made: so many new ones in front, those of its
// own, so many behind. What is cut off goes on into the other side's new ones, the nearest first.
struct Parts {
  int64_t front, begin, end, skipped, behind;
};
Parts parts_of(const Padding& p, int64_t n, string_view mode) {
  int64_t size = 0;
  if (__builtin_add_overflow(std::min<int64_t>(p.before, p.behind), n, &size) ||
      __builtin_add_overflow(size, std::max<int64_t>(p.before, p.behind), &size))
    refuse_padding(p, mode, n, "its size would overflow");
  if (size < 0) refuse_padding(p, mode, n, "it would have a negative size");
  Parts parts;
  parts.front = std::min(std::max<int64_t>(p.before, 0), size);
  parts.begin = p.before < 0 ? std::min(-std::max(p.before, -INT64_MAX), n) : 0;
  parts.end = parts.begin + std::min(n - parts.begin, size - parts.front);
  parts.behind = size - parts.front - (parts.end - parts.begin);
  parts.skipped = p.before < -n ? -n - p.before : 0;
  return parts;
}

// What a dimension is continued with: its mirror, its ends, or itself from the other side. Where
// one end is cut off, a mirror and the ends are those that were there before, while a circle closes
// over what is left: PyTorch's choices.
Tensor continued(const Tensor& x, const Padding& p, string_view mode) {
  const int64_t n = x.size(p.dim), longest = std::max(p.before, p.behind);
  if (mode == "circular") {
    const Kept kept = kept_of(p, n);
    if (kept.end < kept.start) refuse_padding(p, mode, n, "it would have a negative size");
    const Tensor inner = prim::slice(x, p.dim, kept.start, kept.end);
    expect_most(p, mode, n, longest, inner.size(p.dim), inner.size(p.dim));
    std::vector<Tensor> list;
    const int64_t length = inner.size(p.dim);
    if (p.before > 0) list.push_back(prim::slice(inner, p.dim, length - p.before, length));
    list.push_back(inner);
    if (p.behind > 0) list.push_back(prim::slice(inner, p.dim, 0, p.behind));
    return cat(list, p.dim);
  }
  const bool reflect = mode == "reflect";
  expect_most(p, mode, n, longest, n, reflect ? n - 1 : INT64_MAX);
  const Parts parts = parts_of(p, n, mode);
  const auto ends = [&](int64_t at, int64_t count) {  // copies of one element
    Sizes sizes = sizes_of(x);
    sizes[size_t(p.dim)] = count;
    return prim::expand(prim::slice(x, p.dim, at, at + 1), sizes);
  };
  const auto mirror = [&](int64_t begin, int64_t end) {
    return flip(prim::slice(x, p.dim, begin, end), p.dim);
  };
  std::vector<Tensor> list;
  if (parts.front > 0) {
    const int64_t last = p.before + 1;
    list.push_back(reflect ? mirror(last - parts.front, last) : ends(0, parts.front));
  }
  list.push_back(prim::slice(x, p.dim, parts.begin, parts.end));
  if (parts.behind > 0) {
    const int64_t last = n - 1 - parts.skipped;
    list.push_back(reflect ? mirror(last - parts.behind, last) : ends(n - 1, parts.behind));
  }
  return cat(list, p.dim);
}

// Where nothing is cut off: _border fills the result in place, its middle with x and then, dimension
// by dimension, what lies in front and behind with copies of what is there already. _border_sum, its
// gradient, adds these up again, from the dimension that was filled last. Each is the gradient of
// the other.

// One side of a dimension, from `to` on so many elements, and what they are copies of.
struct Side {
  int64_t to, from, count;
};
// `p.before` in front of n elements and `p.behind` behind them.
std::array<Side, 2> sides_of(const Padding& p, int64_t n, string_view mode) {
  const int64_t end = p.before + n;
  if (mode == "circular") return {{{0, n, p.before}, {end, p.before, p.behind}}};
  if (mode == "replicate") return {{{0, p.before, p.before}, {end, end - 1, p.behind}}};
  return {{{0, p.before + 1, p.before}, {end, end - 1 - p.behind, p.behind}}};
}
// x with the middle alone of the dimensions that `list` names from `first` on; n are the sizes
// without borders.
Tensor middle_of(Tensor x, const std::vector<Padding>& list, size_t first, const Sizes& n) {
  for (size_t i = first; i < list.size(); ++i) {
    const Padding& p = list[i];
    x = prim::slice(x, p.dim, p.before, p.before + n[size_t(p.dim)]);
  }
  return x;
}
Tensor part_of(const Tensor& x, int64_t d, int64_t begin, int64_t count) {
  return prim::slice(x, d, begin, begin + count);
}

// Around n elements; an error where such a border is none.
void expect_border(const Padding& p, int64_t n, string_view mode) {
  const int64_t longest = std::max(p.before, p.behind);
  const bool is_mode = mode == "reflect" || mode == "replicate" || mode == "circular";
  if (!is_mode || p.before < 0 || p.behind < 0 || n < 0)
    refuse_padding(p, mode, n, "that is no border");
  expect_most(p, mode, n, longest, n,
              mode == "circular"  ? n
              : mode == "reflect" ? n - 1
                                  : INT64_MAX);
  parts_of(p, n, mode);  // whose sizes have 63 bits
}

// The sizes of x with this border.
Sizes bordered_sizes(const Tensor& x, Ints pad, string_view mode) {
  Sizes sizes = sizes_of(x);
  for (const Padding& p : paddings(x, pad)) {
    int64_t& size = sizes[size_t(p.dim)];
    expect_border(p, size, mode);
    size += p.before + p.behind;
  }
  expect_countable("pad", sizes, x.dtype());
  return sizes;
}

Tensor with_border(const Tensor& x, Ints pad, string_view mode) {
  const std::vector<Padding> list = paddings(x, pad);
  const Sizes n = sizes_of(x);
  Tensor y = Tensor::empty(bordered_sizes(x, pad, mode), x.dtype(), x.device());
  middle_of(y, list, 0, n).copy_(x);
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t d = list[i].dim;
    const Tensor here = middle_of(y, list, i + 1, n);
    for (const Side& side : sides_of(list[i], n[size_t(d)], mode)) {
      if (side.count == 0) continue;
      const Tensor to = part_of(here, d, side.to, side.count);
      if (mode == "replicate") {
        to.copy_(prim::expand(part_of(here, d, side.from, 1), to.sizes()));
      } else {
        const Tensor from = part_of(here, d, side.from, side.count);
        to.copy_(mode == "reflect" ? flip(from, d) : from);
      }
    }
  }
  return y;
}

Tensor border_sum(const Tensor& x, Ints pad, string_view mode) {
  const std::vector<Padding> list = paddings(x, pad);
  Sizes n = sizes_of(x);
  for (const Padding& p : list) {
    int64_t& size = n[size_t(p.dim)];
    const bool is_there = std::max(p.before, p.behind) <= size;
    expect_border(
        p, is_there ? size - std::max<int64_t>(p.before, 0) - std::max<int64_t>(p.behind, 0) : -1,
        mode);
    size -= p.before + p.behind;
  }
  // Halves are added up in float32.
  const Tensor y = x.dtype().is_half() ? wide(x) : prim::copy(x);
  for (size_t i = list.size(); i-- > 0;) {
    const int64_t d = list[i].dim;
    const Tensor here = middle_of(y, list, i + 1, n);
    for (const Side& side : sides_of(list[i], n[size_t(d)], mode)) {
      if (side.count == 0) continue;
      const Tensor border = part_of(here, d, side.to, side.count);
      const Tensor own = part_of(here, d, side.from, mode == "replicate" ? 1 : side.count);
      const Tensor more = mode == "replicate" ? sum(border, {d}, true)
                          : mode == "reflect" ? flip(border, d)
                                              : border;
      own.copy_(add(own, more));
    }
  }
  return prim::copy(middle_of(y, list, 0, n), x.dtype());
}

Tensor border_op(const char* name, const Tensor& x, Ints pad, string_view mode) {
  return call(name, x, pad, std::string(mode).c_str());
}

// Whether _border makes this; an error where nothing does.
bool has_plain_border(const Tensor& x, Ints pad, string_view mode) {
  const std::vector<Padding> list = paddings(x, pad);
  bool any = false;
  for (const Padding& p : list) {
    if (p.before < 0 || p.behind < 0) return false;
    any = any || p.before > 0 || p.behind > 0;
  }
  if (!any) return false;
  Sizes sizes = sizes_of(x);
  for (const Padding& p : list) {
    if (p.before == 0 && p.behind == 0) continue;
    const int64_t n = x.size(p.dim), longest = std::max(p.before, p.behind);
    expect_most(p, mode, n, longest, n,
                mode == "circular"  ? n
                : mode == "reflect" ? n - 1
                                    : INT64_MAX);
    const Parts parts = parts_of(p, n, mode);
    sizes[size_t(p.dim)] = parts.front + (parts.end - parts.begin) + parts.behind;
  }
  expect_countable("pad", sizes, x.dtype());
  return true;
}

Tensor padded(const Tensor& x, Ints pad, string_view mode, Operand value) {
  if (mode == "constant") return constant_pad(x, pad, value);
  if (mode != "reflect" && mode != "replicate" && mode != "circular") {
    fail("pad: mode is '" + std::string(mode) +
         "', expected 'constant', 'reflect', 'replicate' or 'circular'");
  }
  const tn_value& given = value.value();
  const double number = given.kind == TN_KIND_FLOAT ? given.as.f : double(given.as.i);
  if (number != 0) {
    fail("pad: value is " + number_text(number) + " and mode '" + std::string(mode) +
         "', expected a value with the mode 'constant' alone");
  }
  if (has_plain_border(x, pad, mode)) return border_op("ops._border", x, pad, mode);
  // The gradients of what is there several times are added, for halves in float32.
  const bool is_half = x.dtype() == float16 || x.dtype() == bfloat16;
  Tensor y = is_half ? as_dtype(x, float32) : x;
  for (const Padding& p : paddings(x, pad)) {
    if (p.before != 0 || p.behind != 0) y = continued(y, p, mode);
  }
  if (is_half) return as_dtype(y, x.dtype());
  return y.is_same(x) ? prim::copy(x) : y;
}

// Cut where x was padded, and padded where x was cut.
Tensor constant_pad_gradient(const Vjp& call, Tensor, Ints pad, Operand) {
  std::vector<int64_t> back;
  for (int64_t p : pad) back.push_back(-p);
  return constant_pad(call, back, 0);
}

}  // namespace

void pads() {
  op("pad(Tensor x, int[] pad, str mode=\"constant\", number value=0) -> Tensor")
      .doc(
          "x with borders. pad: two numbers a dimension, before and behind, the last dimension "
          "first; mode: \"constant\" (value), \"reflect\", \"replicate\" or \"circular\".")
      .keeps_halves()
      .meaning(padded);
  op("_constant_pad(Tensor x, int[] pad, number value) -> Tensor")
      .keeps_halves()
      .meaning(constant_padded)
      .vjp(constant_pad_gradient, Reads::sizes);
  op("_border(Tensor x, int[] pad, str mode) -> Tensor")
      .keeps_halves()
      .infer([](Tensor x, Ints pad, string_view mode) {
        return Meta(bordered_sizes(x, pad, mode), x.dtype(), x.device());
      })
      .meaning(with_border)
      .vjp([](const Vjp& g, Tensor, Ints pad,
              string_view mode) { return border_op("ops._border_sum", g.grad(), pad, mode); },
           Reads::sizes);
  op("_border_sum(Tensor x, int[] pad, str mode) -> Tensor")
      .keeps_halves()
      .meaning(border_sum)
      .vjp([](const Vjp& g, Tensor, Ints pad,
              string_view mode) { return border_op("ops._border", g.grad(), pad, mode); },
           Reads::sizes);
}

}  // namespace tenon::ops_pack
