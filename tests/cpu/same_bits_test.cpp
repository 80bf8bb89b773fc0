// Everything that folds gives the same bits on any number of threads of cpu: each kernel's results
// and gradients, at sizes that are cut into pieces, and whole trainings. The numbers of threads are
// those of processes: what is made once for all calls is made for each.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <tenon/nn.hpp>
#include <tenon/optim.hpp>

#include "gpt_model.h"
#include "ops_support.h"

namespace fs = std::filesystem;

namespace {

constexpr int kThreads[] = {1, 2, 3, 4, 7};
constexpr char kMark[] = "bits ";

uint64_t hash_of(const Tensor& t, uint64_t hash = 14695981039346656037u) {
  const auto mix = [&hash](const auto& values) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    for (size_t i = 0; i < values.size() * sizeof(values[0]); ++i) {
      hash = (hash ^ bytes[i]) * 1099511628211u;
    }
  };
  if (t.dtype().is_float()) {
    mix(t.to_vector<double>());  // exact in each float
  } else {
    mix(t.to_vector<int64_t>());
  }
  return hash;
}

// Prints what the parent compares.
void print(const std::string& name, const TensorList& results) {
  uint64_t hash = hash_of(results.at(0));
  for (size_t i = 1; i < results.size(); ++i) hash = hash_of(results[i], hash);
  std::printf("%s%016llx %s\n", kMark, static_cast<unsigned long long>(hash), name.c_str());
}

// The result of f and its gradients by all inputs that have one.
void print_with_gradients(const std::string& name, const TensorList& inputs, const OpUnderTest& f) {
  const TensorList x = leaves(inputs);
  const Tensor y = f(x);
  TensorList results = {y.detach()};
  const Tensor g = tn::randn(y.sizes()).to(y.dtype());
  for (const Tensor& gradient : tn::grad({y}, floats_of(x), {.grad_outputs = TensorList{g}}))
    results.push_back(gradient);
  print(name, results);
}

std::string text_of(const std::vector<int64_t>& sizes) {
  std::string text = " [";
  for (int64_t size : sizes) text += std::to_string(size) + " ";
  return text + "]";
}

void reductions() {
  const Tensor cube = tn::randn({19, 130, 261}), wide = tn::randn({7, 40001}),
               tall = tn::randn({40001, 7}), line = tn::randn({300000});
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::bfloat16}) {
    for (const Tensor& whole : {cube, wide, tall, line}) {
      for (const Layout& layout : layouts()) {
        if (dtype != tn::float32 && std::string(layout.name) != "contiguous") continue;
        const Tensor x = layout.of(whole.to(dtype));
        std::vector<std::vector<int64_t>> dims = {{}};
        for (int64_t d = 0; d < x.dim(); ++d) dims.push_back({d});
        if (x.dim() == 3) dims.insert(dims.end(), {{0, 1}, {0, 2}, {1, 2}});
        for (const auto& over : dims) {
          print(std::string("reductions, ") + dtype.name() + ", " + layout.name +
                    text_of({x.sizes().begin(), x.sizes().end()}) + text_of(over),
                {tn::sum(x, over), tn::var(x, over), tn::argmax(x, over),
                 tn::prod(x * 0.01 + 1, over)});
        }
      }
    }
  }
  print("other reductions", {tn::logsumexp(cube, 1), tn::logsumexp(line, 0), tn::amax(cube, {0, 2}),
                             tn::mean(line * line), tn::cumsum(cube, 1), tn::cumsum(line, 0),
                             tn::cumprod(wide * 0.01 + 1, 1)});
}

void products() {
  const int64_t sizes[][3] = {{64, 64, 30000},  {10, 100, 60000}, {384, 65, 6000}, {512, 512, 600},
                              {300, 301, 1001}, {3, 700, 5000},   {1500, 64, 900}, {16, 2000, 2500},
                              {100, 10, 50},    {400, 1100, 900}};
  for (const auto& [m, n, k] : sizes) {
    for (int turned = 0; turned < 4; ++turned) {
      const Tensor a = (turned & 1) ? tn::randn({k, m}).transpose(0, 1) : tn::randn({m, k});
      const Tensor b = (turned & 2) ? tn::randn({n, k}).transpose(0, 1) : tn::randn({k, n});
      print("matmul, turned " + std::to_string(turned) + text_of({m, n, k}), {tn::matmul(a, b)});
    }
    print_with_gradients("linear" + text_of({m, n, k}),
                         {tn::randn({m, k}), tn::randn({n, k}), tn::randn({n})},
                         [](const TensorList& in) { return tn::linear(in[0], in[1], in[2]); });
  }
  print_with_gradients("linear_relu",
                       {tn::randn({64, 30000}), tn::randn({64, 30000}), tn::randn({64})},
                       [](const TensorList& in) { return tn::linear_relu(in[0], in[1], in[2]); });
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
    print(std::string("matmul, batch, ") + dtype.name(),
          {tn::matmul(tn::randn({3, 70, 900}).to(dtype), tn::randn({3, 900, 65}).to(dtype)),
           tn::matmul(tn::randn({200, 900}).to(dtype), tn::randn({900, 333}).to(dtype)),
           tn::matmul(tn::randn({50, 20000}).to(dtype), tn::randn({20000, 130}).to(dtype))});
  }
  print("matmul, batch", {tn::matmul(tn::randn({3, 128, 1500}), tn::randn({3, 1500, 300})),
                          tn::matmul(tn::randn({40, 128, 64}), tn::randn({40, 64, 256}))});
}

