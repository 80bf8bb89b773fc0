// RMSprop (Tieleman and Hinton, 2012), as PyTorch computes it.
#include "state.h"

namespace optimizers::rmsprop {
namespace {

constexpr Slot kSquares{"square_avg"}, kBuffer{"momentum_buffer"}, kAverage{"grad_avg"};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  const auto centered = [&](uint32_t group) { return group_option<bool>(self, group, "centered"); };
  auto groups = collect(self, states, [&](uint32_t group, const Tensor&) {
    std::vector<Slot> slots = {kCount, kSquares};
    slots.push_back(centered(group) ? kAverage : Slot());
    slots.push_back(momentum_of(self, group).is_there ? kBuffer : Slot());
    return slots;
  });
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"),
                 decay = group_number(self, group, "weight_decay");
    const Momentum momentum = momentum_of(self, group);
    rmsprop_step(batch.parameters, batch.gradients, batch.states[1], batch.states[2],
                 batch.states[3], batch.states[0], dynamic(lr),
                 {.alpha = group_option<double>(self, group, "alpha"),
                  .eps = group_option<double>(self, group, "eps"),
                  .weight_decay = dynamic(decay),
                  .momentum = momentum.get(),
                  .centered = centered(group),
                  .maximize = group_option<bool>(self, group, "maximize"),
                  .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "RMSprop(Tensor[] params, dynamic float lr=1e-2, float alpha=0.99, float eps=1e-8, dynamic "
      "float weight_decay=0, dynamic float momentum=0, bool centered=False, bool maximize=False)",
      "RMSprop (Tieleman & Hinton, 2012, as PyTorch has it): s = alpha * s + (1 - alpha) * g * g; "
      "p "
      "-= lr * g / (sqrt(s) + eps), where g has weight_decay * p added. centered: s without the "
      "square of the average of g. momentum: by buffer = momentum * buffer + g / (sqrt(s) + eps). "
      "maximize: with -g.",
      [](Object& self, Tensors params, double lr, double alpha, double eps, double weight_decay,
         double momentum, bool, bool) {
        expect_not_negative(self, "lr", lr);
        expect_not_negative(self, "alpha", alpha);
        expect_not_negative(self, "eps", eps);
        expect_not_negative(self, "weight_decay", weight_decay);
        expect_momentum(self, momentum);
        give_step(self, params, {kCount, kSquares, kBuffer, kAverage}, step);
      });
}

}  // namespace optimizers::rmsprop
