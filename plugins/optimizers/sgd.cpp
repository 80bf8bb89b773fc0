// SGD with momentum, as PyTorch computes it (Sutskever et al., 2013, with the rate outside of the
// buffer).
#include "state.h"

namespace optimizers {
namespace {

constexpr const char* kBuffer = "momentum_buffer";

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  std::vector<Batches> groups;  // key 1: the first step of these parameters
  size_t index = 0;             // over all groups
  for (uint32_t group = 0; group < detail::api.object->n_groups(self.get()); ++group) {
    const double momentum = group_option<double>(self, group, "momentum");
    Batches& batches = groups.emplace_back();
    for (const Tensor& parameter : group_parameters(self, group)) {
      const size_t i = index++;
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      const Tensor buffer = momentum != 0 ? states.get(i, kBuffer, parameter) : Tensor();
      Batch& batch = batches.of(parameter.device(), momentum != 0 && !buffer.defined());
      batch.indices.push_back(i);
      batch.parameters.push_back(parameter);
      batch.gradients.push_back(gradient);
      if (momentum != 0)
        batch.states[0].push_back(buffer.defined() ? buffer : zeros_like(parameter));
    }
  }
  update_all(groups, [&](uint32_t group, const Batch& batch) {
    const bool first = batch.key == 1;
    // A first step that is passed over stays the first. Without dampening it is as all others,
    // with a buffer of zeros.
    const double dampening = group_option<double>(self, group, "dampening");
    if (first && dampening != 0 && found_inf.defined() && found_inf.item<float>() != 0) return;
    const Tensor lr = group_number(self, group, "lr"),
                 decay = group_number(self, group, "weight_decay");
    sgd_step(batch.parameters, batch.gradients, batch.states[0], dynamic(lr),
             {.momentum = group_option<double>(self, group, "momentum"),
              .dampening = dampening,
              .weight_decay = dynamic(decay),
              .nesterov = group_option<bool>(self, group, "nesterov"),
              .maximize = group_option<bool>(self, group, "maximize"),
              .first = first && dampening != 0,
              .found_inf = found_inf_on(batch.device, found_inf)});
    if (!first) return;
    for (size_t k = 0; k < batch.indices.size(); ++k)
      states.set(batch.indices[k], kBuffer, batch.states[0][k]);
  });
}

}  // namespace

void add_sgd() {
  optimizer(
      "SGD(Tensor[] params, dynamic float lr=1e-3, float momentum=0, float dampening=0, dynamic "
      "float weight_decay=0, "
      "bool nesterov=False, bool maximize=False)",
      "Stochastic gradient descent: g += weight_decay * p; buffer = momentum * buffer + (1 - "
      "dampening) * g, at first g itself; p -= lr * (buffer, or with nesterov g + momentum * "
      "buffer, or without momentum g). maximize: with -g.",
      [](Object& self, Tensors params, double lr, double momentum, double dampening,
         double weight_decay, bool nesterov, bool) {
        expect_not_negative("lr", lr);
        expect_not_negative("momentum", momentum);
        expect_not_negative("weight_decay", weight_decay);
        if (nesterov && (momentum == 0 || dampening != 0)) {
          fail("nesterov is set, momentum is " + detail::number_text(momentum) + " and dampening " +
               detail::number_text(dampening) + "; expected a momentum above 0 and no dampening");
        }
        auto states = make_states(self, {kBuffer});
        self.method("step(Tensor? found_inf=None) -> ()",
                    [states](Object& self, Tensor found_inf) { step(self, *states, found_inf); });
        add_parameters(self, params);
      });
}

}  // namespace optimizers
