// A compiled step trains as the eager one does, bit for bit, whatever else happens in between.
#include <functional>

#include "compile_support.h"

namespace {

namespace nn = tn::nn;

Tensor batch(int64_t n, int i, tn::Device d) {
  return (tn::arange(0, n * 12).to(tn::float32) * (0.37 + 0.01 * i)).sin().view({n, 12}).to(d);
}
Tensor labels(int64_t n, int i, tn::Device d) { return (tn::arange(0, n) * (i + 1) % 4).to(d); }

tn::Object perceptron(tn::Device d, double dropout = 0) {
  tn::manual_seed(3);
  const tn::Object model =
      nn::Sequential(nn::Linear(12, 16), nn::ReLU(), nn::Dropout(dropout), nn::Linear(16, 4));
  model.to(d);
  return model;
}

class CompiledTraining : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    load_all();
    d = tn::Device(GetParam());
  }

  // Two runs of one seed, a compiled one and an eager one: the same losses and parameters.
  // `between` happens to both before step i.
  void expect_equal_runs(const std::function<Trained()>& make, int steps, int64_t rows,
                         const std::function<void(Trained&, int)>& between,
                         const std::string& said) {
    Trained eager = make(), compiled = make();
    auto f = tn::compile([&](Tensor x, Tensor t) { return compiled.step(x, t); });
    for (int i = 0; i < steps; ++i) {
      const int64_t n = i % 5 == 3 ? rows / 2 : rows;  // another size of batch at times
      const Tensor x = batch(n, i, d), t = labels(n, i, d);
      between(eager, i);
      tn::manual_seed(100 + i);
      const Tensor expected = eager.step(x, t);
      between(compiled, i);
      tn::manual_seed(100 + i);
      expect_same_bits(f(x, t), expected);
      const auto a = eager.model.parameters(), b = compiled.model.parameters();
      for (size_t k = 0; k < a.size(); ++k) {
        expect_same_bits(b[k], a[k]);
        expect_same_bits(b[k].grad(), a[k].grad());
      }
      if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "at step " << i << f.describe();
    }
    expect_described(f, said);
  }
  tn::Device d{};
};
INSTANTIATE_TEST_SUITE_P(Devices, CompiledTraining, ::testing::Values("cpu", second_device()));

Trained sgd(tn::Device d, tn::optim::SGDOptions options, double dropout = 0) {
  tn::Object model = perceptron(d, dropout);
  tn::optim::Optimizer optimizer = tn::optim::SGD(model.parameters(), options);
  return {model, optimizer};
}
void nothing(Trained&, int) {}

TEST_P(CompiledTraining, GradientDescent) {
  expect_equal_runs([&] { return sgd(d, {.lr = 0.1}); }, 30, 8, nothing, "replays");
}

TEST_P(CompiledTraining, MomentumAndDropout) {
  expect_equal_runs([&] { return sgd(d, {.lr = 0.1, .momentum = 0.9}, 0.3); }, 30, 8, nothing,
                    "replays");
}

template <typename Optimizer, typename Options>
Trained adam(tn::Device d, const Options& options) {
  tn::Object model = perceptron(d);
  return {model, Optimizer(model.parameters(), options)};
}

TEST_P(CompiledTraining, AdamCountsItsStepsInside) {
  expect_equal_runs([&] { return adam<tn::optim::Adam, tn::optim::AdamOptions>(d, {.lr = 0.01}); },
                    12, 8, nothing, "3 recordings, 9 replays");
}

// Rates, decay and betas lie in tensors that the recording reads anew.
TEST_P(CompiledTraining, AdamWWithASchedule) {
  expect_equal_runs(
      [&] { return adam<tn::optim::AdamW, tn::optim::AdamWOptions>(d, {.lr = 0.01}); }, 24, 8,
      [&](Trained& run, int i) {
        const auto schedule = tn::optim::Warmup(4, tn::optim::CosineAnnealingLR(20, 1e-4));
        tn::optim::Scheduler(run.optimizer, schedule).go_to(i);
        run.optimizer.set_option("weight_decay", 0.01 * i);
        run.optimizer.set_option("betas", tn::Floats{0.9 - 0.01 * i, 0.99});
      },
      "3 recordings, 21 replays");
}

TEST_P(CompiledTraining, EvaluationInBetween) {
  expect_equal_runs([&] { return sgd(d, {.lr = 0.1}, 0.3); }, 12, 8,
                    [&](Trained& run, int i) {
                      run.model.eval();
                      const tn::NoGrad no_grad;
                      run.model(batch(3, i, d));
                      run.model.train();
                    },
                    "2 recordings, 10 replays");
}

