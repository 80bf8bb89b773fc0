// Whatever allocation of host memory fails, in loading plugins, a training step, a pass of a loader, a load, a
// save or an explain: the process lives, nothing leaks, the error is TN_OUT_OF_MEMORY, and what was tried can
// be tried again. A parameter is changed only where the error says so.
//
// In the default run every allocation of the MLP, a save and a load fails once, and every 17th of
// the others; TENON_TEST_LONG=1 takes all. What is made at first use is made before, but for the
// first steps at the end, of which fewer are tried: each takes a process. TENON_OOM_FIRST and
// TENON_OOM_STEP say where to begin and how far apart they are.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>

#include <tenon/checkpoint.hpp>
#include <tenon/checkpoint_call.hpp>
#include <tenon/data/loader.hpp>
#include <tenon/data/stream.hpp>
#include <tenon/data/text.hpp>
#include <tenon/explain.hpp>
#include <tenon/io.hpp>
#include <tenon/module_hooks.hpp>
#include <tenon/summary.hpp>
#include <tenon/tokenizer.hpp>

#include "gpt_model.h"
#include "oom_support.h"

namespace {

TEST_F(OutOfMemory, OfAnyAllocationOfAnMlpsStepCanBeTriedAgain) {
  for (tn::Device device : devices()) {
    tn::manual_seed(1);
    Training training(mlp(), adamw, noise({6, 8}, 1), classes(6, 4), device);
    try_all("mlp on " + device.type(), training.tried(), 1);
    Training momentum(mlp(), sgd, noise({6, 8}, 1), classes(6, 4), device);
    try_all("mlp with sgd on " + device.type(), momentum.tried(), 1);
  }
}

TEST_F(OutOfMemory, FromAnyAllocationOnOfAnMlpsStepCanBeTriedAgain) {
  for (tn::Device device : devices()) {
    tn::manual_seed(1);
    Training training(mlp(), adamw, noise({6, 8}, 1), classes(6, 4), device);
    Tried tried = training.tried();
    // Where no memory is left at all, there is none for the words that say how far it came.
    tried.after_failure = [&](const Outcome& o) {
      return training.updating ? "" : training.after_failure(o);
    };
    try_all("exhausted mlp on " + device.type(), tried, 1, failing_memory::kNever);
  }
}

TEST_F(OutOfMemory, OfAnyAllocationOfACnnsStepCanBeTriedAgain) {
  for (tn::Device device : devices()) {
    tn::manual_seed(2);
    Training training(cnn(), sgd, noise({2, 3, 12, 12}, 2), classes(2, 4), device);
    try_all("cnn on " + device.type(), training.tried(), 17);
  }
}

TEST_F(OutOfMemory, OfAnyAllocationOfAStepWithRowSparseGradientsCanBeTriedAgain) {
  const auto plain = [](const tn::Tensors& p) { return tn::optim::SGD(p, {.lr = 0.1}); };
  const auto adagrad = [](const tn::Tensors& p) { return tn::optim::Adagrad(p, {.lr = 0.1}); };
  for (tn::Device device : devices()) {
    tn::manual_seed(4);
    const auto model = [] {
      return tn::nn::Sequential(tn::nn::Embedding(11, 4, {.sparse = true}), tn::nn::Flatten());
    };
    const Tensor words = classes(18, 11).view({6, 3});
    Training first(model(), plain, words, classes(6, 12), device);
    try_all("embedding with sgd on " + device.type(), first.tried(), 3);
    Training second(model(), adagrad, words, classes(6, 12), device);
    try_all("embedding with adagrad on " + device.type(), second.tried(), 7);
  }
}

TEST_F(OutOfMemory, OfAnyAllocationOfAGptsStepCanBeTriedAgain) {
  for (tn::Device device : devices()) {
    tn::manual_seed(3);
    Training training(tn::make<gpt_model::Gpt>(11, 6, 8, 2, 1), adamw,
                      classes(12, 11).reshape({2, 6}), classes(12, 11), device);
    try_all("gpt on " + device.type(), training.tried(), 17);
  }
}

struct Files {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon_oom_" + std::to_string(getpid()));
  Files() { std::filesystem::create_directories(folder); }
  ~Files() { std::filesystem::remove_all(folder); }
  std::string operator()(const char* name) const { return (folder / name).string(); }
};
std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// ---- First steps, in which programs, plans and states are made: each in a process of its own

constexpr int kNothingFailed = 42;

// The process of allocation `n`. Ends it.
[[noreturn]] void try_first_step(uint64_t n, tn::Device device) {
  tn::manual_seed(4);
  Object model = cnn();
  model.to(device);
  const auto named = model.state_dict();
  const auto before = values_of(named);
  const Tensor x = noise({2, 3, 12, 12}, 2).to(device), y = classes(2, 4).to(device);
  double loss = 0;
  Optimizer optimizer;
  const auto step = [&] {
    optimizer.zero_grad();
    Tensor result = tn::cross_entropy(model(x), y);
    result.backward();
    optimizer.step();
    loss = result.item<double>();
  };
  optimizer = adamw(model.parameters());
  failing_memory::arm(n);
  const Outcome outcome = outcome_of(step);
  failing_memory::disarm();
  if (!failing_memory::failed()) std::_Exit(kNothingFailed);
  std::printf("%s\n  at %s\n", outcome.message.c_str(), failing_memory::last_failure().c_str());
  std::fflush(stdout);
  if (outcome.code != TN_OK && outcome.code != TN_OUT_OF_MEMORY) std::_Exit(1);
  outcome_of([&] { device.synchronize(); });  // what a stream has still to say
  // The same step twice from the start: as tried again, and as if nothing had failed.
  std::vector<std::vector<double>> after[2];
  double losses[2];
  for (int i = 0; i < 2; ++i) {
    for (size_t k = 0; k < named.size(); ++k)
      named[k].second.copy_(Tensor::from(before[k], named[k].second.sizes()).to(device));
    optimizer = adamw(model.parameters());
    step();
    losses[i] = loss;
    after[i] = values_of(named);
  }
  std::_Exit(losses[0] == losses[1] && after[0] == after[1] && !std::isnan(loss) ? 0 : 2);
}

// Runs the test that is under way in a process of its own, with `variables` in its environment. Whether there was nothing left
// to fail; another failure than of memory is the test's.
bool nothing_failed_with(const std::string& variables, const std::string& output) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::ostringstream command;
  command << variables << " /proc/" << getpid() << "/exe --gtest_filter=" << test->test_suite_name()
          << "." << test->name() << " >" << output << " 2>&1";
  const int status = std::system(command.str().c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNothingFailed) return true;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << variables << ": status " << status << "\n"
      << bytes_of(output);
  return false;
}

