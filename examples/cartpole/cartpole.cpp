// REINFORCE (Williams, 1992) learns to balance a pole on a cart. The cart is pushed to the left or to
// the right every 0.02 s; an episode ends when the pole leans more than 12 degrees, when the cart is
// 2.4 m from the middle, or after 500 pushes. It prints the mean number of pushes of an episode.
//
//   cartpole [--small]
#include <cstdio>
#include <cstring>
#include <numbers>
#include <tenon/tenon.hpp>
namespace tn = tenon;
using tn::Tensor;

constexpr int kLongest = 500;

// So many carts side by side. The motion is that of Barto, Sutton & Anderson, "Neuronlike adaptive
// elements that can solve difficult learning control problems" (1983), without friction, in steps of
// Euler's; the numbers are those of the paper and of Gymnasium's CartPole-v1.
struct Carts {
  Tensor state;  // [n, 4]: place in m, speed, angle from upright, speed of the angle

  explicit Carts(int64_t n) : state(tn::uniform({n, 4}, -0.05, 0.05)) {}
  // Pushes each cart to the left where the action is 0, else to the right.
  void push(const Tensor& action) {
    const double gravity = 9.8, cart = 1.0, pole = 0.1, half_length = 0.5, newton = 10, dt = 0.02;
    const double mass = cart + pole, moment = pole * half_length;
    const auto [x, v, angle, turn] = tn::unbind<4>(state, 1);
    const Tensor force = tn::where(action == 1, newton, -newton);
    const Tensor sine = angle.sin(), cosine = angle.cos();
    const Tensor pushed = (force + moment * turn.square() * sine) / mass;
    const Tensor bend = (gravity * sine - cosine * pushed) /
                        (half_length * (4.0 / 3 - pole * cosine.square() / mass));
    const Tensor speed_up = pushed - moment * bend * cosine / mass;
    state = tn::stack({x + dt * v, v + dt * speed_up, angle + dt * turn, turn + dt * bend}, 1);
  }
  Tensor stands() const {  // [n] bool
    const double limit = 12 * std::numbers::pi / 180;
    return (state.select(1, 0).abs() < 2.4) & (state.select(1, 2).abs() < limit);
  }
};

struct Episodes {
  Tensor states, actions, alive;  // [t, n, 4], [t, n], [t, n]: whether the push still counted
};

Episodes play(const tn::Object& policy, int64_t n) {
  const tn::NoGrad off;
  Carts carts(n);
  std::vector<Tensor> states, actions, alive;
  Tensor standing = carts.stands();
  for (int t = 0; t < kLongest && tn::any(standing).item<bool>(); ++t) {
    states.push_back(carts.state);
    alive.push_back(standing);
    actions.push_back(policy(carts.state).softmax(-1).multinomial(1).squeeze(1));
    carts.push(actions.back());
    standing = standing & carts.stands();
  }
  return {tn::stack(states), tn::stack(actions), tn::stack(alive).to(tn::float32)};
}

// The sum of the rewards from each push on, each later one times 0.99 once more: [t, n].
Tensor returns(const Tensor& rewards) {
  Tensor sum = tn::zeros_like(rewards[0]);
  std::vector<Tensor> list(size_t(rewards.size(0)));
  for (int64_t t = rewards.size(0) - 1; t >= 0; --t) {
    sum = rewards[t] + 0.99 * sum;
    list[size_t(t)] = sum;
  }
  return tn::stack(list);
}

int main(int argc, char** argv) {
  tn::load_plugins();
  tn::manual_seed(0);
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  auto policy = tn::nn::Sequential(tn::nn::Linear(4, 64), tn::nn::Tanh(), tn::nn::Linear(64, 2));
  auto optimizer = tn::optim::Adam(policy.parameters(), {.lr = 1e-2});
  for (int update = 0; update <= (small ? 20 : 100); ++update) {
    const Episodes played = play(policy, 32);
    const double pushes = played.alive.sum().item<double>() / 32;
    if (update == 0) std::printf("pushes_before %.1f\n", pushes);
    if (update % 10 == 0) std::printf("update %d: %.1f pushes\n", update, pushes);
    // Pushes that led to more than the mean are made likelier, others less likely.
    const Tensor gain = returns(played.alive), count = played.alive.sum();
    const Tensor mean = (gain * played.alive).sum() / count;
    const Tensor centred = (gain - mean) * played.alive;
    const Tensor advantage = centred / ((centred.square().sum() / count).sqrt() + 1e-6);
    const Tensor log_p = policy(played.states).log_softmax(-1);
    const Tensor chosen = log_p.gather(-1, played.actions.unsqueeze(-1)).squeeze(-1);
    optimizer.zero_grad();
    (-(chosen * advantage).sum() / count).backward();
    optimizer.step();
  }
  std::printf("pushes_after %.1f\n", play(policy, 100).alive.sum().item<double>() / 100);
}