TEST_P(CompiledTraining, AnotherRateNeedsNoRecording) {
  expect_equal_runs([&] { return sgd(d, {.lr = 0.1}); }, 12, 8,
                    [&](Trained& run, int i) { run.optimizer.set_lr(0.1 / (1 + i)); },
                    "2 recordings, 10 replays");
}

// The momentum lies in a tensor that a replay reads; the dampening is a number of the recording.
TEST_P(CompiledTraining, AnotherDampeningIsAnotherRecordingAndAnotherMomentumIsNone) {
  const auto expect = [&](const char* option, const char* recordings) {
    expect_equal_runs([&] { return sgd(d, {.lr = 0.1, .momentum = 0.5, .dampening = 0.25}); }, 12,
                      8,
                      [&](Trained& run, int i) {
                        if (i == 6) run.optimizer.set_option(option, 0.9);
                      },
                      recordings);
  };
  expect("dampening", "5 recordings, 7 replays");
  expect("momentum", "3 recordings, 9 replays");
}

// The step is passed over, and not counted, inside of the graph.
TEST_P(CompiledTraining, AScalerThatSkips) {
  struct Scaled {
    Trained trained;
    std::shared_ptr<tn::GradScaler> scaler;
    Tensor step(const Tensor& x, const Tensor& target, const Tensor& factor) {
      Tensor loss = tn::cross_entropy(trained.model(x), target) * factor;
      trained.optimizer.zero_grad();
      scaler->scale(loss).backward();
      scaler->step(trained.optimizer);
      scaler->update();
      return loss.detach() * 1;
    }
  };
  for (const bool sgd_too : {false, true}) {
    const auto make = [&]() -> Scaled {
      return {sgd_too ? sgd(d, {.lr = 0.1, .momentum = 0.9})
                      : adam<tn::optim::AdamW, tn::optim::AdamWOptions>(d, {.lr = 0.01}),
              std::make_shared<tn::GradScaler>(
                  tn::GradScaler::Options{.init_scale = 1024, .growth_interval = 3})};
    };
    Scaled eager = make(), compiled = make();
    auto f = tn::compile([&](Tensor x, Tensor t, Tensor c) { return compiled.step(x, t, c); });
    for (int i = 0; i < 16; ++i) {
      const Tensor x = batch(8, i, d), t = labels(8, i, d),
                   factor = tn::full({}, i % 5 == 3 ? INFINITY : 1.0, tn::float32, d);
      expect_same_bits(f(x, t, factor), eager.step(x, t, factor));
      EXPECT_EQ(compiled.scaler->state(), eager.scaler->state()) << i;
      const auto a = eager.trained.model.parameters(), b = compiled.trained.model.parameters();
      for (size_t k = 0; k < a.size(); ++k) expect_same_bits(b[k], a[k]);
    }
    EXPECT_EQ(eager.scaler->state(), (tn::GradScaler::State{1024, 2})) << sgd_too;
    expect_described(f, "2 recordings, 14 replays");
  }
}

TEST_P(CompiledTraining, ParametersThatAreReplacedOrFrozen) {
  expect_equal_runs([&] { return sgd(d, {.lr = 0.1}); }, 12, 8,
                    [&](Trained& run, int i) {
                      const auto parameters = run.model.parameters();
                      if (i == 4) parameters[0].requires_grad_(false);
                      if (i == 4) parameters[0].zero_grad();
                      if (i == 8) parameters[0].requires_grad_();
                    },
                    "replays");
}

TEST_P(CompiledTraining, GradientsAreClearedBeforeOrAfterOrKept) {
  expect_equal_runs(
      [&] { return sgd(d, {.lr = 0.1}); }, 12, 8,
      [&](Trained& run, int i) {
        if (i % 3 == 1) run.optimizer.zero_grad();
        if (i % 3 == 2)
          run.model.parameters()[0].set_grad(tn::ones_like(run.model.parameters()[0]));
      },
      "2 recordings, 10 replays");
}

// Several calls before a step: the second adds to what the first left.
TEST_P(CompiledTraining, GradientsAreAccumulatedOverCalls) {
  Trained eager = sgd(d, {.lr = 0.1}), compiled = sgd(d, {.lr = 0.1});
  const auto accumulate = [](Trained& run, const Tensor& x, const Tensor& t) {
    Tensor loss = tn::cross_entropy(run.model(x), t) * 0.25;
    loss.backward();
    return loss.detach() * 1;
  };
  auto f = tn::compile([&](Tensor x, Tensor t) { return accumulate(compiled, x, t); });
  for (int i = 0; i < 24; ++i) {
    const Tensor x = batch(8, i, d), t = labels(8, i, d);
    expect_same_bits(f(x, t), accumulate(eager, x, t));
    const auto a = eager.model.parameters(), b = compiled.model.parameters();
    for (size_t k = 0; k < a.size(); ++k) expect_same_bits(b[k].grad(), a[k].grad());
    if (i % 4 != 3) continue;
    for (Trained* run : {&eager, &compiled}) {
      run->optimizer.step();
      run->optimizer.zero_grad();
    }
  }
  expect_described(f, "2 recordings, 22 replays");
}

