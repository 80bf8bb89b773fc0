// Lion (Chen et al., arXiv:2302.06675, program 1): steps of size lr along the sign of an average of
// gradients.
#include <tenon/plugin.hpp>
#include <tenon/optim.hpp>

TENON_PLUGIN(trial_optimizers) {
  // `skip` is found_inf of a GradScaler, or 0: then nothing changes.
  op("lion_step(Tensor(a!) p, Tensor grad, Tensor(b!) average, Tensor skip, dynamic float lr,"
     " float beta1, float beta2, float decay) -> (Tensor(a!), Tensor(b!))",
     "where(skip != 0, p, p - lr * (sign(beta1 * average + (1 - beta1) * grad) + decay * p))\n"
     "where(skip != 0, average, beta2 * average + (1 - beta2) * grad)");

  optimizer(
      "TrialLion(Tensor[] params, dynamic float lr=1e-4, float beta1=0.9, float beta2=0.99,"
      " float weight_decay=0)",
      [](Object& self, Tensors params, double, double, double, double) {
        auto averages = self.child("state", Object::empty("State", TN_OBJECT_OTHER));
        // Of each parameter, counted over all groups; called for each group that is added.
        self.method("group_added(int index) -> ()", [=](Object& self, int64_t index) {
          for (const Tensor& p : optim::Optimizer(self).group_parameters(uint32_t(index))) {
            averages.set(std::to_string(averages.state_dict().size()).c_str(),
                         zeros_like(p.detach()), TN_ENTRY_STATE);
          }
        });
        self.method("step(Tensor? found_inf=None) -> ()", [=](Object& self, Tensor found_inf) {
          NoGrad no_grad;
          optim::Optimizer me(self);
          size_t index = 0;
          for (uint32_t group = 0; group < me.n_groups(); ++group) {
            auto option = [&](const char* name) { return me.group_option<double>(group, name); };
            for (const Tensor& p : me.group_parameters(group)) {
              auto average = averages.tensor(std::to_string(index++).c_str());
              if (!p.grad().defined()) continue;
              call<tuple<Tensor, Tensor>>("trial_optimizers.lion_step", p, p.grad(), average,
                                          found_inf.defined() ? Operand(found_inf) : Operand(0.0),
                                          me.group_number(group, "lr"), option("beta1"),
                                          option("beta2"), option("weight_decay"));
            }
          }
        });
        optim::Optimizer(self).add_group(params.to_vector());
      });
}
