// Adafactor (Shazeer and Stern, 2018), as PyTorch computes it: of a matrix averages of rows and
// columns alone are kept.
#include "state.h"

namespace optimizers::adafactor {
namespace {

// The parameter's sizes, where the dimension `back` from the end is 1. A vector has no such state, so
// that none fits.
template <size_t back>
Sizes sizes_but(const Sizes& parameter) {
  if (parameter.size() < 2) return {0};
  Sizes sizes = parameter;
  sizes[sizes.size() - back] = 1;
  return sizes;
}
template <size_t back>
Tensor zeros_but(const Tensor& p, double) {
  return zeros(sizes_but<back>(Sizes(p.sizes().begin(), p.sizes().end())), p.dtype(), p.device());
}

constexpr Slot kRows{"row_var", zeros_but<1>, TN_DTYPE_NONE, sizes_but<1>},
    kColumns{"col_var", zeros_but<2>, TN_DTYPE_NONE, sizes_but<2>}, kVariance{"variance"};

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(
      self, states,
      [](uint32_t, const Tensor& p) -> std::vector<Slot> {
        if (p.dim() > 1) return {kCount, kRows, kColumns, Slot()};
        return {kCount, Slot(), Slot(), kVariance};
      },
      [](const Tensor& p) { return int64_t(p.dim() > 1); });
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"),
                 decay = group_number(self, group, "weight_decay");
    const auto eps = group_option<std::vector<double>>(self, group, "eps");
    adafactor_step(batch.parameters, batch.gradients, batch.states[1], batch.states[2],
                   batch.states[3], batch.states[0], dynamic(lr),
                   {.beta2_decay = group_option<double>(self, group, "beta2_decay"),
                    .eps1 = eps[0],
                    .eps2 = eps[1],
                    .d = group_option<double>(self, group, "d"),
                    .weight_decay = dynamic(decay),
                    .maximize = group_option<bool>(self, group, "maximize"),
                    .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

void check_eps(Floats eps) {
  bool fit = eps.size() == 2;
  std::string found;
  for (const double e : eps) {
    fit = fit && e >= 0;
    found += (found.empty() ? "" : ", ") + detail::number_text(e);
  }
  if (!fit) fail("eps is [" + found + "], expected two numbers of at least 0");
}

}  // namespace

void add() {
  optimizer(
      "Adafactor(Tensor[] params, dynamic float lr=1e-2, float beta2_decay=-0.8, float[] eps=[0, "
      "1e-3], float d=1, dynamic float weight_decay=0, bool maximize=False)",
      "Adafactor (Shazeer & Stern, arXiv:1804.04235, as PyTorch has it): g over the root of the "
      "average of its squares, of which matrices keep those of rows and columns; no step is "
      "greater "
      "than d times the rate, which goes by the size of p, at least eps[1], and is at most lr. "
      "eps[0] of 0 is the dtype's. p shrinks by 1 - lr * weight_decay. maximize: with -g.",
      [](Object& self, Tensors params, double lr, double beta2_decay, Floats eps, double d,
         double weight_decay, bool) {
        expect_not_negative(self, "lr", lr);
        if (!(beta2_decay <= 0)) {
          fail("beta2_decay is " + detail::number_text(beta2_decay) + ", expected at most 0");
        }
        check_eps(eps);
        self.method("check_eps(float[] eps) -> ()",
                    [](Object&, Floats later) { check_eps(later); });
        if (!(d >= 1)) fail("d is " + detail::number_text(d) + ", expected at least 1");
        expect_not_negative(self, "weight_decay", weight_decay);
        give_step(self, params, {kCount, kRows, kColumns, kVariance}, step);
      });
}

}  // namespace optimizers::adafactor
