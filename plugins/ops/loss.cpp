// Losses: what is elementwise is a formula and a reduction of it; those of classes gather.
// reduction is mean, sum or none, as PyTorch's.
#include <algorithm>
#include <limits>
#include <string>

#include "loss.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef squared_difference{"_mse(Tensor input, Tensor target) -> Tensor",
                                           "(input - target) * (input - target)"};
constinit ExpressionRef difference{"_l1(Tensor input, Tensor target) -> Tensor",
                                   "abs(input - target)"};
// With m = min(|d|, beta) both branches are one product: below beta it is d * d / (2 * beta), above it
// m / beta is 1. The derivatives are stated, since abs has no second one at 0.
constinit ExpressionRef smooth{"_smooth_l1(Tensor input, Tensor target, float beta) -> Tensor",
                               "let a = abs(input - target); let m = min(a, beta)\n"
                               "m / beta * (a - 0.5 * m)\n"
                               "dinput = g * (clamp(input - target, -beta, beta) / beta)\n"
                               "dtarget = -g * (clamp(input - target, -beta, beta) / beta)"};
constinit ExpressionRef huber{"_huber(Tensor input, Tensor target, float delta) -> Tensor",
                              "let a = abs(input - target); let m = min(a, delta)\n"
                              "m * (a - 0.5 * m)\n"
                              "dinput = g * clamp(input - target, -delta, delta)\n"
                              "dtarget = -g * clamp(input - target, -delta, delta)"};
// The logarithms end at -100 and the gradient's divisor at 1e-12, as PyTorch's do. At 0 and 1 round has the
// input's value and no slope, so that what is predicted for certain has no curvature.
constinit ExpressionRef entropy{
    "_bce(Tensor input, Tensor target, Tensor weight) -> Tensor",
    "let q = (1 - input) * input\n"
    "-weight * (target * max(log(input), -100) + (1 - target) * max(log1p(-input), -100))\n"
    "dinput = g * weight * where(q == 0, round(input) - target, input - target) / max(q, 1e-12)"};
// log(1 + exp(-input)) without overflow; its derivative is sigmoid's, also where abs and max bend.
constinit ExpressionRef softplus_of_minus{
    "_softplus_of_minus(Tensor input) -> Tensor",
    "log1p(exp(-abs(input))) + max(-input, 0)\n dinput = g * -sigmoid(-input)"};
// The derivative by the input, that of softplus included. Neither of its parts is a difference, so it
// is right where the class is all but sure, too.
constinit ExpressionRef entropy_of_logits{
    "_bce_with_logits(Tensor input, Tensor target, Tensor softplus, Tensor weight, Tensor "
    "pos_weight) -> Tensor",
    "weight * ((1 - target) * input + (1 + (pos_weight - 1) * target) * softplus)\n"
    "dinput = g * weight * ((1 - target) * sigmoid(input) - pos_weight * target * "
    "sigmoid(-input))\n"
    "dsoftplus = 0"};
// 0 log 0 is 0.
constinit ExpressionRef divergence{"_kl_div(Tensor input, Tensor target) -> Tensor",
                                   "where(target == 0, 0, target * log(target)) - target * input"};
constinit ExpressionRef divergence_of_logs{"_kl_div_log(Tensor input, Tensor target) -> Tensor",
                                           "exp(target) * (target - input)"};

constinit ExpressionRef class_or_first{"_class_or_first(Tensor target, int ignored) -> Tensor",
                                       "where(target == ignored, 0, target)"};
constinit ExpressionRef counted{"_counted(Tensor weight, Tensor target, int ignored) -> Tensor",
                                "where(target == ignored, 0, weight)"};
constinit ExpressionRef minus_product{"_minus_product(Tensor x, Tensor weight) -> Tensor",
                                      "-x * weight"};
// What is not counted is not looked at: it may be NaN.
constinit ExpressionRef minus_counted{
    "_minus_counted(Tensor x, Tensor weight, Tensor target, int ignored) -> Tensor",
    "where(target == ignored, 0, -x * weight)"};
constinit ExpressionRef mixed{"_mixed(Tensor x, Tensor y, float a, float b) -> Tensor",
                              "a * x + b * y"};
constinit ExpressionRef smoothed{"_smoothed(Tensor target, float keep, float share) -> Tensor",
                                 "keep * target + share"};

}  // namespace

Reduction reduction_of(const char* op, const std::string& name, const char* known) {
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  fail(std::string(op) + ": reduction is '" + name + "', expected " + known);
}
Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::mean ? mean(loss) : prim::reduce(TN_REDUCE_SUM, loss);
}

