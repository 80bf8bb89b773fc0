// Normalizations.
#include "ops_support.h"

namespace {

TEST(Softmax, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 2.f, 3.f}, {1000.f, 1000.f, 1000.f}}, d);
    double z = std::exp(-2) + std::exp(-1) + 1;
    expect_near(tn::softmax(x),
                {std::exp(-2) / z, std::exp(-1) / z, 1 / z, 1.0 / 3, 1.0 / 3, 1.0 / 3});
    expect_near(tn::log_softmax(x), {-2 - std::log(z), -1 - std::log(z), -std::log(z), -std::log(3),
                                     -std::log(3), -std::log(3)});
    expect_near(tn::softmax(x.t(), 0).t(),
                {std::exp(-2) / z, std::exp(-1) / z, 1 / z, 1.0 / 3, 1.0 / 3, 1.0 / 3});
    expect_near(tn::softmax(tn::tensor(5.f, d), 0), {1});
    expect_near(tn::log_softmax(tn::tensor(5.f, d), -1), {0});
    expect_sizes(tn::softmax(tn::zeros({0, 3}, {}, d)), {0, 3});
    EXPECT_EQ(tn::softmax(x.to(tn::float64)).dtype(), tn::float64);
    // torch: softmax of [-inf, 0] is [0, 1]
    expect_near(tn::softmax(tn::tensor({-INFINITY, 0.f}, d)), {0, 1});
  }
  expect_error([] { tn::softmax(tn::zeros({2}), 1); }, "softmax: dimension 1 is out of range");
}

TEST(RmsNorm, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({3.f, 4.f}, d);
    double rms = std::sqrt(12.5 + 1e-6);
    expect_near(tn::rms_norm(x), {3 / rms, 4 / rms});
    expect_near(tn::rms_norm(x, tn::tensor({2.f, -1.f}, d)), {6 / rms, -4 / rms});
  }
}

}  // namespace
