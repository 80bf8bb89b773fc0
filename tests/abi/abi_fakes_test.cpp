// The trial of the ABI on paper: what cuDNN, oneDNN, CUDA graphs and memory without addresses would
// ask of it, by fakes of them (tests/abi/fakes). docs/abi_trial.md tells what was learnt.
#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "ops_support.h"

namespace {

using tn::Device;

std::string library() {
  return std::string(std::getenv("TENON_BUILD_DIR")) + "/tests/abi_fakes/libabi_fakes.so";
}

// A variable or function that the plugin exports.
template <typename T>
T& exported(const char* name) {
  void* found = ::dlsym(::dlopen(library().c_str(), RTLD_NOW | RTLD_NOLOAD), name);
  if (!found) throw std::runtime_error(std::string("the plugin does not export ") + name);
  return *static_cast<T*>(found);
}

struct Fakes : testing::Test {
  static void SetUpTestSuite() {
    load_all();
    tn::load_plugin(library());
  }
  void SetUp() override { exported<int>("fakes_pairs_refuse") = 0; }

  static int privates() { return exported<int>("fakes_privates"); }
  static int backwards() { return exported<int>("fakes_backwards"); }
  static uint64_t wanted() { return exported<uint64_t>("fakes_wanted"); }
};

TensorList moved(const TensorList& list, Device device) {
  TensorList there;
  for (const Tensor& t : list) there.push_back(t.to(device).detach().requires_grad_());
  return there;
}
void expect_same(const Tensor& a, const Tensor& b, double tolerance = 1e-12) {
  ASSERT_EQ(a.defined(), b.defined());
  if (a.defined()) expect_near(a, b.to_vector<double>(), tolerance);
}

// ---- Kernel pairs
// --------------------------------------------------------------------------------

Tensor fake_conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride = 1) {
  return tn::call("fakes.conv1d", x, weight, bias, stride);
}

TEST_F(Fakes, ConvolutionOfPairAndMeaning) {
  const TensorList in = {sample({2, 3, 7}), sample({4, 3, 3}, {}, 1), sample({4}, {}, 2)};
  // By hand: the first output of ones is the sum of the first window and the bias.
  expect_near(fake_conv1d(tn::ones({1, 2, 3}, tn::float64), tn::ones({1, 2, 2}, tn::float64),
                          float64_tensor({0.5}, {1})),
              {4.5, 4.5});
  for (const char* name : {"cpu", "tape"}) {
    SCOPED_TRACE(name);
    exported<int>("fakes_pairs_refuse") = 1;
    TensorList x = moved(in, tn::cpu);
    Tensor expected = fake_conv1d(x[0], x[1], x[2], 2), g = sample({2, 4, 3}, {}, 3);
    expected.backward(g);
    exported<int>("fakes_pairs_refuse") = 0;
    TensorList there = moved(in, name);
    const int before = backwards();
    Tensor y = fake_conv1d(there[0], there[1], there[2], 2);
    expect_same(y, expected);
    y.backward(g.to(Device(name)));
    EXPECT_EQ(backwards(), before + 1);
    for (int i = 0; i < 3; ++i) expect_same(there[i].grad(), x[i].grad());
  }
}

TEST_F(Fakes, PrivateOutputsAreMadeOnlyForAGradient) {
  Tensor x = sample({1, 1, 4}), weight = sample({1, 1, 2}, {}, 1);
  const int before = privates();
  fake_conv1d(x, weight, {});
  EXPECT_EQ(privates(), before);
  weight.requires_grad_();
  Tensor y = fake_conv1d(x, weight, {});
  EXPECT_EQ(privates(), before + 1);
  {
    tn::NoGrad no_grad;
    fake_conv1d(x, weight, {});
  }
  EXPECT_EQ(privates(), before + 1);
}

