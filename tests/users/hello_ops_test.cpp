// examples/hello_ops, built as a stranger builds it (hello_ops_build.sh) and found by
// TENON_PLUGIN_PATH: its op has gradients of first and second order, dtypes, broadcasting, on every
// device, from one line of math.
#include "../../examples/hello_ops/hello_ops.hpp"
#include "ops_support.h"

namespace {

using hello_ops::squash;  // by the header that `tenon header` wrote

TEST(HelloOps, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype dtype : {tn::float32, tn::float64}) {
      Tensor x = tn::tensor({-3.0, 0.0, 1.0}, tn::float64, d).to(dtype);
      EXPECT_EQ(squash(x).dtype(), dtype);
      expect_near(squash(x), {-0.75, 0, 0.5});
      expect_near(squash(x, 2), {-0.6, 0, 1.0 / 3});
    }
    expect_near(tn::call("hello_ops.squash", tn::ones({2, 3}, {}, d).t()),
                {0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
  }
}

TEST(HelloOps, Gradients) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    gradcheck([](const TensorList& in) { return squash(in[0], 1.5); }, {sample({2, 3}, d)});
    // x / (1 + |x|) at 0, where abs has its kink: the slope is 1, and PyTorch's sign(0) is 0.
    Tensor zero = float64_tensor({0, -0.0}, {2}, d).requires_grad_();
    Tensor slope = tn::grad(squash(zero).sum(), zero, {.create_graph = true});
    expect_near(slope, {1, 1}, 0);
    expect_near(tn::grad(slope.sum(), zero), {0, 0}, 0);
    // d/dx x / (1 + x) = (1 + x)^-2, then -2 (1 + x)^-3
    for (tn::Dtype dtype : {tn::float32, tn::float64}) {
      Tensor x = tn::tensor({1.0, 3.0}, tn::float64, d).to(dtype).requires_grad_();
      Tensor row = tn::ones({2, 2}, dtype, d);
      Tensor first = tn::grad((squash(x) * row).sum(), x, {.create_graph = true});
      expect_near(first, {2 * 0.25, 2 * 0.0625});
      expect_near(tn::grad(first.sum(), x), {-4 * 0.125, -4.0 / 64});
    }
  }
}

}  // namespace
