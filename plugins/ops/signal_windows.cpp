// Windows of signal processing: weights that fall to both ends, as functions of Fourier transforms
// want them. A part of the family create. (windows.cpp has the windows of convolutions and pools.)
#include "pack.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef cosines{
    "_cosines(Tensor i, float step, float a, float b, float c) -> Tensor",
    "a - b * cos(step * i) + c * cos(2 * step * i)"};
constinit ExpressionRef triangle_of{"_triangle_of(Tensor i, float step) -> Tensor",
                                    "1 - abs(step * i - 1)"};
constinit ExpressionRef arc{"_arc(Tensor i, float step, float beta) -> Tensor",
                            "let t = step * i - 1\n beta * sqrt(max(0, 1 - t * t))"};

struct Window {
  const char* op;
  int64_t length;
  bool periodic;
  Dtype dtype;
  Device device;

  // The numbers of its elements, in float64.
  Tensor places() const {
    if (length < 0) {
      fail(std::string(op) + ": window_length is " + std::to_string(length) +
           ", at least 0 is needed");
    }
    expect_floating(op, dtype);
    expect_countable(op, {&length, 1}, float64);
    return prim::iota(length, 0, 1, float64, device);
  }
  // What the whole width is divided into: a periodic window is one of an element more, without its
  // last.
  double intervals() const { return double(periodic ? length : length - 1); }
  bool is_one() const { return length == 1; }
  Tensor finished(const Tensor& values) const { return as_dtype(values, dtype ? dtype : float32); }
  Tensor of_one() const { return prim::fill({1}, 1, dtype ? dtype : float32, device); }
};

Tensor of_cosines(const Window& w, double a, double b, double c) {
  const Tensor i = w.places();
  if (w.is_one()) return w.of_one();
  return w.finished(prim::elementwise(cosines, i, 2 * M_PI / w.intervals(), a, b, c));
}

Tensor of_bartlett(const Window& w) {
  const Tensor i = w.places();
  if (w.is_one()) return w.of_one();
  return w.finished(prim::elementwise(triangle_of, i, 2 / w.intervals()));
}

Tensor of_kaiser(const Window& w, double beta) {
  const Tensor i = w.places();
  if (w.is_one()) return w.of_one();
  const Tensor whole = prim::fill({}, beta, float64, w.device);
  return w.finished(div(i0(prim::elementwise(arc, i, 2 / w.intervals(), beta)), i0(whole)));
}

}  // namespace

void signal_windows() {
  op("hann_window(int window_length, bool periodic=True, dtype? dtype=None, device? device=None) "
     "-> Tensor")
      .doc(
          "(1 - cos(2 pi i / n)) / 2, where n is window_length, or one less where it is not "
          "periodic. "
          "dtype None: float32; device None: the CPU.")
      .meaning([](int64_t length, bool periodic, Dtype dtype, Device device) {
        return of_cosines({"hann_window", length, periodic, dtype, device}, 0.5, 0.5, 0);
      });
  op("hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, "
     "dtype? dtype=None, device? device=None) -> Tensor")
      .doc("alpha - beta * cos(2 pi i / n); n, dtype and device as those of hann_window.")
      .meaning(
          [](int64_t length, bool periodic, double alpha, double beta, Dtype dtype, Device device) {
            return of_cosines({"hamming_window", length, periodic, dtype, device}, alpha, beta, 0);
          });
  op("blackman_window(int window_length, bool periodic=True, dtype? dtype=None, "
     "device? device=None) -> Tensor")
      .doc(
          "0.42 - 0.5 * cos(2 pi i / n) + 0.08 * cos(4 pi i / n); n, dtype and device as those of "
          "hann_window.")
      .meaning([](int64_t length, bool periodic, Dtype dtype, Device device) {
        return of_cosines({"blackman_window", length, periodic, dtype, device}, 0.42, 0.5, 0.08);
      });
  op("bartlett_window(int window_length, bool periodic=True, dtype? dtype=None, "
     "device? device=None) -> Tensor")
      .doc("1 - |2 i / n - 1|, a triangle; n, dtype and device as those of hann_window.")
      .meaning([](int64_t length, bool periodic, Dtype dtype, Device device) {
        return of_bartlett({"bartlett_window", length, periodic, dtype, device});
      });
  op("kaiser_window(int window_length, bool periodic=True, float beta=12, dtype? dtype=None, "
     "device? device=None) -> Tensor")
      .doc(
          "i0(beta * sqrt(1 - (2 i / n - 1)^2)) / i0(beta); n, dtype and device as those of "
          "hann_window.")
      .meaning([](int64_t length, bool periodic, double beta, Dtype dtype, Device device) {
        return of_kaiser({"kaiser_window", length, periodic, dtype, device}, beta);
      });
}

}  // namespace tenon::ops_pack
