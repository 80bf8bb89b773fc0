// Whatever allocation of host memory fails while a training step is recorded, or replayed: the
// process lives, nothing leaks, the error is TN_OUT_OF_MEMORY, and the same function then gives
// what an eager step gives, and replays. Each allocation fails once; of a recording on ref every
// 7th in the default form.
#include <optional>

#include "oom_support.h"

namespace {

using Steps = tn::CompiledFunction<std::function<Tensor(Tensor, Tensor)>>;

// A training whose step is a compiled function.
struct CompiledTraining {
  Training training;
  std::optional<Steps> steps;

  CompiledTraining(Object model, Optimizer (*make)(const TensorList&), Tensor x, Tensor y,
                   tn::Device device)
      : training(model, make, x, y, device) {}

  void compile() {
    steps.emplace([this](Tensor x, Tensor y) {
      training.updating = false;
      training.optimizer.zero_grad();
      Tensor loss = tn::cross_entropy(training.model(x), y);
      loss.backward();
      training.updating = true;
      training.optimizer.step();
      return loss.detach();
    });
  }
  void work() { training.loss = (*steps)(training.x, training.y).item<double>(); }
  // Values as before the step, in the same memory: what was recorded fits.
  void reset() const {
    const tn::NoGrad no_grad;
    for (const auto& [object, saved] :
         {std::pair<Object, const NamedTensors&>(training.model, training.model_state),
          std::pair<Object, const NamedTensors&>(training.optimizer, training.optimizer_state)}) {
      const NamedTensors now = object.state_dict();
      for (size_t i = 0; i < now.size(); ++i) now[i].second.copy_(saved[i].second);
    }
    training.optimizer.zero_grad();
    training.x.device().synchronize();
  }
  // The function that failed: it records now what it had not, and replays what it has.
  std::string try_again() {
    for (int i = 0; i < 3; ++i) {
      reset();
      work();
      if (const std::string wrong = training.after_success(); !wrong.empty())
        return "call " + std::to_string(i + 1) + " of the same function: " + wrong;
    }
    return replays() > 0 ? "" : "the function stays eager: " + steps->describe();
  }
  std::string after_failure(const Outcome& outcome) {
    training.x.device().synchronize();
    const std::string wrong = training.after_failure(outcome);
    return wrong.empty() ? try_again() : wrong;
  }
  Tried tried(bool anew) {
    return {[this, anew] {
              if (anew || !steps) compile();
              reset();
            },
            [this] { work(); }, [this](const Outcome& o) { return after_failure(o); },
            [this] { return training.after_success(); }};
  }
  int replays() const {
    int n = -1;
    std::sscanf(steps->describe().c_str(), "%*d recordings, %d replays", &n);
    return n;
  }
};

CompiledTraining trained(tn::Device device, Optimizer (*make)(const TensorList&)) {
  tn::manual_seed(1);
  return {tn::nn::Sequential(tn::nn::Linear(8, 16), tn::nn::BatchNorm1d(16), tn::nn::ReLU(),
                             tn::nn::Dropout(0.0), tn::nn::Linear(16, 4)),
          make, noise({6, 8}, 1), classes(6, 4), device};
}

TEST_F(OutOfMemory, OfAnyAllocationOfARecordingLeavesTheFunctionUsable) {
  for (tn::Device device : devices()) {
    CompiledTraining training = trained(device, sgd);
    try_all("recording on " + device.type(), training.tried(/*anew=*/true),
            device.is_cpu() ? 1 : 7);
  }
}

TEST_F(OutOfMemory, OfAnyAllocationOfAReplayLeavesTheFunctionUsable) {
  for (const auto make : {sgd, adamw}) {
    for (tn::Device device : devices()) {
      CompiledTraining training = trained(device, make);
      try_all("replay on " + device.type(), training.tried(/*anew=*/false), 1);
      const std::string said = training.steps->describe();
      EXPECT_EQ(said.find("1 recordings, "), 0u) << said;
      EXPECT_GT(training.replays(), 8) << said;
    }
  }
}

}  // namespace
