// What is dropped or drawn within a network while it trains: forms of dropout, random slopes, and
// draws that have a gradient. A part of the family random.
#include "pack.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef chosen{"_chosen(Tensor bits, float p) -> Tensor",
                               "float(int(bits) >> 8 & 16777215) * 5.9604644775390625e-8 >= p"};
constinit ExpressionRef keep{"_keep(Tensor x, Tensor mask, float scale) -> Tensor",
                             "where(mask, x * scale, 0)"};
constinit ExpressionRef keep_or_saturate{
    "_keep_or_saturate(Tensor x, Tensor mask, float scale, float shift, float other) -> Tensor",
    "where(mask, x * scale + shift, other)"};
// Between 0 and 1 without either: 23 bits and a half.
constinit ExpressionRef gumbel{
    "_gumbel(Tensor bits) -> Tensor",
    "-log(-log((float(int(bits) >> 9 & 8388607) + 0.5) * 1.1920928955078125e-7))"};
constinit ExpressionRef sloped{"_sloped(Tensor x, Tensor slope) -> Tensor",
                               "where(x <= 0, x * slope, x)"};
constinit ExpressionRef divided_by{"_divided_by(Tensor x, Tensor y, float tau) -> Tensor",
                                   "(x + y) / tau"};
constinit ExpressionRef straight_through{"_straight_through(Tensor soft, Tensor hard) -> Tensor",
                                         "hard\n dsoft = g"};

void check_dropout(const char* op, const Tensor& x, double p, bool training) {
  expect_probability(op, p);
  if (training && p != 0) expect_float(op, x);
}
double scale_of(double p) { return p < 1 ? 1 / (1 - p) : 0; }

// One for each element, or for each channel of x [n, channels, ..].
Tensor mask_of(const Tensor& x, double p) {
  return prim::elementwise(chosen, prim::random_bits(x.sizes(), x.device()), p);
}
Tensor mask_of_channels(const char* op, const Tensor& x, double p) {
  if (x.dim() < 2)
    fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", expected [n, channels, ..]");
  Sizes sizes(size_t(x.dim()), 1);
  sizes[0] = x.size(0), sizes[1] = x.size(1);
  return prim::elementwise(chosen, prim::random_bits(sizes, x.device()), p);
}

// With slope and shift that leave mean 0 and variance 1 as they are; what is dropped becomes what
// selu saturates at. Klambauer et al., arXiv:1706.02515.
Tensor alpha_dropped(const Tensor& x, const Tensor& mask, double p) {
  constexpr double kSaturation = -1.7580993408473766;
  if (p == 1) return prim::elementwise(keep, x, mask, 0.0);
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * kSaturation * kSaturation));
  const double shift = -scale * kSaturation * p;
  return prim::elementwise(keep_or_saturate, x, mask, scale, shift, kSaturation * scale + shift);
}

// What PyTorch takes today with a warning, since it means to read it in another way or to refuse it.
void warn_of_dimensions(const char* op, const Tensor& x, const char* expected, const char* taken) {
  warn_once(std::string(op) + ": x has " + std::to_string(x.dim()) + " dimensions, expected " +
            expected + "; it is taken as " + taken + ", as in PyTorch");
}

// Whole channels of x [n, channels, ..], or of x [channels, ..] as one sample.
Tensor channels_dropped(const char* op, const Tensor& x, double p, bool training, bool is_sample) {
  check_dropout(op, x, p, training);
  if (!training || p == 0) return x;
  if (is_sample && x.dim() == 0) fail(std::string(op) + ": x is [], expected [channels, ..]");
  const Tensor samples = is_sample ? unsqueeze(x, 0) : x;
  const Tensor mask = mask_of_channels(op, samples, p);
  const Tensor y = prim::elementwise(keep, samples, mask, scale_of(p));
  return is_sample ? squeeze(y, 0) : y;
}

void dropouts_of_channels() {
  op("feature_dropout(Tensor x, float p=0.5, bool training=True) -> Tensor")
      .doc(
          "dropout(x, p, training) of whole channels of x [n, channels, ..]. Tompson et al., "
          "arXiv:1411.4280.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, double p, bool training) {
        return channels_dropped("feature_dropout", x, p, training, false);
      });
  op("dropout1d(Tensor x, float p=0.5, bool training=True) -> Tensor")
      .doc(
          "dropout(x, p, training) of whole channels of x [n, channels, length] or [channels, "
          "length].")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, double p, bool training) {
        if (x.dim() != 2 && x.dim() != 3) {
          fail("dropout1d: x has " + std::to_string(x.dim()) + " dimensions, expected 2 or 3");
        }
        return channels_dropped("dropout1d", x, p, training, x.dim() == 2);
      });
  op("dropout2d(Tensor x, float p=0.5, bool training=True) -> Tensor")
      .doc(
          "dropout(x, p, training) of whole channels of x [n, channels, height, width]. Other "
          "sizes are warned of and taken as [n, channels, ..], 3 dimensions too, as in PyTorch.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, double p, bool training) {
        if (x.dim() != 4) warn_of_dimensions("dropout2d", x, "4", "[n, channels, ..]");
        return channels_dropped("dropout2d", x, p, training, false);
      });
  op("dropout3d(Tensor x, float p=0.5, bool training=True) -> Tensor")
      .doc(
          "dropout(x, p, training) of whole channels of x [n, channels, depth, height, width] or "
          "[channels, depth, height, width]. Other sizes are warned of and taken as "
          "[channels, ..], as in PyTorch.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, double p, bool training) {
        if (x.dim() != 4 && x.dim() != 5)
          warn_of_dimensions("dropout3d", x, "4 or 5", "[channels, ..]");
        return channels_dropped("dropout3d", x, p, training, x.dim() != 5);
      });
}

