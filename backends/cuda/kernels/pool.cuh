// Pools over one to three dimensions, and their gradients. A thread writes one
// element: of the gradient the sum over the windows that the element lies in,
// in their order, so nothing is added atomically. A text states which kernel it
// has, Element, and of maxima Place. The host sees to it that int suffices for
// elements, and for what is computed along an axis.
#include "base.cuh"

using Value = decltype(widen(Element{}));

// As in pool.cpp. Windows are kernel elements with dilation, or with kernel 0
// adaptive: from floor(i size / out) to ceil((i + 1) size / out).
struct Axis {
  int size, out, kernel, stride, padding, dilation;
};

struct Pool {
  void* x;  // or its gradient
  void* y;  // or its gradient
  void* places;
  long long x_strides[5], y_strides[5],
      place_strides[5];  // of samples, channels and the axes
  Axis axes[3];
  int channels, is_last;  // is_last: threads go over the channels first
  long long n;            // elements that are written
  double divisor;         // 0: the elements of the window
  int counts_padding, first_if_none;
};

// Of what is not negative.
DEVICE int floor_of(int a, int b) { return divide(a, b).quotient; }
DEVICE int ceil_of(int a, int b) { return divide(a + b - 1, b).quotient; }

// The part [begin, end) of a window, in steps of the dilation, that lies within
// the tensor.
struct Window {
  int begin, end;
};
DEVICE Window window_of(const Axis& a, int o) {
  if (a.kernel == 0) return {floor_of(o * a.size, a.out), ceil_of((o + 1) * a.size, a.out)};
  const int start = o * a.stride - a.padding, last = start + (a.kernel - 1) * a.dilation;
  const int skipped = start < 0 ? ceil_of(-start, a.dilation) * a.dilation : 0;
  return {start + skipped, last < a.size ? last + 1 : a.size};
}

// The windows [begin, end) in which element i may lie.
DEVICE Window windows_of(const Axis& a, int i) {
  if (a.kernel == 0) return {floor_of(i * a.out, a.size), ceil_of((i + 1) * a.out, a.size)};
  const int first = i + a.padding - (a.kernel - 1) * a.dilation;
  const int end = floor_of(i + a.padding, a.stride) + 1;
  return {first > 0 ? ceil_of(first, a.stride) : 0, end < a.out ? end : a.out};
}

// The number by which the sum of a window is divided, along one axis.
DEVICE Value count_of(const Pool& p, const Axis& a, int o) {
  if (p.divisor != 0) return 1;
  if (!p.counts_padding || a.kernel == 0) {
    const Window w = window_of(a, o);
    return static_cast<Value>(w.end - w.begin);
  }
  const int start = o * a.stride - a.padding, end = start + a.kernel, most = a.size + a.padding;
  return static_cast<Value>((end < most ? end : most) - start);
}

// Which element a thread writes: its place on each axis, and where its plane
// begins.
struct Here {
  int at[3];
  long long x, y, places;
};
template <bool is_x>
DEVICE Here here_of(const Pool& p, int i) {
  Here here = {};
  int channel = 0;
  if (p.is_last) {
    const auto q = divide(i, p.channels);
    channel = q.rest, i = q.quotient;
  }
  for (int d = 2; d >= 0; --d) {
    const auto q = divide(i, is_x ? p.axes[d].size : p.axes[d].out);
    here.at[d] = q.rest, i = q.quotient;
  }
  if (!p.is_last) {
    const auto q = divide(i, p.channels);
    channel = q.rest, i = q.quotient;
  }
  here.x = i * p.x_strides[0] + channel * p.x_strides[1];
  here.y = i * p.y_strides[0] + channel * p.y_strides[1];
  here.places = i * p.place_strides[0] + channel * p.place_strides[1];
  return here;
}
DEVICE long long offset_of(const long long* strides, int a, int b, int c) {
  return a * strides[2] + b * strides[3] + c * strides[4];
}

// Not unrolled: that spills registers.
#define EACH_OF(i, window, step) \
  _Pragma("unroll 1") for (int i = (window).begin; i < (window).end; i += (step))

