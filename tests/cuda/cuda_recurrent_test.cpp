// Recurrent layers of `cuda` by the tests' own cuDNN: values and gradients beside the meaning of the ops in
// float64 on `cpu`, of each kind of cell, of equal and of other lengths, in both directions; what is asked
// for again, what is kept for other calls, and what goes elsewhere.
#include <dlfcn.h>

#include <thread>

#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaRecurrent : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

struct Call {
  const char* name;
  const char* op;  // that the kernel is of
  int64_t features, hidden, width;
  bool has_biases, is_bidirectional;
  std::vector<int64_t> batch_sizes;  // empty: 5 steps of 3 sequences

  int64_t gates() const {
    return std::string(op) == "_lstm_layer" ? 4 : std::string(op) == "_gru_layer" ? 3 : 1;
  }
  int64_t directions() const { return is_bidirectional ? 2 : 1; }
  int64_t n() const { return batch_sizes.empty() ? 3 : batch_sizes[0]; }
};

const std::vector<int64_t> kPacked{4, 4, 2, 1, 1};

const Call kCalls[] = {
    {"lstm", "_lstm_layer", 4, 6, 6, true, false, {}},
    {"lstm in both directions", "_lstm_layer", 3, 5, 5, true, true, {}},
    {"lstm without biases", "_lstm_layer", 2, 8, 8, false, false, kPacked},
    {"lstm with a projection", "_lstm_layer", 3, 6, 4, true, true, kPacked},
    {"gru", "_gru_layer", 4, 5, 5, true, true, kPacked},
    {"gru without biases", "_gru_layer", 1, 4, 4, false, false, {}},
    {"rnn_tanh", "_rnn_layer", 3, 7, 7, true, true, {}},
    {"rnn_relu", "_rnn_layer", 5, 3, 3, true, true, kPacked},
    {"a sequence of a step", "_lstm_layer", 3, 2, 2, true, true, {1}},
};

// The input, the states, and the parameters.
TensorList inputs_of(const Call& call) {
  int64_t rows = 0;
  for (const int64_t size : call.batch_sizes) rows += size;
  const int64_t gate_rows = call.gates() * call.hidden, layers = call.directions();
  TensorList all;
  const auto add = [&](std::vector<int64_t> sizes) {
    all.push_back(sample(sizes, {}, static_cast<uint32_t>(all.size())) * 0.5);
  };
  call.batch_sizes.empty() ? add({5, call.n(), call.features}) : add({rows, call.features});
  add({layers, call.n(), call.width});
  if (call.gates() == 4) add({layers, call.n(), call.hidden});
  for (int64_t d = 0; d < layers; ++d) {
    add({gate_rows, call.features});
    add({gate_rows, call.width});
    if (call.has_biases) add({gate_rows}), add({gate_rows});
    if (call.width < call.hidden) add({call.width, call.hidden});
  }
  return all;
}

TensorList run(const Call& call, const TensorList& in) {
  const size_t states = call.gates() == 4 ? 2 : 1;
  const TensorList params(in.begin() + 1 + long(states), in.end());
  const tn::LstmOptions options = {.has_biases = call.has_biases,
                                   .bidirectional = call.is_bidirectional,
                                   .batch_sizes = call.batch_sizes};
  if (call.gates() == 4) {
    auto [y, h, c] = tn::lstm(in[0], {in[1], in[2]}, params, options);
    return {y, h, c};
  }
  const bool is_relu = std::string(call.name) == "rnn_relu";
  auto [y, h] = call.gates() == 3 ? tn::gru(in[0], in[1], params, options)
                : is_relu         ? tn::rnn_relu(in[0], in[1], params, options)
                                  : tn::rnn_tanh(in[0], in[1], params, options);
  return {y, h};
}

// The outputs, and the gradients of all inputs; `of`: the outputs that the loss has, a bit each.
std::vector<std::vector<double>> results(const Call& call, const TensorList& in, unsigned of = 7) {
  TensorList leaves;
  for (const Tensor& t : in) leaves.push_back(t.detach().requires_grad_());
  const TensorList outputs = run(call, leaves);
  std::vector<std::vector<double>> all;
  Tensor loss;
  for (size_t k = 0; k < outputs.size(); ++k) {
    all.push_back(outputs[k].detach().to_vector<double>());
    if ((of >> k & 1) == 0) continue;
    const Tensor g = sample({outputs[k].sizes().begin(), outputs[k].sizes().end()}, {}, 40 + k);
    const Tensor part = (outputs[k] * g.to(outputs[k].device(), outputs[k].dtype())).sum();
    loss = loss.defined() ? loss + part : part;
  }
  loss.backward();
  for (const Tensor& leaf : leaves)
    all.push_back(leaf.grad().defined() ? leaf.grad().to_vector<double>() : std::vector<double>());
  return all;
}

