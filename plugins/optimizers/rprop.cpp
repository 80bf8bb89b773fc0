// Rprop (Riedmiller and Braun, 1993), as PyTorch computes it.
#include "state.h"

namespace optimizers::rprop {
namespace {

constexpr Slot kBefore{"prev"},
    kSize{"step_size", [](const Tensor&p, double lr) { return full_like(p, lr); }};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, {kCount, kBefore, kSize});
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const auto etas = group_option<std::vector<double>>(self, group, "etas"),
               sizes = group_option<std::vector<double>>(self, group, "step_sizes");
    begin_at(batch.states[2], batch.states[0], group_number(self, group, "lr"), found_inf);
    rprop_step(batch.parameters, batch.gradients, batch.states[1], batch.states[2], batch.states[0],
               {.etaminus = etas[0],
                .etaplus = etas[1],
                .step_size_min = sizes[0],
                .step_size_max = sizes[1],
                .maximize = group_option<bool>(self, group, "maximize"),
                .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

std::string text_of(const Floats& list) {
  std::string text;
  for (const double x : list) text += (text.empty() ? "" : ", ") + detail::number_text(x);
  return "[" + text + "]";
}
void check_etas(const Floats& etas) {
  if (etas.size() == 2 && etas[0] > 0 && etas[0] < 1 && etas[1] > 1) return;
  fail("etas is " + text_of(etas) +
       ", expected two numbers, the first between 0 and 1 and the second above 1");
}
void check_step_sizes(const Floats& sizes) {
  if (sizes.size() == 2 && sizes[0] >= 0 && sizes[0] <= sizes[1]) return;
  fail("step_sizes is " + text_of(sizes) +
       ", expected the least, which is at least 0, and the greatest");
}

}  // namespace

void add() {
  optimizer(
      "Rprop(Tensor[] params, dynamic float lr=1e-2, float[] etas=[0.5, 1.2], float[] "
      "step_sizes=[1e-6, 50], bool maximize=False)",
      "Rprop (Riedmiller & Braun, 1993, as PyTorch has it), for gradients of all the data: each "
      "element goes against the sign of g by a step of its own, at first lr, which is multiplied "
      "with etas[1] where the sign stays and with etas[0] where it turns, within step_sizes. A "
      "later lr changes nothing. maximize: with -g.",
      [](Object& self, Tensors params, double lr, Floats etas, Floats step_sizes, bool) {
        expect_not_negative(self, "lr", lr);
        check_etas(etas);
        check_step_sizes(step_sizes);
        self.method("check_etas(float[] etas) -> ()",
                    [](Object&, Floats later) { check_etas(later); });
        self.method("check_step_sizes(float[] step_sizes) -> ()",
                    [](Object&, Floats later) { check_step_sizes(later); });
        give_step(self, params, {kCount, kBefore, kSize}, step);
      });
}

}  // namespace optimizers::rprop
