// Lion (Chen et al., arXiv:2302.06675, program 1): steps of size lr along the sign of an average of gradients.
#include <tenon/plugin.hpp>
#include <tenon/optim.hpp>

TENON_PLUGIN(trial_optimizers) {
  op("lion_step(Tensor(a!) p, Tensor grad, Tensor(b!) average, dynamic float lr, float beta1, float beta2, float decay)"
     " -> (Tensor(a!), Tensor(b!))",
     "p - lr * (sign(beta1 * average + (1 - beta1) * grad) + decay * p)\n"
     "beta2 * average + (1 - beta2) * grad").no_gradient();

  optimizer("Lion(Tensor[] params, float lr=1e-4, float beta1=0.9, float beta2=0.99, float weight_decay=0)",
            [](Object& self, Tensors params, double, double, double, double) {
    auto state = self.child("state", Object::empty("State", TN_OTHER_OBJECT));
    for (uint32_t i = 0; i < params.size(); ++i) state.set(std::to_string(i).c_str(), zeros_like(params[i]), TN_STATE);
    optim::Optimizer(self).add_group(params.to_vector());
    self.method("step() -> ()", [](Object& self) {
      NoGrad no_grad;
      optim::Optimizer me(self);
      auto option = [&](const char* name) { return me.group_option<double>(0, name); };
      auto params = me.group_parameters(0);
      for (size_t i = 0; i < params.size(); ++i) {
        if (!params[i].grad()) continue;
        call<tuple<Tensor, Tensor>>("trial_optimizers.lion_step", params[i], params[i].grad(),
                                    self.child("state").tensor(std::to_string(i).c_str()), option("lr"),
                                    option("beta1"), option("beta2"), option("weight_decay"));
      }
    });
  });
}