// What happens to another model is nothing to this one's function, which would give up recording.
TEST_P(CompiledTraining, AnotherModelIsFrozenAndThawed) {
  const Trained other = sgd(d, {.lr = 0.1});
  auto g = tn::compile([&](Tensor x) { return other.model(x).detach() * 1; });
  for (int i = 0; i < 2; ++i) g(batch(8, i, d));  // it is watched, too
  int turn = 0;
  expect_equal_runs([&] { return sgd(d, {.lr = 0.1}); }, 40, 8,
                    [&](Trained&, int) {
                      for (const Tensor& p : other.model.parameters())
                        p.requires_grad_(++turn % 2 == 0);
                      other.model.train(turn % 3 == 0);
                      other.optimizer.set_option("momentum", 0.01 * (turn % 7));
                    },
                    "2 recordings, 38 replays");
}

// The generator's step of an adversarial training, which freezes the other model until it ends.
TEST_P(CompiledTraining, AnAdversaryIsFrozenMeanwhile) {
  struct Pair {
    tn::Object generator, judge;
    tn::optim::Optimizer g_step, d_step;
    Tensor teach_judge(const Tensor& real, const Tensor& noise) {
      d_step.zero_grad();
      const Tensor loss =
          tn::softplus(-judge(real)).mean() + tn::softplus(judge(generator(noise).detach())).mean();
      loss.backward();
      d_step.step();
      return loss.detach() * 1;
    }
    Tensor teach_generator(const Tensor& noise) {
      judge.requires_grad_(false);
      g_step.zero_grad();
      const Tensor loss = tn::softplus(-judge(generator(noise))).mean();
      loss.backward();
      g_step.step();
      judge.requires_grad_();
      return loss.detach() * 1;
    }
  };
  const auto make = [&] {
    tn::manual_seed(5);
    Pair pair{nn::Sequential(nn::Linear(12, 8), nn::ReLU(), nn::Linear(8, 12)).to(d),
              nn::Sequential(nn::Linear(12, 8), nn::Tanh(), nn::Linear(8, 1)).to(d)};
    pair.g_step = tn::optim::Adam(pair.generator.parameters(), {.lr = 0.02});
    pair.d_step = tn::optim::SGD(pair.judge.parameters(), {.lr = 0.1});
    return pair;
  };
  for (const bool both : {true, false}) {  // or the judge's step alone
    SCOPED_TRACE(both);
    Pair eager = make(), compiled = make();
    auto judge = tn::compile([&](Tensor x, Tensor z) { return compiled.teach_judge(x, z); });
    auto generator = tn::compile([&](Tensor z) { return compiled.teach_generator(z); });
    for (int i = 0; i < 12; ++i) {
      const Tensor real = batch(8, i, d), noise = batch(8, 50 + i, d);
      expect_same_bits(judge(real, noise), eager.teach_judge(real, noise));
      expect_same_bits(both ? generator(noise) : compiled.teach_generator(noise),
                       eager.teach_generator(noise));
      for (const Tensor& p : compiled.judge.parameters()) EXPECT_TRUE(p.requires_grad());
    }
    const auto a = eager.judge.parameters(), b = compiled.judge.parameters();
    for (size_t k = 0; k < a.size(); ++k) {
      expect_same_bits(b[k], a[k]);
      expect_same_bits(b[k].grad(), a[k].grad());
    }
    expect_described(judge, "1 recordings, 11 replays");
    if (both) expect_described(generator, "2 recordings, 10 replays");
  }
}

// Leaves that lie in one memory at equal distances, of which others are trained each time.
TEST_P(CompiledTraining, AnotherPairOfLeavesIsFrozen) {
  const Tensor flat = tn::ones({64}, {}, d);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < 8; ++i) parts.push_back(flat.narrow(0, i * 8, 8).detach());
  auto f = tn::compile([parts](Tensor x) {
    Tensor loss = tn::zeros({}, {}, x.device());
    for (const Tensor& part : parts) loss = loss + (part * part * x).sum();
    loss.backward();
    return loss.detach() * 1;
  });
  const Tensor x = tn::ones({8}, {}, d);
  for (size_t a = 0; a < 8; ++a) {
    for (size_t b = a + 1; b < 8; ++b) {
      parts[a].requires_grad_();
      parts[b].requires_grad_();
      f(x);
      for (size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(parts[i].grad().defined(), i == a || i == b) << a << b << i;
        parts[i].requires_grad_(false);
        if (parts[i].grad().defined()) parts[i].set_grad({});
      }
    }
  }
}