void convolutions() {
  struct Case {
    int64_t batch, in, out, size, kernel, stride, padding, groups;
  };
  constexpr Case cases[] = {
      {64, 1, 16, 28, 3, 1, 0, 1},   {16, 64, 64, 20, 3, 1, 1, 1}, {25, 16, 32, 8, 3, 1, 1, 1},
      {7, 3, 64, 64, 7, 2, 3, 1},    {1, 64, 64, 28, 3, 1, 1, 1},  {1, 256, 512, 7, 1, 1, 0, 1},
      {5, 128, 256, 14, 1, 2, 0, 1}, {2, 256, 256, 7, 3, 1, 1, 1}, {33, 30, 20, 9, 2, 1, 1, 1},
      {9, 64, 64, 12, 3, 1, 1, 4},   {16, 96, 96, 14, 3, 1, 1, 96}};
  for (const Case& c : cases) {
    const TensorList in = {tn::randn({c.batch, c.in, c.size, c.size}),
                           tn::randn({c.out, c.in / c.groups, c.kernel, c.kernel}),
                           tn::randn({c.out})};
    for (const bool last : {false, true}) {
      print_with_gradients(
          std::string("conv2d") + (last ? ", channels last" : "") +
              text_of({c.batch, c.in, c.out, c.size, c.kernel, c.stride, c.padding, c.groups}),
          in, [&c, last](const TensorList& x) {
            return tn::conv2d(last ? x[0].contiguous("channels_last") : x[0], x[1], x[2],
                              {.stride = c.stride, .padding = c.padding, .groups = c.groups});
          });
    }
  }
  print_with_gradients("conv1d",
                       {tn::randn({20, 32, 300}), tn::randn({64, 32, 5}), tn::randn({64})},
                       [](const TensorList& x) { return tn::conv1d(x[0], x[1], x[2]); });
  print_with_gradients(
      "conv3d", {tn::randn({3, 8, 9, 10, 11}), tn::randn({16, 8, 3, 3, 3}), tn::randn({16})},
      [](const TensorList& x) { return tn::conv3d(x[0], x[1], x[2], {.padding = 1}); });
  print_with_gradients("conv_transpose2d",
                       {tn::randn({9, 32, 14, 14}), tn::randn({32, 64, 4, 4}), tn::randn({64})},
                       [](const TensorList& x) {
                         return tn::conv_transpose2d(x[0], x[1], x[2], {.stride = 2, .padding = 1});
                       });
}

void norms() {
  const Tensor images = tn::randn({20, 48, 15, 17}), rows = tn::randn({999, 300});
  for (const bool last : {false, true}) {
    const std::string layout = last ? ", channels last" : "";
    const auto of_images = [&](const char* name, const TensorList& inputs, const OpUnderTest& f) {
      print_with_gradients(name + layout, inputs, [&](const TensorList& in) {
        TensorList x = in;
        if (last) x[0] = in[0].contiguous("channels_last");
        return f(x);
      });
    };
    const TensorList inputs = {images, tn::randn({48}), tn::randn({48})};
    of_images("batch_norm", inputs, [](const TensorList& in) {
      return tn::batch_norm(in[0], {}, {}, in[1], in[2], {.training = true});
    });
    of_images("group_norm", inputs,
              [](const TensorList& in) { return tn::group_norm(in[0], 6, in[1], in[2]); });
    of_images("max_pool2d", {images}, [](const TensorList& in) {
      return tn::max_pool2d(in[0], 3, {.stride = 2, .padding = 1});
    });
    of_images("avg_pool2d", {images},
              [](const TensorList& in) { return tn::avg_pool2d(in[0], 3); });
    of_images("adaptive_avg_pool2d", {images}, [](const TensorList& in) {
      return tn::adaptive_avg_pool2d(in[0], {1, 1}) + tn::adaptive_avg_pool2d(in[0], {4, 5}).sum();
    });
  }
  print_with_gradients(
      "layer_norm", {rows, tn::randn({300}), tn::randn({300})},
      [](const TensorList& in) { return tn::layer_norm(in[0], {300}, in[1], in[2]); });
  for (const int64_t dim : {0, 1}) {
    print_with_gradients("softmax", {rows},
                         [dim](const TensorList& in) { return tn::softmax(in[0], dim); });
    print_with_gradients("log_softmax", {rows},
                         [dim](const TensorList& in) { return tn::log_softmax(in[0], dim); });
  }
  print_with_gradients("a formula", {rows, tn::randn({300})}, [](const TensorList& in) {
    return tn::exp(tn::sin(in[0]) * in[1] - tn::gelu(in[0])) / (1 + in[0] * in[0]);
  });
}

