// Layers that are one elementwise op, and those that go along one dimension.
#include <string>

#include "layers.h"

namespace layers {
namespace {

constexpr const char* kForward = "forward(Tensor x) -> Tensor";

// NAME(): f(x)
void plain(const char* schema, Tensor (*f)(const Tensor&)) {
  layer(schema, [f](Object& self) { self.method(kForward, [f](Tensor x) { return f(x); }); });
}
// NAME(float a): f(x, a)
void of_number(const char* schema, Tensor (*f)(const Tensor&, double)) {
  layer(schema, [f](Object& self, double a) {
    self.method(kForward, [f, a](Tensor x) { return f(x, a); });
  });
}
// NAME(float a, float b): f(x, a, b)
template <typename F>
void of_numbers(const char* schema, F f) {
  layer(schema, [f](Object& self, double a, double b) {
    self.method(kForward, [f, a, b](Tensor x) { return f(x, a, b); });
  });
}

// PyTorch's choice where no dimension is named.
int64_t softmax_dim(const Tensor& x, std::optional<int64_t> dim) {
  return dim.value_or(x.dim() == 0 || x.dim() == 1 || x.dim() == 3 ? 0 : 1);
}
void along(const char* schema, Tensor (*f)(const Tensor&, int64_t)) {
  layer(schema, [f](Object& self, std::optional<int64_t> dim) {
    self.method(kForward, [f, dim](Tensor x) { return f(x, softmax_dim(x, dim)); });
  });
}

void add_softmax_layers() {
  along("Softmax(int? dim=None)", softmax);
  along("LogSoftmax(int? dim=None)", log_softmax);
  along("Softmin(int? dim=None)", [](const Tensor& x, int64_t dim) { return softmax(-x, dim); });
  plain("Softmax2d()", [](const Tensor& x) {
    if (x.dim() != 3 && x.dim() != 4)
      fail("x has " + std::to_string(x.dim()) + " dimensions, expected 3 or 4");
    return softmax(x, -3);
  });
}

void add_options() {
  of_number("LeakyReLU(float negative_slope=0.01)", leaky_relu);
  of_number("ELU(float alpha=1)", elu);
  of_number("CELU(float alpha=1)", celu);
  of_number("Softshrink(float lambd=0.5)", softshrink);
  of_number("Hardshrink(float lambd=0.5)", hardshrink);
  of_numbers("Softplus(float beta=1, float threshold=20)", softplus);
  of_numbers("Threshold(float threshold, float value)",
             [](const Tensor& x, double at, double value) { return threshold(x, at, value); });
  layer("Hardtanh(float min_val=-1, float max_val=1)", [](Object& self, double min, double max) {
    if (!(min < max)) {
      fail("min_val is " + std::to_string(min) + ", expected it below max_val, " +
           std::to_string(max));
    }
    self.method(kForward, [=](Tensor x) { return hardtanh(x, min, max); });
  });
  layer("GELU(str approximate=\"none\")", [](Object& self, std::string approximate) {
    self.method(kForward, [=](Tensor x) { return gelu(x, approximate.c_str()); });
  });
  layer("PReLU(int num_parameters=1, float init=0.25)", [](Object& self, int64_t num_parameters,
                                                           double init) {
    expect_positive("num_parameters", num_parameters);
    self.parameter("weight", full({num_parameters}, init));
    self.method(kForward, [](Object& self, Tensor x) { return prelu(x, self.tensor("weight")); });
  });
  // Xu et al., arXiv:1505.00853: a slope of its own for each element in training, their mean in
  // evaluation.
  layer("RReLU(float lower=0.125, float upper=0.3333333333333333)",
        [](Object& self, double lower, double upper) {
          if (!(lower <= upper)) {
            fail("lower is " + std::to_string(lower) + ", expected it at most upper, " +
                 std::to_string(upper));
          }
          self.method(kForward, [=](Object& self, Tensor x) {
            if (!self.training()) return leaky_relu(x, (lower + upper) / 2);
            return where(x <= 0, x * uniform(x.sizes(), lower, upper, x.dtype(), x.device()), x);
          });
        });
  // The first half times the sigmoid of the second. Dauphin et al., arXiv:1612.08083.
  layer("GLU(int dim=-1)", [](Object& self, int64_t dim) {
    self.method(kForward, [=](Tensor x) {
      if (x.size(dim) % 2 != 0) {
        fail("dimension " + std::to_string(dim) + " of x has size " + std::to_string(x.size(dim)) +
             ", expected an even one");
      }
      auto [half, gate] = chunk<2>(x, dim);
      return half * gate.sigmoid();
    });
  });
}

}  // namespace

void add_activation_layers() {
  plain("Identity()", [](const Tensor& x) { return x; });
  plain("ReLU()", relu);
  plain("ReLU6()", relu6);
  plain("SELU()", selu);
  plain("SiLU()", silu);
  plain("Mish()", mish);
  plain("Sigmoid()", sigmoid);
  plain("LogSigmoid()", log_sigmoid);
  plain("Tanh()", tanh);
  plain("Tanhshrink()", tanhshrink);
  plain("Softsign()", softsign);
  plain("Hardsigmoid()", hardsigmoid);
  plain("Hardswish()", hardswish);
  add_options();
  add_softmax_layers();
}

}  // namespace layers
