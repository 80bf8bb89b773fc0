// Losses that want a margin: of distances, of rankings, and of classes. reduction is mean, sum or
// none, as PyTorch's.
#include "distance.h"
#include "loss.h"

namespace tenon::ops_pack {
namespace {

// Shared by the losses of a margin: what is above 0.
constinit ExpressionRef ranking{
    "_ranking(Tensor input1, Tensor input2, Tensor target, float margin) -> Tensor",
    "max(margin - target * (input1 - input2), 0)"};
constinit ExpressionRef triplet{"_triplet(Tensor near, Tensor far, float margin) -> Tensor",
                                "max(near - far + margin, 0)"};
constinit ExpressionRef hinge{"_hinge(Tensor input, Tensor target, float margin) -> Tensor",
                              "where(target != 1, max(margin - input, 0), 0) + "
                              "where(target != -1, input, 0)"};
constinit ExpressionRef by_angle{"_by_angle(Tensor cosine, Tensor target, float margin) -> Tensor",
                                 "where(target == 1, 1 - cosine, 0) + "
                                 "where(target == -1, max(cosine - margin, 0), 0)"};
constinit ExpressionRef beyond{
    "_beyond(Tensor x, Tensor own, Tensor i, Tensor target, float margin) -> Tensor",
    "where(i == target, 0, max(margin - own + x, 0))"};
// Only what stands before the first -1 is a target.
constinit ExpressionRef is_listed{"_is_listed(Tensor target, Tensor ends) -> Tensor",
                                  "ends == 0 and target >= 0"};
constinit ExpressionRef between{
    "_between(Tensor x, Tensor own, Tensor listed, Tensor count) -> Tensor",
    "where(listed and count == 0, max(1 - own + x, 0), 0)"};

Tensor cosine_of(const Tensor& a, const Tensor& b) {
  const int64_t last = std::max(a.dim(), b.dim()) - 1;
  constexpr double kEpsilon = 1e-12;
  const Tensor squares =
      mul(add(sum(square(a), {-1}), kEpsilon), add(sum(square(b), {-1}), kEpsilon));
  return div(sum(mul(a, b), {last}), sqrt(squares));
}

void losses_of_distances() {
  op("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1, float "
     "p=2, float eps=1e-6, bool swap=False, str reduction=\"mean\") -> Tensor")
      .doc(
          "max(|anchor - positive| - |anchor - negative| + margin, 0), of pairwise_distance; swap: "
          "with |positive - negative| where that is less. Balntas et al., 2016.")
      .amp(Amp::float32)
      .meaning([](Tensor anchor, Tensor positive, Tensor negative, double margin, double p,
                  double eps, bool swap, std::string reduction) {
        const char* op = "triplet_margin_loss";
        if (!(margin > 0)) {
          fail(std::string(op) + ": margin is " + detail::number_text(margin) +
               ", expected a number above 0");
        }
        const Reduction kind = reduction_of(op, reduction);
        if (anchor.dim() != positive.dim() || anchor.dim() != negative.dim()) {
          fail(detail::joined({op, ": anchor is ", sizes_text(anchor.sizes()), ", positive is ",
                               sizes_text(positive.sizes()), ", negative is ",
                               sizes_text(negative.sizes()),
                               "; expected as many dimensions of each"}));
        }
        const Tensor near = distance_between(op, anchor, positive, p, eps, false);
        Tensor far = distance_between(op, anchor, negative, p, eps, false);
        if (swap) far = minimum(far, distance_between(op, positive, negative, p, eps, false));
        return reduced(prim::elementwise(triplet, near, far, margin), kind);
      });
  op("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, str "
     "reduction=\"mean\") -> Tensor")
      .doc("max(-target * (input1 - input2) + margin, 0); target is 1 or -1.")
      .amp(Amp::float32)
      .meaning(
          [](Tensor input1, Tensor input2, Tensor target, double margin, std::string reduction) {
            const char* op = "margin_ranking_loss";
            const Reduction kind = reduction_of(op, reduction);
            if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
              fail(detail::joined({op, ": inputs are ", sizes_text(input1.sizes()), " and ",
                                   sizes_text(input2.sizes()), ", target is ",
                                   sizes_text(target.sizes()),
                                   "; expected as many dimensions of each"}));
            }
            expect_broadcast(op, input1, target);
            expect_broadcast(op, input1, input2);
            expect_numbers(op, input1, input2);
            return reduced(prim::elementwise(ranking, input1, input2, target, margin), kind);
          });
  op("hinge_embedding_loss(Tensor input, Tensor target, float margin=1, str reduction=\"mean\") "
     "-> Tensor")
      .doc("input where target is 1, and max(margin - input, 0) where it is -1.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, double margin, std::string reduction) {
        const char* op = "hinge_embedding_loss";
        const Reduction kind = reduction_of(op, reduction);
        expect_broadcast(op, input, target);
        expect_fractions(op, input, target);
        return reduced(prim::elementwise(hinge, input, target, margin), kind);
      });
  op("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, str "
     "reduction=\"mean\") -> Tensor")
      .doc(
          "1 - cos(input1, input2) where target is 1, and max(cos - margin, 0) where it is -1; "
          "inputs [n, size] and target [n], or [size] and a number.")
      .amp(Amp::float32)
      .meaning(
          [](Tensor input1, Tensor input2, Tensor target, double margin, std::string reduction) {
            const char* op = "cosine_embedding_loss";
            const Reduction kind = reduction_of(op, reduction);
            if (input1.dim() != target.dim() + 1 || input2.dim() != target.dim() + 1 ||
                target.dim() > 1) {
              fail(detail::joined({op, ": inputs are ", sizes_text(input1.sizes()), " and ",
                                   sizes_text(input2.sizes()), ", target is ",
                                   sizes_text(target.sizes()),
                                   "; expected [n, size] and [n], or [size] and []"}));
            }
            expect_broadcast(op, input1, input2);
            const Tensor cosines = cosine_of(as_float(input1), as_float(input2));
            return reduced(prim::elementwise(by_angle, cosines, target, margin), kind);
          });
}