#if defined(MAX)
// Of equal maxima the first, of NaNs the last. A window of nothing but -inf
// finds its first, which may be in the padding: -1, unless that is not asked
// for.
KERNEL(max_pool, Pool, p) {
  EACH(int, i, p.n) {
    const Here here = here_of<false>(p, i);
    Window w[3];
    bool has_padding = false;
    for (int d = 0; d < 3; ++d) {
      w[d] = window_of(p.axes[d], here.at[d]);
      has_padding = has_padding || here.at[d] * p.axes[d].stride < p.axes[d].padding;
    }
    const auto place_of = [&](int a, int b, int c) {
      return (a * p.axes[1].size + b) * p.axes[2].size + c;
    };
    Value best = static_cast<Value>(-bits_to_float(0x7F800000u));
    int place = place_of(w[0].begin, w[1].begin, w[2].begin);
    if (has_padding && !p.first_if_none) place = -1;
    EACH_OF(a, w[0], p.axes[0].dilation) {
      EACH_OF(b, w[1], p.axes[1].dilation) {
        EACH_OF(c, w[2], p.axes[2].dilation) {
          const Value x = widen(at<Element>(p.x, here.x + offset_of(p.x_strides, a, b, c)));
          if (x > best || x != x) best = x, place = place_of(a, b, c);
        }
      }
    }
    const int* const o = here.at;
    at<Element>(p.y, here.y + offset_of(p.y_strides, o[0], o[1], o[2])) = narrow<Element>(best);
    if (p.places)
      at<Place>(p.places, here.places + offset_of(p.place_strides, o[0], o[1], o[2])) = place;
  }
}

#elif defined(AVERAGE)
KERNEL(average_pool, Pool, p) {
  EACH(int, i, p.n) {
    const Here here = here_of<false>(p, i);
    Window w[3];
    Value count = p.divisor != 0 ? static_cast<Value>(p.divisor) : static_cast<Value>(1);
    for (int d = 0; d < 3; ++d) {
      w[d] = window_of(p.axes[d], here.at[d]);
      count *= count_of(p, p.axes[d], here.at[d]);
    }
    Value sum = 0;
    EACH_OF(a, w[0], 1) {
      EACH_OF(b, w[1], 1) {
        EACH_OF(c, w[2], 1)
        sum += widen(at<Element>(p.x, here.x + offset_of(p.x_strides, a, b, c)));
      }
    }
    const int* const o = here.at;
    at<Element>(p.y, here.y + offset_of(p.y_strides, o[0], o[1], o[2])) =
        narrow<Element>(sum / count);
  }
}

#elif defined(MAX_BACKWARD)
KERNEL(max_pool_backward, Pool, p) {
  EACH(int, i, p.n) {
    const Here here = here_of<true>(p, i);
    const int* const at_x = here.at;
    const int mine = (at_x[0] * p.axes[1].size + at_x[1]) * p.axes[2].size + at_x[2];
    Window w[3];
    for (int d = 0; d < 3; ++d) w[d] = windows_of(p.axes[d], here.at[d]);
    Value sum = 0;
    EACH_OF(a, w[0], 1) {
      EACH_OF(b, w[1], 1) {
        EACH_OF(c, w[2], 1) {
          const long long o = here.places + offset_of(p.place_strides, a, b, c);
          if (static_cast<int>(at<Place>(p.places, o)) == mine)
            sum += widen(at<Element>(p.y, here.y + offset_of(p.y_strides, a, b, c)));
        }
      }
    }
    at<Element>(p.x, here.x + offset_of(p.x_strides, at_x[0], at_x[1], at_x[2])) =
        narrow<Element>(sum);
  }
}

#elif defined(AVERAGE_BACKWARD)
KERNEL(average_pool_backward, Pool, p) {
  EACH(int, i, p.n) {
    const Here here = here_of<true>(p, i);
    const int* const at_x = here.at;
    Window w[3];
    for (int d = 0; d < 3; ++d) w[d] = windows_of(p.axes[d], here.at[d]);
    const Value divisor = p.divisor != 0 ? static_cast<Value>(p.divisor) : static_cast<Value>(1);
    Value sum = 0;
    EACH_OF(a, w[0], 1) {
      const Value depth = divisor * count_of(p, p.axes[0], a);
      EACH_OF(b, w[1], 1) {
        const Value area = depth * count_of(p, p.axes[1], b);
        EACH_OF(c, w[2], 1) {
          const Value count = area * count_of(p, p.axes[2], c);
          sum += widen(at<Element>(p.y, here.y + offset_of(p.y_strides, a, b, c))) / count;
        }
      }
    }
    at<Element>(p.x, here.x + offset_of(p.x_strides, at_x[0], at_x[1], at_x[2])) =
        narrow<Element>(sum);
  }
}
#endif
#undef EACH_OF
#undef MAX
#undef AVERAGE
#undef MAX_BACKWARD
#undef AVERAGE_BACKWARD
