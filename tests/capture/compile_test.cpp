// tn::compile: what is recorded is replayed with other values, bit for bit; what cannot be is run
// eagerly, and the reason is there to read.
#include <array>
#include <stdexcept>
#include <tuple>

#include "compile_support.h"

namespace {

Tensor numbers(tn::Ints sizes, tn::Device d, double from = -1, double to = 1) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return tn::linspace(from, to, n, tn::float32, d).view(sizes);
}

class Compile : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    load_all();
    d = tn::Device(GetParam());
  }
  tn::Device d{};
};
INSTANTIATE_TEST_SUITE_P(Devices, Compile, ::testing::Values("cpu", second_device()));

TEST_P(Compile, RecordsOnceAndReplaysWithOtherValues) {
  int calls = 0;
  auto f = tn::compile([&](Tensor x, Tensor y) {
    ++calls;
    return tn::softmax(x.matmul(y) * 2 + 1, 1).t().contiguous();
  });
  for (int i = 0; i < 5; ++i) {
    const Tensor x = numbers({3, 4}, d, -1, 1 + i), y = numbers({4, 5}, d, i, 2);
    expect_same_bits(f(x, y), tn::softmax(x.matmul(y) * 2 + 1, 1).t().contiguous());
  }
  EXPECT_EQ(calls, 1);
  expect_described(f, "1 recordings, 4 replays");
}

TEST_P(Compile, ResultsAreTheCallersAlone) {
  auto f = tn::compile([](Tensor x) { return std::tuple(x + 1, (x * 3).t()); });
  const Tensor x = numbers({2, 3}, d);
  const auto [a, b] = f(x);
  const auto [c, e] = f(x);
  tn::add_(c, 100);
  const auto [g, h] = f(x * 2);
  expect_same_bits(a, x + 1);
  expect_same_bits(e, (x * 3).t());
  expect_same_bits(c, x + 1 + 100);
  expect_same_bits(g, x * 2 + 1);
  expect_same_bits(h, (x * 2 * 3).t());
}

TEST_P(Compile, ResultsMayBeNoneManyOrNothing) {
  auto two = tn::compile([](Tensor x) { return std::array<Tensor, 2>{Tensor(), x + 1}; });
  auto none = tn::compile([](Tensor x) { tn::add_(x, 1); });
  auto first = tn::compile([](Tensor x) { return x[0]; });
  const Tensor x = numbers({4}, d), y = x.clone();
  for (int i = 0; i < 3; ++i) {
    expect_same_bits(first(x), x[0]);
    EXPECT_FALSE(two(x)[0].defined());
    expect_same_bits(two(x)[1], x + 1);
    none(y);
  }
  expect_same_bits(y, x + 1 + 1 + 1);
  expect_described(none, "1 recordings, 2 replays");
}

TEST_P(Compile, EachWayToBeCalledIsARecordingOfItsOwn) {
  auto f = tn::compile([](Tensor x) { return x.sum(0) * 2; });
  for (int i = 0; i < 3; ++i) {
    for (int64_t n : {2, 5}) expect_same_bits(f(numbers({n, 3}, d)), numbers({n, 3}, d).sum(0) * 2);
    const Tensor t = numbers({3, 2}, d).t();
    expect_same_bits(f(t), t.sum(0) * 2);
  }
  expect_described(f, "3 recordings, 6 replays");
  for (int64_t n = 6; n < 20; ++n)
    expect_same_bits(f(numbers({n, 3}, d)), numbers({n, 3}, d).sum(0) * 2);
  expect_described(f, "runs eagerly: it was called in more than 8 ways");
}

TEST_P(Compile, PartsOfATensorAreArgumentsWhereverTheyBegin) {
  const Tensor all = numbers({64, 16}, d);
  auto f = tn::compile([](Tensor x) { return x * x + 1; });
  for (int64_t at : {0, 8, 24, 56}) {
    const Tensor x = all.narrow(0, at, 8);
    expect_same_bits(f(x), x * x + 1);
  }
  expect_described(f, "1 recordings, 3 replays");
}

TEST_P(Compile, WhatTheFunctionHoldsIsNotTakenForAnArgument) {
  const Tensor held = numbers({4}, d);
  auto f = tn::compile([&](Tensor x) { return x * held; });
  expect_same_bits(f(held), held * held);
  const Tensor other = numbers({4}, d, 5, 9);
  expect_same_bits(f(other), other * held);
  tn::add_(held, 1);  // values may change
  expect_same_bits(f(other), other * held);
  expect_described(f, "2 recordings, 1 replays");
}

