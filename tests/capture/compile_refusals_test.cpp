// Why a compiled function runs eagerly: each reason happens, is the one that the page
// docs/capture.md lists, and leaves the results what they are eagerly. Reasons of reading values and
// of results are in compile_test. At the end what looks at values eagerly, and does not when recorded.
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "compile_support.h"

namespace {

Tensor numbers(tn::Ints sizes, tn::Device d) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return tn::linspace(-1, 1, n, tn::float32, d).view(sizes);
}

using Function = std::function<Tensor(Tensor)>;
using Between = std::function<void()>;

class CompileRefusals : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    load_all();
    d = tn::Device(GetParam());
  }
  // `between` is done before each call. The same values as without compiling, from `make`'s state.
  void expect_eager(const std::function<Function(Between* between)>& make,
                    const std::string& reason) const {
    Between before_plain = [] {}, before = [] {};
    const Function plain = make(&before_plain);
    int calls = 0;
    const Function counted = make(&before);
    auto f = tn::compile([&](Tensor x) {
      ++calls;
      return counted(x);
    });
    for (int i = 0; i < 3; ++i) {
      const Tensor x = numbers({4}, d) + i, same = numbers({4}, d) + i;
      before_plain();
      before();
      expect_same_bits(f(x), plain(same));
    }
    EXPECT_EQ(calls, 3);
    expect_described(f, "eagerly: " + reason);
  }
  void expect_eager(const Function& f, const std::string& reason) const {
    expect_eager([&](Between*) { return f; }, reason);
  }
  Tensor leaf() const { return numbers({4}, d).requires_grad_(); }
  tn::Device d{};
};
INSTANTIATE_TEST_SUITE_P(Devices, CompileRefusals, ::testing::Values("cpu", second_device()));

TEST_P(CompileRefusals, OfArguments) {
  expect_eager(
      [](Tensor x) {
        x.requires_grad_();
        return (x * 2).detach();
      },
      "an argument gets a gradient or a history");
  expect_eager(
      [](Between*) -> Function {
        auto kept = std::make_shared<std::vector<Tensor>>();
        return [kept](Tensor x) {
          kept->push_back(x);
          return x * 2;
        };
      },
      "an argument is held after the call");
  expect_eager([](Tensor x) { return tn::as_strided(x, {2}, {2}, 1) * 2; },
               "as_strided: counts from the beginning of the memory that an argument lies in");
  // The tensor that it holds is its argument.
  const Tensor held = numbers({4}, d);
  auto f = tn::compile([&](Tensor x) { return x * held; });
  for (int i = 0; i < 3; ++i) expect_same_bits(f(held), held * held);
  expect_described(
      f, "eagerly: an argument or a gradient shares memory with another tensor of the function");
}

TEST_P(CompileRefusals, OfMemoryThatNoCallWrote) {
  expect_eager(
      [this](Tensor x) {
        Tensor made;
        std::thread([&] { made = tn::ones({4}, tn::float32, d); }).join();
        return x * made;
      },
      "memory of its own was made on another thread, or by the host");
  if (!d.is_cpu()) return;
  expect_eager(
      [](Tensor x) {
        const Tensor t = Tensor::empty({4});
        std::fill_n(static_cast<float*>(t.get()->data), 4, 3.f);  // behind the host's back
        return x * t;
      },
      "mul: reads values that no recorded call wrote");
}