void expect_results(const std::vector<std::vector<double>>& found,
                    const std::vector<std::vector<double>>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t k = 0; k < found.size(); ++k) {
    SCOPED_TRACE("result " + std::to_string(k));
    ASSERT_EQ(found[k].size(), expected[k].size());
    double most = 1;
    for (const double value : expected[k]) most = std::max(most, std::fabs(value));
    for (size_t i = 0; i < found[k].size(); ++i)
      ASSERT_NEAR(found[k][i], expected[k][i], tolerance * most) << "at " << i;
  }
}

TensorList moved(const TensorList& in, tn::Dtype dtype, tn::Device device = tn::cpu) {
  TensorList all;
  for (const Tensor& t : in) all.push_back(t.to(dtype).to(device));
  return all;
}

bool rounds() {
  const char* wish = std::getenv("TENON_CUDA_TF32");
  return wish && std::string(wish) == "1";
}

TEST_F(CudaRecurrent, AgreesWithItsMeaning) {
  const std::pair<tn::Dtype, double> kDtypes[] = {{tn::float64, 1e-12},
                                                  {tn::float32, rounds() ? 4e-3 : 2e-6},
                                                  {tn::float16, 6e-3},
                                                  {tn::bfloat16, 5e-2}};
  for (const Call& call : kCalls) {
    const TensorList in = inputs_of(call);
    for (const auto& [dtype, tolerance] : kDtypes) {
      SCOPED_TRACE(std::string(call.name) + " " + dtype.name());
      const TensorList rounded = moved(in, dtype);
      const auto expected = results(call, moved(rounded, tn::float64));
      const std::string calls = tn::explain([&, &dtype = dtype, &tolerance = tolerance] {
        expect_results(results(call, moved(rounded, dtype, kCuda)), expected, tolerance);
      });
      EXPECT_NE(calls.find("\"kernel\":\"ops." + std::string(call.op) + "\",\"pair\":true"),
                std::string::npos)
          << calls;
    }
  }
}

// The steps of a long packed layer do not fit into one table of the host.
TEST_F(CudaRecurrent, TurnsManySteps) {
  Call call = {"rnn_tanh", "_rnn_layer", 2, 3, 3, true, true, {}};
  call.batch_sizes.assign(500, 3);
  call.batch_sizes.resize(1000, 1);
  const TensorList in = inputs_of(call);
  expect_results(results(call, moved(in, tn::float64, kCuda)), results(call, in), 1e-10);
}

// Of each output alone: the gradients of the others are not there.
TEST_F(CudaRecurrent, TakesGradientsOfSomeOutputs) {
  const TensorList in = inputs_of(kCalls[1]);
  for (const unsigned of : {1u, 2u, 4u}) {
    SCOPED_TRACE(of);
    expect_results(results(kCalls[1], moved(in, tn::float64, kCuda), of),
                   results(kCalls[1], in, of), 1e-12);
  }
}

// Gradients of the input alone, or of a weight; without any, y has the same bits.
TEST_F(CudaRecurrent, GivesWhatIsWanted) {
  const Call& call = kCalls[4];
  const TensorList in = inputs_of(call), there = moved(in, tn::float32, kCuda);
  const std::vector<double> y = run(call, there)[0].to_vector<double>();
  for (const size_t wanted : {size_t{0}, size_t{1}, size_t{3}}) {
    SCOPED_TRACE(wanted);
    const auto gradient = [&](TensorList all) {
      all[wanted] = all[wanted].detach().requires_grad_();
      const Tensor output = run(call, all)[0];
      if (!output.device().is_cpu()) {
        EXPECT_EQ(output.detach().to_vector<double>(), y);
      }
      output.sum().backward();
      return all[wanted].grad().to_vector<double>();
    };
    expect_results({gradient(there)}, {gradient(in)}, rounds() ? 4e-3 : 2e-6);
  }
}

// cuDNN writes to what the forward has left, so each backward has a copy.
TEST_F(CudaRecurrent, ComputesItsGradientAgain) {
  const Call& call = kCalls[0];
  TensorList leaves;
  for (const Tensor& t : moved(inputs_of(call), tn::float32, kCuda))
    leaves.push_back(t.detach().requires_grad_());
  const Tensor loss = run(call, leaves)[0].sum();
  loss.backward({}, /*retain_graph=*/true);
  const std::vector<double> once = leaves[3].grad().to_vector<double>();
  leaves[3].grad().zero_();
  loss.backward();
  EXPECT_EQ(leaves[3].grad().to_vector<double>(), once);
}