TEST_P(Compile, ArgumentsThatShareMemoryAreOneWayToBeCalled) {
  auto f = tn::compile([](Tensor x, Tensor y) {
    tn::add_(x, 1);
    return x * y;
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = numbers({4}, d), y = numbers({4}, d, 3, 4);
    expect_same_bits(f(x, y), (numbers({4}, d) + 1) * y);
    const Tensor z = numbers({4}, d);
    expect_same_bits(f(z, z), (numbers({4}, d) + 1) * (numbers({4}, d) + 1));
  }
  expect_described(f, "2 recordings, 4 replays");
}

TEST_P(Compile, WritesToArgumentsCountAsChanges) {
  auto f = tn::compile([](Tensor x) { tn::mul_(x, 2); });
  const Tensor x = numbers({4}, d), w = numbers({4}, d).requires_grad_();
  f(x);
  for (int i = 0; i < 2; ++i) {
    const Tensor loss = (w * x).sum();
    f(x);
    EXPECT_NE(message_of([&] { loss.backward(); }).find("was changed"), std::string::npos)
        << message_of([&] { loss.backward(); });
  }
}

TEST_P(Compile, RandomNumbersGoOnAsTheyDoEagerly) {
  const auto noise = [&](Tensor x) { return tn::dropout(x, 0.5, true) + tn::rand_like(x); };
  auto f = tn::compile(noise);
  const Tensor x = numbers({64}, d);
  std::vector<Tensor> eager, compiled;
  for (auto* out : {&eager, &compiled}) {
    tn::manual_seed(7);
    for (int i = 0; i < 4; ++i) {
      out->push_back(out == &eager ? noise(x) : f(x));
      out->push_back(tn::rand({3}, tn::float32, d));
    }
  }
  for (size_t i = 0; i < eager.size(); ++i) expect_same_bits(compiled[i], eager[i]);
  expect_described(f, "1 recordings, 3 replays");
}

TEST_P(Compile, ConstantsMadeInsideAreMadeAgain) {
  auto f = tn::compile([this](Tensor x) { return x * tn::tensor({1.5f, 2.5f}).to(d) + 1; });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = numbers({2}, d, i, i + 1);
    expect_same_bits(f(x), x * tn::tensor({1.5f, 2.5f}).to(d) + 1);
  }
  expect_described(f, "1 recordings, 2 replays");
}

TEST_P(Compile, LargeMemoryThatDoesNotLiveAtTheSameTimeIsShared) {
  auto f = tn::compile([](Tensor x) {
    for (int i = 0; i < 10; ++i) x = tn::tanh(x) + 1;
    return x;
  });
  const Tensor x = numbers({128, 128}, d);
  Tensor expected = x;
  for (int i = 0; i < 10; ++i) expected = tn::tanh(expected) + 1;
  for (int i = 0; i < 3; ++i) expect_same_bits(f(x), expected);
  // Each is written over the one before.
  expect_described(f, "its own memory: 65536 bytes in the place of 1245184");
  auto g = tn::compile([](Tensor t) {
    for (int i = 0; i < 10; ++i) t = tn::matmul(t, t);
    return t;
  });
  const Tensor small = x * 1e-3;
  const Tensor first = g(small);
  for (int i = 0; i < 3; ++i) expect_same_bits(g(small), first);
  expect_described(g, "its own memory: 131072 bytes in the place of 589824");
}

// 100x100 floats take 40000 bytes: two of them live at once, and the result is the caller's.
TEST_P(Compile, IsDescribedStepByStep) {
  const Tensor weight = numbers({100, 100}, d);
  auto f = tn::compile([&](Tensor x) {
    return tn::exp(tn::matmul(tn::matmul(x, weight), weight)) + tn::rand({100, 100}, {}, d);
  });
  for (int i = 0; i < 3; ++i) f(numbers({100, 100}, d));
  const std::string on = d.name();
  expect_described(f, "\n  arguments: [100, 100] float32 on " + on + "\n");
  expect_described(f, "copies: 0; constants: 0; random: 1\n");
  expect_described(f, "\n  memory that was there before: 1 tensors, 40000 bytes\n");
  expect_described(f, "\n  results and gradients: 1 tensors, 40000 bytes; an eager call holds ");
  expect_described(f, "  matmul | " + d.type() +
                          " matmul | [1, 100, 100] float32; [1, 100, 100] float32 -> "
                          "[1, 100, 100] float32 | ");
  expect_described(f, "[100, 100] int32 | random\n");
}

