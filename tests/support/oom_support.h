// For oom_test: a piece of work that is tried with each of its allocations failing, training steps
// as such work, and small networks to train.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <tenon/nn.hpp>
#include <tenon/optim.hpp>

#include "failing_memory.h"
#include "long_form.h"
#include "ops_support.h"

namespace {

using tn::NamedTensors;
using tn::Object;
using tn::optim::Optimizer;
using TensorList = std::vector<Tensor>;

// Where the process is, for whoever reads how it died.
char place[160] = "";
void say_where(int signal) {
  std::fprintf(stderr, "died of signal %d at %s\n", signal, place);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// What one try came to.
struct Outcome {
  tn_code code = TN_OK;
  std::string message;
};

template <typename F>
Outcome outcome_of(const F& f) {
  try {
    f();
    return {};
  } catch (const tn::Error& e) {
    failing_memory::disarm();
    return {e.code(), e.what()};
  } catch (const std::bad_alloc&) {
    failing_memory::disarm();
    return {TN_OUT_OF_MEMORY, "std::bad_alloc"};
  } catch (const std::exception& e) {
    failing_memory::disarm();
    return {TN_EXCEPTION, std::string("another exception: ") + e.what()};
  }
}

struct Tried {
  // Begins anew: everything as before the first try.
  std::function<void()> reset;
  std::function<void()> work;
  // After a failure, before reset: "" or what is wrong.
  std::function<std::string(const Outcome&)> after_failure;
  // After work that succeeded: "" or what is wrong.
  std::function<std::string()> after_success;
};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

uint64_t live_bytes(tn::Device device) { return device.memory_stats().allocated; }

class OutOfMemory : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TENON_SANITIZE
    GTEST_SKIP() << "the sanitizer's allocator cannot be replaced";
#endif
    devices();
    std::signal(SIGABRT, say_where);
    std::signal(SIGSEGV, say_where);
  }

  // One try in which allocation `n` fails, and `count` in all.
  Outcome fail_once(const std::function<void()>& work, uint64_t n, uint64_t count,
                    uint64_t* total) {
    failing_memory::arm(n, count);
    Outcome outcome = outcome_of(work);
    *total = failing_memory::disarm();
    return outcome;
  }
  // Without failure; what it allocates counts as Tenon's.
  Outcome watched(const std::function<void()>& work) {
    uint64_t ignored = 0;
    return fail_once(work, failing_memory::kNever, 0, &ignored);
  }

  void try_all(const std::string& name, const Tried& tried, uint64_t step, uint64_t count = 1) {
    if (long_form()) step = 1;
    step = number_from("TENON_OOM_STEP", step);
    uint64_t total = 0;
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(watched(tried.reset).code, TN_OK);
      const Outcome warm = fail_once(tried.work, failing_memory::kNever, 0, &total);
      ASSERT_EQ(warm.code, TN_OK) << warm.message;
      ASSERT_EQ(tried.after_success(), "");
    }
    ASSERT_EQ(watched(tried.reset).code, TN_OK);
    const uint64_t before[2] = {live_bytes(devices().front()), live_bytes(devices().back())};
    uint64_t live = failing_memory::n_live();
    uint64_t failures = 0;
    for (uint64_t n = number_from("TENON_OOM_FIRST", 0); n < total; n += step) {
      std::snprintf(place, sizeof place, "%s, allocation %zu of %zu", name.c_str(), size_t(n),
                    size_t(total));
      // Pools and caches may have grown by a try; by the same one again they do not grow, but for a pool
      // of buffers that a slow stream still reads, one for each copy of the work at most.
      for (int repetition = 0;; ++repetition) {
        failing_memory::mark();
        uint64_t ignored = 0;
        const Outcome outcome = fail_once(tried.work, n, count, &ignored);
        if (!failing_memory::failed()) break;
        ++failures;
        const std::string where = std::string(place) + "\n  at " + failing_memory::last_failure();
        if (outcome.code != TN_OK) {  // some can be done without
          EXPECT_EQ(outcome.code, TN_OUT_OF_MEMORY) << outcome.message << "\n  in " << where;
          EXPECT_EQ(tried.after_failure(outcome), "") << outcome.message << "\n  in " << where;
        } else {
          EXPECT_EQ(tried.after_success(), "") << "  in " << where;
        }
        EXPECT_EQ(watched(tried.reset).code, TN_OK) << "  after " << where;
        const Outcome again = watched(tried.work);
        EXPECT_EQ(again.code, TN_OK) << again.message << "\n  after " << where;
        EXPECT_EQ(tried.after_success(), "") << "  after " << where;
        EXPECT_EQ(watched(tried.reset).code, TN_OK) << "  after " << where;
        EXPECT_EQ(live_bytes(devices().front()), before[0])
            << "memory of tensors on cpu\n  after " << where;
        EXPECT_EQ(live_bytes(devices().back()), before[1])
            << "memory of tensors on ref\n  after " << where;
        // What a stream's thread is still at would count as leaked.
        for (const tn::Device& d : devices()) d.synchronize();
        const uint64_t now = failing_memory::n_live();
        if (now <= live) break;
        const uint64_t more = now - live;
        live = now;
        if (repetition == 24) {
          ADD_FAILURE() << more << " allocations leaked again and again\n  after " << where << "\n"
                        << failing_memory::live_since_mark();
          break;
        }
      }
    }
    RecordProperty("failures", std::to_string(failures));
    std::printf("  %s: %zu allocations, %zu failed\n", name.c_str(), size_t(total),
                size_t(failures));
  }
};