TEST_F(Fakes, BackwardGetsTheMaskOfWantedGradients) {
  Tensor x = sample({1, 2, 4}), weight = sample({1, 2, 2}, {}, 1), bias = sample({1}, {}, 2);
  const TensorList all = {x, weight, bias};
  for (uint32_t mask = 1; mask < 8; ++mask) {
    TensorList in;
    for (uint32_t i = 0; i < 3; ++i)
      in.push_back(all[i].detach().requires_grad_((mask >> i & 1) != 0));
    fake_conv1d(in[0], in[1], in[2]).sum().backward();
    EXPECT_EQ(wanted(), mask);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(in[i].grad().defined(), (mask >> i & 1) != 0);
  }
  // An argument that is None is no tensor of the call: the mask is of two.
  Tensor w = weight.detach().requires_grad_();
  fake_conv1d(x, w, {}).sum().backward();
  EXPECT_EQ(wanted(), 2u);
}

TEST_F(Fakes, SecondGradientsGoThroughTheMeaning) {
  gradcheck([](const TensorList& in) { return fake_conv1d(in[0], in[1], in[2], 2); },
            {sample({1, 2, 5}), sample({2, 2, 3}, {}, 1), sample({2}, {}, 2)});
  gradcheck(
      [](const TensorList& in) {
        auto [y, last] = tn::call<std::tuple<Tensor, Tensor>>("fakes.rnn", in[0], in[1],
                                                              TensorList{in[2], in[3], in[4]});
        return y.sum() + (last * last).sum();
      },
      {sample({3, 2, 2}), sample({1, 2, 2}, {}, 1), sample({2, 2}, {}, 2), sample({2, 2}, {}, 3),
       sample({2}, {}, 4)});
}

// A pair's backward only reads what was saved.
TEST_F(Fakes, BackwardMayBeCalledAgain) {
  Tensor x = sample({1, 1, 4}).requires_grad_(), weight = sample({1, 1, 2}, {}, 1);
  Tensor y = fake_conv1d(x, weight, {}).sum();
  y.backward({}, /*retain_graph=*/true);
  Tensor once = x.grad().clone();
  y.backward();
  expect_same(x.grad(), once * 2);
  expect_error([&] { y.backward(); }, "retain_graph");
}

// What the backward does not read is not kept: x may be changed in place, the weight may not.
TEST_F(Fakes, OnlyWhatThePairSavesIsHeld) {
  Tensor x = sample({1, 1, 4}), weight = sample({1, 1, 2}, {}, 1).requires_grad_();
  Tensor y = fake_conv1d(x, weight, {});
  const std::vector<double> at = x.to_vector<double>();
  x.zero_();
  y.sum().backward();
  expect_near(weight.grad(), {at[0] + at[1] + at[2], at[1] + at[2] + at[3]});
  y = fake_conv1d(x.requires_grad_(), weight, {});
  {
    tn::NoGrad no_grad;
    weight *= 2;
  }
  expect_error([&] { y.sum().backward(); }, "conv1d");
}

struct Rnn {
  Tensor x, h0;
  TensorList weights;
};
Rnn rnn_of(int64_t layers, Device device) {
  Rnn r{sample({4, 2, 3}), sample({layers, 2, 5}, {}, 1), {}};
  for (int64_t l = 0; l < layers; ++l) {
    r.weights.push_back(sample({5, l == 0 ? 3 : 5}, {}, 2 + double(l)) * 0.5);
    r.weights.push_back(sample({5, 5}, {}, 3 + double(l)) * 0.5);
    r.weights.push_back(sample({5}, {}, 4 + double(l)));
  }
  r.weights = moved(r.weights, device);
  r.x = moved({r.x}, device)[0];
  r.h0 = moved({r.h0}, device)[0];
  return r;
}
std::tuple<Tensor, Tensor> run(const Rnn& r) {
  return tn::call<std::tuple<Tensor, Tensor>>("fakes.rnn", r.x, r.h0, r.weights);
}