void expect_positive(const char* op, const char* what, double value, bool zero) {
  if (value > 0 || (zero && value == 0)) return;
  fail(std::string(op) + ": " + what + " is " + number_text(value) + ", expected " +
       (zero ? "0 or more" : "more than 0"));
}
void expect_same_sizes(const char* op, const Tensor& input, const Tensor& target) {
  if (sizes_of(input) == sizes_of(target)) return;
  fail(std::string(op) + ": input is " + sizes_text(input.sizes()) + ", target is " +
       sizes_text(target.sizes()) + "; expected the same sizes");
}
void expect_broadcast(const char* op, const Tensor& input, const Tensor& target) {
  for (int64_t d = 1; d <= std::min(input.dim(), target.dim()); ++d) {
    if (input.size(-d) == target.size(-d) || input.size(-d) == 1 || target.size(-d) == 1) continue;
    fail(std::string(op) + ": input is " + sizes_text(input.sizes()) + ", target is " +
         sizes_text(target.sizes()) + "; expected sizes that broadcast");
  }
}
void expect_broadcast_to(const char* op, const Tensor& input, const Tensor& target) {
  expect_broadcast(op, input, target);
  bool fits = target.dim() <= input.dim();
  for (int64_t d = 1; fits && d <= target.dim(); ++d)
    fits = target.size(-d) == 1 || target.size(-d) == input.size(-d);
  if (!fits) {
    fail(std::string(op) + ": target is " + sizes_text(target.sizes()) +
         ", expected sizes that broadcast to those of input, " + sizes_text(input.sizes()));
  }
}
// As PyTorch, whose warning it is: [8, 1] and [8] broadcast to [8, 8], which is hardly ever meant.
// Once for each pair of sizes, as Python shows a warning once.
void expect_alike(const char* op, const Tensor& input, const Tensor& target) {
  expect_broadcast(op, input, target);
  if (sizes_of(input) == sizes_of(target)) return;
  warn_once(std::string(op) + ": target is " + sizes_text(target.sizes()) + ", input is " +
            sizes_text(input.sizes()) +
            ": they are broadcast, which is likely to give a wrong result; expected the same "
            "sizes");
}
// As PyTorch: the weights do not broadcast.
void expect_weight_of_each(const char* op, const Tensor& input, const Tensor& weight) {
  if (!weight.defined() || sizes_of(weight) == sizes_of(input)) return;
  fail(std::string(op) + ": weight is " + sizes_text(weight.sizes()) + ", input is " +
       sizes_text(input.sizes()) + "; expected the same sizes");
}
// The loss of each element times its weight, of which a mean is over the weights.
Tensor reduced_with(const Tensor& loss, const Tensor& weight, Reduction reduction) {
  if (!weight.defined()) return reduced(loss, reduction);
  const Tensor weighed = mul(loss, weight);
  if (reduction != Reduction::mean) return reduced(weighed, reduction);
  return div(prim::reduce(TN_REDUCE_SUM, weighed), sum(weight));
}
// As PyTorch: squares and logarithms of whole numbers are refused, which would wrap or be cut.
void expect_fractions(const char* op, const Tensor& input, const Tensor& target) {
  if (promote(input.dtype(), target.dtype()).is_float()) return;
  fail(std::string(op) + ": input is " + input.dtype().name() + ", target is " +
       target.dtype().name() + "; expected a floating dtype of one of them");
}
// As PyTorch, where the loss of whole numbers has fractions by itself.
void expect_numbers(const char* op, const Tensor& input, const Tensor& target) {
  if (input.dtype() != bool_ || target.dtype() != bool_) return;
  fail(std::string(op) + ": input is bool, target is bool; expected numbers in one of them");
}

