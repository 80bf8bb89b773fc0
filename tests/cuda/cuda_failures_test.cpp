// Each entry of the driver, of NVRTC, of cuBLASLt and of cuDNN fails once, at its first call and at one in the
// middle of a training with copies, two devices and graphs. There is an error that names it, or a line
// in the log where nobody could be told; values are right all the same where there is none; nothing is
// left when plugins shut down; and each device goes on, or says that it is lost and why. Each failure
// is a fork.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "on_fake.h"

namespace {

namespace nn = tn::nn;
using on_fake::error_of;

const char* const kDevices[] = {"cuda:0", "cuda:1"};

// ---- What is done while an entry fails

Tensor numbers(std::vector<int64_t> sizes, tn::Device d) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return tn::sin(tn::arange(0, n).to(tn::float32)).view(sizes).to(d);
}

double train(tn::Device d, bool compiled) {
  tn::manual_seed(3);
  const tn::Object model =
      nn::Sequential(nn::Linear(6, 16), nn::ReLU(), nn::Dropout(0.2), nn::Linear(16, 4));
  model.to(d);
  const auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  const auto step = [&](Tensor x, Tensor t) {
    Tensor loss = tn::cross_entropy(model(x), t);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach() * 1;
  };
  auto f = tn::compile(step);
  const Tensor x = numbers({8, 6}, d), t = (tn::arange(0, 8) % 4).to(d);
  Tensor loss;
  for (int i = 0; i < 4; ++i) loss = compiled ? f(x, t) : step(x, t);
  return loss.item<double>();
}

double copy_around(tn::Device a, tn::Device b) {
  const Tensor x = numbers({40, 40}, a);
  Tensor sum;
  if (a.is_cpu()) {
    sum = x * 2 + x;
  } else {
    const tn::Stream side(a);
    Tensor y;
    {
      const tn::StreamGuard guard(side);
      y = x * 2;
    }
    sum = y + x;
  }
  Tensor busy = numbers({4}, b);
  for (int i = 0; i < 20; ++i) busy = busy + 1;
  const Tensor there = sum.to(b) + 1;
  sum = {};  // a stream of b may still read it
  a.empty_cache();
  return (there.to(a) * x.t()).to(tn::bfloat16).to(tn::cpu).to(tn::float64).sum().item<double>();
}

double look_around(tn::Device d) {
  const Tensor x = numbers({30}, d), large = Tensor::empty({400000}, tn::float32, d);
  large.fill_(1);
  const Tensor there = tn::nonzero(x > 0.5), sorted = std::get<0>(tn::sort(x, 0));
  const Tensor back = large.to(tn::cpu);
  return double(there.size(0)) +
         (tn::gather(sorted, 0, tn::arange(3, 9).to(d)) * 1.5).sum().item<double>() +
         back.narrow(0, 0, 4).sum().item<double>();
}

double convolve(tn::Device d) {
  const Tensor x = numbers({2, 3, 8, 8}, d).requires_grad_(),
               w = numbers({4, 3, 3, 3}, d).requires_grad_();
  const Tensor y = tn::conv2d(x, w, {.padding = {1, 1}});
  (y * y).sum().backward();
  return y.sum().item<double>() + x.grad().sum().item<double>() + w.grad().sum().item<double>();
}

double recur(tn::Device d) {
  const Tensor x = numbers({5, 3}, d).requires_grad_(), h = numbers({2, 2, 4}, d);
  TensorList params;
  for (int direction = 0; direction < 2; ++direction)
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{16, 3}, {16, 4}, {16}, {16}})
      params.push_back((numbers(sizes, d) * 0.3).detach().requires_grad_());
  auto [y, last, cell] =
      tn::lstm(x, {h, h}, params, {.bidirectional = true, .batch_sizes = {2, 2, 1}});
  (y * y).sum().backward();
  return y.sum().item<double>() + last.sum().item<double>() + x.grad().sum().item<double>() +
         params[1].grad().sum().item<double>();
}

// Errors of the parts, and what is wrong of the values of those that had none.
struct Report {
  std::string errors, wrong;
};

