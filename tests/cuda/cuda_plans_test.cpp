// The real cuDNN makes plans for devices that are described by tests/cuda/devices, without a GPU and
// by the plugin's own code: of the convolutions of the suites, of ResNet-18 and of ResNet-50, and of
// the attention of GPT-2 and of the suites. Each has a plan, which survives writing and reading. What
// they want and what their engines note is in tests/cuda/golden, which TENON_UPDATE_GOLDEN=1 writes
// anew; it is compared where cuDNN has the version that its head says. The default form makes every
// 16th plan of a convolution and two of attention, the long form all.
//
// The numbers of the descriptions are those of NVIDIA's data sheets and of the table of compute
// capabilities in the CUDA programming guide; the clocks and the caches of sm_100 are approximate.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "attention_graph.h"
#include "convolution_graph.h"
#include "long_form.h"

namespace {

namespace fs = std::filesystem;
using cuda::Convolution;

fs::path folder() { return fs::path(::getenv("TENON_SOURCE_DIR")) / "tests/cuda"; }

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// ---- What plans are made of

struct Shape {
  const char* name;
  int64_t n;  // dimensions of a window
  int64_t batch, in, out, groups;
  int64_t size[3], kernel[3], stride[3], padding[3], dilation[3];
};

// Those of tests/ops/conv_test.cpp and of examples/digits. A transposed one is the gradient of x of the
// one that stands here.
constexpr Shape kSuites[] = {
    // clang-format off
    {"conv1d", 2, 2, 2, 3, 1, {1, 5}, {1, 3}, {1, 1}, {}, {1, 1}},
    {"conv1d strided", 2, 1, 2, 3, 1, {1, 5}, {1, 2}, {1, 2}, {0, 1}, {1, 1}},
    {"conv2d", 2, 2, 2, 2, 1, {4, 3}, {2, 2}, {1, 1}, {}, {1, 1}},
    {"conv2d of two strides", 2, 1, 2, 2, 1, {4, 5}, {3, 2}, {2, 1}, {1, 2}, {1, 1}},
    {"conv2d dilated", 2, 1, 1, 2, 1, {6, 5}, {2, 2}, {2, 2}, {}, {3, 2}},
    {"conv2d grouped", 2, 2, 4, 6, 2, {3, 3}, {2, 2}, {2, 2}, {1, 1}, {1, 1}},
    {"conv2d depthwise", 2, 1, 3, 6, 3, {3, 3}, {2, 2}, {1, 1}, {}, {1, 1}},
    {"conv2d pixels", 2, 2, 3, 2, 1, {2, 2}, {1, 1}, {1, 1}, {}, {1, 1}},
    {"conv3d", 3, 1, 2, 2, 2, {3, 2, 3}, {2, 2, 2}, {1, 1, 2}, {0, 1, 1}, {1, 1, 1}},
    {"conv_transpose1d", 2, 2, 3, 2, 1, {1, 6}, {1, 3}, {1, 2}, {0, 1}, {1, 1}},
    {"conv_transpose2d", 2, 1, 2, 2, 1, {3, 5}, {2, 3}, {1, 1}, {}, {1, 1}},
    {"conv_transpose2d of a stride beyond the kernel", 2, 1, 2, 1, 1, {6, 7}, {1, 2}, {3, 3}, {}, {1, 1}},
    {"conv_transpose3d", 3, 1, 1, 2, 1, {4, 2, 3}, {2, 1, 2}, {2, 1, 1}, {}, {1, 1, 1}},
    {"digits first", 2, 64, 1, 32, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"digits second", 2, 64, 32, 32, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    // clang-format on
};

// He et al., arXiv:1512.03385, table 1, of images of 224 by 224: the first convolution; then of each
// stage those of its first block and of the others.
std::vector<Shape> resnets() {
  std::vector<Shape> shapes = {
      {"resnet", 2, 32, 3, 64, 1, {224, 224}, {7, 7}, {2, 2}, {3, 3}, {1, 1}}};
  const auto add = [&](const char* name, int64_t in, int64_t out, int64_t size, int64_t kernel,
                       int64_t stride) {
    shapes.push_back({name,
                      2,
                      32,
                      in,
                      out,
                      1,
                      {size, size},
                      {kernel, kernel},
                      {stride, stride},
                      {kernel / 2, kernel / 2},
                      {1, 1}});
  };
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage, size = 56 >> stage;
    const int64_t before = stage == 0 ? 56 : size * 2, stride = stage == 0 ? 1 : 2;
    const char* const small = "resnet-18";
    if (stage > 0) add(small, width / 2, width, before, 3, 2);
    if (stage > 0) add(small, width / 2, width, before, 1, 2);
    add(small, width, width, size, 3, 1);
    const char* const large = "resnet-50";
    const int64_t in = stage == 0 ? 64 : width * 2;
    add(large, in, width, before, 1, 1);
    if (stage > 0) add(large, width, width, before, 3, 2);
    add(large, width, width * 4, size, 1, 1);
    add(large, in, width * 4, before, 1, stride);
    add(large, width * 4, width, size, 1, 1);
  }
  return shapes;
}

struct Kind {
  const char* name;
  tn_dtype dtype;
  bool is_exact, channels_last;
};
constexpr Kind kKinds[] = {{"float32", TN_FLOAT32, true, false},
                           {"float32 channels-last", TN_FLOAT32, true, true},
                           {"TF32 channels-last", TN_FLOAT32, false, true},
                           {"float64", TN_FLOAT64, true, false},
                           {"float16", TN_FLOAT16, false, false},
                           {"float16 channels-last", TN_FLOAT16, false, true},
                           {"bfloat16 channels-last", TN_BFLOAT16, false, true}};

Convolution convolution_of(const Shape& s, const Kind& kind) {
  Convolution c = {};
  c.dtype = kind.dtype;
  c.is_exact = kind.is_exact;
  c.channels_last = kind.channels_last;
  c.n = s.n;
  c.x[0] = c.y[0] = s.batch;
  c.x[1] = s.in;
  c.y[1] = c.weight[0] = s.out;
  c.weight[1] = s.in / s.groups;
  for (int64_t d = 0; d < s.n; ++d) {
    c.x[2 + d] = s.size[d];
    c.weight[2 + d] = s.kernel[d];
    c.stride[d] = s.stride[d];
    c.padding[d] = s.padding[d];
    c.dilation[d] = s.dilation[d];
    c.y[2 + d] =
        (s.size[d] + 2 * c.padding[d] - c.dilation[d] * (s.kernel[d] - 1) - 1) / c.stride[d] + 1;
  }
  return c;
}

struct Case {
  std::string name;  // of its line in the table
  std::function<std::unique_ptr<cuda::Plan>(const cuda::Target&, cuda::Search*)> make;
};

std::vector<Case> convolutions() {
  std::vector<Shape> shapes(std::begin(kSuites), std::end(kSuites));
  for (const Shape& shape : resnets()) shapes.push_back(shape);
  std::vector<Case> cases;
  for (const Shape& s : shapes) {
    for (const Kind& kind : kKinds) {
      Convolution c = convolution_of(s, kind);
      for (const auto& [name, result, has_bias] :
           {std::tuple("y", Convolution::kY, false),
            std::tuple("y with bias", Convolution::kY, true),
            std::tuple("x", Convolution::kX, false),
            std::tuple("weight", Convolution::kWeight, false)}) {
        if (has_bias && kind.dtype == TN_FLOAT64) continue;  // the plugin adds it itself
        c.result = result;
        c.has_bias = has_bias;
        std::ostringstream line;
        line << s.name << " x [" << s.batch << ", " << s.in;
        for (int64_t d = 0; d < s.n; ++d) line << ", " << s.size[d];
        line << "] out " << s.out << " kernel " << s.kernel[s.n - 1] << " stride "
             << s.stride[s.n - 1] << "; " << kind.name << "; " << name;
        cases.push_back({line.str(), [c](const cuda::Target& target, cuda::Search* search) {
                           return cuda::plan_convolution(c, target, search);
                         }});
      }
    }
  }
  return cases;
}

// ---- Attention

struct Heads {
  const char* name;
  int64_t batch, heads, key_heads, n, m, e, v;
};
// Radford et al., 2019: GPT-2 of 124M parameters.
constexpr Heads kHeads[] = {{"gpt-2", 8, 12, 12, 1024, 1024, 64, 64},
                            {"shared heads", 2, 8, 2, 512, 512, 128, 128},
                            {"suite", 2, 3, 3, 70, 60, 16, 8}};

// [.., n, heads, e] in memory, as a projection gives it.
void set_heads_inside(int64_t heads, int64_t n, int64_t e, int64_t* strides) {
  const int64_t values[] = {n * heads * e, e, heads * e, 1};
  std::copy_n(values, 4, strides);
}

cuda::Attention attention_of(const Heads& s, tn_dtype dtype, bool is_causal) {
  cuda::Attention a = {};
  a.dtype = dtype;
  a.is_causal = is_causal;
  a.batch = s.batch;
  a.heads = s.heads;
  a.key_heads = s.key_heads;
  a.n = s.n;
  a.m = s.m;
  a.e = s.e;
  a.v = s.v;
  set_heads_inside(s.heads, s.n, s.e, a.query);
  set_heads_inside(s.key_heads, s.m, s.e, a.key);
  set_heads_inside(s.key_heads, s.m, s.v, a.value);
  set_heads_inside(s.heads, s.n, s.v, a.y);
  return a;
}

std::vector<Case> attentions() {
  std::vector<Case> cases;
  for (const Heads& s : kHeads) {
    for (const tn_dtype dtype : {TN_BFLOAT16, TN_FLOAT16}) {
      for (const bool is_causal : {true, false}) {
        for (const char* part : {"y", "gradients"}) {
          cuda::Attention a = attention_of(s, dtype, is_causal);
          a.is_backward = part == std::string("gradients");
          if (a.is_backward) {
            std::copy_n(a.query, 4, a.query_gradient);
            std::copy_n(a.key, 4, a.key_gradient);
            std::copy_n(a.value, 4, a.value_gradient);
          }
          std::ostringstream line;
          line << s.name << " query [" << s.batch << ", " << s.heads << ", " << s.n << ", " << s.e
               << "] key [" << s.batch << ", " << s.key_heads << ", " << s.m << ", " << s.e
               << "] value of " << s.v << "; " << (dtype == TN_FLOAT16 ? "float16" : "bfloat16")
               << (is_causal ? " causal; " : "; ") << part;
          cases.push_back({line.str(), [a](const cuda::Target& target, cuda::Search* search) {
                             return cuda::plan_attention(a, target, search);
                           }});
        }
      }
    }
  }
  return cases;
}

// ---- The tables

constexpr const char* kDevices[] = {"sm_80", "sm_90", "sm_100"};

std::string head() {
  const size_t version = cuda::cudnn.cudnnGetVersion();
  return "cuDNN " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

// Lines of "device; case: what the plan is".
std::map<std::string, std::string> golden(const fs::path& path, std::string* version) {
  std::map<std::string, std::string> lines;
  std::ifstream file(path);
  std::getline(file, *version);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    lines[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return lines;
}

struct CudaPlans : testing::Test {
  void SetUp() override {
    static tn_host table = {};
    table.log = [](int32_t, const char*) {};
    cuda::host = &table;
    if (!cuda::why_no_cudnn().empty()) GTEST_SKIP() << cuda::why_no_cudnn();
  }
};

// The description of a device, as cuDNN takes it.
struct Device {
  cuda::Descriptors descriptors;
  cuda::Target target;

  explicit Device(const std::string& name) {
    const std::string text = read(folder() / "devices" / (name + ".json"));
    target.device = descriptors.make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                                     {{CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                       static_cast<int64_t>(text.size()), text.data()}});
    EXPECT_TRUE(target.device) << descriptors.why();
  }
};

// Written, read, and written again, it is the same.
void expect_survives(const cuda::Plan& plan, const cuda::Target& target) {
  const std::string json = plan.json();
  ASSERT_FALSE(json.empty());
  cuda::Search search;
  const std::unique_ptr<cuda::Plan> again = cuda::Plan::read(json, target, &search);
  ASSERT_TRUE(again) << search.why;
  EXPECT_EQ(again->workspace, plan.workspace);
  EXPECT_EQ(again->json(), json);
}

// Makes those that are chosen, and compares them with the table of that name.
void check(const std::vector<Case>& cases, const char* name,
           const std::function<bool(const std::string& device, size_t k)>& is_chosen) {
  const char* update = ::getenv("TENON_UPDATE_GOLDEN");
  const bool updates = update && std::string(update) == "1", all = updates || long_form();
  const fs::path path = folder() / "golden" / name;
  std::string version;
  const std::map<std::string, std::string> expected = golden(path, &version);
  std::ostringstream table;
  table << head() << "\n";
  for (const char* device_name : kDevices) {
    const Device device(device_name);
    for (size_t k = 0; k < cases.size(); ++k) {
      if (!all && !is_chosen(device_name, k)) continue;
      const std::string line = std::string(device_name) + "; " + cases[k].name;
      SCOPED_TRACE(line);
      cuda::Search search;
      const std::unique_ptr<cuda::Plan> plan = cases[k].make(device.target, &search);
      ASSERT_TRUE(plan) << search.why;
      expect_survives(*plan, device.target);
      const std::string what = "workspace " + std::to_string(plan->workspace) +
                               (plan->notes.empty() ? "" : ", " + plan->notes);
      table << line << ": " << what << "\n";
      if (updates || version != head()) continue;
      const auto found = expected.find(line);
      ASSERT_NE(found, expected.end()) << "not in " << path;
      EXPECT_EQ(what, found->second);
    }
  }
  if (updates) std::ofstream(path) << table.str();
  if (!updates && version != head()) {
    GTEST_SKIP() << "the plans are there, and not compared: " << path << " is of " << version
                 << ", and " << head() << " is here";
  }
}

TEST_F(CudaPlans, OfConvolutionsAreMadeForEachShapeAndDevice) {
  check(convolutions(), "convolution_plans.txt",
        [at = size_t{0}](const std::string&, size_t) mutable { return at++ % 16 == 0; });
}

TEST_F(CudaPlans, OfAttentionAreMadeForEachShapeAndDevice) {
  check(attentions(), "attention_plans.txt", [](const std::string& device, size_t k) {
    return device == "sm_90" && k < 2;  // GPT-2 in bfloat16, with its gradients
  });
}

TEST_F(CudaPlans, OfADamagedTextAreNone) {
  const Device device("sm_90");
  cuda::Search search;
  const std::unique_ptr<cuda::Plan> plan = cuda::plan_convolution(
      [] {
        Convolution c = convolution_of(kSuites[2], kKinds[0]);
        c.result = Convolution::kY;
        return c;
      }(),
      device.target, &search);
  ASSERT_TRUE(plan) << search.why;
  const std::string json = plan->json();
  for (const std::string& text : {json.substr(0, json.size() / 2), std::string("{}"),
                                  std::string("not a plan"), std::string(100, '\0')}) {
    EXPECT_FALSE(cuda::Plan::read(text, device.target, &search));
    EXPECT_NE(search.why, "");
  }
}

}  // namespace