TEST_F(Fakes, RnnWithAReserve) {
  exported<int>("fakes_pairs_refuse") = 1;
  Rnn plain = rnn_of(3, tn::cpu);
  auto [expected, expected_last] = run(plain);
  Tensor g = sample({4, 2, 5}, {}, 5), g_last = sample({3, 2, 5}, {}, 6);
  tn::backward(TensorList{expected, expected_last}, {.grad_outputs = TensorList{g, g_last}});
  exported<int>("fakes_pairs_refuse") = 0;
  for (Device device : {Device("cpu"), Device("tape")}) {
    SCOPED_TRACE(device.name());
    Rnn r = rnn_of(3, device);
    const int before = privates();
    auto [y, last] = run(r);
    EXPECT_EQ(privates(), before + 1);
    expect_same(y, expected);
    expect_same(last, expected_last);
    tn::backward(TensorList{y, last},
                 {.grad_outputs = TensorList{g.to(device), g_last.to(device)}});
    EXPECT_EQ(wanted(), (1u << 11) - 1);
    expect_same(r.x.grad(), plain.x.grad());
    expect_same(r.h0.grad(), plain.h0.grad());
    for (size_t i = 0; i < r.weights.size(); ++i)
      expect_same(r.weights[i].grad(), plain.weights[i].grad());
  }
}

// The gradient of one output only: the other comes as NONE.
TEST_F(Fakes, RnnWithoutTheGradientOfAnOutput) {
  Rnn r = rnn_of(1, tn::cpu), plain = rnn_of(1, tn::cpu);
  std::get<1>(run(r)).sum().backward();
  exported<int>("fakes_pairs_refuse") = 1;
  std::get<1>(run(plain)).sum().backward();
  expect_same(r.h0.grad(), plain.h0.grad());
}

// ---- Packed weights
// ------------------------------------------------------------------------------

struct PackedWeights : Fakes {
  static int packed() { return exported<int>("fakes_packed"); }
  static int unpacked() { return exported<int>("fakes_unpacked"); }
  static uint64_t cached() { return tn::cpu.memory_stats().cached; }
  static Tensor linear(const Tensor& x, const Tensor& weight) {
    return tn::call("fakes.packed_linear", x, weight);
  }
};

TEST_F(PackedWeights, AreAttachedFoundAgainAndCounted) {
  Tensor x = tn::tensor({{1.f, 2.f}}), weight = tn::tensor({{3.f, 4.f}, {5.f, 6.f}, {7.f, 8.f}});
  const int made = packed();
  const uint64_t before = cached();
  for (int i = 0; i < 3; ++i) expect_near(linear(x, weight), {11, 17, 23});
  EXPECT_EQ(packed(), made + 1);
  EXPECT_EQ(cached(), before + 24);
  // Another view of the same storage is another weight.
  expect_near(linear(x, weight.slice(0, 1, 3)), {17, 23});
  EXPECT_EQ(packed(), made + 2);
  EXPECT_EQ(cached(), before + 24 + 16);
}

TEST_F(PackedWeights, GoWithTheVersion) {
  Tensor x = tn::tensor({{1.f, 2.f}}), weight = tn::tensor({{3.f, 4.f}});
  expect_near(linear(x, weight), {11});
  const int gone = unpacked();
  const uint64_t with = cached();
  weight.mutable_data<float>()[0] = 30;
  expect_near(linear(x, weight), {38});
  EXPECT_EQ(unpacked(), gone + 1);
  {
    tn::InferenceMode inference;  // versions count in every mode
    weight *= 2;
    expect_near(linear(x, weight), {76});
  }
  EXPECT_EQ(unpacked(), gone + 2);
  EXPECT_EQ(cached(), with);
}

TEST_F(PackedWeights, GoWithTheStorage) {
  Tensor x = tn::tensor({{1.f, 2.f}});
  const uint64_t before = cached();
  const int gone = unpacked();
  {
    Tensor weight = tn::tensor({{3.f, 4.f}});
    linear(x, weight);
    EXPECT_EQ(cached(), before + 8);
  }
  EXPECT_EQ(cached(), before);
  EXPECT_EQ(unpacked(), gone + 1);
}