namespace {

// The number where there is no tensor. The result borrows t.
Operand or_number(const Tensor& t, double number) {
  return t.defined() ? Operand(t) : Operand(number);
}

[[noreturn]] void refuse_classes(const char* op, const Tensor& input, const Tensor& target,
                                 bool probabilities) {
  fail(std::string(op) + ": input is " + sizes_text(input.sizes()) + " on " +
       input.device().name() + ", target is " + sizes_text(target.sizes()) + " (" +
       target.dtype().name() + ") on " + target.device().name() +
       "; expected input [n, classes], target [n] int64 or uint8, on one device, with more "
       "dimensions " +
       "behind in both" + (probabilities ? "; or a target of probabilities, as input" : ""));
}

// Classes are in dimension 1; a single sample has them in dimension 0.
int64_t class_dim(const Tensor& input) { return input.dim() == 1 ? 0 : 1; }

// As PyTorch: classes are int64 or uint8.
bool fits_classes(const Tensor& input, const Tensor& target) {
  const bool classes = target.dtype() == int64 || target.dtype() == uint8;
  if (input.dim() < 1 || !classes || target.device() != input.device()) return false;
  Sizes sizes = sizes_of(input);
  sizes.erase(sizes.begin() + class_dim(input));
  return sizes == sizes_of(target);
}

void expect_weight(const char* op, const Tensor& input, const Tensor& weight) {
  int64_t classes = input.size(class_dim(input));
  if (!weight.defined() || (weight.dim() == 1 && weight.size(0) == classes)) return;
  fail(std::string(op) + ": weight is " + sizes_text(weight.sizes()) + ", expected [" +
       std::to_string(classes) + "], a number a class");
}

// weight [classes], to broadcast over input.
Tensor over_classes(const Tensor& weight, const Tensor& input) {
  Sizes sizes(size_t(input.dim() - class_dim(input)), 1);
  sizes[0] = weight.size(0);
  return prim::reshape(weight, sizes);
}

// A mean is over the weights that count.
Tensor reduced_by(const Tensor& loss, const Tensor& weights, Reduction reduction) {
  if (reduction != Reduction::mean) return reduced(loss, reduction);
  return prim::elementwise(quotient, prim::reduce(TN_REDUCE_SUM, loss),
                           prim::reduce(TN_REDUCE_SUM, weights));
}

Tensor nll(const Tensor& values, const Tensor& classes_of, const Tensor& class_weight,
           int64_t ignored, Reduction reduction, double smoothing = 0) {
  const Tensor target = classes_of.dtype() == int64 ? classes_of : prim::copy(classes_of, int64);
  Tensor input = wide(values), weight = class_weight.defined() ? wide(class_weight) : class_weight;
  auto as_given = [&](const Tensor& loss) {
    return input.dtype() == values.dtype() ? loss : prim::copy(loss, values.dtype());
  };
  int64_t dim = class_dim(input), classes = input.size(dim);
  Tensor safe = prim::elementwise(class_or_first, target, ignored);
  Sizes one = sizes_of(input);
  one[size_t(dim)] = 1;
  Tensor picked = prim::reshape(prim::gather(input, dim, prim::reshape(safe, one)), target.sizes());
  Tensor each = prim::fill({}, 1, input.dtype(), input.device());
  if (weight.defined()) {
    each =
        prim::reshape(prim::gather(weight, 0, prim::reshape(safe, {safe.numel()})), target.sizes());
  }
  Tensor counts = prim::elementwise(counted, each, target, ignored);
  Tensor loss = reduced_by(prim::elementwise(minus_counted, picked, each, target, ignored), counts,
                           reduction);
  if (smoothing == 0) return as_given(loss);
  // The share that all classes have. (As PyTorch, its mean is over the targets' weights too.)
  Tensor weighed = weight.defined()
                       ? prim::elementwise(minus_product, input, over_classes(weight, input))
                       : neg(input);
  Tensor all =
      prim::elementwise(counted, prim::reduce(TN_REDUCE_SUM, weighed, dim), target, ignored);
  return as_given(prim::elementwise(mixed, loss, reduced_by(all, counts, reduction), 1 - smoothing,
                                    smoothing / double(classes)));
}

// target: a probability for each class. The mean is over the samples, whatever their weights.
Tensor entropy_of_probabilities(const Tensor& input, const Tensor& target, const Tensor& weight,
                                Reduction reduction, double smoothing) {
  int64_t dim = class_dim(input), classes = input.size(dim);
  Tensor p = target;
  if (smoothing > 0) p = prim::elementwise(smoothed, p, 1 - smoothing, smoothing / double(classes));
  Tensor loss = prim::elementwise(minus_product, input, p);
  if (weight.defined()) loss = mul(loss, over_classes(weight, input));
  return reduced(prim::reduce(TN_REDUCE_SUM, loss, dim), reduction);
}

struct EntropyCall {
  Reduction reduction;
  bool probabilities;  // target has one for each class
};
EntropyCall check_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                                const std::string& reduction, double label_smoothing) {
  const char* op = "cross_entropy";
  Reduction kind = reduction_of(op, reduction);
  if (!(label_smoothing >= 0 && label_smoothing <= 1)) {
    fail(std::string(op) + ": label_smoothing is " + number_text(label_smoothing) +
         ", expected 0 to 1");
  }
  bool probabilities = target.dtype().is_float() && input.dim() >= 1 &&
                       target.device() == input.device() && sizes_of(input) == sizes_of(target);
  if (!probabilities && !fits_classes(input, target)) refuse_classes(op, input, target, true);
  expect_weight(op, input, weight);
  return {kind, probabilities};
}