// Recorded once, and replayed as one graph of the device with other values.
TEST_F(CudaRecurrent, IsPartOfAGraph) {
  const Call& call = kCalls[3];
  const TensorList in = moved(inputs_of(call), tn::float32, kCuda);
  const auto step = [&](Tensor x) {
    TensorList leaves = in;
    leaves[0] = x.detach().requires_grad_();
    run(call, leaves)[0].sum().backward();
    return leaves[0].grad() * 1;
  };
  auto compiled = tn::compile(step);
  for (int i = 0; i < 4; ++i) {
    const Tensor other = in[0] * (i + 1);
    EXPECT_EQ(compiled(other).to_vector<double>(), step(other).to_vector<double>());
  }
  const std::string said = compiled.describe();
  EXPECT_NE(said.find("as one graph of cuda:0"), std::string::npos) << said;
}

// Rows that begin at no multiple of 16 bytes, and weights that lie otherwise.
TEST_F(CudaRecurrent, TakesTensorsThatLieOtherwise) {
  const Call& call = kCalls[0];
  const TensorList in = inputs_of(call);
  TensorList there = moved(in, tn::float32, kCuda);
  const Tensor x = there[0];
  const Tensor wide = tn::cat({tn::zeros({1}, x.dtype(), kCuda), x.reshape({-1})}, 0);
  there[0] = wide.narrow(0, 1, x.numel()).view({5, 3, 4});
  there[3] = there[3].t().contiguous().t();
  expect_results(results(call, there), results(call, in), rounds() ? 4e-3 : 2e-6);
}

TEST_F(CudaRecurrent, RunsOnManyThreads) {
  const Call& call = kCalls[4];
  const TensorList in = moved(inputs_of(call), tn::float32, kCuda);
  const auto expected = results(call, in);
  std::vector<std::vector<std::vector<double>>> found(4);
  std::vector<std::thread> threads;
  for (auto& result : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) result = results(call, in);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : found) EXPECT_EQ(result, expected);
}

// Descriptors of recurrent layers: how many were made until now, and how many live. False: cuDNN is
// NVIDIA's own, which does not say.
bool count_descriptors(int64_t* made, int64_t* living) {
  void* library = ::dlopen("libcudnn.so.9", RTLD_NOW | RTLD_NOLOAD);
  using Count = void (*)(int64_t*, int64_t*);
  auto* count =
      library ? reinterpret_cast<Count>(::dlsym(library, "tenon_fake_rnn_descriptors")) : nullptr;
  if (count) count(made, living);
  return count != nullptr;
}

// A shape that no other test has, each time with other values; and from several threads at once.
TEST_F(CudaRecurrent, MakesDescriptorsOnceForAShape) {
  const Call call = {"gru", "_gru_layer", 3, 9, 9, true, false, {5, 3, 1}};
  const TensorList in = moved(inputs_of(call), tn::float32, kCuda);
  const auto work = [&](double factor) {
    TensorList other = in;
    other[0] = in[0] * factor;
    results(call, other);
  };
  int64_t first = 0, made = 0, living = 0;
  work(1);
  if (!count_descriptors(&first, &living)) GTEST_SKIP() << "cuDNN is NVIDIA's own";
  EXPECT_GT(first, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
  run(call, in);
  count_descriptors(&made, &living);
  EXPECT_EQ(made, first);
}

// Packed sequences have new lengths in each batch; the shapes that were used last are kept.
TEST_F(CudaRecurrent, KeepsDescriptorsOfNoMoreShapesThanItMay) {
  constexpr int64_t kMost = 290;
  Call call = {"rnn_tanh", "_rnn_layer", 1, 1, 1, false, false, {}};
  call.batch_sizes.assign(size_t(kMost), 1);
  const TensorList in = moved(inputs_of(call), tn::float32, kCuda);
  const auto work = [&](int64_t n) {
    TensorList other = in;
    other[0] = in[0].narrow(0, 0, n);
    call.batch_sizes.assign(size_t(n), 1);
    run(call, other);
  };
  work(1);
  int64_t before = 0, made = 0, living = 0;
  if (!count_descriptors(&before, &living)) GTEST_SKIP() << "cuDNN is NVIDIA's own";
  for (int64_t n = 2; n <= kMost; ++n) work(n);
  count_descriptors(&before, &living);
  EXPECT_LE(living, 256 * 5);
  work(kMost);
  count_descriptors(&made, &living);
  EXPECT_EQ(made, before);
  work(1);
  count_descriptors(&made, &living);
  EXPECT_GT(made, before);
}

TEST_F(CudaRecurrent, SaysWhatItDoesNotTake) {
  Call call = kCalls[0];
  TensorList in = moved(inputs_of(call), tn::float32, kCuda);
  in[0] = tn::zeros({5, 0, 4}, tn::float32, kCuda);
  in[1] = in[2] = tn::zeros({1, 0, 6}, tn::float32, kCuda);
  const std::string calls = tn::explain([&] { run(call, in); });
  EXPECT_NE(calls.find("cuDNN takes no empty tensors"), std::string::npos) << calls;
}

}  // namespace
