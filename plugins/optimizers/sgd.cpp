// SGD with momentum, as PyTorch computes it (Sutskever et al., 2013, with the rate outside of the
// buffer).
#include "state.h"

namespace optimizers::sgd {
namespace {

constexpr const char* kBuffer = "momentum_buffer";

// Where a gradient is row-sparse: the rows alone change.
struct Row {
  Tensor parameter, gradient;
};

void step_rows(const Object& self, uint32_t group, const Row& row, const Tensor& found_inf) {
  Tensor scale = group_number(self, group, "lr");
  if (!group_option<bool>(self, group, "maximize")) scale = -scale;
  Tensor values = row.gradient.values();
  if (found_inf.defined()) {
    const Tensor skip = found_inf_on(values.device(), found_inf) != 0;
    values = where(skip.reshape({}), 0, values);
  }
  add_rows_(row.parameter, row.gradient.indices(), values, dynamic(scale));
}

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  std::vector<Batches> groups;  // key 1: the first step of these parameters
  std::vector<std::vector<Row>> rows;
  size_t index = 0;  // over all groups
  for (uint32_t group = 0; group < detail::api.object->n_groups(self.get()); ++group) {
    const bool has_momentum = momentum_of(self, group).is_there;
    Batches& batches = groups.emplace_back();
    std::vector<Row>& sparse = rows.emplace_back();
    for (const Tensor& parameter : group_parameters(self, group)) {
      const size_t i = index++;
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.is_row_sparse()) {
        if (has_momentum || group_option<double>(self, group, "weight_decay") != 0)
          refuse_row_sparse(gradient, "SGD with momentum or weight_decay does");
        sparse.push_back({parameter, gradient});
        continue;
      }
      const Tensor buffer = has_momentum ? states.get(i, kBuffer, parameter) : Tensor();
      Batch& batch = batches.of(parameter.device(), has_momentum && !buffer.defined());
      batch.indices.push_back(i);
      batch.parameters.push_back(parameter);
      batch.gradients.push_back(gradient);
      if (has_momentum)
        batch.states[0].push_back(buffer.defined() ? buffer : zeros_like(parameter));
    }
  }
  const auto update = [&](uint32_t group, const Batch& batch) {
    const bool first = batch.key == 1;
    // A first step that is passed over stays the first. Without dampening it is as all others,
    // with a buffer of zeros.
    const double dampening = group_option<double>(self, group, "dampening");
    if (first && dampening != 0 && found_inf.defined() && found_inf.item<float>() != 0) return;
    const Tensor lr = group_number(self, group, "lr"),
                 decay = group_number(self, group, "weight_decay");
    const Momentum momentum = momentum_of(self, group);
    sgd_step(batch.parameters, batch.gradients, batch.states[0], dynamic(lr),
             {.momentum = momentum.get(),
              .dampening = dampening,
              .weight_decay = dynamic(decay),
              .nesterov = group_option<bool>(self, group, "nesterov"),
              .maximize = group_option<bool>(self, group, "maximize"),
              .first = first && dampening != 0,
              .found_inf = found_inf_on(batch.device, found_inf)});
    if (!first) return;
    for (size_t k = 0; k < batch.indices.size(); ++k)
      states.set(batch.indices[k], kBuffer, batch.states[0][k]);
  };
  update_all(groups, rows, update,
             [&](uint32_t group, const Row& row) { step_rows(self, group, row, found_inf); });
}

}  // namespace

void add() {
  optimizer(
      "SGD(Tensor[] params, dynamic float lr=1e-3, dynamic float momentum=0, float dampening=0, "
      "dynamic "
      "float weight_decay=0, "
      "bool nesterov=False, bool maximize=False)",
      "Stochastic gradient descent: g += weight_decay * p; buffer = momentum * buffer + (1 - "
      "dampening) * g, at first g itself; p -= lr * (buffer, or with nesterov g + momentum * "
      "buffer, or without momentum g). maximize: with -g. Row-sparse gradients are taken without "
      "momentum and weight_decay.",
      [](Object& self, Tensors params, double lr, double momentum, double dampening,
         double weight_decay, bool nesterov, bool) {
        expect_not_negative(self, "lr", lr);
        expect_momentum(self, momentum);
        expect_not_negative(self, "weight_decay", weight_decay);
        if (nesterov && (momentum == 0 || dampening != 0)) {
          fail("nesterov is set, momentum is " + detail::number_text(momentum) + " and dampening " +
               detail::number_text(dampening) + "; expected a momentum above 0 and no dampening");
        }
        auto states = make_states(self, {{kBuffer}});
        self.method("step(Tensor? found_inf=None) -> ()",
                    [states](Object& self, Tensor found_inf) { step(self, *states, found_inf); });
        add_parameters(self, params);
      });
}

}  // namespace optimizers::sgd