// What one elementwise call makes is computed again where it is read late, and not kept meanwhile:
// unless what it is made of is written in between.
TEST_P(Compile, CheapValuesThatAreReadLateAreComputedTwice) {
  const auto function = [](const Tensor& x, bool writes) {
    Tensor a = tn::tanh(x), b = tn::exp(a);
    const Tensor c = tn::matmul(b, b);
    if (writes) tn::mul_(a, 0.5);
    Tensor d = tn::matmul(tn::matmul(c, c), c);
    d = tn::matmul(d * 1e-3, c) + tn::matmul(d, d);
    return (d + b) * a;
  };
  const Tensor x = numbers({160, 160}, d) * 0.1;
  for (const bool writes : {false, true}) {
    auto f = tn::compile([&](Tensor t) { return function(t, writes); });
    const Tensor expected = function(x, writes);
    for (int i = 0; i < 3; ++i) expect_same_bits(f(x), expected);
    EXPECT_EQ(f.describe().find("computed twice: 1 steps") != std::string::npos, !writes)
        << f.describe();
  }
}

TEST_P(Compile, WhatNobodyReadsIsNotComputed) {
  Tensor kept = tn::zeros({4}, {}, d);
  auto f = tn::compile([&](Tensor x) {
    Tensor unread = tn::exp(x) + tn::rand({4}, {}, d);  // its numbers are passed over
    tn::mul_(unread, 2);
    Tensor part = kept.narrow(0, 1, 2);
    tn::add_(part, x.narrow(0, 0, 2));  // read after the call
    return x + tn::rand({4}, {}, d);
  });
  const Tensor x = numbers({4}, d);
  tn::manual_seed(7);
  std::vector<Tensor> given;
  for (int i = 0; i < 3; ++i) given.push_back(f(x));
  tn::manual_seed(7);
  for (int i = 0; i < 3; ++i) {
    tn::rand({4}, {}, d);
    expect_same_bits(given[size_t(i)], x + tn::rand({4}, {}, d));
  }
  expect_same_bits(kept.narrow(0, 1, 2),
                   (x.narrow(0, 0, 2) + x.narrow(0, 0, 2)) + x.narrow(0, 0, 2));
  EXPECT_EQ(f.describe().find("(0 dropped)"), std::string::npos) << f.describe();
}

// What cannot be replayed runs as it did, each time.
template <typename F>
void expect_eager(F function, const Tensor& x, const std::string& reason) {
  int calls = 0;
  auto f = tn::compile([&](Tensor t) {
    ++calls;
    return function(t);
  });
  for (int i = 0; i < 3; ++i) expect_same_bits(f(x), function(x));
  EXPECT_EQ(calls, 3);
  expect_described(f, reason);
}

TEST_P(Compile, WhatReadsValuesRunsEagerly) {
  const Tensor x = numbers({2, 2}, d);
  expect_eager([](Tensor t) { return t * t.sum().item<float>(); }, x,
               "read: a value is read back, of [] float32");
  expect_eager([](Tensor t) { return t * t.to_vector<float>()[0]; }, x, "read: a value");
  expect_eager([](Tensor t) { return tn::nonzero(t); }, x,
               "nonzero: the sizes of its results depend on values");
  if (d.is_cpu()) {
    expect_eager([](Tensor t) { return t * (t + 1).data<float>()[1]; }, x,
                 "data: the host looks at the memory of [2, 2] float32 on cpu");
    expect_eager(
        [](Tensor t) {
          Tensor u = t + 1;
          u.mutable_data<float>()[0] = 3;
          return u * 1;
        },
        x, "mutable_data: the host looks at the memory of [2, 2]");
  }
}

// A number on the cpu beside tensors of a device is read anew at each replay, whatever holds it.
TEST_P(Compile, NumbersThatTensorsHoldAreReadAgain) {
  const Tensor x = numbers({2, 2}, d), held = tn::tensor(0.5, tn::float64);
  auto f = tn::compile([&](Tensor t, Tensor n) {
    const Tensor made = n * 3 + held;  // on the cpu, inside
    return std::tuple(t * held, t + n, t / made);
  });
  for (int i = 0; i < 4; ++i) {
    held.fill_(0.25 * i);
    const Tensor n = tn::tensor(float(i + 1));
    const auto [a, b, c] = f(x, n);
    expect_same_bits(a, x * held);
    expect_same_bits(b, x + n);
    expect_same_bits(c, x / (n * 3 + held));
  }
  expect_described(f, "1 recordings, 3 replays");
}

