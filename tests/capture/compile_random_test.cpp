// Random small functions: calls, views, writes in place, random numbers, gradients, several results.
// Each is called with other values again and again, compiled and eagerly, from the same state.
#include <random>

#include "compile_support.h"
#include "long_form.h"

namespace {

// What a function works on beside its arguments.
struct State {
  std::vector<Tensor> held;    // written in place at times
  std::vector<Tensor> leaves;  // get gradients, and are stepped at times
};

// The function of a seed: the same choices at each call.
class RandomFunction {
 public:
  explicit RandomFunction(uint32_t seed) : seed_(seed) {}

  std::array<Tensor, 3> operator()(State& state, const Tensor& x, const Tensor& y) const {
    std::mt19937 random(seed_);
    const auto below = [&](size_t n) { return size_t(random() % n); };
    std::vector<Tensor> pool{x, y};
    pool.insert(pool.end(), state.held.begin(), state.held.end());
    for (size_t i = 0, n = 3 + below(12); i < n; ++i) {
      const Tensor a = pool[below(pool.size())], b = pool[below(pool.size())];
      pool.push_back(call(below(18), below(4), a, b));
    }
    if (below(3) == 0) write(state.held[below(state.held.size())], pool, below(pool.size()));
    if (below(4) == 0) write(x, pool, below(pool.size()));
    if (below(2) == 0) train(state, pool, below(pool.size()), below(5));
    return {result(pool, below(pool.size())), result(pool, below(pool.size())),
            below(4) == 0 ? Tensor() : result(pool, below(pool.size()))};
  }

 private:
  static Tensor result(const std::vector<Tensor>& pool, size_t i) {
    return pool[i].detach() * 1.5;  // never what was there before
  }

  // All tensors of the pool are of [4, 6] again in the end, so that any two fit.
  static Tensor call(size_t op, size_t option, const Tensor& a, const Tensor& b) {
    const auto d = int64_t(option % 2);
    switch (op) {
      case 0:
        return a + b;
      case 1:
        return tn::tanh(a) * b;
      case 2:
        return tn::softmax(a, d) - b;
      case 3:
        return a.sum({d}, true) * 0.25 + b;
      case 4:
        return tn::matmul(a, tn::tanh(b).t()).matmul(b) * 0.1;
      case 5:
        return a.t().contiguous().view({4, 6}) + b;
      case 6:
        return tn::cat({a.narrow(d, 0, 2), b.narrow(d, 2, d == 0 ? 2 : 4)}, d);
      case 7:
        return tn::dropout(a, 0.25, true);
      case 8:
        return a + tn::rand_like(b);
      case 9:
        return tn::where(a > b, a, b * 0.5);
      case 10:
        return tn::relu(a.narrow(0, 1, 1)).expand({4, 6}) + b;
      case 11: {
        Tensor c = a.clone();
        Tensor row = c.narrow(0, int64_t(option), 1);
        tn::add_(row, b.narrow(0, 0, 1));
        return c;
      }
      case 12:
        return tn::cumsum(a, d) * 0.2;
      case 13:
        return tn::layer_norm(a, {6});
      case 14: {
        const auto sorted = tn::sort(a, d);
        return std::get<0>(sorted) + b;
      }
      case 15:
        return tn::tensor({0.5f, 1.5f, -1.f, 2.f, 0.f, 1.f}).to(a.device()) * a;
      case 16:
        return tn::minimum(a.to(tn::float64).exp(), b.to(tn::float64)).to(tn::float32);
      default: {
        Tensor c = tn::zeros_like(a);
        c.narrow(1, 0, 3).copy_(b.narrow(1, 3, 3));
        return c + a;
      }
    }
  }

  static void write(const Tensor& to, const std::vector<Tensor>& pool, size_t from) {
    const tn::NoGrad no_grad;
    tn::mul_(to, 0.5);
    tn::add_(to, tn::tanh(pool[from]));
  }

  static void train(State& state, const std::vector<Tensor>& pool, size_t from, size_t how) {
    if (how == 0 || how == 3) {
      for (const Tensor& w : state.leaves) w.zero_grad();
    }
    Tensor loss = (pool[from].detach() * state.leaves[0]).sum();
    loss = loss + tn::tanh(state.leaves[1]).sum() * 0.5;
    if (how != 1) loss = loss + (state.leaves[0] * state.leaves[1].sum()).mean();
    loss.backward();
    if (how < 2) return;
    const tn::NoGrad no_grad;
    for (const Tensor& w : state.leaves) tn::sub_(w, w.grad() * 0.01);
    if (how == 4) state.leaves[1].zero_grad();
  }

  uint32_t seed_;
};

Tensor numbers(uint32_t seed, tn::Device d) {
  return tn::sin(tn::arange(0, 24).to(tn::float32) * (0.7 + 0.13 * (seed % 11)) + seed)
      .view({4, 6})
      .to(d);
}

State make_state(uint32_t seed, tn::Device d) {
  State state{{numbers(seed + 1, d), numbers(seed + 2, d)}, {}};
  for (uint32_t i = 3; i < 5; ++i) state.leaves.push_back(numbers(seed + i, d).requires_grad_());
  return state;
}

void expect_same(uint32_t seed, tn::Device d, int* replays) {
  State eager = make_state(seed, d), compiled = make_state(seed, d);
  const RandomFunction function(seed);
  auto f = tn::compile([&](Tensor x, Tensor y) { return function(compiled, x, y); });
  for (uint32_t i = 0; i < 5; ++i) {
    SCOPED_TRACE("call " + std::to_string(i));
    if (i == 3 && seed % 3 == 0) {  // something happens outside
      for (State* state : {&eager, &compiled}) state->leaves[0].zero_grad();
    }
    std::array<Tensor, 2> xs, ys;
    for (size_t k = 0; k < 2; ++k) {
      xs[k] = numbers(100 + seed + i, d);
      ys[k] = seed % 5 == 0 ? xs[k] : numbers(200 + seed + i, d);
    }
    tn::manual_seed(i);
    const auto expected = function(eager, xs[0], ys[0]);
    const auto state_after = tn::rand({2}, tn::float32, d);
    tn::manual_seed(i);
    const auto found = f(xs[1], ys[1]);
    expect_same_bits(tn::rand({2}, tn::float32, d), state_after);
    for (size_t k = 0; k < 3; ++k) expect_same_bits(found[k], expected[k]);
    expect_same_bits(xs[1], xs[0]);
    for (size_t k = 0; k < 2; ++k) {
      expect_same_bits(compiled.held[k], eager.held[k]);
      expect_same_bits(compiled.leaves[k], eager.leaves[k]);
      expect_same_bits(compiled.leaves[k].grad(), eager.leaves[k].grad());
    }
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << f.describe();
  }
  const std::string said = f.describe();
  *replays += said.find(" 0 replays") == std::string::npos ? 1 : 0;
}

TEST(CompileRandom, ReplayIsEagerBitForBit) {
  load_all();
  const int count = long_form() ? 10'000 : 300;
  int replays = 0, tried = 0;
  for (const tn::Device d : devices()) {
    for (uint32_t seed = 0; seed < uint32_t(d.is_cpu() ? count : count / 10); ++seed) {
      SCOPED_TRACE(d.name() + ", seed " + std::to_string(seed));
      ASSERT_NO_FATAL_FAILURE(expect_same(seed, d, &replays));
      ++tried;
    }
  }
  EXPECT_GE(replays, tried * 9 / 10) << "of " << tried << " functions too few are replayed at all";
}

}  // namespace