// One that the function does not read is set as the eager one sets it.
TEST_P(CompiledTraining, AnotherTensorIsFrozenEachTime) {
  const Tensor p = tn::ones({2}, {}, d), q = tn::ones({2}, {}, d).requires_grad_();
  auto f = tn::compile([&](Tensor x) {
    p.requires_grad_(false);
    const Tensor loss = (q * x).sum();
    loss.backward();
    return loss.detach() * 1;
  });
  for (int i = 0; i < 8; ++i) {
    p.requires_grad_(i % 3 != 1);
    f(tn::ones({2}, {}, d));
    EXPECT_FALSE(p.requires_grad()) << i << f.describe();
  }
}

// A leaf that the function makes comes and goes before one whose gradient was there.
TEST_P(CompiledTraining, LeavesOfItsOwnBesideThoseThatStay) {
  const Tensor w = batch(1, 1, d).requires_grad_(), v = w.detach().clone().requires_grad_();
  const auto step = [](const Tensor& leaf, const Tensor& x) {
    const Tensor own = (x * 0.5).detach().requires_grad_();
    (own * own).sum().backward();
    (leaf * x * own.grad()).sum().backward();
  };
  auto f = tn::compile([&](Tensor x) { step(w, x); });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = batch(1, i, d);
    f(x);
    step(v, x);
    expect_same_bits(w.grad(), v.grad());
  }
  expect_described(f, "2 recordings, 4 replays");
}

// A leaf over the memory of what it holds, as fast weights begin.
TEST_P(CompiledTraining, LeavesOfItsOwnOverHeldMemory) {
  const Tensor w = batch(1, 1, d).requires_grad_(), v = w.detach().clone().requires_grad_();
  const auto step = [](const Tensor& held, const Tensor& x) {
    const Tensor fast = held.detach().requires_grad_();
    (fast * fast * x).sum().backward();
    Tensor next = fast - 0.1 * fast.grad();
    (held * next * x).sum().backward();
    return next.detach() * 1;
  };
  auto f = tn::compile([&](Tensor x) { return step(w, x); });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = batch(1, i, d);
    expect_same_bits(f(x), step(v, x));
    expect_same_bits(w.grad(), v.grad());
  }
  expect_described(f, "2 recordings, 4 replays");
}

// Who holds a gradient keeps it: the next replay makes another.
TEST_P(CompiledTraining, AGradientThatIsHeldStaysWhatItWas) {
  Trained run = sgd(d, {.lr = 0.1});
  auto f = tn::compile([&](Tensor x, Tensor t) { return run.step(x, t); });
  std::vector<Tensor> held, copies;
  for (int i = 0; i < 6; ++i) {
    f(batch(8, i, d), labels(8, i, d));
    held.push_back(run.model.parameters()[0].grad());
    copies.push_back(held.back().clone());
  }
  for (size_t i = 0; i < held.size(); ++i) expect_same_bits(held[i], copies[i]);
}

TEST_P(CompiledTraining, HooksRunEagerly) {
  Trained run = sgd(d, {.lr = 0.1});
  int seen = 0;
  run.model.parameters()[0].register_hook([&](Tensor g) {
    ++seen;
    return g;
  });
  auto f = tn::compile([&](Tensor x, Tensor t) { return run.step(x, t); });
  for (int i = 0; i < 4; ++i) f(batch(8, i, d), labels(8, i, d));
  EXPECT_EQ(seen, 4);
  expect_described(f, "backward: a gradient hook runs code of the host");
}

TEST_P(CompiledTraining, ACnnWithNormsAndPools) {
  const auto make = [&]() -> Trained {
    tn::manual_seed(5);
    const tn::Object model = nn::Sequential(
        nn::Unflatten(1, {1, 3, 4}), nn::Conv2d(1, 4, 3, {.padding = 1}), nn::BatchNorm2d(4),
        nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(8, 4));
    model.to(d);
    tn::optim::Optimizer optimizer =
        tn::optim::SGD(model.parameters(), {.lr = 0.05, .momentum = 0.9});
    return {model, optimizer};
  };
  Trained eager = make(), compiled = make();
  auto f = tn::compile([&](Tensor x, Tensor t) { return compiled.step(x, t); });
  for (int i = 0; i < 20; ++i) {
    const Tensor x = batch(6, i, d), t = labels(6, i, d);
    expect_same_bits(f(x, t), eager.step(x, t));
  }
  expect_same_state(compiled, eager);
  expect_described(f, "replays");
}

}  // namespace