void losses_and_indices() {
  const Tensor logits = tn::randn({1003, 400}), classes = tn::arange(0, 1003) * 7 % 400;
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::bfloat16}) {
    print_with_gradients(std::string("cross_entropy, ") + dtype.name(), {logits.to(dtype), classes},
                         [](const TensorList& in) { return tn::cross_entropy(in[0], in[1]); });
  }
  const Tensor target = tn::rand({1003, 400});
  print_with_gradients("losses", {logits, target}, [](const TensorList& in) {
    return tn::mse_loss(in[0], in[1]) + tn::l1_loss(in[0], in[1]) +
           tn::binary_cross_entropy_with_logits(in[0], in[1]) +
           tn::kl_div(tn::log_softmax(in[0]), in[1]);
  });
  const Tensor ids = (tn::arange(0, 30000) * 31 % 500).reshape({300, 100});
  print_with_gradients("embedding", {tn::randn({500, 70}), ids},
                       [](const TensorList& in) { return tn::embedding(in[0], in[1]); });
  print_with_gradients("embedding_bag", {tn::randn({500, 70}), ids},
                       [](const TensorList& in) { return tn::embedding_bag(in[0], in[1]); });
  const Tensor index = (tn::arange(0, 1003 * 400) * 17 % 90).reshape({1003, 400});
  for (const int64_t dim : {0, 1}) {
    print_with_gradients(
        "scatter_add", {tn::randn({1003, 400}), index, logits},
        [dim](const TensorList& in) { return tn::scatter_add(in[0], dim, in[1], in[2]); });
    print_with_gradients("gather", {logits, index},
                         [dim](const TensorList& in) { return tn::gather(in[0], dim, in[1]); });
    print_with_gradients("index_add", {logits, tn::arange(0, 3000) * 13 % 400},
                         [](const TensorList& in) { return tn::index_select(in[0], 1, in[1]); });
  }
  const auto heads = [](int64_t n) { return tn::randn({6, 8, n, 32}); };
  for (const bool causal : {false, true}) {
    print_with_gradients(
        "attention", {heads(150), heads(150), heads(150)}, [causal](const TensorList& in) {
          return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = causal});
        });
  }
  print("random numbers",
        {tn::randn({100003}), tn::rand({100003}), tn::randperm(50001),
         tn::bernoulli(tn::full({100003}, 0.3)), tn::dropout(tn::ones({100003}), 0.4)});
}

// Some steps of a model; gives the loss and all parameters.
void train(const std::string& name, const tn::Object& model, const Tensor& x, const Tensor& y) {
  auto optimizer = tn::optim::AdamW(model.parameters(), {.lr = 0.01});
  Tensor loss;
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    loss = tn::cross_entropy(model(x), y);
    loss.backward();
    tn::optim::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
  }
  TensorList results = {loss.detach()};
  for (const Tensor& p : model.parameters()) results.push_back(p.detach());
  print(name, results);
}

void trainings() {
  namespace nn = tn::nn;
  train("training a perceptron",
        nn::Sequential(nn::Linear(784, 512), nn::ReLU(), nn::Dropout({.p = 0.2}),
                       nn::Linear(512, 10)),
        tn::randn({1024, 784}), tn::arange(0, 1024) % 10);
  train("training a convolutional network",
        nn::Sequential(nn::Conv2d(3, 32, 3, {.padding = 1}), nn::BatchNorm2d(32), nn::ReLU(),
                       nn::Conv2d(32, 64, 3, {.stride = 2}), nn::GroupNorm(8, 64), nn::GELU(),
                       nn::MaxPool2d(2), nn::Flatten(), nn::Linear(64 * 7 * 7, 10)),
        tn::randn({50, 3, 32, 32}), tn::arange(0, 50) % 10);
  train("training a GPT", tn::make<gpt_model::Gpt>(65, 64, 128, 4, 2),
        tn::arange(0, 40 * 64).reshape({40, 64}) * 7 % 65, tn::arange(0, 40 * 64) * 11 % 65);
}