TEST_F(OutOfMemory, OfAFirstStepCanBeTriedAgain) {
  if (const char* n = std::getenv("TENON_OOM_FIRST_STEP")) {
    try_first_step(std::strtoull(n, nullptr, 10), devices()[number_from("TENON_OOM_DEVICE", 0)]);
  }
  const Files files;
  const uint64_t step = number_from("TENON_OOM_STEP", long_form() ? 7 : 211);
  for (size_t d = 0; d < devices().size(); ++d) {
    uint64_t n = number_from("TENON_OOM_FIRST", d);
    for (;; n += step) {
      std::ostringstream variables;
      variables << "TENON_OOM_FIRST_STEP=" << n << " TENON_OOM_DEVICE=" << d;
      if (nothing_failed_with(variables.str(), files("output"))) break;
      ASSERT_LT(n, 100'000u);
    }
    std::printf("  first step on %s: %zu allocations or fewer\n", devices()[d].type().c_str(),
                size_t(n));
  }
}

// Folders are listed and manifests read in the first 1,400 allocations or so, of which more are tried.
TEST(LoadingOutOfMemory, CanBeTriedAgain) {
#ifdef TENON_SANITIZE
  GTEST_SKIP() << "the sanitizer's allocator cannot be replaced";
#endif
  if (const char* n = std::getenv("TENON_OOM_LOADING")) {
    failing_memory::arm(std::strtoull(n, nullptr, 10));
    const Outcome outcome = outcome_of([] { tn::load_plugins(); });
    failing_memory::disarm();
    if (!failing_memory::failed()) std::_Exit(kNothingFailed);
    std::printf("%s\n  at %s\n", outcome.message.c_str(), failing_memory::last_failure().c_str());
    std::fflush(stdout);
    if (outcome.code != TN_OK && outcome.code != TN_OUT_OF_MEMORY) std::_Exit(1);
    tn::load_plugins();
    std::_Exit(tn::ones({3}).sum().item<float>() == 3 ? 0 : 2);
  }
  const Files files;
  const uint64_t often = long_form() ? 1 : 13, seldom = long_form() ? 97 : 1999;
  for (uint64_t n = number_from("TENON_OOM_FIRST", 0);; n += n < 1400 ? often : seldom) {
    if (nothing_failed_with("TENON_OOM_LOADING=" + std::to_string(n), files("output"))) break;
    ASSERT_LT(n, 1'000'000u);
  }
}

// ---- Files, and explain

TEST_F(OutOfMemory, OfASaveLeavesTheFileThatWasThere) {
  for (tn::Device device : devices()) {
    const Files files;
    const std::string path = files("model.safetensors");
    Object model = mlp();
    model.to(device);
    const NamedTensors state = model.state_dict();
    tn::save({{"old", noise({3}, 1)}}, path);
    const std::string old = bytes_of(path);
    tn::save(state, path);
    const std::string saved = bytes_of(path);
    const auto n_files = [&] {
      return std::distance(std::filesystem::directory_iterator(files.folder), {});
    };
    try_all("save from " + device.type(),
            {[&] { std::ofstream(path, std::ios::binary) << old; }, [&] { tn::save(state, path); },
             [&](const Outcome&) {
               return bytes_of(path) != old ? "the file changed"
                      : n_files() != 1      ? "a file was left"
                                            : "";
             },
             [&] {
               return bytes_of(path) != saved ? "the file is not what was saved"
                      : n_files() != 1        ? "a file was left"
                                              : "";
             }},
            1);
  }
}

TEST_F(OutOfMemory, OfALoadCanBeTriedAgain) {
  const Files files;
  const std::string path = files("model.safetensors");
  Object model = mlp();
  tn::save(model.state_dict(), path);
  const auto expected = values_of(model.state_dict());
  NamedTensors loaded;
  try_all("load",
          {[&] { loaded = {}; },
           [&] {
             loaded = tn::load(path);
             model.load_state_dict(loaded);
           },
           [](const Outcome&) { return ""; },
           [&] { return values_of(loaded) == expected ? "" : "other values were loaded"; }},
          1);
}

TEST_F(OutOfMemory, OfAFolderOfCheckpointsCanBeTriedAgain) {
  const Files files;
  const tn::CheckpointFolder folder(files("run"), {.keep = 2});
  Object model = mlp();
  const auto expected = values_of(model.state_dict());
  const tn::Checkpoint checkpoint{.model = model};
  int64_t step = 0;
  try_all("checkpoints",
          {[&] { std::filesystem::remove_all(files("run")); },
           [&] {
             for (const int64_t i : {1, 2, 3}) folder.save(checkpoint, i);
             step = folder.resume(checkpoint);
           },
           [](const Outcome&) { return ""; },
           [&] {
             return step != 3                                      ? "another step was loaded"
                    : folder.steps() != std::vector<int64_t>{2, 3} ? "others are kept"
                    : values_of(model.state_dict()) == expected    ? ""
                                                                   : "other values were loaded";
           }},
          17);
}

TEST_F(OutOfMemory, OfReadingATokenizerCanBeTriedAgain) {
  const Files files;
  const std::string path = files("tokenizer.json");
  std::ofstream(path) << R"({"added_tokens": [{"id": 4, "content": "<x>", "special": true,
    "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "NFC"}]},
    "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Removed",
                       "invert": false},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<unk>": 3}, "merges": ["a b"],
              "unk_token": "<unk>"}})";
  std::vector<int64_t> ids;
  try_all("tokenizer",
          {[&] { ids.clear(); }, [&] { ids = tn::Tokenizer(path).encode("AB b<x>"); },
           [](const Outcome&) { return ""; },
           [&] {
             return ids == std::vector<int64_t>{2, 1, 4} ? "" : "the ids are others";
           }},
          1);
}