TEST_P(CompileRefusals, OfGradients) {
  expect_eager(
      [this](Between* between) -> Function {
        const Tensor w = leaf();
        auto y = std::make_shared<Tensor>();
        *between = [=] { *y = w * 2; };
        return [=](Tensor x) {
          y->backward(x);
          return w.grad() * 1;
        };
      },
      "backward: goes through calls from before the function");
  expect_eager(
      [this](Between*) -> Function {
        const Tensor w = leaf(), other = numbers({4}, d);
        return [=](Tensor x) {
          w.set_grad(other);
          return x * 2;
        };
      },
      "a gradient that it leaves was not made by recorded calls alone");
  expect_eager(
      [this](Between*) -> Function {
        const Tensor w = leaf();
        return [=](Tensor x) {
          w.set_grad(x);
          return x * 2;
        };
      },
      "a gradient that it leaves was not made by recorded calls alone");
  expect_eager(
      [this](Between* between) -> Function {
        const Tensor w = leaf(), held = numbers({4}, d);
        *between = [=] { w.set_grad(held); };
        return [=](Tensor x) {
          const Tensor y = held * x;
          (w * x).sum().backward();
          return y;
        };
      },
      "a gradient that was there shares memory with another tensor of the function");
  expect_eager(
      [this](Tensor x) {
        const Tensor w = leaf();
        const Tensor y = w * x;
        y.retain_grad();
        y.sum().backward();
        return y.grad() * 1;
      },
      "retain_grad: no replay keeps a gradient of a non-leaf");
  expect_eager(
      [this](Between*) -> Function {
        const Tensor table = numbers({4, 1}, d).requires_grad_(),
                     index = tn::zeros({2}, tn::int64, d);
        return [=](Tensor x) {  // adds to what the call before left
          tn::sum(tn::embedding(table, index, {}, true)).backward();
          return x * 2;
        };
      },
      "a gradient that");
}

TEST_P(CompileRefusals, OfResults) {
  expect_eager([](Tensor x) { return (x * 2).requires_grad_(); },
               "result 0 is a leaf that asks for a gradient");
}

TEST_P(CompileRefusals, OfChangesWhileItRuns) {
  expect_eager(
      [this](Between*) -> Function {
        const Tensor w = leaf();
        return [=](Tensor x) {
          const Tensor y = (w * x).detach();
          w.requires_grad_(!w.requires_grad());
          return y;
        };
      },
      "requires_grad, the history, the device or a hook of a tensor was changed meanwhile");
  expect_eager(
      [this](Between*) -> Function {
        const Tensor w = leaf();
        const auto optimizer = tn::optim::SGD({w}, {.lr = 0.5, .momentum = 0.5});
        return [=](Tensor x) {
          optimizer.zero_grad();
          (w * x).sum().backward();
          optimizer.set_option("momentum", 0.25);
          optimizer.step();
          return w.detach() * 1;
        };
      },
      "an object that it uses was changed by the call: state of an optimizer, an option");
  expect_eager(
      [](Tensor x) {
        tn::manual_seed(3);
        return x * 2;
      },
      "seed: the state of the random numbers is set");
  if (d.is_cpu()) return;
  expect_eager(
      [this](Between*) -> Function {
        auto stream = std::make_shared<tn::Stream>(d);
        return [=](Tensor x) {
          const tn::StreamGuard on(*stream);
          return x * 2;
        };
      },
      "stream: another stream is made the current one");
}

TEST_P(CompileRefusals, OfCodeOfTheHost) {
  expect_eager(
      [this](Between*) -> Function {
        const Tensor w = leaf();
        w.register_hook([](const Tensor& grad) { return grad * 2; });
        return [=](Tensor x) {
          w.zero_grad();
          (w * x).sum().backward();
          return w.grad() * 1;
        };
      },
      "backward: a gradient hook runs code of the host");
  expect_eager(
      [](Between*) -> Function {
        const tn::Object layer = tn::nn::ReLU();
        layer.register_forward_hook([](const tn::Object&, const Tensor&, const Tensor&) {});
        return [=](Tensor x) { return layer(x); };
      },
      "ReLU: a hook runs code of the host");
  expect_eager(
      [this](Between*) -> Function {
        const Tensor w = leaf();
        const tn::optim::Optimizer sgd = tn::optim::SGD({w}, {.lr = 0.1});
        sgd.register_step_pre_hook([] {});
        return [=](Tensor x) {
          sgd.zero_grad();
          (w * x).sum().backward();
          sgd.step();
          return w * 1;
        };
      },
      "SGD: a hook runs code of the host");
}