// Run by the processes that the test below starts.
TEST(SameBits, DISABLED_Print) {
  load_all();
  tn::manual_seed(3);
  reductions();
  products();
  convolutions();
  norms();
  losses_and_indices();
  trainings();
}

// What a shell's line writes; "" in `failure` where it succeeds.
std::string output_of(const std::string& line, std::string* failure) {
  FILE* out = ::popen(line.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (out && std::fgets(buffer, sizeof(buffer), out)) text += buffer;
  const int status = out ? ::pclose(out) : -1;
  *failure = status == 0 ? "" : "ended with " + std::to_string(status) + "\n" + text;
  return text;
}

// By name what a process with so many threads printed.
std::map<std::string, std::string> results_with(int threads) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  std::string failure;
  const std::string text =
      output_of("OMP_NUM_THREADS=" + std::to_string(threads) + " '" + self +
                    "' --gtest_also_run_disabled_tests --gtest_filter=SameBits.DISABLED_Print 2>&1",
                &failure);
  EXPECT_EQ(failure, "");
  std::map<std::string, std::string> results;
  size_t number = 0;
  for (size_t at = text.find(kMark); at != text.npos; at = text.find(kMark, at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const size_t name = line.find(' ', sizeof kMark);
    results[line.substr(name) + " #" + std::to_string(number++)] =
        line.substr(sizeof kMark - 1, name - sizeof kMark + 1);
  }
  return results;
}

TEST(SameBits, OfEveryFoldAndTrainingOnAnyNumberOfThreads) {
  const auto expected = results_with(kThreads[0]);
  EXPECT_GT(expected.size(), 200u);
  for (size_t i = 1; i < std::size(kThreads); ++i) {
    const auto found = results_with(kThreads[i]);
    EXPECT_EQ(found.size(), expected.size());
    for (const auto& [name, hash] : expected) {
      const auto it = found.find(name);
      EXPECT_EQ(it == found.end() ? "not there" : it->second, hash)
          << name << " with " << kThreads[i] << " threads";
    }
  }
}

// A program in front of a reduction, and the same formula as a call of its own whose result is then
// reduced. The second program needs so many tiles that these are short.
TEST(SameBits, OfAReductionWhateverIsInFrontOfIt) {
  load_all();
  tn::manual_seed(5);
  std::string many = "x";
  for (int i = 1; i <= 30; ++i) many += " + sin(x * " + std::to_string(i) + ")";
  std::string tiles = "1";  // each factor is read twice, so all of them live at once
  for (int i = 1; i <= 24; ++i) {
    const std::string factor = "(x + " + std::to_string(i) + " / 64)";
    tiles = factor + " * (" + tiles + " + " + factor + ") / 2";
  }
  for (const std::string& formula : {std::string("exp(x) - x"), many, tiles}) {
    const tn::ExpressionRef expression("f(Tensor x) -> Tensor", formula.c_str());
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{300}, {700}, {3000}, {200000}, {40, 1500}, {1500, 40}, {9000, 3}}) {
      for (const tn::Dtype dtype : {tn::float32, tn::float64}) {
        const Tensor x = tn::randn(sizes).to(dtype) * 0.1;
        const Tensor y = tn::prim::elementwise(expression, x);
        for (int64_t d = 0; d < x.dim(); ++d) {
          EXPECT_EQ(hash_of(tn::prim::reduce(TN_REDUCE_SUM, TensorList{x}, {d}, false, expression)),
                    hash_of(tn::prim::reduce(TN_REDUCE_SUM, y, {d})))
              << formula << text_of(sizes) << d << " " << dtype.name();
        }
      }
    }
  }
}

// Of the training files that the examples are.
TEST(SameBits, OfTheWeightsThatTheCommandSaves) {
  const fs::path folder = fs::temp_directory_path() / ("same_bits." + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string examples = std::string(std::getenv("TENON_SOURCE_DIR")) + "/examples/digits/";
  for (const char* run : {"mlp.json --epochs 1", "cnn.json --epochs 1"}) {
    std::string expected;
    for (const int threads : {1, 2, 7}) {
      const std::string file = (folder / "weights.safetensors").string();
      std::string failure;
      output_of("OMP_NUM_THREADS=" + std::to_string(threads) + " '" +
                    std::getenv("TENON_BUILD_DIR") + "/bin/tenon' train " + examples + run +
                    " --save " + file + " 2>&1",
                &failure);
      ASSERT_EQ(failure, "");
      std::ifstream stream(file, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
      if (expected.empty()) expected = bytes;
      EXPECT_TRUE(!bytes.empty() && bytes == expected) << run << " with " << threads << " threads";
    }
  }
  fs::remove_all(folder);
}

}  // namespace
