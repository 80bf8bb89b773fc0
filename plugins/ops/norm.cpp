// Normalizations, in the numerically careful forms that PyTorch uses. Those of half types are
// computed and given in float32 under autocast.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef exp_below{"_exp_below(Tensor x, Tensor top) -> Tensor", "exp(x - top)"};
constinit ExpressionRef exp_of{"_exp(Tensor x) -> Tensor", "exp(x)\n dx = g * out"};
constinit ExpressionRef quotient{"_quotient(Tensor x, Tensor y) -> Tensor", "x / y"};
constinit ExpressionRef difference{"_difference(Tensor x, Tensor y) -> Tensor", "x - y"};
constinit ExpressionRef below_log{"_below_log(Tensor x, Tensor top, Tensor total) -> Tensor",
                                  "x - top - log(total)"};
constinit ExpressionRef softmax_dx{"_softmax_dx(Tensor grad, Tensor y, Tensor dot) -> Tensor",
                                   "(grad - dot) * y"};

Tensor top_of(const Tensor& x, int64_t dim) {
  NoGrad guard;  // the shift cancels: softmax is the same for every top
  return prim::reduce(TN_MAX, x, dim, true);
}
Tensor total_below(const Tensor& x, const Tensor& top, int64_t dim) {
  return prim::reduce(TN_SUM, prim::elementwise(exp_below, x, top), dim, true);
}

Tensor softmax_of(const Tensor& values, int64_t dim) {
  Tensor x = as_float(values);
  wrap_dim("softmax", dim, x.dim());
  if (x.numel() == 0) return prim::copy(x);
  if (x.dim() == 0) return prim::reshape(softmax_of(prim::reshape(x, {1}), 0), {});
  Tensor e = prim::elementwise(exp_below, x, top_of(x, dim));
  return prim::elementwise(quotient, e, prim::reduce(TN_SUM, e, dim, true));
}

Tensor log_softmax_of(const Tensor& values, int64_t dim) {
  Tensor x = as_float(values);
  wrap_dim("log_softmax", dim, x.dim());
  if (x.numel() == 0) return prim::copy(x);
  if (x.dim() == 0) return prim::reshape(log_softmax_of(prim::reshape(x, {1}), 0), {});
  Tensor top = top_of(x, dim);
  return prim::elementwise(below_log, x, top, total_below(x, top, dim));
}

}  // namespace

void norm() {
  op("softmax(Tensor x, int dim=-1) -> Tensor")
      .amp(Amp::float32)
      .meaning([](Tensor x, int64_t dim) { return softmax_of(x, dim); })
      // (g - sum(g y)) y, from the output alone.
      .vjp([](const Vjp& call, Tensor x, int64_t dim) {
        Tensor g = call, y = call.output();
        if (y.numel() == 0) return g;
        if (y.dim() == 0) return prim::elementwise(difference, g, g);  // the softmax of one is 1
        Tensor dot = sum(mul(g, y), dim, true);
        Tensor dx = prim::elementwise(softmax_dx, g, y, dot);
        return x.dtype() == dx.dtype() ? dx : prim::copy(dx, x.dtype());
      });
  op("log_softmax(Tensor x, int dim=-1) -> Tensor")
      .amp(Amp::float32)
      .meaning([](Tensor x, int64_t dim) { return log_softmax_of(x, dim); })
      // g - exp(out) sum(g)
      .vjp([](const Vjp& call, Tensor x, int64_t dim) {
        Tensor g = call, y = call.output();
        if (y.numel() == 0) return g;
        if (y.dim() == 0) return prim::elementwise(difference, g, g);
        Tensor dx = sub(g, mul(prim::elementwise(exp_of, y), sum(g, dim, true)));
        return x.dtype() == dx.dtype() ? dx : prim::copy(dx, x.dtype());
      });
  op("rms_norm(Tensor x, Tensor? weight=None, float eps=1e-6) -> Tensor")
      .amp(Amp::float32)
      .meaning([](Tensor x, optional<Tensor> weight, double eps) {
        Tensor y = x * rsqrt(mean(square(x), {-1}, /*keepdim=*/true) + eps);
        return weight ? y * *weight : y;
      });
}

}  // namespace tenon::ops_pack
