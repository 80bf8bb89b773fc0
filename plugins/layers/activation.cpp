// Layers that are one elementwise op, and those that go along one dimension.
#include <string>

#include "layers.h"

namespace layers {
namespace {

// NAME(): f(x)
void plain(const char* schema, const char* doc, Tensor (*f)(const Tensor&)) {
  layer(schema, doc, [f](Object& self) { self.method(kOfTensor, [f](Tensor x) { return f(x); }); });
}
// NAME(float a): f(x, a)
void of_number(const char* schema, const char* doc, Tensor (*f)(const Tensor&, Float)) {
  layer(schema, doc, [f](Object& self, double a) {
    self.method(kOfTensor, [f, a](Tensor x) { return f(x, a); });
  });
}
// NAME(float a, float b): f(x, a, b)
template <typename F>
void of_numbers(const char* schema, const char* doc, F f) {
  layer(schema, doc, [f](Object& self, double a, double b) {
    self.method(kOfTensor, [f, a, b](Tensor x) { return f(x, a, b); });
  });
}

// PyTorch's choice where no dimension is named.
int64_t softmax_dim(const Tensor& x, std::optional<int64_t> dim) {
  return dim.value_or(x.dim() == 0 || x.dim() == 1 || x.dim() == 3 ? 0 : 1);
}
void along(const char* schema, const char* doc, Tensor (*f)(const Tensor&, Int)) {
  layer(schema, doc, [f](Object& self, std::optional<int64_t> dim) {
    self.method(kOfTensor, [f, dim](Tensor x) { return f(x, softmax_dim(x, dim)); });
  });
}

void add_softmax_layers() {
  along("Softmax(int? dim=None)",
        "exp(x) / sum(exp(x)) along dim. dim None: 0 where x has 0, 1 or 3 dimensions, else 1.",
        [](const Tensor& x, Int dim) { return softmax(x, dim); });
  along("LogSoftmax(int? dim=None)",
        "log(softmax(x)) along dim. dim None: 0 where x has 0, 1 or 3 dimensions, else 1.",
        [](const Tensor& x, Int dim) { return log_softmax(x, dim); });
  along("Softmin(int? dim=None)",
        "softmax(-x) along dim. dim None: 0 where x has 0, 1 or 3 dimensions, else 1.",
        [](const Tensor& x, Int dim) { return softmax(-x, dim); });
  plain("Softmax2d()", "Softmax over the channels of x [n, channels, h, w], or without n.",
        [](const Tensor& x) {
          if (x.dim() != 3 && x.dim() != 4)
            fail("x has " + std::to_string(x.dim()) + " dimensions, expected 3 or 4");
          return softmax(x, -3);
        });
}

void add_activations_with_numbers() {
  of_number("LeakyReLU(float negative_slope=0.01)",
            "x where it is above 0, else negative_slope * x. Maas, Hannun & Ng, 2013.", leaky_relu);
  of_number("ELU(float alpha=1)",
            "x where it is above 0, else alpha * (exp(x) - 1). Clevert et al., arXiv:1511.07289.",
            elu);
  of_number("CELU(float alpha=1)",
            "max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)). Barron, arXiv:1704.07483.", celu);
  of_number("Softshrink(float lambd=0.5)", "x moved toward 0 by lambd, and 0 within it.",
            softshrink);
  of_number("Hardshrink(float lambd=0.5)", "x, and 0 where abs(x) is at most lambd.", hardshrink);
  of_numbers("Softplus(float beta=1, float threshold=20)",
             "log(1 + exp(beta * x)) / beta; x itself where beta * x is above threshold.",
             [](const Tensor& x, double beta, double at) { return softplus(x, beta, at); });
  of_numbers("Threshold(float threshold, float value)",
             "x where it is above threshold, else value.",
             [](const Tensor& x, double at, double value) { return threshold(x, at, value); });
  layer("Hardtanh(float min_val=-1, float max_val=1)",
        "x, cut off below min_val and above max_val.", [](Object& self, double min, double max) {
          if (!(min < max)) {
            fail("min_val is " + detail::number_text(min) + ", expected it below max_val, " +
                 detail::number_text(max));
          }
          self.method(kOfTensor, [=](Tensor x) { return hardtanh(x, min, max); });
        });
}

void add_activations_with_other_options() {
  layer("GELU(str approximate=\"none\")",
        "x times the normal distribution function of x; approximate is \"none\" or \"tanh\". "
        "Hendrycks & Gimpel, arXiv:1606.08415.",
        [](Object& self, std::string approximate) {
          self.method(kOfTensor, [=](Tensor x) { return gelu(x, approximate); });
        });
  layer("PReLU(int num_parameters=1, float init=0.25)",
        "x where it is above 0, else weight * x: weight [num_parameters], one slope or one for "
        "each channel, init at first. He et al., arXiv:1502.01852.",
        [](Object& self, int64_t num_parameters, double init) {
          expect_positive("num_parameters", num_parameters);
          self.parameter("weight", full({num_parameters}, init));
          self.method(kOfTensor,
                      [](Object& self, Tensor x) { return prelu(x, self.tensor("weight")); });
        });
  // Xu et al., arXiv:1505.00853: a slope of its own for each element in training, their mean in
  // evaluation.
  layer("RReLU(float lower=0.125, float upper=0.3333333333333333)",
        "x where it is above 0, else a slope times x: in training uniform in [lower, upper) for "
        "each element, else their mean. Xu et al., arXiv:1505.00853.",
        [](Object& self, double lower, double upper) {
          if (!(lower <= upper)) {
            fail("lower is " + detail::number_text(lower) + ", expected it at most upper, " +
                 detail::number_text(upper));
          }
          self.method(kOfTensor, [=](Object& self, Tensor x) {
            if (!self.training()) return leaky_relu(x, (lower + upper) / 2);
            return where(x <= 0, x * uniform(x.sizes(), lower, upper, x.dtype(), x.device()), x);
          });
        });
  // The first half times the sigmoid of the second. Dauphin et al., arXiv:1612.08083.
  layer("GLU(int dim=-1)",
        "The first half of x along dim times the sigmoid of the second. Dauphin et al., "
        "arXiv:1612.08083.",
        [](Object& self, int64_t dim) {
          self.method(kOfTensor, [=](Tensor x) {
            if (x.size(dim) % 2 != 0) {
              fail("dimension " + std::to_string(dim) + " of x has size " +
                   std::to_string(x.size(dim)) + ", expected an even one");
            }
            auto [half, gate] = chunk<2>(x, dim);
            return half * gate.sigmoid();
          });
        });
}

}  // namespace

void add_activation_layers() {
  plain("Identity()", "x itself.", [](const Tensor& x) { return x; });
  plain("ReLU()", "max(x, 0).", relu);
  plain("ReLU6()", "min(max(x, 0), 6). Howard et al., arXiv:1704.04861.", relu6);
  plain("SELU()",
        "scale * elu(x, alpha), whose constants keep mean 0 and variance 1. Klambauer et al., "
        "arXiv:1706.02515.",
        selu);
  plain("SiLU()", "x * sigmoid(x). Elfwing et al., arXiv:1702.03118.", silu);
  plain("Mish()", "x * tanh(log(1 + exp(x))). Misra, arXiv:1908.08681.", mish);
  plain("Sigmoid()", "1 / (1 + exp(-x)).", sigmoid);
  plain("LogSigmoid()", "log(sigmoid(x)).", log_sigmoid);
  plain("Tanh()", "The hyperbolic tangent of x.", tanh);
  plain("Tanhshrink()", "x - tanh(x).", tanhshrink);
  plain("Softsign()", "x / (1 + abs(x)).", softsign);
  plain("Hardsigmoid()", "min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.",
        hardsigmoid);
  plain("Hardswish()", "x * min(max(x + 3, 0), 6) / 6. Howard et al., arXiv:1905.02244.",
        hardswish);
  add_activations_with_numbers();
  add_activations_with_other_options();
  add_softmax_layers();
}

}  // namespace layers