Meta cross_entropy_meta(Tensor input, Tensor target, Tensor weight, int64_t, std::string reduction,
                        double label_smoothing) {
  const auto [kind, probabilities] =
      check_cross_entropy(input, target, weight, reduction, label_smoothing);
  Sizes sizes;
  if (kind == Reduction::none) {
    sizes = sizes_of(input);
    sizes.erase(sizes.begin() + class_dim(input));
  }
  // That of the logarithms, which takes part in promotion with what they are multiplied by.
  Dtype dtype = input.dtype().is_float() ? input.dtype() : float32;
  const bool rounds = dtype.is_half() && !probabilities;
  if (probabilities) dtype = promote(dtype, target.dtype());
  if (weight.defined() && !rounds) dtype = promote(dtype, weight.dtype());
  return Meta(sizes, dtype, input.device());
}

Tensor cross_entropy_of(Tensor input, Tensor target, Tensor weight, int64_t ignore_index,
                        std::string reduction, double label_smoothing) {
  const auto [kind, probabilities] =
      check_cross_entropy(input, target, weight, reduction, label_smoothing);
  Tensor logs = log_softmax(input, class_dim(input));
  if (probabilities) {
    if (ignore_index >= 0) {
      fail("cross_entropy: ignore_index is " + std::to_string(ignore_index) +
           ", and target has probabilities, of which none is ignored");
    }
    return entropy_of_probabilities(logs, target, weight, kind, label_smoothing);
  }
  return nll(logs, target, weight, ignore_index, kind, label_smoothing);
}

void losses_of_differences() {
  op("mse_loss(Tensor input, Tensor target, str reduction=\"mean\", Tensor? weight=None) -> "
     "Tensor")
      .doc(
          "(input - target)^2, times weight of the sizes of input. reduction: \"mean\", which is "
          "over the weights, \"sum\" or \"none\".")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, std::string reduction, Tensor weight) {
        Reduction kind = reduction_of("mse_loss", reduction);
        expect_alike("mse_loss", input, target);
        expect_fractions("mse_loss", input, target);
        expect_weight_of_each("mse_loss", input, weight);
        return reduced_with(prim::elementwise(squared_difference, input, target), weight, kind);
      });
  op("l1_loss(Tensor input, Tensor target, str reduction=\"mean\", Tensor? weight=None) -> "
     "Tensor")
      .doc(
          "|input - target|, times weight of the sizes of input. reduction: \"mean\", which is "
          "over "
          "the weights, \"sum\" or \"none\".")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, std::string reduction, Tensor weight) {
        Reduction kind = reduction_of("l1_loss", reduction);
        expect_alike("l1_loss", input, target);
        if (kind == Reduction::mean) expect_fractions("l1_loss", input, target);
        expect_weight_of_each("l1_loss", input, weight);
        return reduced_with(prim::elementwise(difference, input, target), weight, kind);
      });
  op("smooth_l1_loss(Tensor input, Tensor target, str reduction=\"mean\", float beta=1) -> Tensor")
      .doc(
          "d * d / (2 * beta) where d = |input - target| is below beta, else d - beta / 2. "
          "Girshick, arXiv:1504.08083.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, std::string reduction, double beta) {
        Reduction kind = reduction_of("smooth_l1_loss", reduction);
        expect_alike("smooth_l1_loss", input, target);
        expect_fractions("smooth_l1_loss", input, target);
        expect_positive("smooth_l1_loss", "beta", beta, true);
        // What programs of floats take for 0 nothing is divided by.
        const bool is_double = promote(input.dtype(), target.dtype()) == float64;
        const double least = is_double ? std::numeric_limits<double>::min()
                                       : double(std::numeric_limits<float>::min());
        // Of 1, as nearly all have it, nothing need be divided by it.
        return reduced(beta < least ? prim::elementwise(difference, input, target)
                       : beta == 1  ? prim::elementwise(huber, input, target, 1.0)
                                    : prim::elementwise(smooth, input, target, beta),
                       kind);
      });
  op("huber_loss(Tensor input, Tensor target, str reduction=\"mean\", float delta=1, Tensor? "
     "weight=None) -> Tensor")
      .doc(
          "d * d / 2 where d = |input - target| is below delta, else delta * (d - delta / 2), "
          "times "
          "weight of the sizes of input. Huber, 1964.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, std::string reduction, double delta, Tensor weight) {
        Reduction kind = reduction_of("huber_loss", reduction);
        expect_alike("huber_loss", input, target);
        expect_fractions("huber_loss", input, target);
        expect_positive("huber_loss", "delta", delta, false);
        expect_weight_of_each("huber_loss", input, weight);
        // As PyTorch, whose mean is over the elements here.
        const Tensor loss = prim::elementwise(huber, input, target, delta);
        return reduced(weight.defined() ? mul(loss, weight) : loss, kind);
      });
  op("soft_margin_loss(Tensor input, Tensor target, str reduction=\"mean\") -> Tensor")
      .doc("log(1 + exp(-target * input)); target is 1 or -1.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, std::string reduction) {
        Reduction kind = reduction_of("soft_margin_loss", reduction);
        expect_broadcast_to("soft_margin_loss", input, target);
        expect_fractions("soft_margin_loss", input, target);
        return reduced(neg(log_sigmoid(mul(input, target))), kind);
      });
}

