// Adam for row-sparse gradients, as PyTorch's SparseAdam: of parameters and averages the rows alone
// change that a gradient has.
#include "state.h"

namespace optimizers::sparse_adam {
namespace {

constexpr const char* kStep = "step";
constexpr const char* kAverage = "exp_avg";
constexpr const char* kSquareAverage = "exp_avg_sq";

struct Row {
  Tensor parameter, gradient, average, square_average, step;
};

void step_rows(const Object& self, uint32_t group, const Row& row, const Tensor& found_inf) {
  const Tensor lr = group_number(self, group, "lr"), betas = group_number(self, group, "betas");
  const Tensor beta1 = betas.select(0, 0), beta2 = betas.select(0, 1);
  sparse_adam_step(row.parameter, row.average, row.square_average, row.step, row.gradient.indices(),
                   row.gradient.values(), dynamic(lr),
                   {.beta1 = dynamic(beta1),
                    .beta2 = dynamic(beta2),
                    .eps = group_option<double>(self, group, "eps"),
                    .maximize = group_option<bool>(self, group, "maximize"),
                    .found_inf = found_inf_on(row.parameter.device(), found_inf)});
}

void step(const Object& self, const States& states, const Tensor& found_inf) {
  const NoGrad no_grad;
  std::vector<std::vector<Row>> rows;
  size_t index = 0;  // over all groups
  for (uint32_t group = 0; group < detail::api.object->n_groups(self.get()); ++group) {
    std::vector<Row>& sparse = rows.emplace_back();
    for (const Tensor& parameter : group_parameters(self, group)) {
      const size_t i = index++;
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (!gradient.is_row_sparse()) {
        fail("a gradient of " + sizes_text(gradient) +
             " is not row-sparse, and SparseAdam takes no other; Adam takes it");
      }
      Row& row = sparse.emplace_back(Row{parameter, gradient, {}, {}, {}});
      for (const auto& [name, place] :
           {std::pair{kAverage, &row.average}, {kSquareAverage, &row.square_average}}) {
        *place = states.get(i, name, parameter);
        if (!place->defined()) states.set(i, name, *place = zeros_like(parameter));
      }
      row.step = states.get(i, kStep, parameter, float32);
      if (!row.step.defined())
        states.set(i, kStep, row.step = zeros({}, float32, parameter.device()));
    }
  }
  std::vector<Batches> none;
  update_all(
      none, rows, [](uint32_t, const Batch&) {},
      [&](uint32_t group, const Row& row) { step_rows(self, group, row, found_inf); });
}

}  // namespace

void add() {
  optimizer(
      "SparseAdam(Tensor[] params, dynamic float lr=1e-3, dynamic float[] betas=[0.9, 0.999], "
      "float eps=1e-8, bool maximize=False)",
      "Adam (Kingma & Ba, arXiv:1412.6980) for row-sparse gradients (PyTorch's SparseAdam): of "
      "parameters and averages the rows alone change that a gradient has. maximize: with the "
      "negated gradient.",
      [](Object& self, Tensors params, double lr, Floats betas, double eps, bool) {
        expect_not_negative(self, "lr", lr);
        expect_betas(self, betas);
        expect_not_negative(self, "eps", eps);
        auto states = make_states(self, {{kStep, one_number}, {kAverage}, {kSquareAverage}});
        self.method("step(Tensor? found_inf=None) -> ()",
                    [states](Object& self, Tensor found_inf) { step(self, *states, found_inf); });
        add_parameters(self, params);
      });
}

}  // namespace optimizers::sparse_adam