// A decomposition that takes a dynamic number as a number, and a gradient that keeps one.
TEST_P(CompileRefusals, OfNumbersThatAreReadFromTensors) {
  tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                  "/tests/face_plugins/libface_plugin.so");
  const Tensor by = tn::tensor(0.5, tn::float64), w = leaf();
  const auto called = [by](const char* op) {
    return [=](Tensor x) { return tn::call(tn::OpRef(op), x, tn::dynamic(by)); };
  };
  expect_eager(called("face_plugin.shifted"), "read: a value is read back, of [] float64 on cpu");
  if (d.is_cpu()) {
    expect_eager(
        [=](Tensor x) {
          w.zero_grad();
          (called("face_plugin.raised")(w) * x).sum().backward();
          return w.grad() * 1;
        },
        "raised: a number is read from its tensor for the gradient");
  }
  if (d.type() != "ref") return;  // the others have a kernel
  expect_eager(
      [this](Between*) -> Function {
        const Tensor p = numbers({4}, d), m = tn::zeros_like(p), v = tn::zeros_like(p),
                     beta = tn::tensor(0.5, tn::float64);
        return [=](Tensor x) {
          tn::adam_step({p}, {x}, {m}, {v}, 0.1, 3, {.beta1 = tn::dynamic(beta)});
          return p * 1;
        };
      },
      "read: a value is read back, of [] float64 on cpu");
}

// Eager calls on the cpu look at values to refuse wrong ones; no replay would, and no recording does.
template <typename F>
void expect_replays(F function, const Tensor& x) {
  tn::manual_seed(1);
  std::vector<Tensor> eager;
  for (int i = 0; i < 3; ++i) eager.push_back(function(x + 0.1 * i));
  tn::manual_seed(1);
  auto f = tn::compile(function);
  for (int i = 0; i < 3; ++i) expect_same_bits(f(x + 0.1 * i), eager[size_t(i)]);
  expect_described(f, "1 recordings, 2 replays");
}

TEST_P(CompileRefusals, ValuesAreNotCheckedInARecording) {
  const Tensor x = numbers({3, 2}, d) * 0.3 + 0.4, half = tn::full({3, 2}, 0.5, tn::float32, d);
  expect_replays([&](Tensor p) { return tn::binary_cross_entropy(p, half); }, x);
  expect_replays([](Tensor p) { return tn::bernoulli(p); }, x);
  expect_replays([](Tensor p) { return tn::multinomial(p, 4, true); }, x);
  expect_replays([&](Tensor var) { return tn::gaussian_nll_loss(half, half * 2, var); }, x);
  expect_replays([&](Tensor t) { return tn::quantile(t, half.select(1, 0)); }, x);
  const Tensor index = tn::tensor({2, 0, 1}).to(d), offsets = tn::tensor({0, 1}).to(d);
  expect_replays([&](Tensor t) { return tn::embedding_bag(t, index, offsets); }, x);
  const Tensor labels = tn::tensor({{1}, {0}}).to(d), of_inputs = tn::tensor({3, 3}).to(d),
               of_labels = tn::tensor({1, 1}).to(d);
  expect_replays(
      [&](Tensor t) {
        const Tensor all = tn::log_softmax(t.unsqueeze(2).expand({3, 2, 4}) * 1, 2);
        return tn::ctc_loss(all, labels, of_inputs, of_labels, {.blank = 3});
      },
      x);
  if (!d.is_cpu()) return;
  EXPECT_EQ(message_of([&] { tn::bernoulli(x + 2); }),
            "bernoulli: an element of p is not within 0 to 1");
}

// Without momentum: how many there were is not read.
TEST_P(CompileRefusals, BatchNormHasTheMeansOfAllBatches) {
  const tn::Object eager = tn::nn::BatchNorm1d(2, {.momentum = std::nullopt}).to(d),
                   held = tn::nn::BatchNorm1d(2, {.momentum = std::nullopt}).to(d);
  auto f = tn::compile([&](Tensor t) { return held(t).detach(); });
  for (int i = 0; i < 4; ++i) {
    const Tensor x = numbers({3, 2}, d) * (1 + 0.5 * i) + i;
    expect_same_bits(f(x), eager(x).detach());
    for (const char* name : {"running_mean", "running_var", "num_batches_tracked"})
      expect_same_bits(held.tensor(name), eager.tensor(name));
  }
  expect_described(f, "1 recordings, 3 replays");
}

}  // namespace
