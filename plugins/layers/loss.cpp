// Losses as layers: forward(input, target). A weight is a buffer, as in PyTorch.
#include "layers.h"

namespace layers {
namespace {

// f(input, target, reduction)
template <typename F>
void add_loss(const char* schema, const char* doc, F f) {
  layer(schema, doc, [f](Object& self, std::string reduction) {
    expect_reduction(reduction);
    self.method(kOfInputAndTarget, [f, reduction](Tensor input, Tensor target) {
      return f(input, target, reduction);
    });
  });
}

void add_losses_of_differences() {
  add_loss("MSELoss(str reduction=\"mean\")",
           "loss(input, target): (input - target)^2. reduction: mean, sum or none.",
           [](const Tensor& input, const Tensor& target, const std::string& reduction) {
             return mse_loss(input, target, reduction);
           });
  add_loss("L1Loss(str reduction=\"mean\")",
           "loss(input, target): |input - target|. reduction: mean, sum or none.",
           [](const Tensor& input, const Tensor& target, const std::string& reduction) {
             return l1_loss(input, target, reduction);
           });
  layer("SmoothL1Loss(str reduction=\"mean\", float beta=1)",
        "loss(input, target): d * d / (2 * beta) where d = |input - target| is below beta, else d "
        "- beta / 2. Girshick, arXiv:1504.08083.",
        [](Object& self, std::string reduction, double beta) {
          expect_reduction(reduction);
          self.method(kOfInputAndTarget, [=](Tensor input, Tensor target) {
            return smooth_l1_loss(input, target, reduction, beta);
          });
        });
  layer("HuberLoss(str reduction=\"mean\", float delta=1)",
        "loss(input, target): d * d / 2 where d = |input - target| is below delta, else delta * (d "
        "- delta / 2). Huber, 1964.",
        [](Object& self, std::string reduction, double delta) {
          expect_reduction(reduction);
          self.method(kOfInputAndTarget, [=](Tensor input, Tensor target) {
            return huber_loss(input, target, {.reduction = reduction, .delta = delta});
          });
        });
}

void add_losses_of_probabilities() {
  layer("KLDivLoss(str reduction=\"mean\", bool log_target=False)",
        "loss(input, target): target * (log(target) - input) of log-probabilities input, and "
        "target too with log_target. reduction batchmean is the sum over the number of samples.",
        [](Object& self, std::string reduction, bool log_target) {
          expect_reduction(reduction, true);
          self.method(kOfInputAndTarget, [=](Tensor input, Tensor target) {
            return kl_div(input, target, reduction, log_target);
          });
        });
  layer("BCELoss(Tensor? weight=None, str reduction=\"mean\")",
        "loss(input, target): -(target * log(input) + (1 - target) * log(1 - input)), times "
        "weight, a buffer.",
        [](Object& self, Tensor weight, std::string reduction) {
          expect_reduction(reduction);
          self.buffer("weight", weight);
          self.method(kOfInputAndTarget, [=](Object& self, Tensor input, Tensor target) {
            return binary_cross_entropy(input, target, self.tensor("weight"), reduction);
          });
        });
  layer("BCEWithLogitsLoss(Tensor? weight=None, str reduction=\"mean\", Tensor? pos_weight=None)",
        "loss(input, target): BCELoss of sigmoid(input), computed in one step. The weights are "
        "buffers.",
        [](Object& self, Tensor weight, std::string reduction, Tensor pos_weight) {
          expect_reduction(reduction);
          self.buffer("weight", weight);
          self.buffer("pos_weight", pos_weight);
          self.method(kOfInputAndTarget, [=](Object& self, Tensor input, Tensor target) {
            return binary_cross_entropy_with_logits(
                input, target, self.tensor("weight"),
                {.reduction = reduction, .pos_weight = self.tensor("pos_weight")});
          });
        });
}

void add_losses_of_classes() {
  layer("NLLLoss(Tensor? weight=None, int ignore_index=-100, str reduction=\"mean\")",
        "loss(input, target): -input at the class, for input [n, classes, ..] of "
        "log-probabilities; weight [classes] is a buffer.",
        [](Object& self, Tensor weight, int64_t ignore_index, std::string reduction) {
          expect_reduction(reduction);
          self.buffer("weight", weight);
          self.method(kOfInputAndTarget, [=](Object& self, Tensor input, Tensor target) {
            return nll_loss(input, target, self.tensor("weight"),
                            {.ignore_index = ignore_index, .reduction = reduction});
          });
        });
  layer(
      "CrossEntropyLoss(Tensor? weight=None, int ignore_index=-100, str reduction=\"mean\", float "
      "label_smoothing=0)",
      "loss(input, target): NLLLoss of log_softmax(input); target is classes [n, ..], or "
      "probabilities of the sizes of input. weight [classes] is a buffer.",
      [](Object& self, Tensor weight, int64_t ignore_index, std::string reduction,
         double label_smoothing) {
        expect_reduction(reduction);
        self.buffer("weight", weight);
        self.method(kOfInputAndTarget, [=](Object& self, Tensor input, Tensor target) {
          return cross_entropy(input, target, self.tensor("weight"),
                               {.ignore_index = ignore_index,
                                .reduction = reduction,
                                .label_smoothing = label_smoothing});
        });
      });
}

}  // namespace

void add_loss_layers() {
  add_losses_of_differences();
  add_losses_of_probabilities();
  add_losses_of_classes();
}

}  // namespace layers
