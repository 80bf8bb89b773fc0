// Two linear maps with an activation between them, as a transformer has them behind its attention.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

enum class Activation { relu, gelu, gelu_tanh };

Activation activation_named(string_view name) {
  if (name == "relu") return Activation::relu;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_tanh") return Activation::gelu_tanh;
  fail("feed_forward: activation is '" + std::string(name) +
       "', expected 'relu', 'gelu' or 'gelu_tanh'");
}

void check(const Tensor& x, const Tensor& weight1, const Tensor& bias1, const Tensor& weight2,
           const Tensor& bias2) {
  expect_float("feed_forward", x);
  const std::pair<const char*, const Tensor*> others[] = {
      {"weight1", &weight1}, {"bias1", &bias1}, {"weight2", &weight2}, {"bias2", &bias2}};
  for (const auto& [name, t] : others) {
    if (t->defined() && t->dtype() != x.dtype()) {
      fail(std::string("feed_forward: ") + name + " is " + t->dtype().name() + ", x is " +
           x.dtype().name() + "; expected one dtype");
    }
  }
  bool fits = x.dim() > 0 && weight1.dim() == 2 && weight2.dim() == 2;
  fits = fits && x.size(-1) == weight1.size(1) && weight1.size(0) == weight2.size(1);
  const auto is_of = [](const Tensor& bias, const Tensor& weight) {
    return !bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0));
  };
  if (fits && is_of(bias1, weight1) && is_of(bias2, weight2)) return;
  const auto sizes = [](const char* name, const Tensor& t) {
    return t.defined() ? std::string(", ") + name + " is " + sizes_text(t.sizes()) : "";
  };
  fail("feed_forward: x is " + sizes_text(x.sizes()) + sizes("weight1", weight1) +
       sizes("bias1", bias1) + sizes("weight2", weight2) + sizes("bias2", bias2) +
       "; expected x [.., in], weight1 [hidden, in], bias1 [hidden], weight2 [out, hidden], "
       "bias2 [out]");
}

}  // namespace

void feed_forward() {
  op("feed_forward(Tensor x, Tensor weight1, Tensor? bias1, Tensor weight2, Tensor? bias2, "
     "str activation='relu') -> Tensor")
      .fused()
      .doc(
          "linear(activation(linear(x, weight1, bias1)), weight2, bias2) for x [.., in], weight1 "
          "[hidden, in] and weight2 [out, hidden], each product with what follows it in one kernel "
          "where a device has that. activation is \"relu\", \"gelu\" or \"gelu_tanh\", gelu's "
          "approximation. All have one dtype, in which the hidden values are rounded.")
      .amp(Amp::lower)
      .keeps_halves()
      .infer([](Tensor x, Tensor weight1, Tensor bias1, Tensor weight2, Tensor bias2,
                string_view activation) {
        activation_named(activation);
        check(x, weight1, bias1, weight2, bias2);
        Sizes sizes = first_sizes(x, x.dim() - 1);
        sizes.push_back(weight2.size(0));
        return Meta(sizes, x.dtype(), x.device());
      })
      .meaning([](Tensor x, Tensor weight1, Tensor bias1, Tensor weight2, Tensor bias2,
                  string_view activation) {
        const Activation kind = activation_named(activation);
        check(x, weight1, bias1, weight2, bias2);
        const Tensor sums = linear(x, weight1, bias1);
        const Tensor hidden = kind == Activation::relu   ? relu(sums)
                              : kind == Activation::gelu ? gelu(sums)
                                                         : gelu(sums, "tanh");
        return linear(hidden, weight2, bias2);
      });
}

}  // namespace tenon::ops_pack
