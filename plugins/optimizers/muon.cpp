// Muon (Keller Jordan, 2024), as PyTorch computes it, for matrices.
#include "state.h"

namespace optimizers::muon {
namespace {

constexpr Slot kBuffer{"momentum_buffer"};

void expect_matrix(const Tensor& parameter) {
  if (parameter.dim() == 2) return;
  fail("a parameter is " + sizes_text(parameter) +
       ", and Muon takes matrices alone; AdamW takes the others");
}

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  auto groups = collect(self, states, [](uint32_t, const Tensor& p) {
    expect_matrix(p);
    return std::vector<Slot>{kBuffer};
  });
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"),
                 decay = group_number(self, group, "weight_decay"),
                 momentum = group_number(self, group, "momentum");
    const auto coefficients = group_option<std::vector<double>>(self, group, "ns_coefficients");
    muon_step(batch.parameters, batch.gradients, batch.states[0], dynamic(lr),
              {.weight_decay = dynamic(decay),
               .momentum = dynamic(momentum),
               .nesterov = group_option<bool>(self, group, "nesterov"),
               .ns_coefficients = coefficients,
               .eps = group_option<double>(self, group, "eps"),
               .ns_steps = group_option<int64_t>(self, group, "ns_steps"),
               .adjust_lr_fn = group_option<std::string>(self, group, "adjust_lr_fn"),
               .found_inf = found_inf_on(batch.device, found_inf)});
  });
}

}  // namespace

void add() {
  optimizer(
      "Muon(Tensor[] params, dynamic float lr=1e-3, dynamic float weight_decay=0.1, dynamic "
      "float momentum=0.95, bool nesterov=True, float[] ns_coefficients=[3.4445, -4.775, 2.0315], "
      "float "
      "eps=1e-7, int ns_steps=5, str adjust_lr_fn='original')",
      "Muon (Keller Jordan, 2024, as PyTorch has it): matrices move by their averaged gradient "
      "made "
      "nearly orthogonal, in ns_steps iterations of Newton and Schulz, which are of the "
      "parameter's "
      "precision. adjust_lr_fn, what lr is multiplied with for [n, m]: 'original' sqrt(max(1, n / "
      "m)), 'match_rms_adamw' 0.2 * sqrt(max(n, m)), 'spectral_unclamped' sqrt(n / m). p shrinks "
      "by "
      "1 - lr * weight_decay.",
      [](Object& self, Tensors params, double lr, double weight_decay, double momentum, bool,
         Floats coefficients, double, int64_t ns_steps, std::string adjust) {
        expect_not_negative(self, "lr", lr);
        expect_not_negative(self, "weight_decay", weight_decay);
        expect_not_negative(self, "momentum", momentum);
        if (coefficients.size() != 3) {
          fail("ns_coefficients has " + std::to_string(coefficients.size()) +
               " numbers, expected 3");
        }
        if (ns_steps < 0 || ns_steps > 99)
          fail("ns_steps is " + std::to_string(ns_steps) + ", expected 0 to 99");
        if (adjust != "original" && adjust != "match_rms_adamw" && adjust != "spectral_unclamped") {
          fail("adjust_lr_fn is '" + adjust +
               "', expected original, match_rms_adamw or spectral_unclamped");
        }
        for (const Tensor& parameter : params.to_vector()) expect_matrix(parameter);
        give_step(self, params, {kBuffer}, step);
      });
}

}  // namespace optimizers::muon
