// Optimizers beside PyTorch's (tests/data/torch_optimizers.py): 20 steps with the same gradients, on
// every backend of the build, eager and compiled; steps that are passed over; LBFGS with its closure.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "second_device.h"
#include "tenon/tenon.hpp"
#include "torch_optimizers.h"

namespace tn = tenon;
using nlohmann::json;
using tn::optim::Optimizer;

namespace {

const json& data() {
  static const json all = torch_data("torch_optimizers.json");
  return all;
}

// The parameters that torch_optimizers.py starts with.
std::vector<tn::Tensor> start(const std::string& optimizer, tn::Dtype dtype, tn::Device device) {
  std::vector<tn::Tensor> list;
  if (optimizer == "Muon") {
    list.push_back(tn::Tensor::from(Values{0.7, -2.0, 0.1, 0.5, 1.5, -0.3}, {2, 3}));
    list.push_back(tn::Tensor::from(Values{0.2, -0.4, 1.0, 0.3, -0.6, 0.8}, {3, 2}));
  } else {
    list.push_back(tn::Tensor::from(
        Values{0.7, -2.0, 0.0, 5.0, 0.1, 0.5, -0.3, 1.5, 2.0, -1.0, 0.25, -0.75}, {3, 4}));
    list.push_back(tn::Tensor::from(Values{1.0, -3.0, 0.5}, {3}));
  }
  for (tn::Tensor& p : list) p = p.to(device, dtype).requires_grad_();
  return list;
}

// 1.5 p - 0.5 + 0.3 cos(t + i), for element i.
void set_gradients(const std::vector<tn::Tensor>& parameters, int t) {
  for (const tn::Tensor& p : parameters) {
    Values g = p.to_vector<double>();
    for (size_t i = 0; i < g.size(); ++i) g[i] = 1.5 * g[i] - 0.5 + 0.3 * std::cos(t + double(i));
    p.set_grad(tn::Tensor::from(g, p.sizes()).to(p.device(), p.dtype()));
  }
}

void expect_values(const std::vector<tn::Tensor>& parameters, const json& expected, double near) {
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Values found = parameters[k].to_vector<double>(), wanted = expected[k].get<Values>();
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], wanted[i], near * std::max(1.0, std::abs(wanted[i])))
          << "parameter " << k << ", element " << i;
  }
}

tn::NamedTensors copy_of(const tn::NamedTensors& state) {
  tn::NamedTensors list;
  for (const auto& [name, t] : state) list.emplace_back(name, t.clone());
  return list;
}

class OptimizersBesideTorch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    device = tn::Device(GetParam());
  }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, OptimizersBesideTorch, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(OptimizersBesideTorch, TwentyStepsGiveItsValues) {
  for (const json& c : data().at("steps")) {
    const std::string name = c.at("optimizer");
    SCOPED_TRACE(name + c.at("options").dump());
    const auto parameters = start(name, tn::float64, device);
    const Optimizer optimizer =
        tn::build_optimizer(description_of(name, c.at("options")), parameters);
    for (int t = 1; t <= 20; ++t) {
      set_gradients(parameters, t);
      optimizer.step();
      const json& after = c.at("after");
      // PyTorch too counts NAdam's product in float32.
      if (after.contains(std::to_string(t)))
        expect_values(parameters, after.at(std::to_string(t)), name == "NAdam" ? 1e-6 : 1e-10);
    }
  }
}

// A float32 parameter is computed in float32; Lion jumps where an average is near 0.
TEST_P(OptimizersBesideTorch, FloatsComeNearItsValues) {
  for (const json& c : data().at("steps")) {
    const std::string name = c.at("optimizer");
    SCOPED_TRACE(name + c.at("options").dump());
    const auto parameters = start(name, tn::float32, device);
    const Optimizer optimizer =
        tn::build_optimizer(description_of(name, c.at("options")), parameters);
    for (int t = 1; t <= 20; ++t) {
      set_gradients(parameters, t);
      optimizer.step();
    }
    expect_values(parameters, c.at("after").at("20"), 3e-5);
  }
}

