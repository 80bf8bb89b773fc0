// Adam (Kingma and Ba, 2015, algorithm 1) and AdamW (Loshchilov and Hutter, 2019), with and without
// amsgrad (Reddi et al., 2018), as PyTorch computes them.
#include "state.h"

namespace optimizers::adam {
namespace {

constexpr const char* kStep = "step";
constexpr const char* kAverage = "exp_avg";
constexpr const char* kSquareAverage = "exp_avg_sq";
constexpr const char* kGreatest = "max_exp_avg_sq";  // with amsgrad

void step(const Object& self, const States& states, const Tensor& found_inf, bool decoupled) {
  const NoGrad no_grad;
  // What a step needs memory for comes before any parameter changes: the state of a first step is
  // there, and zero, should the step fail.
  std::vector<Batches> groups;  // key 1: with amsgrad
  size_t index = 0;             // over all groups
  for (uint32_t group = 0; group < detail::api.object->n_groups(self.get()); ++group) {
    Batches& batches = groups.emplace_back();
    const bool amsgrad = group_option<bool>(self, group, "amsgrad");
    for (const Tensor& parameter : group_parameters(self, group)) {
      const size_t i = index++;
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.is_row_sparse())
        refuse_row_sparse(gradient, decoupled ? "AdamW does" : "Adam does");
      Batch& batch = batches.of(parameter.device(), amsgrad);
      batch.parameters.push_back(parameter);
      batch.gradients.push_back(gradient);
      const char* const names[] = {kAverage, kSquareAverage, kGreatest};
      for (int k = 0; k < (amsgrad ? 3 : 2); ++k) {
        Tensor average = states.get(i, names[k], parameter);
        if (!average.defined()) states.set(i, names[k], average = zeros_like(parameter));
        batch.states[k].push_back(std::move(average));
      }
      // On the parameter's device, which alone knows whether a step is passed over.
      Tensor count = states.get(i, kStep, parameter, float32);
      if (!count.defined()) states.set(i, kStep, count = zeros({}, float32, parameter.device()));
      batch.states[3].push_back(std::move(count));
    }
  }
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const Tensor lr = group_number(self, group, "lr"), betas = group_number(self, group, "betas"),
                 decay = group_number(self, group, "weight_decay");
    const Tensor beta1 = betas.select(0, 0), beta2 = betas.select(0, 1);
    if (batch.key == 1) {
      amsgrad_step(batch.parameters, batch.gradients, batch.states[0], batch.states[1],
                   batch.states[2], batch.states[3], dynamic(lr),
                   {.beta1 = dynamic(beta1),
                    .beta2 = dynamic(beta2),
                    .eps = group_option<double>(self, group, "eps"),
                    .weight_decay = dynamic(decay),
                    .decoupled = decoupled,
                    .maximize = group_option<bool>(self, group, "maximize"),
                    .found_inf = found_inf_on(batch.device, found_inf)});
      return;
    }
    adam_step(batch.parameters, batch.gradients, batch.states[0], batch.states[1], dynamic(lr), 0,
              {.beta1 = dynamic(beta1),
               .beta2 = dynamic(beta2),
               .eps = group_option<double>(self, group, "eps"),
               .weight_decay = dynamic(decay),
               .decoupled = decoupled,
               .maximize = group_option<bool>(self, group, "maximize"),
               .found_inf = found_inf_on(batch.device, found_inf),
               .steps = batch.states[3]});
  });
}

void add(const char* schema, const char* doc, bool decoupled) {
  optimizer(schema, doc,
            [decoupled](Object& self, Tensors params, double lr, Floats betas, double eps,
                        double weight_decay, bool, bool) {
              expect_not_negative(self, "lr", lr);
              expect_betas(self, betas);
              expect_not_negative(self, "eps", eps);
              expect_not_negative(self, "weight_decay", weight_decay);
              auto states = make_states(
                  self, {{kStep, one_number}, {kAverage}, {kSquareAverage}, {kGreatest}});
              self.method("step(Tensor? found_inf=None) -> ()",
                          [states, decoupled](Object& self, Tensor found_inf) {
                            step(self, *states, found_inf, decoupled);
                          });
              add_parameters(self, params);
            });
}

}  // namespace

void add() {
  add("Adam(Tensor[] params, dynamic float lr=1e-3, dynamic float[] betas=[0.9, 0.999], float "
      "eps=1e-8, dynamic float weight_decay=0, "
      "bool amsgrad=False, bool maximize=False)",
      "Adam (Kingma & Ba, arXiv:1412.6980, algorithm 1), with weight_decay * p added to the "
      "gradient. amsgrad: with the greatest of all averages of squares until now (Reddi et al., "
      "arXiv:1904.09237). maximize: with the negated gradient.",
      /*decoupled=*/false);
  add("AdamW(Tensor[] params, dynamic float lr=1e-3, dynamic float[] betas=[0.9, 0.999], float "
      "eps=1e-8, dynamic float weight_decay=1e-2, "
      "bool amsgrad=False, bool maximize=False)",
      "Adam with weight decay beside the gradient (Loshchilov & Hutter, arXiv:1711.05101): p "
      "shrinks by the factor 1 - lr * weight_decay.",
      /*decoupled=*/true);
}

}  // namespace optimizers::adam