// ---- Training steps

std::vector<std::vector<double>> values_of(const NamedTensors& state) {
  std::vector<std::vector<double>> values;
  for (const auto& [name, tensor] : state)
    values.push_back(tensor.defined() ? tensor.to_vector<double>() : std::vector<double>());
  return values;
}

struct Training {
  Object model;
  Optimizer optimizer;
  Tensor x, y;
  NamedTensors model_state, optimizer_state;  // before the step
  std::vector<std::vector<double>> before, expected;
  double expected_loss = 0, loss = 0;
  bool updating = false;

  Training(Object m, const std::function<Optimizer(const TensorList&)>& make, Tensor input,
           Tensor target, tn::Device device)
      : model(m) {
    model.to(device);
    optimizer = make(model.parameters());
    x = input.to(device);
    y = target.to(device);
    for (int i = 0; i < 2; ++i) work();
    model_state = copy_of(model.state_dict());
    optimizer_state = copy_of(optimizer.state_dict());
    before = values_of(model.state_dict());
    work();
    expected = values_of(model.state_dict());
    expected_loss = loss;
  }
  static NamedTensors copy_of(NamedTensors state) {
    for (auto& [name, tensor] : state) tensor = tensor.clone();
    return state;
  }

  void work() {
    updating = false;
    optimizer.zero_grad();
    Tensor result = tn::cross_entropy(model(x), y);
    result.backward();
    updating = true;
    optimizer.step();
    loss = result.item<double>();
  }
  void reset() {
    x.device().synchronize();
    model.load_state_dict(model_state);
    optimizer.load_state_dict(optimizer_state);
    optimizer.zero_grad();
    x.device().synchronize();
  }
  std::string after_failure(const Outcome& outcome) {
    const auto now = values_of(model.state_dict());
    if (now == expected) return "";  // reading the loss behind a whole step failed
    size_t last = 0;                 // of the parameters that changed, counted from 1
    const auto parameters = model.named_parameters();
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] == before[i]) continue;
      if (std::any_of(now[i].begin(), now[i].end(), [](double v) { return std::isnan(v); }))
        return "NaN in " + model_state[i].first;
      for (size_t p = 0; p < parameters.size(); ++p) {  // all else are running values of a norm
        if (parameters[p].first == model_state[i].first) last = std::max(last, p + 1);
      }
    }
    if (last == 0) return "";
    if (!updating) return "parameters changed before the optimizer's step";
    const size_t end =
        outcome.message.find(" of " + std::to_string(parameters.size()) + " params were updated");
    const size_t begin = end == std::string::npos ? end : outcome.message.rfind(' ', end - 1);
    if (begin == std::string::npos) return "parameters changed, and the error does not say so";
    if (std::stoul(outcome.message.substr(begin)) < last)
      return "more parameters changed than the error says";
    return "";
  }
  std::string after_success() {
    if (loss != expected_loss)
      return "the loss is " + std::to_string(loss) + ", expected " + std::to_string(expected_loss);
    return values_of(model.state_dict()) == expected
               ? ""
               : "the parameters are not those of a step without failure";
  }
  Tried tried() {
    return {[this] { reset(); }, [this] { work(); },
            [this](const Outcome& o) { return after_failure(o); },
            [this] { return after_success(); }};
  }
};

Tensor noise(std::vector<int64_t> sizes, uint32_t seed) {
  Tensor t = Tensor::empty(sizes);
  float* values = t.mutable_data<float>();
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < t.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = float(state >> 8) / float(1 << 23) - 1;
  }
  return t;
}
[[maybe_unused]] Tensor classes(int64_t n, int64_t most) {
  Tensor t = Tensor::empty({n}, tn::int64);
  for (int64_t i = 0; i < n; ++i) t.mutable_data<int64_t>()[i] = i * 7 % most;
  return t;
}

[[maybe_unused]] Object mlp() {
  return tn::nn::Sequential(tn::nn::Linear(8, 16), tn::nn::ReLU(), tn::nn::Linear(16, 16),
                            tn::nn::Tanh(), tn::nn::Linear(16, 4));
}
[[maybe_unused]] Optimizer adamw(const TensorList& parameters) {
  return tn::optim::AdamW(parameters, {.lr = 1e-2});
}
[[maybe_unused]] Optimizer sgd(const TensorList& parameters) {
  return tn::optim::SGD(parameters, {.lr = 1e-2, .momentum = 0.9});
}

[[maybe_unused]] Object cnn() {
  return tn::nn::Sequential(tn::nn::Conv2d(3, 8, 3), tn::nn::BatchNorm2d(8), tn::nn::ReLU(),
                            tn::nn::MaxPool2d(2), tn::nn::Conv2d(8, 8, 3), tn::nn::ReLU(),
                            tn::nn::Flatten(), tn::nn::Linear(8 * 3 * 3, 4));
}

}  // namespace