TEST_F(OutOfMemory, OfReadingFoldersOfClassesCanBeTriedAgain) {
  const Files files;
  for (const char* of_class : {"bad", "good"}) {
    std::filesystem::create_directories(files(of_class));
    for (const char* name : {"1.txt", "2.txt"})
      std::ofstream(std::filesystem::path(files(of_class)) / name) << "text";
  }
  int64_t size = 0;
  try_all("folders of classes",
          {[&] { size = 0; }, [&] { size = tn::data::TextFolder(files.folder.string()).size(); },
           [](const Outcome&) { return ""; }, [&] { return size == 4 ? "" : "files are missing"; }},
          1);
}

struct Numbers {
  int64_t size() const { return 10; }
  int64_t get(int64_t i) const { return i; }
};

// Of plain numbers: the pools of a thread that frees tensors of others grow over many passes.
TEST_F(OutOfMemory, OfAPassOfALoaderCanBeTriedAgain) {
  const auto sum_of = [](const std::vector<int64_t>& samples) {
    return std::accumulate(samples.begin(), samples.end(), int64_t{0});
  };
  using Loader = tn::data::DataLoader<Numbers, decltype(sum_of)>;
  for (const bool persistent : {false, true}) {
    int64_t sum = 0;
    std::optional<Loader> loader;
    const auto pass = [&] {
      sum = 0;
      if (!persistent || !loader) {
        loader.emplace(Numbers(),
                       tn::data::LoaderOptions{.batch_size = 3,
                                               .shuffle = true,
                                               .num_workers = 2,
                                               .persistent_workers = persistent},
                       sum_of);
      }
      for (const int64_t batch : *loader) sum += batch;
    };
    try_all(persistent ? "persistent workers" : "workers",
            {[&] { sum = 0; }, pass, [](const Outcome&) { return ""; },
             [&] { return sum == 45 ? "" : "samples are missing"; }},
            1);
  }
}