TEST_F(PackedWeights, AreSharedByThreads) {
  Tensor x = tn::tensor({{1.f, 2.f}}), weight = tn::tensor({{3.f, 4.f}});
  const int before = packed() - unpacked();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) expect_near(linear(x, weight), {11});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(packed() - unpacked(), before + 1);
}

// ---- Graphs
// --------------------------------------------------------------------------------------

class Capture {
 public:
  explicit Capture(Device device) : device_(device) { tn::check(api().begin(device.value)); }
  ~Capture() {
    if (graph_) api().destroy(graph_);
  }
  void end() { tn::check(api().end(&graph_)); }
  void launch() const { tn::check(api().launch(graph_, device_.value)); }
  static const tn_capture_api& api() {
    return *static_cast<const tn_capture_api*>(tn::host()->get_interface("capture/1"));
  }

 private:
  Device device_;
  tn_graph* graph_ = nullptr;
};

struct Graphs : Fakes {
  void SetUp() override { tape = Device("tape"); }
  static int recorded() { return exported<int>("fakes_recorded"); }
  // A kernel of the plugin, called as the host would inside a graph.
  void launch(const char* kernel, const std::vector<tn_value>& args, const TensorList& outputs,
              const tn_random* random) {
    tn_stream* stream = nullptr;
    tn::check(tn::detail::api.device->current_stream(tape.value, &stream));
    const auto* out = reinterpret_cast<tn_tensor* const*>(outputs.data());
    const tn_call call{sizeof(tn_call),
                       uint32_t(args.size()),
                       args.data(),
                       out,
                       uint32_t(outputs.size()),
                       0,
                       stream,
                       random,
                       tn::host(),
                       nullptr,
                       tape.value};
    auto* fn = reinterpret_cast<tn_kernel_fn>(&exported<char>(kernel));
    tn::check(fn(nullptr, &call));
  }
  Device tape;
};

TEST_F(Graphs, RecordWhatIsLaunchedAndReplayIt) {
  Tensor p = float64_tensor({1, 2}, {2}, tape), g = float64_tensor({10, 20}, {2}, tape);
  const auto step = [&](const char* op) {
    tn::call<void>(op, TensorList{p}, TensorList{g}, 0.1, 1);
  };
  step("fakes.decay_step");
  expect_near(p, {0, 0});
  const int before = recorded();
  Capture capture(tape);
  step("fakes.decay_step");
  // What would wait for the stream, and what is not capture-safe, is refused; the capture goes on.
  expect_error([&] { p.item<double>(); }, "one element");
  expect_error([&] { p.to_vector<double>(); }, "captured");
  expect_error(
      [&] {
        p.copy_(float64_tensor({1, 1}, {2}));
      },
      "copy_: values go from the cpu to tape:0 inside a captured");
  const double values[] = {1, 1};
  expect_error([&] { tn::check(tn::detail::api.tensor->write(p.get(), values, sizeof(values))); },
               "write: values go from the cpu to tape:0 inside a captured");
  expect_error([&] { step("fakes.unsafe_step"); }, "not capture-safe");
  expect_error([&] { tn::prim::random_bits({2}, tape); }, "would repeat its numbers");
  capture.end();
  EXPECT_EQ(recorded(), before + 1);
  expect_near(p, {0, 0});  // recorded, not run
  for (int i = 0; i < 3; ++i) capture.launch();
  expect_near(p, {-3, -6});
  g.copy_(float64_tensor({1, 1}, {2}, tape));  // the recording reads the tensors where they are
  capture.launch();
  expect_near(p, {-3.1, -6.1});
}

