// Generators: sequences of random numbers of one's own, and who draws from them.
#include <thread>

#include "ops_support.h"
#include "tenon/capture.hpp"
#include "tenon/checkpoint_call.hpp"

namespace {

using Values = std::vector<float>;

Values drawn(tn::Device device = "cpu") { return tn::rand({5}, {}, device).to_vector<float>(); }
Values drawn_from(tn::Generator& generator, tn::Device device = "cpu") {
  const tn::GeneratorGuard guard(generator);
  return drawn(device);
}

class Generators : public ::testing::Test {
  void SetUp() override { load_all(); }
};

TEST_F(Generators, DrawWhatASeedOfTheProcessDraws) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    tn::manual_seed(7);
    const Values first = drawn(device), second = drawn(device);
    tn::manual_seed(3);
    const tn::RandomState before = tn::random_state();
    tn::Generator generator(7);
    EXPECT_EQ(generator.initial_seed(), 7u);
    EXPECT_EQ(drawn_from(generator, device), first);
    EXPECT_EQ(drawn_from(generator, device), second);
    EXPECT_EQ(tn::random_state(), before);  // the process' sequence stays where it was
    EXPECT_EQ(drawn_from(generator.manual_seed(7), device), first);
  }
}

TEST_F(Generators, HaveAState) {
  tn::Generator generator(7);
  drawn_from(generator);
  const tn::RandomState state = generator.get_state();
  tn::Generator copy = generator;
  const Values next = drawn_from(generator);
  EXPECT_EQ(drawn_from(copy), next);
  EXPECT_NE(drawn_from(generator), next);
  EXPECT_EQ(drawn_from(generator.set_state(state)), next);
}

TEST_F(Generators, TheInnermostGuardCounts) {
  tn::Generator outer(1), inner(2), alone(1);
  const Values first = drawn_from(alone), second = drawn_from(alone);
  const tn::GeneratorGuard guard(outer);
  EXPECT_EQ(drawn(), first);
  {
    const tn::GeneratorGuard within(inner);
    EXPECT_NE(drawn(), second);
    tn::manual_seed(1);  // of the generator that is drawn from
    EXPECT_EQ(drawn(), first);
    EXPECT_EQ(tn::random_state(), inner.get_state());
  }
  EXPECT_EQ(drawn(), second);
}

// Eight threads with the same seed, as a server has them.
TEST_F(Generators, AreOfOneThread) {
  tn::Generator one(5);
  Values expected;
  for (int i = 0; i < 20; ++i) expected = drawn_from(one);
  std::vector<Values> seen(8);
  std::vector<std::thread> threads;
  for (Values& values : seen) {
    threads.emplace_back([&values] {
      tn::Generator own(5);
      const tn::GeneratorGuard guard(own);
      for (int i = 0; i < 20; ++i) values = drawn();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Values& values : seen) EXPECT_EQ(values, expected);
}

TEST_F(Generators, CountForCompiledFunctions) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const auto noisy =
        tn::compile([device](const Tensor& x) { return x + tn::rand({5}, {}, device); });
    const Tensor zeros = tn::zeros({5}, {}, device);
    tn::Generator first(9), again(9);
    for (int i = 0; i < 4; ++i) {
      Values values;
      {
        const tn::GeneratorGuard guard(first);
        values = noisy(zeros).to_vector<float>();
      }
      EXPECT_EQ(values, drawn_from(again, device)) << i;
      EXPECT_EQ(first.get_state(), again.get_state());
    }
    const auto own = tn::compile([device](const Tensor& x) {
      tn::Generator generator(4);
      const tn::GeneratorGuard guard(generator);
      return x + tn::rand({5}, {}, device);
    });
    tn::Generator four(4);
    const Values expected = drawn_from(four, device);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(own(zeros).to_vector<float>(), expected);
    EXPECT_NE(own.describe().find("generator: another generator is made the current one"),
              std::string::npos)
        << own.describe();
  }
}

// A compiled function that opens a guard runs eagerly, also where the generator has the seed of the
// process and goes on between calls.
TEST_F(Generators, OfCompiledFunctionsGoOn) {
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const auto drawn_by = [device](bool is_compiled) {
      tn::manual_seed(0);
      tn::Generator own(0);
      const auto f = [&own, device](const Tensor& x) {
        Tensor aside;
        {
          tn::Generator fork(tn::random_state());
          const tn::GeneratorGuard guard(fork);
          aside = tn::rand({5}, {}, device);
        }
        const tn::GeneratorGuard guard(own);
        return x + aside + tn::rand({5}, {}, device);
      };
      const auto compiled = tn::compile(f);
      const Tensor zeros = tn::zeros({5}, {}, device);
      Values values;
      for (int i = 0; i < 5; ++i) {
        const Values more = (is_compiled ? compiled(zeros) : f(zeros)).template to_vector<float>();
        values.insert(values.end(), more.begin(), more.end());
        drawn(device);
      }
      return values;
    };
    EXPECT_EQ(drawn_by(true), drawn_by(false));
  }
}

// Backward repeats the dropout of a checkpointed part with the numbers that forward had.
TEST_F(Generators, AreRepeatedByCheckpoints) {
  const auto gradient = [](bool is_checkpointed) {
    tn::Generator generator(11);
    Tensor x = tn::ones({64}).requires_grad_(), y;
    const auto part = [](const Tensor& t) { return tn::dropout(t * t, 0.5); };
    {
      const tn::GeneratorGuard guard(generator);
      y = is_checkpointed ? tn::checkpoint_call(part, x) : part(x);
    }
    y.sum().backward();
    return x.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

}  // namespace
