// The optimizer pack against PyTorch's documented formulas, computed here in double by scalar
// loops, and against closed forms; on every backend of the build.
#include <cmath>
#include <string>
#include <vector>

#include "optimizers_support.h"

namespace {

// torch.optim.SGD's pseudocode, for one number.
Values sgd_formula(Values p, const tn::optim::SGDOptions& o, int steps) {
  for (double& value : p) {
    double buffer = 0;
    for (int t = 1; t <= steps; ++t) {
      double g = o.maximize ? -gradient_at(value) : gradient_at(value);
      g += o.weight_decay * value;
      if (o.momentum != 0) {
        buffer = t > 1 ? o.momentum * buffer + (1 - o.dampening) * g : g;
        g = o.nesterov ? g + o.momentum * buffer : buffer;
      }
      value -= o.lr * g;
    }
  }
  return p;
}

// torch.optim.Adam's and AdamW's pseudocode.
Values adam_formula(Values p, const tn::optim::AdamOptions& o, bool decoupled, int steps) {
  for (double& value : p) {
    double m = 0, v = 0;
    for (int t = 1; t <= steps; ++t) {
      double g = o.maximize ? -gradient_at(value) : gradient_at(value);
      if (decoupled) {
        value -= o.lr * o.weight_decay * value;
      } else {
        g += o.weight_decay * value;
      }
      m = o.betas[0] * m + (1 - o.betas[0]) * g;
      v = o.betas[1] * v + (1 - o.betas[1]) * g * g;
      const double m_hat = m / (1 - std::pow(o.betas[0], t)),
                   v_hat = v / (1 - std::pow(o.betas[1], t));
      value -= o.lr * m_hat / (std::sqrt(v_hat) + o.eps);
    }
  }
  return p;
}

TEST_P(Optimizers, SgdFollowsItsFormula) {
  const tn::optim::SGDOptions cases[] = {
      {.lr = 0.1},
      {.lr = 0.1, .momentum = 0.9},
      {.lr = 0.1, .momentum = 0.9, .dampening = 0.5},
      {.lr = 0.1, .momentum = 0.9, .nesterov = true},
      {.lr = 0.1, .weight_decay = 0.3},
      {.lr = 0.05, .momentum = 0.5, .dampening = 0.1, .weight_decay = 0.3, .maximize = true}};
  for (const auto& options : cases) {
    const tn::Tensor p = parameter(start), q = parameter({3});
    run(SGD({p, q}, options), {p, q}, 5);
    expect_near(p, sgd_formula(start, options, 5), 1e-11);
    expect_near(q, sgd_formula({3}, options, 5), 1e-11);
  }
}

TEST_P(Optimizers, AdamFollowsItsFormula) {
  const tn::optim::AdamOptions cases[] = {{.lr = 0.1},
                                          {.lr = 0.1, .betas = {0.5, 0.9}},
                                          {.lr = 0.1, .eps = 0.1},
                                          {.lr = 0.1, .weight_decay = 0.3},
                                          {.lr = 0.1, .weight_decay = 0.3, .maximize = true}};
  for (const auto& options : cases) {
    const tn::Tensor p = parameter(start), q = parameter({3});
    run(Adam({p, q}, options), {p, q}, 5);
    expect_near(p, adam_formula(start, options, false, 5), 1e-11);
    expect_near(q, adam_formula({3}, options, false, 5), 1e-11);
    const tn::Tensor w = parameter(start);
    run(AdamW({w}, {.lr = options.lr,
                    .betas = options.betas,
                    .eps = options.eps,
                    .weight_decay = options.weight_decay,
                    .maximize = options.maximize}),
        {w}, 5);
    expect_near(w, adam_formula(start, options, true, 5), 1e-11);
  }
}

// torch.optim.Adagrad's pseudocode.
Values adagrad_formula(Values p, const tn::optim::AdagradOptions& o, int steps) {
  for (double& value : p) {
    double sum = o.initial_accumulator_value;
    for (int t = 1; t <= steps; ++t) {
      const double g =
          (o.maximize ? -gradient_at(value) : gradient_at(value)) + o.weight_decay * value;
      sum += g * g;
      value -= o.lr / (1 + (t - 1) * o.lr_decay) * g / (std::sqrt(sum) + o.eps);
    }
  }
  return p;
}

TEST_P(Optimizers, AdagradFollowsItsFormula) {
  const tn::optim::AdagradOptions cases[] = {
      {.lr = 0.1},
      {.lr = 0.1, .lr_decay = 0.5},
      {.lr = 0.1, .weight_decay = 0.3, .eps = 0.1},
      {.lr = 0.1, .initial_accumulator_value = 0.7, .maximize = true}};
  for (const auto& options : cases) {
    const tn::Tensor p = parameter(start), q = parameter({3});
    run(tn::optim::Adagrad({p, q}, options), {p, q}, 5);
    expect_near(p, adagrad_formula(start, options, 5), 1e-11);
    expect_near(q, adagrad_formula({3}, options, 5), 1e-11);
  }
  // What PyTorch 2.15 gives.
  Values twelve;
  for (int i = 0; i < 12; ++i) twelve.push_back(double(float(i / 10.0 - 0.4)));
  const tn::Tensor p = parameter(twelve, tn::float32);
  run(tn::optim::Adagrad({p}, {.lr = 0.1, .lr_decay = 0.1, .weight_decay = 0.01, .eps = 1e-3}), {p},
      3);
  expect_near(p,
              {-0.1982032, -0.1000974, -0.002805509, 0.09301719, 0.1857895, 0.2706892, 0.3279814,
               0.3336681, 0.331533, 0.3508134, 0.4224052, 0.5111113},
              1e-6);
}

TEST_P(Optimizers, FloatsTakeTheSameSteps) {
  const tn::Tensor p = parameter(start, tn::float32), q = parameter(start, tn::float32);
  run(SGD({p}, {.lr = 0.1, .momentum = 0.9}), {p}, 5);
  run(Adam({q}, {.lr = 0.1}), {q}, 5);
  expect_near(p, sgd_formula(start, {.lr = 0.1, .momentum = 0.9}, 5), 2e-5);
  expect_near(q, adam_formula(start, {.lr = 0.1}, false, 5), 2e-5);
}

TEST_P(Optimizers, ConstantGradientsHaveClosedForms) {
  const tn::Tensor p = parameter({1, 2}), q = parameter({1, 2});
  const tn::Tensor g = tn::Tensor::from(Values{0.5, -4}).to(device);
  p.set_grad(g);
  q.set_grad(g);
  const Optimizer sgd = SGD({p}, {.lr = 0.1, .momentum = 0.5}),
                  adam = Adam({q}, {.lr = 0.1, .eps = 0});
  for (int t = 0; t < 3; ++t) {
    sgd.step();
    adam.step();
  }
  // The buffers are g times 1, 1.5 and 1.75. Adam without eps moves by lr against the sign.
  expect_near(p, {1 - 0.1 * 4.25 * 0.5, 2 + 0.1 * 4.25 * 4}, 1e-13);
  expect_near(q, {1 - 0.3, 2 + 0.3}, 1e-12);
}

TEST_P(Optimizers, AParameterWithoutGradientIsLeftAlone) {
  const tn::Tensor p = parameter({1}), q = parameter({1});
  const Optimizer optimizer = Adam({p, q}, {.lr = 0.1});
  set_gradient(q);
  optimizer.step();
  EXPECT_EQ(p.item<double>(), 1.0);
  EXPECT_NE(q.item<double>(), 1.0);
  EXPECT_EQ(names_of(optimizer.state_dict()),
            (std::vector<std::string>{"state.1.step", "state.1.exp_avg", "state.1.exp_avg_sq"}));
  // p begins its own count later.
  run(optimizer, {p}, 1);
  EXPECT_NEAR(p.item<double>(), 0.9, 1e-8);
}

TEST_P(Optimizers, GroupsHaveTheirOwnOptions) {
  const tn::Tensor p = parameter({2}), q = parameter({2});
  const Optimizer optimizer = SGD({p}, {.lr = 0.1, .momentum = 0.9});
  optimizer.add_group({q}, {{"lr", 0.01}, {"momentum", 0}});
  run(optimizer, {p, q}, 4);
  expect_near(p, sgd_formula({2}, {.lr = 0.1, .momentum = 0.9}, 4), 1e-12);
  expect_near(q, sgd_formula({2}, {.lr = 0.01}, 4), 1e-12);
  EXPECT_EQ(names_of(optimizer.state_dict()),
            (std::vector<std::string>{"state.0.momentum_buffer"}));
  EXPECT_EQ(optimizer.lr(), 0.1);
  EXPECT_EQ(optimizer.group_option<double>(1, "lr"), 0.01);
}

// In the call, where a group that says nothing has the options of the call.
TEST_P(Optimizers, AreMadeOfGroups) {
  const tn::Tensor p = parameter({2}), q = parameter({2}), r = parameter({2});
  const std::vector<tn::Tensor> named = {p};
  const Optimizer optimizer =
      SGD({{named, {{"lr", 0.01}, {"momentum", 0}}}, {{q}, {{"nesterov", true}}}, {{r}}},
          {.lr = 0.1, .momentum = 0.9});
  run(optimizer, {p, q, r}, 4);
  expect_near(p, sgd_formula({2}, {.lr = 0.01}, 4), 1e-12);
  expect_near(q, sgd_formula({2}, {.lr = 0.1, .momentum = 0.9, .nesterov = true}, 4), 1e-12);
  expect_near(r, sgd_formula({2}, {.lr = 0.1, .momentum = 0.9}, 4), 1e-12);
  EXPECT_EQ(optimizer.n_groups(), 3u);
  EXPECT_EQ(optimizer.lr(), 0.01);

  const Optimizer by_place =
      AdamW({{{parameter({1})}, {{"weight_decay", 0}, {"betas", tn::Floats{0.5, 0.25}}}},
             {{parameter({1}), parameter({1})}}},
            1e-4);
  EXPECT_EQ(by_place.group_option<double>(0, "weight_decay"), 0.0);
  EXPECT_EQ(by_place.group_option<tn::Floats>(0, "betas")[1], 0.25);
  EXPECT_EQ(by_place.group_option<double>(1, "weight_decay"), 0.01);
  EXPECT_EQ(by_place.group_option<double>(1, "lr"), 1e-4);
  EXPECT_EQ(by_place.group_parameters(1).size(), 2u);
}

TEST_P(Optimizers, GroupsThatCannotBeAreRefused) {
  const tn::Tensor p = parameter({2}), q = parameter({2});
  EXPECT_EQ(message_of([&] {
              SGD({{{p}, {{"rate", 0.1}}}, {{q}}});
            }),
            message_of([&] {
              SGD({p}).add_group({q}, {{"rate", 0.1}});
            }));
  EXPECT_EQ(message_of([&] {
              SGD({{{p}, {{"momentum", -1.0}}}});
            }),
            "SGD: momentum is -1, expected at least 0");
  EXPECT_EQ(message_of([&] {
              SGD({{{p}}, {{q, p}}});
            }),
            message_of([&] {
              SGD({p}).add_group({q, p});
            }));
  EXPECT_EQ(message_of([&] {
              SGD({{{}}, {{q}}});
            }),
            message_of([&] { SGD(std::vector<tn::Tensor>{}); }));
}

// Where the schema calls an option dynamic it lies in a tensor, which is written in place.
TEST_P(Optimizers, DynamicOptionsLieInTensors) {
  const tn::Tensor p = parameter({2}), q = parameter({2});
  const Optimizer optimizer = AdamW({p}, {.lr = 0.1});
  optimizer.add_group({q}, {{"lr", 0.01}});
  const tn::Tensor lr = optimizer.group_number(1, "lr"),
                   betas = optimizer.param_groups()[0].number("betas");
  EXPECT_EQ(lr.item<double>(), 0.01);
  EXPECT_EQ(betas.to_vector<double>(), (std::vector<double>{0.9, 0.999}));
  EXPECT_TRUE(lr.device().is_cpu());
  optimizer.set_lr(0.5);
  optimizer.set_option("betas", tn::Floats{0.5, 0.25});
  EXPECT_EQ(lr.item<double>(), 0.5);
  EXPECT_EQ(betas.to_vector<double>(), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(message_of([&] { optimizer.group_number(0, "eps"); }),
            "AdamW: the option 'eps' is not dynamic in its schema");
  EXPECT_EQ(message_of([&] { optimizer.group_number(2, "lr"); }),
            "AdamW has 2 parameter groups, none of index 2");
}

// Where they are set: a recorded step does not look at them.
TEST_P(Optimizers, BetasThatAreSetLaterAreChecked) {
  const tn::Tensor p = parameter({2}), q = parameter({2});
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{Adam({p}), AdamW({p}), tn::optim::SparseAdam({p})}) {
    const auto refused = [&](const char* betas) {
      return optimizer.type_name() + ": betas is " + betas +
             ", expected two numbers, each at least 0 and below 1";
    };
    EXPECT_EQ(message_of([&] { optimizer.set_option("betas", tn::Floats{0.5}); }),
              refused("[0.5]"));
    EXPECT_EQ(message_of([&] {
                optimizer.set_option("betas", tn::Floats{0.5, 1});
              }),
              refused("[0.5, 1]"));
    EXPECT_EQ(message_of([&] {
                optimizer.add_group({q}, {{"betas", tn::Floats{-1, 0.5}}});
              }),
              refused("[-1, 0.5]"));
    EXPECT_EQ(optimizer.group_option<std::vector<double>>(0, "betas"),
              (std::vector<double>{0.9, 0.999}));
    EXPECT_EQ(message_of([&] { optimizer.group_option<double>(1, "lr"); }),
              optimizer.type_name() + " has 1 parameter groups, none of index 1");
  }
}

TEST_P(Optimizers, TheRateMayChangeBetweenSteps) {
  const tn::Tensor p = parameter({2});
  const Optimizer optimizer = SGD({p}, {.lr = 0.1});
  run(optimizer, {p}, 1);
  optimizer.set_lr(0.01);
  EXPECT_EQ(optimizer.lr(), 0.01);
  run(optimizer, {p}, 2);
  expect_near(p, sgd_formula(sgd_formula({2}, {.lr = 0.1}, 1), {.lr = 0.01}, 2), 1e-13);
}

TEST_P(Optimizers, AnInfPassesAStepOver) {
  const tn::Tensor inf = tn::tensor(1.f, device), fine = tn::tensor(0.f, device);
  const tn::optim::SGDOptions sgd{.lr = 0.1, .momentum = 0.9, .dampening = 0.5};
  for (const bool adam : {false, true}) {
    const tn::Tensor p = parameter(start);
    const Optimizer optimizer = adam ? Optimizer(Adam({p}, {.lr = 0.1})) : Optimizer(SGD({p}, sgd));
    for (const auto& found : {inf, fine, inf, fine, fine}) {
      set_gradient(p);
      optimizer.step(found);
    }
    expect_near(p, adam ? adam_formula(start, {.lr = 0.1}, false, 3) : sgd_formula(start, sgd, 3),
                1e-11);
  }
  const tn::optim::AdagradOptions adagrad{.lr = 0.1, .lr_decay = 0.5};
  const tn::Tensor p = parameter(start);
  const Optimizer optimizer = tn::optim::Adagrad({p}, adagrad);
  for (const auto& found : {inf, fine, inf, fine, fine}) {
    set_gradient(p);
    optimizer.step(found);
  }
  expect_near(p, adagrad_formula(start, adagrad, 3), 1e-11);
}

TEST_P(Optimizers, ZeroGradClearsAllGroups) {
  const tn::Tensor p = parameter({2}), q = parameter({2});
  const Optimizer optimizer = SGD({p});
  optimizer.add_group({q});
  set_gradient(p);
  set_gradient(q);
  optimizer.zero_grad();
  EXPECT_FALSE(p.grad().defined() || q.grad().defined());
}

TEST_P(Optimizers, AModelThatMovesKeepsItsOptimizer) {
  const tn::Object model = tn::nn::Linear(4, 1);
  const tn::Tensor weight = model.tensor("weight"), bias = model.tensor("bias");
  weight.detach().copy_(tn::tensor({{0.7f, -2.f, 0.f, 5.f}}));
  bias.detach().zero_();
  const Optimizer optimizer = Adam(model.parameters(), {.lr = 0.1});
  run(optimizer, {weight, bias}, 2);
  model.to(device, tn::float64);
  run(optimizer, {weight, bias}, 3);
  EXPECT_EQ(weight.device(), device);
  expect_near(weight, adam_formula(start, {.lr = 0.1}, false, 5), 1e-5);
}

TEST_P(Optimizers, OptionsThatDoNotFitAreRefused) {
  const tn::Tensor p = parameter({2});
  EXPECT_EQ(message_of([&] { SGD({p}, {.lr = -1}); }),
            "SGD could not be made\n  because lr is -1, expected at least 0");
  EXPECT_EQ(message_of([&] { SGD({p}, {.nesterov = true}); }),
            "SGD could not be made\n  because nesterov is set, momentum is 0 and dampening 0; "
            "expected a momentum above 0 and no dampening");
  EXPECT_EQ(
      message_of([&] {
        Adam({p}, {.betas = {0.9, 1.0}});
      }),
      "Adam could not be made\n  because betas is [0.9, 1], expected two numbers, each at least 0 "
      "and below 1");
  EXPECT_EQ(message_of([&] { tn::optim::Adagrad({p}, {.lr_decay = -1}); }),
            "Adagrad could not be made\n  because lr_decay is -1, expected at least 0");
  EXPECT_EQ(message_of([&] { tn::optim::SparseAdam({p}, {.eps = NAN}); }),
            "SparseAdam could not be made\n  because eps is nan, expected at least 0");
  EXPECT_EQ(message_of([&] { SGD({p}).set_lr(-0.5); }), "SGD: lr is -0.5, expected at least 0");
  EXPECT_EQ(message_of([&] { tn::optim::Adadelta({p}).set_option("rho", NAN); }),
            "Adadelta: rho is nan, expected 0 to 1");
  EXPECT_EQ(message_of([&] {
              SGD({p}).add_group({parameter({3})}, {{"momentum", -1.0}});
            }),
            "SGD: momentum is -1, expected at least 0");
  EXPECT_EQ(message_of([&] { SGD({p}).set_option("learning_rat", 0.1); }),
            "SGD has no option 'learning_rat' for its groups");
  EXPECT_EQ(message_of([&] { SGD({p}).set_option("momentun", 0.1); }),
            "SGD has no option 'momentun' for its groups; did you mean 'momentum'?");
  EXPECT_EQ(message_of([&] {
              SGD({p, p});
            }),
            "SGD could not be made\n  because SGD: parameter 1 ([1] float64 on " + device.name() +
                ") is in a group already");
  EXPECT_EQ(message_of([&] { SGD(std::vector<tn::Tensor>{}); }),
            "SGD could not be made\n  because SGD: the list of parameters is empty");
  EXPECT_EQ(message_of([&] { SGD({p * 2.0}); }),
            "SGD could not be made\n  because SGD: parameter 0 ([1] float64 on " + device.name() +
                ") is not a leaf: a recorded call made it");
}

TEST_P(Optimizers, ClippingByValue) {
  const tn::Tensor p = parameter({1, 2, 3}), none = parameter({1});
  p.set_grad(tn::Tensor::from(Values{-5, 0.25, 7}).to(device));
  tn::optim::clip_grad_value_({p, none}, 0.5);
  EXPECT_EQ(p.grad().to_vector<double>(), (Values{-0.5, 0.25, 0.5}));
  EXPECT_FALSE(none.grad().defined());
  EXPECT_EQ(message_of([&] { tn::optim::clip_grad_value_({p}, -1); }),
            "clip_grad_value_: clip_value is -1, expected 0 or more");
}

TEST_P(Optimizers, TextIsPyTorchs) {
  EXPECT_EQ(SGD({parameter({2})}, {.lr = 0.1, .momentum = 0.9}).to_string(),
            "SGD (\n"
            "Parameter Group 0\n"
            "    dampening: 0.0\n"
            "    lr: 0.1\n"
            "    maximize: False\n"
            "    momentum: 0.9\n"
            "    nesterov: False\n"
            "    weight_decay: 0.0\n"
            ")");
}

// PyTorch 2.15's: a step that is passed over makes no state, so that the first that is done begins at
// its rate.
TEST_P(Optimizers, AStepThatIsPassedOverFixesNoRate) {
  for (const bool is_asgd : {false, true}) {
    const tn::Tensor w = parameter({1});
    const Optimizer optimizer = is_asgd ? Optimizer(tn::optim::ASGD({w}, {.lr = 1, .lambd = 0}))
                                        : Optimizer(tn::optim::Rprop({w}, {.lr = 1}));
    tn::GradScaler scaler({.init_scale = 2});
    for (const double factor : {double(INFINITY), 1.0}) {
      optimizer.zero_grad();
      scaler.scale((w * factor).sum()).backward();
      scaler.step(optimizer);
      scaler.update();
      optimizer.set_lr(0.1);
    }
    EXPECT_NEAR(w.item<double>(), 0.9, 1e-6) << is_asgd;
  }
}

TEST_P(Optimizers, StepsHaveHooks) {
  const tn::Tensor w = parameter({2});
  const Optimizer sgd = SGD({w}, {.lr = 0.1});
  std::string seen;
  auto before = sgd.register_step_pre_hook([&](Optimizer& o) {
    seen += "before " + o.type_name() + " " + std::to_string(w.version()) + ";";
  });
  const auto after = sgd.register_step_post_hook([&] { seen += "after;"; });
  w.sum().backward();
  const std::string version = std::to_string(w.version());
  sgd.step();
  EXPECT_EQ(seen, "before SGD " + version + ";after;");
  before.remove();
  sgd.step([&] { return w.sum(); });
  EXPECT_EQ(seen, "before SGD " + version + ";after;after;");
  // What is thrown before the step keeps it from being made.
  const tn::Tensor value = w.clone();
  auto refuses = sgd.register_step_pre_hook([] { throw std::runtime_error("not now"); });
  EXPECT_THROW(sgd.step(), std::runtime_error);
  EXPECT_TRUE(tn::equal(w, value));
  refuses.remove();
  const Optimizer lbfgs = tn::optim::LBFGS({w});
  int n = 0;
  lbfgs.register_step_pre_hook([&] { ++n; });
  lbfgs.step([&] {
    lbfgs.zero_grad();
    const tn::Tensor loss = (w * w).sum();
    loss.backward();
    return loss;
  });
  EXPECT_EQ(n, 1);
}

}  // namespace
