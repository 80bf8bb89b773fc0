// Windows of signal processing, by the names of torch.signal.windows: weights that fall to both ends.
// tenon.hpp does not include it.
//
//   Tensor w = signal::windows::hann(512, {.sym = false});  // as a Fourier transform wants it
//
// Each has M elements, M at least 0. With `sym`, the default, a window is symmetric, as filters want
// it; without, it is the one of M + 1 elements without its last, so that copies of it one behind the
// other are periodic. dtype none: float32; device none: the CPU. All is computed in float64. The
// formulas are PyTorch's, for the elements i = 0 .. M - 1, where n is the number of steps from end to
// end: M - 1, or M without sym. A window of one element is 1.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>

#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/operators.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace signal {
namespace windows {

namespace detail {

using tenon::detail::ByName;
using tenon::detail::joined;
using tenon::detail::number_text;

// What all windows are told, after it was checked.
struct Window {
  int64_t size;
  bool sym;
  Dtype dtype;
  Device device;

  template <typename Options>
  Window(const char* name, int64_t m, const Options& options)
      : size(m),
        sym(options.sym),
        dtype(options.dtype ? options.dtype : float32),
        device(options.device) {
    if (size < 0) fail(joined({name, ": M is ", std::to_string(size), ", expected at least 0"}));
    if (!dtype.is_float())
      fail(joined({name, ": dtype is ", dtype.name(), ", expected one of floats"}));
  }
  // n. That of one element is the same without sym.
  double steps() const { return double(sym || size <= 1 ? size - 1 : size); }
  Tensor places() const { return arange(0, size, 1, float64, device); }
  Tensor finished(const Tensor& values) const { return values.to(dtype); }
};

}  // namespace detail

struct WindowOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool sym = true;
  Dtype dtype = {};
  Device device = {};
};

// 1 - |2 i / n - 1|, a triangle.
inline Tensor bartlett(Int M, const WindowOptions& options = {}) {
  const detail::Window w("bartlett", M, options);
  return bartlett_window(M, !w.sym, w.dtype, w.device);
}
// 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n).
inline Tensor blackman(Int M, const WindowOptions& options = {}) {
  const detail::Window w("blackman", M, options);
  return blackman_window(M, !w.sym, w.dtype, w.device);
}
// (1 - cos(2 pi i / n)) / 2.
inline Tensor hann(Int M, const WindowOptions& options = {}) {
  const detail::Window w("hann", M, options);
  return hann_window(M, !w.sym, w.dtype, w.device);
}
// 0.54 - 0.46 cos(2 pi i / n).
inline Tensor hamming(Int M, const WindowOptions& options = {}) {
  const detail::Window w("hamming", M, options);
  return hamming_window(M, {.periodic = !w.sym, .dtype = w.dtype, .device = w.device});
}

struct GeneralHammingOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float alpha = 0.54;
  bool sym = true;
  Dtype dtype = {};
  Device device = {};
};
// alpha - (1 - alpha) cos(2 pi i / n).
inline Tensor general_hamming(Int M, const GeneralHammingOptions& options = {}) {
  const detail::Window w("general_hamming", M, options);
  return hamming_window(M, {.periodic = !w.sym,
                            .alpha = options.alpha,
                            .beta = 1 - double(options.alpha),
                            .dtype = w.dtype,
                            .device = w.device});
}

struct KaiserOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta = 12.0;
  bool sym = true;
  Dtype dtype = {};
  Device device = {};
};
// i0(beta sqrt(1 - (2 i / n - 1)^2)) / i0(beta), beta at least 0.
inline Tensor kaiser(Int M, const KaiserOptions& options = {}) {
  const detail::Window w("kaiser", M, options);
  if (!(options.beta >= 0)) {
    fail(detail::joined(
        {"kaiser: beta is ", detail::number_text(options.beta), ", expected at least 0"}));
  }
  return kaiser_window(M, !w.sym, options.beta, w.dtype, w.device);
}

// The sum of (-1)^j a[j] cos(2 pi i j / n).
inline Tensor general_cosine(Int M, Floats a, const WindowOptions& options = {}) {
  const detail::Window w("general_cosine", M, options);
  if (a.empty()) fail("general_cosine: a is empty, expected at least one coefficient");
  if (w.size == 1) return ones({1}, w.dtype, w.device);
  const Tensor angle = w.places() * (2 * std::numbers::pi / w.steps());
  Tensor sum = zeros({w.size}, float64, w.device);
  for (uint32_t j = 0; j < a.size(); ++j) sum += cos(angle * j) * (j % 2 == 0 ? a[j] : -a[j]);
  return w.finished(sum);
}
// general_cosine of 0.3635819, 0.4891775, 0.1365995 and 0.0106411. Nuttall, "Some Windows with Very
// Good Sidelobe Behavior" (IEEE Transactions on Acoustics, Speech, and Signal Processing 29, 1981).
inline Tensor nuttall(Int M, const WindowOptions& options = {}) {
  const detail::Window w("nuttall", M, options);
  return general_cosine(M, {0.3635819, 0.4891775, 0.1365995, 0.0106411}, options);
}
// sin(pi (i + 1 / 2) / (n + 1)), which is not 0 at the ends.
inline Tensor cosine(Int M, const WindowOptions& options = {}) {
  const detail::Window w("cosine", M, options);
  return w.finished(sin((w.places() + 0.5) * (std::numbers::pi / (w.steps() + 1))));
}

struct GaussianOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float std = 1.0;
  bool sym = true;
  Dtype dtype = {};
  Device device = {};
};
// exp(-((i - n / 2) / std)^2 / 2), std above 0.
inline Tensor gaussian(Int M, const GaussianOptions& options = {}) {
  const detail::Window w("gaussian", M, options);
  const double std = options.std;
  if (!(std > 0)) {
    fail(detail::joined({"gaussian: std is ", detail::number_text(std), ", expected more than 0"}));
  }
  return w.finished(exp(-0.5 * square((w.places() - w.steps() / 2) / std)));
}

struct ExponentialOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> center = {};
  Float tau = 1.0;
  bool sym = true;
  Dtype dtype = {};
  Device device = {};
};
// exp(-|i - center| / tau), tau above 0. center none: n / 2, which is that of all symmetric windows.
inline Tensor exponential(Int M, const ExponentialOptions& options = {}) {
  const detail::Window w("exponential", M, options);
  const double tau = options.tau;
  if (!(tau > 0)) {
    fail(detail::joined(
        {"exponential: tau is ", detail::number_text(tau), ", expected more than 0"}));
  }
  if (w.sym && options.center) {
    fail(detail::joined({"exponential: center is ", detail::number_text(*options.center),
                         " and sym true; expected no center, or sym false"}));
  }
  const double center = options.center ? double(*options.center) : w.steps() / 2;
  return w.finished(exp(-abs(w.places() - center) / tau));
}

}  // namespace windows
}  // namespace signal
}  // namespace v0
}  // namespace tenon
