// Normalizations, in the numerically careful forms that PyTorch uses. Those of half types are
// computed and given in float32 under autocast.
#include "pack.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef exp_below{"_exp_below(Tensor x, Tensor top) -> Tensor", "exp(x - top)"};
constinit ExpressionRef exp_of{"_exp(Tensor x) -> Tensor", "exp(x)\n dx = g * out"};
constinit ExpressionRef difference{"_difference(Tensor x, Tensor y) -> Tensor", "x - y"};
constinit ExpressionRef below_log{"_below_log(Tensor x, Tensor top, Tensor total) -> Tensor",
                                  "x - top - log(total)"};
constinit ExpressionRef softmax_dx{"_softmax_dx(Tensor grad, Tensor y, Tensor dot) -> Tensor",
                                   "(grad - dot) * y"};

constinit ExpressionRef square_off{"_square_off(Tensor x, Tensor mean) -> Tensor",
                                   "(x - mean) * (x - mean)"};
// Apart from the rest: once for each variance, not for each element.
constinit ExpressionRef rstd_of{"_rstd(Tensor var, float eps) -> Tensor", "rsqrt(var + eps)"};
constinit ExpressionRef normalized{
    "_normalized(Tensor x, Tensor mean, Tensor rstd, Tensor weight, Tensor bias) -> Tensor",
    "(x - mean) * rstd * weight + bias"};
constinit ExpressionRef moved_{
    "_moved_(Tensor(a!) running, Tensor batch, float momentum, float factor) -> Tensor(a!)",
    "(1 - momentum) * running + momentum * factor * batch"};

// The part of batch_norm that a backend may have as a kernel: it writes nothing in place, so that
// it can be computed again.
constinit OpRef by_batch{"ops._batch_norm"};
using Normalized = std::tuple<Tensor, Tensor, Tensor>;  // y, and the batch's mean and variance
constinit OpRef by_given{"ops._batch_norm_given"};      // the statistics

Tensor top_of(const Tensor& x, int64_t dim) {
  NoGrad guard;  // the shift cancels: softmax is the same for every top
  return prim::reduce(TN_REDUCE_MAX, x, dim, true);
}
Tensor total_below(const Tensor& x, const Tensor& top, int64_t dim) {
  return prim::reduce(TN_REDUCE_SUM, prim::elementwise(exp_below, x, top), dim, true);
}

Meta softmax_meta(const char* op, const Tensor& x, int64_t dim, Dtype dtype) {
  wrap_dim(op, dim, x.dim());
  expect_floating(op, dtype);
  return Meta(x.sizes(), dtype ? dtype : x.dtype().is_float() ? x.dtype() : float32, x.device());
}

Tensor softmax_of(const Tensor& values, int64_t dim) {
  Tensor x = as_float(values);
  wrap_dim("softmax", dim, x.dim());
  if (x.numel() == 0) return prim::copy(x);
  if (x.dim() == 0) return prim::reshape(softmax_of(prim::reshape(x, {1}), 0), {});
  Tensor e = prim::elementwise(exp_below, x, top_of(x, dim));
  return prim::elementwise(quotient, e, prim::reduce(TN_REDUCE_SUM, e, dim, true));
}

Tensor log_softmax_of(const Tensor& values, int64_t dim) {
  Tensor x = as_float(values);
  wrap_dim("log_softmax", dim, x.dim());
  if (x.numel() == 0) return prim::copy(x);
  if (x.dim() == 0) return prim::reshape(log_softmax_of(prim::reshape(x, {1}), 0), {});
  Tensor top = top_of(x, dim);
  return prim::elementwise(below_log, x, top, total_below(x, top, dim));
}

// Where x is given it has these channels.
void expect_sizes(const char* op, const char* what, const Tensor& t, const Sizes& sizes,
                  const Tensor* x = nullptr) {
  if (!t.defined() || sizes_of(t) == sizes) return;
  fail(std::string(op) + ": " + what + " is " + sizes_text(t.sizes()) + ", expected " +
       sizes_text(sizes) + (x != nullptr ? ", the channels of x " + sizes_text(x->sizes()) : ""));
}
// As PyTorch: below 0 it takes from the variance, and the result is NaN where none is left.
void expect_eps(const char* op, double eps) {
  if (std::isnan(eps)) fail(std::string(op) + ": eps is nan, expected a number");
}