// A dynamic argument: of the kernel or of the decomposition, which hands it on.
TEST_P(Compile, DynamicArgumentsAreReadAgain) {
  const Tensor p = numbers({3}, d).to(tn::float64), q = p.clone(), g = tn::ones_like(p),
               lr = tn::tensor(0.5, tn::float64);
  const auto step = [&](const Tensor& to, tn::Float rate) {
    tn::sgd_step({to}, {g}, {}, rate, {.weight_decay = rate});
  };
  auto f = tn::compile([&] { step(p, tn::dynamic(lr)); });
  for (int i = 0; i < 4; ++i) {
    lr.fill_(0.1 * i);
    f();
    step(q, 0.1 * i);
    expect_same_bits(p, q);
  }
  expect_described(f, "1 recordings, 3 replays");
}

TEST_P(Compile, DynamicArgumentsTakeOneNumberOnTheCpu) {
  const Tensor p = numbers({3}, d);
  const auto message = [&](const Tensor& holder) {
    return message_of([&] { tn::sgd_step({p}, {p}, {}, tn::dynamic(holder)); });
  };
  EXPECT_EQ(message(tn::zeros({2}, tn::float64)),
            "sgd_step: argument 'lr' must be float, got a Tensor that stands for no such number: "
            "[2] float64 on cpu");
  EXPECT_EQ(message(tn::zeros({}, tn::float32)),
            "sgd_step: argument 'lr' must be float, got a Tensor that stands for no such number: "
            "[] float32 on cpu");
  const Tensor y = numbers({3}, d);
  EXPECT_NE(message_of([&] {
              tn::dropout(y, tn::dynamic(tn::tensor(0.5, tn::float64)), true);
            }).find("argument 'p' must be float, got Tensor"),
            std::string::npos);
}

// As a checkpointed call does: back to a state that it asked for, and then on from the last one.
TEST_P(Compile, AFunctionTakesItsRandomNumbersAgain) {
  const auto twice = [&](Tensor x) {
    const Tensor first = tn::rand_like(x);
    const tn::RandomState before = tn::random_state();
    const Tensor a = tn::dropout(x, 0.5, true) + tn::rand_like(x);
    const tn::RandomState after = tn::random_state();
    tn::set_random_state(before);
    const Tensor b = tn::dropout(x, 0.5, true);
    tn::set_random_state(after);
    return tn::stack({first, a, b, tn::rand_like(x)}, 0);
  };
  auto f = tn::compile(twice);
  const Tensor x = numbers({4}, d);
  std::vector<Tensor> expected;
  tn::manual_seed(5);
  for (int i = 0; i < 4; ++i) expected.push_back(twice(x));
  const tn::RandomState end = tn::random_state();
  tn::manual_seed(5);
  for (int i = 0; i < 4; ++i) expect_same_bits(f(x), expected[size_t(i)]);
  EXPECT_EQ(tn::random_state(), end);
  expect_described(f, "1 recordings, 3 replays");
  expect_described(f, "random: 4\n");

  const tn::RandomState outside = tn::random_state();
  expect_eager(
      [&](Tensor t) {
        tn::set_random_state(outside);
        return tn::dropout(t, 0.5, true);
      },
      x, "seed: the state of the random numbers is set");
  expect_eager(
      [](Tensor t) {
        const tn::RandomState before = tn::random_state();
        Tensor y = tn::dropout(t, 0.5, true);
        tn::set_random_state(before);  // each call begins with the same numbers
        return y;
      },
      x, "seed: the state of the random numbers is set");
}

