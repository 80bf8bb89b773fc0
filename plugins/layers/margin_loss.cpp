// Losses of margins, likelihoods and sequences, and the distances that they measure, as layers. A
// weight is a buffer, as in PyTorch.
#include "layers.h"

namespace layers {
namespace {

constexpr const char* kOfTwo = "forward(Tensor input1, Tensor input2, Tensor target) -> Tensor";

void add_distances() {
  layer("CosineSimilarity(int dim=1, float eps=1e-8)",
        "layer(x1, x2): sum(x1 * x2) / (|x1| * |x2|) along dim, with norms of at least eps.",
        [](Object& self, int64_t dim, double eps) {
          self.method("forward(Tensor x1, Tensor x2) -> Tensor",
                      [=](Tensor x1, Tensor x2) { return cosine_similarity(x1, x2, dim, eps); });
        });
  layer("PairwiseDistance(float p=2, float eps=1e-6, bool keepdim=False)",
        "layer(x1, x2): the p-norm of x1 - x2 + eps along the last dimension.",
        [](Object& self, double p, double eps, bool keepdim) {
          self.method("forward(Tensor x1, Tensor x2) -> Tensor", [=](Tensor x1, Tensor x2) {
            return pairwise_distance(x1, x2, {.p = p, .eps = eps, .keepdim = keepdim});
          });
        });
}

void add_losses_of_distances() {
  layer(
      "TripletMarginLoss(float margin=1, float p=2, float eps=1e-6, bool swap=False, str "
      "reduction=\"mean\")",
      "loss(anchor, positive, negative): max(|anchor - positive| - |anchor - negative| + margin, "
      "0); swap: with |positive - negative| where that is less. Balntas et al., 2016.",
      [](Object& self, double margin, double p, double eps, bool swap, std::string reduction) {
        expect_reduction(reduction);
        self.method(
            "forward(Tensor anchor, Tensor positive, Tensor negative) -> Tensor",
            [=](Tensor anchor, Tensor positive, Tensor negative) {
              return triplet_margin_loss(
                  anchor, positive, negative,
                  {.margin = margin, .p = p, .eps = eps, .swap = swap, .reduction = reduction});
            });
      });
  layer(
      "MarginRankingLoss(float margin=0, str reduction=\"mean\")",
      "loss(input1, input2, target): max(-target * (input1 - input2) + margin, 0); target is 1 or "
      "-1.",
      [](Object& self, double margin, std::string reduction) {
        expect_reduction(reduction);
        self.method(kOfTwo, [=](Tensor input1, Tensor input2, Tensor target) {
          return margin_ranking_loss(input1, input2, target, margin, reduction);
        });
      });
  layer("HingeEmbeddingLoss(float margin=1, str reduction=\"mean\")",
        "loss(input, target): input where target is 1, and max(margin - input, 0) where it is -1.",
        [](Object& self, double margin, std::string reduction) {
          expect_reduction(reduction);
          self.method(kOfInputAndTarget, [=](Tensor input, Tensor target) {
            return hinge_embedding_loss(input, target, margin, reduction);
          });
        });
  layer("CosineEmbeddingLoss(float margin=0, str reduction=\"mean\")",
        "loss(input1, input2, target): 1 - cos(input1, input2) where target is 1, and max(cos - "
        "margin, 0) where it is -1.",
        [](Object& self, double margin, std::string reduction) {
          expect_reduction(reduction);
          self.method(kOfTwo, [=](Tensor input1, Tensor input2, Tensor target) {
            return cosine_embedding_loss(input1, input2, target, margin, reduction);
          });
        });
}

void add_margin_losses_of_classes() {
  layer("SoftMarginLoss(str reduction=\"mean\")",
        "loss(input, target): log(1 + exp(-target * input)); target is 1 or -1.",
        [](Object& self, std::string reduction) {
          expect_reduction(reduction);
          self.method(kOfInputAndTarget, [=](Tensor input, Tensor target) {
            return soft_margin_loss(input, target, reduction);
          });
        });
  layer(
      "MultiMarginLoss(int p=1, float margin=1, Tensor? weight=None, str reduction=\"mean\")",
      "loss(input, target): the mean over all classes i but the target of max(margin - "
      "input[target] + input[i], 0)^p, times weight[target], a buffer.",
      [](Object& self, int64_t p, double margin, Tensor weight, std::string reduction) {
        expect_reduction(reduction);
        if (p != 1 && p != 2) fail("p is " + std::to_string(p) + ", expected 1 or 2");
        self.buffer("weight", weight);
        self.method(kOfInputAndTarget, [=](Object& self, Tensor input, Tensor target) {
          return multi_margin_loss(
              input, target,
              {.p = p, .margin = margin, .weight = self.tensor("weight"), .reduction = reduction});
        });
      });
  layer("MultiLabelMarginLoss(str reduction=\"mean\")",
        "loss(input, target): the sum over the targets j and all other classes i of max(1 - "
        "input[j] + input[i], 0), over the number of classes; target [n, classes] ends with -1.",
        [](Object& self, std::string reduction) {
          expect_reduction(reduction);
          self.method(kOfInputAndTarget, [=](Tensor input, Tensor target) {
            return multilabel_margin_loss(input, target, reduction);
          });
        });
  layer("MultiLabelSoftMarginLoss(Tensor? weight=None, str reduction=\"mean\")",
        "loss(input, target): the mean over the classes of BCEWithLogitsLoss, times weight "
        "[classes], a buffer; target is 0 or 1.",
        [](Object& self, Tensor weight, std::string reduction) {
          expect_reduction(reduction);
          self.buffer("weight", weight);
          self.method(kOfInputAndTarget, [=](Object& self, Tensor input, Tensor target) {
            return multilabel_soft_margin_loss(input, target, self.tensor("weight"), reduction);
          });
        });
}

void add_likelihoods() {
  layer(
      "PoissonNLLLoss(bool log_input=True, bool full=False, float eps=1e-8, str "
      "reduction=\"mean\")",
      "loss(input, target): exp(input) - target * input, or input - target * log(input + eps) "
      "without log_input; full: with Stirling's approximation of log(target!).",
      [](Object& self, bool log_input, bool full, double eps, std::string reduction) {
        expect_reduction(reduction);
        self.method(kOfInputAndTarget, [=](Tensor input, Tensor target) {
          return poisson_nll_loss(
              input, target,
              {.log_input = log_input, .full = full, .eps = eps, .reduction = reduction});
        });
      });
  layer("GaussianNLLLoss(bool full=False, float eps=1e-6, str reduction=\"mean\")",
        "loss(input, target, var): (log(var) + (input - target)^2 / var) / 2, with var of at least "
        "eps; full: with log(2 * pi) / 2.",
        [](Object& self, bool full, double eps, std::string reduction) {
          expect_reduction(reduction);
          if (!(eps > 0)) fail("eps is " + detail::number_text(eps) + ", expected more than 0");
          self.method("forward(Tensor input, Tensor target, Tensor var) -> Tensor",
                      [=](Tensor input, Tensor target, Tensor var) {
                        return gaussian_nll_loss(
                            input, target, var, {.full = full, .eps = eps, .reduction = reduction});
                      });
        });
  layer("CTCLoss(int blank=0, str reduction=\"mean\", bool zero_infinity=False)",
        "loss(log_probs, targets, input_lengths, target_lengths): -log of the probability of the "
        "labels targets [n, labels] given log_probs [t, n, classes]. Graves et al., 2006.",
        [](Object& self, int64_t blank, std::string reduction, bool zero_infinity) {
          expect_reduction(reduction);
          if (blank < 0) fail("blank is " + std::to_string(blank) + ", expected 0 or more");
          self.method(
              "forward(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
              "target_lengths) -> Tensor",
              [=](Tensor log_probs, Tensor targets, Tensor inputs, Tensor lengths) {
                return ctc_loss(
                    log_probs, targets, inputs, lengths,
                    {.blank = blank, .reduction = reduction, .zero_infinity = zero_infinity});
              });
        });
}

}  // namespace

void add_margin_loss_layers() {
  add_distances();
  add_losses_of_distances();
  add_margin_losses_of_classes();
  add_likelihoods();
}

}  // namespace layers