template <class Part>
void check(const char* name, const Part& part, double expected, double tolerance, Report* report) {
  double found = 0;
  const std::string error = error_of([&] { found = part(); });
  if (!error.empty()) report->errors += std::string(name) + ": " + error + "\n";
  if (error.empty() && !(std::fabs(found - expected) <= tolerance))
    report->wrong += std::string(name) + " gave " + std::to_string(found) + " in the place of " +
                     std::to_string(expected) + "\n";
}

struct Expected {
  double training, copies, looks, convolutions, recurrences;
};

Report work(const Expected& expected) {
  Report report;
  const std::string absent = error_of([] { tn::Device{kDevices[0]}; });
  if (!absent.empty()) return {"absent: " + absent, ""};
  const tn::Device a(kDevices[0]), b(kDevices[1]);
  for (const tn::Device d : {a, b}) {
    for (const bool compiled : {false, true})
      check(
          "training", [&] { return train(d, compiled); }, expected.training, 1e-4, &report);
    check(
        "looks", [&] { return look_around(d); }, expected.looks, 1e-4, &report);
  }
  check(
      "convolutions", [&] { return convolve(a); }, expected.convolutions, 1e-3, &report);
  check(
      "recurrences", [&] { return recur(a); }, expected.recurrences, 1e-3, &report);
  check(
      "copies", [&] { return copy_around(a, b); }, expected.copies, 1e-3, &report);
  check(
      "empty_cache", [&] { return a.empty_cache(), 0.0; }, 0, 0, &report);
  error_of([&] { Tensor::empty({int64_t{1} << 45}, tn::float32, b); });  // asks how much there is
  return report;
}

// Does each device still compute? "ok", or what it says.
std::string state_of(const char* device) {
  double sum = 0;
  const std::string error = error_of(
      [&] { sum = (tn::ones({7}, tn::float32, tn::Device(device)) + 1).sum().item<double>(); });
  return !error.empty() ? error : sum == 14 ? "ok" : "wrong: " + std::to_string(sum);
}

constexpr char kEnd = '\x1f';

// Errors, what is wrong, the states of the two devices, and what lives.
std::string run(const Expected& expected) {
  const Report report = work(expected);
  std::string text = report.errors + kEnd + report.wrong;
  for (const char* device : kDevices) text += kEnd + state_of(device);
  tn_status* failed = tn::detail::api.plugin->shutdown();
  if (failed) text += std::string(" shutdown: ") + tn::host()->status_message(failed);
  return text + kEnd + on_fake::living();
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

// ---- The entries

// The rows of a table in backends/cuda.
std::vector<std::string> entries_of(const std::string& header) {
  if (header == "cudnn.h" && !::dlopen("libcudnn.so.9", RTLD_NOW)) return {};  // is not built
  std::ifstream file(std::string(::getenv("TENON_SOURCE_DIR")) + "/backends/cuda/" + header);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex row("ROW\\(((?:cu|nvrtc)\\w+)\\)");
  std::vector<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), row), end; i != end; ++i)
    names.push_back((*i)[1]);
  return names;
}

// GPUs of which products want 4 MiB and not 32: the fake looks at each byte that is given out.
constexpr char kSmallWorkspace[] = "TENON_FAKE_CUDA_CAPABILITY=80";

// The result of a failure that loses the device, and of one that refuses what was asked.
struct Library {
  const char* header;
  int fault, refusal;
};
constexpr Library kLibraries[] = {
    {"driver.h", 999, 1}, {"nvrtc.h", 11, 1}, {"cublaslt.h", 14, 7}, {"cudnn.h", 4000, 2000}};

// Whose failure changes no more than words, or a choice.
const std::set<std::string> kNotNeeded = {"cuGetErrorName",
                                          "cuGetErrorString",
                                          "cuDeviceGetName",
                                          "nvrtcVersion",
                                          "nvrtcGetErrorString",
                                          "cublasLtGetStatusString",
                                          "nvrtcGetSupportedArchs",
                                          "nvrtcGetNumSupportedArchs",
                                          "cudnnGetVersion",
                                          "cudnnGetCudartVersion",
                                          "cudnnGetErrorString",
                                          "cudnnGetLastErrorString",
                                          "cudnnBackendDestroyDescriptor",
                                          "nvrtcGetProgramLog",
                                          "nvrtcGetProgramLogSize"};
