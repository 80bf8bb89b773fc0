// Averaged SGD (Polyak and Juditsky, 1992), as PyTorch computes it.
#include "state.h"

namespace optimizers::asgd {
namespace {

constexpr Slot kAverage{"ax"},
    kEta{"eta", [](const Tensor&p, double lr) { return full({}, lr, float32, p.device()); },
         TN_FLOAT32, one_number},
    kMu{"mu", [](const Tensor&p, double) { return ones({}, float32, p.device()); }, TN_FLOAT32,
        one_number};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, {kCount, kEta, kMu, kAverage});
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"),
                 decay = group_number(self, group, "weight_decay");
    begin_at(batch.states[1], batch.states[0], lr, found_inf);
    asgd_step(batch.parameters, batch.gradients, batch.states[3], batch.states[1], batch.states[2],
              batch.states[0], dynamic(lr),
              {.lambd = group_option<double>(self, group, "lambd"),
               .alpha = group_option<double>(self, group, "alpha"),
               .t0 = group_option<double>(self, group, "t0"),
               .weight_decay = dynamic(decay),
               .maximize = group_option<bool>(self, group, "maximize"),
               .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "ASGD(Tensor[] params, dynamic float lr=1e-2, float lambd=1e-4, float alpha=0.75, float "
      "t0=1e6, dynamic float weight_decay=0, bool maximize=False)",
      "Averaged SGD (Polyak & Juditsky, 1992, as PyTorch has it): p shrinks by 1 - lambd * eta and "
      "goes by -eta * g, where g has weight_decay * p added; eta, at first lr, is lr / (1 + lambd "
      "* lr * step)^alpha. The state's ax is p, and from step t0 on the average of p. maximize: "
      "with -g.",
      [](Object& self, Tensors params, double lr, double lambd, double alpha, double,
         double weight_decay, bool) {
        expect_not_negative(self, "lr", lr);
        expect_not_negative(self, "lambd", lambd);
        expect_not_negative(self, "alpha", alpha);
        expect_not_negative(self, "weight_decay", weight_decay);
        give_step(self, params, {kCount, kEta, kMu, kAverage}, step);
      });
}

}  // namespace optimizers::asgd