struct Moments {
  Tensor mean, var;  // var is the biased one; both with the reduced dimensions kept
};
Moments moments(const Tensor& x, const Sizes& dims) {
  double n = 1;
  for (int64_t d : dims) n *= double(x.size(d));
  Moments m;
  m.mean = prim::reduce_then(TN_REDUCE_SUM, x, dims, true, scaled, 1 / n);
  m.var = prim::elementwise(
      scaled, prim::reduce(TN_REDUCE_SUM, {x, m.mean}, dims, true, square_off), 1 / n);
  return m;
}

// In one pass over x, as `dtype`. `sizes`: what weight and bias are reshaped to.
Tensor apply(const Tensor& x, const Moments& m, const Tensor& weight, const Tensor& bias,
             const Sizes& sizes, double eps, Dtype dtype) {
  Tensor w = weight.defined() ? prim::reshape(weight, sizes) : weight;
  Tensor b = bias.defined() ? prim::reshape(bias, sizes) : bias;
  Tensor y = prim::elementwise(normalized, x, m.mean, prim::elementwise(rstd_of, m.var, eps),
                               w.defined() ? Operand(w) : Operand(1.0),
                               b.defined() ? Operand(b) : Operand(0.0));
  return y.dtype() == dtype ? y : prim::copy(y, dtype);
}

// PyTorch keeps the unbiased variance of n values.
void note_moments(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean,
                  const Tensor& var, double momentum, double n) {
  NoGrad guard;
  if (running_mean.defined())
    prim::elementwise(moved_, running_mean, prim::reshape(mean, running_mean.sizes()), momentum,
                      1.0);
  if (running_var.defined())
    prim::elementwise(moved_, running_var, prim::reshape(var, running_var.sizes()), momentum,
                      n / (n - 1));
}

struct Channels {
  int64_t n;
  Sizes broadcast, others;  // [n, 1, ..]; the dimensions behind the channels
};
Channels channels_of(const char* op, const Tensor& x, int64_t rank, const Tensor& weight,
                     const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                     double eps) {
  expect_float(op, x);
  expect_eps(op, eps);
  if (x.dim() < rank) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", expected at least " +
         std::to_string(rank) + " dimensions, [n, channels, ..]");
  }
  Channels c{x.size(1), Sizes(size_t(x.dim() - 1), 1), counting(2, x.dim() - 2)};
  c.broadcast[0] = c.n;
  expect_sizes(op, "weight", weight, {c.n}, &x);
  expect_sizes(op, "bias", bias, {c.n}, &x);
  expect_sizes(op, "running_mean", running_mean, {c.n}, &x);
  expect_sizes(op, "running_var", running_var, {c.n}, &x);
  return c;
}

void expect_values(const char* op, const Tensor& x, int64_t n) {
  if (n != 1) return;  // of none there is nothing to normalize
  const bool of_batch = std::string_view(op) == "batch_norm" && x.size(0) == 1;
  fail(std::string(op) + ": x is " + sizes_text(x.sizes()) +
       ": more than 1 value for each channel is needed to normalize by their variance" +
       (of_batch ? " (a DataLoader with drop_last leaves out a last batch of one item)" : ""));
}

Tensor by_running(const char* op, const Tensor& x, const Tensor& running_mean,
                  const Tensor& running_var, const Tensor& weight, const Tensor& bias, double eps) {
  if (!running_mean.defined() || !running_var.defined())
    fail(std::string(op) + ": running_mean and running_var are needed where x has no say");
  return tenon::call<Tensor>(by_given, x, running_mean, running_var, weight, bias, eps);
}

