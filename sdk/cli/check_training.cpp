// tenon check: some steps of small trainings, eager and compiled, against the other device's
// losses.
#include <cmath>

#include <fmt/format.h>

#include "check.h"

namespace tenon::cli::conformance {
namespace {

constexpr int kSteps = 8;

// A training of one model: its parameters, and its loss on what it is given.
struct Model {
  const char* name;
  std::vector<Sizes> parameters;
  Sizes x;
  int64_t classes;
  Tensor (*forward)(const TensorList& p, const Tensor& x);
};

Tensor mlp_forward(const TensorList& p, const Tensor& x) {
  return linear(relu(linear(x, p[0], p[1])), p[2], p[3]);
}

Tensor cnn_forward(const TensorList& p, const Tensor& x) {
  const Tensor first = max_pool2d(relu(conv2d(x, p[0], p[1], {.padding = 1})), {2, 2});
  const Tensor second =
      relu(batch_norm(conv2d(first, p[2]), {}, {}, p[3], p[4], {.training = true}));
  return linear(second.flatten(1), p[5], p[6]);
}

Tensor attention_forward(const TensorList& p, const Tensor& tokens) {
  const Tensor x = embedding(p[0], tokens);  // [batch, time, width]
  const Tensor y = layer_norm(x, {x.size(2)}, p[1], p[2]);
  const Tensor a = scaled_dot_product_attention(linear(y, p[3]), linear(y, p[4]), linear(y, p[5]),
                                                {.is_causal = true});
  const Tensor z = x + linear(a, p[6]);
  return linear((z + gelu(linear(z, p[7]))).mean(1), p[8]);
}

std::vector<Model> models_to_train() {
  return {
      {"mlp", {{32, 16}, {32}, {10, 32}, {10}}, {24, 16}, 10, mlp_forward},
      {"cnn",
       {{4, 3, 3, 3}, {4}, {6, 4, 3, 3}, {6}, {6}, {5, 24}, {5}},
       {6, 3, 8, 8},
       5,
       cnn_forward},
      {"attention",
       {{12, 8}, {8}, {8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {4, 8}},
       {6, 7},
       4,
       attention_forward},
  };
}

std::vector<double> losses_of(const Model& model, const char* optimizer, bool is_compiled,
                              Device device, uint64_t seed) {
  Place place(device, float32, false, seed);
  TensorList parameters;
  for (const Sizes& sizes : model.parameters) {
    // Vectors are biases and scales.
    const Tensor host = Place(cpu, float32, false, place.draw()).tensor(sizes);
    const double scale = sizes.size() == 1 ? 0.5 : 1 / std::sqrt(double(sizes.back()));
    parameters.push_back(
        place.put((host * scale + (sizes.size() == 1 ? 0.5 : 0)).to(float32)).requires_grad_());
  }
  const bool is_text = std::string(model.name) == "attention";
  const Tensor x = is_text ? place.indices(model.x, 12) : place.tensor(model.x);
  const Tensor y = place.indices({model.x[0]}, model.classes);
  const optim::Optimizer steps = optim::Optimizer::create(optimizer, parameters);
  const auto step = [=](const Tensor& in, const Tensor& target) -> Tensor {
    const Tensor loss = cross_entropy(model.forward(parameters, in), target);
    steps.zero_grad();
    loss.backward();
    steps.step();
    return loss.detach();
  };
  std::vector<double> losses;
  const auto take = [&](const Tensor& loss) { losses.push_back(loss.item<double>()); };
  if (is_compiled) {
    const auto compiled = compile(step);
    for (int i = 0; i < kSteps; ++i) take(compiled(x, y));
  } else {
    for (int i = 0; i < kSteps; ++i) take(step(x, y));
  }
  return losses;
}

// What changes from one replay of a compiled step to the next: the rate, as schedules set it.
void check_rates(Checks& checks) {
  constexpr double kRates[] = {1, 1, 1, 0, 0, 0.5, 0.25, 0, 1};
  for (const char* optimizer : {"SGD", "Adam"}) {
    checks.expect(
        fmt::format("training with a rate that is set {} compiled", optimizer), [&](Place& place) {
          const Tensor w = zeros({7}, float32, place.device()).requires_grad_();
          const Tensor x = ones({7}, float32, place.device());
          const optim::Optimizer steps = optim::Optimizer::create(optimizer, {w}, kRates[0]);
          const auto step = compile([=](const Tensor& in) -> Tensor {
            const Tensor loss = (w * in).sum();
            steps.zero_grad();
            loss.backward();
            steps.step();
            return loss.detach();
          });
          // The gradient is 1, so both optimizers go down by the rate.
          double expected = 0;
          for (size_t i = 0; i < std::size(kRates); ++i) {
            steps.set_lr(kRates[i]);
            step(x);
            expected -= kRates[i];
            for (const double v : w.detach().to(cpu).to_vector<double>()) {
              if (std::fabs(v - expected) <= 1e-4) continue;
              throw Wrong(
                  fmt::format("step {} of the rate {} makes {:.7g} of {:.7g}, expected {:.7g}", i,
                              kRates[i], v, expected + kRates[i], expected));
            }
          }
        });
  }
}

// And the random numbers: those that eager calls would have taken.
void check_masks(Checks& checks) {
  checks.expect("training dropout compiled", [&](Place& place) {
    const Tensor x = ones({3, 50}, float32, place.device());
    const auto dropped = [](const Tensor& in) -> Tensor { return dropout(in, 0.5, true) * 2; };
    const auto compiled = compile(dropped);
    manual_seed(checks.settings().seed);
    TensorList expected;
    for (int i = 0; i < kSteps; ++i) expected.push_back(dropped(x).to(cpu));
    manual_seed(checks.settings().seed);
    for (int i = 0; i < kSteps; ++i) {
      const Tensor y = compiled(x).to(cpu);
      const auto k = static_cast<size_t>(i);
      if (i > 0 && equal(y, expected[k - 1]))
        throw Wrong(fmt::format("call {} has the mask of the call before it", i));
      expect_equal(y, expected[k], fmt::format("call {}, beside the eager call", i));
    }
  });
}

}  // namespace

void check_training(Checks& checks) {
  checks.begin("training");
  check_rates(checks);
  check_masks(checks);
  for (const Model& model : models_to_train()) {
    for (const char* optimizer : {"SGD", "Adam"}) {
      for (const bool is_compiled : {false, true}) {
        checks.expect(
            fmt::format("training {} {} {}", model.name, optimizer,
                        is_compiled ? "compiled" : "eager"),
            [&](Place& place) {
              const uint64_t seed = checks.settings().seed;
              const auto found = losses_of(model, optimizer, is_compiled, place.device(), seed);
              const auto expected =
                  losses_of(model, optimizer, false, checks.settings().oracle, seed);
              for (int i = 0; i < kSteps; ++i) {
                const auto k = static_cast<size_t>(i);
                // Roundings of a step grow in the next ones.
                const double bound = 1e-4 * std::fmax(1, std::fabs(expected[k]));
                if (!(std::fabs(found[k] - expected[k]) <= bound)) {
                  throw Wrong(fmt::format("the loss of step {} is {:.7g}, on {} it is {:.7g}", i,
                                          found[k], checks.settings().oracle.name(), expected[k]));
                }
              }
            });
      }
    }
  }
}

}  // namespace tenon::cli::conformance
