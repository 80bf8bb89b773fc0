// tenon/signal.hpp: PyTorch's windows (tests/data/torch_windows.json), their defaults, and what is
// refused.
#include <tenon/signal.hpp>

#include "refusals.h"
#include "torch_functions.h"

namespace {

using torch_functions::Given;
namespace windows = tn::signal::windows;

// On the device of the test: the cases have no tensor that would say it.
torch_functions::Functions functions_on(tn::Device d) {
  const auto plain = [d](auto f) {
    return [f, d](const Given& g) {
      return f(g.as<int64_t>(0), {.sym = g.as<bool>(1), .dtype = g.as<tn::Dtype>(2), .device = d});
    };
  };
  return {{"bartlett", plain(windows::bartlett)},
          {"blackman", plain(windows::blackman)},
          {"cosine", plain(windows::cosine)},
          {"hamming", plain(windows::hamming)},
          {"hann", plain(windows::hann)},
          {"nuttall", plain(windows::nuttall)},
          {"kaiser",
           [d](const Given& g) {
             return windows::kaiser(g.as<int64_t>(0), {.beta = g.as<double>(1),
                                                       .sym = g.as<bool>(2),
                                                       .dtype = g.as<tn::Dtype>(3),
                                                       .device = d});
           }},
          {"gaussian",
           [d](const Given& g) {
             return windows::gaussian(g.as<int64_t>(0), {.std = g.as<double>(1),
                                                         .sym = g.as<bool>(2),
                                                         .dtype = g.as<tn::Dtype>(3),
                                                         .device = d});
           }},
          {"general_hamming",
           [d](const Given& g) {
             return windows::general_hamming(g.as<int64_t>(0), {.alpha = g.as<double>(1),
                                                                .sym = g.as<bool>(2),
                                                                .dtype = g.as<tn::Dtype>(3),
                                                                .device = d});
           }},
          {"general_cosine",
           [d](const Given& g) {
             return windows::general_cosine(
                 g.as<int64_t>(0), g.as<tn::Floats>(1),
                 {.sym = g.as<bool>(2), .dtype = g.as<tn::Dtype>(3), .device = d});
           }},
          {"exponential", [d](const Given& g) {
             windows::ExponentialOptions options;
             if (const auto center = g.as<std::optional<double>>(1)) options.center = *center;
             options.tau = g.as<double>(2);
             options.sym = g.as<bool>(3);
             options.dtype = g.as<tn::Dtype>(4);
             options.device = d;
             return windows::exponential(g.as<int64_t>(0), options);
           }}};
}

TEST(SignalWindows, HaveTheValuesOfPyTorch) {
  for (tn::Device d : devices()) {
    torch_functions::expect_cases("torch_windows.json", functions_on(d), {d});
  }
}

TEST(SignalWindows, AreSymmetricAndFloat32OfThemselves) {
  load_all();
  for (const Tensor& w :
       {windows::bartlett(9), windows::blackman(9), windows::cosine(9), windows::exponential(9),
        windows::gaussian(9), windows::general_cosine(9, {0.5, 0.5}), windows::general_hamming(9),
        windows::hamming(9), windows::hann(9), windows::kaiser(9), windows::nuttall(9)}) {
    EXPECT_EQ(w.dtype(), tn::float32);
    EXPECT_EQ(w.device(), tn::cpu);
    EXPECT_TRUE(tn::allclose(w, w.flip(0))) << w;
    EXPECT_NEAR(w[4].item<double>(), 1, 1e-6);
  }
  EXPECT_EQ(windows::hann(4, {.dtype = tn::float16}).dtype(), tn::float16);
  EXPECT_EQ(windows::gaussian(4, {.dtype = tn::bfloat16}).dtype(), tn::bfloat16);
}

// One window behind the other is periodic: what sym leaves out is the first element of the next.
TEST(SignalWindows, ArePeriodicWithoutSym) {
  load_all();
  const Tensor longer = windows::nuttall(9, {.dtype = tn::float64});
  EXPECT_TRUE(tn::allclose(windows::nuttall(8, {.sym = false, .dtype = tn::float64}),
                           longer.narrow(0, 0, 8)));
}

TEST(SignalWindows, SayWhatTheyRefuse) {
  const auto length = [](auto f) { return [f](tn::Device d) { f(-1, {.device = d}); }; };
  const auto dtype = [](auto f) {
    return [f](tn::Device d) { f(4, {.dtype = tn::int64, .device = d}); };
  };
  expect_refusals({
      {length(windows::bartlett), "bartlett: M is -1, expected at least 0"},
      {length(windows::blackman), "blackman: M is -1, expected at least 0"},
      {length(windows::cosine), "cosine: M is -1, expected at least 0"},
      {length(windows::exponential), "exponential: M is -1, expected at least 0"},
      {length(windows::gaussian), "gaussian: M is -1, expected at least 0"},
      {length(windows::general_hamming), "general_hamming: M is -1, expected at least 0"},
      {length(windows::hamming), "hamming: M is -1, expected at least 0"},
      {length(windows::hann), "hann: M is -1, expected at least 0"},
      {length(windows::kaiser), "kaiser: M is -1, expected at least 0"},
      {length(windows::nuttall), "nuttall: M is -1, expected at least 0"},
      {dtype(windows::hann), "hann: dtype is int64, expected one of floats"},
      {dtype(windows::cosine), "cosine: dtype is int64, expected one of floats"},
      {[](tn::Device) { windows::general_cosine(-1, {1.0}); },
       "general_cosine: M is -1, expected at least 0"},
      {[](tn::Device) { windows::general_cosine(4, {}); },
       "general_cosine: a is empty, expected at least one coefficient"},
      {[](tn::Device) { windows::kaiser(4, {.beta = -0.5}); },
       "kaiser: beta is -0.5, expected at least 0"},
      {[](tn::Device) { windows::gaussian(4, {.std = 0}); },
       "gaussian: std is 0, expected more than 0"},
      {[](tn::Device) { windows::exponential(4, {.tau = NAN}); },
       "exponential: tau is nan, expected more than 0"},
      {[](tn::Device) { windows::exponential(4, {.center = 1.5}); },
       "exponential: center is 1.5 and sym true; expected no center, or sym false"},
  });
}

}  // namespace