// A scaler's found_inf passes a step over: parameters and states stay, bit for bit.
TEST_P(OptimizersBesideTorch, AnInfChangesNothing) {
  std::string before_this;
  for (const json& c : data().at("steps")) {
    const std::string name = c.at("optimizer");
    if (std::exchange(before_this, name) == name) continue;
    SCOPED_TRACE(name);
    const auto parameters = start(name, tn::float64, device);
    const Optimizer optimizer =
        tn::build_optimizer(description_of(name, c.at("options")), parameters);
    set_gradients(parameters, 1);
    optimizer.step(tn::tensor(0.f, device));
    const tn::NamedTensors states = copy_of(optimizer.state_dict());
    std::vector<Values> values;
    for (const tn::Tensor& p : parameters) values.push_back(p.to_vector<double>());
    optimizer.step(tn::tensor(1.f, device));
    for (size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(parameters[k].to_vector<double>(), values[k]);
    const tn::NamedTensors after = optimizer.state_dict();
    ASSERT_EQ(after.size(), states.size());
    for (size_t k = 0; k < after.size(); ++k)
      EXPECT_EQ(after[k].second.to_vector<double>(), states[k].second.to_vector<double>())
          << after[k].first;
  }
}

// Saved after 3 steps, and loaded into an optimizer of other options before its first step.
TEST_P(OptimizersBesideTorch, AStateDictResumesWhereItWasSaved) {
  for (const json& c : data().at("steps")) {
    const std::string name = c.at("optimizer");
    SCOPED_TRACE(name + c.at("options").dump());
    const auto p = start(name, tn::float64, device), q = start(name, tn::float64, device);
    const Optimizer optimizer = tn::build_optimizer(description_of(name, c.at("options")), p);
    const Optimizer other = tn::build_optimizer({name, {{"lr", 0.5}}}, q);
    for (int t = 1; t <= 3; ++t) {
      set_gradients(p, t);
      optimizer.step();
    }
    {
      const tn::NoGrad no_grad;
      for (size_t k = 0; k < p.size(); ++k) q[k].copy_(p[k]);
    }
    other.load_state_dict(copy_of(optimizer.state_dict()));
    for (int t = 4; t <= 6; ++t) {
      set_gradients(p, t);
      set_gradients(q, t);
      optimizer.step();
      other.step();
    }
    for (size_t k = 0; k < p.size(); ++k)
      EXPECT_EQ(q[k].to_vector<double>(), p[k].to_vector<double>());
  }
}

// As PyTorch's: these names, of the parameter's sizes or of one element.
TEST_P(OptimizersBesideTorch, StatesHaveItsNames) {
  const auto names = [&](const Optimizer& optimizer, const tn::Tensor& p) {
    p.set_grad(tn::ones_like(p));
    optimizer.step();
    std::string list;
    const tn::NamedTensors state = optimizer.state_dict();
    for (const auto& [name, t] : state) {
      if (name.starts_with("state.0."))
        list += name.substr(8) + (t.sizes() == p.sizes() ? " p\n" : t.numel() == 1 ? "\n" : " ?\n");
    }
    return list;
  };
  const tn::Tensor p = tn::zeros({2, 2}, tn::float32, device).requires_grad_();
  EXPECT_EQ(names(tn::optim::Rprop({p}), p), "step\nprev p\nstep_size p\n");
  EXPECT_EQ(names(tn::optim::ASGD({p}), p), "step\neta\nmu\nax p\n");
  EXPECT_EQ(names(tn::optim::Adam({p}), p), "step\nexp_avg p\nexp_avg_sq p\n");
  EXPECT_EQ(names(tn::optim::AdamW({p}, {.amsgrad = true}), p),
            "step\nexp_avg p\nexp_avg_sq p\nmax_exp_avg_sq p\n");
}

// A step that is recorded once and replayed, with the rate set anew before each.
TEST_P(OptimizersBesideTorch, CompiledStepsHaveTheSameBits) {
  for (const json& c : data().at("steps")) {
    const std::string name = c.at("optimizer");
    SCOPED_TRACE(name + c.at("options").dump());
    const auto run = [&](bool compiled) {
      const auto p = start(name, tn::float64, device);
      const Optimizer optimizer = tn::build_optimizer(description_of(name, c.at("options")), p);
      const auto step = [&](tn::Tensor x) {
        optimizer.zero_grad();
        tn::Tensor loss = (p[0] * p[0]).sum() * 0.75 + (p[1] * p[1] * x).sum();
        loss.backward();
        optimizer.step();
        return loss.detach() * 1;
      };
      auto f = tn::compile(step);
      for (int t = 0; t < 8; ++t) {
        optimizer.set_lr(0.01 + 0.002 * t);
        const tn::Tensor x = tn::full({}, 0.3 + 0.1 * t, tn::float64, device);
        compiled ? f(x) : step(x);
      }
      if (compiled) {
        EXPECT_NE(f.describe().find("replays"), std::string::npos) << f.describe();
      }
      std::vector<Values> values;
      for (const tn::Tensor& t : p) values.push_back(t.to_vector<double>());
      return values;
    };
    EXPECT_EQ(run(true), run(false));
  }
}

// Rosenbrock's function of four numbers in two parameters.
TEST_P(OptimizersBesideTorch, LbfgsGoesItsWay) {
  for (const json& c : data().at("closures")) {
    SCOPED_TRACE(c.at("options").dump());
    const tn::Tensor x = tn::Tensor::from(Values{-1.2, 1}).to(device).requires_grad_(),
                     y = tn::Tensor::from(Values{0.5, -0.8}, {2, 1}).to(device).requires_grad_();
    const Optimizer optimizer =
        tn::build_optimizer(description_of("LBFGS", c.at("options")), {x, y});
    const double sign = c.at("options").contains("maximize") ? -1 : 1;
    int calls = 0;
    const auto closure = [&] {
      ++calls;
      optimizer.zero_grad();
      const tn::Tensor all = tn::cat({x, y.reshape({-1})}, 0);
      const tn::Tensor head = all.slice(0, 0, 3), tail = all.slice(0, 1, 4);
      const tn::Tensor off = tail - head * head, rest = 1 - head;
      tn::Tensor loss = (100 * off * off + rest * rest).sum() * sign;
      loss.backward();
      return loss;
    };
    for (const json& loss : c.at("losses")) {
      EXPECT_NEAR(optimizer.step(closure).item<double>(), loss.get<double>(), 1e-6);
    }
    const tn::NamedTensors state = optimizer.state_dict();
    for (const auto& [name, value] : state) {
      const char* const kept = name == "state.0.func_evals" ? "func_evals"
                               : name == "state.0.n_iter"   ? "n_iter"
                                                            : nullptr;
      if (!kept) continue;
      EXPECT_EQ(value.item<int64_t>(), c.at(kept).get<int64_t>()) << kept;
    }
    EXPECT_EQ(calls, c.at("func_evals").get<int>());
    expect_values({x, y}, {c.at("x"), c.at("y")}, 1e-6);
  }
}

TEST_P(OptimizersBesideTorch, LbfgsResumesWhereItWasSaved) {
  const auto make = [&](const tn::Tensor& x) {
    return tn::optim::LBFGS({x}, {.lr = 0.3, .max_iter = 3, .history_size = 2});
  };
  const auto step = [](const Optimizer& optimizer, const tn::Tensor& x) {
    optimizer.step([&] {
      optimizer.zero_grad();
      tn::Tensor loss = (x * x * x * x + 0.5 * x * x).sum();
      loss.backward();
      return loss;
    });
  };
  const tn::Tensor x = tn::Tensor::from(Values{1, -2, 3}).to(device).requires_grad_();
  const Optimizer optimizer = make(x);
  step(optimizer, x);
  const tn::Tensor y = x.detach().clone().requires_grad_();
  const Optimizer other = make(y);
  other.load_state_dict(copy_of(optimizer.state_dict()));
  step(optimizer, x);
  step(other, y);
  EXPECT_EQ(x.to_vector<double>(), y.to_vector<double>());
}

// A closure that fails ends the step with its error.
TEST_P(OptimizersBesideTorch, ClosuresAreAskedAsOftenAsNeeded) {
  const tn::Tensor x = tn::Tensor::from(Values{1}).to(device).requires_grad_();
  const Optimizer sgd = tn::optim::SGD({x}, {.lr = 0.1}), lbfgs = tn::optim::LBFGS({x});
  int calls = 0;
  const auto closure = [&] {
    ++calls;
    sgd.zero_grad();
    tn::Tensor loss = (x * x).sum();
    loss.backward();
    return loss;
  };
  EXPECT_EQ(sgd.step(closure).item<double>(), 1);
  EXPECT_EQ(calls, 1);
  EXPECT_NEAR(x.item<double>(), 0.8, 1e-15);
  EXPECT_NE(message_of([&] {
              lbfgs.step([]() -> tn::Tensor { tn::fail("no loss today"); });
            }).find("no loss today"),
            std::string::npos);
  EXPECT_NE(message_of([&] { lbfgs.step(); }).find("call step(closure)"), std::string::npos);
}

TEST_P(OptimizersBesideTorch, OptionsThatDoNotFitAreRefused) {
  namespace optim = tn::optim;
  const tn::Tensor p = tn::zeros({2, 2}, tn::float32, device).requires_grad_(),
                   v = tn::zeros({2}, tn::float32, device).requires_grad_();
  const auto refused = [](const auto& make, const std::string& why) {
    const std::string message = message_of(make);
    EXPECT_NE(message.find("could not be made\n  because " + why), std::string::npos) << message;
  };
  refused([&] { optim::RMSprop({p}, {.alpha = -1}); }, "alpha is -1, expected at least 0");
  refused([&] { optim::RMSprop({p}, {.momentum = -0.5}); },
          "momentum is -0.5, expected at least 0");
  refused([&] { optim::Adadelta({p}, {.rho = 1.5}); }, "rho is 1.5, expected 0 to 1");
  refused([&] { optim::Adamax({p}, {.betas = {0.9, 1}}); }, "betas is [0.9, 1], expected");
  refused([&] { optim::NAdam({p}, {.momentum_decay = -1}); },
          "momentum_decay is -1, expected at least 0");
  refused([&] { optim::RAdam({p}, {.eps = NAN}); }, "eps is nan, expected at least 0");
  refused([&] { optim::LAMB({p}, {.weight_decay = -1}); },
          "weight_decay is -1, expected at least 0");
  refused([&] { optim::Lion({p}, {.lr = -1}); }, "lr is -1, expected at least 0");
  refused([&] { optim::Adafactor({p}, {.beta2_decay = 0.5}); },
          "beta2_decay is 0.5, expected at most 0");
  refused([&] { optim::Adafactor({p}, {.eps = {1e-3}}); },
          "eps is [0.001], expected two numbers of at least 0");
  refused([&] { optim::Adafactor({p}, {.d = 0.5}); }, "d is 0.5, expected at least 1");
  refused([&] { optim::Muon({v}); },
          "a parameter is [2], and Muon takes matrices alone; AdamW takes the others");
  refused(
      [&] {
        optim::Muon({p}, {.ns_coefficients = {1, 2}});
      },
      "ns_coefficients has 2 numbers, expected 3");
  refused([&] { optim::Muon({p}, {.ns_steps = 100}); }, "ns_steps is 100, expected 0 to 99");
  refused([&] { optim::Muon({p}, {.adjust_lr_fn = "best"}); },
          "adjust_lr_fn is 'best', expected original, match_rms_adamw or spectral_unclamped");
  refused(
      [&] {
        optim::Rprop({p}, {.etas = {1.2, 0.5}});
      },
      "etas is [1.2, 0.5], expected two numbers, the first between 0 and 1 and the second "
      "above 1");
  refused([&] { optim::Rprop({p}, {.step_sizes = {1}}); },
          "step_sizes is [1], expected the least, which is at least 0, and the greatest");
  refused([&] { optim::ASGD({p}, {.lambd = -1}); }, "lambd is -1, expected at least 0");
  refused([&] { optim::ASGD({p}, {.alpha = NAN}); }, "alpha is nan, expected at least 0");
  const Optimizer rprop = optim::Rprop({p});
  EXPECT_NE(message_of([&] {
              rprop.set_option("etas", Values{0.5, 0.9});
            }).find("etas is [0.5, 0.9], expected two numbers"),
            std::string::npos);
  refused([&] { optim::LBFGS({p}, {.max_iter = 0}); }, "max_iter is 0, expected at least 1");
  refused([&] { optim::LBFGS({p}, {.history_size = 20000}); },
          "history_size is 20000, expected at most 10000");
  refused([&] { optim::LBFGS({p}, {.line_search_fn = "armijo"}); },
          "line_search_fn is 'armijo', expected None or strong_wolfe");
  const Optimizer lbfgs = optim::LBFGS({p}, {.history_size = 5});
  EXPECT_EQ(message_of([&] { lbfgs.set_option("history_size", 6); }),
            "LBFGS: history_size is 6 and was 5 when LBFGS was made, which stays");
  EXPECT_NE(message_of([&] {
              lbfgs.add_group({v});
            }).find("LBFGS takes one group of parameters, whose options are those of all"),
            std::string::npos);
}

// The ops by themselves say which list is wrong.
TEST_P(OptimizersBesideTorch, ListsThatDoNotFitAreRefused) {
  const tn::Tensor p = tn::zeros({2, 3}, tn::float32, device),
                   q = tn::zeros({3}, tn::float32, device),
                   one = tn::zeros({1}, tn::float32, device);
  EXPECT_EQ(message_of([&] { tn::lion_step({p}, {p}, {}, 0.1); }),
            "lion_step: 0 exp_avgs for 1 params");
  EXPECT_EQ(message_of([&] { tn::lion_step({p}, {q}, {p}, 0.1); }),
            "lion_step: grad 0 is [3], its param [2, 3]");
  EXPECT_EQ(message_of([&] { tn::rprop_step({p}, {p}, {p}, {q}, {one}); }),
            "rprop_step: step_size 0 is [3], its param [2, 3]");
  EXPECT_EQ(message_of([&] { tn::asgd_step({p}, {p}, {p}, {one}, {p}, {one}, 0.1); }),
            "asgd_step: mu has 6 elements, expected 1");
  EXPECT_EQ(message_of([&] { tn::amsgrad_step({p}, {p}, {p}, {p}, {}, {one}, 0.1); }),
            "amsgrad_step: 0 max_exp_avg_sqs for 1 params");
  EXPECT_EQ(message_of([&] { tn::adadelta_step({p}, {p}, {p}, {p}, {p}, 0.1); }),
            "adadelta_step: step has 6 elements, expected 1");
  EXPECT_EQ(message_of([&] { tn::adafactor_step({p}, {p}, {one}, {one}, {}, {one}, 0.1); }),
            "adafactor_step: row_var 0 is [1], expected [2, 1]");
  EXPECT_EQ(message_of([&] { tn::muon_step({q}, {q}, {q}, 0.1); }),
            "muon_step: param 0 is [3], expected a matrix");
}

}  // namespace