TEST_F(Graphs, RefusalsOfCapture) {
  const auto begin = [](Device device) { tn::check(Capture::api().begin(device.value)); };
  expect_error([&] { begin("cpu"); }, "cpu records no graphs");
  expect_error([&] { begin("blank"); }, "blank records no graphs");
  tn_graph* none = nullptr;
  expect_error([&] { tn::check(Capture::api().end(&none)); }, "none is open");
  Capture capture(tape);
  expect_error([&] { begin(tape); }, "open on this thread already");
  capture.end();
}

// A schema may mark lr and step as dynamic, and the kernel gets them as numbers outside of graphs.
TEST_F(Graphs, DynamicArgumentsAreInTheSchema) {
  EXPECT_NE(tn::ops_json().find("dynamic float lr, dynamic int step"), std::string::npos);
  Tensor p = float64_tensor({1}, {1}, tape), g = float64_tensor({8}, {1}, tape);
  tn::call<void>("fakes.decay_step", TensorList{p}, TensorList{g}, 0.5, 4);
  expect_near(p, {0});
}

// Inside a graph a number that changes must be read when the graph runs: as one element on the
// device, which the host writes in stream order before a launch.
TEST_F(Graphs, DynamicArgumentsAsElementsOnTheDevice) {
  Tensor p = float64_tensor({0}, {1}, tape), g = float64_tensor({1}, {1}, tape);
  Tensor lr = tn::tensor(0.5, tn::float64, tape), step = tn::tensor(int64_t{1}, tape);
  const TensorList ps = {p}, gs = {g};
  using tn::detail::to_value;
  Capture capture(tape);
  launch("fakes_decay_step", {to_value(ps), to_value(gs), to_value(lr), to_value(step)}, {},
         nullptr);
  capture.end();
  capture.launch();
  expect_near(p, {-0.5});
  lr.copy_(tn::tensor(4.0, tn::float64));
  step.copy_(tn::tensor(int64_t{2}));
  capture.launch();
  expect_near(p, {-2.5});
}

// The bits of a launch of a graph are those of calls outside of one with the state that is on the
// device then.
TEST_F(Graphs, RandomStateOnTheDevice) {
  const auto bits = [](const tn::RandomState& state, Device device) {
    tn::set_random_state(state);
    return tn::prim::random_bits({10}, device).to_vector<int32_t>();
  };
  EXPECT_EQ(bits({7, 3}, tape), bits({7, 3}, tn::cpu));
  Tensor y = tn::empty({10}, tn::int32, tape), state = Tensor::from<int64_t>({7, 3}, -1, tape);
  const tn_random random{0, 0, state.get()};
  Capture capture(tape);
  launch("fakes_random_bits", {}, {y}, &random);
  capture.end();
  capture.launch();
  EXPECT_EQ(y.to_vector<int32_t>(), bits({7, 3}, tn::cpu));
  state.copy_(Tensor::from<int64_t>({7, 4}));
  capture.launch();
  EXPECT_EQ(y.to_vector<int32_t>(), bits({7, 4}, tn::cpu));
}

// A compiled function is one graph, whose numbers and random state the host writes before each
// launch. With a kernel that is not capture-safe its calls are launched one by one.
TEST_F(Graphs, CompiledFunctionsAreOneGraph) {
  for (const bool safe : {true, false}) {
    const char* op = safe ? "fakes.decay_step" : "fakes.unsafe_step";
    Tensor p = float64_tensor({0}, {1}, tape), g = float64_tensor({1}, {1}, tape);
    const Tensor lr = tn::tensor(0.5, tn::float64), step = tn::tensor(int64_t{1});
    auto f = tn::compile([&] {
      tn::call<void>(op, TensorList{p}, TensorList{g}, tn::dynamic(lr), tn::dynamic(step));
      return tn::prim::random_bits({10}, tape);
    });
    double expected = 0;
    tn::manual_seed(3);
    std::vector<std::vector<int32_t>> bits;
    int before = recorded();
    for (int i = 1; i <= 5; ++i) {
      lr.fill_(0.5 * i);
      step.fill_(i % 2 + 1);
      bits.push_back(f().to_vector<int32_t>());
      expected -= 0.5 * i / (i % 2 + 1);
      expect_near(p, {expected});
    }
    EXPECT_EQ(recorded() - before, safe ? 2 : 0);  // one recording, of two kernels
    tn::manual_seed(3);
    for (const auto& found : bits)
      EXPECT_EQ(found, tn::prim::random_bits({10}, tn::cpu).to_vector<int32_t>());
    EXPECT_EQ(f.describe().find("as one graph of tape:0") != std::string::npos, safe)
        << f.describe();
  }
}