Tensor batch_norm_of(Tensor x, Tensor running_mean, Tensor running_var, Tensor weight, Tensor bias,
                     bool training, double momentum, double eps) {
  const char* op = "batch_norm";
  // As PyTorch: where nothing is, nothing says how many channels there are.
  if (x.dim() == 1 && x.size(0) == 0) {
    return prim::reshape(batch_norm_of(prim::reshape(x, {0, 0}), running_mean, running_var, weight,
                                       bias, training, momentum, eps),
                         {0});
  }
  if (!(eps >= 0)) fail(std::string(op) + ": eps is " + number_text(eps) + ", expected 0 or more");
  Channels c = channels_of(op, x, 2, weight, bias, running_mean, running_var, eps);
  if (!training) return by_running(op, x, running_mean, running_var, weight, bias, eps);
  int64_t n = c.n == 0 ? 0 : x.numel() / c.n;
  expect_values(op, x, n);
  if (x.numel() == 0) {  // and the running values stay
    Tensor y = prim::copy(x);
    if (weight.defined()) y = y * prim::reshape(weight, c.broadcast);
    if (bias.defined()) y = y + prim::reshape(bias, c.broadcast);
    return y.dtype() == x.dtype() ? y : prim::copy(y, x.dtype());
  }
  auto [y, mean, var] = tenon::call<Normalized>(by_batch, x, weight, bias, eps);
  note_moments(running_mean, running_var, mean, var, momentum, double(n));
  return y;
}

// Where no kernel takes halves, that of float32 may: halves come and go by copies around it.
Normalized normalize_by_batch(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              double eps) {
  const Channels c = channels_of("batch_norm", x, 2, weight, bias, {}, {}, eps);
  if (const Tensor v = wide(x); v.dtype() != x.dtype()) {
    const auto [y, mean, var] = tenon::call<Normalized>(by_batch, v, weight, bias, eps);
    return {prim::copy(y, x.dtype()), mean, var};
  }
  const Moments m = moments(x, joined_sizes({{0}, c.others}));
  const Tensor y = apply(x, m, weight, bias, c.broadcast, eps, x.dtype());
  return {y, prim::reshape(m.mean, {c.n}), prim::reshape(m.var, {c.n})};
}

// Each channel of each sample for itself; running values are means over the samples.
Tensor instance_norm_of(Tensor x, Tensor running_mean, Tensor running_var, Tensor weight,
                        Tensor bias, bool use_input_stats, double momentum, double eps) {
  const char* op = "instance_norm";
  Channels c = channels_of(op, x, 3, weight, bias, running_mean, running_var, eps);
  if (!use_input_stats) return by_running(op, x, running_mean, running_var, weight, bias, eps);
  int64_t n = product(last_sizes(x, x.dim() - 2));
  expect_values(op, x, n);
  Tensor v = wide(x);
  Moments m = moments(v, c.others);
  // What has no values leaves the running ones as they are.
  if ((running_mean.defined() || running_var.defined()) && n > 0) {
    NoGrad guard;
    note_moments(running_mean, running_var, mean(m.mean, 0), mean(m.var, 0), momentum, double(n));
  }
  return apply(v, m, weight, bias, c.broadcast, eps, x.dtype());
}

// The dimensions that are normalized together.
Sizes check_layer_norm(const Tensor& x, Ints normalized_shape, const Tensor& weight,
                       const Tensor& bias, double eps) {
  const char* op = "layer_norm";
  expect_float(op, x);
  expect_eps(op, eps);
  Sizes shape(normalized_shape.begin(), normalized_shape.end());
  int64_t n = int64_t(shape.size());
  if (n < 1 || x.dim() < n || last_sizes(x, n) != shape) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) +
         ", expected it to end with normalized_shape, " + sizes_text(shape));
  }
  expect_sizes(op, "weight", weight, shape);
  expect_sizes(op, "bias", bias, shape);
  return shape;
}
Tensor layer_norm_of(Tensor x, Ints normalized_shape, Tensor weight, Tensor bias, double eps) {
  const Sizes shape = check_layer_norm(x, normalized_shape, weight, bias, eps);
  const int64_t n = int64_t(shape.size());
  Tensor v = wide(x);
  return apply(v, moments(v, counting(x.dim() - n, n)), weight, bias, shape, eps, x.dtype());
}

