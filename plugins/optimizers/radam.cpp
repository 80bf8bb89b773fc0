// RAdam (Liu et al., 2020), as PyTorch computes it.
#include "state.h"

namespace optimizers::radam {
namespace {

constexpr Slot kAverage{"exp_avg"}, kSquares{"exp_avg_sq"};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, {kCount, kAverage, kSquares});
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"), betas = group_number(self, group, "betas"),
                 decay = group_number(self, group, "weight_decay");
    const Tensor beta1 = betas.select(0, 0), beta2 = betas.select(0, 1);
    radam_step(batch.parameters, batch.gradients, batch.states[1], batch.states[2], batch.states[0],
               dynamic(lr),
               {.beta1 = dynamic(beta1),
                .beta2 = dynamic(beta2),
                .eps = group_option<double>(self, group, "eps"),
                .weight_decay = dynamic(decay),
                .decoupled = group_option<bool>(self, group, "decoupled_weight_decay"),
                .maximize = group_option<bool>(self, group, "maximize"),
                .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "RAdam(Tensor[] params, dynamic float lr=1e-3, dynamic float[] betas=[0.9, 0.999], float "
      "eps=1e-8, dynamic float weight_decay=0, bool decoupled_weight_decay=False, bool "
      "maximize=False)",
      "RAdam (Liu et al., arXiv:1908.03265): Adam whose rate is rectified while the squares are "
      "few, "
      "and which goes by the average alone in the first steps. weight_decay * p is added to the "
      "gradient, or decoupled_weight_decay: p shrinks by 1 - lr * weight_decay. maximize: with -g.",
      [](Object& self, Tensors params, double lr, Floats betas, double eps, double weight_decay,
         bool, bool) {
        expect_not_negative(self, "lr", lr);
        expect_betas(self, betas);
        expect_not_negative(self, "eps", eps);
        expect_not_negative(self, "weight_decay", weight_decay);
        give_step(self, params, {kCount, kAverage, kSquares}, step);
      });
}

}  // namespace optimizers::radam