// ---- Memory without addresses
// --------------------------------------------------------------------

TEST_F(Fakes, MemoryWithoutAddresses) {
  const Device blank("blank");
  Tensor x = Tensor::from<float>({0, 1, 2, 3, 4, 5}, {2, 3}, blank);
  EXPECT_EQ(x.get()->data, nullptr);
  expect_near(x, {0, 1, 2, 3, 4, 5});
  // Views are a byte offset in the storage.
  Tensor row = x[1];
  EXPECT_EQ(row.get()->data, nullptr);
  EXPECT_EQ(row.get()->byte_offset, 12u);
  EXPECT_EQ(tn::detail::api.tensor->storage_memory(row.get()->storage),
            tn::detail::api.tensor->storage_memory(x.get()->storage));
  expect_near(row, {3, 4, 5});
  expect_near(row * 2 + x, {6, 9, 12, 9, 12, 15});
  expect_near((x.t() * -1).relu(), {0, 0, 0, 0, 0, 0});
  row += 10;
  expect_near(x, {0, 1, 2, 13, 14, 15});
  row.copy_(tn::tensor({7.f, 8.f, 9.f}));
  expect_near(x.t(), {0, 7, 1, 8, 2, 9});
  expect_near(tn::matmul(x, x.t()), {5, 26, 26, 194});
  expect_error([&] { x.data<float>(); }, "blank");
}

// Its kernels know instruction set 1 and take any dtype; those that came later they never see.
TEST_F(Fakes, KernelsOfAnOlderInstructionSetAreRefusedYoungerDtypes) {
  const Device blank("blank");
  const Tensor x = Tensor::from<float>({1, 2, 4}, -1, blank);
  expect_near(x + x, {2, 4, 8});
  expect_near(tn::sum(x), {7});
  for (tn::Dtype dtype : {tn::int8, tn::int16}) {
    const Tensor small = tn::tensor({1, 2, 4}).to(dtype).to(blank);  // a copy of bytes
    expect_near(small, {1, 2, 4});
    const std::string why =
        "(fakes: knows instruction set 1, " + std::string(dtype.name()) + " needs 2)";
    expect_error([&] { small + small; },
                 "elementwise: device blank:0 has no kernel for this call " + why);
    expect_error([&] { small + x; }, why);  // loaded
    expect_error([&] { small + 1; }, why);
    expect_error([&] { x.to(dtype); }, why);  // stored
    expect_error([&] { small.to(tn::float32); }, why);
    expect_error([&] { tn::sum(small); },
                 "reduce: device blank:0 has no kernel for this call " + why);
    expect_error([&] { tn::sum(x, {}, false, dtype); }, why);
    expect_error([&] { tn::zeros({2}, dtype, blank); }, why);
  }
}

TEST_F(Fakes, GradientsOnMemoryWithoutAddresses) {
  const Device blank("blank");
  Tensor x = Tensor::from<float>({1, -2, 3}, {1, 3}, blank).requires_grad_();
  Tensor w = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2}, blank).requires_grad_();
  tn::matmul(x * x, w).backward(Tensor::from<float>({1, 1}, {1, 2}, blank));
  expect_near(x.grad(), {2 * 3, -4 * 7, 6 * 11});
  expect_near(w.grad(), {1, 1, 4, 4, 9, 9});
}

}  // namespace