void dropouts() {
  op("dropout(Tensor x, float p=0.5, bool training=True) -> Tensor")
      .doc(
          "Zero with probability p, the others times 1 / (1 - p); x itself when not training. "
          "Srivastava et al., 2014.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .infer([](Tensor x, double p, bool training) {
        check_dropout("dropout", x, p, training);
        return Meta(x);
      })
      .meaning([](Tensor x, double p, bool training) {
        check_dropout("dropout", x, p, training);
        if (!training || p == 0) return x;
        return prim::elementwise(keep, x, mask_of(x, p), scale_of(p));
      });
  op("native_dropout(Tensor x, float p, bool? train=True) -> (Tensor output, Tensor mask)")
      .doc(
          "dropout(x, p, train), a copy of x when not training, and whether each element was kept.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, double p, optional<bool> train) {
        const bool training = train.value_or(true);
        check_dropout("native_dropout", x, p, training);
        if (!training || p == 0)
          return std::tuple{prim::copy(x), prim::fill(x.sizes(), true, bool_, x.device())};
        const Tensor mask = mask_of(x, p);
        return std::tuple{prim::elementwise(keep, x, mask, scale_of(p)), mask};
      });
}

void alpha_dropouts() {
  op("alpha_dropout(Tensor x, float p=0.5, bool training=False) -> Tensor")
      .doc(
          "selu's lower limit with probability p, and all scaled and shifted so that mean 0 and "
          "variance 1 stay; x itself when not training. Klambauer et al., arXiv:1706.02515.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, double p, bool training) {
        check_dropout("alpha_dropout", x, p, training);
        return !training || p == 0 ? x : alpha_dropped(x, mask_of(x, p), p);
      });
  op("feature_alpha_dropout(Tensor x, float p=0.5, bool training=False) -> Tensor")
      .doc("alpha_dropout(x, p, training) of whole channels of x [n, channels, ..].")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, double p, bool training) {
        check_dropout("feature_alpha_dropout", x, p, training);
        if (!training || p == 0) return x;
        return alpha_dropped(x, mask_of_channels("feature_alpha_dropout", x, p), p);
      });
}

Tensor rrelu_of(const Tensor& x, double lower, double upper, bool training) {
  expect_float("rrelu", x);
  if (!(lower <= upper)) {
    fail("rrelu: lower is " + number_text(lower) + ", above upper, " + number_text(upper));
  }
  if (!training) return leaky_relu(x, (lower + upper) / 2);
  return prim::elementwise(sloped, x, uniform(x.sizes(), lower, upper, x.dtype(), x.device()));
}

Tensor gumbel_softmax_of(const Tensor& logits, double tau, bool hard, int64_t dim) {
  expect_float("gumbel_softmax", logits);
  if (!(tau > 0))
    fail("gumbel_softmax: tau is " + number_text(tau) + ", expected a number above 0");
  const Tensor noise =
      prim::elementwise(gumbel, prim::random_bits(logits.sizes(), logits.device()));
  const Tensor soft =
      softmax(prim::elementwise(divided_by, logits, as_dtype(noise, logits.dtype()), tau), dim);
  if (!hard) return soft;
  const int64_t d = wrap_dim("gumbel_softmax", dim, logits.dim());
  if (logits.dim() == 0) return prim::elementwise(straight_through, soft, ones_like(soft));
  const Tensor at = prim::reduce(TN_REDUCE_ARGMAX, soft.detach(), d, true);
  const Tensor none = spread(soft.sizes(), 0, soft.dtype(), soft.device());
  const Tensor one = spread(at.sizes(), 1, soft.dtype(), soft.device());
  return prim::elementwise(straight_through, soft, prim::scatter(none, d, at, one, false));
}

void draws() {
  op("rrelu(Tensor x, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> "
     "Tensor")
      .doc(
          "x where it is above 0, else a slope times x: in training uniform in [lower, upper) for "
          "each element, else their mean. Xu et al., arXiv:1505.00853.")
      .random()
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(rrelu_of);
  op("gumbel_softmax(Tensor logits, float tau=1, bool hard=False, float eps=1e-10, int dim=-1) -> "
     "Tensor")
      .doc(
          "Draws from the categories along dim: softmax of (logits + Gumbel noise) / tau; hard: 1 "
          "at the largest and 0 elsewhere, with the gradient of the softmax. eps does nothing, as "
          "in PyTorch. Jang et al., arXiv:1611.01144.")
      .random()
      .amp(Amp::float32)
      .meaning([](Tensor logits, double tau, bool hard, double, int64_t dim) {
        return gumbel_softmax_of(logits, tau, hard, dim);
      });
}

}  // namespace

void dropout_forms() {
  dropouts();
  dropouts_of_channels();
  alpha_dropouts();
  draws();
}

}  // namespace tenon::ops_pack