Channels check_group_norm(const Tensor& x, int64_t num_groups, const Tensor& weight,
                          const Tensor& bias, double eps) {
  const char* op = "group_norm";
  Channels c = channels_of(op, x, 2, weight, bias, {}, {}, eps);
  if (num_groups < 1 || c.n % num_groups != 0) {
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) +
         ", whose channels do not make num_groups = " + std::to_string(num_groups) + " groups");
  }
  return c;
}
Tensor group_norm_of(Tensor x, int64_t num_groups, Tensor weight, Tensor bias, double eps) {
  const Channels c = check_group_norm(x, num_groups, weight, bias, eps);
  int64_t each = c.n / num_groups, rest = product(last_sizes(x, x.dim() - 2));
  Tensor v = prim::reshape(wide(x), {x.size(0), num_groups, each, rest});
  Tensor y = apply(v, moments(v, {2, 3}), weight, bias, {num_groups, each, 1}, eps, x.dtype());
  return prim::reshape(y, x.sizes());
}

void softmaxes() {
  op("softmax(Tensor x, int dim=-1, dtype? dtype=None) -> Tensor")
      .doc(
          "exp(x) / sum(exp(x)) along dim, computed so that no exponential overflows; with a "
          "dtype: "
          "of x as that dtype.")
      .method()
      .amp(Amp::float32)
      .infer(
          [](Tensor x, int64_t dim, Dtype dtype) { return softmax_meta("softmax", x, dim, dtype); })
      .meaning([](Tensor x, int64_t dim, Dtype dtype) {
        expect_floating("softmax", dtype);
        return dtype ? softmax(as_dtype(x, dtype), dim) : softmax_of(x, dim);
      })
      // (g - sum(g y)) y, from the output alone.
      .vjp(
          [](const Vjp& call, Tensor x, int64_t dim, Dtype) {
            Tensor g = call, y = call.output();
            if (y.numel() == 0) return as_dtype(g, x.dtype());
            // The softmax of one is 1.
            if (y.dim() == 0) return as_dtype(prim::elementwise(difference, g, g), x.dtype());
            Tensor dot = sum(mul(g, y), dim, true);
            Tensor dx = prim::elementwise(softmax_dx, g, y, dot);
            return x.dtype() == dx.dtype() ? dx : prim::copy(dx, x.dtype());
          },
          Reads::outputs);
  op("softmin(Tensor x, int dim=-1, dtype? dtype=None) -> Tensor")
      .doc("softmax(-x, dim, dtype).")
      .amp(Amp::float32)
      .keeps_halves()
      .meaning([](Tensor x, int64_t dim, Dtype dtype) {
        // The negative of an integer may be none of its dtype.
        const bool is_float = x.dtype().is_float();
        return softmax(neg(is_float ? x : as_dtype(x, dtype ? dtype : float32)), dim, dtype);
      });
  op("log_softmax(Tensor x, int dim=-1, dtype? dtype=None) -> Tensor")
      .doc("log(softmax(x, dim, dtype)), computed in one step.")
      .method()
      .amp(Amp::float32)
      .infer([](Tensor x, int64_t dim, Dtype dtype) {
        return softmax_meta("log_softmax", x, dim, dtype);
      })
      .meaning([](Tensor x, int64_t dim, Dtype dtype) {
        expect_floating("log_softmax", dtype);
        return dtype ? log_softmax(as_dtype(x, dtype), dim) : log_softmax_of(x, dim);
      })
      // g - exp(out) sum(g)
      .vjp(
          [](const Vjp& call, Tensor x, int64_t dim, Dtype) {
            Tensor g = call, y = call.output();
            if (y.numel() == 0) return as_dtype(g, x.dtype());
            if (y.dim() == 0) return as_dtype(prim::elementwise(difference, g, g), x.dtype());
            Tensor dx = sub(g, mul(prim::elementwise(exp_of, y), sum(g, dim, true)));
            return x.dtype() == dx.dtype() ? dx : prim::copy(dx, x.dtype());
          },
          Reads::outputs);
}

