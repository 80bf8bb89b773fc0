// State dicts of optimizers: what they hold, how they are resumed, and those that do not fit.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "optimizers_support.h"

namespace {

TEST_P(Optimizers, AStateDictResumesWhereItWasSaved) {
  const auto resume = [&](auto make) {
    const tn::Tensor p = parameter(start);
    const Optimizer optimizer = make(std::vector<tn::Tensor>{p});
    run(optimizer, {p}, 3);
    tn::NamedTensors saved;
    for (const auto& [name, t] : optimizer.state_dict())
      saved.emplace_back(name, t.clone().to(tn::cpu));
    const tn::Tensor q = p.detach().clone().requires_grad_();
    const Optimizer other = make(std::vector<tn::Tensor>{q});
    other.load_state_dict(saved);
    run(other, {q}, 2);
    run(optimizer, {p}, 2);
    expect_near(q, p.to_vector<double>(), 0);
    return names_of(saved);
  };
  const tn::optim::SGDOptions sgd{.lr = 0.1, .momentum = 0.9, .dampening = 0.5};
  EXPECT_EQ(resume([&](const auto& p) { return SGD(p, sgd); }),
            (std::vector<std::string>{"state.0.momentum_buffer"}));
  EXPECT_EQ(resume([&](const auto& p) { return Adam(p, {.lr = 0.1}); }),
            (std::vector<std::string>{"state.0.step", "state.0.exp_avg", "state.0.exp_avg_sq"}));
  EXPECT_EQ(
      resume([&](const auto& p) { return tn::optim::Adagrad(p, {.lr = 0.1, .lr_decay = 0.5}); }),
      (std::vector<std::string>{"state.0.step", "state.0.sum"}));
}

TEST_P(Optimizers, AStateDictThatDoesNotFitIsRefused) {
  const tn::Tensor p = parameter(start);
  const Optimizer optimizer = SGD({p}, {.lr = 0.1, .momentum = 0.9});
  run(optimizer, {p}, 1);
  EXPECT_EQ(message_of([&] {
              optimizer.load_state_dict({{"state.0.momentum_buffer", tn::zeros({3})}}, false);
            }),
            "load_state: 'state.0.momentum_buffer' is [4] here and [3] in the state_dict");
  tn::NamedTensors other = {{"state.1.momentum_buffer", tn::zeros({3})}};
  EXPECT_EQ(message_of([&] { optimizer.load_state_dict(other); }),
            "load_state_dict: the state_dict has 0 parameter groups, SGD has 1");
  for (const auto& entry : optimizer.state_dict()) {
    if (entry.first.starts_with("param_groups.")) other.push_back(entry);
  }
  EXPECT_EQ(message_of([&] { optimizer.load_state_dict(other); }),
            "load_state: 'state.1.momentum_buffer' is in the state_dict and not in SGD");
  // A part of a parameter's state is none.
  const Optimizer adam = Adam({p}, {.lr = 0.1});
  run(adam, {p}, 1);
  tn::NamedTensors part = adam.state_dict();
  std::erase_if(part, [](const auto& entry) { return entry.first == "state.0.exp_avg"; });
  EXPECT_EQ(message_of([&] { adam.load_state_dict(part); }),
            "load_state: 'state.0.exp_avg' is missing in the state_dict");
}

// Of a first step, too, where there is nothing yet that a file could differ from.
TEST_P(Optimizers, AStateOfAnotherSizeThanTheParameterIsRefused) {
  const auto expect_refusal = [](auto make, const std::string& expected) {
    const tn::Tensor p = tn::ones({4, 2}).requires_grad_(), q = tn::ones({3, 2}).requires_grad_();
    const Optimizer saved = make(std::vector<tn::Tensor>{p}),
                    other = make(std::vector<tn::Tensor>{q}),
                    same = make(std::vector<tn::Tensor>{p.detach().clone().requires_grad_()});
    p.set_grad(tn::ones({4, 2}));
    const auto closure = [&] { return (p * p).sum(); };
    saved.step(closure);
    const tn::NamedTensors state = saved.state_dict();
    for (const bool strict : {true, false}) {
      const std::string message = message_of([&] { other.load_state_dict(state, strict); });
      EXPECT_EQ(message.substr(0, message.find('\n')), expected);
    }
    EXPECT_TRUE(std::ranges::none_of(names_of(other.state_dict()), [](const std::string& name) {
      return name.starts_with("state.");
    })) << "nothing of it was loaded";
    same.load_state_dict(state);
    EXPECT_EQ(same.state_dict().size(), state.size());
  };
  const auto adam = [](const auto& p) { return AdamW(p, {.amsgrad = true}); };
  expect_refusal(
      adam,
      "load_state: AdamW: 'state.0.exp_avg' is [4, 2] in the state_dict, expected [3, 2] for "
      "parameter 0, which is [3, 2]");
  expect_refusal(
      [](const auto& p) { return SGD(p, {.lr = 0.1, .momentum = 0.9}); },
      "load_state: SGD: 'state.0.momentum_buffer' is [4, 2] in the state_dict, expected [3, "
      "2] for parameter 0, which is [3, 2]");
  expect_refusal(
      [](const auto& p) { return tn::optim::Adafactor(p); },
      "load_state: Adafactor: 'state.0.row_var' is [4, 1] in the state_dict, expected [3, 1] "
      "for parameter 0, which is [3, 2]");
  expect_refusal(
      [](const auto& p) { return tn::optim::LBFGS(p); },
      "load_state: LBFGS: 'state.0.d' is [8] in the state_dict, expected [6] for parameters "
      "of 6 elements");
  // A count is one number, of whatever sizes.
  const tn::Tensor p = parameter(start);
  const Optimizer saved = Adam({p}, {.lr = 0.1}), loaded = Adam({parameter(start)}, {.lr = 0.1});
  run(saved, {p}, 1);
  tn::NamedTensors state = saved.state_dict();
  for (auto& [name, value] : state)
    if (name == "state.0.step") value = value.reshape({1});
  loaded.load_state_dict(state);
  for (auto& [name, value] : state)
    if (name == "state.0.step") value = tn::ones({2});
  EXPECT_EQ(
      message_of([&] { Adam({parameter(start)}).load_state_dict(state); }),
      "load_state: Adam: 'state.0.step' is [2] in the state_dict, expected [] for parameter 0, "
      "which is [4]");
}

// What was saved before a first step, as by a training that begins anew.
TEST_P(Optimizers, AStateDictWithoutStateLeavesNone) {
  const tn::Tensor p = parameter(start), q = parameter(start);
  const Optimizer optimizer = Adam({p}, {.lr = 0.1}), fresh = Adam({q}, {.lr = 0.1});
  const tn::NamedTensors before = optimizer.state_dict();
  run(optimizer, {p}, 3);
  {
    const tn::NoGrad no_grad;
    p.copy_(q);
  }
  optimizer.load_state_dict(before);
  EXPECT_EQ(optimizer.state_dict().size(), before.size());
  run(optimizer, {p}, 2);
  run(fresh, {q}, 2);
  expect_near(q, p.to_vector<double>(), 0);
}

// Of each group, in PyTorch's layout; written to a file and read.
TEST_P(Optimizers, AStateDictHasGroupsRatesAndOptions) {
  const auto make = [&] {
    const Optimizer optimizer = AdamW({parameter(start), parameter({1})}, {.lr = 0.1});
    optimizer.add_group({parameter({2})}, {{"lr", 0.01}, {"maximize", true}});
    return optimizer;
  };
  const Optimizer saved = make(), loaded = make();
  saved.set_group_option(1, "lr", 0.001);
  saved.set_group_option(0, "betas", tn::Floats{0.5, 0.25});
  const std::string path = ::testing::TempDir() + "optimizer_" + GetParam() +
                           std::to_string(::getpid()) + ".safetensors";
  tn::save(saved.state_dict(), path);
  const tn::NamedTensors state = tn::load(path);
  std::filesystem::remove(path);
  const auto entry = [&](const std::string& name) {
    for (const auto& [key, value] : state) {
      if (key == name) return value;
    }
    return tn::Tensor();
  };
  EXPECT_EQ(entry("param_groups.0.params").to_vector<int64_t>(), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(entry("param_groups.1.params").to_vector<int64_t>(), (std::vector<int64_t>{2}));
  EXPECT_EQ(entry("param_groups.0.lr").item<double>(), 0.1);
  EXPECT_EQ(entry("param_groups.1.lr").item<double>(), 0.001);
  EXPECT_EQ(entry("param_groups.0.betas").to_vector<double>(), (Values{0.5, 0.25}));
  EXPECT_EQ(entry("param_groups.0.maximize").item<bool>(), false);
  EXPECT_EQ(entry("param_groups.0.maximize").dtype(), tn::bool_);
  EXPECT_EQ(state.size(), 2u * 7);  // params and six options each, and no states yet
  loaded.load_state_dict(state);
  EXPECT_EQ(loaded.to_string(), saved.to_string());
  EXPECT_EQ(loaded.group_option<double>(1, "lr"), 0.001);
  EXPECT_TRUE(loaded.group_option<bool>(1, "maximize"));
}

// It was written before there was the switch.
TEST_P(Optimizers, ASwitchThatIsNotInAStateDictIsOff) {
  const Optimizer optimizer = AdamW({parameter(start)}, {.amsgrad = true});
  tn::NamedTensors state;
  const tn::NamedTensors own = optimizer.state_dict();
  for (const auto& [name, value] : own)
    if (name != "param_groups.0.amsgrad") state.emplace_back(name, value);
  optimizer.load_state_dict(state);
  EXPECT_FALSE(optimizer.group_option<bool>(0, "amsgrad"));
}

// A saved training goes on in an optimizer that was made with other options.
TEST_P(Optimizers, OptionsOfAStateDictDecideTheNextSteps) {
  const tn::Tensor p = parameter(start), q = parameter(start);
  const Optimizer optimizer = SGD({p}, {.lr = 0.1, .momentum = 0.9}), other = SGD({q}, {.lr = 7});
  run(optimizer, {p}, 2);
  {
    const tn::NoGrad no_grad;
    q.copy_(p);
  }
  other.load_state_dict(optimizer.state_dict());
  run(optimizer, {p}, 2);
  run(other, {q}, 2);
  expect_near(q, p.to_vector<double>(), 0);
}

TEST_P(Optimizers, GroupsOfAStateDictThatDoNotFitAreRefused) {
  const Optimizer optimizer = AdamW({parameter(start), parameter({1})}, {.lr = 0.1});
  const tn::NamedTensors good = optimizer.state_dict();
  const auto refused = [&](const std::string& name, tn::Tensor value) {
    tn::NamedTensors state;
    bool there = false;
    for (const auto& [key, own] : good) {
      there = there || key == name;
      if (key != name) {
        state.emplace_back(key, own);
      } else if (value.defined()) {
        state.emplace_back(key, value);
      }
    }
    if (!there) state.emplace_back(name, value);
    return message_of([&] { optimizer.load_state_dict(state); });
  };
  const std::string text = optimizer.to_string();
  const tn::Tensor one = tn::Tensor::from<double>({1});
  EXPECT_EQ(refused("param_groups.0.lr", {}),
            "load_state_dict: 'param_groups.0.lr' is missing in the state_dict");
  EXPECT_EQ(refused("param_groups.0.params", {}),
            "load_state_dict: 'param_groups.0.params' is missing in the state_dict");
  EXPECT_EQ(refused("param_groups.0.rho", one),
            "load_state_dict: 'param_groups.0.rho' is in the state_dict and not in AdamW");
  EXPECT_EQ(refused("param_groups.-1.lr", one),
            "load_state_dict: 'param_groups.-1.lr' is in the state_dict and not in AdamW");
  EXPECT_EQ(refused("param_groups.1.lr", one),
            "load_state_dict: the state_dict has 2 parameter groups, AdamW has 1");
  EXPECT_EQ(
      refused("param_groups.0.lr", tn::zeros({2})),
      "load_state_dict: 'param_groups.0.lr' is float32 [2] in the state_dict, expected one number");
  EXPECT_EQ(
      refused("param_groups.0.betas", tn::zeros({}, tn::float64)),
      "load_state_dict: 'param_groups.0.betas' is float64 [] in the state_dict, expected a list of "
      "numbers");
  EXPECT_EQ(
      refused("param_groups.0.maximize", one),
      "load_state_dict: 'param_groups.0.maximize' is float64 [1] in the state_dict, expected one "
      "bool");
  EXPECT_EQ(refused("param_groups.0.params", tn::Tensor::from<int64_t>({0, 1, 2})),
            "load_state_dict: group 0 has 3 parameters in the state_dict and 2 in AdamW");
  EXPECT_EQ(refused("param_groups.0.params", tn::Tensor::from<int64_t>({1, 0})),
            "load_state_dict: 'param_groups.0.params' has 1 at 0, expected 0: parameters are "
            "counted over all groups");
  EXPECT_EQ(
      refused("param_groups.0.params", one),
      "load_state_dict: 'param_groups.0.params' is float64 [1] in the state_dict, expected a list "
      "of integers");
  // What the optimizer itself refuses leaves the options that were set before it as they were.
  EXPECT_EQ(refused("param_groups.0.betas", tn::Tensor::from<double>({0.5, 1})),
            "AdamW: betas is [0.5, 1], expected two numbers, each at least 0 and below 1");
  EXPECT_EQ(optimizer.to_string(), text);
}

// The names of a group in `optimizer.state_dict()` of PyTorch 2.15 and of StepLR, but for LBFGS's
// line_search_fn, which is None there.
struct OfPyTorch {
  const char* optimizer;
  std::vector<std::string> options;
};
std::vector<OfPyTorch> of_pytorch() {
  return {
      {"SGD",
       {"lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize", "foreach",
        "differentiable", "fused", "initial_lr"}},
      {"Adam",
       {"lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "foreach", "capturable",
        "differentiable", "fused", "decoupled_weight_decay", "initial_lr"}},
      {"AdamW",
       {"lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "foreach", "capturable",
        "differentiable", "fused", "decoupled_weight_decay", "initial_lr"}},
      {"Adagrad",
       {"lr", "lr_decay", "eps", "weight_decay", "initial_accumulator_value", "foreach", "maximize",
        "differentiable", "fused", "initial_lr"}},
      {"SparseAdam", {"lr", "betas", "eps", "maximize", "initial_lr"}},
      {"RMSprop",
       {"lr", "momentum", "alpha", "eps", "centered", "weight_decay", "capturable", "foreach",
        "maximize", "differentiable", "initial_lr"}},
      {"Adadelta",
       {"lr", "rho", "eps", "weight_decay", "maximize", "capturable", "foreach", "differentiable",
        "initial_lr"}},
      {"Adamax",
       {"lr", "betas", "eps", "weight_decay", "foreach", "maximize", "differentiable", "capturable",
        "initial_lr"}},
      {"NAdam",
       {"lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay",
        "maximize", "foreach", "capturable", "differentiable", "initial_lr"}},
      {"RAdam",
       {"lr", "betas", "eps", "weight_decay", "maximize", "foreach", "capturable",
        "decoupled_weight_decay", "differentiable", "initial_lr"}},
      {"Adafactor",
       {"lr", "beta2_decay", "eps", "d", "weight_decay", "foreach", "maximize", "initial_lr"}},
      {"LBFGS",
       {"lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change", "history_size",
        "maximize", "initial_lr"}},
      {"Muon",
       {"lr", "weight_decay", "momentum", "nesterov", "ns_coefficients", "eps", "ns_steps",
        "adjust_lr_fn", "initial_lr"}},
      {"Rprop",
       {"lr", "etas", "step_sizes", "foreach", "maximize", "differentiable", "capturable",
        "initial_lr"}},
      {"ASGD",
       {"lr", "lambd", "alpha", "t0", "weight_decay", "foreach", "maximize", "differentiable",
        "capturable", "initial_lr"}},
  };
}

// The options of PyTorch that change no number here are passed over.
TEST_P(Optimizers, AStateOfPyTorchsTrainingIsTaken) {
  for (const auto& [type, options] : of_pytorch()) {
    const Optimizer optimizer =
        Optimizer::create(type, {tn::ones({2, 2}).to(device).requires_grad_()});
    const tn::NamedTensors own = optimizer.state_dict();
    tn::NamedTensors state = {{"param_groups.0.params", own["param_groups.0.params"]}};
    for (const std::string& option : options) {
      const std::string name = "param_groups.0." + option;
      const bool is_on = option == "decoupled_weight_decay" && std::string(type) == "AdamW";
      state.set(name, own.contains(name)       ? own[name]
                      : option == "max_eval"   ? tn::tensor(int64_t{25})
                      : option == "initial_lr" ? tn::tensor(0.1)
                                               : tn::tensor(is_on));
    }
    for (const char* name : {"max_lr", "min_lr", "base_momentum", "max_momentum", "swa_lr"})
      state.set("param_groups.0." + std::string(name), tn::tensor(0.1));
    const std::string before = optimizer.to_string();
    EXPECT_EQ(message_of([&] { optimizer.load_state_dict(state); }), "no error") << type;
    if (std::string(type) != "LBFGS") {  // whose max_eval is None here until it is loaded
      EXPECT_EQ(optimizer.to_string(), before);
    }
    // PyTorch's leaves out no option that this one has.
    for (const auto& [name, value] : own) EXPECT_TRUE(state.contains(name)) << type << " " << name;
  }
  const auto refused = [&](const char* type, const char* option, const tn::Tensor& value) {
    const Optimizer optimizer = Optimizer::create(type, {tn::ones({2, 2}).requires_grad_()});
    tn::NamedTensors state = optimizer.state_dict();
    state.set(std::string("param_groups.0.") + option, value);
    return message_of([&] { optimizer.load_state_dict(state); });
  };
  EXPECT_EQ(refused("Adam", "decoupled_weight_decay", tn::tensor(true)),
            "load_state_dict: 'param_groups.0.decoupled_weight_decay' is true in the state_dict, "
            "and Adam has no such option: it computes as with false");
  EXPECT_EQ(refused("AdamW", "decoupled_weight_decay", tn::tensor(false)),
            "load_state_dict: 'param_groups.0.decoupled_weight_decay' is false in the state_dict, "
            "and AdamW has no such option: it computes as with true");
  EXPECT_EQ(refused("Muon", "maximize", tn::tensor(true)),
            "load_state_dict: 'param_groups.0.maximize' is true in the state_dict, and Muon has no "
            "such option: it computes as with false");
  EXPECT_EQ(refused("Muon", "maximize", tn::ones({2})),
            "load_state_dict: 'param_groups.0.maximize' is float32 [2] in the state_dict, expected "
            "one bool");
  EXPECT_EQ(refused("SGD", "decoupled_weight_decay", tn::tensor(false)),
            "load_state_dict: 'param_groups.0.decoupled_weight_decay' is in the state_dict and not "
            "in SGD");
  EXPECT_EQ(refused("Adam", "capturables", tn::tensor(false)),
            "load_state_dict: 'param_groups.0.capturables' is in the state_dict and not in Adam");
}

}  // namespace