TEST_P(Compile, OtherRefusalsSayWhy) {
  const Tensor x = numbers({3}, d), w = numbers({3}, d).requires_grad_();
  expect_eager([&](Tensor t) { return (t * w).sum(); }, x,
               "result 0 has a history, and its backward would run outside of the function");
  expect_eager(
      [](Tensor t) {
        return t.view({3, 1});
      },
      x, "result 0 shows memory that was there before the call");
  expect_eager(
      [](Tensor t) {
        tn::manual_seed(3);
        return tn::dropout(t, 0.5, true);
      },
      x, "seed: the state of the random numbers is set");
  auto f = tn::compile([](Tensor t) { return (t * 2).detach(); });
  for (int i = 0; i < 3; ++i) expect_same_bits(f(w), w.detach() * 2);
  expect_described(f, "a call ran eagerly: argument 0 asks for a gradient");
  std::vector<Tensor> kept;
  expect_eager(
      [&](Tensor t) {
        kept.push_back(t + 1);
        return t * 2;
      },
      x, "1 tensors that it made are held after the call");
}

TEST_P(Compile, ErrorsComeThroughAndLeaveNothingRecorded) {
  bool fails = true;
  auto f = tn::compile([&](Tensor x) {
    Tensor y = x + 1;
    if (fails) throw std::runtime_error("not today");
    return y * 2;
  });
  const Tensor x = numbers({3}, d);
  EXPECT_THROW(f(x), std::runtime_error);
  fails = false;
  for (int i = 0; i < 3; ++i) expect_same_bits(f(x), (x + 1) * 2);
  expect_described(f, "1 recordings, 2 replays");
  auto wrong = tn::compile([](Tensor a, Tensor b) { return a + b; });
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(message_of([&] { wrong(numbers({3}, d), numbers({4}, d)); }).find("add"),
              std::string::npos);
  }
}

// On cpu the call fails; ref's work fails behind it, and the next wait says so.
TEST_P(Compile, AReplayThatFailsInTheMiddleSaysSo) {
  const Tensor sum = tn::zeros({3}, tn::float32, d), same = sum.clone();
  const Tensor w = numbers({3}, d).requires_grad_(), v = numbers({3}, d).requires_grad_();
  const auto step = [](const Tensor& state, const Tensor& leaf, Tensor x, Tensor at) {
    tn::add_(state, x);
    leaf.zero_grad();
    (x.index_select(0, at) * leaf).sum().backward();
    return leaf.grad() * 2;
  };
  auto f = tn::compile([&](Tensor x, Tensor at) { return step(sum, w, x, at); });
  const Tensor x = numbers({3}, d), good = tn::arange(0, 3).to(d), bad = good + 1;
  const auto expect_equal = [&] {
    expect_same_bits(f(x, good), step(same, v, x, good));
    expect_same_bits(sum, same);
    expect_same_bits(w.grad(), v.grad());
  };
  expect_equal();
  expect_equal();
  for (int i = 0; i < 2; ++i) {
    const std::string message = message_of([&] {
      f(x, bad);
      d.synchronize();
    });
    EXPECT_NE(message.find("because gather: index 3"), std::string::npos) << message;
    if (d.is_cpu()) {
      EXPECT_EQ(
          message.find("a replay of the compiled function failed at call 2 of 5 (gather | cpu "
                       "gather): gradients and tensors that it writes may be partly written, "
                       "as where an eager call fails in the middle\n"),
          0u)
          << message;
    }
    EXPECT_NE(message_of([&] {
                step(same, v, x, bad);
                d.synchronize();
              }),
              "no error");
  }
  sum.copy_(same);
  expect_equal();
  const tn::NoGrad no_grad;
  expect_same_bits(tn::mul(x, 3), x + x + x);
  expect_described(f, "1 recordings, 4 replays");
}

TEST_P(Compile, FunctionsWithinFunctionsAreOne) {
  auto inner = tn::compile([](Tensor x) { return x * 2; });
  auto outer = tn::compile([&](Tensor x) { return inner(x) + inner(x + 1); });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = numbers({3}, d, i, 5);
    expect_same_bits(outer(x), x * 2 + (x + 1) * 2);
  }
  expect_described(outer, "1 recordings, 2 replays");
  expect_described(inner, "0 recordings, 0 replays");
}

TEST_P(Compile, ModesAreWaysToBeCalled) {
  const Tensor w = numbers({3}, d).requires_grad_();
  auto f = tn::compile([&](Tensor x) {
    Tensor loss = (x * w).sum();
    if (loss.requires_grad()) loss.backward();
    return loss.detach() * 1;
  });
  const Tensor x = numbers({3}, d, 2, 3);
  for (int i = 0; i < 3; ++i) {
    w.zero_grad();
    f(x);
    expect_same_bits(w.grad(), x);
    const tn::NoGrad no_grad;
    f(x);
    expect_same_bits(w.grad(), x);
  }
}

}  // namespace
