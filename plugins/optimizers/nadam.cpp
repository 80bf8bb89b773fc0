// NAdam (Dozat, 2016), as PyTorch computes it.
#include "state.h"

namespace optimizers::nadam {
namespace {

// A product of numbers, at first 1; of one element, as the count.
Tensor one(const Tensor& parameter, double) { return ones({}, float32, parameter.device()); }

constexpr Slot kProduct{"mu_product", one, TN_FLOAT32, one_number}, kAverage{"exp_avg"},
    kSquares{"exp_avg_sq"};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, {kCount, kProduct, kAverage, kSquares});
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"), betas = group_number(self, group, "betas"),
                 decay = group_number(self, group, "weight_decay");
    const Tensor beta1 = betas.select(0, 0), beta2 = betas.select(0, 1);
    nadam_step(batch.parameters, batch.gradients, batch.states[2], batch.states[3], batch.states[1],
               batch.states[0], dynamic(lr),
               {.beta1 = dynamic(beta1),
                .beta2 = dynamic(beta2),
                .eps = group_option<double>(self, group, "eps"),
                .weight_decay = dynamic(decay),
                .momentum_decay = group_option<double>(self, group, "momentum_decay"),
                .decoupled = group_option<bool>(self, group, "decoupled_weight_decay"),
                .maximize = group_option<bool>(self, group, "maximize"),
                .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "NAdam(Tensor[] params, dynamic float lr=2e-3, dynamic float[] betas=[0.9, 0.999], float "
      "eps=1e-8, dynamic float weight_decay=0, float momentum_decay=4e-3, bool "
      "decoupled_weight_decay=False, bool maximize=False)",
      "NAdam (Dozat, 2016): Adam with Nesterov's momentum, which grows from beta1 / 2 to beta1 the "
      "faster the greater momentum_decay is. weight_decay * p is added to the gradient, or "
      "decoupled_weight_decay: p shrinks by 1 - lr * weight_decay. maximize: with -g.",
      [](Object& self, Tensors params, double lr, Floats betas, double eps, double weight_decay,
         double momentum_decay, bool, bool) {
        expect_not_negative(self, "lr", lr);
        expect_betas(self, betas);
        expect_not_negative(self, "eps", eps);
        expect_not_negative(self, "weight_decay", weight_decay);
        expect_not_negative(self, "momentum_decay", momentum_decay);
        give_step(self, params, {kCount, kProduct, kAverage, kSquares}, step);
      });
}

}  // namespace optimizers::nadam