// input [n, classes] or [classes], as [n, classes]; target as int64 with n in front. A number is a
// sample of one class.
struct Samples {
  Tensor input, target;
  bool single;
  bool listed_target = false;  // of a single sample, [1]: so is its loss
};
Samples samples_of(const char* op, const Tensor& given, const Tensor& its_target, bool listed) {
  const bool is_number = given.dim() == 0 && its_target.dim() == 0;
  const Tensor input = is_number ? prim::reshape(given, {1}) : given;
  const Tensor target = is_number && listed ? prim::reshape(its_target, {1}) : its_target;
  const bool single = input.dim() == 1;
  Sizes expected = sizes_of(input);
  if (!listed && !expected.empty()) expected.pop_back();
  const bool one = single && !listed && target.dim() == 1 && target.size(0) == 1;
  const bool fits = (single || input.dim() == 2) && (sizes_of(target) == expected || one);
  if (!fits || target.dtype() != int64 || !input.dtype().is_float()) {
    fail(std::string(op) + ": input is " + sizes_text(input.sizes()) + " (" + input.dtype().name() +
         "), target is " + sizes_text(target.sizes()) + " (" + target.dtype().name() +
         "); expected floats [n, classes], and int64 " + (listed ? "[n, classes]" : "[n]") +
         ", or one sample without n");
  }
  if (!single) return {input, target, false};
  Sizes sizes = joined_sizes({{1}, sizes_of(input)});
  const Tensor x = prim::reshape(input, sizes);
  if (!listed) sizes.pop_back();
  return {x, prim::reshape(target, sizes), true, one};
}
Tensor of_samples(const Tensor& loss, const Samples& samples, Reduction kind) {
  if (!samples.single || (samples.listed_target && kind == Reduction::none))
    return reduced(loss, kind);
  return prim::reshape(loss, {});
}

