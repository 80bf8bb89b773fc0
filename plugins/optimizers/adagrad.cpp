// Adagrad (Duchi et al., 2011), as PyTorch computes it.
#include "state.h"

namespace optimizers::adagrad {
namespace {

constexpr const char* kStep = "step";
constexpr const char* kSum = "sum";

// Where a gradient is row-sparse: the rows alone change.
struct Row {
  Tensor parameter, gradient, sum, step;
};

void step_rows(const Object& self, uint32_t group, const Row& row, const Tensor& found_inf) {
  const Tensor lr = group_number(self, group, "lr");
  adagrad_rows_step(row.parameter, row.sum, row.step, row.gradient.indices(), row.gradient.values(),
                    dynamic(lr),
                    {.lr_decay = group_option<double>(self, group, "lr_decay"),
                     .eps = group_option<double>(self, group, "eps"),
                     .maximize = group_option<bool>(self, group, "maximize"),
                     .found_inf = found_inf_on(row.parameter.device(), found_inf)});
}

void step_all(const Object& self, uint32_t group, const Batch& batch, const Tensor& found_inf) {
  const Tensor lr = group_number(self, group, "lr"),
               decay = group_number(self, group, "weight_decay");
  adagrad_step(batch.parameters, batch.gradients, batch.states[0], batch.states[1], dynamic(lr),
               {.lr_decay = group_option<double>(self, group, "lr_decay"),
                .weight_decay = dynamic(decay),
                .eps = group_option<double>(self, group, "eps"),
                .maximize = group_option<bool>(self, group, "maximize"),
                .found_inf = found_inf_on(batch.device, found_inf)});
}

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  std::vector<Batches> groups;
  std::vector<std::vector<Row>> rows;
  size_t index = 0;  // over all groups
  for (uint32_t group = 0; group < detail::api.object->n_groups(self.get()); ++group) {
    Batches& batches = groups.emplace_back();
    std::vector<Row>& sparse = rows.emplace_back();
    for (const Tensor& parameter : group_parameters(self, group)) {
      const size_t i = index++;
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      Tensor sum = states.get(i, kSum, parameter);
      if (!sum.defined()) {
        sum =
            full(parameter.sizes(), group_option<double>(self, group, "initial_accumulator_value"),
                 parameter.dtype(), parameter.device());
        states.set(i, kSum, sum);
      }
      Tensor count = states.get(i, kStep, parameter, float32);
      if (!count.defined()) states.set(i, kStep, count = zeros({}, float32, parameter.device()));
      if (gradient.is_row_sparse()) {
        if (group_option<double>(self, group, "weight_decay") != 0)
          refuse_row_sparse(gradient, "Adagrad with weight_decay does");
        sparse.push_back({parameter, gradient, sum, count});
        continue;
      }
      Batch& batch = batches.of(parameter.device(), 0);
      batch.parameters.push_back(parameter);
      batch.gradients.push_back(gradient);
      batch.states[0].push_back(std::move(sum));
      batch.states[1].push_back(std::move(count));
    }
  }
  update_all(
      groups, rows,
      [&](uint32_t group, const Batch& batch) { step_all(self, group, batch, found_inf); },
      [&](uint32_t group, const Row& row) { step_rows(self, group, row, found_inf); });
}

}  // namespace

void add() {
  optimizer(
      "Adagrad(Tensor[] params, dynamic float lr=1e-2, float lr_decay=0, dynamic float "
      "weight_decay=0, float initial_accumulator_value=0, float eps=1e-10, bool maximize=False)",
      "Adagrad (Duchi et al., JMLR 12, 2011): sum += g * g; p -= lr / (1 + (step - 1) * lr_decay) "
      "* g / (sqrt(sum) + eps). Of a row-sparse gradient the rows that it has alone change. "
      "maximize: with -g.",
      [](Object& self, Tensors params, double lr, double lr_decay, double weight_decay,
         double initial_accumulator_value, double eps, bool) {
        expect_not_negative(self, "lr", lr);
        expect_not_negative(self, "lr_decay", lr_decay);
        expect_not_negative(self, "weight_decay", weight_decay);
        expect_not_negative(self, "initial_accumulator_value", initial_accumulator_value);
        expect_not_negative(self, "eps", eps);
        auto states = make_states(self, {{kStep, one_number}, {kSum}});
        self.method("step(Tensor? found_inf=None) -> ()",
                    [states](Object& self, Tensor found_inf) { step(self, *states, found_inf); });
        add_parameters(self, params);
      });
}

}  // namespace optimizers::adagrad