// What was to be given back is left where it is, once.
const std::set<std::string> kLeaves = {
    "cuMemFree",          "cuMemFreeHost",   "cuStreamDestroy",
    "cuEventDestroy",     "cuGraphDestroy",  "cuGraphExecDestroy",
    "cuStreamEndCapture", "cuCtxGetCurrent", "cuCtxSetCurrent"};

// Called where a free finds work under way. On quick streams that is chance; on slow ones it is so, but
// for a thread of the host that stands still for longer than the streams work.
const std::set<std::string> kOnSlowStreams = {"cuEventSynchronize"};

// Surroundings in which the work is done. The first is a clean run; each of the others calls entries
// that those before do not.
struct Way {
  std::string failure;  // of TENON_FAKE_CUDA_FAIL
  std::vector<std::string> environment;

  std::vector<std::string> with(const std::string& more) const {
    std::vector<std::string> all = environment;
    const std::string both = failure + (failure.empty() || more.empty() ? "" : ",") + more;
    all.push_back("TENON_FAKE_CUDA_FAIL=" + both);
    return all;
  }
};
const std::vector<Way> kWays = {
    {"", {kSmallWorkspace}},
    {"", {kSmallWorkspace, "TENON_FAKE_CUDA_SLOW_US=1000"}},  // frees find work that is under way
    {"", {kSmallWorkspace, "TENON_POISON=1"}},
    {"", {"TENON_FAKE_CUDA_CAPABILITY=75"}},         // too old a GPU
    {"", {"TENON_FAKE_CUDA_CAPABILITY=120"}},        // too young for NVRTC
    {"nvrtcCompileProgram:1:6", {kSmallWorkspace}},  // a text that does not compile
    {"cublasLtMatmulAlgoGetHeuristic:1:14", {kSmallWorkspace}},
    {"cudnnBackendFinalize:1:2000", {kSmallWorkspace}},
    {"cudnnSetRNNDataDescriptor:1:2000", {kSmallWorkspace}},  // kept ones are not destroyed
    {"cuStreamCreate:1:1", {kSmallWorkspace}},
};