TEST_F(OutOfMemory, OfAPassOfALoaderOfAStreamCanBeTriedAgain) {
  const auto numbers = tn::data::stream([](int64_t) {
    return
        [i = int64_t{0}]() mutable { return i < 10 ? std::optional<int64_t>(i++) : std::nullopt; };
  });
  const auto sum_of = [](const std::vector<int64_t>& samples) {
    return std::accumulate(samples.begin(), samples.end(), int64_t{0});
  };
  for (const int64_t shuffle_buffer : {0, 4}) {
    int64_t sum = 0;
    const auto pass = [&] {
      sum = 0;
      tn::data::StreamLoader loader(
          numbers, {.batch_size = 3, .shuffle_buffer = shuffle_buffer, .num_workers = 2, .seed = 1},
          sum_of);
      for (const int64_t batch : loader) sum += batch;
    };
    try_all("stream, shuffled by " + std::to_string(shuffle_buffer),
            {[&] { sum = 0; }, pass, [](const Outcome&) { return ""; },
             [&] { return sum == 45 ? "" : "items are missing"; }},
            1);
  }
}

// ---- What hangs on a graph or on a module for a while

TEST_F(OutOfMemory, OfACheckpointedCallCanBeTriedAgain) {
  Tensor x = noise({4}, 1).requires_grad_();
  const auto call = [](const Tensor& t) { return (t.sin() * t).exp(); };
  call(x).sum().backward();
  const std::vector<double> expected = x.grad().to_vector<double>();
  try_all("checkpoint_call",
          {[&] { x.set_grad(tn::zeros({4})); },
           [&] {
             x.set_grad(Tensor());
             tn::checkpoint_call(call, x).sum().backward();
           },
           [](const Outcome&) { return ""; },
           [&] { return x.grad().to_vector<double>() == expected ? "" : "another gradient"; }},
          1);
}

// As a scope of a program has them, whose end is no place for an exception.
struct Hooks {
  ~Hooks() {
    if (forward) forward->remove();
    if (backward) backward->remove();
  }
  std::optional<tn::ForwardHook> forward;
  std::optional<tn::BackwardHook> backward;
};

TEST_F(OutOfMemory, NeverKeepsAHookFromBeingRemoved) {
  Object model = mlp();
  const Tensor x = noise({6, 8}, 1);
  int forwards = 0, backwards = 0;
  const auto step = [&] {
    forwards = backwards = 0;
    model(x).sum().backward();
    model.zero_grad();
  };
  const auto without_hooks = [&] {
    step();
    return forwards + backwards == 0 ? "" : "a hook was called that had been removed";
  };
  bool all_called = false;
  try_all("hooks",
          {[] {},
           [&] {
             Hooks hooks;
             hooks.forward.emplace(
                 model.register_forward_hook([&](Object&, Tensor, Tensor) { ++forwards; }));
             hooks.backward.emplace(
                 model.register_full_backward_hook([&](Object&, Tensor, Tensor) { ++backwards; }));
             step();
             all_called = forwards == 1 && backwards == 1;
           },
           [&](const Outcome&) { return without_hooks(); },
           [&] { return all_called ? without_hooks() : "a hook was not called"; }},
          1);
  try_all("summary",
          {[] {}, [&] { tn::summary(model, x); }, [&](const Outcome&) { return without_hooks(); },
           without_hooks},
          1);
}

TEST_F(OutOfMemory, OfAnExplainCanBeTriedAgain) {
  for (tn::Device device : devices()) {
    tn::manual_seed(1);
    Training training(mlp(), adamw, noise({6, 8}, 1), classes(6, 4), device);
    std::string json;
    Tried tried = training.tried();
    tried.work = [&] { json = tn::explain([&] { training.work(); }); };
    tried.after_success = [&] {
      return json.find("linear") == std::string::npos ? "nothing was explained"
                                                      : training.after_success();
    };
    try_all("explain on " + device.type(), tried, 17);
  }
}

}  // namespace