void losses_of_probabilities() {
  op("binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str "
     "reduction=\"mean\") -> Tensor")
      .doc(
          "-(target * log(input) + (1 - target) * log(1 - input)), times weight; input: "
          "probabilities, target: 0 to 1.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, Tensor weight, std::string reduction) {
        Reduction kind = reduction_of("binary_cross_entropy", reduction);
        expect_same_sizes("binary_cross_entropy", input, target);
        expect_fractions("binary_cross_entropy", input, target);
        expect_probabilities("binary_cross_entropy", "input", input);
        if (target.dtype().is_float())
          expect_probabilities("binary_cross_entropy", "target", target);
        return reduced(prim::elementwise(entropy, input, target, or_number(weight, 1)), kind);
      });
  op("binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, str "
     "reduction=\"mean\", Tensor? pos_weight=None) -> Tensor")
      .doc(
          "binary_cross_entropy of sigmoid(input), computed in one step; pos_weight scales the "
          "part of target.")
      .amp(Amp::float32)
      .meaning(
          [](Tensor input, Tensor target, Tensor weight, std::string reduction, Tensor pos_weight) {
            Reduction kind = reduction_of("binary_cross_entropy_with_logits", reduction);
            expect_same_sizes("binary_cross_entropy_with_logits", input, target);
            expect_fractions("binary_cross_entropy_with_logits", input, target);
            Tensor softplus = prim::elementwise(softplus_of_minus, input);
            return reduced(prim::elementwise(entropy_of_logits, input, target, softplus,
                                             or_number(weight, 1), or_number(pos_weight, 1)),
                           kind);
          });
  op("kl_div(Tensor input, Tensor target, str reduction=\"mean\", bool log_target=False) -> Tensor")
      .doc(
          "target * (log(target) - input), where input is log-probabilities, and target too with "
          "log_target. reduction \"batchmean\" is the sum over the number of samples.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, std::string reduction, bool log_target) {
        bool by_batch = reduction == "batchmean";
        Reduction kind = by_batch
                             ? Reduction::sum
                             : reduction_of("kl_div", reduction, "mean, sum, none or batchmean");
        expect_broadcast("kl_div", input, target);
        expect_fractions("kl_div", input, target);
        Tensor loss = reduced(
            prim::elementwise(log_target ? divergence_of_logs : divergence, input, target), kind);
        double n = input.dim() == 0 ? 1 : double(input.size(0));
        return by_batch ? prim::elementwise(scaled, loss, 1 / n) : loss;
      });
}

void losses_of_classes() {
  op("nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
     "reduction=\"mean\") -> Tensor")
      .doc(
          "-input at the class: input [n, classes, ..] is log-probabilities, target [n, ..] int64 "
          "classes, weight [classes]. The mean is over the weights.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, Tensor weight, int64_t ignore_index,
                  std::string reduction) {
        Reduction kind = reduction_of("nll_loss", reduction);
        if (!fits_classes(input, target)) refuse_classes("nll_loss", input, target, false);
        expect_weight("nll_loss", input, weight);
        return nll(input, target, weight, ignore_index, kind);
      });
  op("cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
     "reduction=\"mean\", float label_smoothing=0) -> Tensor")
      .doc(
          "nll_loss of log_softmax(input): input [n, classes, ..] is logits, target classes [n, "
          "..], or probabilities of the sizes of input. label_smoothing: Szegedy et al., "
          "arXiv:1512.00567.")
      .amp(Amp::float32)
      .infer(cross_entropy_meta)
      .meaning(cross_entropy_of);
}

}  // namespace

void loss() {
  losses_of_differences();
  losses_of_probabilities();
  losses_of_classes();
}

}  // namespace tenon::ops_pack