void norms_of_samples() {
  op("rms_norm(Tensor x, Tensor? weight=None, float eps=1e-6) -> Tensor")
      .doc(
          "x / sqrt(mean(x * x) + eps) over the last dimension, times weight. Zhang & Sennrich, "
          "arXiv:1910.07467.")
      .amp(Amp::float32)
      .meaning([](Tensor x, optional<Tensor> weight, double eps) {
        const char* op = "rms_norm";
        expect_float(op, x);
        expect_eps(op, eps);
        if (weight) expect_sizes(op, "weight", *weight, {x.size(-1)});
        Tensor y = wide(x);
        y = y * rsqrt(mean(square(y), {-1}, /*keepdim=*/true) + eps);
        if (weight) y = y * *weight;
        return y.dtype() == x.dtype() ? y : prim::copy(y, x.dtype());
      });
  op("layer_norm(Tensor x, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
     "eps=1e-5) -> Tensor")
      .doc(
          "(x - mean) / sqrt(var + eps) over the last dimensions, which are normalized_shape, "
          "times weight, plus bias. Ba, Kiros & Hinton, arXiv:1607.06450.")
      .amp(Amp::float32)
      .infer([](Tensor x, Ints normalized_shape, Tensor weight, Tensor bias, double eps) {
        check_layer_norm(x, normalized_shape, weight, bias, eps);
        return Meta(x);
      })
      .meaning(layer_norm_of);
  op("group_norm(Tensor x, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-5) "
     "-> Tensor")
      .doc(
          "x [n, channels, ..], normalized over groups of channels, times weight [channels], plus "
          "bias. Wu & He, arXiv:1803.08494.")
      .amp(Amp::float32)
      .infer([](Tensor x, int64_t num_groups, Tensor weight, Tensor bias, double eps) {
        check_group_norm(x, num_groups, weight, bias, eps);
        return Meta(x);
      })
      .meaning(group_norm_of);
}

void norms_of_channels() {
  op("batch_norm(Tensor x, Tensor(a!)? running_mean=None, Tensor(b!)? running_var=None, Tensor? "
     "weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-5) -> "
     "Tensor")
      .doc(
          "x [n, channels, ..], normalized for each channel: in training by the batch, whose mean "
          "and unbiased variance move the running ones in place; else by the running ones. The "
          "sums "
          "of halves are float32. Ioffe & Szegedy, arXiv:1502.03167.")
      .keeps_halves()
      .meaning(batch_norm_of);
  op("_batch_norm(Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-5) -> (Tensor, "
     "Tensor, Tensor)")
      .keeps_halves()
      .infer([](Tensor x, Tensor weight, Tensor bias, double eps) {
        const Channels c = channels_of("batch_norm", x, 2, weight, bias, {}, {}, eps);
        const Meta moment(Sizes{c.n}, x.dtype().is_half() ? float32 : x.dtype(), x.device());
        return std::tuple{Meta(x), moment, moment};
      })
      .meaning(normalize_by_batch);
  op("_batch_norm_given(Tensor x, Tensor mean, Tensor var, Tensor? weight=None, Tensor? bias=None, "
     "float eps=1e-5) -> Tensor")
      .keeps_halves()
      .infer([](Tensor x, Tensor, Tensor, Tensor, Tensor, double) { return Meta(x); })
      .meaning([](Tensor x, Tensor mean, Tensor var, Tensor weight, Tensor bias, double eps) {
        const Channels c = channels_of("batch_norm", x, 2, weight, bias, mean, var, eps);
        // What batch_norm may write comes as it is, in halves too.
        const Moments m{prim::reshape(wide(mean), c.broadcast),
                        prim::reshape(wide(var), c.broadcast)};
        return apply(x, m, weight, bias, c.broadcast, eps, x.dtype());
      });
  op("instance_norm(Tensor x, Tensor(a!)? running_mean=None, Tensor(b!)? running_var=None, Tensor? "
     "weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float "
     "eps=1e-5) -> Tensor")
      .doc(
          "x [n, channels, ..], normalized for each sample and channel, or by the running values. "
          "Ulyanov et al., arXiv:1607.08022.")
      .keeps_halves()
      .meaning(instance_norm_of);
}

}  // namespace

void norm() {
  softmaxes();
  norms_of_samples();
  norms_of_channels();
}

}  // namespace tenon::ops_pack
