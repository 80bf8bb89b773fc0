// Memory that is exhausted: what the host keeps of it is given back, and what lacked it is done once more;
// behind that there is an error, and the program goes on. Each test is a fork, in which the device is
// opened.
#include "fake_launches.h"
#include "on_fake.h"

namespace {

using on_fake::error_of;
using on_fake::Outcome;

const char* const kCuda = "cuda:0";

struct CudaMemory : testing::Test {
  static void SetUpTestSuite() { on_fake::preload(); }
  template <class Body>
  static Outcome run(const std::string& failure, const Body& body) {
    return on_fake::in_a_fork_with({"TENON_FAKE_CUDA_FAIL=" + failure}, [&] {
      load_all();
      return body();
    });
  }
  static void expect_text(const Outcome& found, const std::string& expected) {
    EXPECT_EQ(found.given, expected) << found.logged;
  }
  static void expect_part(const Outcome& found, const std::string& part) {
    EXPECT_NE(found.given.find(part), std::string::npos) << found.given << found.logged;
  }
};

Tensor ones(std::vector<int64_t> sizes) { return tn::ones(sizes, tn::float32, kCuda); }

// 2 is CUDA_ERROR_OUT_OF_MEMORY.
TEST_F(CudaMemory, MemoryOfTheCacheIsGivenBackAndTheRequestRepeated) {
  expect_text(run("cuMemAlloc:3:2",
                  [] {
                    Tensor x = Tensor::empty({1 << 20}, tn::float32, kCuda);
                    x = {};  // in the cache now
                    const Tensor y = tn::ones({6 << 20}, tn::float32, kCuda);
                    const double sum = y.sum().item<double>();
                    return std::to_string(tn::Device(kCuda).memory_stats().reserved_bytes >> 20) +
                           " MiB, " + std::to_string(sum);
                  }),
              "26 MiB, 6291456.000000");
}

// The driver takes memory for texts and graphs, too, where the cache may hold all that there is.
TEST_F(CudaMemory, TheCacheIsGivenBackForModulesAndGraphs) {
  for (const char* failure : {"cuModuleLoadData:2:2", "cuGraphInstantiate:1:2"}) {
    SCOPED_TRACE(failure);
    expect_text(run(failure,
                    [] {
                      const Tensor x = ones({40});
                      Tensor cached = Tensor::empty({1 << 20}, tn::float32, kCuda);
                      cached = {};
                      auto step = tn::compile([](Tensor a) { return (a * 0 + 1).exp().sum(); });
                      double sum = 0;
                      for (int i = 0; i < 4; ++i) sum = step(x).item<double>();
                      const auto kept = tn::Device(kCuda).memory_stats().reserved_bytes >> 20;
                      return std::string(kept < 4 ? "emptied, " : "kept, ") +
                             std::to_string(int(sum / std::exp(1.0) + 0.5)) + " elements";
                    }),
                "emptied, 40 elements");
  }
}

TEST_F(CudaMemory, AProgramGoesOnWithoutTheMemory) {
  const Outcome found = run("cuMemAlloc:3:2,cuMemAlloc:4:2", [] {
    const Tensor x = ones({40});
    const std::string error = error_of([] { Tensor::empty({1 << 21}, tn::float32, kCuda); });
    return error + "|" + std::to_string((x + 1).sum().item<double>());
  });
  expect_part(found, "out of memory on cuda:0: wanted 8.0 MiB");
  expect_part(found, "|80.0");
}

// A graph keeps what its kernels work in, and they run one after the other: it keeps the most that one of
// them needs.
TEST_F(CudaMemory, TheKernelsOfAGraphShareTheirWorkspace) {
  const Outcome found = run("", [] {
    std::string said;
    std::vector<uint64_t> kept;
    for (const int sorts : {1, 6}) {
      const tn::Device d(kCuda);
      auto f = tn::compile([&](Tensor x) {
        for (int i = 0; i < sorts; ++i) x = std::get<0>(tn::sort(x * -1));
        return x * 1;
      });
      const Tensor x = tn::sin(tn::arange(0, 1 << 14).to(tn::float32)).to(d);
      for (int i = 0; i < 3; ++i) f(x);
      if (f.describe().find("as one graph of cuda:0") == std::string::npos) return f.describe();
      const uint64_t before = d.memory_stats().allocated;
      const Tensor y = f(x);
      Tensor expected = x.to(tn::cpu);
      for (int i = 0; i < sorts; ++i) expected = std::get<0>(tn::sort(expected * -1));
      said += tn::equal(y.to(tn::cpu), expected) ? "right, " : "wrong, ";
      kept.push_back(before);
    }
    // Of sorts: 8 bytes and the number of each element.
    const uint64_t workspace = uint64_t{1 << 14} * 12;
    return said + (kept[1] < kept[0] + workspace ? "shared" : "not shared");
  });
  expect_text(found, "right, right, shared");
}

// ---- The libraries

// What a piece of work gives beside 4 MiB in the cache: its error, and whether it is one of memory, or its
// number; and whether the cache was emptied. The device must go on in any case.
template <class Work>
std::string beside_a_cache(const Work& work) {
  std::string said;
  { Tensor cached = Tensor::empty({1 << 20}, tn::float32, kCuda); }
  try {
    said = std::to_string(work());
  } catch (const tn::Error& error) {
    said = error.code() == TN_OUT_OF_MEMORY ? "exhausted: " : "error: ";
    said += error.what();
  }
  const bool kept = tn::Device(kCuda).memory_stats().reserved_bytes >= 4 << 20;
  if (ones({7}).sum().item<double>() != 7) return "wrong behind it";
  return said + (kept ? ", kept" : ", emptied");
}

// Small enough that the tests' cuBLASLt wants no workspace.
int multiply() { return int(tn::matmul(ones({4, 40}), ones({40, 4})).sum().item<double>()); }

// 3 is CUBLAS_STATUS_ALLOC_FAILED.
TEST_F(CudaMemory, TheCacheIsGivenBackForCublaslt) {
  for (const char* entry :
       {"cublasLtCreate", "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate",
        "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"}) {
    SCOPED_TRACE(entry);
    const std::string once = std::string(entry) + ":1:3";
    expect_text(run(once, [] { return beside_a_cache(multiply); }), "640, emptied");
    const Outcome twice = run(once + "," + entry + ":2:3", [] { return beside_a_cache(multiply); });
    expect_part(twice, "exhausted: ");
    expect_part(twice, std::string(entry) + ": ");
  }
  expect_text(run("", [] { return beside_a_cache(multiply); }), "640, kept");
}

int convolve() {
  return int(tn::conv2d(ones({1, 1, 4, 4}), ones({1, 1, 3, 3})).sum().item<double>());
}

// 4004 is CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, 4003 the one of the host's memory. Where a
// handle or a plan cannot be made, the op runs by its meaning.
TEST_F(CudaMemory, TheCacheIsGivenBackForConvolutions) {
  if (!::dlopen("libcudnn.so.9", RTLD_NOW)) GTEST_SKIP() << "the plugin is built without cuDNN";
  for (const char* code : {":4003", ":4004"}) {
    for (const std::string entry : {"cudnnCreate", "cudnnBackendFinalize", "cudnnBackendExecute"}) {
      SCOPED_TRACE(entry + code);
      const auto by_cudnn = [] {
        std::string said;
        const auto launches = fake_launches([&] { said = beside_a_cache(convolve); });
        const bool is_there = std::ranges::count(*launches, "cudnnBackendExecute") > 0;
        return said + (is_there ? " by cuDNN" : "");
      };
      expect_text(run(entry + ":1" + code, by_cudnn), "36, emptied by cuDNN");
      const Outcome twice = run(entry + ":1" + code + "," + entry + ":2" + code, by_cudnn);
      if (entry != "cudnnBackendExecute") continue;
      expect_part(twice, "exhausted: ");
      expect_part(twice, "conv2d: cudnnBackendExecute: ");
    }
  }
}

int recur() {
  const Tensor x = ones({5, 3}).requires_grad_(), h = tn::zeros({1, 2, 4}, tn::float32, kCuda);
  TensorList params;
  for (std::vector<int64_t> sizes : {std::vector<int64_t>{4, 3}, {4, 4}, {4}, {4}})
    params.push_back(ones(sizes).requires_grad_());
  const auto [y, last] = tn::rnn_relu(x, h, params, {.batch_sizes = {2, 2, 1}});
  y.sum().backward();
  return int(y.sum().item<double>()) + 10000 * int(params[2].grad().sum().item<double>());
}

// What cuDNN has worked on is begun anew.
TEST_F(CudaMemory, TheCacheIsGivenBackForRecurrentLayers) {
  if (!::dlopen("libcudnn.so.9", RTLD_NOW)) GTEST_SKIP() << "the plugin is built without cuDNN";
  const Outcome clean = run("", [] { return beside_a_cache(recur); });
  const std::string expected = clean.given.substr(0, clean.given.find(','));
  for (const std::string entry :
       {"cudnnCreateRNNDescriptor", "cudnnGetRNNWeightParams", "cudnnRNNForward",
        "cudnnRNNBackwardData_v8", "cudnnRNNBackwardWeights_v8"}) {
    SCOPED_TRACE(entry);
    const auto work = [] { return beside_a_cache(recur); };
    const Outcome once = run(entry + ":1:4004", work);
    if (!entry.starts_with("cudnnCreate")) expect_text(once, expected + ", emptied");
    const Outcome twice = run(entry + ":1:4004," + entry + ":2:4004", work);
    if (entry.starts_with("cudnnCreate"))
      continue;  // which is asked before, and its meaning is taken
    expect_part(twice, "exhausted: ");
    expect_part(twice, entry + ": ");
  }
}

}  // namespace