Tensor margins_of_classes(const Tensor& input, const Tensor& target, int64_t p, double margin,
                          const Tensor& weight, Reduction kind) {
  const char* op = "multi_margin_loss";
  if (p != 1 && p != 2) fail(std::string(op) + ": p is " + std::to_string(p) + ", expected 1 or 2");
  const Samples s = samples_of(op, input, target, false);
  const int64_t n = s.input.size(0), classes = s.input.size(1);
  if (weight.defined() && sizes_of(weight) != Sizes{classes}) {
    fail(std::string(op) + ": weight is " + sizes_text(weight.sizes()) + ", expected [" +
         std::to_string(classes) + "], a number a class");
  }
  const Tensor at = prim::reshape(s.target, {n, 1});
  const Tensor own = prim::gather(s.input, 1, at);
  const Tensor i = prim::iota(classes, 0, 1, int64, input.device());
  Tensor loss = prim::elementwise(beyond, s.input, own, i, at, margin);
  if (p == 2) loss = square(loss);
  if (weight.defined()) loss = mul(loss, index_select(weight, 0, s.target).reshape({n, 1}));
  return of_samples(mean(loss, {1}), s, kind);
}

constinit ExpressionRef below_end{"_below_end(Tensor x) -> Tensor", "int(x < -1)"};

Tensor margins_of_lists(const Tensor& input, const Tensor& target, Reduction kind) {
  const Samples s = samples_of("multilabel_margin_loss", input, target, true);
  expect_each("multilabel_margin_loss", "target", "a class, or -1 behind the last", below_end,
              s.target);
  const int64_t n = s.input.size(0), classes = s.input.size(1);
  const Tensor ends = prim::scan(TN_REDUCE_SUM, as_dtype(lt(s.target, 0), int64), 1);
  const Tensor listed = prim::elementwise(is_listed, s.target, ends);
  const Tensor at = clamp_min(s.target, 0);
  const Tensor none = spread({n, classes}, 0, int64, input.device());
  const Tensor count = prim::scatter(none, 1, at, as_dtype(listed, int64), true);
  const Tensor own = unsqueeze(prim::gather(s.input, 1, at), 2);
  const Tensor loss = prim::elementwise(between, unsqueeze(s.input, 1), own, unsqueeze(listed, 2),
                                        unsqueeze(count, 1));
  const double share = classes > 0 ? 1.0 / double(classes) : 1.0;
  return of_samples(mul(sum(loss, {1, 2}), share), s, kind);
}

void losses_of_classes_with_margins() {
  op("multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1, Tensor? weight=None, "
     "str reduction=\"mean\") -> Tensor")
      .doc(
          "The mean over all classes i but the target of max(margin - input[target] + input[i], "
          "0)^p, times weight[target]; input [n, classes], target [n] int64.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, int64_t p, double margin, Tensor weight,
                  std::string reduction) {
        return margins_of_classes(input, target, p, margin, weight,
                                  reduction_of("multi_margin_loss", reduction));
      });
  op("multilabel_margin_loss(Tensor input, Tensor target, str reduction=\"mean\") -> Tensor")
      .doc(
          "The sum over the targets j and all other classes i of max(1 - input[j] + input[i], 0), "
          "over the number of classes; target [n, classes] lists classes and ends with -1.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, std::string reduction) {
        return margins_of_lists(input, target, reduction_of("multilabel_margin_loss", reduction));
      });
  op("multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, str "
     "reduction=\"mean\") -> Tensor")
      .doc(
          "The mean over the last dimension of binary_cross_entropy_with_logits, times weight "
          "[classes]; target is 0 or 1.")
      .amp(Amp::float32)
      .meaning([](Tensor input, Tensor target, Tensor weight, std::string reduction) {
        const char* op = "multilabel_soft_margin_loss";
        const Reduction kind = reduction_of(op, reduction);
        expect_same_sizes(op, input, target);
        expect_fractions(op, input, target);
        const Tensor loss =
            neg(add(mul(target, log_sigmoid(input)), mul(sub(1, target), log_sigmoid(neg(input)))));
        return reduced(mean(weight.defined() ? mul(loss, weight) : loss, {-1}), kind);
      });
}

}  // namespace

void margin_losses() {
  losses_of_distances();
  losses_of_classes_with_margins();
}

}  // namespace tenon::ops_pack
