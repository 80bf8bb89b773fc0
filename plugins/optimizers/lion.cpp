// Lion (Chen et al., 2023, program 1): steps of one size along the sign of an average.
#include "state.h"

namespace optimizers::lion {
namespace {

constexpr Slot kAverage{"exp_avg"};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, {kAverage});
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"), betas = group_number(self, group, "betas"),
                 decay = group_number(self, group, "weight_decay");
    const Tensor beta1 = betas.select(0, 0), beta2 = betas.select(0, 1);
    lion_step(batch.parameters, batch.gradients, batch.states[0], dynamic(lr),
              {.beta1 = dynamic(beta1),
               .beta2 = dynamic(beta2),
               .weight_decay = dynamic(decay),
               .maximize = group_option<bool>(self, group, "maximize"),
               .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "Lion(Tensor[] params, dynamic float lr=1e-4, dynamic float[] betas=[0.9, 0.99], dynamic "
      "float "
      "weight_decay=0, bool maximize=False)",
      "Lion (Chen et al., arXiv:2302.06675): p -= lr * (sign(beta1 * m + (1 - beta1) * g) + "
      "weight_decay * p); m = beta2 * m + (1 - beta2) * g. maximize: with -g.",
      [](Object& self, Tensors params, double lr, Floats betas, double weight_decay, bool) {
        expect_not_negative(self, "lr", lr);
        expect_betas(self, betas);
        expect_not_negative(self, "weight_decay", weight_decay);
        give_step(self, params, {kAverage}, step);
      });
}

}  // namespace optimizers::lion
