// Adadelta (Zeiler, 2012), as PyTorch computes it.
#include "state.h"

namespace optimizers::adadelta {
namespace {

constexpr Slot kSquares{"square_avg"}, kDelta{"acc_delta"};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, {kCount, kSquares, kDelta});
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"),
                 decay = group_number(self, group, "weight_decay");
    adadelta_step(batch.parameters, batch.gradients, batch.states[1], batch.states[2],
                  batch.states[0], dynamic(lr),
                  {.rho = group_option<double>(self, group, "rho"),
                   .eps = group_option<double>(self, group, "eps"),
                   .weight_decay = dynamic(decay),
                   .maximize = group_option<bool>(self, group, "maximize"),
                   .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "Adadelta(Tensor[] params, dynamic float lr=1.0, float rho=0.9, float eps=1e-6, dynamic "
      "float "
      "weight_decay=0, bool maximize=False)",
      "Adadelta (Zeiler, arXiv:1212.5701): steps of the size of the steps before, over the root of "
      "the average of the squares of g, which has weight_decay * p added. maximize: with -g.",
      [](Object& self, Tensors params, double lr, double rho, double eps, double weight_decay,
         bool) {
        expect_not_negative(self, "lr", lr);
        expect_part(self, "rho", rho);
        expect_not_negative(self, "eps", eps);
        expect_not_negative(self, "weight_decay", weight_decay);
        give_step(self, params, {kCount, kSquares, kDelta}, step);
      });
}

}  // namespace optimizers::adadelta
