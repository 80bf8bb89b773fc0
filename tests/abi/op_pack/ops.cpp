// One op by a formula, one with a meaning and a gradient, and a kernel that is faster where there
// is one.
#include <cmath>
#include <tenon/plugin.hpp>

TENON_PLUGIN(trial_ops) {
  op("swiglu(Tensor x, Tensor gate) -> Tensor",
     "x * gate * sigmoid(gate)");  // Shazeer, arXiv:2002.05202

  // Each row as a vector of length 1; d = (g - y * sum(g * y)) / |x|.
  op("unit(Tensor x, float eps=1e-12) -> Tensor")
      .meaning([](Tensor x, double eps) { return x * rsqrt(sum(square(x), {-1}, true) + eps); })
      .vjp([](Vjp g, Tensor x, double eps) {
        auto y = g.output();
        return (g.grad() - y * sum(g.grad() * y, {-1}, true)) *
               rsqrt(sum(square(x), {-1}, true) + eps);
      });
  kernel("trial_ops.unit", cpu, {.dtypes = float32, .layout = Layout::contiguous},
         [](const Call& call) {
           auto x = call.tensor(0);
           auto eps = call.arg<double>(1);
           int64_t columns = x->sizes[x->ndim - 1];
           auto in = static_cast<const float*>(x->data);
           auto out = call.output_data<float>();
           call.parallel_for(0, x->numel / columns, 1, [=](int64_t begin, int64_t end) {
             for (int64_t row = begin; row < end; ++row) {
               double squares = eps;
               for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
                 squares += double(in[i]) * in[i];
               for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
                 out[i] = float(in[i] / std::sqrt(squares));
             }
           });
         });
}
