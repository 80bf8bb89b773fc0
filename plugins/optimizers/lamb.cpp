// LAMB (You et al., 2020, algorithm 2): Adam with a rate for each parameter by its norm.
#include "state.h"

namespace optimizers::lamb {
namespace {

constexpr Slot kAverage{"exp_avg"}, kSquares{"exp_avg_sq"};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, {kCount, kAverage, kSquares});
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"), betas = group_number(self, group, "betas"),
                 decay = group_number(self, group, "weight_decay");
    const Tensor beta1 = betas.select(0, 0), beta2 = betas.select(0, 1);
    lamb_step(batch.parameters, batch.gradients, batch.states[1], batch.states[2], batch.states[0],
              dynamic(lr),
              {.beta1 = dynamic(beta1),
               .beta2 = dynamic(beta2),
               .eps = group_option<double>(self, group, "eps"),
               .weight_decay = dynamic(decay),
               .maximize = group_option<bool>(self, group, "maximize"),
               .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "LAMB(Tensor[] params, dynamic float lr=1e-3, dynamic float[] betas=[0.9, 0.999], float "
      "eps=1e-6, dynamic float weight_decay=0, bool maximize=False)",
      "LAMB (You et al., arXiv:1904.00962, algorithm 2): u = Adam's step of rate 1 + weight_decay "
      "* "
      "p; p -= lr * |p| / |u| * u, by the norms of each parameter. maximize: with -g.",
      [](Object& self, Tensors params, double lr, Floats betas, double eps, double weight_decay,
         bool) {
        expect_not_negative(self, "lr", lr);
        expect_betas(self, betas);
        expect_not_negative(self, "eps", eps);
        expect_not_negative(self, "weight_decay", weight_decay);
        give_step(self, params, {kCount, kAverage, kSquares}, step);
      });
}

}  // namespace optimizers::lamb