class CudaFailures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    load_all();
    on_fake::preload();
    const on_fake::Outcome cpu = on_fake::in_a_fork_with({}, [] {
      const double values[] = {train(tn::cpu, false), copy_around(tn::cpu, tn::cpu),
                               look_around(tn::cpu), convolve(tn::cpu), recur(tn::cpu)};
      char text[200];
      std::snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g %.17g", values[0], values[1],
                    values[2], values[3], values[4]);
      return std::string(text);
    });
    ASSERT_EQ(
        std::sscanf(cpu.given.c_str(), "%lf %lf %lf %lf %lf", &expected.training, &expected.copies,
                    &expected.looks, &expected.convolutions, &expected.recurrences),
        5)
        << cpu.given << cpu.logged;
    for (const Way& way : kWays) count_calls(way);
  }
  // Which way calls an entry first, and how often.
  static void count_calls(const Way& way) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("tenon_calls_" + std::to_string(::getpid()));
    std::vector<std::string> environment = way.with("");
    environment.push_back("TENON_FAKE_CUDA_EVERY_CALL=" + file.string());
    runs.push_back(on_fake::in_a_fork_with(environment, [] { return run(expected); }));
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
      if (kOnSlowStreams.contains(line) && &way == &kWays[0]) continue;
      const auto found = calls.try_emplace(line, &way, 0).first;
      found->second.second += found->second.first == &way;
    }
    std::filesystem::remove(file);
  }
  // What the work gives while an entry fails, and whether the failure came about: how often some entries
  // are called depends on how far streams are when they are asked, so the work is done again where the
  // call did not come.
  struct Failed {
    on_fake::Outcome outcome;
    bool came = false;
  };
  static Failed run_with(const Way& way, const std::string& entry, const std::string& failure) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("tenon_failed_" + std::to_string(::getpid()));
    std::vector<std::string> environment = way.with(failure);
    environment.push_back("TENON_FAKE_CUDA_FAILED=" + file.string());
    Failed failed;
    for (int i = 0; i < 5 && !failed.came; ++i) {
      failed.outcome = on_fake::in_a_fork_with(environment, [] { return run(expected); });
      std::ifstream text(file);
      for (std::string line; std::getline(text, line);) failed.came |= line == entry;
      std::filesystem::remove(file);
    }
    return failed;
  }
  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nhas no\n" << part;
  }
  static void expect_nothing_left(const std::string& living, int most) {
    int left = 0;
    for (const std::string& line : split(living, '\n')) {
      if (line.find("modules") == std::string::npos) left += std::atoi(line.c_str());
    }
    EXPECT_LE(left, most) << living;
  }
  static void expect_failure(const std::string& entry, int call, int result, bool is_fault) {
    const Way& way = *calls[entry].first;
    const bool is_clean = &way == &kWays[0];
    const std::string failure = entry + ":" + std::to_string(call) + ":" + std::to_string(result);
    SCOPED_TRACE(failure);
    const auto [outcome, came] = run_with(way, entry, failure);
    EXPECT_TRUE(came || call > 1) << "the entry was not called";
    const std::vector<std::string> parts = split(outcome.given, kEnd);
    ASSERT_EQ(parts.size(), 5u) << outcome.given << outcome.logged;
    EXPECT_EQ(parts[1], "") << parts[0];
    const bool is_told = (parts[0] + outcome.logged).find(entry + ": ") != std::string::npos;
    // Where a library cannot do something, or cannot be asked, kernels of another kind do it.
    const bool has_other_way =
        entry.starts_with("cublas") || entry.starts_with("cudnn") || entry.starts_with("cuCtx");
    if (came && is_fault && !kNotNeeded.contains(entry) && !has_other_way) {
      EXPECT_TRUE(is_told) << outcome.given << outcome.logged;
    }
    if (!is_told && is_clean) {
      EXPECT_EQ(parts[0], "");
    }
    const bool is_absent = parts[0].starts_with("absent: ");
    for (size_t d = 0; d < 2; ++d) {
      const std::string& state = parts[2 + d];
      if (is_absent) {
        expect_part(state, "there is no cuda device here: ");
      } else if (state != "ok") {
        EXPECT_TRUE(is_fault);
        expect_part(state, std::string(kDevices[d]) + " is lost: ");
        expect_part(state, entry);
      }
    }
    EXPECT_TRUE(parts[2] == "ok" || parts[3] == "ok" || is_absent);
    expect_nothing_left(parts[4], kLeaves.contains(entry) ? 1 : 0);
  }
  static inline Expected expected;
  static inline std::map<std::string, std::pair<const Way*, int>> calls;
  static inline std::vector<on_fake::Outcome> runs;
};

TEST_F(CudaFailures, ACleanRunHasNoErrorsAndLeavesNothing) {
  const on_fake::Outcome& clean = runs[0];
  EXPECT_TRUE(clean.given.starts_with("\x1f\x1fok\x1fok\x1f")) << clean.given << clean.logged;
  expect_nothing_left(split(clean.given, kEnd).back(), 0);
}

TEST_F(CudaFailures, EachEntryOfTheTablesIsCalled) {
  const std::filesystem::path folder = std::string(::getenv("TENON_SOURCE_DIR")) + "/backends/cuda";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".h") continue;
    for (const std::string& entry : entries_of(file.path().filename()))
      EXPECT_TRUE(calls.contains(entry)) << entry << " of " << file.path();
  }
  EXPECT_GT(calls.size(), 60u);
}

TEST_F(CudaFailures, OfEachEntryAreErrorsThatNameIt) {
  for (const Library& library : kLibraries) {
    for (const std::string& entry : entries_of(library.header)) {
      if (!calls.contains(entry)) continue;  // the test above says so
      for (const int call : std::set<int>{1, calls[entry].second / 2 + 1}) {
        expect_failure(entry, call, library.fault, true);
        if (call == 1) expect_failure(entry, call, library.refusal, false);
      }
    }
  }
}

}  // namespace
